"""Tables as files of every kind that is written: what comes back is what was there, and verified; damage is refused."""

from __future__ import annotations

import datetime as dt
import shutil
import zipfile
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from hushtable.io import frames
from hushtable.policy import convert

ENDINGS = (".csv", ".parquet", ".xlsx", ".sav", ".zsav", ".dta", ".xpt")
_TEXTS = ("a", "=1+1", "+49 30", "007", "1e5", "ä ö", "日本", "<b>", "@x", "https://x.org", "x" * 300)
_DAY = dt.date(1990, 1, 1)


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table through two kinds of files."""
    outcome = Outcome()
    if random.random() < 0.2:
        random.choice((_converted, _hive, _parted))(outcome, random, folder)
        return outcome
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


def _converted(outcome: Outcome, random: Random, folder: Path) -> None:
    """A project or code list of another tool that was damaged becomes a policy or hierarchy, or is refused."""
    path = folder / random.choice(("p.deid", "p.hrc", "p.txt"))
    if path.suffix == ".deid":
        config = random.choice(("2-anonymity", "distinct-2-diversity for attribute 'b'", "9-likeness", "", "<"))
        entries = {
            "project.xml": "<project><separator>;</separator></project>",
            "input/config.xml": f"<config><criteria><criterion>{config}</criterion></criteria></config>",
            "input/definition.xml": "<definition><assigment><name>a</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type>"
            f"</assigment><assigment><name>{random.choice('abß&')}</name><type>SENSITIVE_ATTRIBUTE</type></assigment>"
            "</definition>",
            "input/hierarchies/a.csv": random.choice(("x;*\n", "", "x;y;*\nz;*\n", "\x00")),
        }
        with zipfile.ZipFile(path, "w") as project:
            for name in random.sample(sorted(entries), random.randint(3, 4)):
                project.writestr(name, entries[name])
    else:
        lines = [f"{'@' * random.randint(0, 2)}{random.choice('abc;*')}{i}" for i in range(random.randint(0, 6))]
        if path.suffix == ".txt":
            trees = (f"{random.choice('abcd')} has {' '.join(random.choices('abcdef', k=2))}" for _ in range(4))
            lines = ["distinct", "name x", "", *trees]
        path.write_text("\n".join(lines), encoding="utf-8")
    if random.random() < 0.4:
        raw = bytearray(path.read_bytes()) or bytearray(b"x")
        raw[random.randrange(len(raw))] = random.randrange(256)
        path.write_bytes(bytes(raw))
    outcome.reproduction = f"convert of a {path.suffix} of the bytes {path.read_bytes()[:600]!r}"
    with outcome.guarded("convert", ht.HushError):
        made = convert(path)
        outcome.count("converted")
        for name, text in made.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")


def _hive(outcome: Outcome, random: Random, folder: Path) -> None:
    """A table in folders of a Hive data set is published as it is in memory."""
    n = random.randint(4, 40)
    keys = random.choice(
        (["N", "S ü", "a=b"], ["1", "2", "30"], ["01", "2"], ["2024-01-02", "2023-05-06"], [None, "x"])
    )
    table = pl.DataFrame(
        {"qi": [random.randint(1, 9) for _ in range(n)], "key": [random.choice(keys) for _ in range(n)]},
        schema={"qi": pl.Int64, "key": pl.String},
    ).sort("key")
    outcome.reproduction = f"a Hive data set of {table.to_dict(as_series=False)!r} by key"
    for place, (key,) in enumerate(table.select("key").unique(maintain_order=True).rows()):
        part = folder / "in" / f"key={'__HIVE_DEFAULT_PARTITION__' if key is None else quote(key, safe='')}"
        part.mkdir(parents=True)
        rows = table.filter(pl.col("key").is_null() if key is None else pl.col("key") == key)
        rows.select("qi").write_parquet(part / f"{place}.parquet")
    asked: dict[str, Any] = {"quasi_identifiers": ["qi"], "models": [ht.KAnonymity(2)], "roles": "trust"}
    with outcome.guarded("hive", ht.HushError):
        release = ht.anonymize(str(folder / "in"), **asked)
        outcome.expect(release.write(folder / "out").passed, "what is written does not hold")
        written = pl.read_parquet(folder / "out" / "part-*.parquet")
        same = ht.anonymize(table, **asked).frame
        ours, theirs = (sorted(map(str, frame.select(pl.all().cast(pl.String)).rows())) for frame in (written, same))
        outcome.expect(ours == theirs, "other rows than in memory", (ours, theirs))
        outcome.count("hive")


def _parted(outcome: Outcome, random: Random, folder: Path) -> None:
    """A release in folders of a published column holds what is published, and fails with anything added."""
    n, cells = random.randint(4, 40), random.choice((_TEXTS, ("a/b", "..", "%41", "a=b", None), ("1", "2"), ("",)))
    table = pl.DataFrame(
        {"qi": [random.randint(1, 9) for _ in range(n)], "key": [random.choice(cells) for _ in range(n)]},
        schema={"qi": pl.Int64, "key": pl.String},
    )
    by, engine = random.choice(("qi", "key")), random.choice(("memory", "stream"))
    outcome.reproduction = f"{engine}: pl.DataFrame({table.to_dict(as_series=False)!r}) by {by}"
    names = random.choice((["qi"], ["qi", "key"]))
    with outcome.guarded("parted", ht.HushError):
        table.write_parquet(folder / "in.parquet")
        asked: dict[str, Any] = {"quasi_identifiers": names, "models": [ht.KAnonymity(2)], "roles": "trust"}
        release = ht.anonymize(str(folder / "in.parquet"), engine=engine, **asked)
        out = folder / "out"
        outcome.expect(release.write(out, by=by).passed, "what is written does not hold")
        same = ht.anonymize(table, **asked).frame.select(pl.all().cast(pl.String))
        read = pl.read_parquet(out / "**/*.parquet", hive_partitioning=True, try_parse_hive_dates=False)
        written = read.select(pl.col("qi", "key").cast(pl.String))
        ours, theirs = (sorted(map(str, frame.rows())) for frame in (written, same))
        outcome.expect(ours == theirs, "other rows than in memory", (ours, theirs))
        part = random.choice(sorted(out.glob("*=*/*")))
        shutil.copy(part, part.with_name(random.choice(("_x.parquet", "part-00001.parquet"))))
        outcome.count("parted")
        role = "quasi-identifier" if "key" in names else "other"
        policy = ht.Policy.parse(f"columns: {{qi: quasi-identifier, key: {role}}}\nmodels: [k-anonymity: 2]")
        try:
            policy.verify(str(out))
        except ht.VerificationError:
            return
        outcome.expect(False, "a part that was added is taken for the release")


def _drawn(random: Random) -> pl.DataFrame:
    n, gap = random.randint(2, 12), random.random() < 0.5
    kinds: dict[str, Any] = {
        "whole": lambda: random.choice([0, 7, -3, 2**31, 2**40, None if gap else 1]),
        "broken": lambda: random.choice([0.1, 1 / 3, 1e-7, -2.5, 1e15, None if gap else 0.5]),
        "words": lambda: random.choice([*_TEXTS, None if gap else "z"]),
        "day": lambda: random.choice([_DAY + dt.timedelta(days=random.randint(-9_000, 9_000)), None if gap else _DAY]),
        "clock": lambda: random.choice([dt.time(0), dt.time(23, 59, 59, 250_000), None if gap else dt.time(12)]),
        "moment": lambda: random.choice([dt.datetime(1950, 1, 2, 3, 4, 5), None if gap else dt.datetime(2024, 12, 31)]),
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
