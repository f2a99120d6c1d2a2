"""Tables as files of every kind that is written: what comes back is what was there, and verified; damage is refused."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from hushtable.io import frames

ENDINGS = (".csv", ".parquet", ".xlsx", ".sav", ".zsav", ".dta", ".xpt")
_TEXTS = ("a", "=1+1", "+49 30", "007", "1e5", "ä ö", "日本", "<b>", "@x", "https://x.org", "x" * 300)
_DAY = dt.date(1990, 1, 1)


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table through two kinds of files."""
    outcome = Outcome()
    table, (first, then) = _drawn(random), (random.choice(ENDINGS), random.choice(ENDINGS))
    outcome.reproduction = f"table = pl.DataFrame({table.to_dict(as_series=False)!r})  # as {first}, then as {then}"
    source, out = folder / f"in{first}", folder / f"out{then}"
    with outcome.guarded("write", ht.InputError):
        frame = frames.read(table)
        frames.check_writable(frame, source)
        frames.write(frame, source)
        back = frames.read(str(source))
        # What a file of text looks like is typed as a CSV is, which has a campaign of its own.
        if not back.is_text:
            cells = [_plain(back.column(name)) for name in back.columns]
            expected = [_plain(table[name]) for name in table.columns]
            outcome.expect(cells == expected, "other cells come back", (cells, expected))
        asked: dict[str, Any] = {"quasi_identifiers": ["qi"], "models": [ht.KAnonymity(2)], "roles": "trust"}
        release = ht.anonymize(str(source), **asked)
        outcome.expect(release.write(out).passed, "what is written does not hold", out.name)
        outcome.count("written")
        # Of Parquet, polars ends the process over some damage.
        if then != ".parquet":
            _damage(outcome, random, out)
    return outcome


def _drawn(random: Random) -> pl.DataFrame:
    n, gap = random.randint(2, 12), random.random() < 0.5
    kinds: dict[str, Any] = {
        "whole": lambda: random.choice([0, 7, -3, 2**31, 2**40, None if gap else 1]),
        "broken": lambda: random.choice([0.1, 1 / 3, 1e-7, -2.5, 1e15, None if gap else 0.5]),
        "words": lambda: random.choice([*_TEXTS, None if gap else "z"]),
        "day": lambda: random.choice([_DAY + dt.timedelta(days=random.randint(-9_000, 9_000)), None if gap else _DAY]),
        "truth": lambda: random.choice([True, False]),
    }
    drawn = {name: [kinds[name]() for _ in range(n)] for name in random.sample(sorted(kinds), random.randint(1, 3))}
    return pl.DataFrame({"qi": [random.randint(1, 9) for _ in range(n)], **drawn})


def _plain(column: pl.Series) -> list[Any]:
    """Return cells as they compare across programs: truth is 0 and 1, a whole number has no point."""
    cells = column.to_list()
    is_whole = [isinstance(cell, bool) or (isinstance(cell, float) and cell.is_integer()) for cell in cells]
    return [int(cell) if whole else cell for cell, whole in zip(cells, is_whole, strict=True)]


def _damage(outcome: Outcome, random: Random, path: Path) -> None:
    """A damaged file is read, or refused: nothing else."""
    raw = bytearray(path.read_bytes())
    for _ in range(random.randint(1, 4)):
        raw[random.randrange(len(raw))] = random.randrange(256)
    path.write_bytes(bytes(raw[: random.randint(1, len(raw))]) if random.random() < 0.3 else bytes(raw))
    outcome.reproduction = f"frames.read of a {path.suffix} of the bytes {path.read_bytes()[:400]!r}"
    with outcome.guarded("damaged", ht.HushError):
        frames.read(str(path))
