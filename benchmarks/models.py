"""All privacy models on one release: one pass for the statistics, then every model's measure.

usage: python benchmarks/models.py [ROWS] [--each] [--peers]

The release is Mondrian's with k = 5 of an Adult-like table with a sensitive column of 20
values beside its own. ``--each`` prints each model. ``--peers`` measures 30,000 rows of it with pycanon as well, which
is called through its own interpreter: PYCANON=/path/to/venv/bin/python.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.anonymizers import Problem
from hushtable.anonymizers.judging import NO_LADDERS, Judge
from hushtable.tables.partition import Partition
from mondrian import show

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).parents[1] / "../shared"))
IDENTIFYING = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
MODELS = [
    ht.KAnonymity(5),
    ht.AlphaKAnonymity(0.5, 5, "pay"),
    ht.DistinctLDiversity(2, "pay"),
    ht.EntropyLDiversity(2, "pay"),
    ht.RecursiveCLDiversity(3, 2, "pay"),
    ht.TCloseness(0.3, "pay", "ordered"),
    ht.TCloseness(0.3, "pay", "equal"),
    ht.BetaLikeness(4, "pay"),
    ht.BetaLikeness(4, "pay", enhanced=True),
    ht.DeltaDisclosure(1, "pay"),
]
# pycanon's name of each model; its l and t are of a class, ours are too.
PEERS = {
    "k-anonymity": "k_anonymity",
    "alpha-k-anonymity": "alpha_k_anonymity",
    "distinct-l-diversity": "l_diversity",
    "entropy-l-diversity": "entropy_l_diversity",
    "recursive-c-l-diversity": "recursive_c_l_diversity",
    "t-closeness": "t_closeness",
    "beta-likeness": "basic_beta_likeness",
    "delta-disclosure": "delta_disclosure",
}
SCRIPT = """
import importlib.metadata, json, sys, time
import pandas as pd
from pycanon import anonymity
print(importlib.metadata.version("pycanon"))
frame = pd.read_csv(sys.argv[1], dtype=str).assign(pay=lambda f: f.pay.astype(int))
names = json.loads(sys.argv[2])
for name, function in json.loads(sys.argv[3]).items():
    began = time.process_time()
    arguments = (frame, names) if name == "k-anonymity" else (frame, names, ["pay"])
    found = getattr(anonymity, function)(*arguments)
    print(json.dumps([name, str(found), time.process_time() - began]), flush=True)
"""


def adult(n_rows):
    """Return Adult-like rows with a sensitive column of 20 values."""
    sys.path.insert(0, str(SHARED / "tools"))
    import make_adult_scale

    header, rows = make_adult_scale.rows(n_rows)
    frame = pl.DataFrame({name: rows[:, header.index(name)].tolist() for name in IDENTIFYING})
    pay = np.random.default_rng(0).binomial(19, 0.4, n_rows)
    return frame.with_columns(pl.col("age").cast(pl.Int64), pay=pl.Series(pay))


def released(n_rows):
    """Return a release's table and classes."""
    table = ht.Table.encode(adult(n_rows))
    distinct, inverse = table.select(IDENTIFYING).collapse()
    problem = Problem(tuple(IDENTIFYING), Judge(distinct, tuple(MODELS[:1])), NO_LADDERS, ht.SetNCP())
    found = ht.Mondrian().search(problem).partition
    labels = found.labels[inverse]
    return table, Partition.from_labels(labels, found.n_classes, table.counts)


def timed(function, n_runs=7):
    """Return what a function returns, and its median seconds."""
    seconds = []
    for _ in range(n_runs):
        began = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - began)
    return result, statistics.median(seconds)


def published(table, partition):
    """Return a frame with the release's classes; any texts will do that are one a class."""
    texts = pl.Series(partition.labels).cast(pl.String)
    return pl.DataFrame(dict.fromkeys(IDENTIFYING, texts)).with_columns(table.select(["pay"]).decode())


def from_cells(frame):
    """Do all that pycanon's functions do between them: group the cells, count, measure."""
    table = ht.Table.encode(frame)
    stats = Partition.from_table(table, IDENTIFYING).stats(table, MODELS)
    return [model.measure(stats) for model in MODELS]


def measured(n_rows):
    """Time the statistics and each measure; one line each, in seconds, and the classes and the release."""
    table, partition = released(n_rows)
    partition.stats(table, MODELS)
    stats, total = timed(lambda: partition.stats(table, MODELS))
    lines = [("statistics, all models", "", total)]
    for model in MODELS:
        values, seconds = timed(lambda model=model: model.measure(stats))
        total += seconds
        worst = values.min() if model.higher_is_safer else values.max()
        kind = f" {model.ground}" if isinstance(model, ht.TCloseness) else ""
        kind += " enhanced" if getattr(model, "enhanced", False) else ""
        lines.append((model.name + kind, f"{worst:.4g}", seconds))
    lines.append(("statistics and all models", "", total))
    frame = published(table, partition)
    lines.append(("the same from the cells", "", timed(lambda: from_cells(frame), 5)[1]))
    return lines, partition.n_classes, frame


def peers(frame):
    """Measure the same cells with pycanon: its version; and a value and CPU seconds for each model, if it is there."""
    python = os.environ.get("PYCANON", sys.executable)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "released.csv"
        frame.write_csv(path)
        arguments = [python, "-c", SCRIPT, str(path), json.dumps(IDENTIFYING), json.dumps(PEERS)]
        run = subprocess.run(arguments, capture_output=True, text=True)
    version, *lines = run.stdout.splitlines() or [""]
    for line in lines:
        name, value, seconds = json.loads(line)
        found[name] = (value, seconds)
    if not found:
        print("pycanon: not installed" if "No module" in run.stderr else run.stderr.splitlines()[-1])
    return version, found


def detail(lines, found):
    """Return one line a model, pycanon's beside it."""
    for name, worst, seconds in lines:
        peer = found.get(name.removesuffix(" ordered"), ("", float("nan")))
        beside = f"{peer[0]} | {peer[1]:.3f}" if peer[0] else " | "
        yield f"| {name} | {worst} | {seconds:.4f} | {beside} |"


def main():
    """Print a row for each number of rows; if asked, then each model."""
    sizes = [int(float(each)) for each in sys.argv[1:] if not each.startswith("-")] or [30_000, 1_000_000]
    heads = ("rows", "classes", "hushtable, from the partition", "hushtable, from the published cells", "pycanon")
    rows, details = [], []
    for n_rows in sizes:
        lines, n_classes, frame = measured(n_rows)
        version, found = peers(frame) if "--peers" in sys.argv and n_rows <= 30_000 else ("", {})
        together = sum(seconds for _, seconds in found.values())
        peer = f"{together:.1f} s CPU ({len(found)} calls of {version})" if found else "not run"
        partition, cells = (seconds for _, _, seconds in lines[-2:])
        rows.append((f"{n_rows:,}", f"{n_classes:,}", f"{partition:.3f} s", f"{cells:.3f} s", peer))
        details += ["", f"{n_rows:,} rows; worst class and median seconds", ""]
        details += ["| measure | worst | s | pycanon | CPU s |", "|---|---:|---:|---:|---:|", *detail(lines, found)]
    show(heads, rows)
    if "--each" in sys.argv:
        print(*details, sep="\n")


if __name__ == "__main__":
    main()
