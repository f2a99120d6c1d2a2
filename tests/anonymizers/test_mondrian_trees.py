"""Cuts along hierarchies, and the relaxed rule: the search against slow twins, class by class."""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from hushtable.anonymizers import Mondrian
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import class_profile
from hushtable.models import DistinctLDiversity, KAnonymity
from hushtable.recoding.layout import lay_out, pack_axes, places_of_rows
from hushtable.tables.table import Table
from searching import search
from strategies import draws
from twins import naive

# Eight leaves and halves of halves: every share is a binary fraction, so that sums are exact.
TREE = {"tree": {"low": {"a": ["0", "1"], "b": ["2", "3"]}, "high": {"c": ["4", "5"], "d": ["6", "7"]}}}
WIDE = {"tree": {"low": ["0", "1", "2", "3"], "high": ["4", "5", "6", "7"]}}
FLAT = {"tree": [str(leaf) for leaf in range(8)]}
LEAVES = [str(leaf) for leaf in range(8)]


class NaiveTree(NamedTuple):
    """A column with a hierarchy: the node of every place at every level, and the share of every node."""

    kind: str
    nodes: list[list[int]]
    shares: list[list[float]]
    min_size: int = 1


def lowest_level_over(column, present):
    known = [code for code in present if code >= 0]
    return min(level for level, nodes in enumerate(column.nodes) if len({nodes[code] for code in known}) == 1)


def tree_share(column, present):
    """Share of the lowest node over the codes, which is what they publish."""
    if len(present) <= 1:
        return 0.0
    if naive.MISSING in present:
        return 1.0
    level = lowest_level_over(column, present)
    return column.shares[level][column.nodes[level][min(present)]]


def child_of(column, present):
    """Return what tells the children of the lowest node over the codes apart; a missing value is a child of its own."""
    below = max(0, lowest_level_over(column, present) - 1)
    return lambda code: naive.MISSING if code < 0 else column.nodes[below][code]


def tree_order(column, frequency):
    """Child by child, that of the most records first, ties in the order of the tree."""
    child = child_of(column, frequency)
    total = Counter()
    for code, count in frequency.items():
        total[child(code)] += count
    return sorted(frequency, key=lambda code: (-total[child(code)], code))


def tree_cuts(cuts, column, order):
    """Keep the cuts that fall between two children of the lowest node over the class."""
    if not any(code >= 0 for code in order):
        return cuts
    child = child_of(column, order)
    return [cut for cut in cuts if child(order[cut.length - 1]) != child(order[cut.length])]


def foreseen_share(column, sizes, costs, entropy, share):
    """What a side of several children costs: less than it publishes, by what cutting its children apart will gain,
    as far as the bits of the others are gone already.
    """
    n, largest = sum(sizes.values()), max(sizes.values())
    gain = sum(size * (share - costs[child]) for child, size in sizes.items() if size >= column.min_size)
    if gain <= 0 or n - largest < column.min_size:
        return math.inf
    logs = 0.0
    for size in sizes.values():
        logs += size * math.log(size)
    return share - gain / n * (1.0 - (math.log(n) - logs / n) / entropy)


def tree_gain(rows, counts, column, weight, j, node, cut):
    """Gain in the column that is cut, where later cuts of the same node are foreseen."""
    present = naive.codes_of(rows, node, j)
    frequency = naive.histogram(node, counts, [row[j] for row in rows])
    child, order = child_of(column, present), tree_order(column, frequency)
    n, share, sizes = naive.records(node, counts), tree_share(column, present), Counter()
    for code in order:
        sizes[child(code)] += frequency[code]
    below = max(0, lowest_level_over(column, present) - 1)
    is_single = {each: each == naive.MISSING or [*map(child, order)].count(each) == 1 for each in sizes}
    costs = {each: 0.0 if is_single[each] else column.shares[below][each] for each in sizes}
    entropy = 0.0
    for size in sizes.values():
        entropy += size * math.log(n / size)
    total = n * share
    for side, children in ((cut.left, [*sizes]), (cut.right, [*sizes][::-1])):
        held = naive.codes_of(rows, side, j)
        of_side = {each: sizes[each] for each in children if each in set(map(child, held))}
        cost = min(tree_share(column, held), foreseen_share(column, of_side, costs, entropy / n, share))
        total -= naive.records(side, counts) * cost
    return weight * total


def bits(counts, node, cut):
    """Entropy of a cut."""
    n, nl, nr = (naive.records(each, counts) for each in (node, cut.left, cut.right))
    return (nl * math.log2(n / nl) + nr * math.log2(n / nr)) / n


@pytest.fixture
def trees(monkeypatch):
    share, cut_order, allowable_cuts = naive.share, naive.cut_order, naive.allowable_cuts

    def share_of_any(column, present):
        return tree_share(column, present) if isinstance(column, NaiveTree) else share(column, present)

    def order_of_any(rows, counts, column, j, node):
        if not isinstance(column, NaiveTree):
            return cut_order(rows, counts, column, j, node)
        frequency = naive.histogram(node, counts, [row[j] for row in rows])
        return tree_order(column, frequency) if set(frequency) - {naive.MISSING} else list(frequency)

    def cuts_of_any(rows, counts, columns, judge, j, node):
        cuts = allowable_cuts(rows, counts, columns, judge, j, node)
        if not isinstance(columns[j], NaiveTree):
            return cuts
        return tree_cuts(cuts, columns[j], naive.cut_order(rows, counts, columns[j], j, node))

    own_gain, cut_balance, cut_cost = naive.own_gain, naive.cut_balance, naive.cut_cost

    def gain_of_any(rows, counts, column, weight, j, node, cut):
        gain = tree_gain if isinstance(column, NaiveTree) else own_gain
        return gain(rows, counts, column, weight, j, node, cut)

    def balance_of_any(counts, column, node, cut):
        return 1.0 if isinstance(column, NaiveTree) else cut_balance(counts, column, node, cut)

    def cost_of_any(counts, column, node, cut):
        return bits(counts, node, cut) if isinstance(column, NaiveTree) else cut_cost(counts, column, node, cut)

    monkeypatch.setattr(naive, "own_gain", gain_of_any)
    monkeypatch.setattr(naive, "cut_balance", balance_of_any)
    monkeypatch.setattr(naive, "cut_cost", cost_of_any)
    monkeypatch.setattr(naive, "share", share_of_any)
    monkeypatch.setattr(naive, "cut_order", order_of_any)
    monkeypatch.setattr(naive, "allowable_cuts", cuts_of_any)


RECORDS = st.lists(
    st.tuples(st.sampled_from(LEAVES) | st.none(), st.integers(0, 4), st.sampled_from("xyz") | st.none()),
    min_size=1,
    max_size=24,
)


@settings(max_examples=draws(60))
@given(records=RECORDS, k=st.integers(1, 4), l=st.integers(1, 2))
@pytest.mark.parametrize("tree", [TREE, WIDE, FLAT], ids=["halves", "wide", "flat"])
@pytest.mark.parametrize("cut", ["gain", "median"])
@pytest.mark.usefixtures("trees")
def test_the_search_along_a_tree_is_its_slow_twin(cut, tree, records, k, l):  # noqa: E741
    assert_cuts_as_its_slow_twin(cut, tree, records, k, l)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tree", [TREE, WIDE, FLAT], ids=["halves", "wide", "flat"])
@pytest.mark.usefixtures("trees")
def test_a_few_tables_are_cut_along_a_tree_as_by_the_slow_twin(tree, seed):
    rng = np.random.default_rng(seed)
    leaves, sizes, ills = rng.choice(LEAVES, 24), rng.integers(5, size=24), rng.choice(list("xyz"), 24)
    records = list(zip(leaves.tolist(), sizes.tolist(), ills.tolist(), strict=True))
    assert_cuts_as_its_slow_twin("gain", tree, records, 2 + seed % 2, 1)


def assert_cuts_as_its_slow_twin(cut, tree, records, k, l):  # noqa: E741
    # All leaves are present, so that the aligned tree is the whole one.
    rows = [*records, *((leaf, 0, "x") for leaf in LEAVES)]
    frame = pl.DataFrame(rows, schema={"code": pl.String, "size": pl.Int64, "ill": pl.String}, orient="row")
    table, _ = Table.encode(frame).collapse()
    ladder = Hierarchy.build(tree, table.column("code"))
    models = [KAnonymity(k), DistinctLDiversity(l, "ill")]
    found = search(Mondrian(cut=cut), table, ["code", "size"], models, hierarchies={"code": ladder}).partition

    axes = lay_out(table, ["code", "size"], {"code": ladder}, {})
    codes = axes[0].code_at()
    columns = [
        NaiveTree(
            "ordered", [ladder.level_codes[i, codes].tolist() for i in range(ladder.n_levels)], ladder.shares, max(k, l)
        ),
        naive.NaiveColumn("ordered", table.column("size").positions().tolist(), 0),
    ]
    points = [tuple(place - 1 for place in row) for row in places_of_rows(table, axes).tolist()]
    counts, ills = table.counts.tolist(), table.codes[table.index("ill")].tolist()

    def judge(members):
        held = naive.histogram(members, counts, ills)
        return naive.k_anonymous(naive.records(members, counts), k) and naive.distinct_l(held, l)

    wanted = naive.mondrian(points, counts, columns, judge, cut)
    classes = [found.rows[begin:end].tolist() for begin, end in zip(found.offsets, found.offsets[1:], strict=False)]
    assert classes == wanted


@settings(max_examples=draws(60))
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=30), st.integers(1, 4))
def test_the_relaxed_search_is_its_slow_twin(rows, k):
    """Halve by the widest column that varies, equal values dealt by content, while both halves hold k."""
    table = Table.encode(pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64}, orient="row"))
    found = search(Mondrian(cut="median", strict=False), table, ["a", "b"], [KAnonymity(k)]).partition
    columns = [naive.NaiveColumn("ordered", column.positions().tolist(), 0) for column in table.columns]
    points = [tuple(row) for row in table.codes.T.tolist()]

    def halve(members):
        spans = [naive.share(column, {points[i][j] for i in members}) for j, column in enumerate(columns)]
        half = len(members) // 2
        if half < k or not any(spans):
            return [sorted(members)]
        widest = int(np.argmax(spans))
        ranked = sorted(members, key=lambda i: (points[i][widest], points[i]))
        left = set(ranked[:half])
        return [*halve([i for i in members if i in left]), *halve([i for i in members if i not in left])]

    classes = [found.rows[begin:end].tolist() for begin, end in zip(found.offsets, found.offsets[1:], strict=False)]
    assert classes == halve(list(range(len(points))))


@pytest.mark.parametrize("rule", [{"prefix": [1]}, {"suppression": {}}], ids=["prefix", "one level"])
@pytest.mark.parametrize("strict", [True, False])
def test_a_class_of_missing_cells_alone_has_no_cut_along_a_tree(rule, strict):
    frame = pl.DataFrame({"c": [None] * 4 + ["11", "12"] * 4})
    table = Table.encode(frame)
    ladder = Hierarchy.build(rule, table.column("c"))
    found = search(Mondrian(cut="median", strict=strict), table, ["c"], [KAnonymity(2)], hierarchies={"c": ladder})
    assert sorted(found.partition.sizes.tolist()) == [4, 4, 4]


def test_the_profile_of_missing_cells_is_read_no_further_than_it_goes():
    """Compiled code reads on beyond an array and tells nobody; as plain Python it is an IndexError."""
    table = Table.encode(pl.DataFrame({"c": [None, "11", "12"]}))
    axes = pack_axes(lay_out(table, ["c"], {"c": Hierarchy.build({"prefix": [1]}, table.column("c"))}, {}), {})
    # A profile has room for every place of a column; here it ends where the class does.
    held = class_profile.Profile(
        np.zeros(1, class_profile.COLUMN), np.zeros(1, class_profile.ENTRY), np.zeros(3, int), np.zeros((2, 1))
    )
    held.columns[0].n_codes = 1
    getattr(class_profile.sort_profile, "py_func", class_profile.sort_profile)(axes, held, 0)
    assert held.entries[0].code == 0
