"""How alike a synthetic table is to its original, by the formulas of sdmetrics' quality and diagnostic reports.

And a table in figures: moments, quantiles and correlations of its numbers, missing cells of all its columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.columns import Column, Kind
from hushtable.kernels import group
from hushtable.tables import Table, encode_jointly, meet_tables

__all__ = [
    "ColumnDescription",
    "Description",
    "Diagnosis",
    "Figure",
    "Similarity",
    "describe_table",
    "diagnosis",
    "pearson",
    "similarity",
]

_NUMBER_KINDS: Final = ("integer", "decimal")


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """One column in figures.

    All but the first three are for numbers (integer, decimal), and None where they are not defined.
    """

    kind: Kind
    n_missing: int  # records without a value
    n_distinct: int  # different values that records have; a missing one is none
    # No repr: of a few records, these are somebody's values. Ends of a column of whole numbers are whole.
    mean: float | None = field(default=None, repr=False)
    median: float | None = field(default=None, repr=False)
    std: float | None = field(default=None, repr=False)  # with n - 1; of 2 records or more
    minimum: float | None = field(default=None, repr=False)
    maximum: float | None = field(default=None, repr=False)
    # Excess kurtosis, corrected for bias; of 4 records or more that are not all equal
    kurtosis: float | None = field(default=None, repr=False)
    # Corrected for bias; of 3 records or more that are not all equal
    skewness: float | None = field(default=None, repr=False)
    q1: float | None = field(default=None, repr=False)  # quartiles, linear between neighbours
    q3: float | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Description:
    """A table in figures."""

    n_rows: int  # records
    n_columns: int
    n_incomplete: int  # records with a missing cell, or several
    columns: Mapping[str, ColumnDescription] = field(repr=False)  # in the order of the table
    # Pearson's, in [-1, 1], of all pairs of columns of numbers, over the records that have both: the lower triangle of
    # the matrix row by row, so that the first of a pair is the later column of the table. None where a column is
    # constant on those records, or there are fewer than 2.
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


def describe_table(table: Table) -> Description:
    """Describe a table in the figures of pandas' ``describe``, ``skew``, ``kurt`` and ``corr``, from value counts.

    Notes
    -----
    From the frequencies of values: O(n) per column, O(n) per pair of columns of numbers. Departs from pandas in that
    skewness and kurtosis of a constant column are None, not 0: 0 would say that it is symmetric and normal.
    """
    table = table.take(np.flatnonzero(table.counts))
    described = {name: _describe_column(table, name) for name in table.names}
    numbers = {
        column.name: _numbers_of_rows(column.values.astype(np.float64), codes)
        for column, codes in zip(table.columns, table.codes, strict=True)
        if column.kind in _NUMBER_KINDS
    }
    pairs = [(later, earlier) for place, later in enumerate(numbers) for earlier in list(numbers)[:place]]
    return Description(
        n_rows=table.n_records,
        n_columns=len(table.columns),
        n_incomplete=int(table.counts[(table.codes < 0).any(axis=0)].sum()),
        columns=described,
        correlations={(a, b): pearson(numbers[a], numbers[b], table.counts) for a, b in pairs},
    )


def pearson(first: FloatArray, second: FloatArray, counts: CountArray) -> float | None:
    """Return the correlation over the rows that have both values (NaN is missing); None where one is constant there."""
    has_both = ~(np.isnan(first) | np.isnan(second))
    if not has_both.any():
        return None
    first, second, weights = first[has_both], second[has_both], counts[has_both].astype(np.float64)
    if first.min() == first.max() or second.min() == second.max():
        return None
    x, y = _deviations_from_mean(first, weights), _deviations_from_mean(second, weights)
    covariance = float((weights * x) @ y)
    variances = float((weights * x) @ x) * float((weights * y) @ y)
    return min(1.0, max(-1.0, covariance / math.sqrt(variances)))


def _deviations_from_mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return what values differ by from their mean, in a unit that their squares can be written in."""
    scaled, _ = _scale_to_one(values)
    return np.asarray(scaled - weights @ scaled / weights.sum())


def _scale_to_one(values: FloatArray) -> tuple[FloatArray, int]:
    """Divide values by a power of two, which is returned, so that the largest is near 1.

    Sums and squares can neither overflow nor vanish then, and nothing is rounded.
    """
    exponent = math.frexp(float(np.abs(values).max()))[1]
    return np.ldexp(values, -exponent), exponent


def _describe_column(table: Table, name: str) -> ColumnDescription:
    column, codes = table.column(name), table.codes[table.index(name)]
    # Code -1, missing, comes first.
    value_counts = np.bincount(codes + 1, weights=table.counts, minlength=column.n_values + 1)
    frequencies: FloatArray = value_counts[1:].astype(np.float64)
    used = np.flatnonzero(frequencies)
    figures: dict[str, float | None] = {}
    if column.kind in _NUMBER_KINDS and len(used):
        values = column.values[used]
        figures = _figures_of_values(values.astype(np.float64), frequencies[used])
        figures |= {"minimum": values[0].item(), "maximum": values[-1].item()}
    return ColumnDescription(column.kind, int(value_counts[0]), len(used), **figures)


def _figures_of_values(values: FloatArray, frequencies: FloatArray) -> dict[str, float | None]:
    """Return mean, spread, shape and quartiles of ascending values that occur so often."""
    scaled, exponent = _scale_to_one(values)
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
        # The adjusted Fisher-Pearson skewness.
        "skewness": None if is_constant or n < 3 else n * math.sqrt(n - 1) / (n - 2) * third / second**1.5,
        "kurtosis": None if is_constant else _kurtosis(n, second, fourth),
    }


def _kurtosis(n: int, second: float, fourth: float) -> float | None:
    """Return the unbiased excess kurtosis (G2) from the sums of powers of n deviations."""
    if n < 4:
        return None
    return (n - 1) / ((n - 2) * (n - 3)) * (n * (n + 1) * fourth / second**2 - 3 * (n - 1))


def _quantile(values: FloatArray, frequencies: FloatArray, share: float) -> float:
    """Return the value at a share of the way through the records, linear between two of them."""
    reached = np.cumsum(frequencies)
    position = share * (reached[-1] - 1)
    below = math.floor(position)
    low, high = values[np.searchsorted(reached, [below, math.ceil(position)], side="right")]
    return float(low + (high - low) * (position - below))


_N_BINS: Final = 10


class Figure(NamedTuple):
    """A figure in [0, 1], higher is more alike, and sdmetrics' name for it; None where it is not defined."""

    metric: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Similarity:
    """How alike a synthetic table is to its original; every figure is in [0, 1], 1 where nothing tells them apart."""

    score: float | None  # mean of the two that follow, of one where the other is not defined
    column_shapes: float | None  # mean of ``columns`` where they are defined
    column_pair_trends: float | None  # mean of ``pairs`` where they are defined
    columns: Mapping[str, Figure] = field(repr=False)  # ``KSComplement`` or ``TVComplement``
    # ``CorrelationSimilarity`` or ``ContingencySimilarity``; both in the order of the original
    pairs: Mapping[tuple[str, str], Figure] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, a pair as a row with the names of both columns."""
        return {
            "score": self.score,
            "column_shapes": self.column_shapes,
            "column_pair_trends": self.column_pair_trends,
            "columns": {name: figure._asdict() for name, figure in self.columns.items()},
            "pairs": [
                {"first": first, "second": second, **figure._asdict()} for (first, second), figure in self.pairs.items()
            ],
        }


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Whether a synthetic table is made like its original; every figure is in [0, 1], higher is better."""

    score: float | None  # mean of the two that follow, of one where the other is not defined
    data_validity: float | None  # mean of ``columns`` where they are defined
    data_structure: float | None  # columns that both tables have, of those that either has
    # ``BoundaryAdherence`` or ``CategoryAdherence``, of the columns that both tables have
    columns: Mapping[str, Figure] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "score": self.score,
            "data_validity": self.data_validity,
            "data_structure": self.data_structure,
            "columns": {name: figure._asdict() for name, figure in self.columns.items()},
        }


def similarity(original: Table, synthetic: Table) -> Similarity:
    r"""Compare what the columns of two tables are like, each by itself and in pairs; rows count their records.

    Numbers, dates and moments are measured. Whole and decimal numbers are of one kind, so are dates and moments;
    columns of other kinds that differ are compared by their texts (`hushtable.tables.joint.encode_jointly`).

    - ``KSComplement`` of a measured column: :math:`1 - \max_x |F(x) - G(x)|`, for the shares F and G of the values
      up to x. Records without a value are left out.
    - ``TVComplement`` of other columns: :math:`1 - \frac12 \sum_v |f(v) - g(v)|`, for the shares of each value.
      Records without one are left out.
    - ``CorrelationSimilarity`` of two measured columns: :math:`1 - \frac12 |r - s|`, for Pearson's correlations
      over the records that have both.
    - ``ContingencySimilarity`` of other pairs: the TVComplement of pairs of cells, where a missing cell is a value.
      A measured column is cut into 10 bins of equal width over the range of the original; the outer ones are open.

    A figure is None, and in no mean, where a table has no records to compare, a correlation where a column is constant
    on them, and the contingency with a column of which neither table has a value. O(n) for a column or a pair.

    The figures are those of sdmetrics 0.32 (its KSComplement rounds numbers to 14 decimals first). Its *report* departs
    from its own ContingencySimilarity, and we do not follow: it cuts each table by the table's own range, so that ages
    in months are as good as in years, and counts a missing number as the largest one. It also takes the mean over those
    pairs alone whose correlation in the original is above 0.5, or Cramer's V above 0.3, and a sample of 50,000 records;
    ours is over all, as in 0.14.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.encode(pl.DataFrame({"age": [31, 34, 52, 57], "job": ["clerk", "cook", "clerk", "clerk"]}))
    >>> made_up = Table.encode(pl.DataFrame({"age": [31, 34, 34, 57], "job": ["cook", "cook", "clerk", "clerk"]}))
    >>> alike = similarity(people, made_up)
    >>> alike
    Similarity(score=0.625, column_shapes=0.75, column_pair_trends=0.5)
    >>> alike.columns["age"], alike.pairs["age", "job"].value
    (Figure(metric='KSComplement', value=0.75), 0.5)
    """
    tables = _Both.from_tables(original, synthetic)
    columns = {column.name: _compare_shapes(column) for column in tables.columns}
    pairs = {(a.name, b.name): _compare_trends(tables, a, b) for a, b in combinations(tables.columns, 2)}
    shapes, trends = (
        _mean_of_known(each.value for each in columns.values()),
        _mean_of_known(each.value for each in pairs.values()),
    )
    return Similarity(_mean_of_known([shapes, trends]), shapes, trends, columns, pairs)


def diagnosis(original: Table, synthetic: Table) -> Diagnosis:
    """Ask whether a synthetic table keeps to the columns and values of its original.

    - ``BoundaryAdherence`` of a measured column: the share of synthetic records from the least to the largest original
      value. Those without a value are left out where the original misses some too, else they are outside.
    - ``CategoryAdherence`` of other columns: the share of synthetic records with a value that the original has;
      a missing one is a value.

    Notes
    -----
    A figure is None, and in no mean, where a table has no records to compare, and of a column of which neither table
    has a value. As sdmetrics 0.32, but that its structure tells columns of one name and two types apart, which
    depend on how a file was read, and that keys, which a table does not declare, are columns like others.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.encode(pl.DataFrame({"age": [31, 34, 52], "job": ["clerk", "cook", "clerk"]}))
    >>> made_up = Table.encode(pl.DataFrame({"age": [31, 34, 53, 54], "sex": ["f", "f", "m", "f"]}))
    >>> found = diagnosis(people, made_up)
    >>> found.columns
    {'age': Figure(metric='BoundaryAdherence', value=0.5)}
    >>> round(found.data_structure, 4), round(found.score, 4)
    (0.3333, 0.4167)
    """
    tables = _Both.from_tables(original, synthetic)
    columns = {column.name: _measure_adherence(column) for column in tables.columns}
    all_names = set(original.names) | set(synthetic.names)
    structure = len(columns) / len(all_names) if all_names else None
    validity = _mean_of_known(each.value for each in columns.values())
    return Diagnosis(_mean_of_known([structure, validity]), validity, structure, columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """A column that both tables have, the original's rows above the synthetic ones."""

    name: str
    codes: CodeArray  # (n_rows,), in the order of the values; -1 is missing
    frequencies: FloatArray  # (2, 1 + n_values), records of each value in each table, the missing ones first
    numbers: FloatArray | None  # (n_values,), of a measured column: its values

    @property
    def is_empty(self) -> bool:
        """Whether neither table has a value."""
        return not self.frequencies[:, 1:].any()


@dataclass(frozen=True, slots=True, eq=False)
class _Both:
    """Two tables in one code, the original's rows above the synthetic ones."""

    is_synthetic: BoolArray  # (n_rows,)
    counts: CountArray  # (n_rows,)
    columns: tuple[_Shared, ...]

    @classmethod
    def from_tables(cls, original: Table, synthetic: Table) -> _Both:
        """Return the rows that count of the columns that both tables have."""
        names = [name for name in original.names if name in synthetic.names]
        tables = meet_tables(
            [table.select(names).take(np.flatnonzero(table.counts)) for table in (original, synthetic)]
        )
        joint = encode_jointly(tables)
        is_synthetic = np.repeat([False, True], [table.n_rows for table in tables])
        counts = np.concatenate([table.counts for table in tables])
        columns = []
        for name, values, *codes in zip(names, joint.values, *(rows.codes for rows in joint.tables), strict=True):
            stacked = np.concatenate(codes)
            frequencies = _count_keys(stacked + 1, len(values) + 1, is_synthetic, counts)
            numbers = _as_numbers([table.column(name) for table in tables], values)
            columns.append(_Shared(name, stacked, frequencies, numbers))
        return cls(is_synthetic, counts, tuple(columns))


def _as_numbers(columns: Sequence[Column], values: Sequence[Any]) -> FloatArray | None:
    """Return the values of a measured column as numbers, as the columns were coded together; None for others."""
    # A column without values is of any kind.
    kinds = {column.kind for column in columns if column.n_values} or {column.kind for column in columns}
    if kinds <= {"integer", "decimal"}:
        return np.array(values, dtype=np.float64)
    if kinds <= {"time"}:
        return np.array(values, dtype="timedelta64[us]").astype(np.int64).astype(np.float64)
    if kinds <= {"date", "datetime"}:
        return np.array(values, dtype="datetime64[us]").astype(np.int64).astype(np.float64)
    return None


def _compare_shapes(column: _Shared) -> Figure:
    frequencies = column.frequencies[:, 1:]
    if column.numbers is None:
        return Figure("TVComplement", _tv_complement(frequencies))
    shares = _shares_of_tables(np.cumsum(frequencies, axis=1), frequencies.sum(axis=1))
    return Figure("KSComplement", None if shares is None else 1 - float(np.abs(shares[0] - shares[1]).max()))


def _compare_trends(tables: _Both, first: _Shared, second: _Shared) -> Figure:
    if first.numbers is not None and second.numbers is not None:
        numbers = _numbers_of_rows(first.numbers, first.codes), _numbers_of_rows(second.numbers, second.codes)
        return Figure("CorrelationSimilarity", _correlation_similarity(tables, *numbers))
    if first.is_empty or second.is_empty:
        return Figure("ContingencySimilarity", None)
    (first_codes, n_first), (second_codes, n_second) = _categories_of_rows(first), _categories_of_rows(second)
    # Only the pairs that occur are numbered: there may be more of others than memory holds.
    pairs = np.empty_like(first_codes)
    n_pairs = group.refine_classes(first_codes + np.int32(1), n_first + 1, second_codes, n_second, pairs)
    frequencies = _count_keys(pairs, n_pairs, tables.is_synthetic, tables.counts)
    return Figure("ContingencySimilarity", _tv_complement(frequencies))


def _correlation_similarity(tables: _Both, first: FloatArray, second: FloatArray) -> float | None:
    original, synthetic = (
        pearson(first[rows], second[rows], tables.counts[rows]) for rows in (~tables.is_synthetic, tables.is_synthetic)
    )
    return None if original is None or synthetic is None else 1 - abs(original - synthetic) / 2


def _measure_adherence(column: _Shared) -> Figure:
    original, synthetic = column.frequencies
    allowed, is_asked = original > 0, np.ones(len(original), dtype=bool)
    if column.numbers is not None:
        allowed = np.append(allowed[0], _mark_between(allowed[1:]))
        is_asked[0] = not allowed[0]
    n_asked = synthetic[is_asked].sum()
    is_defined = n_asked > 0 and original.any() and not column.is_empty
    value = float(synthetic[is_asked & allowed].sum() / n_asked) if is_defined else None
    return Figure("CategoryAdherence" if column.numbers is None else "BoundaryAdherence", value)


def _mark_between(marks: BoolArray) -> BoolArray:
    """Mark everything from the first mark to the last."""
    return np.asarray(np.logical_or.accumulate(marks) & np.logical_or.accumulate(marks[::-1])[::-1])


def _categories_of_rows(column: _Shared) -> tuple[CodeArray, int]:
    """Return the value or bin of each row, to compare with a category, -1 where missing; and how many there are."""
    if column.numbers is None:
        return column.codes, column.frequencies.shape[1] - 1
    bins = np.append(_bins_of_values(column.numbers, column.frequencies[0, 1:] > 0), -1)
    return np.asarray(bins[column.codes], dtype=np.int32), _N_BINS


def _bins_of_values(values: FloatArray, is_original: BoolArray) -> CountArray:
    """Return the bin of each of ascending values, from 0 on, over the range of the original's.

    As `numpy.histogram_bin_edges` cuts it: a range of one value is 1 wide.
    """
    if not is_original.any():
        return np.zeros(len(values), dtype=np.int64)
    # The width of a range of floats may overflow, that of their halves does not.
    halves = values / 2
    low, high = halves[is_original][[0, -1]]
    if low == high:
        low, high = low - 0.25, high + 0.25
    edges = np.linspace(low, high, _N_BINS + 1)
    return np.searchsorted(edges[1:-1], halves, side="right")


def _numbers_of_rows(numbers: FloatArray, codes: CodeArray) -> FloatArray:
    """Return a measured column's numbers row by row, NaN where missing."""
    return np.asarray(np.append(numbers, np.nan)[codes])


def _count_keys(keys: Any, n_keys: int, is_synthetic: BoolArray, counts: CountArray) -> FloatArray:
    """Return how many records of each table have each key, shape (2, n_keys)."""
    sums = np.bincount(keys + is_synthetic * n_keys, weights=counts, minlength=2 * n_keys)
    return np.asarray(sums, dtype=np.float64).reshape(2, n_keys)


def _tv_complement(frequencies: FloatArray) -> float | None:
    shares = _shares_of_tables(frequencies, frequencies.sum(axis=1))
    # Rounded shares of different values may add up to a little more than 1.
    return None if shares is None else max(0.0, 1 - float(np.abs(shares[0] - shares[1]).sum()) / 2)


def _shares_of_tables(frequencies: FloatArray, totals: FloatArray) -> FloatArray | None:
    """Return the shares of each table's records; None where a table has none."""
    return np.asarray(frequencies / totals[:, None]) if totals.all() else None


def _mean_of_known(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are defined."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None
