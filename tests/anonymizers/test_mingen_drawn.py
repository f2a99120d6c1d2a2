"""Drawing tables at random instead of searching: what is kept passes, and it is far from what a search finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings, strategies as st

import hushtable as ht
from hushtable.anonymizers.cell_candidates import lay_out
from hushtable.anonymizers.minimal_matchings import Choices
from hushtable.tables.table import Table
from strategies import draws, tables

MG_GA = ht.Certainty(variant="mg-ga")
MODELS = [ht.KAnonymity, ht.Match1K, ht.MatchK1, ht.MatchKK, ht.Global1K, ht.GlobalK1]


def drawn(data: Any, model: Any, n_tables: int | None, **options: Any) -> ht.Release:
    asked: dict[str, Any] = {"quasi_identifiers": data.columns, "loss": "certainty", **options}
    method_options = {name: asked.pop(name) for name in ("seed", "n_best", "tie_break") if name in asked}
    return ht.anonymize(data, models=[model], method=ht.MinGen(iterations=n_tables, **method_options), **asked)


@pytest.mark.parametrize("model", [ht.KAnonymity(2), ht.GlobalK1(2)])
def test_a_thousand_tables_stay_above_what_a_search_reaches(shared_file: Callable[[str], Path], model: Any) -> None:
    data = pl.read_csv(shared_file("data/mg_ga/test.csv"))
    options: dict[str, Any] = {
        "quasi_identifiers": data.columns[:-1],
        "loss": MG_GA,
        "hierarchies": str(shared_file("data/mg_ga/domains.txt")),
    }
    for seed in range(3):
        release = drawn(data, model, 1_000, seed=seed, **options)
        assert release.loss > 10.4445
        assert release.trace.nodes == 1_000
        assert release.trace.seed == seed
        assert release.trace.bound is None
        assert release.verify().passed
    assert round(drawn(data, model, None, **options).loss, 4) == 10.4444


@pytest.mark.parametrize("model", MODELS)
@given(frame=tables(max_rows=5, max_columns=2, min_rows=1), k=st.integers(1, 3), seed=st.integers(0, 5))
@example(frame=pl.DataFrame({"day": [None] * 3, "age": [-40] * 3}, schema_overrides={"day": pl.Date}), k=1, seed=4)
@settings(max_examples=draws(20))
def test_what_is_kept_passes_and_more_tables_are_never_worse(
    model: Any, frame: pl.DataFrame, k: int, seed: int
) -> None:
    assume(frame.height >= k)
    losses = [drawn(frame, model(k), n_tables, seed=seed) for n_tables in (1, 10, 100)]
    exact = drawn(frame, model(k), None)
    assert all(each.verify().passed for each in losses)
    assert losses[0].loss + 1e-9 >= losses[1].loss >= losses[2].loss - 1e-9 >= exact.loss - 2e-9
    history = losses[2].trace.effort.history  # type: ignore[union-attr]
    assert history[-1][2] == pytest.approx(losses[2].loss, abs=1e-9)


def test_every_cell_draws_any_of_its_candidates_as_often() -> None:
    data = pl.DataFrame({"age": [1, 2, 4, None], "job": ["a", "b", "a", "c"]})
    jobs = ht.Hierarchy.from_dict({"tree": {"up": {"a": ["a"], "b": ["b"]}, "c": {"c": ["c"]}}}, "job")
    table = Table.encode(data, data.columns).with_row_per_record()
    space = lay_out(table, data.columns, {"job": jobs.align(table.column("job"))}, ht.Certainty())
    choices = Choices.from_space(space)
    pool = choices.draw_tables(20_000, np.random.default_rng(0))
    for row in range(4):
        for j, listed in enumerate(choices.candidates_by_column):
            expected = listed.list_covering(int(space.places[row, j]))
            seen, counts = np.unique(pool[:, row, j], return_counts=True)
            assert seen.tolist() == expected.tolist()
            assert np.allclose(counts / 20_000, 1 / len(expected), atol=0.02)
    # 2 candidates of the missing age; of 1: itself, [1, 2] and *, for [1, 4] is all there is.
    assert [len(choices.candidates_by_column[0].list_covering(int(place))) for place in space.places[:, 0]] == [
        3,
        4,
        3,
        2,
    ]


def test_few_cells_are_solved_by_drawing() -> None:
    data = pl.DataFrame({"sex": ["f", "f", "m", "m"]})
    for model in (ht.KAnonymity(2), ht.GlobalK1(2)):
        assert drawn(data, model, 1_000).loss == 0
    release = drawn(data, ht.KAnonymity(3), 2_000)
    assert release.frame["sex"].to_list() == ["*"] * 4


@pytest.mark.parametrize("model", [ht.KAnonymity(2), ht.GlobalK1(2)])
def test_ties_are_listed_each_once(model: Any) -> None:
    data = pl.DataFrame({"sex": ["f", "m", "f", "m"], "job": list("abab")})
    options: dict[str, Any] = {"loss": ht.MinimalDistortion({"job": 0}), "n_best": 50}
    release = drawn(data, model, 2_000, **options)
    found = [release, *release.alternatives]
    # Whether "job" is kept does not count: by every pair of rows under k, by every row under the notion.
    assert len({str(each.frame.rows()) for each in found}) == len(found) == (4 if model.name == "k-anonymity" else 16)
    assert {each.loss for each in found} == {release.loss}
    assert all(each.verify().passed for each in found)
    assert len(drawn(data, model, 2_000, **{**options, "n_best": 2}).alternatives) == 1
    told = drawn(data, model, 2_000, **options, tie_break=ht.MinimalDistortion())
    seconds = [
        ht.MinimalDistortion().measure(each.recoding, each.partition.sizes) for each in (told, *told.alternatives)
    ]
    assert seconds == sorted(seconds)


def test_other_models_judge_the_classes_of_equal_rows() -> None:
    data = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["x", "x", "x", "y"]})
    models = [ht.KAnonymity(2), ht.DistinctLDiversity(2, "ill")]
    release = ht.anonymize(
        data, quasi_identifiers=["sex"], models=models, loss="certainty", method=ht.MinGen(iterations=500)
    )
    assert release.frame["sex"].to_list() == ["*"] * 4
    assert release.verify().passed


def test_budgets_end_it_and_what_cannot_be_is_said() -> None:
    data = pl.DataFrame({"age": list(range(30))})
    shares: list[float] = []
    release = drawn(data, ht.KAnonymity(2), 100_000, budget=ht.Budget(nodes=70), progress=shares.append)
    assert release.trace.nodes == 70
    assert not release.trace.complete
    assert shares == sorted(shares)
    for model in (ht.KAnonymity(31), ht.GlobalK1(31)):
        with pytest.raises(ht.InfeasibleError):
            drawn(data, model, 10)
