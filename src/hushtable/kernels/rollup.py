"""Roll-ups: the classes of a node of a lattice, from the classes of a node below it."""

from __future__ import annotations

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import bare, jit
from hushtable.kernels.histogram import settle

__all__ = ["add_up", "group_by_address", "group_by_hash", "merge_values", "node_keys"]

_SPREAD, _OTHER, _HALF = np.uint64(0x9E3779B1), np.uint64(0x85EBCA6B), np.uint64(0xFFFFFFFF)


@bare
def node_keys(codes: CodeArray, rows: CodeArray, picked: CountArray, table: CountArray, keys: CountArray) -> None:
    """Add to the key of every row the nodes of its values.

    codes : int32 (n, n_columns), code + 1 of every row
    rows : int32 (n_rows,), whose keys are asked for
    picked : int64 (n_picked,), the columns that count
    table : int64 (n_picked, widest), the node of every code, times what makes the sum a number of its own
    keys : int64 (n_rows,), what is added to
    """
    for i in range(rows.size):
        row, key = np.uint64(rows[i]), keys[i]
        for j in range(picked.size):
            key += table[np.uint64(j), np.uint64(codes[row, np.uint64(picked[j])])]
        keys[i] = key


@bare
def group_by_address(
    keys: CountArray,
    counts: CountArray,
    slots: CodeArray,
    stamp: int,
    labels: CodeArray,
    first: CodeArray,
    sizes: CountArray,
) -> int:
    """Group equal keys, all below the number of slots; return how many differ.

    slots : int32, all below ``stamp``, which lets them be used again without being cleared
    labels : int32 (n,), to be set: the group of every key, by first appearance
    first, sizes : (n,), to be set: the place of the first key of every group, and its records
    """
    n_found = 0
    for i in range(keys.size):
        key = np.uint64(keys[i])
        label = slots[key] - stamp
        if label < 0:
            label = n_found
            slots[key] = stamp + label
            first[label], sizes[label] = i, 0
            n_found += 1
        sizes[label] += counts[i]
        labels[i] = label
    return n_found


@bare
def group_by_hash(
    keys: CountArray,
    counts: CountArray,
    slots: CodeArray,
    stamp: int,
    labels: CodeArray,
    first: CodeArray,
    sizes: CountArray,
) -> int:
    """Group equal keys, whatever their size; as `group_by_address`. Slots: a power of two, at least two for a key."""
    last = np.uint64(slots.size - 1)
    n_found = 0
    for i in range(keys.size):
        key = np.uint64(keys[i])
        # Odd factors of 32 bits spread either half of a key; no product passes 64 bits.
        spread = ((key & _HALF) * _SPREAD) ^ ((key >> np.uint64(32)) * _OTHER)
        slot = (spread ^ (spread >> np.uint64(29))) & last
        label = slots[slot] - stamp
        while label >= 0 and keys[first[label]] != keys[i]:
            slot = (slot + np.uint64(1)) & last
            label = slots[slot] - stamp
        if label < 0:
            label = n_found
            slots[slot] = stamp + label
            first[label], sizes[label] = i, 0
            n_found += 1
        sizes[label] += counts[i]
        labels[i] = label
    return n_found


@bare
def add_up(
    codes: CodeArray, rows: CodeArray, counts: CountArray, chosen: BoolArray, table: FloatArray, sums: FloatArray
) -> None:
    """Add what the chosen classes cost in every column.

    codes : int32 (n, n_columns), code + 1 of every row
    rows, counts, chosen : (n_classes,), a row of every class, its records, whether it counts
    table : float64 (n_columns, widest), the cost of every code
    sums : float64 (n_columns,), what is added to
    """
    for i in range(rows.size):
        if chosen[i]:
            row, count = np.uint64(rows[i]), float(counts[i])
            for j in range(sums.size):
                sums[j] += count * table[np.uint64(j), np.uint64(codes[row, np.uint64(j)])]


@jit
def merge_values(
    offsets: CountArray, classes: CodeArray, held_offsets: CountArray, held: CodeArray, counts: CountArray, n_codes: int
) -> tuple[CountArray, CodeArray, CountArray]:
    """Return the sparse class-by-value histogram of groups of classes.

    offsets, classes : group g has ``classes[offsets[g]:offsets[g + 1]]``
    held_offsets, held, counts : class c holds ``held[held_offsets[c]:held_offsets[c + 1]]``, so many records each
    n_codes : values, the missing one (-1) apart

    As `hushtable.kernels.histogram.class_values`: ascending codes.
    """
    n_groups = offsets.size - 1
    found_offsets = np.zeros(n_groups + 1, np.int64)
    found = np.empty(held.size, np.int32)
    found_counts = np.empty(held.size, np.int64)
    records = np.zeros(n_codes + 1, np.int64)
    n_found = 0
    for group in range(n_groups):
        begin = n_found
        for place in range(offsets[group], offsets[group + 1]):
            label = classes[place]
            for i in range(held_offsets[label], held_offsets[label + 1]):
                code = held[i]
                if records[code + 1] == 0:
                    found[n_found] = code
                    n_found += 1
                records[code + 1] += counts[i]
        settle(records, found[begin:n_found], found_counts[begin:n_found])
        found_offsets[group + 1] = n_found
    return found_offsets, found[:n_found].copy(), found_counts[:n_found].copy()
