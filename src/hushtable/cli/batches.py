"""apply: the next batch, published by the cells of an earlier release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushtable.cli.arguments import (
    AsJson,
    Delimiter,
    Encoding,
    External,
    Force,
    InFile,
    KeepOrder,
    Threads,
    Verbose,
    WithCodebook,
    outputs_of,
    place_of,
    table_of,
    table_path,
    use_threads,
)
from hushtable.cli.requests import key_in
from hushtable.cli.summary import abridged, count_of
from hushtable.cli.terminal import print_json, say, step
from hushtable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hushtable.anonymizers import LearnedRecoding
    from hushtable.claims import Verdict
    from hushtable.release import Release

__all__ = ["apply"]


def apply(
    recoding: Annotated[
        Path, typer.Argument(metavar="RECODING", help="File that anonymize --save-recoding wrote.", show_default=False)
    ],
    file: InFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: CSV or Parquet.", show_default=False)],
    together: Annotated[
        Path | None,
        typer.Option(
            metavar="EARLIER",
            help="Earlier rows to publish too. The release then replaces theirs, which nobody may have.",
            parser=table_path,
            show_default=False,
        ),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            help="File that holds the secret key for pseudonyms. Use a new key, or people can be linked.",
            show_default=False,
        ),
    ] = None,
    keep_order: KeepOrder = False,
    external: External = False,
    codebook: WithCodebook = True,
    force: Force = False,
    threads: Threads = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Write a release of new rows that uses the cells of an earlier release, and verify the written file."""
    use_threads(threads)
    from hushtable.anonymizers import LearnedRecoding
    from hushtable.io import drafts, is_many

    inputs = [place_of(file), recoding, *(path for path in (together, key_file) if path is not None)]
    given = [name for name, value in (("--together", together), ("--keep-order", keep_order)) if value]
    if str(file) == "-" or not is_many(file):
        drafts.check_outputs(outputs_of(output, codebook=codebook), inputs, overwrite=force)
    learned = LearnedRecoding.read(recoding)
    if str(file) != "-" and is_many(file):
        _apply_streamed(
            learned, file, output, key_file, given, external=external, codebook=codebook, force=force, as_json=as_json
        )
        return
    with step("reading"):
        rows = table_of(file, encoding, delimiter)
        earlier = None if together is None else table_of(together, encoding, delimiter)
    with step("placing rows"):
        release = learned.apply(rows, earlier=earlier, key=None if key_file is None else key_in(key_file))
    with step("writing and verifying"):
        verdict = release.write(output, keep_order=keep_order, external=external, codebook=codebook, overwrite=force)
    if as_json:
        print_json({"file": str(output), "verified": verdict.to_dict(), **release.to_dict()})
    else:
        notes = [] if release.exposure is None else [f"  {line}" for line in release.exposure.lines()]
        say(*abridged(_facts(output, release, verdict, codebook=codebook), notes, [], verbose=verbose))


def _apply_streamed(
    learned: LearnedRecoding,
    folder: Path,
    output: Path,
    key_file: Path | None,
    unsupported: Sequence[str],
    *,
    external: bool,
    codebook: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write a release of a folder's rows batch by batch, by the cells of an earlier one."""
    from hushtable import engines
    from hushtable.release import check_output, codebook_paths

    if unsupported:
        raise InputError(f"{', '.join(unsupported)} with a folder, which is read batch by batch.", hint="leave it out.")
    origin = engines.opened(folder)
    assert origin is not None
    books = codebook_paths(output) if codebook else ()
    check_output(output, origin.inputs, books, overwrite=force)
    with step("placing rows"):
        release = learned.apply(origin, key=None if key_file is None else key_in(key_file))
    with step("writing and verifying"):
        verdict = release.write(output, external=external, codebook=codebook, overwrite=force)
    if as_json:
        print_json({"file": str(output), "verified": verdict.to_dict(), **release.to_dict()})
    else:
        say(*_facts(output, release, verdict, codebook=codebook))


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
