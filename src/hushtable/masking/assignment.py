"""One cluster dealt to groups at least cost: an assignment of its records to what groups publish."""

from __future__ import annotations

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.masking.dealing import STAR, Dealing, Types, aligned, joined, patterns
from hushtable.masking.programme import Programme

__all__ = ["descend", "pivot"]

_RECORDS = 1_000  # a cost matrix of this many rows is solved in a blink; past it, a linear programme is quicker


def pivot(types: Types, cluster: int) -> tuple[Dealing, float]:
    """Match every cluster to one of them at least cost; return the dealing and a floor under the cost of all.

    Notes
    -----
    A group hides no more than what its members differ in from the pivot's, cell by cell,
    and no dealing costs less than the dearest of these matchings times the number of clusters:
    by the triangle inequality the cost is at most u - 1 times the least, whatever the weights.
    """
    ours = types.supply[cluster]
    columns, runs = [], []
    dearest = 0.0
    for other, theirs in enumerate(types.supply):
        if other == cluster:
            matched, given, counts = np.arange(len(ours)), np.arange(len(ours)), ours
        else:
            matched, given, counts = _match(types.values, ours, types.values, theirs, types.weights)
            lost = _cost(types.values[matched], types.values[given], types.weights)
            dearest = max(dearest, float(lost @ counts))
        order = np.argsort(matched, kind="stable")
        columns.append(given[order])
        runs.append(counts[order])
    places, counts = aligned(runs)
    members = np.array([column[place] for column, place in zip(columns, places, strict=True)], dtype=np.int32)
    return joined([Dealing(np.ascontiguousarray(members.T), counts)]), types.n_clusters * dearest


def descend(types: Types, dealing: Dealing, n_sweeps: int) -> Dealing:
    """Take one cluster after another out of all groups and put its records back at least cost, while that helps."""
    cost = dealing.cost(types)
    unchanged = 0
    for step in range(n_sweeps * types.n_clusters):
        candidate = _dealt_anew(types, dealing, step % types.n_clusters)
        found = candidate.cost(types)
        unchanged = 0 if found < cost - 1e-9 else unchanged + 1
        if found <= cost:
            dealing, cost = candidate, found
        if unchanged == types.n_clusters:
            break
    return dealing


def _dealt_anew(types: Types, dealing: Dealing, cluster: int) -> Dealing:
    cells, of_group = np.unique(patterns(types, dealing, without=cluster), axis=0, return_inverse=True)
    of_group = of_group.ravel()
    demand = np.zeros(len(cells), dtype=np.int64)
    np.add.at(demand, of_group, dealing.counts)
    matched, given, counts = _match(cells, demand, types.values, types.supply[cluster], types.weights)
    groups, pairs = np.argsort(of_group, kind="stable"), np.argsort(matched, kind="stable")
    (group, pair), lengths = aligned([dealing.counts[groups], counts[pairs]])
    members = dealing.members[groups[group]]
    members[:, cluster] = given[pairs[pair]]
    return joined([Dealing(members, lengths)])


def _match(
    cells: CodeArray, demand: CountArray, values: CodeArray, supply: CountArray, weights: FloatArray
) -> tuple[CountArray, CountArray, CountArray]:
    """Match what groups publish with types so that the least weight of published cells is lost.

    Patterns that publish every column get their own type first, which costs nothing later: by
    the triangle inequality the partners that two equal ones leave can be matched at no more
    than what they cost apart.
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
        solve = _by_record if demand.sum() <= _RECORDS else _by_count
        parts.append(solve(cells, demand, values, supply, weights))
    matched, given, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
    return matched, given, counts


def _equal_rows(cells: CodeArray, values: CodeArray) -> CodeArray:
    """Return for every pattern without a star the type that it equals; -1 where there is none."""
    _, labels = np.unique(np.concatenate((values, cells)), axis=0, return_inverse=True)
    labels = labels.ravel()
    type_of = np.full(len(labels), -1, dtype=np.int32)
    type_of[labels[: len(values)]] = np.arange(len(values), dtype=np.int32)
    return np.where((cells == STAR).any(axis=1), np.int32(-1), type_of[labels[len(values) :]])


def _cost(cells: CodeArray, values: CodeArray, weights: FloatArray) -> FloatArray:
    """Weigh the published cells that are lost where types join; the last axis is the column."""
    return np.asarray(((cells != STAR) & (cells != values)) @ weights)


def _by_record(
    cells: CodeArray, demand: CountArray, values: CodeArray, supply: CountArray, weights: FloatArray
) -> tuple[CountArray, CountArray, CountArray]:
    from scipy.optimize import linear_sum_assignment

    ours, theirs = np.flatnonzero(demand), np.flatnonzero(supply)
    cost = _cost(cells[ours, None], values[None, theirs], weights)
    row = np.repeat(np.arange(len(ours)), demand[ours])
    column = np.repeat(np.arange(len(theirs)), supply[theirs])
    rows, columns = linear_sum_assignment(cost[np.ix_(row, column)])
    pairs, counts = np.unique(row[rows] * len(theirs) + column[columns], return_counts=True)
    return ours[pairs // len(theirs)], theirs[pairs % len(theirs)], counts


def _by_count(
    cells: CodeArray, demand: CountArray, values: CodeArray, supply: CountArray, weights: FloatArray
) -> tuple[CountArray, CountArray, CountArray]:
    """Solve the programme of two clusters, whose vertices are whole numbers."""
    pair = Types(
        np.concatenate((cells, values)),
        np.array([np.append(demand, np.zeros_like(supply)), np.append(np.zeros_like(demand), supply)]),
        weights,
    )
    programme = Programme.of(pair)
    relaxed = programme.relaxed()
    groups = np.rint(relaxed[0]).astype(np.int64) if relaxed else programme.room * 0
    dealing = programme.realised(groups)
    return dealing.members[:, 0].astype(np.int64), dealing.members[:, 1].astype(np.int64) - len(cells), dealing.counts
