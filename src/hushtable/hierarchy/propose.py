"""Propose a rule for any column: what `Hierarchy.auto` uses."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np

from hushtable._types import CountArray
from hushtable.column import Column
from hushtable.hierarchy.grid import Exact, Intervals, Number, exact_numbers, plain
from hushtable.hierarchy.ladder import Rule
from hushtable.hierarchy.rules import Dates, Frequency, Prefix, Runs, Suppression

__all__ = ["code_lengths", "prefix_lengths", "prefix_lengths_of", "propose"]

_MOST_LISTED: Final = 256  # beyond it, a label that lists its values is no longer read by anyone
_TAIL: Final = 0.01
_FINEST_CELLS: Final = 16
_N_WIDTHS: Final = 4


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
