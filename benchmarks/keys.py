"""Keys: all minimal unique column combinations, beside desbordante, in one run.

    python benchmarks/keys.py              # desbordante too, where it is installed
    python benchmarks/keys.py --runs 11    # medians of so many

The tables are found through HUSHTABLE_SHARED; equal rows count once. "From codes" is the search alone: ours starts
from coded columns, desbordante's from what its load_data leaves. "From file" has reading and coding too. Seconds of
one thread, kernels compiled before. The last table asks for one key of a million rows by a sample, in CPU seconds.
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import hushtable as ht

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).parents[1] / "../shared"))
FILES = {"adult": "adult/adult_ori.csv", "nursery": "uci/nursery.csv", "mushroom": "uci/mushroom.csv"}


def tables():
    """Yield names and tables: real ones, one of 26,000 x 23, and the wide one."""
    for name, file in FILES.items():
        path = SHARED / "data" / file
        if path.exists():
            yield name, pl.read_csv(path, has_header=False, skip_rows=1, infer_schema=False).unique(maintain_order=True)
    sys.path.insert(0, str(SHARED / "tools"))
    from make_wide import make  # type: ignore[import-not-found]

    for name, options in (("made up", {"n": 26_000, "d": 23, "max_card": 3_000}), ("made up, wide", {})):
        cells = make(**options)
        yield name, pl.DataFrame(cells, schema=[f"c{j:02}" for j in range(cells.shape[1])]).unique(maintain_order=True)


def seconds(work):
    """Return how long a call takes, and its result."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def peer(path):
    """Return seconds of load_data and execute of desbordante, and its keys."""
    import desbordante

    algorithm = desbordante.ucc.algorithms.HPIValid()
    loading, _ = seconds(lambda: algorithm.load_data(table=(str(path), ",", True)))
    searching, _ = seconds(algorithm.execute)
    return loading, searching, {frozenset(found.indices) for found in algorithm.get_uccs()}


def print_keys(runs):
    """Print ours and theirs, table by table."""
    try:
        import desbordante  # noqa: F401
    except ImportError:
        has_peer = False
    else:
        has_peer = True
    print("| table | rows x columns | keys | from codes | HPIValid | from file | load and HPIValid |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name, table in tables():
        times = {"codes": [], "peer": [], "file": [], "peer file": []}
        coded = ht.Table.encode(table)
        found = ht.minimal_keys(coded)
        places = {column: j for j, column in enumerate(found.columns)}
        ours = {frozenset(places[each] for each in key) for key in found.keys}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            table.write_csv(path)
            for _ in range(1 if name.endswith("wide") else runs):
                times["codes"].append(seconds(partial(ht.minimal_keys, coded))[0])
                times["file"].append(seconds(partial(ht.minimal_keys, path))[0])
                if has_peer:
                    loading, searching, theirs = peer(path)
                    times["peer"].append(searching)
                    times["peer file"].append(loading + searching)
                    assert ours == theirs, name
        told = " | ".join(f"{statistics.median(each):.3f} s" if each else "" for each in times.values())
        print(f"| {name} | {len(table):,} x {table.width} | {len(ours):,} | {told} |", flush=True)


def by_sample(error=1e-6):
    """Print a row: one key of a million rows of Adult, a quarter of its cells redrawn."""
    table = pl.read_csv(SHARED / "data" / FILES["adult"], has_header=False, skip_rows=1, infer_schema=False)
    chance = np.random.default_rng(0)
    drawn = table[chance.integers(0, len(table), 1_000_000)]
    cells = {
        name: np.where(chance.random(len(drawn)) < 0.25, column.to_numpy()[chance.permutation(len(drawn))], column)
        for name, column in zip(drawn.columns, drawn.get_columns(), strict=True)
    }
    coded = ht.Table.encode(pl.DataFrame(cells))
    n_sampled = int(len(coded.names) / error**0.5)
    ht.minimal_keys(coded.take(np.arange(1_000)), error=error, sample=100)
    before = resource.getrusage(resource.RUSAGE_SELF)
    found = ht.minimal_keys(coded, error=error, sample=n_sampled)
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"| one key of {found.n_rows:,} rows x {len(coded.names)} with g1 of at most {error:g}, by a sample of "
        f"{n_sampled:,} | {len(found.keys[0])} columns, g1 {found.errors[0]:.3g} | {spent:.2f} CPU s |"
    )


def with_budget(given=5.0):
    """Print a row: what a budget leaves of 1,000 rows of 200 columns."""
    chance = np.random.default_rng(0)
    table = pl.DataFrame({f"c{j}": chance.integers(0, chance.integers(2, 9), 1_000) for j in range(200)})
    spent, found = seconds(lambda: ht.minimal_keys(table, budget=ht.Budget(seconds=given)))
    print(
        f"| all keys of 1,000 rows x 200, within {given:g} s | {len(found):,} keys; sets of up to "
        f"{found.complete_to_size} columns were all tried | {spent:.1f} s |"
    )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=11)
    runs = arguments.parse_args().runs
    ht.minimal_keys(ht.datasets.people(100, seed=0))
    print_keys(runs)
    print("\n| harder search | found | seconds |\n|---|---|---:|")
    by_sample()
    with_budget()
