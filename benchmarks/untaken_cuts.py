"""Readers who know the program: what cuts that were not made leave of sensitive values, and what defences cost.

Adult, 30,162 records, seven quasi-identifiers, k = 5, tight. Then replays of the whole program: none may give a release
that the attack excludes. Then secret coins, on tables small enough to replay every arrangement.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.anonymizers.untaken_cuts import UncutRelease

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
COLUMNS = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass"]
Rows = frozenset[int]


def protect(adult: pl.DataFrame, name: str, searched: int = 2, margin: int = 0) -> ht.Release:
    """Protect Adult; l = 2 is claimed of the sensitive column."""
    stricter = [ht.DistinctLDiversity(searched, name)] if searched > 2 else []
    models = [ht.KAnonymity(5), ht.DistinctLDiversity(2, name)]
    method = ht.Mondrian(margin=margin)
    return ht.anonymize(
        adult, quasi_identifiers=COLUMNS, models=models, search_models=stricter, method=method, roles="trust"
    )


def attack(adult: pl.DataFrame) -> None:
    """Print the records that are left with one value, by margin and by the l that the search keeps."""
    print("sensitive     searched l  margin  set-NCP  classes stopped  records certain  CPU s")
    runs = [("salary-class", 2, margin) for margin in (0, 1, 2, 3, 5, 10)] + [
        ("occupation", searched, 0) for searched in (2, 3)
    ]
    for name, searched, margin in runs:
        release = protect(adult, name, searched, margin)
        began = time.process_time()
        found = [each for each in release.attack().attacks if each.name == "cuts not made"]
        n_stopped, seconds = sum(each.n_classes or 0 for each in found), time.process_time() - began
        print(f"{name:12s}  {searched:10d}  {margin:6d}  {release.loss:.5f}  {n_stopped:15d}  {found[0].n_found:15d}"
              f"  {seconds:.1f}")  # fmt: skip


def replay(adult: pl.DataFrame, n_replays: int) -> None:
    """Deal the values of single classes anew, so that a cut passes; count the releases that stay the same."""
    name, draw = "salary-class", random.Random(0)
    release = protect(adult, name)
    meanings = {**release.hierarchies, **release.recoding.meanings()}
    published = release.edition.frame().with_row_per_record()
    uncut = UncutRelease.from_release(published, release.source, release.learner.request, meanings)
    values = np.array(adult[name].to_list())
    small = [(rows, uncut.list_cuts(rows)) for rows in uncut.classes if len(rows) <= 40]
    stopped, n_same, n = [each for each in small if each[1]], 0, 0
    while n < n_replays:
        rows, cuts = draw.choice(stopped)
        dealt = values.copy()
        dealt[rows] = values[draw.sample(list(rows), len(rows))]
        if not any(len({*dealt[rows[side]]}) > 1 < len({*dealt[rows[~side]]}) for side in cuts):
            continue
        other = protect(adult.with_columns(pl.Series(name, dealt)), name)
        n, n_same = n + 1, n_same + (sorted(other.frame.rows()) == sorted(release.frame.rows()))
    print(f"{n} arrangements that the attack excludes, replayed: {n_same} give the same release")


def toss_coins(n_tables: int) -> None:
    """Print who is certain, of 8 persons a table, if sibling classes are merged, and random cuts taken, by coins."""
    print("merged  random cuts  certain  above .95, of", 8 * n_tables)
    for merged, drawn in ((0.0, 0.0), (0.05, 0.0), (0.25, 0.0), (0.05, 0.005), (0.25, 0.05)):
        shares = [share for seed in range(n_tables) for share in _highest_shares(seed, merged, drawn)]
        print(f"{merged:6g}  {drawn:11g}  {sum(share == 1 for share in shares):7d}  {sum(s > 0.95 for s in shares):9d}")


def _highest_shares(seed: int, merged: float, drawn: float) -> Iterator[float]:
    """Replay all arrangements of a column of two values; return each person's most likely value's share."""
    draw = random.Random(seed)
    x, g = [draw.randrange(12) for _ in range(8)], [draw.choice("pqr") for _ in range(8)]
    values = (*"ab", *(draw.choice("ab") for _ in range(6)))
    everyone, cuts = frozenset(range(8)), cache(lambda rows: _list_cuts(rows, x, g))
    # The release is the likeliest: no coin fell.
    classes = frozenset(_grow(everyone, cuts, values))
    counts: list[Counter[str]] = [Counter() for _ in values]
    for arranged in {*permutations(values)}:
        if any(sorted(arranged[i] for i in rows) != sorted(values[i] for i in rows) for rows in classes):
            continue
        if chance := _chance_of(classes, everyone, cuts, arranged, merged, drawn):
            for count, value in zip(counts, arranged, strict=True):
                count[value] += chance
    return (max(count.values()) / sum(count.values()) for count in counts)


Cuts = Callable[[Rows], list[tuple[float, Rows]]]


def _list_cuts(rows: Rows, x: Sequence[int], g: Sequence[str]) -> list[tuple[float, Rows]]:
    """List the left sides of cuts with two rows on either side, each with what it gains."""
    frequent = [value for value, _ in sorted(Counter(g[i] for i in rows).items(), key=lambda each: (-each[1], each[0]))]
    sides = {frozenset(i for i in rows if x[i] <= value) for value in {x[i] for i in rows}}
    sides |= {frozenset(i for i in rows if g[i] in frequent[:n]) for n in range(1, len(frequent))}

    def cost(part: Rows) -> float:
        span, n_values = max(x[i] for i in part) - min(x[i] for i in part), len({g[i] for i in part})
        return len(part) * (span / (max(x) - min(x)) + (n_values / len({*g}) if n_values > 1 else 0))

    large = [side for side in sorted(sides, key=sorted) if min(len(side), len(rows - side)) >= 2]
    return [(cost(rows) - cost(side) - cost(rows - side), side) for side in large]


def _list_allowed_cuts(rows: Rows, cuts: Cuts, values: Sequence[str]) -> list[tuple[float, Rows]]:
    halves = [(each, each[1], rows - each[1]) for each in cuts(rows)]
    return [each for each, *sides in halves if all(len({values[i] for i in side}) > 1 for side in sides)]


def _grow(rows: Rows, cuts: Cuts, values: Sequence[str]) -> list[Rows]:
    allowed = _list_allowed_cuts(rows, cuts, values)
    side = max(allowed, key=lambda each: each[0])[1] if allowed else None
    return [rows] if side is None else _grow(side, cuts, values) + _grow(rows - side, cuts, values)


def _chance_of(
    classes: frozenset[Rows], everyone: Rows, cuts: Cuts, values: Sequence[str], merged: float, drawn: float
) -> float:
    """Return how likely these values lead to the classes, over all coins."""

    def weigh(rows: Rows) -> list[tuple[Rows, float]]:
        allowed = _list_allowed_cuts(rows, cuts, values)
        best = max(allowed, key=lambda each: each[0])[1] if allowed else None
        return [(side, (1 - drawn) * (side == best) + drawn / len(allowed)) for _, side in allowed]

    @cache
    def as_one(rows: Rows) -> float:
        ways = weigh(rows)
        return sum(share * as_one(side) * as_one(rows - side) * merged for side, share in ways) if ways else 1.0

    @cache
    def as_published(rows: Rows) -> float:
        if rows in classes:
            return as_one(rows)
        total = 0.0
        for side, share in weigh(rows):
            if all(each <= side or not each & side for each in classes):
                apart = (1 - merged) if side in classes and rows - side in classes else 1.0
                total += share * apart * as_published(side) * as_published(rows - side)
        return total

    return as_published(everyone)


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replays", type=int, default=100)
    parser.add_argument("--tables", type=int, default=25)
    options = parser.parse_args()
    adult = pl.read_csv(SHARED / "data" / "arx_adult" / "adult.csv", separator=";")
    attack(adult)
    toss_coins(options.tables)
    replay(adult, options.replays)


if __name__ == "__main__":
    main()
