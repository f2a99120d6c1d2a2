"""Find the probes that are alone with one target, in 64 draws of targets at once: every draw is a bit of a word.

Whether a probe is alone among probes does not depend on the draw, so that one walk serves 64. A class is dropped when
none of its probes equals a target in a draw without a hit; other rows stay, as they count against being alone.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.kernels._jit import jit_bare, jit_inner, record_dtype

WALK_OVER, NO_ROOM = -1, -2

_LEVEL: Final = record_dtype(
    ("first", np.int64),  # where its classes' starts begin
    ("n_classes", np.int64),
    ("next_column", np.int64),  # to split them by
)


class WalkGrid(NamedTuple):
    """The rows to walk over; a row counts as a probe or target 0 times, once, or 2 for more."""

    codes: CodeArray  # (n_columns, n_rows), columns in the order of the walk
    widths: CountArray  # (n_columns,), one more than the largest code
    probes: NDArray[np.int8]
    targets: NDArray[np.int8]
    allowed: BoolArray  # (max_size + 1,), the sizes asked for
    missing_matches: bool
    # Per column, the class of each row by this column and all later ones, and how many classes; 0: rows are not merged.
    suffixes: CodeArray = np.empty((0, 0), dtype=np.int32)
    n_suffixes: CountArray = np.empty(0, dtype=np.int64)


class FoundSets(NamedTuple):
    """Per row the first smallest column set so far."""

    sizes: CodeArray  # one more than the largest size where there is none
    paths: NDArray[np.int16]  # (n_rows, max_size), ascending columns
    mates: CodeArray  # the target that equals the row there


class WalkStack(NamedTuple):
    """How far a walk has come: the classes of no column (level 0) down to those of the column set at hand."""

    rows: CodeArray  # (room,), class by class and level by level
    starts: CountArray  # where each class begins in ``rows``, and after those of a level where its last one ends
    levels: NDArray[Any]  # a record (max_size + 1,)
    path: NDArray[np.int16]  # (max_size,), the columns
    size: CountArray  # (1,), how many


def new_stack(n_rows: int, max_size: int) -> WalkStack:
    """Return the stack of a walk that has not begun: all rows in one class."""
    rows, levels = np.empty(3 * n_rows, dtype=np.int32), np.zeros(max_size + 1, dtype=_LEVEL)
    starts = np.zeros(len(rows) + 2 * len(levels), dtype=np.int64)
    rows[:n_rows], starts[1], levels["n_classes"][0] = np.arange(n_rows), n_rows, 1
    return WalkStack(rows, starts, levels, np.zeros(max_size, dtype=np.int16), np.zeros(1, dtype=np.int64))


def with_more_room(stack: WalkStack) -> WalkStack:
    """Return a stack with the same content, and room for twice as many rows."""
    return stack._replace(
        rows=np.concatenate((stack.rows, np.empty_like(stack.rows))),
        starts=np.concatenate((stack.starts, np.empty_like(stack.starts))),
    )


@jit_inner
def next_column(stack: WalkStack, n_columns: int) -> int:
    """Return the next column to split the current classes by, going back where none is left; or WALK_OVER, NO_ROOM."""
    while stack.size[0] >= 0:
        level = stack.levels[stack.size[0]]
        column = level.next_column
        if stack.size[0] == stack.path.size or column == n_columns or level.n_classes == 0:
            stack.size[0] -= 1
            continue
        begin, end = stack.starts[level.first], stack.starts[level.first + level.n_classes]
        if end + (end - begin) > stack.rows.size:
            return NO_ROOM
        level.next_column = column + 1
        return int(column)
    return WALK_OVER


_KEY: Final = record_dtype(
    ("members", np.int64),  # rows of a class with a code; then where the next of them goes
    ("probes", np.int64),
    ("lone", np.int64),  # one of the probes
    ("once", np.int64),  # bits of the draws with a target
    ("twice", np.int64),  # and with more than one
    ("worth", np.int64),  # 1 where a probe can still become a hit
)


class _Draws(NamedTuple):
    """The targets of each draw, the hits found, and scratch."""

    targets: NDArray[np.int64]  # (n_rows,), bits of draws
    hits: NDArray[np.int64]  # (n_rows,), bits of draws
    keys: NDArray[Any]  # a record (widest,), all 0 between uses
    touched: CodeArray  # (n_rows,), the codes that a class holds


def walk_draws(grid: WalkGrid, targets: NDArray[np.int64], hits: NDArray[np.int64], pulse: CountArray) -> None:
    """Mark the draws in which each probe is, on some column set, alone and equal to exactly one target.

    ``targets`` and ``hits`` have a bit for every draw. ``pulse`` as in `hushtable.kernels.uniques.walk_sets`.
    """
    stack = new_stack(grid.codes.shape[1], len(grid.allowed) - 1)
    draws = _Draws(targets, hits, np.zeros(grid.widths.max(), dtype=_KEY), np.empty(len(targets), dtype=np.int32))
    while not _walk_draws(grid, draws, stack, pulse):
        stack = with_more_room(stack)


@jit_bare
def _walk_draws(grid: WalkGrid, draws: _Draws, stack: WalkStack, pulse: CountArray) -> bool:
    """Walk on; tell whether it is over, or the stack has no room."""
    n_columns = grid.codes.shape[0]
    while pulse[0] < pulse[1]:
        column = next_column(stack, n_columns)
        if column < 0:
            return column == WALK_OVER
        size = stack.size[0]
        if size == 0:
            pulse[2] = column
        _split_classes(grid, draws, stack, column, size + 1)
        pulse[0] += 1
        stack.size[0] = size + 1
    return True


@jit_inner
def _split_classes(grid: WalkGrid, draws: _Draws, stack: WalkStack, column: int, size: int) -> None:
    """Split the classes before a column set's last column by it, mark the hits, and keep the rest as the next level."""
    codes = grid.codes[column]
    lowest = -1 if grid.missing_matches else 0
    goes_on = size < grid.allowed.size - 1
    targets, hits, keys, touched = draws.targets, draws.hits, draws.keys, draws.touched
    rows, starts, above, level = stack.rows, stack.starts, stack.levels[size - 1], stack.levels[size]
    level.first = above.first + above.n_classes + 1
    level.next_column = column + 1
    n_kept, n_kept_rows = 0, starts[level.first - 1]
    starts[level.first] = n_kept_rows
    for label in range(above.first, above.first + above.n_classes):
        n_touched = 0
        for position in range(starts[label], starts[label + 1]):
            row = rows[position]
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
                key.twice |= targets[row] if grid.targets[row] > 1 else key.once & targets[row]
                key.once |= targets[row]
        if grid.allowed[size]:
            for i in range(n_touched):
                key = keys[touched[i]]
                if key.probes == 1:
                    hits[key.lone] |= key.once & ~key.twice
        if goes_on:
            for position in range(starts[label], starts[label + 1]):
                row = rows[position]
                if codes[row] >= lowest and grid.probes[row] == 1 and keys[codes[row] + 1].once & ~hits[row]:
                    keys[codes[row] + 1].worth = 1
            for i in range(n_touched):
                key = keys[touched[i]]
                if key.worth:
                    # From here on, members holds where the class's next row goes.
                    first, n_kept_rows = n_kept_rows, n_kept_rows + key.members
                    key.members = first
                    n_kept += 1
                    starts[level.first + n_kept] = n_kept_rows
            for position in range(starts[label], starts[label + 1]):
                row = rows[position]
                if codes[row] >= lowest and keys[codes[row] + 1].worth:
                    key = keys[codes[row] + 1]
                    rows[key.members] = row
                    key.members += 1
        for i in range(n_touched):
            key = keys[touched[i]]
            key.members = key.probes = key.lone = key.once = key.twice = key.worth = 0
    level.n_classes = n_kept
