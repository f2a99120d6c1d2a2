"""Several tables of the same columns in one code, so that equal values have equal codes whatever their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.column import Column, value_text
from hushtable.errors import ColumnError, InputError, listed, with_hint
from hushtable.kernels import group
from hushtable.table import Table

__all__ = ["UNITS", "Joint", "Rows", "code_together", "datetime_precisions", "numeric_precisions"]

UNITS: Final = ("D", "h", "m", "s", "ms", "us")
"""Units of time as numpy writes them, the coarsest first."""

_EXACT: Final[Mapping[str, Any]] = MappingProxyType({})

# The digits that a float of a usual size holds reliably.
_MOST_DECIMALS: Final = 15
# Powers of ten that are floats.
_MOST_GIVEN: Final = 300


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows of one of the tables.

    Attributes
    ----------
    codes : ndarray of int32, shape (n_columns, n_rows)
    counts : ndarray of int64, shape (n_rows,)
        Records that each row stands for.
    positions : ndarray of int64, shape (n_rows,)
        Where each row is in its table.
    """

    codes: CodeArray = field(repr=False)
    counts: CountArray = field(repr=False)
    positions: CountArray = field(repr=False)

    @property
    def n_records(self) -> int:
        """How many records the rows stand for."""
        return int(self.counts.sum())

    def take(self, rows: CountArray | CodeArray) -> Rows:
        """Return some of the rows, in the order given."""
        return Rows(np.ascontiguousarray(self.codes[:, rows]), self.counts[rows], self.positions[rows])

    def reordered(self, columns: Sequence[int]) -> Rows:
        """Return the rows with their columns in another order."""
        return Rows(np.ascontiguousarray(self.codes[list(columns)]), self.counts, self.positions)

    def distinct(self, widths: Sequence[int]) -> Rows:
        """Return every distinct row once, as one record, where it comes first."""
        labels = np.zeros(len(self.counts), dtype=np.int32)
        n_classes = min(1, len(labels))
        for codes, width in zip(self.codes, widths, strict=True):
            refined = np.empty_like(labels)
            n_classes = group.refine(labels, n_classes, codes, width, refined)
            labels = refined
        kept = self.take(group.first_rows(labels, n_classes))
        return Rows(kept.codes, np.ones(n_classes, dtype=np.int64), kept.positions)


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Tables in one code.

    Attributes
    ----------
    names : tuple of str
        The columns.
    widths : tuple of int
        How many values each column has in all tables together.
    values : tuple of list
        What each code of a column means, as objects of Python (dates and moments as numpy's).
    tables : tuple of Rows
    """

    names: tuple[str, ...]
    widths: tuple[int, ...]
    values: tuple[list[Any], ...] = field(repr=False)
    tables: tuple[Rows, ...] = field(repr=False)

    def text(self, column: int, code: int) -> str | None:
        """Return what a code means as text; None for a missing value."""
        return None if code < 0 else _text(self.values[column][code])


def numeric_precisions(tables: Sequence[Table], given: str | int | Mapping[str, int] | None) -> dict[str, int]:
    """Say with how many decimals the columns of numbers are compared; columns that are not in it, exactly.

    ``"auto"`` takes, for every column of decimal numbers, the fewest that write all values of one of the tables.

    Raises
    ------
    InputError
        A precision is no whole number.
    ColumnError
        A mapping names a column that does not exist or holds no numbers.
    """
    able = _columns_of(tables, ("integer", "decimal"))
    if given == "auto":
        return {name: min(map(_n_decimals, columns)) for name, columns in able.items() if _has("decimal", columns)}
    return _per_column(
        given,
        able,
        lambda value: type(value) is int and abs(value) <= _MOST_GIVEN,
        (
            "numeric_precision",
            "numbers",
            f'a whole number of decimals from -{_MOST_GIVEN} to {_MOST_GIVEN}, "auto" or None',
        ),
    )


def datetime_precisions(tables: Sequence[Table], given: str | Mapping[str, str] | None) -> dict[str, str]:
    """Say to which unit the columns of moments are cut before they are compared.

    ``"auto"`` takes, for every column, the coarsest unit in which all moments of one of the tables are whole.

    Raises
    ------
    InputError
        A precision is no unit.
    ColumnError
        A mapping names a column that does not exist or holds no dates.
    """
    able = _columns_of(tables, ("date", "datetime"))
    if given == "auto":
        finer = {name: columns for name, columns in able.items() if _has("datetime", columns)}
        return {name: min(map(_unit, columns), key=UNITS.index) for name, columns in finer.items()}
    return _per_column(
        given,
        able,
        lambda value: value in UNITS,
        ("datetime_precision", "dates", f'one of {listed(UNITS)}, "auto" or None'),
    )


def code_together(
    tables: Sequence[Table], decimals: Mapping[str, int] = _EXACT, units: Mapping[str, str] = _EXACT
) -> Joint:
    """Code tables of the same columns, in the order of the first, together.

    Numbers are equal when they are the same number, whole or decimal, however large; dates
    are moments at midnight; moments with a time zone are compared in UTC; other
    kinds that differ between the tables are compared by their texts.
    """
    names = tables[0].names
    coded = [np.empty((len(names), table.n_rows), dtype=np.int32) for table in tables]
    widths, distinct = [], []
    for j, name in enumerate(names):
        columns = [table.column(name) for table in tables]
        values = _comparable(columns, decimals.get(name), units.get(name))
        code_of: dict[Any, int] = {}
        for value in sorted({value for each in values for value in each}):
            code_of[value] = len(code_of)
        for table, each, codes in zip(tables, values, coded, strict=True):
            translated = np.array([*(code_of[value] for value in each), -1], dtype=np.int32)
            codes[j] = translated[table.codes[table.index(name)]]
        widths.append(len(code_of))
        distinct.append(list(code_of))
    rows = [Rows(codes, table.counts, np.arange(table.n_rows)) for table, codes in zip(tables, coded, strict=True)]
    return Joint(names, tuple(widths), tuple(distinct), tuple(rows))


def _columns_of(tables: Sequence[Table], kinds: tuple[str, str]) -> dict[str, list[Column]]:
    """Return the columns that hold values of two kinds only, as they are in the tables that have values there."""
    found = {}
    for name in tables[0].names:
        valued = [column for column in (table.column(name) for table in tables) if column.n_values]
        if valued and all(column.kind in kinds for column in valued):
            found[name] = valued
    return found


def _has(kind: str, columns: Sequence[Column]) -> bool:
    return any(column.kind == kind for column in columns)


def _per_column(
    given: Any, able: Mapping[str, Any], fits: Callable[[Any], bool], words: tuple[str, str, str]
) -> dict[str, Any]:
    """Return a precision for every column it is for; ``words`` are the option, what it is for, and what it may be."""
    option, kind, expected = words
    if given is None:
        return {}
    chosen = dict(given) if isinstance(given, Mapping) else dict.fromkeys(able, given)
    for value in chosen.values() if isinstance(given, Mapping) else [given]:
        if not fits(value):
            raise InputError(with_hint(f"{option} = {value!r}.", f"give {expected}."))
    unable = [name for name in chosen if name not in able]
    if unable:
        hint = f"it may name {listed(able)}." if able else f"no column looked at holds {kind}; leave it out."
        raise ColumnError(with_hint(f"{option} names {listed(unable)}, which hold no {kind}.", hint))
    return chosen


def _n_decimals(column: Column) -> int:
    if column.kind == "integer":
        return 0
    for n_decimals in range(_MOST_DECIMALS):
        if (_to_decimals(column.values, n_decimals) == column.values).all():
            return n_decimals
    return _MOST_DECIMALS


def _unit(column: Column) -> str:
    for unit in UNITS[:-1]:
        if (column.values.astype(f"datetime64[{unit}]") == column.values).all():
            return unit
    return UNITS[-1]


def _comparable(columns: Sequence[Column], n_decimals: int | None, unit: str | None) -> list[list[Any]]:
    """Return each table's values of a column, in code order, as objects that are equal when the values are."""
    kinds = {column.kind for column in columns if column.n_values}
    if kinds <= {"integer", "decimal"}:
        # Python compares whole and decimal numbers exactly, where an array would turn all into decimals.
        return [column.values.tolist() if n_decimals is None else _rounded(column, n_decimals) for column in columns]
    if kinds <= {"date", "datetime"}:
        resolution = f"datetime64[{unit or 'us'}]"
        return [list(column.values.astype(resolution).astype("datetime64[us]")) for column in columns]
    return [column.texts() for column in columns]


def _rounded(column: Column, n_decimals: int) -> list[Any]:
    if n_decimals < 0:
        # Exactly, so that whole and decimal numbers of any size meet.
        return [int(round(Fraction(value), n_decimals)) for value in column.values.tolist()]
    return list((column.values if column.kind == "integer" else _to_decimals(column.values, n_decimals)).tolist())


def _to_decimals(values: FloatArray, n_decimals: int) -> FloatArray:
    with np.errstate(over="ignore"):
        # Adding 0 turns -0.0, which has another text, into 0.0.
        rounded = np.round(values, n_decimals) + 0.0
    # What is too large to be scaled has no decimals.
    return np.asarray(np.where(np.isfinite(rounded), rounded, values))


def _text(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return value_text("decimal", value)
    if isinstance(value, np.datetime64):
        return value_text("datetime", value)
    return str(value)
