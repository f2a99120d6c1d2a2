"""Ratings of many people under pseudonyms: what `histories` costs, and whom an attacker finds in the file.

    python benchmarks/histories.py [PERSONS] [ITEMS]

The attacker has the published table and some true records of a person, takes every row for a record that its cells
cover, and counts the pseudonyms with a row for each. The code shares nothing with the package's.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from collections import defaultdict

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.datasets import ratings

K = 5
KNOWN = (1, 2, 3, 4, 8, 1_000)
LOOKED_AT = 60


def ends(cells: pl.Series, *, is_date: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest value under `31`, `[31, 34]` or `*`."""
    parts = cells.str.strip_chars("[]").str.split(", ")
    lowest, highest = ("0001-01-01", "9999-12-31") if is_date else ("0", "9")
    both = parts.list.first().replace("*", lowest), parts.list.last().replace("*", highest)
    low, high = ((each.str.to_date().to_physical() if is_date else each.cast(pl.Int64)).to_numpy() for each in both)
    return low, high


class Attacker:
    """Somebody who has the published table alone."""

    def __init__(self, published: pl.DataFrame) -> None:
        self.who = published["user_id"].rank("dense").to_numpy()
        self.rating, self.date = ends(published["rating"], is_date=False), ends(published["date"], is_date=True)
        rows: dict[str, list[int]] = defaultdict(list)
        for row, cell in enumerate(published["item"].to_list()):
            for item in json.loads(cell) if cell.startswith("[") else [cell]:
                rows[item].append(row)
        self.everything = np.array(rows.pop("*", []), dtype=np.int64)
        self.rows = {item: np.array(each) for item, each in rows.items()}

    def could_be(self, item: str, rating: int, day: int) -> np.ndarray:
        """Return the rows that may be a record."""
        rows = np.concatenate([self.rows.get(item, self.everything[:0]), self.everything])
        fits = (self.rating[0][rows] <= rating) & (rating <= self.rating[1][rows])
        return rows[fits & (self.date[0][rows] <= day) & (day <= self.date[1][rows])]

    def n_found(self, known: list[tuple[str, int, int]]) -> int:
        """Count the persons with a row for each known record, up to k."""
        rows = [self.could_be(*each) for each in known]
        persons = sorted((np.unique(self.who[each]) for each in rows), key=len)
        left = persons[0]
        for others in persons[1:]:
            left = np.intersect1d(left, others, assume_unique=True)
        n = 0
        for person in left:
            n += self._has_all([each[self.who[each] == person].tolist() for each in rows])
            if n >= K:
                break
        return n

    @staticmethod
    def _has_all(options: list[list[int]]) -> bool:
        taken: dict[int, int] = {}

        def placed(i: int, seen: set[int]) -> bool:
            for row in options[i]:
                if row not in seen:
                    seen.add(row)
                    if row not in taken or placed(taken[row], seen):
                        taken[row] = i
                        return True
            return False

        return all(placed(i, set()) for i in range(len(options)))


def main(n_persons: int, n_items: int) -> None:
    """Protect, verify, attack, and print what it took."""
    data = pl.concat([ratings(n_persons, n_items, seed=seed) for seed in (0, 1)])
    began = time.process_time()
    release = ht.anonymize(
        data,
        quasi_identifiers=["item", "rating", "date"],
        models=[ht.LinkedKAnonymity(K)],
        person="user_id",
        method="histories",
        suppression_limit=0.5,
        roles="trust",
    )
    print(f"{data.height:,} records of {n_persons:,} persons: {time.process_time() - began:.1f} CPU s")
    print(f"set-NCP {release.loss:.4f}, {release.n_suppressed:,} records left out")
    published = release.frame
    began = time.process_time()
    verdict = release.claim.verify(published)
    print(f"verify: passed {verdict.passed}, {time.process_time() - began:.1f} CPU s")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB at most")
    kept = data.filter(pl.Series(~release.suppressed)).with_columns(pl.col("date").to_physical())
    attacker, rng = Attacker(published), np.random.default_rng(0)
    persons = kept["user_id"].unique(maintain_order=True)
    looked_at = set(persons.gather(rng.choice(len(persons), min(LOOKED_AT, len(persons)), replace=False)).to_list())
    held = kept.filter(pl.col("user_id").is_in(looked_at)).partition_by("user_id", maintain_order=True)
    for n_known in KNOWN:
        able = [rows.select("item", "rating", "date").rows() for rows in held]
        known = [[each[i] for i in rng.choice(len(each), min(n_known, len(each)), replace=False)] for each in able]
        few = sum(attacker.n_found(each) < K for each in known)
        # With none among n, the share is below 3 / n (95 %).
        told = "all" if n_known == KNOWN[-1] else n_known
        print(f"known records {told}: {few} of {len(known)} persons are among fewer than {K}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = [int(each) for each in sys.argv[1:]]
    main(*(given or [50_000, 5_000]))
