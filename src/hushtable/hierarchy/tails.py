"""Top and bottom coding: one group for all that lies beyond an end, and round steps between the ends."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np

from hushtable._types import CountArray, ValueArray
from hushtable.columns import Column, cells
from hushtable.errors import HierarchyError, with_hint
from hushtable.hierarchy.grid import (
    UNITS,
    Exact,
    Number,
    exact_numbers,
    first_day,
    plain,
    to_exact,
    unit_label,
    unit_of,
)
from hushtable.hierarchy.ladder import Ladder, Level, empty, unfit

__all__ = ["LEAST", "Tails", "is_calendar", "places_of"]

LEAST: Final = 5
"""Records that a tail holds at least where nobody says how many."""

_FINEST: Final = 100  # of the finest intervals, about so many lie between the ends
_DECADE: Final = 3_652  # days


@dataclass(frozen=True, slots=True)
class Tails:
    """Top and bottom coding, ``<low`` and ``>=high``; between them values, then round intervals of growing width.

    Parameters
    ----------
    low, high : number or ISO date, optional
        Values below ``low`` share one cell, and so do values from ``high`` on; at least one is given.
    least : int
        Records that each tail holds, if any: at least the k of the models. Fewer are an error, for ends
        that few lie beyond tell of those few. A rule knows no models, so that this is said here.

    Notes
    -----
    Level 1 codes the tails and keeps all other values. Above it, numbers are in intervals of 5, 10, 50 ... times
    a power of ten, from a 100th to a half of the distance between the ends, dates in months, quarters, years and
    decades (datetimes in days before); a cell across an end stops there. The last level before ``*`` has one cell
    between the ends.

    Shares are widths over the width of the domain, which is that between the ends (without an end as far as values
    reach), and for each end that is given one more of the widest intervals. How far out the values of a tail lie plays
    no part, in contrast to `Intervals`: one of them cannot make the loss of all others small.

    Examples
    --------
    >>> from hushtable.columns import from_texts
    >>> income, _ = from_texts("income", ["900", "1510", "1520", "2750", "84000"])
    >>> for level in Tails(high=3000).ladder(income).levels:
    ...     print(level.labels)
    ('900', '1510', '1520', '2750', '>=3000')
    ('[900, 950)', '[1500, 1550)', '[2750, 2800)', '>=3000')
    ('[900, 1000)', '[1500, 1600)', '[2700, 2800)', '>=3000')
    ('[500, 1000)', '[1500, 2000)', '[2500, 3000)', '>=3000')
    ('[0, 1000)', '[1000, 2000)', '[2000, 3000)', '>=3000')
    ('<3000', '>=3000')
    """

    low: Number | dt.date | None = None
    high: Number | dt.date | None = None
    least: int = LEAST
    name: ClassVar[str] = "tails"

    def __post_init__(self) -> None:
        for end in ("low", "high"):
            if isinstance(getattr(self, end), dt.date):
                # As a policy without quotes has it; a manifest has texts only.
                object.__setattr__(self, end, getattr(self, end).isoformat())
        ends = [_end(end, given) for end, given in (("low", self.low), ("high", self.high)) if given is not None]
        if not ends:
            msg = with_hint("tails: neither low nor high is given.", "give the end that values lie beyond, or both.")
            raise HierarchyError(msg)
        if len({is_date for _, is_date in ends}) > 1:
            msg = f"tails: of low = {self.low!r} and high = {self.high!r} one is a number and one a date."
            raise HierarchyError(with_hint(msg, "give two numbers, or two dates as '2024-05-31'."))
        if len(ends) == 2 and ends[0] >= ends[1]:
            msg = with_hint(f"tails: low = {self.low} is not below high = {self.high}.", "swap them.")
            raise HierarchyError(msg)
        if not isinstance(self.least, int) or isinstance(self.least, bool) or self.least < 1:
            msg = with_hint(f"tails: least = {self.least!r}.", "give a whole number from 1, at least the models' k.")
            raise HierarchyError(msg)

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the tails, and values and intervals between them.

        Raises
        ------
        HierarchyError
            A tail holds fewer records than it must, or the column is of a kind that has no such ends.
        """
        low, high = self._ends(column)
        if not column.n_values:
            return Ladder([empty(), empty()])
        places = places_of(column)
        first = 0 if low is None else bisect_left(places, low)
        after = column.n_values if high is None else bisect_left(places, high)
        if counts is not None:
            self._check(column.name, "low", int(counts[:first].sum()))
            self._check(column.name, "high", int(counts[after:].sum()))
        centre = _Centre(column, places, (low, high), (first, after))
        lowest = np.ones(column.n_values, dtype=np.int32)
        lowest[first:after] = 0
        return Ladder([centre.values(), *centre.steps(), centre.whole()], centre.leaf_share, lowest)

    def titles(self, n_levels: int) -> list[str]:
        """Return ``ends coded``, ``steps`` and ``ends``."""
        return ["ends coded", *["steps"] * (n_levels - 2), "ends"]

    def _ends(self, column: Column) -> tuple[Exact | None, Exact | None]:
        """Return both ends as numbers, or as days from 1970 on."""
        if not column.is_measured or column.kind == "time":
            hint = "`runs` makes levels of ordered categories, `frequency` of others"
            raise unfit(self.name, column, "numbers and dates", hint)
        found: list[Exact | None] = []
        for name, given in (("low", self.low), ("high", self.high)):
            end, is_date = (None, is_calendar(column)) if given is None else _end(name, given)
            if is_date != is_calendar(column):
                what, wanted = ("a date", "a number") if is_date else ("a number", "a date as '2024-05-31'")
                msg = f"tails: {name} = {given!r} is {what}, but column {column.name!r} is of the kind {column.kind}."
                raise HierarchyError(with_hint(msg, f"give {wanted}, or declare the kind of the column."))
            found.append(end)
        return found[0], found[1]

    def _check(self, name: str, end: str, n_records: int) -> None:
        if 0 < n_records < self.least:
            where = f"below low = {self.low}" if end == "low" else f"at high = {self.high} or above"
            msg = f"tails: fewer than least = {self.least} records of column {name!r} lie {where}."
            way = "higher" if end == "low" else "lower"
            raise HierarchyError(with_hint(msg, f"give a {way} {end}, beyond which more of them lie."))


class _Centre:
    """What lies between the ends, and the tails beside it. Values are in order: every node is a run of them."""

    def __init__(
        self, column: Column, places: ValueArray, ends: tuple[Exact | None, Exact | None], run: tuple[int, int]
    ) -> None:
        self.column, self.places, self.ends = column, places[slice(*run)], ends
        self.n_below, self.n_above = run[0], column.n_values - run[1]
        resolution = int(column.kind in ("integer", "date"))
        self.span = _span(places, ends, resolution)
        self.widths = [] if is_calendar(column) else _widths(self.span, resolution)
        widest = _DECADE if is_calendar(column) else self.widths[-1] if self.widths else self.span
        self.tail = min(self.span, widest)
        self.domain = self.span + self.tail * sum(end is not None for end in ends)
        self.leaf_share = self._share(resolution)

    def values(self) -> Level:
        """Return the level of the values."""
        n_values = len(self.places)
        labels = [cells.value(self.column.text(self.n_below + i)) for i in range(n_values)]
        return self._beside_tails(np.arange(n_values), labels, [self.leaf_share] * n_values)

    def steps(self) -> list[Level]:
        """Return the levels of round intervals or calendar units."""
        if is_calendar(self.column):
            days = self.places.astype("datetime64[D]")
            # A day is a value already in a column of dates.
            units = [unit for unit in UNITS if unit != "day" or self.column.kind == "datetime"]
            return [
                self._cells(unit_of(days, unit), partial(first_day, unit=unit), partial(unit_label, unit=unit))
                for unit in units
            ]
        return [self._cells(self.places // width, partial(np.multiply, width)) for width in self.widths]

    def whole(self) -> Level:
        """Return the level of one cell between the ends."""
        n_cells = min(1, len(self.places))
        codes = np.zeros(len(self.places), dtype=np.int64)
        return self._beside_tails(codes, [self._text(*self.ends)] * n_cells, [self._share(self.span)] * n_cells)

    def _cells(
        self, keys: ValueArray, begin_of: Callable[[Any], Any], name_of: Callable[[int], str] | None = None
    ) -> Level:
        """Return the level of cells by number, from where each begins; a cell across an end stops there."""
        low, high = self.ends
        distinct, codes = np.unique(keys, return_inverse=True)
        labels, shares = [], []
        for key, begin, end in zip(distinct.tolist(), begin_of(distinct), begin_of(distinct + 1), strict=True):
            is_cut = (low is not None and begin < low) or (high is not None and end > high)
            begin, end = begin if low is None else max(begin, low), end if high is None else min(end, high)
            labels.append(self._text(begin, end) if name_of is None or is_cut else name_of(key))
            # What an end leaves of a cell may be narrower than the one integer in it.
            shares.append(max(self.leaf_share, self._share(end - begin)))
        return self._beside_tails(codes, labels, shares)

    def _beside_tails(self, codes: ValueArray, labels: list[str], shares: list[float]) -> Level:
        low, high = self.ends
        below = [self._text(None, low)] if self.n_below else []
        above = [self._text(high, None)] if self.n_above else []
        first, last = np.zeros(self.n_below), np.full(self.n_above, len(below) + len(labels))
        tail = [self._share(self.tail)]
        return Level(
            np.concatenate([first, codes + len(below), last]).astype(np.int32),
            (*below, *labels, *above),
            np.array([*tail * len(below), *shares, *tail * len(above)]),
        )

    def _share(self, width: Exact) -> float:
        return float(Fraction(min(width, self.span)) / self.domain)

    def _text(self, begin: Exact | None, end: Exact | None) -> str:
        """Write a cell; without a beginning or an end it is open there."""
        if begin is not None and end is not None:
            return cells.between(self._end(begin), self._end(end))
        return cells.at_least(self._end(begin)) if begin is not None else cells.below(self._end(end))

    def _end(self, place: Exact | None) -> str:
        assert place is not None
        return str(np.datetime64(int(place), "D")) if is_calendar(self.column) else plain(place)


def is_calendar(column: Column) -> bool:
    """Tell whether a column holds dates."""
    return column.kind in ("date", "datetime")


def places_of(column: Column) -> ValueArray:
    """Return where the values of a measured column lie: numbers exactly, dates in whole days from 1970 on."""
    return column.values.astype("datetime64[D]").astype(np.int64) if is_calendar(column) else exact_numbers(column)


def _end(name: str, given: Any) -> tuple[Exact, bool]:
    """Return a number, or a date in days from 1970 on, and whether it is a date."""
    try:
        return to_exact(given), False
    except (ValueError, ArithmeticError):
        pass
    try:
        day = dt.date.fromisoformat(given)
    except (ValueError, TypeError):
        msg = with_hint(f"tails: {name} = {given!r}.", "give a number, or a date as '2024-05-31'.")
        raise HierarchyError(msg) from None
    return int(np.datetime64(day, "D").astype(np.int64)), True


def _span(places: ValueArray, ends: tuple[Exact | None, Exact | None], resolution: int) -> Exact:
    """Return how far it is from end to end; without an end, as far as values reach on that side."""
    low, high = ends
    begin = places[0] if low is None else low
    end = places[-1] + resolution if high is None else high
    # Nothing may lie between an end and where values reach.
    return end - begin if end > begin else 1


def _widths(span: Exact, resolution: int) -> list[Exact]:
    """Return the round widths from a 100th to a half of a span: 1, 5, 10, 50 ... times a power of ten."""
    share = Fraction(span)
    power = len(str(share.numerator)) - len(str(share.denominator)) - 3
    rounds = [digit * Fraction(10) ** (power + shift) for shift in range(4) for digit in (1, 5)]
    return [width for width in rounds if width > resolution and share / _FINEST <= width <= share / 2]
