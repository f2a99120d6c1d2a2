"""The report of a perturbed table, for those who make it."""

from __future__ import annotations

from typing import Final, Literal

from hushtable.perturbation import TITLES, PerturbationTradeoff, PerturbedRelease
from hushtable.reporting.document import Block, CellContent, Chart, Paragraph, Quantity, Section, Table, facts_section
from hushtable.reporting.inside import section_on_reproduction
from hushtable.reporting.released import CLAUSES, Released, closing_sections, section_on_tests

_LINKAGE_NOTE: Final = (
    "Released records whose nearest original record on the perturbed columns is their own, ties shared: up to "
    "1,000 among up to 20,000 records."
)


def sections(release: PerturbedRelease, released: Released) -> tuple[Section, ...]:
    """Return the sections of a perturbed table."""
    tests = section_on_tests(released) if released.quasi_identifiers else _section_on_tests(release)
    return (
        facts_section(release.facts),
        _section_on_loss(release),
        _section_on_risk(release),
        *closing_sections(released, tests, section_on_reproduction(released)),
    )


def sections_on_tradeoff(tradeoff: PerturbationTradeoff) -> tuple[Section, ...]:
    """Return what several methods lose and leave."""
    possible = [point for point in tradeoff.points if point.reason is None]
    rows = tuple(
        (
            point.method,
            point.claim or "",
            _figure(point.linkage, "share"),
            _figure(point.sse_share, "share"),
            _figure(point.correlation_shift),
            _figure(point.changed_rate, "share"),
        )
        for point in possible
    )
    data = {
        "names": [point.method for point in possible],
        "values": [point.linkage or 0.0 for point in possible],
        "label": "share of records linked to their own",
    }
    blocks: tuple[Block, ...] = (
        Table("Loss and linkage by method", TITLES, rows, _LINKAGE_NOTE),
        Chart("bars", "Records linked to their own, by method", data),
    )
    return (Section("utility", "Loss against linkage", blocks, CLAUSES["utility"]),)


def _section_on_loss(release: PerturbedRelease) -> Section:
    rows = tuple(
        (each.column, Quantity(each.changed_rate, "share"), _figure(each.sse_share, "share"), _figure(each.il1s))
        for each in release.losses
    )
    data = {
        "names": [each.column for each in release.losses],
        "values": [each.changed_rate for each in release.losses],
        "label": "share of cells changed",
    }
    titles = ("column", "cells changed", "sum of squares lost", "IL1s")
    blocks: list[Block] = [
        Paragraph(f"Claim: {release.claim.sentence}."),
        Table("Loss by column", titles, rows),
        Chart("bars", "Cells changed, by column", data),
    ]
    pairs = tuple(
        (
            " and ".join(each.columns),
            Quantity(each.before),
            Quantity(each.after),
            Quantity(each.rank_before),
            Quantity(each.rank_after),
        )
        for each in release.pairs
    )
    if pairs:
        of_pairs = ("columns", "correlation", "after", "rank correlation", "ranks after")
        blocks.append(Table("Loss by pair", of_pairs, pairs))
    return Section("done", "What was done", tuple(blocks), CLAUSES["done"])


def _section_on_risk(release: PerturbedRelease) -> Section:
    rows: list[tuple[CellContent, ...]] = [
        ("original", _figure(release.linkage_before, "share")),
        ("this release", _figure(release.linkage, "share")),
    ]
    if release.mdav:
        rows.append(("MDAV, k = 3", Quantity(release.mdav["linkage"], "share")))
    blocks = (Table("Records that are linked", ("table", "linked"), tuple(rows), _LINKAGE_NOTE),)
    return Section("risk_after", "What can still be linked", blocks, CLAUSES["risk_after"])


def _section_on_tests(release: PerturbedRelease) -> Section:
    """Report what the three tests find of a table that only states what was done."""
    linked = "" if release.linkage is None else f"{release.linkage:.1%} of the records are linked to their own."
    rows = (
        ("Singling out: can a person's records be isolated?", linked, "Singling out by columns that are kept."),
        (
            "Linkability: can records of one person be linked?",
            linked,
            "Links by the rule of the method, if it is known.",
        ),
        ("Inference: can a value be deduced?", "", "What other columns say of the true cells."),
    )
    blocks = (Table("Three tests", ("test", "measured", "not measured"), rows),)
    return Section("tests", "Singling out, linkability, inference", blocks, CLAUSES["tests"])


def _figure(value: float | None, unit: Literal["share", "number"] = "number") -> CellContent:
    return "" if value is None else Quantity(value, unit)
