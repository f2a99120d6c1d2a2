"""Gates of synthetic tables that leak: whatever the control, no limit lets a copy pass, or most of one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import polars as pl

from campaign.outcome import Outcome
from command import run

SECRET = "illness"


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: people, a leak of them, a control of some size, and the gates of both commands."""
    outcome = Outcome()
    rng = np.random.default_rng(random.getrandbits(32))
    n_people, share = random.randint(60, 300), random.choice([0.01, 0.05, 0.2, 0.5, 1.0])
    n_control = max(1, round(share * n_people))
    leak, limit = random.choice(list(LEAKS)), random.choice([0.0, 0.02, 0.05, 0.1])
    people, control = _draw(rng, n_people), _draw(rng, n_control)
    tables = {"people": people, "made": LEAKS[leak](people, rng), "control": control}
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.csv")
    outcome.reproduction = (
        f"{n_people} people, {leak}, a control of {n_control}, limit {limit}; tables as the case draws"
    )
    outcome.count(f"{leak}, control of {share:.0%}")
    people_file, made_file, control_file = (folder / f"{name}.csv" for name in tables)
    asked = [people_file, made_file, "--control", control_file, "--json", "--fail-above"]

    risks = f"singling-out={limit},linkability={limit},inference={limit},dcr={0.5 + limit}"
    found = run("attack", *asked, risks, "--attacks", 60, "--secret", SECRET)
    outcome.expect(found.code == 1, f"attack lets {leak} pass", found.err)
    failed = {each["figure"] for each in json.loads(found.out)["failed_above"]} if found.code == 1 else set()
    if leak == "copy":
        outcome.expect(len(failed) == 4, "a limit of attack lets a copy pass", failed)
    outcome.expect("dcr" in failed, f"dcr lets {leak} pass", found.err)

    found = run("attack", *asked, f"membership={0.5 + limit}", "--attacks", 5)
    outcome.expect(found.code == 1, f"membership lets {leak} pass", found.err)

    found = run("mpuccs", *asked, f"excess={limit}", "--sizes", 2)
    if leak in ("copy", "half of a copy"):
        outcome.expect(found.code == 1, f"mpuccs lets {leak} pass", found.err)
    return outcome


def _draw(rng: np.random.Generator, n: int) -> pl.DataFrame:
    age = rng.integers(18, 90, n)
    return pl.DataFrame(
        {
            "age": age,
            "town": [f"t{each}" for each in rng.integers(40, size=n)],
            "pay": np.round(rng.lognormal(10, 1, n)),
            "visits": rng.integers(0, 9, n),
            SECRET: [f"i{each}" for each in (age // 12 + rng.integers(3, size=n))],
        }
    )


def _copy_half(people: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return as many records, of which half are people and half are drawn as people are."""
    kept = people[: len(people) // 2]
    return pl.concat([kept, _draw(rng, len(people) - len(kept))])


def _add_noise(people: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return people.with_columns((pl.col("pay") * pl.Series(rng.uniform(0.99, 1.01, len(people)))).round(0))


def _empty_cells(people: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    gaps = {name: rng.random(len(people)) < 0.25 for name in people.columns}
    return people.with_columns(
        pl.when(pl.Series(gap)).then(None).otherwise(pl.col(name)).alias(name) for name, gap in gaps.items()
    )


LEAKS: dict[str, Callable[[pl.DataFrame, np.random.Generator], pl.DataFrame]] = {
    "copy": lambda people, _: people,
    "half of a copy": _copy_half,
    "copy with noise": _add_noise,
    "copy with gaps": _empty_cells,
}
