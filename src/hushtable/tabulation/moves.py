"""Moves: changes of cells that keep all sums, which show that a cell can be more, or less, than it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.search import solver
from hushtable.tabulation.cells import CellSystem
from hushtable.tabulation.swaps import SwapSearch

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from hushtable.tabulation.cutting import ReachDemand

_TIMES: Final = (1, 2, 3, 4, 6)  # a move in fractions is a whole one some times over
_MOVE_GAP: Final = 0.05
_TINY: Final = 1e-6  # what a cell costs that is hidden already, as a share
_TOLERANCE: Final = 1e-6
_BUNDLE: Final = 30  # demands that one programme meets
_FEW: Final = 0.1  # of the demands met: the others need more cells
_DEAREST: Final = 1e5  # what a unit of the dearest cell costs in a bundle; other prices would try the solver
_REWARD: Final = 4e5  # of a demand that is met
_NEARLY_FREE: Final = 1e-3
_ROOM: Final = 1e4  # levels that a cell moves at most in a bundle
_TIES: Final = (0.5e-3, 1.5e-3)  # drawn prices of cells that are hidden already, so that few optima are fractions


@dataclass(frozen=True, slots=True)
class MoveEffort:
    """How hard a move is looked for.

    Attributes
    ----------
    may_grow : bool
        Whether cells that are shown may move.
    by_programme : bool
        Whether a programme looks for more than swaps.
    nodes : int
        Of a programme of whole numbers; 0: none is tried. Seconds would let the result depend on the load.
    near : int
        How many cells a programme looks at, those in a part of the table around the cell; 0: all.
    """

    may_grow: bool
    by_programme: bool
    nodes: int = 0
    near: int = 0


@dataclass(slots=True, eq=False)
class MoveSearch:
    """A search for moves of the cells of a system that may be hidden."""

    system: CellSystem
    columns: CountArray
    matrix: csr_array  # the sums, one a row, and the cells as columns
    weights: FloatArray  # by cell
    room_down: FloatArray  # by cell, in units
    swaps: SwapSearch = field(init=False)
    ties: FloatArray = field(init=False)  # by cell

    def __post_init__(self) -> None:
        self.swaps = SwapSearch(self.system)
        self.ties = np.random.default_rng(0).uniform(*_TIES, self.system.n_cells)

    def find(self, is_hidden: BoolArray, demand: ReachDemand, effort: MoveEffort) -> CountArray | None:
        """Return a cheap move, in units, that meets one demand; None if none is found."""
        cell, direction, level = demand
        may_move = is_hidden.copy()
        if effort.may_grow:
            may_move[self.columns] = True
        prices = np.where(is_hidden, self.ties, self.weights) if effort.near else self._costs(is_hidden)
        asked = cell, direction * round(level), prices, self.room_down
        move = self.swaps.find(*asked, may_move)
        if not effort.by_programme:
            return move
        if not effort.near:
            return move if move is not None else self._find_by_programmes(is_hidden, demand, may_move, prices, effort)
        most = np.inf if move is None else self.pay(is_hidden, move)
        if most == 0:
            return move
        # No cheaper move has a cell that costs more than all that the swap hides.
        may_move &= is_hidden | (self.weights < most)
        around = self.swaps.look_around(*asked, may_move, effort.near)
        cheaper = self._find_by_programmes(is_hidden, demand, around, prices, effort) if around[cell] else None
        return cheaper if cheaper is not None and self.pay(is_hidden, cheaper) < most else move

    def pay(self, is_hidden: BoolArray, move: CountArray) -> float:
        """Return what the cells cost that a move hides."""
        return float(self.weights[(move != 0) & ~is_hidden].sum())

    def _find_by_programmes(
        self, is_hidden: BoolArray, demand: ReachDemand, may_move: BoolArray, prices: FloatArray, effort: MoveEffort
    ) -> CountArray | None:
        """Return a move that meets one demand: of whole parts of fractions, or found in whole numbers."""
        chosen = np.flatnonzero(may_move[self.columns])
        amounts = self._solve(demand, chosen, prices)
        if amounts is None:
            return None
        move = self._keep_whole_parts(amounts)
        if self.meets([demand], move)[0]:
            return move
        if not self.system.is_integer or not effort.nodes:
            return None
        # Where it moves in fractions, or may move for nothing, whole numbers are looked for first.
        near = np.flatnonzero((np.abs(amounts) > _TOLERANCE) | (is_hidden & may_move)[self.columns])
        for columns in (near, chosen) if len(near) < len(chosen) else (chosen,):
            amounts = self._solve(demand, columns, prices, nodes=effort.nodes)
            if amounts is not None:
                return self._keep_whole_parts(amounts)
        return None

    def meets(self, demands: list[ReachDemand], move: CountArray | FloatArray) -> BoolArray:
        """Return which demands a move meets, as it is or the other way round where there is room."""
        if not demands:
            return np.zeros(0, dtype=np.bool_)
        cells, directions, levels = (np.array(part) for part in zip(*demands, strict=True))
        moved = directions * move[cells.astype(np.int64)]
        back = bool((move <= self.room_down).all())
        is_met: BoolArray = np.logical_or(moved >= levels, (-moved >= levels) & back)
        return is_met

    def filter_unmet(self, demands: list[ReachDemand], moves: Sequence[CountArray | FloatArray]) -> list[ReachDemand]:
        """Return the demands that no move meets."""
        for move in moves:
            is_met = self.meets(demands, move).tolist()
            demands = [demand for demand, met in zip(demands, is_met, strict=True) if not met]
        return demands

    def hide_by_bundles(self, is_hidden: BoolArray, demands: list[ReachDemand]) -> None:
        """Hide cells, in place, until every demand is met in fractions: some dozens by one programme.

        What is paid for one of them serves the others.
        """
        draw = np.random.default_rng(0)
        pending = list(demands)
        may_grow = False
        while pending:
            pending = [pending[place] for place in draw.permutation(len(pending))]
            # One direction of each cell. Most may need nothing more: all of them are asked first.
            bundle = list({demand[0]: demand for demand in pending}.values())
            bundle = bundle[:_BUNDLE] if may_grow else bundle
            amounts = self._solve_bundle(is_hidden, bundle, may_grow=may_grow)
            if amounts is None:
                return
            is_hidden[self.columns[np.abs(amounts) > _TOLERANCE]] = True
            reached = np.zeros(self.system.n_cells)
            reached[self.columns] = amounts + np.sign(amounts) * _TOLERANCE
            left = self.filter_unmet(pending, [reached])
            if may_grow:
                # What a bundle leaves open, no other would meet.
                tried = set(bundle)
                left = [demand for demand in left if demand not in tried]
            may_grow |= len(pending) - len(left) < _FEW * len(pending)
            pending = left

    def _solve_bundle(self, is_hidden: BoolArray, demands: list[ReachDemand], *, may_grow: bool) -> FloatArray | None:
        """Return how far every column moves, in units, so that as many demands as can be are met, cheaply."""
        from scipy.sparse import csr_array, hstack

        unit, n, n_demands = self.system.unit, len(self.columns), len(demands)
        cells, directions, levels = (np.array(part) for part in zip(*demands, strict=True))
        places = np.searchsorted(self.columns, cells)
        asked = csr_array((directions.astype(float), (np.arange(n_demands), places)), shape=(n_demands, n))
        met = csr_array((np.ones(n_demands), (np.arange(n_demands), np.arange(n_demands))))
        nothing = csr_array((self.matrix.shape[0], n_demands))
        weights = self.weights[self.columns]
        costs = np.where(is_hidden[self.columns], 0.0, weights * _DEAREST / weights.max()) + _NEARLY_FREE
        top = np.where(is_hidden[self.columns] | may_grow, _ROOM * float(levels.max()), 0.0)
        high = np.concatenate([top, np.minimum(self.room_down[self.columns], top), levels]) / unit
        answer = solver.linprog(
            np.concatenate([costs, costs, np.full(n_demands, -_REWARD)]),
            A_eq=hstack([self.matrix, -self.matrix, nothing], format="csr"),
            b_eq=np.zeros(self.matrix.shape[0]),
            A_ub=hstack([-asked, asked, met], format="csr"),
            b_ub=np.zeros(n_demands),
            # What moves the other way is as much against it.
            bounds=np.stack([np.concatenate([np.zeros(2 * n), np.full(n_demands, -np.inf)]), high], axis=1),
            method="highs",
        )
        if answer.x is None:
            return None
        amounts: FloatArray = (answer.x[:n] - answer.x[n : 2 * n]) * unit
        return amounts

    def _costs(self, is_hidden: BoolArray) -> FloatArray:
        """Return what a unit of each cell's move costs: next to nothing where it is hidden already."""
        costs: FloatArray = np.where(is_hidden, _TINY * self.weights, self.weights) + _TINY
        return costs

    def _keep_whole_parts(self, amounts: FloatArray) -> CountArray:
        """Return the parts of a move that are whole numbers, if need be some times over."""
        from scipy.sparse.csgraph import connected_components

        moved = np.flatnonzero(np.abs(amounts) > _TOLERANCE)
        move = np.zeros(self.system.n_cells, dtype=np.int64)
        if not len(moved):
            return move
        matrix = self.matrix[:, moved]
        bound = abs(matrix)
        n_parts, part_of = connected_components(bound.T @ bound, directed=False)
        left = np.ones(n_parts, dtype=np.bool_)
        for times in _TIMES:
            exact = np.rint(amounts[moved] * times)
            is_off = -exact > self.room_down[self.columns[moved]]
            off_parts = np.bincount(part_of, weights=is_off, minlength=n_parts) > 0
            # Rounding may leave a sum open.
            open_sums = np.flatnonzero(matrix @ exact)
            off_parts[part_of[np.unique(matrix[open_sums].indices)]] = True
            keep = (left & ~off_parts)[part_of]
            move[self.columns[moved[keep]]] = exact[keep].astype(np.int64)
            left &= off_parts
        return move

    def _solve(
        self, demand: ReachDemand, chosen: CountArray, prices: FloatArray, *, nodes: int = 0
    ) -> FloatArray | None:
        """Return how far every cell moves, in units; whole numbers are looked for if so many nodes are given."""
        from scipy.optimize import Bounds, LinearConstraint
        from scipy.sparse import hstack

        cell, direction, level = demand
        unit, n, matrix = self.system.unit, len(chosen), self.matrix[:, chosen]
        matrix = matrix[np.flatnonzero(np.diff(matrix.indptr))]
        costs = prices[self.columns[chosen]]
        low, up = np.zeros(2 * n), np.concatenate([np.full(n, np.inf), self.room_down[self.columns[chosen]] / unit])
        place = int(np.searchsorted(self.columns[chosen], cell))
        forward, back = (place, n + place) if direction > 0 else (n + place, place)
        low[forward], up[back] = level / unit, 0.0
        if (low > up).any():
            return None
        answer = solver.milp(
            np.concatenate([costs, costs]),
            constraints=LinearConstraint(hstack([matrix, -matrix], format="csr"), 0, 0),
            bounds=Bounds(low, up),
            integrality=np.full(2 * n, int(nodes > 0)),
            options={"node_limit": nodes, "mip_rel_gap": _MOVE_GAP} if nodes else {},
        )
        if answer.x is None:
            return None
        amounts = np.zeros(len(self.columns))
        amounts[chosen] = (answer.x[:n] - answer.x[n:]) * unit
        return amounts
