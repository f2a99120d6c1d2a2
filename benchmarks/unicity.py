"""Who is found by a few ratings: 1,000 trials in 480,000 persons x 10 million ratings, made up.

    python benchmarks/unicity.py              # the size of the Netflix Prize's persons, 10 M of its ratings
    python benchmarks/unicity.py 20000        # so many persons

CPU seconds are those of the attack, with reading the file and building the index. The peak of memory is that of the
whole process, with making the ratings.
"""

import sys
import tempfile
import time
from pathlib import Path

import polars as pl

import hushtable as ht

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from twins.naive_attacks import ratings

KNOWN = [1, 2, 4, 8]
N_ITEMS = 17_770
WRONG, KNOWN_WITH_WRONG = 2, [4, 8]
WAYS = {"date within 14 days": {"date": "14D"}, "date and stars": {"date": "14D", "stars": 0}, "items alone": {}}


def peak_gib() -> float:
    """Return the largest memory that this process has used."""
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 2**20


def main() -> None:
    """Print a row for each way to know ratings."""
    n_persons = int(sys.argv[1]) if len(sys.argv) > 1 else 480_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.parquet"
        ratings(n_persons, N_ITEMS, 0, mean=21).write_parquet(path)
        n_ratings = pl.scan_parquet(path).select(pl.len()).collect().item()
        print(f"{n_ratings:,} ratings of {n_persons:,} persons")
        for way, tolerance in WAYS.items():
            began = time.process_time()
            found = ht.unicity(path, person="person", item="item", known=KNOWN, tolerance=tolerance)
            shares = ", ".join(f"{each.n_known}: {each.rate:.1%}" for each in found.known)
            print(f"{way:20} {shares}; {time.process_time() - began:.1f} CPU s, peak {peak_gib():.1f} GiB", flush=True)
        print(f"{WRONG} of the known ratings are wrong: found rightly, and taken for another")
        for way, tolerance in WAYS.items():
            began = time.process_time()
            found = ht.unicity(
                path, person="person", item="item", known=KNOWN_WITH_WRONG, wrong=WRONG, tolerance=tolerance
            )
            shares = ", ".join(
                f"{each.n_known}: {each.right_rate or 0:.1%} and {each.rate - (each.right_rate or 0):.1%}"
                for each in found.known
            )
            print(f"{way:20} {shares}; {time.process_time() - began:.1f} CPU s, peak {peak_gib():.1f} GiB", flush=True)


if __name__ == "__main__":
    main()
