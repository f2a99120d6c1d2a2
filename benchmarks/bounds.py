"""The floors under the set-NCP on Adult: what they reach in which time, beside the distance to the k-th nearest.

Adult (30,162 complete records, eight quasi-identifiers) is found through HUSHTABLE_SHARED. Seconds are those of the
processor, of budgets too, after a first run that compiles.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl

import hushtable as ht
from hushtable.claims.certificates import check_certificate
from hushtable.plots import charts
from hushtable.quality.bound import ncp_bound, ncp_lower_bound
from hushtable.search import budget as clocks
from hushtable.search.budget import Budget

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ADULT = SHARED / "data" / "adult" / "adult_ori.csv"
COLUMNS = ["age", "type_employer", "education_num", "marital", "occupation", "race", "sex", "country"]
# What is demanded of a floor, by processor seconds.
WANTED = {
    2: ((5, 0.0055), (60, 0.0056)),
    5: ((5, 0.0116), (250, 0.0175)),
    10: ((10, 0.0164), (170, 0.0255)),
    50: ((15, 0.033), (60, 0.036)),
}


def draw(adult: pl.DataFrame, k: int, budgets: list[float], path: Path) -> None:
    """Draw what local recoding loses within budgets, and the floors that as long a look proves."""
    asked: dict[str, Any] = {"quasi_identifiers": COLUMNS, "models": [ht.KAnonymity(k)], "roles": "trust"}
    ht.anonymize(adult.head(500), **asked, method="local_recoding", budget=Budget(seconds=1))
    losses, floors = [], []
    for seconds in budgets:
        release = ht.anonymize(adult, **asked, method="local_recoding", budget=Budget(seconds=seconds))
        losses.append(release.loss)
        floors.append(ncp_bound(adult, COLUMNS, k, Budget(seconds=seconds)).value)
        print(f"k = {k}, {seconds:g} s: loss {losses[-1]:.5f}, floor {floors[-1]:.5f}", flush=True)
    axes = charts.convergence(budgets, floors, losses, label="seconds")
    axes.figure.savefig(path)


def print_gaps(adult: pl.DataFrame, k: int, budgets: list[float]) -> None:
    """Print the loss, floor and gap that local recoding returns when one budget pays for both."""
    for seconds in budgets:
        release = ht.anonymize(
            adult,
            quasi_identifiers=COLUMNS,
            models=[ht.KAnonymity(k)],
            roles="trust",
            method="local_recoding",
            budget=Budget(seconds=seconds),
        )
        bound, gap = release.trace.bound or 0.0, release.trace.gap or 1.0
        print(f"k = {k}, {seconds:g} s: loss {release.loss:.5f}, floor {bound:.5f}, gap {gap:.1%}", flush=True)


def main() -> None:
    """Print a row for every k."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, nargs="+", default=list(WANTED))
    parser.add_argument("--seconds", type=float, nargs="*", default=[], help="budgets, beside a single pass without")
    parser.add_argument("--check", action="store_true", help="check every certificate too, which takes minutes in all")
    parser.add_argument("--draw", type=Path, help="a picture of floor and loss over the budgets, of the first k")
    parser.add_argument("--release", action="store_true", help="what local recoding returns within the budgets, alone")
    asked = parser.parse_args()
    # A budget's seconds are those of the processor, too: the machine may be shared.
    clocks.perf_counter = time.process_time
    if not ADULT.is_file():
        sys.exit(f"no {ADULT}; set HUSHTABLE_SHARED")
    cells = pl.read_csv(ADULT, infer_schema_length=0).select(COLUMNS)
    complete = cells.filter(~pl.any_horizontal(pl.all().str.strip_chars() == "?"))
    adult = complete.with_columns(pl.col("age", "education_num").cast(pl.Int64))
    if asked.draw is not None:
        draw(adult, asked.k[0], asked.seconds, asked.draw)
        return
    for k in (2, 3):
        ncp_bound(adult.head(300), COLUMNS, k, Budget(nodes=1_000))
    if asked.release:
        ht.anonymize(
            adult,
            quasi_identifiers=COLUMNS,
            models=[ht.KAnonymity(asked.k[0])],
            roles="trust",
            method="local_recoding",
            budget=Budget(nodes=1_000),
        )
        for k in asked.k:
            print_gaps(adult, k, asked.seconds)
        return
    print(f"{adult.height:,} records\n k   nearest   prices   CPU s   demanded                      check (s)")
    for k in asked.k:
        nearest = ncp_lower_bound(adult, COLUMNS, k)
        for budget in (None, *(Budget(seconds=each) for each in asked.seconds)):
            began = time.process_time()
            bound = ncp_bound(adult, COLUMNS, k, budget)
            seconds = time.process_time() - began
            checked = "-"
            if asked.check:
                began = time.process_time()
                verdict = check_certificate(adult, bound.certificate)
                said = "failed" if verdict.failures else "no end" if verdict.unchecked else "passed"
                checked = f"{said} ({time.process_time() - began:.0f})"
            demanded = ", ".join(f"{floor:.4f} in {within} s" for within, floor in WANTED.get(k, ()))
            print(f"{k:2}   {nearest:.5f}  {bound.value:.5f}  {seconds:6.1f}   {demanded:28}  {checked}", flush=True)


if __name__ == "__main__":
    main()
