"""Frames with cells of every type and odd names of columns, written as a folder of files."""

import datetime as dt
from decimal import Decimal

import numpy as np
import polars as pl
from hypothesis import strategies as st

ODD_NAMES = ("a", "a.b", "", "*", "^.*$", "q\"uo'te", "two words", "🦔", "path/to", "literal")
CELLS = {
    "text": st.sampled_from(["", " ", "x", "X", "é", "007", "*", "a,b"]),
    "integer": st.sampled_from([-(2**63), -1, 0, 1, 2**62]),
    "small": st.integers(0, 3),
    "float": st.sampled_from([0.0, -0.0, float("nan"), 1.5, -1e300]),
    "boolean": st.booleans(),
    "date": st.sampled_from([dt.date(1900, 1, 1), dt.date(2026, 11, 22)]),
    "zone": st.sampled_from([dt.datetime(2026, 10, 25, hour, tzinfo=dt.UTC) for hour in (0, 1)]),
    "naive": st.sampled_from([dt.datetime(1969, 12, 31, 23, 59, 59, 1), dt.datetime(2026, 1, 1)]),
    "decimal": st.sampled_from([Decimal("1.10"), Decimal("-3.00")]),
    "category": st.sampled_from(["b", "a"]),
    "enum": st.sampled_from(["low", "high"]),
    "nothing": st.none(),
}
TYPES = {
    "text": pl.String(),
    "integer": pl.Int64(),
    "small": pl.UInt8(),
    "float": pl.Float64(),
    "boolean": pl.Boolean(),
    "date": pl.Date(),
    "zone": pl.Datetime("us", "Europe/Paris"),
    "naive": pl.Datetime("ns"),
    "decimal": pl.Decimal(10, 2),
    "category": pl.Categorical(),
    "enum": pl.Enum(["high", "low"]),
    "nothing": pl.Null(),
}


@st.composite
def tables(draw, kinds=tuple(CELLS), min_rows=0):
    picked = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    n_rows = draw(st.integers(min_rows, 12))
    names = draw(st.permutations([name for name in ODD_NAMES if name]))[: len(picked)]
    return pl.DataFrame(
        [
            pl.Series(
                name, draw(st.lists(st.none() | CELLS[kind], min_size=n_rows, max_size=n_rows)), dtype=TYPES[kind]
            )
            for name, kind in zip(names, picked, strict=True)
        ]
    )


def written(table, folder, sizes, **options):
    """Write a table as files of some sizes, the last one of what is left."""
    folder.mkdir()
    start = 0
    for place, size in enumerate([*sizes, None]):
        piece = table.slice(start, size)
        start += 0 if size is None else size
        piece.write_parquet(folder / f"{place}.parquet", **options)
    return folder


def cells_of(column):
    """Return the cells of a column as they compare: NaN is missing, -0 is 0, an hour that comes twice is two."""
    if column.dtype.is_float():
        return [None if cell is None or np.isnan(cell) else cell + 0.0 for cell in column.to_list()]
    return (column.to_physical() if isinstance(column.dtype, pl.Datetime) else column).to_list()


def rows_of(table):
    return list(zip(*map(cells_of, table), strict=True))
