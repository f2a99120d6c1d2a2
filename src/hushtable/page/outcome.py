"""What a policy leads to: a release, its verdict and report, and what the page may show of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, TypeAlias

from hushtable._types import CodeArray
from hushtable.claims import Verdict
from hushtable.columns import Column, ColumnSpec
from hushtable.io import Frame
from hushtable.page.jobs import PageJob
from hushtable.page.markup import Html, without_styles
from hushtable.page.row_guard import GuardedRows, guard_rows
from hushtable.policy import Policy
from hushtable.quality import Quality
from hushtable.release import Release
from hushtable.reporting import (
    PeopleCounter,
    Report,
    Section,
    SharedText,
    find_shared_texts,
    persons_of_rows,
    render_section,
    report,
)
from hushtable.tables import Table
from hushtable.wording import LANGUAGES, use_language

_FEWEST_PEOPLE: Final = 5  # who share a cell that is shown, where the policy asks for fewer

_MAX_KEPT: Final = 30  # kept columns in rows before and after

SaidSection: TypeAlias = Mapping[str, Html]
"""A section of a report as HTML, by language."""


@dataclass(frozen=True, slots=True, eq=False)
class CodedCells:
    """A column's values and the code of every row."""

    column: Column
    codes: CodeArray = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class PolicyOutcome:
    """The outcome of a policy.

    Attributes
    ----------
    text : str
        The policy.
    policy : Policy
    release : Release
    verdict : Verdict
        Judged from the published cells.
    report : Report
    sections : mapping of str to (mapping of language to Html)
        Of the report, by name.
    quality : Quality
    n_suppressed : int
    labels : mapping of column to (list of SharedText, int)
        What it publishes of each quasi-identifier, as far as enough people share it, and the records of all else.
    rows : GuardedRows, optional
        Rows before and after; None where the rows that were protected are not those of the table.
    seconds : float
        How long the search took.
    """

    text: str
    policy: Policy
    release: Release = field(repr=False)
    verdict: Verdict = field(repr=False)
    report: Report = field(repr=False)
    sections: Mapping[str, SaidSection] = field(repr=False)
    quality: Quality = field(repr=False)
    n_suppressed: int
    labels: Mapping[str, tuple[list[SharedText], int]] = field(repr=False)
    rows: GuardedRows | None = field(repr=False)
    seconds: float

    @property
    def set_ncp(self) -> float:
        """The loss, in [0, 1]."""
        return self.quality.set_ncp

    @property
    def max_cells(self) -> int:
        """The most distinct cells of a column."""
        return max((each.n_cells for each in self.quality.cells.values()), default=0)


def largest_k(policy: Policy) -> int:
    """Return the largest k that a policy asks for."""
    return max((int(getattr(model, "k", 1)) for model in policy.models), default=1)


def fewest_people(policy: Policy) -> int:
    """Return how many people must share a cell that is shown."""
    return max(largest_k(policy), _FEWEST_PEOPLE)


def column_entries(policy: Policy) -> dict[str, Mapping[str, object]]:
    """Return the entries of every column; a role alone is one, too."""
    columns = policy.to_dict()["columns"]
    return {name: {"role": entry} if isinstance(entry, str) else entry for name, entry in columns.items()}


def encode_column(frame: Frame, name: str, spec: ColumnSpec) -> CodedCells:
    """Encode a column as a policy reads it."""
    table = Table.encode(frame.with_specs({name: spec}), [name])
    return CodedCells(table.columns[0], table.codes[0])


def render_in_languages(section: Section) -> SaidSection:
    """Render a section in every language, because the reader may change the language."""
    said = {}
    for language in LANGUAGES:
        with use_language(language):
            said[language] = without_styles(render_section(section))
    return said


def find_outcome(
    job: PageJob,
    policy: Policy,
    text: str,
    frame: Frame,
    *,
    typed_frame: Frame,
    coded: Mapping[tuple[str, str], CodedCells],
    key: bytes | None,
) -> PolicyOutcome:
    """Protect a table, judge what comes out, and decide what the page may show of it.

    Parameters
    ----------
    job : PageJob
    policy : Policy
    text : str
        The policy.
    frame : Frame
        The table as the command reads it.
    typed_frame : Frame
        The same with the kinds that its texts tell.
    coded : mapping of (column, repr of its spec) to CodedCells
        The columns that may be shown.
    key : bytes, optional
        The secret of keyed pseudonyms.
    """
    key = key if policy.is_keyed else None
    release = policy.protect(frame, key=key, progress=job.progress_of_part(0.0, 0.6), engine="memory")
    verdict = release.verify()
    job.tell(0.7)
    full_report = report(release, policy=policy, verdict=verdict)
    job.tell(0.8)
    sections = {each.name: render_in_languages(each) for each in full_report.sections}
    job.tell(0.9)
    labels, rows = _find_shared_labels(release, policy), _guard_rows(release, policy, typed_frame, coded)
    seconds = monotonic() - job.started_at
    figures = release.quality, release.n_suppressed
    return PolicyOutcome(text, policy, release, verdict, full_report, sections, *figures, labels, rows, seconds)


def _guard_rows(
    release: Release, policy: Policy, frame: Frame, coded: Mapping[tuple[str, str], CodedCells]
) -> GuardedRows | None:
    """Decide what rows may show of a release; None if its rows are not those of the table."""
    if len(release.partition.labels) != frame.n_rows:
        return None

    def encode(name: str) -> tuple[tuple[str | None, ...], CodeArray]:
        spec = policy.columns[name].spec
        cells = coded.get((name, repr(spec))) or encode_column(frame, name, spec)
        return tuple(cells.column.texts()), cells.codes

    hidden = (*release.quasi_identifiers, *release.pseudonymized)
    # Of columns with too many values hardly a cell may be shown.
    kept = [name for name in release.columns if name not in hidden and (name, repr(policy.columns[name].spec)) in coded]
    people = PeopleCounter(frame.records, persons_of_rows(frame, policy.person))
    return guard_rows(release, kept[:_MAX_KEPT], encode, people, fewest_people(policy))


def _find_shared_labels(release: Release, policy: Policy) -> Mapping[str, tuple[list[SharedText], int]]:
    """Count the published cells of every quasi-identifier that enough people share."""
    edition, records = release.edition, release.source.records
    rows: Any = slice(None) if edition.rows is None else edition.rows
    persons = persons_of_rows(release.source.frame(), policy.person)
    whose = None if persons is None else persons[rows]
    min_people = fewest_people(policy)
    return {
        name: find_shared_texts(each.codes[rows], each.texts, records[rows], whose, min_people=min_people)
        for name, each in edition.rewritten.items()
    }
