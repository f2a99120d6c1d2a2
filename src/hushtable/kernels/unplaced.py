"""Full-domain passes over the rows that are left over: which of them are in groups that are large enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels import judge
from hushtable.kernels._jit import bare
from hushtable.kernels.regroup import JudgedBlock

__all__ = ["Groups", "judge_groups", "roll_up"]

_MIX = 0x9E3779B97F4A7C15


class Groups(NamedTuple):
    """Groups of distinct rows.

    rows : int64 (n_rows,), which of all distinct rows
    slots : int32 (n_rows,), the slot of each row
    held : int64 (n_slots,), records of each slot
    offsets : int64 (n_distinct + 1,), and
    records : int32 (n_records,), the records of every distinct row
    first : int32 (n_slots,), scratch
    after : int32 (n_rows,), scratch
    """

    rows: CountArray
    slots: CodeArray
    held: CountArray
    offsets: CountArray
    records: CodeArray
    first: CodeArray
    after: CodeArray


@bare
def roll_up(
    nodes: CodeArray,
    levels: CountArray,
    counts: CountArray,
    min_size: int,
    keys: NDArray[np.uint64],
    held: CountArray,
    slots: CodeArray,
) -> int:
    """Group rows by their nodes of some levels; return how many records are in groups of the least size or more.

    Rows whose nodes differ may come to share a group where their keys of 64 bits do; that makes it wider, no more.

    nodes : int32 (n_levels of all columns, n_rows)
    levels : int64 (n_columns,), which of them
    counts : int64 (n_rows,), records of each row
    keys : uint64 (n_slots,), scratch; a power of 2, at least twice the rows
    held : int64 (n_slots,), out: records of each slot
    slots : int32 (n_rows,), out: the slot of each row
    """
    last = np.uint64(keys.size - 1)
    held[:] = 0
    for row in range(counts.size):
        key = np.uint64(0)
        for level in levels:
            key = (key ^ np.uint64(nodes[level, row])) * np.uint64(_MIX)
            key ^= key >> np.uint64(29)
        slot = key & last
        while held[slot] > 0 and keys[slot] != key:
            slot = (slot + np.uint64(1)) & last
        keys[slot] = key
        held[slot] += counts[row]
        slots[row] = slot
    n_kept = 0
    for place in range(held.size):
        if held[place] >= min_size:
            n_kept += held[place]
    return n_kept


@bare
def judge_groups(groups: Groups, judged: JudgedBlock, min_size: int) -> int:
    """Empty the slots of groups that fail the rules; return how many records are in the others of the least size."""
    groups.first[:] = -1
    for i in range(groups.rows.size):
        groups.after[i] = groups.first[groups.slots[i]]
        groups.first[groups.slots[i]] = i
    n_kept = 0
    for slot in range(groups.held.size):
        size = groups.held[slot]
        if size < min_size:
            continue
        judged.held[:] = 0
        judged.n_held[:] = 0
        i = int(groups.first[slot])
        while i >= 0:
            row = groups.rows[i]
            for place in range(groups.offsets[row], groups.offsets[row + 1]):
                for s in range(judged.sensitive.shape[0]):
                    code = judged.sensitive[s, groups.records[place]]
                    judged.n_held[s] += int(code > 0 and judged.held[s, code] == 0)
                    judged.held[s, code] += 1
            i = int(groups.after[i])
        if judge.passes(judged.rules, size, 0, judged.held, judged.n_held, judged.nodes):
            n_kept += size
        else:
            groups.held[slot] = 0
    return n_kept
