"""The cells that cuts leave and the rows in them, against replaying random trees of cuts with sets."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

from hushtable.kernels.replay import build_signposts, cell_ranges, cell_sets, route_rows

N_CODES = 5


class Cuts(NamedTuple):
    """A tree as the kernels read it, and the cell of every leaf as a set of codes, column by column."""

    columns: np.ndarray
    starts: np.ndarray
    members: np.ndarray
    leaves: list[tuple[frozenset[int], ...]]


def grown(kinds, root, choose):
    """Grow a tree depth first, left child first; `choose(cells)` names a column and its left codes, or None."""
    columns, lengths, members, leaves = [], [], [], []
    waiting = [tuple(map(frozenset, root))]
    while waiting:
        cells = waiting.pop()
        chosen = choose(cells)
        if chosen is None:
            columns.append(-1)
            lengths.append(0)
            leaves.append(cells)
            continue
        j, left = chosen
        columns.append(j)
        lengths.append(len(left))
        members += left
        # In an ordered column a cut takes along the codes in between that no record of the class has.
        inside = {code for code in cells[j] if code <= max(left)} if kinds[j] == "ordered" else set(left)
        waiting += [(*cells[:j], side, *cells[j + 1 :]) for side in (cells[j] - inside, frozenset(inside))]
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return Cuts(np.array(columns, dtype=np.int32), starts, np.array(members, dtype=np.int32), leaves)


@st.composite
def trees(draw, kinds):
    budget = draw(st.integers(0, 12))

    def choose(cells):
        nonlocal budget
        open_columns = [j for j, cell in enumerate(cells) if len(cell) > 1]
        if budget == 0 or not open_columns or draw(st.integers(0, 3)) == 0:
            return None
        budget -= 1
        j = draw(st.sampled_from(open_columns))
        codes = sorted(cells[j])
        if kinds[j] == "ordered":
            return j, sorted(draw(st.sets(st.sampled_from(codes[:-1]), min_size=1)))
        left = draw(st.permutations(codes))
        return j, left[: draw(st.integers(1, len(codes) - 1))]

    return grown(kinds, [range(-1, N_CODES)] * len(kinds), choose)


KINDS = ("ordered", "category", "ordered", "category")


def sets_of(cuts, j, domain):
    domain = np.array(sorted(domain), dtype=np.int32)
    offsets, codes = cell_sets(*cuts[:3], j, domain, len(cuts.leaves))
    return [codes[a:b].tolist() for a, b in pairwise(offsets)]


@given(trees(KINDS))
@pytest.mark.parametrize("j", [0, 2])
def test_ranges_equal_a_naive_replay(j, cuts):
    low, high = cell_ranges(*cuts[:3], j, N_CODES, len(cuts.leaves))
    assert [list(range(a, b + 1)) for a, b in zip(low, high, strict=True)] == [sorted(leaf[j]) for leaf in cuts.leaves]


@given(trees(KINDS))
@pytest.mark.parametrize("j", [1, 3])
def test_sets_equal_a_naive_replay(j, cuts):
    assert sets_of(cuts, j, range(-1, N_CODES)) == [sorted(leaf[j]) for leaf in cuts.leaves]


@given(trees(("category",)))
def test_cells_of_one_column_partition_its_domain(cuts):
    found = sets_of(cuts, 0, range(-1, N_CODES))
    assert sorted(code for cell in found for code in cell) == list(range(-1, N_CODES))


@given(trees(("ordered",)))
def test_ranges_of_one_column_partition_its_domain_in_order(cuts):
    low, high = cell_ranges(*cuts[:3], 0, N_CODES, len(cuts.leaves))
    assert low.tolist() == [-1, *(high[:-1] + 1).tolist()]
    assert high[-1] == N_CODES - 1


def test_no_cut_leaves_the_whole_domain():
    cuts = grown(KINDS, [range(-1, N_CODES)] * 4, lambda cells: None)
    assert sets_of(cuts, 1, [0, 2, 4]) == [[0, 2, 4]]
    low, high = cell_ranges(*cuts[:3], 0, N_CODES, 1)
    assert (low.tolist(), high.tolist()) == ([-1], [N_CODES - 1])


def test_cells_that_outgrow_their_first_buffer():
    # Cutting column 0 thirty times leaves column 1 whole in every class.
    kinds, root = ("category", "category"), [range(30), range(200)]
    cuts = grown(kinds, root, lambda cells: (0, [min(cells[0])]) if len(cells[0]) > 1 else None)
    assert sets_of(cuts, 1, range(200)) == [list(range(200))] * 30
    assert sets_of(cuts, 0, range(30)) == [[code] for code in range(30)]


@pytest.mark.parametrize("n_codes", [N_CODES, 150])
def test_every_point_falls_into_the_leaf_that_holds_it(n_codes):
    rng = np.random.default_rng(n_codes)

    def choose(cells):
        open_columns = [j for j, cell in enumerate(cells) if len(cell) > 1]
        if not open_columns or rng.random() < 0.2:
            return None
        j = int(rng.choice(open_columns))
        codes = sorted(cells[j]) if KINDS[j] == "ordered" else rng.permutation(sorted(cells[j])).tolist()
        return j, codes[: rng.integers(1, len(codes))]

    while len((cuts := grown(KINDS, [range(-1, n_codes)] * 4, choose)).leaves) < 20:
        pass
    is_ordered = np.array([kind == "ordered" for kind in KINDS])
    nodes, words = build_signposts(cuts.columns, cuts.starts, cuts.members, is_ordered)
    assert len(words) <= len(cuts.members)
    codes = rng.integers(-1, n_codes, (4, 3_000)).astype(np.int32)
    begins = (n_codes + 1) * np.arange(5)
    same = np.tile(np.arange(n_codes + 1, dtype=np.int32), 4)
    labels = np.full(3_000, -1, dtype=np.int32)
    route_rows(nodes, words, codes, np.arange(4), same, begins, labels, (0, 1_500))
    assert set(labels[1_500:].tolist()) == {-1}
    route_rows(nodes, words, codes, np.arange(4), same, begins, labels, (1_500, 3_000))
    for label, point in zip(labels.tolist(), codes.T.tolist(), strict=True):
        assert all(code in cell for code, cell in zip(point, cuts.leaves[label], strict=True))


def test_codes_may_be_higher_than_there_are_values():
    # As plain Python, where a write beyond an array is an IndexError.
    replay = getattr(cell_sets, "py_func", cell_sets)
    cuts = np.array([0, -1, -1], np.int32), np.array([0, 2, 2, 2]), np.array([290, 295], np.int32)
    offsets, codes = replay(*cuts, 0, np.array([290, 295, 299], np.int32), 2)
    assert np.split(codes, offsets[1:-1])[0].tolist() == [290, 295]
    assert codes.tolist() == [290, 295, 299]
