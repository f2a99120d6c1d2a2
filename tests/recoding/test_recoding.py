"""Published cells cover every record's own value, and the ends of cut cells belong to no one."""

import datetime as dt
import json
import math
import re
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, strategies as st

import hushtable as ht
from hushtable.anonymizers import Mondrian
from hushtable.columns import cells
from hushtable.columns.cells import SUPPRESSED
from hushtable.columns.column import Column
from hushtable.models import DistinctLDiversity, KAnonymity
from hushtable.policy.protecting import anonymize
from hushtable.recoding.layout import lay_out
from hushtable.recoding.recoding import cut_point
from hushtable.tables.partition import Partition
from hushtable.tables.table import Table
from tight_recoding import tight

RANKS = ("low", "middle", "high", "very high")
LOOKALIKES = (
    "[1, 2]",
    "[1, 2)",
    "<5",
    ">=5",
    '["a", "b"]',
    "[]",
    "-",
    "a, b",
    "34",
    " 34",
    "naïve 😀",
    'a"b',
    "null",
    "",
)
"""Texts that look like cells of another form, or that careless readers take apart."""

CELLS = {
    "integer": (st.integers(-30, 30) | st.sampled_from([10**17, -(10**17)]), pl.Int64),
    "decimal": (st.sampled_from([0.1, 0.2, 0.25, -0.5, -0.1, 1e-9, 12.75]) | st.floats(-1e9, 1e9), pl.Float64),
    "date": (st.dates(dt.date(1900, 1, 1), dt.date(2030, 1, 1)), pl.Date),
    "datetime": (st.datetimes(dt.datetime(1999, 12, 30), dt.datetime(2000, 1, 3)), pl.Datetime("us")),
    "ordered": (st.sampled_from(RANKS), pl.Enum(RANKS)),
    "category": (st.sampled_from(LOOKALIKES), pl.String),
}
INTERVAL = re.compile(r"\[(?P<low>[^,]+), (?P<high>[^,]+)(?P<end>[\])])|<(?P<below>.+)|>=(?P<from>.+)")
STYLES = [(cut, style) for cut in ("gain", "median") for style in ("tight", "cut")]


@st.composite
def tables(draw):
    """Two to four columns of different kinds, with duplicates and missing cells."""
    kinds = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=4, unique=True))
    n_rows = draw(st.integers(2, 20))
    columns = []
    for kind in kinds:
        cells, dtype = CELLS[kind]
        values = draw(st.lists(cells, min_size=1, max_size=6))
        columns.append(
            pl.Series(
                kind, draw(st.lists(st.none() | st.sampled_from(values), min_size=n_rows, max_size=n_rows)), dtype
            )
        )
    return pl.DataFrame(columns)


def released(table, k, cut, style):
    k = min(k, table.height)
    # No set is so long that it is named instead.
    method = Mondrian(cut=cut, recoding=style, **({"max_length": 1_000} if style == "cut" else {}))
    return anonymize(table, quasi_identifiers=table.columns, models=[KAnonymity(k)], method=method)


def read(kind, text):
    """Read one value from its text, exactly."""
    if kind in ("integer", "decimal"):
        return Fraction(text)
    if kind == "date":
        return dt.date.fromisoformat(text)
    if kind == "datetime":
        return dt.datetime.fromisoformat(text)
    return text


def exact(kind, value):
    return Fraction(repr(value)) if kind in ("integer", "decimal") else value


def covers(kind, cell, value):
    """Whether a published cell says no wrong thing of a value."""
    if cell is None or cell == SUPPRESSED:
        return cell is not None or value is None
    if cells.parse_cell(cell).form == "value":
        return value is not None and read(kind, cell) == exact(kind, value)
    if kind in ("ordered", "category"):
        return value in cells.parse_cell(cell).members
    found = INTERVAL.fullmatch(cell)
    if value is None or found is None:
        return False
    value = exact(kind, value)
    low, high = found["low"] or found["from"], found["high"] or found["below"]
    inside = low is None or read(kind, low) <= value
    if high is not None:
        inside &= value <= read(kind, high) if found["end"] == "]" else value < read(kind, high)
    return inside


def own(kind, value):
    """What a table takes a cell for: blank text is missing."""
    return None if kind == "category" and value is not None and not value.strip() else value


@given(table=tables(), k=st.integers(1, 5))
@example(table=pl.DataFrame({"category": ["<5", "[1, 2]", '["a", "b"]', "-"]}), k=1)
@example(table=pl.DataFrame({"integer": [1, None, 3, None]}), k=2)
@example(table=pl.DataFrame({"decimal": [-0.2, -0.1, 0.1, 0.2]}), k=1)
@example(table=pl.DataFrame({"integer": [None, None]}, schema={"integer": pl.Int64}), k=1)
@pytest.mark.parametrize(("cut", "style"), STYLES)
def test_cells_cover_every_records_own_value(cut, style, table, k):
    release = released(table, k, cut, style)
    for kind in table.columns:
        for value, cell in zip(table[kind], release.frame[kind], strict=True):
            assert covers(kind, cell, own(kind, value)), (kind, value, cell)
    assert release.verify().passed


@given(table=tables(), k=st.integers(1, 5))
@pytest.mark.parametrize("cut", ["gain", "median"])
def test_tight_cells_publish_what_the_class_holds(cut, table, k):
    release = released(table, k, cut, "tight")
    labels = release.partition.labels
    for kind in table.columns:
        everything = {own(kind, value) for value in table[kind]}
        for label in range(release.partition.n_classes):
            held = {own(kind, table[kind][int(i)]) for i in np.flatnonzero(labels == label)}
            cell = release.frame[kind][int(np.flatnonzero(labels == label)[0])]
            known = held - {None}
            if not known:
                assert cell is None
            elif len(held) == 1:
                assert covers(kind, cell, *known)
                assert cells.parse_cell(cell).form == "value" or list(cells.parse_cell(cell).members) == list(known)
            elif kind == "category":
                assert held == everything if cell == SUPPRESSED else set(cells.parse_cell(cell).members) == held
            elif None in held:
                assert cell == SUPPRESSED
            elif kind == "ordered":
                ranks = sorted(map(RANKS.index, known))
                shown = sorted(
                    map(RANKS.index, everything - {None} if cell == SUPPRESSED else cells.parse_cell(cell).members)
                )
                assert (shown[0], shown[-1]) == (ranks[0], ranks[-1])
            else:
                found = INTERVAL.fullmatch(cell)
                assert found["end"] == "]"
                assert read(kind, found["low"]) == exact(kind, min(known))
                assert read(kind, found["high"]) == exact(kind, max(known))


@given(table=tables(), k=st.integers(1, 5))
@pytest.mark.parametrize("cut", ["gain", "median"])
def test_cut_cells_lose_no_less_than_tight_ones(cut, table, k):
    """Both recode the same classes, and a cell holds what its class spans."""
    narrow, wide = (released(table, k, cut, style) for style in ("tight", "cut"))
    assert narrow.partition.labels.tolist() == wide.partition.labels.tolist()
    tight_shares, cut_shares = narrow.recoding.shares(), wide.recoding.shares()
    assert ((tight_shares >= 0) & (tight_shares <= cut_shares + 1e-9) & (cut_shares <= 1 + 1e-9)).all()


@given(table=tables(), k=st.integers(2, 4))
def test_cut_cells_of_one_column_do_not_overlap(table, k):
    """Of one column alone, cells are equal or disjoint: no value is in two of them."""
    for kind in table.columns:
        cells = set(released(table.select(kind), k, "gain", "cut").frame[kind])
        known = {own(kind, value) for value in table[kind]} - {None}
        if SUPPRESSED in cells:
            continue
        assert all(sum(covers(kind, cell, value) for cell in cells) == 1 for value in known)


def test_cut_cells_are_written_with_round_ends():
    table = pl.DataFrame({"age": [17, 18, 24, 31, 38, 57, 63, 64]})
    cells = released(table, 2, "median", "cut").frame["age"].to_list()
    assert cells == ["<20", "<20", "[20, 35)", "[20, 35)", "[35, 60)", "[35, 60)", ">=60", ">=60"]


def test_cut_cells_name_the_ends_of_no_record():
    table = pl.DataFrame({"age": [17, 23, 37, 42, 58, 61, 73, 88]})
    shown = " ".join(released(table, 2, "median", "cut").frame["age"])
    assert not any(str(age) in shown for age in table["age"])


@pytest.mark.parametrize("style", ["tight", "cut"])
def test_missing_beside_known_numbers_publishes_everything(style):
    frame = released(pl.DataFrame({"a": [1, None, 3, 4]}), 4, "gain", style).frame
    assert frame["a"].to_list() == [SUPPRESSED] * 4


@pytest.mark.parametrize("style", ["tight", "cut"])
def test_missing_alone_stays_missing(style):
    frame = released(pl.DataFrame({"a": [None, None, 3, 3]}), 2, "gain", style).frame
    assert frame["a"].to_list() == [None, None, "3", "3"]


def test_set_that_holds_the_missing_value_has_an_empty_place():
    table = pl.DataFrame({"a": ["x", None, "y", "y"]})
    assert released(table, 2, "gain", "tight").frame["a"].to_list() == ['["", "x"]'] * 2 + ["y"] * 2


@pytest.mark.parametrize("text", ["<5", "[1, 2]", "[1, 2)", '["a"]', ">=7"])
def test_value_that_looks_like_another_form_is_a_list_of_one(text):
    frame = released(pl.DataFrame({"a": [text] * 2 + ["x"] * 2}), 2, "gain", "tight").frame
    assert json.loads(frame["a"][0]) == [text]


def column_of(kind, low, high):
    dtype = {"integer": "int64", "decimal": "float64", "date": "datetime64[D]", "datetime": "datetime64[us]"}[kind]
    return Column("c", kind, np.array([low, high], dtype=dtype))


@pytest.mark.parametrize(
    ("kind", "low", "high", "point"),
    [
        ("integer", 17, 25, "20"),
        ("integer", 24, 25, "25"),
        ("integer", 98, 101, "100"),
        ("integer", 6, 8, "7"),
        ("integer", 1, 2, "2"),
        ("integer", -3, 4, "0"),
        ("integer", -1, 0, "0"),
        ("integer", -7, -5, "-5"),
        ("integer", -9, -6, "-7"),
        ("integer", -25, -17, "-20"),
        ("integer", 10**17, 10**17 + 1, str(10**17 + 1)),
        ("decimal", 0.1, 0.2, "0.2"),
        ("decimal", 0.11, 0.19, "0.15"),
        ("decimal", -0.2, -0.1, "-0.1"),
        ("decimal", -0.19, -0.11, "-0.15"),
        ("decimal", -1.5, 0.3, "0"),
        ("decimal", 1.9, 2.1, "2"),
        ("decimal", 1e-9, 3e-9, "0.000000002"),
        ("decimal", 0.0, 1.2345e-50, "0." + 49 * "0" + "1"),
        ("decimal", 0.12345678901234, 0.12345678998765, "0.1234567895"),
        ("decimal", 0.12345678901234562, 0.12345678901234566, "0.12345678901234565"),
        ("decimal", 149.5, 251.0, "200"),
        ("decimal", 1e-30, 2e-30, "0.000000000000000000000000000002"),
        ("date", "1985-03-01", "1993-07-09", "1990-01-01"),
        ("date", "1989-12-31", "1990-01-01", "1990-01-01"),
        ("date", "1991-02-03", "1993-07-09", "1993-01-01"),
        ("date", "1993-02-03", "1993-07-09", "1993-07-01"),
        ("date", "1993-07-03", "1993-07-09", "1993-07-08"),
        ("date", "1993-07-01", "1993-07-02", "1993-07-02"),
        ("date", "0001-01-01", "0003-05-06", "0003-01-01"),
        ("datetime", "1993-07-08T23:00", "1993-07-09T11:30", "1993-07-09 00:00:00"),
        ("datetime", "1993-07-09T08:15", "1993-07-09T11:30", "1993-07-09 11:00:00"),
        ("datetime", "1993-07-09T11:15", "1993-07-09T11:30", "1993-07-09 11:30:00"),
        ("datetime", "1993-07-09T11:15", "1993-07-09T11:29:00.123456", "1993-07-09 11:20:00"),
        ("datetime", "1993-07-09T11:15:12.5", "1993-07-09T11:17:03.123456", "1993-07-09 11:17:00"),
        ("datetime", "1993-07-09T11:15:12.5", "1993-07-09T11:15:47.123456", "1993-07-09 11:15:30"),
        ("datetime", "1993-07-09T11:15:12.123456", "1993-07-09T11:15:12.987654", "1993-07-09 11:15:12.500000"),
        ("datetime", "1993-07-09T11:15:12.123456", "1993-07-09T11:15:12.123987", "1993-07-09 11:15:12.123500"),
        ("datetime", "1993-07-09T11:15:12.000001", "1993-07-09T11:15:12.000004", "1993-07-09 11:15:12.000003"),
        ("datetime", "1969-12-31T23:59:59.2", "1969-12-31T23:59:59.999", "1969-12-31 23:59:59.500000"),
        ("datetime", "1993-07-09T11:15", "1993-07-09T11:15:00.000001", "1993-07-09 11:15:00.000001"),
        ("datetime", "1989-12-31T23:59:59", "1990-01-01T00:00:01", "1990-01-01 00:00:00"),
    ],
)
def test_cut_point_by_hand(kind, low, high, point):
    assert cut_point(column_of(kind, low, high), 1) == point


def roundest(low, high, is_above=None):
    """The greatest multiple of the largest step 5 or 1 times a power of ten that lies below high, else high itself."""
    is_above = is_above or (lambda point: point > low)
    for power in range(19, -360, -1):
        for digit in (5, 1):
            step = digit * Fraction(10) ** power
            point = math.floor(high / step) * step
            if point == high and is_above(point - step):
                return point - step
            if is_above(point):
                return point
    return high


def n_digits(text):
    """How many digits of a number are significant."""
    return len(text.replace("-", "").replace(".", "").strip("0"))


@given(st.sets(st.integers(-(10**18) + 1, 10**18 - 1) | st.integers(-200, 200), min_size=2, max_size=2))
def test_cut_point_of_integers_is_the_roundest(ends):
    low, high = sorted(ends)
    point = Fraction(cut_point(column_of("integer", low, high), 1))
    assert low < point <= high
    assert point == roundest(Fraction(low), Fraction(high))


@given(
    st.sets(
        st.floats(-1e15, 1e15).map(lambda x: x + 0.0) | st.sampled_from([0.1, 0.2, -0.1, 0.3]), min_size=2, max_size=2
    )
)
@example({0.1, 0.2})
@example({-0.1, -0.2})
@example({0.3, 0.30000000000000004})
@example({5e-324, 1e-323})
@example({-5e-324, 5e-324})
def test_cut_point_of_decimals_is_the_roundest(ends):
    low, high = sorted(ends)
    text = cut_point(column_of("decimal", low, high), 1)
    exact_low, exact_high = Fraction(repr(low)), Fraction(repr(high))
    assert exact_low < Fraction(text) <= exact_high
    assert float(text) == float(roundest(exact_low, exact_high, lambda point: float(point) > low))
    assert re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text)


@given(st.floats(-1e9, 1e9), st.integers(1, 1_000))
@example(0.1, 1)
@example(0.0, 2)
@example(1 - 2**-53, 1)
def test_no_decimal_of_fewer_digits_lies_between_near_neighbours(low, n_floats):
    low += 0.0
    between = [low]
    for _ in range(n_floats):
        between.append(math.nextafter(between[-1], math.inf))
    text = cut_point(column_of("decimal", low, between[-1]), 1)
    assert float(text) in between[1:]
    assert n_digits(text) <= min(n_digits(np.format_float_positional(each)) for each in between[1:])


@given(st.floats(1e-290, 1e290, allow_subnormal=False), st.sampled_from([-1, 1]))
def test_a_decimal_beside_zero_is_cut_off_with_one_digit(size, sign):
    low, high = sorted([0.0, sign * size])
    assert n_digits(cut_point(column_of("decimal", low, high), 1)) <= 1


DATE_UNITS = (
    lambda day: day.replace(year=max(1, day.year // 10 * 10), month=1, day=1),
    lambda day: day.replace(month=1, day=1),
    lambda day: day.replace(day=1),
)
TIME_UNITS = (
    *[lambda moment, floor=floor: dt.datetime.combine(floor(moment.date()), dt.time()) for floor in DATE_UNITS],
    lambda moment: moment.replace(hour=0, minute=0, second=0, microsecond=0),
    lambda moment: moment.replace(minute=0, second=0, microsecond=0),
    *[
        lambda moment, n=n: moment.replace(minute=moment.minute // n * n, second=0, microsecond=0)
        for n in (30, 10, 5, 1)
    ],
    *[lambda moment, n=n: moment.replace(second=moment.second // n * n, microsecond=0) for n in (30, 10, 5, 1)],
    *[
        lambda moment, n=n: moment.replace(microsecond=moment.microsecond // n * n)
        for n in (digit * 10**power for power in range(5, -1, -1) for digit in (5, 1))
    ],
)


def assert_roundest(low, high, point, units, smallest):
    """No moment of a coarser unit lies between, and the higher person's own only where no other of the unit does."""
    assert low < point <= high
    unit = next((floor for floor in units if floor(point) == point), lambda moment: moment)
    for floor in units:
        if floor is unit:
            break
        assert floor(high) <= low
    if point == high:
        assert unit(point - smallest) <= low


@given(
    st.sets(st.dates(), min_size=2, max_size=2)
    | st.sets(st.dates(dt.date(1999, 12, 1), dt.date(2000, 2, 1)), min_size=2, max_size=2)
)
def test_cut_point_of_dates_is_the_roundest(ends):
    low, high = sorted(ends)
    point = dt.date.fromisoformat(cut_point(column_of("date", low, high), 1))
    assert_roundest(low, high, point, DATE_UNITS, dt.timedelta(days=1))


@given(
    st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9000, 1, 1)),
    st.integers(0, 11).flatmap(lambda power: st.integers(1, 10**power)),
)
@example(dt.datetime(1, 1, 1), 1)
def test_cut_point_of_datetimes_is_the_roundest(low, microseconds):
    high = low + dt.timedelta(microseconds=microseconds)
    point = dt.datetime.fromisoformat(cut_point(column_of("datetime", low, high), 1))
    assert_roundest(low, high, point, TIME_UNITS, dt.timedelta(microseconds=1))


def test_cut_cells_of_moments_within_an_hour_name_no_persons_microseconds():
    moments = [dt.datetime(2024, 5, 6, 11, minute, 7 * minute % 60, 123_456 + minute) for minute in range(20, 40)]
    shown = " ".join(released(pl.DataFrame({"datetime": moments}), 2, "gain", "cut").frame["datetime"])
    assert "." not in shown
    assert not any(str(moment) in shown for moment in moments)


@pytest.mark.parametrize("ends", [(1e30, 2e30), (1e28, 1.5e28), (1.2345678901234567e29, 1.2345678901234569e29)])
def test_cut_point_of_very_large_decimals(ends):
    low, high = ends
    assert low < float(cut_point(column_of("decimal", low, high), 1)) <= high


@pytest.mark.parametrize(
    "cells", [[1e30, 2e30, 3e30, 4e30], [-1.5e308, -1e308, 1e308, 1.5e308], [1e-300, 2e-300, 3e-300]]
)
@pytest.mark.parametrize("style", ["tight", "cut"])
def test_extreme_decimals_are_released(style, cells):
    release = released(pl.DataFrame({"decimal": cells}), 1, "gain", style)
    assert all(covers("decimal", cell, value) for cell, value in zip(release.frame["decimal"], cells, strict=True))
    assert 0 <= release.loss <= 1


def test_labels_index_distinct_texts():
    table = Table.encode(pl.DataFrame({"a": [1, 2, 1, 2, 5], "b": ["x", "y", "x", "y", "x"]}))
    partition = Partition.from_labels(np.array([0, 0, 1, 1, 2], dtype=np.int32), 3, table.counts)
    recoding = tight(table, partition, ["a", "b"])
    for name, expected in (("a", ["[1, 2]", "[1, 2]", "5"]), ("b", [SUPPRESSED, SUPPRESSED, "x"])):
        label_of_class, texts = recoding.format_labels(name)
        assert len(texts) == len(set(texts)) == 2
        assert [texts[label] for label in label_of_class] == expected


def test_labels_of_an_unknown_column():
    table = Table.encode(pl.DataFrame({"a": [1]}))
    with pytest.raises(KeyError):
        tight(table, Partition.from_table(table), ["a"]).format_labels("b")


@pytest.mark.parametrize(("cells", "size"), [(["x", "y"], 2), (["x", None], 2), ([None, None], 1), (["x", "x"], 1)])
def test_domain_counts_the_missing_value(cells, size):
    table = Table.encode(pl.DataFrame({"a": cells}, schema={"a": pl.String}))
    (axis,) = lay_out(table, ["a"], {}, {})
    assert axis.domain == size


def test_html_of_a_release_escapes_column_names():
    name = "<script>alert(1)</script>"
    table = pl.DataFrame({name: [1, 1], "s": ["x", "y"]}).rename({"s": name + "s"})
    release = anonymize(table, quasi_identifiers=[name], models=[KAnonymity(2), DistinctLDiversity(2, name + "s")])
    shown = release._repr_html_()
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 5


def test_a_set_of_labels_that_are_sets_is_one_list():
    values = ["a", "b", "c", "d", '["e"]', "f", "g", "h", "<5"]
    data = pl.DataFrame({"x": values})
    method = Mondrian(recoding="set")
    for rule in ({"frequency": {"fanout": 2}}, {"runs": {"fanout": 3}}):
        release = anonymize(
            data, quasi_identifiers=["x"], models=[KAnonymity(4)], method=method, hierarchies={"x": rule}
        )
        for cell, value in zip(release.frame["x"], values, strict=True):
            assert cell == "*" or value in cells.parse_cell(cell).members
            assert cell == "*" or set(cells.parse_cell(cell).members) <= set(values)
        assert any(cell != "*" for cell in release.frame["x"])


def test_labels_of_other_forms_stay_members_of_a_set():
    data = pl.DataFrame({"x": [1, 2, 11, 12, 31, 32, 41, 42]})
    release = anonymize(
        data,
        quasi_identifiers=["x"],
        models=[KAnonymity(4)],
        method=Mondrian(recoding="set"),
        hierarchies={"x": {"intervals": {"width": [10, 30]}}},
    )
    assert set(release.frame["x"]) == {'["[0, 10)", "[10, 20)"]', '["[30, 40)", "[40, 50)"]'}


def test_cut_names_a_set_that_is_too_long_and_reads_it_back(tmp_path):
    towns = [f"town of {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(60)]
    rows = pl.DataFrame(
        {"town": [towns[(i * i + i // 9) % 60] for i in range(700)], "age": [i % 50 for i in range(700)]}
    )
    asked = {"quasi_identifiers": ["town", "age"], "models": [ht.KAnonymity(5)], "roles": "trust"}
    release, listed = (
        ht.anonymize(rows, **asked, method=ht.Mondrian(recoding="cut", max_length=n)) for n in (40, 100_000)
    )
    assert release.loss == listed.loss
    assert listed.frame["town"].str.len_chars().max() > 200
    assert release.frame["town"].str.len_chars().max() <= 44
    # The same people share a cell, and a name stands for exactly what would be listed.
    pairs = set(zip(release.frame["town"], listed.frame["town"], strict=True))
    assert len(pairs) == listed.frame["town"].n_unique() == release.frame["town"].n_unique()
    named = release.recoding.meanings()["town"].rule.labels
    assert all(cells.parse_cell(long).members == named[short] for short, long in pairs if short != long)
    for town, cell in zip(rows["town"], release.frame["town"], strict=True):
        assert cell in ("*", town) or town in (named.get(cell) or cells.parse_cell(cell).members)
    assert release.verify().passed
    covered = ht.verify(
        release.frame,
        quasi_identifiers=["town", "age"],
        models=[ht.KMap(5)],
        population=rows,
        specs=release.specs,
        hierarchies=release.recoding.meanings(),
    )
    assert covered.passed
    batch = release.apply(rows)
    assert set(batch.frame["town"]) <= set(release.frame["town"])
    release.write(tmp_path / "out.csv")
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["claim"]["hierarchies"] == {"town": None}
    told = (tmp_path / "out.csv.codebook.json").read_text()
    assert all(json.dumps(name) in told for name in set(release.frame["town"]) & set(named))
    with pytest.raises(ht.InputError, match="cannot be saved"):
        release.save_recoding(tmp_path / "next.json")
