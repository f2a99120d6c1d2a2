"""The cuts that a Mondrian search made, as a tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray, frozen, remade
from hushtable.kernels import replay, split
from hushtable.recoding import Axis, placing
from hushtable.search import in_runs
from hushtable.tables import Table

__all__ = ["CutTree", "Walk"]


@dataclass(frozen=True, slots=True, eq=False)
class CutTree:
    """The cuts of a Mondrian partition, depth first, left child first; it pickles.

    Attributes
    ----------
    axes : tuple of Axis
        How the quasi-identifiers were laid out for cutting.
    columns : ndarray of int32, shape (n_nodes,), read-only
        The cut column of a node; -1 where the node is a finished class. Finished
        classes come in the order of their labels.
    starts : ndarray of int64, shape (n_nodes + 1,), read-only
        The codes of a node's left side are ``members[starts[i]:starts[i + 1]]``;
        every other code of the node's cell goes right.
    members : ndarray of int32, read-only
    """

    axes: tuple[Axis, ...] = field(repr=False)
    columns: CodeArray = field(repr=False)
    starts: CountArray = field(repr=False)
    members: CodeArray = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.columns, self.starts, self.members):
            frozen(array)

    __reduce__ = remade

    @classmethod
    def of(cls, tree: split.Tree, axes: tuple[Axis, ...]) -> CutTree:
        """Return what a kernel grew."""
        n_nodes = int(tree.cursor[split.NODES])
        starts = np.concatenate(([0], np.cumsum(tree.lengths[:n_nodes], dtype=np.int64)))
        return cls(axes, tree.columns[:n_nodes], starts, tree.members[: starts[-1]] - np.int32(1))

    def labels(self, table: Table) -> CodeArray:
        """Return the class into whose cell every row of a table falls; see `Walk.labels`."""
        return self.walk().labels(table)

    def walk(self) -> Walk:
        """Return what rows are walked down by: once for a tree, however many tables come."""
        in_order = np.array([axis.is_cut_in_order for axis in self.axes], dtype=np.bool_)
        return Walk(self.axes, *replay.signposts(self.columns, self.starts, self.members, in_order))


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """A tree of cuts, laid out for rows that walk down it.

    Attributes
    ----------
    axes : tuple of Axis
        How the quasi-identifiers were laid out for cutting.
    nodes : ndarray of `hushtable.kernels.replay.NODE`, shape (n_nodes,), read-only
    words : ndarray of `hushtable.kernels.replay.WORD`, read-only
    """

    axes: tuple[Axis, ...] = field(repr=False)
    nodes: NDArray[Any] = field(repr=False)
    words: NDArray[Any] = field(repr=False)

    def __post_init__(self) -> None:
        frozen(self.nodes)
        frozen(self.words)

    __reduce__ = remade

    def labels(self, table: Table) -> CodeArray:
        """Return the class into whose cell every row of a table falls.

        Parameters
        ----------
        table : Table
            With the searched table's quasi-identifiers, coded alike. A code beyond those that the
            searched table knew goes right at every cut of its column, as all go that a cut did not name.

        Notes
        -----
        O(depth) per row, times the logarithm of the left side's values over 64 in an unordered column.
        """
        labels, by = np.empty(table.n_rows, dtype=np.int32), placing(table, self.axes)
        in_runs(lambda run: replay.walk(self.nodes, self.words, table.codes, *by, labels, run), table.n_rows)
        return labels
