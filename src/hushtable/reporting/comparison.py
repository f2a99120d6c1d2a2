"""The reports of one policy with other settings, side by side, and of advice on it: internal, as both are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hushtable.policy import Advice, ComparedRun, Comparison
from hushtable.reporting.document import (
    Block,
    CellContent,
    Chart,
    Data,
    Quantity,
    Section,
    Table,
    row_of,
)


def sections_on_comparison(compared: Comparison) -> tuple[Section, ...]:
    """Return the sections of a comparison."""
    return *_sections_on_runs(compared), *_sections_on_columns(compared)


def sections_on_advice(advice: Advice) -> tuple[Section, ...]:
    """Return the sections of advice: every change that was tried, and what is lost after it."""
    rows = tuple(
        (
            change.what,
            Quantity(change.before, "share"),
            Quantity(change.after, "share"),
            Quantity(change.n_suppressed, "count"),
        )
        for change in advice.changes
        if change.after is not None
    )
    titles = ("change", "before", "after", "suppressed")
    table = Table("What is lost before and after (set-NCP), of the columns that stay", titles, rows)
    return (Section("changes", "What each change brings back", (table,), "8.3 Mitigation"),)


def _sections_on_runs(compared: Comparison) -> Iterator[Section]:
    feasible = [row for row in compared.rows if row.is_feasible]
    blocks: list[Block] = []
    if feasible:
        points = {line: [list(point) for point in each] for line, each in compared.lines().items()}
        knee = compared.knee
        data = {
            "lines": points,
            "knee": None if knee is None else [knee.loss, knee.highest_risk],
            "label": f"loss ({compared.loss})",
            "mark": "bend",
        }
        blocks.append(Chart("risk_against_loss", "What every step of safety costs", data))
        titles = ("k", "run", "highest risk", "average risk", "classes", "loss", "suppressed", "verified")
        blocks.append(Table("Runs", titles, tuple(map(_run_row, feasible))))
    linked = [row for row in feasible if row.links is not None or row.persons_found is not None]
    if linked:
        of_links = ("k", "run", "persons found", "loss", "suppressed")
        blocks.append(Table("Whom 1, 2 or 3 known records find", of_links, tuple(map(_link_row, linked))))
    yield Section("runs", "Risk against loss", tuple(blocks), "8.3 Mitigation")


def _run_row(row: ComparedRun) -> tuple[CellContent, ...]:
    return (
        Quantity(row.k, "count"),
        row.line,
        Quantity(row.highest_risk, "share"),
        Quantity(row.average_risk, "share"),
        Quantity(row.n_classes, "count"),
        Quantity(row.loss),
        Quantity(row.n_suppressed, "count"),
        "yes" if row.verified else "NO",
    )


def _link_row(row: ComparedRun) -> tuple[CellContent, ...]:
    found: CellContent = "no link" if row.persons_found is None else Quantity(row.persons_found, "share")
    return (Quantity(row.k, "count"), row.line, found, Quantity(row.loss), Quantity(row.n_suppressed, "count"))


def _sections_on_columns(compared: Comparison) -> Iterator[Section]:
    rows = tuple(
        row_of(
            Quantity(row.k, "count"),
            row.line,
            *(Quantity((row.loss_by_column or {}).get(name), "share") for name in compared.quasi_identifiers),
        )
        for row in compared.rows
        if row.is_feasible
    )
    if rows:
        table = Table("Loss by column (set-NCP)", ("k", "run", *map(Data, compared.quasi_identifiers)), rows)
        titles = ("k", "run", *map(Data, compared.quasi_identifiers))
        counts = (_row_of_counts(row, compared.quasi_identifiers) for row in compared.rows if row.is_feasible)
        counted = Table("Distinct cells by column", titles, tuple(counts), "Besides * and missing cells.")
        yield Section("by_column", "What each column pays", (table, counted), "8.3 Mitigation")


def _row_of_counts(row: ComparedRun, names: Sequence[str]) -> tuple[CellContent, ...]:
    by_column = row.cells_by_column or {}
    counts = (Quantity(by_column[name].n_cells if name in by_column else None, "count") for name in names)
    return row_of(Quantity(row.k, "count"), row.line, *counts)
