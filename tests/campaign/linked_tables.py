"""Linked tables: releases are judged by a slow judge, and changed ones get the verdict of the slow judge."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from hushtable.linked import open_tables
from twins.naive_linked_tables import Tables, fewest_by_row_and_m, smallest_bundle

_COLUMNS = {"people": ("sex", "born"), "stays": ("day", "ward"), "drugs": ("code",)}


def case(random: Random, folder: Path) -> Outcome:
    """Run one case."""
    outcome = Outcome()
    k, m = random.randint(2, 4), random.choice((None, None, 1, 2))
    tables, secret = _draw_tables(random)
    entries: dict[str, Any] = {
        "unit": {"key": "pid"} if m is None and random.random() < 0.3 else {"table": "people", "key": "pid"},
        "tables": {name: {"columns": dict.fromkeys(columns, "quasi-identifier")} for name, columns in _COLUMNS.items()},
        "models": [{"linked-k-anonymity": k} if m is None else {"km-anonymity": {"k": k, "m": m}}],
        "limits": {"suppression": random.choice((0.4, 1.0, 1.0))},
        "orphans": random.choice(("refuse", "drop")),
        "budget": {"nodes": 60},
        **({"accept": {"km-anonymity": "a test"}} if m == 1 else {}),
    }
    if random.random() < 0.5:
        entries["tables"]["stays"]["time"] = "day"
    outcome.reproduction = f"{entries}\n{ {name: table.to_dict(as_series=False) for name, table in tables.items()} }"
    outcome.secrets = (secret,)
    path, verdict = folder / random.choice(("out", "out", "out.xlsx", "out.duckdb")), None
    with outcome.guarded("anonymize"):
        release = ht.anonymize_tables(tables, ht.LinkedPolicy.make(entries))
        told = f"{release!r} {release.facts} {release.to_dict()}"
        outcome.expect(secret not in told, "what is told of a release holds a key", told)
        verdict = release.write(path)
    if verdict is None:
        return outcome
    outcome.count(f"written as {path.suffix or 'folder'}")
    outcome.expect(verdict.passed and verdict.complete, "a release does not hold", str(verdict.failures))
    outcome.expect(ht.verify_tables(path).complete, "written tables do not hold")
    published = {name: table.data.to_polars() for name, table in open_tables(path, _COLUMNS)[0].items()}
    keys = {value for table in published.values() for value in table["pid"].to_list()}
    outcome.expect(not keys & set(tables["people"]["pid"]), "an old key is published")
    outcome.expect(_is_safe(_as_rows(published), k, m), "a release does not hide its persons")
    _judge_changed(random, outcome, published, ht.LinkedPolicy.make(entries), k, m)
    return outcome


def _draw_tables(random: Random) -> tuple[dict[str, pl.DataFrame], str]:
    """Draw persons and their records, sometimes a record of nobody; the secret is somebody's key."""
    persons = [f"SeCrEt{random.randrange(10**9)}" for _ in range(random.randint(4, 12))]
    stays = [pid for pid in persons for _ in range(random.randint(0, 3))] or persons[:1]
    drugs = [pid for pid in persons for _ in range(random.randint(0, 2))] or persons[:1]
    if random.random() < 0.2:
        drugs.append(random.choice((None, "nobody")))  # type: ignore[arg-type]
    return {
        "people": pl.DataFrame(
            {
                "pid": persons,
                "sex": [random.choice("fm") for _ in persons],
                "born": [random.randint(1930, 1950) for _ in persons],
            }
        ),
        "stays": pl.DataFrame(
            {
                "pid": stays,
                "day": [random.choice((random.randint(1, 30), None)) for _ in stays],
                "ward": [random.choice(("x", "y", "z")) for _ in stays],
            },
            schema_overrides={"day": pl.Int64},
        ),
        "drugs": pl.DataFrame({"pid": drugs, "code": [random.choice(("n", "o")) for _ in drugs]}),
    }, persons[0]


def _as_rows(tables: dict[str, pl.DataFrame]) -> Tables:
    return {
        name: [
            (str(person), tuple(map(str, cells)))
            for person, cells in zip(table["pid"], table.select(_COLUMNS[name]).iter_rows(), strict=True)
        ]
        for name, table in tables.items()
    }


def _is_safe(rows: Tables, k: int, m: int | None) -> bool:
    return (smallest_bundle(rows) if m is None else fewest_by_row_and_m(rows, "people", m)) >= k


def _judge_changed(
    random: Random, outcome: Outcome, published: dict[str, pl.DataFrame], rules: ht.LinkedPolicy, k: int, m: int | None
) -> None:
    """Give a row of the stays or drugs to somebody else, and compare the verdict with the definition."""
    name = random.choice(("stays", "drugs"))
    keys = published[name]["pid"].to_list()
    if not keys:
        return
    keys[random.randrange(len(keys))] = random.choice(published["people"]["pid"].to_list())
    changed = {**published, name: published[name].with_columns(pid=pl.Series(keys))}
    outcome.count("changed")
    passed = ht.verify_tables(changed, rules).passed
    outcome.expect(passed == _is_safe(_as_rows(changed), k, m), "changed tables are judged otherwise", passed)
