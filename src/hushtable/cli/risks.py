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
    amounts_of,
    check_effects,
    counted_table_of,
    fail_above,
    failing,
    frame_of,
    limits_of,
    names_of,
    place_of,
    precision_of,
    table_path,
    uniques_figures,
    use_threads,
)
from hushtable.cli.report import ReportFile, report_outputs, write_report
from hushtable.cli.summary import mpuccs_lines, uniques_lines
from hushtable.cli.terminal import print_json, say, sets_bar, step, tell
from hushtable.errors import InputError
from hushtable.policy import failures, mpuccs_figures

if TYPE_CHECKING:
    from hushtable.io import Frame
    from hushtable.risk import Mpuccs, PetsardMpuccs

__all__ = ["mpuccs", "uniques"]

ColumnsOption = Annotated[str, typer.Option("--columns", metavar="A,B", help="Columns to look at. Default: all.")]
Seconds = Annotated[
    float | None,
    typer.Option("--seconds", min=0, help="Stop after so many seconds, with what was found.", show_default=False),
]
ShowValues = Annotated[
    bool, typer.Option("--show-values", help="Also show values of records. The output is then internal.")
]
Details = Annotated[
    Path | None,
    typer.Option("--details", metavar="OUT", help="File to write the result to, record by record.", show_default=False),
]

_MPUCCS_FIGURES: Final = ("rate", "excess", "count")
_UNIQUES_FIGURES: Final = ("rate", "count")
_NEEDS: Final = {
    "--draws": ("--control",),
    "--permutations": ("--control",),
    "--seed": ("--control",),
    "--fail-above excess": ("--control",),
    "--alpha": ("--tree", "--entropy-delta", "--compat"),
    "--show-values": ("--details",),
    "--compat": ("a synthetic table",),
}
_EXCLUDES: Final = {
    "--deduplicate": ("--columns",),
    "--compat": ("--control", "--columns", "--missing", "--deduplicate", "--all-minimal", "--seconds", "--report"),
}


def mpuccs(
    original: InFile,
    synthetic: Annotated[
        Path | None,
        typer.Argument(metavar="[SYNTHETIC]", help="Synthetic table.", parser=table_path, show_default=False),
    ] = None,
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Table of people who were never used for the synthesis.",
            parser=table_path,
            show_default=False,
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="1,2,3", help='Numbers of columns of a set, or "all". Default: up to 3.', show_default=False
        ),
    ] = None,
    columns: ColumnsOption = "",
    missing: Annotated[
        str, typer.Option(help="How missing values count: category, or never (they match nothing).")
    ] = "category",
    deduplicate: Annotated[
        bool, typer.Option("--deduplicate", help="Count distinct rows: equal records of a table once, as the source.")
    ] = False,
    decimals: Annotated[
        str,
        typer.Option(
            metavar="A=2,B=0|N|auto|exact",
            help="Decimals to which numbers are compared. auto: as the coarser table writes the column.",
        ),
    ] = "auto",
    datetime_unit: Annotated[
        str,
        typer.Option(
            metavar="A=D,B=h|UNIT|auto|exact",
            help="Unit to which moments are cut: D, h, m, s, ms or us. auto: as for --decimals.",
        ),
    ] = "auto",
    decay: Annotated[
        float,
        typer.Option(help="Weight in the weighted rate: a set of c columns counts this to the power c - 1. In (0, 1]."),
    ] = 0.5,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Order of the entropies of --tree and --entropy-delta: Default: 2; 1 is Shannon's, inf "
            "the min-entropy.",
            show_default=False,
        ),
    ] = None,
    entropy_delta: Annotated[
        float | None,
        typer.Option(
            help="Skip column sets that add no more entropy than this. It misses records.", show_default=False
        ),
    ] = None,
    all_minimal: Annotated[
        bool, typer.Option("--all-minimal", help="List all minimal sets of a record, not only its first smallest one.")
    ] = False,
    compat: Annotated[
        str | None, typer.Option(help="petsard-1.6: repeat its order, pruning and entropies.", show_default=False)
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            help="Number of draws of as many originals as --control has records. Default: 5.", show_default=False
        ),
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option(
            help="Permutations of the labels original and control, 20 or more, for the interval. Default: 199.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed of the comparison with --control. Default: 0.", show_default=False),
    ] = None,
    seconds: Seconds = None,
    threads: Threads = None,
    details: Details = None,
    report: ReportFile = None,
    tree: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="File to write the result to, set by set: entropies, and how many records it singles out.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    show_values: ShowValues = False,
    fail: Annotated[list[str] | None, fail_above(_MPUCCS_FIGURES)] = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Count the synthetic records that single out exactly one original record."""
    limits = limits_of(fail, _MPUCCS_FIGURES)
    given = {
        "a synthetic table": synthetic is not None,
        "--control": control is not None,
        "--columns": bool(names_of(columns)),
        "--missing": missing != "category",
        "--deduplicate": deduplicate,
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
        "--report": report is not None,
        "--fail-above excess": "excess" in limits,
    }
    check_effects(given, _NEEDS, _EXCLUDES)
    use_threads(threads)
    _check_outputs((details, tree), report, (place_of(original), synthetic, control), overwrite=force)
    options: dict[str, Any] = {
        "numeric_precision": precision_of("--decimals", decimals, int, "a whole number"),
        "datetime_precision": precision_of("--datetime-unit", datetime_unit, str, "D, h, m, s, ms or us"),
        "field_decay_factor": decay,
        "values": show_values,
        **_said(renyi_alpha=alpha, min_entropy_delta=entropy_delta),
    }
    with step("reading"):
        first = counted_table_of(original, names_of(columns), encoding, delimiter, details=details or tree)
        options["n_cols"] = _sizes(sizes, len(names_of(columns) or first.names))
        second, third = (frame_of(path, encoding, delimiter) for path in (synthetic, control))
    attacked: Mpuccs | PetsardMpuccs
    if compat is not None:
        attacked = _as_petsard(compat, first, second, options)
        if limits:
            tell("hushtable: careful: petsard-1.6 skips column sets, so that its figures are too low.")
    else:
        options |= {"columns": names_of(columns) or None, "all_minimal": all_minimal, "missing": missing}
        options |= _said(n_draws=draws, n_permutations=permutations, seed=seed)
        options |= {"deduplicate": deduplicate}
        attacked = _attack(first, second, third, seconds, options)
    if details is not None:
        _write(attacked.details, details, force=force)
    if tree is not None:
        _write(attacked.tree, tree, force=force, by_record=False)
    write_report(attacked, report, force=force)
    failed = failures(mpuccs_figures(attacked.summary, limits), limits)
    lines = [] if as_json else mpuccs_lines(attacked, alone=synthetic is None)
    _show({"file": original.name, **attacked.to_dict()}, lines, limits, failed)


def _show(
    entries: dict[str, Any], lines: Sequence[str], limits: Mapping[str, float], failed: list[dict[str, Any]]
) -> None:
    """Print lines, or the entries as JSON where there are none; then leave with exit 1 where a limit failed."""
    with failing(failed):
        if lines:
            say(*lines)
        else:
            print_json({**entries, **({"failed_above": failed} if limits else {})})


def _said(**options: Any) -> dict[str, Any]:
    """Return the options that were given; for the others, what is called has defaults of its own."""
    return {name: value for name, value in options.items() if value is not None}


def _attack(
    original: Frame | None,
    synthetic: Frame | None,
    control: Frame | None,
    seconds: float | None,
    options: dict[str, Any],
) -> Mpuccs:
    from hushtable.risk.mpuccs import mpuccs as attack
    from hushtable.search import Budget

    budget = None if seconds is None else Budget(seconds=seconds)
    with sets_bar("columns") as progress:
        return attack(original, synthetic, control=control, budget=budget, progress=progress, **options)


def _as_petsard(compat: str, original: Any, synthetic: Any, options: dict[str, Any]) -> PetsardMpuccs:
    """Imitate another program; of precisions it knows one for all columns, and finds it where none is given."""
    from hushtable.risk import petsard_mpuccs

    if compat != "petsard-1.6":
        raise InputError(f"--compat {compat!r} is not known.", hint="use petsard-1.6, or leave it out.")
    for option, name in (("--decimals", "numeric_precision"), ("--datetime-unit", "datetime_precision")):
        given = options[name]
        if given is None or isinstance(given, dict):
            raise InputError(
                f"{option} with --compat is one precision for all columns.",
                hint="give one, or auto, which is found as that program does.",
            )
        options[name] = None if given == "auto" else given
    return petsard_mpuccs(original, synthetic, **options)


def uniques(
    file: InFile,
    columns: ColumnsOption = "",
    max_size: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of columns of a set. Default: all.", show_default=False)
    ] = None,
    missing: Annotated[
        str, typer.Option(help="How missing values count: category, or never (they make nothing unique).")
    ] = "category",
    disclosure_fraction: Annotated[
        float, typer.Option(help="Share of the population that the table holds, as DIS assumes. In (0, 1).")
    ] = 0.01,
    tolerance: Annotated[
        str,
        typer.Option(
            metavar="A=14D,B=1",
            help="How far an attacker's knowledge of these columns may be off. Other columns are known exactly.",
        ),
    ] = "",
    seconds: Seconds = None,
    details: Details = None,
    report: ReportFile = None,
    force: Force = False,
    show_values: ShowValues = False,
    fail: Annotated[list[str] | None, fail_above(_UNIQUES_FIGURES)] = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Find the smallest column sets on which each record is unique, and compute SUDA scores."""
    from hushtable.risk import minimal_uniques
    from hushtable.search import Budget

    limits = limits_of(fail, _UNIQUES_FIGURES)
    _check_outputs((details,), report, (place_of(file),), overwrite=force)
    with step("reading"):
        frame = counted_table_of(file, names_of(columns), encoding, delimiter, details=details)
    with sets_bar("columns") as progress:
        keys = minimal_uniques(
            frame,
            columns=names_of(columns) or None,
            max_size=max_size,
            missing=missing,  # type: ignore[arg-type]  # checked by the callee
            disclosure_fraction=disclosure_fraction,
            tolerance=amounts_of("--tolerance", tolerance) or None,
            budget=None if seconds is None else Budget(seconds=seconds),
            progress=progress,
        )
    if details is not None:
        _write(keys.details, details, force=force)
    by_value = keys.contributions_by_value().rows(named=True) if show_values else []
    write_report(keys, report, force=force)
    failed = failures(uniques_figures(keys.summary()), limits)
    entries = {"file": file.name, **keys.to_dict(), **({"by_value": by_value} if show_values else {})}
    _show(entries, [] if as_json else uniques_lines(keys, by_value), limits, failed)


def _sizes(text: str | None, n_columns: int) -> list[int] | None:
    """Return the sizes of column sets: None for all; without a text those up to 3 that a table has."""
    if text is None:
        return list(range(1, min(3, n_columns) + 1))
    if text.strip() == "all":
        return None
    try:
        return [int(each) for each in text.split(",")]
    except ValueError:
        raise InputError(
            f"--sizes {text!r} is no list of whole numbers.", hint="for instance: --sizes 1,2,3, or --sizes all."
        ) from None


def _check_outputs(
    outputs: Sequence[Path | None], report: Path | None, inputs: Sequence[Path | None], *, overwrite: bool
) -> None:
    """Raise InputError where results cannot be written, before the search for them."""
    from hushtable.io import drafts, frames

    asked = [path for path in outputs if path is not None]
    for path in asked:
        frames.file_kind(path)
    drafts.check_outputs((*asked, *report_outputs(report)), drafts.paths_among(*inputs), overwrite=overwrite)


def _write(table: Any, path: Path, *, force: bool, by_record: bool = True) -> None:
    """Write a frame of results; a CSV has no lists, so that sets of columns become JSON."""
    from hushtable.io import drafts, frames

    with drafts.replacing(path, internal=(path,), overwrite=force) as (draft,):
        frames.write(frames.with_json_lists(frames.read(table)), draft)
    warning = " It says which records are singled out: keep it as safe as the data." if by_record else ""
    tell(f"Wrote {path}.{warning}")
