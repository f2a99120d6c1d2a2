import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable.masking import kept
from hushtable.tables.table import Table

pairs = st.lists(st.tuples(st.integers(-2, 3), st.integers(-1, 3)), min_size=1, max_size=30)


def naive_information(pairs):
    n = len(pairs)
    ours, theirs = Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
    return sum(k / n * math.log2(k * n / (ours[one] * theirs[two])) for (one, two), k in Counter(pairs).items())


def naive_chi_square(pairs):
    n = len(pairs)
    ours, theirs, both = Counter(one for one, _ in pairs), Counter(two for _, two in pairs), Counter(pairs)
    return sum((both[x, y] - ours[x] * theirs[y] / n) ** 2 / (ours[x] * theirs[y] / n) for x in ours for y in theirs)


def coded(pairs):
    first, second = np.array(pairs, dtype=np.int32).T
    return first, second


@given(pairs)
def test_dependence_agrees_with_the_twin(pairs):
    found = kept.measure_dependence(*coded(pairs))
    assert found.mutual_information == pytest.approx(naive_information(pairs), abs=1e-9)
    assert found.chi_square == pytest.approx(naive_chi_square(pairs), abs=1e-10)
    ours, theirs = (len(set(column)) for column in zip(*pairs, strict=True))
    assert found.degrees_of_freedom == (ours - 1) * (theirs - 1)


@given(pairs)
def test_normalized_mutual_information_is_a_share_and_symmetric(pairs):
    first, second = coded(pairs)
    found = kept.normalize_mutual_information(first, second)
    assert 0 <= found <= 1
    assert found == pytest.approx(kept.normalize_mutual_information(second, first))
    if len(set(first.tolist())) > 1:
        assert kept.normalize_mutual_information(first, first) == pytest.approx(1)


def test_independent_columns_have_exactly_nothing_in_common():
    first, second = np.repeat(np.arange(3, dtype=np.int32), 4), np.tile(np.arange(4, dtype=np.int32), 3)
    assert kept.mutual_information(first, second) == 0
    assert kept.measure_dependence(first, second).chi_square == 0


def test_long_orders_are_binned_evenly_and_categories_are_not():
    table = Table.encode(pl.DataFrame({"x": range(1000), "name": [f"n{row}" for row in range(1000)]}))
    bins = kept.bin_codes(table, "x")
    assert np.bincount(bins).tolist() == [50] * 20
    assert (np.diff(bins[np.argsort(table.codes[0])]) >= 0).all()
    assert kept.bin_codes(table, "name") is not bins
    assert len(np.unique(kept.bin_codes(table, "name"))) == 1000


def naive_rules(first, second, support, confidence, names):
    n = len(first)
    rows = [(one, two) for one, two in zip(first, second, strict=True)]
    found = set()
    for one, two in set(rows):
        if one < 0 or two < 0:
            continue
        both = rows.count((one, two))
        if both >= support * n and both >= confidence * first.count(one):
            found.add((names[0], names[1], one, two))
        if both >= support * n and both >= confidence * second.count(two):
            found.add((names[1], names[0], two, one))
    return found


@given(st.lists(st.tuples(st.integers(-1, 2), st.booleans(), st.integers(-1, 2)), min_size=1, max_size=25))
def test_association_rules_agree_with_the_twin(rows):
    raw = [one for one, _, _ in rows]
    masked = [-2 if hidden else one for one, hidden, _ in rows]
    c = [two for _, _, two in rows]
    found = kept.association_rules(
        {"a": (np.array(raw, dtype=np.int32), np.array(masked, dtype=np.int32))},
        {"c": np.array(c, dtype=np.int32)},
        {"a": "xyz", "c": "XYZ"},
        0.1,
        0.6,
    )
    before = naive_rules(raw, c, 0.1, 0.6, "ac")
    after = naive_rules(masked, c, 0.1, 0.6, "ac")
    assert (found.n_before, found.n_kept, found.n_new) == (len(before), len(before & after), len(after - before))
    for rule in found.rules:
        sides = {"a": (raw, masked), "c": (c, c)}
        one, two = ("xyz" if name == "a" else "XYZ" for name in (rule.given, rule.then))
        for at in (0, 1):
            ours = [cell == one.index(rule.given_value) for cell in sides[rule.given][at]]
            theirs = [cell == two.index(rule.then_value) for cell in sides[rule.then][at]]
            n = sum(x and y for x, y in zip(ours, theirs, strict=True))
            assert rule.support[at] == n / len(rows)
            assert rule.confidence[at] == (n / sum(ours) if n else 0)
            assert rule.lift[at] == pytest.approx(n * len(rows) / sum(ours) / sum(theirs) if n else 0)


def test_a_column_that_c_determines_is_given_back():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 600).astype(np.int32)
    labels = np.where(rng.random(600) < 0.8, a % 2, rng.integers(0, 2, 600)).astype(np.int32)
    hidden = rng.random(600) < 0.5
    (guess,) = kept.guess_stars(["a"], a[None], hidden[None], [a.copy()], labels)
    assert guess.right_rate == 1
    assert guess.restored_rate == pytest.approx(1)
    (warning,) = kept.warnings_of([guess])
    assert "'a'" in warning
    assert "100%" in warning
    assert guess.to_dict()["restored_rate"] == guess.restored_rate


def test_a_column_that_c_knows_nothing_of_is_not():
    rng = np.random.default_rng(1)
    a, c = rng.integers(0, 2, (2, 2000)).astype(np.int32)
    hidden = np.ones(2000, dtype=bool)
    hidden[:100] = False
    (guess,) = kept.guess_stars(["a"], a[None], hidden[None], [c], a)
    assert guess.restored_rate < 0.1
    assert kept.warnings_of([guess]) == ()


def test_without_c_or_with_nothing_published_the_guess_is_one_value():
    a = np.array([0, 0, 1, 2], dtype=np.int32)
    labels = np.array([0, 0, 1, 1], dtype=np.int32)
    hidden = np.array([[False, False, True, True], [True] * 4])
    some, none = kept.guess_stars(["x", "y"], np.array([a, a]), hidden, [], labels)
    assert (some.n_masked, some.right_rate) == (2, 0)
    assert none.restored == 0


def test_missing_cells_can_be_guessed():
    a = np.array([-1, -1, 1, -1], dtype=np.int32)
    hidden = np.array([[False, False, False, True]])
    (guess,) = kept.guess_stars(["a"], a[None], hidden, [a.copy()], np.zeros(4, dtype=np.int32))
    assert guess.right_rate == 1
    assert guess.restored_rate == 0


def naive_correlation(pairs, before):
    """Mutual information of the records that have no star, over the entropies that the original columns have."""
    known = [pair for pair in pairs if -2 not in pair]
    scale = math.sqrt(
        math.prod(naive_information([(cell, cell) for cell in side]) for side in zip(*before, strict=True))
    )
    return min(1.0, naive_information(known) / scale) if known and scale > 0 else 0.0


cells = st.integers(-1, 2)


@given(st.lists(st.tuples(cells, cells, cells, cells, st.booleans(), st.booleans()), min_size=1, max_size=25))
def test_pairs_after_masking_are_of_the_records_that_publish_both(rows):
    raw = {name: [row[at] for row in rows] for at, name in enumerate("pqcb")}
    masked = {name: [-2 if row[at + 4] else row[at] for row in rows] for at, name in enumerate("pq")}
    labels = [at % 2 for at in range(len(rows))]
    codes = {name: np.array(column, dtype=np.int32) for name, column in raw.items()}
    found = kept.compare_pairs(
        {name: (codes[name], np.array(masked[name], dtype=np.int32)) for name in "pq"},
        {"b": codes["b"]},
        {"c": codes["c"]},
        np.array(labels, dtype=np.int32),
    )
    published = {**raw, **masked, "b": labels}
    kinds = [("A", "p", "q"), ("AC", "p", "c"), ("AC", "q", "c"), ("BC", "b", "c")]
    assert [(pair.kind, pair.first, pair.second) for pair in found] == kinds
    for pair in found:
        before = list(zip(raw[pair.first], raw[pair.second], strict=True))
        after = list(zip(published[pair.first], published[pair.second], strict=True))
        assert pair.before == pytest.approx(naive_correlation(before, before), abs=1e-9)
        assert pair.after == pytest.approx(naive_correlation(after, before), abs=1e-9)
        assert pair.n_after == sum(-2 not in each for each in after)


def test_more_clusters_keep_more_and_never_more_than_there_was():
    """Divided by entropies of their own, few clusters kept above 100 %, and more of them less."""
    income = np.arange(400, dtype=np.int32) % 20
    food = (income >= 11).astype(np.int32)
    kept_shares = []
    for width in (10, 5, 2, 1):
        (pair,) = kept.compare_pairs({}, {"income": income}, {"food": food}, income // np.int32(width))
        kept_shares.append(pair.after / pair.before)
        assert pair.after / pair.before == pytest.approx(
            naive_information(list(zip(income // width, food, strict=True)))
            / naive_information(list(zip(income, food, strict=True)))
        )
    assert kept_shares == sorted(kept_shares)
    assert kept_shares[-1] == pytest.approx(1)


def test_stars_that_stand_together_are_no_correlation():
    """Two columns that say nothing of one another, masked in the same half of the records."""
    first, second = np.repeat(np.arange(2, dtype=np.int32), 200), np.tile(np.arange(2, dtype=np.int32), 200)
    stars = np.arange(400) % 4 < 2
    masked = [np.where(stars, np.int32(-2), codes) for codes in (first, second)]
    (pair,) = kept.compare_pairs({"p": (first, masked[0]), "q": (second, masked[1])}, {}, {}, np.zeros(400, np.int32))
    assert (pair.before, pair.after, pair.n_after) == (0, 0, 200)


def test_a_column_of_stars_says_nothing():
    codes = np.array([0, 1, 0, 1], dtype=np.int32)
    stars = np.full(4, -2, dtype=np.int32)
    pairs = kept.compare_pairs({"p": (codes, stars), "q": (codes, codes)}, {}, {"c": codes}, codes)
    assert [(pair.after, pair.n_after) for pair in pairs] == [(0, 0), (0, 0), (pytest.approx(1), 4)]


def test_pairs_name_the_kinds_of_correlation():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({name: rng.integers(0, 3, 90) for name in ("p", "q", "b", "c")})
    release = ht.mask_dependence(frame, a=["p", "q"], b=["b"], clusters=3)
    found = {(pair.kind, pair.first, pair.second) for pair in release.pairs()}
    assert found == {("A", "p", "q"), ("AC", "p", "c"), ("AC", "q", "c"), ("BC", "b", "c")}
    assert all(0 <= pair.before <= 1 and 0 <= pair.after <= 1 for pair in release.pairs())
    rules = release.rules(support=0.05, confidence=0.3)
    assert rules.n_kept <= rules.n_before


def test_a_rule_names_a_category_by_its_value_and_a_bin_by_its_ends():
    levels = ["high", "low"] * 40
    frame = pl.DataFrame({"p": levels, "b": range(80), "job": levels, "age": [at // 2 % 40 for at in range(80)]})
    rules = ht.mask_dependence(frame, a=["p"], b=["b"], clusters=2).rules(support=0.01, confidence=0.1)
    of_job = {rule.then_value for rule in rules.rules if rule.then == "job"}
    of_age = {rule.given_value for rule in rules.rules if rule.given == "age"}
    assert of_job == {"high", "low"}
    assert {"[0, 1]", "[38, 39]"} <= of_age
