"""Rows that hardly repeat, on Spark: cut and published by executors, from Parquet to verified Parquet.

    python benchmarks/spark.py [N_ROWS] [--threads 2] [--parts 16] [--adult]

Eight columns of 100 values each, drawn evenly, so that no two rows are equal; with ``--adult``, Adult's rows at any
scale, as ``streaming.py`` draws them. k = 5 with Mondrian on all columns. A session starts before the clock does, and
one of 1,000 rows warms it up. Executors are processes of their own: wall seconds are of all, CPU seconds and
memory of the driver's Python alone. `write` writes, collapses what was written and judges it.
"""

import argparse
import os
import tempfile
import warnings
from pathlib import Path

from engines import lap, sparkling
from streaming import K, make, make_hard


def main() -> None:
    """Measure one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n_rows", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--parts", type=int, default=16)
    parser.add_argument("--adult", action="store_true", help="Adult's rows in place of rows that hardly repeat")
    given = parser.parse_args()
    for name in ("HUSHTABLE_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = str(given.threads)
    import polars as pl

    import hushtable as ht

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        folder, whole = Path(place) / "in", Path(place) / "whole.parquet"
        folder.mkdir()
        (make if given.adult else make_hard)(whole, given.n_rows, 0)
        rows = pl.scan_parquet(whole)
        columns, size = rows.collect_schema().names(), -(-given.n_rows // given.parts)
        for number in range(given.parts):
            rows.slice(number * size, size).sink_parquet(folder / f"{number}.parquet")
        asked = {"quasi_identifiers": columns, "models": [ht.KAnonymity(K)], "roles": "trust"}
        frame = sparkling(folder)
        ht.anonymize(frame.limit(1_000).toArrow(), **asked)
        print(f"{given.n_rows:,} rows in {given.parts} parts, {given.threads} threads, load {os.getloadavg()[0]:.1f}")
        print(f"  {'step':9} {'wall s':>8} {'CPU s':>8} {'GiB':>8}", flush=True)
        total = [0.0, 0.0]
        release = lap("anonymize", lambda: ht.anonymize(frame, **asked), total)
        lap("write", lambda: release.write(Path(place) / "out"), total)
        told = release.to_dict()
        print(f"  {'all':9} {total[0]:8.2f} {total[1]:8.2f}   {told['n_classes']:,} classes, loss {release.loss:.12f}")
        print(f"  cut one by one: {release.is_row_by_row}")


if __name__ == "__main__":
    main()
