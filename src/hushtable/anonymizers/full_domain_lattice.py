"""The lattice: what every value publishes at every level of its column, and the classes and costs of nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.judging import Judge
from hushtable.errors import HierarchyError, InputError, quote_names
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import group, rollup
from hushtable.models import ClassStats, Histogram
from hushtable.quality import (
    ArxLoss,
    AverageClassSize,
    Discernibility,
    Loss,
    NonUniformEntropy,
    Precision,
    SetNCP,
    discernibility,
    mean_loss,
)
from hushtable.tables import Partition, Table, count_by_value

Vector = tuple[int, ...]  # a level for every column: a node of the lattice


@dataclass(frozen=True, slots=True, eq=False)
class PublishedLevels:
    """The levels of one column, as they are published."""

    ladder: Hierarchy
    # (n_levels, n_values + 1): the node of each code (entry 0: missing); numbered from 0 in each level. Equal texts
    # are one node.
    nodes: CodeArray = field(repr=False)
    n_nodes: tuple[int, ...]  # by level
    # (n_levels, n_values): the level at which each value is published; a higher one if it must not be published lower
    level: CodeArray = field(repr=False)

    @property
    def top(self) -> int:
        """The highest level."""
        return len(self.n_nodes) - 1


def levels_of(table: Table, columns: Sequence[str], ladders: Mapping[str, Hierarchy]) -> tuple[PublishedLevels, ...]:
    """Return the levels of every column; raise InputError if one has no hierarchy."""
    lacking = [name for name in columns if name not in ladders]
    if lacking:
        raise InputError(
            f"columns {quote_names(lacking)} have no hierarchy.",
            hint='give each one, or "auto": full-domain recoding needs it.',
        )
    return tuple(_build_levels(ladders[name], table.column(name).name) for name in columns)


def _build_levels(ladder: Hierarchy, name: str) -> PublishedLevels:
    """Number the nodes of every level; raise HierarchyError if a node has more than one parent."""
    n_levels, n_values = ladder.n_levels, ladder.n_values
    level = np.repeat(np.arange(n_levels, dtype=np.int32)[:, None], n_values, axis=1)
    if ladder.lowest is not None:
        level = np.maximum(level, ladder.lowest[None, :])
    # Number the labels: equal texts of levels above 0 share a number; those of level 0, the values, have their own.
    number_of_text: dict[tuple[int, str], int] = {}
    numbers = [
        np.array([number_of_text.setdefault((min(i, 1), text), len(number_of_text)) for text in labels], dtype=np.int64)
        for i, labels in enumerate(ladder.labels)
    ]
    nodes = np.empty((n_levels, n_values + 1), dtype=np.int32)
    n_nodes = []
    codes = np.arange(n_values)
    text_at_level = np.stack([number[ladder.level_codes[i]] for i, number in enumerate(numbers)])
    for i in range(n_levels):
        published_texts = text_at_level[level[i], codes]
        # Below the top, the missing value is a node of its own; at the top, it is published like all others.
        missing = -1 if i < n_levels - 1 else int(numbers[-1][0])
        texts_used, dense = np.unique(np.append(missing, published_texts), return_inverse=True)
        nodes[i] = dense.ravel()
        n_nodes.append(len(texts_used))
    for i in range(n_levels - 1):
        parents = np.zeros(n_nodes[i], dtype=np.int32)
        parents[nodes[i]] = nodes[i + 1]
        if not np.array_equal(parents[nodes[i]], nodes[i + 1]):
            raise HierarchyError(
                f"hierarchy of {name!r}: labels of level {i} repeat in branches that level {i + 1} keeps apart.",
                hint="give every node of a level a label of its own.",
            )
    return PublishedLevels(ladder, nodes, tuple(n_nodes), level)


# With more keys than this and twice the rows, keys are hashed instead of used as addresses
_MOST_ADDRESSES: Final = 2**20
_MOST_KEYS: Final = 2**62  # the most different keys, so that they fit 64 bits
_LAST_STAMP: Final = 2**30  # the slots are cleared when the stamp is larger, so that stamps fit 32 bits


@dataclass(frozen=True, slots=True, eq=False)
class NodeSnapshot:
    """The classes of a node, with the value counts and sizes that the models need."""

    levels: Vector  # the node
    rows: CodeArray = field(repr=False)  # a row of every class, ascending
    sizes: CountArray = field(repr=False)
    # By column whose values the models count
    histograms: Mapping[str, Histogram] = field(default_factory=dict, repr=False)
    population: CountArray | None = field(default=None, repr=False)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.rows)


class Roller:
    """Merges classes of a node to those of a node above; every roll-up reuses the scratch arrays."""

    def __init__(self, judge: Judge, names: Sequence[str], columns: tuple[PublishedLevels, ...]) -> None:
        table = judge.table
        self.judge, self.columns = judge, columns
        self.codes: CodeArray = np.ascontiguousarray(table.codes[[table.index(name) for name in names]].T + np.int32(1))
        n_rows = table.n_rows
        self._labels, self._first = np.empty((2, n_rows), dtype=np.int32)
        self._sizes = np.empty(n_rows, dtype=np.int64)
        n_addresses = min(_MOST_ADDRESSES, math.prod(column.n_nodes[0] for column in columns))
        self._slots = np.full(max(n_addresses, _n_slots(n_rows)), -1, dtype=np.int32)
        self._stamp = 0
        self._reference = judge.reference_stats()
        rows_as_classes = Partition.from_labels(np.arange(n_rows, dtype=np.int32), n_rows, table.counts)
        all_rows = NodeSnapshot(
            (0,) * len(columns),
            np.arange(n_rows, dtype=np.int32),
            table.counts,
            {name: rows_as_classes.histogram(table, name) for name in judge.counted},
            judge.population,
        )
        self.base, _ = self.roll_up(all_rows, all_rows.levels)

    def roll_up(self, source: NodeSnapshot, levels: Vector) -> tuple[NodeSnapshot, CodeArray]:
        """Merge the classes of a node below to those of the node ``levels``.

        Return the new classes, and for each class of the source the number of its new class. The next roll-up
        overwrites these numbers.
        """
        labels, n_classes = self.group_rows(source.rows, source.sizes, levels)
        first = self._first[:n_classes]
        rows, sizes = source.rows[first], self._sizes[:n_classes].copy()
        if not source.histograms and source.population is None:
            return NodeSnapshot(levels, rows, sizes), labels
        population = None
        if source.population is not None:
            population = group.class_sizes(labels, source.population, n_classes)
        offsets, members = group.rows_by_class(labels, n_classes)
        histograms = {}
        for name, values in source.histograms.items():
            n_codes = self.judge.table.column(name).n_values
            merged = rollup.merge_values(offsets, members, values.offsets, values.codes, values.counts, n_codes)
            histograms[name] = Histogram(*merged)
        return NodeSnapshot(levels, rows, sizes, histograms, population), labels

    def group_rows(self, rows: CodeArray, counts: CountArray, levels: Vector) -> tuple[CodeArray, int]:
        """Return the class of each row at a node, and the number of classes; the next call overwrites the classes."""
        keys = np.zeros(len(rows), dtype=np.int64)
        labels, n_found = self._labels[: len(rows)], 1
        picked: list[int] = []
        n_keys = 1
        # Columns are combined to one key while it fits 64 bits; then rows are grouped, and their labels begin the next
        # key. The entry of column -1 groups the rows at the end.
        for j, level in [*enumerate(levels), (-1, 0)]:
            width = self.columns[j].n_nodes[level] if j >= 0 else 1
            if j < 0 or n_keys * width >= _MOST_KEYS:
                self._add_keys(rows, levels, picked, n_found, keys)
                n_found = self._group_keys(keys, counts, n_keys, labels)
                keys[:] = labels
                picked, n_keys = [], n_found
            if width > 1:
                picked.append(j)
                n_keys *= width
        return labels, n_found

    def _add_keys(self, rows: CodeArray, levels: Vector, picked: list[int], factor: int, keys: CountArray) -> None:
        """Extend keys, all below ``factor``, by the nodes of some columns: each is a digit of the key."""
        key_of_code = np.zeros(
            (len(picked), max([1, *(self.columns[j].nodes.shape[1] for j in picked)])), dtype=np.int64
        )
        for row, j in enumerate(picked):
            column = self.columns[j]
            key_of_code[row, : column.nodes.shape[1]] = column.nodes[levels[j]] * np.int64(factor)
            factor *= column.n_nodes[levels[j]]
        rollup.add_node_keys(self.codes, rows, np.array(picked, dtype=np.int64), key_of_code, keys)

    def _group_keys(self, keys: CountArray, counts: CountArray, n_keys: int, labels: CodeArray) -> int:
        """Label equal keys by one number, and return how many keys differ."""
        # A slot below the stamp is empty: the slots need not be cleared for every call.
        if self._stamp > _LAST_STAMP:
            self._slots[:], self._stamp = -1, 0
        n_slots, group_equal_keys = _n_slots(len(keys)), rollup.group_by_hash
        if n_keys <= max(_MOST_ADDRESSES, 2 * len(keys)) and n_keys <= len(self._slots):
            n_slots, group_equal_keys = n_keys, rollup.group_by_address
        slots = self._slots[:n_slots]
        n_found = group_equal_keys(keys, counts, slots, self._stamp, labels, self._first, self._sizes)
        self._stamp += n_found
        return n_found

    def class_stats(self, snapshot: NodeSnapshot) -> ClassStats:
        """Return the statistics of the classes for the models."""
        person, histograms = self.judge.person, snapshot.histograms
        return ClassStats(
            snapshot.sizes,
            histograms,
            self._reference.totals,
            snapshot.population,
            self._reference.grounds,
            None,
            None if person is None else histograms[person].n_distinct(),
        )


def _n_slots(n_keys: int) -> int:
    """Return the size of a hash table: a power of two, at most half full."""
    return int(1 << max(4, (2 * n_keys - 1).bit_length()))


class NodeObjective(Protocol):
    """The objective of the search, in the loss's unit."""

    @property
    def needs_own_classes(self) -> bool:
        """Whether `bound_from_classes` needs the classes of the node itself, not only those of a node below it."""

    def bound_from_levels(self, levels: Vector) -> float:
        """Return a lower bound of the cost of a node and all above it, from sums by level: fast, no row is read."""

    def node_cost(self, node: NodeSnapshot, failing: BoolArray) -> float:
        """Return what a node costs whose failing classes are suppressed."""

    def bound_from_classes(self, levels: Vector, source: NodeSnapshot, tagged: BoolArray) -> float:
        """Return a lower bound of the cost of a node and all above it, given the failing classes of a node below."""


@dataclass(frozen=True, slots=True, eq=False)
class CostsByColumn:
    """The costs of cells, by column."""

    # (n_levels, n_values + 1): by code, the extra cost of a suppressed cell over a published one
    extras: tuple[FloatArray, ...]
    # By column and level, over all records; integers if shares are counts of leaves, so that sums are exact
    sums: tuple[tuple[float, ...], ...]

    @classmethod
    def from_costs(
        cls, costs: Sequence[FloatArray], stars: Sequence[FloatArray], counts: Sequence[CountArray]
    ) -> CostsByColumn:
        """Build from the costs of cells, the costs of suppressed cells, and the records of each code."""
        extras = tuple(star[None, :] - cost for cost, star in zip(costs, stars, strict=True))
        pairs = zip(costs, counts, strict=True)
        return cls(extras, tuple(tuple(math.fsum((row * n).tolist()) for row in cost) for cost, n in pairs))


@dataclass(frozen=True, slots=True, eq=False)
class Additive:
    """A loss that adds the costs of cells in each column, and then combines the columns."""

    codes: CodeArray = field(repr=False)  # (n_rows, n_columns), code + 1
    cells: CostsByColumn = field(repr=False)
    # The least cost of a cell at a level or above; differs from `cells` only if a higher level costs less
    floors: CostsByColumn = field(repr=False)
    finish: Callable[[Sequence[float]], float] = field(repr=False)  # the loss, from the sums by column

    needs_own_classes = False

    def bound_from_levels(self, levels: Vector) -> float:
        """Return the least cost of a node or one above it if no record is suppressed."""
        return self.finish([sums[level] for sums, level in zip(self.floors.sums, levels, strict=True)])

    def node_cost(self, node: NodeSnapshot, failing: BoolArray) -> float:
        """Return what a node costs whose failing classes are suppressed."""
        return self._sum_costs(self.cells, node.levels, node, failing)

    def bound_from_classes(self, levels: Vector, source: NodeSnapshot, tagged: BoolArray) -> float:
        """Return the least cost of a node or one above it if the failing records of a node below are suppressed."""
        return self._sum_costs(self.floors, levels, source, tagged)

    def _sum_costs(self, cells: CostsByColumn, levels: Vector, source: NodeSnapshot, failing: BoolArray) -> float:
        """Return the loss if failing classes are suppressed: the costs of published cells, and the extra costs."""
        cost_of_code = np.zeros((len(levels), max(extra.shape[1] for extra in cells.extras)))
        for j, (extra, level) in enumerate(zip(cells.extras, levels, strict=True)):
            cost_of_code[j, : extra.shape[1]] = extra[level]
        added = np.zeros(len(levels))
        rollup.add_costs(self.codes, source.rows, source.sizes, failing, cost_of_code, added)
        pairs = zip(cells.sums, levels, added.tolist(), strict=True)
        return self.finish([sums[level] + suppressed_cost for sums, level, suppressed_cost in pairs])


@dataclass(frozen=True, slots=True, eq=False)
class ByClass:
    """A loss that depends on class sizes alone: discernibility, or the average class size."""

    n_records: int
    max_suppressed: int  # records
    min_size: int  # of every class, in records
    is_squared: bool  # the loss is the sum of squared sizes, else the mean size

    needs_own_classes = True

    def bound_from_levels(self, levels: Vector) -> float:
        """Return the cost if all classes have the smallest size."""
        return float(self.min_size * self.n_records if self.is_squared else self.min_size)

    def node_cost(self, node: NodeSnapshot, failing: BoolArray) -> float:
        """Return what a node costs whose failing classes are suppressed."""
        sizes = node.sizes[~failing & (node.sizes > 0)]
        n_kept = int(sizes.sum())
        if self.is_squared:
            return float(discernibility(sizes, self.n_records - n_kept))
        return n_kept / len(sizes) if len(sizes) else math.inf

    def bound_from_classes(self, levels: Vector, source: NodeSnapshot, tagged: BoolArray) -> float:
        """Return a lower bound from the classes of the node itself; each class grows at least to the smallest size."""
        if source.levels != levels:
            return self.bound_from_levels(levels)
        sizes = source.sizes[~tagged & (source.sizes > 0)]
        n_kept = int(sizes.sum())
        if self.is_squared:
            # A class that is kept has to grow at least to the smallest size.
            grown = int((sizes * np.maximum(0, self.min_size - sizes)).sum())
            return float(discernibility(sizes, self.n_records - n_kept) + grown)
        # The mean size is the number of kept records divided by the sum of 1 / size over them. It is least if as few
        # records as allowed are kept, those in the smallest classes.
        sizes = np.sort(sizes)
        reached = np.maximum(sizes, self.min_size)
        n_needed = max(1, min(n_kept, self.n_records - self.max_suppressed))
        n_before = np.cumsum(sizes) - sizes
        n_taken = np.clip(n_needed - n_before, 0, sizes)
        shared = math.fsum((n_taken / reached).tolist())
        return n_needed / shared * (1 - 1e-12) if shared > 0 else math.inf


def build_node_costs(
    loss: Loss,
    table: Table,
    names: Sequence[str],
    columns: Sequence[PublishedLevels],
    codes: CodeArray,
    limit: int,
    min_size: int,
) -> NodeObjective:
    """Build the objective of a loss; at most `limit` records are suppressed, a class holds at least `min_size`."""
    if isinstance(loss, (Discernibility, AverageClassSize)):
        return ByClass(table.n_records, limit, max(1, min_size), isinstance(loss, Discernibility))
    counts = [count_by_value(table, name) for name in names]
    costs, stars = zip(*(_price_levels(loss, *each) for each in zip(columns, counts, strict=True)), strict=True)
    floors = [np.minimum.accumulate(cost[::-1], axis=0)[::-1] for cost in costs]
    cells = CostsByColumn.from_costs(costs, stars, counts)
    is_rising = all(np.array_equal(floor, cost) for floor, cost in zip(floors, costs, strict=True))
    finish = _build_loss_of_sums(loss, names, columns, table.n_records)
    return Additive(codes, cells, cells if is_rising else CostsByColumn.from_costs(floors, stars, counts), finish)


def _price_levels(loss: Loss, column: PublishedLevels, counts: CountArray) -> tuple[FloatArray, FloatArray]:
    """Return the cost of a published cell by level and code (missing first), and of a suppressed cell by code."""
    ladder, shape = column.ladder, column.nodes.shape
    codes = np.arange(ladder.n_values)
    costs, suppressed = np.zeros(shape), np.ones(shape[1])
    shares = np.stack([ladder.shares[i][ladder.level_codes[i]] for i in range(ladder.n_levels)])
    shares = shares[column.level, codes]
    if isinstance(loss, ArxLoss):
        unit, leaf = _n_leaves(ladder.leaf_share), ladder.leaf_share
        costs[:, 1:], costs[:-1, 0], costs[-1, 0] = np.maximum(shares, leaf), leaf, 1.0
        return _round_to_integers(costs * unit) * loss.for_generalization, suppressed * unit
    if isinstance(loss, SetNCP):
        costs[:, 1:], costs[-1, 0] = np.where(column.level == 0, 0.0, shares), 1.0
        unit = _n_leaves(ladder.leaf_share)
        return _round_to_integers(costs * unit), suppressed * unit
    if isinstance(loss, Precision):
        costs[:, 1:], costs[-1, 0] = column.level, column.top
        return costs, suppressed * column.top
    assert isinstance(loss, NonUniformEntropy)
    bits_of_value = np.log2(np.maximum(1, counts))
    for level, nodes in enumerate(column.nodes):
        covered = np.bincount(nodes, weights=counts)[nodes]
        costs[level] = np.where(counts > 0, np.log2(np.maximum(1, covered)) - bits_of_value, 0.0)
    return costs, np.where(counts > 0, math.log2(max(1, int(counts.sum()))) - bits_of_value, 0.0)


def _build_loss_of_sums(
    loss: Loss, names: Sequence[str], columns: Sequence[PublishedLevels], n_records: int
) -> Callable[[Sequence[float]], float]:
    """Return the function that turns sums by column into the loss."""
    weights = [float(loss.weights.get(name, 1.0)) for name in names]
    leaves = [column.ladder.leaf_share for column in columns]
    units = [_n_leaves(leaf) for leaf in leaves]
    if isinstance(loss, ArxLoss):
        return lambda sums: loss.combine_losses(
            [
                loss.column_loss(sum_ / unit, n_records, leaf)
                for sum_, unit, leaf in zip(sums, units, leaves, strict=True)
            ],
            names,
        )
    if isinstance(loss, NonUniformEntropy):
        return lambda sums: math.fsum(weight * sum_ for weight, sum_ in zip(weights, sums, strict=True))
    largest_sums = [
        n_records * (column.top if isinstance(loss, Precision) else unit)
        for column, unit in zip(columns, units, strict=True)
    ]
    return lambda sums: mean_loss(
        [sum_ / largest_sum for sum_, largest_sum in zip(sums, largest_sums, strict=True)], weights
    )


def _n_leaves(leaf: float) -> float:
    """Return how many leaves of this share make the whole domain, if that is a whole number; else 1."""
    return float(round(1 / leaf)) if leaf > 0 and abs(1 / leaf - round(1 / leaf)) < 1e-6 else 1.0


def _round_to_integers(costs: FloatArray) -> FloatArray:
    """Round costs to integers if they are integers up to rounding errors."""
    rounded = np.round(costs)
    return rounded if np.allclose(rounded, costs, rtol=1e-12, atol=1e-9) else costs
