"""Tables whose rows hardly repeat, and models that are asked of their records one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import hushtable as ht

MODELS: dict[str, list[Any]] = {
    "k": [ht.KAnonymity(4)],
    "k + l": [ht.KAnonymity(3), ht.DistinctLDiversity(2, "ill")],
    "k + t + entropy": [ht.KAnonymity(3), ht.TCloseness(0.6, "ill"), ht.EntropyLDiversity(1.5, "ill")],
    "two sensitive": [ht.KAnonymity(2), ht.DistinctLDiversity(2, "ill"), ht.TCloseness(0.7, "pay")],
}


def people(n: int, seed: int) -> pl.DataFrame:
    """Draw people with missing cells, and a column that nobody judges."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "age": rng.integers(0, rng.choice([5, 90, 700]), n),
            "weight": np.round(rng.normal(70, 9, n), 1),
            "town": rng.choice([f"town {i}" for i in range(rng.choice([3, 30]))], n),
            "code": [f"{code:05}" for code in rng.integers(1_000, 1_400, n)],
            "ill": rng.choice(list("abcde"), n, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
            "pay": rng.integers(0, 9, n),
            "note": [f"n{i}" for i in range(n)],
        }
    )
    holes = {name: rng.random(n) < 0.06 for name in ("age", "weight", "town", "ill")}
    return table.with_columns(
        pl.when(pl.Series(hole)).then(None).otherwise(pl.col(name)).alias(name) for name, hole in holes.items()
    )
