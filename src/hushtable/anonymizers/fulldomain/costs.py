"""What nodes of the lattice cost, and bounds under what all nodes above one cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.fulldomain.nodes import NodeSnapshot, PublishedLevels, Vector
from hushtable.kernels import rollup
from hushtable.quality import (
    ArxLoss,
    AverageClassSize,
    Discernibility,
    Loss,
    NonUniformEntropy,
    Precision,
    SetNCP,
    weighted_mean,
)
from hushtable.tables import Table, totals

__all__ = ["Additive", "ByClass", "NodeObjective", "objective_of"]


class NodeObjective(Protocol):
    """What is made small, in the loss's unit."""

    @property
    def by_class(self) -> bool:
        """Whether a bound needs the very classes of the lower end, and not only those of a node below it."""
        ...

    def least(self, levels: Vector) -> float:
        """Return a bound under the cost of every node from one up; look-ups only."""
        ...

    def value(self, node: NodeSnapshot, failing: BoolArray) -> float:
        """Return what a node costs whose failing classes are suppressed."""
        ...

    def bound(self, levels: Vector, source: NodeSnapshot, tagged: BoolArray) -> float:
        """Return a bound under the cost of every node from one up at which certain records fail.

        Parameters
        ----------
        levels : tuple of int
        source : NodeSnapshot
            Of a node below, or that one.
        tagged : ndarray of bool
            The classes of the source whose records fail.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class CostsByColumn:
    """What cells cost, by column.

    Attributes
    ----------
    extras : tuple of ndarray of float64, shape (n_levels, n_values + 1)
        What it costs more to suppress a cell than to publish it, of every code at every level.
    sums : tuple by column of tuple by level of float
        What the cells of all records cost; whole numbers where shares are, so that sums are exact.
    """

    extras: tuple[FloatArray, ...]
    sums: tuple[tuple[float, ...], ...]

    @classmethod
    def of(
        cls, costs: Sequence[FloatArray], stars: Sequence[FloatArray], counts: Sequence[CountArray]
    ) -> CostsByColumn:
        """Make cells of what they cost, what a suppressed one costs, and the records of each code."""
        extras = tuple(star[None, :] - cost for cost, star in zip(costs, stars, strict=True))
        pairs = zip(costs, counts, strict=True)
        return cls(extras, tuple(tuple(math.fsum((row * n).tolist()) for row in cost) for cost, n in pairs))


@dataclass(frozen=True, slots=True, eq=False)
class Additive:
    """A sum over cells, aggregated over columns.

    Attributes
    ----------
    codes : ndarray of int32, shape (n_rows, n_columns)
        Code + 1 of every row.
    cells : CostsByColumn
        What cells cost.
    floors : CostsByColumn
        The least that they cost at a level or above it: the same, but where a rule has a wider node cost less.
    finish : callable
        The loss, from the sums by column.
    """

    codes: CodeArray = field(repr=False)
    cells: CostsByColumn = field(repr=False)
    floors: CostsByColumn = field(repr=False)
    finish: Callable[[Sequence[float]], float] = field(repr=False)

    by_class = False

    def least(self, levels: Vector) -> float:
        """Return what a node costs whose records are all published."""
        return self.finish([sums[level] for sums, level in zip(self.floors.sums, levels, strict=True)])

    def value(self, node: NodeSnapshot, failing: BoolArray) -> float:
        """Return what a node costs whose failing classes are suppressed."""
        return self._of(self.cells, node.levels, node, failing)

    def bound(self, levels: Vector, source: NodeSnapshot, tagged: BoolArray) -> float:
        """Return what the records cost at the lowest levels, those that fail as suppressed ones."""
        return self._of(self.floors, levels, source, tagged)

    def _of(self, cells: CostsByColumn, levels: Vector, source: NodeSnapshot, gone: BoolArray) -> float:
        table = np.zeros((len(levels), max(extra.shape[1] for extra in cells.extras)))
        for j, (extra, level) in enumerate(zip(cells.extras, levels, strict=True)):
            table[j, : extra.shape[1]] = extra[level]
        added = np.zeros(len(levels))
        rollup.add_up(self.codes, source.rows, source.sizes, gone, table, added)
        pairs = zip(cells.sums, levels, added.tolist(), strict=True)
        return self.finish([sums[level] + more for sums, level, more in pairs])


@dataclass(frozen=True, slots=True, eq=False)
class ByClass:
    """A loss of the sizes of classes.

    Attributes
    ----------
    n_records : int
    most : int
        Records that may be suppressed.
    min_size : int
        Records that every class holds.
    is_squared : bool
        The sum of squares, or else the mean.
    """

    n_records: int
    most: int
    min_size: int
    is_squared: bool

    by_class = True

    def least(self, levels: Vector) -> float:
        """Return what classes of the smallest size cost."""
        del levels
        return float(self.min_size * self.n_records if self.is_squared else self.min_size)

    def value(self, node: NodeSnapshot, failing: BoolArray) -> float:
        """Return what a node costs whose failing classes are suppressed."""
        sizes = node.sizes[~failing & (node.sizes > 0)]
        n_kept = int(sizes.sum())
        if self.is_squared:
            return float(_sum_of_squares(sizes) + (self.n_records - n_kept) * self.n_records)
        return n_kept / len(sizes) if len(sizes) else math.inf

    def bound(self, levels: Vector, source: NodeSnapshot, tagged: BoolArray) -> float:
        """Have every record cost the size of its class at the lowest levels, or what a suppressed one costs."""
        if source.levels != levels:
            return self.least(levels)
        sizes = source.sizes[~tagged & (source.sizes > 0)]
        n_kept = int(sizes.sum())
        if self.is_squared:
            # A class that is kept grows to the smallest size at least.
            squares = _sum_of_squares(sizes) + int((sizes * np.maximum(0, self.min_size - sizes)).sum())
            return float(squares + (self.n_records - n_kept) * self.n_records)
        # Of n records that are kept, each is 1 / size of a class: the fewest, in the smallest classes, give the least.
        sizes = np.sort(sizes)
        reached = np.maximum(sizes, self.min_size)
        left = max(1, min(n_kept, self.n_records - self.most))
        before = np.cumsum(sizes) - sizes
        taken = np.clip(left - before, 0, sizes)
        shared = math.fsum((taken / reached).tolist())
        return left / shared * (1 - 1e-12) if shared > 0 else math.inf


def objective_of(
    loss: Loss,
    table: Table,
    names: Sequence[str],
    columns: Sequence[PublishedLevels],
    codes: CodeArray,
    most: int,
    least: int,
) -> NodeObjective:
    """Return what a loss costs on the nodes of a lattice.

    Parameters
    ----------
    loss : Loss
    table : Table
    names : sequence of str
    columns : sequence of Levels
    codes : ndarray of int32, shape (n_rows, n_columns)
        Code + 1 of every row.
    most : int
        Records that may be suppressed.
    least : int
        Records that every class holds.
    """
    if isinstance(loss, (Discernibility, AverageClassSize)):
        return ByClass(table.n_records, most, max(1, least), isinstance(loss, Discernibility))
    counts = [totals(table, name) for name in names]
    costs, stars = zip(*(_priced(loss, *each) for each in zip(columns, counts, strict=True)), strict=True)
    floors = [np.minimum.accumulate(cost[::-1], axis=0)[::-1] for cost in costs]
    cells = CostsByColumn.of(costs, stars, counts)
    is_rising = all(np.array_equal(floor, cost) for floor, cost in zip(floors, costs, strict=True))
    finish = _finish(loss, names, columns, table.n_records)
    return Additive(codes, cells, cells if is_rising else CostsByColumn.of(floors, stars, counts), finish)


def _priced(loss: Loss, column: PublishedLevels, counts: CountArray) -> tuple[FloatArray, FloatArray]:
    """Return what a cell costs of every code (the missing one first) at every level, and suppressed."""
    ladder, shape = column.ladder, column.nodes.shape
    codes = np.arange(ladder.n_values)
    costs, star = np.zeros(shape), np.ones(shape[1])
    shares = np.stack([ladder.shares[i][ladder.level_codes[i]] for i in range(ladder.n_levels)])
    shares = shares[column.level, codes]
    if isinstance(loss, ArxLoss):
        unit, leaf = _unit(ladder.leaf_share), ladder.leaf_share
        costs[:, 1:], costs[:-1, 0], costs[-1, 0] = np.maximum(shares, leaf), leaf, 1.0
        return _whole(costs * unit) * loss.for_generalization, star * unit
    if isinstance(loss, SetNCP):
        costs[:, 1:], costs[-1, 0] = np.where(column.level == 0, 0.0, shares), 1.0
        unit = _unit(ladder.leaf_share)
        return _whole(costs * unit), star * unit
    if isinstance(loss, Precision):
        costs[:, 1:], costs[-1, 0] = column.level, column.top
        return costs, star * column.top
    assert isinstance(loss, NonUniformEntropy)
    own = np.log2(np.maximum(1, counts))
    for level, nodes in enumerate(column.nodes):
        covered = np.bincount(nodes, weights=counts)[nodes]
        costs[level] = np.where(counts > 0, np.log2(np.maximum(1, covered)) - own, 0.0)
    return costs, np.where(counts > 0, math.log2(max(1, int(counts.sum()))) - own, 0.0)


def _finish(
    loss: Loss, names: Sequence[str], columns: Sequence[PublishedLevels], n_records: int
) -> Callable[[Sequence[float]], float]:
    """Return what makes a loss of the sums by column."""
    weights = [float(loss.weights.get(name, 1.0)) for name in names]
    leaves = [column.ladder.leaf_share for column in columns]
    units = [_unit(leaf) for leaf in leaves]
    if isinstance(loss, ArxLoss):
        return lambda sums: loss.combined(
            [
                loss.of_column(sum_ / unit, n_records, leaf)
                for sum_, unit, leaf in zip(sums, units, leaves, strict=True)
            ],
            names,
        )
    if isinstance(loss, NonUniformEntropy):
        return lambda sums: math.fsum(weight * sum_ for weight, sum_ in zip(weights, sums, strict=True))
    rooms = [
        n_records * (column.top if isinstance(loss, Precision) else unit)
        for column, unit in zip(columns, units, strict=True)
    ]
    return lambda sums: weighted_mean([sum_ / room for sum_, room in zip(sums, rooms, strict=True)], weights)


def _unit(leaf: float) -> float:
    """Return how many leaves there are, where shares are numbers of leaves; else 1."""
    return float(round(1 / leaf)) if leaf > 0 and abs(1 / leaf - round(1 / leaf)) < 1e-6 else 1.0


def _whole(costs: FloatArray) -> FloatArray:
    """Return costs as whole numbers, where they are but for rounding."""
    rounded = np.round(costs)
    return rounded if np.allclose(rounded, costs, rtol=1e-12, atol=1e-9) else costs


def _sum_of_squares(sizes: CountArray) -> int:
    # Python's integers: the square of a large class does not fit 64 bits.
    return sum(size * size for size in sizes.tolist())
