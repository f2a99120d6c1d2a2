"""Kernels that look up known records, and count rows that are near: against loops over all of them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from hushtable.kernels.candidates import LookedUp, RoughRows, Sought, count_candidates, count_near_records


def placed(rng: np.random.Generator, n: int, n_places: int) -> tuple[np.ndarray, np.ndarray, list[set[int]]]:
    """Draw runs of places, some with bytes; return them, the bytes, and the places that each stands for."""
    runs, bits, sets = np.full((n, 3), -1, dtype=np.int64), [], []
    for i in range(n):
        low, high = sorted(rng.integers(0, n_places + 1, 2))
        runs[i, :2] = low, high
        held = np.ones(high - low, dtype=np.uint8)
        if rng.random() < 0.5:
            held = rng.integers(0, 2, high - low).astype(np.uint8)
            runs[i, 2] = sum(map(len, bits))
            bits.append(held)
        sets.append({low + int(j) for j in np.flatnonzero(held)})
    return runs, np.concatenate([*bits, np.empty(0, np.uint8)]), sets


@pytest.mark.parametrize("seed", range(12))
def test_candidates_have_a_row_for_each_known_record(seed):
    rng = np.random.default_rng(seed)
    n_persons, n_cells, n_places, n_columns = 5, 6, 8, 2
    runs, bits, sets = placed(rng, n_cells, n_places)
    persons = np.sort(rng.integers(0, n_persons, 14)).astype(np.int32)
    cells = rng.integers(0, n_cells, (14, n_columns)).astype(np.int32)
    starts = np.searchsorted(persons, np.arange(n_persons + 1))
    sizes = rng.integers(1, 4, 10)
    trials = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    known = rng.integers(0, n_cells, (trials[-1], n_columns))
    windows = np.tile(np.array([0, 14]), (trials[-1], 1, 1)).astype(np.int64)
    looked = LookedUp(cells, runs, bits, persons, starts, rng.permutation(14).astype(np.int32))
    counts, first = np.empty(10, dtype=np.int64), np.empty(10, dtype=np.int32)
    for enough in (99, 2):
        count_candidates(looked, Sought(runs[known], windows, trials), enough, counts, first)
        for t in range(10):
            asked = known[trials[t] : trials[t + 1]]
            found = {
                person
                for person in range(n_persons)
                if any(
                    all(sets[cells[row, j]] & sets[record[j]] for row, record in zip(rows, asked, strict=True)
                        for j in range(n_columns))
                    for rows in permutations(range(starts[person], starts[person + 1]), len(asked))
                )
            }  # fmt: skip
            assert counts[t] == min(len(found), enough)
            assert first[t] in found or (first[t] == -1 and not found)


@pytest.mark.parametrize("seed", range(6))
def test_near_rows_are_those_within_reach_in_every_column(seed):
    rng = np.random.default_rng(seed)
    n = 20
    labels = np.sort(rng.integers(0, 3, n))
    codes = rng.integers(-1, 6, (2, n)).astype(np.int32)
    codes[0] = codes[0][np.lexsort((codes[0], labels))]
    for label in range(3):
        codes[0][labels == label] = np.sort(codes[0][labels == label])
    reach = rng.integers(0, 3, 2)[:, None]
    low, high = np.where(codes < 0, -1, np.maximum(codes - reach, 0)), np.where(codes < 0, 0, codes + reach + 1)
    counts = rng.integers(1, 4, n)
    starts, ends = np.searchsorted(labels, labels, side="left"), np.searchsorted(labels, labels, side="right")
    out = np.empty(n, dtype=np.int64)
    near = RoughRows(codes, low.astype(np.int32), high.astype(np.int32), starts, ends, counts)
    count_near_records(near, 99, out)
    for i in range(n):
        assert out[i] == sum(
            counts[j]
            for j in range(n)
            if labels[i] == labels[j] and all(low[c, i] <= codes[c, j] < high[c, i] for c in range(2))
        )
