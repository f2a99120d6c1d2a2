"""Kinds of texts, canonical texts, and positions."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, strategies as st

from hushtable.columns.column import KINDS, ROLES, Column, ColumnSpec, from_texts, value_text
from hushtable.errors import ColumnError, InputError

SECRET = "canary-7319"
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def typed(texts, **options):
    column, codes = from_texts("c", texts, **options)
    return column.kind, column.texts(), codes.tolist()


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["7", "34"], "integer"),
        (["-7", "+34", "0"], "integer"),
        ([" 34", "34 ", "\t7"], "integer"),
        (["9" * 18], "integer"),
        ([str(2**63 - 1), str(-(2**63))], "integer"),
        ([str(2**63)], "category"),
        ([str(2**63), "1.5"], "category"),
        (["9" * 30], "category"),
        (["1" + "0" * 22], "decimal"),
        (["1", "1.0"], "decimal"),
        (["-0.5", "+3"], "decimal"),
        (["2024-02-29", " 1900-01-01"], "date"),
        (["2024-02-29 10:00", "2024-02-29T10:00:05", "2024-02-29 10:00:05.25"], "datetime"),
        (["01234"], "category"),
        (["01234", "99999"], "category"),
        (["00.5"], "category"),
        (["1E10"], "category"),
        (["1E10", "21E7", " 5E0"], "category"),
        (["1E10", "01234"], "category"),
        (["1E10", "E11"], "category"),
        (["1E10", "5"], "decimal"),
        (["1E10", "1e10"], "decimal"),
        (["1E+10"], "decimal"),
        (["1.5e-3", "-2E4"], "decimal"),
        (["1e5"], "category"),
        (["1e5", "1.0"], "decimal"),
        (["1e", "1"], "category"),
        (["1.e5", "1"], "category"),
        (["01e5", "1"], "category"),
        (["1e999", "1"], "category"),
        (["1e-999", "1"], "category"),
        (["1e99999999999999999999", "1"], "category"),
        (["1e-99999999999999999999", "1"], "category"),
        ([".5"], "category"),
        (["5."], "category"),
        (["1,5"], "category"),
        (["1_000"], "category"),
        (["١٢"], "category"),
        (["--1"], "category"),
        (["nan", "1.5"], "category"),
        (["inf", "1.5"], "category"),
        (["9" * 400, "1.5"], "category"),
        (["NA", "1"], "category"),
        (["null"], "category"),
        (["2023-02-29"], "category"),
        (["0000-01-01"], "category"),
        (["2024-1-1"], "category"),
        (["20240101"], "integer"),
        (["01.02.2024"], "category"),
        (["2024-02-29", "2024-02-29 10:00"], "category"),
        (["2024-02-29 25:00"], "category"),
        (["2024-02-29T10:00+02:00"], "category"),
        (["a", "1"], "category"),
        ([], "category"),
        (["", " "], "category"),
    ],
)
def test_the_kind_of_texts(texts, kind):
    assert typed(texts)[0] == kind


@pytest.mark.parametrize(
    "texts",
    [
        ["12345678901234567888", "12345678901234567889"],
        ["-12345678901234567888", "-12345678901234567889"],
        ["1", "12345678901234567888", "12345678901234567889"],
        ["9223372036854775808"],
        ["9223372036854775807", "0.5"],
        ["0.1", "1234567890123456788", "1234567890123456789"],
        ["12345678901234567.1", "12345678901234567.2"],
        ["1e20", "100000000000000000001"],
        ["0", "1.5e-999"],
    ],
)
def test_numbers_too_long_to_tell_apart_stay_text(texts):
    kind, canonical, codes = typed(texts)
    assert kind == "category"
    assert len(set(codes)) == len(texts)
    assert sorted(canonical) == sorted(texts)


@pytest.mark.parametrize("text", ["4611686018427387904", str(2**53 + 1), str(2**63 - 1), str(-(2**63)), str(10**18)])
def test_whole_numbers_of_64_bits_stay_whole(text):
    assert typed([text]) == ("integer", [text], [0])
    assert typed(["1", text])[0] == "integer"


@pytest.mark.parametrize("text", [str(2**63), "12345678901234567891", "-98765432109876543210", "9" * 400])
@pytest.mark.parametrize("others", [[], ["7"], ["0.5"], ["1e3"]])
def test_a_whole_number_that_a_float_would_change_stays_text(text, others):
    kind, canonical, _ = typed([text, *others])
    assert kind == "category"
    assert text in canonical


@pytest.mark.parametrize("text", ["4611686018427387904.0", "9007199254740993.0"])
def test_so_does_one_with_a_point(text):
    assert typed([text])[:2] == ("category", [text])


@pytest.mark.parametrize("text", ["1e+23", "1.7976931348623157e+308", "18446744073709552000", "1" + "0" * 22])
def test_a_large_number_that_a_float_keeps_is_a_number(text):
    kind, canonical, _ = typed([text])
    assert kind == "decimal"
    assert int(canonical[0]) == int(Decimal(text))


@pytest.mark.parametrize(
    ("texts", "canonical", "codes"),
    [
        ([" 34", "34", "7", "+7"], ["7", "34"], [1, 1, 0, 0]),
        (["0", "-0"], ["0"], [0, 0]),
        (["1", "1.0", "1.50", "1.5", "-2"], ["-2", "1", "1.5"], [1, 1, 2, 2, 0]),
        (["0.0", "-0.0", "0"], ["0"], [0, 0, 0]),
        (["0.0", "-0.0", "0e0", "1e16"], ["0", "10000000000000000"], [0, 0, 0, 1]),
        (["1e3", "1E3", "1000", "1.0e+3", "1"], ["1", "1000"], [1, 1, 1, 1, 0]),
        (["1E3", "10E2", "1E03"], ["10E2", "1E03", "1E3"], [2, 0, 1]),
        (["2024-01-01", " 2024-01-01"], ["2024-01-01"], [0, 0]),
        (["2024-01-01T10:00", "2024-01-01 10:00:00.000"], ["2024-01-01 10:00:00"], [0, 0]),
        (["10", "9", "-1"], ["-1", "9", "10"], [2, 1, 0]),
        (["b", "a", "B"], ["B", "a", "b"], [2, 1, 0]),
        (["x", " x", "x "], [" x", "x", "x "], [1, 0, 2]),
        (["NA", "null", "nan"], ["NA", "nan", "null"], [0, 2, 1]),
    ],
)
def test_equal_values_share_a_code_and_codes_keep_the_order(texts, canonical, codes):
    assert typed(texts)[1:] == (canonical, codes)


@pytest.mark.parametrize("filled", [["7", "34"], ["b", "a"], ["1.5"], ["2024-01-01"]])
def test_blank_texts_are_missing(filled):
    kind, canonical, codes = typed(filled)
    assert typed(["", *filled, " ", "\t"]) == (kind, canonical, [-1, *codes, -1, -1])


@pytest.mark.parametrize(
    ("kind", "texts", "canonical"),
    [
        ("category", ["10", "9"], ["10", "9"]),
        ("ordered", ["10", "9"], ["10", "9"]),
        ("decimal", ["10", "9"], ["9", "10"]),
        ("decimal", ["1E3", "9"], ["9", "1000"]),
        ("integer", ["007", "10"], ["7", "10"]),
        ("date", ["2024-01-01"], ["2024-01-01"]),
        ("datetime", ["2024-01-01"], ["2024-01-01 00:00:00"]),
        ("integer", [], []),
    ],
)
def test_declared_kinds(kind, texts, canonical):
    assert typed(texts, kind=kind)[:2] == (kind, canonical)


@pytest.mark.parametrize(
    ("kind", "misfit"),
    [
        *[("integer", "1.5"), ("integer", SECRET), ("integer", "9" * 30)],
        *[("decimal", SECRET), ("decimal", "nan"), ("decimal", "inf"), ("decimal", "1e999")],
        *[("date", SECRET), ("date", "2023-02-29"), ("datetime", SECRET), ("datetime", "2024-01-01 25:00")],
        ("datetime", "2024-01-01T10:00+02:00"),
    ],
)
def test_a_declared_kind_that_misfits_is_counted_not_quoted(kind, misfit):
    fitting = {"integer": "1", "decimal": "1", "date": "2024-01-01", "datetime": "2024-01-01 10:00"}[kind]
    with pytest.raises(ColumnError, match=rf"'c' is declared {kind}, but 1 of its 2 distinct values") as caught:
        from_texts("c", [fitting, misfit], kind=kind)
    assert misfit not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_declared_order_is_the_order_of_the_codes():
    assert typed(["high", "low", ""], order=["low", "mid", "high"]) == ("ordered", ["low", "high"], [1, 0, -1])


def test_a_value_outside_the_declared_order_is_counted_not_quoted():
    with pytest.raises(ColumnError, match="'c' holds 1 distinct values that its declared order of 2") as caught:
        from_texts("c", ["low", SECRET], order=["low", "high"])
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("order", [["a", "b"], []])
def test_an_order_of_no_texts(order):
    assert typed(["", " "], order=order) == ("ordered", [], [-1, -1])


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        *[("integer", np.int64(-5), "-5"), ("integer", np.int64(2**63 - 1), "9223372036854775807")],
        *[("decimal", 1.0, "1"), ("decimal", 1.10, "1.1"), ("decimal", -0.0, "0"), ("decimal", 1e-7, "0.0000001")],
        *[("decimal", 1e20, "100000000000000000000"), ("decimal", 0.1 + 0.2, "0.30000000000000004")],
        ("date", np.datetime64("2024-02-29", "D"), "2024-02-29"),
        ("date", np.datetime64("12024-02-29", "D"), "12024-02-29"),
        ("datetime", np.datetime64("2024-02-29T10:00:00", "us"), "2024-02-29 10:00:00"),
        ("datetime", np.datetime64("2024-02-29T10:00:00.25", "us"), "2024-02-29 10:00:00.250000"),
        *[("category", " x ", " x "), ("ordered", "01", "01")],
    ],
)
def test_canonical_texts(kind, value, text):
    assert value_text(kind, value) == text


@given(FLOATS)
def test_the_text_of_a_decimal_reads_back_exactly(number):
    text = value_text("decimal", number)
    assert float(text) == number
    assert "e" not in text.lower()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_are_coded_as_sorting_does(numbers):
    column, codes = from_texts("c", [str(number) for number in numbers])
    assert column.values.tolist() == sorted(set(numbers))
    assert column.values[codes].tolist() == numbers


@given(st.lists(st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)), min_size=1))
def test_the_texts_of_datetimes_read_back_exactly(moments):
    column, codes = from_texts("c", [moment.isoformat(sep=" ") for moment in moments])
    assert column.kind == "datetime"
    assert column.values[codes].tolist() == moments
    again, _ = from_texts("c", column.texts())
    assert again.values.tolist() == column.values.tolist()


@pytest.mark.parametrize(
    ("kind", "values", "positions"),
    [
        ("integer", np.array([10, 20, 50]), [0, 0.25, 1]),
        ("decimal", np.array([-1.0, 0.0, 1.0]), [0, 0.5, 1]),
        ("date", np.array(["1969-12-31", "1970-01-01", "1970-01-04"], "datetime64[D]"), [0, 0.25, 1]),
        ("datetime", np.array(["2024-01-01T00", "2024-01-01T06", "2024-01-02"], "datetime64[us]"), [0, 0.25, 1]),
        ("ordered", np.array(["low", "mid", "high"], object), [0, 0.5, 1]),
        ("integer", np.array([7]), [0]),
        ("integer", np.array([], np.int64), []),
        ("integer", np.array([-(2**63), 2**63 - 1]), [0, 1]),
        ("integer", np.array([2**62, 2**62 + 1, 2**62 + 2]), [0, 0.5, 1]),
        ("decimal", np.array([-1.7e308, 0.0, 1.7e308]), [0, 0.5, 1]),
        ("decimal", np.array([0.0, 5e-324]), [0, 1]),
    ],
)
def test_positions(kind, values, positions):
    assert Column("c", kind, values).positions().tolist() == pytest.approx(positions)


@given(st.lists(FLOATS, min_size=2, unique=True) | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, unique=True))
def test_positions_run_from_zero_to_one(numbers):
    kind = "integer" if isinstance(numbers[0], int) else "decimal"
    values = np.unique(np.array(numbers, dtype="int64" if kind == "integer" else "float64"))
    positions = Column("c", kind, values).positions()
    if len(values) > 1:
        assert positions[0] == 0
        assert positions[-1] == 1
    assert (np.diff(positions) >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_which_kinds_are_ordered_and_measured(kind):
    column = Column("c", kind, np.array([], object))
    assert column.is_ordered == (kind != "category")
    assert column.is_measured == (kind in ("integer", "decimal", "date", "datetime", "time"))


def test_roles():
    assert ROLES == ("identifier", "quasi-identifier", "sensitive", "other", "leave out")


def test_values_are_read_only_and_not_in_the_repr():
    column, _ = from_texts("c", [SECRET])
    assert SECRET not in repr(column)
    assert repr(column) == "Column(name='c', kind='category', n_values=1)"
    with pytest.raises(ValueError, match="read-only"):
        column.values[0] = "x"


def test_one_text():
    column, _ = from_texts("c", ["2.50", "1"])
    assert [column.text(0), column.text(1)] == column.texts() == ["1", "2.5"]


@pytest.mark.parametrize("kind", ["integer", "decimal"])
def test_an_underscore_makes_no_number(kind):
    with pytest.raises(ColumnError, match="1 of its 2"):
        from_texts("code", ["1_000", "7"], kind)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"kind": "float"}, "integer, decimal, date, datetime, time, ordered, category"),
        ({"kind": "integer", "order": ("1", "2")}, "an order goes with kind ordered"),
        ({"kind": "category", "order": ("a", "b")}, "an order goes with kind ordered"),
        ({"order": ()}, "name every value of the column once"),
        ({"order": (SECRET, "b", SECRET)}, "name every value of the column once"),
        ({"order": (1, 2)}, "numbers in quotes"),
        ({"order": SECRET}, "name every value of the column once"),
        ({"order": 3}, "name every value of the column once"),
    ],
)
def test_spec_says_what_was_expected(given, expected):
    with pytest.raises(InputError, match=expected) as caught:
        ColumnSpec(**given)
    assert SECRET not in str(caught.value)
