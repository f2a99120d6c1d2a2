"""Independence masking: the published vectors are equally frequent under every label."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from campaign.tables import FORMS, NAMES, build, column, records
from reading import text_of


def case(random: Random, folder: Path) -> Outcome:
    """Run one case."""
    outcome = Outcome()
    n = random.choice((random.randint(1, 8), random.randint(4, 30), random.randint(20, 40)))
    secret = f"SeCrEt{random.randrange(10**9)}"
    names = random.sample(NAMES[:-3], random.randint(2, 5))
    columns = {name: column(random, n, secret) for name in names}
    # What B holds must differ, or there are no clusters; so draw again a few times where it does not.
    for name in names[1:]:
        for _ in range(4):
            if len(set(columns[name].values)) < 2:
                columns[name] = column(random, n, secret)
    form = random.choice(FORMS)
    data = build(columns, form, random, folder)
    n_a = random.randint(1, len(names) - 1)
    n_b = random.randint(1, min(2, len(names) - n_a))
    call: dict[str, Any] = {
        "a": names[:n_a],
        "b": names[n_a : n_a + n_b],
        "clusters": min(random.choice((2, 2, 3, 4, 5)), max(n, 2)),
        "method": random.choice(("auto", "auto", "exact", "greedy", "pivot")),
        "clustering": random.choice(("auto", "auto", "runs" if n_b == 1 else "auto", "median", "kmeans")),
        "missing": random.choice(("category", "worst")),
        "publish": random.choice(("tuples", "tuples", "columns", "bins")),
        "optimise_ties": False,
        "seed": random.randrange(9),
    }
    if call["clustering"] in ("auto", "runs") and n_b == 1 and columns[names[n_a]].kind != "category":
        call["optimise_ties"] = random.random() < 0.5
    if random.random() < 0.3:
        call["c"] = names[n_a + n_b :][:1]
    if random.random() < 0.2:
        call["weights"] = {names[0]: random.choice((0, 0.5, 3))}
    table = {name: (made.dtype, made.values) for name, made in columns.items()}
    outcome.reproduction, outcome.secrets = (
        f"table = {table!r}  # as {form}\nht.mask_dependence(table, **{call!r})",
        (secret,),
    )
    masked = None
    with outcome.guarded("mask_dependence"):
        masked = ht.mask_dependence(data, **call)
    if masked is None:
        return outcome
    outcome.count(f"masked by {call['method']} of {form}")
    with outcome.guarded("look at the masked table", ()):
        judge(outcome, masked, records(data)[1], call, names)
    with outcome.guarded("verify"):
        outcome.expect(masked.verify().passed, "verify refuses a masked table")
    outcome.expect(secret not in repr(masked), "a repr tells a person's value")
    with outcome.guarded("measure", ()):
        told = f"{masked.to_dict()} {masked._repr_html_()} {masked.rules(support=0.1)} {masked.pairs()}"
        outcome.expect(secret not in told, "what is measured tells a person's value")
    paths = folder / random.choice(("out.csv", "out.parquet")), folder / "out.clusters.csv"
    with outcome.guarded("write"):
        masked.write(*paths, keep_order=True)
        # The delimiter is the one that the input has: a bare name may hold another.
        delimiter = getattr(masked.source, "delimiter", None)
        found, expected = records(paths[0], delimiter), records(masked.frame)
        outcome.expect(len(found[1]) == len(expected[1]), "a written file has another number of rows")
    return outcome


def judge(
    outcome: Outcome, masked: Any, original: list[dict[str, Any]], call: dict[str, Any], names: list[str]
) -> None:
    """Look at a masked table by the definition alone."""
    _, published = records(masked.frame)
    removed = {int(i) for i in masked.removed}
    kept = [person for i, person in enumerate(original) if i not in removed]
    outcome.expect(len(removed) < call["clusters"], "too many records are removed", len(removed))
    outcome.expect(len(published) == len(kept), "rows are lost", (len(published), len(kept)))
    if outcome.failures:
        return
    c = call.get("c", [name for name in names if name not in (*call["a"], *call["b"])])
    expected = [name for name in names if name in (*call["a"], *c)]
    outcome.expect(
        set(published[0]) == {*expected, "cluster"}, "the masked table has other columns", list(published[0])
    )
    n_stars = 0
    for i, (row, person) in enumerate(zip(published, kept, strict=True)):
        for name in expected:
            is_star = name in call["a"] and row[name] == "*"
            n_stars += is_star
            # A is written in canonical texts: a CSV's `3.0` is 3.
            is_same = _bare(text_of(row[name])) == _bare(text_of(person[name]))
            outcome.expect(is_star or is_same, "a cell is neither kept nor masked", f"row {i}, {name!r}")
            if call["missing"] == "worst" and name in call["a"] and text_of(person[name]) is None:
                outcome.expect(is_star, "a missing cell is not masked", f"row {i}, {name!r}")
    vectors = Counter((tuple(text_of(row[name]) for name in call["a"]), text_of(row["cluster"])) for row in published)
    labels = [str(label) for label in range(1, call["clusters"] + 1)]
    uneven = [v for v, _ in vectors if len({vectors[v, label] for label in labels}) > 1]
    outcome.expect(not uneven, "a vector is not equally frequent under every label", uneven[:2])
    outcome.expect(n_stars == masked.n_stars, "the number of stars is another", (n_stars, masked.n_stars))
    outcome.expect(
        masked.lower_bound <= masked.cost + 1e-6, "the bound is above the cost", (masked.lower_bound, masked.cost)
    )
    if call["publish"] == "tuples":
        _judge_values(outcome, masked, published, kept, call["b"])


def _judge_values(outcome: Outcome, masked: Any, published: list[Any], kept: list[Any], b: list[str]) -> None:
    """The clusters' values are those of their records."""
    values: pl.DataFrame | Any = masked.cluster_values
    _, rows = records(values)
    told = Counter((text_of(row["cluster"]), *(text_of(row[name]) for name in b)) for row in rows)
    true = Counter(
        (text_of(row["cluster"]), *(text_of(person[name]) for name in b))
        for row, person in zip(published, kept, strict=True)
    )
    if told != true:
        # A CSV's numbers may be told in their canonical text.
        told, true = (Counter(tuple(map(_bare, key)) for key in counts.elements()) for counts in (told, true))
    outcome.expect(told == true, "the clusters' values are not those of their records", (told - true, true - told))


def _bare(text: str | None) -> Any:
    with contextlib.suppress(ValueError):
        number = float(text or "x")
        # The text nan is a text, and no number equals it.
        return number if math.isfinite(number) else text
    return text
