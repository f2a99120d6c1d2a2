"""Reports: what people who decide need to know of a result, on one page that can be printed and signed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from hushtable.claims import Classes, Verdict
from hushtable.errors import InputError, check_type
from hushtable.io import drafts
from hushtable.masking import MaskedRelease, MaskingTradeoff
from hushtable.perturbation import PerturbationTradeoff, PerturbedRelease
from hushtable.pipeline import PipelineRun
from hushtable.policy import Advice, Comparison, Policy
from hushtable.release import Release, codebook_paths, manifest_path
from hushtable.reporting import (
    attacks,
    cell_tables,
    comparison,
    inside,
    masking,
    outside,
    perturbed,
    released,
    risk,
    synthetic,
)
from hushtable.reporting.document import (
    Audience,
    Block,
    CellContent,
    Paragraph,
    Points,
    Quantity,
    Report,
    Section,
    Table,
    facts_section,
)
from hushtable.risk import (
    Attack,
    Attacks,
    JoinRisk,
    Keys,
    Linking,
    MinimalUniques,
    Mpuccs,
    OwnAttacks,
    PrivacyFigure,
    RiskAssessment,
    Unicity,
)
from hushtable.tabulation import RoundedTables, TableAudit, Tabulation
from hushtable.wording import LANGUAGES, StatesFacts, current_language

_MAX_ROWS_SHOWN: Final = 50
_WHOLE_TABLE_MARKS: Final = ("[global]", ".global.", ".G.")
"""What the names of reports on the whole of a table have in them."""


def sections_on_run(run: PipelineRun) -> tuple[Section, ...]:
    """Return the sections of a pipeline: what was done, what failed, and the figures of the whole."""
    verdicts: list[Block] = []
    if run.failures:
        verdicts.append(Paragraph(f"{len(run.failures)} limits or claims do not hold.", "careful"))
    if run.missing:
        verdicts.append(Paragraph(f"{len(run.missing)} evaluators that were asked for were left out.", "careful"))
    if run.passed:
        verdicts.append(Paragraph("Every limit holds, and every release what it claims.", "good"))
    steps = tuple((each.step.name, Quantity(each.seconds), each.status) for each in run.timings)
    blocks: list[Block] = [
        *verdicts,
        *([Points((*run.failures, *run.missing))] if not run.passed else []),
        Table("Steps", ("step", "seconds", "status"), steps),
        Points(tuple(path.name for path in run.files)),
    ]
    return Section("summary", "In short", tuple(blocks)), *_sections_on_figures(run)


def _sections_on_figures(run: PipelineRun) -> tuple[Section, ...]:
    """Report figures of whole tables; figures of columns may hold ends of ranges, which are people's values."""
    tables = []
    for name, columns in run.columns.items():
        if not any(mark in name for mark in _WHOLE_TABLE_MARKS):
            continue
        titles = tuple(columns)
        rows = tuple(zip(*(columns[title] for title in titles), strict=True))[:_MAX_ROWS_SHOWN]
        tables.append(Table(name, titles, tuple(tuple(map(_to_cell, row)) for row in rows)))
    return (Section("figures", "Figures of the whole", tuple(tables)),) if tables else ()


def _to_cell(entry: object) -> CellContent:
    if isinstance(entry, (int, float)) and not isinstance(entry, bool):
        return Quantity(entry)
    return "" if entry is None else str(entry)


_INTERNAL_REPORTS: Final[Mapping[type, tuple[str, Callable[[Any], tuple[Section, ...]]]]] = {
    RiskAssessment: ("How easily people can be found", risk.sections_on_assessment),
    Mpuccs: ("Who is singled out", risk.sections_on_mpuccs),
    Attack: ("What an attack finds", lambda found: synthetic.sections_on_attacks(Attacks((found,)))),
    Attacks: ("What attacks find", synthetic.sections_on_attacks),
    PrivacyFigure: (
        "What a figure of privacy says",
        lambda found: synthetic.sections_on_attacks(Attacks((), (found,))),
    ),
    MinimalUniques: ("On how few columns people are unique", risk.sections_on_uniques),
    Keys: ("Which columns tell all rows apart", risk.sections_on_keys),
    Unicity: ("Who is found by a few records", attacks.sections_on_unicity),
    Linking: ("Who is found by another table", attacks.sections_on_linking),
    JoinRisk: ("What two tables tell together", attacks.sections_on_join),
    OwnAttacks: ("Attacks on a release", attacks.sections_on_attacks),
    Advice: ("What would bring most detail back", comparison.sections_on_advice),
    Comparison: ("What every step of safety costs", comparison.sections_on_comparison),
    MaskingTradeoff: ("Stars against kept correlation", masking.sections_on_tradeoff),
    PerturbationTradeoff: ("Loss against linkage", perturbed.sections_on_tradeoff),
    PipelineRun: ("A pipeline's run", sections_on_run),
    TableAudit: ("What readers of tables can compute", cell_tables.sections_on_audit),
    Tabulation: ("Tables of counts and sums", cell_tables.sections_on_tabulation),
    RoundedTables: ("Tables of rounded counts", cell_tables.sections_on_rounding),
}
"""Results that are about an input: what each is called, and what its sections are. None has an external form."""

_KINDS: Final = (Release, MaskedRelease, PerturbedRelease, *_INTERNAL_REPORTS)


def report(
    result: Any,
    *,
    audience: Audience = "internal",
    file: str | os.PathLike[str] | None = None,
    original: Any = None,
    policy: Policy | str | os.PathLike[str] | None = None,
    verdict: Verdict | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
    title: str | None = None,
) -> Report:
    """Tell of a result what people who decide need to know.

    Parameters
    ----------
    result : Release, MaskedRelease, path of a written release, RiskAssessment, Mpuccs, Attack, \
MinimalUniques, Keys, Unicity, Linking, JoinRisk, OwnAttacks, Comparison, MaskingTradeoff, PerturbedRelease, \
PerturbationTradeoff, PipelineRun, TableAudit, Tabulation or RoundedTables
    audience : {"internal", "external"}
        Who reads: those who make a release, or whoever receives it. Only a release has an external form, and only
        one that was verified. That holds nothing which the file does not show: no objective, trace or bound, no
        risk of a record, no loss or utility by column, no comparison, no count of suppressed records, no reason,
        no row, no hash of the input, and no count of 1 to 10 records.
    file : path, optional
        Of a release: where it was written, for its hash.
    original : path or dataframe, optional
        Of a written release: what it was made from. Without it nothing is said of risk before, and of utility. In a
        report for outsiders it only judges what otherwise the publisher alone can; nothing else of it is told.
    policy : Policy or path, optional
        Of a release: what was asked for.
    verdict : Verdict, optional
        Of a release in memory that was written: what `Release.write` returned. Judged anew when not given.
    inputs : sequence of path
        Of a release in memory: files that it was made from besides those that it knows. Insiders are told their
        hashes, and no report is written over them.
    title : str, optional

    Raises
    ------
    InputError
        There is no report of such a result, or none for outsiders, or an option means nothing beside it.
    VerificationError
        A report for outsiders was asked for, of a release that does not hold what it claims; or a file is not the
        one that its manifest describes.

    Notes
    -----
    The page is in the language of the release, else in that of the environment (``HUSHTABLE_LANGUAGE``):
    `dataclasses.replace(report, language="de")` says it in another one.
    A release is judged again from its published table. For the reasons of roles, up to 50,000 rows are looked at.
    No value of a person is in it, but for what two of the largest classes publish (internal), and what at least 11
    records share. It follows the order of ISO/IEC 27559:2022 and the three tests of WP29's Opinion 05/2014, and
    claims no conformity with either.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "job": ["clerk", "cook", "clerk", "clerk"]})
    >>> release = ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    >>> told = ht.report(release, audience="external")
    >>> [section.name for section in told.sections]
    ['summary', 'asked', 'data', 'risk_after', 'tests', 'unprotected', 'reproduce', 'decision']
    """
    if audience not in ("internal", "external"):
        raise InputError(f"audience = {audience!r}.", hint="choose 'internal' or 'external'.")
    options = {"file": file, "original": original, "policy": policy, "verdict": verdict, "inputs": inputs or None}
    check_type(verdict, Verdict, "verdict", "what Release.write or Release.verify returned")
    check_type(title, str, "title", "a text")
    policy_file = policy
    if isinstance(result, (str, os.PathLike, Release)):
        policy = _read_policy(policy)
    named = policy.inputs if isinstance(policy, Policy) else ()
    input_paths = drafts.paths_among(policy_file, *named, *_list_release_files(result), *_list_release_files(file))
    if isinstance(result, (str, os.PathLike)):
        _check_unused(options, ("file", "verdict", "inputs"), "a written release")
        gathered = released.from_file(result, original=original, policy=_read_policy(policy))
        with released.refuse_odd_entries(Path(result)):
            return _build_report(gathered, _sections_of_written_release, audience, title, input_paths)
    if isinstance(result, Release):
        _check_unused(options, ("original",), "a release, which knows it")
        gathered = released.from_release(result, file=file, policy=_read_policy(policy), verdict=verdict, inputs=inputs)
        return _build_report(gathered, partial(_sections_of_release, result), audience, title, input_paths)
    if isinstance(result, (MaskedRelease, PerturbedRelease)):
        _check_unused(options, ("original", "policy", "verdict"), "a masked or perturbed table")
        gathered = released.from_changed_table(result, file=file, inputs=inputs)
        return _build_report(gathered, partial(_sections_of_changed_table, result), audience, title, input_paths)
    _check_unused(options, tuple(options), "such a result")
    if type(result) not in _INTERNAL_REPORTS:
        known_kinds = ", ".join(kind.__name__ for kind in _KINDS)
        raise InputError(
            f"there is no report of a {type(result).__name__}.", hint=f"pass a {known_kinds}, or the path of a release."
        )
    if audience == "external":
        raise InputError(
            f"a {type(result).__name__} has no external form: it speaks of the input.",
            hint="report the release itself to outsiders.",
        )
    told, sections = _INTERNAL_REPORTS[type(result)]
    # A report must not overwrite files that the run has just written.
    inputs = drafts.paths_among(*(result.files if isinstance(result, PipelineRun) else ()))
    made = (*([facts_section(result.facts)] if isinstance(result, StatesFacts) else []), *sections(result))
    return Report(title or told, audience, made, inputs=inputs, language=current_language())


def _sections_of_written_release(known: released.Released) -> tuple[Section, ...]:
    """Return the sections of a written release for insiders; only a claim on classes can be attacked."""
    sections = inside.sections(known)
    return _add_attacks(sections, known) if isinstance(known.claim, Classes) else sections


def _sections_of_release(release: Release, known: released.Released) -> tuple[Section, ...]:
    """Return the sections of a release in memory for insiders."""
    return _add_attacks(inside.sections(known), release)


def _sections_of_changed_table(
    release: MaskedRelease | PerturbedRelease, known: released.Released
) -> tuple[Section, ...]:
    """Return the sections of a table whose cells are not generalized, for insiders."""
    if isinstance(release, MaskedRelease):
        return masking.sections(release, known)
    return perturbed.sections(release, known)


def _add_attacks(sections: tuple[Section, ...], release: Release | released.Released) -> tuple[Section, ...]:
    """Add the section on attacks to the sections of a release, before the tests that sum it up."""
    place = next(i for i, section in enumerate(sections) if section.name == "tests")
    return (*sections[:place], attacks.section_on_release(release), *sections[place:])


def _build_report(
    gathered: released.Released,
    sections: Callable[[released.Released], tuple[Section, ...]],
    audience: Audience,
    title: str | None,
    input_paths: tuple[Path, ...],
) -> Report:
    if sections is _sections_of_written_release and audience == "internal" and not gathered.quasi_identifiers:
        raise InputError(
            f"{gathered.file!r} is a masked or perturbed table: its file does not say what its internal report shows.",
            hint="ask for it where it is made, or for the external report.",
        )
    default_title = f"Release {gathered.file}" if gathered.file else "A release"
    # It was judged beside the original, of which outsiders are told nothing.
    hiding = replace(gathered, original=None, sample=None)
    told = outside.sections(hiding) if audience == "external" else sections(gathered)
    holds = gathered.verdict.passed and gathered.verdict.complete_for_receiver
    spoken = gathered.facts.get("language", "en")
    language = spoken if spoken in LANGUAGES and spoken != "en" else current_language()
    return Report(title or default_title, audience, told, holds, (*gathered.inputs, *input_paths), language)


def _list_release_files(result: Any) -> tuple[Path, ...]:
    """Return the files of a written release, which its report must not replace."""
    if not isinstance(result, (str, os.PathLike)):
        return ()
    path = Path(result)
    if not path.name:
        raise InputError(f"{str(path)!r} is no file.", hint="name a written release.")
    return path, manifest_path(path), *codebook_paths(path)


def _read_policy(policy: Policy | str | os.PathLike[str] | None) -> Policy | None:
    return policy if policy is None or isinstance(policy, Policy) else Policy.read(policy)


def _check_unused(given: Mapping[str, Any], names: tuple[str, ...], beside: str) -> None:
    for name in names:
        if given[name] is not None:
            raise InputError(f"{name} was given with {beside}.", hint="it has no effect: leave it out.")
