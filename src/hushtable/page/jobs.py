"""Long work in a thread of its own, with its progress, a way to stop it, and its result."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from hushtable._types import Progress
from hushtable.errors import HushError


class StoppedError(Exception):
    """Somebody stopped the job."""


@dataclass(slots=True, eq=False)
class PageJob:
    """One piece of work.

    Attributes
    ----------
    name : str
    share : float
        In [0, 1]: how much is done, as far as the work tells.
    error : str
        Why nothing came of it; empty where something did, or it goes on.
    cautions : tuple of str
        What it warned of.
    is_over, is_stopped : bool
    """

    name: str
    share: float = 0.0
    error: str = ""
    cautions: tuple[str, ...] = ()
    is_over: bool = False
    is_stopped: bool = False
    started_at: float = field(default_factory=monotonic)
    stop_requested: Event = field(default_factory=Event, repr=False)

    @property
    def seconds_left(self) -> float | None:
        """How long the job still takes, if the rest goes as fast; None as long as little is done."""
        spent = monotonic() - self.started_at
        return spent * (1 - self.share) / self.share if self.share > 0.05 and spent > 1 else None

    def tell(self, share: float) -> None:
        """Set the share that is done; raises StoppedError if the job should stop."""
        self.share = max(self.share, min(1.0, share))
        if self.stop_requested.is_set():
            raise StoppedError

    def progress_of_part(self, begin: float, end: float) -> Progress:
        """Return a progress callback for a part of the job, from one share to another."""
        return lambda share: self.tell(begin + (end - begin) * share)


class Jobs:
    """One job at a time: a new one stops the one before it and waits for its end.

    Parameters
    ----------
    of_fault : callable
        Says in words what an error is that is none of ours.
    """

    def __init__(self, of_fault: Callable[[BaseException], str]) -> None:
        self.job: PageJob | None = None
        self._thread: Thread | None = None
        self._of_fault = of_fault
        self._lock = Lock()

    @property
    def is_busy(self) -> bool:
        """Whether a job is running."""
        return self.job is not None and not self.job.is_over

    def start(self, name: str, work: Callable[[PageJob], Any], done: Callable[[PageJob, Any], None]) -> PageJob:
        """Begin some work; what it returns goes to ``done``, None where nothing came of it.

        What must not be seen between its end and what came of it, ``done`` says itself: it may set ``is_over``.
        """
        with self._lock:
            before = self._thread
            self.stop()
            job = self.job = PageJob(name)
            thread = Thread(target=self._run_job, args=(job, work, done, before), daemon=True)
            thread.start()
            # Only a started thread can be joined.
            self._thread = thread
        return job

    def stop(self) -> None:
        """Ask the job to stop; it stops when it next reports its progress."""
        if self.job is not None:
            self.job.stop_requested.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the current job; False if it takes longer."""
        while True:
            thread = self._thread
            if thread is None:
                return True
            thread.join(seconds)
            if thread.is_alive():
                return False
            if thread is self._thread:
                return True

    def _run_job(
        self,
        job: PageJob,
        work: Callable[[PageJob], Any],
        done: Callable[[PageJob, Any], None],
        before: Thread | None,
    ) -> None:
        if before is not None:
            before.join()
        result = None
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", UserWarning)
                job.tell(0.0)
                result = work(job)
                job.tell(1.0)
            job.cautions = tuple(dict.fromkeys(str(each.message) for each in caught))
        except StoppedError:
            result, job.is_stopped = None, True
        except HushError as error:
            job.error = str(error)
        # Some libraries' panics are no Exception. The page shows no traceback, which may hold cells.
        except BaseException as error:
            job.error = self._of_fault(error)
        done(job, result)
        job.is_over = True
