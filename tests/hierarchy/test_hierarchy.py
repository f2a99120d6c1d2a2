"""Hierarchies: nested and complete whatever they are made from, and errors that name the place."""

import csv
import datetime as dt
import math
import re
import textwrap
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.columns.column import Column, from_texts
from hushtable.errors import HierarchyError
from hushtable.hierarchy import Hierarchy
from hushtable.hierarchy.grid import format_exact
from hushtable.hierarchy.rules import from_dict, to_dict
from strategies import draws


def column_of(texts: list[str], kind: str | None = None, order: list[str] | None = None) -> Column:
    return from_texts("x", texts, kind, order)[0]  # type: ignore[arg-type]


def levels_of(hierarchy: Hierarchy) -> list[list[str]]:
    """What each value publishes, by level."""
    return [
        [labels[node] for node in codes]
        for codes, labels in zip(hierarchy.level_codes.tolist(), hierarchy.labels, strict=True)
    ]


def check_laws(hierarchy: Hierarchy, column: Column) -> None:
    """The definition, told slowly: complete, nested, shares that grow, labels that tell nodes apart."""
    assert hierarchy.values == tuple(column.texts())
    published = levels_of(hierarchy)
    assert published[-1] == ["*"] * column.n_values
    assert hierarchy.labels[-1] == ("*",)
    for level, labels in enumerate(hierarchy.labels):
        assert len(set(labels)) == len(labels)
        assert hierarchy.level_codes[level].dtype == np.int32
    for fine, coarse in zip(hierarchy.level_codes, hierarchy.level_codes[1:], strict=False):
        parents: dict[int, set[int]] = {}
        for node, parent in zip(fine.tolist(), coarse.tolist(), strict=True):
            parents.setdefault(node, set()).add(parent)
        assert all(len(found) == 1 for found in parents.values())
    codes = np.arange(-1, column.n_values, dtype=np.int32)
    shares = np.array([hierarchy.cell_shares(level, codes) for level in range(hierarchy.n_levels)])
    assert np.all(shares >= 0)
    assert np.all(shares <= 1)
    assert np.all(np.diff(shares, axis=0) >= -1e-12)
    assert np.all(shares[-1] == 1)
    for level in range(hierarchy.n_levels):
        nodes = hierarchy.nodes(level, codes)
        assert nodes[0] == (0 if level == hierarchy.n_levels - 1 else -1)
        assert np.array_equal(nodes[1:], hierarchy.level_codes[level])
    entry = hierarchy.to_dict()
    again = Hierarchy.build(entry, column)
    assert str(again).count("\n") == hierarchy.n_levels + 1
    if hierarchy.rule is None or hierarchy.rule.name not in ("frequency",):
        assert levels_of(again) == published


texts_strategy = st.text(min_size=1, max_size=8).filter(lambda text: text.strip() and text != "*")
columns = st.one_of(
    st.lists(texts_strategy, max_size=30).map(column_of),
    st.lists(texts_strategy, max_size=30, unique=True).map(lambda texts: column_of(texts, order=texts)),
    st.lists(st.integers(-(10**18) + 1, 10**18 - 1).map(str), max_size=30).map(column_of),
    st.lists(st.integers(0, 120).map(str), max_size=60).map(column_of),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30).map(
        lambda numbers: Column("x", "decimal", np.unique(np.array(numbers, dtype=np.float64) + 0.0))
    ),
    st.lists(st.dates().map(str), max_size=30).map(lambda texts: column_of(texts)),
    st.lists(st.datetimes().map(lambda moment: moment.isoformat(sep=" ")), max_size=30).map(
        lambda texts: Column("x", "datetime", np.unique(np.array(texts, dtype="datetime64[us]")))
    ),
    st.lists(st.integers(0, 99999).map(lambda number: f"{number:05d}"), max_size=40).map(
        lambda texts: column_of(texts, "category")
    ),
)


@given(columns, st.data())
@settings(max_examples=draws(300), deadline=None)
def test_auto_makes_a_hierarchy_of_any_column(column: Column, data: st.DataObject) -> None:
    size = column.n_values
    counts = data.draw(st.none() | st.lists(st.integers(0, 1000), min_size=size, max_size=size))
    hierarchy = Hierarchy.auto(column, None if counts is None else np.array(counts, dtype=np.int64))
    check_laws(hierarchy, column)


@given(columns, st.integers(2, 5), st.lists(st.integers(1, 6), min_size=1, unique=True))
@settings(deadline=None)
def test_prefix_frequency_and_runs_take_any_column(column: Column, fanout: int, lengths: list[int]) -> None:
    for rule in (
        Hierarchy.prefix(sorted(lengths, reverse=True)),
        Hierarchy.frequency(fanout),
        Hierarchy.runs(fanout),
        Hierarchy.suppression(),
    ):
        check_laws(Hierarchy.build(rule, column), column)
        assert from_dict(to_dict(rule)) == rule


numbers = st.decimals(-1000, 1000, places=2)


@given(
    st.lists(numbers.map(lambda number: f"{number:f}"), max_size=30),
    st.decimals("0.01", 50, places=2),
    st.lists(st.integers(2, 5), max_size=3),
    st.none() | numbers,
    st.none() | numbers,
)
@settings(deadline=None)
def test_intervals_hold_exactly_the_numbers_they_name(texts, width, factors, low, high) -> None:  # type: ignore[no-untyped-def]
    if low is not None and high is not None and low >= high:
        low, high = high, low + 1
    widths = [width]
    for factor in factors:
        widths.append(widths[-1] * factor)
    column = column_of(texts)
    if not column.n_values:
        return
    rule = Hierarchy.intervals(widths, low, high)
    hierarchy = Hierarchy.build(rule, column)
    check_laws(hierarchy, column)
    anchor = Fraction(low or 0)
    for level, cell in enumerate(map(Fraction, widths), start=1):
        for text, label in zip(column.texts(), levels_of(hierarchy)[level], strict=True):
            number = Fraction(text)
            if low is not None and number < Fraction(low):
                expected = f"<{format_exact(Fraction(low))}"
            elif high is not None and number >= Fraction(high):
                expected = f">={format_exact(Fraction(high))}"
            else:
                begin = anchor + math.floor((number - anchor) / cell) * cell
                end = begin + cell if high is None else min(begin + cell, Fraction(high))
                expected = f"[{format_exact(begin)}, {format_exact(end)})"
            assert label == expected


def test_intervals_name_the_grid_and_open_both_ends() -> None:
    column = column_of(["-3", "0", "17", "19", "85", "90", "103"])
    rule = Hierarchy.intervals([5, 10, 20], low=0, high=90)
    hierarchy = Hierarchy.build(rule, column)
    assert levels_of(hierarchy)[1] == ["<0", "[0, 5)", "[15, 20)", "[15, 20)", "[85, 90)", ">=90", ">=90"]
    assert levels_of(hierarchy)[3] == ["<0", "[0, 20)", "[0, 20)", "[0, 20)", "[80, 90)", ">=90", ">=90"]
    assert hierarchy.to_dict() == {"intervals": {"width": [5, 10, 20], "low": 0, "high": 90}}
    # The domain reaches from -3 to 103 and one finest cell.
    assert hierarchy.cell_shares(1, np.array([1], dtype=np.int32)).tolist() == [5 / 111]


@pytest.mark.parametrize(
    ("texts", "width", "expected"),
    [
        (["0.1", "0.2", "0.3", "0.7"], 0.1, ["[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)", "[0.7, 0.8)"]),
        (["-0.05", "0.0"], "0.1", ["[-0.1, 0)", "[0, 0.1)"]),
        (["999999999999999999"], 10**17, ["[900000000000000000, 1000000000000000000)"]),
        (["123456789012345678.5"], 1e20, ["[0, 100000000000000000000)"]),
    ],
)
def test_intervals_are_exact_at_any_magnitude(texts: list[str], width: float, expected: list[str]) -> None:
    assert levels_of(Hierarchy.build(Hierarchy.intervals(width), column_of(texts)))[1] == expected


def test_widths_that_are_proposed_for_decimals_are_numbers_that_yaml_writes_exactly() -> None:
    column = column_of([f"{quarters / 4:.2f}" for quarters in range(1, 9)])
    assert Hierarchy.auto(column).to_dict() == {"intervals": {"width": [0.1, 0.2, 0.4, 0.8], "low": 0, "high": 2.4}}


def test_integer_widths_equal_the_listed_leaves() -> None:
    column = column_of([str(age) for age in range(100)])
    hierarchy = Hierarchy.build(Hierarchy.intervals([5, 10], low=0, high=100), column)
    assert hierarchy.leaf_share == 0.01
    assert set(hierarchy.shares[1].tolist()) == {0.05}


@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), "x", True])
def test_an_end_of_intervals_is_a_number(end: str, number: object) -> None:
    with pytest.raises(HierarchyError, match=f"intervals: {end} = "):
        Hierarchy.intervals(5, **{end: number})  # type: ignore[arg-type]


def test_prefix_keeps_the_first_characters() -> None:
    column = column_of(["01234", "01299", "98"], "category")
    assert levels_of(Hierarchy.build(Hierarchy.prefix([3, 1]), column))[1:3] == [
        ["012*", "012*", "98"],
        ["0*", "0*", "9*"],
    ]


def test_a_prefix_holds_the_code_that_is_the_prefix() -> None:
    column = column_of(["01", "011", "012", "02", "03", "030"], "category")
    hierarchy = Hierarchy.build(Hierarchy.prefix([2, 1]), column)
    assert levels_of(hierarchy)[1] == ["01*", "01*", "01*", "02", "03*", "03*"]


def test_dates_are_calendar_units() -> None:
    column = column_of(["2019-12-31", "2024-05-01", "2024-05-31", "2024-06-01"])
    hierarchy = Hierarchy.build(Hierarchy.dates(), column)
    assert hierarchy.labels[1:-1] == (
        ("2019-12", "2024-05", "2024-06"),
        ("2019-Q4", "2024-Q2"),
        ("2019", "2024"),
        ("2010s", "2020s"),
    )
    n_days = (dt.date(2024, 6, 1) - dt.date(2019, 12, 31)).days + 1
    assert hierarchy.leaf_share == 1 / n_days
    assert hierarchy.shares[1].tolist() == [1 / n_days, 31 / n_days, 1 / n_days]


def test_frequency_groups_neighbours_in_frequency() -> None:
    column = column_of(["a", "b", "c", "d", "e"])
    hierarchy = Hierarchy.build(Hierarchy.frequency(2), column, np.array([5, 90, 7, 80, 1]))
    assert hierarchy.labels[1] == ('["b", "d"]', '["a", "c"]', "e")
    assert hierarchy.labels[2] == ('["a", "b", "c", "d"]', "e")


def test_auto_proposes_by_kind() -> None:
    ages = column_of([str(age) for age in range(17, 91)])
    assert Hierarchy.auto(ages).to_dict() == {"intervals": {"width": [2, 4, 8, 16], "low": 16, "high": 96}}
    codes = column_of([f"{number:05d}" for number in range(40)], "category")
    assert Hierarchy.auto(codes).to_dict() == {"prefix": {"lengths": [4, 3, 2, 1]}}
    assert Hierarchy.auto(column_of(["2024-05-01", "2024-05-02"])).to_dict()["dates"]["levels"][0] == "month"
    grades = column_of(["low", "mid", "high"], order=["low", "mid", "high"])
    assert Hierarchy.auto(grades).labels[1] == ('["low", "mid"]', "high")
    assert Hierarchy.auto(column_of([str(i) + "x" for i in range(100_000)])).to_dict() == {"suppression": {}}
    assert Hierarchy.auto(column_of(["a"])).n_levels == 2
    assert Hierarchy.auto(column_of([""])).n_levels == 2


def test_every_label_of_auto_is_short_for_people() -> None:
    people = ht.Table.encode(ht.datasets.people(500))
    for column, codes in zip(people.columns, people.codes, strict=True):
        counts = np.bincount(codes[codes >= 0], minlength=column.n_values)
        check_laws(Hierarchy.auto(column, counts), column)


def test_repr_and_str_hold_no_value() -> None:
    column = column_of(["secretvalue", "other", "third"])
    for hierarchy in (Hierarchy.auto(column), Hierarchy.from_dict({"tree": {"secretlabel": ["secretvalue"]}}, "x")):
        assert "secret" not in repr(hierarchy)
        assert "secret" not in str(hierarchy)


def write(tmp_path: Path, text: str, name: str = "adult_hierarchy_job.csv") -> Path:
    path = tmp_path / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def test_from_csv_reads_arx_files(tmp_path: Path) -> None:
    hierarchy = Hierarchy.from_csv(write(tmp_path, "\ufeffa;low;*\nb;low;*\nc;high;*\n\n"))
    assert (hierarchy.column, hierarchy.values) == ("job", ("a", "b", "c"))
    assert levels_of(hierarchy) == [["a", "b", "c"], ["low", "low", "high"], ["*"] * 3]
    assert hierarchy.shares[1].tolist() == [2 / 3, 1 / 3]


@pytest.mark.parametrize(
    "lines",
    [
        ["Diabetes, type 1, acute;E10, E11, E12;*", "Gout;M10;*"],
        ["Diabetes, type 1;metabolic, endocrine;*", "Obesity, mild;metabolic, endocrine;*"],
        ['"a;b";one;*', "c;one;*"],
        ["a|b, c|*", "d|b, c|*"],
        ["a, b\tc;d\t*", "e\tc;d\t*"],
    ],
)
def test_from_csv_finds_the_delimiter_over_all_lines(tmp_path: Path, lines: list[str]) -> None:
    hierarchy = Hierarchy.from_csv(write(tmp_path, "\n".join(lines)), "x")
    delimiter = next(sign for sign in "\t|;" if sign in lines[0])
    assert hierarchy.values == tuple(next(csv.reader([line], delimiter=delimiter))[0] for line in lines)
    assert hierarchy.n_levels == 3


@pytest.mark.parametrize(
    "header",
    [
        "job;group;all",
        "Job;kind;top",
        "value;level 1;level 2",
        "Wert;Ebene1;Ebene2",
        "level-0;level-1;top",
        "x;y;z",
    ],
)
@pytest.mark.parametrize("top", [";*", ""])
def test_from_csv_leaves_out_a_header(tmp_path: Path, header: str, top: str) -> None:
    if not top:
        header = header.rpartition(";")[0]
    hierarchy = Hierarchy.from_csv(write(tmp_path, f"{header}\na;low{top}\nb;low{top}\nc;high{top}\n"), "job")
    is_found = top or header != "x;y"  # which could be a value and its label
    assert hierarchy.values == (("a", "b", "c") if is_found else ("x", "a", "b", "c"))


@pytest.mark.parametrize(
    "text", ["all;all\nnone;none\n", "top;*\nlow;*\n", "job;low\na;low\n", "all\nnone\n", "a;b\nc;*\n"]
)
def test_from_csv_takes_no_value_for_a_header(tmp_path: Path, text: str) -> None:
    values = tuple(line.partition(";")[0] for line in text.splitlines())
    assert Hierarchy.from_csv(write(tmp_path, text), "job").values == values


@pytest.mark.parametrize("line", [";;*", '"";"";*', " ;unknown;*", ";*;*"])
def test_from_csv_reads_what_arx_writes_of_an_empty_value(tmp_path: Path, line: str) -> None:
    hierarchy = Hierarchy.from_csv(write(tmp_path, f"a;low;*\n{line}\nb;high;*\n"))
    assert (hierarchy.values, hierarchy.labels[1]) == (("a", "b"), ("low", "high"))


def test_from_csv_adds_the_top_where_it_is_missing(tmp_path: Path) -> None:
    assert Hierarchy.from_csv(write(tmp_path, "a,low\nb,low\n"), "job").labels[1:] == (("low",), ("*",))
    assert Hierarchy.from_csv(write(tmp_path, "a\nb\n"), "job").n_levels == 2


def test_a_node_published_as_a_star_has_the_share_one(tmp_path: Path) -> None:
    hierarchy = Hierarchy.from_csv(write(tmp_path, "a;low;*\nb;low;*\nc;*;*\n"))
    assert hierarchy.cell_shares(1, np.array([0, 2], dtype=np.int32)).tolist() == [2 / 3, 1.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;low;*\nb;low\n", "line 2: 2 levels, but line 1 has 3"),
        ("a;low;*\nb;low;*\na;low;*\n", "line 3: the value of line 1 again"),
        ("a;1;x;*\nb;2;y;*\nc;1;y;*\n", "line 3: shares its label at level 1 with line 1, but not the one at level 2"),
        ("a;low;*\nb;;*\n", "line 2: an empty value or label"),
        ("a;low;*\n*;low;*\n", "line 2: the value is `[*]`"),
        ("a;*;low;*\nb;low;low;*\n", "line 1: a label above `[*]`"),
        ("", "the hierarchy is empty"),
    ],
)
def test_from_csv_names_the_line_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ht.HierarchyError, match=message):
        Hierarchy.from_csv(write(tmp_path, text))


def test_from_csv_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ht.HierarchyError, match="cannot read the hierarchy"):
        Hierarchy.from_csv(tmp_path / "none.csv")


def test_from_domains_keeps_a_shallow_value_until_its_branch_begins() -> None:
    found = Hierarchy.from_domains("J/A/B: v, w\nJ/A: x\n\nJ: y\nK: 8:30\n")
    assert list(found) == ["J", "K"]
    assert levels_of(found["J"]) == [["v", "w", "x", "y"], ["B", "B", "x", "y"], ["A", "A", "A", "y"], ["*"] * 4]
    assert found["K"].values == ("8:30",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("J/A: v\nno colon\n", "line 2: not of the form"),
        ("J/A: v,\n", "line 1: not of the form"),
        ("/a/b: v\n", "line 1: not of the form"),
        ("J/A: v\nJ/B: v\n", "line 2: the value of line 1 again"),
        ("J/A/X: v\nJ/B/X: w\n", "line 2: shares its label at level 1 with line 1"),
    ],
)
def test_from_domains_names_the_line_that_is_wrong(text: str, message: str) -> None:
    with pytest.raises(ht.HierarchyError, match=message):
        Hierarchy.from_domains(text)


def test_from_domains_reads_the_file_of_mg_ga_unchanged(shared_file: Callable[[str], Path]) -> None:
    found = Hierarchy.from_domains(shared_file("data/mg_ga/domains.txt"))
    assert {name: each.labels[1] for name, each in found.items()} == {
        "Education": ("Higher", "Lower"),
        "Job": ("Blue Collar", "White Collar"),
    }


@pytest.mark.parametrize(("name", "n_values", "n_levels"), [("age", 100, 5), ("education", 16, 4), ("sex", 2, 2)])
def test_from_csv_reads_the_files_of_arx(
    shared_file: Callable[[str], Path], name: str, n_values: int, n_levels: int
) -> None:
    hierarchy = Hierarchy.from_csv(shared_file(f"data/arx_adult/adult_hierarchy_{name}.csv"))
    assert (hierarchy.column, hierarchy.n_values, hierarchy.n_levels) == (name, n_values, n_levels)
    again = Hierarchy.build(hierarchy.to_dict(), column_of(list(hierarchy.values)))
    assert levels_of(again) == levels_of(hierarchy.align(column_of(list(hierarchy.values))))


TREE = {"tree": {"low": ["1", "2.0"], "high": ["3"]}}


def test_align_finds_values_by_canonical_text_and_keeps_shares() -> None:
    aligned = Hierarchy.build(TREE, column_of(["2", "1"]))
    assert aligned.values == ("1", "2")
    assert aligned.labels[1] == ("low",)
    assert aligned.shares[1].tolist() == [2 / 3]
    assert aligned.leaf_share == 1 / 3
    assert Hierarchy.build(aligned, column_of(["1", "2"])) is aligned


def test_align_names_how_many_values_are_not_listed_and_where_but_not_which() -> None:
    with pytest.raises(ht.HierarchyError, match=r"not 2 of the 3 values .* \(positions 1, 2 of") as caught:
        Hierarchy.build(TREE, column_of(["3", "77", "78"]))
    assert "78" not in str(caught.value)


def test_align_can_suppress_what_is_not_listed() -> None:
    column = column_of(["1", "3", "77", "78"])
    aligned = Hierarchy.build(TREE, column, unknown="suppress")
    assert levels_of(aligned) == [["1", "3", "77", "78"], ["low", "high", "*", "*"], ["*"] * 4]
    assert aligned.cell_shares(1, np.array([2, -1], dtype=np.int32)).tolist() == [1.0, 1 / 3]


def test_values_that_look_like_other_cells_are_published_as_a_list_of_one() -> None:
    hierarchy = Hierarchy.build("auto", column_of(["[1, 2)", "b"]))
    assert hierarchy.labels[0] == ('["[1, 2)"]', "b")


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"interval": 5},
        {"intervals": {"width": [5, 12]}},
        {"intervals": {"width": [5, 5]}},
        {"intervals": {"width": []}},
        {"intervals": {"width": [0]}},
        {"intervals": {"width": [True]}},
        {"intervals": {"width": ["1e9999"]}},
        {"intervals": {"width": 5, "low": 3, "high": 3}},
        {"intervals": {"widths": 5}},
        {"prefix": [1, 2]},
        {"prefix": [0]},
        {"dates": ["year", "month"]},
        {"dates": ["week"]},
        {"frequency": 1},
        {"runs": "two"},
        {"tree": {"a": "b"}},
        {"tree": {"a": [None]}},
        {"tree": {True: ["a"]}},
        {"tree": []},
        {"tree": {"a": ["b"], "c": ["b"]}},
    ],
)
def test_entries_that_make_no_hierarchy_are_refused_with_a_hint(entry: dict[str, object]) -> None:
    with pytest.raises(ht.HierarchyError, match="Hint: "):
        Hierarchy.from_dict(entry, "x")


def test_rules_refuse_columns_of_another_kind() -> None:
    for rule, texts in ((Hierarchy.intervals(5), ["a"]), (Hierarchy.dates(), ["1"])):
        with pytest.raises(ht.HierarchyError, match="but column 'x' is of the kind"):
            Hierarchy.build(rule, column_of(texts))


def test_build_refuses_what_makes_no_hierarchy() -> None:
    with pytest.raises(ht.HierarchyError, match="was given a int as its hierarchy"):
        Hierarchy.build(5, column_of(["1"]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("codes", "labels", "message"),
    [
        ([[0, 1, 2], [0, 0, 1], [0, 1, 1], [0, 0, 0]], ("abc", "xy", "pq", "*"), "1 values share a node at level 1"),
        ([[0, 1, 2], [0, 0, 2], [0, 0, 0]], ("abc", "xy", "*"), "level 1 has 2 labels for 2 nodes"),
        ([[0, 1, 2], [0, 0, 1]], ("abc", "xy"), "its last level is not the one node"),
        ([[1, 0, 2], [0, 0, 0]], ("abc", "*"), "level 0 does not hold every value"),
        ([[0, 1], [0, 0]], ("abc", "*"), "codes"),
    ],
)
def test_the_record_checks_itself(codes: list[list[int]], labels: tuple[str, ...], message: str) -> None:
    shares = tuple(np.ones(len(each)) for each in labels)
    with pytest.raises(ht.HierarchyError, match=message):
        Hierarchy("x", ("a", "b", "c"), np.array(codes, dtype=np.int32), tuple(map(tuple, labels)), shares)


@pytest.mark.parametrize(
    ("tree", "place"),
    [
        ({"b": ["a", "c"], "z": ["b", "d"]}, "label 0 of level 1 is also a value of another branch, that of value 2"),
        ({"x": {"y": ["a"]}, "w": {"x": ["b"]}}, "label 0 of level 2 is also a label of another branch"),
        ({"<50": ["10", "60"], "rest": ["20"]}, "label 0 of level 1 reads as an interval or a set"),
        ({"low": ["10"], "[20, 30)": ["20", "30"]}, "label 1 of level 1 reads as"),
        ({"[20, 30]": ["20", "30"], "rest": ["25"]}, "label 0 of level 1 reads as"),
        ({"<2020-01-01": ["2019-12-31", "2020-01-01"]}, "label 0 of level 1 reads as"),
        ({"<50": ["young", "mid"], ">=50": ["old"]}, "label 0 of level 1 reads as"),
        ({'["a", "b"]': ["a", "c"], "rest": ["b"]}, "label 0 of level 1 reads as"),
        ({'["a", null]': ["a"]}, "label 0 of level 1 reads as"),
        ({"[1, [2]]": ["1"]}, "label 0 of level 1 reads as"),
    ],
)
def test_a_label_that_reads_as_something_else_is_refused(tree, place):
    with pytest.raises(HierarchyError, match=re.escape(place)) as caught:
        Hierarchy.from_dict({"tree": tree}, "x")
    assert "hierarchy of 'x'" in str(caught.value)


@pytest.mark.parametrize(
    "tree",
    [
        {"b": ["a", "b"], "z": ["d"]},
        {"b": {"b": ["a", "c"], "e": ["f"]}, "z": ["d"]},
        {"<50": ["10", "49.5"], ">=50": ["50", "1000"]},
        {"[20, 30)": ["20", "29"], "old": ["90+"]},
        {"[2019-01-01, 2020-01-01)": ["2019-12-31"], ">=2020-01-01": ["2020-01-01"]},
        {'["a", "b", "gone"]': ["b", "a"], "rest": ["c"]},
        {"*": ["a"], "x": ["b"]},
    ],
)
def test_a_label_that_reads_as_what_it_holds_is_accepted(tree):
    Hierarchy.from_dict({"tree": tree}, "x")


def test_a_label_that_is_a_value_the_list_lacks_is_refused_when_it_meets_the_column():
    jobs = Hierarchy.from_dict({"tree": {"blue": ["welder"], "white": ["clerk"]}}, "x")
    with pytest.raises(HierarchyError, match="also a value of another branch"):
        jobs.align(column_of(["blue", "clerk", "welder"]), unknown="suppress")
