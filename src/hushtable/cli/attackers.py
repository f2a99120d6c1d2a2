"""attack, unicity, link, join-risk, attack-release: whom others find by what they know roughly, or have besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hushtable.cli.arguments import (
    AsJson,
    Delimiter,
    Encoding,
    Force,
    InFile,
    amounts_of,
    attack_figures,
    check_effects,
    fail_above,
    failing,
    frame_of,
    limits_of,
    names_of,
    place_of,
    synthetic_figures,
    table_of,
    table_path,
)
from hushtable.cli.report import ReportFile, check_report, report_outputs, write_report
from hushtable.cli.summary import attack_lines
from hushtable.cli.terminal import aligned, print_json, say, step
from hushtable.errors import ColumnError, InputError
from hushtable.policy import LimitedFigure, failures

if TYPE_CHECKING:
    from hushtable.io import Frame
    from hushtable.risk import JoinRisk, Linking, OwnAttacks, Unicity

__all__ = ["attack", "attack_release", "join_risk", "link", "unicity"]


_FIGURES: Final = ("copies", "singling-out", "linkability", "inference", "dcr", "tcap", "rapid")


def attack(
    original: InFile,
    synthetic: Annotated[Path, typer.Argument(metavar="SYNTHETIC", help="Synthetic table.", parser=table_path)],
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Table of people who were never used for the synthesis.",
            parser=table_path,
            show_default=False,
        ),
    ] = None,
    n_cols: Annotated[
        int | None,
        typer.Option(
            "--n-cols",
            min=1,
            help="Number of columns of a query that singles out. Default: 3, or all of a table of fewer.",
            show_default=False,
        ),
    ] = None,
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
    """Attack a synthetic table: singling out, linkability, inference, distances, beyond what a control shows.

    With --secret also attribution (TCAP), and with scikit-learn RAPID. For a release of your own, use attack-release.
    """
    from hushtable.io import drafts
    from hushtable.risk import count_copies

    limits = limits_of(fail, _FIGURES)
    inputs = drafts.paths_among(place_of(original), synthetic, control)
    drafts.check_outputs(report_outputs(report), inputs, overwrite=force)
    with step("reading"):
        first = table_of(original, encoding, delimiter)
        others = [frame_of(path, encoding, delimiter) for path in (synthetic, control)]
    halves = _halves(aux, list(first.columns))
    asked: dict[str, Any] = {"control": others[1], "n_attacks": attacks, "seed": seed}
    found = _attacks(first, others[0], asked, n_cols, halves, neighbors, secret or list(first.columns))
    with step("counting copies"):
        counted = count_copies(first, others[0], control=others[1])
    found = replace(found, copies=counted, figures=_measured(first, others[0], others[1], secret or [], seed))
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
    n_cols: int | None,
    halves: tuple[list[str], list[str]],
    n_neighbors: int,
    secrets: list[str],
) -> Any:
    from hushtable.risk import Attacks, inference, linkability, singling_out

    with step("singling out"):
        n_used = min(3, len(original.columns)) if n_cols is None else n_cols
        found = [singling_out(original, synthetic, n_cols=n_used, **asked)]
    if len(original.columns) > 1:
        with step("linking"):
            found.append(linkability(original, synthetic, aux_columns=halves, n_neighbors=n_neighbors, **asked))
        with step("inferring"):
            found += [inference(original, synthetic, secret=name, **asked) for name in secrets]
    return Attacks(tuple(found))


def _measured(original: Any, synthetic: Any, control: Any, secrets: list[str], seed: int) -> tuple[Any, ...]:
    """Return the figures of distances, and of the attribution of the secrets that were named."""
    from hushtable.risk import dcr, nndr, rapid, tcap

    with step("measuring distances"):
        found = [each(original, synthetic, control=control, seed=seed) for each in (dcr, nndr)]
    with step("attributing"):
        for name in secrets if len(original.columns) > 1 else []:
            found.append(tcap(original, synthetic, target=name, control=control))
            # Numbers have no categories to tell, and the model is of an extra.
            with suppress(ColumnError, InputError):
                found.append(rapid(original, synthetic, target=name, control=control, seed=seed))
    return tuple(found)


def _halves(aux: list[str] | None, columns: list[str]) -> tuple[list[str], list[str]]:
    if aux is None:
        return columns[::2], columns[1::2]
    if len(aux) != 2:
        raise InputError(f"--aux was given {len(aux)} times.", hint="give it twice: --aux age,sex --aux job.")
    return names_of(aux[0]), names_of(aux[1])


ToleranceOption = Annotated[
    str,
    typer.Option(
        "--tolerance",
        metavar="A=14D,B=1",
        help="How far an attacker's knowledge of these columns may be off: 14D, 2h, a number; 0 is exact.",
    ),
]
OnOption = Annotated[
    str,
    typer.Option(
        "--on", metavar="A,B=C", help="Columns to compare; B=C if the second table calls column B by the name C."
    ),
]
TruthOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that says whose record a row is, in both tables. Counts right links.",
        show_default=False,
    ),
]
FewOption = Annotated[int, typer.Option(min=1, help="Also count the persons who are among fewer than so many.")]

_UNICITY_FIGURES: Final = ("rate", "count")
_LINK_FIGURES: Final = ("rate", "excess", "count")
_JOIN_FIGURES: Final = ("rate", "count")
_ATTACK_FIGURES: Final = ("count",)


def unicity(
    file: InFile,
    person: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column that says whose record a row is.", show_default=False)
    ],
    item: Annotated[
        str, typer.Option(metavar="A,B", help="Column that is known exactly of a record.", show_default=False)
    ],
    known: Annotated[
        str, typer.Option(metavar="2,4,8", help="Numbers of records of a person that are known.")
    ] = "2,4,8",
    tolerance: ToleranceOption = "",
    original: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Original table of the release: the records that are known.",
            parser=table_path,
            show_default=False,
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=1, help="Number of persons to look for, for each number of records.")
    ] = 1000,
    few: FewOption = 5,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    fail: Annotated[list[str] | None, fail_above(_UNICITY_FIGURES)] = None,
    report: ReportFile = None,
    force: Force = False,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Count the persons whom an attacker finds who roughly knows a few of their records."""
    from hushtable.risk import unicity as unicity_

    limits = limits_of(fail, _UNICITY_FIGURES)
    check_report(report, [place_of(file), *([original] if original is not None else [])], force=force)
    with step("reading"):
        frame, meaning = _released(file, encoding, delimiter)
        source = frame_of(original, encoding, delimiter)
    with step("looking for persons"):
        found = unicity_(
            frame,
            person=person,
            item=names_of(item),
            known=_sizes(known),
            tolerance=amounts_of("--tolerance", tolerance),
            original=source,
            n_trials=trials,
            few=few,
            seed=seed,
            **meaning,
        )
    write_report(found, report, force=force)
    most = max(found.known, key=lambda each: each.rate)
    figures = attack_figures(most.rate, most.n_found, f"of the persons who are found by {most.n_known} records")
    _show({"file": file.name, **found.to_dict()}, [] if as_json else _unicity_lines(found), figures, limits)


def link(
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="Released table, with its manifest beside it if there is one.")
    ],
    outside: Annotated[
        Path, typer.Argument(metavar="OUTSIDE", help="Table that somebody else holds.", parser=table_path)
    ],
    on: OnOption,
    tolerance: ToleranceOption = "",
    truth: TruthOption = None,
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Table like the second one, of people who are not in the release.",
            parser=table_path,
            show_default=False,
        ),
    ] = None,
    few: FewOption = 5,
    fail: Annotated[list[str] | None, fail_above(_LINK_FIGURES)] = None,
    report: ReportFile = None,
    force: Force = False,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Count the records of an outside table that match exactly one released record or class."""
    from hushtable.risk import link as link_

    limits = limits_of(fail, _LINK_FIGURES)
    if "excess" in limits and control is None:
        raise InputError("--fail-above excess has no effect without --control.", hint="give that too, or leave it out.")
    check_report(report, [release, outside, *([control] if control is not None else [])], force=force)
    with step("reading"):
        frame, meaning = _released(release, encoding, delimiter)
        others = [frame_of(path, encoding, delimiter) for path in (outside, control)]
    with step("looking up records"):
        found = link_(
            frame,
            others[0],
            on=_pairs(on),
            tolerance=amounts_of("--tolerance", tolerance),
            truth=truth,
            control=others[1],
            few=few,
            **meaning,
        )
    write_report(found, report, force=force)
    excess = None if found.excess_interval is None else found.excess_interval[1]
    figures = attack_figures(
        found.rate, found.found.n_one_record, "of the outside records that fit one released record alone", excess
    )
    _show({"release": release.name, **found.to_dict()}, [] if as_json else _link_lines(found), figures, limits)


def join_risk(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="Published table.")],
    second: Annotated[
        Path, typer.Argument(metavar="SECOND", help="Another published table of the same source or people.")
    ],
    on: OnOption,
    truth: TruthOption = None,
    fail: Annotated[list[str] | None, fail_above(_JOIN_FIGURES)] = None,
    report: ReportFile = None,
    force: Force = False,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Count the records that somebody rebuilds by joining two published tables."""
    from hushtable.risk import join_risk as join_risk_

    limits = limits_of(fail, _JOIN_FIGURES)
    check_report(report, [first, second], force=force)
    with step("reading"):
        one, meaning = _released(first, encoding, delimiter)
        two, others = _released(second, encoding, delimiter)
    with step("joining"):
        told = {name: {**others[name], **meaning[name]} for name in meaning}
        found = join_risk_(one, two, on=_pairs(on), truth=truth, **told)
    write_report(found, report, force=force)
    figures = attack_figures(found.rate, found.n_rebuilt, "of the records that the join rebuilds")
    _show({"first": first.name, "second": second.name, **found.to_dict()},
          [] if as_json else _join_lines(found), figures, limits)  # fmt: skip


def attack_release(
    release: Annotated[
        Path,
        typer.Argument(metavar="RELEASE", help="Written release, with its manifest beside it.", show_default=False),
    ],
    earlier: Annotated[
        Path | None,
        typer.Option(help="Earlier release that many of the same people are in.", show_default=False),
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Original table of the release, for intersections.",
            parser=table_path,
            show_default=False,
        ),
    ] = None,
    external: Annotated[
        bool, typer.Option("--external", help="With --json: leave out witnesses and counts below k.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the controls.")] = 0,
    fail: Annotated[list[str] | None, fail_above(_ATTACK_FIGURES)] = None,
    report: ReportFile = None,
    force: Force = False,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Attack your own release: homogeneity, linked records, and what an earlier release adds."""
    from hushtable.claims import Classes
    from hushtable.release import manifest
    from hushtable.risk import attack_written

    limits = limits_of(fail, _ATTACK_FIGURES)
    check_effects({"--external": external, "--json": as_json}, {"--external": ("--json",)}, {})
    check_report(report, [release, *(path for path in (earlier, original) if path is not None)], force=force)
    manifest.read(release)
    claim = manifest.claim_of(release)
    if not isinstance(claim, Classes):
        raise InputError(f"{str(release)!r} claims nothing of classes.", hint="attack what hushtable anonymize wrote.")
    with step("reading"):
        frame = table_of(release, encoding, delimiter, manifest.dialect_of(release))
        others = [frame_of(path, encoding, delimiter) for path in (earlier, original)]
    with step("attacking"):
        found = attack_written(frame, claim, others[0], original=others[1], seed=seed)
    write_report(found, report, force=force)
    told = found.to_dict("external" if external else "internal")
    figures = {"count": LimitedFigure(len(found.fell), "the number of attacks to which the release falls")}
    _show({"release": release.name, **told}, [] if as_json else _attack_lines(found), figures, limits)


def _attack_lines(found: OwnAttacks) -> list[str]:
    titles = ("attack", "column", "targets", "found", "share", "by chance")
    rows = [
        (each.name, each.column or "", f"{each.n_targets:,}", f"{each.n_found:,}", f"{each.rate:.1%}",
         "" if each.control_rate is None else f"{each.control_rate:.1%}")
        for each in found.attacks
    ]  # fmt: skip
    return [
        found.headline,
        *([aligned(titles, rows, right=titles[2:])] if rows else []),
        *dict.fromkeys(f"  {each.name}: {each.advice}" for each in found.attacks if each.fell),
        *(f"  not tried: {name} ({why})" for name, why in found.untried.items()),
    ]


def _released(path: Path, encoding: str | None, delimiter: str | None) -> tuple[Frame, dict[str, Any]]:
    """Read a table that was released, and what the manifest beside it says of its cells."""
    from hushtable.release import manifest

    claim = manifest.claim_of(path)
    frame = table_of(path, encoding, delimiter, None if claim is None else manifest.dialect_of(path))
    return frame, {name: dict(getattr(claim, name, {})) for name in ("specs", "hierarchies")}


def _pairs(on: str) -> dict[str, str]:
    """Read columns and what the second table calls them."""
    pairs = [entry.partition("=") for entry in names_of(on)]
    return {name.strip(): (other if mark else name).strip() for name, mark, other in pairs}


def _sizes(known: str) -> list[int]:
    try:
        return [int(each) for each in names_of(known)]
    except ValueError:
        raise InputError(
            f"--known {known!r} is no list of whole numbers.", hint="for instance: --known 2,4,8."
        ) from None


def _show(entries: dict[str, Any], lines: Sequence[str], figures: Any, limits: Mapping[str, float]) -> None:
    """Print lines, or the entries as JSON where there are none; then leave with exit 1 where a limit failed."""
    failed = failures(figures, limits)
    with failing(failed):
        if lines:
            say(*lines)
        else:
            print_json({**entries, **({"failed_above": failed} if limits else {})})


def _unicity_lines(found: Unicity) -> list[str]:
    roughly = [f"{name} within {amount}" for name, amount in found.tolerance.items()]
    rows = []
    for each in found.known:
        low, high = each.interval
        right = "" if each.n_right is None else f"{each.n_right:,}"
        rows.append(
            (f"{each.n_known}", f"{each.n_trials:,}", f"{each.n_found:,}", f"{each.rate:.1%}",
             f"{low:.1%} to {high:.1%}", f"{each.n_few:,}", right)
        )  # fmt: skip
    titles = ("records known", "persons", "found", "share", "95 % interval", "among few", "right")
    return [
        found.headline,
        f"Known of a record: {', '.join((*found.items, *roughly))}; {found.n_records:,} records of "
        f"{found.n_persons:,} persons are searched.",
        aligned(titles, rows, right=titles),
    ]


def _link_lines(found: Linking) -> list[str]:
    lines = [found.headline]
    for what, each in (("outside", found.found), ("control", found.control)):
        if each is None:
            continue
        right = "" if each.n_right_class is None else f" ({each.n_right_class:,} with their own)"
        lines.append(
            f"  {what}: {each.n_records:,} records; {each.n_one_record:,} fit one released record, "
            f"{each.n_one_class:,} one class{right}, {each.n_few:,} fewer than {each.few}, {each.n_lost:,} none"
        )
    if found.excess is not None and found.excess_interval is not None:
        low, high = found.excess_interval
        lines.append(f"  beyond the control: {found.excess:.2%} (95 % interval {low:.2%} to {high:.2%})")
    return lines


def _join_lines(found: JoinRisk) -> list[str]:
    lines = [found.headline, f"  {found.n_lost:,} records fit none of the second table"]
    if found.n_rebuilt_right is not None:
        lines.append(
            f"  right: {found.n_rebuilt_right:,} of the rebuilt, {found.n_alone_right:,} of those alone, of "
            f"{found.n_persons_alone:,} persons"
        )
    return lines
