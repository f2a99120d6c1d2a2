"""apply: the next batch, published by the cells of an earlier release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hushtable.cli.arguments import InFile, Machine, NewFile, Shown, WrittenOptions, place_of, table_path
from hushtable.cli.existing import skip_existing
from hushtable.cli.groups import argument, field
from hushtable.cli.limits import BATCH_FIGURES, batch_figures, judge_figures, limits_of
from hushtable.cli.report import write_release
from hushtable.cli.requests import key_in
from hushtable.cli.summary import abridge_lines, describe_output
from hushtable.cli.terminal import print_json, print_lines, show_step
from hushtable.errors import InputError, LimitError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hushtable.claims import Verdict
    from hushtable.engines import Files, Lazy
    from hushtable.release import Release


@dataclass(frozen=True)
class EarlierBatches:
    """Earlier batches."""

    together: Path | None = field(
        None,
        "Earlier rows to publish too. The release then replaces theirs, which nobody may have.",
        metavar="FILE",
        parser=table_path,
    )
    previous: list[Path] | None = field(
        None,
        "Rows of an earlier batch that stays published: count the persons in both. Needs `person:` in the policy of "
        "the first release. Give the option once for each.",
        metavar="FILE",
        parser=table_path,
    )
    distinct_persons: bool = field(
        False, "Leave out the records of persons who are in a previous batch.", "--distinct-persons"
    )


@dataclass(frozen=True)
class Night:
    """Limits, and the key for pseudonyms."""

    fail: list[str] | None = field(
        None,
        "Write nothing and exit 1 if suppressed, exposed, highest, shared, alike or few-values is above its limit.",
        "--fail-above",
        metavar="NAME=LIMIT,...",
    )
    key_file: Path | None = field(
        None, "File that holds the secret key for pseudonyms. Use a new key, or people can be linked."
    )


def apply(
    recoding: Annotated[Path, argument("RECODING", "File that anonymize --save-recoding wrote.")],
    file: InFile,
    output: NewFile,
    writing: WrittenOptions,
    machine: Machine,
    display: Shown,
    batches: EarlierBatches,
    night: Night,
) -> None:
    """Write a release of new rows that uses the cells of an earlier release, and verify the written file.

    The limits of the earlier release hold, too: above one, or above one of --fail-above, nothing is written.
    """
    from hushtable import engines
    from hushtable.io import Snapshot, drafts

    limits = limits_of(night.fail, BATCH_FIGURES)
    with skip_existing(output, writing, display):
        origin = None if str(file) == "-" else engines.open_origin(file, dialect=machine.dialect())
        others = [*(batches.previous or ()), *([] if batches.together is None else [batches.together])]
        made_from = [place_of(file), recoding, *others]
        keys = [] if night.key_file is None else [night.key_file]
        in_memory = {"--together": batches.together is not None, "--keep-order": writing.keep_order}
        _check_output(output, [*made_from, *keys], origin, in_memory, writing)
        inputs = drafts.paths_among(*made_from)
        before = Snapshot.from_paths(inputs)
        release = _publish(recoding, file, origin, machine, batches, night)
        _check_limits(release, limits)
        # The manifest states the inputs' hashes: these must be the files that were read.
        before.check()
        release = replace(release, inputs=(*release.inputs, *inputs))
        verdict = write_release(release, output, writing)
        _show(release, verdict, output, writing, display)


def _publish(
    recoding: Path, file: Path, origin: Files | Lazy | None, machine: Machine, batches: EarlierBatches, night: Night
) -> Release:
    """Place the rows in the cells of the earlier release."""
    from hushtable.anonymizers import LearnedRecoding

    fitted = LearnedRecoding.read(recoding)
    key = None if night.key_file is None else key_in(night.key_file)
    with show_step("reading"):
        rows = machine.table(file) if origin is None else origin
        earlier = None if batches.together is None else machine.table(batches.together)
        before = [machine.table_with_counts(path, ()) for path in batches.previous or ()]
    with show_step("placing rows"):
        return fitted.apply(rows, earlier=earlier, previous=before, distinct_persons=batches.distinct_persons, key=key)


def _show(release: Release, verdict: Verdict, output: Path, writing: WrittenOptions, display: Shown) -> None:
    from hushtable.release import describe_release

    entries = release.to_dict()
    facts = describe_release(release.claim, verdict, release.columns, entries)
    if display.as_json:
        print_json({"file": str(output), "verified": verdict.to_dict(), "facts": facts, **entries})
        return
    head = describe_output(output, codebook=writing.codebook)
    print_lines(*abridge_lines([head, *facts], [], verbose=display.verbose))


def _check_limits(release: Release, limits: Mapping[str, float]) -> None:
    """Raise LimitError if a figure of a release is above its limit, or may be."""
    failed = judge_figures(batch_figures(release, limits), limits) if limits else None
    if failed:
        raise LimitError(
            f"nothing is written: {'; '.join(each['because'] for each in failed)}.",
            hint="look at what changed in the new rows, or allow more (--fail-above).",
        )


def _check_output(
    output: Path,
    inputs: Sequence[Path],
    origin: Files | Lazy | None,
    options: Mapping[str, bool],
    writing: WrittenOptions,
) -> None:
    """Refuse an output that must not be written, and options that need all rows in memory if they are not."""
    from hushtable.release import check_output, codebook_paths

    unsupported = [name for name, is_given in options.items() if is_given and origin is not None]
    if unsupported:
        raise InputError(f"{', '.join(unsupported)} with a folder, which is read batch by batch.", hint="leave it out.")
    books = codebook_paths(output) if writing.codebook else ()
    sources, as_folder = (inputs, False) if origin is None else (origin.inputs, None)
    check_output(output, sources, books, overwrite=writing.overwrite, as_folder=as_folder)
