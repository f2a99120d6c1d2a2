"""How much a release lost, always measured on what it publishes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, runtime_checkable

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import Column
from hushtable.errors import InputError
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import class_profile
from hushtable.recoding import Cells, Nodes, PublishedIntervals, Recoding, scale_weights
from hushtable.tables import Table

if TYPE_CHECKING:
    from hushtable.quality.cell_kinds import CellKinds

Scale = Literal["value", "rank"]
HIGHEST_IMPORTANCE: Final = 5
_MIN_WEIGHT: Final = 1e-100  # and its inverse the largest: sums of weights neither vanish nor overflow


@runtime_checkable
class Loss(Protocol):
    """What a search makes small."""

    name: ClassVar[str]
    """As written in ``loss=``."""

    @property
    def weights(self) -> Mapping[str, float]:
        """How much a quasi-identifier counts; 1 where none is given."""
        ...

    def measure(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Return the loss of a release from what its classes publish."""
        ...


@runtime_checkable
class RowLoss(Loss, Protocol):
    """A loss that depends on how frequent the values of the rows are."""

    def measure_rows(self, recoding: Recoding, labels: CodeArray, table: Table) -> float:
        """Return the loss of a release whose rows have these classes; -1: suppressed."""
        ...


@runtime_checkable
class CellLoss(Loss, Protocol):
    """A loss that is a sum over cells, weighted by column."""

    by_width: ClassVar[bool]
    """Whether a cell that publishes an interval costs the interval's share of the range, or else 1."""

    def node_costs(self, hierarchy: Hierarchy, n_values: int) -> tuple[FloatArray, ...]:
        """Return what a cell costs at every node of every level, in [0, inf), before weights.

        `n_values` counts the distinct values of the column that the hierarchy is aligned to, a missing one included.
        """
        ...

    def factor(self, names: Sequence[str], n_records: int) -> float:
        """Return the factor from the sum of weighted cells to the loss."""
        ...


def check_weights(weights: Mapping[str, float]) -> None:
    """Raise InputError where weights are no mapping, or one is no number from 0 on, or one whose sums are none."""
    if not isinstance(weights, Mapping):
        raise InputError(f"weights = {weights!r}.", hint='a number for every column, for instance {"age": 2}.')
    for name, weight in weights.items():
        is_number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not is_number or not (weight == 0 or _MIN_WEIGHT <= weight <= 1 / _MIN_WEIGHT):
            raise InputError(
                f"column {name!r} was given the weight {weight!r}.",
                hint=f"0, or a number from {_MIN_WEIGHT:g} to {1 / _MIN_WEIGHT:g}; what counts is how weights compare.",
            )


@dataclass(frozen=True, slots=True)
class WeightedLoss:
    """Base of the losses that weigh the columns."""

    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_weights(self.weights)

    def _weights_of(self, names: Sequence[str]) -> list[float]:
        """Return how much each column counts."""
        return [float(self.weights.get(name, 1.0)) for name in names]


@dataclass(frozen=True, slots=True)
class SetNCP(WeightedLoss):
    """The set-NCP as an objective.

    Attributes
    ----------
    weights : mapping of column to float
        How much the loss of a quasi-identifier counts; 1 where none is given.
    scale : {"value", "rank"} or mapping of column to one of them
        What the width of an interval of numbers or dates is: the difference of its ends, or how many of the column's
        distinct values lie between them. Where few values lie far out, nearly all intervals are narrow by value,
        however little they tell of most records.
    """

    scale: Scale | Mapping[str, Scale] = "value"

    name: ClassVar[str] = "ncp"
    by_width: ClassVar[bool] = True

    def __post_init__(self) -> None:
        WeightedLoss.__post_init__(self)
        for given in self.scale.values() if isinstance(self.scale, Mapping) else (self.scale,):
            if given not in ("value", "rank"):
                raise InputError(
                    f"SetNCP was given scale = {self.scale!r}.", hint="'value', 'rank', or one for a column."
                )

    def is_by_rank(self, name: str) -> bool:
        """Tell whether a column is measured on ranks."""
        return (self.scale.get(name) if isinstance(self.scale, Mapping) else self.scale) == "rank"

    def measure(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Return the weighted mean over columns of what a release lost."""
        names = [column.name for column in recoding.columns]
        losses = _ncp_by_column(_with_scale(recoding, self.is_by_rank), sizes, n_suppressed)
        return mean_loss(losses, self._weights_of(names))

    def node_costs(self, hierarchy: Hierarchy, n_values: int) -> tuple[FloatArray, ...]:
        """Return the share of the domain under every node; a value costs nothing."""
        return (np.zeros(hierarchy.n_nodes(0)), *hierarchy.shares[1:])

    def factor(self, names: Sequence[str], n_records: int) -> float:
        """Return the factor that makes a mean of a sum of weighted cells."""
        return 1 / max(1e-300, n_records * sum(self._weights_of(names)))


def with_importance(loss: Loss, importance: Mapping[str, int]) -> Loss:
    """Return the loss in which the cells of a column count as many times as the column is important.

    Parameters
    ----------
    loss : Loss
    importance : mapping of column to int
        From 1, which is the importance of a column that is not named, to 5.

    Raises
    ------
    InputError
        An importance is not a whole number from 1 to 5, the loss has weights of its own, or it weighs no columns.

    Examples
    --------
    >>> with_importance(SetNCP(), {"postcode": 3}).weights
    {'postcode': 3}
    """
    for name, number in importance.items():
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= HIGHEST_IMPORTANCE:
            raise InputError(
                f"column {name!r} was given the importance {number!r}.",
                hint=f"a whole number from 1, as of a column that is not named, to {HIGHEST_IMPORTANCE}.",
            )
    if not importance:
        return loss
    if not weighs_columns(loss):
        raise InputError(
            f"importance has no effect: the loss {loss.name!r} does not weigh columns.",
            hint="choose another loss, such as 'ncp', or leave the importance out.",
        )
    if loss.weights:
        raise InputError(
            "importance and weights of the loss were both given.",
            hint="keep one of them: importance is the weights, from 1 to 5.",
        )
    weighted: Loss = replace(loss, weights=dict(importance))  # type: ignore[type-var]  # every such loss is a dataclass
    return weighted


def weighs_columns(loss: Loss) -> bool:
    """Tell whether a loss has weights of columns to set."""
    return is_dataclass(loss) and any(each.name == "weights" and each.init for each in fields(loss))


@dataclass(frozen=True, slots=True)
class Quality:
    """How much a release lost.

    Attributes
    ----------
    set_ncp : float
        Mean published share, 0 (nothing lost) to 1 (everything).
    set_ncp_by_rank : float
        The same where intervals are as wide as they hold ranks of the column's values.
    by_column : dict of column to float
        The same for every quasi-identifier.
    discernibility : int
        Sum over records of the size of their class, in records.
    average_class_size : float
        Records in a class.
    n_classes : int
    cells : dict of column to CellKinds
        How many distinct cells a column has, of how many units, and whether they nest.
    """

    set_ncp: float
    set_ncp_by_rank: float
    by_column: dict[str, float]
    discernibility: int
    average_class_size: float
    n_classes: int
    cells: dict[str, CellKinds] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return asdict(self)


def measure_quality(recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> Quality:
    """Measure a release from what its classes publish."""
    from hushtable.quality.cell_kinds import measure_cell_kinds

    names = [column.name for column in recoding.columns]
    by_column = _ncp_by_column(_with_scale(recoding, lambda _: False), sizes, n_suppressed)
    by_rank = _ncp_by_column(_with_scale(recoding, lambda _: True), sizes, n_suppressed)
    return Quality(
        math.fsum(by_column) / len(names),
        math.fsum(by_rank) / len(names),
        dict(zip(names, by_column, strict=True)),
        discernibility(sizes, n_suppressed),
        average_class_size(sizes),
        len(sizes),
        measure_cell_kinds(recoding),
    )


def set_ncp(recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
    """Return the normalised certainty penalty, 0 to 1, the mean over records and columns.

    For an ordered column the published width over the width of the whole column, for a categorical one the number of
    published values over the number of all, 0 for a single value. A missing value counts as a category; beside known
    values of an ordered column it publishes everything. Xu et al., "Utility-based anonymization using local recoding",
    KDD 2006, section 3, on sets rather than hierarchy nodes.
    """
    return math.fsum(_ncp_by_column(recoding, sizes, n_suppressed)) / len(recoding.columns)


def _with_scale(recoding: Recoding, is_by_rank: Callable[[str], bool]) -> Recoding:
    """Return the recoding with every column measured on ranks, or on values."""
    columns = tuple(replace(column, by_rank=is_by_rank(column.name)) for column in recoding.columns)
    return replace(recoding, columns=columns)


def _ncp_by_column(recoding: Recoding, sizes: CountArray, n_suppressed: int) -> list[float]:
    n_records = int(sizes.sum()) + n_suppressed
    # Rounded once, so that neither the order of the classes shows nor the parts that they were found in.
    shares = (cell.shares(column) for column, cell in zip(recoding.columns, recoding.cells, strict=True))
    return [(_exact_sum(share * sizes) + n_suppressed) / max(1, n_records) for share in shares]


def _exact_sum(values: FloatArray) -> float:
    """Return the sum of finite floats, rounded once: what `math.fsum` returns, in a tenth of its time."""
    sums = np.zeros((class_profile.N_EXPONENTS, 2), dtype=np.int64)
    class_profile.add_mantissas(np.ascontiguousarray(values).view(np.uint64), sums)
    total = 0
    for exponent in np.flatnonzero(sums.any(axis=1)).tolist():
        low, high = sums[exponent].tolist()
        # Exponents 0 and 1 have the same scale, 2^-1074.
        total += ((high << class_profile.LOW_MANTISSA_BITS) + low) << max(0, exponent - 1)
    return float(Fraction(total, 1 << 1074))


def loss_metric(shares: FloatArray, sizes: CountArray, leaf_shares: FloatArray, n_suppressed: int = 0) -> float:
    """Return Iyengar's loss metric, 0 (nothing lost) to 1 (everything): the mean of `loss_metric_by_column`."""
    return float(loss_metric_by_column(shares, sizes, leaf_shares, n_suppressed).mean())


def loss_metric_by_column(
    shares: FloatArray, sizes: CountArray, leaf_shares: FloatArray, n_suppressed: int = 0
) -> FloatArray:
    """Return Iyengar's loss metric of every column: the mean over cells of (leaves of the node - 1) / (all leaves - 1).

    In shares (n_columns, n_classes), :math:`(s - 1/D) / (1 - 1/D)`, where the leaf share 1/D is 0 for a continuous
    column. Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002, section 3. One leaf loses nothing.
    """
    room = 1 - leaf_shares
    n_records = max(1, int(sizes.sum()) + n_suppressed)
    lost = ((shares - leaf_shares[:, None]) * sizes).sum(axis=1) + n_suppressed * room
    return np.asarray(np.where(room > 0, lost / np.where(room > 0, room, 1.0), 0.0) / n_records)


def non_uniform_entropy(frequencies: CountArray, covered: CountArray, counts: CountArray) -> FloatArray:
    r"""Return the bits that every column loses when each cell is guessed from what is published.

    .. math:: -\sum_\text{records} \log_2 \frac{n(v)}{n(\bar v)}

    with the records :math:`n(v)` of a cell's value and :math:`n(\bar v)` of all values that the published cell covers
    (of a suppressed one, all), both (n_columns, n_rows). Gionis, Tassa, "k-Anonymization with minimal loss of
    information", IEEE TKDE 21(2), 2009, section 3; `hushtable.quality.measures.arx_entropy_by_column` treats
    suppressed records as ARX does.
    """
    return np.asarray(((np.log2(covered) - np.log2(frequencies)) * counts).sum(axis=1))


def precision(levels: CountArray, sizes: CountArray, heights: CountArray, n_suppressed: int = 0) -> float:
    """Return Sweeney's precision, 1 (as the input) to 0 (all suppressed): 1 - the mean over cells of level / height.

    Levels are (n_columns, n_classes). Sweeney, "Achieving k-anonymity privacy protection using generalization and
    suppression", IJUFKS 10(5), 2002, section 4.
    """
    n_records = max(1, int(sizes.sum()) + n_suppressed)
    shares = (levels / heights[:, None] * sizes).sum(axis=1) + n_suppressed
    return float(1 - shares.mean() / n_records)


def discernibility(sizes: CountArray, n_suppressed: int = 0) -> int:
    """Return the discernibility metric: every record costs the size of its class, a suppressed one the whole table.

    Bayardo, Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005, section 2.
    """
    total = int(sizes.sum()) + n_suppressed
    # Python's integers: the square of a large class does not fit 64 bits. Most classes have the size of many others.
    each, n_classes = (figures.tolist() for figures in np.unique(sizes, return_counts=True))
    squares: int = sum(n * size * size for size, n in zip(each, n_classes, strict=True))
    return squares + n_suppressed * total


def average_class_size(sizes: CountArray) -> float:
    """Return the mean number of records in a class; 0 without classes."""
    return float(sizes.mean()) if len(sizes) else 0.0


def mean_loss(losses: Sequence[float], weights: Sequence[float]) -> float:
    """Return a weighted mean, rounded once; 0 where no weight is above 0."""
    scaled = scale_weights(weights).tolist()
    if not any(scaled):
        return 0.0
    return math.fsum(weight * value for weight, value in zip(scaled, losses, strict=True)) / math.fsum(scaled)


LossVariant = Literal["leaves", "mg-ga"]
_VARIANTS: Final = ("leaves", "mg-ga")


@dataclass(frozen=True, slots=True)
class CellSum(WeightedLoss, ABC):
    """Base of the losses that add up what cells lose."""

    name: ClassVar[str]
    by_width: ClassVar[bool]

    def measure(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Return the weighted sum over cells."""
        lost = 0.0
        for column, cells in zip(recoding.columns, recoding.cells, strict=True):
            (weight,) = self._weights_of([column.name])
            lost += weight * (float(self._cell_costs(column, cells) @ sizes) + n_suppressed)
        return lost

    @abstractmethod
    def node_costs(self, hierarchy: Hierarchy, n_values: int) -> tuple[FloatArray, ...]:
        """Return what a cell costs at every node of every level, in [0, inf), before weights."""

    def factor(self, names: Sequence[str], n_records: int) -> float:
        """Return 1: the loss is the sum."""
        return 1.0

    def _cell_costs(self, column: Column, cells: Cells) -> FloatArray:
        """Return what a cell of every class costs in one column."""
        if isinstance(cells, PublishedIntervals):
            if self.by_width:
                return cells.shares(column)
            is_star = cells.has_missing & (cells.high >= 0)
            return np.asarray((cells.low != cells.high) | is_star, dtype=np.float64)
        if not isinstance(cells, Nodes):
            raise InputError(
                f"{self.name} is not defined on what column {column.name!r} publishes ({type(cells).__name__}).",
                hint="it judges values, intervals between values, nodes of hierarchies and `*`.",
            )
        # A missing value is one value more where some class publishes one.
        n_values = column.n_values + int(bool((cells.level < 0).any() or cells.has_missing.any()))
        by_level = self.node_costs(cells.hierarchy, n_values)
        costs = np.zeros(len(cells.level))
        for level, runs in enumerate(by_level):
            at = cells.level == level
            costs[at] = runs[cells.node[at]]
        costs[cells.has_missing & (cells.level >= 0)] = 1.0
        return costs


@dataclass(frozen=True, slots=True)
class MinimalDistortion(CellSum):
    """The number of cells that a release changes, each counted with its column's weight.

    Parameters
    ----------
    weights : mapping of column to float
        How much a changed cell of a quasi-identifier counts, 0 or more; 1 where none is given.

    Notes
    -----
    The metric ``md`` of MG-GA, after Samarati and Sweeney's minimal distortion. A suppressed record changes all cells.

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

    name: ClassVar[str] = "minimal_distortion"
    by_width: ClassVar[bool] = False

    def node_costs(self, hierarchy: Hierarchy, n_values: int) -> tuple[FloatArray, ...]:
        """Return 1 for every node above the values."""
        return tuple(np.full(hierarchy.n_nodes(level), float(level > 0)) for level in range(hierarchy.n_levels))


@dataclass(frozen=True, slots=True)
class Certainty(CellSum):
    r"""The share of leaves, or of the range, that every changed cell lost, summed over cells.

    Parameters
    ----------
    weights : mapping of column to float
        How much a cell of a quasi-identifier counts, 0 or more; 1 where none is given.
    variant : {"leaves", "mg-ga"}
        What a node of a hierarchy costs. ``"leaves"``: (leaves under it - 1) / (all leaves - 1), where a hierarchy
        measures widths the same with shares. ``"mg-ga"``, that program's own formula: nodes that share its parent,
        itself included, over the distinct values of the column in the table. It may rise above 1 and fall towards the
        top. In both an interval costs its width over the column's, and ``*`` costs 1.

    Notes
    -----
    ``"leaves"`` is Iyengar's loss metric, "Transforming data to satisfy privacy constraints", KDD 2002, section 3, as a
    sum. It is not the set-NCP of ``loss="ncp"``, which counts a node's leaves without taking one off.

    Examples
    --------
    >>> from hushtable import Hierarchy
    >>> jobs = Hierarchy.from_domains("job/blue: welder, plumber\njob/white: clerk, nurse, cook\n")["job"]
    >>> Certainty().node_costs(jobs, 5)[1].round(12).tolist()
    [0.25, 0.5]
    >>> Certainty(variant="mg-ga").node_costs(jobs, 5)[1].tolist()
    [0.4, 0.4]
    """

    variant: LossVariant = "leaves"

    name: ClassVar[str] = "certainty"
    by_width: ClassVar[bool] = True

    def __post_init__(self) -> None:
        WeightedLoss.__post_init__(self)
        if self.variant not in _VARIANTS:
            raise InputError(f"Certainty was given variant = {self.variant!r}.", hint=f"choose one of {_VARIANTS}.")

    def node_costs(self, hierarchy: Hierarchy, n_values: int) -> tuple[FloatArray, ...]:
        """Return what every node costs; nothing for a value, 1 for ``*``."""
        between = [self._level_costs(hierarchy, level, n_values) for level in range(1, hierarchy.n_levels - 1)]
        return (np.zeros(hierarchy.n_nodes(0)), *between, np.ones(1))

    def _level_costs(self, hierarchy: Hierarchy, level: int, n_values: int) -> FloatArray:
        shares = hierarchy.shares[level]
        if self.variant == "mg-ga":
            costs = hierarchy.siblings[level] / max(1, n_values)
        else:
            room = 1 - hierarchy.leaf_share
            costs = np.maximum(0.0, shares - hierarchy.leaf_share) / room if room > 0 else np.zeros(len(shares))
        is_star = np.array([label == hierarchy.labels[-1][0] for label in hierarchy.labels[level]], dtype=bool)
        return np.asarray(np.where(is_star, 1.0, costs))
