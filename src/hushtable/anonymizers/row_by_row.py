"""Mondrian over coded records of a table too large for memory, with too many distinct rows to count.

The margins, the frequency of every value of every column, lay out the columns and are the reference for models. The
search cuts records of a few bytes each; classes are published in runs. They equal those of one table exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers import publish
from hushtable.anonymizers.finishing import release_of
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.method import Found, Problem, check_offers, is_own
from hushtable.anonymizers.mondrian import Mondrian, axes_of, cut_search
from hushtable.anonymizers.parallel import CutSearch, Grown, grow_tree
from hushtable.anonymizers.preparation import Prepared, Request, prepare, warn_of_doubts
from hushtable.columns import Column
from hushtable.errors import quote_names
from hushtable.io import CellCodes, Frame, Margins, RowCodes
from hushtable.kernels import split
from hushtable.quality import RowLoss
from hushtable.recoding import Axis, Recoding, pack_rows
from hushtable.release import Release
from hushtable.search import Trace, check_memory
from hushtable.tables import Partition, Table

_STYLES: Final = ("tight", "readable", "nested", "set", "label")  # whose cells follow from the records of a class alone
_BYTES_PER_RECORD: Final = 40.0  # besides the codes
_ROWS_AT_ONCE: Final = 2_000_000  # rows whose classes are published together


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """How the cells of the judged columns are coded; it pickles."""

    cells: CellCodes
    columns: tuple[Column, ...] = field(repr=False)  # in the order of the cells'
    code_of_cell: tuple[CodeArray, ...] = field(repr=False)  # by column, -1 is missing

    @classmethod
    def from_margins(cls, cells: CellCodes, margins: Margins, table: Table) -> Coding:
        """Learn the codes of cells from the coded margins, which hold each cell at least once."""
        code_of_cell = []
        for name, n_cells, places in zip(cells.names, cells.widths, margins.positions, strict=True):
            code = np.full(n_cells, -1, dtype=np.int32)
            code[places] = table.codes[table.index(name)]
            code_of_cell.append(code)
        return cls(cells, tuple(map(table.column, cells.names)), tuple(code_of_cell))

    def table_of_cells(self, cell_numbers: Sequence[NDArray[Any]], names: Collection[str] | None = None) -> Table:
        """Build a table of records from numbers of cells, by column; of some columns if they are named."""
        column_numbers = self._select_columns(names)
        # Filled in place, not stacked: two copies of that many records would not fit.
        codes = np.empty((len(column_numbers), len(cell_numbers[0])), dtype=np.int32)
        for of_column, j in zip(codes, column_numbers, strict=True):
            of_column[:] = self.code_of_cell[j][cell_numbers[j]]
        return Table(tuple(self.columns[j] for j in column_numbers), codes, np.ones(codes.shape[1], dtype=np.int64))

    def table_of_codes(self, shifted: NDArray[Any], names: Collection[str] | None = None) -> Table:
        """Build a table of records from codes + 1, shape (n_columns, n_records); of some columns if they are named."""
        column_numbers = self._select_columns(names)
        codes = (shifted if names is None else shifted[column_numbers]).astype(np.int32) - np.int32(1)
        return Table(tuple(self.columns[j] for j in column_numbers), codes, np.ones(codes.shape[1], dtype=np.int64))

    def _select_columns(self, names: Collection[str] | None) -> list[int]:
        return [j for j, name in enumerate(self.cells.names) if names is None or name in names]

    def frame_of_codes(self, shifted: NDArray[Any], counts: CountArray) -> Frame:
        """Build a frame with counts from codes + 1; of several spellings of a code it has the first."""
        return self.cells.build_frame(map(self._cells_of_codes, self.columns, self.code_of_cell, shifted), counts)

    def _cells_of_codes(self, column: Column, code_of_cell: CodeArray, shifted: NDArray[Any]) -> CountArray:
        cell_of_code = np.zeros(column.n_values + 1, dtype=np.int64)
        # Backwards, so that of several cells with one code the first is written last.
        cell_of_code[code_of_cell[::-1] + 1] = np.arange(len(code_of_cell))[::-1]
        return np.asarray(cell_of_code[shifted])


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The setup of a search over records, derived from their margins."""

    request: Request = field(repr=False)
    prepared: Prepared = field(repr=False)  # of the margins
    problem: Problem = field(repr=False)
    axes: tuple[Axis, ...] = field(repr=False)
    coding: Coding

    @classmethod
    def from_request(cls, cells: CellCodes, margins: Margins, request: Request) -> Plan:
        """Prepare a request for records whose margins are known."""
        prepared = prepare(margins.frame, request)
        warn_of_doubts(prepared.source, prepared.table, request)
        judge = Judge(prepared.table, request.asked_of_search, prepared.ladders)
        names = tuple(sorted(request.quasi_identifiers))
        problem = Problem(
            names, judge, prepared.ladders, request.loss, request.clock, language=request.writing.language
        )
        check_offers(request.method, problem)
        judge.check_feasible()
        assert isinstance(request.method, Mondrian)
        axes = axes_of(request.method, problem)
        return cls(request, prepared, problem, axes, Coding.from_margins(cells, margins, prepared.table))

    @property
    def counted(self) -> list[str]:
        """The columns whose values the models count."""
        return self.problem.judge.counted

    @property
    def publishing(self) -> Publishing:
        """How classes are published."""
        assert isinstance(self.request.method, Mondrian)
        axes = tuple(axis for name in self.problem.columns for axis in self.axes if axis.column.name == name)
        return Publishing(axes, self.request.method.recoding, tuple(self.request.judged))

    def build_search(self, sensitive: CodeArray) -> CutSearch:
        """Build the search for cuts of records with these sensitive values (codes + 1)."""
        assert isinstance(self.request.method, Mondrian)
        return cut_search(self.request.method, self.problem, self.axes, sensitive)

    def build_release(self, rows: ClassRows, source: Frame, sensitive: Table, trace: Trace) -> Release:
        """Build the release from one row per class and sensitive values; the source has one record of each row."""
        table = replace(sensitive, counts=rows.counts)
        judge = Judge(table, self.problem.judge.models, self.problem.judge.ladders)
        partition = Partition.from_labels(rows.labels, int(rows.labels[-1]) + 1, rows.counts)
        judge.check_classes(partition, self.request.method)
        self.request.clock.report_progress(1.0)
        result = Found(partition, rows.recoding, trace)
        prepared = replace(self.prepared, source=source.with_specs(self.request.specs), table=table)
        return release_of(prepared, judge, self.request, result, partition)


class ClassRows(NamedTuple):
    """Published classes, with one row per class and sensitive values in it."""

    recoding: Recoding
    labels: CodeArray  # the class of each row, ascending
    counts: CountArray

    @classmethod
    def concatenate(cls, parts: Sequence[ClassRows]) -> ClassRows:
        """Concatenate the classes of several parts."""
        ends = np.cumsum([0, *(int(part.labels[-1]) + 1 for part in parts)])
        labels = [part.labels + np.int32(begin) for part, begin in zip(parts, ends[:-1], strict=True)]
        recoding = Recoding.concatenate([part.recoding for part in parts])
        return cls(recoding, np.concatenate(labels), np.concatenate([part.counts for part in parts]))


class Publishing(NamedTuple):
    """Publishes classes whose records are all at hand; it pickles."""

    axes: tuple[Axis, ...]  # in the order of the recoding
    style: publish.Style
    sensitive: tuple[str, ...]  # columns by whose values the records of a class are told apart

    def publish_classes(self, table: Table, ends: CodeArray) -> tuple[ClassRows, CodeArray, CodeArray]:
        """Publish classes from records sorted by class; return also one record of each row, and each record's row."""
        partition = Partition.from_runs(np.arange(table.n_rows, dtype=np.int32), ends, table.counts)
        recoding = publish.from_classes(table, partition, self.axes, self.style)
        class_of = partition.labels
        for name in self.sensitive:
            partition = partition.refine(table, name)
        one = partition.rows[partition.offsets[:-1]]
        return ClassRows(recoding, class_of[one], partition.sizes), one, partition.labels


@dataclass(frozen=True, slots=True, eq=False)
class RowByRow:
    """A release with one row per class and sensitive values, and the row of every record."""

    # A row with counts for every class and its sensitive values, with the quasi-identifiers of one record
    release: Release
    row_of_record: CodeArray = field(repr=False)


def why_not_row_by_row(request: Request) -> str | None:
    """Return what in a request needs distinct rows, as the end of a sentence; None if nothing does."""
    method = request.method
    if not isinstance(method, Mondrian) or method.recoding not in _STYLES or method.exchange or not method.strict:
        return f"the method {method.name!r} with these options"
    if request.person is not None or request.population is not None:
        return "counting persons or a population"
    if request.suppression_limit > 0:
        return "suppressing records"
    if isinstance(request.loss, RowLoss) or is_own(request.loss) or request.loss.name not in method.offers.losses:
        return f"the loss {request.loss.name!r}"
    if any(name in request.parted for name in request.judged):
        return "judging sets of items"
    own = [model.name for model in request.asked_of_search if is_own(model)]
    return f"the models {quote_names(own)}, which are not hushtable's," if own else None


def protect_row_by_row(rows: RowCodes, request: Request) -> RowByRow:
    """Carry out a request for coded records: about 36 bytes each while it cuts, then 500 a class."""
    check_memory(_BYTES_PER_RECORD * rows.n_records, f"cutting {rows.n_records:,} records", "coarsen columns first.")
    plan = Plan.from_request(rows.cells, rows.margins(), request)
    packed, sensitive = _pack_records(rows, plan)
    grown = grow_tree(plan.build_search(sensitive), packed, request.clock)
    # Free memory for publishing.
    del packed, sensitive
    trace = request.clock.build_trace(repr(request.method), grown.n_settled, complete=grown.is_complete)
    class_rows, records, row_of_record = _publish_in_runs(rows, plan, grown)
    # Free memory for measuring.
    del grown
    cell_numbers = [codes[records] for codes in rows.codes]
    source = rows.cells.build_frame(cell_numbers, class_rows.counts)
    sensitive_table = plan.coding.table_of_cells(cell_numbers, request.judged)
    return RowByRow(plan.build_release(class_rows, source, sensitive_table, trace), row_of_record)


def _table_of_records(rows: RowCodes, coding: Coding, records: CodeArray | slice) -> Table:
    """Build a table of some records."""
    return coding.table_of_cells([codes[records] for codes in rows.codes])


def _pack_records(rows: RowCodes, plan: Plan) -> tuple[split.Rows, CodeArray]:
    """Pack all records for the kernels; return also their sensitive values as codes + 1."""
    n_records = rows.n_records
    sensitive = np.empty((len(plan.counted), n_records), dtype=np.int32)
    codes: NDArray[Any] | None = None
    for begin in range(0, n_records, _ROWS_AT_ONCE):
        run = slice(begin, begin + _ROWS_AT_ONCE)
        table = _table_of_records(rows, plan.coding, run)
        of_run = pack_rows(table, plan.axes)
        if codes is None:
            codes = np.empty((n_records, of_run.shape[1]), dtype=of_run.dtype)
        codes[run] = of_run
        for place, name in enumerate(plan.counted):
            sensitive[place, run] = table.codes[table.index(name)] + 1
    assert codes is not None
    order = np.arange(n_records, dtype=np.int32)
    return split.Rows(codes.view(np.int64), codes, order, is_weighted=False), sensitive


def _publish_in_runs(rows: RowCodes, plan: Plan, grown: Grown) -> tuple[ClassRows, CodeArray, CodeArray]:
    """Publish all classes, in runs; see `Publishing.publish_classes`."""
    row_of_record = np.empty(len(grown.order), dtype=np.int32)
    parts, records, n_rows, publishing = [], [], 0, plan.publishing
    ends = grown.tree.leaf_starts[: grown.tree.cursor[split.LEAVES] + 1]
    for first, last in _runs_of_classes(ends):
        some = grown.order[ends[first] : ends[last]]
        part, ones, row_of = publishing.publish_classes(
            _table_of_records(rows, plan.coding, some), ends[first : last + 1] - ends[first]
        )
        row_of_record[some] = n_rows + row_of
        parts.append(part)
        records.append(some[ones])
        n_rows += len(ones)
    return ClassRows.concatenate(parts), np.concatenate(records), row_of_record


def _runs_of_classes(ends: CodeArray) -> Iterator[tuple[int, int]]:
    """Yield runs of classes (first, one after the last) with about `_ROWS_AT_ONCE` records each."""
    first = 0
    while first < len(ends) - 1:
        last = int(np.searchsorted(ends, ends[first] + _ROWS_AT_ONCE, side="right")) - 1
        yield first, max(last, first + 1)
        first = max(last, first + 1)
