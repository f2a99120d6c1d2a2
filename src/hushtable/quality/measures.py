"""Every measure of what a release lost, by its name: `of` gathers what each is computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, runtime_checkable

import numpy as np

from hushtable import frames
from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.cells import SUPPRESSED
from hushtable.claims import Classes, Matchings
from hushtable.claims.coverage import pair_rows
from hushtable.column import Column, ColumnSpec
from hushtable.errors import InputError, nearest, with_hint
from hushtable.frames import Frame
from hushtable.partition import Partition
from hushtable.quality import arx, loss
from hushtable.readable import Listed, Rounded
from hushtable.recoding import Centres, GridCells, Intervals, Nodes, NodeSets, Recoding, Sets
from hushtable.table import Table

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
    facts = _Facts(release)
    if "weights" in options:
        options["weights"] = facts.weights(options["weights"])
    found = known.compute(facts, **options)
    if isinstance(found, np.ndarray):
        return dict(zip(facts.names, found.tolist(), strict=True))
    return float(found)


class _Facts:
    """What measures are computed from, gathered of a release when it is asked for."""

    def __init__(self, release: Released) -> None:
        self.release = release
        self.columns = release.recoding.columns
        self.names = [column.name for column in self.columns]
        self.sizes, self.n_suppressed = release.partition.sizes, 0
        table = self.table
        self.suppressed_rows: BoolArray = np.asarray(release.partition.labels < 0)
        self.n_suppressed = int(table.counts[self.suppressed_rows].sum())

    @property
    def table(self) -> Table:
        """The quasi-identifiers of the source."""
        specs = {name: ColumnSpec(spec.kind, spec.order) for name, spec in self.release.claim.specs.items()}
        return Table.encode(self.release.source, self.names, {name: specs[name] for name in self.names})

    def weights(self, given: Mapping[str, float]) -> FloatArray:
        """Return the weights of the columns."""
        loss.check_weights(given)
        return np.array([given.get(name, 1.0) for name in self.names])
