"""What classes publish to be read and used: round intervals, short lists of values, and names of groups of values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hushtable import cells
from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.column import Column
from hushtable.hierarchy import Hierarchy, Rule
from hushtable.hierarchy.rounding import Rounding
from hushtable.hierarchy.rules import UNITS, Dates

__all__ = ["Labels", "Listed", "Rounded", "length_in_list"]

Labels = tuple[CodeArray, list[str | None]]
"""The label of every class, as an index into distinct texts; None is a published missing value."""


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """What classes publish of numbers and dates: round intervals.

    Attributes
    ----------
    low, high : ndarray of int32, shape (n_classes,)
        The first and last place that a class holds; -1 where only missing values are.
    has_missing : ndarray of bool, shape (n_classes,)
        Beside known values they make the cell ``*``.
    rounding : Rounding
    """

    low: CodeArray = field(repr=False)
    high: CodeArray = field(repr=False)
    has_missing: BoolArray = field(repr=False)
    rounding: Rounding = field(repr=False)

    def shares(self, column: Column) -> FloatArray:
        """Return the width of every interval over that of the column."""
        shares = self._ranks(column) if column.by_rank else self.rounding.shares(self.low, self.high)
        shares = np.where(self.high < 0, 0.0, shares)
        shares[self.has_missing & (self.high >= 0)] = 1.0
        return shares

    def _ranks(self, column: Column) -> FloatArray:
        """Return how many ranks of values lie within each interval, as a share."""
        cell_of_code = self.rounding.cells[self.rounding.place]
        first, after = (np.searchsorted(cell_of_code, edge) for edge in self.rounding.rounded(self.low, self.high))
        return np.asarray((after - 1 - first) / (column.n_values - 1))

    def labels(self, column: Column) -> Labels:
        """Write the intervals, each distinct one once."""
        begin, end = self.rounding.rounded(self.low, self.high)
        is_all = self.has_missing & (self.high >= 0)
        begin, end = np.where(is_all, 0, begin), np.where(is_all, -1, np.where(self.high < 0, -2, end))
        distinct, label_of_class = np.unique(np.stack((begin, end)), axis=1, return_inverse=True)
        return label_of_class.astype(np.int32), [self._text(*pair) for pair in distinct.T.tolist()]

    def _text(self, begin: int, end: int) -> str | None:
        if end < 0:
            return None if end == -2 else cells.SUPPRESSED
        return self.rounding.text(begin, end)

    def meaning(self) -> Hierarchy | Rule | None:
        """Return what the labels among the cells mean; None where there are none."""
        return Dates(tuple(UNITS)) if self.rounding.is_calendar else None


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """What classes publish of a category without a hierarchy: a short list of the values they hold, or a group.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n_classes + 1,)
    codes : ndarray of int32
        Class c holds ``codes[offsets[c]:offsets[c + 1]]``, ascending; -1 is the missing value.
    domain : int
        How many values the whole column has, the missing one included.
    level, node : ndarray of int32, shape (n_classes,)
        The group that a class publishes; -1 where it lists what it holds.
    groups : Hierarchy
        Of the column.
    """

    offsets: CountArray = field(repr=False)
    codes: CodeArray = field(repr=False)
    domain: int
    level: CodeArray = field(repr=False)
    node: CodeArray = field(repr=False)
    groups: Hierarchy = field(repr=False)

    def shares(self, column: Column) -> FloatArray:
        """Return the values that every class publishes over all values; 0 for a single value."""
        n_values = np.diff(self.offsets)
        shares = np.where(n_values > 1, n_values / max(1, self.domain), 0.0)
        for level in range(self.groups.n_levels):
            at = self.level == level
            shares[at] = self.groups.shares[level][self.node[at]]
        return shares

    def labels(self, column: Column) -> Labels:
        """Write the cells, each distinct one once."""
        seen: dict[tuple[int, int, bytes], int] = {}
        texts: list[str | None] = []
        label_of_class = np.empty(len(self.level), dtype=np.int32)
        for label, (level, node) in enumerate(zip(self.level.tolist(), self.node.tolist(), strict=True)):
            run = self.codes[self.offsets[label] : self.offsets[label + 1]]
            key = (level, node, run.tobytes() if level < 0 else b"")
            label_of_class[label] = seen.setdefault(key, len(texts))
            if label_of_class[label] == len(texts):
                texts.append(self._listed(column, run) if level < 0 else self.groups.labels[level][node])
        return label_of_class, texts

    def _listed(self, column: Column, run: CodeArray) -> str | None:
        if len(run) == 1:
            return None if run[0] < 0 else cells.value(column.text(run[0]))
        if len(run) == self.domain:
            return cells.SUPPRESSED
        return cells.one_of((None if code < 0 else column.text(code) for code in run), between=",")

    def meaning(self) -> Hierarchy | Rule | None:
        """Return what the labels among the cells mean; None where there are none."""
        is_label = (self.level >= 0) & (self.level < self.groups.n_levels - 1)
        return self.groups if is_label.any() else None


def length_in_list(text: str | None) -> int:
    """Return how many characters a value adds to a list, a comma included; the list has one more than all of them."""
    return len(cells.one_of([text])) - 1
