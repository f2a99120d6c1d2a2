"""What they can compute who are alone in a cell: they know its value, and whatever follows from it and the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.errors import InfeasibleError
from hushtable.search import Clock
from hushtable.tabulation.auditing import SingletonLeak, audit
from hushtable.tabulation.cells import CellSystem
from hushtable.tabulation.deducing import deduce
from hushtable.tabulation.suppressing import SuppressionPattern, suppress
from hushtable.tabulation.witnesses import ProtectionLevels, WitnessSearch, WitnessTable

_DIRECTIONS: Final = (1, -1)  # in which another value is asked for: lower, where it cannot be higher


def find_leaks(
    system: CellSystem, singletons: Sequence[CountArray], targets: BoolArray, moves: list[CountArray]
) -> Iterator[SingletonLeak]:
    """Yield what each singleton computes of some hidden cells, by the values of his own.

    Parameters
    ----------
    system : CellSystem
        With hidden cells; their true values are in it.
    singletons : sequence of arrays
        Of each contributor who is alone in some cell: all the cells in which he is.
    targets : array
        Hidden cells that nobody must compute.
    moves : list of arrays
        Differences of other tables that agree, and the true one; new ones are added.
    """
    values, nothing = system.values, np.full(system.n_cells, np.inf)
    if not singletons:
        return
    deduction = deduce(system)
    for own in singletons:
        lacking = targets.copy()
        lacking[own] = False
        for move in moves:
            if not move[own].any():
                lacking &= move == 0
        if not lacking.any():
            continue
        is_known = system.is_known.copy()
        is_known[own] = True
        low, high = deduction.low.copy(), deduction.high.copy()
        low[own] = high[own] = values[own]
        told = replace(system, is_known=is_known)
        levels = ProtectionLevels(nothing, -nothing, lacking.astype(np.float64))
        search = WitnessSearch(told, replace(deduction, low=low, high=high, is_complete=False), levels, Clock())
        search.keep(values[search.cells].astype(np.float64))
        search.run()
        moves += [_build_move(system, search.cells, witness) for witness in search.witnesses]
        found = np.flatnonzero(lacking & ~search.is_met)
        if len(found):
            yield SingletonLeak(own, tuple(found.tolist()))


def _build_move(system: CellSystem, cells: CountArray, witness: WitnessTable) -> CountArray:
    """Return how far a witness is from the true table, in parts of a unit."""
    move = np.zeros(system.n_cells, dtype=np.int64)
    move[cells] = witness.values - system.values[cells] * witness.denominator
    return move


def protect_from_singletons(
    system: CellSystem,
    pattern: SuppressionPattern,
    singletons: Sequence[CountArray],
    is_primary: BoolArray,
    weights: FloatArray,
    clock: Clock,
) -> SuppressionPattern:
    """Hide further cells, so that no singleton computes a primary cell.

    Parameters
    ----------
    system : CellSystem
        All values known.
    pattern : SuppressionPattern
        Protects against readers who are in no cell; its bound stays one.
    singletons, is_primary, weights, clock
        As of `find_leaks` and `suppress`.

    Raises
    ------
    InfeasibleError
        Whatever is hidden, a singleton computes a cell.
    """
    is_hidden = pattern.is_hidden.copy()
    cells = pattern.audit.open_cells
    moves = [_build_move(system, cells, witness) for witness in pattern.audit.witnesses] if singletons else []
    targets = is_primary & pattern.levels.is_asked
    while True:
        leaks = list(find_leaks(system.with_hidden(is_hidden), singletons, targets, moves))
        if not leaks:
            break
        for leak in leaks:
            _protect(system, is_hidden, leak, weights, clock)
    if np.array_equal(is_hidden, pattern.is_hidden):
        return pattern
    tables = [system.values, *(system.values + move for move in moves)]
    judged = audit(system.with_hidden(is_hidden), pattern.levels, clock=Clock(), first_tables=tables, explain=False)
    cost = float(weights[is_hidden & ~is_primary].sum())
    return replace(pattern, is_hidden=is_hidden, cost=cost, audit=judged)


def _protect(system: CellSystem, is_hidden: BoolArray, leak: SingletonLeak, weights: FloatArray, clock: Clock) -> None:
    """Hide further cells, in place, so that a singleton holds another value possible of each cell of a leak."""
    # To him his own cells are shown, and nobody can hide them from him.
    keys = [key for cell in leak.own.tolist() if (key := system.keys[cell]) is not None]
    told = replace(system, knowledge=replace(system.knowledge, public=(*system.knowledge.public, *keys)))
    without_own = is_hidden.copy()
    without_own[leak.own] = False
    cells = list(leak.cells)
    for direction in _DIRECTIONS:
        asked = np.full(system.n_cells, -direction * np.inf)
        asked[cells] = system.values[cells] + direction
        nothing = np.full(system.n_cells, np.inf)
        up, down = (asked, nothing) if direction > 0 else (-nothing, asked)
        levels = ProtectionLevels(down, up, np.zeros(system.n_cells))
        found = suppress(told, without_own, levels, weights, clock)
        without_own |= found.is_hidden
        cells = [cell for cell in cells if not found.levels.is_asked[cell]]
        if not cells:
            is_hidden |= without_own
            return
    raise InfeasibleError(
        f"hiding cannot keep who is alone in {system.describe(int(leak.own[0]))} from computing {len(cells):,} cells.",
        hint="take coarser categories, hide zeros too (--zeros hidden), or leave such people out of account: "
        "--no-singletons.",
    )
