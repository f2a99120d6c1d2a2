"""A column as text: its cells in the texts of their values, coded, changed, and spelled out from labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.columns.cells import SUPPRESSED
from hushtable.columns.column import ColumnSpec
from hushtable.columns.series import encode, without_categories
from hushtable.errors import ColumnError, with_hint

__all__ = [
    "digits",
    "gather",
    "listed",
    "map_texts",
    "mask",
    "missing_texts",
    "spelled",
    "text_codes",
    "without_blanks",
]


def spelled(series: pl.Series, name: str) -> pl.Series:
    """Write the values that a Table codes: floats in full, moments in UTC. Text stays as it is."""
    if isinstance(series.dtype, (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)):
        return series.cast(pl.String)
    column, codes = encode(series, ColumnSpec(), is_typed=False, name=name)
    labels = pl.Series([*column.texts(), None], dtype=pl.String)
    return labels.gather(np.where(codes < 0, column.n_values, codes))


def without_blanks(series: pl.Series, name: str) -> pl.Series:
    """Return a column's cells as text, blank ones as missing.

    Raises
    ------
    ColumnError
        Its cells are lists, structs, bytes or durations.
    """
    cells = _as_text(series, name)
    blank = cells.unique().drop_nulls()
    blank = blank.filter(blank.str.strip_chars() == "")
    return cells.set(cells.is_in(blank.implode()).fill_null(False), None) if len(blank) else cells


def missing_texts(series: pl.Series, counts: CountArray | None = None) -> tuple[int, int]:
    """Count the ways in which a column writes its missing cells (blank texts, no cell at all), and those cells.

    A cell counts once, or as often as its row does.
    """
    cells = series.cast(pl.String)
    is_blank = cells.is_null() | (cells.str.strip_chars() == "")
    n_cells = int(is_blank.sum() if counts is None else counts[is_blank.to_numpy()].sum())
    return cells.filter(is_blank).n_unique(), n_cells


def text_codes(series: pl.Series, name: str) -> CodeArray:
    """Code a column by the bytes of its cells; -1 is missing."""
    return listed(series, name)[1]


def listed(series: pl.Series, name: str) -> tuple[pl.Series, CodeArray]:
    """Return a column's distinct cells, sorted, and the place of each row's cell among them; -1 is missing or blank."""
    cells = _as_text(series, name)
    distinct = cells.unique().drop_nulls().sort()
    is_cell = (distinct.str.strip_chars() != "").to_numpy()
    codes = cells.cast(pl.Enum(distinct)).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    # The last entry serves the missing cells, which index it as -1.
    places = np.append(np.where(is_cell, np.cumsum(is_cell) - 1, -1), -1).astype(np.int32)
    return distinct.filter(is_cell), places[codes]


def map_texts(series: pl.Series, change: Callable[[str], str], name: str) -> pl.Series:
    """Return a column as text with every distinct cell changed once; missing stays missing."""
    if series.dtype.is_float() and (series.drop_nulls() % 1 == 0).all() and (series.abs() < 2**53).all():
        # pandas holds integers beside missing cells as floats.
        series = series.cast(pl.Int64)
    texts = _as_text(series, name)
    distinct = texts.drop_nulls().unique()
    changed = pl.Series([change(text) for text in distinct.to_list()], dtype=pl.String)
    return texts.replace_strict(distinct, changed, default=None)


def digits(series: pl.Series, name: str) -> pl.Series:
    """Write numbers with a point; decimals with all digits, for which floats have no room. Text stays as it is."""
    return series.cast(pl.String) if series.dtype.is_decimal() else spelled(series, name)


def gather(labels: Sequence[str | None], codes: CodeArray) -> pl.Series:
    """Spell out a text column from its distinct labels."""
    # A label that no row has would stay in the buffer that all cells share.
    used = np.bincount(codes, minlength=len(labels)) > 0
    texts = [text for text, is_used in zip(labels, used, strict=True) if is_used]
    return pl.Series(texts, dtype=pl.String).gather((np.cumsum(used) - 1)[codes])


def mask(series: pl.Series, suppressed: BoolArray, name: str) -> pl.Series:
    """Return a column as text, other types in the canonical texts of their values; suppressed rows are ``*``."""
    cells = zip(spelled(series, name).to_list(), suppressed.tolist(), strict=True)
    # Made anew, because a changed column shares its buffer with the old one.
    return pl.Series([SUPPRESSED if is_hidden else cell for cell, is_hidden in cells], dtype=pl.String)


def _as_text(series: pl.Series, name: str) -> pl.Series:
    if series.dtype.is_nested() or isinstance(series.dtype, (pl.Binary, pl.Duration)):
        msg = with_hint(
            f"column {name!r} has the type {without_categories(series.dtype)}, which cannot be grouped.",
            "turn it into text, a number, a date or a datetime, or leave the column out.",
        )
        raise ColumnError(msg)
    return series.cast(pl.String)
