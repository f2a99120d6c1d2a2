"""The release: the same kind of table out, nothing touched that need not be."""

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.io import frames
from hushtable.release import manifest

QUASI = ["age", "sex", "born"]


def made(**columns: Any) -> pd.DataFrame:
    """Eight people, and more columns."""
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(8)],
            "age": [31, 34, 38, 39, 52, 57, 58, 59],
            "sex": list("fmffmfmm"),
            "born": pd.date_range("1990-01-01", periods=8, freq="D"),
            **columns,
        }
    )


def protect(data: Any, **options: Any) -> ht.Release:
    options = {"quasi_identifiers": QUASI, "models": [ht.KAnonymity(2)], "identifiers": ["name"], **options}
    return ht.anonymize(data, **options)


KINDS = {
    "pandas": lambda table: table,
    "polars": pl.from_pandas,
    "pyarrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_same_kind_columns_and_order(kind: Any) -> None:
    source = kind(made(visit=range(8)))
    frame = protect(source).frame
    assert type(frame) is type(source)
    names = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
    assert names == ["age", "sex", "born", "visit"]
    assert list(pl.DataFrame(frame)["visit"]) == list(range(8))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_input_is_untouched(kind: Any) -> None:
    source = kind(made())
    protect(source)
    assert pl.DataFrame(source).equals(pl.DataFrame(kind(made())))


def test_every_library_gives_the_same_cells() -> None:
    cells = [pl.DataFrame(protect(kind(made())).frame).rows() for kind in KINDS.values()]
    assert cells[0] == cells[1] == cells[2]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_quasi_identifiers_become_text(kind: Any) -> None:
    frame = pl.DataFrame(protect(kind(made())).frame)
    assert [frame.schema[name] for name in QUASI] == [pl.String] * 3


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(10, 90, 10),
        pd.Index([7, 7, 7, 8, 8, 8, 9, 9]),
        pd.Index(list("hgfedcba"), name="key"),
        pd.date_range("2024-01-01", periods=8),
        pd.MultiIndex.from_product([["a", "b"], [1, 2, 3, 4]]),
    ],
    ids=["range", "doubled", "text", "dates", "multi"],
)
def test_the_pandas_index_is_kept(index: pd.Index) -> None:
    source = made(visit=range(8)).set_index(index)
    frame = protect(source).frame
    assert frame.index.equals(index)
    assert frame["visit"].tolist() == list(range(8))
    assert frame["age"].tolist() == protect(made(visit=range(8))).frame["age"].tolist()


EXTRAS = {
    "categorical": pd.Categorical(list("xyxyxyxz"), categories=list("zyxw"), ordered=True),
    "zoned datetime": pd.date_range("2024-01-01", periods=8, tz="Europe/Berlin"),
    "timedelta": pd.to_timedelta(range(8), unit="h"),
    "nullable integer": pd.array([1, None, 3, 4, 5, 6, 7, 8], dtype="Int64"),
    "nullable boolean": pd.array([True, None] * 4, dtype="boolean"),
    "float with gaps": [1.0, np.nan] * 4,
    "small integer": np.arange(8, dtype=np.int8),
    "big unsigned": np.full(8, 2**64 - 1, dtype=np.uint64),
    "mixed": ["x", 1, None, 2.5, "y", (1, 2), [3], {}],
    "text": ["01234", "1E10", "NA", "", " ", "None", "nan", None],
}


@pytest.mark.parametrize("cells", EXTRAS.values(), ids=EXTRAS)
def test_other_pandas_columns_are_untouched(cells: Any) -> None:
    source = made(extra=cells)
    release = protect(source, accept={"extra": "nobody's"})
    pd.testing.assert_series_equal(release.frame["extra"], source["extra"])


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([[1], [2, 3], None, [], [4], [5], [6], [7]]),
        pl.Series([{"a": i} for i in range(8)]),
        pl.Series(list("xyxyxyxz"), dtype=pl.Categorical),
        pl.Series(list("xyxyxyxz"), dtype=pl.Enum(list("zyxw"))),
        pl.Series([float("nan"), None, 1.0, 2.0, 3.0, 4.0, -0.0, 0.0]),
        pl.Series([b"x"] * 8),
        pl.Series(range(8), dtype=pl.Duration("ms")),
        pl.Series(["1.10"] * 8).cast(pl.Decimal(10, 2)),
    ],
    ids=lambda series: str(series.dtype),
)
def test_other_polars_columns_are_untouched(cells: pl.Series) -> None:
    source = pl.from_pandas(made()).with_columns(cells.alias("extra"))
    extra = protect(source).frame["extra"]
    assert extra.dtype == cells.dtype
    assert repr(extra.to_list()) == repr(cells.to_list())


@pytest.mark.parametrize("dtype", ["category", "string", "object", "str"])
def test_text_quasi_identifiers_of_any_pandas_dtype(dtype: str) -> None:
    frame = protect(made().astype({"sex": dtype})).frame
    assert frame["sex"].tolist() == protect(made()).frame["sex"].tolist()
    assert not isinstance(frame["sex"].dtype, pd.CategoricalDtype)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_path_in_gives_a_polars_frame(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"in.{ending}"
    made().to_csv(path, index=False) if ending == "csv" else made().to_parquet(path)
    for given in (path, str(path)):
        frame = protect(given).frame
        assert isinstance(frame, pl.DataFrame)
        assert frame.columns == QUASI


def test_a_table_in_gives_a_table() -> None:
    table = ht.Table.encode(made())
    published = protect(table).frame
    assert isinstance(published, ht.Table)
    assert published.names == tuple(QUASI)
    assert published.decode().rows() == pl.DataFrame(protect(made()).frame).rows()


def test_a_table_with_counts() -> None:
    table = ht.Table.encode(pl.DataFrame({"age": [31, 34, 58], "pay": [1, 2, 3]}))
    counted = ht.Table(table.columns, table.codes, np.array([2, 1, 3]))
    release = ht.anonymize(counted, quasi_identifiers=["age"], models=[ht.KAnonymity(3)])
    assert release.frame.counts.tolist() == [2, 1, 3]
    assert release.to_dict()["n_records"] == 6
    assert release.verify().n_records == 6
    assert release.verify().passed


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "pq"])
def test_write(tmp_path: Path, kind: Any, ending: str) -> None:
    release = protect(kind(made(visit=range(8))))
    path = tmp_path / f"out.{ending}"
    verdict = release.write(path, keep_order=True)
    assert verdict.passed
    assert frames.read(path).n_rows == 8
    written = frames.read(path).data.to_polars().cast(pl.String)
    assert written.rows() == pl.DataFrame(release.frame).cast(pl.String).rows()
    assert manifest.read(path)["sha256"] == manifest.sha256(path)
    beside = [f"{path.name}.{ending}" for ending in ("codebook.json", "codebook.md", "manifest.json")]
    assert [each.name for each in sorted(tmp_path.iterdir())] == [path.name, *beside]


def test_tsv_is_written_with_tabs(tmp_path: Path) -> None:
    protect(made()).write(tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text().startswith("age\tsex\tborn\n")


def test_write_leaves_out_the_pandas_index(tmp_path: Path) -> None:
    source = made(visit=range(8)).set_index("name")
    release = ht.anonymize(source, quasi_identifiers=QUASI, models=[ht.KAnonymity(2)])
    for path in (tmp_path / "out.csv", tmp_path / "out.parquet"):
        release.write(path)
        assert b"person" not in path.read_bytes()


@pytest.mark.parametrize("column", ["mixed", "timedelta", "nullable boolean", "zoned datetime", "big unsigned"])
def test_write_parquet_with_other_columns(tmp_path: Path, column: str) -> None:
    release = protect(made(extra=EXTRAS[column]))
    if column == "mixed":
        with pytest.raises(ht.ColumnError, match="'extra' mixes types"):
            release.write(tmp_path / "out.parquet")
        assert not list(tmp_path.iterdir())
        return
    release.write(tmp_path / "out.parquet", keep_order=True)
    assert pl.read_parquet(tmp_path / "out.parquet")["extra"].len() == 8


def test_lists_cannot_go_into_a_csv(tmp_path: Path) -> None:
    source = pl.from_pandas(made()).with_columns(extra=[[1]] * 8)
    with pytest.raises(ht.InputError, match="lists or structs"):
        protect(source).write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "cells",
    [pd.interval_range(0, 8), pd.period_range("2024", periods=8, freq="D"), [1j] * 8],
    ids=["intervals", "periods", "complex"],
)
def test_cells_that_no_file_holds(tmp_path: Path, cells: Any, ending: str) -> None:
    with pytest.raises(ht.InputError, match="'extra'"):
        protect(made(extra=cells)).write(tmp_path / f"out.{ending}")
    assert not list(tmp_path.iterdir())


def test_messages_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    source = pl.from_pandas(made()).with_columns(extra=[[1]] * 8)
    with pytest.raises(ht.InputError, match=r"/out\.csv") as caught:
        protect(source).write(tmp_path / "out.csv")
    assert ".part" not in str(caught.value)


def test_one_column_with_gaps_keeps_its_rows(tmp_path: Path) -> None:
    source = pl.DataFrame({"age": [1, 1, None, None, 2, 2]})
    release = ht.anonymize(source, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    release.write(tmp_path / "out.csv", keep_order=True)
    assert frames.read(tmp_path / "out.csv").column("age").to_list() == ["1", "1", None, None, "2", "2"]


def test_a_release_is_frozen() -> None:
    release = protect(made())
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.loss = 0.0  # type: ignore[misc]
    arrays = [release.suppressed, release.partition.labels, release.partition.sizes]
    assert not any(array.flags.writeable for array in arrays)


@pytest.mark.parametrize("k", [2, np.int64(2), np.int32(2)], ids=lambda k: type(k).__name__)
def test_to_dict_is_json(tmp_path: Path, k: Any) -> None:
    release = protect(made(pay=range(8)), models=[ht.KAnonymity(k), ht.DistinctLDiversity(k, "pay")])
    entries = json.loads(json.dumps(release.to_dict()))
    assert entries["models"] == [{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": 2, "sensitive": "pay"}}]
    assert entries["n_records"] == 8
    assert entries["removed"] == ["name"]
    release.write(tmp_path / "out.csv")


def test_figures_agree() -> None:
    release = protect(made())
    entries, verdict = release.to_dict(), release.verify()
    assert entries["n_classes"] == verdict.n_classes == release.partition.n_classes
    assert entries["smallest_class"] == verdict.smallest_class
    assert entries["n_records"] == verdict.n_records == 8
    assert entries["loss"] == release.loss == release.quality.set_ncp


def test_classes_that_publish_the_same_are_counted_as_one() -> None:
    """Equal values dealt to two sides: two classes of the search, one of the file."""
    columns = ["sex", "marital_status", "education"]
    release = ht.anonymize(
        ht.datasets.people(300),
        quasi_identifiers=columns,
        models=[ht.KAnonymity(3)],
        method=ht.Mondrian(cut="median", strict=False),
        roles="trust",
    )
    groups = Counter(release.frame.select(columns).rows()).values()
    assert release.partition.n_classes > len(groups)
    entries, verdict = release.to_dict(), release.verify()
    assert entries["n_classes"] == entries["quality"]["n_classes"] == verdict.n_classes == len(groups)
    assert entries["smallest_class"] == verdict.smallest_class == min(groups)
    assert entries["quality"]["discernibility"] == sum(n * n for n in groups)
    assert entries["quality"]["average_class_size"] == 300 / len(groups)
    assert f"{len(groups)} classes of at least {min(groups)} records" in release._repr_html_()


def test_classes_of_the_population_alone_are_not_counted() -> None:
    source = pl.DataFrame({"age": [1, 2, 3, 4]})
    people = pl.DataFrame({"age": [1, 2, 3, 4] * 5 + [90, 91, 92] * 5})
    release = ht.anonymize(source, quasi_identifiers=["age"], models=[ht.KMap(5)], population=people)
    assert release.to_dict()["n_classes"] == release.frame["age"].n_unique()
    assert release.to_dict()["smallest_class"] >= 1


def test_one_class_is_not_taken_for_suppressed_records() -> None:
    asked = {"quasi_identifiers": ["age", "sex"], "models": [ht.KAnonymity(8)], "identifiers": ["name"]}
    release = ht.anonymize(made(), **asked)
    assert release.frame["age"].tolist() == ["[31, 59]"] * 8
    cut = ht.anonymize(made(), method=ht.Mondrian(recoding="cut"), **asked)
    assert cut.frame["age"].tolist() == ["*"] * 8
    assert cut.verify().n_suppressed == cut.n_suppressed == 0
    assert cut.verify().smallest_class == cut.to_dict()["smallest_class"] == 8


def test_html_is_escaped() -> None:
    name = "<script>alert('x')</script>"
    source = made().rename(columns={"age": name})
    release = protect(
        source,
        quasi_identifiers=[name, "sex"],
        models=[ht.KAnonymity(2), ht.DistinctLDiversity(2, "born")],
    )
    risk = ht.assess(source, quasi_identifiers=[name])
    roles = ht.find_quasi_identifiers(source)
    failed = ht.verify(source, quasi_identifiers=[name], models=[ht.KAnonymity(9), ht.DistinctLDiversity(9, name)])
    for shown in (release, release.verify(), failed, risk, roles):
        assert "<script" not in shown._repr_html_()


@pytest.mark.filterwarnings("ignore:no identifier tells")
def test_pseudonyms_are_one_for_one() -> None:
    key = b"0123456789abcdef"
    names = ["Ann", "Bob", None, "Ann", "", "bob", "Bob", "Eve"]
    source = pl.from_pandas(made()).with_columns(name=pl.Series(names))
    release = protect(source, identifiers=[], pseudonyms=ht.Pseudonyms(("name",), key), roles="trust")
    pseudonyms = release.frame["name"].to_list()
    assert [a == b for a in names for b in names] == [a == b for a in pseudonyms for b in pseudonyms]
    assert pseudonyms[2] is None
    assert key.decode() not in repr(release)
    assert not {*names} & {*pseudonyms} - {None}


def ill(n: int = 40) -> pd.DataFrame:
    """Too many have 1 for alpha = 0.6: some of them have to go; the others' columns are of many types."""
    return pd.DataFrame(
        {
            "age": [20 + i % 10 for i in range(n)],
            "ill": [1] * (3 * n // 4) + [2] * (n - 3 * n // 4),
            "pay": [i / 4 for i in range(n)],
            "seen": pd.date_range("2024-01-01", periods=n),
            "ward": pd.Categorical([f"w{i % 3}" for i in range(n)]),
        }
    )


def suppressing(data: Any) -> ht.Release:
    return ht.anonymize(
        data,
        quasi_identifiers=["age"],
        models=[ht.KAnonymity(2), ht.AlphaKAnonymity(0.6, 2, "ill")],
        sensitive=["pay", "seen", "ward"],
        suppression_limit=0.5,
    )


def dtypes_of(frame: Any) -> dict[str, Any]:
    if isinstance(frame, pa.Table):
        return {field.name: field.type for field in frame.schema if field.name != "age"}
    return {name: frame[name].dtype for name in frame.columns if name != "age"}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_sensitive_columns_keep_their_type_where_suppressed_rows_are_dropped(kind: Any) -> None:
    source = kind(ill())
    release = suppressing(source)
    assert release.drops_suppressed
    assert dtypes_of(release.frame) == dtypes_of(source)
    kept = np.flatnonzero(~release.suppressed)
    expected = pl.DataFrame(source)[kept].drop("age").cast(pl.String)
    assert pl.DataFrame(release.frame).drop("age").cast(pl.String).equals(expected)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_sensitive_columns_keep_their_type_where_nothing_is_suppressed(kind: Any) -> None:
    source = kind(ill())
    release = ht.anonymize(source, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], sensitive=["ill", "pay"])
    assert dtypes_of(release.frame) == dtypes_of(source)


@pytest.mark.parametrize("kind", [*KINDS.values(), ht.Table.encode], ids=[*KINDS, "Table"])
def test_sensitive_columns_are_text_where_stars_are_published(kind: Any) -> None:
    dropping = suppressing(kind(ill()))
    claim = dataclasses.replace(dropping.claim, suppressed="*")
    release = dataclasses.replace(dropping, drops_suppressed=False, claim=claim)
    frame = release.frame
    cells = frame.expand() if isinstance(frame, ht.Table) else pl.DataFrame(frame)
    hidden = cells.filter(pl.Series(release.suppressed))
    assert hidden.unique().rows() == [("*",) * 5]
    assert "*" not in cells.filter(pl.Series(~release.suppressed))["ill"].to_list()
    assert release.verify().n_suppressed == release.n_suppressed == 15


DOORS: dict[str, Any] = {
    "release": lambda data, path, **options: protect(data).write(path, **options),
    "masked": lambda data, path, **options: ht.mask_dependence(data, a=["sex"], b=["age"], c=[], clusters=2).write(
        path, path.with_name("values.csv"), **options
    ),
    "the clusters' values": lambda data, path, **options: ht.mask_dependence(
        data, a=["sex"], b=["age"], c=[], clusters=2
    ).write(path.with_name("out.csv"), path, **options),
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_write_replaces_files_when_asked_only_and_never_its_input_or_a_link(tmp_path: Path, door: Any) -> None:
    source, path, link = tmp_path / "in.csv", tmp_path / "made.csv", tmp_path / "link.csv"
    made().to_csv(source, index=False)
    link.symlink_to(path)
    before = source.read_bytes()
    path.write_text("older")
    with pytest.raises(ht.InputError, match=r"made\.csv' exists(.|\n)*overwrite=True"):
        door(source, path)
    with pytest.raises(ht.InputError, match="the output is the input"):
        door(str(source), source, overwrite=True)
    with pytest.raises(ht.InputError, match="symbolic link"):
        door(source, link, overwrite=True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.csv", "link.csv", "made.csv"]
    assert path.read_text() == "older"
    assert door(source, path, overwrite=True).passed
    assert source.read_bytes() == before


def test_write_replaces_no_file_that_it_was_made_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("sex\n" + "f\nm\n" * 9)
    Path("sex.csv").write_text("f;all\nm;all\n")
    Path("domains.csv").write_text("sex/all: f, m\n")
    given: dict[str, Any] = {"models": [ht.KAnonymity(2), ht.KMap(3)], "population": "people.csv"}
    ladder = protect(made(), quasi_identifiers=["sex"], hierarchies={"sex": "sex.csv"}, **given)
    domains = protect(made(), quasi_identifiers=["sex"], hierarchies="domains.csv", **given)
    for name, release in (("people.csv", ladder), ("sex.csv", ladder), ("domains.csv", domains)):
        with pytest.raises(ht.InputError, match="the output is the input"):
            release.write(tmp_path / name, overwrite=True)


def test_the_page_on_cuts_that_were_not_made_is_right() -> None:
    def published(sensitive: str, **options: Any) -> list[str]:
        source = pl.DataFrame({"x": [1, 2, 3, 4], "s": list(sensitive)})
        models = [ht.KAnonymity(2), ht.DistinctLDiversity(2, "s")]
        method = ht.Mondrian(**options)
        return ht.anonymize(source, quasi_identifiers=["x"], models=models, method=method).frame["x"].to_list()

    assert published("aabb") == ["[1, 4]"] * 4
    assert published("abab") == ["[1, 2]"] * 2 + ["[3, 4]"] * 2
    assert published("aabb", margin=2) == published("abab", margin=2) == ["[1, 4]"] * 4


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize("change", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, ht.Table.encode])
@pytest.mark.parametrize("drops", [True, False])
def test_sensitive_moments_of_a_time_zone_verify_and_are_written(
    zone: str, change: Any, drops: bool, tmp_path: Path
) -> None:
    hours = pl.Series([1, 1, 1, 1, 1, 1, 2, 3])
    moments = pl.datetime_range(pl.datetime(2024, 7, 1), pl.datetime(2024, 7, 1, 7), "1h", time_zone=zone, eager=True)
    data = pl.DataFrame({"age": range(8), "at": moments[hours]})
    models = [ht.KAnonymity(2), ht.AlphaKAnonymity(0.5, 2, "at")]
    release = ht.anonymize(change(data), quasi_identifiers=["age"], models=models, suppression_limit=0.9)
    assert release.n_suppressed == 4
    claim = dataclasses.replace(release.claim, suppressed=None if drops else "*")
    release = dataclasses.replace(release, drops_suppressed=drops, claim=claim)
    assert release.verify().passed
    for name in ("out.csv", "out.parquet"):
        assert release.write(tmp_path / name).passed


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_the_hierarchy_of_a_sensitive_float32_lists_what_is_read_back(name: str, tmp_path: Path) -> None:
    data = pl.DataFrame({"age": [1, 2, 3, 4], "pay": pl.Series([0.1, 0.2, 0.1, 0.2], dtype=pl.Float32)})
    models = [ht.TCloseness(0.2, "pay", "hierarchical")]
    release = ht.anonymize(data, quasi_identifiers=["age"], models=models, hierarchies={"pay": "auto"})
    assert release.write(tmp_path / name).passed
    assert ht.verify(
        tmp_path / name,
        quasi_identifiers=["age"],
        models=models,
        specs=release.specs,
        hierarchies=release.hierarchies,
        original=data,
    ).passed


@pytest.mark.filterwarnings("ignore:no identifier tells")
@pytest.mark.parametrize("name", ["*", "^a.*$", "^.*$", "^g$"])
@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "identifier", "pseudonym", "other"])
@pytest.mark.parametrize("kind", [*KINDS.values(), ht.Table.encode], ids=[*KINDS, "Table"])
def test_names_that_polars_reads_as_patterns_are_names(name: str, role: str, kind: Any, tmp_path: Path) -> None:
    cells = pd.DataFrame({"age": range(1, 9), "g": ["x", "y"] * 4, name: ["a", "a", "a", "b"] * 2})
    options: dict[str, Any] = {"quasi_identifiers": ["age", "g"], "models": [ht.KAnonymity(2)]}
    if role == "quasi-identifier":
        options |= {"quasi_identifiers": ["age", name], "models": [ht.KMap(2)], "population": pl.from_pandas(cells)}
    elif role == "sensitive":
        options |= {"models": [ht.KAnonymity(2), ht.AlphaKAnonymity(0.6, 2, name)], "suppression_limit": 0.5}
    elif role == "identifier":
        options["identifiers"] = [name]
    elif role == "pseudonym":
        options |= {"pseudonyms": ht.Pseudonyms((name,), bytes(range(24))), "roles": "trust"}
    release = ht.anonymize(kind(cells), **options)
    assert release.verify().passed
    names = ["age", "g"] if role == "identifier" else ["age", "g", name]
    for file in (tmp_path / "out.csv", tmp_path / "out.parquet"):
        assert release.write(file).passed
        assert list(frames.read(file).columns) == names


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize(
    ("values", "order"),
    [
        (pl.Series([1.0, 2.0, 10.0, None]), ("10", "1", "2")),
        (pl.Series([1.0, 2.0, 10.0, None]), None),
        (pl.datetime_range(pl.datetime(2024, 1, 1), pl.datetime(2024, 1, 4), "1d", eager=True), None),
    ],
)
def test_sensitive_numbers_that_are_declared_text_are_written_as_it(
    values: pl.Series, order: Any, name: str, tmp_path: Path
) -> None:
    data = pl.DataFrame({"age": [1, 2, 3, 4], "pay": values})
    spec = ht.ColumnSpec("ordered" if order else "category", order)
    models = [ht.TCloseness(0.5, "pay")]
    release = ht.anonymize(data, quasi_identifiers=["age"], models=models, specs={"pay": spec})
    assert release.write(tmp_path / name).passed
    options = {"quasi_identifiers": ["age"], "models": models, "specs": release.specs}
    assert ht.verify(tmp_path / name, **options, original=data).passed
