"""The lattice: which node every value publishes at every level of its column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hushtable._types import CodeArray
from hushtable.errors import HierarchyError, InputError, listed, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.tables import Table

__all__ = ["Levels", "Vector", "levels_of"]

Vector = tuple[int, ...]
"""A level for every column: a node of the lattice."""


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
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


def levels_of(table: Table, columns: Sequence[str], ladders: Mapping[str, Hierarchy]) -> tuple[Levels, ...]:
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


def _of(ladder: Hierarchy, name: str) -> Levels:
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
    return Levels(ladder, nodes, tuple(n_nodes), level)
