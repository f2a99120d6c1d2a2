"""Secondary suppression: the cheapest cells to hide so that the primary ones are protected, with a bound.

Two programmes take turns (Fischetti and Salazar, 2001). The master chooses cells to hide, as cheap as its cuts allow.
The reader's programme says how far each primary cell can move then; where that is too little, its dual is a cut that
every protecting pattern meets. The master's optimum without a new cut is the best pattern. If the time is over, cells
are added until every primary cell is protected, and the master's bound gives the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.errors import InfeasibleError
from hushtable.search import Clock
from hushtable.tabulation.auditing import CellAudit, audit, find_changeable
from hushtable.tabulation.cells import CellSystem
from hushtable.tabulation.cutting import Master, ReachDemand
from hushtable.tabulation.deducing import deduce
from hushtable.tabulation.moves import MoveEffort, MoveSearch
from hushtable.tabulation.witnesses import ProtectionLevels, WitnessSearch

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MAX_EXACT_CELLS: Final = 4_000  # cells that could be hidden, up to which an optimum is looked for
_SHARE_OF_MASTER: Final = 0.6  # of the time
_NEAR: Final = (2, 3, None)  # steps that a reader sees around a cell; at last all
_TOLERANCE: Final = 1e-6
_EFFORTS: Final = (
    MoveEffort(may_grow=False, by_programme=False),
    MoveEffort(may_grow=False, by_programme=True, nodes=10),
    MoveEffort(may_grow=True, by_programme=False),
    MoveEffort(may_grow=True, by_programme=True, nodes=100),
    MoveEffort(may_grow=True, by_programme=True, nodes=10_000),
)
_CLEANINGS: Final = (
    MoveEffort(may_grow=False, by_programme=False),
    MoveEffort(may_grow=False, by_programme=True, nodes=10),
)
# Programmes of all cells take a second or more in large tables, those of a part of it milliseconds.
_LARGE_EFFORTS: Final = (
    MoveEffort(may_grow=False, by_programme=False),
    MoveEffort(may_grow=False, by_programme=True, near=600),
    MoveEffort(may_grow=False, by_programme=True, near=1_500),
    MoveEffort(may_grow=True, by_programme=True, nodes=1, near=1_500),
    MoveEffort(may_grow=True, by_programme=True, nodes=100),
)
_LARGE_CLEANINGS: Final = (
    MoveEffort(may_grow=False, by_programme=False),
    MoveEffort(may_grow=True, by_programme=True, near=600),
)


@dataclass(frozen=True, slots=True, eq=False)
class SuppressionPattern:
    """Which cells are hidden.

    Attributes
    ----------
    is_hidden : array
        Primary and secondary cells.
    cost : float
        The weights of the secondary cells, added.
    bound : float
        No pattern that protects costs less.
    audit : CellAudit
        That every primary cell is protected; those that hiding cannot protect are told.
    levels : ProtectionLevels
        What was asked: what no pattern gives is left out.
    """

    is_hidden: BoolArray
    cost: float
    bound: float
    audit: CellAudit
    levels: ProtectionLevels

    @property
    def is_optimal(self) -> bool:
        """Whether nothing cheaper protects."""
        return self.cost <= self.bound * (1 + _TOLERANCE) + _TOLERANCE

    @property
    def gap(self) -> float:
        """By which share of its cost it is above the bound, at most."""
        return 0.0 if self.is_optimal or not self.cost else (self.cost - self.bound) / self.cost


@dataclass(slots=True, eq=False)
class _PatternSearch:
    """A search for the cells to hide."""

    system: CellSystem  # with all values known
    is_primary: BoolArray
    levels: ProtectionLevels
    weights: FloatArray
    clock: Clock
    may_hide: BoolArray = field(init=False)
    columns: CountArray = field(init=False)
    matrix: csr_array = field(init=False)
    room_down: FloatArray = field(init=False)
    master: Master = field(init=False)
    moves: MoveSearch = field(init=False)

    def __post_init__(self) -> None:
        self.may_hide = find_changeable(self.system) | self.is_primary
        self.columns = np.flatnonzero(self.may_hide)
        self.matrix = self.system.equations.matrix(self.system.n_cells)[:, self.columns]
        self.matrix = self.matrix[np.flatnonzero(np.diff(self.matrix.indptr))]
        least = self.system.with_hidden(self.may_hide).lower
        room = np.where(np.isfinite(least), self.system.values - least, np.inf)
        self.room_down = room[self.columns]
        is_primary, weights = self.is_primary[self.columns], self.weights[self.columns]
        self.master = Master(
            self.columns, self.matrix, is_primary, weights, self.room_down, self.system.unit, self.clock
        )
        self.moves = MoveSearch(self.system, self.columns, self.matrix, self.weights, room)

    @property
    def is_small(self) -> bool:
        """Whether programmes of all cells are solved soon."""
        return len(self.columns) <= _MAX_EXACT_CELLS

    def judge(self, is_hidden: BoolArray, moves: list[CountArray]) -> CellAudit:
        """Judge the primary cells under a pattern, with moves that are known to be possible."""
        values = self.system.values
        tables = [values, *(values + move for move in moves)]
        tables += [values - move for move in moves if (move[self.columns] <= self.room_down).all()]
        hidden = self.system.with_hidden(is_hidden)
        return audit(hidden, self.levels, clock=self.clock, first_tables=tables, explain=False)

    def unmet(self, judged: CellAudit) -> list[ReachDemand]:
        """Return what primary cells lack."""
        values, found = self.system.values, []
        for cell in judged.cells:
            if cell.outcome == "protected":
                continue
            up, down = self.levels.reach_up[cell.cell], self.levels.reach_down[cell.cell]
            if judged.high[cell.cell] < up:
                found.append((cell.cell, 1, float(up - values[cell.cell])))
            if judged.low[cell.cell] > down:
                found.append((cell.cell, -1, float(values[cell.cell] - down)))
        return found

    def pattern_of(self, chosen: FloatArray) -> BoolArray:
        """Return which cells of the system a choice hides."""
        is_hidden = self.is_primary.copy()
        is_hidden[self.columns[chosen > 0.5]] = True
        return is_hidden

    def cost_of(self, is_hidden: BoolArray) -> float:
        """Return what the secondary cells of a pattern cost."""
        return float(self.weights[is_hidden & ~self.is_primary].sum())

    def list_demands(self) -> list[ReachDemand]:
        """Return what is asked of all primary cells."""
        levels, values = self.levels, self.system.values
        return [
            (cell, direction, float(abs(level[cell] - values[cell])))
            for cell in np.flatnonzero(levels.is_asked).tolist()
            for direction, level in ((1, levels.reach_up), (-1, levels.reach_down))
            if np.isfinite(level[cell]) and direction * (level[cell] - values[cell]) > 0
        ]

    def complete(self, is_hidden: BoolArray, moves: list[CountArray]) -> BoolArray:
        """Hide further cells until moves meet every demand: as many together as one programme can meet.

        Moves that were found stay possible when more is hidden; new ones are added to the list.
        """
        is_hidden = is_hidden.copy()
        pending = self.moves.filter_unmet(self.list_demands(), moves)
        self.moves.hide_by_bundles(is_hidden, pending)
        if self.is_small:
            # Whole numbers for many cells at once take minutes in large tables; those for one take a second.
            found = self._find_free_moves(is_hidden, pending)
            moves += found
            pending = self.moves.filter_unmet(pending, found)
        # Whole numbers may need more than fractions do; what is not met soon is met by moves of others.
        for effort in _EFFORTS if self.is_small else _LARGE_EFFORTS:
            pending = self._meet(pending, is_hidden, moves, effort)
        for demand in pending:
            self._drop(demand)
        return is_hidden

    def _meet(
        self, pending: list[ReachDemand], is_hidden: BoolArray, moves: list[CountArray], effort: MoveEffort
    ) -> list[ReachDemand]:
        """Meet demands, hide what moves, in place, and return those that are left."""
        unmet: list[ReachDemand] = []
        while pending:
            move = self.moves.find(is_hidden, pending[0], effort)
            if move is None:
                unmet.append(pending.pop(0))
                continue
            moves.append(move)
            is_hidden |= move != 0
            pending, unmet = self.moves.filter_unmet(pending, [move]), self.moves.filter_unmet(unmet, [move])
        return unmet

    def _drop(self, demand: ReachDemand) -> None:
        """Ask no more for what no pattern gives; raise InfeasibleError if nothing is left to ask of a cell."""
        cell, direction, _ = demand
        down, up = self.levels.reach_down.copy(), self.levels.reach_up.copy()
        (up if direction > 0 else down)[cell] = -np.inf if direction > 0 else np.inf
        if not np.isfinite(up[cell]) and not np.isfinite(down[cell]):
            raise InfeasibleError(
                f"hiding cannot protect {self.system.describe(cell)}, whatever else is hidden.",
                hint="hide zeros too (--zeros hidden), take coarser categories, or leave out a dimension.",
            )
        self.levels = ProtectionLevels(down, up, self.levels.spread)

    def _find_free_moves(self, is_hidden: BoolArray, demands: list[ReachDemand]) -> list[CountArray]:
        """Return moves of cells that are hidden already, which meet some of the demands."""
        up, down = np.full(self.system.n_cells, -np.inf), np.full(self.system.n_cells, np.inf)
        for cell, direction, level in demands:
            (up if direction > 0 else down)[cell] = self.system.values[cell] + direction * level
        hidden = self.system.with_hidden(is_hidden)
        deduction = deduce(hidden)
        search = WitnessSearch(hidden, deduction, ProtectionLevels(down, up, self.levels.spread), Clock())
        search.keep(self.system.values[search.cells].astype(np.float64))
        search.run(one_by_one=False)
        moves = []
        for witness in search.witnesses:
            if witness.denominator == 1:
                move = np.zeros(self.system.n_cells, dtype=np.int64)
                move[search.cells] = witness.values - self.system.values[search.cells]
                moves.append(move)
        return moves

    def clean(self, is_hidden: BoolArray, moves: list[CountArray], effort: MoveEffort) -> BoolArray:
        """Show secondary cells again, the dearest first, where moves of others or of cheaper ones do."""
        demands = self.list_demands()
        meets = np.array([self.moves.meets(demands, move) for move in moves]).reshape(len(moves), len(demands))
        secondary = np.flatnonzero(is_hidden & ~self.is_primary)
        for cell in secondary[np.argsort(-self.weights[secondary], kind="stable")].tolist():
            if self.clock.is_over():
                break
            fewer = is_hidden.copy()
            fewer[cell] = False
            stays = np.array([not move[cell] for move in moves], dtype=np.bool_)
            lacking = np.flatnonzero(~meets[stays].any(axis=0))
            new: list[CountArray] = []
            paid = 0.0
            while len(lacking) and not self.clock.is_over():
                move = self.moves.find(fewer, demands[lacking[0]], effort)
                # What other cells cost that are hidden instead must be less.
                if move is None or (paid := paid + self.moves.pay(fewer, move)) >= self.weights[cell]:
                    break
                new.append(move)
                fewer |= move != 0
                lacking = lacking[~self.moves.meets([demands[place] for place in lacking], move)]
            if not len(lacking):
                is_hidden = fewer
                moves[:] = [move for move, kept in zip(moves, stays, strict=True) if kept] + new
                new_meets = [self.moves.meets(demands, move) for move in new]
                meets = np.concatenate([meets[stays], np.array(new_meets).reshape(len(new), len(demands))])
        return is_hidden


def suppress(
    system: CellSystem,
    is_primary: BoolArray,
    levels: ProtectionLevels,
    weights: FloatArray,
    clock: Clock | None = None,
) -> SuppressionPattern:
    """Choose the cells to hide besides the primary ones.

    Parameters
    ----------
    system : CellSystem
        All values known.
    is_primary : array
        Cells that must be hidden.
    levels : ProtectionLevels
        What a reader must hold possible of them.
    weights : array
        What hiding a cell costs.
    clock : Clock, optional
        A budget ends the search for the best pattern; one that protects is always returned.
    """
    clock = clock or Clock()
    levels = _drop_impossible(system, is_primary, levels)
    search = _PatternSearch(system, is_primary, levels, weights, clock.start_part(_SHARE_OF_MASTER))
    pattern, is_done = _search_optimum(search)
    moves: list[CountArray] = []
    if not is_done:
        search.clock = clock
        pattern = search.complete(pattern, moves)
        for effort in _CLEANINGS if search.is_small else _LARGE_CLEANINGS:
            pattern = search.clean(pattern, moves, effort)
    search.clock = Clock()
    return SuppressionPattern(
        pattern, search.cost_of(pattern), search.master.bound, search.judge(pattern, moves), search.levels
    )


def suppress_soon(
    system: CellSystem, is_primary: BoolArray, levels: ProtectionLevels, weights: FloatArray
) -> BoolArray:
    """Return a pattern that protects, without a search for the cheapest: the same one on every machine.

    Raises
    ------
    InfeasibleError
        Hiding cannot protect a cell.
    """
    levels = _drop_impossible(system, is_primary, levels)
    search = _PatternSearch(system, is_primary, levels, weights, Clock())
    moves: list[CountArray] = []
    return search.clean(search.complete(is_primary, moves), moves, _CLEANINGS[0])


def _drop_impossible(system: CellSystem, is_primary: BoolArray, levels: ProtectionLevels) -> ProtectionLevels:
    """Return the levels without what no pattern gives: bounds that hold when all cells that can be hidden are."""
    most = deduce(system.with_hidden(find_changeable(system) | is_primary))
    up = np.where(most.high >= levels.reach_up, levels.reach_up, -np.inf)
    down = np.where(most.low <= levels.reach_down, levels.reach_down, np.inf)
    return ProtectionLevels(down, up, np.zeros(system.n_cells))


def _search_optimum(search: _PatternSearch) -> tuple[BoolArray, bool]:
    """Let the master and the reader take turns; return the last pattern, and whether it protects."""
    master, demands = search.master, search.list_demands()
    is_small = search.is_small
    # Where all cells can be judged by few programmes, each cut is worth a look at all sums.
    for steps in () if is_small else _NEAR:
        master.add_near_cuts(demands, steps)
    while is_small and not search.clock.is_over():
        chosen = master.choose()
        if chosen is None:
            break
        pattern = search.pattern_of(chosen)
        unmet = search.unmet(search.judge(pattern, []))
        if not unmet:
            return pattern, True
        if not master.add_cuts(chosen, unmet):
            break
    # What meets the near cuts of a large table serves whole moves badly: to begin without it costs less.
    return search.pattern_of(master.chosen) if is_small else search.is_primary, False
