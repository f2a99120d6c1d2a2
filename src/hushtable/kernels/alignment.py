"""Align the records of several persons into lines, so that the cells that each line publishes grow least."""

from __future__ import annotations

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.kernels._jit import jit, jit_inner


@jit_inner
def _augment(
    costs: FloatArray, n_columns: int, row: int, duals: FloatArray, ends: CountArray, seen: BoolArray, path: CountArray
) -> None:
    """Assign one more row by the shortest augmenting path.

    ``duals`` (3, n) are those of rows and columns, and what columns cost so far; ``ends`` (2, n) the row of each column
    and the column of each row; ``seen`` (2, n) rows and columns; ``path`` (2, n) the row before each column, and the
    columns that are left.
    """
    # In reverse, so that equal costs are assigned in order.
    for j in range(n_columns):
        path[1, j] = n_columns - j - 1
        duals[2, j] = np.inf
    seen[:] = False
    n_remaining, reached, sink, i = n_columns, 0.0, -1, row
    while sink < 0:
        index, lowest = -1, np.inf
        seen[0, i] = True
        for k in range(n_remaining):
            j = path[1, k]
            reduced = reached + costs[i, j] - duals[0, i] - duals[1, j]
            if reduced < duals[2, j]:
                path[0, j], duals[2, j] = i, reduced
            # Of several at the lowest cost one that is free ends the search.
            if duals[2, j] < lowest or (duals[2, j] == lowest and ends[0, j] == -1):
                lowest, index = duals[2, j], k
        reached = lowest
        j = path[1, index]
        if ends[0, j] == -1:
            sink = j
        else:
            i = ends[0, j]
        seen[1, j] = True
        n_remaining -= 1
        path[1, index] = path[1, n_remaining]
    duals[0, row] += reached
    for other in range(row):
        if seen[0, other]:
            duals[0, other] += reached - duals[2, ends[1, other]]
    for j in range(n_columns):
        if seen[1, j]:
            duals[1, j] -= reached - duals[2, j]
    j, i = sink, -1
    while i != row:
        i = path[0, j]
        ends[0, j] = i
        ends[1, i], j = j, ends[1, i]


@jit_inner
def _measure_growth(
    positions: FloatArray,
    lines: CountArray,
    n_aligned: int,
    candidates: CountArray,
    bounds: FloatArray,
    shares: FloatArray,
    weights: FloatArray,
    costs: FloatArray,
) -> None:
    """Measure by how much each record widens each line that some persons have already.

    ``bounds`` (2, n_lines, n_columns) are the lowest and highest positions of each line so far.
    """
    for i in range(lines.shape[1]):
        for k in range(candidates.shape[0]):
            total = 0.0
            for j in range(shares.shape[0]):
                value, low, high = positions[candidates[k], j], bounds[0, i, j], bounds[1, i, j]
                is_missing = np.isnan(value)
                is_first_missing = np.isnan(positions[lines[0, i], j])
                growth = 0.0
                if shares[j] > 0 or is_missing != is_first_missing:
                    # A set grows by a value that it lacks. A missing cell among others makes the whole domain the cell.
                    growth = shares[j] if is_missing == is_first_missing else 1.0
                    for member in range(n_aligned):
                        own = positions[lines[member, i], j]
                        if own == value or (is_missing and np.isnan(own)):
                            growth = 0.0
                            break
                elif not is_missing and not np.isnan(low):
                    growth = (max(high, value) - min(low, value)) - (high - low)
                total += growth * weights[j]
            costs[i, k] = total


@jit_inner
def _measure_lines(
    positions: FloatArray, lines: CountArray, shares: FloatArray, weights: FloatArray, values: FloatArray
) -> float:
    """Return the weighted shares of the columns' domains that all lines publish; ``values`` is working memory."""
    total, n_members = 0.0, lines.shape[0]
    for i in range(lines.shape[1]):
        for j in range(shares.shape[0]):
            n_missing, n_distinct, low, high = 0, 0, np.inf, -np.inf
            for member in range(n_members):
                value = positions[lines[member, i], j]
                if np.isnan(value):
                    n_missing, value = n_missing + 1, -1.0
                low, high = min(low, value), max(high, value)
                is_new = True
                for k in range(n_distinct):
                    is_new &= values[k] != value
                if is_new:
                    values[n_distinct] = value
                    n_distinct += 1
            if shares[j] > 0:
                share = n_distinct * shares[j] if n_distinct > 1 else 0.0
            elif n_missing > 0:
                share = 1.0 if n_missing < n_members else 0.0
            else:
                share = high - low
            total += min(share, 1.0) * weights[j]
    return total


@jit
def align_group(
    positions: FloatArray,
    rows: CountArray,
    starts: CountArray,
    persons: CountArray,
    shares: FloatArray,
    weights: FloatArray,
    alignment_weights: FloatArray,
) -> tuple[CountArray, float, int]:
    """Align the records of a group; return the rows of each line, the cost, and how many records are left out.

    Person p has the rows ``rows[starts[p]:starts[p + 1]]`` of ``positions``. The lines have the shape
    (n_members, n_lines). The person with the fewest records comes first; records of the others are assigned, at least
    growth (Crouse, "On implementing 2D rectangular assignment algorithms", 2016).
    """
    n_members, n_columns = persons.shape[0], shares.shape[0]
    lengths = starts[persons + 1] - starts[persons]
    order = np.argsort(lengths, kind="mergesort")
    n_lines, n_records, most = lengths[order[0]], lengths.sum(), lengths[order[n_members - 1]]
    lines = np.empty((n_members, n_lines), dtype=np.int64)
    n_left_out = n_records - n_lines * n_members
    cost_left_out = n_left_out * weights.sum()
    if n_lines == 0:
        return lines, cost_left_out, n_left_out
    costs, duals = np.empty((n_lines, most)), np.empty((3, most))
    ends, path = np.empty((2, most), np.int64), np.empty((2, most), np.int64)
    seen, bounds = np.empty((2, most), np.bool_), np.empty((2, n_lines, n_columns))
    for member in range(n_members):
        person = persons[order[member]]
        candidates = rows[starts[person] : starts[person + 1]]
        for i in range(n_lines):
            ends[1, i] = i
        if member > 0 and most > 1:
            _measure_growth(positions, lines, member, candidates, bounds, shares, alignment_weights, costs)
            ends[:], duals[:] = -1, 0.0
            for i in range(n_lines):
                _augment(costs, candidates.shape[0], i, duals, ends, seen, path)
        for i in range(n_lines):
            row = candidates[ends[1, i]]
            lines[member, i] = row
            for j in range(n_columns):
                value = positions[row, j]
                if member == 0:
                    bounds[:, i, j] = value
                elif not np.isnan(value):
                    low, high = bounds[0, i, j], bounds[1, i, j]
                    bounds[0, i, j] = value if np.isnan(low) else min(low, value)
                    bounds[1, i, j] = value if np.isnan(high) else max(high, value)
    total = _measure_lines(positions, lines, shares, weights, np.empty(n_members))
    return lines, total * n_members + cost_left_out, n_left_out
