"""Mondrian's kernel on raw codes, against the slow twin: the same classes, with the same rows, in the same order."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from hushtable._types import RULE_DISTINCT, RULE_SIZE
from hushtable.anonymizers import parallel
from hushtable.kernels import class_profile, judge, split
from twins import naive


class Case(NamedTuple):
    """A coded table and what its classes must satisfy; `n_values` and `columns` have an entry a column."""

    rows: list[tuple[int, ...]]
    counts: list[int]
    n_values: list[int]
    columns: list[naive.NaiveColumn]
    sensitive: list[list[int]]
    k: int
    diversities: list[int]


def ordered(positions):
    return naive.NaiveColumn("ordered", list(positions), len(positions))


def category(n_values):
    return naive.NaiveColumn("category", None, n_values)


def case(rows, columns, k=2, counts=None, sensitive=(), diversities=()):
    rows = [tuple(row) for row in rows]
    n_values = [column.domain for column in columns]
    columns = [
        column._replace(domain=column.domain + any(row[j] < 0 for row in rows)) for j, column in enumerate(columns)
    ]
    return Case(rows, counts or [1] * len(rows), n_values, columns, list(sensitive), k, list(diversities))


@st.composite
def cases(draw, max_rows=14):
    # Half of the tables are as large as they may be: small ones have little to cut.
    n_rows = draw(st.integers(1, max_rows) | st.just(max_rows))
    columns = []
    for _ in range(draw(st.integers(1, 3))):
        n_values = draw(st.sampled_from([1, 2, 3, 5, 5, 8, 8, 400]))
        if draw(st.booleans()):
            columns.append(category(n_values))
            continue
        steps = draw(st.lists(st.integers(1, 9), min_size=n_values - 1, max_size=n_values - 1)) if n_values < 9 else []
        ends = np.cumsum([0, *steps]) if steps or n_values == 1 else np.arange(n_values)
        columns.append(ordered((ends / max(1, ends[-1])).tolist()))
    codes = [draw(st.lists(st.integers(-1, column.domain - 1), min_size=n_rows, max_size=n_rows)) for column in columns]
    counts = draw(st.lists(st.integers(1, 3), min_size=n_rows, max_size=n_rows))
    n_sensitive = draw(st.sampled_from([0, 0, 1, 2]))
    sensitive = [draw(st.lists(st.integers(-1, 2), min_size=n_rows, max_size=n_rows)) for _ in range(n_sensitive)]
    diversities = [draw(st.sampled_from([1, 2, 2, 3])) for _ in range(n_sensitive)]
    return case(
        zip(*codes, strict=True), columns, draw(st.sampled_from([1, 2, 2, 3, 5])), counts, sensitive, diversities
    )


def judge_of(made):
    def passes(members):
        if not naive.k_anonymous(naive.records(members, made.counts), made.k):
            return False
        histograms = [naive.histogram(members, made.counts, codes) for codes in made.sensitive]
        return all(map(naive.distinct_l, histograms, made.diversities))

    return passes


def expected(made, cut, n_rescored):
    return naive.mondrian(made.rows, made.counts, made.columns, judge_of(made), cut=cut, rescored=n_rescored)


def axes_of(made):
    """Lay out columns that have no hierarchy, no list and no round units."""
    sizes = [n + 1 for n in made.n_values]
    columns = np.zeros(len(sizes), dtype=class_profile.AXIS)
    columns["begin"] = np.cumsum([0, *sizes[:-1]])
    columns["is_ordered"] = [column.kind == "ordered" for column in made.columns]
    columns["is_plain"], columns["weight"] = True, 1.0
    columns["domain"] = [column.domain for column in made.columns]
    columns["most_units"] = np.where(columns["is_ordered"], 0, sizes)
    places = np.zeros(sum(sizes), dtype=class_profile.PLACE)
    places["position"] = np.concatenate(
        [[0.0, *(column.positions or [0.0] * n)] for column, n in zip(made.columns, made.n_values, strict=True)]
    )
    places["unit"] = np.concatenate([np.arange(size) for size in sizes])
    return split.Axes(columns, places, np.zeros((0, len(places)), dtype=class_profile.LEVEL))


def searched(made, cut="gain", n_rescored=4, chunk=10_000, room=None, n_chunks=None):
    """Run the kernel and return its classes and its tree."""
    axes = axes_of(made)
    counts = np.array(made.counts, dtype=np.int64)
    sensitive = np.array(made.sensitive, dtype=np.int32).reshape(len(made.sensitive), len(made.rows)) + np.int32(1)
    dtype = np.uint8 if max(made.n_values) < 256 else np.uint32
    codes = np.zeros((len(made.rows), 8), dtype=dtype)
    codes[:, : len(made.columns)] = np.array(made.rows) + 1
    rows = parallel.rows_for_kernels(codes, counts, np.arange(len(counts)))
    rules = judge.Rules(
        kinds=np.array([RULE_SIZE] + [RULE_DISTINCT] * len(made.diversities), dtype=np.int64),
        columns=np.array([0, *range(len(made.diversities))], dtype=np.int64),
        thresholds=np.array([made.k, *made.diversities], dtype=float),
    )
    options = split.Options(max([made.k, *made.diversities]))
    deals_ties = None if cut == "gain" else False
    people = np.empty(0, dtype=np.int64)
    search = parallel.CutSearch(axes, rules, sensitive, people, options, n_rescored, deals_ties)
    scratch, tree = parallel.ThreadScratch(search, rows, len(counts)), parallel._new_tree(search, rows, len(counts))
    scratch.stack_rows(rows)
    if room is not None:
        tree = tree._replace(members=np.empty(room, dtype=np.int32))
        scratch.work = scratch.work._replace(stack=scratch.work.stack[:1].copy())
    status, n_run = split.PAUSED, 0
    while status != split.DONE and n_run != n_chunks:
        tree, status = parallel._grow_slice(scratch, rows, tree, chunk)
        n_run += 1
    split.finish_tree(scratch.work.stack, tree)
    ends = tree.leaf_starts[: tree.cursor[split.LEAVES] + 1].tolist()
    return [rows.order[a:b].tolist() for a, b in pairwise(ends)], tree


RULES = pytest.mark.parametrize(("cut", "n_rescored"), [("gain", 1), ("gain", 2), ("gain", 4), ("median", 4)])


@RULES
@given(cases())
@example(case([(0,)], [category(1)], k=1))
@example(case([(-1,)] * 4, [ordered([0.0])], k=2))
@example(case([(0, 0)] * 6, [ordered([0.0]), category(1)], k=3))
@example(case([(0,), (1,), (2,)], [ordered([0.0, 0.5, 1.0])], k=5))
@example(case([(0,), (400,), (-1,), (0,)], [category(401)], k=1, counts=[1, 2, 3, 1]))
@example(case([(0,), (400,), (-1,), (0,)], [ordered(np.linspace(0, 1, 401))], k=1, counts=[1, 2, 3, 1]))
@example(case([(0,), (1,)] * 3, [category(2)], k=1, sensitive=[[-1] * 6], diversities=[1]))
def test_the_kernel_cuts_as_its_slow_twin(cut, n_rescored, made):
    assert searched(made, cut, n_rescored)[0] == expected(made, cut, n_rescored)


@RULES
@settings(max_examples=20)
@given(cases(max_rows=30))
def test_larger_tables(cut, n_rescored, made):
    assert searched(made, cut, n_rescored)[0] == expected(made, cut, n_rescored)


@RULES
def test_more_categories_than_are_sorted_by_insertion(cut, n_rescored):
    codes = [code for code in range(55) for _ in range(1 + code % 3)]
    made = case([(code,) for code in codes], [category(55)], k=40)
    assert searched(made, cut, n_rescored)[0] == expected(made, cut, n_rescored)


@RULES
@given(cases(), st.integers(1, 4))
def test_pausing_changes_nothing(cut, n_rescored, made, chunk):
    whole, tree = searched(made, cut, n_rescored)
    in_chunks, same_tree = searched(made, cut, n_rescored, chunk=chunk)
    assert in_chunks == whole
    assert_same_cuts(tree, same_tree)


@RULES
@given(cases())
def test_running_out_of_room_changes_nothing(cut, n_rescored, made):
    whole, tree = searched(made, cut, n_rescored)
    cramped, same_tree = searched(made, cut, n_rescored, room=1)
    assert cramped == whole
    assert_same_cuts(tree, same_tree)


@RULES
@given(cases(), st.integers(1, 6))
def test_stopping_early_leaves_unions_of_the_classes(cut, n_rescored, made, n_nodes):
    whole, _ = searched(made, cut, n_rescored)
    early, _ = searched(made, cut, n_rescored, chunk=n_nodes, n_chunks=1)
    assert sorted(row for members in early for row in members) == list(range(len(made.rows)))
    for members in whole:
        assert sum(set(members) <= set(union) for union in early) == 1
    if judge_of(made)(list(range(len(made.rows)))):
        assert all(map(judge_of(made), early))


@given(cases())
def test_the_tree_sends_every_row_to_its_class(made):
    classes, tree = searched(made)
    n_nodes = int(tree.cursor[split.NODES])
    ends = np.cumsum([0, *tree.lengths[:n_nodes]])
    waiting, reached = [set(range(len(made.rows)))], []
    for node in range(n_nodes):
        rows, column = waiting.pop(), int(tree.columns[node])
        if column < 0:
            reached.append(sorted(rows))
            continue
        left = set((tree.members[ends[node] : ends[node + 1]] - 1).tolist())
        waiting.append({row for row in rows if made.rows[row][column] not in left})
        waiting.append({row for row in rows if made.rows[row][column] in left})
    assert not waiting
    assert reached == classes


def test_ties_go_to_the_earlier_column_and_the_shorter_prefix():
    made = case([(0, 0), (0, 1), (1, 0), (1, 1)], [ordered([0.0, 1.0]), ordered([0.0, 1.0])], k=2)
    assert searched(made)[0] == [[0, 1], [2, 3]]
    made = case([(0,), (1,), (2,)], [ordered([0.0, 0.5, 1.0])], k=1, counts=[2, 2, 2])
    assert searched(made)[0] == [[0], [1], [2]]


def test_missing_comes_first_in_an_ordered_column_and_is_cut_off_there():
    made = case([(1,), (-1,), (0,), (-1,)], [ordered([0.0, 1.0])], k=2)
    assert searched(made)[0] == [[1, 3], [0, 2]]


def assert_same_cuts(one, other):
    n_nodes, n_members = int(one.cursor[split.NODES]), int(one.cursor[split.MEMBERS])
    assert one.cursor[[split.NODES, split.LEAVES, split.MEMBERS]].tolist() == (
        other.cursor[[split.NODES, split.LEAVES, split.MEMBERS]].tolist()
    )
    assert one.columns[:n_nodes].tolist() == other.columns[:n_nodes].tolist()
    assert one.lengths[:n_nodes].tolist() == other.lengths[:n_nodes].tolist()
    assert one.members[:n_members].tolist() == other.members[:n_members].tolist()
