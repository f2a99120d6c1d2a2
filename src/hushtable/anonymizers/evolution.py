"""Evolving partitions, and under the matching notions tables of published cells, as in the program MG-GA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.cell_candidates import CandidateSpace
from hushtable.anonymizers.minimal_matchings import Choices, find_lacking_matches, find_matches
from hushtable.anonymizers.partition_search import CheapestMates
from hushtable.kernels import cost
from hushtable.kernels.regroup import Check
from hushtable.models import MatchingNotion
from hushtable.search import Clock, check_memory


@dataclass(slots=True, eq=False)
class Generations:
    """The progress of a genetic search, and whether it goes on."""

    individuals: int  # that live at a time
    generations: int  # that end the search
    patience: int  # generations without a better partition that end the search
    clock: Clock  # counts every partition that is made as a node
    scale: float  # from a sum of weighted cells to the loss
    generation: int = 0
    n_idle: int = 0
    n_made: int = 0
    best: float = np.inf  # a sum of weighted cells

    def note_best(self, value: float, n_made: int = 1) -> None:
        """Count new partitions, and record their best value if it is lower than all before."""
        self.n_made += n_made
        if value < self.best - 1e-12:
            self.best, self.n_idle = value, 0
            self.clock.record_improvement(value * self.scale, at=float(self.generation))

    def start_next_generation(self, value: float, n_made: int = 1) -> None:
        """Begin the next generation; the arguments are those of `note_best`."""
        self.generation += 1
        self.n_idle += 1
        self.note_best(value, n_made)
        self.clock.report_progress(self.generation / self.generations)

    @property
    def is_late(self) -> bool:
        """Whether the budget is used up."""
        return self.clock.is_over(self.n_made)

    @property
    def is_over(self) -> bool:
        """Whether the search ends."""
        return self.is_late or self.generation >= self.generations or self.n_idle >= self.patience


def cross_partitions(
    space: CandidateSpace,
    near: CheapestMates,
    parents: tuple[CodeArray, CodeArray],
    check: Check,
    rng: np.random.Generator,
) -> CodeArray:
    """Take the cheapest blocks of both parents, in turn, whose rows are all free.

    A remaining row joins the block of its nearest row whose block has room, else the smallest block.
    """
    queues = [iter(_sort_blocks_by_cost(space, labels, rng)) for labels in parents]
    crossed = np.full(space.n_rows, -1, dtype=np.int32)
    n_blocks = 0
    turn = int(rng.integers(2))
    for _ in range(2 * space.n_rows):
        turn = 1 - turn
        rows = next((each for each in queues[turn] if (crossed[each] < 0).all()), None)
        if rows is None:
            if next((each for each in queues[1 - turn] if (crossed[each] < 0).all()), None) is None:
                break
            continue
        crossed[rows] = n_blocks
        n_blocks += 1
    sizes = np.bincount(crossed[crossed >= 0], minlength=n_blocks)
    for row in rng.permutation(np.flatnonzero(crossed < 0)).tolist():
        blocks = [int(crossed[other]) for other in near.rows[row].tolist() if crossed[other] >= 0]
        open_ = [block for block in blocks if sizes[block] < check.room]
        block = open_[0] if open_ else int(np.argmin(sizes))
        crossed[row] = block
        sizes[block] += 1
    return crossed


def _sort_blocks_by_cost(space: CandidateSpace, labels: CodeArray, rng: np.random.Generator) -> list[CountArray]:
    """Return the blocks of a partition by cost a row, the cheapest first; ties at random."""
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable").astype(np.int32)
    offsets = np.append(0, np.cumsum(sizes))
    costs = np.empty(len(sizes))
    cost.block_costs(space.places, space.costs, offsets, order, costs)
    blocks = np.split(order, offsets[1:-1])
    return [blocks[i] for i in np.lexsort((rng.random(len(sizes)), costs))]


_N_STAGES = 10
_SHARE_OF_TABLES_ALIGNED = 0.5
_N_ALIGNMENTS = 3
_MEAN_ROWS_CHANGED = 1.5  # rows of a table that are moved towards others, on average
_MAX_PAIRS_AT_ONCE = 10_000_000  # pairs of rows that are compared at once


class Breeder:
    """Evolves tables, all individuals of a generation at once."""

    def __init__(
        self, choices: Choices, condition: TableCondition, elite: float, mutation_rate: float, seed: int
    ) -> None:
        self.choices, self.condition, self.elite, self.mutation_rate = choices, condition, elite, mutation_rate
        self.rng = np.random.default_rng(seed)

    def run(self, generations: Generations, first: Sequence[CountArray]) -> CountArray:
        """Evolve tables; return the best one, shape (n_rows, n_columns). One of the first tables has to be feasible."""
        n_drawn = max(0, generations.individuals - len(first))
        drawn = self._repair_in_time(self.choices.draw_tables(n_drawn, self.rng), generations)
        pool, values = self._rank_pool(np.concatenate((np.stack(first), drawn))[: generations.individuals])
        generations.note_best(float(values[0]), len(pool))
        n_elite = min(max(2, round(self.elite * generations.individuals)), generations.individuals - 1)
        while not generations.is_over:
            stage = generations.generation * _N_STAGES // generations.generations
            rate = self.mutation_rate * 2.0**stage
            children = self._make_children(pool[:n_elite], generations.individuals - n_elite, rate / (rate + 100))
            children = self._repair_in_time(children, generations)
            pool, values = self._rank_pool(np.concatenate((pool[:n_elite], children)))
            generations.start_next_generation(float(values[0]), len(children))
        return np.asarray(pool[0])

    def _make_children(self, parents: CountArray, n_children: int, share_mutated: float) -> CountArray:
        """Make children: whole rows of two parents, or one parent with some cells drawn anew."""
        mothers = parents[self.rng.integers(len(parents), size=n_children)]
        fathers = parents[self.rng.integers(len(parents), size=n_children)]
        # Half of the children are crossed row by row, the other half mutate. Doing both to one child
        # would break up too many of the rows that are equal.
        is_crossed = self.rng.random((n_children, 1, 1)) < 0.5
        from_father = is_crossed & (self.rng.random((n_children, self.choices.space.n_rows, 1)) < 0.5)
        crossed = np.where(from_father, fathers, mothers)
        mutated = ~is_crossed & (self.rng.random(crossed.shape) < share_mutated)
        children: CountArray = np.where(mutated, self.choices.draw_tables(n_children, self.rng), crossed)
        return children

    def _repair_in_time(self, pool: CountArray, generations: Generations) -> CountArray:
        """Repair tables, as many as there is time for."""
        n_together, repaired = self.condition.n_together, [pool[:0]]
        for begin in range(0, len(pool), n_together):
            if generations.clock.left <= 0:
                break
            repaired.append(self.condition.repair_pool(pool[begin : begin + n_together], self.rng))
        return np.concatenate(repaired)

    def _rank_pool(self, pool: CountArray) -> tuple[CountArray, FloatArray]:
        """Sort tables: feasible ones by cost, then the others by how much they lack."""
        costs = self.choices.table_costs(pool)
        lacking = self.condition.mean_shortfall(pool)
        order = np.lexsort((costs, lacking))
        return pool[order], np.where(lacking > 0, np.inf, costs)[order]


@dataclass(frozen=True, slots=True, eq=False)
class Equal:
    """k-anonymity: every row of a table has k - 1 equals."""

    choices: Choices
    k: int
    salt: CountArray = field(repr=False)

    @classmethod
    def from_choices(cls, choices: Choices, k: int, seed: int) -> Equal:
        """Build the condition; equal rows are found by random hash keys."""
        rng = np.random.default_rng(seed)
        return cls(choices, k, rng.integers(1, 2**31, len(choices.candidates_by_column)))

    @property
    def n_together(self) -> int:
        """How many tables are repaired between two looks at the clock: all, as no pairs of rows are compared."""
        return np.iinfo(np.int64).max

    def repair_pool(self, pool: CountArray, rng: np.random.Generator) -> CountArray:
        """Align some rows with others, then let equal rows publish their cheapest common cells."""
        for _ in range(_N_ALIGNMENTS):
            self._align_rows(pool, rng)
        return self._tighten_equal_rows(pool)

    def are_feasible(self, pool: CountArray) -> BoolArray:
        """Tell which tables satisfy what is asked."""
        return np.asarray(self.mean_shortfall(pool) == 0)

    def mean_shortfall(self, pool: CountArray) -> FloatArray:
        """Return how many equals rows lack, on average."""
        order, label = self._label_equal_rows(pool)
        sizes = np.bincount(label)[label].reshape(order.shape)
        return np.asarray(self.k - np.minimum(sizes, self.k).mean(axis=1))

    def _align_rows(self, pool: CountArray, rng: np.random.Generator) -> None:
        """In some tables, let a random row join the rows equal to another one: all publish their common cells."""
        n_tables, row_places = len(pool), self.choices.space.places
        joining, target = rng.integers(self.choices.space.n_rows, size=(2, n_tables))
        tables = np.arange(n_tables)
        joins = (pool == pool[tables, target][:, None, :]).all(axis=2)
        joins[tables, joining] = True
        joins &= (rng.random(n_tables) < _SHARE_OF_TABLES_ALIGNED)[:, None]
        for j, candidates in enumerate(self.choices.candidates_by_column):
            own, picks = row_places[joining, j], pool[tables, target, j]
            low, high = np.minimum(own, candidates.first[picks]), np.maximum(own, candidates.last[picks])
            pool[:, :, j] = np.where(joins, self.choices.cheapest[j][low, high][:, None], pool[:, :, j])

    def _tighten_equal_rows(self, pool: CountArray) -> CountArray:
        """Let equal rows publish their cheapest common cells."""
        order, label = self._label_equal_rows(pool)
        starts = np.append(True, label[1:] != label[:-1]).nonzero()[0]
        rows = order.ravel()
        table = np.repeat(np.arange(len(pool)), self.choices.space.n_rows)
        tight = np.empty_like(pool)
        for j, best in enumerate(self.choices.cheapest):
            at = self.choices.space.places[rows, j]
            low, high = np.minimum.reduceat(at, starts), np.maximum.reduceat(at, starts)
            tight[table, rows, j] = best[low, high][label]
        return tight

    def _label_equal_rows(self, pool: CountArray) -> tuple[CountArray, CountArray]:
        """Sort the rows of every table by a hash of 61 bits, so that equal rows are adjacent; label the runs."""
        keys = (pool * self.salt).sum(axis=2) * np.int64(2_654_435_761) % np.int64(2**61 - 1)
        order = np.argsort(keys, axis=1, kind="stable")
        ranked = np.take_along_axis(keys, order, axis=1)
        starts = np.ones(ranked.shape, dtype=bool)
        starts[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
        return order, np.cumsum(starts.ravel()) - 1


@dataclass(frozen=True, eq=False)
class Matched:
    """A matching notion: every row of a table has k matches; rows that lack some are repaired."""

    choices: Choices
    notion: MatchingNotion

    def __post_init__(self) -> None:
        n_rows = self.choices.space.n_rows
        check_memory(
            40.0 * n_rows * n_rows,
            f"comparing {n_rows} published rows with as many original ones",
            "use method='mingen', or anonymize parts of the table.",
        )

    @cached_property
    def distances(self) -> FloatArray:
        """The cost of a row whose cells also cover another row, shape (n_rows, n_rows)."""
        return cost.pair_costs(self.choices.space.places, self.choices.space.costs)

    @property
    def n_together(self) -> int:
        """How many tables are repaired at once: the pairs of their rows take little time and memory."""
        return max(1, _MAX_PAIRS_AT_ONCE // self.choices.space.n_rows**2)

    def repair_pool(self, pool: CountArray, rng: np.random.Generator) -> CountArray:
        """Let some rows cover near ones, repair rows that lack matches, and cover no more than the matches."""
        self._cover_near_rows(pool, rng)
        matched = self._find_matches(pool)
        while (wants := find_lacking_matches(self.notion, matched)).any():
            self._pair_rows(pool, wants, rng)
            matched = self._find_matches(pool)
        return self._tighten_to_matches(matched)

    def are_feasible(self, pool: CountArray) -> BoolArray:
        """Tell which tables satisfy what is asked."""
        return np.asarray(~find_lacking_matches(self.notion, self._find_matches(pool)).any(axis=(1, 2)))

    def mean_shortfall(self, pool: CountArray) -> FloatArray:
        """Return zeros: every table was repaired, or satisfied the notion from the start."""
        return np.zeros(len(pool))

    def _find_matches(self, pool: CountArray) -> BoolArray:
        return find_matches(self.choices.covers(pool), is_global=self.notion.is_global)

    def _cover_near_rows(self, pool: CountArray, rng: np.random.Generator) -> None:
        """Let some random rows cover themselves and k - 1 others, preferably near ones."""
        n_rows = self.choices.space.n_rows
        table, row = np.nonzero(rng.random(pool.shape[:2]) < _MEAN_ROWS_CHANGED / n_rows)
        distances = self.distances[row] * rng.random((len(row), n_rows))
        distances[np.arange(len(row)), row] = -1.0
        others = np.argpartition(distances, self.notion.k - 1, axis=1)[:, : self.notion.k]
        at = self.choices.space.places[others]
        pool[table, row] = self.choices.cheapest_over_runs(at.min(axis=1), at.max(axis=1))

    def _pair_rows(self, pool: CountArray, wants: BoolArray, rng: np.random.Generator) -> None:
        """Pair every row that lacks matches with a near one: both cover each other, so each matches both."""
        table, row = np.nonzero(wants.any(axis=2))
        distances = self.distances[row] * rng.random((len(row), self.choices.space.n_rows))
        partner = np.where(wants[table, row], distances, np.inf).argmin(axis=1)
        low, high = self.choices.runs_of_cells(pool)
        places = self.choices.space.places
        for one, two in ((row, partner), (partner, row)):
            np.minimum.at(low, (table, one), places[two])
            np.maximum.at(high, (table, one), places[two])
        for at in (row, partner):
            pool[table, at] = self.choices.cheapest_over_runs(low[table, at], high[table, at])

    def _tighten_to_matches(self, matched: BoolArray) -> CountArray:
        """Let every row publish the cheapest cells that cover its matches, its own original among them."""
        _, _, other = np.nonzero(matched)
        starts = np.append(0, np.cumsum(matched.sum(axis=2).ravel())[:-1])
        at = self.choices.space.places[other]
        low, high = np.minimum.reduceat(at, starts), np.maximum.reduceat(at, starts)
        return self.choices.cheapest_over_runs(low, high).reshape(*matched.shape[:2], -1)


TableCondition = Equal | Matched  # what a table has to satisfy, and how children are repaired
