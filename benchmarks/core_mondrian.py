"""Adult beside Core Mondrian, Airbnb's project-lighthouse-anonymize: loss by one formula, suppressed rows, CPU seconds.

    LIGHTHOUSE=/path/to/venv/bin/python python benchmarks/core_mondrian.py

The variable names an interpreter with project-lighthouse-anonymize, which needs numpy below 2 and so an environment of
its own; without it, hushtable runs alone. The peer runs with its default options in one process, and its seconds are
those of its search, without its own measures. It publishes means of numbers; of categories, without hierarchies, a
value or ``*``. Rows whose cells it publishes alike are a class. All losses are recomputed from who is in which class; a
suppressed row is lost wholly.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import hushtable as ht
from mondrian import ADULT, ADULT_ROWS, Labels, load, measure, show

KS = (5, 10, 50)
TURNS = 3
PEER = """
import json, logging, sys, time
import numpy as np, pandas as pd
from project_lighthouse_anonymize import k_anonymize, prepare_gtrees
from project_lighthouse_anonymize.utils import AnonymizeCallbacks

class Clock(AnonymizeCallbacks):
    def anonymize_bm(self): self.began = time.process_time()
    def anonymize_am(self): self.spent = time.process_time() - self.began

source, k, out = sys.argv[1:]
logger, clock = logging.getLogger("peer"), Clock()
rows = pd.read_csv(source)
names = list(rows.columns)
rows = rows.astype({name: float if pd.api.types.is_numeric_dtype(rows[name]) else object for name in names})
rows["row"] = np.arange(len(rows))
trees = prepare_gtrees(logger, rows, names, {})
# The first call compiles.
k_anonymize(logger, rows[:500].copy(), names, int(k), dict(trees), "row", parallelism=None)
made, _, _ = k_anonymize(logger, rows, names, int(k), trees, "row", parallelism=None, anonymize_callbacks=clock)
labels = np.full(len(rows), -1)
labels[made["row"].to_numpy()] = made.groupby(names, dropna=False).ngroup()
np.save(out, labels)
print(json.dumps(clock.spent))
"""


def loss_of(labels: Labels, table: ht.Table) -> float:
    """Return the set-NCP of a partition; a row without a class, -1, is lost wholly."""
    is_suppressed = labels < 0
    # In a class of its own, a row loses nothing.
    apart = np.where(is_suppressed, labels.max() + 1 + np.arange(len(labels)), labels)
    return measure(apart, table).set_ncp + float(is_suppressed.mean())


def protect(frame: pl.DataFrame, k: int, *, exchange: bool) -> tuple[Labels, float]:
    """Return the class of each row by hushtable, and the median CPU seconds from the frame to the release."""
    seconds = []
    for _ in range(TURNS + 1):
        began = time.process_time()
        method = ht.Mondrian(exchange=exchange)
        release = ht.anonymize(
            frame, quasi_identifiers=frame.columns, models=[ht.KAnonymity(k)], method=method, roles="trust"
        )
        seconds.append(time.process_time() - began)
    # The first turn compiles.
    return np.asarray(release.partition.labels), statistics.median(seconds[1:])


def run_peer(python: str, source: Path, k: int) -> tuple[Labels, float]:
    """Return the class of each row by the peer, -1 for a suppressed one, and CPU seconds."""
    out = source.with_name("labels.npy")
    command = [python, "-W", "ignore", "-c", PEER, str(source), str(k), str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return np.load(out), json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print a row for each program and k."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        frame = load(ADULT_ROWS, Path(name)).frame.select(ADULT)
        source = Path(name) / "in.csv"
        frame.write_csv(source)
        table = ht.Table.encode(frame, ADULT)
        for k in KS:
            found = {"hushtable": protect(frame, k, exchange=False)}
            found["hushtable, exchange"] = protect(frame, k, exchange=True)
            if python := os.environ.get("LIGHTHOUSE"):
                found["Core Mondrian"] = run_peer(python, source, k)
            for engine, (labels, spent) in found.items():
                n_classes = len(np.unique(labels[labels >= 0]))
                n_suppressed = int((labels < 0).sum())
                loss = f"{loss_of(labels, table):.4f}"
                rows.append([engine, str(k), f"{spent:.2f}", f"{n_classes:,}", f"{n_suppressed:,}", loss])
    show(["engine", "k", "CPU s", "classes", "suppressed", "set-NCP"], rows)


if __name__ == "__main__":
    main()
