"""Full-domain passes over the rows that are left over: which of them are in groups that are large enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import bare

__all__ = ["roll_up"]

_MIX = 0x9E3779B97F4A7C15


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
    for slot in range(held.size):
        if held[slot] >= min_size:
            n_kept += held[slot]
    return n_kept
