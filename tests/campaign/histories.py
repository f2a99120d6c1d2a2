"""Whole histories: releases are judged by a slow judge, and mutated files get the verdict of the slow judge."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from twins.naive_histories import is_km_anonymous, is_linked_k_anonymous

_NAMES = ["age", "ward"]


def case(random: Random, folder: Path) -> Outcome:
    """Run one case."""
    outcome = Outcome()
    n_persons, k, m = random.randint(4, 14), random.randint(2, 4), random.randint(1, 3)
    who = [f"P{i}" for i in range(n_persons) for _ in range(random.randint(1, 4))]
    data = pl.DataFrame(
        {
            "who": who,
            "age": [random.randint(1, 30) for _ in who],
            "ward": [random.choice(["x", "y", None]) for _ in who],
        }
    )
    suppression = random.choice((0.0, 0.3, 1.0))
    method: Any = ht.Histories(time=random.choice((None, "age")), seed=random.randrange(9))
    models: list[Any] = random.choice(
        ([ht.LinkedKAnonymity(k)], [ht.KMAnonymity(k, m)], [ht.LinkedKAnonymity(k), ht.KMAnonymity(k, m)])
    )
    is_divided = len(models) == 1 and models[0].name == "km-anonymity" and random.random() < 0.7
    if is_divided:
        method = random.choice(("mondrian", "mondrian", "full_domain", "local_recoding"))
    outcome.reproduction = f"{models}, {method}, {suppression}\n{data.rows()}"
    path, verdict = folder / "out.parquet", None
    with outcome.guarded("anonymize"):
        release = ht.anonymize(
            data,
            quasi_identifiers=_NAMES,
            person="who",
            models=models,
            method=method,
            hierarchies=dict.fromkeys(_NAMES, "auto") if method == "full_domain" else {},
            suppression_limit=suppression,
            roles="trust",
            budget=ht.Budget(nodes=60),
        )
        verdict = release.write(path)
    if verdict is None:
        return outcome
    outcome.count("written")
    written = pl.read_parquet(path)
    rows, persons = written.select(_NAMES).rows(), written["who"].to_list()
    outcome.expect(verdict.passed and verdict.complete, "a release does not hold", str(verdict.failures))
    if not is_divided:
        outcome.expect(is_linked_k_anonymous(rows, persons, k), "a release is not linked-k-anonymous")
    outcome.expect(is_km_anonymous(rows, persons, k, m), "a release is not (k,m)-anonymous")
    _judge_mutated(random, outcome, written, k, m, folder)
    return outcome


def _judge_mutated(random: Random, outcome: Outcome, written: pl.DataFrame, k: int, m: int, folder: Path) -> None:
    rows, persons = written.select(_NAMES).rows(), written["who"].to_list()
    for _ in range(random.randint(1, 2)):
        at, other = random.randrange(len(rows)), random.randrange(len(rows))
        if random.random() < 0.5:
            rows[at] = rows[other]
        else:
            persons[at] = persons[other]
    frame = pl.DataFrame({"who": persons, **{name: [row[j] for row in rows] for j, name in enumerate(_NAMES)}})
    specs = dict.fromkeys(_NAMES, ht.ColumnSpec("category"))
    models = (ht.LinkedKAnonymity(k), ht.KMAnonymity(k, m))
    given = _through(random.choice(("frame", "file", "folder")), frame, folder)
    held = ht.verify(given, quasi_identifiers=_NAMES, models=models, person="who", specs=specs).held
    expected = [is_linked_k_anonymous(rows, persons, k), is_km_anonymous(rows, persons, k, m)]
    found = [any(each.startswith(model.name) for each in held) for model in models]
    outcome.count("mutated")
    outcome.expect(found == expected, "a mutated file is judged otherwise", f"{found}, expected {expected}")


def _through(door: str, frame: pl.DataFrame, folder: Path) -> Any:
    """Return the frame, or where it was written: a file, or a folder of two."""
    if door == "frame":
        return frame
    if door == "file":
        frame.write_parquet(folder / "mutated.parquet")
        return folder / "mutated.parquet"
    (folder / "parts").mkdir()
    middle = (frame.height + 1) // 2
    for number, part in enumerate((frame[:middle], frame[middle:])):
        part.write_parquet(folder / "parts" / f"{number}.parquet")
    return folder / "parts"
