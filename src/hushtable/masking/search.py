"""The fewest stars that make A independent of equal-sized clusters: an integer programme over types, not records."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.errors import InputError
from hushtable.masking.dealing import (
    STAR,
    Dealing,
    Types,
    align_runs,
    deal_greedily,
    deal_in_runs,
    find_patterns,
    label_equal_cells,
    list_subsets,
    merge_dealings,
    poorest_counts,
)
from hushtable.search import Budget, check_memory, solver

_HINT = "choose method='greedy', or fewer columns a: their sets double with each."


@dataclass(frozen=True, slots=True, eq=False)
class Programme:
    """The integer programme: how many groups publish each pattern, and from which types.

    A pattern is a set of columns and the cells published there. Every cluster is a transport problem from its types to
    the patterns, and all clusters serve the same demand. If the demand is integer, each transport has an integer
    solution: so only the demand needs integer variables.
    """

    types: Types
    pattern_weights: FloatArray  # the weight of the cells that a pattern publishes
    room: CountArray  # the most groups that can publish it: the least number of its records in any cluster
    cluster: CountArray  # by edge: the cluster of the records
    member: CountArray  # by edge: their type
    pattern: CountArray  # by edge: the pattern that they could publish

    @classmethod
    def from_types(cls, types: Types) -> Programme:
        """List the patterns that every cluster can take part in."""
        n_sets, (n_types, n_columns) = 2.0 ** len(types.weights), types.values.shape
        check_memory(24.0 * n_sets * n_types, f"the programme of {n_types} types and {n_columns} columns", _HINT)
        owners, weights, room = [], [], []
        n_patterns = 0
        for columns in list_subsets(len(types.weights))[:-1]:
            labels = label_equal_cells(types.values, columns)
            group_counts = poorest_counts(types.supply, labels)
            shared = group_counts > 0
            numbers = np.append(np.where(shared, np.cumsum(shared) - 1 + n_patterns, -1), -1)
            owners.append(numbers[labels])
            weights.append(np.full(int(shared.sum()), float(types.weights[list(columns)].sum())))
            room.append(group_counts[shared])
            n_patterns += int(shared.sum())
        owner = np.array(owners)
        subset, member = np.nonzero(owner >= 0)
        check_memory(9.0 * types.n_clusters * len(member), f"the programme of {len(member)} published types", _HINT)
        cluster, edge = np.nonzero(types.supply[:, member] > 0)
        return cls(
            types, np.concatenate(weights), np.concatenate(room), cluster, member[edge], owner[subset, member][edge]
        )

    @property
    def n_edges(self) -> int:
        """The number of edges, the size of the programme."""
        return len(self.cluster)

    def with_fewer_edges(self, n_edges: int) -> Programme:
        """Restrict the programme to the patterns with the most published weight per edge, up to so many edges."""
        lengths = np.bincount(self.pattern, minlength=len(self.pattern_weights))
        order = np.argsort(-self.room * self.pattern_weights / lengths, kind="stable")
        is_chosen = np.zeros(len(self.pattern_weights), dtype=bool)
        is_chosen[order[np.cumsum(lengths[order]) <= n_edges]] = True
        edges = is_chosen[self.pattern]
        numbers = np.cumsum(is_chosen) - 1
        return Programme(
            self.types,
            self.pattern_weights[is_chosen],
            self.room[is_chosen],
            self.cluster[edges],
            self.member[edges],
            numbers[self.pattern[edges]],
        )

    def cost(self, kept: float) -> float:
        """Return the cost of stars if cells of this weight are published per cluster."""
        return self.types.n_clusters * (float(self.types.weights.sum()) * self.types.n_groups - kept)

    def solve_relaxation(self, seconds: float | None = None) -> tuple[FloatArray, float] | None:
        """Solve the linear relaxation: groups of each pattern, in fractions, and a floor; None if the time ended."""
        matrix, right = self.build_constraints()
        solution = solver.linprog(
            self.objective_weights(),
            A_ub=matrix,
            b_ub=right,
            bounds=(0, None),
            method="highs-ds",
            options=_time_options(seconds),
        )
        if solution.status != 0 or solution.x is None:
            return None
        groups = solution.x[: len(self.pattern_weights)]
        return groups, floor_of(self.cost(float(self.pattern_weights @ groups)), self.types)

    def solve_exactly(self, n_nodes: int, seconds: float | None = None) -> tuple[CountArray | None, float, int]:
        """Solve the integer programme: groups of each pattern (None if none was found), a floor, and the nodes."""
        from scipy.optimize import Bounds, LinearConstraint

        matrix, right = self.build_constraints()
        n_patterns = len(self.pattern_weights)
        solution = solver.milp(
            self.objective_weights(),
            integrality=np.repeat([1, 0], [n_patterns, self.n_edges]),
            bounds=Bounds(0, np.concatenate((self.room, self.types.supply[self.cluster, self.member]))),
            constraints=LinearConstraint(matrix, -np.inf, right),
            options=_time_options(seconds) | {"mip_rel_gap": 0.0, "node_limit": n_nodes},
        )
        bound = solution.mip_dual_bound
        floor = 0.0 if bound is None or not math.isfinite(bound) else floor_of(self.cost(-bound), self.types)
        groups = None if solution.x is None else np.rint(solution.x[:n_patterns]).astype(np.int64)
        return groups, floor, int(solution.mip_node_count or 0)

    def deal_groups(self, groups: CountArray) -> Dealing:
        """Deal groups of every pattern as far as the clusters can serve them, and the remaining records greedily."""
        runs = []
        for cluster in range(self.types.n_clusters):
            edges = np.flatnonzero((self.cluster == cluster) & (groups[self.pattern] > 0))
            if not len(edges):
                return deal_greedily(self.types)
            flow = _transport_supply(self.member[edges], self.pattern[edges], self.types.supply[cluster], groups)
            used = np.flatnonzero(flow)
            used = used[np.argsort(self.pattern[edges][used], kind="stable")]
            runs.append((self.member[edges][used], flow[used]))
        dealt = deal_in_runs(runs)
        return merge_dealings([dealt, deal_greedily(dealt.remaining_types(self.types))])

    def objective_weights(self) -> FloatArray:
        """Return the objective to minimise: minus the weight of the published cells."""
        return np.concatenate((-self.pattern_weights, np.zeros(self.n_edges)))

    def build_constraints(self) -> tuple[Any, FloatArray]:
        """Build the constraints: no type gives more records than it has, no pattern has more groups than records."""
        from scipy import sparse

        n_patterns = len(self.pattern_weights)
        sources, source = np.unique(self.cluster * len(self.types.values) + self.member, return_inverse=True)
        sinks, sink = np.unique(self.cluster * n_patterns + self.pattern, return_inverse=True)
        edges = n_patterns + np.arange(self.n_edges)
        rows = np.concatenate((source, len(sources) + sink, len(sources) + np.arange(len(sinks))))
        columns = np.concatenate((edges, edges, sinks % n_patterns))
        entries = np.repeat([1.0, -1.0, 1.0], [self.n_edges, self.n_edges, len(sinks)])
        shape = (len(sources) + len(sinks), n_patterns + self.n_edges)
        right: FloatArray = np.concatenate(
            (self.types.supply.ravel()[sources].astype(np.float64), np.zeros(len(sinks)))
        )
        return sparse.csr_array((entries, (rows, columns)), shape=shape), right


def _time_options(seconds: float | None) -> Any:
    return {} if seconds is None else {"time_limit": max(seconds, 0.01)}


def floor_of(cost: float, types: Types) -> float:
    """Make a computed floor safe: with integer weights round up to a possible cost, else subtract an error."""
    if not (types.weights % 1 == 0).all():
        return max(0.0, cost - 1e-6 * max(1.0, abs(cost)))
    return float(types.n_clusters * max(0, math.ceil(cost / types.n_clusters - 1e-3)))


def _transport_supply(sources: CountArray, sinks: CountArray, supply: CountArray, demand: CountArray) -> CountArray:
    """Return a maximum flow from types to patterns, by edge."""
    from scipy import sparse
    from scipy.sparse.csgraph import maximum_flow

    types, source = np.unique(sources, return_inverse=True)
    patterns, sink = np.unique(sinks, return_inverse=True)
    n_types, last = len(types), 1 + len(types) + len(patterns)
    start = np.concatenate((np.zeros(n_types, dtype=np.int64), 1 + source, 1 + n_types + np.arange(len(patterns))))
    end = np.concatenate((1 + np.arange(n_types), 1 + n_types + sink, np.full(len(patterns), last)))
    room = np.concatenate((supply[types], supply[sources], demand[patterns])).astype(np.int32)
    network = sparse.csr_array((room, (start, end)), shape=(last + 1, last + 1))
    flow = maximum_flow(network, 0, last).flow.tocoo()
    keys = flow.row.astype(np.int64) * (last + 1) + flow.col
    order = np.argsort(keys)
    places = order[np.searchsorted(keys[order], (1 + source) * (last + 1) + 1 + n_types + sink)]
    return np.asarray(flow.data[places], dtype=np.int64)


_MAX_RECORDS_TO_ASSIGN = 1_000  # an assignment of more records is slower than a linear programme over types


def match_to_pivot(types: Types, cluster: int) -> tuple[Dealing, float]:
    """Match every cluster to a pivot cluster at least cost; return the dealing and a floor under all costs.

    A group stars only cells in which some member differs from the pivot's. No dealing costs less than the dearest of
    these matchings times the number of clusters u. So the cost is at most u - 1 times the least.
    """
    pivot = types.supply[cluster]
    columns, runs = [], []
    dearest = 0.0
    for other, supply in enumerate(types.supply):
        if other == cluster:
            matched, partners, counts = np.arange(len(pivot)), np.arange(len(pivot)), pivot
        else:
            matched, partners, counts = _match_types(types.values, pivot, types.values, supply, types.weights)
            lost = _weigh_losses(types.values[matched], types.values[partners], types.weights)
            dearest = max(dearest, float(lost @ counts))
        order = np.argsort(matched, kind="stable")
        columns.append(partners[order])
        runs.append(counts[order])
    places, counts = align_runs(runs)
    members = np.array([column[place] for column, place in zip(columns, places, strict=True)], dtype=np.int32)
    return merge_dealings([Dealing(np.ascontiguousarray(members.T), counts)]), types.n_clusters * dearest


def redeal_clusters(types: Types, dealing: Dealing, n_sweeps: int) -> Dealing:
    """Improve a dealing: take one cluster at a time out of all groups and deal it again at least cost."""
    cost = dealing.cost(types)
    unchanged = 0
    for step in range(n_sweeps * types.n_clusters):
        candidate = _redeal_cluster(types, dealing, step % types.n_clusters)
        new_cost = candidate.cost(types)
        unchanged = 0 if new_cost < cost - 1e-9 else unchanged + 1
        if new_cost <= cost:
            dealing, cost = candidate, new_cost
        if unchanged == types.n_clusters:
            break
    return dealing


def _redeal_cluster(types: Types, dealing: Dealing, cluster: int) -> Dealing:
    cells, of_group = np.unique(find_patterns(types, dealing, without=cluster), axis=0, return_inverse=True)
    of_group = of_group.ravel()
    demand = np.zeros(len(cells), dtype=np.int64)
    np.add.at(demand, of_group, dealing.counts)
    matched, partners, counts = _match_types(cells, demand, types.values, types.supply[cluster], types.weights)
    groups, pairs = np.argsort(of_group, kind="stable"), np.argsort(matched, kind="stable")
    (group, pair), lengths = align_runs([dealing.counts[groups], counts[pairs]])
    members = dealing.members[groups[group]]
    members[:, cluster] = partners[pairs[pair]]
    return merge_dealings([Dealing(members, lengths)])


def _match_types(
    cells: CodeArray, demand: CountArray, values: CodeArray, supply: CountArray, weights: FloatArray
) -> tuple[CountArray, CountArray, CountArray]:
    """Match patterns of groups with types so that the least weight of published cells is lost.

    Patterns without a star get their own type first. By the triangle inequality this is optimal: the two partners that
    become free can be matched with one another at no more than their former costs.
    """
    own = _equal_rows(cells, values)
    full = np.flatnonzero(own >= 0)
    dealt = np.minimum(demand[full], supply[own[full]])
    demand, supply = demand.copy(), supply.copy()
    demand[full] -= dealt
    supply[own[full]] -= dealt
    some = dealt > 0
    parts = [(full[some], own[full][some].astype(np.int64), dealt[some])]
    if demand.any():
        solve = _match_by_record if demand.sum() <= _MAX_RECORDS_TO_ASSIGN else _match_by_count
        parts.append(solve(cells, demand, values, supply, weights))
    matched, partners, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
    return matched, partners, counts


def _equal_rows(cells: CodeArray, values: CodeArray) -> CodeArray:
    """Return the type that each pattern without a star equals; -1 if there is none."""
    _, labels = np.unique(np.concatenate((values, cells)), axis=0, return_inverse=True)
    labels = labels.ravel()
    type_of = np.full(len(labels), -1, dtype=np.int32)
    type_of[labels[: len(values)]] = np.arange(len(values), dtype=np.int32)
    return np.where((cells == STAR).any(axis=1), np.int32(-1), type_of[labels[len(values) :]])


def _weigh_losses(cells: CodeArray, values: CodeArray, weights: FloatArray) -> FloatArray:
    """Return the weight of published cells that are lost if types join patterns; the last axis is the column."""
    return np.asarray(((cells != STAR) & (cells != values)) @ weights)


def _match_by_record(
    cells: CodeArray, demand: CountArray, values: CodeArray, supply: CountArray, weights: FloatArray
) -> tuple[CountArray, CountArray, CountArray]:
    from scipy.optimize import linear_sum_assignment

    patterns, types = np.flatnonzero(demand), np.flatnonzero(supply)
    cost = _weigh_losses(cells[patterns, None], values[None, types], weights)
    row = np.repeat(np.arange(len(patterns)), demand[patterns])
    column = np.repeat(np.arange(len(types)), supply[types])
    rows, columns = linear_sum_assignment(cost[np.ix_(row, column)])
    pairs, counts = np.unique(row[rows] * len(types) + column[columns], return_counts=True)
    return patterns[pairs // len(types)], types[pairs % len(types)], counts


def _match_by_count(
    cells: CodeArray, demand: CountArray, values: CodeArray, supply: CountArray, weights: FloatArray
) -> tuple[CountArray, CountArray, CountArray]:
    """Match by a programme of two clusters, whose linear relaxation has integer solutions."""
    pair = Types(
        np.concatenate((cells, values)),
        np.array([np.append(demand, np.zeros_like(supply)), np.append(np.zeros_like(demand), supply)]),
        weights,
    )
    programme = Programme.from_types(pair)
    relaxed = programme.solve_relaxation()
    groups = np.rint(relaxed[0]).astype(np.int64) if relaxed else programme.room * 0
    dealing = programme.deal_groups(groups)
    return dealing.members[:, 0].astype(np.int64), dealing.members[:, 1].astype(np.int64) - len(cells), dealing.counts


MaskingMethod = Literal["auto", "exact", "greedy", "pivot"]
METHODS: Final = ("auto", "exact", "greedy", "pivot")

_MAX_EDGES_EXACT = 12_000  # the integer solver takes about a second for so many edges
_MAX_EDGES_OF_RELAXATION = 140_000  # the linear solver takes about half a minute
_MAX_EDGES_KEPT = 125_000  # of a larger programme; takes most of a minute
_MAX_EDGES_OF_LARGEST = 80_000  # of a very large programme: what is kept says little of it, so less time is spent
_MAX_NODES = 2_000  # of the integer solver, without a budget
_MAX_SWEEPS = 20
_MAX_COLUMNS_AGREEING = 9  # columns of A: a programme over their 2^9 sets is small
_RELATIVE_TOLERANCE = 2e-6  # a floor with fractional weights may lie this far below the optimum


@dataclass(frozen=True, slots=True)
class Masking:
    """A dealing, and a lower bound of the cost of all dealings."""

    dealing: Dealing
    cost: float  # stars, each times its column's weight
    bound: float  # no dealing costs less
    n_nodes: int  # programmes and nodes of the integer solver settled
    complete: bool  # False where a budget ended the search

    @property
    def optimal(self) -> bool:
        """Whether no dealing costs less; with fractional weights, not two millionths less."""
        return _meets_bound(self.cost, self.bound)


def mask_types(types: Types, method: MaskingMethod, budget: Budget) -> Masking:
    """Deal the records of equal-sized clusters into groups with few stars; methods are those of `mask_dependence`."""
    search = _MaskSearch(types, budget, time.perf_counter())
    by_method = {
        "auto": search.search_auto,
        "exact": search.search_exact,
        "greedy": search.search_greedy,
        "pivot": search.search_pivot,
    }
    dealing, bound, n_nodes, complete = by_method[method]()
    bound = max(bound, agreement_bound(types))
    return Masking(dealing, dealing.cost(types), bound, n_nodes, complete)


def agreement_bound(types: Types) -> float:
    """Return a lower bound of the cost from how many groups can keep each set of columns.

    A linear programme over the 2^d sets of columns. The groups that keep a set are limited by the poorest cluster,
    summed over the set's cells. It is at least as good as both bounds of `_simple_bound`.
    """
    n_columns = len(types.weights)
    if n_columns > _MAX_COLUMNS_AGREEING:
        return _simple_bound(types)
    sets = list_subsets(n_columns)
    masks = np.array([sum(1 << column for column in columns) for columns in sets])
    holds = (masks[None, :] & masks[:, None]) == masks[:, None]
    weights = np.array([types.weights[list(columns)].sum() for columns in sets])
    room = np.array([_max_groups(types, columns) for columns in sets])
    solution = solver.linprog(-weights, A_ub=holds.astype(np.float64), b_ub=room, bounds=(0, None), method="highs-ds")
    if solution.x is None:
        return _simple_bound(types)
    hidden = float(types.weights.sum()) * types.n_groups - float(weights @ solution.x)
    return floor_of(types.n_clusters * hidden, types)


def _simple_bound(types: Types) -> float:
    """Return the better of two floors: by the groups without a star, and by each column alone."""
    everything = range(len(types.weights))
    starred = (types.n_groups - _max_groups(types, everything)) * float(types.weights.min())
    alone = [
        weight * (types.n_groups - _max_groups(types, [column])) for column, weight in enumerate(types.weights.tolist())
    ]
    return floor_of(types.n_clusters * max(starred, sum(alone)), types)


def _max_groups(types: Types, columns: Sequence[int]) -> int:
    """Return how many groups could keep these columns: the poorest cluster's records, summed over cells."""
    return int(poorest_counts(types.supply, label_equal_cells(types.values, columns)).sum())


Outcome = tuple[Dealing, float, int, bool]


@dataclass(frozen=True, slots=True)
class _MaskSearch:
    types: Types
    budget: Budget
    began: float

    def seconds_left(self) -> float | None:
        """Return the seconds that are left; None without a limit."""
        return None if self.budget.seconds is None else self.budget.seconds - (time.perf_counter() - self.began)

    def is_late(self) -> bool:
        left = self.seconds_left()
        return left is not None and left <= 0

    def search_auto(self) -> Outcome:
        programme = Programme.from_types(self.types)
        if programme.n_edges <= _MAX_EDGES_EXACT:
            return self._solve_programme(programme)
        best = deal_greedily(self.types)
        is_whole = programme.n_edges <= _MAX_EDGES_OF_RELAXATION
        if not is_whole:
            programme = programme.with_fewer_edges(
                _MAX_EDGES_KEPT if programme.n_edges <= 4 * _MAX_EDGES_KEPT else _MAX_EDGES_OF_LARGEST
            )
        relaxed = programme.solve_relaxation(self.seconds_left())
        if relaxed is None:
            return best, 0.0, 0, False
        best = self._choose_cheaper(best, programme.deal_groups(_round_down(relaxed[0])))
        # A programme of the promising patterns alone says nothing of the others.
        return best, relaxed[1] if is_whole else 0.0, 1, True

    def search_exact(self) -> Outcome:
        return self._solve_programme(Programme.from_types(self.types))

    def search_greedy(self) -> Outcome:
        return redeal_clusters(self.types, deal_greedily(self.types), _MAX_SWEEPS), 0.0, 1, True

    def search_pivot(self) -> Outcome:
        best, bound = match_to_pivot(self.types, 0)
        for cluster in range(1, self.types.n_clusters):
            if self.is_late():
                return best, bound, cluster, False
            other, floor = match_to_pivot(self.types, cluster)
            best, bound = min(best, other, key=lambda each: each.cost(self.types)), max(bound, floor)
        return redeal_clusters(self.types, best, _MAX_SWEEPS), bound, self.types.n_clusters, True

    def _solve_programme(self, programme: Programme) -> Outcome:
        best = deal_greedily(self.types)
        if not programme.n_edges:
            return best, best.cost(self.types), 0, True
        # Nearly always the relaxation is integer, at least rounded down: then no branching is needed.
        relaxed = programme.solve_relaxation(self.seconds_left())
        if relaxed is None:
            return best, 0.0, 0, False
        best = self._choose_cheaper(best, programme.deal_groups(_round_down(relaxed[0])))
        if _meets_bound(best.cost(self.types), relaxed[1]):
            return best, relaxed[1], 1, True
        groups, bound, n_nodes = programme.solve_exactly(self.budget.nodes or _MAX_NODES, self.seconds_left())
        if groups is not None:
            best = self._choose_cheaper(best, programme.deal_groups(groups))
        bound = max(bound, relaxed[1])
        if not _meets_bound(best.cost(self.types), bound):
            best = redeal_clusters(self.types, best, _MAX_SWEEPS)
        return best, bound, n_nodes, _meets_bound(best.cost(self.types), bound)

    def _choose_cheaper(self, one: Dealing, other: Dealing) -> Dealing:
        return min(one, other, key=lambda each: each.cost(self.types))


def _meets_bound(cost: float, bound: float) -> bool:
    return cost <= bound * (1 + _RELATIVE_TOLERANCE)


def _round_down(groups: FloatArray) -> CountArray:
    return np.asarray(np.floor(groups + 1e-6), dtype=np.int64)


_MAX_EDGES_OF_TIES = 60_000


def settle_ties(
    tie_of: CodeArray, labels: CodeArray, type_of: CodeArray, types: Types, rng: np.random.Generator
) -> CodeArray:
    """Deal the records of ties (equal B cells) in several clusters again, so that few stars are needed.

    The relaxed programme of masking, which also chooses how many records of each type and tie a cluster takes.
    Fractions are rounded down, and clusters with room take the rest: near the fewest stars, without a proof.
    """
    n_clusters = types.n_clusters
    pairs = np.unique(tie_of.astype(np.int64) * n_clusters + labels)
    parted = np.bincount(pairs // n_clusters) > 1
    loose = parted[tie_of]
    if not loose.any():
        return labels
    cells = np.unique(np.column_stack((tie_of[loose], labels[loose])), axis=0)
    n_taken = _solve_tie_shares(cells, tie_of[loose], labels[loose], type_of[loose], types)
    new_labels = labels.copy()
    for tie in np.unique(cells[:, 0]):
        rows = rng.permutation(np.flatnonzero(tie_of == tie))
        is_in_tie = cells[:, 0] == tie
        new_labels[rows] = _deal_records(
            type_of[rows], cells[is_in_tie, 1], np.bincount(labels[rows], minlength=n_clusters), n_taken[is_in_tie]
        )
    return new_labels


def _solve_tie_shares(
    cells: CodeArray, tie_of: CodeArray, labels: CodeArray, type_of: CodeArray, types: Types
) -> CountArray:
    """Return how many records of each type a cluster takes from a tie, by pair of tie and cluster, rounded down."""
    from scipy import sparse

    n_types = types.supply.shape[1]
    ties, tie = np.unique(tie_of, return_inverse=True)
    tie_counts = np.zeros((len(ties), n_types), dtype=np.int64)
    np.add.at(tie_counts, (tie, type_of), 1)
    tie_index = np.searchsorted(ties, cells[:, 0])
    fixed = types.supply.copy()
    np.subtract.at(fixed, (labels, type_of), 1)
    programme = _loosen_ties(fixed, cells, tie_counts[tie_index], types)
    matrix, _ = programme.build_constraints()
    pair, member = np.nonzero(tie_counts[tie_index])
    n_choices, n_before = len(pair), matrix.shape[1]
    sources, row, bound = _find_sources(programme, cells[pair, 1].astype(np.int64) * n_types + member)
    right: FloatArray = np.zeros(matrix.shape[0])
    right[: len(sources)] = fixed.ravel()[sources]
    entries = (-np.ones(int(bound.sum())), (row[bound], np.flatnonzero(bound)))
    choices: Any = sparse.csr_array(entries, shape=(matrix.shape[0], n_choices))
    # Every record of a tie goes somewhere, and every cluster takes as many as before.
    kinds, kind = np.unique(tie_index[pair] * n_types + member, return_inverse=True)
    room = np.zeros(len(cells))
    np.add.at(room, _find_positions(cells, tie_of, labels), 1)
    where = (np.concatenate((kind, len(kinds) + pair)), n_before + np.tile(np.arange(n_choices), 2))
    shape = (len(kinds) + len(cells), n_before + n_choices)
    all_of: Any = sparse.csr_array((np.ones(2 * n_choices), where), shape=shape)
    both: Any = sparse.hstack((matrix, choices))
    solution = solver.linprog(
        np.concatenate((programme.objective_weights(), np.zeros(n_choices))),
        A_ub=both,
        b_ub=right,
        A_eq=all_of,
        b_eq=np.concatenate((tie_counts.ravel()[kinds], room)),
        method="highs-ds",
    )
    if solution.x is None:
        raise InputError("the programme that settles ties of B was not solved.", hint="leave optimise_ties off.")
    n_taken = np.zeros((len(cells), n_types), dtype=np.int64)
    n_taken[pair, member] = np.floor(solution.x[n_before:] + 1e-6)
    return n_taken


def _loosen_ties(fixed: CountArray, cells: CodeArray, tie_counts: CountArray, types: Types) -> Programme:
    """Build the programme in which every cluster could take all records of its ties."""
    max_supply = fixed.copy()
    np.add.at(max_supply, cells[:, 1], tie_counts)
    programme = Programme.from_types(Types(types.values, max_supply, types.weights))
    if programme.n_edges > _MAX_EDGES_OF_TIES:
        raise InputError(
            f"the ties of {len(types.values)} distinct vectors of A are too many to settle.",
            hint="leave optimise_ties off.",
        )
    return programme


def _find_sources(programme: Programme, keys: CountArray) -> tuple[CountArray, CountArray, BoolArray]:
    """Return the programme's pairs of cluster and type, and the index of each key in them, and whether it is there."""
    sources = np.unique(programme.cluster * len(programme.types.values) + programme.member)
    row = np.searchsorted(sources, keys)
    is_found = np.append(sources, -1)[row] == keys
    return sources, row, np.asarray(is_found)


def _find_positions(cells: CodeArray, tie_of: CodeArray, labels: CodeArray) -> CountArray:
    width = int(cells[:, 1].max()) + 1
    keys = cells[:, 0].astype(np.int64) * width + cells[:, 1]
    return np.searchsorted(keys, tie_of.astype(np.int64) * width + labels)


def _deal_records(types: CodeArray, clusters: CodeArray, room: CountArray, n_taken: CountArray) -> CodeArray:
    """Give records to clusters: as many of each type as they take, the rest to clusters with room."""
    labels = np.full(len(types), -1, dtype=np.int32)
    for member in np.unique(types):
        rows = np.flatnonzero(types == member)
        labels[rows[: n_taken[:, member].sum()]] = np.repeat(clusters, n_taken[:, member])
    labels[labels < 0] = np.repeat(clusters, room[clusters] - n_taken.sum(axis=1))
    return labels
