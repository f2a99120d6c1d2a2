"""A table as real exports write it: forty columns, a few odd cells each, read through every kind of file."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hushtable as ht
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError
from hushtable.io import frames
from hushtable.tables import Table

N = 500
RNG = np.random.default_rng(7)
DAYS = [dt.date(1930, 1, 1) + dt.timedelta(int(x)) for x in RNG.integers(0, 28_000, N)]
MINUTES = RNG.integers(0, 24 * 60, N).tolist()
MOMENTS = [
    dt.datetime.combine(day, dt.time(minute // 60, minute % 60)) for day, minute in zip(DAYS, MINUTES, strict=True)
]
WHOLE, PAY = RNG.integers(1, 95, N).tolist(), RNG.lognormal(7, 1, N).tolist()
CODES = RNG.integers(10_000, 99_999, N).tolist()


def dates(form: str) -> list[str]:
    return [f"{day:{form}}" for day in DAYS]


def moments(form: str) -> list[str]:
    return [f"{moment:{form}}" for moment in MOMENTS]


def continental(number: float) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


COLUMNS: dict[str, tuple[str, list[str], list[str]]] = {
    # dates
    "iso": ("date", dates("%Y-%m-%d"), ["1950-02-31"]),
    "iso, zero": ("date", dates("%Y-%m-%d"), ["0000-00-00"] * 4),
    "iso, german": ("date", dates("%Y-%m-%d"), ["05.10.1943", "5.1.43"]),
    "german": ("date", dates("%d.%m.%Y"), ["31.02.1950"]),
    "german, zero": ("date", dates("%d.%m.%Y"), ["00.00.1943", "00.00.0000", "00.05.1950"]),
    "german, short": ("date", [f"{day.day}.{day.month}.{day.year}" for day in DAYS], ["1943", "Mai 1943"]),
    "german, iso": ("date", dates("%d.%m.%Y"), ["1943-10-05"]),
    "american": ("date", dates("%m/%d/%Y"), ["2/30/1950", "13/13/1950"]),
    "british": ("date", dates("%d/%m/%Y"), ["1943", "31/11/1950"]),
    "slashes": ("date", dates("%Y/%m/%d"), ["1943/02/30", "1943"]),
    "month names": ("date", dates("%d-%b-%Y"), ["31-Feb-1950"]),
    "words": ("date", dates("%d.%m.%Y"), ["ca. 1943", "im Mai", "siehe Akte"]),
    # moments
    "moment": ("datetime", moments("%Y-%m-%d %H:%M"), ["1950-02-30 08:00"]),
    "moment, day": ("datetime", moments("%Y-%m-%d %H:%M:%S"), ["1950-02-03", "1950-02-04"]),
    "moment, T": ("datetime", moments("%Y-%m-%dT%H:%M:%S"), ["1950-02-03T24:30:00"]),
    "moment, german": ("datetime", moments("%d.%m.%Y %H:%M"), ["03.02.1950", "03.02.1950 24:00"]),
    "moment, offset": ("datetime", moments("%Y-%m-%dT%H:%M:%S+02:00"), ["1950-02-03T08:00:00"]),
    # times
    "time": ("time", [f"{moment:%H:%M}" for moment in MOMENTS], ["24:00"]),
    "time, 24:15": ("time", [f"{moment:%H:%M}" for moment in MOMENTS], ["24:15", "7.30", "8h"]),
    "time, seconds": ("time", [f"{moment:%H:%M:%S}" for moment in MOMENTS], ["24:00:00", "25:61:00"]),
    # numbers
    "age": ("integer", [*map(str, WHOLE)], ["030"]),
    "age, words": ("integer", [*map(str, WHOLE)], ["ca. 40", "vierzig"]),
    "age, letter": ("integer", [*map(str, WHOLE)], ["4o", "l7", "6Y"]),
    "age, months": ("integer", [*map(str, WHOLE)], ["7 Mo", "9 Mo", "11 Mo", "2 Wo", "3 T"]),
    "count, date": ("integer", [*map(str, WHOLE)], ["03.05.2020", "Mai 12"]),
    "customer": ("integer", [*map(str, CODES)], ["D-01067"]),
    "decimal": ("decimal", [f"{x:.2f}" for x in PAY], ["12,50", "1.250,00"]),
    "decimal, unit": ("decimal", [f"{x:.3f}" for x in PAY], ["12 kg", "<LOD"]),
    "decimal comma": ("decimal", [f"{x:.2f}".replace(".", ",") for x in PAY], ["1.75"]),
    "grouped": ("decimal", [f"{x:,.2f}" for x in PAY], ["12,50", "1.000.000"]),
    "continental": ("decimal", [continental(x) for x in PAY], ["1.75", "EUR 12,50"]),
    "below": ("decimal", [f"{x / 1e4:.4f}" for x in PAY], ["#DIV/0!", "#REF!"]),
    "exponent": ("decimal", [f"{x:.3e}" for x in PAY], ["1e", "e5"]),
    "negative": ("integer", [str(x - 50) for x in WHOLE], ["--5", "5-"]),
    # codes of one form
    "postcode": ("category", [f"{x - 9_000:05d}" for x in CODES], ["D-01067"]),
    "postcode, lost zero": ("category", [f"{x % 20_000:05d}" for x in CODES], ["1067", "1069", "1097"]),
    "illness": ("category", [f"{'ABCDE'[x % 5]}{x % 90 + 10}.{x % 9}" for x in CODES], ["11.9", "E-119"]),
    "insurance": ("category", [f"{'KLMN'[x % 4]}{x}" for x in CODES], ["12345", "??K4"]),
    "district": ("category", [f"{x % 1000:03d}" for x in CODES], ["7", "7a", "0715"]),
    "plate": ("category", [f"B-{'XYZ'[x % 3]} {x % 1000}".replace(" ", "-") for x in CODES], ["B/X/12", "BX12"]),
}
KINDS = {name: kind for name, (kind, *_) in COLUMNS.items()}


def of_n_cells(cells: list[str], odd: list[str]) -> list[str]:
    """Put the odd cells in between, far from the beginning and at it."""
    places = [0, *range(97, N, 83)][: len(odd)]
    mixed = [*cells]
    for place, cell in zip(places, odd, strict=True):
        mixed[place] = cell
    return mixed


TABLE = {name: of_n_cells(cells, odd) for name, (_, cells, odd) in COLUMNS.items()}


def through_csv(folder):
    pl.DataFrame(TABLE).write_csv(folder / "export.csv")
    return folder / "export.csv"


def through_excel(folder):
    pd.DataFrame(TABLE).to_excel(folder / "export.xlsx", index=False)
    return folder / "export.xlsx"


def through_parquet(folder):
    pl.DataFrame(TABLE).write_parquet(folder / "export.parquet")
    return folder / "export.parquet"


def through_pandas(folder):
    return pd.read_csv(through_csv(folder), dtype=str, keep_default_na=False)


WAYS = [through_csv, through_excel, through_parquet, through_pandas]


def test_there_are_forty_columns_of_one_to_five_odd_cells():
    assert len(COLUMNS) == 40
    assert all(1 <= len(odd) <= 5 and len(cells) == N for _, cells, odd in COLUMNS.values())


@pytest.mark.parametrize("way", WAYS)
def test_every_odd_cell_is_counted_and_every_kind_is_right(way, tmp_path):
    frame = frames.read(way(tmp_path))
    found = {name: frame.odd_cells(name) for name in COLUMNS}
    assert {name: odd and odd.texts for name, odd in found.items()} == {
        name: {*odd} for name, (_, _, odd) in COLUMNS.items()
    }
    assert {name: odd.n_cells for name, odd in found.items()} == {name: len(odd) for name, (*_, odd) in COLUMNS.items()}
    specs = {name: ColumnSpec(odd_cells="missing") for name in COLUMNS}
    table = Table.encode(frame, specs=specs)
    assert {column.name: column.kind for column in table.columns} == {
        name: kind for name, (kind, *_) in COLUMNS.items()
    }
    n_missing = dict(zip(table.names, (table.codes < 0).sum(axis=1).tolist(), strict=True))
    assert n_missing == {name: len(odd) for name, (*_, odd) in COLUMNS.items()}


@pytest.mark.parametrize("way", WAYS)
def test_who_does_not_answer_is_told_of_all_and_publishes_nothing(way, tmp_path):
    data = way(tmp_path)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        table = Table.encode(data)
    assert len(told) == len(COLUMNS)
    said = [str(each.message).partition(": ")[2] for each in told]
    named = {cell for *_, odd in COLUMNS.values() for cell in odd if len(cell) > 1 and any(map(str.isdigit, cell))}
    assert not [cell for cell in named if any(f" {cell}" in text for text in said)]
    if way in (through_csv, through_excel):
        kinds = {column.name: column.kind for column in table.columns}
        assert kinds == KINDS
    with pytest.raises(InputError, match=r"1 cell of the form 99\.99\.9999 is no date"):
        ht.anonymize(data, quasi_identifiers=["german"], models=[ht.KAnonymity(2)], roles="trust")


def test_a_text_among_dates_of_a_workbook(tmp_path):
    cells: list[object] = [*DAYS]
    cells[3] = "unbekannt, ca. 1950"
    pd.DataFrame({"born": cells, "age": WHOLE}).to_excel(tmp_path / "people.xlsx", index=False)
    frame = frames.read(tmp_path / "people.xlsx")
    odd = frame.odd_cells("born")
    assert odd is not None
    assert odd.texts == {"unbekannt, ca. 1950"}
    table = Table.encode(frame, specs={"born": ColumnSpec(odd_cells="missing")})
    assert table.column("born").kind in ("date", "datetime")
