"""Advice on drawn policies: who follows a change loses what was said, to the digit, whatever was tried before."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import yaml

import hushtable as ht
from campaign.outcome import Outcome

_METHODS: tuple[Any, ...] = (
    "mondrian", "mondrian", "mondrian", {"mondrian": {"recoding": "cut"}}, {"mondrian": {"cut": "median"}},
    "full_domain", "local_recoding", {"genetic": {"generations": 3, "individuals": 6}},
)  # fmt: skip


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table and a policy, the advice on both, and every change of it followed."""
    outcome = Outcome()
    table, policy = _table(random), _policy(random)
    data: Any = table
    if random.random() < 0.4:
        data = folder / "t.csv"
        table.write_csv(data)
    outcome.reproduction = f"table = pl.DataFrame({table.to_dict(as_series=False)!r})\npolicy = {policy!r}"
    rules, advice = ht.Policy.parse(yaml.safe_dump(policy)), None
    with outcome.guarded("advise", (ht.InfeasibleError, ht.InputError)):
        advice = rules.advise(data)
    if advice is None:
        return outcome
    outcome.count("advice")
    now = rules.protect(data)
    outcome.expect(now.quality.set_ncp == advice.set_ncp, "the loss now is another", now.quality.set_ncp)
    for change in random.sample(advice.changes, min(4, len(advice.changes))):
        outcome.count(change.kind)
        followed = ht.Policy.parse(yaml.safe_dump(follow(policy, change.to_dict()["entries"])))
        if change.after is None:
            outcome.count("no figure")
            continue
        release = followed.protect(data)
        told = (change.after, change.loss, change.by_column, change.n_suppressed)
        lost = (release.quality.set_ncp, release.loss, release.quality.by_column, release.n_suppressed)
        outcome.expect(told == lost, f"advice is not true: {change.what}", (told, lost))
        if "loss" not in policy:
            weighted = mean_loss(release.quality.by_column, followed.importance)
            is_mean = abs(release.loss - weighted) < 1e-12
            outcome.expect(is_mean, "importance is no weight of the loss", (release.loss, weighted))
        outcome.expect(release.verify().passed, "verify refuses what was advised", change.what)
    hurried = rules.advise(data, release=now, cpu_seconds=0.02)
    known = {change.what: change for change in advice.changes}
    outcome.expect(
        all(known[change.what] == change for change in hurried.changes)
        and {*hurried.untried, *(change.what for change in hurried.changes)} >= set(known),
        "advice in haste differs",
        hurried.untried,
    )
    return outcome


def follow(policy: dict[str, Any], entries: list[Any]) -> dict[str, Any]:
    """Return a policy as plain values with other entries, by hand."""
    changed = deepcopy(policy)
    for place, entry in entries:
        *above, last = place
        part = changed
        for depth, step in enumerate(above):
            inner = part.get(step)
            if isinstance(inner, str):
                inner = {"role": inner} if above[0] == "columns" and depth else {inner: {}}
            part[step] = {} if inner is None else inner
            part = part[step]
        part[last] = entry
    return changed


def mean_loss(by_column: dict[str, float], importance: dict[str, int]) -> float:
    """Return the mean loss of columns that count as often as they are important."""
    weights = {name: importance.get(name, 1) for name in by_column}
    return sum(weights[name] * lost for name, lost in by_column.items()) / sum(weights.values())


def _table(random: Random) -> pl.DataFrame:
    n = random.randint(20, random.choice((40, 80, 300)))
    first = 730_000 + random.randrange(5_000)
    days = [first + random.randrange(1, random.choice((40, 900, 20_000))) for _ in range(n)]
    return pl.DataFrame(
        {
            "age": [min(99, max(0, round(random.gauss(45, 20)))) for _ in range(n)],
            "day": pl.Series([day - 719_163 for day in days], dtype=pl.Int32).cast(pl.Date),
            "zip": [f"{random.choice((1, 1, 2, 3))}{random.randrange(30):03}" for _ in range(n)],
            "job": [random.choice(("clerk", "clerk", "cook", "nurse", "smith", None)) for _ in range(n)],
            "ill": [random.choice(("flu", "flu", "gout", "mumps")) for _ in range(n)],
        }
    )


def _policy(random: Random) -> dict[str, Any]:
    names = random.sample(["age", "day", "zip", "job"], random.randint(1, 4))
    columns: dict[str, Any] = {
        name: "quasi-identifier" if name in names else "other" for name in ("age", "day", "zip", "job")
    }
    hierarchies: dict[str, Any] = {
        "day": {"dates": ["month", "year"]}, "zip": {"prefix": [3, 2, 1]}, "age": {"intervals": {"width": [5, 10, 20]}}
    }  # fmt: skip
    for name in names:
        if name in hierarchies and random.random() < 0.4:
            columns[name] = {"role": "quasi-identifier", "hierarchy": hierarchies[name]}
    models: list[Any] = [{"k-anonymity": random.choice((2, 3, 5, 8))}]
    columns["ill"] = random.choice(("other", "sensitive"))
    if columns["ill"] == "sensitive" and random.random() < 0.5:
        models.append({"distinct-l-diversity": {"l": 2, "sensitive": "ill"}})
    policy: dict[str, Any] = {"columns": columns, "models": models, "method": random.choice(_METHODS)}
    if random.random() < 0.4:
        policy["importance"] = {random.choice(names): random.choice((1, 2, 3, 5))}
    elif random.random() < 0.3:
        policy["loss"] = {"ncp": {"weights": {random.choice(names): random.choice((0.5, 2))}}}
    if random.random() < 0.3:
        policy["limits"] = {"suppression": random.choice((0.01, 0.1))}
    if policy["method"] == "mondrian" and random.random() < 0.2 and columns["age"] == "quasi-identifier":
        policy["method"] = {"mondrian": {"grid": {"age": 2}}}
    return policy
