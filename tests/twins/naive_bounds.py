"""Bounds of cells by the words of the rule: values near all that a cell names are tried, one by one, for membership.

Days are counted from the year 1, moments and times in microseconds.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

FAR = 10**400
WHOLE = ("integer", "date")
NEAR = {"decimal": Fraction(1, 10**700), "datetime": 1, "time": 1}
MICROSECOND = dt.timedelta(microseconds=1)


def bounds(cell: str | None, kind: str) -> tuple[Any, Any]:
    """Return the smallest and the largest value that a cell admits, or their limit; None where there is none."""
    named = [] if cell is None or cell == "*" else [*_named(cell, kind)]
    if cell is None or not named:
        return None, None
    low = min((value for value in named if admits(cell, kind, value)), default=None)
    if kind in WHOLE:
        high = max((value for value in named if admits(cell, kind, value)), default=None)
    else:
        high = max(value for value in named if admits(cell, kind, value) or admits(cell, kind, value - NEAR[kind]))
    low = None if admits(cell, kind, -FAR) else low
    high = None if admits(cell, kind, FAR) else high
    return _shown(low, kind), _shown(high, kind)


def admits(cell: str, kind: str, value: Any) -> bool:
    """Tell whether a cell that names numbers, dates, moments or times admits a value."""
    if cell.startswith('["'):
        return any(admits(member, kind, value) for member in json.loads(cell) if member)
    if cell.startswith("<"):
        return value < _unit(cell[1:], kind)[0]
    if cell.startswith(">="):
        return value >= _unit(cell[2:], kind)[0]
    if cell.startswith("["):
        low, high = cell[1:-1].split(", ")
        begin, (end, after) = _unit(low, kind)[0], _unit(high, kind)
        is_below = value < end if cell.endswith(")") else value < after or value == end
        return value >= begin and is_below
    begin, after = _unit(cell, kind)
    return value == begin or begin <= value < after


def _named(cell: str, kind: str) -> Iterator[Any]:
    for member in json.loads(cell) if cell.startswith('["') else [cell]:
        for text in member.strip("[]()<>=").split(", ") if member else []:
            for edge in _unit(text, kind):
                yield from (int(edge // 1) + shift for shift in range(-2, 3)) if kind in WHOLE else [edge]


def _unit(text: str, kind: str) -> tuple[Any, Any]:
    """Return where a value or calendar unit begins, and where the next one does; of a single value, itself twice."""
    if kind in ("integer", "decimal"):
        return Fraction(text), Fraction(text)
    if kind == "time":
        text = f"0001-01-01 {text}"
    if ":" in text:
        moment = (dt.datetime.fromisoformat(text) - dt.datetime.min) // MICROSECOND
        return moment, moment
    year = int(text[:4])
    if text.endswith("s"):
        first, after = _day(year, 1), _day(year + 10, 1)
    elif len(text) == 4:
        first, after = _day(year, 1), _day(year + 1, 1)
    elif "Q" in text:
        first, after = (_day(year, 3 * quarter - 2) for quarter in (int(text[-1]), int(text[-1]) + 1))
    elif len(text) == 7:
        first, after = _day(year, int(text[5:])), _day(year, int(text[5:]) + 1)
    else:
        first = dt.date.fromisoformat(text).toordinal()
        after = first + 1
    if kind == "date":
        return first, after
    return (first - 1) * 86_400_000_000, (after - 1) * 86_400_000_000


def _day(year: int, month: int) -> int:
    """Return the first day of a month; month 13 is the first of the next year."""
    year, month = (year + 1, 1) if month > 12 else (year, month)
    return dt.date.max.toordinal() + 1 if year > dt.MAXYEAR else dt.date(year, month, 1).toordinal()


def _shown(value: Any, kind: str) -> Any:
    if value is None or kind == "integer":
        return value
    if kind == "decimal":
        return float(value)
    if kind == "date":
        return dt.date.fromordinal(value)
    moment = dt.datetime.min + value * MICROSECOND
    if kind == "datetime":
        return moment
    return moment.time().isoformat("auto" if moment.second or moment.microsecond else "minutes")
