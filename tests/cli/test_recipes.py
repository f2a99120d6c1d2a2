"""The recipes of docs/nightly.md, as far as they can be run without the services that they are for."""

import ast
import configparser
import json
import re
import shlex
import subprocess
from pathlib import Path

import polars as pl
import pytest
import typer
import yaml

from command import done, run
from hushtable import cli

PAGE = (Path(__file__).parents[2] / "docs" / "nightly.md").read_text()
FENCES = re.findall(r'```(\w+) title="([^"]+)"\n(.*?)```', PAGE, re.DOTALL)
RECIPES = {title: (kind, text) for kind, title, text in FENCES}
TEXT = "".join(text for _, _, text in FENCES)
COMMANDS = sorted(set(re.findall(r"hushtable (?:apply|verify|warm-up) [^\n\"&|>]+", TEXT)))


def parse_arguments(arguments: list[str]) -> dict[str, object]:
    """Parse a command as the program does; raises an error if it lacks an option."""
    verb = arguments[0]
    command = typer.main.get_command(cli.build_app(verb))
    context = typer.Context(command)
    rest, _ = cli._without_log(arguments[1:])
    parsed: dict[str, object] = command.get_command(context, verb).make_context(verb, rest).params  # type: ignore[attr-defined]
    return parsed


def test_every_recipe_is_found() -> None:
    assert len(RECIPES) == 8
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_the_options_that_it_is_given(command: str) -> None:
    words, _ = cli._without_log(shlex.split(command.replace("{{ ds }}", "2026-11-26"))[1:])
    parsed = set(map(str, parse_arguments(words).values()))
    # Every file and choice is taken as the value of something.
    assert {word for word in words[1:] if not word.startswith("-")} <= parsed


@pytest.mark.parametrize("title", RECIPES)
def test_every_recipe_has_the_syntax_of_its_kind(title: str) -> None:
    kind, text = RECIPES[title]
    assert len(text.splitlines()) <= 17
    if kind == "python":
        ast.parse(text)
    elif kind == "yaml":
        assert yaml.safe_load(text)
    elif kind == "bash":
        subprocess.run(["bash", "-n", "-c", text.split("registry ", 1)[1]], check=True)
    elif kind == "ini":
        unit = configparser.ConfigParser(strict=True)
        unit.optionxform = str  # type: ignore[assignment, method-assign]
        unit.read_string(text)
        assert unit["Service"]["Type"] == "oneshot"
    elif kind == "dockerfile":
        *_, entry, command = text.splitlines()
        assert json.loads(entry.removeprefix("ENTRYPOINT ")) == ["hushtable"]
        assert parse_arguments(json.loads(command.removeprefix("CMD ")))["output"] == Path("release.csv")


def test_pre_commit_and_actions_stop_on_a_changed_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"age": [30 + i % 3 for i in range(30)]}).write_csv("people.csv")
    Path("policy.yaml").write_text("columns: {age: quasi-identifier}\nmodels: [k-anonymity: 3]\n")
    done("anonymize", "people.csv", "-p", "policy.yaml", "-o", "release.csv")
    command = next(each for each in COMMANDS if each.startswith("hushtable verify release.csv -p"))
    assert run(*shlex.split(command)[1:]).code == 0
    Path("release.csv").write_text("age\n30\n")
    assert run(*shlex.split(command)[1:]).code == 1
    assert json.loads(Path("verify.log").read_text().splitlines()[-1])["kind"] == "verification"


def test_the_dbt_test_selects_counts_and_no_row() -> None:
    duckdb = pytest.importorskip("duckdb")
    query = RECIPES["tests/classes_of_five.sql"][1].replace("{{ ref('release') }}", "release")
    for n, rows in ((5, []), (4, [(1,)])):
        release = pl.DataFrame({"age": ["30"] * n, "sex": ["f"] * n, "postcode": ["1*"] * n})
        connection = duckdb.connect()
        connection.register("release", release.to_arrow())
        assert connection.execute(query).fetchall() == rows
