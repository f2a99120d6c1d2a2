"""The report of a table in which some columns were made independent of others, for those who make it."""

from __future__ import annotations

from collections.abc import Iterator

from hushtable.masking import MaskedRelease, MaskingTradeoff
from hushtable.reporting.document import (
    Block,
    Chart,
    Paragraph,
    Points,
    Quantity,
    Section,
    Table,
    facts_section,
    format_share,
)
from hushtable.reporting.inside import section_on_reproduction
from hushtable.reporting.released import CLAUSES, Released, closing_sections, section_on_tests
from hushtable.wording import join_names


def sections(release: MaskedRelease, released: Released) -> tuple[Section, ...]:
    """Return the sections of a masked table."""
    return (
        facts_section(release.facts),
        _section_on_changes(release),
        _section_on_guesses(release, released),
        *closing_sections(released, section_on_tests(released), section_on_reproduction(released)),
    )


def _section_on_changes(release: MaskedRelease) -> Section:
    stars = release.stars_by_column
    data = {
        "names": list(stars),
        "values": [n / release.n_records for n in stars.values()],
        "label": "share of cells masked",
    }
    most = max(stars, key=lambda name: stars[name])
    rows = tuple((name, Quantity(n, "count"), Quantity(n / release.n_records, "share")) for name, n in stars.items())
    blocks = (
        Table("Masked cells", ("column", "stars", "share"), rows),
        Chart("bars", f"{most} paid most: {format_share(stars[most] / release.n_records)} of its cells", data),
    )
    return Section("done", "What was done", blocks, CLAUSES["done"])


def _section_on_guesses(release: MaskedRelease, released: Released) -> Section:
    rows = tuple(
        (
            each.column,
            Quantity(each.n_masked, "count"),
            Quantity(each.right_rate, "share"),
            Quantity(each.restored_rate, "share"),
        )
        for each in release.guesses
    )
    blocks: list[Block] = [Points(released.verdict.facts[1:])]
    if rows:
        titles = ("column", "masked cells", "guessed right", "hidden information restored")
        note = "By a weak reader, from the columns that are kept as they are; a stronger one gets back more."
        blocks.append(Table("What other columns give back", titles, rows, note))
    return Section("risk_after", "What can still be guessed", tuple(blocks), CLAUSES["risk_after"])


def sections_on_tradeoff(tradeoff: MaskingTradeoff) -> tuple[Section, ...]:
    """Return the sections of stars against kept correlation."""
    return (Section("summary", "In short", tuple(_blocks_on_tradeoff(tradeoff)), CLAUSES["utility"]),)


def _blocks_on_tradeoff(tradeoff: MaskingTradeoff) -> Iterator[Block]:
    points = tradeoff.points
    yield Paragraph(f"{join_names(tradeoff.a)} made independent of clusters of {join_names(tradeoff.b)}.")
    yield from (Paragraph(f"{note}.") for note in tradeoff.notes)
    data = {
        "clusters": [each.clusters for each in points],
        "stars": [each.n_stars for each in points],
        "kept": [each.bc_after for each in points],
        "label": "correlation of the cluster and C",
    }
    yield Chart("tradeoff", "More clusters keep more of a correlation, and cost stars", data)
    rows = tuple(
        (
            Quantity(each.clusters, "count"),
            Quantity(each.n_stars, "count"),
            Quantity(each.share_kept, "share"),
            Quantity(each.bc_after),
        )
        for each in points
    )
    yield Table("By the number of clusters", ("clusters", "stars", "cells kept", "correlation of cluster and C"), rows)
