"""What is looked at before a search: what cannot be carried out as it was asked, and what was probably not meant."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Final

from hushtable.anonymizers.mondrian import Mondrian
from hushtable.anonymizers.request import Request
from hushtable.columns import SUPPRESSED, Column, without_blanks
from hushtable.errors import ColumnError, InputError, check_columns, listed, with_hint
from hushtable.hierarchy import are_codes, prefix_lengths_of
from hushtable.io import Frame
from hushtable.models import KAnonymity
from hushtable.tables import Table, warn_of_missing_codes

__all__ = [
    "check_cells",
    "check_roles",
    "check_spelling",
    "doubt_of_persons",
    "warn_of_doubts",
]

_FEWEST_COMBINED: Final = 20  # combinations, of cells that hold several values
_MARKS: Final = (";", "|", ",", "/", "+")
_HUNDREDS: Final = 100  # of values of a category, from where nobody remembers which group holds which


def check_roles(available: Sequence[str], asked: Request) -> None:
    """Raise ColumnError where a request names a column that does not exist, or one in two roles."""
    pseudonymized = asked.pseudonyms.columns if asked.pseudonyms else ()
    roles = {
        "quasi_identifiers": asked.quasi_identifiers,
        "sensitive columns": asked.judged,
        "identifiers": (*asked.identifiers, *pseudonymized),
    }
    for what, names in roles.items():
        check_columns(names, available, what)
    named = [name for names in roles.values() for name in names]
    doubled = sorted({name for name in named if named.count(name) > 1})
    if doubled:
        msg = with_hint(
            f"columns {listed(doubled)} have more than one role.",
            "a column is an identifier, a quasi-identifier or sensitive; copy it where it must be two of them.",
        )
        raise ColumnError(msg)
    if asked.person is not None:
        check_columns((asked.person,), available, "person")
        if asked.person in (*asked.quasi_identifiers, *asked.judged):
            msg = with_hint(
                f"column {asked.person!r} says whose record a row is, and has another role.",
                "it is an identifier (left out, or a pseudonym), or has no role.",
            )
            raise ColumnError(msg)


def check_spelling(source: Frame, names: Sequence[str], judged: Sequence[str] = ()) -> None:
    """Raise ColumnError where the cells of a column that is typed by its looks could mean two dates or numbers."""
    for name in (*names, *judged):
        formats, marks = source.doubts(name)
        if formats:
            what = (
                f"the dates of column {name!r} fit several formats, or have years of two digits: {', '.join(formats)}."
            )
            entry, example = "format", formats[0]
        elif marks:
            what = f"the numbers of column {name!r} could be read in {len(marks)} ways."
            entry, example = "decimal", "','"
        else:
            continue
        how = f"`{entry}:` in a policy, --set columns.{name}.{entry}={example}, ColumnSpec({entry}=...) in Python"
        raise ColumnError(with_hint(what, f"say which is meant: {how}; or that it is of kind category."))


def check_cells(table: Table) -> None:
    """Raise InputError where there is nothing to protect, or a cell already means any value."""
    if table.n_rows == 0 or table.n_records == 0:
        msg = with_hint("the table is empty.", "there is nothing to protect; check the file and its first line.")
        raise InputError(msg)
    for column in table.columns:
        if not column.is_measured and SUPPRESSED in column.values:
            msg = with_hint(
                f"column {column.name!r} holds a literal '*', which in a release means any value.",
                "replace it by a missing value or another text first; was this table anonymized before?",
            )
            raise ColumnError(msg)


def warn_of_doubts(source: Frame | Table, table: Table, asked: Request) -> None:
    """Warn of what is carried out as it was asked, and probably not meant."""
    if any(model == KAnonymity(1) for model in asked.models) and asked.limits.smallest_class == 1:
        warnings.warn("k-anonymity (k = 1) asks nothing: every record may be alone in its class.", stacklevel=4)
    if isinstance(asked.method, Mondrian) and asked.method.recoding == "readable":
        for name in asked.quasi_identifiers:
            column = table.column(name)
            is_many = column.n_values >= _HUNDREDS and not are_codes(column.texts())
            if name not in asked.hierarchies and not column.is_measured and is_many:
                warnings.warn(
                    f"column {name!r} has {column.n_values} values and no hierarchy: a class of more than "
                    f"{asked.method.max_listed} of them publishes a group by frequency, which tells little. "
                    f"{_proposal(column)}",
                    stacklevel=4,
                )
    for name in asked.quasi_identifiers:
        mark = _mark_of_several(table.column(name))
        if mark is not None and name not in asked.hierarchies:
            warnings.warn(
                f"column {name!r} has cells of several values with {mark!r} between them: each of its "
                f"{table.column(name).n_values} combinations is a value of its own. Give every one of the values a "
                "column that says yes or no, or keep the first one only.",
                stacklevel=4,
            )
    hidden = (*asked.identifiers, *(asked.pseudonyms.columns if asked.pseudonyms else ()))
    names = source.names
    warn_of_missing_codes(source, [name for name in names if name not in hidden], stacklevel=5)
    doubt = doubt_of_persons(source, asked)
    if doubt is not None:
        warnings.warn(doubt, stacklevel=4)


def _mark_of_several(column: Column) -> str | None:
    """Return what stands between the values in the cells of a category; None where cells are single values."""
    texts = [] if column.is_measured or column.n_values < _FEWEST_COMBINED else column.texts()
    for mark in _MARKS:
        several = [text.split(mark) for text in texts if mark in text]
        parts = {part.strip() for each in several for part in each}
        # The same values come back in many combinations.
        if len(several) >= len(texts) / 2 > len(parts) and "" not in parts:
            return mark
    return None


def doubt_of_persons(source: Frame | Table, asked: Request) -> str | None:
    """Say that a person may have several of some records, where nobody said whose they are; None where none has."""
    named = (*asked.identifiers, *(asked.pseudonyms.columns if asked.pseudonyms else ()))
    # Where one identifier tells the records apart, every record may be a person's only one.
    if asked.person is not None or not named or any(_tells_apart(source, name) for name in named):
        return None
    return (
        f"no identifier tells the {source.n_records} records apart ({listed(named)}): where a person has several "
        f"records, pass person={named[0]!r}, so that classes count persons."
    )


def _proposal(column: Column) -> str:
    lengths = prefix_lengths_of(column)
    rule = f"`hierarchy: {{prefix: {list(lengths)}}}`" if lengths else "a file with a line `value;group;...` for each"
    return f"Give it one: {rule}."


def _tells_apart(source: Frame | Table, name: str) -> bool:
    """Tell whether no value of a column repeats, where most cells have one; lists and the like are not looked at."""
    if isinstance(source, Table):
        n_known = int(source.counts[source.codes[source.index(name)] >= 0].sum())
        return source.n_records < 2 * n_known and source.column(name).n_values == n_known
    try:
        cells = without_blanks(source.column(name), name)
    except ColumnError:
        return True
    known = cells.drop_nulls()
    n_known = int(source.records[cells.is_not_null().to_numpy()].sum())
    return source.n_records < 2 * n_known and known.n_unique() == n_known
