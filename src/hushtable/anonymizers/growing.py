"""Growing Mondrian's tree: slice by slice, and of large tables class by class, on all cores.

The cuts of one class depend on its rows alone. So a large table is cut until its classes are small, and what is
below each of them is grown by itself, on copies of its rows that lie side by side; put where it belongs, it is the
tree that one search would have grown, number by number.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.kernels import judge, profile, split
from hushtable.search import Budget, Clock, n_threads

__all__ = ["Grown", "grow"]

_PAUSE: Final = 4_096  # settled classes between two looks at the clock
_PAUSE_CELLS: Final = 4_000_000  # and cells of all of them
_N_PARTS: Final = 64
_SMALLEST_PART: Final = 2**10  # rows


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A tree and the rows of its classes.

    Attributes
    ----------
    tree : Tree
    order : ndarray of int32, shape (n_rows,)
        The rows, class by class.
    n_settled : int
        Nodes of the tree.
    is_complete : bool
        Whether no cut is left; else the budget ended.
    """

    tree: split.Tree
    order: CodeArray
    n_settled: int
    is_complete: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """What is the same for every part of a table."""

    points: split.Points
    axes: profile.Axes
    rules: judge.Rules
    options: split.Options
    n_rescored: int


def grow(
    points: split.Points,
    axes: profile.Axes,
    rules: judge.Rules,
    options: split.Options,
    n_rescored: int,
    order: CountArray,
    clock: Clock,
) -> Grown:
    """Grow the tree until it is done or the clock says so.

    A budget ends one search; with one, the table is not parted.
    """
    search = _Search(points, axes, rules, options, n_rescored)
    most = len(order) // _N_PARTS
    if most < _SMALLEST_PART or clock.budget != Budget():
        return _one(search, order, clock)
    above = _one(replace(search, options=options._replace(most_left=most)), order, Clock())
    joined = _joined(above, _below(search, above, clock))
    clock.tell(1.0)
    return joined


def _one(search: _Search, order: CountArray, clock: Clock) -> Grown:
    """Grow one tree over some rows."""
    work, tree = _work(search.points, search.axes, search.n_rescored, order), _new_tree(len(order))
    nodes, status = clock.budget.nodes, split.PAUSED
    while status != split.DONE and not clock.is_over(int(tree.cursor[split.NODES])):
        chunk = _PAUSE if nodes is None else min(_PAUSE, nodes - int(tree.cursor[split.NODES]))
        tree, status = _slice(search, search.points, work, tree, chunk)
        clock.tell(int(tree.leaf_starts[tree.cursor[split.LEAVES]]) / len(order))
    n_settled = int(tree.cursor[split.NODES])
    split.finish(work, tree)
    return Grown(tree, work.order, n_settled, status == split.DONE)


def _slice(
    search: _Search, points: split.Points, work: split.Work, tree: split.Tree, n_nodes: int
) -> tuple[split.Tree, int]:
    """Grow a tree by some nodes; return it, maybe with more room, and why that stopped."""
    n_cells = _PAUSE_CELLS // len(search.axes.domain)
    status = split.grow(points, search.axes, search.rules, search.options, work, tree, n_nodes, n_cells)
    if status == split.NEEDS_ROOM:
        tree = tree._replace(members=np.append(tree.members, np.empty_like(tree.members)))
    return tree, status


def _below(search: _Search, above: Grown, clock: Clock) -> dict[int, Grown]:
    """Grow what is below the classes of a tree that are not finished, by the number of the class."""
    most = len(above.order) // _N_PARTS
    ends = above.tree.leaf_starts[: above.tree.cursor[split.LEAVES] + 1]
    sizes = np.diff(ends)
    # One row is a class; a larger one than was left whole has no cut.
    classes = np.flatnonzero((sizes > 1) & (sizes <= most)).tolist()
    scratch = _Scratch(search, most)
    done, found = 0, {}
    with ThreadPoolExecutor(n_threads()) as pool:
        runs = (above.order[ends[each] : ends[each + 1]] for each in classes)
        try:
            for each, grown in zip(classes, pool.map(scratch.grown, runs), strict=True):
                found[each] = grown
                done += int(sizes[each])
                clock.tell(done / len(above.order))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return found


class _Scratch(threading.local):
    """What a thread works on: made once, for the largest class that is left whole."""

    def __init__(self, search: _Search, n_rows: int) -> None:
        self.search = search
        self.work = _work(search.points, search.axes, search.n_rescored, np.arange(n_rows))
        self.stamp = 0

    def grown(self, rows: CodeArray) -> Grown:
        """Grow the tree of some rows, from copies that lie side by side."""
        points, work, tree = _copied(self.search.points, rows), self.work, _new_tree(len(rows))
        work.order[: len(rows)] = np.arange(len(rows))
        work.stack[0] = 0, len(rows)
        # What another class left on the codes must not be taken for this one's.
        tree.cursor[split.STAMP], status = self.stamp, split.PAUSED
        while status != split.DONE:
            tree, status = _slice(self.search, points, work, tree, _PAUSE)
        self.stamp = int(tree.cursor[split.STAMP])
        return Grown(tree, rows[work.order[: len(rows)]], int(tree.cursor[split.NODES]), True)


def _copied(points: split.Points, rows: CodeArray) -> split.Points:
    """Return some rows, arrays of the same types: for others, kernels would be compiled anew."""
    axis_of = {"codes": 0, "counts": 0, "sensitive": 1, "population": 0}
    copies = {}
    for name, axis in axis_of.items():
        given = getattr(points, name)
        copies[name] = np.take(given, rows, axis=axis) if given.shape[axis] else given
        if copies[name] is not given:
            copies[name].flags.writeable = given.flags.writeable
    return split.Points(**copies)


def _joined(above: Grown, below: Mapping[int, Grown]) -> Grown:
    """Put trees into the places of the classes that they were grown below."""
    columns, lengths, members, starts = [], [], [], []
    tree, order = above.tree, above.order.copy()
    n_leaves = int(tree.cursor[split.LEAVES])
    leaves = np.flatnonzero(tree.columns[: above.n_settled] < 0)
    ends = np.append(0, np.cumsum(tree.lengths[: above.n_settled], dtype=np.int64))
    first = 0
    for leaf in range(n_leaves):
        place, begin = leaves[leaf], tree.leaf_starts[leaf]
        columns.append(tree.columns[first:place])
        lengths.append(tree.lengths[first:place])
        members.append(tree.members[ends[first] : ends[place]])
        first = place + 1
        part = below.get(leaf)
        if part is None:
            columns.append(tree.columns[place:first])
            lengths.append(tree.lengths[place:first])
            starts.append(tree.leaf_starts[leaf : leaf + 1])
            continue
        n_nodes, n_members, n_parts = part.tree.cursor[[split.NODES, split.MEMBERS, split.LEAVES]].tolist()
        columns.append(part.tree.columns[:n_nodes])
        lengths.append(part.tree.lengths[:n_nodes])
        members.append(part.tree.members[:n_members])
        starts.append(begin + part.tree.leaf_starts[:n_parts])
        order[begin : begin + len(part.order)] = part.order
    starts.append(np.array([len(order)], dtype=np.int32))
    joined = split.Tree(
        np.concatenate(columns),
        np.concatenate(lengths),
        np.concatenate(members),
        np.concatenate(starts),
        np.zeros(5, dtype=np.int64),
    )
    sizes = len(joined.columns), len(joined.leaf_starts) - 1, len(joined.members)
    joined.cursor[[split.NODES, split.LEAVES, split.MEMBERS]] = sizes
    return Grown(joined, order, sizes[0], above.is_complete)


def _work(points: split.Points, axes: split.Axes, n_rescored: int, order: CountArray) -> split.Work:
    n_rows, n_columns = len(order), points.codes.shape[1]
    n_sensitive = len(points.sensitive)
    n_codes = int(axes.offsets[-1])
    widest = int(np.diff(axes.offsets).max())
    widest_sensitive = int(points.sensitive.max(initial=0)) + 1
    stack = np.zeros((n_rows + 1, 2), dtype=np.int32)
    stack[0] = 0, n_rows
    return split.Work(
        order=order.astype(np.int32),
        scratch=np.empty(n_rows, dtype=np.int64),
        stack=stack,
        codes=np.empty(n_codes, dtype=np.int32),
        records=np.empty(n_codes, dtype=np.int64),
        n_codes=np.empty(n_columns, dtype=np.int64),
        shares=np.empty(n_columns),
        left=np.empty(n_codes),
        right=np.empty(n_codes),
        levels=np.zeros(n_columns, dtype=np.int64),
        run_ends=np.empty(n_codes, dtype=np.int64),
        bins=np.zeros(n_codes, dtype=np.int64),
        low=np.empty(n_columns, dtype=np.int32),
        high=np.empty(n_columns, dtype=np.int32),
        counted=np.empty(n_columns, dtype=np.int64),
        side=np.zeros(widest, dtype=np.int32),
        rank=np.empty(widest, dtype=np.int32),
        stamps=np.zeros((2, n_codes), dtype=np.int64),
        spans=np.empty((2, n_columns, 5), dtype=np.int64),
        held=np.zeros((2, n_sensitive, widest_sensitive), dtype=np.int64),
        n_held=np.zeros((2, n_sensitive), dtype=np.int64),
        population=np.zeros(2, dtype=np.int64),
        scores=np.empty(n_rescored),
        cuts=np.empty((n_rescored, 3), dtype=np.int64),
    )


def _new_tree(n_rows: int) -> split.Tree:
    cursor = np.zeros(5, dtype=np.int64)
    cursor[split.STACKED] = 1
    return split.Tree(
        columns=np.empty(2 * n_rows, dtype=np.int32),
        lengths=np.zeros(2 * n_rows, dtype=np.int32),
        members=np.empty(4 * n_rows + 1_024, dtype=np.int32),
        leaf_starts=np.zeros(n_rows + 1, dtype=np.int32),
        cursor=cursor,
    )
