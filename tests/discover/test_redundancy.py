"""Correlation of scores over column sets, against scipy, and the pick of those that say something of their own."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

import hushtable as ht
from hushtable.discover.redundancy import find_redundancy
from hushtable.errors import InputError

MEAN_K = ht.Term("k_anonymity", aggregate="mean")


@pytest.fixture(scope="module")
def people():
    return ht.datasets.people(300).select(
        "sex", "education", "marital_status", "nationality", "occupation", "diagnosis"
    )


@pytest.fixture(scope="module")
def found(people):
    scores = ["distinction", MEAN_K, "separation", "group_entropy", "attribute_length_penalty"]
    return find_redundancy(people, scores=scores)


def test_correlations_equal_scipys(found):
    for i in range(len(found.names)):
        for j in range(len(found.names)):
            x, y = found.values[:, i], found.values[:, j]
            assert found.spearman[i, j] == pytest.approx(stats.spearmanr(x, y).statistic)
            assert found.pearson[i, j] == pytest.approx(stats.pearsonr(x, y).statistic)


def test_the_mean_class_size_says_nothing_beside_distinction(found):
    assert found.spearman[0, 1] == pytest.approx(-1)
    cluster = next(each for each in found.clusters if "distinction" in each)
    assert "k_anonymity (mean)" in cluster
    assert len(set(cluster) & set(found.kept)) == 1
    assert "attribute_length_penalty" in found.kept


def test_every_score_is_in_one_cluster_with_a_reason(found):
    assert sorted(name for cluster in found.clusters for name in cluster) == sorted(found.names)
    assert list(found.reasons) == list(found.names)
    for name in found.names:
        assert found.reasons[name].startswith("kept" if name in found.kept else "dropped")


def test_small_tables_are_sampled_whole_and_large_ones_without_repetition(people):
    scores = ["distinction", "separation"]
    assert len(find_redundancy(people, scores=scores).sets) == 63
    some = find_redundancy(people, scores=scores, n_sets=20, seed=4)
    assert len(np.unique(some.sets, axis=0)) == 20
    assert np.array_equal(some.sets, find_redundancy(people, scores=scores, n_sets=20, seed=4).sets)
    pairs = find_redundancy(people, scores=scores, n_chosen=2, n_sets=10)
    assert set(pairs.sets.sum(axis=1)) == {2}


def test_a_constant_score_is_dropped(people):
    completeness = ht.Term("completeness", options={"target": "diagnosis"})
    columns = ["sex", "education", "marital_status"]
    found = find_redundancy(people, scores=["distinction", completeness], columns=columns)
    assert found.kept == ("distinction",)
    assert found.reasons["completeness (target=diagnosis)"] == "dropped: constant over the column sets"
    assert found.reasons["distinction"] == "kept: nothing to compare it with"
    assert found.to_dict()["correlation"][1] == [None, None]


def test_a_higher_threshold_keeps_no_fewer(people):
    scores = ["distinction", "separation", "group_entropy", "k_anonymity", "attribute_length_penalty"]
    kept = [len(find_redundancy(people, scores=scores, threshold=t, method="pearson").kept) for t in (0.3, 0.9, 1.0)]
    assert kept == sorted(kept)


def test_the_record_is_plain_and_draws_a_heat_map(found):
    assert json.loads(json.dumps(found.to_dict()))["kept"] == list(found.kept)
    assert found._repr_html_().startswith("<table>")
    assert len(found.plot().texts) == 25


def test_what_cannot_be_compared_says_why(people):
    two = ["distinction", "separation"]
    with pytest.raises(InputError, match="1 scores"):
        find_redundancy(people, scores=two[:1])
    with pytest.raises(InputError, match="'kendall'"):
        find_redundancy(people, scores=two, method="kendall")
    with pytest.raises(InputError, match="threshold"):
        find_redundancy(people, scores=two, threshold=0)
    with pytest.raises(InputError, match="n_chosen"):
        find_redundancy(people, scores=two, n_chosen=9)
    with pytest.raises(InputError, match="one column set"):
        find_redundancy(pl.DataFrame({"a": [1, 2]}), scores=two)
