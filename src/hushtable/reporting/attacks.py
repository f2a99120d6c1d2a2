"""The reports of attackers who know roughly, who have another table, or an earlier release."""

from __future__ import annotations

from hushtable.claims import Classes
from hushtable.errors import HushError, InputError
from hushtable.policy import attack_file
from hushtable.release import MOST_ATTACKED, Release
from hushtable.reporting.document import (
    Block,
    CellContent,
    Paragraph,
    Quantity,
    Section,
    Table,
    facts_section,
    row_of,
)
from hushtable.reporting.released import Released
from hushtable.risk import JoinRisk, Linked, LinkedPersons, Linking, OwnAttack, OwnAttacks, Unicity
from hushtable.wording import join_names

_TESTING = "8.2.3 Adversarial testing"


def sections_on_unicity(result: Unicity) -> tuple[Section, ...]:
    """Return the sections of who is found by a few records."""
    is_scored = result.eccentricity is not None
    rows: tuple[tuple[CellContent, ...], ...] = tuple(
        (str(each.n_known), Quantity(each.n_trials, "count"), Quantity(each.n_found, "count"),
         Quantity(each.rate, "share"), Quantity(each.interval[0], "share"), Quantity(each.interval[1], "share"),
         Quantity(each.n_few, "count"), Quantity(each.n_right, "count"), Quantity(each.n_best, "count"))
        for each in result.known
    )  # fmt: skip
    titles = (
        "records known", "persons looked for", "found", "share", "at least", "at most", "among few", "right",
        "highest alone",
    )  # fmt: skip
    few = result.known[0].few
    note = f"Among few: among fewer than {few} persons whom the records fit. The interval is Wilson's, 95 %."
    if is_scored:
        note = (
            f"Among few: fewer than {few} persons score within the limit of the highest. Highest alone: nobody else "
            "has the highest score, by whatever margin. The interval is Wilson's, 95 %."
        )
    n_columns = len(titles) if is_scored else len(titles) - 1
    table = Table("Persons found", titles[:n_columns], tuple(row[:n_columns] for row in rows), note)
    return (Section("known", "By how many records", (table,), _TESTING),)


def sections_on_linking(result: Linking) -> tuple[Section, ...]:
    """Return the sections of who is found by another table."""
    sides = [("outside table", result.found), *([("control", result.control)] if result.control else [])]
    rows = tuple(_link_row(what, each) for what, each in sides)
    titles = ("table", "records", "fit one record", "right", "fit one class", "right", "fit few", "fit none")
    blocks: list[Block] = [Table("What outside records fit", titles, rows, f"Compared: {join_names(result.on)}.")]
    persons = [("outside table", result.persons), ("control", result.control_persons)]
    person_rows = tuple(_person_row(what, each) for what, each in persons if each is not None)
    if person_rows:
        titles = ("table", "persons", "linked", "share", "right", "highest alone", "few within the limit", "fit none")
        note = f"Linked: the highest score is {result.eccentricity:g} standard deviations above the second highest."
        blocks.append(Table("What all records of a person fit", titles, person_rows, note))
    if result.excess_interval is not None:
        low, high = result.excess_interval
        shares = (Quantity(result.excess, "share"), Quantity(low, "share"), Quantity(high, "share"))
        beyond = (row_of("share beyond the control", *shares),)
        blocks.append(Table("Against people who are not in the release", ("", "share", "at least", "at most"), beyond))
    return (Section("links", "Who has another table", tuple(blocks), _TESTING),)


def _link_row(what: str, each: Linked) -> tuple[CellContent, ...]:
    counts = (each.n_records, each.n_one_record, each.n_right, each.n_one_class, each.n_right_class, each.n_few)
    return row_of(what, *(Quantity(n, "count") for n in (*counts, each.n_lost)))


def _person_row(what: str, each: LinkedPersons) -> tuple[CellContent, ...]:
    counts = (Quantity(n, "count") for n in (each.n_right, each.n_best, each.n_few, each.n_lost))
    return row_of(
        what, Quantity(each.n_persons, "count"), Quantity(each.n_found, "count"), Quantity(each.rate, "share"), *counts
    )


def sections_on_join(result: JoinRisk) -> tuple[Section, ...]:
    """Return the sections of what two published tables tell together."""
    rows = (
        ("the content in the other table is known", Quantity(result.n_rebuilt, "count"),
         Quantity(result.n_rebuilt_right, "count")),
        ("alone with one record of the other table", Quantity(result.n_alone, "count"),
         Quantity(result.n_alone_right, "count")),
        ("fit no record of the other table", Quantity(result.n_lost, "count"), Quantity(None)),
    )  # fmt: skip
    table = Table("Records of the first table", ("", "records", "right"), rows, f"Joined on {join_names(result.on)}.")
    return (Section("join", "What two tables tell together", (table,), _TESTING),)


def sections_on_attacks(found: OwnAttacks) -> tuple[Section, ...]:
    """Return the sections of attacks on one's own release; they name witnesses, and are for insiders."""
    return (Section("attacks", "Attacks on the release", _tables(found), _TESTING),)


def section_on_release(release: Release | Released) -> Section:
    """Return the section of attacks on a release, in memory or read back, that its internal report has."""
    try:
        if isinstance(release, Release):
            return _section_on_attacks(release.attack())
        assert isinstance(release.claim, Classes)
        if release.published.counts is not None and release.published.n_records > MOST_ATTACKED:
            raise InputError("attacks look at records one by one.", hint="attack a release of a part of them.")
        found = attack_file(release.published, release.claim, release.facts, original=release.original)
        return _section_on_attacks(found)
    except HushError as error:
        # An attack that cannot be tried must not cost the rest of the report.
        told = f"The attacks could not be tried ({type(error).__name__}): nothing is known of them."
        return Section("attacks", "Attacks on the release", (Paragraph(told, "careful"),), _TESTING)


def _section_on_attacks(found: OwnAttacks) -> Section:
    return Section("attacks", "Attacks on the release", (*facts_section(found.facts).blocks, *_tables(found)), _TESTING)


def _tables(result: OwnAttacks) -> tuple[Block, ...]:
    titles = ("attack", "column", "targets", "found", "share", "by chance", "right")
    rows = tuple(_attack_row(each) for each in result.attacks)
    blocks: list[Block] = [Table("What each attack finds", titles, rows)] if rows else []
    witness_rows = tuple(
        (each.name, each.column or "", str(witness.number), Quantity(witness.n_records, "count"),
         Quantity(witness.n_found, "count"))
        for each in result.attacks for witness in each.witnesses
    )  # fmt: skip
    if witness_rows:
        note = "Numbers are drawn anew for every report: they name a class in this one only."
        blocks.append(Table("Some classes", ("attack", "column", "class", "records", "found"), witness_rows, note))
    return tuple(blocks)


def _attack_row(each: OwnAttack) -> tuple[CellContent, ...]:
    counts = (Quantity(each.n_targets, "count"), Quantity(each.n_found, "count"), Quantity(each.rate, "share"))
    return each.name, each.column or "", *counts, Quantity(each.control_rate, "share"), Quantity(each.n_right, "count")
