"""Who is found by a few of their records: against brute force, minimal uniques, and what must grow or fall."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.risk.attacks.few_records import _DrawnRecords
from hushtable.tables import persons_of
from strategies import draws
from twins import naive_attacks

DAY = dt.date(2024, 3, 1)

records = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 5)),
        st.sampled_from("abc"),
        st.integers(1, 5),
        st.one_of(st.none(), st.integers(0, 30)),
    ),
    min_size=3,
    max_size=14,
)


def table_of(rows: list[tuple[int | None, str, int, int | None]]) -> pl.DataFrame:
    dates = [None if day is None else DAY + dt.timedelta(day) for *_, day in rows]
    return pl.DataFrame(
        {"who": [row[0] for row in rows], "item": [row[1] for row in rows], "stars": [row[2] for row in rows],
         "date": dates},
        schema={"who": pl.Int64, "item": pl.String, "stars": pl.Int64, "date": pl.Date},
    )  # fmt: skip


@settings(max_examples=draws(60), deadline=None)
@given(records, st.integers(1, 3), st.integers(0, 2), st.integers(0, 20), st.integers(2, 4))
def test_equals_brute_force(rows, n_known, stars, days, k):
    data = table_of(rows)
    persons = persons_of(ht.Table.encode(data), "who")
    if np.bincount(persons[persons >= 0], minlength=1).max() < n_known:
        return
    tolerance = {"stars": stars, "date": dt.timedelta(days)}
    found = ht.unicity(data, person="who", item="item", known=n_known, tolerance=tolerance, few=k, seed=3).known[0]
    drawn = _DrawnRecords.from_persons(persons, [n_known], 3, 1000)
    cells = data.select("item", "stars", "date").rows()
    n_found = n_few = 0
    for trial in drawn.rows[drawn.n_records >= n_known].tolist():
        known = [cells[row] for row in trial]
        fits = naive_attacks.n_candidates(cells, data["who"].to_list(), known, ("", stars, dt.timedelta(days)))
        assert data["who"][trial[0]] in fits
        n_found += len(fits) == 1
        n_few += len(fits) < k
    assert (found.n_found, found.n_few, found.n_lost, found.n_right) == (n_found, n_few, 0, n_found)


@pytest.fixture(scope="module")
def rated() -> pl.DataFrame:
    return naive_attacks.ratings(400, 60, seed=1, mean=12)


def test_exact_knowledge_of_one_record_is_what_minimal_uniques_finds(rated):
    people = rated.unique("person", keep="first").sort("person")
    found = ht.unicity(
        people, person="person", item="item", known=1, tolerance={"stars": 0, "date": "0D"}, n_trials=10**6
    ).known[0]
    alone = ht.minimal_uniques(people, columns=["item", "stars", "date"])
    assert found.n_found == alone.summary()["n_records_with_sets"] > 0
    assert found.n_trials == found.n_persons == people.height
    assert found.interval == (found.rate, found.rate)


def test_more_knowledge_finds_more_and_more_tolerance_fewer(rated):
    many = rated.filter(pl.len().over("person") >= 8)
    options = {"person": "person", "item": "item", "known": [1, 2, 4, 8], "n_trials": 100}
    rates = [
        [each.rate for each in ht.unicity(many, **options, tolerance=tolerance).known]
        for tolerance in (
            {"stars": 0, "date": 0},
            {"stars": 0, "date": "14D"},
            {"stars": 1, "date": "14D"},
            {"date": "60D"},
            {"date": "300D"},
            {},
        )
    ]
    assert all(row == sorted(row) for row in rates)
    assert all(list(column) == sorted(column, reverse=True) for column in zip(*rates, strict=True))
    assert rates[0][-1] == 1.0 > rates[-1][0]


def test_the_sentence_about_eight_ratings_in_shape():
    rated = naive_attacks.ratings(2000, 500, seed=0, mean=15)
    dated = ht.unicity(rated, person="person", item="item", known=8, tolerance={"date": "14D"}, n_trials=200)
    undated = ht.unicity(rated, person="person", item="item", known=2, n_trials=200)
    assert dated.rate > 0.98
    assert undated.rate < dated.rate
    low, high = dated.known[0].interval
    assert low < dated.rate <= high + 1e-12


def test_a_release_that_publishes_pseudonyms_falls_and_one_of_fresh_ones_cannot_be_searched(rated):
    data = rated.filter(pl.col("person") < 150)
    options = {"quasi_identifiers": ["item", "stars", "date"], "models": [ht.KAnonymity(5)], "roles": "trust"}
    release = ht.anonymize(data, **options)
    found = ht.unicity(
        release, person="person", item="item", known=[1, 2, 4, 8], tolerance={"stars": 0, "date": 0}, n_trials=100
    )
    assert found.known[0].rate < found.known[1].rate < found.known[-1].rate
    assert found.known[-1].rate > 0.9
    assert all(each.n_lost == 0 and each.n_right == each.n_found for each in found.known)
    roughly = ht.unicity(
        release, person="person", item="item", known=[1, 2, 4, 8], tolerance={"stars": 1, "date": "90D"}, n_trials=100
    )
    assert all(one.n_found >= two.n_found for one, two in zip(found.known, roughly.known, strict=True))
    file = ht.unicity(
        release.frame, original=data, person="person", item="item", known=[1, 2, 4, 8],
        tolerance={"stars": 0, "date": 0}, n_trials=100, specs=release.specs,
    )  # fmt: skip
    assert file.known == found.known


def test_a_release_without_the_person_links_nothing(rated):
    release = ht.anonymize(rated[:200].drop("stars"), quasi_identifiers=["item", "date"], models=[ht.KAnonymity(5)],
                           roles="trust", person="person")  # fmt: skip
    assert ht.unicity(release, person="person", item="item", known=1).known[0].n_few == 0


def test_errors_name_columns_and_amounts(rated):
    options = {"person": "person", "item": "item"}
    with pytest.raises(ht.InputError, match=r"nobody has more than"):
        ht.unicity(rated, **options, known=10**6)
    with pytest.raises(ht.InputError, match=r"(?s)tolerance of column 'date'.*span of time"):
        ht.unicity(rated, **options, tolerance={"date": 14})
    with pytest.raises(ht.InputError, match=r"tolerance of column 'stars'"):
        ht.unicity(rated, **options, tolerance={"stars": -1})
    with pytest.raises(ht.ColumnError, match="tolerance"):
        ht.unicity(rated, **options, tolerance={"day": 1})
    with pytest.raises(ht.InputError, match="known is empty"):
        ht.unicity(rated, **options, known=[])
    with pytest.raises(ht.InputError, match="category"):
        ht.unicity(rated.cast({"item": pl.String}), person="person", item="stars", tolerance={"item": 1})


def test_a_result_holds_no_person(rated):
    told = ht.unicity(rated, person="person", item="item", known=2, tolerance={"date": "14D"})
    assert set(told.to_dict()["known"][0]) == {
        "n_known", "n_persons", "n_trials", "n_found", "n_few", "n_lost", "n_right", "few", "n_best", "rate",
        "interval", "right_rate",
    }  # fmt: skip
    assert "finds" in told._repr_html_()
