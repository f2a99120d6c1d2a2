"""Blocks whose cost is below what the duals of their rows pay: the pricing step of column generation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit
from hushtable.kernels.cost import Costs, cell_cost

__all__ = ["Found", "Stack", "Wanted", "new_stack", "price"]


class Wanted(NamedTuple):
    """Which blocks are looked for.

    k : blocks hold k to 2 k - 1 rows
    duals : float64 (n_rows,), what each row pays
    least : float64 (n_rows,), what a row costs at least in any block
    below : the reduced cost from which on a block is of no use
    is_all : whether all blocks below are wanted, else for every first row ever better ones
    most_nodes : where to pause
    """

    k: int
    duals: FloatArray
    least: FloatArray
    below: float
    is_all: bool
    most_nodes: int


class Found(NamedTuple):
    """Blocks found.

    rows : int32 (room, 2 k - 1), -1 past the last one
    reduced : float64 (room,), the reduced costs
    best : float64 (n_rows,), of every first row, the least reduced cost found, at most 0
    counts : int64 (3,), blocks found, nodes, and branches cut by the bound
    """

    rows: CodeArray
    reduced: FloatArray
    best: FloatArray
    counts: CountArray


class Stack(NamedTuple):
    """How far a search has come: a block under way, row after row, and what may join it at each depth.

    cursor : int64 (2,), the first row of the blocks under way, and their depth, -1 where none is begun
    limit : float64 (1,), the reduced cost that the first row's next block has to go below
    rows : int32 (2 k - 1,)
    low, high : int32 (2 k - 1, n_columns), the places that the rows so far span
    paid, floors : float64 (2 k - 1,), the sum of their duals, and what a row costs at least
    lists, gains : (2 k - 1, n_rows), the rows that may join, and what each gains at most
    lengths, at : int64 (2 k - 1,), how many they are, and which is next
    """

    cursor: CountArray
    limit: FloatArray
    rows: CodeArray
    low: CodeArray
    high: CodeArray
    paid: FloatArray
    floors: FloatArray
    lists: CodeArray
    gains: FloatArray
    lengths: CountArray
    at: CountArray


def new_stack(n_rows: int, n_columns: int, k: int) -> Stack:
    """Return the stack of a search that has not begun."""
    most = 2 * k - 1
    return Stack(
        cursor=np.array([0, -1], dtype=np.int64),
        limit=np.zeros(1),
        rows=np.empty(most, dtype=np.int32),
        low=np.empty((most, n_columns), dtype=np.int32),
        high=np.empty((most, n_columns), dtype=np.int32),
        paid=np.empty(most),
        floors=np.empty(most),
        lists=np.empty((most, n_rows), dtype=np.int32),
        gains=np.empty((most, n_rows)),
        lengths=np.zeros(most, dtype=np.int64),
        at=np.zeros(most, dtype=np.int64),
    )


@jit
def price(places: CodeArray, costs: Costs, wanted: Wanted, stack: Stack, found: Found) -> bool:
    """Search the blocks of every first row; tell whether all were, or it paused: ``found`` is full, or nodes are out.

    A block costs each of its rows what all of them cost together, so that its reduced cost is a sum
    over rows of (cost - dual), and a cost only rises when rows join. Goes on where ``stack`` was left.
    """
    n_rows, n_columns = places.shape
    most = 2 * wanted.k - 1
    low, high, rows, lists, gains = stack.low, stack.high, stack.rows, stack.lists, stack.gains
    lengths, at, paid, floors, cursor = stack.lengths, stack.at, stack.paid, stack.floors, stack.cursor
    while cursor[0] < n_rows:
        root = cursor[0]
        if cursor[1] < 0:
            stack.limit[0] = wanted.below
            rows[0], paid[0], floors[0] = root, wanted.duals[root], wanted.least[root]
            low[0], high[0] = places[root], places[root]
            lists[0, : n_rows - root - 1] = np.arange(root + 1, n_rows)
            state = (1, floors[0], paid[0], wanted.below)
            n_listed = n_rows - root - 1
            lengths[0] = _rank(places, costs, wanted, (low[0], high[0]), state, lists[0, :n_listed], gains[0])
            at[0] = cursor[1] = 0
        while cursor[1] >= 0:
            if found.counts[0] == found.reduced.size or found.counts[1] > wanted.most_nodes:
                return False
            depth, limit = cursor[1], stack.limit[0]
            size, t = depth + 1, at[depth]
            if _bound(wanted, size, floors[depth] * size - paid[depth], gains[depth], t, lengths[depth]) >= limit:
                found.counts[2] += lengths[depth] - t
                cursor[1] -= 1
                continue
            at[depth] += 1
            found.counts[1] += 1
            child, row = depth + 1, lists[depth, t]
            rows[child] = row
            total = 0.0
            for j in range(n_columns):
                low[child, j] = min(low[depth, j], places[row, j])
                high[child, j] = max(high[depth, j], places[row, j])
                total += cell_cost(costs, j, low[child, j], high[child, j])
            floors[child] = max(total, max(floors[depth], wanted.least[row]))
            paid[child] = paid[depth] + wanted.duals[row]
            size = child + 1
            if size >= wanted.k and size * total - paid[child] < limit:
                _store(found, rows, size, size * total - paid[child])
                if not wanted.is_all:
                    limit = stack.limit[0] = size * total - paid[child]
            if size < most:
                n_listed = lengths[depth] - t - 1
                lists[child, :n_listed] = lists[depth, t + 1 : lengths[depth]]
                state = (size, floors[child], paid[child], limit)
                span = (low[child], high[child])
                lengths[child] = _rank(places, costs, wanted, span, state, lists[child, :n_listed], gains[child])
                at[child], cursor[1] = 0, child
        found.best[root] = min(0.0, stack.limit[0])
        cursor[0] += 1
    return True


@jit
def _store(found: Found, rows: CodeArray, size: int, reduced: float) -> None:
    place = found.counts[0]
    found.rows[place, :size] = rows[:size]
    found.rows[place, size:] = -1
    found.reduced[place] = reduced
    found.counts[0] += 1


@jit
def _bound(wanted: Wanted, size: int, reduced: float, gains: FloatArray, begin: int, end: int) -> float:
    """Return what no block goes below that adds some of the listed rows, which fall in gain, to those so far."""
    n_needed = wanted.k - size
    if end - begin < max(1, n_needed):
        return np.inf
    for i in range(begin, min(end, begin + 2 * wanted.k - 1 - size)):
        if i > begin and i - begin >= n_needed and gains[i] <= 0:
            break
        reduced -= gains[i]
    return reduced


@jit
def _rank(
    places: CodeArray,
    costs: Costs,
    wanted: Wanted,
    span: tuple[CodeArray, CodeArray],
    state: tuple[int, float, float, float],
    rows: CodeArray,
    gains: FloatArray,
) -> int:
    """Keep the rows that may still join a useful block, by falling gain; return how many."""
    low, high = span
    size, floor, paid, limit = state
    n_rows = rows.size
    n_more = 2 * wanted.k - 1 - size
    top = np.full(n_more, -np.inf)
    rise = np.empty(n_rows)
    for i in range(n_rows):
        row = rows[i]
        total = 0.0
        for j in range(low.size):
            total += cell_cost(costs, j, min(low[j], places[row, j]), max(high[j], places[row, j]))
        cost = max(floor, max(total, wanted.least[row]))
        rise[i] = size * (cost - floor)
        gain = wanted.duals[row] - cost
        gains[i] = gain
        place = n_more - 1
        if gain > top[place]:
            while place > 0 and top[place - 1] < gain:
                top[place] = top[place - 1]
                place -= 1
            top[place] = gain
    # What the other rows of the block gain at most.
    others = 0.0
    for i in range(n_more - 1):
        if i >= wanted.k - size - 1 and top[i] <= 0:
            break
        others += top[i]
    n_kept = 0
    for i in range(n_rows):
        gain, row = gains[i], rows[i]
        if size * floor + rise[i] - paid - gain - others >= limit:
            continue
        place = n_kept
        while place > 0 and gains[place - 1] < gain:
            gains[place], rows[place] = gains[place - 1], rows[place - 1]
            place -= 1
        gains[place], rows[place] = gain, row
        n_kept += 1
    return n_kept
