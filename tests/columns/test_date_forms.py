"""Dates of every form mean what a calendar and a list of names say, cell by cell, whichever reader holds them."""

import datetime as dt
import random
import re

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import given

import hushtable as ht
from hushtable.columns.column import ColumnSpec, from_texts
from hushtable.columns.spellings import (
    date_formats_of_digits,
    find_ambiguities,
    infer_spelling,
    latest_year_of,
    to_canonical_texts,
)
from hushtable.errors import ColumnError, InputError

MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
}
SHORT = {
    "en": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "de": "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
    "fr": "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
    "es": "ene feb mar abr may jun jul ago sept oct nov dic",
    "it": "gen feb mar apr mag giu lug ago set ott nov dic",
    "nl": "jan. feb. mrt. apr. mei jun. jul. aug. sep. okt. nov. dec.",
}
CASES = (str, str.upper, str.lower, str.title)


def draw_days(n: int = 70, *, seed: int = 0) -> list[dt.date]:
    """Draw days of 1935 to 2024, the first of them the ends of months that calendars trip over."""
    rng = random.Random(seed)
    edges = [dt.date(1944, 2, 29), dt.date(2000, 2, 29), dt.date(1999, 12, 31), dt.date(1943, 10, 5)]
    return edges + [dt.date(1935, 1, 1) + dt.timedelta(rng.randrange(90 * 365)) for _ in range(n - len(edges))]


def read(cells: list[str], **said: object) -> list[str | None]:
    spec = ColumnSpec(**said)
    column, codes = from_texts(
        "", [text or "" for text in to_canonical_texts(pl.Series(cells), spec).to_list()], "date"
    )
    return [None if code < 0 else column.text(code) for code in codes.tolist()]


WITH_NAMES = {
    "%d. %B %Y": lambda day, name: f"{day.day}. {name} {day.year}",
    "%d %B %Y": lambda day, name: f"{day.day:02} {name} {day.year}",
    "%B %d, %Y": lambda day, name: f"{name} {day.day}, {day.year}",
    "%d de %B de %Y": lambda day, name: f"{day.day} de {name} de {day.year}",
    "%d-%B-%Y": lambda day, name: f"{day.day}-{name}-{day.year}",
}
WITH_SHORT_NAMES = {
    "%d %b %Y": lambda day, name: f"{day.day} {name} {day.year}",
    "%d. %b %Y": lambda day, name: f"{day.day}. {name} {day.year}",
    "%d%b%Y": lambda day, name: f"{day.day:02}{name}{day.year}",
    "%d-%b-%Y": lambda day, name: f"{day.day:02}-{name}-{day.year}",
    "%d/%b/%Y": lambda day, name: f"{day.day}/{name}/{day.year}",
}
NUMBERS = {
    "%d. %m. %Y": lambda day: f"{day.day}. {day.month}. {day.year}",
    "%Y年%m月%d日": lambda day: f"{day.year}年{day.month}月{day.day}日",
    "%Y년 %m월 %d일": lambda day: f"{day.year}년 {day.month}월 {day.day}일",
    "%d.%m.%Y": lambda day: f"{day.day}.{day.month}.{day.year}",
}
DIGITS = {
    "%Y%m%d": lambda day: f"{day.year}{day.month:02}{day.day:02}",
    "%d%m%Y": lambda day: f"{day.day:02}{day.month:02}{day.year}",
    "excel": lambda day: str((day - dt.date(1899, 12, 30)).days),
}
UNITS = {
    "%m/%Y": lambda day: f"{day.month}/{day.year}",
    "%m-%Y": lambda day: f"{day.month:02}-{day.year}",
    "%Y-%m": lambda day: f"{day.year}-{day.month:02}",
    "%Y/%m": lambda day: f"{day.year}/{day.month:02}",
    "%Y年%m月": lambda day: f"{day.year}年{day.month}月",
    "Q%q %Y": lambda day: f"Q{(day.month + 2) // 3} {day.year}",
    "%Y-Q%q": lambda day: f"{day.year}-Q{(day.month + 2) // 3}",
    "%YQ%q": lambda day: f"{day.year}Q{(day.month + 2) // 3}",
    "T%q %Y": lambda day: f"T{(day.month + 2) // 3} {day.year}",
    "%q. Quartal %Y": lambda day: f"{(day.month + 2) // 3}. Quartal {day.year}",
    "%qe kwartaal %Y": lambda day: f"{(day.month + 2) // 3}e kwartaal {day.year}",
}


def in_unit(day: dt.date, format_: str) -> str:
    """Write the month or quarter of a day as hushtable does."""
    return f"{day.year}-Q{(day.month + 2) // 3}" if "%q" in format_ else f"{day.year}-{day.month:02}"


@pytest.mark.parametrize("language", MONTHS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("format_", "names"), [*((f, MONTHS) for f in WITH_NAMES), *((f, SHORT) for f in WITH_SHORT_NAMES)]
)
def test_names_of_months_are_read_in_six_languages_and_found(format_, names, case, language):
    write = (WITH_NAMES | WITH_SHORT_NAMES)[format_]
    of_month = names[language].split()
    days = draw_days()
    cells = [write(day, case(of_month[day.month - 1])) for day in days]
    assert read(cells, format=format_) == [day.isoformat() for day in days]
    assert to_canonical_texts(pl.Series(cells), infer_spelling(pl.Series(cells), ColumnSpec())).to_list() == [
        d.isoformat() for d in days
    ]


@pytest.mark.parametrize("format_", NUMBERS)
def test_numbers_with_marks_are_read_and_found(format_):
    days = draw_days()
    cells = [NUMBERS[format_](day) for day in days]
    assert read(cells, format=format_) == [day.isoformat() for day in days]
    assert infer_spelling(pl.Series(cells), ColumnSpec()).format == format_


@pytest.mark.parametrize("format_", DIGITS)
def test_digits_are_dates_only_where_somebody_says_so(format_):
    days = draw_days()
    cells = [DIGITS[format_](day) for day in days]
    assert read(cells, format=format_) == [day.isoformat() for day in days]
    assert infer_spelling(pl.Series(cells), ColumnSpec()) == ColumnSpec()
    assert date_formats_of_digits(pl.Series(cells)) == (format_,)


def test_a_zero_that_a_program_took_from_the_day_is_read_again():
    days = draw_days()
    cells = [DIGITS["%d%m%Y"](day).lstrip("0") for day in days]
    assert read(cells, format="%d%m%Y") == [day.isoformat() for day in days]


@pytest.mark.parametrize("format_", UNITS)
def test_months_and_quarters_keep_their_precision(format_):
    days = draw_days()
    cells = [UNITS[format_](day) for day in days]
    assert read(cells, format=format_) == [in_unit(day, format_) for day in days]
    assert infer_spelling(pl.Series(cells), ColumnSpec()).format == format_


@pytest.mark.parametrize("language", MONTHS)
def test_months_in_words_keep_their_precision(language):
    names, days = MONTHS[language].split(), draw_days()
    cells = [f"{names[day.month - 1]} {day.year}" for day in days]
    assert read(cells, format="%B %Y") == [f"{day.year}-{day.month:02}" for day in days]
    assert infer_spelling(pl.Series(cells), ColumnSpec()).format == "%B %Y"


def test_years_are_dates_where_that_is_said():
    frame = pl.DataFrame({"y": ["1943", "1950", None]})
    column = ht.Table.encode(frame, specs={"y": ColumnSpec(format="%Y")}).columns[0]
    assert (column.kind, column.precision, column.texts()) == ("date", "year", ["1943", "1950"])
    assert infer_spelling(pl.Series(["1943", "1950"]), ColumnSpec()) == ColumnSpec()


@pytest.mark.parametrize(
    "write", ["{:%d/%m/%Y %I:%M %p}", "{:%d/%m/%Y %I:%M:%S %p}", "{:%Y-%m-%d %I:%M %p}", "{:%d.%m.%Y %I:%M%p}"]
)
@pytest.mark.parametrize("half", [("AM", "PM"), ("am", "pm"), ("a.m.", "p.m."), ("a. m.", "p. m.")])
def test_hours_of_half_a_day(write, half):
    rng = random.Random(7)
    moments = [dt.datetime.combine(day, dt.time(rng.randrange(24), rng.randrange(60))) for day in draw_days()]
    cells = [write.format(each).replace("AM", half[0]).replace("PM", half[1]) for each in moments]
    series = pl.Series(cells)
    assert to_canonical_texts(series, infer_spelling(series, ColumnSpec())).to_list() == [
        f"{each:%Y-%m-%d %H:%M:%S}" for each in moments
    ]


def test_moments_of_sas():
    series = pl.Series(["03FEB1942:08:15:00", "28Dec1950:23:59:59"])
    assert to_canonical_texts(series, infer_spelling(series, ColumnSpec())).to_list() == [
        "1942-02-03 08:15:00",
        "1950-12-28 23:59:59",
    ]


NO_DATES = ["31.02.1950", "29.02.1900", "00.01.1950", "32.01.1950", "01.13.1950", "x"]


@pytest.mark.parametrize("cell", NO_DATES)
def test_impossible_dates_are_none(cell):
    frame = pl.DataFrame({"day": ["05.10.1943", cell]})
    with pytest.raises(ColumnError, match="1 of its 2 distinct values are not"):
        ht.Table.encode(frame, specs={"day": ColumnSpec(format="%d.%m.%Y")})


@pytest.mark.parametrize(
    ("format_", "cells"),
    [
        ("%d. %B %Y", ["31. Februar 1950", "1. Octember 1950", "1. Okt 1950", "1 Oktober 1950"]),
        ("%m/%Y", ["13/1950", "0/1950", "1/50", "1/1/1950"]),
        ("Q%q %Y", ["Q0 1950", "Q5 1950", "q1 1950", "Q1 50"]),
        ("%Y", ["50", "0000", "19500", "x"]),
        ("excel", ["0", "60", "2958466", "1.5", "-1", "x"]),
    ],
)
def test_what_is_none_of_the_form_stays_text(format_, cells):
    assert to_canonical_texts(pl.Series(cells), ColumnSpec(format=format_)).to_list() == cells


def test_days_and_months_do_not_make_one_column():
    with pytest.raises(ColumnError, match="1 of its 3 distinct values are not"):
        from_texts("day", ["1943-10-05", "1943-10", "1950-01-01"], "date")


@pytest.mark.parametrize(
    "cells", [["2009/10", "2010/11", "2011/12"], ["07/1011", "03/0815"], ["Maria 1943"], ["1/2", "3/4"]]
)
def test_what_only_looks_like_months_stays_text(cells):
    assert infer_spelling(pl.Series(cells), ColumnSpec()) == ColumnSpec()


def century_of(year: int, latest: int) -> int:
    """Try all years until the latest, from it downwards."""
    return next(each for each in range(latest, latest - 100, -1) if each % 100 == year)


@given(st.integers(1100, 9000), st.lists(st.integers(0, 99), min_size=1, max_size=70))
def test_two_digits_are_the_latest_year_that_they_may_be(latest, years):
    cells = [f"01-Feb-{year:02}" for year in years]
    told = [f"{century_of(year, latest):04}-02-01" for year in years]
    assert read(cells, format="%d-%b-%y", latest_year=latest) == told


def test_a_leap_day_that_the_century_does_not_have_is_none():
    cells = pl.Series(["29.02.00", "29.02.04"])
    assert to_canonical_texts(cells, ColumnSpec(format="%d.%m.%y", latest_year=1950)).to_list() == [
        "29.02.00",
        "1904-02-29",
    ]
    assert to_canonical_texts(cells, ColumnSpec(format="%d.%m.%y", latest_year=2026)).to_list() == [
        "2000-02-29",
        "2004-02-29",
    ]


@pytest.mark.parametrize(
    ("years", "latest"),
    [((98, 3, 27), 2027), ((35, 68), 2026), ((20, 26), 2026), ((0, 50), 2026), (tuple(range(0, 100, 3)), 2026)],
)
def test_the_latest_year_that_is_proposed_keeps_dates_together(years, latest):
    cells = pl.Series([f"01.01.{year:02}" for year in years])
    assert latest_year_of(cells, "%d.%m.%y", 2026, is_birth=False) == latest
    assert latest_year_of(cells, "%d.%m.%y", 2026, is_birth=True) == 2026


@pytest.mark.parametrize("cells", [["03-Feb-42"], ["31.12.43", "01.02.50"], ["Oct-43"], ["3. 2. 42", "31. 12. 43"]])
def test_two_digits_are_always_asked_about(cells):
    series = pl.Series(cells)
    assert infer_spelling(series, ColumnSpec()).format is None
    (format_,), _ = find_ambiguities(series, ColumnSpec())
    assert find_ambiguities(series, ColumnSpec(latest_year=2026)) == ((), ())
    assert infer_spelling(series, ColumnSpec(latest_year=2026)).format == format_


@pytest.mark.parametrize("cells", [["01.02.1943", "03.04.1950"], ["1/2/1943 08:15 PM"], ["01.02.03", "04.05.06"]])
def test_days_and_months_that_may_be_swapped_are_asked_about(cells):
    assert infer_spelling(pl.Series(cells), ColumnSpec()).format is None
    assert len(find_ambiguities(pl.Series(cells), ColumnSpec())[0]) > 1


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"format": "%d.%m.%Y", "latest_year": 2026}, "not of two digits"),
        ({"latest_year": 26}, "four digits"),
        ({"latest_year": "2026"}, "four digits"),
        ({"latest_year": True}, "four digits"),
        ({"kind": "integer", "latest_year": 2026}, "it is for dates"),
        ({"format": "%q/%m/%Y"}, "does not name a day"),
        ({"format": "%m/%m/%Y"}, "does not name a day"),
        ({"format": "%b"}, "does not name a day"),
        ({"format": 7}, "does not name a day"),
    ],
)
def test_what_cannot_be_declared_is_refused(said, told):
    with pytest.raises(InputError, match=told):
        ColumnSpec(**said)


FORMS = [
    *(("%d. %B %Y", [f"{d.day}. {MONTHS['de'].split()[d.month - 1]} {d.year}" for d in draw_days()]) for _ in "x"),
    *((f, [UNITS[f](day) for day in draw_days()]) for f in ("%m/%Y", "Q%q %Y", "%Y-%m")),
    *((f, [DIGITS[f](day) for day in draw_days()]) for f in DIGITS),
    ("%d-%b-%y", [f"{day:%d-%b-%y}".upper() for day in draw_days()]),
    ("%Y", [str(day.year) for day in draw_days()]),
]


@pytest.mark.parametrize(("format_", "cells"), FORMS, ids=[format_ for format_, _ in FORMS])
def test_all_readers_read_a_declared_form_alike(format_, cells, tmp_path):
    frame = pl.DataFrame({"day": cells, "n": [1] * len(cells)})
    whole = [tmp_path / f"people.{ending}" for ending in ("csv", "parquet", "xlsx")]
    frame.write_csv(whole[0])
    frame.write_parquet(whole[1])
    frame.write_excel(whole[2])
    folder = tmp_path / "people"
    folder.mkdir()
    frame.head(30).write_parquet(folder / "a.parquet")
    frame.tail(-30).write_parquet(folder / "b.parquet")
    whole += [folder, frame, frame.lazy(), frame.to_arrow(), frame.to_pandas(), frame.to_pandas().astype(str)]
    if format_ in (*DIGITS, "%Y"):
        whole += [frame.with_columns(pl.col("day").cast(dtype)) for dtype in (pl.Int64, pl.Float64)]
    asked = {
        "quasi_identifiers": ["day"],
        "models": [ht.KAnonymity(2)],
        "specs": {"day": ColumnSpec(format=format_, latest_year=2026 if "%y" in format_ else None)},
    }
    published = []
    for place, source in enumerate(whole):
        ht.anonymize(source, **asked).write(tmp_path / f"{place}.parquet")
        published.append(sorted(pl.read_parquet(tmp_path / f"{place}.parquet")["day"].to_list()))
    assert all(each == published[0] for each in published)
    assert all(re.fullmatch(r"[<>=\[\]), 0-9Q-]+|[0-9]{4}s", cell) for cell in published[0])


def test_hierarchies_begin_at_the_precision_of_the_dates():
    quarters = from_texts("q", ["2023-Q4", "2024-Q1", "2024-Q2"], "date")[0]
    ladder = ht.Hierarchy.auto(quarters)
    assert ladder.labels[1:-1] == (("2023-Q4", "2024-Q1", "2024-Q2"), ("2023", "2024"), ("2020s",))
    assert [shares.round(3).tolist() for shares in ladder.shares[:3]] == [
        [0.333] * 3,
        [0.333] * 3,
        [0.333, 0.667],
    ]
    assert quarters.values.astype("datetime64[D]").tolist()[0] == dt.date(2023, 10, 1)
    assert np.array_equal(quarters.positions(), [0, 0.5, 1])
