"""Linked records of people under pseudonyms: what each answer costs, and whom an attacker finds in the file.

    python benchmarks/histories.py                  # 50,000 people with a million ratings, by `histories`
    python benchmarks/histories.py 5000 500         # so many people and items
    python benchmarks/histories.py --small          # three small tables, by every answer; everybody is looked for

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
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.datasets import ratings, visits

K = 5
KNOWN = (1, 2, 3, 4, 8, 1_000)
LOOKED_AT = 60
LOWEST, HIGHEST = -(10**9), 10**9


def ends(cells: pl.Series, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest value under `31`, `[31, 34]` or `*`."""
    parts = cells.cast(pl.String).str.strip_chars("[]").str.split(", ")
    found = []
    for each, wide in ((parts.list.first(), LOWEST), (parts.list.last(), HIGHEST)):
        each = each.set(each == "*", None)
        numbers = each.str.to_date().to_physical() if dtype == pl.Date else each.cast(pl.Int64)
        found.append(numbers.fill_null(wide).to_numpy())
    return found[0], found[1]


class Attacker:
    """Somebody who has the published table alone."""

    def __init__(self, published: pl.DataFrame, schema: Mapping[str, Any]) -> None:
        *columns, person = schema
        self.who = published[person].rank("dense").to_numpy()
        self.rows: dict[int, dict[str, np.ndarray]] = {}
        self.ends: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for j, name in enumerate(columns):
            if schema[name] != pl.String:
                self.ends[j] = ends(published[name], schema[name])
                continue
            rows: dict[str, list[int]] = defaultdict(list)
            for row, cell in enumerate(published[name].to_list()):
                for value in json.loads(cell) if cell.startswith("[") else [cell]:
                    rows[value].append(row)
            self.rows[j] = {value: np.array(each) for value, each in rows.items()}

    def could_be(self, record: tuple[Any, ...]) -> np.ndarray:
        """Return the rows that may be a record."""
        rows = np.arange(len(self.who))
        for j, held in self.rows.items():
            empty = rows[:0]
            fits = np.concatenate([held.get(record[j], empty), held.get("*", empty)])
            rows = fits if len(rows) == len(self.who) else np.intersect1d(rows, fits, assume_unique=True)
        for j, (low, high) in self.ends.items():
            rows = rows[(low[rows] <= record[j]) & (record[j] <= high[rows])]
        return rows

    def n_found(self, known: list[tuple[Any, ...]]) -> int:
        """Count the persons with a row for each known record, up to k."""
        rows = [self.could_be(each) for each in known]
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


def attack(
    data: pl.DataFrame, release: ht.Release, n_looked: int | None, known: tuple[int, ...]
) -> list[tuple[str, int, int, int]]:
    """Attack with some published records of each person: how many, of whom, among fewer than k, and alone."""
    person = data.columns[-1]
    attacker, rng = Attacker(release.frame, data.schema), np.random.default_rng(0)
    kept = data.filter(pl.Series(~release.suppressed)).with_columns(pl.col(pl.Date).to_physical())
    persons = kept[person].unique(maintain_order=True)
    if n_looked is not None and n_looked < len(persons):
        chosen = persons.gather(rng.choice(len(persons), n_looked, replace=False)).to_list()
        kept = kept.filter(pl.col(person).is_in(set(chosen)))
    held = [rows.drop(person).rows() for rows in kept.partition_by(person, maintain_order=True)]
    rows = []
    for n_known in known:
        drawn = [[each[i] for i in rng.choice(len(each), min(n_known, len(each)), replace=False)] for each in held]
        found = np.array([attacker.n_found(each) for each in drawn])
        # With none among n, the share is below 3 / n (95 %).
        told = "all" if n_known == KNOWN[-1] else str(n_known)
        rows.append((told, len(found), int((found < K).sum()), int((found == 1).sum())))
    return rows


def large(n_persons: int, n_items: int) -> None:
    """Protect, verify, attack, and print what it took."""
    data = pl.concat([ratings(n_persons, n_items, seed=seed) for seed in (0, 1)])
    data = data.select("item", "rating", "date", "user_id")
    asked: dict[str, Any] = {"quasi_identifiers": ["item", "rating", "date"], "person": "user_id", "roles": "trust"}
    print(f"{data.height:,} records of {n_persons:,} persons\n")
    print("| claim | method | CPU s | peak GB | set-NCP | records left out | verify, CPU s |")
    print("|---|---|---:|---:|---:|---:|---:|")
    looked = []
    for claim, how, model, method, suppression in (
        ("`linked-k-anonymity`", "`histories`", ht.LinkedKAnonymity(K), "histories", 0.5),
        ("`km-anonymity`, m = 2", "`mondrian`, readable", ht.KMAnonymity(K, 2), ht.Mondrian(recoding="readable"), 0.1),
    ):
        began = time.process_time()
        release = ht.anonymize(data, models=[model], method=method, suppression_limit=suppression, **asked)
        seconds, published = time.process_time() - began, release.frame
        began = time.process_time()
        verdict = release.claim.verify(published)
        verified = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"| {claim} | {how} | {seconds:.1f} | {peak:.2f} | {release.loss:.4f} | {release.n_suppressed:,} | "
            f"{verified:.1f} |",
            flush=True,
        )
        print(f"{model.name}: passed {verdict.passed}", file=sys.stderr)
        if method == "histories":
            looked = attack(data, release, LOOKED_AT, KNOWN)
    print(f"\n| records known of a person | persons looked for | among fewer than {K} | found |\n|---|---:|---:|---:|")
    for told, n_looked, n_few, n_found in looked:
        print(f"| {told} | {n_looked:,} | {n_few:,} | {n_found:,} |")


def hospital(n_visits: int = 3_000, n_patients: int = 1_000) -> pl.DataFrame:
    """Visits of patients, one each at least."""
    rng = np.random.default_rng(0)
    who = np.append(np.arange(n_patients), rng.integers(0, n_patients, n_visits - n_patients))
    return pl.DataFrame(
        {
            "age": rng.integers(20, 90, n_patients)[who],
            "ward": rng.choice(["eye", "ear", "heart", "skin"], n_visits),
            "day": rng.integers(0, 365, n_visits),
            "who": [f"P{each}" for each in who],
        }
    )


def extract() -> pl.DataFrame:
    """Return 20,000 visits of a German hospital, of 15,754 patients."""
    born = pl.col("Geburtsdatum").str.to_date("%d.%m.%Y")
    admitted = pl.col("Aufnahmedatum").str.to_date("%d.%m.%Y")
    return visits(20_000).select("PLZ", "Geschlecht", born, admitted, "Patientennummer")


def small() -> None:
    """Print what each answer costs, and whom it hides."""
    tables = {
        "ratings": ratings(1_500, 300).select("item", "rating", "date", "user_id"),
        "hospital": hospital(),
        "extract": extract(),
    }
    ways: dict[str, tuple[Any, Any, float]] = {
        "one pseudonym a person, k-anonymity": (ht.KAnonymity(K), "mondrian", 0.0),
        "(k,m)-anonymity, m = 2": (ht.KMAnonymity(K, 2), "mondrian", 0.0),
        "(k,m)-anonymity, m = 2, suppression": (ht.KMAnonymity(K, 2), "mondrian", 0.1),
        "linked k-anonymity": (ht.LinkedKAnonymity(K), "histories", 0.1),
    }
    for name, data in tables.items():
        *columns, person = data.columns
        print(f"{name}: {data.height:,} records of {data[person].n_unique():,} persons")
        for way, (model, method, suppression) in ways.items():
            began = time.process_time()
            release = ht.anonymize(
                data, quasi_identifiers=columns, models=[model], method=method, person=person,
                suppression_limit=suppression, roles="trust",
            )  # fmt: skip
            print(
                f" {way}: set-NCP {release.loss:.4f}, {release.n_suppressed:,} records left out, "
                f"{time.process_time() - began:.1f} CPU s"
            )
            known = (1, 2, 3) if isinstance(model, ht.KMAnonymity) else KNOWN
            for told, n_looked, n_few, n_found in attack(data, release, None, known):
                print(
                    f"  known records {told}: of {n_looked:,} persons {n_few:,} are among fewer than {K}, "
                    f"{n_found:,} are found"
                )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if "--small" in sys.argv:
        small()
    else:
        given = [int(each) for each in sys.argv[1:]]
        large(*(given or [50_000, 5_000]))
