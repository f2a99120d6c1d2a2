"""The help of every command: at 80 columns, examples first that it understands, options in groups."""

import os
import shlex

import pytest
import typer

from hushtable import cli

GROUP = typer.main.get_command(cli.build_app())
assert isinstance(GROUP, typer.core.TyperGroup)
ROOT = GROUP.make_context("hushtable", [], resilient_parsing=True)
NAMES = GROUP.list_commands(ROOT)


def examples(name: str) -> list[str]:
    text = GROUP.get_command(ROOT, name).help or ""
    return text.partition("\b\n")[2].splitlines()[1:]


@pytest.mark.parametrize("name", NAMES)
def test_the_three_examples_of_a_command_are_understood_and_fit_80_columns(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(set(examples(name))) == 3
    for example in examples(name):
        assert len(example) <= 76
        program, verb, *arguments = shlex.split(example)
        assert (program, verb) == ("hushtable", name)
        # Options and values are parsed; nothing runs.
        GROUP.get_command(ROOT, name).make_context(name, arguments, parent=ROOT)


@pytest.mark.parametrize("name", NAMES)
def test_a_command_with_many_options_has_them_in_groups(name):
    ungrouped = [
        each.name
        for each in GROUP.get_command(ROOT, name).params
        if each.param_type_name == "option" and not getattr(each, "rich_help_panel", None) and each.name != "help"
    ]
    assert len(ungrouped) <= 7


@pytest.mark.parametrize("name", NAMES)
def test_the_help_says_what_to_pass_and_not_its_type(name):
    command = GROUP.get_command(ROOT, name)
    help_option = command.get_help_option(ROOT)
    for each in [*command.params, help_option]:
        # A flag takes nothing: its word is empty.
        assert each.metavar is not None, each.opts
    others = [each for each in command.params if each.param_type_name == "option"]
    assert help_option.hidden == all(each.rich_help_panel for each in others)


def test_the_whole_help_fits_80_columns(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setitem(os.environ, "TERM", "dumb")
    monkeypatch.setattr("sys.argv", ["hushtable", "--help"])
    with pytest.raises(SystemExit):
        cli.main()
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert printed.index("Three commands") < printed.index("Start here") < printed.index("After a release")
