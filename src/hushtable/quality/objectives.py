"""Losses of full-domain recoding, as ARX makes them small or as classes are measured; and all losses by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Final, Literal

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import Column
from hushtable.errors import InputError
from hushtable.models import entries
from hushtable.quality import loss
from hushtable.quality.loss import (
    Certainty,
    Loss,
    MinimalDistortion,
    SetNCP,
    WeightedLoss,
    check_weights,
    mean_loss,
)
from hushtable.recoding import Cells, CodeRanges, Listed, Nodes, NodeSets, Recoding, Sets
from hushtable.tables import Table, count_by_value

Mean = Literal["geometric", "arithmetic"]
_TEN_DECIMALS = 1e10
_ROUNDING = 1e-4  # of the last decimal
_UNWEIGHTED: Final = MappingProxyType(dict[str, float]())  # of losses that count classes, not cells


def cut_decimals(lost: float) -> float:
    """Cut a column's loss after ten decimals, as ARX does before it aggregates.

    What has ten decimals but for rounding keeps them, so that equal losses are equal.
    """
    return math.floor(max(0.0, lost) * _TEN_DECIMALS + _ROUNDING) / _TEN_DECIMALS


@dataclass(frozen=True, slots=True)
class ArxLoss:
    r"""ARX's Loss, 0 (nothing lost) to 1 (everything).

    Parameters
    ----------
    mean : {"geometric", "arithmetic"}
        Over the columns; the geometric mean is ARX's default.
    gs_factor : float
        From 0 to 1: above 0.5, generalization counts less beside suppression. Below, ARX has a suppressed record cost
        what its node would; here it publishes ``*``, which costs 1, so that all factors up to 0.5 are one.
    weights : mapping of column to float
        How much the loss of a quasi-identifier counts beside the others; 1 where none is given.

    Notes
    -----
    The measure ``"arx_loss"`` of `hushtable.quality.measure_release`, where the formula is; recovered from ARX 3.9.2.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"zip": ["10115", "10117", "20095", "20099"]})
    >>> release = ht.anonymize(people, quasi_identifiers=["zip"], models=[ht.KAnonymity(2)], method="full_domain",
    ...                        hierarchies={"zip": ht.Hierarchy.prefix([3])}, loss=ArxLoss())
    >>> release.frame["zip"].to_list(), round(release.loss, 4), release.trace.optimal
    (['101*', '101*', '200*', '200*'], 0.3333, True)
    """

    mean: Mean = "geometric"
    gs_factor: float = 0.5
    weights: Mapping[str, float] = field(default_factory=dict)

    name: ClassVar[str] = "arx_loss"

    def __post_init__(self) -> None:
        check_weights(self.weights)
        if self.mean not in ("geometric", "arithmetic"):
            raise InputError(f"ArxLoss was given mean = {self.mean!r}.", hint="choose 'geometric' or 'arithmetic'.")
        given = self.gs_factor
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= 1:
            raise InputError(f"ArxLoss was given gs_factor = {given!r}.", hint="a number from 0 to 1.")

    @property
    def for_generalization(self) -> float:
        """What the share of a generalized cell is multiplied by."""
        return min(1.0, 2 - 2 * self.gs_factor)

    def measure(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Return the loss of a release from what its classes publish."""
        factor, losses = self.for_generalization, []
        n_records = int(sizes.sum()) + n_suppressed
        for column, cells in zip(recoding.columns, recoding.cells, strict=True):
            leaf = leaf_share(cells)
            share_sum = _sum_times_counts(np.maximum(cells.shares(column), leaf), sizes)
            losses.append(self.column_loss(factor * share_sum + n_suppressed, n_records, leaf))
        return self.combine_losses(losses, [column.name for column in recoding.columns])

    def column_loss(self, published: float, n_records: int, leaf: float) -> float:
        """Return the loss of a column from the sum of the shares that its cells publish."""
        least = self.for_generalization * n_records * leaf
        room = n_records - least
        share_lost = (published - least) / room if room > 0 else 0.0
        return cut_decimals(share_lost)

    def cost_of(self, shares: FloatArray, leaf: float) -> FloatArray:
        """Return what published shares add to the loss of a column whose single values have the share ``leaf``."""
        factor = self.for_generalization
        room = 1 - factor * leaf
        return np.asarray(factor * np.maximum(0.0, shares - leaf) / room if room > 0 else np.zeros(len(shares)))

    def combine_losses(self, losses: Sequence[float], names: Sequence[str]) -> float:
        """Return the mean over columns."""
        weights = [float(self.weights.get(name, 1.0)) for name in names]
        max_weight = max(weights) or 1.0
        weighted = [value * weight / max_weight for value, weight in zip(losses, weights, strict=True)]
        if self.mean == "arithmetic":
            return math.fsum(weighted) / len(weighted)
        return float(math.prod((value + 1) ** (1 / len(weighted)) for value in weighted)) - 1


@dataclass(frozen=True, slots=True)
class NonUniformEntropy(WeightedLoss):
    """The bits that are lost when every cell is guessed from what is published; a suppressed one from the whole column.

    Parameters
    ----------
    weights : mapping of column to float
        How much the bits of a quasi-identifier count; 1 where none is given.

    Notes
    -----
    The measure ``"non_uniform_entropy"``, see `hushtable.quality.loss.non_uniform_entropy`. Without suppressed records
    it is ARX's, which guesses a suppressed cell from the suppressed ones alone (the measure ``"arx_entropy"``).
    """

    name: ClassVar[str] = "non_uniform_entropy"

    def measure(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Raise InputError: cells alone do not say how frequent values are; see `measure_rows`."""
        del recoding, sizes, n_suppressed
        raise InputError("non-uniform entropy is of rows, and only cells were given.", hint="call measure_rows.")

    def measure_rows(self, recoding: Recoding, labels: CodeArray, table: Table) -> float:
        """Return the loss of a release whose rows have these classes; -1: suppressed."""
        losses = []
        for column, cells in zip(recoding.columns, recoding.cells, strict=True):
            counts, codes = count_by_value(table, column.name), table.codes[table.index(column.name)]
            if not isinstance(cells, Nodes):
                raise InputError(
                    f"non-uniform entropy is no loss of what column {column.name!r} publishes.",
                    hint="as a loss it is of nodes: method='full_domain'.",
                )
            covered = np.append(_count_under_nodes(cells, counts), counts.sum())[labels]
            bits = np.log2(covered) - np.log2(np.maximum(1, counts[codes + 1]))
            (weight,) = self._weights_of([column.name])
            losses.append(weight * _sum_times_counts(bits, table.counts))
        return math.fsum(losses)


@dataclass(frozen=True, slots=True)
class Precision(WeightedLoss):
    """1 - Sweeney's precision: the mean over cells of level / height, 0 (nothing lost) to 1 (everything).

    Parameters
    ----------
    weights : mapping of column to float
        How much the cells of a quasi-identifier count; 1 where none is given.

    Notes
    -----
    1 - the measure ``"precision"``, of which more is better; see `hushtable.quality.loss.precision`.
    """

    name: ClassVar[str] = "precision"

    def measure(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Return the weighted mean over columns of level / height."""
        losses, n_records = [], max(1, int(sizes.sum()) + n_suppressed)
        for column, cells in zip(recoding.columns, recoding.cells, strict=True):
            levels, top = levels_of("precision", column, cells)
            losses.append((_sum_times_counts(np.maximum(levels, 0) / top, sizes) + n_suppressed) / n_records)
        return self.combine_losses(losses, [column.name for column in recoding.columns])

    def combine_losses(self, losses: Sequence[float], names: Sequence[str]) -> float:
        """Return the weighted mean over columns."""
        return mean_loss(losses, self._weights_of(names))


@dataclass(frozen=True, slots=True)
class Discernibility:
    """The measure ``"discernibility"``: the sum over records of their class's size; suppressed ones cost the table."""

    name: ClassVar[str] = "discernibility"
    weights = _UNWEIGHTED

    def measure(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Return the sum of squares, in records squared."""
        del recoding
        return float(loss.discernibility(sizes, n_suppressed))


@dataclass(frozen=True, slots=True)
class AverageClassSize:
    """The measure ``"average_class_size"``. Suppressed records cost nothing: give it a low limit."""

    name: ClassVar[str] = "average_class_size"
    weights = _UNWEIGHTED

    def measure(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Return the mean, in records."""
        del recoding, n_suppressed
        return loss.average_class_size(sizes)


def levels_of(measure: str, column: Column, cells: Cells) -> tuple[CountArray, int]:
    """Return the level of the node of every class, -1 where only missing values are, and the last level."""
    if not isinstance(cells, Nodes):
        raise InputError(
            f"{measure} is not defined on what column {column.name!r} publishes ({type(cells).__name__}).",
            hint="it counts levels of hierarchies: every column needs one, and publishes its nodes (full_domain).",
        )
    top = cells.hierarchy.n_levels - 1
    return np.where(cells.has_missing & (cells.level >= 0), top, cells.level).astype(np.int64), top


def leaf_share(cells: Cells) -> float:
    """Return the share of a single value of a column that publishes such cells."""
    if isinstance(cells, Nodes):
        return cells.hierarchy.leaf_share
    if isinstance(cells, Listed):
        return cells.tree.leaf_share
    if isinstance(cells, CodeRanges):
        return 1 / len(cells.codes.texts)
    if isinstance(cells, NodeSets):
        return float(cells.widths[0])
    # The shares of all others are widths, in which a single value has none.
    return 1 / max(1, cells.domain) if isinstance(cells, Sets) else 0.0


def _sum_times_counts(values: FloatArray, counts: CountArray) -> float:
    """Return the sum of values times counts, by distinct values: the same in any order of the rows or classes."""
    distinct, inverse = np.unique(values, return_inverse=True)
    # Counts are whole numbers far below 2^53, so that bincount's floats are exact.
    return math.fsum((distinct * np.bincount(inverse.ravel(), weights=counts, minlength=len(distinct))).tolist())


def _count_under_nodes(cells: Nodes, counts: CountArray) -> CountArray:
    """Count for every class the records whose value its node covers; the missing value's counts come first."""
    ladder = cells.hierarchy
    covered = np.full(len(cells.level), counts[0])
    for level in range(ladder.n_levels):
        at = cells.level == level
        records = np.bincount(ladder.level_codes[level], weights=counts[1:], minlength=ladder.n_nodes(level))
        covered[at] = records[cells.node[at]].astype(np.int64)
    is_star = (cells.level == ladder.n_levels - 1) | (cells.has_missing & (cells.level >= 0))
    covered[is_star] = counts.sum()
    return np.asarray(covered)


LOSSES: Final[entries.Registry[type[Loss]]] = entries.Registry(
    {
        each.name: each
        for each in (
            *(SetNCP, MinimalDistortion, Certainty),
            *(ArxLoss, NonUniformEntropy, Precision, Discernibility, AverageClassSize),
        )
    }
    | {"distances": "hushtable.quality.distances.Distances"},
    "loss",
    "losses",
    ("name", "measure"),
)
"""Every loss by the name that a policy writes it by."""

register = LOSSES.register
