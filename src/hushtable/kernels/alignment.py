"""Align the records of several persons into lines, so that the cells that each line publishes grow least."""

from __future__ import annotations

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.kernels._jit import jit, jit_inner


@jit_inner
def _augment(
    costs: FloatArray,
    n_columns: int,
    row: int,
    row_duals: FloatArray,
    column_duals: FloatArray,
    path: CountArray,
    row_of_column: CountArray,
    column_of_row: CountArray,
    shortest: FloatArray,
    is_row_seen: BoolArray,
    is_column_seen: BoolArray,
    remaining: CountArray,
) -> None:
    """Assign one more row by the shortest augmenting path."""
    # In reverse, so that equal costs are assigned in order.
    for j in range(n_columns):
        remaining[j] = n_columns - j - 1
        shortest[j], is_column_seen[j] = np.inf, False
    is_row_seen[:] = False
    n_remaining, reached, sink, i = n_columns, 0.0, -1, row
    while sink < 0:
        index, lowest = -1, np.inf
        is_row_seen[i] = True
        for k in range(n_remaining):
            j = remaining[k]
            reduced = reached + costs[i, j] - row_duals[i] - column_duals[j]
            if reduced < shortest[j]:
                path[j], shortest[j] = i, reduced
            # Of several at the lowest cost one that is free ends the search.
            if shortest[j] < lowest or (shortest[j] == lowest and row_of_column[j] == -1):
                lowest, index = shortest[j], k
        reached = lowest
        j = remaining[index]
        if row_of_column[j] == -1:
            sink = j
        else:
            i = row_of_column[j]
        is_column_seen[j] = True
        n_remaining -= 1
        remaining[index] = remaining[n_remaining]
    row_duals[row] += reached
    for other in range(row):
        if is_row_seen[other]:
            row_duals[other] += reached - shortest[column_of_row[other]]
    for j in range(n_columns):
        if is_column_seen[j]:
            column_duals[j] -= reached - shortest[j]
    j, i = sink, -1
    while i != row:
        i = path[j]
        row_of_column[j] = i
        column_of_row[i], j = j, column_of_row[i]


@jit_inner
def _measure_growth(
    positions: FloatArray,
    lines: CountArray,
    n_aligned: int,
    candidates: CountArray,
    low: FloatArray,
    high: FloatArray,
    shares: FloatArray,
    weights: FloatArray,
    costs: FloatArray,
) -> None:
    """Measure by how much each record widens each line that some persons have already."""
    for i in range(lines.shape[1]):
        for k in range(candidates.shape[0]):
            total = 0.0
            for j in range(shares.shape[0]):
                value = positions[candidates[k], j]
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
                elif not is_missing and not np.isnan(low[i, j]):
                    growth = (max(high[i, j], value) - min(low[i, j], value)) - (high[i, j] - low[i, j])
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
    costs = np.empty((n_lines, most))
    path, row_of_column, remaining = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    shortest, column_duals = np.empty(most), np.empty(most)
    column_of_row, row_duals = np.empty(n_lines, np.int64), np.empty(n_lines)
    is_row_seen, is_column_seen = np.empty(n_lines, np.bool_), np.empty(most, np.bool_)
    low, high = np.empty((n_lines, n_columns)), np.empty((n_lines, n_columns))
    for member in range(n_members):
        person = persons[order[member]]
        candidates = rows[starts[person] : starts[person + 1]]
        for i in range(n_lines):
            column_of_row[i] = i
        if member > 0 and most > 1:
            _measure_growth(positions, lines, member, candidates, low, high, shares, alignment_weights, costs)
            column_of_row[:], row_of_column[:], row_duals[:], column_duals[:] = -1, -1, 0.0, 0.0
            for i in range(n_lines):
                _augment(
                    costs,
                    candidates.shape[0],
                    i,
                    row_duals,
                    column_duals,
                    path,
                    row_of_column,
                    column_of_row,
                    shortest,
                    is_row_seen,
                    is_column_seen,
                    remaining,
                )
        for i in range(n_lines):
            row = candidates[column_of_row[i]]
            lines[member, i] = row
            for j in range(n_columns):
                value = positions[row, j]
                if member == 0:
                    low[i, j], high[i, j] = value, value
                elif not np.isnan(value):
                    low[i, j] = value if np.isnan(low[i, j]) else min(low[i, j], value)
                    high[i, j] = value if np.isnan(high[i, j]) else max(high[i, j], value)
    total = _measure_lines(positions, lines, shares, weights, np.empty(n_members))
    return lines, total * n_members + cost_left_out, n_left_out
