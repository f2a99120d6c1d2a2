"""Loss against linkage: several ways to perturb the same columns, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from hushtable.claims import Stated
from hushtable.columns import ColumnSpec
from hushtable.errors import ColumnError, InfeasibleError, InputError, names_in
from hushtable.io import Frame, frames
from hushtable.perturbation.method import METHODS, PerturbationMethod, describe_method
from hushtable.perturbation.perturbing import perturb
from hushtable.perturbation.release import PerturbedRelease
from hushtable.plots import charts
from hushtable.tables import Table, open_table
from hushtable.wording import StatesFacts, careful, join_names

INTERNAL = "internal: do not pass this on, readers of a table can use it to undo parts of the perturbation"


@dataclass(frozen=True, slots=True)
class PerturbationPoint:
    """What one method loses and leaves; every figure is None where no table came of it."""

    method: str  # with its options, as `noise(amount=0.3)`
    claim: str | None = None  # "k-anonymity (k = 5)", or "stated" where no file can show it
    linkage: float | None = None  # share of records linked to their own, in [0, 1]
    sse_share: float | None = None  # the mean over columns of numbers
    correlation_shift: float | None = None  # the mean over pairs of |correlation after - before|
    changed_rate: float | None = None  # the mean over columns
    reason: str | None = None  # why no table came of it


@dataclass(frozen=True, slots=True)
class PerturbationTradeoff(StatesFacts):
    """Methods of perturbation side by side; internal.

    Attributes
    ----------
    columns : tuple of str
    n_records : int
    linkage_before : float or None
        The share of original records whose nearest original record on these columns is their own.
    points : tuple of PerturbationPoint
        In the order asked for.
    source : str
        The dataframe library that ``to_frame`` answers in.
    """

    columns: tuple[str, ...]
    n_records: int
    linkage_before: float | None
    points: tuple[PerturbationPoint, ...] = field(repr=False)
    source: str = "polars"

    @property
    def best(self) -> tuple[PerturbationPoint, ...]:
        """Those of which no other has less linkage, or as little, and less loss; the least linkage first."""
        known = [point for point in self.points if point.linkage is not None and point.sse_share is not None]
        best: list[PerturbationPoint] = []
        for point in sorted(known, key=lambda point: (point.linkage, point.sse_share)):
            if not best or point.sse_share < best[-1].sse_share:  # type: ignore[operator]  # known ones have figures
                best.append(point)
        return tuple(best)

    def plot(self, *, ax: object = None) -> object:
        """Draw loss and linkage of every method; return the matplotlib axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.

        Raises
        ------
        InputError
            No method gave figures of numbers.
        """
        known = [point for point in self.points if point.linkage is not None and point.sse_share is not None]
        if not known:
            raise InputError("no method gave figures to draw.", hint="perturb columns of numbers.")
        lines = {point.method: np.array([[point.sse_share, point.linkage]], dtype=float) for point in known}
        axes = charts.risk_against_loss(lines, None, label="share of the sum of squares lost", mark="", ax=ax)
        axes.set_ylabel("share of records linked to their own")
        return axes

    def to_frame(self) -> object:
        """Return a row for every method, as a dataframe of the kind that went in (polars for a path or a Table)."""
        names = [each.name for each in fields(PerturbationPoint)]
        return frames.assemble({name: [getattr(point, name) for point in self.points] for name in names}, self.source)

    def to_dict(self) -> dict[str, object]:
        """Return the methods as plain values, and that they are internal."""
        return {
            "internal": INTERNAL,
            "columns": list(self.columns),
            "n_records": self.n_records,
            "linkage_before": self.linkage_before,
            "points": [asdict(point) for point in self.points],
            "best": [point.method for point in self.best],
        }

    @property
    def facts(self) -> tuple[str, ...]:
        """What was compared, and which methods no other one beats, in whole sentences, the most dangerous first."""
        best = [point.method for point in self.best]
        before = self.linkage_before
        return (
            careful(f"{INTERNAL}."),
            f"{len(self.points)} ways to perturb {join_names(self.columns)} of {self.n_records:,} records.",
            *(() if before is None else (f"Linked to their own record before: {before:.1%}.",)),
            *(f"Not possible: {each.method}: {each.reason.rstrip('.')}." for each in self.points if each.reason),
            *([f"No other one has both less linkage and less loss than: {join_names(best)}."] if best else []),
        )

    def _table(self) -> list[tuple[object, ...]]:
        return [TITLES, *(describe_point(point) for point in self.points if point.reason is None)]


TITLES = ("method", "claim", "linked", "sum of squares lost", "correlations moved by", "cells changed")


def describe_point(point: PerturbationPoint) -> tuple[str, ...]:
    """Return the figures of a method as texts, in the order of the titles."""
    shares = (point.linkage, point.sse_share, point.correlation_shift, point.changed_rate)
    forms = (".1%", ".2%", ".3f", ".1%")
    figures = ("" if share is None else format(share, form) for share, form in zip(shares, forms, strict=True))
    return (point.method, point.claim or "", *figures)


def perturbation_tradeoff(
    data: Any,
    *,
    columns: Sequence[str],
    methods: Sequence[str | Mapping[str, object] | PerturbationMethod] = (
        "microaggregation",
        "noise",
        "rank_swap",
        "shuffle",
    ),
    by: Sequence[str] = (),
    precision: str = "column",
    specs: Mapping[str, ColumnSpec] | None = None,
    seed: int = 0,
) -> PerturbationTradeoff:
    """Measure, for several ways to perturb the same columns, what they lose and how many records are still linked.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str
    methods : sequence of str, mapping or PerturbationMethod
        For instance ``["microaggregation", ht.Noise(0.2), {"rank_swap": {"distance": 0.1}}]``. One that these columns
        do not allow says so in its row.
    by, precision, specs, seed
        As in `perturb`. No table is published, so no other columns are kept.

    Examples
    --------
    >>> import hushtable as ht
    >>> people = ht.datasets.people(200)
    >>> compared = perturbation_tradeoff(people, columns=["income"], methods=["microaggregation", "shuffle"])
    >>> [(point.method, point.claim) for point in compared.points]
    [('microaggregation()', 'k-anonymity (k = 3)'), ('shuffle()', 'stated')]
    """
    if isinstance(methods, str) or not isinstance(methods, Sequence) or not methods:
        raise InputError("methods is not a list of methods.", hint="for instance methods=['noise', 'rank_swap'].")
    made: list[PerturbationMethod] = [METHODS.take(method, PerturbationMethod) for method in methods]
    source = open_table(data)
    points: list[PerturbationPoint] = []
    release: PerturbedRelease | None = None
    for method in made:
        point, perturbed = _measure_method(method, source, columns, by, precision, specs, seed)
        points.append(point)
        release = perturbed or release
    if release is None:
        raise InputError(f"no method perturbs these columns: {points[0].reason}", hint="choose others.")
    return PerturbationTradeoff(
        release.columns, release.n_records, release.linkage_before, tuple(points), frames.library_of(data)
    )


def compare_with_release(
    release: PerturbedRelease, methods: Sequence[Mapping[str, object]], *, precision: str, seed: int
) -> PerturbationTradeoff:
    """Measure other methods on the columns of a release, which comes first and is not made again."""
    made: list[PerturbationMethod] = [METHODS.take(method, PerturbationMethod) for method in methods]
    others = (
        _measure_method(method, release.source, release.columns, release.by, precision, None, seed)[0]
        for method in made
    )
    points = (_measure_point(release), *others)
    return PerturbationTradeoff(release.columns, release.n_records, release.linkage_before, points)


def _measure_method(
    method: PerturbationMethod,
    source: Frame | Table,
    columns: Sequence[str],
    by: Sequence[str],
    precision: str,
    specs: Mapping[str, ColumnSpec] | None,
    seed: int,
) -> tuple[PerturbationPoint, PerturbedRelease | None]:
    """Perturb columns by a method and measure it; it may not take them."""
    names = (*names_in(columns, "columns"), *names_in(by, "by"))
    accepted = dict.fromkeys(names, "no table is published")
    try:
        release = perturb(
            source,
            columns=columns,
            method=method,
            by=by,
            keep=(),
            accept=accepted,
            precision=precision,
            specs=specs,
            seed=seed,
        )
    except (ColumnError, InfeasibleError) as error:
        return PerturbationPoint(describe_method(method), reason=error.message), None
    return _measure_point(release), release


def _measure_point(release: PerturbedRelease) -> PerturbationPoint:
    shares = [each.sse_share for each in release.losses if each.sse_share is not None]
    shifts = [abs(each.after - each.before) for each in release.pairs]
    return PerturbationPoint(
        release.trace.method,
        "stated" if isinstance(release.claim, Stated) else ", ".join(release.verify().held),
        release.linkage,
        float(np.mean(shares)) if shares else None,
        float(np.mean(shifts)) if shifts else None,
        float(np.mean([each.changed_rate for each in release.losses])),
    )
