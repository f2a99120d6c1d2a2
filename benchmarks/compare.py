"""Five k by three limits of suppression on made-up people, by the policy that a scan writes: what it takes, and where.

    python benchmarks/compare.py [--rows 30000] [--turns 3] [--settings]

Single runs of the same policies stand beside it, each read, coded and verified by itself; no peer does this. With
`--settings`, a row for each setting comes first.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings

import hushtable as ht
from hushtable.io import frames
from hushtable.policy import Policy
from hushtable.policy.comparing import Comparison, compare
from hushtable.policy.proposal import propose_policy

K = (2, 3, 5, 10, 20)
SUPPRESSION = (0, 0.01, 0.05)


def print_rows(compared: Comparison) -> None:
    """Print a row for each setting."""
    titles = ("k", "suppression", "highest risk", "average risk", "loss", "longest cell", "MB", "suppressed", "s", "")
    print(f"| {' | '.join(titles)} |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    for row in compared.rows:
        print(
            f"| {row.k} | {row.suppression:g} | {row.highest_risk:.3g} | {row.average_risk:.3f} | {row.loss:.4f} | "
            f"{row.longest_cell} | {(row.n_bytes or 0) / 1e6:.2f} | {row.n_suppressed} | {row.seconds:.2f} | "
            f"{'knee' if row is compared.knee else ''} |"
        )


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--settings", action="store_true", help="print what each setting gives, too")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    people = ht.datasets.people(given.rows, seed=0)
    frame = frames.read(people).with_learned_specs()
    rules = Policy.parse(propose_policy(frame, ht.find_quasi_identifiers(people), k=5, source="people.csv", run=None))
    compare(people.head(2_000), rules, k=[5])  # compiles
    spent: dict[str, list[float]] = {}
    for _ in range(given.turns):
        began, cpu = time.perf_counter(), time.process_time()
        compared = compare(people, rules, k=K, suppression=SUPPRESSION)
        spent.setdefault("`compare`, wall", []).append(time.perf_counter() - began)
        spent.setdefault("`compare`, CPU", []).append(time.process_time() - cpu)
        began = time.perf_counter()
        for k in K:
            for share in SUPPRESSION:
                models = [{"k-anonymity": k}, *rules.to_dict()["models"][1:]]
                release = rules.with_entries({("models",): models, ("limits", "suppression"): share}).protect(people)
                release.verify()
        spent.setdefault("single runs, wall", []).append(time.perf_counter() - began)
    if given.settings:
        print_rows(compared)
        print()
    print(f"{given.rows:,} rows, {len(compared.rows)} settings\n")
    print("| work | s |\n|---|---:|")
    for work, seconds in spent.items():
        print(f"| {work} | {statistics.median(seconds):.1f} |")
    for share in SUPPRESSION:
        searching = sum(row.seconds or 0 for row in compared.rows if row.suppression == share)
        print(f"| searches of `compare` that may suppress {share:.0%} of the records, added | {searching:.1f} |")


if __name__ == "__main__":
    main()
