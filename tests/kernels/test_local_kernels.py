"""Kernels of local recoding against slow twins: costs, near rows, groups of levels, rings, and steps of annealing."""

from functools import partial
from itertools import combinations, pairwise

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.anonymizers import Problem, local_pricing, local_recoding
from hushtable.anonymizers.judging import Judge
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import annealing as steps, class_costs, neighbours as rings, rollup as levels
from hushtable.search.budget import Clock
from twins import naive_local as naive

NAMES = ("age", "job", "town")
LOSSES = (ht.SetNCP(), ht.ArxLoss(mean="arithmetic"))
JOBS = {"tree": {"blue": ["cook", "welder"], "white": ["clerk", "nurse"], "none": ["idle"]}}


def problem(seed: int, n_rows: int = 40, loss=LOSSES[0], k: int = 3, ladders=("job",), models=()) -> Problem:
    """Return a table of a number, a category with a hierarchy and one without, with missing cells and equal rows."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": [None if x == 9 else int(x) ** 2 for x in rng.choice(10, n_rows)],
            "job": [None if x == 5 else ["cook", "welder", "clerk", "nurse", "idle"][x] for x in rng.choice(6, n_rows)],
            "town": [None if x == 3 else ["bonn", "graz", "linz"][x] for x in rng.choice(4, n_rows)],
            "ill": [["flu", "gout", "mumps"][x] for x in rng.choice(3, n_rows)],
        }
    )
    table = ht.Table.encode(frame)
    made = {
        "age": lambda: Hierarchy.build(Hierarchy.intervals([10, 30]), table.column("age")),
        "job": lambda: Hierarchy.build(Hierarchy.from_dict(JOBS, "job"), table.column("job")),
        "town": lambda: Hierarchy.build(Hierarchy.suppression(), table.column("town")),
    }
    return Problem(NAMES, Judge(table, (ht.KAnonymity(k), *models)), {name: made[name]() for name in ladders}, loss)


def rows_of(asked: Problem) -> list[tuple[int, ...]]:
    table = asked.table
    return list(zip(*(table.codes[table.index(name)].tolist() for name in asked.columns), strict=True))


def labels_of(seed: int, n_rows: int, k: int) -> np.ndarray:
    labels = np.random.default_rng(seed).permutation(np.arange(n_rows) % (n_rows // k))
    return labels.astype(np.int32)


def costs_by_class(asked: Problem, priced: local_pricing.Pricing, labels: np.ndarray) -> list[float]:
    rows = rows_of(asked)
    return [
        naive.class_cost(asked.loss, priced.axes, [rows[i] for i in np.flatnonzero(labels == label)])
        for label in range(labels.max() + 1)
    ]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("most_places", [1_024, 2])
@pytest.mark.parametrize("seed", range(4))
def test_classes_cost_what_the_slow_twin_says_and_what_is_published(seed, most_places, loss, monkeypatch):
    monkeypatch.setattr(local_pricing, "_MOST_PLACES", most_places)
    asked = problem(seed, loss=loss)
    priced = local_pricing.price_rows(asked)
    labels = labels_of(seed, 40, 3)
    classes = local_recoding._build_classes(priced, labels, 3)
    total = class_costs.recompute_all_classes(priced.space, classes)
    assert classes.slots["share"][: labels.max() + 1] == pytest.approx(costs_by_class(asked, priced, labels), rel=1e-5)
    assert total / (40 * len(NAMES)) == pytest.approx(priced.loss_of(labels), rel=1e-5)


@pytest.mark.parametrize("most_places", [1_024, 2])
@pytest.mark.parametrize("seed", range(4))
def test_annealing_keeps_its_books(seed, most_places, monkeypatch):
    # So hot that nearly everything is taken: moves, swaps, splits and dissolves.
    monkeypatch.setattr(local_pricing, "_MOST_PLACES", most_places)
    monkeypatch.setattr(local_recoding, "_SHARE_BIG", 0.3)
    asked = problem(seed, models=(ht.DistinctLDiversity(2, "ill"),) * (seed % 2))
    priced = local_pricing.price_rows(asked)
    labels = np.zeros(40, dtype=np.int32)
    found = local_pricing.find_neighbours(priced.space, labels, 8, Clock())
    check = asked.judge.check_for_kernels(9 if seed % 2 == 0 else 40)
    if check.checker.is_judged:
        check = check._replace(
            checker=check.checker._replace(sensitive=np.ascontiguousarray(check.checker.sensitive[:, found.order]))
        )
    made = []
    monkeypatch.setattr(local_recoding, "_restore_row_order", lambda *told: made.append(told[0]) or unordered(*told))
    after, n_steps = local_recoding.anneal_classes(
        priced, labels, found, check, local_recoding.Course(800, 9.0, 5.0), 1, Clock()
    )
    classes = made[-1]
    assert n_steps == 800
    assert after.max() > 1
    sizes = np.bincount(classes.rows["label"], minlength=len(classes.slots))
    assert classes.slots["n_rows"].tolist() == sizes.tolist()
    assert sizes[sizes > 0].min() >= 3
    free = classes.free[1 : classes.free[0] + 1]
    assert sorted(free.tolist()) == np.flatnonzero(sizes == 0).tolist()
    rows = rows_of(asked)
    for label in np.flatnonzero(sizes):
        ring = [int(classes.slots["first"][label])]
        while (following := int(classes.rows["after"][ring[-1]])) != ring[0]:
            assert classes.rows["before"][following] == ring[-1]
            ring.append(following)
        assert sorted(ring) == np.flatnonzero(classes.rows["label"] == label).tolist()
        held = [rows[found.order[i]] for i in ring]
        assert classes.slots["share"][label] == pytest.approx(naive.class_cost(asked.loss, priced.axes, held), rel=1e-5)
        if seed % 2:
            ill = asked.table.codes[asked.table.index("ill")][found.order[ring]]
            assert len(set(ill.tolist())) > 1


def unordered(classes: class_costs.CostedClasses, order: np.ndarray) -> np.ndarray:
    labels = np.empty(len(order), dtype=np.int32)
    labels[order] = np.unique(classes.rows["label"], return_inverse=True)[1]
    return labels


@pytest.mark.parametrize("n_block", [1, 5, 32])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_nearest_rows_are_those_of_the_slow_twin(loss, n_block, monkeypatch):
    monkeypatch.setattr(local_pricing, "_ROWS_PER_BLOCK", n_block)
    asked = problem(1, n_rows=120, loss=loss)
    priced = local_pricing.price_rows(asked)
    found = local_pricing.find_neighbours(priced.space, labels_of(2, 120, 3), 7, Clock())
    # By content, as the slow twin has them.
    rows = rows_of(asked)
    first = [rows[found.order[i]] for i in found.near.offsets[:-1]]
    costs = found.costs[sorted(range(len(first)), key=lambda i: first[i])]
    assert costs.tolist() == [pytest.approx(each, rel=1e-5) for each in naive.nearest_costs(loss, priced.axes, rows, 7)]
    assert found.complete


@pytest.mark.parametrize("k", [1, 2, 4])
def test_groups_of_levels_hold_what_the_slow_twin_counts(k):
    rng = np.random.default_rng(k)
    nodes, counts = rng.integers(0, 3, (4, 50)).astype(np.int32), rng.integers(1, 4, 50)
    keys, held, slots = np.empty(128, np.uint64), np.empty(128, np.int64), np.empty(50, np.int32)
    for picked in ([0, 2], [1, 2], [0, 3]):
        # Keys wrap around.
        with np.errstate(over="ignore"):
            kept = levels.roll_up(nodes, np.array(picked), counts, k, keys, held, slots)
        rows = list(zip(*nodes[picked].tolist(), strict=True))
        assert kept == naive.n_kept(rows, counts.tolist(), k)
        assert len(set(zip(rows, slots.tolist(), strict=True))) == len(set(rows))


@pytest.mark.parametrize("n_rows", [2, 3, 4, 5, 6, 7, 9])
def test_a_ring_is_taken_apart_at_the_least_cost(n_rows):
    for seed in range(6):
        asked = problem(seed, n_rows=n_rows)
        priced = local_pricing.price_rows(asked)
        ring = np.random.default_rng(seed).permutation(n_rows)
        following = np.empty(n_rows, dtype=np.int32)
        following[ring] = np.roll(ring, -1)
        labels = np.full(n_rows, -1, dtype=np.int32)
        n_classes = rings.split_rings(priced.space, following, labels, np.empty(n_rows, np.int32), np.empty(n_rows))
        rows = rows_of(asked)
        members = [tuple(np.flatnonzero(labels == label).tolist()) for label in range(n_classes)]
        assert sum(map(len, members)) == n_rows

        def cost(part, rows=rows, axes=priced.axes, loss=asked.loss):
            return naive.class_cost(loss, axes, [rows[i] for i in part])

        least = naive.least_apart(cost, ring.tolist())
        assert sum(len(part) * cost(part) for part in members) == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("k", [1, 3])
def test_groups_that_fail_a_model_are_emptied(k):
    rng = np.random.default_rng(k)
    nodes, counts = rng.integers(0, 4, (2, 30)).astype(np.int32), rng.integers(1, 3, 30)
    n_records = int(counts.sum())
    row_of, ill = np.repeat(np.arange(30), counts), rng.choice(4, n_records, p=[0.1, 0.6, 0.2, 0.1]).astype(np.int32)
    frame = pl.DataFrame({"ill": [None if code == 0 else f"value {code}" for code in ill.tolist()]})
    judge = Judge(ht.Table.encode(frame), (ht.KAnonymity(k), ht.DistinctLDiversity(2, "ill")))
    judged = judge.check_for_kernels(n_records).checker
    keys, held, slots = np.empty(64, np.uint64), np.empty(64, np.int64), np.empty(30, np.int32)
    with np.errstate(over="ignore"):
        levels.roll_up(nodes, np.array([0, 1]), counts, k, keys, held, slots)
    offsets, records = np.append(0, np.cumsum(counts)), np.arange(n_records, dtype=np.int32)
    scratch = np.empty(64, np.int32), np.empty(30, np.int32)
    groups = levels.Groups(np.arange(30), slots, held, offsets, records, *scratch)
    n_kept = levels.empty_failing_groups(groups, judged, k)
    rows = list(zip(*nodes.tolist(), strict=True))
    ills = {row: [int(ill[i]) for i in range(n_records) if rows[row_of[i]] == row] for row in set(rows)}
    passing = {row: len(of) for row, of in ills.items() if len(of) >= k and len(set(of) - {0}) >= 2}
    assert 0 < len(passing) < len(ills)
    assert n_kept == sum(passing.values())
    for row, slot in zip(rows, slots.tolist(), strict=True):
        fails = len(ills[row]) >= k and row not in passing
        assert held[slot] == (0 if fails else len(ills[row]))


def begin_annealing(seed, n_rows, n_near, room):
    """Return the labels of classes of four rows, how to anneal them, and a slow twin that says what they cost."""
    asked = problem(seed, n_rows=n_rows)
    priced = local_pricing.price_rows(asked)
    found = local_pricing.find_neighbours(priced.space, np.zeros(n_rows, dtype=np.int32), n_near, Clock())
    space = priced.space._replace(codes=np.ascontiguousarray(priced.space.codes[found.order]))
    classes = local_recoding._build_classes(priced, labels_of(seed, n_rows, 4)[found.order], 3)
    class_costs.recompute_all_classes(space, classes)
    rows, labels, check = rows_of(asked), classes.rows["label"], asked.judge.check_for_kernels(room)

    def total_cost():
        members = [[rows[found.order[i]] for i in np.flatnonzero(labels == label)] for label in set(labels.tolist())]
        return sum(len(each) * naive.class_cost(asked.loss, priced.axes, each) for each in members)

    return labels, partial(steps.anneal, space, classes, found.near, check), total_cost


@pytest.mark.parametrize("most_places", [1_024, 2])
@pytest.mark.parametrize("seed", range(2))
def test_a_step_that_only_goes_down_never_costs_more(seed, most_places, monkeypatch):
    # What a change is said to cost decides whether it is made: were it wrong, some step would cost more.
    monkeypatch.setattr(local_pricing, "_MOST_PLACES", most_places)
    _, anneal, total_cost = begin_annealing(seed, n_rows=40, n_near=8, room=9)
    state, costs, made = np.array([7 + seed]), [total_cost()], np.zeros(5, dtype=np.int64)
    for _ in range(150):
        made += anneal(steps.Schedule(state, 2, 1e-9, 1e-9, 0.3))
        costs.append(total_cost())
    assert all(after <= before + 1e-5 for before, after in pairwise(costs))
    assert costs[-1] < 0.8 * costs[0]
    assert made[0] == 300
    assert made[1] > 0
    assert made[2] + made[3] > 0


@pytest.mark.parametrize("most_places", [1_024, 2])
@pytest.mark.parametrize("seed", range(3))
def test_no_swap_is_missed(seed, most_places, monkeypatch):
    # Classes are small enough for every member to be tried, and every row is near: in the end no swap costs less.
    monkeypatch.setattr(local_pricing, "_MOST_PLACES", most_places)
    labels, anneal, total_cost = begin_annealing(seed, n_rows=24, n_near=24, room=6)
    anneal(steps.Schedule(np.array([7 + seed]), 20_000, 1e-9, 1e-9, 0.0))
    least = total_cost()
    for pair in combinations(range(24), 2):
        labels[[*pair]] = labels[[*reversed(pair)]]
        assert total_cost() >= least - 1e-5
        labels[[*pair]] = labels[[*reversed(pair)]]


@pytest.mark.parametrize("seed", range(3))
def test_rows_left_over_join_the_class_that_grows_least(seed):
    asked = problem(seed)
    priced, rows = local_pricing.price_rows(asked), rows_of(asked)
    labels = labels_of(seed, 40, 4)
    labels[::9] = -1
    room = int(np.bincount(labels[labels >= 0]).max()) + 1
    after = local_recoding.adopt_rows(priced, labels, asked.judge.check_for_kernels(room))
    members = {label: np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)}

    def grown(label: int, row: int) -> float:
        one, more = ([rows[i] for i in held] for held in (members[label], [*members[label], row]))
        return len(more) * naive.class_cost(asked.loss, priced.axes, more) - len(one) * naive.class_cost(
            asked.loss, priced.axes, one
        )

    for row in np.flatnonzero(labels < 0).tolist():
        least = min(grown(label, row) for label in members)
        assert grown(int(after[row]), row) == pytest.approx(least, abs=1e-5)
        members[int(after[row])].append(row)
    assert (after[labels >= 0] == labels[labels >= 0]).all()
