"""The facts behind a report of a release, and the sections that all such reports share.

It stands on the table as its readers see it, its claim, and what is known besides. All say the three tests, what is not
protected, and who signs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushtable.claims import (
    Claim,
    Classes,
    Combinations,
    Grouped,
    HistoryClaim,
    Linkage,
    Matchings,
    Verdict,
    group_rows,
    measure_claim_linkage,
    open_release,
    select_for_claim,
)
from hushtable.engines import collapse_original
from hushtable.errors import HushError, InputError, VerificationError
from hushtable.io import Frame, drafts, frames, is_many
from hushtable.masking import MaskedRelease
from hushtable.perturbation import PerturbedRelease
from hushtable.policy import Policy, describe_exposure_limit
from hushtable.release import Exposure, Release, codebook_paths, describe_release, manifest
from hushtable.reporting.document import Form, Paragraph, Points, Section, Table
from hushtable.tables import Table as CodedTable
from hushtable.wording import join_names

MOST_LOOKED_AT: Final = 50_000
"""Records that are looked at for the reasons of roles."""

CLAUSES: Final = {
    "asked": "6 Context assessment",
    "data": "7.2 Data features",
    "risk_before": "7.3 Attack modelling; 8.2.2 Quantifying identifiability",
    "done": "8.3 Mitigation",
    "risk_after": "8.3 Mitigation, measured again as in 8.2.2",
    "utility": "8.3 Mitigation",
    "told": "8.3 Mitigation",
    "tests": "8.2.3 Adversarial testing",
    "unprotected": "8.2.3 Adversarial testing",
    "reproduce": "9 Governance",
    "decision": "9 Governance",
}
"""The clauses of ISO/IEC 27559:2022 that sections speak to; following their order is no claim of conformity."""


def describe_reference(claim: Claim) -> str:
    """Describe which data a claim is judged against, besides the published table."""
    if isinstance(claim, Matchings):
        return " beside the original one"
    if isinstance(claim, Classes) and any(model.needs.population for model in claim.models):
        return " and the population"
    return ""


def section_on_tests(released: Released, *, is_external: bool = False) -> Section:
    """Report by the three tests of WP29's Opinion 05/2014 what was measured, and what was not."""
    claim, columns = released.claim, join_names(released.quasi_identifiers)
    measured = " and ".join(claim.conditions)
    if isinstance(claim, (Classes, Combinations, Matchings)):
        rows = (
            (
                "Singling out: can a person's records be isolated?",
                f"Judged from the published cells of {columns}{describe_reference(claim)}: {measured}.",
                "Singling out by columns that are kept as they are, for someone who knows them after all; by several "
                "releases of the same people together.",
            ),
            (
                "Linkability: can records of one person be linked?",
                _describe_linkage(released, is_external=is_external),
                "Links by any other column, and to other tables: no linkage attack was run.",
            ),
            (
                "Inference: can a value be deduced?",
                _describe_inference(released),
                "What a model trained on the release guesses of people, in it or not; no inference attack was run.",
            ),
        )  # fmt: skip
    else:
        nothing = "Not measured: the method hides a correlation, not people."
        rows = (
            ("Singling out: can a person's records be isolated?", nothing, "Singling out by any column."),
            ("Linkability: can records of one person be linked?", nothing, "Links by any column."),
            ("Inference: can a value be deduced?", f"Judged from the published cells: {measured}.",
             "What other columns, or other data, say of what is hidden."),
        )  # fmt: skip
    blocks = (
        Paragraph(
            "The Article 29 Working Party's Opinion 05/2014 asks three questions of a technique. A table that leaves "
            "one of them open needs a full analysis of its risks by people."
        ),
        Table("Three tests", ("test", "measured", "not measured"), rows),
    )
    return Section("tests", "Singling out, linkability, inference", blocks, CLAUSES["tests"])


def _describe_linkage(released: Released, *, is_external: bool) -> str:
    """Describe how many records a link by quasi-identifiers meets, if it is sure to meet several."""
    columns, n = join_names(released.quasi_identifiers), released.verdict.smallest_class
    if not released.is_counted and released.verdict.complete_for_receiver:
        return (
            f"A link by {columns} meets the records of a whole class. That they are several persons' only the "
            "publisher could count."
        )
    if not released.is_counted:
        return "Not known: whose record a row is stands in the original, which was not given."
    if isinstance(released.claim, (Combinations, Matchings)) or n < 2:
        return f"A link by {columns} may meet one record: the condition above does not ask for several."
    if released.person is None:
        return (
            f"A link by {columns} meets the records of a whole class. A person may have several of them: nobody said "
            "whose record a row is."
        )
    first = f"A link by {columns} of one record meets the persons of a whole class, never one."
    linkage = released.linkage
    if not released.links:
        return f"{first} No published column says which records are one person's."
    if linkage is None:
        return f"{first} Column {released.person} links the records of a person; nobody has several."
    if isinstance(released.claim, HistoryClaim):
        asked = [model.name for model in released.claim.models if model.needs.histories]
        if released.claim.counted_unit == "household":
            return (
                f"A link by {columns} of one record meets the households of a whole class, never one. Column "
                f"{released.person} links the members of a household; {join_names(asked)} was judged from the "
                f"published cells: {released.claim.sentence}. {released.claim.of_left_out}"
            )
        return (
            f"{first} Column {released.person} links the records of a person; {join_names(asked)} was judged from the "
            f"published cells: {released.claim.sentence}. {released.claim.of_left_out}"
        )
    if is_external:
        return (
            f"{first} Column {released.person} links the records of a person: a reader who knows several of them "
            "may find the person."
        )
    return f"{first} Column {released.person} links the records of a person: {'; '.join(linkage.lines()[1:])}."


def _describe_inference(released: Released) -> str:
    """Describe the condition on each sensitive column."""
    if not released.sensitive:
        return "No column was declared sensitive: nothing was measured."
    claim = released.claim
    assert isinstance(claim, (Classes, Combinations, Matchings))
    judged = {name for model in claim.models for name in model.needs.sensitive}
    asked = [each for each, model in zip(claim.conditions, claim.models, strict=False) if model.needs.sensitive]
    free = [name for name in released.sensitive if name not in judged]
    parts = [f"Judged from the published cells: {join_names(asked)}."] if asked else []
    parts += [f"Of {join_names(free)}, no condition was asked."] if free else []
    return " ".join(parts)


def closing_sections(released: Released, tests: Section, reproduction: Section) -> tuple[Section, ...]:
    """Return the sections with which every report of a release ends."""
    return tests, _section_on_limitations(released), reproduction, _section_on_decision()


def _section_on_limitations(released: Released) -> Section:
    """Report what the release does not protect from."""
    claim = released.claim
    if not isinstance(claim, (Classes, Matchings)):
        points = [
            f"People: anyone who knows some columns of a person may find the record. {claim.sentence}.",
            "What is hidden may follow from other columns that are published as they are.",
        ]
        return Section("unprotected", "What is not protected", (Points(tuple(points)),), CLAUSES["unprotected"])
    named = {*claim.columns, *claim.sensitive, *claim.bound_columns}
    kept = [name for name in released.names if name not in named]
    points = [
        f"Someone who knows more than {join_names(claim.columns)} of a person: every other column is taken for unknown"
        + (f", {join_names(kept)} among them." if kept else "."),
        "Several releases together: what each of two tables of the same people hides, both side by side may show. "
        "Compare with what was released before.",
        "How the classes came about: a method that goes as far as its conditions allow shows a little of what stopped "
        "it. A margin makes that rarer. It does not end it. Fixed bands for all releases tell less.",
        "What everyone in a class has in common: who is known to be in a class is known to have what all of it have."
        if claim.sensitive
        else "Sensitive values: no column was declared sensitive, so nothing hides what a class has in common.",
        "Parts of the table: conditions hold for the whole of it, not for rows or columns taken out, or joined to "
        "others.",
    ]
    if released.person is None:
        points.append("Persons with several records: every row was taken for a person of its own.")
    points.append(
        "The law: whether the table is anonymous in its recipient's hands depends on what else is there, and is for "
        "people to decide."
    )
    return Section("unprotected", "What is not protected", (Points(tuple(points)),), CLAUSES["unprotected"])


def _section_on_decision() -> Section:
    """Return a form for those who decide."""
    form = Form(
        ("role", "name", "decision and conditions", "date, signature"), ("Prepared by", "Checked by", "Approved by")
    )
    return Section("decision", "Decision", (form,), CLAUSES["decision"])


_FACT_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "n_suppressed": int,
    "removed": list,
    "left_out": list,
    "pseudonymized": list,
    "fresh": list,
    "accepted": list,
    "exposure": (dict, type(None)),
    "quality": dict,
    "blanks": dict,
    "trace": dict,
    "policy": (dict, type(None)),
    "timelines": dict,
}
"""What a manifest may hold that reports tell, and of what type it is."""

_REQUIRED_ENTRIES: Final = {
    "trace": ("method",),
    "timelines": ("action", "columns"),
}
"""What such an entry has in it."""


@dataclass(frozen=True, eq=False)
class Released:
    """A release, read back, with all known facts.

    Attributes
    ----------
    published : Frame
        As a file has it, or as it would be written; of what is not in memory the distinct rows of the columns that are
        judged, with how many records each stands for.
    claim : Claim
    verdict : Verdict
        Of the published table.
    facts : mapping
        What is known besides: `Release.to_dict`, as a manifest holds it; of an external manifest, hardly anything.
    columns : tuple of mapping
        The columns as the codebook describes them.
    original : Frame, optional
    file : str, optional
        The name of the written file.
    digest : str, optional
        Its SHA-256.
    inputs : tuple of path
        The files that it was made from.
    sample : Frame, optional
        The first rows of the original, with all its columns, where its distinct rows stand for it.
    """

    published: Frame
    claim: Claim
    verdict: Verdict
    facts: Mapping[str, Any] = field(repr=False)
    columns: tuple[Mapping[str, Any], ...] = field(repr=False)
    original: Frame | None = field(repr=False)
    file: str | None = None
    digest: str | None = None
    inputs: tuple[Path, ...] = field(default=(), repr=False)
    sample: Frame | None = field(default=None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The published columns, in order, also those whose rows were not read."""
        return tuple(str(each["name"]) for each in self.columns)

    @property
    def policy(self) -> Mapping[str, Any]:
        """The policy's entries; empty if unknown."""
        return self.facts.get("policy") or {}

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that someone may know of a person, where classes or rows are judged."""
        return self.claim.columns if isinstance(self.claim, (Classes, Combinations, Matchings)) else ()

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that nobody may learn of a person."""
        return self.claim.sensitive if isinstance(self.claim, (Classes, Combinations, Matchings)) else ()

    @property
    def person(self) -> str | None:
        """The column that says whose record a row is."""
        return self.claim.person

    @property
    def is_counted(self) -> bool:
        """Whether the classes could be counted in the unit of the claim: persons, if rows belong to persons."""
        return self.person is None or self.links or self.verdict.complete

    @property
    def links(self) -> bool:
        """Whether a published column says which records are one person's."""
        is_fresh = self.claim.is_fresh
        return self.person is not None and self.person in self.published.columns and not is_fresh

    @cached_property
    def linkage(self) -> Linkage | None:
        """Whom several records find, counted in the published table; None without a link, or if nobody has several."""
        return measure_claim_linkage(self.claim, self.published) if self.links else None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The facts that come first, as for a release in memory, if classes or rows are judged."""
        assert isinstance(self.claim, (Classes, Combinations, Matchings))
        return describe_release(self.claim, self.verdict, self.names, self.facts)

    def check_verified(self) -> None:
        """Raise VerificationError where the table does not hold what it claims, or shows what was not judged."""
        self.verdict.raise_if_failed()
        if not self.verdict.complete_for_receiver:
            left = {name: needs for name, needs in self.verdict.unchecked.items() if name not in self.verdict.vouched}
            told = "; ".join(f"{condition}: {needs}" for condition, needs in left.items())
            raise VerificationError(
                f"not all that the release claims could be judged: {told}.",
                hint="outsiders see nothing that was not verified.",
            )

    @cached_property
    def grouped(self) -> Grouped:
        """The published rows by their cells of the quasi-identifiers."""
        suppressed = self.claim.suppressed
        return group_rows(self.published, self.quasi_identifiers, self.sensitive, suppressed)

    @cached_property
    def unsuppressed_rows(self) -> Frame:
        """The published rows that are not suppressed."""
        hidden = self.grouped.is_suppressed
        return self.published.take(np.flatnonzero(~hidden)) if hidden.any() else self.published


def from_release(
    release: Release,
    *,
    file: str | os.PathLike[str] | None = None,
    policy: Policy | None = None,
    verdict: Verdict | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> Released:
    """Gather the facts of a release; if its rows are not in memory, of its distinct rows with counts.

    Parameters
    ----------
    release : Release
    file : path, optional
        Where it was written.
    policy : Policy, optional
        What was asked for.
    verdict : Verdict, optional
        Of the written file, where it was judged a moment ago.
    inputs : sequence of path
        Files that it was made from, besides those that it knows.
    """
    name, digest = _name_and_hash(file)
    book, published = release.codebook.to_dict(name or "", external=False), release.counted.edition.frame()
    return Released(
        published.with_row_per_record() if release.origin is None else published,
        release.claim,
        verdict or release.verify(),
        {**release.to_dict(), "policy": None if policy is None else policy.to_dict()},
        tuple(book["columns"]),
        None if release.is_row_by_row else _frame_of_records(release.source),
        name,
        digest,
        _list_files(*release.inputs, *inputs),
        None if release.origin is None else release.origin.head(MOST_LOOKED_AT),
    )


def from_changed_table(
    release: MaskedRelease | PerturbedRelease,
    *,
    file: str | os.PathLike[str] | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> Released:
    """Gather the facts of a table in which columns were made independent, or perturbed."""
    name, digest = _name_and_hash(file)
    frame = release.edition.frame().with_row_per_record()
    return Released(
        frame,
        release.claim,
        release.verify(),
        release.to_dict(),
        tuple({"name": column, "role": _role_in_table(column, release)} for column in frame.columns),
        _frame_of_records(release.source),
        name,
        digest,
        _list_files(*release.inputs, *inputs),
    )


def from_file(
    path: str | os.PathLike[str],
    *,
    original: Any = None,
    policy: Policy | None = None,
) -> Released:
    """Gather the facts of a written release from its file, manifest and codebook.

    Parameters
    ----------
    path : path
    original : path or dataframe, optional
        What it was made from.
    policy : Policy, optional
        What was asked for, where the manifest does not say it; it also says how the original is read.

    Raises
    ------
    InputError
        There is no manifest, or the file or the original cannot be read.
    VerificationError
        The file is not the one that its manifest describes.
    """
    path = Path(path)
    facts = manifest.read(path)
    claim = manifest.claim_of(path)
    assert claim is not None
    _check_facts(path, facts)
    if original is not None:
        manifest.check_comparable(facts)
    table = open_release(path, manifest.dialect_of(path))
    frame = select_for_claim(claim, table)
    # The manifest counts the file's rows; suppressed records may have been dropped from it.
    n_dropped = facts.get("n_suppressed", 0) if claim.suppressed is None else 0
    facts = {**facts, "n_records": frame.n_records + n_dropped}
    source = sample = None
    if policy is not None:
        policy.check_agrees(claim)
        claim = claim.with_knowledge_of(policy.claim())
        # A release was made, and is attacked, as its manifest says; an external one does not say it.
        facts = {**facts, "policy": facts.get("policy") or policy.to_dict()}
    if original is not None:
        source, sample = _read_original(original, claim, policy)
    verdict = claim.verify(frame, original=source)
    asked = describe_exposure_limit(policy)
    verdict = manifest.judge_exposure(verdict, facts, table, claim, asked, original=source)
    compared = manifest.compare_with(verdict, path, table.columns, claim)
    # That a file is as its manifest says is no promise of the release: it is told only where it is not so.
    is_read = compared.passed and compared.unchecked == verdict.unchecked
    verdict = replace(verdict, vouched=compared.vouched) if is_read else compared
    book = codebook_paths(path)[1]
    columns = _read_columns(book, table.columns) if book.is_file() else _describe_columns(claim, table.columns)
    inputs = drafts.paths_among(original)
    return Released(frame, claim, verdict, facts, columns, source, path.name, facts["sha256"], inputs, sample)


def _read_original(original: Any, claim: Claim, policy: Policy | None) -> tuple[Frame, Frame | None]:
    """Read the original of a release; for a folder, its distinct rows, and its first rows as a sample."""
    told = claim.origins
    if not (isinstance(original, (str, os.PathLike)) and is_many(Path(original))):
        known = policy.open_table(original) if policy is not None else frames.read(original)
        return _frame_of_records(known).with_specs(told), None
    said = (None, None) if policy is None else (policy.read_as.dialect, policy.specs)
    rows, counted = collapse_original(original, claim, *said)
    if policy is not None:
        policy.check_covers(rows.names)
    return counted, rows.head(MOST_LOOKED_AT)


def _check_facts(path: Path, facts: Mapping[str, Any]) -> None:
    """Raise InputError if a manifest, which anybody may have edited, has entries that anonymize never writes."""
    odd = [name for name, kind in _FACT_TYPES.items() if name in facts and not isinstance(facts[name], kind)]
    odd += [name for name, within in _REQUIRED_ENTRIES.items() if facts.get(name) and name not in odd
            and any(each not in facts[name] for each in within)]  # fmt: skip
    odd += [name for name in ("removed", "left_out", "pseudonymized", "fresh", "accepted") if name not in odd
            and not all(isinstance(each, str) for each in facts.get(name, ()))]  # fmt: skip
    for name, read in (("exposure", Exposure.from_dict), ("timelines", _read_timelines)):
        try:
            if not odd and facts.get(name):
                read(facts[name])
        except (LookupError, TypeError, ValueError, AttributeError, HushError):
            odd = [name]
    if odd:
        raise InputError(
            f"the manifest {str(manifest.manifest_path(path))!r} says under {odd[0]!r} what cannot be read.",
            hint="it is written beside the release by anonymize; make the release again.",
        )


@contextmanager
def refuse_odd_entries(path: Path) -> Iterator[None]:
    """Raise InputError where entries of a manifest that the body tells of are not as anonymize writes them."""
    try:
        yield
    except HushError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InputError(
            f"the manifest {str(manifest.manifest_path(path))!r} says what cannot be told.",
            hint="it is written beside the release by anonymize; make the release again.",
        ) from error


def _read_timelines(entries: Mapping[str, object]) -> None:
    # Few releases have any, and a command loads what it runs.
    from hushtable.release import Timelines

    # Its sentences, too: they format figures that were read as they stood.
    tuple(Timelines.from_dict(entries).describe())


def _frame_of_records(source: Frame | CodedTable) -> Frame:
    return source.frame().with_row_per_record()


def _name_and_hash(file: str | os.PathLike[str] | None) -> tuple[str | None, str | None]:
    """Return the name and the hash of a written file, which must be the one that its manifest describes."""
    if file is None:
        return None, None
    path = Path(file)
    entries = manifest.read(path)
    manifest.check_hash(path, entries)
    return path.name, str(entries["sha256"])


def _list_files(*paths: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return files, each once, without pipes."""
    return tuple(dict.fromkeys(drafts.paths_among(*paths)))


def _role_in_table(column: str, release: MaskedRelease | PerturbedRelease) -> str:
    if isinstance(release, PerturbedRelease):
        return "perturbed" if column in release.columns else "kept as it is"
    if column == release.label:
        return "cluster"
    return "made independent" if column in release.a else "kept as it is"


def _read_columns(book: Path, names: tuple[str, ...]) -> tuple[Mapping[str, Any], ...]:
    """Read the columns of a codebook."""
    try:
        columns = json.loads(book.read_text(encoding="utf-8"))["columns"]
        told = [each["name"] for each in columns]
    except (ValueError, KeyError, TypeError, RecursionError):
        told = []
    # Readers put the keys of a Hive data set last.
    if sorted(map(str, told)) != sorted(names) or not all(_is_counted(each.get("cells", {})) for each in columns):
        raise InputError(
            f"{str(book)!r} is not the codebook of this release.",
            hint="it is written beside the release by anonymize; remove it to go without.",
        )
    return tuple(columns)


def _is_counted(forms: Any) -> bool:
    """Tell whether the cells of a column are counted by their forms."""
    return isinstance(forms, dict) and all(isinstance(n, int) and n > 0 for n in forms.values())


def _describe_columns(claim: Claim, names: tuple[str, ...]) -> tuple[Mapping[str, Any], ...]:
    """Return column entries from the claim, for a release without a codebook."""
    known, sensitive = claim.columns, claim.sensitive
    bounds = claim.bound_columns if isinstance(claim, (Classes, Combinations, Matchings)) else ()

    def role(name: str) -> str:
        if name in bounds:
            return "bound"
        return "quasi-identifier" if name in known else "sensitive" if name in sensitive else "other"

    return tuple({"name": name, "role": role(name)} for name in names)
