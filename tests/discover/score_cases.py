"""Random tables to score, as the package and as the slow twins see them, and how the two answers compare."""

from __future__ import annotations

import datetime as dt
import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, strategies as st

from hushtable.discover import scores
from hushtable.tables.partition import Partition
from hushtable.tables.table import Table
from loops import for_each
from strategies import tables
from twins import naive_scores as naive


class Case(NamedTuple):
    """Data to score; its records, one dict each; a column set; one more column; the ordered columns' values."""

    data: Any
    records: list[dict[str, Any]]
    columns: list[str]
    other: str
    orders: dict[str, list[Any] | None]


def orders_of(frame: pl.DataFrame) -> dict[str, list[Any] | None]:
    """The values of every ordered column that the frame holds, from low to high; None for a category."""
    found: dict[str, list[Any] | None] = {}
    for name in frame.columns:
        held = set(frame[name].drop_nulls().to_list())
        dtype = frame[name].dtype
        if isinstance(dtype, pl.Enum):
            found[name] = [value for value in dtype.categories.to_list() if value in held]
        else:
            found[name] = None if isinstance(dtype, (pl.String, pl.Boolean)) else sorted(held)
    return found


def counted(frame: pl.DataFrame, counts: list[int]) -> Table:
    """A Table whose rows stand for several records each."""
    table = Table.encode(frame)
    return Table(table.columns, table.codes, np.array(counts, dtype=np.int64))


@st.composite
def cases(draw, kinds=None, max_rows=10, missing=True):
    """Draw a frame, or a Table with counts, with a column set (perhaps none) and a target (perhaps of the set)."""
    options = {} if kinds is None else {"kinds": kinds}
    frame = draw(tables(max_rows=max_rows, min_rows=1, missing=missing, **options))
    columns = draw(st.lists(st.sampled_from(frame.columns), unique=True))
    other = draw(st.sampled_from(frame.columns))
    rows = frame.to_dicts()
    if draw(st.booleans()):
        return Case(frame, rows, columns, other, orders_of(frame))
    counts = draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    records = [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]
    return Case(counted(frame, counts), records, columns, other, orders_of(frame))


def approx(value: Any) -> Any:
    """Equal but for rounding; NaN equals NaN."""
    return pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True)


def keys_of(score: Any, case: Case) -> list[Any]:
    """The cells that make each class of a score, by the class's number."""
    if score.part == "column":
        return score.labels.tolist()
    table = case.data if isinstance(case.data, Table) else Table.encode(case.data)
    rows = case.data.decode().to_dicts() if isinstance(case.data, Table) else case.data.to_dicts()
    labels = Partition.from_table(table, case.columns).labels.tolist()
    return [tuple(text(rows[labels.index(label)][name]) for name in case.columns) for label in score.labels.tolist()]


def text(cell: Any) -> Any:
    """A cell as a Table decodes it: a flag is a text."""
    return str(cell).lower() if isinstance(cell, bool) else cell


def check_same(score: Any, twin: Any, case: Case) -> None:
    """The score, and every part's value and size, are the twin's."""
    assert score.value == approx(twin.value)
    keys = keys_of(score, case)
    assert len(set(keys)) == len(keys) == len(score.values) == len(score.sizes)
    named = {tuple(map(text, key)) if isinstance(key, tuple) else key: key for key in twin.values}
    assert set(named) == set(keys)
    assert dict(zip(keys, score.values.tolist(), strict=True)) == {
        key: approx(twin.values[its]) for key, its in named.items()
    }
    assert dict(zip(keys, score.sizes.tolist(), strict=True)) == {key: twin.sizes[its] for key, its in named.items()}


def same_or_both_nan(a: float, b: float) -> bool:
    """Equal but for rounding."""
    return (math.isnan(a) and math.isnan(b)) or a == pytest.approx(b, rel=1e-9, abs=1e-12)


MEASURED = ("integer", "decimal", "date")


VARIANTS = ("definition", "paper")

# The ten records of the source's table 3.
TABLE_3 = pl.DataFrame(
    {
        "Age": [34, 28, 45, 34, 29, 60, 34, 41, 54, 39],
        "Gender": list("MFFMMFMFFM"),
        "Diagnosis": ["Hypertension" if kind == "H" else "Diabetes" for kind in "HDHDHHDHDH"],
        "Treatment": list("ABABAABABA"),
        "Outcome": ["Improved" if better == "1" else "Not Improved" for better in "1011011010"],
    }
)

# For every score: how it is called on a table like PEOPLE, and how it is named in the messages.
PEOPLE = pl.DataFrame(
    {
        "age": [31, 31, None, 52, 52, 60, 31, None, 60, 60, 44, 44],
        "sex": ["f", "f", "m", "m", None, "f", "f", "m", "f", "f", "m", "m"],
        "zip": ["01067", "01067", "53111", "53111", "8010", "8010", "01067", "53111", None, "8010", "01067", "8010"],
        "born": [dt.date(1990 + i % 5, 1, 1 + i % 3) for i in range(12)],
        "pay": [10.5, 20.25, 20.25, None, 30.0, 10.5, 10.5, 1.75, 0.0, 30.0, None, 20.25],
        "ill": ["flu", "hiv", "flu", None, "flu", "cold", "flu", "hiv", "cold", None, "flu", "hiv"],
        "arm": ["A", "B", "A", "A", "B", "B", "A", None, "B", "A", "A", "B"],
    }
)
SET = ["age", "sex"]
ILL, PAY = {"sensitive": "ill"}, {"target": "pay"}
BY_CLASS = {
    "distinction": scores.distinction,
    "separation": scores.separation,
    "k": scores.k_anonymity,
    "k, paper": partial(scores.k_anonymity, variant="paper"),
    "entropy": scores.group_entropy,
    "entropy, paper": partial(scores.group_entropy, variant="paper"),
    "distinct l": partial(scores.l_diversity, **ILL),
    "entropy l": partial(scores.l_diversity, kind="entropy", **ILL),
    "recursive l": partial(scores.l_diversity, kind="recursive", **ILL),
    "l, paper": partial(scores.l_diversity, variant="paper", **ILL),
    "t": partial(scores.t_closeness, **ILL),
    "t, ordered": partial(scores.t_closeness, sensitive="pay"),
    "t, kl": partial(scores.t_closeness, distance="kl", **ILL),
    "t, tv": partial(scores.t_closeness, distance="total_variation", **ILL),
    "t, js": partial(scores.t_closeness, distance="jensen_shannon", **ILL),
    "t, paper": partial(scores.t_closeness, variant="paper", **ILL),
    "delta": lambda data, columns, **words: scores.delta_presence(data, columns, population=data, **words),
    "delta, paper": partial(scores.delta_presence, variant="paper", **ILL),
    "ratio": partial(scores.generalization_ratio, **ILL),
    "ratio, paper": partial(scores.generalization_ratio, variant="paper", **ILL),
    **{
        f"{name}{', paper' if variant == 'paper' else ''}": partial(function, variant=variant, **PAY)
        for variant in VARIANTS
        for name, function in {
            "mse": scores.mean_squared_error,
            "accuracy": scores.accuracy,
            "range": scores.value_range,
            "distinct": scores.distinct_values,
            "completeness": scores.completeness,
            "gain": scores.information_gain,
            "corrected gain": partial(scores.information_gain, corrected=True),
            "gini": scores.gini,
        }.items()
    },
}
PENALTY = {"penalty": scores.attribute_length_penalty}
ARMS = {"treatment": "arm", "treated": "A"}
BY_COLUMN = {
    "shift": partial(scores.covariate_shift, **ARMS),
    "shift, paper": partial(scores.covariate_shift, variant="paper", **ARMS),
    "balance": partial(scores.balance, **ARMS),
    "balance, t": partial(scores.balance, statistic="t", **ARMS),
    "balance, paper": partial(scores.balance, variant="paper", **ARMS),
    "overlap": partial(scores.propensity_overlap, **ARMS),
    "overlap, paper": partial(scores.propensity_overlap, variant="paper", **ARMS),
}
ALL = {**BY_CLASS, **PENALTY, **BY_COLUMN}
every = for_each("score", ALL)
TWINS = {
    "distinction": (scores.distinction, naive.distinction),
    "separation": (scores.separation, naive.separation),
    **{f"k, {v}": (partial(scores.k_anonymity, variant=v), partial(naive.k_anonymity, variant=v)) for v in VARIANTS},
    **{
        f"entropy, {v}": (partial(scores.group_entropy, variant=v), partial(naive.group_entropy, variant=v))
        for v in VARIANTS
    },
}


def twins_of_one_column(function, twin, word, **options):
    """Both with the other column put in."""
    return (
        lambda case: function(case.data, case.columns, **{word: case.other}, **options),
        lambda case: twin(case.records, case.columns, case.other, **options),
    )


SENSITIVE_TWINS = {
    **{
        f"{kind} l={rank}, {v}": twins_of_one_column(
            scores.l_diversity, naive.l_diversity, "sensitive", kind=kind, l=rank, variant=v
        )
        for v in VARIANTS
        for kind, rank in [("distinct", 2), ("entropy", 2), ("recursive", 1), ("recursive", 2), ("recursive", 3)]
    },
    **{
        f"ratio, {v}": twins_of_one_column(
            scores.generalization_ratio, naive.generalization_ratio, "sensitive", variant=v
        )
        for v in VARIANTS
    },
    "delta, paper": (
        lambda case: scores.delta_presence(case.data, case.columns, sensitive=case.other, variant="paper"),
        lambda case: naive.paper_delta_presence(case.records, case.columns, case.other),
    ),
}
TARGET_TWINS = {
    f"{name}, {v}": twins_of_one_column(getattr(scores, name), getattr(naive, name), "target", variant=v)
    for v in VARIANTS
    for name in ("accuracy", "distinct_values", "completeness", "gini", "information_gain")
}
TARGET_TWINS |= {
    f"corrected gain, {v}": twins_of_one_column(
        scores.information_gain, naive.information_gain, "target", corrected=True, variant=v
    )
    for v in VARIANTS
}
MEASURED_TWINS = {
    f"{name}, {v}": twins_of_one_column(getattr(scores, name), getattr(naive, name), "target", variant=v)
    for v in VARIANTS
    for name in ("mean_squared_error", "value_range")
}

# Kinds whose values every caller can write as a Table's text of them.
PLAIN = ("integer", "date", "text", "flag", "ordered")


@st.composite
def treatments(draw, kinds=PLAIN, **options):
    """Draw a case whose other column has at least two values, and one of them."""
    case = draw(cases(kinds=kinds, **options))
    values = sorted(set(naive.known(case.records, case.other)), key=str)
    assume(len(values) > 1)
    return case, draw(st.sampled_from(values))


def words_of(case, treated):
    return {"treatment": case.other, "treated": treated}
