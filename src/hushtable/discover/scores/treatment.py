"""How a column set relates to a treatment: covariate shift, balance, propensity.

Records are *treated* where the treatment column has the treated value and *control*
where it has any other; records whose treatment is missing are left out. Within a
class of the column set both arms are alike by construction, so these scores compare
the arms over the classes, not within them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.column import Column
from hushtable.discover.scores import base
from hushtable.discover.scores.base import Score, Variant, View
from hushtable.errors import InputError, with_hint
from hushtable.partition import Partition

__all__ = ["balance", "covariate_shift", "propensity_overlap"]

Statistic = Literal["smd", "t", "variance_ratio"]
Propensity = Literal["classes", "logistic"]


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
    sizes = [int(arms.sum())] * len(values)
    return base.of_columns("covariate shift", seen, values, value=value, unit="rate", direction="worse", sizes=sizes)


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
        column are left out; where that leaves an arm empty, the column's value is NaN and
        does not count (in the paper's mean it does). NaN where no column can be compared.
        The sign of the paper's t is that of the treated less the control mean, for a
        category that of its share.

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
    values = np.array(signed if is_paper else np.abs(signed), dtype=np.float64)
    compared = values[~np.isnan(values)]
    value = math.nan if len(values) else 0.0
    if is_paper and len(values):
        # Columns infinitely far apart to either side cancel to no number.
        with np.errstate(invalid="ignore"):
            value = float(values.mean())
    elif len(compared):
        value = float(compared.max())
    sizes = [_n_compared(seen, name, arms) for name in seen.columns]
    return base.of_columns("balance", seen, values, value=value, unit="ratio", direction="worse", sizes=sizes)


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
        found = _code_of(column, treated)
        if found is None:
            msg = with_hint(f"the given treated value is not in column {treatment!r}.", "pass one of its values.")
            raise InputError(msg)
        code = found
    arms = np.stack([np.where(codes == code, counts, 0), np.where((codes >= 0) & (codes != code), counts, 0)])
    if not arms.sum(axis=1).all():
        msg = with_hint(
            f"of the records, {arms[0].sum()} are treated and {arms[1].sum()} are control.",
            "both arms need records; check treatment= and treated=.",
        )
        raise InputError(msg)
    return arms


def _code_of(column: Column, value: Any) -> int | None:
    """Return the code of a value, whatever type it is written in; None where the column has no such value."""
    if column.kind in ("integer", "decimal") and isinstance(value, (int, float, np.number)):
        found = np.flatnonzero(column.values == value)
        return int(found[0]) if len(found) else None
    texts = column.texts()
    wanted = str(bool(value)).lower() if isinstance(value, (bool, np.bool_)) else str(value)
    return texts.index(wanted) if wanted in texts else None


def _n_compared(seen: View, name: str, arms: CountArray) -> int:
    """Count the records that the balance of a column is about."""
    known = seen.table.codes[seen.table.index(name)] >= 0
    return int(arms[:, known].sum() if seen.table.column(name).is_ordered else arms.sum())


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
        present = held[:, 1:].any(axis=0)
        # Placed by the records that are compared: one that is far out and in no arm would hide their differences.
        numbers = np.zeros(column.n_values)
        compared = replace(column, values=column.values[present]) if column.is_measured else column
        numbers[present] = compared.positions() if column.is_measured else compared.positions()[present]
        return _apart(numbers, held[:, 1:], statistic)
    found = [
        _apart((np.arange(column.n_values + 1) == value).astype(np.float64), held, statistic)
        for value in range(column.n_values + 1)
    ]
    return max(found, key=abs)


def _apart(numbers: Any, held: CountArray, statistic: Statistic) -> float:
    """Compare the means, or the variances, of a number in two arms."""
    n = held.sum(axis=1)
    if not n.all():
        return math.nan
    means = held @ numbers / n
    variances = ((numbers - means[:, None]) ** 2 * held).sum(axis=1) / np.maximum(n - 1, 1)
    for arm in range(2):
        values = numbers[held[arm] > 0]
        if values.max() == values.min():
            # Of equal numbers a rounded mean would differ, and be divided by nothing.
            means[arm], variances[arm] = values[0], 0.0
    if statistic == "variance_ratio":
        low, high = sorted(variances.tolist())
        return _over_or(high, low, 1.0)
    gap = float(means[0] - means[1])
    spread = math.sqrt(variances.mean()) if statistic == "smd" else math.sqrt((variances / n).sum())
    return _over_or(gap, spread, 0.0)


def _over_or(part: float, whole: float, of_nothing: float) -> float:
    if whole > 0:
        return part / whole
    return math.copysign(math.inf, part) if part else of_nothing


def _share_treated(seen: View, held: CountArray) -> FloatArray:
    return np.asarray(held[0] / np.maximum(held.sum(axis=0), 1))


def _logistic(seen: View, held: CountArray) -> FloatArray:
    linear_model = base.extra("sklearn.linear_model")
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
