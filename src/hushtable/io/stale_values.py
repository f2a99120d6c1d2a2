"""What a dataframe remembers of rows that it no longer has: categories, dictionaries, levels, metadata."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import narwhals as nw
import polars as pl

from hushtable.columns import without_categories
from hushtable.io.frames import Frame


def without_remnants(frame: Frame, *, rows_are_gone: bool) -> Frame:
    """Return a frame without traces of removed rows; columns keep their types.

    Categories in lists and structs become text. Where no rows are gone, only metadata and pandas' ``attrs`` go.
    """
    native: Any = frame.native
    backend = frame.data.implementation
    if backend.is_pyarrow():
        native = _clean_arrow(native, rows_are_gone)
    elif backend.is_pandas_like():
        native = _clean_pandas(native, rows_are_gone)
    elif rows_are_gone:
        # Without its name: polars may take it for a pattern.
        native = pl.DataFrame([_clean_polars_column(column.alias("")).alias(column.name) for column in native])
    return replace(frame, data=nw.from_native(native, eager_only=True))


def _clean_polars_column(column: pl.Series) -> pl.Series:
    dtype = column.dtype
    if isinstance(dtype, pl.Enum):
        used = set(column.drop_nulls().unique().to_list())
        return column.cast(pl.String).cast(pl.Enum([each for each in dtype.categories if each in used]))
    if isinstance(dtype, pl.Categorical):
        return column.cast(pl.String).cast(dtype)
    if dtype.is_nested() or isinstance(dtype, (pl.String, pl.Binary)):
        # Columns that were taken from another share its buffer; only what is written out has lost the other cells.
        file = io.BytesIO()
        column.cast(without_categories(dtype)).to_frame().write_ipc(file, compat_level=pl.CompatLevel.oldest())
        file.seek(0)
        return pl.read_ipc(file).to_series()
    return column


def _clean_pandas(native: Any, rows_are_gone: bool) -> Any:
    native = native.copy(deep=False)
    native.attrs = {}
    if not rows_are_gone:
        return native
    for name in native.columns:
        column = native[name]
        if hasattr(column, "cat"):
            native[name] = column.cat.remove_unused_categories()
        elif "dictionary<" in str(column.dtype):
            native[name] = column.astype(object).astype(column.dtype)
    native.index = _clean_pandas_index(native.index)
    return native


def _clean_pandas_index(index: Any) -> Any:
    if hasattr(index, "remove_unused_levels"):
        index = index.remove_unused_levels()
        return index.set_levels([_clean_pandas_index(level) for level in index.levels])
    return index.remove_unused_categories() if hasattr(index, "remove_unused_categories") else index


def _clean_arrow(native: Any, rows_are_gone: bool) -> Any:
    native = native.replace_schema_metadata(None)
    for place in range(native.num_columns) if rows_are_gone else ():
        column = _clean_arrow_column(native.column(place))
        field = native.schema.field(place).remove_metadata().with_type(column.type)
        native = native.set_column(place, field, column)
    return native


def _clean_arrow_column(column: Any) -> Any:
    if "dictionary<" not in str(column.type):
        return column
    if not str(column.type).startswith("dictionary<"):
        cells = pl.Series(column)
        return cells.cast(without_categories(cells.dtype)).to_arrow()
    array = column.combine_chunks()
    codes = pl.Series(array.indices)
    used = codes.drop_nulls().unique().sort()
    places = codes.replace_strict(used, pl.Series(range(len(used)), dtype=codes.dtype), default=None)
    return type(array).from_arrays(
        places.to_arrow(), array.dictionary.take(used.to_arrow()), ordered=array.type.ordered
    )
