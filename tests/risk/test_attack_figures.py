"""Distances and attribution: a copy, unrelated people, and figures by hand."""

import numpy as np
import polars as pl
import pytest

import hushtable as ht


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
    unrelated = ht.dcr(ORIGINAL, UNRELATED, control=CONTROL)
    assert unrelated.low < 0.5 < unrelated.high


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
