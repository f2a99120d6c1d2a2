"""compare: what every k, suppression, recoding and method of a policy costs, side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from hushtable.cli.arguments import (
    AsJson,
    Delimiter,
    Encoding,
    Force,
    InFile,
    KeyFile,
    Threads,
    names_of,
    place_of,
    table_of,
    use_threads,
)
from hushtable.cli.protect import Ask
from hushtable.cli.report import ReportFile, report_outputs, write_report
from hushtable.cli.requests import decided, key_in
from hushtable.cli.terminal import aligned, bar, leaving, print_json, say, step
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.policy import ComparedRun, Comparison

__all__ = ["compare"]

NumberT = TypeVar("NumberT", int, float)

_PICTURES: Final = (".png", ".svg")
_FIGURES: Final = ("highest", "average", "classes", "loss", "longest", "bytes", "suppressed", "found", "overlap", "s")


def compare(
    file: InFile,
    policy: Annotated[Path, typer.Option("--policy", "-p", help="Policy file (YAML).", show_default=False)],
    k: Annotated[str, typer.Option("--k", metavar="2,3,5", help="Values of k to compare.")] = "2,3,5,10,20",
    suppression: Annotated[
        str, typer.Option(metavar="0,0.01", help="Suppression limits to compare, as shares of the records.")
    ] = "0,0.01,0.05",
    recoding: Annotated[
        str | None,
        typer.Option(metavar="readable,cut", help="Recodings to compare. Default: the policy's.", show_default=False),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="mondrian,mingen", help="Methods to compare. Default: the policy's.", show_default=False),
    ] = None,
    links: Annotated[
        str | None,
        typer.Option(
            metavar="remove,fresh,...",
            help="Ways to link a person's records to compare: remove, fresh, linked-k-anonymity, km-anonymity.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FORMULA",
            help="Regression to fit on every release and on the original, for instance 'log(income) ~ age + sex'.",
            show_default=False,
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Survey weights of the regression.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png|svg", help="File to draw risk against loss in.", show_default=False),
    ] = None,
    ask: Ask = None,
    key_file: KeyFile = None,
    report: ReportFile = None,
    external: Annotated[bool, typer.Option("--external", hidden=True)] = False,
    force: Force = False,
    threads: Threads = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Compare risk and information loss for different settings. Writes no release; the output is internal.

    Exits with 3 if no combination is feasible.
    """
    use_threads(threads)
    from hushtable.io import drafts
    from hushtable.policy import Policy, compare as compare_

    if external:
        raise InputError(
            "a comparison has no external form: it shows what every k costs, which helps to undo a release.",
            hint="keep it to those who make the release, and leave --external out.",
        )
    ks, shares = _numbers("--k", k, int, "2,3,5"), _numbers("--suppression", suppression, float, "0,0.01")
    rules = Policy.read(policy)
    inputs = [place_of(file), policy, *(() if key_file is None else (key_file,)), *rules.inputs]
    if plot is not None:
        _check_picture(plot)
    elif force and report is None:
        raise InputError(
            "--force has no effect without --plot or --report.", hint="leave it out: no other file is written."
        )
    drafts.check_outputs((*(() if plot is None else (plot,)), *report_outputs(report)), inputs, overwrite=force)
    rules = decided(rules, ask)
    with step("reading"):
        frame = table_of(file, encoding, delimiter, rules.read_as.dialect)
    with bar("comparing") as progress:
        compared = compare_(
            frame,
            rules,
            k=ks,
            suppression=shares,
            recoding=None if recoding is None else names_of(recoding),
            method=None if method is None else names_of(method),
            links=None if links is None else names_of(links),
            model=model,
            weights=weights,
            key=None if key_file is None else key_in(key_file),
            progress=progress,
        )
    is_feasible = any(row.is_feasible for row in compared.rows)
    with leaving(0 if is_feasible else 3):
        if plot is not None and is_feasible:
            _draw(compared, plot, force=force)
        write_report(compared, report, force=force)
        if as_json:
            print_json({"file": file.name, **compared.to_dict()})
        else:
            say(*_lines(compared))


def _numbers(option: str, text: str, read: Callable[[str], NumberT], example: str) -> list[NumberT]:
    """Read an option like ``2,3,5``."""
    try:
        return [read(each) for each in names_of(text)]
    except ValueError:
        raise InputError(
            f"{option} {text!r} is no list of numbers.", hint=f"for instance: {option} {example}."
        ) from None


def _check_picture(path: Path) -> None:
    if path.suffix.lower() not in _PICTURES:
        raise InputError(
            f"cannot tell the format of {str(path)!r} from its ending {path.suffix!r}.",
            hint=f"name it {' or '.join(_PICTURES)}.",
        )


def _draw(compared: Comparison, path: Path, *, force: bool) -> None:
    from hushtable.io import drafts
    from hushtable.plots import style

    with drafts.replacing(path, internal=(path,), overwrite=force) as (draft,), style.apart():
        compared.plot().figure.savefig(draft)


def _lines(compared: Comparison) -> list[str]:
    """Lay out the runs, what each column loses in them, and where the curve bends most."""
    from hushtable.policy import INTERNAL, KNEE

    feasible = [row for row in compared.rows if row.is_feasible]
    crowd = "records" if compared.person is None else f"persons ({compared.person})"
    lines = [
        f"{INTERNAL.capitalize()}.",
        f"{compared.n_records:,} records on {', '.join(compared.quasi_identifiers)}; classes count {crowd}.",
        f"Highest and average risk; loss ({compared.loss}); characters of the longest cell; bytes of a CSV.",
    ]
    for line in dict.fromkeys(row.line for row in feasible):
        runs = [row for row in feasible if row.line == line]
        lines += ["", f"{line}:", _table(runs, compared.knee), _table_by_column(compared, runs)]
    if feasible:
        lines += [
            "Risk is of the records that are published in classes; suppressed ones are in none.",
            *(
                ["Found: the largest share of persons that 1, 2 or 3 known records find; by a sample."]
                if any(row.persons_found is not None for row in feasible)
                else []
            ),
            *(
                ["Overlap: of the 95 % intervals of the model's coefficients with the original's; 1 is all, 0 none."]
                if any(row.overlap is not None for row in feasible)
                else []
            ),
            "What columns kept as they are expose is not measured here; anonymize does.",
        ]
    lines += [f"  not feasible: {_asked(row)}: {row.reason}" for row in compared.rows if not row.is_feasible]
    lines += [
        f"  overlap may be too favourable: {_asked(row)}: most records have open cells, such as <20, in {row.guessed}"
        for row in feasible
        if row.guessed
    ]
    lines += [f"  NOT verified: {_asked(row)}" for row in feasible if not row.verified]
    knee = compared.knee
    return lines if knee is None else [*lines, f"Knee: {_asked(knee)}: {KNEE}."]


def _asked(row: ComparedRun) -> str:
    return f"k = {row.k}, {row.line}"


def _table(rows: list[ComparedRun], knee: ComparedRun | None) -> str:
    """Lay out runs that differ in k alone."""
    cells: list[tuple[str, ...]] = [
        (
            str(row.k),
            f"{row.highest_risk:.3g}",
            f"{row.average_risk:.3g}",
            f"{row.n_classes:,}",
            f"{row.loss:.4f}",
            f"{row.longest_cell:,}",
            "no CSV" if row.n_bytes is None else f"{row.n_bytes:,}",
            f"{row.n_suppressed:,}",
            "no link" if row.persons_found is None else f"{row.persons_found:.1%}",
            "" if row.overlap is None else f"{row.overlap:.2f}",
            f"{row.seconds:.2f}",
            "knee" if row is knee else "",
        )
        for row in rows
    ]
    table: list[tuple[str, ...]] = [("k", *_FIGURES, ""), *cells]
    unasked = {
        "found": all(row.persons_found is None and row.links is None for row in rows),
        "overlap": all(row.overlap is None for row in rows),
    }
    for place in sorted((table[0].index(name) for name, is_one in unasked.items() if is_one), reverse=True):
        table = [(*each[:place], *each[place + 1 :]) for each in table]
    titles, *cells = table
    return aligned(titles, cells, right=titles[:-1], whole=titles[:-1]).rstrip()


def _table_by_column(compared: Comparison, rows: list[ComparedRun]) -> str:
    """Lay out what every column loses, a column of the table for each k."""
    titles = [f"k = {row.k}" for row in rows]
    lost = [row.loss_by_column or {} for row in rows]
    cells = [(name, *(f"{each[name]:.4f}" for each in lost)) for name in compared.quasi_identifiers]
    return aligned(("loss (set-NCP) of", *titles), cells, right=titles, whole=titles).rstrip()
