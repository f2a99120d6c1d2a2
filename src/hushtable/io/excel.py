"""Excel's workbooks: the first sheet as a table, numbers and dates as they are typed there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import polars as pl

from hushtable.errors import InputError, with_hint
from hushtable.io.csv.parsing import check_header

__all__ = ["read_workbook"]

_WHOLE: Final[dict[str, Any]] = {
    "engine": "calamine",
    "sheet_id": 1,
    "has_header": False,
    "drop_empty_rows": False,
    "drop_empty_cols": False,
    "raise_if_empty": False,
    "infer_schema_length": None,
}


def read_workbook(path: Path, raw: bytes) -> pl.DataFrame:
    """Read the first sheet of a workbook; columns of one type have it, others are text, empty rows are left out.

    Raises
    ------
    InputError, ColumnError
        It is no workbook, its first sheet is hidden or empty, or a column has no name of its own.
    """
    try:
        import fastexcel
    except ModuleNotFoundError:
        msg = with_hint(f"{str(path)!r} is a workbook, which needs a reader.", "pip install 'hushtable[excel]'.")
        raise InputError(msg) from None
    try:
        shown = fastexcel.read_excel(raw).load_sheet(0, header_row=None, n_rows=1).visible
        texts = pl.read_excel(raw, **_WHOLE, read_options={"skip_rows": 0, "dtypes": "string"})
    except Exception:
        # Whatever the reader raises may quote cells.
        msg = with_hint(f"{str(path)!r} is not a workbook that can be read.", "save it as .xlsx without a password.")
        raise InputError(msg) from None
    if shown != "visible":
        msg = with_hint(f"the first sheet of {str(path)!r} is hidden.", "move the sheet with the table to the front.")
        raise InputError(msg)
    is_filled = texts.select(pl.any_horizontal(pl.lit(False), pl.all().is_not_null())).to_series()
    if not is_filled.any():
        msg = with_hint(f"the first sheet of {str(path)!r} is empty.", "its first row must hold the column names.")
        raise InputError(msg)
    top = is_filled.arg_max()
    assert top is not None
    header = [name or "" for name in texts.row(top)]
    check_header(path, header, hint="name every column in the first row, and merge no cells there.")
    below = is_filled.slice(top + 1)
    data = _typed(raw, texts.slice(top + 1), top + 1).filter(below)
    data.columns = header
    return data


def _typed(raw: bytes, texts: pl.DataFrame, n_above: int) -> pl.DataFrame:
    """Read the cells below the header with their types; a column that would lose some stays text."""
    if not texts.height:
        return texts
    # Of a column without a cell the reader would complain; these are its names of columns without one.
    empty = [place for place, column in enumerate(texts) if column.null_count() == texts.height]
    dtypes = {f"__UNNAMED__{place}": "string" for place in empty}
    data = pl.read_excel(raw, **_WHOLE, read_options={"skip_rows": n_above, "dtypes": dtypes})
    pairs = zip(data, texts, strict=True)
    return pl.DataFrame([typed if typed.null_count() == text.null_count() else text for typed, text in pairs])
