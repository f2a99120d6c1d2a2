"""Minimal generalization under the matching notions: an integer program over the options of each row.

A *pool* is an array of candidates of many tables, of shape (n_tables, n_rows, n_columns).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.cell_candidates import Candidates, CandidateSpace, infeasible_error, publish_picks
from hushtable.anonymizers.method import Found
from hushtable.kernels import cost
from hushtable.kernels.cost import COST_TOLERANCE
from hushtable.models import ClassStats, Matching, MatchingNotion
from hushtable.quality import Loss
from hushtable.search import Clock, Effort, check_memory, solver


@dataclass(frozen=True, eq=False)
class Choices:
    """The candidates of every cell of a table."""

    space: CandidateSpace
    candidates_by_column: tuple[Candidates, ...] = field(repr=False)  # by column; the last is "*"
    # By column, the candidates of every row as offsets and members
    candidates_by_row: tuple[tuple[CountArray, CountArray], ...] = field(repr=False)

    @classmethod
    def from_space(cls, space: CandidateSpace) -> Choices:
        """List the candidates of a space."""
        _check_size(space)
        listed = tuple(space.list_candidates(j) for j in range(len(space.columns)))
        return cls(
            space, listed, tuple(_list_candidates_of_rows(space.places[:, j], each) for j, each in enumerate(listed))
        )

    @property
    def stars(self) -> CountArray:
        """The table of ``*``, which satisfies every k up to the number of rows."""
        last = np.array([len(each.costs) - 1 for each in self.candidates_by_column], dtype=np.int64)
        return np.broadcast_to(last, self.space.places.shape)

    @cached_property
    def cheapest(self) -> tuple[CountArray, ...]:
        """The cheapest candidate of every column over every run of places, shape (n_places, n_places)."""
        return tuple(map(_cheapest_by_run, self.candidates_by_column))

    def draw_tables(self, n_tables: int, rng: np.random.Generator) -> CountArray:
        """Draw a candidate for every cell, each as likely as any other."""
        pool = np.empty((n_tables, *self.space.places.shape), dtype=np.int64)
        for j, (offsets, members) in enumerate(self.candidates_by_row):
            lengths = np.diff(offsets)
            drawn = (rng.random((n_tables, len(lengths))) * lengths).astype(np.int64)
            pool[:, :, j] = members[offsets[:-1] + drawn]
        return pool

    def table_costs(self, pool: CountArray) -> FloatArray:
        """Return the cost of each table, as a sum of weighted cells."""
        costs = np.zeros(len(pool))
        for j, listed in enumerate(self.candidates_by_column):
            costs += listed.costs[pool[:, :, j]].sum(axis=1)
        return costs

    def table_of_labels(self, labels: CodeArray) -> CountArray:
        """Return the table in which every block publishes its cheapest common candidates, shape (n_rows, n_columns)."""
        low, high = self.space.runs_of_classes(labels, int(labels.max()) + 1)
        return self.cheapest_over_runs(low, high)[labels]

    def cheapest_over_runs(self, low: CodeArray, high: CodeArray) -> CountArray:
        """Return the cheapest candidates over runs of places, each of shape (n_runs, n_columns)."""
        return np.stack([best[low[:, j], high[:, j]] for j, best in enumerate(self.cheapest)], axis=1)

    def runs_of_cells(self, pool: CountArray) -> tuple[CodeArray, CodeArray]:
        """Return the first and the last place that each cell covers."""
        low, high = np.empty(pool.shape, dtype=np.int32), np.empty(pool.shape, dtype=np.int32)
        for j, listed in enumerate(self.candidates_by_column):
            low[:, :, j], high[:, :, j] = listed.first[pool[:, :, j]], listed.last[pool[:, :, j]]
        return low, high

    def covers(self, pool: CountArray) -> BoolArray:
        """Tell which row of each table covers which original row, shape (n_tables, n_rows, n_rows)."""
        low, high = self.runs_of_cells(pool)
        covers = np.ones((*pool.shape[:2], pool.shape[1]), dtype=bool)
        for j in range(pool.shape[2]):
            at = self.space.places[:, j]
            covers &= (low[:, :, j, None] <= at) & (at <= high[:, :, j, None])
        return covers


def find_matches(covers: BoolArray, *, is_global: bool) -> BoolArray:
    """Tell which covered original row is a match of a row, both of shape (n_tables, n_rows, n_rows).

    Every row covers its own original, so one perfect matching is known. Another pair is part of a perfect
    matching if and only if both its ends lie in one strong component.
    """
    if not is_global:
        return covers
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    n_tables, n_rows, _ = covers.shape
    table, row, other = np.nonzero(covers)
    edges = (np.ones(len(row), dtype=np.int8), (table * n_rows + row, table * n_rows + other))
    graph = csr_matrix(edges, shape=(n_tables * n_rows, n_tables * n_rows))
    _, component = connected_components(graph, directed=True, connection="strong")
    component = component.reshape(n_tables, n_rows)
    return np.asarray(covers & (component[:, :, None] == component[:, None, :]))


def find_lacking_matches(notion: MatchingNotion, matched: BoolArray) -> BoolArray:
    """Tell which pairs would give the first row a match that it lacks: no pair if a table satisfies the notion."""
    lacking = np.zeros(matched.shape, dtype=bool)
    if "published" in notion.sides:
        lacking |= (matched.sum(axis=2) < notion.k)[:, :, None] & ~matched
    if "original" in notion.sides:
        lacking |= (matched.sum(axis=1) < notion.k)[:, :, None] & ~matched.transpose(0, 2, 1)
    return lacking


def _cheapest_by_run(candidates: Candidates) -> CountArray:
    """Return the cheapest candidate over every run of places, shape (n_places, n_places)."""
    n_places = int(candidates.last.max()) + 1
    best = np.zeros((n_places, n_places), dtype=np.int64)
    # Dearest first, so that the cheapest is the last to be written.
    for i in np.lexsort((-candidates.level, -candidates.costs)).tolist():
        first, last = int(candidates.first[i]), int(candidates.last[i])
        best[first : last + 1, first : last + 1] = i
    return best


def _list_candidates_of_rows(places: CodeArray, candidates: Candidates) -> tuple[CountArray, CountArray]:
    """List the candidates of every row, as offsets and members."""
    rows, choices = np.nonzero((candidates.first <= places[:, None]) & (places[:, None] <= candidates.last))
    return np.asarray(np.searchsorted(rows, np.arange(len(places) + 1))), choices


def _check_size(space: CandidateSpace) -> None:
    """Raise InputError if listing the candidates needs too much memory: n values have n^2 / 2 intervals."""
    n_values = np.array([column.n_values + 1.0 for column in space.columns])
    is_interval = np.array([ladder is None for ladder in space.hierarchies])
    n_listed = np.where(is_interval, n_values * n_values / 2, 2 * n_values)
    # A tuple for each candidate, a flag for each with every row, and a table of all runs of places.
    needed = (n_listed * (200 + 2 * space.n_rows) + 8 * n_values * n_values).sum()
    check_memory(
        float(needed),
        f"listing what the cells of {space.n_rows} rows may publish",
        "search blocks of equal rows (the default of Genetic and MinGen), or give columns of many values a hierarchy.",
    )


MOST_ROWS = 40  # more rows have too many options
MOST_PAIRED = 3_000  # an assignment of more rows takes too long
_MOST_STATES = 2_000_000
_MOST_TABLES = 10_000
_RELATIVE_TOLERANCE = 1e-6  # the error that the solver's own tolerances leave
_MIN_SECONDS = 0.01  # time limit of the solver when the budget is over


@dataclass(frozen=True, slots=True, eq=False)
class RowOptions:
    """The options of one row that no other option dominates."""

    covers: BoolArray  # (n_options, n_rows): the original rows that an option covers
    costs: FloatArray
    picks: CountArray  # (n_options, n_columns): the candidate of every column


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """An option for every row, with its cost and a proven bound."""

    picks: CountArray
    value: float
    bound: float
    n_states: int
    others: tuple[CountArray, ...] = field(default=())
    ties: int | None = None  # tables of that cost, where all were listed


def search_matchings(
    title: str, space: CandidateSpace, model: MatchingNotion, n_best: int, tie_break: Loss | None, clock: Clock
) -> Found | None:
    """Find the cheapest table whose rows have k matches under a notion; None if the time ended first.

    Covering more rows never hurts, so only Pareto-optimal options of a row count: more rows covered or less cost. (k,1)
    takes every row's cheapest option that covers k rows; the other notions are integer programs. A published and an
    original row match globally if and only if some circulation runs through their arc. So the global notions need
    one circulation with k - 1 arcs in use at every row, out of it or into it.
    """
    if space.n_rows < model.k:
        raise infeasible_error([model], space.n_rows)
    try:
        solved = _solve_options(space, model, n_best if tie_break is None else _MOST_TABLES, clock)
    except _TimeOver:
        return None
    tables = [publish_picks(space, solved.picks)]
    for picks in solved.others:
        if clock.is_over():
            break
        tables.append(publish_picks(space, picks))
    if tie_break is not None:
        tables.sort(key=lambda each: tie_break.measure(each[1], each[0].sizes))
    is_proven = solved.bound >= solved.value - _RELATIVE_TOLERANCE * max(1.0, solved.value)
    value = solved.value * space.scale
    bound = value if is_proven else solved.bound * space.scale
    effort = Effort(solved.n_states, 0, 0, space.log10_size(), solved.ties)
    trace = clock.build_trace(title, solved.n_states, value=value, bound=bound, complete=is_proven, effort=effort)
    results = [Found(*table, trace) for table in tables[:n_best]]
    return replace(results[0], others=tuple(results[1:]))


class _TimeOver(Exception):  # noqa: N818 - it is no error
    """The time was over, or the list too long, before all options of the rows were listed."""


def _check_time(clock: Clock, n_listed: int = 0) -> None:
    if clock.left <= 0 or n_listed > _MOST_STATES:
        raise _TimeOver


def pair_rows(space: CandidateSpace) -> tuple[CodeArray, CodeArray]:
    """Assign to every row another one, each once, in rings of least cost; return the run of places over both."""
    from scipy.optimize import linear_sum_assignment

    costs = cost.pair_costs(space.places, space.costs)
    np.fill_diagonal(costs, costs.sum() + 1.0)
    _, partners = linear_sum_assignment(costs)
    other = space.places[partners]
    return np.minimum(space.places, other), np.maximum(space.places, other)


def _solve_options(space: CandidateSpace, model: MatchingNotion, n_best: int, clock: Clock) -> Solution:
    n_rows = space.n_rows
    masks = [_list_masks(space, j) for j in range(len(space.columns))]
    needed = model.k if "published" in model.sides else 1
    options = [_build_options(_combine_columns(masks, row, space, clock), needed, n_rows) for row in range(n_rows)]
    n_states = sum(len(each.costs) for each in options)
    if model.sides == ("published",) and not model.is_global:
        choices = np.array([int(np.argmin(each.costs)) for each in options])
        bound = float(sum(each.costs[pick] for each, pick in zip(options, choices, strict=True)))
    else:
        choices, bound = _solve_program(options, model, n_rows, clock)
    picks = np.array([each.picks[pick] for each, pick in zip(options, choices, strict=True)])
    value = float(sum(each.costs[pick] for each, pick in zip(options, choices, strict=True)))
    covers = np.array([each.covers[pick] for each, pick in zip(options, choices, strict=True)])
    if not _satisfies_notion(model, covers):
        raise AssertionError(f"the search left rows that fail {model.name}; this is a fault of the method")
    if n_best == 1:
        return Solution(picks, value, bound, n_states)
    slack = value - sum(float(each.costs.min()) for each in options)
    max_costs = [float(each.costs.min()) + slack for each in options]
    tables, n_tried, is_complete = _list_ties(masks, space, model, value, max_costs, n_best + 1, clock)
    others = tuple(each for each in tables if not np.array_equal(each, picks))
    ties = len(tables) if len(tables) <= n_best and is_complete else None
    return Solution(picks, value, bound, n_states + n_tried, others[: n_best - 1], ties)


_Masks = list[list[tuple[int, int, float, int]]]
_Front = dict[int, tuple[float, tuple[int, ...]]]


def _list_masks(space: CandidateSpace, j: int) -> list[tuple[int, int, float, int]]:
    """List a column's candidates: first and last place, cost, and the rows covered as a bit mask."""
    listed = space.list_candidates(j)
    at = space.places[:, j]
    usable = []
    for first, last, price in zip(listed.first.tolist(), listed.last.tolist(), listed.costs.tolist(), strict=True):
        covered = np.flatnonzero((first <= at) & (at <= last))
        usable.append((first, last, price, sum(1 << row for row in covered.tolist())))
    return usable


def _fitting_masks(masks: _Masks, space: CandidateSpace, row: int) -> Iterator[list[tuple[int, float, int]]]:
    """Yield, by column, the candidates that cover a row: number, cost, and the mask of rows covered."""
    for listed, place in zip(masks, space.places[row].tolist(), strict=True):
        yield [(i, price, mask) for i, (a, b, price, mask) in enumerate(listed) if a <= place <= b]


def _combine_columns(masks: _Masks, row: int, space: CandidateSpace, clock: Clock) -> _Front:
    """Return a row's Pareto front: the cheapest candidates for every set of rows that is worth covering."""
    front: _Front = {(1 << space.n_rows) - 1: (0.0, ())}
    for fitting in _fitting_masks(masks, space, row):
        grown: _Front = {}
        for covered, (spent, picks) in front.items():
            _check_time(clock)
            for i, price, mask in fitting:
                both = covered & mask
                if both not in grown or spent + price < grown[both][0] - COST_TOLERANCE:
                    grown[both] = (spent + price, (*picks, i))
        front = _keep_pareto_front(grown, clock)
    return front


def _keep_pareto_front(front: _Front, clock: Clock) -> _Front:
    """Drop options that cover no more rows than an option that costs no more."""
    front_masks: list[int] = []
    for mask in sorted(front, key=lambda each: (front[each][0], -each.bit_count())):
        _check_time(clock)
        if not any(mask & ~other == 0 for other in front_masks):
            front_masks.append(mask)
    return {mask: front[mask] for mask in front_masks}


def _build_options(front: _Front, needed: int, n_rows: int) -> RowOptions:
    masks = [mask for mask in front if mask.bit_count() >= needed]
    covers = np.array([[bool(mask >> i & 1) for i in range(n_rows)] for mask in masks])
    return RowOptions(
        covers, np.array([front[mask][0] for mask in masks]), np.array([front[mask][1] for mask in masks])
    )


def _solve_program(
    options: Sequence[RowOptions], model: MatchingNotion, n_rows: int, clock: Clock
) -> tuple[CountArray, float]:
    """Choose an option for every row by an integer program; return the choices and a bound of the cost."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint

    starts = np.cumsum([0, *(len(each.costs) for each in options)])
    n_options = int(starts[-1])
    covers = np.concatenate([each.covers for each in options])
    owner = np.repeat(np.arange(n_rows), np.diff(starts))
    one_each = sparse.csr_matrix((np.ones(n_options), (owner, np.arange(n_options))), shape=(n_rows, n_options))
    parts: list[_ListedRows] = [(one_each, np.ones(n_rows), np.ones(n_rows))]
    n_arcs = 0
    if model.is_global and model.k > 1:
        arcs = np.argwhere(np.array([covers[owner == row].any(axis=0) for row in range(n_rows)]))
        arcs = arcs[arcs[:, 0] != arcs[:, 1]]
        n_arcs = len(arcs)
        parts += _circulation_constraints(arcs, covers, owner, model, n_rows)
    elif "original" in model.sides:
        parts.append(
            (sparse.csr_matrix(covers.T.astype(float)), np.full(n_rows, float(model.k)), np.full(n_rows, np.inf))
        )
    for matrix, _, _ in parts:
        matrix.resize(matrix.shape[0], n_options + 2 * n_arcs)
    solved = solver.milp(
        np.concatenate([*(each.costs for each in options), np.zeros(2 * n_arcs)]),
        integrality=np.append(np.ones(n_options), np.zeros(2 * n_arcs)),
        bounds=Bounds(0, np.concatenate([np.ones(n_options + n_arcs), np.full(n_arcs, np.inf)])),
        constraints=[LinearConstraint(*part) for part in parts],
        options={"mip_rel_gap": 0.0, "time_limit": max(_MIN_SECONDS, clock.left)},
    )
    everything = np.array([int(np.argmax(each.covers.sum(axis=1))) for each in options])
    if solved.x is None:
        return everything, float(solved.mip_dual_bound or 0.0)
    choices = [int(np.argmax(solved.x[a:b])) for a, b in itertools.pairwise(starts.tolist())]
    return np.array(choices), float(solved.fun if solved.status == 0 else solved.mip_dual_bound)


_ListedRows = tuple[Any, FloatArray, FloatArray]


def _circulation_constraints(
    arcs: CountArray, covers: BoolArray, owner: CountArray, model: MatchingNotion, n_rows: int
) -> list[_ListedRows]:
    """Build constraints: a circulation over the chosen options, with k - 1 arcs in use at every row.

    After the options, the columns are each arc's use (0 to 1), then each arc's flow. Fractional use is
    enough: a total of k - 1 needs at least k - 1 arcs.
    """
    from scipy import sparse

    n_arcs, n_options = len(arcs), len(owner)
    check_memory(
        n_options * (3.0 * n_arcs + 40.0 * n_rows),
        f"the programme of {n_rows} rows and {n_options} options",
        "anonymize fewer rows at a time, or ask for k-anonymity, which is more.",
    )
    source, target = arcs[:, 0], arcs[:, 1]
    number, ones = np.arange(n_arcs), np.ones(n_arcs)
    used, flow = n_options + number, n_options + n_arcs + number
    width = n_options + 2 * n_arcs

    def rows(n: int, *entries: tuple[CountArray, CountArray, FloatArray]) -> Any:
        at, column, value = (np.concatenate(each) for each in zip(*entries, strict=True))
        return sparse.csr_matrix((value, (at, column)), shape=(n, width))

    conserved = rows(n_rows, (source, flow, ones), (target, flow, -ones))
    in_use = rows(n_arcs, (number, flow, ones), (number, used, -ones))
    # An arc is open if the chosen option covers its target; its flow is at most one unit for each needed arc.
    arc, option = np.nonzero((owner[None, :] == source[:, None]) & covers[:, target].T)
    open_ = rows(n_arcs, (arc, option, np.full(len(arc), float(n_rows * (model.k - 1)))), (number, flow, -ones))
    side = source if model.sides == ("published",) else target
    enough = rows(n_rows, (side, used, ones))
    zero, infinite = np.zeros(n_arcs), np.full(n_arcs, np.inf)
    return [
        (conserved, np.zeros(n_rows), np.zeros(n_rows)),
        (in_use, zero, infinite),
        (open_, zero, infinite),
        (enough, np.full(n_rows, model.k - 1.0), np.full(n_rows, np.inf)),
    ]


def _satisfies_notion(model: MatchingNotion, covers: BoolArray) -> bool:
    """Tell whether a table satisfies a notion, from the original rows that its rows cover."""
    row, other = np.nonzero(covers)
    stats = ClassStats(np.empty(0, dtype=np.int64), matching=Matching(len(covers), len(covers), row, other))
    return bool(model.passes(stats).all())


def _list_ties(
    masks: _Masks,
    space: CandidateSpace,
    model: MatchingNotion,
    value: float,
    max_costs: Sequence[float],
    n_best: int,
    clock: Clock,
) -> tuple[list[CountArray], int, bool]:
    """List tables of the least cost, row by row; return them, the partial tables tried, and whether that was all."""
    try:
        choices = [_list_affordable(masks, space, model, row, max_costs[row], clock) for row in range(space.n_rows)]
    except _TimeOver:
        return [], 0, False
    cheapest = np.array([min(each[0] for each in row) for row in choices])
    remaining_costs = np.append(np.cumsum(cheapest[::-1])[::-1], 0.0)
    tables: list[CountArray] = []
    covers = np.ones((space.n_rows, space.n_rows), dtype=bool)
    picked: list[tuple[int, ...]] = []
    n_tried = 0

    def extend(row: int, spent: float) -> None:
        nonlocal n_tried
        if row == space.n_rows:
            tables.append(np.array(picked))
            return
        for price, mask, picks in choices[row]:
            is_late = n_tried >= _MOST_STATES or clock.is_over(n_tried)
            if spent + price + remaining_costs[row + 1] > value + COST_TOLERANCE or len(tables) >= n_best or is_late:
                break
            n_tried += 1
            covers[row] = [bool(mask >> i & 1) for i in range(space.n_rows)]
            # Rows without a choice yet cover everything: an optimistic test that prunes no solution.
            if _satisfies_notion(model, covers):
                picked.append(picks)
                extend(row + 1, spent + price)
                picked.pop()
        covers[row] = True

    extend(0, 0.0)
    return tables, n_tried, n_tried < _MOST_STATES and not clock.is_over(n_tried)


def _list_affordable(
    masks: _Masks, space: CandidateSpace, model: MatchingNotion, row: int, max_cost: float, clock: Clock
) -> list[tuple[float, int, tuple[int, ...]]]:
    """List what a row may publish that covers enough rows and costs at most ``max_cost``, the cheapest first."""
    needed = model.k if "published" in model.sides else 1
    front: list[tuple[float, int, tuple[int, ...]]] = [(0.0, (1 << space.n_rows) - 1, ())]
    for fitting in _fitting_masks(masks, space, row):
        grown: list[tuple[float, int, tuple[int, ...]]] = []
        for spent, covered, picks in front:
            _check_time(clock, len(grown))
            grown += [
                (spent + price, covered & mask, (*picks, i))
                for i, price, mask in fitting
                if spent + price <= max_cost + COST_TOLERANCE and (covered & mask).bit_count() >= needed
            ]
        front = grown
    return sorted(front)
