"""Prices of the rows of a table that no class of k records exceeds its cost by, as high as a budget lets them be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.kernels import dual_ascent, separation, spacing
from hushtable.recoding import layout
from hushtable.search import Budget, Clock, say_if_first_run
from hushtable.tables import Table

__all__ = ["Priced", "in_turn", "lay_out", "nearest_shares", "proven", "raised"]

_TOGETHER: Final = 128  # rows between two looks at the clock
_GROUPS: Final = 4  # runs of rows for each square root of rows: a few rows in each
_FIRST: Final = 1.8  # how far above what the nearest cost prices begin
_QUICK, _THOROUGH = 64, 1000  # nodes of a row: of the first proof, and of the last one
_SWEEPING, _CLOSING = 14, 100  # nodes of a row in a sweep: many sweeps raise prices, the last ones see what they miss
_MOST_SWEEPS: Final = 300  # of a small table, which more of them would not help
_ROUGH: Final = 0.6  # the share of the time for sweeps that the rough ones take
_STEPS: Final = (0.25, 0.01)  # what a record's price rises by in the first and last sweep, in mean prices
_RESERVE: Final = 25.0  # how much longer than the first proof the last ones may take
_MOST_RESERVED: Final = 0.5
_UNASKED: Final = 4  # how many times the nodes of the first proof are spent where no budget was given
# The last proofs: how much of the way from prices that are proven to those that are hoped for, with how many nodes
# a row, and until which share of the time that is left for them.
_PROOFS: Final = ((0.7, 300, 0.5), (1.0, _THOROUGH, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """Prices that are proven.

    Attributes
    ----------
    prices : ndarray of float64, shape (n_rows,)
        Of a record of each row.
    nodes : int
        Search nodes settled.
    complete : bool
        Whether nothing was left out because a budget ended.
    """

    prices: FloatArray
    nodes: int
    complete: bool


def lay_out(table: Table, names: Sequence[str]) -> tuple[spacing.Rows, CountArray]:
    """Lay out distinct rows for the kernels; return with them which of the table's rows each is."""
    axes = layout.lay_out(table, names, {}, {})
    places, n_rows = layout.places(table, axes), table.n_rows
    positions = np.zeros((len(axes), max(axis.n_places for axis in axes)))
    for j, axis in enumerate(axes):
        positions[j, : axis.n_places] = axis.positions
    apart = []
    for j, axis in enumerate(axes):
        shares = np.bincount(places[:, j], minlength=axis.n_places) / n_rows
        is_same = float(shares @ shares)
        spread = float(np.sqrt(np.cov(positions[j, : axis.n_places], aweights=shares, ddof=0)))
        apart.append(spread if axis.is_ordered else 2 * (1 - is_same) / axis.domain)
    first = np.argsort(apart, kind="stable")[::-1]
    order = np.lexsort(places[:, first[::-1]].T)
    places = np.ascontiguousarray(places[order][:, first])
    is_new = np.arange(n_rows) == 0
    starts, n_leading = np.array([0, n_rows]), 0
    for j in range(len(axes)):
        is_new[1:] |= places[1:, j] != places[:-1, j]
        if is_new.sum() > _GROUPS * np.sqrt(n_rows):
            break
        starts, n_leading = np.append(np.flatnonzero(is_new), n_rows), j + 1
    laid_out = [axes[j] for j in first.tolist()]
    rows = spacing.Rows(
        places,
        table.counts[order],
        np.array([axis.is_ordered for axis in laid_out]),
        positions[first],
        1.0 / np.array([axis.domain for axis in laid_out]),
        np.cumsum([0, *(axis.n_places for axis in laid_out)]),
        starts,
        n_leading,
    )
    return rows, order


def nearest_shares(rows: spacing.Rows, k: int, clock: Clock) -> FloatArray:
    """Return each row's summed share with the farthest of its k nearest records; 0 where the clock was over."""
    shares = np.zeros(len(rows.counts))
    kept, distances = np.empty(k, dtype=np.int32), np.empty(k)
    in_turn(lambda run: spacing.nearest(rows, k, kept, distances, run, shares), len(shares), lambda: clock.left <= 0)
    return shares


def raised(rows: spacing.Rows, k: int, clock: Clock) -> Priced:
    """Return the best prices that are found within a budget; without one, within some times the nodes of one proof.

    Notes
    -----
    Prices begin above what the k nearest cost and are lowered until they are proven. What is left of the
    budget goes to sweeps that raise every price by a step, and lower the prices of the members
    of each class that is found to exceed its cost; the steps fall, and the last part of the budget goes to proofs.
    The farther prices lie above those that are proven, the longer a proof takes, and the lower what it comes to where
    it has no time: so prices on the way there are proven first, and the best of all proofs is kept.
    """
    say_if_first_run(dual_ascent.certify, 15)
    search = _Search(rows, k, clock)
    near = nearest_shares(rows, k, clock)
    if search.done >= 1:
        return Priced(near, 0, complete=False)
    best = max(near, search.proven(_FIRST * near, _QUICK), key=search.sum)
    if clock.budget == Budget():
        search.most_nodes = _UNASKED * max(1, search.nodes)
    first = search.done
    prices, until = best.copy(), 1 - min(_MOST_RESERVED, _RESERVE * first)
    mean, began = search.sum(best) / float(rows.counts.sum()), search.done
    for n_done in range(_MOST_SWEEPS):
        if search.done >= until:
            break
        share = max((search.done - began) / (until - began), n_done / _MOST_SWEEPS)
        step = mean * _STEPS[0] * (_STEPS[1] / _STEPS[0]) ** share
        search.sweep(prices, step, _SWEEPING if share < _ROUGH else _CLOSING, until)
    began = search.done
    for share, n_nodes, end in _PROOFS:
        if search.done >= 1:
            break
        found = search.proven(best + share * (prices - best), n_nodes, began + end * (1 - began))
        best = max(best, found, key=search.sum)
    return Priced(best, search.nodes, complete=clock.budget == Budget())


def proven(rows: spacing.Rows, k: int, prices: FloatArray, clock: Clock) -> Priced:
    """Lower prices until no class exceeds its cost by them."""
    search = _Search(rows, k, clock)
    found = search.proven(prices, _THOROUGH)
    return Priced(found, search.nodes, complete=search.done < 1)


class _Search:
    """What the passes of one search share."""

    def __init__(self, rows: spacing.Rows, k: int, clock: Clock) -> None:
        self.rows, self.k, self.clock = rows, k, clock
        self.most_nodes = clock.budget.nodes
        self.scratch = _scratch(rows)

    @property
    def nodes(self) -> int:
        return int(self.scratch.sizes[2])

    @property
    def done(self) -> float:
        """The share of the budget that is used up."""
        budget = self.clock.budget
        by_time = 0.0 if budget.seconds is None else self.clock.spent / budget.seconds
        return max(by_time, 0.0 if self.most_nodes is None else self.nodes / self.most_nodes)

    def sum(self, prices: FloatArray) -> float:
        return float(prices @ self.rows.counts)

    def proven(self, prices: FloatArray, n_nodes: int, until: float = 1.0) -> FloatArray:
        """Return feasible prices that are no higher than those given.

        The highest prices come last and are dearest to prove. Where the share of the time up to an end that is gone is
        above that of the rows, a row is given few nodes, so that something is left for all; once the budget is over,
        one.
        """
        # A class of equal rows costs nothing.
        lowered = np.where(self.rows.counts >= self.k, np.minimum(prices, 0.0), prices)
        order = np.argsort(lowered, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))

        began = self.done

        def certify(run: tuple[int, int]) -> None:
            is_late = self.done - began > (until - began) * run[1] / len(order)
            most = 1 if self.done >= 1 else _QUICK if is_late else n_nodes
            limits = separation.Limits(self.k, min(n_nodes, most))
            dual_ascent.certify(self.rows, self.scratch, limits, order, rank, run, lowered)

        in_turn(certify, len(order), lambda: False)
        return lowered

    def sweep(self, prices: FloatArray, step: float, n_nodes: int, until: float) -> None:
        """Raise every price once and lower those of dear classes, the highest prices first."""
        order = np.argsort(-prices, kind="stable")
        limits = separation.Limits(self.k, n_nodes)
        in_turn(
            lambda run: dual_ascent.raise_prices(self.rows, self.scratch, limits, order, run, step, prices),
            len(order),
            lambda: self.done >= until,
        )
        # What is known of a row of k records is that it costs nothing.
        prices[self.rows.counts >= self.k] = 0.0


def in_turn(work: Callable[[tuple[int, int]], None], n_rows: int, is_over: Callable[[], bool]) -> None:
    """Work on runs of rows, one after the other, until there are none left or the clock is over."""
    for begin in range(0, n_rows, _TOGETHER):
        if is_over():
            break
        work((begin, min(n_rows, begin + _TOGETHER)))


def _scratch(rows: spacing.Rows) -> separation.Scratch:
    n_rows, n_columns = rows.places.shape
    n_places = int(rows.begins[-1])

    def codes(n: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return np.zeros(n, dtype=np.int32)

    return separation.Scratch(
        rows=codes(n_rows),
        copies=np.zeros(n_rows, dtype=np.int64),
        shares=np.zeros(n_rows),
        order=codes(n_rows),
        bucket_of=codes(n_rows),
        buckets=codes(separation.N_BUCKETS + 2),
        heap_prices=np.zeros(n_rows),
        heap=codes(n_rows),
        heap_copies=np.zeros(n_rows, dtype=np.int64),
        low=codes(n_columns),
        high=codes(n_columns),
        first=codes(n_columns),
        last=codes(n_columns),
        n_held=codes(n_columns),
        held=np.zeros(n_places, dtype=bool),
        barred=np.zeros(n_places, dtype=bool),
        seen=codes(n_places),
        chosen=codes(n_rows),
        taken=np.zeros(n_rows, dtype=np.int64),
        best=codes(n_rows),
        best_taken=np.zeros(n_rows, dtype=np.int64),
        nodes=np.zeros(_THOROUGH + 2, dtype=separation.NODE),
        sizes=np.zeros(3, dtype=np.int64),
    )
