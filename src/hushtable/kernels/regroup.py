"""Annealing over partitions: rows move and change places, blocks merge and split, and the loss falls."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels import judge
from hushtable.kernels._jit import jit
from hushtable.kernels.cost import Costs, cell_cost

__all__ = ["Blocks", "Check", "Draws", "anneal"]

_MODULUS = 2_147_483_647
_FACTOR = 48_271
_N_COUNTS = 5
_OVERHEAD = 16  # rows that could be looked at in the time of an idle step
_MOST_PARTED = 4_096  # rows; parting takes the square of them


class Blocks(NamedTuple):
    """A partition that changes.

    labels : int32 (n_rows,), the block of every row
    slots : int32 (n_rows,), where it stands among the block's members
    members : int32 (n_blocks, room)
    sizes : int64 (n_blocks,); blocks without rows are free
    values : float64 (n_blocks,), what all rows of a block cost
    free : int64 (n_blocks + 1,), how many blocks are free, then which
    """

    labels: CodeArray
    slots: CodeArray
    members: CodeArray
    sizes: CountArray
    values: FloatArray
    free: CountArray


class Check(NamedTuple):
    """What every block satisfies.

    min_size : the least size
    room : the largest size
    sensitive : int32 (n_sensitive, n_rows), codes + 1; no rows where the size decides
    rules : the models' rules
    held, n_held, nodes : scratch, as `hushtable.kernels.judge.passes` takes them
    """

    min_size: int
    room: int
    sensitive: CodeArray
    rules: judge.Rules
    held: CountArray
    n_held: CountArray
    nodes: FloatArray


class Draws(NamedTuple):
    """Random state and schedule.

    state : int64 (1,), 1 to 2^31 - 2
    n_steps : how many changes to try
    hot, cold : the temperatures of the first and last step, in weighted cells
    share_big : the share of steps that merge or split
    most : how many rows and counts of blocks may be looked at, about, before it pauses
    """

    state: CountArray
    n_steps: int
    hot: float
    cold: float
    share_big: float
    most: int = 2**62


@jit
def _draw(state: CountArray, n: int) -> int:
    """Return a random number from 0 to n - 1 (Park and Miller's generator)."""
    state[0] = state[0] * _FACTOR % _MODULUS
    return int(state[0] % n)


@jit
def _cost_of(places: CodeArray, costs: Costs, blocks: Blocks, block: int, without: int, extra: int) -> float:
    """Cost one row of a block with another row in the place of one of its slots; -1 for none of either."""
    total = 0.0
    size = blocks.sizes[block]
    for j in range(places.shape[1]):
        low, high = 2_147_483_647, -1
        if extra >= 0:
            low = high = places[extra, j]
        for slot in range(size):
            if slot != without:
                place = places[blocks.members[block, slot], j]
                low, high = min(low, place), max(high, place)
        if low < high:
            total += cell_cost(costs, j, low, high)
    return total


@jit
def _put(blocks: Blocks, row: int, block: int) -> None:
    slot = blocks.sizes[block]
    blocks.members[block, slot] = row
    blocks.labels[row], blocks.slots[row] = block, slot
    blocks.sizes[block] = slot + 1


@jit
def _take(blocks: Blocks, row: int) -> None:
    block, slot = blocks.labels[row], blocks.slots[row]
    last = blocks.sizes[block] - 1
    other = blocks.members[block, last]
    blocks.members[block, slot] = other
    blocks.slots[other] = slot
    blocks.sizes[block] = last


@jit
def _holds(check: Check, blocks: Blocks, block: int, without: int, extra: int) -> bool:
    """Tell whether a block satisfies the models, changed as for its cost."""
    size = blocks.sizes[block] - int(without >= 0) + int(extra >= 0)
    if size < check.min_size or size > check.room:
        return False
    if check.sensitive.shape[0] == 0:
        return True
    check.held[:] = 0
    check.n_held[:] = 0
    for slot in range(-1, blocks.sizes[block]):
        row = extra if slot < 0 else blocks.members[block, slot]
        if row < 0 or slot == without >= 0:
            continue
        for s in range(check.sensitive.shape[0]):
            code = check.sensitive[s, row]
            check.n_held[s] += int(code > 0 and check.held[s, code] == 0)
            check.held[s, code] += 1
    return judge.passes(check.rules, size, 0, check.held, check.n_held, check.nodes)


@jit
def _is_taken(delta: float, temperature: float, state: CountArray) -> bool:
    if delta <= 0:
        return True
    return _draw(state, 1 << 24) < math.exp(-delta / temperature) * (1 << 24)


@jit
def _try_exchange(
    places: CodeArray,
    costs: Costs,
    blocks: Blocks,
    check: Check,
    row: int,
    to: int,
    place: int,
    draws: tuple[float, CountArray],
) -> float:
    """Move a row to another block, or swap it with the row in a slot there; return the change, 0 where none is made."""
    temperature, state = draws
    block, slot = blocks.labels[row], blocks.slots[row]
    other = blocks.members[to, place] if place >= 0 else -1
    delta = -blocks.values[block] - blocks.values[to]
    after = np.empty(2)
    # One loop instead of two calls: what is called twice is compiled twice.
    for side in range(2):
        changed, without, extra = (block, slot, other) if side == 0 else (to, place, row)
        size = blocks.sizes[changed] - int(without >= 0) + int(extra >= 0)
        after[side] = _cost_of(places, costs, blocks, changed, without, extra) * size
        delta += after[side]
    if not _is_taken(delta, temperature, state):
        return 0.0
    for side in range(2):
        changed, without, extra = (block, slot, other) if side == 0 else (to, place, row)
        if not _holds(check, blocks, changed, without, extra):
            return 0.0
    if other >= 0:
        blocks.members[block, slot], blocks.members[to, place] = other, row
        blocks.labels[row], blocks.slots[row] = to, place
        blocks.labels[other], blocks.slots[other] = block, slot
    else:
        _take(blocks, row)
        _put(blocks, row, to)
    blocks.values[block], blocks.values[to] = after[0], after[1]
    return float(delta)


@jit
def _part(places: CodeArray, costs: Costs, blocks: Blocks, check: Check, rows: CodeArray, pair: CountArray) -> None:
    """Part rows among two blocks: the first row begins one, the dearest beside it the other."""
    n_rows = rows.size
    _put(blocks, rows[0], pair[0])
    far, farthest = 1, -1.0
    rise = np.empty(2)
    for i in range(1, 2 * n_rows):
        row = rows[i % n_rows]
        if i == n_rows:
            _put(blocks, rows[far], pair[1])
        if i >= n_rows and (i % n_rows == 0 or i % n_rows == far):
            continue
        for side in range(1 if i < n_rows else 2):
            size = blocks.sizes[pair[side]]
            grown = _cost_of(places, costs, blocks, pair[side], -1, row)
            if i < n_rows:
                if grown > farthest:
                    far, farthest = i, grown
            else:
                rise[side] = grown * (size + 1) - blocks.values[pair[side]]
        if i < n_rows:
            continue
        n_left = n_rows - blocks.sizes[pair[0]] - blocks.sizes[pair[1]]
        side = int(rise[1] < rise[0])
        for forced in range(2):
            if blocks.sizes[pair[1 - forced]] == check.room or n_left <= check.min_size - blocks.sizes[pair[forced]]:
                side = forced
                break
        blocks.values[pair[side]] += rise[side]
        _put(blocks, row, pair[side])


@jit
def _try_regroup(
    places: CodeArray,
    costs: Costs,
    blocks: Blocks,
    check: Check,
    row: int,
    to: int,
    draws: tuple[float, CountArray],
) -> float:
    """Merge two blocks, or part one or two of them anew; return the change, 0 where none is made."""
    temperature, state = draws
    block = blocks.labels[row]
    is_split = to == block
    if is_split:
        if blocks.free[0] == 0 or blocks.sizes[block] < 2 * check.min_size:
            return 0.0
        to = blocks.free[blocks.free[0]]
    pair = np.array([block, to], dtype=np.int64)
    n_first, n_rows = blocks.sizes[block], blocks.sizes[block] + blocks.sizes[to]
    is_one = not is_split and n_rows <= check.room and _draw(state, 2) == 0
    if n_rows > _MOST_PARTED and not is_one:
        return 0.0
    rows = np.empty(n_rows, np.int32)
    rows[:n_first] = blocks.members[block, :n_first]
    rows[n_first:] = blocks.members[to, : n_rows - n_first]
    was, before = rows.copy(), blocks.values[pair]
    i = _draw(state, n_rows)
    rows[0], rows[i] = rows[i], rows[0]
    blocks.sizes[block] = blocks.sizes[to] = 0
    blocks.values[block] = blocks.values[to] = 0.0
    if is_one:
        for each in rows:
            _put(blocks, each, block)
    else:
        _part(places, costs, blocks, check, rows, pair)
    delta = -before.sum()
    holds = True
    for changed in pair:
        if blocks.sizes[changed] > 0:
            blocks.values[changed] = _cost_of(places, costs, blocks, changed, -1, -1) * blocks.sizes[changed]
            delta += blocks.values[changed]
            holds = holds and _holds(check, blocks, changed, -1, -1)
    if holds and _is_taken(delta, temperature, state):
        if is_split:
            blocks.free[0] -= 1
        elif blocks.sizes[to] == 0:
            blocks.free[0] += 1
            blocks.free[blocks.free[0]] = to
        return float(delta)
    blocks.sizes[block] = blocks.sizes[to] = 0
    for i in range(n_rows):
        _put(blocks, was[i], block if i < n_first else to)
    blocks.values[block], blocks.values[to] = before[0], before[1]
    return 0.0


@jit
def anneal(places: CodeArray, costs: Costs, near: CodeArray, blocks: Blocks, check: Check, draws: Draws) -> CountArray:
    """Change a partition step by step; return steps, moves, swaps, merges and splits that were taken, each.

    Pauses where it has looked at enough.

    near : int32 (n_rows, n_near), the rows that each row is made equal to most cheaply
    """
    n_rows, n_near = near.shape
    counts = np.zeros(_N_COUNTS, np.int64)
    temperature = draws.hot
    cooling = (draws.cold / draws.hot) ** (1.0 / max(1, draws.n_steps))
    looked = 0
    while counts[0] < draws.n_steps and looked < draws.most:
        counts[0] += 1
        temperature *= cooling
        row = _draw(draws.state, n_rows)
        to = blocks.labels[near[row, _draw(draws.state, n_near)]]
        heat = (temperature, draws.state)
        looked += _OVERHEAD + blocks.sizes[to] + blocks.sizes[blocks.labels[row]] + check.held.size
        if _draw(draws.state, 1 << 20) < draws.share_big * (1 << 20):
            is_split = to == blocks.labels[row]
            if _try_regroup(places, costs, blocks, check, row, to, heat) != 0.0:
                counts[4 if is_split else 3] += 1
        elif to != blocks.labels[row]:
            may_move = blocks.sizes[blocks.labels[row]] > check.min_size and blocks.sizes[to] < check.room
            place = -1 if may_move and _draw(draws.state, 2) == 0 else _draw(draws.state, blocks.sizes[to])
            if _try_exchange(places, costs, blocks, check, row, to, place, heat) != 0.0:
                counts[1 if place < 0 else 2] += 1
    return counts
