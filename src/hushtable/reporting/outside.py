"""The report of a release for those who receive it: nothing that they could not count in the file themselves.

It is made from the published table, its claim and the few facts that an external manifest may hold. No objective,
trace, bound or loss is in it, no risk of a record, no measure by column of what was lost, nothing of other requests,
no count of what was suppressed, no reason, no row, and nothing of the input. No group of fewer than 11 records is
counted.

Counts that name nobody: no cell of a table tells of 1 to 10 records, nor can be worked out.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

import numpy as np

from hushtable.claims import Classes, Combinations, Matchings
from hushtable.models import KAnonymity
from hushtable.release import external_facts
from hushtable.reporting.document import (
    Block,
    CellContent,
    Chart,
    Code,
    Paragraph,
    Points,
    Quantity,
    Section,
    Table,
    facts_section,
)
from hushtable.reporting.released import CLAUSES, Released, closing_sections, describe_reference, section_on_tests
from hushtable.risk import size_bands
from hushtable.wording import join_names

MIN_RECORDS_SHOWN: Final = 11
"""Records of the smallest cell that may be shown: the rule of the US Centers for Medicare and Medicaid Services."""


def merge_bands(labels: Sequence[str], records: Sequence[int]) -> tuple[tuple[str, int], ...]:
    """Merge neighbouring bands until each holds enough records; of none where all records together are too few.

    Nothing is left out, so that no total tells what is not shown.

    >>> merge_bands(["5 to 9", "10 to 19", "20 to 49"], [7, 30, 25])
    (('5 to 19', 37), ('20 to 49', 25))
    """
    bands: list[tuple[str, int]] = []
    for label, n in zip(labels, records, strict=True):
        if n and bands and bands[-1][1] < MIN_RECORDS_SHOWN:
            bands[-1] = _merge_pair(bands[-1], (label, n))
        elif n:
            bands.append((label, n))
    if len(bands) > 1 and bands[-1][1] < MIN_RECORDS_SHOWN:
        bands[-2:] = [_merge_pair(*bands[-2:])]
    return tuple(bands) if bands and bands[0][1] >= MIN_RECORDS_SHOWN else ()


def _merge_pair(first: tuple[str, int], second: tuple[str, int]) -> tuple[str, int]:
    begin, end = first[0].partition(" to ")[0], second[0].rpartition(" to ")[2]
    return f"{begin} to {end}", first[1] + second[1]


_COLUMN_FACTS: Final = ("name", "role", "kind", "how")
"""Of what a codebook says of a column, what is told here: nothing that counts cells."""


def sections(released: Released) -> tuple[Section, ...]:
    """Return the sections of a release that was verified; VerificationError of one that was not."""
    released.check_verified()
    facts = external_facts(released.facts)
    return (
        _summary(released),
        _section_on_request(released, facts),
        _section_on_data(released),
        _section_on_risk_after(released),
        *closing_sections(released, section_on_tests(released, is_external=True), _section_on_reproduction(released)),
    )


def _summary(released: Released) -> Section:
    claim, n_records, vouched = released.claim, released.published.n_records, released.verdict.vouched
    reference = _describe_reference(released)
    changed = "coarsened" if isinstance(claim, (Combinations, Classes, Matchings)) else "masked"
    return facts_section(
        (
            f"All that the table can show was judged from it and holds; {join_names(tuple(vouched))}: only its "
            f"publisher could judge that, and {next(iter(vouched.values()))}."
            if vouched
            else f"Every condition below was judged from the published table{reference} by its maker, and holds.",
            f"{_format_record_count(n_records)} with {len(released.names)} columns were released.",
            _describe_promise(released),
            f"Cells were {changed} as the columns below say; figures of it stay with those who made the table.",
        )
    )


def _describe_reference(released: Released) -> str:
    """Say what the table was judged beside, if not alone."""
    claim = released.claim
    compares = isinstance(claim, Classes) and claim.needs_original(released.names)
    return " and its original" if compares else describe_reference(claim)


def _describe_promise(released: Released) -> str:
    """Describe the promise in everyday words, if that is possible."""
    claim = released.claim
    k = max((model.k for model in claim.models if isinstance(model, KAnonymity)), default=1)
    if k < 2 or isinstance(claim, Combinations):
        return f"The table promises {claim.sentence}."
    whom = "records" if released.person is None else "persons"
    of = "one record of a person" if released.person else "a record"
    linked = (
        f" Column {released.person} links the records of a person: a reader who knows several of them may be right "
        "more often."
        if released.linkage and not any(model.needs.histories for model in claim.models)
        else ""
    )
    return (
        f"At least {k} {whom} share each record's cells of {join_names(claim.columns)}. A reader who knows only these "
        f"columns of {of} is right in at most 1 of {k} guesses which record is theirs.{linked} "
        f"In full, the table promises {claim.sentence}."
    )


def _format_record_count(n: int) -> str:
    return "Fewer than 11 records" if n < MIN_RECORDS_SHOWN else f"{n:,} records"


def _section_on_request(released: Released, facts: Mapping[str, Any]) -> Section:
    blocks: list[Block] = [
        *_describe_attacker(released),
        Points(released.claim.conditions),
    ]
    if accepted := facts.get("accepted"):
        blocks.append(Paragraph(f"Published as they are, and taken for known to nobody: {join_names(accepted)}."))
    if hidden := facts.get("pseudonymized"):
        blocks.append(Paragraph(f"Keyed pseudonyms stand for the cells of {join_names(hidden)}."))
    if drawn := facts.get("fresh"):
        blocks.append(Paragraph(f"Every record has a new pseudonym in {join_names(drawn)}: it links no two records."))
    if facts.get("replaces_earlier"):
        blocks.append(Paragraph("It replaces an earlier release, which nobody may have beside it.", "careful"))
    return Section("asked", "What was asked", tuple(blocks), CLAUSES["asked"])


def _describe_attacker(released: Released) -> Iterator[Block]:
    if isinstance(released.claim, (Classes, Matchings)):
        yield Paragraph(
            f"Assumed attacker: knows {join_names(released.claim.columns)} of a person, and no other column "
            "of the table."
        )


def _section_on_data(released: Released) -> Section:
    columns = [{name: str(each.get(name, "")) for name in _COLUMN_FACTS} for each in released.columns]
    rows = tuple(tuple(each[name] for name in _COLUMN_FACTS) for each in columns)
    table = Table("Columns", ("column", "role", "kind", "what was done"), rows)
    return Section("data", "What the data are", (table,), CLAUSES["data"])


def _section_on_risk_after(released: Released) -> Section:
    """Report the sizes of classes as shares, which reveal no single count."""
    blocks: list[Block] = [Points(tuple(f"holds: {each}" for each in released.verdict.held))]
    if isinstance(released.claim, (Classes, Matchings)):
        blocks += _blocks_on_class_sizes(released)
    return Section("risk_after", "Who can still be found", tuple(blocks), CLAUSES["risk_after"])


def _blocks_on_class_sizes(released: Released) -> Iterator[Block]:
    sizes, n_classes = _count_class_sizes(released)
    labels, (records,) = size_bands(dict(zip(sizes, n_classes, strict=True)))
    bands = merge_bands(labels, records)
    total = sum(n for _, n in bands)
    if not bands:
        return
    shares = [round(n / total, 2) for _, n in bands]
    rows = tuple((band, _round_share(share, n == total)) for (band, n), share in zip(bands, shares, strict=True))
    note = "In whole per cent of the records that are in classes; bands of fewer than 11 records are joined to others."
    yield Table("How many share one record's published cells", ("records that do", "share"), rows, note)
    data = {"bands": [band for band, _ in bands], "shares": {"published": shares}}
    yield Chart("class_sizes", "How large the classes of equal published cells are", data)


def _round_share(share: float, is_all: bool) -> CellContent:
    """Format a rounded share; some of the records are never shown as none or all of them."""
    if share <= 0:
        return "under 1 %"
    return "over 99 %" if share >= 1 and not is_all else Quantity(share, "share")


def _count_class_sizes(released: Released) -> tuple[list[int], list[int]]:
    sizes, n_classes = np.unique(released.grouped.records, return_counts=True)
    return sizes.tolist(), n_classes.tolist()


def _section_on_reproduction(released: Released) -> Section:
    rows = [("hushtable", version("hushtable"))]
    if released.digest:
        rows.append((f"SHA-256 of {released.file}", released.digest))
    blocks: list[Block] = [Table("Made by", ("what", "which"), tuple(rows))]
    if released.file:
        blocks.append(Code("Judge the file again", f"hushtable verify {shlex.quote(released.file)}"))
    return Section("reproduce", "How to check it", tuple(blocks), CLAUSES["reproduce"])
