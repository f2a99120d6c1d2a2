"""The report of a perturbed table, for those who make it."""

from __future__ import annotations

from typing import Literal

from hushtable.perturbation import PerturbedRelease
from hushtable.reporting.document import Block, CellContent, Chart, Paragraph, Quantity, Section, Table
from hushtable.reporting.released import CLAUSES


def sections(release: PerturbedRelease) -> tuple[Section, ...]:
    """Return what was lost, and what can still be linked."""
    return (_section_on_loss(release), _section_on_risk(release))


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
    note = (
        "Released records whose nearest original record on the perturbed columns is their own, ties shared: up to "
        "1,000 among up to 20,000 records."
    )
    blocks = (Table("Records that are linked", ("table", "linked"), tuple(rows), note),)
    return Section("risk_after", "What can still be linked", blocks, CLAUSES["risk_after"])


def _figure(value: float | None, unit: Literal["share", "number"] = "number") -> CellContent:
    return "" if value is None else Quantity(value, unit)
