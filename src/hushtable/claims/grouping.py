"""A published table as its readers see it: rows grouped by their cells, and what sensitive columns hold.

Cells are grouped by their bytes, so that two spellings of one value ("34", " 34") are two values, which can only make
the verdict stricter. Plain NumPy, also for readings of the missing value that are no partitions.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any, Final

import numpy as np
import polars as pl

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray, Missing
from hushtable.claims.coverage import pair_rows
from hushtable.claims.verdict import Failure
from hushtable.columns import (
    ColumnSpec,
    column as columns_,
    count_missing_texts,
    encode,
    format_values,
    list_distinct_cells,
    map_texts,
    merge_spellings,
    text_codes,
    with_point,
)
from hushtable.errors import check_columns
from hushtable.hierarchy import Hierarchy
from hushtable.io import frames
from hushtable.models import ClassStats, Ground, Histogram
from hushtable.search import check_memory

_HASH_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)  # odd, and its powers have bits everywhere
_FLOATS_PER_STEP: Final = 2**16  # values that are Python floats at once
_SLOTS_PER_ROW: Final = 16  # slots for a row, so that few others share one


def match_sizes(codes: CodeArray, counts: CountArray, missing: Missing) -> CountArray:
    """Count the records that each distinct row (n_columns, n_distinct) matches."""
    if missing == "category":
        return counts
    sizes, _ = match_classes(codes, counts, {}, missing)
    return sizes


def label_rows(codes: CodeArray | CountArray) -> tuple[CountArray, CountArray]:
    """Label equal rows alike; return the labels and the first row of each."""
    keys = np.zeros(codes.shape[1], dtype=np.int64)
    n_keys = 1
    for column in codes:
        width = int(column.max(initial=-1)) + 2
        if n_keys * width >= 2**62:
            keys, _ = _label_keys(keys)
            n_keys = len(keys)
        keys *= width
        keys += column
        keys += 1
        n_keys *= width
    # A table of all possible keys is faster while it is not much larger than the rows.
    if n_keys > 4 * len(keys) + 65_536:
        return _label_keys(keys)
    row_of = np.full(n_keys, -1)
    # From the last row to the first, which stays.
    row_of[keys[::-1]] = np.arange(len(keys))[::-1]
    is_used = row_of >= 0
    return (np.cumsum(is_used) - 1)[keys], row_of[is_used]


def _label_keys(keys: CountArray) -> tuple[CountArray, CountArray]:
    """Replace keys by labels in their order, in place to save memory; return them with the first row of each."""
    order = np.argsort(keys)
    is_first = np.ones(len(keys), dtype=bool)
    in_order = keys[order]
    is_first[1:] = in_order[1:] != in_order[:-1]
    np.cumsum(is_first, out=in_order)
    in_order -= 1
    keys[order] = in_order
    return keys, np.minimum.reduceat(order, np.flatnonzero(is_first))


def count_records(labels: CountArray | CodeArray, n_labels: int, counts: CountArray | None = None) -> CountArray:
    """Count the records of every label: each row is one, or as many as its count says."""
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    return np.bincount(labels, weights=counts, minlength=n_labels).astype(np.int64)


def count_values(
    labels: CountArray, codes: CodeArray | CountArray, n_classes: int, counts: CountArray | None = None
) -> Histogram:
    """Count the values of every class, by sorting pairs of label and value."""
    width = int(codes.max(initial=-1)) + 2
    keys = labels * width + (codes + 1)
    if counts is None:
        # Sorting rows, which weights need, takes several times as long.
        pairs, n_pairs = np.unique(keys, return_counts=True)
    else:
        pairs, inverse = np.unique(keys, return_inverse=True)
        n_pairs = count_records(inverse, len(pairs), counts)
    offsets = np.searchsorted(pairs, np.arange(n_classes + 1, dtype=np.int64) * width)
    return Histogram(offsets, (pairs % width - 1).astype(np.int32), n_pairs)


def match_classes(
    codes: CodeArray, sizes: CountArray, histograms: dict[str, Histogram], missing: Missing
) -> tuple[CountArray, dict[str, Histogram]]:
    """Replace classes, which are distinct rows, by what each matches when missing cells match anything, or nothing."""
    gaps = codes < 0
    if missing == "worst":
        has_gap = np.asarray(gaps.any(axis=0))
        return np.where(has_gap, 1, sizes), {name: _keep_one_value(each, has_gap) for name, each in histograms.items()}
    n_classes = codes.shape[1]
    if n_classes == 0:
        return sizes, histograms
    # Of rows with the same gaps every one matches itself alone, for they are distinct.
    matched = sizes.astype(np.int64)
    pieces = {name: [(each.labels(), each.codes, each.counts)] for name, each in histograms.items()}
    pattern, _ = label_rows(gaps.astype(np.int32) - 1)
    members = [np.flatnonzero(pattern == label) for label in range(int(pattern.max(initial=-1)) + 1)]
    for rows in _rows_that_may_match(codes, members):
        known = ~(gaps[:, rows[0][0]] | gaps[:, rows[1][0]])
        labels, first = label_rows(codes[np.ix_(np.flatnonzero(known), np.concatenate(rows))])
        sides = list(zip(rows, np.split(labels, [len(rows[0])]), strict=True))
        for (own, own_ids), (mates, mate_ids) in (sides, sides[::-1]):
            matched[own] += count_records(mate_ids, len(first), sizes[mates])[own_ids]
            for name, histogram in histograms.items():
                pieces[name].append(_gather_values(histogram, mates, mate_ids, own, own_ids, len(first)))
    merged = {}
    for name, parts in pieces.items():
        labels, values, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
        merged[name] = count_values(labels, values, n_classes, counts)
    return matched, merged


def _rows_that_may_match(codes: CodeArray, members: Sequence[CountArray]) -> Iterator[tuple[CountArray, CountArray]]:
    """Yield, for every two patterns of gaps, the rows with the same hash of what both know: those that may match."""
    factors = np.cumprod(np.full(len(codes), _HASH_FACTOR))
    # A missing cell adds nothing to a hash.
    hashes = np.zeros(codes.shape[1], dtype=np.uint64)
    for column, factor in zip(codes, factors, strict=True):
        hashes += (column + 1).astype(np.uint64) * factor
    for first_rows, second_rows in combinations(members, 2):
        shift = np.uint64(64 - (_SLOTS_PER_ROW * min(len(first_rows), len(second_rows))).bit_length())
        slots = []
        for rows, opposite in ((first_rows, second_rows), (second_rows, first_rows)):
            hashed = hashes[rows]
            for j in np.flatnonzero(codes[:, opposite[0]] < 0).tolist():
                hashed -= (codes[j, rows] + 1).astype(np.uint64) * factors[j]
            slots.append((hashed >> shift).astype(np.int64))
        n_slots = 2 ** (64 - int(shift))
        candidates = first_rows[_are_in(slots[0], slots[1], n_slots)], second_rows[_are_in(slots[1], slots[0], n_slots)]
        if len(candidates[0]) and len(candidates[1]):
            yield candidates


def _are_in(slots: CountArray, other_slots: CountArray, n_slots: int) -> BoolArray:
    """Tell which slots are among others."""
    is_taken = np.zeros(n_slots, dtype=bool)
    is_taken[other_slots] = True
    return np.asarray(is_taken[slots])


def _gather_values(
    histogram: Histogram, mates: CountArray, mate_ids: CountArray, own: CountArray, own_ids: CountArray, n_labels: int
) -> tuple[CountArray, CodeArray, CountArray]:
    """Return the values that each own class takes over from all mates with the same id."""
    lengths = histogram.offsets[mates + 1] - histogram.offsets[mates]
    entries = concatenate_runs(histogram.offsets[mates], lengths)
    joint = count_values(np.repeat(mate_ids, lengths), histogram.codes[entries], n_labels, histogram.counts[entries])
    widths = joint.offsets[own_ids + 1] - joint.offsets[own_ids]
    check_memory(
        48.0 * int(widths.sum()),
        f"reading the missing cells of {len(own)} rows as wildcards, beside {len(mates)} others",
        "judge with missing='category' or 'worst', or fewer rows at a time.",
    )
    joint_entries = concatenate_runs(joint.offsets[own_ids], widths)
    return np.repeat(own, widths), joint.codes[joint_entries], joint.counts[joint_entries]


def concatenate_runs(starts: CountArray, lengths: CountArray) -> CountArray:
    """Concatenate the ranges that begin at ``starts`` and have these lengths."""
    shift = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return np.asarray(np.arange(len(shift)) + shift)


def _keep_one_value(histogram: Histogram, has_gap: BoolArray) -> Histogram:
    """Leave one value in the histogram of every class whose records match only themselves."""
    n_classes = histogram.n_classes
    label = histogram.labels()
    entry = np.arange(len(label))
    is_kept = ~has_gap[label] | (entry == histogram.offsets[label])
    counts = np.where(has_gap[label], 1, histogram.counts)[is_kept]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(label[is_kept], minlength=n_classes))))
    return Histogram(offsets, histogram.codes[is_kept], counts)


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Rows that publish the same cells, as one class."""

    frame: frames.Frame
    is_suppressed: BoolArray = field(repr=False)  # (n_rows,), suppressed records
    codes: CodeArray = field(repr=False)  # (n_columns, n_shown), the cells of the others; -1 is missing
    labels: CountArray = field(repr=False)  # (n_shown,), the class of each of them
    first: CountArray = field(repr=False)  # (n_classes,), the first of each class

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.first)

    @property
    def counts(self) -> CountArray | None:
        """Records of each row that is shown; None where that is one each."""
        if self.frame.counts is None or not self.is_suppressed.any():
            return self.frame.counts
        return self.frame.counts[~self.is_suppressed]

    @property
    def records(self) -> CountArray:
        """Records of every class."""
        return count_records(self.labels, self.n_classes, self.counts)

    @property
    def n_suppressed(self) -> int:
        """How many records are suppressed."""
        return int(
            self.is_suppressed.sum() if self.frame.counts is None else self.frame.counts[self.is_suppressed].sum()
        )

    def row_positions_in(self, classes: BoolArray) -> CountArray:
        """Return the rows of the frame in some classes, ascending."""
        return np.flatnonzero(~self.is_suppressed)[classes[self.labels]]

    @property
    def first_rows(self) -> CountArray:
        """A row of the frame of every class."""
        return np.flatnonzero(~self.is_suppressed)[self.first]


def group_rows(
    frame: frames.Frame, columns: Sequence[str], sensitive: Sequence[str], suppressed: str | None
) -> Grouped:
    """Group rows by their published cells; a suppressed record has no cell in sensitive columns either."""
    is_suppressed = find_suppressed_rows(frame, (*columns, *sensitive), suppressed)
    # Filled, not stacked: rows are many, and memory is short.
    codes = np.empty((len(columns), np.count_nonzero(~is_suppressed)), dtype=np.int32)
    for j, name in enumerate(columns):
        codes[j] = text_codes(frame.column(name), name)[~is_suppressed]
    return Grouped(frame, is_suppressed, codes, *label_rows(codes))


def find_coverage(
    grouped: Grouped,
    source: frames.Frame,
    columns: Sequence[str],
    specs: Mapping[str, ColumnSpec],
    ladders: Mapping[str, Any],
) -> tuple[CountArray, CountArray]:
    """Return the pairs of a class and a row of another table that its published cells cover."""
    classes, distinct, labels = find_distinct_coverage(grouped, source, columns, specs, ladders)
    return rows_of(distinct, labels, classes)


def find_distinct_coverage(
    grouped: Grouped,
    source: frames.Frame,
    columns: Sequence[str],
    specs: Mapping[str, ColumnSpec],
    ladders: Mapping[str, Any],
) -> tuple[CountArray, CountArray, CountArray]:
    """Return the pairs of a class and a distinct row of another table that it covers, and what each row became."""
    cells, cell_codes = zip(
        *(list_cells_with_points(grouped.frame, name, specs.get(name)) for name in columns), strict=True
    )
    values, rows = zip(*(list_cells_with_missing(source.values(name), name) for name in columns), strict=True)
    labels, first = label_rows(np.array(rows))
    classes, distinct = pair_rows(
        cells,
        np.array(cell_codes)[:, grouped.first_rows],
        values,
        np.array(rows)[:, first],
        [spec_of(source.column(name), specs.get(name)) for name in columns],
        [ladders.get(name) for name in columns],
        columns,
    )
    return classes, distinct, labels


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What a sensitive column holds."""

    column: columns_.Column
    codes: CodeArray = field(repr=False)  # of the published rows
    reference: CodeArray | None = field(default=None, repr=False)  # of the rows of the original, where there is one
    reference_counts: CountArray | None = field(default=None, repr=False)  # its rows' records

    def count_by_value(self, grouped: Grouped) -> CountArray:
        """Count the records of every value, the missing one's first, in the original or else in the rows shown."""
        if self.reference is None:
            return count_records(self.codes[~grouped.is_suppressed] + 1, self.column.n_values + 1, grouped.counts)
        return count_records(self.reference + 1, self.column.n_values + 1, self.reference_counts)


def read_sensitive_columns(
    frame: frames.Frame,
    original: Any,
    sensitive: Sequence[str],
    suppressed: str | None,
    specs: Mapping[str, ColumnSpec],
) -> dict[str, Held]:
    """Read the sensitive columns of a published table, and of the original where there is one."""
    if original is None:
        typed = {name: (frame.column(name), specs.get(name, ColumnSpec())) for name in sensitive}
        return {
            name: Held(*merge_spellings(*_value_codes(*each, suppressed, None, name))) for name, each in typed.items()
        }
    reference = frames.read(original)
    check_columns(sensitive, reference.columns, "sensitive columns of the original")
    by_name = {}
    for name in sensitive:
        spec = specs.get(name, ColumnSpec()).with_defaults_from(reference.spec(name))
        column, codes = merge_spellings(
            *_value_codes(frame.column(name), spec, suppressed, reference.column(name), name)
        )
        by_name[name] = Held(column, codes[: frame.n_rows], codes[frame.n_rows :], reference.counts)
    return by_name


def build_ground(column: columns_.Column, hierarchy: Any) -> Ground:
    """Return how far apart the values of a sensitive column lie."""
    levels = None if hierarchy is None else Hierarchy.build(hierarchy, column).levels_with_missing()
    return Ground(column.is_ordered, levels)


def spec_of(series: pl.Series, spec: ColumnSpec | None) -> ColumnSpec:
    """Return the spec of a quasi-identifier: the given one, else by its type in the table before publication."""
    dtype = series.dtype
    if spec is not None and (spec.kind or spec.order):
        return spec
    if isinstance(dtype, pl.Enum):
        return ColumnSpec("ordered", tuple(dtype.categories.to_list()))
    if isinstance(dtype, (pl.Date, pl.Datetime)):
        return ColumnSpec("date" if isinstance(dtype, pl.Date) else "datetime")
    if isinstance(dtype, pl.Time):
        return ColumnSpec("time")
    if dtype.is_numeric():
        return ColumnSpec("integer" if dtype.is_integer() else "decimal")
    return ColumnSpec()


def list_cells_with_missing(series: pl.Series, name: str) -> tuple[list[str | None], CodeArray]:
    """Return a column's distinct cells, the missing one first, and the place of each row's cell among them."""
    cells, codes = list_distinct_cells(format_values(series, name), name)
    return [None, *cells.to_list()], codes + np.int32(1)


def list_cells_with_points(
    frame: frames.Frame, name: str, spec: ColumnSpec | None
) -> tuple[list[str | None], CodeArray]:
    """List the cells of a published column as the grammar has them: with a point where a spec says comma."""
    cells, rows = list_cells_with_missing(frame.column(name), name)
    if spec is None or spec.decimal != ",":
        return cells, rows
    return [None if cell is None else with_point(cell) for cell in cells], rows


def class_figures(stats: ClassStats, grouped: Grouped, diversity: Mapping[str, CountArray]) -> dict[str, Any]:
    """Return the figures of the classes of a table; ``diversity`` counts the values that each holds of sets."""
    crowd, records = stats.crowd, grouped.records
    distinct = {name: each.n_distinct() for name, each in stats.histograms.items()} | {**diversity}
    return {
        "n_classes": grouped.n_classes,
        "n_suppressed": grouped.n_suppressed,
        "smallest_class": int(crowd.min()) if len(crowd) else 0,
        "n_unique": int(records[crowd <= 1].sum()),
        "average_risk": _exact_sum(records / np.maximum(crowd, 1)) / int(records.sum()) if len(crowd) else 1.0,
        "distinct_sensitive": {name: int(each.min()) if len(each) else 0 for name, each in distinct.items()},
    }


def _exact_sum(values: FloatArray) -> float:
    """Return the sum, rounded once; Python's floats are made of some values at a time."""
    runs = (values[begin : begin + _FLOATS_PER_STEP].tolist() for begin in range(0, len(values), _FLOATS_PER_STEP))
    return math.fsum(chain.from_iterable(runs))


def spelling_failures(frame: frames.Frame, columns: Sequence[str]) -> Iterator[Failure]:
    """Yield the columns whose missing cells, one class here, differ in the file."""
    for name in columns:
        n_ways, n_cells = count_missing_texts(frame.column(name), frame.counts)
        if n_ways > 1:
            ways = "two" if n_ways == 2 else str(n_ways)
            condition = f"column {name!r} writes its missing value in {ways} ways: {n_cells} cells"
            yield Failure(condition, 0, n_cells, float(n_ways))


def find_suppressed_rows(frame: frames.Frame, names: Sequence[str], suppressed: str | None) -> BoolArray:
    """Find the rows with nothing left; where no row has anything left, they are one class of the release."""
    is_suppressed = np.full(frame.n_rows, suppressed is not None)
    for name in names if suppressed is not None else ():
        series = frame.column(name)
        if not isinstance(series.dtype, (pl.String, pl.Categorical, pl.Enum)):
            return np.zeros(frame.n_rows, dtype=bool)
        is_suppressed &= (series.cast(pl.String) == suppressed).fill_null(False).to_numpy()
    return np.asarray(is_suppressed & ~is_suppressed.all())


def _value_codes(
    series: pl.Series, spec: ColumnSpec, suppressed: str | None, reference: pl.Series | None, name: str
) -> tuple[columns_.Column, CodeArray]:
    """Code a sensitive column by value, so that "1" and "1.0" make no class diverse; a suppressed cell is missing.

    The codes of the reference follow, which says how the column is typed: suppression may have made text of it.
    """
    source, source_codes = (None, None) if reference is None else encode(reference, spec, is_typed=True, name=name)
    kind = spec.kind if source is None else source.kind
    if isinstance(series.dtype, (pl.String, pl.Categorical, pl.Enum)):
        if suppressed is not None:
            series = series.set((series.cast(pl.String) == suppressed).fill_null(False), None)
        if kind == "datetime":
            series = map_texts(series, _without_zone, name)
    if source is None or source_codes is None:
        return encode(series, spec, is_typed=True, name=name)
    order = spec.order or (tuple(source.texts()) if kind == "ordered" else ()) or None
    own, own_codes = encode(series, ColumnSpec(kind, order).with_defaults_from(spec), is_typed=True, name=name)
    column, codes = columns_.from_texts(name, [*own.texts(), *source.texts()], kind, order)
    codes = np.append(codes, np.int32(-1))
    shifted = np.where(source_codes < 0, -1, source_codes + own.n_values)
    return column, np.append(codes[own_codes], codes[shifted])


def _without_zone(text: str) -> str:
    """Write a moment of a time zone, which a file keeps as text, in UTC, as a Table codes it."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    return text if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat(sep=" ")


def rows_of(labels: CountArray, label_of_row: CountArray, along: CountArray) -> tuple[CountArray, CountArray]:
    """Replace every label by each of its rows; return what goes along, repeated, and the rows."""
    order = np.argsort(label_of_row, kind="stable")
    starts = np.searchsorted(label_of_row[order], np.arange(int(label_of_row.max(initial=-1)) + 2))
    lengths = np.diff(starts)[labels]
    return np.repeat(along, lengths), order[concatenate_runs(starts[labels], lengths)]
