"""Singling out: search time, memory and growth of mpUCCs and of minimal sample uniques.

    python benchmarks/mpuccs.py              # pairs, a control, SUDA, growth to 100,000 rows
    python benchmarks/mpuccs.py 1000000      # growth to this many rows
    python benchmarks/mpuccs.py --each       # the pair adult too, and more sizes of column sets for SUDA
    python benchmarks/mpuccs.py --peers      # PETsARD too, where it is installed (minutes)

The tables are found through HUSHTABLE_SHARED. Search time is that of the walk over column sets, once compiled; the
column beside it counts reading and coding too. The peak of memory is that of a process of its own, with the libraries,
its kernels compiled before.
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
IS_EACH = "--each" in sys.argv
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
    """Print pairs of Adult tables at growing sizes of column sets."""
    print("| pair | sizes | identified | sets seen | search s | with reading s | peak MB | PETsARD 1.6.0 s |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for pair in ("ctgan", "adult") if IS_EACH else ("ctgan",):
        for largest in (1, 2, 3, 5, 15):
            found, sets, seconds, whole, peak = in_process(
                ADULT / f"{pair}_ori.csv", ADULT / f"{pair}_syn.csv", list(range(1, largest + 1))
            )
            peer = PETSARD.get(largest, "") if pair == "ctgan" else ""
            cells = f"{found:,} | {sets:,} | {seconds:.3f} | {whole:.2f} | {peak:.0f} | {peer}"
            print(f"| {pair} | {'1' if largest == 1 else f'1-{largest}'} | {cells} |")


def suda():
    """Print minimal sample uniques of Adult's quasi-identifiers."""
    table = ht.Table.encode(ADULT / "adult_ori.csv", IDENTIFYING)
    print("\n| minimal sample uniques of at most | sets | s |\n|---|---:|---:|")
    for max_size in (3, 4, 5, 8) if IS_EACH else (3, 8):
        seconds = []
        for _ in range(7):
            began = time.perf_counter()
            found = ht.minimal_uniques(table, max_size=max_size)
            seconds.append(time.perf_counter() - began)
        print(f"| {max_size} of 8 columns | {len(found.rows):,} | {statistics.median(seconds):.3f} |")


def control():
    """Print what a comparison with a control takes: 199 permutations, besides the search itself."""
    print("\n| pair | sizes | alone s | with a control s | permutations | excess risk |")
    print("|---|---|---:|---:|---:|---:|")
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
            f"| {pair} | {'1-3' if sizes else 'all'} | {seconds[0]:.2f} | {seconds[1]:.2f} | "
            f"{figures['n_permutations']} | {figures['excess_risk']:.4f} |"
        )


def growth(sizes):
    """Print how the search grows with the rows: two halves of Adult-like rows, one against the other."""
    sys.path.insert(0, str(SHARED / "tools"))
    import make_adult_scale
    import polars as pl

    print("\n| records, original and synthetic each | columns | sizes | identified | search s |")
    print("|---:|---:|---|---:|---:|")
    for n_rows in sizes:
        header, rows = make_adult_scale.rows(2 * n_rows)
        frame = pl.DataFrame({name: rows[:, j].tolist() for j, name in enumerate(header)})
        original, synthetic = ht.Table.encode(frame[:n_rows]), ht.Table.encode(frame[n_rows:])
        found = ht.mpuccs(original, synthetic, n_cols=[1, 2, 3], deduplicate=True)
        identified = found.summary["total_identified"]
        print(f"| {n_rows:,} | {len(header)} | 1-3 | {identified:,} | {found.trace.seconds:.2f} |")


def peer():
    """Print PETsARD's time for sets of one column, the only size it finishes soon; 1.10 looks at all sizes."""
    arguments = [os.environ.get("PETSARD", sys.executable), "-c", PEER]
    paths = [str(ADULT / "ctgan_ori.csv"), str(ADULT / "ctgan_syn.csv")]
    try:
        run = subprocess.run([*arguments, *paths], capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        seconds = f"more than {PATIENCE} s"
    else:
        if run.returncode:
            print("PETsARD is not installed", file=sys.stderr)
            return
        seconds = f"{float(run.stdout.split()[-1]):.1f} s"
    print(f"\nPETsARD as installed, size 1: {seconds}")


if __name__ == "__main__":
    ht.mpuccs(ADULT / "ctgan_ori.csv", ADULT / "ctgan_syn.csv", n_cols=1)
    pairs()
    control()
    suda()
    given = [int(float(each)) for each in sys.argv[1:] if not each.startswith("-")]
    growth([n for n in (10_000, 100_000, 1_000_000) if n <= max(given, default=100_000)])
    if "--peers" in sys.argv:
        peer()
