"""Partition: its classes against grouping by a dictionary, and the statistics models are given."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, strategies as st

from hushtable.errors import InputError
from hushtable.models import DistinctLDiversity, KAnonymity, Needs
from hushtable.tables.partition import Partition, count_by_value
from hushtable.tables.table import Table
from twins import naive

NAMES = ("age", "sex", "job")
CELLS = st.tuples(
    st.none() | st.integers(0, 3),
    st.none() | st.sampled_from(["f", "m"]),
    st.none() | st.sampled_from(["clerk", "nurse", "smith"]),
)
COUNTED = st.lists(st.tuples(CELLS, st.integers(1, 3)), max_size=20)


def table_of(counted):
    schema = {"age": pl.Int64, "sex": pl.String, "job": pl.String}
    frame = pl.DataFrame([cells for cells, _ in counted], schema=schema, orient="row")
    encoded = Table.encode(frame)
    return Table(encoded.columns, encoded.codes, np.array([count for _, count in counted], dtype=np.int64))


def rows_of(table, columns):
    return list(zip(*(table.codes[table.index(name)].tolist() for name in columns), strict=True))


def members_of(partition):
    return [partition.rows[begin:end].tolist() for begin, end in pairwise(partition.offsets)]


@pytest.mark.parametrize("columns", [("age",), ("job", "sex"), NAMES])
@given(COUNTED)
@example([])
@example([((None, None, None), 2)])
@example([((1, "f", "nurse"), 1)] * 4)
def test_equal_rows_share_a_class(columns, counted):
    table = table_of(counted)
    partition = Partition.from_table(table, columns)
    groups = naive.classes(rows_of(table, columns))
    counts = table.counts.tolist()
    assert members_of(partition) == groups
    assert partition.sizes.tolist() == naive.class_sizes(groups, counts)
    assert partition.n_classes == len(groups)
    assert partition.n_records == sum(counts)
    assert [partition.labels[row] for members in groups for row in members] == [
        label for label, members in enumerate(groups) for _ in members
    ]


@given(COUNTED)
def test_all_columns_are_the_default(counted):
    table = table_of(counted)
    assert Partition.from_table(table).labels.tolist() == Partition.from_table(table, NAMES).labels.tolist()


@given(COUNTED)
def test_refining_equals_grouping_by_one_column_more(counted):
    table = table_of(counted)
    refined = Partition.from_table(table, ["age"]).refine(table, "job")
    assert members_of(refined) == naive.classes(rows_of(table, ["age", "job"]))


@pytest.mark.parametrize(("n_rows", "n_classes"), [(0, 0), (1, 1), (3, 1)])
def test_no_column_makes_one_class_of_whatever_there_is(n_rows, n_classes):
    partition = Partition.from_table(table_of([((1, "f", "smith"), 2)] * n_rows), ())
    assert (partition.n_classes, partition.n_records) == (n_classes, 2 * n_rows)


def test_missing_equals_only_missing():
    table = table_of([((None, "f", None), 1), ((0, "f", None), 1), ((None, "f", None), 1)])
    assert members_of(Partition.from_table(table)) == [[0, 2], [1]]


def test_rows_of_no_class_stay_out():
    table = table_of([((age, "f", None), 2) for age in (1, 2, 1, 2)])
    partition = Partition.from_labels(np.array([0, -1, 0, -1], dtype=np.int32), 1, table.counts)
    assert (partition.sizes.tolist(), partition.rows.tolist()) == ([4], [0, 2])
    assert partition.refine(table, "age").labels.tolist() == [0, -1, 0, -1]
    stats = partition.stats(table, [DistinctLDiversity(1, "age")])
    assert stats.histograms["age"].codes.tolist() == [0]
    assert stats.totals["age"].tolist() == [0, 4, 4]


@given(COUNTED)
def test_histograms_and_totals(counted):
    table = table_of(counted)
    partition = Partition.from_table(table, ["sex"])
    codes, counts = table.codes[table.index("job")].tolist(), table.counts.tolist()
    found = partition.histogram(table, "job")
    for label, members in enumerate(members_of(partition)):
        begin, end = found.offsets[label], found.offsets[label + 1]
        histogram = naive.histogram(members, counts, codes)
        entries = zip(found.codes[begin:end].tolist(), found.counts[begin:end].tolist(), strict=True)
        assert list(entries) == sorted(histogram.items())
    whole = naive.histogram(list(range(len(codes))), counts, codes)
    assert count_by_value(table, "job").tolist() == [
        whole.get(code, 0) for code in range(-1, table.column("job").n_values)
    ]


@given(COUNTED, st.integers(1, 4), st.integers(1, 3))
def test_models_judge_its_statistics_as_their_slow_twins(counted, k, diversity):
    table = table_of(counted)
    partition = Partition.from_table(table, ["sex"])
    models = [KAnonymity(k), DistinctLDiversity(diversity, "job"), DistinctLDiversity(diversity, "age")]
    stats = partition.stats(table, models)
    groups, counts = naive.classes(rows_of(table, ["sex"])), table.counts.tolist()
    sizes = naive.class_sizes(groups, counts)
    assert models[0].passes(stats).tolist() == [naive.k_anonymous(size, k) for size in sizes]
    for model in models[1:]:
        codes = table.codes[table.index(model.sensitive)].tolist()
        histograms = [naive.histogram(members, counts, codes) for members in groups]
        assert model.passes(stats).tolist() == [naive.distinct_l(each, diversity) for each in histograms]


def test_statistics_hold_only_what_the_models_need():
    table = table_of([((1, "f", "smith"), 1)])
    assert not Partition.from_table(table, ["age"]).stats(table, [KAnonymity(1)]).histograms
    stats = Partition.from_table(table, ["age"]).stats(
        table, [DistinctLDiversity(1, "job"), DistinctLDiversity(2, "job")]
    )
    assert list(stats.histograms) == list(stats.totals) == ["job"]


def test_a_model_of_the_population_is_refused():
    @dataclass(frozen=True)
    class KMap(KAnonymity):
        needs: ClassVar[Needs] = Needs(population=True)

    table = table_of([((1, "f", "smith"), 1)])
    with pytest.raises(InputError, match="population counts"):
        Partition.from_table(table).stats(table, [KMap(2)])


@pytest.mark.parametrize("name", ["labels", "sizes", "offsets", "rows"])
def test_its_arrays_are_read_only(name):
    partition = Partition.from_table(table_of([((1, "f", "smith"), 1)]))
    with pytest.raises(ValueError, match="read-only"):
        getattr(partition, name)[0] = 7


def test_its_repr_counts_and_shows_no_cell():
    assert repr(Partition.from_table(table_of([((1, "f", "smith"), 2)] * 2))) == "Partition(4 records in 1 classes)"
