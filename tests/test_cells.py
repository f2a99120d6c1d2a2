"""The grammar of published cells."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable import cells

BOUNDS = [
    ("17", "25"),
    ("-3", "-1"),
    ("-0.5", "1.25"),
    ("2000-02-29", "2024-01-01"),
    ("2000-02-29 00:00:00", "2024-01-01 10:30:00.000001"),
]


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_intervals_are_no_values(low, high):
    written = [cells.between(low, high), cells.from_to(low, high), cells.below(high), cells.at_least(low)]
    assert written == [f"[{low}, {high})", f"[{low}, {high}]", f"<{high}", f">={low}"]
    assert not any(map(cells.is_value, written))


@pytest.mark.parametrize("text", ["*", "[]", '["a", "b"]', "[null]", "[1, 2]", "[[1]]", '["[1, 2)"]'])
def test_stars_and_sets_are_no_values(text):
    assert not cells.is_value(text)


@pytest.mark.parametrize(
    "text",
    [
        *["34", "-1", "1.5", "2024-01-01", "a", "", " ", "1-5", "1,5", "a, b", "**", " *", "* "],
        *["[sic]", "[a, b]", "[1, 2", "1, 2)", "(1, 2)", "[1,2)", "[, )", "<", "<b>", ">= ", ">5", "<=5", "< 5"],
        *['{"a": 1}', '["a"', "[a]", "null", '"a"', "[٣, ٤)"],
    ],
)
def test_values_are_values(text):
    assert cells.is_value(text)
    assert cells.value(text) == text


@pytest.mark.parametrize("text", ["*", "[17, 25)", "[17, 25]", "<20", ">=90", '["a", "b"]', "[1, 2]", "[]"])
def test_a_value_that_looks_like_another_form_is_a_list_of_one(text):
    written = cells.value(text)
    assert json.loads(written) == [text]
    assert not cells.is_value(written)


def test_a_set_keeps_its_order_its_letters_and_the_missing_value():
    assert cells.one_of(["b", 'a "x"', None, "ü🏔"]) == '["b", "a \\"x\\"", null, "ü🏔"]'


@pytest.mark.parametrize("text", ["[" * 100_000 + "]", "[" + "9" * 10_000 + "]"], ids=["deep", "long"])
def test_hostile_cells_are_read(text):
    assert cells.value(text) in (text, cells.one_of([text]))


@given(st.text())
def test_a_written_value_reads_back_as_itself(text):
    written = cells.value(text)
    assert (written if cells.is_value(written) else json.loads(written)[0]) == text


@given(st.lists(st.none() | st.text()))
def test_a_written_set_reads_back_as_itself(texts):
    written = cells.one_of(texts)
    assert not cells.is_value(written)
    assert json.loads(written) == texts
