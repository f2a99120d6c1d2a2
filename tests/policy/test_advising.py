"""Advice: what is said of a change is what a release by it loses; drawn policies are in `campaign.advice`."""

import io
import json
import re
import shlex
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import hushtable as ht
from campaign.advice import follow
from command import done, run, tree
from hushtable.errors import InputError
from hushtable.policy import Policy
from hushtable.policy.comparing import INTERNAL

POLICY = """
columns: {birth_date: quasi-identifier, sex: quasi-identifier, postcode: quasi-identifier, diagnosis: sensitive}
models: [k-anonymity: 5, distinct-l-diversity: {l: 2, sensitive: diagnosis}]
"""
PEOPLE = ht.datasets.people(300, seed=1).select("birth_date", "sex", "postcode", "diagnosis")


@pytest.fixture
def table(tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path / "people.csv"


@pytest.fixture(scope="module")
def advice():
    return Policy.parse(POLICY).advise(PEOPLE)


def naive_gain(advice, change):
    """Return by how much the mean over the columns that stay falls."""
    stay = [name for name in advice.by_column if name in change.by_column]
    return sum(advice.by_column[name] - change.by_column[name] for name in stay) / len(stay)


def test_changes_are_sorted_by_what_they_bring_back_and_protection_goes_first(advice):
    kinds = [change.kind for change in advice.changes]
    assert set(kinds) == {"leave out", "suppression", "importance", "k", "coarsen"}
    assert kinds[-1] == "k"
    gains = [change.gain for change in advice.changes[:-1]]
    assert gains == sorted(gains, reverse=True)
    for change in advice.changes:
        assert change.gain == pytest.approx(naive_gain(advice, change), abs=1e-12)
    assert len(advice.best) <= 3
    assert all(change.gain >= 0.001 for change in advice.best)


def test_who_follows_it_loses_what_was_said(advice):
    for change in advice.changes:
        release = Policy.parse(POLICY).with_entries(change.entries).protect(PEOPLE)
        assert (release.quality.set_ncp, release.quality.by_column) == (change.after, change.by_column)
        by_hand = Policy.make(follow(Policy.parse(POLICY).to_dict(), change.to_dict()["entries"]))
        assert by_hand == Policy.parse(POLICY).with_entries(change.entries)


def test_facts_name_the_column_where_most_is_lost(advice):
    most = max(advice.by_column, key=advice.by_column.get)
    assert advice.facts[0] == f"careful: {INTERNAL}."
    assert f"most is lost in {most}, {100 * advice.by_column[most]:.1f} %." in advice.facts[1]
    assert json.loads(json.dumps(advice.to_dict()))["best"] == [0, 1, 2][: len(advice.best)]
    assert "<td>" in advice._repr_html_()
    release = Policy.parse(POLICY).protect(PEOPLE)
    assert any(f"; most is lost in {most} ({advice.by_column[most]:.4f}), " in fact for fact in release.facts)


def test_a_column_left_out_of_all_entries_that_name_it():
    rules = Policy.parse(POLICY).with_entries(
        {("importance",): {"postcode": 3, "sex": 2}, ("accept",): {"postcode": "nobody knows it"}}
    )
    change = next(each for each in rules.advise(PEOPLE).changes if each.what == "without postcode")
    followed = rules.with_entries(change.entries)
    assert (followed.importance, followed.accept, followed.removed) == ({"sex": 2}, {}, ("postcode",))
    assert followed.protect(PEOPLE).quality.set_ncp == change.after


def test_records_that_no_class_can_hold_are_suppressed_as_in_the_release_that_follows():
    # Who leaves a column out does not say any more that its numbers are a category: they are in another order then.
    table = pl.DataFrame(
        {
            "ward": [i * 37 % 120 for i in range(200)],
            "age": [i * i % 61 for i in range(200)],
            "ill": ["flu", "flu", "flu", "gout"] * 50,
        }
    )
    rules = Policy.parse(
        "columns: {ward: {role: quasi-identifier, kind: category}, age: quasi-identifier, ill: sensitive}\n"
        "models: [alpha-k-anonymity: {alpha: 0.7, k: 2, sensitive: ill}]\nlimits: {suppression: 0.4}"
    )
    change = next(each for each in rules.advise(table).changes if each.what == "without ward")
    release = rules.with_entries(change.entries).protect(table)
    told = (change.after, change.by_column, change.n_suppressed)
    assert told == (release.quality.set_ncp, release.quality.by_column, release.n_suppressed)


def test_the_page_says_what_leaving_out_a_column_brings():
    names = ("birth_date", "sex", "postcode", "education", "marital_status", "occupation", "nationality", "income")
    rules = Policy.make({"columns": dict.fromkeys(names, "quasi-identifier"), "models": [{"k-anonymity": 5}]})
    people = ht.datasets.people(30_000).select(names)
    lost = rules.protect(people).quality
    stay = sum(share for name, share in lost.by_column.items() if name != "occupation") / 7
    after = rules.with_entries({("columns", "occupation"): "leave out"}).protect(people).quality.set_ncp
    page = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
    told = page.partition("Without `occupation`")[2].partition("\n- ")[0]
    assert re.findall(r"[\d.]+ %", told) == [f"{100 * share:.1f} %" for share in (lost.set_ncp, after, stay, after)]


def test_every_unit_that_a_rule_of_dates_may_have_is_named():
    units = ["day", "half-year", "5 years", "20 years", "40 years"]
    for finer, coarser in pairwise(units):
        rule = {"birth_date": {"role": "quasi-identifier", "hierarchy": {"dates": [finer, coarser]}}}
        rules = Policy.make({"columns": {**rule, "sex": "quasi-identifier"}, "models": [{"k-anonymity": 5}]})
        changes = rules.advise(PEOPLE.select("birth_date", "sex")).changes
        (change,) = (each for each in changes if each.kind == "coarsen")
        assert change.what.startswith("birth_date ")
        assert change.what.endswith(coarser)


def test_time_ends_searches_and_says_which(advice):
    rules = Policy.parse(POLICY)
    release = rules.protect(PEOPLE)
    hurried = rules.advise(PEOPLE, release=release, cpu_seconds=1e-9)
    assert hurried.changes == ()
    assert set(hurried.untried) == {change.what for change in advice.changes}
    assert hurried.by_column == advice.by_column
    assert hurried.describe_best()[0].startswith("Not tried, for lack of time: without ")


def test_a_budget_in_seconds_is_refused():
    rules = Policy.parse(f"{POLICY}budget: {{seconds: 9}}")
    with pytest.raises(InputError, match="budget is in seconds"):
        rules.advise(PEOPLE)


def test_files_and_lazy_frames_get_the_same_advice(advice, tmp_path):
    (tmp_path / "folder").mkdir()
    PEOPLE.write_parquet(tmp_path / "folder" / "a.parquet")
    rules = Policy.parse(POLICY)
    for data in (PEOPLE.lazy(), tmp_path / "folder"):
        told = rules.advise(data)
        assert {each.what: each.after for each in told.changes} == {each.what: each.after for each in advice.changes}


def test_an_unmet_change_says_why():
    table = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["a", "a", "b", "b"]})
    rules = Policy.parse("columns: {age: quasi-identifier, ill: quasi-identifier}\nmodels: [k-anonymity: 2]\n")
    kinds = {change.kind for change in rules.advise(table).changes}
    assert "k" not in kinds
    assert rules.with_entries({("columns", "ill"): "other"}).advise(table).changes[0].kind != "leave out"


def test_the_command_advises_only_who_asks(table):
    options = ["anonymize", table, "-p", table.with_name("policy.yaml"), "-o", table.with_name("o.csv"), "--force"]
    told = done(*options)
    assert "; most is lost in " in told.out
    assert "bring most back" not in told.out
    assert "What would bring most back" in done(*options, "--advise").out
    assert "--advise has no effect with --json" in run(*options, "--advise", "--json").err
    refused = run(*options, "--advise", "--seconds", "5")
    assert refused.code == 2
    assert "budget is in seconds" in refused.err


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def test_who_watches_a_terminal_is_advised(table, monkeypatch):
    options = ["anonymize", table, "-p", table.with_name("policy.yaml"), "-o", table.with_name("o.csv"), "--force"]
    monkeypatch.setattr("command.io.StringIO", _Terminal)
    assert "What would bring most back" in done(*options).out
    for silent in (["--no-advise"], ["--json"], ["--seconds", "5"]):
        assert "bring most back" not in done(*options, *silent).out


def test_compare_lists_all_changes_each_with_an_option_that_does_it(table, advice):
    before = tree(table.parent)
    options = ["compare", table, "-p", table.with_name("policy.yaml"), "--advise"]
    listed = done(*options)
    assert tree(table.parent) == before
    assert listed.out.startswith(f"careful: {INTERNAL}.")
    change = next(each for each in advice.changes if each.kind == "coarsen")
    (line,) = [line for line in listed.out.splitlines() if line.startswith(change.what)]
    told = shlex.split(line[line.index("--set") :])
    out = table.with_name("o.csv")
    made = done("anonymize", table, "-p", table.with_name("policy.yaml"), "-o", out, *told, "--json")
    assert json.loads(made.out)["quality"]["set_ncp"] == change.after
    assert json.loads(done(*options, "--json").out)["changes"][0]["what"] == advice.changes[0].what
    assert "--k has no effect with --advise" in run(*options, "--k", "2").err
    report = table.with_name("r.html")
    done(*options, "--report", report)
    assert advice.changes[0].what in report.read_text(encoding="utf-8")
