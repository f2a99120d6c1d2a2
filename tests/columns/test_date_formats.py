"""A format of dates means what it means to `datetime.strptime`, cell by cell."""

import datetime as dt
import warnings

import polars as pl
import pytest

from hushtable.columns.column import ColumnSpec
from hushtable.columns.date_formats import read_moments
from hushtable.columns.spellings import to_canonical_texts
from hushtable.errors import InputError

FORMATS = [
    *("%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%Y-%m-%d", "%Y%m%d", "%d %b %Y", "%d%b%Y", "%B %d, %Y"),
    *("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S,%f", "%d/%m/%y %I:%M %p"),
    *("%Y-%m-%d %H:%M%z", "%Y-%j", "%G-W%V-%u"),
]
CELLS = [
    *("05.10.1943", "5.10.43", "5.10.1943", "05.10.943", "05.10.-1943", "05.10.0043", "05.10.0000", "05.10.69"),
    *("05.10.68", "05.10.70", "31.02.1950", "29.02.1900", "29.02.2000", "32.01.2000", "00.01.2000", "01.13.2000"),
    *("05. 10.1943", " 05.10.1943 ", "05.10.1943x", "٠٥.١٠.١٩٤٣", "05.10.19433", "+5.10.1943", "05,10,1943", "*"),
    *("10/05/1943", "13/05/1943", "1/5/1943", "1943-10-05", "1943-1-5", "943-10-05", "0001-01-01", "9999-12-31"),
    *("19431005", "1943105", "194310", "05 Oct 1943", "05 oct 1943", "05 OCT 1943", "05 Okt 1943", "05  Oct 1943"),
    *("05Oct1943", "5oct1943", "October 5, 1943", "october 05, 1943", "Oct 5, 1943", "May 5, 1943", "", "x"),
    *("05.10.1943 24:00", "05.10.1943 23:59", "05.10.1943 7:5", "05.10.1943 23:59:60", "05.10.1943 23:59:61"),
    "05.10.1943 23:59:59",
    *("05.10.1943 23:59:62", "05.10.1943 23:60:00", "1943-10-05 08:15:00.250", "1943-10-05 08:15:00.25"),
    *("1943-10-05 08:15:00.123456", "1943-10-05 08:15:00.1234567", "1943-10-05 08:15:00.", "1943-10-05 08:15:00"),
    *("1943-10-05T08:15:00,5", "05/10/43 12:00 AM", "05/10/43 12:00 pm", "05/10/69 13:00 PM", "05/10/69 01:30 PM"),
    *("1943-10-05 08:15+02:00", "1943-10-05 08:15Z", "1943-10-05 08:15+0200", "1943-10-05 08:15+02:00:30"),
    *("0001-01-01 00:00+02:00", "1943-10-05 08:15+25:00", "1943-278", "1943-366", "1943-W40-2", "1943-W53-1"),
]


def parse(cell: str, format_: str) -> dt.datetime | None:
    """Ask the standard library, which knows English names alone."""
    try:
        moment = dt.datetime.strptime(cell.strip().replace("Okt", "Oct"), format_)
        return moment if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


@pytest.mark.parametrize("format_", FORMATS)
def test_every_cell_is_read_as_the_standard_library_reads_it(format_: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = read_moments(pl.Series(CELLS), format_).to_list()
    expected = [parse(cell, format_) for cell in CELLS]
    assert dict(zip(CELLS, read, strict=True)) == dict(zip(CELLS, expected, strict=True))
    assert any(read)


def test_years_of_two_digits_turn_at_69() -> None:
    cells = [f"01.01.{year:02}" for year in range(100)]
    years = [moment.year for moment in read_moments(pl.Series(cells), "%d.%m.%y").to_list()]
    assert years == [*range(2000, 2069), *range(1969, 2000)]


def test_moments_that_differ_in_milliseconds_stay_different() -> None:
    cells = [f"2023-01-31 08:15:00.{part}" for part in ("250", "500", "750", "100")]
    assert to_canonical_texts(pl.Series(cells), ColumnSpec(format="%Y-%m-%d %H:%M:%S.%f")).n_unique() == 4


def test_moments_with_an_offset_may_have_decimals_of_seconds() -> None:
    cells = pl.Series(["2023-01-31 08:15:00.123456789+02:00", "2023-01-31 08:15:00Z"])
    read = [moment.isoformat() for moment in read_moments(cells, "%Y-%m-%d %H:%M:%S%z").to_list()]
    assert read == ["2023-01-31T06:15:00.123456", "2023-01-31T08:15:00"]


@pytest.mark.parametrize("format_", ["%d.%d.%Y", "%d.%m", "%Q.%m.%Y", "%"])
def test_a_format_that_the_standard_library_refuses_is_refused(format_: str) -> None:
    with pytest.raises(InputError, match="does not name a day"):
        ColumnSpec(format=format_)
