"""Mondrian over records in parts on other machines: workers count, one process chooses the cuts.

This process cuts large classes: workers count the codes left of every promising cut. A free worker cuts each smaller
class. So no process holds all records, and the classes equal those of one table exactly.
Result files are named after their records: if a task runs again for a lost worker, it writes the same file again.
"""

from __future__ import annotations

import math
import pickle
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers.parallel import (
    CutSearch,
    Piece,
    ThreadScratch,
    concatenate_trees,
    grow_on_one_core,
    rows_for_kernels,
    tree_cursor,
)
from hushtable.anonymizers.placement import CutTree, Walk
from hushtable.anonymizers.preparation import Request
from hushtable.anonymizers.row_by_row import ClassRows, Coding, Plan, Publishing, why_not_row_by_row
from hushtable.errors import InputError, check_columns
from hushtable.io import (
    CellCodes,
    Dialect,
    Frame,
    SeenCells,
    Values,
    add_up_cells,
    change_error,
    count_cells,
    scan,
    smallest_code_type,
    sort_columns_separately,
)
from hushtable.kernels import parts as counting, split
from hushtable.recoding import Axis, pack_rows, room_for_rows
from hushtable.release import Release
from hushtable.search import Budget, Clock
from hushtable.tables import Table

_MAX_RECORDS_PER_WORKER: Final = 2**18  # a worker cuts classes of at most so many records
_N_CLASSES_FOR_WORKERS: Final = 128  # or of at most one of so many parts of all records
_MAX_COUNTS_AT_ONCE: Final = 2**25  # entries of the array of counts that a worker fills at once
_MAX_COUNTS_PER_CLASS: Final = 2**27  # and of its share for one class
_MOST_RECORDS: Final = 2**31 - 1


class Workers(Protocol):
    """Runs work on other machines or in other processes; work and items have to pickle."""

    def map(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return the results of all items, in order."""

    def sum(self, work: Callable[[Any], NDArray[Any]], items: Sequence[Any]) -> NDArray[Any]:
        """Return the sum of the results of all items."""


@dataclass(frozen=True, slots=True, eq=False)
class InParts:
    """A release of classes, and the cuts by which every record finds its class."""

    # Its source has one row, with counts, per class and sensitive values, with one record's quasi-identifiers
    release: Release
    # Codes + 1 of the judged columns of these rows, (n_columns, n_rows)
    shifted_codes: NDArray[Any] = field(repr=False)
    coding: Coding = field(repr=False)
    margins: Frame = field(repr=False)  # rows with counts whose columns hold each cell as often as all records do
    n_records: int
    walk: Walk = field(repr=False)


def why_not_in_parts(request: Request) -> str | None:
    """Return what in a request needs distinct rows, as the end of a sentence; None if nothing does."""
    return "a budget" if request.clock.budget != Budget() else why_not_row_by_row(request)


def protect_in_parts(
    parts: Sequence[Path], names: Sequence[str], request: Request, workers: Workers, *, dialect: Dialect | None = None
) -> InParts:
    """Carry out a request for records in Parquet files of one schema, in a folder that all workers may write to.

    A part is removed once it is coded. A worker holds a part of 1,048,576 records, or a class of 1/128 of all records,
    at about 100 bytes each; this process what a few classes have of every value, and then some hundred bytes a class.
    """
    dialect = dialect or Dialect()
    cells, counts = _collect_cells(parts, names, workers, dialect)
    n_records = int(counts[0].sum())
    if n_records > _MOST_RECORDS:
        raise InputError(f"there are {n_records:,} records.", hint=f"at most {_MOST_RECORDS:,} are cut at once.")
    margins = cells.margins(counts)
    plan = Plan.from_request(cells, margins, request)
    records = _CodedParts.from_plan(plan, parts[0].parent, dialect)
    coded_paths = [path for some in workers.map(records.encode_part, parts) for path in some]
    _remove_files(parts)
    pieces = _cut_top(plan, records, workers, coded_paths, margins_of=counts)
    walk = CutTree.from_split_tree(concatenate_trees(pieces, n_records), plan.axes).build_walk()
    runs = sorted(run for run, piece in pieces.items() if not piece.parts)
    dealt_files = workers.map(partial(records.write_by_class, walk, len(runs)), coded_paths)
    _remove_files(coded_paths)
    of_runs = [(run, [(path, *ends[i : i + 2]) for path, ends in dealt_files]) for i, run in enumerate(runs)]
    # The largest first, so that no worker starts a long task when the others are done.
    order = sorted(range(len(runs)), key=lambda i: runs[i][0] - runs[i][1])
    paths = dict(zip(order, workers.map(records.cut_class, [of_runs[i] for i in order]), strict=True))
    _remove_files([path for path, _ in dealt_files])
    walk, n_nodes, rows, shifted = _collect_results(plan, pieces, [(run, paths[i]) for i, run in enumerate(runs)])
    source, sensitive = (
        plan.coding.frame_of_codes(shifted, rows.counts),
        plan.coding.table_of_codes(shifted, request.judged),
    )
    release = plan.build_release(rows, source, sensitive, request.clock.build_trace(repr(request.method), n_nodes))
    return InParts(release, shifted, plan.coding, margins.frame, n_records, walk)


def _collect_cells(
    parts: Sequence[Path], names: Sequence[str], workers: Workers, dialect: Dialect
) -> tuple[CellCodes, list[CountArray]]:
    """Collect the distinct cells of all parts, and the records of each."""
    source = scan(parts[0], dialect)
    check_columns(names, source.columns, "columns")
    columns = [Values(name, source.schema[name]) for name in names]
    counts = add_up_cells(columns, workers.map(partial(_count_cells_in_part, tuple(names), dialect), parts))
    return CellCodes.from_values(source, columns), counts


def _count_cells_in_part(names: tuple[str, ...], dialect: Dialect, part: Path) -> SeenCells:
    return count_cells(scan(part, dialect), names)


class _Settled(NamedTuple):
    """The result of a worker for one class."""

    tree: split.SplitTree  # the cuts below it
    rows: ClassRows
    shifted_codes: NDArray[Any]  # codes + 1 of one record of each row, (n_columns, n_rows)


_Slices = list[tuple[Path, int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class _CodedParts:
    """Coded records on the disk, and the tasks of workers; it pickles."""

    folder: Path
    dialect: Dialect
    coding: Coding
    axes: tuple[Axis, ...]
    counted: tuple[str, ...]  # columns whose values the models count
    search: CutSearch  # of all records, without their sensitive values
    publishing: Publishing

    @classmethod
    def from_plan(cls, plan: Plan, folder: Path, dialect: Dialect) -> _CodedParts:
        """Build from a plan; it is the same for every part."""
        search = plan.build_search(np.empty((len(plan.counted), 0), dtype=np.int32))
        return cls(folder, dialect, plan.coding, plan.axes, tuple(plan.counted), search, plan.publishing)

    @property
    def kinds(self) -> tuple[int, ...]:
        """How many sensitive values each counted column has, the missing one included."""
        columns = dict(zip(self.coding.cells.names, self.coding.columns, strict=True))
        return tuple(columns[name].n_values + 1 for name in self.counted)

    def encode_part(self, part: Path) -> list[Path]:
        """Encode a part, batch by batch; return the files of codes."""
        names, paths = self.coding.cells.names, []
        for number, batch in enumerate(scan(part, self.dialect).batches(names, coded=names)):
            if batch.num_rows:
                paths.append(self.folder / f"{part.stem}-{number}.coded.npy")
                self._save_codes(self.coding.table_of_cells([*self.coding.cells.encode_batch(batch)]).codes, paths[-1])
        return paths

    def count_left_sides(self, walk: Walk, class_of_leaf: CodeArray, sides: counting.Sides, path: Path) -> CountArray:
        """Count the records of a file left of every cut; shape (n_classes, n_cuts, n_entries, n_kinds)."""
        table = self._load_table([(path, 0, -1)])
        counts = np.zeros((*sides.columns.shape, sides.begins[-1], math.prod(self.kinds)), dtype=np.int64)
        kind = np.zeros(table.n_rows, dtype=np.int32)
        for name, width in zip(self.counted, self.kinds, strict=True):
            kind = kind * np.int32(width) + table.codes[table.index(name)] + np.int32(1)
        packed = pack_rows(table, self.axes)
        counting.tally_left_sides(packed, class_of_leaf[walk.place_rows(table)], kind, sides, counts)
        return counts

    def write_by_class(self, walk: Walk, n_classes: int, path: Path) -> tuple[Path, list[int]]:
        """Sort the records of a file by class; return the new file and where each class begins and ends."""
        table = self._load_table([(path, 0, -1)])
        labels = walk.place_rows(table)
        dealt = path.with_name(f"{path.name.removesuffix('.coded.npy')}.dealt.npy")
        self._save_codes(table.codes[:, np.argsort(labels, kind="stable")], dealt)
        return dealt, np.append(0, np.cumsum(np.bincount(labels, minlength=n_classes))).tolist()

    def cut_class(self, of_class: tuple[tuple[int, int], _Slices]) -> Path:
        """Cut one class until no cut is left; write its cuts and what its classes publish."""
        (start, end), slices = of_class
        table = self._load_table(slices)
        if table.n_rows != end - start:
            raise change_error()
        packed = pack_rows(table, self.axes)
        sensitive = table.codes[[table.index(name) for name in self.counted]] + np.int32(1)
        order = np.arange(table.n_rows, dtype=np.int32)
        rows = split.Rows(packed.view(np.int64), packed, order, is_weighted=False)
        grown = grow_on_one_core(replace(self.search, sensitive=sensitive), rows, Clock())
        in_order = replace(table, codes=table.codes[:, grown.order])
        class_rows, records, _ = self.publishing.publish_classes(
            in_order, grown.tree.leaf_starts[: grown.tree.cursor[split.LEAVES] + 1]
        )
        # A copy without the room that was not needed.
        tree = concatenate_trees({(0, table.n_rows): Piece(grown.tree, (0, table.n_rows))}, table.n_rows)
        path = self.folder / f"{start}.settled"
        with _rename_when_complete(path) as draft:
            settled = _Settled(tree, class_rows, self._shift_codes(in_order.codes[:, records]))
            draft.write_bytes(pickle.dumps(settled, protocol=5))
        return path

    def _save_codes(self, codes: CodeArray, path: Path) -> None:
        with _rename_when_complete(path) as draft, draft.open("wb") as file:
            np.save(file, self._shift_codes(codes))

    def _shift_codes(self, codes: CodeArray) -> NDArray[Any]:
        return (codes + 1).astype(smallest_code_type(max(column.n_values + 1 for column in self.coding.columns)))

    def _load_table(self, slices: _Slices) -> Table:
        """Load slices of files as one table; an end of -1 is the end of the file."""
        pieces = []
        for path, start, end in slices:
            codes = np.load(path, mmap_mode="r")
            pieces.append(codes[:, start : codes.shape[1] if end < 0 else end])
        return self.coding.table_of_codes(np.concatenate(pieces, axis=1))


class _Open(NamedTuple):
    """A class that is cut here."""

    run: tuple[int, int]  # the positions of its records if all were sorted by class
    place_counts: CountArray  # (n_entries, n_kinds): its records by place of each column and by sensitive values


class _Cut(NamedTuple):
    """A candidate cut: its column, and the places that go left."""

    column: int
    members: CodeArray


class _Ranking:
    """The most promising cuts of one class, ranked by the gain in their own column."""

    def __init__(self, search: CutSearch, place_counts: CountArray, kinds: tuple[int, ...]) -> None:
        rows, kind = _rows_with_counts(search, place_counts)
        sensitive = np.empty((len(kinds), len(kind)), dtype=np.int32)
        if kinds:
            sensitive[:] = np.unravel_index(kind, kinds)
        self.search = replace(search, sensitive=sensitive)
        scratch = ThreadScratch(self.search, rows, len(rows.order))
        scratch.stack_rows(rows)
        self.work = scratch.work
        what = search.axes, scratch.judged, search.deals_ties is None, bool(search.deals_ties), search.options
        self.n_cuts = counting.rank_cuts(rows, *what, self.work, self.work.stack[0, 3:])

    def list_cuts(self) -> list[_Cut]:
        """List the cuts; each sends the first codes of its column's profile left."""
        cuts = []
        for cut in self.work.choice.cuts[: self.n_cuts]:
            begin = int(self.search.axes.columns["begin"][cut["column"]])
            members = self.work.profile.entries["code"][begin : begin + int(cut["length"])]
            cuts.append(_Cut(int(cut["column"]), members.copy()))
        return cuts

    def find_best(self, place_counts: CountArray, lefts: CountArray) -> int:
        """Return the index of the best cut, from the counts of the class and of the cuts' left sides."""
        if self.n_cuts == 1:
            return 0
        marks = np.zeros((-(-self.n_cuts // split.CUTS_PER_BYTE), len(place_counts)), dtype=np.uint8)
        for i, left in enumerate(lefts[: self.n_cuts]):
            for side, of_side in enumerate((left, place_counts - left)):
                occurs = of_side.any(axis=1).astype(np.uint8)
                marks[i // split.CUTS_PER_BYTE] |= occurs << (2 * (i % split.CUTS_PER_BYTE) + side)
        size = int(place_counts[: _column_begins(self.search)[1]].sum())
        return int(
            counting.best_by_marks(self.search.axes, self.work.profile, self.work.choice, self.n_cuts, marks, size)
        )


def _column_begins(search: CutSearch) -> CountArray:
    """Return the offset of each column's places among all, and the total."""
    return np.append(search.axes.columns["begin"], len(search.axes.places))


def _rows_with_counts(search: CutSearch, place_counts: CountArray) -> tuple[split.Rows, CodeArray]:
    """Build rows with counts whose columns have a class's margins, by sensitive values; and these values."""
    begins = _column_begins(search)
    codes, counts, kinds = [], [], []
    for kind in np.flatnonzero(place_counts[: begins[1]].any(axis=0)).tolist():
        places, n_records = sort_columns_separately(
            [place_counts[first:last, kind] for first, last in pairwise(begins.tolist())]
        )
        kind_codes = room_for_rows(len(n_records), np.diff(begins).tolist())
        kind_codes[:, : len(places)] = np.column_stack(places)
        codes.append(kind_codes)
        counts.append(n_records)
        kinds.append(np.full(len(n_records), kind, dtype=np.int32))
    return rows_for_kernels(np.concatenate(codes), np.concatenate(counts)), np.concatenate(kinds)


def _cut_top(
    plan: Plan, records: _CodedParts, workers: Workers, coded_paths: Sequence[Path], margins_of: Sequence[CountArray]
) -> dict[tuple[int, int], Piece]:
    """Cut the large classes; return the pieces of the tree, cuts and uncut classes, by run of records."""
    search, kinds = records.search, records.kinds
    n_records = int(margins_of[0].sum())
    whole_run = (0, n_records)
    pieces = {whole_run: _build_uncut_piece(whole_run)}
    max_records, n_together = (
        max(_MAX_RECORDS_PER_WORKER, n_records // _N_CLASSES_FOR_WORKERS),
        _max_classes_at_once(search, kinds),
    )
    everything = _Cut(0, np.arange(_column_begins(search)[1], dtype=np.int32))
    count = partial(_count_left_sides, plan, records, workers, coded_paths, pieces)
    (place_counts,) = count([(whole_run, [everything])])[0]
    _check_margins(plan, margins_of, place_counts)
    waiting, n_settled = [_Open(whole_run, place_counts)] if n_records > max_records else [], 0
    while waiting:
        batch = [(open_, _Ranking(search, open_.place_counts, kinds)) for open_ in waiting[-n_together:]]
        del waiting[-n_together:]
        cuttable = [(each, ranking, ranking.list_cuts()) for each, ranking in batch if ranking.n_cuts]
        n_settled += sum(each.run[1] - each.run[0] for each, ranking in batch if not ranking.n_cuts)
        counted = count([(each.run, cuts) for each, _, cuts in cuttable])
        for (open_class, ranking, cuts), lefts in zip(cuttable, counted, strict=True):
            best = ranking.find_best(open_class.place_counts, lefts)
            left = lefts[best]
            middle = open_class.run[0] + int(left[: _column_begins(search)[1]].sum())
            sides = (open_class.run[0], middle), (middle, open_class.run[1])
            pieces[open_class.run] = Piece(_build_cut_tree(cuts[best]), open_class.run, sides)
            for run, of_side in zip(sides, (left, open_class.place_counts - left), strict=True):
                pieces[run] = _build_uncut_piece(run)
                if run[1] - run[0] > max_records:
                    waiting.append(_Open(run, of_side))
                else:
                    n_settled += run[1] - run[0]
        # The cuts made here count as the first half of the work.
        plan.request.clock.report_progress(n_settled / n_records / 2)
    return pieces


def _max_classes_at_once(search: CutSearch, kinds: tuple[int, ...]) -> int:
    """Return for how many classes a worker can count cuts at once."""
    n_entries, n_kinds = len(search.axes.places), math.prod(kinds)
    of_one = min(search.n_rescored if search.deals_ties is None else 1, n_entries) * n_entries * n_kinds
    if of_one > _MAX_COUNTS_PER_CLASS:
        msg = (
            f"{n_entries:,} values of the quasi-identifiers beside {n_kinds:,} combinations of sensitive values are "
            "too many to be counted together on a cluster."
        )
        hint = "coarsen columns first, or write the query as Parquet files, and pass their folder."
        raise InputError(msg, hint=hint)
    return max(1, _MAX_COUNTS_AT_ONCE // of_one)


def _count_left_sides(
    plan: Plan,
    records: _CodedParts,
    workers: Workers,
    coded_paths: Sequence[Path],
    pieces: dict[tuple[int, int], Piece],
    cuts_by_run: Sequence[tuple[tuple[int, int], Sequence[_Cut]]],
) -> CountArray:
    """Let workers count the records left of some cuts; shape (n_classes, n_cuts, n_entries, n_kinds)."""
    begins = _column_begins(records.search)
    n_cuts = max((len(cuts) for _, cuts in cuts_by_run), default=0)
    if n_cuts == 0:
        return np.empty((0, 0, begins[-1], math.prod(records.kinds)), dtype=np.int64)
    columns = np.full((len(cuts_by_run), n_cuts), -1, dtype=np.int32)
    starts, goes_left, n_codes = np.zeros((len(cuts_by_run), n_cuts), dtype=np.int64), [], 0
    for i, (_, cuts) in enumerate(cuts_by_run):
        for c, (column, members) in enumerate(cuts):
            of_cut = np.zeros(begins[column + 1] - begins[column], dtype=np.uint8)
            of_cut[members] = 1
            columns[i, c], starts[i, c] = column, n_codes
            goes_left.append(of_cut)
            n_codes += len(of_cut)
    leaves = sorted(run for run, piece in pieces.items() if not piece.parts)
    class_of_leaf = np.full(len(leaves), -1, dtype=np.int32)
    class_of_leaf[[leaves.index(run) for run, _ in cuts_by_run]] = np.arange(len(cuts_by_run))
    walk = CutTree.from_split_tree(concatenate_trees(pieces, leaves[-1][1]), plan.axes).build_walk()
    sides = counting.Sides(columns, starts, np.concatenate(goes_left), begins.astype(np.int64))
    return workers.sum(partial(records.count_left_sides, walk, class_of_leaf, sides), coded_paths)


def _check_margins(plan: Plan, margins_of: Sequence[CountArray], place_counts: CountArray) -> None:
    """Raise InputError if the coded records differ from those that were counted: the data changed meanwhile."""
    begins = np.cumsum([0, *(axis.n_places for axis in plan.axes)]).tolist()
    for axis, (first, last) in zip(plan.axes, pairwise(begins), strict=True):
        j = plan.coding.cells.names.index(axis.column.name)
        expected = np.zeros(last - first, dtype=np.int64)
        np.add.at(expected, axis.place[plan.coding.code_of_cell[j] + 1], margins_of[j])
        if not np.array_equal(place_counts[first:last].sum(axis=1), expected):
            raise change_error()


def _build_uncut_piece(run: tuple[int, int]) -> Piece:
    """Build the piece of a class without a cut."""
    none = np.empty(0, dtype=np.int32)
    one = np.array([-1], dtype=np.int32), np.zeros(1, dtype=np.int32), none, np.zeros(2, dtype=np.int32)
    return Piece(split.SplitTree(*one, tree_cursor(1, n_leaves=1, n_members=0)), run)


def _build_cut_tree(cut: _Cut) -> split.SplitTree:
    column, length = np.array([[cut.column], [len(cut.members)]], dtype=np.int32)
    cursor = tree_cursor(1, n_leaves=0, n_members=len(cut.members))
    return split.SplitTree(column, length, cut.members, np.zeros(1, dtype=np.int32), cursor)


def _collect_results(
    plan: Plan, pieces: dict[tuple[int, int], Piece], paths_by_run: Sequence[tuple[tuple[int, int], Path]]
) -> tuple[Walk, int, ClassRows, NDArray[Any]]:
    """Read the results of workers, in order of classes; return the walk, its number of nodes, and the classes' rows."""
    rows, shifted = [], []
    for run, path in paths_by_run:
        settled: _Settled = pickle.loads(path.read_bytes())
        path.unlink()
        pieces[run] = Piece(settled.tree, run)
        rows.append(settled.rows)
        shifted.append(settled.shifted_codes)
    tree = concatenate_trees(pieces, paths_by_run[-1][0][1])
    pieces.clear()
    walk = CutTree.from_split_tree(tree, plan.axes).build_walk()
    n_nodes = len(tree.columns)
    # Free its memory before the rows are concatenated.
    del tree
    return walk, n_nodes, ClassRows.concatenate(rows), np.concatenate(shifted, axis=1)


@contextmanager
def _rename_when_complete(path: Path) -> Iterator[Path]:
    """Rename a file when it is complete: another try of the task may write it at the same time."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    yield draft
    draft.replace(path)


def _remove_files(paths: Sequence[Path]) -> None:
    for path in paths:
        path.unlink()
