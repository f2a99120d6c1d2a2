"""Policies: every fault with its line, and the way to YAML and back."""

import traceback
from contextlib import suppress
from itertools import pairwise
from random import Random

import numpy as np
import pytest
import yaml

from hushtable.anonymizers import Genetic, Mondrian
from hushtable.errors import ColumnError, PolicyError
from hushtable.models import DistinctLDiversity, KAnonymity
from hushtable.policy import ColumnPolicy, Policy, PolicyLimits
from hushtable.quality.loss import SetNCP

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
    assert (policy.method, policy.loss, policy.missing) == (Mondrian(recoding="cut"), SetNCP(), "category")
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
    changed = policy.changed({"method.mondrian.cut": "gain", ("budget", "nodes"): 9})
    assert (changed.method, changed.budget.nodes) == (Mondrian(cut="gain", recoding="tight"), 9)
    assert (policy.method.cut, policy.budget.nodes) == ("median", 7)
    assert changed.columns == policy.columns
    assert changed.models == policy.models


def test_changed_by_nothing_is_the_same():
    policy = Policy.parse(WHOLE)
    assert policy.changed({}) == policy.changed({"method.mondrian.cut": "median"}) == policy


def test_changed_can_set_zero():
    assert Policy.parse(WHOLE).changed({"limits.suppression": 0}).limits.suppression == 0


def test_changed_begins_a_method_or_loss_of_another_name_anew():
    changed = Policy.parse(WHOLE).changed({"method.genetic.seed": 3, "loss": {"certainty": {}}})
    assert changed.method == Genetic(seed=3)
    assert changed.loss.weights == {}


def test_changed_columns():
    changed = Policy.parse(WHOLE).changed({"columns.age.kind": "integer", ("columns", "visit"): "identifier"})
    assert changed.columns["age"] == ColumnPolicy(role="quasi-identifier", kind="integer")
    assert changed.removed == ("name", "ssn", "visit")


def test_changed_models():
    assert Policy.parse(WHOLE).changed({"models": [{"k-anonymity": 11}]}).models == (KAnonymity(11),)
    assert Policy.parse(WHOLE).changed({"models": (KAnonymity(11),)}).models == (KAnonymity(11),)


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
        Policy.parse(WHOLE).changed(given)


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
