"""The command with minimal generalization: options, what it prints, and inputs that other programs crash on."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
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
    assert ("; reached by 1 partition\n" in outcome.out) == (method == "mingen")
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


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_file: Callable[[str], Path]) -> None:
    """Go to a folder with the tables and the domains of MG-GA."""
    monkeypatch.chdir(tmp_path)
    for name in ("test.csv", "test2.csv", "test4.csv", "domains.txt"):
        shutil.copy(shared_file(f"data/mg_ga/{name}"), name)


Rows = Counter[tuple[str, ...]]

SCORED = ["--k", "2", "--domains", "domains.txt", "--loss", "certainty-mg-ga"]
TEST = ["--qi", "Name,Age,Sex,Education,Job", *SCORED]
TEST_2 = ["--qi", "Gender,Age,Education,Job", *SCORED]
MG_GA = ["--notion", "mg-ga"]
LIFTED = ("*", "*", "*", "Higher", "Admin")
# The tables that the source's README prints for its three commands, without the column that is kept.
PLAIN_TABLE: Rows = Counter({("*", "[25, 30]", "M", "*", "*"): 2, ("*", "21", "F", "Diploma", "White Collar"): 2})
JOB_TABLE: Rows = Counter({("*", "[21, 25]", "*", "*", "*"): 2, LIFTED: 2})
AGELESS_TABLE: Rows = Counter({("*", "*", "*", "*", "*"): 2, LIFTED: 2})
HALF_AGELESS_TABLE: Rows = Counter({("*", "[21, 25]", "*", "*", "*"): 1, ("*", "*", "*", "*", "*"): 1, LIFTED: 2})


def tables_in(printed: str, titles: str) -> list[Rows]:
    """Read the tables that the command printed, without their last column."""
    found = []
    for block in printed.split("\n\n"):
        head, *lines = block.strip("\n").splitlines() or [""]
        if head.split() == titles.split():
            starts = [head.index(title) for title in titles.split()]
            rows = [tuple(line[a:b].strip() for a, b in pairwise(starts)) for line in lines]
            found.append(Counter(rows))
    return found


@pytest.mark.parametrize("notion", [[], MG_GA], ids=["k-anonymity", "its own notion"])
@pytest.mark.parametrize(
    ("weights", "loss", "expected"),
    [([], 10.4444, PLAIN_TABLE), (["--weights", "Job=20"], 54.2222, JOB_TABLE)],
    ids=["plain", "job"],
)
@pytest.mark.usefixtures("examples")
def test_the_first_two_examples_of_the_source(
    notion: list[str], weights: list[str], loss: float, expected: Rows
) -> None:
    outcome = done("anonymize", "test.csv", "-o", "out.csv", *TEST, *weights, *notion, "--method", "mingen")
    assert f"The information loss is {loss:.4f}" in outcome.out
    assert "proven to be the least" in outcome.out
    assert tables_in(outcome.out, "Name Age Sex Education Job Salary") == [expected]


@pytest.mark.parametrize(
    ("notion", "expected"),
    # Two of the four have rows without an equal one: they are for the source's notion alone.
    [(MG_GA, [AGELESS_TABLE, HALF_AGELESS_TABLE, HALF_AGELESS_TABLE, JOB_TABLE]), ([], [AGELESS_TABLE, JOB_TABLE])],
    ids=["its own notion", "k-anonymity"],
)
@pytest.mark.usefixtures("examples")
def test_the_third_example_of_the_source_prints_all_its_tables(notion: list[str], expected: list[Rows]) -> None:
    options = [*TEST, "--weights", "Job=20,Age=0", *notion, "--method", "mingen", "--n-best", "4"]
    outcome = done("anonymize", "test.csv", "-o", "out.csv", *options)
    assert "The information loss is 51.3333" in outcome.out
    assert "proven to be the least" in outcome.out
    printed = tables_in(outcome.out, "Name Age Sex Education Job Salary")
    assert sorted(map(in_order, printed)) == sorted(map(in_order, expected))


def in_order(table: Rows) -> list[tuple[str, ...]]:
    return sorted(table.elements())


@pytest.mark.parametrize(("notion", "loss"), [(MG_GA, 10.6061), ([], 11.6061)], ids=["its own notion", "k-anonymity"])
@pytest.mark.usefixtures("examples")
def test_the_genetic_example_of_the_source(notion: list[str], loss: float) -> None:
    options = [*TEST_2, "--method", "genetic", "--generations", "100", *notion]
    outcome = done("anonymize", "test2.csv", "-o", "out.csv", *options, "--json")
    assert round(json.loads(outcome.out)["loss"], 4) == loss
    if notion:
        done("verify", "out.csv", "--original", "test2.csv", "--domains", "domains.txt")
    else:
        done("verify", "out.csv")


@pytest.mark.usefixtures("examples")
def test_every_switch_of_the_source_can_be_typed_and_written(monkeypatch: pytest.MonkeyPatch) -> None:
    # --threads says it to the whole process, which goes on to other tests.
    for name in ("HUSHTABLE_THREADS", "POLARS_MAX_THREADS"):
        monkeypatch.setenv(name, "1")
    options = [*TEST_2, *MG_GA, "--weights", "Age=0.5", "--kind", "Age=category", "--delimiter", ","]
    options += ["--method", "genetic", "--generations", "20", "--individuals", "30", "--mutation-rate", "5"]
    options += ["--seed", "3", "--threads", "1", "--keep-order"]
    done("anonymize", "test4.csv", "-o", "typed.csv", *options)
    Path("policy.yaml").write_text(
        "columns: {Gender: quasi-identifier, Age: {role: quasi-identifier, kind: category},"
        " Education: quasi-identifier, Job: quasi-identifier, Bracket: sensitive}\n"
        "models: ['global-(k,1)-matching': 2]\ndomains: domains.txt\n"
        "loss: {certainty: {variant: mg-ga, weights: {Age: 0.5}}}\n"
        "method: {genetic: {generations: 20, individuals: 30, mutation_rate: 5, seed: 3}}\n"
    )
    done("anonymize", "test4.csv", "-o", "written.csv", "-p", "policy.yaml", "--keep-order")
    assert Path("typed.csv").read_text() == Path("written.csv").read_text()
    # Strings have no intervals.
    assert "[" not in Path("typed.csv").read_text()
    done("verify", "written.csv", "-p", "policy.yaml", "--original", "test4.csv")


@pytest.mark.parametrize("notion", [[], MG_GA], ids=["k-anonymity", "its own notion"])
@pytest.mark.usefixtures("examples")
def test_tables_are_drawn_where_a_number_of_them_is_given(notion: list[str]) -> None:
    drawn = [*TEST, *notion, "--method", "mingen", "--iterations", "50", "--seed", "2"]
    outcome = done("anonymize", "test.csv", "-o", "out.csv", *drawn, "--set", "method.mingen.tie_break=certainty")
    assert "50 states settled" in outcome.out
    assert "no proof" in outcome.out


@pytest.mark.usefixtures("examples")
def test_a_file_of_domains_has_to_name_a_column_that_is_judged() -> None:
    done("anonymize", "test.csv", "-o", "out.csv", *TEST, *MG_GA, "--method", "mingen")
    Path("other.txt").write_text("Town/north: a, b\n")
    outcome = run("verify", "out.csv", "--original", "test.csv", "--domains", "other.txt")
    assert outcome.code == 2
    assert "names no column" in outcome.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "genetic", "--mutation-rate", "5"], "mutation_rate"),
        (["--method", "genetic", "--notion", "mg-ga", "--set", "method.genetic.variant=partitions"], "judges none"),
        (["--method", "mingen", "--mutation-rate", "5"], "no such option"),
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
