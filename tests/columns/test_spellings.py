"""How cells spell values: found where they leave no doubt, doubted where they do, rewritten without a loss."""

import datetime as dt
import random
import re
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from hushtable.columns.column import ColumnSpec
from hushtable.columns.missing_codes import count_missing_codes, count_missing_numbers
from hushtable.columns.series import encode
from hushtable.columns.spellings import (
    find_ambiguities,
    infer_spelling,
    to_canonical_texts,
)
from hushtable.errors import ColumnError, InputError
from hushtable.io import frames
from hushtable.io.csv import Dialect
from hushtable.tables.table import Table

MARKS = [(",", None), (",", "."), (",", " "), (",", "'"), (".", ","), (".", " "), (".", "'"), (".", None)]
FORMATS = ["%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d %b %Y", "%d-%b-%Y", "%B %d, %Y"]
CLOCKS = ["", " %H:%M", " %H:%M:%S", "T%H:%M"]


def texts(*cells: str | None) -> pl.Series:
    return pl.Series(cells, dtype=pl.String)


def spelled(number: Decimal, decimal: str, thousands: str | None) -> str:
    """The slow twin: format with commas, then exchange the marks."""
    plain = f"{number:,f}"
    return plain.replace(",", "T").replace(".", decimal).replace("T", thousands or "")


def number_of(text: str, decimal: str, thousands: str | None) -> Decimal | None:
    """Read one number by its marks, digit group by digit group; None where it is none."""
    # One sign: with two it is no number.
    unsigned = text[1:] if text.startswith(("+", "-")) else text
    whole, mark, part = unsigned.partition(decimal)
    groups = whole.split(thousands) if thousands else [whole]
    is_grouped = len(groups) == 1 or (1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:]))
    digits = "".join(groups)
    if not is_grouped or not digits.isdecimal() or (mark and not part.isdecimal()):
        return None
    if len(digits) > 1 and digits.startswith("0"):
        return None
    return Decimal(f"{'-' if text.startswith('-') else ''}{digits}.{part or 0}")


@pytest.mark.parametrize(("decimal", "thousands"), MARKS)
@given(st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1))
def test_numbers_come_back_from_any_marks(decimal: str, thousands: str | None, numbers: list[Decimal]) -> None:
    cells = texts(*(spelled(number, decimal, thousands) for number in numbers))
    read = to_canonical_texts(cells, ColumnSpec(decimal=decimal, thousands=thousands))
    assert [Decimal(text) for text in read] == numbers


@given(st.lists(st.text("01.,' 5-", min_size=1, max_size=9), min_size=1, max_size=4))
def test_marks_are_found_where_all_readings_agree(cells: list[str]) -> None:
    stripped = [cell.strip() for cell in cells]
    readings = {}
    for decimal, thousands in [(".", None), (".", ","), (".", " "), (".", "'"), (",", None), *MARKS[1:4]]:
        numbers = [number_of(cell, decimal, thousands) if cell else None for cell in stripped]
        filled = [number for number, cell in zip(numbers, stripped, strict=True) if cell]
        if filled and None not in filled:
            readings[tuple(filled)] = decimal, thousands
    column = texts(*cells)
    spec = infer_spelling(column, ColumnSpec())
    if len(readings) > 1:
        assert spec == ColumnSpec()
        assert len(find_ambiguities(column, ColumnSpec())[1]) == len(readings)
    elif len(readings) == 1:
        (numbers,) = readings
        read = [Decimal(text) for text in to_canonical_texts(column, spec).to_list() if text.strip()]
        assert read == list(numbers)
    else:
        assert spec == ColumnSpec()


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("format_", FORMATS)
def test_a_format_is_found_and_read_as_the_standard_library_reads_it(format_: str, clock: str) -> None:
    draw = random.Random(format_ + clock)
    moments = [dt.datetime(1901, 1, 1) + dt.timedelta(minutes=draw.randrange(60_000_000)) for _ in range(60)]
    cells = [moment.strftime(format_ + clock) for moment in moments]
    spec = infer_spelling(texts(*cells), ColumnSpec())
    assert spec.format == format_ + clock
    read = to_canonical_texts(texts(*cells, None, "unknown"), spec).to_list()
    expected = [dt.datetime.strptime(cell, format_ + clock) for cell in cells]
    shown = [str(moment) if clock else str(moment.date()) for moment in expected]
    assert read == [*shown, None, "unknown"]


@pytest.mark.parametrize(
    ("cells", "formats"),
    [
        (["01.02.2023", "12.11.1999"], ("%d.%m.%Y", "%m.%d.%Y")),
        (["01/02/2023"], ("%d/%m/%Y", "%m/%d/%Y")),
        (["31.12.23"], ("%d.%m.%y", "%y.%m.%d")),
        (["01.02.03"], ("%d.%m.%y", "%m.%d.%y", "%y.%m.%d")),
        (["05.05.2023", "01.01.2001"], ()),
        (["2023-01-05"], ()),
        (["31.02.2023"], ()),
        (["1.2.3"], ()),
    ],
)
def test_dates_that_fit_several_formats_are_doubted(cells: list[str], formats: tuple[str, ...]) -> None:
    assert find_ambiguities(texts(*cells), ColumnSpec())[0] == formats
    if formats:
        assert infer_spelling(texts(*cells), ColumnSpec()) == ColumnSpec()
        assert find_ambiguities(texts(*cells), ColumnSpec(format=formats[0])) == ((), ())
        assert find_ambiguities(texts(*cells), ColumnSpec("category")) == ((), ())


def test_a_mark_that_is_said_settles_what_the_cells_leave_open() -> None:
    cells = texts("1,234", "2,500")
    assert len(find_ambiguities(cells, ColumnSpec())[1]) == 2
    assert to_canonical_texts(cells, ColumnSpec(decimal=",")).to_list() == ["1.234", "2.500"]
    assert to_canonical_texts(cells, ColumnSpec(decimal=".")).to_list() == ["1234", "2500"]
    assert to_canonical_texts(cells, ColumnSpec(thousands=",")).to_list() == ["1234", "2500"]


@pytest.mark.parametrize("cells", [[], [None], ["", " "], ["*"], ["x"], ["5"], ["1.5", "2"], ["01", "1,5"]])
def test_columns_in_which_nothing_is_to_be_found(cells: list[str | None]) -> None:
    column = texts(*cells)
    assert infer_spelling(column, ColumnSpec()) == ColumnSpec()
    assert find_ambiguities(column, ColumnSpec()) == ((), ())
    assert to_canonical_texts(column, ColumnSpec()).to_list() == cells


def test_stars_and_blanks_say_nothing_of_a_spelling() -> None:
    cells = texts("*", " ", None, "1,5")
    spec = infer_spelling(cells, ColumnSpec())
    assert (spec.decimal, spec.thousands) == (",", None)
    assert to_canonical_texts(cells, spec).to_list() == ["*", " ", None, "1.5"]


def test_missing_codes_are_missing_only_when_said_and_counted_when_not() -> None:
    cells = texts("NA", "1,5", " NA ", "-9", None)
    assert infer_spelling(cells, ColumnSpec()) == ColumnSpec()
    said = ColumnSpec(missing_values=("NA", "-9"))
    spec = infer_spelling(cells, said)
    assert spec.decimal == ","
    assert to_canonical_texts(cells, spec).to_list() == [None, "1.5", None, None, None]
    assert count_missing_codes(cells) == {"NA": 2, "-9": 1}
    assert count_missing_codes(pl.Series([1, 2])) == {}


def test_a_format_that_is_said_makes_a_fault_of_what_is_no_such_date(tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("born\n31.12.1999\nsoon\n")
    with pytest.raises(ColumnError, match="1 of its 2 distinct values"):
        Table.encode(path, specs={"born": ColumnSpec(format="%d.%m.%Y")})


def test_text_of_a_dataframe_is_text_until_something_is_said_of_it() -> None:
    data = pl.DataFrame({"born": ["31.12.1999", "01.02.2003"]})
    assert Table.encode(data).columns[0].kind == "category"
    told = Table.encode(data, specs={"born": ColumnSpec(format="%d.%m.%Y")})
    assert told.columns[0].kind == "date"
    assert told.columns[0].texts() == ["1999-12-31", "2003-02-01"]
    assert Table.encode(data, specs={"born": ColumnSpec("date")}).columns[0].kind == "date"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"format": "%d.%m"}, "day, month and year"),
        ({"format": "ask"}, "day, month and year"),
        ({"format": 7}, "day, month and year"),
        ({"format": "%d.%m.%Y", "kind": "integer"}, "for dates"),
        ({"decimal": ";"}, "decimal mark is"),
        ({"thousands": "_"}, "what groups digits"),
        ({"thousands": "."}, "what groups digits"),
        ({"decimal": ",", "thousands": ","}, "what groups digits"),
        ({"missing_values": "NA"}, "sequence of texts"),
        ({"missing_values": [9]}, "sequence of texts"),
    ],
)
def test_specs_that_say_nothing_sensible(said: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ColumnSpec(**said)


DIALECT = "id;born;height;pay;town\r\n1;31.12.1999;1,75;1.234,50;Köln\r\n2;1.2.2003;1,60;999,00;Ulm\r\n"


def test_a_file_is_learned_as_a_whole(tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(DIALECT.replace("1,60", "1,605").replace("1,75", "1,750").encode("cp1252"))
    frame = frames.read(path)
    assert frame.dialect == Dialect("cp1252", ";", index=False)
    # On its own, the height could be in thousands.
    assert frame.doubts("height")[1]
    learned = frame.with_learned_specs()
    assert learned.dialect == Dialect("cp1252", ";", ",", ".", index=False)
    assert learned.specs == {"born": ColumnSpec(format="%d.%m.%Y")}
    table = Table.encode(learned)
    assert [column.kind for column in table.columns] == ["integer", "date", "decimal", "decimal", "category"]
    assert table.column("height").texts() == ["1.605", "1.75"]
    assert learned.column("height").to_list() == ["1,750", "1,605"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_encodings_are_found(tmp_path, encoding: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(DIALECT.encode(encoding))
    assert frames.read(path).column("town").to_list() == ["Köln", "Ulm"]


@pytest.mark.parametrize(
    ("text", "encoding"), [("性别,年龄\n男,1\n女,2\n", "gb18030"), ("性別,年齡\n男,1\n女,2\n臺北,3\n", "big5")]
)
def test_chinese_encodings_are_found(tmp_path, text: str, encoding: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(encoding))
    assert frames.read(path).columns == tuple(re.split(",|\n", text)[:2])


def test_a_repr_of_what_was_said_holds_no_cell(tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(DIALECT.encode("cp1252"))
    assert "Köln" not in repr(frames.read(path).with_learned_specs())


@pytest.mark.parametrize(
    ("numbers", "codes"),
    [
        ([*range(18), 99], {"99": 3}),
        ([*range(18), -9, -99], {"-99": 3, "-9": 3}),
        ([*range(1, 7), -9, 99, 999, 9998], {"-9": 3, "99": 3, "999": 3, "9998": 3}),
        ([*range(1, 10)], {}),
        ([-9, -5, 0, 5], {}),
        ([*range(90), 97, 98, 99], {}),
        ([*range(0, 900, 9), 999], {}),
        ([1, 2, 3, 150], {}),
        ([1, 99], {}),
        ([0.5, 1.5, 2.5, 999.0], {"999": 3}),
        ([*range(1, 7), 97, 98, 99], {"97": 3, "98": 3, "99": 3}),
        ([*range(1, 7), -9, 999, 9998], {"-9": 3, "9998": 3, "999": 3}),
    ],
)
def test_a_code_of_a_missing_number_lies_far_from_all_others(numbers: list[float], codes: dict[str, int]) -> None:
    column, places = encode(pl.Series(numbers * 3), ColumnSpec(), is_typed=False, name="n")
    assert count_missing_numbers(column, np.bincount(places)) == codes
