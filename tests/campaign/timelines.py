"""Dates shifted per person, days since the first event, and whole households: judged by the slow twins."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from twins import naive_timelines as naive

_FIRST = date(2023, 1, 1)


def case(random: Random, folder: Path) -> Outcome:
    """Run one case."""
    return _case_of_households(random, folder) if random.random() < 0.4 else _case_of_dates(random, folder)


def _case_of_dates(random: Random, folder: Path) -> Outcome:
    outcome, n_days, key = Outcome(), random.randint(60, 400), random.randbytes(32)
    who = [f"P{i}" for i in range(random.randint(6, 30)) for _ in range(random.randint(1, 4))]
    days = [None if random.random() < 0.1 else _FIRST + timedelta(random.randrange(n_days)) for _ in who]
    wards = [random.choice("xyz") for _ in who]
    data = pl.DataFrame({"who": who, "day": pl.Series(days, dtype=pl.Date), "ward": wards})
    unit = random.choice((1, 7))
    n_offsets = random.randint(2, n_days // 2 // unit)
    last = _FIRST + timedelta(n_days - 1)
    within, window = f"{n_offsets}{'D' if unit == 1 else 'W'}", (str(_FIRST), str(last))
    dates: Any = ht.SinceFirst(("day",)) if random.random() < 0.3 else ht.DateShift(("day",), within, window, key)
    outcome.reproduction = f"{dates}, {key!r}\n{data.rows()}"
    with outcome.guarded("anonymize"):
        release = ht.anonymize(
            data,
            quasi_identifiers=["day", "ward"],
            person="who",
            identifiers=["who"],
            models=[ht.KAnonymity(2)],
            dates=dates,
            roles="trust",
        )
        outcome.count("written")
        verdict = release.write(folder / "out.parquet")
        outcome.expect(verdict.passed, "a release does not hold", str(verdict.failures))
        changed: Any = release.source.native
        if isinstance(dates, ht.SinceFirst):
            first = {person: min((day for w, day in zip(who, days, strict=True) if w == person and day), default=None)
                     for person in who}  # fmt: skip
            told = [None if day is None else (day - first[person]).days for person, day in zip(who, days, strict=True)]
            outcome.expect(changed["day"].to_list() == told, "days since the first event are others")
            return outcome
        reach, rows = (n_offsets - 1) * unit, []
        for person, day, ward in data.rows():
            offset = naive.offset(key, person, n_offsets, unit)
            shown = [None] if day is None else naive.published([day], offset, _FIRST, last, reach)
            rows += [(person, each, ward) for each in shown]
        outcome.expect(changed.rows() == rows, "shifted rows are not those of the twin")
        assert release.timelines is not None
        outcome.expect(release.timelines.n_left_out == len(who) - len(rows), "left-out records are miscounted")
    return outcome


def _case_of_households(random: Random, folder: Path) -> Outcome:
    outcome, k = Outcome(), random.randint(2, 3)
    sizes = [random.choice((1, 1, 2, 2, 3)) for _ in range(random.randint(6, 24))]
    home = [f"H{i}" for i, n in enumerate(sizes) for _ in range(n)]
    ages = pl.Series([random.choice((None, *range(9))) for _ in home], dtype=pl.Int64)
    data = pl.DataFrame({"home": home, "age": ages, "sex": [random.choice("fm") for _ in home]})
    outcome.reproduction = f"k = {k}\n{data.rows()}"
    with outcome.guarded("anonymize"):
        release = ht.anonymize(
            data,
            quasi_identifiers=["age", "sex"],
            household="home",
            models=[ht.LinkedKAnonymity(k)],
            method="histories",
            suppression_limit=0.5,
            roles="trust",
            budget=ht.Budget(nodes=20),
        )
        outcome.count("written")
        verdict = release.write(folder / "out.parquet")
        outcome.expect(verdict.passed, "households do not hold", str(verdict.failures))
        members: dict[str, list[Any]] = {}
        for name, *row in pl.read_parquet(folder / "out.parquet").select("home", "age", "sex").rows():
            members.setdefault(name, []).append(tuple(map(str, row)))
        equal = Counter(tuple(sorted(own)) for own in members.values())
        outcome.expect(min(equal.values()) >= k, "a household is among fewer than k")
        expected = {f"H{i}" for i, n in enumerate(sizes) if sizes.count(n) >= k}
        outcome.expect({*members} == expected, "other households than those of rare sizes are left out")
        is_true = all(len(own) == sizes[int(name[1:])] for name, own in members.items())
        outcome.expect(is_true, "a size is false")
    return outcome
