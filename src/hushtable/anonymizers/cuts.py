"""The cuts that a Mondrian search made, as a tree."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.kernels import split
from hushtable.layout import Axis, places
from hushtable.table import Table

__all__ = ["CutTree"]


@dataclass(frozen=True, slots=True, eq=False)
class CutTree:
    """The cuts of a Mondrian partition, depth first, left child first.

    Attributes
    ----------
    axes : tuple of Axis
        How the quasi-identifiers were laid out for cutting.
    columns : ndarray of int32, shape (n_nodes,)
        The cut column of a node; -1 where the node is a finished class. Finished
        classes come in the order of their labels.
    starts : ndarray of int64, shape (n_nodes + 1,)
        The codes of a node's left side are ``members[starts[i]:starts[i + 1]]``;
        every other code of the node's cell goes right.
    members : ndarray of int32
    """

    axes: tuple[Axis, ...] = field(repr=False)
    columns: CodeArray = field(repr=False)
    starts: CountArray = field(repr=False)
    members: CodeArray = field(repr=False)

    @classmethod
    def of(cls, tree: split.Tree, axes: tuple[Axis, ...]) -> CutTree:
        """Return what a kernel grew."""
        n_nodes = int(tree.cursor[split.NODES])
        starts = np.concatenate(([0], np.cumsum(tree.lengths[:n_nodes], dtype=np.int64)))
        return cls(axes, tree.columns[:n_nodes], starts, tree.members[: starts[-1]] - np.int32(1))

    def labels(self, table: Table) -> CodeArray:
        """Return the class into whose cell every row of a table falls.

        Parameters
        ----------
        table : Table
            With the searched table's quasi-identifiers, coded alike.
        """
        points = places(table, self.axes) - np.int32(1)
        labels = np.empty(table.n_rows, dtype=np.int32)
        waiting = [np.arange(table.n_rows)]
        n_leaves = 0
        for node, column in enumerate(self.columns.tolist()):
            rows = waiting.pop()
            if column < 0:
                labels[rows] = n_leaves
                n_leaves += 1
                continue
            members, at = self.members[self.starts[node] : self.starts[node + 1]], points[rows, column]
            left = at <= members[-1] if self.axes[column].is_cut_in_order else np.isin(at, members)
            waiting += [rows[~left], rows[left]]
        return labels
