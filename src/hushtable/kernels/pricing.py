"""Search blocks that cost less than the duals of their rows pay: the pricing step of column generation."""

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
    """Which blocks to search for."""

    k: int  # blocks hold k to 2 k - 1 rows
    duals: FloatArray  # (n_rows,), what each row pays
    min_costs: FloatArray  # (n_rows,), what a row costs at least in any block
    below: float  # the reduced cost from which on a block is of no use
    is_all: bool  # whether all blocks below are wanted, else for every first row ever better ones
    max_nodes: int  # where to pause


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
    spans: CodeArray  # (2 k - 1, 2, n_columns), the lowest and highest codes of the rows so far
    candidates: NDArray[Any]  # LISTED (2 k - 1, n_rows), the rows that may join
    top: FloatArray  # (2 k - 1,), scratch


def new_stack(n_rows: int, n_columns: int, k: int) -> BlockStack:
    """Return the stack of a search that has not begun."""
    max_size = 2 * k - 1
    return BlockStack(
        cursor=np.array([0, -1], dtype=np.int64),
        limit=np.zeros(1),
        depths=np.zeros(max_size, dtype=DEPTH),
        spans=np.empty((max_size, 2, n_columns), dtype=np.int32),
        candidates=np.empty((max_size, n_rows), dtype=LISTED),
        top=np.empty(max_size),
    )


@jit_bare
def price_blocks(codes: CodeArray, costs: Costs, query: Wanted, stack: BlockStack, blocks: FoundBlocks) -> bool:
    """Search the blocks of every first row, on from ``stack``; return False where it paused for room or nodes.

    A block costs each of its rows what all cost together: a reduced cost is a sum over rows, and only rises with rows.
    """
    n_rows, n_columns = codes.shape
    depths, spans, candidates, cursor = stack.depths, stack.spans, stack.candidates, stack.cursor
    while cursor[0] < n_rows:
        root = cursor[0]
        if cursor[1] < 0:
            cursor[1], stack.limit[0] = 0, query.below
            root_node = depths[0]
            root_node.row, root_node.paid, root_node.floor = root, query.duals[root], query.min_costs[root]
            root_node.n_listed, root_node.at = n_rows - root - 1, -1
            for j in range(n_columns):
                spans[0, 0, j] = spans[0, 1, j] = codes[root, j]
            for i in range(root_node.n_listed):
                candidates[0, i].row = root + 1 + i
        while cursor[1] >= 0:
            depth, limit = cursor[1], stack.limit[0]
            node, may_join, size = depths[depth], candidates[depth], depth + 1
            if node.at < 0:
                state = (size, node.floor, node.paid, limit)
                node.n_listed = _rank_rows(
                    codes, costs, query, spans[depth], state, may_join[: node.n_listed], stack.top
                )
                node.at = 0
            if blocks.counts[0] == blocks.reduced.size or blocks.counts[1] > query.max_nodes:
                return False
            t = node.at
            if _bound_blocks(query.k, size, node.floor * size - node.paid, may_join, t, node.n_listed) >= limit:
                blocks.counts[2] += node.n_listed - t
                cursor[1] -= 1
                continue
            node.at = t + 1
            blocks.counts[1] += 1
            row, size = may_join[t].row, size + 1
            total = 0.0
            for j in range(n_columns):
                code = int(codes[row, j])
                low, high = min(int(spans[depth, 0, j]), code), max(int(spans[depth, 1, j]), code)
                spans[depth + 1, 0, j], spans[depth + 1, 1, j] = low, high
                total += cell_cost(costs, j, low, high)
            child = depths[depth + 1]
            child.row, child.paid = row, node.paid + query.duals[row]
            child.floor = max(total, max(node.floor, query.min_costs[row]))
            if size >= query.k and size * total - child.paid < limit:
                _store_block(blocks, depths[:size], size * total - child.paid)
                if not query.is_all:
                    stack.limit[0] = size * total - child.paid
            if size < depths.size:
                child.n_listed, child.at = node.n_listed - t - 1, -1
                for i in range(child.n_listed):
                    candidates[depth + 1, i].row = may_join[t + 1 + i].row
                cursor[1] = depth + 1
        blocks.best[root] = min(0.0, stack.limit[0])
        cursor[0] += 1
    return True


@jit_inner
def _store_block(blocks: FoundBlocks, depths: NDArray[Any], reduced: float) -> None:
    position = blocks.counts[0]
    for i in range(blocks.rows.shape[1]):
        blocks.rows[position, i] = depths[i].row if i < depths.size else -1
    blocks.reduced[position] = reduced
    blocks.counts[0] += 1


@jit_inner
def _bound_blocks(k: int, size: int, reduced: float, candidates: NDArray[Any], begin: int, end: int) -> float:
    """Return a lower bound on the reduced costs of blocks that add candidates, sorted by falling gain."""
    n_needed = k - size
    if end - begin < max(1, n_needed):
        return np.inf
    for i in range(begin, min(end, begin + 2 * k - 1 - size)):
        gain = candidates[i].gain
        if i > begin and i - begin >= n_needed and gain <= 0:
            break
        reduced -= gain
    return reduced


@jit_inner
def _rank_rows(
    codes: CodeArray,
    costs: Costs,
    query: Wanted,
    span: CodeArray,
    state: tuple[int, float, float, float],
    candidates: NDArray[Any],
    top: FloatArray,
) -> int:
    """Keep the rows that may still join a useful block, by falling gain; return how many."""
    size, floor, paid, limit = state
    n_more = 2 * query.k - 1 - size
    for i in range(n_more):
        top[i] = -np.inf
    for i in range(candidates.size):
        row = candidates[i].row
        total = 0.0
        for j in range(codes.shape[1]):
            code = int(codes[row, j])
            total += cell_cost(costs, j, min(int(span[0, j]), code), max(int(span[1, j]), code))
        cost = max(floor, max(total, query.min_costs[row]))
        gain = query.duals[row] - cost
        candidates[i].gain, candidates[i].rise = gain, size * (cost - floor)
        rank = n_more - 1
        if gain > top[rank]:
            while rank > 0 and top[rank - 1] < gain:
                top[rank] = top[rank - 1]
                rank -= 1
            top[rank] = gain
    # What the other rows of the block gain at most.
    other_gains = 0.0
    for i in range(n_more - 1):
        if i >= query.k - size - 1 and top[i] <= 0:
            break
        other_gains += top[i]
    n_kept = 0
    for i in range(candidates.size):
        gain, row = candidates[i].gain, candidates[i].row
        if size * floor + candidates[i].rise - paid - gain - other_gains >= limit:
            continue
        rank = n_kept
        while rank > 0 and candidates[rank - 1].gain < gain:
            candidates[rank].gain, candidates[rank].row = candidates[rank - 1].gain, candidates[rank - 1].row
            rank -= 1
        candidates[rank].gain, candidates[rank].row = gain, row
        n_kept += 1
    return n_kept
