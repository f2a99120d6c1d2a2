"""Groups of options: a verb takes records, and the command takes their fields one by one."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from command import done
from hushtable.cli.groups import field, find_given, flatten_groups, option

Louder = Annotated[bool, option("Say it louder.", "--louder")]


@dataclass(frozen=True)
class Greeting:
    """How to greet."""

    name: str = field(..., "Whom to greet.")
    n_times: int = field(1, "How often.", min=1)
    louder: Louder = False


@dataclass(frozen=True)
class Politeness(Greeting):
    """How to greet politely."""

    title: str | None = field(None, "Title of the person.", metavar="TITLE")


def test_a_verb_gets_its_records_and_says_what_was_given():
    app, got = typer.Typer(), []

    @app.command()
    @flatten_groups
    def greet(greeting: Politeness, seed: Annotated[int, option("A seed.")] = 0) -> None:
        got.append((greeting, seed))

    assert CliRunner().invoke(app, ["--name", "Ada", "--louder", "--seed", "3"]).exit_code == 0
    assert got == [(Politeness("Ada", louder=True), 3)]
    given = {"--name": True, "--n-times": False, "--louder": True, "--title": False}
    assert find_given(got[0][0]) == given
    for wrong in ([], ["--name", "Ada", "--n-times", "0"]):
        assert CliRunner().invoke(app, wrong).exit_code == 2


def test_help_lists_first_what_most_people_need_and_every_command_in_a_group(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = done("--help").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.strip() for line in lines if line.startswith(" hushtable ")] == [
        "hushtable scan people.csv -p policy.yaml",
        "hushtable anonymize people.csv -p policy.yaml -o release.csv",
        "hushtable verify release.csv",
    ]
    headings = [line.strip("╭─╮ ") for line in lines if line.startswith("╭─")]
    assert headings[:2] == ["Options", "Start here"]
    assert "Commands" not in headings
    assert lines.index(next(line for line in lines if "Start here" in line)) < 24


def test_help_shows_groups_under_their_headings_in_the_order_of_need(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = done("anonymize", "--help").out.splitlines()
    assert max(map(len, lines)) <= 80
    headings = [line.strip("╭─╮ ") for line in lines if line.startswith("╭─")]
    assert headings[:3] == ["Arguments", "Options", "What the release must meet: a policy, or --qi and --k"]
    assert headings[-1] == "What is printed"
    assert len(headings) == len(set(headings)) == 8
