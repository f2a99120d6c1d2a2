"""Mondrian over the coded records of a table too large for memory, where counting distinct rows saves nothing.

The whole is known by its margins: how frequent every value of every column is. They lay out the columns and say what
the models compare with. The search cuts records of a few bytes each; what their classes publish is made of some classes
at a time. So the classes and their cells are those of the same table in memory, number by number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers import publish
from hushtable.anonymizers.finishing import release_of
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.method import Found, Problem, check_asked, is_own
from hushtable.anonymizers.mondrian import Mondrian, axes_of, cut_search
from hushtable.anonymizers.parallel import Grown, grow
from hushtable.anonymizers.placement import CutTree
from hushtable.anonymizers.preparation import Request, prepare, warn_of_doubts
from hushtable.columns import Column
from hushtable.errors import listed
from hushtable.io import Margins, RowCodes
from hushtable.kernels import split
from hushtable.quality import RowLoss
from hushtable.recoding import Axis, Recoding, packed_rows
from hushtable.release import Release
from hushtable.search import check_memory
from hushtable.tables import Partition, Table

__all__ = ["RowByRow", "protect_row_by_row", "why_not_row_by_row"]

_STYLES: Final = ("tight", "readable", "set", "label")  # whose cells follow from the records of a class alone
_PER_RECORD: Final = 40.0  # bytes, besides the codes
_ROWS_AT_ONCE: Final = 2_000_000  # of which classes are published together


@dataclass(frozen=True, slots=True, eq=False)
class RowByRow:
    """A release of classes, and where every record is.

    Attributes
    ----------
    release : Release
        Its source has a row for every class and sensitive values in it, with counts, that holds the quasi-identifiers
        of one of its records: it tells sizes, sensitive values and what is published, and nothing of the other records.
    row_of_record : ndarray of int32, shape (n_records,)
    columns : tuple of Column
        Of the records.
    code_of_cell : tuple by column of ndarray of int32
        The code of every cell of the records; -1 is missing.
    cuts : CutTree, optional
        Where they are kept.
    """

    release: Release
    row_of_record: CodeArray = field(repr=False)
    columns: tuple[Column, ...] = field(repr=False)
    code_of_cell: tuple[CodeArray, ...] = field(repr=False)
    cuts: CutTree | None = field(default=None, repr=False)


def why_not_row_by_row(asked: Request) -> str | None:
    """Say what of a request takes distinct rows, as the end of a sentence; None where nothing does."""
    method = asked.method
    if not isinstance(method, Mondrian) or method.recoding not in _STYLES or method.exchange or not method.strict:
        return f"the method {method.name!r} with these options"
    if asked.person is not None or asked.population is not None:
        return "counting persons or a population"
    if asked.suppression_limit > 0:
        return "suppressing records"
    if isinstance(asked.loss, RowLoss) or is_own(asked.loss) or asked.loss.name not in method.offers.losses:
        return f"the loss {asked.loss.name!r}"
    if any(name in asked.parted for name in asked.judged):
        return "judging sets of items"
    own = [model.name for model in asked.models if is_own(model)]
    return f"the models {listed(own)}, which are not hushtable's," if own else None


def protect_row_by_row(rows: RowCodes, asked: Request, *, keeps_cuts: bool = False) -> RowByRow:
    """Carry out a request for coded records.

    Parameters
    ----------
    rows : RowCodes
        Quasi-identifiers and sensitive columns of all records.
    asked : Request
        One of those that `why_not_row_by_row` has nothing against.
    keeps_cuts : bool
        For records that are published where they are.

    Raises
    ------
    ColumnError, InputError, InfeasibleError
        As `hushtable.anonymize` says.

    Notes
    -----
    About 36 bytes a record of up to eight columns while it cuts, and 500 for each class afterwards.
    """
    check_memory(_PER_RECORD * rows.n_records, f"cutting {rows.n_records:,} records", "coarsen columns first.")
    margins = rows.margins()
    prepared = prepare(margins.frame, asked)
    warn_of_doubts(prepared.source, prepared.table, asked)
    method = asked.method
    assert isinstance(method, Mondrian)
    judge = Judge(prepared.table, asked.asked_of_classes, prepared.ladders)
    names = tuple(sorted(asked.quasi_identifiers))
    problem = Problem(names, judge, prepared.ladders, asked.loss, asked.clock, language=asked.writing.language)
    check_asked(method, problem)
    judge.check_feasible()
    coded = _CodedRecords.of(rows, margins, prepared.table)
    axes = axes_of(method, problem)
    packed, sensitive = coded.packed(axes, judge.counted)
    grown = grow(cut_search(method, problem, axes, sensitive), packed, asked.clock)
    # Room for what the classes publish.
    del packed, sensitive
    published = [axis for name in problem.columns for axis in axes if axis.column.name == name]
    recoding, partition, kept = _published(coded, grown, published, method.recoding, asked.judged)
    found = Found(partition, recoding, asked.clock.trace(repr(method), grown.n_settled, complete=grown.is_complete))
    table = replace(coded.table(kept.records), counts=kept.counts)
    of_classes = Judge(table, judge.models, judge.ladders)
    of_classes.check_classes(partition, method)
    asked.clock.tell(1.0)
    source = rows.frame(kept.records, kept.counts).told(asked.specs)
    release = release_of(replace(prepared, source=source, table=table), of_classes, asked, found, partition)
    cuts = CutTree.of(grown.tree, axes) if keeps_cuts else None
    return RowByRow(release, kept.row_of_record, coded.columns, coded.code_of_cell, cuts)


@dataclass(frozen=True, slots=True, eq=False)
class _CodedRecords:
    """Records by the codes of a table.

    Attributes
    ----------
    rows : RowCodes
    columns : tuple of Column
        In the order of the rows'.
    code_of_cell : tuple by column of ndarray of int32
        -1 where it is missing.
    """

    rows: RowCodes
    columns: tuple[Column, ...]
    code_of_cell: tuple[CodeArray, ...]

    @classmethod
    def of(cls, rows: RowCodes, margins: Margins, table: Table) -> _CodedRecords:
        """Learn the codes of cells from the table of the margins, which hold each cell once at least."""
        code_of_cell = []
        for name, cells, places in zip(rows.names, rows.cells, margins.places, strict=True):
            code = np.full(len(cells), -1, dtype=np.int32)
            code[places] = table.codes[table.index(name)]
            code_of_cell.append(code)
        return cls(rows, tuple(map(table.column, rows.names)), tuple(code_of_cell))

    def table(self, records: CountArray | CodeArray | slice) -> Table:
        """Return some records."""
        codes = [code[places[records]] for code, places in zip(self.code_of_cell, self.rows.codes, strict=True)]
        return Table(self.columns, np.stack(codes), np.ones(len(codes[0]), dtype=np.int64))

    def packed(self, axes: tuple[Axis, ...], counted: list[str]) -> tuple[split.Rows, CodeArray]:
        """Return all records as the kernels move them, and their sensitive values, 0 where they are missing."""
        n_records = self.rows.n_records
        sensitive = np.empty((len(counted), n_records), dtype=np.int32)
        codes: NDArray[Any] | None = None
        for begin in range(0, n_records, _ROWS_AT_ONCE):
            run = slice(begin, begin + _ROWS_AT_ONCE)
            table = self.table(run)
            of_run = packed_rows(table, axes)
            if codes is None:
                codes = np.empty((n_records, of_run.shape[1]), dtype=of_run.dtype)
            codes[run] = of_run
            for place, name in enumerate(counted):
                sensitive[place, run] = table.codes[table.index(name)] + 1
        assert codes is not None
        order = np.arange(n_records, dtype=np.int32)
        return split.Rows(codes.view(np.int64), codes, order, is_weighted=False), sensitive


class _ClassRows(NamedTuple):
    """A row for every class and sensitive values in it.

    records : int32 (n_rows,), one of its records each
    counts : int64 (n_rows,)
    row_of_record : int32 (n_records,)
    """

    records: CodeArray
    counts: CountArray
    row_of_record: CodeArray


def _published(
    coded: _CodedRecords, grown: Grown, axes: Sequence[Axis], style: publish.Style, sensitive: tuple[str, ...]
) -> tuple[Recoding, Partition, _ClassRows]:
    """Say what all classes publish, some classes at a time."""
    row_of_record = np.empty(len(grown.order), dtype=np.int32)
    recodings, labels, records, counts = [], [], [], []
    n_rows = 0
    ends = grown.tree.leaf_starts[: grown.tree.cursor[split.LEAVES] + 1]
    for first, last in _runs(ends):
        some = grown.order[ends[first] : ends[last]]
        table = coded.table(some)
        of_some = ends[first : last + 1] - ends[first]
        partition = Partition.from_runs(np.arange(len(some), dtype=np.int32), of_some, table.counts)
        recodings.append(publish.from_classes(table, partition, axes, style))
        class_of = first + partition.labels
        for name in sensitive:
            partition = partition.refine(table, name)
        one = partition.rows[partition.offsets[:-1]]
        row_of_record[some] = n_rows + partition.labels
        labels.append(class_of[one])
        records.append(some[one])
        counts.append(partition.sizes)
        n_rows += len(one)
    kept = _ClassRows(np.concatenate(records), np.concatenate(counts), row_of_record)
    partition = Partition.from_labels(np.concatenate(labels).astype(np.int32), len(ends) - 1, kept.counts)
    return Recoding.concatenated(recodings), partition, kept


def _runs(ends: CodeArray) -> Iterator[tuple[int, int]]:
    """Yield runs of classes of about as many records as are published together."""
    first = 0
    while first < len(ends) - 1:
        last = int(np.searchsorted(ends, ends[first] + _ROWS_AT_ONCE, side="right")) - 1
        yield first, max(last, first + 1)
        first = max(last, first + 1)
