"""The integer programme over types, published cells and counts, whose size does not grow with the records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.masking.dealing import (
    Dealing,
    Types,
    dealt_in_runs,
    greedy,
    joined,
    kept_cells,
    subsets,
)
from hushtable.search import check_memory, solver

__all__ = ["Programme", "floor_of"]

_HINT = "choose method='greedy', or fewer columns a: their sets double with each."


@dataclass(frozen=True, slots=True, eq=False)
class Programme:
    """How many groups publish which cells, and which types give each of them.

    Attributes
    ----------
    types : Types
    kept : ndarray of float64, shape (n_patterns,)
        The weight of the cells that a pattern publishes.
    room : ndarray of int64, shape (n_patterns,)
        What the poorest cluster holds of it: more groups cannot publish it.
    cluster, member, pattern : ndarray of int64, shape (n_edges,)
        Whose records of which type could publish which pattern.

    Notes
    -----
    A pattern is a set of columns and the cells published there. Every cluster is a
    transport from its types to the patterns, and all clusters serve the same demand.
    Given a whole demand, a transport has a whole solution: only the demand is integer.
    """

    types: Types
    kept: FloatArray
    room: CountArray
    cluster: CountArray
    member: CountArray
    pattern: CountArray

    @classmethod
    def of(cls, types: Types) -> Programme:
        """List the patterns that every cluster can take part in."""
        n_sets, (n_types, n_columns) = 2.0 ** len(types.weights), types.values.shape
        check_memory(24.0 * n_sets * n_types, f"the programme of {n_types} types and {n_columns} columns", _HINT)
        owners, kept, room = [], [], []
        n_patterns = 0
        for columns in subsets(len(types.weights))[:-1]:
            labels = kept_cells(types.values, columns)
            named = labels >= 0
            width = int(labels.max(initial=-1)) + 1
            held = [np.bincount(labels[named], weights=row[named], minlength=width) for row in types.supply]
            least = np.min(held, axis=0).astype(np.int64)
            shared = least > 0
            numbers = np.append(np.where(shared, np.cumsum(shared) - 1 + n_patterns, -1), -1)
            owners.append(numbers[labels])
            kept.append(np.full(int(shared.sum()), float(types.weights[list(columns)].sum())))
            room.append(least[shared])
            n_patterns += int(shared.sum())
        owner = np.array(owners)
        subset, member = np.nonzero(owner >= 0)
        check_memory(9.0 * types.n_clusters * len(member), f"the programme of {len(member)} published types", _HINT)
        cluster, edge = np.nonzero(types.supply[:, member] > 0)
        return cls(
            types, np.concatenate(kept), np.concatenate(room), cluster, member[edge], owner[subset, member][edge]
        )

    @property
    def n_edges(self) -> int:
        """How large the programme is."""
        return len(self.cluster)

    def thinned(self, n_edges: int) -> Programme:
        """Return the programme of the patterns that promise most for their edges, of so many edges at most."""
        lengths = np.bincount(self.pattern, minlength=len(self.kept))
        order = np.argsort(-self.room * self.kept / lengths, kind="stable")
        chosen = np.zeros(len(self.kept), dtype=bool)
        chosen[order[np.cumsum(lengths[order]) <= n_edges]] = True
        edges = chosen[self.pattern]
        numbers = np.cumsum(chosen) - 1
        return Programme(
            self.types,
            self.kept[chosen],
            self.room[chosen],
            self.cluster[edges],
            self.member[edges],
            numbers[self.pattern[edges]],
        )

    def cost(self, kept: float) -> float:
        """Return what the stars cost where cells of this weight are published per cluster."""
        return self.types.n_clusters * (float(self.types.weights.sum()) * self.types.n_groups - kept)

    def relaxed(self, seconds: float | None = None) -> tuple[FloatArray, float] | None:
        """Return how many groups, in fractions, publish every pattern, and a floor under the cost of all dealings.

        None where the time ended first.
        """
        matrix, right = self.limits()
        solution = solver.linprog(
            self.objective(), A_ub=matrix, b_ub=right, bounds=(0, None), method="highs-ds", options=_within(seconds)
        )
        if solution.status != 0 or solution.x is None:
            return None
        groups = solution.x[: len(self.kept)]
        return groups, floor_of(self.cost(float(self.kept @ groups)), self.types)

    def solved(self, n_nodes: int, seconds: float | None = None) -> tuple[CountArray | None, float, int]:
        """Return the groups of every pattern in the best dealing found, a floor under all costs, and the nodes."""
        from scipy.optimize import Bounds, LinearConstraint

        matrix, right = self.limits()
        n_patterns = len(self.kept)
        solution = solver.milp(
            self.objective(),
            integrality=np.repeat([1, 0], [n_patterns, self.n_edges]),
            bounds=Bounds(0, np.concatenate((self.room, self.types.supply[self.cluster, self.member]))),
            constraints=LinearConstraint(matrix, -np.inf, right),
            options=_within(seconds) | {"mip_rel_gap": 0.0, "node_limit": n_nodes},
        )
        bound = solution.mip_dual_bound
        floor = 0.0 if bound is None or not math.isfinite(bound) else floor_of(self.cost(-bound), self.types)
        groups = None if solution.x is None else np.rint(solution.x[:n_patterns]).astype(np.int64)
        return groups, floor, int(solution.mip_node_count or 0)

    def realised(self, groups: CountArray) -> Dealing:
        """Deal so many groups of every pattern, as the clusters can serve, and what is left as it agrees."""
        runs = []
        for cluster in range(self.types.n_clusters):
            ours = np.flatnonzero((self.cluster == cluster) & (groups[self.pattern] > 0))
            if not len(ours):
                return greedy(self.types)
            flow = _transported(self.member[ours], self.pattern[ours], self.types.supply[cluster], groups)
            used = np.flatnonzero(flow)
            used = used[np.argsort(self.pattern[ours][used], kind="stable")]
            runs.append((self.member[ours][used], flow[used]))
        dealt = dealt_in_runs(runs)
        return joined([dealt, greedy(dealt.left(self.types))])

    def objective(self) -> FloatArray:
        """Return what is to be least: the weight of the published cells, negative."""
        return np.concatenate((-self.kept, np.zeros(self.n_edges)))

    def limits(self) -> tuple[Any, FloatArray]:
        """No type gives more records than there are; no pattern has more groups than records of any cluster."""
        from scipy import sparse

        n_patterns = len(self.kept)
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


def _within(seconds: float | None) -> Any:
    return {} if seconds is None else {"time_limit": max(seconds, 0.01)}


def floor_of(cost: float, types: Types) -> float:
    """Round a computed floor so that it stays one: up to a cost that can be, where weights are whole numbers."""
    if not (types.weights % 1 == 0).all():
        return max(0.0, cost - 1e-6 * max(1.0, abs(cost)))
    return float(types.n_clusters * max(0, math.ceil(cost / types.n_clusters - 1e-3)))


def _transported(sources: CountArray, sinks: CountArray, supply: CountArray, demand: CountArray) -> CountArray:
    """Return what goes along every edge when as much as possible does: a maximum flow."""
    from scipy import sparse
    from scipy.sparse.csgraph import maximum_flow

    ours, source = np.unique(sources, return_inverse=True)
    theirs, sink = np.unique(sinks, return_inverse=True)
    n_ours, last = len(ours), 1 + len(ours) + len(theirs)
    start = np.concatenate((np.zeros(n_ours, dtype=np.int64), 1 + source, 1 + n_ours + np.arange(len(theirs))))
    end = np.concatenate((1 + np.arange(n_ours), 1 + n_ours + sink, np.full(len(theirs), last)))
    room = np.concatenate((supply[ours], supply[sources], demand[theirs])).astype(np.int32)
    network = sparse.csr_array((room, (start, end)), shape=(last + 1, last + 1))
    flow = maximum_flow(network, 0, last).flow.tocoo()
    keys = flow.row.astype(np.int64) * (last + 1) + flow.col
    order = np.argsort(keys)
    places = order[np.searchsorted(keys[order], (1 + source) * (last + 1) + 1 + n_ours + sink)]
    return np.asarray(flow.data[places], dtype=np.int64)
