"""Evidence of keys: the columns in which rows differ that share a class, of which every key holds at least one."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import jit, jit_inner

ColumnWords = NDArray[np.uint64]
KeyCodes = NDArray[np.signedinteger[Any]]

MAX_PAIRS_ENUMERATED: Final = 400
"""Up to this many pairs of rows, all become evidence: then a set's whole subtree needs no other."""
_SAMPLED_ROWS: Final = 1 << 13
_DRAW_EXPONENT: Final = 0.3  # of the pairs of a partition: how many of them are drawn (HPIValid)
_ONE: Final = np.uint64(1)


class KeyRows(NamedTuple):
    """Codes column by column and row by row, and how many codes each column has, missing included."""

    codes: KeyCodes  # (n_columns, n_rows), -1 is missing
    cells: KeyCodes  # (n_rows, n_columns), the same
    widths: CountArray


@jit_inner
def count_bits(word: np.uint64) -> int:
    """Count the bits of a word that are 1."""
    word = word - ((word >> _ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    # Sums of bytes by shifts: a product would run over, of which Python warns without compilation.
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(32))
    return int(np.int64(word & np.uint64(127)))


@jit_inner
def split_classes(
    codes: KeyCodes,
    members: CodeArray,
    ends: CodeArray,
    at: tuple[int, int, int, int],
    bins: CodeArray,
    touched: CodeArray,
) -> tuple[int, int, int]:
    """Split classes by one column; write the new classes of two rows or more behind the old ones.

    ``at`` is where members begin and end, and the ends of classes; ``bins`` are 0 between uses. Returns where the new
    members and the new ends end, and the pairs of rows that share a class.
    """
    begin, filled, first_end, last_end = at
    n_ends, pairs = last_end, 0
    for c in range(first_end, last_end):
        end = ends[c]
        if end - begin == 2:
            a, b = members[begin], members[begin + 1]
            if codes[a] == codes[b]:
                members[filled], members[filled + 1] = a, b
                filled += 2
                ends[n_ends] = filled
                n_ends += 1
                pairs += 1
            begin = end
            continue
        n_touched = 0
        for i in range(begin, end):
            code = codes[members[i]] + 1
            if bins[code] == 0:
                touched[n_touched] = code
                n_touched += 1
            bins[code] += 1
        for t in range(n_touched):
            size = int(bins[touched[t]])
            if size == 1:
                bins[touched[t]] = -1
            else:
                bins[touched[t]] = filled
                filled += size
                ends[n_ends] = filled
                n_ends += 1
                pairs += size * (size - 1) // 2
        for i in range(begin, end):
            row = members[i]
            code = codes[row] + 1
            position = bins[code]
            if position >= 0:
                members[position] = row
                bins[code] = position + 1
        for t in range(n_touched):
            bins[touched[t]] = 0
        begin = end
    return filled, n_ends, pairs


@jit_inner
def write_difference(cells: KeyCodes, a: int, b: int, differences: ColumnWords, n: int) -> None:
    """Write the columns in which two rows differ, a bit each, as entry n."""
    for w in range(differences.shape[1]):
        word = np.uint64(0)
        for j in range(64 * w, min(64 * w + 64, cells.shape[1])):
            word |= np.uint64(cells[a, j] != cells[b, j]) << np.uint64(j & 63)
        differences[n, w] = word


@jit_inner
def draw_below(state: ColumnWords, below: int) -> int:
    """Return a random number below a bound, from Marsaglia's xorshift."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return int(np.int64((x >> np.uint64(11)) % np.uint64(below)))


@jit
def n_pairs_to_draw(pairs: int) -> int:
    """Return how many pairs of a partition are drawn."""
    return int(np.float64(pairs) ** _DRAW_EXPONENT) + 1


@jit
def draw_pairs(
    cells: KeyCodes, members: CodeArray, ends: CodeArray, at: tuple[int, int, int, int], pairs: int, state: ColumnWords
) -> ColumnWords:
    """Return the minimal difference sets of some pairs of rows that share a class, or of all where they are few."""
    begin, _, first_end, last_end = at
    n_words = (cells.shape[1] + 63) // 64
    n = 0
    if pairs <= MAX_PAIRS_ENUMERATED:
        differences = np.zeros((pairs, n_words), np.uint64)
        for c in range(first_end, last_end):
            for i in range(begin, ends[c]):
                for k in range(i + 1, ends[c]):
                    write_difference(cells, members[i], members[k], differences, n)
                    n += 1
            begin = ends[c]
        return minimal_sets(differences)
    differences = np.zeros((n_pairs_to_draw(pairs), n_words), np.uint64)
    n_classes = last_end - first_end
    for n in range(len(differences)):
        # First a class, so that small ones have their turn: their rows differ in other columns than large ones' do.
        c = first_end + draw_below(state, n_classes)
        start = begin if c == first_end else ends[c - 1]
        size = ends[c] - start
        i = draw_below(state, size)
        k = (i + 1 + draw_below(state, size - 1)) % size
        write_difference(cells, members[start + i], members[start + k], differences, n)
    return minimal_sets(differences)


@jit
def minimal_sets(sets: ColumnWords) -> ColumnWords:
    """Return the non-empty sets that contain no other one, each once, the smallest first."""
    n, n_words = sets.shape
    sizes = np.zeros(n, np.int64)
    for i in range(n):
        for w in range(n_words):
            sizes[i] += count_bits(sets[i, w])
    minimal = np.empty_like(sets)
    n_kept = 0
    for i in np.argsort(sizes):
        if sizes[i] == 0:
            continue
        is_new = True
        for k in range(n_kept):
            holds = True
            for w in range(n_words):
                if minimal[k, w] & ~sets[i, w]:
                    holds = False
                    break
            if holds:
                is_new = False
                break
        if is_new:
            minimal[n_kept] = sets[i]
            n_kept += 1
    return minimal[:n_kept].copy()


@jit
def first_evidence(rows: KeyRows, seed: int) -> ColumnWords:
    """Return difference sets of pairs that agree in a column, for every column, from evenly spaced rows."""
    n_columns, n_rows = rows.codes.shape
    step = (n_rows + _SAMPLED_ROWS - 1) // _SAMPLED_ROWS
    state = np.array([seed * 2 + 0x9E3779B97F4A7C1], dtype=np.uint64)
    bins = np.zeros(rows.widths.max() + 1, np.int32)
    n_sampled = (n_rows + step - 1) // step
    touched = np.empty(min(rows.widths.max(), n_rows) + 1, np.int32)
    members, ends = np.empty(2 * n_sampled, np.int32), np.empty(n_sampled + 2, np.int32)
    evidence = np.zeros((0, (n_columns + 63) // 64), np.uint64)
    for j in range(n_columns):
        members[:n_sampled] = np.arange(0, n_rows, step)
        ends[0] = n_sampled
        filled, n_ends, pairs = split_classes(rows.codes[j], members, ends, (0, n_sampled, 0, 1), bins, touched)
        if pairs > 0:
            differences = draw_pairs(rows.cells, members, ends, (n_sampled, filled, 1, n_ends), pairs, state)
            evidence = np.concatenate((evidence, differences))
    return minimal_sets(evidence)
