"""Columns of every type through every door: the same published cells, kept cells as they were, a claim that holds."""

from __future__ import annotations

import csv
import datetime as dt
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import yaml

import hushtable as ht
from campaign.outcome import Outcome
from command import run

_DAYS = [dt.date(1582, 10, 15), dt.date(1969, 12, 31), dt.date(2000, 2, 29), dt.date(9999, 12, 31)]
_MOMENTS = [dt.datetime(1969, 12, 31, 23, 59, 59, 999000), dt.datetime(2000, 2, 29), dt.datetime(2024, 10, 27, 1, 30)]
_REALS = [0.0, -0.0, 0.1, -1.5, 1e300, float("nan")]
_TEXTS = ["bonn", "Bonn", "linz, am", "zürich 🏔", "NA", "01", "two\nlines", 'a "quote"', "=1+1", "é"]
_PALETTES: dict[str, tuple[Any, list[Any]]] = {
    "int8": (pl.Int8(), [-128, 0, 7]),
    "int64": (pl.Int64(), [-(2**63), 0, 2**53 + 1]),
    "uint8": (pl.UInt8(), [0, 9, 255]),
    "uint64": (pl.UInt64(), [0, 9, 2**63 - 1]),
    "float32": (pl.Float32(), _REALS[:4]),
    "float64": (pl.Float64(), _REALS),
    "endless": (pl.Float64(), [0.5, float("inf"), float("-inf")]),
    "decimal": (pl.Decimal(10, 2), [Decimal("1.50"), Decimal("-0.01"), Decimal(2)]),
    "flag": (pl.Boolean(), [False, True]),
    "date": (pl.Date(), _DAYS),
    "ms": (pl.Datetime("ms"), _MOMENTS),
    "us": (pl.Datetime("us"), _MOMENTS),
    "ns": (pl.Datetime("ns"), _MOMENTS),
    "zoned": (pl.Datetime("us", "Europe/Berlin"), [each.replace(tzinfo=dt.UTC) for each in _MOMENTS]),
    "time": (pl.Time(), [dt.time(0), dt.time(23, 59, 59, 1)]),
    "duration": (pl.Duration("us"), [dt.timedelta(0), dt.timedelta(days=-1, seconds=1)]),
    "text": (pl.String(), _TEXTS),
    "category": (pl.Categorical(), _TEXTS),
    "ordered": (pl.Enum(["low", "mid", "high"]), ["high", "low"]),
    "bytes": (pl.Binary(), [b"", b"\x00\xff"]),
    "list": (pl.List(pl.Int64()), [[], [1, 2]]),
    "null": (pl.Null(), [None]),
}
_PERSON = "whose"
_NAMES = ["age", "*", "^a.*$", "a.b", 'q"`u', "two words", "sélect 1", "🦔", "_h"]


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table, the release of every engine and of the command, and what they have in common."""
    outcome = Outcome()
    table = _table(random)
    names = table.columns
    n_qi = random.randint(1, min(2, len(names)))
    k, recoding, limit = random.randint(2, 4), random.choice(["tight", "readable", "nested"]), random.choice([0.0, 0.3])
    asked: dict[str, Any] = {
        "quasi_identifiers": names[:n_qi],
        "models": [ht.KAnonymity(k)],
        "method": ht.Mondrian(recoding=recoding),
        "suppression_limit": limit,
        "roles": "trust",
    }
    if random.random() < 0.3:
        asked |= {"person": _PERSON, "identifiers": [_PERSON]}
        whose = [random.randrange(max(2, len(table) // 2)) for _ in range(len(table))]
        table = table.with_columns(pl.Series(_PERSON, whose, dtype=pl.Int64()))
    outcome.reproduction = (
        f"table = pl.DataFrame({table.to_dict(as_series=False)!r}, {table.schema!r})\nasked = {asked!r}"
    )
    published: dict[str, pl.DataFrame] = {}
    for engine, given in _given(table, folder):
        with outcome.guarded(f"anonymize: {engine}"):
            release = ht.anonymize(given, **asked)
            with outcome.guarded(f"write: {engine}"):
                out = folder / f"out of {engine}"
                out = out if release.origin is not None else out.with_suffix(".parquet")
                outcome.expect(release.write(out).passed, "a release does not hold what it claims", engine)
                paths = sorted(out.glob("part-*")) if out.is_dir() else [out]
                published[engine] = pl.concat([pl.read_parquet(path) for path in paths])
                outcome.count(f"written: {engine}")
    policy = _policy(names, n_qi, k, recoding, limit, asked.get("person"))
    for door in ("parquet", "csv"):
        if (frame := _commanded(outcome, door, table, policy, folder)) is not None:
            if door == "csv":
                # Its cells are read as texts are, so that they may be of other kinds.
                _look(outcome, door, _as_text(table), frame, names, n_qi)
            else:
                published["command"] = frame
    for engine, frame in published.items():
        _look(outcome, engine, table, frame, names, n_qi)
    cells = {engine: _rows(frame, names[:n_qi]) for engine, frame in published.items()}
    first = next(iter(cells.values()), None)
    outcome.expect(all(each == first for each in cells.values()), "engines publish other cells", list(cells.items()))
    return outcome


def _table(random: Random) -> pl.DataFrame:
    n_rows = random.randint(4, 24)
    columns = []
    for name in random.sample(_NAMES, random.randint(1, 4)):
        dtype, values = _PALETTES[random.choice(list(_PALETTES))]
        missing = [None] if random.random() < 0.5 else []
        columns.append(pl.Series([random.choice([*values, *missing]) for _ in range(n_rows)], dtype=dtype).alias(name))
    return pl.DataFrame(columns)


def _policy(names: list[str], n_qi: int, k: int, recoding: str, limit: float, person: str | None) -> dict[str, Any]:
    kept = names[n_qi:]
    rules: dict[str, Any] = {
        "version": 1,
        "columns": dict.fromkeys(names[:n_qi], "quasi-identifier") | dict.fromkeys(kept, "other"),
        "models": [{"k-anonymity": k}],
        "method": {"mondrian": {"recoding": recoding}},
        "limits": {"suppression": limit},
        "accept": dict.fromkeys(kept, "a campaign"),
    }
    if person is not None:
        rules["columns"][person] = "identifier"
        rules["person"] = person
    return rules if kept else {name: each for name, each in rules.items() if name != "accept"}


def _commanded(
    outcome: Outcome, door: str, table: pl.DataFrame, policy: dict[str, Any], folder: Path
) -> pl.DataFrame | None:
    """Return what the command publishes of a file; None where a file cannot hold the table, or nothing is published."""
    if any(dtype.is_nested() or isinstance(dtype, (pl.Binary, pl.Duration, pl.Null)) for dtype in table.dtypes):
        return None
    given, rules, out = folder / f"given.{door}", folder / f"{door}.yaml", folder / f"out by command.{door}"
    if door == "csv":
        _as_text(table).write_csv(given)
    else:
        table.write_parquet(given)
    rules.write_text(yaml.safe_dump(policy, allow_unicode=True), encoding="utf-8")
    made = run("anonymize", given, "-p", rules, "-o", out)
    outcome.expect(made.code in (0, 1, 2, 3), "the command fails", made)
    if made.code:
        outcome.count(f"command, {door}: exit {made.code}")
        return None
    outcome.count(f"written: command, {door}")
    original = ["--original", given] if "person" in policy else []
    checked = run("verify", out, *original)
    outcome.expect(checked.code == 0, "verify says no to a release of the command", checked)
    return _read_csv(out) if door == "csv" else pl.read_parquet(out)


def _read_csv(path: Path) -> pl.DataFrame:
    # polars 2.1 does not take the quotes of a header back.
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    # A line without a cell is a missing value of a table of one column.
    return pl.DataFrame([row or [""] for row in rows], schema=dict.fromkeys(header, pl.String()), orient="row")


def _as_text(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.all().cast(pl.String).fill_null(""))


def _given(table: pl.DataFrame, folder: Path) -> Iterator[tuple[str, Any]]:
    """Give the same table as each engine takes it; what a library has no type for, it is not given."""
    yield "polars", table
    if not any(dtype == pl.Null or dtype.is_nested() for dtype in table.dtypes):
        yield "pyarrow", table.to_arrow()
        # pandas has no dates, and no missing integers.
        if pl.from_pandas(table.to_pandas()).schema == table.schema:
            yield "pandas", table.to_pandas()
    (folder / "in").mkdir()
    half = len(table) // 2
    table[:half].write_parquet(folder / "in" / "0.parquet")
    table[half:].write_parquet(folder / "in" / "1.parquet")
    yield "folder", str(folder / "in")
    yield "lazy", table.lazy()
    # DuckDB reads durations of Parquet as numbers, and orders of categories not at all.
    if half and not any(isinstance(dtype, (pl.Duration, pl.Enum)) for dtype in table.dtypes):
        yield "duckdb", duckdb.read_parquet(str(folder / "in" / "*.parquet"))


def _look(outcome: Outcome, engine: str, table: pl.DataFrame, frame: pl.DataFrame, names: list[str], n_qi: int) -> None:
    outcome.expect(set(frame.columns) == set(names), "columns are lost", f"{engine}: {frame.columns}")
    # Suppressed records publish no sensitive cell, and may be dropped.
    if any(set(row) == {"*"} for row in _rows(frame, names[:n_qi])) or len(frame) < len(table):
        return
    for name in names[n_qi:]:
        before, after = table[name], frame[name]
        outcome.expect(
            Counter(map(_cell, before)) == Counter(map(_cell, after)),
            "kept cells are not what they were",
            f"{engine}: {name} ({before.dtype} -> {after.dtype})",
        )
        if engine in ("polars", "folder", "lazy"):
            outcome.expect(
                _type(before.dtype) == _type(after.dtype),
                "a kept column has another type",
                f"{engine}: {name} ({before.dtype} -> {after.dtype})",
            )


def _rows(frame: pl.DataFrame, names: list[str]) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(frame[name].cast(pl.String).to_list() for name in names), strict=True))


def _type(dtype: Any) -> Any:
    # A release has no categories of its own, and a column without a cell has any type.
    return pl.String() if isinstance(dtype, (pl.Categorical, pl.Enum, pl.Null)) else dtype


def _cell(cell: Any) -> Any:
    if isinstance(cell, dt.datetime) and cell.tzinfo is not None:
        return cell.astimezone(dt.UTC).replace(tzinfo=None)
    if isinstance(cell, float):
        # What is no number is missing.
        return None if cell != cell else repr(cell)
    return tuple(cell) if isinstance(cell, pl.Series) else cell
