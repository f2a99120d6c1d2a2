"""run: a pipeline's file, from tables to reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from hushtable.cli.arguments import ReportFile, Results, Threads, check_effects
from hushtable.cli.groups import argument, field, find_given
from hushtable.cli.report import check_report, write_report
from hushtable.cli.terminal import exit_with_code, print_lines, print_to_stderr

_EXCLUDES: Final = {
    "--clean": ("--dry-run", "--fresh", "--no-cache", "--report", "--force", "--allow-missing"),
    "--dry-run": ("--report", "--force", "--allow-missing"),
    "--no-cache": ("--fresh",),
}


@dataclass(frozen=True)
class Kept:
    """Results of earlier runs."""

    dry_run: bool = field(False, "Show the steps, and which have earlier results. Do nothing.", "--dry-run")
    fresh: bool = field(False, "Do not use earlier results; compute everything again.", "--fresh")
    no_cache: bool = field(False, "Neither use nor keep results between runs.", "--no-cache")
    clean: bool = field(
        False, "Remove the results kept between runs (they hold people's data). Do nothing else.", "--clean"
    )


@dataclass(frozen=True)
class Reports:
    """What is written."""

    out: Path = field(Path(), "Folder to write files to. It is made if needed.", metavar="FOLDER")
    report: ReportFile = None
    force: bool = field(False, "Also overwrite files that no earlier run wrote.", "--force")
    allow_missing: list[str] | None = field(
        None,
        "Leave out this evaluator, which hushtable does not have; repeat it for each. Without it: exit 1.",
        metavar="NAME",
    )


def run(
    file: Annotated[Path, argument("FILE", "Pipeline file (YAML).")],
    reports: Reports,
    cache_options: Kept,
    threads: Threads = None,
) -> None:
    """Carry out a pipeline: load, split, synthesize or protect, evaluate, report."""
    from hushtable.pipeline import Pipeline, store

    results = Results(reports.report, reports.force)
    if reports.report is not None:
        check_report(results, file)
    check_effects(find_given(reports, cache_options), {}, _EXCLUDES)
    if cache_options.clean:
        # Before the file is read: it may be broken by now.
        print_lines("Removed what was kept." if store.clean(file.parent / store.FOLDER) else "Nothing was kept.")
        return
    pipeline = Pipeline.read(file)
    if reports.report is not None:
        # Also checks that the pipeline's input files exist.
        check_report(results, file, *pipeline.inputs)
    if cache_options.dry_run:
        for line in pipeline.left_out:
            print_lines(line)
        plan = pipeline.plan(cache=not (cache_options.fresh or cache_options.no_cache))
        print_lines(*(f"{step.line}{'  (kept from before)' if is_kept else ''}" for step, is_kept in plan))
        return
    done = pipeline.run(
        reports.out,
        fresh=cache_options.fresh,
        cache=not cache_options.no_cache,
        tell=print_to_stderr,
        overwrite=reports.force,
        allow_missing=reports.allow_missing or (),
    )
    write_report(done, results)
    with exit_with_code(0 if done.passed else 1):
        try:
            print_lines(
                "Wrote:" if done.files else "Nothing was asked for: no file.", *(f"  {path}" for path in done.files)
            )
        finally:
            print_to_stderr(*(f"hushtable: failed: {failure}." for failure in done.failures))
            print_to_stderr(
                *(f"hushtable: left out, not built: {each} (--allow-missing accepts it)." for each in done.missing)
            )
