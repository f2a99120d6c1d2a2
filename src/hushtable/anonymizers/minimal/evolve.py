"""How individuals of a genetic search have offspring: of partitions, and of tables of cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.minimal.candidates import Candidates, Space
from hushtable.anonymizers.minimal.regroup import Neighbours
from hushtable.kernels import cost
from hushtable.kernels.regroup import Check
from hushtable.search import Clock, check_memory

__all__ = ["Breeder", "Generations", "cross"]

_N_STAGES = 10
_SHARE_ALIGNED = 0.5
_N_ALIGNED = 3


@dataclass(slots=True, eq=False)
class Generations:
    """How many generations there have been, and whether there is another.

    Attributes
    ----------
    individuals, generations, patience : int
    clock : Clock
        Its nodes are individuals made.
    scale : float
        From the sum of weighted cells to the loss.
    """

    individuals: int
    generations: int
    patience: int
    clock: Clock
    scale: float
    generation: int = 0
    n_idle: int = 0
    n_made: int = 0
    best: float = np.inf

    def tick(self, value: float, n_made: int = 1) -> None:
        """Note that individuals were made, and the best value so far."""
        self.n_made += n_made
        if value < self.best - 1e-12:
            self.best, self.n_idle = value, 0
            self.clock.note(value * self.scale, at=float(self.generation))

    def turn(self, value: float, n_made: int = 1) -> None:
        """Begin another generation."""
        self.generation += 1
        self.n_idle += 1
        self.tick(value, n_made)
        self.clock.tell(self.generation / self.generations)

    @property
    def is_late(self) -> bool:
        """Whether the budget is used up."""
        return self.clock.is_over(self.n_made)

    @property
    def is_over(self) -> bool:
        """Whether the search ends."""
        return self.is_late or self.generation >= self.generations or self.n_idle >= self.patience


def cross(
    space: Space,
    near: Neighbours,
    parents: tuple[CodeArray, CodeArray],
    check: Check,
    rng: np.random.Generator,
) -> CodeArray:
    """Take the cheapest blocks of both parents, in turn, as long as their rows are free.

    Rows that are left join the block of a row near them.
    """
    queues = [iter(_by_cost(space, labels, rng)) for labels in parents]
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


def _by_cost(space: Space, labels: CodeArray, rng: np.random.Generator) -> list[CountArray]:
    """Return the blocks of a partition, those that cost a row the least first; ties at random."""
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable").astype(np.int32)
    offsets = np.append(0, np.cumsum(sizes))
    costs = np.empty(len(sizes))
    cost.block_costs(space.places, space.costs, offsets, order, costs)
    blocks = np.split(order, offsets[1:-1])
    return [blocks[i] for i in np.lexsort((rng.random(len(sizes)), costs))]


class Breeder:
    """Evolves tables of published cells, all individuals of a generation at once."""

    def __init__(self, space: Space, k: int, elite: float, mutation_rate: float, seed: int) -> None:
        self.space, self.k, self.elite, self.mutation_rate = space, k, elite, mutation_rate
        self.rng = np.random.default_rng(seed)
        _check_size(space)
        self.listed = [space.candidates(j) for j in range(len(space.columns))]
        self.fitting = [_fitting(space.places[:, j], each) for j, each in enumerate(self.listed)]
        self.cheapest = [_cheapest(each) for each in self.listed]
        self.salt = self.rng.integers(1, 2**31, len(self.listed))

    def run(self, generations: Generations) -> CountArray:
        """Return the candidates that the best table publishes, shape (n_rows, n_columns)."""
        pool = self._drawn(generations.individuals)
        # The last candidate of every column is "*": a table that satisfies every k there is.
        pool[0] = np.array([len(each.costs) - 1 for each in self.listed])
        pool, values = self._ranked(pool)
        generations.tick(float(values[0]), generations.individuals)
        n_elite = min(max(2, round(self.elite * generations.individuals)), generations.individuals - 1)
        while not generations.is_over:
            stage = generations.generation * _N_STAGES // generations.generations
            rate = self.mutation_rate * 2.0**stage
            children = self._children(pool[:n_elite], generations.individuals - n_elite, rate / (rate + 100))
            pool, values = self._ranked(np.concatenate((pool[:n_elite], children)))
            generations.turn(float(values[0]), len(children))
        return np.asarray(pool[0])

    def _drawn(self, n_tables: int) -> CountArray:
        """Draw a candidate for every cell of some tables."""
        picks = np.empty((n_tables, *self.space.places.shape), dtype=np.int64)
        for j, (offsets, members) in enumerate(self.fitting):
            lengths = np.diff(offsets)
            drawn = (self.rng.random((n_tables, len(lengths))) * lengths).astype(np.int64)
            picks[:, :, j] = members[offsets[:-1] + drawn]
        return picks

    def _children(self, parents: CountArray, n_children: int, share_mutated: float) -> CountArray:
        """Cross pairs of parents cell by cell, draw some cells anew, and align a row with another in some."""
        mothers = parents[self.rng.integers(len(parents), size=n_children)]
        fathers = parents[self.rng.integers(len(parents), size=n_children)]
        # Whole rows come from one parent, in half of the offspring, and cells mutate in the other
        # half: a row is only of use beside its equals, and both break those up.
        is_crossed = self.rng.random((n_children, 1, 1)) < 0.5
        from_father = is_crossed & (self.rng.random((n_children, self.space.n_rows, 1)) < 0.5)
        crossed = np.where(from_father, fathers, mothers)
        mutated = ~is_crossed & (self.rng.random(crossed.shape) < share_mutated)
        children: CountArray = np.where(mutated, self._drawn(n_children), crossed)
        for _ in range(_N_ALIGNED):
            self._align(children)
        return self._tightened(children)

    def _align(self, children: CountArray) -> None:
        """Let a row of every table join the rows equal to another one: all publish what they have in common."""
        n_children = len(children)
        one, two = self.rng.integers(self.space.n_rows, size=(2, n_children))
        each = np.arange(n_children)
        joins = (children == children[each, two][:, None, :]).all(axis=2)
        joins[each, one] = True
        joins &= (self.rng.random(n_children) < _SHARE_ALIGNED)[:, None]
        for j, listed in enumerate(self.listed):
            at_one, at_two = self.space.places[one, j], children[each, two, j]
            low, high = np.minimum(at_one, listed.first[at_two]), np.maximum(at_one, listed.last[at_two])
            children[:, :, j] = np.where(joins, self.cheapest[j][low, high][:, None], children[:, :, j])

    def _tightened(self, pool: CountArray) -> CountArray:
        """Let equal rows publish the cheapest cells that they have in common."""
        order, label = self._classes(pool)
        starts = np.append(True, label[1:] != label[:-1]).nonzero()[0]
        rows = order.ravel()
        table = np.repeat(np.arange(len(pool)), self.space.n_rows)
        tight = np.empty_like(pool)
        for j, cheapest in enumerate(self.cheapest):
            at = self.space.places[rows, j]
            low, high = np.minimum.reduceat(at, starts), np.maximum.reduceat(at, starts)
            tight[table, rows, j] = cheapest[low, high][label]
        return tight

    def _ranked(self, pool: CountArray) -> tuple[CountArray, FloatArray]:
        """Sort tables: those that satisfy the model by what they cost, then the others by how near they come."""
        costs = np.zeros(len(pool))
        for j, listed in enumerate(self.listed):
            costs += listed.costs[pool[:, :, j]].sum(axis=1)
        sizes = self._class_sizes(pool)
        fits: BoolArray = np.asarray((sizes >= self.k).all(axis=1))
        nearness = np.minimum(sizes, self.k).mean(axis=1)
        order = np.lexsort((costs, np.where(fits, 0.0, -nearness), ~fits))
        return pool[order], np.where(fits, costs, np.inf)[order]

    def _class_sizes(self, pool: CountArray) -> CountArray:
        """Count the rows equal to each row of each table."""
        order, label = self._classes(pool)
        out = np.empty(order.shape, dtype=np.int64)
        np.put_along_axis(out, order, np.bincount(label)[label].reshape(order.shape), axis=1)
        return out

    def _classes(self, pool: CountArray) -> tuple[CountArray, CountArray]:
        """Order the rows of every table so that equal ones stand together, by a key of 61 bits; label the runs."""
        keys = (pool * self.salt).sum(axis=2) * np.int64(2_654_435_761) % np.int64(2**61 - 1)
        order = np.argsort(keys, axis=1, kind="stable")
        ranked = np.take_along_axis(keys, order, axis=1)
        starts = np.ones(ranked.shape, dtype=bool)
        starts[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
        return order, np.cumsum(starts.ravel()) - 1


def _check_size(space: Space) -> None:
    """Raise InputError where what cells may publish is too much to list: of n values n^2 / 2 intervals."""
    n_values = np.array([column.n_values + 1.0 for column in space.columns])
    is_interval = np.array([ladder is None for ladder in space.hierarchies])
    n_listed = np.where(is_interval, n_values * n_values / 2, 2 * n_values)
    # Each is a tuple first, then beside every row, and once for every run of places.
    needed = (n_listed * (200 + 2 * space.n_rows) + 8 * n_values * n_values).sum()
    check_memory(
        float(needed),
        f"listing what the cells of {space.n_rows} rows may publish",
        "use the default variant of Genetic, or give columns of many values a hierarchy.",
    )


def _fitting(places: CodeArray, listed: Candidates) -> tuple[CountArray, CountArray]:
    """List the candidates of every row, as offsets and members."""
    rows, found = np.nonzero((listed.first <= places[:, None]) & (places[:, None] <= listed.last))
    return np.asarray(np.searchsorted(rows, np.arange(len(places) + 1))), found


def _cheapest(listed: Candidates) -> CountArray:
    """Return the cheapest candidate over every run of places, shape (n_places, n_places)."""
    n_places = int(listed.last.max()) + 1
    best = np.zeros((n_places, n_places), dtype=np.int64)
    # Dearest first, so that the cheapest is the last to be written.
    for i in np.lexsort((-listed.level, -listed.costs)).tolist():
        first, last = int(listed.first[i]), int(listed.last[i])
        best[first : last + 1, first : last + 1] = i
    return best
