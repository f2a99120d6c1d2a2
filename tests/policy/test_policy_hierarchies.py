"""Hierarchies in a policy: what is accepted, the line of what is not, and the way to YAML and back."""

from pathlib import Path

import pytest

from hushtable import Hierarchy, Policy, PolicyError
from hushtable.columns.column import from_texts

WHOLE = """\
columns:
  age: {role: quasi-identifier, hierarchy: auto}
  zip:
    role: quasi-identifier
    kind: category
    hierarchy: {prefix: [4, 3]}
  job: {role: quasi-identifier, hierarchy: ladders/job.csv}
  visit: {role: quasi-identifier, hierarchy: {dates: }}
  weight: {role: quasi-identifier, hierarchy: {intervals: {width: [0.5, 2.5], low: 40}}}
  grade:
    role: sensitive
    hierarchy:
      tree:
        low: [1, 2]
        high: [3]
models: [k-anonymity: 5]
"""


def test_every_form_goes_to_yaml_and_back() -> None:
    policy = Policy.parse(WHOLE)
    assert Policy.parse(policy.to_yaml()) == policy
    assert policy.with_entries({"budget.seconds": 3}).hierarchies() == policy.hierarchies()
    assert policy.hierarchies() == {
        "age": "auto",
        "zip": {"prefix": {"lengths": [4, 3]}},
        "job": Path("ladders/job.csv"),
        "visit": {"dates": {"levels": ["month", "quarter", "year", "decade"]}},
        "weight": {"intervals": {"width": [0.5, 2.5], "low": 40}},
        "grade": {"tree": {"low": ["1", "2"], "high": ["3"]}},
    }


def test_what_a_policy_holds_can_be_built(tmp_path: Path) -> None:
    (tmp_path / "ladders").mkdir()
    (tmp_path / "ladders" / "job.csv").write_text("clerk;office\nwelder;works\n", encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(WHOLE, encoding="utf-8")
    given = Policy.read(tmp_path / "policy.yaml").hierarchies()
    columns = {
        "age": ["17", "40"],
        "zip": ["01234"],
        "job": ["welder", "clerk"],
        "visit": ["2024-05-01"],
        "weight": ["61.3"],
        "grade": ["3", "1"],
    }
    built = {name: Hierarchy.build(given[name], from_texts(name, texts)[0]) for name, texts in columns.items()}
    assert built["job"].labels[1] == ("office", "works")
    assert built["weight"].labels[1:3] == (("[61, 61.5)",), ("[60, 62.5)",))


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("{prefix: [4, 3]}", "{prefix: [3, 4]}", 6, "prefix: lengths = "),
        ("{prefix: [4, 3]}", "{suffix: [3]}", 6, "unknown hierarchy rule 'suffix'"),
        ("{prefix: [4, 3]}", "4", 6, "expected auto, units, the path of a hierarchy file, or a rule"),
        ("low: [1, 2]", "low: [1, 3]", 12, "value 3: the value of value 2 again"),
        ("hierarchy: auto}", "hierarchy: {intervals: {width: [2, 3]}}}", 2, "width 3 is no multiple of 2"),
        ("age: {role: quasi-identifier", "age: {role: other", 2, "hierarchy goes with role"),
    ],
)
def test_faults_name_the_line(old: str, new: str, line: int, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.parse(WHOLE.replace(old, new, 1), "p.yaml")
    assert f"p.yaml line {line}: " in str(caught.value)
    assert message in str(caught.value)


def test_a_file_that_is_not_there_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(WHOLE, encoding="utf-8")
    with pytest.raises(PolicyError, match=r"line 7: columns.job.hierarchy: no file 'ladders/job.csv'"):
        Policy.read(path)
