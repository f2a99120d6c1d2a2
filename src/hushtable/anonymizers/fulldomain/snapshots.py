"""Snapshots: the classes of a node of the lattice with all that models ask of them, rolled up from one below."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers.fulldomain.nodes import Levels, Vector
from hushtable.anonymizers.judging import Judge
from hushtable.kernels import group, rollup
from hushtable.models import ClassStats, Histogram
from hushtable.tables import Partition

__all__ = ["Roller", "Snapshot"]

_MOST_ADDRESSES: Final = 2**20
_MOST_KEYS: Final = 2**62
_LAST_STAMP: Final = 2**30


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
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

    def __init__(self, judge: Judge, names: Sequence[str], columns: tuple[Levels, ...]) -> None:
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
        rows = Snapshot(
            (0,) * len(columns),
            np.arange(n_rows, dtype=np.int32),
            table.counts,
            {name: one_by_one.histogram(table, name) for name in judge.counted},
            judge.population,
        )
        self.base, _ = self.up(rows, rows.levels)

    def up(self, source: Snapshot, levels: Vector) -> tuple[Snapshot, CodeArray]:
        """Roll up to a node; return its classes, and which of them each class of the source became.

        The second array is overwritten by the next roll-up.
        """
        labels, n_classes = self.group(source.rows, source.sizes, levels)
        first = self._first[:n_classes]
        rows, sizes = source.rows[first], self._sizes[:n_classes].copy()
        if not source.histograms and source.population is None:
            return Snapshot(levels, rows, sizes), labels
        population = None
        if source.population is not None:
            population = group.class_sizes(labels, source.population, n_classes)
        offsets, members = group.rows_by_class(labels, n_classes)
        histograms = {}
        for name, held in source.histograms.items():
            n_codes = self.judge.table.column(name).n_values
            merged = rollup.merge_values(offsets, members, held.offsets, held.codes, held.counts, n_codes)
            histograms[name] = Histogram(*merged)
        return Snapshot(levels, rows, sizes, histograms, population), labels

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

    def stats(self, snapshot: Snapshot) -> ClassStats:
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
