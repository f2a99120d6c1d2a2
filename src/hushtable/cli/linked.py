"""anonymize and verify of linked tables: a folder, a workbook or a database of persons with rows in several tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hushtable.cli.arguments import ReadingOptions, Shown
from hushtable.cli.requests import Changes, RequestOptions, SearchOptions
from hushtable.cli.summary import abridge_lines, describe_verdict
from hushtable.cli.terminal import exit_with_code, print_json, print_lines, show_progress, show_step
from hushtable.errors import InputError
from hushtable.wording import current_language, set_language

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from hushtable.cli.protect import EngineOptions, FailingRows, Judging, ReleaseFiles
    from hushtable.linked import LinkedPolicy


# Options of `anonymize` that linked tables take; they have no codebook, so that it makes no difference.
_TAKEN: Final = ("policy", "external", "force", "codebook", "threads")


def anonymize_linked_tables(
    source: Path,
    output: Path,
    request: RequestOptions,
    changes: Changes,
    search: SearchOptions,
    written: ReleaseFiles,
    machine: EngineOptions,
    display: Shown,
) -> None:
    """Protect linked tables, write and verify them, and print what each lost."""
    from hushtable.linked import anonymize_tables, check_target, list_inputs

    assert request.policy is not None, "a policy names the tables"
    _check_options(request, changes, search, written, machine)
    rules = _read_policy(request.policy)
    check_target(output, list_inputs(source), overwrite=written.force)
    with show_progress("searching") as progress:
        release = anonymize_tables(source, rules, progress=progress)
    with show_step("writing and verifying"):
        verdict = release.write(output, external=written.external, overwrite=written.force)
    facts = release.describe(verdict)
    if display.as_json:
        print_json({"file": str(output), "verified": verdict.to_dict(), "facts": list(facts), **release.to_dict()})
        return
    lines = [f"Wrote {output}: {', '.join(release.releases)}, and one manifest.", *facts]
    print_lines(*abridge_lines(lines, [], verbose=display.verbose))


def _check_options(
    request: RequestOptions,
    changes: Changes,
    search: SearchOptions,
    written: ReleaseFiles,
    machine: EngineOptions,
) -> None:
    """Refuse options that linked tables do not take."""
    if written.keep_order:
        raise InputError(
            "--keep-order was given with linked tables: files are sorted by person, so that the order links them.",
            hint="leave it out: rows of every table are shuffled by themselves.",
        )
    if given := _list_given((request, changes, search, written, machine), _TAKEN):
        raise InputError(
            f"{', '.join(given)}: linked tables do not take this.",
            hint="they take --policy, --output, --external, --force, --verbose, --json and --threads; all else stands "
            "in the policy.",
        )


def _list_given(groups: Sequence[DataclassInstance], taken: Sequence[str]) -> list[str]:
    """List the options that were given, without those that are taken."""
    return [
        f"--{option.name.strip('_').replace('_', '-')}"
        for group in groups
        for option in fields(group)
        if option.name not in taken and getattr(group, option.name) != getattr(type(group)(), option.name)
    ]


def _read_policy(path: Path) -> LinkedPolicy:
    from hushtable.linked import LinkedPolicy

    rules = LinkedPolicy.read(path)
    # Messages are in the policy's language: its author reads it.
    if current_language() == "en":
        set_language(rules.writing.language)
    return rules


def verify_linked_tables(
    source: Path,
    judging: Judging,
    failing_rows: FailingRows,
    reading: ReadingOptions,
    *,
    is_linked: bool,
    as_json: bool,
) -> None:
    """Judge linked tables by their manifest, or by a policy, and exit with 1 if they do not hold."""
    from hushtable.linked import verify_by_policy, verify_tables

    given = _list_given((judging, failing_rows, reading), ("policy", "no_manifest", "strict"))
    if given := [*given, *(["--linked"] if is_linked else [])]:
        raise InputError(
            f"{', '.join(given)}: linked tables do not take this.",
            hint="they take --policy, --no-manifest, --strict and --json.",
        )
    rules = None if judging.policy is None else _read_policy(judging.policy)
    with show_step("reading and judging"):
        verdict = verify_by_policy(source, rules) if judging.no_manifest and rules else verify_tables(source, rules)
    is_judged = verdict.complete if judging.strict else verdict.complete_for_receiver
    with exit_with_code(0 if verdict.passed and is_judged else 1):
        if as_json:
            print_json(verdict.to_dict())
        else:
            print_lines(*describe_verdict(source, verdict))
