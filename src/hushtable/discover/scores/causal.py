"""How a column set relates to a treatment: shift, balance, propensity; and to everything else: causal importance.

Records are *treated* where the treatment column has the treated value and *control*
where it has any other; records whose treatment is missing are left out. Within a
class of the column set both arms are alike by construction, so these scores compare
the arms over the classes, not within them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray, frozen
from hushtable.column import Column
from hushtable.discover.scores import base
from hushtable.discover.scores.base import Score, Variant, View
from hushtable.errors import InputError, check_columns, with_hint
from hushtable.partition import Partition
from hushtable.table import Table

__all__ = ["CausalGraph", "balance", "causal_graph", "causal_importance", "covariate_shift", "propensity_overlap"]

Statistic = Literal["smd", "t", "variance_ratio"]
Propensity = Literal["classes", "logistic"]
Test = Literal["gsq", "chisq"]

_ROUNDING: Final = 1e-12


def covariate_shift(
    data: Any,
    columns: Sequence[str],
    *,
    treatment: str,
    treated: Any = None,
    variant: Variant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how differently treated and control records are spread over the column set.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str
        The column set. With the treatment in it the score is 1 by construction.
    treatment : str
        The column that says who was treated.
    treated : value of that column, optional
        Needed unless the column has two values: then the later one in its order.
    variant : {"definition", "paper"}
        The total variation distance between the two arms' distributions over the
        classes, which is also the largest difference that any question about the
        columns can find. The paper adds two numbers on different scales: the
        Kolmogorov-Smirnov statistic over the classes (in the order of their values,
        so it depends on the order of the columns) and sum |P(treated) - P(all)|.
    partition : Partition, optional
        Of the same rows by the same columns, where there is one already.

    Returns
    -------
    Score
        In [0, 1], the paper's in [0, 3]. One value a column: Kolmogorov-Smirnov where
        the column has an order, total variation where not; a missing value is the lowest.
        The definition never falls when a column is added.

    Raises
    ------
    InputError
        An arm is empty, or which value is treated is not clear.

    Notes
    -----
    Shimodaira, 2000, for the term. O(n) per column.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 40, 50, 60], "arm": ["A", "A", "A", "B"]})
    >>> covariate_shift(people, ["age"], treatment="arm", treated="A").value
    1.0
    """
    is_paper = base.choose("variant", variant, {"definition": False, "paper": True})
    seen = base.view(data, columns, [treatment], partition)
    arms = _arms(seen, treatment, treated)
    values = [_column_shift(seen, name, arms) for name in seen.columns]
    p, q = _over(seen.partition.labels, seen.partition.n_classes, arms)
    value = float(np.abs(p - q).sum() / 2)
    if is_paper:
        order = _in_order(seen)
        everybody = (p * arms[0].sum() + q * arms[1].sum()) / arms.sum()
        gaps = np.abs(np.cumsum((p - q)[order]))
        value = float(gaps.max() + np.abs(p - everybody).sum())
    return base.of_columns("covariate shift", seen, values, value=value, unit="rate", direction="worse")


def balance(
    data: Any,
    columns: Sequence[str],
    *,
    treatment: str,
    treated: Any = None,
    statistic: Statistic = "smd",
    variant: Variant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how far apart the means of treated and control records are, column by column.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str
        The column set.
    treatment : str
        The column that says who was treated.
    treated : value of that column, optional
        Needed unless the column has two values: then the later one in its order.
    statistic : {"smd", "t", "variance_ratio"}
        The standardized mean difference, over the root of the arms' mean variance,
        which does not grow with the number of records; Welch's t; or the larger
        variance over the smaller, at least 1.
    variant : {"definition", "paper"}
        The value of the column that is farthest apart, without its sign. The paper's
        t keeps its sign, mean over the columns, so that columns cancel.
    partition : Partition, optional
        Not looked at; there so that all scores of a column set are called alike.

    Returns
    -------
    Score
        At least 0 (the definition), infinite where constant arms differ; one value a
        column. A column without an order has the value of its category that is
        farthest apart; declared orders are taken by rank. Missing cells of an ordered
        column are left out.

    Raises
    ------
    InputError
        An arm is empty, or which value is treated is not clear.

    Notes
    -----
    Imbens, Rubin, "Causal inference in statistics", 2015, chapter 14. O(n) per column.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 40, 50, 60], "arm": ["A", "A", "B", "B"]})
    >>> round(balance(people, ["age"], treatment="arm", treated="B").value, 3)
    2.828
    """
    is_paper = base.choose("variant", variant, {"definition": False, "paper": True})
    shown = base.choose("statistic", statistic, {"smd": "smd", "t": "t", "variance_ratio": "variance_ratio"})
    seen = base.view(data, columns, [treatment], partition)
    arms = _arms(seen, treatment, treated)
    signed = [_farthest(seen, name, arms, "t" if is_paper else shown) for name in seen.columns]
    values = signed if is_paper else [abs(value) for value in signed]
    value = float(np.mean(values)) if is_paper else max(values, default=0.0)
    return base.of_columns("balance", seen, values, value=value, unit="ratio", direction="worse")


def propensity_overlap(
    data: Any,
    columns: Sequence[str],
    *,
    treatment: str,
    treated: Any = None,
    model: Propensity = "classes",
    variant: Variant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how many records have a counterpart in the other arm, by their chance of being treated.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str
        The column set.
    treatment : str
        The column that says who was treated.
    treated : value of that column, optional
        Needed unless the column has two values: then the later one in its order.
    model : {"classes", "logistic"}
        The chance of being treated is the share of treated records in the class; or
        that of a logistic regression on the columns (scikit-learn, from the extra
        ``causal``), which also compares classes that hold one arm only.
    variant : {"definition", "paper"}
        The share of records in the common support: scores that lie within the range
        of both arms. The paper's "overlap" is a distance, the mean over the treated
        records of |score - mean score of the controls|: higher is less overlap.
    partition : Partition, optional
        Of the same rows by the same columns, where there is one already.

    Returns
    -------
    Score
        In [0, 1]. A class's value is its score; its size, the records of both arms.

    Raises
    ------
    InputError
        An arm is empty, which value is treated is not clear, or the extra is not installed.

    Notes
    -----
    Rosenbaum, Rubin, Biometrika 70(1), 1983. With ``model="classes"`` the common support
    is exactly the classes that hold both arms.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "f", "m"], "arm": ["A", "B", "B", "A"]})
    >>> propensity_overlap(people, ["sex"], treatment="arm", treated="A").value
    0.75
    """
    is_paper = base.choose("variant", variant, {"definition": False, "paper": True})
    scored = base.choose("model", model, {"classes": _share_treated, "logistic": _logistic})
    seen = base.view(data, columns, [treatment], partition)
    held = _counted(seen.partition.labels, seen.partition.n_classes, _arms(seen, treatment, treated))
    chances = scored(seen, held)

    def value(chance: FloatArray, sizes: CountArray) -> float:
        if is_paper:
            return float(held[0] @ np.abs(chances - held[1] @ chances / held[1].sum()) / held[0].sum())
        low = max(chances[arm > 0].min() for arm in held)
        high = min(chances[arm > 0].max() for arm in held)
        return float(sizes[(chance >= low) & (chance <= high)].sum() / sizes.sum())

    return base.of_parts(
        "propensity overlap",
        seen,
        chances,
        value=value,
        unit="rate",
        direction="worse" if is_paper else "better",
        sizes=held.sum(axis=0),
    )


@dataclass(frozen=True, slots=True, eq=False)
class CausalGraph:
    """Which columns are directly related, by a constraint-based search.

    Attributes
    ----------
    names : tuple of str
    adjacency : ndarray of bool, shape (n_columns, n_columns), read-only
        Whether an edge joins two columns, whatever its direction.
    """

    names: tuple[str, ...]
    adjacency: BoolArray = field(repr=False)

    def __post_init__(self) -> None:
        frozen(self.adjacency)


def causal_graph(data: Any, *, alpha: float = 0.05, test: Test = "gsq", bins: int = 5) -> CausalGraph:
    """Search the graph of direct relations among all columns: the PC algorithm.

    Parameters
    ----------
    data : path, dataframe or Table
    alpha : float
        In (0, 1): the level of each independence test. Of independent columns, about
        that share of the pairs is joined by chance.
    test : {"gsq", "chisq"}
        A test for categories: the likelihood ratio (G squared) or Pearson's. (The
        paper's library tests the numbers of the categories for a linear relation.)
    bins : int
        At least 2. A column of more values is cut, at its quantiles where it has an
        order, else into its most frequent values and the rest.

    Returns
    -------
    CausalGraph

    Raises
    ------
    InputError
        The extra ``causal`` is not installed, or a parameter is out of range.

    Notes
    -----
    Spirtes, Glymour, Scheines, "Causation, prediction, and search", 2000, through
    causal-learn. Exponential in the number of neighbours of a column at worst.
    """
    if not 0 < alpha < 1 or bins < 2:
        msg = with_hint(f"alpha = {alpha!r}, bins = {bins!r}.", "alpha lies between 0 and 1, bins is 2 or more.")
        raise InputError(msg)
    base.choose("test", test, {"gsq": 0, "chisq": 0})
    search = _extra("causallearn.search.ConstraintBased.PC")
    table = (data if isinstance(data, Table) else Table.encode(data)).one_by_one()
    coded = [_binned(column, codes, bins) for column, codes in zip(table.columns, table.codes, strict=True)]
    varied = [j for j, codes in enumerate(coded) if len(np.unique(codes)) > 1]
    adjacency = np.zeros((len(coded), len(coded)), dtype=bool)
    if len(varied) > 1:
        found = search.pc(
            np.column_stack([coded[j] for j in varied]), alpha=alpha, indep_test=test, show_progress=False
        )
        adjacency[np.ix_(varied, varied)] = found.G.graph != 0
    return CausalGraph(table.names, adjacency)


def causal_importance(
    data: Any,
    columns: Sequence[str],
    *,
    graph: CausalGraph | None = None,
    alpha: float = 0.05,
    partition: Partition | None = None,
) -> Score:
    """Score how many direct relations the columns of a set have in a learned graph.

    Parameters
    ----------
    data : path, dataframe or Table
        All its columns make the graph.
    columns : sequence of str
        The column set.
    graph : CausalGraph, optional
        Searched with `causal_graph` when not given; search it once for many column sets.
    alpha : float
        Of the search.
    partition : Partition, optional
        Not looked at; there so that all scores of a column set are called alike.

    Returns
    -------
    Score
        The sum over the set of each column's edges, which are the parts; an edge
        within the set counts twice, as the paper's formula has it.

    Raises
    ------
    InputError
        The extra ``causal`` is not installed.

    Notes
    -----
    The paper's table 1. What is joined in the graph is a matter of the test's level and power, not only of causes.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> graph = CausalGraph(("age", "sex", "job"), np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    >>> people = pl.DataFrame({"age": [30, 40], "sex": ["f", "m"], "job": ["cook", "smith"]})
    >>> causal_importance(people, ["age", "job"], graph=graph).value
    2.0
    """
    seen = base.view(data, columns, (), partition)
    graph = graph or causal_graph(data, alpha=alpha)
    check_columns(seen.columns, graph.names, "columns of the graph")
    degrees = [float(graph.adjacency[graph.names.index(name)].sum()) for name in seen.columns]
    return base.of_columns(
        "causal importance", seen, degrees, value=sum(degrees), unit="relations", direction="riskier"
    )


def _arms(seen: View, treatment: str, treated: Any) -> CountArray:
    """Return the records of every row that are treated and that are control, shape (2, n_rows)."""
    column = seen.column(treatment, "treatment")
    codes, counts = seen.table.codes[seen.table.index(treatment)], seen.table.counts
    held = np.bincount(codes[codes >= 0], weights=counts[codes >= 0], minlength=column.n_values) > 0
    if treated is None:
        if held.sum() != 2:
            msg = with_hint(
                f"column {treatment!r} has {held.sum()} values, so which one is treated is not clear.",
                "pass treated=, one of its values.",
            )
            raise InputError(msg)
        code = int(np.flatnonzero(held)[-1])
    else:
        texts = column.texts()
        wanted = str(treated).lower() if isinstance(treated, bool) else str(treated)
        if wanted not in texts:
            msg = with_hint(f"the given treated value is not in column {treatment!r}.", "pass one of its values.")
            raise InputError(msg)
        code = texts.index(wanted)
    arms = np.stack([np.where(codes == code, counts, 0), np.where((codes >= 0) & (codes != code), counts, 0)])
    if not arms.sum(axis=1).all():
        msg = with_hint(
            f"of the records, {arms[0].sum()} are treated and {arms[1].sum()} are control.",
            "both arms need records; check treatment= and treated=.",
        )
        raise InputError(msg)
    return arms


def _counted(labels: CountArray | Any, n_labels: int, arms: CountArray) -> CountArray:
    return np.stack([np.bincount(labels, weights=arm, minlength=n_labels) for arm in arms]).astype(np.int64)


def _over(labels: Any, n_labels: int, arms: CountArray) -> FloatArray:
    """Return each arm's distribution over labels, shape (2, n_labels)."""
    held = _counted(labels, n_labels, arms)
    return np.asarray(held / held.sum(axis=1, keepdims=True))


def _column_shift(seen: View, name: str, arms: CountArray) -> float:
    column = seen.table.column(name)
    p, q = _over(seen.table.codes[seen.table.index(name)] + 1, column.n_values + 1, arms)
    if column.is_ordered:
        return float(np.abs(np.cumsum(p - q)).max())
    return float(np.abs(p - q).sum() / 2)


def _in_order(seen: View) -> CountArray:
    """Return the classes in the order of their values, the first column's first."""
    first = seen.partition.rows[seen.partition.offsets[:-1]]
    keys = [seen.table.codes[seen.table.index(name), first] for name in reversed(seen.columns)]
    return np.lexsort(keys) if keys else np.arange(1)


def _farthest(seen: View, name: str, arms: CountArray, statistic: Statistic) -> float:
    column = seen.table.column(name)
    held = _counted(seen.table.codes[seen.table.index(name)] + 1, column.n_values + 1, arms)
    if column.is_ordered:
        return _apart(column.positions(), held[:, 1:], statistic)
    found = [_apart(np.arange(column.n_values + 1) == value, held, statistic) for value in range(column.n_values + 1)]
    return max(found, key=abs)


def _apart(numbers: Any, held: CountArray, statistic: Statistic) -> float:
    """Compare the means, or the variances, of a number in two arms."""
    n = held.sum(axis=1)
    if not n.all():
        return math.nan
    means = held @ numbers / n
    variances = ((numbers - means[:, None]) ** 2 * held).sum(axis=1) / np.maximum(n - 1, 1)
    # Numbers lie in [0, 1]: what is this small is rounding, and would be divided by zero.
    variances[variances < _ROUNDING**2] = 0.0
    if statistic == "variance_ratio":
        low, high = sorted(variances.tolist())
        return _over_or(high, low, 1.0)
    gap = float(means[0] - means[1])
    spread = math.sqrt(variances.mean()) if statistic == "smd" else math.sqrt((variances / n).sum())
    return _over_or(gap if abs(gap) > _ROUNDING else 0.0, spread, 0.0)


def _over_or(part: float, whole: float, of_nothing: float) -> float:
    if whole > 0:
        return part / whole
    return math.copysign(math.inf, part) if part else of_nothing


def _share_treated(seen: View, held: CountArray) -> FloatArray:
    return np.asarray(held[0] / np.maximum(held.sum(axis=0), 1))


def _logistic(seen: View, held: CountArray) -> FloatArray:
    linear_model = _extra("sklearn.linear_model")
    first = seen.partition.rows[seen.partition.offsets[:-1]]
    features = [np.zeros(len(first))]
    for name in seen.columns:
        column, codes = seen.table.column(name), seen.table.codes[seen.table.index(name), first]
        if column.is_ordered and column.n_values:
            features += [np.where(codes < 0, 0.0, column.positions()[codes]), codes < 0]
        else:
            features += [codes == code for code in range(-1, column.n_values)]
    once = np.column_stack(features).astype(np.float64)
    n_classes = len(first)
    fitted = linear_model.LogisticRegression(max_iter=1000).fit(
        np.vstack([once, once]), np.repeat([1, 0], n_classes), sample_weight=held.ravel()
    )
    return np.asarray(fitted.predict_proba(once)[:, 1])


def _binned(column: Column, codes: Any, bins: int) -> CountArray:
    """Return codes from 0 for a discrete test, the missing value's own among them."""
    if column.n_values <= bins:
        return np.asarray(codes + 1, dtype=np.int64)
    known = codes[codes >= 0]
    if column.is_ordered:
        edges = np.unique(np.quantile(known, np.arange(1, bins) / bins))
        return np.where(codes < 0, 0, 1 + np.searchsorted(edges, codes, side="right"))
    frequent = np.argsort(-np.bincount(known, minlength=column.n_values), kind="stable")[: bins - 1]
    kept = np.full(column.n_values + 1, bins)
    kept[frequent], kept[-1] = np.arange(1, bins), 0
    return np.asarray(kept[codes])


def _extra(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        msg = with_hint(
            f"this needs {module.partition('.')[0]!r}, which is not installed.",
            "pip install 'hushtable[causal]'",
        )
        raise InputError(msg) from None
