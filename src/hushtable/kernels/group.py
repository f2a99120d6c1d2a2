"""Partition refinement, one column at a time, and lookup of keys among known ones: tables with open addressing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import jit, jit_inner

_ROWS_PER_BLOCK = 1024  # rows whose keys are made together
_FIRST_BITS = 16
_N_FIRST_SLOTS = 2**_FIRST_BITS
# A table of all possible keys is faster than hashing while it is not much larger than the rows.
SLOTS_PER_ROW, SLOTS_ALWAYS = 4, 65_536
_LOW_FACTOR, _HIGH_FACTOR, _LOW_MASK = np.uint64(0x9E3779B1), np.uint64(0x85EBCA6B), np.uint64(0xFFFFFFFF)


@jit
def refine_classes(labels: CodeArray, n_classes: int, codes: CodeArray, n_codes: int, new_labels: CodeArray) -> int:
    """Split every class by a column's codes, -1 included; return the number of classes, numbered by first appearance.

    Rows labelled -1 stay so. A key is a class and a code only, so that it fits 64 bits whatever the number of columns.
    """
    n_rows = labels.size
    width = n_codes + 1
    n_keys = n_classes * width
    if n_keys <= SLOTS_PER_ROW * n_rows + SLOTS_ALWAYS:
        return _refine_by_address(labels, codes, width, np.full(n_keys, np.int32(-1), np.int32), new_labels)
    return _refine_by_hash(labels, codes, width, new_labels)


@jit
def _refine_by_address(labels: CodeArray, codes: CodeArray, width: int, table: CodeArray, new_labels: CodeArray) -> int:
    n_found = 0
    for row in range(labels.size):
        if labels[row] < 0:
            new_labels[row] = -1
            continue
        key = np.int64(labels[row]) * width + codes[row] + 1
        label = table[key]
        if label < 0:
            label = n_found
            table[key] = label
            n_found += 1
        new_labels[row] = label
    return n_found


@jit
def _refine_by_hash(labels: CodeArray, codes: CodeArray, width: int, new_labels: CodeArray) -> int:
    """Open addressing; at most half of the slots are used."""
    n_rows = labels.size
    bits = 1
    while (1 << bits) < 2 * n_rows:
        bits += 1
    mask = np.int64((1 << bits) - 1)
    slots = np.full(1 << bits, np.int32(-1), np.int32)
    keys = np.empty(n_rows, np.int64)
    n_found = 0
    for row in range(n_rows):
        if labels[row] < 0:
            new_labels[row] = -1
            continue
        key = np.int64(labels[row]) * width + codes[row] + 1
        # Folded to 31 bits and spread by an odd factor; no product passes 63 bits.
        spread = ((key ^ (key >> 31)) & 0x7FFFFFFF) * 0x5BD1E995
        slot = (spread ^ (spread >> 31)) & mask
        while slots[slot] >= 0 and keys[slots[slot]] != key:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = n_found
            keys[n_found] = key
            n_found += 1
        new_labels[row] = slots[slot]
    return n_found


@jit
def group_equal_rows(
    codes: CodeArray, widths: CountArray, counts: CountArray, labels: CodeArray, first: CodeArray, sizes: CountArray
) -> int:
    """Group the rows that are equal in all columns, by first appearance; return how many differ.

    The columns make one key of 63 bits for a row. The table is doubled before it is half full: two to four slots for
    a distinct row, so few that they stay in the cache.
    """
    n_columns, n_rows = codes.shape
    keys, block = np.empty(n_rows, np.uint64), np.empty(_ROWS_PER_BLOCK, np.uint64)
    slots, shift, n_found = np.empty(_N_FIRST_SLOTS, np.int32), np.uint64(32 - _FIRST_BITS), 0
    slots[:] = -1
    for begin in range(0, n_rows, _ROWS_PER_BLOCK):
        end = min(begin + _ROWS_PER_BLOCK, n_rows)
        block[:] = np.uint64(0)
        for j in range(n_columns):
            width = np.uint64(widths[j])
            for row in range(begin, end):
                block[row - begin] = block[row - begin] * width + np.uint64(codes[j, row] + 1)
        while 2 * (n_found + _ROWS_PER_BLOCK) > slots.size:
            # A slot is 32 bits of hash, shifted: one bit less at every doubling.
            slots, shift = np.empty(2 * slots.size, np.int32), shift - np.uint64(1)
            slots[:] = -1
            for label in range(n_found):
                slots[_find_slot(slots, keys, keys[label], shift)] = label
        for row in range(begin, end):
            key = block[row - begin]
            slot = _find_slot(slots, keys, key, shift)
            label = slots[slot]
            if label < 0:
                label = n_found
                slots[slot], keys[label], first[label], sizes[label] = label, key, row, 0
                n_found += 1
            sizes[label] += counts[row]
            labels[row] = label
    return n_found


@jit_inner
def _find_slot(slots: CodeArray, keys: NDArray[np.uint64], key: np.uint64, shift: np.uint64) -> np.uint64:
    """Return the slot of a key, or the free one that it would have."""
    last = np.uint64(slots.size - 1)
    # Odd factors of 32 bits spread either half of a key; no product passes 64 bits.
    spread = ((key & _LOW_MASK) * _LOW_FACTOR) ^ ((key >> np.uint64(32)) * _HIGH_FACTOR)
    slot = ((spread ^ (spread >> np.uint64(32))) & _LOW_MASK) >> shift
    while slots[slot] >= 0 and keys[slots[slot]] != key:
        slot = (slot + np.uint64(1)) & last
    return slot


@jit
def class_sizes(labels: CodeArray, counts: CountArray, n_classes: int) -> CountArray:
    """Sum the records of every class; rows with label -1 are in none."""
    sizes = np.zeros(n_classes, np.int64)
    for row in range(labels.size):
        if labels[row] >= 0:
            sizes[labels[row]] += counts[row]
    return sizes


@jit
def first_rows(labels: CodeArray, n_classes: int) -> CodeArray:
    """Return the first row of every class."""
    first = np.full(n_classes, np.int32(-1), np.int32)
    for row in range(labels.size - 1, -1, -1):
        if labels[row] >= 0:
            first[labels[row]] = row
    return first


@jit
def rows_by_class(labels: CodeArray, n_classes: int) -> tuple[CountArray, CodeArray]:
    """Sort rows by class: the rows of class c are ``rows[offsets[c]:offsets[c + 1]]``, ascending."""
    offsets = np.zeros(n_classes + 1, np.int64)
    for row in range(labels.size):
        if labels[row] >= 0:
            offsets[labels[row] + 1] += 1
    for label in range(n_classes):
        offsets[label + 1] += offsets[label]
    rows = np.empty(offsets[n_classes], np.int32)
    next_position = offsets[:n_classes].copy()
    for row in range(labels.size):
        if labels[row] >= 0:
            rows[next_position[labels[row]]] = row
            next_position[labels[row]] += 1
    return offsets, rows


@jit
def fill_slots(keys: CountArray, slots: CodeArray) -> None:
    """Enter the positions of different keys into ``slots``: all -1 before, a power of 2 of them, more than keys."""
    last = np.uint64(slots.size - 1)
    for position in range(keys.size):
        slot = _hash_key(keys[position]) & last
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & last
        slots[slot] = position


@jit
def find_keys(keys: CountArray, slots: CodeArray, queries: CountArray, positions: CodeArray) -> int:
    """Look up keys in a table that `fill_slots` made: their positions, or -1; return how many are not there."""
    last = np.uint64(slots.size - 1)
    n_missing = 0
    for i in range(queries.size):
        slot = _hash_key(queries[i]) & last
        while slots[slot] >= 0 and keys[slots[slot]] != queries[i]:
            slot = (slot + np.uint64(1)) & last
        positions[i] = slots[slot]
        n_missing += slots[slot] < 0
    return n_missing


@jit
def _hash_key(key: int) -> np.uint64:
    """Return the hash of a key: odd factors of 32 bits spread its halves; no product passes 64 bits."""
    spread = ((np.uint64(key) & _LOW_MASK) * _LOW_FACTOR) ^ ((np.uint64(key) >> np.uint64(32)) * _HIGH_FACTOR)
    return spread ^ (spread >> np.uint64(29))
