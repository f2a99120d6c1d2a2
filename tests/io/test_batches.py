"""Files read piece by piece: the same cells as whole, the same errors, and which files a folder has."""

import gzip
import traceback

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from hushtable.engines.files import Files
from hushtable.errors import ColumnError, InputError
from hushtable.io import csv, encoding, frames
from hushtable.io.batches import scan
from hushtable.io.csv import Dialect
from hushtable.io.distinct_rows import collapse

SECRET = "canary-7319"
CELL = st.sampled_from(["", " ", "x", "é", "漢", '"q"', "a,b", "1;2", "two\nlines", "cr\r\nlf", "007", "="])


@pytest.fixture
def _small_pieces(monkeypatch):
    monkeypatch.setattr("hushtable.io.encoding._PIECE_BYTES", 7)


def quoted(cell, delimiter):
    return '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in f'{delimiter}"\r\n') else cell


def pieces_of(path, dialect=None):
    """Return all cells of a file that is read in pieces, and how it was read."""
    source = scan(path, dialect)
    tables = [pl.from_arrow(table) for table in source.batches(source.columns)]
    return pl.concat([table.rename(dict(zip(table.columns, source.columns, strict=True))) for table in tables]), source


@given(
    rows=st.lists(st.tuples(CELL, CELL, CELL), max_size=8),
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    piece=st.integers(1, 40),
    is_open=st.booleans(),
    is_zipped=st.booleans(),
)
def test_a_csv_in_pieces_is_the_csv_read_whole(
    tmp_path_factory, rows, delimiter, end, encoding, piece, is_open, is_zipped
):
    path = tmp_path_factory.mktemp("t") / ("t.csv.gz" if is_zipped else "t.csv")
    lines = [delimiter.join(quoted(cell, delimiter) for cell in row) for row in [("a", "b c", "🦔"), *rows]]
    raw = (end.join(lines) + ("" if is_open else end)).encode(encoding)
    path.write_bytes(gzip.compress(raw) if is_zipped else raw)
    # What splits few records evenly is found in the first piece alone.
    dialect = Dialect(delimiter=delimiter)
    whole = frames.read(path, dialect=dialect)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hushtable.io.encoding._PIECE_BYTES", piece)
        cells, source = pieces_of(path, dialect)
        assert cells.equals(whole.native.cast(pl.String))
        assert source.columns == whole.columns
        assert source.dialect == whole.dialect
        frame = collapse(source)
    assert (frame.is_text, frame.n_records) == (True, whole.n_rows)
    assert frame.dialect == whole.dialect


@given(raw=st.text('a"\n', max_size=30))
def test_a_piece_ends_where_the_last_line_outside_quotes_does(raw):
    ends = [at for at, sign in enumerate(raw) if sign == "\n" and raw.count('"', 0, at) % 2 == 0]
    assert csv._last_end(raw.encode()) == max(ends, default=-1)


def test_a_record_that_never_ends_is_not_gathered(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "_PIECE_BYTES", 64)
    monkeypatch.setattr(csv, "_LONGEST_RECORD", 500)
    (tmp_path / "t.csv").write_text('a,b\n1,2\n1,"2\n' + "1,2\n" * 300)
    with pytest.raises(InputError, match=r"a record of .* has more than 500 bytes: a quote is never closed"):
        collapse(scan(tmp_path / "t.csv", Dialect(delimiter=",")))


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"a,b\n1,2\n1,2,3\n", "line 3 .* has 3 fields, expected 2"),
        (b'a,b\n1,2\n1,2\n1,x"y\n', "unbalanced quotes from line 4"),
        (b'a,b\n1,2\n1,2\n1,"2\n', "unbalanced quotes from line 4"),
        (b"a,b\n1,2\r3,4\n", "line 2 .* carriage return"),
        (b"a,a\n1,2\n", "more than one column 'a'"),
        (b"", "is empty"),
    ],
)
@pytest.mark.usefixtures("_small_pieces")
def test_a_csv_in_pieces_has_the_errors_of_one_read_whole(tmp_path, raw, word):
    path = tmp_path / "t.csv"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=word) as whole:
        frames.read(path)
    with pytest.raises(InputError, match=word) as pieces:
        pieces_of(path)
    assert str(whole.value) == str(pieces.value)


@pytest.mark.usefixtures("_small_pieces")
def test_encodings_are_found_and_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("name;town\nx;y\nz;Zürich\nü;ß\n".encode("cp1252"))
    cells, source = pieces_of(path)
    assert source.dialect.encoding == frames.read(path).dialect.encoding == "cp1252"
    assert cells["town"].to_list() == ["y", "Zürich", "ß"]
    with pytest.raises(InputError, match=r"line 3 .* is not utf-8") as caught:
        pieces_of(path, Dialect("utf-8"))
    assert "Zürich" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(InputError, match="unknown encoding"):
        pieces_of(path, Dialect("klingon"))


@pytest.mark.usefixtures("_small_pieces")
def test_an_index_and_escaped_formulas_are_read_in_every_piece(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",'=a,b\n0,'=1,x\n1,'=2,y\n2,'=3,z\n")
    cells, source = pieces_of(path, Dialect(formulas="escape"))
    whole = frames.read(path, dialect=Dialect(formulas="escape"))
    assert cells.equals(whole.native)
    assert source.columns == ("=a", "b")


def test_the_first_rows(tmp_path):
    table = pl.DataFrame({"a": range(9), "b": pl.Series(list("xyz") * 3, dtype=pl.Categorical)})
    for place in range(3):
        table[3 * place : 3 * place + 3].write_parquet(tmp_path / f"{place}.parquet")
    files = Files.open(tmp_path)
    for n in (0, 1, 3, 4, 9, 20):
        head = files.head(n)
        assert head.native["a"].to_list() == list(range(min(n, 9)))
        assert head.native.schema == table.schema
    (tmp_path / "t.csv").write_text("a;b\n1;x\n2;y\n")
    head = Files.open(tmp_path / "t.csv").head(1)
    assert (head.is_text, head.delimiter, head.native.rows()) == (True, ";", [("1", "x")])


def test_a_folder_a_pattern_and_a_file(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("b.parquet", "a.pq", "_manifest.json", ".hidden", "_SUCCESS"):
        pl.DataFrame({"a": [1]}).write_parquet(folder / name)
    assert [each.name for each in scan(folder).inputs] == ["a.pq", "b.parquet"]
    assert [each.name for each in scan(folder / "*.parquet").inputs] == ["b.parquet"]
    assert scan(folder / "a.pq").columns == ("a",)


@pytest.mark.parametrize("name", ["none", "*.parquet", "none.csv"])
def test_nothing_to_read(tmp_path, name):
    with pytest.raises(InputError, match="there is no file"):
        scan(tmp_path / name)


def test_what_a_folder_may_not_hold(tmp_path):
    with pytest.raises(InputError, match="no files are in the folder"):
        scan(tmp_path)
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "more").mkdir()
    with pytest.raises(InputError, match="holds folders: 'more'"):
        scan(tmp_path)
    (tmp_path / "more").rmdir()
    (tmp_path / "notes.txt").write_text(SECRET)
    with pytest.raises(InputError, match=r"not Parquet: 'notes.txt'"):
        scan(tmp_path)
    (tmp_path / "notes.txt").unlink()
    pl.DataFrame({"a": ["x"], "b": [1]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(ColumnError, match=r"other types of columns.*'a', 'b'"):
        scan(tmp_path)
    (tmp_path / "b.parquet").write_bytes(b"PAR1" + SECRET.encode())
    with pytest.raises(InputError, match="damaged") as caught:
        scan(tmp_path)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_file_that_is_cut_off_after_it_was_opened(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": range(1000)}).write_parquet(path)
    source = scan(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="changed while it was read: its size changed"):
        collapse(source)


def test_columns_of_one_name_are_an_error(tmp_path):
    pq.write_table(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), tmp_path / "a.parquet")
    with pytest.raises(ColumnError, match="same name"):
        scan(tmp_path / "a.parquet")
