"""Draws of what published cells stand for: every cell from what it covers, given everything else in the release.

Data augmentation (Tanner & Wong, "The calculation of posterior distributions by data augmentation", JASA 82, 1987).
Draws of a number given the others follow a normal regression, those of a category a normal discriminant; both are
restricted to what the cell covers, and weighted by how frequent values are in the release. The regression is drawn
anew for every draw, by the Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981) of classes, not of records: a
class's records were given their cells together, and errors that take them for independent are too small.

Draws know the cells of columns outside the model too, as a class is cut where its records lie in all columns. Without
them slopes are off by far more than their errors (Collins, Schafer & Kam, "A comparison of inclusive and restrictive
strategies in modern missing data procedures", Psychological Methods 6, 2001). Where cells end at values that their
class holds, its records are drawn together (`quality.ends`); how far open cells reach is drawn too (`open_ends`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.errors import InputError
from hushtable.quality.cell_values import Spread, Standing, mean_of_cells
from hushtable.quality.ends import HIGH, LOW, HeldEnds
from hushtable.quality.open_ends import Tail, extend_open_cells

_MAX_POINTS_PER_CELL: Final = 64
_MAX_CATEGORIES: Final = 60  # of a column in the model
_SWEEPS_BEFORE: Final = 30  # over all columns, until draws forget where they began
_SWEEPS_BETWEEN: Final = 10  # from one draw to the next
_MAX_OTHER_CATEGORIES: Final = 10  # categories of a column that is not in the model
_PRIOR_RECORDS_PER_FEATURE: Final = 1.0  # prior records, for each feature, that say: nothing depends on it
_MIN_SHAPE: Final = 1e-3  # of a tail, which falls off exponentially at 0
_MIN_SHARE: Final = 1e-9  # above 0: what a cell covers never becomes impossible


@dataclass(frozen=True, slots=True, eq=False)
class ModelColumn:
    """A column of a model: what its cells stand for, as points with weights."""

    is_number: bool
    texts: tuple[str, ...]  # of a category
    cell_of_row: CountArray = field(repr=False)  # (n_rows,)
    # By cell, what it may be, and how much of all records is there; nothing of a missing cell
    points: tuple[FloatArray, ...] = field(repr=False)
    base: tuple[FloatArray, ...] = field(repr=False)
    original: FloatArray = field(repr=False)  # (n_original,), NaN is missing
    means: FloatArray = field(repr=False)  # (n_cells,), NaN where a cell tells no mean
    rows_of_cell: tuple[CountArray, ...] = field(repr=False)
    ends: HeldEnds | None = field(repr=False)
    tails: tuple[Tail, ...] = field(repr=False)  # of open cells
    axis_points: tuple[FloatArray, ...] = field(repr=False)  # the points, as places on the axis
    is_whole: bool
    has_scale: bool  # false of numbers whose cells name a single bound: how wide anything is, they do not tell

    @classmethod
    def from_standing(cls, standing: Standing, ends: HeldEnds | None, *, is_flag: bool) -> ModelColumn:
        """Lay out a column; a category that is a flag is the number 0 or 1."""
        column, released = standing.column, standing.released
        is_number = column.is_measured or is_flag
        if not is_number and column.n_values > _MAX_CATEGORIES:
            raise InputError(
                f"column {column.name!r} has {column.n_values} categories.",
                hint=f"a model takes columns of at most {_MAX_CATEGORIES} categories.",
            )
        reach = _extend_open_cells(standing)
        reached, tails = (released, ()) if reach is None else reach
        points = _points_of_cells(reached)
        weights = _frequencies_of_points(points, reached, ends)

        def to_numbers(of_places: FloatArray) -> FloatArray:
            if not column.is_measured or column.kind in ("date", "datetime", "time"):
                return of_places
            return np.array([standing.axis.number_at(place) for place in of_places.tolist()])

        original = mean_of_cells(standing.original)[standing.original.rows]
        means = mean_of_cells(released) if column.is_measured else np.full(released.n_cells, np.nan)
        if not column.is_measured:
            is_point = np.array([len(each) == 1 for each in points])
            means[is_point] = [float(each[0]) for each in points if len(each) == 1]
        order = np.argsort(released.rows, kind="stable").astype(np.int64)
        starts = np.cumsum(np.bincount(released.rows, minlength=released.n_cells))[:-1]
        return cls(
            is_number,
            tuple(column.texts()) if not is_number else (),
            np.asarray(released.rows, dtype=np.int64),
            tuple(map(to_numbers, points)),
            weights,
            to_numbers(original) if column.is_measured else original,
            to_numbers(means) if column.is_measured else means,
            tuple(np.split(order, starts)),
            ends,
            tails,
            tuple(points),
            released.is_whole,
            has_scale=reach is not None,
        )

    def with_tails(self, rng: np.random.Generator) -> ModelColumn:
        """Return the column with tails whose shape is drawn anew."""
        if not self.tails:
            return self
        base = [each.copy() for each in self.base]
        for tail in self.tails:
            shape = -max(_MIN_SHAPE, rng.random())
            for at, shares in zip(self.axis_points, base, strict=True):
                beyond = tail.holds(at)
                densities = tail.densities(at[beyond], shape, is_whole=self.is_whole)
                if densities.any():
                    # How many records lie beyond the bound stays: what is drawn is where.
                    shares[beyond] = np.maximum(densities / densities.sum(), _MIN_SHARE) * shares[beyond].sum()
        return replace(self, base=tuple(base))

    @property
    def is_certain(self) -> bool:
        """Whether no cell leaves a choice."""
        return all(len(each) <= 1 for each in self.points)

    def mean_cells(self) -> FloatArray:
        """Return the mean of every row's cell."""
        return self.means[self.cell_of_row]


def points_of(standing: Standing) -> list[FloatArray]:
    """Return the places that each cell may be, open ones as far as they may reach."""
    reach = _extend_open_cells(standing)
    return _points_of_cells(standing.released if reach is None else reach[0])


def _extend_open_cells(standing: Standing) -> tuple[Spread, tuple[Tail, ...]] | None:
    """Return a column with open cells as far as they may reach, and its tails; None where its scale is not told."""
    if not standing.column.is_measured:
        return standing.released, ()
    is_dated = standing.column.kind in ("date", "datetime", "time")
    return extend_open_cells(standing.released, None if is_dated else standing.axis.zero)


def features_of_cells(standing: Standing) -> FloatArray:
    """Return what cells tell of each record, (n_rows, n_features): means, or shares of frequent categories."""
    column, released = standing.column, standing.released
    if column.is_measured:
        return mean_of_cells(released)[released.rows][:, None]
    points = points_of(standing)
    shares = np.zeros((released.n_cells, column.n_values + 1))
    for cell, (at, share) in enumerate(zip(points, _frequencies_of_points(points, released, None), strict=True)):
        shares[cell, np.minimum(at.astype(np.int64), column.n_values)] = share / max(1e-300, share.sum())
    rows = shares[released.rows]
    return np.asarray(rows[:, np.argsort(-rows.sum(axis=0), kind="stable")[:_MAX_OTHER_CATEGORIES]])


def _points_of_cells(released: Spread) -> list[FloatArray]:
    """Return the places that each cell may be; every cell's together for one that tells nothing."""
    of_cells: list[list[FloatArray]] = [[] for _ in range(released.n_cells)]
    for cell, low, width in zip(released.cell.tolist(), released.low.tolist(), released.width.tolist(), strict=True):
        of_cells[cell].append(_points_of_run(low, width, is_whole=released.is_whole))
    points = [np.unique(np.concatenate(each)) if each else np.empty(0) for each in of_cells]
    known_points = [each for each in points if len(each)]
    everything = np.unique(np.concatenate(known_points)) if known_points else np.empty(0)
    if len(everything) > _MAX_POINTS_PER_CELL:
        everything = everything[np.linspace(0, len(everything) - 1, _MAX_POINTS_PER_CELL).astype(int)]
    return [
        everything if not told_ else each for each, told_ in zip(points, released.is_informative.tolist(), strict=True)
    ]


def _points_of_run(low: float, width: float, *, is_whole: bool) -> FloatArray:
    if is_whole:
        n = max(1, round(width))
        return np.asarray(
            low + (np.arange(n) if n <= _MAX_POINTS_PER_CELL else np.linspace(0, n - 1, _MAX_POINTS_PER_CELL).round())
        )
    if width <= 0:
        return np.array([low])
    return low + width * (np.arange(_MAX_POINTS_PER_CELL) + 0.5) / _MAX_POINTS_PER_CELL


def _frequencies_of_points(
    points: Sequence[FloatArray], released: Spread, ends: HeldEnds | None
) -> tuple[FloatArray, ...]:
    """Return how frequent the points of each cell are in the release as a whole.

    The likeliest frequencies given the cells (Turnbull, JRSS B 38, 1976): of whole numbers and categories, whose points
    are the same in every cell. Points of others are equally frequent. Ends that a class holds are counted as held.
    """
    if not released.is_whole:
        return tuple(np.full(len(each), 1 / max(1, len(each))) for each in points)
    domain = np.unique(np.concatenate(points)) if len(points) else np.empty(0)
    at = [np.searchsorted(domain, each) for each in points]
    counts = np.bincount(released.rows, minlength=len(points)).astype(np.float64)
    share = np.full(len(domain), 1 / max(1, len(domain)))
    if ends is not None:
        counts -= ends.n_rows_of_cells(len(points))
    for _ in range(50):
        added = np.zeros(len(domain))
        if ends is not None:
            within = [share[each] / share[each].sum() if len(each) else share[each] for each in at]
            for index, expected in zip(at, ends.estimate_counts(points, within), strict=True):
                added[index] += expected
        for cell, index in enumerate(at):
            if len(index) and counts[cell]:
                added[index] += counts[cell] * share[index] / share[index].sum()
        # Nothing that a cell covers becomes impossible: half a record more has each value.
        share = (added + 0.5) / (added + 0.5).sum()
    return tuple(share[each] for each in at)


def draw_cells(
    variables: Mapping[str, ModelColumn],
    outcome: Callable[[Mapping[str, FloatArray]], FloatArray],
    other_features: FloatArray,
    classes: CountArray,
    n_draws: int,
    rng: np.random.Generator,
) -> list[dict[str, FloatArray]]:
    """Draw all cells ``n_draws`` times in one chain (Gibbs): each column in turn, given the others as drawn last.

    `outcome` computes every row's outcome from the drawn cells; `other_features` are (n_rows, n_features).
    """
    other_features = _standardize(other_features)
    open_ones = [name for name, variable in variables.items() if not variable.is_certain]
    draws: list[dict[str, FloatArray]] = []
    cells = {name: _draw_first_cells(variable, rng) for name, variable in variables.items()}
    while len(draws) < n_draws:
        lots = rng.exponential(size=int(classes.max(initial=0)) + 1)[classes]
        drawn_ones = {name: variables[name].with_tails(rng) for name in open_ones}
        for _ in range(_SWEEPS_BETWEEN if draws else _SWEEPS_BEFORE):
            for name, variable in drawn_ones.items():
                features = np.column_stack([_features_of_rows(variables, cells, name, outcome(cells)), other_features])
                cells[name] = _redraw_column(variable, cells[name], features, lots, rng)
        draws.append(dict(cells))
    return draws


def _draw_first_cells(variable: ModelColumn, rng: np.random.Generator) -> FloatArray:
    """Draw every row's cell by how frequent values are."""
    cells = np.full(len(variable.cell_of_row), np.nan)
    for points, base, rows in zip(variable.points, variable.base, variable.rows_of_cell, strict=True):
        if len(points) and len(rows):
            cells[rows] = rng.choice(points, len(rows), p=base / base.sum())
    return cells


def _features_of_rows(
    variables: Mapping[str, ModelColumn], cells: Mapping[str, FloatArray], name: str, outcome: FloatArray
) -> FloatArray:
    """Return the features of each row for one column: the outcome, other numbers, and a flag for each category."""
    columns = [outcome]
    for other_name, variable in variables.items():
        if other_name == name:
            continue
        if variable.is_number:
            columns.append(cells[other_name])
        else:
            columns += [(cells[other_name] == code).astype(np.float64) for code in range(1, len(variable.texts))]
    return _standardize(np.column_stack(columns))


def _standardize(features: FloatArray) -> FloatArray:
    """Return features with mean 0 and deviation 1, 0 where nothing is known; without those that are constant."""
    kept_columns = features[:, ~np.isnan(features).all(axis=0)]
    deviations = np.nanstd(kept_columns, axis=0)
    kept_columns = kept_columns[:, deviations > 0]
    return np.asarray(np.nan_to_num((kept_columns - np.nanmean(kept_columns, axis=0)) / deviations[deviations > 0]))


def _redraw_column(
    variable: ModelColumn, cells: FloatArray, features: FloatArray, lots: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draw a column anew, each row from what its cell covers, given its features."""
    is_known = ~np.isnan(cells)
    with_one = np.column_stack([np.ones(len(cells)), features])
    if variable.is_number:
        log_ratio = _fit_normal(with_one, cells, is_known, lots, rng)
    else:
        log_ratio = _fit_discriminant(variable, features, cells, is_known, rng)
    new_cells = cells.copy()
    first, last = np.zeros(len(cells)), np.zeros(len(cells))
    ends = np.full((len(cells), 2), np.nan)
    cells_ = zip(variable.points, variable.base, variable.rows_of_cell, strict=True)
    for cell, (points, base, rows) in enumerate(cells_):
        if len(points) < 2 or not len(rows):
            continue
        scores = np.log(base)[None, :] + log_ratio(rows, points)
        if variable.ends is not None:
            chances = np.exp(scores - scores.max(axis=1, keepdims=True))
            chances /= chances.sum(axis=1, keepdims=True)
            n_first, n_last = variable.ends.parts[cell]
            first[rows], last[rows] = chances[:, :n_first].sum(axis=1), chances[:, -n_last:].sum(axis=1)
            ends[rows, 0] = _draw_points(points[:n_first], scores[:, :n_first], rng)
            ends[rows, 1] = _draw_points(points[-n_last:], scores[:, -n_last:], rng)
            if len(points) > n_first + n_last:
                scores, points = scores[:, n_first:-n_last], points[n_first:-n_last]
        new_cells[rows] = _draw_points(points, scores, rng)
    if variable.ends is None:
        return new_cells
    row_ends = variable.ends.draw_ends(first, last, rng)
    return np.where(row_ends == LOW, ends[:, 0], np.where(row_ends == HIGH, ends[:, 1], new_cells))


def _draw_points(points: FloatArray, scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw a point for each row by the exponentials of its scores."""
    # The position of the largest score, each with Gumbel noise added, is such a draw.
    return np.asarray(points[(scores + rng.gumbel(size=scores.shape)).argmax(axis=1)])


def _fit_normal(features: FloatArray, cells: FloatArray, known: Any, lots: FloatArray, rng: np.random.Generator) -> Any:
    """Return how much likelier points are for a row than for all, by a normal regression of rows with drawn weights."""
    x, y = features[known], cells[known]
    weighted = (lots[known] / lots[known].mean())[:, None] * x
    prior = _PRIOR_RECORDS_PER_FEATURE * np.eye(x.shape[1])
    prior[0, 0] = _MIN_SHARE
    slopes = np.linalg.solve(weighted.T @ x + prior, weighted.T @ y)
    residuals = y - x @ slopes
    degrees = max(1, len(y) - x.shape[1])
    # The first feature is 1, and its weights are the records'.
    variance = max(float(weighted[:, 0] @ residuals**2), 1e-12) / rng.chisquare(degrees)
    centre, total_variance = float(y.mean()), max(float(y.var()), variance)
    expected = features @ slopes

    def log_likelihood_ratio(rows: CountArray, points: FloatArray) -> FloatArray:
        conditional = (points[None, :] - expected[rows][:, None]) ** 2 / variance
        return np.asarray((points - centre)[None, :] ** 2 / total_variance - conditional) / 2

    return log_likelihood_ratio


def _fit_discriminant(
    variable: ModelColumn, features: FloatArray, cells: FloatArray, is_known: Any, rng: np.random.Generator
) -> Any:
    """Return how much likelier categories are for a row than for all, by normal features with drawn means."""
    codes = cells[is_known].astype(np.int64)
    n_codes = max(len(variable.texts), int(codes.max(initial=0)) + 1)
    x = features[is_known]
    counts = np.bincount(codes, minlength=n_codes)
    means = np.zeros((n_codes, x.shape[1]))
    for j in range(x.shape[1]):
        means[:, j] = np.bincount(codes, weights=x[:, j], minlength=n_codes) / np.maximum(1, counts)
    within = x - means[codes]
    covariance = within.T @ within / max(1, len(x) - n_codes) + 1e-3 * np.eye(x.shape[1])
    noise = rng.normal(size=means.shape) @ np.linalg.cholesky(covariance).T
    means = means + noise / np.sqrt(np.maximum(1, counts))[:, None]
    slopes = np.linalg.solve(covariance, means.T)
    offsets = -0.5 * (means * slopes.T).sum(axis=1)

    def log_likelihood_ratio(rows: CountArray, points: FloatArray) -> FloatArray:
        at = points.astype(np.int64)
        return np.asarray(features[rows] @ slopes[:, at] + offsets[at])

    return log_likelihood_ratio
