"""Searching by a loss that only whole releases have: rows move between classes while the release loses less.

Every step publishes the table anew and asks the loss, so that nothing has to be known of it. That takes a millisecond
for a hundred rows, and longer for more.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers.method import Found, Problem
from hushtable.anonymizers.publish import from_classes
from hushtable.recoding import Recoding, lay_out, places
from hushtable.search import Effort
from hushtable.tables import Partition

__all__ = ["annealed"]

_N_STEPS: Final = 3_000
_HEAT: Final = (0.01, 0.0001)  # first and last temperature, in shares of the first loss
_N_LOOKED_AT: Final = 16  # rows of which the nearest is taken
_SHARE_OF_MERGES: Final = 0.05


def annealed(problem: Problem, start: CodeArray, *, method: str, seed: int) -> Found:
    """Improve classes that pass, by simulated annealing; the result is never worse than its start.

    Parameters
    ----------
    problem : Problem
        Its loss is asked of whole releases. A budget's nodes are steps; without a budget there are 3,000.
    start : ndarray of int32, shape (n_rows,)
        The class of every row, numbered from 0; all pass.
    method : str
        As the trace names it.
    seed : int
    """
    clock, rng = problem.clock, np.random.default_rng(seed)
    releases = _Releases(problem)
    labels, (loss, *found) = start, releases.published(start)
    best, least = found, loss
    clock.note(loss, at=0)
    nodes = clock.budget.nodes
    n_steps = nodes if nodes is not None else _N_STEPS if clock.budget.seconds is None else None
    hot, cold = (share * loss for share in _HEAT)
    begun, whole, done, n_done = clock.spent, clock.left, 0.0, 0
    lower = float(getattr(problem.loss, "least", 0.0))
    while least > lower and done < 1:
        n_done += 1
        moved = releases.neighbour(labels, rng)
        if moved is not None:
            value, *found = releases.published(moved)
            heat = hot * (cold / hot) ** done
            if value <= loss or rng.random() < math.exp((loss - value) / heat):
                labels, loss = moved, value
            if value < least:
                best, least = found, value
        # Without an end in time all is reproducible.
        done = n_done / n_steps if n_steps is not None else 0.0
        done = max(done, 1.0 if clock.left <= 0 else 0.0 if math.isinf(whole) else (clock.spent - begun) / whole)
        clock.tell(min(0.99, done))
    clock.note(least, at=n_done)
    effort = Effort(n_done, 0, 0, 0.0, history=tuple(clock.history))
    trace = clock.trace(
        method, n_done, value=least, bound=lower, seed=seed, complete=nodes is None or nodes >= _N_STEPS, effort=effort
    )
    partition, recoding = best
    return Found(partition, recoding, trace)


class _Releases:
    """Publishes classes of a problem's rows, and finds classes that are nearly the same."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.axes = lay_out(problem.judge.laid_out, problem.columns, problem.ladders, {})
        at = places(problem.table, self.axes)
        self.at = at / np.maximum(1, at.max(axis=0, initial=0))

    def published(self, labels: CodeArray) -> tuple[float, Partition, Recoding]:
        """Return the loss of classes, and what they publish; those that publish the same cells are one class."""
        table = self.problem.table
        partition = Partition.from_labels(labels, int(labels.max()) + 1, table.counts)
        recoding = from_classes(table, partition, self.axes, "tight")
        _, first, class_of = np.unique(recoding.combinations()[:-1], return_index=True, return_inverse=True)
        merged = class_of.reshape(-1)[labels].astype(np.int32)
        partition, recoding = Partition.from_labels(merged, len(first), table.counts), recoding.take(first)
        return float(self.problem.loss.of(recoding, partition.sizes, self.problem.n_gone)), partition, recoding

    def neighbour(self, labels: CodeArray, rng: np.random.Generator) -> CodeArray | None:
        """Move a row to the class of a near one, swap them, merge two classes or part one; None if a model fails."""
        row = int(rng.integers(len(labels)))
        other = self._near(row, rng)
        moved, here, there = labels.copy(), labels[row], labels[other]
        if here == there:
            self._part(moved, row, rng)
        elif rng.random() < _SHARE_OF_MERGES:
            moved[labels == there] = here
        else:
            moved[row] = there
            if rng.random() < 0.5:
                rows = np.flatnonzero(labels == there)
                moved[rng.choice(rows)] = here
        changed = np.unique(moved[(labels == here) | (labels == there) | (moved != labels)])
        blocks = [np.flatnonzero(moved == label).astype(np.int32) for label in changed]
        offsets = np.cumsum([0, *map(len, blocks)])
        if not self.problem.judge.passes(offsets, np.concatenate(blocks)).all():
            return None
        return np.unique(moved, return_inverse=True)[1].astype(np.int32)

    def _near(self, row: int, rng: np.random.Generator) -> int:
        """Return the nearest of some other rows."""
        others: CountArray = rng.integers(len(self.at), size=_N_LOOKED_AT)
        return int(others[np.abs(self.at[others] - self.at[row]).sum(axis=1).argmin()])

    def _part(self, labels: CodeArray, row: int, rng: np.random.Generator) -> None:
        """Part a class in two by a column of its own: the rows up to some row, and those above."""
        rows = np.flatnonzero(labels == labels[row])
        column = int(rng.integers(self.at.shape[1]))
        order = rows[np.argsort(self.at[rows, column], kind="stable")]
        labels[order[int(rng.integers(len(order))) :]] = labels.max() + 1
