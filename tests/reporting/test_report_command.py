"""Reports through the command: every door writes the page and its twin, and refuses what means nothing."""

import json

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.release.manifest import sha256

POLICY = """
columns:
  name: identifier
  email: identifier
  sex: quasi-identifier
  birth_date: quasi-identifier
  diagnosis: sensitive
  visit_date: other
models: [k-anonymity: 5]
accept: {visit_date: kept apart from everything else}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    people = ht.datasets.people(300, seed=0)
    people.select("name", "email", "sex", "birth_date", "diagnosis", "visit_date").write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.yaml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = {
    "anonymize": ["anonymize", "people.csv", "-p", "policy.yaml", "-o", "out.csv"],
    "anonymize --external": ["anonymize", "people.csv", "-p", "policy.yaml", "-o", "out.csv", "--external"],
    "assess": ["assess", "people.csv", "-p", "policy.yaml"],
    "compare": ["compare", "people.csv", "-p", "policy.yaml", "--k", "2,5", "--suppression", "0"],
    "mpuccs": ["mpuccs", "people.csv", "--columns", "sex,diagnosis", "--sizes", "1,2"],
    "uniques": ["uniques", "people.csv", "--columns", "sex,diagnosis"],
    "keys": ["keys", "people.csv", "--max-size", "2"],
    "mask-dependence": [
        "mask-dependence",
        "people.csv",
        "--a",
        "diagnosis",
        "--b",
        "birth_date",
        "--c",
        "sex",
        "--clusters",
        "3",
        "-o",
        "masked.csv",
    ],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_writes_a_report_beside_what_it_finds(name, folder):
    plain = done(*COMMANDS[name])
    for path in [*folder.glob("out.csv*"), *folder.glob("masked*")]:
        path.unlink()
    told = done(*COMMANDS[name], "--report", "r.html")
    if name != "compare":
        # The comparison tells seconds, too.
        assert told.out == plain.out
    assert "Wrote the report r.html" in told.err
    twin = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert twin["audience"] == ("external" if "--external" in name else "internal")
    assert (folder / "r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    again = run(*COMMANDS[name], "--report", "r.html")
    assert again.code == 2
    assert "exists" in again.err
    done(*COMMANDS[name], "--report", "r.html", "--force")


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_writes_its_report_over_its_input(name, folder):
    (folder / "people.csv").rename(folder / "people.json")
    (folder / "people.csv").symlink_to(folder / "people.json")
    before = (folder / "people.json").read_bytes()
    refused = run(*COMMANDS[name], "--report", "people.html", "--force")
    assert refused.code == 2
    assert "input" in refused.err
    assert (folder / "people.json").read_bytes() == before
    assert not (folder / "out.csv").exists()


def test_the_report_of_a_release_names_its_hash_and_its_policy(folder):
    done(*COMMANDS["anonymize"], "--report", "r.html")
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert manifest["sha256"] in page
    assert "kept apart from everything else" in page
    assert "SHA-256 of the input people.csv" in page


def test_report_prints_or_writes(folder):
    done(*COMMANDS["anonymize"])
    printed = done("report", "out.csv")
    assert "IN SHORT" in printed.out
    assert "This holds for readers who know" in printed.out
    plain = json.loads(done("report", "out.csv", "--json").out)
    assert plain["holds"] is True
    written = done("report", "out.csv", "--original", "people.csv", "-p", "policy.yaml", "-o", "r.html")
    assert written.out == ""
    assert "Who could be found before" in (folder / "r.html").read_text(encoding="utf-8")


def test_the_external_report_needs_no_more_than_the_file_and_its_external_manifest(folder):
    done(*COMMANDS["anonymize --external"])
    inside = done("report", "out.csv", "--external").out
    (folder / "out.csv.codebook.json").unlink()
    (folder / "people.csv").unlink()
    (folder / "policy.yaml").unlink()
    assert "the table promises k-anonymity (k = 5)" in inside
    assert "kept apart" not in inside
    assert "the table promises k-anonymity (k = 5)" in done("report", "out.csv", "--external").out


def test_a_file_that_was_changed_is_not_reported(folder):
    done(*COMMANDS["anonymize"])
    with (folder / "out.csv").open("a") as file:
        file.write("x\n")
    refused = run("report", "out.csv")
    assert refused.code == 1
    assert "SHA-256 differs" in refused.err


def test_a_release_that_does_not_hold_its_policy_leaves_with_one(folder):
    done(*COMMANDS["anonymize"])
    path = folder / "out.csv"
    frame = pl.read_csv(path, infer_schema=False)
    frame.with_columns(sex=pl.Series([f"s{i}" for i in range(len(frame))])).write_csv(path)
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    manifest["sha256"] = sha256(path)
    (folder / "out.csv.manifest.json").write_text(json.dumps(manifest))
    told = run("report", "out.csv")
    assert told.code == 1
    assert "does NOT hold" in told.out
    refused = run("report", "out.csv", "--external", "-o", "r.html")
    assert refused.code == 1
    assert not (folder / "r.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "out.csv", "--force"], "--force has no effect without --output"),
        (["report", "out.csv", "-o", "r.pdf"], "its ending is '.pdf'"),
        (["report", "people.csv"], "manifest"),
        (["assess", "people.csv", "--qi", "sex", "--force"], "--force has no effect without --report"),
        (
            ["mpuccs", "people.csv", "people.csv", "--compat", "petsard-1.6", "--report", "r.html"],
            "--report has no effect",
        ),
    ],
)
def test_what_means_nothing_is_refused(folder, arguments, message):
    done(*COMMANDS["anonymize"])
    refused = run(*arguments)
    assert refused.code == 2
    assert message in refused.err


def test_a_pipeline_is_reported(folder):
    pipeline = """
Loader: {people: {filepath: people.csv}}
Splitter: {half: {train_split_ratio: 0.5}}
Reporter: {data: {method: save_data, source: [Splitter]}}
"""
    (folder / "p.yaml").write_text(pipeline)
    outcome = run("run", "p.yaml", "--out", "results", "--report", "r.html")
    assert outcome.code == 0, outcome
    assert "Every limit holds" in (folder / "r.html").read_text(encoding="utf-8")
    refused = run("run", "p.yaml", "--dry-run", "--report", "other.html")
    assert refused.code == 2
    assert "--report has no effect with --dry-run" in refused.err


def test_the_report_of_a_pipeline_goes_over_no_table_that_it_reads(folder):
    (folder / "people.csv").rename(folder / "people.json")
    (folder / "people.csv").symlink_to(folder / "people.json")
    (folder / "p.yaml").write_text("Loader: {people: {filepath: people.csv}}\nDescriber: {all: {}}\n")
    before = (folder / "people.json").read_bytes()
    refused = run("run", "p.yaml", "--out", "results", "--report", "people.html", "--force")
    assert refused.code == 2
    assert "input" in refused.err
    assert (folder / "people.json").read_bytes() == before


def test_a_report_of_a_folder_or_over_a_codebook_is_refused(folder):
    done(*COMMANDS["anonymize"])
    before = (folder / "out.csv.codebook.json").read_bytes()
    for arguments, message in (
        (["report", "."], "is no file"),
        (["report", "out.csv", "-o", "out.csv.codebook.html", "--force"], "is the input"),
    ):
        refused = run(*arguments)
        assert refused.code == 2
        assert message in refused.err
    assert (folder / "out.csv.codebook.json").read_bytes() == before
