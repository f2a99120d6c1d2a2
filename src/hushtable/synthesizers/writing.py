"""From places, or from another package's values, to a table like the one that was given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import Column, ColumnSpec
from hushtable.io import Frame
from hushtable.synthesizers.cell_styles import cells_like, like, n_decimals
from hushtable.synthesizers.places import Drawn, Values, draw, ends_of
from hushtable.tables import Table

__all__ = ["frame_at", "frame_like", "table_at", "table_like"]


def frame_at(frame: Frame, table: Table, values: Values, places: FloatArray) -> Frame:
    """Return the cells at some places of a frame's columns.

    Parameters
    ----------
    frame : Frame
    table : Table
        All its columns, coded.
    values : {"interpolated", "observed"}
    places : ndarray of float64, shape (n_columns, n)

    Notes
    -----
    Every cell is one of the frame's, of its type and as it stands there; values between two records are written
    over some.
    """
    rows: dict[str, CountArray] = {}
    between = {}
    for j, column in enumerate(table.columns):
        cells, codes = frame.column(column.name), table.codes[j]
        decimals = n_decimals(column, cells) if _has_decimals(column, values) else 0
        drawn = draw(column, _ends(table, j), places[j], values, decimals)
        rows[column.name] = np.argsort(codes, kind="stable")[drawn.records]
        if len(drawn.between):
            written = cells_like(cells, column, codes, frame.spelling(column.name), drawn.values)
            between[column.name] = drawn.between, written
    dealt = frame.dealt(rows)
    for name, (changed, written) in between.items():
        dealt = dealt if written is None else dealt.with_cells(name, changed, written)
    return dealt


def table_at(table: Table, values: Values, places: FloatArray) -> Table:
    """Return the table of the values at some places of its columns, each record a row."""
    columns, codes = [], np.empty(places.shape, dtype=np.int32)
    for j, column in enumerate(table.columns):
        ends = _ends(table, j)
        decimals = n_decimals(column) if _has_decimals(column, values) else 0
        known, codes[j] = _coded(column, ends, draw(column, ends, places[j], values, decimals))
        columns.append(known)
    return Table(tuple(columns), codes, np.ones(places.shape[1], dtype=np.int64)).without_unused()


def frame_like(frame: Frame, table: Table, found: Frame) -> Frame:
    """Return values from elsewhere as a frame of the types and spellings of another, coded as a table."""
    columns = [
        like(found.column(name), frame.column(name), column, codes, frame.spelling(name)).alias(name)
        for name, column, codes in zip(table.names, table.columns, table.codes, strict=True)
    ]
    return frame.alike(columns)


def table_like(table: Table, found: Frame) -> Table:
    """Return values from elsewhere as a table whose categories are those of another."""
    orders = {column.name: tuple(column.texts()) for column in table.columns if column.kind == "ordered"}
    specs = {column.name: ColumnSpec("category") for column in table.columns if column.kind == "category"}
    specs |= {name: ColumnSpec("ordered", order or None) for name, order in orders.items()}
    return Table.encode(found, table.names, specs)


def _has_decimals(column: Column, values: Values) -> bool:
    return column.kind == "decimal" and values == "interpolated"


def _ends(table: Table, j: int) -> CountArray:
    return ends_of(table.codes[j], table.counts, table.columns[j].n_values)


def _coded(column: Column, ends: CountArray, drawn: Drawn) -> tuple[Column, CodeArray]:
    """Return a column with all values that were drawn, and the code of each."""
    codes = np.searchsorted(ends, drawn.records, side="right") - 1
    if not len(drawn.between):
        return column, codes.astype(np.int32)
    values = np.union1d(column.values, drawn.values)
    codes = np.append(np.searchsorted(values, column.values), -1)[codes]
    codes[drawn.between] = np.searchsorted(values, drawn.values)
    return replace(column, values=values), codes.astype(np.int32)
