"""Who is alone with one target, in each of many draws of targets at once: a bit of a word says of each draw.

A draw is some of the targets. Whether a probe is alone among the probes does not depend on
the draw, so that one walk over column sets serves 64 of them. Nothing is lost to its pruning:
a class goes when none of its probes equals, in any draw in which it was not yet a hit, a
target there. The others' rows stay, for they still count against being alone.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import bare, inner
from hushtable.kernels._records import record
from hushtable.kernels.lattice_walk import OVER, Grid, Stack, new_stack, next_column, with_more_room

__all__ = ["walk_draws"]

_KEY: Final = record(
    ("members", np.int64),  # rows of a class with a code; then where the next of them goes
    ("probes", np.int64),
    ("lone", np.int64),  # one of the probes
    ("once", np.int64),  # bits of the draws with a target
    ("twice", np.int64),  # and with more than one
    ("worth", np.int64),  # 1 where a probe can still become a hit
)


class _Draws(NamedTuple):
    """The targets of each draw, the hits found, and scratch.

    ``drawn`` and ``hit`` are int64 (n_rows,), bits of draws; ``keys`` a record (widest,), all 0
    between uses; ``touched`` int32 (n_rows,), the codes that a class holds.
    """

    drawn: NDArray[np.int64]
    hit: NDArray[np.int64]
    keys: NDArray[Any]
    touched: CodeArray


def walk_draws(grid: Grid, drawn: NDArray[np.int64], hit: NDArray[np.int64], pulse: CountArray) -> None:
    """Mark the draws in which each probe is, on some column set, alone and equal to exactly one target.

    ``drawn`` and ``hit`` are int64 (n_rows,), a bit for every draw: which rows are targets in
    it, and, found here, which probes are hits. A row is a probe or a target, not both. ``pulse`` as in
    `hushtable.kernels.uniques.walk`.
    """
    stack = new_stack(grid.codes.shape[1], len(grid.allowed) - 1)
    draws = _Draws(drawn, hit, np.zeros(grid.widths.max(), dtype=_KEY), np.empty(len(drawn), dtype=np.int32))
    while not _walk(grid, draws, stack, pulse):
        stack = with_more_room(stack)


@bare
def _walk(grid: Grid, draws: _Draws, stack: Stack, pulse: CountArray) -> bool:
    """Walk on; tell whether it is over, or the stack has no room."""
    n_columns = grid.codes.shape[0]
    while pulse[0] < pulse[1]:
        column = next_column(stack, n_columns)
        if column < 0:
            return column == OVER
        size = stack.size[0]
        if size == 0:
            pulse[2] = column
        _split(grid, draws, stack, column, size + 1)
        pulse[0] += 1
        stack.size[0] = size + 1
    return True


@inner
def _split(grid: Grid, draws: _Draws, stack: Stack, column: int, size: int) -> None:
    """Split the classes before a column set's last column by it, and mark the hits.

    What is worth going on with is the stack's next level.
    """
    codes = grid.codes[column]
    lowest = -1 if grid.missing_matches else 0
    goes_on = size < grid.allowed.size - 1
    drawn, hit, keys, touched = draws.drawn, draws.hit, draws.keys, draws.touched
    rows, starts, above, level = stack.rows, stack.starts, stack.levels[size - 1], stack.levels[size]
    level.first = above.first + above.n_classes + 1
    level.next_column = column + 1
    n_kept, n_kept_rows = 0, starts[level.first - 1]
    starts[level.first] = n_kept_rows
    for label in range(above.first, above.first + above.n_classes):
        n_touched = 0
        for place in range(starts[label], starts[label + 1]):
            row = rows[place]
            if codes[row] < lowest:
                continue
            key = keys[codes[row] + 1]
            if key.members == 0:
                touched[n_touched] = codes[row] + 1
                n_touched += 1
            key.members += 1
            if grid.probes[row] > 0:
                key.probes += grid.probes[row]
                key.lone = row
            else:
                key.twice |= drawn[row] if grid.targets[row] > 1 else key.once & drawn[row]
                key.once |= drawn[row]
        if grid.allowed[size]:
            for each in range(n_touched):
                key = keys[touched[each]]
                if key.probes == 1:
                    hit[key.lone] |= key.once & ~key.twice
        if goes_on:
            for place in range(starts[label], starts[label + 1]):
                row = rows[place]
                if codes[row] >= lowest and grid.probes[row] == 1 and keys[codes[row] + 1].once & ~hit[row]:
                    keys[codes[row] + 1].worth = 1
            for each in range(n_touched):
                key = keys[touched[each]]
                if key.worth:
                    # From here on, members holds where the class's next row goes.
                    first, n_kept_rows = n_kept_rows, n_kept_rows + key.members
                    key.members = first
                    n_kept += 1
                    starts[level.first + n_kept] = n_kept_rows
            for place in range(starts[label], starts[label + 1]):
                row = rows[place]
                if codes[row] >= lowest and keys[codes[row] + 1].worth:
                    key = keys[codes[row] + 1]
                    rows[key.members] = row
                    key.members += 1
        for each in range(n_touched):
            key = keys[touched[each]]
            key.members = key.probes = key.lone = key.once = key.twice = key.worth = 0
    level.n_classes = n_kept
