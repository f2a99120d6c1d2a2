"""Check tables that somebody made: what a reader can compute of each hidden cell, from all of them together."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hushtable._types import CountArray
from hushtable.claims import Certificate, HiddenCells, RoundedCells, show_limits
from hushtable.errors import InputError, check_columns, check_type, check_whole, names_in
from hushtable.io import frames
from hushtable.release import manifest
from hushtable.search import Budget, Clock
from hushtable.tabulation.attacks import Derivation, derive
from hushtable.tabulation.auditing import (
    EXPOSED,
    FAILING,
    NOT_JUDGED,
    PROTECTED,
    TOO_NARROW,
    UNPROTECTABLE,
    CellAudit,
    JudgedCell,
    SingletonLeak,
    ask_of_hidden,
    audit,
    find_leaks_to_alone,
)
from hushtable.tabulation.cells import CellSystem, ReaderKnowledge, build_system
from hushtable.tabulation.certifying import build_certificate
from hushtable.tabulation.deducing import find_bound_cells
from hushtable.tabulation.reading import TableReading, find_alone, read_cell_table, read_hierarchies
from hushtable.wording import StatesFacts, careful

if TYPE_CHECKING:
    from hushtable.risk import OwnAttack

_MAX_DERIVATIONS: Final = 20  # of exposed cells; each is a programme


@dataclass(frozen=True, slots=True, eq=False)
class TableAudit(StatesFacts):
    """What a reader of tables can compute.

    Attributes
    ----------
    system : CellSystem
        All cells, with what a reader knows.
    audit : CellAudit
        The outcome for each hidden cell, and the witness tables.
    names : tuple of str
        The tables.
    readings : tuple of TableReading
        How each was read.
    threshold : int or None
        Below it, a count is small.
    n_shown_small : int
        Shown counts above 0 and below the threshold.
    leaks : tuple of SingletonLeak
        What the contributors compute who are said to be alone in a cell.
    bound_cells : tuple of arrays
        Groups of hidden cells of which each computes the others: who is alone in one of them knows all.
    """

    system: CellSystem = field(repr=False)
    audit: CellAudit = field(repr=False)
    names: tuple[str, ...]
    readings: tuple[TableReading, ...] = field(repr=False)
    threshold: int | None
    n_shown_small: int
    leaks: tuple[SingletonLeak, ...] = field(default=(), repr=False)
    bound_cells: tuple[CountArray, ...] = field(default=(), repr=False)

    @property
    def passed(self) -> bool:
        """Whether every hidden cell is protected, also from who is said to be alone, and no small one is shown."""
        return not self.n_shown_small and not self.failing and not self.leaks

    @property
    def failing(self) -> tuple[JudgedCell, ...]:
        """Hidden cells that are not protected."""
        return tuple(cell for cell in self.audit.cells if cell.outcome in FAILING)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many hidden cells have which outcome."""
        return dict(Counter(cell.outcome for cell in self.audit.cells))

    @property
    def certificate(self) -> Certificate:
        """The witness tables of the protected cells; `hushtable.check_certificate` checks them with the tables alone.

        It holds no true value that the tables do not show, but its owner decides who needs it.
        """
        levels = ask_of_hidden(self.system, threshold=self._floor)
        return build_certificate(self.system, self.audit, levels, self.readings, asks_all=True)

    @property
    def _floor(self) -> int | None:
        return self.threshold if self.system.is_integer else None

    @property
    def exposed(self) -> tuple[JudgedCell, ...]:
        """Cells whose value a reader computes."""
        return tuple(
            cell for cell in self.audit.cells if cell.outcome in (EXPOSED, UNPROTECTABLE) and cell.low == cell.high
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, the most dangerous first."""
        n_cells, outcomes = len(self.audit.cells), self.outcomes
        facts = []
        if outcomes.get(EXPOSED):
            facts.append(careful(f"A reader can compute {outcomes[EXPOSED]:,} of {n_cells:,} hidden cells."))
        if outcomes.get(UNPROTECTABLE):
            told = (
                f"Hiding cannot protect {outcomes[UNPROTECTABLE]:,} of {n_cells:,} hidden cells: hide zeros too, "
                "take coarser categories, or round."
            )
            facts.append(careful(told))
        if outcomes.get(TOO_NARROW):
            facts.append(careful(f"A reader knows {outcomes[TOO_NARROW]:,} of {n_cells:,} hidden cells too closely."))
        if outcomes.get(NOT_JUDGED):
            told = f"The time was over before {outcomes[NOT_JUDGED]:,} of {n_cells:,} hidden cells could be judged."
            facts.append(careful(told))
        if self.n_shown_small:
            facts.append(careful(f"Counts below {self.threshold} are shown: {self.n_shown_small:,}."))
        if self.leaks:
            n_known = len({cell for leak in self.leaks for cell in leak.cells})
            facts.append(careful(f"Those who are alone in a cell can compute {n_known:,} of {n_cells:,} hidden cells."))
        elif self.bound_cells:
            n_bound = sum(len(group) for group in self.bound_cells)
            facts.append(
                f"{n_bound:,} of {n_cells:,} hidden cells can be computed from the value of one other hidden cell: "
                f"the person who is alone there knows it. Say who is, as in --alone {self._example_of_alone}."
            )
        facts += self.system.facts
        if not n_cells:
            facts.append("The tables hide no cell.")
        if outcomes.get(PROTECTED):
            facts.append(
                f"{outcomes[PROTECTED]:,} of {n_cells:,} hidden cells are protected: other tables that agree with all "
                "that is shown have other values there."
            )
        return tuple(facts)

    @property
    def _example_of_alone(self) -> str:
        """A hidden cell that computes another one and may have one contributor, as the command takes it."""
        low = self.audit.deduction.low
        for cell in np.concatenate(self.bound_cells).tolist():
            parts = self.system.keys[cell]
            is_written = parts is not None and not any(mark in word for part in parts for word in part for mark in ",=")
            if is_written and (not self.system.is_integer or low[cell] <= 1):
                return shlex.quote(",".join(f"{name}={label}" for name, label in parts or ()))
        return "g=a,h=x"

    def attack_with(self, release: object) -> tuple[OwnAttack, ...]:
        """Attack these tables and a release of the same records together.

        Parameters
        ----------
        release : Release or path
            In memory, or written with its manifest.

        Returns
        -------
        tuple of OwnAttack
            Hidden cells that follow from both only, and classes of which the tables tell of fewer than k records.

        Raises
        ------
        InputError
            The tables count other records than the release, or name none of its columns.
        """
        from hushtable.tabulation.joining import attack_with_tables, open_released

        return attack_with_tables(*open_released(release), self)

    def derivations(self, most: int = _MAX_DERIVATIONS) -> Iterable[tuple[JudgedCell, Derivation | None]]:
        """Yield exposed cells with the sum that computes them."""
        for cell in self.exposed[:most]:
            upper = derive(self.system, cell.cell, cell.high, is_upper=True)
            lower = derive(self.system, cell.cell, cell.low, is_upper=False)
            # Of two that say the same, the one that needs more than what a hidden cell is at least.
            yield cell, upper if upper is not None and upper.terms else lower

    def to_dict(self, *, most: int = _MAX_DERIVATIONS) -> dict[str, Any]:
        """Return verdicts as plain values. They name cells and hold what a reader computes of them."""
        told = {cell.cell: found.describe(self.system) for cell, found in self.derivations(most) if found is not None}
        unit = self.system.unit
        return {
            "passed": self.passed,
            "tables": list(self.names),
            "read": [reading.to_dict() for reading in self.readings],
            "reader": self.system.knowledge.to_dict(),
            "threshold": self.threshold,
            "n_cells": sum(key is not None for key in self.system.keys),
            "n_hidden": len(self.system.marked),
            "n_shown_small": self.n_shown_small,
            "outcomes": self.outcomes,
            "n_witnesses": len(self.audit.witnesses),
            "leaks": [
                {"alone": self._labels(int(leak.own[0])), "computes": [self._labels(cell) for cell in leak.cells]}
                for leak in self.leaks
            ],
            "bound": [[self._labels(cell) for cell in group.tolist()] for group in self.bound_cells[:most]],
            "cells": [
                {
                    "cell": self._labels(cell.cell),
                    "outcome": cell.outcome,
                    "low": cell.low / unit,
                    "high": cell.high / unit,
                    "proven": cell.is_proven,
                    **({"because": told[cell.cell]} if cell.cell in told else {}),
                }
                for cell in self.audit.cells
            ],
        }

    def _labels(self, cell: int) -> dict[str, str]:
        return dict(self.system.keys[cell] or ())

    def _table(self) -> Iterable[Sequence[object]]:
        rows = [(self.system.describe(cell.cell), cell.outcome) for cell in self.failing]
        return [("cell", "outcome"), *rows[:_MAX_DERIVATIONS]] if rows else ()


def check_tables(
    data: Any,
    *,
    by: Sequence[str] = (),
    value: str | None = None,
    across: str | None = None,
    hidden: Sequence[str] = (),
    total: str | Mapping[str, str] = "",
    hierarchies: Mapping[str, Any] | None = None,
    reader: ReaderKnowledge | None = None,
    threshold: int | None = None,
    status: str | None = None,
    frequency: str | None = None,
    budget: Budget | None = None,
) -> TableAudit:
    """Compute what a reader can find out about every hidden cell of one or several tables.

    Several tables are judged together: they must count the same people. Cells of different tables are one cell if they
    have the same labels in the same columns, totals left out.

    Parameters
    ----------
    data : path, dataframe, or a list of them
        A row a cell, or a row and a column a category (`across`), with totals. A ``.tab`` of tau-Argus is read with the
        ``.rda``, ``.hrc`` and ``.hst`` beside it.
    by : sequence of str
        The columns of labels. Default: those that hold no numbers.
    value : str, optional
        The column of values. Default: the only one of numbers, or one called n, count, ...
    across : str, optional
        The name of the dimension whose labels are the names of columns.
    hidden : sequence of str
        Texts that hide a value. Default: those that are usual (x, *, :, blank, suppressed, ...). "<5" and "1-4" are
        read as bounds.
    total : str or mapping of column to str
        The label of totals. Default: the usual words, else the label that is the sum of all others.
    hierarchies : mapping of column to {parent: [children]} or a table with a column a level
    reader : ReaderKnowledge, optional
        What a reader knows besides: whether a hidden count is at least 1, whether it may be negative, what is public.
        What a manifest says of zeros holds.
    threshold : int, optional
        A count below is small. A hidden one must be able to be this much, and a shown one fails.
    status : str, optional
        A column that says which values are hidden although they stand there: V and S are shown in tau-Argus, s and z in
        sdcTable.
    frequency : str, optional
        A column that counts the contributors of each sum: who is alone in a cell knows its value.
    budget : Budget, optional
        What is left when the time is over is not judged, and fails.

    Returns
    -------
    TableAudit

    Raises
    ------
    InputError
        A table cannot be read, a total is not the sum of its parts, or no table agrees with what is shown.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> table = pl.DataFrame({"g": ["a", "b", "c", "Total"], "x": ["*", "*", "30", "32"],
    ...                       "y": ["20", "20", "30", "70"], "Total": ["21", "21", "60", "102"]})
    >>> audit = ht.check_tables(table, across="h")
    >>> audit.passed, audit.outcomes
    (False, {'exposed': 2})
    """
    if threshold is not None:
        check_whole("threshold", threshold, 2, 2**53)
    for what, given in (("value", value), ("across", across), ("status", status), ("frequency", frequency)):
        check_type(given, str, what, f"the name of a column: {what}='n'")
    check_type(budget, Budget, "budget", "ht.Budget(seconds=10)")
    check_type(reader, ReaderKnowledge, "reader", "ht.ReaderKnowledge(zeros='hidden')")
    check_type(total, (str, Mapping), "total", "a label, or a mapping of columns to labels")
    sources = list(data) if isinstance(data, (list, tuple)) else [data]
    if not sources:
        raise InputError("no table was given.", hint="pass a path, a dataframe, or a list of them.")
    totals = {"": total} if isinstance(total, str) else dict(total or {})
    names, marks = names_in(by, "by"), names_in(hidden, "hidden")
    labels = {k: v for k, v in totals.items() if k or v}
    asked = TableReading(
        names, value, across, marks, labels, read_hierarchies(hierarchies), status=status, frequency=frequency
    )
    claims = [_find_claim(source) for source in sources]
    opened = [
        (each, own, _name_of(source, place))
        for place, (source, claim) in enumerate(zip(sources, claims, strict=True))
        for each, own in _open_tables(source, asked, claim)
    ]
    found = [read_cell_table(*each) for each in opened]
    cell_tables = [table for table, _ in found]
    dimensions = list(dict.fromkeys(axis.name for table in cell_tables for axis in table.axes))
    check_columns([*asked.hierarchies], dimensions, "hierarchies")
    check_columns([name for name in labels if name], dimensions, "total")
    alone = [key for (each, *_), (_, reading) in zip(opened, found, strict=True) for key in find_alone(each, reading)]
    system = build_system(cell_tables, _with_claimed_zeros(reader or ReaderKnowledge(), claims))
    system = system.with_alone(alone)
    return audit_system(
        system,
        names=tuple(table.name for table in cell_tables),
        readings=tuple(reading for _, reading in found),
        threshold=threshold,
        budget=budget,
    )


def audit_system(
    system: CellSystem,
    *,
    names: tuple[str, ...],
    readings: tuple[TableReading, ...],
    threshold: int | None,
    budget: Budget | None,
) -> TableAudit:
    """Judge the hidden cells of tables that were read."""
    is_count = system.knowledge.content == "counts"
    floor = threshold if is_count else None
    judged = audit(system, ask_of_hidden(system, threshold=floor), threshold=floor, clock=Clock(budget or Budget()))
    n_small = 0
    if floor is not None:
        is_cell = np.array([key is not None for key in system.keys])
        n_small = int((is_cell & system.is_known & (system.values > 0) & (system.values < floor)).sum())
    leaks = find_leaks_to_alone(system, judged.deduction)
    groups = [np.intersect1d(group, system.marked) for group in find_bound_cells(system, judged.deduction)]
    bound = tuple(group for group in groups if len(group) > 1)
    return TableAudit(system, judged, names, readings, threshold, n_small, leaks, bound)


def _find_claim(data: object) -> HiddenCells | None:
    """Return what the manifest of hushtable's own tables claims."""
    claim = manifest.claim_of(data) if isinstance(data, (str, os.PathLike)) else None
    return claim if isinstance(claim, HiddenCells) else None


def _open_tables(data: object, asked: TableReading, claim: HiddenCells | None) -> list[tuple[object, TableReading]]:
    """Return tables of a file, and how each is read: as metadata of tau-Argus say, or a manifest of hushtable."""
    if not isinstance(data, (str, os.PathLike)):
        return [(data, asked)]
    if isinstance(claim, RoundedCells) and asked != TableReading():
        raise InputError(
            f"{Path(data).name} holds rounded counts, and was given with options that say what is what.",
            hint="its manifest says it: leave them out.",
        )
    if claim is not None and asked == TableReading():
        readings = [TableReading.from_dict(each) for each in claim.witnesses["tables"]]
        if isinstance(claim, RoundedCells):
            # Nobody is shown a true count: a reader knows its limits.
            return [(show_limits(frames.read(data), claim.columns[-1], claim.reach), each) for each in readings]
        return [(data, each) for each in readings]
    if Path(data).suffix.lower() != ".tab":
        return [(data, asked)]
    from hushtable.tabulation.tau_argus import read_argus_table

    if asked != TableReading():
        raise InputError(f"{Path(data).name} was given with options that say what is what.", hint="its .rda says it.")
    table = read_argus_table(Path(data))
    return [(table.frame, table.reading)]


def _with_claimed_zeros(reader: ReaderKnowledge, claims: Sequence[HiddenCells | None]) -> ReaderKnowledge:
    """Return what a reader knows, with zeros hidden where the manifests of hushtable's own tables say so."""
    tables = [claim for claim in claims if claim is not None]
    if len({claim.kind for claim in tables}) > 1:
        raise InputError(
            "some tables are rounded, and others hide cells.",
            hint="what a hidden cell is at least differs: check those of one kind together.",
        )
    is_hidden = any(claim.witnesses["reader"]["zeros"] == "hidden" for claim in tables)
    return replace(reader, zeros="hidden") if is_hidden else reader


def _name_of(data: object, place: int) -> str:
    return Path(data).name if isinstance(data, (str, os.PathLike)) else f"table {place + 1}"
