"""What memory cannot hold is an error before it is tried: what it would need, what is free, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from anonymizers.test_mingen import adult_like
from hushtable.search import budget
from hushtable.tables.table import Table

NAMES = ["age", "sex", "job"]


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: Any) -> None:
    monkeypatch.setattr("hushtable.anonymizers.protecting._COMPILER", 0)


def anonymize(method: Any, n_rows: int = 60, **options: Any) -> ht.Release:
    given: dict[str, Any] = {"quasi_identifiers": NAMES, "models": [ht.KAnonymity(3)], "method": method}
    return ht.anonymize(adult_like(n_rows), **(given | options))


def wildcards() -> Any:
    frame = adult_like(60).with_columns(pl.when(pl.col("age") > 40).then("age"))
    return ht.verify(frame, quasi_identifiers=NAMES, models=[ht.DistinctLDiversity(2, "ill")], missing="wildcard")


def counted() -> Table:
    table = Table.encode(adult_like(60), NAMES)
    return Table(table.columns, table.codes, np.full(table.n_rows, 10**9))


def masked() -> Any:
    return ht.mask_dependence(adult_like(60), a=["sex", "job"], b=["age"], clusters=3, method="exact")


def by_means() -> Any:
    return ht.mask_dependence(adult_like(60), a=["sex"], b=["age", "job"], clusters=3, clustering="kmeans")


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "nearest rows": (lambda: anonymize("mingen"), "finding the 16 nearest of 60 rows"),
    "nearest rows of a genetic search": (lambda: anonymize("genetic"), "finding the 16 nearest of 60 rows"),
    "programme of a matching notion": (
        lambda: anonymize("mingen", 12, models=[ht.GlobalK1(2)]),
        "the programme of 12 rows",
    ),
    "exchange": (lambda: anonymize(ht.Mondrian(exchange=True)), "exchange=True with"),
    "cells of cuts": (lambda: anonymize(ht.Mondrian(recoding="cut")), "telling the cells of"),
    "a row for every record": (lambda: anonymize_table(counted()), "a row for each of 60000000000 records"),
    "wildcards": (wildcards, "reading the missing cells of"),
    "population": (lambda: anonymize_with_population(), "comparing .* with .* cells"),
    "programme of masking": (masked, "the programme of 8 types and 2 columns"),
    "means of clusters": (by_means, "clustering 60 records by 6 values"),
    "column sets": (lambda: ht.select_columns(adult_like(60), objective={"distinction": 1.0}), "sets of 4 columns"),
}


def anonymize_table(table: Table) -> Any:
    return ht.anonymize(table, quasi_identifiers=NAMES, models=[ht.KAnonymity(3)], method="mingen")


def anonymize_with_population() -> Any:
    frame = adult_like(60)
    release = ht.anonymize(frame, quasi_identifiers=NAMES, models=[ht.KMap(3)], population=frame)
    return release.verify()


@pytest.mark.parametrize("case", sorted(CASES))
def test_what_memory_cannot_hold_is_refused_with_figures_and_a_way_out(case: str, monkeypatch: Any) -> None:
    attempt, what = CASES[case]
    monkeypatch.setattr(budget, "free_memory", lambda: 100)
    with pytest.raises(ht.InputError, match=rf"{what}.* would need .* GB of memory, and 1e-07 GB is free") as caught:
        attempt()
    assert "Hint: " in str(caught.value)


def test_kernels_that_cannot_be_compiled_are_an_error_not_an_abort(monkeypatch: Any) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(budget, "free_memory", lambda: 10**8)
    with pytest.raises(ht.InputError, match=r"compiling the kernels would need 0\.3 GB of memory, and 0\.1 GB is free"):
        anonymize("mondrian")


def test_intervals_of_many_values_are_not_listed_where_memory_ends(monkeypatch: Any) -> None:
    frame = pl.DataFrame({"age": np.arange(3_000)})
    given: dict[str, Any] = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(100)]}
    monkeypatch.setattr(budget, "free_memory", lambda: 10**9)
    with pytest.raises(ht.InputError, match="listing what the cells of 3000 rows may publish would need 28 GB"):
        ht.anonymize(frame, method=ht.Genetic("mg-ga"), **given)


def test_the_proof_of_large_blocks_is_not_begun_where_memory_ends(monkeypatch: Any) -> None:
    monkeypatch.setattr(budget, "free_memory", lambda: 2_000_000)
    with pytest.raises(ht.InputError, match="the proof for 60 rows in blocks of 20 would need"):
        anonymize("mingen", models=[ht.KAnonymity(20)])
    assert anonymize(ht.MinGen(proof_rows=0), models=[ht.KAnonymity(20)], budget=ht.Budget(nodes=300)).verify().passed


def test_what_fits_is_not_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr(budget, "free_memory", lambda: 50_000_000)
    assert anonymize("mingen", budget=ht.Budget(nodes=300)).verify().passed
    assert anonymize(ht.Mondrian(exchange=True)).verify().passed
    assert masked().verify().passed
