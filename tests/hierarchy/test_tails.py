"""Top and bottom coding: levels by their definition, tails of enough records, and nothing published beyond an end."""

import datetime as dt
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from command import done
from hushtable.claims.column_entries import rules_of
from hushtable.columns.column import Column, ColumnSpec, from_texts
from hushtable.hierarchy import rules
from hushtable.hierarchy.proposal import propose_tails
from hushtable.hierarchy.rules import Tails
from hushtable.io import frames
from hushtable.release import manifest, notes

FAR = pl.DataFrame({"income": [i * 37 % 299 for i in range(299)] + [10**6], "age": [i * 7 % 90 for i in range(300)]})
STYLES = ("tight", "readable", "cut", "label", "set")


def column_of(texts, kind=None):
    return from_texts("x", texts, kind)[0]


def published(ladder):
    """Return what every value publishes, by level."""
    return [
        [labels[node] for node in codes]
        for labels, codes in zip(ladder.labels, ladder.level_codes.tolist(), strict=True)
    ]


def check_shares(ladder):
    """No level is finer than the one below, and all of a level together are no more than the domain."""
    for level in range(1, ladder.n_levels):
        below = ladder.shares[level - 1][ladder.level_codes[level - 1]]
        above = ladder.shares[level][ladder.level_codes[level]]
        assert (above >= below).all()
        assert (above <= 1).all()
    if ladder.n_values:
        assert ladder.shares[-2].sum() <= 1 + 1e-12


def released(frame, hierarchy, style="tight", column="income", k=2, **options):
    return ht.anonymize(
        frame,
        quasi_identifiers=[column, *(name for name in ("age",) if name in pl.DataFrame(frame).columns)],
        models=[ht.KAnonymity(k)],
        method=ht.Mondrian(recoding=style),
        hierarchies={column: hierarchy} if hierarchy else None,
        roles="trust",
        **options,
    )


# What a value publishes, told slowly.


def written(number):
    exact = Fraction(number)
    return str(exact.numerator) if exact.denominator == 1 else f"{float(exact):.10f}".rstrip("0")


def round_widths(span, finest):
    widths = []
    for power in range(-8, 12):
        for digit in (1, 5):
            width = Fraction(digit) * Fraction(10) ** power
            if finest < width <= span / 2 and width >= span / 100:
                widths.append(width)
    return widths


def slow_number(text, low, high, width):
    """Return the cell of one number at one level: of no width a value, of an infinite one all between the ends."""
    number = Fraction(text)
    if low is not None and number < low:
        return f"<{written(low)}"
    if high is not None and number >= high:
        return f">={written(high)}"
    if width == 0:
        return text
    begin = end = None
    if width != float("inf"):
        begin, end = number // width * width, number // width * width + width
    begin = begin if low is None else low if begin is None else max(begin, low)
    end = end if high is None else high if end is None else min(end, high)
    if begin is None:
        return f"<{written(end)}"
    return f">={written(begin)}" if end is None else f"[{written(begin)}, {written(end)})"


def slow_date(day, low, high, unit):
    if low is not None and day < low:
        return f"<{low}"
    if high is not None and day >= high:
        return f">={high}"
    first = {
        "month": day.replace(day=1),
        "quarter": dt.date(day.year, (day.month - 1) // 3 * 3 + 1, 1),
        "year": dt.date(day.year, 1, 1),
        "decade": dt.date(day.year // 10 * 10, 1, 1),
    }[unit]
    months = {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit]
    ends = first.year * 12 + first.month - 1 + months
    after = dt.date(ends // 12, ends % 12 + 1, 1)
    if (low is None or first >= low) and (high is None or after <= high):
        return {
            "month": f"{first:%Y-%m}",
            "quarter": f"{first.year}-Q{(first.month + 2) // 3}",
            "year": f"{first.year}",
            "decade": f"{first.year}s",
        }[unit]
    return f"[{max(first, low or first)}, {min(after, high or after)})"


numbers = st.decimals(-300, 300, places=1)


@given(
    st.lists(st.one_of(numbers, numbers.map(round)), min_size=1, max_size=30),
    st.tuples(st.none() | numbers, st.none() | numbers),
)
def test_numbers_publish_what_the_definition_says(found, ends):
    low, high = (None if end is None else Fraction(end) for end in ends)
    if (low is None and high is None) or (low is not None and high is not None and low >= high):
        return
    column = column_of([f"{number}" for number in found])
    ladder = ht.Hierarchy.build(ht.Hierarchy.tails(*ends), column)
    assert ladder.values == tuple(column.texts())
    values = [Fraction(text) for text in ladder.values]
    resolution = int(column.kind == "integer")
    span = (values[-1] + resolution if high is None else high) - (values[0] if low is None else low)
    widths = [0, *round_widths(Fraction(max(span, 0) or 1), resolution), float("inf")]
    expected = [[slow_number(text, low, high, width) for text in ladder.values] for width in widths]
    assert published(ladder)[1:-1] == expected
    is_tail = [(low is not None and value < low) or (high is not None and value >= high) for value in values]
    assert ladder.lowest.tolist() == [int(each) for each in is_tail]
    check_shares(ladder)


@given(
    st.lists(st.dates(dt.date(1880, 1, 1), dt.date(2090, 1, 1)), min_size=1, max_size=30),
    st.none() | st.dates(dt.date(1890, 1, 1), dt.date(2000, 1, 1)),
    st.none() | st.dates(dt.date(2000, 1, 2), dt.date(2080, 1, 1)),
)
def test_dates_publish_what_the_definition_says(found, low, high):
    if low is None and high is None:
        return
    ladder = ht.Hierarchy.build(ht.Hierarchy.tails(low, high), column_of([str(day) for day in found]))
    days = [dt.date.fromisoformat(text) for text in ladder.values]
    for level, unit in enumerate(("month", "quarter", "year", "decade"), start=2):
        assert published(ladder)[level] == [slow_date(day, low, high, unit) for day in days]
    is_tail = [(low is not None and day < low) or (high is not None and day >= high) for day in days]
    coded = zip(is_tail, published(ladder)[1], ladder.values, strict=True)
    assert all((cell == text) != tail for tail, cell, text in coded)
    check_shares(ladder)


def test_a_cell_cut_by_an_end_is_no_narrower_than_a_value():
    check_shares(ht.Hierarchy.build(Tails(low=0, high=25.1), column_of(["25"])))


def test_moments_are_coded_by_day():
    column = column_of(["1900-01-01 00:00", "2020-05-31 23:59", "2020-06-01 00:00:01", "2021-01-01 00:00"], "datetime")
    ladder = ht.Hierarchy.build({"tails": {"low": "2000-01-01", "high": "2021-01-01"}}, column)
    assert ladder.labels[1][0] == "<2000-01-01"
    assert ladder.labels[2] == ("<2000-01-01", "2020-05-31", "2020-06-01", ">=2021-01-01")
    assert ladder.labels[-2] == ("<2000-01-01", "[2000-01-01, 2021-01-01)", ">=2021-01-01")


def test_how_far_out_a_value_lies_plays_no_part_in_shares():
    near, far = (ht.Hierarchy.build(Tails(high=100), column_of(["0", "1", "99", last])) for last in ("101", "999999"))
    assert all(np.array_equal(one, other) for one, other in zip(near.shares, far.shares, strict=True))
    # Values reach from 0 to 100, and the tail is as wide as the widest interval, which is 50.
    assert near.shares[-2].tolist() == pytest.approx([100 / 150, 50 / 150])


@pytest.mark.parametrize("texts", [[], ["5"], ["500"], ["-7", "500"]])
def test_columns_with_nothing_between_or_beyond(texts):
    ladder = ht.Hierarchy.build(Tails(low=0, high=100), column_of(texts, "integer"))
    check_shares(ladder)
    assert str(ladder).count("\n") == ladder.n_levels + 1


# What is refused.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "neither low nor high"),
        ({"low": 5, "high": 5}, "low = 5 is not below high = 5"),
        ({"low": 5, "high": "2020-01-01"}, "one is a number and one a date"),
        ({"high": "many"}, "high = 'many'"),
        ({"high": "2020-13-01"}, "high = '2020-13-01'"),
        ({"high": True}, "high = True"),
        ({"high": float("nan")}, "high = nan"),
        ({"high": 5, "least": 0}, "least = 0"),
        ({"high": 5, "least": 2.5}, "least = 2.5"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(ht.HierarchyError, match=message):
        Tails(**options)


@pytest.mark.parametrize(
    ("texts", "kind", "high", "message"),
    [
        (["a", "b"], None, 5, "'x' is of the kind category"),
        (["2020-01-01"], None, 5, "high = 5 is a number, but column 'x' is of the kind date"),
        (["1", "2"], None, "2020-01-01", "is a date, but column 'x' is of the kind integer"),
    ],
)
def test_columns_that_do_not_fit(texts, kind, high, message):
    with pytest.raises(ht.HierarchyError, match=message):
        ht.Hierarchy.build(Tails(high=high), column_of(texts, kind))


@pytest.mark.parametrize(
    ("sign", "end", "where"),
    [(1, {"high": 1000}, "at high = 1000 or above"), (-1, {"low": -1000}, "below low = -1000")],
)
def test_a_tail_of_few_is_refused_and_its_size_is_not_told(sign, end, where):
    frame = FAR.with_columns(income=sign * pl.col("income"))
    with pytest.raises(ht.HierarchyError) as caught:
        released(frame, {"tails": end})
    said, hint = str(caught.value).split("\n\n")
    assert said == f"tails: fewer than least = 5 records of column 'income' lie {where}."
    assert hint.startswith("Hint: give a ")
    assert released(frame, {"tails": {**end, "least": 1}}).verify().passed


def test_a_tail_that_holds_nobody_is_none():
    release = released(FAR.head(299), {"tails": {"high": 1000}})
    assert release.verify().passed
    assert ">=1000" not in release.frame["income"].to_list()


def test_records_are_counted_not_values():
    frame = pl.DataFrame({"income": [1, 2, 3, 4, 5, 6] + [50] * 4 + [None] * 5})
    with pytest.raises(ht.HierarchyError, match="fewer than least = 5"):
        released(frame, {"tails": {"high": 50}})
    assert released(frame.vstack(pl.DataFrame({"income": [50]})), {"tails": {"high": 50}}).verify().passed


# In policies and manifests.


def test_a_policy_goes_to_yaml_and_back():
    text = (
        "columns:\n"
        "  income: {role: quasi-identifier, hierarchy: {tails: {low: -2.5, high: 200000, least: 11}}}\n"
        "  born: {role: quasi-identifier, hierarchy: {tails: {low: 1900-01-01}}}\n"
        "models: [k-anonymity: 5]\n"
    )
    policy = ht.Policy.parse(text)
    assert ht.Policy.parse(policy.to_yaml()) == policy
    assert policy.hierarchies() == {
        "income": {"tails": {"low": -2.5, "high": 200000, "least": 11}},
        "born": {"tails": {"low": "1900-01-01", "least": 5}},
    }
    with pytest.raises(ht.PolicyError, match=r"line 2: .*is not below"):
        ht.Policy.parse(text.replace("-2.5", "300000"))


def test_a_manifest_may_tell_it():
    ladder = ht.Hierarchy.build(Tails(high=100), column_of(["1", "200"]))
    assert rules_of({"x": ladder}) == {"x": {"tails": {"high": 100, "least": 5}}}
    assert rules.from_dict({"tails": {"high": 100, "least": 5}}) == Tails(high=100) == ht.Hierarchy.tails(high=100)
    assert Tails(high=dt.date(2020, 1, 1)) == Tails(high="2020-01-01")


# Releases.


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("twice", [False, True])
def test_no_value_beyond_an_end_is_published(style, twice):
    """Not even where a class agrees on it."""
    frame = pl.DataFrame(
        {"income": [i * 37 % 299 for i in range(290)] + ([10**6] * 10 if twice else [*range(400, 410)])}
    )
    release = released(frame, {"tails": {"low": 20, "high": 250}}, style)
    assert release.verify().passed
    found = set(release.frame["income"])
    assert not found & {str(value) for value in frame["income"] if value < 20 or value >= 250}
    assert {"<20", ">=250"} & found
    if style != "set":
        assert found & {">=250", "*"}


COLUMNS = {
    "integer": ([str(i % 60 - 30) for i in range(200)], {"low": -20, "high": 20}, "<-20", ">=20"),
    "decimal": ([f"{i % 60 - 30},{i % 9}5" for i in range(200)], {"low": "-20.5", "high": 20.25}, "<-20.5", ">=20.25"),
    "date": (
        [str(dt.date(1950, 1, 1) + dt.timedelta(days=97 * (i % 150))) for i in range(200)],
        {"low": "1960-01-01", "high": "1985-06-15"},
        "<1960-01-01",
        ">=1985-06-15",
    ),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_release_by_policy_is_verified_from_its_file(tmp_path, kind, style):
    texts, ends, below, above = COLUMNS[kind]
    # Every ninth cell is missing.
    cells = ["" if i % 9 == 0 else text for i, text in enumerate(texts)]
    lines = "".join(f"{cell};{i % 7};n\n" for i, cell in enumerate(cells))
    (tmp_path / "in.csv").write_text(f"x;age;note\n{lines}", encoding="utf-8")
    (tmp_path / "p.yaml").write_text(
        "columns:\n"
        f"  x: {{role: quasi-identifier, kind: {kind}, hierarchy: {json.dumps({'tails': ends})}}}\n"
        "  age: quasi-identifier\n  note: other\n"
        "models: [k-anonymity: 3]\n"
        f"method: {{mondrian: {{recoding: {style}}}}}\n"
        f"{'write: {decimal: chr}'.replace('chr', repr(',')) if kind == 'decimal' else ''}\n",
        encoding="utf-8",
    )
    policy = ht.Policy.read(tmp_path / "p.yaml")
    release = policy.protect(tmp_path / "in.csv")
    held = set(release.frame["x"])
    assert {below, above} <= {cell for text in held if text for cell in [text, *_members(text)]}
    assert release.verify().passed
    assert release.write(tmp_path / "out.csv", external=True).passed
    assert manifest.claim_of(tmp_path / "out.csv").verify(frames.read(tmp_path / "out.csv")).passed
    told = json.loads((tmp_path / "out.csv.manifest.json").read_text(encoding="utf-8"))["claim"]["hierarchies"]
    assert told["x"] == {"tails": {**ends, "least": 5}}
    assert done("verify", tmp_path / "out.csv").out


def _members(text):
    return json.loads(text) if text.startswith('["') else []


def test_a_population_is_covered_by_what_the_cells_say():
    people = pl.DataFrame({"income": [i * 37 % 299 for i in range(299)] + [10**6, -(10**6), 5 * 10**6]})
    release = ht.anonymize(
        people.head(300),
        quasi_identifiers=["income"],
        models=[ht.KMap(5)],
        population=people,
        hierarchies={"income": {"tails": {"high": 280}}},
        roles="trust",
    )
    assert release.verify().passed


def test_the_others_are_told_apart_and_the_loss_says_so():
    """By value, one record far out makes the loss of all others look small."""
    plain, coded = released(FAR, None), released(FAR, {"tails": {"high": 280}})
    assert plain.quality.by_column["income"] < 0.01
    assert plain.quality.set_ncp_by_rank > 10 * plain.loss
    assert coded.quality.by_column["income"] > 0.1
    assert coded.verify().passed
    assert notes.find_outlier_columns(plain)["income"].rule == Tails(high=290)
    assert notes.find_outlier_columns(coded) == {}


def test_what_is_read_to_be_used_gets_better():
    plain, coded = (released(FAR, rule, "readable") for rule in (None, {"tails": {"high": 290}}))
    assert set(plain.frame["income"]) == {"<5000", "*"}
    assert len(set(coded.frame["income"])) > 20


# What is proposed.


@pytest.mark.parametrize(("sign", "side"), [(1, "high"), (-1, "low")])
@pytest.mark.parametrize("k", [2, 12])
def test_what_is_proposed_is_round_and_codes_enough(sign, side, k):
    frame = FAR.with_columns(income=sign * pl.col("income"))
    found = notes.find_outlier_columns(released(frame, None, k=k))["income"]
    assert found.share > 0.99
    assert [name for name in ("low", "high") if getattr(found.rule, name) is not None] == [side]
    assert found.rule.least == max(5, k)
    assert getattr(found.rule, side) % 10 == 0
    assert found.to_dict()["hierarchy"] == {
        "tails": {side: getattr(found.rule, side)} | ({"least": k} if k > 5 else {})
    }
    assert released(frame, found.rule, k=k).verify().passed


@given(
    st.lists(st.integers(-50, 50) | st.integers(-(10**6), 10**6), min_size=1, max_size=60),
    st.integers(0, 6),
    st.integers(0, 6),
)
def test_tails_hold_what_was_asked(found, n_low, n_high):
    values, counts = np.unique(found, return_counts=True)
    if n_low + n_high == 0:
        return
    rule = propose_tails(Column("x", "integer", values), counts, n_low, n_high, least=3)
    if rule is None:
        return
    assert (rule.low is None, rule.high is None) == (n_low == 0, n_high == 0)
    below = 0 if rule.low is None else counts[values < rule.low].sum()
    above = 0 if rule.high is None else counts[values >= rule.high].sum()
    assert below >= n_low
    assert above >= n_high
    assert counts.sum() - below - above >= 3


def test_an_end_lies_where_nobody_is_if_it_can():
    column = column_of([*map(str, range(100)), *map(str, range(10**6, 10**6 + 5))])
    assert propose_tails(column, np.ones(105, dtype=np.int64), 0, 5) == Tails(high=100)
    days = [dt.date(1900, 1, 1)] + [dt.date(1990, 3, 5) + dt.timedelta(days=40 * i) for i in range(99)]
    column = column_of([str(day) for day in days])
    counts = np.array([5] + [1] * 99)
    assert propose_tails(column, counts, 5, 0) == Tails(low="1990-01-01")
    assert propose_tails(column, counts, 60, 60) is None


def test_the_command_proposes_it_and_takes_it(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FAR.write_csv("in.csv")
    options = ("--qi", "income,age", "--k", 3)
    said = done("anonymize", "in.csv", "-o", "out.csv", *options).out
    assert "`hierarchy: {tails: {high: 290}}`" in said
    assert "1000000" not in said
    told = json.loads(done("anonymize", "in.csv", "-o", "out.csv", *options, "--force", "--json").out)
    assert told["far_out"]["income"]["hierarchy"] == {"tails": {"high": 290}}
    assert told["far_out"]["income"]["share"] > 0.99
    again = ("--set", "columns.income.hierarchy={tails: {high: 290}}", "--force")
    assert "of the range" not in done("anonymize", "in.csv", "-o", "out.csv", *options, *again).out
    book = Path("out.csv.codebook.md").read_text(encoding="utf-8")
    assert "one group from 290 on" in book
    assert "1000000" not in book


def test_dates_far_out_are_proposed_as_dates():
    days = [dt.date(1900, 1, 1)] * 6 + [dt.date(2001, 3, 5) + dt.timedelta(days=3 * i) for i in range(594)]
    frame = pl.DataFrame({"born": days, "age": [i % 50 for i in range(600)]})
    found = notes.find_outlier_columns(released(frame, None, column="born"))["born"]
    assert found.rule == Tails(low="2001-01-01")
    assert released(frame, found.rule, "readable", column="born").verify().passed


def test_decimal_commas_are_written_back(tmp_path):
    lines = "".join(f"{i % 40 / 4};{i % 7}\n".replace(".", ",") for i in range(200))
    (tmp_path / "in.csv").write_text("x;age\n" + lines, encoding="utf-8")
    release = ht.anonymize(
        tmp_path / "in.csv",
        quasi_identifiers=["x", "age"],
        models=[ht.KAnonymity(3)],
        hierarchies={"x": Tails(high="7.5")},
        specs={"x": ColumnSpec("decimal", decimal=",")},
        roles="trust",
    )
    release.write(tmp_path / "out.csv", decimal=",", external=True)
    assert ">=7,5" in (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert manifest.claim_of(tmp_path / "out.csv").verify(frames.read(tmp_path / "out.csv")).passed
