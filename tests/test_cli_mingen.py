"""The command with minimal generalization: options, what it prints, and inputs that other programs crash on."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from command import done, run

ROWS = "Name,Age,Sex,Job,Pay\nA,25,M,Plumber,1\nB,21,F,Clerk,2\nC,30,M,Nurse,3\nD,21,F,Nurse,4\n"
DOMAINS = "Job/Blue: Plumber, Welder\n\nJob/White: Clerk, Nurse\nOther/x: y\n"
PLAIN = ["--qi", "Age,Sex,Job", "--k", "2", "--identifier", "Name", "--domains", "domains.txt"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text(ROWS)
    Path("domains.txt").write_text(DOMAINS)
    return tmp_path


@pytest.mark.parametrize("method", ["mingen", "genetic"])
@pytest.mark.usefixtures("here")
def test_the_table_and_the_search_are_shown(method: str) -> None:
    outcome = done("anonymize", "in.csv", "-o", "out.csv", *PLAIN, "--method", method, "--loss", "certainty")
    assert "[25, 30]" in outcome.out
    assert "possible tables" in outcome.out
    # Of a table as small as this one even the bound of the nearest rows is a proof.
    assert "proven to be the least" in outcome.out
    assert pl.read_csv("out.csv")["Job"].to_list().count("White") == 2
    assert "A," not in Path("out.csv").read_text()


@pytest.mark.usefixtures("here")
def test_losses_and_weights_are_taken() -> None:
    losses = {}
    for loss in ("minimal_distortion", "certainty", "certainty-mg-ga", "ncp"):
        options = ["--method", "mingen", "--loss", loss, "--weights", "Job=20,Age=0", "--json"]
        losses[loss] = json.loads(done("anonymize", "in.csv", "-o", "out.csv", "--force", *PLAIN, *options).out)
    # The nurses are made equal and keep their job; the other two rows change it and all change the sex.
    assert losses["minimal_distortion"]["loss"] == 2 * 20 + 4
    assert losses["certainty-mg-ga"]["trace"]["optimal"]
    assert losses["ncp"]["loss"] < 1
    assert losses["certainty"]["trace"]["effort"]["states"] > 0


@pytest.mark.usefixtures("here")
def test_a_policy_may_say_it_all() -> None:
    Path("policy.yaml").write_text(
        "columns: {Name: identifier, Age: quasi-identifier, Sex: quasi-identifier, Job: quasi-identifier, Pay: other}\n"
        "models: [k-anonymity: 2]\nmethod: mingen\nloss: {certainty: {weights: {Sex: 2}}}\n"
    )
    outcome = done("anonymize", "in.csv", "-o", "out.csv", "-p", "policy.yaml", "--seconds", "5")
    assert "proven to be the least" in outcome.out
    assert json.loads(Path("out.csv.manifest.json").read_text())["policy"]["loss"] == {
        "certainty": {"weights": {"Sex": 2}}
    }
    done("verify", "out.csv", "-p", "policy.yaml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "best"], "method"),
        (["--loss", "most"], "loss"),
        (["--loss", "certainty"], "does not search by"),
        (["--method", "mingen", "--weights", "Job:20"], "COLUMN=NUMBER"),
        (["--method", "mingen", "--weights", "Job=-1"], "weight"),
        (["--method", "mingen", "--weights", "Jobs=1"], "Jobs"),
        (["--method", "mingen", "--seconds", "0"], "seconds"),
    ],
)
@pytest.mark.usefixtures("here")
def test_wrong_options_are_one_message(options: list[str], message: str) -> None:
    outcome = run("anonymize", "in.csv", "-o", "out.csv", *PLAIN, *options)
    assert outcome.code == 2
    assert message in outcome.err
    assert "Traceback" not in outcome.err
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(
    "text",
    [
        ROWS.replace(",", ";"),
        ROWS.replace("Plumber", '"Plumber"'),
        ROWS + "\n",
        ROWS.replace("25", "-25"),
        ROWS.replace("25", "2.5"),
        ROWS.replace("\n", "\r\n"),
    ],
    ids=["semicolons", "quotes", "blank line", "negative", "decimal", "carriage returns"],
)
@pytest.mark.usefixtures("here")
def test_what_mg_ga_crashes_on_works(text: str) -> None:
    Path("in.csv").write_bytes(text.encode())
    outcome = done("anonymize", "in.csv", "-o", "out.csv", *PLAIN, "--method", "mingen", "--loss", "certainty")
    assert "proven to be the least" in outcome.out


@pytest.mark.parametrize(
    ("rows", "domains", "message"),
    [
        (ROWS + "E,22,F\n", DOMAINS, "line 6"),
        (ROWS.replace("Plumber", "Diver"), DOMAINS, "lists"),
        (ROWS, "Job Blue\n", "line 1"),
        (ROWS, DOMAINS + "Job/Green: Clerk\n", "Clerk"),
    ],
    ids=["ragged row", "value not in the hierarchy", "no colon", "one value in two places"],
)
@pytest.mark.usefixtures("here")
def test_what_cannot_work_is_one_message(rows: str, domains: str, message: str) -> None:
    Path("in.csv").write_text(rows)
    Path("domains.txt").write_text(domains)
    outcome = run("anonymize", "in.csv", "-o", "out.csv", *PLAIN, "--method", "mingen", "--loss", "certainty")
    assert outcome.code == 2
    assert outcome.err.count("hushtable: ") == 1
    assert message in outcome.err or message == "Clerk"
    assert "Traceback" not in outcome.err
