"""mpuccs, uniques: who is singled out on which columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hushtable.cli.arguments import (
    AsJson,
    Delimiter,
    Encoding,
    Force,
    InFile,
    Threads,
    check_effects,
    frame_of,
    names_of,
    place_of,
    precision_of,
    table_of,
    use_threads,
)
from hushtable.cli.terminal import aligned, print_json, say, sets_bar, step
from hushtable.errors import InputError, with_hint

if TYPE_CHECKING:
    from hushtable.risk.mpuccs import Mpuccs
    from hushtable.risk.petsard import PetsardMpuccs
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

_NEEDS: Final = {
    "--draws": ("--control",),
    "--permutations": ("--control",),
    "--seed": ("--control",),
    "--alpha": ("--tree", "--entropy-delta", "--compat"),
    "--show-values": ("--details",),
    # A table alone keeps its equal records anyway.
    "--keep-duplicates": ("a synthetic table",),
    "--compat": ("a synthetic table",),
}
_EXCLUDES: Final = {
    "--compat": ("--control", "--columns", "--missing", "--keep-duplicates", "--all-minimal", "--seconds"),
}


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
    decimals: Annotated[
        str,
        typer.Option(
            metavar="A=2,B=0|N|auto|exact",
            help="To how many decimals numbers are compared; auto: as the coarser table writes the column.",
        ),
    ] = "auto",
    datetime_unit: Annotated[
        str,
        typer.Option(
            metavar="A=D,B=h|UNIT|auto|exact",
            help="To which unit moments are cut: D, h, m, s, ms or us; auto as for --decimals.",
        ),
    ] = "auto",
    decay: Annotated[
        float,
        typer.Option(help="Weight of a set of c columns in the weighted rate: this to the power c - 1; in (0, 1]."),
    ] = 0.5,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Order of the entropies of --tree and --entropy-delta: 2 when not given, 1 Shannon's, inf the "
            "min-entropy.",
            show_default=False,
        ),
    ] = None,
    entropy_delta: Annotated[
        float | None,
        typer.Option(help="Skip sets that add no more entropy than this. It loses records.", show_default=False),
    ] = None,
    all_minimal: Annotated[
        bool, typer.Option("--all-minimal", help="All minimal sets of a record, not only its first smallest.")
    ] = False,
    compat: Annotated[
        str | None, typer.Option(help="petsard-1.6: its order, pruning and entropies.", show_default=False)
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(help="Draws of as many originals as --control has records: 5 when not given.", show_default=False),
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option(
            help="Exchanges of the labels original and control, for the interval: 20 when not given.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Of the comparison with --control: 0 when not given.", show_default=False),
    ] = None,
    seconds: Seconds = None,
    threads: Threads = None,
    details: Details = None,
    tree: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT", help="Write set by set: entropies, and how many it singles out.", show_default=False
        ),
    ] = None,
    force: Force = False,
    show_values: ShowValues = False,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Count the records that are unique on a few columns and equal exactly one original there."""
    given = {
        "a synthetic table": synthetic is not None,
        "--control": control is not None,
        "--columns": bool(names_of(columns)),
        "--missing": missing != "category",
        "--keep-duplicates": keep_duplicates,
        "--alpha": alpha is not None,
        "--entropy-delta": entropy_delta is not None,
        "--all-minimal": all_minimal,
        "--compat": compat is not None,
        "--draws": draws is not None,
        "--permutations": permutations is not None,
        "--seed": seed is not None,
        "--seconds": seconds is not None,
        "--details": details is not None,
        "--tree": tree is not None,
        "--show-values": show_values,
    }
    check_effects(given, _NEEDS, _EXCLUDES)
    use_threads(threads)
    _check_outputs((details, tree), (place_of(original), synthetic, control), overwrite=force)
    from hushtable.risk.mpuccs import mpuccs as attack
    from hushtable.search import Budget

    options: dict[str, Any] = {
        "n_cols": _sizes(sizes),
        "numeric_precision": precision_of("--decimals", decimals, int, "a whole number"),
        "datetime_precision": precision_of("--datetime-unit", datetime_unit, str, "D, h, m, s, ms or us"),
        "field_decay_factor": decay,
        "values": show_values,
        **({} if alpha is None else {"renyi_alpha": alpha}),
        **({} if entropy_delta is None else {"min_entropy_delta": entropy_delta}),
    }
    with step("reading"):
        original_frame = table_of(original, encoding, delimiter)
        synthetic_frame = frame_of(synthetic, encoding, delimiter)
        control_frame = frame_of(control, encoding, delimiter)
    if compat is not None:
        attacked: Mpuccs | PetsardMpuccs = _as_petsard(compat, original_frame, synthetic_frame, options)
    else:
        with sets_bar("columns") as progress:
            attacked = attack(
                original_frame,
                synthetic_frame,
                columns=names_of(columns) or None,
                control=control_frame,
                deduplicate=False if keep_duplicates else None,
                all_minimal=all_minimal,
                missing=missing,  # type: ignore[arg-type]  # checked by the callee
                n_draws=5 if draws is None else draws,
                n_permutations=20 if permutations is None else permutations,
                seed=seed or 0,
                budget=None if seconds is None else Budget(seconds=seconds),
                progress=progress,
                **options,
            )
    if details is not None:
        _write(attacked.details, details)
    if tree is not None:
        _write(attacked.tree, tree, by_record=False)
    if as_json:
        print_json({"file": original.name, **attacked.to_dict()})
    else:
        say(*_mpuccs_lines(attacked, alone=synthetic is None))


def _as_petsard(compat: str, original: Any, synthetic: Any, options: dict[str, Any]) -> PetsardMpuccs:
    """Imitate another program; of precisions it knows one for all columns, and finds it where none is given."""
    from hushtable.risk.petsard import petsard_mpuccs

    if compat != "petsard-1.6":
        raise InputError(with_hint(f"--compat {compat!r} is not known.", "use petsard-1.6, or leave it out."))
    for option, name in (("--decimals", "numeric_precision"), ("--datetime-unit", "datetime_precision")):
        given = options[name]
        if given is None or isinstance(given, dict):
            msg = f"{option} with --compat is one precision for all columns."
            raise InputError(with_hint(msg, "give one, or auto, which is found as that program does."))
        options[name] = None if given == "auto" else given
    return petsard_mpuccs(original, synthetic, **options)


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
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Find the fewest columns on which each record is unique, and the SUDA scores made of them."""
    from hushtable.risk.uniques import minimal_uniques
    from hushtable.search import Budget

    _check_outputs((details,), (place_of(file),), overwrite=force)
    with step("reading"):
        frame = table_of(file, encoding, delimiter)
    with sets_bar("columns") as progress:
        keys = minimal_uniques(
            frame,
            columns=names_of(columns) or None,
            max_size=max_size,
            missing=missing,  # type: ignore[arg-type]  # checked by the callee
            budget=None if seconds is None else Budget(seconds=seconds),
            progress=progress,
        )
    if details is not None:
        _write(keys.sets, details)
    by_value = keys.contributions_by_value().rows(named=True) if show_values else []
    if as_json:
        print_json({"file": file.name, **keys.to_dict(), **({"by_value": by_value} if show_values else {})})
    else:
        say(*_uniques_lines(keys, by_value))


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


def _check_outputs(outputs: Sequence[Path | None], inputs: Sequence[Path | None], *, overwrite: bool) -> None:
    """Raise InputError where results cannot be written, before the search for them."""
    from hushtable import drafts, frames

    asked = [path for path in outputs if path is not None]
    for path in asked:
        frames.file_kind(path)
    drafts.check_outputs(asked, drafts.paths_among(*inputs), overwrite=overwrite)


def _write(table: Any, path: Path, *, by_record: bool = True) -> None:
    """Write a frame of results; a CSV has no lists, so that sets of columns become JSON."""
    from hushtable import drafts, frames

    with drafts.replacing(path) as (draft,):
        frames.write(frames.with_json_lists(frames.read(table)), draft)
    warning = " It says which records are singled out: keep it as safe as the data." if by_record else ""
    typer.echo(f"Wrote {path}.{warning}", err=True)


def _mpuccs_lines(attacked: Mpuccs | PetsardMpuccs, *, alone: bool) -> list[str]:
    summary = attacked.summary
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
        lines += _unfinished_lines(summary["complete_to_size"], summary["combinations_by_size"])
    return lines + ([f"  careful: {summary['note']}"] if "note" in summary else [])


def _control_lines(control: Mapping[str, Any]) -> list[str]:
    low, high = control["interval"]
    return [
        f"Against {control['n_compared']:,} control records and as many originals "
        f"(mean of {control['n_draws']} draws): {control['control_rate']:.2%} and {control['train_rate']:.2%}",
        f"  excess risk {control['excess_risk']:.4f}, 95 % interval {low:.4f} to {high:.4f} "
        f"({control['n_permutations']} permutations, p = {control['p_value']:.3g})",
    ]


def _uniques_lines(keys: MinimalUniques, by_value: list[dict[str, Any]]) -> list[str]:
    summary = keys.summary()
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
        lines += _unfinished_lines(summary["complete_to_size"], summary["combinations_by_size"])
    return lines


def _unfinished_lines(complete_to: int, by_size: Mapping[int, Mapping[str, int]]) -> list[str]:
    """Say how far a search came whose budget ended: its sizes, and the first that is not complete."""
    begun = [size for size in by_size if size <= complete_to or by_size[size]["walked"]]
    shown = [*begun, *[size for size in by_size if size not in begun][:1]]
    return [
        f"  NOT complete: the budget ended; sets of up to {complete_to} columns are done",
        aligned(
            ("columns in the set", "looked at", "left: nothing can come of them", "skipped", "not reached"),
            [(str(size), *(f"{n:,}" for n in by_size[size].values())) for size in shown],
            right=("looked at", "left: nothing can come of them", "skipped", "not reached"),
        ),
    ]
