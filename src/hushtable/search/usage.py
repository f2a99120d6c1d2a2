"""What this process has used so far."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from time import perf_counter, process_time

from hushtable import _LOADED_AT


@dataclass(frozen=True, slots=True)
class Usage:
    """Seconds and memory of the process so far; seconds count from when it loaded hushtable."""

    wall_seconds: float
    cpu_seconds: float
    peak_memory_bytes: int | None  # None where the system does not say


def measure_usage() -> Usage:
    """Return what this process has used so far."""
    return Usage(round(perf_counter() - _LOADED_AT, 3), round(process_time(), 3), _peak_memory())


def _peak_memory() -> int | None:
    if sys.platform == "win32":
        return None
    import resource

    # In bytes on macOS, in kilobytes elsewhere.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
