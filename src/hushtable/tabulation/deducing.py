"""What a reader can deduce of hidden cells without solving a programme for each: exactly, in whole numbers.

Three steps, until none finds more. Bounds go from cell to cell through the sums. Elimination finds cells that the sums
alone determine. One linear programme finds every bound that must be tight (Freund, Roundy and Todd, 1985): the largest
number of cells that can be above their least value together, in a table of any size; its dual is checked in integers.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.errors import InputError
from hushtable.search import solver
from hushtable.tabulation.cells import CellSystem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MAX_ROUNDS: Final = 200  # of bounds; each is right, however many follow
_PRIME: Final = 2**61 - 1
_DENOMINATORS: Final = (1, 2, 3, 4, 6, 12, 60)
_MAX_FILL: Final = 5_000_000  # entries that elimination may make before it gives up
_WHOLE: Final = 1e-3  # how far a computed count may be off
_INFEASIBLE: Final = 2  # of SciPy's statuses


@dataclass(frozen=True, slots=True, eq=False)
class Deduction:
    """What follows for every cell.

    Attributes
    ----------
    low, high : arrays
        Bounds of every cell that follow from the sums; equal where the cell is determined.
    is_complete : bool
        Whether every cell that is not determined can have two values, in fractions at least.
    is_proven : bool
        Whether all of it was found in integers; False if the dual of the programme was not confirmed.
    """

    low: FloatArray
    high: FloatArray
    is_complete: bool
    is_proven: bool

    @property
    def is_determined(self) -> BoolArray:
        """Which cells have one value only."""
        return np.equal(self.low, self.high)


def deduce(system: CellSystem) -> Deduction:
    """Deduce bounds of all cells, and which are determined.

    Raises
    ------
    InputError
        No table agrees with all that is shown and known.
    """
    low = np.where(system.is_known, system.values, system.lower).astype(np.float64)
    high = np.where(system.is_known, system.values, np.inf).astype(np.float64)
    is_complete, is_proven = False, True
    while True:
        propagate_bounds(system, low, high)
        n_open = int((low < high).sum())
        solved = _eliminate(system, low, high)
        if solved is not None:
            _fix_by_sums(system, low, high, solved)
        if int((low < high).sum()) < n_open:
            continue
        if is_complete or not n_open:
            return Deduction(low, high, is_complete or not n_open, is_proven)
        tight, confirmed = find_tight_bounds(system, low, high)
        is_proven &= confirmed or not len(tight)
        high[tight] = low[tight]
        # The programme finds all tight bounds at once: what is left follows from the sums.
        is_complete = True


def propagate_bounds(system: CellSystem, low: FloatArray, high: FloatArray) -> None:
    """Narrow the bounds of cells by every sum that they are in, in place, until nothing changes."""
    equations = system.equations
    if not len(equations):
        return
    for _ in range(_MAX_ROUNDS):
        is_open = np.logical_or.reduceat((low < high)[equations.cells], equations.starts[:-1])
        equations = equations.take(is_open)
        if not len(equations):
            return
        cells, signs, starts = equations.cells, equations.signs, equations.starts[:-1]
        rows = equations.rows
        least = np.where(signs > 0, low[cells], -high[cells])
        most = np.where(signs > 0, high[cells], -low[cells])
        # Of the others in the sum: how far they can go down and up together.
        other_least = _sum_of_others(least, rows, starts)
        other_most = _sum_of_others(most, rows, starts)
        new_low = np.where(signs > 0, -other_most, other_least)
        new_high = np.where(signs > 0, -other_least, other_most)
        before = low.copy(), high.copy()
        np.maximum.at(low, cells, new_low)
        np.minimum.at(high, cells, new_high)
        crossed = low[cells] > high[cells]
        if crossed.any():
            _raise_contradiction(system, int(cells[np.argmax(crossed)]))
        if np.array_equal(before[0], low) and np.array_equal(before[1], high):
            return


def _sum_of_others(amounts: FloatArray, rows: CountArray, starts: CountArray) -> FloatArray:
    """Return for every entry the sum of the other entries of its equation; infinite if one of them is."""
    is_infinite = np.isinf(amounts)
    finite = np.where(is_infinite, 0.0, amounts)
    sums = np.add.reduceat(finite, starts)[rows] - finite
    n_infinite = np.add.reduceat(is_infinite.astype(np.int64), starts)[rows] - is_infinite
    sign = np.sign(amounts[is_infinite][0]) if is_infinite.any() else 1.0
    return np.where(n_infinite > 0, sign * np.inf, sums)


def _raise_contradiction(system: CellSystem, cell: int | None) -> None:
    where = f" ({system.describe(cell)} is among the cells that cannot be)" if cell is not None else ""
    knowledge = system.knowledge
    told = (
        "every hidden count is at least 1 (if zeros are hidden, too: --zeros hidden)"
        if knowledge.least_hidden == 1
        else "no hidden cell is below 0 (if some are: --negative)"
        if not knowledge.negative
        else "what marks say holds"
    )
    raise InputError(
        f"no table agrees with all that is shown{where}.",
        hint=f"this was read: {told}; combinations without a row are "
        f"{'0 (if not: --absent hidden)' if knowledge.absent == 'zero' else 'hidden'}; labels of totals are as given.",
    )


def _eliminate(system: CellSystem, low: FloatArray, high: FloatArray) -> CountArray | None:
    """Return the open cells that the sums determine; None if elimination fills up."""
    moves = _draw_moves(system, low < high, 1)
    if moves is None:
        return None
    return np.array(sorted(cell for cell, amount in moves[0].items() if amount == 0), dtype=np.int64)


def find_bound_cells(system: CellSystem, deduction: Deduction) -> list[CountArray]:
    """Return the groups of open cells of which each computes all others of its group, by the sums alone.

    Two cells that are in one proportion in two random moves are so in all, but for a probability of 2^-61.
    """
    moves = _draw_moves(system, deduction.low < deduction.high, 2)
    groups: dict[int, list[int]] = {}
    first, second = moves or ({}, {})
    for cell, amount in first.items():
        if amount and system.keys[cell] is not None:
            groups.setdefault(second[cell] * pow(amount, -1, _PRIME) % _PRIME, []).append(cell)
    return [np.array(sorted(cells), dtype=np.int64) for cells in groups.values() if len(cells) > 1]


def _draw_moves(system: CellSystem, is_open: BoolArray, n_moves: int) -> list[dict[int, int]] | None:
    """Draw changes of open cells that keep every sum, modulo a prime; None if elimination fills up.

    Rows are eliminated, shortest first. Then all free cells get random values: a pivot that does not change depends on
    none of them. A false one has a probability of 2^-61.
    """
    equations = system.equations
    rows: dict[int, dict[int, int]] = {}
    inside = is_open[equations.cells]
    for equation, cell, sign in zip(
        equations.rows[inside].tolist(), equations.cells[inside].tolist(), equations.signs[inside].tolist(), strict=True
    ):
        rows.setdefault(equation, {})[cell] = int(sign)
    uses: dict[int, set[int]] = {}
    for equation, row in rows.items():
        for cell in row:
            uses.setdefault(cell, set()).add(equation)
    pivots = _choose_pivots(rows, uses)
    if pivots is None:
        return None
    draw = random.Random(0)  # noqa: S311 - the values are no secret
    moves: list[dict[int, int]] = []
    for _ in range(n_moves):
        values: dict[int, int] = {}
        for pivot, row in reversed(pivots):
            for cell in row:
                if cell not in values:
                    values[cell] = draw.randrange(1, _PRIME)
            values[pivot] = sum(factor * values[cell] for cell, factor in row.items()) % _PRIME
        moves.append(values)
    return moves


def _choose_pivots(
    rows: dict[int, dict[int, int]], uses: dict[int, set[int]]
) -> list[tuple[int, dict[int, int]]] | None:
    """Eliminate cell after cell; return each pivot with what it is in terms of the cells after it."""
    order = [(len(row), equation) for equation, row in rows.items()]
    heapq.heapify(order)
    pivots, n_made = [], 0
    while order:
        length, equation = heapq.heappop(order)
        row = rows.get(equation)
        if row is None or len(row) != length:
            continue
        del rows[equation]
        if not row:
            continue
        pivot = min(row, key=lambda cell: (len(uses[cell]), cell))
        for cell in row:
            uses[cell].discard(equation)
        inverse = -pow(row.pop(pivot), -1, _PRIME)
        row = {cell: factor * inverse % _PRIME for cell, factor in row.items()}
        pivots.append((pivot, row))
        for other in uses.pop(pivot):
            target = rows[other]
            factor = target.pop(pivot)
            for cell, share in row.items():
                value = (target.get(cell, 0) + factor * share) % _PRIME
                if value:
                    target[cell] = value
                    uses[cell].add(other)
                elif cell in target:
                    del target[cell]
                    uses[cell].discard(other)
            n_made += len(row)
            heapq.heappush(order, (len(target), other))
        if n_made > _MAX_FILL:
            return None
    return pivots


def _fix_by_sums(system: CellSystem, low: FloatArray, high: FloatArray, determined: CountArray) -> None:
    """Give cells that the sums determine their value, in place: the rounded least-squares solution, checked exactly.

    What cannot be confirmed is left open.
    """
    from scipy.sparse.linalg import lsmr

    if not len(determined):
        return
    is_open = low < high
    equations = system.equations
    chosen = np.logical_or.reduceat(is_open[equations.cells], equations.starts[:-1])
    matrix = equations.take(chosen).matrix(system.n_cells)
    base = np.where(is_open, 0.0, low)
    solution = lsmr(matrix[:, np.flatnonzero(is_open)], -(matrix @ base), atol=1e-14, btol=1e-14, conlim=0)[0]
    values = np.zeros(system.n_cells)
    values[is_open] = solution
    found = np.rint(values[determined])
    if system.is_integer:
        is_whole = np.abs(values[determined] - found) <= _WHOLE
        determined, found = determined[is_whole], found[is_whole]
    is_beyond = (found < low[determined]) | (found > high[determined])
    if is_beyond.any():
        _raise_contradiction(system, int(determined[np.argmax(is_beyond)]))
    low[determined] = high[determined] = found


def find_tight_bounds(system: CellSystem, low: FloatArray, high: FloatArray) -> tuple[CountArray, bool]:
    """Return the open cells that are at their least value in every table that agrees, and whether that is confirmed."""
    from scipy.sparse import csr_array, hstack

    is_open = low < high
    columns = np.flatnonzero(is_open)
    chosen = np.logical_or.reduceat(is_open[system.equations.cells], system.equations.starts[:-1])
    whole = system.equations.take(chosen).matrix(system.n_cells)
    is_bounded = np.isfinite(low[columns])
    base = np.where(np.isfinite(low), low, 0.0)
    needed = -(whole @ base)
    matrix = whole[:, columns]
    bounded = matrix[:, np.flatnonzero(is_bounded)]
    n_cells, n_bounded = matrix.shape[1], bounded.shape[1]
    if not n_bounded:
        return np.zeros(0, dtype=np.int64), True
    size = max(1.0, float(np.abs(needed).max(initial=0.0)))
    # Distances of cells to their least values, those of them that count (at most 1 each), and the size of the table.
    programme = hstack([matrix, bounded, csr_array((-needed / size)[:, None])], format="csr")
    objective = np.concatenate([np.zeros(n_cells), -np.ones(n_bounded), [0.0]])
    bounds = np.zeros((n_cells + n_bounded + 1, 2))
    bounds[:, 1] = np.inf
    bounds[:n_cells, 0] = np.where(is_bounded, 0.0, -np.inf)
    bounds[n_cells:-1, 1] = 1.0
    bounds[-1, 0] = 1.0
    answer = solver.linprog(objective, A_eq=programme, b_eq=np.zeros(programme.shape[0]), bounds=bounds, method="highs")
    if answer.status == _INFEASIBLE:
        _raise_contradiction(system, None)
    if answer.x is None:
        raise InputError(
            f"the solver ended without an answer on {n_cells:,} hidden cells.", hint="judge fewer tables together."
        )
    reach = answer.x[n_cells:-1]
    tight = columns[is_bounded][reach < 0.5]
    if not len(tight):
        return tight, True
    return tight, _confirm_tight(matrix, needed, is_bounded, np.isin(columns, tight), answer.eqlin.marginals)


def _confirm_tight(
    matrix: csr_array, needed: FloatArray, is_bounded: BoolArray, is_tight: BoolArray, dual: FloatArray
) -> bool:
    """Whether a sum of equations shows that cells are at their bound: 0 is a sum of their distances, each times > 0."""
    for sign in (1.0, -1.0):
        for denominator in _DENOMINATORS:
            factors = np.rint(sign * dual * denominator)
            costs = matrix.T @ factors
            if (
                factors @ needed == 0
                and (costs[is_bounded] >= 0).all()
                and (costs[~is_bounded] == 0).all()
                and (costs[is_tight] > 0).all()
            ):
                return True
    return False
