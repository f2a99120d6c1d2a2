"""Readable cells: priced as they are written, never finer than their grid, and read back as what they cover."""

import datetime as dt
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.anonymizers import publish
from hushtable.claims.coverage import coverage_matrix
from hushtable.columns import LANGUAGES, cells, words_of
from hushtable.columns.column import from_texts
from hushtable.hierarchy.grid import UNITS, Dates
from hushtable.hierarchy.hierarchy import groups_of
from hushtable.hierarchy.proposal import Rounding, finest_grid
from hushtable.kernels.class_profile import COST_PER_CHARACTER, ENTRY, price_prefixes, share_of
from hushtable.recoding.layout import Lists, lay_out, pack_axes, places_of_rows
from hushtable.tables.partition import Partition
from hushtable.tables.table import Table
from reading import holds
from strategies import draws

MOST = Lists(3, 30)
WORDS = [f"{'long ' * (i % 4)}word {i}" for i in range(14)]
DAYS = [dt.date(1959, 12, 28) + dt.timedelta(days=i * i * 3) for i in range(60)]
CODES = [f"{area}{place}{house}" for area in "abcdefg" for place in "12" for house in "xy"]
GRADES = ["none", "some", "much", "very much", "all", "more", "most"]

ROWS = st.lists(
    st.tuples(
        st.sampled_from(WORDS) | st.none(),
        st.integers(-30, 1_200) | st.integers(0, 9) | st.none(),
        st.sampled_from(DAYS) | st.none(),
        st.sampled_from(GRADES) | st.none(),
        st.integers(0, 40).map(lambda tenths: tenths / 10),
        st.sampled_from(CODES) | st.none(),
    ),
    min_size=2,
    max_size=30,
)

NAMES = ["word", "size", "day", "grade", "dose", "code"]
RULE = ht.Hierarchy.prefix([2, 1])


def frame_of(rows):
    types = [pl.String, pl.Int64, pl.Date, pl.Enum(GRADES), pl.Float64, pl.String]
    return pl.DataFrame(rows, schema=dict(zip(NAMES, types, strict=True)), orient="row")


def released(frame, names, k):
    method = ht.Mondrian(recoding="readable")
    ladders = {"code": RULE} if "code" in names else {}
    asked = {"quasi_identifiers": names, "models": [ht.KAnonymity(k)], "hierarchies": ladders}
    return ht.anonymize(frame, **asked, method=method, roles="trust")


def naive_price(text, values, present, axis):
    """Price a written cell by what it reads as."""
    if text == cells.SUPPRESSED:
        return 1.0
    if len(present) == 1 and (None in present or axis.rounding is None):
        return 0.0
    if axis.rounding is None:
        read = cells.parse_cell(text)
        if axis.hierarchy is not None:
            labels = read.members if read.form == "set" else [text]
            held = {value for value in values for label in labels if label and value.startswith(label[:-1])}
            return (len(held) + (None in labels)) / len(values)
        if read.form == "set":
            return len(read.members) / axis.domain
        held = [v for v in values if _group_holds(axis.listing.tree, text, v)]
        return len(held) / len(values)
    grid, unit = Fraction(axis.rounding.grid), axis.rounding.value_width
    first, last = (_cell(v, grid) for v in (min(values), max(values)))
    begin, end = _ends(text, grid, first, last, are_days=axis.rounding.is_calendar)
    if axis.column.by_rank:
        return (sum(begin <= _cell(v, grid) < end for v in values) - 1) / (len(values) - 1)
    return (end - begin - unit) / max(last + 1 - first - unit, 1e-9)


def _group_holds(groups, label, value):
    code = groups.values.index(value)
    return any(groups.labels[i][groups.level_codes[i, code]] == label for i in range(1, groups.n_levels))


def _cell(value, grid):
    number = (value - dt.date(1970, 1, 1)).days if isinstance(value, dt.date) else Fraction(str(value))
    return number // grid


def _edge(text, grid):
    is_day = text.count("-") == 2 and text[0] != "-"
    number = (dt.date.fromisoformat(text) - dt.date(1970, 1, 1)).days if is_day else Fraction(text)
    assert (number / grid).denominator == 1, "an end is finer than the grid"
    return number // grid


def _ends(text, grid, first, last, *, are_days):
    bounds, members = cells.parse_cell(text).ends, cells.parse_cell(text).members
    if members:
        return min(_edge(each, grid) for each in members), max(_edge(each, grid) for each in members) + 1
    if bounds is not None:
        # Years and months begin with their first day.
        low, high = (end and end + "-01-01"[len(end) - 4 :] if are_days else end for end in bounds[:2])
        return first if low is None else _edge(low, grid), last + 1 if high is None else _edge(high, grid)
    if text[-1] == "s":
        begin, end = dt.date(int(text[:4]), 1, 1), dt.date(int(text[:4]) + 10, 1, 1)
    elif "Q" in text:
        month = 3 * int(text[-1]) - 2
        begin, end = dt.date(int(text[:4]), month, 1), dt.date(int(text[:4]) + (month == 10), (month + 2) % 12 + 1, 1)
    elif text.count("-") == 1 and len(text) == 7:
        month = int(text[5:])
        begin, end = dt.date(int(text[:4]), month, 1), dt.date(int(text[:4]) + (month == 12), month % 12 + 1, 1)
    elif text.count("-") == 2:
        begin = dt.date.fromisoformat(text)
        end = begin + dt.timedelta(days=1)
    elif len(text) == 4 and grid == 1 and first < last and last > 3_000 and int(text) > 1_900:
        begin, end = dt.date(int(text), 1, 1), dt.date(int(text) + 1, 1, 1)
    else:
        return _edge(text, grid), _edge(text, grid) + 1
    return _cell(begin, grid), _cell(end, grid)


def kernel_price(packed, j, codes):
    begin, distinct = packed.columns["begin"][j], sorted(set(codes))
    units = {int(packed.places["unit"][begin + code]) for code in distinct}
    n_chars, listed = (sum(int(packed.places[name][begin + unit]) for unit in units) for name in ("chars", "listed"))
    return share_of(packed, j, distinct[0], distinct[-1], len(units), n_chars, listed)


@settings(max_examples=draws(150))
@given(ROWS, st.randoms(use_true_random=False), st.booleans())
def test_a_class_is_priced_as_it_is_written(rows, random, by_rank):
    frame = frame_of(rows)
    table = Table.encode(frame)
    table = replace(table, columns=tuple(replace(column, by_rank=by_rank) for column in table.columns))
    axes = lay_out(table, NAMES, {"code": ht.Hierarchy.build(RULE, table.column("code"))}, {}, MOST)
    packed = pack_axes(axes, {})
    labels = np.array([random.randrange(1 + len(rows) // 3) for _ in rows])
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    partition = Partition.from_labels(labels, int(labels.max()) + 1, table.counts)
    recoding = publish.from_classes(table, partition, axes, "readable")
    points = places_of_rows(table, axes)
    for j, (axis, shares) in enumerate(zip(axes, recoding.shares(), strict=True)):
        column = frame[axis.column.name].to_list()
        values = sorted(set(column) - {None}) if axis.rounding else list(axis.column.texts())
        label_of_class, texts = recoding.format_labels(axis.column.name)
        for label in range(partition.n_classes):
            members = np.flatnonzero(labels == label)
            present = {column[i] for i in members}
            text = texts[label_of_class[label]]
            if axis.hierarchy is None:
                entries = present if axis.listing else set()
            else:
                entries = {each and f"{each[0]}*" for each in present}
            listed = list(entries) if 1 < len(entries) <= MOST.max_listed else []
            written = cells.format_set(listed, between=",")
            toll = COST_PER_CHARACTER * (len(written) - 1) if listed and len(written) <= MOST.max_length else 0.0
            priced = kernel_price(packed, j, points[members, j].tolist())
            assert priced == pytest.approx(shares[label] + toll, abs=1e-9)
            if axis.rounding is None and axis.listing is None:
                continue
            wanted = 0.0 if text is None else naive_price(text, values, present, axis)
            assert shares[label] == pytest.approx(wanted, abs=1e-9), text
            listed = cells.parse_cell(text).members if text else ()
            assert len(listed) <= MOST.max_listed
            assert len(listed) < 2 or len(text) <= MOST.max_length


@settings(max_examples=draws(40))
@given(ROWS, st.integers(2, 4))
def test_every_class_covers_its_records(rows, k):
    """Everyone of the input is covered by a class of as many records, told from the written cells alone."""
    frame = frame_of([*rows, *rows])
    release = released(frame, NAMES, k)
    assert release.verify().passed
    verdict = ht.verify(
        release.frame,
        quasi_identifiers=NAMES,
        models=[ht.KMap(k)],
        population=frame,
        specs=release.specs,
        hierarchies={"code": RULE, **release.recoding.meanings()},
        suppressed=None,
    )
    assert verdict.passed, verdict.failures


def test_months_quarters_years_and_decades_have_labels():
    column, _ = from_texts("day", [str(dt.date(1955, 3, 4) + dt.timedelta(days=each)) for each in range(9_000)])
    rounding = Rounding.from_column(column)
    first = {text: column.texts().index(text) for text in ("1960-01-01", "1960-04-01", "1960-02-01", "1961-01-01")}
    begin = first["1960-01-01"]
    ends = [first["1960-02-01"], first["1960-04-01"], first["1961-01-01"], column.texts().index("1970-01-01")]
    assert [rounding.format_interval(begin, end) for end in ends] == ["1960-01", "1960-Q1", "1960", "1960s"]
    assert rounding.format_interval(begin, begin + 1) == "1960-01-01"
    assert rounding.format_interval(begin, begin + 3) == "[1960-01-01, 1960-01-04)"
    assert rounding.format_interval(begin, begin + 75) == "[1960-01-01, 1960-03-16)"
    assert rounding.format_interval(0, begin) == "<1960"
    assert rounding.format_interval(begin, first["1961-01-01"] + 365) == "[1960, 1962)"
    assert rounding.format_interval(first["1960-02-01"], first["1961-01-01"]) == "[1960-02, 1961-01)"
    assert rounding.format_interval(begin, rounding.n_cells) == ">=1960"


def test_years_and_months_at_the_ends_of_intervals_are_read_as_their_first_days():
    days = [dt.date(1950, 1, 1) + dt.timedelta(days=97 * i) for i in range(200)]
    people = pl.DataFrame({"born": days, "ward": ["a", "b"] * 100})
    release = ht.anonymize(
        people, quasi_identifiers=["born"], models=[ht.KAnonymity(25)], method=ht.Mondrian(recoding="readable")
    )
    published = release.frame["born"].to_list()
    assert {len(cell) for cell in published} <= {len(">=1958"), len("[1958, 1969)"), len("[1958-01, 1958-04)"), 5}
    assert release.verify().passed
    born = ["1957-12-31", "1958-01-01", "1958-03-31", "1958-04-01"]
    matrix = coverage_matrix(["<1958", "[1958-01, 1958-04)", ">=1958"], born, ht.ColumnSpec("date"), None, "born")
    assert matrix.tolist() == [[True, False, False, False], [False, True, True, False], [False, True, True, True]]
    assert 0 < release.utility().column("born").distance < 0.1
    # Every cell is found to hold its own people, and nobody is lost.
    assert ht.link(release.frame, people, on=["born"], specs={"born": ht.ColumnSpec("date")}).found.n_lost == 0


@pytest.mark.parametrize(
    ("low", "high", "grid"),
    [
        (17, 90, Fraction(1, 2)),
        (0, 200, 1),
        (0, 201, 2),
        (0, 1_000, 5),
        (-5, 100_000, 1_000),
        (0, Fraction(1, 7), Fraction(1, 1000)),
    ],
)
def test_the_grid_is_a_two_hundredth_of_the_range_rounded_up(low, high, grid):
    assert finest_grid(low, high) == grid


def test_a_grid_is_no_finer_than_the_values_are_written():
    ages, _ = from_texts("age", [str(age) for age in range(17, 91)])
    assert Rounding.from_column(ages).grid == 1
    assert Rounding.from_column(ages, 5).grid == 5
    doses, _ = from_texts("dose", ["0.5", "1", "2.5"])
    assert Rounding.from_column(doses).grid == Fraction(1, 10)


def test_calendar_labels_are_declared_and_told(tmp_path):
    days = pl.DataFrame({"day": [dt.date(1950, 1, 1) + dt.timedelta(days=i * 20) for i in range(400)]})
    release = released(days, ["day"], 30)
    assert release.recoding.meanings() == {"day": Dates(tuple(UNITS))}
    release.write(tmp_path / "out.csv")
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["recoding"] == "readable"
    assert manifest["claim"]["hierarchies"] == {"day": {"dates": {"levels": list(UNITS)}}}
    covered = ht.verify(
        tmp_path / "out.csv",
        quasi_identifiers=["day"],
        models=[ht.KMap(30)],
        population=days,
        specs=release.specs,
        hierarchies={"day": {"dates": {"levels": list(UNITS)}}},
    )
    assert covered.passed


def test_labels_of_groups_are_no_values():
    column, _ = from_texts("x", ["v01 and 4 more", *(f"v{i:02}" for i in range(20))])
    groups = groups_of(column, np.ones(21, dtype=np.int64))
    labels = [label for level in groups.labels[1:-1] for label in level]
    assert "v01 and 4 more …" in labels
    # A group of one value is that value.
    assert {label for label in labels if "more" in label} & set(column.texts()) <= {"v01 and 4 more"}


TEXTS = st.one_of(
    st.text(min_size=1).filter(str.strip), st.sampled_from(("x and 4 more", "other (5 values)", "[1, 2]"))
)


@settings(max_examples=draws(60))
@given(
    st.sets(st.one_of(TEXTS, st.text("ab", min_size=40, max_size=43)), min_size=2, max_size=30),
    st.data(),
    st.sampled_from(LANGUAGES),
)
def test_groups_are_named_by_their_most_frequent_value_that_enough_people_have(texts, data, language):
    column, _ = from_texts("x", sorted(texts), "category")
    counts = np.array(data.draw(st.lists(st.integers(0, 9), min_size=column.n_values, max_size=column.n_values)))
    groups = groups_of(column, counts, counts >= 5, language=language)
    known = column.texts()
    for codes, labels in zip(groups.level_codes[1:-1], groups.labels[1:-1], strict=True):
        assert len(set(labels)) == len(labels)
        for node, label in enumerate(labels):
            held = np.flatnonzero(codes == node)
            if len(held) == 1:
                continue
            assert label not in known
            assert cells.parse_cell(label).form == "value"
            named = [code for code in range(column.n_values) if label.startswith(known[code][:20])]
            most = held[counts[held].argmax()]
            assert counts[most] < 5 or most in named or words_of(language).other[:3] in label
    again = groups_of(column, counts, counts >= 5, language=language)
    assert again.labels == groups.labels


@settings(max_examples=draws(60))
@given(st.sets(TEXTS, min_size=2, max_size=30), st.data())
def test_a_group_reads_as_the_values_that_it_was_written_for(texts, data):
    column, _ = from_texts("x", sorted(texts), "category")
    counts = np.array(data.draw(st.lists(st.integers(0, 9), min_size=column.n_values, max_size=column.n_values)))
    groups, known = groups_of(column, counts, counts >= 5), column.texts()
    for codes, labels in zip(groups.level_codes[1:-1], groups.labels[1:-1], strict=True):
        covers = coverage_matrix(list(labels), known, column.spec, groups, "x")
        written = [{known[i] for i in np.flatnonzero(codes == node)} for node in range(len(labels))]
        assert [{known[i] for i in np.flatnonzero(row)} for row in covers] == written
        meant = dict(zip(labels, written, strict=True))
        assert [{text for text in known if holds(label, text, "category", meant)} for label in labels] == written


def test_a_group_without_a_common_value_has_a_letter():
    column, _ = from_texts("x", [f"v{i:02}" for i in range(20)])
    named = groups_of(column, np.arange(20)[::-1], np.zeros(20, dtype=bool), language="de")
    assert named.labels[1] == ("andere A (5 Werte)", "andere B (5 Werte)", "andere C (5 Werte)", "andere D (5 Werte)")


def test_persons_and_not_their_records_let_a_label_name_a_value():
    jobs = ["job of one"] * 30 + [f"job {'abcdef'[i % 6]}" for i in range(60)]
    table = Table.encode(pl.DataFrame({"who": [0] * 30 + [*range(1, 61)], "job": jobs}))
    for person, name in ((None, "job of one and 1 more"), ("who", "job a and 1 more")):
        (axis,) = lay_out(table, ["job"], {}, {}, Lists(4, 40, min_people=5, person=person))
        assert axis.listing.tree.labels[1][0] == name


def test_a_manifest_does_not_tell_groups(tmp_path):
    rows = pl.DataFrame(
        {
            "x": [f"canary {chr(97 + i % 37 // 6)}{chr(97 + i % 37 % 6)}" for i in range(400)],
            "y": [i % 3 for i in range(400)],
        }
    )
    release = released(rows, ["x", "y"], 60)
    assert any("values" in text for text in release.frame["x"])
    release.write(tmp_path / "out.csv")
    text = (tmp_path / "out.csv.manifest.json").read_text()
    assert json.loads(text)["claim"]["hierarchies"] == {"x": None}
    assert "canary" not in text


@pytest.mark.parametrize("options", [{"max_listed": 2}, {"max_length": 9}])
def test_limits_of_lists_go_with_readable(options):
    with pytest.raises(ht.InputError, match="has no effect"):
        ht.Mondrian(**options)
    assert ht.Mondrian(recoding="readable", **options)


@pytest.mark.parametrize("options", [{"max_listed": 0}, {"max_length": 1.5}, {"max_listed": True}])
def test_limits_of_lists_are_whole_numbers(options):
    with pytest.raises(ht.InputError, match="a whole number"):
        ht.Mondrian(recoding="readable", **options)


@settings(max_examples=draws(60))
@given(ROWS, st.booleans())
def test_prefixes_of_a_class_are_priced_one_by_one(rows, by_rank):
    """All prefixes in one call cost what each costs by itself."""
    table = Table.encode(frame_of(rows))
    table = replace(table, columns=tuple(replace(column, by_rank=by_rank) for column in table.columns))
    axes = lay_out(table, NAMES, {"code": ht.Hierarchy.build(RULE, table.column("code"))}, {}, MOST)
    packed, points = pack_axes(axes, {}), places_of_rows(table, axes)
    held = [np.unique(points[:, j]) for j in range(len(axes))]
    for j, each in enumerate(held):
        entries = np.zeros(len(each), dtype=ENTRY)
        entries["code"] = each
        price_prefixes(packed, j, entries, False)
        price_prefixes(packed, j, entries, True)
        for n in range(1, len(each) + 1):
            assert entries["left"][n - 1] == kernel_price(packed, j, each[:n].tolist())
            assert entries["right"][-n] == kernel_price(packed, j, each[-n:].tolist())


@settings(max_examples=draws(25))
@given(ROWS, st.integers(2, 4))
def test_exchange_loses_no_more_of_readable_cells(rows, k):
    frame = frame_of([*rows, *rows])
    asked = {"quasi_identifiers": NAMES, "models": [ht.KAnonymity(k)], "hierarchies": {"code": RULE}, "roles": "trust"}
    cut, exchanged = (
        ht.anonymize(frame, **asked, method=ht.Mondrian(recoding="readable", exchange=exchange))
        for exchange in (False, True)
    )
    assert exchanged.verify().passed
    assert exchanged.loss <= cut.loss + 1e-12


def test_few_answers_are_values_and_not_ranges():
    rows = pl.DataFrame({"flag": [0, 1, 9, 0, 1, 9] * 20, "town": [f"town {i // 40}" for i in range(120)]})
    published = released(rows, ["flag", "town"], 30).frame["flag"].unique()
    assert set(published) <= {"0", "1", "9", '["0","1"]', '["1","9"]', "*"}
    answers, _ = from_texts("flag", ["0", "1", "9"])
    rounding = Rounding.from_column(answers)
    assert [rounding.format_interval(*run) for run in ((0, 1), (0, 2), (1, 10), (0, 10))] == [
        "0",
        '["0","1"]',
        '["1","9"]',
        "*",
    ]
    ages, _ = from_texts("age", ["20", "21", "29"])
    assert Rounding.from_column(ages).format_interval(0, 2) == "<22"


def test_a_list_has_an_empty_place_for_the_missing_value():
    assert cells.format_set([None, "a"]) == '["", "a"]'
    assert cells.parse_cell('["", "a"]').members == cells.parse_cell('[null, "a"]').members == (None, "a")


@pytest.mark.parametrize(("rules", "most"), [(False, 0.13), (True, 0.08)], ids=["no rules", "rules"])
def test_cells_of_people_are_short_and_few_are_lists(rules, most):
    names = ["birth_date", "sex", "postcode", "education", "marital_status", "occupation", "nationality"]
    ladders = {
        "postcode": ht.Hierarchy.prefix([4, 3, 2, 1]),
        "education": ht.Hierarchy.dictionary("education"),
        "nationality": ht.Hierarchy.dictionary("countries"),
    }
    # The sample of which the shares were measured: lists of occupations depend on their order.
    people = ht.datasets.people(3_000, seed=1).with_columns(pl.col("occupation").replace({"at home": "NA"}))
    release = ht.anonymize(
        people,
        quasi_identifiers=names,
        models=[ht.KAnonymity(5)],
        hierarchies=ladders if rules else {},
        method=ht.Mondrian(recoding="readable"),
        roles="trust",
    )
    said = [cell for name in names for cell in release.frame[name] if cell is not None]
    own = {name: {str(value) for value in people[name].unique()} for name in names}
    coarse = [len(cell) for name in names for cell in release.frame[name] if cell and cell not in own[name]]
    assert max(map(len, said)) <= 40
    assert sorted(coarse)[len(coarse) // 2] <= 12
    assert sum(cell.startswith('["') for cell in said) <= most * len(said)
    assert not [cell for cell in said if "no. " in cell]
