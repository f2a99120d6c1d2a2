"""What somebody can compute of a column's unshown persons from a sheet, by trying every number: from the definition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, takewhile

_BANDS = ((0, 1), (1, 2), (2, 5), (5, 10), (10, 20), (20, 50), (50, 100))
_MISSING = ((0, 5), (5, 20), (20, 50), (50, 100))
_DISTINCT = {"0 to 10": (0, 10), "11 to 100": (11, 100), "101 to 500": (101, 500), "more than 500": (501, 10**9)}


def _round_to_two_digits(n: int) -> int:
    digits = len(str(n))
    unit = 10 ** max(0, digits - 2)
    lower = n - n % unit
    return lower + unit if n - lower >= unit / 2 and unit > 1 else lower


def _possible_totals(told: int) -> Iterator[int]:
    """Yield every number of persons that is told as this one."""
    start = max(1, told - told // 5 - 2)
    return (n for n in takewhile(lambda n: n <= told + told // 5 + 2, count(start)) if _round_to_two_digits(n) == told)


def _counts_in(band: str, bands: Sequence[tuple[int, int]], n: int) -> list[int]:
    low, high = next(each for each in bands if f"{each[0]} to {each[1]} %" == band)
    return [c for c in range(n + 1) if 100 * c >= low * n and (100 * c < high * n or high == 100)]


def find_rest(
    told: int, values: Sequence[str | None], missing: str, distinct: str, *, may_repeat: bool, least: int = 11
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the fewest and most persons of no shown value, and of a value that is not shown."""
    rests, rares = [], []
    for n in _possible_totals(told):
        ranges = []
        for band in values:
            counts = range(n + 1) if band is None else _counts_in(band, _BANDS, n)
            ranges.append([c for c in counts if c >= least])
        absent = _counts_in(missing, _MISSING, n)
        if any(not each for each in ranges) or not absent:
            continue
        fewest = sum(each[0] for each in ranges)
        most = sum(each[-1] for each in ranges)
        low, high = max(0, n - most), n - fewest
        if may_repeat:
            high = n - max((each[0] for each in ranges), default=0)
        elif high < absent[0]:
            continue
        low = low if may_repeat else max(low, absent[0])
        rests.append((low, high))
        few, many = _DISTINCT[distinct]
        hidden_low, hidden_high = max(0, few - len(values)), max(0, many - len(values))
        rare_low = 0 if may_repeat else low - min(absent[-1], high)
        rare_high = high if may_repeat else high - absent[0]
        rares.append((max(0, rare_low, hidden_low), min(rare_high, hidden_high * (least - 1))))
    assert rests, "no table fits the sheet"
    return tuple((min(low for low, _ in each), max(high for _, high in each)) for each in (rests, rares))
