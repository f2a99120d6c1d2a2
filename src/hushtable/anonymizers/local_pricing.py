"""The costs of classes in local recoding, the nearest rows, and the cheapest pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.anonymizers import publish
from hushtable.anonymizers.method import Problem
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import class_costs, neighbours
from hushtable.kernels.annealing import Near
from hushtable.kernels.class_costs import Space
from hushtable.quality import ArxLoss, CellLoss, Loss
from hushtable.recoding import Axis, Recoding, lay_out, places_of_rows, scale_weights
from hushtable.search import Clock, check_memory
from hushtable.tables import Partition

_ROWS_PER_BLOCK: Final = 32  # rows that share a bound
_BLOCKS_PER_SIDE: Final = 1_024  # blocks searched on either side of a row's own
_MAX_PLACES_FOR_BOUNDS: Final = 256  # places of a column that bounds look at
_ROWS_BETWEEN_LOOKS: Final = 1_024  # at the clock


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The nearest rows of every distinct row."""

    order: CountArray  # the rows, equal ones side by side
    near: Near = field(repr=False)  # of the rows in that order
    costs: FloatArray = field(repr=False)  # (n_distinct, n_near): what a class of two costs each
    complete: bool  # whether there was time for all rows


def find_neighbours(space: Space, labels: CodeArray, n_near: int, clock: Clock) -> Neighbours:
    """Find the nearest rows; classes have to be numbered so that neighbours in number are neighbours in space.

    Rows whose turn does not come in time have no neighbours. In large tables, near rows far off in order are missed.
    """
    _, first, distinct = np.unique(space.codes, axis=0, return_index=True, return_inverse=True)
    distinct = distinct.reshape(-1)
    # Sort distinct rows by the class of their first row; equal rows may lie in several classes.
    ranked = np.lexsort((np.arange(len(first)), labels[first]))
    rank = np.empty_like(ranked)
    rank[ranked] = np.arange(len(ranked))
    distinct = rank[distinct].astype(np.int32)
    order = np.argsort(distinct, kind="stable")
    counts = np.bincount(distinct).astype(np.int64)
    codes = np.ascontiguousarray(space.codes[first[ranked]])
    n_near = min(n_near, len(codes))
    some = space._replace(codes=codes)
    n_bounded = np.where(
        (space.columns["n_places"] <= _MAX_PLACES_FOR_BOUNDS)
        & np.isin(space.columns["kind"], (class_costs.KIND_TABLE, class_costs.KIND_SET)),
        space.columns["n_places"],
        0,
    )
    entries = np.append(0, np.cumsum(n_bounded))
    n_blocks = -(-len(codes) // _ROWS_PER_BLOCK)
    needed = 4.0 * n_blocks * int(entries[-1]) + 12.0 * len(codes) * n_near
    check_memory(needed, f"finding the {n_near} nearest of {len(codes)} rows", "anonymize parts of the table.")
    bounds = np.zeros((n_blocks, int(entries[-1])), dtype=np.float32)
    neighbours.fill_bounds(some, entries, _ROWS_PER_BLOCK, bounds)
    nearest = np.full((len(codes), n_near), -1, dtype=np.int32)
    costs = np.full((len(codes), n_near), np.inf)
    begin = 0
    while begin < len(codes) and clock.left > 0:
        neighbours.find_nearest(
            some,
            counts,
            entries,
            bounds,
            (_ROWS_PER_BLOCK, _BLOCKS_PER_SIDE, begin, begin + _ROWS_BETWEEN_LOOKS),
            nearest,
            costs,
        )
        begin += _ROWS_BETWEEN_LOOKS
    offsets = np.append(0, np.cumsum(counts))
    return Neighbours(order, Near(nearest, distinct[order].astype(np.int32), offsets), costs, begin >= len(codes))


MOST_COPIES: Final = 60_000
_N_NEAR: Final = 24


def match_pairs(space: Space, mates: Neighbours) -> CodeArray | None:
    """Return the cheapest classes of two and three rows, by a fractional matching solved as an assignment.

    None if there are too few or too many rows. Of four or more equal rows, all but two or three become pairs at once.
    """
    offsets = mates.near.offsets
    counts = np.diff(offsets)
    n_copies = np.where(counts > 3, 2 + counts % 2, counts)
    n_all = int(n_copies.sum())
    if len(mates.order) < 2 or n_all > MOST_COPIES:
        return None
    copies = np.repeat(offsets[:-1], n_copies) + _positions_in_runs(n_copies)
    following = copies[_assign_copies(mates, n_copies)]
    labels = np.full(len(mates.order), -1, dtype=np.int32)
    some = space._replace(codes=np.ascontiguousarray(space.codes[mates.order[copies]]))
    copy_of_row = np.empty(len(mates.order), dtype=np.int32)
    copy_of_row[copies] = np.arange(n_all)
    of_copy = np.full(n_all, -1, dtype=np.int32)
    n_classes = neighbours.split_rings(
        some, copy_of_row[following], of_copy, np.empty(n_all, dtype=np.int32), np.empty(n_all)
    )
    labels[copies] = of_copy
    # The copies left over are an even number of equal rows, side by side: pair them.
    remaining = np.flatnonzero(labels < 0)
    labels[remaining] = n_classes + np.arange(len(remaining)) // 2
    ordered = np.empty_like(labels)
    ordered[mates.order] = labels
    return ordered


def _positions_in_runs(counts: CountArray) -> CountArray:
    """Return 0, 1, 2 ... within each of several runs."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _assign_copies(mates: Neighbours, n_copies: CountArray) -> CodeArray:
    """Assign to each copy another one that follows it in a ring, at least total cost."""
    from scipy import sparse
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    first = np.cumsum(n_copies) - n_copies
    n_all = int(n_copies.sum())
    near, costs = mates.near.rows[:, :_N_NEAR], mates.costs[:, :_N_NEAR]
    row, rank = np.nonzero(near >= 0)
    neighbour, cost = near[row, rank], costs[row, rank]
    # An edge from every copy of a row to every copy of its neighbour.
    n_each = n_copies[row] * n_copies[neighbour]
    edge = np.repeat(np.arange(len(row)), n_each)
    pair_number = _positions_in_runs(n_each)
    tail = first[row[edge]] + pair_number // n_copies[neighbour[edge]]
    head = first[neighbour[edge]] + pair_number % n_copies[neighbour[edge]]
    # One ring through all copies, dearer than all else, so that an assignment always exists.
    ring = np.arange(n_all)
    dearest = float(cost.max(initial=0.0)) * 4 + 1
    tail, head = np.append(tail, ring), np.append(head, (ring + 1) % n_all)
    weight: FloatArray = np.append(cost[edge], np.full(n_all, dearest))
    is_other = tail != head
    tail, head, weight = tail[is_other], head[is_other], weight[is_other]
    key = tail * n_all + head
    order = np.lexsort((weight, key))
    is_first = np.append(True, key[order][1:] != key[order][:-1])
    kept = order[is_first]
    # Plus 1, as scipy takes a weight of 0 for no edge.
    graph = sparse.csr_matrix((weight[kept] + 1.0, (tail[kept], head[kept])), shape=(n_all, n_all))
    return np.asarray(min_weight_full_bipartite_matching(graph)[1])


_MOST_PLACES: Final = 1_024  # of a column whose runs all have an entry in the table
_BITS_PER_WORD: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Pricing:
    """The rows of a problem, and what classes of them cost."""

    problem: Problem
    axes: tuple[Axis, ...] = field(repr=False)  # in the order of the problem's columns
    space: Space = field(repr=False)  # by the loss itself where that is a sum over cells

    @property
    def n_words(self) -> int:
        """How many words the bits of a class's set columns fill."""
        is_set = self.space.columns["kind"] == class_costs.KIND_SET
        return int(((self.space.columns["n_places"][is_set] + _BITS_PER_WORD - 1) // _BITS_PER_WORD).sum())

    def publish_classes(self, labels: CodeArray) -> tuple[Partition, Recoding]:
        """Return the partition and what its classes publish: the lowest node, interval or set of their records."""
        table = self.problem.table
        partition = Partition.from_labels(labels, int(labels.max()) + 1, table.counts)
        return partition, publish.from_classes(table, partition, self.axes, "tight")

    def publish_and_merge(self, labels: CodeArray) -> tuple[Partition, Recoding]:
        """Publish classes, and merge those with the same cells."""
        return publish.merge_equal_classes(self.publish_classes(labels)[1], labels, self.problem.table.counts)

    def loss_of(self, labels: CodeArray) -> float:
        """Return the loss of the published classes."""
        partition, recoding = self.publish_classes(labels)
        return self.problem.loss.measure(recoding, partition.sizes)

    def with_local_weights(self, labels: CodeArray) -> Pricing:
        """Return the pricing for small changes: a geometric mean is flatter in columns that lost more already."""
        loss = self.problem.loss
        if not (isinstance(loss, ArxLoss) and loss.mean == "geometric"):
            return self
        partition, recoding = self.publish_classes(labels)
        alone = (
            (replace(recoding, columns=(column,), cells=(cells,)))
            for column, cells in zip(recoding.columns, recoding.cells, strict=True)
        )
        lost = np.array([loss.measure(each, partition.sizes) for each in alone])
        return replace(self, space=_build_space(self.problem, self.axes, (1 + lost.min()) / (1 + lost)))


def price_rows(problem: Problem) -> Pricing:
    """Price the rows of a problem."""
    axes = lay_out(problem.judge.laid_out, problem.columns, problem.ladders, {})
    weights = scale_weights([problem.loss.weights.get(name, 1.0) for name in problem.columns])
    return Pricing(problem, axes, _build_space(problem, axes, weights))


def _build_space(problem: Problem, axes: Sequence[Axis], weights: FloatArray) -> Space:
    loss = problem.loss
    columns = np.zeros(len(axes), dtype=class_costs.COLUMN)
    tables: list[FloatArray] = []
    positions: list[FloatArray] = []
    trees: list[tuple[CodeArray, FloatArray]] = []
    begins = {class_costs.KIND_TABLE: 0, class_costs.KIND_SPAN: 0, class_costs.KIND_TREE: 0, class_costs.KIND_SET: 0}
    word = 0
    for j, (axis, weight) in enumerate(zip(axes, weights.tolist(), strict=True)):
        kind = _column_kind(axis)
        columns[j]["kind"], columns[j]["begin"], columns[j]["n_places"] = kind, begins[kind], axis.n_places
        columns[j]["star"] = weight
        if kind == class_costs.KIND_SET:
            columns[j]["each"], columns[j]["rest"] = _set_costs(loss, axis.domain, weight)
            columns[j]["word"] = word
            word += -(-axis.n_places // _BITS_PER_WORD)
        elif kind == class_costs.KIND_TABLE:
            tables.append(weight * _run_costs(loss, axis).ravel())
            begins[kind] += axis.n_places**2
        else:
            if kind == class_costs.KIND_SPAN:
                positions.append(weight * axis.positions)
            else:
                trees.append(_price_tree(loss, axis, weight))
            begins[kind] += axis.n_places
    shape = max((len(nodes) for nodes, _ in trees), default=0), begins[class_costs.KIND_TREE]
    nodes, prices = np.zeros(shape, np.int32), np.zeros(shape)
    begin = 0
    for of_column, prices_of_column in trees:
        run = slice(begin, begin + of_column.shape[1])
        nodes[: len(of_column), run], prices[: len(of_column), run] = of_column, prices_of_column
        begin = run.stop
    table = np.concatenate([*tables, np.empty(0)]).astype(np.float32)
    codes = places_of_rows(problem.table, axes)
    return Space(codes, columns, table, np.concatenate([*positions, np.empty(0)]), nodes, prices)


def node_costs(loss: Loss, hierarchy: Hierarchy, n_values: int) -> tuple[FloatArray, ...]:
    """Return what one record under each node adds to the loss of its column, by level."""
    if isinstance(loss, ArxLoss):
        return tuple(loss.cost_of(shares, hierarchy.leaf_share) for shares in hierarchy.shares)
    assert isinstance(loss, CellLoss)
    return loss.node_costs(hierarchy, n_values)


def _column_kind(axis: Axis) -> int:
    if not axis.is_ordered:
        return class_costs.KIND_SET
    if axis.n_places <= _MOST_PLACES:
        return class_costs.KIND_TABLE
    return class_costs.KIND_SPAN if axis.hierarchy is None else class_costs.KIND_TREE


def _set_costs(loss: Loss, domain: int, weight: float) -> tuple[float, float]:
    """Return the cost of a set as a linear function of its size: cost per value, and constant."""
    value_cost = weight / max(1, domain)
    if not isinstance(loss, ArxLoss):
        return value_cost, 0.0
    # The cost grows evenly with the number of values, from 0 for a single value.
    value_cost = weight * float(loss.cost_of(np.array([2 / max(2, domain)]), 1 / max(2, domain))[0])
    return value_cost, -value_cost


def _run_costs(loss: Loss, axis: Axis) -> FloatArray:
    """Return the cost of every run of places, shape (n_places, n_places)."""
    n_places = axis.n_places
    costs = np.zeros((n_places, n_places))
    # Only `*` covers the missing value together with others.
    costs[0, 1:] = 1.0
    if axis.hierarchy is None:
        costs[1:, 1:] = np.maximum(0.0, axis.positions[None, 1:] - axis.positions[1:, None])
        return costs
    low, high = (each.astype(np.int32) for each in np.triu_indices(n_places - 1))
    level, node = publish.lowest_nodes(axis.hierarchy, axis, low, high)
    by_level = node_costs(loss, axis.hierarchy, axis.domain)
    run_costs = np.zeros(len(low))
    for i, of_level in enumerate(by_level):
        at = level == i
        run_costs[at] = of_level[node[at]]
    costs[low + 1, high + 1] = run_costs
    return costs


def _price_tree(loss: Loss, axis: Axis, weight: float) -> tuple[CodeArray, FloatArray]:
    """Return the node of every place at every level above the values, and its cost."""
    assert axis.hierarchy is not None
    codes = axis.code_at()
    nodes = np.full((axis.hierarchy.n_levels - 1, axis.n_places), -1, dtype=np.int32)
    nodes[:, 1:] = axis.hierarchy.level_codes[1:, codes]
    prices = np.zeros(nodes.shape)
    for level, of_level in enumerate(node_costs(loss, axis.hierarchy, axis.domain)[1:]):
        prices[level, 1:] = weight * of_level[nodes[level, 1:]]
    return nodes, prices
