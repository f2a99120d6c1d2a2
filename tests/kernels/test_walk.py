"""The walk over column sets against every set looked at one by one, also without compilation."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hushtable import lattice
from strategies import coded_rows


@st.composite
def grids(draw):
    codes, widths = draw(coded_rows(max_rows=12, max_columns=5, max_codes=3))
    n_rows = codes.shape[1]
    weights = st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)
    probes = np.array(draw(weights), dtype=np.int64)
    targets = probes if draw(st.booleans()) else np.array(draw(weights), dtype=np.int64)
    sizes = sorted(draw(st.sets(st.integers(1, len(codes)), min_size=1)))
    return codes, widths, probes, targets, sizes, draw(st.booleans())


def alone_on(codes, probes, targets, missing_matches, columns):
    """(probe, target) of every class with one of each."""
    classes = {}
    for row in range(codes.shape[1]):
        cells = tuple(codes[list(columns), row].tolist())
        if missing_matches or -1 not in cells:
            classes.setdefault(cells, []).append(row)
    for rows in classes.values():
        if sum(probes[rows]) == sum(targets[rows]) == 1:
            yield next(row for row in rows if probes[row]), next(row for row in rows if targets[row])


def naive(codes, probes, targets, sizes, missing_matches):
    """Per probe, the sets on which it is alone, in order, each with its target."""
    found = {}
    for size in sizes:
        for columns in combinations(range(len(codes)), size):
            for probe, target in alone_on(codes, probes, targets, missing_matches, columns):
                found.setdefault(probe, []).append((columns, target))
    return found


def listed(found):
    return [
        (row, tuple(path[path >= 0].tolist()), mate)
        for row, path, mate in zip(found.rows.tolist(), found.paths, found.mates.tolist(), strict=True)
    ]


@given(grids())
def test_first_smallest(drawn):
    codes, widths, probes, targets, sizes, missing_matches = drawn
    twin = naive(codes, probes, targets, sizes, missing_matches)
    rows = lattice.grid(codes, widths, probes, targets, sizes, missing_matches=missing_matches)
    assert listed(lattice.first_smallest(rows)) == [(row, *sets[0]) for row, sets in sorted(twin.items())]


@given(grids())
def test_minimal_sets(drawn):
    codes, widths, probes, targets, sizes, missing_matches = drawn
    twin = naive(codes, probes, targets, sizes, missing_matches)
    rows = lattice.grid(codes, widths, probes, targets, sizes, missing_matches=missing_matches)
    minimal = [
        (row, columns, target)
        for row, sets in sorted(twin.items())
        for columns, target in sets
        if not any(set(other) < set(columns) for other, _ in sets)
    ]
    assert listed(lattice.minimal_sets(rows)) == minimal
