"""Minimal distortion and certainty: what a cell loses, summed over cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.columns import Column
from hushtable.errors import InputError, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.quality.loss import check_weights
from hushtable.recoding import Cells, Intervals, Nodes, Recoding

__all__ = ["Certainty", "MinimalDistortion"]

Variant = Literal["leaves", "mg-ga"]
_VARIANTS: Final = ("leaves", "mg-ga")


@dataclass(frozen=True, slots=True)
class MinimalDistortion:
    """The number of cells that a release changes, each counted with its column's weight.

    Parameters
    ----------
    weights : mapping of column to float
        How much a changed cell of a quasi-identifier counts, 0 or more; 1 where none is given.

    Notes
    -----
    The metric ``md`` of MG-GA, after Samarati and Sweeney's minimal distortion. A suppressed
    record changes all its cells.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "sex": ["f", "f", "m", "f"]})
    >>> release = ht.anonymize(people, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)],
    ...                        method="mingen", loss=MinimalDistortion({"age": 0.5}))
    >>> release.loss, release.trace.optimal
    (4.0, True)
    """

    weights: Mapping[str, float] = field(default_factory=dict)

    name: ClassVar[str] = "minimal_distortion"
    by_width: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_weights(self.weights)

    def of(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Return the weighted number of changed cells."""
        return _sum(self, recoding, sizes, n_suppressed)

    def node_costs(self, hierarchy: Hierarchy, n_values: int) -> tuple[FloatArray, ...]:
        """Return 1 for every node above the values."""
        return tuple(np.full(hierarchy.n_nodes(level), float(level > 0)) for level in range(hierarchy.n_levels))

    def factor(self, names: Sequence[str], n_records: int) -> float:
        """Return 1: the loss is the sum."""
        return 1.0


@dataclass(frozen=True, slots=True)
class Certainty:
    r"""The share of leaves, or of the range, that every changed cell lost, summed over cells.

    Parameters
    ----------
    weights : mapping of column to float
        How much a cell of a quasi-identifier counts, 0 or more; 1 where none is given.
    variant : {"leaves", "mg-ga"}
        What a node of a hierarchy costs. ``"leaves"``: (leaves under it - 1) / (all leaves - 1),
        where a hierarchy measures widths the same with shares. ``"mg-ga"``, that program's own
        formula: nodes that share its parent, itself included, over the distinct values of the
        column in the table. It may rise above 1 and fall towards the top. In both an
        interval costs its width over the column's, and ``*`` costs 1.

    Notes
    -----
    ``"leaves"`` is Iyengar's loss metric, "Transforming data to satisfy privacy
    constraints", KDD 2002, section 3, as a sum. It is not the set-NCP of ``loss="ncp"``, which
    counts a node's leaves without taking one off.

    Examples
    --------
    >>> from hushtable import Hierarchy
    >>> jobs = Hierarchy.from_domains("job/blue: welder, plumber\njob/white: clerk, nurse, cook\n")["job"]
    >>> Certainty().node_costs(jobs, 5)[1].round(12).tolist()
    [0.25, 0.5]
    >>> Certainty(variant="mg-ga").node_costs(jobs, 5)[1].tolist()
    [0.4, 0.4]
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    variant: Variant = "leaves"

    name: ClassVar[str] = "certainty"
    by_width: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_weights(self.weights)
        if self.variant not in _VARIANTS:
            msg = with_hint(f"Certainty was given variant = {self.variant!r}.", f"choose one of {_VARIANTS}.")
            raise InputError(msg)

    def of(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Return the weighted sum over cells."""
        return _sum(self, recoding, sizes, n_suppressed)

    def node_costs(self, hierarchy: Hierarchy, n_values: int) -> tuple[FloatArray, ...]:
        """Return what every node costs; nothing for a value, 1 for ``*``."""
        between = [self._costs(hierarchy, level, n_values) for level in range(1, hierarchy.n_levels - 1)]
        return (np.zeros(hierarchy.n_nodes(0)), *between, np.ones(1))

    def _costs(self, hierarchy: Hierarchy, level: int, n_values: int) -> FloatArray:
        shares = hierarchy.shares[level]
        if self.variant == "mg-ga":
            costs = hierarchy.siblings[level] / max(1, n_values)
        else:
            room = 1 - hierarchy.leaf_share
            costs = np.maximum(0.0, shares - hierarchy.leaf_share) / room if room > 0 else np.zeros(len(shares))
        is_star = np.array([label == hierarchy.labels[-1][0] for label in hierarchy.labels[level]], dtype=bool)
        return np.asarray(np.where(is_star, 1.0, costs))

    def factor(self, names: Sequence[str], n_records: int) -> float:
        """Return 1: the loss is the sum."""
        return 1.0


def _sum(objective: MinimalDistortion | Certainty, recoding: Recoding, sizes: CountArray, n_suppressed: int) -> float:
    lost = 0.0
    for column, published in zip(recoding.columns, recoding.cells, strict=True):
        weight = objective.weights.get(column.name, 1.0)
        lost += weight * (float(_cell_costs(objective, column, published) @ sizes) + n_suppressed)
    return lost


def _cell_costs(objective: MinimalDistortion | Certainty, column: Column, published: Cells) -> FloatArray:
    """Return what a cell of every class costs in one column."""
    if isinstance(published, Intervals):
        if objective.by_width:
            return published.shares(column)
        is_star = published.has_missing & (published.high >= 0)
        return np.asarray((published.low != published.high) | is_star, dtype=np.float64)
    if not isinstance(published, Nodes):
        msg = with_hint(
            f"{objective.name} is not defined on what column {column.name!r} publishes ({type(published).__name__}).",
            "it judges values, intervals between values, nodes of hierarchies and `*`.",
        )
        raise InputError(msg)
    # A missing value is one value more where some class publishes one.
    n_values = column.n_values + int(bool((published.level < 0).any() or published.has_missing.any()))
    by_level = objective.node_costs(published.hierarchy, n_values)
    costs = np.zeros(len(published.level))
    for level, runs in enumerate(by_level):
        at = published.level == level
        costs[at] = runs[published.node[at]]
    costs[published.has_missing & (published.level >= 0)] = 1.0
    return costs
