"""Distances of rows, by what a class of two publishes: the nearest ones, and pairs that cost less than their prices.

Rows that are equal in the most distinctive columns follow one another: a far run is skipped at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit_bare, jit_inner


class SpacedRows(NamedTuple):
    """The distinct rows, and how far their codes lie apart."""

    codes: CodeArray  # (n_rows, n_columns), 0 is missing
    counts: CountArray
    is_ordered: BoolArray
    positions: FloatArray  # (n_columns, most codes), for ordered columns
    unit: FloatArray  # (n_columns,), the share of one value of an unordered column
    begins: CountArray  # (n_columns + 1,), where the flags of an unordered column's codes begin
    starts: CountArray  # (n_groups + 1,), where runs of rows begin that are equal in the leading columns
    n_leading: int  # how many columns lead


@jit_inner
def column_share(rows: SpacedRows, j: int, low: int, high: int) -> float:
    """Return the share of an ordered column between two codes."""
    if low == high:
        return 0.0
    return 1.0 if low == 0 else rows.positions[j, high] - rows.positions[j, low]


@jit_inner
def pair_share(rows: SpacedRows, a: int, b: int, columns: tuple[int, int], total: float, limit: float) -> float:
    """Return the share of two rows in some columns, added to a total, or any number no less than the limit."""
    for j in range(columns[0], columns[1]):
        p, q = rows.codes[a, j], rows.codes[b, j]
        if p != q:
            total += column_share(rows, j, min(p, q), max(p, q)) if rows.is_ordered[j] else 2.0 * rows.unit[j]
            if total >= limit:
                break
    return total


@jit_bare
def measure_kth_distances(
    rows: SpacedRows, k: int, nearest: CodeArray, distances: FloatArray, run: tuple[int, int], kth_distances: FloatArray
) -> None:
    """Set each row's summed share with the farthest of its k nearest records, itself among them."""
    lead, n_columns = rows.n_leading, rows.unit.size
    n_groups = rows.starts.size - 1
    for row in range(run[0], run[1]):
        own = np.searchsorted(rows.starts, row, side="right") - 1
        # The nearest rows so far by rising distance, just enough of them to hold k records.
        n_nearest, n_held = 1, rows.counts[row]
        nearest[0], distances[0] = row, 0.0
        for at in range(n_groups):
            # Its own group first: what is near is soon known.
            group = own if at == 0 else (at - 1 if at <= own else at)
            limit = distances[n_nearest - 1] if n_held >= k else np.inf
            start = pair_share(rows, row, rows.starts[group], (0, lead), 0.0, limit)
            if start >= limit:
                continue
            for candidate in range(rows.starts[group], rows.starts[group + 1]):
                limit = distances[n_nearest - 1] if n_held >= k else np.inf
                if start >= limit:
                    break
                distance = pair_share(rows, row, candidate, (lead, n_columns), start, limit)
                if candidate == row or distance >= limit:
                    continue
                rank = min(n_nearest, k - 1)
                n_held += rows.counts[candidate] - (rows.counts[nearest[k - 1]] if n_nearest == k else 0)
                while rank > 0 and distances[rank - 1] > distance:
                    distances[rank], nearest[rank] = distances[rank - 1], nearest[rank - 1]
                    rank -= 1
                distances[rank], nearest[rank] = distance, candidate
                n_nearest = min(n_nearest + 1, k)
                while n_held - rows.counts[nearest[n_nearest - 1]] >= k:
                    n_nearest -= 1
                    n_held -= rows.counts[nearest[n_nearest]]
        kth_distances[row] = distances[n_nearest - 1]


@jit_bare
def find_nearest(rows: SpacedRows, nearest: CodeArray, distances: FloatArray, run: tuple[int, int]) -> None:
    """Set the nearest other rows (n_rows, n_nearest), and how far they are; -1 and inf where there are not so many."""
    lead, n_columns, last = rows.n_leading, rows.unit.size, nearest.shape[1] - 1
    for row in range(run[0], run[1]):
        own = np.searchsorted(rows.starts, row, side="right") - 1
        for i in range(last + 1):
            nearest[row, i], distances[row, i] = -1, np.inf
        for at in range(rows.starts.size - 1):
            group = own if at == 0 else (at - 1 if at <= own else at)
            start = pair_share(rows, row, rows.starts[group], (0, lead), 0.0, distances[row, last])
            for candidate in range(rows.starts[group], rows.starts[group + 1]):
                limit = distances[row, last]
                if start >= limit:
                    break
                distance = pair_share(rows, row, candidate, (lead, n_columns), start, limit)
                if candidate == row or distance >= limit:
                    continue
                rank = last
                while rank > 0 and distances[row, rank - 1] > distance:
                    nearest[row, rank], distances[row, rank] = nearest[row, rank - 1], distances[row, rank - 1]
                    rank -= 1
                nearest[row, rank], distances[row, rank] = candidate, distance


@jit_bare
def find_overpriced_pairs(
    rows: SpacedRows, prices: FloatArray, margin: float, run: tuple[int, int], pairs: CodeArray, distances: FloatArray
) -> int:
    """Set the pairs whose prices exceed their cost, as many as have room, and their distance; return how many."""
    lead, n_columns = rows.n_leading, rows.unit.size
    n = 0
    for row in range(run[0], run[1]):
        for group in range(rows.starts.size - 1):
            start = pair_share(rows, row, rows.starts[group], (0, lead), 0.0, prices[row])
            if start >= prices[row]:
                continue
            for candidate in range(rows.starts[group], rows.starts[group + 1]):
                if prices[candidate] > prices[row] or (prices[candidate] == prices[row] and candidate >= row):
                    continue
                limit = (prices[row] + prices[candidate]) / 2 - margin
                if start >= limit:
                    continue
                distance = pair_share(rows, row, candidate, (lead, n_columns), start, limit)
                if distance < limit:
                    if n < pairs.shape[0]:
                        pairs[n, 0], pairs[n, 1], distances[n] = row, candidate, distance
                    n += 1
    return n
