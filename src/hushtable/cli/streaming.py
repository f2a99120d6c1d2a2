"""anonymize, where the rows of the input are not read into memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hushtable.cli.summary import abridged, far_out_lines, listed_lines, release_details, release_facts, release_notes
from hushtable.cli.terminal import bar, print_json, say, step
from hushtable.errors import InputError, with_hint

if TYPE_CHECKING:
    from hushtable.engines import Files, Lazy, RemoteRelease
    from hushtable.io import Dialect, Frame
    from hushtable.policy import Policy

__all__ = ["anonymize_streamed", "head_of", "origin_of"]


def origin_of(file: Path, engine: str, dialect: Dialect) -> Files | Lazy | None:
    """Return where the rows are, if they are not to be read into memory."""
    from hushtable import engines

    return (
        None if str(file) == "-" else engines.opened(file, engine=cast("engines.EngineChoice", engine), dialect=dialect)
    )


def head_of(origin: Files | Lazy) -> Frame:
    """Return some rows to look for roles in, where not all are read."""
    from hushtable import engines

    return origin.head(engines.LOOKED_AT)


def anonymize_streamed(
    origin: Files | Lazy,
    output: Path,
    rules: Policy,
    key: bytes | None,
    inputs: Sequence[Path],
    unsupported: Sequence[str],
    *,
    external: bool,
    force: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Write a release batch by batch, as Parquet, and say what it is.

    Parameters
    ----------
    origin : Files
    output : path
        Of a folder of Parquet parts, or of one Parquet file.
    rules : Policy
    key : bytes, optional
        Of pseudonyms.
    inputs : sequence of path
        What else was read, none of which is overwritten.
    unsupported : sequence of str
        Options that were given, and need the whole table in memory.
    external, force, verbose, as_json : bool
        As the command takes them.
    """
    from hushtable.engines import writing
    from hushtable.release import notes

    if unsupported:
        msg = with_hint(
            f"{', '.join(unsupported)} with an input that is read batch by batch.",
            "leave it out, or take --engine memory.",
        )
        raise InputError(msg)
    writing.check_output(output, (*origin.inputs, *inputs, *rules.inputs), overwrite=force)
    with bar("searching") as progress:
        release = cast("RemoteRelease", rules.protect(origin, key=key, progress=progress))
    with step("writing and verifying"):
        verdict = release.write(output, external=external, policy=rules.to_dict(), overwrite=force)
    summary, distinct = release.to_dict(), release.distinct
    listed, lacking, far_out = notes.listed_values(distinct), notes.lacking_values(distinct), notes.far_out(distinct)
    if as_json:
        looks = {
            "listed_values": listed,
            "lacking_values": lacking,
            "far_out": {name: each.to_dict() for name, each in far_out.items()},
        }
        print_json({"file": str(output), "verified": verdict.to_dict(), **summary, **looks})
        return
    lists = [*listed_lines(listed, lacking), *far_out_lines(far_out)]
    say(
        "Read batch by batch, never as a whole (--engine memory reads it into memory).",
        *abridged(
            release_facts(output, rules, verdict, summary, codebook=False),
            release_notes(rules, verdict, release.exposure, lists),
            release_details(rules, summary, release.exposure),
            verbose=verbose,
        ),
    )
