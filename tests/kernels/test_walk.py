"""The walk over column sets against every set looked at one by one, also without compilation."""

import math
from itertools import combinations

import numpy as np
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.kernels import uniques
from hushtable.tables import lattice
from strategies import coded_rows, draws


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
    rows = lattice.build_grid(codes, widths, probes, targets, sizes, missing_matches=missing_matches)
    assert listed(lattice.find_smallest_sets(rows)) == [(row, *sets[0]) for row, sets in sorted(twin.items())]


@settings(max_examples=draws(40))
@given(
    st.integers(0, 10**6),
    st.integers(60, 400),
    st.booleans(),
    st.booleans(),
    st.sampled_from([(2, 4, 1), (2, 4, 3), (2, 30, 3), (40, 4, 1)]),
)
def test_first_smallest_of_large_classes(seed, n_rows, is_alone, missing_matches, spread):
    """Rows that are equal from a column on stand for one another, as probes, as targets, or as both."""
    rng, widths = np.random.default_rng(seed), np.array([1, 2, spread[0], 9, spread[1]])
    # Frequent codes and rare ones, or all alike.
    codes = (widths[:, None] * (1 - rng.random((5, n_rows)) ** spread[2])).astype(np.int32) - 1
    probes = rng.choice(3, n_rows, p=[0.6, 0.35, 0.05])
    targets = probes if is_alone else np.where(probes == 0, rng.choice([1, 2], n_rows, p=[0.9, 0.1]), 0)
    sizes = sorted(set(rng.integers(1, 6, 3).tolist()))
    twin = naive(codes, probes, targets, sizes, missing_matches)
    rows = lattice.build_grid(codes, widths, probes, targets, sizes, missing_matches=missing_matches)
    assert listed(lattice.find_smallest_sets(rows)) == [(row, *sets[0]) for row, sets in sorted(twin.items())]


@given(grids())
def test_minimal_sets(drawn):
    codes, widths, probes, targets, sizes, missing_matches = drawn
    twin = naive(codes, probes, targets, sizes, missing_matches)
    rows = lattice.build_grid(codes, widths, probes, targets, sizes, missing_matches=missing_matches)
    minimal = [
        (row, columns, target)
        for row, sets in sorted(twin.items())
        for columns, target in sets
        if not any(set(other) < set(columns) for other, _ in sets)
    ]
    assert listed(lattice.find_minimal_sets(rows)) == minimal


@given(grids(), st.integers(1, 3))
def test_every_set_is_walked_or_left(drawn, n_parts):
    """What the parts of a walk count adds up to all sets of the largest size."""
    codes, widths, probes, targets, sizes, missing_matches = drawn
    rows = lattice.build_grid(codes, widths, probes, targets, sizes, missing_matches=missing_matches)
    largest = sizes[-1]
    seen = np.zeros((n_parts, len(codes), largest + 1))
    for part in range(n_parts):
        found = uniques.FoundSets(
            np.full(len(probes), largest + 1, dtype=np.int32),
            np.full((len(probes), largest), -1, dtype=np.int16),
            np.full(len(probes), -1, dtype=np.int32),
        )
        pulse = np.array([0, 1 << 60, 0, 0])
        uniques.walk_sets(rows, found, pulse, seen[part], lattice._count_sets_below(len(codes), largest), part, n_parts)
        assert pulse[3] == len(codes)
    walked = (seen[:1] if largest == 1 else seen)[:, :, largest].sum()
    assert walked + seen[:, :, 0].sum() == math.comb(len(codes), largest)


@given(grids())
def test_a_walk_without_a_budget_reaches_every_set(drawn):
    codes, widths, probes, targets, sizes, missing_matches = drawn
    rows = lattice.build_grid(codes, widths, probes, targets, sizes, missing_matches=missing_matches)
    for found in (lattice.find_smallest_sets(rows), lattice.find_minimal_sets(rows)):
        assert list(found.coverage) == sizes
        assert found.complete_to == sizes[-1]
        for size, each in found.coverage.items():
            assert min(each) >= 0
            assert each.walked + each.left == math.comb(len(codes), size)


@given(grids(), st.integers(1, 40))
def test_a_budget_ends_at_a_size_and_counts_what_it_leaves_out(drawn, nodes):
    codes, widths, probes, targets, sizes, missing_matches = drawn
    twin = naive(codes, probes, targets, sizes, missing_matches)
    rows = lattice.build_grid(codes, widths, probes, targets, sizes, missing_matches=missing_matches)
    found = lattice.find_smallest_sets(rows, budget=ht.Budget(nodes=nodes))
    assert found.n_sets <= nodes
    for size, each in found.coverage.items():
        assert min(each) >= 0
        assert sum(each) == math.comb(len(codes), size)
        assert (each.not_reached == 0) or size > found.complete_to
    known = {row: (columns, mate) for row, columns, mate in listed(found)}
    for row, sets in twin.items():
        smallest = len(sets[0][0])
        if smallest <= found.complete_to:
            assert known[row] == sets[0]
        elif row in known:
            assert known[row] in [each for each in sets if len(each[0]) == smallest]
    # Sets on which records are alone that were not found are among those not reached.
    for size in sizes:
        missed = {
            columns
            for row, sets in twin.items()
            if row not in known
            for columns, _ in sets
            if len(columns) == size == len(sets[0][0])
        }
        assert len(missed) <= found.coverage[size].not_reached


@given(grids(), st.integers(1, 40))
def test_minimal_sets_under_a_budget_are_all_up_to_a_size(drawn, nodes):
    codes, widths, probes, targets, sizes, missing_matches = drawn
    rows = lattice.build_grid(codes, widths, probes, targets, sizes, missing_matches=missing_matches)
    whole, part = lattice.find_minimal_sets(rows), lattice.find_minimal_sets(rows, budget=ht.Budget(nodes=nodes))
    assert listed(part) == [each for each in listed(whole) if len(each[1]) <= part.complete_to]
    for size, each in part.coverage.items():
        assert sum(each) == math.comb(len(codes), size)
        assert (each.not_reached == 0) is (size <= part.complete_to)


@given(grids(), st.tuples(st.integers(1, 30), st.integers(1, 30)))
def test_parts_that_stop_apart_claim_no_set_that_is_not_settled(drawn, nodes):
    """What one part has walked is not yet done while another's share of the same first column is open."""
    codes, widths, probes, targets, sizes, missing_matches = drawn
    largest = sizes[-1]
    twin = naive(codes, probes, targets, [largest], missing_matches)
    rows = lattice.build_grid(codes, widths, probes, targets, [largest], missing_matches=missing_matches)
    found = [
        uniques.FoundSets(
            np.full(len(probes), largest + 1, dtype=np.int32),
            np.full((len(probes), largest), -1, dtype=np.int16),
            np.full(len(probes), -1, dtype=np.int32),
        )
        for _ in nodes
    ]
    pulses = np.array([[0, limit, 0, 0] for limit in nodes])
    seen = np.zeros((len(nodes), len(codes), largest + 1))
    for part in range(len(nodes)):
        below = lattice._count_sets_below(len(codes), largest)
        uniques.walk_sets(rows, found[part], pulses[part], seen[part], below, part, len(nodes))
    lattice._keep_first(found[0], found[1])
    coverage = lattice._coverage_at_stop(seen, int(pulses[:, 3].min()), largest)
    assert min(coverage) >= 0
    assert sum(coverage) == math.comb(len(codes), largest)
    missed = {columns for row, sets in twin.items() if found[0].sizes[row] > largest for columns, _ in sets}
    assert len(missed) <= coverage.not_reached


def test_classes_that_stay_large_make_room_for_themselves():
    codes = np.zeros((5, 100), dtype=np.int32)
    codes[4] = np.tile(np.arange(50), 2)
    probes = np.repeat([1, 0], 50)
    rows = lattice.build_grid(codes, [1, 1, 1, 1, 50], probes, 1 - probes, [5])
    expected = [(row, (0, 1, 2, 3, 4), row + 50) for row in range(50)]
    assert listed(lattice.find_smallest_sets(rows)) == expected
    assert listed(lattice.find_minimal_sets(rows)) == expected
    drawn = lattice.pack_draws([np.arange(50, 75), np.arange(60, 100)], 100)
    (hits,) = lattice.hits_by_draw(rows, drawn)
    assert hits[:50].tolist() == [1] * 10 + [3] * 15 + [2] * 25
