"""One table through every engine: the same classes and loss, and what each costs.

    python benchmarks/engines.py [N_ROWS] [--threads 2]

The rows of ``streaming.py``: Adult's at any scale, k = 5 on eight columns, from Parquet to Parquet that is verified.
Memory reads and writes one file; streamed are the files of a folder; lazy frames are those of polars, DuckDB and,
where HUSHTABLE_SPARK is set, Spark, whose own process is in no figure but wall seconds. For every engine its wall and
CPU seconds, and how far the memory of the process has risen by then.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streaming import SHARED, K, make, timed

N_FILES = 4


def arguments() -> argparse.Namespace:
    """Read the command line; threads are set before anything is imported that has some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n_rows", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    for name in ("HUSHTABLE_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = str(given.threads)
    return given


def lap(name: str, work: Callable[[], Any], total: list[float]) -> Any:
    """Do some work and print what it took."""
    spent: list[tuple[float, float]] = []
    done = timed(work, spent)
    [(wall, cpu)] = spent
    total[0], total[1] = total[0] + wall, total[1] + cpu
    risen = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  {name:9} {wall:8.2f} {cpu:8.2f} {risen:8.2f}", flush=True)
    return done


def lazily(folder: Path) -> Any:
    """Return the table as polars has it."""
    import polars as pl

    return pl.scan_parquet(folder / "*.parquet")


def related(folder: Path) -> Any:
    """Return the table as DuckDB has it."""
    import duckdb

    duckdb.sql(f"SET threads = {os.environ['HUSHTABLE_THREADS']}")
    return duckdb.read_parquet(str(folder / "*.parquet"))


def sparkling(folder: Path) -> Any:
    """Return the table as Spark has it; its session is not timed."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{os.environ['HUSHTABLE_THREADS']}]")
    for key, value in {
        "driver.memory": "3g",
        "driver.host": "127.0.0.1",
        "ui.enabled": "false",
        "ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(f"spark.{key}", value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session.read.parquet(str(folder))


ENGINES: dict[str, Callable[[Path], Any]] = {
    "memory": lambda folder: folder.with_suffix(".parquet"),
    "stream": lambda folder: folder,
    "polars": lazily,
    "duckdb": related,
    "spark": sparkling,
}


def run(engine: str, folder: Path, output: Path, results: Any) -> None:
    """Release the table by one engine."""
    import hushtable as ht
    from hushtable.engines.files import Files

    warnings.filterwarnings("ignore", message="tight intervals")
    columns = Files.open(folder).names
    asked = {"quasi_identifiers": columns, "models": [ht.KAnonymity(K)], "roles": "trust"}
    # So that kernels are there.
    ht.anonymize(Files.open(folder).head(1000), **asked)
    data, total = ENGINES[engine](folder), [0.0, 0.0]
    print(f"{engine}\n  {'step':9} {'wall s':>8} {'CPU s':>8} {'GiB':>8}", flush=True)
    release = lap("anonymize", lambda: ht.anonymize(data, **asked), total)
    lap("write", lambda: release.write(output), total)
    told = release.to_dict()
    print(f"  {'all':9} {total[0]:8.2f} {total[1]:8.2f}   {told['n_classes']:,} classes, loss {release.loss:.12f}")
    results.put((told["n_records"], told["n_classes"], told["smallest_class"], round(release.loss, 12)))


def main() -> None:
    """Measure each engine in a process of its own: memory that has risen does not fall."""
    given = arguments()
    if not (SHARED / "data/arx_adult/adult.csv").is_file():
        sys.exit(f"no Adult under {SHARED} (HUSHTABLE_SHARED)")
    import polars as pl

    context, found = multiprocessing.get_context("spawn"), set()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "in"
        folder.mkdir()
        make(folder.with_suffix(".parquet"), given.n_rows, 0)
        rows = pl.read_parquet(folder.with_suffix(".parquet"))
        for number, some in enumerate(rows.iter_slices(-(-rows.height // N_FILES))):
            some.write_parquet(folder / f"{number}.parquet")
        print(f"{given.n_rows:,} rows, load {os.getloadavg()[0]:.1f}")
        for engine in ENGINES:
            if engine == "spark" and not os.environ.get("HUSHTABLE_SPARK"):
                continue
            output, results = Path(place) / f"{engine}{'.parquet' * (engine == 'memory')}", context.SimpleQueue()
            process = context.Process(target=run, args=(engine, folder, output, results))
            process.start()
            process.join()
            if process.exitcode:
                sys.exit("a run failed")
            found.add(results.get())
    if len(found) > 1:
        sys.exit(f"engines differ: {sorted(found)}")
    print("the same classes and loss by every engine")


if __name__ == "__main__":
    main()
