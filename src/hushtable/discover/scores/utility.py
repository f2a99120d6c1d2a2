"""What a column set says about a target column: how well its classes predict or describe it.

Every score here but `completeness`, which counts them, leaves out the records whose
target is missing, and classes without any other. The definitions weigh classes by
their records; the paper takes the mean over the classes, which for an identifying
column set is the mean over single records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.columns import Column
from hushtable.discover.scores import base
from hushtable.discover.scores.base import Direction, Score, ScoreVariant, View
from hushtable.errors import ColumnError
from hushtable.models import Histogram
from hushtable.tables import Partition

__all__ = [
    "accuracy",
    "completeness",
    "distinct_values",
    "gini",
    "information_gain",
    "mean_squared_error",
    "value_range",
]


def mean_squared_error(
    data: Any,
    columns: Sequence[str],
    *,
    target: str,
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how far the target is from the mean of its class, squared.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str
        The column set.
    target : str
        A column of numbers or dates (in days).
    variant : {"definition", "paper"}
        The mean over the records, or the paper's over the classes.
    partition : Partition, optional
        Of the same rows by the same columns, where there is one already.

    Raises
    ------
    ColumnError
        The target has no differences of values.

    Returns
    -------
    Score
        At least 0; a class's value is its variance. Never rises when a column is added.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "m"], "age": [30, 40, 50]})
    >>> mean_squared_error(people, ["sex"], target="age").value
    16.666666666666668
    """
    seen, known, records = _known(data, columns, target, partition)
    numbers = _numbers(seen.column(target), "the mean squared error")[known.codes]
    some = np.maximum(records, 1)
    # Deviations from the class's own mean: no difference of large squares.
    deviations = numbers - (known.summed(known.counts * numbers) / some)[known.labels()]
    values = known.summed(known.counts * deviations**2) / some
    return _about("mean squared error", seen, values, records, variant, "squared units of the target", "worse")


def accuracy(
    data: Any,
    columns: Sequence[str],
    *,
    target: str,
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how many records have the most frequent target value of their class.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str
        The column set.
    target : str
    variant : {"definition", "paper"}
        The share of the records, or the paper's mean over the classes.
    partition : Partition, optional
        Of the same rows by the same columns, where there is one already.

    Returns
    -------
    Score
        In (0, 1]. Judged on the records it was learned from: a column set that singles
        everybody out scores 1. Never falls when a column is added (the definition).

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "f", "m"], "ill": ["flu", "flu", "hiv", "flu"]})
    >>> accuracy(people, ["sex"], target="ill").value
    0.75
    """
    seen, known, records = _known(data, columns, target, partition)
    values = known.highest(known.counts) / np.maximum(records, 1)
    return _about("accuracy", seen, values, records, variant, "rate", "better")


def value_range(
    data: Any,
    columns: Sequence[str],
    *,
    target: str,
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how wide the target ranges within the classes.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str
        The column set.
    target : str
        A column of numbers or dates (in days).
    variant : {"definition", "paper"}
        max - min of a class over max - min of the table, mean over the records: no
        unit, so that targets compare. The paper does not scale, mean over the classes.
    partition : Partition, optional
        Of the same rows by the same columns, where there is one already.

    Raises
    ------
    ColumnError
        The target has no differences of values.

    Returns
    -------
    Score
        In [0, 1] (the definition); 0 where the whole target is constant. Never rises when a column is added.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [30, 40, 50, 70]})
    >>> value_range(people, ["sex"], target="age").value
    0.375
    """
    seen, known, records = _known(data, columns, target, partition)
    numbers = _numbers(seen.column(target), "the range")[known.codes]
    widths = known.highest(numbers, -math.inf) + known.highest(-numbers, -math.inf)
    widths = np.where(records > 0, widths, 0.0)
    span = float(np.ptp(numbers)) if len(numbers) else 0.0
    is_paper = base.is_of_paper(variant)
    values = widths if is_paper or span == 0 else widths / span
    unit = "units of the target" if is_paper else "rate"
    return _about("range", seen, values, records, variant, unit, "worse")


def distinct_values(
    data: Any,
    columns: Sequence[str],
    *,
    target: str,
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how many different target values the classes hold.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str
        The column set.
    target : str
    variant : {"definition", "paper"}
        The mean over the records, or the paper's over the classes.
    partition : Partition, optional
        Of the same rows by the same columns, where there is one already.

    Returns
    -------
    Score
        At least 1. A class's value is its distinct l-diversity. Never rises when a column is added (the definition).

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "f", "m"], "ill": ["flu", "flu", "hiv", "flu"]})
    >>> distinct_values(people, ["sex"], target="ill").value
    1.75
    """
    seen, known, records = _known(data, columns, target, partition)
    return _about("distinct values", seen, known.n_distinct(), records, variant, "values", "worse")


def completeness(
    data: Any,
    columns: Sequence[str],
    *,
    target: str,
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how many records of a class have a target value at all.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str
        The column set.
    target : str
    variant : {"definition", "paper"}
        The share of the records, which is the same for every column set, or the
        paper's mean over the classes.
    partition : Partition, optional
        Of the same rows by the same columns, where there is one already.

    Returns
    -------
    Score
        In [0, 1].

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "m"], "ill": ["flu", None, "flu"]})
    >>> completeness(people, ["sex"], target="ill").values.tolist()
    [0.5, 1.0]
    """
    seen, _, records = _known(data, columns, target, partition)
    sizes = seen.partition.sizes
    return _about("completeness", seen, records / sizes, sizes, variant, "rate", "better")


def information_gain(
    data: Any,
    columns: Sequence[str],
    *,
    target: str,
    corrected: bool = False,
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how much the column set tells about the target: H(target) - H(target | classes).

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str
        The column set.
    target : str
    corrected : bool
        Take off what a column set of that many classes would seem to tell by chance:
        (n_cells - n_classes - n_values + 1) / (2 n ln 2), to first order in 1 / n.
        Without it every key has a gain of H(target).
    variant : {"definition", "paper"}
        The mean over the records, which is the mutual information, or the paper's
        over the classes, which is not.
    partition : Partition, optional
        Of the same rows by the same columns, where there is one already.

    Returns
    -------
    Score
        In bits, in [0, H(target)] (the definition, uncorrected; never falls when a
        column is added). A class's value is H(target) less the class's own entropy, and may be below 0.

    Notes
    -----
    The correction: Miller, "Note on the bias of information estimates", 1955. It is
    too small where most classes hold few records, and may take the value below 0.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["flu", "flu", "hiv", "hiv"]})
    >>> information_gain(people, ["sex"], target="ill").value
    1.0
    """
    seen, known, records = _known(data, columns, target, partition)
    whole = np.bincount(known.codes, weights=known.counts).astype(np.int64)
    everything = Histogram(np.array([0, np.count_nonzero(whole)]), np.empty(0, np.int32), whole[whole > 0])
    values = _entropies(everything)[0] - _entropies(known)
    if corrected:
        n_classes, n_values = np.count_nonzero(records), np.count_nonzero(whole)
        excess = len(known.codes) - n_classes - n_values + 1
        values = values - excess / (2 * max(records.sum(), 1.0) * math.log(2))
    name = "corrected information gain" if corrected else "information gain"
    return _about(name, seen, values, records, variant, "bits", "better")


def gini(
    data: Any,
    columns: Sequence[str],
    *,
    target: str,
    variant: ScoreVariant = "definition",
    partition: Partition | None = None,
) -> Score:
    """Score how mixed the target is within the classes: the chance that two draws differ.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str
        The column set.
    target : str
    variant : {"definition", "paper"}
        The mean over the records, or the paper's over the classes.
    partition : Partition, optional
        Of the same rows by the same columns, where there is one already.

    Returns
    -------
    Score
        In [0, 1). Never rises when a column is added (the definition).

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["flu", "hiv", "flu", "flu"]})
    >>> gini(people, ["sex"], target="ill").value
    0.25
    """
    seen, known, records = _known(data, columns, target, partition)
    shares = known.counts / records[known.labels()]
    values = np.where(records > 0, 1 - known.summed(shares**2), 0.0)
    return _about("gini", seen, values, records, variant, "rate", "worse")


def _known(
    data: Any, columns: Sequence[str], target: str, partition: Partition | None
) -> tuple[View, Histogram, FloatArray]:
    """Return the classes of a table, the target values they hold, and how many records of each have one."""
    seen = base.view(data, columns, [target], partition)
    known = seen.known(target)
    return seen, known, known.summed(known.counts)


def _about(
    name: str,
    seen: View,
    values: FloatArray | CountArray,
    records: FloatArray | CountArray,
    variant: ScoreVariant,
    unit: str,
    direction: Direction,
) -> Score:
    value = base.choose("variant", variant, {"definition": base.weighted_mean, "paper": base.mean})
    sizes = np.asarray(records, dtype=np.int64)
    return base.of_parts(name, seen, values, value=value, unit=unit, direction=direction, sizes=sizes)


def _entropies(histogram: Histogram) -> FloatArray:
    """Return the entropy of every class in bits; 0 where it holds nothing."""
    records = np.maximum(histogram.summed(histogram.counts), 1)
    return np.log2(records) - histogram.summed(histogram.counts * np.log2(histogram.counts)) / records


def _numbers(column: Column, what: str) -> FloatArray:
    """Return a measured column's values as floats: numbers as they are, dates in days."""
    if not column.is_measured:
        raise ColumnError(
            f"{what} needs a target of numbers or dates; column {column.name!r} is {column.kind}.",
            hint="name a measured column, or give its kind in specs when the table is encoded.",
        )
    if column.is_temporal:
        return np.asarray(column.values.astype("datetime64[us]").astype(np.int64) / 86_400_000_000)
    return column.values.astype(np.float64)
