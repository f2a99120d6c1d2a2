"""run: a pipeline's file, from tables to reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hushtable.cli.arguments import Threads, check_effects, use_threads
from hushtable.cli.report import ReportFile, check_report, write_report
from hushtable.cli.terminal import leaving, say, tell

__all__ = ["run"]


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Pipeline file (YAML).", show_default=False)],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder to write files to. It is made if needed.")
    ] = Path(),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the steps, and which have earlier results. Do nothing.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do not use earlier results; compute everything again.")
    ] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither use nor keep results between runs.")] = False,
    clean: Annotated[
        bool,
        typer.Option(
            "--clean", help="Remove the results kept between runs (they hold people's data). Do nothing else."
        ),
    ] = False,
    report: ReportFile = None,
    allow_missing: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-missing",
            metavar="NAME",
            help="Leave out this evaluator, which hushtable does not have; repeat it for each. Without it: exit 1.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Also overwrite files that no earlier run wrote.")] = False,
    threads: Threads = None,
) -> None:
    """Carry out a pipeline: load, split, synthesize or protect, evaluate, report."""
    use_threads(threads)
    from hushtable.pipeline import Pipeline, store

    if report is not None:
        check_report(report, [file], force=force)
    given = {
        "--report": report is not None,
        "--clean": clean,
        "--dry-run": dry_run,
        "--fresh": fresh,
        "--no-cache": no_cache,
        "--force": force,
        "--allow-missing": bool(allow_missing),
    }
    check_effects(
        given,
        {},
        {
            "--clean": ("--dry-run", "--fresh", "--no-cache", "--report", "--force", "--allow-missing"),
            "--dry-run": ("--report", "--force", "--allow-missing"),
            "--no-cache": ("--fresh",),
        },
    )
    if clean:
        # Whatever the file says: it may be broken by now.
        say("Removed what was kept." if store.clean(file.parent / store.FOLDER) else "Nothing was kept.")
        return
    pipeline = Pipeline.read(file)
    if report is not None:
        # Which files it reads, and that they are there.
        check_report(report, [file, *pipeline.inputs], force=force)
    if dry_run:
        for line in pipeline.left_out:
            say(line)
        plan = pipeline.plan(cache=not (fresh or no_cache))
        say(*(f"{step.line}{'  (kept from before)' if is_kept else ''}" for step, is_kept in plan))
        return
    done = pipeline.run(
        out, fresh=fresh, cache=not no_cache, tell=tell, overwrite=force, allow_missing=allow_missing or ()
    )
    write_report(done, report, force=force)
    with leaving(0 if done.passed else 1):
        try:
            say("Wrote:" if done.files else "Nothing was asked for: no file.", *(f"  {path}" for path in done.files))
        finally:
            tell(*(f"hushtable: failed: {failure}." for failure in done.failures))
            tell(*(f"hushtable: left out, not built: {each} (--allow-missing accepts it)." for each in done.missing))
