"""Persons in several batches: how many are alike in all of them, and with how many values, against a slow twin."""

from collections import Counter

import numpy as np
import pytest

from hushtable.anonymizers.shared_persons import Appearance, EarlierBatch, find_alike

# A row of a batch: person, class, value of a sensitive column (None is missing).
Rows = list[tuple[str, int, str | None]]
VALUES = ("cold", "flu", "gout")


def slow_alike(new: Rows, earlier: list[Rows]) -> tuple[list[int], list[int]]:
    """Count by definition, for each person in both: those with its cells in every batch, and their known values."""
    both = sorted({who for who, *_ in new} & {who for rows in earlier for who, *_ in rows})

    def history(who: str) -> list[Counter[int]]:
        return [Counter(label for person, label, _ in rows if person == who) for rows in (new, *earlier)]

    n_persons, n_values = [], []
    for who in both:
        alike = [other for other in both if history(other) == history(who)]
        n_persons.append(len(alike))
        n_values.append(len({value for person, _, value in new if person in alike and value is not None}))
    return n_persons, n_values


def appearance(rows: Rows) -> Appearance:
    names = sorted({who for who, *_ in rows})
    codes = [-1 if value is None else VALUES.index(value) for *_, value in rows]
    return Appearance(
        np.array([names.index(who) for who, *_ in rows], dtype=np.int32),
        names,
        np.array([label for _, label, _ in rows], dtype=np.int64),
        np.ones(len(rows), dtype=np.int64),
        {"ill": np.array(codes, dtype=np.int32)},
    )


@pytest.mark.parametrize("seed", range(20))
def test_persons_in_both_are_counted_as_defined(seed: int) -> None:
    rng = np.random.default_rng(seed)
    batches: list[Rows] = [
        [
            (f"p{rng.integers(12)}", int(rng.integers(2)), (*VALUES, None)[rng.integers(4)])
            for _ in range(rng.integers(1, 20))
        ]
        for _ in range(rng.integers(2, 4))
    ]
    new, *earlier = batches
    found = find_alike(appearance(new), [EarlierBatch((appearance(rows),)) for rows in earlier])
    n_persons, n_values = slow_alike(new, earlier)
    assert found.n_persons.tolist() == n_persons
    assert found.n_values["ill"].tolist() == n_values
    for fewest in (1, 2, 3):
        # One value tells it, whatever l is.
        assert found.count_few_values({"ill": fewest}) == sum(n < max(2, fewest) for n in n_values)
