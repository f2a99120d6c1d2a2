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
    print(f"{n:,} people, k = 5, by {', '.join(QUASI)}; then {n:,} new ones of the same population")
    print(
        f"{'recoding':34}{'loss':>8}{'no cell':>9}{'fails':>8}{'published':>11}{'loss':>8}{'learn s':>9}{'apply s':>9}"
    )
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
        shares = (later.batch.n_unfit / n, later.batch.n_failed / n, 1 - later.n_suppressed / n)
        print(
            f"{way:34}{release.loss:8.4f}{shares[0]:9.1%}{shares[1]:8.1%}{shares[2]:11.1%}{later.loss:8.4f}"
            f"{known - began:9.2f}{done - known:9.2f}"
        )


if __name__ == "__main__":
    main()
