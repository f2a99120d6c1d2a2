"""Kills in the middle of a write: the output and what goes with it are all whole, or all absent."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import hushtable as ht
from campaign.outcome import Outcome
from command import run

_POLICY = """\
columns:
  name: identifier
  email: identifier
  birth_date: quasi-identifier
  sex: quasi-identifier
  postcode: quasi-identifier
  education: quasi-identifier
  marital_status: quasi-identifier
  occupation: other
  nationality: quasi-identifier
  income: sensitive
  diagnosis: sensitive
  visit_date: other
  blood_pressure: other
models: [k-anonymity: 3]
limits: {exposure: {rate: 1}}
"""


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: start the command, kill it, and look at what is left."""
    outcome = Outcome()
    n, suffix = random.choice((200, 2000, 20_000)), random.choice(("csv", "parquet"))
    ht.datasets.people(n, seed=1).write_csv(folder / "in.csv")
    (folder / "policy.yaml").write_text(_POLICY, encoding="utf-8")
    (folder / "out").mkdir()
    output = folder / "out" / f"release.{suffix}"
    sign = random.choice((signal.SIGKILL, signal.SIGTERM))
    at_write = random.random() < 0.75
    delay = random.uniform(0, 0.05) if at_write else random.uniform(0.2, 2.5)
    outcome.reproduction = f"people({n}, seed=1), hushtable anonymize -o release.{suffix}, {sign.name} " + (
        f"{delay * 1000:.1f} ms after the first file appears" if at_write else f"after {delay:.2f} s"
    )
    command = ("anonymize", str(folder / "in.csv"), "-p", str(folder / "policy.yaml"), "-o", str(output))
    if random.random() < 0.3:
        # What an older command wrote stays, or is replaced whole.
        ht.datasets.people(100, seed=2).write_csv(folder / "old.csv")
        older = run("anonymize", folder / "old.csv", "-p", folder / "policy.yaml", "-o", output)
        outcome.expect(older.code == 0, "the command fails", older)
        command = (*command, "--force")
        outcome.reproduction += ", --force over an older output"
    was_killed = _kill(command, output.parent, sign, delay, at_write)
    outcome.count("killed" if was_killed else "ended before the kill")
    written = [output, *(Path(f"{output}.{name}") for name in ("manifest.json", "codebook.md", "codebook.json"))]
    # Between two renames of one write no program can stop; that all are there or none is what is asked.
    there = {path.exists() for path in written}
    outcome.expect(len(there) == 1, "output, manifest and codebook are not all there or all absent")
    if there == {True}:
        outcome.count("whole")
        verdict = run("verify", output, "-p", folder / "policy.yaml")
        outcome.expect(verdict.code == 0, "a release that a kill left does not verify", verdict)
    stray = [path for path in output.parent.iterdir() if path not in written]
    _look_at_drafts(outcome, stray, sign)
    if "--force" in command:
        outcome.count("overwrites")
        outcome.expect(there == {True}, "an older output is lost")
    if stray and ("--force" in command or not output.exists()):
        ended = run(*command)
        outcome.expect(ended.code == 0, "after a kill the same command fails", ended)
        left = [path.name for path in output.parent.iterdir() if path not in written]
        outcome.expect(not left, "the next write leaves stale drafts", left)
    return outcome


def _look_at_drafts(outcome: Outcome, stray: list[Path], sign: signal.Signals) -> None:
    if stray:
        outcome.count(f"drafts left by {sign.name}")
    outcome.expect(not stray or sign == signal.SIGKILL, "SIGTERM leaves drafts", [path.name for path in stray])
    # What was there before keeps its own mode while it steps aside.
    new = [path for path in stray if path.is_file() and ".old." not in path.name]
    open_to_all = [path.name for path in new if stat.S_IMODE(path.stat().st_mode) & 0o077]
    outcome.expect(not open_to_all, "others can read a draft", open_to_all)


def _kill(command: tuple[str, ...], folder: Path, sign: signal.Signals, delay: float, at_write: bool) -> bool:
    """Run the command, kill it at the moment, and tell whether it was still running."""
    environment = os.environ | {"NUMBA_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "hushtable", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        before = set(folder.iterdir())
        while at_write and process.poll() is None and set(folder.iterdir()) <= before:
            time.sleep(0.0005)
        time.sleep(delay)
        was_running = process.poll() is None
        process.send_signal(sign)
        process.wait()
    return was_running
