"""Excel's workbooks: cells keep their types, text is typed by its looks, and no cell is lost."""

import datetime as dt
import io
import sys
import zipfile

import polars as pl
import pytest
import xlsxwriter

import hushtable as ht
from hushtable.errors import ColumnError, InputError
from hushtable.io import frames
from hushtable.io.csv import Dialect
from hushtable.tables.table import Table

ROWS = [
    ["age", "born", "zip", "pay", "mixed", "nothing"],
    [31, dt.date(2000, 1, 2), "01234", 1.5, 1, None],
    [None] * 6,
    [34, dt.date(2001, 1, 2), "12345", 2, "b", None],
    [None, None, None, None, dt.date(2000, 1, 2), None],
]


def workbook(rows, *, at=(0, 0), prepare=lambda book, sheet: None):
    raw = io.BytesIO()
    book = xlsxwriter.Workbook(raw, {"default_date_format": "yyyy-mm-dd"})
    sheet = book.add_worksheet("people")
    for i, row in enumerate(rows, at[0]):
        for j, cell in enumerate(row, at[1]):
            if cell is not None:
                sheet.write(i, j, cell)
    prepare(book, sheet)
    book.close()
    return raw.getvalue()


def read(raw):
    return frames.read_stream(raw, "stdin", Dialect())


@pytest.mark.parametrize("at", [(0, 0), (3, 2)])
def test_cells_keep_their_types(tmp_path, at, capfd, caplog):
    (tmp_path / "a.xlsx").write_bytes(workbook(ROWS, at=at))
    frame = frames.read(tmp_path / "a.xlsx")
    assert frame.columns == tuple(ROWS[0])
    assert frame.native.dtypes == [pl.Int64, pl.Date, pl.String, pl.Float64, pl.String, pl.String]
    assert frame.native.rows() == [
        (31, dt.date(2000, 1, 2), "01234", 1.5, "1", None),
        (34, dt.date(2001, 1, 2), "12345", 2.0, "b", None),
        (None, None, None, None, "2000-01-02 00:00:00", None),
    ]
    assert (capfd.readouterr(), caplog.records) == (("", ""), [])


def test_times_of_a_day_are_times_and_come_back(tmp_path):
    clocks = [dt.time(23, 59, 59, 250_000), dt.time(0), dt.time(12), None] * 3
    moments = [dt.datetime(1899, 12, 31, 5), dt.datetime(2024, 1, 2, 3)] * 6
    table = pl.DataFrame({"age": [30] * 12, "clock": clocks, "midnight": [dt.time(0)] * 12, "moment": moments})
    release = ht.anonymize(table, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], roles="trust")
    assert release.write(tmp_path / "out.xlsx").passed
    back = frames.read(tmp_path / "out.xlsx").native
    assert back.dtypes[1:] == [pl.Time, pl.Time, pl.Datetime("ms")]
    assert back["clock"].sort().equals(table["clock"].sort())


def test_text_is_typed_by_its_looks():
    table = Table.encode(read(workbook([["a", "b"], ["1,5", "31.12.2023"], ["2,5", "01.01.2024"]])))
    assert [column.texts() for column in table.columns] == [["1.5", "2.5"], ["2023-12-31", "2024-01-01"]]


def test_what_is_odd_past_a_thousand_rows_is_not_lost():
    frame = read(workbook([["a"], *([i] for i in range(1500)), ["x"]]))
    assert frame.column("a").to_list()[-2:] == ["1499", "x"]


def test_a_header_alone_is_an_empty_table():
    frame = read(workbook([["a", "b"]]))
    assert (frame.columns, frame.n_rows) == (("a", "b"), 0)


def hide(book, sheet):
    book.add_worksheet("other").activate()
    sheet.hide()


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        (workbook([]), InputError, "first sheet of 'stdin' is empty"),
        (workbook([["a"], [1]], prepare=hide), InputError, "first sheet of 'stdin' is hidden"),
        (workbook([["a", "a"], [1, 2]]), ColumnError, "more than one column 'a'"),
        (workbook([["a", None], [1, 2]]), ColumnError, "no name for column 2"),
        (
            workbook([[], [1, 2]], prepare=lambda book, sheet: sheet.merge_range(0, 0, 0, 1, "both")),
            ColumnError,
            "no name for column 2.*\n\n.*merge no cells",
        ),
        (b"PK\x03\x04no workbook", InputError, "not a workbook that can be read"),
    ],
)
def test_workbooks_that_are_no_tables(raw, error, message):
    with pytest.raises(error, match=message):
        read(raw)


def test_without_a_reader(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(InputError, match=r"pip install 'hushtable\[excel\]'"):
        read(workbook(ROWS))


def test_a_workbook_that_is_written_reads_back(tmp_path):
    texts = ["=1+1", "007", "1e5", "+49 30", "https://x.org", "2024-05-01", "-", None]
    table = pl.DataFrame(
        {
            "text": texts,
            "whole": [2**40, -1, 0, None, 1, 2, 3, 4],
            "broken": [1 / 3, 1e-300, 0.1 + 0.2, None, 1.5, 2.5, 3.5, 4.25],
            "day": [dt.date(2024, 5, 1), None] * 4,
            "moment": [dt.datetime(2024, 5, 1, 3, 4, 5), None] * 4,
            "flag": [True, False, None, True] * 2,
        }
    )
    path = tmp_path / "out.xlsx"
    frames.check_writable(frames.read(table), path)
    frames.write(frames.read(table), path)
    back = frames.read(path)
    for name in table.columns:
        cells = back.column(name).to_list()
        assert cells == table[name].to_list(), name
    assert b"<f>" not in zipfile.ZipFile(path).read("xl/worksheets/sheet1.xml")
    assert back.column("text").dtype == pl.String


def test_what_no_sheet_holds_is_refused(tmp_path, monkeypatch):
    frame = frames.read(pl.DataFrame({"a": range(5)}))
    monkeypatch.setattr("hushtable.io.files._MOST_ROWS", 4)
    with pytest.raises(InputError, match="cannot hold 5 rows"):
        frames.check_writable(frame, tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="longer than a cell"):
        frames.write(frames.read(pl.DataFrame({"a": ["x" * 40_000]})), tmp_path / "a.xlsx")
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(InputError, match=r"hushtable\[excel\]"):
        frames.check_writable(frame.take([0]), tmp_path / "a.xlsx")


def test_whole_numbers_that_no_integer_holds_are_read():
    frame = read(workbook([["huge"], [1e20], [2.0], [None]]))
    assert Table.encode(frame).column("huge").kind == "decimal"
