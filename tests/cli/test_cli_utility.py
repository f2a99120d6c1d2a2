"""The command utility: a release beside its original."""

import json
from pathlib import Path

import polars as pl
import pytest

from command import done, run
from hushtable import datasets

POLICY = """\
columns:
  birth_date: quasi-identifier
  sex: quasi-identifier
  education: {role: quasi-identifier, hierarchy: {tree: {low: [none, primary, lower secondary], high: [upper secondary, bachelor, master, doctorate]}}}
  income: sensitive
  blood_pressure: sensitive
models: [k-anonymity: 5]
"""  # noqa: E501


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A release with its manifest, its original, and others that were held out."""
    monkeypatch.chdir(tmp_path)
    people = datasets.people(400, seed=1).select("birth_date", "sex", "education", "income", "blood_pressure")
    people.head(300).write_csv("in.csv")
    people.tail(100).write_csv("held.csv")
    Path("policy.yaml").write_text(POLICY)
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    return tmp_path


def test_a_table_of_columns_and_pairs(here):
    outcome = done("utility", "in.csv", "out.csv", "-p", "policy.yaml")
    assert outcome.out.startswith("300 of 300 records.")
    (line,) = [each for each in outcome.out.splitlines() if each.startswith("income ")]
    assert line.split()[:3] == ["income", "0.000", "Wasserstein-1"]
    assert "income, blood_pressure" in outcome.out
    assert outcome.err == ""


def test_json(here):
    found = json.loads(done("utility", "in.csv", "out.csv", "-p", "policy.yaml", "--json").out)
    by_name = {each["name"]: each for each in found["columns"]}
    assert by_name["income"]["distance"] == 0
    assert 0 < by_name["birth_date"]["distance"] < 0.2
    assert by_name["education"]["reason"] == ""
    assert found["target"] is None


def test_labels_of_a_hierarchy_need_the_policy(here):
    found = json.loads(done("utility", "in.csv", "out.csv", "--json").out)
    education = next(each for each in found["columns"] if each["name"] == "education")
    assert education["distance"] is None
    assert education["reason"].startswith("its labels mean")


def test_a_target_with_held_out_originals(here):
    arguments = ("utility", "in.csv", "out.csv", "--target", "blood_pressure", "--held-out", "held.csv")
    target = json.loads(done(*arguments, "--json").out)["target"]
    known = pl.read_csv("held.csv")["blood_pressure"].drop_nulls()
    assert (target["measure"], target["n_held_out"], target["published_alike"]) == ("R2", len(known), None)
    assert "blood_pressure by gradient boosting, R2" in done(*arguments).out


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["in.csv", "out.csv", "--target", "income"], "--target needs --held-out"),
        (["in.csv", "out.csv", "--held-out", "held.csv"], "--held-out has no effect without --target"),
        (["in.csv", "in.csv"], "neither a manifest nor a policy"),
        (["in.csv", "nothing.csv"], "neither a manifest nor a policy"),
        (["nothing.csv", "out.csv"], "nothing.csv"),
        (["in.csv", "out.csv", "--target", "pay", "--held-out", "held.csv"], "pay"),
    ],
)
def test_wrong_arguments(here, arguments, match):
    outcome = run("utility", *arguments)
    assert outcome.code == 2
    assert match in outcome.err
    assert "Hint: " in outcome.err
    assert outcome.out == ""


def test_a_masked_file_has_no_quasi_identifiers(here):
    masked = ["mask-dependence", "in.csv", "--a", "sex", "--b", "income", "--clusters", "2", "--c", "education"]
    done(*masked, "-o", "masked.csv")
    outcome = run("utility", "in.csv", "masked.csv")
    assert outcome.code == 2
    assert "this measures what `anonymize` wrote" in outcome.err


def test_a_file_with_decimal_commas_that_lost_its_manifest(here):
    table = pl.read_csv("in.csv", infer_schema=False).with_columns(pl.col("income") + ",5")
    table.write_csv("commas.csv", separator=";")
    done("anonymize", "commas.csv", "-p", "policy.yaml", "-o", "commas_out.csv")
    Path("commas_out.csv.manifest.json").unlink()
    found = json.loads(done("utility", "commas.csv", "commas_out.csv", "-p", "policy.yaml", "--json").out)
    income = next(each for each in found["columns"] if each["name"] == "income")
    assert (income["kind"], income["distance"]) == ("decimal", 0)


def test_a_regression_stands_beside_its_original(tmp_path, monkeypatch):
    pytest.importorskip("statsmodels", reason="needs hushtable[regression]")
    monkeypatch.chdir(tmp_path)
    people = datasets.people(300).select("sex", "blood_pressure", "income")
    people.write_csv("pay.csv")
    roles = "columns: {sex: quasi-identifier, blood_pressure: quasi-identifier, income: sensitive}"
    models = "models: [k-anonymity: 3, distinct-l-diversity: {l: 2, sensitive: income}]"
    Path("p.yaml").write_text(f"{roles}\n{models}\n", encoding="utf-8")
    assert done("anonymize", "pay.csv", "-p", "p.yaml", "-o", "out.csv").code == 0
    asked = ("--model", "log(income) ~ blood_pressure")
    shown = done("utility", "pay.csv", "out.csv", *asked).out
    assert "The 95 % intervals overlap by" in shown
    found = json.loads(done("utility", "pay.csv", "out.csv", *asked, "--json").out)["regression"]
    assert [each["name"] for each in found["coefficients"]] == ["Intercept", "blood_pressure"]
    refused = run("utility", "pay.csv", "out.csv", "--weights", "income")
    assert refused.code == 2
    compared = done("compare", "pay.csv", "-p", "p.yaml", "--k", "2,3", "--suppression", "0", *asked).out
    assert "overlap" in compared
    rows = json.loads(done("compare", "pay.csv", "-p", "p.yaml", "--k", "2", *asked, "--json").out)["rows"]
    assert 0 < rows[0]["overlap"] <= 1
