"""Minimal generalization as set partitioning: column generation, then every column that may matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.anonymizers.minimal.candidates import CandidateSpace
from hushtable.anonymizers.minimal.regroup import parted
from hushtable.kernels import cost, pricing
from hushtable.search import Clock, check_memory, solver

__all__ = ["Partitioning", "solve"]

_SLICE = 10_000_000  # rows that the search for blocks looks at between two looks at the clock, at most
_ROOM = 20_000  # blocks that one search may give back
_MOST_COLUMNS = 200_000  # integer programs of more are not tried
_NEGLIGIBLE = 1e-7
_SMOOTHING = 0.6
_INFEASIBLE = 2  # as scipy reports it: no partition into those blocks
_SHORTEST = 0.01  # seconds that a solver is given at least
_SETTLED = 1e-6  # the share of the linear program's value that its bound may lie below
_SHARES = (0.1, 0.25, 0.5, 1.0)  # of the distance between bound and value, that reduced costs may reach


@dataclass(slots=True, eq=False)
class Partitioning:
    """What is known of the cheapest partition; it only becomes better.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_rows,)
    value : float
        A sum of weighted cells.
    bound : float
        Proven.
    n_nodes, n_pruned, n_columns : int
        Of the search for columns.
    """

    labels: CodeArray
    value: float
    bound: float
    n_nodes: int = 0
    n_pruned: int = 0
    n_columns: int = 0

    @property
    def is_proven(self) -> bool:
        """Whether nothing better can exist."""
        return self.bound >= self.value - _NEGLIGIBLE * max(1.0, self.value)


def solve(
    space: CandidateSpace,
    k: int,
    known: Partitioning,
    starts: list[CodeArray],
    least: FloatArray,
    clock: Clock,
    report: Callable[[Partitioning], None],
) -> None:
    """Improve what is known until it is proven, or the time is over.

    Parameters
    ----------
    space : CandidateSpace
    k : int
        Blocks hold k to 2 k - 1 rows, which is enough: a larger one can be parted.
    known : Partitioning
        Changed in place.
    starts : list of ndarray of int32, shape (n_rows,)
        Partitions whose blocks are the first columns.
    least : ndarray of float64, shape (n_rows,)
        What a row costs at least in any block.
    clock : Clock
        Nodes are those of the search for blocks.
    report : callable
        Called when the bound or the value became better.

    Notes
    -----
    The linear program chooses blocks so that every row lies in one. Blocks that lower it are
    found by depth-first search; when there are none, its value is a bound, and only blocks
    whose reduced cost is below the distance to the best partition can be part of a better
    one: all of them go into an integer program.
    """
    # Rows far from all others are rooted first, while the lists of the rest are still long.
    order = np.argsort(-least, kind="stable")
    master = _Master(space, k, order, least[order])
    for labels in (known.labels, *starts):
        master.add(_blocks_of(parted(space, labels, k), order))
    found = master.generate(known, clock, report)
    if found is not None:
        master.close(known, *found, clock, report)
    known.n_nodes, known.n_pruned = master.n_nodes, master.n_pruned
    known.n_columns = len(master.costs)


def _blocks_of(labels: CodeArray, order: CountArray) -> list[tuple[int, ...]]:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    ranked = np.argsort(labels, kind="stable")
    return [tuple(sorted(place[rows].tolist())) for rows in np.split(ranked, np.cumsum(np.bincount(labels))[:-1])]


class _Master:
    """The linear program over the blocks found so far; rows are numbered in the order of their roots."""

    def __init__(self, space: CandidateSpace, k: int, order: CountArray, least: FloatArray) -> None:
        self.places = np.ascontiguousarray(space.places[order])
        self.space, self.k, self.order, self.least = space, k, order, least
        self.blocks: list[tuple[int, ...]] = []
        self.seen: set[tuple[int, ...]] = set()
        self.costs: list[float] = []
        self.n_nodes = self.n_pruned = 0
        n_rows = len(order)
        check_memory(
            (2 * k - 1) * (4.0 * _ROOM + 12.0 * n_rows),
            f"the proof for {n_rows} rows in blocks of {k}",
            "ask for no proof: proof_rows=0.",
        )
        self.found = pricing.FoundBlocks(
            np.empty((_ROOM, 2 * k - 1), dtype=np.int32), np.empty(_ROOM), np.zeros(n_rows), np.zeros(3, dtype=np.int64)
        )

    def add(self, blocks: list[tuple[int, ...]]) -> int:
        """Add blocks that are not there yet; return how many."""
        new = [each for each in dict.fromkeys(blocks) if each not in self.seen]
        if new:
            offsets = np.cumsum([0, *map(len, new)])
            out = np.empty(len(new))
            rows = np.array([row for each in new for row in each], dtype=np.int32)
            cost.block_costs(self.places, self.space.costs, offsets, rows, out)
            self.costs.extend((out * np.diff(offsets)).tolist())
            self.blocks.extend(new)
            self.seen.update(new)
        return len(new)

    def _matrix(self, picks: CountArray | None = None) -> Any:
        from scipy import sparse

        blocks = self.blocks if picks is None else [self.blocks[i] for i in picks.tolist()]
        columns = np.repeat(np.arange(len(blocks)), [len(each) for each in blocks])
        rows = np.concatenate([np.array(each) for each in blocks])
        return sparse.csc_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(self.order), len(blocks)))

    def _relax(self, clock: Clock) -> tuple[float, FloatArray] | None:
        """Solve the linear program; return its value and duals, or None where the time ended first."""
        solved = solver.linprog(
            self.costs,
            A_eq=self._matrix(),
            b_eq=np.ones(len(self.order)),
            method="highs",
            options={"time_limit": max(_SHORTEST, clock.left)},
        )
        return None if solved.status != 0 else (float(solved.fun), np.asarray(solved.eqlin.marginals))

    def _price(self, duals: FloatArray, below: float, is_all: bool, clock: Clock) -> tuple[int, bool]:
        """Look for blocks of a reduced cost below; return how many are new, and whether none was missed."""
        n_rows, n_columns = self.places.shape
        stack = pricing.new_stack(n_rows, n_columns, self.k)
        wanted = pricing.Wanted(self.k, duals, self.least, below, is_all, _SLICE // n_rows)
        self.found.best[:] = 0.0
        n_new, is_complete = 0, False
        while not is_complete:
            self.found.counts[:] = 0
            is_complete = bool(pricing.price(self.places, self.space.costs, wanted, stack, self.found))
            n_found, n_nodes, n_pruned = self.found.counts.tolist()
            self.n_nodes += n_nodes
            self.n_pruned += n_pruned
            rows = self.found.rows[:n_found].tolist()
            n_new += self.add([tuple(sorted(row for row in each if row >= 0)) for each in rows])
            if clock.is_over(self.n_nodes) or len(self.costs) > 2 * _MOST_COLUMNS:
                break
        return n_new, is_complete

    def generate(
        self, known: Partitioning, clock: Clock, report: Callable[[Partitioning], None]
    ) -> tuple[FloatArray, float] | None:
        """Add blocks until none lowers the linear program; return duals and their bound, or None where time is over."""
        n_rows = len(self.order)
        centre: FloatArray | None = None
        highest = -np.inf
        while not clock.is_over(self.n_nodes):
            relaxed = self._relax(clock)
            if relaxed is None:
                return None
            value, duals = relaxed
            asked = duals if centre is None else _SMOOTHING * centre + (1 - _SMOOTHING) * duals
            n_new, is_complete = self._price(asked, -_NEGLIGIBLE, False, clock)
            reached = -np.inf
            if is_complete:
                reduced = self.found.best
                # Every block has one first row; and there are at most n / k blocks.
                missing = max(float(reduced.sum()), float(reduced.min()) * n_rows / self.k)
                reached = float(asked.sum()) + missing
                if reached > highest:
                    highest, centre = reached, asked
                if highest > known.bound:
                    known.bound = highest
                    report(known)
            if centre is not None and (value - highest < _SETTLED * abs(value) or known.is_proven):
                return centre, highest
            if n_new == 0 and is_complete:
                if np.array_equal(asked, duals):
                    return asked, reached
                centre = None
        return None

    def close(
        self,
        known: Partitioning,
        duals: FloatArray,
        bound: float,
        clock: Clock,
        report: Callable[[Partitioning], None],
    ) -> None:
        """Solve integer programs over ever more blocks, until all are in that may be part of a better partition."""
        for share in _SHARES:
            gap = known.value - bound + _NEGLIGIBLE
            if known.is_proven or clock.is_over(self.n_nodes):
                return
            _, is_complete = self._price(duals, share * gap, True, clock)
            sums = np.array([duals[list(each)].sum() for each in self.blocks])
            picks = np.flatnonzero(np.array(self.costs) - sums <= share * gap)
            if not is_complete or len(picks) > _MOST_COLUMNS:
                return
            inside = self._choose(known, picks, clock)
            # A partition that takes another block costs that block's reduced cost more than the bound.
            known.bound = max(known.bound, min(inside, known.value, bound + share * gap))
            report(known)

    def _choose(self, known: Partitioning, picks: CountArray, clock: Clock) -> float:
        """Find the best partition into some of the blocks; return a bound of all of those."""
        from scipy.optimize import Bounds, LinearConstraint

        solved = solver.milp(
            np.array(self.costs)[picks],
            integrality=np.ones(len(picks), dtype=np.int64),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(self._matrix(picks), 1, 1),
            # Presolve takes longer than it saves on these, and some versions of HiGHS then write to stdout.
            options={"mip_rel_gap": 0.0, "time_limit": max(_SHORTEST, clock.left), "presolve": False},
        )
        if solved.x is not None and solved.fun < known.value - _NEGLIGIBLE:
            chosen = picks[solved.x > 0.5]
            for label, block in enumerate(chosen.tolist()):
                known.labels[self.order[list(self.blocks[block])]] = label
            known.value = float(solved.fun)
        if solved.status == _INFEASIBLE:
            return np.inf
        return -np.inf if solved.mip_dual_bound is None else float(solved.mip_dual_bound)
