"""The genetic search: releases that hold, the optima of small tables, and never worse than Mondrian."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st

import hushtable as ht
from anonymizers.test_mingen import LOSSES, OPTIMA, adult_like, hierarchy
from strategies import tables

PLAIN: dict[str, Any] = {"quasi_identifiers": ["age", "sex", "job"], "models": [ht.KAnonymity(3)], "loss": "certainty"}
SMALL: dict[str, Any] = {"individuals": 4, "generations": 3}


@pytest.mark.parametrize("variant", ["partitions", "mg-ga"])
@given(frame=tables(max_rows=8, max_columns=2, min_rows=1), k=st.integers(1, 3))
@settings(max_examples=15)
def test_every_release_verifies_and_is_no_better_than_the_best(variant: str, frame: pl.DataFrame, k: int) -> None:
    assume(frame.height >= k)
    given_: dict[str, Any] = {"quasi_identifiers": frame.columns, "models": [ht.KAnonymity(k)], "loss": "certainty"}
    release = ht.anonymize(frame, method=ht.Genetic(variant, **SMALL), **given_)
    assert release.verify().passed
    best = ht.anonymize(frame, method="mingen", **given_)
    assert best.verify().passed
    assert release.loss >= best.loss - 1e-9
    assert release.trace.bound is not None
    assert release.trace.bound <= release.loss + 1e-9


@pytest.mark.parametrize(("table", "loss", "k", "classic", "_"), OPTIMA)
@pytest.mark.parametrize("seed", [0, pytest.param(range(1, 10), marks=pytest.mark.slow)])
def test_small_tables_reach_their_optimum(
    shared_file: Callable[[str], Path], table: str, loss: str, k: int, classic: float, _: float, seed: Any
) -> None:
    data = pl.read_csv(shared_file(f"data/mg_ga/{table}.csv"))
    for each in [seed] if isinstance(seed, int) else seed:
        release = ht.anonymize(
            data,
            quasi_identifiers=data.columns[:-1],
            models=[ht.KAnonymity(k)],
            loss=LOSSES[loss],
            method=ht.Genetic(seed=each),
            hierarchies=str(shared_file("data/mg_ga/domains.txt")),
        )
        assert round(release.loss, 4) == classic


@pytest.mark.parametrize("table", ["test", "test4"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_tables_of_cells_reach_it_too_where_they_are_few(
    shared_file: Callable[[str], Path], table: str, loss: str
) -> None:
    data = pl.read_csv(shared_file(f"data/mg_ga/{table}.csv"))
    optimum = {(each[0], each[1], each[2]): each[3] for each in OPTIMA}[table, loss, 2]
    release = ht.anonymize(
        data,
        quasi_identifiers=data.columns[:-1],
        models=[ht.KAnonymity(2)],
        loss=LOSSES[loss],
        method=ht.Genetic("mg-ga"),
        hierarchies=str(shared_file("data/mg_ga/domains.txt")),
    )
    assert round(release.loss, 4) == optimum


@pytest.mark.parametrize(
    "models",
    [
        [ht.KAnonymity(4)],
        [ht.KAnonymity(3), ht.DistinctLDiversity(2, "ill")],
        [ht.KAnonymity(3), ht.TCloseness(0.4, "ill")],
    ],
)
def test_many_rows_are_better_than_mondrian(models: list[Any]) -> None:
    given_: dict[str, Any] = {
        "quasi_identifiers": ["age", "sex", "job"],
        "models": models,
        "hierarchies": {"job": hierarchy(), "sex": ht.Hierarchy.suppression()},
    }
    release = ht.anonymize(adult_like(250), method=ht.Genetic(**SMALL), **given_)
    assert release.loss < ht.anonymize(adult_like(250), method="mondrian", **given_).loss
    assert release.verify().passed


def test_the_same_seed_gives_the_same_release_and_the_loss_only_falls() -> None:
    for variant in ("partitions", "mg-ga"):
        one, two, other = (
            ht.anonymize(adult_like(60), method=ht.Genetic(variant, seed=seed, generations=5), **PLAIN)
            for seed in (1, 1, 2)
        )
        assert one.frame.equals(two.frame)
        assert one.trace.seed == 1
        losses = [loss for _, _, loss in one.trace.effort.history]  # type: ignore[union-attr]
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] == pytest.approx(one.loss)
        assert other.verify().passed


def test_budgets_and_patience_end_the_search() -> None:
    shares: list[float] = []
    short = ht.anonymize(
        adult_like(60), method=ht.Genetic(), budget=ht.Budget(nodes=3), progress=shares.append, **PLAIN
    )
    assert short.trace.nodes == 3
    assert not short.trace.complete
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    shares.clear()
    patient = ht.anonymize(
        adult_like(60), method=ht.Genetic(patience=2, generations=500), progress=shares.append, **PLAIN
    )
    assert patient.trace.complete
    assert patient.trace.nodes < 300
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize("variant", ["partitions", "mg-ga"])
@pytest.mark.parametrize("options", [{"individuals": 2}, {"elite": 1.0}, {"individuals": 2, "elite": 1.0}])
def test_however_large_the_elite_every_generation_has_a_child(variant: Any, options: Any) -> None:
    method = ht.Genetic(variant, generations=5, patience=5, **{"individuals": 6, **options})
    release = ht.anonymize(adult_like(30), method=method, **PLAIN)
    assert release.verify().passed
    assert release.trace.nodes >= method.individuals + 5  # type: ignore[operator]


def test_models_other_than_k_are_for_partitions() -> None:
    models = [ht.KAnonymity(2), ht.DistinctLDiversity(2, "ill")]
    with pytest.raises(ht.InputError, match="more than k-anonymity"):
        ht.anonymize(adult_like(20), quasi_identifiers=["age"], models=models, method=ht.Genetic("mg-ga"))
    with pytest.raises(ht.InfeasibleError):
        ht.anonymize(adult_like(3), quasi_identifiers=["age"], models=[ht.KAnonymity(4)], method="genetic")


@pytest.mark.parametrize(
    "options",
    [
        {"variant": "cells"},
        {"individuals": 1},
        {"generations": 0},
        {"patience": 0},
        {"elite": 0},
        {"elite": 1.5},
        {"mutation_rate": -1},
        {"seed": -1},
        {"seed": True},
        {"generations": 2.0},
        {"patience": True},
    ],
)
def test_options_outside_their_range_are_refused(options: Any) -> None:
    with pytest.raises(ht.InputError, match=next(iter(options))):
        ht.Genetic(**options)


@pytest.mark.slow
@pytest.mark.parametrize(("n_rows", "share"), [(1_000, 0.75), (10_000, 0.95)])
def test_adult_rows_lose_less_than_mondrian_by_a_share(
    shared_file: Callable[[str], Path], n_rows: int, share: float
) -> None:
    names = ["age", "sex", "race", "marital-status", "education"]
    data = pl.read_csv(shared_file("data/arx_adult/adult.csv"), separator=";")
    data = data.select(names)[np.random.default_rng(0).permutation(data.height)[:n_rows]]
    ladders: dict[str, Any] = {
        name: str(shared_file(f"data/arx_adult/adult_hierarchy_{name}.csv")) for name in names if name != "age"
    }
    given_: dict[str, Any] = {"quasi_identifiers": names, "models": [ht.KAnonymity(5)], "hierarchies": ladders}
    release = ht.anonymize(data, method="genetic", **given_)
    assert release.loss <= share * ht.anonymize(data, method="mondrian", **given_).loss
    assert release.verify().passed


def test_the_search_is_drawn_without_a_window():
    people = ht.datasets.people(40).select("sex", "marital_status")
    release = ht.anonymize(
        people, quasi_identifiers=["sex", "marital_status"], models=[ht.KAnonymity(2)], method=ht.Genetic(generations=3)
    )
    axes = release.plot_search()
    assert axes.get_ylabel() == "loss"
    axes.figure.savefig(io.BytesIO())
    mondrian = ht.anonymize(people, quasi_identifiers=["sex"], models=[ht.KAnonymity(2)])
    with pytest.raises(ht.InputError, match="no history"):
        mondrian.plot_search()
