"""Several tables of the same columns in one code, so that equal values have equal codes whatever their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import Column, value_text
from hushtable.kernels import group
from hushtable.tables.table import Table, label_rows

_WITHOUT_ROUNDING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class JointRows:
    """Some rows of one of the tables."""

    codes: CodeArray = field(repr=False)  # (n_columns, n_rows)
    counts: CountArray = field(repr=False)  # (n_rows,), records that each row stands for
    positions: CountArray = field(repr=False)  # (n_rows,), where each row is in its table

    @property
    def n_records(self) -> int:
        """How many records the rows stand for."""
        return int(self.counts.sum())

    def take(self, rows: CountArray | CodeArray) -> JointRows:
        """Return some of the rows, in the order given."""
        return JointRows(np.ascontiguousarray(self.codes[:, rows]), self.counts[rows], self.positions[rows])

    def reorder_columns(self, columns: Sequence[int]) -> JointRows:
        """Return the rows with their columns in another order."""
        return JointRows(np.ascontiguousarray(self.codes[list(columns)]), self.counts, self.positions)

    def first_equal_rows(self, widths: Sequence[int]) -> CountArray:
        """Return for every row the first one that equals it."""
        labels, n_classes = label_rows(self.codes, widths, len(self.counts))
        return np.asarray(group.first_rows(labels, n_classes)[labels], dtype=np.int64)

    def merge_equal_rows(self, widths: Sequence[int]) -> JointRows:
        """Return every distinct row once, where it comes first, for all the records that it stands for."""
        n_records = np.bincount(self.first_equal_rows(widths), self.counts).astype(np.int64)
        kept = np.flatnonzero(n_records)
        return JointRows(np.ascontiguousarray(self.codes[:, kept]), n_records[kept], self.positions[kept])

    def distinct_rows(self, widths: Sequence[int]) -> JointRows:
        """Return every distinct row once, as one record, where it comes first."""
        distinct = self.merge_equal_rows(widths)
        return JointRows(distinct.codes, np.ones_like(distinct.counts), distinct.positions)


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Tables in one code."""

    names: tuple[str, ...]
    widths: tuple[int, ...]  # how many values each column has in all tables together
    values: tuple[list[Any], ...] = field(repr=False)  # of each code, as Python has it; none at last
    tables: tuple[JointRows, ...] = field(repr=False)

    def without_values(self) -> Joint:
        """Return the codes alone: who is equal to whom, but not in what."""
        return replace(self, values=())

    def text(self, column: int, code: int) -> str | None:
        """Return what a code means as text; None for a missing value."""
        return None if code < 0 else _format_value(self.values[column][code])


def encode_jointly(
    tables: Sequence[Table],
    decimals: Mapping[str, int] = _WITHOUT_ROUNDING,
    units: Mapping[str, str] = _WITHOUT_ROUNDING,
) -> Joint:
    """Code tables of the same columns, in the order of the first, together.

    Numbers are equal when they are the same number, whole or decimal, however large; dates are moments at midnight,
    those with a time zone in UTC; other kinds that differ between the tables are compared by their texts.
    """
    names = tables[0].names
    joint_codes = [np.empty((len(names), table.n_rows), dtype=np.int32) for table in tables]
    widths, distinct = [], []
    for j, name in enumerate(names):
        columns = [table.column(name) for table in tables]
        values = _comparable_values(columns, decimals.get(name), units.get(name))
        code_of: dict[Any, int] = {}
        for value in sorted({value for each in values for value in each}):
            code_of[value] = len(code_of)
        for table, each, codes in zip(tables, values, joint_codes, strict=True):
            translated = np.array([*(code_of[value] for value in each), -1], dtype=np.int32)
            codes[j] = translated[table.codes[table.index(name)]]
        widths.append(len(code_of))
        distinct.append(list(code_of))
    rows = [
        JointRows(codes, table.counts, np.arange(table.n_rows))
        for table, codes in zip(tables, joint_codes, strict=True)
    ]
    return Joint(names, tuple(widths), tuple(distinct), tuple(rows))


def _comparable_values(columns: Sequence[Column], n_decimals: int | None, unit: str | None) -> list[list[Any]]:
    """Return each table's values of a column, in code order, as objects that are equal when the values are."""
    kinds = {column.kind for column in columns if column.n_values}
    if kinds <= {"integer", "decimal"}:
        # Python compares whole and decimal numbers exactly, where an array would turn all into decimals.
        return [
            column.values.tolist() if n_decimals is None else _round_values(column, n_decimals) for column in columns
        ]
    if kinds <= {"date", "datetime"}:
        resolution = f"datetime64[{unit or 'us'}]"
        return [list(column.values.astype(resolution).astype("datetime64[us]")) for column in columns]
    if kinds <= {"time"}:
        return [list(column.values - np.datetime64(0, "us")) for column in columns]
    return [column.texts() for column in columns]


def _round_values(column: Column, n_decimals: int) -> list[Any]:
    if n_decimals < 0:
        # Exactly, so that whole and decimal numbers of any size meet.
        return [int(round(Fraction(value), n_decimals)) for value in column.values.tolist()]
    return list((column.values if column.kind == "integer" else to_decimals(column.values, n_decimals)).tolist())


def to_decimals(values: FloatArray, n_decimals: int) -> FloatArray:
    """Round numbers; those that are too large to be scaled stay as they are."""
    with np.errstate(over="ignore"):
        # Adding 0 turns -0.0, which has another text, into 0.0.
        rounded = np.round(values, n_decimals) + 0.0
    # What is too large to be scaled has no decimals.
    return np.asarray(np.where(np.isfinite(rounded), rounded, values))


def _format_value(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return value_text("decimal", value)
    if isinstance(value, np.timedelta64):
        return value_text("time", np.datetime64(0, "us") + value)
    if isinstance(value, np.datetime64):
        return value_text("datetime", value)
    return str(value)
