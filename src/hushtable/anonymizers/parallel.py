"""Grow Mondrian's tree in slices, for large tables on all cores.

The cuts of a class depend on its rows alone. So any free core cuts a class of many rows once, or grows the whole tree
below a class of fewer rows. Together the pieces are exactly the tree that one search would have grown.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels import class_profile, judge, split
from hushtable.kernels.rows import ROWS_PER_BLOCK
from hushtable.search import Budget, Clock, n_threads

_CLASSES_BETWEEN_LOOKS: Final = 4_096  # at the clock; settled classes
_CELLS_BETWEEN_LOOKS: Final = 4_000_000  # in all of these classes
_N_PARTS: Final = 32
_MIN_ROWS_PER_PART: Final = 2**15
_FIRST_STACK_ROOM: Final = 64  # classes waiting to be cut that there is room for at first


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A tree and the rows of its classes."""

    tree: split.SplitTree
    order: CodeArray  # the rows, class by class
    n_settled: int  # nodes of the tree
    is_complete: bool  # no cut is left; else the budget ended


@dataclass(frozen=True, slots=True, eq=False)
class CutSearch:
    """The inputs of a search for cuts that are the same for every part of a table."""

    axes: split.Axes
    rules: judge.Rules
    sensitive: CodeArray  # (n_sensitive, n_rows), codes + 1, for the rules
    population: CountArray  # records in every row; empty where no rule asks
    options: split.Options
    n_rescored: int
    deals_ties: bool | None  # None: the gain rule; False, True: the median rule, strict or relaxed


def rows_for_kernels(codes: NDArray[Any], counts: CountArray, order: CountArray | None = None) -> split.Rows:
    """Arrange rows of codes, (n_rows, width) with zeros up to whole words, for kernels that move them."""
    words, is_weighted = codes.view(np.int64), not bool((counts == 1).all())
    if is_weighted:
        words = np.column_stack([words, counts])
    if order is None:
        order = np.arange(len(counts), dtype=np.int32)
    else:
        words = words[order]
    return split.Rows(words, words.view(codes.dtype), np.asarray(order, dtype=np.int32), is_weighted)


def grow_tree(search: CutSearch, rows: split.Rows, clock: Clock) -> Grown:
    """Grow the tree until no cut is left or the budget ends; sorts the rows by class. A budget means one core."""
    n_rows = len(rows.order)
    max_rows = max(n_rows // _N_PARTS, _MIN_ROWS_PER_PART)
    if n_rows <= max_rows or clock.budget != Budget():
        return grow_on_one_core(search, rows, clock)
    scratch, pieces, n_done = ThreadScratch(search, rows, max_rows), {}, 0
    with ThreadPoolExecutor(n_threads()) as pool:
        waiting = {pool.submit(scratch.grow_piece, (0, n_rows))}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for piece in (each.result() for each in done):
                    pieces[piece.run] = piece
                    # The largest first: it has the most work left below it.
                    for run in sorted(piece.parts, key=lambda run: run[0] - run[1]):
                        waiting.add(pool.submit(scratch.grow_piece, run))
                    n_done += 0 if piece.parts else piece.run[1] - piece.run[0]
                clock.report_progress(n_done / n_rows)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    tree = concatenate_trees(pieces, n_rows)
    return Grown(tree, rows.order, len(tree.columns), is_complete=True)


def grow_on_one_core(search: CutSearch, rows: split.Rows, clock: Clock) -> Grown:
    """Grow the tree on one core until no cut is left or the budget ends; sorts the rows by class."""
    scratch, tree = ThreadScratch(search, rows, len(rows.order)), _new_tree(search, rows, len(rows.order))
    scratch.stack_rows(rows)
    nodes, status = clock.budget.nodes, split.PAUSED
    while status != split.DONE and not clock.is_over(int(tree.cursor[split.NODES])):
        chunk = (
            _CLASSES_BETWEEN_LOOKS
            if nodes is None
            else min(_CLASSES_BETWEEN_LOOKS, nodes - int(tree.cursor[split.NODES]))
        )
        tree, status = _grow_slice(scratch, rows, tree, chunk)
        clock.report_progress(int(tree.leaf_starts[tree.cursor[split.LEAVES]]) / len(rows.order))
    n_settled = int(tree.cursor[split.NODES])
    split.finish_tree(scratch.work.stack, tree)
    return Grown(tree, rows.order, n_settled, status == split.DONE)


def _grow_slice(
    scratch: ThreadScratch, rows: split.Rows, tree: split.SplitTree, n_nodes: int
) -> tuple[split.SplitTree, int]:
    """Grow a tree by some nodes; return the tree, maybe with more room, and why the kernel stopped."""
    search = scratch.search
    options = search.options._replace(n_nodes=n_nodes, n_rows=_CELLS_BETWEEN_LOOKS // len(search.axes.columns))
    what = search.axes, scratch.judged, search.deals_ties is None, bool(search.deals_ties), options
    status = split.grow_tree(rows, *what, scratch.work, tree)
    if status == split.NEEDS_ROOM:
        if tree.cursor[split.STACKED] == len(scratch.work.stack):
            scratch.work = scratch.work._replace(stack=_double_room(scratch.work.stack))
        else:
            tree = tree._replace(members=_double_room(tree.members))
    return tree, status


def _double_room(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.empty_like(array)])


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A tree over a run of rows: complete, or only its first cut."""

    tree: split.SplitTree
    run: tuple[int, int]  # the first row, and the one after the last
    parts: tuple[tuple[int, int], ...] = ()  # the two sides of a cut that stands alone


class ThreadScratch(threading.local):
    """Scratch arrays of a thread, made at first use; a run of more than `max_rows` rows gets temporary ones."""

    def __init__(self, search: CutSearch, rows: split.Rows, max_rows: int) -> None:
        self.search, self.rows, self.max_rows = search, rows, max_rows
        self.work = _build_work(search, rows, max_rows)
        self.judged = _build_cut_judge(search, max_rows)

    def grow_piece(self, run: tuple[int, int]) -> Piece:
        """Grow the tree of a run of rows, or cut it once."""
        rows = _take_run(self.rows, *run)
        n_rows, status = len(rows.order), split.PAUSED
        is_cut_once = n_rows > self.max_rows
        scratch = ThreadScratch(self.search, self.rows, n_rows) if is_cut_once else self
        tree = _new_tree(self.search, rows, 2 if is_cut_once else n_rows)
        scratch.stack_rows(rows)
        while status != split.DONE and not (is_cut_once and tree.cursor[split.NODES] > 0):
            tree, status = _grow_slice(scratch, rows, tree, 1 if is_cut_once else _CLASSES_BETWEEN_LOOKS)
        if status == split.DONE:
            return Piece(tree, run)
        middle = run[0] + int(scratch.work.stack[1, 1])
        return Piece(tree, run, ((run[0], middle), (middle, run[1])))

    def stack_rows(self, rows: split.Rows) -> None:
        """Put all rows on the stack, as one class that may have every place of each column."""
        self.work.stack[0, :3] = 0, len(rows.order), _n_records(rows)
        self.work.stack[0, 3::2], self.work.stack[0, 4::2] = 0, _count_places(self.search.axes) - 1


def _take_run(rows: split.Rows, start: int, end: int) -> split.Rows:
    return split.Rows(rows.words[start:end], rows.codes[start:end], rows.order[start:end], rows.is_weighted)


def concatenate_trees(pieces: Mapping[tuple[int, int], Piece], n_rows: int) -> split.SplitTree:
    """Join the pieces of a tree, given by run of rows, depth first, left first."""
    columns, lengths, members, starts = [], [], [], []
    waiting = [(0, n_rows)]
    while waiting:
        piece = pieces[waiting.pop()]
        waiting += reversed(piece.parts)
        n_nodes, n_leaves, n_members = piece.tree.cursor[[split.NODES, split.LEAVES, split.MEMBERS]].tolist()
        columns.append(piece.tree.columns[:n_nodes])
        lengths.append(piece.tree.lengths[:n_nodes])
        members.append(piece.tree.members[:n_members])
        starts.append(np.int32(piece.run[0]) + piece.tree.leaf_starts[:n_leaves])
    starts.append(np.array([n_rows], dtype=np.int32))
    cut, width, codes, leaf_starts = map(np.concatenate, (columns, lengths, members, starts))
    cursor = tree_cursor(len(cut), n_leaves=len(leaf_starts) - 1, n_members=len(codes))
    return split.SplitTree(cut, width, codes, leaf_starts, cursor)


def tree_cursor(n_nodes: int, *, n_leaves: int, n_members: int) -> CountArray:
    """Build the counters of a finished tree."""
    cursor = np.zeros(4, dtype=np.int64)
    cursor[[split.NODES, split.LEAVES, split.MEMBERS]] = n_nodes, n_leaves, n_members
    return cursor


def _build_work(search: CutSearch, rows: split.Rows, max_rows: int) -> split.Work:
    n_columns, n_codes = len(search.axes.columns), len(search.axes.places)
    words = np.empty((max_rows, rows.words.shape[1]), dtype=np.int64)
    return split.Work(
        stack=np.empty((_FIRST_STACK_ROOM, 3 + 2 * n_columns), dtype=np.int64),
        profile=class_profile.Profile(
            columns=np.zeros(n_columns, dtype=class_profile.COLUMN),
            entries=np.zeros(n_codes, dtype=class_profile.ENTRY),
            bins=np.zeros(n_codes, dtype=np.int64),
            varying=np.empty((2, n_columns), dtype=np.uint64),
        ),
        choice=split.Choice(
            cuts=np.zeros(search.n_rescored, dtype=split.CUT),
            spans=np.empty((n_columns, 5, 8), dtype=np.int64),
            marks=np.zeros(n_codes, dtype=np.uint8),
            sides=np.zeros(n_codes, dtype=np.uint8),
            block=np.empty(ROWS_PER_BLOCK, dtype=np.uint8),
            cut_columns=np.empty((2, 4), dtype=np.uint64),
            open_columns=np.empty((2, n_columns), dtype=np.uint64),
        ),
        spare=split.Rows(words, words.view(rows.codes.dtype), np.empty(max_rows, dtype=np.int32), rows.is_weighted),
    )


def _build_cut_judge(search: CutSearch, max_rows: int) -> split.JudgedCut:
    n_sensitive = len(search.sensitive)
    is_judged = n_sensitive > 0 or len(search.population) > 0 or len(search.rules.own) > 0
    # Room for all values of the whole: models compare with them, even if no row of a part has them.
    widest = max(int(search.sensitive.max(initial=0)) + 1, int(search.rules.n_values.max(initial=0)))
    return split.JudgedCut(
        is_judged=is_judged,
        rules=search.rules,
        sensitive=search.sensitive,
        population=search.population,
        value_counts=np.zeros((2, n_sensitive, widest), dtype=np.int64),
        n_distinct=np.zeros((2, n_sensitive), dtype=np.int64),
        n_population=np.zeros(2, dtype=np.int64),
        order=np.empty(max_rows if is_judged else 0, dtype=np.int32),
        position_of_code=np.empty(int(_count_places(search.axes).max()), dtype=np.int32),
        n_moved=np.full(1, -1, dtype=np.int64),
        nodes=search.rules.allocate_nodes(),
    )


def _count_places(axes: split.Axes) -> CountArray:
    """Return how many places each column has."""
    return np.diff(axes.columns["begin"], append=len(axes.places))


def _n_records(rows: split.Rows) -> int:
    return int(rows.words[:, rows.words.shape[1] - 1].sum()) if rows.is_weighted else len(rows.order)


def _new_tree(search: CutSearch, rows: split.Rows, n_classes: int) -> split.SplitTree:
    """Allocate a tree for at most so many classes, or as many as the records allow."""
    max_classes = max(2, min(n_classes, _n_records(rows) // search.options.min_size))
    cursor = np.zeros(4, dtype=np.int64)
    cursor[split.STACKED] = 1
    return split.SplitTree(
        columns=np.empty(2 * max_classes, dtype=np.int32),
        lengths=np.empty(2 * max_classes, dtype=np.int32),
        members=np.empty(4 * max_classes + 1_024, dtype=np.int32),
        leaf_starts=np.zeros(max_classes + 1, dtype=np.int32),
        cursor=cursor,
    )
