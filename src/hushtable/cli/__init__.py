"""The command: arguments to verbs to exit codes; no arithmetic.

Exit codes: 0 done, 1 the answer is no, 2 wrong input or arguments, 3 infeasible.
Figures, names and positions are printed, never a cell of the data unless asked; of small releases by minimal
generalization also the published table.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, NoReturn

import typer

from hushtable.cli import masking, protect, risks
from hushtable.errors import HushError

__all__ = ["app", "main"]

app = typer.Typer(
    name="hushtable",
    help="Find what identifies people in a table, hide it with the least loss, prove it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (protect.scan, protect.anonymize, protect.verify, risks.mpuccs, risks.uniques):
    app.command()(command)
app.command("mask-dependence")(masking.mask_dependence)


def main() -> None:
    """Run the command; every error of the package becomes one message and its exit code."""
    try:
        with _ending_in_order():
            app()
    except HushError as error:
        typer.echo(f"hushtable: {error}", err=True)
        sys.exit(error.exit_code)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Leave by an exception when the process is asked to end, so that drafts of files are removed."""
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread may say what becomes of a signal.
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
        from importlib import metadata

        typer.echo(metadata.version("hushtable"))
        raise typer.Exit
