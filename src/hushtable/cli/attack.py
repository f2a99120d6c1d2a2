"""attack: what a synthetic table gives away, under WP29's three headings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from hushtable.cli.arguments import AsJson, Delimiter, Encoding, Force, InFile, frame_of, names_of, place_of, table_of
from hushtable.cli.limits import fail_above, failing, limits_of, synthetic_figures
from hushtable.cli.report import ReportFile, report_outputs, write_report
from hushtable.cli.summary import attack_lines
from hushtable.cli.terminal import print_json, say, step
from hushtable.errors import InputError, with_hint
from hushtable.policy import failures

__all__ = ["attack"]

_FIGURES: Final = ("singling-out", "linkability", "inference")


def attack(
    original: InFile,
    synthetic: Annotated[Path, typer.Argument(metavar="SYNTHETIC", help="Synthetic table.")],
    control: Annotated[
        Path | None, typer.Option(help="Table of people who were never used for the synthesis.", show_default=False)
    ] = None,
    n_cols: Annotated[int, typer.Option("--n-cols", min=1, help="Number of columns of a query that singles out.")] = 3,
    aux: Annotated[
        list[str] | None,
        typer.Option(
            "--aux",
            metavar="A,B",
            help="One of two sets of columns to link by; give it twice. Default: every other column.",
            show_default=False,
        ),
    ] = None,
    neighbors: Annotated[int, typer.Option(min=1, help="Number of nearest records of each half.")] = 1,
    secret: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Column to infer. Default: each one.", show_default=False),
    ] = None,
    attacks: Annotated[int, typer.Option("--attacks", min=1, help="Number of attacks of each kind.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything that is drawn.")] = 0,
    report: ReportFile = None,
    force: Force = False,
    fail: Annotated[list[str] | None, fail_above(_FIGURES)] = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Attack a synthetic table: singling out, linkability and inference, beyond what a control shows."""
    from hushtable.io import drafts

    limits = limits_of(fail, _FIGURES)
    inputs = drafts.paths_among(place_of(original), synthetic, control)
    drafts.check_outputs(report_outputs(report), inputs, overwrite=force)
    with step("reading"):
        first = table_of(original, encoding, delimiter)
        others = [frame_of(path, encoding, delimiter) for path in (synthetic, control)]
    halves = _halves(aux, list(first.columns))
    asked: dict[str, Any] = {"control": others[1], "n_attacks": attacks, "seed": seed}
    found = _attacks(first, others[0], asked, n_cols, halves, neighbors, secret or list(first.columns))
    write_report(found, report, force=force)
    failed = failures(synthetic_figures(found, limits), limits)
    with failing(failed):
        if as_json:
            print_json({"file": original.name, **found.to_dict(), **({"failed_above": failed} if limits else {})})
        else:
            say(*attack_lines(found))


def _attacks(
    original: Any,
    synthetic: Any,
    asked: dict[str, Any],
    n_cols: int,
    halves: tuple[list[str], list[str]],
    n_neighbors: int,
    secrets: list[str],
) -> Any:
    from hushtable.risk import Attacks, inference, linkability, singling_out

    with step("singling out"):
        # A table of fewer columns is attacked by all.
        n_used = min(n_cols, len(original.columns))
        found = [singling_out(original, synthetic, n_cols=n_used, **asked)]
    if len(original.columns) > 1:
        with step("linking"):
            found.append(linkability(original, synthetic, aux_columns=halves, n_neighbors=n_neighbors, **asked))
        with step("inferring"):
            found += [inference(original, synthetic, secret=name, **asked) for name in secrets]
    return Attacks(tuple(found))


def _halves(aux: list[str] | None, columns: list[str]) -> tuple[list[str], list[str]]:
    if aux is None:
        return columns[::2], columns[1::2]
    if len(aux) != 2:
        raise InputError(with_hint(f"--aux was given {len(aux)} times.", "give it twice: --aux age,sex --aux job."))
    return names_of(aux[0]), names_of(aux[1])
