"""The fewest stars that make A independent of equal-sized clusters: how the search is done, and how good it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.masking.assignment import descend, pivot
from hushtable.masking.dealing import Dealing, Types, greedy, kept_cells, subsets
from hushtable.masking.programme import Programme, floor_of
from hushtable.search import Budget, solver

__all__ = ["METHODS", "Masking", "Method", "agreement_bound", "mask"]

Method = Literal["auto", "exact", "greedy", "pivot"]
METHODS: Final = ("auto", "exact", "greedy", "pivot")

_EXACT = 12_000  # edges of a programme that the integer solver ends within about a second
_RELAXED = 140_000  # and the linear one within about half a minute
_THINNED = 125_000  # kept of a larger one, which takes most of a minute
_THINNED_MUCH = 80_000  # kept of one so large that most of it goes: the rest says little, and shall not take as long
_NODES = 2_000  # of the integer solver, where no budget says
_SWEEPS = 20
_AGREEING = 9  # columns of A whose sets make a small programme
_FUZZ = 2e-6  # how far below the truth a floor may be that was computed with fractional weights


@dataclass(frozen=True, slots=True)
class Masking:
    """A dealing, and what is known of the best one.

    Attributes
    ----------
    dealing : Dealing
    cost : float
        Stars, each times its column's weight.
    bound : float
        No dealing costs less.
    n_nodes : int
        Programmes and nodes of the integer solver settled.
    complete : bool
        False where a budget ended the search.
    """

    dealing: Dealing
    cost: float
    bound: float
    n_nodes: int
    complete: bool

    @property
    def optimal(self) -> bool:
        """Whether no dealing costs less; with fractional weights, not two millionths less."""
        return _meets(self.cost, self.bound)


def mask(types: Types, method: Method, budget: Budget) -> Masking:
    """Deal the records of equal-sized clusters into groups with few stars.

    Parameters
    ----------
    types : Types
    method : {"auto", "exact", "greedy", "pivot"}
        As in `hushtable.mask_dependence`.
    budget : Budget
    """
    search = _Search(types, budget, time.perf_counter())
    dealing, bound, n_nodes, complete = {
        "auto": search.auto,
        "exact": search.exact,
        "greedy": search.greedy,
        "pivot": search.pivot,
    }[method]()
    bound = max(bound, agreement_bound(types))
    return Masking(dealing, dealing.cost(types), bound, n_nodes, complete)


def agreement_bound(types: Types) -> float:
    """Return a cost that no dealing goes below: what sets of columns could be kept at most, put together.

    Notes
    -----
    A linear programme over the 2^d sets of columns: the groups that keep at least the columns
    of a set are no more than the sum, over the cells there, of what the poorest cluster
    holds. It contains the bound by the groups without a star and the bounds by single columns.
    """
    n_columns = len(types.weights)
    if n_columns > _AGREEING:
        return _simple_bound(types)
    sets = subsets(n_columns)
    masks = np.array([sum(1 << column for column in columns) for columns in sets])
    holds = (masks[None, :] & masks[:, None]) == masks[:, None]
    kept = np.array([types.weights[list(columns)].sum() for columns in sets])
    room = np.array([_room(types, columns) for columns in sets])
    solution = solver.linprog(-kept, A_ub=holds.astype(np.float64), b_ub=room, bounds=(0, None), method="highs-ds")
    if solution.x is None:
        return _simple_bound(types)
    hidden = float(types.weights.sum()) * types.n_groups - float(kept @ solution.x)
    return floor_of(types.n_clusters * hidden, types)


def _simple_bound(types: Types) -> float:
    """Return the better of two floors: by the groups that keep everything, and by each column alone."""
    everything = range(len(types.weights))
    starred = (types.n_groups - _room(types, everything)) * float(types.weights.min())
    alone = [weight * (types.n_groups - _room(types, [column])) for column, weight in enumerate(types.weights.tolist())]
    return floor_of(types.n_clusters * max(starred, sum(alone)), types)


def _room(types: Types, columns: Sequence[int]) -> int:
    """Return how many groups could keep these columns: over the cells there, what the poorest cluster holds."""
    labels = kept_cells(types.values, columns)
    named = labels >= 0
    width = int(labels.max(initial=-1)) + 1
    held = [np.bincount(labels[named], row[named], width) for row in types.supply]
    return int(np.min(held, axis=0).sum())


Outcome = tuple[Dealing, float, int, bool]


@dataclass(frozen=True, slots=True)
class _Search:
    types: Types
    budget: Budget
    began: float

    def left(self) -> float | None:
        """Return the seconds that are left, if any end is set."""
        return None if self.budget.seconds is None else self.budget.seconds - (time.perf_counter() - self.began)

    def is_late(self) -> bool:
        left = self.left()
        return left is not None and left <= 0

    def auto(self) -> Outcome:
        programme = Programme.of(self.types)
        if programme.n_edges <= _EXACT:
            return self._solved(programme)
        best = greedy(self.types)
        is_whole = programme.n_edges <= _RELAXED
        relaxed = (
            programme if is_whole else (programme := programme.thinned(_worth_keeping(programme.n_edges)))
        ).relaxed(self.left())
        if relaxed is None:
            return best, 0.0, 0, False
        best = self._better(best, programme.realised(_whole(relaxed[0])))
        # A programme of the promising patterns alone says nothing of the others.
        return best, relaxed[1] if is_whole else 0.0, 1, True

    def exact(self) -> Outcome:
        return self._solved(Programme.of(self.types))

    def greedy(self) -> Outcome:
        return descend(self.types, greedy(self.types), _SWEEPS), 0.0, 1, True

    def pivot(self) -> Outcome:
        best, bound = pivot(self.types, 0)
        for cluster in range(1, self.types.n_clusters):
            if self.is_late():
                return best, bound, cluster, False
            other, floor = pivot(self.types, cluster)
            best, bound = min(best, other, key=lambda each: each.cost(self.types)), max(bound, floor)
        return descend(self.types, best, _SWEEPS), bound, self.types.n_clusters, True

    def _solved(self, programme: Programme) -> Outcome:
        best = greedy(self.types)
        if not programme.n_edges:
            return best, best.cost(self.types), 0, True
        # Nearly always the linear relaxation is whole, or is once rounded down: no branching is needed.
        relaxed = programme.relaxed(self.left())
        if relaxed is None:
            return best, 0.0, 0, False
        best = self._better(best, programme.realised(_whole(relaxed[0])))
        if _meets(best.cost(self.types), relaxed[1]):
            return best, relaxed[1], 1, True
        groups, bound, n_nodes = programme.solved(self.budget.nodes or _NODES, self.left())
        if groups is not None:
            best = self._better(best, programme.realised(groups))
        bound = max(bound, relaxed[1])
        if not _meets(best.cost(self.types), bound):
            best = descend(self.types, best, _SWEEPS)
        return best, bound, n_nodes, _meets(best.cost(self.types), bound)

    def _better(self, one: Dealing, other: Dealing) -> Dealing:
        return min(one, other, key=lambda each: each.cost(self.types))


def _meets(cost: float, bound: float) -> bool:
    return cost <= bound * (1 + _FUZZ)


def _worth_keeping(n_edges: int) -> int:
    return _THINNED if n_edges <= 4 * _THINNED else _THINNED_MUCH


def _whole(groups: FloatArray) -> CountArray:
    return np.asarray(np.floor(groups + 1e-6), dtype=np.int64)
