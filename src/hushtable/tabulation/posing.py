"""What must be hidden of tables made from records, and the cheapest pattern that hides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.errors import InfeasibleError
from hushtable.search import Clock
from hushtable.tabulation.auditing import find_changeable
from hushtable.tabulation.cells import CellSystem, ReaderKnowledge, build_system
from hushtable.tabulation.coarsening import CoarserTable, HidingCost, propose_coarser
from hushtable.tabulation.deducing import deduce
from hushtable.tabulation.earlier import KeptCells
from hushtable.tabulation.singletons import protect_from_singletons
from hushtable.tabulation.suppressing import SuppressionPattern, suppress, suppress_soon
from hushtable.tabulation.tabulating import (
    CellRules,
    CellWeight,
    CountedTable,
    TabulatedRecords,
    find_primary,
    protection_levels,
)
from hushtable.tabulation.witnesses import ProtectionLevels

_MAX_COARSENED: Final = 2_000  # cells of tables for which coarser ones are looked for


@dataclass(frozen=True, slots=True, eq=False)
class HidingProblem:
    """What must be hidden of some tables, and what a reader must hold possible of it."""

    records: TabulatedRecords
    counted: tuple[CountedTable, ...]
    rules: CellRules
    system: CellSystem
    is_primary: BoolArray
    levels: ProtectionLevels
    must_hide: BoolArray  # primary cells, and those that an earlier release hid

    def with_kept(self, kept: KeptCells) -> HidingProblem:
        """Return the problem where cells stay as an earlier release showed and hid them."""
        return replace(
            self,
            system=replace(self.system, is_published=kept.is_shown),
            levels=self.levels.with_another_value(kept.is_hidden, self.system.values),
            must_hide=self.is_primary | kept.is_hidden,
        )

    def suppress(self, weight: CellWeight, clock: Clock) -> SuppressionPattern:
        """Find the cheapest pattern, and hide further cells from those who are alone in one."""
        _check_protectable(self.system, self.is_primary, self.levels)
        costs = _weigh(self.system.values, weight)
        pattern = suppress(self.system, self.must_hide, self.levels, costs, clock)
        singletons = find_singletons(self.system, self.counted) if self.rules.singletons else []
        return protect_from_singletons(self.system, pattern, singletons, self.must_hide, costs, clock)

    def find_unions(self, is_hidden: BoolArray) -> tuple[tuple[int, ...], ...]:
        """Return hidden cells, numbered as in the system, whose sum is known and sensitive; counts have none."""
        if self.system.knowledge.content != "sums":
            return ()
        found = []
        for each, (_, grid) in zip(self.counted, self.system.grids, strict=True):
            own = grid.ravel()
            unions = self.records.find_sensitive_unions(each.table, is_hidden[own], self.rules, _n_largest(self.rules))
            found += [tuple(own[cells].tolist()) for cells in unions]
        return tuple(found)


def pose(
    records: TabulatedRecords, several: Sequence[tuple[str, ...]], rules: CellRules, knowledge: ReaderKnowledge
) -> HidingProblem:
    """Count records, and find what must be hidden."""
    counted = tuple(records.count(each, _n_largest(rules)) for each in several)
    system = build_system([each.table for each in counted], knowledge)
    is_primary, levels = _join_rules(system, counted, rules, is_sum=knowledge.content == "sums")
    return HidingProblem(records, counted, rules, system, is_primary, levels, is_primary)


def _count_hidden(problem: HidingProblem, weight: CellWeight) -> HidingCost | None:
    """Return how many cells there are, and how many must be hidden; None if that cannot protect."""
    system = problem.system
    try:
        _check_protectable(system, problem.is_primary, problem.levels)
        hidden = suppress_soon(system, problem.is_primary, problem.levels, _weigh(system.values, weight))
    except InfeasibleError:
        return None
    return system.n_cells, int(hidden.sum())


@dataclass(frozen=True, slots=True, eq=False)
class CoarserSearch:
    """What was asked for, to be asked of coarser categories."""

    cells: TabulatedRecords
    several: Sequence[tuple[str, ...]]
    rules: CellRules
    knowledge: ReaderKnowledge
    weight: CellWeight
    is_off: bool

    def run(self) -> tuple[CoarserTable, ...]:
        """Propose coarser categories; none for large tables, where that would take long."""
        if self.is_off or sum(self.cells.n_cells(by) for by in self.several) > _MAX_COARSENED:
            return ()
        return propose_coarser(self.cells, self._cost_of)

    def _cost_of(self, coarser: TabulatedRecords) -> HidingCost | None:
        return _count_hidden(pose(coarser, self.several, self.rules, self.knowledge), self.weight)


def suppress_or_propose(problem: HidingProblem, coarser: CoarserSearch, clock: Clock) -> SuppressionPattern:
    """Find the cheapest pattern; where hiding cannot protect, say which categories to merge."""
    try:
        return problem.suppress(coarser.weight, clock)
    except InfeasibleError as error:
        proposals = "; ".join(each.describe() for each in coarser.run())
        if not proposals:
            raise
        raise InfeasibleError(error.message, hint=f"hide zeros too (--zeros hidden), or {proposals}.") from None


def _n_largest(rules: CellRules) -> int:
    """Return how many of the largest contributions rules look at."""
    return max(2, rules.dominance[0] if rules.dominance else 2)


def _join_rules(
    system: CellSystem, counted: Sequence[CountedTable], rules: CellRules, *, is_sum: bool
) -> tuple[BoolArray, ProtectionLevels]:
    """Return the primary cells of all tables, hidden zeros among them, and what a reader must hold possible of each."""
    is_primary = np.zeros(system.n_cells, dtype=np.bool_)
    down, up = np.full(system.n_cells, np.inf), np.full(system.n_cells, -np.inf)
    least = system.knowledge.least_hidden
    for each, (_, grid) in zip(counted, system.grids, strict=True):
        own = find_primary(each, rules, is_sum=is_sum)
        if system.knowledge.zeros == "hidden":
            # As much is asked of them as of small ones: nobody sees which of the hidden cells are zeros.
            own |= each.table.values == 0
        own_down, own_up = protection_levels(each, own, rules, least, is_sum=is_sum)
        is_primary[grid.ravel()[own]] = True
        np.minimum.at(down, grid.ravel(), own_down)
        np.maximum.at(up, grid.ravel(), own_up)
    return is_primary, ProtectionLevels(down, up, np.zeros(system.n_cells))


def find_singletons(system: CellSystem, counted: Sequence[CountedTable]) -> list[CountArray]:
    """Return of each contributor who is alone in some cell all the cells in which he is."""
    cells: dict[int, set[int]] = {}
    for each, (_, grid) in zip(counted, system.grids, strict=True):
        is_alone = each.alone >= 0
        for contributor, cell in zip(each.alone[is_alone].tolist(), grid.ravel()[is_alone].tolist(), strict=True):
            cells.setdefault(contributor, set()).add(cell)
    return [np.array(sorted(own), dtype=np.int64) for own in cells.values()]


def _check_protectable(system: CellSystem, is_primary: BoolArray, levels: ProtectionLevels) -> None:
    """Raise InfeasibleError if a primary cell has one value only when all that can be hidden is."""
    public = set(system.knowledge.public)
    is_public = np.array([key in public for key in system.keys])
    most = deduce(system.with_hidden(find_changeable(system) | (is_primary & ~is_public)))
    beyond = np.flatnonzero(is_primary & levels.is_asked & most.is_determined)
    if len(beyond):
        raise InfeasibleError(
            f"hiding cannot protect {len(beyond):,} cells, whatever else is hidden.",
            hint="hide zeros too (--zeros hidden), take coarser categories, or leave out a dimension.",
        )


def _weigh(values: CountArray, weight: CellWeight) -> FloatArray:
    amounts = np.abs(values).astype(np.float64)
    if weight == "one":
        return np.ones(len(values))
    return np.log2(1 + amounts) if weight == "log" else np.maximum(amounts, 1.0)
