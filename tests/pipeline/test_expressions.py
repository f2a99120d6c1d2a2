"""Expressions: what is printed is read again, what is wrong is told with its place, and nothing is run."""

import datetime as dt

import pytest
from hypothesis import given, strategies as st

from hushtable.errors import PipelineError
from hushtable.pipeline.expressions import (
    BothOrNeither,
    CellOf,
    ComparedOperands,
    Day,
    Every,
    NoCell,
    NumberLiteral,
    Some,
    Sum,
    Text,
    columns_of,
    parse_expression,
    parse_number,
)

SIGNS = ["==", "!=", "<", "<=", ">", ">="]
AGE, PAY = CellOf("age"), CellOf("pay")
OVER = ComparedOperands(AGE, ">", NumberLiteral(18))
PAID = ComparedOperands(PAY, "==", Text(">50K"))
IDLE = ComparedOperands(CellOf("job"), "IS", NoCell())

names = st.sampled_from(
    ["age", "hours-per-week", "教育程度", "a b", "`", "2020", "IS", "NOT", "pd.NA", "a+b", "x.y", "-"]
)
names |= st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
numbers = st.integers(-(2**62), 2**62) | st.floats(-1e9, 1e9).map(lambda each: each + 0.0)
values = st.one_of(
    numbers.map(NumberLiteral),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5).map(Text),
    st.dates().map(Day),
)
cells = names.map(CellOf)
terms = st.lists(cells | numbers.map(NumberLiteral), min_size=1, max_size=3).map(tuple)
sums = st.builds(Sum, terms, terms).filter(columns_of)
operands = cells | sums
comparisons = st.one_of(
    st.builds(ComparedOperands, operands, st.sampled_from([*SIGNS, "IS", "IS NOT"]), operands | values),
    st.builds(ComparedOperands, values, st.sampled_from(SIGNS), operands),
    st.builds(ComparedOperands, operands, st.sampled_from(["IS", "IS NOT"]), st.just(NoCell())),
)
conditions = st.recursive(
    comparisons,
    lambda parts: st.one_of(
        st.lists(parts, min_size=2, max_size=3).map(tuple).map(Every),
        st.lists(parts, min_size=2, max_size=3).map(tuple).map(Some),
        st.builds(BothOrNeither, parts, parts, st.booleans()),
    ),
    max_leaves=8,
)


def quoted(text: str, sign: str) -> str:
    return sign + text.replace(sign, sign * 2) + sign


def written(node, inside="") -> str:
    """Write a node; in parentheses where the one around it would take it apart."""
    match node:
        case CellOf(name):
            return quoted(name, "`")
        case NumberLiteral(value):
            return repr(value).replace("e+", "e")
        case Text(value):
            return quoted(value, "'")
        case Day(value):
            return f"DATE({value})"
        case NoCell():
            return "pd.NA"
        case Sum(added, taken):
            text = " + ".join(written(each) for each in added) + "".join(f" - {written(each)}" for each in taken)
        case ComparedOperands(left, sign, right):
            text = f"{written(left)} {sign} {written(right)}"
        case BothOrNeither(left, right, is_same):
            text = f"({written(left)}) {'==' if is_same else '!='} ({written(right)})"
        case Every(parts):
            text = " & ".join(written(part, inside="&") for part in parts)
        case Some(parts):
            text = "\n| ".join(written(part, inside="|") for part in parts)
    looser = {"&": (Every, Some), "|": (Some,)}.get(inside, ())
    return f"({text})" if isinstance(node, looser) else text


@given(conditions)
def test_what_is_written_is_read_again(condition) -> None:
    assert parse_expression(written(condition), "rule") == condition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age>18", OVER),
        ("age > 18 & pay == '>50K'", Every((OVER, PAID))),
        ("age > 18 & pay == '>50K' | job IS pd.NA", Some((Every((OVER, PAID)), IDLE))),
        ('age > 18 & (pay == ">50K" | job IS pd.NA)', Every((OVER, Some((PAID, IDLE))))),
        ("((age > 18))", OVER),
        ("\n age\n>\t18\n\n", OVER),
        ("(age > 18) == (pay == '>50K')", BothOrNeither(OVER, PAID, True)),
        ("job IS NOT 'clerk'", ComparedOperands(CellOf("job"), "IS NOT", Text("clerk"))),
        ("hours-per-week<=-60.5", ComparedOperands(CellOf("hours-per-week"), "<=", NumberLiteral(-60.5))),
        ("'hours per week' >= 20", ComparedOperands(CellOf("hours per week"), ">=", NumberLiteral(20))),
        ("20 <= 'hours per week'", ComparedOperands(NumberLiteral(20), "<=", CellOf("hours per week"))),
        ("'a b' == 'c d'", ComparedOperands(CellOf("a b"), "==", Text("c d"))),
        ("'a b' == c", ComparedOperands(Text("a b"), "==", CellOf("c"))),
        ("'a b' + 'c' <= 5", ComparedOperands(Sum((CellOf("a b"), CellOf("c"))), "<=", NumberLiteral(5))),
        ("a+b - c <= 5", ComparedOperands(Sum((CellOf("a"), CellOf("b")), (CellOf("c"),)), "<=", NumberLiteral(5))),
        (
            "a - (b + c) < 5",
            ComparedOperands(Sum((CellOf("a"),), (Sum((CellOf("b"), CellOf("c"))),)), "<", NumberLiteral(5)),
        ),
        ("(a) > (5)", ComparedOperands(CellOf("a"), ">", NumberLiteral(5))),
        ("出生日 < DATE(2020-01-31)", ComparedOperands(CellOf("出生日"), "<", Day(dt.date(2020, 1, 31)))),
        ("d >= DATE('2020-01-31')", ComparedOperands(CellOf("d"), ">=", Day(dt.date(2020, 1, 31)))),
        ("DATE > 5", ComparedOperands(CellOf("DATE"), ">", NumberLiteral(5))),
        ("`IS` IS `NULL`", ComparedOperands(CellOf("IS"), "IS", CellOf("NULL"))),
        ("name == 'O''Neill'", ComparedOperands(CellOf("name"), "==", Text("O'Neill"))),
        ("x == ''", ComparedOperands(CellOf("x"), "==", Text(""))),
    ],
)
def test_examples(text: str, expected) -> None:
    assert parse_expression(text, "rule") == expected


DEEP = "(" * 64 + "a > 1" + ")" * 64


def test_parentheses_may_be_deep_but_not_without_end() -> None:
    assert parse_expression(DEEP, "rule") == ComparedOperands(CellOf("a"), ">", NumberLiteral(1))
    with pytest.raises(PipelineError, match=r"^rule, character 65: parentheses more than 64 deep\."):
        parse_expression("(" * 100_000, "rule")
    long = " | ".join(["a > 1"] * 5000)
    assert len(parse_expression(long, "rule").parts) == 5000


@pytest.mark.parametrize(
    ("text", "at", "what", "hint"),
    [
        ("", 1, "it is empty", "age >= 18"),
        (" \n", 1, "it is empty", "age >= 18"),
        ("age and b > 3", 5, "expected ==, !=, <, <=, >, >=, IS, IS NOT, found the name 'and'", "did you mean &?"),
        ("age > 1 OR b > 3", 9, "expected &, | or the end, found the name 'OR'", r"did you mean \|?"),
        ("age >= 18 && b > 3", 11, "no sign '&&' is known", "did you mean &?"),
        ("age = 18", 5, "no sign '=' is known", "did you mean ==?"),
        ("age => 18", 5, "no sign '=>' is known", "did you mean >=?"),
        ("age >> 18", 5, "no sign '>>' is known", "backticks"),
        ("age ＞ 18", 5, "no sign '＞' is known", "did you mean >?"),
        ("age % 18", 5, "no sign '%' is known", "backticks"),
        ("age is pd.NA", 5, "found the name 'is'", "did you mean IS?"),
        ("age IS NOT null", 12, "expected pd.NA, found the name 'null'", "backticks"),
        ("age == pd.NA", 8, "pd.NA goes with IS and IS NOT, not with ==", "job IS NOT pd.NA"),
        ("(age > 18", 10, r"expected &, | or ) for the ( at character 1, found the end", "every ("),
        ("age > 18)", 9, "expected &, | or the end, found ')'", "every ("),
        ("age > 18 & ()", 13, "expected a column, number, text in quotes, DATE(2020-01-31), pd.NA or (, found ')'", ""),
        ("age > 18 &", 11, "found the end", ""),
        ("age & pay > 1", 1, "expected a comparison", "age >= 18"),
        ("age", 1, "expected a comparison", "age >= 18"),
        ("18 <= age <= 65", 11, "a second comparison in a row", "join two by &"),
        ("hours per week > 3", 7, "found the name 'per'", "backticks"),
        ("a -5 > 3", 3, "found a number", "spaces around"),
        ("a > 3 'secret'", 7, "found a text", ""),
        ("1 < 2", 1, "expected a column on one side", "`2020`"),
        ("(a > 1) > (b > 1)", 11, "comparisons go with == and !=, not with >", "joined by &"),
        ("(a > 1) == 2", 12, "expected a comparison in parentheses", ""),
        ("a + (b > 1) > 2", 5, "expected a column or number to add", "net + tax"),
        ("a + pd.NA > 2", 5, "expected a column or number to add", "net + tax"),
        ("(b > 1) + a > 2", 1, "expected a column or number to add", "net + tax"),
        ("d > DATE(2023-02-29)", 10, "expected a day that exists", "DATE(2020-01-31)"),
        ("d > DATE(31.01.2020)", 10, "expected a day that exists", "DATE(2020-01-31)"),
        ("d > DATE(2020-01-31", 20, "expected ) after the day, found the end", "DATE(2020-01-31)"),
        ("a == 'secret", 6, "a quote that is not closed", "'"),
        ("`a > 3", 1, "a quote that is not closed", "`"),
        ("a > 1e999", 5, "a number that is too large", ""),
        ("NOT a > 1", 1, "found 'NOT'", ""),
        ("__import__('os').system('true') == 1", 11, "found '('", ""),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, at: int, what: str, hint: str) -> None:
    with pytest.raises(PipelineError) as raised:
        parse_expression(text, "field_constraints 2")
    message, _, advice = str(raised.value).partition("\n\nHint: ")
    assert message.startswith(f"field_constraints 2, character {at}: ")
    assert what.replace("\\", "") in message
    assert hint.replace("\\", "") in advice
    assert "secret" not in str(raised.value)


def test_places_in_a_block_are_told_by_line() -> None:
    with pytest.raises(PipelineError, match=r"^rule, line 3, character 7: expected a column"):
        parse_expression("(age > 18) |\n(age < 3 &\nage > & age < 9)\n", "rule")


def test_a_name_that_is_long_is_shown_in_part() -> None:
    with pytest.raises(PipelineError) as raised:
        parse_expression("a " + "b" * 100_000, "rule")
    assert len(str(raised.value)) < 500


def test_columns_are_named_once_in_their_order() -> None:
    text = "b > 1 | (a + b < c - d & 1 == e) | (f IS pd.NA) != (a == 'x')"
    assert columns_of(parse_expression(text, "rule")) == ("b", "a", "c", "d", "e", "f")


def test_numbers_are_whole_where_they_fit() -> None:
    texts = ["5", "-5", "5.0", ".5", "5.", "1e3", "9223372036854775807", "9223372036854775808", "x", "1e999", "", "５"]
    assert [parse_number(text) for text in texts] == [
        5,
        -5,
        5.0,
        0.5,
        5.0,
        1000.0,
        2**63 - 1,
        2.0**63,
        None,
        None,
        None,
        None,
    ]
    assert [type(parse_number(text)) for text in texts[:8]] == [int, int, float, float, float, float, int, float]


def test_a_number_of_thousands_of_digits_is_refused_and_one_of_zeros_is_read() -> None:
    with pytest.raises(PipelineError):
        parse_expression(f"age > {'9' * 5000}", "rule")
    assert parse_number("0" * 5000 + "7") == 7.0
    assert parse_number("9" * 5000) is None
