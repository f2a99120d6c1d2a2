"""What files hold of a release: encodings, decimal marks, and types."""

import datetime as dt
import json
import re
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from command import done, run
from hushtable.claims import Classes, Failure, Verdict, with_reading_of as telling
from hushtable.columns import cells
from hushtable.columns.column import ColumnSpec
from hushtable.columns.series import convert_texts, encode, format_values
from hushtable.errors import InputError, VerificationError
from hushtable.io import frames
from hushtable.release import manifest

SECRET = "canary-7319"
PEOPLE = "größe;born;city;pay;note\n" + "".join(
    f"1,{i}5;2{i}.02.1990;{'Köln' if i % 2 else 'Ulm'};{i},5;ü{i},1\n" for i in range(8)
)
POLICY = """\
columns:
  größe: quasi-identifier
  born: quasi-identifier
  city: other
  pay: sensitive
  note: other
models: [k-anonymity: 2, distinct-l-diversity: {l: 2, sensitive: pay}]
method: {mondrian: {recoding: RECODING}}
"""


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_bytes(PEOPLE.encode("cp1252"))
    return tmp_path / "in.csv"


def policy(recoding="tight", **writing):
    rules = ht.Policy.parse(POLICY.replace("RECODING", recoding))
    return rules.with_entries({"write": writing}) if writing else rules


def column(path, name, **options):
    return frames.read(path, **options).column(name).to_list()


def test_a_release_is_utf8_with_a_point_and_the_input_delimiter_unless_asked(source):
    policy().protect(source).write("out.csv", keep_order=True)
    text = Path("out.csv").read_text(encoding="utf-8")
    assert text.splitlines()[0] == "größe;born;city;pay;note"
    assert text.splitlines()[1].startswith("[1.05, 1.15];[1990-02-20, 1990-02-21];Ulm;0,5;ü0,1")
    assert manifest.read(Path("out.csv"))["dialect"] == {"encoding": "utf-8", "delimiter": ";", "index": False}


@pytest.mark.parametrize("recoding", ["tight", "cut", "set", "central"])
@pytest.mark.parametrize("audience", [[], ["--external"]])
def test_another_encoding_and_decimal_comma_are_verified_from_file_and_manifest(source, recoding, audience):
    Path("policy.yaml").write_text(policy(recoding, encoding="latin-1", decimal=",").to_yaml(), encoding="utf-8")
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", *audience)
    text = Path("out.csv").read_text(encoding="latin-1")
    assert "größe" in text
    assert all(re.search("[0-9],[0-9]|[*]", line.split(";")[0]) for line in text.splitlines()[1:])
    assert "1." not in text
    assert "ü0,1" in text
    claim = manifest.claim_of(Path("out.csv"))
    assert claim.specs["größe"] == ColumnSpec("decimal", decimal=",")
    assert "holds" in done("verify", "out.csv").out
    assert ht.Policy.read("policy.yaml").verify("out.csv").passed
    assert "holds" in done("verify", "out.csv", "-p", "policy.yaml", "--no-manifest").out


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "UTF8", "cp850"])
def test_encodings_are_read_as_the_manifest_says(source, encoding):
    policy().protect(source).write("out.csv", encoding=encoding)
    assert column("out.csv", "city", dialect=manifest.dialect_of("out.csv")).count("Köln") == 4
    assert "holds" in done("verify", "out.csv").out
    assert policy().verify("out.csv").passed


def test_arguments_go_before_the_policy(source):
    release = policy(encoding="latin-1", decimal=",").protect(source)
    release.write("out.csv", encoding="utf-8", decimal=".")
    assert "[1.05, 1.15]" in Path("out.csv").read_text(encoding="utf-8")


def test_commas_are_read_back_once_where_a_population_is_counted(source):
    people = pl.DataFrame({"x": [0.25 * i for i in range(16)], "s": ["a"] * 16})
    release = ht.anonymize(people, quasi_identifiers=["x", "s"], models=[ht.KMap(3)], population=people)
    release.write("out.csv", decimal=",")
    told = manifest.claim_of(Path("out.csv"))
    assert telling(told, population=people).verify(frames.read("out.csv")).passed
    naive = telling(told, population=people, specs={"x": ColumnSpec("decimal")})
    with pytest.raises(InputError):
        naive.verify(frames.read("out.csv")).raise_if_failed()


def test_floats_of_a_dataframe_get_the_mark_and_sensitive_ones_are_read_back():
    people = pl.DataFrame({"age": [1, 1, 2, 2], "pay": [1.5, 2.0, 1.5, 3.25], "rate": [0.5, None, 1.0, 2.0]})
    models = [ht.KAnonymity(2), ht.TCloseness(0.9, "pay")]
    release = ht.anonymize(people, quasi_identifiers=["age"], models=models)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.chdir(folder)
        release.write("out.csv", decimal=",", keep_order=True)
        assert column("out.csv", "pay") == ["1,5", "2", "1,5", "3,25"]
        assert column("out.csv", "rate") == ["0,5", None, "1", "2"]
        assert ht.verify("out.csv", quasi_identifiers=["age"], models=models).passed


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_characters_that_an_encoding_lacks_are_told_before_anything_is_written(source, encoding):
    frame = pl.DataFrame({"a": ["1", "1"], "b": [f"{SECRET}€", "x"]})
    release = ht.anonymize(frame, quasi_identifiers=["a"], models=[ht.KAnonymity(2)], accept={"b": "made up"})
    with pytest.raises(
        InputError, match=f"encoding .*{encoding[:5]}.* has no characters for some of columns 'b'"
    ) as caught:
        release.write("out.csv", encoding=encoding)
    assert SECRET not in str(caught.value)
    assert [path.name for path in source.parent.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("asked", [{"encoding": "klingon"}, {"encoding": "rot13"}, {"decimal": ";"}])
def test_writing_that_there_is_none(source, asked):
    with pytest.raises(InputError):
        policy().protect(source).write("out.csv", **asked)
    (name,) = asked
    with pytest.raises(ht.PolicyError, match=f"write: .*{asked[name]}"):
        policy().with_entries({"write": asked})


def test_an_unknown_entry_of_writing_is_told():
    with pytest.raises(ht.PolicyError, match=r"write.encodin: no such entry. Did you mean 'encoding'"):
        policy().with_entries({"write": {"encodin": "latin-1"}})
    with pytest.raises(ht.PolicyError, match=r"wrote: no such entry.*Known: .*write"):
        policy().with_entries({"wrote": {}})


def test_parquet_has_neither(source):
    with pytest.raises(InputError, match=r"'out.parquet' is Parquet"):
        policy(decimal=",").protect(source).write("out.parquet")
    Path("policy.yaml").write_text(policy(decimal=",").to_yaml(), encoding="utf-8")
    assert run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.parquet").code == 2


def test_decimals_keep_their_digits(source):
    long = "12345678901234567890.12"
    people = pl.DataFrame({"age": [1, 1], "sum": [Decimal(long), None]})
    release = ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    release.write("out.csv", decimal=",", keep_order=True)
    assert column("out.csv", "sum") == [long.replace(".", ","), None]


def test_values_past_the_calendar_stay_text():
    days = pl.Series([3_000_000, 3_000_000, 3_000_400, 3_000_400]).cast(pl.Date)
    people = pl.DataFrame({"day": days, "x": [1, 1, 2, 2]})
    for data in (people, ht.Table.encode(people)):
        release = ht.anonymize(
            data, quasi_identifiers=["day", "x"], models=[ht.KAnonymity(2)], method=ht.Mondrian(recoding="central")
        )
        assert release.verify().passed


def test_a_label_that_nobody_could_read_back_is_refused(source):
    tree = {"few": ["1", "2"], "1,000.5 and more": ["3", "4"]}
    people = pl.DataFrame({"x": [1, 2, 3, 4]})
    release = ht.anonymize(
        people,
        quasi_identifiers=["x"],
        models=[ht.KAnonymity(2)],
        hierarchies={"x": ht.Hierarchy.from_dict({"tree": tree}, "x")},
    )
    release.write("out.csv")
    with pytest.raises(InputError, match="comma stands between two digits"):
        release.write("again.csv", decimal=",")


@given(st.text('0123456789.-[]()<>=", ', max_size=20))
def test_commas_are_undone(text):
    written = cells.with_comma(text)
    assert cells.with_point(written) == cells.with_point(text)
    if "," not in text.replace(", ", ""):
        assert cells.with_point(written) == text


def test_a_dialect_of_a_manifest_that_is_none(source):
    policy().protect(source).write("out.csv")
    path = manifest.manifest_path(Path("out.csv"))
    path.write_text(json.dumps({**json.loads(path.read_text()), "dialect": {"speech": "x"}}))
    assert run("verify", "out.csv").code == 2


# Types

TEXTS = ["1", "34", "-5", "0", "-0", "+1", "01", "1.0", "1.5", "1.50", "1E10", "1e3", "NA", " 1", "", " ", "x"]
TEXTS += ["2020-01-31", "2020-01-31 10:00:00", "2020-01-31T10:00:00", "2020-01-31 10:00", "31.12.2020", "1,5"]
TEXTS += ["12345678901234567890", "9223372036854775807", "9007199254740993", "0.1", "1e400"]


@given(st.lists(st.sampled_from([*TEXTS, None]), max_size=4))
def test_a_typed_column_holds_the_same_values(texts):
    series = pl.Series(texts, dtype=pl.String)
    new = convert_texts(series, ColumnSpec())
    columns = [encode(cells, ColumnSpec(), is_typed=True, name="c") for cells in (series, new)]
    values = [[column.values[code] if code >= 0 else None for code in codes] for column, codes in columns]
    assert values[0] == values[1]


@pytest.mark.parametrize(
    ("texts", "spec", "dtype"),
    [
        (["1", None], ColumnSpec(), pl.Int64),
        (["1", "1.5"], ColumnSpec(), pl.Float64),
        (["2020-01-31"], ColumnSpec(), pl.Date),
        (["2020-01-31 10:00:00"], ColumnSpec(), pl.Datetime("us")),
        (["1"], ColumnSpec("category"), pl.String),
        (["1"], ColumnSpec(order=("1",)), pl.String),
        (["1"], ColumnSpec("decimal"), pl.Float64),
        (["x"], ColumnSpec("decimal"), pl.String),
        (["1", "NA"], ColumnSpec(missing_values=("NA",)), pl.Int64),
        (["1", "NA", None], ColumnSpec(missing_values=("NA",)), pl.String),
        (["1", " "], ColumnSpec(), pl.String),
        ([None], ColumnSpec(), pl.String),
        ([], ColumnSpec(), pl.String),
        *(
            ([text], ColumnSpec(), pl.String)
            for text in ("01234", "1E10", "+1", "0.12345678901234567890", "01.02.2023")
        ),
        *(([text], ColumnSpec(), pl.Float64) for text in ("1.50", "1,5", "1.0", "1.020,50")),
        (["31.12.2023", None], ColumnSpec(), pl.Date),
        (["01.02.2023"], ColumnSpec(format="%d.%m.%Y"), pl.Date),
    ],
)
def test_which_texts_are_typed(texts, spec, dtype):
    assert convert_texts(pl.Series(texts, dtype=pl.String), spec).dtype == dtype


def test_parquet_of_text_is_typed_where_no_cell_changes(tmp_path):
    rows = [f"{20 + i // 4 * 10},{i}.5,2020-01-0{i + 1},0{i},{i % 3},{'x' if i else SECRET}" for i in range(8)]
    (tmp_path / "in.csv").write_text("\n".join(["age,pay,day,zip,code,note", *rows]))
    specs = {"code": ColumnSpec("category")}
    models = [ht.KAnonymity(4), ht.DistinctLDiversity(2, "pay")]
    release = ht.anonymize(tmp_path / "in.csv", quasi_identifiers=["age", "zip"], models=models, specs=specs)
    release.write(tmp_path / "out.parquet")
    written = pl.read_parquet(tmp_path / "out.parquet")
    types = [pl.Int64, pl.Float64, pl.Date, pl.String, pl.String, pl.String]
    assert dict(written.schema) == dict(zip(["age", "pay", "day", "zip", "code", "note"], types, strict=True))
    assert "holds" in done("verify", tmp_path / "out.parquet").out


def test_a_parquet_file_tells_nothing_of_cells_that_are_not_in_it(tmp_path):
    ills = ["flu"] * 130 + ["hiv"] * 40 + ["cold"] * 30
    rows = [f"{20 + i % 40},{ill},{987654321 + i if ill == 'flu' else i}" for i, ill in enumerate(ills)]
    (tmp_path / "in.csv").write_text("\n".join(["age,ill,key", *rows]))
    models = [ht.KAnonymity(5), ht.AlphaKAnonymity(0.6, 5, "ill")]
    release = ht.anonymize(
        tmp_path / "in.csv", quasi_identifiers=["age"], models=models, sensitive=["key"], suppression_limit=0.5
    )
    assert release.n_suppressed
    release.write(tmp_path / "out.parquet")
    keys = pl.read_parquet(tmp_path / "out.parquet")["key"]
    assert keys.dtype == pl.Int64
    gone = {987654321 + i for i in range(130)} - set(keys)
    raw = (tmp_path / "out.parquet").read_bytes()
    assert len(gone) == release.n_suppressed
    assert not any(cell.to_bytes(8, "little") in raw or str(cell).encode() in raw for cell in gone)


def libraries(data):
    return [data, data.to_pandas(), data.to_arrow()]


PERSONS = pl.DataFrame(
    {
        "age": [31, 34, 52, 57, None, None],
        "pay": [1.5, 2.5, 7.25, 8.0, 9.0, 9.5],
        "day": [dt.date(2020, 1, i) for i in (1, 2, 3, 4, 5, 6)],
    }
)


@pytest.mark.parametrize("data", libraries(PERSONS), ids=["polars", "pandas", "pyarrow"])
def test_central_values_come_back_typed(data, tmp_path):
    release = ht.anonymize(
        data, quasi_identifiers=["age", "pay", "day"], models=[ht.KAnonymity(2)], method=ht.Mondrian(recoding="central")
    )
    assert release.verify().passed
    assert type(release.frame) is type(data)
    frame = frames.read(release.frame)
    kinds = {name: frame.column(name).dtype for name in frame.columns}
    assert kinds["pay"] == pl.Float64
    assert kinds["age"].is_numeric()
    assert isinstance(kinds["day"], (pl.Date, pl.Datetime))
    release.write(tmp_path / "out.csv", keep_order=True)
    text = frames.read(tmp_path / "out.csv")
    for name in frame.columns:
        assert format_values(frame.column(name), name).to_list() == text.column(name).to_list()
    assert release.write(tmp_path / "out.parquet").passed
    assert pl.read_parquet(tmp_path / "out.parquet")["pay"].dtype == pl.Float64


def test_central_values_of_a_table_and_of_a_file(tmp_path):
    asked = {
        "quasi_identifiers": ["age", "pay"],
        "models": [ht.KAnonymity(2)],
        "method": ht.Mondrian(recoding="central"),
    }
    release = ht.anonymize(ht.Table.encode(PERSONS.drop("day")), **asked)
    assert [column.kind for column in release.frame.columns] == ["integer", "decimal"]
    assert release.verify().passed
    PERSONS.drop("day").write_csv(tmp_path / "in.csv")
    again = ht.anonymize(tmp_path / "in.csv", **asked)
    assert again.frame.dtypes == [pl.Int64, pl.Float64]
    assert again.frame.rows() == release.frame.expand().rows()
    assert again.write(tmp_path / "out.parquet").passed
    assert pl.read_parquet(tmp_path / "out.parquet").dtypes == [pl.Int64, pl.Float64]


def test_central_values_beside_stars_stay_text():
    models = [ht.KAnonymity(2), ht.DistinctLDiversity(2, "ill")]
    people = pl.DataFrame({"age": [1, 1, 2, 2, 9, 9], "ill": ["a", "b", "a", "b", "a", "a"]})
    for drops in (people, people.with_columns(ill=pl.Series(["a", "b", "a", "b", "c", "d"]))):
        release = ht.anonymize(
            drops,
            quasi_identifiers=["age"],
            models=models,
            method=ht.Mondrian(recoding="central"),
            suppression_limit=0.5,
        )
        has_star = "*" in release.frame["age"].cast(pl.String).to_list()
        assert release.frame["age"].dtype == (pl.String if has_star else pl.Int64)
        assert release.verify().passed


def test_masking_writes_another_encoding_and_commas(tmp_path):
    people = pl.DataFrame({"pay": [1.5, 2.5] * 4, "größe": range(8), "c": ["ä"] * 8})
    masked = ht.mask_dependence(people, a=["pay"], b=["größe"], clusters=2)
    masked.write(tmp_path / "out.csv", tmp_path / "values.csv", encoding="cp1252", decimal=",", keep_order=True)
    assert set(column(tmp_path / "out.csv", "pay", encoding="cp1252")) == {"1,5", "2,5"}
    assert "größe" in (tmp_path / "values.csv").read_text(encoding="cp1252")
    assert "holds" in done("verify", tmp_path / "out.csv").out


def test_central_integers_beside_missing_cells_keep_their_name_in_pandas():
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({"age": pandas.array([1, 1, None, None], dtype="Int64"), "x y": list("aabb")})
    release = ht.anonymize(
        data, quasi_identifiers=["age", "x y"], models=[ht.KAnonymity(2)], method=ht.Mondrian(recoding="central")
    )
    assert list(release.frame.columns) == ["age", "x y"]
    assert release.verify().passed


AGES = [20, 20, 30, 30]
MOMENTS = np.datetime64("2024-01-01T00:00:00.123456789", "ns") + np.arange(4)
CENTS = [Decimal(cents).scaleb(-2) for cents in (1, 20, 300, 99_999_999)]
TYPED = {
    "pandas": pd.DataFrame({"age": AGES, "t": MOMENTS, "z": pd.Series(MOMENTS).dt.tz_localize("Europe/Berlin")}),
    "pandas of pyarrow": pd.DataFrame(
        {
            "age": AGES,
            "t": pd.Series(MOMENTS).astype(pd.ArrowDtype(pa.timestamp("ns"))),
            "p": pd.Series(CENTS, dtype=pd.ArrowDtype(pa.decimal128(10, 2))),
        }
    ),
    "polars": pl.DataFrame({"age": AGES, "t": MOMENTS, "p": pl.Series(CENTS, dtype=pl.Decimal(10, 2))}),
    "pyarrow": pa.table(
        {
            "age": AGES,
            "t": pa.array(MOMENTS),
            "z": pa.array(MOMENTS).cast(pa.timestamp("ns", "Europe/Berlin")),
            "p": pa.array(CENTS, pa.decimal128(10, 2)),
            "c": pa.array([1, 2, 3, None], pa.time64("ns")),
        }
    ),
}


@pytest.mark.parametrize("library", TYPED)
def test_kept_columns_keep_their_types_and_last_digits(library, tmp_path):
    release = ht.anonymize(TYPED[library], quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    release.write(tmp_path / "out.parquet", keep_order=True)
    release.write(tmp_path / "out.csv", keep_order=True)
    written = pl.read_parquet(tmp_path / "out.parquet")
    texts = column(tmp_path / "out.csv", "t")
    assert written.schema["t"] == pl.Datetime("ns")
    assert written["t"].to_numpy().tolist() == MOMENTS.tolist()
    assert [text[-9:] for text in texts] == ["123456789", "123456790", "123456791", "123456792"]
    if "z" in written.columns:
        assert written.schema["z"] == pl.Datetime("ns", "Europe/Berlin")
    if "p" in written.columns:
        assert written.schema["p"] == pl.Decimal(10, 2)
        assert written["p"].to_list() == CENTS
    if "c" in written.columns:
        assert written["c"].to_physical().to_list() == [1, 2, 3, None]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_draft_that_lost_digits_of_a_kept_column_gets_no_name(ending, tmp_path, monkeypatch):
    release = ht.anonymize(TYPED["polars"], quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    write = frames.write

    def lossy(frame, *others):
        write(frame.with_columns({"t": frame.column("t").dt.cast_time_unit("us")}), *others)

    monkeypatch.setattr(frames, "write", lossy)
    with pytest.raises(ht.VerificationError, match="column 't' is kept as it is"):
        release.write(tmp_path / f"out.{ending}")
    assert not list(tmp_path.iterdir())


def test_days_of_64_bits_publish_the_same_labels_from_memory_and_from_a_folder(tmp_path):
    days = pa.table({"day": pa.array([dt.date(2024, 1, 1 + i % 2) for i in range(4)], pa.date64())})
    (tmp_path / "in").mkdir()
    pq.write_table(days, tmp_path / "in" / "part.parquet")
    for data, name in ((days, "memory.parquet"), (tmp_path / "in", "folder")):
        ht.anonymize(data, quasi_identifiers=["day"], models=[ht.KAnonymity(4)]).write(tmp_path / name)
    labels = [pl.read_parquet(tmp_path / name)["day"].to_list() for name in ("memory.parquet", "folder/*.parquet")]
    assert labels[0] == labels[1]


def test_a_kept_column_has_one_type_from_memory_and_from_a_folder(tmp_path):
    units = {unit: pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")}
    types = {"days of 64 bits": pa.date64(), "days": pa.date32(), "zoned": pa.timestamp("us", "Europe/Berlin"), **units}
    days = {name: pa.array([dt.date(2024, 1, 1 + i % 2) for i in range(4)]).cast(each) for name, each in types.items()}
    others = {
        "duration": pa.array([dt.timedelta(seconds=1)] * 4),
        "decimal": pa.array([Decimal("1.50")] * 4),
        "category": pa.array(list("abab")).dictionary_encode(),
        "flag": pa.array([True, None] * 2),
        "bytes": pa.array([b"x"] * 4),
    }
    (tmp_path / "in").mkdir()
    people = pa.table({"age": [31, 34, 31, 34], **days, **others})
    pq.write_table(people, tmp_path / "in" / "part.parquet")
    for data, name in ((tmp_path / "in" / "part.parquet", "memory.parquet"), (tmp_path / "in", "folder")):
        options = {"models": [ht.KAnonymity(4)], "roles": "trust"}
        ht.anonymize(data, quasi_identifiers=["age"], **options).write(tmp_path / name)
    memory, folder = (pl.read_parquet(tmp_path / name) for name in ("memory.parquet", "folder/*.parquet"))
    assert folder.schema == memory.schema
    assert folder.sort("flag", "category").equals(memory.sort("flag", "category"))


def test_a_codebook_says_of_which_zone_labels_are():
    people = pl.DataFrame({"at": pl.Series(MOMENTS).dt.replace_time_zone("Europe/Berlin")})
    release = ht.anonymize(people, quasi_identifiers=["at"], models=[ht.KAnonymity(4)])
    (entry,) = release.codebook.to_dict("out.csv", external=True)["columns"]
    assert "in UTC (the column's own time zone is Europe/Berlin)" in entry["how"]


@pytest.mark.parametrize("kind", ["frame", "table"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_that_stand_for_several_records_keep_their_cells(kind, ending, tmp_path):
    rows = pl.DataFrame(
        {"id": list("abcdef"), "age": [31, 31, 31, 52, 52, 52], "pay": [1.5, 2, 3, 4, 5, None], "n": [2, 1, 3, 1, 2, 2]}
    )
    data = frames.with_counts(frames.read(rows), "n") if kind == "frame" else ht.Table.encode(rows, counts="n")
    options = {"models": [ht.KAnonymity(2)], "roles": "trust"}
    for pseudonyms in (ht.Pseudonyms(fresh=["id"]), None):
        release = ht.anonymize(data, quasi_identifiers=["age"], pseudonyms=pseudonyms, **options)
        release.write(tmp_path / f"out.{ending}", overwrite=True)
        assert len(frames.read(tmp_path / f"out.{ending}").native) == 11


def test_a_draft_that_lost_a_kept_cell_of_a_table_gets_no_name(tmp_path, monkeypatch):
    people = ht.Table.encode(pl.DataFrame({"age": [31, 34] * 2, "pay": [1.25, 2, 3, 4]}))
    release = ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], roles="trust")
    write = frames.write

    def lossy(frame, *others):
        write(frame.with_columns({"pay": frame.column("pay").round()}), *others)

    monkeypatch.setattr(frames, "write", lossy)
    with pytest.raises(ht.VerificationError, match="column 'pay' is kept as it is"):
        release.write(tmp_path / "out.csv")


@pytest.mark.parametrize("way", ["file", "folder", "lazy frame"])
def test_what_fails_is_never_written_whatever_else_could_not_be_checked(way, tmp_path, monkeypatch):
    people = pl.DataFrame({"age": [1, 1, 2, 2], "sex": ["f", "f", "m", "m"]})
    data = people.lazy() if way == "lazy frame" else people
    release = ht.anonymize(data, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)])
    verdict = Verdict(("a", "b"), (Failure("a"),), ("age",), 4, unchecked={"b": "the population"})
    monkeypatch.setattr(Classes, "verify", lambda *_, **__: verdict)
    out = tmp_path / {"file": "out.csv", "folder": "out", "lazy frame": "out.parquet"}[way]
    with pytest.raises(VerificationError):
        release.write(out, **({"by": "sex"} if way == "folder" else {}))
    assert not list(tmp_path.iterdir())
