"""Who is alone with one target, in each of many draws of targets at once: a bit of a word says of each draw.

A draw is some of the targets. Whether a probe is alone among the probes does not depend on
the draw, so that one walk over column sets serves 64 of them. Nothing is lost to its pruning:
a class goes when none of its probes equals, in any draw in which it was not yet a hit, a
target there. The others' rows stay, for they still count against being alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import jit
from hushtable.kernels.uniques import Grid

__all__ = ["walk_draws"]


@jit
def walk_draws(grid: Grid, drawn: NDArray[np.int64], hit: NDArray[np.int64], pulse: CountArray) -> None:
    """Mark the draws in which each probe is, on some column set, alone and equal to exactly one target.

    ``drawn`` and ``hit`` are int64 (n_rows,), a bit for every draw: which rows are targets in
    it, and, found here, which probes are hits. A row is a probe or a target, not both. ``pulse`` as in
    `hushtable.kernels.uniques.walk`.
    """
    n_columns, n_rows = grid.codes.shape
    max_size = grid.allowed.size - 1
    scratch = np.zeros((6, grid.widths.max()), np.int64)
    rows_of = [np.arange(n_rows).astype(np.int32)]
    starts_of = [np.array([0, n_rows])]
    next_of = np.zeros(max_size + 1, np.int64)
    size = 0
    while size >= 0 and pulse[0] < pulse[1]:
        column = next_of[size]
        if size == max_size or column == n_columns or starts_of[-1].size == 1:
            rows_of.pop()
            starts_of.pop()
            size -= 1
            continue
        next_of[size] += 1
        if size == 0:
            pulse[2] = column
        size += 1
        rows, starts = _split(grid, drawn, hit, column, size, rows_of[-1], starts_of[-1], scratch)
        pulse[0] += 1
        rows_of.append(rows)
        starts_of.append(starts)
        next_of[size] = column + 1


@jit
def _split(
    grid: Grid,
    drawn: NDArray[np.int64],
    hit: NDArray[np.int64],
    column: int,
    size: int,
    rows: CodeArray,
    starts: CountArray,
    scratch: CountArray,
) -> tuple[CodeArray, CountArray]:
    """Split classes by a column, mark the hits, and return the classes worth going on with.

    ``scratch`` is int64 (6, widest column), all 0.
    """
    codes = grid.codes[column]
    lowest = 0 if not grid.missing_matches else -1
    goes_on = size < grid.allowed.size - 1
    members, probes, lone, once, twice, worth = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    kept = np.empty(rows.size if goes_on else 0, np.int32)
    kept_starts = np.zeros(rows.size + 1 if goes_on else 1, np.int64)
    touched = np.empty(min(rows.size, members.size), np.int64)
    n_kept = 0
    for label in range(starts.size - 1):
        n_touched = 0
        for place in range(starts[label], starts[label + 1]):
            row = rows[place]
            if codes[row] < lowest:
                continue
            key = codes[row] + 1
            if members[key] == 0:
                touched[n_touched] = key
                n_touched += 1
            members[key] += 1
            if grid.probes[row] > 0:
                probes[key] += grid.probes[row]
                lone[key] = row
            else:
                twice[key] |= drawn[row] if grid.targets[row] > 1 else once[key] & drawn[row]
                once[key] |= drawn[row]
        if grid.allowed[size]:
            for each in range(n_touched):
                key = touched[each]
                if probes[key] == 1:
                    hit[lone[key]] |= once[key] & ~twice[key]
        if goes_on:
            for place in range(starts[label], starts[label + 1]):
                row = rows[place]
                if codes[row] >= lowest and grid.probes[row] == 1 and once[codes[row] + 1] & ~hit[row]:
                    worth[codes[row] + 1] = 1
            for each in range(n_touched):
                key = touched[each]
                if worth[key]:
                    n_kept += 1
                    kept_starts[n_kept] = kept_starts[n_kept - 1] + members[key]
                    # From here on, members holds where the class's next row goes.
                    members[key] = kept_starts[n_kept - 1]
            for place in range(starts[label], starts[label + 1]):
                row = rows[place]
                if codes[row] >= lowest and worth[codes[row] + 1]:
                    kept[members[codes[row] + 1]] = row
                    members[codes[row] + 1] += 1
        for each in range(n_touched):
            for entry in range(len(scratch)):
                scratch[entry, touched[each]] = 0
    return kept[: kept_starts[n_kept]], kept_starts[: n_kept + 1]
