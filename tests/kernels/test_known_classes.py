"""Known classes: prices that settle among them, against a slow twin."""

import numpy as np
import pytest

from hushtable.kernels import separation
from twins.naive_bound import settle_prices

K = 3


def classes_of(seed: int, n_rows: int) -> list[tuple[dict[int, int], float]]:
    """Return members with their records, and the cost of each class."""
    rng = np.random.default_rng(seed)
    members = [rng.choice(n_rows, 4, replace=False).tolist() for _ in range(40)]
    return [
        ({row: int(n) for row, n in zip(rows, rng.integers(1, K, 4), strict=True)}, float(rng.uniform(0.5, 2)))
        for rows in members
    ]


def known_of(listed: list[tuple[dict[int, int], float]], n_rows: int) -> separation.KnownClasses:
    known = separation.allocate_classes(n_rows)
    ends = np.cumsum([len(members) for members, _ in listed])
    known.starts[1 : len(listed) + 1] = ends
    known.rows[: ends[-1]] = [row for members, _ in listed for row in members]
    known.copies[: ends[-1]] = [n for members, _ in listed for n in members.values()]
    known.costs[: len(listed)] = [cost for _, cost in listed]
    known.n_classes[0] = len(listed)
    return known


@pytest.mark.parametrize("seed", range(4))
def test_prices_settle_as_the_slow_twin_says(seed):
    rng = np.random.default_rng(100 + seed)
    counts, prices = rng.integers(1, K + 1, 12), rng.uniform(0, 0.4, 12)
    listed, steps = classes_of(seed, 12)[:5], np.array([0.1, 0.05, 0.0])
    ceilings = prices + 0.12 * counts
    expected = settle_prices(listed, counts.tolist(), K, steps.tolist(), ceilings.tolist(), prices.tolist())
    before = prices.copy()
    separation.settle_prices(known_of(listed, 12), counts, K, steps, ceilings, prices)
    assert prices.tolist() == pytest.approx(expected, abs=1e-12)
    assert (prices <= ceilings + 1e-12).all()
    assert (prices > before).any()


def test_after_enough_passes_no_known_class_costs_less():
    listed, counts, prices = classes_of(9, 12), np.ones(12, dtype=np.int64), np.full(12, 5.0)
    separation.settle_prices(known_of(listed, 12), counts, K, np.zeros(200), prices.copy(), prices)
    assert max(sum(n * prices[row] for row, n in members.items()) - cost for members, cost in listed) < 1e-6
