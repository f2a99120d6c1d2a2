"""One column of any dataframe library: as a polars series, as codes, and as text.

Whoever types a column goes through `encode`, so that the search and the verifier agree on what its values are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import narwhals as nw
import numpy as np
import polars as pl

from hushtable._types import BoolArray, CodeArray, CountArray, ValueArray
from hushtable.columns.cells import SUPPRESSED, bound_names
from hushtable.columns.column import Column, ColumnSpec, Kind, from_texts
from hushtable.columns.date_formats import has_time
from hushtable.columns.odd_cells import find_odd_cells
from hushtable.columns.spellings import infer_spelling, to_canonical_texts
from hushtable.errors import ColumnError

_UNITS_PER_DAY: Final = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_OFFSET: Final = re.compile(r"(UTC)?[+-][0-9]{2}:?[0-9]{2}", re.ASCII)
_MAX_DAYS_FROM_1970: Final = 73_000_000  # the last day: polars counts further, but cannot write later days


def to_polars(series: nw.Series[Any]) -> pl.Series:
    """Convert a column of any library to a polars series, with NaN as missing.

    It has no name: what polars computes of a column named ``^a.*$`` it looks up by that pattern.
    """
    try:
        column = _convert_series(series).alias("")
    except ColumnError:
        raise
    except UnicodeError:
        raise ColumnError(
            f"column {series.name!r} holds text that is not Unicode, such as half of a surrogate pair.",
            hint="replace it, for instance by text.encode(errors='replace').decode().",
        ) from None
    except Exception:
        # A library's error about cells may quote them.
        raise ColumnError(
            f"column {series.name!r} has cells of the type {type(series.dtype).__name__} that cannot be read.",
            hint="cast it to text, float64, int64, a date or a datetime within the years 1 to 9999.",
        ) from None
    if isinstance(column.dtype, pl.Object):
        raise ColumnError(
            f"column {series.name!r} holds Python objects of a type that is not known.",
            hint="cast it to one type: text, a number, a date or a datetime.",
        )
    if isinstance(column.dtype, (pl.Date, pl.Datetime)):
        _check_years(series.name, column)
    return column.fill_nan(None) if column.dtype.is_float() else column


def _convert_series(series: nw.Series[Any]) -> pl.Series:
    if series.implementation.is_polars():
        return series.to_native()  # type: ignore[no-any-return]  # of polars, as just asked
    if isinstance(series.dtype, (nw.Categorical, nw.Enum)):
        return _from_categorical(series)
    dtype = series.dtype
    missing = series.is_null().to_numpy()
    if _is_exact(series):
        return _convert_exactly(series, missing)
    if dtype.is_numeric() and not isinstance(dtype, nw.Decimal):
        values = series.fill_null(0) if missing.any() and dtype.is_integer() else series
        column = pl.Series(values.to_numpy())
    elif isinstance(dtype, nw.Boolean):
        column = pl.Series([None if gone else bool(v) for v, gone in zip(series, missing, strict=True)])
    else:
        column = _from_cells(
            series.name, [None if gone else cell for cell, gone in zip(series.to_list(), missing, strict=True)]
        )
    if isinstance(column.dtype, pl.Null) and dtype.is_temporal():
        # Without a value, polars cannot infer the type.
        column = column.cast(pl.Date if isinstance(dtype, nw.Date) else pl.Datetime("us"))
    return column.set(pl.Series(missing), None) if missing.any() else column


def _is_exact(series: nw.Series[Any]) -> bool:
    """Tell whether a column has units or digits that Python's objects would lose, and polars keeps."""
    dtype: Any = series.dtype
    if isinstance(dtype, (nw.Datetime, nw.Duration)):
        return bool(dtype.time_unit != "s")
    if isinstance(dtype, nw.Unknown):
        # Days of 64 bits are moments at midnight, as when polars reads them from files.
        return (series.implementation.is_pyarrow() or series.implementation.is_pandas_like()) and _arrow_type(
            series
        ) == "date64"
    return isinstance(dtype, (nw.Decimal, nw.Time)) and _arrow_type(series) not in (None, "decimal256")


def _arrow_type(series: nw.Series[Any]) -> str | None:
    """Return the name of the type that a column of pyarrow has, or one of pandas that is held by it."""
    native: Any = series.to_native()
    type_ = native.type if series.implementation.is_pyarrow() else getattr(native.dtype, "pyarrow_dtype", None)
    return None if type_ is None else str(type_).partition("(")[0].partition("[")[0]


def _convert_exactly(series: nw.Series[Any], missing: BoolArray) -> pl.Series:
    """Convert moments, durations, times and decimals to polars, with their unit, digits and time zone."""
    dtype: Any = series.dtype
    zone = dtype.time_zone if isinstance(dtype, nw.Datetime) else None
    series = series.dt.convert_time_zone("UTC") if zone else series
    if _arrow_type(series) is None:
        series = series.dt.replace_time_zone(None) if zone else series
        letter = "M" if isinstance(dtype, nw.Datetime) else "m"
        column = pl.Series(np.asarray(series.to_native(), dtype=f"{letter}8[{dtype.time_unit}]"))
        column = column.set(pl.Series(missing), None)
        column = column.dt.replace_time_zone("UTC") if zone else column
    else:
        native: Any = series.to_native()
        column = pl.Series(native if series.implementation.is_pyarrow() else native.array.__arrow_array__())
    # Polars has no time zones that are only an offset.
    return column if zone is None or _OFFSET.fullmatch(zone) else column.dt.convert_time_zone(zone)


def _from_cells(name: str, cells: Sequence[Any]) -> pl.Series:
    present = [cell for cell in cells if cell is not None]
    try:
        if len({type(cell) for cell in present}) > 1:
            raise TypeError
        if present and isinstance(present[0], Decimal) and not all(cell.is_finite() for cell in present):
            raise ValueError
        return pl.Series(cells)
    except (TypeError, pl.exceptions.PolarsError):
        raise ColumnError(
            f"column {name!r} mixes types.", hint="cast it to one type: text, a number, a date or a datetime."
        ) from None


def _check_years(name: str, column: pl.Series) -> None:
    """Raise ColumnError where polars would panic over a date."""
    days = column.to_physical()
    if isinstance(column.dtype, pl.Datetime):
        days = days // _UNITS_PER_DAY[column.dtype.time_unit]
    beyond = int((~days.is_between(-_MAX_DAYS_FROM_1970, _MAX_DAYS_FROM_1970)).sum())
    if beyond:
        raise ColumnError(
            f"column {name!r} holds {beyond} dates more than 200,000 years away.", hint="check its unit of time."
        )


def _from_categorical(series: nw.Series[Any]) -> pl.Series:
    """Convert a categorical column to text, or to an enumeration if it is ordered; categories may have any type."""
    native: Any = series.to_native()
    if series.implementation.is_pyarrow():
        native = native.combine_chunks()
        categories, codes, is_ordered = native.dictionary.to_pylist(), native.indices.to_pylist(), native.type.ordered
    elif hasattr(native, "cat"):
        categories, codes, is_ordered = native.cat.categories, native.cat.codes.tolist(), native.cat.ordered
    else:
        # A pandas column of Arrow's dictionary type has texts, but no order.
        cells = series.cast(nw.String)
        codes = [None if gone else cell for cell, gone in zip(cells.to_list(), cells.is_null().to_list(), strict=True)]
        return pl.Series(codes, dtype=pl.String)
    texts = pl.Series([None if category is None else str(category) for category in categories], dtype=pl.String)
    places = pl.Series([None if code is None or code < 0 else code for code in codes], dtype=pl.UInt32)
    column = texts.gather(places)
    return column.cast(pl.Enum(texts)) if is_ordered else column


def encode(series: pl.Series, spec: ColumnSpec, *, is_typed: bool, name: str) -> tuple[Column, CodeArray]:
    """Encode a column by its type; text by its looks if it `is_typed`, as in a CSV, else as a category."""
    dtype = series.dtype
    if isinstance(dtype, pl.Boolean):
        series = series.cast(pl.String)
    elif isinstance(dtype, (pl.Categorical, pl.Enum)):
        if isinstance(dtype, pl.Enum) and spec.order is None and spec.kind in (None, "ordered"):
            spec = ColumnSpec("ordered", tuple(dtype.categories.to_list()) or None)
        series = series.cast(pl.String)
    elif isinstance(dtype, pl.Null):
        series = series.cast(pl.String)
    elif spec.format is not None:
        series = dates_as_text(series)
    if isinstance(series.dtype, pl.String):
        spec = infer_spec(series, spec, is_typed=is_typed)
        return _encode_texts(name, to_canonical_texts(series, spec), spec)
    if spec.separator is not None:
        raise separator_error(name, dtype)
    column, codes = _encode_values(name, without_declared(series, spec.missing_values or ()))
    if spec.order is None and spec.kind in (None, column.kind):
        return column, codes
    if isinstance(dtype, pl.Datetime) and dtype.time_unit == "ns" and (series.to_physical() % 1_000 != 0).any():
        raise ColumnError(
            f"column {name!r} is declared {spec.kind or 'ordered'}, and holds moments finer than a microsecond, which "
            "no text of them would distinguish.",
            hint="cast it to microseconds, or leave its kind out.",
        )
    texts = pl.Series([None if code < 0 else column.text(code) for code in codes.tolist()], dtype=pl.String)
    return _encode_texts(name, texts, spec)


def dates_as_text(series: pl.Series) -> pl.Series:
    """Convert integers such as 19431005 to texts if a date format is declared; other columns stay."""
    series = _floats_to_integers(series)
    return series.cast(pl.String) if series.dtype.is_integer() else series


def _floats_to_integers(series: pl.Series) -> pl.Series:
    """Convert whole floats to integers: pandas holds integers with missing cells as floats."""
    is_whole = series.dtype.is_float() and (series.drop_nulls() % 1 == 0).all() and (series.abs() < 2**53).all()
    return series.cast(pl.Int64) if is_whole else series


def without_declared(series: pl.Series, texts: Sequence[str]) -> pl.Series:
    """Make declared missing values missing, such as ``-9`` or ``9999-12-31``, in a column of any type."""
    if not texts or series.dtype.is_nested() or isinstance(series.dtype, (pl.Binary, pl.Duration, pl.Null)):
        return series
    if series.dtype.is_numeric():
        numbers = pl.Series(texts, dtype=pl.String).str.strip_chars().cast(pl.Float64, strict=False).drop_nulls()
        is_missing = series.cast(pl.Float64).is_in(numbers.to_list())
    else:
        cells = series.cast(pl.String).str.strip_chars()
        is_missing = cells.is_in([text.strip() for text in texts])
        if isinstance(series.dtype, pl.Datetime):
            is_missing |= cells.str.replace(r" 00:00:00(\.0+)?$", "").is_in(list(texts))
    is_missing = is_missing.fill_null(False)
    return replace_cells(series, is_missing.to_numpy()) if is_missing.any() else series


def separator_error(name: str, dtype: pl.DataType) -> ColumnError:
    """Return the error of a column with a separator whose cells are no texts."""
    return ColumnError(
        f"column {name!r} has a separator, and the type {without_categories(dtype)}.",
        hint="a separator parts the items of a text: leave it out, or turn the column into text.",
    )


def infer_spec(series: pl.Series, spec: ColumnSpec, *, is_typed: bool) -> ColumnSpec:
    """Complete what was said of a text column by how its cells are spelled.

    Text in a dataframe is text, unless something else was said of it; a file's is typed by how it looks.
    """
    if not is_typed and is_text_by_type(spec):
        return replace(spec, kind="category")
    if spec.odd_cells == "text" and find_odd_cells(series, replace(spec, odd_cells=None)) is not None:
        # The spec was declared for other cells, and does not fit all of these.
        return ColumnSpec("category", missing_values=spec.missing_values, odd_cells="text")
    spec = infer_spelling(series, spec)
    if spec.format is not None:
        # With a declared format, a cell that does not fit is a fault, not a category.
        return replace(spec, kind="datetime" if has_time(spec.format) else "date")
    return spec


def is_text_by_type(spec: ColumnSpec) -> bool:
    """Tell whether a spec leaves texts of a dataframe as texts."""
    plain = ColumnSpec(missing_values=spec.missing_values, odd_cells=spec.odd_cells)
    return spec == plain and spec.odd_cells != "missing"


def convert_texts(series: pl.Series, spec: ColumnSpec, *, as_written: bool = False) -> pl.Series:
    """Convert a text column to numbers, dates or moments if every cell spells one; else return it as it is.

    `as_written`: only where every cell is the text by which its value would be written again: no 1,50 and no 1.50.
    """
    if spec.order is not None or spec.kind in ("category", "ordered") or spec.separator is not None:
        return series
    spec = (
        ColumnSpec(spec.kind, missing_values=spec.missing_values)
        if as_written
        else infer_spec(series, spec, is_typed=True)
    )
    canonical = to_canonical_texts(series, spec)
    if series.filter(canonical.is_null()).n_unique() > 1:
        return series
    distinct = canonical.drop_nulls().unique()
    texts = distinct.to_list()
    try:
        column, codes = from_texts("", texts, spec.kind)
    except ColumnError:
        return series
    # A time of day would be read back as text, and a month has no type: both stay text.
    if not column.is_measured or column.kind == "time" or column.precision != "day":
        return series
    is_same = str.__eq__ if as_written else _are_equal
    if not all(map(is_same, (column.text(code) for code in codes.tolist()), texts)):
        return series
    return canonical.replace_strict(distinct, pl.Series(column.values).gather(codes), default=None)


def _are_equal(value: str, text: str) -> bool:
    """Tell whether a text spells a value exactly, as 1.50 does 1.5; one with a plus may be a telephone number."""
    if value == text:
        return True
    try:
        return Decimal(value) == Decimal(text) and not text.startswith("+")
    except InvalidOperation:
        return False


_BOUND_TYPES: Final[dict[str, type[pl.DataType] | pl.DataType]] = {
    "integer": pl.Int64,
    "decimal": pl.Float64,
    "date": pl.Date,
    "datetime": pl.Datetime("us"),
    "time": pl.String,
}


def build_bound_columns(name: str, texts: Sequence[str | None], kind: Kind, codes: CodeArray) -> dict[str, pl.Series]:
    """Return the columns that hold the bounds of a column's published cells, given as codes of distinct texts."""
    # Few releases have bounds.
    from hushtable.columns.cell_bounds import find_bounds

    sides = zip(bound_names(name), zip(*find_bounds(texts, kind), strict=True), strict=True)
    return {each: pl.Series("", bounds, dtype=_BOUND_TYPES[kind]).gather(codes) for each, bounds in sides}


def _encode_texts(name: str, series: pl.Series, spec: ColumnSpec) -> tuple[Column, CodeArray]:
    distinct = series.drop_nulls().unique().sort()
    column, code_of_text = from_texts(name, distinct.to_list(), spec.kind, spec.order)
    column = replace(column, separator=spec.separator)
    # The last entry serves the missing cells, which index it as -1.
    return column, np.append(code_of_text, np.int32(-1))[_index_texts(distinct, series)]


def _index_texts(distinct: pl.Series, series: pl.Series) -> CodeArray:
    """Return the index of each text in the distinct ones; -1 is missing."""
    return np.asarray(series.cast(pl.Enum(distinct)).to_physical().cast(pl.Int32).fill_null(-1).to_numpy())


def _encode_values(name: str, series: pl.Series) -> tuple[Column, CodeArray]:
    kind, present = _kind_and_array(name, series.drop_nulls())
    # Polars finds the distinct values by hashing, and numpy sorts only those.
    # Ranked again, because parsing may make values equal (nanoseconds, long decimals).
    _, candidates = _kind_and_array(name, series.drop_nulls().unique())
    column = Column(name, kind, np.unique(candidates))
    codes = np.full(len(series), -1, dtype=np.int32)
    codes[series.is_not_null().to_numpy()] = _rank_values(column.values, present)
    return column, codes


def _rank_values(values: ValueArray, present: ValueArray) -> CodeArray:
    """Return the rank of each of some numbers or moments among the sorted distinct ones."""
    if values.dtype.kind in "iM" and len(values):
        first, last = (int(end) for end in values[[0, -1]].astype(np.int64))
        if last - first <= 4 * len(present):
            # Values lie close together: a table of the whole range is faster than searching.
            place = np.empty(last - first + 1, dtype=np.int32)
            place[values.astype(np.int64) - first] = np.arange(len(values))
            return place[present.astype(np.int64) - first]
    return np.searchsorted(values, present).astype(np.int32)


def _kind_and_array(name: str, series: pl.Series) -> tuple[Kind, np.ndarray[Any, Any]]:
    """Convert a measured series without missing values to the array of its kind."""
    dtype = series.dtype
    if dtype.is_integer():
        try:
            return "integer", series.cast(pl.Int64).to_numpy()
        except pl.exceptions.InvalidOperationError:
            raise ColumnError(f"column {name!r} holds integers past 2^63 - 1.", hint="pass them as text.") from None
    if dtype.is_float() or dtype.is_decimal():
        values = series.cast(pl.Float64).to_numpy()
        infinite = int((~np.isfinite(values)).sum())
        if infinite:
            raise ColumnError(
                f"column {name!r} holds infinite numbers ({infinite} of {len(values)} looked at).",
                hint="replace them by a missing value or by the largest value that makes sense.",
            )
        return "decimal", values + 0.0
    if isinstance(dtype, pl.Date):
        return "date", series.to_numpy().astype("datetime64[D]")
    if isinstance(dtype, pl.Datetime):
        in_utc = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if dtype.time_zone else series
        return "datetime", in_utc.dt.cast_time_unit("us").to_numpy().astype("datetime64[us]")
    if isinstance(dtype, pl.Time):
        # Nanoseconds of the day; the last three digits are dropped, as for moments.
        return "time", (series.to_physical().to_numpy() // 1_000).astype("datetime64[us]")
    raise _grouping_error(name, dtype)


def _grouping_error(name: str, dtype: pl.DataType) -> ColumnError:
    return ColumnError(
        f"column {name!r} has the type {without_categories(dtype)}, which cannot be grouped.",
        hint="turn it into text, a number, a date or a datetime, or leave the column out.",
    )


def cell_codes(series: pl.Series) -> CodeArray:
    """Encode a column of any type by its exact cells: two spellings of a value differ; -1 is missing."""
    if series.dtype.is_float():
        # 0 and -0 are one number and two cells.
        series = series.cast(pl.String)
    if isinstance(series.dtype, pl.String):
        return _index_texts(series.drop_nulls().unique(), series)
    try:
        return np.asarray((series.rank("dense").cast(pl.Int32) - 1).fill_null(-1).to_numpy())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # Some types cannot be compared: no two cells are taken for equal.
        return np.arange(len(series), dtype=np.int32)


def without_categories(dtype: pl.DataType) -> pl.DataType:
    """Replace categories by text in a type, also inside lists and structs."""
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        return pl.String()
    if isinstance(dtype, pl.List):
        return pl.List(without_categories(dtype.inner))  # type: ignore[arg-type]
    if isinstance(dtype, pl.Array):
        return pl.Array(without_categories(dtype.inner), dtype.size)  # type: ignore[arg-type]
    if isinstance(dtype, pl.Struct):
        return pl.Struct({each.name: without_categories(each.dtype) for each in dtype.fields})  # type: ignore[arg-type]
    return dtype


def integer_series(name: str, values: CountArray) -> pl.Series:
    """Return a column of whole numbers."""
    return pl.Series(name, values, dtype=pl.Int64)


def zone_of(series: pl.Series) -> str | None:
    """Return the time zone of a column of moments; None where it has none."""
    return series.dtype.time_zone if isinstance(series.dtype, pl.Datetime) else None


def has_cells_of(written: pl.Series, source: pl.Series, but: BoolArray | None = None) -> bool:
    """Tell whether cells read back from a file equal those of a source, row by row, except in some rows.

    Text is compared with other types as the value that it spells; texts that mean missing may be missing cells.
    """
    source = source.cast(without_categories(source.dtype))
    if but is not None:
        written, source = written.filter(pl.Series(~but)), source.filter(pl.Series(~but))
    is_text = isinstance(written.dtype, pl.String), isinstance(source.dtype, pl.String)
    if all(is_text):
        return bool((written.fill_null("") == source.fill_null("")).all())
    if is_text[0]:
        return bool(_read_as(written, source.dtype).eq_missing(source).all())
    if is_text[1]:
        lost_cells = source.filter(written.is_null())
        return lost_cells.n_unique() <= 1 and bool(_read_as(source, written.dtype).eq(written).fill_null(True).all())
    if written.dtype == source.dtype:
        return bool(written.eq_missing(source).all())
    # Compared in both types: the coarser unit or scale would hide what was lost.
    pairs = ((written, source), (source, written))
    return all(bool(one.cast(other.dtype, strict=False).eq_missing(other).all()) for one, other in pairs)


def _read_as(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Parse texts that hushtable writes as values of a type."""
    if isinstance(dtype, pl.Boolean):
        return texts.replace_strict({"true": True, "false": False}, default=None, return_dtype=pl.Boolean)
    if isinstance(dtype, pl.Date):
        return texts.str.to_date("%Y-%m-%d", strict=False)
    if isinstance(dtype, pl.Time):
        return texts.str.replace(r"^([0-9]{2}:[0-9]{2})$", "${1}:00").str.to_time("%H:%M:%S%.f", strict=False)
    if not isinstance(dtype, pl.Datetime):
        return texts.cast(dtype, strict=False)
    has_zone = texts.str.contains(r"[+-][0-9]{4}$").any()
    form = "%Y-%m-%dT%H:%M:%S%.f" + ("%z" if has_zone else "")
    moments = texts.str.replace(" ", "T", literal=True).str.to_datetime(form, time_unit=dtype.time_unit, strict=False)
    if dtype.time_zone is None:
        return moments
    moments = moments if has_zone else moments.dt.replace_time_zone("UTC")
    return moments.dt.convert_time_zone(dtype.time_zone)


def to_enumeration(series: pl.Series) -> pl.Series:
    """Convert a column of text to an enumeration of its distinct cells (1 or 2 bytes each); others stay."""
    is_text = isinstance(series.dtype, (pl.String, pl.Categorical))
    return series.cast(pl.Enum(series.drop_nulls().unique().cast(pl.String).sort())) if is_text else series


def text_series(name: str, cells: Sequence[str | None]) -> pl.Series:
    """Build a column of text; None is missing."""
    return pl.Series(name, cells, dtype=pl.String)


def cast_exactly(series: pl.Series, dtype: pl.DataType) -> pl.Series | None:
    """Convert cells to another type; None if one of them is no value of it."""
    cast = series.cast(dtype, strict=False)
    is_number = series.dtype.is_numeric() and dtype.is_numeric()
    is_other = is_number and not cast.cast(series.dtype, strict=False).equals(series)
    return None if is_other or cast.null_count() > series.null_count() else cast


def replace_cells(series: pl.Series, rows: BoolArray, other: pl.Series | None = None) -> pl.Series:
    """Replace some cells by those of another column of the same type; without one, they become missing."""
    return series.zip_with(pl.Series(~rows), series.clear(len(series)) if other is None else other)


def format_values(series: pl.Series, name: str) -> pl.Series:
    """Format the values of a Table: floats in full, moments in UTC. Text stays as it is."""
    if isinstance(series.dtype, (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)):
        return series.cast(pl.String)
    column, codes = encode(series, ColumnSpec(), is_typed=False, name=name)
    labels = pl.Series([*column.texts(), None], dtype=pl.String)
    return labels.gather(np.where(codes < 0, column.n_values, codes))


def without_blanks(series: pl.Series, name: str) -> pl.Series:
    """Return a column's cells as text, with blank ones missing."""
    cells = _as_text(series, name)
    blank = cells.unique().drop_nulls()
    blank = blank.filter(blank.str.strip_chars() == "")
    return cells.set(cells.is_in(blank.implode()).fill_null(False), None) if len(blank) else cells


def count_missing_texts(series: pl.Series, counts: CountArray | None = None) -> tuple[int, int]:
    """Count the spellings of a column's missing cells (blank texts, no cell at all), and those cells.

    A cell counts once, or as often as its row does.
    """
    if not _are_blank(series.unique().cast(pl.String)).any():
        return 0, 0
    cells = series.cast(pl.String)
    is_blank = _are_blank(cells)
    n_cells = int(is_blank.sum() if counts is None else counts[is_blank.to_numpy()].sum())
    return cells.filter(is_blank).n_unique(), n_cells


def _are_blank(cells: pl.Series) -> pl.Series:
    return cells.is_null() | (cells.str.strip_chars() == "")


def text_codes(series: pl.Series, name: str) -> CodeArray:
    """Encode a column by the bytes of its cells; -1 is missing."""
    return list_distinct_cells(series, name)[1]


def list_distinct_cells(series: pl.Series, name: str) -> tuple[pl.Series, CodeArray]:
    """Return a column's sorted distinct cells, and the rank of each row's cell; -1 is missing or blank."""
    if isinstance(series.dtype, (pl.Categorical, pl.Enum)):
        return _list_categories(series, name)
    cells = _as_text(series, name)
    distinct = cells.unique().drop_nulls().sort()
    is_cell = (distinct.str.strip_chars() != "").to_numpy()
    # The last entry serves the missing cells, which index it as -1.
    places = np.append(np.where(is_cell, np.cumsum(is_cell) - 1, -1), -1).astype(np.int32)
    return distinct.filter(is_cell), places[_index_texts(distinct, cells)]


def _list_categories(series: pl.Series, name: str) -> tuple[pl.Series, CodeArray]:
    """List the categories that some row has, without making the rows' texts."""
    used = series.unique().drop_nulls()
    cells, codes = list_distinct_cells(used.cast(pl.String), name)
    physical, of_used = series.to_physical(), used.to_physical().cast(pl.Int64).to_numpy()
    n_physical = int(of_used.max(initial=-1)) + 1
    places = np.full(n_physical + 1, -1, dtype=np.int32)
    places[of_used] = codes
    return cells, places[physical.cast(pl.UInt32).fill_null(n_physical).to_numpy()]


def map_texts(series: pl.Series, change: Callable[[str], str], name: str) -> pl.Series:
    """Return a column as text with every distinct cell changed once; missing stays missing."""
    texts = _as_text(_floats_to_integers(series), name)
    distinct = texts.drop_nulls().unique()
    changed = pl.Series([change(text) for text in distinct.to_list()], dtype=pl.String)
    return texts.replace_strict(distinct, changed, default=None)


def format_numbers(series: pl.Series, name: str) -> pl.Series:
    """Format numbers with a decimal point, and decimals with all digits. Text stays as it is."""
    return series.cast(pl.String) if series.dtype.is_decimal() else format_values(series, name)


def gather_labels(labels: Sequence[str | None], codes: CodeArray) -> pl.Series:
    """Build a text column from codes and distinct labels."""
    # Only used labels: an unused one would stay in the buffer that all cells share.
    used = np.bincount(codes, minlength=len(labels)) > 0
    texts = [text for text, is_used in zip(labels, used, strict=True) if is_used]
    return pl.Series(texts, dtype=pl.String).gather((np.cumsum(used) - 1)[codes])


def suppress_rows(series: pl.Series, suppressed: BoolArray, name: str) -> pl.Series:
    """Return a column as text, other types in the canonical texts of their values; suppressed rows are ``*``."""
    cells = zip(format_values(series, name).to_list(), suppressed.tolist(), strict=True)
    # Built anew: a changed column would share its buffer, with suppressed cells, with the old one.
    return pl.Series([SUPPRESSED if is_hidden else cell for cell, is_hidden in cells], dtype=pl.String)


def _as_text(series: pl.Series, name: str) -> pl.Series:
    if series.dtype.is_nested() or isinstance(series.dtype, (pl.Binary, pl.Duration)):
        raise _grouping_error(name, series.dtype)
    # A cast to text would drop a time's fractions of a second.
    return series.dt.to_string("%H:%M:%S%.f") if isinstance(series.dtype, pl.Time) else series.cast(pl.String)
