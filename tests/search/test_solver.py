"""Linear and integer programmes print nothing, whatever the solver does, and leave the streams as they were."""

from __future__ import annotations

import ast
import ctypes
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import hushtable
from cli.test_cli_mingen import PLAIN, here  # noqa: F401 - a fixture
from hushtable.anonymizers import partition_search
from hushtable.search import solver

posix = pytest.mark.skipif(sys.platform == "win32", reason="the C library has another name")


def chatty(*arguments: Any, **options: Any) -> Any:
    """Print as HiGHS does in some presolves: through the C library's buffer, and past it."""
    ctypes.CDLL(None).printf(b"HiGHS: buffered\n")
    os.write(1, b"HiGHS: written\n")
    os.write(2, b"HiGHS: complained\n")
    return scipy.optimize.OptimizeResult(x=None, fun=None, status=4, mip_dual_bound=None)


@posix
@pytest.mark.parametrize("name", ["linprog", "milp"])
def test_nothing_that_a_solver_prints_is_seen(name: str, monkeypatch: Any, capfd: Any) -> None:
    monkeypatch.setattr(scipy.optimize, name, chatty)
    print("before")  # noqa: T201 - still in Python's buffer when the solver starts
    assert getattr(solver, name)([1.0]).x is None
    print("after")  # noqa: T201
    out, err = capfd.readouterr()
    assert out == "before\nafter\n"
    assert err == ""


@posix
def test_an_error_of_the_solver_is_the_callers_and_the_streams_come_back(monkeypatch: Any, capfd: Any) -> None:
    def failing(*arguments: Any, **options: Any) -> Any:
        chatty()
        msg = "no such programme"
        raise ValueError(msg)

    monkeypatch.setattr(scipy.optimize, "milp", failing)
    with pytest.raises(ValueError, match="no such programme"):
        solver.milp([1.0])
    os.write(1, b"seen\n")
    assert capfd.readouterr().out == "seen\n"


@posix
def test_silence_within_silence_ends_with_the_outer_one(capfd: Any) -> None:
    with solver.silence_output():
        with solver.silence_output():
            os.write(1, b"hidden\n")
        os.write(1, b"hidden too\n")
    os.write(1, b"seen\n")
    assert capfd.readouterr().out == "seen\n"


def test_a_waiting_caller_can_be_interrupted(monkeypatch: Any) -> None:
    def interrupted(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    # What a signal does in the main thread while a solver works in its own.
    monkeypatch.setattr(solver, "wait", interrupted)
    released = threading.Event()
    monkeypatch.setattr(scipy.optimize, "milp", lambda *arguments, **options: released.wait())
    with pytest.raises(KeyboardInterrupt):
        solver.milp([1.0])
    released.set()


def test_programmes_are_solved_as_scipy_does() -> None:
    found = solver.linprog([1.0, 2.0], A_eq=np.ones((1, 2)), b_eq=[1.0])
    assert found.fun == pytest.approx(1.0)
    assert solver.milp([-1.0], integrality=[1], bounds=scipy.optimize.Bounds(0, 2.5)).fun == pytest.approx(-2.0)


def test_nobody_else_calls_a_solver_that_prints() -> None:
    package = Path(hushtable.__file__).parent
    callers = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "scipy.optimize":
                callers |= {path.name for name in node.names if name.name in ("linprog", "milp")}
    assert callers == {"solver.py"}


@posix
@pytest.mark.usefixtures("here")
def test_json_is_alone_on_the_commands_output(monkeypatch: Any, capfd: Any) -> None:
    from command import done

    calls: list[Any] = []
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *given, **options: calls.append(given) or chatty())
    monkeypatch.setattr(partition_search, "MOST_ROWS", 1)
    outcome = done("anonymize", "in.csv", "-o", "out.csv", *PLAIN, "--method", "mingen", "--json")
    assert outcome.out.startswith("{")
    assert calls
    assert capfd.readouterr() == ("", "")
