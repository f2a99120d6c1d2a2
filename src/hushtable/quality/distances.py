"""A column whose cells stand for several values each, as arrays: how its mass lies, and how far two of them are apart.

A column of numbers or dates lies on a line: whole numbers and days one by one, others without a gap. Of a category,
the values' codes are its places. A cell is made of runs of places, and its records are spread evenly over each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray

__all__ = [
    "Spread",
    "binned",
    "by_value",
    "cramers_v",
    "middles",
    "moments",
    "rank_correlation",
    "total_variation",
    "wasserstein",
]

_NO_VARIANCE: Final = 1e-12  # a variance of ranks that is nothing but rounding


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """What the cells of a column stand for.

    Attributes
    ----------
    rows : ndarray of int32, shape (n_rows,)
        The cell of every row, one of the distinct ones.
    is_told : ndarray of bool, shape (n_cells,)
        False for ``*``, which says nothing.
    missing : ndarray of float64, shape (n_cells,)
        The share of the missing value in each cell; the runs have the rest.
    cell : ndarray of int64, shape (n_runs,)
        Which cell a run is of.
    low, width : ndarray of float64, shape (n_runs,)
        Where a run begins, and how far it reaches: so many places, the first included, where they are whole.
    share : ndarray of float64, shape (n_runs,)
        Of its cell, in (0, 1].
    is_whole : bool
        Whether places are 0, 1, 2 ...; else runs hold all numbers, and one of width 0 is a single number.
    """

    rows: CodeArray = field(repr=False)
    is_told: BoolArray = field(repr=False)
    missing: FloatArray = field(repr=False)
    cell: CountArray = field(repr=False)
    low: FloatArray = field(repr=False)
    width: FloatArray = field(repr=False)
    share: FloatArray = field(repr=False)
    is_whole: bool

    @property
    def n_cells(self) -> int:
        """How many distinct cells there are."""
        return len(self.is_told)

    @property
    def counts(self) -> FloatArray:
        """Rows of every cell that says something."""
        return _added(self.rows, self.is_told[self.rows].astype(np.float64), self.n_cells)

    @property
    def untold_rate(self) -> float:
        """The share of the rows whose cell says nothing; 0 without rows."""
        return float(1 - self.is_told[self.rows].mean()) if len(self.rows) else 0.0

    def weights(self, counts: FloatArray) -> FloatArray:
        """Return the share of every run in the mass of all, from the rows of every cell; zeros where there is none."""
        mass = self.share * counts[self.cell]
        return np.asarray(mass / max(float(counts @ (1 - self.missing)), np.finfo(float).tiny))

    @property
    def centres(self) -> FloatArray:
        """The mean place of every run."""
        return self.low + (self.width - self.is_whole) / 2


def total_variation(first: Spread, second: Spread) -> float | None:
    r"""Return :math:`\frac12 \sum_v |f(v) - g(v)|` of the shares of the places, a missing value one of them; in [0, 1].

    None where one of them has no row that says something.
    """
    n_places = int(max(first.low.max(initial=-1), second.low.max(initial=-1))) + 1
    shares = []
    for each in (first, second):
        counts = each.counts
        if not counts.any():
            return None
        mass = _added(each.low.astype(np.int64), each.share * counts[each.cell], n_places)
        shares.append(np.append(mass, counts @ each.missing) / counts.sum())
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def wasserstein(first: Spread, second: Spread) -> float | None:
    r"""Return :math:`\int |F(x) - G(x)| dx`: how far mass must be carried on average; of whole places a sum over them.

    Missing values are left out. None where one of them has no value.
    """
    parts = [(each, each.counts) for each in (first, second)]
    if not all((counts * (1 - each.missing)).any() for each, counts in parts):
        return None
    runs = np.stack([np.concatenate([first.low, second.low]), np.concatenate([first.width, second.width])])
    # Equal runs meet first, so that equal columns differ by nothing, not by what rounding leaves.
    (low, width), run = np.unique(runs, axis=1, return_inverse=True)
    places = np.split(run.reshape(-1), [len(first.low)])
    ours, theirs = (
        _added(place, each.weights(counts), len(low)) for place, (each, counts) in zip(places, parts, strict=True)
    )
    mass = _Mass.of(low, width, ours - theirs)
    return float(_area(mass.start, mass.end, np.diff(mass.edges), is_whole=first.is_whole).sum())


def moments(spread: Spread) -> tuple[float, float]:
    r"""Return mean and variance of the places, over the rows with a value, of which there is one at least.

    The variance is that of the means of runs and, weighed, that within them: :math:`w^2 / 12` over a width of w,
    :math:`(n^2 - 1) / 12` over n whole places (the law of total variance, with 1/n).
    """
    weights = spread.weights(spread.counts)
    # From one of them, so that equal values have a variance of 0; rounded once, so that no order of cells shows.
    origin = float(spread.centres.min())
    mean = math.fsum(weights * (spread.centres - origin))
    between = math.fsum(weights * (spread.centres - origin - mean) ** 2)
    within = math.fsum(weights * (spread.width**2 - spread.is_whole) / 12)
    return origin + mean, between + within


def middles(spread: Spread) -> FloatArray:
    """Return the mean place of every cell; NaN where it says nothing, or missing."""
    sums = _added(spread.cell, spread.share * spread.centres, spread.n_cells)
    has_value = spread.is_told & (spread.missing < 1)
    return np.where(has_value, sums / np.where(has_value, 1 - spread.missing, 1.0), np.nan)


def binned(spread: Spread, edges: FloatArray) -> FloatArray:
    """Return the shares of each cell in bins, and last that of the missing value; shape (n_cells, n_bins + 1).

    Of numbers and dates; for categories see `by_value`.

    Parameters
    ----------
    spread : Spread
    edges : ndarray of float64, shape (n_bins - 1,)
        Between bins; an edge belongs to the bin above, and the outer bins are open.
    """
    reached = (np.ceil(edges) if spread.is_whole else edges) - spread.low[:, None]
    width = np.where(spread.width > 0, spread.width, 1.0)[:, None]
    inside = np.where(spread.width[:, None] > 0, np.clip(reached / width, 0, 1), reached > 0)
    below = np.column_stack([np.zeros(len(inside)), inside, np.ones(len(inside))])
    shares = np.zeros((spread.n_cells, below.shape[1]))
    np.add.at(shares[:, :-1], spread.cell, np.diff(below, axis=1) * spread.share[:, None])
    shares[:, -1] = spread.missing
    return shares


def by_value(spread: Spread, values: CountArray) -> FloatArray:
    """Return the shares of each cell in some values of a category, and last that of the missing one.

    Parameters
    ----------
    spread : Spread
    values : ndarray of int64, shape (n_values,)
        Ascending codes; the others have no column.
    """
    shares = np.zeros((spread.n_cells, len(values) + 1))
    kept = np.isin(spread.low, values)
    np.add.at(shares, (spread.cell[kept], np.searchsorted(values, spread.low[kept])), spread.share[kept])
    shares[:, -1] = spread.missing
    return shares


def cramers_v(table: FloatArray) -> float | None:
    r"""Return Cramer's V of a table of counts, in [0, 1]; None where a side has one value.

    .. math:: \sqrt{\frac{\chi^2 / n}{\min(r, c) - 1}}

    for r rows and c columns that are not empty. Not corrected for chance.
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    least = min(int((rows > 0).sum()), int((columns > 0).sum())) - 1
    if least < 1:
        return None
    expected = np.outer(rows, columns)
    ratios = np.divide(table**2, expected, out=np.zeros_like(table), where=expected > 0)
    return math.sqrt(min(1.0, max(0.0, float(ratios.sum()) - 1) / least))


def rank_correlation(first: Spread, second: Spread) -> float | None:
    """Return Spearman's correlation of two columns of one table, in [-1, 1]; None where one is constant.

    Over the rows with a value in both. A place has the mean rank of its records; a cell has the mean rank of its
    places, and within cells the two columns are taken to be independent.
    """
    has_value = [(each.is_told * (1 - each.missing))[each.rows] for each in (first, second)]
    rows = has_value[0] * has_value[1]
    if not rows.any():
        return None
    deviations, variances = [], []
    for each in (first, second):
        ranks, variance = _ranks(each, _added(each.rows, rows, each.n_cells))
        deviations.append((ranks - 0.5)[each.rows])
        variances.append(variance)
    if min(variances) < _NO_VARIANCE:
        return None
    covariance = float(rows @ (deviations[0] * deviations[1]) / rows.sum())
    return min(1.0, max(-1.0, covariance / math.sqrt(variances[0] * variances[1])))


def _ranks(spread: Spread, rows: FloatArray) -> tuple[FloatArray, float]:
    """Return the mean rank of each cell's places, in [0, 1], and the variance of the ranks of all places.

    Ranks of ties are means, so that the variance is 1/12 less the cubes of what places share: for each run of places,
    or for single numbers, which are the only ties where numbers have no gap.
    """
    # Of the rows of a cell with a missing value in part, those that have one are already left out.
    present = np.where(spread.missing < 1, 1 - spread.missing, 1.0)
    share = spread.share / present[spread.cell]
    weights = share * rows[spread.cell] / rows.sum()
    mass = _Mass.of(spread.low, spread.width, weights)
    lengths = np.diff(mass.edges)
    areas = np.append(0.0, np.cumsum((mass.start + mass.end) / 2 * lengths))
    is_run = mass.last > mass.first
    inside = np.where(is_run, spread.width, 1.0)
    ranks = np.where(is_run, (areas[mass.last] - areas[mass.first]) / inside, mass.before + mass.jumps[mass.first] / 2)
    alone = mass.last == mass.first + 1
    ranks[alone] = ((mass.start + mass.end) / 2)[mass.first[alone]]
    ties = float((mass.jumps**3).sum())
    if spread.is_whole:
        ties = float(((mass.end - mass.start) ** 3 / lengths**2).sum())
    return _added(spread.cell, share * ranks, spread.n_cells), (1 - ties) / 12


@dataclass(frozen=True, slots=True, eq=False)
class _Mass:
    """Mass on a line, added up from the left.

    Attributes
    ----------
    edges : ndarray of float64, shape (n_edges,)
        Where runs begin and end, ascending.
    jumps : ndarray of float64, shape (n_edges,)
        The mass of single numbers.
    start, end : ndarray of float64, shape (n_edges - 1,)
        What lies left of a stretch between two edges, the number that it begins with included, and what with it.
    first, last : ndarray of int64, shape (n_runs,)
        The edges of every run.
    before : ndarray of float64, shape (n_runs,)
        What lies left of the run's first edge.
    """

    edges: FloatArray
    jumps: FloatArray
    start: FloatArray
    end: FloatArray
    first: CountArray
    last: CountArray
    before: FloatArray

    @classmethod
    def of(cls, low: FloatArray, width: FloatArray, weights: FloatArray) -> _Mass:
        edges, places = np.unique(np.concatenate([low, low + width]), return_inverse=True)
        first, last = places.reshape(2, -1)
        n_edges, is_run = len(edges), last > first
        jumps = _added(first[~is_run], weights[~is_run], n_edges)
        density = weights[is_run] / (edges[last] - edges[first])[is_run]
        changes = _added(first[is_run], density, n_edges)
        changes -= _added(last[is_run], density, n_edges)
        n_open = np.bincount(first[is_run], minlength=n_edges) - np.bincount(last[is_run], minlength=n_edges)
        # Where no run is open there is none, whatever rounding has left.
        level = np.where(np.cumsum(n_open) > 0, np.cumsum(changes), 0.0)
        between = level[:-1] * np.diff(edges)
        start = np.cumsum(jumps)[:-1] + np.append(0.0, np.cumsum(between))[:-1]
        end = start + between
        before = np.append(0.0, end)[first]
        return cls(edges, jumps, start, end, first, last, before)


def _area(start: FloatArray, end: FloatArray, length: FloatArray, *, is_whole: bool) -> FloatArray:
    """Return what the absolute values of straight lines add up to, each over a length.

    Of whole places the values after each of them are added.
    """
    crosses = start * end < 0
    turn = np.where(crosses, start / np.where(crosses, start - end, 1.0), 0.0) * length
    turn = np.floor(turn) if is_whole else turn

    def added(reach: FloatArray) -> FloatArray:
        return np.asarray(reach * start + (end - start) * reach * (reach + is_whole) / (2 * length))

    return np.asarray(np.abs(added(turn)) + np.abs(added(length) - added(turn)))


def _added(places: Any, weights: FloatArray, n_places: int) -> FloatArray:
    """Add up weights by place."""
    return np.bincount(places, weights, minlength=n_places).astype(np.float64)
