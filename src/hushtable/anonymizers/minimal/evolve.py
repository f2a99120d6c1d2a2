"""A genetic search over partitions: when it ends, and how two partitions are crossed.

An individual is a partition of the rows into blocks. Its value is the loss, as a sum of weighted cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers.minimal.candidates import CandidateSpace
from hushtable.anonymizers.minimal.regroup import CheapestMates
from hushtable.kernels import cost
from hushtable.kernels.regroup import Check
from hushtable.search import Clock

__all__ = ["Generations", "cross"]


@dataclass(slots=True, eq=False)
class Generations:
    """The progress of a genetic search, and whether it goes on.

    Attributes
    ----------
    individuals : int
        The partitions that live at a time.
    generations : int
        The search ends after so many generations.
    patience : int
        The search ends after so many generations without a better partition.
    clock : Clock
        The budget. Every partition that is made counts as a node.
    scale : float
        Turns a sum of weighted cells into the loss.
    generation, n_idle, n_made : int
        Generations so far, those since the last better partition, and partitions made.
    best : float
        The smallest sum of weighted cells so far.
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
        """Count partitions that were made, and note the best of their values if it is lower than all before."""
        self.n_made += n_made
        if value < self.best - 1e-12:
            self.best, self.n_idle = value, 0
            self.clock.note(value * self.scale, at=float(self.generation))

    def turn(self, value: float, n_made: int = 1) -> None:
        """Begin the next generation; the arguments are those of `tick`."""
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
    space: CandidateSpace,
    near: CheapestMates,
    parents: tuple[CodeArray, CodeArray],
    check: Check,
    rng: np.random.Generator,
) -> CodeArray:
    """Take the cheapest blocks of both parents, in turn, as long as their rows are free.

    A row that is left joins the block of the nearest row whose block has room; else it joins the smallest block.

    Parameters
    ----------
    near : CheapestMates
        The nearest rows of every row.
    parents : tuple of two ndarrays of int32, shape (n_rows,)
        The block of every row.
    check : Check
        The largest block allowed.
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


def _by_cost(space: CandidateSpace, labels: CodeArray, rng: np.random.Generator) -> list[CountArray]:
    """Return the blocks of a partition, those that cost a row the least first; ties at random."""
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable").astype(np.int32)
    offsets = np.append(0, np.cumsum(sizes))
    costs = np.empty(len(sizes))
    cost.block_costs(space.places, space.costs, offsets, order, costs)
    blocks = np.split(order, offsets[1:-1])
    return [blocks[i] for i in np.lexsort((rng.random(len(sizes)), costs))]
