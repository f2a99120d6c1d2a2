"""Minimal distortion and certainty: the formulas, on nodes and on releases."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.columns.column import from_texts
from hushtable.recoding.recoding import Nodes, PublishedIntervals, Recoding, Sets

TREE = {"tree": {"T1": {"A": ["a1", "a2"], "B": ["B"], "C": ["C"], "D": ["D"]}}}


def jobs(values: list[str]) -> ht.Hierarchy:
    column, _ = from_texts("job", values)
    return ht.Hierarchy.build(TREE, column)


def test_certainty_of_leaves_is_the_share_that_is_lost() -> None:
    levels = ht.Certainty().node_costs(jobs(["a1", "a2", "B", "C", "D"]), 5)
    assert [level.tolist() for level in levels] == [[0] * 5, [0.25, 0, 0, 0], [1.0], [1.0]]


def test_mg_ga_counts_the_nodes_beside_a_node_so_that_a_higher_one_may_cost_less() -> None:
    # As measured of that program: going to A costs 4/3, going on to T1 costs 1/3.
    ladder = jobs(["a1", "a2", "B"])
    levels = ht.Certainty(variant="mg-ga").node_costs(ladder, 3)
    assert levels[1][ladder.labels[1].index("A")] == pytest.approx(4 / 3)
    assert levels[2].tolist() == pytest.approx([1 / 3])


def test_mg_ga_takes_the_cheaper_node_above() -> None:
    frame = pl.DataFrame({"job": ["a1", "a2", "B", "B"]})
    release = ht.anonymize(
        frame,
        quasi_identifiers=["job"],
        models=[ht.KAnonymity(2)],
        method="mingen",
        loss=ht.Certainty(variant="mg-ga"),
        hierarchies={"job": TREE},
    )
    assert release.frame["job"].to_list() == ["T1", "T1", "B", "B"]
    assert release.loss == pytest.approx(2 / 3)


def release_of() -> tuple[Recoding, np.ndarray]:
    ages, _ = from_texts("age", ["10", "20", "50"])
    kinds, _ = from_texts("job", ["a1", "a2", "B", "C", "D"])
    low, high = np.array([0, 0, 2], np.int32), np.array([1, 2, 2], np.int32)
    mixed = np.array([False, True, False])
    spans = PublishedIntervals(low, high, mixed)
    ladder = jobs(["a1", "a2", "B", "C", "D"])
    nodes = Nodes(
        np.array([1, 3, -1], np.int32), np.array([0, 0, -1], np.int32), np.array([False, False, True]), ladder
    )
    return Recoding((ages, kinds), (spans, nodes), "candidates"), np.array([2, 3, 1])


def test_losses_of_what_is_published_are_sums_over_cells() -> None:
    recoding, sizes = release_of()
    assert ht.MinimalDistortion().measure(recoding, sizes) == 2 * 2 + 3 * 2
    assert ht.MinimalDistortion({"age": 0.5, "job": 0}).measure(recoding, sizes, n_suppressed=4) == 0.5 * (2 + 3 + 4)
    assert ht.Certainty().measure(recoding, sizes) == pytest.approx(2 * (10 / 40 + 0.25) + 3 * 2)
    # The missing value is a sixth distinct one.
    assert ht.Certainty(variant="mg-ga").measure(recoding, sizes) == pytest.approx(2 * (10 / 40 + 4 / 6) + 3 * 2)


def test_sets_have_no_certainty() -> None:
    column, _ = from_texts("job", ["a", "b"])
    recoding = Recoding((column,), (Sets(np.array([0, 2]), np.array([0, 1], np.int32), 2),), "tight")
    with pytest.raises(ht.InputError, match="not defined"):
        ht.Certainty().measure(recoding, np.array([2]))


@pytest.mark.parametrize("loss", [ht.MinimalDistortion, ht.Certainty])
@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "2"])
def test_weights_are_numbers_from_0_on(loss: type, weight: object) -> None:
    with pytest.raises(ht.InputError, match="'age' was given the weight"):
        loss({"age": weight})


def test_variants_are_known_by_name() -> None:
    with pytest.raises(ht.InputError, match="variant"):
        ht.Certainty(variant="sum")  # type: ignore[arg-type]
