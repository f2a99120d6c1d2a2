"""Rules for numbers, dates and times: intervals on a fixed grid, in exact arithmetic, and calendar units."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, Final

import numpy as np

from hushtable._types import CountArray, ValueArray
from hushtable.columns import Column, cells, value_text
from hushtable.errors import HierarchyError, quote_names
from hushtable.hierarchy.ladder import Ladder, Level, as_tuple, empty_level, unfit_kind_error

Number = int | float | str | Decimal
Exact = int | Fraction  # a number without rounding: integers and decimals of any size

_LARGEST_EXPONENT: Final = 400  # more than any float has; larger ones only cost memory
_LARGEST_INDEX: Final = 2**40  # so many cells from 0 on, floats tell a number in the middle of one from its edges


@dataclass(frozen=True, slots=True)
class Intervals:
    """A fixed grid, ``[20, 25)``, the same whatever the data are.

    Parameters
    ----------
    width : number or sequence of numbers
        Of the cells, level by level; each a multiple of the one before. Decimals
        are taken as they are written: 0.1 is a tenth.
    low, high : number, optional
        Values below ``low`` share one open cell, and so do values from ``high`` on. The
        grid starts at ``low``, at 0 without it. A cell across ``high`` ends there.

    Notes
    -----
    Shares are widths over the width of the domain, from ``low`` to ``high`` and as
    far beyond as values reach; a leaf is one integer, or no width in a decimal column.
    """

    width: tuple[Number, ...]
    low: Number | None = None
    high: Number | None = None
    name: ClassVar[str] = "intervals"

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", as_tuple(self.width))
        widths = [_parse_exact(width, "width") for width in self.width]
        if not widths or widths[0] <= 0:
            raise HierarchyError(f"intervals: width = {list(self.width)}.", hint="give at least one width, above 0.")
        for small, large in itertools.pairwise(widths):
            if large <= small or large % small:
                raise HierarchyError(
                    f"intervals: width {large} is no multiple of {small}, so the cells would not nest.",
                    hint="make each width a multiple of the one before, for instance 5, 10, 20.",
                )
        ends = [_parse_exact(end, name) for name, end in (("low", self.low), ("high", self.high)) if end is not None]
        if len(ends) == 2 and ends[0] >= ends[1]:
            raise HierarchyError(f"intervals: low = {self.low} is not below high = {self.high}.", hint="swap them.")

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the grid's cells for the values of a number column."""
        if column.kind not in ("integer", "decimal"):
            raise unfit_kind_error(self.name, column, "numbers", "`dates` makes levels of dates, `prefix` of codes")
        if not column.n_values:
            return Ladder([empty_level() for _ in self.width])
        widths = [_parse_exact(width, "width") for width in self.width]
        low = None if self.low is None else _parse_exact(self.low, "low")
        high = None if self.high is None else _parse_exact(self.high, "high")
        grid = _NumberGrid(column, widths[0], low, high)
        return Ladder([grid.build_level(width) for width in widths], grid.leaf_share)

    def titles(self, n_levels: int) -> list[str]:
        """Return ``width 5`` and so on."""
        return [f"width {width}" for width in self.width]


class _NumberGrid:
    """The cells of numbers on a grid, in exact arithmetic."""

    def __init__(self, column: Column, finest: Exact, low: Exact | None, high: Exact | None) -> None:
        nowhere = np.zeros(column.n_values, dtype=bool)
        self.low, self.high, self.finest = low, high, finest
        self.anchor: Exact = 0 if low is None else low
        if low is None and high is None and abs(column.values[[0, -1]]).max() < float(finest) * _LARGEST_INDEX:
            # Exact numbers take seconds for a hundred thousand values; here only those near an edge need be exact.
            self.below, self.above, self.index = nowhere, nowhere, number_cells(column, finest)
            first, last = (exact_value(column.values[end]) for end in (0, -1))
        else:
            numbers = exact_numbers(column)
            self.below = nowhere if low is None else (numbers < low).astype(bool)
            self.above = nowhere if high is None else (numbers >= high).astype(bool)
            self.index = (numbers - self.anchor) // finest
            first, last = numbers.min(), numbers.max()
        are_integers = column.kind == "integer"
        # The domain ends with a whole cell, even if the last value is at the cell's beginning.
        self.begin: Exact = first if self.below.any() else self._edge_of_cell(self.index.min()) if low is None else low
        if self.above.any():
            self.end: Exact = last + finest
        else:
            self.end = self._edge_of_cell(self.index.max() + 1) if high is None else high
        self.leaf_share = float(Fraction(1) / (self.end - self.begin)) if are_integers else 0.0
        # On a grid finer than the integers, the domain may be narrower than one of them.
        self.leaf_share = min(1.0, self.leaf_share)

    def _edge_of_cell(self, index: Any) -> Exact:
        edge: Exact = self.anchor + int(index) * self.finest
        return edge

    def build_level(self, width: Exact) -> Level:
        """Return the cells of one width."""
        inside = ~(self.below | self.above)
        distinct, inverse = np.unique(self.index[inside] // (width // self.finest), return_inverse=True)
        edges: list[tuple[Exact | None, Exact | None]] = [(None, self.low)] if self.below.any() else []
        codes = np.zeros(len(self.index), dtype=np.int32)
        codes[inside] = inverse + len(edges)
        for cell in distinct.tolist():
            end = self.anchor + (cell + 1) * width
            edges.append((self.anchor + cell * width, end if self.high is None else min(end, self.high)))
        if self.above.any():
            codes[self.above] = len(edges)
            edges.append((self.high, None))
        return Level(
            codes,
            tuple(_format_cell(*edge) for edge in edges),
            np.array([self._share_of_cell(*edge) for edge in edges]),
        )

    def _share_of_cell(self, begin: Exact | None, end: Exact | None) -> float:
        begin = self.begin if begin is None else max(begin, self.begin)
        end = self.end if end is None else min(end, self.end)
        return max(self.leaf_share, float(Fraction(end - begin) / Fraction(self.end - self.begin)))


def _format_cell(begin: Exact | None, end: Exact | None) -> str:
    if begin is None:
        return cells.format_below(format_exact(end or 0))
    return (
        cells.format_at_least(format_exact(begin))
        if end is None
        else cells.format_half_open(format_exact(begin), format_exact(end))
    )


def exact_numbers(column: Column) -> ValueArray:
    """Return the values of a number column as integers or fractions, in an array of objects."""
    numbers = np.empty(column.n_values, dtype=object)
    if column.kind == "integer":
        numbers[:] = column.values.tolist()
    else:
        # By the shortest text of a float, the number that was meant: 0.1, not 0.1000000000000000055.
        numbers[:] = [Fraction(text) for text in column.texts()]
    return numbers


def exact_value(value: Any) -> Exact:
    """Return a value of a number column without rounding."""
    return int(value) if isinstance(value, np.integer) else to_exact(value_text("decimal", value))


def number_cells(column: Column, width: Exact) -> CountArray:
    """Return the cell of every value; computed exactly near edges, where floats could choose the wrong side."""
    if column.kind == "integer" and isinstance(width, int) and width < 2**62:
        return np.asarray(column.values.astype(np.int64) // width)
    about = column.values / float(width)
    cells_ = np.floor(about).astype(np.int64)
    is_near = np.abs(about - np.round(about)) <= np.maximum(1.0, np.abs(about)) * 1e-9
    for code in np.flatnonzero(is_near).tolist():
        cells_[code] = exact_value(column.values[code]) // width
    return cells_


def format_exact(number: Exact) -> str:
    """Format an exact number without exponent and trailing zeros."""
    exact = Fraction(number)
    if exact.denominator == 1:
        return str(exact.numerator)
    with localcontext() as context:
        context.prec = 3 * _LARGEST_EXPONENT
        return f"{Decimal(exact.numerator) / Decimal(exact.denominator):f}".rstrip("0")


def to_exact(number: Any) -> Exact:
    """Parse a number without rounding; raise ValueError or ArithmeticError if it is none."""
    decimal = Decimal(str(number))
    if isinstance(number, bool) or not decimal.is_finite() or abs(decimal.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError("no number")
    fraction = Fraction(decimal)
    return fraction.numerator if fraction.denominator == 1 else fraction


def _parse_exact(number: Any, what: str) -> Exact:
    try:
        return to_exact(number)
    except (ValueError, ArithmeticError):
        raise HierarchyError(f"intervals: {what} = {number!r}.", hint="give a number.") from None


DATE_LEVELS: Final = MappingProxyType(
    {
        "day": 0,
        "month": 1,
        "quarter": 3,
        "half-year": 6,
        "year": 12,
        "5 years": 60,
        "decade": 120,
        "20 years": 240,
        "40 years": 480,
    }
)
"""All calendar units that a ladder may have, from fine to coarse, with their months; each divides all longer ones."""

UNITS: Final = MappingProxyType({unit: DATE_LEVELS[unit] for unit in ("day", "month", "quarter", "year", "decade")})
"""Those that have a name in cells."""


@dataclass(frozen=True, slots=True)
class Dates:
    """Calendar units: ``2024-05``, ``2024-Q2``, ``2024``, ``[2020, 2025)``, ``2020s``.

    Parameters
    ----------
    levels : sequence of {"day", "month", "quarter", "half-year", "year", "5 years", "decade", "20 years", "40 years"}
        From fine to coarse.

    Notes
    -----
    Shares are days over the days from the first value to the last; a leaf is a day in a date column and no time in a
    datetime column. Of dates that are months, quarters or years, those are counted, and are the finest level.
    """

    levels: tuple[str, ...] = ("month", "quarter", "year", "decade")
    name: ClassVar[str] = "dates"

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", as_tuple(self.levels))
        places = [list(DATE_LEVELS).index(unit) if unit in DATE_LEVELS else -1 for unit in self.levels]
        if not places or -1 in places or places != sorted(set(places)):
            raise HierarchyError(
                f"dates: levels = {list(self.levels)}.",
                hint=f"choose among {quote_names(DATE_LEVELS)}, in this order.",
            )

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the calendar units of a date or datetime column."""
        if column.kind not in ("date", "datetime"):
            raise unfit_kind_error(self.name, column, "dates", "declare its kind as date if its texts are ISO dates")
        if not column.n_values:
            return Ladder([empty_level() for _ in self.levels])
        finest = column.precision
        days = column.values.astype("datetime64[D]")
        places = unit_of(days, finest)
        begin, end = places[0], places[-1] + 1
        leaf_share = float(1 / (end - begin)) if column.kind == "date" else 0.0
        levels = []
        for level in self.levels:
            unit = max(level, finest, key=DATE_LEVELS.__getitem__)
            units, codes = np.unique(unit_of(days, unit), return_inverse=True)
            starts, ends = (first_place(each, unit, finest).clip(begin, end) for each in (units, units + 1))
            labels = tuple(unit_label(number, unit) for number in units.tolist())
            levels.append(Level(codes.astype(np.int32), labels, (ends - starts) / (end - begin)))
        return Ladder(levels, leaf_share)

    def titles(self, n_levels: int) -> list[str]:
        """Return the units."""
        return list(self.levels)


@dataclass(frozen=True, slots=True)
class Times:
    """Intervals of times of a day: ``[08:15, 08:30)``, ``[08:00, 09:00)``, ``[06:00, 12:00)``.

    Parameters
    ----------
    minutes : int or sequence of int
        Of the intervals, level by level. Each is a multiple of the one before, and goes into a day.

    Notes
    -----
    Shares are minutes over those of a day; a leaf is no time, or a minute where all values are whole ones.
    """

    minutes: tuple[int, ...] = (15, 60, 360)
    name: ClassVar[str] = "times"

    def __post_init__(self) -> None:
        object.__setattr__(self, "minutes", as_tuple(self.minutes))
        chain = (*self.minutes, _MINUTES_PER_DAY)
        are_whole = all(type(each) is int and each > 0 for each in chain) and len(chain) > 1
        if not are_whole or any(large % small or large == small for small, large in itertools.pairwise(chain)):
            hint = "give whole minutes, each a multiple of the one before, that go into a day: [15, 60, 360]."
            raise HierarchyError(f"times: minutes = {list(self.minutes)}.", hint=hint)

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the intervals of a column of times."""
        if column.kind != "time":
            raise unfit_kind_error(
                self.name, column, "times of a day", "declare its kind as time if its texts are like 08:15"
            )
        if not column.n_values:
            return Ladder([empty_level() for _ in self.minutes])
        minute = column.values.astype("datetime64[m]").astype(np.int64)
        are_whole = bool((column.values == column.values.astype("datetime64[m]")).all())
        levels = []
        for width in self.minutes:
            found, codes = np.unique(minute // width, return_inverse=True)
            labels = tuple(_times_label(cell * width, width) for cell in found.tolist())
            levels.append(Level(codes.astype(np.int32), labels, np.full(len(found), width / _MINUTES_PER_DAY)))
        return Ladder(levels, 1 / _MINUTES_PER_DAY if are_whole else 0.0)

    def titles(self, n_levels: int) -> list[str]:
        """Return ``15 minutes`` and so on."""
        return [f"{width} minutes" for width in self.minutes]


_MINUTES_PER_DAY: Final = 24 * 60


def _times_label(begin: int, width: int) -> str:
    low, end = format_clock(60 * begin), begin + width
    # No time is 24:00, so the last interval is open.
    return (
        cells.format_at_least(low) if end == _MINUTES_PER_DAY else cells.format_half_open(low, format_clock(60 * end))
    )


def format_clock(second: int) -> str:
    """Format a second of the day, ``08:00`` or ``08:00:05``."""
    return value_text("time", np.datetime64(second, "s"))


def unit_of(days: ValueArray, unit: str) -> CountArray:
    """Return the number of each day's calendar unit, counted from year 0; days are counted from 1970."""
    if unit == "day":
        return days.astype(np.int64)
    months = days.astype("datetime64[M]").astype(np.int64) + 1970 * 12
    return np.asarray(months // DATE_LEVELS[unit])


def first_day(units: CountArray, unit: str) -> CountArray:
    """Return the first day (counted from 1970) of calendar units, given by number."""
    if unit == "day":
        return units
    months = (units * DATE_LEVELS[unit] - 1970 * 12).astype("datetime64[M]")
    return np.asarray(months.astype("datetime64[D]").astype(np.int64))


def first_place(units: CountArray, unit: str, finest: str) -> CountArray:
    """Return the number of the first `finest` unit in calendar units, given by number."""
    return first_day(units, unit) if finest == "day" else units * (DATE_LEVELS[unit] // DATE_LEVELS[finest])


def unit_label(number: int, unit: str) -> str:
    """Format a calendar unit, given by number."""
    if unit == "day":
        return str(np.datetime64(number, "D"))
    if unit == "month":
        return f"{number // 12:04d}-{number % 12 + 1:02d}"
    if unit == "quarter":
        return f"{number // 4:04d}-Q{number % 4 + 1}"
    if unit in ("year", "decade"):
        return f"{number:04d}" if unit == "year" else f"{number * 10:04d}s"
    days = first_day(np.array([number, number + 1]), unit).astype("datetime64[D]")
    return cells.format_half_open(*cells.without_first_days(days.astype(str).tolist()))
