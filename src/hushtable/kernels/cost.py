"""What rows cost that publish one candidate value in every column, and the cheapest partition of a few rows."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit, jit_bare, jit_inner, record_dtype

COLUMN: Final = record_dtype(
    ("begin", np.int64),  # its places follow from here on
    ("star", np.float64),  # what "*" costs
    ("is_span", np.bool_),  # whether intervals are candidates, else the nodes of a hierarchy
)

NODE: Final = record_dtype(
    ("least", np.float64),  # the least cost of the node over a place and of all above it
    ("node", np.int32),
)


class Costs(NamedTuple):
    """The cheapest common candidate of the values from one place to another, in every column.

    Place 0 is missing; leaves stand in the order of branches, so that what two share, all between them share.
    """

    columns: NDArray[Any]  # COLUMN (n_columns,)
    positions: FloatArray  # (n_places,), of a span column, times its weight
    nodes: NDArray[Any]  # NODE (n_levels, n_places)


@jit_inner
def cell_cost(costs: Costs, j: int, low: int, high: int) -> float:
    """Return what one cell costs that covers the places from ``low`` to ``high``."""
    if low == high:
        return 0.0
    column = costs.columns[j]
    if low == 0:
        return float(column.star)
    first, last = column.begin + low, column.begin + high
    if column.is_span:
        return float(costs.positions[last] - costs.positions[first])
    level = 1
    while costs.nodes[level, first].node != costs.nodes[level, last].node:
        level += 1
    return float(costs.nodes[level, first].least)


def pair_costs(places: CodeArray, costs: Costs) -> FloatArray:
    """Return what one row costs when it is made equal to another; float64 (n_rows, n_rows)."""
    out = np.zeros((len(places), len(places)))
    _cost_pairs(places, costs, out)
    return out


@jit_bare
def _cost_pairs(places: CodeArray, costs: Costs, out: FloatArray) -> None:
    n_rows, n_columns = places.shape
    for a in range(n_rows):
        for b in range(a + 1, n_rows):
            cost = 0.0
            for j in range(n_columns):
                p, q = int(places[a, j]), int(places[b, j])
                if p != q:
                    cost += cell_cost(costs, j, min(p, q), max(p, q))
            out[a, b] = cost
            out[b, a] = cost


@jit_bare
def find_nearest(
    places: CodeArray,
    costs: Costs,
    n_near: int,
    near: CodeArray,
    distances: FloatArray,
    begin: int = 0,
    end: int = 2**31 - 1,
) -> None:
    """Find for the rows ``begin`` to ``end`` - 1 the others that each is made equal to most cheaply, cheapest first."""
    n_rows, n_columns = places.shape
    for a in range(begin, min(end, n_rows)):
        n_found = 0
        for b in range(n_rows):
            if a == b:
                continue
            worst = distances[a, n_near - 1] if n_found == n_near else np.inf
            cost = 0.0
            for j in range(n_columns):
                p, q = int(places[a, j]), int(places[b, j])
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


@jit_bare
def block_costs(places: CodeArray, costs: Costs, offsets: CountArray, rows: CodeArray, out: FloatArray) -> None:
    """Cost one row of each block ``rows[offsets[b]:offsets[b + 1]]``."""
    for block in range(offsets.size - 1):
        begin, end = offsets[block], offsets[block + 1]
        cost = 0.0
        for j in range(places.shape[1]):
            low = high = int(places[rows[begin], j])
            for i in range(begin, end):
                place = int(places[rows[i], j])
                low, high = min(low, place), max(high, place)
            cost += cell_cost(costs, j, low, high)
        out[block] = cost


def subset_costs(places: CodeArray, costs: Costs) -> FloatArray:
    """Cost all rows of every subset together; entry i is the subset of the bits of i."""
    n_rows, n_columns = places.shape
    spans, sizes = np.zeros((2, 1 << n_rows, n_columns), dtype=np.int32), np.zeros(1 << n_rows, dtype=np.int64)
    out = np.zeros(1 << n_rows)
    _cost_subsets(places, costs, spans, sizes, out)
    return out


@jit_bare
def _cost_subsets(places: CodeArray, costs: Costs, spans: CodeArray, sizes: CountArray, out: FloatArray) -> None:
    """Cost the subsets; ``spans`` and ``sizes`` are theirs, of the empty one 0."""
    n_rows, n_columns = places.shape
    for row in range(n_rows):
        first = 1 << row
        for rest in range(first):
            subset = first | rest
            sizes[subset] = sizes[rest] + 1
            cost = 0.0
            for j in range(n_columns):
                low = high = int(places[row, j])
                if rest > 0:
                    low, high = min(low, int(spans[0, rest, j])), max(high, int(spans[1, rest, j]))
                spans[0, subset, j], spans[1, subset, j] = low, high
                cost += cell_cost(costs, j, low, high)
            out[subset] = cost * sizes[subset]


COST_TOLERANCE = 1e-9
"""Costs that differ by less are equal: they are sums of the same floats in another order."""


@jit
def cheapest_partitions(
    first: FloatArray, second: FloatArray, is_block: BoolArray, value: FloatArray, again: FloatArray, ways: FloatArray
) -> tuple[CountArray, int, int, int]:
    """Find the cheapest partition of every subset into blocks; return blocks, and what was settled, pruned, looked up.

    Blocks come by their lowest row, and the first is returned. ``second`` decides among equals; ``value`` and ``again``
    are both costs of the best, inf where there is none, ``ways`` how many have the same first cost (as floats: very
    many).
    """
    n_subsets = first.size
    blocks = np.zeros(n_subsets, np.int64)
    value[:] = np.inf
    value[0] = again[0] = 0.0
    ways[0] = 1.0
    n_settled = n_pruned = n_looked_up = 0
    for free in range(1, n_subsets):
        lowest = free & -free
        others = free ^ lowest
        best, best_again, n_ways = np.inf, np.inf, 0.0
        rest = others
        while True:
            block = lowest | rest
            if is_block[block]:
                n_looked_up += 1
                if first[block] > best + COST_TOLERANCE:
                    n_pruned += 1
                else:
                    cost = first[block] + value[free ^ block]
                    if cost < best - COST_TOLERANCE:
                        best, best_again, n_ways, blocks[free] = cost, np.inf, 0.0, block
                    if cost <= best + COST_TOLERANCE and cost < np.inf:
                        n_ways += ways[free ^ block]
                        if second[block] + again[free ^ block] < best_again - COST_TOLERANCE:
                            best_again = second[block] + again[free ^ block]
                            blocks[free] = block
            if rest == 0:
                break
            rest = (rest - 1) & others
        value[free], again[free], ways[free] = best, best_again, n_ways
        n_settled += int(best < np.inf)
    return blocks, n_settled, n_pruned, n_looked_up


@jit
def optimal_blocks(free: int, first: FloatArray, is_block: BoolArray, value: FloatArray) -> CodeArray:
    """List the blocks that hold the lowest free row in some cheapest partition of the free rows."""
    lowest = free & -free
    others = free ^ lowest
    blocks = np.empty(64, np.int32)
    n_found = 0
    rest = others
    while True:
        block = lowest | rest
        if is_block[block] and first[block] + value[free ^ block] <= value[free] + COST_TOLERANCE:
            if n_found == blocks.size:
                blocks = np.append(blocks, np.empty_like(blocks))
            blocks[n_found] = block
            n_found += 1
        if rest == 0:
            break
        rest = (rest - 1) & others
    return blocks[:n_found]
