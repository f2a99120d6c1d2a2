"""What the loss of groups of at least k records cannot be below: by near records, and by prices of triples."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.errors import InputError
from hushtable.kernels import microaggregation as kernel
from hushtable.search import linprog

_MAX_ROWS: Final = 1_500  # all triples are looked at, a few times
_MAX_ROUNDS: Final = 12
_N_NEAR: Final = 7
_TOLERANCE: Final = 5e-4  # of the programme's value, what its proof may lack


def floor_by_nearest(points: FloatArray, k: int) -> float:
    """Return a lower bound of the sum of squares of groups of at least k records.

    A group of s records costs the squared distances of its pairs over s. Each member has s - 1 of these, at least
    those to its nearest; so the k - 1 nearest of every record, over 2 k, cost no more.
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(points)
    # In the order of the tree, whose leaves are then read one after the other: a third of the time.
    distances = tree.query(points[tree.indices], k)[0]
    return float((distances**2).sum() / (2 * k))


def price_records(points: FloatArray, labels: CodeArray, k: int) -> FloatArray:
    """Return a price of every record such that no triple costs less than its three together.

    Their sum is a lower bound for groups of at least three. Column generation over triples, from groups that were
    found and from near records.

    Raises
    ------
    InputError
        There are too many records, or k is 2.
    """
    n_rows = len(points)
    if n_rows > _MAX_ROWS or k < 3:
        raise InputError(
            f"prove was asked of {n_rows:,} records with k = {k}.",
            hint=f"it looks at all triples of at most {_MAX_ROWS:,} records, for k of 3 or more: leave it out.",
        )
    triples = _first_triples(points, labels)
    best, best_sum, centre = np.zeros(n_rows), 0.0, None
    least, partners = np.empty(n_rows), np.zeros((n_rows, 2), dtype=np.int32)
    for _ in range(_MAX_ROUNDS):
        prices, value = _solve(points, triples)
        # Half way from the best so far: dual prices of one programme jump from corner to corner (Wentges 1997).
        prices = prices if centre is None else (prices + centre) / 2
        kernel.price_triples(points, prices, least, partners)
        # A third of what each lacks at most: no triple is then below its prices.
        proven = prices + least / 3
        if proven.sum() > best_sum:
            best, best_sum, centre = proven, float(proven.sum()), prices
        if value - best_sum <= _TOLERANCE * value:
            break
        new = np.column_stack([np.arange(n_rows), partners])[least < 0]
        triples = np.unique(np.sort(np.concatenate([triples, new]), axis=1), axis=0)
    return best


def floor_by_prices(points: FloatArray, prices: FloatArray, k: int) -> float:
    """Return the lower bound that prices of records prove, after looking at every triple.

    A group of s records holds each pair in s - 2 triples: it costs at least 1.5 (s - 1) / s times its prices.
    """
    least, partners = np.empty(len(points)), np.zeros((len(points), 2), dtype=np.int32)
    kernel.price_triples(points, prices, least, partners)
    # Least costs below 0 only: prices that hold already prove what they sum up to.
    return float((prices + np.minimum(least, 0.0) / 3).sum() * 1.5 * (k - 1) / k)


def _first_triples(points: FloatArray, labels: CodeArray) -> CountArray:
    from scipy.spatial import cKDTree

    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    found = [triple for group in groups for triple in combinations(group.tolist()[:8], 3)]
    near = cKDTree(points).query(points, min(_N_NEAR + 1, len(points)))[1].tolist()
    found += [(row, one, other) for row, rows in enumerate(near) for one, other in combinations(rows, 2)]
    triples = np.sort(np.array(found, dtype=np.int64).reshape(-1, 3), axis=1)
    differ = (triples[:, 0] < triples[:, 1]) & (triples[:, 1] < triples[:, 2])
    return np.unique(triples[differ], axis=0)


def _solve(points: FloatArray, triples: CountArray) -> tuple[FloatArray, float]:
    """Return the dual prices of the cheapest fractional cover by some triples, and its cost."""
    from scipy.sparse import csr_array

    members = points[triples]
    costs = ((members - members.mean(axis=1, keepdims=True)) ** 2).sum(axis=(1, 2))
    shape = (len(triples), len(points))
    rows = csr_array((np.ones(triples.size), triples.ravel(), np.arange(0, triples.size + 1, 3)), shape=shape)
    solved = linprog(-np.ones(len(points)), A_ub=rows, b_ub=costs, bounds=(None, None), method="highs")
    if solved.x is None:
        raise InputError("no prices were found.", hint="leave prove out.")
    return np.asarray(solved.x), -float(solved.fun)
