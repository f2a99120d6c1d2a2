"""Prices of rows that no class of k records exceeds its cost by: made feasible, and made higher."""

from __future__ import annotations

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.kernels._jit import bare
from hushtable.kernels.separation import ENOUGH, Limits, Scratch, gather, search
from hushtable.kernels.spacing import Rows

__all__ = ["certify", "raise_prices"]

N_TRIALS = 4
LOWER = 0.8  # the share of a price that is tried where it was not proven
N_CLASSES = 3  # classes of one row whose members' prices are lowered in a sweep


@bare
def certify(
    rows: Rows,
    scratch: Scratch,
    limits: Limits,
    order: CountArray,
    rank: CountArray,
    run: tuple[int, int],
    prices: FloatArray,
) -> None:
    """Lower prices, in an order, until no class of the rows up to the end of a run exceeds its cost.

    A class belongs to its member that comes last, so that all others have their final price.

    prices : of rows of k records 0 or less
    order : int64 (n_rows,), rows by rising price;  rank : int64 (n_rows,), the place of each in it
    """
    for i in range(run[0], run[1]):
        a = order[i]
        if prices[a] <= 0:
            continue
        highest, proven = prices[a], -np.inf
        gather(rows, scratch, prices, rank, a, highest)
        price = highest
        for _ in range(N_TRIALS):
            prices[a] = price
            bound, value = search(rows, scratch, prices, a, limits, (0.0, highest))
            proven = max(proven, price if bound <= ENOUGH else price - bound)
            # Where the search did not come to an end, a lower price is easier to prove.
            if bound <= value + ENOUGH or proven >= LOWER * price:
                break
            price *= LOWER
        prices[a] = proven


@bare
def raise_prices(
    rows: Rows,
    scratch: Scratch,
    limits: Limits,
    order: CountArray,
    run: tuple[int, int],
    step: float,
    prices: FloatArray,
) -> None:
    """Raise prices by a step for each record, and lower those of the members of classes found to exceed their cost."""
    for i in range(run[0], run[1]):
        a = order[i]
        if rows.counts[a] >= limits.k:
            continue
        prices[a] += step * rows.counts[a]
        for _ in range(N_CLASSES):
            if prices[a] <= 0:
                break
            gather(rows, scratch, prices, order[:0], a, prices[a])
            _, value = search(rows, scratch, prices, a, limits, (ENOUGH, prices[a]))
            n = scratch.sizes[1]
            if n == 0:
                break
            own, squares = 1, 0
            for j in range(n):
                if scratch.best[j] == a:
                    own += scratch.best_taken[j]
                else:
                    squares += scratch.best_taken[j] ** 2
            squares += own**2
            prices[a] -= value * own / squares
            for j in range(n):
                if scratch.best[j] != a:
                    prices[scratch.best[j]] -= value * scratch.best_taken[j] / squares
