"""Tables made from records as a release: what is hidden, what that cost, and what proves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hushtable._types import BoolArray
from hushtable.claims import Certificate, HiddenCells
from hushtable.errors import InfeasibleError, InputError, check_choice, check_columns, check_type, quote_names
from hushtable.io import frames
from hushtable.search import Budget, Clock
from hushtable.tabulation.auditing import PROTECTED
from hushtable.tabulation.cells import CellTable, ReaderKnowledge
from hushtable.tabulation.certifying import build_certificate
from hushtable.tabulation.coarsening import CoarserTable
from hushtable.tabulation.earlier import EarlierTables, KeptCells, keep_cells, read_earlier, refuse_published
from hushtable.tabulation.posing import CoarserSearch, pose, suppress_or_propose
from hushtable.tabulation.published import PublishedTables, list_tables, name_count
from hushtable.tabulation.reading import read_hierarchies
from hushtable.tabulation.suppressing import SuppressionPattern
from hushtable.tabulation.tabulating import (
    CellRules,
    CellWeight,
    TabulatedRecords,
    check_dimensions,
    read_records,
)
from hushtable.wording import careful, join_names


@dataclass(frozen=True, slots=True, eq=False)
class Tabulation(PublishedTables):
    """Tables of counts or sums in which no hidden cell can be computed.

    Attributes
    ----------
    by : tuple of tuples of str
        The dimensions of each table.
    value : str
        The column of values: counts, or the sums of a column.
    system : CellSystem
        All cells with their true values.
    hierarchies : mapping of dimension to {parent: children}
    tables : tuple of CellTable
        With all values.
    is_primary : array
        Cells that a rule hides.
    pattern : SuppressionPattern
        What is hidden, its cost and bound.
    rules : CellRules
    content : str
        What a value counts: records, persons, records of persons, or sums.
    kept : KeptCells, optional
        What an earlier release showed and hid.
    proposals : tuple of CoarserTable
        Categories to merge, where more than half of the cells are hidden.
    unions : tuple of tuples of int
        Hidden cells of a line whose sum is known from its total, and would be hidden by a rule if it were a cell.
    inputs : tuple of path
        The files it was made from, none of which `write` touches.
    """

    tables: tuple[CellTable, ...] = field(repr=False)
    is_primary: BoolArray = field(repr=False)
    pattern: SuppressionPattern = field(repr=False)
    rules: CellRules
    content: str
    kept: KeptCells | None = field(default=None, repr=False)
    proposals: tuple[CoarserTable, ...] = ()
    unions: tuple[tuple[int, ...], ...] = field(default=(), repr=False)

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

    def _format_cell(self, cell: int) -> str:
        if self.pattern.is_hidden[cell]:
            return HiddenCells.mark
        units = int(self.system.values[cell])
        if not self.system.decimals:
            return str(units)
        whole, rest = divmod(units, self.system.unit)
        return f"{whole}.{rest:0{self.system.decimals}d}"

    @property
    def claim(self) -> HiddenCells:
        """What the file promises, with witnesses that anybody could compute from it.

        Raises
        ------
        InfeasibleError
            No witnesses were found for a hidden cell from the published cells alone.
        """
        threshold = self.rules.threshold if self.system.is_integer and self.rules.level == "upper" else None
        judged = self._audit_published(frames.read(self.frame), self.system.knowledge, threshold)
        if not judged.passed:
            raise InfeasibleError(
                f"{len(judged.failing):,} hidden cells are not protected by the published cells alone.",
                hint="give it more time, or take coarser categories.",
            )
        return HiddenCells(threshold, judged.certificate.to_dict())

    @property
    def certificate(self) -> Certificate:
        """Witnesses that primary cells can be as much lower and higher as the rules ask: a document about the input."""
        hidden = self.system.with_hidden(self.pattern.is_hidden)
        return build_certificate(hidden, self.pattern.audit, self.pattern.levels, self.readings, asks_all=False)

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
            "n_sensitive_unions": len(self.unions),
            "cost": self.pattern.cost,
            "bound": self.pattern.bound,
            "gap": self.pattern.gap,
            "optimal": self.pattern.is_optimal,
            "proposals": [asdict(each) for each in self.proposals],
            **({} if self.kept is None else self.kept.to_dict()),
            "n_protected": sum(cell.outcome == PROTECTED for cell in self.pattern.audit.cells),
        }

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
        if self.rules.singletons and len(pattern.audit.cells):
            facts.append("Nobody who is alone in a cell can compute another primary one from its value.")
        facts += self.system.facts
        if self.proposals:
            proposed = "; or ".join(each.describe() for each in self.proposals)
            facts.append(f"More than half of the cells are hidden. To hide fewer: {proposed}.")
        if self.kept is not None:
            facts += self.kept.facts
        if self.n_one_sided:
            told = f"{self.n_one_sided:,} primary cells can be protected to one side only, whatever is hidden."
            facts.insert(0, careful(told))
        if self.unions:
            first = "; ".join(self.system.describe(cell) for cell in self.unions[0])
            told = (
                f"{len(self.unions):,} sums of hidden cells follow from a total, and a rule would hide them: the first "
                f"is that of {first}. Take coarser categories there."
            )
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
    data : path, dataframe or lazy frame
        A row a record. Of a folder, a file beyond memory and a lazy frame only the distinct rows are held.
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
    if value is None:
        _check_rules_of_counts(rules)
    cells = read_records(data, names, value=value, person=person, hierarchies=trees)
    knowledge = _complete_knowledge(reader, rules, before, is_sum=value is not None)
    problem = pose(cells, several, rules, knowledge)
    kept = None
    if before is not None:
        kept = keep_cells(problem.system, before)
        refuse_published(problem.system, problem.is_primary, kept, before)
        problem = problem.with_kept(kept)

    # Earlier tables keep their categories.
    coarser = CoarserSearch(cells, several, rules, knowledge, weight, is_off=before is not None)
    pattern = suppress_or_propose(problem, coarser, Clock(budget or Budget(seconds=60)))
    return Tabulation(
        several,
        value or name_count(names),
        problem.system,
        trees,
        tuple(each.table for each in problem.counted),
        problem.is_primary,
        pattern,
        rules,
        "sums" if value is not None else _name_content(cells, person),
        kept,
        coarser.run() if 2 * int(pattern.is_hidden.sum()) > problem.system.n_cells else (),
        problem.find_unions(pattern.is_hidden),
        inputs=tuple(Path(each) for each in (data, earlier) if isinstance(each, (str, Path))),
    )


def _check_types(value: object, person: object, rules: object, reader: object, budget: object) -> None:
    for what, given in (("value", value), ("person", person)):
        check_type(given, str, what, f"the name of a column: {what}='n'")
    check_type(rules, CellRules, "rules", "ht.CellRules(threshold=10)")
    check_type(reader, ReaderKnowledge, "reader", "ht.ReaderKnowledge(zeros='hidden')")
    check_type(budget, Budget, "budget", "ht.Budget(seconds=10)")


def _check_rules_of_counts(rules: CellRules) -> None:
    if rules.dominance is not None or rules.p is not None:
        raise InputError(
            "dominance and p are rules of amounts, and none are summed.", hint="name their column: --value turnover."
        )


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


def _complete_knowledge(
    reader: ReaderKnowledge | None, rules: CellRules, before: EarlierTables | None, *, is_sum: bool
) -> ReaderKnowledge:
    """Return what a reader knows of tables that are made here: every combination has a row."""
    if reader is None:
        usual: Literal["shown", "hidden"] = "shown" if before is None else before.zeros
        reader = ReaderKnowledge(zeros="hidden" if rules.sensitive is not None else usual)
    if before is not None and reader.zeros != before.zeros:
        raise InputError(
            f"zeros are {reader.zeros}, and {before.name} has them {before.zeros}: "
            "what both hide would mean two things.",
            hint=f"take those of the earlier tables: ReaderKnowledge(zeros={before.zeros!r}), --zeros {before.zeros}.",
        )
    if rules.sensitive is not None and reader.zeros == "shown":
        raise InputError(
            "zeros are shown, and lines of a sensitive dimension may reveal a group by them.",
            hint="hide zeros too: ReaderKnowledge(zeros='hidden'), --zeros hidden.",
        )
    return ReaderKnowledge("sums" if is_sum else "counts", reader.zeros, "zero", public=reader.public)


def _name_content(cells: TabulatedRecords, person: str | None) -> str:
    if person is None:
        return "records"
    return "persons" if cells.counts_persons else "records of persons"
