"""Minimal keys of random tables: what the definition says, under any limit, measure, budget and sample."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from command import run
from twins import naive_keys as naive


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table, what is asked, and all keys as the slow twin finds them."""
    outcome = Outcome()
    n_rows, n_columns = random.randint(1, 60), random.randint(1, 7)
    palettes = [[*range(random.randint(1, 9)), *([None] if random.random() < 0.3 else [])] for _ in range(n_columns)]
    rows = [tuple(random.choice(palette) for palette in palettes) for _ in range(n_rows)]
    # Columns that say the same as another one but for a few rows make keys that are nearly equal.
    if n_columns > 1 and random.random() < 0.5:
        rows = [(row[1] if random.random() < 0.9 else row[0], *row[1:]) for row in rows]
    rows += random.choices(rows, k=random.choice([0, 0, 4]))
    table = pl.DataFrame({f"c{j}": pl.Series([row[j] for row in rows], dtype=pl.Int64) for j in range(n_columns)})
    max_size = random.randint(1, n_columns)
    measure, error = random.choice(["g1", "unique_rate"]), random.choice([0.0, 0.0, 0.001, 0.05, 0.3])
    policy, seed = random.choice(["distinct", "all"]), random.randint(0, 9)
    budget = random.choice([None, None, ht.Budget(nodes=random.randint(1, 60))])
    asked: dict[str, Any] = {"measure": measure, "error": error, "rows": policy}
    outcome.reproduction = (
        f"table = pl.DataFrame({table.to_dict(as_series=False)!r})\n"
        f"asked = {asked!r}\nht.minimal_keys(table, **asked, max_size={max_size}, budget={budget!r}, seed={seed})"
    )
    data: Any = table
    if random.random() < 0.2:
        data = folder / "table.parquet"
        table.write_parquet(data)
    wanted = naive.minimal_keys(rows, n_columns, max_size, measure, error, policy)
    names = [tuple(f"c{j}" for j in key) for key in wanted]
    with outcome.guarded("minimal_keys", ()):
        found = ht.minimal_keys(data, **asked, max_size=max_size, budget=budget, seed=seed)
        outcome.count("complete" if found.complete else "not complete")
        outcome.expect(set(found.keys) <= set(names), "a set is no minimal key", found.keys)
        due = [key for key in names if len(key) <= found.complete_to_size]
        outcome.expect(set(due) <= set(found.keys), "a key is missing", (due, found.keys))
        outcome.expect(found.complete or budget is not None, "not complete without a budget")
        outcome.expect(len(set(found.keys)) == len(found), "a key stands twice")
        if found.complete:
            outcome.expect(list(found.keys) == names, "keys are not in order", found.keys)
    with outcome.guarded("sample", ()):
        one = ht.minimal_keys(data, **asked, sample=random.randint(2, 70), seed=seed)
        every = naive.minimal_keys(rows, n_columns, n_columns, measure, error, policy)
        outcome.expect(len(one) == min(1, len(every)), "a sample gives no key, or several", one.keys)
        outcome.expect(all(tuple(int(c[1:]) for c in key) in every for key in one.keys), "it is no key", one.keys)
    if random.random() < 0.3:
        _at_the_command(random, folder, table, asked, max_size, len(wanted), outcome)
    return outcome


def _at_the_command(
    random: Random,
    folder: Path,
    table: pl.DataFrame,
    asked: dict[str, Any],
    max_size: int,
    n_keys: int,
    outcome: Outcome,
) -> None:
    """Ask the command for as many keys as may be, and for one less: the second is exit 1."""
    path = folder / "asked.parquet"
    table.write_parquet(path)
    options = ["--max-size", max_size, "--error", asked["error"], "--rows", asked["rows"]]
    options += ["--measure", asked["measure"]] if asked["error"] else []
    options += ["--report", folder / "keys.html"] if random.random() < 0.3 else []
    for limit in (n_keys, n_keys - 1) if n_keys else (0,):
        ended = run("keys", path, *options, "--fail-above", f"count={limit}", "--force")
        outcome.count(f"command: exit {ended.code}")
        outcome.expect(ended.code == (0 if n_keys <= limit else 1), "a limit is not judged", ended)
