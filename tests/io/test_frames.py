"""Files and dataframes at the boundary: text stays as it was, errors name places and never cells."""

import contextlib
import csv
import dataclasses
import datetime as dt
import io
import random
import traceback
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import hushtable as ht
from hushtable.columns import ColumnSpec
from hushtable.errors import ColumnError, InputError
from hushtable.io import csv as csv_files, frames
from hushtable.io.csv import Dialect

SECRET = "canary-7319"
ODD_TEXTS = ["01234", "1E10", "NA", "null", "None", "nan", " x ", "1.0", "1.50", "+7", "-0", "true", "#x", "ü🏔", "'q'"]


@pytest.fixture
def write_csv(tmp_path):
    def write(content, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


def rows(frame):
    return frame.native.rows()


def all_text_of(error):
    return "".join(traceback.format_exception(error)) + repr(error)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_each_delimiter_is_found(write_csv, delimiter):
    records = [["age", "sex", '"a;b|c\t,d"'], ["34", "f", "x y"], ["7", "m", '"1,5; 2|3\t"']]
    text = "\n".join(delimiter.join(record) for record in records)
    frame = frames.read(write_csv(text))
    assert frame.delimiter == delimiter
    assert frame.is_text
    assert frame.columns == ("age", "sex", "a;b|c\t,d")
    assert rows(frame) == [("34", "f", "x y"), ("7", "m", "1,5; 2|3\t")]


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a;b\n1,5;2\n3,5;4\n", ";"),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a\tb c\n1, 2\t3\n4\t5\n", "\t"),
        ('a;b\n"x;y,z";1\n2;3\n', ";"),
        ("a|b,c\n1|2\n", "|"),
        ("a\n1\n", ","),
        ("name\nx;y\nz\n", ","),
    ],
)
def test_the_even_delimiter_wins(write_csv, text, delimiter):
    assert frames.read(write_csv(text)).delimiter == delimiter


def test_where_no_delimiter_is_even_the_header_decides(write_csv):
    with pytest.raises(InputError, match=r"line 3 of .* has 2 fields, expected 3"):
        frames.read(write_csv("a;b;c\n1;2;3\n4;5\n"))


def test_a_given_delimiter_is_used(write_csv):
    frame = frames.read(write_csv("a;b,c\n1;2,3\n"), delimiter=",")
    assert rows(frame) == [("1;2", "3")]


@pytest.mark.parametrize("delimiter", ["::", "", "§"])
def test_a_delimiter_is_one_character(write_csv, delimiter):
    with pytest.raises(InputError, match="is not one character"):
        frames.read(write_csv("a,b\n1,2\n"), delimiter=delimiter)


@pytest.mark.parametrize("delimiter", ['"', "\n", "\r"])
def test_a_quote_or_a_line_end_is_no_delimiter(write_csv, delimiter):
    with pytest.raises(InputError, match="delimiter"):
        frames.read(write_csv("a,b\n1,2\n"), delimiter=delimiter)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "newline"])
def test_line_ends(write_csv, newline, last):
    text = newline.join(["a,b", '1,"x', 'y"', "3,4"]) + (newline if last else "")
    assert rows(frames.read(write_csv(text))) == [("1", f"x{newline}y"), ("3", "4")]


def test_quotes_hold_delimiters_newlines_and_quotes(write_csv):
    frame = frames.read(write_csv('a,b\n"1,5","say ""hi""\n, or not"\n"""",","\n'))
    assert rows(frame) == [("1,5", 'say "hi"\n, or not'), ('"', ",")]


def test_odd_characters_are_no_line_ends(write_csv):
    frame = frames.read(write_csv("a,b\n1\u2028x,2\x85\x0b\x0c\n"))
    assert rows(frame) == [("1\u2028x", "2\x85\x0b\x0c")]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8-sig", "UTF8", "utf-8"])
def test_encodings(write_csv, encoding):
    frame = frames.read(write_csv("größe,b\nzürich,2\n", encoding=encoding), encoding=encoding)
    assert frame.columns == ("größe", "b")
    assert rows(frame) == [("zürich", "2")]


def test_a_byte_order_mark_is_skipped(write_csv):
    frame = frames.read(write_csv('"a",b\n1,2\n', encoding="utf-8-sig"))
    assert frame.columns == ("a", "b")


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "hex", "", "a\0b"])
def test_unknown_encodings(write_csv, encoding):
    with pytest.raises(InputError, match="unknown encoding"):
        frames.read(write_csv("a,b\n1,2\n"), encoding=encoding)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"a,b\n" + SECRET.encode() + b",\xff\n", r"byte 16 of .* is not utf-8 \(line 2\)"),
        (b"\xff", r"byte 0 of .* \(line 1\)"),
        (b'a,b\n"1\n2",\xe9\n', r"byte 10 of .* \(line 3\)"),
        (b"\xef\xbb\xbfa,b\n1,\xff\n", r"byte 9 of .* \(line 2\)"),
        ("a,b\n1,2\n".encode("utf-16"), r"byte 0 of .* \(line 1\)"),
    ],
)
def test_an_undecodable_byte_is_placed_not_shown(write_csv, content, place):
    with pytest.raises(InputError, match=place) as caught:
        frames.read(write_csv(content), encoding="utf-8")
    assert SECRET not in all_text_of(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a,b\n1,2\n1,2,3\n", "line 3 of .* has 3 fields, expected 2"),
        ("a,b,c\n1,2,3\n1,2\n", "line 3 of .* has 2 fields, expected 3"),
        ("a,b,c\n1\n1,2,3\n", "line 2 of .* has 1 fields, expected 3"),
        ('a,b\n"1\n\n2",3\n4\n', "line 5 of .* has 1 fields, expected 2"),
        ('a,b\r\n"1\r\n2",3\r\n4\r\n', "line 4 of .* has 1 fields, expected 2"),
        ('"a\nx",b\n1,2\n3\n', "line 4 of .* has 1 fields, expected 2"),
        ("a,b\n\n1,2\n\n3\n", "line 5 of .* has 1 fields, expected 2"),
        ("a,b\n1,2\n  \n", "line 3 of .* has 1 fields, expected 2"),
        ("a,b\n1,2,\n3,4,\n", "line 2 of .* has 3 fields, expected 2"),
        ("a\n1,\n2\n", "line 2 of .* has 2 fields, expected 1"),
        ("a,b\n1,2\n3,4,", "line 3 of .* has 3 fields, expected 2"),
        ("a\n1,", "line 2 of .* has 2 fields, expected 1"),
        ("a,b\n\n1,2,", "line 3 of .* has 3 fields, expected 2"),
        ("a,b\n1\n1,2,", "line 2 of .* has 1 fields, expected 2"),
        ("a,b,c\n1,2\n1,2,3,", "line 2 of .* has 2 fields, expected 3"),
        ("a,b\n" + "1,2\n" * 60 + "1,2,3\n", "line 62 of .* has 3 fields, expected 2"),
        (f"a,b\n{'x' * 200_000},1\n2\n", "line 3 of .* has 1 fields, expected 2"),
    ],
)
def test_a_ragged_record_is_placed(write_csv, text, place):
    with pytest.raises(InputError, match=place):
        frames.read(write_csv(text), delimiter=",")


@pytest.mark.parametrize("text", ["a,b\n1,2\n\n3,\n", "a,b\n1,2\n3\n", 'a,b\n1,"2\n', 'a,b\n1,""x""\n', "a,,b\n", ""])
def test_the_standard_reader_is_left_as_it_was(write_csv, text):
    limit = csv.field_size_limit()
    try:
        frames.read(write_csv(text))
    except InputError:
        # The error and its traceback are alive here, as in a notebook.
        after = csv.field_size_limit()
    else:
        after = csv.field_size_limit()
    assert after == limit


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "lines",
    [
        ["a,b", "1,2", "", "3,", ""],
        ["a,b", "", "", "1,2", "3,", "", "", ""],
        ["a,b", "1,2", "3,", ""],
        ["a,b", "1,2", "", "", "3,"],
    ],
)
def test_blank_lines_are_skipped(write_csv, newline, lines):
    assert rows(frames.read(write_csv(newline.join(lines)))) == [("1", "2"), ("3", None)]


def test_blank_lines_after_a_very_long_cell_are_skipped(write_csv):
    assert frames.read(write_csv(f"a,b\n{'x' * 200_000},1\n\n2,\n")).column("b").to_list() == ["1", None]


def test_a_blank_line_inside_quotes_is_text(write_csv):
    assert rows(frames.read(write_csv('a,b\n"x\n\ny",\n\n,2\n'))) == [("x\n\ny", None), (None, "2")]


def test_a_record_of_only_delimiters_is_missing_values(write_csv):
    assert rows(frames.read(write_csv("a,b\n1,2\n,\n3,4\n,\n"))) == [("1", "2"), (None, None), ("3", "4"), (None, None)]


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("a\n1\n2\n", ["1", "2"]),
        ("a\n1\n\n2\n", ["1", None, "2"]),
        ("a\n\n1\n\n", [None, "1", None]),
        ('a\n""\n\n', ["", None]),
        ("a\n x \n", [" x "]),
        ("a", []),
        ("a\n", []),
    ],
)
def test_a_single_column_keeps_its_empty_cells(write_csv, text, cells):
    assert frames.read(write_csv(text)).column("a").to_list() == cells


@pytest.mark.parametrize("text", ["a,b", "a,b\n", "a,b\r\n", "a,b\n\n"])
def test_a_header_only(write_csv, text):
    frame = frames.read(write_csv(text))
    assert (frame.columns, frame.n_rows) == (("a", "b"), 0)


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file(write_csv, content):
    with pytest.raises(InputError, match="is empty"):
        frames.read(write_csv(content))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,a\n1,2,3\n", "more than one column 'a'"),
        ('a,b,"a"\n', "more than one column 'a'"),
        ("a,,c\n1,2,3\n", "no name for column 2"),
        (" ,b\n1,2\n", "no name for column 1"),
        ("a,b,\n1,2,3\n", "no name for column 3"),
        (",\n1,2\n", "no name for column 1"),
    ],
)
def test_doubled_and_empty_names(write_csv, text, message):
    with pytest.raises(ColumnError, match=message):
        frames.read(write_csv(text))


@pytest.mark.parametrize(
    "name",
    ["two words", ' "q" ', "a,b", "😀", "l1\nl2", "a;b|c", "_duplicated_0", "column_1", "1", "\ufeffa", "\ufeff b,"],
)
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_odd_names_survive(tmp_path, name, ending):
    path = tmp_path / f"table{ending}"
    frames.write(frames.read(pl.DataFrame({name: ["1"], "x": ["2"]})), path)
    frame = frames.read(path)
    assert frame.columns == (name, "x")
    assert rows(frame) == [("1", "2")]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.csv", "cannot read .*none.csv"),
        ("none.parquet", "cannot read .*none.parquet"),
        ("none.xls", "cannot recognise the format of .* from its ending '.xls'"),
        ("none.parquet.gz", "from its ending '.gz'"),
        ("none", "from its ending ''"),
        ("folder.csv", "cannot read .*folder.csv"),
        ("folder.parquet", "folder.parquet"),
        ("text.parquet", "is not a Parquet file"),
        ("empty.parquet", "is not a Parquet file"),
    ],
)
@pytest.mark.parametrize("as_text", [True, False])
def test_unreadable_files(tmp_path, name, message, as_text):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "folder.parquet").mkdir()
    pl.DataFrame({"a": [SECRET]}).write_parquet(tmp_path / "folder.parquet" / "part.parquet")
    (tmp_path / "text.parquet").write_text(f"a,b\n{SECRET},1\n")
    (tmp_path / "empty.parquet").touch()
    path = tmp_path / name
    with pytest.raises(InputError, match=message) as caught:
        frames.read(str(path) if as_text else path)
    assert SECRET not in all_text_of(caught.value)
    assert caught.value.__cause__ is None


def test_a_damaged_parquet_file_over_which_polars_panics(tmp_path, monkeypatch):
    def panic(_):
        raise pl.exceptions.PanicException(SECRET)

    (tmp_path / "a.parquet").touch()
    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(InputError, match="is not a Parquet file") as caught:
        frames.read(tmp_path / "a.parquet")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("name", ["data[1].parquet", "data*.parquet", "data?.parquet"])
def test_a_name_is_no_pattern(tmp_path, name):
    pl.DataFrame({"a": ["other"]}).write_parquet(tmp_path / "data1.parquet")
    with (tmp_path / name).open("wb") as file:
        pl.DataFrame({"a": ["mine"]}).write_parquet(file)
    assert rows(frames.read(tmp_path / name)) == [("mine",)]


@pytest.mark.parametrize("name", ["a.CSV", "a.tsv", "a.txt", "a.PARQUET", "a.pq"])
def test_endings(tmp_path, name):
    path = tmp_path / name
    frames.write(frames.read(pl.DataFrame({"a": ["x"], "b": ["y"]})), path)
    assert rows(frames.read(path)) == [("x", "y")]
    assert frames.file_kind(path) == ("parquet" if "p" in path.suffix.lower() else "csv")


@pytest.mark.parametrize("name", ["in", "in/*.parquet"])
def test_a_folder_or_a_pattern_is_no_table_in_memory(tmp_path, name):
    (tmp_path / "in").mkdir()
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "in" / "a.parquet")
    with pytest.raises(InputError, match=r"(?s)a folder or a pattern.*anonymize takes both.*collapse"):
        frames.read(tmp_path / name)


@pytest.mark.parametrize("data", [{"a": [1]}, [1], None, 3, pl.Series([1]), pd.Series([1]), pl.LazyFrame({"a": [1]})])
def test_what_is_no_table(data):
    with pytest.raises(InputError, match=f"object of type {type(data).__name__}"):
        frames.read(data)


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
        pd.DataFrame([[1, 2]]),
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
    ],
)
def test_names_of_a_dataframe_are_distinct_texts(data):
    with pytest.raises(ColumnError, match="the dataframe has column"):
        frames.read(data)


def test_a_frame_is_read_as_itself():
    frame = frames.read(pl.DataFrame({"a": [1]}))
    assert frames.read(frame) is frame
    assert not frame.is_text


@pytest.mark.parametrize(
    "text",
    [
        f'a,b\n"{SECRET}"x,2\n3,4\n',
        f'a,b\n5" {SECRET},2\n3,4\n',
        f'a,b\n"{SECRET},2\n3,4\n',
        f'a,b\n1,"{SECRET}\n3,4\n',
        f'a,b\n1,"2\n3,{SECRET}\n' * 3,
        f'a,b\n1,"""{SECRET}\n',
        f'a,b\n1,"""{SECRET}',
        f'a,b\n"1" ,{SECRET}\n',
        'a,b\n1,"2\n' + f"{SECRET},2\n" * 20_000,
        f"a,b\r{SECRET},2\r",
    ],
)
def test_stray_quotes_are_reported_without_cells(write_csv, text):
    with pytest.raises(InputError) as caught:
        frames.read(write_csv(text), delimiter=",")
    assert SECRET not in all_text_of(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("text", ['a,b\n1,"""', 'a,b\n1,"x""', 'a,b\n1,""x"', 'a,b\n1,""x""\n', 'a,b\n,"" ""\n2,3\n'])
def test_malformed_quotes_are_not_dropped_in_silence(write_csv, text):
    with pytest.raises(InputError, match="quotes"):
        frames.read(write_csv(text))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.text(alphabet='ab1,;"\n\r é', max_size=20))
def test_any_text_gives_a_table_or_an_error_of_ours(write_csv, body):
    path = write_csv("a,b\n" + body)
    with contextlib.suppress(InputError):
        assert frames.read(path, delimiter=",").columns == ("a", "b")


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=6) | st.sampled_from(ODD_TEXTS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.integers(1, 3).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=6)),
    st.sampled_from(csv_files.DELIMITERS),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_a_well_formed_csv_is_read_as_the_standard_library_reads_it(write_csv, records, delimiter, newline, quoting):
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=newline, quoting=quoting)
    width = len(records[0]) if records else 2
    writer.writerow(["x", "y", "z"][:width])
    writer.writerows(records)
    frame = frames.read(write_csv(buffer.getvalue()), delimiter=delimiter)
    assert [[cell or "" for cell in row] for row in rows(frame)] == records


def test_a_long_file_with_quoted_newlines(write_csv):
    n_rows = 20_000
    frame = frames.read(write_csv("a,b\n" + "".join(f'{i},"x\ny,{i}"\n' for i in range(n_rows))))
    assert rows(frame) == [(str(i), f"x\ny,{i}") for i in range(n_rows)]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_text_survives_byte_for_byte(tmp_path, ending):
    first, second, third = (tmp_path / f"{name}{ending}" for name in "abc")
    cells = [*ODD_TEXTS, "a,b", 'say "hi"', "l1\nl2", "l1\r\nl2", "\t", "", None]
    frames.write(frames.read(pl.DataFrame({"cell": cells, "row": [str(i) for i in range(len(cells))]})), first)
    frames.write(frames.read(first), second)
    frames.write(frames.read(second), third)
    assert frames.read(third).column("cell").to_list() == cells
    assert first.read_bytes() == second.read_bytes() == third.read_bytes()


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
def test_a_plain_csv_is_written_as_it_was_read(write_csv, tmp_path, delimiter):
    name = "in.tsv" if delimiter == "\t" else "in.csv"
    text = delimiter.join(["zip", "code", "na", "empty"]) + "\n" + delimiter.join(["01234", "1E10", "NA", ""]) + "\n"
    path = write_csv(text, name)
    copy = tmp_path / f"copy_{name}"
    frames.write(frames.read(path), copy)
    assert copy.read_bytes() == path.read_bytes()


def test_empty_quotes_are_told_from_an_empty_cell(write_csv, tmp_path):
    path = write_csv('a,b\n"",\n,""\n')
    frame = frames.read(path)
    assert rows(frame) == [("", None), (None, "")]
    frames.write(frame, tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_bytes() == path.read_bytes()


def test_a_tsv_is_written_with_tabs(tmp_path):
    path = tmp_path / "a.tsv"
    frames.write(frames.read(pl.DataFrame({"a": ["1"], "b": ["x, y"]})), path)
    assert path.read_text() == "a\tb\n1\tx, y\n"


@pytest.mark.parametrize("cells", [[["x"]], [{"a": 1}], [b"x"], [dt.timedelta(1)]])
def test_what_a_csv_has_no_cells_for(tmp_path, cells):
    frame = frames.read(pl.DataFrame({"a": cells}))
    with pytest.raises(ColumnError, match="no cells for the types of columns 'a'"):
        frames.check_writable(frame, tmp_path / "a.csv")
    frames.check_writable(frame.drop(["a"]), tmp_path / "a.csv")
    frames.check_writable(frame, tmp_path / "a.parquet")


def test_a_file_carries_no_categories_of_removed_cells(tmp_path):
    frame = pl.DataFrame({"a": pl.Series(["x", SECRET], dtype=pl.Enum(["x", SECRET]))})[:1]
    frames.write(frames.read(frame), tmp_path / "a.parquet")
    assert SECRET.encode() not in (tmp_path / "a.parquet").read_bytes()


@pytest.mark.parametrize("index", [[7, 7, 7], ["x", "y", "x"], pd.MultiIndex.from_tuples([(1, "a")] * 3), [2, 0, 1]])
def test_pandas_keeps_its_index_its_order_and_its_types(index):
    data = pd.DataFrame({"b": [1, 2, 3], "a": [1.5, None, 2.0], "c": pd.Categorical(["u", "v", "u"])}, index=index)
    changed = frames.read(data).with_columns({"a": pl.Series("other", ["x", None, "z"])}).native
    assert changed.index.equals(data.index)
    assert list(changed.columns) == ["b", "a", "c"]
    assert changed.dtypes[["b", "c"]].tolist() == data.dtypes[["b", "c"]].tolist()
    assert [None if pd.isna(cell) else cell for cell in changed["a"]] == ["x", None, "z"]
    assert data["a"].dtype == "float64"


def test_polars_keeps_its_order_and_its_types():
    data = pl.DataFrame({"b": pl.Series([1, 2], dtype=pl.Int8), "a": [1.5, None], "c": [dt.date(2024, 1, 1), None]})
    changed = frames.read(data).with_columns({"a": pl.Series("other", ["x", None])}).native
    assert changed.schema == {"b": pl.Int8, "a": pl.String, "c": pl.Date}
    assert changed.rows() == [(1, "x", dt.date(2024, 1, 1)), (2, None, None)]


def test_pyarrow_keeps_its_order_and_its_types():
    data = pa.table({"b": pa.array([1, 2], pa.int8()), "a": [1.5, None], "c": pa.array(["u", "v"]).dictionary_encode()})
    changed = frames.read(data).with_columns({"a": pl.Series("other", ["x", None])}).native
    assert changed.column_names == ["b", "a", "c"]
    assert [changed.schema.field(name).type for name in "bc"] == [data.schema.field(name).type for name in "bc"]
    assert changed["a"].to_pylist() == ["x", None]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_a_new_frame_alike_has_whole_numbers_beside_missing_cells(make):
    columns = [pl.Series("a", [2**62 + 1, None]), pl.Series("b", [None, None], dtype=pl.Int64), pl.Series("c", [1, 2])]
    made = frames.read(make({"x": ["u"]})).build_alike(columns)
    assert [made.column(name).to_list() for name in "abc"] == [[2**62 + 1, None], [None, None], [1, 2]]
    assert all(dtype.is_integer() for dtype in made.data.schema.values())
    assert type(made.native) is type(make({"x": ["u"]}))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_columns_and_rows_are_picked(make):
    frame = frames.read(make({"a": [1, 2, 3], "b": ["x", "y", "z"]}))
    assert (frame.columns, frame.n_rows) == (("a", "b"), 3)
    assert frame.drop(["a"]).columns == ("b",)
    assert frame.select(["b", "a"]).columns == ("b", "a")
    assert frame.take(np.array([2, 0, 2])).column("b").to_list() == ["z", "x", "z"]
    assert type(frame.native) is type(make({"a": [1]}))


def test_the_repr_of_a_frame_shows_no_value():
    assert SECRET not in repr(frames.read(pl.DataFrame({"a": [SECRET]})))


def as_the_standard_library_reads_it(text, delimiter):
    """Return the records of a CSV, an empty line of a single column being an empty cell."""
    records = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter))
    if len(records[0]) == 1:
        return [record or [""] for record in records]
    return [record for record in records if record]


@pytest.mark.parametrize("header", ["", "a,b\n", "a\r\n", "\ufeffa;b\n"])
def test_short_hostile_texts_are_read_as_the_standard_library_reads_them_or_refused(write_csv, header):
    draw = random.Random(f"11{header}")
    n_read = 0
    for _ in range(1_500):
        letters = draw.choices(["a", "1", ",", ",", ";", '"', '"', "\r", "\n", "\r\n", " ", "\t", "\ufeff"], k=12)
        text = header + "".join(letters[: draw.randint(0, 12)])
        try:
            frame = frames.read(write_csv(text), dialect=Dialect(delimiter=draw.choice([None, ",", ";"]), index=False))
        except InputError:
            continue
        n_read += 1
        cells = [list(frame.columns), *([cell or "" for cell in row] for row in rows(frame))]
        assert cells == as_the_standard_library_reads_it(text, frame.delimiter), text
    assert n_read > 100


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'id,size 3"\n1,a\n2,b 4"\n3,c\n4,d\n', "quotes from line 1 on"),
        (b'id,size 3""\n1,a\n2,b 4"\n3,c\n4,d\n', "quotes from line 1 on"),
        (b'id,size\n1,a\n2,b 4"\n3,c 5"\n4,d\n', "quotes from line 3 on"),
        (b'id,size\n1,"a\nb"\n2,"b\n3,c\n', "quotes from line 4 on"),
        (b"a\rx\ry\nz\n", "line 1 of .* carriage return"),
        (b"a,b\n1,2\n3,4\r5,6\n", "line 3 of .* carriage return"),
        (b"a,b\n1,2\r\r\n", "line 2 of .* carriage return"),
        (b"a,b,c\n1,\r,2\n", "line 2 of .* carriage return"),
        (b'a,b\n"1"\r,2\n', "line 2 of .* carriage return"),
        (b"a,b\r1,2\r", "line 1 of .* carriage return"),
    ],
)
def test_stray_quotes_and_carriage_returns_are_placed(write_csv, content, message):
    with pytest.raises(InputError, match=message):
        frames.read(write_csv(content))


def test_a_record_that_one_reader_loses_is_an_error(write_csv, monkeypatch):
    parse = csv_files._parse
    monkeypatch.setattr(csv_files, "_parse", lambda *arguments: parse(*arguments)[:-1])
    with pytest.raises(InputError, match="only 2 of the 3 records"):
        frames.read(write_csv("a,b\n1,2\n3,4\n"))


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"\x89PNG\x1a\x00\x00IHDR", "latin-1"),
        (b"\x00\x01\x02", "utf-8"),
        (b"\x7fELF\x02\x01,\x03", "utf-8"),
        ("age,sex\n1,f\n".encode("utf-16-le"), "utf-8"),
    ],
)
def test_a_binary_file_is_no_table(write_csv, content, encoding):
    with pytest.raises(InputError, match="is no text"):
        frames.read(write_csv(content), encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf-7", "unicode_escape"])
def test_an_encoding_that_spells_half_characters(write_csv, encoding):
    with pytest.raises(InputError, match="encoding"):
        frames.read(write_csv(b"a,b\n+2AA-,\\ud800\n"), encoding=encoding)


def test_a_delimiter_of_half_a_character(write_csv):
    with pytest.raises(InputError, match="is not one character"):
        frames.read(write_csv("a,b\n1,2\n"), delimiter="\udcff")


@pytest.mark.parametrize("names", [["1", "0"], ["2", "1", "0"], ["column_2", "column_1"]])
def test_names_that_look_like_positions_stay_with_their_columns(write_csv, names):
    frame = frames.read(write_csv(",".join(names) + "\n" + ",".join(f"of {name}" for name in names) + "\n"))
    assert [frame.column(name).to_list() for name in names] == [[f"of {name}"] for name in names]


PATTERNS = ["*", "^a.*$", "^.*$", "^b$"]


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("change", [lambda frame: frame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_names_that_polars_reads_as_patterns_are_names(name, change, tmp_path):
    columns = {"abc": ["x", None], "b": [1, 2], name: [dt.datetime(2020, 1, 1), None]}
    data = frames.read(change(pl.DataFrame([pl.Series(cells).alias(each) for each, cells in columns.items()])))
    assert data.column(name).null_count() == 1
    assert data.drop([name]).columns == ("abc", "b")
    assert data.drop(["b"]).columns == ("abc", name)
    assert data.select(["b", name]).columns == ("b", name)
    assert data.take(np.array([1, 0])).columns == data.columns
    assert data.with_columns({name: pl.Series(["y", "z"])}).column(name).to_list() == ["y", "z"]
    assert data.with_columns({name: pl.Series(["y", "z"])}).columns == data.columns
    for ending in ("csv", "parquet"):
        frames.write(data, tmp_path / f"out.{ending}")
        read = frames.read(tmp_path / f"out.{ending}")
        assert read.columns == data.columns
        assert read.column(name).null_count() == 1


def test_float32_numbers_are_written_in_full(tmp_path):
    """Shorter texts single them out among 32-bit numbers only, and read back as others."""
    numbers = pl.Series([0.1, 1e10, None], dtype=pl.Float32)
    frames.write(frames.read(pl.DataFrame({"c": numbers})), tmp_path / "out.csv")
    assert pl.read_csv(tmp_path / "out.csv")["c"].to_list() == numbers.cast(pl.Float64).to_list()


def test_a_file_of_tabs_is_split_at_tabs(tmp_path):
    """Every line of this one has one comma too."""
    path = tmp_path / "in.tsv"
    path.write_text("x,y\tb\na, b\t1\n")
    assert frames.read(path).columns == ("x,y", "b")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["x,y", "a;b;c", "a|b", "tab\there", 'q"uote', "line\nbreak", " a ", "\ufeffa"])
def test_a_written_header_is_read_back(name, delimiter, tmp_path):
    cells = pl.DataFrame({name: ["a,b", "c;d"], "b": ["e|f", "g\th"]})
    frames.write(dataclasses.replace(frames.read(cells), dialect=Dialect(delimiter=delimiter)), tmp_path / "out.csv")
    assert frames.read(tmp_path / "out.csv", delimiter=delimiter).data.to_polars().equals(cells)


def test_names_that_hold_a_delimiter_split_no_written_header(tmp_path):
    frame = frames.read(pl.DataFrame({"x,y": ["a,b", "c,d"], "b": ["1", "2"]}))
    frames.write(dataclasses.replace(frame, dialect=Dialect(delimiter=";")), tmp_path / "out.csv")
    assert frames.read(tmp_path / "out.csv").columns == ("x,y", "b")


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("41,M,x\n41,F,y\n41,M,z\n", False),
        ("0,1,target\n0,1,a\n1,0,b\n", True),
        ("1990,1991,x\n5,6,a\n7,8,b\n", True),
        ("age,sex\nage,sex\n", True),
        ("41,name\n41,Ann\n", True),
    ],
)
def test_a_first_line_that_is_a_record_is_no_header(write_csv, text, is_read):
    if is_read:
        assert frames.read(write_csv(text)).n_rows == text.count("\n") - 1
        return
    path = write_csv(text)
    with pytest.raises(InputError, match="looks like a record") as caught:
        frames.read(path)
    assert "41" not in str(caught.value).replace(str(path), "")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_the_size_of_a_csv_is_that_of_the_file(encoding, delimiter, tmp_path):
    cells = pl.DataFrame({"a,b": ["x;y", "ü, 'z'", None], "c": ["u", "v", "u"]})
    columns = {
        "c": cells["c"].cast(pl.Categorical),
        "share": pl.Series([0.1, 1e10, None], dtype=pl.Float32),
    }
    frame = dataclasses.replace(frames.read(cells.with_columns(**columns)), dialect=Dialect(delimiter=delimiter))
    path = tmp_path / "out.csv"
    frames.write(frame, path, encoding)
    assert frames.csv_size(frame, encoding) == path.stat().st_size


@given(st.text('a,;"\n\r', max_size=40), st.integers(1, 9))
def test_a_csv_is_laid_out_in_pieces_as_at_once(text, size):
    raw = f"{text}\n".encode()
    whole = csv_files._find_lines(raw, ",", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_PIECE_BYTES", size)
        parts = csv_files._find_lines(raw, ",", None)
    assert (parts.stray, parts.width) == (whole.stray, whole.width)
    if whole.stray is None:
        for name in ("starts", "ends", "n_fields", "is_blank"):
            assert getattr(parts, name).tolist() == getattr(whole, name).tolist(), name


FINE = 10**9 + 7
TYPED_CELLS = {
    "bool": pl.Series([True, None, False]),
    "int8": pl.Series([1, None, 3], dtype=pl.Int8),
    "large": pl.Series([2**53 + 1, None, 3]),
    "ns": pl.Series([1, None, FINE]).cast(pl.Datetime("ns")),
    "zoned": pl.Series([1, None, FINE]).cast(pl.Datetime("ns", "UTC")).dt.convert_time_zone("Europe/Berlin"),
    "duration": pl.Series([1, None, FINE]).cast(pl.Duration("ns")),
    "date": pl.Series([dt.date(2024, 1, 1), None, dt.date(1, 1, 1)]),
    "time": pl.Series([dt.time(1, 2, 3), None, dt.time(4)]),
    "decimal": pl.Series([Decimal("1.50"), None, Decimal("2.25")]),
    "bytes": pl.Series([b"a", None, b""]),
    "nothing": pl.Series([None, None, None], dtype=pl.Null),
}


@pytest.mark.parametrize("name", TYPED_CELLS)
@pytest.mark.parametrize("base", [pd.DataFrame({"x": [1]}), pa.table({"x": [1]})], ids=["pandas", "pyarrow"])
def test_cells_are_the_same_in_a_frame_of_another_library(base, name):
    cells = TYPED_CELLS[name]
    got = frames.read(base).build_alike([cells.alias("x")]).column("x")
    # Objects of Python have no nanoseconds that could be compared.
    assert got.to_physical().to_list() == cells.to_physical().to_list()
    assert got.dtype == cells.dtype


@pytest.mark.parametrize("kind", ["frame", "folder"])
def test_nanoseconds_that_no_text_has_are_refused_by_name(kind, tmp_path):
    days = pl.DataFrame({"age": [31, 34] * 2, "at": pl.Series([1, 2, 3, 4]).cast(pl.Datetime("ns"))})
    days.write_parquet(tmp_path / "part.parquet")
    asked = {"sensitive": ["at"], "specs": {"at": ColumnSpec("category")}, "models": [ht.KAnonymity(2)]}
    with pytest.raises(ColumnError, match="column 'at' is declared category, and holds moments finer than"):
        ht.anonymize(days if kind == "frame" else tmp_path, quasi_identifiers=["age"], **asked)
