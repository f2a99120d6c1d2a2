"""mask-dependence: a table in which some columns say nothing about others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hushtable.cli.arguments import (
    AcceptedColumns,
    InFile,
    KeepOrder,
    NewFile,
    ReadingOptions,
    Results,
    budget_of,
    names_of,
    pairs_of,
    place_of,
    reasons_of,
)
from hushtable.cli.groups import field
from hushtable.cli.report import note_written_release, report_outputs, write_report
from hushtable.cli.terminal import print_json, print_lines, show_step

if TYPE_CHECKING:
    from hushtable.claims import Verdict
    from hushtable.columns import ColumnSpec
    from hushtable.masking import MaskedRelease


@dataclass(frozen=True)
class PartsOptions:
    """What shall be independent of what."""

    a: str = field(..., "Columns to mask.", metavar="A,B")
    b: str = field(..., "Columns that they shall be independent of.", metavar="A,B")
    clusters: int = field(..., "Number of clusters of equal size that replace --b.")
    c: str | None = field(None, "Columns to keep. Default: all others.", metavar="A,B")
    accept: AcceptedColumns = None
    missing: str = field(
        "category", "How missing cells of --a count: category, or worst (always masked).", metavar="category|worst"
    )
    order: list[str] | None = field(
        None, "Values of an ordered column, from low to high; repeat it for each column.", metavar="COLUMN=LOW,...,HIGH"
    )


@dataclass(frozen=True)
class MaskingSearch:
    """How clusters are made, and the fewest masks found."""

    clustering: str = field("auto", "How to cluster: auto, runs, median or kmeans.", metavar="METHOD")
    method: str = field("auto", "How to search: auto, exact, greedy or pivot.", metavar="METHOD")
    optimise_ties: bool = field(
        False, "Settle ties of --b so that fewer cells are masked. Clusters then depend on --a.", "--optimise-ties"
    )
    seed: int = field(0, "Seed of ties and of what is removed.")
    seconds: float | None = field(None, "Stop the search after so many seconds, with the best found so far.")


@dataclass(frozen=True)
class MaskedFiles:
    """What is published, and where."""

    values: Path | None = field(None, "File for the clusters' values. Default: beside the output, as NAME.clusters.")
    publish: str = field("tuples", "What to publish of --b: tuples, columns or bins.", metavar="tuples|columns|bins")
    label: str = field("cluster", "Name of the column of clusters.", metavar="NAME")
    keep_order: KeepOrder = False


def mask_dependence(
    file: InFile,
    output: NewFile,
    parts: PartsOptions,
    files: MaskedFiles,
    search: MaskingSearch,
    results: Results,
    reading: ReadingOptions,
) -> None:
    """Write a table in which some columns are exactly independent of others."""
    from hushtable.io import drafts, frames
    from hushtable.masking import mask_dependence as mask

    values = files.values or output.with_name(f"{output.stem}.clusters{output.suffix}")
    for path in (output, values):
        frames.file_kind(path)
    outputs = (output, values, *report_outputs(results.report))
    drafts.check_outputs(outputs, (place_of(file),), overwrite=results.force)
    a, b, c = names_of(parts.a), names_of(parts.b), None if parts.c is None else names_of(parts.c)
    with show_step("reading"):
        frame = reading.table(file)
    with show_step("masking"):
        release = mask(
            frame,
            a=a,
            b=b,
            clusters=parts.clusters,
            c=c,
            clustering=search.clustering,
            method=search.method,  # type: ignore[arg-type]  # checked by the callee
            missing=parts.missing,  # type: ignore[arg-type]
            publish=files.publish,  # type: ignore[arg-type]
            optimise_ties=search.optimise_ties,
            label=files.label,
            specs=_parse_orders(parts.order or []),
            seed=search.seed,
            budget=budget_of(search.seconds),
            accept=reasons_of(parts.accept),
        )
    with show_step("writing and verifying"):
        verdict = release.write(output, values, keep_order=files.keep_order, overwrite=results.force)
    try:
        with note_written_release(output):
            write_report(release, results, file=output, inputs=[place_of(file)])
    finally:
        _print_masking(output, values, release, verdict, as_json=results.as_json)


def _parse_orders(entries: list[str]) -> dict[str, ColumnSpec]:
    """Read which columns are ordered, and how."""
    from hushtable.columns import ColumnSpec

    orders = pairs_of("--order", entries, "write COLUMN=LOW,MID,HIGH, once for each column.")
    return {name: ColumnSpec("ordered", tuple(names_of(values))) for name, values in orders.items()}


def _print_masking(output: Path, values: Path, release: MaskedRelease, verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "file": str(output),
                "values": str(values),
                "verified": verdict.to_dict(),
                "facts": release.facts,
                **release.to_dict(),
            }
        )
        return
    said = f"{', '.join(verdict.columns)}: exactly independent of {release.label}, verified from the file."
    print_lines(f"Wrote {output} and {values}.", said, *release.facts)
