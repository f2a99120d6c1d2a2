"""--log: what a job did, as JSON lines, for whoever looks in the morning; and a sign of life where nobody watches."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Final, TextIO

from hushtable.errors import InputError

HEARTBEAT_SECONDS: Final = 60.0

_KERNELS: Final = logging.getLogger("hushtable.kernels")


@dataclass(frozen=True, slots=True)
class JobLog:
    """Log."""

    path: Path
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def write(self, event: str, **entries: object) -> None:
        """Append a line. A full disk here must not end the job, which says so by itself."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "event": event, **entries}, ensure_ascii=True)
        # One write at the end of the file: lines of two jobs do not mix.
        with self.lock, self.path.open("ab", buffering=0) as file:
            file.write(f"{line}\n".encode())


_CURRENT: Final[ContextVar[JobLog | None]] = ContextVar("job log", default=None)
# A heartbeat has a thread of its own, in which no context variable is set.


def record(event: str, **entries: object) -> None:
    """Record an event in the log, if there is one."""
    if (log := _CURRENT.get()) is not None:
        log.write(event, **entries)


@contextmanager
def open_log(path: Path | None, **start: object) -> Iterator[None]:
    """Append to a log while the body runs: its first line says what began."""
    log = None if path is None else JobLog(path)
    if log is not None:
        _check_log(log.path)
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


def record_end(exit_code: int, **entries: object) -> None:
    """Record the end of the job, and what it used."""
    if _CURRENT.get() is not None:
        from hushtable.search import measure_usage

        record("end", exit_code=exit_code, **entries, **asdict(measure_usage()))


def _check_log(path: Path) -> None:
    """Raise InputError if a log cannot be appended to, or the file is another one, such as an input."""
    try:
        with path.open("ab+") as file:
            file.seek(0)
            first = file.readline(10_000)
    except OSError as error:
        raise InputError(
            f"cannot write the log {str(path)!r}: {error.strerror}.",
            hint="name a file in a folder that you may write to.",
        ) from None
    if not first:
        return
    try:
        is_log = "event" in json.loads(first)
    except (ValueError, TypeError):
        is_log = False
    if not is_log:
        raise InputError(
            f"{str(path)!r} holds something else than a log of hushtable.", hint="name another file: nothing was added."
        )


@contextmanager
def record_step(what: str) -> Iterator[None]:
    """Record how long a step took; where the standard error is no terminal, say once a minute that it goes on."""
    log, begun, is_over = _CURRENT.get(), perf_counter(), threading.Event()
    if not sys.stderr.isatty():
        threading.Thread(target=_beat, args=(what, log, is_over, sys.stderr), daemon=True).start()
    try:
        yield
    finally:
        is_over.set()
        if log is not None:
            from hushtable.search import measure_usage

            peak = measure_usage().peak_memory_bytes
            log.write("step", step=what, seconds=round(perf_counter() - begun, 3), peak_memory_bytes=peak)


def _beat(what: str, log: JobLog | None, is_over: threading.Event, stream: TextIO) -> None:
    begun = perf_counter()
    while not is_over.wait(HEARTBEAT_SECONDS):
        seconds = round(perf_counter() - begun)
        stream.write(f"hushtable: {what}, for {seconds:,} seconds.\n")
        stream.flush()
        if log is not None:
            log.write("heartbeat", step=what, seconds=seconds)


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
        if not self._has_told and not sys.stderr.isatty():
            self._has_told = True
            what = "compiling for the first time on this machine; hushtable warm-up does so before a job needs it."
            sys.stderr.write(f"hushtable: {what}\n")
