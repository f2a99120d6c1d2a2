"""How far a walk over column sets has come: the classes of every part of the set at hand, one above the other."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import inner
from hushtable.kernels._records import record

__all__ = ["Stack", "has_room", "new_stack", "with_more_room"]

_LEVEL: Final = record(
    ("first", np.int64),  # where its classes' starts begin
    ("n_classes", np.int64),
    ("next_column", np.int64),  # to split them by
)


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
def has_room(room: int, starts: CountArray, first: int, n_classes: int) -> bool:
    """Tell whether a stack of so many rows could hold the rows of its last level once more."""
    begin, end = starts[first], starts[first + n_classes]
    return bool(end + (end - begin) <= room)
