"""One result, one set of words: terminal, notebook, page and JSON say the same facts in the same order."""

import html
import json
from pathlib import Path

import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.cli.attackers import Attacking, _measure_figures, _run_attacks
from hushtable.io import frames
from hushtable.release import manifest
from hushtable.risk import Attacks, attack_written, count_copies
from hushtable.wording import CAREFUL

PEOPLE = ht.datasets.people(n=80, seed=1).select("name", "sex", "postcode", "diagnosis", "income")
KNOWN = ["sex", "postcode"]
POLICY = """columns:
  {name: identifier, sex: quasi-identifier, postcode: quasi-identifier, diagnosis: sensitive, income: other}
models: [k-anonymity: 3]
limits: {exposure: {rate: 1}}
"""
RELEASE = ["anonymize", "people.csv", "-p", "policy.yaml", "-o", "again.csv", "--verbose"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table of people, a synthetic one, a policy, a release, and records with persons."""
    folder = tmp_path_factory.mktemp("facts")
    PEOPLE.write_csv(folder / "people.csv")
    (folder / "table.csv").write_text("g,n\na,x\nb,x\nc,7\nTotal,50\n")
    PEOPLE[::2].drop("name").write_csv(folder / "half.csv")
    PEOPLE.with_columns(pl.col("income").shuffle(seed=3)).write_csv(folder / "made.csv")
    (folder / "policy.yaml").write_text(POLICY)
    ht.Policy.read(folder / "policy.yaml").protect(folder / "people.csv").write(folder / "out.csv")
    return folder


def attacks_on(folder: Path) -> Attacks:
    """Return what the command of the same name finds."""
    tables = frames.read(folder / "people.csv"), frames.read(folder / "made.csv")
    found = _run_attacks(*tables, None, Attacking(attacks=30, secret=["sex"]))
    return Attacks(found.attacks, _measure_figures(*tables, None, ["sex"], 0), count_copies(*tables))


# Of each result: the command that finds it, and the same in Python.
RESULTS = {
    "RiskAssessment": (
        "assess people.csv --qi sex,postcode --sensitive diagnosis --population-size 1000",
        lambda folder: ht.assess(
            folder / "people.csv", quasi_identifiers=KNOWN, sensitive=["diagnosis"], population_size=1000
        ),
    ),
    "Mpuccs": (
        "mpuccs people.csv made.csv --sizes 1,2",
        lambda folder: ht.mpuccs(folder / "people.csv", folder / "made.csv", n_cols=[1, 2]),
    ),
    "MinimalUniques": ("uniques people.csv", lambda folder: ht.minimal_uniques(folder / "people.csv")),
    "Keys": ("keys people.csv", lambda folder: ht.minimal_keys(folder / "people.csv")),
    "Attacks": ("attack people.csv made.csv --attacks 30 --secret sex", attacks_on),
    "Unicity": (
        "unicity people.csv --person diagnosis --item sex --known 1,2",
        lambda folder: ht.unicity(folder / "people.csv", person="diagnosis", item=["sex"], known=[1, 2]),
    ),
    "Linking": (
        "link half.csv people.csv --on sex,postcode --control made.csv",
        lambda folder: ht.link(folder / "half.csv", folder / "people.csv", on=KNOWN, control=folder / "made.csv"),
    ),
    "JoinRisk": (
        "join-risk half.csv people.csv --on sex,postcode --truth diagnosis",
        lambda folder: ht.join_risk(folder / "half.csv", folder / "people.csv", on=KNOWN, truth="diagnosis"),
    ),
    "OwnAttacks": (
        "attack-release out.csv",
        lambda folder: attack_written(frames.read(folder / "out.csv"), manifest.claim_of(folder / "out.csv")),
    ),
    "TableAudit": (
        "check table.csv --threshold 10",
        lambda folder: ht.check_tables(folder / "table.csv", threshold=10),
    ),
    "Release": (
        " ".join(RELEASE),
        lambda folder: ht.Policy.read(folder / "policy.yaml").protect(folder / "people.csv"),
    ),
    "PerturbedRelease": (
        "perturb people.csv --columns income --keep sex --method rank_swap -o moved.csv",
        lambda folder: ht.perturb(folder / "people.csv", columns=["income"], keep=["sex"], method="rank_swap"),
    ),
    "Comparison": (
        "compare people.csv -p policy.yaml --k 2,90 --suppression 0",
        lambda folder: ht.compare(folder / "people.csv", folder / "policy.yaml", k=[2, 90], suppression=[0]),
    ),
}


def in_order(text: str, facts: tuple[str, ...]) -> None:
    """Raise AssertionError unless all facts stand in a text, each behind the one before it."""
    place = 0
    for fact in facts:
        place = text.find(fact, place)
        assert place >= 0, f"{fact!r} is missing, or stands too early, in\n{text}"
        place += len(fact)


@pytest.mark.parametrize("name", RESULTS)
def test_every_place_says_the_same_facts_in_the_same_order(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    asked, find = RESULTS[name]
    result = find(folder)
    assert type(result).__name__ == name
    facts = result.facts
    assert len(facts) > 1
    assert all(fact.endswith(".") and (fact.startswith(CAREFUL) or not fact[0].islower()) for fact in facts), facts
    plain = tuple(fact.removeprefix(CAREFUL) for fact in facts)
    in_order(html.unescape(result._repr_html_()), facts)
    report = ht.report(result)
    in_order(html.unescape(report.to_html()), plain)
    assert report.facts == facts
    told = json.loads(json.dumps(report.to_dict()))
    assert tuple(told["facts"]) == facts
    assert [block["text"] for block in told["sections"][0]["blocks"]] == [*plain]
    in_order(run(*asked.split()).out, facts)
    again = run(*asked.split(), "--json", *(["--force"] if name.endswith("Release") else []))
    assert tuple(json.loads(again.out)["facts"]) == facts


def test_what_a_kept_column_gives_away_is_among_the_first_lines(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    lines = run("anonymize", "people.csv", "-p", "policy.yaml", "-o", "third.csv").out.splitlines()
    assert len(lines) <= 12
    assert any(line.startswith("careful: a reader who also knows income") for line in lines[:3]), lines
