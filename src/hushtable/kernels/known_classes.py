"""Classes that once cost less than their members' prices, so that prices are held against them without a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit_bare, jit_inner

_MAX_MEMBERS = 5_000_000


class KnownClasses(NamedTuple):
    """Classes, without their rows of k records or more: these have the price 0."""

    starts: CountArray  # (most classes + 1,), where the members of each begin
    rows: CodeArray  # (most members,)
    copies: CountArray  # (most members,), records of each row
    costs: FloatArray  # (most classes,), of all records
    n_classes: CountArray  # (1,)


def allocate_classes(n_rows: int) -> KnownClasses:
    """Return room for about twenty classes a row."""
    n_classes, n_members = 20 * n_rows + 1_000, min(_MAX_MEMBERS, 100 * n_rows + 10_000)
    starts, n_known = np.zeros(n_classes + 1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    rows, copies = np.zeros(n_members, dtype=np.int32), np.zeros(n_members, dtype=np.int64)
    return KnownClasses(starts, rows, copies, np.zeros(n_classes), n_known)


@jit_inner
def remember_class(known: KnownClasses, rows: CodeArray, copies: CountArray, n: int, cost: float) -> None:
    """Add a class of n rows, if there is room."""
    number = known.n_classes[0]
    begin = known.starts[number]
    if number == known.costs.size or begin + n > known.rows.size:
        return
    for i in range(n):
        known.rows[begin + i], known.copies[begin + i] = rows[i], copies[i]
    known.costs[number] = cost
    known.starts[number + 1] = begin + n
    known.n_classes[0] = number + 1


@jit_bare
def settle_prices(
    known: KnownClasses, counts: CountArray, k: int, steps: FloatArray, ceilings: FloatArray, prices: FloatArray
) -> None:
    """Raise prices by each step for each record, up to ceilings; lower those of known classes that then cost less."""
    for step in steps:
        for row in range(prices.size):
            if counts[row] < k and prices[row] < ceilings[row]:
                prices[row] = min(ceilings[row], prices[row] + step * counts[row])
        for number in range(known.n_classes[0]):
            excess, squares = -known.costs[number], 0
            for i in range(known.starts[number], known.starts[number + 1]):
                excess += known.copies[i] * prices[known.rows[i]]
                squares += known.copies[i] ** 2
            if excess > 0:
                for i in range(known.starts[number], known.starts[number + 1]):
                    prices[known.rows[i]] -= excess * known.copies[i] / squares
