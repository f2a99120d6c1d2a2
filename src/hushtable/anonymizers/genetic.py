"""A genetic search for the cell-level recoding of least loss, over partitions or over cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import ClassVar, Final, Literal

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers import cell_candidates, evolution, minimal_matchings, partition_search
from hushtable.anonymizers.cell_candidates import CandidateSpace, infeasible_error, merge_equal_classes, publish_picks
from hushtable.anonymizers.evolution import Breeder, Equal, Matched, TableCondition
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.method import Found, Offers, Problem
from hushtable.anonymizers.mingen import start_with_mondrian, temperatures
from hushtable.anonymizers.minimal_matchings import Choices
from hushtable.errors import InputError, check_choice, check_whole
from hushtable.models import KAnonymity, MatchingNotion
from hushtable.recoding import Recoding
from hushtable.search import Effort
from hushtable.tables import Partition

GeneticVariant = Literal["partitions", "mg-ga"]
_DEFAULTS: Final[Mapping[str, tuple[int, int, int]]] = {"partitions": (8, 30, 10), "mg-ga": (100, 1_000, 300)}
_MUTATION_RATE: Final = 10.0
_STEPS_PER_ROW = 400
_MOST_STEPS = 1_500_000
_LEAST_STEPS = 40_000
_HEAT_FACTORS = (1.0, 10.0, 3.0)  # times the usual first temperature, by individual
_HEAT_FACTORS_OF_CHILDREN = (0.2, 1.0, 5.0)
_MAX_ROWS_FOR_HEATS = 200  # few enough that hot annealing takes no time


@dataclass(frozen=True, slots=True)
class Genetic:
    """Let releases evolve: the better ones have offspring, which keep what their parents have in common.

    Parameters
    ----------
    variant : {"partitions", "mg-ga"}, optional
        ``"partitions"``: an individual is a partition, whose blocks satisfy the models from the start. Offspring take
        the cheapest blocks of both parents and are then improved by moves, swaps, merges and splits. ``"mg-ga"``: an
        individual is a table of published cells, as in that program; for k-anonymity alone, or for a matching notion.
        When not given, matching notions, which judge rows and no blocks, search among tables, all others partitions.
    individuals : int, optional
        Of a generation; 8 partitions or 100 tables when not given.
    generations : int, optional
        At most; 30 of 8 partitions or 1000 of tables when not given.
    patience : int, optional
        Generations without a better individual that end the search; 10 or 300 when not given.
    elite : float
        The share of a generation that lives on and has offspring, in (0, 1]; one place is always for a child.
    mutation_rate : float, optional
        Of tables: m cells in m + 100 are drawn anew, and m doubles every tenth of the generations; 10 when
        not given. Half of the offspring mutate, the other half take their rows from two parents; the source's
        program does both to all.
    seed : int

    Notes
    -----
    With ``"partitions"`` the start are Mondrian's blocks in the same candidate space, annealed; the result is never
    worse. The trace holds a lower bound, its gap, and the best loss by generation (``trace.effort.history``).

    ``"mg-ga"`` follows that program with these faults mended: the rate of mutation does grow; the elite is a share, not
    ten; a whole row can be aligned with another, without which equal rows hardly ever meet; losses are compared only
    among tables that satisfy the model, and a table of ``*`` is among the first, so that there always is one. Under a
    matching notion, that program's own (`hushtable.GlobalK1`) or another, the first tables are a k-anonymous one, which
    is more than asked, and for k = 2 rows paired by an assignment. A row of which too few matches are known, told by
    strong components, is paired with another: both publish the cheapest cells that cover both. So every individual
    satisfies the notion, and losses alone decide.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [21, 25, 30, 21], "sex": ["f", "m", "m", "f"]})
    >>> release = ht.anonymize(people, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)],
    ...                        method=ht.Genetic(seed=3), loss="certainty")
    >>> release.frame.rows()
    [('21', 'f'), ('[25, 30]', 'm'), ('[25, 30]', 'm'), ('21', 'f')]
    """

    variant: GeneticVariant | None = None
    individuals: int | None = None
    generations: int | None = None
    patience: int | None = None
    elite: float = 0.1
    mutation_rate: float | None = None
    seed: int = 0

    name: ClassVar[str] = "genetic"

    @property
    def offers(self) -> Offers:
        """Every loss that is a sum over cells; matching notions, but not as partitions."""
        losses = ("ncp", "minimal_distortion", "certainty")
        finds = self.variant != "partitions"
        return Offers(losses, parts_equal_records=True, finds_matchings=finds, merges_classes=True)

    def __post_init__(self) -> None:
        if self.variant is not None:
            check_choice("Genetic was given variant", self.variant, tuple(_DEFAULTS))
        for name, least in (("individuals", 2), ("generations", 1), ("patience", 1), ("seed", 0)):
            if getattr(self, name) is not None:
                check_whole(f"Genetic was given {name}", getattr(self, name), least)
        if not 0 < self.elite <= 1 or not 0 <= (self.mutation_rate or 0) < math.inf:
            raise InputError(
                f"Genetic was given elite = {self.elite!r} and mutation_rate = {self.mutation_rate!r}.",
                hint="the elite is a share above 0 and at most 1, the rate a number from 0 on.",
            )

    def search(self, problem: Problem) -> Found:
        """Let releases evolve whose classes pass; a budget's nodes are individuals made."""
        clock, notion = problem.clock, problem.notion
        if notion is not None:
            # Equal rows match one another, so blocks of k rows satisfy the notion: a start.
            problem = replace(problem, judge=replace(problem.judge, models=(KAnonymity(notion.k),)), notion=None)
        judge = problem.judge
        space = cell_candidates.lay_out(problem.table, problem.columns, problem.ladders, problem.loss)
        if space.n_rows < judge.min_size:
            raise infeasible_error(judge.models if notion is None else [notion], space.n_rows)
        variant = self.variant or ("partitions" if notion is None else "mg-ga")
        if variant == "partitions" and self.mutation_rate is not None:
            raise InputError(
                "Genetic was given a mutation_rate, and partitions have no cells that mutate.",
                hint='it goes with variant="mg-ga" and with matching notions.',
            )
        generations = evolution.Generations(*self._complete_sizes(variant), clock, space.scale)
        first, near = start_with_mondrian(space, problem, clock)
        nursery = _Nursery(space, judge, near, first, self.seed, generations)
        if variant == "mg-ga":
            table = self._evolve_tables(nursery, first, notion)
        else:
            labels = self._evolve_partitions(nursery, first)
            table = merge_equal_classes(space.recode_classes(labels, int(labels.max()) + 1), labels)
        # A published row costs at least what covering its k - 1 nearest rows takes; the other side has no bound.
        is_bounded = notion is None or "published" in notion.sides
        trace = clock.build_trace(
            repr(self),
            generations.n_made,
            value=generations.best * space.scale,
            bound=near.bound(judge.min_size) * space.scale if is_bounded else 0.0,
            complete=not generations.is_late,
            seed=self.seed,
            effort=Effort(generations.n_made, 0, 0, space.log10_size(), None, tuple(clock.history)),
        )
        return Found(*table, trace)

    def _complete_sizes(self, variant: GeneticVariant) -> tuple[int, int, int]:
        sizes = (self.individuals, self.generations, self.patience)
        individuals, generations, patience = (
            default if size is None else size for size, default in zip(sizes, _DEFAULTS[variant], strict=True)
        )
        return individuals, generations, patience

    def _evolve_tables(
        self, nursery: _Nursery, labels: CodeArray, notion: MatchingNotion | None
    ) -> tuple[Partition, Recoding]:
        """Evolve tables of cells; ``labels`` are k-anonymous blocks."""
        space, judge = nursery.space, nursery.judge
        if not judge.is_by_size:
            raise InputError(
                'Genetic(variant="mg-ga") was given more than k-anonymity.',
                hint="the default variant takes other models.",
            )
        choices = Choices.from_space(space)
        first = [choices.stars] if notion is None else self._build_first_tables(nursery, choices, labels, notion)
        condition: TableCondition = (
            Equal.from_choices(choices, judge.min_size, self.seed) if notion is None else Matched(choices, notion)
        )
        rate = _MUTATION_RATE if self.mutation_rate is None else self.mutation_rate
        breeder = Breeder(choices, condition, self.elite, rate, self.seed)
        return publish_picks(space, breeder.run(nursery.generations, first))

    def _build_first_tables(
        self, nursery: _Nursery, choices: Choices, labels: CodeArray, notion: MatchingNotion
    ) -> list[CountArray]:
        """Build tables that satisfy a notion: an annealed k-anonymous one, and for k = 2 one of paired rows."""
        if nursery.can_improve:
            _, labels = nursery.improve_partition(labels, 1.0)
        first = [choices.table_of_labels(labels)]
        if notion.k == 2 and nursery.space.n_rows <= minimal_matchings.MOST_PAIRED:
            first.append(choices.cheapest_over_runs(*minimal_matchings.pair_rows(nursery.space)))
        return first

    def _evolve_partitions(self, nursery: _Nursery, first: CodeArray) -> CodeArray:
        """Evolve partitions from a first one; return the labels of the best."""
        best, least, generations = first, partition_search.partition_value(nursery.space, first), nursery.generations
        generations.note_best(least)
        if not nursery.can_improve:
            return best
        pool = [(least, best)]
        while len(pool) < generations.individuals and not generations.is_over:
            pool.append(nursery.improve_partition(first, nursery.choose_heat(_HEAT_FACTORS, len(pool) - 1)))
            generations.note_best(min(pool, key=_value)[0])
        n_elite = max(2, round(self.elite * generations.individuals))
        while not generations.is_over and len(pool) > 1:
            pool.sort(key=_value)
            child = nursery.make_child(*nursery.pick_parents(pool, n_elite))
            # No value twice: else the pool would soon hold copies of one partition.
            if all(abs(child[0] - value) > 1e-9 for value, _ in pool) and child[0] < pool[-1][0]:
                pool[-1] = child
            generations.start_next_generation(min(pool, key=_value)[0])
        return min(pool, key=_value)[1]


_Individual = tuple[float, CodeArray]
_value: Callable[[_Individual], float] = itemgetter(0)


class _Nursery:
    """Makes partitions out of others."""

    def __init__(
        self,
        space: CandidateSpace,
        judge: Judge,
        near: partition_search.CheapestMates,
        first: CodeArray,
        seed: int,
        generations: evolution.Generations,
    ) -> None:
        self.space, self.judge, self.near = space, judge, near
        self.check = judge.check_for_kernels(max(3 * judge.min_size, int(np.bincount(first).max())))
        self.rng = np.random.default_rng(seed)
        self.state = self.rng.integers(1, 2_147_483_646, 1)
        n_steps = int(min(max(_STEPS_PER_ROW * space.n_rows, _LEAST_STEPS), _MOST_STEPS))
        self.generations, self.clock = generations, generations.clock
        self.n_steps = partition_search.steps_within(n_steps, self.clock.budget.seconds, 2 * generations.individuals)

    @property
    def can_improve(self) -> bool:
        """Whether there are several blocks to change rows between."""
        return self.near.rows.shape[1] > 0 and self.space.n_rows >= 2 * self.judge.min_size

    def improve_partition(self, labels: CodeArray, heat: float) -> _Individual:
        """Anneal a partition; `heat` is a factor of the usual first temperature."""
        hot, cold = temperatures(self.space)
        schedule = (self.n_steps, max(hot * heat, cold), cold)
        better, value = partition_search.anneal_partition(
            self.space, self.near, labels, self.check, self.state, schedule, self.clock
        )
        return value, better

    def choose_heat(self, heats: Sequence[float], index: int) -> float:
        """Choose one of several heats; with many rows always the first."""
        return heats[index % len(heats)] if self.space.n_rows <= _MAX_ROWS_FOR_HEATS else heats[0]

    def pick_parents(self, pool: Sequence[_Individual], n_elite: int) -> tuple[CodeArray, CodeArray]:
        """Pick one parent of the elite and another of all."""
        first = int(self.rng.integers(min(n_elite, len(pool))))
        second = int(self.rng.integers(len(pool) - 1))
        return pool[first][1], pool[second + int(second >= first)][1]

    def make_child(self, mother: CodeArray, father: CodeArray) -> _Individual:
        """Cross two partitions and anneal the result; if it fails the models, anneal the mother again."""
        crossed = evolution.cross_partitions(self.space, self.near, (mother, father), self.check, self.rng)
        if self.judge.passes_labels(crossed):
            return self.improve_partition(
                crossed, self.choose_heat(_HEAT_FACTORS_OF_CHILDREN, int(self.rng.integers(3)))
            )
        return self.improve_partition(mother, 1.0)
