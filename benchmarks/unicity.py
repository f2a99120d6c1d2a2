"""Who is found by a few ratings: 1,000 trials in 480,000 persons x 10 million ratings, made up.

    python benchmarks/unicity.py              # the size of the Netflix Prize's persons, 10 M of its ratings
    python benchmarks/unicity.py 20000        # so many persons

CPU seconds are those of the attack, with reading the file and building the index. The peak of memory is that of the
whole process, with making the ratings.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import hushtable as ht

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from twins.naive_attacks import ratings

KNOWN = [1, 2, 4, 8]
N_ITEMS = 17_770
WRONG, KNOWN_WITH_WRONG = 2, [4, 8]
WAYS = {
    "movie, date within 14 days": {"date": "14D"},
    "movie, date within 14 days, stars": {"date": "14D", "stars": 0},
    "movie alone": {},
}


def peak_gib() -> float:
    """Return the largest memory that this process has used."""
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 2**20


def show(path: Path, heads: list[str], shares: Callable[[Any], str], **options: Any) -> None:
    """Print a table with a row for each way to know ratings."""
    heads = ["known of a rating", *heads, "CPU s", "peak GiB"]
    print(f"| {' | '.join(heads)} |\n|---{'|---:' * (len(heads) - 1)}|")
    for way, tolerance in WAYS.items():
        began = time.process_time()
        found = ht.unicity(path, person="person", item="item", tolerance=tolerance, **options)
        cells = [way, *map(shares, found.known), f"{time.process_time() - began:.1f}", f"{peak_gib():.1f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print who is found, and who is if some of the known ratings are wrong."""
    n_persons = int(sys.argv[1]) if len(sys.argv) > 1 else 480_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.parquet"
        ratings(n_persons, N_ITEMS, 0, mean=21).write_parquet(path)
        n_ratings = pl.scan_parquet(path).select(pl.len()).collect().item()
        print(f"{n_ratings:,} ratings of {n_persons:,} persons\n")
        show(path, [str(n) for n in KNOWN], lambda each: f"{each.rate:.1%}", known=KNOWN)
        print()
        show(
            path,
            [f"{n}, of which {WRONG} wrong: found, another person" for n in KNOWN_WITH_WRONG],
            lambda each: f"{each.right_rate or 0:.1%}, {each.rate - (each.right_rate or 0):.1%}",
            known=KNOWN_WITH_WRONG,
            wrong=WRONG,
        )


if __name__ == "__main__":
    main()
