"""Cells that people can read and use: round intervals, ranges of codes, short lists, and names of groups."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, ClassVar, Final, Self

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray, freeze_array, reduce_to_fields
from hushtable.columns import Column, cells
from hushtable.hierarchy import UNITS, CodeGrid, Codes, Dates, Hierarchy, Rounding, Rule
from hushtable.kernels import group
from hushtable.tables import label_rows

_OFFSETS: Final = "offsets"


@dataclass(frozen=True, slots=True, eq=False)
class Classwise:
    """Base of the published cells of classes in a column; its arrays are read-only, also after pickling."""

    per_class: ClassVar[tuple[str, ...]] = ()  # the arrays with an entry for every class
    # The array that `offsets` splits into a run for every class; other attributes are of the whole column
    run: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for each in fields(self):
            if isinstance(getattr(self, each.name), np.ndarray):
                freeze_array(getattr(self, each.name))

    __reduce__ = reduce_to_fields

    def take(self, classes: CountArray | BoolArray) -> Self:
        """Return the cells of some classes, given by numbers in any order, or by a mask."""
        arrays = {name: getattr(self, name)[classes] for name in self.per_class}
        if self.run:
            offsets = getattr(self, _OFFSETS)
            begins, lengths = offsets[:-1][classes], np.diff(offsets)[classes]
            arrays[_OFFSETS] = np.append(0, np.cumsum(lengths))
            shifts = np.repeat(begins - arrays[_OFFSETS][:-1], lengths)
            arrays[self.run] = getattr(self, self.run)[np.arange(len(shifts)) + shifts]
        return replace(self, **arrays)

    def find_difference(self, other: object) -> str | None:
        """Return the attribute in which two records differ so that they cannot be joined, ``"kind"``, or None."""
        if type(self) is not type(other):
            return "kind"
        own = {*self.per_class, *((_OFFSETS, self.run) if self.run else ())}
        shared = (each.name for each in fields(self) if each.name not in own)
        return next((name for name in shared if not are_alike(getattr(self, name), getattr(other, name))), None)

    def concatenate_with(self, others: Sequence[Self]) -> Self:
        """Concatenate the classes of this record and of others, which must not differ (see `find_difference`)."""
        parts = (self, *others)
        arrays = (*self.per_class, self.run) if self.run else self.per_class
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays}
        if self.run:
            lengths = np.concatenate([np.diff(getattr(part, _OFFSETS)) for part in parts])
            joined[_OFFSETS] = np.append(0, np.cumsum(lengths))
        return replace(self, **joined)


def are_alike(left: Any, right: Any) -> bool:
    """Tell whether two records, arrays or plain values have the same content."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return np.array_equal(left, right)
    if is_dataclass(left):
        names = (each.name for each in fields(left) if each.compare)
        return all(are_alike(getattr(left, name), getattr(right, name)) for name in names)
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(are_alike, left, right))
    return bool(left == right)


def number_keys(keys: Iterable[Hashable]) -> tuple[CodeArray, CountArray]:
    """Number distinct keys by first appearance; return also the first position of each number."""
    seen: dict[Hashable, int] = {}
    numbers = np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int32)
    return numbers, np.flatnonzero(np.diff(np.maximum.accumulate(numbers), prepend=-1))


def number_rows(*columns: CodeArray) -> tuple[CodeArray, CodeArray]:
    """Number distinct rows of some columns by first appearance; return also the first position of each number."""
    numbers, n_numbers = label_rows(columns, [int(column.max(initial=-1)) + 1 for column in columns], len(columns[0]))
    return numbers, group.first_rows(numbers, n_numbers)


_MOST_PLACES: Final = 8  # of a run that is numbered place by place


def number_runs(codes: CodeArray, begins: CountArray, lengths: CountArray) -> CodeArray:
    """Number distinct runs of codes (-1 or more): run i has so many codes from ``begins[i]`` on."""
    numbers, n_numbers = np.empty(len(lengths), dtype=np.int32), 0
    in_order = np.argsort(lengths, kind="stable")
    for alike in np.split(in_order, np.flatnonzero(np.diff(lengths[in_order])) + 1):
        length, starts = int(lengths[alike[0]]) if len(alike) else 0, begins[alike]
        if length > _MOST_PLACES:
            # Few classes hold so much.
            labels, first = number_keys(codes[start : start + length].tobytes() for start in starts.tolist())
            n_labels = len(first)
        else:
            # Read-only, as columns are: for writable arrays numba would compile the kernel again.
            places = (freeze_array(codes[starts + place]) for place in range(length))
            labels, n_labels = label_rows(places, [int(codes.max(initial=-1)) + 1] * length, len(alike))
        numbers[alike] = labels + np.int32(n_numbers)
        n_numbers += n_labels
    return freeze_array(numbers)


def distinct_pairs(first: CountArray, second: CountArray) -> tuple[list[tuple[int, int]], CodeArray]:
    """Return the distinct pairs of two arrays, ascending, and the index of the pair at each position."""
    (firsts, place), (seconds, beside) = (np.unique(each, return_inverse=True) for each in (first, second))
    keys, number = np.unique(place * len(seconds) + beside, return_inverse=True)
    pairs = firsts[keys // len(seconds)].tolist(), seconds[keys % len(seconds)].tolist()
    return list(zip(*pairs, strict=True)), number.astype(np.int32)


_MAX_UNUSED_NUMBERS: Final = 65_536  # a look-up table may have so many more entries than it answers


def distinct_numbers(numbers: CountArray, n_numbers: int) -> tuple[CountArray, CodeArray]:
    """Return the distinct numbers below `n_numbers`, ascending, and the index of each position's number."""
    if n_numbers > len(numbers) + _MAX_UNUSED_NUMBERS:
        distinct, place = np.unique(numbers, return_inverse=True)
        return distinct, place.astype(np.int32)
    is_there = np.zeros(n_numbers, dtype=bool)
    is_there[numbers] = True
    return np.flatnonzero(is_there), (np.cumsum(is_there, dtype=np.int32) - np.int32(1))[numbers]


_ROUNDING_ERROR: Final = 1e-9  # of a sum of shares

Labels = tuple[CodeArray, Sequence[str | None]]
"""The label of every class, as an index into distinct texts; None is a published missing value."""


@dataclass(frozen=True, slots=True, eq=False)
class Spans(Classwise):
    """Base of cells of ordered columns: from the first place in a class to the last."""

    low: CodeArray = field(repr=False)  # -1 where only missing values are
    high: CodeArray = field(repr=False)  # included; -1 where only missing values are
    has_missing: BoolArray = field(repr=False)

    per_class: ClassVar[tuple[str, ...]] = ("low", "high", "has_missing")

    @property
    def is_star(self) -> BoolArray:
        """The classes that publish ``*``: those with missing and known values, as no span covers both."""
        return self.has_missing & (self.high >= 0)


@dataclass(frozen=True, slots=True, eq=False)
class Rounded(Spans):
    """Round intervals of numbers and dates."""

    rounding: Rounding = field(repr=False)

    def shares(self, column: Column) -> FloatArray:
        """Return the width of every interval over that of the column."""
        if column.by_rank:
            first, after = map(self.rounding.n_before, self.rounding.round_outwards(self.low, self.high))
            shares = (after - 1 - first) / (column.n_values - 1)
        else:
            shares = self.rounding.shares(self.low, self.high)
        return np.where(self.is_star, 1.0, np.where(self.high < 0, 0.0, shares))

    def format_labels(self, column: Column) -> Labels:
        """Write the intervals, each distinct one once."""
        begin, end = self.rounding.round_outwards(self.low, self.high)
        begin, end = np.where(self.is_star, 0, begin), np.where(self.is_star, -1, np.where(self.high < 0, -2, end))
        distinct, label_of_class = distinct_pairs(begin, end)
        return label_of_class, [self._format_cell(*pair) for pair in distinct]

    def _format_cell(self, begin: int, end: int) -> str | None:
        if end < 0:
            return None if end == -2 else cells.SUPPRESSED
        return self.rounding.format_interval(begin, end)

    def label_meaning(self, column: Column) -> Hierarchy | Rule | None:
        """Return what the labels among the cells mean; None where there are none."""
        return Dates(tuple(UNITS)) if self.rounding.is_calendar else None


@dataclass(frozen=True, slots=True, eq=False)
class CodeRanges(Spans):
    """Prefixes of codes, and ranges of codes in their order."""

    codes: CodeGrid

    def shares(self, column: Column) -> FloatArray:
        """Return the column's values within every range over all values; 0 for a single value."""
        begin, end = self.codes.round_outwards(self.low, self.high)
        shares = np.where(self.low == self.high, 0.0, (end - begin) / len(self.codes.texts))
        return np.where(self.high < 0, 0.0, np.where(self.has_missing, 1.0, shares))

    def format_labels(self, column: Column) -> Labels:
        """Write the ranges, each distinct one once."""
        begin, end = self.codes.round_outwards(self.low, self.high)
        begin, end = np.where(self.is_star, 0, begin), np.where(self.is_star, len(self.codes.texts), end)
        end = np.where(self.high < 0, -1, end)
        distinct, label_of_class = distinct_pairs(begin, end)
        return label_of_class, [None if pair[1] < 0 else self.codes.format_range(*pair) for pair in distinct]

    def label_meaning(self, column: Column) -> Hierarchy:
        """Return what the prefixes and ranges among the cells mean."""
        return Hierarchy.build(Codes(self.codes.prefixes), column)


@dataclass(frozen=True, slots=True, eq=False)
class Listed(Classwise):
    """Cells of a category: a short list of a class's values, else a node of a tree."""

    offsets: CountArray = field(repr=False)
    # Class c holds `members[offsets[c]:offsets[c + 1]]`, ascending, indices into `texts`
    members: CodeArray = field(repr=False)
    # The missing value, and all values or the labels below the top of a hierarchy
    texts: tuple[str | None, ...] = field(repr=False)
    widths: FloatArray = field(repr=False)  # the share of the column under each text
    level: CodeArray = field(repr=False)  # of the node that a class publishes; -1 where it lists what it holds
    node: CodeArray = field(repr=False)
    tree: Hierarchy = field(repr=False)  # groups of the column by frequency, or its hierarchy

    per_class: ClassVar[tuple[str, ...]] = ("level", "node")
    run: ClassVar[str] = "members"

    def shares(self, column: Column) -> FloatArray:
        """Return the share of the column that every class publishes; 0 for a single value."""
        n_listed = np.diff(self.offsets)
        shares = np.minimum(1.0, np.add.reduceat(self.widths[self.members], self.offsets[:-1]))
        shares = np.where(n_listed > 1, shares, 0.0)
        for level in range(self.tree.n_levels):
            at = self.level == level
            # Level 0 is a single value, which loses nothing.
            shares[at] = self.tree.shares[level][self.node[at]] if level else 0.0
        return shares

    def format_labels(self, column: Column) -> Labels:
        """Write the cells, each distinct one once."""
        # A node is published whatever else its class holds.
        lengths = np.where(self.level < 0, np.diff(self.offsets), 0)
        runs = number_runs(self.members, self.offsets[:-1], lengths)
        label_of_class, first = number_rows(self.level, self.node, runs)
        return label_of_class, [self._format_cell(label) for label in first.tolist()]

    def _format_cell(self, label: int) -> str | None:
        level, node = int(self.level[label]), int(self.node[label])
        if level >= 0:
            return self.tree.labels[level][node]
        run = self.members[self.offsets[label] : self.offsets[label + 1]]
        texts = [self.texts[member] for member in run]
        if len(texts) == 1:
            return texts[0] if texts[0] is None else cells.format_value(texts[0])
        if self.widths[run].sum() > 1 - _ROUNDING_ERROR:
            return cells.SUPPRESSED
        return cells.format_set(texts, between=",")

    def label_meaning(self, column: Column) -> Hierarchy | Rule | None:
        """Return what the labels among the cells mean; None where there are none."""
        is_label = (self.level >= 0) & (self.level < self.tree.n_levels - 1)
        return self.tree if is_label.any() and self.tree.rule is None else None


def length_in_list(text: str | None) -> int:
    """Return how many characters a value adds to a list, a comma included; the list has one more than all of them."""
    return len(cells.format_set([text])) - 1
