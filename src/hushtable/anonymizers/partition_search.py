"""Search partitions of least loss whose blocks publish cell candidates: exactly, or improving a given one.

A partition is the block (the future equivalence class) of every row; its cost is the sum of weighted cells of the
candidates that its blocks publish. A few rows are solved over all their subsets, more by set partitioning with column
generation. Else simulated annealing changes blocks as a `Check` allows, and small groups are solved exactly.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.cell_candidates import Candidates, CandidateSpace
from hushtable.anonymizers.judging import Judge, split_large_classes
from hushtable.kernels import cost, pricing, regroup
from hushtable.kernels.cost import COST_TOLERANCE
from hushtable.search import Clock, check_memory, say_if_first_run, solver

MOST_ROWS = 16  # more rows have too many subsets: every row triples the time


@dataclass(frozen=True, slots=True, eq=False)
class Smallest:
    """The cheapest partitions of a few rows."""

    labels: CodeArray  # of one of them, the best by the cost that breaks ties
    value: float  # a sum of weighted cells; inf where no partition satisfies the models
    ties: int  # partitions into blocks of that cost
    n_settled: int  # subsets that were solved
    n_pruned: int  # blocks that alone cost too much
    n_looked_up: int  # costs of blocks that were looked up
    block_costs: FloatArray  # (2^n_rows,): what each subset costs as one block
    is_block: BoolArray  # (2^n_rows,)
    least_costs: FloatArray  # (2^n_rows,): what each subset costs at least


def solve_over_subsets(space: CandidateSpace, judge: Judge) -> Smallest:
    """Find the cheapest partition of at most `MOST_ROWS` rows."""
    say_if_first_run(cost.cheapest_partitions, 5)
    n_subsets = 1 << space.n_rows
    first = cost.subset_costs(space.places, space.costs)
    second = first if space.tie_costs is space.costs else cost.subset_costs(space.places, space.tie_costs)
    is_block = _blocks_of_subsets(space.n_rows, judge)
    value, ties, ways = np.empty(n_subsets), np.empty(n_subsets), np.zeros(n_subsets)
    blocks, n_settled, n_pruned, n_looked_up = cost.cheapest_partitions(first, second, is_block, value, ties, ways)
    labels = np.zeros(space.n_rows, dtype=np.int32)
    free, label = n_subsets - 1, 0
    while free and np.isfinite(value[-1]):
        labels[_rows_of_subset(int(blocks[free]), space.n_rows)] = label
        free, label = free ^ int(blocks[free]), label + 1
    counted = (n_settled, n_pruned, n_looked_up)
    return Smallest(labels, float(value[-1]), int(ways[-1]), *counted, first, is_block, value)


def _blocks_of_subsets(n_rows: int, judge: Judge) -> BoolArray:
    """Tell which subsets may be blocks; if size alone decides, none that could be split in two."""
    bits = (np.arange(1 << n_rows)[:, None] >> np.arange(n_rows)) & 1
    sizes = bits.sum(axis=1)
    fits = sizes >= judge.min_size
    if judge.is_by_size:
        return np.asarray(fits & (sizes < 2 * judge.min_size))
    candidates = np.flatnonzero(fits)
    _, rows = np.nonzero(bits[candidates])
    fits[candidates] = judge.passes(np.append(0, np.cumsum(sizes[candidates])), rows.astype(np.int32))
    return np.asarray(fits)


def subset_prices(solved: Smallest) -> FloatArray:
    """Return the least cost of each row over all blocks that hold it."""
    n_rows = len(solved.labels)
    holds = ((np.arange(1 << n_rows)[:, None] >> np.arange(n_rows)) & 1).astype(bool)
    of_row = solved.block_costs / np.maximum(1, holds.sum(axis=1))
    return np.asarray(np.where(holds & solved.is_block[:, None], of_row[:, None], np.inf).min(axis=0))


def _rows_of_subset(subset: int, n_rows: int) -> CountArray:
    return np.flatnonzero((subset >> np.arange(n_rows)) & 1)


def best_tables(space: CandidateSpace, solved: Smallest, max_tables: int, clock: Clock) -> Iterator[CountArray]:
    """Yield at most so many distinct tables of least cost, until the clock ends it.

    Several partitions can give the same table.
    """
    max_looked = clock.budget.nodes or math.inf
    listed = [space.list_candidates(j) for j in range(len(space.columns))]
    seen: set[bytes] = set()
    for n_looked, partition in enumerate(_list_partitions(solved, (1 << space.n_rows) - 1), start=1):
        choices = [_list_ties(space, listed, _rows_of_subset(block, space.n_rows)) for block in partition]
        for picked in itertools.product(*(itertools.product(*each) for each in choices)):
            picks = np.empty(space.places.shape, dtype=np.int64)
            for block, each in zip(partition, picked, strict=True):
                picks[_rows_of_subset(block, space.n_rows)] = each
            if picks.tobytes() not in seen:
                seen.add(picks.tobytes())
                yield picks
            if len(seen) >= max_tables or clock.left <= 0:
                return
        if n_looked >= max_looked:
            return


def _list_partitions(solved: Smallest, free: int) -> Iterator[tuple[int, ...]]:
    """Yield the cheapest partitions of the free rows, each as its blocks."""
    if not free:
        yield ()
        return
    for block in cost.optimal_blocks(free, solved.block_costs, solved.is_block, solved.least_costs).tolist():
        for others in _list_partitions(solved, free ^ block):
            yield (block, *others)


def _list_ties(space: CandidateSpace, listed: list[Candidates], rows: CountArray) -> list[list[int]]:
    """Return, for every column, the common candidates of some rows that cost the least."""
    ties = []
    for j, candidates in enumerate(listed):
        at = space.places[rows, j]
        common = np.flatnonzero((candidates.first <= at.min()) & (at.max() <= candidates.last))
        costs = candidates.costs[common]
        ties.append(common[costs <= costs.min() + cost.COST_TOLERANCE].tolist())
    return ties


_ROWS_AT_ONCE = 10_000_000  # rows that the search for blocks looks at between two looks at the clock, at most
_MAX_BLOCKS_PER_SEARCH = 20_000  # more blocks take another search
_MOST_COLUMNS = 200_000  # integer programs of more are not tried
_NEGLIGIBLE = 1e-7
_SMOOTHING = 0.6  # weight of the best duals so far: smoothed duals need fewer rounds of pricing
_INFEASIBLE = 2  # scipy's status: no partition into these blocks
_MIN_SECONDS = 0.01  # time limit of a solver when the budget is over
_MAX_RELATIVE_GAP = 1e-6  # the share of the linear program's value that its bound may lie below
_GAP_SHARES = (0.1, 0.25, 0.5, 1.0)  # of the gap: ever larger limits of reduced cost for blocks of the integer program


@dataclass(slots=True, eq=False)
class Partitioning:
    """The best partition so far and a proven bound; both only improve."""

    labels: CodeArray
    value: float  # a sum of weighted cells
    bound: float  # proven
    prices: FloatArray  # (n_rows,): no block costs less than its rows' prices
    n_nodes: int = 0
    n_pruned: int = 0
    n_columns: int = 0

    @property
    def proven(self) -> float:
        """A cost that no partition goes below."""
        return self.value if self.is_proven else self.bound

    @property
    def is_proven(self) -> bool:
        """Whether nothing better can exist."""
        return self.bound >= self.value - _NEGLIGIBLE * max(1.0, self.value)


def solve_by_columns(
    space: CandidateSpace,
    k: int,
    incumbent: Partitioning,
    starts: list[CodeArray],
    nearest_costs: FloatArray,
    clock: Clock,
    report: Callable[[Partitioning], None],
) -> None:
    """Improve the incumbent, in place, until it is proven or the time is over.

    The linear program chooses blocks of k to 2 k - 1 rows (larger ones can be parted) so that every row lies in one. A
    depth-first search finds blocks that lower it. When there are none, its value is a bound, and all blocks whose
    reduced cost is below the distance to the best partition, the only ones in a better one, go into an integer program.
    """
    # Outlying rows are rooted first, while the lists of the other rows are still long.
    order = np.argsort(-nearest_costs, kind="stable")
    master = _BlockMaster(space, k, order, nearest_costs[order], incumbent, clock, report)
    for labels in (incumbent.labels, *starts):
        master.add_blocks(_blocks_of(split_large_classes(space.places, labels, k), order))
    generated = master.generate_blocks()
    if generated is not None:
        master.close_gap(*generated)
    incumbent.n_nodes, incumbent.n_pruned = master.n_nodes, master.n_pruned
    incumbent.n_columns = len(master.costs)


def _blocks_of(labels: CodeArray, order: CountArray) -> list[tuple[int, ...]]:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    ranked = np.argsort(labels, kind="stable")
    return [tuple(sorted(place[rows].tolist())) for rows in np.split(ranked, np.cumsum(np.bincount(labels))[:-1])]


class _BlockMaster:
    """The linear program over the blocks generated so far; rows are numbered in the order of `order`."""

    def __init__(
        self,
        space: CandidateSpace,
        k: int,
        order: CountArray,
        nearest_costs: FloatArray,
        incumbent: Partitioning,
        clock: Clock,
        report: Callable[[Partitioning], None],
    ) -> None:
        self.incumbent, self.clock, self.report = incumbent, clock, report
        self.places = np.ascontiguousarray(space.places[order])
        self.space, self.k, self.order, self.nearest_costs = space, k, order, nearest_costs
        self.blocks: list[tuple[int, ...]] = []
        self.seen: set[tuple[int, ...]] = set()
        self.costs: list[float] = []
        self.n_nodes = self.n_pruned = 0
        n_rows = len(order)
        check_memory(
            (2 * k - 1) * (4.0 * _MAX_BLOCKS_PER_SEARCH + 12.0 * n_rows),
            f"the proof for {n_rows} rows in blocks of {k}",
            "ask for no proof: proof_rows=0.",
        )
        self.found = pricing.FoundBlocks(
            np.empty((_MAX_BLOCKS_PER_SEARCH, 2 * k - 1), dtype=np.int32),
            np.empty(_MAX_BLOCKS_PER_SEARCH),
            np.zeros(n_rows),
            np.zeros(3, dtype=np.int64),
        )

    def add_blocks(self, blocks: list[tuple[int, ...]]) -> int:
        """Add blocks that are new; return how many."""
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

    def _build_matrix(self, picks: CountArray | None = None) -> Any:
        from scipy import sparse

        blocks = self.blocks if picks is None else [self.blocks[i] for i in picks.tolist()]
        columns = np.repeat(np.arange(len(blocks)), [len(each) for each in blocks])
        rows = np.concatenate([np.array(each) for each in blocks])
        return sparse.csc_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(self.order), len(blocks)))

    def _solve_relaxation(self) -> tuple[float, FloatArray] | None:
        """Solve the linear program; return its value and duals, or None where the time ended first."""
        solved = solver.linprog(
            self.costs,
            A_eq=self._build_matrix(),
            b_eq=np.ones(len(self.order)),
            method="highs",
            options={"time_limit": max(_MIN_SECONDS, self.clock.left)},
        )
        return None if solved.status != 0 else (float(solved.fun), np.asarray(solved.eqlin.marginals))

    def _price_blocks(self, duals: FloatArray, below: float, *, is_all: bool) -> tuple[int, bool]:
        """Search blocks of reduced cost below a limit; return how many are new, and whether the search is complete."""
        n_rows, n_columns = self.places.shape
        stack = pricing.new_stack(n_rows, n_columns, self.k)
        wanted = pricing.Wanted(self.k, duals, self.nearest_costs, below, is_all, _ROWS_AT_ONCE // n_rows)
        self.found.best[:] = 0.0
        n_new, is_complete = 0, False
        while not is_complete:
            self.found.counts[:] = 0
            is_complete = bool(pricing.price_blocks(self.places, self.space.costs, wanted, stack, self.found))
            n_found, n_nodes, n_pruned = self.found.counts.tolist()
            self.n_nodes += n_nodes
            self.n_pruned += n_pruned
            rows = self.found.rows[:n_found].tolist()
            n_new += self.add_blocks([tuple(sorted(row for row in each if row >= 0)) for each in rows])
            if self.clock.is_over(self.n_nodes) or len(self.costs) > 2 * _MOST_COLUMNS:
                break
        return n_new, is_complete

    def generate_blocks(self) -> tuple[FloatArray, float] | None:
        """Add blocks until none lowers the linear program; return duals and their bound, None if the time is over."""
        centre: FloatArray | None = None
        incumbent, best_bound = self.incumbent, -np.inf
        while not self.clock.is_over(self.n_nodes):
            relaxed = self._solve_relaxation()
            if relaxed is None:
                return None
            value, duals = relaxed
            trial_duals = duals if centre is None else _SMOOTHING * centre + (1 - _SMOOTHING) * duals
            n_new, is_complete = self._price_blocks(trial_duals, -_NEGLIGIBLE, is_all=False)
            trial_bound = -np.inf
            if is_complete:
                prices = self._lower_prices(trial_duals)
                trial_bound = float(prices.sum())
                if trial_bound > best_bound:
                    best_bound, centre = trial_bound, trial_duals
                if best_bound > incumbent.bound:
                    incumbent.bound, incumbent.prices[self.order] = best_bound, prices
                    self.report(incumbent)
            if centre is not None and (value - best_bound < _MAX_RELATIVE_GAP * abs(value) or incumbent.is_proven):
                return centre, best_bound
            if n_new == 0 and is_complete:
                if np.array_equal(trial_duals, duals):
                    return trial_duals, trial_bound
                centre = None
        return None

    def _lower_prices(self, duals: FloatArray) -> FloatArray:
        """Lower prices until no block costs less than its rows' prices, in two ways; return the better one.

        Lower the price of each block's first row, or of all rows alike, as a block has at least k.
        """
        reduced = self.found.best
        firsts, all_rows = duals + reduced, duals + float(reduced.min()) / self.k
        return firsts if firsts.sum() > all_rows.sum() else all_rows

    def close_gap(self, duals: FloatArray, bound: float) -> None:
        """Solve integer programs over ever more blocks, until all that a better partition may use are included."""
        incumbent = self.incumbent
        for share in _GAP_SHARES:
            gap = incumbent.value - bound + _NEGLIGIBLE
            if incumbent.is_proven or self.clock.is_over(self.n_nodes):
                return
            _, is_complete = self._price_blocks(duals, share * gap, is_all=True)
            sums = np.array([duals[list(each)].sum() for each in self.blocks])
            picks = np.flatnonzero(np.array(self.costs) - sums <= share * gap)
            if not is_complete or len(picks) > _MOST_COLUMNS:
                return
            inside = self._choose_blocks(picks)
            # A partition with a block left out costs at least the bound plus that block's reduced cost.
            incumbent.bound = max(incumbent.bound, min(inside, incumbent.value, bound + share * gap))
            self.report(incumbent)

    def _choose_blocks(self, picks: CountArray) -> float:
        """Find the best partition into some of the blocks; return a lower bound of all such partitions."""
        from scipy.optimize import Bounds, LinearConstraint

        solved = solver.milp(
            np.array(self.costs)[picks],
            integrality=np.ones(len(picks), dtype=np.int64),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(self._build_matrix(picks), 1, 1),
            # Presolve takes longer than it saves on these, and some versions of HiGHS then write to stdout.
            options={"mip_rel_gap": 0.0, "time_limit": max(_MIN_SECONDS, self.clock.left), "presolve": False},
        )
        if solved.x is not None and solved.fun < self.incumbent.value - _NEGLIGIBLE:
            chosen = picks[solved.x > 0.5]
            for label, block in enumerate(chosen.tolist()):
                self.incumbent.labels[self.order[list(self.blocks[block])]] = label
            self.incumbent.value = float(solved.fun)
        if solved.status == _INFEASIBLE:
            return np.inf
        return -np.inf if solved.mip_dual_bound is None else float(solved.mip_dual_bound)


Cooling = tuple[int, float, float]

_SHARE_BIG = 0.1  # of the steps that merge or split
_STEPS_PER_SECOND = 300_000  # on a slow machine
_N_STAGES = 20
_CELLS_BETWEEN_LOOKS = 20_000_000  # cells that a kernel looks at between two looks at the clock
_MOST_PLACES = 2**28  # slots for rows in all blocks: one gigabyte
_MAX_ROWS_SOLVED = 12  # rows of neighbouring blocks that are solved together
_HINT = "ask for a smaller k, use method='mondrian', or anonymize parts of the table."


@dataclass(frozen=True, slots=True, eq=False)
class CheapestMates:
    """The nearest rows of each row: those it is made equal to most cheaply."""

    rows: CodeArray
    costs: FloatArray  # what one of the two then costs

    def prices(self, k: int) -> FloatArray:
        """Return what each row costs at least in a block of k rows or more, by its (k - 1)-th nearest row."""
        return self.costs[:, k - 2].copy() if k > 1 else np.zeros(len(self.costs))

    def bound(self, k: int) -> float:
        """Return a lower bound of the sum of weighted cells over all partitions into blocks of at least k rows."""
        return float(self.prices(k).sum())


def find_nearest(space: CandidateSpace, n_near: int, clock: Clock, labels: CodeArray | None = None) -> CheapestMates:
    """Find the `n_near` nearest rows of each row, or all others if there are fewer. O(n^2) cells.

    If the time is over before a row's turn, its mates are the rows that follow in the order of the partition's
    blocks, at a cost of 0. A cost of 0 keeps the lower bound true.
    """
    say_if_first_run(cost.find_nearest, 15)
    n_rows, n_columns = space.places.shape
    n_near = min(n_near, n_rows - 1)
    check_memory(28.0 * n_rows * n_near, f"finding the {n_near} nearest of {n_rows} rows", _HINT)
    order = np.arange(n_rows) if labels is None else np.argsort(labels, kind="stable")
    place = np.argsort(order)
    rows = order.astype(np.int32)[(place[:, None] + np.arange(1, n_near + 1)) % n_rows]
    costs = np.zeros((n_rows, n_near))
    n_together = max(1, _CELLS_BETWEEN_LOOKS // max(1, n_rows * n_columns))
    for begin in range(0, n_rows if n_near else 0, n_together):
        if clock.left <= 0:
            break
        cost.find_nearest(space.places, space.costs, n_near, rows, costs, begin, begin + n_together)
    return CheapestMates(rows, costs)


def partition_value(space: CandidateSpace, labels: CodeArray) -> float:
    """Cost a partition as a sum of weighted cells."""
    sizes = np.bincount(labels)
    out = np.empty(len(sizes))
    offsets = np.append(0, np.cumsum(sizes))
    cost.block_costs(space.places, space.costs, offsets, np.argsort(labels, kind="stable").astype(np.int32), out)
    return float(out @ sizes)


def anneal_partition(
    space: CandidateSpace,
    near: CheapestMates,
    labels: CodeArray,
    check: regroup.Check,
    state: CountArray,
    schedule: Cooling,
    clock: Clock,
) -> tuple[CodeArray, float]:
    """Anneal a partition; never return a worse one. Changes `state`, the random state, shape (1,), 1 to 2^31 - 2."""
    start_value = partition_value(space, labels)
    # Too much memory: a model that keeps nearly all rows in one block, which leaves nothing to change.
    if (int(labels.max()) + 1) * max(check.room, int(np.bincount(labels).max())) > _MOST_PLACES:
        return labels, start_value
    blocks = _build_blocks(space, labels, check)
    n_steps, hot, cold = schedule
    heats = hot * (cold / hot) ** (np.arange(_N_STAGES + 1) / _N_STAGES)
    stages = [(n_steps // _N_STAGES, *pair) for pair in itertools.pairwise(heats.tolist())]
    # A last stage so cold that no rise is accepted: it ends in a local optimum.
    for n_stage, begin, end in (*stages, (n_steps // 10, cold / 100, cold / 200)):
        done = 0
        while done < n_stage and clock.left > 0:
            now = begin * (end / begin) ** (done / n_stage)
            draws = regroup.DrawSchedule(
                state, n_stage - done, now, end, _SHARE_BIG, _CELLS_BETWEEN_LOOKS // space.places.shape[1]
            )
            done += int(regroup.anneal(space.places, space.costs, near.rows, blocks, check, draws)[0])
    best = np.unique(blocks.rows["block"], return_inverse=True)[1].astype(np.int32)
    value = partition_value(space, best)
    return (best, value) if value < start_value - COST_TOLERANCE else (labels, start_value)


def steps_within(n_steps: int, seconds: float | None, n_runs: int) -> int:
    """Limit the steps of each of several runs so that all end in time."""
    if seconds is None:
        return n_steps
    return max(1_000, min(n_steps, int(_STEPS_PER_SECOND * seconds / n_runs)))


def polish_partition(
    space: CandidateSpace, near: CheapestMates, labels: CodeArray, judge: Judge, clock: Clock
) -> tuple[CodeArray, float]:
    """Solve groups of neighbouring blocks exactly, one after another; never return a worse partition."""
    labels = labels.copy()
    for row in range(space.n_rows):
        if clock.left <= 0:
            break
        # Each block has its turn once, at its first row.
        if np.flatnonzero(labels == labels[row])[0] != row:
            continue
        rows = _rows_near_block(near, labels, row)
        if not len(rows):
            continue
        some = replace(space, places=np.ascontiguousarray(space.places[rows]))
        exact = solve_over_subsets(some, judge.take_rows(rows))
        was = np.unique(labels[rows], return_inverse=True)[1].astype(np.int32)
        if partition_value(some, was) - exact.value > COST_TOLERANCE:
            labels[rows] = labels.max() + 1 + exact.labels
            labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return labels, partition_value(space, labels)


def _rows_near_block(near: CheapestMates, labels: CodeArray, row: int) -> CountArray:
    """Return the rows of a row's block and of as many near blocks as can be solved together; empty if none is near."""
    picked, n_rows = [], 0
    for label in dict.fromkeys(labels[[row, *near.rows[row].tolist()]].tolist()):
        rows = np.flatnonzero(labels == label)
        if n_rows + len(rows) <= _MAX_ROWS_SOLVED:
            picked.append(rows)
            n_rows += len(rows)
    return np.sort(np.concatenate(picked)) if len(picked) > 1 else np.empty(0, dtype=np.int64)


def _build_blocks(space: CandidateSpace, labels: CodeArray, check: regroup.Check) -> regroup.Blocks:
    room = max(check.room, int(np.bincount(labels).max()))
    n_blocks = max(min(len(labels) // check.min_size, _MOST_PLACES // room), int(labels.max()) + 1)
    sizes = np.bincount(labels, minlength=n_blocks)
    used = np.flatnonzero(sizes)
    per_row, values = np.empty(len(used)), np.zeros(n_blocks)
    order, offsets = np.argsort(labels, kind="stable").astype(np.int32), np.append(0, np.cumsum(sizes[used]))
    cost.block_costs(space.places, space.costs, offsets, order, per_row)
    values[used] = per_row * sizes[used]
    return regroup.new_blocks(labels, values, room)
