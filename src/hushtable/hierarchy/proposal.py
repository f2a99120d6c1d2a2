"""Propose a rule for any column, and round intervals to ends that no single record decides."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import Column, Kind, cells
from hushtable.hierarchy.grid import (
    DATE_LEVELS,
    UNITS,
    Exact,
    Intervals,
    Number,
    exact_numbers,
    exact_value,
    first_day,
    first_place,
    format_clock,
    format_exact,
    number_cells,
    unit_label,
    unit_of,
)
from hushtable.hierarchy.ladder import Rule
from hushtable.hierarchy.rules import (
    MIN_TAIL_RECORDS,
    Dates,
    Frequency,
    Prefix,
    Runs,
    Suppression,
    Tails,
    Times,
    is_calendar,
    list_round_widths,
    places_of,
)

_MOST_CELLS: Final = 200
_MAX_ANSWERS: Final = 3  # values of a column of answers
_MIN_STEPS_PER_INTERVAL: Final = 3  # an interval is rounded to the widest step that fits into it so often
_MOST_DECIMALS: Final = 9
_DAYS_PER_UNIT: Final = {
    "day": 1,
    "month": 30,
    "quarter": 91,
    "year": 365,
    "decade": 3_652,
}  # about as many as a unit has
_SECONDS_PER_UNIT: Final = (5, 15, 60, 300, 900, 3_600, 21_600)  # from 5 seconds to 6 hours
_MAX_SECONDS_OF_SPAN: Final = 7_200  # for times further apart, minutes are fine enough
_MAX_DAYS_OFF: Final = 2  # a unit's days differ from `_DAYS_PER_UNIT` by at most so many

_Units = Callable[[CountArray, int, Exact], tuple[CountArray, CountArray, CountArray]]


@dataclass(frozen=True, slots=True, eq=False)
class Rounding:
    """A column of numbers or dates on a grid, and the round steps to which ends of intervals are rounded.

    An interval is rounded outwards to the widest step that goes into it three times: ages 23 to 27 stay
    ``[23, 28)``, 23 to 41 become ``[20, 45)``, dates of three years become whole years.
    """

    kind: Kind
    grid: Exact  # the width of a cell; of dates, in units
    first: int  # the number of the first cell on the grid from 0; of dates, its unit's number, or its day from 1970
    place: CodeArray = field(repr=False)  # of every value; values of one cell share one
    cells: CountArray = field(repr=False)  # the cell of every place, ascending from 0
    value_width: float  # the share of a cell that a value covers: 1 if the grid is as fine as the values
    # By level, about how many cells a unit has; each unit is made of whole units of the level before
    steps: CountArray = field(repr=False)
    starts: CountArray = field(repr=False)  # (n_levels, n_places), in cells: where the unit over each place begins
    ends: CountArray = field(repr=False)  # where it ends, no further than the column reaches
    unit: str = "day"  # of dates, the unit of a cell: a day, or a month, quarter or year if all dates are such

    @classmethod
    def from_column(cls, column: Column, grid: Exact | None = None) -> Rounding:
        """Lay a column of at least two numbers or dates on a grid; its own where none is given.

        Dates have a grid of days, or of the months, quarters or years that they are given as; times of a day have one
        of minutes (of seconds, where they have seconds and lie within two hours). Numbers have one of 1, 2 or 5 times a
        power of ten, no finer than a 200th of their range and no finer than they are written. So the order of magnitude
        of the range shows in it, and how many decimals the values have.
        """
        if column.kind in ("date", "datetime"):
            index = unit_of(column.values.astype("datetime64[D]"), column.precision)
            calendar = partial(_calendar_units, unit=column.precision)
            laid = cls._from_cells(column, 1, index, 1.0 if column.kind == "date" else 0.0, calendar)
            return replace(laid, unit=column.precision)
        if column.kind == "time":
            return cls._from_cells(column, *_clock_cells(column), _clock_units)
        low, high = (exact_value(column.values[end]) for end in (0, -1))
        finest = _find_resolution(column)
        width = grid or max(finest, finest_grid(low, high))
        index = number_cells(column, width)
        return cls._from_cells(column, width, index, min(1.0, float(Fraction(finest) / width)), _decimal_units)

    @classmethod
    def _from_cells(cls, column: Column, grid: Exact, index: CountArray, value_width: float, units: _Units) -> Rounding:
        first = int(index[0])
        occupied, place = np.unique(index - first, return_inverse=True)
        steps, starts, ends = units(occupied, first, grid)
        ends = np.minimum(ends, occupied[-1] + 1)
        return cls(
            column.kind, grid, first, place.astype(np.int32), occupied, value_width, steps, np.maximum(starts, 0), ends
        )

    @property
    def is_calendar(self) -> bool:
        """Whether the cells are days, or longer units of the calendar."""
        return self.kind in ("date", "datetime")

    @property
    def n_cells(self) -> int:
        """How many cells the column spans."""
        return int(self.cells[-1]) + 1

    @property
    def width(self) -> float:
        """The width of the column in cells, less that of a value; above 0, as shares are divided by it."""
        return max(self.n_cells - self.value_width, 1e-9)

    @property
    def min_cells(self) -> CountArray:
        """The fewest cells of an interval that is rounded to each level, shape (n_levels,)."""
        return np.asarray(_MIN_STEPS_PER_INTERVAL * self.steps)

    def round_outwards(self, low: CodeArray, high: CodeArray) -> tuple[CountArray, CountArray]:
        """Round each run of places outwards; return the first cell, and one after the last."""
        level = np.searchsorted(self.min_cells, self.cells[high] - self.cells[low] + 1, side="right") - 1
        level = np.maximum(level, 0)
        return self.starts[level, low], self.ends[level, high]

    def n_before(self, edges: CountArray) -> CountArray:
        """Count the values of the column in cells before each edge."""
        return np.searchsorted(self.cells[self.place], edges)

    def shares(self, low: CodeArray, high: CodeArray) -> FloatArray:
        """Return the share of the column that the round interval over each run of places covers."""
        begin, end = self.round_outwards(low, high)
        return np.asarray((end - begin - self.value_width) / self.width)

    def widths(self, low: CodeArray, high: CodeArray) -> CountArray:
        """Return how wide the round interval over each run of places is, in cells; 0 if it is open.

        Of dates, intervals of whole months are as wide as they have months, below 0.
        """
        begin, end = self.round_outwards(low, high)
        widths = end - begin
        is_open = (widths > 1) & ((begin == 0) | (end == self.n_cells))
        if self.is_calendar:
            days = first_day(self.first + np.stack([begin, end]), self.unit)
            months = unit_of(days.astype("datetime64[D]"), "month")
            widths = np.where((first_day(months, "month") == days).all(axis=0), months[0] - months[1], widths)
        return np.asarray(np.where(is_open, 0, widths))

    def format_interval(self, begin: int, end: int) -> str:
        """Format a round interval: open at the column's ends; a single value or calendar unit as such."""
        if self._are_answers and end - begin < self.n_cells:
            inside = [self._format_edge(cell) for cell in self.cells.tolist() if begin <= cell < end]
            return cells.format_value(inside[0]) if len(inside) == 1 else cells.format_set(inside, between=",")
        if end - begin == 1 and self.value_width == 1:
            return cells.format_value(self._format_edge(begin))
        if begin == 0:
            return cells.SUPPRESSED if end == self.n_cells else cells.format_below(*self._format_ends(end))
        if end == self.n_cells:
            return cells.format_at_least(*self._format_ends(begin))
        return self._format_unit(begin, end) or cells.format_half_open(*self._format_ends(begin, end))

    @property
    def _are_answers(self) -> bool:
        """Whether the values are a few one-digit numbers, as 0 for no and 1 for yes: lists suit them, not ranges."""
        is_whole = self.kind != "time" and not self.is_calendar and self.grid == 1 and self.value_width == 1
        return is_whole and len(self.cells) <= _MAX_ANSWERS and self.first > -10 and self.first + self.n_cells <= 10

    def _format_edge(self, cell: int) -> str:
        if self.is_calendar:
            return unit_label(self.first + cell, self.unit)
        if self.kind == "time":
            return format_clock((self.first + cell) * int(self.grid))
        return format_exact((self.first + cell) * self.grid)

    def _format_ends(self, *at: int) -> list[str]:
        """Format the ends of an interval; dates as years or months if all ends are first days of these."""
        if not self.is_calendar:
            return [self._format_edge(cell) for cell in at]
        return cells.without_first_days([_format_first_day(self.first + cell, self.unit) for cell in at])

    def first_day(self, cell: int) -> np.datetime64:
        """Return the first day of a cell of dates."""
        return np.datetime64(int(first_day(np.array(self.first + cell), self.unit)), "D")

    def _format_unit(self, begin: int, end: int) -> str | None:
        """Return the label of the calendar unit that equals an interval; None if there is none."""
        if not self.is_calendar:
            return None
        for name, about in zip(_units_from(self.unit), self.steps.tolist(), strict=True):
            # Fast exit: the length shows that most intervals are no unit.
            if abs(end - begin - about) > _MAX_DAYS_OFF:
                continue
            days = np.array([self.first_day(begin), self.first_day(end)])
            unit, after = unit_of(days, name)
            if after == unit + 1 and (first_day(np.array([unit, after]), name) == days.astype(np.int64)).all():
                return unit_label(int(unit), name)
        return None


@functools.lru_cache(2**16)
def _format_first_day(number: int, unit: str) -> str:
    """Format the first day of a calendar unit, given by number; intervals share their ends."""
    return str(first_day(np.array(number), unit).astype("datetime64[D]"))


def finest_grid(low: Exact, high: Exact, most_cells: int = _MOST_CELLS) -> Exact:
    """Return the smallest of 1, 2 and 5 times a power of ten with at most `most_cells` cells in a range."""
    min_width = Fraction(high - low) / most_cells
    power = len(str(min_width.numerator)) - len(str(min_width.denominator)) - 1
    candidates = (digit * Fraction(10) ** (power + shift) for shift in range(3) for digit in (1, 2, 5))
    width = next(each for each in candidates if each >= min_width)
    return width.numerator if width.denominator == 1 else width


def _find_resolution(column: Column) -> Exact:
    """Return the power of ten, at most 1, of which all values are multiples; 0 if they have too many decimals."""
    values = column.values
    if column.kind == "integer":
        return 1
    most = np.abs(values[[0, -1]]).max()
    # Above 2^53, floats no longer tell such decimals apart.
    shown = (n for n in range(_MOST_DECIMALS) if most * 10.0**n < 2**53 and (np.round(values, n) == values).all())
    n_decimals = next(shown, None)
    return 0 if n_decimals is None else Fraction(1, 10**n_decimals)


def _decimal_units(occupied: CountArray, first: int, grid: Exact) -> tuple[CountArray, CountArray, CountArray]:
    """Return the units of 5, 10, 50 ... times a power of ten that hold whole cells."""
    steps = [1]
    power = len(str(Fraction(grid).numerator)) - len(str(Fraction(grid).denominator)) - 1
    step = Fraction(10) ** power
    factor = 5
    while step <= (int(occupied[-1]) + 1) * grid:
        n_cells = step / grid
        if n_cells.denominator == 1 and n_cells > steps[-1]:
            steps.append(int(n_cells))
        step *= factor
        factor = 7 - factor
    # In Python's integers: near the end of 64 bits, numpy's would overflow.
    starts = np.array([[(first + cell) // step * step - first for cell in occupied.tolist()] for step in steps])
    return np.array(steps), starts, starts + np.array(steps)[:, None]


def _clock_cells(column: Column) -> tuple[int, CountArray, float]:
    """Return the seconds of a cell of times, every value's cell, and the share of a cell that a value covers."""
    seconds = column.values.astype("datetime64[s]").astype(np.int64)
    width = 60 if (seconds % 60 == 0).all() or seconds[-1] - seconds[0] > _MAX_SECONDS_OF_SPAN else 1
    is_as_fine = bool((column.values == (seconds // width * width).astype("datetime64[s]")).all())
    return width, seconds // width, 1.0 if is_as_fine else 0.0


def _clock_units(occupied: CountArray, first: int, grid: Exact) -> tuple[CountArray, CountArray, CountArray]:
    """Return the units of `_SECONDS_PER_UNIT` that hold whole cells, from single cells on."""
    steps = np.array([1, *(step // int(grid) for step in _SECONDS_PER_UNIT if step > grid)])[:, None]
    starts = (first + occupied) // steps * steps - first
    return steps.ravel(), starts, starts + steps


def _calendar_units(
    occupied: CountArray, first: int, grid: Exact, *, unit: str
) -> tuple[CountArray, CountArray, CountArray]:
    """Return the calendar units from the given one on, the finest first."""
    names = _units_from(unit)
    days = first_day(occupied + first, unit).astype("datetime64[D]")
    starts, ends = (
        np.stack([first_place(unit_of(days, name) + after, name, unit) - first for name in names]) for after in (0, 1)
    )
    return (
        np.array([_DAYS_PER_UNIT[name] if unit == "day" else UNITS[name] // UNITS[unit] for name in names]),
        starts,
        ends,
    )


def _units_from(unit: str) -> list[str]:
    """List the calendar units from one on, from fine to coarse."""
    return list(UNITS)[list(UNITS).index(unit) :]


_MOST_LISTED: Final = 256  # nobody reads labels that list more values
_SHARE_OF_TAIL: Final = 0.01
_FINEST_CELLS: Final = 16
_N_WIDTHS: Final = 4
_SHARE_OF_CODES: Final = 0.95  # so many values have to be codes in a column of codes
_END_CELLS: Final = 50  # the grid for ends of tails has about so many cells between the ends


def propose(column: Column, counts: CountArray | None = None) -> Rule:
    """Propose a rule by the kind of a column.

    ====================================  ======================================================
    column                                rule
    ====================================  ======================================================
    integer, decimal                      intervals: a round width, doubled three times; the
                                          outermost hundredths on either side in open cells
    date, datetime                        month (day), quarter, year, decade; no finer than the dates
    time                                  15 minutes, an hour, six hours
    category, digits of equal length      prefix; a twentieth may be words
    ordered                               runs of 2, 4, 8 ... neighbours
    other category, up to 256 values      groups of similar frequency, in about three steps
    else, and columns of one value        suppression
    ====================================  ======================================================
    """
    if column.n_values < 2:
        return Suppression()
    if column.kind in ("integer", "decimal"):
        return _round_intervals(column, counts)
    if column.kind == "date":
        return Dates(tuple(UNITS)[max(1, list(UNITS).index(column.precision)) :])
    if column.kind == "datetime":
        return Dates(("day", "month", "year", "decade"))
    if column.kind == "time":
        return Times()
    lengths = code_lengths(column) if column.kind == "category" else ()
    if lengths:
        return Prefix(lengths)
    if column.n_values > _MOST_LISTED:
        return Suppression()
    if column.kind == "ordered":
        return Runs(2)
    return Frequency(max(2, int(np.ceil(column.n_values ** (1 / 3))))) if column.n_values > 2 else Suppression()


def propose_tails(
    column: Column, counts: CountArray, n_low: int, n_high: int, least: int = MIN_TAIL_RECORDS
) -> Tails | None:
    """Propose ends for numbers or dates, with so many records beyond each; None if too few lie between.

    Ends are multiples of 1, 2 or 5 times a power of ten, or first days of calendar units, on a grid of about 50 cells
    between the tails. The end is the grid point between the last record that must be in a tail and the next one
    inside. If there is none, it is the first grid point further inside: then the tail has more records.
    """
    reached, positions = np.cumsum(counts), places_of(column)
    # Values before `first` and from `after` on must be in the tails.
    first = int(np.searchsorted(reached, n_low)) + 1 if n_low else 0
    after = int(np.searchsorted(reached, reached[-1] - n_high, side="right")) if n_high else column.n_values
    if first >= after:
        return None
    floor = _build_grid_floor(column, positions[first], positions[after - 1])
    low = high = None
    if n_low:
        low = floor(positions[first], 0)
        low = low if low > positions[first - 1] else floor(positions[first - 1], 1)
    if n_high:
        high = floor(positions[after - 1], 1)
        high = high if high <= positions[after] else floor(positions[after], 0)
    is_between = np.ones(column.n_values, dtype=bool)
    is_between &= True if low is None else (positions >= low).astype(bool)
    is_between &= True if high is None else (positions < high).astype(bool)
    if counts[is_between].sum() < least:
        return None
    low_end, high_end = (None if end is None else _format_end(column, end) for end in (low, high))
    return Tails(low_end, high_end, least)


def _build_grid_floor(column: Column, low: Exact, high: Exact) -> Callable[[Exact, int], Exact]:
    """Return a function that finds the last grid point up to a position, plus some cells."""
    if is_calendar(column):
        unit = next((unit for unit, days in _DAYS_PER_UNIT.items() if days * _END_CELLS >= high - low), "decade")
        return lambda day, more: int(first_day(unit_of(np.array([day], dtype="datetime64[D]"), unit) + more, unit)[0])
    grid = finest_grid(low, high, _END_CELLS)
    grid = max(grid, 1) if column.kind == "integer" else grid
    return lambda place, more: (place // grid + more) * grid


def _format_end(column: Column, place: Exact) -> Number:
    return str(np.datetime64(int(place), "D")) if is_calendar(column) else _to_number(place)


def code_lengths(column: Column) -> tuple[int, ...]:
    """Return the prefix lengths of codes, such as ZIPs: texts of digits, nearly all of one length."""
    texts = column.texts()
    length = length_of_codes(texts)
    n_codes = sum(len(text) == length and text.isascii() and text.isdigit() for text in texts)
    return prefix_lengths(length) if length > 2 and n_codes >= _SHARE_OF_CODES * len(texts) else ()


def length_of_codes(texts: list[str]) -> int:
    """Return the length that nearly all codes do not exceed; words without a digit are ignored if there are others."""
    lengths = sorted(len(text) for text in texts if any(map(str.isdigit, text))) or sorted(map(len, texts))
    return lengths[math.ceil(_SHARE_OF_CODES * (len(lengths) - 1))]


def prefix_lengths_of(column: Column) -> tuple[int, ...]:
    """Return the prefix lengths of codes of digits or letters, all of one length and without spaces."""
    if column.separator is not None:
        # A set of items has no meaningful prefix.
        return ()
    texts = column.texts()
    is_code = len({len(text) for text in texts}) == 1 and all(text.isalnum() for text in texts)
    return prefix_lengths(len(texts[0])) if is_code and len(texts[0]) > 1 else ()


def prefix_lengths(length: int) -> tuple[int, ...]:
    """Return up to four lengths below that of a code, from long to short."""
    steps = range(1, min(length, _N_WIDTHS + 1))
    return tuple(sorted({round(length * step / len(steps)) if length > 5 else step for step in steps} - {length}))[::-1]


def _round_intervals(column: Column, counts: CountArray | None) -> Rule:
    numbers = exact_numbers(column)
    weights = np.ones(len(numbers)) if counts is None or not counts.any() else counts
    reached = np.cumsum(weights)
    first, last = (
        numbers[min(int(np.searchsorted(reached, share * reached[-1])), len(numbers) - 1)]
        for share in (_SHARE_OF_TAIL, 1 - _SHARE_OF_TAIL)
    )
    if first == last:
        # Nearly all records have one value: use the whole range, else nothing is left to generalize.
        first, last = numbers[0], numbers[-1]
    span = Fraction(last - first)
    finest = _round_down(span / _FINEST_CELLS)
    if column.kind == "integer":
        finest = max(finest, Fraction(2))
    widths = [finest * 2**step for step in range(_N_WIDTHS) if finest * 2**step <= span]
    if not widths:
        return Suppression()
    low, high = first // widths[-1] * widths[-1], (last // widths[-1] + 1) * widths[-1]
    return Intervals(tuple(map(_to_number, widths)), _to_number(low), _to_number(high))


def _round_down(number: Fraction) -> Fraction:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above a number."""
    power = len(str(number.numerator)) - len(str(number.denominator))
    candidates = (digit * Fraction(10) ** (power + shift) for shift in (0, -1) for digit in (5, 2, 1))
    return next(candidate for candidate in candidates if candidate <= number)


def _to_number(exact: Exact) -> Number:
    """Return a number in YAML's best form: an integer, else an exact float, else a text."""
    text = format_exact(exact)
    if "." not in text:
        return int(text)
    return float(text) if Fraction(repr(float(text))) == exact else text


_MIN_CELLS_OF_ROUND_WIDTHS: Final = 8  # with fewer cells widths double: five times the width is too wide for most


def propose_units(column: Column) -> Rule | None:
    """Propose the rule of a column's nested units; None for categories that are no codes.

    =========================  =========================================================================
    column                     units
    =========================  =========================================================================
    integer, decimal           the value; 5, 10, 50, 100 ... times a power of ten, from a 100th of the
                               range to an eighth; then doubled: 5, 10, 20, 40 years
    date, datetime             day, month, quarter, half-year, year, 5 years, decade, 20, 40 years
    time                       the time; 15 minutes, an hour, six hours
    codes                      the code; its first characters
    =========================  =========================================================================
    """
    if column.is_measured and column.n_values < 2:
        return Suppression()
    if column.kind in ("integer", "decimal"):
        return _propose_widths(column)
    if column.kind in ("date", "datetime"):
        units = [unit for unit in DATE_LEVELS if DATE_LEVELS[unit] >= DATE_LEVELS[column.precision]]
        # A date is a value of its column already; a moment is shorter than a day.
        return Dates(tuple(units[column.kind == "date" :]))
    if column.kind == "time":
        return Times()
    if column.kind != "category" or column.separator is not None:
        return None
    from hushtable.hierarchy.codes import are_codes, list_prefix_lengths

    texts = column.texts()
    if not are_codes(texts):
        return None
    # All lengths: which of them tell values apart is known from the data alone.
    lengths = list_prefix_lengths(texts)
    return Prefix(lengths) if lengths else None


def _propose_widths(column: Column) -> Rule:
    low, high = (exact_value(column.values[end]) for end in (0, -1))
    span, resolution = high - low, int(column.kind == "integer")
    rounds = list_round_widths(span, resolution)
    widths = [width for width in rounds if width * _MIN_CELLS_OF_ROUND_WIDTHS <= span] or rounds[:1] or [2]
    while 2 * widths[-1] <= span:
        widths.append(2 * widths[-1])
    return Intervals(tuple(map(_to_number, widths))) if widths[-1] <= span else Suppression()
