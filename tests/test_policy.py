"""Policies: every fault with its line, and the way to YAML and back."""

import traceback

import numpy as np
import pytest
import yaml

from hushtable.errors import ColumnError, PolicyError
from hushtable.models import DistinctLDiversity, KAnonymity
from hushtable.policy import ColumnPolicy, Limits, Policy

WHOLE = """\
version: 1
columns:
  name: identifier
  email: {role: identifier, action: pseudonym}
  ssn: {role: identifier, action: remove}
  age: quasi-identifier
  severity: {role: quasi-identifier, order: [mild, moderate, severe]}
  zip: {role: quasi-identifier, kind: category}
  diagnosis: sensitive
  visit: other
models:
  - k-anonymity: 5
  - distinct-l-diversity: {l: 2, sensitive: diagnosis}
cut: median
recoding: tight
limits: {highest_risk: 0.2, average_risk: 0.05}
seed: 7
"""


def message(text, error=PolicyError):
    with pytest.raises(error) as caught:
        Policy.parse(text, "p.yaml")
    return str(caught.value)


def edited(old, new):
    assert WHOLE.count(old) == 1
    return WHOLE.replace(old, new)


def line_of(text, part):
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def test_whole_policy():
    policy = Policy.parse(WHOLE)
    assert policy.quasi_identifiers == ("age", "severity", "zip")
    assert policy.removed == ("name", "ssn")
    assert policy.pseudonymized == ("email",)
    assert policy.with_role("sensitive") == ("diagnosis",)
    assert policy.with_role("other") == ("visit",)
    assert policy.columns["severity"].order == ("mild", "moderate", "severe")
    assert policy.columns["zip"].kind == "category"
    assert policy.models == (KAnonymity(5), DistinctLDiversity(2, "diagnosis"))
    assert (policy.cut, policy.recoding, policy.missing, policy.seed) == ("median", "tight", "category", 7)
    assert policy.limits == Limits(highest_risk=0.2, average_risk=0.05)


def test_defaults():
    policy = Policy.parse("columns: {age: quasi-identifier}\nmodels: [k-anonymity: 5]")
    assert (policy.method, policy.cut, policy.recoding, policy.missing) == ("mondrian", "gain", "cut", "category")
    assert policy.limits == Limits()


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("age: quasi-identifier", "age: quasi", "age: quasi"),
        ("role: identifier, action: pseudonym", "role: person", "role: person"),
        ("role: identifier, action: pseudonym", "action: pseudonym", "email"),
        ("role: identifier, action: pseudonym", "role: other, action: pseudonym", "email"),
        ("role: identifier, action: remove", "role: sensitive, action: remove", "ssn"),
        ("action: remove", "action: hash", "ssn"),
        ("kind: category", "kind: float", "zip"),
        ("kind: category", "typ: category", "typ"),
        ("order: [mild, moderate, severe]", "order: mild", "severity"),
        ("order: [mild, moderate, severe]", "order: [1, 2]", "severity"),
        ("visit: other", "visit: ", "visit"),
        ("visit: other", "visit: [other]", "visit"),
        ("version: 1", "version: 2", "version"),
        ("cut: median", "cut: mean", "cut: mean"),
        ("cut: median", "method: arx", "method"),
        ("recoding: tight", "recoding: loose", "recoding"),
        ("recoding: tight", "missing: wildcard", "missing"),
        ("recoding: tight", "recodings: tight", "recodings"),
        ("seed: 7", "seed: x", "seed"),
        ("seed: 7", "seed: 1.5", "seed"),
        ("highest_risk: 0.2", "highest_risk: 0", "limits"),
        ("highest_risk: 0.2", "highest_risk: 1.01", "limits"),
        ("highest_risk: 0.2", "highest_risk: .nan", "limits"),
        ("average_risk: 0.05", "average_risk: -0.1", "limits"),
        ("average_risk: 0.05", "average_risk: low", "limits"),
        ("average_risk: 0.05", "mean_risk: 0.05", "limits"),
    ],
)
def test_fault_is_named_with_its_line(old, new, part):
    text = edited(old, new)
    assert f"p.yaml line {line_of(text, part)}: " in message(text)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("k-anonymity: 5", "k-anonymity: 0", "k = 0"),
        ("k-anonymity: 5", "k-anonymity: 2.5", "k = 2.5"),
        ("k-anonymity: 5", "k-anonymity: true", "k = True"),
        ("k-anonymity: 5", 'k-anonymity: "5"', "k = '5'"),
        ("k-anonymity: 5", "k-anonymity: ", "k = None"),
        ("k-anonymity: 5", "k-anonymity: {j: 5}", "parameters are: k"),
        ("k-anonymity: 5", "q-anonymity: 5", "'q-anonymity'"),
        ("- k-anonymity: 5", "- k-anonymity", "name: parameter"),
        ("l: 2, sensitive", "l: -1, sensitive", "l = -1"),
        ("l: 2, sensitive", "sensitive", "parameters are: l, sensitive"),
        ("sensitive: diagnosis}", "sensitive: wage}", "'wage'"),
        ("sensitive: diagnosis}", "sensitive: age}", "'age'"),
        ("  diagnosis: sensitive\n", "", "'diagnosis'"),
    ],
)
def test_faulty_model_is_explained(old, new, part):
    assert part in message(edited(old, new))


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("k-anonymity: 5", "k-anonymity: 0", "k-anonymity"),
        ("k-anonymity: 5", "q-anonymity: 5", "q-anonymity"),
        ("l: 2, sensitive", "l: -1, sensitive", "distinct-l"),
        ("- distinct-l-diversity: {l: 2, sensitive: diagnosis}", "- distinct-l-diversity", "distinct-l"),
        ("sensitive: diagnosis}", "sensitive: wage}", "distinct-l"),
    ],
)
def test_faulty_model_is_named_with_its_line(old, new, part):
    text = edited(old, new)
    assert f"p.yaml line {line_of(text, part)}: " in message(text)


def test_policy_without_quasi_identifier_points_at_the_columns():
    text = "version: 1\ncolumns:\n  age: other\nmodels: [k-anonymity: 5]\n"
    found = message(text)
    assert "no quasi-identifier" in found
    assert "line 2" in found


@pytest.mark.parametrize("models", ["", "[]", "k-anonymity", "{k-anonymity: 5}"])
def test_models_are_a_list(models):
    text = f"columns: {{age: quasi-identifier}}\nmodels: {models}\n"
    assert "line 2: models: expected a list of models" in message(text)


@pytest.mark.parametrize("part", ["columns", "models"])
def test_part_that_is_not_there(part):
    entries = yaml.safe_load(WHOLE)
    del entries[part]
    assert f"{part}: Field required" in message(yaml.safe_dump(entries))


@pytest.mark.parametrize("given", ["[diagnosis]", "3", "{a: b}", ""])
def test_sensitive_column_of_a_model_is_a_name(given):
    assert "sensitive" in message(edited("sensitive: diagnosis}", f"sensitive: {given}}}"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("columns:\n  age: [\n", 3),
        ("columns:\n  age: a\n b: c\n", 3),
        ("columns: {}\n---\nmodels: []\n", 2),
        ("columns:\n\tage: other\n", 2),
        ("columns: !!python/object/apply:os.getcwd []\n", 1),
    ],
)
def test_what_is_not_yaml_is_named_with_its_line(text, line):
    assert f"p.yaml line {line}: not YAML" in message(text)


@pytest.mark.parametrize("text", ["", "[]", "columns", "5", "\x01", "columns: {age: {order: [2020-13-45]}}"])
def test_what_is_no_policy_is_our_error(text):
    assert message(text).startswith("p.yaml")


def test_column_declared_twice_is_refused():
    """YAML keeps the last of two equal keys without a word: here a ZIP code would be published as it is."""
    text = edited("  visit: other", "  visit: other\n  age: other")
    assert "age" in message(text)


@pytest.mark.parametrize("key", ["1", "no", "2020-01-01", "1.5", "null"])
def test_column_name_that_yaml_reads_as_something_else(key):
    """The fault is a PolicyError; quoted, the name is fine."""
    text = "columns:\n  age: quasi-identifier\n  {}: other\nmodels: [k-anonymity: 5]\n"
    assert "columns" in message(text.format(key))
    assert key in Policy.parse(text.format(f'"{key}"')).columns


def test_error_quotes_no_given_value():
    """A wrong policy may hold values of people, in an order for instance: pydantic's own message would show them."""
    found = message(edited("order: [mild, moderate, severe]", "order: canary-7391"))
    assert "canary" not in found


def test_error_shows_no_inner_exception():
    with pytest.raises(PolicyError) as error:
        Policy.parse(edited("k-anonymity: 5", "k-anonymity: 0"))
    assert "pydantic" not in "".join(traceback.format_exception(error.value))


def test_read(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(WHOLE, encoding="utf-8")
    assert Policy.read(path) == Policy.read(str(path)) == Policy.parse(WHOLE)


def test_read_names_the_file(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text("columns: {age: x}")
    with pytest.raises(PolicyError, match=r"policy\.yaml line 1"):
        Policy.read(path)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xfa"], ids=["no file", "no UTF-8"])
def test_read_what_cannot_be_read(tmp_path, content):
    path = tmp_path / "policy.yaml"
    if content:
        path.write_bytes(content)
    with pytest.raises(PolicyError, match="cannot read the policy"):
        Policy.read(path)


ODD_NAMES = [
    "1",
    "no",
    "null",
    "2020-01-01",
    "a: b",
    "#x",
    "- y",
    "naïve 😀",
    'quo"ted',
    "it's",
    "*star",
    "&amp",
    " pad ",
]


@pytest.mark.parametrize(
    "policy",
    [
        Policy.parse(WHOLE),
        Policy.parse("columns: {age: quasi-identifier}\nmodels: [k-anonymity: 5]"),
        Policy.make({"columns": dict.fromkeys(ODD_NAMES, "quasi-identifier"), "models": [{"k-anonymity": 2}]}),
        Policy.make(
            {"columns": {"a": {"role": "quasi-identifier", "order": ODD_NAMES}}, "models": [KAnonymity(3)], "seed": 1}
        ),
    ],
    ids=["whole", "defaults", "odd names", "odd order"],
)
def test_yaml_and_back(policy):
    assert Policy.parse(policy.to_yaml()) == policy
    assert Policy.make(policy.to_dict()) == policy


def test_to_yaml_is_as_people_write_it():
    text = Policy.parse(WHOLE).to_yaml()
    assert "  age: quasi-identifier\n" in text
    assert "😀" in Policy.make({"columns": {"😀": "quasi-identifier"}, "models": [KAnonymity(2)]}).to_yaml()


def test_model_of_a_numpy_number_is_written_too():
    policy = Policy.make({"columns": {"a": "quasi-identifier"}, "models": [KAnonymity(np.int64(5))]})
    assert Policy.parse(policy.to_yaml()) == policy


def test_check_covers():
    policy = Policy.parse(WHOLE)
    policy.check_covers(list(policy.columns))
    policy.check_covers(list(policy.columns)[::-1])


def test_check_covers_names_columns_without_a_role():
    policy = Policy.parse(WHOLE)
    with pytest.raises(PolicyError, match="no role to 'x', 'y'") as error:
        policy.check_covers([*policy.columns, "x", "y"])
    assert not isinstance(error.value, ColumnError)


def test_check_covers_names_columns_that_are_not_there():
    policy = Policy.parse(WHOLE)
    with pytest.raises(ColumnError, match="'age'"):
        policy.check_covers([name for name in policy.columns if name != "age"])


def test_changed_replaces_what_is_given():
    policy = Policy.parse(WHOLE)
    changed = policy.changed(cut="gain", seed=9, recoding=None)
    assert (changed.cut, changed.seed, changed.recoding) == ("gain", 9, "tight")
    assert (policy.cut, policy.seed) == ("median", 7)
    assert changed.columns == policy.columns
    assert changed.models == policy.models


def test_changed_by_nothing_is_the_same():
    policy = Policy.parse(WHOLE)
    assert policy.changed() == policy.changed(cut=None) == policy


def test_changed_can_set_zero():
    assert Policy.parse(WHOLE).changed(seed=0).seed == 0


def test_changed_models():
    assert Policy.parse(WHOLE).changed(models=[{"k-anonymity": 11}]).models == (KAnonymity(11),)
    assert Policy.parse(WHOLE).changed(models=(KAnonymity(11),)).models == (KAnonymity(11),)


@pytest.mark.parametrize(
    "given", [{"cut": "x"}, {"columns": {"age": "other"}}, {"models": []}, {"models": [{"k-anonymity": 0}]}, {"x": 1}]
)
def test_changed_is_validated(given):
    with pytest.raises(PolicyError):
        Policy.parse(WHOLE).changed(**given)


def test_policy_is_frozen():
    policy = Policy.parse(WHOLE)
    with pytest.raises(ValueError, match="frozen"):
        policy.cut = "gain"
    with pytest.raises(ValueError, match="frozen"):
        policy.columns["age"].role = "other"


def test_identifier_without_action_is_removed():
    policy = Policy.make({"columns": {"a": "identifier", "b": "quasi-identifier"}, "models": [KAnonymity(2)]})
    assert policy.columns["a"] == ColumnPolicy(role="identifier")
    assert policy.removed == ("a",)
