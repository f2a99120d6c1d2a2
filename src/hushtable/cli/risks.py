"""mpuccs, uniques: who is singled out on which columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.arguments import AsJson, Delimiter, Encoding, Force, InFile, frame_of, names_of
from hushtable.cli.terminal import aligned, print_json, say, sets_bar, step
from hushtable.errors import InputError, with_hint

if TYPE_CHECKING:
    from hushtable.risk.mpuccs import Mpuccs
    from hushtable.risk.uniques import MinimalUniques

__all__ = ["mpuccs", "uniques"]

Columns = Annotated[str, typer.Option("--columns", metavar="A,B", help="Columns to look at; all when not given.")]
Seconds = Annotated[
    float | None, typer.Option("--seconds", min=0, help="Stop after so long, with what was found.", show_default=False)
]
ShowValues = Annotated[bool, typer.Option("--show-values", help="Show the values of records too.")]
Details = Annotated[
    Path | None, typer.Option("--details", metavar="OUT", help="Write record by record.", show_default=False)
]


def mpuccs(
    original: InFile,
    synthetic: Annotated[
        Path | None,
        typer.Argument(metavar="[SYNTHETIC]", help="The table that may give people away.", show_default=False),
    ] = None,
    control: Annotated[
        Path | None, typer.Option(help="People who were never used for the synthesis.", show_default=False)
    ] = None,
    sizes: Annotated[str, typer.Option(metavar="1,2,3", help='How many columns a set may have, or "all".')] = "1,2,3",
    columns: Columns = "",
    missing: Annotated[str, typer.Option(help="category, or never: matches nothing.")] = "category",
    keep_duplicates: Annotated[
        bool, typer.Option("--keep-duplicates", help="Do not count equal records of a table as one.")
    ] = False,
    compat: Annotated[
        str | None, typer.Option(help="petsard-1.6: its order, pruning and entropies.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the comparison with a control.")] = 0,
    seconds: Seconds = None,
    details: Details = None,
    force: Force = False,
    show_values: ShowValues = False,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Count the records that are unique on a few columns and equal exactly one original there."""
    from hushtable import frames
    from hushtable.risk.mpuccs import mpuccs as attack
    from hushtable.search import Budget

    _check_details(details, original, synthetic, control, overwrite=force)
    with step("reading"):
        original_frame = frames.read(original, encoding=encoding, delimiter=delimiter)
        synthetic_frame = frame_of(synthetic, encoding, delimiter)
        control_frame = frame_of(control, encoding, delimiter)
    with sets_bar("columns") as progress:
        found = attack(
            original_frame,
            synthetic_frame,
            n_cols=_sizes(sizes),
            columns=names_of(columns) or None,
            control=control_frame,
            deduplicate=False if keep_duplicates else None,
            missing=missing,  # type: ignore[arg-type]  # checked by the callee
            compat=compat,  # type: ignore[arg-type]  # checked by the callee
            values=show_values,
            seed=seed,
            budget=None if seconds is None else Budget(seconds=seconds),
            progress=progress,
        )
    if details is not None:
        _write(found.details, details)
    if as_json:
        print_json({"file": original.name, **found.to_dict()})
    else:
        say(*_mpuccs_lines(found, alone=synthetic is None))


def uniques(
    file: InFile,
    columns: Columns = "",
    max_size: Annotated[
        int | None, typer.Option(min=1, help="The most columns of a set; all when not given.", show_default=False)
    ] = None,
    missing: Annotated[str, typer.Option(help="category, or never: unique on nothing.")] = "category",
    seconds: Seconds = None,
    details: Details = None,
    force: Force = False,
    show_values: ShowValues = False,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Find the fewest columns on which each record is unique, and the SUDA scores made of them."""
    from hushtable import frames
    from hushtable.risk.uniques import minimal_uniques
    from hushtable.search import Budget

    _check_details(details, file, overwrite=force)
    with step("reading"):
        frame = frames.read(file, encoding=encoding, delimiter=delimiter)
    with sets_bar("columns") as progress:
        found = minimal_uniques(
            frame,
            columns=names_of(columns) or None,
            max_size=max_size,
            missing=missing,  # type: ignore[arg-type]  # checked by the callee
            budget=None if seconds is None else Budget(seconds=seconds),
            progress=progress,
        )
    if details is not None:
        _write(found.sets, details)
    by_value = found.contributions_by_value().rows(named=True) if show_values else []
    if as_json:
        print_json({"file": file.name, **found.to_dict(), **({"by_value": by_value} if show_values else {})})
    else:
        say(*_uniques_lines(found, by_value))


def _sizes(text: str) -> list[int] | None:
    if text.strip() == "all":
        return None
    try:
        return [int(each) for each in text.split(",")]
    except ValueError:
        msg = with_hint(
            f"--sizes {text!r} is no list of whole numbers.", "for instance: --sizes 1,2,3, or --sizes all."
        )
        raise InputError(msg) from None


def _check_details(path: Path | None, *inputs: Path | None, overwrite: bool) -> None:
    """Raise InputError where the details cannot be written, before the search for them."""
    from hushtable import drafts, frames

    if path is not None:
        frames.file_kind(path)
        drafts.check_outputs((path,), drafts.paths_among(*inputs), overwrite=overwrite)


def _write(table: Any, path: Path) -> None:
    """Write a frame of results; a CSV has no lists, so that sets of columns become JSON."""
    from hushtable import drafts, frames

    with drafts.replacing(path) as (draft,):
        frames.write(frames.with_json_lists(frames.read(table)), draft)
    typer.echo(f"Wrote {path}. It says which records are singled out: keep it as safe as the data.", err=True)


def _mpuccs_lines(found: Mpuccs, *, alone: bool) -> list[str]:
    summary = found.summary
    what = "records are unique in the table" if alone else "records are unique and equal exactly one original"
    lines = [
        f"{summary['total_identified']:,} of {summary['total_syn_records']:,} {what} "
        f"on {summary['config_n_cols'] or 'any number of'} columns: {summary['identification_rate']:.2%}",
    ]
    if "interval" in summary:
        low, high = summary["interval"]
        lines += [
            f"  95 % interval {low:.2%} to {high:.2%} (Wilson, as if records were independent); "
            f"weighted rate {summary['weighted_identification_rate']:.2%}",
            f"  {summary['distinct_originals']:,} different originals of {summary['total_ori_records']:,} "
            f"({summary['original_rate']:.2%}) are hit",
            aligned(
                ("columns in the set", "records"),
                [(str(size), f"{n:,}") for size, n in summary["identified_by_size"].items()],
                right=("records",),
            ),
            aligned(
                ("column", "in the sets of"),
                [
                    (name, f"{share:.1%}")
                    for name, share in sorted(summary["identified_by_column"].items(), key=lambda each: -each[1])
                ],
                right=("in the sets of",),
            ),
        ]
    if "control" in summary:
        lines += _control_lines(summary["control"])
    if not summary.get("complete", True):
        lines.append(f"  NOT complete: the budget ended; sets of up to {summary['complete_to_size']} columns are done")
    return lines + ([f"  careful: {summary['note']}"] if "note" in summary else [])


def _control_lines(control: Mapping[str, Any]) -> list[str]:
    low, high = control["interval"]
    return [
        f"Against {control['n_compared']:,} control records and as many originals "
        f"(mean of {control['n_draws']} draws): {control['control_rate']:.2%} and {control['train_rate']:.2%}",
        f"  excess risk {control['excess_risk']:.4f}, 95 % interval {low:.4f} to {high:.4f} "
        f"({control['n_permutations']} permutations, p = {control['p_value']:.3g})",
    ]


def _uniques_lines(found: MinimalUniques, by_value: list[dict[str, Any]]) -> list[str]:
    summary = found.summary()
    lines = [
        f"{summary['n_records_with_sets']:,} of {summary['n_records']:,} records are unique on at most "
        f"{summary['max_size']} of {len(summary['columns'])} columns; {summary['n_sets']:,} minimal sets",
        f"  chance that a unique record is a unique person (DIS, a sample of 1 %): {summary['dis']:.2%}",
        aligned(
            ("columns in the set", "sets"),
            [(str(size), f"{n:,}") for size, n in summary["n_by_size"].items()],
            right=("sets",),
        ),
        aligned(
            ("column", "share of the SUDA scores"),
            [(name, f"{share:.1%}") for name, share in sorted(summary["contributions"].items(), key=lambda x: -x[1])],
            right=("share of the SUDA scores",),
        ),
    ]
    if by_value:
        rows = sorted(by_value, key=lambda each: -each["contribution"])[:20]
        lines.append(
            aligned(
                ("column", "value", "share of the SUDA scores"),
                [(each["column"], each["value"] or "", f"{each['contribution']:.1%}") for each in rows],
                right=("share of the SUDA scores",),
            )
        )
    if not summary["complete"]:
        lines.append("  NOT complete: the budget ended; sets may be missing, and some may not be minimal")
    return lines
