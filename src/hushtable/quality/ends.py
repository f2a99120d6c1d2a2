"""Ends of cells that some record of the class has: what a class's records may be, all together.

A recoding that publishes what its own records span tells more than an interval: of a class with ``[8, 12]`` one record
at least is 8, and one 12. Draws without that are too rare at the ends: the column varies too little, and its slope
comes out too steep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.claims import ClaimOnColumns, Classes, list_cells_with_points
from hushtable.io import Frame
from hushtable.quality.cell_values import Standing

_MAX_RECORDS_PER_CLASS: Final = 64  # the ends of larger classes say next to nothing
# How often a step goes into the intervals that are rounded to it (`hierarchy.Rounding`), at least.
_STEPS_PER_INTERVAL: Final = 3
_RECODINGS_THAT_SPAN: Final = ("tight", "set", "readable")  # recodings whose cells end where their records do
INSIDE, LOW, HIGH = 0, 1, 2
_NEEDS_FIRST, _NEEDS_LAST, _NEEDS_BOTH = 1, 2, 3  # what is still to be held, as bits


def classes_of_rows(released: Frame, claim: ClaimOnColumns, recoding: str | None) -> CountArray | None:
    """Return the class of every row, by its published cells; None where cells may end at values that nobody has."""
    return group_rows(released, claim) if isinstance(claim, Classes) and recoding in _RECODINGS_THAT_SPAN else None


def group_rows(released: Frame, claim: ClaimOnColumns) -> CountArray | None:
    """Return the class of every row: rows with the same published cells; None without rows or columns."""
    if not released.n_rows or not claim.columns:
        return None
    cells = [list_cells_with_points(released, name, claim.specs.get(name))[1] for name in claim.columns]
    return np.asarray(np.unique(np.column_stack(cells), axis=0, return_inverse=True)[1], dtype=np.int64).reshape(-1)


@dataclass(frozen=True, slots=True, eq=False)
class HeldEnds:
    """The classes of which some record lies in the first part of their cell in one column, and some in the last."""

    rows: CountArray = field(repr=False)  # (n_classes, largest), the rows of each class; -1 where it has fewer
    cell: CountArray = field(repr=False)  # (n_classes,)
    size: CountArray = field(repr=False)  # (n_classes,)
    needed: CountArray = field(repr=False)  # (n_classes,), bits: 1 for the first part, 2 for the last
    parts: CountArray = field(repr=False)  # (n_cells, 2), how many places the first part of each cell has, and the last

    @classmethod
    def find(
        cls, standing: Standing, points: Sequence[FloatArray], classes: CountArray, *, is_readable: bool
    ) -> HeldEnds | None:
        """Find these classes; None where the column has none.

        `points` are what each cell may be, ascending. `is_readable`: intervals are rounded outwards, and may be open;
        then a record lies in the first step of an interval, and one in its last, but nobody knows where an open one
        ends.
        """
        released, column = standing.released, standing.column
        sizes = np.array([len(each) for each in points])
        # A class that names two categories holds both; what is named with more may be a group.
        is_held = (
            released.is_informative & (released.missing == 0) & ((sizes > 1) if column.is_measured else (sizes == 2))
        )
        parts, needed_of_cell = np.ones((len(points), 2), dtype=np.int64), np.where(is_held, _NEEDS_BOTH, 0)
        if column.is_measured and not released.is_whole:
            return None
        if column.is_measured and is_readable:
            if column.kind != "integer":
                return None
            parts, needed_of_cell = _find_steps(points, needed_of_cell, int(standing.axis.first))
        size = np.bincount(classes)
        cell = released.rows[np.unique(classes, return_index=True)[1]].astype(np.int64)
        eligible = np.flatnonzero((needed_of_cell[cell] > 0) & (size <= _MAX_RECORDS_PER_CLASS) & (size > 1))
        if not len(eligible):
            return None
        rows = np.full((len(size), int(size[eligible].max())), -1, dtype=np.int64)
        order = np.argsort(classes, kind="stable")
        within = np.arange(len(classes)) - np.repeat(np.cumsum(size) - size, size)
        fits = within < rows.shape[1]
        rows[classes[order][fits], within[fits]] = order[fits]
        return cls(rows[eligible], cell[eligible], size[eligible], needed_of_cell[cell[eligible]], parts)

    def n_rows_of_cells(self, n_cells: int) -> CountArray:
        """Return how many rows of each cell are in these classes."""
        counts = np.zeros(n_cells, dtype=np.int64)
        np.add.at(counts, self.cell, self.size)
        return counts

    def estimate_counts(self, points: Sequence[FloatArray], shares: Sequence[FloatArray]) -> list[FloatArray]:
        """Return how many records of these classes have each place of each cell, from the shares of places in cells."""
        counts = [np.zeros(len(each)) for each in points]
        kinds = np.column_stack([self.cell, self.size, self.needed])
        for (cell, size, needed), count in zip(*np.unique(kinds, axis=0, return_counts=True), strict=True):
            share, (n_first, n_last) = shares[cell], self.parts[cell]
            first, last = np.full((1, size), share[:n_first].sum()), np.full((1, size), share[-n_last:].sum())
            chances = _chances_of_ends(first, last)[:, 1, 0]  # of all records but one
            added = share * chances[needed]
            added[:n_first] = share[:n_first] * chances[needed & ~_NEEDS_FIRST]
            added[-n_last:] = share[-n_last:] * chances[needed & ~_NEEDS_LAST]
            counts[cell] += count * size * added / added.sum()
        return counts

    def draw_ends(self, first: FloatArray, last: FloatArray, rng: np.random.Generator) -> CountArray:
        """Draw which rows lie in the first part of their cell (`LOW`) or the last (`HIGH`): exactly, a class at once.

        `first` and `last` are how likely each row alone lies there.
        """
        lots = rng.random(len(first))
        row_ends = np.where(lots < first, LOW, np.where(lots < first + last, HIGH, INSIDE))
        is_row = self.rows >= 0
        low, high = np.where(is_row, first[self.rows], 0.0), np.where(is_row, last[self.rows], 0.0)
        chances = _chances_of_ends(low, high)
        needed = self.needed.copy()
        every = np.arange(len(self.rows))
        for j in range(self.rows.shape[1]):
            after = chances[:, j + 1]
            to_low = low[:, j] * after[needed & ~_NEEDS_FIRST, every]
            to_high = high[:, j] * after[needed & ~_NEEDS_LAST, every]
            inside = np.maximum(0.0, 1 - low[:, j] - high[:, j]) * after[needed, every]
            lot = rng.random(len(every)) * (to_low + to_high + inside)
            state = np.where(lot < to_low, LOW, np.where(lot < to_low + to_high, HIGH, INSIDE))
            needed &= ~np.where(state == LOW, _NEEDS_FIRST, np.where(state == HIGH, _NEEDS_LAST, 0))
            row_ends[self.rows[is_row[:, j], j]] = state[is_row[:, j]]
        return row_ends


def _find_steps(points: Sequence[FloatArray], needed: CountArray, first: int) -> tuple[CountArray, CountArray]:
    """Return how many places the first and last step of rounded intervals have, and which of the two hold a record.

    All cuts are multiples of a grid, which is not published, and an interval ends at multiples of its step: of the
    grid, or of 5 or 10 times a power of ten that goes into it three times. The largest step that may be is no finer
    than the one that was.
    """
    begins = np.array([int(each[0]) + first if len(each) else 0 for each in points])
    behind = np.array([int(each[-1]) + first + 1 if len(each) else 0 for each in points])
    parts, of_cell = np.ones((len(points), 2), dtype=np.int64), np.zeros(len(points), dtype=np.int64)
    among = np.flatnonzero(needed)
    if not len(among):
        return parts, of_cell
    bottom, top = begins[among].min(), behind[among].max()
    cuts = np.unique(np.concatenate([begins[among], behind[among]]))
    grid = int(np.gcd.reduce(cuts[(cuts > bottom) & (cuts < top)])) or 1
    steps = sorted({grid, *(digit * 10**power for power in range(18) for digit in (1, 5))}, reverse=True)
    for cell in among.tolist():
        begin, end = int(begins[cell]), int(behind[cell])
        bits = (0 if begin == bottom else _NEEDS_FIRST) | (0 if end == top else _NEEDS_LAST)
        closed = [cut for cut, bit in ((begin, _NEEDS_FIRST), (end, _NEEDS_LAST)) if bits & bit]
        # How long an open one is, is a guess.
        widest = max(grid, (end - begin) // _STEPS_PER_INTERVAL) if bits == _NEEDS_BOTH else end - begin
        step = next(each for each in steps if each <= widest and not any(cut % each for cut in closed))
        if bits and end - begin >= 2 * step and len(points[cell]) == end - begin:
            parts[cell], of_cell[cell] = step, bits
    return parts, of_cell


def _chances_of_ends(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return how likely the records from each on hold what is needed: nothing, the first end, the last, both.

    Shape (4, n_records + 1, n_classes); sums of positive terms alone, so that small chances are exact.
    """
    n_classes, n_records = low.shape
    chances = np.zeros((4, n_records + 1, n_classes))
    chances[0] = 1.0
    for j in range(n_records - 1, -1, -1):
        a, b = low[:, j], high[:, j]
        after = chances[:, j + 1]
        chances[_NEEDS_FIRST, j] = a + (1 - a) * after[_NEEDS_FIRST]
        chances[_NEEDS_LAST, j] = b + (1 - b) * after[_NEEDS_LAST]
        chances[_NEEDS_BOTH, j] = (
            a * after[_NEEDS_LAST] + b * after[_NEEDS_FIRST] + np.maximum(0.0, 1 - a - b) * after[_NEEDS_BOTH]
        )
    return chances
