"""The exception tree, and the messages that several places build."""

import pytest

from hushtable import errors
from hushtable.errors import check_columns, quote_names, with_hint

INPUT_ERRORS = [errors.ColumnError, errors.HierarchyError, errors.ModelError, errors.PolicyError]


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_a_hush_error(name):
    assert issubclass(getattr(errors, name), UserWarning if name.endswith("Warning") else errors.HushError)


@pytest.mark.parametrize("kind", [errors.InputError, *INPUT_ERRORS])
def test_input_errors_are_value_errors(kind):
    assert issubclass(kind, errors.InputError)
    assert issubclass(kind, ValueError)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.HushError, 2),
        *((kind, 2) for kind in INPUT_ERRORS),
        (errors.InfeasibleError, 3),
        (errors.BudgetExceeded, 3),
        (errors.VerificationError, 1),
        (errors.ExposureError, 1),
    ],
)
def test_exit_codes(kind, code):
    assert kind.exit_code == code


def test_a_hint_is_on_its_own_line():
    assert with_hint("no such file.", "check the name.") == "no such file.\n\nHint: check the name."


@pytest.mark.parametrize(
    ("names", "limit", "text"),
    [
        ([], 8, ""),
        (["a"], 8, "'a'"),
        (["a", "b"], 2, "'a', 'b'"),
        (["a", "b", "c", "d"], 2, "'a', 'b' and 2 more"),
        ((name for name in "ab"), 1, "'a' and 1 more"),
    ],
)
def test_listed(names, limit, text):
    assert quote_names(names, limit) == text


@pytest.mark.parametrize("wanted", [[], ["age"], ["sex", "age"]])
def test_known_columns_pass(wanted):
    check_columns(wanted, ["age", "sex"], "quasi_identifiers")


def test_a_near_name_is_proposed():
    with pytest.raises(errors.ColumnError, match=r"no column 'agee' among the 2 columns \(columns\)") as caught:
        check_columns(["agee"], ["age", "sex"], "columns")
    assert "did you mean 'age'?" in str(caught.value)


def test_without_a_near_name_the_columns_are_listed():
    with pytest.raises(errors.ColumnError, match="the columns are 'age', 'sex'"):
        check_columns(["zip"], ["age", "sex"], "columns")


def test_a_column_named_twice():
    with pytest.raises(errors.ColumnError, match="quasi_identifiers names 'age' more than once"):
        check_columns(["age", "sex", "age"], ["age", "sex"], "quasi_identifiers")


def test_names_that_are_no_text_are_listed_too():
    assert quote_names([None, "a", 7]) == "None, 'a', 7"
    assert quote_names(["x" * 1_000]).endswith("…")
