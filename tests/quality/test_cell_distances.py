"""Distances, moments and correlations of spread columns beside slow twins that write every place out."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from hushtable.quality import cell_values as spreads
from hushtable.quality.cell_values import Spread


@st.composite
def whole_spreads(draw, n_rows=None):
    """Cells of one to three runs of whole places, some partly or wholly missing, some that say nothing."""
    cells = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["runs", "runs", "half", "missing", "star"]),
                st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=3),
            ),
            min_size=1,
            max_size=5,
        )
    )
    n = draw(st.integers(1, 12)) if n_rows is None else n_rows
    rows = draw(st.lists(st.integers(0, len(cells) - 1), min_size=n, max_size=n))
    return made(cells, rows)


def made(cells, rows):
    """Make a Spread of cells as (what, runs)."""
    missing = np.array([{"half": 0.5, "missing": 1.0}.get(what, 0.0) for what, _ in cells])
    runs = [
        (cell, low, width, (1 - missing[cell]) / len(each))
        for cell, (what, each) in enumerate(cells)
        if what in ("runs", "half")
        for low, width in each
    ]
    cell, low, width, share = np.array(runs).T.reshape(4, -1)
    is_told = np.array([what != "star" for what, _ in cells])
    return Spread(np.array(rows, dtype=np.int32), is_told, missing, cell.astype(np.int64), low, width, share, True)


def written_out(spread, cell):
    """Return the share of every place of a cell, exactly; None is the missing value."""
    found = {}
    for which, low, width, share in zip(spread.cell, spread.low, spread.width, spread.share, strict=True):
        if which == cell:
            for place in range(int(low), int(low + width)):
                found[place] = found.get(place, Fraction(0)) + Fraction(float(share)) / int(width)
    if spread.missing[cell]:
        found[None] = Fraction(float(spread.missing[cell]))
    return found


def distribution(spread):
    """Return the mass of every place over the rows that say something."""
    found = {}
    for cell in spread.rows.tolist():
        if spread.is_informative[cell]:
            for place, share in written_out(spread, cell).items():
                found[place] = found.get(place, Fraction(0)) + share
    total = sum(found.values())
    return {place: share / total for place, share in found.items()} if total else {}


def values_of(spread):
    """Return places and their weights, without the missing value."""
    found = {place: float(share) for place, share in distribution(spread).items() if place is not None and share}
    return list(found), list(found.values())


@given(whole_spreads(), whole_spreads())
def test_the_wasserstein_distance_is_that_of_the_places(first, second):
    (places, weights), (others, their_weights) = values_of(first), values_of(second)
    found = spreads.wasserstein(first, second)
    if not places or not others:
        assert found is None
        return
    assert found == pytest.approx(stats.wasserstein_distance(places, others, weights, their_weights), abs=1e-12)
    assert spreads.wasserstein(second, first) == pytest.approx(found, abs=1e-12)
    assert spreads.wasserstein(first, first) == 0


@given(whole_spreads(), whole_spreads())
def test_total_variation_is_half_the_differences(first, second):
    # Of categories, every run is one place.
    first, second = (made_single(each) for each in (first, second))
    ours, theirs = distribution(first), distribution(second)
    found = spreads.total_variation(first, second)
    if not ours or not theirs:
        assert found is None
        return
    expected = sum(abs(ours.get(place, 0) - theirs.get(place, 0)) for place in {*ours, *theirs}) / 2
    assert found == pytest.approx(float(expected), abs=1e-12)
    assert spreads.total_variation(first, first) == 0


def made_single(spread):
    return replace(spread, width=np.ones_like(spread.low))


@given(whole_spreads())
def test_mean_and_variance_are_those_of_the_places(spread):
    places, weights = values_of(spread)
    if not places:
        return
    total = math.fsum(weights)
    mean = math.fsum(w * x for x, w in zip(places, weights, strict=True)) / total
    variance = math.fsum(w * (x - mean) ** 2 for x, w in zip(places, weights, strict=True)) / total
    assert spreads.mean_and_variance(spread) == pytest.approx((mean, variance), abs=1e-9)


@given(st.data())
def test_the_rank_correlation_is_that_of_all_pairs_of_places(data):
    n_rows = data.draw(st.integers(1, 10))
    first, second = data.draw(whole_spreads(n_rows)), data.draw(whole_spreads(n_rows))
    joint = {}
    for a, b in zip(first.rows.tolist(), second.rows.tolist(), strict=True):
        if first.is_informative[a] and second.is_informative[b]:
            for x, p in written_out(first, a).items():
                for y, q in written_out(second, b).items():
                    if x is not None and y is not None:
                        joint[x, y] = joint.get((x, y), Fraction(0)) + p * q
    total = sum(joint.values())
    ranks = []
    for side in (0, 1):
        mass = {}
        for pair, weight in joint.items():
            mass[pair[side]] = mass.get(pair[side], Fraction(0)) + weight / total
        ranks.append({x: sum(mass[y] for y in mass if y < x) + mass[x] / 2 - Fraction(1, 2) for x in mass})
    found = spreads.rank_correlation(first, second)
    if not joint or min(len(each) for each in ranks) < 2:
        assert found is None
        return
    covariance = sum(w * ranks[0][x] * ranks[1][y] for (x, y), w in joint.items()) / total
    squares = [sum(w * ranks[side][pair[side]] ** 2 for pair, w in joint.items()) / total for side in (0, 1)]
    assert found == pytest.approx(float(covariance) / math.sqrt(float(squares[0] * squares[1])), abs=1e-9)


def of_numbers(numbers, widths=None):
    """Return a column without gaps, a cell for every row."""
    low = np.array(numbers, dtype=np.float64)
    width = np.zeros(len(low)) if widths is None else np.array(widths, dtype=np.float64)
    n, told = len(low), np.ones(len(low), dtype=bool)
    return Spread(np.arange(n, dtype=np.int32), told, np.zeros(n), np.arange(n), low, width, np.ones(n), False)


floats = st.lists(st.floats(-10, 10, allow_subnormal=False), min_size=2, max_size=9)


@given(floats, floats)
def test_single_numbers_are_as_far_apart_as_scipy_says(first, second):
    found = spreads.wasserstein(of_numbers(first), of_numbers(second))
    assert found == pytest.approx(stats.wasserstein_distance(first, second), abs=1e-9)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=2, max_size=9))
def test_ranks_of_single_numbers_are_those_of_scipy(pairs):
    first, second = zip(*pairs, strict=True)
    found = spreads.rank_correlation(of_numbers(first), of_numbers(second))
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(stats.spearmanr(first, second).statistic, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 4)), min_size=1, max_size=5), floats)
def test_intervals_of_numbers_are_many_numbers(runs, others):
    """A run is nearly a thousand numbers in the middle of its thousandths."""
    low, width = (np.array(each, dtype=np.float64) for each in zip(*runs, strict=True))
    fine = low[:, None] + width[:, None] * (np.arange(1000) + 0.5) / 1000
    found = spreads.wasserstein(of_numbers(low, width), of_numbers(others))
    assert found == pytest.approx(stats.wasserstein_distance(fine.ravel(), others), abs=5e-3)
    assert spreads.mean_and_variance(of_numbers(low, width)) == pytest.approx((fine.mean(), fine.var()), abs=1e-4)


def test_a_narrow_interval_weighs_what_it_weighs_beside_a_wide_one():
    narrow, wide = of_numbers([0.0, 0.5], [1e-9, 0.0]), of_numbers([0.0, 0.5], [1.0, 0.0])
    assert spreads.wasserstein(narrow, wide) == pytest.approx(0.25, abs=1e-6)


def test_bins_hold_what_lies_between_their_edges():
    """Places 0 to 5 and 4, in bins below 2, from 2 to below 4 and from 4 on; half of the second cell is missing."""
    spread = made([("runs", [(0, 6)]), ("half", [(4, 1)]), ("missing", [(0, 1)])], [0, 1, 2])
    shares = spreads.shares_by_bin(spread, np.array([2.0, 4.0]))
    assert shares[0] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert shares[1:].tolist() == [[0, 0, 0.5, 0.5], [0, 0, 0, 1]]
    # An edge between two whole places belongs to neither of them.
    assert spreads.shares_by_bin(spread, np.array([1.5]))[0].tolist() == pytest.approx([1 / 3, 2 / 3, 0])


def test_numbers_in_bins():
    spread = of_numbers([0.0, 2.0, 1.0], [4.0, 0.0, 2.0])
    assert spreads.shares_by_bin(spread, np.array([2.0])).tolist() == [[0.5, 0.5, 0], [0, 1, 0], [0.5, 0.5, 0]]


def test_shares_by_value_leave_other_values_out():
    spread = made([("runs", [(0, 1), (3, 1)]), ("half", [(2, 1)])], [0, 1])
    assert spreads.shares_by_value(spread, np.array([0, 2])).tolist() == [[0.5, 0, 0], [0, 0.5, 0.5]]


def test_the_middle_of_a_cell_is_nothing_where_it_says_nothing():
    spread = made([("runs", [(0, 4)]), ("star", [(0, 1)]), ("missing", [(0, 1)]), ("half", [(3, 1)])], [0])
    assert spreads.mean_of_cells(spread)[[0, 3]].tolist() == [1.5, 3.0]
    assert np.isnan(spreads.mean_of_cells(spread)[[1, 2]]).all()


@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=2, max_size=4))
def test_cramers_v_is_that_of_chi_squared(rows):
    table = np.array(rows, dtype=np.float64)
    filled = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    found = spreads.cramers_v(table)
    if min(filled.shape) < 2:
        assert found is None
        return
    chi2 = stats.chi2_contingency(filled, correction=False).statistic
    # The square root makes much of what rounding leaves of 0.
    assert found == pytest.approx(math.sqrt(chi2 / filled.sum() / (min(filled.shape) - 1)), abs=1e-7)


def test_no_rows_have_no_distance():
    empty = made([("runs", [(0, 1)])], [])
    assert spreads.total_variation(empty, empty) is None
    assert spreads.wasserstein(empty, empty) is None
    assert spreads.rank_correlation(empty, empty) is None
    assert empty.untold_rate == 0
