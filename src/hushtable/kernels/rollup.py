"""Roll-ups: the classes of a node of a lattice, from those of a node below it; and grouping of rows that remain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels import judge
from hushtable.kernels._jit import jit, jit_bare
from hushtable.kernels.class_profile import sort_codes
from hushtable.kernels.regroup import JudgedBlock

_HASH_FACTOR = 0x9E3779B97F4A7C15


class Groups(NamedTuple):
    """Groups of distinct rows."""

    rows: CountArray  # which of all distinct rows
    slots: CodeArray  # (n_rows,), the slot of each row
    slot_sizes: CountArray  # (n_slots,), records of each slot
    offsets: CountArray  # (n_distinct + 1,), where the records of every distinct row begin
    records: CodeArray
    first: CodeArray  # (n_slots,), scratch
    after: CodeArray  # (n_rows,), scratch


@jit_bare
def roll_up(
    nodes: CodeArray,
    levels: CountArray,
    counts: CountArray,
    min_size: int,
    keys: NDArray[np.uint64],
    slot_sizes: CountArray,
    slots: CodeArray,
) -> int:
    """Group rows by their nodes of some levels; return how many records are in groups of the least size or more.

    Rows whose keys of 64 bits are equal by chance make a group wider, no more. There are twice as many slots as rows.
    """
    last = np.uint64(keys.size - 1)
    slot_sizes[:] = 0
    for row in range(counts.size):
        key = np.uint64(0)
        for level in levels:
            key = (key ^ np.uint64(nodes[level, row])) * np.uint64(_HASH_FACTOR)
            key ^= key >> np.uint64(29)
        slot = key & last
        while slot_sizes[slot] > 0 and keys[slot] != key:
            slot = (slot + np.uint64(1)) & last
        keys[slot] = key
        slot_sizes[slot] += counts[row]
        slots[row] = slot
    n_kept = 0
    for i in range(slot_sizes.size):
        if slot_sizes[i] >= min_size:
            n_kept += slot_sizes[i]
    return n_kept


@jit_bare
def empty_failing_groups(groups: Groups, checker: JudgedBlock, min_size: int) -> int:
    """Empty the slots of groups that fail the rules; return the records of the others of ``min_size`` or more."""
    groups.first[:] = -1
    for i in range(groups.rows.size):
        groups.after[i] = groups.first[groups.slots[i]]
        groups.first[groups.slots[i]] = i
    n_kept = 0
    for slot in range(groups.slot_sizes.size):
        size = groups.slot_sizes[slot]
        if size < min_size:
            continue
        checker.value_counts[:] = 0
        checker.n_distinct[:] = 0
        i = int(groups.first[slot])
        while i >= 0:
            row = groups.rows[i]
            for position in range(groups.offsets[row], groups.offsets[row + 1]):
                for s in range(checker.sensitive.shape[0]):
                    code = checker.sensitive[s, groups.records[position]]
                    checker.n_distinct[s] += int(code > 0 and checker.value_counts[s, code] == 0)
                    checker.value_counts[s, code] += 1
            i = int(groups.after[i])
        if judge.passes(checker.rules, size, 0, checker.value_counts, checker.n_distinct, checker.nodes):
            n_kept += size
        else:
            groups.slot_sizes[slot] = 0
    return n_kept


_LOW_FACTOR, _HIGH_FACTOR, _LOW_MASK = np.uint64(0x9E3779B1), np.uint64(0x85EBCA6B), np.uint64(0xFFFFFFFF)


@jit_bare
def add_node_keys(codes: CodeArray, rows: CodeArray, picked: CountArray, table: CountArray, keys: CountArray) -> None:
    """Add the nodes of its values to the key of every row, scaled so that different nodes have different sums."""
    for i in range(rows.size):
        row, key = np.uint64(rows[i]), keys[i]
        for j in range(picked.size):
            key += table[np.uint64(j), np.uint64(codes[row, np.uint64(picked[j])])]
        keys[i] = key


@jit_bare
def group_by_address(
    keys: CountArray,
    counts: CountArray,
    slots: CodeArray,
    stamp: int,
    labels: CodeArray,
    first: CodeArray,
    sizes: CountArray,
) -> int:
    """Group equal keys, all below the number of slots, by first appearance; return how many differ.

    Slots are all below ``stamp``, which lets them be used again without being cleared.
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


@jit_bare
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
        spread = ((key & _LOW_MASK) * _LOW_FACTOR) ^ ((key >> np.uint64(32)) * _HIGH_FACTOR)
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


@jit_bare
def add_costs(
    codes: CodeArray, rows: CodeArray, counts: CountArray, chosen: BoolArray, table: FloatArray, sums: FloatArray
) -> None:
    """Add what the chosen classes cost in every column, by a row and the records of each; codes are shifted by one."""
    for i in range(rows.size):
        if chosen[i]:
            row, count = np.uint64(rows[i]), float(counts[i])
            for j in range(sums.size):
                sums[j] += count * table[np.uint64(j), np.uint64(codes[row, np.uint64(j)])]


@jit
def merge_values(
    offsets: CountArray, classes: CodeArray, starts: CountArray, values: CodeArray, counts: CountArray, n_codes: int
) -> tuple[CountArray, CodeArray, CountArray]:
    """Return the sparse class-by-value histogram of groups of classes, as `class_profile.class_values` does."""
    n_groups = offsets.size - 1
    found_offsets = np.zeros(n_groups + 1, np.int64)
    found_codes = np.empty(values.size, np.int32)
    found_counts = np.empty(values.size, np.int64)
    records = np.zeros(n_codes + 1, np.int64)
    n_found = 0
    for group in range(n_groups):
        begin = n_found
        for position in range(offsets[group], offsets[group + 1]):
            label = classes[position]
            for i in range(starts[label], starts[label + 1]):
                code = values[i]
                if records[code + 1] == 0:
                    found_codes[n_found] = code
                    n_found += 1
                records[code + 1] += counts[i]
        sort_codes(records, found_codes[begin:n_found], found_counts[begin:n_found])
        found_offsets[group + 1] = n_found
    return found_offsets, found_codes[:n_found].copy(), found_counts[:n_found].copy()
