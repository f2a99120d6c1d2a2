"""What can still be learned from a release: columns, pairs of them, means, and a model, beside the original's."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations, pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.claims import ClaimOnColumns
from hushtable.columns import Column, escape_html, to_json_values, value_text
from hushtable.errors import InputError, check_columns
from hushtable.io import Frame, frames, latex_of
from hushtable.quality import cell_values as spreads
from hushtable.quality.cell_values import Spread, Standing, read_column, with_claim_spelling
from hushtable.quality.prediction import Prediction, compare_on_originals, compare_on_rows
from hushtable.quality.regression import Regression
from hushtable.wording import table_html

_MAX_BINS: Final = 10
_MIN_RECORDS: Final = 11  # records that share what is named
_OUTSIDE_SHARE: Final = 0.01  # of the records, on either side, in the open bins; at least so many as are named
_STEPS_IN_MONTHS: Final = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
_STEPS_IN_MINUTES: Final = (1, 5, 15, 30, 60, 120, 180, 360)
_MICROSECONDS_PER_MINUTE: Final = 60_000_000
_MISSING_LABEL: Final = "missing"
_OTHERS_LABEL: Final = "all others"


@dataclass(frozen=True, slots=True)
class Distribution:
    """Shares of records by place."""

    # Bins between round numbers or days, the outer ones open; of a category, the most frequent values of those that 11
    # records share, and all others. The missing value is last, where there is one.
    places: tuple[str, ...] = field(repr=False)
    original: tuple[float | None, ...] = field(repr=False)  # in [0, 1]; None of a bin with 1 to 10 records
    release: tuple[float, ...] = field(repr=False)  # what the published cells say, in [0, 1]


def distribution(standing: Standing) -> Distribution | None:
    """Count the records of the original and of the release by place; None where a side says nothing."""
    sides = standing.original, standing.released
    if standing.column.is_measured:
        edges, labels = _bin_edges(standing)
        counts = [_count_by_place(each, spreads.shares_by_bin(each, edges)) for each in sides]
    else:
        values = _most_frequent(standing.original)
        texts = standing.column.texts()
        labels = [texts[value] for value in values.tolist()]
        counts = [_with_others(each, _count_by_place(each, spreads.shares_by_value(each, values))) for each in sides]
        labels.append(_OTHERS_LABEL)
    totals = [float(each.counts.sum()) for each in sides]
    if not all(totals):
        return None
    labels.append(_MISSING_LABEL)
    original, released = counts
    bins = [place for place in range(len(labels)) if original[place] > 0 or released[place] > 0]
    return Distribution(
        tuple(labels[place] for place in bins),
        tuple(None if 0 < original[place] < _MIN_RECORDS else float(original[place] / totals[0]) for place in bins),
        tuple(float(released[place] / totals[1]) for place in bins),
    )


def _count_by_place(spread: Spread, shares: FloatArray) -> FloatArray:
    """Return the records of every place, from the shares of each cell."""
    return np.asarray(spread.counts @ shares)


def _with_others(spread: Spread, counts: FloatArray) -> FloatArray:
    """Insert the records that are in no place before those of the missing value."""
    rest = max(0.0, float(spread.counts.sum() - counts.sum()))
    return np.insert(counts, len(counts) - 1, rest if rest > 1e-6 else 0.0)


def _most_frequent(original: Spread) -> np.ndarray:
    """Return the codes of the most frequent values, ascending."""
    counts = np.bincount(original.low.astype(np.int64), weights=original.share * original.counts[original.cell])
    order = np.argsort(-counts, kind="stable")[:_MAX_BINS]
    return np.sort(order[counts[order] >= _MIN_RECORDS])


def _bin_edges(standing: Standing) -> tuple[FloatArray, list[str]]:
    """Return round edges between bins as places, and what the bins are called."""
    column, axis, original = standing.column, standing.axis, standing.original
    order = np.argsort(original.low)
    records = (original.share * original.counts[original.cell])[order]
    reached, n = np.cumsum(records), float(records.sum())
    outside = max(_OUTSIDE_SHARE * n, _MIN_RECORDS)
    if 2 * outside >= n:
        return np.empty(0), ["all values"]
    ends = [float(original.low[order][int(np.searchsorted(reached, at))]) for at in (outside, n - outside)]
    if column.kind in ("date", "datetime"):
        texts, labels = _round_days(column, axis.first, ends)
    elif column.kind == "time":
        texts, labels = _round_times(axis.first, ends)
    else:
        texts, labels = _round_numbers(axis.number_at(ends[0]), axis.number_at(ends[1]), column.kind)
    if not texts:
        return np.empty(0), ["all values"]
    names = [f"<{labels[0]}", *(f"{low}–{high}" for low, high in pairwise(labels)), f"≥{labels[-1]}"]
    return np.array([float(place) for place in axis.places_of_bounds(texts)]), names


def _round_numbers(low: float, high: float, kind: str) -> tuple[list[str], list[str]]:
    """Return multiples of 1, 2 or 5 times a power of ten between two numbers, at most so many."""
    min_step = 1.0 if kind == "integer" else 0.0
    if not high > low:
        return [], []
    power = 10.0 ** math.floor(math.log10((high - low) / _MAX_BINS))
    step = next(each for each in (2, 5, 10, 20) if (high - low) / (each * power) <= _MAX_BINS - 2) * power
    step = max(step, min_step)
    multiples = np.arange(math.floor(low / step) + 1, math.ceil(high / step)) * step
    exact = [float(f"{each:.12g}") for each in multiples.tolist()]
    return [repr(each) for each in exact], [f"{each:,.12g}" for each in exact]


def _round_days(column: Column, first: float, ends: list[float]) -> tuple[list[str], list[str]]:
    """Return first days of months, quarters or years between two days, at most so many."""
    dtype = "datetime64[D]" if column.kind == "date" else column.values.dtype
    whole = np.array([int(place) + int(first) for place in ends]).astype(dtype)
    low, high = whole.astype("datetime64[M]").astype(np.int64) + 1970 * 12
    step = next((each for each in _STEPS_IN_MONTHS if (high - low) / each <= _MAX_BINS - 2), _STEPS_IN_MONTHS[-1])
    months = np.arange(low // step + 1, high // step + 1) * step
    days = (months - 1970 * 12).astype("datetime64[M]").astype("datetime64[D]").astype(str).tolist()
    return days, [day[:4] if step % 12 == 0 else day[:7] for day in days]


def _round_times(first: float, ends: list[float]) -> tuple[list[str], list[str]]:
    """Return multiples of some minutes or hours between two times of a day, at most so many."""
    low, high = ((int(place) + int(first)) // _MICROSECONDS_PER_MINUTE for place in ends)
    step = next((each for each in _STEPS_IN_MINUTES if (high - low) / each <= _MAX_BINS - 2), _STEPS_IN_MINUTES[-1])
    minutes = np.arange(low // step + 1, high // step + 1) * step
    texts = [value_text("time", np.datetime64(minute, "m")) for minute in minutes.tolist()]
    return texts, texts


_N_BINS: Final = 10
_MAX_VALUES_IN_PAIRS: Final = 200  # of a category in pairs; with more, nearly every pair of cells occurs once


@dataclass(frozen=True, slots=True)
class ColumnUtility:
    """What is left of one column."""

    name: str
    kind: str = ""  # of the original; empty where it is not judged
    measure: str = ""  # "total variation" of categories; of measured ones "Wasserstein-1", over the original's range
    distance: float | None = None  # in [0, 1], 0 where the column is as it was; None where it is not judged
    # The share of the published records whose cell is ``*``; they are in no other figure
    untold_rate: float | None = None
    # Of numbers, with 1/n: the original's, and what the published cells say. No repr: of few records they are values.
    mean: float | None = field(default=None, repr=False)
    released_mean: float | None = field(default=None, repr=False)
    variance: float | None = field(default=None, repr=False)
    released_variance: float | None = field(default=None, repr=False)
    reason: str = ""  # why it is not judged
    # Shares of records by place, before and after; it names values, and is in no dictionary
    distribution: Distribution | None = field(default=None, repr=False)

    @property
    def mean_shift(self) -> float | None:
        """How far the mean moved, in standard deviations of the original; None where that is 0 or not defined."""
        if self.mean is None or self.released_mean is None or not self.variance:
            return None
        return float((self.released_mean - self.mean) / np.sqrt(self.variance))

    @property
    def variance_ratio(self) -> float | None:
        """The released variance over the original's; None where that is 0 or not defined."""
        if self.released_variance is None or not self.variance:
            return None
        return self.released_variance / self.variance


@dataclass(frozen=True, slots=True)
class PairUtility:
    """How two columns go together."""

    first: str
    second: str
    measure: str
    original: float | None  # Cramer's V in [0, 1], Spearman's in [-1, 1]; None where a column is constant
    release: float | None

    @property
    def difference(self) -> float | None:
        """The release's figure less the original's; None where one is not defined."""
        return None if self.original is None or self.release is None else self.release - self.original


@dataclass(frozen=True, slots=True)
class Utility:
    """What can still be learned from a release.

    Attributes
    ----------
    n_original, n_release : int
        Records.
    columns : tuple of ColumnUtility
        Of the release, in its order.
    pairs : tuple of PairUtility
        Of columns that are judged: Cramer's V of all, Spearman's correlation of measured ones too.
    target : Prediction, optional
        A model trained on the release, beside one trained on originals.
    regression : Regression, optional
        A regression on the release beside the one on the original.
    source : str
        The dataframe library that `to_frame` answers in.
    """

    n_original: int
    n_release: int
    columns: tuple[ColumnUtility, ...]
    pairs: tuple[PairUtility, ...] = field(repr=False)
    target: Prediction | None = None
    regression: Regression | None = None
    source: str = field(default="polars", compare=False, repr=False)

    def column(self, name: str) -> ColumnUtility:
        """Return what is left of a column."""
        check_columns([name], [each.name for each in self.columns], "columns of the release")
        return next(each for each in self.columns if each.name == name)

    def to_frame(self) -> Any:
        """Return a row for every column, in a frame of the library that the data came in."""
        titles = ("name", "kind", "measure", "distance", "untold_rate", "mean", "released_mean")
        more = ("mean_shift", "variance", "released_variance", "variance_ratio", "reason")
        return frames.assemble(self._columns_by_title((*titles, *more)), self.source)

    def to_latex(self) -> str:
        """Return how far every column moved as a LaTeX table (booktabs); internal, as the means of the original are."""
        return latex_of(self._columns_by_title(("name", "measure", "distance", "untold_rate", "mean", "released_mean")))

    def _columns_by_title(self, titles: Sequence[str]) -> dict[str, list[Any]]:
        return {title: [getattr(column, title) for column in self.columns] for title in titles}

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        figures = {
            "n_original": self.n_original,
            "n_release": self.n_release,
            "columns": [
                {
                    **{name: figure for name, figure in asdict(each).items() if name != "distribution"},
                    "mean_shift": each.mean_shift,
                    "variance_ratio": each.variance_ratio,
                }
                for each in self.columns
            ],
            "pairs": [{**asdict(each), "difference": each.difference} for each in self.pairs],
            "target": None if self.target is None else self.target.to_dict(),
            "regression": None if self.regression is None else self.regression.to_dict(),
        }
        return dict(to_json_values(figures))

    def _repr_html_(self) -> str:
        titles = ("column", "distance (0: as it was)", "records *", "mean shift (sd)", "variance ratio", "")
        rows = [
            (each.name, _format_figure(each.distance),
             _format_figure(each.untold_rate), _format_figure(each.mean_shift),
             _format_figure(each.variance_ratio), each.reason)
            for each in self.columns
        ]  # fmt: skip
        model = "" if self.target is None else f"<p>{escape_html(self.target.sentence)}</p>"
        fitted = "" if self.regression is None else self.regression._repr_html_()
        return f"{table_html([titles, *rows])}{model}{fitted}"


class SampledRows(NamedTuple):
    """Which rows of an original a release publishes, and how some are held out."""

    source_rows: CountArray  # (n_published_rows,), the row of the original of every published one
    held_out: float  # the share of the original's rows that no model is trained on


def measure_utility(
    original: Frame,
    released: Frame,
    claim: ClaimOnColumns,
    *,
    pseudonyms: Collection[str] = (),
    target: str | None = None,
    rows: SampledRows | None = None,
    held_out: Frame | None = None,
    seed: int = 0,
) -> Utility:
    """Compare what the cells of a release stand for (`hushtable.quality.cell_values`) with the original.

    A target is tested on the held-out `rows` if it is known which row was published as which, else on the originals
    `held_out`. Rows then stand for one record each.

    Notes
    -----
    What a cell stands for: see `hushtable.quality.cell_values`. Pairs: a record's cells are taken to be independent of
    one another, so that the joint distribution is :math:`P_a^T N P_b` for the counts N of pairs of cells and the
    shares P of values in them; numbers in 10 bins of equal width over the original's range, a missing value as one
    more. Categories of more than 200 values are in no pair. O(n) for a column or pair, besides what lists cover.
    """
    original, source = with_claim_spelling(original, claim), frames.library_of(original)
    released = released.drop(claim.bound_columns)
    read: dict[str, Standing] = {}
    columns = []
    for name in released.columns:
        try:
            read[name] = read_column(original, released, claim, name, pseudonyms)
        except InputError as error:
            # Without its hint.
            columns.append(ColumnUtility(name, reason=str(error).partition("\n")[0]))
        else:
            columns.append(_measure_column(read[name]))
    predicted = None
    if target is not None:
        check_columns([target], released.columns, "target")
        if target not in read:
            reason = next(each.reason for each in columns if each.name == target)
            raise InputError(f"target {target!r} is not judged: {reason}", hint="predict another column.")
        if rows is not None:
            predicted = compare_on_rows(read, target, rows.source_rows, rows.held_out, seed)
        elif held_out is not None:
            predicted = compare_on_originals(read, target, with_claim_spelling(held_out, claim), seed)
        else:
            raise InputError(
                "there are no rows to test a model on.", hint="pass originals that are not in the release."
            )
    pairs = tuple(_measure_pairs(read.values()))
    return Utility(original.n_records, released.n_records, tuple(columns), pairs, predicted, source=source)


def with_all_columns(utility: Utility, names: Sequence[str]) -> Utility:
    """Return a utility with all columns of a release, in their order; those that were not measured say why not."""
    measured = {each.name: each for each in utility.columns}
    unseen = "it is kept as it is, and its rows are not in memory."
    return replace(utility, columns=tuple(measured.get(name, ColumnUtility(name, reason=unseen)) for name in names))


def _measure_column(standing: Standing) -> ColumnUtility:
    """Measure one column."""
    column, axis, original, released = standing.column, standing.axis, standing.original, standing.released
    rate = released.untold_rate
    if not column.is_measured:
        distance = spreads.total_variation(original, released)
        reason, shares = ("", distribution(standing)) if distance is not None else (_explain_no_value(original), None)
        return ColumnUtility(
            column.name, column.kind, "total variation", distance, rate, reason=reason, distribution=shares
        )
    distance = spreads.wasserstein(original, released)
    if distance is None:
        return ColumnUtility(column.name, column.kind, "Wasserstein-1", None, rate, reason=_explain_no_value(original))
    # A constant column has no range: whatever is moved is moved all the way.
    over_range = min(1.0, distance / axis.length) if axis.length > 0 else float(distance > 0)
    shares = distribution(standing)
    measured = ColumnUtility(column.name, column.kind, "Wasserstein-1", over_range, rate, distribution=shares)
    if column.kind not in ("integer", "decimal"):
        return measured
    (mean, variance), (released_mean, released_variance) = (
        (axis.number_at(mean), axis.variance_of_numbers(variance))
        for mean, variance in map(spreads.mean_and_variance, (original, released))
    )
    return replace(
        measured, mean=mean, variance=variance, released_mean=released_mean, released_variance=released_variance
    )


def _explain_no_value(original: Spread) -> str:
    has_value = (original.counts * (1 - original.missing)).any()
    return "no cell of the release says a value." if has_value else "the original has no value."


def _measure_pairs(read: Iterable[Standing]) -> Iterable[PairUtility]:
    """Measure pairs of columns."""
    columns = [each for each in read if each.column.is_measured or _n_values(each) <= _MAX_VALUES_IN_PAIRS]
    bins = {each.column.name: _shares_in_bins(each) for each in columns}
    for a, b in combinations(columns, 2):
        names = a.column.name, b.column.name
        figures = []
        for side, (first, second) in enumerate([(a.original, b.original), (a.released, b.released)]):
            figures.append(spreads.cramers_v(_count_joint_bins(first, second, *(bins[name][side] for name in names))))
        yield PairUtility(*names, "Cramer's V", *figures)
        if a.column.is_measured and b.column.is_measured:
            ranks = [
                spreads.rank_correlation(a.original, b.original),
                spreads.rank_correlation(a.released, b.released),
            ]
            yield PairUtility(*names, "Spearman", *ranks)


def _shares_in_bins(standing: Standing) -> tuple[FloatArray, FloatArray]:
    """Return the shares of each cell in the bins of a pair: of the original's cells and of the published ones."""
    sides = standing.original, standing.released
    if standing.column.is_measured:
        edges = np.linspace(0, standing.axis.length, _N_BINS + 1)[1:-1]
        return spreads.shares_by_bin(sides[0], edges), spreads.shares_by_bin(sides[1], edges)
    values = np.arange(_n_values(standing))
    return spreads.shares_by_value(sides[0], values), spreads.shares_by_value(sides[1], values)


def _n_values(standing: Standing) -> int:
    """Count the values of a category, those that only the release has among them."""
    return int(max(each.low.max(initial=-1) for each in (standing.original, standing.released))) + 1


def _count_joint_bins(first: Spread, second: Spread, first_shares: FloatArray, second_shares: FloatArray) -> FloatArray:
    """Return how often bins of two columns of one table come together, over the rows in which both say something."""
    from scipy import sparse

    rows, columns, counts = _pairs_of_cells(first, second)
    # Whether cells say something is asked of distinct pairs, which are fewer than rows.
    used = first.is_informative[rows] & second.is_informative[columns]
    joint_counts = sparse.csr_array((counts[used], (rows[used], columns[used])), shape=(first.n_cells, second.n_cells))
    return np.asarray(first_shares.T @ (joint_counts @ second_shares))


def _pairs_of_cells(first: Spread, second: Spread) -> tuple[CountArray, CountArray, CountArray]:
    """Return the distinct pairs of cells that stand in a record, ascending, and in how many records each does."""
    n_keys = first.n_cells * second.n_cells
    keys: CountArray = first.rows * np.array(second.n_cells, dtype=np.int32 if n_keys < 2**31 else np.int64)
    keys += second.rows
    if n_keys <= len(keys):
        counts = np.bincount(keys, weights=first.records, minlength=n_keys)
        pairs = np.flatnonzero(counts)
        counts = counts[pairs]
    elif first.records is None:
        pairs, counts = np.unique(keys, return_counts=True)
    else:
        pairs, inverse = np.unique(keys, return_inverse=True)
        counts = np.bincount(inverse, weights=first.records)
    return (*np.divmod(pairs, max(1, second.n_cells)), counts)


def _format_figure(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"
