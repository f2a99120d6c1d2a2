"""The sheet: all that an assistant is told of a table itself, made before its first question and never again.

It is a function of the table and of the terms. Every value on it is shared by enough persons, and no figure that
follows from it by subtraction counts fewer: one column each, one level each, so that no other subtraction exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from hushtable.assistant.bands import MISSING_EDGES, distinct_band, is_safe, round_count, share_band
from hushtable.assistant.plain_values import Json
from hushtable.assistant.quoting import find_shown_name, is_plain_value
from hushtable.assistant.source import AssistantSource, AssistantTerms
from hushtable.discover import PROSE, ProposedRole
from hushtable.errors import ColumnError
from hushtable.reporting import PeopleCounter, persons_of_rows
from hushtable.tables import Table

FEWEST_IN_ALL: Final = 100
"""Persons of a table of which more than kinds and roles is told."""

MOST_VALUES: Final = 150
"""Values of a column that are shown; of more the first, in their own order."""

_HIDDEN_ROLES: Final = ("identifier", "sensitive")
_MAX_VALUES_READ: Final = 20_000  # values of a column: of more, hardly one is shared by enough people
_POWER_GRADES: Final = ((0.2, "much"), (0.05, "some"), (0.0, "little"))


@dataclass(frozen=True, slots=True)
class SheetValue:
    """A value that enough persons share.

    Attributes
    ----------
    text : str
    share : str or None
        The band of the share of persons who have it; None where bands would tell of few persons.
    """

    text: str
    share: str | None


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """What is told of a column.

    Attributes
    ----------
    id : str
        Its alias.
    name : str or None
        None if it is withheld.
    kind, role, why, topic, known_by : str
    distinct, missing, power : str or None
        Bands; None where nothing is told.
    values : tuple of SheetValue, or None
        None where no values are shown.
    more : bool
        Whether further values are shared by enough persons, too.
    """

    id: str
    name: str | None
    kind: str
    role: str
    why: str
    topic: str
    known_by: str
    distinct: str | None = None
    missing: str | None = None
    power: str | None = None
    values: tuple[SheetValue, ...] | None = None
    more: bool = False

    def to_dict(self) -> dict[str, Json]:
        """Return what `look` says: all but the values."""
        return {name: entry for name, entry in asdict(self).items() if name not in ("values", "more")}


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is told of a table.

    Attributes
    ----------
    persons : int or None
        Rounded to two digits; None if they are fewer than 100.
    about_persons : bool
        Whether the rows are taken to be about persons.
    columns : tuple of SheetColumn
    """

    persons: int | None
    about_persons: bool
    columns: tuple[SheetColumn, ...]

    def to_dict(self) -> dict[str, Json]:
        """Return the sheet as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, entries: Mapping[str, Json]) -> Sheet:
        """Return a sheet that was stored."""
        columns = []
        for entry in entries["columns"]:
            values = entry["values"]
            made = None if values is None else tuple(SheetValue(**each) for each in values)
            columns.append(SheetColumn(**{**entry, "values": made}))
        return cls(entries["persons"], entries["about_persons"], tuple(columns))


def make_sheet(source: AssistantSource, terms: AssistantTerms) -> Sheet:
    """Make the sheet of a table."""
    frame, person = source.typed_frame, source.aliases.get(terms.person or "")
    people = PeopleCounter(frame.records, persons_of_rows(frame, person))
    everybody = int(people.count(np.zeros(frame.n_rows, dtype=np.int32), 1)[0])
    is_told = everybody >= FEWEST_IN_ALL
    columns = []
    for (alias, name), proposed in zip(source.aliases.items(), source.roles.columns, strict=True):
        column = _describe_column(alias, find_shown_name(name, terms.names), proposed)
        columns.append(_with_bands(column, proposed, source, terms, people, everybody) if is_told else column)
    return Sheet(round_count(everybody) if is_told else None, source.roles.of_persons, tuple(columns))


def _describe_column(alias: str, name: str | None, proposed: ProposedRole) -> SheetColumn:
    """Return what is told of every column, however small the table is: words of fixed lists."""
    apart = "it tells people apart" if proposed.role in ("quasi-identifier", "ask") else "it tells few apart"
    why = "its name or its cells say what it is" if proposed.topic else apart
    return SheetColumn(alias, name, proposed.kind, proposed.role, why, proposed.topic, proposed.knowable_by)


def _with_bands(
    column: SheetColumn,
    proposed: ProposedRole,
    source: AssistantSource,
    terms: AssistantTerms,
    people: PeopleCounter,
    everybody: int,
) -> SheetColumn:
    missing = proposed.n_missing / max(1, source.typed_frame.n_records)
    told = SheetColumn(
        **{
            **column.to_dict(),
            "distinct": distinct_band(proposed.n_distinct),
            "missing": share_band(missing, MISSING_EDGES),
            "power": next((grade for least, grade in _POWER_GRADES if proposed.power > least), "none"),
        }
    )
    is_hidden = proposed.role in _HIDDEN_ROLES or proposed.topic == PROSE or column.id in terms.withheld
    if is_hidden or terms.person is None or not 0 < proposed.n_distinct <= _MAX_VALUES_READ:
        return told
    try:
        table = Table.encode(source.typed_frame, [proposed.name])
    except ColumnError:
        return told
    texts = table.columns[0].texts()
    counts = people.count(table.codes[0], len(texts)).tolist()
    shown = [code for code, n in enumerate(counts) if n >= terms.least and is_plain_value(texts[code])]
    shares = [counts[code] / everybody for code in shown]
    figures = (missing, proposed.n_distinct, everybody)
    for with_bands in (True, False):
        if is_safe(shares, *figures, least=terms.least, with_bands=with_bands, may_repeat=people.persons is not None):
            values = [
                SheetValue(texts[code], share_band(share) if with_bands else None)
                for code, share in zip(shown, shares, strict=True)
            ]
            return SheetColumn(**told.to_dict(), values=tuple(values[:MOST_VALUES]), more=len(values) > MOST_VALUES)
    return told
