"""Tables as nobody should publish them: rows that lack, marks of many kinds, sums, hidden zeros, totals that are wrong.

Each is drawn with its true values: what a reader is said to know must hold them, and no cell is called protected that
an independent checker does not find so.
"""

from itertools import product

import numpy as np
import polars as pl
import pytest

import hushtable as ht

SHAPES = [(4, 5), (3, 3, 3), (2, 3, 4), (2, 2, 2, 3), (7,), (2, 9)]


def draw_table(draw):
    """Draw labels with their texts and true values, and what a reader knows."""
    shape = SHAPES[draw.integers(len(SHAPES))]
    kind = draw.choice(["counts", "sums", "negative"])
    table = draw.poisson(draw.choice([0.5, 2.0, 6.0]), shape).astype(np.int64)
    if kind != "counts":
        table = table * draw.integers(1, 60, shape) - (draw.integers(0, 40, shape) if kind == "negative" else 0)
    for axis in range(len(shape)):
        table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
    zeros = str(draw.choice(["shown", "hidden"]))
    names = "ghij"[: len(shape)]
    labels = [[*(f"{name}{place}" for place in range(size)), "Total"] for name, size in zip(names, shape, strict=True)]
    are_hidden = draw.random(table.shape) < draw.choice([0.1, 0.3])
    are_hidden |= (table > 0) & (table < 4)
    are_hidden &= (table != 0) | (zeros == "hidden") | (kind == "negative")
    unit = 10.0 if kind == "sums" and draw.random() < 0.5 else 1.0
    rows, true = [], {}
    drops = draw.random(table.shape) < draw.choice([0.0, 0.15])
    absent = str(draw.choice(["zero", "hidden"]))
    for place, row in zip(np.ndindex(*table.shape), product(*labels), strict=True):
        value = table[place]
        key = tuple((name, label) for name, label in zip(names, row, strict=True) if label != "Total")
        true[key] = value / unit
        # Every label has some row: of others nobody would know.
        if drops[place] and len(key) > 1 and (value == 0 or absent == "hidden"):
            continue
        text = str(value if unit == 1 else value / unit)
        if are_hidden[place]:
            marks = ["x", "*", "", ":"] + ([f"<{value + draw.integers(1, 5)}"] if unit == 1 and value >= 0 else [])
            text = marks[draw.integers(len(marks))]
        rows.append((*row, text))
    draw.shuffle(rows)
    frame = pl.DataFrame(rows, schema=[*names, "n"], orient="row")
    content = "counts" if kind == "counts" else "sums"
    reader = ht.ReaderKnowledge(content, zeros, absent, negative=kind == "negative")
    return frame, true, reader


@pytest.mark.parametrize("n_tables", [60, pytest.param(10_000, marks=pytest.mark.slow)])
def test_of_no_hostile_table_a_cell_is_protected_by_mistake(n_tables):
    n_protected = n_failing = n_wrong = 0
    for seed in range(n_tables):
        draw = np.random.default_rng(seed)
        frame, true, reader = draw_table(draw)
        options = {"by": frame.columns[:-1], "value": "n", "total": "Total", "reader": reader}
        found = ht.check_tables(frame, **options)
        for judged in found.audit.cells:
            value = true[found.system.keys[judged.cell]] * found.system.unit
            if judged.outcome == "protected":
                assert judged.low < judged.high, seed
                n_protected += 1
            else:
                assert judged.low <= value <= judged.high, (seed, found.system.describe(judged.cell))
                n_failing += 1
        verdict = ht.check_certificate(frame, found.certificate)
        marked = set(found.system.marked.tolist())
        assert verdict.passed == all(cell.cell not in marked for cell in found.failing), (seed, verdict.failures)
        n_wrong += _is_told_of_a_wrong_total(true, frame.columns[:-1], reader, draw)
    assert min(n_protected, n_failing) > n_tables
    assert n_wrong > 0.9 * n_tables


def _is_told_of_a_wrong_total(true, names, reader, draw):
    """Show all cells, add 1 to one of a sum: the sum must be named, and by how much it is off."""
    keys = [key for key in true if len(key) < len(names)]
    wrong = keys[draw.integers(len(keys))]
    rows = [
        (*(dict(key).get(name, "Total") for name in names), str(value + (key == wrong))) for key, value in true.items()
    ]
    frame = pl.DataFrame(rows, schema=[*names, "n"], orient="row")
    with pytest.raises(
        ht.InputError, match=r"not the sum of their parts: the sum over . at .*: 1(\.0)? too (much|little)"
    ):
        ht.check_tables(frame, by=names, value="n", total="Total", reader=reader)
    return True
