"""Perturbation: columns are changed by their method's rule, all else stays, and nothing tells a value."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import hushtable as ht
from campaign.outcome import Outcome
from campaign.tables import FORMS, NAMES, build, column, records
from reading import text_of


def case(random: Random, folder: Path) -> Outcome:
    """Run one case."""
    outcome = Outcome()
    n = random.choice((random.randint(1, 8), random.randint(10, 60)))
    secret = f"SeCrEt{random.randrange(10**9)}"
    names = random.sample(NAMES[:-3], random.randint(2, 5))
    columns = {name: column(random, n, secret) for name in names}
    form = random.choice(FORMS)
    data = build(columns, form, random, folder)
    k = random.choice((2, 3, 5))
    method = random.choice(
        (
            {"microaggregation": {"k": k, "steps": 500, "prove": k > 2 and random.random() < 0.5}},
            {"noise": {"kind": random.choice(("obfuscated", "additive", "correlated", "transformed"))}},
            {"pram": {"change": 0.05, "joint": random.random() < 0.3, "exact": random.random() < 0.5}},
            {"rank_swap": {"distance": random.choice((0.05, 0.5, 1.0))}},
            "shuffle",
            "record_swap",
        )
    )
    # Rather columns that the method takes: numbers, or what has an order.
    named = next(iter(method)) if isinstance(method, dict) else method
    taken = {
        "microaggregation": lambda kind: kind in ("integer", "decimal"),
        "noise": lambda kind: kind in ("integer", "decimal"),
        "rank_swap": lambda kind: kind != "category",
        "shuffle": lambda kind: kind != "category",
    }.get(named, lambda kind: True)
    fitting = [name for name in names if taken(columns[name].kind)]
    if fitting and random.random() < 0.9:
        names = [*fitting, *(name for name in names if name not in fitting)]
        chosen = names[: random.randint(1, min(len(fitting), len(names) - 1))]
    else:
        chosen = names[: random.randint(1, len(names) - 1)]
    by = names[len(chosen) :][: random.random() < 0.3]
    call: dict[str, Any] = {
        "columns": chosen,
        "method": method,
        "by": by,
        "keep": [name for name in names if name not in (*chosen, *by)],
        "seed": random.randrange(9),
    }
    table = {name: (made.dtype, made.values) for name, made in columns.items()}
    outcome.reproduction = f"table = {table!r}  # as {form}\nht.perturb(table, **{call!r})"
    outcome.secrets = (secret,)
    release = None
    with outcome.guarded("perturb"), warnings.catch_warnings():
        warnings.simplefilter("error")
        release = ht.perturb(data, **call)
    if release is None:
        return outcome
    outcome.count(f"perturbed by {release.method.name} of {form}")
    with outcome.guarded("look at the perturbed table", ()):
        judge(outcome, release, records(data)[1], k)
    if release.certificate is not None:
        with outcome.guarded("check the certificate"):
            outcome.count("checked a certificate of triples")
            proven = ht.check_certificate(data, release.certificate)
            outcome.expect(proven.passed, "a certificate of triples is refused", proven.failures)
            outcome.expect(proven.figures["bound"] <= release.loss + 1e-9, "the bound is above the loss")
    with outcome.guarded("verify"):
        outcome.expect(release.verify().passed, "verify refuses a perturbed table")
    with outcome.guarded("tell", ()):
        told = f"{release!r} {release.to_dict()} {release._repr_html_()}"
        outcome.expect(secret not in told, "what is told of a release holds a person's value")
    with outcome.guarded("write"):
        release.write(folder / random.choice(("out.csv", "out.parquet")))
    return outcome


def judge(outcome: Outcome, release: Any, original: list[dict[str, Any]], k: int) -> None:
    """Look at a perturbed table by the definitions alone."""
    _, published = records(release.frame)
    outcome.expect(len(published) == len(original), "rows are lost", (len(published), len(original)))
    if outcome.failures:
        return
    name = release.method.name
    if name == "microaggregation":
        groups = Counter(tuple(text_of(row[each]) for each in release.columns) for row in published)
        outcome.expect(min(groups.values()) >= k, "a group is smaller than k", min(groups.values()))
    if name in ("rank_swap", "shuffle", "record_swap"):
        for each in release.columns:
            before, after = (Counter(text_of(row[each]) for row in rows) for rows in (original, published))
            outcome.expect(sum(before.values()) == sum(after.values()), "a column is no permutation")
