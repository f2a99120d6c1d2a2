"""What a report takes: of a release in memory, of its file, and of its file beside the original.

    python benchmarks/report.py [--rows 1000000] [--turns 3]

A million made-up people, 13 columns, 8 of them quasi-identifiers, readable cells. The file's reports read, verify and
measure it anew. No peer writes such a page in Python; sdcMicro's and ARX's were not run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import hushtable as ht

POLICY = """
columns:
  name: identifier
  email: identifier
  birth_date: quasi-identifier
  sex: quasi-identifier
  postcode: {role: quasi-identifier, hierarchy: {prefix: [4, 3, 2, 1]}}
  education: quasi-identifier
  marital_status: quasi-identifier
  occupation: quasi-identifier
  nationality: {role: quasi-identifier, hierarchy: {dictionary: countries}}
  visit_date: quasi-identifier
  income: sensitive
  diagnosis: sensitive
  blood_pressure: sensitive
models: [k-anonymity: 5]
"""


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    policy = ht.Policy.parse(POLICY)
    ht.report(policy.protect(ht.datasets.people(2_000, seed=0))).to_html()  # compiles
    people = ht.datasets.people(given.rows, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        source, file, page = (Path(folder) / name for name in ("people.csv", "release.csv", "report.html"))
        people.write_csv(source)
        release = policy.protect(people)
        verdict = release.write(file)
        ways = {
            "of a release in memory, written a moment ago": lambda: ht.report(
                release, file=file, policy=policy, verdict=verdict
            ),
            "of a release in memory, judged anew": lambda: ht.report(release, policy=policy),
            "of its file": lambda: ht.report(file, policy=policy),
            "of its file, for recipients": lambda: ht.report(file, audience="external"),
            "of its file, beside the original": lambda: ht.report(file, original=source, policy=policy),
        }
        spent: dict[str, list[float]] = {}
        for _ in range(given.turns):
            for name, way in ways.items():
                began = time.perf_counter()
                way().write(page, overwrite=True)
                spent.setdefault(name, []).append(time.perf_counter() - began)
        size = page.stat().st_size
    cores = len(os.sched_getaffinity(0))
    print(f"{given.rows:,} rows, {cores} cores; a page of {size / 1000:.0f} kB\n")
    print("| report | s |\n|---|---:|")
    for name, seconds in spent.items():
        print(f"| {name} | {statistics.median(seconds):.1f} |")


if __name__ == "__main__":
    main()
