"""Bands: the closed alphabets in which an assistant is told of figures, and what can be computed from them.

A band is one of a few fixed intervals. What a reader can compute of the persons that no band shows is an interval, too;
`is_safe` tells whether that one names a few persons.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor
from typing import Final, NamedTuple

SHARE_EDGES: Final = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Ends of the bands of the share of persons that have a value."""

MISSING_EDGES: Final = (0.0, 0.05, 0.2, 0.5, 1.0)
"""Ends of the bands of missing cells; the lowest includes none, so that it tells of nobody."""

DISTINCT_EDGES: Final = (0, 10, 100, 500)
"""Largest numbers of values of a band: up to 10, 11 to 100, 101 to 500, more."""

LOSS_BANDS: Final = tuple(f"{low} to {low + 5} %" for low in range(0, 100, 5))
"""Bands of the loss of a release."""

HIDDEN_BANDS: Final = ("none", "to 1 %", "to 5 %", "more")
"""Bands of the records that are suppressed. ``none`` says that none may be, and not that none is."""


_ROUNDING: Final = 1e-9  # of floats; a share of exactly 5 % is in the band that begins there


class CountRange(NamedTuple):
    """A whole number lies in it, both ends included."""

    low: int
    high: int

    def lies_in(self, low: int, high: int) -> bool:
        """Tell whether all of it is between two numbers."""
        return low <= self.low and self.high <= high


def share_band(share: float, edges: Sequence[float] = SHARE_EDGES) -> str:
    """Return the band of a share, as ``"5 to 10 %"``.

    Examples
    --------
    >>> share_band(0.07), share_band(0.005), share_band(1.0)
    ('5 to 10 %', '0 to 1 %', '50 to 100 %')
    """
    low, high = _find_ends(share, edges)
    return f"{100 * low:g} to {100 * high:g} %"


def _find_ends(share: float, edges: Sequence[float]) -> tuple[float, float]:
    pairs = list(pairwise(edges))
    return next((pair for pair in pairs[:-1] if share < pair[1]), pairs[-1])


def loss_band(loss: float) -> str:
    """Return the band of a loss in [0, 1], 5 per cent wide."""
    return LOSS_BANDS[min(len(LOSS_BANDS) - 1, max(0, floor(20 * loss + _ROUNDING)))]


def suppression_band(share: float, limit: float) -> str:
    """Return the band of the share of suppressed records; whether there are any is not told where some may be."""
    if limit <= 0:
        return HIDDEN_BANDS[0]
    return HIDDEN_BANDS[1 if share <= 0.01 else 2 if share <= 0.05 else 3]


def distinct_band(n: int) -> str:
    """Return the band of a number of distinct values."""
    band = distinct_interval(n)
    return f"more than {DISTINCT_EDGES[-1]}" if n > DISTINCT_EDGES[-1] else f"{band.low} to {band.high}"


def distinct_interval(n: int) -> CountRange:
    """Return the numbers of distinct values that have the same band."""
    for low, high in pairwise(DISTINCT_EDGES):
        if n <= high:
            return CountRange(low, high) if low == 0 else CountRange(low + 1, high)
    return CountRange(DISTINCT_EDGES[-1] + 1, 2**31)


def round_count(n: int) -> int:
    """Round a count to two digits.

    Examples
    --------
    >>> round_count(974), round_count(1050), round_count(42)
    (970, 1100, 42)
    """
    unit = _rounding_unit(n)
    return (n + unit // 2) // unit * unit


def _rounding_unit(n: int) -> int:
    return int(10 ** max(0, len(str(n)) - 2))


def counts_rounded_to(rounded: int) -> CountRange:
    """Return the counts that `round_count` rounds to a number.

    Examples
    --------
    >>> counts_rounded_to(970), counts_rounded_to(1000)
    (CountRange(low=965, high=974), CountRange(low=995, high=1049))
    """
    unit, unit_below = _rounding_unit(rounded), _rounding_unit(max(0, rounded - 1))
    return CountRange(rounded - unit_below // 2, rounded + max(0, unit - unit // 2 - 1))


def share_interval(share: float, n: CountRange, edges: Sequence[float] = SHARE_EDGES) -> CountRange:
    """Return the counts that the band of a share allows, of so many persons."""
    low, high = _find_ends(share, edges)
    return CountRange(
        ceil(low * n.low - _ROUNDING), n.high if high == edges[-1] else ceil(high * n.high - _ROUNDING) - 1
    )


def is_safe(
    shares: Sequence[float],
    missing: float,
    n_distinct: int,
    n: int,
    *,
    least: int,
    with_bands: bool,
    may_repeat: bool,
) -> bool:
    """Tell whether nothing that follows from a column's bands is a count of fewer than ``least`` persons.

    Parameters
    ----------
    shares : sequence of float
        Of the values that are shown.
    missing : float
        Share of the missing cells.
    n_distinct, n : int
        The distinct values, and all persons.
    least : int
        The fewest persons of a value that is shown.
    with_bands : bool
        Whether the bands of the values are told, or only that ``least`` persons have each.
    may_repeat : bool
        Whether a person may have several values: shares then need not add up.
    """
    everybody = counts_rounded_to(round_count(n))
    each = [share_interval(share, everybody) if with_bands else CountRange(least, everybody.high) for share in shares]
    each = [CountRange(max(least, band.low), band.high) for band in each]
    low = max(0, everybody.low - sum(band.high for band in each))
    taken = max((band.low for band in each), default=0) if may_repeat else sum(band.low for band in each)
    rest = CountRange(low, max(0, everybody.high - taken))
    absent = share_interval(missing, everybody, MISSING_EDGES)
    rest = CountRange(max(rest.low, 0 if may_repeat else absent.low), rest.high)
    # What is neither shown nor missing: if more values exist than are shown, somebody has them, and few have each.
    distinct = distinct_interval(n_distinct)
    n_hidden = CountRange(max(0, distinct.low - len(shares)), max(0, distinct.high - len(shares)))
    rare = CountRange(
        max(n_hidden.low, 0 if may_repeat else rest.low - absent.high),
        min(n_hidden.high * (least - 1), rest.high if may_repeat else rest.high - absent.low),
    )
    return not any(interval.low > 0 and interval.lies_in(1, least - 1) for interval in (rest, rare, *each))
