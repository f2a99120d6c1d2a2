"""hushtable apply: the next batch from the shell."""

import json

import polars as pl
import pytest

import hushtable as ht
from command import done, run, tree

POLICY = """
columns:
  name: identifier
  email: identifier
  birth_date: quasi-identifier
  sex: {role: quasi-identifier, hierarchy: {tree: [diverse, female, male]}}
  education: {role: quasi-identifier, hierarchy: education.csv}
  diagnosis: sensitive
  income: sensitive
  blood_pressure: sensitive
models: [k-anonymity: 5, distinct-l-diversity: {l: 2, sensitive: diagnosis}]
"""
KEPT = ["name", "email", "birth_date", "sex", "education", "diagnosis", "income", "blood_pressure"]
QUASI = ["birth_date", "sex", "education"]


@pytest.fixture
def batches(tmp_path):
    """A folder with two batches, a policy, and the release and recoding of the first."""
    people = ht.datasets.people(1500, seed=8).select(KEPT)
    people[:900].write_csv(tmp_path / "first.csv")
    people[900:].write_csv(tmp_path / "second.csv")
    levels = sorted(people["education"].drop_nulls().unique())
    (tmp_path / "education.csv").write_text("".join(f"{level};{level.split()[0]}\n" for level in levels))
    (tmp_path / "policy.yaml").write_text(POLICY)
    asked = ("anonymize", tmp_path / "first.csv", "-p", tmp_path / "policy.yaml", "-o", tmp_path / "first.release.csv")
    done(*asked, "--save-recoding", tmp_path / "recoding.json", "--keep-order")
    return tmp_path


def test_the_next_batch_is_published_and_verified(batches):
    out = batches / "second.release.csv"
    told = done("apply", batches / "recoding.json", batches / "second.csv", "-o", out)
    assert "k-anonymity (k = 5)" in told.out
    assert "by themselves" in told.out
    assert done("verify", out).code == 0
    asked = ("apply", batches / "recoding.json", batches / "second.csv", "-o", out, "--force")
    told = json.loads(done(*asked, "--json").out)
    release = ht.Recoding.read(batches / "recoding.json").apply(batches / "second.csv")
    assert told["batch"] == release.to_dict()["batch"]
    assert told["n_suppressed"] == release.n_suppressed
    assert told["replaces_earlier"] is False


def test_its_own_source_gets_the_same_cells(batches):
    out = batches / "again.csv"
    done("apply", batches / "recoding.json", batches / "first.csv", "-o", out, "--keep-order")
    first, again = (pl.read_csv(batches / name, infer_schema=False) for name in ("first.release.csv", "again.csv"))
    assert again.equals(first)


def test_together_publishes_the_earlier_rows_too(batches):
    out = batches / "both.csv"
    asked = ("apply", batches / "recoding.json", batches / "second.csv", "-o", out)
    told = done(*asked, "--together", batches / "first.csv", "--external")
    assert "it replaces the earlier release" in told.out
    manifest = json.loads((batches / "both.csv.manifest.json").read_text())
    assert manifest["replaces_earlier"] is True
    # One record of both tables is in no class that passes: as a row of `*` it would be one person's.
    assert manifest["n_records"] == pl.read_csv(out).height == 1500 - 1


def test_files_are_kept(batches):
    before = tree(batches)
    for output in ("recoding.json", "second.csv", "first.release.csv"):
        outcome = run("apply", batches / "recoding.json", batches / "second.csv", "-o", batches / output)
        assert outcome.code == 2
    assert run("apply", batches / "no.json", batches / "second.csv", "-o", batches / "x.csv").code == 2
    assert run("apply", batches / "policy.yaml", batches / "second.csv", "-o", batches / "x.csv").code == 2
    assert tree(batches) == before


def test_too_few_rows_are_infeasible(batches):
    pl.read_csv(batches / "second.csv", infer_schema=False)[:3].write_csv(batches / "few.csv")
    outcome = run("apply", batches / "recoding.json", batches / "few.csv", "-o", batches / "x.csv")
    assert outcome.code == 3
    assert "none is left" in outcome.err
    assert not (batches / "x.csv").exists()


def test_what_may_not_be_saved_is_said_before_the_search_with_what_to_write(batches):
    policy = batches / "rare.yaml"
    policy.write_text(
        POLICY.replace("education: {role: quasi-identifier, hierarchy: education.csv}", "education: quasi-identifier")
    )
    rows = pl.read_csv(batches / "first.csv", infer_schema=False)
    rows = rows.with_columns(
        education=pl.when(pl.int_range(pl.len()) < 6).then(pl.lit("Zq7Xcanary")).otherwise("education")
    )
    rows.write_csv(batches / "rare.csv")
    asked = (
        "anonymize",
        batches / "rare.csv",
        "-p",
        policy,
        "-o",
        batches / "r.csv",
        "--save-recoding",
        batches / "r.json",
    )
    outcome = run(*asked)
    said = " ".join(outcome.err.split())
    assert "may not be saved for column 'education': 2 of its" in said
    assert "write hierarchy: FILE" in said
    assert "canary" not in said
    # What became of the doubt is known before the release is written: both files are there, or neither.
    assert (batches / "r.csv").exists() == (batches / "r.json").exists() == (outcome.code == 0)


@pytest.mark.parametrize(
    ("options", "entry", "instead"),
    [
        (["--recoding", "tight"], "recoding: tight", "recoding: readable"),
        (["--set", "method.mondrian.exchange=true"], "exchange: true", "method: mondrian"),
        (["--method", "local_recoding"], "'local_recoding'", "method: mondrian"),
    ],
)
def test_what_cannot_be_saved_is_refused_before_the_search_with_what_can(batches, monkeypatch, options, entry, instead):
    monkeypatch.setattr(ht.Policy, "protect", lambda *_, **__: pytest.fail("searched"))
    before = tree(batches)
    asked = ("anonymize", batches / "first.csv", "-p", batches / "policy.yaml", "-o", batches / "z.csv")
    outcome = run(*asked, "--save-recoding", batches / "y.json", *options)
    assert outcome.code == 2
    said = " ".join(outcome.err.split())
    assert "the recoding cannot be saved" in said
    assert entry in said
    assert instead in said
    assert tree(batches) == before


def test_a_recoding_that_has_the_name_of_another_file_leaves_no_release(batches):
    asked = ("anonymize", batches / "first.csv", "-p", batches / "policy.yaml", "-o", batches / "x.csv")
    before = tree(batches)
    assert run(*asked, "--save-recoding", batches / "x.csv").code == 2
    assert run(*asked, "--save-recoding", batches / "first.csv", "--force").code == 2
    assert tree(batches) == before


def test_other_columns_are_refused(batches):
    second = pl.read_csv(batches / "second.csv", infer_schema=False)
    second.with_columns(note=pl.lit("x")).write_csv(batches / "more.csv")
    outcome = run("apply", batches / "recoding.json", batches / "more.csv", "-o", batches / "x.csv")
    assert outcome.code == 2
    assert "'note' besides" in outcome.err


def test_what_has_no_next_batch_is_said_before_the_search(batches, monkeypatch):
    monkeypatch.setattr(ht.Policy, "protect", lambda *_, **__: pytest.fail("searched"))
    asked = ("anonymize", batches / "first.csv", "-p", batches / "policy.yaml", "-o", batches / "x.csv")
    outcome = run(*asked, "--save-recoding", batches / "x.json", "--recoding", "central")
    assert (outcome.code, "has no next batch" in outcome.err) == (2, True)
