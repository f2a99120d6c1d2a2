"""Publish new rows by the cells of an earlier release."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hushtable import engines
from hushtable._types import BoolArray, CodeArray
from hushtable.anonymizers.finishing import release_of
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.method import Found
from hushtable.anonymizers.placement import Routes, with_own_units
from hushtable.anonymizers.preparation import Prepared, Request, prepare, round_source
from hushtable.claims import coverage_matrix, covers_row_value, pair_rows
from hushtable.columns import SUPPRESSED, Kind, cast_exactly
from hushtable.errors import ColumnError, InputError, LimitError, check_type, quote_names
from hushtable.io import Frame, drafts
from hushtable.models import DistinctLDiversity, PrivacyModel
from hushtable.recoding import Written, recoding
from hushtable.release import Edition, ExposureLimit, Pseudonyms, Release, Rewritten
from hushtable.search import Clock
from hushtable.tables import Partition, Table, encode_table, open_table

if TYPE_CHECKING:
    from hushtable.anonymizers.batch_classes import BatchClasses
    from hushtable.anonymizers.shared_persons import EarlierBatch
    from hushtable.engines import Files, Lazy
    from hushtable.risk import OwnAttacks


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The classes that publish the rows of a batch."""

    classes: CodeArray  # -1 where no cells cover a row
    cells: Mapping[str, Written]  # of the earlier classes, then of new ones with units of their own
    unfit: Mapping[str, BoolArray]  # by column, (n_rows,): whether its cell does not cover the row


_MAX_ROWS_AT_ONCE: Final = 4096  # rows that are compared with all classes


@dataclass(frozen=True, slots=True, eq=False)
class LearnedRecoding:
    """The cells of a release, and the rules that place new rows in them.

    Attributes
    ----------
    asked : Request
        What is asked of new rows: what was asked of the release. Its hierarchies mean what they meant there,
        whatever values new rows hold.
    columns : tuple of str
        The columns of a table of new rows.
    kinds : mapping of quasi-identifier to Kind
    cells : mapping of quasi-identifier to Written
        What classes publish, every combination of cells once.
    style : str
        The recoding of the release.
    routes : Routes, optional
        The cuts that made the classes, where a search cuts.
    class_of_leaf : ndarray of int32
        The class of everything that `routes` ends in; empty without them.
    cells_of_cuts : mapping of quasi-identifier to Written
        What all rows below each cut of `routes` would publish together, cut by cut; empty without them.
    hidden : tuple of str
        Columns that become pseudonyms.
    limit : ExposureLimit, optional
        Of the columns that are kept as they are; None where nobody measures what they expose.
    accepted : mapping of column to str
    is_enforced : bool
        As `hushtable.release.release.Release.with_exposure` takes them.
    fresh : tuple of str
        Those of ``hidden`` of which every record gets a new one.
    from_data : mapping of quasi-identifier to str
        What in its cells and routes comes from the data, neither from a grid nor from a hierarchy's file.
    digest : str or None
        The SHA-256 that its file says of itself; None where it came from none.
    policy_sha256 : str or None
        Of the policy of the release that it was learned from; None where there was none.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "pay": [1, 2, 3, 4]})
    >>> release = ht.anonymize(
    ...     people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], method=ht.Mondrian(recoding="readable")
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release.save_recoding(f"{folder}/ages.json")
    ...     learned = ht.Recoding.read(f"{folder}/ages.json")
    >>> learned.apply(pl.DataFrame({"age": [20, 33], "pay": [5, 6]})).frame.rows()
    [('<35', 5), ('<35', 6)]
    """

    asked: Request = field(repr=False)
    columns: tuple[str, ...]
    kinds: Mapping[str, Kind]
    cells: Mapping[str, Written] = field(repr=False)
    style: str
    routes: Routes | None = field(default=None, repr=False)
    class_of_leaf: CodeArray = field(default_factory=lambda: np.empty(0, dtype=np.int32), repr=False)
    hidden: tuple[str, ...] = ()
    limit: ExposureLimit | None = None
    accepted: Mapping[str, str] = field(default_factory=dict)
    is_enforced: bool = False
    fresh: tuple[str, ...] = ()
    cells_of_cuts: Mapping[str, Written] = field(default_factory=dict, repr=False)
    from_data: Mapping[str, str] = field(default_factory=dict, repr=False)
    digest: str | None = None
    policy_sha256: str | None = None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> LearnedRecoding:
        """Read what `save` wrote.

        Raises
        ------
        InputError
            The file cannot be read, or is none.
        """
        # Few commands read or write one, and a command loads what it runs.
        from hushtable.anonymizers.recoding_files import DIGEST, parse_parts, read_recoding

        contents = read_recoding(Path(path))
        return cls(**parse_parts(contents), digest=contents.get(DIGEST))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Save the recoding to a file; see `hushtable.release.release.Release.save_recoding`."""
        from hushtable.anonymizers.recoding_files import write_recoding

        self.check_saveable()
        parts = {each.name: getattr(self, each.name) for each in fields(self)}
        write_recoding(parts, Path(path), overwrite=overwrite)

    def check_saveable(self) -> None:
        """Raise InputError if the file would hold values from the data, or could not place new rows."""
        if self.from_data:
            reasons = "; ".join(f"{name!r} {what}" for name, what in self.from_data.items())
            raise InputError(
                f"the recoding cannot be saved, for the file would hold values of people: column {reasons}.",
                hint="write into the policy for such a category `hierarchy: FILE` (a line `value;group` for each "
                "value), for dates `hierarchy: {dates: [month, quarter, year]}`, for numbers `recoding: readable`.",
            )
        if self.routes is None:
            raise InputError(
                "the recoding cannot be saved: where its cells overlap, nothing says where a row goes.",
                hint="take the method mondrian, with strict=True and exchange=False.",
            )

    @property
    def n_classes(self) -> int:
        """How many combinations of cells there are."""
        return len(next(iter(self.cells.values())).label)

    def learn_from(self, release: Release) -> LearnedRecoding:
        """Return itself: a release by learned cells learns no new ones."""
        del release
        return self

    def attack_cuts(self, release: Release, attacks: OwnAttacks, *, seed: int) -> OwnAttacks:
        """Return the attacks on a batch, saying that its cells were cut elsewhere."""
        from hushtable.anonymizers.untaken_cuts import without_cuts
        from hushtable.risk import CELLS_OF_EARLIER

        del seed
        judges_values = any(model.needs.sensitive for model in release.models)
        return without_cuts(attacks, CELLS_OF_EARLIER) if judges_values else attacks

    def apply(
        self,
        rows: Any,
        *,
        earlier: Any = None,
        previous: Sequence[object] = (),
        distinct_persons: bool = False,
        key: bytes | None = None,
        engine: engines.EngineChoice = "auto",
        session: object = None,
    ) -> Release:
        """Publish new rows by the cells of the earlier release.

        Every row goes where the earlier search would have put it. If that search does not cut, a row goes to the
        narrowest cells that cover it. A row that its cell does not cover gets another one. Instead of a calendar unit
        or a prefix, it gets its own one of that length. Instead of an interval of dates, it gets the calendar unit that
        is as long. Numbers get what lies between the cuts around them. If the new rows of a class fail a model by
        themselves, they are published by the wider cells of the cut above. If that fails at every cut, they are
        suppressed. The new rows are judged alone because whoever holds the earlier release can subtract it.

        Parameters
        ----------
        rows : path, dataframe, lazy frame or Table
            With the columns that the earlier table had, wherever these rows are.
        earlier : path, dataframe or Table, optional
            The rows of the earlier release, which the new one replaces: all are published, and judged together.
            Only where nobody has the earlier release.
        previous : sequence of path, dataframe, Table or Release
            Earlier batches that stay published. The persons who are in them, too, are counted, and those of them who
            share all their cells with fewer than k. `Release.apply` counts those of its own rows by itself.
        distinct_persons : bool
            Leave out the records of persons who are in previous batches.
        key : bytes, optional
            The secret of pseudonyms, where columns get them. A recoding in memory knows the earlier one, under which
            the records of one person can be linked.
        engine, session
            Where the rows of files are, and of lazy rows; as `hushtable.anonymize` takes them.

        Returns
        -------
        Release

        Raises
        ------
        ColumnError
            The columns are not those that the earlier table had, or of other kinds.
        InfeasibleError
            No class is left.
        InputError
            Rows that are not in memory are to be judged together with earlier ones, or get pseudonyms that their engine
            cannot draw. Previous rows are lacking, or were given without a person column or with earlier rows.

        Notes
        -----
        The loss is the set-NCP. O(depth of the cuts) a row; without cuts, rows are compared with all classes, column
        by column.
        """
        self._check_previous(earlier, previous, distinct_persons=distinct_persons)
        before = [self._find_persons(each, key) for each in previous]
        origin = engines.open_origin(rows, engine=engine, session=session)
        if origin is None:
            release = self._publish_rows(rows, earlier, key, before, distinct_persons=distinct_persons)
        elif earlier is None:
            release = self._publish_distinct(origin, key, before, distinct_persons=distinct_persons)
        else:
            raise InputError(
                "new rows that are not in memory are not judged together with earlier ones.", hint="leave those out."
            )
        self._check_suppression(release)
        if self.limit is None:
            return release
        return release.with_exposure(self.limit, accepted=self.accepted, is_enforced=self.is_enforced)

    def _check_previous(self, earlier: object, previous: Sequence[object], *, distinct_persons: bool) -> None:
        """Raise InputError if previous rows are needed and missing, or given and of no use."""
        check_type(previous, (list, tuple), "previous", "a list: previous=[...]")
        if distinct_persons and not previous:
            raise InputError(
                "persons of previous batches are to be left out, and no such batch was given.",
                hint="give their rows: previous=[...], --previous FILE.",
            )
        if previous and self.asked.person is None:
            raise InputError(
                "previous batches were given, and nobody said whose record a row is.",
                hint="name that column in the policy of the first release (`person:`), and save its recoding again.",
            )
        if previous and earlier is not None:
            raise InputError(
                "previous batches were given with earlier rows that are published again.",
                hint="a release that replaces the earlier one shares no person with it: leave one of the two out.",
            )

    def _check_suppression(self, release: Release) -> None:
        """Raise LimitError if the cells of more records are all ``*`` than the first release might suppress."""
        n_suppressed, n_records = release.count_blank_records()
        if not self.asked.limits.allows_suppression(n_suppressed, n_records):
            unfit = release.batch.unfit_by_column if release.batch else {}
            most = max(unfit, key=lambda name: unfit[name], default=None)
            what = f" Most often no cell covers {most!r} ({unfit[most]:,} records)." if most and unfit[most] else ""
            limit, share = f"{self.asked.limits.suppression:.2%}", f"{n_suppressed / n_records:.2%}"
            raise LimitError(
                f"{n_suppressed:,} of {n_records:,} new records would publish no cell but *, {share}: above the limit "
                f"of {limit} of the release whose cells they get.{what}",
                hint="look at what changed in the new rows; if they are right, anonymize them and save that recoding.",
            )

    def _publish_rows(
        self,
        rows: object,
        earlier: object,
        key: bytes | None,
        before: Sequence[EarlierBatch] = (),
        *,
        distinct_persons: bool = False,
    ) -> Release:
        """Place rows that are in memory, judge them, and build the release."""
        # Only who publishes a next batch needs it.
        from hushtable.anonymizers.shared_persons import Appearance, find_alike, find_shared, name_persons_as_in

        request, prepared, judge = self._prepare_rows(rows, earlier, key)
        before = name_persons_as_in(prepared.table, str(request.person), before) if before else before
        is_shared = find_shared(prepared.table, str(request.person), before) if before else None
        placed = self._find_classes(prepared.table, judge, is_shared if distinct_persons else None)
        batch = placed.describe(judge.table.counts, replaces_earlier=earlier is not None)
        used, labels = np.unique(placed.classes, return_inverse=True)
        # `np.unique` sorts: -1, the rows without a class, comes first if there are any.
        is_class = used >= 0
        of_row: CodeArray = (labels - np.count_nonzero(~is_class)).astype(np.int32)
        partition = Partition.from_labels(of_row, int(is_class.sum()), prepared.table.counts)
        published_recoding = recoding.Recoding(
            tuple(prepared.table.column(name) for name in self.cells),
            tuple(cell.take(used[is_class].astype(np.int64)) for cell in placed.cells.values()),
            self.style,
        )
        trace = request.clock.build_trace("the cells of an earlier release", self.n_classes)
        found = Found(partition, published_recoding, trace)
        release = release_of(prepared, judge, request, found, partition, leaves_out=batch.n_left_out > 0)
        if before:
            shown = np.flatnonzero(~placed.is_left_out)
            judged = [name for name in request.judged if name not in request.parted]
            table = prepared.table.take(shown)
            alike = find_alike(
                Appearance.from_table(table, str(request.person), partition.labels[shown], judged), before
            )
            batch = replace(
                batch,
                n_shared_persons=len(alike.n_persons),
                n_few_alike=alike.count_few_persons(judge.min_size),
                n_few_values=alike.count_few_values(_fewest_values(request.models)),
            )
        batch = replace(batch, recoding_sha256=self.digest)
        return replace(release, batch=batch, learner=self, policy_sha256=self.policy_sha256)

    def _prepare_rows(self, rows: object, earlier: object, key: bytes | None) -> tuple[Request, Prepared, Judge]:
        """Read and code rows, and return with them what is asked of them and who judges their classes."""
        request = replace(self.asked, pseudonyms=self.pseudonyms(key), clock=Clock())
        request = replace(request, inputs=(*request.inputs, *drafts.paths_among(rows, earlier)))
        prepared = prepare(self._read_rows_with_earlier(rows, earlier), request)
        self._check_kinds(prepared.table)
        judge = Judge(prepared.table, request.asked_of_classes, prepared.ladders, person=request.person)
        return request, prepared, judge

    def _publish_distinct(
        self, origin: Files | Lazy, key: bytes | None, before: Sequence[EarlierBatch], *, distinct_persons: bool
    ) -> Release:
        """Place the distinct rows of an origin with their counts, judge them, and publish all records by them."""
        from hushtable.anonymizers.beyond_memory import DistinctRows, read_as_requested

        self.check_columns(origin.names)
        origin = read_as_requested(origin, self.asked)
        request = replace(self.asked, pseudonyms=self.pseudonyms(key))
        rows = DistinctRows.from_request(origin, request, origin.head())
        narrow = replace(self, asked=rows.request, columns=rows.names, hidden=(), fresh=(), limit=None)
        counted = origin.collapse(rows.names)
        release = narrow._publish_rows(counted, None, None, before, distinct_persons=distinct_persons)
        return rows.release_all(release)

    def recode(self, rows: Any) -> Any:
        """Return rows with the cells of the earlier release, judged by nobody: what a model reads, not to be published.

        Parameters
        ----------
        rows : path, dataframe or Table
            With the columns that the earlier table had, in any number.

        Returns
        -------
        dataframe or Table
            As many rows; one that no cell covers has ``*`` in every quasi-identifier.
        """
        data = round_source(self._read_rows_with_earlier(rows, None), self.asked.rounding)
        table = Table.encode(data, tuple(self.cells), self.asked.specs)
        self._check_kinds(table)
        placed = self._place_rows(table)
        rewritten = {
            name: Rewritten(np.append(cell.label, np.int32(len(cell.texts)))[placed.classes], (*cell.texts, SUPPRESSED))
            for name, cell in placed.cells.items()
        }
        published = tuple(name for name in self.columns if name not in self.asked.removed)
        return Edition(data, published, rewritten, pseudonyms=self.pseudonyms(None)).native

    def classes(self, table: Table) -> CodeArray:
        """Return the class whose cells cover each row of a table, -1 where none does; shape (n_rows,)."""
        classes = self._place_rows(table).classes
        return np.where(classes < self.n_classes, classes, np.int32(-1))

    def _find_persons(self, batch: object, key: bytes | None) -> EarlierBatch:
        """Return whose records a previous batch holds, and by which classes they were published, as far as it tells."""
        from hushtable.anonymizers.shared_persons import Appearance, EarlierBatch

        person = str(self.asked.person)
        if isinstance(batch, Release):
            table = Table.encode(batch.source, (person,), self.asked.specs)
            return EarlierBatch((Appearance.from_table(table, person, batch.partition.labels),))
        # Rows do not tell whether the first release published them, by finished cells, or a later one, which climbed.
        _, prepared, judge = self._prepare_rows(batch, None, key)
        classes = self._find_classes(prepared.table, judge, None).classes, self.classes(prepared.table)
        found = EarlierBatch(tuple(Appearance.from_table(prepared.table, person, each) for each in classes))
        if not found.present:
            raise InputError(
                f"a previous batch says of no record whose it is: column {person!r} is empty.",
                hint="give its rows as they were before they were published.",
            )
        return found

    def _find_classes(self, table: Table, judge: Judge, left_out: BoolArray | None) -> BatchClasses:
        """Return the classes by which the rows of a batch are published; each passes by these rows alone."""
        # Imported late: only a next batch needs it.
        from hushtable.anonymizers.batch_classes import CellTree, find_batch_classes, judge_classes

        is_left_out: BoolArray = np.zeros(table.n_rows, dtype=bool) if left_out is None else left_out
        if self.routes is None or not self.cells_of_cuts:
            placed = self._place_rows(table)
            return judge_classes(placed.classes, placed.cells, placed.unfit, judge, is_left_out)
        hierarchies = self.asked.hierarchies
        in_order = [name for name in self.cells if name not in hierarchies and table.column(name).is_measured]
        tree = CellTree.build(self.routes, self.cells, self.class_of_leaf, self.cells_of_cuts, hierarchies, in_order)
        return find_batch_classes(tree, judge, is_left_out, hides_persons=self.asked.hides_person)

    def _place_rows(self, table: Table) -> Placed:
        """Place every row of a table; rows outside a calendar unit or prefix get their own one of that length."""
        distinct, inverse = table.select(tuple(self.cells)).collapse()
        meanings = {**self.asked.hierarchies, **{name: cell.means for name, cell in self.cells.items() if cell.means}}
        if self.routes is None:
            classes = self._find_covering_classes(distinct, meanings)
            unfit = {}
            for (name, cell), column, codes in zip(self.cells.items(), distinct.columns, distinct.codes, strict=True):
                covers = coverage_matrix(cell.texts, [*column.texts(), None], column.spec, meanings.get(name), name)
                unfit[name] = ~np.any(covers, axis=0)[codes][inverse]
            return Placed(classes[inverse], self.cells, unfit)
        class_of = self.class_of_leaf[self.routes.place_rows(distinct, meanings)]
        labels, cells, unfit = [], {}, {}
        for (name, cell), column, codes in zip(self.cells.items(), distinct.columns, distinct.codes, strict=True):
            covered = covers_row_value(cell.texts, column, meanings.get(name), cell.label[class_of], codes)
            label, cells[name] = with_own_units(cell, column, meanings.get(name), cell.label[class_of], codes, covered)
            labels.append(label)
            unfit[name] = (label < 0)[inverse]
        classes, all_cells = _with_new_classes(class_of, np.stack(labels), cells)
        return Placed(classes[inverse], all_cells, unfit)

    def _find_covering_classes(self, table: Table, meanings: Mapping[str, Any]) -> CodeArray:
        """Return the class that covers each row, the one of least loss among several; -1 if there is none."""
        order = np.argsort(np.mean([cell.lost for cell in self.cells.values()], axis=0), kind="stable")
        cells = np.stack([cell.label[order] for cell in self.cells.values()])
        best = np.full(table.n_rows, self.n_classes)
        for begin in range(0, table.n_rows, _MAX_ROWS_AT_ONCE):
            classes, rows = pair_rows(
                [cell.texts for cell in self.cells.values()],
                cells,
                [[None, *column.texts()] for column in table.columns],
                table.codes[:, begin : begin + _MAX_ROWS_AT_ONCE] + 1,
                [column.spec for column in table.columns],
                [meanings.get(name) for name in self.cells],
                tuple(self.cells),
            )
            np.minimum.at(best, begin + rows, classes)
        return np.asarray(np.append(order, -1).astype(np.int32)[best])

    def _read_rows_with_earlier(self, rows: Any, earlier: Any) -> Frame | Table:
        """Read the new rows, and put them below the earlier ones if these are given."""
        # Only a next batch needs them.
        from hushtable.columns import column_of_cell_values
        from hushtable.io import refuse_odd_cells, spell_as

        data = open_table(rows, self.asked.specs)
        self.check_columns(data.names)
        unpublished = (*self.asked.removed, *self.hidden)
        if isinstance(data, Frame):
            # Check before `spell_as` changes the spelling of cells.
            data, undecided = data.without_odd_cells([name for name in data.columns if name not in unpublished])
            refuse_odd_cells(undecided)
            kinds = self.kinds
            data = spell_as(data, {n: column_of_cell_values(n, cell.texts, kinds[n]) for n, cell in self.cells.items()})
        if earlier is None:
            return data
        before = open_table(earlier, self.asked.specs)
        self.check_columns(before.names)
        if self.asked.person is not None and isinstance(before, Frame) and isinstance(data, Frame):
            from hushtable.anonymizers.shared_persons import spell_persons_as

            # A person whom two programs write differently would count as two.
            data = spell_persons_as(data, before, self.asked.person, self.asked.specs)
        return _with_rows(before, data)

    def pseudonyms(self, key: bytes | None) -> Pseudonyms | None:
        """Return how pseudonyms are made: with the given key, or with the earlier one."""
        keyed = tuple(name for name in self.hidden if name not in self.fresh)
        if key is None and self.asked.pseudonyms is not None:
            return self.asked.pseudonyms
        if (key is not None) == bool(keyed):
            return Pseudonyms(keyed, key, self.fresh) if self.hidden else None
        what = f"columns {quote_names(keyed)} become pseudonyms, and there is no key"
        raise InputError(
            f"{what if keyed else 'a key was given, and no column becomes a pseudonym'}.",
            hint="a key (key=, --key-file) goes with pseudonyms: the earlier one links the records of a person.",
        )

    def check_columns(self, names: tuple[str, ...]) -> None:
        """Raise ColumnError if the new rows do not have exactly the columns of the earlier table."""
        lacking = [name for name in self.columns if name not in names]
        strange = [name for name in names if name not in self.columns]
        if lacking or strange:
            what = f"lack columns {quote_names(lacking)}" if lacking else f"have columns {quote_names(strange)} besides"
            raise ColumnError(
                f"the rows {what}.",
                hint="they need the columns of the earlier table: what has no role is not released.",
            )

    def _check_kinds(self, table: Table) -> None:
        """Raise ColumnError if a column has another kind than in the earlier table."""
        for name, kind in self.kinds.items():
            if table.column(name).kind != kind:
                raise ColumnError(
                    f"column {name!r} is of kind {table.column(name).kind}, and was {kind} in the earlier table.",
                    hint="write its values as the earlier table did.",
                )


def _fewest_values(models: Sequence[PrivacyModel]) -> dict[str, int]:
    """Return how many distinct values a class must have of sensitive columns, where a model says it."""
    return {model.sensitive: model.l for model in models if isinstance(model, DistinctLDiversity)}


def _with_new_classes(
    class_of: CodeArray, labels: CodeArray, cells: Mapping[str, Written]
) -> tuple[CodeArray, Mapping[str, Written]]:
    """Return the class of every row, and the cells with those of new classes added; -1: no cell covers it."""
    old_labels = np.stack([cell.label for cell in cells.values()])
    fits = (labels >= 0).all(axis=0)
    new = np.flatnonzero(fits & (labels != old_labels[:, class_of]).any(axis=0))
    classes = np.where(fits, class_of, np.int32(-1))
    if not len(new):
        return classes, cells
    # Equal combinations of labels are one class.
    _, first, number = np.unique(
        np.hstack((old_labels, labels[:, new])), axis=1, return_index=True, return_inverse=True
    )
    places = first[number.ravel()]
    added, dense = np.unique(places[places >= old_labels.shape[1]], return_inverse=True)
    classes[new] = places[old_labels.shape[1] :]
    classes[new[classes[new] >= old_labels.shape[1]]] = old_labels.shape[1] + dense
    rows = new[added - old_labels.shape[1]]
    return classes, {
        name: replace(
            cell,
            label=np.append(cell.label, labels[j, rows].astype(np.int32)),
            # A new unit is as long as the old one of its class, so it loses as much.
            lost=np.append(cell.lost, cell.lost[class_of[rows]]),
            lost_by_rank=np.append(cell.lost_by_rank, cell.lost_by_rank[class_of[rows]]),
        )
        for j, (name, cell) in enumerate(cells.items())
    }


def _with_rows(earlier: Frame | Table, rows: Frame | Table) -> Frame | Table:
    """Append new rows to the earlier ones, in the form and types of the earlier table."""
    if isinstance(earlier, Table):
        coded = encode_table(rows, earlier.names)
        joined = earlier.with_population(coded)
        return replace(joined, counts=np.append(earlier.counts, coded.counts))
    frame = rows.frame()
    cells = []
    for name in earlier.columns:
        cast = cast_exactly(frame.column(name), earlier.column(name).dtype)
        if cast is None:
            raise ColumnError(
                f"column {name!r} of the new rows holds values that its type in the earlier rows cannot hold.",
                hint="write the column in both files alike: as text, or as numbers.",
            )
        cells.append(cast.alias(name))
    return earlier.with_rows([replace(earlier.build_alike(cells), counts=frame.counts)])


Recoding = LearnedRecoding
"""Public name of `LearnedRecoding`."""
