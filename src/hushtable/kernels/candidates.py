"""Rows that match what an attacker knows: known records, looked up in an index; near rows; rows that queries select."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import jit, jit_bare, jit_inner
from hushtable.kernels.rows import ByteArray


@jit_bare
def count_matches(
    codes: CodeArray,
    columns: CodeArray,
    lows: CodeArray,
    highs: CodeArray,
    negated: NDArray[np.bool_],
    limit: int,
    counts: CountArray,
    last: CountArray,
) -> None:
    """Count the rows that each query selects, up to one more than a limit; ``last`` is the last one counted, or -1.

    A condition, of (n_queries, n_conditions), is a column and the codes that it may have or, ``negated``, must not
    have.
    """
    n_queries, n_conditions = columns.shape
    for query in range(n_queries):
        n_found = 0
        last_match = -1
        for row in range(codes.shape[1]):
            holds = True
            for c in range(n_conditions):
                code = codes[columns[query, c], row]
                inside = lows[query, c] <= code <= highs[query, c]
                if inside == negated[query, c]:
                    holds = False
                    break
            if holds:
                n_found += 1
                last_match = row
                if n_found > limit:
                    break
        counts[query] = n_found
        last[query] = last_match


class LookedUp(NamedTuple):
    """Published rows, grouped by person."""

    cells: CodeArray  # (n_rows, n_columns), which cell of `runs` each is
    runs: CountArray  # (n_cells, 3), positions from one to below another, and where its bits begin; -1: all of them
    bits: ByteArray  # 1 at the positions of a run that a cell stands for
    persons: CodeArray
    starts: CountArray  # (n_persons + 1,), where the rows of a person begin
    order: CodeArray  # rows in the order of the index


class Sought(NamedTuple):
    """Known records, grouped by trial."""

    runs: CountArray  # (n_records, n_columns, 3), what is known of each value, as in `LookedUp.runs`
    windows: CountArray  # (n_records, n_windows, 2), the runs of the index that hold every row which may be the record
    starts: CountArray  # (n_trials + 1,), where the records of a trial begin


@jit_inner
def _fits_record(looked: LookedUp, row: int, record_runs: CountArray, record: int) -> bool:
    """Tell whether a published row may be a known record: whether they share a position in every column."""
    for j in range(record_runs.shape[1]):
        cell = looked.cells[row, j]
        low = max(looked.runs[cell, 0], record_runs[record, j, 0])
        high = min(looked.runs[cell, 1], record_runs[record, j, 1])
        if low >= high:
            return False
        cell_bits, record_bits = looked.runs[cell, 2], record_runs[record, j, 2]
        if cell_bits < 0 and record_bits < 0:
            continue
        cell_bits -= looked.runs[cell, 0] if cell_bits >= 0 else 0
        record_bits -= record_runs[record, j, 0] if record_bits >= 0 else 0
        is_shared = False
        for position in range(low, high):
            if (looked.runs[cell, 2] < 0 or looked.bits[cell_bits + position]) and (
                record_runs[record, j, 2] < 0 or looked.bits[record_bits + position]
            ):
                is_shared = True
                break
        if not is_shared:
            return False
    return True


@jit_inner
def _has_all(looked: LookedUp, person: int, record_runs: CountArray, run: tuple[int, int], room: CountArray) -> bool:
    """Tell whether a person has a different row for each known record: a bipartite matching by augmenting paths.

    ``room`` holds, by record, its row, the record that asked it for that row (-2: not asked yet), and a queue.
    """
    first, last = run
    n = last - first
    for i in range(n):
        room[0, i] = -1
    for i in range(n):
        for q in range(n):
            room[1, q] = -2
        room[1, i], room[2, 0] = -1, i
        head, tail, is_placed = 0, 1, False
        while head < tail and not is_placed:
            record = room[2, head]
            head += 1
            for row in range(looked.starts[person], looked.starts[person + 1]):
                if not _fits_record(looked, row, record_runs, first + record):
                    continue
                owner = -1
                for q in range(n):
                    if room[0, q] == row:
                        owner = q
                if owner < 0:
                    # A free row ends the path: going back, each record takes the row of the one it asked.
                    free = row
                    while record >= 0:
                        freed = room[0, record]
                        room[0, record] = free
                        free, record = freed, room[1, record]
                    is_placed = True
                    break
                if room[1, owner] == -2:
                    room[1, owner] = record
                    room[2, tail] = owner
                    tail += 1
        if not is_placed:
            return False
    return True


@jit
def count_candidates(looked: LookedUp, sought: Sought, enough: int, counts: CountArray, first: CodeArray) -> None:
    """Count the persons who may have all known records of each trial, up to ``enough``; ``first`` is one, or -1."""
    n_persons, n_trials = looked.starts.size - 1, sought.starts.size - 1
    last_trial = np.full(n_persons, -1, dtype=np.int32)
    largest = 1
    for t in range(n_trials):
        largest = max(largest, sought.starts[t + 1] - sought.starts[t])
    room = np.empty((3, largest), dtype=np.int64)
    for t in range(n_trials):
        run = (sought.starts[t], sought.starts[t + 1])
        counts[t], first[t] = 0, -1
        for w in range(sought.windows.shape[1]):
            for i in range(sought.windows[run[0], w, 0], sought.windows[run[0], w, 1]):
                row = looked.order[i]
                person = looked.persons[row]
                if last_trial[person] == t or not _fits_record(looked, row, sought.runs, run[0]):
                    continue
                last_trial[person] = t
                if run[1] - run[0] == 1 or _has_all(looked, person, sought.runs, run, room):
                    if counts[t] == 0:
                        first[t] = person
                    counts[t] += 1
                    if counts[t] >= enough:
                        break
            if counts[t] >= enough:
                break


class RoughRows(NamedTuple):
    """Distinct rows, sorted by the exactly known columns, then by the first roughly known one."""

    codes: CodeArray  # (n_columns, n_rows), the columns that are known roughly; -1 is missing
    low: CodeArray  # (n_columns, n_rows), the codes that are as near as is tolerated, from this one
    high: CodeArray  # to below this one
    starts: CountArray  # (n_rows,), where the rows begin that agree on all columns that are known exactly
    ends: CountArray  # where they end
    counts: CountArray


@jit
def count_near_records(near: RoughRows, enough: int, counts: CountArray) -> None:
    """Count, for every row, the records that are as near as is tolerated, its own included, up to ``enough``."""
    n_columns, n_rows = near.codes.shape
    first = near.codes[0]
    begin = end = 0
    for i in range(n_rows):
        if i == 0 or near.starts[i] != near.starts[i - 1]:
            begin = end = near.starts[i]
        while begin < near.ends[i] and first[begin] < near.low[0, i]:
            begin += 1
        end = max(end, begin)
        while end < near.ends[i] and first[end] < near.high[0, i]:
            end += 1
        n = 0
        for row in range(begin, end):
            is_near = True
            for j in range(1, n_columns):
                if near.codes[j, row] < near.low[j, i] or near.codes[j, row] >= near.high[j, i]:
                    is_near = False
                    break
            if is_near:
                n += near.counts[row]
                if n >= enough:
                    break
        counts[i] = n
