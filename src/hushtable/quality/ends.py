"""Ends of cells that some record of the class has: what a class's records may be, all together.

A recoding that publishes what its own records span tells more than an interval: of the records of a class with
``[8, 12]`` one at least is 8, and one 12. Whoever draws values from cells without that draws too few at the ends: the
column varies too little, and its slope comes out too steep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.claims import Classes, Matchings, published_cells
from hushtable.io import Frame
from hushtable.quality.cell_values import Standing

__all__ = ["HeldEnds", "classes_of_rows"]

_LARGEST: Final = 64  # records; of larger classes the ends say next to nothing
_UNROUNDED: Final = 15  # whole numbers from which on an interval is rounded (`hierarchy.Rounding`)
_SPANNED: Final = ("tight", "set", "readable")  # recodings whose cells end where their records do
INSIDE, LOW, HIGH = 0, 1, 2
_FIRST, _LAST, _BOTH = 1, 2, 3  # what is still to be held, as bits


def classes_of_rows(published: Frame, claim: Classes | Matchings, recoding: str | None) -> CountArray | None:
    """Return the class of every row, by its published cells; None where cells may end at values that nobody has."""
    if not isinstance(claim, Classes) or recoding not in _SPANNED or not published.n_rows:
        return None
    cells = [published_cells(published, name, claim.specs.get(name))[1] for name in claim.columns]
    return np.asarray(np.unique(np.column_stack(cells), axis=0, return_inverse=True)[1], dtype=np.int64).reshape(-1)


@dataclass(frozen=True, slots=True, eq=False)
class HeldEnds:
    """The classes whose cell in one column begins and ends with values of their records.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_classes, largest)
        The rows of each class; -1 where it has fewer.
    cell : ndarray of int64, shape (n_classes,)
    size : ndarray of int64, shape (n_classes,)
    """

    rows: CountArray = field(repr=False)
    cell: CountArray = field(repr=False)
    size: CountArray = field(repr=False)

    @classmethod
    def of(
        cls, standing: Standing, places: Sequence[FloatArray], classes: CountArray, *, is_readable: bool
    ) -> HeldEnds | None:
        """Find them; None where the column has none.

        Parameters
        ----------
        standing : Standing
        places : sequence of ndarray of float64
            What each cell may be, ascending.
        classes : ndarray of int64, shape (n_rows,)
            The class of every row, 0 to the number of classes.
        is_readable : bool
            Whether intervals are rounded, and may be open. Only short ones of whole numbers that are cut at every
            number end where records do.
        """
        published, column = standing.published, standing.column
        sizes = np.array([len(each) for each in places])
        # A class that names two categories holds both; what is named with more may be a group.
        held = published.is_told & (published.missing == 0) & ((sizes > 1) if column.is_measured else (sizes == 2))
        ends = np.array([(each[0], each[-1]) if len(each) else (0.0, 0.0) for each in places]).reshape(-1, 2)
        if column.is_measured and not published.is_whole:
            return None
        if column.is_measured and is_readable:
            is_open = (ends[:, 0] == ends[held, 0].min(initial=0.0)) | (ends[:, 1] == ends[held, 1].max(initial=0.0))
            held &= ~is_open & (sizes < _UNROUNDED)
            cuts = np.unique(ends[held] + (0.0, 1.0))
            if column.kind != "integer" or len(cuts) < 2 or np.diff(cuts).min() > 1:
                return None
        size = np.bincount(classes)
        cell = published.rows[np.unique(classes, return_index=True)[1]].astype(np.int64)
        kept = np.flatnonzero(held[cell] & (size <= _LARGEST) & (size > 1))
        if not len(kept):
            return None
        rows = np.full((len(size), int(size[kept].max())), -1, dtype=np.int64)
        order = np.argsort(classes, kind="stable")
        within = np.arange(len(classes)) - np.repeat(np.cumsum(size) - size, size)
        fits = within < rows.shape[1]
        rows[classes[order][fits], within[fits]] = order[fits]
        return cls(rows[kept], cell[kept], size[kept])

    def n_rows_of_cells(self, n_cells: int) -> CountArray:
        """Return how many rows of each cell are in these classes."""
        found = np.zeros(n_cells, dtype=np.int64)
        np.add.at(found, self.cell, self.size)
        return found

    def expected(self, places: Sequence[FloatArray], shares: Sequence[FloatArray]) -> list[FloatArray]:
        """Return how many records of these classes have each place of each cell, from the shares of places in cells."""
        found = [np.zeros(len(each)) for each in places]
        kinds = np.column_stack([self.cell, self.size])
        for (cell, size), count in zip(*np.unique(kinds, axis=0, return_counts=True), strict=True):
            share = shares[cell]
            first, last = np.full((1, size), share[0]), np.full((1, size), share[-1])
            chances = _chances(first, last)[:, 1, 0]  # of all records but one
            added = share * chances[_BOTH]
            added[0], added[-1] = share[0] * chances[_LAST], share[-1] * chances[_FIRST]
            found[cell] += count * size * added / added.sum()
        return found

    def drawn(self, first: FloatArray, last: FloatArray, rng: np.random.Generator) -> CountArray:
        """Draw which rows hold the first place of their cell, and which the last: exactly, all rows of a class at once.

        Parameters
        ----------
        first, last : ndarray of float64, shape (n_rows,)
            How likely each row alone has the first place of its cell, and the last.
        rng : Generator

        Returns
        -------
        ndarray of int64, shape (n_rows,)
            `LOW`, `HIGH` or `INSIDE`.
        """
        lots = rng.random(len(first))
        found = np.where(lots < first, LOW, np.where(lots < first + last, HIGH, INSIDE))
        is_row = self.rows >= 0
        low, high = np.where(is_row, first[self.rows], 0.0), np.where(is_row, last[self.rows], 0.0)
        chances = _chances(low, high)
        needed = np.full(len(self.rows), _BOTH)
        every = np.arange(len(self.rows))
        for j in range(self.rows.shape[1]):
            after = chances[:, j + 1]
            to_low = low[:, j] * after[needed & ~_FIRST, every]
            to_high = high[:, j] * after[needed & ~_LAST, every]
            inside = np.maximum(0.0, 1 - low[:, j] - high[:, j]) * after[needed, every]
            lot = rng.random(len(every)) * (to_low + to_high + inside)
            state = np.where(lot < to_low, LOW, np.where(lot < to_low + to_high, HIGH, INSIDE))
            needed &= ~np.where(state == LOW, _FIRST, np.where(state == HIGH, _LAST, 0))
            found[self.rows[is_row[:, j], j]] = state[is_row[:, j]]
        return found


def _chances(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return how likely the records from each on hold what is needed: nothing, the first end, the last, both.

    Sums of positive terms alone, so that small chances are exact.

    Returns
    -------
    ndarray of float64, shape (4, n_records + 1, n_classes)
    """
    n_classes, n_records = low.shape
    found = np.zeros((4, n_records + 1, n_classes))
    found[0] = 1.0
    for j in range(n_records - 1, -1, -1):
        a, b = low[:, j], high[:, j]
        after = found[:, j + 1]
        found[_FIRST, j] = a + (1 - a) * after[_FIRST]
        found[_LAST, j] = b + (1 - b) * after[_LAST]
        found[_BOTH, j] = a * after[_LAST] + b * after[_FIRST] + np.maximum(0.0, 1 - a - b) * after[_BOTH]
    return found
