"""apply: the next batch, published by the cells of an earlier release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hushtable.cli.arguments import (
    InFile,
    Machine,
    NewFile,
    Shown,
    WrittenOptions,
    outputs_of,
    place_of,
    table_path,
)
from hushtable.cli.groups import argument, option
from hushtable.cli.requests import key_in
from hushtable.cli.summary import abridged, count_of
from hushtable.cli.terminal import print_json, say, step
from hushtable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hushtable.claims import Verdict
    from hushtable.engines import Files, Lazy
    from hushtable.release import Release


def apply(
    recoding: Annotated[Path, argument("RECODING", "File that anonymize --save-recoding wrote.")],
    file: InFile,
    output: NewFile,
    written: WrittenOptions,
    machine: Machine,
    shown: Shown,
    together: Annotated[
        Path | None,
        option(
            "Earlier rows to publish too. The release then replaces theirs, which nobody may have.",
            metavar="EARLIER",
            parser=table_path,
        ),
    ] = None,
    key_file: Annotated[
        Path | None, option("File that holds the secret key for pseudonyms. Use a new key, or people can be linked.")
    ] = None,
) -> None:
    """Write a release of new rows that uses the cells of an earlier release, and verify the written file."""
    from hushtable import engines
    from hushtable.anonymizers import LearnedRecoding

    origin = None if str(file) == "-" else engines.opened(file, dialect=machine.dialect())
    inputs = [place_of(file), recoding, *(path for path in (together, key_file) if path is not None)]
    in_memory = {"--together": together is not None, "--keep-order": written.keep_order}
    _check_output(output, inputs, origin, in_memory, written)
    learned = LearnedRecoding.read(recoding)
    key = None if key_file is None else key_in(key_file)
    with step("reading"):
        rows = machine.table(file) if origin is None else origin
        earlier = None if together is None else machine.table(together)
    with step("placing rows"):
        release = learned.apply(rows, earlier=earlier, key=key)
    with step("writing and verifying"):
        verdict = release.write(
            output,
            keep_order=written.keep_order,
            external=written.external,
            codebook=written.codebook,
            overwrite=written.force,
        )
    if shown.as_json:
        print_json({"file": str(output), "verified": verdict.to_dict(), **release.to_dict()})
    else:
        notes = [] if release.exposure is None else [f"  {line}" for line in release.exposure.lines()]
        facts = _facts(output, release, verdict, codebook=written.codebook)
        say(*abridged(facts, notes, [], verbose=shown.verbose))


def _check_output(
    output: Path,
    inputs: Sequence[Path],
    origin: Files | Lazy | None,
    given: Mapping[str, bool],
    written: WrittenOptions,
) -> None:
    """Refuse an output that must not be written; of rows that are not in memory, what takes them there."""
    from hushtable.io import drafts
    from hushtable.release import check_output, codebook_paths

    if origin is None:
        drafts.check_outputs(outputs_of(output, codebook=written.codebook), inputs, overwrite=written.force)
        return
    unsupported = [name for name, is_given in given.items() if is_given]
    if unsupported:
        raise InputError(f"{', '.join(unsupported)} with a folder, which is read batch by batch.", hint="leave it out.")
    books = codebook_paths(output) if written.codebook else ()
    check_output(output, origin.inputs, books, overwrite=written.force)


def _facts(output: Path, release: Release, verdict: Verdict, *, codebook: bool) -> list[str]:
    """Say what was written, and what became of rows that no class could take."""
    summary, batch = release.to_dict(), release.batch
    assert batch is not None
    fate = "left out" if release.drops_suppressed else "published as *"
    alone = "" if batch.replaces_earlier else " by themselves"
    by_column = ", ".join(f"{name} {n:,}" for name, n in batch.unfit_by_column.items())
    lines = [
        f"Wrote {output}{', its codebook' if codebook else ''} and its manifest.",
        f"On {', '.join(verdict.quasi_identifiers)}, verified from the file:",
        f"  {'; '.join(verdict.conditions)}",
        f"  {count_of(summary['n_records'], 'record')} in {count_of(summary['n_classes'], 'class')}, smallest "
        f"{verdict.smallest_class:,}",
        f"  {summary['n_suppressed']:,} suppressed, {fate}: {batch.n_unfit:,} fit no cell of the earlier release,",
        f"    {batch.n_failed:,} are in classes that fail{alone}",
        *([f"  by column, without a cell: {by_column}"] if by_column else []),
        f"  information loss {summary['loss']:.4f} (set-NCP, 0 none to 1 all)",
    ]
    if batch.replaces_earlier:
        lines += [
            "  careful: it replaces the earlier release; whoever has that can subtract it,",
            "    and see classes that are too small",
        ]
    return lines
