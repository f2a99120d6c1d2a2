"""The reports of attackers who know roughly, who have another table, or an earlier release."""

from __future__ import annotations

from hushtable.claims import Classes
from hushtable.errors import HushError, InputError
from hushtable.release import MOST_ATTACKED, Release
from hushtable.reporting.document import (
    Block,
    CellContent,
    KeyFigure,
    KeyFigures,
    Paragraph,
    Points,
    Quantity,
    Section,
    Table,
    blocks_of,
    row_of,
)
from hushtable.reporting.released import Released, and_
from hushtable.risk import JoinRisk, Linked, Linking, OwnAttack, OwnAttacks, Unicity, attack_written

_TESTING = "8.2.3 Adversarial testing"


def of_unicity(found: Unicity) -> tuple[Section, ...]:
    """Return the sections of who is found by a few records."""
    most = max(found.known, key=lambda each: each.rate)
    roughly = [f"{name} within {amount}" for name, amount in found.tolerance.items()]
    rows = tuple(
        (str(each.n_known), Quantity(each.n_trials, "count"), Quantity(each.n_found, "count"),
         Quantity(each.rate, "share"), Quantity(each.interval[0], "share"), Quantity(each.interval[1], "share"),
         Quantity(each.n_few, "count"), Quantity(each.n_right, "count"))
        for each in found.known
    )  # fmt: skip
    titles = ("records known", "persons looked for", "found", "share", "at least", "at most", "among few", "right")
    figures = (
        KeyFigure("persons found", Quantity(most.rate, "share"), f"by {most.n_known} of their records"),
        KeyFigure("persons", Quantity(found.n_persons, "count"), f"with {found.n_records:,} records"),
    )
    blocks = blocks_of(
        Paragraph(f"{found.headline} Known of a record: {and_((*found.items, *roughly))}."), KeyFigures(figures)
    )
    note = f"Among few: among fewer than {most.few} persons whom the records fit. The interval is Wilson's, 95 %."
    return (
        Section("summary", "In short", blocks),
        Section("known", "By how many records", (Table("Persons found", titles, rows, note),), _TESTING),
    )


def of_linking(found: Linking) -> tuple[Section, ...]:
    """Return the sections of who is found by another table."""
    sides = [("outside table", found.found), *([("control", found.control)] if found.control else [])]
    rows = tuple(_linked(what, each) for what, each in sides)
    titles = ("table", "records", "fit one record", "right", "fit one class", "right", "fit few", "fit none")
    blocks: list[Block] = [Table("What outside records fit", titles, rows, f"Compared: {and_(found.on)}.")]
    if found.excess_interval is not None:
        low, high = found.excess_interval
        shares = (Quantity(found.excess, "share"), Quantity(low, "share"), Quantity(high, "share"))
        beyond = (row_of("share beyond the control", *shares),)
        blocks.append(Table("Against people who are not in the release", ("", "share", "at least", "at most"), beyond))
    else:
        blocks.append(Paragraph("No control was given: nothing says how many links come by chance.", "careful"))
    return (
        Section("summary", "In short", (Paragraph(found.headline),)),
        Section("links", "Who has another table", tuple(blocks), _TESTING),
    )


def _linked(what: str, each: Linked) -> tuple[CellContent, ...]:
    counts = (each.n_records, each.n_one_record, each.n_right, each.n_one_class, each.n_right_class, each.n_few)
    return row_of(what, *(Quantity(n, "count") for n in (*counts, each.n_lost)))


def of_join(found: JoinRisk) -> tuple[Section, ...]:
    """Return the sections of what two published tables tell together."""
    rows = (
        ("the content in the other table is known", Quantity(found.n_rebuilt, "count"),
         Quantity(found.n_rebuilt_right, "count")),
        ("alone with one record of the other table", Quantity(found.n_alone, "count"),
         Quantity(found.n_alone_right, "count")),
        ("fit no record of the other table", Quantity(found.n_lost, "count"), Quantity(None)),
    )  # fmt: skip
    table = Table("Records of the first table", ("", "records", "right"), rows, f"Joined on {and_(found.on)}.")
    return (
        Section("summary", "In short", (Paragraph(found.headline),)),
        Section("join", "What two tables tell together", (table,), _TESTING),
    )


def of_attacks(found: OwnAttacks) -> tuple[Section, ...]:
    """Return the sections of attacks on one's own release; they name witnesses, and are for insiders."""
    return Section("summary", "In short", (Paragraph(found.headline),)), _tried(found)


def of_release(release: Release | Released) -> Section:
    """Return the section of attacks on a release, in memory or read back, that its internal report has."""
    try:
        if isinstance(release, Release):
            return _tried(release.attack())
        assert isinstance(release.claim, Classes)
        if release.published.counts is not None and release.published.n_records > MOST_ATTACKED:
            raise InputError("attacks look at records one by one.", hint="attack a release of a part of them.")
        return _tried(attack_written(release.published, release.claim, original=release.original))
    except HushError as error:
        # What the report says of the release otherwise is not lost to an attack that cannot be tried.
        told = f"The attacks could not be tried ({type(error).__name__}): nothing is known of them."
        return Section("attacks", "Attacks on the release", (Paragraph(told, "careful"),), _TESTING)


def _tried(found: OwnAttacks) -> Section:
    titles = ("attack", "column", "targets", "found", "share", "by chance", "right")
    rows = tuple(_row(each) for each in found.attacks)
    blocks: list[Block] = [
        Paragraph(found.headline, "careful" if found.fell else "plain"),
        *([Table("What each attack finds", titles, rows)] if rows else []),
    ]
    advice = dict.fromkeys(f"{each.name}: {each.advice}" for each in found.attacks if each.fell)
    if advice:
        blocks.append(Points(tuple(advice)))
    seen = tuple(
        (each.name, each.column or "", str(witness.number), Quantity(witness.n_records, "count"),
         Quantity(witness.n_found, "count"))
        for each in found.attacks for witness in each.witnesses
    )  # fmt: skip
    if seen:
        note = "Numbers are drawn anew for every report: they name a class in this one only."
        blocks.append(Table("Some classes", ("attack", "column", "class", "records", "found"), seen, note))
    if found.untried:
        blocks.append(Paragraph("Not tried, so nothing is known of them:", "careful"))
        blocks.append(Points(tuple(f"{name}: {why}" for name, why in found.untried.items())))
    return Section("attacks", "Attacks on the release", tuple(blocks), _TESTING)


def _row(each: OwnAttack) -> tuple[CellContent, ...]:
    counts = (Quantity(each.n_targets, "count"), Quantity(each.n_found, "count"), Quantity(each.rate, "share"))
    return each.name, each.column or "", *counts, Quantity(each.control_rate, "share"), Quantity(each.n_right, "count")
