"""Minimal generalization: the cell-level recoding of least loss, with a proof or a gap."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.anonymizers import cell_candidates, minimal_matchings, partition_search
from hushtable.anonymizers.cell_candidates import (
    CandidateSpace,
    infeasible_error,
    merge_equal_classes,
    publish_picks,
    row_texts,
)
from hushtable.anonymizers.evolution import Equal, Matched
from hushtable.anonymizers.judging import Judge, split_large_classes
from hushtable.anonymizers.method import Found, Offers, Problem
from hushtable.anonymizers.minimal_matchings import Choices
from hushtable.anonymizers.mondrian import Mondrian
from hushtable.anonymizers.partition_search import (
    CheapestMates,
    Partitioning,
    anneal_partition,
    find_nearest,
    partition_value,
    polish_partition,
    steps_within,
)
from hushtable.errors import InputError, check_whole
from hushtable.kernels.cost import COST_TOLERANCE
from hushtable.models import KAnonymity, MatchingNotion
from hushtable.quality import CellLoss, Certainty, Loss, MinimalDistortion, SetNCP
from hushtable.recoding import Recoding
from hushtable.search import Clock, Effort
from hushtable.tables import Partition

_MAX_SECONDS = 60.0
_STEPS_PER_ROW = 2_000
_MOST_STEPS = 20_000_000
_N_STARTS = 3
_N_NEAR = 16
_MOST_TABLES = 10_000
_CELLS_PER_DRAW = 200_000  # about
_SHARE_OF_START = 0.3  # of the time, for Mondrian
_SHARE_OF_NEAREST = 0.4  # of the time that is then left
_TEMPERATURE_SHARES = (0.1, 0.005)  # first and last temperature, as shares of what a row of stars costs


@dataclass(frozen=True, slots=True)
class MinGen:
    """Generalize single cells at the least loss there is, and say what is proven.

    A cell publishes its value, an ancestor in its column's hierarchy, an interval between two values, or ``*``. The
    loss says which of them costs what. Up to 16 rows are solved by a shortest path over subsets, whatever the models.
    k-anonymity alone is solved up to ``proof_rows`` by set partitioning. More rows are solved from Mondrian's blocks
    on, by exchange between blocks and exact solutions within groups of them, with a lower bound. The release has a
    certificate of its floor, for `hushtable.check_certificate`.

    Parameters
    ----------
    n_best : int
        So many distinct tables of the least loss, as far as there are any: the first is the
        release, the others are its ``alternatives``. Up to 16 rows; of matching notions up to
        40, as long as no more than 2 million partial tables have to be searched.
    tie_break : MinimalDistortion, Certainty or SetNCP, optional
        Decides among tables of the same loss. Up to 16 rows; of matching notions up to 40; of
        drawn tables however many rows there are.
    iterations : int, optional
        Instead of a search, draw so many tables and keep the best of those that pass, or the
        table of ``*``. Every cell of a drawn table publishes any of its candidates, each as likely
        as any other: what guessing is worth. -1 is the same as None, as in MG-GA.
    proof_rows : int
        Rows up to which a proof is tried for k-anonymity.
    seed : int

    Notes
    -----
    Sweeney's MinGen, "Achieving k-anonymity privacy protection using generalization and suppression", IJUFKS 10(5),
    2002, section 4, tries all tables. Here equal rows are what is searched for: a block of rows publishes the cheapest
    candidates that its rows have in common, and blocks of 2 k rows or more are never needed for k-anonymity alone,
    because their parts cost no more. For other models blocks of any size are tried. Of the matching notions
    (`hushtable.models.matching`) the options of each row go into an integer program.

    Without a budget a search ends after 60 seconds; what depends on the clock is then only how
    much is proven, how many ties are listed, and, above 16 rows, how far blocks are improved.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [21, 25, 30, 21], "sex": ["f", "m", "m", "f"]})
    >>> release = ht.anonymize(people, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)],
    ...                        method=ht.MinGen(), loss="certainty")
    >>> release.frame.rows()
    [('21', 'f'), ('[25, 30]', 'm'), ('[25, 30]', 'm'), ('21', 'f')]
    >>> round(release.loss, 4), release.trace.optimal
    (1.1111, True)
    """

    n_best: int = 1
    tie_break: Loss | None = None
    iterations: int | None = None
    proof_rows: int = 400
    seed: int = 0

    name: ClassVar[str] = "mingen"

    @property
    def offers(self) -> Offers:
        """Every loss that is a sum over cells; matching notions."""
        losses = ("ncp", "minimal_distortion", "certainty")
        return Offers(losses, parts_equal_records=True, finds_matchings=True, merges_classes=True)

    def __post_init__(self) -> None:
        if self.iterations == -1:
            object.__setattr__(self, "iterations", None)
        for name, least in (("n_best", 1), ("iterations", 1), ("proof_rows", 0), ("seed", 0)):
            if name != "iterations" or self.iterations is not None:
                check_whole(f"MinGen was given {name}", getattr(self, name), least)
        if self.tie_break is not None and not isinstance(self.tie_break, CellLoss):
            raise InputError(
                f"MinGen was given tie_break={getattr(self.tie_break, 'name', self.tie_break)!r}.",
                hint="a loss that is a sum over cells: ncp, minimal_distortion or certainty.",
            )

    def search(self, problem: Problem) -> Found:
        """Find the cheapest table whose classes pass; a budget's nodes are steps of the exchange, or blocks."""
        space = cell_candidates.lay_out(problem.table, problem.columns, problem.ladders, problem.loss, self.tie_break)
        if self.iterations is not None:
            return self._draw_tables(space, problem, self.iterations)
        if problem.notion is not None:
            return self._search_matchings(space, problem, problem.notion)
        if space.n_rows <= partition_search.MOST_ROWS:
            return self._solve_exactly(space, problem)
        self._refuse_ties(space.n_rows)
        return self._search_blocks(space, problem)

    def _search_matchings(self, space: CandidateSpace, problem: Problem, notion: MatchingNotion) -> Found:
        """Search under a matching notion; with many rows pair them, or use k-anonymity, which is stricter."""
        clock = problem.clock.with_default_end(_MAX_SECONDS)
        if space.n_rows <= minimal_matchings.MOST_ROWS:
            result = minimal_matchings.search_matchings(repr(self), space, notion, self.n_best, self.tie_break, clock)
            if result is not None:
                return result
        else:
            self._refuse_ties(space.n_rows)
        if notion.k == 2 and space.n_rows <= minimal_matchings.MOST_PAIRED:
            recoding = space.recode_runs(*minimal_matchings.pair_rows(space))
            table = merge_equal_classes(recoding, np.arange(space.n_rows, dtype=np.int32))
            n_nodes, complete = space.n_rows, True
        else:
            judge = replace(problem.judge, models=(KAnonymity(notion.k),))
            result = self._search_blocks(space, replace(problem, judge=judge, notion=None))
            table, n_nodes, complete = (result.partition, result.recoding), result.trace.nodes, result.trace.complete
        value = problem.loss.measure(table[1], table[0].sizes)
        # The k - 1 nearest rows bound a published row only if it has to match k originals; else no bound is known.
        is_published = "published" in notion.sides
        bound = find_nearest(space, notion.k - 1, clock).bound(notion.k) * space.scale if is_published else 0.0
        return Found(*table, clock.build_trace(repr(self), n_nodes, value=value, bound=bound, complete=complete))

    def _refuse_ties(self, n_rows: int) -> None:
        if self.n_best > 1 or self.tie_break is not None:
            raise InputError(
                f"ties of {n_rows} rows were asked for.",
                hint=f"n_best and tie_break are for up to {partition_search.MOST_ROWS} rows.",
            )

    def _solve_exactly(self, space: CandidateSpace, problem: Problem) -> Found:
        """Solve a few rows exactly, with their ties."""
        solved = partition_search.solve_over_subsets(space, problem.judge)
        if not math.isfinite(solved.value):
            raise infeasible_error(problem.judge.models, space.n_rows)
        best = merge_equal_classes(space.recode_classes(solved.labels, int(solved.labels.max()) + 1), solved.labels)
        alternatives = self._list_alternatives(space, solved, best, problem.clock.with_default_end(_MAX_SECONDS))
        effort = Effort(
            solved.n_settled,
            solved.n_pruned,
            max(0, solved.n_looked_up - int(solved.is_block.sum())),
            space.log10_size(),
            solved.ties,
        )
        value = solved.value * space.scale
        trace = problem.clock.build_trace(repr(self), solved.n_settled, value=value, bound=value, effort=effort)
        proven = _Proven(solved.labels, partition_search.subset_prices(solved), solved.value, solved.value)
        others = tuple(Found(*other, trace) for other in alternatives)
        return Found(*best, trace, others=others, evidence=_build_evidence(problem, space, proven))

    def _list_alternatives(
        self, space: CandidateSpace, solved: partition_search.Smallest, best: tuple[Partition, Recoding], clock: Clock
    ) -> tuple[tuple[Partition, Recoding], ...]:
        """List other tables of the least loss, the best by the second cost first."""
        if self.n_best == 1:
            return ()
        tables = self._rank_tables(space, partition_search.best_tables(space, solved, self._n_listed, clock))
        texts = row_texts(*best)
        return tuple(itertools.islice((each for each in tables if row_texts(*each) != texts), self.n_best - 1))

    @property
    def _n_listed(self) -> int:
        """How many tables of the least loss are listed: many if a second loss decides among them."""
        return self.n_best if self.tie_break is None else _MOST_TABLES

    def _rank_tables(self, space: CandidateSpace, tables: Iterable[CountArray]) -> list[tuple[Partition, Recoding]]:
        """Publish tables; return them with the best by the second loss first."""
        pairs = [publish_picks(space, picks) for picks in tables]
        tie_break = self.tie_break
        return pairs if tie_break is None else sorted(pairs, key=lambda each: tie_break.measure(each[1], each[0].sizes))

    def _draw_tables(self, space: CandidateSpace, problem: Problem, n_tables: int) -> Found:
        """Draw all cells of some tables; return the best of them and of the table of ``*``."""
        judge, notion, clock, rng = problem.judge, problem.notion, problem.clock, np.random.default_rng(self.seed)
        if not (space.n_rows >= notion.k if notion else judge.passes_as_one_class()):
            raise infeasible_error([notion] if notion else judge.models, space.n_rows)
        choices = Choices.from_space(space)
        least_cost = float(choices.table_costs(choices.stars[None])[0])
        best_tables = {choices.stars.tobytes(): choices.stars}
        condition = Matched(choices, notion) if notion else Equal.from_choices(choices, judge.min_size, self.seed)
        # `are_feasible` is enough for matching notions and models of size; other models judge each table.
        needs_judging = not (notion or judge.is_by_size)
        n_together = min(max(1, _CELLS_PER_DRAW // space.places.size), condition.n_together)
        clock.record_improvement(least_cost * space.scale, at=0.0)
        n_drawn, n_asked = 0, min(n_tables, problem.clock.budget.nodes or n_tables)
        while n_drawn < n_asked and clock.left > 0:
            # Always draw as many at once: the first tables must not depend on `n_tables`.
            pool = choices.draw_tables(n_together, rng)[: n_asked - n_drawn]
            costs = choices.table_costs(pool)
            cheap = np.flatnonzero(costs <= least_cost + COST_TOLERANCE)
            for i in cheap[condition.are_feasible(pool[cheap])].tolist():
                # `least_cost` may have fallen within this pool.
                is_dearer = costs[i] > least_cost + COST_TOLERANCE
                if is_dearer or (needs_judging and not judge.passes_labels(_label_rows(pool[i]))):
                    continue
                if costs[i] < least_cost - COST_TOLERANCE:
                    least_cost, best_tables = float(costs[i]), {}
                    clock.record_improvement(least_cost * space.scale, at=float(n_drawn + i))
                if len(best_tables) < self._n_listed:
                    best_tables[pool[i].tobytes()] = pool[i]
            n_drawn += len(pool)
            clock.report_progress(n_drawn / n_tables)
        ranked = self._rank_tables(space, best_tables.values())
        effort = Effort(n_drawn, 0, 0, space.log10_size(), None, tuple(clock.history))
        trace = clock.build_trace(repr(self), n_drawn, complete=False, seed=self.seed, effort=effort)
        distinct: dict[object, tuple[Partition, Recoding]] = {}
        for each in ranked:
            distinct.setdefault(row_texts(*each), each)
        best, *others = (Found(*each, trace) for each in distinct.values())
        return replace(best, others=tuple(others[: self.n_best - 1]))

    def _search_blocks(self, space: CandidateSpace, problem: Problem) -> Found:
        """Anneal Mondrian's blocks, then prove the result or polish it, as time allows."""
        judge, budget, clock = problem.judge, problem.clock.budget, problem.clock.with_default_end(_MAX_SECONDS)
        labels, near = start_with_mondrian(space, problem, clock)
        prices = near.prices(judge.min_size)
        incumbent = Partitioning(labels, partition_value(space, labels), float(prices.sum()), prices)
        record = partial(_record_progress, space.scale, clock)
        record(incumbent)
        n_steps = min(_STEPS_PER_ROW * space.n_rows, _MOST_STEPS, (budget.nodes or math.inf) // _N_STARTS)
        is_provable = judge.is_by_size and judge.min_size > 1 and space.n_rows <= self.proof_rows
        # The proof gets as much time as all annealing runs together, the polish as much as one run.
        n_time_shares = 2 * _N_STARTS if is_provable else _N_STARTS + 1
        n_steps = steps_within(int(n_steps), budget.seconds, n_time_shares)
        starts = self._anneal_blocks(space, judge, near, incumbent, n_steps, clock, record)
        if is_provable:
            nearest_costs = near.costs[:, judge.min_size - 2].copy()
            partition_search.solve_by_columns(space, judge.min_size, incumbent, starts, nearest_costs, clock, record)
        else:
            polished, value = polish_partition(space, near, incumbent.labels, judge, clock)
            if value < incumbent.value:
                incumbent.labels, incumbent.value = polished, value
                record(incumbent)
        labels = incumbent.labels
        table = merge_equal_classes(space.recode_classes(labels, int(labels.max()) + 1), labels)
        trace = clock.build_trace(
            repr(self),
            incumbent.n_nodes + n_steps * (len(starts) - 1),
            value=incumbent.value * space.scale,
            bound=incumbent.proven * space.scale,
            complete=incumbent.is_proven or clock.left > 0,
            seed=self.seed,
            effort=Effort(incumbent.n_nodes, incumbent.n_pruned, 0, space.log10_size(), None, tuple(clock.history)),
        )
        proven = _Proven(incumbent.labels, incumbent.prices, incumbent.value, incumbent.proven)
        return Found(*table, trace, evidence=_build_evidence(problem, space, proven))

    def _anneal_blocks(
        self,
        space: CandidateSpace,
        judge: Judge,
        near: CheapestMates,
        incumbent: Partitioning,
        n_steps: int,
        clock: Clock,
        record: Callable[[Partitioning], None],
    ) -> list[CodeArray]:
        """Anneal a few times from Mondrian's blocks; return all partitions, Mondrian's first."""
        state = np.array([self.seed % 2_147_483_645 + 1], dtype=np.int64)
        first, labelings = incumbent.labels, [incumbent.labels]
        check = judge.check_for_kernels(max(3 * judge.min_size, int(np.bincount(first).max())))
        hot, cold = temperatures(space)
        for _ in range(_N_STARTS):
            labels, value = anneal_partition(space, near, first, check, state, (n_steps, hot, cold), clock)
            labelings.append(labels)
            if value < incumbent.value:
                incumbent.labels, incumbent.value = labels.copy(), value
                record(incumbent)
            # The other half of the time is for the proof or the polish.
            if clock.left < clock.spent:
                break
        return labelings


def temperatures(space: CandidateSpace) -> tuple[float, float]:
    """Return the first and last temperature of annealing, in weighted cells."""
    star_cost = float(np.sum(space.costs.columns["star"])) or 1.0
    return _TEMPERATURE_SHARES[0] * star_cost, _TEMPERATURE_SHARES[1] * star_cost


def start_with_mondrian(space: CandidateSpace, problem: Problem, clock: Clock) -> tuple[CodeArray, CheapestMates]:
    """Return Mondrian's blocks in the same candidate space, and the rows nearest to each."""
    judge, names = problem.judge, problem.columns
    laddered = {name: ladder for name, ladder in zip(names, space.hierarchies, strict=True) if ladder is not None}
    mondrian_problem = replace(
        problem, ladders={**problem.ladders, **laddered}, loss=SetNCP(), clock=clock.start_part(_SHARE_OF_START)
    )
    by_mondrian = Mondrian().search(mondrian_problem).partition
    if judge.list_failing_models(by_mondrian):
        raise infeasible_error(judge.models, space.n_rows)
    labels = by_mondrian.labels
    labels = split_large_classes(space.places, labels, judge.min_size) if judge.is_by_size else labels.copy()
    n_near = max(judge.min_size - 1, _N_NEAR)
    return labels, find_nearest(space, n_near, clock.start_part(_SHARE_OF_NEAREST), labels)


@dataclass(frozen=True, slots=True, eq=False)
class _Proven:
    """A partition, and a lower bound of the cost of all partitions, in weighted cells."""

    labels: CodeArray
    prices: FloatArray  # (n_rows,): no block costs less than its rows' prices
    value: float
    bound: float


def _build_evidence(problem: Problem, space: CandidateSpace, proven: _Proven) -> Mapping[str, Any] | None:
    """Return the evidence for a certificate; None if the checker does not know the loss or the models."""
    judge = problem.judge
    is_known = type(problem.loss) in (SetNCP, Certainty, MinimalDistortion) and not judge.without_rule
    if not is_known or problem.n_suppressed_before or judge.person is not None or judge.population is not None:
        return None
    table = problem.table
    codes = [table.codes[table.index(name)] for name in (*problem.columns, *judge.counted)]
    # Sorted by codes, as the checker sees rows; equal rows may change places, as their prices are equal.
    order = np.lexsort(tuple(codes[::-1]))
    return {
        "kind": "blocks",
        "columns": list(problem.columns),
        "n_records": space.n_rows,
        "value": proven.value * space.scale,
        "bound": proven.bound * space.scale,
        "classes": proven.labels[order].tolist(),
        "prices": (proven.prices[order] * space.scale).tolist(),
    }


def _label_rows(picks: CountArray) -> CodeArray:
    """Number the classes of equal rows of a table of candidates."""
    return np.unique(picks, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)


def _record_progress(scale: float, clock: Clock, incumbent: Partitioning) -> None:
    """Record the state of the search; report the share of its seconds as progress."""
    clock.record_improvement(incumbent.value * scale, incumbent.bound * scale)
    clock.report_progress(clock.spent / (clock.spent + clock.left))
