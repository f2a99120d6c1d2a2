"""How a column set relates to a treatment: covariate shift, balance, propensity.

Records are *treated* where the treatment column has the treated value and *control* where it has any other; records
without one are left out. Within a class both arms are alike by construction: the scores compare the arms over classes.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray, ValueArray
from hushtable.columns import Column
from hushtable.discover.scores import base
from hushtable.discover.scores.base import Score, ScoreVariant, View
from hushtable.discover.scores.catalogue import register_score
from hushtable.errors import InputError
from hushtable.tables import Partition


def arms_of(view: View, treatment: str, treated: Any) -> CountArray:
    """Return the records of every row that are treated and that are control, shape (2, n_rows)."""
    column = view.column(treatment, "treatment")
    codes, counts = view.table.codes[view.table.index(treatment)], view.table.counts
    occurs = np.bincount(codes[codes >= 0], weights=counts[codes >= 0], minlength=column.n_values) > 0
    if treated is None:
        if occurs.sum() != 2:
            raise InputError(
                f"column {treatment!r} has {occurs.sum()} values, so which one is treated is not clear.",
                hint="pass treated=, one of its values.",
            )
        code = int(np.flatnonzero(occurs)[-1])
    else:
        code = _code_of(column, treated)
    arms = np.stack([np.where(codes == code, counts, 0), np.where((codes >= 0) & (codes != code), counts, 0)])
    if not arms.sum(axis=1).all():
        raise InputError(
            f"of the records, {arms[0].sum()} are treated and {arms[1].sum()} are control.",
            hint="both arms need records; check treatment= and treated=.",
        )
    return arms


def _code_of(column: Column, treated: Any) -> int:
    """Find a value as its dataframe library has it, or by its canonical text."""
    texts = column.texts()
    # A flag's texts are those of polars, not of Python.
    treated_text = str(treated).lower() if isinstance(treated, (bool, np.bool_)) else str(treated)
    if treated_text in texts:
        return texts.index(treated_text)
    values, treated_value = column.values, treated
    if column.kind in ("date", "datetime"):
        values, treated_value = values.astype("datetime64[us]"), _to_moment(treated)
    # `is`: comparing with pandas' NA, or with an array, gives no truth value.
    equal = [
        code
        for code, value in enumerate(values.tolist())
        if _to_python_scalar(value == _to_python_scalar(treated_value)) is True
    ]
    if not equal or not column.is_measured:
        raise InputError(f"the given treated value is not in column {column.name!r}.", hint="pass one of its values.")
    return equal[0]


def _to_python_scalar(value: Any) -> Any:
    """Return a numpy scalar as Python has it."""
    return value.item() if isinstance(value, np.generic) else value


def _to_moment(value: Any) -> Any:
    """Return a date or time as numpy has it, in UTC as the table's are; anything else as it is."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    if isinstance(value, (dt.date, np.datetime64)):
        return np.array([value], dtype="datetime64[us]")[0]
    return value


def count_by_arm(labels: CodeArray, n_labels: int, arms: CountArray) -> CountArray:
    """Return each arm's records of every label, shape (2, n_labels)."""
    return np.stack([np.bincount(labels, weights=arm, minlength=n_labels) for arm in arms]).astype(np.int64)


def distribution_by_arm(labels: CodeArray, n_labels: int, arms: CountArray) -> FloatArray:
    """Return each arm's distribution over labels, shape (2, n_labels)."""
    counts = count_by_arm(labels, n_labels, arms)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


Statistic = Literal["smd", "t", "variance_ratio"]
Propensity = Literal["classes", "logistic"]

_UNCLEAR_ARMS: Final = "InputError\n    An arm is empty, or which value is treated is not clear."


@register_score(trend=1, Raises=_UNCLEAR_ARMS)
def covariate_shift(
    data: Any,
    columns: Sequence[str],
    *,
    treatment: str,
    treated: Any = None,
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how differently treated and control records are spread over the column set.

    Parameters
    ----------
    columns : sequence of str
        The column set. With the treatment in it the score is 1 by construction.
    variant : {"definition", "paper"}
        The total variation distance between the two arms' distributions over the classes, which is also the largest
        difference that any question about the columns can find. The paper adds two numbers on different scales: the
        Kolmogorov-Smirnov statistic over the classes (in the order of their values, so it depends on the order of the
        columns) and sum |P(treated) - P(all)|.

    Returns
    -------
    Score
        In [0, 1], the paper's in [0, 3]. One value a column: Kolmogorov-Smirnov where the column has an order, total
        variation where not; a missing value is the lowest. The definition never falls when a column is added.

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
    is_paper = base.is_of_paper(variant)
    view = base.build_view(data, columns, [treatment], partition)
    arms = arms_of(view, treatment, treated)
    values = [_column_shift(view, name, arms) for name in view.columns]
    p, q = distribution_by_arm(view.partition.labels, view.partition.n_classes, arms)
    value = float(np.abs(p - q).sum() / 2)
    if is_paper:
        order = _sort_classes(view)
        everybody = (p * arms[0].sum() + q * arms[1].sum()) / arms.sum()
        gaps = np.abs(np.cumsum((p - q)[order]))
        value = float(gaps.max() + np.abs(p - everybody).sum())
    sizes = [int(arms.sum())] * len(values)
    return base.score_by_column(
        "covariate shift", view, values, value=value, unit="rate", direction="worse", sizes=sizes
    )


@register_score(Raises=_UNCLEAR_ARMS)
def balance(
    data: Any,
    columns: Sequence[str],
    *,
    treatment: str,
    treated: Any = None,
    statistic: Statistic = "smd",
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how far apart the means of treated and control records are, column by column.

    Parameters
    ----------
    statistic : {"smd", "t", "variance_ratio"}
        The standardized mean difference, over the root of the arms' mean variance, which does not grow with the number
        of records; Welch's t; or the larger variance over the smaller, at least 1.
    variant : {"definition", "paper"}
        The value of the column that is farthest apart, without its sign. The paper's t keeps its sign, above 0 where
        the treated have the higher mean, mean over the columns, so that columns cancel; infinities that do are NaN.

    Returns
    -------
    Score
        At least 0 (the definition), infinite where constant arms differ; one value a column. A column without an order
        has the value of its category, a missing cell being one, that is farthest apart (of several, the first);
        declared orders are taken by rank. Missing cells of an ordered column are left out. Where that leaves an arm
        empty the column cannot be compared: it is NaN, and the score is that of the other columns, NaN where there are
        none. No column at all scores 0.

    Notes
    -----
    Imbens, Rubin, "Causal inference in statistics", 2015, chapter 14. O(n) per column.
    A far-out value costs no digits of the others: each arm is measured from its own lowest value.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 40, 50, 60], "arm": ["A", "A", "B", "B"]})
    >>> round(balance(people, ["age"], treatment="arm", treated="B").value, 3)
    2.828
    """
    is_paper = base.is_of_paper(variant)
    statistic_used = base.choose("statistic", statistic, {"smd": "smd", "t": "t", "variance_ratio": "variance_ratio"})
    view = base.build_view(data, columns, [treatment], partition)
    arms = arms_of(view, treatment, treated)
    compared = [_compare_column(view, name, arms, "t" if is_paper else statistic_used) for name in view.columns]
    values = [value if is_paper else abs(value) for value, _ in compared]
    return base.score_by_column(
        "balance",
        view,
        values,
        value=_aggregate_columns(values, is_paper),
        unit="ratio",
        direction="worse",
        sizes=[size for _, size in compared],
    )


@register_score()
def propensity_overlap(
    data: Any,
    columns: Sequence[str],
    *,
    treatment: str,
    treated: Any = None,
    model: Propensity = "classes",
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how many records have a counterpart in the other arm, by their chance of being treated.

    Parameters
    ----------
    model : {"classes", "logistic"}
        The chance of being treated is the share of treated records in the class; or that of a logistic regression on
        the columns (scikit-learn, from the extra ``causal``), which also compares classes that hold one arm only.
    variant : {"definition", "paper"}
        The share of records in the common support: scores that lie within the range
        of both arms. The paper's "overlap" is a distance, the mean over the treated
        records of |score - mean score of the controls|: higher is less overlap.

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
    is_paper = base.is_of_paper(variant)
    propensity_of = base.choose("model", model, {"classes": _propensity_by_class, "logistic": _propensity_by_logistic})
    view = base.build_view(data, columns, [treatment], partition)
    arms = count_by_arm(view.partition.labels, view.partition.n_classes, arms_of(view, treatment, treated))
    chances = propensity_of(view, arms)

    def value(chance: FloatArray, sizes: CountArray) -> float:
        if is_paper:
            return float(arms[0] @ np.abs(chances - arms[1] @ chances / arms[1].sum()) / arms[0].sum())
        low = max(chances[arm > 0].min() for arm in arms)
        high = min(chances[arm > 0].max() for arm in arms)
        return float(sizes[(chance >= low) & (chance <= high)].sum() / sizes.sum())

    return base.score_by_class(
        "propensity overlap",
        view,
        chances,
        value=value,
        unit="rate",
        direction="worse" if is_paper else "better",
        sizes=arms.sum(axis=0),
    )


def _column_shift(view: View, name: str, arms: CountArray) -> float:
    column = view.table.column(name)
    p, q = distribution_by_arm(view.table.codes[view.table.index(name)] + 1, column.n_values + 1, arms)
    if column.is_ordered:
        return float(np.abs(np.cumsum(p - q)).max())
    return float(np.abs(p - q).sum() / 2)


def _sort_classes(view: View) -> CountArray:
    """Return the classes in the order of their values, the first column's first."""
    first = view.partition.rows[view.partition.offsets[:-1]]
    keys = [view.table.codes[view.table.index(name), first] for name in reversed(view.columns)]
    return np.lexsort(keys) if keys else np.arange(1)


def _compare_column(view: View, name: str, arms: CountArray, statistic: Statistic) -> tuple[float, int]:
    """Return how far apart the arms are in a column, and how many records that is about."""
    column = view.table.column(name)
    arm_counts = count_by_arm(view.table.codes[view.table.index(name)] + 1, column.n_values + 1, arms)
    if not column.is_ordered:
        differences = _categories_apart(arm_counts, statistic)
        return float(differences[np.abs(differences).argmax()]), int(arm_counts.sum())
    arm_counts = arm_counts[:, 1:]
    n_records = int(arm_counts.sum())
    if not arm_counts.sum(axis=1).all():
        return math.nan, n_records
    numbers = column.values if column.is_measured else np.arange(column.n_values)
    return _numbers_apart(numbers, arm_counts, statistic), n_records


def _categories_apart(arm_counts: CountArray, statistic: Statistic) -> FloatArray:
    """Compare the share of every category in two arms, in whole numbers as long as nothing is divided."""
    n = arm_counts.sum(axis=1, keepdims=True)
    gaps = (arm_counts[0] * n[1] - arm_counts[1] * n[0]) / (n[0] * n[1])
    variances = arm_counts * (n - arm_counts) / (n * np.maximum(n - 1, 1))
    return _statistic_of_gaps(gaps, variances, n, statistic)


def _numbers_apart(numbers: ValueArray, arm_counts: CountArray, statistic: Statistic) -> float:
    """Compare the values of a column in two arms: each from its lowest, so that equal ones differ by exactly 0."""
    n = arm_counts.sum(axis=1, keepdims=True)
    if numbers.dtype.kind == "f":
        # A power of two costs no digit, and keeps the squares of the largest floats finite.
        numbers = np.ldexp(numbers, -np.frexp(np.abs(numbers[arm_counts.any(axis=0)]).max())[1])
    lows, rises, variances = [], [], []
    for counts, size in zip(arm_counts, n[:, 0], strict=True):
        low = numbers[counts > 0][0]
        above = _subtract_exactly(numbers[counts > 0], low)
        weights = counts[counts > 0]
        rises.append(weights @ above / size)
        variances.append(weights @ (above - rises[-1]) ** 2 / max(size - 1, 1))
        lows.append(low.item() if numbers.dtype.kind == "f" else int(low.astype(np.int64)))
    gap = float(lows[0] - lows[1]) + rises[0] - rises[1]
    return float(_statistic_of_gaps(np.array([gap]), np.array(variances)[:, None], n, statistic)[0])


def _subtract_exactly(numbers: ValueArray, low: Any) -> FloatArray:
    if numbers.dtype.kind == "f":
        return np.asarray(numbers - low)
    # Whole numbers, and dates as such, differ exactly modulo 2^64 even where an int64 is too small.
    return np.asarray(numbers.astype(np.int64).astype(np.uint64) - low.astype(np.int64).astype(np.uint64), np.float64)


def _statistic_of_gaps(gaps: FloatArray, variances: FloatArray, n: CountArray, statistic: Statistic) -> FloatArray:
    """Return the statistic of differences of means, and variances of shape (2, n_gaps)."""
    if statistic == "variance_ratio":
        low, high = np.sort(variances, axis=0)
        return _divide_safely(high, low, 1.0)
    return _divide_safely(
        gaps, np.sqrt(variances.mean(axis=0) if statistic == "smd" else (variances / n).sum(axis=0)), 0.0
    )


def _divide_safely(part: FloatArray, whole: FloatArray, of_nothing: float) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((part == 0) & (whole == 0), of_nothing, part / whole)


def _aggregate_columns(values: list[float], is_paper: bool) -> float:
    """Return the mean, or the highest, of the columns that can be compared."""
    comparable = [value for value in values if not math.isnan(value)]
    if not comparable:
        return math.nan if values else 0.0
    return sum(comparable) / len(comparable) if is_paper else max(comparable)


def _propensity_by_class(view: View, arm_counts: CountArray) -> FloatArray:
    return np.asarray(arm_counts[0] / np.maximum(arm_counts.sum(axis=0), 1))


def _propensity_by_logistic(view: View, arm_counts: CountArray) -> FloatArray:
    linear_model = base.import_extra("sklearn.linear_model")
    first = view.partition.rows[view.partition.offsets[:-1]]
    features = [np.zeros(len(first))]
    for name in view.columns:
        column, codes = view.table.column(name), view.table.codes[view.table.index(name), first]
        if column.is_ordered and column.n_values:
            features += [np.where(codes < 0, 0.0, column.positions()[codes]), codes < 0]
        else:
            features += [codes == code for code in range(-1, column.n_values)]
    class_features = np.column_stack(features).astype(np.float64)
    n_classes = len(first)
    fitted = linear_model.LogisticRegression(max_iter=1000).fit(
        np.vstack([class_features, class_features]), np.repeat([1, 0], n_classes), sample_weight=arm_counts.ravel()
    )
    return np.asarray(fitted.predict_proba(class_features)[:, 1])
