"""The genetic search under matching notions: tables of cells that are repaired, and MG-GA's optima."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st

import hushtable as ht
from hushtable.anonymizers import minimal_matchings
from hushtable.anonymizers.cell_candidates import lay_out
from hushtable.anonymizers.genetic import Matched
from hushtable.anonymizers.minimal_matchings import Choices
from hushtable.claims import verify
from hushtable.models.base import ClassStats, Matching
from hushtable.tables.table import Table
from strategies import draws, tables as small_tables

NOTIONS = [ht.Match1K, ht.MatchK1, ht.MatchKK, ht.Global1K, ht.GlobalK1]
MG_GA = ht.Certainty(variant="mg-ga")
OPTIMA = [
    # table, k, the least certainty (mg-ga) under global (k,1), which MG-GA calls k-anonymity
    ("test", 2, 10.4444),
    ("test", 3, 17.5556),
    ("test4", 2, 7.6935),
    ("test4", 3, 14.3817),
    ("test2", 2, 10.6061),
    ("test2", 3, 17.0909),
]


def evolved(shared_file: Callable[[str], Path], table: str, k: int, method: Any) -> tuple[ht.Release, pl.DataFrame]:
    data = pl.read_csv(shared_file(f"data/mg_ga/{table}.csv"))
    release = ht.anonymize(
        data,
        quasi_identifiers=data.columns[:-1],
        models=[ht.GlobalK1(k)],
        loss=MG_GA,
        method=method,
        hierarchies=str(shared_file("data/mg_ga/domains.txt")),
    )
    return release, data


@pytest.mark.parametrize(("table", "k", "optimum"), OPTIMA)
@pytest.mark.parametrize("seed", [0, 1])
def test_mg_gas_notion_reaches_its_optima(
    shared_file: Callable[[str], Path], table: str, k: int, optimum: float, seed: int
) -> None:
    release, data = evolved(shared_file, table, k, ht.Genetic(seed=seed))
    assert round(release.loss, 4) == optimum
    assert release.trace.seed == seed
    verdict = verify(
        release.frame,
        quasi_identifiers=data.columns[:-1],
        models=[ht.GlobalK1(k)],
        original=data,
        hierarchies=str(shared_file("data/mg_ga/domains.txt")),
    )
    assert verdict.passed
    assert verdict.complete


@pytest.mark.parametrize(("table", "optimum"), [("test4", 7.6935), ("test2", 10.6061)])
def test_they_are_reached_without_an_assignment_to_begin_with(
    shared_file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, table: str, optimum: float
) -> None:
    monkeypatch.setattr(minimal_matchings, "MOST_PAIRED", 0)
    release, _ = evolved(shared_file, table, 2, ht.Genetic("mg-ga"))
    assert round(release.loss, 4) == optimum
    assert len(release.trace.effort.history) > 1  # type: ignore[union-attr]


@pytest.mark.parametrize("notion", NOTIONS)
@given(frame=small_tables(max_rows=7, max_columns=2, min_rows=1), k=st.integers(1, 3))
@settings(max_examples=15)
def test_every_release_verifies_and_is_no_better_than_the_best(notion: Any, frame: pl.DataFrame, k: int) -> None:
    assume(frame.height >= k)
    given_: dict[str, Any] = {"quasi_identifiers": frame.columns, "models": [notion(k)], "loss": "certainty"}
    release = ht.anonymize(frame, method=ht.Genetic(individuals=6, generations=3), **given_)
    assert release.verify().passed
    best = ht.anonymize(frame, method="mingen", **given_)
    assert release.loss >= best.loss - 1e-9
    assert release.trace.bound is not None
    assert release.trace.bound <= best.loss + 1e-9
    assert release.trace.effort.history[-1][2] == pytest.approx(release.loss, abs=1e-9)  # type: ignore[union-attr]


@pytest.mark.parametrize("notion", NOTIONS)
@given(frame=small_tables(max_rows=7, max_columns=2, min_rows=2), k=st.integers(1, 3), seed=st.integers(0, 9))
@settings(max_examples=draws(25))
def test_drawn_tables_are_repaired_until_the_notion_holds(notion: Any, frame: pl.DataFrame, k: int, seed: int) -> None:
    assume(frame.height >= k)
    choices = Choices.from_space(
        lay_out(Table.encode(frame, frame.columns).with_row_per_record(), frame.columns, {}, ht.Certainty())
    )
    rng = np.random.default_rng(seed)
    drawn = choices.draw_tables(6, rng)
    found = [passes(notion(k), covers) for covers in choices.covers(drawn)]
    asked = minimal_matchings.find_lacking_matches(
        notion(k), minimal_matchings.find_matches(choices.covers(drawn), is_global=notion.is_global)
    )
    assert [not each.any() for each in asked] == found
    repaired = Matched(choices, notion(k)).repair_pool(drawn, rng)
    covers = choices.covers(repaired)
    assert all(passes(notion(k), each) for each in covers)
    # Every row still covers its own original.
    assert covers[:, np.arange(frame.height), np.arange(frame.height)].all()


def passes(model: Any, covers: Any) -> bool:
    row, other = np.nonzero(covers)
    stats = ClassStats(np.empty(0, dtype=np.int64), matching=Matching(len(covers), len(covers), row, other))
    return bool(model.passes(stats).all())


def people(n_rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
            "job": rng.choice(list("abcd"), n_rows),
        }
    )


def protect(frame: pl.DataFrame, model: Any, method: Any, **options: Any) -> ht.Release:
    return ht.anonymize(
        frame, quasi_identifiers=frame.columns, models=[model], method=method, loss="certainty", **options
    )


@pytest.mark.parametrize("notion", NOTIONS)
def test_more_rows_lose_no_more_than_blocks_of_equal_rows(notion: Any) -> None:
    release = protect(people(60), notion(3), ht.Genetic(generations=5))
    classic = protect(people(60), ht.KAnonymity(3), ht.Genetic(generations=1, individuals=2))
    assert release.verify().passed
    assert release.loss <= classic.loss + 1e-9


def test_the_same_seed_gives_the_same_release_and_a_budget_ends_it() -> None:
    one, two = (protect(people(30), ht.GlobalK1(3), ht.Genetic(seed=4, generations=5)) for _ in range(2))
    assert one.frame.equals(two.frame)
    short = protect(people(30), ht.GlobalK1(3), ht.Genetic(individuals=10), budget=ht.Budget(nodes=25))
    assert not short.trace.complete
    assert 25 <= short.trace.nodes < 35
    assert short.verify().passed


@pytest.mark.parametrize("individuals", [2, 3])
def test_few_individuals_are_enough(individuals: int) -> None:
    release = protect(people(12), ht.GlobalK1(2), ht.Genetic(individuals=individuals, generations=2))
    assert release.verify().passed


def test_partitions_are_refused_and_so_are_fewer_rows_than_k() -> None:
    with pytest.raises(ht.InputError, match="judges none"):
        protect(people(12), ht.GlobalK1(2), ht.Genetic("partitions"))
    with pytest.raises(ht.InfeasibleError, match="global"):
        protect(people(2), ht.GlobalK1(3), ht.Genetic())
    # Without a notion partitions are what evolves: other models are taken.
    assert protect(people(20), ht.KAnonymity(3), ht.Genetic(generations=2)).verify().passed
