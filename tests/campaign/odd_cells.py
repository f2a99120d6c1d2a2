"""Columns with a few odd cells by every file kind and engine: told of, refused, and then missing or text in all."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from command import run
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError

_ODD = {
    "date": ["31.02.1950", "00.00.1943", "ca. 1943", "1943-02-30", "Mai 43"],
    "number": ["4o", "030", "D-01067", "7 Mo", "#DIV/0!"],
    "time": ["24:00", "24:15", "7.30", "8h"],
    "code": ["D-01067", "1067", "0106", "?1067"],
}
_FORMATS = ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M:%S"]
_KINDS = {"date": ("date", "datetime"), "number": ("integer",), "time": ("time",), "code": ("category",)}


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table of text whose first column has odd cells, by every way in."""
    outcome = Outcome()
    kind, answer, is_kept = random.choice(list(_ODD)), random.choice(["missing", "text"]), random.random() < 0.3
    n_rows = random.randint(80, 400)
    odd = [random.choice(_ODD[kind]) for _ in range(random.randint(1, n_rows // 80))]
    cells = [*odd, *_cells(random, kind, n_rows - len(odd))]
    random.shuffle(cells)
    table = pl.DataFrame({"a": cells, "b": [random.choice("xy") for _ in range(n_rows)]})
    qis = ["b"] if is_kept else ["a", "b"]
    asked: dict[str, Any] = {"quasi_identifiers": qis, "models": [ht.KAnonymity(3)], "roles": "trust"}
    specs = {"a": ColumnSpec(odd_cells=answer)}
    outcome.reproduction = f"table = pl.DataFrame({table.to_dict(as_series=False)!r})\nasked = {asked!r}  # {odd}"
    for way, data, options in _ways(table, folder):
        outcome.count(way)
        with outcome.guarded(f"refuse: {way}"):
            _expect_refusal(outcome, way, lambda: ht.anonymize(data, **asked, **options), odd)  # noqa: B023  # called here
        with outcome.guarded(f"release: {way}", ()):
            release = ht.anonymize(data, **asked, specs=specs, **options)
            path = folder / f"out of {way}"
            path = path if release.origin is not None else path.with_suffix(".parquet")
            outcome.expect(release.write(path).passed, "a release does not hold what it claims", way)
            written = pl.read_parquet(sorted(path.glob("*.parquet")) if path.is_dir() else path)
            n_left = written["a"].cast(pl.String).is_in(odd).sum()
            if answer == "missing":
                outcome.expect(not n_left, "odd cells that are missing are in a release", (way, n_left))
            if is_kept:
                n_missing, n_expected = written["a"].null_count(), len(odd) if answer == "missing" else 0
                outcome.expect(n_missing == n_expected, "other cells are missing", (way, n_missing, n_expected))
    with outcome.guarded("kind", ()):
        found = ht.Table.encode(folder / "t.csv", specs=specs).column("a").kind
        right = _KINDS[kind] if answer == "missing" else ("category",)
        outcome.expect(found in right, "a column is of another kind", (found, right))
    shown = run("scan", folder / "t.csv", "-p", folder / "p.yaml")
    policy = (folder / "p.yaml").read_text(encoding="utf-8")
    is_asked = "odd_cells: refuse" in policy or "a: identifier" in policy
    outcome.expect(shown.code == 0 and is_asked, "scan does not ask", (shown, policy))
    outcome.expect(not _names_one(shown.err + policy, odd), "scan names an odd cell", shown.err)
    return outcome


def _expect_refusal(outcome: Outcome, way: str, release: Any, odd: list[str]) -> None:
    try:
        release()
    except InputError as error:
        text = str(error).partition("\n")[0]
        outcome.expect(re.search(rf": {len(odd)} cells? ", text), "odd cells are not counted", (way, text))
        outcome.expect(not _names_one(text, odd), "an odd cell is named", (way, text))
    else:
        outcome.fail("undecided odd cells are released", way)


def _names_one(text: str, odd: list[str]) -> bool:
    """Tell whether a text holds an odd cell that is no number of records, too."""
    return any(cell in text for cell in odd if not cell.isdecimal())


def _cells(random: Random, kind: str, n: int) -> list[str]:
    moments = [
        dt.datetime(1940, 1, 1) + dt.timedelta(random.randrange(25_000), random.randrange(86_400)) for _ in range(n)
    ]
    format_ = {"date": random.choice(_FORMATS), "time": "%H:%M"}.get(kind)
    if format_ is not None:
        return [moment.strftime(format_) for moment in moments]
    return [f"{random.randrange(30_000):05d}" if kind == "code" else str(random.randrange(100)) for _ in moments]


def _ways(table: pl.DataFrame, folder: Path) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    table.write_csv(folder / "t.csv")
    table.to_pandas().to_excel(folder / "t.xlsx", index=False)
    table.write_parquet(folder / "t.parquet")
    (folder / "parts").mkdir()
    for place, part in enumerate(table.iter_slices(50)):
        part.write_parquet(folder / "parts" / f"{place}.parquet")
    yield "csv", folder / "t.csv", {}
    yield "workbook", folder / "t.xlsx", {}
    yield "parquet", folder / "t.parquet", {}
    yield "polars", table, {}
    yield "pandas", table.to_pandas(), {}
    yield "lazy", table.lazy(), {}
    yield "streamed", folder / "t.csv", {"engine": "stream"}
    yield "parts", folder / "parts", {}
