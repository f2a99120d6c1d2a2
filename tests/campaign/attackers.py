"""Attackers who know roughly, or have another table or release: what they find, told by a slow reader of cells."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from reading import holds

STYLES = ("readable", "nested", "cut", "tight", "set")
ASKED = ["age", "sex"]


def _people(random: Random, n: int) -> pl.DataFrame:
    gaps = random.choice((0.0, 0.2))
    return pl.DataFrame(
        {
            "who": [None if random.random() < gaps / 4 else random.randrange(n // 3 + 1) for _ in range(n)],
            "age": [None if random.random() < gaps else random.randint(20, 60) for _ in range(n)],
            "sex": [None if random.random() < gaps else random.choice("fm") for _ in range(n)],
            "ill": [random.choice(("flu", "gout", "mumps")) for _ in range(n)],
        },
        schema={"who": pl.Int64, "age": pl.Int64, "sex": pl.String, "ill": pl.String},
    )


def _released(random: Random, data: pl.DataFrame) -> ht.Release:
    kinds = {"quasi_identifiers": ASKED, "models": [ht.KAnonymity(random.randint(1, 4))], "sensitive": ["ill"]}
    if random.random() < 0.3:
        ladders = {"age": {"intervals": [5, 20]}, "sex": "auto"}
        return ht.anonymize(
            data, **kinds, method="full_domain", hierarchies=ladders, suppression_limit=0.3, roles="trust"
        )
    if random.random() < 0.5 and data["ill"].n_unique() > 1:
        kinds["models"].append(ht.DistinctLDiversity(2, "ill"))
        kinds["search_models"] = (
            [ht.DistinctLDiversity(3, "ill")] if data["ill"].n_unique() > 2 and random.random() < 0.3 else []
        )
    cut, margin = random.choice(("gain", "median")), random.choice((0, 0, 1))
    method = ht.Mondrian(cut, random.choice(STYLES), margin=margin)
    return ht.anonymize(data, **kinds, method=method, roles="trust")


def _fits(row: dict[str, Any], age: int | None, sex: str | None, years: int) -> bool:
    near = [None] if age is None else range(age - years, age + years + 1)
    return any(holds(row["age"], each, "integer") for each in near) and holds(row["sex"], sex, "category")


def case(random: Random, folder: Path) -> Outcome:
    """Run one case."""
    outcome = Outcome()
    data, years = _people(random, random.randint(4, 30)), random.choice((0, 0, 2, 10))
    tolerance: Any = {"age": years}
    outcome.reproduction = f"{data.rows()}, tolerance {years}"
    release = None
    with outcome.guarded("release"):
        release = _released(random, data)
    if release is None:
        return outcome
    outside = pl.concat([data.sample(fraction=0.5, seed=random.randrange(99)), _people(random, 5)])
    with outcome.guarded("link"):
        _look_up(outcome, release, outside, years)
    with outcome.guarded("unicity"):
        _know(outcome, release, tolerance)
    other = None
    with outcome.guarded("earlier release"):
        other = _released(random, data[random.randrange(3) :])
    if other is not None:
        with outcome.guarded("join"):
            _join(outcome, release, other)
        with outcome.guarded("attack"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = release.attack(random.choice((other, other.frame)), seed=random.randrange(9))
            outcome.count(f"attacks: {', '.join(found.fell) or 'none'}")
            outcome.expect(all(0 <= each.rate <= 1 for each in found.attacks), "a rate is none", found)
            cuts = [each for each in found.attacks if each.name == "cuts not made"]
            outcome.expect(all(each.n_found <= each.n_targets for each in cuts), "more found than attacked", cuts)
            outcome.count(f"cuts not made: {sum(each.n_found for each in cuts if each.fell)}")
            outcome.expect("homogeneity" in {*found.untried, *(each.name for each in found.attacks)}, "not told")
    return outcome


def _look_up(outcome: Outcome, release: ht.Release, outside: pl.DataFrame, years: int) -> None:
    found = ht.link(release, outside, on=ASKED, tolerance={"age": years}, few=3).found
    published = release.frame.select(ASKED).rows(named=True)
    fits = [sum(_fits(row, age, sex, years) for row in published) for age, sex in outside.select(ASKED).rows()]
    told = (found.n_lost, found.n_one_record, found.n_few)
    slow = (fits.count(0), fits.count(1), sum(0 < n < 3 for n in fits))
    outcome.expect(told == slow, "links are others than a slow reader finds", f"{told} and {slow}")
    outcome.count("linked" if found.n_one_record else "looked up")


def _know(outcome: Outcome, release: ht.Release, tolerance: dict[str, int]) -> None:
    options: Any = {"person": "who", "item": "sex", "known": [1, 2]}
    rough = ht.unicity(release, **options, tolerance=tolerance)
    exact = ht.unicity(release, **options, tolerance={"age": 0})
    for one, two in zip(exact.known, rough.known, strict=True):
        # Who was dropped leaves others alone, and is taken for them by who knows less.
        is_fewer = one.n_found >= two.n_found or release.drops_suppressed
        outcome.expect(is_fewer, "a tolerance finds more", f"{one} {two}")
        is_whole = two.n_right == two.n_found and not two.n_lost
        outcome.expect(is_whole or release.drops_suppressed, "somebody else is found", two)
    misled = ht.unicity(release, person="who", item="sex", known=2, wrong=1, tolerance=tolerance).known[0]
    is_nested = (misled.n_right or 0) <= misled.n_found <= (misled.n_best or 0) <= misled.n_trials
    outcome.expect(is_nested, "more are named than have one best match", misled)


def _join(outcome: Outcome, one: ht.Release, other: ht.Release) -> None:
    found = ht.join_risk(one, other, on=ASKED)
    sides = [release.frame.select(ASKED).rows(named=True) for release in (one, other)]
    ages: list[int | None] = [None, *range(-80, 180)]
    held = [
        [
            ({age for age in ages if holds(row["age"], age, "integer")},
             {sex for sex in (None, "f", "m") if holds(row["sex"], sex, "category")})
            for row in rows
        ]
        for rows in sides
    ]  # fmt: skip
    fits = [sum(bool(age & ages_) and bool(sex & sexes) for ages_, sexes in held[1]) for age, sex in held[0]]
    outcome.expect(found.n_lost == fits.count(0), "a join loses others than a slow reader", f"{found} {fits}")
    outcome.expect(found.n_alone <= fits.count(1), "a join leaves more alone than a slow reader", f"{found} {fits}")
