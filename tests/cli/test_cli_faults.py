"""The command's exit codes of what is no error of the package: one line, which says which and what to do."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hushtable as ht
from command import run
from hushtable.cli.__init__ import fault_line
from hushtable.cli.arguments import ReadingOptions

SECRET = "canary-7319"
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Panic(BaseException):
    """As some libraries raise it."""


def array_too_large():
    try:
        np.empty(2**55)
    except MemoryError as error:
        return error


@pytest.fixture
def failing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("a,b\n1,2\n")

    def with_(error):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr(ReadingOptions, "table", fail)

    return with_


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError(SECRET), "a fault of hushtable: KeyError at cli/scan.py:"),
        (Panic(SECRET), "a fault of hushtable: Panic at "),
        (RecursionError(SECRET), "a fault of hushtable: RecursionError"),
        (MemoryError(), "memory came to its end"),
        (array_too_large(), "memory came to its end"),
        (FULL, "the disk came to its end"),
        (RuntimeError("parquet: underlying IO error: No space left on device (os error 28)"), "the disk came"),
    ],
)
def test_what_is_no_error_of_ours_is_one_line_and_70(failing, error, told):
    failing(error)
    outcome = run("scan", "in.csv")
    assert outcome.code == 70
    assert outcome.err.startswith(f"hushtable: {told}")
    assert outcome.err.count("\n") == 1
    assert SECRET not in outcome.err
    assert outcome.out == ""


def test_what_stands_behind_an_error_counts(failing):
    error = ValueError(SECRET)
    error.__cause__ = FULL
    assert fault_line(error).startswith("the disk")


@pytest.mark.parametrize("arguments", [("--traceback", "scan", "in.csv"), ("scan", "in.csv", "--traceback")])
def test_a_traceback_is_shown_where_it_is_asked_for_and_acts_on_no_terminal(failing, arguments):
    failing(KeyError("a\x1b[31m"))
    outcome = run(*arguments)
    assert outcome.code == 70
    assert outcome.err.startswith("Traceback (most recent call last):\n")
    assert "\x1b" not in outcome.err


def test_a_traceback_of_wrong_input_too(tmp_path):
    outcome = run("scan", tmp_path / "none.csv", "--traceback")
    assert outcome.code == 2
    assert "Traceback" in outcome.err
    assert "Traceback" not in run("scan", tmp_path / "none.csv").err


def test_what_stands_behind_two_dashes_is_no_option(tmp_path):
    assert "--traceback" in run("scan", "--", "--traceback").err


def test_a_file_that_is_certain_not_to_fit_is_refused_with_the_figure(tmp_path, monkeypatch):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n")
    monkeypatch.setattr("hushtable.search.budget.free_memory", lambda: 1)
    outcome = run("assess", tmp_path / "in.csv", "--qi", "a")
    assert outcome.code == 2
    assert "of memory, and" in outcome.err


def test_help_tells_the_codes():
    assert "70" in run("scan", "--help").out
    assert json.dumps("--traceback")[1:-1] in run("--help").out


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["--version"], 0, ht.__version__),
        (["verify", "nowhere.csv"], 2, ""),
        (["--nonsense"], 2, ""),
        (["scan", "-"], 0, "age"),
    ],
)
def test_a_process_leaves_with_its_code_after_all_is_written(arguments, code, shown):
    ended = subprocess.run(
        [sys.executable, "-m", "hushtable", *arguments],
        input="age,sex\n" + "34,f\n" * 60,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, shown in ended.stdout) == (code, True), ended.stderr


def test_what_only_a_process_of_its_own_may_set_is_not_set_by_who_imports():
    script = "import os, hushtable.cli; print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert shown.stdout.strip() == "None"
