"""What a set of rows costs when all of them publish one candidate value in every column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit

__all__ = ["Costs", "block_costs", "cell_cost", "nearest", "pair_costs", "subset_costs"]


class Costs(NamedTuple):
    """The cheapest common candidate of the values from one place to another, in every column.

    A row's value in a column is its *place*: 0 is the missing value. Leaves of a hierarchy stand in
    the order of its branches, so that the candidates that two places share are those that
    every place between them shares.

    is_span : bool (n_columns,), whether intervals are candidates, else the nodes of a hierarchy
    starts : int64 (n_columns + 1,), where a column's places begin in the arrays below
    positions : float64 (n_places,), of a span column, times its weight
    stars : float64 (n_columns,), what ``*`` costs
    nodes : int32 (n_levels, n_places), the node over a place
    least : float64 (n_levels, n_places), the least cost of that node and all above it
    """

    is_span: BoolArray
    starts: CountArray
    positions: FloatArray
    stars: FloatArray
    nodes: CodeArray
    least: FloatArray


@jit
def cell_cost(costs: Costs, j: int, low: int, high: int) -> float:
    """Return what one cell costs that covers the places from ``low`` to ``high``."""
    if low == high:
        return 0.0
    if low == 0:
        return float(costs.stars[j])
    first, last = costs.starts[j] + low, costs.starts[j] + high
    if costs.is_span[j]:
        return float(costs.positions[last] - costs.positions[first])
    level = 1
    while costs.nodes[level, first] != costs.nodes[level, last]:
        level += 1
    return float(costs.least[level, first])


@jit
def pair_costs(places: CodeArray, costs: Costs) -> FloatArray:
    """Return what one row costs when it is made equal to another; float64 (n_rows, n_rows)."""
    n_rows, n_columns = places.shape
    out = np.zeros((n_rows, n_rows))
    for a in range(n_rows):
        for b in range(a + 1, n_rows):
            cost = 0.0
            for j in range(n_columns):
                p, q = places[a, j], places[b, j]
                if p != q:
                    cost += cell_cost(costs, j, min(p, q), max(p, q))
            out[a, b] = cost
            out[b, a] = cost
    return out


@jit
def nearest(
    places: CodeArray,
    costs: Costs,
    n_near: int,
    near: CodeArray,
    distances: FloatArray,
    begin: int = 0,
    end: int = 2**31 - 1,
) -> None:
    """Find for the rows ``begin`` to ``end`` - 1 the others that each is made equal to most cheaply, cheapest first.

    near : int32 (n_rows, n_near), out
    distances : float64 (n_rows, n_near), out
    """
    n_rows, n_columns = places.shape
    for a in range(begin, min(end, n_rows)):
        n_found = 0
        for b in range(n_rows):
            if a == b:
                continue
            worst = distances[a, n_near - 1] if n_found == n_near else np.inf
            cost = 0.0
            for j in range(n_columns):
                p, q = places[a, j], places[b, j]
                if p != q:
                    cost += cell_cost(costs, j, min(p, q), max(p, q))
                    if cost >= worst:
                        break
            if cost >= worst:
                continue
            place = min(n_found, n_near - 1)
            while place > 0 and distances[a, place - 1] > cost:
                distances[a, place] = distances[a, place - 1]
                near[a, place] = near[a, place - 1]
                place -= 1
            distances[a, place] = cost
            near[a, place] = b
            n_found = min(n_found + 1, n_near)


@jit
def block_costs(places: CodeArray, costs: Costs, offsets: CountArray, rows: CodeArray, out: FloatArray) -> None:
    """Cost one row of each block ``rows[offsets[b]:offsets[b + 1]]``."""
    n_columns = places.shape[1]
    for block in range(offsets.size - 1):
        cost = 0.0
        for j in range(n_columns):
            low = high = places[rows[offsets[block]], j]
            for row in rows[offsets[block] : offsets[block + 1]]:
                low, high = min(low, places[row, j]), max(high, places[row, j])
            cost += cell_cost(costs, j, low, high)
        out[block] = cost


@jit
def subset_costs(places: CodeArray, costs: Costs) -> FloatArray:
    """Cost all rows of every subset together; entry i is the subset of the bits of i."""
    n_rows, n_columns = places.shape
    n_subsets = 1 << n_rows
    low = np.zeros((n_subsets, n_columns), np.int32)
    high = np.zeros((n_subsets, n_columns), np.int32)
    sizes = np.zeros(n_subsets, np.int64)
    out = np.zeros(n_subsets)
    for row in range(n_rows):
        first = 1 << row
        for rest in range(first):
            subset = first | rest
            sizes[subset] = sizes[rest] + 1
            cost = 0.0
            for j in range(n_columns):
                p = places[row, j]
                low[subset, j] = p if rest == 0 else min(p, low[rest, j])
                high[subset, j] = p if rest == 0 else max(p, high[rest, j])
                cost += cell_cost(costs, j, low[subset, j], high[subset, j])
            out[subset] = cost * sizes[subset]
    return out
