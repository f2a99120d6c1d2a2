"""The next batch: how many new rows the cells of an earlier release take, and in how many seconds.

There is no peer to stand beside: none publishes new rows by the cells of an earlier release.
"""

import sys
import warnings
from time import perf_counter

import hushtable as ht

QUASI = ["birth_date", "sex", "postcode", "education", "marital_status"]
TREES = {"postcode": ht.Hierarchy.prefix([2]), "education": ht.Hierarchy.dictionary("education")}
WAYS = [
    ("readable", ht.Mondrian(recoding="readable"), {}),
    ("readable, hierarchies", ht.Mondrian(recoding="readable"), TREES),
    ("readable, hierarchies, margin 10", ht.Mondrian(recoding="readable", margin=10), TREES),
    ("label, hierarchies", ht.Mondrian(recoding="label"), {**TREES, "birth_date": ht.Hierarchy.dates()}),
    ("cut", ht.Mondrian(recoding="cut"), {}),
    ("cut, margin 10", ht.Mondrian(recoding="cut", margin=10), {}),
    ("tight", ht.Mondrian(), {}),
]


def main() -> None:
    """Print a row for every way to recode: the release, and the next batch of as many people."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
    first, second = ht.datasets.people(n, seed=1), ht.datasets.people(n, seed=2)
    warnings.simplefilter("ignore")
    print(f"{n:,} people, then {n:,} new ones, k = 5\n")
    print("| recoding | loss | new rows published | by wider cells | their loss | learning, once: s | publishing: s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for way, method, trees in WAYS:
        options = {"models": [ht.KAnonymity(5)], "method": method, "hierarchies": trees, "roles": "trust"}
        release = ht.anonymize(first, quasi_identifiers=QUASI, **options)
        release.apply(second)
        release = ht.anonymize(first, quasi_identifiers=QUASI, **options)
        began = perf_counter()
        learned = release.learned
        known = perf_counter()
        later = learned.apply(second)
        done = perf_counter()
        print(
            f"| {way} | {release.loss:.4f} | {1 - later.n_suppressed / n:.1%} | {later.batch.n_wider / n:.1%} | "
            f"{later.loss:.4f} | {known - began:.2f} | {done - known:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
