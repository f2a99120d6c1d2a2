"""Mondrian on many distinct rows, beside one polars group-by over the same codes: search and release, no rendering.

    python benchmarks/mondrian_scale.py [N_ROWS] [--threads 2]

Three tables: Adult's rows at any scale (``tools/make_adult_scale.py`` in HUSHTABLE_SHARED), eight skewed columns of
which nearly all rows are distinct, and eight independent columns of 100 values. Every figure is a median of one run.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
WIDTHS = (74, 8, 16, 7, 14, 5, 2, 41)
K, RUNS, YARDS = 5, 3, 7


def arguments() -> argparse.Namespace:
    """Read the command line; threads are set before anything is imported that has some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n_rows", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
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


def main() -> None:
    """Print a row for each table and rule of cutting."""
    given = arguments()
    import numpy as np
    import polars as pl

    import hushtable as ht

    def skewed(rng: np.random.Generator) -> pl.DataFrame:
        columns = {}
        for j, width in enumerate(WIDTHS):
            shares = np.arange(1, width + 1) ** -0.7
            columns[f"c{j}"] = rng.choice(width, given.n_rows, p=shares / shares.sum())
        return pl.DataFrame(columns)

    def independent(rng: np.random.Generator) -> pl.DataFrame:
        return pl.DataFrame({f"c{j}": rng.integers(0, 100, given.n_rows) for j in range(8)})

    tables = {
        "skewed": skewed(np.random.default_rng(0)),
        "independent": independent(np.random.default_rng(0)),
    }
    script = SHARED / "tools/make_adult_scale.py"
    if script.is_file():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "adult.csv"
            subprocess.run([sys.executable, str(script), str(given.n_rows), str(path)], check=True)
            adult = pl.read_csv(path, separator=";")
        tables = {"adult": adult.select(adult.columns[:8]), **tables}
    print(f"{given.n_rows:,} rows, {given.threads} threads, k = {K}, load {os.getloadavg()[0]:.1f}")
    print(
        f"{'table':12} {'cut':7} {'group-by s':>10} {'wall s':>8} {'CPU s':>8} {'ratio':>6} {'classes':>9} {'loss':>8}"
    )
    for name, frame in tables.items():
        table = ht.Table.encode(frame)
        codes = pl.DataFrame({column: table.codes[j] for j, column in enumerate(table.names)})
        yard, _ = median_of(YARDS, codes.group_by(codes.columns).len)
        for cut in ("median", "gain"):
            asked = {"quasi_identifiers": table.names, "models": [ht.KAnonymity(K)], "roles": "trust"}
            run = partial(ht.anonymize, table, **asked, method={"mondrian": {"cut": cut}})
            release = run()
            wall, cpu = median_of(RUNS, run)
            print(
                f"{name:12} {cut:7} {yard:10.3f} {wall:8.2f} {cpu:8.2f} {wall / yard:6.1f} "
                f"{release.partition.n_classes:9,} {release.loss:8.5f}"
            )


if __name__ == "__main__":
    main()
