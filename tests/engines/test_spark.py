"""DataFrames of Spark: as the other engines', and what Spark writes by itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from engine_tables import (
    ASKED,
    OF_SPARK,
    assert_same,
    frames,
    people as made_up,
    published,
    rows_of,
    slowly_published,
    texts,
)
from hypothesis import given, settings
from lost_executor import prepared, walking

import hushtable as ht
from command import done, run
from hushtable.anonymizers import beyond_memory, in_parts
from hushtable.engines import is_lazy, lazy
from hushtable.io.frames import read as read_frame
from hushtable.release.origin import PublishedCells
from hushtable.release.pseudonyms import pseudonymize

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

PEOPLE = pl.DataFrame({"age": [31, 34, 31, None], "job": ["cook", None, "cook", "clerk"], "note": ["a", "b", "c", "d"]})


@pytest.fixture
def people(spark):
    return lazy.open_lazy(of_spark(spark, PEOPLE))


def of_spark(spark, frame: pl.DataFrame):
    """Return a frame as Spark has it: its schema is needed where it has no rows."""
    from pyspark.sql.pandas.types import from_arrow_schema

    table = frame.to_arrow()
    return spark.createDataFrame(table, schema=from_arrow_schema(table.schema, prefer_timestamp_ntz=True))


def cells_of(opened, names, columns) -> PublishedCells:
    keys = opened.collapse(names).native
    return PublishedCells(keys, keys, np.ones(keys.height, dtype=bool), tuple(columns), None)


@settings(max_examples=10)
@given(frame=frames(kinds=OF_SPARK))
def test_spark_collapses_to_the_columns_of_the_eager_frame(spark, frame):
    assert_same(ht.collapse(of_spark(spark, frame), frame.columns), frame)


@settings(max_examples=5)
@given(frame=frames(kinds=tuple(each for each in OF_SPARK if each != "null")), data=st.data())
def test_spark_publishes_and_writes_what_a_slow_twin_does(spark, tmp_path_factory, frame, data):
    opened = lazy.open_lazy(of_spark(spark, frame))
    judged = data.draw(st.lists(st.sampled_from(frame.columns), min_size=1, unique=True))
    cells = data.draw(published(frame, opened.collapse(judged).native))
    expected = sorted(slowly_published(frame, cells).rows())
    native = pl.from_arrow(opened.publish_lazily(cells).toArrow())
    assert tuple(native.columns) == cells.columns
    assert texts(native) == expected
    assert opened.collapse(cells.columns, cells).n_records == len(expected)
    folder = tmp_path_factory.mktemp("parts")
    assert opened.write(cells, folder, 2) == len(expected)
    assert texts(read(folder)) == expected


def read(folder: Path) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(part, glob=False) for part in sorted(folder.iterdir())])


def test_a_dataframe_of_spark_is_lazy_and_has_no_batches(people):
    assert is_lazy(people.data.to_native())
    assert people.engine.writes
    assert people.head(2).n_rows == 2
    with pytest.raises(ht.InputError, match="Spark writes by itself"):
        list(people.publish_batches(cells_of(people, ["age"], ["age"])))


def test_parts_say_nothing_but_what_is_published(spark, tmp_path):
    import pyarrow.parquet as pq

    frame = of_spark(spark, pl.DataFrame({"x": [*range(100)], "gone": ["a secret"] * 100}))
    from pyspark.sql import functions

    told = frame.withColumn("x", functions.col("x").alias("x", metadata={"values": "a secret"}))
    opened = lazy.open_lazy(told)
    opened.write(cells_of(opened, ["x"], ["x"]), tmp_path, 3)
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]
    for name in names:
        assert b"secret" not in (tmp_path / name).read_bytes()
        assert b"gone" not in (tmp_path / name).read_bytes()
        assert set(pq.read_metadata(tmp_path / name).metadata) <= {
            b"org.apache.spark.version",
            b"org.apache.spark.sql.parquet.row.metadata",
        }


def test_nested_fields_say_nothing_either(spark, tmp_path):
    from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType

    inner = StructType([StructField("x", StringType(), metadata={"values": "a secret"})])
    schema = StructType([StructField("age", LongType()), StructField("s", inner), StructField("l", ArrayType(inner))])
    frame = spark.createDataFrame([(1, ("a",), [("b",)])], schema=schema)
    assert "a secret" in frame.schema.json()
    keys = pl.DataFrame({"age": [1]})
    cells = PublishedCells(keys, keys, np.ones(1, dtype=bool), ("age", "s", "l"))
    lazy.open_lazy(frame).write(cells, tmp_path)
    (part,) = tmp_path.iterdir()
    assert b"a secret" not in part.read_bytes()
    assert pl.read_parquet(part).rows() == [(1, {"x": "a"}, [{"x": "b"}])]


def test_the_order_of_the_input_is_in_no_part(spark, tmp_path):
    frame = pl.DataFrame({"x": [*range(1000)], "y": [None, 1.5] * 500})
    written = []
    for number, rows in enumerate((frame, frame[::-1], frame.sample(fraction=1, shuffle=True, seed=1))):
        opened = lazy.open_lazy(of_spark(spark, rows).repartition(number + 1))
        folder = tmp_path / str(number)
        folder.mkdir()
        opened.write(cells_of(opened, ["y"], ["x", "y"]), folder, 2)
        written.append(read(folder))
    assert written[0].equals(written[1])
    assert written[0].equals(written[2])
    assert abs(np.corrcoef(written[0]["x"], np.arange(1000))[0, 1]) < 0.2


def test_moments_keep_their_zone_in_files_and_the_session_its_settings(spark, tmp_path):
    import datetime as dt

    moment = dt.datetime(2024, 7, 1, 12, 30, 0, 123456)
    frame = pl.DataFrame({"here": [moment], "zoned": [moment.replace(tzinfo=dt.UTC)]})
    opened = lazy.open_lazy(of_spark(spark, frame))
    before = spark.conf.get("spark.sql.parquet.outputTimestampType")
    opened.write(cells_of(opened, ["here", "zoned"], ["here", "zoned"]), tmp_path)
    assert read(tmp_path).rows() == frame.rows()
    assert spark.conf.get("spark.sql.parquet.outputTimestampType") == before


def test_pseudonyms_are_those_of_the_eager_frame(people):
    pseudonyms = ht.Pseudonyms(("note", "job"), bytes(range(32)))
    cells = replace(cells_of(people, ["age", "job"], ["note", "age", "job"]), pseudonyms=pseudonyms)
    expected = pseudonymize(read_frame(PEOPLE), pseudonyms).native.select(cells.columns)
    assert texts(pl.from_arrow(people.publish_lazily(cells).toArrow())) == texts(expected)


def test_a_record_that_no_pass_saw_is_an_error_and_leaves_nothing(people, tmp_path):
    cells = cells_of(people, ["age"], ["age", "note"])
    fewer = PublishedCells(cells.keys[1:], cells.published[1:], cells.is_published[1:], cells.columns, None)
    for ask in (lambda: people.write(fewer, tmp_path), lambda: people.collapse(["age"], fewer)):
        with pytest.raises(ht.InputError, match=r"records .*hold what no earlier pass saw"):
            ask()
    assert people.publish_lazily(fewer).count() == 3
    assert list(tmp_path.iterdir()) == []


def test_a_query_that_gives_other_rows_each_time_is_an_error(spark, tmp_path):
    spark.sql("SELECT 1 AS x").write.mode("overwrite").parquet(str(tmp_path / "in"))
    opened = lazy.open_lazy(spark.read.parquet(str(tmp_path / "in")))
    cells = cells_of(opened, ["x"], ["x"])
    spark.sql("SELECT 1 AS x").write.mode("append").parquet(str(tmp_path / "in"))
    opened = replace(opened, data=lazy.open_lazy(spark.read.parquet(str(tmp_path / "in"))).data)
    (tmp_path / "out").mkdir()
    for ask in (lambda: opened.collapse(["x"]), lambda: opened.write(cells, tmp_path / "out")):
        with pytest.raises(ht.InputError, match="the input changed while it was read: 1 records, then 2"):
            ask()


def test_too_many_distinct_rows_are_refused_before_any_is_pulled(spark):
    frame = spark.range(2000).selectExpr("id AS wide", "1 AS narrow")
    with pytest.raises(ht.InputError, match=r"the widest 'wide' \(about [0-9,]+ values\)"):
        lazy.open_lazy(frame).collapse(["wide", "narrow"], most_rows=1000)


def test_what_spark_says_of_cells_is_not_repeated(spark):
    frame = spark.sql("SELECT CAST(x AS INT) AS x FROM VALUES ('17'), ('a secret') AS t(x)")
    with pytest.raises(ht.InputError, match="Spark failed: ") as error:
        ht.collapse(frame, ["x"])
    assert "secret" not in str(error.value)


def test_a_type_that_cannot_be_written_is_named(spark, tmp_path):
    opened = lazy.open_lazy(spark.sql("SELECT 1 AS x, map('a', 1) AS pairs"))
    with pytest.raises(ht.ColumnError, match="columns 'pairs' have types that Spark cannot hash"):
        opened.write(cells_of(opened, ["x"], ["pairs", "x"]), tmp_path)


def test_doubled_columns_are_an_error(spark):
    with pytest.raises(ht.ColumnError, match="several columns 'a'"):
        ht.collapse(spark.sql("SELECT 1 AS a, 2 AS a"), ["a"])


@pytest.mark.filterwarnings("ignore:tight intervals")
@pytest.mark.parametrize("name", ["k", "l", "t", "suppression"])
def test_a_release_of_spark_is_the_one_of_memory(spark, tmp_path, name):
    frame, asked = made_up(200), ASKED[name]
    whole = ht.anonymize(frame, **asked, roles="trust")
    release = ht.anonymize(of_spark(spark, frame), **asked, roles="trust")
    assert release.engine == "spark"
    assert release.loss == pytest.approx(whole.loss, abs=1e-12)
    assert sorted(release.partition.sizes) == sorted(whole.partition.sizes)
    assert release.n_suppressed == whole.n_suppressed
    assert rows_of(pl.from_arrow(release.frame.toArrow())) == rows_of(whole.frame)
    assert release.verify().to_dict() == whole.verify().to_dict()
    out = tmp_path / "out"
    assert release.write(out).passed
    assert rows_of(pl.read_parquet(out / "*.parquet").select(frame.columns)) == rows_of(whole.frame)
    assert ht.verify(out, quasi_identifiers=asked["quasi_identifiers"], models=asked["models"]).passed
    assert done("verify", out).code == 0


@pytest.mark.filterwarnings("ignore:tight intervals")
@pytest.mark.parametrize(("name", "n_parts"), [("l", 1), ("t", 3), ("l", 5)])
def test_records_that_are_cut_one_by_one_are_published_where_they_are(spark, tmp_path, monkeypatch, name, n_parts):
    monkeypatch.setattr(beyond_memory, "MOST_COUNTED", 1)
    monkeypatch.setattr(in_parts, "_MAX_RECORDS_PER_WORKER", 30)
    frame, asked = made_up(200), {**ASKED[name], "method": ht.Mondrian(recoding="readable")}
    whole = ht.anonymize(frame, **asked, roles="trust")
    release = ht.anonymize(of_spark(spark, frame).repartition(n_parts), **asked, roles="trust")
    assert release.is_row_by_row
    assert release.loss == pytest.approx(whole.loss, abs=1e-12)
    assert release.partition.sizes.tolist() == whole.partition.sizes.tolist()
    assert release.classes().equals(whole.classes())
    assert release.verify().to_dict() == whole.verify().to_dict()
    out = tmp_path / "out"
    assert release.write(out).passed
    assert rows_of(pl.read_parquet(out / "*.parquet").select(frame.columns)) == rows_of(whole.frame)
    assert done("verify", out).code == 0


@pytest.mark.filterwarnings("ignore:tight intervals")
@pytest.mark.parametrize("most", [beyond_memory.MOST_COUNTED, 1])
def test_spark_writes_bounds_beside_the_cells(spark, tmp_path, monkeypatch, most):
    monkeypatch.setattr(beyond_memory, "MOST_COUNTED", most)
    frame, asked = made_up(60), {**ASKED["l"], "method": ht.Mondrian(recoding="readable"), "roles": "trust"}
    whole = ht.anonymize(frame, **asked).with_bounds()
    release = ht.anonymize(of_spark(spark, frame), **asked).with_bounds()
    assert release.is_row_by_row == (most == 1)
    assert release.write(tmp_path / "out").passed
    written = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert written.columns == whole.frame.columns
    assert rows_of(written) == rows_of(whole.frame)


def test_a_record_that_was_not_coded_is_an_error_where_records_walk(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(beyond_memory, "MOST_COUNTED", 1)
    asked = {**ASKED["k"], "roles": "trust"}
    frame = made_up(60)
    release = ht.anonymize(of_spark(spark, frame), **asked)
    other = frame.with_columns(job=pl.lit("a job that nobody had"))
    changed = replace(release.origin, data=lazy.open_lazy(of_spark(spark, other)).data)
    with pytest.raises(ht.InputError, match="hold what no earlier pass saw"):
        replace(release, origin=changed).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("ignore::hushtable.errors.ExposureWarning")
@pytest.mark.parametrize("most", [beyond_memory.MOST_COUNTED, 1])
def test_what_a_release_of_spark_says_of_itself_is_what_memory_says(spark, monkeypatch, most):
    monkeypatch.setattr(beyond_memory, "MOST_COUNTED", most)
    frame, asked = made_up(90), ASKED["l"]
    whole, release = ht.anonymize(frame, **asked), ht.anonymize(of_spark(spark, frame), **asked)
    assert release.is_row_by_row == (most == 1)
    ours, theirs = (each.codebook.to_dict("x", external=False) for each in (release, whole))
    assert ours == theirs
    assert release.exposure.to_dict() == whole.exposure.to_dict()
    if most > 1:
        for column in release.utility().columns:
            if column.name in (*release.quasi_identifiers, "ill"):
                expected = whole.utility().column(column.name).distance
                assert column.distance == pytest.approx(expected, abs=1e-12)
    sections = {each["name"]: each for each in ht.report(release, audience="external").to_dict()["sections"]}
    assert sections["risk_after"] == ht.report(whole, audience="external").to_dict()["sections"][3]


@pytest.mark.filterwarnings("ignore:tight intervals")
def test_a_policy_on_spark_looks_at_what_is_kept_and_writes_folders_alone(spark, tmp_path):
    frame = made_up(100).with_columns(visit=pl.int_range(100), name=pl.lit("Ann"))
    roles = {"age": "quasi-identifier", "job": "quasi-identifier", "name": "identifier"}
    kept = dict.fromkeys(("born", "ill", "pay", "note *", "visit"), "other")
    policy = ht.Policy.make({"columns": {**roles, **kept}, "models": [{"k-anonymity": 3}]})
    release = policy.protect(of_spark(spark, frame))
    assert "name" not in release.frame.columns
    with pytest.raises(ht.ExposureError, match="visit"):
        release.write(tmp_path / "out")
    trusted = replace(release, exposure=None)
    with pytest.raises(ht.InputError, match="writes folders"):
        trusted.write(tmp_path / "out.parquet")
    assert trusted.write(tmp_path / "out").passed
    with pytest.raises(ht.InputError, match="exists"):
        trusted.write(tmp_path / "out")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out", "out.codebook.json", "out.codebook.md"]


@pytest.mark.filterwarnings("ignore:tight intervals")
def test_the_command_lets_a_cluster_read_files_and_write_folders(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(beyond_memory, "MOST_COUNTED", 1)
    frame, folder = made_up(200).select("age", "job"), tmp_path / "in [1]"
    for kind in (1, 2):
        (folder / f"kind={kind}").mkdir(parents=True)
        frame[100 * (kind - 1) : 100 * kind].write_parquet(folder / f"kind={kind}" / "a{b}.parquet")
    asked = ["--qi", "age,job,kind", "--k", "4", "--recoding", "readable"]
    streamed = done("anonymize", folder, "-o", tmp_path / "streamed", *asked)
    told = done("anonymize", folder, "-o", tmp_path / "out", *asked, "--engine", "spark", "--master", "local[2]")
    assert (streamed.code, told.code) == (0, 0), told.err
    assert "Read by Spark" in told.out
    read = [pl.read_parquet(tmp_path / name / "*.parquet") for name in ("out", "streamed")]
    assert rows_of(read[0]) == rows_of(read[1].select(read[0].columns))
    assert run("anonymize", folder, "-o", folder, *asked, "--engine", "spark", "--force").code == 2
    url = "sqlite:///x.db?table=t"
    for wrong in (["-", "--engine", "spark"], [folder, "--master", "local[2]"], [url, "--engine", "spark"]):
        refused = run("anonymize", *wrong, "-o", tmp_path / "other", *asked)
        assert refused.code == 2
        assert "spark" in refused.err.lower()
    (tmp_path / "in.csv").write_text("age,job\n1,a\n")
    refused = run("anonymize", tmp_path / "in.csv", "-o", tmp_path / "other", "--qi", "age", "--engine", "spark")
    assert "reads Parquet files" in refused.err


@pytest.mark.slow
def test_a_killed_executor_changes_nothing(spark, java, tmp_path, monkeypatch):
    """A task kills its executor the first time it runs: what is lost is computed again, and the same is written."""
    import pyspark

    n_rows = 20_000
    numbers = np.arange(n_rows)
    frame = pl.DataFrame({"age": numbers % 90, "sex": numbers % 2, "note": numbers})
    frame = frame.with_columns(age=pl.when(pl.col("age") > 3).then("age"))
    frame.write_parquet(tmp_path / "in.parquet")
    folders = quiet, quiet_walk, lost, lost_walk = [tmp_path / name for name in ("a", "b", "c", "d")]
    for folder in folders:
        folder.mkdir()
    rows = spark.read.parquet(str(tmp_path / "in.parquet"))
    opened, cells = prepared(rows)
    opened.write(cells, quiet, 2)
    monkeypatch.setattr(beyond_memory, "MOST_COUNTED", 1)
    monkeypatch.setattr(in_parts, "_MAX_RECORDS_PER_WORKER", 3000)
    release = walking(rows)
    release.origin.write(release.cells, quiet_walk, 2)
    homes = Path(pyspark.__file__).parent / "work"
    was_there = homes.exists()
    script = Path(__file__).with_name("lost_executor.py")
    environment = {**os.environ, "JAVA_HOME": str(java), "SPARK_LOCAL_DIRS": str(tmp_path)}
    try:
        subprocess.run([sys.executable, script, tmp_path, lost, lost_walk], check=True, env=environment)
    finally:
        if not was_there:
            shutil.rmtree(homes, ignore_errors=True)
    assert (tmp_path / "killed").exists()
    assert (tmp_path / "killed while cutting").exists()
    for ours, theirs in ((quiet, lost), (quiet_walk, lost_walk)):
        assert read(ours).height == n_rows
        assert read(ours).equals(read(theirs))
