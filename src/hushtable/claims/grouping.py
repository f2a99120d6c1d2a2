"""A published table as its readers see it: rows grouped by their cells, and what sensitive columns hold.

Nothing here comes from the code that made the release: no table, no partition, no kernel. Cells are
grouped by their bytes, so that two spellings of one value ("34", " 34") are two values, which
can only make the verdict stricter.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.claims.coverage import pair_rows
from hushtable.claims.readings import label_rows, tallied
from hushtable.columns import ColumnSpec, column as columns_, encode, listed, map_texts, spelled, text_codes, with_point
from hushtable.errors import check_columns
from hushtable.hierarchy import Hierarchy
from hushtable.io import frames
from hushtable.models import Ground

__all__ = ["Grouped", "Held", "cover", "ground", "group", "hold", "listed_cells", "published_cells", "spec_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Rows that publish the same cells, as one class.

    Attributes
    ----------
    frame : Frame
    hidden : ndarray of bool, shape (n_rows,)
        Suppressed records.
    codes : ndarray of int32, shape (n_columns, n_shown)
        The cells of the others; -1 is missing.
    labels : ndarray of int64, shape (n_shown,)
        The class of each of them.
    first : ndarray of int64, shape (n_classes,)
        The first of each class.
    """

    frame: frames.Frame
    hidden: BoolArray = field(repr=False)
    codes: CodeArray = field(repr=False)
    labels: CountArray = field(repr=False)
    first: CountArray = field(repr=False)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.first)

    @property
    def counts(self) -> CountArray | None:
        """Records of each row that is shown; None where that is one each."""
        return None if self.frame.counts is None else self.frame.counts[~self.hidden]

    @property
    def records(self) -> CountArray:
        """Records of every class."""
        return tallied(self.labels, self.n_classes, self.counts)

    @property
    def n_suppressed(self) -> int:
        """How many records are suppressed."""
        return int(self.hidden.sum() if self.frame.counts is None else self.frame.counts[self.hidden].sum())

    def rows_in(self, classes: BoolArray) -> CountArray:
        """Return the rows of the frame in some classes, ascending."""
        return np.flatnonzero(~self.hidden)[classes[self.labels]]

    @property
    def first_rows(self) -> CountArray:
        """A row of the frame of every class."""
        return np.flatnonzero(~self.hidden)[self.first]


def group(frame: frames.Frame, columns: Sequence[str], sensitive: Sequence[str], suppressed: str | None) -> Grouped:
    """Group the rows of a frame by their published cells.

    Parameters
    ----------
    frame : Frame
    columns : sequence of str
        The quasi-identifiers.
    sensitive : sequence of str
        Columns in which a suppressed record has no cell either.
    suppressed : str or None
        The cell of suppressed records; None where there are none.
    """
    hidden = _suppressed_rows(frame, (*columns, *sensitive), suppressed)
    codes = np.array([text_codes(frame.column(name), name)[~hidden] for name in columns])
    return Grouped(frame, hidden, codes, *label_rows(codes))


def cover(
    grouped: Grouped,
    source: frames.Frame,
    columns: Sequence[str],
    specs: Mapping[str, ColumnSpec],
    ladders: Mapping[str, Any],
) -> tuple[CountArray, CountArray]:
    """Return the pairs of a class and a row of another table that its published cells cover."""
    cells, published = zip(*(published_cells(grouped.frame, name, specs.get(name)) for name in columns), strict=True)
    values, rows = zip(*(listed_cells(source.values(name), name) for name in columns), strict=True)
    labels, first = label_rows(np.array(rows))
    classes, distinct = pair_rows(
        cells,
        np.array(published)[:, grouped.first_rows],
        values,
        np.array(rows)[:, first],
        [spec_of(source.column(name), specs.get(name)) for name in columns],
        [ladders.get(name) for name in columns],
        columns,
    )
    return _rows_of(distinct, labels, classes)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What a sensitive column holds.

    Attributes
    ----------
    column : Column
    codes : ndarray of int32, shape (n_rows,)
        Of the published rows.
    reference : ndarray of int32, optional
        Of the rows of the original, where there is one.
    reference_counts : ndarray of int64, optional
        Records of each of those; None where that is one each.
    """

    column: columns_.Column
    codes: CodeArray = field(repr=False)
    reference: CodeArray | None = field(default=None, repr=False)
    reference_counts: CountArray | None = field(default=None, repr=False)

    def totals(self, grouped: Grouped) -> CountArray:
        """Count the records of every value, the missing one's first, in the original or else in the rows shown."""
        if self.reference is None:
            return tallied(self.codes[~grouped.hidden] + 1, self.column.n_values + 1, grouped.counts)
        return tallied(self.reference + 1, self.column.n_values + 1, self.reference_counts)


def hold(
    frame: frames.Frame,
    original: Any,
    sensitive: Sequence[str],
    suppressed: str | None,
    specs: Mapping[str, ColumnSpec],
) -> dict[str, Held]:
    """Read the sensitive columns of a published table, and of the original where there is one."""
    if original is None:
        return {
            name: Held(*_value_codes(frame.column(name), specs.get(name, ColumnSpec()), suppressed, None, name))
            for name in sensitive
        }
    reference = frames.read(original)
    check_columns(sensitive, reference.columns, "sensitive columns of the original")
    held = {}
    for name in sensitive:
        spec = specs.get(name, ColumnSpec()).completed(reference.spec(name))
        column, codes = _value_codes(frame.column(name), spec, suppressed, reference.column(name), name)
        held[name] = Held(column, codes[: frame.n_rows], codes[frame.n_rows :], reference.counts)
    return held


def ground(column: columns_.Column, hierarchy: Any) -> Ground:
    """Say how far apart the values of a sensitive column lie."""
    levels = None if hierarchy is None else Hierarchy.build(hierarchy, column).levels_with_missing()
    return Ground(column.is_ordered, levels)


def spec_of(series: pl.Series, given: ColumnSpec | None) -> ColumnSpec:
    """Say how a quasi-identifier is typed: as was given, else by its type in the table before it was published."""
    dtype = series.dtype
    if given is not None and (given.kind or given.order):
        return given
    if isinstance(dtype, pl.Enum):
        return ColumnSpec("ordered", tuple(dtype.categories.to_list()))
    if isinstance(dtype, (pl.Date, pl.Datetime)):
        return ColumnSpec("date" if isinstance(dtype, pl.Date) else "datetime")
    if dtype.is_numeric():
        return ColumnSpec("integer" if dtype.is_integer() else "decimal")
    return ColumnSpec()


def listed_cells(series: pl.Series, name: str) -> tuple[list[str | None], CodeArray]:
    """Return a column's distinct cells, the missing one first, and the place of each row's cell among them."""
    cells, places = listed(spelled(series, name), name)
    return [None, *cells.to_list()], places + np.int32(1)


def published_cells(frame: frames.Frame, name: str, spec: ColumnSpec | None) -> tuple[list[str | None], CodeArray]:
    """List the cells of a published column as the grammar has them: with a point where a spec says comma."""
    cells, rows = listed_cells(frame.column(name), name)
    if spec is None or spec.decimal != ",":
        return cells, rows
    return [None if cell is None else with_point(cell) for cell in cells], rows


def _suppressed_rows(frame: frames.Frame, names: Sequence[str], suppressed: str | None) -> BoolArray:
    """Find the rows with nothing left; where no row has anything left, they are one class of the release."""
    hidden = np.full(frame.n_rows, suppressed is not None)
    for name in names if suppressed is not None else ():
        series = frame.column(name)
        if not isinstance(series.dtype, (pl.String, pl.Categorical, pl.Enum)):
            return np.zeros(frame.n_rows, dtype=bool)
        hidden &= (series.cast(pl.String) == suppressed).fill_null(False).to_numpy()
    return np.asarray(hidden & ~hidden.all())


def _value_codes(
    series: pl.Series, spec: ColumnSpec, suppressed: str | None, reference: pl.Series | None, name: str
) -> tuple[columns_.Column, CodeArray]:
    """Code a sensitive column by value: "1" and "1.0" are one value and do not make a class diverse.

    A suppressed cell says nothing, as a missing one does. The codes of the reference follow, which
    says how the column is typed: suppression may have made text of it.
    """
    theirs, their_codes = (None, None) if reference is None else encode(reference, spec, is_typed=True, name=name)
    kind = spec.kind if theirs is None else theirs.kind
    if isinstance(series.dtype, (pl.String, pl.Categorical, pl.Enum)):
        if suppressed is not None:
            series = series.set((series.cast(pl.String) == suppressed).fill_null(False), None)
        if kind == "datetime":
            series = map_texts(series, _without_zone, name)
    if theirs is None or their_codes is None:
        return encode(series, spec, is_typed=True, name=name)
    order = spec.order or (tuple(theirs.texts()) if kind == "ordered" else ()) or None
    ours, our_codes = encode(series, ColumnSpec(kind, order).completed(spec), is_typed=True, name=name)
    column, codes = columns_.from_texts(name, [*ours.texts(), *theirs.texts()], kind, order)
    codes = np.append(codes, np.int32(-1))
    shifted = np.where(their_codes < 0, -1, their_codes + ours.n_values)
    return column, np.append(codes[our_codes], codes[shifted])


def _without_zone(text: str) -> str:
    """Write a moment of a time zone, which a file keeps as text, in UTC, as a Table codes it."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    return text if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat(sep=" ")


def _rows_of(labels: CountArray, label_of_row: CountArray, along: CountArray) -> tuple[CountArray, CountArray]:
    """Replace every label by each of its rows; return what goes along, repeated, and the rows."""
    order = np.argsort(label_of_row, kind="stable")
    starts = np.searchsorted(label_of_row[order], np.arange(int(label_of_row.max(initial=-1)) + 2))
    lengths = np.diff(starts)[labels]
    pick = np.arange(lengths.sum()) + np.repeat(starts[labels] - (np.cumsum(lengths) - lengths), lengths)
    return np.repeat(along, lengths), order[pick]
