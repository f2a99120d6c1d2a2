"""Budget, clock, trace, threads and free memory: what every search needs and reports."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np

from hushtable._types import Progress
from hushtable.errors import InputError, check_type

THREADS: Final = "HUSHTABLE_THREADS"
_LOSS_TOLERANCE: Final = 1e-7  # relative: rounding errors of sums

_MAX_THREADS: Final = 8
_ANNOUNCED_KERNELS: Final[list[Any]] = []
_BYTES_FOR_POLARS: Final = 400_000_000
_BYTES_PER_THREAD: Final = 220_000_000
_MIN_ROWS_PER_THREAD: Final = 50_000  # some milliseconds of work, far more than starting a thread takes


def n_threads() -> int:
    """Return how many threads a search may use; the result must not depend on their number.

    The value of ``HUSHTABLE_THREADS`` (the command's ``--threads``), else the cores that this process may use, at most
    8, as each thread needs memory of its own.
    """
    setting = os.environ.get(THREADS, "")
    if not setting:
        return min(
            _MAX_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        )
    if not setting.isdecimal() or int(setting) < 1:
        raise InputError(f"{THREADS} = {setting!r}.", hint="a whole number of threads, 1 or more.")
    return int(setting)


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a search may go on; whatever ends first.

    Parameters
    ----------
    seconds : float, optional
        Results under a budget in seconds are not reproducible.
    nodes : int, optional
        Search nodes; reproducible.
    """

    seconds: float | None = None
    nodes: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "nodes"):
            given = getattr(self, name)
            if given is not None and not given > 0:
                raise InputError(f"budget {name} = {given!r}.", hint="a budget is a number above 0.")


@dataclass(frozen=True, slots=True)
class Effort:
    """What a search looked at, and what it could leave out.

    Attributes
    ----------
    states : int
        Parts of solutions that were settled.
    pruned : int
        Parts of solutions that a bound told away without looking further.
    cache_hits : int
        Costs that were looked up instead of computed again.
    space : float
        Decimal logarithm of the number of tables that trying everything would look at.
    ties : int or None
        How many partitions, or tables under a matching notion, reach the least loss, where they were counted.
    history : tuple of (float, float or None, float)
        Seconds, proven bound and best loss each time one of the two became better;
        without seconds, the number of the generation.
    """

    states: int
    pruned: int
    cache_hits: int
    space: float
    ties: int | None = None
    history: tuple[tuple[float, float | None, float], ...] = ()

    @property
    def factor(self) -> float:
        """Decimal logarithm of how many tables there are for each state that was settled."""
        return self.space - math.log10(max(1, self.states))


@dataclass(frozen=True, slots=True)
class Trade:
    """What suppressing records changed; those that the models cannot be met with are not counted."""

    n_suppressed: int  # records suppressed because that lowers the loss
    loss_before: float  # without suppressing; a suppressed record loses everything
    loss_after: float


@dataclass(frozen=True, slots=True)
class Trace:
    """How a search went.

    Attributes
    ----------
    method : str
        With its options.
    nodes : int
        Search nodes settled.
    seconds : float
        Wall-clock time of the search, without reading, coding or writing.
    complete : bool
        False when a budget ended the search.
    optimal : bool
        Whether the loss is proven to be the least possible.
    bound : float or None
        A proven lower bound of the loss, in the loss's unit.
    gap : float or None
        (loss - bound) / loss.
    seed : int or None
        None where nothing is random.
    effort : Effort or None
        Of methods that prove what they find, and of those that draw lots.
    trade : Trade or None
        Of a method that was allowed to suppress records.
    asked_models : tuple of str
        Models without a rule for kernels: they were asked class by class, which takes longer.
    """

    method: str
    nodes: int
    seconds: float
    complete: bool = True
    optimal: bool = False
    bound: float | None = None
    gap: float | None = None
    seed: int | None = None
    effort: Effort | None = None
    trade: Trade | None = None
    asked_models: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as plain values, without empty effort, trade and asked models."""
        entries = dataclasses.asdict(self)
        rare = ("effort", "trade", "asked_models")
        return {name: entry for name, entry in entries.items() if entry or name not in rare}


Moment = tuple[float, float | None, float]


@dataclass(slots=True, eq=False)
class Clock:
    """The time and progress of a search, shared by all its parts.

    Every loop that can take a second looks at the clock, and kernels run in slices between two looks.
    """

    budget: Budget = field(default_factory=Budget)
    progress: Progress | None = None  # called with the share that is done, which never falls
    began: float = field(default_factory=lambda: perf_counter())  # of `time.perf_counter`
    history: list[Moment] = field(default_factory=list)  # of `record_improvement`
    reported_share: float = 0.0  # the last one

    @property
    def spent(self) -> float:
        """Seconds since the search began."""
        return perf_counter() - self.began

    @property
    def left(self) -> float:
        """Seconds that are left, 0 or more; inf where no end is set."""
        return math.inf if self.budget.seconds is None else max(0.0, self.budget.seconds - self.spent)

    def is_over(self, nodes: float = 0) -> bool:
        """Tell whether the budget is used up by now, and by so many nodes."""
        return self.left <= 0 or (self.budget.nodes is not None and nodes >= self.budget.nodes)

    def start_part(self, share: float) -> Clock:
        """Return the clock of a part of the search: a share of the seconds left, and no progress reports."""
        if self.budget.seconds is None:
            return Clock()
        # A budget must be above 0, even if no time is left.
        return Clock(Budget(max(math.ulp(0.0), share * self.left)))

    def with_default_end(self, seconds: float) -> Clock:
        """Return the clock with a limit of some seconds, if it has no budget."""
        return dataclasses.replace(self, budget=Budget(seconds)) if self.budget == Budget() else self

    def with_new_start(self) -> Clock:
        """Return the clock restarted now, so that time before the search, as for compiling kernels, does not count."""
        return dataclasses.replace(self, began=perf_counter())

    def report_progress(self, share: float) -> None:
        """Report the share of the search that is done, if it grew."""
        if self.progress is not None and share > self.reported_share:
            self.reported_share = min(1.0, share)
            self.progress(self.reported_share)

    def record_improvement(self, value: float, bound: float | None = None, at: float | None = None) -> None:
        """Record a better loss or bound, now (in seconds) or at a count of the caller's own."""
        self.history.append((self.spent if at is None else at, bound, value))

    def build_trace(
        self,
        method: str,
        nodes: int,
        *,
        value: float = math.nan,
        bound: float | None = None,
        complete: bool = True,
        seed: int | None = None,
        effort: Effort | None = None,
    ) -> Trace:
        """Build the trace; ``value`` and ``bound`` give the gap, and whether the loss is proven optimal."""
        if bound is None:
            return Trace(method, nodes, self.spent, complete, seed=seed, effort=effort)
        is_optimal = bound >= value - _LOSS_TOLERANCE * max(1.0, value)
        gap = 0.0 if is_optimal or value == 0 else (value - bound) / value
        proven_bound = value if is_optimal else bound
        return Trace(method, nodes, self.spent, complete, is_optimal, proven_bound, gap, seed, effort)


def check_budget(given: Any) -> None:
    """Raise InputError if a budget is no `Budget`."""
    check_type(given, Budget, "a budget", "Budget(seconds=60), for instance")


def check_memory(needed: float, what: str, hint: str) -> None:
    """Raise InputError if ``what`` needs more bytes, by estimate, than are free."""
    free = free_memory()
    if free is not None and needed > free:
        raise InputError(
            f"{what} would need {_format_gigabytes(needed)} of memory, and {_format_gigabytes(free)} is free.",
            hint=hint,
        )


def run_in_threads(work: Callable[[tuple[int, int]], None], n_rows: int) -> None:
    """Split rows into runs, and call `work` on each (first row, one after the last) in threads."""
    n_parts = min(n_threads(), 1 + n_rows // _MIN_ROWS_PER_THREAD)
    with ThreadPoolExecutor(n_parts) as pool:
        list(pool.map(work, pairwise(np.linspace(0, n_rows, n_parts + 1).astype(int).tolist())))


def say_if_first_run(kernel: Any, seconds: int) -> None:
    """Tell an interactive user, once, that the kernel is compiled now, which takes so many seconds."""
    is_watched = sys.stderr.isatty() or hasattr(sys, "ps1")
    if not is_watched or kernel.signatures or kernel in _ANNOUNCED_KERNELS:
        return
    # Before it is compiled: searches may run in parallel.
    _ANNOUNCED_KERNELS.append(kernel)
    # Another numba may have no `is_kept`: then say nothing.
    if not getattr(kernel._cache, "is_kept", True):
        sys.stderr.write(f"Compiling for the first time on this machine; this takes about {seconds} seconds, once.\n")


def free_memory() -> int | None:
    """Return the bytes that this process can still allocate; None if the system does not say."""
    sizes = [_available_memory(), *_memory_within_limits()]
    return min((free for free in sizes if free is not None), default=None)


def _format_gigabytes(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.2g} GB" if n_bytes < 1e10 else f"{n_bytes / 1e9:,.0f} GB"


def _available_memory() -> int | None:
    """Return the memory that the machine can give without swapping."""
    lines = _read_system_file("/proc/meminfo").splitlines()
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)


def _memory_within_limits() -> list[int]:
    """Return the bytes left within the limits of a shell (``ulimit -v``) and of a container."""
    pages = _read_system_file("/proc/self/statm").split()
    if not pages:
        return []
    import resource

    size, resident = (int(number) * resource.getpagesize() for number in pages[:2])
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    sizes = [] if limit == resource.RLIM_INFINITY else [max(0, limit - size - _bytes_for_polars_threads())]
    of_container = _read_system_file("/sys/fs/cgroup/memory.max").strip()
    return [*sizes, max(0, int(of_container) - resident)] if of_container.isdigit() else sizes


def _bytes_for_polars_threads() -> int:
    """Return the address space that polars will reserve when it starts its threads; 0 if they run."""
    if any(_read_system_file(str(each)).startswith("polars-0") for each in Path("/proc/self/task").glob("*/comm")):
        return 0
    setting = os.environ.get("POLARS_MAX_THREADS", "")
    return _BYTES_FOR_POLARS + _BYTES_PER_THREAD * (int(setting) if setting.isdigit() else os.cpu_count() or 1)


def _read_system_file(path: str) -> str:
    """Read a file of the system; return an empty text if there is none."""
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return ""
