"""Blocks whose cost is below what the duals of their rows pay: the pricing step of column generation."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit_bare, jit_inner, record_dtype
from hushtable.kernels.cost import Costs, cell_cost

DEPTH: Final = record_dtype(
    ("row", np.int64),  # that joined here
    ("paid", np.float64),  # the sum of the duals of the rows so far
    ("floor", np.float64),  # what a row costs at least
    ("n_listed", np.int64),  # how many rows may join
    ("at", np.int64),  # which of them is next
)

LISTED: Final = record_dtype(
    ("gain", np.float64),  # what a row that may join gains at most
    ("rise", np.float64),  # by how much it raises what the rows so far cost
    ("row", np.int64),
)


class Wanted(NamedTuple):
    """Which blocks are looked for."""

    k: int  # blocks hold k to 2 k - 1 rows
    duals: FloatArray  # (n_rows,), what each row pays
    least: FloatArray  # (n_rows,), what a row costs at least in any block
    below: float  # the reduced cost from which on a block is of no use
    is_all: bool  # whether all blocks below are wanted, else for every first row ever better ones
    most_nodes: int  # where to pause


class FoundBlocks(NamedTuple):
    """Blocks found."""

    rows: CodeArray  # (room, 2 k - 1), -1 past the last one
    reduced: FloatArray  # (room,), the reduced costs
    best: FloatArray  # (n_rows,), of every first row, the least reduced cost found, at most 0
    counts: CountArray  # (3,), blocks found, nodes, and branches cut by the bound


class BlockStack(NamedTuple):
    """How far a search has come: a block under way, row after row, and what may join it at each depth."""

    cursor: CountArray  # (2,), the first row of the blocks under way, and their depth, -1 where none is begun
    limit: FloatArray  # (1,), the reduced cost that the first row's next block has to go below
    depths: NDArray[Any]  # DEPTH (2 k - 1,)
    spans: CodeArray  # (2 k - 1, 2, n_columns), the lowest and highest places of the rows so far
    listed: NDArray[Any]  # LISTED (2 k - 1, n_rows), the rows that may join
    top: FloatArray  # (2 k - 1,), scratch


def new_stack(n_rows: int, n_columns: int, k: int) -> BlockStack:
    """Return the stack of a search that has not begun."""
    most = 2 * k - 1
    return BlockStack(
        cursor=np.array([0, -1], dtype=np.int64),
        limit=np.zeros(1),
        depths=np.zeros(most, dtype=DEPTH),
        spans=np.empty((most, 2, n_columns), dtype=np.int32),
        listed=np.empty((most, n_rows), dtype=LISTED),
        top=np.empty(most),
    )


@jit_bare
def price_blocks(places: CodeArray, costs: Costs, wanted: Wanted, stack: BlockStack, found: FoundBlocks) -> bool:
    """Search the blocks of every first row, on from ``stack``; tell whether all were, or it paused for room or nodes.

    A block costs each of its rows what all cost together: a reduced cost is a sum over rows, and only rises with rows.
    """
    n_rows, n_columns = places.shape
    depths, spans, listed, cursor = stack.depths, stack.spans, stack.listed, stack.cursor
    while cursor[0] < n_rows:
        root = cursor[0]
        if cursor[1] < 0:
            cursor[1], stack.limit[0] = 0, wanted.below
            begun = depths[0]
            begun.row, begun.paid, begun.floor = root, wanted.duals[root], wanted.least[root]
            begun.n_listed, begun.at = n_rows - root - 1, -1
            for j in range(n_columns):
                spans[0, 0, j] = spans[0, 1, j] = places[root, j]
            for i in range(begun.n_listed):
                listed[0, i].row = root + 1 + i
        while cursor[1] >= 0:
            depth, limit = cursor[1], stack.limit[0]
            held, may_join, size = depths[depth], listed[depth], depth + 1
            if held.at < 0:
                state = (size, held.floor, held.paid, limit)
                held.n_listed = _rank_rows(
                    places, costs, wanted, spans[depth], state, may_join[: held.n_listed], stack.top
                )
                held.at = 0
            if found.counts[0] == found.reduced.size or found.counts[1] > wanted.most_nodes:
                return False
            t = held.at
            if _bound_blocks(wanted.k, size, held.floor * size - held.paid, may_join, t, held.n_listed) >= limit:
                found.counts[2] += held.n_listed - t
                cursor[1] -= 1
                continue
            held.at = t + 1
            found.counts[1] += 1
            row, size = may_join[t].row, size + 1
            total = 0.0
            for j in range(n_columns):
                place = int(places[row, j])
                low, high = min(int(spans[depth, 0, j]), place), max(int(spans[depth, 1, j]), place)
                spans[depth + 1, 0, j], spans[depth + 1, 1, j] = low, high
                total += cell_cost(costs, j, low, high)
            child = depths[depth + 1]
            child.row, child.paid = row, held.paid + wanted.duals[row]
            child.floor = max(total, max(held.floor, wanted.least[row]))
            if size >= wanted.k and size * total - child.paid < limit:
                _store_block(found, depths[:size], size * total - child.paid)
                if not wanted.is_all:
                    stack.limit[0] = size * total - child.paid
            if size < depths.size:
                child.n_listed, child.at = held.n_listed - t - 1, -1
                for i in range(child.n_listed):
                    listed[depth + 1, i].row = may_join[t + 1 + i].row
                cursor[1] = depth + 1
        found.best[root] = min(0.0, stack.limit[0])
        cursor[0] += 1
    return True


@jit_inner
def _store_block(found: FoundBlocks, depths: NDArray[Any], reduced: float) -> None:
    place = found.counts[0]
    for i in range(found.rows.shape[1]):
        found.rows[place, i] = depths[i].row if i < depths.size else -1
    found.reduced[place] = reduced
    found.counts[0] += 1


@jit_inner
def _bound_blocks(k: int, size: int, reduced: float, listed: NDArray[Any], begin: int, end: int) -> float:
    """Return what no block goes below that adds some of the listed rows, which fall in gain, to those so far."""
    n_needed = k - size
    if end - begin < max(1, n_needed):
        return np.inf
    for i in range(begin, min(end, begin + 2 * k - 1 - size)):
        gain = listed[i].gain
        if i > begin and i - begin >= n_needed and gain <= 0:
            break
        reduced -= gain
    return reduced


@jit_inner
def _rank_rows(
    places: CodeArray,
    costs: Costs,
    wanted: Wanted,
    span: CodeArray,
    state: tuple[int, float, float, float],
    listed: NDArray[Any],
    top: FloatArray,
) -> int:
    """Keep the rows that may still join a useful block, by falling gain; return how many."""
    size, floor, paid, limit = state
    n_more = 2 * wanted.k - 1 - size
    for i in range(n_more):
        top[i] = -np.inf
    for i in range(listed.size):
        row = listed[i].row
        total = 0.0
        for j in range(places.shape[1]):
            place = int(places[row, j])
            total += cell_cost(costs, j, min(int(span[0, j]), place), max(int(span[1, j]), place))
        cost = max(floor, max(total, wanted.least[row]))
        gain = wanted.duals[row] - cost
        listed[i].gain, listed[i].rise = gain, size * (cost - floor)
        rank = n_more - 1
        if gain > top[rank]:
            while rank > 0 and top[rank - 1] < gain:
                top[rank] = top[rank - 1]
                rank -= 1
            top[rank] = gain
    # What the other rows of the block gain at most.
    others = 0.0
    for i in range(n_more - 1):
        if i >= wanted.k - size - 1 and top[i] <= 0:
            break
        others += top[i]
    n_kept = 0
    for i in range(listed.size):
        gain, row = listed[i].gain, listed[i].row
        if size * floor + listed[i].rise - paid - gain - others >= limit:
            continue
        rank = n_kept
        while rank > 0 and listed[rank - 1].gain < gain:
            listed[rank].gain, listed[rank].row = listed[rank - 1].gain, listed[rank - 1].row
            rank -= 1
        listed[rank].gain, listed[rank].row = gain, row
        n_kept += 1
    return n_kept
