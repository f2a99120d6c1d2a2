"""The tree of pairs of columns, and what it expects of sample uniques."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from hushtable.risk.population import SampleClasses, chow_liu, estimate_tree_risk
from hushtable.tables.partition import Partition
from hushtable.tables.table import Table
from strategies import draws
from twins import naive_population as naive


@st.composite
def tables(draw):
    """Columns of codes with missing ones, and a count for each row."""
    n_columns, n_rows = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    cells = st.lists(st.integers(-1, 2), min_size=n_rows, max_size=n_rows)
    codes = draw(st.lists(cells, min_size=n_columns, max_size=n_columns))
    return codes, draw(st.lists(st.integers(1, 9), min_size=n_rows, max_size=n_rows))


@given(tables())
@settings(max_examples=draws(60))
def test_the_tree_is_that_of_the_slow_twin(table):
    codes, counts = table
    found = chow_liu(np.array(codes, dtype=np.int32), [3] * len(codes), np.array(counts))
    edges, weight, shares = naive.tree(codes, counts)
    assert found.log_shares == pytest.approx(shares(found.edges), abs=1e-9)
    # Ties between edges may fall either way, the sum of their information may not.
    every = {edge: naive.tree([codes[a] for a in edge], counts)[1] for edge in found.edges}
    assert sum(every.values()) == pytest.approx(weight, abs=1e-9)
    assert len(found.edges) == len(edges)


def test_a_chain_of_columns_is_found_and_its_shares_are_exact():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 20_000)
    b = (a + (rng.random(20_000) < 0.2)) % 3
    c = (b + (rng.random(20_000) < 0.3)) % 3
    noise = rng.integers(0, 4, 20_000)
    codes = np.array([a, c, noise, b], dtype=np.int32)
    found = chow_liu(codes, [3, 3, 4, 3], np.ones(20_000, dtype=np.int64))
    assert found.edges == ((0, 3), (1, 3))
    wanted = np.log((1 / 3) * np.where(a == b, 0.8, 0.2) * np.where(b == c, 0.7, 0.3) / 4)
    assert found.log_shares == pytest.approx(wanted, abs=0.15)


def test_the_expected_uniques_are_those_of_a_population_that_fits():
    """Independent columns: the tree finds no ties, and its Poisson model is right."""
    rng = np.random.default_rng(1)
    rows = np.array([rng.choice(10, 40_000, p=weights / weights.sum()) for weights in rng.exponential(size=(5, 10))])
    population = Partition.from_table(Table.encode(pl.DataFrame(rows.T, schema=list("abcde"))), list("abcde"))
    people = population.sizes[population.labels]
    drawn = rng.choice(40_000, 4_000, replace=False)
    _, first, counts = np.unique(rows[:, drawn], axis=1, return_index=True, return_counts=True)
    codes, unique, classes = (
        rows[:, drawn[first]].astype(np.int32),
        counts == 1,
        SampleClasses.from_sizes(counts, 40_000),
    )
    found = estimate_tree_risk(chow_liu(codes, [10] * 5, counts).log_shares, unique, classes)
    others = people[drawn[first]][unique]
    assert found.tau1 == pytest.approx((others == 1).sum(), rel=0.15)
    assert found.tau2 == pytest.approx((1 / others).sum(), rel=0.05)
    assert found.uniqueness == pytest.approx((people == 1).mean(), rel=0.15)
    # Those with few expected to share their values are those with few who do.
    assert others[found.nu < np.median(found.nu)].mean() < others[found.nu > np.median(found.nu)].mean()


def test_figures_by_hand():
    classes = SampleClasses.from_sizes([1, 1, 2], 8)
    found = estimate_tree_risk(np.log([0.25, 0.5, 0.25]), np.array([True, True, False]), classes)
    assert found.nu == pytest.approx([1.0, 2.0])
    assert found.tau1 == pytest.approx(math.exp(-1) + math.exp(-2))
    assert found.tau2 == pytest.approx(1 - math.exp(-1) + (1 - math.exp(-2)) / 2)
    assert found.uniqueness == pytest.approx(found.tau1 / 4)


def test_the_sample_that_is_the_population():
    found = estimate_tree_risk(np.log([0.5, 0.5]), np.array([True, True]), SampleClasses.from_sizes([1, 1], 2))
    assert (found.tau1, found.tau2, found.uniqueness) == (2, 2, 1)


def test_shares_below_the_smallest_number_are_no_error():
    found = estimate_tree_risk(np.array([-800.0]), np.array([True]), SampleClasses.from_sizes([1], 1e9))
    assert (found.tau1, found.tau2) == (1, 1)


def test_no_uniques():
    found = estimate_tree_risk(np.array([0.0]), np.array([False]), SampleClasses.from_sizes([3], 30))
    assert (found.nu.tolist(), found.tau1, found.tau2, found.uniqueness) == ([], 0, 0, 0)
