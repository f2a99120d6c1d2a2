"""Secondary suppression: the cheapest cells to hide so that the primary ones are protected, with a bound.

Two programmes take turns (Fischetti and Salazar, 2001). The master chooses cells to hide, as cheap as its cuts allow.
The reader's programme says how far each primary cell can move then; where that is too little, its dual is a cut that
every protecting pattern meets. The master's optimum without a new cut is the best pattern. If the time is over, cells
are added until every primary cell is protected, and the master's bound gives the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.errors import InfeasibleError
from hushtable.search import Clock, solver
from hushtable.tabulation.auditing import CellAudit, audit, find_changeable
from hushtable.tabulation.cells import CellSystem
from hushtable.tabulation.deducing import deduce
from hushtable.tabulation.witnesses import ProtectionLevels

_MAX_EXACT_CELLS: Final = 4_000  # cells that could be hidden, up to which an optimum is looked for
_SHARE_OF_MASTER: Final = 0.6  # of the time
_MASTER_GAP: Final = 1e-6
_BUNDLE: Final = 60  # demands that one programme meets together
_TOLERANCE: Final = 1e-6

Demand = tuple[int, int, float]
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
    matrix: Any = field(init=False)
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

    def judge(self, is_hidden: BoolArray) -> CellAudit:
        """Judge the primary cells under a pattern."""
        hidden = self.system.with_hidden(is_hidden)
        return audit(hidden, self.levels, clock=self.clock, first_tables=[self.system.values], explain=False)

    def unmet(self, judged: CellAudit) -> list[Demand]:
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

    def add_cuts(self, chosen: FloatArray, demands: list[Demand]) -> int:
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
        return np.minimum(gain, level)

    def choose(self, *, whole: bool) -> tuple[FloatArray, float] | None:
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
            integrality=np.full(len(self.columns), int(whole)),
            options=options,
        )
        if answer.x is None:
            return None
        bound = answer.mip_dual_bound if whole and answer.mip_dual_bound is not None else answer.fun
        return answer.x, float(bound)

    def pattern_of(self, chosen: FloatArray) -> BoolArray:
        """Return which cells of the system a choice hides."""
        is_hidden = self.is_primary.copy()
        is_hidden[self.columns[chosen > 0.5]] = True
        return is_hidden

    def cost_of(self, is_hidden: BoolArray) -> float:
        """Return what the secondary cells of a pattern cost."""
        return float(self.weights[is_hidden & ~self.is_primary].sum())

    def complete(self, is_hidden: BoolArray) -> tuple[BoolArray, CellAudit]:
        """Hide further cells until every demand is met, as cheap as programmes for a bundle of demands are."""
        size = _BUNDLE
        while True:
            judged = self.judge(is_hidden)
            unmet = self.unmet(judged)
            if not unmet:
                return is_hidden, judged
            before = int(is_hidden.sum())
            bundle = unmet[:size]
            while bundle and (moved := self._move(is_hidden, bundle)) is None:
                if len(bundle) == 1:
                    raise InfeasibleError(
                        f"hiding cells cannot protect {self.system.describe(bundle[0][0])}.",
                        hint="hide zeros, too, or take coarser categories.",
                    )
                bundle = bundle[: len(bundle) // 2]
            is_hidden = is_hidden | moved
            if int(is_hidden.sum()) == before:
                # What the programme moves is hidden already, in fractions: the bundle was too large to tell.
                size = max(1, size // 4)
                is_hidden = self._hide_line(is_hidden, bundle[0][0])

    def _hide_line(self, is_hidden: BoolArray, cell: int) -> BoolArray:
        """Hide one more cell in a sum of a cell: the cheapest."""
        equations = self.system.equations
        lines = np.unique(equations.rows[equations.cells == cell])
        others = np.unique(equations.cells[np.isin(equations.rows, lines)])
        others = others[self.may_hide[others] & ~is_hidden[others]]
        is_hidden = is_hidden.copy()
        if len(others):
            is_hidden[others[np.argmin(self.weights[others])]] = True
        return is_hidden

    def _move(self, is_hidden: BoolArray, demands: list[Demand]) -> BoolArray | None:
        """Return the cells that the cheapest move meeting some demands together changes; None if there is none."""
        from scipy.optimize import Bounds, LinearConstraint
        from scipy.sparse import hstack

        unit = self.system.unit
        n = len(self.columns)
        costs = np.where(is_hidden[self.columns], 1e-6 * self.weights[self.columns], self.weights[self.columns])
        costs = costs + 1e-9
        low, up = np.zeros(2 * n), np.concatenate([np.full(n, np.inf), self.room_down / unit])
        for cell, direction, level in demands:
            place = int(np.searchsorted(self.columns, cell))
            forward, back = (place, n + place) if direction > 0 else (n + place, place)
            low[forward] = level / unit
            up[back] = 0.0
        if (low > up).any():
            return None
        answer = solver.milp(
            np.concatenate([costs, costs]),
            constraints=LinearConstraint(hstack([self.matrix, -self.matrix], format="csr"), 0, 0),
            bounds=Bounds(low, up),
        )
        if answer.x is None:
            return None
        moved = np.zeros(self.system.n_cells, dtype=np.bool_)
        moved[self.columns[np.abs(answer.x[:n] - answer.x[n:]) > _TOLERANCE]] = True
        return moved

    def clean(self, is_hidden: BoolArray, judged: CellAudit) -> tuple[BoolArray, CellAudit]:
        """Show secondary cells again, the dearest first, where all stay protected."""
        secondary = np.flatnonzero(is_hidden & ~self.is_primary)
        for cell in secondary[np.argsort(-self.weights[secondary], kind="stable")].tolist():
            if self.clock.is_over():
                break
            fewer = is_hidden.copy()
            fewer[cell] = False
            again = self.judge(fewer)
            if not self.unmet(again):
                is_hidden, judged = fewer, again
        return is_hidden, judged


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
    pattern, bound = _search_optimum(search) if len(search.columns) <= _MAX_EXACT_CELLS else (None, 0.0)
    search.clock = Clock()
    if pattern is None:
        pattern, judged = search.complete(is_primary | search.pattern_of(np.zeros(len(search.columns))))
        search.clock = clock
        pattern, judged = search.clean(pattern, judged)
    else:
        judged = search.judge(pattern)
        if search.unmet(judged):
            pattern, judged = search.complete(pattern)
            search.clock = clock
            pattern, judged = search.clean(pattern, judged)
    return SuppressionPattern(pattern, search.cost_of(pattern), bound, judged, levels, search.n_rounds)


def _drop_impossible(system: CellSystem, is_primary: BoolArray, levels: ProtectionLevels) -> ProtectionLevels:
    """Return the levels without what no pattern gives: bounds that hold when all cells that can be hidden are."""
    most = deduce(system.with_hidden(find_changeable(system) | is_primary))
    up = np.where(most.high >= levels.reach_up, levels.reach_up, -np.inf)
    down = np.where(most.low <= levels.reach_down, levels.reach_down, np.inf)
    return ProtectionLevels(down, up, np.zeros(system.n_cells))


def _search_optimum(search: _PatternSearch) -> tuple[BoolArray | None, float]:
    """Let the master and the reader take turns; return the last pattern and the bound."""
    bound, pattern = 0.0, None
    everything = [
        (cell, direction, float(abs(level[cell] - search.system.values[cell])))
        for cell in np.flatnonzero(search.levels.is_asked).tolist()
        for direction, level in ((1, search.levels.reach_up), (-1, search.levels.reach_down))
        if np.isfinite(level[cell])
    ]
    del everything
    while not search.clock.is_over():
        search.n_rounds += 1
        found = search.choose(whole=True)
        if found is None:
            break
        chosen, lower = found
        bound = max(bound, lower)
        pattern = search.pattern_of(chosen)
        unmet = search.unmet(search.judge(pattern))
        if not unmet:
            break
        whole = pattern[search.columns].astype(np.float64)
        if not search.add_cuts(whole, unmet):
            break
    return pattern, bound
