"""What a class holds of a column: its lowest and highest code, and its distinct codes with counts.

Sums of floats without rounding, so that neither their order nor the parts they come in show.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.kernels._jit import bare, inner, jit

__all__ = ["HALF", "N_EXPONENTS", "add_up", "class_codes", "class_ranges", "class_values", "known_ranges", "settle"]


@jit
def class_ranges(labels: CodeArray, codes: CodeArray, n_classes: int) -> tuple[CodeArray, CodeArray]:
    """Return the lowest and the highest code of every class (-1, missing, is the lowest of all)."""
    low = np.full(n_classes, np.iinfo(np.int32).max, np.int32)
    high = np.full(n_classes, np.int32(-2), np.int32)
    for row in range(labels.size):
        label = labels[row]
        if label >= 0:
            low[label] = min(low[label], codes[row])
            high[label] = max(high[label], codes[row])
    return low, high


@bare
def known_ranges(
    labels: CodeArray, codes: CodeArray, place: CodeArray, low: CodeArray, high: CodeArray, has_missing: BoolArray
) -> None:
    """Set the first and the last known place of every class, from 0 (-1 for none), and whether it misses some.

    place : int32 (n_codes + 1,), the place of the missing value, always 0, and of every code
    """
    low[:], high[:], has_missing[:] = 2**31 - 1, -1, False
    for row in range(labels.size):
        label, at = labels[row], place[codes[row] + 1] - 1
        if label < 0:
            continue
        if at < 0:
            has_missing[label] = True
        else:
            low[label] = min(low[label], at)
            high[label] = max(high[label], at)
    for label in range(low.size):
        low[label] = min(low[label], high[label])


@jit
def class_codes(labels: CodeArray, codes: CodeArray, n_codes: int, n_classes: int) -> tuple[CountArray, CodeArray]:
    """Return the distinct codes of every class: c has ``codes[offsets[c]:offsets[c + 1]]``, ascending.

    n_codes : at most 63, so that a word tells with the missing value which ones there are
    """
    held = np.zeros(n_classes, np.uint64)
    for row in range(labels.size):
        if labels[row] >= 0:
            held[labels[row]] |= np.uint64(1) << np.uint64(codes[row] + 1)
    offsets, n_found = np.zeros(n_classes + 1, np.int64), 0
    for label in range(n_classes):
        word = held[label]
        while word:
            word &= word - np.uint64(1)
            n_found += 1
        offsets[label + 1] = n_found
    found = np.empty(n_found, np.int32)
    for label in range(n_classes):
        place = offsets[label]
        for code in range(-1, n_codes):
            if held[label] >> np.uint64(code + 1) & np.uint64(1):
                found[place] = code
                place += 1
    return offsets, found


@jit
def class_values(
    offsets: CountArray, rows: CodeArray, codes: CodeArray, counts: CountArray, n_codes: int
) -> tuple[CountArray, CodeArray, CountArray]:
    """Return the sparse class-by-value histogram of a column.

    Class c holds ``codes[offsets[c]:offsets[c + 1]]``, ascending, that many records each;
    rows that count 0 hold nothing.
    """
    n_classes = offsets.size - 1
    found_offsets = np.zeros(n_classes + 1, np.int64)
    found_codes = np.empty(rows.size, np.int32)
    found_counts = np.empty(rows.size, np.int64)
    records = np.zeros(n_codes + 1, np.int64)
    n_found = 0
    for label in range(n_classes):
        begin = n_found
        for i in range(offsets[label], offsets[label + 1]):
            if counts[rows[i]] == 0:
                continue
            code = codes[rows[i]]
            if records[code + 1] == 0:
                found_codes[n_found] = code
                n_found += 1
            records[code + 1] += counts[rows[i]]
        settle(records, found_codes[begin:n_found], found_counts[begin:n_found])
        found_offsets[label + 1] = n_found
    return found_offsets, found_codes[:n_found].copy(), found_counts[:n_found].copy()


@inner
def settle(records: CountArray, codes: CodeArray, counts: CountArray) -> None:
    """Put the codes of a class in order, and set how many records each has.

    records : int64 (n_codes + 1,), of the missing value and every code; 0 everywhere afterwards

    Where a class holds many of all codes these are looked through, else its own are sorted: by Shell's sort, which few
    codes suit, and which compiles in a tenth of the time of numpy's.
    """
    n_held, place = codes.size, 0
    if _MANY * n_held > records.size:
        for entry in range(records.size):
            if records[entry] > 0:
                codes[place], counts[place], records[entry] = entry - 1, records[entry], 0
                place += 1
        return
    gap = 1
    while gap < n_held // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n_held):
            code, place = codes[i], i
            while place >= gap and codes[place - gap] > code:
                codes[place] = codes[place - gap]
                place -= gap
            codes[place] = code
        gap //= 3
    for place in range(n_held):
        counts[place] = records[codes[place] + 1]
        records[codes[place] + 1] = 0


_MANY = 16  # times the codes of a class

N_EXPONENTS = 2**11
HALF = 26  # bits of the lower part of a mantissa of 53, so that 2^36 of either part add up without overflow


@bare
def add_up(bits: NDArray[np.uint64], sums: CountArray) -> None:
    """Add the mantissas of finite floats, given as bits, to the sums of their exponents.

    sums : int64 (N_EXPONENTS, 2), of the lower and upper part of the mantissas
    """
    for i in range(bits.size):
        exponent = np.int64(bits[i] >> np.uint64(52)) & (N_EXPONENTS - 1)
        mantissa = np.int64(bits[i] & np.uint64(2**52 - 1))
        if exponent > 0:
            mantissa += 2**52
        sign = -1 if bits[i] >> np.uint64(63) else 1
        sums[exponent, 0] += sign * (mantissa & (2**HALF - 1))
        sums[exponent, 1] += sign * (mantissa >> HALF)
