"""The cells that a tree of cuts leaves: a column's codes, cut as its classes were.

A tree is its nodes in depth-first order, left child first: the cut column of
each (-1: a finished class) and its left side's codes, a run of ``members``.
"""

from __future__ import annotations

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import jit

__all__ = ["cell_ranges", "cell_sets"]


@jit
def cell_ranges(
    columns: CodeArray, starts: CountArray, members: CodeArray, column: int, n_codes: int, n_classes: int
) -> tuple[CodeArray, CodeArray]:
    """Return the lowest and highest code of every class's cell in an ordered column (-1 is missing)."""
    low = np.empty(n_classes, np.int32)
    high = np.empty(n_classes, np.int32)
    stack = np.empty((n_classes + 1, 2), np.int32)
    stack[0, 0], stack[0, 1] = -1, n_codes - 1
    n_stacked, label = 1, 0
    for node in range(columns.size):
        n_stacked -= 1
        first, last = stack[n_stacked, 0], stack[n_stacked, 1]
        if columns[node] < 0:
            low[label], high[label] = first, last
            label += 1
            continue
        middle = members[starts[node + 1] - 1] if columns[node] == column else last
        stack[n_stacked, 0] = middle + 1 if columns[node] == column else first
        stack[n_stacked, 1] = last
        stack[n_stacked + 1, 0], stack[n_stacked + 1, 1] = first, middle
        n_stacked += 2
    return low, high


@jit
def cell_sets(
    columns: CodeArray, starts: CountArray, members: CodeArray, column: int, domain: CodeArray, n_classes: int
) -> tuple[CountArray, CodeArray]:
    """Return the codes of every class's cell in a categorical column, ascending, class after class.

    The cell of a class is a run of one permutation of the domain: a cut permutes the
    run of its node, and what happens inside a left child's run leaves the set of
    codes in its parent's and its sibling's runs as it was.
    """
    offsets = np.zeros(n_classes + 1, np.int64)
    codes = np.empty(max(1024, 4 * n_classes), np.int32)
    order = domain.copy()
    is_left = np.zeros(domain.size + 2, np.bool_)
    stack = np.empty((n_classes + 1, 2), np.int32)
    stack[0, 0], stack[0, 1] = 0, domain.size
    n_stacked, label = 1, 0
    for node in range(columns.size):
        n_stacked -= 1
        first, last = stack[n_stacked, 0], stack[n_stacked, 1]
        if columns[node] < 0:
            end = offsets[label] + last - first
            if end > codes.size:
                codes = np.append(codes, np.empty(end + codes.size, np.int32))
            codes[offsets[label] : end] = np.sort(order[first:last])
            label += 1
            offsets[label] = end
            continue
        left_last, right_first = last, first
        if columns[node] == column:
            left = members[starts[node] : starts[node + 1]]
            for code in left:
                is_left[code + 1] = True
            run = order[first:last].copy()
            left_last = right_first = first + left.size
            n_left, n_right = 0, 0
            for code in run:
                if is_left[code + 1]:
                    order[first + n_left] = code
                    n_left += 1
                else:
                    order[right_first + n_right] = code
                    n_right += 1
            for code in left:
                is_left[code + 1] = False
        stack[n_stacked, 0], stack[n_stacked, 1] = right_first, last
        stack[n_stacked + 1, 0], stack[n_stacked + 1, 1] = first, left_last
        n_stacked += 2
    return offsets, codes[: offsets[n_classes]].copy()
