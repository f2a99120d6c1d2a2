"""Rings of rows, each followed by one it is cheap beside, taken apart into pairs; an odd ring has one triple."""

from __future__ import annotations

from hushtable._types import CodeArray, FloatArray
from hushtable.kernels._jit import bare, inner
from hushtable.kernels.class_costs import KIND_SET, Space, pair_cost, run_cost

__all__ = ["take_apart"]


@inner
def _triple_cost(space: Space, one: int, two: int, three: int) -> float:
    """Return what a class of three rows costs each of them."""
    total = 0.0
    for j in range(space.columns.size):
        p, q, r = int(space.codes[one, j]), int(space.codes[two, j]), int(space.codes[three, j])
        if space.columns[j].kind == KIND_SET:
            n_codes = 1 + int(p != q) + int(r not in (p, q))
            if n_codes > 1:
                total += n_codes * space.columns[j].each + space.columns[j].rest
        else:
            total += run_cost(space, j, min(p, q, r), max(p, q, r))
    return total


@bare
def take_apart(space: Space, following: CodeArray, labels: CodeArray, ring: CodeArray, edges: FloatArray) -> int:
    """Make classes of two and three rows from rings; return how many.

    following : int32 (n_rows,), the row after each in its ring, never the row itself
    labels : int32 (n_rows,), out; all -1 on entry
    ring : int32 (n_rows,), scratch
    edges : float64 (n_rows,), scratch
    """
    n_classes = 0
    for row in range(following.size):
        if labels[row] >= 0:
            continue
        length = 0
        member = row
        while labels[member] < 0:
            labels[member] = 0
            ring[length] = member
            length += 1
            member = int(following[member])
        for i in range(length):
            edges[i] = 2.0 * pair_cost(space, int(ring[i]), int(ring[(i + 1) % length]), 1e300)
        # The sum over every other edge, from the third after a start on; two places further, two edges change.
        first, start, least = length % 2 * 3, 0, 1e300
        total = 0.0
        for i in range(first, length - 1, 2):
            total += edges[i]
        for turn in range(length if first else 2):
            if first:
                at = 2 * turn % length
                cost = total + 3.0 * _triple_cost(
                    space, int(ring[at]), int(ring[(at + 1) % length]), int(ring[(at + 2) % length])
                )
                total += edges[at] - edges[(at + 3) % length] if length > 3 else 0.0
            else:
                at = turn
                cost = total
                for i in range(length):
                    cost += edges[i] * (i % 2) - edges[i] * (1 - i % 2) if turn == 1 else 0.0
            if cost < least:
                least, start = cost, at
        for i in range(length):
            labels[ring[(start + i) % length]] = n_classes + (max(0, i - first) // 2 + int(first > 0 and i >= 3))
        n_classes += length // 2
    return n_classes
