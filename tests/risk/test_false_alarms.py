"""Unrelated people raise a false alarm in at most one of twenty pairs of tables, whatever is asked."""

import warnings
from collections import Counter

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.tables import MismatchWarning

N_PAIRS = 1_000
ASKED = {"n_attacks": 60, "seed": 0}


def people(rng, n):
    """Return people as the tables of one office have them: numbers, words and days that tell of one another."""
    age = rng.integers(18, 90, n)
    return pl.DataFrame(
        {
            "age": age,
            "town": [f"t{each}" for each in rng.zipf(1.6, n)],
            "pay": np.round(rng.lognormal(10, 1, n)),
            "born": np.datetime64("2026-01-01") - age * 365 - rng.integers(0, 365, n),
            "illness": [f"i{each}" for each in (age // 12 + rng.integers(3, size=n))],
        }
    )


def alarms(rng):
    """Yield the figures by which people who have nothing to do with a table seem to be in it."""
    n = int(rng.integers(40, 200))
    original, made, control = people(rng, n), people(rng, n), people(rng, int(rng.integers(n // 4, n + 1)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        halves = (["age", "town"], ["pay", "born"])
        found = {
            "singling out": ht.singling_out(original, made, control=control, n_cols=2, **ASKED).risk,
            "linkability": ht.linkability(original, made, control=control, aux_columns=halves, **ASKED).risk,
            "inference": ht.inference(original, made, control=control, secret="illness", **ASKED).risk,
        }
        yield from (name for name, risk in found.items() if risk.low > 0)
        if ht.dcr(original, made, control=control).low > 0.5:
            yield "dcr"
        excess = ht.mpuccs(original, made, control=control, n_cols=[1, 2]).summary["control"]
        if excess["interval"][0] > 0:
            yield "mpuccs"
    if any(isinstance(each.message, MismatchWarning) for each in caught):
        yield "tables that do not meet"


@pytest.mark.slow
def test_unrelated_people_raise_few_alarms():
    counts = Counter(name for pair in range(N_PAIRS) for name in alarms(np.random.default_rng(pair)))
    assert {name: n for name, n in counts.items() if n > N_PAIRS / 20} == {}
    assert counts["tables that do not meet"] == 0
