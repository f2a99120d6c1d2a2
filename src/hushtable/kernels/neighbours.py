"""Nearest rows: by the cost of a class of two, block by block; and among the rows of another table, by distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit_bare, jit_inner
from hushtable.kernels.class_costs import KIND_SET, Space, pair_cost, run_cost


@jit_bare
def fill_bounds(space: Space, entries: CountArray, n_block: int, bounds: NDArray[np.float32]) -> None:
    """Set lower bounds (n_blocks, n_entries): the least cost of a code with any code of a block's rows."""
    n_rows = space.codes.shape[0]
    for block in range(bounds.shape[0]):
        for j in range(space.columns.size):
            n_places = entries[j + 1] - entries[j]
            for code in range(n_places):
                min_cost = np.inf
                for row in range(block * n_block, min(n_rows, (block + 1) * n_block)):
                    min_cost = min(min_cost, _code_cost(space, j, code, int(space.codes[row, j])))
                    if min_cost == 0.0:
                        break
                bounds[block, entries[j] + code] = min_cost


@jit_inner
def _code_cost(space: Space, j: int, code: int, other_code: int) -> float:
    column = space.columns[j]
    if code == other_code:
        return 0.0
    if column.kind == KIND_SET:
        return float(2.0 * column.each + column.rest)
    low, high = min(code, other_code), max(code, other_code)
    return float(space.table[column.begin + low * column.n_places + high])


@jit_bare
def find_nearest(
    space: Space,
    counts: CountArray,
    entries: CountArray,
    bounds: NDArray[np.float32],
    limits: tuple[int, int, int, int],
    near: CodeArray,
    costs: FloatArray,
) -> None:
    """Find the nearest rows (n_rows, n_near) of some rows, nearest first; -1 after the last. A double is near itself.

    ``limits`` are the rows in a block, how many blocks are looked at on either side, and the run of rows.
    """
    n_rows, n_near = near.shape
    n_block, n_sides, begin, end = limits
    for row in range(begin, min(end, n_rows)):
        own = row // n_block
        n_found = 0
        if counts[row] > 1:
            near[row, 0], costs[row, 0] = row, 0.0
            n_found = 1
        first, last = max(0, own - n_sides), min(bounds.shape[0], own + n_sides + 1)
        # Its own block first: near rows are known soon, and blocks far away are skipped.
        for turn in range(first - 1, last):
            block = own if turn < first else turn
            if turn == own:
                continue
            worst = costs[row, n_near - 1] if n_found == n_near else np.inf
            min_cost = 0.0
            for j in range(space.columns.size):
                if entries[j + 1] > entries[j]:
                    min_cost += bounds[block, entries[j] + space.codes[row, j]]
            if min_cost >= worst:
                continue
            for candidate in range(block * n_block, min(n_rows, (block + 1) * n_block)):
                if candidate == row:
                    continue
                worst = costs[row, n_near - 1] if n_found == n_near else np.inf
                cost = pair_cost(space, row, candidate, worst)
                if cost >= worst:
                    continue
                rank = min(n_found, n_near - 1)
                while rank > 0 and costs[row, rank - 1] > cost:
                    costs[row, rank] = costs[row, rank - 1]
                    near[row, rank] = near[row, rank - 1]
                    rank -= 1
                costs[row, rank] = cost
                near[row, rank] = candidate
                n_found = min(n_found + 1, n_near)
        for rank in range(n_found, n_near):
            near[row, rank] = -1


@jit_inner
def _triple_cost(space: Space, first: int, second: int, third: int) -> float:
    """Return the cost of each row in a class of three."""
    total = 0.0
    for j in range(space.columns.size):
        p, q, r = int(space.codes[first, j]), int(space.codes[second, j]), int(space.codes[third, j])
        if space.columns[j].kind == KIND_SET:
            n_codes = 1 + int(p != q) + int(r not in (p, q))
            if n_codes > 1:
                total += n_codes * space.columns[j].each + space.columns[j].rest
        else:
            total += run_cost(space, j, min(p, q, r), max(p, q, r))
    return total


@jit_bare
def split_rings(space: Space, following: CodeArray, labels: CodeArray, ring: CodeArray, edges: FloatArray) -> int:
    """Cut rings, in which each row has a ``following`` one, into classes of two or three rows; return how many."""
    n_classes = 0
    for row in range(following.size):
        if labels[row] >= 0:
            continue
        length = 0
        member = row
        while labels[member] < 0:
            labels[member] = 0
            ring[length] = member
            length += 1
            member = int(following[member])
        for i in range(length):
            edges[i] = 2.0 * pair_cost(space, int(ring[i]), int(ring[(i + 1) % length]), 1e300)
        # The sum over every other edge, from the third after a start on; two places further, two edges change.
        first, start, min_cost = length % 2 * 3, 0, 1e300
        total = 0.0
        for i in range(first, length - 1, 2):
            total += edges[i]
        for turn in range(length if first else 2):
            if first:
                at = 2 * turn % length
                cost = total + 3.0 * _triple_cost(
                    space, int(ring[at]), int(ring[(at + 1) % length]), int(ring[(at + 2) % length])
                )
                total += edges[at] - edges[(at + 3) % length] if length > 3 else 0.0
            else:
                at = turn
                cost = total
                for i in range(length):
                    cost += edges[i] * (i % 2) - edges[i] * (1 - i % 2) if turn == 1 else 0.0
            if cost < min_cost:
                min_cost, start = cost, at
        for i in range(length):
            labels[ring[(start + i) % length]] = n_classes + (max(0, i - first) // 2 + int(first > 0 and i >= 3))
        n_classes += length // 2
    return n_classes


@jit_inner
def _row_distance(first: FloatArray, second: FloatArray, n_numbers: int, enough: float) -> float:
    """Return the distance of two rows, or any number from ``enough`` on; cells that only one of them has are ignored.

    The compared cells and an imagined one that differs are scaled to all: few cells make no row near to all others.
    """
    distance = 0.0
    n_compared = 0
    for j in range(first.size):
        a, b = first[j], second[j]
        if np.isnan(a) != np.isnan(b):
            continue
        n_compared += 1
        if a == b or np.isnan(a):
            continue
        distance += 1.0 if j >= n_numbers else abs(a - b)
        # The cells left, and the scaling, can only make it larger.
        if distance >= enough:
            return distance
    if n_compared == first.size:
        return distance
    return (distance + 1.0) * (first.size + 1) / (n_compared + 1) - 1.0


@jit_bare
def find_nearest_rows(
    targets: FloatArray, candidates: FloatArray, n_numbers: int, near: CountArray, distances: FloatArray
) -> None:
    """Find the nearest candidates of every target, nearest first, of equally near ones the first; NaN is missing.

    The first columns are numbers, scaled; two cells of the others differ by 0 or 1. There are n_near candidates at
    least.
    """
    n_near = near.shape[1]
    for target in range(targets.shape[0]):
        n_found = 0
        worst = np.inf
        for row in range(candidates.shape[0]):
            distance = _row_distance(targets[target], candidates[row], n_numbers, worst)
            if distance >= worst:
                continue
            rank = min(n_found, n_near - 1)
            while rank > 0 and distances[target, rank - 1] > distance:
                distances[target, rank] = distances[target, rank - 1]
                near[target, rank] = near[target, rank - 1]
                rank -= 1
            distances[target, rank] = distance
            near[target, rank] = row
            n_found = min(n_found + 1, n_near)
            if n_found == n_near:
                worst = distances[target, n_near - 1]


@jit_bare
def share_nearest(
    targets: FloatArray,
    candidates: FloatArray,
    n_numbers: int,
    counts: CountArray,
    tied: CountArray,
    shares: FloatArray,
) -> None:
    """Count for every candidate the targets that it is nearest to; equally near records share a target."""
    for target in range(targets.shape[0]):
        min_distance = np.inf
        n_tied, n_records = 0, 0
        for row in range(candidates.shape[0]):
            # Ties count, so that the distance must be known up to the least one itself.
            distance = _row_distance(targets[target], candidates[row], n_numbers, np.nextafter(min_distance, np.inf))
            if distance > min_distance:
                continue
            if distance < min_distance:
                min_distance, n_tied, n_records = distance, 0, 0
            tied[n_tied] = row
            n_tied += 1
            n_records += counts[row]
        for row in tied[:n_tied]:
            shares[row] += counts[row] / n_records
