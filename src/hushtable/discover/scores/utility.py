"""What a column set says about a target column: how well its classes predict or describe it.

Every score but `completeness` leaves out records without a target, and classes of such records alone. Definitions
weigh classes by their records; the paper takes the mean over classes, which for an identifying column set is the mean
over single records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.discover.scores import base
from hushtable.discover.scores.base import Direction, Score, ScoreVariant, View
from hushtable.discover.scores.catalogue import Trend, register_score
from hushtable.errors import ColumnError
from hushtable.models import Histogram
from hushtable.tables import Partition

_EXAMPLE_PEOPLE: Final = """>>> import polars as pl
>>> people = pl.DataFrame({"sex": list("ffmm"), "pay": [30, 40, 50, None], "ill": ["flu", "hiv", "flu", "flu"]})"""
_MEASURED_SECTIONS: Final = {
    "Parameters": "target : str\n    A column of numbers or dates (in days).",
    "Raises": "ColumnError\n    The target has no differences of values.",
}


class TargetScore(Protocol):
    """How a score about a target is called."""

    def __call__(
        self,
        data: Any,
        columns: Sequence[str],
        *,
        target: str,
        variant: ScoreVariant = "definition",
        partition: Partition | None = None,
    ) -> Score:
        """Score a column set."""


@dataclass(frozen=True, slots=True, eq=False)
class TargetClasses:
    """What the classes hold of a target: the counts of its known values, and how many records of each have one."""

    view: View
    name: str
    histogram: Histogram
    records: FloatArray
    is_paper: bool

    @classmethod
    def from_data(
        cls, data: Any, columns: Sequence[str], name: str, variant: ScoreVariant, partition: Partition | None
    ) -> TargetClasses:
        """Count the target values of every class."""
        is_paper = base.is_of_paper(variant)
        view = base.build_view(data, columns, [name], partition)
        histogram = view.histogram_without_missing(name)
        return cls(view, name, histogram, histogram.sum_by_class(histogram.counts), is_paper)

    def target_numbers(self, score: str) -> FloatArray:
        """Return the number of each count, dates in days; raise ColumnError if the target has no differences."""
        column = self.view.column(self.name)
        if not column.is_measured:
            raise ColumnError(
                f"the {score} needs a target of numbers or dates; column {column.name!r} is {column.kind}.",
                hint="name a measured column, or give its kind in specs when the table is encoded.",
            )
        if column.is_temporal:
            microseconds = column.values.astype("datetime64[us]").astype(np.int64)
            return np.asarray(microseconds / 86_400_000_000)[self.histogram.codes]
        return column.values.astype(np.float64)[self.histogram.codes]

    def build_score(
        self, name: str, values: FloatArray | CountArray, unit: str, direction: Direction, sizes: Any = None
    ) -> Score:
        """Make the score of one value a class; each is about its records with a target, unless given ``sizes``."""
        value = base.mean_over_classes if self.is_paper else base.mean_over_records
        about = np.asarray(self.records if sizes is None else sizes, dtype=np.int64)
        return base.score_by_class(name, self.view, values, value=value, unit=unit, direction=direction, sizes=about)


@dataclass(frozen=True, slots=True)
class TargetEntry:
    """The entry of a score about a target: it makes the statistic of classes below it a public function."""

    name: str
    unit: str
    direction: Direction
    trend: Trend
    returns: str  # the range, and what else to know of the values
    example: tuple[str, float]  # a target of `_EXAMPLE_PEOPLE`, and what their column ``sex`` scores about it
    paper_unit: str | None = None  # where the paper's variant has another
    is_measured: bool = False  # whether the statistic reads `target_numbers`
    counts_missing: bool = False  # whether a class counts all its records, not only those with a target

    def __call__(self, statistic: Callable[[TargetClasses], FloatArray | CountArray]) -> TargetScore:
        """Make the public function, which has the statistic's name and summary."""

        def score(
            data: Any,
            columns: Sequence[str],
            *,
            target: str,
            variant: ScoreVariant = "definition",
            partition: Partition | None = None,
        ) -> Score:
            classes = TargetClasses.from_data(data, columns, target, variant, partition)
            sizes = classes.view.partition.sizes if self.counts_missing else None
            unit = self.paper_unit if self.paper_unit and classes.is_paper else self.unit
            return classes.build_score(self.name, statistic(classes), unit, self.direction, sizes)

        score.__name__ = score.__qualname__ = statistic.__name__
        score.__doc__ = statistic.__doc__
        never = f"Never {'falls' if self.trend > 0 else 'rises'} when a column is added (the definition)."
        target, value = self.example
        return register_score(
            self.trend,
            Returns=f"Score\n    {self.returns}\n    {never}",
            Examples=f'{_EXAMPLE_PEOPLE}\n>>> {statistic.__name__}(people, ["sex"], target="{target}").value\n{value}',
            **(_MEASURED_SECTIONS if self.is_measured else {}),
        )(score)


@TargetEntry(
    "mean squared error",
    "squared units of the target",
    "worse",
    trend=-1,
    returns="At least 0; a class's value is its variance.",
    example=("pay", 16.666666666666668),
    is_measured=True,
)
def mean_squared_error(classes: TargetClasses) -> FloatArray:
    """Score how far the target is from the mean of its class, squared."""
    numbers, histogram, n_records = (
        classes.target_numbers("mean squared error"),
        classes.histogram,
        np.maximum(classes.records, 1),
    )
    # Deviations from the class's own mean: no difference of large squares.
    deviations = numbers - (histogram.sum_by_class(histogram.counts * numbers) / n_records)[histogram.labels()]
    return histogram.sum_by_class(histogram.counts * deviations**2) / n_records


@TargetEntry(
    "accuracy",
    "rate",
    "better",
    trend=1,
    returns="In (0, 1]. Judged on the records it was learned from: a column set that singles everybody out scores 1.",
    example=("ill", 0.75),
)
def accuracy(classes: TargetClasses) -> FloatArray:
    """Score how many records have the most frequent target value of their class."""
    return classes.histogram.max_by_class(classes.histogram.counts) / np.maximum(classes.records, 1)


@TargetEntry(
    "range",
    "rate",
    "worse",
    trend=-1,
    returns="In [0, 1] (the definition); 0 where the whole target is constant.",
    example=("pay", 0.3333333333333333),
    paper_unit="units of the target",
    is_measured=True,
)
def value_range(classes: TargetClasses) -> FloatArray:
    """Score how wide the target ranges within the classes.

    Parameters
    ----------
    variant : {"definition", "paper"}
        max - min of a class over max - min of the table, mean over the records: no
        unit, so that targets compare. The paper does not scale, mean over the classes.
    """
    numbers, histogram = classes.target_numbers("range"), classes.histogram
    widths = histogram.max_by_class(numbers, -math.inf) + histogram.max_by_class(-numbers, -math.inf)
    widths = np.where(classes.records > 0, widths, 0.0)
    span = float(np.ptp(numbers)) if len(numbers) else 0.0
    return widths if classes.is_paper or span == 0 else widths / span


@TargetEntry(
    "distinct values",
    "values",
    "worse",
    trend=-1,
    returns="At least 1. A class's value is its distinct l-diversity.",
    example=("ill", 1.5),
)
def distinct_values(classes: TargetClasses) -> CountArray:
    """Score how many different target values the classes hold."""
    return classes.histogram.n_distinct()


@TargetEntry(
    "completeness",
    "rate",
    "better",
    trend=1,
    returns="In [0, 1]. The definition is the share of the records, which is the same for every column set.",
    example=("pay", 0.75),
    counts_missing=True,
)
def completeness(classes: TargetClasses) -> FloatArray:
    """Score how many records of a class have a target value at all."""
    return classes.records / classes.view.partition.sizes


@TargetEntry("gini", "rate", "worse", trend=-1, returns="In [0, 1).", example=("ill", 0.25))
def gini(classes: TargetClasses) -> FloatArray:
    """Score how mixed the target is within the classes: the chance that two draws differ."""
    shares = classes.histogram.counts / classes.records[classes.histogram.labels()]
    return np.where(classes.records > 0, 1 - classes.histogram.sum_by_class(shares**2), 0.0)


@register_score(trend=1)
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
    corrected : bool
        Take off what a column set of that many classes would seem to tell by chance: (n_cells - n_classes - n_values +
        1) / (2 n ln 2), to first order in 1 / n. Without it every key has a gain of H(target).
    variant : {"definition", "paper"}
        The mean over the records, which is the mutual information, or the paper's over the classes, which is not.

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
    classes = TargetClasses.from_data(data, columns, target, variant, partition)
    histogram, records = classes.histogram, classes.records
    totals = np.bincount(histogram.codes, weights=histogram.counts).astype(np.int64)
    everything = Histogram(np.array([0, np.count_nonzero(totals)]), np.empty(0, np.int32), totals[totals > 0])
    values = everything.entropies(np.log2)[0] - histogram.entropies(np.log2)
    if corrected:
        n_classes, n_values = np.count_nonzero(records), np.count_nonzero(totals)
        excess = len(histogram.codes) - n_classes - n_values + 1
        values = values - excess / (2 * max(records.sum(), 1.0) * math.log(2))
    name = "corrected information gain" if corrected else "information gain"
    return classes.build_score(name, values, "bits", "better")
