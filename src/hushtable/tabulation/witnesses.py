"""Witness tables: other tables that agree with all that is shown, and have other values in the hidden cells.

A cell is protected if two such tables differ in it by as much as it needs. Most come from programmes whose objectives
move many cells at once; every one is checked in integers before it counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.search import Clock, solver
from hushtable.tabulation.cells import CellSystem
from hushtable.tabulation.deducing import Deduction
from hushtable.tabulation.moves import MoveEffort, MoveSearch

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_BUNDLES: Final = 12  # objectives that move many cells, before cells are asked one by one
_MAX_IDLE_BUNDLES: Final = 2  # that moved no cell further
_DENOMINATORS: Final = (1, 2, 3, 4, 6, 12)
_NODES: Final = 10_000  # of an integer programme: seconds would let a verdict depend on the load
_NODES_OF_BUNDLE: Final = 10
_ROOM: Final = 1000.0  # above the largest number that is shown
_GAP: Final = 0.05  # of an integer programme whose optimum nobody asks for
_LARGE: Final = 2_000  # open cells, from which on programmes of all of them are few
_MOVES: Final = (
    MoveEffort(may_grow=False, by_programme=False),
    MoveEffort(may_grow=False, by_programme=True, near=600),
)
_LAST_MOVES: Final = (
    MoveEffort(may_grow=False, by_programme=True, near=1_500),
    MoveEffort(may_grow=False, by_programme=True),
)

MoveDirection = Literal[1, -1]


@dataclass(frozen=True, slots=True, eq=False)
class ProtectionLevels:
    """What must be possible for each cell, in units: arrays over all cells of a system.

    A reader's lowest and highest possible values must reach ``reach_down`` and ``reach_up`` and lie ``spread`` apart.
    """

    reach_down: FloatArray  # inf where nothing is asked
    reach_up: FloatArray  # -inf where nothing is asked
    spread: FloatArray  # 0 where nothing is asked

    @property
    def is_asked(self) -> BoolArray:
        """The cells of which something is asked."""
        return np.logical_or(self.spread > 0, np.isfinite(self.reach_down) | np.isfinite(self.reach_up))

    def with_another_value(self, cells: BoolArray, values: CountArray) -> ProtectionLevels:
        """Ask of some more cells that they can be one unit more."""
        up = np.where(cells & ~self.is_asked, values + 1.0, self.reach_up)
        return ProtectionLevels(self.reach_down, up, self.spread)

    def are_met(self, low: FloatArray, high: FloatArray) -> BoolArray:
        """Whether the values that were reached are enough."""
        return np.logical_and((low <= self.reach_down) & (high >= self.reach_up), high - low >= self.spread)


@dataclass(frozen=True, slots=True, eq=False)
class WitnessTable:
    """Values of the open cells in another table that agrees, in units over a common denominator."""

    values: CountArray
    denominator: int = 1


@dataclass(slots=True, eq=False)
class WitnessSearch:
    """A search for witnesses of the open cells of a system."""

    system: CellSystem
    deduction: Deduction
    levels: ProtectionLevels
    clock: Clock
    seed: int = 0
    witnesses: list[WitnessTable] = field(default_factory=list)
    low: FloatArray = field(init=False)  # the lowest and highest values in a witness, per cell of the system
    high: FloatArray = field(init=False)
    # How far a cell goes in a direction; nan where no table was found.
    blocked: dict[tuple[int, MoveDirection], float] = field(default_factory=dict)
    cells: CountArray = field(init=False)
    _matrix: csr_array = field(init=False)
    _needed: FloatArray = field(init=False)
    _bounds: tuple[FloatArray, FloatArray] = field(init=False)

    def __post_init__(self) -> None:
        system, deduction = self.system, self.deduction
        is_open = ~deduction.is_determined
        self.cells = np.flatnonzero(is_open)
        self.low = np.where(is_open, np.inf, deduction.low)
        self.high = np.where(is_open, -np.inf, deduction.high)
        if not len(self.cells):
            return
        chosen = np.logical_or.reduceat(is_open[system.equations.cells], system.equations.starts[:-1])
        whole = system.equations.take(chosen).matrix(system.n_cells)
        self._needed = -(whole @ np.where(is_open, 0.0, deduction.low))
        self._matrix = whole[:, self.cells]
        asked = [level[np.isfinite(level)] for level in (self.levels.reach_up, self.levels.reach_down)]
        top = max((float(np.abs(part).max()) for part in (self._needed, *asked) if len(part)), default=0.0)
        room = 4 * top + _ROOM * system.unit
        low, high = deduction.low[self.cells], deduction.high[self.cells]
        self._bounds = np.where(np.isfinite(low), low, -room), np.where(np.isfinite(high), high, room)

    @property
    def is_met(self) -> BoolArray:
        """Which cells have what is asked of them."""
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(self.low), ~self.levels.is_asked, self.levels.are_met(self.low, self.high))

    def run(self, *, one_by_one: bool = True) -> None:
        """Search until every cell has its witnesses, is shown to have none, or the time is over.

        Parameters
        ----------
        one_by_one : bool
            Whether cells that no objective for many of them moved are asked each by itself.
        """
        draw = np.random.default_rng(self.seed)
        idle, is_large = 0, len(self.cells) > _LARGE
        bases: list[WitnessTable] = []
        for _ in range(_BUNDLES):
            pending = self._pending()
            if len(pending) < 2 or self.clock.is_over():
                break
            objective = np.zeros(len(self.cells))
            for cell, directions in pending:
                objective[np.searchsorted(self.cells, cell)] = draw.choice(directions) * (0.5 + draw.random())
            before = int(self.is_met.sum())
            self._try(objective)
            bases += self.witnesses[-1:]
            for effort in _MOVES if is_large else ():
                self._move_singly(bases[-1:], effort)
            idle = idle + 1 if int(self.is_met.sum()) == before else 0
            if idle > _MAX_IDLE_BUNDLES:
                break
        if not is_large:
            self._move_singly(self.witnesses[:1], _MOVES[0])
        # What one of them leaves no room to move has some in another one.
        for base, effort in product(bases if is_large else (), _LAST_MOVES):
            self._move_singly([base], effort)
        while one_by_one and (pending := self._pending()) and not self.clock.is_over():
            cell, directions = pending[0]
            self.push(cell, directions[0])

    def _pending(self) -> list[tuple[int, list[MoveDirection]]]:
        """Return the cells that lack a witness, each with the directions that may help."""
        found = []
        for cell in self.cells[~self.is_met[self.cells]].tolist():
            directions = [each for each in self._directions(cell) if (cell, each) not in self.blocked]
            if directions:
                found.append((cell, directions))
        return found

    def _directions(self, cell: int) -> list[MoveDirection]:
        levels, low, high = self.levels, self.low[cell], self.high[cell]
        directions: list[MoveDirection] = []
        if high < levels.reach_up[cell] or high - low < levels.spread[cell] or np.isinf(low):
            directions.append(1)
        if low > levels.reach_down[cell] or high - low < levels.spread[cell]:
            directions.append(-1)
        return directions

    def _move_singly(self, bases: Sequence[WitnessTable], effort: MoveEffort) -> None:
        """Move single cells of a witness, if there is one: of thousands of hidden cells most move by a few others."""
        if not self.system.is_integer or not bases or not self._pending():
            return
        levels, n_cells = self.levels, self.system.n_cells
        base, room_down, may_move = self.deduction.low.copy(), np.zeros(n_cells), np.zeros(n_cells, dtype=np.bool_)
        base[self.cells] = bases[0].values
        may_move[self.cells] = True
        room_down[self.cells] = base[self.cells] - self._bounds[0]
        moves = MoveSearch(self.system, self.cells, self._matrix, np.ones(n_cells), room_down)
        for cell in self.cells[~self.is_met[self.cells]].tolist():
            for direction in self._directions(cell):
                if self.clock.is_over():
                    return
                spread, low, high = levels.spread[cell], self.low[cell], self.high[cell]
                up, down = max(levels.reach_up[cell], low + spread), min(levels.reach_down[cell], high - spread)
                amount = max(up - base[cell], 1.0) if direction > 0 else max(base[cell] - down, 1.0)
                move = moves.find(may_move, (cell, direction, float(int(amount))), effort)
                if move is not None and self.keep((base + move)[self.cells]) and self.is_met[cell]:
                    break

    def push(self, cell: int, direction: MoveDirection) -> None:
        """Move one cell as far as it goes; what stops it is kept in ``blocked`` if it lacks something then."""
        objective = np.zeros(len(self.cells))
        objective[np.searchsorted(self.cells, cell)] = direction
        best = self._try(objective, is_exact=True)
        self.blocked[cell, direction] = np.nan if best is None else best

    def _try(self, objective: FloatArray, *, is_exact: bool = False) -> float | None:
        """Maximize an objective and keep the table that comes out; return the optimum, None if there is no table."""
        answer = self._solve(objective)
        if answer.x is None:
            return None
        if self.keep(answer.x):
            return float(objective @ answer.x)
        if not self.system.is_integer:
            return None
        answer = self._solve(objective, gap=0.0 if is_exact else _GAP)
        if answer.x is None or not self.keep(np.rint(answer.x)):
            return None
        return float(objective @ np.rint(answer.x)) if answer.status == 0 else None

    def _solve(self, objective: FloatArray, *, gap: float | None = None) -> Any:
        from scipy.optimize import Bounds, LinearConstraint

        unit = self.system.unit
        options: dict[str, float] = {} if self.clock.left == np.inf else {"time_limit": max(0.01, self.clock.left)}
        if gap is not None:
            options |= {"mip_rel_gap": gap, "node_limit": _NODES if gap == 0 else _NODES_OF_BUNDLE}
        answer = solver.milp(
            -objective,
            constraints=LinearConstraint(self._matrix, self._needed / unit, self._needed / unit),
            bounds=Bounds(self._bounds[0] / unit, self._bounds[1] / unit),
            integrality=np.full(len(objective), int(gap is not None)),
            options=options,
        )
        if answer.x is not None:
            answer.x = answer.x * unit
        return answer

    def keep(self, values: FloatArray) -> bool:
        """Keep a table if it agrees exactly, over a small denominator for sums."""
        if not len(self.cells):
            return True
        for denominator in _DENOMINATORS[:1] if self.system.is_integer else _DENOMINATORS:
            exact = np.rint(values * denominator)
            low, high = (bound * denominator for bound in self._bounds)
            if (
                np.array_equal(self._matrix @ exact, self._needed * denominator)
                and ((exact >= low) & (exact <= high)).all()
            ):
                reached = exact / denominator
                if (reached < self.low[self.cells]).any() or (reached > self.high[self.cells]).any():
                    self.witnesses.append(WitnessTable(exact.astype(np.int64), denominator))
                self.low[self.cells] = np.minimum(self.low[self.cells], reached)
                self.high[self.cells] = np.maximum(self.high[self.cells], reached)
                return True
        return False


def choose_witnesses(search: WitnessSearch, asked: Sequence[int]) -> list[WitnessTable]:
    """Return few of the witnesses that show all that was asked and met: those that some cell needs, latest first."""
    place = {cell: position for position, cell in enumerate(search.cells.tolist())}
    wanted = [place[cell] for cell in asked if cell in place]
    if not wanted:
        return search.witnesses[-1:]  # some table that agrees: a certificate begins with one
    if not search.witnesses:
        return []
    values = np.array([witness.values[wanted] / witness.denominator for witness in search.witnesses])
    kept: list[int] = []
    cells = search.cells[wanted]
    levels = ProtectionLevels(
        search.levels.reach_down[cells], search.levels.reach_up[cells], search.levels.spread[cells]
    )
    low, high = np.full(len(wanted), np.inf), np.full(len(wanted), -np.inf)
    is_met = np.zeros(len(wanted), dtype=np.bool_)
    for position in range(len(values) - 1, -1, -1):
        new_low, new_high = np.minimum(low, values[position]), np.maximum(high, values[position])
        if (((new_low < low) | (new_high > high)) & ~is_met).any():
            kept.append(position)
            low, high = new_low, new_high
            is_met = levels.are_met(low, high)
    return [search.witnesses[position] for position in sorted(kept)]
