"""Rows that change between classes, against the slow twin: what a sweep says it gains, and where sweeps end."""

from itertools import product

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.anonymizers import mondrian
from hushtable.kernels import exchange
from searching import search
from twins import naive

NAMES = ["age", "code", "town"]
_ROUNDING = 1e-9


def people(seed: int) -> ht.Table:
    """Return distinct rows of a number, of categories that take two words of bits, and of fewer, some of them missing.

    Many rows have a code of a few, so that classes can be of one.
    """
    rng = np.random.default_rng(seed)
    codes = [*range(66), *rng.integers(4, size=54).tolist()]
    rows = [(int(rng.integers(9)) or None, f"c{code}", "abcdefg "[rng.integers(8)].strip() or None) for code in codes]
    frame = pl.DataFrame(rows, schema={"age": pl.Int64, "code": pl.String, "town": pl.String}, orient="row")
    return ht.Table.encode(frame).collapse()[0]


def losses_of(table: ht.Table):
    """Return what computes the loss of some classes, in records times shares."""
    has_missing = (table.codes < 0).any(axis=1).tolist()
    columns = [
        naive.NaiveColumn("ordered", column.positions().tolist(), column.n_values)
        if column.is_ordered
        else naive.NaiveColumn("category", None, column.n_values + is_there)
        for column, is_there in zip(table.columns, has_missing, strict=True)
    ]
    rows, counts = [*zip(*table.codes.tolist(), strict=True)], table.counts.tolist()

    def loss(*classes: list[int]) -> float:
        return sum(
            naive.records(members, counts) * naive.share(column, naive.codes_of(rows, members, j))
            for members in classes
            for j, column in enumerate(columns)
        )

    return loss


def members_of(classes: exchange.ExchangedClasses, n_rows: int) -> list[list[int]]:
    labels = mondrian._labels_of_rows(classes, n_rows)
    return [np.flatnonzero(labels == label).tolist() for label in range(len(classes.sizes))]


def begun(table: ht.Table, seed: int, k: int, monkeypatch):
    """Return what a sweep is given, all but the classes that rows leave, with the rows in classes at random."""
    calls = []
    with monkeypatch.context() as patched:
        patched.setattr(exchange, "exchange_rows", lambda *given: calls.append(given) or 0.0)
        search(ht.Mondrian(exchange=True), table, NAMES, [ht.KAnonymity(k)])
    points, axes, rules, classes, scratch, *limits, _ = calls[0]
    # Twice as many rows as they need, so that some can leave.
    n_classes = table.n_rows // (2 * k)
    labels = np.random.default_rng(seed).permutation(np.arange(table.n_rows, dtype=np.int32) % n_classes)
    partition = ht.Partition.from_labels(labels, n_classes, table.counts)
    first, next_ = mondrian._link_rows(partition, partition.rows)
    classes = classes._replace(
        first=first,
        next_=next_,
        sizes=partition.sizes.copy(),
        low=np.empty((n_classes, len(NAMES)), dtype=np.int32),
        high=np.empty((n_classes, len(NAMES)), dtype=np.int32),
        bits=np.zeros((n_classes, classes.bits.shape[1]), dtype=np.uint64),
        shares=np.empty(n_classes),
    )
    exchange.recompute_all_classes(points, axes, classes, scratch)
    return points, axes, rules, classes, scratch, *limits


@pytest.mark.parametrize(("seed", "k"), [(0, 2), (1, 3)])
def test_a_sweep_gains_what_the_loss_falls_by_and_the_last_leaves_nothing_to_gain(seed, k, monkeypatch):
    table = people(seed)
    loss, given = losses_of(table), begun(table, seed, k, monkeypatch)
    classes, counts, gains = given[3], table.counts.tolist(), []
    n_classes = len(classes.sizes)
    while not gains or sum(gains[-n_classes:]) > 0:
        for source in range(n_classes):
            before = members_of(classes, table.n_rows)
            gains.append(exchange.exchange_rows(*given, (source, source + 1)))
            after = members_of(classes, table.n_rows)
            assert sorted(row for each in after for row in each) == list(range(table.n_rows))
            assert loss(*before) - loss(*after) == pytest.approx(gains[-1], abs=_ROUNDING)
    assert sum(gains) > 1
    assert len({len(each) for each in after}) > 2
    assert classes.sizes.tolist() == naive.class_sizes(after, counts)
    assert min(classes.sizes) >= k

    assert n_classes <= given[6]  # so that all of them are neighbours
    for one, other in product(after, after):
        for row, partner in product(one if one is not other else [], [None, *other]):
            # Swaps of rows for as many records: what others could gain is bounded, and not always looked at.
            if partner is None or counts[partner] == counts[row]:
                ours = [each for each in one if each != row] + [partner] * (partner is not None)
                theirs = [each for each in other if each != partner] + [row]
                if ours and min(naive.class_sizes([ours, theirs], counts)) >= k:
                    assert loss(one, other) - loss(ours, theirs) <= 2 * _ROUNDING
