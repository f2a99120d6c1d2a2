"""The master of secondary suppression: the cheapest cells that meet all cuts, and the readers who find cuts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.search import Clock, solver

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_CUTS_PER_ROUND: Final = 60
_ROUGH_GAP: Final = 0.005  # of the master, while cuts are plenty
_FINE_GAP: Final = 1e-6
_TOLERANCE: Final = 1e-6

ReachDemand = tuple[int, int, float]
"""A cell, a direction, and by how much it must be able to move there."""


@dataclass(slots=True, eq=False)
class Master:
    """The cells that can be hidden, what each costs, and the cuts so far.

    Attributes
    ----------
    columns : array
        The cells.
    matrix : sparse array
        The sums, one a row, and the cells as columns.
    is_primary : array
        By column: must be hidden.
    weights : array
        By column.
    room_down : array
        By column: how far a cell can fall, in units.
    unit : int
    clock : Clock
    """

    columns: CountArray
    matrix: csr_array
    is_primary: BoolArray
    weights: FloatArray
    room_down: FloatArray
    unit: int
    clock: Clock
    chosen: FloatArray = field(init=False)  # by column: 1 where the last choice hides
    cuts: list[csr_array] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)
    bound: float = 0.0
    _near: dict[tuple[int, int | None], tuple[CountArray, csr_array]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chosen = self.is_primary.astype(np.float64)

    def choose(self, gap: float = _FINE_GAP) -> FloatArray | None:
        """Choose the cheapest cells that meet all cuts, and raise the bound; None if the time was over."""
        from scipy.optimize import Bounds, LinearConstraint
        from scipy.sparse import vstack

        if not len(self.columns):
            return self.chosen  # all that is not 0 was published before
        options = {"mip_rel_gap": gap}
        if np.isfinite(self.clock.left):
            options["time_limit"] = max(0.1, self.clock.left)
        answer = solver.milp(
            np.where(self.is_primary, 0.0, self.weights),
            constraints=[LinearConstraint(vstack(self.cuts, format="csr"), 1, np.inf)] if self.cuts else [],
            bounds=Bounds(self.is_primary.astype(float), 1.0),
            integrality=np.ones(len(self.columns)),
            options=options,
        )
        if answer.x is None:
            return None
        self.bound = max(self.bound, float(answer.fun if answer.mip_dual_bound is None else answer.mip_dual_bound))
        self.chosen = np.rint(answer.x)
        return self.chosen

    def add_near_cuts(self, demands: list[ReachDemand], steps: int | None) -> None:
        """Take turns with readers who see only the sums a few steps from a cell, until they find nothing more.

        What they find holds for every reader, and costs milliseconds.
        """
        waiting, met = deque(demands), 0
        while met < len(demands):
            chosen = self.choose(_ROUGH_GAP)
            if chosen is None:
                return
            n_new = 0
            while n_new < _CUTS_PER_ROUND and met < len(demands) and not self.clock.is_over():
                is_new = self.add_cuts(chosen, [waiting[0]], steps)
                met = 0 if is_new else met + 1
                n_new += is_new
                waiting.rotate(-1)
            if self.clock.is_over():
                return

    def add_cuts(self, chosen: FloatArray, demands: list[ReachDemand], steps: int | None = None) -> int:
        """Add a cut for each demand that a choice of cells does not meet; return how many are new."""
        from scipy.sparse import csr_array

        n_new = 0
        for demand in demands:
            if self.clock.is_over():
                break
            cut = self._find_cut(chosen, demand, steps)
            if cut is not None and (name := np.round(cut, 9).tobytes()) not in self.seen:
                self.seen.add(name)
                self.cuts.append(csr_array(cut[None, :]))
                n_new += 1
        return n_new

    def _find_cut(self, chosen: FloatArray, demand: ReachDemand, steps: int | None) -> FloatArray | None:
        """Solve the reader's programme; return the coefficients of the cut, None if the demand is met."""
        cell, direction, level = demand
        place = int(np.searchsorted(self.columns, cell))
        columns, matrix = self._look_around(place, steps)
        objective = np.where(columns == place, -float(direction), 0.0)
        cap = 4 * level
        up, down = np.full(len(columns), cap), np.minimum(self.room_down[columns], cap)
        # A programme with the cells that are shown, too, has the better dual; without them it is solved sooner.
        moves = np.arange(len(columns)) if steps is None else np.flatnonzero(chosen[columns])
        answer = solver.linprog(
            objective[moves],
            A_eq=matrix[:, moves],
            b_eq=np.zeros(matrix.shape[0]),
            bounds=np.stack([-down[moves], up[moves]], axis=1) * chosen[columns[moves], None] / self.unit,
            method="highs",
        )
        if answer.x is None or -answer.fun * self.unit >= level - _TOLERANCE:
            return None
        reduced = objective - matrix.T @ answer.eqlin.marginals
        gain = np.where(reduced < 0, -reduced * up, reduced * down)
        gain[np.abs(reduced) < _TOLERANCE] = 0.0
        # What primary cells give is given: others must give the rest, and none counts for more than that.
        rest = level - float(gain[self.is_primary[columns]].sum())
        cut = np.zeros(len(self.columns))
        if rest <= _TOLERANCE:
            return None
        cut[columns] = np.where(self.is_primary[columns], 0.0, np.minimum(gain, rest) / rest)
        return cut

    def _look_around(self, place: int, steps: int | None) -> tuple[CountArray, csr_array]:
        """Return the columns and sums within some steps of a column; all of them if no steps are said."""
        if steps is None:
            return np.arange(len(self.columns)), self.matrix
        if (place, steps) not in self._near:
            size = abs(self.matrix)
            reached = np.zeros(len(self.columns))
            reached[place] = 1.0
            rows = size @ reached > 0
            for _ in range(steps):
                rows = size @ reached > 0
                reached = (size.T @ rows.astype(np.float64) > 0).astype(np.float64)
            columns = np.flatnonzero(reached)
            self._near[place, steps] = columns, self.matrix[np.flatnonzero(rows)][:, columns]
        return self._near[place, steps]
