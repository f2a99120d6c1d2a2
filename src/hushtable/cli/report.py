"""report: what a committee needs to know of a release; and the option that reports what another command found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hushtable.cli.arguments import AsJson, Force, PolicyFile, Results, WrittenOptions, table_option
from hushtable.cli.groups import argument, option
from hushtable.cli.joblog import record
from hushtable.cli.limits import exit_on_failures
from hushtable.cli.terminal import Laid, exit_with_code, laid_out, print_json, print_lines, print_to_stderr, show_step
from hushtable.columns import escape_controls
from hushtable.errors import HushError, InputError
from hushtable.wording import translate

if TYPE_CHECKING:
    from hushtable.claims import Verdict
    from hushtable.release import Release
    from hushtable.reporting import Block, Report, Section, Table
    from hushtable.wording import StatesFacts


WrittenRelease = Annotated[Path, argument("RELEASE", "Written release, with its manifest beside it.")]


def report_outputs(path: Path | None) -> tuple[Path, ...]:
    """Return the files that a report is written to; none if no report was requested."""
    if path is None:
        return ()
    from hushtable.reporting import report_paths

    return report_paths(path)


def check_report(results: Results, *inputs: Path | None) -> None:
    """Raise InputError if the report cannot be written, for commands that write no other file."""
    from hushtable.io import drafts

    sources = [path for path in inputs if path is not None]
    drafts.check_outputs(report_outputs(results.report), sources, overwrite=results.force)
    if results.force and results.report is None:
        raise InputError("--force has no effect without --report.", hint="leave it out: no file is written.")


def write_report(result: object, results: Results, **options: Any) -> None:
    """Write the report of a result, if one was requested."""
    if results.report is None:
        return
    from hushtable.reporting import report as report_

    with show_step("reporting"):
        told = report_(result, **options)
        page, twin = told.write(results.report, overwrite=results.force)
    print_to_stderr(f"Wrote the report {page} ({told.audience}), and as JSON {twin}.")


def check_outputs(outputs: Sequence[Path | None], results: Results, *inputs: Path | None) -> None:
    """Raise InputError before the search if tables or the report of its result cannot be written."""
    from hushtable.io import drafts, frames

    asked = [path for path in outputs if path is not None]
    for path in asked:
        frames.file_kind(path)
    drafts.check_outputs(
        (*asked, *report_outputs(results.report)), drafts.paths_among(*inputs), overwrite=results.force
    )


def write_table(table: object, path: Path, *, force: bool, warning: str = "") -> None:
    """Write a frame of results; sets of columns become JSON, because a CSV has no lists."""
    from hushtable.io import drafts, frames

    with drafts.replace_files(path, internal=(path,), overwrite=force) as (draft,):
        frames.write(frames.with_json_lists(frames.read(table)), draft)
    print_to_stderr(f"Wrote {path}.{warning}")


def print_result(
    result: StatesFacts,
    entries: Mapping[str, Any],
    failed: list[dict[str, Any]] | None,
    results: Results,
    tables: Callable[[], Iterable[str]] = tuple,
) -> None:
    """Write the report of a result and print it as text or JSON; exit with 1 if a limit failed."""
    write_report(result, results)
    with exit_on_failures(failed or ()):
        if results.as_json:
            facts = entries.get("facts", result.facts)
            print_json({**entries, "facts": facts, **({} if failed is None else {"failed_above": failed})})
        else:
            print_lines(*result.facts, *tables())


def write_release(
    release: Release, output: Path, writing: WrittenOptions, policy: Mapping[str, object] | None = None
) -> Verdict:
    """Write a release as the options say, verify it, and log that."""
    with show_step("writing and verifying"):
        verdict = release.write(
            output,
            keep_order=writing.keep_order,
            external=writing.external,
            policy=policy,
            codebook=writing.codebook,
            overwrite=writing.overwrite,
        )
    record("written", file=output.name, rows=verdict.n_records, suppressed=release.n_suppressed)
    return verdict


@contextmanager
def note_written_release(output: Path) -> Iterator[None]:
    """Mark errors that come after the release was written: the release exists, and holds what it claims."""
    try:
        yield
    except HushError as error:
        # Not exit code 1, which would say that the release does not hold what it claims.
        kind = InputError if error.exit_code == 1 else type(error)
        raise kind(f"{str(output)!r} is written and verified; what was asked for besides failed: {error}") from error


def report(
    release: WrittenRelease,
    output: Annotated[Path | None, option("Page to write (HTML).", "--output", "-o", metavar="FILE.html")] = None,
    external: Annotated[
        bool, option("Make the page for recipients. It shows only what the release shows.", "--external")
    ] = False,
    original: Annotated[
        Path | None,
        table_option("Original table. Adds the risk before, and utility. With --external it is only judged."),
    ] = None,
    policy: PolicyFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a page for a committee: what was released, who could still be found, and what it cost.

    Without --output the report is printed. Exits with 1 if the release does not hold what it claims.
    """
    from hushtable.io import drafts
    from hushtable.release import codebook_paths, manifest_path
    from hushtable.reporting import report as report_

    if not release.name:
        raise InputError(f"{str(release)!r} is no file.", hint="name a written release.")
    inputs = [release, *(path for path in (original, policy) if path is not None)]
    inputs += [manifest_path(release), *codebook_paths(release)]
    drafts.check_outputs(report_outputs(output), inputs, overwrite=force)
    if force and output is None:
        raise InputError("--force has no effect without --output.", hint="leave it out: no file is written.")
    with show_step("reading, judging and measuring"):
        result = report_(release, audience="external" if external else "internal", original=original, policy=policy)
    with exit_with_code(0 if result.holds else 1):
        if output is not None:
            page, twin = result.write(output, overwrite=force)
            print_to_stderr(f"Wrote {page} ({result.audience}), and as JSON {twin}.")
        if as_json:
            print_json(result.to_dict())
        elif output is None:
            print_lines(*_format_report(result))


def _format_report(told: Report) -> Iterator[str]:
    """Format the report for the terminal; a chart becomes its title."""
    yield _text_line(told.title, f"({translate(told.audience)})")
    for section in told.sections:
        yield from _format_section(section)


def _text_line(*texts: str) -> Laid:
    """Say texts on one line, each in the current language: together they are no sentence that it knows."""
    from hushtable.reporting import say as in_language

    return Laid(escape_controls(" ".join(map(in_language, texts))))


def _format_section(section: Section) -> Iterator[str]:
    yield ""
    clause = f"  (ISO/IEC 27559: {translate(section.clause)})" if section.clause else ""
    yield Laid(f"{translate(section.title).upper()}{clause}")
    for block in section.blocks:
        yield from _format_block(block)


def _format_block(block: Block) -> Iterator[str]:
    from hushtable.reporting import Chart, Code, Paragraph, Points, Table

    if isinstance(block, Paragraph):
        yield f"careful: {block.text}" if block.tone == "careful" else block.text
    elif isinstance(block, Points):
        yield from (f"  - {item}" for item in block.items)
    elif isinstance(block, Table):
        yield f"{block.caption}:"
        yield _table(block)
        if block.note:
            yield f"  {block.note}"
    elif isinstance(block, Chart):
        yield f"[figure] {block.title}"
    elif isinstance(block, Code):
        yield f"{block.caption}:"
        yield from (Laid(escape_controls(f"    {line}")) for line in block.text.splitlines())
    else:
        yield from (f"  {label}: ____________________" for label in block.labels)


def _table(block: Table) -> Laid:
    from hushtable.reporting import Quantity, say as in_language, say_cell

    cells = [[say_cell(*each) for each in zip(row, block.titles, strict=True)] for row in block.rows]
    numbers = {place for row in block.rows for place, cell in enumerate(row) if isinstance(cell, Quantity)}
    return laid_out([*map(in_language, block.titles)], cells, right=numbers).rstrip()
