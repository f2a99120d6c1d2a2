"""Annealing over partitions: rows move and change places, blocks merge and split, and the loss falls."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels import judge
from hushtable.kernels._jit import jit_bare, jit_inner, record_dtype
from hushtable.kernels.cost import Costs, cell_cost
from hushtable.kernels.park_miller import draw_number

_N_COUNTS = 5
_MAX_ROWS_TO_SPLIT = 4_096  # rows; a split takes time quadratic in them

ROW: Final = record_dtype(
    ("block", np.int64),
    ("slot", np.int64),  # where it stands among the block's members
)

BLOCK: Final = record_dtype(
    ("n_rows", np.int64),  # 0 where the block is free
    ("value", np.float64),  # what all its rows cost
    ("other", np.float64),  # scratch: what they cost before a change, or would after it
)


class Blocks(NamedTuple):
    """A partition that changes."""

    rows: NDArray[Any]  # ROW (n_rows,)
    blocks: NDArray[Any]  # BLOCK (n_blocks,)
    members: CodeArray  # (n_blocks, room)
    free: CountArray  # (n_blocks + 1,), how many blocks are free, then which
    mixed: CodeArray  # (2 * room,), scratch: the rows of two blocks


class JudgedBlock(NamedTuple):
    """What rules look at besides the number of rows, and scratch for it, as `judge.passes` takes it."""

    is_judged: bool  # False where the size says all: nothing else is read then
    sensitive: CodeArray  # (n_sensitive, n_rows), codes + 1
    rules: judge.Rules
    value_counts: CountArray
    n_distinct: CountArray
    nodes: FloatArray


def judge_nothing() -> JudgedBlock:
    """Return what blocks are judged by where their size says all."""
    sensitive, value_counts = np.empty((0, 0), dtype=np.int32), np.empty((0, 0), dtype=np.int64)
    counts, numbers = np.empty(0, dtype=np.int64), np.empty(0)
    return JudgedBlock(False, sensitive, judge.Rules(counts, counts, numbers), value_counts, counts, numbers)


class Check(NamedTuple):
    """What every block satisfies."""

    min_size: int  # the least size
    room: int  # the largest size
    checker: JudgedBlock  # what else


class DrawSchedule(NamedTuple):
    """Random state and schedule."""

    state: CountArray  # (1,), 1 to 2^31 - 2
    n_steps: int  # how many changes to try
    hot: float  # temperature of the first step, in weighted cells
    cold: float  # of the last one
    share_big: float  # of the steps, those that merge or split
    max_looked: int = 2**62  # how many rows and counts of blocks may be looked at, about, before it pauses
    idle: int = 16  # how many could be looked at in the time of an idle step


def new_blocks(labels: CodeArray, values: FloatArray, room: int) -> Blocks:
    """Return a partition as blocks of at most ``room`` rows that cost ``values``; those past the labels are free."""
    sizes = np.bincount(labels, minlength=len(values))
    order = np.argsort(labels, kind="stable")
    rows, blocks = np.empty(len(labels), dtype=ROW), np.zeros(len(values), dtype=BLOCK)
    rows["block"], blocks["n_rows"], blocks["value"] = labels, sizes, values
    rows["slot"][order] = np.arange(len(labels)) - (np.cumsum(sizes) - sizes)[labels[order]]
    members = np.zeros((len(values), room), dtype=np.int32)
    members[rows["block"], rows["slot"]] = np.arange(len(labels))
    spare = np.flatnonzero(sizes == 0)
    free = np.zeros(len(values) + 1, dtype=np.int64)
    free[0], free[1 : len(spare) + 1] = len(spare), spare
    return Blocks(rows, blocks, members, free, np.empty(2 * room, dtype=np.int32))


@jit_inner
def _cost_of(codes: CodeArray, costs: Costs, members: CodeArray, size: int, without: int, extra: int) -> float:
    """Cost one row of a block, the row in one slot removed and an extra one added; -1 for none of either."""
    total = 0.0
    for j in range(codes.shape[1]):
        low, high = 2_147_483_647, -1
        if extra >= 0:
            low = high = int(codes[extra, j])
        for slot in range(size):
            if slot != without:
                code = int(codes[members[slot], j])
                low, high = min(low, code), max(high, code)
        if low < high:
            total += cell_cost(costs, j, low, high)
    return total


@jit_inner
def _append_row(blocks: Blocks, row: int, block: int) -> None:
    slot = blocks.blocks[block].n_rows
    blocks.members[block, slot] = row
    blocks.rows[row].block, blocks.rows[row].slot = block, slot
    blocks.blocks[block].n_rows = slot + 1


@jit_inner
def _is_allowed(
    limits: tuple[int, int], checker: JudgedBlock, members: CodeArray, n_members: int, without: int, extra: int
) -> bool:
    """Tell whether a block, changed as in `_cost_of`, satisfies the models."""
    min_size, room = limits
    size = n_members - int(without >= 0) + int(extra >= 0)
    if size < min_size or size > room:
        return False
    if checker.is_judged:
        return _passes_rules(checker, members, n_members, without, extra)
    return True


@jit_inner
def _passes_rules(checker: JudgedBlock, members: CodeArray, n_members: int, without: int, extra: int) -> bool:
    checker.value_counts[:] = 0
    checker.n_distinct[:] = 0
    size = 0
    for slot in range(-1, n_members):
        row = extra if slot < 0 else int(members[slot])
        if row < 0 or slot == without >= 0:
            continue
        size += 1
        for s in range(checker.sensitive.shape[0]):
            code = checker.sensitive[s, row]
            checker.n_distinct[s] += int(code > 0 and checker.value_counts[s, code] == 0)
            checker.value_counts[s, code] += 1
    return judge.passes(checker.rules, size, 0, checker.value_counts, checker.n_distinct, checker.nodes)


@jit_inner
def _is_taken(delta: float, temperature: float, state: CountArray) -> bool:
    if delta <= 0:
        return True
    return draw_number(state) % (1 << 24) < math.exp(-delta / temperature) * (1 << 24)


@jit_inner
def _try_exchange(
    codes: CodeArray,
    costs: Costs,
    blocks: Blocks,
    limits: tuple[int, int],
    checker: JudgedBlock,
    change: tuple[int, int, int],
    temperature: float,
    state: CountArray,
) -> float:
    """Move a row to another block, or swap it with the row in a slot there; return the change, 0 where none is made."""
    row, to, partner_slot = change
    block, slot = blocks.rows[row].block, blocks.rows[row].slot
    partner = int(blocks.members[to, partner_slot]) if partner_slot >= 0 else -1
    delta = -blocks.blocks[block].value - blocks.blocks[to].value
    # One loop instead of two calls: what is called twice is compiled twice.
    for side in range(2):
        changed, without, extra = (block, slot, partner) if side == 0 else (to, partner_slot, row)
        n_members = blocks.blocks[changed].n_rows
        size = n_members - int(without >= 0) + int(extra >= 0)
        after = _cost_of(codes, costs, blocks.members[changed], n_members, without, extra) * size
        blocks.blocks[changed].other = after
        delta += after
    if not _is_taken(delta, temperature, state):
        return 0.0
    for side in range(2):
        changed, without, extra = (block, slot, partner) if side == 0 else (to, partner_slot, row)
        if not _is_allowed(limits, checker, blocks.members[changed], blocks.blocks[changed].n_rows, without, extra):
            return 0.0
    if partner >= 0:
        blocks.members[block, slot], blocks.members[to, partner_slot] = partner, row
        blocks.rows[row].block, blocks.rows[row].slot = to, partner_slot
        blocks.rows[partner].block, blocks.rows[partner].slot = block, slot
    else:
        last = blocks.blocks[block].n_rows - 1
        moved = blocks.members[block, last]
        blocks.members[block, slot] = moved
        blocks.rows[moved].slot = slot
        blocks.blocks[block].n_rows = last
        _append_row(blocks, row, to)
    for side in range(2):
        changed = block if side == 0 else to
        blocks.blocks[changed].value = blocks.blocks[changed].other
    return float(delta)


@jit_inner
def _split_between_blocks(
    codes: CodeArray, costs: Costs, blocks: Blocks, limits: tuple[int, int], n_rows: int, pair: tuple[int, int]
) -> None:
    """Split the mixed rows into two blocks: one begins with the first row, one with the row farthest from it."""
    min_size, room = limits
    rows = blocks.mixed
    _append_row(blocks, int(rows[0]), pair[0])
    far, farthest = 1, -1.0
    none = -1
    for i in range(1, 2 * n_rows):
        row = int(rows[i % n_rows])
        if i == n_rows:
            _append_row(blocks, int(rows[far]), pair[1])
        if i >= n_rows and (i % n_rows == 0 or i % n_rows == far):
            continue
        for side in range(1 if i < n_rows else 2):
            block = blocks.blocks[pair[side]]
            grown = _cost_of(codes, costs, blocks.members[pair[side]], block.n_rows, none, row)
            if i >= n_rows:
                block.other = grown * (block.n_rows + 1) - block.value
            elif grown > farthest:
                far, farthest = i, grown
        if i < n_rows:
            continue
        n_left = n_rows - blocks.blocks[pair[0]].n_rows - blocks.blocks[pair[1]].n_rows
        side = int(blocks.blocks[pair[1]].other < blocks.blocks[pair[0]].other)
        for forced in range(2):
            full = blocks.blocks[pair[1 - forced]].n_rows == room
            if full or n_left <= min_size - blocks.blocks[pair[forced]].n_rows:
                side = forced
                break
        block = blocks.blocks[pair[side]]
        block.value += block.other
        _append_row(blocks, row, pair[side])


@jit_inner
def _try_regroup(
    codes: CodeArray,
    costs: Costs,
    blocks: Blocks,
    limits: tuple[int, int],
    checker: JudgedBlock,
    change: tuple[int, int],
    temperature: float,
    state: CountArray,
) -> float:
    """Merge a row's block with another, or split one or both anew; return the change, 0 where none is made."""
    row, to = change
    min_size, room = limits
    block = blocks.rows[row].block
    n_first = blocks.blocks[block].n_rows
    is_split = to == block
    if is_split:
        if blocks.free[0] == 0 or n_first < 2 * min_size:
            return 0.0
        to = blocks.free[blocks.free[0]]
    pair = (block, to)
    n_rows = n_first + blocks.blocks[to].n_rows
    is_one = not is_split and n_rows <= room and draw_number(state) % 2 == 0
    # The partition at the start may have a block of more than ``room`` rows; with another one it would fill both.
    if n_rows > min(_MAX_ROWS_TO_SPLIT, 2 * room) and not is_one:
        return 0.0
    rows = blocks.mixed
    for i in range(n_rows):
        rows[i] = blocks.members[block, i] if i < n_first else blocks.members[to, i - n_first]
    values = (blocks.blocks[block].value, blocks.blocks[to].value)
    lead = draw_number(state) % n_rows
    rows[0], rows[lead] = rows[lead], rows[0]
    for side in range(2):
        blocks.blocks[pair[side]].n_rows, blocks.blocks[pair[side]].value = 0, 0.0
    if is_one:
        for i in range(n_rows):
            _append_row(blocks, int(rows[i]), block)
    else:
        _split_between_blocks(codes, costs, blocks, limits, n_rows, pair)
    delta = -(values[0] + values[1])
    none, holds = -1, True
    for side in range(2):
        changed = pair[side]
        size = blocks.blocks[changed].n_rows
        if size > 0:
            after = _cost_of(codes, costs, blocks.members[changed], size, none, none) * size
            blocks.blocks[changed].value = after
            delta += after
            holds = holds and _is_allowed(limits, checker, blocks.members[changed], size, none, none)
    if holds and _is_taken(delta, temperature, state):
        if is_split:
            blocks.free[0] -= 1
        elif blocks.blocks[to].n_rows == 0:
            blocks.free[0] += 1
            blocks.free[blocks.free[0]] = to
        return float(delta)
    rows[0], rows[lead] = rows[lead], rows[0]
    for side in range(2):
        blocks.blocks[pair[side]].n_rows, blocks.blocks[pair[side]].value = 0, values[side]
    for i in range(n_rows):
        _append_row(blocks, int(rows[i]), block if i < n_first else to)
    return 0.0


def anneal(
    codes: CodeArray, costs: Costs, near: CodeArray, blocks: Blocks, check: Check, draws: DrawSchedule
) -> CountArray:
    """Change a partition step by step until it has looked at enough; return steps, moves, swaps, merges and splits."""
    counts = np.zeros(_N_COUNTS, dtype=np.int64)
    if check.checker.is_judged:
        draws = draws._replace(idle=draws.idle + check.checker.value_counts.size)
    _anneal(codes, costs, near, blocks, (check.min_size, check.room), check.checker, draws, counts)
    return counts


@jit_bare
def _anneal(
    codes: CodeArray,
    costs: Costs,
    near: CodeArray,
    blocks: Blocks,
    limits: tuple[int, int],
    checker: JudgedBlock,
    draws: DrawSchedule,
    counts: CountArray,
) -> None:
    n_rows, n_near = near.shape
    min_size, room = limits
    state, temperature = draws.state, draws.hot
    cooling = (draws.cold / draws.hot) ** (1.0 / max(1, draws.n_steps))
    n_looked = 0
    while counts[0] < draws.n_steps and n_looked < draws.max_looked:
        counts[0] += 1
        temperature *= cooling
        row = draw_number(state) % n_rows
        to = blocks.rows[near[row, draw_number(state) % n_near]].block
        own = blocks.rows[row].block
        n_own, n_to = blocks.blocks[own].n_rows, blocks.blocks[to].n_rows
        n_looked += draws.idle + n_to + n_own
        if draw_number(state) % (1 << 20) < draws.share_big * (1 << 20):
            if _try_regroup(codes, costs, blocks, limits, checker, (row, to), temperature, state) != 0.0:
                counts[4 if to == own else 3] += 1
        elif to != own:
            may_move = n_own > min_size and n_to < room
            partner_slot = -1 if may_move and draw_number(state) % 2 == 0 else draw_number(state) % n_to
            if _try_exchange(codes, costs, blocks, limits, checker, (row, to, partner_slot), temperature, state) != 0.0:
                counts[1 if partner_slot < 0 else 2] += 1
