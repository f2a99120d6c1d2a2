"""Count the rows or persons that match what an attacker knows: known records, a query, or approximate values."""

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
    """Count the rows that each query selects, up to ``limit + 1``; ``last`` gets the last row counted, or -1.

    ``columns``, ``lows``, ``highs`` and ``negated`` have the shape (n_queries, n_conditions). A condition holds if the
    code of its column lies between low and high, both included; if it is negated, outside of them.
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
    """Published rows, grouped by person, and an index of them.

    A cell stands for the positions of a run, or, if it has bits, for some of them.
    """

    cells: CodeArray  # (n_rows, n_columns), the row of `runs`
    runs: CountArray  # (n_cells, 3): first position, last position + 1, and where its bits begin (-1: no bits)
    bits: ByteArray  # for each position of a run, 1 if the cell stands for it
    persons: CodeArray  # (n_rows,), the person of each row
    starts: CountArray  # (n_persons + 1,), where the rows of a person begin
    order: CodeArray  # rows in the order of the index


class Sought(NamedTuple):
    """Known records, grouped by trial."""

    runs: CountArray  # (n_records, n_columns, 3), the possible positions of each value, as in `LookedUp.runs`
    windows: CountArray  # (n_records, n_windows, 2), parts of `LookedUp.order` with all possible rows of a record
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
        # From here on, the index of a position's bit is the position plus these; they may be negative.
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
def _place_record(
    looked: LookedUp, person: int, record_runs: CountArray, run: tuple[int, int], start: int, scratch: CountArray
) -> bool:
    """Give one more known record a row of a person that no other record has, by an augmenting path, if there is one.

    ``run`` is the first known record, and the last + 1; ``start`` the record to place, counted from the first.
    ``scratch`` has three rows: for each record the row that it has (-1: none); the record that asked it to give up
    that row (-2: not asked yet); and a queue of records.
    """
    first, last = run
    n_records = last - first
    for other in range(n_records):
        scratch[1, other] = -2
    scratch[1, start], scratch[2, 0] = -1, start
    head, tail = 0, 1
    while head < tail:
        record = scratch[2, head]
        head += 1
        for row in range(looked.starts[person], looked.starts[person + 1]):
            if not _fits_record(looked, row, record_runs, first + record):
                continue
            owner = -1
            for other in range(n_records):
                if scratch[0, other] == row:
                    owner = other
            if owner < 0:
                # A free row ends the path. Going back, each record takes the free row, and its old row becomes free
                # for the record that asked for it.
                free = row
                while record >= 0:
                    freed = scratch[0, record]
                    scratch[0, record] = free
                    free, record = freed, scratch[1, record]
                return True
            if scratch[1, owner] == -2:
                scratch[1, owner] = record
                scratch[2, tail] = owner
                tail += 1
    return False


@jit_inner
def _has_all(looked: LookedUp, person: int, record_runs: CountArray, run: tuple[int, int], scratch: CountArray) -> bool:
    """Tell whether a person has a different row for each known record: a bipartite matching."""
    n_records, n_placed = run[1] - run[0], 0
    scratch[0, :n_records] = -1
    while n_placed < n_records and _place_record(looked, person, record_runs, run, n_placed, scratch):
        n_placed += 1
    return n_placed == n_records


@jit
def count_candidates(looked: LookedUp, sought: Sought, enough: int, counts: CountArray, first: CodeArray) -> None:
    """Count the persons who may have all known records of each trial, up to ``enough``.

    ``first`` gets the first person found, or -1.
    """
    n_persons, n_trials = looked.starts.size - 1, sought.starts.size - 1
    # By person: the last trial that looked at them with a row that fits, so that nobody is counted twice.
    last_trial = np.full(n_persons, -1, dtype=np.int32)
    largest = 1
    for trial in range(n_trials):
        largest = max(largest, sought.starts[trial + 1] - sought.starts[trial])
    scratch = np.empty((3, largest), dtype=np.int64)
    for trial in range(n_trials):
        run = (sought.starts[trial], sought.starts[trial + 1])
        counts[trial], first[trial] = 0, -1
        # A person who has all known records has the first one, too.
        for window in range(sought.windows.shape[1]):
            for i in range(sought.windows[run[0], window, 0], sought.windows[run[0], window, 1]):
                row = looked.order[i]
                person = looked.persons[row]
                if last_trial[person] == trial or not _fits_record(looked, row, sought.runs, run[0]):
                    continue
                last_trial[person] = trial
                if run[1] - run[0] == 1 or _has_all(looked, person, sought.runs, run, scratch):
                    if counts[trial] == 0:
                        first[trial] = person
                    counts[trial] += 1
                    if counts[trial] >= enough:
                        break
            if counts[trial] >= enough:
                break


@jit_inner
def _score_by_matching(
    looked: LookedUp, person: int, sought: Sought, trial: int, weights: NDArray[np.float64], scratch: CountArray
) -> float:
    """Return the largest weight of known records that a person has different rows for.

    The heaviest records come first. Sets of records that can be placed together are a matroid, so greed is optimal.
    """
    run = (sought.starts[trial], sought.starts[trial + 1])
    scratch[0, : run[1] - run[0]] = -1
    score = 0.0
    for i in range(run[1] - run[0]):
        if _place_record(looked, person, sought.runs, run, i, scratch):
            score += weights[run[0] + i]
    return score


class RankedPersons(NamedTuple):
    """Which persons score highest in each trial, shape (n_trials,)."""

    n_near: CountArray  # persons whose score is nearer to the highest than the limit; those with the highest, too
    n_best: CountArray  # persons with the highest score
    best: CodeArray  # one of them; -1 where every score is 0


@jit
def rank_candidates(
    looked: LookedUp, sought: Sought, weights: NDArray[np.float64], limit: float, ranking: RankedPersons
) -> None:
    """Score every person by the weights of the known records that they may have, and rank them.

    ``weights`` (n_records,) are positive, and descend within a trial. ``limit`` counts standard deviations of the
    scores of all persons.
    """
    n_persons, n_rows = looked.starts.size - 1, looked.persons.size
    last_trial, last_record = np.full(n_persons, -1, dtype=np.int32), np.full(n_persons, -1, dtype=np.int32)
    # A row that fits two records counts for one of them only: then the person's rows are matched.
    is_shared, row_trial = np.zeros(n_persons, dtype=np.bool_), np.full(n_rows, -1, dtype=np.int32)
    scores, touched = np.empty(n_persons), np.empty(n_persons, dtype=np.int32)
    largest = 1
    for trial in range(sought.starts.size - 1):
        largest = max(largest, sought.starts[trial + 1] - sought.starts[trial])
    scratch = np.empty((3, largest), dtype=np.int64)
    for trial in range(sought.starts.size - 1):
        n_touched = 0
        for record in range(sought.starts[trial], sought.starts[trial + 1]):
            for window in range(sought.windows.shape[1]):
                for i in range(sought.windows[record, window, 0], sought.windows[record, window, 1]):
                    row = looked.order[i]
                    if not _fits_record(looked, row, sought.runs, record):
                        continue
                    person = looked.persons[row]
                    if last_trial[person] != trial:
                        last_trial[person], last_record[person] = trial, -1
                        scores[person], is_shared[person] = 0.0, False
                        touched[n_touched] = person
                        n_touched += 1
                    if last_record[person] != record:
                        last_record[person] = record
                        scores[person] += weights[record]
                    is_shared[person] |= row_trial[row] == trial
                    row_trial[row] = trial
        total, squares, best = 0.0, 0.0, 0.0
        for person in touched[:n_touched]:
            if is_shared[person]:
                scores[person] = _score_by_matching(looked, person, sought, trial, weights, scratch)
            total += scores[person]
            squares += scores[person] ** 2
            best = max(best, scores[person])
        n_scores = max(n_persons, 1)
        deviation = np.sqrt(max(squares / n_scores - (total / n_scores) ** 2, 0.0))
        enough = best - limit * deviation
        # Whoever fits no known record has a score of 0.
        n_near, n_best, first = n_persons - n_touched if enough < 0.0 else 0, 0, -1
        for person in touched[:n_touched]:
            if scores[person] == best:
                n_best += 1
                first = person
            if scores[person] == best or scores[person] > enough:
                n_near += 1
        ranking.n_near[trial], ranking.n_best[trial], ranking.best[trial] = n_near, n_best, first


class RoughRows(NamedTuple):
    """Distinct rows, sorted by the exactly known columns, then by the first roughly known one."""

    codes: CodeArray  # (n_columns, n_rows), of the roughly known columns; -1 is missing
    low: CodeArray  # (n_columns, n_rows), the lowest code within the tolerance of each code
    high: CodeArray  # (n_columns, n_rows), the highest code within the tolerance, + 1
    starts: CountArray  # (n_rows,), the first row that agrees with each row on all exactly known columns
    ends: CountArray  # (n_rows,), the last such row, + 1
    counts: CountArray  # (n_rows,), the records of each row


@jit
def count_near_records(near: RoughRows, enough: int, counts: CountArray) -> None:
    """Count for every row the records within the tolerance, its own included, until there are ``enough``."""
    n_columns, n_rows = near.codes.shape
    first = near.codes[0]
    # Rows from begin to end are near in the first column: a window that moves on with the sorted rows.
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
