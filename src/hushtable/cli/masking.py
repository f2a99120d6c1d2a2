"""mask-dependence: a table in which some columns say nothing about others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushtable.cli.arguments import AsJson, Delimiter, Encoding, Force, InFile, KeepOrder, names_of, place_of, table_of
from hushtable.cli.report import ReportFile, after_writing, report_outputs, write_report
from hushtable.cli.terminal import print_json, say, step
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.claims import Verdict
    from hushtable.columns import ColumnSpec
    from hushtable.masking import MaskedRelease

__all__ = ["mask_dependence"]


def mask_dependence(
    file: InFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: CSV or Parquet.", show_default=False)],
    a: Annotated[str, typer.Option("--a", metavar="A,B", help="Columns to mask.", show_default=False)],
    b: Annotated[
        str, typer.Option("--b", metavar="A,B", help="Columns that they shall be independent of.", show_default=False)
    ],
    clusters: Annotated[
        int, typer.Option(help="Number of clusters of equal size that replace --b.", show_default=False)
    ],
    c: Annotated[
        str | None, typer.Option("--c", metavar="A,B", help="Columns to keep. Default: all others.", show_default=False)
    ] = None,
    values: Annotated[
        Path | None,
        typer.Option(
            help="File for the clusters' values. Default: beside the output, as NAME.clusters.", show_default=False
        ),
    ] = None,
    publish: Annotated[str, typer.Option(help="What to publish of --b: tuples, columns or bins.")] = "tuples",
    clustering: Annotated[str, typer.Option(help="How to cluster: auto, runs, median or kmeans.")] = "auto",
    method: Annotated[str, typer.Option(help="How to search: auto, exact, greedy or pivot.")] = "auto",
    missing: Annotated[
        str, typer.Option(help="How missing cells of --a count: category, or worst (always masked).")
    ] = "category",
    optimise_ties: Annotated[
        bool,
        typer.Option(
            "--optimise-ties", help="Settle ties of --b so that fewer cells are masked. Clusters then depend on --a."
        ),
    ] = False,
    order: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=LOW,...,HIGH",
            help="Values of an ordered column, from low to high; repeat it for each column.",
        ),
    ] = None,
    label: Annotated[str, typer.Option(help="Name of the column of clusters.")] = "cluster",
    keep_order: KeepOrder = False,
    seed: Annotated[int, typer.Option(help="Seed of ties and of what is removed.")] = 0,
    seconds: Annotated[float | None, typer.Option(help="Seconds for the search.", show_default=False)] = None,
    report: ReportFile = None,
    force: Force = False,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Write a table in which some columns are exactly independent of others."""
    from hushtable.discover import looks_identifying
    from hushtable.io import drafts, frames
    from hushtable.masking import mask_dependence as mask
    from hushtable.search import Budget

    values = values or output.with_name(f"{output.stem}.clusters{output.suffix}")
    for path in (output, values):
        frames.file_kind(path)
    drafts.check_outputs((output, values, *report_outputs(report)), (place_of(file),), overwrite=force)
    with step("reading"):
        frame = table_of(file, encoding, delimiter)
    if c is None:
        # Whatever is not named would be written as it is.
        named = (*names_of(a), *names_of(b))
        looks = looks_identifying(frame, [name for name in frame.columns if name not in named])
        if looks:
            name, reason = looks[0]
            raise InputError(
                f"column {name!r} looks like a direct identifier ({reason}) and would be written as it is.",
                hint="name the other columns to write with --c.",
            )
    with step("masking"):
        release = mask(
            frame,
            a=names_of(a),
            b=names_of(b),
            clusters=clusters,
            c=None if c is None else names_of(c),
            clustering=clustering,
            method=method,  # type: ignore[arg-type]  # checked by the callee
            missing=missing,  # type: ignore[arg-type]
            publish=publish,  # type: ignore[arg-type]
            optimise_ties=optimise_ties,
            label=label,
            specs=_orders(order or []),
            seed=seed,
            budget=None if seconds is None else Budget(seconds=seconds),
        )
    with step("writing and verifying"):
        verdict = release.write(output, values, keep_order=keep_order, overwrite=force)
    try:
        with after_writing(output):
            write_report(release, report, force=force, file=output, inputs=[place_of(file)])
    finally:
        _say_masked(output, values, release, verdict, as_json=as_json)


def _orders(given: list[str]) -> dict[str, ColumnSpec]:
    """Read which columns are ordered, and how."""
    from hushtable.columns import ColumnSpec

    specs = {}
    for each in given:
        name, sign, values = each.partition("=")
        if not sign or not name or name in specs:
            raise InputError(f"--order {each!r}.", hint="write COLUMN=LOW,MID,HIGH, once for each column.")
        specs[name] = ColumnSpec("ordered", tuple(names_of(values)))
    return specs


def _say_masked(output: Path, values: Path, release: MaskedRelease, verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        print_json({"file": str(output), "values": str(values), "verified": verdict.to_dict(), **release.to_dict()})
        return
    proof = "the fewest possible" if release.optimal else f"at most {release.gap:.1%} above the fewest possible"
    say(
        f"Wrote {output} and {values}.",
        f"{', '.join(verdict.columns)}: exactly independent of {release.label}, verified from the file:",
        f"  {verdict.n_records:,} records in {release.n_clusters} clusters; {len(release.removed)} removed",
        f"  {release.n_stars:,} cells masked ({proof}), {release.share_kept:.1%} of the cells kept",
        *(f"  careful: {warning}" for warning in release.warnings),
        *(f"  note: {note}" for note in release.notes),
        "  This hides a correlation, not people: whoever knows a record's other cells can find it.",
    )
