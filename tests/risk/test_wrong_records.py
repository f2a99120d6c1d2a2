"""Attackers of whose records some are wrong: against brute force, and what must grow or fall."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.risk.attacks.few_records import _draw_wrong_records, _DrawnRecords
from hushtable.risk.nearness import reaches_of
from hushtable.tables import persons_of
from strategies import draws
from twins import naive_attacks

DAY = dt.date(2024, 3, 1)
records = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 5)), st.sampled_from("abcd"), st.integers(0, 30)),
    min_size=4,
    max_size=14,
)


def table_of(rows) -> pl.DataFrame:
    return pl.DataFrame(
        {"who": [row[0] for row in rows], "item": [row[1] for row in rows],
         "date": [DAY + dt.timedelta(row[2]) for row in rows]},
        schema={"who": pl.Int64, "item": pl.String, "date": pl.Date},
    )  # fmt: skip


@settings(max_examples=draws(40), deadline=None)
@given(records, st.integers(2, 3), st.integers(0, 1), st.integers(0, 20), st.sampled_from([0.0, 0.7, 1.5]))
def test_equals_brute_force(rows, n_known, wrong, days, limit):
    data = table_of(rows)
    table = ht.Table.encode(data, ["item", "date"])
    persons = persons_of(ht.Table.encode(data), "who")
    if np.bincount(persons[persons >= 0], minlength=1).max() < n_known - wrong:
        return
    tolerance = {"date": dt.timedelta(days)}
    found = ht.unicity(
        data, person="who", item="item", known=n_known, wrong=wrong, eccentricity=limit, tolerance=tolerance, few=3,
        seed=3,
    ).known[0]  # fmt: skip
    drawn = _DrawnRecords.from_persons(persons, [n_known - wrong], 3, 1000)
    others = _draw_wrong_records(table, reaches_of(table, tolerance), persons, drawn.rows[:, 0], wrong, 3)
    trials = np.hstack([drawn.rows[:, : n_known - wrong], others])[drawn.n_records >= n_known - wrong]
    cells, whose = data.select("item", "date").rows(), data["who"].to_list()
    n_found = n_few = n_right = n_best = 0
    for trial in trials.tolist():
        known = [cells[row] for row in trial]
        ranked = naive_attacks.rank_persons(cells, whose, known, ("", dt.timedelta(days)), [0], limit)
        n_found += len(ranked.near) == 1
        n_few += len(ranked.near) < 3
        n_best += len(ranked.best) == 1
        n_right += ranked.near == [whose[trial[0]]]
    assert (found.n_found, found.n_few, found.n_right, found.n_best) == (n_found, n_few, n_right, n_best)
    assert found.n_lost == 0


def test_a_row_counts_for_one_known_record():
    data = pl.DataFrame({"who": [1, 2, 2, 3, 4], "item": ["a", "a", "a", "b", "c"]})
    release = data.with_columns(who=pl.col("who") * 10)
    outside = pl.DataFrame({"who": ["Ann", "Ann"], "item": ["a", "a"]})
    found = ht.link(release, outside, on=["item"], person="who", eccentricity=1).persons
    assert (found.n_persons, found.n_found, found.n_best) == (1, 1, 1)


def test_a_link_is_right_though_not_every_record_has_the_truth():
    release = pl.DataFrame({"who": [1, 2, 3], "item": ["b", "a", "c"], "name": ["Ann", "Bob", "Eve"]})
    outside = pl.DataFrame({"who": ["x", "x"], "item": ["b", "b"], "name": [None, "Ann"]})
    assert ht.link(release, outside, on=["item"], person="who", truth="name", eccentricity=1).persons.n_right == 1


@pytest.mark.parametrize("side", ["released", "outside"])
def test_a_table_without_persons_is_refused(side):
    data = pl.DataFrame({"who": ["x", "y"], "item": ["a", "b"]})
    nobody = data.with_columns(who=pl.lit(None, dtype=pl.String))
    tables = (nobody, data) if side == "released" else (data, nobody)
    with pytest.raises(ht.InputError, match=f"the {side}.* table says of no record whose it is"):
        ht.link(*tables, on=["item"], person="who")


@pytest.fixture(scope="module")
def rated() -> pl.DataFrame:
    return naive_attacks.ratings(400, 60, seed=1, mean=12)


def test_wrong_records_are_none_of_the_persons_own(rated):
    table, tolerance = ht.Table.encode(rated, ["item", "date"]), {"date": "14D"}
    persons = persons_of(ht.Table.encode(rated), "person")
    own = np.flatnonzero(np.diff(persons, prepend=-1))[:50]
    items, days = rated["item"].to_numpy(), rated["date"].to_numpy()
    for mine, others in zip(
        own, _draw_wrong_records(table, reaches_of(table, tolerance), persons, own, 2, 0), strict=True
    ):
        is_own = persons == persons[mine]
        for other in others:
            is_near = np.abs(days[is_own] - days[other]) <= np.timedelta64(14, "D")
            assert not (is_near & (items[is_own] == items[other])).any()


def test_two_of_eight_may_be_wrong(rated):
    options = {"person": "person", "item": "item", "tolerance": {"date": "14D"}, "n_trials": 150}
    by_all = ht.unicity(rated, **options, known=8)
    scored = ht.unicity(rated, **options, known=[4, 8], wrong=2)
    none_wrong = ht.unicity(rated, **options, known=8, eccentricity=1.5)
    four, eight = scored.known
    assert by_all.rate == none_wrong.rate == 1.0
    assert four.n_right < eight.n_right
    assert eight.right_rate > 0.95
    bold, usual, shy = (
        ht.unicity(rated, person="person", item="item", known=6, wrong=2, n_trials=150, eccentricity=limit).known[0]
        for limit in (0, 0.5, 1)
    )
    assert shy.n_found < usual.n_found < bold.n_found == bold.n_best == usual.n_best
    assert shy.n_found - shy.n_right < bold.n_found - bold.n_right
    assert "takes another person for" in scored.headline


def test_the_headline_is_of_those_who_find_most_rightly(rated):
    found = ht.unicity(rated, person="person", item="item", known=[4, 8], wrong=2, n_trials=20, eccentricity=1.5)
    few, many = found.known
    misled = replace(found, known=(replace(few, n_found=20, n_right=1), replace(many, n_found=19, n_right=18)))
    assert misled.headline.startswith("Who knows 8 records")
    unknown = replace(found, known=(replace(few, n_found=20, n_right=None), replace(many, n_found=19, n_right=None)))
    assert unknown.headline.startswith("Who knows 4 records")


def test_a_release_whose_persons_are_pseudonyms_is_searched_too(rated):
    data = rated.filter(pl.col("person") < 120)
    release = ht.anonymize(
        data, quasi_identifiers=["item", "stars", "date"], models=[ht.KAnonymity(5)], roles="trust",
    )  # fmt: skip
    options = {"person": "person", "item": "item", "tolerance": {"date": 0}, "known": [4, 8], "wrong": 1}
    found = ht.unicity(release, **options, n_trials=60)
    assert found.known[0].n_right <= found.known[1].n_right
    renamed = release.frame.with_columns(person=pl.col("person") + 1_000)
    unknown = ht.unicity(renamed, original=data, **options, n_trials=60, specs=release.specs)
    assert [each.n_right for each in unknown.known] == [None, None]
    assert [each.n_found for each in unknown.known] == [each.n_found for each in found.known]
    assert "nobody can tell how often rightly" in unknown.headline


def test_persons_of_an_outside_table_are_found_though_some_of_their_records_are_wrong(rated):
    rng = np.random.default_rng(0)
    persons = rated.filter(pl.len().over("person") >= 8)
    outside = pl.concat([each.head(8) for each in persons.partition_by("person", maintain_order=True)[:60]])
    false = rng.random(len(outside)) < 0.25
    items = np.where(false, rng.integers(0, 60, len(outside)), outside["item"].to_numpy())
    outside = outside.with_columns(item=items, who="person", person=pl.col("person") + 5_000)
    strangers = naive_attacks.ratings(60, 60, seed=9, mean=8)
    options = {"on": ["item", "date"], "tolerance": {"date": "3D"}, "person": "person", "truth": "who"}
    found = ht.link(rated.with_columns(who="person"), outside, **options, control=strangers)
    assert found.persons.n_persons == 60
    assert found.persons.n_right > 54
    assert found.persons.n_right / 60 > found.found.n_right / found.found.n_records
    assert found.rate == found.persons.rate
    assert found.control_persons.n_found < 30
    assert found.excess < found.persons.rate
    assert "linked with themselves" in found.headline
    assert found.to_dict()["persons"]["n_right"] == found.persons.n_right


def test_errors_say_what_has_no_effect(rated):
    known = {"person": "person", "item": "item"}
    with pytest.raises(ht.InputError, match="none of them would be right"):
        ht.unicity(rated, **known, wrong=2)
    for value in (-1, "much", True, float("nan")):
        with pytest.raises(ht.InputError, match="eccentricity"):
            ht.unicity(rated, **known, eccentricity=value)
    with pytest.raises(ht.InputError, match="wrong"):
        ht.unicity(rated, **known, wrong=0.5)
    with pytest.raises(ht.InputError, match=f"from 0 to {len(rated)}"):
        ht.unicity(rated, **known, known=len(rated) + 2, wrong=len(rated) + 1)
    with pytest.raises(ht.InputError, match="no effect without person"):
        ht.link(rated, rated, on=["item"], eccentricity=2)
    with pytest.raises(ht.ColumnError, match="person"):
        ht.link(rated, rated, on=["item"], person="who")
