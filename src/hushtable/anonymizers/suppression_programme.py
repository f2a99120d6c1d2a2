"""The fewest blanks under k-anonymity: prices of records as a lower bound, and integer programmes, part by part.

If k records that agree on some columns never cost less than their prices, no release costs less than all prices
together. Prices rise by the volume algorithm (Barahona, Anbil, "The volume algorithm", Mathematical Programming 87,
2000) on a relaxation in which every class chooses its records by itself. They also say which classes a good release
may have: those that cost little above their prices. Of these, integer programmes choose anew for one part of the table
after the other, while all else stays: first where records pay most above their prices.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.kept_sets import KeptSets
from hushtable.kernels import class_prices
from hushtable.kernels.class_prices import Dearest, OpenClasses
from hushtable.search import Budget, Clock, solver

_TOLERANCE: Final = 1e-7
_MAX_SETS: Final = 2**14
_MAX_MEMBERS: Final = 1_500_000  # of classes: some 10 ms of a step
_MAX_STEPS: Final = 600  # of prices
_MAX_PARTS: Final = 1_200  # without a budget
_MAX_NODES: Final = 200  # of an integer programme
_MAX_MEMBERS_PER_ROW: Final = 3  # that parts choose from, of those that cost least above prices
_MAX_MEMBERS_OF_PROOF: Final = 30_000
_MIN_GAIN: Final = 5e-4  # of a round over all rows, else parts grow
_MIN_EXCESS: Final = 0.01  # above prices, of the dearest set's cost: other rows begin no part
_MIN_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class KeptChoice:
    """How many records of each distinct row keep which columns; sorted by row."""

    rows: CountArray
    kept: BoolArray = field(repr=False)  # as `rows`, (n_choices, n_columns)
    n_records: CountArray

    @classmethod
    def from_rows(cls, row_of: CodeArray | CountArray, kept: BoolArray) -> KeptChoice:
        """Count what every row of the table keeps, given which distinct row each is."""
        numbers = kept @ (1 << np.arange(kept.shape[1]))
        pairs, first, n_records = np.unique(
            np.column_stack((row_of, numbers)), axis=0, return_index=True, return_counts=True
        )
        return cls(pairs[:, 0], kept[first], n_records)

    def expand(self, row_of: CodeArray) -> BoolArray:
        """Return what every row of the table keeps, given which distinct row each is."""
        expanded = np.empty((len(row_of), self.kept.shape[1]), dtype=np.bool_)
        expanded[np.argsort(row_of, kind="stable")] = np.repeat(self.kept, self.n_records, axis=0)
        return expanded


class PricedRows(NamedTuple):
    """Prices of distinct rows, no class cheaper than its records' prices; and the best release that was found."""

    prices: FloatArray
    choice: KeptChoice
    value: float  # of the best release
    is_best: bool  # whether it is proven that no release costs less
    n_parts: int = 0  # how many programmes were solved
    complete: bool = True

    def bound(self, sets: KeptSets) -> float:
        """Return what every release costs at least."""
        return self.value if self.is_best else _round_up(float(self.prices @ sets.table.counts), _step(sets.weights))


def improve(
    sets: KeptSets, k: int, own: FloatArray, start: KeptChoice, clock: Clock, n_before: int
) -> PricedRows | None:
    """Improve on a release, and prove what is proven; None where there are too many classes.

    Parameters
    ----------
    sets : KeptSets
        Of distinct rows with counts.
    k : int
    own : ndarray of float64, shape (n_rows,)
        What each record costs at least by itself: the first prices.
    start : KeptChoice
        A release.
    clock : Clock
        Its nodes are column sets that were walked, and integer programmes.
    n_before : int
        Nodes so far.
    """
    if sets.n_sets > _MAX_SETS or clock.is_over(n_before):
        return None
    # Tolerances are of weights of about 1; by a power of two, so that no figure is rounded.
    unit = math.ldexp(0.5, math.frexp(float(sets.weights.max()))[1])
    sets, own = sets.with_weights(sets.weights / unit), own / unit
    start = _keep_what_agrees(sets, start)
    members = _list_members(sets, k, own, start)
    if members is None:
        return None
    value = float(sets.costs(start.kept) @ start.n_records)
    prices = _raise_prices(members.classes, sets.table.counts, k, own, value, clock)
    for kept in sets.iterate():
        lowered = _classes_on(sets, kept)
        class_prices.lower_prices(lowered, sets.table.counts, prices, _scratch(k), _TOLERANCE / len(prices))
    if prices @ sets.table.counts < own @ sets.table.counts:
        prices = own
    above = np.empty(len(members.classes.rows))
    class_prices.cost_above_prices(members.classes, sets.table.counts, prices, _scratch(k), above)
    search = _MemberSearch(members, sets.table.counts, k, prices, above, members.count_records(start))
    n_parts, complete = _search_parts(search, clock, n_before)
    is_best = _prove(search, _step(sets.weights), clock)
    choice = search.to_choice()
    value = unit * float(search.costs @ search.amounts)
    return PricedRows(unit * prices, choice, value, is_best, n_parts, complete)


@dataclass(frozen=True, slots=True, eq=False)
class _Members:
    """Classes that a release may have, and the columns that their records keep."""

    classes: OpenClasses
    kept: BoolArray = field(repr=False)  # (n_classes, n_columns)
    is_all: bool  # whether some best release has no others
    class_of: CountArray = field(init=False, repr=False)  # (n_members,)

    def __post_init__(self) -> None:
        class_of = np.repeat(np.arange(len(self.kept)), np.diff(self.classes.starts))
        object.__setattr__(self, "class_of", class_of)

    def count_records(self, choice: KeptChoice) -> CountArray:
        """Return how many records each member has in a release."""
        bits = 1 << np.arange(self.kept.shape[1], dtype=np.int64)
        numbers = self.classes.rows.astype(np.int64) << len(bits) | (self.kept @ bits)[self.class_of]
        order = np.argsort(numbers)
        at = order[np.searchsorted(numbers[order], choice.rows.astype(np.int64) << len(bits) | choice.kept @ bits)]
        amounts = np.zeros(len(numbers), dtype=np.int64)
        amounts[at] = choice.n_records
        return amounts


def _keep_what_agrees(sets: KeptSets, choice: KeptChoice) -> KeptChoice:
    """Return a release in which the records of a class keep all that they agree on."""
    codes = np.where(choice.kept.T, sets.table.codes[:, choice.rows] + 1, -1)
    _, labels = np.unique(codes, axis=1, return_inverse=True)
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(labels[order]) > 0))
    values = sets.table.codes[:, choice.rows[order]]
    agrees = np.minimum.reduceat(values, starts, axis=1) == np.maximum.reduceat(values, starts, axis=1)
    kept = agrees.T[labels]
    bits = kept @ (1 << np.arange(kept.shape[1]))
    pairs, first, inverse = np.unique(
        np.column_stack((choice.rows, bits)), axis=0, return_index=True, return_inverse=True
    )
    return KeptChoice(pairs[:, 0], kept[first], np.bincount(inverse, choice.n_records).astype(np.int64))


def _classes_on(sets: KeptSets, kept: BoolArray, rows: CountArray | None = None) -> OpenClasses:
    """Return the classes of some rows, or of all, that agree on some columns."""
    labels, n_classes = sets.label(kept, rows)
    order = np.argsort(labels, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(labels, minlength=n_classes)))
    return OpenClasses(
        (order if rows is None else rows[order]).astype(np.int32), starts, np.full(n_classes, sets.cost(kept))
    )


def _list_members(sets: KeptSets, k: int, own: FloatArray, start: KeptChoice) -> _Members | None:
    """List classes whose records pay at most so much more than they would by themselves, as much as there is room."""
    paid = np.zeros(len(own))
    np.maximum.at(paid, start.rows, sets.costs(start.kept))
    unit = float(sets.weights.max())
    for slack in (math.inf, 2 * unit, unit, 0.0):
        found: list[OpenClasses] = []
        kept: list[BoolArray] = []
        n_members = 0
        for columns in sets.iterate():
            found.append(_useful_classes(sets, k, columns, np.maximum(paid, own + slack) + _TOLERANCE))
            kept.append(np.broadcast_to(columns, (len(found[-1].costs), len(columns))))
            n_members += len(found[-1].rows)
            if n_members > _MAX_MEMBERS:
                break
        else:
            starts = np.append(0, np.cumsum(np.concatenate([np.diff(each.starts) for each in found])))
            rows, costs = (np.concatenate([getattr(each, name) for each in found]) for name in ("rows", "costs"))
            return _Members(OpenClasses(rows, starts, costs), np.concatenate(kept), math.isinf(slack))
    return None


def _useful_classes(sets: KeptSets, k: int, kept: BoolArray, most: FloatArray) -> OpenClasses:
    """Return the classes on some columns of the rows that may pay for them.

    Left out are those of fewer than k records, those whose rows agree on more, which cost less with it, and those of
    rows that are classes by themselves.
    """
    classes = _classes_on(sets, kept, np.flatnonzero(sets.cost(kept) <= most))
    if not len(classes.rows):
        return classes
    first = classes.starts[:-1]
    counts, codes = sets.table.counts[classes.rows], sets.table.codes[:, classes.rows]
    blanked = [j for j in sets.varied if not kept[j]]
    is_useful = np.add.reduceat(counts, first) >= k
    is_useful &= (np.minimum.reduceat(counts, first) < k) | (not blanked)
    for j in blanked:
        is_useful &= np.minimum.reduceat(codes[j], first) < np.maximum.reduceat(codes[j], first)
    sizes = np.diff(classes.starts)
    rows = classes.rows[np.repeat(is_useful, sizes)]
    return OpenClasses(rows, np.append(0, np.cumsum(sizes[is_useful])), classes.costs[is_useful])


def _scratch(k: int) -> Dearest:
    return Dearest(np.empty(k), np.empty(k, dtype=np.int64))


def _raise_prices(
    classes: OpenClasses, counts: CountArray, k: int, own: FloatArray, value: float, clock: Clock
) -> FloatArray:
    """Raise prices, step by step along what classes choose too seldom on average; return the best ones."""
    chosen, scratch = np.zeros(len(counts), dtype=np.int64), _scratch(k)
    best = own.copy()
    best_bound = class_prices.choose_classes(classes, counts, best, scratch, chosen) + float(best @ counts)
    average, factor, n_worse = chosen.astype(float), 0.1, 0
    for step in range(_MAX_STEPS):
        lacking = counts - average
        square = float(lacking @ lacking)
        target = min(value, 1.03 * best_bound)
        if square < _TOLERANCE or target <= best_bound or clock.left <= 0:
            break
        prices = best + factor * (target - best_bound) / square * lacking
        bound = class_prices.choose_classes(classes, counts, prices, scratch, chosen) + float(prices @ counts)
        weight = 0.1 if step < _MAX_STEPS // 2 else 0.03
        if bound > best_bound:
            if (counts - chosen) @ lacking >= 0:
                factor = min(2.0, 1.1 * factor)
            best, best_bound, n_worse = prices, bound, 0
        else:
            n_worse += 1
            if n_worse == 15:  # in a row: steps are too long
                factor, n_worse = 0.66 * factor, 0
        average = (1 - weight) * average + weight * chosen
    return best


@dataclass(slots=True, eq=False)
class _MemberSearch:
    """A release on its way: how many records each member has, and each class."""

    members: _Members
    counts: CountArray
    k: int
    prices: FloatArray
    above: FloatArray  # (n_members,), what the cheapest class with a member costs above prices
    amounts: CountArray  # (n_members,)
    loads: CountArray = field(init=False)  # (n_classes,)
    costs: FloatArray = field(init=False)  # (n_members,), of a record
    by_row: CountArray = field(init=False)  # the members of row after row, those that cost least above prices first
    starts: CountArray = field(init=False)  # (n_rows + 1,), of `by_row`
    near: float = field(init=False)  # above prices, members that parts choose from

    def __post_init__(self) -> None:
        rows, class_of = self.members.classes.rows, self.members.class_of
        self.costs = self.members.classes.costs[class_of]
        self.loads = np.bincount(class_of, self.amounts, len(self.members.kept)).astype(np.int64)
        self.by_row = np.lexsort((self.above, rows))
        self.starts = np.searchsorted(rows[self.by_row], np.arange(len(self.counts) + 1))
        room = _MAX_MEMBERS_PER_ROW * len(self.counts)
        self.near = float(np.partition(self.above, room)[room]) if len(self.above) > room else math.inf

    def list_members(self, row: int) -> CountArray:
        """Return the members of a row, those that cost least above prices first."""
        return self.by_row[self.starts[row] : self.starts[row + 1]]

    def excess(self) -> FloatArray:
        """Return what the records of every row pay above their prices."""
        paid = np.bincount(self.members.classes.rows, self.amounts * self.costs, len(self.counts))
        return np.asarray(paid - self.prices * self.counts)

    def to_choice(self) -> KeptChoice:
        """Return what records keep."""
        used = np.flatnonzero(self.amounts)
        used = used[np.lexsort((self.costs[used], self.members.classes.rows[used]))]
        rows, kept = self.members.classes.rows[used], self.members.kept[self.members.class_of[used]]
        return KeptChoice(rows.astype(np.int64), kept, self.amounts[used])


def _search_parts(search: _MemberSearch, clock: Clock, n_before: int) -> tuple[int, bool]:
    """Choose anew part by part, in rounds over all rows that pay too much; return how many, and whether none was left.

    Parts grow where they gain little, up to what a programme solves in a second: with k, classes are harder to choose.
    """
    size, largest = max(100, 3_000 // search.k), max(300, 24_000 // search.k**2)
    rng, least = np.random.default_rng(0), _MIN_EXCESS * float(search.costs.max(initial=0.0))
    n_parts = 0
    while True:
        before, excess = float(search.costs @ search.amounts), search.excess()
        seeds = np.argsort(-excess * (rng.random(len(excess)) if n_parts else 1.0), kind="stable")
        is_done = np.zeros(len(excess), dtype=np.bool_)
        for seed in seeds[(excess[seeds] > least) & (search.counts[seeds] < search.k)].tolist():
            if is_done[seed]:
                continue
            if clock.is_over(n_before + n_parts) or (clock.budget == Budget() and n_parts >= _MAX_PARTS):
                return n_parts, False
            free, left = _free_part(search, seed, size, is_done)
            _solve_part(search, free, left, clock)
            is_done[free] = True
            n_parts += 1
            clock.report_progress(n_parts / (n_parts + 100))
        gain = before - float(search.costs @ search.amounts)
        if gain <= _MIN_GAIN * before:
            if size >= min(largest, len(excess)) and gain <= _TOLERANCE:
                return n_parts, True
            size = min(largest, size * 3 // 2)


def _free_part(search: _MemberSearch, seed: int, size: int, is_done: BoolArray) -> tuple[CountArray, dict[int, int]]:
    """Free some rows, those first that may share a class; return them, and the loads of classes that lose records.

    A class that would keep too few records is freed as a whole.
    """
    rows, starts, class_of = search.members.classes.rows, search.members.classes.starts, search.members.class_of
    free: set[int] = set()
    left: dict[int, int] = {}
    seen: set[int] = set()
    waiting = [(0.0, seed)]
    while waiting and len(free) < size:
        distance, row = heapq.heappop(waiting)
        leaving = [row]
        while leaving:
            row = leaving.pop()
            if row in free:
                continue
            free.add(row)
            at = search.list_members(row)
            for member in at[search.amounts[at] > 0].tolist():
                number = int(class_of[member])
                left[number] = left.get(number, int(search.loads[number])) - int(search.amounts[member])
                if left[number] < search.k:
                    others = np.arange(starts[number], starts[number + 1])
                    leaving += rows[others[search.amounts[others] > 0]].tolist()
            if search.counts[row] >= search.k:
                continue
            for number in class_of[at[search.above[at] <= search.near]].tolist():
                if number in seen:
                    continue
                seen.add(number)
                others = np.arange(starts[number], starts[number + 1])
                others = others[(search.above[others] <= search.near) & ~is_done[rows[others]]]
                near = zip((distance + search.above[others]).tolist(), rows[others].tolist(), strict=True)
                for item in near:
                    heapq.heappush(waiting, item)
    return np.array(sorted(free), dtype=np.int64), left


def _solve_part(search: _MemberSearch, free: CountArray, left: dict[int, int], clock: Clock) -> None:
    """Choose anew for some rows, from the members that cost little above prices, and take it if it costs less."""
    at = np.concatenate([search.list_members(row) for row in free.tolist()])
    at = at[(search.above[at] <= search.near) | (search.amounts[at] > 0)]
    loads = search.loads[search.members.class_of[at]]
    for number, load in left.items():
        loads[search.members.class_of[at] == number] = load
    solved = _choose_members(search, free, at, loads, clock)
    if solved is not None and search.costs[at] @ solved[0] < search.costs[at] @ search.amounts[at] - _TOLERANCE:
        _take(search, at, solved[0])


def _take(search: _MemberSearch, at: CountArray, amounts: CountArray) -> None:
    np.add.at(search.loads, search.members.class_of[at], amounts - search.amounts[at])
    search.amounts[at] = amounts


def _choose_members(
    search: _MemberSearch, rows: CountArray, at: CountArray, loads: CountArray, clock: Clock
) -> tuple[CountArray, bool] | None:
    """Choose members for all records of some rows at the least cost; also tell whether that is proven.

    Every record has one member, and a class has no records or at least k, counted with the ones that it has already.
    """
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint

    k, counts, n = search.k, search.counts[rows], len(at)
    of_members = search.counts[search.members.classes.rows[at]].astype(float)
    _, first, numbers = np.unique(search.members.class_of[at], return_index=True, return_inverse=True)
    is_bound = loads[first] < k
    bound = np.flatnonzero(is_bound[numbers])
    of_bound, n_bound = (np.cumsum(is_bound) - 1)[numbers[bound]], int(is_bound.sum())
    width, ones, opened = n + n_bound, np.ones(len(bound)), n + np.arange(n_bound)
    positions = np.searchsorted(rows, search.members.classes.rows[at])
    all_published = sparse.csr_matrix((np.ones(n), (positions, np.arange(n))), shape=(len(rows), width))
    full = sparse.csr_matrix(
        (
            np.concatenate([-ones, np.full(n_bound, float(k))]),
            (np.concatenate([of_bound, np.arange(n_bound)]), np.concatenate([bound, opened])),
        ),
        shape=(n_bound, width),
    )
    only_opened = sparse.csr_matrix(
        (
            np.concatenate([ones, -of_members[bound]]),
            (np.tile(np.arange(len(bound)), 2), np.concatenate([bound, n + of_bound])),
        ),
        shape=(len(bound), width),
    )
    options: dict[str, float] = {"mip_rel_gap": 0.0, "node_limit": _MAX_NODES}
    if clock.budget.seconds is not None:
        options["time_limit"] = max(_MIN_SECONDS, clock.left)
    solved = solver.milp(
        np.append(search.costs[at], np.zeros(n_bound)),
        integrality=np.ones(width),
        bounds=Bounds(np.zeros(width), np.append(of_members, np.ones(n_bound))),
        constraints=[
            LinearConstraint(all_published, counts, counts),
            LinearConstraint(sparse.vstack([full, only_opened]), -np.inf, 0.0),
        ],
        options=options,
    )
    return None if solved.x is None else (np.rint(solved.x[:n]).astype(np.int64), solved.status == 0)


def _prove(search: _MemberSearch, step: float, clock: Clock) -> bool:
    """Tell whether no release costs less; where few members could be in one, by a programme of all of them.

    The classes of a cheaper release cost at most so much above their prices as all of it does.
    """
    value, total = float(search.costs @ search.amounts), float(search.prices @ search.counts)
    if _round_up(total, step) >= value - _TOLERANCE * max(1.0, value):
        return True
    at = np.flatnonzero((search.above <= value - step - total + _TOLERANCE * max(1.0, value)) | (search.amounts > 0))
    if not search.members.is_all or len(at) > _MAX_MEMBERS_OF_PROOF or clock.left <= 0:
        return False
    rows = np.arange(len(search.counts))
    solved = _choose_members(search, rows, at, np.zeros(len(at), dtype=np.int64), clock)
    if solved is None:
        return False
    if search.costs[at] @ solved[0] < value - _TOLERANCE:
        _take(search, at, solved[0])
    return solved[1]


def _step(weights: FloatArray) -> float:
    """Return the least difference between two costs that is known; 0 for none."""
    least = float(weights[weights > 0].min(initial=math.inf))
    ratios = weights / least
    return least if math.isfinite(least) and np.array_equal(ratios, np.rint(ratios)) else 0.0


def _round_up(bound: float, step: float) -> float:
    """Round a bound up to the next cost that there can be."""
    return step * math.ceil(bound / step - 1e-6) if step else bound
