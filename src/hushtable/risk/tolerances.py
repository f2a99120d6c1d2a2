"""What is known roughly: how far a value may lie from the true one."""

from __future__ import annotations

import datetime as dt
import math
import numbers
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray
from hushtable.columns import Column
from hushtable.errors import InputError, check_columns, check_type, with_hint
from hushtable.hierarchy import to_exact

__all__ = ["LARGEST", "Amount", "amount_of", "check_tolerance", "nearby", "on_axis", "reach"]

Amount = int | Fraction
"""A distance: of numbers as it is, of dates and times in microseconds, of ordered categories in steps."""

_UNITS: Final = {"us": 1, "ms": 10**3, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "D": 86400 * 10**6}
_UNITS["W"] = 7 * _UNITS["D"]
_SPAN: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(us|ms|s|m|h|D|W)")
_MICROSECOND: Final = dt.timedelta(microseconds=1)
LARGEST: Final = 2**62
"""Of places on an axis of whole numbers: sums of two stay within 64 bits."""


def check_tolerance(tolerance: Any, columns: Sequence[str], what: str = "tolerance") -> dict[str, Any]:
    """Return a tolerance as a dict; raise where it is none, or names something else than some columns."""
    check_type(tolerance, Mapping, what, 'a mapping, as {"age": 2, "date": "14D"}')
    told = dict(tolerance or {})
    check_columns(list(told), columns, what)
    return told


def amount_of(given: Any, column: Column) -> Amount:
    """Read how far values of a column may lie apart.

    Parameters
    ----------
    given : number, str or timedelta
        ``"14D"`` (W, D, h, m, s, ms, us) or a timedelta for dates and times, a number of at least 0 for numbers, a
        whole one for the steps of an ordered column. 0 is exact, of every kind.

    Raises
    ------
    InputError
        It is none of these, or values of the column lie at no distance from one another.
    """
    exact = _span(given) if column.is_temporal else _number(given)
    if exact is None or exact < 0 or (column.kind == "ordered" and exact != int(exact)):
        expected = {
            "date": 'a span of time, such as "14D" or "2W"',
            "datetime": 'a span of time, such as "14D", "2h" or "30m"',
            "time": 'a span of time, such as "2h" or "30m"',
            "ordered": "a whole number of steps",
        }.get(column.kind, "a number, 0 or more")
        msg = f"the tolerance of column {column.name!r}, which holds values of kind {column.kind}, is {given!r}."
        raise InputError(with_hint(msg, f"give {expected}."))
    if exact and column.kind == "category":
        msg = f"column {column.name!r} is a category, and its tolerance is {given!r}."
        raise InputError(with_hint(msg, "give 0, or declare an order or another kind in specs."))
    return exact


def _number(given: Any) -> Amount | None:
    if not isinstance(given, (str, numbers.Real)) or isinstance(given, bool):
        return None
    try:
        return to_exact(given)
    except (ValueError, ArithmeticError):
        return None


def _span(given: Any) -> int | None:
    if isinstance(given, np.timedelta64):
        given = given.astype("timedelta64[us]").item()
    if isinstance(given, dt.timedelta):
        return given // _MICROSECOND
    if _number(given) == 0:
        return 0
    parts = _SPAN.fullmatch(given) if isinstance(given, str) else None
    return None if parts is None else int(Fraction(parts[1]) * _UNITS[parts[2]])


def on_axis(column: Column) -> np.ndarray[Any, Any]:
    """Return the values of a column as numbers: dates and times in microseconds, ordered ones by their rank."""
    if column.is_temporal:
        return column.values.astype("datetime64[us]").astype(np.int64)
    if not column.is_measured:
        return np.arange(column.n_values)
    if column.kind == "integer" and column.n_values and np.abs(column.values.astype(float)).max() < LARGEST:
        return column.values.astype(np.int64)
    return column.values.astype(np.float64)


def reach(values: np.ndarray[Any, Any], amount: Amount) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the least and the largest number that each of some numbers may be taken for."""
    if values.dtype.kind == "i":
        # Whole numbers lie whole numbers apart.
        whole = min(math.floor(amount), LARGEST)
        return values - whole, values + whole
    if not amount:
        return values, values
    # 1.3 is within 0.3 of 1.0, though not of what floats make of them.
    slack = 4 * np.spacing(np.maximum(np.abs(values), float(amount)))
    return values - float(amount) - slack, values + float(amount) + slack


def nearby(column: Column, given: Any) -> tuple[CodeArray, CodeArray]:
    """Return the codes that each code may be taken for, from one to below another; the last entry is of the missing.

    Missing values are near one another, and to nothing else.
    """
    values = on_axis(column)
    low, high = reach(values, amount_of(given, column))
    begins = np.append(np.searchsorted(values, low, side="left"), -1)
    ends = np.append(np.searchsorted(values, high, side="right"), 0)
    return begins.astype(np.int32), ends.astype(np.int32)
