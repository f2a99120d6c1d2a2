"""Annealing over the classes of many rows, by Metropolis' rule: rows move or swap, classes split or dissolve."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.kernels import judge
from hushtable.kernels._jit import jit_bare, jit_inner
from hushtable.kernels.class_costs import (
    CostedClasses,
    Space,
    enter_class,
    least_share_after_swap,
    leave_class,
    pair_cost,
    recompute_class,
    share_after_change,
)
from hushtable.kernels.park_miller import MODULUS, draw_number
from hushtable.kernels.regroup import Check, JudgedBlock

_N_SWAPS = 6  # rows of the other class that are tried as partners of a swap
_NOT_BELOW = 1 + 1e-9  # times a cost: more than rounding may lie below it
_N_HOMES = 24  # near rows whose classes are tried as a row's new class
_MAX_ROWS_TO_SPLIT = 4_096
_N_COUNTS = 5


class Near(NamedTuple):
    """Which rows lie near one another."""

    rows: CodeArray  # (n_distinct, n_near), distinct rows, the nearest first; -1 after the last
    distinct: CodeArray  # (n_rows,), the distinct row of every row
    offsets: CountArray  # (n_distinct + 1,), the rows of a distinct one follow one another


class Schedule(NamedTuple):
    """Random state, and one part of an annealing schedule."""

    state: CountArray  # (1,), 1 to 2^31 - 2
    n_steps: int  # how many changes to try
    hot: float  # temperature of the first step, in cells
    cold: float  # of the last one
    share_big: float  # of the steps, those that split or dissolve a class


@jit_inner
def _draw_near_row(near: Near, row: int, state: CountArray) -> int:
    """Draw a row near another one, the nearest most often; -1 if an empty place of its list is drawn."""
    distinct = near.distinct[row]
    share = draw_number(state) / MODULUS
    other = near.rows[distinct, int(near.rows.shape[1] * share * share)]
    if other < 0:
        return -1
    n_copies = near.offsets[other + 1] - near.offsets[other]
    first = near.offsets[other]
    return int(first + draw_number(state) % n_copies if n_copies > 1 else first)


@jit_inner
def _is_allowed(checker: JudgedBlock, classes: CostedClasses, label: int, row_out: int, row_in: int) -> bool:
    """Tell whether a class, one row removed and one added (-1: none), satisfies the rules besides its size."""
    return not checker.is_judged or _passes_rules(checker, classes, label, row_out, row_in)


@jit_inner
def _passes_rules(checker: JudgedBlock, classes: CostedClasses, label: int, row_out: int, row_in: int) -> bool:
    checker.value_counts[:] = 0
    checker.n_distinct[:] = 0
    size = 0
    row = int(classes.slots[label].first)
    for position in range(-1, classes.slots[label].n_rows):
        member = row_in if position < 0 else row
        if position >= 0:
            row = int(classes.rows[row].after)
        if member < 0 or (position >= 0 and member == row_out):
            continue
        size += 1
        for s in range(checker.sensitive.shape[0]):
            code = checker.sensitive[s, member]
            checker.n_distinct[s] += int(code > 0 and checker.value_counts[s, code] == 0)
            checker.value_counts[s, code] += 1
    return judge.passes(checker.rules, size, 0, checker.value_counts, checker.n_distinct, checker.nodes)


@jit_inner
def _try_exchange(
    space: Space,
    classes: CostedClasses,
    limits: tuple[int, int],
    checker: JudgedBlock,
    pair: tuple[int, int],
    bar: float,
) -> bool:
    """Move a row to another row's class, or swap it with a row there: the cheapest change, if it is below the bar.

    What the classes cost at least, whoever is the partner, rules out most swaps before any partner is looked at.
    """
    row, neighbour = pair
    source, target = int(classes.rows[row].label), int(classes.rows[neighbour].label)
    n_source, n_target = int(classes.slots[source].n_rows), int(classes.slots[target].n_rows)
    before = n_source * classes.slots[source].share + n_target * classes.slots[target].share
    best, partner, none = before + bar, -2, -1
    can_move = n_source > limits[0] and n_target < limits[1]
    reduced = 0.0
    if n_source > 1:
        reduced = share_after_change(space, classes, source, row, none, best / (n_source - int(can_move)))
    if can_move:
        after = (n_source - 1) * reduced
        after += (n_target + 1) * share_after_change(space, classes, target, none, row, (best - after) / (n_target + 1))
        if after < best:
            best, partner = after, none
    room = (_NOT_BELOW * best - n_source * reduced) / n_target
    n_partners = 0
    if room > 0 and least_share_after_swap(space, classes, target, row, room) < room:
        n_partners = min(_N_SWAPS, n_target)
    candidate = neighbour
    for _ in range(n_partners):
        after = n_target * share_after_change(space, classes, target, candidate, row, room)
        if after < best:
            after += n_source * share_after_change(space, classes, source, row, candidate, (best - after) / n_source)
            if after < best:
                best, partner = after, candidate
                room = (_NOT_BELOW * best - n_source * reduced) / n_target
        candidate = int(classes.rows[candidate].after)
    if partner == -2:
        return False
    if not (
        _is_allowed(checker, classes, source, row, partner) and _is_allowed(checker, classes, target, partner, row)
    ):
        return False
    leave_class(classes, row)
    if partner >= 0:
        leave_class(classes, partner)
        enter_class(space, classes, source, partner)
    enter_class(space, classes, target, row)
    for side in range(2):
        recompute_class(space, classes, source if side == 0 else target)
    return True


@jit_inner
def _try_split(
    space: Space, classes: CostedClasses, limits: tuple[int, int], checker: JudgedBlock, row: int, bar: float
) -> bool:
    """Split a row's class around it and the row farthest from it, if the change of the cost is below the bar."""
    label, min_size = int(classes.rows[row].label), limits[0]
    n_rows = int(classes.slots[label].n_rows)
    if n_rows < 2 * min_size or n_rows > _MAX_ROWS_TO_SPLIT or classes.free[0] == 0:
        return False
    rows, none = classes.mixed[0], -1
    before = n_rows * classes.slots[label].share
    far, farthest, member = 0, -1.0, row
    for i in range(n_rows):
        rows[i] = member
        cost = pair_cost(space, row, member, np.inf)
        if i > 0 and cost > farthest:
            far, farthest = i, cost
        member = int(classes.rows[member].after)
    rows[1], rows[far] = rows[far], rows[1]
    new_label = int(classes.free[classes.free[0]])
    classes.slots[label].n_rows = 0
    for i in range(n_rows):
        to = label if i == 0 else new_label
        if i > 1:
            n_left = n_rows - i
            n_one, n_two = classes.slots[label].n_rows, classes.slots[new_label].n_rows
            if min_size - n_one >= n_left:
                to = label
            elif min_size - n_two < n_left:
                one = (n_one + 1) * share_after_change(space, classes, label, none, int(rows[i]), np.inf)
                two = (n_two + 1) * share_after_change(space, classes, new_label, none, int(rows[i]), np.inf)
                grown_one, grown_two = (
                    one - n_one * classes.slots[label].share,
                    two - n_two * classes.slots[new_label].share,
                )
                to = label if grown_one < grown_two else new_label
        enter_class(space, classes, to, int(rows[i]))
        classes.slots[to].share = share_after_change(space, classes, to, none, none, np.inf)
    after = (
        classes.slots[label].n_rows * classes.slots[label].share
        + classes.slots[new_label].n_rows * classes.slots[new_label].share
    )
    is_taken = after - before < bar
    if is_taken:
        is_taken = _is_allowed(checker, classes, label, none, none) and _is_allowed(
            checker, classes, new_label, none, none
        )
    if is_taken:
        classes.free[0] -= 1
        return True
    classes.slots[label].n_rows = 0
    classes.slots[new_label].n_rows = 0
    for i in range(n_rows):
        enter_class(space, classes, label, int(rows[i]))
    recompute_class(space, classes, label)
    return False


@jit_inner
def _try_dissolve(
    space: Space,
    classes: CostedClasses,
    near: Near,
    limits: tuple[int, int],
    checker: JudgedBlock,
    row: int,
    bar: float,
    state: CountArray,
) -> bool:
    """Move every row of a class to the near class that grows least; undo it if the change is not below the bar."""
    label = int(classes.rows[row].label)
    n_rows = int(classes.slots[label].n_rows)
    if n_rows > limits[0] + limits[0] // 3:
        return False
    rows, none = classes.mixed[0], -1
    change = -n_rows * classes.slots[label].share
    for i in range(n_rows):
        rows[i] = row
        row = int(classes.rows[row].after)
    n_moved = 0
    while n_moved < n_rows and change < bar:
        row = int(rows[n_moved])
        best, home = np.inf, none
        for _ in range(_N_HOMES):
            neighbour = _draw_near_row(near, row, state)
            to = int(classes.rows[neighbour].label) if neighbour >= 0 else label
            n_to = classes.slots[to].n_rows
            if to == label or n_to >= limits[1] or home == to:
                continue
            cost = n_to * classes.slots[to].share
            grown = (n_to + 1) * share_after_change(space, classes, to, none, row, (best + cost) / (n_to + 1)) - cost
            if grown < best and _is_allowed(checker, classes, to, none, row):
                best, home = grown, to
        if home < 0:
            break
        change += best
        leave_class(classes, row)
        enter_class(space, classes, home, row)
        classes.slots[home].share = share_after_change(space, classes, home, none, none, np.inf)
        n_moved += 1
    if n_moved == n_rows and change < bar:
        classes.free[0] += 1
        classes.free[classes.free[0]] = label
        return True
    for i in range(n_moved):
        home = int(classes.rows[rows[i]].label)
        leave_class(classes, int(rows[i]))
        recompute_class(space, classes, home)
        enter_class(space, classes, label, int(rows[i]))
    recompute_class(space, classes, label)
    return False


def adopt_rows(space: Space, classes: CostedClasses, check: Check, rows: CountArray) -> int:
    """Add rows without a class to the classes that grow least, until one fits in none; return how many were added."""
    return int(_adopt_rows(space, classes, check.checker, rows))


@jit_bare
def _adopt_rows(space: Space, classes: CostedClasses, checker: JudgedBlock, rows: CountArray) -> int:
    none = -1
    for i in range(rows.size):
        row = int(rows[i])
        best, home = np.inf, none
        for label in range(classes.slots.size):
            n_rows = classes.slots[label].n_rows
            if n_rows == 0:
                continue
            cost = n_rows * classes.slots[label].share
            grown = (n_rows + 1) * share_after_change(
                space, classes, label, none, row, (best + cost) / (n_rows + 1)
            ) - cost
            if grown < best and _is_allowed(checker, classes, label, none, row):
                best, home = grown, label
        if home < 0:
            return i
        enter_class(space, classes, home, row)
        classes.slots[home].share = share_after_change(space, classes, home, none, none, np.inf)
    return rows.size


def anneal(space: Space, classes: CostedClasses, near: Near, check: Check, schedule: Schedule) -> CountArray:
    """Change classes step by step; return the numbers of steps, exchanges, splits and dissolved classes."""
    counts = np.zeros(_N_COUNTS, dtype=np.int64)
    anneal_steps(space, classes, near, (check.min_size, check.room), check.checker, schedule, counts)
    return counts


@jit_bare
def anneal_steps(
    space: Space,
    classes: CostedClasses,
    near: Near,
    limits: tuple[int, int],
    checker: JudgedBlock,
    schedule: Schedule,
    counts: CountArray,
) -> None:
    """Change classes step by step, and count as `anneal` does."""
    state, temperature = schedule.state, schedule.hot
    cooling = (schedule.cold / schedule.hot) ** (1.0 / max(1, schedule.n_steps))
    n_rows = space.codes.shape[0]
    for _ in range(schedule.n_steps):
        counts[0] += 1
        temperature *= cooling
        row = draw_number(state) % n_rows
        bar = -temperature * math.log(draw_number(state) / MODULUS)
        if draw_number(state) < schedule.share_big * MODULUS:
            if draw_number(state) % 2 == 0:
                counts[2] += int(_try_split(space, classes, limits, checker, row, bar))
            else:
                counts[3] += int(_try_dissolve(space, classes, near, limits, checker, row, bar, state))
            continue
        neighbour = _draw_near_row(near, row, state)
        if neighbour >= 0 and classes.rows[row].label != classes.rows[neighbour].label:
            counts[1] += int(_try_exchange(space, classes, limits, checker, (row, neighbour), bar))
