"""perturb: a table with numbers and categories that are near the true ones, and not them."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from hushtable.cli.arguments import (
    AcceptedColumns,
    External,
    InFile,
    KeepOrder,
    NewFile,
    ReadingOptions,
    Results,
    names_of,
    pairs_of,
    place_of,
    reasons_of,
)
from hushtable.cli.groups import field
from hushtable.cli.report import note_written_release, report_outputs, write_report
from hushtable.cli.terminal import format_table, print_json, print_lines, print_to_stderr, show_step
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.claims import Verdict
    from hushtable.io import Frame
    from hushtable.perturbation import PerturbationTradeoff, PerturbedRelease


@dataclass(frozen=True)
class PerturbationOptions:
    """What is perturbed, and how."""

    columns: str = field(..., "Columns to perturb.", metavar="A,B")
    method: str = field(
        "microaggregation",
        "Method: microaggregation, pram, rank_swap, noise, shuffle or record_swap.",
        metavar="METHOD",
    )
    set: list[str] | None = field(
        None, "Option of the method, such as k=5; repeat it for each option.", metavar="OPTION=VALUE"
    )
    beside: list[str] | None = field(
        None,
        "Another method to measure beside, with its options; repeat it for each method. No table comes of it.",
        metavar="'METHOD OPTION=VALUE'",
    )
    by: str | None = field(
        None, "Columns within whose values records are perturbed. They are published as they are.", metavar="A,B"
    )
    keep: str | None = field(None, "Other columns to publish as they are. Default: all others.", metavar="A,B")
    accept: AcceptedColumns = None
    precision: str = field(
        "column", "Digits of new numbers: column (as the column has), or full.", metavar="column|full"
    )
    seed: int = field(0, "Seed. Who knows it may undo the perturbation.")


@dataclass(frozen=True)
class PerturbedFile:
    """How the table is written."""

    certificate: Path | None = field(
        None, "File for the certificate of the lower bound (--set prove=true). Internal.", metavar="FILE.json"
    )
    keep_order: KeepOrder = False
    external: External = False


def perturb(
    file: InFile,
    output: NewFile,
    options: PerturbationOptions,
    written: PerturbedFile,
    results: Results,
    reading: ReadingOptions,
) -> None:
    """Write a table with numbers and categories that are near the true ones, and not them.

    Microaggregation is k-anonymity on the columns, which is verified. All other methods are only stated: no file can
    show what they did. The risk of linkage that is left is printed.
    """
    from hushtable.io import drafts, frames

    frames.file_kind(output)
    outputs = (output, *filter(None, [written.certificate]), *report_outputs(results.report))
    drafts.check_outputs(outputs, (place_of(file),), overwrite=results.force)
    method = _read_method(options.method, options.set or [])
    others = [_read_method(*_split_words(text)) for text in options.beside or []]
    with show_step("reading"):
        frame = reading.table(file)
    release = _perturb_table(frame, method, options)
    certificate = release.certificate
    if written.certificate is not None and certificate is None:
        raise InputError(
            "--certificate without a certificate: prices prove the bound of groups on two or more complete columns.",
            hint="add --set prove=true, or leave --certificate out.",
        )
    beside = _compare_methods(release, others, options) if others else None
    with show_step("writing and verifying"):
        verdict = release.write(
            output, keep_order=written.keep_order, external=written.external, overwrite=results.force
        )
    try:
        with note_written_release(output):
            if written.certificate is not None and certificate is not None:
                certificate.write(written.certificate, overwrite=results.force)
                told = f"Wrote {written.certificate}: it says who is unlike others, keep it as safe as the data."
                print_to_stderr(told)
            write_report(release, results, file=output, inputs=[place_of(file)])
    finally:
        _print_release(output, release, verdict, beside, as_json=results.as_json)


def _perturb_table(
    frame: Frame, method: dict[str, dict[str, object]], options: PerturbationOptions
) -> PerturbedRelease:
    from hushtable.perturbation import perturb as perturb_

    with show_step("perturbing"):
        return perturb_(
            frame,
            columns=names_of(options.columns),
            method=method,
            by=names_of(options.by),
            keep=None if options.keep is None else names_of(options.keep),
            accept=reasons_of(options.accept),
            precision=options.precision,
            seed=options.seed,
        )


def _compare_methods(
    release: PerturbedRelease, methods: list[dict[str, dict[str, object]]], options: PerturbationOptions
) -> PerturbationTradeoff:
    from hushtable.perturbation import compare_with_release

    with show_step("measuring other methods"):
        return compare_with_release(release, methods, precision=options.precision, seed=options.seed)


def _split_words(text: str) -> tuple[str, list[str]]:
    name, *settings = text.split() or [""]
    return name, settings


def _read_method(name: str, settings: list[str]) -> dict[str, dict[str, object]]:
    """Read a method and its options as a policy writes them."""
    from hushtable.perturbation import METHODS

    # Who mistypes the name is told so by the registry.
    kind = METHODS.get(name)
    lists = () if kind is None else [each.name for each in fields(kind) if each.default == ()]  # type: ignore[arg-type]
    given = pairs_of("--set", settings, "write OPTION=VALUE, once for each option: --set k=5.")
    return {name: {each: names_of(text) if each in lists else _read_value(text) for each, text in given.items()}}


def _read_value(text: str) -> object:
    """Read a number, true, false or a mapping; everything else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _print_release(
    output: Path, release: PerturbedRelease, verdict: Verdict, beside: PerturbationTradeoff | None, *, as_json: bool
) -> None:
    if as_json:
        entries = release.to_dict() | ({} if beside is None else {"beside": beside.to_dict()})
        print_json({"file": str(output), "verified": verdict.to_dict(), "facts": release.facts, **entries})
        return
    if verdict.complete:
        said = f"{', '.join(verdict.columns)}: {', '.join(verdict.held)}, verified from the file."
    else:
        said = f"Stated, not verified: {', '.join(verdict.conditions)}."
    print_lines(f"Wrote {output}.", said, *release.facts)
    if beside is not None:
        from hushtable.perturbation import TITLES, describe_point

        rows = [describe_point(point) for point in beside.points if point.reason is None]
        print_lines("", *beside.facts, "", format_table(TITLES, rows, right=TITLES[2:], no_wrap=TITLES[2:]).rstrip())
