"""Strict Mondrian: cut a class in two where that pays most, until no cut is allowable.

One class after the other is taken from a stack, and its columns are profiled.
Every proper prefix of a profile is a cut, and a cut is allowable when both sides
satisfy all rules.

The rows of the classes are runs of one array, so that a cut only permutes a run
and a finished class never moves again. The loop can be left after any cut and
entered again: everything it knows is in `Work` and `Tree`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit
from hushtable.kernels.judge import Rules, passes
from hushtable.kernels.profile import ROUNDER, Axes, Points, Work, foresee, gain_of_cut, may_cut, preference, profile

__all__ = ["DONE", "NEEDS_ROOM", "PAUSED", "Axes", "Node", "Options", "Points", "Tree", "Work", "finish", "grow"]

DONE, PAUSED, NEEDS_ROOM = 0, 1, 2
_MANY = 2**31 - 1

# Where `Tree.cursor` keeps its counters.
STACKED, NODES, LEAVES, MEMBERS, STAMP = 0, 1, 2, 3, 4


class Options(NamedTuple):
    """What to look for.

    by_gain : the gain rule, else the median rule
    min_size : records that every class needs
    n_rescored : how many cuts are compared by the gain over all columns (gain rule only)
    deals_ties : whether records that hold the median go to both sides (median rule only); rows must count 1
    most_left : classes of so few rows are left whole, for whoever cuts them further
    """

    by_gain: bool
    min_size: int
    n_rescored: int
    deals_ties: bool = False
    most_left: int = 1


class Cut(NamedTuple):
    """What goes left: the first ``length`` entries of the profile, and ``n_dealt`` rows of the next."""

    length: int
    n_dealt: int


class Node(NamedTuple):
    """A class under the knife: a run of ``order`` and the records in it."""

    start: int
    end: int
    size: int


class Tree(NamedTuple):
    """The cuts in depth-first order, left child first; column -1 is a finished class.

    columns, lengths : int32 (n_nodes,), the cut column and its left side's length in ``members``
    members : int32, the left sides' shifted codes, one after the other
    leaf_starts : int32 (n_classes + 1,), runs of ``order``
    cursor : int64, counters
    """

    columns: CodeArray
    lengths: CodeArray
    members: CodeArray
    leaf_starts: CodeArray
    cursor: CountArray


@jit
def grow(
    points: Points,
    axes: Axes,
    rules: Rules,
    options: Options,
    work: Work,
    tree: Tree,
    n_nodes: int,
    n_rows: int = 2**62,
) -> int:
    """Settle up to ``n_nodes`` classes more, of ``n_rows`` rows or a few more; tell why it stopped.

    That is DONE, PAUSED or NEEDS_ROOM.
    """
    cursor = tree.cursor
    last = cursor[NODES] + n_nodes
    n_looked = 0
    while cursor[STACKED] > 0:
        if cursor[NODES] >= last or n_looked >= n_rows:
            return PAUSED
        top = cursor[STACKED] - 1
        start, end = work.stack[top, 0], work.stack[top, 1]
        n_looked += end - start
        size = 0
        for i in range(start, end):
            size += points.counts[work.order[i]]
        best = -1
        if size >= 2 * options.min_size and end - start > options.most_left:
            profile(points, axes, work, start, end)
            node = Node(start, end, size)
            if options.by_gain:
                best = _best_by_gain(points, axes, rules, options, work, tree.cursor, node)
            else:
                best = _best_by_median(points, axes, rules, options, work, node)
        cursor[STACKED] -= 1
        place = cursor[NODES]
        if best < 0:
            cursor[NODES] += 1
            tree.columns[place] = -1
            cursor[LEAVES] += 1
            tree.leaf_starts[cursor[LEAVES]] = end
            continue
        column, length, n_dealt = work.cuts[best, 0], work.cuts[best, 1], work.cuts[best, 2]
        if cursor[MEMBERS] + length > tree.members.size:
            cursor[STACKED] += 1
            return NEEDS_ROOM
        cursor[NODES] += 1
        tree.columns[place] = column
        tree.lengths[place] = length
        begin = axes.offsets[column]
        for i in range(length):
            tree.members[cursor[MEMBERS] + i] = work.codes[begin + i]
        cursor[MEMBERS] += length
        middle = _cut(points, axes, work, column, Cut(length, n_dealt), Node(start, end, size))
        work.stack[top, 0], work.stack[top, 1] = middle, end
        work.stack[top + 1, 0], work.stack[top + 1, 1] = start, middle
        cursor[STACKED] += 2
    return DONE


@jit
def finish(work: Work, tree: Tree) -> None:
    """Make classes of whatever is still stacked."""
    cursor = tree.cursor
    while cursor[STACKED] > 0:
        cursor[STACKED] -= 1
        tree.columns[cursor[NODES]] = -1
        cursor[NODES] += 1
        cursor[LEAVES] += 1
        tree.leaf_starts[cursor[LEAVES]] = work.stack[cursor[STACKED], 1]


@jit
def _best_by_gain(
    points: Points, axes: Axes, rules: Rules, options: Options, work: Work, cursor: CountArray, node: Node
) -> int:
    """Find the allowable cut that lowers the loss most; return its place in ``work.cuts``, or -1."""
    size = node.size
    work.scores[:] = -1.0
    for j in range(axes.domain.size):
        n_codes = work.n_codes[j]
        begin = axes.offsets[j]
        is_tree, is_round = axes.is_ordered[j] and axes.depths[j] > 0, axes.rounds[j] > 0
        most_preferred = 1.0 + ROUNDER * axes.rounds[j]
        if is_tree and n_codes > 1:
            foresee(axes, work, j, options.min_size)
        n_left = 0
        n_swept = -1
        for length in range(1, n_codes):
            n_left += work.records[begin + length - 1]
            n_right = size - n_left
            if n_left < options.min_size or n_right < options.min_size:
                continue
            gain = size * work.shares[j] - n_left * work.left[begin + length - 1] - n_right * work.right[begin + length]
            score = axes.weights[j] * gain
            if axes.depths[j] == 0:
                score *= math.sqrt(math.sqrt(min(n_left, n_right) / size))
            if is_round and score * most_preferred > work.scores[-1]:
                score *= preference(axes, work, j, length)
            if score <= work.scores[-1] or (is_tree and not may_cut(axes, work, j, length)):
                continue
            if work.n_held.shape[1] > 0 or points.population.size > 0:
                n_swept = _sweep(points, axes, work, j, node, Cut(length, 0), n_swept)
                if not (_side_passes(rules, work, 0, n_left) and _side_passes(rules, work, 1, n_right)):
                    continue
            _enter(work.scores, work.cuts, score, j, length)
        if n_swept >= 0:
            _clear(points, work, node)
    if work.scores[0] < 0:
        return -1
    if work.scores.size == 1 or work.scores[1] < 0:
        return 0
    best, most = 0, -1.0
    for i in range(work.scores.size):
        if work.scores[i] >= 0:
            score = _gain_of_all(points, axes, work, cursor, i, node)
            score *= preference(axes, work, work.cuts[i, 0], work.cuts[i, 1])
            if score > most:
                best, most = i, score
    return best


@jit
def _enter(scores: FloatArray, cuts: CountArray, score: float, j: int, length: int) -> None:
    """Insert a cut among the best; an earlier one keeps its place in a tie."""
    place = scores.size - 1
    while place > 0 and scores[place - 1] < score:
        scores[place] = scores[place - 1]
        cuts[place] = cuts[place - 1]
        place -= 1
    scores[place] = score
    cuts[place, 0], cuts[place, 1], cuts[place, 2] = j, length, 0


@jit
def _gain_of_all(points: Points, axes: Axes, work: Work, cursor: CountArray, cut: int, node: Node) -> float:
    """Return what a cut gains in all columns, not only in its own; per bit where its own has a hierarchy."""
    column, length = work.cuts[cut, 0], work.cuts[cut, 1]
    begin, n_left, n_others = axes.offsets[column], 0, 0
    for i in range(length):
        work.side[work.codes[begin + i]] = 1
        n_left += work.records[begin + i]
    for j in range(axes.domain.size):
        if work.n_codes[j] > 1 and j != column:
            for side in range(2):
                work.spans[side, n_others, 0], work.spans[side, n_others, 1] = _MANY, -1
                work.spans[side, n_others, 2:] = 0
            work.counted[n_others] = j
            n_others += 1
    cursor[STAMP] += 1
    stamp = cursor[STAMP]
    for i in range(node.start, node.end):
        codes = points.codes[work.order[i]]
        side = 1 - work.side[codes[column]]
        for c in range(n_others):
            j = work.counted[c]
            code = codes[j]
            if code < work.spans[side, c, 0]:
                work.spans[side, c, 0] = code
            if code > work.spans[side, c, 1]:
                work.spans[side, c, 1] = code
            if axes.most[j, 0] > 0:
                unit = axes.offsets[j] + axes.units[axes.offsets[j] + code]
                if work.stamps[side, unit] != stamp:
                    work.stamps[side, unit] = stamp
                    work.spans[side, c, 2] += 1
                    work.spans[side, c, 3] += axes.chars[unit]
                    work.spans[side, c, 4] += axes.listed[unit]
    for i in range(length):
        work.side[work.codes[begin + i]] = 0
    n_right = node.size - n_left
    gain = gain_of_cut(axes, work, column, length, n_left, n_right)
    if axes.is_ordered[column] and axes.depths[column] > 0 and n_left > 0 and n_right > 0:
        gain /= (n_left * math.log2(node.size / n_left) + n_right * math.log2(node.size / n_right)) / node.size
    return gain


@jit
def _best_by_median(points: Points, axes: Axes, rules: Rules, options: Options, work: Work, node: Node) -> int:
    """Take the widest column that has an allowable cut, and of its cuts the one nearest the median."""
    size = node.size
    widths = axes.weights * work.shares
    for j in np.argsort(-widths, kind="mergesort"):
        if options.deals_ties and axes.depths[j] == 0 and _halve(points, axes, rules, options, work, node, j):
            return 0
        n_codes = work.n_codes[j]
        begin = axes.offsets[j]
        is_tree = axes.is_ordered[j] and axes.depths[j] > 0
        n_left = 0
        n_swept = -1
        nearest = np.int64(2 * size)
        for length in range(1, n_codes):
            n_left += work.records[begin + length - 1]
            if n_left < options.min_size or size - n_left < options.min_size or abs(2 * n_left - size) >= nearest:
                continue
            if is_tree and not may_cut(axes, work, j, length):
                continue
            if work.n_held.shape[1] > 0 or points.population.size > 0:
                n_swept = _sweep(points, axes, work, j, node, Cut(length, 0), n_swept)
                if not (_side_passes(rules, work, 0, n_left) and _side_passes(rules, work, 1, size - n_left)):
                    continue
            nearest = abs(2 * n_left - size)
            work.cuts[0, 0], work.cuts[0, 1], work.cuts[0, 2] = j, length, 0
        if n_swept >= 0:
            _clear(points, work, node)
        if nearest < 2 * size:
            return 0
    return -1


@jit
def _halve(points: Points, axes: Axes, rules: Rules, options: Options, work: Work, node: Node, j: int) -> bool:
    """Relaxed Mondrian: cut exactly in two halves, dealing the records that hold the median to both."""
    if work.n_codes[j] == 1 or node.size // 2 < options.min_size:
        return False
    n_left, length = 0, 0
    while n_left + work.records[axes.offsets[j] + length] <= node.size // 2:
        n_left += work.records[axes.offsets[j] + length]
        length += 1
    n_dealt = node.size // 2 - n_left
    if work.n_held.shape[1] > 0 or points.population.size > 0:
        _sweep(points, axes, work, j, node, Cut(length, n_dealt), -1)
        both_pass = _side_passes(rules, work, 0, node.size // 2) and _side_passes(
            rules, work, 1, node.size - node.size // 2
        )
        _clear(points, work, node)
        if not both_pass:
            return False
    work.cuts[0, 0], work.cuts[0, 1], work.cuts[0, 2] = j, length, n_dealt
    return True


@jit
def _side_passes(rules: Rules, work: Work, side: int, size: int) -> bool:
    """Judge what `_sweep` counted on one side."""
    return passes(rules, size, work.population[side], work.held[side], work.n_held[side])


@jit
def _sweep(points: Points, axes: Axes, work: Work, j: int, node: Node, cut: Cut, n_swept: int) -> int:
    """Move the sensitive counts of what a cut takes from the right side to the left.

    ``n_swept`` rows have moved already; -1 starts a column. Returns how many have now.
    """
    if n_swept < 0:
        _order_by_profile(points, axes, work, j, node.start, node.end)
        for i in range(node.start, node.end):
            _move(points, work, work.order[i], 1, 1)
        n_swept = 0
    until = cut.n_dealt
    if cut.length > 0:
        until += work.run_ends[axes.offsets[j] + cut.length - 1]
    while n_swept < until:
        row = work.scratch[node.start + n_swept]
        _move(points, work, row, 1, -1)
        _move(points, work, row, 0, 1)
        n_swept += 1
    return n_swept


@jit
def _order_by_profile(points: Points, axes: Axes, work: Work, j: int, start: int, end: int) -> None:
    """Counting sort of the class's rows by their place in the profile, into ``scratch``."""
    begin = axes.offsets[j]
    n_codes = work.n_codes[j]
    starts = work.run_ends[begin : begin + n_codes]
    starts[:] = 0
    for i in range(n_codes):
        work.rank[work.codes[begin + i]] = i
    for i in range(start, end):
        rank = work.rank[points.codes[work.order[i], j]]
        if rank + 1 < n_codes:
            starts[rank + 1] += 1
    for i in range(1, n_codes):
        starts[i] += starts[i - 1]
    for i in range(start, end):
        row = work.order[i]
        rank = work.rank[points.codes[row, j]]
        work.scratch[start + starts[rank]] = row
        # In the end every start has moved to the end of its run.
        starts[rank] += 1


@jit
def _move(points: Points, work: Work, row: int, side: int, sign: int) -> None:
    """Add a row's sensitive values and population to one side, or take them away."""
    if points.population.size > 0:
        work.population[side] += sign * points.population[row]
    for s in range(work.n_held.shape[1]):
        value = points.sensitive[s, row]
        before = work.held[side, s, value]
        after = before + sign * points.counts[row]
        work.held[side, s, value] = after
        if value > 0:
            work.n_held[side, s] += int(after > 0) - int(before > 0)


@jit
def _clear(points: Points, work: Work, node: Node) -> None:
    """Forget the sensitive counts, touching only values that the class holds."""
    for i in range(node.start, node.end):
        for s in range(work.n_held.shape[1]):
            value = points.sensitive[s, work.order[i]]
            work.held[0, s, value] = 0
            work.held[1, s, value] = 0
    work.n_held[:] = 0
    work.population[:] = 0


@jit
def _cut(points: Points, axes: Axes, work: Work, column: int, cut: Cut, node: Node) -> int:
    """Permute the class's rows so that the left side comes first; both sides keep their order."""
    begin = axes.offsets[column]
    for i in range(cut.length):
        work.side[work.codes[begin + i]] = 1
    dealt = work.codes[begin + cut.length]
    n_to_deal = cut.n_dealt
    middle = node.start
    n_right = 0
    for i in range(node.start, node.end):
        row = work.order[i]
        code = points.codes[row, column]
        is_dealt = n_to_deal > 0 and code == dealt
        if work.side[code] == 1 or is_dealt:
            n_to_deal -= int(is_dealt)
            work.order[middle] = row
            middle += 1
        else:
            work.scratch[n_right] = row
            n_right += 1
    for i in range(n_right):
        work.order[middle + i] = work.scratch[i]
    for i in range(cut.length):
        work.side[work.codes[begin + i]] = 0
    return middle
