"""Every measure of what a release lost, by its name: `of` gathers what each is computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, runtime_checkable

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.claims import Classes, Matchings, pair_rows
from hushtable.columns import Column, ColumnSpec
from hushtable.errors import InputError, check_columns, nearest, with_hint
from hushtable.io import Frame
from hushtable.quality import arx, loss
from hushtable.quality.objectives import leaf_share
from hushtable.recoding import Cells, Centres, Nodes, Recoding
from hushtable.tables import Partition, Table, totals

__all__ = ["MEASURES", "Measure", "of"]


@runtime_checkable
class Released(Protocol):
    """What a measure needs of a release: `hushtable.Release` has it."""

    @property
    def source(self) -> Frame | Table: ...
    @property
    def claim(self) -> Classes | Matchings: ...
    @property
    def partition(self) -> Partition: ...
    @property
    def recoding(self) -> Recoding: ...


@dataclass(frozen=True, slots=True)
class Measure:
    """What a figure of a release is.

    Attributes
    ----------
    unit : str
    direction : {"better", "worse"}
        What a higher figure means.
    options : tuple of str
        What `of` may be told besides.
    compute : callable
        From the facts of a release and the options.
    """

    unit: str
    direction: Literal["better", "worse"]
    options: tuple[str, ...]
    compute: Callable[..., Any] = field(repr=False)


def of(release: Released, measure: str, **options: Any) -> float | dict[str, float]:
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

    Returns
    -------
    figure : float or dict of column to float

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
    >>> of(release, "average_class_size"), of(release, "loss_metric_by_column")["job"]
    (2.5, 0.6)
    >>> MEASURES["arx_loss"]
    Measure(unit='share', direction='worse', options=('gs_factor', 'weights', 'aggregate'))
    """
    if measure not in MEASURES:
        near = nearest(measure, MEASURES)
        hint = f"did you mean {near!r}?" if near else f"measures are {', '.join(MEASURES)}."
        raise InputError(with_hint(f"there is no measure {measure!r}.", hint))
    if not isinstance(release, Released):
        msg = with_hint(f"a {type(release).__name__} has no classes to measure.", "pass what `anonymize` returned.")
        raise InputError(msg)
    known = MEASURES[measure]
    odd = [name for name in options if name not in known.options]
    if odd:
        told = f"it takes {', '.join(known.options)}." if known.options else "it takes none."
        raise InputError(with_hint(f"{measure} was given the option {odd[0]!r}.", told))
    facts = _Facts(release.source, release.claim, release.partition, release.recoding)
    if "weights" in options:
        options["weights"] = facts.weights(options["weights"])
    found = known.compute(facts, **options)
    if isinstance(found, np.ndarray):
        return dict(zip(facts.names, found.tolist(), strict=True))
    return float(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Facts:
    """What measures are computed from."""

    source: Frame | Table
    claim: Classes | Matchings
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
        counts = self.source.counts if isinstance(self.source, Table) else self.source.records
        return int(counts[self.suppressed].sum())

    @property
    def published_sizes(self) -> CountArray:
        """Records of every class of equal cells."""
        # Sums of whole numbers below 2^53 are exact in bincount's floats.
        sizes = np.bincount(self.recoding.combinations()[:-1], weights=self.partition.sizes).astype(np.int64)
        return sizes[sizes > 0]

    @property
    def raw_sizes(self) -> CountArray:
        """Records of every class of the source."""
        return Partition.of(self.table).sizes

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
        return loss.measure(self.recoding, self.partition.sizes, self.n_suppressed)

    @property
    def marked(self) -> dict[str, Any]:
        """Classes as ARX has them: suppressed records are one more, which publishes `*`."""
        return {
            "shares": np.column_stack([self.shares, np.ones(len(self.names))]),
            "sizes": np.append(self.partition.sizes, self.n_suppressed),
            "leaf_shares": self.leaf_shares,
            "suppressed": np.append(np.zeros(self.partition.n_classes, dtype=bool), [True]),
        }

    def weights(self, given: Mapping[str, float]) -> FloatArray:
        """Return the weights of the columns."""
        loss.check_weights(given)
        check_columns(tuple(given), self.names, "weights")
        return np.array([given.get(name, 1.0) for name in self.names])


def _precision(facts: _Facts) -> float:
    pairs = list(zip(facts.recoding.columns, facts.recoding.cells, strict=True))
    levels = np.array([np.maximum(_levels("precision", column, cells), 0) for column, cells in pairs])
    heights = np.array([_nodes("precision", column, cells).hierarchy.n_levels - 1 for column, cells in pairs])
    return loss.precision(levels, facts.partition.sizes, heights, facts.n_suppressed)


def _arx_entropy(facts: _Facts, *, gs_factor: float = 0.5) -> FloatArray:
    table, nodes = facts.table, []
    for codes, column, cells in zip(table.codes, facts.recoding.columns, facts.recoding.cells, strict=True):
        levels = np.unique(_levels("ARX's entropy", column, cells))
        levels = levels[levels >= 0]
        if len(levels) > 1:
            msg = f"ARX's entropy is not defined on column {column.name!r}, which publishes nodes of several levels."
            raise InputError(with_hint(msg, "it is of full-domain recodings; non_uniform_entropy is of all."))
        nodes.append(_nodes("", column, cells).hierarchy.nodes(int(levels.max(initial=0)), codes))
    return arx.arx_entropy_by_column(
        table.codes, np.array(nodes), table.counts, suppressed=facts.suppressed, gs_factor=gs_factor
    )


def _levels(measure: str, column: Column, cells: Cells) -> CountArray:
    """Return the level of the node of every class; -1 where only missing values are."""
    nodes = _nodes(measure, column, cells)
    mixed = nodes.has_missing & (nodes.level >= 0)
    return np.where(mixed, nodes.hierarchy.n_levels - 1, nodes.level).astype(np.int64)


def _nodes(measure: str, column: Column, cells: Cells) -> Nodes:
    if isinstance(cells, Nodes):
        return cells
    msg = f"{measure} is not defined on what column {column.name!r} publishes ({type(cells).__name__})."
    raise InputError(with_hint(msg, "it counts levels: every column needs a hierarchy, and publishes its nodes."))


def _non_uniform_entropy(facts: _Facts) -> FloatArray:
    table, labels = facts.table, facts.partition.labels
    frequencies, covered = np.empty((2, *table.codes.shape), dtype=np.int64)
    for j, (column, cells) in enumerate(zip(table.columns, facts.recoding.cells, strict=True)):
        if isinstance(cells, Centres):
            msg = f"non-uniform entropy is not defined on column {column.name!r}, which publishes central values."
            raise InputError(with_hint(msg, "they do not cover the values of their records."))
        # The missing value's first, as `totals` has them; then last, where its code -1 finds it.
        counts = np.roll(totals(table, column.name), -1)
        label_of_class, texts = facts.recoding.labels(column.name)
        by_label = np.append(_covered(texts, column, counts, facts.claim.hierarchies.get(column.name)), counts.sum())
        frequencies[j] = counts[table.codes[j]]
        # Suppressed records have the label -1, which finds the last.
        covered[j] = by_label[np.append(label_of_class, len(texts))[labels]]
    return loss.non_uniform_entropy(frequencies, covered, table.counts)


def _covered(texts: Sequence[str | None], column: Column, counts: CountArray, ladder: Any) -> CountArray:
    """Count the records with a value that each published cell covers; counts has the missing value's last."""
    values = column.texts()
    spec = ColumnSpec(column.kind, tuple(values) if column.kind == "ordered" and values else None)
    classes, people = (np.arange(n, dtype=np.int32)[None] for n in (len(texts), len(counts)))
    cell, value = pair_rows([texts], classes, [[*values, None]], people, [spec], [ladder], [column.name])
    return np.bincount(cell, weights=counts[value], minlength=len(texts)).astype(np.int64)


_FACTOR: Final = ("gs_factor",)

MEASURES: Final[Mapping[str, Measure]] = MappingProxyType(
    {
        "set_ncp": Measure("share", "worse", (), lambda facts: facts.quality.set_ncp),
        "set_ncp_by_column": Measure(
            "share", "worse", (), lambda facts: np.array(list(facts.quality.by_column.values()))
        ),
        "loss_metric": Measure("share", "worse", (), lambda facts: loss.loss_metric(*facts.classes)),
        "loss_metric_by_column": Measure(
            "share", "worse", (), lambda facts: loss.loss_metric_by_column(*facts.classes)
        ),
        "non_uniform_entropy": Measure("bits", "worse", (), lambda facts: _non_uniform_entropy(facts).sum()),
        "non_uniform_entropy_by_column": Measure("bits", "worse", (), _non_uniform_entropy),
        "precision": Measure("share", "better", (), _precision),
        "discernibility": Measure(
            "records squared", "worse", (), lambda facts: loss.discernibility(facts.published_sizes, facts.n_suppressed)
        ),
        "average_class_size": Measure(
            "records", "worse", (), lambda facts: loss.average_class_size(facts.published_sizes)
        ),
        "arx_loss": Measure(
            "share",
            "worse",
            ("gs_factor", "weights", "aggregate"),
            lambda facts, **options: arx.arx_loss(**facts.marked, **options),
        ),
        "arx_loss_by_column": Measure(
            "share", "worse", _FACTOR, lambda facts, **options: arx.arx_loss_by_column(**facts.marked, **options)
        ),
        "arx_entropy": Measure("bits", "worse", _FACTOR, lambda facts, **options: _arx_entropy(facts, **options).sum()),
        "arx_entropy_by_column": Measure("bits", "worse", _FACTOR, _arx_entropy),
        "granularity": Measure("share", "better", (), lambda facts: arx.granularity(**facts.marked)),
        "granularity_by_column": Measure(
            "share", "better", (), lambda facts: arx.granularity_by_column(**facts.marked)
        ),
        "arx_discernibility": Measure(
            "share",
            "better",
            (),
            lambda facts: arx.arx_discernibility(facts.published_sizes, facts.raw_sizes, facts.n_suppressed),
        ),
        "arx_average_class_size": Measure(
            "share", "better", (), lambda facts: arx.arx_average_class_size(facts.published_sizes, facts.raw_sizes)
        ),
    }
)
"""All measures by name; those by column return a figure for every quasi-identifier."""
