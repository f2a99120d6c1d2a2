"""Lazy frames of polars and DuckDB: collapsed and published as the eager path would."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import duckdb
import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from engine_tables import assert_same, frames, of_engine, published, slowly_published, texts
from hypothesis import given

import hushtable as ht
from hushtable.engines import is_lazy, lazy
from hushtable.io.frames import read
from hushtable.release.origin import PublishedCells
from hushtable.release.pseudonyms import pseudonymize

KEY = bytes(range(32))
PEOPLE = pl.DataFrame({"age": [31, 34, 31, None], "job": ["cook", None, "cook", "clerk"], "note": ["a", "b", "c", "d"]})


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        opened.execute("SET TimeZone = 'Europe/Berlin'")
        yield opened


@pytest.fixture(params=["polars", "duckdb"])
def engine(request, connection):
    """Return a function that hands a frame to an engine, with what its session is."""
    if request.param == "polars":
        return lambda frame: (frame.lazy(), None)
    return lambda frame: (connection.from_arrow(frame.to_arrow()), connection)


@pytest.fixture
def people(engine):
    return lazy.open_lazy(*engine(PEOPLE))


def collected(native) -> pl.DataFrame:
    return native.collect() if isinstance(native, pl.LazyFrame) else pl.from_arrow(native.to_arrow_table())


def cells_of(opened, names, columns, *, leaves_out=()) -> PublishedCells:
    keys = opened.collapse(names).native
    rows = np.array([place not in leaves_out for place in range(keys.height)])
    return PublishedCells(keys, keys, rows, tuple(columns), None)


@given(frame=frames())
def test_polars_collapses_to_the_columns_of_the_eager_frame(frame):
    assert_same(ht.collapse(frame.lazy(), frame.columns), frame)


@given(frame=frames())
def test_duckdb_collapses_to_the_columns_of_the_eager_frame(connection, frame):
    relation = connection.from_arrow(frame.to_arrow())
    assert_same(ht.collapse(relation, frame.columns, session=connection), of_engine(frame))


@given(frame=frames(), data=st.data())
def test_polars_publishes_what_a_slow_twin_does(frame, data):
    check_published(frame, lazy.open_lazy(frame.lazy()), data)


@given(frame=frames(), data=st.data())
def test_duckdb_publishes_what_a_slow_twin_does(connection, frame, data):
    frame = of_engine(frame)
    check_published(frame, lazy.open_lazy(connection.from_arrow(frame.to_arrow()), connection), data)


def check_published(frame, opened, data):
    judged = data.draw(st.lists(st.sampled_from(frame.columns), min_size=1, unique=True))
    cells = data.draw(published(frame, opened.collapse(judged).native))
    expected = sorted(slowly_published(frame, cells).rows())
    native = collected(opened.publish_lazily(cells))
    assert tuple(native.columns) == cells.columns
    assert texts(native) == expected
    batches = [pl.from_arrow(batch) for batch in opened.publish_batches(cells)]
    assert sorted(row for batch in batches for row in texts(batch)) == expected
    counted = opened.collapse(cells.columns, cells)
    assert counted.n_records == len(expected)
    assert counted.n_rows == native.with_columns(pl.selectors.float().fill_nan(None) + 0.0).unique().height


def test_rows_come_sorted_whatever_their_order(engine):
    backwards = lazy.open_lazy(*engine(PEOPLE[::-1])).collapse(["age", "job"])
    frame = lazy.open_lazy(*engine(PEOPLE)).collapse(["age", "job"])
    assert frame.native.rows() == [(None, "clerk"), (31, "cook"), (34, None)] == backwards.native.rows()
    assert frame.counts.tolist() == [1, 2, 1] == backwards.counts.tolist()


def test_anonymizing_the_collapsed_table_loses_as_much(engine):
    frame = ht.datasets.people(n=300, seed=1)
    names = ["birth_date", "postcode", "sex", "diagnosis"]
    native, session = engine(frame)
    asked = {
        "quasi_identifiers": names[:3],
        "sensitive": ["diagnosis"],
        "models": [ht.KAnonymity(3), ht.DistinctLDiversity(2, "diagnosis")],
    }
    apart = ht.anonymize(ht.collapse(native, names, session=session), **asked)
    assert apart.loss == pytest.approx(ht.anonymize(frame.select(names), **asked).loss, abs=1e-12)


def test_missing_keys_nan_and_zeros_meet_their_rows(engine):
    frame = pl.DataFrame({"x": [None, float("nan"), -0.0, 0.0], "y": [None, None, "a", "a"], "z": [1, 2, 3, 4]})
    opened = lazy.open_lazy(*engine(frame))
    keys = opened.collapse(["x", "y"]).native
    assert keys.rows() == [(None, None), (0.0, "a")]
    cells = PublishedCells(
        keys, pl.DataFrame({"x": ["*", "0"], "y": ["*", "a"]}), np.ones(2, dtype=bool), ("z", "x", "y"), None
    )
    rows = [(1, "*", "*"), (2, "*", "*"), (3, "0", "a"), (4, "0", "a")]
    assert sorted(collected(opened.publish_lazily(cells)).rows()) == rows


def test_pseudonyms_are_those_of_the_eager_frame(people):
    pseudonyms = ht.Pseudonyms(("note", "job"), KEY)
    cells = replace(cells_of(people, ["age", "job"], ["note", "age", "job"]), pseudonyms=pseudonyms)
    expected = pseudonymize(read(PEOPLE), pseudonyms).native.select(cells.columns)
    assert texts(collected(people.publish_lazily(cells))) == texts(expected)
    assert people.collapse(["job"], cells).n_rows == 3


def test_a_column_that_is_not_published_is_in_no_batch(people):
    cells = cells_of(people, ["age"], ["job"], leaves_out=[0])
    (batch,) = people.publish_batches(cells)
    assert batch.column_names == ["job"]
    assert sorted(batch["job"].to_pylist(), key=str) == [None, "cook", "cook"]


def test_categories_of_records_that_are_left_out_are_not_remembered():
    frame = pl.DataFrame({"x": [1, 2], "y": pl.Series(["kept", "secret"], dtype=pl.Enum(["kept", "secret"]))})
    opened = lazy.open_lazy(frame.lazy())
    cells = cells_of(opened, ["x"], ["x", "y"], leaves_out=[1])
    assert opened.publish_lazily(cells).collect_schema()["y"] == pl.String
    assert all("dictionary" not in str(batch.schema) for batch in opened.publish_batches(cells))
    whole = cells_of(opened, ["x"], ["x", "y"])
    assert opened.publish_lazily(whole).collect_schema() == frame.schema


def test_categories_in_lists_and_structs_are_not_remembered_either():
    inner = pl.Enum(["a", "canary"])
    kept = {"list": [["a"], ["canary"]], "struct": [{"x": "a"}, {"x": "canary"}]}
    schema = {"list": pl.List(inner), "struct": pl.Struct({"x": inner})}
    table = pl.DataFrame({"age": [1, 2], **kept}, schema={"age": pl.Int64, **schema})
    keys = pl.DataFrame({"age": [1, 2]})
    cells = PublishedCells(keys, keys.cast(pl.String), np.array([True, False]), ("age", "list", "struct"))
    published = lazy.open_lazy(table.lazy()).publish_lazily(cells)
    assert "canary" not in str(published.collect_schema())
    assert published.collect().rows() == [("1", ["a"], {"x": "a"})]


def test_some_rows_come_as_they_are(people):
    head = people.head(2)
    assert head.columns == people.names == tuple(PEOPLE.columns)
    assert head.n_rows == 2
    assert head.counts is None
    assert people.inputs == ()


def test_a_record_that_no_pass_saw_is_an_error_and_is_not_published(people):
    cells = cells_of(people, ["age"], ["age", "note"])
    fewer = PublishedCells(cells.keys[1:], cells.published[1:], cells.is_published[1:], cells.columns, None)
    for ask in (lambda: people.collapse(["age"], fewer), lambda: list(people.publish_batches(fewer))):
        with pytest.raises(ht.InputError, match="1 records or more hold what no earlier pass saw") as error:
            ask()
        assert "write it to a file or a table first" in str(error.value)
    assert collected(people.publish_lazily(fewer)).height == 3


def test_passes_that_see_other_numbers_of_records_are_an_error(connection):
    connection.execute("CREATE OR REPLACE TABLE growing AS SELECT 1 AS x")
    opened = lazy.open_lazy(connection.table("growing"), connection)
    cells = cells_of(opened, ["x"], ["x"])
    connection.execute("INSERT INTO growing VALUES (1)")
    for ask in (lambda: opened.collapse(["x"]), lambda: list(opened.publish_batches(cells))):
        with pytest.raises(ht.InputError, match="the input changed while it was read: 1 records, then 2"):
            ask()


def test_a_polars_query_with_luck_is_an_error():
    sizes = iter(range(1, 9))
    query = pl.LazyFrame({"x": [1] * 9}).map_batches(lambda frame: frame.head(next(sizes)), schema={"x": pl.Int64})
    with pytest.raises(ht.InputError, match="the input changed"):
        ht.collapse(query, ["x"])


def test_rows_of_a_map_that_are_equal_are_an_error(people):
    cells = cells_of(people, ["age"], ["age"])
    twice = PublishedCells(
        pl.concat([cells.keys] * 2), pl.concat([cells.keys] * 2), np.ones(6, dtype=bool), ("age",), None
    )
    with pytest.raises(ht.InputError, match="4 records, then 8"):
        people.collapse(["age"], twice)


def test_too_many_distinct_rows_are_refused_before_any_is_pulled(engine, monkeypatch):
    opened = lazy.open_lazy(*engine(pl.DataFrame({"wide": range(2000), "narrow": [1] * 2000})))
    monkeypatch.setattr(opened.engine, "pulled", None, raising=False)
    with pytest.raises(ht.InputError, match=r"the widest 'wide' \(about [0-9,]+ values\), 'narrow' \(about 1") as error:
        opened.collapse(["narrow", "wide"], most_rows=1000)
    assert "a grid for numbers" in str(error.value)


def test_more_rows_than_memory_holds_are_refused(people, monkeypatch):
    monkeypatch.setattr("hushtable.search.budget.free_memory", lambda: 100)
    with pytest.raises(ht.InputError, match="distinct rows of 1 columns, the widest 'age'") as error:
        people.collapse(["age"])
    assert "a machine with more memory" in str(error.value)


def test_the_estimate_is_near(engine):
    frame = pl.DataFrame({"x": [*range(20_000)] * 2, "y": [None, 1] * 20_000})
    opened = lazy.open_lazy(*engine(frame))
    n_rows, n_records = opened.engine.estimate_rows(opened.data.to_native())
    n_x, n_y = opened.engine.estimate_widths(opened.data.to_native())
    assert n_records == 40_000
    assert 0.8 < n_rows / 20_000 < 1.2
    assert 0.8 < n_x / 20_000 < 1.2
    assert n_y in (1, 2)


def test_a_relation_of_another_connection_is_told_at_once(connection):
    relation = connection.sql("SELECT 1 AS x")
    with duckdb.connect() as other:
        for session in (None, other, connection.cursor(), "memory"):
            with pytest.raises(ht.InputError, match="belongs to another connection") as error:
                ht.collapse(relation, ["x"], session=session)
            assert "pass session=" in str(error.value)


def test_a_relation_of_the_default_connection_needs_no_session():
    assert ht.collapse(duckdb.sql("SELECT 1 AS x"), ["x"]).n_records == 1


def test_types_that_only_duckdb_has(connection):
    relation = connection.sql(
        "SELECT 5::HUGEINT AS large, 'b'::ENUM ('b', 'a') AS word, uuid() AS id, TIMESTAMP_S '2000-01-01 00:00:01' AS s"
    )
    table = ht.collapse(relation, relation.columns, session=connection)
    assert [column.kind for column in table.columns] == ["integer", "category", "category", "datetime"]
    assert table.columns[3].texts() == ["2000-01-01 00:00:01"]


def test_a_type_that_cannot_be_grouped_is_named(engine):
    frame = pl.DataFrame({"x": [1], "list": [[1]], "bytes": [b"a"]})
    opened = lazy.open_lazy(*engine(frame))
    with pytest.raises(ht.ColumnError, match="columns 'list', 'bytes' have types that cannot be grouped"):
        opened.collapse(frame.columns)
    cells = cells_of(opened, ["x"], frame.columns)
    assert collected(opened.publish_lazily(cells)).rows() == frame.rows()


def test_what_an_engine_says_of_cells_is_not_repeated(connection):
    relation = connection.sql("SELECT CAST(x AS INTEGER) AS x FROM (VALUES ('17'), ('a secret')) AS t(x)")
    with pytest.raises(ht.InputError, match="DuckDB failed: ConversionException") as error:
        ht.collapse(relation, ["x"], session=connection)
    assert "secret" not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__


def test_what_polars_says_of_cells_is_not_repeated():
    query = pl.LazyFrame({"x": ["17", "a secret"]}).select(pl.col("x").cast(pl.Int64))
    with pytest.raises(ht.InputError, match="polars failed: InvalidOperationError") as error:
        ht.collapse(query, ["x"])
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("columns", "told"),
    [(["agee"], "did you mean 'age'"), ([], "no column"), ("age", "pass a list"), (["age"] * 2, "more than once")],
)
def test_columns_are_named_rightly(people, columns, told):
    with pytest.raises(ht.InputError, match=told):
        people.collapse(columns)


def test_doubled_columns_are_an_error(connection):
    with pytest.raises(ht.ColumnError, match="several columns 'a'"):
        ht.collapse(connection.sql("SELECT 1 AS a, 2 AS a"), ["a"], session=connection)


@pytest.mark.parametrize("data", [PEOPLE, "people.csv", None])
def test_what_is_not_lazy_is_an_error(data):
    assert not is_lazy(data)
    with pytest.raises(ht.InputError, match=f"object of type {type(data).__name__}"):
        ht.collapse(data, ["age"])


def test_lazy_frames_are_known_without_their_libraries():
    script = """
import sys
import hushtable as ht
import polars as pl
from hushtable.engines import is_lazy
assert is_lazy(pl.LazyFrame()) and not is_lazy(pl.DataFrame()) and not is_lazy("people.csv")
ht.collapse(pl.LazyFrame({"x": [1]}), ["x"])
assert not {"duckdb", "pyspark"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_only_spark_writes_by_itself(people, tmp_path):
    with pytest.raises(ht.InputError, match="does not write by itself"):
        people.write(cells_of(people, ["age"], ["age"]), tmp_path)


def test_a_connection_answers_again_after_some_batches(connection):
    cells = PublishedCells(pl.DataFrame({"y": [1]}), pl.DataFrame(), np.ones(1, dtype=bool), ("x",), None)
    opened = lazy.open_lazy(connection.sql("SELECT range AS x, 1 AS y FROM range(300000)"), connection)
    batches = opened.publish_batches(cells)
    assert next(batches).num_rows < 300_000
    batches.close()
    assert opened.collapse(["y"]).counts.tolist() == [300_000]
