"""Boundaries: where a cut between two neighbouring values is said to fall."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from typing import Any, Final

import numpy as np

from hushtable.columns import Column, value_text
from hushtable.hierarchy import Rounding, plain

__all__ = ["cut_point", "grid_point"]

_ROUND_STEPS: Final = (
    *(("Y", 10), ("Y", 1), ("M", 1), ("D", 1), ("h", 1)),
    *((unit, step) for unit in ("m", "s") for step in (30, 10, 5, 1)),
    *(("us", digit * 10**power) for power in range(5, -1, -1) for digit in (5, 1)),
)
"""Steps from one round moment to the next, in numpy's units, the widest first."""


def cut_point(column: Column, code: int) -> str:
    """Write the roundest value above the one before ``code`` and not above its own: where a cut falls.

    A round number tells less of the people on either side than the value of one of them.
    """
    low, high = column.values[code - 1], column.values[code]
    if column.kind in ("integer", "decimal"):
        ends = Decimal(column.text(code - 1)), Decimal(column.text(code))
        if column.kind == "integer":
            return str(int(_roundest(*ends, lambda number: number > ends[0])))
        # Between neighbouring floats a rounder decimal may be read as the lower of them.
        return value_text("decimal", float(_roundest(*ends, lambda number: float(number) > low)))
    moments = low.astype("datetime64[us]"), high.astype("datetime64[us]")
    if not all(isinstance(moment.item(), dt.datetime) for moment in moments):
        # Outside the years 1 to 9999, which the calendar of the standard library ends at.
        return column.text(code)
    return value_text(column.kind, _roundest_moment(*moments).astype(column.values.dtype))


def grid_point(rounding: Rounding, low: int, high: int) -> str:
    """Write the roundest point of the grid behind the cell of one place, and not behind the begin of another's."""
    last, first = (rounding.first + int(cell) for cell in rounding.cells[[low, high]])
    if rounding.is_calendar:
        moment = _roundest_moment(np.datetime64(last, "D"), np.datetime64(first, "D"))
        return str(moment.astype("datetime64[D]"))
    ends = [Decimal(plain(cell * rounding.grid)) for cell in (last, last + 1, first)]
    return plain(Fraction(_roundest(ends[0], ends[2], lambda number: number >= ends[1])))


def _roundest(low: Decimal, high: Decimal, is_above: Callable[[Decimal], bool]) -> Decimal:
    """Return a multiple of the widest step that has one above ``low``: below ``high``, or where none is, that."""
    # Enough digits for any two floats.
    with localcontext(prec=1_100):
        power = max(end.adjusted() for end in (low, high) if end) + 1
        while True:
            for digit in (5, 1):
                step = Decimal(digit).scaleb(power)
                candidate = (high / step).to_integral_value(ROUND_FLOOR) * step
                if candidate == high and is_above(candidate - step):
                    candidate -= step
                if is_above(candidate):
                    return candidate
            power -= 1


def _roundest_moment(low: np.datetime64, high: np.datetime64) -> np.datetime64:
    """Return a multiple of the widest step that has one above ``low``: below ``high``, or where none is, that."""
    candidates = (each for unit, step in _ROUND_STEPS for each in _multiples(high, unit, step))
    roundest: np.datetime64 = next(each for each in candidates if each > low)
    return roundest


def _multiples(moment: np.datetime64, unit: str, step: int) -> tuple[Any, ...]:
    """Return the last multiple of a step up to a moment; of a moment that is one, the one before as well."""
    kind = f"datetime64[{unit}]"
    number = moment.astype(kind).astype(np.int64)
    # Counted in units, since numpy guesses the unit of a bare number no more.
    before, last = np.array([number - number % step - step, number - number % step]).astype(kind)
    return (before, last) if last == moment else (last,)
