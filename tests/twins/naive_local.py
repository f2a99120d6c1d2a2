"""Slow, obvious twins of local recoding: what a class costs, near rows, groups of levels, and rings taken apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

MISSING = -1


def cell_cost(loss: Any, axis: Any, codes: Sequence[int], weight: float = 1.0) -> float:
    """Cost a cell that covers the codes of one column: lowest common node, interval, or set."""
    held = set(codes)
    if axis.hierarchy is not None:
        return weight * node_cost(loss, axis, held)
    if axis.column.is_ordered:
        if len(held) == 1:
            return 0.0
        if MISSING in held:
            return weight
        positions = axis.column.positions()
        return weight * float(positions[max(held)] - positions[min(held)])
    if len(held) == 1:
        return 0.0
    share, leaf = len(held) / axis.domain, 1 / axis.domain
    return weight * ((share - leaf) / (1 - leaf) if loss.name == "arx_loss" else share)


def node_cost(loss: Any, axis: Any, held: set[int]) -> float:
    """Cost the lowest node over all codes."""
    assert axis.hierarchy is not None
    if held == {MISSING}:
        return 0.0
    if MISSING in held:
        return 1.0
    leaf = axis.hierarchy.leaf_share
    for level, shares in enumerate(axis.hierarchy.shares):
        nodes = {int(axis.hierarchy.level_codes[level, code]) for code in held}
        if len(nodes) == 1:
            share = float(shares[nodes.pop()])
            if loss.name == "arx_loss":
                # Of a column of one value every node is that value.
                return max(0.0, share - leaf) / (1 - leaf) if leaf < 1 else 0.0
            return share if len(held) > 1 or level > 0 else 0.0
    raise AssertionError


def class_cost(loss: Any, axes: Sequence[Any], rows: Sequence[Sequence[int]]) -> float:
    """Cost one row of a class."""
    return sum(cell_cost(loss, axis, [row[j] for row in rows]) for j, axis in enumerate(axes))


def nearest_costs(loss: Any, axes: Sequence[Any], rows: Sequence[tuple[int, ...]], n_near: int) -> list[list[float]]:
    """Cost every distinct row beside each other one, and beside itself where it occurs twice; cheapest first."""
    counts = Counter(rows)
    distinct = sorted(counts)
    near = []
    for row in distinct:
        others = [other for other in distinct if other != row or counts[row] > 1]
        near.append(sorted(class_cost(loss, axes, [row, other]) for other in others)[:n_near])
    return near


def least_apart(cost: Callable[[tuple[int, ...]], float], ring: Sequence[int]) -> float:
    """Cost the cheapest way to take a ring apart into pairs of followers, one triple among them where it is odd."""
    n = len(ring)
    best = float("inf")
    for start in range(n):
        turned = [*ring[start:], *ring[:start]]
        parts = [tuple(turned[:3])] if n % 2 else []
        rest = turned[3:] if n % 2 else turned
        parts += [(rest[i], rest[i + 1]) for i in range(0, len(rest), 2)]
        best = min(best, sum(len(part) * cost(part) for part in parts))
    return best


def n_kept(rows: Sequence[tuple[int, ...]], counts: Sequence[int], k: int) -> int:
    """Count the records in groups of equal rows that have k records."""
    sizes: Counter[tuple[int, ...]] = Counter()
    for row, count in zip(rows, counts, strict=True):
        sizes[row] += count
    return sum(size for size in sizes.values() if size >= k)
