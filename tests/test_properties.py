"""Laws that hold for every table and every method."""

import json
import re
from collections import Counter
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable import DistinctLDiversity, KAnonymity, Mondrian, Partition, Table
from hushtable.io import frames
from hushtable.kernels import judge
from hushtable.tables.partition import count_by_value
from twins import naive

COLUMNS = {
    "age": (pl.Int64, [-40, -3, 0, 7, 8, 31]),
    "dose": (pl.Float64, [-1.5, 0.25, 1.25, 1.75, 30.0]),
    "city": (pl.String, ["bonn", "graz", "linz, am", "[1, 2]"]),
    "sex": (pl.String, ["f", "m"]),
    "same": (pl.String, ["x"]),
}
SICKNESS = ["flu", "gout", "mumps"]

METHODS = pytest.mark.parametrize(
    "method",
    [Mondrian(), Mondrian(recoding="cut"), Mondrian(cut="median"), Mondrian(cut="median", recoding="cut")],
    ids=["gain tight", "gain cut", "median tight", "median cut"],
)


class People(NamedTuple):
    """A frame with a row number and a sensitive column, and models that it can satisfy."""

    frame: pl.DataFrame
    quasi_identifiers: list[str]
    models: list[ht.PrivacyModel]


@st.composite
def people(draw, max_rows=12, columns=tuple(COLUMNS)):
    names = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=3, unique=True))
    n_rows = draw(st.integers(1, max_rows) | st.just(max_rows))
    series = [pl.Series("row", range(n_rows))]
    for name, (dtype, values) in {name: COLUMNS[name] for name in names}.items():
        cell = st.sampled_from([*values, *values, None] if draw(st.booleans()) else values)
        series.append(pl.Series(name, draw(st.lists(cell, min_size=n_rows, max_size=n_rows)), dtype=dtype))
    sickness = draw(st.lists(st.sampled_from([*SICKNESS, None]), min_size=n_rows, max_size=n_rows))
    frame = pl.DataFrame([*series, pl.Series("sickness", sickness, dtype=pl.String)])
    models = [KAnonymity(min(n_rows, draw(st.sampled_from([1, 2, 2, 3, 4]))))]
    n_distinct = frame["sickness"].drop_nulls().n_unique()
    if n_distinct and draw(st.booleans()):
        models.append(DistinctLDiversity(draw(st.integers(1, n_distinct)), "sickness"))
    return People(frame, names, models)


def protected(given_people, data=None, **options):
    data = given_people.frame if data is None else data
    models = options.pop("models", given_people.models)
    names = options.pop("quasi_identifiers", given_people.quasi_identifiers)
    return ht.anonymize(data, quasi_identifiers=names, models=models, **options)


def cells_of(release, names):
    """Return some columns of a release row by row, whatever the dataframe library."""
    frame = frames.read(release.frame)
    return list(zip(*(frame.column(name).to_list() for name in names), strict=True))


def published(release, given_people):
    return cells_of(release, ["row", *given_people.quasi_identifiers, "sickness"])


@METHODS
@given(people())
def test_releases_verify_and_lose_no_record(method, given_people):
    release = protected(given_people, method=method)
    assert release.verify().raise_if_failed().passed
    assert release.partition.n_records == release.partition.sizes.sum() == given_people.frame.height
    assert (release.partition.labels >= 0).all()
    assert 0.0 <= release.loss <= 1.0
    assert release.frame.height == given_people.frame.height
    assert release.frame.columns == given_people.frame.columns
    untouched = ["row", "sickness"]
    assert release.frame.select(untouched).equals(given_people.frame.select(untouched))


@METHODS
@given(people())
def test_every_record_is_inside_its_published_cell(method, given_people):
    release = protected(given_people, method=method)
    for name in given_people.quasi_identifiers:
        for cell, value in zip(release.frame[name], given_people.frame[name], strict=True):
            assert holds(cell, value), (cell, value)


@METHODS
@given(people(), st.randoms(use_true_random=False))
def test_permuting_rows_changes_nothing(method, given_people, random):
    order = list(range(given_people.frame.height))
    random.shuffle(order)
    release = protected(given_people, method=method)
    shuffled = protected(given_people, given_people.frame[order], method=method)
    assert sorted(published(shuffled, given_people)) == sorted(published(release, given_people))
    assert shuffled.loss == release.loss


@METHODS
@given(people(), st.randoms(use_true_random=False))
def test_permuting_the_columns_of_the_data_changes_nothing(method, given_people, random):
    names = given_people.frame.columns
    random.shuffle(names)
    release = protected(given_people, method=method)
    shuffled = protected(given_people, given_people.frame.select(names), method=method)
    assert shuffled.frame.columns == names
    assert published(shuffled, given_people) == published(release, given_people)


@METHODS
@given(people())
def test_permuting_the_quasi_identifiers_may_only_break_ties(method, given_people):
    # Of cuts that gain the same, the earlier column's is taken: the classes may differ, what is promised may not.
    names = given_people.quasi_identifiers[::-1]
    release = protected(given_people, method=method, quasi_identifiers=names)
    assert release.verify().passed
    assert release.partition.n_records == given_people.frame.height
    if len(names) == 1:
        assert release.frame.equals(protected(given_people, method=method).frame)


@METHODS
@given(people(), st.integers(0, 3))
def test_a_constant_column_changes_no_class_wherever_it_stands(method, given_people, place):
    names = list(given_people.quasi_identifiers)
    names.insert(place, "constant")
    release = protected(given_people, method=method)
    wider = protected(
        given_people, given_people.frame.with_columns(constant=pl.lit("x")), method=method, quasi_identifiers=names
    )
    assert wider.partition.labels.tolist() == release.partition.labels.tolist()


@METHODS
@given(people())
def test_collapsing_to_counts_changes_nothing(method, given_people):
    names = [*given_people.quasi_identifiers, "sickness"]
    collapsed, _ = Table.encode(given_people.frame, names).collapse()
    release = protected(given_people, method=method)
    counted = protected(given_people, collapsed, method=method)
    rows = counted.frame.expand().select(names).rows()
    assert Counter(rows) == Counter(cells_of(release, names))
    assert counted.loss == release.loss
    assert counted.quality.to_dict() == release.quality.to_dict()
    assert counted.verify().passed


@METHODS
@given(people())
def test_a_table_gives_a_table_with_the_cells_of_the_frame(method, given_people):
    release = protected(given_people, method=method)
    from_table = protected(given_people, Table.encode(given_people.frame), method=method)
    assert isinstance(from_table.frame, Table)
    assert from_table.frame.names == tuple(given_people.frame.columns)
    assert from_table.frame.decode().rows() == release.frame.rows()
    assert from_table.to_dict() | {"trace": None} == release.to_dict() | {"trace": None}


@METHODS
@given(people())
def test_pandas_polars_and_pyarrow_give_the_same_cells(method, given_people):
    release = protected(given_people, method=method)
    index = [f"p{row}" for row in range(given_people.frame.height)]
    as_pandas = pd.DataFrame(given_people.frame.to_dict(as_series=False), index=index)
    from_pandas = protected(given_people, as_pandas, method=method)
    from_arrow = protected(given_people, given_people.frame.to_arrow(), method=method)
    assert isinstance(from_pandas.frame, pd.DataFrame)
    assert isinstance(from_arrow.frame, pa.Table)
    assert published(from_pandas, given_people) == published(release, given_people)
    assert published(from_arrow, given_people) == published(release, given_people)
    assert from_pandas.frame.index.tolist() == index
    assert from_pandas.loss == from_arrow.loss == release.loss


def test_declared_orders_mean_the_same_in_pandas_and_polars():
    grades, values = ["low", "middle", "high"], ["low", "high", "middle", "low", "high", "high"]
    in_polars = pl.DataFrame({"grade": pl.Series(values, dtype=pl.Enum(grades))})
    in_pandas = pd.DataFrame({"grade": pd.Categorical(values, categories=grades, ordered=True)})
    kinds = [Table.encode(data).column("grade").kind for data in (in_polars, in_pandas)]
    assert kinds == ["ordered", "ordered"]


@METHODS
@given(people())
def test_every_run_gives_the_same(method, given_people):
    one, other = (protected(given_people, method=method) for _ in range(2))
    assert one.frame.equals(other.frame)
    assert one.loss == other.loss
    assert one.trace.nodes == other.trace.nodes


@METHODS
@given(people(), st.integers(2, 4))
def test_a_table_that_satisfies_the_model_loses_nothing(method, given_people, k):
    repeated = pl.concat([given_people.frame] * k)
    release = protected(given_people, repeated, method=method, models=[KAnonymity(k)])
    n_distinct = len(set(repeated.select(given_people.quasi_identifiers).rows()))
    assert release.partition.n_classes == n_distinct
    if method.recoding == "tight":
        assert release.loss == 0.0


@given(people())
def test_coarsening_never_lowers_the_smallest_class(given_people):
    table = Table.encode(given_people.frame)
    names = given_people.quasi_identifiers
    smallest = [int(Partition.from_table(table, names[:n]).sizes.min()) for n in range(len(names) + 1)]
    assert smallest == sorted(smallest, reverse=True)
    assert smallest[0] == table.n_records


@given(people(), st.data())
@pytest.mark.parametrize(
    "model",
    [KAnonymity(1), KAnonymity(3), *(DistinctLDiversity(n, "sickness") for n in (1, 2, 3))],
    ids=lambda model: f"{model.name} {getattr(model, 'k', None) or model.l}",
)
def test_models_are_monotone_where_they_say_so(model, given_people, data):
    table = Table.encode(given_people.frame)
    fine = Partition.from_table(table, given_people.quasi_identifiers)
    passed = model.passes(fine.stats(table, [model]))
    if model.monotone_coarsening:
        groups = data.draw(st.lists(st.integers(0, 2), min_size=fine.n_classes, max_size=fine.n_classes))
        merged = Partition.from_labels(np.array(groups, dtype=np.int32)[fine.labels], 3, table.counts)
        still = model.passes(merged.stats(table, [model]))
        for group in set(groups):
            if passed[np.array(groups) == group].all():
                assert still[group]
    if model.monotone_suppression:
        gone = data.draw(st.integers(0, fine.n_classes - 1))
        labels = np.where(fine.labels == gone, np.int32(-1), fine.labels)
        left = Partition.from_labels(labels, fine.n_classes, table.counts)
        others = np.arange(fine.n_classes) != gone
        assert (model.passes(left.stats(table, [model]))[others] == passed[others]).all()


@given(people(), st.integers(1, 4))
def test_a_rule_judges_as_its_model(given_people, number):
    table = Table.encode(given_people.frame)
    partition = Partition.from_table(table, given_people.quasi_identifiers)
    for model in (KAnonymity(number), DistinctLDiversity(number, "sickness")):
        stats = partition.stats(table, [model])
        rule = model.rule({name: count_by_value(table, name) for name in model.needs.sensitive})
        rules = judge.Rules(np.array([rule.kind]), np.array([0]), np.array([rule.threshold]))
        distinct = [histogram.n_distinct() for histogram in stats.histograms.values()]
        n_distinct = np.array(distinct, dtype=np.int64).reshape(len(distinct), partition.n_classes)
        judged = [
            bool(
                judge.passes(
                    rules, int(size), 0, np.zeros((1, 1), dtype=np.int64), n_distinct[:, label].copy(), np.empty(0)
                )
            )
            for label, size in enumerate(partition.sizes)
        ]
        assert judged == model.passes(stats).tolist()
        assert ((partition.sizes >= model.min_size) | ~model.passes(stats)).all()


@METHODS
@given(people())
def test_classes_and_loss_equal_those_of_the_published_cells(method, given_people):
    release = protected(given_people, method=method)
    rows = [tuple(map(str, row)) for row in release.frame.select(given_people.quasi_identifiers).rows()]
    smallest = min(naive.class_sizes(naive.classes(rows), [1] * len(rows)))
    assert smallest >= release.partition.sizes.min() >= given_people.models[0].k
    assert release.quality.discernibility == sum(int(size) ** 2 for size in release.partition.sizes)
    assert release.loss == pytest.approx(np.mean(list(release.quality.by_column.values())))


def test_two_spellings_of_one_sensitive_value_do_not_make_a_class_diverse():
    # What the verifier reads as one value the search must not count as two.
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "pay": ["1", "1.0", "1", "2"]})
    models = [KAnonymity(2), DistinctLDiversity(2, "pay")]
    release = ht.anonymize(frame, quasi_identifiers=["age"], models=models)
    assert release.verify().passed


def test_a_literal_star_in_a_sensitive_column_is_refused_or_verifies():
    # Rows with a star in every quasi-identifier and sensitive column are read as suppressed.
    frame = pl.DataFrame({"age": [1, None], "pay": ["*", "much"]})
    models = [KAnonymity(2), DistinctLDiversity(2, "pay")]
    try:
        release = ht.anonymize(frame, quasi_identifiers=["age"], models=models)
    except ht.ColumnError:
        return
    assert release.verify().passed


def holds(cell, value):
    """Tell whether a published cell allows a value, by the grammar of cells."""
    if cell is None or value is None:
        return cell == value or cell == "*" or (cell is not None and value is None and "" in json.loads(cell))
    number = r"(-?[0-9.]+)"
    if cell == "*":
        return True
    if found := re.fullmatch(rf"\[{number}, {number}([\])])", cell):
        low, high = float(found[1]), float(found[2])
        return not isinstance(value, str) and low <= value and (value < high or (found[3] == "]" and value == high))
    if found := re.fullmatch(rf"(<|>=){number}", cell):
        return value < float(found[2]) if found[1] == "<" else value >= float(found[2])
    if cell.startswith("["):
        return value in json.loads(cell)
    return cell == value if isinstance(value, str) else float(cell) == value
