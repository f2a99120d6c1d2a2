"""Tables made from records as a release: what is hidden, what that cost, and what proves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.claims import Certificate, HiddenCells, Verdict
from hushtable.errors import InfeasibleError, InputError, check_choice, check_columns, check_type, names_in, quote_names
from hushtable.io import frames
from hushtable.release import Destination, Edition, TableContent, write
from hushtable.search import Budget, Clock
from hushtable.tabulation.auditing import PROTECTED, find_changeable
from hushtable.tabulation.cells import CellKey, CellSystem, CellTable, ReaderKnowledge, build_system
from hushtable.tabulation.certifying import build_certificate
from hushtable.tabulation.checking import audit_system
from hushtable.tabulation.coarsening import CoarserTable, HidingCost, propose_coarser
from hushtable.tabulation.deducing import deduce
from hushtable.tabulation.earlier import EarlierTables, KeptCells, keep_cells, read_earlier, refuse_published
from hushtable.tabulation.reading import TableReading, read_cell_table, read_hierarchies
from hushtable.tabulation.suppressing import SuppressionPattern, suppress, suppress_soon
from hushtable.tabulation.tabulating import (
    TOTAL,
    CellRules,
    CellWeight,
    CountedTable,
    TabulatedRecords,
    check_dimensions,
    find_primary,
    protection_levels,
    read_records,
)
from hushtable.tabulation.witnesses import ProtectionLevels
from hushtable.wording import StatesFacts, careful, join_names

MARK: Final = HiddenCells.mark
_COUNT_NAME: Final = "n"
_MAX_COARSENED: Final = 2_000  # cells of tables for which coarser ones are looked for


@dataclass(frozen=True, slots=True, eq=False)
class Tabulation(StatesFacts):
    """Tables of counts or sums in which no hidden cell can be computed.

    Attributes
    ----------
    by : tuple of tuples of str
        The dimensions of each table.
    value : str
        The column of values: counts, or the sums of a column.
    tables : tuple of CellTable
        With all values.
    system : CellSystem
        All cells with their true values.
    is_primary : array
        Cells that a rule hides.
    pattern : SuppressionPattern
        What is hidden, its cost and bound.
    rules : CellRules
    content : str
        What a value counts: records, persons, records of persons, or sums.
    hierarchies : mapping of dimension to {parent: children}
    kept : KeptCells, optional
        What an earlier release showed and hid.
    proposals : tuple of CoarserTable
        Categories to merge, where more than half of the cells are hidden.
    inputs : tuple of path
        The files it was made from, none of which `write` touches.
    """

    by: tuple[tuple[str, ...], ...]
    value: str
    tables: tuple[CellTable, ...] = field(repr=False)
    system: CellSystem = field(repr=False)
    is_primary: BoolArray = field(repr=False)
    pattern: SuppressionPattern = field(repr=False)
    rules: CellRules
    content: str
    hierarchies: Mapping[str, Mapping[str, Sequence[str]]] = field(repr=False)
    kept: KeptCells | None = field(default=None, repr=False)
    proposals: tuple[CoarserTable, ...] = ()
    inputs: tuple[Path, ...] = field(default=(), repr=False)

    @property
    def n_cells(self) -> int:
        """Cells of all tables, each once."""
        return self.system.n_cells

    @property
    def n_primary(self) -> int:
        """Cells that a rule hides."""
        return int(self.is_primary.sum())

    @property
    def n_secondary(self) -> int:
        """Further cells that are hidden so that nobody computes those."""
        return int((self.pattern.is_hidden & ~self.is_primary).sum())

    @property
    def n_one_sided(self) -> int:
        """Primary cells that no pattern lets look both lower and higher as far as asked."""
        levels = self.pattern.levels
        lacks = np.isinf(levels.reach_down) | np.isinf(levels.reach_up)
        return int((lacks & self.is_primary & (self.system.values != 0)).sum())

    @property
    def frame(self) -> Any:
        """The tables as published, a row a cell: labels, and a value or ``x``."""
        return frames.assemble(list_cells(self.by, self.value, self.system, self._text_of), "polars")

    def _text_of(self, cell: int) -> str:
        if self.pattern.is_hidden[cell]:
            return MARK
        units = int(self.system.values[cell])
        if not self.system.decimals:
            return str(units)
        whole, rest = divmod(units, self.system.unit)
        return f"{whole}.{rest:0{self.system.decimals}d}"

    @property
    def readings(self) -> tuple[TableReading, ...]:
        """How a reader finds each table in the file."""
        return list_readings(self.by, self.value, self.hierarchies)

    @property
    def claim(self) -> HiddenCells:
        """What the file promises, with witnesses that anybody could compute from it.

        Raises
        ------
        InfeasibleError
            No witnesses were found for a hidden cell from the published cells alone.
        """
        published = frames.read(self.frame)
        tables = [read_cell_table(published, reading, "the release")[0] for reading in self.readings]
        system = build_system(tables, self.system.knowledge)
        threshold = self._claimed_threshold
        judged = audit_system(system, names=("",), readings=self.readings, threshold=threshold, budget=None)
        if not judged.passed:
            raise InfeasibleError(
                f"{len(judged.failing):,} hidden cells are not protected by the published cells alone.",
                hint="give it more time, or take coarser categories.",
            )
        return HiddenCells(threshold, judged.certificate.to_dict())

    @property
    def _claimed_threshold(self) -> int | None:
        return self.rules.threshold if self.system.is_integer and self.rules.level == "upper" else None

    @property
    def certificate(self) -> Certificate:
        """Witnesses that primary cells can be as much lower and higher as the rules ask: a document about the input."""
        hidden = self.system.with_hidden(self.pattern.is_hidden)
        return build_certificate(hidden, self.pattern.audit, self.pattern.levels, self.readings, asks_all=False)

    def verify(self) -> Verdict:
        """Judge the published cells anew, from them alone."""
        return self.claim.verify(self.frame)

    def write(self, path: str | Path, *, external: bool = False, overwrite: bool = False) -> Verdict:
        """Write the tables with their manifest, whole and verified, or not at all.

        Parameters
        ----------
        path : path
            ``.csv``, ``.tsv`` or ``.parquet``; the manifest goes beside it.
        external : bool
            Write the manifest that goes with a published file: without rules and costs.
        overwrite : bool
            Replace files of these names.

        Raises
        ------
        VerificationError
            The written tables do not hold what they claim; nothing is left behind.
        InputError
            A file cannot be written, or must not be.
        """
        published = frames.read(self.frame)
        to = Destination(
            Path(path),
            order="kept",
            audience="external" if external else "internal",
            overwrite=overwrite,
            inputs=self.inputs,
        )
        return write(TableContent(Edition(published, columns=published.columns), self.claim), to, self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """Return what is known of the tables as plain values, no cell among them."""
        return {
            "by": [list(names) for names in self.by],
            "value": self.value,
            "content": self.content,
            "rules": asdict(self.rules),
            "reader": self.system.knowledge.to_dict(),
            "n_cells": self.n_cells,
            "n_primary": self.n_primary,
            "n_secondary": self.n_secondary,
            "n_one_sided": self.n_one_sided,
            "cost": self.pattern.cost,
            "bound": self.pattern.bound,
            "gap": self.pattern.gap,
            "optimal": self.pattern.is_optimal,
            "proposals": [asdict(each) for each in self.proposals],
            **({} if self.kept is None else self.kept.to_dict()),
            "n_protected": sum(cell.outcome == PROTECTED for cell in self.pattern.audit.cells),
        }

    @property
    def _proposed(self) -> str:
        return "; or ".join(each.describe() for each in self.proposals)

    @property
    def facts(self) -> tuple[str, ...]:
        """What was hidden and what that cost, in whole sentences."""
        pattern = self.pattern
        proof = "no cheaper pattern protects" if pattern.is_optimal else f"at most {pattern.gap:.1%} above the cheapest"
        if not pattern.is_optimal and not pattern.bound:
            proof = "no bound was computed"
        tables = join_names([" x ".join(names) for names in self.by])
        n_protected = sum(bool(self.is_primary[cell.cell]) for cell in pattern.audit.cells)
        facts = [
            f"{self.n_cells:,} cells of {tables}: {self.n_primary:,} are hidden by the rules, and "
            f"{self.n_secondary:,} more so that nobody can compute those ({proof}).",
            f"All {n_protected:,} primary cells have other values in tables that agree with all that is shown.",
        ]
        facts += self.system.facts
        if self.proposals:
            facts.append(f"More than half of the cells are hidden. To hide fewer: {self._proposed}.")
        if self.kept is not None:
            facts += self.kept.facts
        if self.n_one_sided:
            told = f"{self.n_one_sided:,} primary cells can be protected to one side only, whatever is hidden."
            facts.insert(0, careful(told))
        if self.content == "records of persons":
            told = "a person may be in several cells: cells count records, and the threshold persons."
            facts.insert(0, careful(told))
        return tuple(facts)


def tabulate(
    data: Any,
    *,
    by: Sequence[str] | Sequence[Sequence[str]],
    value: str | None = None,
    person: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    rules: CellRules | None = None,
    reader: ReaderKnowledge | None = None,
    weight: CellWeight = "count",
    earlier: str | Path | None = None,
    budget: Budget | None = None,
) -> Tabulation:
    """Make tables from records, and hide the fewest or cheapest cells so that no small one can be computed.

    Several tables are one problem: what one shows protects nothing in another.

    Parameters
    ----------
    data : path or dataframe
        A row a record.
    by : sequence of str, or several of them
        The dimensions of a table, or of each of several. Labels are categories; a missing cell is one.
    value : str, optional
        The column to sum, of amounts of 0 or more. Default: count.
    person : str, optional
        Whose record a row is, or the holding that a business belongs to: counted once, contributions added first.
    hierarchies : mapping of column to {parent: [children]}, or a table with a column a level
    rules : CellRules, optional
        Default: a threshold of 10.
    reader : ReaderKnowledge, optional
        What a reader knows. Default: zeros are shown, so that a hidden count is at least 1.
    weight : "count", "one" or "log"
        What hiding a cell costs: its value, 1, or the logarithm of its value.
    earlier : path, optional
        Tables of the same people that were published before, with their manifest: they are published again, in one file
        with the new ones. What they showed stays shown, what they hid stays hidden.
    budget : Budget, optional
        How long the cheapest pattern is looked for. Default: 60 seconds.

    Returns
    -------
    Tabulation

    Raises
    ------
    InfeasibleError
        Hiding cannot protect a cell.
    InputError
        The records cannot be counted.

    Examples
    --------
    >>> import hushtable as ht
    >>> people = ht.datasets.people(n=400, seed=1)
    >>> tables = ht.tabulate(people, by=["sex", "education"], rules=ht.CellRules(threshold=5))
    >>> tables.verify().passed
    True
    """
    _check_types(value, person, rules, reader, budget)
    rules = rules or CellRules()
    check_choice("weight", weight, ("count", "one", "log"))
    several, trees = list_tables(by), read_hierarchies(hierarchies)
    before = None if earlier is None else read_earlier(earlier)
    if before is not None:
        several, trees = _add_earlier(before, several, trees, value)
    names = check_dimensions(several)
    check_columns([*trees], names, "hierarchies")
    check_columns([] if rules.sensitive is None else [rules.sensitive], names, "sensitive")
    if value is None and (rules.dominance is not None or rules.p is not None):
        raise InputError(
            "dominance and p are rules of amounts, and none are summed.", hint="name their column: --value turnover."
        )
    cells = read_records(data, names, value=value, person=person, hierarchies=trees)
    knowledge = _complete_knowledge(reader, rules, is_sum=value is not None)
    problem = _pose(cells, several, rules, knowledge)
    kept = None
    if before is not None:
        kept = keep_cells(problem.system, before)
        refuse_published(problem.system, problem.is_primary, kept, before)
        problem = problem.with_kept(kept)

    # Earlier tables keep their categories.
    coarser = _CoarserSearch(cells, several, rules, knowledge, weight, is_off=before is not None)
    pattern = _suppress_or_propose(problem, coarser, Clock(budget or Budget(seconds=60)))
    return Tabulation(
        several,
        value or name_count(names),
        problem.tables,
        problem.system,
        problem.is_primary,
        pattern,
        rules,
        "sums" if value is not None else _name_content(cells, person),
        trees,
        kept,
        coarser.run() if 2 * int(pattern.is_hidden.sum()) > problem.system.n_cells else (),
        tuple(Path(each) for each in (data, earlier) if isinstance(each, (str, Path))),
    )


def _check_types(value: object, person: object, rules: object, reader: object, budget: object) -> None:
    for what, given in (("value", value), ("person", person)):
        check_type(given, str, what, f"the name of a column: {what}='n'")
    check_type(rules, CellRules, "rules", "ht.CellRules(threshold=10)")
    check_type(reader, ReaderKnowledge, "reader", "ht.ReaderKnowledge(zeros='hidden')")
    check_type(budget, Budget, "budget", "ht.Budget(seconds=10)")


@dataclass(frozen=True, slots=True, eq=False)
class _HidingProblem:
    """What must be hidden of some tables, and what a reader must hold possible of it."""

    tables: tuple[CellTable, ...]
    system: CellSystem
    is_primary: BoolArray
    levels: ProtectionLevels
    must_hide: BoolArray

    def with_kept(self, kept: KeptCells) -> _HidingProblem:
        """Return the problem where cells stay as an earlier release showed and hid them."""
        return replace(
            self,
            system=replace(self.system, is_published=kept.is_shown),
            levels=self.levels.with_another_value(kept.is_hidden, self.system.values),
            must_hide=self.is_primary | kept.is_hidden,
        )

    def suppress(self, weight: CellWeight, clock: Clock) -> SuppressionPattern:
        """Find the cheapest pattern."""
        _check_protectable(self.system, self.is_primary, self.levels)
        return suppress(self.system, self.must_hide, self.levels, _weigh(self.system.values, weight), clock)


@dataclass(frozen=True, slots=True, eq=False)
class _CoarserSearch:
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
        return _count_hidden(_pose(coarser, self.several, self.rules, self.knowledge), self.weight)


def _suppress_or_propose(problem: _HidingProblem, coarser: _CoarserSearch, clock: Clock) -> SuppressionPattern:
    """Find the cheapest pattern; where hiding cannot protect, say which categories to merge."""
    try:
        return problem.suppress(coarser.weight, clock)
    except InfeasibleError as error:
        proposals = "; ".join(each.describe() for each in coarser.run())
        if not proposals:
            raise
        raise InfeasibleError(error.message, hint=f"hide zeros too (--zeros hidden), or {proposals}.") from None


def _pose(
    cells: TabulatedRecords, several: Sequence[tuple[str, ...]], rules: CellRules, knowledge: ReaderKnowledge
) -> _HidingProblem:
    """Count records, and find what must be hidden."""
    n_largest = max(2, rules.dominance[0] if rules.dominance else 2)
    counted = [cells.count(each, n_largest) for each in several]
    system = build_system([each.table for each in counted], knowledge)
    is_primary, levels = _join_rules(system, counted, rules, is_sum=knowledge.content == "sums")
    return _HidingProblem(tuple(each.table for each in counted), system, is_primary, levels, is_primary)


def _count_hidden(problem: _HidingProblem, weight: CellWeight) -> HidingCost | None:
    """Return how many cells there are, and how many must be hidden; None if that cannot protect."""
    system = problem.system
    try:
        _check_protectable(system, problem.is_primary, problem.levels)
        hidden = suppress_soon(system, problem.is_primary, problem.levels, _weigh(system.values, weight))
    except InfeasibleError:
        return None
    return system.n_cells, int(hidden.sum())


def _add_earlier(
    before: EarlierTables,
    several: tuple[tuple[str, ...], ...],
    trees: dict[str, dict[str, tuple[str, ...]]],
    value: str | None,
) -> tuple[tuple[tuple[str, ...], ...], dict[str, dict[str, tuple[str, ...]]]]:
    """Return the tables with the earlier ones, and the hierarchies of all."""
    asked = value or name_count(check_dimensions(several))
    if before.value != asked:
        raise InputError(f"{before.name} holds {before.value!r}, and these tables {asked!r}.", hint="count the same.")
    old = {name: {parent: tuple(parts) for parent, parts in tree.items()} for name, tree in before.hierarchies.items()}
    differ = [name for name in old if name in trees and trees[name] != old[name]]
    if differ:
        raise InputError(f"{before.name} has another hierarchy of {quote_names(differ)}.", hint="pass the same one.")
    new = [by for by in before.by if set(by) not in [set(each) for each in several]]
    return (*several, *new), {**old, **trees}


def list_cells(
    by: Sequence[Sequence[str]], value: str, system: CellSystem, text_of: Callable[[int], str]
) -> dict[str, list[str]]:
    """Return the columns of the published file: a dimension that a table does not have is at its total."""
    names = check_dimensions(by)
    columns: dict[str, list[str]] = {name: [] for name in (*names, value)}
    for cell in dict.fromkeys(int(cell) for _, cells in system.grids for cell in cells.ravel()):
        labels = dict(system.keys[cell] or ())
        for name in names:
            columns[name].append(labels.get(name, TOTAL))
        columns[value].append(text_of(cell))
    return columns


def list_readings(
    by: Sequence[tuple[str, ...]], value: str, hierarchies: Mapping[str, Mapping[str, Sequence[str]]]
) -> tuple[TableReading, ...]:
    """Return how a reader finds each table in the published file."""
    names = check_dimensions(by)
    return tuple(
        TableReading(
            own,
            value,
            hidden=(MARK,),
            total=dict.fromkeys(own, TOTAL),
            hierarchies={name: tree for name, tree in hierarchies.items() if name in own},
            fixed={name: TOTAL for name in names if name not in own},
        )
        for own in by
    )


def list_tables(by: Sequence[str] | Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the dimensions of each table."""
    if isinstance(by, str):
        return ((by,),)
    if isinstance(by, (list, tuple)) and by and not any(isinstance(each, str) for each in by):
        return tuple(names_in(names, "by") for names in by)
    return (names_in(by, "by"),)


def name_count(names: Sequence[str]) -> str:
    """Return the name of the column of counts, which no dimension has."""
    return _COUNT_NAME if _COUNT_NAME not in names else "count"


def _complete_knowledge(reader: ReaderKnowledge | None, rules: CellRules, *, is_sum: bool) -> ReaderKnowledge:
    """Return what a reader knows of tables that are made here: every combination has a row."""
    reader = reader or ReaderKnowledge(zeros="hidden" if rules.sensitive is not None else "shown")
    if rules.sensitive is not None and reader.zeros == "shown":
        raise InputError(
            "zeros are shown, and lines of a sensitive dimension may tell of a group by them.",
            hint="hide zeros too: ReaderKnowledge(zeros='hidden'), --zeros hidden.",
        )
    return ReaderKnowledge("sums" if is_sum else "counts", reader.zeros, "zero", public=reader.public)


def _join_rules(
    system: CellSystem, counted: Sequence[CountedTable], rules: CellRules, *, is_sum: bool
) -> tuple[BoolArray, ProtectionLevels]:
    """Return the primary cells of all tables, hidden zeros among them, and what a reader must hold possible of each."""
    number = {key: place for place, key in enumerate(system.keys)}
    is_primary = np.zeros(system.n_cells, dtype=np.bool_)
    down, up = np.full(system.n_cells, np.inf), np.full(system.n_cells, -np.inf)
    least = system.knowledge.least_hidden
    for each in counted:
        own = find_primary(each, rules, is_sum=is_sum)
        if system.knowledge.zeros == "hidden":
            # As much is asked of them as of small ones: nobody sees which of the hidden cells are zeros.
            own |= each.table.values == 0
        own_down, own_up = protection_levels(each, own, rules, least, is_sum=is_sum)
        for cell in np.flatnonzero(own).tolist():
            place = number[_key_of(each.table, cell)]
            is_primary[place] = True
            down[place], up[place] = min(down[place], own_down[cell]), max(up[place], own_up[cell])
    return is_primary, ProtectionLevels(down, up, np.zeros(system.n_cells))


def _key_of(table: CellTable, cell: int) -> CellKey:
    """Return the key of a cell."""
    codes = np.unravel_index(cell, table.shape)
    labels = [(axis.name, axis.labels[int(code)]) for axis, code in zip(table.axes, codes, strict=True)]
    return tuple(sorted(pair for pair in labels if pair[1] != TOTAL))


def _check_protectable(system: CellSystem, is_primary: BoolArray, levels: ProtectionLevels) -> None:
    """Raise InfeasibleError if a primary cell has one value only when all that can be hidden is."""
    is_public = np.array([key in set(system.knowledge.public) for key in system.keys])
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


def _name_content(cells: TabulatedRecords, person: str | None) -> str:
    if person is None:
        return "records"
    return "persons" if cells.counts_persons else "records of persons"
