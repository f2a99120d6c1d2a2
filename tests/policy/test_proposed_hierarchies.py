"""What a scan proposes to generalize columns by, and that what is proposed runs as it stands."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.columns.column import Kind, from_texts
from hushtable.hierarchy.rules import to_dict
from hushtable.policy import Policy
from hushtable.policy.proposal import propose_rule

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

CASES: list[tuple[str, Kind | None, list[str], dict[str, Any] | None]] = [
    ("postcode", "category", ["01067", "01069", "80331"], {"prefix": {"lengths": [4, 3, 2, 1]}}),
    ("postcode", "integer", ["1067", "10115", "80331"], {"prefix": {"lengths": [4, 3, 2, 1]}}),
    ("postcode", "category", ["SW1A 1AA", "E1 6AN", "N1 9GU"], {"prefix": {"lengths": [6, 4, 2]}}),
    ("postcode", "category", ["01067", "01069", "80331", "unbekannt"], {"prefix": {"lengths": [4, 3, 2, 1]}}),
    ("", "category", [*(f"{n:04}" for n in range(20)), "unbekannt"], {"prefix": {"lengths": [3, 2, 1]}}),
    ("", "category", ["0101", "0102", "0201"], {"prefix": {"lengths": [3, 2, 1]}}),
    ("", "category", ["I21.4", "G40.9", "O80", "E1109"], {"prefix": {"lengths": [3, 1]}}),
    (
        "",
        "date",
        ["2020-01-01", "2021-01-01", "2022-02-02"],
        {"dates": {"levels": ["month", "quarter", "year", "decade"]}},
    ),
    (
        "nation",
        "category",
        ["France", "PE", "Polen", "Atlantis"],
        {"dictionary": {"of": "countries", "language": "en"}},
    ),
    ("nation", "category", ["France", "Lemuria", "Atlantis"], None),
    ("language", "category", ["German", "French", "Spanish"], None),
    ("education", "category", ["HS-grad", "Bachelors", "10th"], {"dictionary": {"of": "education", "language": "en"}}),
    ("education", "integer", ["9", "13", "14"], None),
    ("age", "integer", ["31", "32", "33"], None),
    ("sex", "category", ["f", "m"], None),
    ("postcode", "category", ["01067", "01069"], None),
    ("occupation", "category", ["cook", "clerk", "nurse"], None),
    ("postcode", "category", ["1", "2", "3"], None),
    ("nation", "category", [], None),
]


@pytest.mark.parametrize(("topic", "kind", "texts", "rule"), CASES)
def test_proposed_rule(topic: str, kind: Kind | None, texts: list[str], rule: dict[str, Any] | None) -> None:
    column, _ = from_texts("x", texts, kind)
    found = propose_rule(column, topic)
    assert (None if found is None else to_dict(found)) == rule
    if found is not None:
        ht.Hierarchy.build(found, column)


def roles_tables() -> Any:
    return pytest.importorskip("roles_tables", reason="the benchmarks are not part of a source distribution").TABLES


MADE: dict[str, Callable[[], pl.DataFrame]] = {"people": lambda: ht.datasets.people(n=2_000, seed=0)}
PROPOSED = {
    "people": 3,
    "hospital": 1,
    "school": 1,
    "payroll": 0,
    "web_log": 1,
    "survey": 0,
    "members": 1,
    "ratings": 1,
}


def runs_as_it_stands(path: Path, *accepted: str) -> Policy:
    """Scan a file and run what the scan tells to run, with the gate open."""
    scanned = done("scan", path, "-p", "policy.yaml")
    command = shlex.split(scanned.err.strip().splitlines()[-1])
    # Whether columns are kept that single people out is not what is asked here.
    opened = ["limits.exposure.rate=1.0", *(f"accept.{name}=a test" for name in accepted)]
    outcome = run(*command[1:], *(word for each in opened for word in ("--set", each)))
    assert outcome.code == 0, outcome.err
    policy = Policy.read("policy.yaml")
    # Where persons are counted and not published, only the original tells them.
    done("verify", next(Path().glob("*.release.csv")), *(["--original", path] if policy.person else []))
    return policy


@pytest.mark.parametrize("name", PROPOSED)
def test_a_scanned_policy_runs_as_it_stands(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = (MADE[name] if name in MADE else roles_tables()[name])()
    table.write_csv("in.csv")
    # Every path of the log has one method, which follows from it.
    accepted = ["method"] if name == "web_log" else []
    assert len(runs_as_it_stands(Path("in.csv"), *accepted).hierarchies()) == PROPOSED[name]


def test_adult_is_scanned_with_dictionaries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_file: Callable[[str], Path]
) -> None:
    monkeypatch.chdir(tmp_path)
    policy = runs_as_it_stands(shared_file("data/arx_adult/adult.csv"))
    assert policy.hierarchies() == {
        "education": {"dictionary": {"of": "education", "language": "en"}},
        "native-country": {"dictionary": {"of": "countries", "language": "en"}},
    }


def test_a_rule_stands_on_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(
        f"{i % 90 + 10},{10_000 + i % 50},{['France', 'Peru', 'Togo'][i % 3]},19{i % 60 + 10}-01-02\n"
        for i in range(300)
    )
    Path("in.csv").write_text("age,postcode,country,birth date\n" + rows)
    done("scan", "in.csv", "-p", "policy.yaml")
    lines = [line.strip() for line in Path("policy.yaml").read_text().splitlines()]
    assert "hierarchy: {prefix: [4, 3, 2, 1]}" in lines
    assert lines[lines.index("hierarchy: {prefix: [4, 3, 2, 1]}") - 1] == "kind: category"
    assert "hierarchy: {dictionary: countries}" in lines
    dated = lines.index("# hierarchy: {dates: [month, quarter, year, decade]}")
    assert "lose less" in lines[dated - 1]
    assert max(map(len, Path("policy.yaml").read_text().splitlines())) <= 80
    assert "birth date" not in Policy.read("policy.yaml").hierarchies()


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "other", "identifier"])
def test_what_is_asked_may_become_anything(role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("age,code\n" + "".join(f"{i % 7},0{i % 3}{i % 2}\n" for i in range(60)))
    Path("policy.yaml").write_text(
        "columns: {age: quasi-identifier, code: {role: ask, kind: category, hierarchy: {prefix: [2, 1]}}}\n"
        "models: [k-anonymity: 2]\n"
    )
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--ask", role)
    assert ("code" in Path("out.csv").read_text()) == (role != "identifier")
