"""Judge every hidden cell of a system of tables: exposed, too narrow, protected, or beyond what hiding can do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.errors import InputError
from hushtable.search import Clock
from hushtable.tabulation.cells import CellSystem, describe_key
from hushtable.tabulation.deducing import Deduction, deduce, find_bound_cells
from hushtable.tabulation.witnesses import ProtectionLevels, WitnessSearch, WitnessTable, choose_witnesses

EXPOSED: Final = "exposed"
TOO_NARROW: Final = "too narrow"
PROTECTED: Final = "protected"
UNPROTECTABLE: Final = "cannot be protected by hiding"
NOT_JUDGED: Final = "not judged"
NOT_SMALL: Final = "known, and not small"

CellOutcome = Literal[
    "exposed", "too narrow", "protected", "cannot be protected by hiding", "not judged", "known, and not small"
]
FAILING: Final[tuple[CellOutcome, ...]] = (EXPOSED, UNPROTECTABLE, TOO_NARROW, NOT_JUDGED)


@dataclass(frozen=True, slots=True)
class JudgedCell:
    """What a reader can compute of a hidden cell.

    Attributes
    ----------
    outcome : str
        ``exposed``: one value only. ``too narrow``: several, but not as far as asked. ``protected``: two tables that
        agree with all that is shown differ in it as far as asked. ``cannot be protected by hiding``: exposed or too
        narrow, and so it would be if every other cell that is not 0 or public were hidden. ``known, and not small``.
    low, high : float
        In units. Of a protected cell values that it can have, not the ends of all of them; else what a reader knows.
    is_proven : bool
        Whether it was shown in whole numbers; False where a solver's word stands for it.
    """

    cell: int
    outcome: CellOutcome
    low: float
    high: float
    is_proven: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class SingletonLeak:
    """Hidden cells that are computed by who is alone in others."""

    own: CountArray  # the cells in which he is alone
    cells: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CellAudit:
    """Outcomes of all cells that were asked about, and the witnesses of the protected ones."""

    cells: tuple[JudgedCell, ...]
    open_cells: CountArray  # the cells whose values witnesses list
    witnesses: tuple[WitnessTable, ...]
    deduction: Deduction
    low: FloatArray = field(repr=False)  # the lowest and highest values in a witness, of every cell
    high: FloatArray = field(repr=False)


def ask_of_hidden(system: CellSystem, *, threshold: int | None = None) -> ProtectionLevels:
    """Return what is asked of hidden cells whose values nobody told: two values, and one that is not small."""
    is_asked = np.zeros(system.n_cells, dtype=np.bool_)
    is_asked[system.marked] = True
    nothing = np.full(system.n_cells, np.inf)
    up = np.where(is_asked & (threshold is not None), float(threshold or 0) * system.unit, -np.inf)
    return ProtectionLevels(nothing, up, is_asked.astype(np.float64))


def audit(
    system: CellSystem,
    levels: ProtectionLevels,
    *,
    threshold: int | None = None,
    clock: Clock | None = None,
    first_tables: Sequence[CountArray] = (),
    explain: bool = True,
) -> CellAudit:
    """Judge every cell of which something is asked.

    Parameters
    ----------
    system : CellSystem
    levels : ProtectionLevels
    threshold : int, optional
        A cell that a reader knows to be this much or more is no disclosure. Only where true values are not told.
    clock : Clock, optional
        What is left when the time is over is not judged, and nobody calls it protected.
    first_tables : sequence of arrays
        Tables that are known to agree, as values of all cells: the true one.
    explain : bool
        Whether to tell which failing cells no hiding would protect.
    """
    deduction = deduce(system)
    search = WitnessSearch(system, deduction, levels, clock or Clock())
    for values in first_tables:
        search.keep(np.asarray(values, dtype=np.float64)[search.cells])
    search.run()
    asked = np.flatnonzero(levels.is_asked)
    failing = asked[~search.is_met[asked]] if explain else asked[:0]
    is_beyond = _find_unprotectable(system, levels, failing)
    floor = None if threshold is None else threshold * system.unit
    cells = tuple(_judge_cell(search, cell, floor, is_beyond=bool(is_beyond[cell])) for cell in asked.tolist())
    cells += tuple(_find_exposed_absent(system, deduction, floor))
    met = [judged.cell for judged in cells if judged.outcome == PROTECTED]
    witnesses = tuple(choose_witnesses(search, met))
    return CellAudit(cells, search.cells, witnesses, deduction, search.low, search.high)


def _find_exposed_absent(system: CellSystem, deduction: Deduction, floor: float | None) -> Iterator[JudgedCell]:
    """Yield the cells without a row whose value above 0 follows from the tables: nobody hid them."""
    if system.is_absent is None:
        return
    follows = deduction.is_determined & system.is_absent & ~system.is_known & (deduction.low > 0)
    for cell in np.flatnonzero(follows).tolist():
        value = float(deduction.low[cell])
        if floor is None or value < floor:
            yield JudgedCell(cell, EXPOSED, value, value, deduction.is_proven)


def _judge_cell(search: WitnessSearch, cell: int, floor: float | None, *, is_beyond: bool) -> JudgedCell:
    deduction = search.deduction
    low, high = float(deduction.low[cell]), float(deduction.high[cell])
    if low == high:
        if search.is_met[cell]:
            return JudgedCell(cell, PROTECTED, low, high)
        if floor is not None and low >= floor:
            return JudgedCell(cell, NOT_SMALL, low, high)
        return JudgedCell(cell, UNPROTECTABLE if is_beyond else EXPOSED, low, high, deduction.is_proven)
    if search.is_met[cell]:
        return JudgedCell(cell, PROTECTED, float(search.low[cell]), float(search.high[cell]))
    up, down = search.blocked.get((cell, 1)), search.blocked.get((cell, -1))
    ends = [end for end in (up, down) if end is not None]
    if not ends or np.isnan(ends).any():
        return JudgedCell(cell, NOT_JUDGED, low, high)
    high = high if up is None else min(high, up)
    low = low if down is None else max(low, -down)
    if search.system.is_integer:
        low, high = float(np.ceil(low - 1e-6)), float(np.floor(high + 1e-6))
    if floor is not None and low >= floor:
        return JudgedCell(cell, NOT_SMALL, low, high, is_proven=False)
    outcome: CellOutcome = UNPROTECTABLE if is_beyond else EXPOSED if low == high else TOO_NARROW
    return JudgedCell(cell, outcome, low, high, is_proven=False)


def find_leaks_to_alone(system: CellSystem, deduction: Deduction) -> tuple[SingletonLeak, ...]:
    """Return what the contributors compute who are known to be alone in a cell.

    Of counts the value of such a cell is 1. Of sums nobody but its contributor knows it, and what always follows from
    it is told: what the sums bind to it.

    Raises
    ------
    InputError
        A cell is not hidden, or its count cannot be 1.
    """
    place = {key: cell for cell, key in enumerate(system.keys)}
    groups = [] if system.is_integer or not system.knowledge.alone else find_bound_cells(system, deduction)
    leaks = []
    for key in system.knowledge.alone:
        cell = place.get(tuple(sorted(key)))
        if cell is None or system.is_known[cell]:
            raise InputError(
                f"alone = {describe_key(key)}, which is no hidden cell.", hint="name dimensions and labels: g=a,h=x."
            )
        bound = [other for group in groups if cell in group for other in group.tolist() if other != cell]
        if system.is_integer:
            bound = [*_find_bound_to_one(system, deduction, cell)]
        if bound:
            leaks.append(SingletonLeak(np.array([cell]), tuple(bound)))
    return tuple(leaks)


def _find_bound_to_one(system: CellSystem, deduction: Deduction, cell: int) -> Iterator[int]:
    """Yield the hidden cells that are determined if one is 1, but for those that count the same one contributor."""
    is_known, values = system.is_known.copy(), system.values.copy()
    is_known[cell], values[cell] = True, 1
    told = deduce(replace(system, is_known=is_known, values=values))
    own = {*(system.keys[cell] or ())}
    for other in system.marked[told.is_determined[system.marked] & ~deduction.is_determined[system.marked]].tolist():
        around = {*(system.keys[other] or ())}
        if other != cell and not (told.low[other] == 1 and (around <= own or own <= around)):
            yield other


def find_changeable(system: CellSystem) -> BoolArray:
    """Return the shown cells that could be hidden: none that is public, 0 where zeros are shown, or a limit."""
    fixed = {None, *system.knowledge.public}
    changeable: BoolArray = system.is_known & np.array([key not in fixed for key in system.keys], dtype=np.bool_)
    if system.knowledge.zeros == "shown":
        changeable &= system.values != 0
    if system.is_published is not None:
        changeable &= ~system.is_published
    return changeable


def _find_unprotectable(system: CellSystem, levels: ProtectionLevels, failing: CountArray) -> BoolArray:
    """Return which failing cells would fail if every cell that can be hidden were."""
    beyond = np.zeros(system.n_cells, dtype=np.bool_)
    if not len(failing):
        return beyond
    most = deduce(system.with_hidden(find_changeable(system)))
    with np.errstate(invalid="ignore"):
        is_met: BoolArray = levels.are_met(most.low, most.high)
    beyond[failing] = ~is_met[failing]
    return beyond
