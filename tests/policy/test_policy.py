"""Policies: every fault with its line, and the way to YAML and back."""

import json
import re
import traceback
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
import yaml

import hushtable as ht
from command import run
from hushtable.anonymizers import Genetic, Mondrian, protect
from hushtable.claims import Limits
from hushtable.errors import ColumnError, InputError, PolicyError
from hushtable.models import AlphaKAnonymity, DistinctLDiversity, KAnonymity
from hushtable.policy import ColumnPolicy, Policy, PolicyLimits, plain_yaml
from hushtable.quality.loss import SetNCP
from hushtable.release import manifest
from hushtable.search.budget import Budget

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
method: {mondrian: {cut: median, recoding: tight}}
loss: {ncp: {weights: {age: 2}}}
limits: {highest_risk: 0.2, average_risk: 0.05}
budget: {nodes: 7}
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
    assert policy.method == Mondrian(cut="median", recoding="tight")
    assert policy.loss == SetNCP({"age": 2})
    assert (policy.missing, policy.budget.nodes, policy.budget.seconds) == ("category", 7, None)
    assert policy.limits == PolicyLimits(highest_risk=0.2, average_risk=0.05)


def test_defaults():
    policy = Policy.parse("columns: {age: quasi-identifier}\nmodels: [k-anonymity: 5]")
    assert (policy.method, policy.loss, policy.missing) == (Mondrian(recoding="readable"), SetNCP(), "category")
    assert policy.limits == PolicyLimits()
    assert (policy.budget, policy.person, policy.population, policy.domains) == (None,) * 4


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
        ("{mondrian: {cut: median, recoding: tight}}", "arx", "method"),
        ("recoding: tight", "recoding: loose", "recoding"),
        ("budget: {nodes: 7}", "missing: wildcard", "missing"),
        ("recoding: tight", "recodings: tight", "recodings"),
        ("mondrian: {cut: median, recoding: tight}", "genetic: {seed: x}", "seed"),
        ("mondrian: {cut: median, recoding: tight}", "genetic: {seed: 1.5}", "seed"),
        ("mondrian: {cut: median, recoding: tight}", "mingen: {seed: 1.5}", "seed"),
        ("mondrian: {cut: median, recoding: tight}", "genetic: {seed: -1}", "seed"),
        ("mondrian: {cut: median, recoding: tight}", "genetic: {seed: true}", "seed"),
        ("mondrian: {cut: median, recoding: tight}", "mingen: {seed: true}", "seed"),
        ("recoding: tight", "seed: 7", "seed"),
        ("recoding: tight", "strict: 1", "strict"),
        ("recoding: tight", 'exchange: "yes"', "exchange"),
        ("mondrian: {cut: median, recoding: tight}", "mondrian: [cut]", "mondrian: [cut]"),
        ("mondrian: {cut: median, recoding: tight}", "mondrian: {}, mingen: {}", "mingen"),
        ("recoding: tight", "margin: true", "margin"),
        ("recoding: tight", "margin: 1e20", "margin"),
        ("recoding: tight", "margin: 1.0e+20", "margin"),
        ("recoding: tight", "margin: 100000000000000000000", "margin"),
        ("recoding: tight", "margin: -1", "margin"),
        ("recoding: tight", 'margin: "3"', "margin"),
        ("weights: {age: 2}", "weights: {age: .nan}", "weights"),
        ("weights: {age: 2}", "weights: {age: .inf}", "weights"),
        ("weights: {age: 2}", "weights: {age: -1}", "weights"),
        ("weights: {age: 2}", "weights: {age: true}", "weights"),
        ("weights: {age: 2}", 'weights: {age: "2"}', "weights"),
        ("weights: {age: 2}", "weights: {agee: 2}", "weights"),
        ("weights: {age: 2}", "weights: {visit: 2}", "weights"),
        ("weights: {age: 2}", "weights: [2]", "weights"),
        ("recoding: tight", "grid: 0", "grid"),
        ("recoding: tight", "grid: {age: 0}", "grid"),
        ("recoding: tight", "grid: {age: -5}", "grid"),
        ("recoding: tight", "grid: {age: .nan}", "grid"),
        ("recoding: tight", "grid: {age: .inf}", "grid"),
        ("recoding: tight", "grid: {age: true}", "grid"),
        ("recoding: tight", "grid: {agee: 5}", "grid"),
        ("recoding: tight", "grid: {diagnosis: 5}", "grid"),
        ("nodes: 7", "nodes: 0", "budget"),
        ("nodes: 7", "nodes: 1.5", "budget"),
        ("nodes: 7", "nodes: true", "budget"),
        ("nodes: 7", "seconds: .nan", "budget"),
        ("nodes: 7", "seconds: .inf", "budget"),
        ("nodes: 7", "minutes: 1", "minutes"),
        ("order: [mild, moderate, severe]", "order: []", "severity"),
        ("order: [mild, moderate, severe]", "order: [mild, severe, mild]", "severity"),
        ("order: [mild, moderate, severe]", "order: [mild, severe], kind: integer", "severity"),
        ("order: [mild, moderate, severe]", "order: [mild, severe], kind: category", "severity"),
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
    ("old", "new", "expected"),
    [
        ("weights: {age: 2}", "weights: {visit: 2}", "'visit', which columns does not declare as quasi-identifier"),
        ("recoding: tight", "grid: {agee: 5}", "'agee', which columns does not declare as quasi-identifier"),
        ("recoding: tight", "grid: {age: 0}", "a width above 0"),
        ("weights: {age: 2}", "weights: {age: .nan}", "0, or a number from 1e-100"),
        ("recoding: tight", "margin: true", "a whole number from 0"),
        ("mondrian: {cut: median, recoding: tight}", "genetic: {seed: -1}", "a whole number, 0 or more"),
        ("recoding: tight", "margins: 2", "did you mean 'margin'?"),
        ("mondrian: {cut: median, recoding: tight}", "mondrain: {}", "did you mean 'mondrian'?"),
        ("order: [mild, moderate, severe]", "order: []", "name every value of the column once"),
        ("order: [mild, moderate, severe]", "order: [mild, severe, mild]", "name every value of the column once"),
        ("order: [mild, moderate, severe]", "order: [mild, severe], kind: integer", "an order goes with kind ordered"),
    ],
)
def test_fault_says_what_was_expected(old, new, expected):
    assert expected in message(edited(old, new))


def test_weights_from_tiny_to_huge_are_a_policys():
    """What counts is how weights compare; 0 says that nothing is lost in a column."""
    policy = Policy.parse(edited("weights: {age: 2}", "weights: {age: 1.0e+100, zip: 1.0e-100, severity: 0}"))
    assert policy.loss.weights == {"age": 1e100, "zip": 1e-100, "severity": 0}
    assert Policy.parse(policy.to_yaml()) == policy


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("k-anonymity: 5", "k-anonymity: 0", "k = 0"),
        ("k-anonymity: 5", "k-anonymity: 2.5", "k = 2.5"),
        ("k-anonymity: 5", "k-anonymity: true", "k = True"),
        ("k-anonymity: 5", 'k-anonymity: "5"', "k = '5'"),
        ("k-anonymity: 5", "k-anonymity: ", "lacks 'k'"),
        ("k-anonymity: 5", "k-anonymity: {j: 5}", "has no option 'j'. known: k"),
        ("k-anonymity: 5", "q-anonymity: 5", "'q-anonymity'"),
        ("- k-anonymity: 5", "- k-anonymity", "lacks 'k'. its options are: k"),
        ("l: 2, sensitive", "l: -1, sensitive", "l = -1"),
        ("l: 2, sensitive", "sensitive", "lacks 'l'. its options are: l, sensitive"),
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


LAUGHS = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghij"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (LAUGHS, 1),
        (WHOLE + "grid: &w {age: *w}\n", 18),
        (WHOLE + "grid: *w\n", 18),
        (WHOLE + "grid: {<<: {age: 1}}\n", 18),
        ("columns:\n  age: " + "[" * 100_000, 2),
        ("columns:\n  age: " + "{a: " * 100_000, 2),
        ("columns:\n  " + "- " * 100_000, 2),
        ("columns:\n  " + "? " * 100_000, 2),
        ("columns:\n  age: !!timestamp x\n", 2),
        ("columns:\n  age: !!binary x\n", 2),
        ("columns:\n  age: ! x\n", 2),
        ("columns:\n  age: 2020-13-45\n", 2),
        ("columns:\n  age: 1" + ":1" * 100_000, 2),
        ("columns:\n  age: " + "9" * 100_000, 2),
        ("columns:\n  age: 0b_\n", 2),
        ('columns:\n  "\\UFFFFFFFF": other\n', 2),
        ("columns:\n  [age]: other\n", 2),
        ("columns:\n  {age: x}: other\n", 2),
        ("columns:\n  16: other\n  0x10: sensitive\n", 2),
        ("columns:\n  age: \x07\n", 2),
        ("%YAML " + "9" * 5_000 + "\n---\na: b\n", 1),
    ],
)
def test_yaml_that_no_policy_needs_is_refused_with_its_line(text, line):
    assert message(text).startswith(f"p.yaml line {line}: not YAML")


def test_a_text_that_is_too_large_is_refused_unread(tmp_path):
    text = WHOLE + "#" * 1_000_000
    assert "1,000,000 characters" in message(text)
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(PolicyError, match="1,000,000 characters"):
        Policy.read(path)


def test_nesting_up_to_the_limit_is_read():
    tree = "".join(f"{{n{depth}: " for depth in range(25)) + "[x, y]" + "}" * 25
    policy = Policy.parse(
        edited("age: quasi-identifier", f"age: {{role: quasi-identifier, hierarchy: {{tree: {tree}}}}}")
    )
    assert Policy.parse(policy.to_yaml()) == policy


@pytest.mark.parametrize("given", ["a\\0b", "x" * 5_000, "\\ud800"], ids=["zero byte", "long", "surrogate"])
def test_hierarchy_file_that_no_system_can_have(tmp_path, given):
    text = edited("age: quasi-identifier", f'age: {{role: quasi-identifier, hierarchy: "{given}"}}')
    with pytest.raises(PolicyError, match="no file"):
        Policy.parse(text, folder=tmp_path)


FRAGMENTS = [
    *[
        "&a ",
        "*a ",
        "!!",
        "!t ",
        "!!timestamp ",
        "!!python/name:x ",
        "<<: ",
        "? ",
        "- ",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
    ],
    *[
        "[",
        "]",
        "{",
        "}",
        ": ",
        ", ",
        "\n",
        "\n  ",
        "|\n",
        ">\n",
        "'",
        '"',
        "#",
        "\\",
        '"\\ud800"',
        '"\\0"',
        "\x07",
        "\ufeff",
    ],
    *["2020-13-45", "1:1:1", "0b_", ".nan", "-.inf", "1.0e+999", "9" * 30, "-1", "true", "~", "=", "x", "age", "auto"],
    *["version: 1\n", "tree: ", "prefix: ", "intervals: ", "width: ", "order: ", "kind: ", "role: ", "hierarchy: "],
    *[
        "limits: ",
        "weights: ",
        "grid: ",
        "margin: ",
        "seed: ",
        "method: ",
        "mondrian: ",
        "loss: ",
        "certainty: ",
        "person: ",
        "population: ",
        "domains: ",
        "budget: ",
        "columns: ",
        "models: ",
        "k-anonymity: ",
        "t-closeness: ",
    ],
]


@pytest.mark.parametrize("seed", range(4))
def test_no_text_ends_in_another_error(seed, tmp_path):
    random = Random(seed)
    for _ in range(250):
        text = WHOLE if random.random() < 0.7 else ""
        for _ in range(random.randint(1, 6)):
            begin = random.randint(0, len(text))
            end = min(len(text), begin + random.choice([0, 0, 1, 5, 20]))
            pieces = random.choices(FRAGMENTS, k=random.randint(1, 4))
            text = text[:begin] + "".join(pieces) * random.choice([1, 1, 1, 60]) + text[end:]
        with suppress(PolicyError):
            Policy.parse(text, folder=tmp_path)


def test_no_bytes_end_in_another_error(tmp_path):
    random, path = Random(0), tmp_path / "p.yaml"
    for _ in range(200):
        content = bytearray(WHOLE.encode())
        for _ in range(random.randint(1, 8)):
            content[random.randrange(len(content))] = random.randrange(256)
        path.write_bytes(content if random.random() < 0.8 else random.randbytes(random.randint(0, 60)))
        with suppress(PolicyError):
            Policy.read(path)


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
    assert Policy.read(path) == Policy.read(str(path)) == Policy.parse(WHOLE, folder=tmp_path)
    assert Policy.read(path).to_dict() == Policy.parse(WHOLE).to_dict()


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
    "<<",
    "=",
    "!tag",
]


@pytest.mark.parametrize(
    "policy",
    [
        Policy.parse(WHOLE),
        Policy.parse("columns: {age: quasi-identifier}\nmodels: [k-anonymity: 5]"),
        Policy.make({"columns": dict.fromkeys(ODD_NAMES, "quasi-identifier"), "models": [{"k-anonymity": 2}]}),
        Policy.make(
            {
                "columns": {"a": {"role": "quasi-identifier", "order": ODD_NAMES}},
                "models": [KAnonymity(3)],
                "loss": SetNCP({"a": 0.5}),
            }
        ),
        Policy.make(
            {
                "columns": {"a": "quasi-identifier", "p": "identifier"},
                "models": [KAnonymity(3)],
                "method": {"mingen": {"tie_break": {"certainty": {"variant": "mg-ga"}}, "n_best": 2}},
                "loss": "minimal_distortion",
                "person": "p",
                "budget": {"seconds": 1.5},
            }
        ),
        Policy.make({"columns": {"a": "quasi-identifier"}, "models": [KAnonymity(3)], "method": Genetic(elite=0.2)}),
        Policy.make({"columns": {"a": "quasi-identifier"}, "models": [KAnonymity(3)], "method": Mondrian()}),
    ],
    ids=["whole", "defaults", "odd names", "odd order", "mingen", "genetic", "tight mondrian"],
)
def test_yaml_and_back(policy):
    assert Policy.parse(policy.to_yaml()) == policy
    assert Policy.make(policy.to_dict()) == policy


def test_to_yaml_is_as_people_write_it():
    text = Policy.parse(WHOLE).to_yaml()
    assert "  age: quasi-identifier\n" in text
    assert "😀" in Policy.make({"columns": {"😀": "quasi-identifier"}, "models": [KAnonymity(2)]}).to_yaml()


def test_what_two_entries_share_is_written_twice():
    """An alias in its place would not be read again."""
    rule = {"prefix": {"lengths": [4, 3]}}
    columns = {name: {"role": "quasi-identifier", "hierarchy": rule} for name in ("zip", "area")}
    policy = Policy.make({"columns": columns, "models": [KAnonymity(2)]})
    assert "*" not in policy.to_yaml()
    assert Policy.parse(policy.to_yaml()) == policy


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
    changed = policy.with_entries({"method.mondrian.cut": "gain", ("budget", "nodes"): 9})
    assert (changed.method, changed.budget.nodes) == (Mondrian(cut="gain", recoding="tight"), 9)
    assert (policy.method.cut, policy.budget.nodes) == ("median", 7)
    assert changed.columns == policy.columns
    assert changed.models == policy.models


def test_changed_by_nothing_is_the_same():
    policy = Policy.parse(WHOLE)
    assert policy.with_entries({}) == policy.with_entries({"method.mondrian.cut": "median"}) == policy


def test_changed_can_set_zero():
    assert Policy.parse(WHOLE).with_entries({"limits.suppression": 0}).limits.suppression == 0


def test_changed_begins_a_method_or_loss_of_another_name_anew():
    changed = Policy.parse(WHOLE).with_entries({"method.genetic.seed": 3, "loss": {"certainty": {}}})
    assert changed.method == Genetic(seed=3)
    assert changed.loss.weights == {}


def test_changed_columns():
    changed = Policy.parse(WHOLE).with_entries({"columns.age.kind": "integer", ("columns", "visit"): "identifier"})
    assert changed.columns["age"] == ColumnPolicy(role="quasi-identifier", kind="integer")
    assert changed.removed == ("name", "ssn", "visit")


def test_changed_models():
    assert Policy.parse(WHOLE).with_entries({"models": [{"k-anonymity": 11}]}).models == (KAnonymity(11),)
    assert Policy.parse(WHOLE).with_entries({"models": (KAnonymity(11),)}).models == (KAnonymity(11),)


@pytest.mark.parametrize(
    "given",
    [
        {"method.mondrian.cut": "x"},
        {"columns": {"age": "other"}},
        {"columns.nobody.kind": "integer"},
        {"columns.age.role.x": 1},
        {"models": []},
        {"models": [{"k-anonymity": 0}]},
        {"models.0": 1},
        {"version.x": 2},
        {"x": 1},
        {"": 1},
    ],
)
def test_changed_is_validated(given):
    with pytest.raises(PolicyError):
        Policy.parse(WHOLE).with_entries(given)


def test_policy_is_frozen():
    policy = Policy.parse(WHOLE)
    with pytest.raises(ValueError, match="frozen"):
        policy.method = "mingen"
    with pytest.raises(ValueError, match="frozen"):
        policy.columns["age"].role = "other"


def test_identifier_without_action_is_removed():
    policy = Policy.make({"columns": {"a": "identifier", "b": "quasi-identifier"}, "models": [KAnonymity(2)]})
    assert policy.columns["a"] == ColumnPolicy(role="identifier")
    assert policy.removed == ("a",)


def test_the_policy_of_the_quickstart_is_one(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "quickstart.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    policy = Policy.parse(text, folder=tmp_path)
    assert policy.method == Mondrian(recoding="readable", margin=2)
    assert Policy.parse(policy.to_yaml(), folder=tmp_path) == policy


@pytest.mark.parametrize("page", ["quickstart.md", "anonymize.md"])
def test_entries_on_the_pages_are_those_of_policies(page):
    """Each `name: {...}` at the top of a policy that a page names."""
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    entries = re.findall(r"`((?:method|loss|limits|budget|person): [^`]*)`", text)
    entries = [entry for entry in entries if "..." not in entry]
    assert entries
    for entry in entries:
        columns = "{age: quasi-identifier, birth_date: quasi-identifier, patient_id: identifier}"
        Policy.parse(f"columns: {columns}\nmodels: [k-anonymity: 2]\n{entry}\n")


# What is misspelt, and what has no effect.


def faults(text):
    """The lines of the message, without its hint."""
    return message(text).partition("\n\nHint: ")[0].splitlines()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("models:", "modles:", "modles: no such entry. Did you mean 'models'?"),
        (
            "version: 1",
            "format: csv",
            "format: no such entry. Known: version, read, columns, models, search_models, method, loss, importance, ",
        ),
        ("visit: other", "visit: {role: quasi identifier}", "columns.visit.role: Input should be 'identifier', "),
        ("visit: other", "visit: {role: quasi identifier}", "Did you mean 'quasi-identifier'?"),
        ("visit: other", "visit: quasi identifier", "Did you mean 'quasi-identifier'?"),
        (
            "visit: other",
            "visit: ID",
            "Input should be 'identifier', 'quasi-identifier', 'sensitive', 'other', 'leave out' or 'ask'",
        ),
        ("kind: category", "kind: categry", "Did you mean 'category'?"),
        ("kind: category", "kinds: category", "columns.zip.kinds: no such entry. Did you mean 'kind'?"),
        ("action: remove", "action: pseudonyms", "Did you mean 'pseudonym'?"),
        (
            "highest_risk: 0.2",
            "highest_risks: 0.2",
            "highest_risks: no such entry. Did you mean 'highest_risk'?",
        ),
        ("nodes: 7", "node: 7", "budget.node: no such entry. Did you mean 'nodes'?"),
        ("nodes: 7", "minutes: 7", "budget.minutes: no such entry. Known: seconds, nodes."),
        ("cut: median", "cuts: median", "method: method 'mondrian' has no option 'cuts'. did you mean 'cut'?"),
        ("loss: {ncp", "loss: {npc", "did you mean 'ncp'?"),
        ("k-anonymity", "k-anonimity", "did you mean 'k-anonymity'?"),
    ],
)
def test_what_is_misspelt_is_named_with_its_line_and_the_words_allowed(old, new, expected):
    text = edited(old, new)
    found = [line for line in faults(text) if expected in line]
    assert len(found) == 1, faults(text)
    assert found[0].startswith(f"p.yaml line {line_of(text, new)}: ")
    assert "?." not in found[0]
    assert ".." not in found[0]


def test_all_faulty_columns_are_named_in_one_run_with_their_lines():
    text = WHOLE
    wrong = {
        "name: identifier": "name: identifer",
        "action: remove": "action: hash",
        "age: quasi-identifier": "age: {role: quasi-identifier, kind: number}",
        "kind: category": "typ: category",
        "visit: other": "visit: {role: other, order: [a, b]}",
        "k-anonymity: 5": "k-anonymity: 0",
        "cut: median": "cut: mean",
        "highest_risk: 0.2": "highest_risk: 2",
    }
    for old, new in wrong.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    lines = [int(line.partition("p.yaml line ")[2].partition(":")[0]) for line in faults(text)]
    assert sorted(lines) == sorted(line_of(text, new) for new in wrong.values())


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("version: 1", "unknown: suppress", "unknown: has no effect: no column has a hierarchy"),
        ("version: 1", "population: people.csv", "population: has no effect: no model counts a population"),
        ("nodes: 7", "", "budget: has no effect: give seconds or nodes"),
        ("ssn: {role: identifier, action: remove}", "ssn: {role: identifier, kind: integer}", "kind goes with role"),
        ("visit: other", "visit: {role: other, order: [a, b]}", "order goes with role"),
        ("visit: other", "visit: {role: other, hierarchy: auto}", "hierarchy goes with role"),
        ("visit: other", "visit: {role: other, action: remove}", "action: remove goes with role: identifier"),
        ("weights: {age: 2}", "weights: {diagnosis: 2}", "names 'diagnosis', which columns does not declare as quasi"),
        ("weights: {age: 2}", "weights: {nobody: 2}", "names 'nobody', which columns does not declare as quasi"),
        ("recoding: tight", "grid: {visit: 2}", "names 'visit', which columns does not declare as quasi-identifier"),
        ("recoding: tight", "grid: {zip: 2}", "has no effect: 'zip' has a hierarchy, or is no column of numbers"),
        ("recoding: tight", "grid: {severity: 2}", "has no effect: 'severity' has a hierarchy, or is no column"),
        ("recoding: tight", "generations: 2", "method 'mondrian' has no option 'generations'"),
        ("recoding: tight", "n_rescored: 2", "n_rescored = 2, which has no effect"),
        ("mondrian: {cut: median, recoding: tight}", "mingen: {margin: 2}", "method 'mingen' has no option 'margin'"),
        ("version: 1", "person: nobody", "person: 'nobody' must be a column with the role identifier or other"),
        ("version: 1", "person: age", "person: 'age' must be a column with the role identifier or other"),
        ("version: 1", "seed: 7", "seed: no such entry"),
    ],
)
def test_an_entry_without_effect_is_an_error_with_its_line(old, new, expected):
    text = edited(old, new)
    (found,) = faults(text)
    assert expected in found
    assert found.startswith(f"p.yaml line {line_of(text, new or 'budget')}: ")


def test_a_grid_of_a_column_with_a_hierarchy_is_an_error_with_its_own_line():
    options = "\n  mondrian:\n    cut: median\n    grid:\n      age: 5"
    text = edited("age: quasi-identifier", "age: {role: quasi-identifier, hierarchy: auto}")
    text = text.replace(" {mondrian: {cut: median, recoding: tight}}", options)
    (found,) = faults(text)
    assert found.startswith(f"p.yaml line {line_of(text, 'age: 5')}: method.mondrian.grid.age: has no effect")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--generations", "3"], "--generations has no effect: the method 'mondrian' has no such option"),
        (["--n-best", "3"], "--n-best has no effect"),
        (["--seed", "3"], "--seed has no effect"),
        (["--method", "mingen", "--individuals", "3"], "--individuals has no effect: the method 'mingen'"),
        (["--method", "genetic", "--recoding", "set"], "--recoding has no effect: the method 'genetic'"),
        (
            ["--method", "genetic", "--mutation-rate", "3"],
            "given a mutation_rate, and partitions have no cells that mutate",
        ),
        (["--weights", "ill=2"], "names 'ill', which columns does not declare as quasi-identifier"),
        (["--kind", "id=integer"], "kind goes with role"),
        (["--population", "in.csv"], "population: has no effect"),
        (["--domains", "domains.txt"], "names no quasi-identifier or sensitive column"),
        (["--key-file", "key"], "gives no pseudonyms, but there is a key"),
        (["--set", "unknown=suppress"], "unknown: has no effect"),
        (["--set", "method.mondrian.seed=1"], "method 'mondrian' has no option 'seed'"),
        (["--set", "models.k-anonymity.k=3"], "models has no entries of its own"),
        (["--set", "method.mondrian"], "is not of the form PLACE=VALUE"),
    ],
)
def test_an_option_without_effect_is_an_error_and_nothing_is_written(here, options, expected):
    (here / "key").write_bytes(bytes(range(32)))
    (here / "domains.txt").write_text("town/north: a, b\n")
    outcome = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", *options)
    assert outcome.code == 2
    assert expected in outcome.err
    assert not (here / "out.csv").exists()


# A Python call and the command carry out the same file.

CARRIED = """\
columns:
  id: {role: identifier, action: pseudonym}
  age: {role: quasi-identifier, hierarchy: {intervals: {width: [5, 10]}}}
  job: {role: quasi-identifier, hierarchy: job.csv}
  region: quasi-identifier
  ill: sensitive
  note: other
models: [k-anonymity: 3, k-map: 4, distinct-l-diversity: {l: 2, sensitive: ill}]
method: {mondrian: {cut: median, recoding: label, margin: 1}}
loss: {ncp: {weights: {age: 2}}}
person: id
population: people.csv
domains: domains.csv
unknown: suppress
limits: {highest_risk: 0.25, average_risk: 0.25, suppression: 0.1}
accept: {note: a running number, id: a test}
budget: {nodes: 1000}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n = 80
    rows = [f"p{i % 60},{20 + i * 7 % 45},j{i % 5},r{i % 3},{'xyz'[i % 3]},n{i}" for i in range(n)]
    (tmp_path / "in.csv").write_text("\n".join(["id,age,job,region,ill,note", *rows, ""]))
    people = [f"{20 + i % 45},j{i % 5},r{i % 3}" for i in range(400)]
    (tmp_path / "people.csv").write_text("\n".join(["age,job,region", *people, ""]))
    (tmp_path / "job.csv").write_text("j0;low\nj1;low\nj2;high\nj3;high\n")
    (tmp_path / "domains.csv").write_text("region/all: r0, r1\n")
    (tmp_path / "policy.yaml").write_text(
        "columns: {id: identifier, age: quasi-identifier, job: quasi-identifier, region: other, ill: sensitive, "
        "note: other}\nmodels: [k-anonymity: 3]\naccept: {note: a running number}\n"
    )
    (tmp_path / "carried.yaml").write_text(CARRIED)
    (tmp_path / "key").write_bytes(bytes(range(32)))
    return tmp_path


KEY = bytes(range(32))


@pytest.mark.filterwarnings("ignore:no identifier tells")
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ([], CARRIED),
        (["--key-file", "key"], CARRIED),
        ([], "columns: {id: identifier, age: quasi-identifier, job: other, region: quasi-identifier, ill: sensitive, "
             "note: other}\nmodels: [k-anonymity: 4, t-closeness: {t: 0.5, sensitive: ill}]\naccept: {note: odd}\n"),
        ([], "columns: {id: identifier, age: quasi-identifier, job: quasi-identifier, region: other, ill: other, "
             "note: other}\nmodels: [k-anonymity: 3]\nmethod: {genetic: {seed: 3, generations: 2}}\nloss: certainty\n"
             "accept: {note: a number}\n"),
    ],
    ids=["no key", "all there is", "defaults", "genetic"],
)  # fmt: skip
def test_a_python_call_carries_out_a_policy_file_as_the_command_does(here, options, text):
    (here / "carried.yaml").write_text(text)
    outcome = run("anonymize", "in.csv", "-p", "carried.yaml", "-o", "out.csv", "--json", *options)
    key = KEY if options else None
    calls = [
        lambda: ht.anonymize("in.csv", policy="carried.yaml", key=key),
        lambda: ht.anonymize("in.csv", policy=Policy.read("carried.yaml"), key=key),
        lambda: Policy.read(here / "carried.yaml").protect(here / "in.csv", key=key),
        lambda: Policy.read("carried.yaml").protect(pl.read_csv("in.csv"), key=key),
    ]
    if outcome.code:
        for call in calls:
            with pytest.raises(PolicyError, match="there is no key"):
                call()
        assert "there is no key" in outcome.err
        return
    told = json.loads(outcome.out)
    written = pl.read_csv("out.csv", infer_schema=False)
    claim = manifest.read(here / "out.csv")["claim"]
    for call in calls:
        release = call()
        # Rows of a file are shuffled.
        assert sorted(release.frame.cast(pl.String).rows(), key=str) == sorted(written.rows(), key=str)
        assert release.claim.to_dict() == claim
        entries = release.to_dict()
        assert {**entries, "trace": None} == {name: told[name] for name in entries} | {"trace": None}


def test_a_policy_is_found_beside_itself_not_where_one_stands(here, monkeypatch):
    monkeypatch.chdir("/")
    release = ht.anonymize(here / "in.csv", policy=here / "carried.yaml", key=KEY)
    assert release.verify().passed
    for name in ("in.csv", "people.csv", "job.csv", "domains.csv"):
        with pytest.raises(InputError, match="the output is the input"):
            release.write(here / name, overwrite=True)


@pytest.mark.parametrize(
    "given",
    [
        {"models": [KAnonymity(2)]},
        {"quasi_identifiers": ["age"]},
        {"method": "mingen"},
        {"person": "id"},
        {"budget": Budget(nodes=5)},
        {"population": "people.csv"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_a_policy_takes_no_arguments_beside_it(here, given):
    with pytest.raises(InputError, match=f"a policy was given, and '{next(iter(given))}' too"):
        ht.anonymize("in.csv", policy="carried.yaml", key=KEY, **given)


def test_a_key_without_a_policy_is_an_error(here):
    with pytest.raises(InputError, match="key was given without a policy"):
        ht.anonymize("in.csv", quasi_identifiers=["age"], models=[KAnonymity(2)], key=KEY)


# Limits are part of what a release claims.


@pytest.mark.filterwarnings("ignore:no identifier tells")
@pytest.mark.parametrize("method", ["mondrian", "mingen", "genetic"])
def test_classes_are_as_large_as_the_limit_of_the_highest_risk_asks(here, method):
    """0.09 is less than 1/11: it takes classes of 12."""
    text = (here / "policy.yaml").read_text().replace("k-anonymity: 3", "k-anonymity: 5")
    more = f"method: {method}\nlimits: {{highest_risk: 0.09}}\nbudget: {{nodes: 50}}\n"
    (here / "policy.yaml").write_text(text + more)
    outcome = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert outcome.code == 0, outcome
    sizes = pl.read_csv("out.csv").group_by("age", "job").len()["len"].sort()
    assert sizes[0] >= 12
    assert sizes[0] < 24
    assert "highest risk <= 0.09" in outcome.out
    assert "  holds: highest risk <= 0.09\n" in run("verify", "out.csv").out
    release = ht.anonymize(
        "in.csv", quasi_identifiers=["age"], models=[KAnonymity(5)], highest_risk=0.09, method=method,
        budget=Budget(nodes=50), identifiers=["id"], roles="trust",
    )  # fmt: skip
    assert release.claim.limits == Limits(0.09)
    assert 12 <= release.verify().smallest_class < 24


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ("{highest_risk: 0.01}", 3),
        ("{average_risk: 0.01}", 3),
        ("{average_risk: 0.05}", 3),
        ("{average_risk: 0.9}", 0),
        ("{highest_risk: 0.0125}", 0),
    ],
)
def test_what_verify_would_refuse_is_never_written(here, limits, code):
    text = (here / "policy.yaml").read_text()
    (here / "policy.yaml").write_text(f"{text}limits: {limits}\n")
    outcome = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert outcome.code == code
    assert (here / "out.csv").exists() is (here / "out.csv.manifest.json").exists() is (code == 0)
    if code == 0:
        assert run("verify", "out.csv", "-p", "policy.yaml").code == 0
    else:
        assert "risk" in outcome.err or "k-anonymity" in outcome.err


def test_limits_hold_for_suppressed_records_too(here):
    """They are one class of stars: as large as the limits ask, or dropped."""
    ills = ["x"] * 40 + ["y"] * 4 + ["z"] * 4
    data = pl.DataFrame({"age": [20 + i % 6 for i in range(48)], "ill": ills})
    models = [KAnonymity(2), AlphaKAnonymity(0.7, 2, "ill")]
    for limit in (None, 0.125):
        release = ht.anonymize(
            data, quasi_identifiers=["age"], models=models, suppression_limit=0.9, highest_risk=limit
        )
        assert release.n_suppressed > 0
        verdict = release.verify()
        assert verdict.passed, verdict
        assert verdict.smallest_class >= (2 if limit is None else 8)


def test_a_request_is_what_protect_carries_out(tmp_path):
    path = tmp_path / "people.csv"
    ht.datasets.people(200).select("sex", "postcode", "diagnosis").write_csv(path)
    columns = {"sex": "quasi-identifier", "postcode": "quasi-identifier", "diagnosis": "sensitive"}
    rules = Policy.make({"columns": columns, "models": [{"k-anonymity": 5}]})
    told = []
    asked = rules.request(path, progress=told.append)
    release = protect(rules.open_table(path), asked)
    assert release.loss == rules.protect(path).loss
    assert path.resolve() in asked.inputs
    assert told[-1] == 1.0
    with pytest.raises(PolicyError, match="gives no pseudonyms, but there is a key"):
        rules.request(path, key=b"a secret of many bytes")
    with pytest.raises(PolicyError, match="'postcode'"):
        Policy.make({"columns": {"sex": "quasi-identifier"}, "models": [{"k-anonymity": 5}]}).open_table(path)


def test_every_fault_of_a_long_file_finds_its_line_at_once():
    lines = "".join(f"  c{i}: othr\n" for i in range(300))
    plain_yaml._entries_by_key.cache_clear()
    with pytest.raises(PolicyError, match=r"policy line 301: columns\.c299"):
        Policy.parse(f"columns:\n{lines}")
    # Each mapping is gone through once, not once for each of its faults.
    assert plain_yaml._entries_by_key.cache_info().misses <= 2
