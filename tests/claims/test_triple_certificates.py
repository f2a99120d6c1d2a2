"""Certificates of triples: what they prove is judged anew, from the input alone."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from twins.naive_perturbation import sse

COLUMNS = ["age", "pay"]


def draw(n: int = 24, *, scale: float = 1.0) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    age = rng.integers(20, 60, n)
    pay = np.round(scale * (age * 100 + rng.normal(0, 300, n)), 2)
    return pl.DataFrame({"age": age, "pay": pay, "town": ["A", "B"] * (n // 2)})


def prove(table: pl.DataFrame, **options: Any) -> ht.PerturbedRelease:
    method = ht.Microaggregation(k=3, prove=True, steps=2_000, weights=options.pop("weights", {}))
    return ht.perturb(table, columns=COLUMNS, method=method, precision="full", **options)


def entries_of(release: ht.PerturbedRelease) -> dict[str, Any]:
    assert release.certificate is not None
    return release.certificate.to_dict()


@pytest.mark.parametrize("options", [{}, {"by": ["town"]}, {"weights": {"pay": 4}}])
def test_a_certificate_proves_the_bound_from_the_input_alone(options: dict[str, Any]) -> None:
    table = draw()
    release = prove(table, **options)
    verdict = ht.check_certificate(table, entries_of(release))
    assert verdict.passed
    assert verdict.complete
    assert verdict.figures["bound"] == pytest.approx(release.trace.bound)
    assert verdict.figures["bound"] <= release.loss + 1e-12  # type: ignore[operator]


def test_prices_are_judged_as_the_definition_says() -> None:
    table = draw()
    entries = entries_of(prove(table))
    numbers = table.select(COLUMNS).to_numpy().astype(float)
    points = ((numbers - numbers.mean(axis=0)) / numbers.std(axis=0, ddof=1)).tolist()
    prices = entries["prices"]
    lack = max(
        sum(prices[row] for row in triple) - sse([list(triple)], points) for triple in combinations(range(24), 3)
    )
    assert lack <= 1e-9
    # A thousandth more, and some three cost less.
    del entries["sha256"]
    raised = ht.Certificate.from_entries({**entries, "prices": [price * 1.001 for price in prices]})
    refused = ht.check_certificate(table, raised)
    assert not refused.passed
    assert "three cost" in refused.failures[0].condition


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sum": 1e6}, "the prices sum up to"),
        ({"specs": {"age": {"kind": "decimal"}, "pay": {"kind": "decimal"}}}, "reads 'age' as decimal"),
    ],
)
def test_what_a_certificate_says_of_itself_is_not_believed(change: dict[str, Any], said: str) -> None:
    table = draw()
    entries = entries_of(prove(table))
    assert not ht.check_certificate(table, {**entries, **change}).passed
    del entries["sha256"]
    verdict = ht.check_certificate(table, ht.Certificate.from_entries({**entries, **change}))
    assert said in verdict.failures[0].condition


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prices": [0.0]}, "speaks of 1 records; the data have 24"),
        ({"prices": [float("inf")] * 24}, "not as it was written"),
        ({"weights": None}, "not as it was written"),
        ({"k": 2}, "k = 2"),
        ({"columns": ["age", "town"], "specs": {"age": {"kind": "integer"}, "town": {}}}, "column 'town' is not whole"),
    ],
)
def test_a_certificate_that_cannot_be_is_refused(change: dict[str, Any], said: str) -> None:
    table = draw()
    entries = entries_of(prove(table))
    del entries["sha256"]
    with pytest.raises(ht.InputError, match=said):
        ht.check_certificate(table, ht.Certificate.from_entries({**entries, **change}))


def test_numbers_without_squares_are_judged_like_others() -> None:
    table = draw().with_columns(pay=pl.col("pay") * 1e140)
    assert ht.check_certificate(table, entries_of(prove(table))).passed


def test_where_cells_are_missing_or_one_column_is_proven_otherwise_there_is_none() -> None:
    table = draw().with_columns(pay=pl.when(pl.col("age") > 25).then("pay"))
    assert prove(table).certificate is None
    assert ht.perturb(draw(), columns=["age"], method=ht.Microaggregation(prove=True)).certificate is None
    with pytest.raises(ht.InputError, match="hierarchies for a certificate of triples"):
        ht.check_certificate(draw(), entries_of(prove(draw())), {"age": "auto"})
