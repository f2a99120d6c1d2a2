"""The cheapest partition of a few rows, as a shortest path over the subsets that are still free."""

from __future__ import annotations

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit

__all__ = ["TIES", "cheapest_partitions", "optimal_blocks"]

TIES = 1e-9
"""Costs that differ by less are equal: they are sums of the same floats in another order."""


@jit
def cheapest_partitions(
    first: FloatArray, second: FloatArray, is_block: BoolArray, value: FloatArray, again: FloatArray, ways: FloatArray
) -> tuple[CountArray, int, int, int]:
    """Find the cheapest partition of every subset into blocks; return blocks, and what was settled, pruned, looked up.

    A subset's partition takes the block that holds its lowest row first, so that the order of
    the blocks is not tried.

    first, second : float64 (n_subsets,), what a block costs, and what decides among equals
    is_block : bool (n_subsets,)
    value, again : float64 (n_subsets,), out, the two costs of the best partition; inf where there is none
    ways : float64 (n_subsets,), out, partitions of the same first cost (a float: there may be very many)

    The block of a subset's best partition that holds its lowest row comes back as int64 (n_subsets,).
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
                if first[block] > best + TIES:
                    n_pruned += 1
                else:
                    cost = first[block] + value[free ^ block]
                    if cost < best - TIES:
                        best, best_again, n_ways, blocks[free] = cost, np.inf, 0.0, block
                    if cost <= best + TIES and cost < np.inf:
                        n_ways += ways[free ^ block]
                        if second[block] + again[free ^ block] < best_again - TIES:
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
        if is_block[block] and first[block] + value[free ^ block] <= value[free] + TIES:
            if n_found == blocks.size:
                blocks = np.append(blocks, np.empty_like(blocks))
            blocks[n_found] = block
            n_found += 1
        if rest == 0:
            break
        rest = (rest - 1) & others
    return blocks[:n_found]
