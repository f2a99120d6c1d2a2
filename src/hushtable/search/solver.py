"""Linear and integer programmes, solved by HiGHS through SciPy: nothing is printed, and Ctrl-C is obeyed."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Any

_POLL_SECONDS = 0.2  # seconds; a wait without an end cannot be interrupted everywhere
_OUTPUT_DESCRIPTORS = (1, 2)  # the descriptors that a solver may write to
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
    """Write what C code prints nowhere, by file descriptor; one thread at a time, and for the whole process.

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
            # What is still in the buffers was printed here.
            _flush_streams()
            for number, copy in copies.items():
                os.dup2(copy, number)
                os.close(copy)
            os.close(nowhere)


def _duplicate_descriptor(number: int) -> int | None:
    """Return a copy of a file descriptor; None where it is closed."""
    try:
        return os.dup(number)
    except OSError:
        return None


def _flush_streams() -> None:
    """Empty the buffers of Python's streams and of the C library's."""
    for stream in (sys.stdout, sys.stderr):
        # A host may have closed its streams, or have none.
        if stream is not None and not stream.closed:
            stream.flush()
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    library.fflush(None)


def _solve_in_thread(solve: Callable[[], Any]) -> Any:
    """Solve in a thread, for a signal waits until the main thread is out of C code; the solver lets go of the GIL."""
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
