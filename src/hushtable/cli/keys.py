"""keys: which columns tell all rows apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from hushtable.cli.arguments import (
    AsJson,
    Delimiter,
    Encoding,
    Force,
    InFile,
    check_effects,
    counted_table_of,
    fail_above,
    failing,
    limits_of,
    names_of,
    place_of,
)
from hushtable.cli.report import ReportFile, report_outputs, write_report
from hushtable.cli.summary import keys_lines
from hushtable.cli.terminal import print_json, say, sets_bar, step, tell
from hushtable.policy import failures, keys_figures

if TYPE_CHECKING:
    from hushtable.risk import Keys

__all__ = ["keys"]

_FIGURES: Final = ("count",)


def keys(
    file: InFile,
    columns: Annotated[str, typer.Option("--columns", metavar="A,B", help="Columns to look at. Default: all.")] = "",
    max_size: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of columns of a key. Default: all.", show_default=False)
    ] = None,
    error: Annotated[
        float, typer.Option(help="Share that a key may leave undecided, from 0 to below 1; 0 finds exact keys.")
    ] = 0.0,
    measure: Annotated[
        str | None,
        typer.Option(
            help="What --error limits: g1, the default (pairs of rows that agree), or unique_rate (rows not alone).",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[str, typer.Option(help="distinct: count equal rows once; all: count every record.")] = "distinct",
    missing: Annotated[
        str, typer.Option(help="How missing cells count: category, or never (no key has a column with one).")
    ] = "category",
    sample: Annotated[
        int | None,
        typer.Option(
            min=2, help="Find one key in a sample of so many rows, and measure it on all rows.", show_default=False
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of --sample. Default: 0.", show_default=False)] = None,
    top: Annotated[
        int, typer.Option(min=1, help="Number of keys to show. Keys that others know most easily come first.")
    ] = 20,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=0, help="Stop after so many seconds, with what was found.", show_default=False),
    ] = None,
    details: Annotated[
        Path | None, typer.Option("--details", metavar="OUT", help="File to write all keys to.", show_default=False)
    ] = None,
    report: ReportFile = None,
    force: Force = False,
    fail: Annotated[list[str] | None, fail_above(_FIGURES)] = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """List the smallest sets of columns that tell all rows apart, exactly or almost."""
    from hushtable.io import drafts, frames
    from hushtable.risk import minimal_keys
    from hushtable.search import Budget

    limits = limits_of(fail, _FIGURES)
    given = {
        "--sample": sample is not None,
        "--seconds": seconds is not None,
        "--seed": seed is not None,
        "--measure": measure is not None,
        "--error": error != 0,
    }
    check_effects(given, {"--seed": ("--sample",), "--measure": ("--error",)}, {"--sample": ("--seconds",)})
    if details is not None:
        frames.file_kind(details)
    drafts.check_outputs(
        (*((details,) if details else ()), *report_outputs(report)), drafts.paths_among(place_of(file)), overwrite=force
    )
    with step("reading"):
        table = counted_table_of(file, names_of(columns), encoding, delimiter)
    with sets_bar("columns") as progress:
        found = minimal_keys(
            table,
            names_of(columns) or None,
            max_size=max_size,
            measure=measure or "g1",  # type: ignore[arg-type]  # checked by the callee
            error=error,
            rows=rows,  # type: ignore[arg-type]
            missing=missing,  # type: ignore[arg-type]
            sample=sample,
            budget=None if seconds is None else Budget(seconds=seconds),
            seed=seed or 0,
            progress=progress,
        )
    if details is not None:
        _write(found, details, force=force)
    write_report(found, report, force=force)
    failed = failures(keys_figures(found.summary()), limits)
    with failing(failed):
        if as_json:
            judged = {"failed_above": failed} if limits else {}
            print_json({"file": file.name, **found.to_dict(), "keys": found.ranked_keys(top), **judged})
        else:
            say(*keys_lines(found, top))


def _write(found: Keys, path: Path, *, force: bool) -> None:
    """Write all keys; a CSV has no lists, so that sets of columns become JSON."""
    from hushtable.io import drafts, frames

    with drafts.replacing(path, internal=(path,), overwrite=force) as (draft,):
        frames.write(frames.with_json_lists(frames.read(found.to_frame())), draft)
    tell(f"Wrote {path}.")
