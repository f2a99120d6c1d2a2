"""A table in figures: moments, quantiles and correlations of its numbers, missing cells of all its columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.columns import Kind
from hushtable.tables import Table

__all__ = ["ColumnDescription", "Description", "describe", "pearson"]

_NUMBERS: Final = ("integer", "decimal")


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """One column in figures.

    All but the first three are for numbers (integer, decimal), and None where they are not defined.

    Attributes
    ----------
    kind : Kind
    n_missing : int
        Records without a value.
    n_distinct : int
        Different values that records have; a missing one is none.
    mean, median, minimum, maximum : float, optional
        Of a column with a value at least; the ends of a column of whole numbers are whole.
    std : float, optional
        With n - 1; of 2 records or more.
    q1, q3 : float, optional
        Quartiles, linear between neighbours.
    skewness : float, optional
        Corrected for bias; of 3 records or more that are not all equal.
    kurtosis : float, optional
        Excess kurtosis, corrected for bias; of 4 records or more that are not all equal.
    """

    kind: Kind
    n_missing: int
    n_distinct: int
    # No repr: of a few records, these are somebody's values.
    mean: float | None = field(default=None, repr=False)
    median: float | None = field(default=None, repr=False)
    std: float | None = field(default=None, repr=False)
    minimum: float | None = field(default=None, repr=False)
    maximum: float | None = field(default=None, repr=False)
    kurtosis: float | None = field(default=None, repr=False)
    skewness: float | None = field(default=None, repr=False)
    q1: float | None = field(default=None, repr=False)
    q3: float | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Description:
    """A table in figures.

    Attributes
    ----------
    n_rows : int
        Records.
    n_columns : int
    n_incomplete : int
        Records with a missing cell, or several.
    columns : mapping of column to ColumnDescription
        In the order of the table.
    correlations : mapping of (column, column) to float, optional
        Pearson's, in [-1, 1], of all pairs of columns of numbers, over the records that have both: the lower
        triangle of the matrix row by row, so that the first of a pair is the later column of the table. None where
        a column is constant on those records, or there are fewer than 2.
    """

    n_rows: int
    n_columns: int
    n_incomplete: int
    columns: Mapping[str, ColumnDescription] = field(repr=False)
    correlations: Mapping[tuple[str, str], float | None] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain values, a correlation as a row with the names of both columns."""
        return {
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "n_incomplete": self.n_incomplete,
            "columns": {name: column.to_dict() for name, column in self.columns.items()},
            "correlations": [
                {"first": first, "second": second, "value": value}
                for (first, second), value in self.correlations.items()
            ],
        }


def describe(table: Table) -> Description:
    """Describe a table in the figures of pandas' ``describe``, ``skew``, ``kurt`` and ``corr``.

    Parameters
    ----------
    table : Table
        A row is as many records as it counts.

    Returns
    -------
    Description

    Notes
    -----
    From the frequencies of values: O(n) per column, O(n) per pair of columns of numbers. Departs from pandas in that
    skewness and kurtosis of a constant column are None, not 0: 0 would say that it is symmetric and normal.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "hours": [40, 38, None, 20], "job": ["a", "b", "a", None]})
    >>> described = describe(Table.encode(people))
    >>> described
    Description(n_rows=4, n_columns=3, n_incomplete=2)
    >>> age = described.columns["age"]
    >>> age.mean, age.median, age.q1, age.maximum
    (43.5, 43.0, 33.25, 57)
    >>> described.columns["job"]
    ColumnDescription(kind='category', n_missing=1, n_distinct=2)
    >>> {pair: round(value, 4) for pair, value in described.correlations.items()}
    {('hours', 'age'): -0.9999}
    """
    table = table.take(np.flatnonzero(table.counts))
    described = {name: _describe_column(table, name) for name in table.names}
    numbers = {name: _numbers(table, name) for name, column in described.items() if column.kind in _NUMBERS}
    pairs = [(later, earlier) for place, later in enumerate(numbers) for earlier in list(numbers)[:place]]
    return Description(
        n_rows=table.n_records,
        n_columns=len(table.columns),
        n_incomplete=int(table.counts[(table.codes < 0).any(axis=0)].sum()),
        columns=described,
        correlations={(a, b): pearson(numbers[a], numbers[b], table.counts) for a, b in pairs},
    )


def pearson(first: FloatArray, second: FloatArray, counts: CountArray) -> float | None:
    """Return the correlation of two columns over the rows that have both; None where one is constant on them.

    Parameters
    ----------
    first, second : ndarray of float64, shape (n_rows,)
        NaN is missing.
    counts : ndarray of int64, shape (n_rows,)
        Records of each row, 1 or more.

    Examples
    --------
    >>> pearson(np.array([0.0, 1.0, np.nan]), np.array([6.0, 4.0, 2.0]), np.array([1, 1, 5]))
    -1.0
    """
    has_both = ~(np.isnan(first) | np.isnan(second))
    if not has_both.any():
        return None
    first, second, weights = first[has_both], second[has_both], counts[has_both].astype(np.float64)
    if first.min() == first.max() or second.min() == second.max():
        return None
    ours, theirs = _deviations(first, weights), _deviations(second, weights)
    together = float((weights * ours) @ theirs)
    alone = float((weights * ours) @ ours) * float((weights * theirs) @ theirs)
    return min(1.0, max(-1.0, together / math.sqrt(alone)))


def _deviations(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return what values differ by from their mean, in a unit that their squares can be written in."""
    scaled, _ = _scaled(values)
    return np.asarray(scaled - weights @ scaled / weights.sum())


def _scaled(values: FloatArray) -> tuple[FloatArray, int]:
    """Divide values by a power of two, which is returned, so that the largest is near 1.

    Sums and squares can neither overflow nor vanish then, and nothing is rounded.
    """
    exponent = math.frexp(float(np.abs(values).max()))[1]
    return np.ldexp(values, -exponent), exponent


def _numbers(table: Table, name: str) -> FloatArray:
    """Return a column of numbers row by row, NaN where missing."""
    values = table.column(name).values.astype(np.float64)
    return np.asarray(np.append(values, np.nan)[table.codes[table.index(name)]])


def _describe_column(table: Table, name: str) -> ColumnDescription:
    column, codes = table.column(name), table.codes[table.index(name)]
    # Code -1, missing, comes first.
    counted = np.bincount(codes + 1, weights=table.counts, minlength=column.n_values + 1)
    frequencies: FloatArray = counted[1:].astype(np.float64)
    used = np.flatnonzero(frequencies)
    figures: dict[str, float | None] = {}
    if column.kind in _NUMBERS and len(used):
        values = column.values[used]
        figures = _figures(values.astype(np.float64), frequencies[used])
        figures |= {"minimum": values[0].item(), "maximum": values[-1].item()}
    return ColumnDescription(column.kind, int(counted[0]), len(used), **figures)


def _figures(values: FloatArray, frequencies: FloatArray) -> dict[str, float | None]:
    """Return mean, spread, shape and quartiles of ascending values that occur so often."""
    scaled, exponent = _scaled(values)
    n = int(frequencies.sum())
    # From the first value, so that the mean of equal values is that value.
    mean = float(scaled[0] + frequencies @ (scaled - scaled[0]) / n)
    deviations = scaled - mean
    second, third, fourth = (float(frequencies @ deviations**power) for power in (2, 3, 4))
    in_units = {
        "mean": mean,
        "std": math.sqrt(second / (n - 1)) if n > 1 else math.nan,
        "q1": _quantile(scaled, frequencies, 0.25),
        "median": _quantile(scaled, frequencies, 0.5),
        "q3": _quantile(scaled, frequencies, 0.75),
    }
    # A spread may be more than a float can hold.
    with np.errstate(over="ignore"):
        figures = {name: float(np.ldexp(value, exponent)) for name, value in in_units.items()}
    is_constant = scaled[0] == scaled[-1]
    return {
        **{name: value if math.isfinite(value) else None for name, value in figures.items()},
        "skewness": None if is_constant else _skewness(n, second, third),
        "kurtosis": None if is_constant else _kurtosis(n, second, fourth),
    }


def _skewness(n: int, second: float, third: float) -> float | None:
    """Return the adjusted Fisher-Pearson skewness from the sums of powers of n deviations."""
    return None if n < 3 else n * math.sqrt(n - 1) / (n - 2) * third / second**1.5


def _kurtosis(n: int, second: float, fourth: float) -> float | None:
    """Return the unbiased excess kurtosis (G2) from the sums of powers of n deviations."""
    if n < 4:
        return None
    return (n - 1) / ((n - 2) * (n - 3)) * (n * (n + 1) * fourth / second**2 - 3 * (n - 1))


def _quantile(values: FloatArray, frequencies: FloatArray, share: float) -> float:
    """Return the value at a share of the way through the records, linear between two of them."""
    reached = np.cumsum(frequencies)
    place = share * (reached[-1] - 1)
    below = math.floor(place)
    low, high = values[np.searchsorted(reached, [below, math.ceil(place)], side="right")]
    return float(low + (high - low) * (place - below))
