"""Mondrian on many distinct rows, beside one polars group-by over the same codes: search and release, no rendering.

    python benchmarks/mondrian_scale.py [N_ROWS ...] [--threads 2] [--tables adult,skewed,independent]

Three tables: Adult's rows at any scale (``tools/make_adult_scale.py`` in HUSHTABLE_SHARED), eight skewed columns of
which nearly all rows are distinct, and eight independent columns of 100 values. Every figure is a median of one run:
the group-by, the whole (`ratio` is to the group-by), its CPU seconds, what of it is outside the search, how many bytes
a row the memory of the process rises above the coded table, and the loss.
"""

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
WIDTHS = (74, 8, 16, 7, 14, 5, 2, 41)
TABLES = {"adult": "Adult's rows", "skewed": "eight skewed columns", "independent": "eight independent columns"}
K, RUNS, YARDS = 5, 5, 7


def arguments() -> argparse.Namespace:
    """Read the command line; threads are set before anything is imported that has some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n_rows", nargs="*", type=int, default=[1_000_000])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tables", default=",".join(TABLES))
    given = parser.parse_args()
    os.environ["HUSHTABLE_THREADS"] = os.environ["POLARS_MAX_THREADS"] = str(given.threads)
    return given


def median_of(runs: int, work: Callable[[], object]) -> tuple[float, float]:
    """Return the median wall and CPU seconds of some work."""
    walls, cpus = [], []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus)


def make_frame(name: str, n_rows: int) -> Any:
    """Return a table, or None where its generator is not here."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    if name == "skewed":
        columns = {}
        for j, width in enumerate(WIDTHS):
            shares = np.arange(1, width + 1) ** -0.7
            columns[f"c{j}"] = rng.choice(width, n_rows, p=shares / shares.sum())
        return pl.DataFrame(columns)
    if name == "independent":
        return pl.DataFrame({f"c{j}": rng.integers(0, 100, n_rows) for j in range(8)})
    script = SHARED / "tools/make_adult_scale.py"
    if not script.is_file():
        print(f"adult: no {script} (HUSHTABLE_SHARED)")
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adult.csv"
        subprocess.run([sys.executable, str(script), str(n_rows), str(path)], check=True)
        adult = pl.read_csv(path, separator=";")
    return adult.select(adult.columns[:8])


def risen(work: Callable[[], object]) -> float:
    """Return by how many bytes the memory of the process rises above what it is now; NaN where Linux is not there."""

    def status(name: str) -> float:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(float(line.split()[1]) * 1024 for line in lines if line.startswith(name))

    try:
        # What was freed before goes back first.
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = status("VmRSS")
    except (AttributeError, OSError):
        return float("nan")
    work()
    return status("VmHWM") - before


def timed_search() -> list[float]:
    """Have every search from now on add its seconds to a list."""
    from hushtable.anonymizers import mondrian

    grow, seconds = mondrian.grow_tree, []

    def timed(*given: Any) -> Any:
        began = time.perf_counter()
        grown = grow(*given)
        seconds.append(time.perf_counter() - began)
        return grown

    mondrian.grow_tree = timed
    return seconds


def main() -> None:
    """Print a row for each table and rule of cutting."""
    given = arguments()
    import polars as pl

    import hushtable as ht

    searches = timed_search()
    heads = ("group-by s", "wall s", "ratio", "CPU s", "outside the search", "bytes a row", "set-NCP")
    print(f"| rows | table | cut | {' | '.join(heads)} |\n|---:|---|---|{'---:|' * len(heads)}")
    for n_rows in given.n_rows:
        for name in given.tables.split(","):
            frame = make_frame(name, n_rows)
            if frame is None:
                continue
            table = ht.Table.encode(frame)
            del frame
            codes = pl.DataFrame({column: table.codes[j] for j, column in enumerate(table.names)})
            yard, _ = median_of(YARDS, codes.group_by(codes.columns).len)
            for cut in ("median", "gain"):
                asked = {"quasi_identifiers": table.names, "models": [ht.KAnonymity(K)], "roles": "trust"}
                run = partial(ht.anonymize, table, **asked, method={"mondrian": {"cut": cut}})
                release = run()
                loss = release.loss
                del release
                n_bytes = risen(run) / n_rows
                searches.clear()
                wall, cpu = median_of(RUNS, run)
                outside = 1 - statistics.median(searches) / wall
                print(
                    f"| {n_rows:,} | {TABLES[name]} | {cut} | {yard:.4f} | {wall:.4f} | {wall / yard:.1f} "
                    f"| {cpu:.3f} | {outside:.0%} | {n_bytes:.0f} | {loss:.5f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
