"""Where two tables meet: columns are spelled alike; those that cannot be cause a warning, or an error in a gate."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.columns import Column, ColumnSpec, form_of, kinds_of_one_family, meet_columns
from hushtable.errors import InputError, quote_names
from hushtable.tables.joint import Joint
from hushtable.tables.table import Table

_MIN_EXPECTED_RECORDS: Final = 5.0  # records that chance lets meet, below which nothing is said
# Of the expected records: fewer do not happen by chance in tables of one population.
_MIN_SHARE_OF_EXPECTED: Final = 0.5
_MAX_COLUMNS_PER_MESSAGE: Final = 3
_KINDS: Final = {
    "integer": "whole numbers",
    "decimal": "decimal numbers",
    "date": "dates",
    "datetime": "moments",
    "time": "times of a day",
}
_HINT: Final = "write the column in both tables alike, or leave it out (columns=, --columns)"


class MismatchWarning(UserWarning):
    """Columns of two tables have fewer values in common than chance allows."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A column of which two tables have fewer values in common than chance allows."""

    column: str
    expected: float  # share of the second table's records whose value the first was expected to hold
    share: float  # the share that it holds
    forms: tuple[str, str]  # what the two hold: their kinds, and the form of texts; no cell

    def describe(self, names: Sequence[str]) -> str:
        """Describe what differs between two tables with these names."""
        first, second = names[:2]
        values = "no value" if not self.share else f"{self.share:.1%} of the values"
        return (
            f"column {quote_names([self.column])}: the {first} table holds {values} of the {second} table's records, "
            f"where {self.expected:.0%} are expected. The {first} table has {self.forms[0]}, the {second} table has "
            f"{self.forms[1]}"
        )


def meet_tables(tables: Sequence[Table], specs: Mapping[str, ColumnSpec] | None = None) -> tuple[Table, ...]:
    """Spell the columns that all tables have alike, but for declared categories; see `hushtable.columns.meeting`."""
    changed: list[dict[str, tuple[Column, CodeArray]]] = [{} for _ in tables]
    for name in tables[0].names:
        if not all(name in table.names for table in tables):
            continue
        columns = [table.column(name) for table in tables]
        codes = [table.codes[table.index(name)] for table in tables]
        has_missing = [bool((of_rows < 0).any()) for of_rows in codes]
        kind = specs[name].kind if specs and name in specs else None
        met = meet_columns(columns, has_missing, is_text=kind in ("category", "ordered"))
        for of_table, of_rows, column in zip(changed, codes, met or (), strict=False):
            of_table[name] = column.column, column.codes[of_rows]
    return tuple(_with_columns(table, new) for table, new in zip(tables, changed, strict=True))


def _with_columns(table: Table, changed: Mapping[str, tuple[Column, CodeArray]]) -> Table:
    if not changed:
        return table
    codes = np.array(table.codes)
    for name, (_, of_rows) in changed.items():
        codes[table.index(name)] = of_rows
    columns = [changed[column.name][0] if column.name in changed else column for column in table.columns]
    return replace(table, columns=tuple(columns), codes=codes)


def find_mismatches(joint: Joint, tables: Sequence[Table], *, by_range: bool = False) -> list[Mismatch]:
    """Find the columns of which the second table has fewer values in common with the first one than chance allows.

    Of records of one population, the share whose value a table holds is about its coverage: 1 less the share of its
    records whose value is unique in it (Good, 1953). Fewer than half of that is no chance. Where nearly every value is
    unique, forms of texts are compared so. With ``by_range`` most numbers need only lie in the first table's range. A
    control, the third table, is not looked at: where it meets nobody, the risk beyond it is too high.
    """
    mismatches: list[Mismatch] = []
    for j, name in enumerate(joint.names if len(tables) > 1 else ()):
        first, second = (
            np.bincount(rows.codes[j] + 1, rows.counts, joint.widths[j] + 1)[1:].astype(np.int64)
            for rows in joint.tables[:2]
        )
        columns = tables[0].column(name), tables[1].column(name)
        expected, share = _coverage_and_share(columns, joint.values[j], first, second, by_range=by_range)
        if has_too_few(share, expected, int(second.sum())):
            first_form, second_form = (
                describe_values(column, joint.values[j], counts)
                for column, counts in zip(columns, (first, second), strict=True)
            )
            mismatches.append(Mismatch(name, expected, share, (first_form, second_form)))
    return mismatches


def has_too_few(share: float, expected: float, n_records: int) -> bool:
    """Tell whether the share of records that meet is lower than chance explains, given the expected share."""
    return expected * n_records >= _MIN_EXPECTED_RECORDS and share < _MIN_SHARE_OF_EXPECTED * expected


def _coverage_and_share(
    columns: tuple[Column, Column], values: Sequence[Any], first: CountArray, second: CountArray, *, by_range: bool
) -> tuple[float, float]:
    """Return which share of the second table's records the first is expected to have values of, and which it has."""
    expected, share = _coverage(first), _share_of_known(first, second)
    if kinds_of_one_family(columns):
        # Made-up numbers lie among those of people and need not equal them, but for some.
        share_in_range = _share_of_known(_fill_range(first), second)
        is_apart = (
            not by_range
            and not share
            and expected >= _MIN_SHARE_OF_EXPECTED
            and share_in_range >= _MIN_SHARE_OF_EXPECTED
        )
        return (expected, 0.0) if is_apart else (1.0, share_in_range)
    if share or expected * second.sum() >= _MIN_EXPECTED_RECORDS:
        return expected, share
    forms = [_count_forms(values, counts) for counts in (first, second)]
    by_form = [np.array([counts[form] for form in {**forms[0], **forms[1]}]) for counts in forms]
    return _coverage(by_form[0]), _share_of_known(*by_form)


def _fill_range(counts: CountArray) -> CountArray:
    """Count each value between the first and the last that occur."""
    within = np.zeros_like(counts)
    known = np.flatnonzero(counts)
    if len(known):
        within[known[0] : known[-1] + 1] = 1
    return within


def _coverage(counts: CountArray) -> float:
    return 1 - np.count_nonzero(counts == 1) / max(1, int(counts.sum()))


def _share_of_known(first: CountArray, second: CountArray) -> float:
    return float(second[first > 0].sum() / max(1, second.sum()))


def _count_forms(values: Sequence[Any], counts: CountArray) -> Counter[str]:
    forms: Counter[str] = Counter()
    for code in np.flatnonzero(counts).tolist():
        forms[form_of(str(values[code]))] += int(counts[code])
    return forms


def describe_values(column: Column, values: Sequence[Any], counts: CountArray) -> str:
    """Describe the values of a column without showing a cell."""
    if not column.n_values:
        return "nothing"
    if column.is_measured:
        return _KINDS[column.kind]
    return f"text of the form {_count_forms(values, counts).most_common(1)[0][0]!r}"


def warn_of_mismatches(mismatches: Sequence[Mismatch], names: Sequence[str]) -> None:
    """Warn of columns that do not meet; inside `as_gate` that is an InputError."""
    if not mismatches:
        return
    text = "; ".join(mismatch.describe(names) for mismatch in mismatches[:_MAX_COLUMNS_PER_MESSAGE])
    more = len(mismatches) - _MAX_COLUMNS_PER_MESSAGE
    text += f"; and {more} more columns" if more > 0 else ""
    try:
        warnings.warn(MismatchWarning(f"tables do not meet in {text}. Nobody is found by it: {_HINT}"), stacklevel=3)
    except MismatchWarning:
        raise InputError(f"tables do not meet in {text}.", hint=f"{_HINT}.") from None


@contextmanager
def as_gate(is_gate: bool) -> Iterator[None]:
    """Make columns that do not meet an error, where a figure is judged by a limit."""
    with warnings.catch_warnings():
        if is_gate:
            refuse_mismatches()
        yield


def refuse_mismatches() -> None:
    """Make columns that do not meet an error, as long as these filters of warnings hold."""
    warnings.simplefilter("error", MismatchWarning)
