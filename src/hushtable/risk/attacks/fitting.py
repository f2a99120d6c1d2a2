"""Which published rows may be a known record: by their cells, within what is known of its values.

What the cells and the values of a column stand for are runs of places on one axis. Rows are looked up by the column
that leaves the fewest; those whose cells are about as wide lie in order beside one another, so that each width is one
window of the index.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.claims import coverage_matrix, list_cells_with_missing, list_cells_with_points, rules_of
from hushtable.columns import (
    SUPPRESSED,
    Column,
    ColumnSpec,
    column_of_cell_values,
    from_texts,
    parse_cell,
    spell_ends,
    spell_names_as,
    with_first_days,
)
from hushtable.errors import ColumnError, InputError, check_columns, check_type
from hushtable.hierarchy import Hierarchy, to_exact
from hushtable.io import Frame, spell_as
from hushtable.kernels.candidates import LookedUp, Sought, count_candidates
from hushtable.kernels.rows import ByteArray
from hushtable.risk.nearness import MAX_AXIS_PLACE, Amount, amount_of, axis_values, reach_bounds
from hushtable.search import check_memory
from hushtable.tables import Joint, Table, encode_jointly, meet_tables, open_table

MAX_FEW: Final = 10**9
"""The largest ``few``: no more candidates than that are counted."""

FEWER_CLASSES_HINT: Final = "compare releases of fewer classes."


@runtime_checkable
class _Protected(Protocol):
    """What this room needs of a release."""

    source: Any
    claim: Any

    @property
    def edition(self) -> Any:
        """What is published of the source."""


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTable:
    """A table that others hold, and what is known of its cells."""

    frame: Frame  # a row for every record
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict, repr=False)  # kinds before publication
    hierarchies: Mapping[str, Any] = field(default_factory=dict, repr=False)  # of labels; None fits every value
    source: Frame | None = None  # what it was made from, where that is known
    rows: CountArray | None = field(default=None, repr=False)  # (n_rows,): which row of the source each is


def open_publication(
    data: Any, specs: Mapping[str, ColumnSpec] | None = None, hierarchies: Mapping[str, Any] | None = None
) -> PublishedTable:
    """Open a published table: a release, which knows its source and its cells, or a file or frame."""
    check_type(hierarchies, Mapping, "hierarchies", 'a mapping, as {"age": hierarchy}')
    if not isinstance(data, _Protected):
        return PublishedTable(open_table(data).frame().with_row_per_record(), specs or {}, hierarchies or {})
    edition, claim = data.edition, data.claim
    source = data.source.frame()
    kept_rows = np.arange(source.n_rows) if edition.rows is None else edition.rows
    first = np.cumsum(source.records) - source.records
    n_records = source.records[kept_rows]
    # A row that stands for several records is repeated, once for each.
    rows = np.repeat(first[kept_rows] - np.cumsum(n_records) + n_records, n_records) + np.arange(int(n_records.sum()))
    all_specs = {**(specs or {}), **claim.specs}
    hierarchies_of_claim = claim.hierarchies
    # A rule also explains labels of values that the release does not have.
    rules = {name: rule for name, rule in rules_of(hierarchies_of_claim).items() if rule is not None}
    meanings = {**(hierarchies or {}), **hierarchies_of_claim, **rules}
    frame = edition.frame().with_row_per_record()
    assert frame.n_rows == len(rows)
    return PublishedTable(frame, all_specs, meanings, source.with_row_per_record(), rows)


def number_by_value(tables: Sequence[Frame], name: str) -> list[CountArray]:
    """Number the rows of several tables by the values of a column: equal ones have one number, a missing one -1."""
    return [rows.codes[0].astype(np.int64) for rows in _encode_jointly(tables, name).tables]


def number_persons(tables: Sequence[Frame], person: str) -> list[CountArray]:
    """Number the rows of two tables by whose they are, however programs write names; those of nobody -1."""
    joint, number_of = _encode_jointly(tables, person), dict[str, int]()
    names, codes = [*map(str, joint.values[0])], joint.tables[0].codes[0]
    known = [names[code] for code in np.unique(codes[codes >= 0]).tolist()]
    numbers = [number_of.setdefault(name, len(number_of)) for name in spell_names_as(known, names)]
    return [np.array([*numbers, -1], dtype=np.int64)[rows.codes[0]] for rows in joint.tables]


def _encode_jointly(tables: Sequence[Frame], name: str) -> Joint:
    return encode_jointly(meet_tables([Table.encode(table, [name]) for table in tables]))


@dataclass(frozen=True, slots=True, eq=False)
class PlaceAxis:
    """What the cells and the known values of a column stand for, as places on one axis.

    ``cell_runs`` has a row for every cell, ``known_runs`` one for every value that may be known, the last one for the
    missing value: from one place to below another, and where in ``bits`` the bytes of several runs begin; -1 where it
    is one run.
    """

    cell_runs: CountArray  # (n_cells, 3)
    bits: ByteArray
    known_runs: CountArray  # (n_values + 1, 3)
    n_places: int


def own_axis(column: Column, tolerance: Any = 0) -> PlaceAxis:
    """Return the axis of a table whose records are known as it has them: cell i is value i, the last one missing."""
    values = axis_values(column)
    low, high = reach_bounds(values, amount_of(tolerance, column))
    codes = np.arange(column.n_values + 1)
    first, last = np.searchsorted(values, low, side="left"), np.searchsorted(values, high, side="right")
    known_runs = _runs_without_bytes(np.append(first, column.n_values), np.append(last, column.n_values + 1))
    return PlaceAxis(_runs_without_bytes(codes, codes + 1), np.empty(0, np.uint8), known_runs, column.n_values + 1)


def _runs_without_bytes(low: Any, high: Any) -> CountArray:
    """Build runs that have no bytes."""
    return np.column_stack([low, high, np.full(len(low), -1)]).astype(np.int64)


def axes_of(
    publication: PublishedTable, known_table: Table, pairs: Sequence[tuple[str, str]], tolerance: Mapping[str, Any]
) -> tuple[list[PlaceAxis], CodeArray]:
    """Return the axes of columns, and which cell of its axis each published row has, shape (n_columns, n_rows).

    ``pairs`` name a column in the published table and in the known one; ``tolerance`` goes by the first. InputError
    where cells are no values of the kind that is known, and nothing says what they mean.
    """
    check_columns([name for name, _ in pairs], publication.frame.columns, "columns of the published table")
    axes, cells = [], np.empty((len(pairs), publication.frame.n_rows), dtype=np.int32)
    for j, (name, known_name) in enumerate(pairs):
        part, cells[j] = _cells_of(publication, name)
        if part.is_unexplained:
            msg = (
                f"nobody says what labels of column {name!r} mean: they are taken to fit every value. Who knows it "
                "finds more."
            )
            warnings.warn(msg, stacklevel=4)
        column = known_table.column(known_name)
        axes.append(_axis_of([part], column, amount_of(tolerance.get(name, 0), column)))
    return axes, cells


def common_axes(
    first: PublishedTable, second: PublishedTable, pairs: Sequence[tuple[str, str]]
) -> tuple[list[PlaceAxis], CodeArray, CodeArray]:
    """Return the axes of columns that two tables publish, and which cell each row of either has.

    What is known, the places of an axis, are the cells of the second table.
    """
    for table, names in zip((first, second), zip(*pairs, strict=True), strict=True):
        check_columns(names, table.frame.columns, "columns that both tables publish")
    second = with_spelling_of(second, first, pairs)
    # Once more the other way: a mark of missing cells may be the first table's.
    tables = (with_spelling_of(first, second, [(other, name) for name, other in pairs]), second)
    axes: list[PlaceAxis] = []
    cells = [np.empty((len(pairs), table.frame.n_rows), dtype=np.int32) for table in tables]
    for j, pair in enumerate(pairs):
        parts = []
        for name, table, codes in zip(pair, tables, cells, strict=True):
            part, codes[j] = _cells_of(table, name)
            parts.append(part)
        axis = _axis_of(parts, _column_of(pair, parts, tables), 0)
        n_first = len(parts[0].cells)
        axes.append(PlaceAxis(axis.cell_runs[:n_first], axis.bits, axis.cell_runs[n_first:], axis.n_places))
    return axes, cells[0], cells[1]


def _column_of(pair: tuple[str, str], parts: Sequence[_CellList], tables: Sequence[PublishedTable]) -> Column:
    """Return a column of the values that two tables speak of: those of their sources, and of cells that are values."""
    sides = list(zip(pair, parts, tables, strict=True))
    spec = next((table.specs[name] for name, _, table in sides if name in table.specs), ColumnSpec())
    texts: list[str] = []
    for name, part, table in sides:
        if part.is_unexplained:
            raise InputError(
                f"nobody says what labels of column {name!r} mean.",
                hint="say it in hierarchies, pass the release itself, or leave the column out.",
            )
        if table.source is not None and name in table.source.columns:
            texts += Table.encode(table.source, [name], {name: ColumnSpec(spec.kind, spec.order)}).columns[0].texts()
        elif part.hierarchy is None:
            spans = [span for cell in part.cells if cell is not None for span in _spans_in(cell, spec.kind)]
            values = [span.low for span in spans if span.is_value]
            ends = [end for span in spans if not span.is_value for end in (span.low, span.high) if end is not None]
            texts += [*spell_ends(ends, values, spec.kind), *values]
    return from_texts(pair[0], list(dict.fromkeys(texts)), spec.kind, spec.order)[0]


class _CellList(NamedTuple):
    """The distinct cells of a published column, and what its labels mean."""

    cells: Sequence[str | None]
    hierarchy: Any
    is_unexplained: bool


def _cells_of(table: PublishedTable, name: str) -> tuple[_CellList, CodeArray]:
    """Return the distinct cells of a published column, and which of them each row has."""
    if name in table.specs:
        cells, codes = list_cells_with_points(table.frame, name, table.specs[name])
    else:
        # Nobody says that it was rewritten: its cells are spelled as those of any table.
        cells, codes = list_cells_with_missing(table.frame.values(name), name)
    hierarchy = table.hierarchies.get(name)
    return _CellList(cells, hierarchy, is_unexplained=hierarchy is None and name in table.hierarchies), codes


def values_of(table: PublishedTable, name: str) -> Column:
    """Return the values that the cells of a published column name."""
    spec = table.specs.get(name, ColumnSpec())
    return column_of_cell_values(name, _cells_of(table, name)[0].cells, spec.kind)


def with_spelling_of(
    table: PublishedTable, reference: PublishedTable, pairs: Sequence[tuple[str, str]]
) -> PublishedTable:
    """Return a table whose columns, the second of each pair, are spelled as those of a reference, the first.

    What a claim says of a column's cells stays as it is.
    """
    values = {name: values_of(reference, known) for known, name in pairs if name not in table.specs}
    return replace(table, frame=spell_as(table.frame, values))


def _axis_of(parts: Sequence[_CellList], column: Column, amount: Amount) -> PlaceAxis:
    """Return the axis of a column; its cells are those of all parts, one after the other."""
    return (_number_axis if column.is_measured else _category_axis)(parts, column, amount)


_Run = tuple[int, int]


def _labels_of(hierarchy: Any, column: Column) -> set[str]:
    """Return all texts that a hierarchy may have written for values of a column."""
    if hierarchy is None:
        return set()
    own = hierarchy.labels[1:] if isinstance(hierarchy, Hierarchy) else ()
    ladder = Hierarchy.build(hierarchy, column, unknown="suppress")
    return {label for level in (*own, *ladder.labels[1:]) for label in level}


def _expand_cells(cells: Mapping[int, str | None], column: Column, hierarchy: Any) -> Iterator[tuple[int, CountArray]]:
    """Yield, for the places of some cells, the codes that each covers; the number of values stands for missing."""
    spec = ColumnSpec("category") if column.kind == "category" else column.spec
    covers = coverage_matrix(list(cells.values()), [*column.texts(), None], spec, hierarchy, column.name)
    for i, each in zip(cells, covers, strict=True):
        yield i, np.flatnonzero(each)


def _category_axis(parts: Sequence[_CellList], column: Column, steps: Amount) -> PlaceAxis:
    """Build the axis of categories: a place for every known value, then for other published ones."""
    position_of = {text: place for place, text in enumerate(column.texts())}
    n_known = len(position_of)
    runs: list[list[_Run]] = []
    to_expand: list[tuple[dict[int, str | None], Any]] = []
    for found, hierarchy, is_unexplained in parts:
        labels = _labels_of(hierarchy, column)
        to_expand.append(({}, hierarchy))
        for cell in found:
            if is_unexplained and cell is not None and not _are_values(cell, position_of):
                # Nobody knows what the label means: it fits every value.
                runs.append([(0, n_known)])
            elif cell is None or cell in labels or parse_cell(cell).form != "value":
                to_expand[-1][0][len(runs)] = cell
                runs.append([])
            else:
                position = position_of.setdefault(cell, len(position_of))
                runs.append([(position, position + 1)])
    n = len(position_of)
    for cells, hierarchy in to_expand:
        for i, covered in _expand_cells(cells, column, hierarchy):
            is_everything = cells[i] == SUPPRESSED
            runs[i] = [(0, n + 1)] if is_everything else _runs_of(np.where(covered == n_known, n, covered))
    codes = np.arange(n_known)
    low = np.append(np.maximum(codes - int(steps), 0), n)
    high = np.append(np.minimum(codes + int(steps), n_known - 1) + 1, n + 1)
    return _pack_runs(runs, low, high, n + 1)


def _are_values(cell: str, known: Mapping[str, int]) -> bool:
    """Tell whether a cell is made of known values, or of no names at all."""
    form, _, members = parse_cell(cell)
    names = (cell,) if form == "value" else tuple(each for each in members if each is not None)
    return all(name in known for name in names)


def _runs_of(positions: CountArray) -> list[_Run]:
    """Return ascending places as runs."""
    if not len(positions):
        return []
    breaks = np.flatnonzero(np.diff(positions) > 1)
    firsts, lasts = positions[np.append(0, breaks + 1)], positions[np.append(breaks, len(positions) - 1)]
    return list(zip(firsts.tolist(), (lasts + 1).tolist(), strict=True))


def _pack_runs(runs: Sequence[Sequence[_Run]], low: Any, high: Any, n_places: int) -> PlaceAxis:
    """Pack the runs of cells into arrays: a cell of several runs also has its places as bytes."""
    widths = [each[-1][1] - each[0][0] for each in runs if len(each) > 1]
    check_memory(float(sum(widths)), f"the places of {len(widths)} cells", "compare fewer rows or columns.")
    packed = np.full((len(runs), 3), -1, dtype=np.int64)
    bits = np.zeros(sum(widths), dtype=np.uint8)
    begin = 0
    for i, of_cell in enumerate(runs):
        packed[i, :2] = (of_cell[0][0], of_cell[-1][1]) if of_cell else (0, 0)
        if len(of_cell) > 1:
            packed[i, 2] = begin
            for first, last in of_cell:
                bits[begin + first - of_cell[0][0] : begin + last - of_cell[0][0]] = 1
            begin += of_cell[-1][1] - of_cell[0][0]
    return PlaceAxis(packed, bits, _runs_without_bytes(low, high), n_places)


def _number_axis(parts: Sequence[_CellList], column: Column, amount: Amount) -> PlaceAxis:
    """Build the axis of numbers or dates: a place for every bound, and one between it and the next."""
    values = axis_values(column)
    read_parts = [_read_spans(part, column) for part in parts]
    bounds = [
        bound for spans, _ in read_parts for cell in spans for span in cell for bound in span[:2] if bound is not None
    ]
    if values.dtype.kind == "i" and not all(isinstance(each, int) for each in bounds):
        values = values.astype(np.float64)
    low, high = reach_bounds(values, amount)
    points = np.unique(np.concatenate([values, low, high, np.array(bounds, dtype=values.dtype)]))
    end = 2 * len(points)  # the place of a missing value
    position_of = dict(zip(points.tolist(), range(0, end, 2), strict=True))
    positions = 2 * np.searchsorted(points, values)
    runs: list[list[_Run]] = []
    for (texts, hierarchy, _), (spans, labelled) in zip(parts, read_parts, strict=True):
        of_labels = {
            # Between two neighbouring values that a label covers, it covers everything.
            i: [(int(positions[a]), int(positions[b - 1]) + 1) for a, b in _runs_of(covered[covered < len(values)])]
            for i, covered in _expand_cells(labelled, column, hierarchy)
        }
        for i, (cell, text) in enumerate(zip(spans, texts, strict=True)):
            of_cell = [
                (0 if low is None else position_of[low], end if high is None else position_of[high] + is_closed)
                for low, high, is_closed, _ in cell
            ]
            missing = [(end, end + 1)] if text is None or _holds_missing(text) else []
            runs.append(_merge_runs([*of_cell, *of_labels.get(i, []), *missing]))
    begins = np.append(2 * np.searchsorted(points, low), end)
    ends = np.append(2 * np.searchsorted(points, high) + 1, end + 1)
    return _pack_runs(runs, begins, ends, end + 1)


def _holds_missing(text: str) -> bool:
    cell = parse_cell(text)
    return cell.form == "any" or None in cell.members


class _Span(NamedTuple):
    """From a number to another, None where it is open, whether the second belongs to it, and whether both are one."""

    low: Any
    high: Any
    is_closed: bool
    is_value: bool


def _merge_runs(runs: Sequence[_Run]) -> list[_Run]:
    """Merge runs that touch."""
    disjoint: list[_Run] = []
    for low, high in sorted(each for each in runs if each[0] < each[1]):
        if disjoint and low <= disjoint[-1][1]:
            disjoint[-1] = (disjoint[-1][0], max(high, disjoint[-1][1]))
        else:
            disjoint.append((low, high))
    return disjoint


def _read_spans(part: _CellList, column: Column) -> tuple[list[list[_Span]], dict[int, str | None]]:
    """Return the spans of numbers that each cell stands for, and those that are labels, by their places."""
    labels = _labels_of(part.hierarchy, column)
    spans = [[] if text is None else list(_spans_in(text, column.kind)) for text in part.cells]
    bounds = {bound for cell in spans for span in cell for bound in (span.low, span.high) if bound is not None}
    number_of = _parse_numbers(sorted(bounds), column)
    labelled: dict[int, str | None] = {}
    for i, text in enumerate(part.cells):
        ends = {bound for span in spans[i] for bound in (span.low, span.high) if bound is not None}
        # An interval holds what it reads as, whatever hierarchy it is a label of.
        named = {span.low for span in spans[i] if span.is_value}
        if any(number_of[bound] is None for bound in ends) or named & labels:
            labelled[i], spans[i] = text, []
    if labelled and part.is_unexplained:
        for i in labelled:
            # Nobody knows what the label means: it fits every value.
            spans[i] = [_Span(None, None, is_closed=False, is_value=False)]
        labelled = {}
    if labelled and part.hierarchy is None:
        raise InputError(
            f"column {column.name!r}: {len(labelled)} of its published cells are no values of kind {column.kind}, no "
            "intervals and no sets of them.",
            hint="say what labels mean in hierarchies, or pass the release itself.",
        )
    # None stands for itself: an open end.
    number_of[None] = None
    return [
        [span._replace(low=number_of[span.low], high=number_of[span.high]) for span in cell] for cell in spans
    ], labelled


def _spans_in(text: str, kind: str | None) -> Iterator[_Span]:
    cell = parse_cell(text)
    if cell.form == "any":
        yield _Span(None, None, is_closed=False, is_value=False)
    elif cell.ends is not None:
        low, high = (None if end is None else _to_whole_day(end, kind) for end in cell.ends[:2])
        yield _Span(low, high, cell.ends.is_closed, is_value=False)
    elif cell.form == "set":
        for member in cell.members:
            if member is not None:
                yield from _spans_in(member, kind)
    else:
        yield _Span(text, text, is_closed=True, is_value=True)


def _to_whole_day(end: str, kind: str | None) -> str:
    return with_first_days([end])[0] if kind in ("date", "datetime") else end


def _parse_numbers(texts: Sequence[str], column: Column) -> dict[str | None, Any]:
    """Parse the number that each text writes; None where it writes none."""
    if column.kind in ("integer", "decimal"):
        return {text: _parse_number(text, is_whole=column.kind == "integer") for text in texts}
    try:
        whole = list(texts) if column.precision == "day" else with_first_days(texts)
        moments, codes = from_texts(column.name, whole, "time" if column.kind == "time" else "datetime")
    except ColumnError:
        # A text is no moment: halve the list until it is alone.
        if len(texts) == 1:
            return {texts[0]: None}
        half = len(texts) // 2
        return _parse_numbers(texts[:half], column) | _parse_numbers(texts[half:], column)
    numbers = axis_values(moments).tolist()
    return {text: numbers[code] for text, code in zip(texts, codes.tolist(), strict=True)}


def _parse_number(text: str, *, is_whole: bool) -> Any:
    try:
        exact = to_exact(text)
    except (ValueError, ArithmeticError):
        return None
    if is_whole and isinstance(exact, int) and abs(exact) < MAX_AXIS_PLACE:
        return exact
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Suspects:
    """Who may have the known records of each trial."""

    counts: CountArray  # (n_trials,): persons, up to as many as were asked for
    first: CodeArray  # (n_trials,): one of them; -1 where there is none


def count_suspects(
    axes: Sequence[PlaceAxis],
    cells: CodeArray,
    persons: CodeArray,
    known_codes: CodeArray,
    starts: CountArray,
    enough: int,
) -> Suspects:
    """Count the persons who may have all the known records of each trial, up to ``enough``.

    ``cells`` (n_columns, n_rows): which cell of its axis each row has, -1 is the last; ``persons`` (n_rows,): -1 is
    nobody, who is no candidate; ``known_codes`` (n_columns, n_known): codes, those of a trial side by side; ``starts``
    (n_trials + 1,).
    """
    looked_up, sought = index_rows(axes, cells, persons, known_codes, starts)
    # Of a trial, the record that leaves the fewest rows comes first.
    sought, _ = sort_known_records(sought, (sought.windows[:, :, 1] - sought.windows[:, :, 0]).sum(axis=1))
    counts, first = np.empty(len(starts) - 1, dtype=np.int64), np.empty(len(starts) - 1, dtype=np.int32)
    count_candidates(looked_up, sought, enough, counts, first)
    return Suspects(counts, first)


def sort_known_records(sought: Sought, ranks: CountArray | FloatArray) -> tuple[Sought, CountArray]:
    """Sort the known records of each trial by their ranks; return them, and which was where."""
    trials = np.repeat(np.arange(len(sought.starts) - 1), np.diff(sought.starts))
    order = np.lexsort((ranks, trials))
    runs, windows = np.ascontiguousarray(sought.runs[order]), np.ascontiguousarray(sought.windows[order])
    return Sought(runs, windows, sought.starts), order


def index_rows(
    axes: Sequence[PlaceAxis], cells: CodeArray, persons: CodeArray, known_codes: CodeArray, starts: CountArray
) -> tuple[LookedUp, Sought]:
    """Index published rows by the column that leaves the fewest for the known records; as for `count_suspects`."""
    owned_rows = np.flatnonzero(persons >= 0)
    by_person = owned_rows[np.argsort(persons[owned_rows], kind="stable")]
    whose = persons[by_person]
    n_bits = np.cumsum([0, *(len(axis.bits) for axis in axes)]).tolist()
    known_runs = np.stack(
        [_shift_runs(axis.known_runs, n)[codes] for axis, codes, n in zip(axes, known_codes, n_bits[:-1], strict=True)],
        axis=1,
    )
    best = min(
        (
            _build_windows(axis, codes[by_person], known_runs[:, j])
            for j, (axis, codes) in enumerate(zip(axes, cells, strict=True))
        ),
        key=lambda each: each.n_rows,
    )
    offsets = np.cumsum([0, *(len(axis.cell_runs) for axis in axes)])
    rows = np.empty((len(by_person), len(axes)), dtype=np.int32)
    for j, (axis, codes) in enumerate(zip(axes, cells, strict=True)):
        cell_codes = codes[by_person]
        rows[:, j] = np.where(cell_codes < 0, len(axis.cell_runs) - 1, cell_codes) + offsets[j]
    n_persons = int(whose[-1]) + 1 if len(whose) else 0
    lookup = LookedUp(
        rows,
        np.concatenate([_shift_runs(axis.cell_runs, n) for axis, n in zip(axes, n_bits[:-1], strict=True)]),
        np.concatenate([axis.bits for axis in axes]),
        whose,
        np.searchsorted(whose, np.arange(n_persons + 1)),
        best.rows_in_order(),
    )
    return lookup, Sought(known_runs, best.windows, starts)


def _shift_runs(runs: CountArray, n_bits: int) -> CountArray:
    """Shift the positions of the bytes of runs."""
    return runs + np.where(runs[:, 2:] < 0, 0, [0, 0, n_bits])


@dataclass(frozen=True, slots=True, eq=False)
class _Windows:
    """Where an index by one column holds the rows that may be each known record."""

    windows: CountArray
    ranks: CountArray
    cells: CodeArray

    @property
    def n_rows(self) -> int:
        """How many rows are looked at."""
        return int((self.windows[:, :, 1] - self.windows[:, :, 0]).sum())

    def rows_in_order(self) -> CodeArray:
        """Return the rows in the order of the index."""
        return np.argsort(self.ranks[self.cells], kind="stable").astype(np.int32)


def _build_windows(axis: PlaceAxis, cells: CodeArray, known_runs: CountArray) -> _Windows:
    """Order rows by how wide their cells are, in powers of two, then by where those begin."""
    low, width = axis.cell_runs[:, 0], np.maximum(axis.cell_runs[:, 1] - axis.cell_runs[:, 0], 1)
    level = np.ceil(np.log2(width)).astype(np.int64)
    keys = level * (axis.n_places + 1) + low
    distinct, ranks = np.unique(keys, return_inverse=True)
    ends = np.append(0, np.cumsum(np.bincount(ranks[cells], minlength=len(distinct))))
    levels = np.unique(level)
    windows = np.empty((len(known_runs), len(levels), 2), dtype=np.int64)
    for i, each in enumerate(levels.tolist()):
        base = each * (axis.n_places + 1)
        first = base + np.maximum(known_runs[:, 0] - 2**each + 1, 0)
        windows[:, i, 0] = ends[np.searchsorted(distinct, first)]
        windows[:, i, 1] = ends[np.searchsorted(distinct, base + np.maximum(known_runs[:, 1], 0))]
    return _Windows(np.maximum(windows, windows[:, :, :1]), ranks, cells)


def relate_cells(axis: PlaceAxis, ours: CodeArray, theirs: CodeArray) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Tell which cells of two tables share a place, which of theirs lie in ours, and which of ours lie in theirs."""
    a, b = axis.cell_runs[ours], axis.known_runs[theirs]
    if (a[:, 2] < 0).all() and (b[:, 2] < 0).all():
        (low, high), (first, last) = (each[:, :2].T for each in (a, b))
        low, high = low[:, None], high[:, None]
        return (low < last) & (first < high), (low <= first) & (last <= high), (first <= low) & (high <= last)
    mine, yours = _runs_to_masks(axis, a), _runs_to_masks(axis, b)
    return mine @ yours.T > 0, (1 - mine) @ yours.T == 0, mine @ (1 - yours).T == 0


def _runs_to_masks(axis: PlaceAxis, runs: CountArray) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the places of each run as zeros and ones."""
    check_memory(4.0 * len(runs) * axis.n_places, f"the places of {len(runs)} cells", FEWER_CLASSES_HINT)
    masks = np.zeros((len(runs), axis.n_places), dtype=np.float32)
    for mask, (low, high, begin) in zip(masks, runs.tolist(), strict=True):
        mask[low:high] = 1 if begin < 0 else axis.bits[begin : begin + high - low]
    return masks
