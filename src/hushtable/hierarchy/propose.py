"""Propose a rule for any column, as `Hierarchy.auto` uses it, and round ends for one with values far out."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

import numpy as np

from hushtable._types import CountArray
from hushtable.columns import Column
from hushtable.hierarchy.dates import first_day, unit_of
from hushtable.hierarchy.grid import Exact, Intervals, Number, exact_numbers, plain
from hushtable.hierarchy.ladder import Rule
from hushtable.hierarchy.rounding import finest_grid
from hushtable.hierarchy.rules import Dates, Frequency, Prefix, Runs, Suppression
from hushtable.hierarchy.tails import LEAST, Tails, is_calendar, places_of

__all__ = ["code_lengths", "prefix_lengths", "prefix_lengths_of", "propose", "propose_tails"]

_MOST_LISTED: Final = 256  # beyond it, a label that lists its values is no longer read by anyone
_TAIL: Final = 0.01
_FINEST_CELLS: Final = 16
_N_WIDTHS: Final = 4
_END_CELLS: Final = 50  # of the grid that ends of tails lie on, about so many lie between the ends
_UNIT_DAYS: Final = {"day": 1, "month": 30, "quarter": 91, "year": 365}  # about as many as a calendar unit has


def propose(column: Column, counts: CountArray | None = None) -> Rule:
    """Propose a rule by the kind of a column.

    ====================================  ======================================================
    column                                rule
    ====================================  ======================================================
    integer, decimal                      intervals: a round width, doubled three times; the
                                          outermost hundredths on either side in open cells
    date, datetime                        month (day), quarter, year, decade
    category, digits of equal length      prefix
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
        return Dates(("month", "quarter", "year", "decade"))
    if column.kind == "datetime":
        return Dates(("day", "month", "year", "decade"))
    lengths = code_lengths(column) if column.kind == "category" else ()
    if lengths:
        return Prefix(lengths)
    if column.n_values > _MOST_LISTED:
        return Suppression()
    if column.kind == "ordered":
        return Runs(2)
    return Frequency(max(2, int(np.ceil(column.n_values ** (1 / 3))))) if column.n_values > 2 else Suppression()


def propose_tails(column: Column, counts: CountArray, n_low: int, n_high: int, least: int = LEAST) -> Tails | None:
    """Propose ends for a column of numbers or dates, such that so many records lie beyond each.

    Parameters
    ----------
    column : Column
    counts : ndarray of int64, shape (n_values,)
        Records of each value.
    n_low, n_high : int
        Records in each tail; 0 for a side without one.
    least : int
        What the rule asks for, and how many records lie between the ends.

    Returns
    -------
    Tails or None
        Nothing where too few lie between the ends.

    Notes
    -----
    Ends are multiples of 1, 2 or 5 times a power of ten, or first days of calendar units, on a grid of about 50 cells
    over what lies between the tails. Where one lies between the outermost record that must be in a tail and
    the next one inside, it is the end; else the first one further inside: then more records are in the tail.

    Examples
    --------
    >>> from hushtable.columns import from_texts
    >>> income, codes = from_texts("income", ["1000000", *map(str, range(299))])
    >>> propose_tails(income, np.ones(300, dtype=np.int64), 0, 5)
    Tails(low=None, high=290, least=5)
    """
    reached, places = np.cumsum(counts), places_of(column)
    # Of the outermost values, those that must be in a tail; between them the values from `first` to before `after`.
    first = int(np.searchsorted(reached, n_low)) + 1 if n_low else 0
    after = int(np.searchsorted(reached, reached[-1] - n_high, side="right")) if n_high else column.n_values
    if first >= after:
        return None
    floor = _floor(column, places[first], places[after - 1])
    low = high = None
    if n_low:
        low = floor(places[first], 0)
        low = low if low > places[first - 1] else floor(places[first - 1], 1)
    if n_high:
        high = floor(places[after - 1], 1)
        high = high if high <= places[after] else floor(places[after], 0)
    is_between = np.ones(column.n_values, dtype=bool)
    is_between &= True if low is None else (places >= low).astype(bool)
    is_between &= True if high is None else (places < high).astype(bool)
    if counts[is_between].sum() < least:
        return None
    low_end, high_end = (None if end is None else _end(column, end) for end in (low, high))
    return Tails(low_end, high_end, least)


def _floor(column: Column, low: Exact, high: Exact) -> Callable[[Exact, int], Exact]:
    """Return what finds the last point of a grid up to a place, or one some cells further."""
    if is_calendar(column):
        unit = next((unit for unit, days in _UNIT_DAYS.items() if days * _END_CELLS >= high - low), "decade")
        return lambda day, more: int(first_day(unit_of(np.array([day], dtype="datetime64[D]"), unit) + more, unit)[0])
    grid = finest_grid(low, high, _END_CELLS)
    grid = max(grid, 1) if column.kind == "integer" else grid
    return lambda place, more: (place // grid + more) * grid


def _end(column: Column, place: Exact) -> Number:
    return str(np.datetime64(int(place), "D")) if is_calendar(column) else _number(place)


def code_lengths(column: Column) -> tuple[int, ...]:
    """Return the prefix lengths of codes, such as ZIPs: texts of digits, all of one length."""
    texts = column.texts()
    is_number = len(texts[0]) > 2 and all(text.isascii() and text.isdigit() for text in texts)
    return prefix_lengths_of(column) if is_number else ()


def prefix_lengths_of(column: Column) -> tuple[int, ...]:
    """Return the prefix lengths of codes of digits or letters, all of one length and without spaces."""
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
        for share in (_TAIL, 1 - _TAIL)
    )
    if first == last:
        # Nearly everyone has one value: only the tails are left to generalize.
        first, last = numbers[0], numbers[-1]
    span = Fraction(last - first)
    finest = _round_down(span / _FINEST_CELLS)
    if column.kind == "integer":
        finest = max(finest, Fraction(2))
    widths = [finest * 2**step for step in range(_N_WIDTHS) if finest * 2**step <= span]
    if not widths:
        return Suppression()
    low, high = first // widths[-1] * widths[-1], (last // widths[-1] + 1) * widths[-1]
    return Intervals(tuple(map(_number, widths)), _number(low), _number(high))


def _round_down(number: Fraction) -> Fraction:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above a number."""
    power = len(str(number.numerator)) - len(str(number.denominator))
    candidates = (digit * Fraction(10) ** (power + shift) for shift in (0, -1) for digit in (5, 2, 1))
    return next(candidate for candidate in candidates if candidate <= number)


def _number(exact: Exact) -> Number:
    """Return a number as YAML writes it best: an integer, else a float where that is exact, else its text."""
    text = plain(exact)
    if "." not in text:
        return int(text)
    return float(text) if Fraction(repr(float(text))) == exact else text
