"""Costs of rows that publish one common value in every column, and the cheapest partition of a few rows."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit, jit_bare, jit_inner, record_dtype

COLUMN: Final = record_dtype(
    ("begin", np.int64),  # where the entries of its codes begin
    ("star", np.float64),  # what "*" costs
    ("is_span", np.bool_),  # whether intervals are candidates, else the nodes of a hierarchy
)

NODE: Final = record_dtype(
    ("least", np.float64),  # the least cost of the node over a code and of all above it
    ("node", np.int32),
)


class Costs(NamedTuple):
    """What the cheapest value costs that covers a run of codes, in every column.

    Code 0 is missing. Leaves are in depth-first order, so that a node over two leaves is over all between them.
    """

    columns: NDArray[Any]  # COLUMN (n_columns,)
    positions: FloatArray  # (n_entries,), of a span column, times its weight
    nodes: NDArray[Any]  # NODE (n_levels, n_entries)


@jit_inner
def cell_cost(costs: Costs, j: int, low: int, high: int) -> float:
    """Return the cost of one cell that covers the codes from ``low`` to ``high``."""
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


def pair_costs(codes: CodeArray, costs: Costs) -> FloatArray:
    """Return the cost of either row when two are made equal; float64 (n_rows, n_rows)."""
    matrix = np.zeros((len(codes), len(codes)))
    _cost_pairs(codes, costs, matrix)
    return matrix


@jit_bare
def _cost_pairs(codes: CodeArray, costs: Costs, matrix: FloatArray) -> None:
    n_rows, n_columns = codes.shape
    for a in range(n_rows):
        for b in range(a + 1, n_rows):
            cost = 0.0
            for j in range(n_columns):
                p, q = int(codes[a, j]), int(codes[b, j])
                if p != q:
                    cost += cell_cost(costs, j, min(p, q), max(p, q))
            matrix[a, b] = cost
            matrix[b, a] = cost


@jit_bare
def find_nearest(
    codes: CodeArray,
    costs: Costs,
    n_near: int,
    near: CodeArray,
    distances: FloatArray,
    begin: int = 0,
    end: int = 2**31 - 1,
) -> None:
    """Find, for the rows ``begin`` to ``end`` - 1, the other rows that are cheapest to be equal to, cheapest first."""
    n_rows, n_columns = codes.shape
    for a in range(begin, min(end, n_rows)):
        n_found = 0
        for b in range(n_rows):
            if a == b:
                continue
            worst = distances[a, n_near - 1] if n_found == n_near else np.inf
            cost = 0.0
            for j in range(n_columns):
                p, q = int(codes[a, j]), int(codes[b, j])
                if p != q:
                    cost += cell_cost(costs, j, min(p, q), max(p, q))
                    if cost >= worst:
                        break
            if cost >= worst:
                continue
            rank = min(n_found, n_near - 1)
            while rank > 0 and distances[a, rank - 1] > cost:
                distances[a, rank] = distances[a, rank - 1]
                near[a, rank] = near[a, rank - 1]
                rank -= 1
            distances[a, rank] = cost
            near[a, rank] = b
            n_found = min(n_found + 1, n_near)


@jit_bare
def block_costs(codes: CodeArray, costs: Costs, offsets: CountArray, rows: CodeArray, row_costs: FloatArray) -> None:
    """Cost one row of each block ``rows[offsets[b]:offsets[b + 1]]``."""
    for block in range(offsets.size - 1):
        begin, end = offsets[block], offsets[block + 1]
        cost = 0.0
        for j in range(codes.shape[1]):
            low = high = int(codes[rows[begin], j])
            for i in range(begin, end):
                code = int(codes[rows[i], j])
                low, high = min(low, code), max(high, code)
            cost += cell_cost(costs, j, low, high)
        row_costs[block] = cost


def subset_costs(codes: CodeArray, costs: Costs) -> FloatArray:
    """Return the cost of all rows of every subset as one block; the bits of i are the rows of subset i."""
    n_rows, n_columns = codes.shape
    spans, sizes = np.zeros((2, 1 << n_rows, n_columns), dtype=np.int32), np.zeros(1 << n_rows, dtype=np.int64)
    totals = np.zeros(1 << n_rows)
    _cost_subsets(codes, costs, spans, sizes, totals)
    return totals


@jit_bare
def _cost_subsets(codes: CodeArray, costs: Costs, spans: CodeArray, sizes: CountArray, totals: FloatArray) -> None:
    """Cost the subsets, each from the subset without its last row; ``spans`` and ``sizes`` are those of subsets."""
    n_rows, n_columns = codes.shape
    for row in range(n_rows):
        first = 1 << row
        for without_row in range(first):
            subset = first | without_row
            sizes[subset] = sizes[without_row] + 1
            cost = 0.0
            for j in range(n_columns):
                low = high = int(codes[row, j])
                if without_row > 0:
                    low, high = min(low, int(spans[0, without_row, j])), max(high, int(spans[1, without_row, j]))
                spans[0, subset, j], spans[1, subset, j] = low, high
                cost += cell_cost(costs, j, low, high)
            totals[subset] = cost * sizes[subset]


COST_TOLERANCE = 1e-9
"""Costs that differ by less are equal: they are sums of the same floats in another order."""


@jit
def cheapest_partitions(
    first: FloatArray, second: FloatArray, is_block: BoolArray, value: FloatArray, again: FloatArray, ways: FloatArray
) -> tuple[CountArray, int, int, int]:
    """Find the cheapest partition of every subset into blocks; return blocks, and how many were solved, pruned, tried.

    The block returned for a subset is that of its lowest row. ``second`` decides among equals; ``value`` and ``again``
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
        # Some block holds the lowest row: all its mates are tried.
        lowest = free & -free
        candidates = free ^ lowest
        best, best_again, n_ways = np.inf, np.inf, 0.0
        mates = candidates
        while True:
            block = lowest | mates
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
            if mates == 0:
                break
            mates = (mates - 1) & candidates
        value[free], again[free], ways[free] = best, best_again, n_ways
        n_settled += int(best < np.inf)
    return blocks, n_settled, n_pruned, n_looked_up


@jit
def optimal_blocks(free: int, first: FloatArray, is_block: BoolArray, value: FloatArray) -> CodeArray:
    """List the blocks that hold the lowest free row in some cheapest partition of the free rows."""
    lowest = free & -free
    candidates = free ^ lowest
    blocks = np.empty(64, np.int32)
    n_found = 0
    mates = candidates
    while True:
        block = lowest | mates
        if is_block[block] and first[block] + value[free ^ block] <= value[free] + COST_TOLERANCE:
            if n_found == blocks.size:
                blocks = np.append(blocks, np.empty_like(blocks))
            blocks[n_found] = block
            n_found += 1
        if mates == 0:
            break
        mates = (mates - 1) & candidates
    return blocks[:n_found]
