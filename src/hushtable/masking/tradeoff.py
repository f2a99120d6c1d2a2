"""Stars against kept correlation: independence masking with several numbers of clusters, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from hushtable._types import Missing
from hushtable.columns import ColumnSpec, escape_html
from hushtable.io import frames
from hushtable.masking.independence import Clustering, mask_dependence
from hushtable.masking.search import MaskingMethod
from hushtable.plots import charts
from hushtable.search import Budget
from hushtable.tables import open_table
from hushtable.wording import table_html


@dataclass(frozen=True, slots=True)
class TradeoffPoint:
    """The cost and the kept correlation of one number of clusters."""

    clusters: int
    n_stars: int
    share_kept: float  # of A cells that are published
    gap: float  # of the stars, to the best bound
    bc_before: float  # mean normalised mutual information of the columns of B with those of C
    bc_after: float  # that of the cluster with the columns of C


@dataclass(frozen=True, slots=True)
class MaskingTradeoff:
    """Stars against kept correlation, by the number of clusters.

    Attributes
    ----------
    a, b : tuple of str
    points : tuple of TradeoffPoint
        In the order asked for.
    notes : tuple of str
        How text in B was clustered.
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    points: tuple[TradeoffPoint, ...]
    notes: tuple[str, ...] = ()

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the curve; return the matplotlib axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.
        """
        return charts.tradeoff(
            np.array([point.clusters for point in self.points]),
            np.array([point.n_stars for point in self.points]),
            np.array([point.bc_after for point in self.points]),
            label="correlation of the cluster and C",
            ax=ax,
        )

    def to_frame(self, source: str = "polars") -> Any:
        """Return a row for every number of clusters, as a dataframe of a library."""
        names = [each.name for each in fields(TradeoffPoint)]
        return frames.assemble({name: [getattr(point, name) for point in self.points] for name in names}, source)

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain values."""
        points = [asdict(point) for point in self.points]
        return {"a": list(self.a), "b": list(self.b), "points": points, "notes": list(self.notes)}

    def _repr_html_(self) -> str:
        rows = [(each.clusters, each.n_stars, f"{each.share_kept:.3f}", f"{each.bc_after:.4f}") for each in self.points]
        titles = ("clusters", "stars", "cells kept", "correlation of cluster and C")
        return f"{table_html([titles, *rows])}{escape_html('; '.join(self.notes))}"


def masking_tradeoff(
    data: Any,
    *,
    a: Sequence[str],
    b: Sequence[str],
    clusters: Sequence[int],
    c: Sequence[str] | None = None,
    clustering: Clustering = "auto",
    method: MaskingMethod = "auto",
    weights: Mapping[str, float] | None = None,
    missing: Missing = "category",
    optimise_ties: bool = False,
    specs: Mapping[str, ColumnSpec] | None = None,
    budget: Budget | None = None,
    seed: int = 0,
) -> MaskingTradeoff:
    """Measure, for several numbers of clusters, the stars they cost and what they keep of B's say on C.

    Parameters
    ----------
    data : path, dataframe or Table
    clusters : sequence of int
        For instance ``range(2, 21)``.
    budget : Budget, optional
        Of each number of clusters.
    a, b, c, clustering, method, weights, missing, optimise_ties, specs, seed
        As in `mask_dependence`.

    Examples
    --------
    >>> import hushtable as ht
    >>> people = ht.datasets.people(200)
    >>> curve = masking_tradeoff(people, a=["sex"], b=["income"], c=["education"], clusters=[2, 4])
    >>> [point.clusters for point in curve.points]
    [2, 4]
    """
    source = open_table(data)
    accepted = dict.fromkeys(source.names, "no table is published")
    points, notes = [], tuple[str, ...]()
    for n_clusters in clusters:
        release = mask_dependence(
            source,
            a=a,
            b=b,
            clusters=n_clusters,
            c=c,
            clustering=clustering,
            method=method,
            weights=weights,
            missing=missing,
            optimise_ties=optimise_ties,
            specs=specs,
            budget=budget,
            seed=seed,
            accept=accepted if c is None else {name: accepted[name] for name in (*a, *b, *c) if name in accepted},
        )
        notes = release.notes
        pairs = [pair for pair in release.pairs() if pair.kind == "BC"]
        points.append(
            TradeoffPoint(
                n_clusters,
                release.n_stars,
                release.share_kept,
                release.trace.gap or 0.0,
                float(np.mean([pair.before for pair in pairs])) if pairs else 0.0,
                float(np.mean([pair.after for pair in pairs])) if pairs else 0.0,
            )
        )
    return MaskingTradeoff(tuple(a), tuple(b), tuple(points), notes)
