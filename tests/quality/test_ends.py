"""Ends that a class holds: some record has each, and drawn records hold them as all ways of holding them are likely."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.io.frames import read
from hushtable.quality.cell_values import read_column, with_claim_spelling
from hushtable.quality.draws import points_of
from hushtable.quality.ends import HIGH, INSIDE, LOW, HeldEnds, classes_of_rows


def people(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 18 + rng.integers(2, 90), n),
            "pay": rng.integers(0, 4, n) * 1_000,
            "weight": np.round(rng.normal(70, 9, n), 1),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(list("abcdefgh"), n, p=np.arange(8, 0, -1) / 36),
            "id": np.arange(n),
        }
    )


@pytest.mark.parametrize("recoding", ["tight", "set", "readable", "cut", "label", "central"])
@pytest.mark.parametrize("seed", range(8))
def test_ends_are_those_that_some_record_of_the_class_has(recoding: Any, seed: int) -> None:
    frame = people(300, seed)
    columns = ["age", "pay", "weight", "sex", "job"]
    grid = {"age": 5.0} if recoding == "readable" and seed % 2 else {}
    method = ht.Mondrian(recoding=recoding, grid=grid)
    release = ht.anonymize(frame, quasi_identifiers=columns, models=[ht.KAnonymity(7)], method=method, roles="trust")
    ids = release.frame["id"].cast(pl.Int64).to_numpy()
    original, published = with_claim_spelling(read(frame), release.claim), read(release.frame)
    classes = classes_of_rows(published, release.claim, recoding)
    if recoding in ("cut", "label", "central"):
        assert classes is None
        return
    assert classes is not None
    n_found = 0
    for name in columns:
        standing = read_column(original, published, release.claim, name)
        places = points_of(standing)
        held = HeldEnds.find(standing, places, classes, is_readable=recoding == "readable")
        if held is None:
            continue
        own = standing.original.low[standing.original.rows[ids]]
        for rows, cell, size, needed in zip(held.rows, held.cell, held.size, held.needed, strict=True):
            assert set(classes[rows[:size]]) == {classes[rows[0]]}
            assert (classes == classes[rows[0]]).sum() == size
            n_found += 1
            n_first, n_last = held.parts[cell]
            assert n_first + n_last <= len(places[cell])
            assert not needed & 1 or own[rows[:size]].min() in places[cell][:n_first], name
            assert not needed & 2 or own[rows[:size]].max() in places[cell][-n_last:], name
            assert recoding == "readable" or needed == 3
    assert n_found > 10


def test_nothing_is_known_where_cells_are_not_the_records_own() -> None:
    frame = people(100, 0)
    asked: dict[str, Any] = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(5)], "roles": "trust"}
    release = ht.anonymize(frame, **asked, method=ht.Mondrian(recoding="tight"))
    published = read(release.frame)
    assert classes_of_rows(published, release.claim, None) is None
    assert classes_of_rows(published, release.claim, "tight") is not None


def ways(low: Any, high: Any, needed: int) -> dict[tuple[int, ...], float]:
    """Return how likely each way is in which some record holds what is needed: the one end, the other, both."""
    found = {}
    for states in itertools.product((INSIDE, LOW, HIGH), repeat=len(low)):
        if (LOW in states or not needed & 1) and (HIGH in states or not needed & 2):
            each = [(1 - a - b, a, b)[(INSIDE, LOW, HIGH).index(s)] for s, a, b in zip(states, low, high, strict=True)]
            found[states] = float(np.prod(each))
    total = sum(found.values())
    return {states: each / total for states, each in found.items()}


def held_by(rows: Any, size: int, needed: int, parts: tuple[int, int] = (1, 1)) -> HeldEnds:
    n_classes = len(rows)
    return HeldEnds(
        np.asarray(rows),
        np.zeros(n_classes, dtype=np.int64),
        np.full(n_classes, size),
        np.full(n_classes, needed),
        np.array([parts]),
    )


@pytest.mark.parametrize("needed", [1, 2, 3])
def test_drawn_ends_are_as_likely_as_all_ways_of_holding_them(needed: int) -> None:
    low, high = np.array([0.02, 0.3, 0.001]), np.array([0.1, 0.05, 0.6])
    n_classes = 40_000
    rows = np.arange(3 * n_classes).reshape(n_classes, 3)
    # A place for a fourth record that no class has.
    rows = np.column_stack([rows, np.full(n_classes, -1)])
    held = held_by(rows, 3, needed)
    drawn = held.draw_ends(np.tile(low, n_classes), np.tile(high, n_classes), np.random.default_rng(5))
    expected = ways(low, high, needed)
    seen, counts = np.unique(drawn.reshape(n_classes, 3), axis=0, return_counts=True)
    of_states = dict(zip(map(tuple, seen.tolist()), (counts / n_classes).tolist(), strict=True))
    assert set(of_states) <= set(expected)
    for states, chance in expected.items():
        assert of_states.get(states, 0.0) == pytest.approx(chance, abs=5 * np.sqrt(chance / n_classes) + 1e-4)


def test_rows_of_other_classes_are_drawn_one_by_one() -> None:
    held = held_by([[0, 1]], 2, 3)
    drawn = held.draw_ends(np.full(50_000, 0.2), np.full(50_000, 0.5), np.random.default_rng(1))
    assert sorted(drawn[:2].tolist()) == [LOW, HIGH]
    assert np.bincount(drawn[2:]) / 49_998 == pytest.approx([0.3, 0.2, 0.5], abs=0.01)


@pytest.mark.parametrize("needed", [1, 2, 3])
@pytest.mark.parametrize(
    ("share", "parts"),
    [([0.5, 0.5], (1, 1)), ([0.1, 0.3, 0.4, 0.2], (1, 1)), ([0.1, 0.3, 0.4, 0.2], (2, 1)), ([1e-9, 0.4, 0.6], (1, 1))],
)
def test_expected_records_are_those_of_all_assignments(share: list[float], parts: Any, needed: int) -> None:
    size, at = 3, np.array(share)
    held = held_by(np.arange(6).reshape(2, 3), 3, needed, parts)
    low, high = set(range(parts[0])), set(range(len(share) - parts[1], len(share)))
    expected, total = np.zeros(len(share)), 0.0
    for places in itertools.product(range(len(share)), repeat=size):
        if (low & {*places} or not needed & 1) and (high & {*places} or not needed & 2):
            weight = float(np.prod(at[list(places)]))
            total += weight
            expected += weight * np.bincount(places, minlength=len(share))
    (found,) = held.estimate_counts([np.arange(len(share), dtype=float)], [at])
    assert found == pytest.approx(2 * expected / total, rel=1e-9)
    assert held.n_rows_of_cells(1).tolist() == [6]
