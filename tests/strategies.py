"""Hypothesis strategies for random tables, shared by the tests."""

from __future__ import annotations

import datetime as dt
import os

import numpy as np
import polars as pl
from hypothesis import strategies as st

from hushtable.tables.table import Table

# Whoever changes something waits for these; `scripts/test --slow` draws 200.
EXAMPLES = int(os.environ.get("HUSHTABLE_EXAMPLES", "10"))

# Few values per type, so that random rows repeat; the last type makes constant columns.
PALETTES: dict[str, tuple[pl.DataType, list[object]]] = {
    "integer": (pl.Int64(), [-40, -3, 0, 7, 8, 31]),
    "decimal": (pl.Float64(), [-1.5, 0.0, 0.25, 1.75, 30.0]),
    "date": (pl.Date(), [dt.date(1969, 12, 31), dt.date(2000, 2, 29), dt.date(2024, 1, 1)]),
    "text": (pl.String(), ["bonn", "graz", "linz, am", "[1, 2]", "zürich 🏔"]),
    "flag": (pl.Boolean(), [False, True]),
    "ordered": (pl.Enum(["low", "mid", "high"]), ["low", "mid", "high"]),
    "constant": (pl.String(), ["x"]),
}


def draws(n: int) -> int:
    """Return how many random tables a law of many gets: all n in `scripts/test --slow`, a fourth of them else."""
    return n if EXAMPLES >= 200 else -(-n // 4)


@st.composite
def tables(draw, max_rows=12, max_columns=4, min_rows=0, missing=True, kinds=tuple(PALETTES)):
    """Draw a polars frame with repeated rows, columns "c0", "c1", ..., some constant, some with missing cells."""
    n_rows = draw(st.integers(min_rows, max_rows))
    series = []
    for j in range(draw(st.integers(1, max_columns))):
        dtype, values = PALETTES[draw(st.sampled_from(kinds))]
        holes = [None] if missing and draw(st.booleans()) else []
        cells = draw(st.lists(st.sampled_from([*values, *holes]), min_size=n_rows, max_size=n_rows))
        series.append(pl.Series(f"c{j}", cells, dtype=dtype))
    return pl.DataFrame(series)


@st.composite
def counted_tables(draw, max_rows=12, max_columns=4, max_count=3, **options):
    """Draw a Table whose rows stand for 1 to `max_count` records each."""
    table = Table.encode(draw(tables(max_rows, max_columns, **options)))
    counts = draw(st.lists(st.integers(1, max_count), min_size=table.n_rows, max_size=table.n_rows))
    return Table(table.columns, table.codes, np.array(counts, dtype=np.int64))


@st.composite
def coded_rows(draw, max_rows=12, max_columns=4, max_codes=4):
    """Draw codes of shape (n_columns, n_rows), -1 for missing, with how many codes each column may use."""
    n_rows = draw(st.integers(0, max_rows))
    widths = draw(st.lists(st.integers(1, max_codes), min_size=1, max_size=max_columns))
    codes = [draw(st.lists(st.integers(-1, width - 1), min_size=n_rows, max_size=n_rows)) for width in widths]
    return np.array(codes, dtype=np.int32).reshape(len(widths), n_rows), widths
