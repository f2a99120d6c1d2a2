"""Tables and requests for engines: random ones with every type that they know, and what they are compared by."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

import hushtable as ht
from hushtable.release.origin import PublishedCells
from hushtable.tables.table import Table

MOMENTS = [dt.datetime(1969, 12, 31, 23, 59, 59, 999000), dt.datetime(2000, 2, 29), dt.datetime(2024, 3, 31, 2, 30)]
DAYS = [dt.date(1, 1, 1), dt.date(2000, 2, 29), dt.date(9999, 12, 31)]
REALS = [float("nan"), 0.0, -0.0, 0.1, -1.5]
TEXTS = ["", " ", "bonn", "Bonn", "linz, am", "zürich 🏔", "NA", "01", "*"]

PALETTES: dict[str, tuple[Any, list[Any]]] = {
    "int8": (pl.Int8(), [-128, 0, 7]),
    "int16": (pl.Int16(), [-300, 0, 7]),
    "int32": (pl.Int32(), [-70_000, 0, 7]),
    "int64": (pl.Int64(), [-(2**63), 0, 2**53 + 1]),
    "float32": (pl.Float32(), REALS),
    "float64": (pl.Float64(), REALS),
    "decimal": (pl.Decimal(10, 2), [Decimal("1.50"), Decimal("-0.01"), Decimal(2)]),
    "flag": (pl.Boolean(), [False, True]),
    "date": (pl.Date(), DAYS),
    "moment": (pl.Datetime("us"), MOMENTS),
    "zoned": (pl.Datetime("us", "Europe/Berlin"), [each.replace(tzinfo=dt.UTC) for each in MOMENTS]),
    "text": (pl.String(), TEXTS),
    "null": (pl.Null(), [None]),
    # What Spark has no types for.
    "uint8": (pl.UInt8(), [0, 255]),
    "uint16": (pl.UInt16(), [0, 2**16 - 1]),
    "uint32": (pl.UInt32(), [0, 2**32 - 1]),
    "uint64": (pl.UInt64(), [0, 2**63 - 1]),
    "ms": (pl.Datetime("ms"), MOMENTS),
    "ns": (pl.Datetime("ns", "UTC"), [each.replace(tzinfo=dt.UTC) for each in MOMENTS]),
    "category": (pl.Categorical(), TEXTS),
    "ordered": (pl.Enum(["low", "mid", "high"]), ["high", "low"]),
}
OF_SPARK = tuple(PALETTES)[: tuple(PALETTES).index("uint8")]

# Names that mean something to one engine or another.
NAMES = ["age", "*", "^a.*$", "a.b", 'q"`u', "c1", "m", "n", "sélect 1"]


@st.composite
def frames(draw, max_rows=12, max_columns=4, kinds=tuple(PALETTES)):
    """Draw a polars frame with repeated rows, missing cells, and names that are no plain words."""
    n_rows = draw(st.integers(0, max_rows))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=max_columns, unique=True))
    series = []
    for name in names:
        dtype, values = PALETTES[draw(st.sampled_from(kinds))]
        cells = draw(st.lists(st.sampled_from([*values, None]), min_size=n_rows, max_size=n_rows))
        # Without a name at first, which polars takes for a pattern.
        series.append(pl.Series(cells, dtype=dtype).alias(name))
    return pl.DataFrame(series)


def of_engine(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame as an engine gets it that has no categories: they are text."""
    is_text = {name for name, dtype in frame.schema.items() if isinstance(dtype, (pl.Categorical, pl.Enum))}
    return pl.DataFrame([each.cast(pl.String) if each.name in is_text else each for each in frame])


def assert_same(table: Table, frame: pl.DataFrame) -> None:
    """Assert that a table's columns are those of an eager frame, and its rows and counts those of its records."""
    eager = Table.encode(frame)
    for ours, theirs in zip(table.columns, eager.columns, strict=True):
        assert (ours.name, ours.kind, ours.by_rank) == (theirs.name, theirs.kind, theirs.by_rank)
        assert ours.values.dtype == theirs.values.dtype
        assert ours.values.tolist() == theirs.values.tolist()
    expected = Counter(map(tuple, eager.codes.T.tolist()))
    counted: Counter[tuple[int, ...]] = Counter()
    for row, count in zip(table.codes.T.tolist(), table.counts.tolist(), strict=True):
        counted[tuple(row)] += count
    assert counted == expected


def texts(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    """Return the rows as texts of their cells, sorted: NaN and zeros as they are, moments in UTC."""
    return sorted(tuple(_text(cell) for cell in row) for row in frame.rows())


def _text(cell: Any) -> str:
    return repr(cell.astimezone(dt.UTC) if isinstance(cell, dt.datetime) and cell.tzinfo else cell)


def slow_key(cells: Any) -> tuple[Any, ...]:
    """Return what a row of raw cells is known by: no NaN, no signed zero."""
    return tuple(None if cell != cell else cell + 0.0 if isinstance(cell, float) else cell for cell in cells)


@st.composite
def published(draw, frame: pl.DataFrame, keys: pl.DataFrame) -> PublishedCells:
    """Draw what is published of distinct rows: labels, cells as they are, columns and records that are left out."""
    names = draw(st.permutations(frame.columns))
    columns = tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=len(names), unique=True)))
    is_published = np.array(draw(st.lists(st.booleans(), min_size=keys.height, max_size=keys.height)), dtype=bool)
    new = []
    for name in [each for each in keys.columns if each in columns]:
        if draw(st.booleans()):
            labels = draw(st.lists(st.sampled_from(["*", "[1, 2]", None]), min_size=keys.height, max_size=keys.height))
            new.append(pl.Series(labels, dtype=pl.String).alias(name))
        else:
            new.append(keys[:, keys.columns.index(name)])
    return PublishedCells(keys, pl.DataFrame(new), is_published, columns, None)


def slowly_published(frame: pl.DataFrame, cells: PublishedCells) -> pl.DataFrame:
    """Return what is published of a frame, record by record, as text."""
    place = {slow_key(row): i for i, row in enumerate(cells.keys.rows())}
    keys = pl.DataFrame([frame[:, frame.columns.index(name)] for name in cells.keys.columns]).rows()
    rows = []
    for number, key in enumerate(keys):
        at = place[slow_key(key)]
        if cells.is_published[at]:
            rows.append(
                [
                    cells.published[at, cells.published.columns.index(name)]
                    if name in cells.published.columns
                    else frame[number, frame.columns.index(name)]
                    for name in cells.columns
                ]
            )
    return pl.DataFrame(
        {str(j): pl.Series([_text(row[j]) for row in rows], dtype=pl.String) for j in range(len(cells.columns))}
    )


ASKED = {
    "k": {"quasi_identifiers": ["age", "job"], "models": [ht.KAnonymity(3)]},
    "l": {"quasi_identifiers": ["age", "job"], "models": [ht.KAnonymity(2), ht.DistinctLDiversity(2, "ill")]},
    "t": {"quasi_identifiers": ["age", "born"], "models": [ht.KAnonymity(2), ht.TCloseness(0.4, "ill")]},
    "suppression": {
        "quasi_identifiers": ["age", "job"],
        "models": [ht.KAnonymity(4), ht.DistinctLDiversity(2, "ill")],
        "suppression_limit": 0.2,
        "sensitive": ["pay"],
    },
    "readable": {
        "quasi_identifiers": ["age", "job", "born"],
        "models": [ht.KAnonymity(3)],
        "method": ht.Mondrian(recoding="readable"),
    },
    "full domain": {
        "quasi_identifiers": ["age", "job"],
        "models": [ht.KAnonymity(3)],
        "method": "full_domain",
        "hierarchies": {"age": ht.Hierarchy.intervals(10), "job": ht.Hierarchy.suppression()},
        "loss": "precision",
    },
}
"""Requests by name: what `hushtable.anonymize` is asked of `people`."""


def people(n, seed=0):
    """Return a table with missing cells, equal rows, and columns that nobody judges."""
    rng = random.Random(seed)
    day = dt.date(1950, 1, 1)
    rows = [
        (
            rng.choice([None, *range(20, 40)]),
            rng.choice([None, "clerk", "cook", "it's", "😀"]),
            rng.choice([None, day, day + dt.timedelta(days=400), day + dt.timedelta(days=9000)]),
            rng.choice(["flu", "gout", "mumps", "none", None]),
            rng.choice([1.5, 2.5, None, 4.0]),
            rng.choice(["x", "y"]),
        )
        for _ in range(n)
    ]
    schema = {
        "age": pl.Int64,
        "job": pl.String,
        "born": pl.Date,
        "ill": pl.String,
        "pay": pl.Float64,
        "note *": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def rows_of(frame):
    """Return the rows of a frame in no order, missing cells among them."""
    return sorted(map(repr, frame.rows()))
