"""Sequential trees: donors of a leaf as the twin says, what columns do together, and the order they are drawn in."""

import sys

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.synthesizers import trees
from hushtable.synthesizers.margins import build_original
from twins.naive_trees import naive_donor_chances


def test_donors_are_those_of_the_twin():
    """A tree of seven nodes in preorder, of which 2, 3, 5 and 6 are leaves."""
    parents, leaves = np.array([0, 0, 1, 1, 0, 4, 4]), np.array([2, 3, 3, 5, 5, 5, 6, 2, 6, 6])
    rng = np.random.default_rng(0)
    for leaf in (2, 3, 5, 6):
        found = trees.draw_from_nodes(leaves, parents, np.full(200_000, leaf), rng)
        shares = np.bincount(found, minlength=len(leaves)) / len(found)
        assert shares == pytest.approx(naive_donor_chances(leaves, parents, leaf, trees.SHRINKAGE), abs=0.005)


def test_levels_lie_in_the_line_as_their_records_do():
    table = ht.Table.encode(pl.DataFrame({"n": [None, 1, 1, 2, None, 9] * 10, "x": list("aabbcb") * 10}))
    original = build_original(table, None)
    for j, expected in enumerate([[20, 20, 10, 10], [0, 20, 30, 10]]):
        levels = trees.coarsen_column(table, j, original.sharing[j])
        assert np.diff(levels.begins).tolist() == expected
        assert np.bincount(levels.codes, minlength=4).tolist() == expected


def interacting(n=4_000):
    """`c` is yes only where `a` and `b` both are; `pay` is far from monotone in `age`; `day` goes with it."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(2, size=(2, n))
    age = rng.integers(20, 80, n)
    pay = np.round(9_000 - (age - 50) ** 2 * 5 + rng.normal(0, 200, n))
    return pl.DataFrame(
        {
            "a": np.array(["x", "y"])[a],
            "b": np.array(["x", "y"])[b],
            "age": age,
            "c": np.array(["no", "yes"])[np.where(rng.random(n) < 0.1, 1 - a * b, a * b)],
            "pay": pl.Series(pay).set(pl.Series(rng.random(n) < 0.1), None),
            "day": np.datetime64("2020-01-01") + (age * 10 + rng.integers(10, size=n)).astype("timedelta64[D]"),
        }
    )


def share_of_yes(data, a, b):
    return (data.filter((pl.col("a") == a) & (pl.col("b") == b))["c"] == "yes").mean()


def test_what_several_columns_do_together_is_kept():
    data = interacting()
    made = ht.synthesize(data, method="trees", seed=1)
    assert made.schema == data.schema
    for a, b in ("xx", "xy", "yx", "yy"):
        assert share_of_yes(made, a, b) == pytest.approx(share_of_yes(data, a, b), abs=0.06)
    kept = made.drop_nulls("pay")
    assert kept.height / made.height == pytest.approx(0.9, abs=0.02)
    assert (kept["pay"] == kept["pay"].round()).all()
    assert (kept["pay"] - (9_000 - (kept["age"] - 50) ** 2 * 5)).std() < 600 < data["pay"].std() / 2
    assert np.corrcoef(made["age"], made["day"].to_physical())[0, 1] > 0.95


def test_the_order_decides_who_comes_first():
    data = interacting(800)
    original = build_original(ht.Table.encode(data), None)
    seen = []

    def watch(target, before, *rest):
        seen.append((len(target.begins), len(before)))
        return np.zeros(5, dtype=np.int64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "_draw_donors", watch)
        ht.Trees(order=["pay", "c"]).draw_positions(original, 5, np.random.default_rng(0))
    widths = [len(trees.coarsen_column(original.table, j, original.sharing[j]).begins) for j in (4, 3, 0, 1, 2, 5)]
    assert seen == [(width, turn) for turn, width in enumerate(widths)]


def test_leaves_hold_persons():
    """Two hundred records of four persons make no leaf of twenty: nothing is split."""
    data = pl.DataFrame({"who": [i % 4 for i in range(200)], "a": [0, 0, 1, 1] * 50, "b": [0, 0, 1, 1] * 50})
    data = pl.concat([data, pl.DataFrame({"who": range(10, 40), "a": [0, 1] * 15, "b": [0, 1] * 15})])
    alike = [
        (each["a"] == each["b"]).mean()
        for each in (
            ht.synthesize(data, method="trees", n=2_000),
            ht.synthesize(data, method="trees", n=2_000, person="who"),
        )
    ]
    assert alike[0] > 0.9
    assert alike[1] < 0.7


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(ht.InputError, match=r"needs scikit-learn.*\n*.*hushtable\[sklearn\]"):
        ht.synthesize(interacting(100), method="trees")
