"""What the command shows: lines, JSON, tables as text, and how far it has come."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, NoReturn

import typer

from hushtable.cli.joblog import record_step
from hushtable.columns import escape_controls, escape_json_controls, to_json_values
from hushtable.io import FORM, FORMS
from hushtable.wording import translate

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from hushtable._types import Progress
    from hushtable.tables import WalkProgress


class Laid(str):
    """Formatted lines whose parts were escaped already: printed as they are."""

    __slots__ = ()

    def rstrip(self, signs: str | None = None, /) -> Laid:
        """Return the lines without what ends them."""
        return Laid(super().rstrip(signs))


def join_some(names: Sequence[str], limit: int = 12) -> str:
    """Join the first names, and say how many more follow."""
    more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return f"{', '.join(names[:limit])}{more}"


_HAS_PRINTED_JSON: Final[ContextVar[bool]] = ContextVar("has printed JSON", default=False)


def print_json_if_none(entries: Mapping[str, object]) -> None:
    """Print JSON unless a result was printed before: the standard output holds one document."""
    if not _HAS_PRINTED_JSON.get():
        print_json(entries)


def print_json(entries: Mapping[str, Any]) -> None:
    """Print a result as JSON, which has no word for NaN (null here) nor for infinity ("inf", "-inf")."""
    _HAS_PRINTED_JSON.set(True)
    values = to_json_values({FORM: FORMS["JSON output"], **entries})
    print_lines(Laid(escape_json_controls(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False))))


@contextmanager
def begin_output() -> Iterator[None]:
    """Begin the output of a command: nothing has been printed."""
    token = _HAS_PRINTED_JSON.set(False)
    try:
        yield
    finally:
        _HAS_PRINTED_JSON.reset(token)


def leave() -> NoReturn:
    """End the command well, with nothing left to do."""
    raise typer.Exit


@contextmanager
def exit_with_code(code: int) -> Iterator[None]:
    """Exit with a code after the body has printed, even if the reader of the pipe has gone."""
    try:
        yield
    except typer.Exit:
        if not code:
            raise
    if code:
        raise typer.Exit(code)


def print_lines(*lines: str) -> None:
    """Print lines, and stop quietly when the reader of a pipe has gone (``| head``).

    Nothing in a line acts on a terminal, nor ends it: a name that holds the end of a line would tell lines of its own.
    """
    try:
        typer.echo("\n".join(map(_format_line, lines)))
    except BrokenPipeError:
        # Python flushes stdout again at its end, which would fail: stdout becomes the null device.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None


def print_to_stderr(*lines: str) -> None:
    """Print lines where errors go, as `print_lines` does."""
    if lines:
        typer.echo("\n".join(map(_format_line, lines)), err=True)


def print_error(message: object) -> None:
    """Print an error or a warning, which may have several lines."""
    first, *rest = translate(str(message)).split("\n")
    print_to_stderr(f"hushtable: {first}", *rest)


def _format_line(line: str) -> str:
    return line if isinstance(line, Laid) else escape_controls(translate(line))


def fold_sentences(lines: Iterable[str]) -> list[Laid]:
    """Break sentences between words where the terminal ends."""
    width = max(20, _line_width() - 1)
    return [
        Laid(textwrap.fill(_format_line(line), width, break_long_words=False, break_on_hyphens=False)) for line in lines
    ]


def format_table(
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Collection[str] = (),
    no_wrap: Collection[str] = (),
    sentences: Collection[str] = (),
) -> Laid:
    """Format a table as text: columns in ``right`` are right-aligned, those in ``no_wrap`` never folded.

    Titles, numbers to the right and columns of sentences are translated; names and other data are not.
    """
    rows = [
        [translate(cell) if title in (*right, *sentences) else cell for title, cell in zip(titles, cells, strict=True)]
        for cells in rows
    ]
    in_right, in_whole = ({place for place, title in enumerate(titles) if title in some} for some in (right, no_wrap))
    return laid_out([*map(translate, titles)], rows, right=in_right, no_wrap=in_whole)


def laid_out(
    titles: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[int] = (), no_wrap: Collection[int] = ()
) -> Laid:
    """Format a table of translated texts or data; ``right`` and ``no_wrap`` are positions of columns."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for position, title in enumerate(titles):
        table.add_column(
            Text(escape_controls(title)), justify="right" if position in right else "left", no_wrap=position in no_wrap
        )
    for cells in rows:
        # As Text objects: rich would read brackets in a name as markup.
        table.add_row(*(Text(escape_controls(cell)) for cell in cells))
    page = io.StringIO()
    Console(file=page, width=_line_width()).print(table)
    return Laid(page.getvalue())


def _line_width() -> int:
    # Piped output is not folded to a terminal's width.
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 200


@contextmanager
def show_step(what: str) -> Iterator[None]:
    """Show on a terminal what is going on, until it ends; elsewhere it is recorded, and said now and then."""
    if not sys.stderr.isatty():
        with record_step(what):
            yield
        return
    from rich.console import Console

    with record_step(what), Console(stderr=True).status(translate(what)):
        yield


@contextmanager
def show_progress(what: str) -> Iterator[Progress | None]:
    """Show a progress bar, on a terminal only."""
    if not sys.stderr.isatty():
        with record_step(what):
            yield None
        return
    with record_step(what), _build_progress() as shown:
        task = shown.add_task(translate(what), total=1.0)
        yield lambda done: shown.update(task, completed=done)


@contextmanager
def show_sets_progress(what: str) -> Iterator[WalkProgress | None]:
    """Show how many columns are done and how many combinations were looked at, on a terminal only."""
    if not sys.stderr.isatty():
        with record_step(what):
            yield None
        return
    with record_step(what), _build_progress() as progress:
        columns = progress.add_task(translate(what), total=1.0)
        combinations = progress.add_task("", total=None)

        def advance(share: float, n_sets: int) -> None:
            progress.update(columns, completed=share)
            progress.update(combinations, completed=n_sets, description=f"{n_sets:,} combinations")

        yield advance


def _build_progress() -> Bar:
    from rich.console import Console
    from rich.progress import Progress as Bar

    return Bar(console=Console(stderr=True), transient=True)
