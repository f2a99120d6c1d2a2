"""Replay a tree of cuts: the cell of every class in a column, and the class whose cell a row lies in.

A tree is its nodes in depth-first order, left first: cut column (-1: a finished class) and left codes, in ``members``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.kernels._jit import jit, jit_inner, record_dtype
from hushtable.kernels.rows import ROWS_PER_BLOCK, U64

UNSEEN_CODE: Final = np.int32(2**31 - 1)  # above all codes, and in no set

NODE: Final = record_dtype(
    ("column", np.int32),
    ("right", np.int32),  # the right child, for the left one follows; of a finished class, -1 - its label
    ("last", np.int32),  # the left side's highest code, in an ordered column
    ("begin", np.int32),  # its words, in another one; else none
    ("end", np.int32),
)

WORD: Final = record_dtype(
    ("codes", np.uint64),  # a bit for each of 64 neighbouring codes
    ("number", np.int64),  # the codes over 64
)


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

    The cell of a class is a run of one permutation of the domain: a cut permutes the run of its node, and what happens
    inside a left child's run leaves the codes in its parent's and its sibling's runs as they were.
    """
    offsets = np.zeros(n_classes + 1, np.int64)
    codes = np.empty(max(1024, 4 * n_classes), np.int32)
    order = domain.copy()
    # Where rows were suppressed, codes are higher than there are values left.
    is_left = np.zeros(domain[-1] + 2, np.bool_)
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
            left_codes = members[starts[node] : starts[node + 1]]
            for code in left_codes:
                is_left[code + 1] = True
            run = order[first:last].copy()
            left_last = right_first = first + left_codes.size
            n_left, n_right = 0, 0
            for code in run:
                if is_left[code + 1]:
                    order[first + n_left] = code
                    n_left += 1
                else:
                    order[right_first + n_right] = code
                    n_right += 1
            for code in left_codes:
                is_left[code + 1] = False
        stack[n_stacked, 0], stack[n_stacked, 1] = right_first, last
        stack[n_stacked + 1, 0], stack[n_stacked + 1, 1] = first, left_last
        n_stacked += 2
    return offsets, codes[: offsets[n_classes]].copy()


@jit
def build_signposts(
    columns: CodeArray, starts: CountArray, members: CodeArray, is_ordered: BoolArray
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the nodes of a tree in the form that routes rows: NODE and WORD, of codes shifted by one.

    A set is as many words as its codes need. Of an ordered column all codes up to the left side's last go left.
    """
    nodes, words = np.zeros(columns.size, NODE), np.zeros(members.size, WORD)
    stack = np.empty(columns.size + 1, np.int32)
    n_stacked, n_words, n_leaves = 0, 0, 0
    for i in range(columns.size):
        if i > 0 and columns[i - 1] < 0:
            n_stacked -= 1
            nodes[stack[n_stacked]].right = i
        column = columns[i]
        if column < 0:
            nodes[i].right = -1 - n_leaves
            n_leaves += 1
            continue
        stack[n_stacked] = i
        n_stacked += 1
        nodes[i].column = column
        if is_ordered[column]:
            nodes[i].last = members[starts[i + 1] - 1] + 1
            continue
        # Below all shifted codes: past an empty set all rows go right, even those with a missing value.
        nodes[i].last = -1
        nodes[i].begin = n_words
        for member in np.sort(members[starts[i] : starts[i + 1]]):
            number, bit = (member + 1) >> 6, np.uint64(1) << np.uint64((member + 1) & 63)
            if n_words == nodes[i].begin or words[n_words - 1].number != number:
                words[n_words].number = number
                n_words += 1
            words[n_words - 1].codes |= bit
        nodes[i].end = n_words
    return nodes, words[:n_words].copy()


@jit_inner
def goes_left(node: Any, words: NDArray[Any], code: int) -> bool:
    """Tell whether a cut sends a shifted code left."""
    if node.begin == node.end:
        return bool(code <= node.last)
    number = code >> 6
    low, high = node.begin, node.end - 1
    while low < high:
        middle = (low + high) >> 1
        if words[U64(middle)].number < number:
            low = middle + 1
        else:
            high = middle
    word = words[U64(low)]
    return bool(word.number == number and (word.codes >> np.uint64(code & 63)) & np.uint64(1) != 0)


@jit
def route_rows(
    nodes: NDArray[Any],
    words: NDArray[Any],
    codes: CodeArray,
    columns: CountArray,
    tree_codes: CodeArray,
    begins: CountArray,
    labels: CodeArray,
    run: tuple[int, int],
) -> None:
    """Set the class whose cell each of a run of rows lies in, by nodes and words of `build_signposts`.

    ``tree_codes``, from ``begins`` on, are the tree's codes by the table's; a code beyond them goes right at every cut.
    """
    block = np.empty((ROWS_PER_BLOCK, columns.size), np.int32)
    start, end = run
    for first in range(start, end, ROWS_PER_BLOCK):
        last = min(first + ROWS_PER_BLOCK, end)
        for c in range(columns.size):
            j, begin, after = columns[c], begins[c] + 1, begins[c + 1]
            for i in range(first, last):
                entry = begin + codes[j, i]
                block[i - first, c] = tree_codes[entry] if entry < after else UNSEEN_CODE
        for i in range(U64(last - first)):
            at = 0
            node = nodes[U64(at)]
            while node.right >= 0:
                at = at + 1 if goes_left(node, words, block[i, U64(node.column)]) else node.right
                node = nodes[U64(at)]
            labels[U64(first) + i] = -1 - node.right
