"""Persons with several records: what is written links nobody, told by an attacker who has the written file alone."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from reading import holds
from twins.naive_linked import fitting


def case(random: Random, folder: Path) -> Outcome:
    """Run one case."""
    outcome = Outcome()
    n, n_persons, k = random.randint(6, 40), random.randint(3, 15), random.randint(2, 4)
    persons = [f"P{random.randrange(n_persons)}" for _ in range(n)]
    # A person has the same cells again now and then, so that records may be linked and tell nothing.
    own = {person: (random.randint(20, 60), random.choice("fm")) for person in persons}
    again = random.choice((0.0, 0.5, 1.0))
    rows = [own[each] if random.random() < again else (random.randint(20, 60), random.choice("fm")) for each in persons]
    data = pl.DataFrame({"who": persons, "age": [age for age, _ in rows], "sex": [sex for _, sex in rows]})
    action = random.choice(("pseudonym", "pseudonym", "fresh", "keep", "remove"))
    role: Any = "other" if action == "keep" else {"role": "identifier", "action": action}
    policy = ht.Policy.make(
        {
            "columns": {"who": role, "age": "quasi-identifier", "sex": "quasi-identifier"},
            "person": "who",
            "models": [{"k-anonymity": k}],
            "method": {"mondrian": {"recoding": random.choice(("readable", "nested", "cut", "tight"))}},
            "limits": {"suppression": random.choice((0.0, 0.2)), "exposure": {"rate": 1.0}},
        }
    )
    outcome.reproduction = f"{policy.to_yaml()}\n{data.rows()}"
    data.write_parquet(folder / "in.parquet")
    key = bytes(range(32)) if action == "pseudonym" else None
    engine = random.choice(("memory", "stream"))
    path, verdict = folder / "out.parquet", None
    with outcome.guarded(f"{action}, {engine}"):
        verdict = policy.protect(folder / "in.parquet", key=key, engine=engine).write(path)
    if verdict is None:
        return outcome
    outcome.count(f"written: {action}")
    outcome.expect(verdict.passed and verdict.complete, "a release was written that was not verified")
    received = policy.verify(path)
    outcome.expect(received.passed and received.complete_for_receiver, "who receives a release cannot check it")
    published = pl.read_parquet(path)
    _judge_classes(outcome, data.rows(), published, k)
    if action in ("pseudonym", "keep"):
        _attack(outcome, published)
    elif action == "fresh":
        known = published["who"].drop_nulls()
        outcome.expect(known.n_unique() == len(known), "two records have one fresh pseudonym")
    return outcome


def _covers(row: Any, age: int, sex: str) -> bool:
    is_of_age = holds(row["age"], age, "integer", None, None)
    return is_of_age and holds(row["sex"], sex, "category", None, None)


def _judge_classes(outcome: Outcome, original: list[Any], published: pl.DataFrame, k: int) -> None:
    """Every class of published cells covers the records of k persons."""
    for row in published.unique(["age", "sex"]).iter_rows(named=True):
        covered = {who for who, age, sex in original if _covers(row, age, sex)}
        outcome.expect(len(covered) >= k, "a class covers fewer than k persons", f"{row}: {len(covered)}")


def _attack(outcome: Outcome, published: pl.DataFrame) -> None:
    """Nobody is found by one record, nor by any two or three of a class: rows of the same cells are all the same."""
    cells = published.select("age", "sex").rows()
    persons = published["who"].to_list()
    rows_of = defaultdict(list)
    for row, person in enumerate(persons):
        rows_of[person].append(row)

    def could_be(record: int, row: int) -> bool:
        return all(a == b or b == "*" for a, b in zip(cells[record], cells[row], strict=True))

    for n in (1, 2, 3):
        able = {person: rows for person, rows in rows_of.items() if len(rows) >= n}
        # What is drawn is one set of each; where every set finds its person, the drawn one did.
        found = [
            person
            for person, rows in able.items()
            if all(len(fitting(known, persons, could_be)) < 2 for known in combinations(rows[:6], n)) and len(rows) <= 6
        ]
        outcome.expect(not found, f"{n} known records find persons in a written release", f"{len(found)} persons")
