"""Random tables to score, as the package and as the slow twins see them, and how the two answers compare."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import strategies as st

from hushtable.partition import Partition
from hushtable.table import Table
from strategies import tables


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
    labels = Partition.of(table, case.columns).labels.tolist()
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
