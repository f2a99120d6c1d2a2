"""keys: which columns tell all rows apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from hushtable.cli.arguments import (
    ColumnsOptions,
    InFile,
    ReadingOptions,
    Results,
    Seconds,
    budget_of,
    check_effects,
    names_of,
    place_of,
)
from hushtable.cli.groups import field, find_given
from hushtable.cli.limits import fail_above, judge_figures, limits_of
from hushtable.cli.report import check_outputs, print_result, write_table
from hushtable.cli.summary import keys_tables
from hushtable.cli.terminal import show_sets_progress, show_step
from hushtable.policy import keys_figures

_FIGURES: Final = ("count",)
_NEEDS: Final = {"--seed": ("--sample",), "--measure": ("--error",)}
_EXCLUDES: Final = {"--sample": ("--seconds",)}


@dataclass(frozen=True)
class KeySearch:
    """What is a key, and how keys are searched for."""

    max_size: int | None = field(None, "Maximum number of columns of a key. Default: all.", min=1)
    error: float = field(0.0, "Share that a key may leave undecided, from 0 to below 1; 0 finds exact keys.")
    measure: str | None = field(
        None,
        "What --error limits: g1, the default (pairs of rows that agree), or unique_rate (rows not alone).",
        metavar="g1|unique_rate",
    )
    rows: str = field("distinct", "Count equal rows once (distinct), or every record (all).", metavar="distinct|all")
    missing: str = field(
        "category",
        "How missing cells count: category, or never (no key has a column with one).",
        metavar="category|never",
    )
    sample: int | None = field(None, "Find one key in a sample of so many rows, and measure it on all rows.", min=2)
    seed: int | None = field(None, "Seed of --sample. Default: 0.", min=0)
    seconds: Seconds = None


@dataclass(frozen=True)
class ShownKeys(Results):
    """What is written and printed."""

    top: int = field(20, "Number of keys to show. Keys that others know most easily come first.", min=1)
    details: Path | None = field(None, "File to write all keys to: CSV or Parquet.")


def keys(
    file: InFile,
    search: KeySearch,
    results: ShownKeys,
    reading: ReadingOptions,
    columns: ColumnsOptions = "",
    fail: Annotated[list[str] | None, fail_above(_FIGURES)] = None,
) -> None:
    """List the smallest sets of columns that distinguish all rows, exactly or almost."""
    from hushtable.risk import minimal_keys

    limits = limits_of(fail, _FIGURES)
    check_effects(find_given(search), _NEEDS, _EXCLUDES)
    check_outputs((results.details,), results, place_of(file))
    with show_step("reading"):
        table = reading.table_with_counts(file, names_of(columns))
    with show_sets_progress("columns") as progress:
        result = minimal_keys(
            table,
            names_of(columns) or None,
            max_size=search.max_size,
            measure=search.measure or "g1",  # type: ignore[arg-type]  # checked by the callee
            error=search.error,
            rows=search.rows,  # type: ignore[arg-type]
            missing=search.missing,  # type: ignore[arg-type]
            sample=search.sample,
            budget=budget_of(search.seconds),
            seed=search.seed or 0,
            progress=progress,
        )
    if results.details is not None:
        write_table(result.to_frame(), results.details, force=results.force)
    entries = {"file": file.name, **result.to_dict(), "keys": result.easiest_key_rows(results.top)}
    failed = judge_figures(keys_figures(result.summary()), limits)
    print_result(result, entries, failed, results, lambda: keys_tables(result, results.top))
