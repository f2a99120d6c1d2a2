"""What the small functions of the room return, each for cells that show its rule."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from hushtable.columns import ColumnSpec, cells, from_texts, series
from hushtable.columns.column import Column
from hushtable.columns.date_formats import precision_of, read_moments, to_iso
from hushtable.columns.date_patterns import read_serials, to_strptime
from hushtable.columns.item_sets import canonical_set_text, list_items
from hushtable.columns.meeting import (
    column_of_cell_values,
    fold_spelling,
    form_of,
    meet_columns,
    merge_items,
    merge_spellings,
    spell_ends,
)
from hushtable.columns.missing_codes import (
    count_sentinel_codes,
    count_sentinel_dates,
    count_spellings,
    ends_with_codes,
    is_missing_mark,
    is_missing_number,
    is_missing_word,
    is_open_end,
)
from hushtable.columns.spellings import (
    begins_with_numbers,
    count_near_duplicates,
    count_odd_texts,
    fold_text,
    formats_of_some,
    number_patterns,
)


@pytest.mark.parametrize(
    ("predicate", "true", "false"),
    [
        (is_missing_word, ("k. A.", "UNKNOWN", "non renseigné"), ("-99", "none", "90+")),
        (is_missing_mark, ("N/A", "NaT", r"\N", "None"), ("31.02.1950",)),
        (is_missing_number, (9, -99, 9999999, 998, 77), (99.5, 90)),
        (is_open_end, ("90+", ">= 90", "<18", "90 und älter"), ("90",)),
    ],
)
def test_what_stands_for_a_missing_value(predicate, true, false):
    assert [predicate(each) for each in (*true, *false)] == [True] * len(true) + [False] * len(false)


def test_cells_of_a_column_are_counted():
    assert count_sentinel_codes(pl.Series(["01067", "80331", "99999", "99999"])) == {"99999": 2}
    spelled, iso = pl.Series(["01.01.1900", "02.03.1970"]), pl.Series(["1900-01-01", "1970-03-02"])
    assert count_sentinel_dates(spelled, iso) == {"01.01.1900": 1}
    assert ends_with_codes(pl.Series(["1", "99"]))
    assert not ends_with_codes(pl.Series([1, 98, 100]))
    numbers = pl.Series(["999,00", "999", "5"]), pl.Series(["999.00", "999", "5"])
    assert count_spellings(*numbers, ["999"]) == {"999": 1, "999,00": 1}
    assert count_odd_texts(pl.Series([*map(str, range(20)), "N/A"])) == {"N/A": 1}
    assert count_near_duplicates(from_texts("sex", ["F", "f ", "\uff26", "m"])[0]) == 2


def test_spellings_of_numbers_and_dates_are_told():
    assert formats_of_some(pl.Series(["31.02.2023", "x"])) == ("%d.%m.%Y", "%m.%d.%Y")
    assert len(number_patterns(ColumnSpec())) == 8
    assert len(number_patterns(ColumnSpec(decimal=",", thousands="."))) == 1
    assert begins_with_numbers(pl.Series(["1,5", "2", "x"]))
    assert not begins_with_numbers(pl.Series(["x", "1"]))


def test_dates_are_read_and_written():
    assert read_moments(pl.Series(["31.1.69", "31.2.69"]), "%d.%m.%y").to_list() == [dt.datetime(1969, 1, 31), None]
    assert read_moments(pl.Series(["05-Oct-43"]), "%d-%b-%y", 2026).to_list() == [dt.datetime(1943, 10, 5)]
    assert to_iso(pl.Series(["10/1943"]), "%m/%Y")[0] == "1943-10"
    assert to_iso(pl.Series(["Q4 1943"]), "Q%q %Y")[0] == "1943-Q4"
    formats = ("%d. %B %Y", "%m/%Y", "Q%q %Y", "%Y", "excel", "%d.%m.")
    assert [precision_of(each) for each in formats] == ["day", "month", "quarter", "year", "day", None]
    texts, format_ = to_strptime(pl.Series(["5. Oktober 1943", "1 mai 1950"]), "%d. %B %Y", "day")
    assert (texts.to_list(), format_) == (["5. |10| 1943", "1 |05| 1950"], "%d. |%m| %Y")
    serials = read_serials(pl.Series(["1", "60", "61", "15984", "15984.0", "1.5"])).dt.to_string("%Y-%m-%d").to_list()
    assert serials == ["1900-01-01", None, "1900-03-01", "1943-10-05", "1943-10-05", None]
    assert series.dates_as_text(pl.Series([19431005.0, None])).to_list() == ["19431005", None]
    assert series.without_declared(pl.Series([31, -9]), ["-9", "unknown"]).to_list() == [31, None]


def test_ends_of_intervals_are_read_and_written():
    days = ["1958-01-01", "1969-04-01", "1970-10-01", "1970-12-31"]
    assert cells.with_first_days(["1958", "1969-04", "1970-Q4", "1970-12-31"]) == days
    assert cells.without_first_days(["1958-01-01", "1969-01-01"]) == ["1958", "1969"]
    assert cells.without_first_days(["1958-01-01", "1969-04-01"]) == ["1958-01", "1969-04"]
    assert cells.with_comma("[1.5, 2.75)") == "[1,5, 2,75)"
    assert cells.with_point("[1,5, 2,75)") == "[1.5, 2.75)"
    assert spell_ends(["2024", "2024-04"], ["2024-05"], "date") == ["2024-01", "2024-04"]
    assert spell_ends(["2024"], [], "date") == ["2024-01-01"]
    assert column_of_cell_values("age", ["[30, 40)", "52", "*"]).texts() == ["30", "40", "52"]


def test_sets_of_items():
    assert canonical_set_text("I10; E11;;I10", ";") == "E11;I10"
    assert canonical_set_text("NA; ", ";", ["NA"]) is None
    column = Column("ill", "category", np.array(["E11;I10", "I10"], dtype=object), separator=";")
    items, holds = list_items(column)
    assert (items, holds.tolist()) == (["E11", "I10"], [[True, False], [True, True]])
    assert merge_items(["E11", "e11", "I10"], np.eye(3, dtype=bool))[1].tolist() == [[1, 1, 0], [0, 0, 1]]


def test_spellings_of_one_value_are_one():
    assert fold_text("Côte-d'Ivoire") == "cote d ivoire"
    assert fold_text("?") == ""
    assert fold_spelling(" Hiv  Positive") == fold_spelling("HIV positive ")
    column, codes = merge_spellings(*from_texts("ill", ["HIV", "flu", "hiv "]))
    assert (column.texts(), codes.tolist()) == (["HIV", "flu"], [0, 1, 0])
    numbers, texts = from_texts("n", ["5", "7"])[0], from_texts("n", ["5.0", "0007"], "category")[0]
    assert [met.column.texts() for met in meet_columns([numbers, texts], [False, False])] == [["5", "7"], ["5", "7"]]
    assert (form_of("K-0001"), form_of("Anna Meier")) == ("A-9", "Aa Aa")
