"""Dates of random forms: what a release publishes holds the unit of every record's own date, and is no finer."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from random import Random

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from hushtable.columns import ColumnSpec

_NAMES = (
    "January February March April May June July August September October November December",
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "januari februari maart april mei juni juli augustus september oktober november december",
)
_MONTHS_IN = {"%d": 0, "%m": 1, "%B": 1, "%q": 3}
_FORMATS = (
    *("%d. %B %Y", "%B %d, %Y", "%d. %m. %Y", "%Y年%m月%d日", "%d%m%Y", "%Y%m%d", "%d.%m.%y", "%m/%d/%Y"),
    *("%m/%Y", "%B %Y", "%Y-%m", "Q%q %Y", "%Y-Q%q", "%q. Quartal %Y", "%Y"),
)
_STYLES = ("readable", "nested", "tight", "cut", "set", "label")


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a column of dates, its release, and the cell of each record."""
    outcome = Outcome()
    format_, names = random.choice(_FORMATS), random.choice(_NAMES).split()
    first = dt.date(random.choice((1935, 1999, 1960)), 1, 1)
    days = [
        first + dt.timedelta(random.randrange(random.choice((40, 900, 9_000)))) for _ in range(random.randint(8, 60))
    ]
    cells = [_write(day, format_, random.choice((names, [each.upper() for each in names]))) for day in days]
    frame = pl.DataFrame({"day": cells, "row": [str(row) for row in range(len(cells))]})
    spec = ColumnSpec(format=format_, latest_year=2026 if "%y" in format_ else None)
    asked = {
        "quasi_identifiers": ["day"],
        "models": [ht.KAnonymity(random.randint(2, 4))],
        "method": random.choice(
            (*map(_by_cuts, ("readable", "nested", "tight", "cut", "set", "label")), ht.FullDomain())
        ),
        "specs": {"day": spec},
        "roles": "trust",
    }
    outcome.reproduction = f"frame = pl.DataFrame({frame.to_dict(as_series=False)!r})\nasked = {asked!r}"
    path = folder / "people.csv"
    frame.write_csv(path)
    outcome.count(format_)
    with outcome.guarded("anonymize"):
        release = ht.anonymize(random.choice((frame, path, frame.to_pandas())), **asked)
        verdict = release.verify()
        outcome.expect(verdict.passed, "the release does not hold", verdict)
        published = dict(zip(release.frame["row"], release.frame["day"], strict=True))
        for row, day in enumerate(days):
            cell = published[str(row)]
            begin, end = _unit(day, format_)
            outcome.expect(_covers(cell, begin), "a cell does not cover its record", f"{cell} of {begin} to {end}")
        if "%d" not in format_:
            finer = [cell for cell in published.values() if re.search(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", cell)]
            outcome.expect(not finer, "a cell is finer than what came", finer[:3])
    return outcome


def _by_cuts(recoding: str) -> ht.Mondrian:
    return ht.Mondrian(recoding=recoding)  # type: ignore[arg-type]  # one of its styles


def _write(day: dt.date, format_: str, names: list[str]) -> str:
    parts = {"%d": f"{day.day:02}", "%m": f"{day.month:02}", "%B": names[day.month - 1], "%Y": f"{day.year:04}"}
    parts |= {"%y": f"{day.year % 100:02}", "%q": str((day.month + 2) // 3)}
    for directive, text in parts.items():
        format_ = format_.replace(directive, text)
    return format_


def _unit(day: dt.date, format_: str) -> tuple[dt.date, dt.date]:
    """Return the first day of what a format tells of a day, and the first one after it."""
    n_months = next((n for directive, n in _MONTHS_IN.items() if directive in format_), 12)
    if not n_months:
        return day, day + dt.timedelta(1)
    month = day.year * 12 + (day.month - 1) // n_months * n_months
    return _month(month), _month(month + n_months)


def _month(number: int) -> dt.date:
    return dt.date(number // 12, number % 12 + 1, 1)


def _begin(text: str) -> dt.date:
    """Return the first day of a day, month, quarter, year or decade as cells write them."""
    if "Q" in text:
        return dt.date(int(text[:4]), 3 * int(text[-1]) - 2, 1)
    return dt.date.fromisoformat((text.rstrip("s") + "-01-01")[:10])


def _end(text: str) -> dt.date:
    """Return the first day after it."""
    begin = _begin(text)
    if len(text) == len("2024-05-31"):
        return begin + dt.timedelta(1)
    n_months = 3 if "Q" in text else 120 if text.endswith("s") else 1 if "-" in text else 12
    return _month(begin.year * 12 + begin.month - 1 + n_months)


def _covers(cell: str, begin: dt.date) -> bool:
    """Tell by the grammar of cells whether one covers the date that begins on a day."""
    if cell == "*":
        return True
    if cell[0] == "<":
        return begin < _begin(cell[1:])
    if cell[:2] == ">=":
        return begin >= _begin(cell[2:])
    if cell.startswith('["'):
        return any(_covers(each, begin) for each in re.findall('"([^"]+)"', cell))
    if cell[0] == "[":
        low, high = cell[1:-1].split(", ")
        return _begin(low) <= begin < (_end(high) if cell[-1] == "]" else _begin(high))
    return _begin(cell) <= begin < _end(cell)
