"""Which scores say the same: their correlation over sampled column sets, and a set of scores without repetition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import BoolArray, FloatArray, freeze_array
from hushtable.columns import escape_html
from hushtable.discover.objective import Objective, ObjectiveEvaluator, Term, mask_of
from hushtable.errors import InputError, check_columns
from hushtable.plots import charts
from hushtable.search import Budget
from hushtable.tables import encode_table, open_table

__all__ = ["Redundancy", "find_redundancy"]

Correlation = Literal["spearman", "pearson"]

_RELATIVE_ROUNDING: Final = 1e-12
"""A score that varies by less than this share of itself is constant but for rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Redundancy:
    """How scores correlate over column sets."""

    names: tuple[str, ...]  # the scores
    columns: tuple[str, ...]  # the candidates
    sets: BoolArray = field(repr=False)  # (n_sets, n_columns), the column sets that were sampled, each once
    values: FloatArray = field(repr=False)  # (n_sets, n_scores)
    # (n_scores, n_scores), correlations in [-1, 1] over the sets where both scores are finite; NaN where one of them is
    # constant there
    spearman: FloatArray = field(repr=False)
    pearson: FloatArray = field(repr=False)
    method: Correlation  # by which scores are clustered and kept
    threshold: float  # scores whose correlation is this strong, in either direction, may be redundant
    clusters: tuple[tuple[str, ...], ...]  # groups of redundant scores, in the order of the names
    kept: tuple[str, ...]  # one score of each cluster, in the order of the names; constant scores are not kept
    reasons: dict[str, str] = field(repr=False)  # why each score was kept or dropped

    def __post_init__(self) -> None:
        for array in (self.sets, self.values, self.spearman, self.pearson):
            freeze_array(array)

    @property
    def correlation(self) -> FloatArray:
        """The matrix that clusters and picks go by."""
        return self.spearman if self.method == "spearman" else self.pearson

    def to_dict(self) -> dict[str, Any]:
        """Return the correlations, clusters and reasons as plain values; undefined correlations are None."""
        cells = np.where(np.isfinite(self.correlation), self.correlation, None)  # type: ignore[call-overload]
        return {
            "names": list(self.names),
            "method": self.method,
            "threshold": self.threshold,
            "n_sets": len(self.sets),
            "correlation": cells.tolist(),
            "clusters": [list(cluster) for cluster in self.clusters],
            "kept": list(self.kept),
            "reasons": dict(self.reasons),
        }

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the correlations as a heat map; return the matplotlib axes."""
        return charts.heat_map(self.correlation, self.names, label=f"{self.method} correlation", ax=ax)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape_html(name)}</td><td>{escape_html(self.reasons[name])}</td></tr>" for name in self.names
        )
        return f"<table><caption>Scores over {len(self.sets)} column sets</caption>{rows}</table>"


def find_redundancy(
    data: Any,
    *,
    scores: Sequence[str | Term],
    columns: Sequence[str] | None = None,
    n_sets: int = 200,
    n_chosen: int | None = None,
    method: Correlation = "spearman",
    threshold: float = 0.9,
    seed: int = 0,
) -> Redundancy:
    """Correlate scores over column sets, group those that say the same, and keep one of each group.

    Parameters
    ----------
    data : path, dataframe or Table
    scores : sequence of str or Term
        At least two; a term's weight does not matter. Of equally central scores of a group the first is kept.
    columns : sequence of str, optional
        The candidates; all columns when not given.
    n_sets : int
        How many column sets to draw, without repetition; all, where there are no more.
    n_chosen : int, optional
        Columns of each set, as in the source; sets of all sizes, each set equally likely, when not given.
    method : {"spearman", "pearson"}
        Rank correlation, which a score keeps under any rescaling, or linear correlation.
    threshold : float
        In (0, 1].
    seed : int

    Raises
    ------
    InputError
        There are fewer than two scores or sets, or a parameter is out of range.
    ColumnError
        A column does not exist.

    Notes
    -----
    Average-linkage clustering of 1 - |correlation|, cut at 1 - threshold. The score kept is the one with the highest
    mean |correlation| within its group. Correlations over sampled sets describe these data: pairs that follow from one
    another by definition are in ``Objective.warnings``.

    Examples
    --------
    >>> from hushtable import datasets
    >>> found = find_redundancy(
    ...     datasets.people(200), columns=["birth_date", "sex", "nationality", "education"],
    ...     scores=["distinction", Term("k_anonymity", aggregate="mean"), "attribute_length_penalty"],
    ... )
    >>> found.kept
    ('distinction', 'attribute_length_penalty')
    >>> found.reasons["k_anonymity (mean)"]
    'dropped: correlation -1.00 with distinction'
    """
    terms = tuple(Term(score) if isinstance(score, str) else score for score in scores)
    _check_arguments(terms, n_sets, method, threshold)
    objective = Objective(terms)
    frame = open_table(data)
    available = frame.names
    names = tuple(available if columns is None else columns)
    check_columns(names, available, "columns")
    table = encode_table(frame)
    masks = _draw_sets(len(names), n_sets, n_chosen, np.random.default_rng(seed))
    evaluator = ObjectiveEvaluator(table, names, len(available), objective, Budget())
    evaluator.values_of(masks)
    sets, values, _ = evaluator.collect_evaluations()
    pearson, spearman = _correlate_scores(values, ranked=False), _correlate_scores(values, ranked=True)
    correlation = spearman if method == "spearman" else pearson
    labels = [term.label for term in terms]
    clusters = _cluster_scores(np.abs(correlation), threshold)
    representatives, reasons = _choose_scores(correlation, clusters, labels)
    return Redundancy(
        names=tuple(labels),
        columns=names,
        sets=sets,
        values=values,
        spearman=spearman,
        pearson=pearson,
        method=method,
        threshold=threshold,
        clusters=tuple(tuple(labels[i] for i in cluster) for cluster in clusters),
        kept=representatives,
        reasons=reasons,
    )


def _check_arguments(terms: Sequence[Term], n_sets: int, method: str, threshold: float) -> None:
    if len(terms) < 2 or n_sets < 2:
        raise InputError(
            f"{len(terms)} scores over {n_sets} column sets.", hint="give at least two of each to compare."
        )
    if method not in ("spearman", "pearson"):
        raise InputError(f"method = {method!r}.", hint="choose 'spearman' or 'pearson'.")
    if not 0 < threshold <= 1:
        raise InputError(f"threshold = {threshold!r}.", hint="it lies above 0 and at most at 1.")


def _draw_sets(n_columns: int, n_sets: int, n_chosen: int | None, rng: np.random.Generator) -> list[int]:
    """Draw different column sets as masks: all of them, where there are no more than asked for."""
    if n_chosen is not None and not 1 <= n_chosen <= n_columns:
        raise InputError(f"n_chosen = {n_chosen!r}.", hint=f"choose 1 to {n_columns} of the {n_columns} columns.")
    n_possible = 2**n_columns - 1 if n_chosen is None else math.comb(n_columns, n_chosen)
    if n_possible < 2:
        raise InputError("there is one column set to choose from.", hint="name more candidate columns.")
    if n_possible <= n_sets and n_columns <= 20:
        masks = range(1, 1 << n_columns)
        return [mask for mask in masks if n_chosen is None or mask.bit_count() == n_chosen]
    drawn_masks: dict[int, None] = {}
    while len(drawn_masks) < min(n_sets, n_possible):
        chosen = rng.random(n_columns) < 0.5 if n_chosen is None else rng.permutation(n_columns) < n_chosen
        mask = mask_of(chosen)
        if mask:
            drawn_masks[mask] = None
    return list(drawn_masks)


def _correlate_scores(values: FloatArray, *, ranked: bool) -> FloatArray:
    from scipy.stats import rankdata

    n = values.shape[1]
    matrix = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(i, n):
            both = values[np.isfinite(values[:, [i, j]]).all(axis=1)][:, [i, j]]
            if len(both) < 2 or (np.ptp(both, axis=0) <= _RELATIVE_ROUNDING * np.abs(both).max(axis=0)).any():
                continue
            x, y = (rankdata(each) if ranked else each for each in both.T)
            x, y = x - x.mean(), y - y.mean()
            matrix[i, j] = matrix[j, i] = np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1)
    return matrix


def _cluster_scores(strength: FloatArray, threshold: float) -> list[list[int]]:
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    distance = np.where(np.isfinite(strength), 1 - strength, 1.0)
    np.fill_diagonal(distance, 0.0)
    # Rounding may put equal scores a hair apart.
    cut = 1 - threshold + _RELATIVE_ROUNDING
    groups = fcluster(linkage(squareform(np.maximum(distance, 0), checks=False), "average"), cut, "distance")
    return sorted(np.flatnonzero(groups == group).tolist() for group in np.unique(groups))


def _choose_scores(
    correlation: FloatArray, clusters: Sequence[Sequence[int]], labels: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the most central score of every cluster, and why each score is in or out."""
    central_scores, reasons = [], {}
    for cluster in clusters:
        if not np.isfinite(correlation[cluster[0], cluster[0]]):
            reasons[labels[cluster[0]]] = "dropped: constant over the column sets"
            continue
        within = np.abs(correlation[np.ix_(cluster, cluster)])
        # Rounded, so that equally central scores are told apart by their order alone.
        central = cluster[int(np.argmax(np.round(within.mean(axis=1), 9)))]
        central_scores.append(central)
        reasons[labels[central]] = _why_kept(correlation, central, cluster, labels)
        for i in cluster:
            if i != central:
                reasons[labels[i]] = f"dropped: correlation {correlation[i, central]:.2f} with {labels[central]}"
    return tuple(labels[i] for i in sorted(central_scores)), {name: reasons[name] for name in labels}


def _why_kept(correlation: FloatArray, central: int, cluster: Sequence[int], labels: Sequence[str]) -> str:
    if len(cluster) > 1:
        return f"kept: the most central of {len(cluster)} scores that say the same"
    others = np.where(np.arange(len(labels)) == central, np.nan, np.abs(correlation[central]))
    if not np.isfinite(others).any():
        return "kept: nothing to compare it with"
    nearest = int(np.nanargmax(others))
    return f"kept: nearest is {labels[nearest]} with correlation {correlation[central, nearest]:.2f}"
