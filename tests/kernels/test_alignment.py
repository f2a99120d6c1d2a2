"""Aligned records: the kernel against arrays and SciPy's assignment."""

import numpy as np
import pytest

from hushtable.kernels.alignment import align_group
from twins.naive_alignment import align


@pytest.mark.parametrize("seed", range(40))
def test_lines_are_those_of_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    n_persons, n_columns, most = int(rng.integers(1, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 6))
    n_records = rng.integers(0 if seed % 3 == 0 else 1, most + 1, n_persons)
    shares = np.where(rng.random(n_columns) < 0.5, 0.0, 0.25)
    positions = np.where(shares > 0, rng.integers(0, 4, (n_records.sum(), n_columns)), rng.random((1, n_columns)))
    positions = np.where(shares > 0, positions, rng.integers(0, 5, positions.shape) / 4)
    positions[rng.random(positions.shape) < 0.1 * (seed % 2)] = np.nan
    weights, alignment_weights = rng.integers(0, 3, (2, n_columns)).astype(float)
    rows, starts = rng.permutation(n_records.sum()), np.append(0, np.cumsum(n_records))
    group = rng.permutation(n_persons)[: int(rng.integers(1, n_persons + 1))]
    lines, cost, n_left_out = align_group(positions, rows, starts, group, shares, weights, alignment_weights)
    own = [rows[starts[p] : starts[p + 1]] for p in range(n_persons)]
    expected, expected_cost, expected_out = align(positions, own, group.tolist(), shares, weights, alignment_weights)
    assert lines.tolist() == expected.tolist()
    assert (cost, n_left_out) == (pytest.approx(expected_cost, abs=1e-9), expected_out)
