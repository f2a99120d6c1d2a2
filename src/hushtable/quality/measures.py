"""Every measure of what a release lost, by its name: `measure_release` gathers what each is computed from.

ARX's measures are to the digit, recovered from ARX 3.9.2 (`metric/v2`, `aggregates/quality`) by recomputing its
outputs. They take plain arrays: quasi-identifiers in rows, classes, which hold all records, in columns; ``suppressed``
marks the classes that publish ``*`` everywhere (their shares are what they would publish). In formulas, N records, m
columns, and :math:`D_d` leaves of column d, so that a leaf's share is :math:`1/D_d`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, runtime_checkable

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.claims import ClaimOnColumns, pair_rows
from hushtable.columns import Column, ColumnSpec
from hushtable.errors import InputError, check_columns, find_nearest
from hushtable.io import Frame
from hushtable.quality import loss
from hushtable.quality.objectives import cut_decimals, leaf_share, levels_of
from hushtable.recoding import Centres, Nodes, Recoding
from hushtable.tables import Partition, Table, count_by_value

__all__ = [
    "MEASURES",
    "Measure",
    "arx_average_class_size",
    "arx_discernibility",
    "arx_entropy_by_column",
    "arx_loss",
    "arx_loss_by_column",
    "granularity",
    "granularity_by_column",
    "measure_release",
]


def arx_loss(
    shares: FloatArray,
    sizes: CountArray,
    leaf_shares: FloatArray,
    *,
    suppressed: BoolArray | None = None,
    gs_factor: float = 0.5,
    weights: FloatArray | None = None,
    aggregate: Literal["geometric", "arithmetic"] = "geometric",
) -> float:
    r"""Return ARX's Loss, 0 (nothing lost) to 1 (everything).

    .. math:: \prod_d (w_d L_d + 1)^{1/m} - 1 \quad\text{or}\quad \frac1m \sum_d w_d L_d

    with the loss :math:`L_d` of `arx_loss_by_column` and weights scaled to a maximum of 1. A ``gs_factor`` of 0 weighs
    generalization alone, of 1 suppression alone; the geometric mean is ARX's default.
    """
    losses = arx_loss_by_column(shares, sizes, leaf_shares, suppressed=suppressed, gs_factor=gs_factor)
    weighted = losses if weights is None else losses * weights / max(float(weights.max()), np.finfo(float).tiny)
    if aggregate == "arithmetic":
        return float(weighted.mean())
    return float(np.prod((weighted + 1) ** (1 / len(weighted))) - 1)


def arx_loss_by_column(
    shares: FloatArray,
    sizes: CountArray,
    leaf_shares: FloatArray,
    *,
    suppressed: BoolArray | None = None,
    gs_factor: float = 0.5,
) -> FloatArray:
    r"""Return ARX's Loss of every column.

    .. math:: L_d = \Big\lfloor \max\big(0, \frac{r_d - g N/D_d}{N - g N/D_d}\big) \Big\rfloor_{10},
        \quad r_d = \sum_\text{kept} g\,s_d + \sum_\text{suppressed} (s_d + h (1 - s_d))

    where :math:`s_d` is the share of a record's node, :math:`\lfloor x \rfloor_{10}` keeps ten decimals, and the factor
    :math:`\gamma` gives :math:`g = \min(1, 2 - 2\gamma)`, :math:`h = \min(1, 2\gamma)`.
    """
    for_generalization, for_suppression = _arx_factors(gs_factor)
    is_suppressed = _suppression_mask(suppressed, sizes)
    cells = np.where(is_suppressed, shares + for_suppression * (1 - shares), for_generalization * shares)
    least = for_generalization * sizes.sum() * leaf_shares
    with np.errstate(invalid="ignore", divide="ignore"):
        losses = ((cells * sizes).sum(axis=1) - least) / (sizes.sum() - least)
    return _cut_all_decimals(np.where(np.isfinite(losses), losses, 0.0))


def arx_entropy_by_column(
    codes: CodeArray,
    nodes: CodeArray,
    counts: CountArray,
    *,
    suppressed: BoolArray | None = None,
    gs_factor: float = 0.5,
) -> FloatArray:
    r"""Return ARX's non-uniform entropy of every column, in bits over all records.

    .. math:: E_d = -g \sum_\text{all} \log_2 \frac{n_d(v)}{n_d(\bar v)} - h \sum_{u} c_u \log_2 \frac{c_u}{S}

    where :math:`n_d` counts the records of a value :math:`v` and of its node :math:`\bar v`, and :math:`c_u` of the
    :math:`S` suppressed records would publish node :math:`u`. See `hushtable.quality.loss.non_uniform_entropy` for the
    textbook's form, which has suppressed cells cover the whole column.
    """
    for_generalization, for_suppression = _arx_factors(gs_factor)
    is_suppressed = _suppression_mask(suppressed, counts)
    losses = np.empty(len(codes))
    for j, (values, node_codes) in enumerate(zip(codes, nodes, strict=True)):
        bits = np.log2(_count_codes(values, counts)[values + 1]) - np.log2(
            _count_codes(node_codes, counts)[node_codes + 1]
        )
        for_cells = -for_generalization * float((bits * counts).sum())
        by_node = _count_codes(node_codes[is_suppressed], counts[is_suppressed])
        by_node = by_node[by_node > 0]
        losses[j] = for_cells - for_suppression * float((by_node * np.log2(by_node / max(1.0, by_node.sum()))).sum())
    return _cut_all_decimals(losses)


def granularity(
    shares: FloatArray, sizes: CountArray, leaf_shares: FloatArray, *, suppressed: BoolArray | None = None
) -> float:
    r"""Return ARX's granularity over all columns, 1 (as the input) to 0 (everything suppressed).

    .. math:: 1 - \frac{\bar r - \bar \ell}{1 - \bar \ell}

    with the mean published share :math:`\bar r` (1 where suppressed) and the mean leaf share :math:`\bar \ell`, both
    over columns: ARX aggregates *before* it normalizes, so this is not the mean of `granularity_by_column`.
    """
    return _normalize_granularity(float(_mean_shares(shares, sizes, suppressed).mean()), float(leaf_shares.mean()))


def granularity_by_column(
    shares: FloatArray, sizes: CountArray, leaf_shares: FloatArray, *, suppressed: BoolArray | None = None
) -> FloatArray:
    """Return ARX's granularity of every column, 1 (as the input) to 0 (everything suppressed)."""
    means = _mean_shares(shares, sizes, suppressed)
    return np.array([_normalize_granularity(*pair) for pair in zip(means.tolist(), leaf_shares.tolist(), strict=True)])


def arx_discernibility(sizes: CountArray, raw_sizes: CountArray, n_suppressed: int = 0) -> float:
    r"""Return ARX's normalized discernibility, 1 (as the input) to 0 (one class, or all suppressed).

    .. math:: 1 - \frac{\sum_i n_i^2 + S N - D_0}{N^2 - D_0}

    with :math:`S` suppressed records, in no class, and :math:`D_0` the sum of squares of the input's classes.
    """
    total, least = int(sizes.sum()) + n_suppressed, loss.discernibility(raw_sizes)
    lost = loss.discernibility(sizes, n_suppressed) - least
    return 1 - lost / (total * total - least) if total * total > least else 1.0


def arx_average_class_size(sizes: CountArray, raw_sizes: CountArray) -> float:
    """Return ARX's normalized average class size, 1 (as the input) to 0 (one class).

    1 - (a - a0) / (N - a0) with the mean class sizes a of the release and a0 of the input.
    """
    if not len(sizes):
        return 1.0
    total, raw = int(raw_sizes.sum()), float(raw_sizes.mean())
    return 1 - (float(sizes.mean()) - raw) / (total - raw) if total > raw else 1.0


def _arx_factors(gs_factor: float) -> tuple[float, float]:
    return min(1.0, 2 - 2 * gs_factor), min(1.0, 2 * gs_factor)


def _suppression_mask(suppressed: BoolArray | None, sizes: CountArray) -> BoolArray:
    return np.zeros(len(sizes), dtype=bool) if suppressed is None else suppressed


def _cut_all_decimals(losses: FloatArray) -> FloatArray:
    return np.array([cut_decimals(float(each)) for each in losses])


def _count_codes(codes: CodeArray, counts: CountArray) -> FloatArray:
    """Count the records of every code, the missing one (-1) first."""
    return np.bincount(codes + 1, weights=counts).astype(np.float64)


def _mean_shares(shares: FloatArray, sizes: CountArray, suppressed: BoolArray | None) -> FloatArray:
    return np.asarray(
        (np.where(_suppression_mask(suppressed, sizes), 1.0, shares) * sizes).sum(axis=1) / max(1, int(sizes.sum()))
    )


def _normalize_granularity(mean_share: float, leaf: float) -> float:
    return 1 - (mean_share - leaf) / (1 - leaf) if leaf < 1 else 1.0


@runtime_checkable
class MeasuredRelease(Protocol):
    """What a measure needs of a release: `hushtable.Release` has it."""

    @property
    def source(self) -> Frame | Table: ...
    @property
    def claim(self) -> ClaimOnColumns: ...
    @property
    def partition(self) -> Partition: ...
    @property
    def recoding(self) -> Recoding: ...


@dataclass(frozen=True, slots=True)
class Measure:
    """What a figure of a release is."""

    unit: str
    direction: Literal["better", "worse"]  # what a higher figure means
    options: tuple[str, ...]  # further arguments of `measure_release`
    compute: Callable[..., Any] = field(repr=False)  # from the facts of a release and the options


def measure_release(release: MeasuredRelease, measure: str, **options: Any) -> float | dict[str, float]:
    """Return one figure of a release, or one for every quasi-identifier.

    Parameters
    ----------
    release : Release
        Of `hushtable.anonymize`.
    measure : str
        One of `MEASURES`, which say unit, direction and options.
    **options
        Of ARX's loss and entropy ``gs_factor``; of its loss also ``aggregate``, and ``weights``, a mapping of column to
        float (1 where none is given).

    Raises
    ------
    InputError
        There is no such measure or option, or it is not defined on what the release publishes: why.

    Notes
    -----
    A class is what publishes the same cells. The share of a single value is that of a leaf: of a hierarchy as it says,
    of a category without one 1 / its values, the missing one included. Of numbers and dates without a hierarchy, whose
    shares are widths, it is 0. Suppressed records are one more class, marked suppressed; for ARX, which asks what it
    would publish, that is ``*``. ARX's entropy and Sweeney's precision are defined on nodes of hierarchies alone.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57, 31], "job": ["clerk", "cook", "clerk", "clerk", "clerk"]})
    >>> release = ht.anonymize(people, quasi_identifiers=["age", "job"], models=[ht.KAnonymity(2)])
    >>> measure_release(release, "average_class_size"), measure_release(release, "loss_metric_by_column")["job"]
    (2.5, 0.6)
    >>> MEASURES["arx_loss"]
    Measure(unit='share', direction='worse', options=('gs_factor', 'weights', 'aggregate'))
    """
    if measure not in MEASURES:
        near = find_nearest(measure, MEASURES)
        hint = f"did you mean {near!r}?" if near else f"measures are {', '.join(MEASURES)}."
        raise InputError(f"there is no measure {measure!r}.", hint=hint)
    if not isinstance(release, MeasuredRelease):
        raise InputError(
            f"a {type(release).__name__} has no classes to measure.", hint="pass what `anonymize` returned."
        )
    chosen_measure = MEASURES[measure]
    odd = [name for name in options if name not in chosen_measure.options]
    if odd:
        options_hint = f"it takes {', '.join(chosen_measure.options)}." if chosen_measure.options else "it takes none."
        raise InputError(f"{measure} was given the option {odd[0]!r}.", hint=options_hint)
    facts = _Facts(release.source, release.claim, release.partition, release.recoding)
    if "weights" in options:
        options["weights"] = facts.weights_of_columns(options["weights"])
    figures = chosen_measure.compute(facts, **options)
    if isinstance(figures, np.ndarray):
        return dict(zip(facts.names, figures.tolist(), strict=True))
    return float(figures)


@dataclass(frozen=True, slots=True, eq=False)
class _Facts:
    """What measures are computed from."""

    source: Frame | Table
    claim: ClaimOnColumns
    partition: Partition
    recoding: Recoding

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.recoding.columns)

    @property
    def table(self) -> Table:
        """The quasi-identifiers of the source."""
        specs = {name: ColumnSpec(each.kind, each.order) for name, each in self.claim.specs.items()}
        return Table.encode(self.source, self.names, {name: each for name, each in specs.items() if name in self.names})

    @property
    def suppressed(self) -> BoolArray:
        return np.asarray(self.partition.labels < 0)

    @property
    def n_suppressed(self) -> int:
        counts = self.source.records
        return int(counts[self.suppressed].sum())

    @property
    def published_sizes(self) -> CountArray:
        """Records of every class of equal cells."""
        # Sums of whole numbers below 2^53 are exact in bincount's floats.
        sizes = np.bincount(self.recoding.number_combinations()[:-1], weights=self.partition.sizes).astype(np.int64)
        return sizes[sizes > 0]

    @property
    def raw_sizes(self) -> CountArray:
        """Records of every class of the source."""
        return Partition.from_table(self.table).sizes

    @property
    def leaf_shares(self) -> FloatArray:
        return np.array([leaf_share(cells) for cells in self.recoding.cells])

    @property
    def shares(self) -> FloatArray:
        """What every class publishes of every column, of which a single value has the share of a leaf."""
        return np.maximum(self.recoding.shares(), self.leaf_shares[:, None])

    @property
    def classes(self) -> tuple[FloatArray, CountArray, FloatArray, int]:
        """What Iyengar's metric takes: suppressed records are in no class."""
        return self.shares, self.partition.sizes, self.leaf_shares, self.n_suppressed

    @property
    def quality(self) -> loss.Quality:
        return loss.measure_quality(self.recoding, self.partition.sizes, self.n_suppressed)

    @property
    def marked(self) -> dict[str, Any]:
        """Classes as ARX has them: suppressed records are one more, which publishes `*`."""
        return {
            "shares": np.column_stack([self.shares, np.ones(len(self.names))]),
            "sizes": np.append(self.partition.sizes, self.n_suppressed),
            "leaf_shares": self.leaf_shares,
            "suppressed": np.append(np.zeros(self.partition.n_classes, dtype=bool), [True]),
        }

    def weights_of_columns(self, given: Mapping[str, float]) -> FloatArray:
        """Return the weights of the columns."""
        loss.check_weights(given)
        check_columns(tuple(given), self.names, "weights")
        return np.array([given.get(name, 1.0) for name in self.names])


def _measure_precision(facts: _Facts) -> float:
    pairs = zip(facts.recoding.columns, facts.recoding.cells, strict=True)
    levels, heights = zip(*(levels_of("precision", column, cells) for column, cells in pairs), strict=True)
    return loss.precision(np.maximum(levels, 0), facts.partition.sizes, np.array(heights), facts.n_suppressed)


def _measure_arx_entropy(facts: _Facts, *, gs_factor: float = 0.5) -> FloatArray:
    table, nodes = facts.table, []
    for codes, column, cells in zip(table.codes, facts.recoding.columns, facts.recoding.cells, strict=True):
        levels = np.unique(levels_of("ARX's entropy", column, cells)[0])
        levels = levels[levels >= 0]
        if len(levels) > 1:
            raise InputError(
                f"ARX's entropy is not defined on column {column.name!r}, which publishes nodes of several levels.",
                hint="it is of full-domain recodings; non_uniform_entropy is of all.",
            )
        assert isinstance(cells, Nodes)
        nodes.append(cells.hierarchy.nodes(int(levels.max(initial=0)), codes))
    return arx_entropy_by_column(
        table.codes, np.array(nodes), table.counts, suppressed=facts.suppressed, gs_factor=gs_factor
    )


def _measure_non_uniform_entropy(facts: _Facts) -> FloatArray:
    table, labels = facts.table, facts.partition.labels
    frequencies, covered = np.empty((2, *table.codes.shape), dtype=np.int64)
    for j, (column, cells) in enumerate(zip(table.columns, facts.recoding.cells, strict=True)):
        if isinstance(cells, Centres):
            raise InputError(
                f"non-uniform entropy is not defined on column {column.name!r}, which publishes central values.",
                hint="they do not cover the values of their records.",
            )
        # The missing value's first, as `count_by_value` has it; then last, where its code -1 finds it.
        counts = np.roll(count_by_value(table, column.name), -1)
        label_of_class, texts = facts.recoding.format_labels(column.name)
        by_label = np.append(
            _count_under_cells(texts, column, counts, facts.claim.hierarchies.get(column.name)), counts.sum()
        )
        frequencies[j] = counts[table.codes[j]]
        # Suppressed records have the label -1, which finds the last.
        covered[j] = by_label[np.append(label_of_class, len(texts))[labels]]
    return loss.non_uniform_entropy(frequencies, covered, table.counts)


def _count_under_cells(texts: Sequence[str | None], column: Column, counts: CountArray, ladder: Any) -> CountArray:
    """Count the records with a value that each published cell covers; counts has the missing value's last."""
    values = column.texts()
    spec = ColumnSpec(column.kind, tuple(values) if column.kind == "ordered" and values else None)
    classes, people = (np.arange(n, dtype=np.int32)[None] for n in (len(texts), len(counts)))
    cell, value = pair_rows([texts], classes, [[*values, None]], people, [spec], [ladder], [column.name])
    return np.bincount(cell, weights=counts[value], minlength=len(texts)).astype(np.int64)


_FACTOR_OPTIONS: Final = ("gs_factor",)

MEASURES: Final[Mapping[str, Measure]] = MappingProxyType(
    {
        "set_ncp": Measure("share", "worse", (), lambda f: f.quality.set_ncp),
        "set_ncp_by_column": Measure("share", "worse", (), lambda f: np.array(list(f.quality.by_column.values()))),
        "loss_metric": Measure("share", "worse", (), lambda f: loss.loss_metric(*f.classes)),
        "distinct_cells_by_column": Measure(
            "cells", "worse", (), lambda f: np.array([each.n_cells for each in f.quality.cells.values()])
        ),
        "loss_metric_by_column": Measure("share", "worse", (), lambda f: loss.loss_metric_by_column(*f.classes)),
        "non_uniform_entropy": Measure("bits", "worse", (), lambda f: _measure_non_uniform_entropy(f).sum()),
        "non_uniform_entropy_by_column": Measure("bits", "worse", (), _measure_non_uniform_entropy),
        "precision": Measure("share", "better", (), _measure_precision),
        "discernibility": Measure(
            "records squared", "worse", (), lambda f: loss.discernibility(f.published_sizes, f.n_suppressed)
        ),
        "average_class_size": Measure("records", "worse", (), lambda f: loss.average_class_size(f.published_sizes)),
        "arx_loss": Measure(
            "share",
            "worse",
            ("gs_factor", "weights", "aggregate"),
            lambda f, **options: arx_loss(**f.marked, **options),
        ),
        "arx_loss_by_column": Measure(
            "share", "worse", _FACTOR_OPTIONS, lambda f, **options: arx_loss_by_column(**f.marked, **options)
        ),
        "arx_entropy": Measure(
            "bits", "worse", _FACTOR_OPTIONS, lambda f, **options: _measure_arx_entropy(f, **options).sum()
        ),
        "arx_entropy_by_column": Measure("bits", "worse", _FACTOR_OPTIONS, _measure_arx_entropy),
        "granularity": Measure("share", "better", (), lambda f: granularity(**f.marked)),
        "granularity_by_column": Measure("share", "better", (), lambda f: granularity_by_column(**f.marked)),
        "arx_discernibility": Measure(
            "share",
            "better",
            (),
            lambda f: arx_discernibility(f.published_sizes, f.raw_sizes, f.n_suppressed),
        ),
        "arx_average_class_size": Measure(
            "share", "better", (), lambda f: arx_average_class_size(f.published_sizes, f.raw_sizes)
        ),
    }
)
"""All measures by name; those by column return a figure for every quasi-identifier."""
