"""Rules on rows: as a slow twin has them row by row, as PETsARD's pages show them; drawn until there are enough."""

import datetime as dt
import re

import narwhals as nw
import numpy as np
import polars as pl
import pytest
import yaml
from hypothesis import given, strategies as st

from hushtable.columns.column import ColumnSpec
from hushtable.errors import ColumnError, InputError, PipelineError
from hushtable.io import frames
from hushtable.io.csv import Dialect
from hushtable.io.frames import Frame
from hushtable.pipeline.constraining import Constraints, Demand, apply_rules, rules_of
from hushtable.pipeline.expressions import parse_expression
from hushtable.pipeline.modules import Constraining
from twins.naive_constraining import Node, constrain, words

SIGNS = ["==", "!=", "<", "<=", ">", ">="]
CELLS = {
    "age": st.integers(0, 4),
    "hours-per-week": st.sampled_from([0, 1, 0.1, 0.2, 0.3, 2.5]),
    "pay": st.sampled_from([0.3, 0.5, 1, 2]),
    "學位": st.sampled_from(["博士", "碩士", "Masters ", "b"]),
    "a `b` 'c'": st.sampled_from(["博士", "x", "b"]),
    "since": st.sampled_from([dt.date(2020, 1, 31), dt.date(2020, 2, 1), dt.date(1999, 12, 31)]),
    "until": st.sampled_from([dt.date(2020, 1, 31), dt.date(2021, 2, 1)]),
}
NUMBERS, TEXTS, DAYS = ["age", "hours-per-week", "pay"], ["學位", "a `b` 'c'"], ["since", "until"]


def csv(text: str, **dialect) -> Frame:
    lines = [line.strip() for line in text.strip().splitlines()]
    return frames.read_stream("\n".join(lines).encode(), "table.csv", Dialect(**dialect))


def as_text(rows: list[dict]) -> Frame:
    """Return a frame as of a CSV."""
    cells = {name: [None if row[name] is None else str(row[name]) for row in rows] for name in CELLS}
    data = pl.DataFrame(cells, schema=dict.fromkeys(CELLS, pl.String))
    return Frame(nw.from_native(data, eager_only=True), is_text=True)


def as_typed(rows: list[dict]) -> Frame:
    types = {**dict.fromkeys(NUMBERS, pl.Float64), **dict.fromkeys(TEXTS, pl.String), **dict.fromkeys(DAYS, pl.Date)}
    cells = {name: [row[name] for row in rows] for name in CELLS}
    return Frame(
        nw.from_native(pl.DataFrame(cells, schema={n: types[n] for n in CELLS}, strict=False), eager_only=True)
    )


def rows_of(frame: Frame) -> list[dict]:
    return frame.data.rows(named=True)


def rules(text: str) -> Constraints:
    """Read rules from YAML, as a file has them."""
    return rules_of(Constraining.model_validate(yaml.safe_load(text)))


def kept(frame: Frame, text: str) -> list[dict]:
    found, counts = apply_rules(frame, rules(text), None)
    assert counts == {"rows_left_out": frame.n_rows - found.n_rows, "n_trials": 0}
    assert found.columns == frame.columns
    return rows_of(found)


@st.composite
def tables(draw):
    row = st.fixed_dictionaries({name: st.none() | cell for name, cell in CELLS.items()})
    return draw(st.lists(row, max_size=12))


ordered = st.sampled_from(SIGNS)
anyhow = st.sampled_from([*SIGNS, "IS", "IS NOT"])
same = st.sampled_from(["==", "!=", "IS", "IS NOT"])


def node(kind, *parts):
    """Draw a piece of an expression from what its parts are drawn from."""
    return st.builds(lambda *drawn: Node(kind, drawn), *parts)


def several(kind, parts):
    return st.lists(parts, min_size=1, max_size=3).map(lambda drawn: Node(kind, tuple(drawn)))


def compared(left, sign, right):
    return node("compare", left, sign, right)


a_number = node("number", CELLS["age"] | CELLS["hours-per-week"])
a_cell, a_name, a_date = (node("cell", st.sampled_from(names)) for names in (NUMBERS, TEXTS, DAYS))
a_sum = node("sum", st.tuples(a_cell, a_cell), st.lists(a_cell | a_number, max_size=2))
a_text = node("text", st.sampled_from(["博士", "Masters ", "Masters", "1"]))
a_day = st.sampled_from([dt.date(2020, 1, 31), dt.date(2020, 12, 1)])
comparisons = st.one_of(
    compared(a_cell | a_sum, anyhow, a_cell | a_sum | a_number),
    compared(a_number, anyhow, a_cell | a_sum),
    compared(a_cell, anyhow, node("text", st.sampled_from(["1", "1.0", "0.30"]))),
    compared(a_cell, same, node("text", st.just("no number"))),
    compared(a_name, same, a_text | a_name),
    compared(a_text, same, a_name),
    compared(a_date, anyhow, node("day", a_day) | a_date),
    compared(node("text", a_day.map(str)), anyhow, a_date),
    compared(node("cell", st.sampled_from([*CELLS])), st.sampled_from(["IS", "IS NOT"]), node("nothing")),
)
conditions = st.recursive(
    comparisons,
    lambda parts: st.one_of(
        several("every", parts), several("some", parts), node("agree", parts, parts, st.booleans())
    ),
    max_leaves=6,
)


def demand(condition: Node) -> Demand:
    """Return a condition as the package reads its words."""
    return Demand("rule", parse_expression(words(condition), "rule"))


@given(tables(), conditions)
def test_expressions_agree_with_their_twin(rows, condition) -> None:
    expected = constrain(rows, {}, [condition], [])
    wanted = Constraints(demands=(demand(condition),))
    for make in (as_text, as_typed):
        found, _ = apply_rules(make(rows), wanted, None)
        assert rows_of(found) == rows_of(make(expected))


columns_but = {name: st.sampled_from([each for each in CELLS if each != name]) for name in CELLS}
alike = {name: [each for each in group if each != name] for group in (NUMBERS, TEXTS, DAYS) for name in group}
listed = {name: st.lists(cell | st.just("pd.NA"), min_size=1, max_size=3) for name, cell in CELLS.items()}


@st.composite
def groups(draw):
    chosen = draw(st.lists(st.sampled_from([*CELLS]), unique=True, max_size=3))
    return {name: draw(actions(name)) for name in chosen}


@st.composite
def actions(draw, name):
    if draw(st.booleans()):
        return "delete"
    found = {}
    for action in draw(st.lists(st.sampled_from(["erase", "copy", "nan_if_condition"]), unique=True, min_size=1)):
        if action == "erase":
            found[action] = draw(st.lists(columns_but[name], min_size=1, max_size=2))
        elif action == "copy":
            found[action] = draw(st.sampled_from(alike[name]))
        else:
            found[action] = {
                other: draw(listed[other]) for other in draw(st.sets(st.sampled_from([*CELLS]), min_size=1))
            }
    return found


@st.composite
def combinations(draw):
    target = draw(st.sampled_from([*CELLS]))
    sources = draw(st.lists(columns_but[target], unique=True, min_size=1, max_size=2))
    several = len(sources) > 1
    wanted = st.tuples(*(CELLS[each] | st.just("pd.NA") for each in sources))
    values = {
        tuple(each) if several else each[0]: draw(listed[target])
        for each in draw(st.lists(wanted, min_size=1, max_size=3))
    }
    return [{tuple(sources) if several else sources[0]: target}, values]


@given(tables(), groups(), st.lists(conditions, max_size=1), st.lists(combinations(), max_size=2))
def test_rules_agree_with_their_twin(rows, nan_groups, demands, pairs) -> None:
    asked = rules_of(Constraining(nan_groups=nan_groups, field_combinations=tuple(pairs)))
    asked = Constraints(asked.deletions, asked.changes, (*asked.demands, *map(demand, demands)))
    expected = constrain(rows, nan_groups, demands, pairs)
    for make in (as_text, as_typed):
        found, _ = apply_rules(make(rows), asked, None)
        assert rows_of(found) == rows_of(make(expected))


ADULT = """
    age,workclass,education,occupation,hours-per-week,income,salary
    39,State-gov,Doctorate,Adm-clerical,40,<=50K,
    50,Private,Masters,,13,<=50K,
    ,Private,Doctorate,Sales,40,>50K,low
    31,,HS-grad,Sales,40,>50K,
    66,Private,HS-grad,Sales,40,>50K,
    18,Private,HS-grad,Sales,61,>50K,
    65,Private,Masters,Sales,60,>50K,
"""


def ages(rows: list[dict]) -> list:
    return [row["age"] for row in rows]


def test_the_tutorial() -> None:
    found = kept(
        csv(ADULT),
        """
        nan_groups:
          workclass: 'delete'
          occupation:
            'erase':
              - 'income'
          income:
            'copy': 'salary'
        field_constraints:
          - "age >= 18 & age <= 65"
          - "hours-per-week >= 20 & hours-per-week <= 60"
        field_combinations:
          -
            - {'education': 'income'}
            - {'Doctorate': ['>50K'], 'Masters': ['>50K', '<=50K']}
        """,
    )
    assert [(row["age"], row["salary"]) for row in found] == [("65", ">50K")]


def test_the_older_tutorial_writes_tuples() -> None:
    older = """
        nan_groups:
          workclass: ('delete', 'occupation')
          occupation: ('erase', ['income'])
          income: ('copy', 'salary')
    """
    newer = "nan_groups: {workclass: delete, occupation: {erase: income}, income: {copy: [salary]}}"
    assert rules(older) == rules(newer)
    assert rules_of(Constraining(nan_groups={"a": ("erase", ["b"])})) == rules("nan_groups: {a: {erase: b}}")
    assert rules("nan_groups: {a: {delete: b}}") == rules("nan_groups: {a: delete}")
    found = kept(csv(ADULT), older)
    assert [(row["income"], row["salary"]) for row in found[:3]] == [("<=50K", "<=50K"), (None, None), (">50K", "low")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("income == '<=50K' | (age > 50 & hours-per-week < 40)", ["39", "50"]),
        ("education IS NOT 'HS-grad'", ["39", "50", None, "65"]),
        ("occupation IS pd.NA", ["50"]),
        ("occupation IS NOT pd.NA & age IS pd.NA", [None]),
        ("education == 'Doctorate' & income == '>50K'", [None]),
        ("(education != 'Masters') == (income == '>50K')", ["50", None, "31", "66", "18"]),
        ("age != 39", ["50", "31", "66", "18", "65"]),
        ("age IS NOT 39", ["50", None, "31", "66", "18", "65"]),
        ("age == '39.0' | '1e1' > age | age IS '+50'", ["39", "50"]),
        ("(occupation == 'Sales') != (age > 30)", ["39", "18"]),
        ("age IS hours-per-week", []),
        ("salary IS occupation", ["50"]),
    ],
)
def test_worked_expressions(text: str, expected: list) -> None:
    assert ages(kept(csv(ADULT), yaml.safe_dump({"field_constraints": [text]}))) == expected


ZODIAC = """
    field_constraints:
      - (birth_year >= 1990) & (birth_year <= 2020)
      - |
        ((zodiac == '摩羯座') &
        (((birth_month == 12) & (birth_day >= 22)) |
        ((birth_month == 1) & (birth_day <= 19)))) |

        ((zodiac == '水瓶座') &
        (((birth_month == 1) & (birth_day >= 20)) |
        ((birth_month == 2) & (birth_day <= 18))))
    nan_groups:
      nationality_code:
        nan_if_condition:
          nationality:
            - '中華民國' # ROC (Taiwan)
    field_combinations:
      -
        - {'university_code': 'university'}
        - {
            '001': ['國立臺灣大學'],
            '002': ['國立政治大學'],
          }
"""


def test_blocks_and_values_in_chinese() -> None:
    frame = csv(
        """
        birth_year,birth_month,birth_day,zodiac,nationality,nationality_code,university_code,university
        1990,12,22,摩羯座,中華民國,TW,001,國立臺灣大學
        1990,1,19,摩羯座,日本,JP,002,國立政治大學
        1990,1,20,摩羯座,日本,JP,002,國立政治大學
        2020,2,18,水瓶座,日本,,003,國立清華大學
        2021,2,18,水瓶座,日本,JP,002,國立政治大學
        1999,2,18,水瓶座,日本,JP,002,國立臺灣大學
        1999,2,18,水瓶座,,KR,,國立臺灣大學
        """
    )
    found = kept(frame, ZODIAC)
    assert [(row["birth_day"], row["nationality_code"]) for row in found] == [
        ("22", None),
        ("19", "JP"),
        ("18", None),
        ("18", "KR"),
    ]


def test_dates_are_read_as_the_file_writes_them() -> None:
    text = """
        established_date,first_apply_date,seen
        31.01.2020,01.02.2020,2020-01-31 00:00:00
        01.02.2020,31.01.2020,2020-01-31 12:00:00
        15.06.2019,15.06.2019,2020-01-30 23:59:59
        ,15.06.2019,
    """
    found = {
        "established_date < first_apply_date": ["31.01.2020"],
        "established_date <= first_apply_date": ["31.01.2020", "15.06.2019"],
        "established_date >= DATE(2020-01-31)": ["31.01.2020", "01.02.2020"],
        "established_date >= '31.01.2020'": ["31.01.2020", "01.02.2020"],
        "established_date >= '2020-01-31'": ["31.01.2020", "01.02.2020"],
        "seen <= DATE(2020-01-31)": ["31.01.2020", "15.06.2019"],
        "seen >= established_date": ["31.01.2020", "15.06.2019"],
        "seen == '2020-01-31 12:00'": ["01.02.2020"],
    }
    for rule, days in found.items():
        assert [row["established_date"] for row in kept(csv(text), f'field_constraints: ["{rule}"]')] == days, rule


def test_numbers_are_read_as_the_file_writes_them() -> None:
    frame = csv("netto;steuer;brutto\n1.000,10;0,20;1.000,30\n0,1;0,2;0,4\n?;0,2;0,4\n", missing_values=("?",))
    assert [row["netto"] for row in kept(frame, "field_constraints: ['netto + steuer == brutto']")] == ["1.000,10"]
    assert [row["netto"] for row in kept(frame, "field_constraints: ['brutto - steuer > netto']")] == ["0,1"]
    assert [row["netto"] for row in kept(frame, "field_constraints: ['netto IS pd.NA']")] == ["?"]
    assert [row["netto"] for row in kept(frame, "field_constraints: [\"netto == '1.000,10'\"]")] == ["1.000,10"]
    assert [row["netto"] for row in kept(frame, "field_constraints: ['netto == 1000.1 & brutto > 4']")] == ["1.000,10"]


def test_sums_of_whole_numbers_are_exact_as_far_as_floats_go() -> None:
    frame = csv("a,b,c\n4000000000000000,1,4000000000000001\n4000000000000000,1,4000000000000003\n")
    assert len(kept(frame, "field_constraints: ['a + b == c']")) == 1


def test_cells_keep_their_texts() -> None:
    frame = csv("n,m,code\n1.50,,007\n1e0,2,NA\n+3,,x\n1.5,7.0,\n4,,\n")
    found = kept(frame, "{nan_groups: {n: {copy: m}}, field_constraints: ['n <= 3']}")
    assert [tuple(row.values()) for row in found] == [
        ("1.50", "1.50", "007"),
        ("1e0", "2", "NA"),
        ("+3", "+3", "x"),
        ("1.5", "7.0", None),
    ]


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_dataframes_of_any_library(library: str) -> None:
    data = {
        "age": [17, 18, None, 40],
        "job": ["a", None, "b", "c"],
        "pay": [1, 2, None, 4],
        "on": [dt.date(2020, 1, 1)] * 4,
    }
    frame = frames.read(nw.from_dict(data, backend=library).to_native())
    text = "{nan_groups: {job: {erase: pay}, pay: {copy: age}}, field_constraints: ['age <= 18 | pay > 3']}"
    found, _ = apply_rules(frame, rules(text), None)
    assert frames.library_of(found) == library
    assert [*found.column("age")] == [17, 18, 40]
    assert [*found.column("pay")] == [1, None, 4]
    found, counts = apply_rules(frame, rules(f"{{{text[1:-1]}, target_rows: 8}}"), lambda n_rows, trial: frame)
    assert frames.library_of(found) == library
    assert [*found.column("pay")] == [1, None, 4, 1, None, 4, 1, None]
    assert counts == {"rows_left_out": 3, "n_trials": 2}


def test_combinations_compare_values_and_not_spellings() -> None:
    frame = csv("grade,points\n1.0,5.00\n1,4\n2,5\n,1\n3,9\n")
    found = kept(frame, "field_combinations: [[{grade: points}, {'1': [5, '5.5'], 2: '4', pd.NA: [2, pd.NA]}]]")
    assert [row["grade"] for row in found] == ["1.0", "3"]


def test_combinations_of_several_sources() -> None:
    frame = csv("degree,country,pay\nDr,US,90\nDr,US,50\nDr,CA,50\nMA,US,50\nDr,,50\nDr,US,\n")
    text = """
    field_combinations:
      - - ('degree', 'country'): pay
        - ('Dr', 'US'): [90, 100]
          ('Dr', 'CA'): 50
    """
    found = kept(frame, text)
    assert [tuple(row.values()) for row in found] == [
        ("Dr", "US", "90"),
        ("Dr", "CA", "50"),
        ("MA", "US", "50"),
        ("Dr", None, "50"),
    ]


def test_what_is_missing_is_allowed_where_it_is_named() -> None:
    frame = csv("a,b\nx,1\nx,\ny,\n")
    assert [row["b"] for row in kept(frame, "field_combinations: [[{a: b}, {x: [1]}]]")] == ["1", None]
    assert len(kept(frame, "field_combinations: [[{a: b}, {x: [1, pd.NA]}]]")) == 3


def test_deletions_come_first_and_changes_in_their_order() -> None:
    frame = csv("a,b,c\nx,,\ny,u,\n")
    first = kept(frame, "nan_groups: {c: {erase: a}, a: {copy: b}}")
    assert [tuple(row.values()) for row in first] == [(None, None, None), (None, "u", None)]
    second = kept(frame, "nan_groups: {a: {copy: b}, c: {erase: a}, b: delete}")
    assert [tuple(row.values()) for row in second] == [(None, "u", None)]


def test_no_rules_and_no_rows() -> None:
    frame = csv(ADULT)
    assert rows_of(apply_rules(frame, rules("{}"), None)[0]) == rows_of(frame)
    empty = frame.take(np.arange(0))
    text = "{nan_groups: {age: {copy: salary}, income: delete}, field_constraints: ['age > salary', 'age + 1 > 3']}"
    assert apply_rules(empty, rules(text), None)[0].n_rows == 0


def counting(start: int = 0):
    """Return what draws tables of one column, with numbers that count on, and how many rows were asked each time."""
    asked: list[tuple[int, int]] = []

    def redraw(n_rows: int, trial: int) -> Frame:
        first = start + sum(n for n, _ in asked)
        asked.append((n_rows, trial))
        return csv("n\n" + "\n".join(str(each) for each in range(first, first + n_rows)))

    return redraw, asked


def test_rows_are_drawn_until_there_are_enough() -> None:
    redraw, asked = counting(start=10)
    text = "{field_constraints: ['n == 3 | n == 12 | n == 13 | n > 15'], target_rows: 5, sampling_ratio: 1.5}"
    found, counts = apply_rules(csv("n\n1\n3\n"), rules(text), redraw)
    assert [row["n"] for row in rows_of(found)] == ["3", "12", "13", "16", "17"]
    assert asked == [(6, 1), (3, 2)]
    assert counts == {"rows_left_out": 1 + 4, "n_trials": 2}


def test_enough_rows_are_cut_and_none_drawn() -> None:
    redraw, asked = counting()
    found, counts = apply_rules(csv("n\n1\n2\n3\n4\n"), rules("{field_constraints: ['n > 1'], target_rows: 2}"), redraw)
    assert [row["n"] for row in rows_of(found)] == ["2", "3"]
    assert (asked, counts) == ([], {"rows_left_out": 1, "n_trials": 0})


def test_without_a_number_of_rows_none_are_drawn() -> None:
    redraw, asked = counting()
    assert apply_rules(csv("n\n1\n2\n"), rules("field_constraints: ['n > 1']"), redraw)[0].n_rows == 1
    assert asked == []


def test_drawing_ends() -> None:
    redraw, asked = counting()
    text = "{field_constraints: ['n == 3 | n == 5'], target_rows: 3, max_trials: 4}"
    with pytest.raises(InputError, match=r"^2 of 3 rows keep to the rules after 4 trials\.\n\nHint: raise max_trials"):
        apply_rules(csv("n\n1\n2\n"), rules(text), redraw)
    assert [trial for _, trial in asked] == [1, 2, 3, 4]
    with pytest.raises(InputError, match=r"^1 of 3 rows keep to the rules\.\n\nHint: leave target_rows out"):
        apply_rules(csv("n\n3\n2\n"), rules(text), None)


def test_what_is_drawn_is_read_as_what_was_there() -> None:
    first = csv("code,day\nZA0,31/01/2020\n100,01/02/2020\n")
    later = csv("code,day\n0100,03/02/2020\n100,02/03/2020\n")
    text = "{field_constraints: [\"code == '100' & day > DATE(2020-02-28)\"], target_rows: 1}"
    found, _ = apply_rules(first, rules(text), lambda n_rows, trial: later)
    assert rows_of(found) == [{"code": "100", "day": "02/03/2020"}]


def test_frames_remember_what_was_said_of_them() -> None:
    frame = csv("zip,n\n1,1\n2,2\n").with_specs({"zip": ColumnSpec("category")})
    found, _ = apply_rules(frame, rules("field_constraints: [\"zip == '2'\"]"), None)
    assert found.specs == frame.specs
    assert found.is_text
    with pytest.raises(ColumnError, match="holds texts, and is compared with a number"):
        apply_rules(frame, rules("field_constraints: [zip == 2]"), None)


def test_proportions_are_not_built() -> None:
    assert Constraining().obstacle is None
    asked = Constraining(field_proportions=[{"fields": "a", "mode": "all"}])
    assert asked.obstacle == "field_proportions is not built: leave it out"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("field_constraints: ['age >= 18', 'age >']", "field_constraints 2, character 6: expected a column", ""),
        ("nan_groups: {job: remove}", "nan_groups of 'job': no action 'remove'", "known: delete, erase, copy"),
        ("nan_groups: {job: {remove: pay}}", "nan_groups of 'job': no action 'remove'", "nan_if_condition"),
        ("nan_groups: {job: \"('erasee', 'pay')\"}", "nan_groups of 'job': no action 'erasee'", "known: delete"),
        ("nan_groups: {job: \"('erase', secret)\"}", "nan_groups of 'job': expected texts and numbers in par", ""),
        ("nan_groups: {job: erase}", "nan_groups of 'job': erase needs a column", "{erase: [income]}"),
        ("nan_groups: {job: {erase: [1]}}", "nan_groups of 'job': erase needs a column", ""),
        ("nan_groups: {job: {erase: job}}", "nan_groups of 'job': erase names the column itself", ""),
        ("nan_groups: {job: {delete: a, erase: pay}}", "nan_groups of 'job': delete stands beside other", ""),
        ("nan_groups: {job: 5}", "nan_groups of 'job': expected an action", "delete, or"),
        ("nan_groups: {job: []}", "nan_groups of 'job': expected an action", "delete, or"),
        ("nan_groups: {job: [erase, pay, more]}", "nan_groups of 'job': expected an action", "delete, or"),
        ("nan_groups: {job: [[erase], pay]}", "nan_groups of 'job': expected an action", "delete, or"),
        ("nan_groups: {job: {nan_if_condition: pay}}", "nan_groups of 'job': nan_if_condition needs a column", ""),
        ("nan_groups: {job: {nan_if_condition: {pay: []}}}", "nan_groups of 'job': a list of values is empty", "pd.NA"),
        ("nan_groups: {job: {nan_if_condition: {pay: [null]}}}", "nan_groups of 'job': a value is empty", "pd.NA"),
        (
            "nan_groups: {job: {nan_if_condition: {pay: yes}}}",
            "nan_groups of 'job': a value is of the type bool",
            "quotes",
        ),
        ("nan_groups: {job: {nan_if_condition: {pay: .inf}}}", "nan_groups of 'job': a value is of the type float", ""),
        (
            "field_combinations: [[{a: b}]]",
            "field_combinations 1: expected a source with its target",
            "{education: income}",
        ),
        ("field_combinations: [{a: b}]", "field_combinations 1: expected a source with its target", ""),
        ("field_combinations: [[{a: b, c: d}, {x: y}]]", "field_combinations 1: expected a source with", ""),
        ("field_combinations: [[{a: 5}, {x: y}]]", "field_combinations 1: the source and the target are names", ""),
        ("field_combinations: [[{1: a}, {x: y}]]", "field_combinations 1: the source and the target are names", ""),
        ("field_combinations: [[{\"('a', 'a')\": b}, {x: y}]]", "field_combinations 1: the source and the target", ""),
        ('field_combinations: [[{"()": b}, {x: y}]]', "field_combinations 1: the source and the target", ""),
        ("field_combinations: [[{\"('a', 'b')\": c}, {x: y}]]", "field_combinations 1: expected 2 values", "Doctorate"),
        ("field_combinations: [[{\"('a', 'b')\": c}, {\"('x',)\": y}]]", "field_combinations 1: expected 2 values", ""),
        (
            "field_combinations: [[{\"('a' + 'b')\": c}, {x: y}]]",
            "field_combinations 1: expected texts and numbers",
            "",
        ),
    ],
)
def test_what_cannot_be_read_is_told_before_any_table_is(text: str, message: str, hint: str) -> None:
    with pytest.raises(PipelineError) as raised:
        rules(text)
    told, _, advice = str(raised.value).partition("\n\nHint: ")
    assert told.startswith(message)
    assert hint in advice
    assert "secret" not in str(raised.value)


def test_texts_of_tuples_are_not_read_without_end() -> None:
    for text in ("(" * 9_000, "(" + "1," * 100_000 + ")", "('\0',)", "(" + "-" * 9_000 + "1,)"):
        with pytest.raises(PipelineError, match="expected"):
            rules_of(Constraining(nan_groups={"job": text}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("field_constraints: ['age > 1', 'agee > 3']", r"no column 'agee' among .*\(field_constraints 2\)"),
        ("nan_groups: {workclas: delete}", r"no column 'workclas' among .*\(nan_groups of 'workclas'\)"),
        ("nan_groups: {workclass: {copy: incme}}", r"no column 'incme' among"),
        ("nan_groups: {age: {nan_if_condition: {incme: a}}}", r"no column 'incme' among"),
        ("field_combinations: [[{educatio: income}, {a: b}]]", r"no column 'educatio' among"),
        ("field_combinations: [[{education: incom}, {a: b}]]", r"no column 'incom' among"),
    ],
)
def test_unknown_columns_are_told_with_near_names(text: str, message: str) -> None:
    frame = csv(ADULT)
    with pytest.raises(ColumnError) as raised:
        apply_rules(frame, rules(text), None)
    assert re.match(message, str(raised.value))
    assert "did you mean" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("income > '<=50K'", "column 'income' holds texts, which have no order"),
        ("income < occupation", "column 'income' holds texts, which have no order"),
        ("income == 50", "column 'income' holds texts, and is compared with a number"),
        ("income == DATE(2020-01-31)", "column 'income' holds texts, and is compared with a date"),
        ("age > DATE(2020-01-31)", "column 'age' holds numbers, and is compared with a date"),
        ("age > 'young'", "column 'age' holds numbers, and is compared with a text that is none"),
        ("since > 2020", "column 'since' holds dates, and is compared with a number"),
        ("since == 'once'", "column 'since' holds dates, and is compared with a text that is none"),
        ("since > age", "column 'since' holds dates, column 'age' numbers"),
        ("age == income", "column 'age' holds numbers, column 'income' texts"),
        ("since + 1 > 3", "column 'since' holds dates, which cannot be added"),
        ("1 - (age + income) > 3", "column 'income' holds texts, which cannot be added"),
        ("income == age + 1", "column 'income' holds texts, a sum numbers"),
    ],
)
def test_what_cannot_be_compared_is_told_without_a_cell(text: str, message: str) -> None:
    frame = csv("age,income,occupation,since\n39,secret1,secret2,2020-01-31\n,,,\n")
    with pytest.raises(ColumnError) as raised:
        apply_rules(frame, rules(yaml.safe_dump({"field_constraints": [text]})), None)
    assert str(raised.value).startswith(f"field_constraints 1: {message}.")
    assert "secret" not in str(raised.value)
    assert "\n\nHint: " in str(raised.value)


def test_columns_without_a_value_fit_everything() -> None:
    frame = csv("a,b\n1,\n2,\n")
    for text in ("b > 1", "b == 'x'", "b < DATE(2020-01-31)", "a == b", "a + b > 1"):
        assert kept(frame, yaml.safe_dump({"field_constraints": [text]})) == []
    assert len(kept(frame, "field_constraints: ['b IS pd.NA & b IS NOT 5']")) == 2
    assert [row["b"] for row in kept(frame, "nan_groups: {a: {copy: b}}")] == ["1", "2"]


def test_copies_are_of_one_kind() -> None:
    text = csv("a,b,c,d\n1,x,2020-01-31,01.02.2020\n2,,2020-01-31,\n3,y,,31.12.2020\n")
    for rule in ("{a: {copy: b}}", "{a: {copy: c}}", "{c: {copy: d}}"):
        with pytest.raises(ColumnError, match=r"cannot be copied into '.': their types differ\."):
            apply_rules(text, rules(f"nan_groups: {rule}"), None)
    typed = frames.read(pl.DataFrame({"a": [1, 2], "b": [1.5, None]}))
    with pytest.raises(ColumnError, match="their types differ"):
        apply_rules(typed, rules("nan_groups: {a: {copy: b}}"), None)


def test_erased_cells_leave_other_columns_alone() -> None:
    frame = frames.read(
        pl.DataFrame({"a": ["x", None], "b": pl.Series(["u", "v"], dtype=pl.Categorical), "c": [[1], [2]]})
    )
    found, _ = apply_rules(frame, rules("nan_groups: {a: {erase: b}}"), None)
    assert found.native["b"].to_list() == ["u", None]
    assert found.native.schema == frame.native.schema
