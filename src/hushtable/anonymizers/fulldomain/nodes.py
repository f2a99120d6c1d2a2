"""The lattice: which node every value publishes at every level of its column.

Snapshots: the classes of a node of the lattice with all that models ask of them, rolled up from one below.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers.judging import Judge
from hushtable.errors import HierarchyError, InputError, listed, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import group, rollup
from hushtable.models import ClassStats, Histogram
from hushtable.tables import Partition, Table

__all__ = ["NodeSnapshot", "PublishedLevels", "Roller", "Vector", "levels_of"]

Vector = tuple[int, ...]
"""A level for every column: a node of the lattice."""


@dataclass(frozen=True, slots=True, eq=False)
class PublishedLevels:
    """The levels of one column, as they are published.

    Attributes
    ----------
    ladder : Hierarchy
    nodes : ndarray of int32, shape (n_levels, n_values + 1)
        The node of the missing value (entry 0) and of every value, dense in each level: equal texts are one node.
    n_nodes : tuple of int, by level
    level : ndarray of int32, shape (n_levels, n_values)
        The level of the hierarchy that is published, which is higher where a value must not be published lower.
    """

    ladder: Hierarchy
    nodes: CodeArray = field(repr=False)
    n_nodes: tuple[int, ...]
    level: CodeArray = field(repr=False)

    @property
    def top(self) -> int:
        """The highest level."""
        return len(self.n_nodes) - 1


def levels_of(table: Table, columns: Sequence[str], ladders: Mapping[str, Hierarchy]) -> tuple[PublishedLevels, ...]:
    """Return the levels of every column.

    Raises
    ------
    InputError
        A column has no hierarchy.
    """
    lacking = [name for name in columns if name not in ladders]
    if lacking:
        msg = with_hint(
            f"columns {listed(lacking)} have no hierarchy.", 'give each one, or "auto": full-domain recoding needs it.'
        )
        raise InputError(msg)
    return tuple(_of(ladders[name], table.column(name).name) for name in columns)


def _of(ladder: Hierarchy, name: str) -> PublishedLevels:
    n_levels, n_values = ladder.n_levels, ladder.n_values
    level = np.repeat(np.arange(n_levels, dtype=np.int32)[:, None], n_values, axis=1)
    if ladder.lowest is not None:
        level = np.maximum(level, ladder.lowest[None, :])
    # The labels of all levels as numbers, equal texts alike; those of values are their own.
    place: dict[tuple[int, str], int] = {}
    numbers = [
        np.array([place.setdefault((min(i, 1), text), len(place)) for text in labels], dtype=np.int64)
        for i, labels in enumerate(ladder.labels)
    ]
    nodes = np.empty((n_levels, n_values + 1), dtype=np.int32)
    n_nodes = []
    codes = np.arange(n_values)
    at_level = np.stack([number[ladder.level_codes[i]] for i, number in enumerate(numbers)])
    for i in range(n_levels):
        texts = at_level[level[i], codes]
        missing = -1 if i < n_levels - 1 else int(numbers[-1][0])
        used, dense = np.unique(np.append(missing, texts), return_inverse=True)
        nodes[i] = dense.ravel()
        n_nodes.append(len(used))
    for i in range(n_levels - 1):
        parents = np.zeros(n_nodes[i], dtype=np.int32)
        parents[nodes[i]] = nodes[i + 1]
        if not np.array_equal(parents[nodes[i]], nodes[i + 1]):
            msg = f"hierarchy of {name!r}: labels of level {i} repeat in branches that level {i + 1} keeps apart."
            raise HierarchyError(with_hint(msg, "give every node of a level a label of its own."))
    return PublishedLevels(ladder, nodes, tuple(n_nodes), level)


_MOST_ADDRESSES: Final = 2**20
_MOST_KEYS: Final = 2**62
_LAST_STAMP: Final = 2**30


@dataclass(frozen=True, slots=True, eq=False)
class NodeSnapshot:
    """The classes of a node.

    Attributes
    ----------
    levels : tuple of int
        The node.
    rows : ndarray of int32, shape (n_classes,)
        A row of every class, ascending.
    sizes : ndarray of int64, shape (n_classes,)
    histograms : mapping of column to Histogram
        Of everything that is counted in classes.
    population : ndarray of int64, shape (n_classes,), optional
    """

    levels: Vector
    rows: CodeArray = field(repr=False)
    sizes: CountArray = field(repr=False)
    histograms: Mapping[str, Histogram] = field(default_factory=dict, repr=False)
    population: CountArray | None = field(default=None, repr=False)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.rows)


class Roller:
    """Makes snapshots; its arrays are used again from one roll-up to the next.

    Parameters
    ----------
    judge : Judge
    names : sequence of str
        The columns.
    columns : tuple of Levels
    """

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
        one_by_one = Partition.from_labels(np.arange(n_rows, dtype=np.int32), n_rows, table.counts)
        rows = NodeSnapshot(
            (0,) * len(columns),
            np.arange(n_rows, dtype=np.int32),
            table.counts,
            {name: one_by_one.histogram(table, name) for name in judge.counted},
            judge.population,
        )
        self.base, _ = self.up(rows, rows.levels)

    def up(self, source: NodeSnapshot, levels: Vector) -> tuple[NodeSnapshot, CodeArray]:
        """Roll up to a node; return its classes, and which of them each class of the source became.

        The second array is overwritten by the next roll-up.
        """
        labels, n_classes = self.group(source.rows, source.sizes, levels)
        first = self._first[:n_classes]
        rows, sizes = source.rows[first], self._sizes[:n_classes].copy()
        if not source.histograms and source.population is None:
            return NodeSnapshot(levels, rows, sizes), labels
        population = None
        if source.population is not None:
            population = group.class_sizes(labels, source.population, n_classes)
        offsets, members = group.rows_by_class(labels, n_classes)
        histograms = {}
        for name, held in source.histograms.items():
            n_codes = self.judge.table.column(name).n_values
            merged = rollup.merge_values(offsets, members, held.offsets, held.codes, held.counts, n_codes)
            histograms[name] = Histogram(*merged)
        return NodeSnapshot(levels, rows, sizes, histograms, population), labels

    def group(self, rows: CodeArray, counts: CountArray, levels: Vector) -> tuple[CodeArray, int]:
        """Label rows by the classes of a node; return the labels, which the next call overwrites, and their number."""
        keys = np.zeros(len(rows), dtype=np.int64)
        labels, n_found = self._labels[: len(rows)], 1
        picked: list[int] = []
        n_keys = 1
        for j, level in [*enumerate(levels), (-1, 0)]:
            width = self.columns[j].n_nodes[level] if j >= 0 else 1
            if j < 0 or n_keys * width >= _MOST_KEYS:
                self._add_keys(rows, levels, picked, n_found, keys)
                n_found = self._group(keys, counts, n_keys, labels)
                keys[:] = labels
                picked, n_keys = [], n_found
            if width > 1:
                picked.append(j)
                n_keys *= width
        return labels, n_found

    def _add_keys(self, rows: CodeArray, levels: Vector, picked: list[int], factor: int, keys: CountArray) -> None:
        """Add the nodes of some columns to keys below a factor."""
        table = np.zeros((len(picked), max([1, *(self.columns[j].nodes.shape[1] for j in picked)])), dtype=np.int64)
        for place, j in enumerate(picked):
            column = self.columns[j]
            table[place, : column.nodes.shape[1]] = column.nodes[levels[j]] * np.int64(factor)
            factor *= column.n_nodes[levels[j]]
        rollup.node_keys(self.codes, rows, np.array(picked, dtype=np.int64), table, keys)

    def _group(self, keys: CountArray, counts: CountArray, n_keys: int, labels: CodeArray) -> int:
        if self._stamp > _LAST_STAMP:
            self._slots[:], self._stamp = -1, 0
        n_slots, group_ = _n_slots(len(keys)), rollup.group_by_hash
        if n_keys <= max(_MOST_ADDRESSES, 2 * len(keys)) and n_keys <= len(self._slots):
            n_slots, group_ = n_keys, rollup.group_by_address
        slots = self._slots[:n_slots]
        n_found = group_(keys, counts, slots, self._stamp, labels, self._first, self._sizes)
        self._stamp += n_found
        return n_found

    def stats(self, snapshot: NodeSnapshot) -> ClassStats:
        """Return what models ask of the classes."""
        person, held = self.judge.person, snapshot.histograms
        return ClassStats(
            snapshot.sizes,
            held,
            self._reference.totals,
            snapshot.population,
            self._reference.grounds,
            None,
            None if person is None else held[person].n_distinct(),
        )


def _n_slots(n_keys: int) -> int:
    """Return a power of two of which at most a half is used."""
    return int(1 << max(4, (2 * n_keys - 1).bit_length()))
