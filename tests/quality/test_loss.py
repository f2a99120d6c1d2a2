"""How much a release lost, against the slow twin."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, strategies as st

from hushtable.quality.loss import _exact_sum, average_class_size, discernibility, measure_quality, set_ncp
from hushtable.tables.partition import Partition
from hushtable.tables.table import Table
from tight_recoding import tight
from twins import naive

NAMES = ("number", "rank", "group")
RANKS = ("low", "middle", "high", "top")


@st.composite
def classes(draw):
    """A counted table of a number, an ordered and a plain category, and a class for each row; -1 is suppressed."""
    n_rows = draw(st.integers(1, 12))
    cells = {
        "number": draw(st.lists(st.none() | st.integers(-9, 9), min_size=n_rows, max_size=n_rows)),
        "rank": draw(st.lists(st.none() | st.sampled_from(RANKS), min_size=n_rows, max_size=n_rows)),
        "group": draw(st.lists(st.none() | st.sampled_from("abcd"), min_size=n_rows, max_size=n_rows)),
    }
    schema = {"number": pl.Int64, "rank": pl.Enum(RANKS), "group": pl.String}
    table = Table.encode(pl.DataFrame(cells, schema=schema))
    counts = draw(st.lists(st.integers(1, 4), min_size=n_rows, max_size=n_rows))
    given_labels = draw(st.lists(st.integers(-1, 3), min_size=n_rows, max_size=n_rows))
    dense = sorted(set(given_labels) - {-1})
    labels = np.array([dense.index(label) if label >= 0 else -1 for label in given_labels], dtype=np.int32)
    return replace(table, counts=np.array(counts, dtype=np.int64)), labels, len(dense)


def naive_columns(table):
    columns = []
    for name in table.names:
        column = table.column(name)
        codes = set(table.codes[table.index(name)].tolist())
        if name == "group":
            columns.append(naive.NaiveColumn("category", None, len(codes)))
            continue
        places = [int(value) for value in column.values] if name == "number" else list(range(column.n_values))
        width = (places[-1] - places[0] or 1) if places else 1
        columns.append(naive.NaiveColumn("ordered", [(place - places[0]) / width for place in places], 0))
    return columns


@given(classes())
def test_set_ncp_of_tight_cells_is_the_slow_twin(made):
    table, labels, n_classes = made
    partition = Partition.from_labels(labels, n_classes, table.counts)
    kept = np.flatnonzero(labels >= 0)
    n_suppressed = int(table.counts[labels < 0].sum())
    rows = [tuple(table.codes[:, i].tolist()) for i in kept]
    counts = table.counts[kept].tolist()
    groups = [np.flatnonzero(labels[kept] == label).tolist() for label in range(n_classes)]
    lost = naive.set_ncp(rows, counts, naive_columns(table), groups) * sum(counts)
    found = set_ncp(tight(table, partition, NAMES), partition.sizes, n_suppressed)
    assert found == pytest.approx((lost + n_suppressed) / table.n_records)


@given(classes())
def test_measure_puts_the_figures_together(made):
    table, labels, n_classes = made
    partition = Partition.from_labels(labels, n_classes, table.counts)
    made_recoding = tight(table, partition, NAMES)
    n_suppressed = int(table.counts[labels < 0].sum())
    quality = measure_quality(made_recoding, partition.sizes, n_suppressed)
    assert tuple(quality.by_column) == NAMES
    assert quality.set_ncp == pytest.approx(sum(quality.by_column.values()) / 3)
    assert all(0 <= lost <= 1 + 1e-12 for lost in quality.by_column.values())
    assert quality.set_ncp == set_ncp(made_recoding, partition.sizes, n_suppressed)
    assert quality.discernibility == discernibility(partition.sizes, n_suppressed)
    assert quality.n_classes == n_classes
    assert quality.to_dict()["by_column"] == quality.by_column


@pytest.mark.parametrize("label", [0, -1])
def test_ends_of_the_scale(label):
    """Classes of equal rows lose nothing; suppressed records lose everything."""
    table = Table.encode(pl.DataFrame({"a": [1, 1, 1], "b": ["x", "x", "x"]}))
    labels = np.full(3, label, dtype=np.int32)
    partition = Partition.from_labels(labels, label + 1, table.counts)
    found = set_ncp(tight(table, partition, ["a", "b"]), partition.sizes, 3 * (label < 0))
    assert found == (0.0 if label == 0 else 1.0)


def test_one_class_publishes_everything():
    table = Table.encode(pl.DataFrame({"a": [1, 5, 9], "b": ["x", "y", None]}))
    partition = Partition.from_table(table, ())
    assert measure_quality(tight(table, partition, ["a", "b"]), partition.sizes).by_column == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize(
    ("cells", "lost"),
    [
        ([1, 2, 9], (2 * 1 / 8 + 0) / 3),
        ([1, 1, 9], 0.0),
        ([1, None, 9], 2 / 3),
        ([None, None, 9], 0.0),
        (["x", "y", "z"], (2 * 2 / 3 + 0) / 3),
        (["x", "y", "y"], 2 * 2 / 2 / 3),
        (["x", None, "x"], 2 * 2 / 2 / 3),
    ],
)
def test_worked_by_hand(cells, lost):
    """The first two rows are one class, the third is alone."""
    table = Table.encode(pl.DataFrame({"a": cells}))
    partition = Partition.from_labels(np.array([0, 0, 1], dtype=np.int32), 2, table.counts)
    assert set_ncp(tight(table, partition, ["a"]), partition.sizes) == pytest.approx(lost)


@given(st.lists(st.integers(1, 50), max_size=8), st.integers(0, 9))
def test_discernibility_is_the_cost_of_every_record(sizes, n_suppressed):
    total = sum(sizes) + n_suppressed
    costs = [size for size in sizes for _ in range(size)] + [total] * n_suppressed
    assert discernibility(np.array(sizes, dtype=np.int64), n_suppressed) == sum(costs)


def test_discernibility_of_very_many_records():
    """Counts are how data that outgrow one machine come in: four thousand million records squared pass 2^63."""
    assert discernibility(np.array([4 * 10**9], dtype=np.int64)) == 16 * 10**18


@pytest.mark.parametrize(("sizes", "mean"), [([], 0.0), ([4], 4.0), ([1, 2], 1.5)])
def test_average_class_size(sizes, mean):
    assert average_class_size(np.array(sizes, dtype=np.int64)) == mean


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e290, max_value=1e290)), st.randoms())
@example([], None)
@example([1e16, 1.0, -1e16], None)
@example([5e-324, 2.5e-323, -0.0, 2.2250738585072014e-308], None)
@example([0.1] * 10, None)
def test_a_sum_is_rounded_once(values, random):
    expected = math.fsum(values)
    assert _exact_sum(np.array(values)) == expected
    if random:
        random.shuffle(values)
        assert _exact_sum(np.array(values)) == expected
