"""Where keys stand among known ones: a table with open addressing."""

from __future__ import annotations

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import jit

__all__ = ["fill", "find"]

_SPREAD, _OTHER, _HALF = np.uint64(0x9E3779B1), np.uint64(0x85EBCA6B), np.uint64(0xFFFFFFFF)


@jit
def fill(keys: CountArray, slots: CodeArray) -> None:
    """Put different keys into a table.

    ``keys`` is int64 (n,); ``slots`` int32, a power of 2 of them and more than n, all -1: takes the place of a key.
    """
    last = np.uint64(slots.size - 1)
    for place in range(keys.size):
        slot = _first(keys[place]) & last
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & last
        slots[slot] = place


@jit
def find(keys: CountArray, slots: CodeArray, wanted: CountArray, out: CodeArray) -> int:
    """Look keys up in a table that `fill` made; return how many are not there.

    ``wanted`` is int64 (n_wanted,); ``out`` int32 (n_wanted,) takes the place of each in ``keys``, or -1.
    """
    last = np.uint64(slots.size - 1)
    n_missing = 0
    for i in range(wanted.size):
        slot = _first(wanted[i]) & last
        while slots[slot] >= 0 and keys[slots[slot]] != wanted[i]:
            slot = (slot + np.uint64(1)) & last
        out[i] = slots[slot]
        n_missing += slots[slot] < 0
    return n_missing


@jit
def _first(key: int) -> np.uint64:
    """Return where to look for a key first: odd factors of 32 bits spread its halves; no product passes 64 bits."""
    spread = ((np.uint64(key) & _HALF) * _SPREAD) ^ ((np.uint64(key) >> np.uint64(32)) * _OTHER)
    return spread ^ (spread >> np.uint64(29))
