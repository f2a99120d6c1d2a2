"""Independence masking: masked cells, bound, gap and seconds.

usage: python benchmarks/independence.py [--large] [--all]

Adult with A = sex, race, marital and B = hours, weight or years of education, for several numbers of clusters (of
weight and education: with ``--all``); with five columns of A; and, with ``--large``, 1,000,000 Adult-like rows.
"""

import os
import resource
import sys
import time
from pathlib import Path

import polars as pl

import hushtable as ht

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).parents[1] / "../shared"))
THREE = ["sex", "race", "marital"]
FIVE = [*THREE, "relationship", "occupation"]


def line(name, data, a, b, clusters, **options):
    """Mask and print one row."""
    began = time.perf_counter()
    masked = ht.mask_dependence(data, a=a, b=b, c=[], clusters=clusters, **options)
    seconds = time.perf_counter() - began
    assert masked.verify().passed
    proof = "proven" if masked.optimal else f"{masked.gap:.2%}"
    print(
        f"| {name} | {clusters} | {masked.n_stars:,} | {masked.lower_bound:,.0f} | {proof} | "
        f"{masked.trace.seconds:.2f} | {seconds:.2f} |",
        flush=True,
    )


def large(n):
    """Return Adult-like rows."""
    sys.path.insert(0, str(SHARED / "tools"))
    import make_adult_scale

    header, rows = make_adult_scale.rows(n)
    names = ["sex", "age", "race", "marital-status", "education", "occupation", "workclass"]
    frame = pl.DataFrame({name: rows[:, header.index(name)].tolist() for name in names})
    return frame.with_columns(pl.col("age").cast(pl.Int64))


def main():
    """Print the table."""
    print("| table | clusters | masked cells | lower bound | gap | search, s | whole call, s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    adult = pl.read_csv(SHARED / "data/adult/adult_ori.csv")
    for b in ("hr_per_week", "fnlwgt", "education_num"):
        for clusters in (2, 5, 10, 20) if b == "hr_per_week" or "--all" in sys.argv else (20,):
            line(f"Adult, 3 columns by {b}", adult, THREE, [b], clusters)
    for clusters in (2, 5, 10):
        line("Adult, 3 columns by hours, ties settled", adult, THREE, ["hr_per_week"], clusters, optimise_ties=True)
    for clusters in (2, 5, 10, 20):
        line("Adult, 5 columns by hours", adult, FIVE, ["hr_per_week"], clusters)
    if "--large" in sys.argv:
        million = large(1_000_000)
        line("1 M rows, 3 columns by age", million, ["sex", "race", "marital-status"], ["age"], 5)
        line("1 M rows, 4 columns by age", million, ["sex", "race", "marital-status", "education"], ["age"], 5)
        line("1 M rows, 6 columns by age", million, [name for name in million.columns if name != "age"], ["age"], 5)
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
