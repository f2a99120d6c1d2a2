"""The record that every score is: its summary, and what it shows."""

import json
import math

import numpy as np
import polars as pl
import pytest
import scipy.stats
from hypothesis import given, strategies as st
from score_cases import approx, counted

import hushtable as ht
from hushtable.discover import scores


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_the_summary_is_that_of_scipy(sizes):
    table = counted(pl.DataFrame({"a": range(len(sizes))}), [1 + size for size in sizes])
    score = scores.k_anonymity(table, ["a"])
    values, found = 1.0 + np.array(sizes), score.summary()
    spread = float(((values - values.mean()) ** 2).mean())
    assert found["n"] == len(values)
    assert found["mean"] == score.mean == approx(float(values.mean()))
    assert found["weighted_mean"] == score.weighted_mean == approx(float((values * values).sum() / values.sum()))
    assert (found["variance"], found["sd"]) == approx((spread, math.sqrt(spread)))
    assert (found["min"], found["max"]) == (values.min(), values.max())
    for name, q in {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}.items():
        assert found[name] == approx(scipy.stats.scoreatpercentile(values, 100 * q))
    mode = scipy.stats.mode(values)
    assert (found["mode"], found["mode_count"]) == (mode.mode, mode.count)
    if len(set(sizes)) == 1:
        assert math.isnan(found["skewness"])
        assert math.isnan(found["kurtosis"])
    else:
        assert found["skewness"] == approx(float(scipy.stats.skew(values)))
        assert found["kurtosis"] == approx(float(scipy.stats.kurtosis(values)))


@pytest.mark.parametrize("n_alike", [0, 1, 2])
def test_a_summary_of_infinite_values_warns_of_nothing(n_alike):
    ill = ["flu", "flu", "hiv", "flu", "hiv", "flu"]
    people = pl.DataFrame({"sex": list("abbccc")[: 1 + 2 * n_alike], "ill": ill[: 1 + 2 * n_alike]})
    score = scores.l_diversity(people, ["sex"], sensitive="ill", kind="recursive")
    assert score.value == math.inf
    summary = score.summary()
    assert summary["max"] == math.inf
    assert json.dumps(score.to_dict(), allow_nan=False)
    two = pl.DataFrame({"sex": list("abcc"), "ill": ["flu", "flu", "flu", "hiv"]})
    assert scores.l_diversity(two, ["sex"], sensitive="ill", kind="recursive").summary()["min"] == 1.0


def test_quantiles_beside_infinite_values_are_those_of_the_limit():
    values = np.array([math.inf, 1.0, math.inf, 3.0])
    score = scores.Score("x", 0.0, "rate", "safer", "class", np.arange(4), values, np.ones(4, np.int64))
    found = score.summary()
    assert [found[name] for name in ("min", "q05", "median", "q75", "max")] == approx([1, 1.3, *[math.inf] * 3])
    assert score.mean == score.weighted_mean == math.inf
    assert math.isnan(found["sd"])
    opposite = scores.Score(
        "x", 0.0, "rate", "safer", "class", np.arange(2), np.array([math.inf, -math.inf]), np.ones(2, np.int64)
    )
    assert math.isnan(opposite.mean)
    assert math.isnan(opposite.weighted_mean)
    assert math.isnan(opposite.summary()["median"])


def test_what_is_undefined_is_left_out_of_the_summary():
    values, sizes = np.array([math.nan, 2.0, 4.0]), np.array([0, 1, 3])
    score = scores.Score("x", 2.0, "rate", "safer", "column", np.array(list("abc"), object), values, sizes)
    assert (score.mean, score.weighted_mean) == (3.0, 3.5)
    assert score.summary()["n"] == 2
    assert score.summary()["median"] == 3.0


def test_the_worst_group_can_be_named_by_who_asks_for_it():
    people = pl.DataFrame({"age": [31, 31, 52, None], "sex": ["woman", "woman", "man", "man"]})
    score = scores.k_anonymity(people, ["age", "sex"])
    assert score.to_frame().columns == ["class", "size", "value"]
    named = score.to_frame(named=True).select("class age", "class sex", "value").rows()
    assert sorted(named, key=str) == sorted([("31", "woman", 2.0), ("52", "man", 1.0), (None, "man", 1.0)], key=str)
    assert "man" not in repr(score) + str(score.to_dict()) + score._repr_html_()
    with pytest.raises(ht.InputError, match="are no classes"):
        scores.attribute_length_penalty(people, ["age"]).to_frame(named=True)
