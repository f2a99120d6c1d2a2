"""The floors under the set-NCP on Adult: what they reach in which time, beside the distance to the k-th nearest.

Adult (30,162 complete records, eight quasi-identifiers) is found through HUSHTABLE_SHARED. Seconds are those of the
processor, after a first run that compiles.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import polars as pl

from hushtable.claims.certificates import check_certificate
from hushtable.quality.bound import ncp_bound, ncp_lower_bound
from hushtable.search import Budget

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ADULT = SHARED / "data" / "adult" / "adult_ori.csv"
COLUMNS = ["age", "type_employer", "education_num", "marital", "occupation", "race", "sex", "country"]
WANTED = {2: 0.00554, 5: 0.01779, 10: 0.02603, 50: 0.03613}  # the best that was proven before


def main() -> None:
    """Print a row for every k."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, nargs="+", default=list(WANTED))
    parser.add_argument("--seconds", type=float, help="a budget; a single pass without one")
    parser.add_argument("--check", action="store_true", help="check every certificate too, which takes a minute each")
    asked = parser.parse_args()
    if not ADULT.is_file():
        sys.exit(f"no {ADULT}; set HUSHTABLE_SHARED")
    cells = pl.read_csv(ADULT, infer_schema_length=0).select(COLUMNS)
    complete = cells.filter(~pl.any_horizontal(pl.all().str.strip_chars() == "?"))
    adult = complete.with_columns(pl.col("age", "education_num").cast(pl.Int64))
    for k in (2, 3):
        ncp_bound(adult.head(300), COLUMNS, k, Budget(nodes=1_000))
    budget = None if asked.seconds is None else Budget(seconds=asked.seconds)
    print(f"{adult.height:,} records\n k   nearest   prices    before   CPU s   check")
    for k in asked.k:
        began = time.process_time()
        bound = ncp_bound(adult, COLUMNS, k, budget)
        seconds = time.process_time() - began
        checked = str(check_certificate(adult, bound.certificate).passed) if asked.check else "-"
        nearest = ncp_lower_bound(adult, COLUMNS, k)
        print(
            f"{k:2}  {nearest:.5f}   {bound.value:.5f}   {WANTED.get(k, 0):.5f}  {seconds:6.1f}   {checked}", flush=True
        )


if __name__ == "__main__":
    main()
