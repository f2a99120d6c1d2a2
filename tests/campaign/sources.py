"""Tables of databases by URL: what comes back is what was there, verified; URLs and files that are odd are refused."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from hushtable.io import frames
from io_databases import duckdb_file, quoted, sqlite_file

_NAMES = ("age", "Age 2", 'q"q', "a;b", "%41", "ü", "*", "a.b", "select", "--", "x=y&z", "?", "{0}", "'")
_TEXTS = ("a", "'", '"', "=1+1", "007", "1e5", "NaN", "ä", "2020-01-01", "", "a\nb", "\\")
_DAY = dt.date(2000, 1, 1)
_SECRET = "canary-pa55"


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table in a file of SQLite or DuckDB."""
    outcome = Outcome(secrets=(_SECRET,))
    if random.random() < 0.3:
        _typed(outcome, random, folder)
        return outcome
    data, name = _drawn(random), random.choice(_NAMES)
    program = random.choice(("sqlite", "duckdb"))
    path = folder / "people.db"
    outcome.reproduction = f"a table {name!r} of {program}: pl.DataFrame({data.to_dict(as_series=False)!r})"
    if program == "sqlite":
        sqlite_file(path, data, name)
        asked, table = quote(name, safe=""), quoted(name)
    else:
        duckdb_file(path, data, name)
        asked, table = f"s.{quote(quoted(name), safe='')}", f"s.{quoted(name)}"
    url = f"{program}:///{path}?"
    with outcome.guarded("read", ht.InputError):
        of_table = frames.read(f"{url}table={asked}").native
        query = f"SELECT * FROM {table} {random.choice(('', ';', '-- all', 'WHERE 1 = 1'))}"
        of_query = frames.read(f"{url}query={random.choice((str, quote))(query)}").native
        for found in (of_table, of_query):
            outcome.expect(found.equals(data) and found.schema == data.schema, "other cells come back", found)
        outcome.count(f"{program} read")
        options: dict[str, Any] = {"quasi_identifiers": ["qi"], "models": [ht.KAnonymity(2)], "roles": "trust"}
        release, expected = (ht.anonymize(each, **options) for each in (f"{url}table={asked}", data))
        outcome.expect(release.frame.equals(expected.frame), "another release than in memory")
        streamed = ht.anonymize(f"{url}table={asked}", engine="stream", **options)
        outcome.expect(streamed.write(folder / "out").passed, "what is written does not hold")
        written = pl.read_parquet(folder / "out" / "part-*.parquet")
        ours, theirs = (sorted(map(str, each.rows())) for each in (written, expected.frame))
        outcome.expect(ours == theirs, "other rows when streamed", (ours, theirs))
        outcome.count(f"{program} released")
    _damage(outcome, random, path, f"{url}table={asked}")
    return outcome


def _drawn(random: Random) -> pl.DataFrame:
    n, gap = random.randint(2, 12), random.random() < 0.5
    kinds: dict[str, tuple[Any, Any]] = {
        "whole": (pl.Int64(), lambda: random.choice([0, 7, -3, 2**40, 2**63 - 1])),
        "broken": (pl.Float64(), lambda: random.choice([0.1, 1 / 3, 1e-7, -2.5, 1e15])),
        "words": (pl.String(), lambda: random.choice(_TEXTS)),
        "day": (pl.Date(), lambda: _DAY + dt.timedelta(days=random.randint(-9_000, 9_000))),
        "truth": (pl.Boolean(), lambda: random.random() < 0.5),
        "moment": (
            pl.Datetime("us"),
            lambda: dt.datetime(2020, 2, 28, 23, 59, 58) + dt.timedelta(microseconds=random.randint(0, 10**9)),
        ),
    }
    columns = {"qi": pl.Series([random.randint(1, 9) for _ in range(n)], dtype=pl.Int64)}
    for name in random.sample(_NAMES, random.randint(0, 4)):
        dtype, draw = kinds[random.choice(sorted(kinds))]
        cells = [None if gap and random.random() < 0.3 else draw() for _ in range(n)]
        # Of a column without a cell, SQLite tells what was declared.
        columns[name] = pl.Series(cells if any(cell is not None for cell in cells) else [draw()] * n, dtype=dtype)
    return pl.DataFrame(columns)


def _typed(outcome: Outcome, random: Random, folder: Path) -> None:
    """Somebody types a URL with a password, or parts of one: it is refused, and no error tells the password."""
    scheme = random.choice(("postgresql", "postgres", "sqlite", "duckdb", "s3", "az", "mysql", "PostgreSQL"))
    slashes = random.choice(("://", ":///", ":/"))
    user = random.choice(("ann:{}@", "ann:{}/x@", "ann:?{}@", ":{}@", "a%20b:{}@")).format(_SECRET)
    end = random.choice(("", "?table=t", "?query=SELECT 1 AS a", "?sslmode=require&table=t", "/x.parquet"))
    url = f"{scheme}{slashes}{user}localhost:1/db{end}"
    if random.random() < 0.3:
        key = random.choice(("password", "sslpassword", "Password", "sig", "passw%6Frd", "client_secret", "token"))
        url = f"{scheme}{slashes}localhost:1/db?{key}={_SECRET}{end.replace('?', '&')}"
    outcome.reproduction = f"anonymize({url!r})"
    given = Path(url) if random.random() < 0.3 else url
    engine = random.choice(("auto", "memory", "stream"))
    with outcome.guarded("typed", ht.HushError):
        ht.anonymize(given, quasi_identifiers=["a"], models=[ht.KAnonymity(2)], engine=engine)
        outcome.fail("a URL with a password is taken")
    with outcome.guarded("written", ht.HushError):
        ht.anonymize(pl.DataFrame({"a": [1, 1]}), quasi_identifiers=["a"], models=[ht.KAnonymity(2)]).write(given)
        outcome.fail("a URL with a password is written to")
    outcome.expect(not any(folder.iterdir()), "something is written")


def _damage(outcome: Outcome, random: Random, path: Path, url: str) -> None:
    """A damaged file is read, or refused: nothing else."""
    raw = bytearray(path.read_bytes())
    for _ in range(random.randint(1, 4)):
        raw[random.randrange(len(raw))] = random.randrange(256)
    path.write_bytes(bytes(raw[: random.randint(1, len(raw))]) if random.random() < 0.3 else bytes(raw))
    with outcome.guarded("damaged", ht.HushError):
        frames.read(url)
        outcome.count("damaged, and read")
