"""Kinds of files: compressed, from a stream, and what stands before or beside a table."""

import gzip
import io
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from command import done, run
from hushtable.errors import ColumnError, InputError
from hushtable.io import frames
from hushtable.io.csv import Dialect

TEXT = "age;job\n31;clerk\n34;cook\n"
CELLS = [("31", "clerk"), ("34", "cook")]


def cells(frame):
    return frame.columns, frame.native.rows()


@pytest.mark.parametrize("name", ["a.csv.gz", "a.txt.gz", "A.CSV.GZ"])
def test_gzip(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(TEXT.encode("utf-16")))
    frame = frames.read(tmp_path / name)
    assert cells(frame) == (("age", "job"), CELLS)
    assert (frame.is_text, frame.dialect.encoding, frame.delimiter) == (True, "utf-16", ";")


def test_the_name_of_a_compressed_file_of_tabs_says_so(tmp_path):
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"a;b\tc;d\n1;2\t3;4\n"))
    assert frames.read(tmp_path / "a.tsv.gz").columns == ("a;b", "c;d")


@pytest.mark.parametrize(
    "damage", [lambda raw: raw[:-9], lambda raw: TEXT.encode(), lambda raw: raw[:12] + b"\xff" * 9]
)
def test_damaged_gzip(tmp_path, damage):
    (tmp_path / "a.csv.gz").write_bytes(damage(gzip.compress(TEXT.encode() * 50)))
    with pytest.raises(InputError, match="is not gzip, or was cut off or damaged"):
        frames.read(tmp_path / "a.csv.gz")


def test_no_output_is_compressed():
    with pytest.raises(InputError, match=r"from its ending '.gz'"):
        frames.file_kind(Path("out.csv.gz"))


def streams():
    parquet = io.BytesIO()
    pl.DataFrame(CELLS, schema=["age", "job"], orient="row").write_parquet(parquet)
    return {"csv": TEXT.encode(), "gzip": gzip.compress(TEXT.encode()), "parquet": parquet.getvalue()}


@pytest.mark.parametrize("kind", ["csv", "gzip", "parquet"])
def test_a_stream_is_known_by_its_first_bytes(kind):
    frame = frames.read_stream(streams()[kind], "stdin", Dialect())
    assert cells(frame) == (("age", "job"), CELLS)
    assert frame.is_text is (kind != "parquet")


@pytest.mark.parametrize(("raw", "message"), [(b"", "'stdin' is empty"), (b"PAR1", "'stdin' is not a Parquet file")])
def test_a_stream_of_nothing(raw, message):
    with pytest.raises(InputError, match=message):
        frames.read_stream(raw, "stdin", Dialect())


@pytest.mark.parametrize("line", ["sep=;\n", "sep=;\r\n", '"sep=;"\n', "\ufeffsep=;\n"])
def test_a_line_that_says_the_delimiter_is_none_of_the_table(tmp_path, line):
    path = tmp_path / "a.csv"
    path.write_bytes((line + "a,b;c\n1,2;3\n").encode())
    frame = frames.read(path)
    assert cells(frame) == (("a,b", "c"), [("1,2", "3")])
    assert frame.delimiter == ";"
    path.write_bytes((line + "a;b\n1;2\n3\n").encode())
    with pytest.raises(InputError, match=r"line 4 of .* has 1 fields, expected 2"):
        frames.read(path)
    path.write_bytes((line + 'a;b\n1;"2\n').encode())
    with pytest.raises(InputError, match="quotes from line 3 on"):
        frames.read(path)
    path.write_bytes(line.encode())
    with pytest.raises(InputError, match="is empty"):
        frames.read(path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marks_of_byte_order(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes("größe,b\n1,ü\n".encode(encoding))
    assert cells(frames.read(path)) == (("größe", "b"), [("1", "ü")])


def test_pandas_index_is_left_out(tmp_path):
    path = tmp_path / "a.csv"
    pd.DataFrame({"age": [31, 34], "job": ["clerk", "cook"]}, index=["Ann", "Bob"]).to_csv(path)
    frame = frames.read(path)
    assert cells(frame) == (("age", "job"), CELLS)
    assert frame.dialect.index is True
    assert frames.read(path, dialect=Dialect(index=True)).dialect.index is True
    with pytest.raises(ColumnError, match="no name for column 1"):
        frames.read(path, dialect=Dialect(index=False))


@pytest.mark.parametrize("text", ["a,b\n1,2\n", ",\n1,2\n", ",b,\n1,2,3\n", '""\n""\n'])
def test_an_index_that_is_asked_for_must_be_there(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ColumnError, match="has no index"):
        frames.read(tmp_path / "a.csv", dialect=Dialect(index=True))


def test_a_table_without_an_index_says_so(tmp_path):
    (tmp_path / "a.csv").write_text(TEXT)
    assert frames.read(tmp_path / "a.csv").dialect.index is False


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_records_that_end_in_a_delimiter_get_a_hint_of_their_own(tmp_path, end):
    path = tmp_path / "trailing.csv"
    path.write_bytes(end.join(["a,b", "1,2,", "3,4,", ""]).encode())
    with pytest.raises(InputError, match="ends with a delimiter, and the header does not"):
        frames.read(path)


def test_a_header_that_lacks_the_name_of_the_row_names(tmp_path):
    (tmp_path / "a.csv").write_text('"age","job"\n"1",31,"clerk"\n"2",34,"cook"\n')
    with pytest.raises(InputError, match=r"line 2 of .* 3 fields, expected 2.*\n\n.*write\.table.*row\.names=FALSE"):
        frames.read(tmp_path / "a.csv")


ROWS = "name,age,sex\nAnn,31,f\nBob,34,m\nCyd,38,f\nDan,52,m\n"
PLAIN = ["--qi", "age,sex", "--k", "2", "--identifier", "name"]


@pytest.fixture
def stream(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def feed(text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return feed


def test_commands_take_what_comes_in(stream):
    for arguments in (["scan", "-"], ["uniques", "-"], ["mpuccs", "-"], ["anonymize", "-", *PLAIN, "-o", "out.csv"]):
        stream(ROWS)
        done(*arguments)
    stream(ROWS)
    assert '"file": "-"' in done("scan", "-", "--json").out
    stream(ROWS)
    done("mask-dependence", "-", "--a", "sex", "--b", "age", "--clusters", "2", "--c", "", "-o", "masked.csv")
    stream(Path("out.csv").read_text())
    outcome = run("verify", "-")
    assert (outcome.code, "manifest" in outcome.err) == (2, True)


def test_the_command_says_once_that_an_index_is_left_out(stream):
    Path("in.csv").write_text("".join(f"{i},{line}\n" for i, line in zip(["", 0, 1, 2, 3], ROWS.split(), strict=True)))
    outcome = done("anonymize", "in.csv", *PLAIN, "-o", "out.csv")
    assert outcome.err == "in.csv: its first column has no name; left out, as an index.\n"
    assert frames.read("out.csv").columns == ("age", "sex")


@pytest.mark.skipif(sys.platform == "win32", reason="there a stream has no name")
def test_the_file_that_comes_in_is_not_written_over(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(ROWS)
    with path.open("rb") as file:
        made = subprocess.run(
            [sys.executable, "-m", "hushtable", "anonymize", "-", *PLAIN, "-o", str(path), "--force"],
            stdin=file,
            capture_output=True,
            text=True,
            check=False,
        )
    assert made.returncode == 2
    assert "the output is the input" in made.stderr
    assert path.read_text() == ROWS
