"""Score: what a measure says of a column set, as a whole and class by class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray, ValueArray, freeze_array
from hushtable.columns import Column, escape_html, to_json_values
from hushtable.errors import ColumnError, InputError, check_columns
from hushtable.io import frames
from hushtable.models import Histogram
from hushtable.plots import charts
from hushtable.tables import Partition, Table, encode_table, open_table

Direction = Literal["safer", "riskier", "better", "worse"]
ScoreVariant = Literal["definition", "paper"]
Plot = Literal["histogram", "ecdf", "qq"]

_QUANTILES: Final = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """One number about a column set, with the parts that it is made of.

    Attributes
    ----------
    name : str
    value : float
        The score by its definition; which aggregate of the parts that is, each function says.
    unit : str
        For instance "records", "values", "rate" (in [0, 1]), "bits".
    direction : {"safer", "riskier", "better", "worse"}
        What a higher value means: for the people in the table (safer, riskier), or
        for who uses the data or judges a selection (better, worse).
    part : {"class", "column", "whole"}
        What the parts are.
    labels : ndarray, shape (n_parts,), read-only
        The number of each class, as in ``Partition.from_table(table, columns).labels``, or the name of each column.
    values : ndarray of float64, shape (n_parts,), read-only
        One value a part. A class with nothing to measure is not among them; a column
        that cannot be measured is NaN, which ``mean`` and ``summary`` leave out.
    sizes : ndarray of int64, shape (n_parts,), read-only
        How many records each value is about.
    source : str
        The dataframe library that ``to_frame`` answers in.
    of_sizes : bool
        Whether the values follow from the sizes of the classes alone, which no normal distribution describes.
    view : View, optional
        The table and its partition, which tell what the records of each class share.

    Examples
    --------
    >>> import polars as pl
    >>> from hushtable.discover import scores
    >>> people = pl.DataFrame({"age": [31, 31, 52, 60], "sex": ["f", "f", "m", "m"]})
    >>> score = scores.k_anonymity(people, ["age"])
    >>> score
    Score(name='k-anonymity', value=1, unit='records', higher is safer, 3 classes)
    >>> score.values.tolist(), score.mean, score.weighted_mean
    ([2.0, 1.0, 1.0], 1.3333333333333333, 1.5)
    """

    name: str
    value: float
    unit: str
    direction: Direction
    part: Literal["class", "column", "whole"]
    labels: ValueArray = field(repr=False)
    values: FloatArray = field(repr=False)
    sizes: CountArray = field(repr=False)
    source: str = field(default="polars", repr=False)
    of_sizes: bool = field(default=False, repr=False)
    view: View | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for array in (self.labels, self.values, self.sizes):
            freeze_array(array)

    def __repr__(self) -> str:
        parts = "" if self.part == "whole" else f", {len(self.values)} {_PLURALS[self.part]}"
        details = f"value={self.value:.6g}, unit={self.unit!r}, higher is {self.direction}"
        return f"Score(name={self.name!r}, {details}{parts})"

    def __float__(self) -> float:
        return self.value

    @property
    def mean(self) -> float:
        """The mean over the parts, every part counting the same."""
        return _mean_without_nan(self.values, np.ones(len(self.values)))

    @property
    def weighted_mean(self) -> float:
        """The mean over the records."""
        return _mean_without_nan(self.values, self.sizes)

    def summary(self) -> dict[str, float]:
        """Describe how the values of the parts are distributed, every part counting the same.

        Returns
        -------
        dict
            ``n``, ``mean``, ``weighted_mean``, ``sd`` and ``variance`` (of the parts themselves: divided by n),
            ``min``, ``max``, ``q05``, ``q25``, ``median``, ``q75``, ``q95``, ``skewness`` and ``kurtosis`` (0 for a
            normal distribution), which are NaN where all values are equal, ``mode`` (the lowest of the most frequent
            values) and ``mode_count``. Where a value is infinite there is no ``sd``, ``variance`` or shape: NaN.
        """
        values = np.sort(self.values[~np.isnan(self.values)])
        described = {"n": float(len(values)), "mean": self.mean, "weighted_mean": self.weighted_mean}
        if not len(values):
            return described
        deviations = values - values.mean() if np.isfinite(values).all() else np.full(len(values), np.nan)
        variance = float((deviations**2).mean())
        # Equal values differ from their mean by rounding only, which would pass for a shape.
        shape_variance = variance if values[0] < values[-1] else math.nan
        modes, counts = np.unique(values, return_counts=True)
        return {
            **described,
            "sd": math.sqrt(variance),
            "variance": variance,
            "min": float(values[0]),
            "max": float(values[-1]),
            **{name: _interpolate_quantile(values, q) for name, q in _QUANTILES.items()},
            "skewness": float((deviations**3).mean()) / shape_variance**1.5,
            "kurtosis": float((deviations**4).mean()) / shape_variance**2 - 3,
            "mode": float(modes[counts.argmax()]),
            "mode_count": float(counts.max()),
        }

    def to_frame(self, *, named: bool = False) -> Any:
        """Return the parts as a dataframe of the kind that went in (polars for a path or a Table).

        Columns ``class`` or ``column``, ``size`` and ``value``.

        Parameters
        ----------
        named : bool
            Add what the records of each class share, a column ``class NAME`` for each column of the set, as text:
            which group is the worst. That may name people: it is internal.

        Raises
        ------
        InputError
            The parts are no classes.
        """
        columns = {self.part: self.labels.tolist(), "size": self.sizes.tolist(), "value": self.values.tolist()}
        if not named:
            return frames.assemble(columns, self.source)
        if self.view is None:
            raise InputError(f"the parts of {self.name} are no classes.", hint="leave named out.")
        partition = self.view.partition
        first = partition.rows[partition.offsets[self.labels]].astype(np.int64)
        cells = self.view.table.select(self.view.columns).take(first)
        names = {
            f"class {column.name}": [None if code < 0 else column.text(code) for code in codes.tolist()]
            for column, codes in zip(cells.columns, cells.codes, strict=True)
        }
        return frames.assemble({**columns, **names}, self.source)

    def to_dict(self) -> dict[str, Any]:
        """Return the score and its summary as plain values; what is not a number is None."""
        entries = {name: getattr(self, name) for name in ("name", "value", "unit", "direction", "part")}
        found: dict[str, Any] = to_json_values({**entries, "summary": self.summary()}, tells_infinity=False)
        return found

    def plot(self, kind: Plot = "histogram", *, ax: Any = None) -> Any:
        """Draw the values of the parts; return the matplotlib axes.

        Parameters
        ----------
        kind : {"histogram", "ecdf", "qq"}
            The quantiles are drawn beside those of a normal distribution of the same mean and sd, and so is the
            empirical distribution function, unless the values follow from the sizes of classes.
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.
        """
        ecdf = partial(charts.ecdf, normal=not self.of_sizes)
        draw = choose("kind", kind, {"histogram": charts.histogram, "ecdf": ecdf, "qq": charts.qq})
        finite = self.values[np.isfinite(self.values)]
        if not len(finite):
            raise InputError(f"{self.name} has no finite value to draw.", hint="look at the values themselves.")
        return draw(finite, label=f"{self.name} ({self.unit})", ax=ax)

    def _repr_html_(self) -> str:
        parts = "" if self.part == "whole" else f"; mean over {_PLURALS[self.part]} {self.mean:.4g}"
        name, unit = escape_html(self.name), escape_html(self.unit)
        return f"<b>{name}</b> {self.value:.4g} {unit} (higher is {self.direction}){parts}"


def _mean_without_nan(values: FloatArray, weights: FloatArray | CountArray) -> float:
    known = ~np.isnan(values)
    total = float(weights[known].sum())
    # Infinities of both signs have no mean, which is an answer and not a fault.
    with np.errstate(invalid="ignore"):
        return float(values[known] @ weights[known]) / total if total else math.nan


def _interpolate_quantile(ascending: FloatArray, share: float) -> float:
    """Interpolate as np.quantile does, which makes NaN of two equal infinite values."""
    position = share * (len(ascending) - 1)
    low, high = float(ascending[math.floor(position)]), float(ascending[math.ceil(position)])
    fraction = position % 1
    return low if low == high else (1 - fraction) * low + fraction * high


_PLURALS: Final = {"class": "classes", "column": "columns", "whole": "wholes"}


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What a score looks at: a coded table, the column set, its partition."""

    table: Table
    columns: tuple[str, ...]
    partition: Partition
    source: str = "polars"  # the dataframe library that the data came in

    def column(self, name: str, what: str = "the column") -> Column:
        """Return a column, or raise ColumnError where it does not exist."""
        check_columns([name], self.table.names, what)
        return self.table.column(name)

    def histogram_without_missing(self, name: str) -> Histogram:
        """Return the class-by-value counts of a column, missing values left out."""
        self.column(name)
        return self.partition.histogram(self.table, name).without_missing()


def build_view(
    data: Any, columns: Sequence[str], more_columns: Sequence[str | None] = (), partition: Partition | None = None
) -> View:
    """Encode the column set and ``more_columns`` (targets and the like); partition the rows by the column set.

    A ``partition`` that was given is checked instead, O(n) per column.
    """
    column_names, more_names = column_set(columns), tuple(name for name in more_columns if name is not None)
    for name in more_names:
        if not isinstance(name, str):
            raise ColumnError(f"a column is named by an object of type {type(name).__name__}.", hint="name one column.")
    frame = open_table(data)
    names = frame.names
    check_columns(column_names, names, "columns")
    check_columns(tuple(dict.fromkeys(more_names)), names, "columns")
    table = encode_table(frame, tuple(dict.fromkeys((*column_names, *more_names))))
    source = frames.library_of(data)
    check_records(table.n_records)
    if partition is None:
        return View(table, column_names, Partition.from_table(table, column_names), source)
    _check_partition(partition, table, column_names)
    return View(table, column_names, partition, source)


def column_set(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a column set; raise ColumnError where it is one text."""
    if isinstance(columns, str):
        raise ColumnError("columns is one text.", hint=f"pass a list of names: [{columns!r}].")
    return tuple(columns)


def check_records(n_records: int) -> None:
    """Raise InputError where there is nothing to score."""
    if n_records == 0:
        raise InputError("there are no records to score.", hint="pass a table with rows.")


def _check_partition(partition: Partition, table: Table, columns: Sequence[str]) -> None:
    """Raise InputError where classes are not the records that are equal on the columns, and all of them."""
    if len(partition.labels) != table.n_rows:
        what = f"the partition is of {len(partition.labels)} rows, the table has {table.n_rows}"
    elif partition.n_records != table.n_records:
        what = f"the partition is of {partition.n_records} records, the table has {table.n_records}"
    else:
        first = partition.rows[partition.offsets[:-1]]
        one_a_class = Partition.from_table(table.select(columns).take(first.astype(np.int64)))
        is_even = all((codes[first][partition.labels] == codes).all() for codes in table.select(columns).codes)
        if is_even and one_a_class.n_classes == partition.n_classes:
            return
        what = "the classes of the partition are not those of the columns"
    raise InputError(f"{what}.", hint="pass the partition of this table by these columns, or none.")


def score_by_class(
    name: str,
    view: View,
    values: FloatArray | CountArray,
    *,
    value: Any,
    unit: str,
    direction: Direction,
    sizes: CountArray | None = None,
    of_sizes: bool = False,
) -> Score:
    """Build the score of a view from one value a class; ``value`` aggregates the values and sizes to one number.

    ``sizes`` are the records of each class where not given; classes of size 0 are left out. ``of_sizes`` says that the
    values follow from the sizes alone.
    """
    weights = view.partition.sizes if sizes is None else sizes
    is_occupied = weights > 0
    values, weights = np.asarray(values, dtype=np.float64)[is_occupied], weights[is_occupied].astype(np.int64)
    labels: CodeArray = np.flatnonzero(is_occupied).astype(np.int32)
    mean = float(value(values, weights)) if len(values) else math.nan
    return Score(name, mean, unit, direction, "class", labels, values, weights, view.source, of_sizes, view)


def score_by_column(
    name: str,
    view: View,
    values: Sequence[float],
    *,
    value: float,
    unit: str,
    direction: Direction,
    sizes: Sequence[int] | None = None,
) -> Score:
    """Build the score of a view from one value a column; ``sizes`` are all records where not given."""
    labels = np.array(view.columns, dtype=object)
    n_records = np.full(len(labels), view.table.n_records) if sizes is None else np.array(sizes, dtype=np.int64)
    return Score(
        name,
        float(value),
        unit,
        direction,
        "column",
        labels,
        np.array(values, float),
        n_records.astype(np.int64),
        view.source,
    )


def score_without_parts(
    name: str, value: float, *, unit: str, direction: Direction, size: int, source: str = "polars"
) -> Score:
    """Build a score that has no parts."""
    one = np.array([value], dtype=np.float64)
    labels = np.array([name], dtype=object)
    return Score(name, float(value), unit, direction, "whole", labels, one, np.array([size]), source)


def is_of_paper(variant: ScoreVariant) -> bool:
    """Tell whether a score is asked for as the paper has it; InputError if neither variant is asked for."""
    return bool(choose("variant", variant, {"definition": False, "paper": True}))


def choose(parameter: str, word: str, values_by_word: Any) -> Any:
    """Return what a word stands for; raise InputError where it is none of those known."""
    if word not in values_by_word:
        raise InputError(f"{parameter} = {word!r}.", hint=f"choose one of {', '.join(map(repr, values_by_word))}.")
    return values_by_word[word]


def mean_over_classes(values: FloatArray, sizes: CountArray) -> float:
    """Return the mean over the classes: the paper's aggregate, in which a single record weighs as much as a crowd."""
    return float(values.mean())


def mean_over_records(values: FloatArray, sizes: CountArray) -> float:
    """Return the mean over the records."""
    return float(values @ sizes / sizes.sum())


def lowest(values: FloatArray, sizes: CountArray) -> float:
    """Return the lowest value of any class."""
    return float(values.min())


def highest(values: FloatArray, sizes: CountArray) -> float:
    """Return the highest value of any class."""
    return float(values.max())


def import_extra(module: str) -> Any:
    """Import a module of the extra ``causal``, or say how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(
            f"this needs {module.partition('.')[0]!r}, which is not installed.", hint="pip install 'hushtable[causal]'"
        ) from None
