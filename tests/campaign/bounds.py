"""Bounds beside cells: every original value lies between them, and they are what a slow twin reads from the cells."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign import tables
from campaign.outcome import Outcome
from twins.naive_bounds import bounds

_MEASURED = ("integer", "decimal", "date", "datetime", "time")
_FILES = ("out.csv", "out.parquet", "out.xlsx", "out.sav", "out.dta")
_HIERARCHIES: dict[str, tuple[Any, ...]] = {
    "integer": (ht.Hierarchy.intervals([5, 10, 50]), "auto"),
    "decimal": (ht.Hierarchy.intervals([0.5, 10]), "auto"),
    "date": (ht.Hierarchy.dates(["month", "quarter", "year"]), "auto"),
    "datetime": (ht.Hierarchy.dates(["day", "month", "year", "decade"]), "auto"),
    "time": (ht.Hierarchy.times([15, 60]), "auto"),
}


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table, its release with bounds, and a file that is changed."""
    outcome = Outcome()
    n_rows = random.randint(6, 60)
    columns = {name: _draw(random, n_rows) for name in ("first", "second")[: random.randint(1, 2)]}
    columns["kept"] = tables.Made(list(range(n_rows)), "int64", "integer")
    form = random.choice(tables.FORMS)
    data = tables.build(columns, form, random, folder)
    asked: dict[str, Any] = {
        "quasi_identifiers": [name for name in columns if name != "kept"],
        "models": [ht.KAnonymity(random.randint(2, 4))],
        "method": random.choice((*map(_by_cuts, ("readable", "tight", "cut", "set", "label")), ht.FullDomain())),
        "hierarchies": {
            name: random.choice(_HIERARCHIES[made.kind])
            for name, made in columns.items()
            if name != "kept" and random.random() < 0.4
        },
        "roles": "trust",
    }
    outcome.reproduction = f"{form} of { ({name: made.values for name, made in columns.items()})!r}\nasked = {asked!r}"
    with outcome.guarded("anonymize"):
        release = ht.anonymize(data, **asked).with_bounds()
        outcome.expect(release.verify().passed, "a release with bounds does not hold", release.verify())
        _look_at_cells(outcome, release, columns, asked)
        _look_at_file(outcome, release, folder / random.choice(_FILES), random)
    return outcome


def _by_cuts(recoding: str) -> ht.Mondrian:
    return ht.Mondrian(recoding=recoding)  # type: ignore[arg-type]  # one of its styles


def _draw(random: Random, n_rows: int) -> tables.Made:
    """Draw a column of numbers, dates or times."""
    while True:
        made = tables.column(random, n_rows)
        if made.kind in _MEASURED and made.dtype != "factor":
            return made


def _look_at_cells(outcome: Outcome, release: Any, columns: dict[str, tables.Made], asked: dict[str, Any]) -> None:
    _, rows = tables.records(release.frame)
    kinds = {column.name: column.kind for column in release.recoding.columns}
    for name in release.claim.bounds:
        kind = kinds[name]
        outcome.count(kind)
        for row, value in zip(rows, columns[name].values, strict=True):
            cell, found = row[name], (row[f"{name}_from"], row[f"{name}_to"])
            expected = bounds(None if cell is None else _text(cell), kind)
            told = f"{found} beside {cell!r}, not {expected}; {kind}"
            outcome.expect(
                tuple(map(_plain, found)) == tuple(map(_plain, expected)), "other bounds than the twin", told
            )
            if value is not None and value == value:
                lies = all(
                    bound is None or (bound <= _as(value, bound) if is_low else _as(value, bound) <= bound)
                    for bound, is_low in zip(map(_plain, found), (True, False), strict=True)
                )
                outcome.expect(lies, "a value lies outside its bounds", f"{value!r}: {told}")


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else str(cell)


def _plain(bound: Any) -> Any:
    if isinstance(bound, dt.datetime):
        return bound.replace(tzinfo=None)
    # A Table has times, where files have texts.
    return _clock(bound) if isinstance(bound, dt.time) else bound


def _clock(time: dt.time) -> str:
    return time.isoformat("auto" if time.second or time.microsecond else "minutes")


def _as(value: Any, bound: Any) -> Any:
    """Return a value in the type of its bound."""
    if isinstance(bound, str):
        return _clock(value)
    if isinstance(bound, dt.datetime):
        return value.replace(tzinfo=None)
    return value


def _look_at_file(outcome: Outcome, release: Any, path: Path, random: Random) -> None:
    """Write the release, and change one bound of the table: that must not hold any more."""
    outcome.count(path.suffix)
    with outcome.guarded(f"write {path.suffix}"):
        release.write(path)
    frame = pl.DataFrame(tables.records(release.frame)[1], infer_schema_length=None)
    name = random.choice(release.claim.bounds)
    side, row = f"{name}_{random.choice(('from', 'to'))}", random.randrange(len(frame))
    changed = frame[side].to_list()
    changed[row] = _other_than(changed[row], release, name)
    if changed[row] is not None:
        fake = frame.with_columns(pl.Series(changed, dtype=frame[side].dtype).alias(side))
        outcome.expect(not release.claim.verify(fake).passed, "a changed bound holds", f"{side}, row {row}")


def _other_than(bound: Any, release: Any, name: str) -> Any:
    """Return another bound; None where this table has no type for one."""
    if isinstance(bound, (dt.date, dt.datetime)):
        return bound + dt.timedelta(1) if bound.year < dt.MAXYEAR else bound - dt.timedelta(1)
    if isinstance(bound, str):
        return "13:37" if bound != "13:37" else "13:38"
    if isinstance(bound, dt.time):
        return dt.time(13, 37) if bound != dt.time(13, 37) else dt.time(13, 38)
    if bound is None:
        return None
    return bound + 1 if abs(bound) < 2**52 else type(bound)(0)
