"""Attacks on odd tables: a refusal, or figures in their range that are the same again and show no cell."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome

_PALETTES: list[list[Any]] = [
    ["zqx", "zqy", "zqz", "", "zq w"],
    [-5, 0, 7, 8642097531],
    [-0.5, 0.0, 1e300, -1e300, 0.25],
    ["1950-01-01", "2000-02-29", "2024-12-31"],
    [True, False],
    [None],
    ["9999.5", "zq", "-"],
]
_NAMES = ["age", "the age", 'q"`', "class", "datetime", "a&b", "*"]


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: three tables of the same columns, and every attack on them."""
    outcome = Outcome()
    names = random.sample(_NAMES, random.randint(2, 5))
    palettes = {name: [*random.choice(_PALETTES), *([None] * (random.random() < 0.4))] for name in names}
    original, made, control = (_table(random, palettes) for _ in range(3))
    made = original if random.random() < 0.3 else made
    control = None if random.random() < 0.4 else control
    outcome.reproduction = f"original = {original.to_dict(as_series=False)!r}\nmade = {made.to_dict(as_series=False)!r}"
    asked: dict[str, Any] = {"control": control, "seed": random.randint(0, 9), "n_attacks": random.randint(1, 60)}
    half = random.randint(1, len(names) - 1)
    sizes = random.choice(["matched", "anonymeter"])
    attacks: dict[str, dict[str, Any]] = {
        "singling_out": {"n_cols": random.randint(1, len(names)), "control_size": sizes},
        "linkability": {"aux_columns": (names[:half], names[half:]), "n_neighbors": random.randint(1, 2)},
        "inference": {"secret": random.choice(names)},
    }
    for name, options in attacks.items():
        with outcome.guarded(name):
            attack = getattr(ht, name)
            found = attack(original, made, **options, **asked)
            again = attack(original, made, **options, **asked)
            outcome.count(name)
            outcome.expect(found.to_dict() == again.to_dict(), "the same seed gives another answer", name)
            outcome.expect(found.queries() == again.queries(), "the same seed finds others", name)
            outcome.expect(len(found.queries()) == found.n_success <= found.n_attacks, "wrong counts", name)
            risk = found.risk
            is_known = 0 <= risk.low <= risk.high <= 1 and risk.low <= risk.value <= risk.high
            outcome.expect(is_known or all(map(math.isnan, risk)), "a risk out of its range", f"{name}: {risk}")
            told = f"{found!r} {found.to_dict()} {found.queries()}"
            outcome.expect("zq" not in told and "8642097531" not in told, "a cell is shown", told)
    if control is not None:
        _attack_membership(outcome, original, made, control)
    return outcome


def _attack_membership(outcome: Outcome, original: pl.DataFrame, made: pl.DataFrame, control: pl.DataFrame) -> None:
    """Attack membership: never a word on so few people, the same figures again, and no cell in them."""
    with outcome.guarded("membership"):
        found, again = (ht.membership(original, made, control=control) for _ in range(2))
        outcome.count("membership")
        outcome.expect(found.to_dict() == again.to_dict(), "the same call gives another answer", "membership")
        outcome.expect(found.verdict == "cannot say", "so few people tell nothing", found.verdict)
        told = f"{found!r} {found.facts} {found.to_dict()}"
        outcome.expect("zq" not in told and "8642097531" not in told, "a cell is shown", told)


def _table(random: Random, palettes: dict[str, list[Any]]) -> pl.DataFrame:
    n_rows = random.randint(2, 40)
    return pl.DataFrame({name: [random.choice(values) for _ in range(n_rows)] for name, values in palettes.items()})
