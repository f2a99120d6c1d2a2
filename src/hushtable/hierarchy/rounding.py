"""Round intervals: what classes publish of numbers and dates, on a grid that no record decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import Column, Kind, cells, value_text
from hushtable.hierarchy.dates import UNITS, first_day, unit_label, unit_of
from hushtable.hierarchy.grid import Exact, plain, to_exact

__all__ = ["Rounding", "finest_grid"]

_MOST_CELLS: Final = 200
_FITS: Final = 3  # times that a step goes into the intervals that are rounded to it
_MOST_DECIMALS: Final = 9
_DAYS: Final = (1, 30, 91, 365, 3_652)  # about as many as a calendar unit has
_UNEVEN: Final = 2  # days by which a unit differs from that at most

_Units = Callable[[CountArray, int, Exact], tuple[CountArray, CountArray, CountArray]]


@dataclass(frozen=True, slots=True, eq=False)
class Rounding:
    """A column of numbers or dates on a grid, and the round steps that its intervals begin and end with.

    An interval is rounded outwards to the widest step that goes into it three times: ages 23 to 27 stay
    ``[23, 28)``, 23 to 41 become ``[20, 45)``, dates of three years become whole years.

    Attributes
    ----------
    kind : Kind
        Of the column.
    grid : int or Fraction
        The width of a cell; of dates, in days.
    first : int
        How many cells the first one is away from 0, or from 1970.
    place : ndarray of int32, shape (n_values,)
        Of every value; values of one cell share one.
    cells : ndarray of int64, shape (n_places,)
        The cell of every place, ascending from 0.
    value_width : float
        What a single value covers of a cell: all of it where the grid is as fine as the values.
    steps : ndarray of int64, shape (n_levels,)
        About how many cells the units of each level have; each unit holds whole ones of the level before.
    starts, ends : ndarray of int64, shape (n_levels, n_places)
        Where the unit over each place begins and ends, in cells, no further than the column reaches.
    """

    kind: Kind
    grid: Exact
    first: int
    place: CodeArray = field(repr=False)
    cells: CountArray = field(repr=False)
    value_width: float
    steps: CountArray = field(repr=False)
    starts: CountArray = field(repr=False)
    ends: CountArray = field(repr=False)

    @classmethod
    def of(cls, column: Column, grid: Exact | None = None) -> Rounding:
        """Lay a column of at least two numbers or dates on a grid; its own where none is given.

        Notes
        -----
        Dates have a grid of days, numbers one of 1, 2 or 5 times a power of ten, no finer than a
        200th of their range and no finer than they are written. So the order of magnitude of the range
        shows in it, and how many decimals the values have.
        """
        if column.kind in ("date", "datetime"):
            days = column.values.astype("datetime64[D]").astype(np.int64)
            return cls._of(column, 1, days, 1.0 if column.kind == "date" else 0.0, _calendar)
        low, high = (_exact(column.values[end]) for end in (0, -1))
        finest = _resolution(column)
        width = grid or max(finest, finest_grid(low, high))
        index = _cells(column, width)
        return cls._of(column, width, index, min(1.0, float(Fraction(finest) / width)), _round_numbers)

    @classmethod
    def _of(cls, column: Column, grid: Exact, index: CountArray, value_width: float, units: _Units) -> Rounding:
        first = int(index[0])
        found, place = np.unique(index - first, return_inverse=True)
        steps, starts, ends = units(found, first, grid)
        ends = np.minimum(ends, found[-1] + 1)
        return cls(
            column.kind, grid, first, place.astype(np.int32), found, value_width, steps, np.maximum(starts, 0), ends
        )

    @property
    def is_calendar(self) -> bool:
        """Whether the cells are days."""
        return self.kind in ("date", "datetime")

    @property
    def n_cells(self) -> int:
        """How many cells the column spans."""
        return int(self.cells[-1]) + 1

    @property
    def width(self) -> float:
        """The width of the column in cells, a single value counting nothing; at least something."""
        return max(self.n_cells - self.value_width, 1e-9)

    @property
    def least(self) -> CountArray:
        """How many cells an interval has at least that is rounded to each level, shape (n_levels,)."""
        return np.asarray(_FITS * self.steps)

    def rounded(self, low: CodeArray, high: CodeArray) -> tuple[CountArray, CountArray]:
        """Return the cell that the round interval over each run of places begins with, and the one after its last."""
        level = np.searchsorted(self.least, self.cells[high] - self.cells[low] + 1, side="right") - 1
        level = np.maximum(level, 0)
        return self.starts[level, low], self.ends[level, high]

    def shares(self, low: CodeArray, high: CodeArray) -> FloatArray:
        """Return what the round interval over each run of places covers of the column."""
        begin, end = self.rounded(low, high)
        return np.asarray((end - begin - self.value_width) / self.width)

    def text(self, begin: int, end: int) -> str:
        """Write a round interval; the outermost ones are open, and one value or calendar unit is written as such."""
        if end - begin == 1 and self.value_width == 1:
            return cells.value(self._edge(begin))
        if begin == 0:
            return cells.SUPPRESSED if end == self.n_cells else cells.below(self._edge(end))
        if end == self.n_cells:
            return cells.at_least(self._edge(begin))
        return self._unit(begin, end) or cells.between(self._edge(begin), self._edge(end))

    def _edge(self, cell: int) -> str:
        if self.is_calendar:
            return str(np.datetime64(self.first + cell, "D"))
        return plain((self.first + cell) * self.grid)

    def _unit(self, begin: int, end: int) -> str | None:
        """Return the label of the calendar unit that an interval is, if it is one."""
        if not self.is_calendar:
            return None
        days = np.array([self.first + begin, self.first + end])
        for name, about in zip(UNITS, _DAYS, strict=True):
            # Most intervals are no unit, which their length tells at once.
            if abs(end - begin - about) > _UNEVEN:
                continue
            unit, after = unit_of(days.astype("datetime64[D]"), name)
            if after == unit + 1 and (first_day(np.array([unit, after]), name) == days).all():
                return unit_label(int(unit), name)
        return None


def finest_grid(low: Exact, high: Exact, most_cells: int = _MOST_CELLS) -> Exact:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below a 200th (or so) of a range.

    Examples
    --------
    >>> finest_grid(17, 90), finest_grid(0, 100_000)
    (Fraction(1, 2), 500)
    """
    least = Fraction(high - low) / most_cells
    power = len(str(least.numerator)) - len(str(least.denominator)) - 1
    candidates = (digit * Fraction(10) ** (power + shift) for shift in range(3) for digit in (1, 2, 5))
    found = next(each for each in candidates if each >= least)
    return found.numerator if found.denominator == 1 else found


def _exact(value: Any) -> Exact:
    return int(value) if isinstance(value, np.integer) else to_exact(value_text("decimal", value))


def _resolution(column: Column) -> Exact:
    """Return the power of ten that all values are multiples of, at most 1; 0 where they have too many decimals."""
    values = column.values
    if column.kind == "integer":
        return 1
    most = np.abs(values[[0, -1]]).max()
    # Further out, several decimals of that length are one float.
    shown = (n for n in range(_MOST_DECIMALS) if most * 10.0**n < 2**53 and (np.round(values, n) == values).all())
    n_decimals = next(shown, None)
    return 0 if n_decimals is None else Fraction(1, 10**n_decimals)


def _cells(column: Column, width: Exact) -> CountArray:
    """Number the cells of all values: exactly, where rounding could put one on the wrong side of an edge."""
    if column.kind == "integer" and isinstance(width, int) and width < 2**62:
        return np.asarray(column.values.astype(np.int64) // width)
    about = column.values / float(width)
    cells_ = np.floor(about).astype(np.int64)
    is_near = np.abs(about - np.round(about)) <= np.maximum(1.0, np.abs(about)) * 1e-9
    for code in np.flatnonzero(is_near).tolist():
        cells_[code] = _exact(column.values[code]) // width
    return cells_


def _round_numbers(found: CountArray, first: int, grid: Exact) -> tuple[CountArray, CountArray, CountArray]:
    """Return the units of 5, 10, 50 ... times a power of ten that hold whole cells."""
    steps = [1]
    power = len(str(Fraction(grid).numerator)) - len(str(Fraction(grid).denominator)) - 1
    step = Fraction(10) ** power
    factor = 5
    while step <= (int(found[-1]) + 1) * grid:
        n_cells = step / grid
        if n_cells.denominator == 1 and n_cells > steps[-1]:
            steps.append(int(n_cells))
        step *= factor
        factor = 7 - factor
    # Python's integers: cells may lie at the end of the 64 bits.
    starts = np.array([[(first + cell) // step * step - first for cell in found.tolist()] for step in steps])
    return np.array(steps), starts, starts + np.array(steps)[:, None]


def _calendar(found: CountArray, first: int, grid: Exact) -> tuple[CountArray, CountArray, CountArray]:
    """Return the calendar units of days."""
    del grid
    days = (found + first).astype("datetime64[D]")
    units = [unit_of(days, name) for name in UNITS]
    starts, ends = (
        np.stack([first_day(unit + after, name) - first for name, unit in zip(UNITS, units, strict=True)])
        for after in (0, 1)
    )
    return np.array(_DAYS), starts, ends
