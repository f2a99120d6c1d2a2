"""Rows of a table, class by class, packed into words: what a search counts, marks and moves.

The rows of a class lie side by side in memory; a cut moves them, and is chosen from what is tallied here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import jit, jit_inner

ByteArray = NDArray[np.uint8]

U64 = np.uint64  # of an index: a signed one is checked for being negative, which takes longer than the work itself
_LEFT_BITS = 0b01010101  # the left sides of the four cuts that a byte has marks for
ROWS_PER_BLOCK = 1024  # rows that are looked at column by column before the next ones are


class Rows(NamedTuple):
    """Distinct rows, class by class."""

    words: CountArray  # (n_rows, n_words), the codes of a row, and where rows are not one record each, how many it is
    codes: NDArray[Any]  # uint8 or uint32, the same memory; codes are shifted by one
    order: CodeArray  # (n_rows,), which row of the table each is
    is_weighted: bool  # whether the last word is the records; with a population a row may have none


@jit
def pack_rows(
    codes: CodeArray,
    columns: CountArray,
    new_codes: CodeArray,
    begins: CountArray,
    packed: NDArray[Any],
    run: tuple[int, int],
) -> None:
    """Write the new codes of some rows row by row; a column's new codes begin at ``begins``, that of missing first."""
    start, end = run
    for first in range(start, end, ROWS_PER_BLOCK):
        for c in range(columns.size):
            j, begin = columns[c], begins[c] + 1
            for i in range(first, min(first + ROWS_PER_BLOCK, end)):
                packed[i, c] = new_codes[begin + codes[j, i]]


@jit_inner
def tally_codes(rows: Rows, start: int, end: int, columns: CountArray, bins: CountArray) -> None:
    """Count the records of a run of rows by code, for some columns; -1 marks codes of which no row has a record."""
    codes, n = rows.codes, columns.shape[1]
    last_word = rows.words.shape[1] - 1
    for first in range(U64(start), U64(end), U64(ROWS_PER_BLOCK)):
        last = min(first + U64(ROWS_PER_BLOCK), U64(end))
        c = 0
        while c + 3 < n:
            # Four columns at a time: where one adds to the same bin again and again, the others need not wait.
            j0, j1, j2, j3 = columns[0, c], columns[0, c + 1], columns[0, c + 2], columns[0, c + 3]
            b0, b1, b2, b3 = columns[1, c], columns[1, c + 1], columns[1, c + 2], columns[1, c + 3]
            for i in range(first, last):
                count = rows.words[i, last_word] if rows.is_weighted else 1
                bins[b0 + U64(codes[i, j0])] += count
                bins[b1 + U64(codes[i, j1])] += count
                bins[b2 + U64(codes[i, j2])] += count
                bins[b3 + U64(codes[i, j3])] += count
            c += 4
        while c < n:
            j, begin = columns[0, c], columns[1, c]
            for i in range(first, last):
                bins[begin + U64(codes[i, j])] += rows.words[i, last_word] if rows.is_weighted else 1
            c += 1
    if rows.is_weighted:
        for i in range(U64(start), U64(end)):
            if rows.words[i, last_word] == 0:
                for c in range(n):
                    entry = columns[1, c] + U64(codes[i, columns[0, c]])
                    if bins[entry] == 0:
                        bins[entry] = -1


@jit_inner
def mark_sides(
    rows: Rows,
    run: tuple[int, int],
    columns: tuple[CountArray, CountArray],
    sides: ByteArray,
    all_sides: int,
    block: ByteArray,
    marks: ByteArray,
) -> None:
    """Mark codes with the sides of several cuts that they occur on, a bit each; ``columns`` as in `tally_codes`.

    At most ``block.size`` rows. ``sides`` are the left ones (bits 0, 2, 4, 6) to which cuts send each entry; the right
    one is the bit after. The first columns are those that are cut, the second ones those that are marked.
    """
    codes, (cut, marked), (first, last) = rows.codes, columns, run
    block[: last - first] = 0
    for c in range(cut.shape[1]):
        j, begin = cut[0, c], cut[1, c]
        for i in range(U64(first), U64(last)):
            block[i - U64(first)] |= sides[begin + U64(codes[i, j])]
    for i in range(last - first):
        block[i] |= (~block[i] & _LEFT_BITS) << 1 & all_sides
    c = 0
    while c + 3 < marked.shape[1]:
        j0, j1, j2, j3 = marked[0, c], marked[0, c + 1], marked[0, c + 2], marked[0, c + 3]
        b0, b1, b2, b3 = marked[1, c], marked[1, c + 1], marked[1, c + 2], marked[1, c + 3]
        for i in range(U64(first), U64(last)):
            side = block[i - U64(first)]
            marks[b0 + U64(codes[i, j0])] |= side
            marks[b1 + U64(codes[i, j1])] |= side
            marks[b2 + U64(codes[i, j2])] |= side
            marks[b3 + U64(codes[i, j3])] |= side
        c += 4
    while c < marked.shape[1]:
        j, begin = marked[0, c], marked[1, c]
        for i in range(U64(first), U64(last)):
            marks[begin + U64(codes[i, j])] |= block[i - U64(first)]
        c += 1


@jit_inner
def split_rows(
    rows: Rows, start: int, end: int, column: int, goes_left: ByteArray, tie: tuple[int, int], spare: Rows
) -> int:
    """Move the rows of a run so that those on the left come first; both sides keep their order. Return the middle.

    ``tie`` is a code of the right side, and how many of its first rows go left too.
    """
    words, order, n_words = rows.words, rows.order, rows.words.shape[1]
    tied_code, n_to_move = tie
    j, middle, n_right = U64(column), U64(start), U64(0)
    for i in range(U64(start), U64(end)):
        code = rows.codes[i, j]
        is_left = U64(goes_left[U64(code)])
        if n_to_move > 0 and code == tied_code:
            is_left = U64(1)
            n_to_move -= 1
        # Written to both sides, and kept on one: no branch to guess.
        for w in range(n_words):
            word = words[i, w]
            words[middle, w] = word
            spare.words[n_right, w] = word
        row = order[i]
        order[middle] = row
        spare.order[n_right] = row
        middle += is_left
        n_right += U64(1) - is_left
    for i in range(n_right):
        for w in range(n_words):
            words[middle + i, w] = spare.words[i, w]
        order[middle + i] = spare.order[i]
    return int(middle)
