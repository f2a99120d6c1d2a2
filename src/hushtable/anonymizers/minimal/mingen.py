"""Minimal generalization: the cell-level recoding of least loss, with a proof or a gap."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from hushtable._types import CodeArray, CountArray, Progress
from hushtable.anonymizers.judging import BlockJudge
from hushtable.anonymizers.minimal import candidates, matchings, regroup, setpartition, smallest
from hushtable.anonymizers.minimal.answer import Answer, infeasible, merged, published, row_texts
from hushtable.anonymizers.minimal.candidates import Space
from hushtable.anonymizers.minimal.setpartition import Partitioning
from hushtable.anonymizers.mondrian import NO_HIERARCHIES, Mondrian
from hushtable.errors import InputError, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import cost
from hushtable.models.base import PrivacyModel
from hushtable.models.identity import KAnonymity
from hushtable.models.matching import MatchingNotion
from hushtable.partition import Partition
from hushtable.quality.loss import Loss, SetNCP
from hushtable.recoding import Recoding
from hushtable.search import Budget, Clock, Effort, Trace
from hushtable.table import Table

__all__ = ["MinGen", "start", "temperatures"]

_SECONDS = 60.0
_STEPS_PER_ROW = 2_000
_MOST_STEPS = 20_000_000
_N_STARTS = 3
_N_NEAR = 16
_MOST_TABLES = 10_000
_SHARE_OF_START = 0.3  # of the time, for Mondrian
_SHARE_OF_NEAREST = 0.4  # of what is then left
_MOST_PAIRED = 3_000
_TEMPERATURES = (0.1, 0.005)  # of what a cell costs at most, times the columns


@dataclass(frozen=True, slots=True)
class MinGen:
    """Generalize single cells at the least loss there is, and say what is proven.

    A cell publishes its value, an ancestor in its column's hierarchy, an interval between two
    values, or ``*``; which of them costs what, the loss says. Up to 16 rows are solved by a
    shortest path over subsets, whatever the models; k-anonymity alone up to
    ``proof_rows`` by set partitioning; more rows from Mondrian's blocks on, by exchange between
    blocks and exact solutions within groups of them, with a lower bound.

    Parameters
    ----------
    n_best : int
        So many distinct tables of the least loss, as far as there are any: the first is the
        release, the others are its ``alternatives``. Up to 16 rows; of matching notions up to
        40, as long as the beginnings that have to be looked at are no more than 2 million.
    tie_break : MinimalDistortion, Certainty or SetNCP, optional
        Decides among tables of the same loss. Up to 16 rows; of matching notions up to 40.
    iterations : int, optional
        Instead of a search, draw so many random partitions and keep the best.
    proof_rows : int
        Rows up to which a proof is tried for k-anonymity.
    seed : int

    Notes
    -----
    Sweeney's MinGen, "Achieving k-anonymity privacy protection using generalization and
    suppression", IJUFKS 10(5), 2002, section 4, tries all tables. Here equal rows are
    what is searched for: a block of rows publishes the cheapest candidates that its rows have in
    common, and blocks of 2 k rows or more are never needed for k-anonymity alone, because
    their parts cost no more. For other models blocks of any size are tried. Of the matching
    notions (`hushtable.models.matching`) the options of each row go into an integer program.

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

    strict: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("ncp", "minimal_distortion", "certainty")
    finds_matchings: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, least in (("n_best", 1), ("iterations", 1), ("proof_rows", 0), ("seed", 0)):
            given = getattr(self, name)
            if given is not None and (not isinstance(given, int) or given < least):
                msg = with_hint(f"MinGen was given {name} = {given!r}.", f"a whole number, {least} or more.")
                raise InputError(msg)

    def search(
        self,
        table: Table,
        quasi_identifiers: Sequence[str],
        models: Sequence[PrivacyModel],
        budget: Budget | None = None,
        progress: Progress | None = None,
        *,
        hierarchies: Mapping[str, Hierarchy] = NO_HIERARCHIES,
        loss: Loss | None = None,
        population: CountArray | None = None,
        reference: Table | None = None,
    ) -> tuple[Partition, Answer, Trace]:
        """Find the cheapest table that satisfies the models.

        Parameters
        ----------
        table : Table
            A row for every record.
        quasi_identifiers : sequence of str
        models : sequence of PrivacyModel
            Conditions on classes, or one matching notion alone.
        budget : Budget, optional
            Nodes are steps of the exchange and of the search for blocks.
        progress : callable, optional
        hierarchies : mapping of column to Hierarchy
        loss : Loss, optional
            The set-NCP when not given.
        population : None
            Models that count one are refused.
        reference : Table, optional
            Whose sensitive values models compare with.
        """
        clock = Clock.start(budget)
        space = candidates.lay_out(table, quasi_identifiers, hierarchies, loss or SetNCP(), self.tie_break)
        notions = [model for model in models if isinstance(model, MatchingNotion)]
        judge = BlockJudge(table, models, hierarchies, reference or table)
        if self.iterations is not None and not notions:
            return self._draw(space, judge, clock)
        if notions:
            judge = BlockJudge(table, [KAnonymity(notions[0].k)], hierarchies, table)
            return self._match(space, judge, notions[0], clock, progress)
        if space.n_rows <= smallest.MOST_ROWS:
            return self._solve(space, judge, clock)
        self._refuse_ties(space.n_rows)
        return self._improve(space, judge, clock, progress)

    def recode(
        self,
        table: Table,
        partition: Partition,
        answer: Answer,
        quasi_identifiers: Sequence[str],
        hierarchies: Mapping[str, Hierarchy] = NO_HIERARCHIES,
    ) -> Recoding:
        """Say what every class publishes."""
        return answer.recoding

    def _match(
        self, space: Space, judge: BlockJudge, notion: MatchingNotion, clock: Clock, progress: Progress | None
    ) -> tuple[Partition, Answer, Trace]:
        """Search under a matching notion; many rows are paired, or made k-anonymous, which is more than asked."""
        if space.n_rows <= matchings.MOST_ROWS:
            found = matchings.search(repr(self), space, notion, self.n_best, self.tie_break, _ending(clock))
            if found is not None:
                return found
        else:
            self._refuse_ties(space.n_rows)
        if notion.k == 2 and space.n_rows <= _MOST_PAIRED:
            partners, value = matchings.assign(space)
            other = space.places[partners]
            recoding = space.recode_runs(np.minimum(space.places, other), np.maximum(space.places, other))
            partition, recoding = merged(recoding, np.arange(space.n_rows, dtype=np.int32))
            answer, trace = Answer(recoding), Trace(repr(self), space.n_rows, 0.0)
        else:
            partition, answer, trace = self._improve(space, judge, clock, progress)
            value = regroup.partition_value(space, partition.labels)
        # A published row that covers k rows costs as much as the farthest of them; nothing is known of the other side.
        is_published = "published" in notion.sides
        bound = regroup.nearest(space, notion.k - 1, _ending(clock)).bound(notion.k) if is_published else 0.0
        is_proven = bound >= value - 1e-9
        gap = (value - bound) / value if value > 0 else 0.0
        bound *= space.scale
        return partition, answer, replace(trace, seconds=clock.spent, optimal=is_proven, bound=bound, gap=gap)

    def _refuse_ties(self, n_rows: int) -> None:
        if self.n_best > 1 or self.tie_break is not None:
            msg = with_hint(
                f"ties of {n_rows} rows were asked for.",
                f"n_best and tie_break are for up to {smallest.MOST_ROWS} rows.",
            )
            raise InputError(msg)

    def _solve(self, space: Space, judge: BlockJudge, clock: Clock) -> tuple[Partition, Answer, Trace]:
        """Solve a few rows exactly, with their ties."""
        found = smallest.solve(space, judge)
        if not math.isfinite(found.value):
            raise infeasible(judge.models, space.n_rows)
        best = merged(space.recode(found.labels, int(found.labels.max()) + 1), found.labels)
        others = self._others(space, found, best, _ending(clock))
        effort = Effort(
            found.n_settled,
            found.n_pruned,
            max(0, found.n_looked_up - int(found.is_block.sum())),
            space.size(),
            found.ties,
        )
        value = found.value * space.scale
        trace = Trace(repr(self), found.n_settled, clock.spent, optimal=True, bound=value, gap=0.0, effort=effort)
        return best[0], Answer(best[1], others), trace

    def _others(
        self, space: Space, found: smallest.Smallest, best: tuple[Partition, Recoding], clock: Clock
    ) -> tuple[tuple[Partition, Recoding], ...]:
        """List other tables of the least loss, the best by the second cost first."""
        if self.n_best == 1:
            return ()
        listed = smallest.tables(space, found, self.n_best if self.tie_break is None else _MOST_TABLES, clock)
        made = [published(space, picks) for picks in listed]
        if self.tie_break is not None:
            tie_break = self.tie_break
            made.sort(key=lambda each: tie_break.of(each[1], each[0].sizes))
        texts = row_texts(*best)
        return tuple(itertools.islice((each for each in made if row_texts(*each) != texts), self.n_best - 1))

    def _draw(self, space: Space, judge: BlockJudge, clock: Clock) -> tuple[Partition, Answer, Trace]:
        """Keep the best of some random partitions, and of the whole table as one class."""
        rng = np.random.default_rng(self.seed)
        n_rows, k = space.n_rows, judge.min_size
        n_blocks = max(1, n_rows // k)
        # As even as can be: what remains after blocks of k goes one row to each.
        offsets = np.linspace(0, n_rows, n_blocks + 1).astype(np.int64)
        best, least = np.zeros(n_rows, dtype=np.int32), regroup.partition_value(space, np.zeros(n_rows, dtype=np.int32))
        costs, history = np.empty(n_blocks), [(0.0, None, least * space.scale)]
        assert self.iterations is not None
        n_drawn = 0
        while n_drawn < self.iterations and not clock.is_over(n_drawn):
            rows = rng.permutation(n_rows).astype(np.int32)
            cost.block_costs(space.places, space.costs, offsets, rows, costs)
            value = float(costs @ np.diff(offsets))
            if value < least and judge.passes(offsets, rows).all():
                least = value
                best[rows] = np.repeat(np.arange(n_blocks, dtype=np.int32), np.diff(offsets))
                history.append((float(n_drawn), None, value * space.scale))
            n_drawn += 1
        partition, recoding = merged(space.recode(best, int(best.max()) + 1), best)
        effort = Effort(n_drawn, 0, 0, space.size(), None, tuple(history))
        trace = Trace(repr(self), n_drawn, clock.spent, complete=False, seed=self.seed, effort=effort)
        return partition, Answer(recoding), trace

    def _improve(
        self, space: Space, judge: BlockJudge, clock: Clock, progress: Progress | None
    ) -> tuple[Partition, Answer, Trace]:
        """Improve Mondrian's blocks; prove what can be proven in the time there is."""
        budget, clock = clock.budget, _ending(clock)
        labels, near = start(space, judge, clock)
        known = Partitioning(labels, regroup.partition_value(space, labels), near.bound(judge.min_size))
        record = _Recorder(known, space.scale, clock, progress)
        record(known)
        n_steps = min(_STEPS_PER_ROW * space.n_rows, _MOST_STEPS, (budget.nodes or math.inf) // _N_STARTS)
        is_provable = judge.is_by_size and judge.min_size > 1 and space.n_rows <= self.proof_rows
        # Half of the time is for the proof, or a part of it for the polish.
        n_parts = 2 * _N_STARTS if is_provable else _N_STARTS + 1
        n_steps = regroup.steps_within(int(n_steps), budget.seconds, n_parts)
        starts = self._anneal(space, judge, near, known, n_steps, clock, record)
        if is_provable:
            least = near.costs[:, judge.min_size - 2].copy()
            setpartition.solve(space, judge.min_size, known, starts, least, clock, record)
        else:
            better, value = regroup.polish(space, near, known.labels, judge, clock)
            if value < known.value:
                known.labels, known.value = better, value
                record(known)
        partition, recoding = merged(space.recode(known.labels, int(known.labels.max()) + 1), known.labels)
        bound, value = known.bound * space.scale, known.value * space.scale
        is_proven = known.is_proven
        effort = Effort(known.n_nodes, known.n_pruned, 0, space.size(), None, tuple(known.history))
        trace = Trace(
            repr(self),
            known.n_nodes + n_steps * (len(starts) - 1),
            clock.spent,
            complete=is_proven or clock.left > 0,
            optimal=is_proven,
            bound=value if is_proven else bound,
            gap=0.0 if is_proven or value == 0 else (value - bound) / value,
            seed=self.seed,
            effort=effort,
        )
        return partition, Answer(recoding), trace

    def _anneal(
        self,
        space: Space,
        judge: BlockJudge,
        near: regroup.Neighbours,
        known: Partitioning,
        n_steps: int,
        clock: Clock,
        record: _Recorder,
    ) -> list[CodeArray]:
        """Anneal a few times from Mondrian's blocks; return all partitions found."""
        state = np.array([self.seed % 2_147_483_645 + 1], dtype=np.int64)
        first, found = known.labels, [known.labels]
        check = judge.check(max(3 * judge.min_size, int(np.bincount(first).max())))
        hot, cold = temperatures(space)
        for _ in range(_N_STARTS):
            labels, value = regroup.anneal(space, near, first, check, state, (n_steps, hot, cold), clock)
            found.append(labels)
            if value < known.value:
                known.labels, known.value = labels.copy(), value
                record(known)
            if clock.left < clock.spent:
                break
        return found


def _ending(clock: Clock) -> Clock:
    """Return a clock that ends some time, where nobody said when."""
    return replace(clock, budget=Budget(_SECONDS)) if clock.budget == Budget() else clock


def temperatures(space: Space) -> tuple[float, float]:
    """Return where annealing begins and ends, in weighted cells."""
    whole = float(np.sum(space.costs.stars)) or 1.0
    return _TEMPERATURES[0] * whole, _TEMPERATURES[1] * whole


def start(space: Space, judge: BlockJudge, clock: Clock) -> tuple[CodeArray, regroup.Neighbours]:
    """Return Mondrian's blocks in the same candidate space, and the rows nearest to each."""
    names = [column.name for column in space.columns]
    ladders = {name: ladder for name, ladder in zip(names, space.hierarchies, strict=True) if ladder is not None}
    given = {**judge.hierarchies, **ladders}
    found, _, _ = Mondrian().search(
        judge.table,
        names,
        judge.models,
        clock.part(_SHARE_OF_START).budget,
        hierarchies=given,
        reference=judge.reference,
    )
    if not judge.passes(found.offsets, found.rows).all():
        raise infeasible(judge.models, space.n_rows)
    labels = regroup.parted(space, found.labels, judge.min_size) if judge.is_by_size else found.labels.copy()
    n_near = max(judge.min_size - 1, _N_NEAR)
    return labels, regroup.nearest(space, n_near, clock.part(_SHARE_OF_NEAREST), labels)


class _Recorder:
    """Writes down when the bound or the loss became better, and shows progress."""

    def __init__(self, known: Partitioning, scale: float, clock: Clock, progress: Progress | None) -> None:
        self.known, self.scale, self.clock, self.progress = known, scale, clock, progress

    def __call__(self, known: Partitioning) -> None:
        """Record the state of the search."""
        known.history.append((self.clock.spent, known.bound * self.scale, known.value * self.scale))
        if self.progress is not None:
            # Of all the seconds, or of none where there is no end.
            spent = self.clock.spent
            self.progress(min(1.0, spent / (spent + self.clock.left)))
