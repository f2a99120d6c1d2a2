"""Rough knowledge: how far a known value may lie from the true one, and which records match it then."""

from __future__ import annotations

import datetime as dt
import math
import numbers
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.columns import Column
from hushtable.errors import InputError, check_columns, check_type
from hushtable.hierarchy import to_exact
from hushtable.kernels.candidates import RoughRows, count_near_records
from hushtable.search import Budget, Clock
from hushtable.tables import Coverage, Table, lattice

Amount = int | Fraction
"""A distance: of numbers as it is, of dates and times in microseconds, of ordered categories in steps."""

_MICROSECONDS_PER_UNIT: Final = {
    "us": 1,
    "ms": 10**3,
    "s": 10**6,
    "m": 60 * 10**6,
    "h": 3600 * 10**6,
    "D": 86400 * 10**6,
}
_MICROSECONDS_PER_UNIT["W"] = 7 * _MICROSECONDS_PER_UNIT["D"]
_SPAN_PATTERN: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(us|ms|s|m|h|D|W)")
_MICROSECOND: Final = dt.timedelta(microseconds=1)
MAX_AXIS_PLACE: Final = 2**62
"""The largest place on an axis of whole numbers: sums of two stay within 64 bits."""


def check_tolerance(tolerance: Any, columns: Sequence[str], what: str = "tolerance") -> dict[str, Any]:
    """Check a tolerance and return it as a dict; raise where it is no mapping, or names an unknown column."""
    check_type(tolerance, Mapping, what, 'a mapping, as {"age": 2, "date": "14D"}')
    amounts = dict(tolerance or {})
    check_columns(list(amounts), columns, what)
    return amounts


def amount_of(amount: Any, column: Column) -> Amount:
    """Parse how far values of a column may lie apart (0 is exact); InputError where that does not fit its kind.

    ``"14D"`` (W, D, h, m, s, ms, us) or a timedelta for dates and times, a number of at least 0 for numbers, a whole
    one for the steps of an ordered column.
    """
    exact = _parse_span(amount) if column.is_temporal else _parse_number(amount)
    if exact is None or exact < 0 or (column.kind == "ordered" and exact != int(exact)):
        expected = {
            "date": 'a span of time, such as "14D" or "2W"',
            "datetime": 'a span of time, such as "14D", "2h" or "30m"',
            "time": 'a span of time, such as "2h" or "30m"',
            "ordered": "a whole number of steps",
        }.get(column.kind, "a number, 0 or more")
        raise InputError(
            f"the tolerance of column {column.name!r}, which holds values of kind {column.kind}, is {amount!r}.",
            hint=f"give {expected}.",
        )
    if exact and column.kind == "category":
        raise InputError(
            f"column {column.name!r} is a category, and its tolerance is {amount!r}.",
            hint="give 0, or declare an order or another kind in specs.",
        )
    return exact


def _parse_number(amount: Any) -> Amount | None:
    if not isinstance(amount, (str, numbers.Real)) or isinstance(amount, bool):
        return None
    try:
        return to_exact(amount)
    except (ValueError, ArithmeticError):
        return None


def _parse_span(span: Any) -> int | None:
    if isinstance(span, np.timedelta64):
        span = span.astype("timedelta64[us]").item()
    if isinstance(span, dt.timedelta):
        return span // _MICROSECOND
    if _parse_number(span) == 0:
        return 0
    parts = _SPAN_PATTERN.fullmatch(span) if isinstance(span, str) else None
    return None if parts is None else int(Fraction(parts[1]) * _MICROSECONDS_PER_UNIT[parts[2]])


def axis_values(column: Column) -> np.ndarray[Any, Any]:
    """Return the values of a column as numbers: dates and times in microseconds, ordered ones by their rank."""
    if column.is_temporal:
        return column.values.astype("datetime64[us]").astype(np.int64)
    if not column.is_measured:
        return np.arange(column.n_values)
    if column.kind == "integer" and column.n_values and np.abs(column.values.astype(float)).max() < MAX_AXIS_PLACE:
        return column.values.astype(np.int64)
    return column.values.astype(np.float64)


def reach_bounds(values: np.ndarray[Any, Any], amount: Amount) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the lowest and the highest number that each number may be taken for."""
    if values.dtype.kind == "i":
        # Whole numbers lie whole numbers apart.
        reach = min(math.floor(amount), MAX_AXIS_PLACE)
        return values - reach, values + reach
    if not amount:
        return values, values
    # 1.3 is within 0.3 of 1.0, but not in floats: a few roundings are allowed for.
    slack = 4 * np.spacing(np.maximum(np.abs(values), float(amount)))
    return values - float(amount) - slack, values + float(amount) + slack


def _nearby_codes(column: Column, amount: Any) -> tuple[CodeArray, CodeArray]:
    """Return the codes that each code may be taken for, from one to below another; the last entry is of the missing.

    Missing values are near one another, and to nothing else.
    """
    values = axis_values(column)
    low, high = reach_bounds(values, amount_of(amount, column))
    begins = np.append(np.searchsorted(values, low, side="left"), -1)
    ends = np.append(np.searchsorted(values, high, side="right"), 0)
    return begins.astype(np.int32), ends.astype(np.int32)


Reaches = Mapping[int, tuple[CodeArray, CodeArray]]
"""By the position of a column: the codes that each code may be taken for, from one to below another."""


def reaches_of(table: Table, tolerance: Any, what: str = "tolerance") -> dict[int, tuple[CodeArray, CodeArray]]:
    """Return what each code may be taken for, by column; ``what`` names the tolerance in errors."""
    amounts = check_tolerance(tolerance, table.names, what)
    return {table.index(name): _nearby_codes(table.column(name), amount) for name, amount in amounts.items()}


def classes_of(codes: CodeArray) -> CountArray:
    """Number rows by their codes, shape (n_columns, n_rows): equal rows have one number."""
    labels = np.zeros(codes.shape[1], dtype=np.int64)
    for column_codes in codes:
        _, labels = np.unique(labels * (int(column_codes.max(initial=-1)) + 2) + column_codes + 1, return_inverse=True)
    return labels


def count_rough_matches(
    codes: CodeArray, counts: CountArray, reaches: Reaches, enough: int = MAX_AXIS_PLACE
) -> CountArray:
    """Count the records that each distinct row could be taken for, its own among them, up to ``enough``.

    Rows in the order of the exact columns and of one rough one: of each row, the others within its reach lie in a run,
    which is looked through for the other rough columns. O(n log n) where there are none, else up to the runs' length.
    """
    n_rows = codes.shape[1]
    labels = classes_of(codes[[j for j in range(len(codes)) if j not in reaches]])
    # The column of the most values leaves the shortest runs.
    rough = sorted((j for j in reaches if j < len(codes)), key=lambda j: -len(reaches[j][0]))
    if not rough:
        # Sums of whole numbers below 2^53 are exact in bincount's floats.
        return np.bincount(labels, weights=counts).astype(np.int64)[labels]
    order = np.lexsort((codes[rough[0]], labels))
    sorted_labels = labels[order]
    mine = np.ascontiguousarray(codes[rough][:, order])
    low, high = (np.stack([reaches[j][end][each] for j, each in zip(rough, mine, strict=True)]) for end in (0, 1))
    starts, ends = (np.searchsorted(sorted_labels, sorted_labels, side=side) for side in ("left", "right"))
    ordered_counts, n_matches = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    count_near_records(RoughRows(mine, low, high, starts, ends, counts[order]), enough, ordered_counts)
    n_matches[order] = ordered_counts
    return n_matches


def lone_sets(
    codes: CodeArray,
    counts: CountArray,
    reaches: Reaches,
    max_size: int,
    *,
    missing_matches: bool,
    budget: Budget | None = None,
) -> lattice.ColumnSets:
    """Find all minimal sets of columns on which a row cannot be taken for any other record; nodes of a budget are sets.

    Nearness is no partition: who is near two rows need not let them be near one another. So each set of columns is
    looked at by itself, the smallest first. A row that is alone on a set is alone on every larger one.
    """
    clock, n_columns = Clock(budget or Budget()), len(codes)
    rows, paths, coverage = [], [], {}
    alone_before: dict[tuple[int, ...], BoolArray] = {}
    n_sets = complete_to = 0
    for size in range(1, max_size + 1):
        alone_now: dict[tuple[int, ...], BoolArray] = {}
        of_size: list[tuple[tuple[int, ...], BoolArray]] = []
        for path in combinations(range(n_columns), size):
            if clock.is_over(n_sets):
                break
            n_sets += 1
            subset, nearby = codes[list(path)], {j: reaches[each] for j, each in enumerate(path) if each in reaches}
            alone_now[path] = count_rough_matches(subset, counts, nearby, enough=2) == 1
            if not missing_matches:
                alone_now[path] &= (subset >= 0).all(axis=0)
            below = [alone_before[rest] for rest in combinations(path, size - 1) if rest]
            of_size.append((path, alone_now[path] & ~np.any(below, axis=0) if below else alone_now[path]))
        n_all = comb(n_columns, size)
        is_done = len(alone_now) == n_all
        coverage[size] = Coverage(n_all, 0, 0, 0) if is_done else Coverage(len(alone_now), 0, 0, n_all - len(alone_now))
        if not is_done:
            coverage |= {each: Coverage(0, 0, 0, comb(n_columns, each)) for each in range(size + 1, max_size + 1)}
            break
        for path, is_minimal in of_size:
            hits = np.flatnonzero(is_minimal)
            rows.append(hits)
            paths.append(np.tile(np.array([*path, *[-1] * (max_size - size)], dtype=np.int16), (len(hits), 1)))
        alone_before, complete_to = alone_now, size
    unique_rows = np.concatenate([*rows, np.empty(0, dtype=np.int64)]).astype(np.int32)
    sets = np.concatenate([*paths, np.empty((0, max_size), dtype=np.int16)])
    order = np.argsort(unique_rows, kind="stable")
    nobody = np.full(len(unique_rows), -1, dtype=np.int32)
    return lattice.ColumnSets(unique_rows[order], sets[order], nobody, n_sets, complete_to, coverage)
