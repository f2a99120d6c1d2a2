"""What walks over column sets share: the rows, what is found, and how far a walk has come."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.kernels._jit import inner
from hushtable.kernels._records import record

__all__ = ["NO_ROOM", "OVER", "Found", "Grid", "Stack", "new_stack", "next_column", "with_more_room"]

OVER, NO_ROOM = -1, -2

_LEVEL: Final = record(
    ("first", np.int64),  # where its classes' starts begin
    ("n_classes", np.int64),
    ("next_column", np.int64),  # to split them by
)


class Grid(NamedTuple):
    """The rows to walk over.

    ``codes`` is int32 (n_columns, n_rows), columns in the order of the walk;
    ``widths`` int64 (n_columns,), one more than the largest code; ``probes`` and
    ``targets`` int8 (n_rows,), how often the row counts as either: 0, 1, or 2 for
    more; ``allowed`` bool (max_size + 1,), the sizes asked for.
    """

    codes: CodeArray
    widths: CountArray
    probes: NDArray[np.int8]
    targets: NDArray[np.int8]
    allowed: BoolArray
    missing_matches: bool


class Found(NamedTuple):
    """Per row the first smallest column set so far.

    ``sizes`` int32 (n_rows,), one more than the largest size where there is none;
    ``paths`` int16 (n_rows, max_size), ascending columns; ``mates`` int32 (n_rows,),
    the target that equals the row there.
    """

    sizes: CodeArray
    paths: NDArray[np.int16]
    mates: CodeArray


class Stack(NamedTuple):
    """How far a walk has come: the classes of no column (level 0) down to those of the column set at hand.

    ``rows`` int32 (room,), class by class and level by level; ``starts`` int64, where each class
    begins in ``rows``, and after those of a level where its last one ends; ``levels`` a record
    (max_size + 1,); ``path`` int16 (max_size,), the columns; ``size`` int64 (1,), how many.
    """

    rows: CodeArray
    starts: CountArray
    levels: NDArray[Any]
    path: NDArray[np.int16]
    size: CountArray


def new_stack(n_rows: int, max_size: int) -> Stack:
    """Return the stack of a walk that has not begun: all rows in one class."""
    rows, levels = np.empty(3 * n_rows, dtype=np.int32), np.zeros(max_size + 1, dtype=_LEVEL)
    starts = np.zeros(len(rows) + 2 * len(levels), dtype=np.int64)
    rows[:n_rows], starts[1], levels["n_classes"][0] = np.arange(n_rows), n_rows, 1
    return Stack(rows, starts, levels, np.zeros(max_size, dtype=np.int16), np.zeros(1, dtype=np.int64))


def with_more_room(stack: Stack) -> Stack:
    """Return a stack that holds the same, and twice as many rows."""
    return stack._replace(
        rows=np.concatenate((stack.rows, np.empty_like(stack.rows))),
        starts=np.concatenate((stack.starts, np.empty_like(stack.starts))),
    )


@inner
def next_column(stack: Stack, n_columns: int) -> int:
    """Return the column to split the classes at hand by, going back to fewer columns where none is left.

    That is OVER after the last one, and NO_ROOM while the stack could not hold the rows of its last level once more.
    """
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
    return OVER
