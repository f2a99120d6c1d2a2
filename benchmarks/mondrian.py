"""Mondrian: seconds and loss of hushtable, of a numpy version, and of anonypy on the same coded rows; then the command.

The search gets int32 codes and returns the class of every row: collapsing equal rows counts, reading, coding and
writing do not. Every program runs once in each turn, after a call that compiles. The ratio is the median of the turns'
ratios to hushtable's gain. One formula computes set-NCP from class memberships. polars finds equal rows and cuts
nothing: a yardstick.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import hushtable as ht
import numpy_mondrian
from hushtable import datasets
from hushtable.anonymizers import Problem
from hushtable.anonymizers.judging import NO_LADDERS, Judge

Labels = NDArray[np.integer[Any]]

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ADULT_ROWS = 30_162
ADULT = ["age", "type_employer", "education_num", "marital", "occupation", "race", "sex", "country"]
SCALED = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
PEOPLE = [name for name, role in datasets.PEOPLE_ROLES.items() if role == "quasi-identifier"]
ANONYPY_K = (10, 50)
PIPELINE_K = 5


@dataclass(frozen=True, slots=True)
class Source:
    """A table to anonymize: its quasi-identifiers and one column more."""

    frame: pl.DataFrame
    quasi_identifiers: list[str]


@dataclass(frozen=True, slots=True)
class Quality:
    """What a partition is worth."""

    n_classes: int
    set_ncp: float


def load(n_rows: int, folder: Path) -> Source:
    """Return Adult for its own number of rows, else Adult scaled up; without the data folder, made-up people."""
    if not SHARED.is_dir():
        frame = datasets.people(n_rows).select(*PEOPLE, "income")
        # The twin and the shared measure know no missing values.
        texts = pl.col(*(name for name in PEOPLE if name != "birth_date")).cast(pl.String).fill_null("unknown")
        return Source(frame.with_columns(texts), PEOPLE)
    if n_rows == ADULT_ROWS:
        frame = pl.read_csv(SHARED / "data" / "adult" / "adult_ori.csv")
        frame = frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?"))
        return Source(frame.select(*ADULT, "income"), ADULT)
    path = folder / f"adult_{n_rows}.csv"
    tool = SHARED / "tools" / "make_adult_scale.py"
    subprocess.run([sys.executable, str(tool), str(n_rows), str(path)], check=True)
    frame = pl.read_csv(path, separator=";")
    path.unlink()
    return Source(frame.select(*SCALED, "salary-class"), SCALED)


def search_hushtable(table: ht.Table, k: int, cut: str) -> Labels:
    """Collapse equal rows, cut, and label every row."""
    distinct, inverse = table.collapse()
    problem = Problem(distinct.names, Judge(distinct, (ht.KAnonymity(k),)), NO_LADDERS, ht.SetNCP())
    return ht.Mondrian(cut=cut).search(problem).partition.labels[inverse]  # type: ignore[arg-type]


def search_numpy(table: ht.Table, k: int) -> Labels:
    """Do the same in plain numpy."""
    values = [column.values if column.is_ordered else None for column in table.columns]
    return numpy_mondrian.partition(table.codes, values, k)


def search_anonypy(frame: Any, k: int) -> Labels:
    """Cut with anonypy, and label every row."""
    from anonypy.mondrian import Mondrian

    labels = np.empty(len(frame), dtype=np.int64)
    for label, index in enumerate(Mondrian(frame, list(frame.columns)).partition(k)):
        labels[index] = label
    return labels


def to_pandas(table: ht.Table) -> Any:
    """Return the table with the column types that anonypy asks for."""
    import pandas as pd

    return pd.DataFrame(
        {
            column.name: column.values.astype(float)[codes]
            if column.is_ordered
            else pd.Categorical.from_codes(codes, column.texts())
            for column, codes in zip(table.columns, table.codes, strict=True)
        }
    )


def measure(labels: Labels, table: ht.Table) -> Quality:
    """Judge a partition from its class memberships alone.

    Notes
    -----
    Set-NCP: range over global range for ordered columns, distinct values over all values
    (0 for one) for categories; the mean over rows and columns.
    """
    _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(sizes) - sizes
    lost = []
    for column, codes in zip(table.columns, table.codes, strict=True):
        if column.is_ordered:
            known = column.values[codes].astype(np.float64)
            spread = known.max() - known.min()
            known = known[order]
            shares = (np.maximum.reduceat(known, starts) - np.minimum.reduceat(known, starts)) / (spread or 1.0)
        else:
            present = np.zeros((len(sizes), len(column.values)), dtype=bool)
            present[labels, codes] = True
            n_values = present.sum(axis=1)
            shares = np.where(n_values > 1, n_values / present.any(axis=0).sum(), 0.0)
        lost.append(float(shares @ sizes) / len(labels))
    return Quality(len(sizes), statistics.fmean(lost))


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the wall seconds of a call and what it returns."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def compare(table: ht.Table, k: int, repeats: int, peers: bool) -> list[list[str]]:
    """Run every engine in turn, ``repeats`` times, and return their rows of the table."""
    engines: dict[str, Callable[[], Labels]] = {
        "gain": partial(search_hushtable, table, k, "gain"),
        "median": partial(search_hushtable, table, k, "median"),
        "numpy version, median": partial(search_numpy, table, k),
    }
    times: dict[str, list[float]] = {name: [] for name in (*engines, "polars group_by")}
    labels: dict[str, Labels] = {}
    coded = pl.DataFrame(dict(zip(table.names, table.codes, strict=True)))
    groups = pl.DataFrame()
    for _ in range(repeats):
        for name, engine in engines.items():
            seconds, labels[name] = clock(engine)
            times[name].append(seconds)
        seconds, groups = clock(lambda: coded.group_by(table.names).len())
        times["polars group_by"].append(seconds)
    base = times["gain"]
    rows = [_row(name, table, k, times[name], base, measure(each, table)) for name, each in labels.items()]
    if peers and table.n_rows == ADULT_ROWS and k in ANONYPY_K:
        rows.append(_anonypy(table, k, engines["gain"]))
    if k == PIPELINE_K:  # equal rows are the same for every k
        rows.append(_row("polars group_by", table, k, times["polars group_by"], base, Quality(len(groups), 0.0)))
    return rows


def _anonypy(table: ht.Table, k: int, gain: Callable[[], Labels]) -> list[str]:
    if importlib.util.find_spec("anonypy") is None:
        return ["anonypy", f"{table.n_rows:,}", str(k), "not installed: make bench installs it", "", "", ""]
    frame = to_pandas(table)
    base, _ = clock(gain)
    seconds, labels = clock(partial(search_anonypy, frame, k))
    name = f"anonypy {importlib.metadata.version('anonypy')}, one run"
    return _row(name, table, k, [seconds], [base], measure(labels, table))


def _row(
    name: str, table: ht.Table, k: int, times: Sequence[float], base: Sequence[float], quality: Quality
) -> list[str]:
    seconds = statistics.median(times)
    ratio = statistics.median(ours / gain for ours, gain in zip(times, base, strict=True))
    return [
        name,
        f"{table.n_rows:,}",
        str(k),
        f"{seconds:.4f}" if seconds < 1 else f"{seconds:.1f}",
        f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}",
        f"{quality.n_classes:,}",
        f"{quality.set_ncp:.4f}",
    ]


def run_command(source: Source, folder: Path, repeats: int) -> list[list[str]]:
    """Time the whole command, CSV in, verified Parquet out, in a process of its own."""
    path, out = folder / "in.csv", folder / "out.parquet"
    source.frame.write_csv(path)
    others = [name for name in source.frame.columns if name not in source.quasi_identifiers]
    command = [sys.executable, "-m", "hushtable", "anonymize", str(path), "-o", str(out), "--force"]
    command += ["--k", str(PIPELINE_K), "--qi", ",".join(source.quasi_identifiers), "--other", ",".join(others)]
    times: dict[str, list[tuple[float, float, float]]] = {"gain": [], "median": []}
    for turn in range(repeats + 1):
        for cut, runs in times.items():
            run = _run([*command, "--set", f"method.mondrian.cut={cut}"])
            if turn:  # the first fills the cache of compiled kernels
                runs.append(run)
    rows = []
    for cut, runs in times.items():
        wall, cpu, peak = (statistics.median(each) for each in zip(*runs, strict=True))
        name = f"`hushtable anonymize --set method.mondrian.cut={cut}`"
        shape = [f"{source.frame.height:,}", str(source.frame.width), str(PIPELINE_K)]
        rows.append([name, *shape, f"{wall:.2f}", f"{cpu:.2f}", f"{peak:,.0f}"])
    return rows


def _run(command: Sequence[str]) -> tuple[float, float, float]:
    """Return wall seconds, CPU seconds and the peak in MB of a process."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    message = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.stderr.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"the command failed: {message}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def show(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of fixed width that is Markdown too."""
    widths = [max(3, *map(len, column)) for column in zip(titles, *rows, strict=True)]
    lines = [titles, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])], *rows]
    for line in lines:
        cells = [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        print(f"| {' | '.join(cells)} |")


def describe_machine() -> str:
    """Say what the figures were measured on and with."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = " ".join(f"{each:.2f}" for each in os.getloadavg())
    names = ["hushtable", "numpy", "numba", "polars", "pandas", "anonypy"]
    installed = {each.metadata["Name"].lower(): each.version for each in importlib.metadata.distributions()}
    versions = ", ".join(f"{name} {installed[name]}" for name in names if name in installed)
    python = platform.python_version()
    told = f"{cores} cores, load average {load} at the start, threads of polars: {pl.thread_pool_size()}; "
    return textwrap.fill(f"{told}Python {python}, {versions}", 95)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=f"{ADULT_ROWS},1000000", help="numbers of rows, with commas")
    parser.add_argument("--k", default="2,5,10,50", help="values of k, with commas")
    parser.add_argument("--every", action="store_true", help="each k for larger tables than Adult too")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peers", action="store_true", help="anonypy as well, which takes minutes")
    options = parser.parse_args()
    sizes, ks = ([int(each) for each in option.split(",")] for option in (options.rows, options.k))

    print(describe_machine())
    if not SHARED.is_dir():
        print(f"No data folder at {SHARED} (HUSHTABLE_SHARED): made-up people instead of Adult.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = [load(n_rows, folder) for n_rows in sizes]
        # First, because a process's peak begins at that of its parent.
        pipeline = run_command(max(sources, key=lambda source: source.frame.height), folder, options.repeats)
    rows = []
    for source in sources:
        table = ht.Table.encode(source.frame, source.quasi_identifiers)
        compare(table, ks[0], 1, peers=False)
        is_small = source.frame.height == ADULT_ROWS
        for k in ks if is_small or options.every else [PIPELINE_K]:
            rows += compare(table, k, options.repeats, options.peers)
    show(["engine", "rows", "k", "seconds", "ratio to gain", "classes", "set-NCP"], rows)
    print()
    show(["command", "rows", "columns", "k", "wall s", "CPU s", "peak MB"], pipeline)


if __name__ == "__main__":
    main()
