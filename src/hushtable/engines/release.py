"""The release of a table that is not in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic

import numpy as np

from hushtable._types import CodeArray, CountArray, FrameT
from hushtable.anonymizers import LearnedRecoding
from hushtable.claims import Certificate, Classes, Matchings, Verdict, group
from hushtable.columns import Column, enumerated
from hushtable.discover import MOST_ROWS, Determined, Named, added, has_room_for_names, look_for_names
from hushtable.engines.lazy import Lazy
from hushtable.engines.published_cells import PublishedCells, frame_of
from hushtable.errors import ColumnError, ExposureError, InputError, TooManyRowsError, with_hint
from hushtable.io import Dialect, Frame, frames
from hushtable.quality import Quality, Utility, among
from hushtable.recoding import Recoding
from hushtable.release import (
    AppliedMapping,
    Batch,
    Codebook,
    Exposure,
    ExposureLimit,
    KeptColumns,
    OfClaim,
    Pseudonyms,
    Release,
    Uniques,
    check_before_writing,
    check_by,
    find_shown_identifiers,
    kept_columns_facts,
    measure_exposure,
    undoing,
)
from hushtable.search import Budget, Trace
from hushtable.tables import Partition, encoded, totals

if TYPE_CHECKING:
    from hushtable.engines.files import Files
    from hushtable.risk import OwnAttacks

__all__ = ["MOST_ATTACKED", "RemoteRelease"]

MOST_ATTACKED: Final = 5_000_000
"""Records that attacks look at, one by one, of a release whose rows are not in memory."""

_PART: Final = Path("part.parquet")
_HELD: Final = 2**20  # distinct rows of kept columns past which they are counted on the disk


@dataclass(frozen=True, slots=True, eq=False)
class RemoteRelease(OfClaim, Generic[FrameT]):
    """A protected table whose rows are not in memory: in files, or in an engine.

    What was found is told of its distinct rows, as a `Release` tells it.

    Attributes
    ----------
    distinct : Release
        Of the distinct rows of the columns that were judged, each with how many records it stands for.
    origin : Files or Lazy
        Where all rows are.
    removed : tuple of str
        Columns that the release leaves out.
    pseudonyms : Pseudonyms or None
    exposure : Exposure, optional
        Who can be found by the columns that are kept as they are, alone; None where nobody has measured it.
    """

    distinct: Release
    origin: Files | Lazy = field(repr=False)
    removed: tuple[str, ...] = ()
    pseudonyms: Pseudonyms | None = None
    exposure: Exposure | None = field(default=None, repr=False)

    @property
    def engine(self) -> str:
        """What holds the rows: "stream" for files, else "polars", "duckdb" or "pyspark"."""
        return self.origin.engine.name.lower() if isinstance(self.origin, Lazy) else "stream"

    @property
    def is_row_by_row(self) -> bool:
        """Whether the distinct rows were too many to be counted: `distinct` then has a row of every class alone."""
        return (self.origin.walked if isinstance(self.origin, Lazy) else self.origin.numbered) is not None

    @property
    def margins(self) -> Frame:
        """Rows with counts whose columns hold each cell of the judged columns as often as all records do."""
        margins = self.origin.margins
        return frames.read(self.distinct.source) if margins is None else margins.told(self.specs)

    @property
    def claim(self) -> Classes | Matchings:
        """What the release promises."""
        return self.distinct.claim

    @property
    def partition(self) -> Partition:
        """The classes of the distinct rows; sizes are in records."""
        return self.distinct.partition

    @property
    def recoding(self) -> Recoding:
        """What the classes publish."""
        return self.distinct.recoding

    @property
    def loss(self) -> float:
        """The value of the objective on the published values."""
        return self.distinct.loss

    @property
    def quality(self) -> Quality:
        """How much was lost, by other measures."""
        return self.distinct.quality

    @property
    def trace(self) -> Trace:
        """How the search went."""
        return self.distinct.trace

    @property
    def n_suppressed(self) -> int:
        """How many records are suppressed."""
        return self.distinct.n_suppressed

    @property
    def columns(self) -> tuple[str, ...]:
        """The published columns, in order."""
        return tuple(name for name in self.origin.columns if name not in self.removed)

    @property
    def cells(self) -> PublishedCells:
        """What is published of every distinct row, in Parquet."""
        return self._cells(_PART)

    def _cells(self, path: Path) -> PublishedCells:
        """Return what is published of every distinct row in a file of a kind."""
        suppressed, drops = self.distinct.suppressed, self.distinct.drops_suppressed
        edition, source = replace(self.distinct.edition, rows=None), frames.read(self.distinct.source)
        names = [name for name in self.columns if name in (*edition.rewritten, *edition.starred, *edition.as_text)]
        # Column by column, because memory is short: rows may be many, and texts are long.
        alone = ((name, edition.select([name]).for_file(path)[0].column(name)) for name in names)
        return PublishedCells.of(
            keys={name: source.column(name) for name in source.columns},
            published={name: enumerated(cells) for name, cells in alone},
            is_published=~suppressed if drops else np.ones(len(suppressed), dtype=bool),
            columns=self.columns,
            pseudonyms=self.pseudonyms,
            counts=source.records,
        )

    @property
    def frame(self) -> FrameT:
        """The protected table as a lazy frame of the engine: same columns, nothing computed yet.

        ExposureError where a column of it looks like a direct identifier, and nobody accepted it.
        """
        if self.exposure is not None:
            self.exposure.raise_if_identifiers()
        lazy: FrameT = self.origin.published(self.cells)
        return lazy

    @property
    def hierarchies(self) -> Mapping[str, Any]:
        """The hierarchies, aligned to the columns."""
        return self.distinct.hierarchies

    @property
    def batch(self) -> Batch | None:
        """How it came about, where its rows were published by the cells of an earlier release."""
        return self.distinct.batch

    @property
    def certificate(self) -> Certificate | None:
        """Why no release of its kind loses less, which the distinct rows prove; see `Release.certificate`."""
        return self.distinct.certificate

    @property
    def counted(self) -> Release:
        """The release of the distinct rows, each with its count, as all records are published: with pseudonyms."""
        known = frames.read(self.distinct.source).columns
        keyed = [name for name in known if self.pseudonyms and name in self.pseudonyms.keyed]
        return replace(self.distinct, pseudonyms=self.pseudonyms.of(keyed) if self.pseudonyms else None)

    @property
    def codebook(self) -> Codebook:
        """What the readers of the release need to know of its columns, those that are kept among them."""
        told = self.distinct.codebook
        # The distinct rows lack the columns that are kept: no cell of them is told.
        edition = replace(told.edition, columns=self.columns, pseudonyms=self.pseudonyms)
        count = self._counted_by_record if self.is_row_by_row else None
        return replace(told, edition=edition, removed=self.removed, count=count)

    def _counted_by_record(self, column: Column, group_of_row: CodeArray, n_groups: int) -> CountArray:
        """Count the records that have every value of a column, by groups of the rows they were put together to.

        A row of a class holds the cells of one of its records, which say nothing of the others. On Spark the others
        are not here: of a single group their margins tell, of several nothing is counted, so that no value is listed.
        """
        if isinstance(self.origin, Lazy):
            found = np.zeros((n_groups, column.n_values), dtype=np.int64)
            if n_groups == 1:
                table = encoded(self.margins, [column.name], self.specs)
                found[0] = totals(table, column.name)[1:]
            return found
        assert self.origin.numbered is not None
        records, row_of_record = self.origin.numbered
        margins, place = records.margins(), records.cells.names.index(column.name)
        table = encoded(margins.frame.told(self.specs), [column.name], self.specs)
        value_of_cell = np.full(records.cells.widths[place], column.n_values, dtype=np.int64)
        codes = table.codes[table.index(column.name)]
        value_of_cell[margins.places[place]] = np.where(codes < 0, column.n_values, codes)
        width = column.n_values + 1
        counts = np.zeros(n_groups * width, dtype=np.int64)
        for begin in range(0, records.n_records, _HELD):
            run = slice(begin, begin + _HELD)
            pairs = group_of_row[row_of_record[run]].astype(np.int64) * width + value_of_cell[records.codes[place][run]]
            counts += np.bincount(pairs, minlength=len(counts))
        return np.asarray(counts.reshape(-1, width)[:, :-1])

    def _check_distinct(self, what: str) -> None:
        """Raise InputError where the distinct rows are not known: what takes them."""
        if self.is_row_by_row:
            msg = with_hint(
                f"{what} takes the distinct rows; these hardly repeat, so that the records were cut one by one.",
                "ask it of the release of a part of the files that fits, or take engine='memory'.",
            )
            raise InputError(msg)

    def classes(self) -> Any:
        """Return the classes as they are published, with their sizes; see `Release.classes`."""
        return self.distinct.classes()

    @property
    def learned(self) -> LearnedRecoding:
        """The cells of the release and where new rows go, of all its columns; see `Release.learned`.

        Raises
        ------
        InputError
            The records were cut one by one: their distinct rows are not known.
        """
        if self.is_row_by_row:
            msg = with_hint(
                "the rows hardly repeat, so that its records were cut one by one: what new rows are published by is "
                "not kept.",
                "anonymize a part of the files that fits, and publish the others by its cells.",
            )
            raise InputError(msg)
        of_distinct = self.distinct.learned
        assert isinstance(of_distinct, LearnedRecoding)
        exposure = self.exposure
        return replace(
            of_distinct,
            asked=replace(of_distinct.asked, identifiers=self.removed, pseudonyms=self.pseudonyms),
            columns=self.origin.columns,
            hidden=self.pseudonyms.columns if self.pseudonyms else (),
            fresh=self.pseudonyms.fresh if self.pseudonyms else (),
            limit=exposure.limit if exposure else None,
            accepted=exposure.accepted if exposure else {},
            is_enforced=exposure is not None and exposure.is_enforced,
        )

    def apply(self, rows: Any, *, key: bytes | None = None, session: Any = None) -> RemoteRelease[Any]:
        """Publish new rows by the cells of this release, judged by themselves; see `Release.apply`.

        Parameters
        ----------
        rows : path or lazy frame
            A folder, a pattern or a file, or a lazy frame, with the columns that these rows had.
        key : bytes, optional
            The secret of pseudonyms; the same as before when not given.
        session : DuckDB connection or SparkSession, optional
        """
        from hushtable.engines import choosing

        engine: choosing.EngineChoice = "stream" if isinstance(rows, (str, Path)) else "auto"
        origin = choosing.opened(rows, engine=engine, session=session)
        if origin is None:
            msg = with_hint(
                "the new rows are in memory.", "write them as files, or save the recoding and read it there."
            )
            raise InputError(msg)
        return choosing.publish_next(self.learned, origin, key=key)

    def save_recoding(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the cells and where rows go to a file; see `Release.save_recoding`."""
        self.learned.save(path, overwrite=overwrite)

    def mapping(self) -> AppliedMapping:
        """Return which value became which cell, column by column; see `Release.mapping`.

        Raises
        ------
        InputError
            The records were cut one by one: which values each cell has is not kept.
        """
        self._check_distinct("a mapping")
        return self.distinct.mapping()

    def with_bound(self, budget: Budget | None = None) -> RemoteRelease[FrameT]:
        """Return the release with a proven floor under its loss and its certificate; see `Release.with_bound`.

        Parameters
        ----------
        budget : Budget, optional

        Raises
        ------
        InputError
            No floor is known under this loss, or of these cells; or the records were cut one by one.
        """
        self._check_distinct("a floor under the loss")
        return replace(self, distinct=self.distinct.with_bound(budget))

    def utility(self, target: str | None = None, *, model: str | None = None) -> Utility:
        """Measure what can still be learned from the columns that are judged, beside the original.

        Figures count records, and are those of `Release.utility`. A column that is kept as it is has no figure.

        Parameters
        ----------
        target, model : str, optional
            Refused: models learn from records one by one, and from kept columns, which takes the rows in memory.

        Raises
        ------
        InputError
            A target or a model was asked for, or the records were cut one by one.
        """
        self._check_distinct("utility")
        asked = {"target": target, "model": model}
        for name, value in asked.items():
            if value is not None:
                msg = with_hint(
                    f"{name} = {value!r} learns from records one by one, which takes the rows in memory.",
                    "leave it out; or write one file, and pass it with its original to hushtable utility.",
                )
                raise InputError(msg)
        return among(self.counted.utility(), self.columns)

    def attack(self, earlier: Any = None, *, person: str | None = None, seed: int = 0) -> OwnAttacks:
        """Attack the release with all that its publisher knows; see `Release.attack`.

        Parameters
        ----------
        earlier : Release, RemoteRelease, path or dataframe, optional
        person : str, optional
        seed : int

        Raises
        ------
        InputError
            There are more than 5,000,000 records, or their distinct rows are not known.
        """
        self._check_distinct("an attack")
        n_records = self.distinct.source.n_records
        if n_records > MOST_ATTACKED:
            msg = with_hint(
                f"attacks look at records one by one, at most {MOST_ATTACKED:,}, and there are {n_records:,}.",
                "attack the release of a part of them.",
            )
            raise InputError(msg)
        before = earlier.distinct if isinstance(earlier, RemoteRelease) else earlier
        return self.counted.attack(before, person=person, seed=seed)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw in classes of what size the records are, before and after; see `Release.plot`.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Raises
        ------
        InputError
            The records were cut one by one: what they were before is not known.
        """
        self._check_distinct("a chart of the classes before")
        return self.distinct.plot(ax=ax)

    def plot_search(self, *, ax: Any = None) -> Any:
        """Draw how the search went, best loss and proven bound; see `Release.plot_search`.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Raises
        ------
        InputError
            The method keeps no history.
        """
        return self.distinct.plot_search(ax=ax)

    def verify(self) -> Verdict:
        """Judge the protected table anew: its published cells, grouped by the engine.

        Of files it is what is published of the distinct rows; `write` judges what was written of all records.
        """
        if not isinstance(self.origin, Lazy):
            return self.distinct.verify()
        person = getattr(self.claim, "person", None)
        judged = (*self.claim.columns, *self.claim.sensitive, *((person,) if person in self.columns else ()))
        return self.claim.verify(self.origin.collapse(judged, self.cells), original=self._original)

    def write(
        self,
        path: str | Path,
        *,
        external: bool = False,
        policy: Mapping[str, Any] | None = None,
        codebook: bool = True,
        overwrite: bool = False,
        by: str | None = None,
    ) -> Verdict:
        """Write the protected table as Parquet parts in a folder, with manifest and codebook, verified or not at all.

        Rows leave in random order, by the operating system's randomness. All parts are read back and verified
        before the folder gets its name, and the exposure is measured again on what was written. Where the input
        changed since it was first read, nothing is written.

        Parameters
        ----------
        path : path
            Of a folder, or of one ``.parquet`` file.
        external : bool
            Write the manifest that goes with published files.
        policy : mapping, optional
            What was asked for, for the internal manifest.
        codebook : bool
            Write beside it what its columns and labels mean, as ``out.codebook.md`` and ``out.codebook.json``.
        overwrite : bool
            Replace a folder or file of this name; a folder only if it holds a release and nothing else. An input is
            never replaced, nor a link; what a lazy frame reads from is not known here, and must not be named.
        by : str, optional
            A published column whose cells name the folders of a Hive data set (``region=N/part-00000.parquet``), at
            most 500; the policy's ``write: {by: ...}`` when not given. All folders are verified together.

        Raises
        ------
        ExposureError
            The columns that are kept as they are name people, or single out more of them than the policy allows;
            nothing is written.
        VerificationError
            The written table does not hold what the release claims; nothing is left behind.
        InputError
            It cannot be written, or must not be.
        """
        check_before_writing(self.exposure, self.recoding)
        try:
            from hushtable.engines import writing
        except ModuleNotFoundError:
            msg = with_hint("writing tables that are not in memory needs pyarrow.", "pip install 'hushtable[stream]'.")
            raise InputError(msg) from None
        path, by = Path(path), by if by is not None else self.distinct.writing.by
        if by is not None:
            check_by(by, path, self.columns, self.pseudonyms)
        name = _PART if writing.is_folder(path) else path
        request = writing.WriteRequest(
            path,
            self.claim,
            {**self.to_dict(), "policy": dict(policy) if policy else None},
            inputs=self.distinct.inputs,
            original=self._original,
            audience="external" if external else "internal",
            overwrite=overwrite,
            beside=self.codebook.texts(path, external=external) if codebook else {},
            by=by,
            look=self._looked_at,
        )
        if isinstance(self.origin, Lazy) and self.origin.engine.writes:
            if not writing.is_folder(path):
                msg = with_hint(f"{self.engine} writes folders.", f"name one without an ending, not {path.name!r}.")
                raise InputError(msg)
            if by is not None:
                msg = with_hint(
                    f"{self.engine} writes by itself, and no folders by the cells of {by!r}.",
                    "leave it out, and write the release anew by its own means: it has the column.",
                )
                raise InputError(msg)
            lazy, cells = self.origin, self._cells(name)
            return writing.write_folder(lambda draft, _: lazy.write(cells, draft), request)
        source = frames.read(self.distinct.source)
        if not writing.is_folder(path) and frames.file_kind(path) == "csv" and not source.is_text:
            msg = with_hint(
                "rows that are not in memory, and no text, are published as Parquet.",
                "name a folder, or a file that ends in .parquet.",
            )
            raise InputError(msg)
        return writing.write(self.origin.batches(self._cells(name)), request, delimiter=source.delimiter)

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of the release as plain values, none of them a person's."""
        return {
            **self.distinct.to_dict(),
            **kept_columns_facts(self.removed, self.pseudonyms, self.exposure),
            "engine": self.engine,
        }

    def with_exposure(
        self, limit: ExposureLimit, *, accepted: Mapping[str, str] | None = None, is_enforced: bool = False
    ) -> RemoteRelease[FrameT]:
        """Return the release with the exposure of the columns that are kept as they are, alone and within the classes.

        Counted on the distinct rows of all of them with the published quasi-identifiers; where these are too many, by
        hashes on the disk, one column or pair after the other. Within the classes nothing is counted where too many
        rows have persons, or Spark holds them: `Exposure.told_to` is 0 then.

        Parameters
        ----------
        limit : ExposureLimit
        accepted : mapping of column to str, optional
            Columns that are not counted, and why.
        is_enforced : bool
            Whether `write` refuses a release above the limit.

        Raises
        ------
        InputError
            These columns have more distinct rows together than can be held.
        ExposureError
            Pseudonyms repeat, and nobody said that they are persons: whom their records find cannot be counted.
        """
        self._check_pseudonyms(accepted or {})
        cells = replace(self.cells, pseudonyms=None)
        is_whole = cells.is_published.all()
        is_linked = self._person in self.columns and not (self.pseudonyms and self._person in self.pseudonyms.fresh)
        measured = self._measured_together(cells, limit, accepted or {}, is_enforced=is_enforced)
        if measured is None:
            known = None if is_whole else cells
            measured = self._measured(self.origin, known, limit, accepted or {}, is_enforced=is_enforced)
            told, told_to = self._told_by_hashes(cells)
            measured = replace(measured, told=told, told_to=told_to)
        if cells.counts is not None and measured.n_records != int(cells.counts[cells.is_published].sum()):
            from hushtable.io import changed

            raise changed()
        exposure = replace(
            measured,
            named=self._naming(),
            determined=self._undoing(MOST_ROWS),
            identifiers=find_shown_identifiers(self.origin.head(MOST_ROWS).told(self.specs), self._kept, self.recoding),
            linkage=self.distinct.linkage() if is_linked else None,
        )
        return replace(self, exposure=exposure)

    def _check_pseudonyms(self, accepted: Mapping[str, str]) -> None:
        """Raise ExposureError where a keyed pseudonym repeats that is not the person's: it links records uncounted."""
        for name in self.pseudonyms.keyed if self.pseudonyms else ():
            if name in (self._person, *accepted):
                continue
            counted = self.origin.collapse((name,)).told(self.specs)
            is_known = counted.values(name).is_not_null().to_numpy()
            if (counted.records[is_known] > 1).any():
                msg = with_hint(
                    f"pseudonyms of column {name!r} repeat and link records, which is not counted of rows that are not "
                    "in memory.",
                    f"name it as the person's column (person: {name}), give every record a new pseudonym "
                    f'(`action: fresh`), or say why nobody knows several records, as accept: {{{name!r}: "a reason"}}.',
                )
                raise ExposureError(msg)

    @property
    def _kept(self) -> tuple[str, ...]:
        """The published columns that are told of, in order: all but quasi-identifiers and pseudonyms."""
        hidden = self.pseudonyms.columns if self.pseudonyms else ()
        return tuple(name for name in self.columns if name not in (*self.quasi_identifiers, *hidden))

    def _measured_together(
        self, cells: PublishedCells, limit: ExposureLimit, accepted: Mapping[str, str], *, is_enforced: bool
    ) -> Exposure | None:
        """Measure on the distinct rows of all columns, alone and within the classes; None where these are too many."""
        kept = self._kept
        if not kept:
            # Only how many records are published is counted.
            return replace(self._measured(self.origin, cells, limit, accepted, is_enforced=is_enforced), told_to=2)
        persons = [self._person] if self._person and self._person not in kept else []
        names = tuple(dict.fromkeys((*self.quasi_identifiers, *kept, *persons)))
        shown = [name for name in kept if name != self._person]
        # In the judged rows 0 has no sign and NaN is missing; what is kept travels as it is.
        is_held = {*names} <= {*cells.keys.columns} and not any(cells.keys.schema[name].is_float() for name in shown)
        try:
            rows = (
                cells.frame(names)
                if is_held
                else self.origin.collapse(names, replace(cells, columns=names), most_rows=_HELD, as_written=shown)
            )
        except (TooManyRowsError, ColumnError):
            return None
        return measure_exposure(
            rows.told(frames.read(self.distinct.source).specs),
            group(rows, self.quasi_identifiers, (), None).labels.astype(np.int32),
            KeptColumns([name for name in kept if name not in self.sensitive], self.sensitive),
            person=self._person,
            limit=limit,
            accepted=accepted,
            is_enforced=is_enforced,
        )

    def _told_by_hashes(self, cells: PublishedCells) -> tuple[tuple[Uniques, ...], int]:
        """Count who is unique within the classes where too many rows would be held; up to 0 columns where nobody can.

        Hashes tell no persons apart, and what writes by itself hands out no records.
        """
        if self._person or self._writes_by_itself:
            return (), 0
        from hushtable.engines.counting import unique_within

        kept = self._kept
        batches = self.origin.batches(replace(cells, columns=(*self.quasi_identifiers, *kept)))
        return unique_within(batches, self.quasi_identifiers, kept)

    def _measured(
        self,
        origin: Files | Lazy,
        cells: PublishedCells | None,
        limit: ExposureLimit,
        accepted: Mapping[str, str],
        *,
        is_enforced: bool,
    ) -> Exposure:
        """Measure what an origin holds, or publishes by cells."""
        hidden = self.pseudonyms.columns if self.pseudonyms else ()
        named = {*self.quasi_identifiers, *self.sensitive, *hidden, *accepted}
        others = [name for name in self.columns if name not in named]
        persons = [self._person] if self._person and self._person not in others else []
        source = frames.read(self.distinct.source)
        names = (*others, *persons)
        narrow = cells and replace(cells, columns=names)
        # By persons nothing is counted on the disk, and an engine groups by itself.
        held: dict[str, Any] = {} if persons or isinstance(origin, Lazy) else {"most_rows": _HELD}
        try:
            counted = (
                origin.collapse(names, narrow, **held, as_written=[name for name in others if name != self._person])
                if others
                else source.take(np.flatnonzero(self.cells.is_published))
            )
        except (TooManyRowsError, ColumnError) as error:
            if persons or self._writes_by_itself:
                msg = f"while counting who is unique on the columns that are kept: {error}"
                raise type(error)(msg) from None
            batches = (
                origin.batches(narrow or replace(self.cells, pseudonyms=None, columns=names))
                if narrow or isinstance(origin, Lazy)
                else origin.source.batches(names)
            )
            found = _counted_on_disk(batches, names, limit, is_enforced=is_enforced)
            return replace(found, accepted=dict(accepted))
        counted = counted.told(source.specs)
        measured = measure_exposure(
            counted,
            np.zeros(counted.n_rows, dtype=np.int32),
            KeptColumns(others),
            person=self._person,
            limit=limit,
            is_enforced=is_enforced,
        )
        return replace(measured, told=(), told_to=0, accepted=dict(accepted))

    def _looked_at(self, draft: Path, dialect: Dialect | None) -> dict[str, Any]:
        """Return what a manifest says of what was written instead of what was planned, once the input is as it was.

        Raises
        ------
        InputError
            The input changed since it was first read.
        ExposureError
            The columns that are kept as they are single out more people than the policy allows.
        """
        self.origin.check_unchanged()
        known = self.exposure
        # Whose record a row is, the draft may not tell.
        if known is None or not known.columns or self._person not in (None, *self.columns):
            return {}
        from hushtable.engines.files import Files

        written = Files.open(draft, dialect)
        exposure = self._measured(written, None, known.limit, known.accepted, is_enforced=known.is_enforced)
        planned = ("told", "told_to", "named", "determined", "linkage", "identifiers")
        carried = {name: getattr(known, name) for name in planned}
        exposure = replace(exposure, **carried)
        exposure.raise_if_refused()
        return {"exposure": exposure.to_dict()}

    def _undoing(self, n_rows: int) -> tuple[Determined, ...]:
        """Find kept columns that undo what was generalized, among the first rows."""
        hidden = self.pseudonyms.columns if self.pseudonyms else ()
        others = [name for name in self.columns if name not in (*self.quasi_identifiers, *self.sensitive, *hidden)]
        generalized = [name for name, lost in self.quality.by_column.items() if lost]
        return undoing(
            self.origin.head(n_rows).told(self.specs), KeptColumns(others, self.sensitive, generalized=generalized)
        )

    def _naming(self) -> tuple[Named, ...]:
        """Count the records that name people in kept columns, in a pass over those that hold text."""
        hidden = self.pseudonyms.columns if self.pseudonyms else ()
        head = self.origin.head(1)
        kept = [name for name in self.columns if name not in (*self.quasi_identifiers, *hidden)]
        texts = [name for name in kept if has_room_for_names(head.column(name).dtype)]
        if not texts:
            return ()
        identifiers = [name for name in self.origin.columns if name in (*self.removed, *hidden)]
        cells = replace(self.cells, pseudonyms=None, columns=(*texts, *identifiers))
        # What writes by itself hands out no records, but what of them is distinct.
        parts = (
            [self.origin.collapse(cells.columns, cells)]
            if self._writes_by_itself
            else map(frame_of, self.origin.batches(cells))
        )
        return added(look_for_names(part, texts, identifiers) for part in parts)

    def _repr_html_(self) -> str:
        return self.distinct._repr_html_()

    @property
    def _writes_by_itself(self) -> bool:
        """Whether records never pass through this process."""
        return isinstance(self.origin, Lazy) and self.origin.engine.writes

    @property
    def _person(self) -> str | None:
        """The column that says whose record a row is, where persons are counted."""
        person: str | None = getattr(self.claim, "person", None)
        return person

    @property
    def _original(self) -> Any:
        """The distinct rows of the input, where the claim compares with them."""
        return self.distinct.source if self.claim.compares(self.columns) else None


def _counted_on_disk(
    batches: Iterable[Any], names: tuple[str, ...], limit: ExposureLimit, *, is_enforced: bool
) -> Exposure:
    """Measure columns that have too many rows to hold, or types that cannot be grouped."""
    from hushtable.engines.counting import unique_records

    most = limit.rate if is_enforced else 1.0
    n_records, n_unique, sets, complete_to = unique_records(batches, names, limit.columns, most)
    is_complete = complete_to >= min(limit.columns, len(names))
    return Exposure(n_records, names, n_unique, sets, (), 0, limit, {}, is_enforced, is_complete, complete_to)
