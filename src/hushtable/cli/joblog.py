"""--log: what a job did, as JSON lines, for whoever looks in the morning; and a sign of life where nobody watches."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from time import perf_counter
from typing import Final

from hushtable.errors import InputError
from hushtable.wording import translate

HEARTBEAT_SECONDS: Final = 60.0

_KERNELS: Final = logging.getLogger("hushtable.kernels")


@dataclass(frozen=True, slots=True)
class JobLog:
    """Log."""

    file: FileIO  # held open: its name may become another file's meanwhile, such as that of the release
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def write(self, event: str, **entries: object) -> None:
        """Append a line. If that fails, as on a full disk, the job goes on."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "event": event, **entries}, ensure_ascii=True)
        try:
            # One write at the end of the file: lines of two jobs do not mix.
            with self.lock:
                self.file.write(f"{line}\n".encode())
        except OSError as error:
            sys.stderr.write(f"hushtable: {translate(f'the log lacks a line: {error.strerror}.')}\n")


_CURRENT: Final[ContextVar[JobLog | None]] = ContextVar("job log", default=None)


def record(event: str, **entries: object) -> None:
    """Record an event in the log, if there is one."""
    if (log := _CURRENT.get()) is not None:
        log.write(event, **entries)


@contextmanager
def open_log(path: Path | None, **start: object) -> Iterator[None]:
    """Append to a log while the body runs: its first line says what began."""
    log = None if path is None else JobLog(_open_file(path))
    if log is not None:
        log.write("start", **start)
    token, listener = _CURRENT.set(log), _CompilingListener(log)
    before = _KERNELS.level
    _KERNELS.addHandler(listener)
    _KERNELS.setLevel(logging.INFO)
    try:
        yield
    finally:
        _KERNELS.setLevel(before)
        _KERNELS.removeHandler(listener)
        _CURRENT.reset(token)
        if log is not None:
            log.file.close()


def record_end(exit_code: int, **entries: object) -> None:
    """Record the end of the job, and what it used."""
    if _CURRENT.get() is not None:
        from hushtable.search import measure_usage

        record("end", exit_code=exit_code, **entries, **asdict(measure_usage()))


def _open_file(path: Path) -> FileIO:
    """Open a log; InputError if it cannot be appended to, or the file is another one, such as an input."""
    try:
        file = path.open("ab+", buffering=0)
        # A stream, such as the standard error, holds nothing that could be lost.
        if not path.is_file():
            return file
        file.seek(0)
        first = file.read(10_000).partition(b"\n")[0]
    except OSError as error:
        raise InputError(
            f"cannot write the log {str(path)!r}: {error.strerror}.",
            hint="name a file in a folder that you may write to.",
        ) from None
    if first and not _is_line_of_log(first):
        file.close()
        raise InputError(
            f"{str(path)!r} holds something else than a log of hushtable.", hint="name another file: nothing was added."
        )
    return file


def _is_line_of_log(line: bytes) -> bool:
    try:
        entries = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(entries, dict) and [*entries][:2] == ["time", "event"]


@contextmanager
def record_step(what: str) -> Iterator[None]:
    """Record how long a step took, and once a minute that it goes on: on the standard error, too, if no terminal."""
    log, begun, is_over = _CURRENT.get(), perf_counter(), threading.Event()
    # The log and the language are variables of a context, and a thread begins with one of its own.
    heart = threading.Thread(target=copy_context().run, args=(_beat, what, is_over), daemon=True)
    heart.start()
    try:
        yield
    finally:
        is_over.set()
        heart.join()
        if log is not None:
            from hushtable.search import measure_usage

            peak = measure_usage().peak_memory_bytes
            log.write("step", step=what, seconds=round(perf_counter() - begun, 3), peak_memory_bytes=peak)


def _beat(what: str, is_over: threading.Event) -> None:
    begun = perf_counter()
    while not is_over.wait(HEARTBEAT_SECONDS):
        seconds = round(perf_counter() - begun)
        record("heartbeat", step=what, seconds=seconds)
        _tell_if_no_terminal(f"{what}, for {seconds:,} seconds.")


def _tell_if_no_terminal(sentence: str) -> None:
    """Write a line to the standard error if it is no terminal, which shows steps by itself."""
    if not sys.stderr.isatty():
        sys.stderr.write(f"hushtable: {translate(sentence)}\n")
        sys.stderr.flush()


class _CompilingListener(logging.Handler):
    """Say once that kernels are compiled, where no terminal tells it, and record each of them."""

    def __init__(self, log: JobLog | None) -> None:
        super().__init__()
        self._log = log
        self._has_told = False

    def emit(self, record: logging.LogRecord) -> None:
        """Take the name of a kernel that is compiled now."""
        if self._log is not None:
            self._log.write("compiling", kernel=record.getMessage())
        if not self._has_told:
            self._has_told = True
            _tell_if_no_terminal(
                "compiling for the first time on this machine; hushtable warm-up does so before a job needs it."
            )
