"""The recipes of docs/nightly.md, as far as they can be run without the services that they are for."""

import ast
import configparser
import json
import os
import re
import shlex
import subprocess
import sys
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
    rest, _ = cli._take_option(arguments[1:], "--log")
    parsed: dict[str, object] = command.get_command(context, verb).make_context(verb, rest).params  # type: ignore[attr-defined]
    return parsed


def test_every_recipe_is_found() -> None:
    assert len(RECIPES) == 9
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_the_options_that_it_is_given(command: str) -> None:
    words, _ = cli._take_option(shlex.split(command.replace("{{ ds }}", "2026-11-26"))[1:], "--log")
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
        assert unit["Service"]["Type"] == "oneshot" if title.endswith(".service") else unit["Timer"]["OnCalendar"]
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


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a recoding, rows of tonight, and programs that recipes start: hushtable, and a mail."""
    monkeypatch.chdir(tmp_path)
    people = pl.DataFrame({"age": [20 + i % 2 * 30 for i in range(60)]})
    people.write_csv("people.csv")
    people.write_csv("tonight.csv")
    Path("policy.yaml").write_text("columns: {age: quasi-identifier}\nmodels: [k-anonymity: 3]\n")
    Path("policy.yaml").write_text(Path("policy.yaml").read_text() + "method: {mondrian: {recoding: readable}}\n")
    done("anonymize", "people.csv", "-p", "policy.yaml", "-o", "a.release.csv", "--save-recoding", "recoding.json")
    (tmp_path / "bin").mkdir()
    for name, line in (("hushtable", f'exec {sys.executable} -m hushtable "$@"'), ("mail", f"cat > {tmp_path}/mailed")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / "bin" / name).chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    return tmp_path


def run_line(line: str, folder: Path) -> int:
    return subprocess.run(["bash", "-c", line.replace("/srv/registry", str(folder))], check=False).returncode


@pytest.mark.slow
def test_cron_publishes_a_night_and_mails_what_stopped_it(registry: Path) -> None:
    line = RECIPES["/etc/cron.d/hushtable"][1].splitlines()[-1].split("registry ", 1)[1]
    for _ in range(2):  # every night replaces the one before
        assert run_line(line, registry) == 0
        assert not (registry / "mailed").exists()
    assert run("verify", "release.csv").code == 0
    (registry / "tonight.csv").unlink()
    run_line(line, registry)
    assert json.loads((registry / "mailed").read_text())["kind"] == "input"


@pytest.mark.slow
def test_systemd_and_docker_replace_the_night_before(registry: Path) -> None:
    service = RECIPES["hushtable.service"][1].splitlines()[-1].removeprefix("ExecStart=/usr/local/bin/")
    command = json.loads(RECIPES["Dockerfile"][1].splitlines()[-1].removeprefix("CMD "))
    for line in (service, service, shlex.join(["hushtable", *command])):
        assert run_line(line, registry) == 0


@pytest.mark.slow
def test_pre_commit_judges_every_release_and_every_manifest(registry: Path) -> None:
    hook = yaml.safe_load(RECIPES[".pre-commit-config.yaml"][1])["repos"][0]["hooks"][0]
    done("apply", "recoding.json", "tonight.csv", "-o", "b.release.csv")
    files = ["a.release.csv", "a.release.csv.manifest.json", "b.release.csv", "b.release.csv.manifest.json"]
    assert all(re.search(hook["files"], name) for name in files)
    assert not re.search(hook["files"], "people.csv")
    # As pre-commit does: the entry is split as by a shell, and gets many names at once.
    asked = [*shlex.split(hook["entry"]), *files]
    assert subprocess.run(asked, check=False).returncode == 0
    (registry / "b.release.csv").write_text("age\n30\n")
    assert subprocess.run(asked, check=False).returncode == 1


@pytest.mark.slow
def test_dagster_fails_with_the_message(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failure(Exception):  # noqa: N818  # as Dagster calls it
        pass

    kind = type(sys)("dagster")
    kind.__dict__.update(Failure=Failure, asset=lambda function: function)
    monkeypatch.setitem(sys.modules, "dagster", kind)
    space: dict[str, object] = {}
    exec(RECIPES["release_asset.py"][1].replace("/srv/registry", str(registry)), space)
    release = space["release"]
    assert callable(release)
    release()
    assert run("verify", "release.csv").code == 0
    (registry / "tonight.csv").write_text("age,mail\n30,x\n")
    with pytest.raises(Failure, match="have columns 'mail' besides"):
        release()
