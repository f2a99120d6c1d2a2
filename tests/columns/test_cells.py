"""The grammar of published cells."""

import datetime as dt
import json
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

import reading
from hushtable.claims.coverage import pair_rows
from hushtable.columns import cells
from hushtable.columns.column import ColumnSpec

BOUNDS = [
    ("17", "25"),
    ("-3", "-1"),
    ("-0.5", "1.25"),
    ("2000-02-29", "2024-01-01"),
    ("2000-02-29 00:00:00", "2024-01-01 10:30:00.000001"),
]


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_intervals_are_no_values(low, high):
    written = [
        cells.format_half_open(low, high),
        cells.format_interval(low, high),
        cells.format_below(high),
        cells.format_at_least(low),
    ]
    assert written == [f"[{low}, {high})", f"[{low}, {high}]", f"<{high}", f">={low}"]
    assert [cells.parse_cell(text) for text in written] == [
        cells.Cell("interval", cells.Ends(*ends))
        for ends in ((low, high, False), (low, high, True), (None, high, False), (low, None, False))
    ]


@pytest.mark.parametrize("text", ["*", "[]", '["a", "b"]', "[null]", "[1, 2]", "[[1]]", '["[1, 2)"]'])
def test_stars_and_sets_are_no_values(text):
    assert cells.parse_cell(text).form != "value"


@pytest.mark.parametrize(
    "text",
    [
        *["34", "-1", "1.5", "2024-01-01", "a", "", " ", "1-5", "1,5", "a, b", "**", " *", "* "],
        *["[sic]", "[a, b]", "[1, 2", "1, 2)", "(1, 2)", "[1,2)", "[, )", "<", "<b>", ">= ", ">5", "<=5", "< 5"],
        *['{"a": 1}', '["a"', "[a]", "null", '"a"', "[٣, ٤)"],
    ],
)
def test_values_are_values(text):
    assert cells.parse_cell(text) == cells.Cell("value")
    assert cells.format_value(text) == text


@pytest.mark.parametrize("text", ["*", "[17, 25)", "[17, 25]", "<20", ">=90", '["a", "b"]', "[1, 2]", "[]"])
def test_a_value_that_looks_like_another_form_is_a_list_of_one(text):
    written = cells.format_value(text)
    assert json.loads(written) == [text]
    assert cells.parse_cell(written) == cells.Cell("set", members=(text,))


def test_a_set_keeps_its_order_its_letters_and_the_missing_value():
    assert cells.format_set(["b", 'a "x"', None, "ü🏔"]) == '["b", "a \\"x\\"", "", "ü🏔"]'


@pytest.mark.parametrize("text", ["[" * 100_000 + "]", "[" + "9" * 10_000 + "]"], ids=["deep", "long"])
def test_hostile_cells_are_read(text):
    assert cells.format_value(text) in (text, cells.format_set([text]))


@given(st.text())
def test_a_written_value_reads_back_as_itself(text):
    written = cells.format_value(text)
    assert (written if cells.parse_cell(written).form == "value" else json.loads(written)[0]) == text


@given(st.lists(st.none() | st.text(min_size=1)))
def test_a_written_set_reads_back_as_itself(texts):
    written = cells.format_set(texts)
    assert cells.parse_cell(written) == cells.Cell("set", members=tuple(texts))
    assert json.loads(written) == [text or "" for text in texts]


DAYS = st.dates(dt.date(1999, 12, 30), dt.date(2000, 3, 1))
VALUES = {
    "integer": st.integers(-12, 12),
    "decimal": st.integers(-30, 30).map(lambda quarters: quarters / 4),
    "date": DAYS,
    "datetime": st.builds(dt.datetime.combine, DAYS, st.sampled_from([dt.time(0), dt.time(9, 30)])),
    "category": st.sampled_from(["a", "b", "1", "*", "[1, 2]", "[1, 2)", "<3", '["a"]', "[]", "x, y", "", None]),
}
PIECES = [
    "[",
    "]",
    "(",
    ")",
    "<",
    ">=",
    ", ",
    ",",
    '"',
    "-",
    "1",
    "20",
    "2.5",
    "2000-01-01",
    "null",
    "a",
    "*",
    " ",
    ":",
]
TEXTS = st.text() | st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@given(TEXTS)
def test_a_slow_reader_sees_the_same_forms(text):
    cell = cells.parse_cell(text)
    assert (cell.form == "any") == (text == "*")
    listed = reading.json_list(text)
    if listed is not None:
        assert cell == cells.Cell("set", members=tuple(listed))
    if cell.form == "set" and cell.members:
        assert listed == list(cell.members)
    # The slow reader takes for numbers whatever Python does ("1_0"), and for none what the grammar only spells ("1-0").
    if cell.form == "interval":
        low, high, is_closed = cell.ends
        for kind in reading.MEASURED:
            ends = [None if end is None else reading.measure(end, kind) for end in (low, high)]
            if all(end is None or value is not None for end, value in zip((low, high), ends, strict=True)):
                assert reading._ends(text, kind, ()) == (*ends, is_closed)
    if cell.form == "value" and not reading.is_missing(text):
        assert not re.fullmatch(r"<-?\d+|>=-?\d+|\[-?\d+, -?\d+[\])]", text, re.ASCII)


@st.composite
def written_cells(draw):
    """Draw a kind, a cell as it is written of values of that kind, and values of that kind."""
    kind = draw(st.sampled_from(sorted(VALUES)))
    texts = draw(st.lists(VALUES[kind].map(reading.text_of), min_size=1, max_size=5))
    known = [text for text in texts if text is not None]
    forms = ["*", cells.format_set(texts), *([cells.format_value(known[0])] if known else [])]
    if kind != "category":
        low, high = known[0], known[-1]
        forms += [
            cells.format_half_open(low, high),
            cells.format_interval(low, high),
            cells.format_below(high),
            cells.format_at_least(low),
        ]
    values = draw(st.lists(VALUES[kind].map(reading.text_of), min_size=1, max_size=6))
    return kind, draw(st.sampled_from(forms)), list(dict.fromkeys([*values, *texts]))


@given(written_cells())
def test_a_slow_reader_reads_the_same_people_out_of_a_cell(drawn):
    kind, cell, texts = drawn
    rows = np.arange(len(texts), dtype=np.int32)[None, :]
    classes = np.zeros((1, 1), dtype=np.int32)
    _, covered = pair_rows([[cell]], classes, [texts], rows, [ColumnSpec(kind)], [None])
    assert [texts[row] for row in covered] == [text for text in texts if reading.holds(cell, text, kind)]
