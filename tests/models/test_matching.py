"""The matching notions: against all permutations, and from published files."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable.models.base import ClassStats, Matching
from hushtable.models.matching import matching_pairs
from strategies import tables

NOTIONS = [ht.Match1K, ht.MatchK1, ht.MatchKK, ht.Global1K, ht.GlobalK1]


def matching_of(edges: np.ndarray) -> Matching:
    published, original = np.nonzero(edges)
    return Matching(*edges.shape, published, original)


def stats_of(edges: np.ndarray) -> ClassStats:
    return ClassStats(np.empty(0, dtype=np.int64), matching=matching_of(edges))


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n)))
def test_matches_are_the_pairs_of_all_perfect_matchings(cells: list[bool]) -> None:
    n = int(len(cells) ** 0.5)
    edges = np.array(cells).reshape(n, n)
    orders = [order for order in itertools.permutations(range(n)) if edges[range(n), order].all()]
    expected = {pair for order in orders for pair in enumerate(order)}
    found = matching_pairs(matching_of(edges))
    assert set(zip(found.published.tolist(), found.original.tolist(), strict=True)) == expected


def test_each_notion_counts_its_own_side() -> None:
    # The first published row covers all three original ones, the others their own and the first.
    edges = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1]], dtype=bool)
    stats = stats_of(edges)
    assert ht.MatchK1(2).measure(stats).tolist() == [3, 2, 2]
    assert ht.Match1K(2).measure(stats).tolist() == [3, 2, 2]
    assert ht.MatchKK(2).measure(stats).tolist() == [3, 2, 2, 3, 2, 2]
    assert ht.GlobalK1(3).passes(stats).tolist() == [True, False, False]
    one_way = np.array([[1, 1], [0, 1]], dtype=bool)
    assert ht.MatchK1(1).measure(stats_of(one_way)).tolist() == [2, 1]
    assert ht.GlobalK1(1).measure(stats_of(one_way)).tolist() == [1, 1]
    assert ht.Global1K(1).measure(stats_of(one_way)).tolist() == [1, 1]


def test_without_a_perfect_matching_there_are_no_matches() -> None:
    assert ht.GlobalK1(1).measure(stats_of(np.array([[1, 0], [1, 0]], dtype=bool))).tolist() == [0, 0]
    assert ht.GlobalK1(1).measure(stats_of(np.ones((1, 2), dtype=bool))).tolist() == [0]


@given(tables(max_rows=10, max_columns=3, min_rows=2), st.integers(2, 4))
def test_a_k_anonymous_release_satisfies_all_of_them(frame: pl.DataFrame, k: int) -> None:
    if frame.height < k:
        return
    given_ = {"quasi_identifiers": frame.columns}
    notions = [notion(k) for notion in NOTIONS]
    release = ht.anonymize(frame, models=[ht.KAnonymity(k)], **given_)
    shuffled = release.frame.sample(fraction=1, shuffle=True, seed=1)
    verdict = ht.verify(shuffled, models=notions, original=frame, specs=release.specs, **given_)
    assert verdict.passed


def test_a_published_table_is_judged_beside_the_original() -> None:
    original = pl.DataFrame({"age": [21, 25, 30], "sex": ["f", "f", "m"]})
    published = pl.DataFrame({"age": ["[21, 25]", "[21, 25]", "30"], "sex": ["f", "*", "*"]})
    verdict = ht.verify(published, quasi_identifiers=["age", "sex"], models=[ht.GlobalK1(2)], original=original)
    assert not verdict.passed
    assert str(verdict.failures[0]) == "global-(k,1)-matching (k = 2): 1 classes with 1 records fail, worst 1"
    fit = ht.verify(published[:2], quasi_identifiers=["age", "sex"], models=[ht.MatchKK(2)], original=original[:2])
    assert fit.passed


def test_suppressed_rows_cover_everyone() -> None:
    original = pl.DataFrame({"age": [21, None]})
    published = pl.DataFrame({"age": ["*", None]})
    verdict = ht.verify(published, quasi_identifiers=["age"], models=[ht.MatchK1(1), ht.Match1K(1)], original=original)
    assert verdict.passed
    worst = ht.verify(published, quasi_identifiers=["age"], models=[ht.MatchK1(2)], original=original)
    assert worst.failures[0].worst == 1


@pytest.mark.parametrize("notion", NOTIONS)
def test_the_original_is_asked_for(notion: type) -> None:
    published = pl.DataFrame({"age": ["*", "*"]})
    with pytest.raises(ht.InputError, match="original"):
        ht.verify(published, quasi_identifiers=["age"], models=[notion(2)])
    with pytest.raises(ht.InputError, match="not given"):
        notion(2).measure(ClassStats(np.array([2])))


@pytest.mark.parametrize("notion", NOTIONS)
def test_they_judge_no_classes(notion: type) -> None:
    with pytest.raises(ht.ModelError, match="no class"):
        notion(2).rule({})
    with pytest.raises(ht.ModelError, match="k"):
        notion(0)
    assert "not k-anonymity" in notion.__doc__
