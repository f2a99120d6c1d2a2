"""Scores of a column set by the measures of the privacy models: what its equivalence classes disclose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.discover.scores import base
from hushtable.discover.scores.base import Direction, Score, ScoreVariant, View
from hushtable.discover.scores.catalogue import register_score
from hushtable.errors import InputError
from hushtable.hierarchy import Hierarchy
from hushtable.models import (
    DeltaPresence,
    DistinctLDiversity,
    EntropyLDiversity,
    GroundName,
    PrivacyModel,
    RecursiveCLDiversity,
    TCloseness,
)
from hushtable.tables import NO_HIERARCHIES, Partition, Table, count_by_value

Diversity = Literal["distinct", "entropy", "recursive"]
Distance = Literal["emd", "kl", "total_variation", "jensen_shannon"]


@register_score(trend=-1)
def l_diversity(
    data: Any,
    columns: Sequence[str],
    *,
    sensitive: str,
    kind: Diversity = "distinct",
    l: int = 2,  # noqa: E741 - the model's own letter
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how diverse a sensitive column is within the classes.

    Parameters
    ----------
    kind : {"distinct", "entropy", "recursive"}
        distinct: the number of distinct values of a class. entropy: the number of equally frequent values that would
        be as hard to guess. recursive: the c of recursive (c, l)-diversity, where higher is riskier: the highest count
        divided by the sum of the counts from the l-th on, infinite if a class has fewer than l values.
    l : int
        Only read by the recursive kind; at least 1.
    variant : {"definition", "paper"}
        definition: the worst class; a table can promise no more. paper: the mean over the classes.

    Returns
    -------
    Score
        Missing sensitive values do not count: a class of missing values alone has 0 values, or an infinite c.

    Notes
    -----
    Machanavajjhala et al., "l-diversity", ACM TKDD 1(1), 2007, and the models of the
    same names. For every kind, an added column never makes the worst class better.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 31, 60], "ill": ["flu", "flu", "hiv", "flu"]})
    >>> l_diversity(people, ["age"], sensitive="ill").values.tolist()
    [2.0, 1.0]
    >>> l_diversity(people, ["age"], sensitive="ill", kind="entropy").values.round(3).tolist()
    [1.89, 1.0]
    """
    kinds: dict[str, PrivacyModel] = {
        "distinct": DistinctLDiversity(1, sensitive),
        "entropy": EntropyLDiversity(1, sensitive),
        "recursive": RecursiveCLDiversity(1, l, sensitive),
    }
    model = base.choose("kind", kind, kinds)
    worst = base.highest if kind == "recursive" else base.lowest
    value = base.choose("variant", variant, {"definition": worst, "paper": base.mean_over_classes})
    view = base.build_view(data, columns, [sensitive], partition)
    direction: Direction = "riskier" if kind == "recursive" else "safer"
    unit = "ratio" if kind == "recursive" else "values"
    return base.score_by_class(
        f"{kind} l-diversity", view, _measure_classes(view, model), value=value, unit=unit, direction=direction
    )


@register_score(trend=1)
def t_closeness(
    data: Any,
    columns: Sequence[str],
    *,
    sensitive: str,
    distance: Distance = "emd",
    ground: GroundName = "auto",
    hierarchy: Any = None,
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how far the sensitive values of a class are from those of the whole table.

    Parameters
    ----------
    distance : {"emd", "kl", "total_variation", "jensen_shannon"}
        emd: the earth mover's distance of the definition, in [0, 1]. kl: the Kullback-Leibler divergence of a class
        from the whole table, in nats, at least 0. total_variation: half the summed differences of the shares, in
        [0, 1]. jensen_shannon: the Jensen-Shannon divergence in bits, in [0, 1].
    ground : {"auto", "equal", "ordered", "hierarchical"}
        How far apart two values are for the earth mover. "auto" is ordered if the values have an order, else equal.
    hierarchy : Hierarchy, rule, path or "auto", optional
        The hierarchy of the sensitive column. Only the hierarchical ground reads it, and needs it.
    variant : {"definition", "paper"}
        definition: the class that is farthest. paper: the mean over the classes of the Kullback-Leibler divergence,
        whatever ``distance`` says. It is KL(class || whole), as in the paper's text. The paper's table prints the other
        direction, which is infinite for every class that lacks a value.

    Returns
    -------
    Score
        A missing sensitive value counts as a value.

    Raises
    ------
    ModelError
        The sensitive column lacks the order or the hierarchy that the ground needs.

    Notes
    -----
    Li, Li, Venkatasubramanian, "t-closeness", ICDE 2007; the model of the same name.
    All distances are convex: an added column never brings the farthest class nearer.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 60, 60], "ill": ["flu", "hiv", "flu", "flu"]})
    >>> t_closeness(people, ["age"], sensitive="ill").value
    0.25
    """
    is_paper = base.is_of_paper(variant)
    distance_used: str = "kl" if is_paper else distance
    base.choose("distance", distance, dict.fromkeys(get_args(Distance)))
    view = base.build_view(data, columns, [sensitive], partition)
    if distance_used == "emd":
        values = _measure_classes(view, TCloseness(1, sensitive, ground), _hierarchy_levels(view, sensitive, hierarchy))
    elif distance_used == "total_variation":
        values = _measure_classes(view, TCloseness(1, sensitive, "equal"))
    else:
        kl, js = _divergences_from_whole(view, sensitive)
        values = kl if distance_used == "kl" else js
    return base.score_by_class(
        "t-closeness",
        view,
        values,
        value=base.mean_over_classes if is_paper else base.highest,
        unit={"kl": "nats", "jensen_shannon": "bits"}.get(distance_used, "rate"),
        direction="riskier",
    )


@register_score()
def delta_presence(
    data: Any,
    columns: Sequence[str],
    *,
    population: Any = None,
    sensitive: str | None = None,
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how sure one can be that somebody of the population is in the table.

    Parameters
    ----------
    population : path, dataframe or Table
        Everybody who could be in the table, with at least these columns. The people of the table are among them. The
        definition needs it.
    sensitive : str
        The paper's variant needs it.
    variant : {"definition", "paper"}
        definition: the share of a class's population that is in the table, highest over the classes (Nergiz, Atzori,
        Clifton, SIGMOD 2007). paper: it prints |P(g, S) - P(D, S)|, which has no population. Read here as the largest
        difference between a sensitive value's shares of the class and of the table, mean over the classes.

    Returns
    -------
    Score
        In [0, 1], and infinite for a class that the population lacks. The classes of the definition are those of the
        table, then those that only the population has. The size of a class is its population, or its records in the
        table if there are more of them.

    Examples
    --------
    >>> import polars as pl
    >>> ill, town = pl.DataFrame({"age": [31, 60]}), pl.DataFrame({"age": [31, 31, 60, 45]})
    >>> score = delta_presence(ill, ["age"], population=town)
    >>> score.values.tolist(), score.value
    ([0.5, 1.0, 0.0], 1.0)
    """
    if base.is_of_paper(variant):
        if sensitive is None:
            raise InputError("the paper's delta-presence needs a sensitive column.", hint="pass sensitive=.")
        view = base.build_view(data, columns, [sensitive], partition)
        values = _largest_difference(view, sensitive)
        return base.score_by_class(
            "delta-presence", view, values, value=base.mean_over_classes, unit="rate", direction="riskier"
        )
    if population is None:
        raise InputError(
            "delta-presence needs a population.", hint="pass population=, or variant='paper' with sensitive=."
        )
    view = base.build_view(data, columns)
    population_table = Table.encode(population, columns)
    joint_table = view.table.select(columns).with_population(population_table)
    # Rows of the table count no people: the population holds them already.
    population_counts: CountArray = np.append(np.zeros(view.table.n_rows, np.int64), population_table.counts)
    joint_classes = Partition.from_table(joint_table, columns)
    stats = joint_classes.stats(joint_table, population=population_counts)
    assert stats.population is not None
    values = DeltaPresence(0, 1).measure(stats)
    view = View(joint_table, view.columns, joint_classes, view.source)
    sizes = np.maximum(stats.population, stats.sizes)
    return base.score_by_class(
        "delta-presence", view, values, value=base.highest, unit="rate", direction="riskier", sizes=sizes
    )


@register_score(trend=1)
def generalization_ratio(
    data: Any,
    columns: Sequence[str],
    *,
    sensitive: str,
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how much the sensitive values of the classes differ from those of the whole table.

    Parameters
    ----------
    variant : {"definition", "paper"}
        definition: the total variation distance (half the summed differences of the shares), mean over the records.
        paper: the sum without halving, mean over the classes. The paper prints the same formula for delta-presence.

    Returns
    -------
    Score
        In [0, 1], the paper's in [0, 2].

    Notes
    -----
    The name is the paper's; nothing is generalised. The value of the highest class is t-closeness with the equal
    ground. The definition never falls when a column is added.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 60, 60], "ill": ["flu", "hiv", "flu", "flu"]})
    >>> generalization_ratio(people, ["age"], sensitive="ill").value
    0.25
    """
    is_paper = base.is_of_paper(variant)
    view = base.build_view(data, columns, [sensitive], partition)
    values = _measure_classes(view, TCloseness(1, sensitive, "equal"))
    return base.score_by_class(
        "generalization ratio",
        view,
        2 * values if is_paper else values,
        value=base.mean_over_classes if is_paper else base.mean_over_records,
        unit="rate",
        direction="riskier",
    )


def _measure_classes(view: View, model: PrivacyModel, levels: Mapping[str, CodeArray] = NO_HIERARCHIES) -> FloatArray:
    """Return the measure of a model for every class, at least 0."""
    stats = view.partition.stats(view.table, [model], hierarchies=levels)
    # A sum of rounded shares may end a hair below 0.
    return np.asarray(np.maximum(model.measure(stats), 0.0))


def _hierarchy_levels(view: View, sensitive: str, hierarchy: Any) -> Mapping[str, CodeArray]:
    if hierarchy is None:
        return NO_HIERARCHIES
    return {sensitive: Hierarchy.build(hierarchy, view.column(sensitive)).levels_with_missing()}


def _largest_difference(view: View, sensitive: str) -> FloatArray:
    """Return for each class the largest difference between a value's share of the class and of the whole table."""
    histogram = view.partition.histogram(view.table, sensitive)
    totals = count_by_value(view.table, sensitive)
    shares = totals / totals.sum()
    codes_by_share = np.argsort(-shares, kind="stable")
    rank = np.empty(len(shares), dtype=np.int64)
    rank[codes_by_share] = np.arange(len(shares))
    labels = histogram.labels()
    ranks = rank[histogram.codes + 1]
    ordered = ranks[np.lexsort((ranks, labels))]
    # Values are ranked by share: the first gap in the ranks of a class is the most frequent value that it lacks.
    is_without_gap = ordered == np.arange(len(labels)) - histogram.offsets[labels]
    first_absent = histogram.sum_by_class(is_without_gap).astype(np.int64)
    difference_of_absent = np.append(shares[codes_by_share], 0.0)[first_absent]
    difference_of_present = np.abs(histogram.counts / view.partition.sizes[labels] - shares[histogram.codes + 1])
    return np.asarray(np.maximum(histogram.max_by_class(difference_of_present), difference_of_absent))


def _divergences_from_whole(view: View, sensitive: str) -> tuple[FloatArray, FloatArray]:
    """Return the Kullback-Leibler (nats) and Jensen-Shannon (bits) divergences of each class, p, from the whole, q."""
    histogram = view.partition.histogram(view.table, sensitive)
    totals = count_by_value(view.table, sensitive)
    labels = histogram.labels()
    p = histogram.counts / view.partition.sizes[labels]
    q = (totals / totals.sum())[histogram.codes + 1]
    middle = (p + q) / 2
    kl = histogram.sum_by_class(p * np.log(p / q))
    # For a value that a class lacks, p is 0 and the middle q / 2: it adds q * log2(2) = q.
    lacking_share = 1 - histogram.sum_by_class(q)
    js = histogram.sum_by_class(p * np.log2(p / middle) + q * np.log2(q / middle)) / 2 + lacking_share / 2
    return np.maximum(kl, 0.0), np.clip(js, 0.0, 1.0)
