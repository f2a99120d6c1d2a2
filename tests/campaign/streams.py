"""Streamed jobs whose input changes under them, and folders that hold more than was judged."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from command import run
from hushtable.anonymizers import beyond_memory
from hushtable.io import batches
from hushtable.release import manifest


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: files, a change before one of the passes, and what is written."""
    outcome, source, out = Outcome(), folder / "in", folder / "out"
    source.mkdir()
    for part in range(random.randint(1, 3)):
        _table(random, part, is_unique=False).write_parquet(source / f"{part}.parquet")
    before = _notes(source)
    name, change = random.choice(_CHANGES)
    at = random.randint(0, 6)
    outcome.reproduction = f"{name} before pass {at}"
    has_changed: list[bool] = []
    changing = _changing(lambda: change(random, source), at, has_changed)
    most = random.choice([beyond_memory.MOST_COUNTED, 1])
    outcome.count(f"records: {'one by one' if most == 1 else 'counted'}")
    by_count = mock.patch.object(beyond_memory, "MOST_COUNTED", most)
    with by_count, mock.patch.object(batches.Parts, "batches", changing), outcome.guarded("write"):
        release = ht.Policy.parse(json.dumps(_rules(random))).protect(str(source))
        if at == 0:
            change(random, source)
            has_changed.append(True)
        release.write(out)
        outcome.count(f"written: {'changed' if has_changed else 'as it was'}")
    if not out.exists():
        outcome.expect(has_changed and name != "nothing", "what did not change was refused", f"{outcome.seen}")
        left = [path.name for path in folder.iterdir() if path != source]
        outcome.expect(not left, "something is left behind", left)
        return outcome
    notes = _notes(out)
    outcome.expect(notes == before, "what was written is not what was measured", f"{len(before)} {len(notes)}")
    outcome.expect(run("verify", out).code == 0, "a release does not hold")
    stranger = _stranger(random, out)
    outcome.count(f"stranger: {stranger}")
    outcome.expect(run("verify", out).code != 0, "a folder with rows that nobody judged holds", stranger)
    return outcome


def _table(random: Random, part: int, *, is_unique: bool) -> pl.DataFrame:
    n = random.randint(30, 90)
    notes = [f"{part} {i}" for i in range(n)] if is_unique else [random.choice("ab") for _ in range(n)]
    cells: dict[str, Any] = {"sex": ["f", "m"], "zone": list("pqr")}
    drawn = {name: [random.choice(values) for _ in range(n)] for name, values in cells.items()}
    return pl.DataFrame({**drawn, "note": notes})


def _rules(random: Random) -> dict[str, Any]:
    columns = {"sex": "quasi-identifier", "zone": "quasi-identifier", "note": "other"}
    by = random.choice([None, None, "sex", "zone"])
    write = {} if by is None else {"write": {"by": by}}
    return {"columns": columns, "models": [{"k-anonymity": random.randint(2, 6)}], **write}


def _notes(folder: Path) -> list[str]:
    """Return the kept cells of all files of a folder, sorted."""
    return sorted(pl.concat([pl.read_parquet(path) for path in sorted(folder.rglob("*.parquet"))])["note"].to_list())


def _changing(change: Callable[[], None], at: int, has_changed: list[bool]) -> Any:
    """Return a pass over files that changes them before it is made, if it is the one."""
    passes = batches.Parts.batches
    made: list[int] = []

    def changing(self: Any, *names: Any, **options: Any) -> Iterator[Any]:
        made.append(1)
        if len(made) == at and not has_changed:
            has_changed.append(True)
            change()
        return passes(self, *names, **options)

    return changing


def _replaced(random: Random, source: Path) -> None:
    _table(random, 9, is_unique=True).write_parquet(source / "new")
    os.replace(source / "new", source / "0.parquet")


def _rewritten(random: Random, source: Path) -> None:
    _table(random, 9, is_unique=random.random() < 0.5).write_parquet(source / "0.parquet")


def _cut_off(random: Random, source: Path) -> None:
    raw = (source / "0.parquet").read_bytes()
    (source / "0.parquet").write_bytes(raw[: random.randrange(len(raw))])


def _gone(random: Random, source: Path) -> None:
    (source / "0.parquet").unlink()


def _joined(random: Random, source: Path) -> None:
    _table(random, 9, is_unique=True).write_parquet(source / "9.parquet")


def _touched(random: Random, source: Path) -> None:
    os.utime(source / "0.parquet", ns=(1, random.randrange(10**9)))


_CHANGES: tuple[tuple[str, Callable[[Random, Path], None]], ...] = (
    ("nothing", lambda random, source: None),
    ("replaced", _replaced),
    ("rewritten", _rewritten),
    ("cut off", _cut_off),
    ("gone", _gone),
    ("joined", _joined),
    ("touched", _touched),
)


def _stranger(random: Random, out: Path) -> str:
    """Put something into a released folder, and let its manifest name the folder as it is then."""
    name = random.choice(("_x.parquet", ".h.parquet", "README.txt", "x.parquet", "sub/x.parquet", "_sub/x.parquet"))
    part = random.choice(sorted(out.rglob("part-*")))
    home = random.choice((out, part.parent))
    (home / name).parent.mkdir(exist_ok=True)
    shutil.copy(part, home / name)
    told = manifest.manifest_path(out)
    if (home / name).parent == home:
        told.write_text(json.dumps({**json.loads(told.read_text()), "sha256": manifest.sha256(out)}))
    return name
