"""demo: the whole job on made-up people, in a folder of its own, with a picture of what it did."""

from __future__ import annotations

import csv
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hushtable.cli.arguments import Force
from hushtable.cli.terminal import format_table, print_lines
from hushtable.errors import InputError
from hushtable.wording import count_of, join_names

if TYPE_CHECKING:
    from hushtable.policy import Comparison

_N_PEOPLE: Final = 30_000
_K: Final = 5
_STEPS: Final = {"columns.income.round": 20_000, "columns.blood_pressure.round": 10}
_OTHER_KS: Final = (2, 3, 5, 10, 20, 50)
_TABLE: Final = "people.csv"
_POLICY: Final = "policy.yaml"
_RELEASE: Final = "release.csv"
_REPORT: Final = "report.html"
_PICTURE: Final = "before_and_after.svg"
_LEFT_BEHIND: Final = (
    _TABLE,
    _POLICY,
    _RELEASE,
    f"{_RELEASE}.manifest.json",
    f"{_RELEASE}.codebook.md",
    f"{_RELEASE}.codebook.json",
    _REPORT,
    "report.json",
    _PICTURE,
)


def demo(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to write the files to.")] = Path("demo"),
    force: Force = False,
) -> None:
    """Show the whole job on 30,000 made-up people: find what identifies them, hide it, verify the file."""
    _prepare_folder(folder, force)
    from hushtable import datasets
    from hushtable.policy import Policy

    people = datasets.people(_N_PEOPLE, seed=0)
    people.write_csv(folder / _TABLE)
    print_lines(f"1. {folder / _TABLE}: {_N_PEOPLE:,} made-up people. Which columns identify them?")
    _run_command(folder, "scan", _TABLE, "-p", _POLICY)

    print_lines(
        "",
        "2. You check the proposed policy, because you know the data. Every role stands: colleagues may know the day",
        "   of a visit. But an exact income or blood pressure finds nearly everyone, so you publish both rounded.",
    )
    path = folder / _POLICY
    policy = Policy.read(path).with_entries(_STEPS)
    path.write_text(policy.to_yaml(), encoding="utf-8")

    print_lines("", f"3. Make a release in which everyone looks like at least {_K - 1} others:")
    _run_command(folder, "anonymize", _TABLE, "-p", _POLICY, "-o", _RELEASE, "--report", _REPORT)

    print_lines("", "4. Verify the file. Anyone who has the file and its manifest can do that:")
    _run_command(folder, "verify", _RELEASE)

    print_lines("", "5. Two made-up people before, and two of the release (in another order, so not the same two):", "")
    print_lines(_format_before_and_after(folder))

    print_lines("", f"6. Compare other values of k, and draw {folder / _PICTURE}.", "")
    from hushtable.policy import compare

    compared = compare(people, policy, k=_OTHER_KS, suppression=(0,))
    n_found = _plot_before_and_after(people, compared, folder / _PICTURE)
    print_lines(*_describe_outcome(folder, compared, n_found))


def _prepare_folder(folder: Path, force: bool) -> None:
    """Make an empty folder; files of an earlier demo are removed with --force."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{str(folder)!r} is a file.", hint="give the name of a new folder.")
    present = sorted(each.name for each in folder.iterdir()) if folder.exists() else []
    if foreign := [name for name in present if name not in _LEFT_BEHIND]:
        raise InputError(
            f"folder {str(folder)!r} holds {count_of(len(foreign), 'file')} that the demo did not write.",
            hint="give the name of a new folder: hushtable demo NAME.",
        )
    if present and not force:
        raise InputError(
            f"folder {str(folder)!r} holds the files of an earlier demo.",
            hint="pass --force to write them again, or give the name of a new folder.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name in present:
        (folder / name).unlink()


def _run_command(folder: Path, *arguments: str) -> None:
    """Print a command, and run it as a user would."""
    print_lines("", f"$ hushtable {' '.join(arguments)}")
    sys.stdout.flush()
    ended = subprocess.run(
        [sys.executable, "-m", "hushtable", *arguments], cwd=folder, check=False, stderr=subprocess.STDOUT
    )
    if ended.returncode:
        raise typer.Exit(ended.returncode)


def _format_before_and_after(folder: Path) -> str:
    before, after = _first_rows(folder / _TABLE), _first_rows(folder / _RELEASE)
    rows = [(name, *(cell or "(missing)" for cell in (*before[name], "->", *after[name]))) for name in after]
    return format_table(("", "before", "", "", "after", ""), rows).rstrip()


def _first_rows(path: Path) -> dict[str, list[str]]:
    """Return the first two cells of every column of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        columns, *rows = itertools.islice(csv.reader(file), 3)
    return {column: [row[j] for row in rows] for j, column in enumerate(columns)}


def _plot_before_and_after(people: Any, compared: Comparison, path: Path) -> int:
    """Plot who can be found before and after, and risk against loss; return the number of unique people before."""
    import numpy as np
    from matplotlib.figure import Figure

    import hushtable as ht
    from hushtable.plots import charts, style
    from hushtable.risk import size_bands

    names = list(compared.quasi_identifiers)
    before = ht.assess(people, quasi_identifiers=names)
    after = ht.assess(path.parent / _RELEASE, quasi_identifiers=names)
    bands, counts = size_bands(before.class_sizes, after.class_sizes)
    shares = {name: [n / _N_PEOPLE for n in each] for name, each in zip(("before", "after"), counts, strict=True)}
    with style.hide_figures():
        figure = Figure(figsize=(9, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        charts.class_sizes(bands, shares, title=f"How many records equal yours on {len(names)} columns?", ax=left)
        points = {row.k: np.array([row.loss, row.highest_risk]) for row in compared.rows}
        curve = {"smallest class k": np.array(list(points.values()))}
        title = "A larger k lowers the risk and costs more"
        charts.risk_against_loss(
            curve, points[_K], label="loss (set-NCP)", mark=f"this release, k = {_K}", title=title, ax=right
        )
        for k, (loss, risk) in points.items():
            right.annotate(f"k = {k}", (loss, risk), (8, 5), textcoords="offset points", fontsize=8)
        right.margins(0.12)  # for these labels
        figure.savefig(path, metadata={"Date": None})
    return before.class_sizes.get(1, 0)


def _describe_outcome(folder: Path, compared: Comparison, n_found: int) -> list[str]:
    """Describe in about ten lines what happened, for a reader who has seen nothing else."""
    manifest = json.loads((folder / f"{_RELEASE}.manifest.json").read_text(encoding="utf-8"))
    most_found = manifest["exposure"]["told"][0]
    most_known = join_names(most_found["columns"])
    n_columns = len(compared.quasi_identifiers)
    return [
        f"Before: {n_found:,} of {_N_PEOPLE:,} people are unique on {n_columns} columns that others",
        "  may know, such as birth date, sex and postcode. Anyone who knows these columns finds them.",
        f"After: everyone shares these columns with at least {_K - 1} others. A guess which record is theirs is right",
        f"  at most 1 time in {_K}. A guess of their diagnosis may be right more often.",
        f"Cost: a typical cell covers {manifest['loss']:.0%} of its column's range. Names and e-mails are left out.",
        "Limit: this holds for a reader who knows these columns and no others. A reader who also knows",
        f"  {most_known} still finds {most_found['n_records']:,} people. You decide who may get the file.",
        f"{folder / _PICTURE}: the picture. Who could be found, before and after; risk against loss.",
        f"{folder / _RELEASE}: the file to share. Its codebook says what each column and cell means.",
        f"{folder / _REPORT}: the report for those who decide. Open it in a browser.",
        f"{folder / _POLICY}: what was asked for. Change it, and run the commands above again.",
    ]
