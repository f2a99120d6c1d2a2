"""Distances and attribution: a copy, unrelated people, and figures by hand."""

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.kernels.neighbours import share_nearest
from twins import naive_synthetic as naive


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {"age": rng.integers(18, 90, n), "pay": np.round(rng.lognormal(10, 1, n)),
         "city": [f"c{each}" for each in rng.integers(20, size=n)]}
    )  # fmt: skip


ORIGINAL, CONTROL, UNRELATED = people(200, 1), people(100, 2), people(200, 3)


def test_distances_to_a_copy_and_to_unrelated_people():
    copied = ht.dcr(ORIGINAL, ORIGINAL, control=people(200, 4))
    assert copied.figures["share"] > 0.98
    assert copied.figures["median_to_original"] == 0
    drawn = [
        ht.dcr(*(people(80, 3 * seed + i) for i in (0, 1)), control=people(40, 3 * seed + 2)) for seed in range(40)
    ]
    assert np.mean([figure.value for figure in drawn]) == pytest.approx(0.5, abs=0.03)
    # One in forty is expected.
    assert sum(figure.low > 0.5 for figure in drawn) <= 3


@pytest.mark.parametrize("n_control", [4, 40, 400])
def test_a_control_of_any_size_lets_a_copy_be_seen(n_control):
    copied = ht.dcr(ORIGINAL, ORIGINAL, control=people(n_control, 4))
    assert copied.value > 0.95
    assert copied.reach.most == pytest.approx(copied.value)
    half = ht.dcr(ORIGINAL, ORIGINAL[:100].vstack(UNRELATED[:100]), control=people(n_control, 4))
    assert half.low < 0.75 <= half.high
    assert ht.nndr(ORIGINAL, ORIGINAL, control=people(n_control, 4)).value == 0


@pytest.mark.parametrize("seed", range(6))
def test_nearest_records_share_as_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    tables = [np.where(rng.random((n, 4)) < 0.2, np.nan, rng.integers(0, 3, (n, 4)) / 2) for n in (15, 20)]
    counts, shares = rng.integers(1, 4, 20), np.zeros(20)
    share_nearest(*tables, 2, counts, np.empty_like(counts), shares)
    assert shares == pytest.approx(naive.share_nearest(*(table.tolist() for table in tables), 2, counts.tolist()))


def test_a_copy_with_gaps_is_found_by_the_cells_that_are_there():
    rng = np.random.default_rng(0)
    gaps = ORIGINAL.with_columns(
        pl.when(pl.Series(rng.random(200) < 0.5)).then(None).otherwise(pl.col(name)).alias(name)
        for name in ORIGINAL.columns
    )
    found = ht.inference(ORIGINAL, gaps, secret="pay", n_attacks=200)
    assert found.n_success > 25
    # A record without cells is near to nobody.
    empty = pl.DataFrame({name: [None, *UNRELATED[name].to_list()] for name in ORIGINAL.columns})
    assert ht.dcr(ORIGINAL, empty, control=CONTROL).low < 0.5


def test_people_who_stand_in_the_table_are_counted():
    one = UNRELATED.vstack(ORIGINAL[:1])
    found = ht.count_copies(ORIGINAL, one, control=CONTROL)
    assert (found.n_copied, found.n_unique_copied, found.n_control_copied) == (1, 1, 0)
    assert found.to_dict()["share"] == 1 / 200
    assert ht.count_copies(ORIGINAL, ORIGINAL).n_copied == 200


def test_the_share_by_hand_counts_ties_half():
    original, control = pl.DataFrame({"a": [0, 10]}), pl.DataFrame({"a": [4, 6]})
    found = ht.dcr(original, pl.DataFrame({"a": [0, 2, 5]}), control=control)
    assert found.figures["share"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert found.figures["ties"] == pytest.approx(1 / 3)


def test_without_a_control_no_share_is_known():
    found = ht.dcr(ORIGINAL, UNRELATED)
    assert np.isnan(found.value)
    assert found.to_dict()["value"] is None


def test_ratios_by_hand():
    found = ht.nndr(pl.DataFrame({"a": [0, 10, 10]}), pl.DataFrame({"a": [1]}))
    assert found.value == pytest.approx(1 / 9)
    assert ht.nndr(ORIGINAL, ORIGINAL).value == 0 < ht.nndr(ORIGINAL, UNRELATED).value
    assert np.isnan(ht.nndr(ORIGINAL[:1], UNRELATED).value)


def test_attribution_of_a_copy_and_of_a_control():
    table = pl.DataFrame({"job": ["a", "a", "b", "b", "c"], "ill": ["x", "x", "y", "z", "y"]})
    found = ht.tcap(table, table, keys=["job"], target="ill", control=table[:3])
    assert found.value == 1
    assert found.n_records == 3
    assert found.figures["control"] == 1
    assert found.figures["chance"] == pytest.approx((4 + 4 + 1) / 25)
    away = pl.DataFrame({"job": ["q"], "ill": ["x"]})
    assert np.isnan(ht.tcap(table, away, keys=["job"], target="ill").value)


def test_prediction_tells_what_was_copied():
    table = pl.DataFrame({"job": ["a", "b"] * 30, "ill": ["x", "y"] * 30})
    assert ht.rapid(table, table, target="ill", control=table).value > 0.9
    noise = table.with_columns(ill=pl.Series(["x", "x", "y", "y"] * 15))
    assert ht.rapid(table, noise, target="ill").value < 0.1


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ht.dcr(ORIGINAL, ORIGINAL, n_records=0), "n_records"),
        (lambda: ht.tcap(ORIGINAL, ORIGINAL, keys=["city"], target="city"), "named already"),
        (lambda: ht.rapid(ORIGINAL, ORIGINAL, target="age"), "no categories"),
        (lambda: ht.rapid(ORIGINAL, ORIGINAL, target="city", threshold=1.0), "threshold"),
    ],
)
def test_what_cannot_be_asked(call, says):
    with pytest.raises(ht.HushError, match=says):
        call()
