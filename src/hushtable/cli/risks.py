"""mpuccs, uniques: who is singled out on which columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from hushtable.cli.arguments import (
    ColumnsOptions,
    DetailedResults,
    InFile,
    Machine,
    OriginalFile,
    ReadingOptions,
    Seconds,
    Tolerance,
    amounts_of,
    budget_of,
    check_effects,
    names_of,
    place_of,
    precision_of,
    table_field,
    table_path,
)
from hushtable.cli.groups import argument, field, find_given, option
from hushtable.cli.limits import fail_above, judge_figures, limits_of, uniques_figures
from hushtable.cli.report import check_outputs, print_result, write_table
from hushtable.cli.summary import mpuccs_tables, uniques_tables
from hushtable.cli.terminal import print_to_stderr, show_sets_progress, show_step
from hushtable.errors import InputError
from hushtable.policy import mpuccs_figures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hushtable.io import Frame
    from hushtable.risk import Mpuccs, PetsardMpuccs

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


_WARNING: Final = " It says which records are singled out: keep it as safe as the data."


@dataclass(frozen=True)
class ColumnSetsOptions:
    """Which column sets are looked at."""

    sizes: str | None = field(None, 'Numbers of columns of a set, or "all". Default: up to 3.', metavar="1,2,3")
    columns: ColumnsOptions = ""
    all_minimal: bool = field(
        False, "List all minimal sets of a record, not only its first smallest one.", "--all-minimal"
    )
    decay: float = field(
        0.5, "Weight in the weighted rate: a set of c columns counts this to the power c - 1. In (0, 1]."
    )
    alpha: float | None = field(
        None, "Order of the entropies of --tree and --entropy-delta: 1 is Shannon's, inf the min-entropy. Default: 2."
    )
    entropy_delta: float | None = field(None, "Skip column sets that add no more entropy than this. It misses records.")
    compat: str | None = field(None, "Repeat the order, pruning and entropies of petsard-1.6.", metavar="petsard-1.6")
    seconds: Seconds = None


@dataclass(frozen=True)
class Equality:
    """Which cells and records are equal."""

    missing: str = field(
        "category", "How missing values count: category, or never (they match nothing).", metavar="category|never"
    )
    deduplicate: bool = field(
        False, "Count distinct rows: equal records of a table once, as the source.", "--deduplicate"
    )
    decimals: str = field(
        "auto",
        "Decimals to which numbers are compared. auto: as the coarser table writes the column.",
        metavar="A=2,B=0|N|auto|exact",
    )
    datetime_unit: str = field(
        "auto",
        "Unit to which moments are cut: D, h, m, s, ms or us. auto: as for --decimals.",
        metavar="A=D,B=h|UNIT|auto|exact",
    )


@dataclass(frozen=True)
class Control:
    """What would be singled out anyway."""

    control: Path | None = table_field("Table of people who were never used for the synthesis.")
    draws: int | None = field(None, "Number of draws of as many originals as --control has records. Default: 5.")
    permutations: int | None = field(
        None, "Permutations of the labels original and control, 20 or more, for the interval. Default: 199."
    )
    seed: int | None = field(None, "Seed of the comparison with --control. Default: 0.")


@dataclass(frozen=True)
class MpuccsResults(DetailedResults):
    """What is written and printed."""

    tree: Path | None = field(
        None, "File to write the result to, set by set: entropies, and how many records it singles out."
    )


def mpuccs(
    original: OriginalFile,
    control: Control,
    sets: ColumnSetsOptions,
    equality: Equality,
    results: MpuccsResults,
    machine: Machine,
    synthetic: Annotated[
        Path | None,
        argument(
            "SYNTHETIC",
            "Synthetic table. Without it: which originals are unique, on which columns.",
            parser=table_path,
        ),
    ] = None,
    fail: Annotated[list[str] | None, fail_above(_MPUCCS_FIGURES)] = None,
) -> None:
    """Count the synthetic records that single out exactly one original record."""
    limits = limits_of(fail, _MPUCCS_FIGURES)
    is_given = {
        **find_given(sets, control, equality, results),
        "a synthetic table": synthetic is not None,
        "--fail-above excess": "excess" in limits,
    }
    check_effects(is_given, _NEEDS, _EXCLUDES)
    inputs = (place_of(original), synthetic, control.control)
    check_outputs((results.details, results.tree), results, *inputs)
    options: dict[str, Any] = {
        "numeric_precision": precision_of("--decimals", equality.decimals, int, "a whole number"),
        "datetime_precision": precision_of("--datetime-unit", equality.datetime_unit, str, "D, h, m, s, ms or us"),
        "field_decay_factor": sets.decay,
        "values": results.show_values,
        **_without_defaults(renyi_alpha=sets.alpha, min_entropy_delta=sets.entropy_delta),
    }
    names = names_of(sets.columns)
    with show_step("reading"):
        first = machine.table_with_counts(original, names, details=results.details or results.tree)
        options["n_cols"] = _parse_sizes(sets.sizes, len(names or first.names))
        second, third = (machine.optional_table(path) for path in (synthetic, control.control))
    attacked: Mpuccs | PetsardMpuccs
    if sets.compat is not None:
        attacked = _as_petsard(sets.compat, first, second, options)
        if limits:
            print_to_stderr("hushtable: careful: petsard-1.6 skips column sets, so that its figures are too low.")
    else:
        options |= {"columns": names or None, "all_minimal": sets.all_minimal, "budget": budget_of(sets.seconds)}
        options |= {"missing": equality.missing, "deduplicate": equality.deduplicate, "control": third}
        options |= _without_defaults(n_draws=control.draws, n_permutations=control.permutations, seed=control.seed)
        attacked = _run_mpuccs(first, second, options)
    if results.details is not None:
        write_table(attacked.details, results.details, force=results.force, warning=_WARNING)
    if results.tree is not None:
        write_table(attacked.tree, results.tree, force=results.force)
    failed = judge_figures(mpuccs_figures(attacked.summary, limits), limits)
    entries = {"file": original.name, **attacked.to_dict()}
    print_result(attacked, entries, failed, results, lambda: mpuccs_tables(attacked))


def _run_mpuccs(original: Frame, synthetic: Frame | None, options: Mapping[str, Any]) -> Mpuccs:
    from hushtable.risk.mpuccs import mpuccs as attack

    with show_sets_progress("columns") as progress:
        return attack(original, synthetic, progress=progress, **options)


def _without_defaults(**options: object) -> dict[str, object]:
    """Return the options that were given; the called function has its own defaults for the others."""
    return {name: value for name, value in options.items() if value is not None}


def _as_petsard(compat: str, original: Any, synthetic: Any, options: dict[str, Any]) -> PetsardMpuccs:
    """Imitate PETsARD 1.6; it has one precision for all columns, and finds it by itself if none is given."""
    from hushtable.risk import petsard_mpuccs

    if compat != "petsard-1.6":
        raise InputError(f"--compat {compat!r} is not known.", hint="use petsard-1.6, or leave it out.")
    for option_name, name in (("--decimals", "numeric_precision"), ("--datetime-unit", "datetime_precision")):
        precision = options[name]
        if precision is None or isinstance(precision, dict):
            raise InputError(
                f"{option_name} with --compat is one precision for all columns.",
                hint="give one, or auto, which is found as that program does.",
            )
        options[name] = None if precision == "auto" else precision
    return petsard_mpuccs(original, synthetic, **options)


@dataclass(frozen=True)
class UniqueSets:
    """Which column sets are looked at."""

    columns: ColumnsOptions = ""
    max_size: int | None = field(None, "Maximum number of columns of a set. Default: all.", min=1)
    missing: str = field(
        "category", "How missing values count: category, or never (they make nothing unique).", metavar="category|never"
    )
    tolerance: Tolerance = ""
    seconds: Seconds = None


def uniques(
    file: InFile,
    sets: UniqueSets,
    results: DetailedResults,
    reading: ReadingOptions,
    disclosure_fraction: Annotated[
        float, option("Share of the population that the table holds, as DIS assumes. In (0, 1).")
    ] = 0.01,
    fail: Annotated[list[str] | None, fail_above(_UNIQUES_FIGURES)] = None,
) -> None:
    """Find the smallest column sets on which each record is unique, and compute SUDA scores."""
    from hushtable.risk import minimal_uniques

    limits = limits_of(fail, _UNIQUES_FIGURES)
    check_outputs((results.details,), results, place_of(file))
    names = names_of(sets.columns)
    with show_step("reading"):
        frame = reading.table_with_counts(file, names, details=results.details)
    with show_sets_progress("columns") as progress:
        keys = minimal_uniques(
            frame,
            columns=names or None,
            max_size=sets.max_size,
            missing=sets.missing,  # type: ignore[arg-type]  # checked by the callee
            disclosure_fraction=disclosure_fraction,
            tolerance=amounts_of("--tolerance", sets.tolerance) or None,
            budget=budget_of(sets.seconds),
            progress=progress,
        )
    if results.details is not None:
        write_table(keys.details, results.details, force=results.force, warning=_WARNING)
    by_value = keys.contributions_by_value().rows(named=True) if results.show_values else []
    failed = judge_figures(uniques_figures(keys.summary()), limits)
    entries = {"file": file.name, **keys.to_dict(), **({"by_value": by_value} if results.show_values else {})}
    print_result(keys, entries, failed, results, lambda: uniques_tables(keys, by_value))


def _parse_sizes(text: str | None, n_columns: int) -> list[int] | None:
    """Return the sizes of column sets: None for all; without a text, up to 3 (or the number of columns)."""
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
