"""Singling out: search time, memory and growth of mpUCCs and of minimal sample uniques.

    python benchmarks/mpuccs.py              # pairs, a control, SUDA, growth to 100,000 rows
    python benchmarks/mpuccs.py 1000000      # growth to this many rows
    python benchmarks/mpuccs.py --peers      # PETsARD too, where it is installed (minutes)

The tables are found through HUSHTABLE_SHARED. Search time is that of the walk over
column sets, once compiled; the whole process is in the column beside it. The peak of memory is
that of a process of its own, with reading, coding and the libraries, its kernels compiled before.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import hushtable as ht

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).parents[1] / "../shared"))
ADULT = SHARED / "data" / "adult"
IDENTIFYING = ["age", "type_employer", "education", "marital", "occupation", "race", "sex", "country"]
PATIENCE = 180  # seconds for PETsARD
# Median seconds of PETsARD 1.6.0 on a 2-core machine, one run each, for sizes 1, 1-2 and 1-3 of the ctgan pair.
PETSARD = {1: 10.7, 2: 126.4, 3: 302.0}
SCRIPT = """
import json, sys, time
import hushtable as ht
began = time.perf_counter()
original, synthetic, sizes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
found = ht.mpuccs(original, synthetic, n_cols=sizes, deduplicate=True)
whole = time.perf_counter() - began
# Of this program alone: getrusage would count the peak of the process that started it too.
peak = int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]) / 1024
print(json.dumps([found.summary["total_identified"], found.trace.nodes, found.trace.seconds, whole, peak]))
"""
PEER = """
import sys, time, pandas as pd
from petsard.evaluator import Evaluator
original, synthetic = (pd.read_csv(path) for path in sys.argv[1:3])
evaluator = Evaluator("mpuccs", n_cols=[1])
evaluator.create()
began = time.perf_counter()
evaluator.eval({"ori": original, "syn": synthetic})
print(time.perf_counter() - began)
"""


def in_process(original, synthetic, sizes, n_runs=3):
    """Return figures of `n_runs` processes: identified, sets looked at, median seconds, median whole, highest peak."""
    runs = []
    for _ in range(n_runs):
        arguments = [sys.executable, "-c", SCRIPT, str(original), str(synthetic), json.dumps(sizes)]
        runs.append(json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout))
    found, sets, seconds, whole, peaks = zip(*runs, strict=True)
    return found[0], sets[0], statistics.median(seconds), statistics.median(whole), max(peaks)


def pairs():
    """Print the two pairs of Adult tables at growing sizes of column sets."""
    print(f"{'pair':8} {'sizes':6} {'identified':>10} {'sets seen':>9} {'search s':>9} {'whole s':>8} {'peak MB':>8}")
    for pair in ("ctgan", "adult"):
        for largest in (1, 2, 3, 5, 15):
            found, sets, seconds, whole, peak = in_process(
                ADULT / f"{pair}_ori.csv", ADULT / f"{pair}_syn.csv", list(range(1, largest + 1))
            )
            peer = f"  PETsARD {PETSARD[largest]} s" if pair == "ctgan" and largest in PETSARD else ""
            print(f"{pair:8} 1-{largest:<4} {found:10,} {sets:9,} {seconds:9.3f} {whole:8.2f} {peak:8.0f}{peer}")


def suda():
    """Print minimal sample uniques of Adult's quasi-identifiers."""
    table = ht.Table.encode(ADULT / "adult_ori.csv", IDENTIFYING)
    for max_size in (3, 4, 5, 8):
        seconds = []
        for _ in range(7):
            began = time.perf_counter()
            found = ht.minimal_uniques(table, max_size=max_size)
            seconds.append(time.perf_counter() - began)
        print(f"SUDA, at most {max_size} of 8 columns: {len(found.rows):,} sets, {statistics.median(seconds):.3f} s")


def control():
    """Print what a comparison with a control takes: 199 permutations, besides the search itself."""
    for pair, sizes in (("ctgan", [1, 2, 3]), ("adult", [1, 2, 3]), ("ctgan", None)):
        tables = [ht.Table.encode(ADULT / f"{pair}_{name}.csv") for name in ("ori", "syn")]
        beside = ht.Table.encode(ADULT / "ctgan_control.csv")
        seconds = []
        for one in (None, beside):
            began = time.perf_counter()
            found = ht.mpuccs(*tables, control=one, n_cols=sizes, deduplicate=True)
            seconds.append(time.perf_counter() - began)
        figures = found.summary["control"]
        print(
            f"{pair}, sizes {sizes or 'all'}: {seconds[0]:.2f} s alone, {seconds[1]:.2f} s with a control and "
            f"{figures['n_permutations']} permutations, excess {figures['excess_risk']:.4f}"
        )


def growth(sizes):
    """Print how the search grows with the rows: two halves of Adult-like rows, one against the other."""
    sys.path.insert(0, str(SHARED / "tools"))
    import make_adult_scale
    import polars as pl

    for n_rows in sizes:
        header, rows = make_adult_scale.rows(2 * n_rows)
        frame = pl.DataFrame({name: rows[:, j].tolist() for j, name in enumerate(header)})
        original, synthetic = ht.Table.encode(frame[:n_rows]), ht.Table.encode(frame[n_rows:])
        found = ht.mpuccs(original, synthetic, n_cols=[1, 2, 3], deduplicate=True)
        print(
            f"{n_rows:9,} rows each, {len(header)} columns, sizes 1-3: "
            f"{found.summary['total_identified']:,} identified, search {found.trace.seconds:.2f} s"
        )


def peer():
    """Print PETsARD's time for sets of one column, the only size it finishes soon; 1.10 looks at all sizes."""
    arguments = [os.environ.get("PETSARD", sys.executable), "-c", PEER]
    paths = [str(ADULT / "ctgan_ori.csv"), str(ADULT / "ctgan_syn.csv")]
    try:
        run = subprocess.run([*arguments, *paths], capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        seconds = f"more than {PATIENCE} s"
    else:
        seconds = f"{float(run.stdout.split()[-1]):.1f} s" if run.returncode == 0 else "not installed"
    print(f"PETsARD, size 1: {seconds}")


if __name__ == "__main__":
    ht.mpuccs(ADULT / "ctgan_ori.csv", ADULT / "ctgan_syn.csv", n_cols=1)
    print(f"load {os.getloadavg()[0]:.1f}")
    pairs()
    control()
    suda()
    given = [int(float(each)) for each in sys.argv[1:] if not each.startswith("-")]
    growth([n for n in (10_000, 100_000, 1_000_000) if n <= max(given, default=100_000)])
    if "--peers" in sys.argv:
        peer()
