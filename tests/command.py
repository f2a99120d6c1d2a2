"""Run the command in this process, as a shell would."""

import contextlib
import contextvars
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from hushtable import cli


@dataclass(frozen=True)
class Outcome:
    """What the command gave back."""

    code: int
    out: str
    err: str


def run(*arguments: object) -> Outcome:
    """Run ``hushtable`` with these arguments; an error that is not the command's own is 70."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        mock.patch.object(sys, "argv", ["hushtable", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            # A language that the command chooses ends with it, as its process does.
            contextvars.copy_context().run(cli.main)
        except SystemExit as left:
            code = left.code
    return Outcome(int(code or 0), out.getvalue(), err.getvalue())


def done(*arguments: object) -> Outcome:
    """Run ``hushtable`` and insist that it succeeds."""
    outcome = run(*arguments)
    assert outcome.code == 0, outcome
    return outcome


def tree(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder, hidden ones included, with their bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if not path.is_dir()}
