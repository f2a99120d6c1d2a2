"""Costs of classes from the codes that they span, and how a cost changes when a row leaves or joins.

A row has a code in every column; 0 is the missing value. A class keeps the two lowest and two highest codes of an
ordered column, so that its span without one row needs no look at the others. Of a set column it keeps which codes
occur, and which occur twice.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit_bare, jit_inner, record_dtype

# How a column's cost is found: in a table of all runs, from positions, in a tree, from the number of values.
KIND_TABLE, KIND_SPAN, KIND_TREE, KIND_SET = 0, 1, 2, 3
_ABOVE_ALL_CODES = 2**31 - 1

COLUMN: Final = record_dtype(
    ("kind", np.int64),
    ("begin", np.int64),  # where its costs begin: of runs in the table, of codes elsewhere
    ("n_places", np.int64),
    ("word", np.int64),  # of a set column: where its bits begin
    ("star", np.float64),  # what "*" costs
    ("each", np.float64),  # of a set column: what every value of several costs
    ("rest", np.float64),  # and what is added to them
)

CLASS: Final = record_dtype(
    ("n_rows", np.int64),  # 0 where it is free
    ("share", np.float64),  # what one of its rows costs
    ("first", np.int64),
)

ROW: Final = record_dtype(
    ("label", np.int32),
    ("after", np.int32),  # the next row of the class, round in a ring
    ("before", np.int32),
)


class Space(NamedTuple):
    """Rows, and what runs of codes cost."""

    codes: CodeArray  # (n_rows, n_columns)
    columns: NDArray[Any]  # COLUMN (n_columns,)
    table: NDArray[np.float32]  # entry ``begin + low * n_places + high`` of a column of few codes
    positions: FloatArray  # entry ``begin + code`` of an ordered column of many
    nodes: CodeArray  # (n_levels, n_entries), of a tree of many codes
    prices: FloatArray  # (n_levels, n_entries), of the lowest node over several places that is first theirs there


class CostedClasses(NamedTuple):
    """Classes under change."""

    slots: NDArray[Any]  # CLASS (n_slots,)
    rows: NDArray[Any]  # ROW (n_rows,)
    ends: CodeArray  # (n_slots, n_columns, 4), two lowest and two highest codes; of sets how many occur
    bits: CountArray  # (n_slots, n_words, 2), the codes of set columns that occur, and those that occur twice
    free: CountArray  # (n_slots + 1,), how many slots are free, then which
    mixed: CodeArray  # (1, n_rows), scratch: the rows of a class


@jit_inner
def run_cost(space: Space, j: int, low: int, high: int) -> float:
    """Return the cost of a cell that covers the codes from ``low`` to ``high`` of an ordered column."""
    column = space.columns[j]
    if column.kind == KIND_TABLE:
        return float(space.table[np.uint64(column.begin + low * column.n_places + high)])
    if low == high:
        return 0.0
    if low == 0:
        return float(column.star)
    first, last = column.begin + low, column.begin + high
    if column.kind == KIND_SPAN:
        return float(space.positions[last] - space.positions[first])
    level = 0
    while space.nodes[level, first] != space.nodes[level, last]:
        level += 1
    return float(space.prices[level, first])


@jit_inner
def pair_cost(space: Space, row: int, other_row: int, limit: float) -> float:
    """Return the cost of either row in a class of two, or any number above the limit."""
    total = 0.0
    for j in range(space.columns.size):
        p, q = int(space.codes[row, j]), int(space.codes[other_row, j])
        if space.columns[j].kind == KIND_SET:
            if p != q:
                total += 2.0 * space.columns[j].each + space.columns[j].rest
        else:
            total += run_cost(space, j, min(p, q), max(p, q))
        if total > limit:
            break
    return total


@jit_inner
def share_after_change(
    space: Space, classes: CostedClasses, label: int, row_out: int, row_in: int, limit: float
) -> float:
    """Return a class's cost per row, one row removed and one added (-1: none), or any number above the limit."""
    total = 0.0
    for j in range(space.columns.size):
        old_code = int(space.codes[np.uint64(row_out), j]) if row_out >= 0 else -1
        new_code = int(space.codes[np.uint64(row_in), j]) if row_in >= 0 else -1
        if space.columns[j].kind == KIND_SET:
            n_codes = int(classes.ends[label, j, 0])
            is_last = old_code >= 0 and not _has_code(space, classes, label, j, old_code, 1)
            n_codes -= int(is_last)
            if new_code >= 0 and (
                not _has_code(space, classes, label, j, new_code, 0) or (is_last and new_code == old_code)
            ):
                n_codes += 1
            if n_codes > 1:
                total += n_codes * space.columns[j].each + space.columns[j].rest
        else:
            low, high = int(classes.ends[np.uint64(label), j, 0]), int(classes.ends[np.uint64(label), j, 3])
            if old_code == low:
                low = int(classes.ends[np.uint64(label), j, 1])
            if old_code == high:
                high = int(classes.ends[np.uint64(label), j, 2])
            if new_code >= 0:
                low, high = min(low, new_code), max(high, new_code)
            total += run_cost(space, j, low, high)
        if total > limit:
            break
    return total


@jit_inner
def least_share_after_swap(space: Space, classes: CostedClasses, label: int, row_in: int, limit: float) -> float:
    """Return what a class costs per row at least, a row added and any one removed, or any number above the limit."""
    total = 0.0
    for j in range(space.columns.size):
        new_code = int(space.codes[np.uint64(row_in), j])
        if space.columns[j].kind == KIND_SET:
            n_codes = int(classes.ends[label, j, 0])
            n_codes += int(not _has_code(space, classes, label, j, new_code, 0))
            n_codes -= int(_has_single_code(space, classes, label, j, new_code))
            if n_codes > 1:
                total += n_codes * space.columns[j].each + space.columns[j].rest
        else:
            second_low, second_high = int(classes.ends[label, j, 1]), int(classes.ends[label, j, 2])
            total += run_cost(space, j, min(second_low, new_code), max(second_high, new_code))
        if total > limit:
            break
    return total


@jit_inner
def _has_single_code(space: Space, classes: CostedClasses, label: int, j: int, code: int) -> bool:
    """Tell whether some other code of a set column occurs in one row of a class."""
    first = space.columns[j].word
    for word in range(first, first + ((space.columns[j].n_places + 63) >> 6)):
        single = classes.bits[label, word, 0] & ~classes.bits[label, word, 1]
        if word == first + (code >> 6):
            single &= ~(np.uint64(1) << np.uint64(code & 63))
        if single != 0:
            return True
    return False


@jit_inner
def _has_code(space: Space, classes: CostedClasses, label: int, j: int, code: int, times: int) -> bool:
    word = classes.bits[label, space.columns[j].word + (code >> 6), times]
    return bool(word & (np.uint64(1) << np.uint64(code & 63)) != 0)


@jit_inner
def leave_class(classes: CostedClasses, row: int) -> None:
    """Remove a row from the ring of its class; the class's span and share are not updated."""
    label, after, before = classes.rows[row].label, classes.rows[row].after, classes.rows[row].before
    classes.rows[before].after = after
    classes.rows[after].before = before
    classes.slots[label].n_rows -= 1
    if classes.slots[label].first == row:
        classes.slots[label].first = after


@jit_inner
def enter_class(space: Space, classes: CostedClasses, label: int, row: int) -> None:
    """Add a row to a class and widen its span; its share is not updated."""
    if classes.slots[label].n_rows == 0:
        classes.slots[label].first = row
        classes.rows[row].after = row
        classes.rows[row].before = row
        _clear_class(space, classes, label)
    else:
        first = classes.slots[label].first
        last = classes.rows[first].before
        classes.rows[last].after = row
        classes.rows[row].before = last
        classes.rows[row].after = first
        classes.rows[first].before = row
    classes.rows[row].label = label
    classes.slots[label].n_rows += 1
    _widen_class(space, classes, label, row)


@jit_inner
def _clear_class(space: Space, classes: CostedClasses, label: int) -> None:
    for j in range(space.columns.size):
        is_set = space.columns[j].kind == KIND_SET
        classes.ends[label, j, 0] = 0 if is_set else _ABOVE_ALL_CODES
        classes.ends[label, j, 1] = _ABOVE_ALL_CODES
        classes.ends[label, j, 2] = -1
        classes.ends[label, j, 3] = -1
    for i in range(classes.bits.shape[1]):
        classes.bits[label, i, 0] = 0
        classes.bits[label, i, 1] = 0


@jit_inner
def _widen_class(space: Space, classes: CostedClasses, label: int, row: int) -> None:
    """Widen a class's span by one row."""
    ends = classes.ends
    for j in range(space.columns.size):
        code = int(space.codes[row, j])
        if space.columns[j].kind == KIND_SET:
            word, bit = space.columns[j].word + (code >> 6), np.uint64(1) << np.uint64(code & 63)
            if classes.bits[label, word, 0] & bit != 0:
                classes.bits[label, word, 1] |= bit
            else:
                classes.bits[label, word, 0] |= bit
                ends[label, j, 0] += 1
            continue
        if code < ends[label, j, 0]:
            ends[label, j, 1], ends[label, j, 0] = ends[label, j, 0], code
        elif code < ends[label, j, 1]:
            ends[label, j, 1] = code
        if code > ends[label, j, 3]:
            ends[label, j, 2], ends[label, j, 3] = ends[label, j, 3], code
        elif code > ends[label, j, 2]:
            ends[label, j, 2] = code


@jit_inner
def recompute_class(space: Space, classes: CostedClasses, label: int) -> None:
    """Compute a class's span and share from its rows."""
    _clear_class(space, classes, label)
    row = classes.slots[label].first
    for _ in range(classes.slots[label].n_rows):
        _widen_class(space, classes, label, row)
        row = classes.rows[row].after
    none = -1
    classes.slots[label].share = share_after_change(space, classes, label, none, none, np.inf)


@jit_bare
def recompute_all_classes(space: Space, classes: CostedClasses) -> float:
    """Compute the span and share of every class; return the cost of all rows."""
    total = 0.0
    for label in range(classes.slots.size):
        if classes.slots[label].n_rows > 0:
            recompute_class(space, classes, label)
            total += classes.slots[label].n_rows * classes.slots[label].share
    return total
