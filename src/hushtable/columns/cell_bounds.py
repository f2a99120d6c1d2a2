"""Bounds of published cells: the smallest and the largest value that a cell of numbers, dates or times admits.

=============================  =================  ====================================================================
cell                           bounds             of
=============================  =================  ====================================================================
``34``                         34 and 34          everything
``[17, 25)``, ``[17, 24]``     17 and 24          whole numbers: both bounds belong to the cell
``[1958, 1969)``, ``1960s``    first, last day    dates: both bounds belong to the cell
``[1.5, 2.5)``                 1.5 and 2.5        decimals, moments and times: the upper bound may be a limit that no
                                                  value of the cell reaches
``<20``, ``>=90``              empty on one side  everything
``["31", "34"]``               31 and 34          the bounds over all members; a missing member has none
``*``, a missing cell          empty              everything
=============================  =================  ====================================================================

They follow from the text of the cell and the kind of its column alone. A text that cannot be read has no bounds.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from hushtable.columns.cells import parse_cell
from hushtable.columns.column import Kind

_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_UNIT: Final = re.compile(
    r"(?P<year>[0-9]{4})(?:(?P<decade>s)|-Q(?P<quarter>[1-4])|-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?", re.ASCII
)
_CLOCK: Final = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{6})?)?", re.ASCII)
_INT64: Final = 2**63
_DAY: Final = dt.timedelta(days=1)


Bound: TypeAlias = int | float | dt.date | str | None
"""A number, a date, a moment, or the text of a time; None on a side that has no bound."""


class CellBounds(NamedTuple):
    """The smallest and the largest value of a cell."""

    low: Bound
    high: Bound


NO_BOUNDS: Final = CellBounds(None, None)


def find_bounds(texts: Sequence[str | None], kind: Kind) -> list[CellBounds]:
    """Find the bounds of published cells of a measured column: as int, float, date, datetime, or text of a time."""
    read_end = _READERS[kind]
    return [NO_BOUNDS if text is None else _bounds_of(text, read_end) for text in texts]


class _End(NamedTuple):
    """What one text of a cell tells: its smallest and its largest value, and the largest value below all of it."""

    first: Bound = None
    last: Bound = None
    before: Bound = None


_UNREADABLE: Final = _End()


def _bounds_of(text: str, read_end: Callable[[str], _End]) -> CellBounds:
    form, ends, members = parse_cell(text)
    if form == "value":
        return CellBounds(*read_end(text)[:2])
    if ends is not None:
        low = _UNREADABLE if ends.low is None else read_end(ends.low)
        high = _UNREADABLE if ends.high is None else read_end(ends.high)
        return CellBounds(low.first, high.last if ends.is_closed else high.before)
    of_members = [_bounds_of(member, read_end) for member in members if member is not None]
    if not of_members:
        return NO_BOUNDS
    lows = [each.low for each in of_members if each.low is not None]
    highs = [each.high for each in of_members if each.high is not None]
    # One member that is open on a side leaves the whole set open there.
    n_members = len(of_members)
    return CellBounds(min(lows) if len(lows) == n_members else None, max(highs) if len(highs) == n_members else None)


def _read_integer(text: str) -> _End:
    if not _NUMBER.fullmatch(text):
        return _UNREADABLE
    exact = Fraction(text)
    bounds = math.ceil(exact), math.floor(exact), math.ceil(exact) - 1
    # No value of such a column lies beyond 64 bits.
    return _End(*(bound if -_INT64 <= bound < _INT64 else None for bound in bounds))


def _read_decimal(text: str) -> _End:
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return _End(number, number, number) if math.isfinite(number) else _UNREADABLE


def _read_date(text: str) -> _End:
    unit = _read_unit(text)
    if unit is None:
        return _UNREADABLE
    first, last = unit
    return _End(first, last, None if first == dt.date.min else first - _DAY)


def _read_moment(text: str) -> _End:
    unit = _read_unit(text)
    if unit is None:
        try:
            moment = dt.datetime.fromisoformat(text)
        except ValueError:
            return _UNREADABLE
        return _End(moment, moment, moment)
    first, last = (dt.datetime.combine(day, dt.time()) for day in unit)
    return _End(first, None if unit[1] == dt.date.max else last + _DAY, first)


def _read_time(text: str) -> _End:
    return _End(text, text, text) if _CLOCK.fullmatch(text) else _UNREADABLE


def _read_unit(text: str) -> tuple[dt.date, dt.date] | None:
    """Return the first and the last day of a calendar unit; None if the text is none."""
    unit = _UNIT.fullmatch(text)
    if unit is None:
        return None
    year, quarter = int(unit["year"]), int(unit["quarter"] or 1)
    month = int(unit["month"] or 3 * quarter - 2)
    try:
        first = dt.date(year, month, int(unit["day"] or 1))
    except ValueError:
        return None
    if unit["day"]:
        return first, first
    n_months = 3 if unit["quarter"] else 1 if unit["month"] else 120 if unit["decade"] else 12
    years, index = divmod(12 * year + month - 1 + n_months, 12)
    return first, dt.date.max if years > dt.MAXYEAR else dt.date(years, index + 1, 1) - _DAY


_READERS: Final[dict[str, Callable[[str], _End]]] = {
    "integer": _read_integer,
    "decimal": _read_decimal,
    "date": _read_date,
    "datetime": _read_moment,
    "time": _read_time,
}
