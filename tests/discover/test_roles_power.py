"""Distinguishing power: the slow twin from the definition, its laws, and columns that say the same."""

import itertools
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given

from hushtable.discover.roles.decision import column_orders, entropy, find_twins, mean_gains
from hushtable.tables.table import Table
from strategies import counted_tables


def bits_known(table, columns):
    """Return log2 of all records less the mean log2 of the class that a record is in."""
    classes = Counter()
    for row in range(table.n_rows):
        classes[tuple(table.codes[column, row] for column in columns)] += int(table.counts[row])
    n_records = sum(classes.values())
    return sum(size * (math.log2(n_records) - math.log2(size)) for size in classes.values()) / max(1, n_records)


def slow_gains(table, tried):
    by_name = sorted(range(len(table.names)), key=lambda place: table.names[place])
    gains = [0.0] * len(by_name)
    for order in tried:
        for place, column in enumerate(order):
            before = [by_name[each] for each in order[:place]]
            gain = bits_known(table, [*before, by_name[column]]) - bits_known(table, before)
            gains[by_name[column]] += gain / len(tried)
    return gains


@given(counted_tables(max_columns=4))
def test_mean_gains_are_shapley_values(table):
    every_order = list(itertools.permutations(range(len(table.names))))
    assert mean_gains(table) == pytest.approx(slow_gains(table, every_order), abs=1e-9)


@given(counted_tables(max_columns=7))
def test_mean_gains_are_those_of_the_orders_looked_at(table):
    gains = mean_gains(table)
    assert gains == pytest.approx(slow_gains(table, column_orders(len(table.names))), abs=1e-9)
    assert gains.sum() == pytest.approx(bits_known(table, range(len(table.names))), abs=1e-9)
    assert (gains > -1e-9).all()


@pytest.mark.parametrize("n_columns", [0, 1, 4, 5, 12, 40])
def test_every_column_stands_at_every_place_as_often(n_columns):
    tried = np.array(column_orders(n_columns))
    assert (np.sort(tried, axis=1) == np.arange(n_columns)).all()
    for place in range(n_columns):
        assert len(set(np.bincount(tried[:, place], minlength=n_columns))) == 1


@given(counted_tables(max_columns=6))
def test_order_of_rows_and_columns_changes_no_bit(table):
    rows = np.random.default_rng(0).permutation(table.n_rows)
    turned = table.take(rows).select(table.names[::-1])
    assert mean_gains(turned)[::-1].tolist() == mean_gains(table).tolist()


def test_entropy_of_nothing_is_nothing():
    assert entropy(np.array([], dtype=np.int64)) == entropy(np.array([0, 5])) == 0
    assert entropy(np.array([2, 2, 4])) == 1.5


def test_twins_are_one_to_one():
    codes = [0, 1, 2, 1, None] * 20
    table = Table.encode(
        pl.DataFrame(
            {
                "b": codes,
                "a": [None if x is None else "xyz"[x] for x in codes],
                "coarser": [None if x is None else x // 2 for x in codes],
                "filled": [9 if x is None else 5 - x for x in codes],
                "key": range(100),
                "number": range(100, 0, -1),
                "flat": [1] * 100,
                "level": [2] * 100,
            }
        )
    )
    assert find_twins(table, [(0.0, name) for name in table.names]) == {"b": "a", "filled": "a"}
    assert find_twins(table, [(float(name != "b"), name) for name in table.names]) == {"a": "b", "filled": "b"}


def test_few_records_have_no_twins():
    table = Table.encode(pl.DataFrame({"a": [1, 2] * 14, "b": ["x", "y"] * 14}))
    assert find_twins(table, [(0.0, "a"), (0.0, "b")]) == {}
