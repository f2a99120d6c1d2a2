"""Strict Mondrian: cut a class in two where that pays most, until no cut is allowable.

One class after the other is taken from a stack, its columns are profiled, a cut is chosen, and its rows are moved
apart. A finished class never moves again. The loop can be left after any cut and entered again: everything it
knows is in its records.
"""

from __future__ import annotations

from typing import NamedTuple

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import bare
from hushtable.kernels.choose import Choice, CutNode, JudgedCut, Options, best_by_gain, best_by_median
from hushtable.kernels.class_profile import Profile, profile
from hushtable.kernels.rows import Rows, part
from hushtable.kernels.shares import Axes

__all__ = [
    "DONE",
    "NEEDS_ROOM",
    "PAUSED",
    "Axes",
    "JudgedCut",
    "Options",
    "Rows",
    "SplitTree",
    "Work",
    "finish",
    "grow",
]

DONE, PAUSED, NEEDS_ROOM = 0, 1, 2

# Where `Tree.cursor` keeps its counters.
STACKED, NODES, LEAVES, MEMBERS = 0, 1, 2, 3


class SplitTree(NamedTuple):
    """The cuts in depth-first order, left child first; column -1 is a finished class.

    columns, lengths : int32 (n_nodes,), the cut column and its left side's length in ``members``
    members : int32, the left sides' shifted codes, one after the other
    leaf_starts : int32 (n_classes + 1,), runs of rows
    cursor : int64 (4,), counters
    """

    columns: CodeArray
    lengths: CodeArray
    members: CodeArray
    leaf_starts: CodeArray
    cursor: CountArray


class Work(NamedTuple):
    """Scratch of a search; nothing in it outlives a class but the stack.

    stack : int64 (capacity, 3 + 2 * n_columns), runs of rows still to be cut: start, end, records, and between which
        codes each column lies
    spare : Rows, room for one class
    """

    stack: CountArray
    held: Profile
    choice: Choice
    spare: Rows


@bare
def grow(
    rows: Rows,
    axes: Axes,
    judged: JudgedCut | None,
    by_gain: bool | None,
    deals_ties: bool | None,
    options: Options,
    work: Work,
    tree: SplitTree,
) -> int:
    """Settle classes until none is left or it is time to pause; tell why it stopped.

    judged : None where the records of a class say all
    by_gain, deals_ties : one of them is None. True is the gain rule; the other one says of the median rule what
        `best_by_median` asks. What is None is not compiled.

    Returns DONE, PAUSED or NEEDS_ROOM.
    """
    cursor, stack, cuts, spare = tree.cursor, work.stack, work.choice.cuts, work.spare
    last = cursor[NODES] + options.n_nodes
    n_looked = 0
    while cursor[STACKED] > 0:
        if cursor[NODES] >= last or n_looked >= options.n_rows:
            return PAUSED
        if cursor[STACKED] == len(stack):
            return NEEDS_ROOM
        top = cursor[STACKED] - 1
        start, end, size = stack[top, 0], stack[top, 1], stack[top, 2]
        n_looked += end - start
        best = -1
        if size >= 2 * options.min_size and end - start > 1:
            profile(rows, axes, work.held, start, end, stack[top, 3:])
            node = CutNode(start, end, size)
            if by_gain is not None:
                best = best_by_gain(rows, axes, judged, options, work.held, work.choice, node)
            if deals_ties is not None:
                best = best_by_median(rows, axes, judged, options, work.held, work.choice, node, deals_ties)
        place = cursor[NODES]
        if best < 0:
            cursor[STACKED] -= 1
            cursor[NODES] += 1
            tree.columns[place] = -1
            tree.lengths[place] = 0
            cursor[LEAVES] += 1
            tree.leaf_starts[cursor[LEAVES]] = end
            continue
        column, length, n_left, n_dealt = cuts[best].column, cuts[best].length, cuts[best].n_left, cuts[best].n_dealt
        if cursor[MEMBERS] + length > tree.members.size:
            return NEEDS_ROOM
        cursor[NODES] += 1
        tree.columns[place] = column
        tree.lengths[place] = length
        axis = axes.columns[column]
        entries, goes_left = work.held.entries[axis.begin :], work.choice.sides[axis.begin :]
        for i in range(length):
            code = entries[i].code
            tree.members[cursor[MEMBERS] + i] = code
            goes_left[code] = 1
        cursor[MEMBERS] += length
        dealt = entries[length].code if n_dealt > 0 else -1
        middle = part(rows, start, end, column, goes_left, (dealt, n_dealt), spare)
        for i in range(length):
            goes_left[entries[i].code] = 0
        for i in range(stack.shape[1]):
            stack[top + 1, i] = stack[top, i]
        stack[top, 0], stack[top, 2] = middle, size - n_left
        stack[top + 1, 1], stack[top + 1, 2] = middle, n_left
        if axis.is_ordered and axis.depth == 0 and n_dealt == 0:
            stack[top + 1, 4 + 2 * column] = entries[length - 1].code
            stack[top, 3 + 2 * column] = entries[length].code
        cursor[STACKED] += 1
    return DONE


@bare
def finish(stack: CountArray, tree: SplitTree) -> None:
    """Make classes of whatever is still stacked."""
    cursor = tree.cursor
    while cursor[STACKED] > 0:
        cursor[STACKED] -= 1
        tree.columns[cursor[NODES]] = -1
        tree.lengths[cursor[NODES]] = 0
        cursor[NODES] += 1
        cursor[LEAVES] += 1
        tree.leaf_starts[cursor[LEAVES]] = stack[cursor[STACKED], 1]
