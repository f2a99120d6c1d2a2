"""Cheapest rows: those of a table whose differing cells cost a target least, found in a tree of boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CountArray, FloatArray
from hushtable.kernels._jit import jit_bare, jit_inner

CellValues = NDArray[np.float32]


@jit_inner
def _box_cost(target: CellValues, weights: CellValues, box: CellValues, n_numbers: int, enough: float) -> float:
    """Return a lower bound of the costs of the rows in a box (2, n_columns): the least and the greatest cells."""
    cost = 0.0
    for j in range(target.size):
        if j < n_numbers:
            gap = max(box[0, j] - target[j], target[j] - box[1, j], 0.0)
            cost += float(gap * gap)
        elif target[j] < box[0, j] or target[j] > box[1, j]:
            cost += float(weights[j - n_numbers])
        if cost >= enough:
            return cost
    return cost


@jit_inner
def _row_cost(target: CellValues, weights: CellValues, row: CellValues, n_numbers: int, enough: float) -> float:
    """Return what the cells cost in which a row differs from a target, or any cost from ``enough`` on."""
    cost = 0.0
    for j in range(n_numbers):
        gap = row[j] - target[j]
        cost += float(gap * gap)
    for j in range(n_numbers, target.size):
        if row[j] != target[j]:
            cost += float(weights[j - n_numbers])
            if cost >= enough:
                return cost
    return cost


@jit_bare
def find_cheapest(
    targets: CellValues,
    weights: CellValues,
    n_numbers: int,
    rows: CellValues,
    boxes: CellValues,
    stack: FloatArray,
    near: CountArray,
    costs: FloatArray,
) -> None:
    """Find for every target the rows of least cost, cheapest first, and what they cost.

    The first columns are numbers, which cost the square of their difference; another cell that differs costs what
    ``weights`` (n_targets, n_columns - n_numbers) says of the target. ``boxes`` (n_nodes, 2, n_columns) are a full
    binary tree whose leaves are equal runs of the rows; ``stack`` (n, 2) is working memory for two nodes a level.
    """
    n_near, n_leaves = near.shape[1], (boxes.shape[0] + 1) // 2
    for target in range(targets.shape[0]):
        cells, of_cells = targets[target], weights[target]
        n_found, n_open, worst = 0, 1, np.inf
        stack[0, 0], stack[0, 1] = 0.0, 0.0
        while n_open > 0:
            n_open -= 1
            if stack[n_open, 1] >= worst:
                continue
            node = int(stack[n_open, 0])
            if node < n_leaves - 1:
                left = _box_cost(cells, of_cells, boxes[2 * node + 1], n_numbers, worst)
                right = _box_cost(cells, of_cells, boxes[2 * node + 2], n_numbers, worst)
                # The cheaper child is looked at first, so that the other is often skipped.
                first = int(right < left)
                stack[n_open, 0], stack[n_open, 1] = 2.0 * node + 2.0 - first, max(left, right)
                stack[n_open + 1, 0], stack[n_open + 1, 1] = 2.0 * node + 1.0 + first, min(left, right)
                n_open += 2
                continue
            leaf = node - (n_leaves - 1)
            for row in range(leaf * rows.shape[0] // n_leaves, (leaf + 1) * rows.shape[0] // n_leaves):
                cost = _row_cost(cells, of_cells, rows[row], n_numbers, worst)
                if cost >= worst:
                    continue
                rank = min(n_found, n_near - 1)
                while rank > 0 and costs[target, rank - 1] > cost:
                    costs[target, rank] = costs[target, rank - 1]
                    near[target, rank] = near[target, rank - 1]
                    rank -= 1
                costs[target, rank] = cost
                near[target, rank] = row
                n_found = min(n_found + 1, n_near)
                if n_found == n_near:
                    worst = costs[target, n_near - 1]


@jit_bare
def sum_log_kernels(
    targets: CellValues, weights: CellValues, n_numbers: int, rows: CellValues, scale: float, sums: FloatArray
) -> None:
    """Compute for every target the logarithm of the sum, over all rows, of exp(-cost / scale)."""
    for target in range(targets.shape[0]):
        top, total = -np.inf, 0.0
        for row in range(rows.shape[0]):
            exponent = -_row_cost(targets[target], weights[target], rows[row], n_numbers, np.inf) / scale
            # In logarithms, relative to the greatest so far: far rows underflow to 0 only beside nearer ones.
            if exponent > top:
                total = total * np.exp(top - exponent) + 1.0
                top = exponent
            else:
                total += np.exp(exponent - top)
        sums[target] = top + np.log(total)
