"""The command compare."""

import json

import polars as pl
import pytest

import hushtable as ht
from command import done, run, tree
from hushtable.policy import Policy
from hushtable.policy.comparing import INTERNAL, KNEE, compare

POLICY = """
columns: {birth_date: quasi-identifier, sex: quasi-identifier, postcode: quasi-identifier, diagnosis: sensitive}
models: [k-anonymity: 5]
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    ht.datasets.people(300, seed=1).select("birth_date", "sex", "postcode", "diagnosis").write_csv(path)
    (tmp_path / "policy.yaml").write_text(POLICY)
    return path


def options(table, *more):
    return [table, "-p", table.with_name("policy.yaml"), "--k", "2,5,20", "--suppression", "0,0.1", *more]


def test_says_what_every_run_costs_and_that_it_is_internal(table):
    before = tree(table.parent)
    outcome = done("compare", *options(table))
    assert outcome.out.startswith(f"careful: {INTERNAL}.")
    assert "300 records are compared on birth_date, sex and postcode; classes count records." in outcome.out
    compared = compare(table, Policy.parse(POLICY), k=[2, 5, 20], suppression=[0, 0.1])
    for row in compared.rows:
        assert f"{row.n_bytes:,}" in outcome.out
        assert f"{row.loss_by_column['postcode']:.4f}" in outcome.out
    knee = compared.knee
    assert f"Bend of the curve: k = {knee.k}, {knee.line}: {KNEE}." in outcome.out
    assert outcome.out.count("  bend") == 1
    assert tree(table.parent) == before


def test_json_is_the_comparison(table):
    told = json.loads(done("compare", *options(table, "--json", "--threads", "1")).out)
    compared = compare(table, Policy.parse(POLICY), k=[2, 5, 20], suppression=[0, 0.1])
    facts, compared = list(compared.facts), compared.to_dict()
    for rows in (told["rows"], compared["rows"]):
        for row in rows:
            del row["seconds"]
    assert told == {"form": 1, "file": "people.csv", "facts": facts, **compared}
    assert told["internal"] == INTERNAL


@pytest.mark.parametrize(("name", "begin"), [("risk.png", b"\x89PNG"), ("risk.SVG", b"<?xml")])
def test_the_plot_is_written_whole_and_never_over_another_file(table, name, begin):
    picture = table.with_name(name)
    done("compare", *options(table, "--plot", picture))
    assert picture.read_bytes().startswith(begin)
    assert sorted(tree(table.parent)) == sorted(["people.csv", "policy.yaml", name])
    picture.write_text("mine")
    assert "exists" in run("compare", *options(table, "--plot", picture)).err
    assert picture.read_text() == "mine"
    done("compare", *options(table, "--plot", picture, "--force"))
    assert picture.read_bytes().startswith(begin)


def test_external_is_refused_and_says_why(table):
    outcome = run("compare", *options(table, "--external"))
    assert outcome.code == 2
    assert "shows what every k costs, which helps to undo a release" in outcome.err
    assert outcome.out == ""


def test_exit_3_only_where_nothing_is_feasible(table):
    some = done("compare", *options(table)[:3], "--k", "400,5", "--suppression", "0")
    assert "Not feasible: k = 400, mondrian, readable, suppression 0: no release" in some.out
    none = run("compare", *options(table)[:3], "--k", "400", "--plot", table.with_name("risk.png"))
    assert none.code == 3
    assert none.out.count("Not feasible") == 3
    assert not table.with_name("risk.png").exists()
    told = run("compare", *options(table)[:3], "--k", "400", "--json")
    assert told.code == 3
    assert len(json.loads(told.out)["rows"]) == 3


def test_roles_that_are_asked_for_are_decided(table):
    table.with_name("policy.yaml").write_text(POLICY.replace("sex: quasi-identifier", "sex: ask"))
    assert "asks for the role of 'sex'" in run("compare", *options(table)).err
    outcome = done("compare", *options(table, "--ask", "quasi-identifier", "--recoding", "cut,tight"))
    assert "mondrian, cut, suppression 0.1" in outcome.out
    assert "mondrian, tight, suppression 0.1" in outcome.out


def test_pseudonyms_need_no_key_because_nothing_is_written(table):
    policy = table.with_name("policy.yaml")
    policy.write_text(POLICY.replace("sex: quasi-identifier", "sex: {role: identifier, action: pseudonym}"))
    assert run("compare", *options(table)).code == 0
    key = table.with_name("key.bin")
    key.write_bytes(b"a secret of many bytes")
    assert "a secret" not in done("compare", *options(table, "--key-file", key, "--json")).out


def test_no_cell_is_shown(table):
    people = pl.read_csv(table, infer_schema=False)
    shown = done("compare", *options(table)).out + done("compare", *options(table, "--json")).out
    assert not any(cell in shown for name in ("birth_date", "diagnosis") for cell in people[name])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--k", "two"], "--k 'two' is no list of numbers"),
        (["--k", "2.5"], "--k '2.5'"),
        (["--k", ""], "k is empty"),
        (["--k", "0"], "k = 0"),
        (["--suppression", "2"], "holds 2.0"),
        (["--suppression", "nan"], "holds nan"),
        (["--recoding", "redable"], "did you mean 'readable'"),
        (["--method", "magic"], "holds 'magic'"),
        (["--plot", "risk.txt"], "ending '.txt'"),
        (["--plot", "policy.yaml"], "ending '.yaml'"),
        (["--force"], "--force has no effect without --plot"),
        (["--ask", "other"], "asks for no role"),
    ],
)
def test_slips_are_told_and_leave_nothing_behind(table, more, words, monkeypatch):
    monkeypatch.chdir(table.parent)
    before = tree(table.parent)
    outcome = run("compare", *options(table, *more))
    assert outcome.code == 2
    assert words in outcome.err
    assert outcome.out == ""
    assert tree(table.parent) == before
