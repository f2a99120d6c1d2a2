"""Solve linear and integer programmes by HiGHS through SciPy, without output, and interruptible by Ctrl-C."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Any

_POLL_SECONDS = 0.2  # some systems cannot interrupt a wait without a timeout
_OUTPUT_DESCRIPTORS = (1, 2)  # stdout and stderr
_SILENCE_LOCK = threading.RLock()


def linprog(*arguments: Any, **options: Any) -> Any:
    """Solve a linear programme as `scipy.optimize.linprog` does."""
    from scipy.optimize import linprog as solve

    return _solve_in_thread(lambda: solve(*arguments, **options))


def milp(*arguments: Any, **options: Any) -> Any:
    """Solve an integer programme as `scipy.optimize.milp` does."""
    from scipy.optimize import milp as solve

    return _solve_in_thread(lambda: solve(*arguments, **options))


@contextmanager
def silence_output() -> Iterator[None]:
    """Discard what C code prints, by file descriptor, for the whole process; one thread at a time.

    HiGHS prints debug lines in some presolves, whatever its options say.
    """
    with _SILENCE_LOCK:
        _flush_streams()
        copies = {number: copy for number in _OUTPUT_DESCRIPTORS if (copy := _duplicate_descriptor(number)) is not None}
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            for number in copies:
                os.dup2(nowhere, number)
            yield
        finally:
            # Flush before the descriptors are restored: the buffers hold output of the solver.
            _flush_streams()
            for number, copy in copies.items():
                os.dup2(copy, number)
                os.close(copy)
            os.close(nowhere)


def _duplicate_descriptor(number: int) -> int | None:
    """Return a copy of a file descriptor; None if it is closed."""
    try:
        return os.dup(number)
    except OSError:
        return None


def _flush_streams() -> None:
    """Flush the streams of Python and of the C library."""
    for stream in (sys.stdout, sys.stderr):
        # The host program may have closed its streams, or have none.
        if stream is not None and not stream.closed:
            stream.flush()
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    library.fflush(None)


def _solve_in_thread(solve: Callable[[], Any]) -> Any:
    """Solve in another thread: Ctrl-C reaches the main thread only outside C code. The solver releases the GIL."""
    answer: Future[Any] = Future()

    def run() -> None:
        try:
            answer.set_result(solve())
        except BaseException as error:
            answer.set_exception(error)

    with silence_output():
        threading.Thread(target=run, daemon=True).start()
        while not answer.done():
            wait([answer], timeout=_POLL_SECONDS)
    return answer.result()
