"""The fewest blanks under k-anonymity: a linear programme for prices, an integer one for classes, and what is proven.

A programme decides how many of equal records publish which kept columns, x, and which classes there are, z: every
record publishes something, a class that is there has at least k records. Its duals are prices of records. If k records
that agree on some columns never cost less than their prices, no release costs less than all prices together, and no
better release has a class that costs so much more than its prices as the best one is above them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.kept_sets import KeptSets
from hushtable.search import Clock, solver

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_TOLERANCE: Final = 1e-7
_MOST_PAIRS: Final = 60_000  # of a row and what it keeps, in the programmes, where no seconds are given
_MOST_PAIRS_WITH_BUDGET: Final = 600_000
_MOST_SETS: Final = 2**14
_MAX_ROUNDS: Final = 12  # of pricing
_MIN_SECONDS: Final = 0.05
_MAX_SECONDS: Final = 60.0  # where no budget is given
_SHARE_OF_PRICES: Final = 0.6  # of the seconds


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """How many records of each distinct row keep which columns."""

    rows: CountArray
    kept: BoolArray = field(repr=False)  # as `rows`, (n_choices, n_columns)
    n_records: CountArray

    def expand(self, row_of: CodeArray) -> BoolArray:
        """Return what every row of the table keeps, given which distinct row each is."""
        order = np.argsort(row_of, kind="stable")
        # Choices are sorted by their rows, and choose for all records.
        expanded = np.empty((len(row_of), self.kept.shape[1]), dtype=np.bool_)
        expanded[order] = np.repeat(self.kept, self.n_records, axis=0)
        return expanded


class Priced(NamedTuple):
    """Prices of distinct rows, no class cheaper than its records' prices; and the better release, if one was found."""

    prices: FloatArray
    choice: Choice | None
    value: float  # of the best release
    is_best: bool  # whether it is proven that no release costs less

    def bound(self, sets: KeptSets) -> float:
        """Return what every release costs at least."""
        return self.value if self.is_best else _round_up(float(self.prices @ sets.table.counts), _step(sets.weights))


class _Set(NamedTuple):
    """The rows that can keep some columns, and how classes of them stand to their prices."""

    kept: BoolArray
    rows: CountArray  # in a class of k records or more
    labels: CodeArray  # as `rows`
    reduced: FloatArray  # as `rows`: how much the cheapest class with a record of the row costs above its prices


class _Pairs(NamedTuple):
    """Rows and what they may keep; a class is a number."""

    rows: CountArray
    classes: CountArray
    costs: FloatArray
    kept: BoolArray


def improve(sets: KeptSets, k: int, own: FloatArray, value: float, clock: Clock) -> Priced | None:
    """Improve on a release of a cost, and prove what is proven; None where the programme is too large.

    Parameters
    ----------
    sets : KeptSets
        Of distinct rows with counts.
    k : int
    own : ndarray of float64, shape (n_rows,)
        What each record costs at least by itself: the first prices.
    value : float
        Of the best release so far.
    """
    limit = _MOST_PAIRS if clock.budget.seconds is None else _MOST_PAIRS_WITH_BUDGET
    if sets.n_sets > _MOST_SETS or clock.budget.nodes is not None:
        return None
    clock = clock.with_default_end(_MAX_SECONDS)
    # Classes of k equal records lend some where a price says so.
    slack = np.where(sets.table.counts >= k, 0.0, float(sets.weights.max()))
    most_paid, walked, picked, n_pairs = own + slack + _TOLERANCE, list[_Set](), list[BoolArray](), 0
    for kept in sets.iterate():
        walked.append(_price_set(sets, kept, own, k))
        picked.append(sets.cost(kept) <= most_paid[walked[-1].rows])
        n_pairs += int(picked[-1].sum())
        if n_pairs > limit or clock.left <= 0:
            return None
    pairs = _take_pairs(sets, walked, picked)
    step = _step(sets.weights)
    prices, walked = _find_prices(sets, k, own, walked, pairs, clock, limit)
    bound = _round_up(float(prices @ sets.table.counts), step)
    if bound >= value - _TOLERANCE * max(1.0, value):
        return Priced(prices, None, value, is_best=True)
    total = float(prices @ sets.table.counts)
    reduced = np.concatenate([each.reduced for each in walked])
    most = min(value - total, float(np.partition(reduced, limit)[limit]) if len(reduced) > limit else math.inf)
    chosen = _solve(sets, k, _take_pairs(sets, walked, [each.reduced <= most + _TOLERANCE for each in walked]), clock)
    if chosen is None:
        return Priced(prices, None, value, is_best=False)
    choice, cost, is_solved = chosen
    best = min(value, cost)
    is_best = is_solved and best - step - total <= most + _TOLERANCE
    return Priced(prices, choice if cost < value - _TOLERANCE else None, best, is_best)


def _price_set(sets: KeptSets, kept: BoolArray, prices: FloatArray, k: int) -> _Set:
    """Find the rows that can keep some columns, and the reduced costs of the cheapest classes that hold them."""
    counts = sets.table.counts
    labels, n_classes = sets.label(kept)
    sizes = np.bincount(labels, weights=counts, minlength=n_classes)
    rows = np.flatnonzero(sizes[labels] >= k)
    labels = labels[rows]
    order = np.lexsort((-prices[rows], labels))
    at, n = labels[order], counts[rows][order]
    before = np.cumsum(n) - n
    first = at != np.append(-1, at[:-1])
    before = before - np.maximum.accumulate(np.where(first, before, 0))
    taken, fewer = (np.clip(most - before, 0, n) for most in (k, k - 1))
    of_rows = prices[rows][order]
    top, top_but_one = (np.bincount(at, each * of_rows, n_classes) for each in (taken, fewer))
    # A record outside the k dearest takes the place of the last of them.
    dearest = np.where(taken > 0, top[at], top_but_one[at] + of_rows)
    reduced = np.empty(len(rows))
    reduced[order] = k * sets.cost(kept) - dearest
    return _Set(kept, rows, labels, reduced)


def _take_pairs(sets: KeptSets, walked: list[_Set], picked: list[BoolArray]) -> _Pairs:
    """Take some rows of every set, and number the classes over all."""
    rows, classes, costs, kept, n_before = [], [], [], [], 0
    for each, is_picked in zip(walked, picked, strict=True):
        chosen = np.flatnonzero(np.broadcast_to(is_picked, each.rows.shape))
        if len(chosen):
            names, numbers = np.unique(each.labels[chosen], return_inverse=True)
            rows.append(each.rows[chosen])
            classes.append(n_before + numbers)
            costs.append(np.full(len(chosen), sets.cost(each.kept)))
            kept.append(np.broadcast_to(each.kept, (len(chosen), len(each.kept))))
            n_before += len(names)
    return _Pairs(*(np.concatenate(each) for each in (rows, classes, costs, kept)))


class _Programme(NamedTuple):
    """Matrices of a programme: x of every pair, then z of every class."""

    costs: FloatArray
    equal: csr_matrix  # (n_rows, n): every record publishes something
    below: csr_matrix  # rows <= 0: a class has k records, and only a class that is there has some


def _build(sets: KeptSets, k: int, pairs: _Pairs) -> _Programme:
    from scipy import sparse

    n_pairs, n_classes = len(pairs.rows), int(pairs.classes.max()) + 1
    each, ones, n = np.arange(n_pairs), np.ones(n_pairs), sets.table.counts[pairs.rows].astype(float)
    shape = (sets.table.n_rows, n_pairs + n_classes)
    equal = sparse.csr_matrix((ones, (pairs.rows, each)), shape=shape)
    of_class = np.arange(n_classes)
    filled = sparse.csr_matrix(
        (
            np.concatenate([-ones, np.full(n_classes, float(k))]),
            (np.concatenate([pairs.classes, of_class]), np.concatenate([each, n_pairs + of_class])),
        ),
        shape=(n_classes, shape[1]),
    )
    there = sparse.csr_matrix(
        (np.concatenate([ones, -n]), (np.concatenate([each, each]), np.concatenate([each, n_pairs + pairs.classes]))),
        shape=(n_pairs, shape[1]),
    )
    return _Programme(np.append(pairs.costs, np.zeros(n_classes)), equal, sparse.vstack([filled, there], format="csr"))


def _find_prices(
    sets: KeptSets, k: int, own: FloatArray, walked: list[_Set], pairs: _Pairs, clock: Clock, limit: int
) -> tuple[FloatArray, list[_Set]]:
    """Raise prices by linear programmes, to which classes that are cheaper are added; return the best that are proven.

    Prices that some class undercuts are lowered for all of its rows until it does not.
    """
    best, best_walked = own, walked
    part = clock.start_part(_SHARE_OF_PRICES) if clock.budget.seconds else clock
    for _ in range(_MAX_ROUNDS):
        programme = _build(sets, k, pairs)
        solved = solver.linprog(
            programme.costs,
            A_ub=programme.below,
            b_ub=np.zeros(programme.below.shape[0]),
            A_eq=programme.equal,
            b_eq=sets.table.counts,
            method="highs",
            options={} if math.isinf(part.left) else {"time_limit": max(_MIN_SECONDS, part.left)},
        )
        if solved.status != 0:
            break
        duals = np.asarray(solved.eqlin.marginals)
        walked = [_price_set(sets, each.kept, duals, k) for each in walked]
        excess = np.zeros(len(duals))
        for each in walked:
            excess[each.rows] = np.maximum(excess[each.rows], -each.reduced)
        lowered = duals - excess / k
        if lowered @ sets.table.counts > best @ sets.table.counts:
            best = lowered
            best_walked = [_price_set(sets, each.kept, lowered, k) for each in walked]
        cheaper = [each.reduced < -_TOLERANCE for each in walked]
        if not any(each.any() for each in cheaper) or part.left <= 0:
            break
        pairs = _join_pairs(sets, walked, pairs, cheaper)
        if len(pairs.rows) > 2 * limit:
            break
    return best, best_walked


def _join_pairs(sets: KeptSets, walked: list[_Set], pairs: _Pairs, more: list[BoolArray]) -> _Pairs:
    """Add pairs to those that there are, each once."""
    bits = 1 << np.arange(pairs.kept.shape[1], dtype=np.int64)
    numbers = pairs.kept @ bits
    picked = [
        is_more | np.isin(each.rows, pairs.rows[numbers == each.kept @ bits])
        for each, is_more in zip(walked, more, strict=True)
    ]
    return _take_pairs(sets, walked, picked)


def _solve(sets: KeptSets, k: int, pairs: _Pairs, clock: Clock) -> tuple[Choice, float, bool] | None:
    """Solve the integer programme; return what is published, its cost, and whether nothing cheaper is in it."""
    from scipy.optimize import Bounds, LinearConstraint

    programme, n = _build(sets, k, pairs), sets.table.counts
    n_pairs = len(pairs.rows)
    highest = np.append(n[pairs.rows].astype(float), np.ones(len(programme.costs) - n_pairs))
    options: dict[str, float] = {"mip_rel_gap": 0.0}
    if clock.budget.seconds is not None:
        options["time_limit"] = max(_MIN_SECONDS, clock.left)
    solved = solver.milp(
        programme.costs,
        integrality=np.ones(len(programme.costs)),
        bounds=Bounds(np.zeros(len(programme.costs)), highest),
        constraints=[LinearConstraint(programme.equal, n, n), LinearConstraint(programme.below, -np.inf, 0.0)],
        options=options,
    )
    if solved.x is None:
        return None
    amounts = np.rint(solved.x[:n_pairs]).astype(np.int64)
    used = np.flatnonzero(amounts)
    used = used[np.lexsort((pairs.costs[used], pairs.rows[used]))]
    choice = Choice(pairs.rows[used], pairs.kept[used], amounts[used])
    return choice, float(pairs.costs @ amounts), solved.status == 0


def _step(weights: FloatArray) -> float:
    """Return the least difference between two costs that is known; 0 for none."""
    least = float(weights[weights > 0].min(initial=math.inf))
    ratios = weights / least
    return least if math.isfinite(least) and np.array_equal(ratios, np.rint(ratios)) else 0.0


def _round_up(bound: float, step: float) -> float:
    """Round a bound up to the next cost that there can be."""
    return step * math.ceil(bound / step - 1e-6) if step else bound
