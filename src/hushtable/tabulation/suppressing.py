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
from hushtable.search import Clock, solver
from hushtable.tabulation.auditing import CellAudit, audit, find_changeable
from hushtable.tabulation.cells import CellSystem
from hushtable.tabulation.deducing import deduce
from hushtable.tabulation.witnesses import ProtectionLevels, WitnessSearch

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MAX_EXACT_CELLS: Final = 4_000  # cells that could be hidden, up to which an optimum is looked for
_SHARE_OF_MASTER: Final = 0.6  # of the time
_MASTER_GAP: Final = 1e-6
_SINGLES: Final = 20  # demands met one by one, before those are looked for that are met by now
_TIMES: Final = (1, 2, 3, 4, 6)  # a move in fractions is a whole one some times over
_SECONDS_PER_MOVE: Final = (1.0, 20.0)  # of an integer programme: at first, and for what is left
_MOVE_GAP: Final = 0.05
_TINY: Final = 1e-6  # what a cell costs that is hidden already, as a share
_TOLERANCE: Final = 1e-6

ReachDemand = tuple[int, int, float]
"""A cell, a direction, and by how much it must be able to move there."""


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
    n_rounds: int

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
    """The cells that can be hidden, what each costs, and the cuts so far."""

    system: CellSystem  # with all values known
    is_primary: BoolArray
    levels: ProtectionLevels
    weights: FloatArray
    clock: Clock
    may_hide: BoolArray = field(init=False)
    columns: CountArray = field(init=False)
    matrix: csr_array = field(init=False)
    room_down: FloatArray = field(init=False)
    cuts: list[FloatArray] = field(default_factory=list)
    cut_levels: list[float] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)
    n_rounds: int = 0

    def __post_init__(self) -> None:
        self.may_hide = find_changeable(self.system) | self.is_primary
        self.columns = np.flatnonzero(self.may_hide)
        self.matrix = self.system.equations.matrix(self.system.n_cells)[:, self.columns]
        least = self.system.with_hidden(self.may_hide).lower
        self.room_down = np.where(np.isfinite(least), self.system.values - least, np.inf)[self.columns]

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

    def add_cuts(self, chosen: FloatArray, demands: list[ReachDemand]) -> int:
        """Add a cut for each demand that a choice of cells (0 to 1 each) does not meet; return how many are new."""
        n_new = 0
        for cell, direction, level in demands:
            if self.clock.is_over():
                break
            cut = self._find_cut(chosen, cell, direction, level)
            if cut is not None and (name := np.round(cut / level, 9).tobytes()) not in self.seen:
                self.seen.add(name)
                self.cuts.append(cut)
                self.cut_levels.append(level)
                n_new += 1
        return n_new

    def _find_cut(self, chosen: FloatArray, cell: int, direction: int, level: float) -> FloatArray | None:
        """Solve the reader's programme; return the coefficients of the cut, None if the demand is met."""
        unit = self.system.unit
        objective = np.where(self.columns == cell, -float(direction), 0.0)
        cap = 4 * level
        up, down = np.full(len(self.columns), cap), np.minimum(self.room_down, cap)
        answer = solver.linprog(
            objective,
            A_eq=self.matrix,
            b_eq=np.zeros(self.matrix.shape[0]),
            bounds=np.stack([-down * chosen / unit, up * chosen / unit], axis=1),
            method="highs",
        )
        if answer.x is None or -answer.fun * unit >= level - _TOLERANCE:
            return None
        reduced = objective - self.matrix.T @ answer.eqlin.marginals
        # A cell that must rise (fall) more than there is room for helps at most by the level.
        gain = np.where(reduced < 0, -reduced * up, reduced * down)
        gain[np.abs(reduced) < _TOLERANCE] = 0.0
        cut: FloatArray = np.minimum(gain, level)
        return cut

    def choose(self) -> tuple[FloatArray, float] | None:
        """Solve the master: the cheapest cells that meet all cuts, and the bound; None if the time was over."""
        from scipy.optimize import Bounds, LinearConstraint
        from scipy.sparse import csr_array

        is_primary = self.is_primary[self.columns]
        options = {"mip_rel_gap": _MASTER_GAP}
        if np.isfinite(self.clock.left):
            options["time_limit"] = max(0.1, self.clock.left)
        constraints = []
        if self.cuts:
            scale = 1 / np.array(self.cut_levels)
            rows = csr_array(np.array(self.cuts) * scale[:, None])
            constraints = [LinearConstraint(rows, np.ones(len(self.cuts)), np.inf)]
        answer = solver.milp(
            np.where(is_primary, 0.0, self.weights[self.columns]),
            constraints=constraints,
            bounds=Bounds(is_primary.astype(float), 1.0),
            integrality=np.ones(len(self.columns)),
            options=options,
        )
        if answer.x is None:
            return None
        bound = answer.fun if answer.mip_dual_bound is None else answer.mip_dual_bound
        return answer.x, float(bound)

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
        pending = self._filter_unmet(self.list_demands(), moves)
        # What is not met soon is met by moves of others, or when more is hidden; what is left gets more time.
        for seconds in _SECONDS_PER_MOVE:
            pending = self._meet(pending, is_hidden, moves, seconds)
        for demand in pending:
            self._drop(demand)
        return is_hidden

    def _meet(
        self, pending: list[ReachDemand], is_hidden: BoolArray, moves: list[CountArray], seconds: float
    ) -> list[ReachDemand]:
        """Meet demands, hide what moves, in place, and return the demands that were not met in so many seconds each."""
        draw, n_single = np.random.default_rng(0), 0
        unmet: list[ReachDemand] = []
        while pending:
            if not n_single:
                # Cells that are hidden by now may meet many demands.
                found = self._find_free_moves(is_hidden, pending + unmet)
                moves += found
                n_single, pending, unmet = (
                    _SINGLES,
                    self._filter_unmet(pending, found),
                    self._filter_unmet(unmet, found),
                )
                continue
            demand = pending[int(draw.integers(len(pending)))]
            move = self.find_move(is_hidden, demand, seconds=seconds)
            n_single -= 1
            if move is None:
                pending.remove(demand)
                unmet.append(demand)
                continue
            moves.append(move)
            is_hidden |= move != 0
            pending, unmet = self._filter_unmet(pending, [move]), self._filter_unmet(unmet, [move])
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

    def _filter_unmet(self, demands: list[ReachDemand], moves: list[CountArray]) -> list[ReachDemand]:
        """Return the demands that no move meets, as it is or the other way round where there is room."""
        for move in moves:
            back = bool((move[self.columns] <= self.room_down).all())
            demands = [
                (cell, direction, level)
                for cell, direction, level in demands
                if direction * move[cell] < level and not (back and -direction * move[cell] >= level)
            ]
        return demands

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
            is_off = -exact > self.room_down[moved]
            off_parts = np.bincount(part_of, weights=is_off, minlength=n_parts) > 0
            # Rounding may leave a sum open.
            open_sums = np.flatnonzero(matrix @ exact)
            off_parts[part_of[np.unique(matrix[open_sums].indices)]] = True
            keep = (left & ~off_parts)[part_of]
            move[self.columns[moved[keep]]] = exact[keep].astype(np.int64)
            left &= off_parts
        return move

    def _costs(self, is_hidden: BoolArray, columns: CountArray) -> FloatArray:
        """Return what a unit of each cell's move costs: next to nothing where it is hidden already."""
        weights = self.weights[columns]
        return np.where(is_hidden[columns], _TINY * weights, weights) + _TINY

    def find_move(
        self, is_hidden: BoolArray, demand: ReachDemand, *, may_grow: bool = True, seconds: float = _SECONDS_PER_MOVE[0]
    ) -> CountArray | None:
        """Return the cheapest move, in units, that meets one demand; None if there is none.

        Parameters
        ----------
        is_hidden : array
            Cells that cost nothing any more.
        demand : ReachDemand
        may_grow : bool
            Whether cells that are shown may move.
        seconds : float
            How long whole numbers are looked for.
        """
        chosen = np.arange(len(self.columns)) if may_grow else np.flatnonzero(is_hidden[self.columns])
        amounts = self._solve_move(is_hidden, demand, chosen)
        if amounts is None:
            return None
        move = self._keep_whole_parts(amounts)
        if not self._filter_unmet([demand], [move]):
            return move
        if not self.system.is_integer:
            return None
        # Where it moves in fractions, or may move for nothing, whole numbers are looked for first.
        near = np.flatnonzero((np.abs(amounts) > _TOLERANCE) | is_hidden[self.columns])
        for columns in (near, chosen):
            amounts = self._solve_move(is_hidden, demand, columns, seconds=seconds)
            if amounts is not None:
                return self._keep_whole_parts(amounts)
        return None

    def _solve_move(
        self, is_hidden: BoolArray, demand: ReachDemand, chosen: CountArray, *, seconds: float | None = None
    ) -> FloatArray | None:
        """Return how far every cell moves, in units; whole numbers are looked for if so many seconds are given."""
        from scipy.optimize import Bounds, LinearConstraint
        from scipy.sparse import hstack

        cell, direction, level = demand
        unit, n, matrix = self.system.unit, len(chosen), self.matrix[:, chosen]
        costs = self._costs(is_hidden, self.columns[chosen])
        low, up = np.zeros(2 * n), np.concatenate([np.full(n, np.inf), self.room_down[chosen] / unit])
        place = int(np.searchsorted(self.columns[chosen], cell))
        forward, back = (place, n + place) if direction > 0 else (n + place, place)
        low[forward], up[back] = level / unit, 0.0
        if (low > up).any():
            return None
        answer = solver.milp(
            np.concatenate([costs, costs]),
            constraints=LinearConstraint(hstack([matrix, -matrix], format="csr"), 0, 0),
            bounds=Bounds(low, up),
            integrality=np.full(2 * n, int(seconds is not None)),
            options={} if seconds is None else {"time_limit": seconds, "mip_rel_gap": _MOVE_GAP},
        )
        if answer.x is None:
            return None
        amounts = np.zeros(len(self.columns))
        amounts[chosen] = (answer.x[:n] - answer.x[n:]) * unit
        return amounts

    def clean(self, is_hidden: BoolArray, moves: list[CountArray]) -> BoolArray:
        """Show secondary cells again, the dearest first, where moves of the others meet every demand."""
        demands = self.list_demands()
        secondary = np.flatnonzero(is_hidden & ~self.is_primary)
        for cell in secondary[np.argsort(-self.weights[secondary], kind="stable")].tolist():
            if self.clock.is_over():
                break
            fewer = is_hidden.copy()
            fewer[cell] = False
            kept = [move for move in moves if not move[cell]]
            if len(kept) < len(moves):
                lacking = self._filter_unmet(demands, kept)
                while lacking and not self.clock.is_over():
                    move = self.find_move(fewer, lacking[0], may_grow=False)
                    if move is None:
                        break
                    kept.append(move)
                    lacking = self._filter_unmet(lacking, [move])
                if lacking:
                    continue
            is_hidden, moves[:] = fewer, kept
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
    is_small = len(search.columns) <= _MAX_EXACT_CELLS
    pattern, bound, is_done = _search_optimum(search) if is_small else (is_primary, 0.0, False)
    moves: list[CountArray] = []
    if not is_done:
        search.clock = clock
        pattern = search.clean(search.complete(pattern, moves), moves)
    search.clock = Clock()
    return SuppressionPattern(
        pattern, search.cost_of(pattern), bound, search.judge(pattern, moves), search.levels, search.n_rounds
    )


def _drop_impossible(system: CellSystem, is_primary: BoolArray, levels: ProtectionLevels) -> ProtectionLevels:
    """Return the levels without what no pattern gives: bounds that hold when all cells that can be hidden are."""
    most = deduce(system.with_hidden(find_changeable(system) | is_primary))
    up = np.where(most.high >= levels.reach_up, levels.reach_up, -np.inf)
    down = np.where(most.low <= levels.reach_down, levels.reach_down, np.inf)
    return ProtectionLevels(down, up, np.zeros(system.n_cells))


def _search_optimum(search: _PatternSearch) -> tuple[BoolArray, float, bool]:
    """Let the master and the reader take turns; return the last pattern, the bound, and whether it protects."""
    bound, pattern = 0.0, search.is_primary
    while not search.clock.is_over():
        search.n_rounds += 1
        found = search.choose()
        if found is None:
            break
        chosen, lower = found
        bound, pattern = max(bound, lower), search.pattern_of(chosen)
        unmet = search.unmet(search.judge(pattern, []))
        if not unmet:
            return pattern, bound, True
        if not search.add_cuts(pattern[search.columns].astype(np.float64), unmet):
            break
    return pattern, bound, False
