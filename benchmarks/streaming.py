"""From Parquet to verified Parquet, never held whole: anonymize (collapse and search), write, verify.

    python benchmarks/streaming.py [N_ROWS ...] [--folder FOLDER] [--threads 2] [--kept 0] [--hard]

Adult's rows at any scale, as ``tools/make_adult_scale.py`` in HUSHTABLE_SHARED draws them (its ``adult.csv`` is read
there): eight quasi-identifiers, and as many columns of random numbers that are kept as asked for. With ``--hard``, rows
of which no two are equal: eight columns of 100 values each, drawn evenly. Steps have wall seconds; the peak is that of
the process. `write` spills, shuffles, writes, collapses what was written and judges it; `verify` judges the folder once
more, as whoever receives it does.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
K, STEP = 5, 1_000_000
REDRAWN = ("occupation", "workclass", "education")


def arguments() -> argparse.Namespace:
    """Read the command line; threads are set before anything is imported that has some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n_rows", nargs="*", type=int, default=[1_000_000])
    parser.add_argument("--folder", type=Path, help="where tables are made; removed in the end, but for the input")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kept", type=int, default=0, help="columns that are no quasi-identifiers")
    parser.add_argument("--hard", action="store_true", help="rows that hardly repeat")
    given = parser.parse_args()
    for name in ("HUSHTABLE_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = str(given.threads)
    return given


def make(path: Path, n_rows: int, n_kept: int) -> None:
    """Write a table unless it is there."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.exists():
        return
    lines = (SHARED / "data/arx_adult/adult.csv").read_text().split("\n")
    header, *rows = (line.split(";") for line in lines if line)
    base = dict(zip(header, np.array(rows).T, strict=True))
    del base["salary-class"]
    values = {name: np.unique(cells, return_inverse=True) for name, cells in base.items()}
    rng = np.random.default_rng(7)
    writer = None
    for start in range(0, n_rows, STEP):
        size = min(STEP, n_rows - start)
        drawn = rng.integers(0, len(rows), size)
        columns: dict[str, Any] = {}
        for name, (texts, codes) in values.items():
            if name == "age":
                columns[name] = np.clip(base[name].astype(np.int64)[drawn] + rng.integers(-3, 4, size), 17, 90)
                continue
            mine = codes[drawn].astype(np.int32)
            if name in REDRAWN:
                mine = np.where(rng.random(size) < 0.1, codes[rng.integers(0, len(rows), size)], mine).astype(np.int32)
            columns[name] = pa.DictionaryArray.from_arrays(mine, texts)
        table = pa.table({**columns, **{f"kept {j}": rng.random(size) for j in range(n_kept)}})
        writer = writer or pq.ParquetWriter(path, table.schema, store_schema=False)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def make_hard(path: Path, n_rows: int, n_kept: int) -> None:
    """Write a table of rows that hardly repeat unless it is there."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.exists():
        return
    rng = np.random.default_rng(7)
    kept = [f"kept {j}" for j in range(n_kept)]
    schema = pa.schema([*((f"c{j}", pa.int16()) for j in range(8)), *((name, pa.float64()) for name in kept)])
    with pq.ParquetWriter(path, schema, store_schema=False) as writer:
        for start in range(0, n_rows, STEP):
            size = min(STEP, n_rows - start)
            cells = [
                *(rng.integers(0, 100, size).astype(np.int16) for _ in range(8)),
                *(rng.random(size) for _ in kept),
            ]
            writer.write_table(pa.table(cells, schema=schema))


def timed(work: Callable[[], Any], spent: list[tuple[float, float]]) -> Any:
    """Do some work, and note its wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    done = work()
    spent.append((time.perf_counter() - wall, time.process_time() - cpu))
    return done


def run(source: Path, output: Path, rows: str) -> None:
    """Release a table step by step, and print a row."""
    import polars as pl

    import hushtable as ht

    warnings.simplefilter("ignore")
    spent: list[tuple[float, float]] = []
    columns = [name for name in pl.scan_parquet(source).collect_schema().names() if not name.startswith("kept")]
    asked = {"quasi_identifiers": columns, "models": [ht.KAnonymity(K)]}
    release = timed(lambda: ht.anonymize(source, **asked, roles="trust", engine="stream"), spent)
    timed(lambda: release.write(output), spent)
    assert timed(lambda: ht.verify(output, **asked), spent).passed
    steps = " | ".join(f"{wall:.1f}" for wall, _ in spent)
    wall, cpu = map(sum, zip(*spent, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    size = sum(each.stat().st_size for each in output.iterdir())
    print(
        f"| {rows} | {steps} | {wall:.1f} | {cpu:.1f} | {peak:.2f} | {size / 1e6:,.0f} | {release.loss:.5f} |",
        flush=True,
    )


def main() -> None:
    """Measure each size in a process of its own: memory that has risen does not fall."""
    given = arguments()
    if not given.hard and not (SHARED / "data/arx_adult/adult.csv").is_file():
        sys.exit(f"no Adult under {SHARED} (HUSHTABLE_SHARED)")
    print("| rows | anonymize, s | write, s | verify, s | wall s | CPU s | peak GiB | MB written | set-NCP |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        for n_rows in given.n_rows:
            kind, maker = ("hard", make_hard) if given.hard else ("adult", make)
            source = (given.folder or Path(place)) / f"{kind}_{n_rows}_{given.kept}.parquet"
            maker(source, n_rows, given.kept)
            rows = f"{n_rows:,}" + (f" with {given.kept} columns that are kept" if given.kept else "")
            # A folder for each size: a release leaves its codebook and manifest beside what it wrote.
            with tempfile.TemporaryDirectory(dir=place) as folder:
                released = (source, Path(folder) / "out", rows)
                process = multiprocessing.get_context("spawn").Process(target=run, args=released)
                process.start()
                process.join()
            if process.exitcode:
                sys.exit("a run failed")


if __name__ == "__main__":
    main()
