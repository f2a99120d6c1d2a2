"""Running cases: which one a number is, in several processes, with a count at the end."""

from __future__ import annotations

import contextlib
import os
import random as randoms
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

KINDS = {
    "releases": 40,
    "mutations": 20,
    "masks": 6,
    "perturbations": 4,
    "files": 24,
    "policies": 8,
    "kills": 2,
    "methods": 10,
    "prose": 10,
    "certificates": 10,
    "headers": 6,
    "pipelines": 8,
    "persons": 4,
    "histories": 4,
    "streams": 6,
    "remotes": 6,
    "columns": 8,
    "attackers": 6,
    "attacks": 6,
    "keys": 6,
    "pages": 4,
    "formats": 8,
    "sources": 6,
    "item_sets": 6,
    "pairs": 6,
    "gates": 4,
    "roles": 6,
    "dates": 6,
    "odd_cells": 6,
    "bounds": 6,
    "journeys": 6,
    "advice": 6,
    "cell_tables": 6,
    "published_tables": 6,
    "timelines": 6,
    "canaries": 6,
    "trackers": 4,
    "neighbours": 4,
    "linked_tables": 4,
    "nights": 6,
}
"""Every kind of case and its share of the cases; a kind is a module here with a function `case(random, folder)`."""

_SCHEDULE = [kind for kind, share in KINDS.items() for _ in range(share)]
randoms.Random("schedule").shuffle(_SCHEDULE)

PATIENCE = 120
"""Seconds after which a case hangs."""


def kind_of(number: int) -> str:
    """Return the kind of a case."""
    return _SCHEDULE[number % len(_SCHEDULE)]


def numbers(kinds: list[str]) -> Iterator[int]:
    """Count the cases of some kinds, without an end."""
    number = 0
    while True:
        if kind_of(number) in kinds:
            yield number
        number += 1


def run(number: int, seed: int) -> Any:
    """Run one case in a folder of its own; it is the same whatever ran before."""
    case: Callable[..., Any] = import_module(f"campaign.{kind_of(number)}").case
    with tempfile.TemporaryDirectory(prefix="campaign") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case(randoms.Random(f"{seed} {number}"), Path(folder))


def campaign(cases: int | None, seed: int, minutes: float | None, kinds: list[str], jobs: int) -> int:
    """Run cases until so many are done or the time is over; tell failures as they come, return how many there were."""
    began = time.monotonic()
    deadline = began + minutes * 60 if minutes else float("inf")
    left = numbers(kinds)
    counts: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    done = 0
    pool = [_Worker(seed) for _ in range(jobs)]
    started = 0
    while True:
        for place, worker in enumerate(pool):
            if worker.number is None and time.monotonic() < deadline and (cases is None or started < cases):
                worker.start(next(left))
                started += 1
            result = worker.result()
            if result is None:
                continue
            done += 1
            number, seen, failed = result
            kind = kind_of(number)
            counts.update(f"{kind}: {what}" for what in ["cases", *seen])
            for what, detail, reproduction in failed:
                failures[f"{kind}: {what}"] += 1
                _tell(kind, what, detail, reproduction, number, seed, failures[f"{kind}: {what}"])
            if worker.is_lost:
                pool[place] = _Worker(seed)
        is_over = time.monotonic() >= deadline or (cases is not None and started >= cases)
        if is_over and all(worker.number is None for worker in pool):
            break
        time.sleep(0.001)
    for worker in pool:
        worker.end()
    _sum_up(counts, failures, done, time.monotonic() - began)
    return failures.total()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _tell(kind: str, what: str, detail: str, reproduction: str, number: int, seed: int, times: int) -> None:
    _say(f"\nFAILED {kind}: {what}\n  again: scripts/campaign --only {number} {seed}")
    if times <= 3:
        _say("\n".join(f"  {line}" for line in [*detail.splitlines()[:12], *reproduction.splitlines()]))


def _sum_up(counts: Counter[str], failures: Counter[str], done: int, seconds: float) -> None:
    _say(f"\n{done} cases in {seconds:.0f} s")
    for what, count in sorted(counts.items()):
        _say(f"{count:8} {what}")
    _say(f"{failures.total()} failures" if failures else "no failure")
    for what, count in failures.most_common():
        _say(f"{count:8} {what}")


class _Worker:
    """A process that runs one case after another; one that hangs or dies is a failure of its case."""

    def __init__(self, seed: int) -> None:
        context = get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_work, args=(there, seed), daemon=True)
        self._process.start()
        there.close()
        self.number: int | None = None
        self.is_lost = False
        self._since = 0.0

    def start(self, number: int) -> None:
        self.number, self._since = number, time.monotonic()
        with contextlib.suppress(OSError):
            self._here.send(number)

    def result(self) -> tuple[int, list[str], list[tuple[str, str, str]]] | None:
        """Return the number of a case that has ended, what was seen, and the failures; None where it goes on."""
        if self.number is None:
            return None
        number = self.number
        try:
            if self._here.poll():
                seen, failed = self._here.recv()
                self.number = None
                return number, seen, failed
        except (EOFError, OSError):
            self._process.join()
            return self._lose(f"the process died (exit status {self._process.exitcode})")
        if time.monotonic() - self._since > PATIENCE:
            self._process.kill()
            return self._lose(f"no end after {PATIENCE} s")
        return None

    def _lose(self, what: str) -> tuple[int, list[str], list[tuple[str, str, str]]]:
        number, self.number, self.is_lost = self.number, None, True
        assert number is not None
        return number, [], [(what, "", "")]

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._here.send(None)
        self._process.join(5)


def _work(pipe: Any, seed: int) -> None:
    # The cases are many and small: one thread each.
    os.environ |= {"NUMBA_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    while (number := pipe.recv()) is not None:
        pipe.send(told(number, seed))


def told(number: int, seed: int) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Run a case; what falls through is a fault of the campaign itself, and told as well."""
    try:
        outcome = run(number, seed)
    except Exception as error:
        import traceback

        return [], [(f"the campaign's own fault: {type(error).__name__}", traceback.format_exc()[-1500:], "")]
    return outcome.seen, [(failure.what, failure.detail, failure.reproduction) for failure in outcome.failures]
