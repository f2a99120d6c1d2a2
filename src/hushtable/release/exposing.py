"""Who can be found in a release by the columns that are kept as they are: measured before it is written, and after.

Where all rows are in memory they are counted there. Else distinct rows are asked of where the rows are, and where these
are too many, hashes on the disk.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hushtable._types import FEWEST_RECORDS, BoolArray, CodeArray, CountArray, freeze_array
from hushtable.claims import group_rows
from hushtable.columns import series
from hushtable.discover import (
    MAX_ROWS,
    Determined,
    Named,
    enough_rows,
    find_determined,
    has_room_for_names,
    look_for_names,
    sum_name_counts,
)
from hushtable.errors import ColumnError, ExposureError, TooManyRowsError
from hushtable.io import Dialect, Frame
from hushtable.kernels import group
from hushtable.kernels.class_profile import class_ranges
from hushtable.release import linking
from hushtable.release.direct_identifiers import find_shown_identifiers
from hushtable.release.exposure import Exposure, ExposureLimit, Uniques
from hushtable.search import Budget
from hushtable.tables import Table, iterate_partitions, lattice

if TYPE_CHECKING:
    import pyarrow as pa

    from hushtable.release.origin import Origin, PublishedCells
    from hushtable.release.release import Release

_MAX_ROWS_HELD: Final = 2**20  # distinct rows of kept columns; above this, they are counted on the disk
# Column sets times rows, not seconds: whether a file is written may not depend on the machine.
_MAX_ROWS_WALKED: Final = 10**9
_MAX_PAIRED_RECORDS: Final = 5 * 10**6
_MAX_SETS_SHOWN: Final = 5
_DEFAULT_LIMIT: Final = ExposureLimit()


@dataclass(frozen=True, slots=True)
class KeptColumns:
    """The columns that a release keeps as they are, beside those that it changes or leaves out.

    Attributes
    ----------
    insensitive : sequence of str
        Columns that are published as they are.
    sensitive : sequence of str
        Columns that are told of, and never counted alone.
    identifiers : sequence of str
        Columns that are not published as they are: their values are looked for in the kept cells.
    generalized : sequence of str
        Quasi-identifiers that lost something: hushtable looks for kept columns that follow from them or tell them.
    """

    insensitive: Sequence[str]
    sensitive: Sequence[str] = ()
    identifiers: Sequence[str] = ()
    generalized: Sequence[str] = ()


def measure_kept_columns(
    release: Release, limit: ExposureLimit, accepted: Mapping[str, str] | None, *, is_enforced: bool
) -> Exposure:
    """Measure who is found by the columns that are kept; see `Release.with_exposure`."""
    if release.origin is None:
        return _expose_rows(release, limit, accepted, is_enforced=is_enforced)
    return _Counting(release, release.origin, limit, accepted or {}, is_enforced).exposure()


def look_at_draft(release: Release, draft: Path, dialect: Dialect | None) -> dict[str, Any]:
    """Measure the exposure of a draft: manifest entries that replace the planned ones; the input must be unchanged.

    Raises
    ------
    InputError
        The input changed since it was first read.
    ExposureError
        The columns that are kept as they are single out more people than the policy allows.
    """
    assert release.origin is not None
    release.origin.check_unchanged()
    planned = release.exposure
    # The draft may lack the column that says whose record a row is: the planned measure stays.
    if planned is None or not planned.columns or release.person not in (None, *release.columns):
        return {}
    written = release.origin.open_draft(draft, dialect)
    counting = _Counting(release, written, planned.limit, planned.accepted, planned.is_enforced)
    exposure = replace(
        counting.measure_alone(None),
        told=planned.told,
        told_to=planned.told_to,
        named=planned.named,
        determined=planned.determined,
        linkage=planned.linkage,
        identifiers=planned.identifiers,
        steps=planned.steps,
        steps_suffice=planned.steps_suffice,
    )
    exposure.raise_if_unpublishable()
    return {"exposure": exposure.to_dict()}


def _expose_rows(
    release: Release, limit: ExposureLimit, accepted: Mapping[str, str] | None, *, is_enforced: bool
) -> Exposure:
    """Measure a release whose rows are all in memory."""
    names, suppressed = release.source.names, release.suppressed
    removed = (*release.removed, *release.pseudonymized)
    insensitive = [name for name in names if name not in (*release.quasi_identifiers, *release.sensitive, *removed)]
    classes = release.recoding.number_combinations()[release.partition.labels]
    exposure = measure_exposure(
        release.source,
        np.where(suppressed, np.int32(-1), classes) if release.drops_suppressed else classes,
        KeptColumns(
            insensitive=insensitive,
            sensitive=release.sensitive,
            identifiers=[name for name in names if name in removed and name not in release.left_out],
            generalized=release.generalized,
        ),
        starred=suppressed,
        person=release.person,
        limit=limit,
        accepted=accepted,
        is_enforced=is_enforced,
    )
    kept = [name for name in names if name in (*release.sensitive, *insensitive)]
    shown = find_shown_identifiers(release.source, kept, release.recoding)
    return replace(exposure, linkage=linking.measure_release_linkage(release), identifiers=shown)


@dataclass(frozen=True, slots=True)
class _Counting:
    """What is counted of a release where its rows are: of its input, or of what was written of it."""

    release: Release
    origin: Origin
    limit: ExposureLimit
    accepted: Mapping[str, str]
    is_enforced: bool

    def exposure(self) -> Exposure:
        """Measure the whole exposure: kept columns alone, within the classes, and names of people."""
        release = self.release
        self._check_pseudonyms()
        cells = replace(release.cells, pseudonyms=None)
        measured = self._measure_together(cells)
        if measured is None:
            told, told_to = self._count_by_hashes(cells)
            alone = self.measure_alone(None if cells.is_published.all() else cells)
            measured = replace(alone, told=told, told_to=told_to)
        if cells.counts is not None and measured.n_records != int(cells.counts[cells.is_published].sum()):
            from hushtable.io import change_error

            raise change_error()
        is_linked = release.person in release.columns and release.person not in release.fresh
        return replace(
            measured,
            named=self._find_names(cells),
            determined=self._find_determined(),
            identifiers=find_shown_identifiers(
                self.origin.head(MAX_ROWS).with_specs(release.specs), self._kept_columns, release.recoding
            ),
            linkage=linking.measure_release_linkage(release.distinct) if is_linked else None,
        )

    def _check_pseudonyms(self) -> None:
        """Raise ExposureError if a keyed pseudonym other than the person's repeats: it links records uncounted."""
        release = self.release
        for name in release.pseudonyms.keyed if release.pseudonyms else ():
            if name in (release.person, *self.accepted):
                continue
            counted = self.origin.collapse((name,)).with_specs(release.specs)
            is_known = counted.values(name).is_not_null().to_numpy()
            if (counted.records[is_known] > 1).any():
                raise ExposureError(
                    f"pseudonyms of column {name!r} repeat and link records, which is not counted of rows that are not "
                    "in memory.",
                    hint=f"name it as the person's column (person: {name}), or give every record a new pseudonym "
                    f'(`action: fresh`). Or say why nobody knows several records, as accept: {{{name!r}: "a reason"}}.',
                )

    @property
    def _kept_columns(self) -> tuple[str, ...]:
        """The published columns that are measured, in order: all but quasi-identifiers and pseudonyms."""
        hidden = (*self.release.quasi_identifiers, *self.release.pseudonymized)
        return tuple(name for name in self.release.columns if name not in hidden)

    def _measure_together(self, cells: PublishedCells) -> Exposure | None:
        """Measure on the distinct rows of all columns, alone and within the classes; None if they are too many."""
        release, kept_columns = self.release, self._kept_columns
        person, quasi_identifiers = release.person, release.quasi_identifiers
        if not kept_columns:
            # Nothing is kept: only the published records are counted.
            return replace(self.measure_alone(cells), told_to=2)
        persons = [person] if person and person not in kept_columns else []
        names = tuple(dict.fromkeys((*quasi_identifiers, *kept_columns, *persons)))
        as_written = [name for name in kept_columns if name != person]
        # Judged rows lost the sign of 0, and NaN is missing there: kept floats are read again, as they are.
        is_held = {*names} <= {*cells.keys.columns} and not any(
            cells.keys.schema[name].is_float() for name in as_written
        )
        try:
            rows = (
                cells.frame(names)
                if is_held
                else self.origin.collapse(
                    names, replace(cells, columns=names), most_rows=_MAX_ROWS_HELD, as_written=as_written
                )
            )
        except (TooManyRowsError, ColumnError):
            return None
        return measure_exposure(
            rows.with_specs(release.source.frame().specs),
            group_rows(rows, quasi_identifiers, (), None).labels.astype(np.int32),
            KeptColumns([name for name in kept_columns if name not in release.sensitive], release.sensitive),
            person=person,
            limit=self.limit,
            accepted=self.accepted,
            is_enforced=self.is_enforced,
        )

    def _count_by_hashes(self, cells: PublishedCells) -> tuple[tuple[Uniques, ...], int]:
        """Count uniques within the classes by hashes, if the rows are too many; up to 0 columns if impossible.

        Hashes tell no persons apart, and what writes by itself hands out no records.
        """
        if self.release.person or self.origin.writes_by_itself:
            return (), 0
        from hushtable.release.hashed_counts import count_unique_in_classes

        names = (*self.release.quasi_identifiers, *self._kept_columns)
        batches = self.origin.publish_batches(replace(cells, columns=names))
        return count_unique_in_classes(batches, self.release.quasi_identifiers, self._kept_columns)

    def measure_alone(self, cells: PublishedCells | None) -> Exposure:
        """Measure the kept columns alone, in the rows of an origin, or in what it publishes by cells."""
        release, origin, person = self.release, self.origin, self.release.person
        judged = {*release.quasi_identifiers, *release.sensitive, *release.pseudonymized, *self.accepted}
        tested = [name for name in release.columns if name not in judged]
        persons = [person] if person and person not in tested else []
        source, names = release.source.frame(), (*tested, *persons)
        narrow = cells and replace(cells, columns=names)
        # No limit of rows if persons are counted (the disk cannot), or if an engine groups by itself.
        limits = {} if persons or origin.groups_by_itself else {"most_rows": _MAX_ROWS_HELD}
        try:
            rows = (
                origin.collapse(names, narrow, **limits, as_written=[name for name in tested if name != person])
                if tested
                else source.take(np.flatnonzero(release.published_rows))
            )
        except (TooManyRowsError, ColumnError) as error:
            if persons or origin.writes_by_itself:
                raise type(error)(f"while counting who is unique on the columns that are kept: {error}") from None
            return self._measure_on_disk(
                origin.raw_batches(names) if narrow is None else origin.publish_batches(narrow), names
            )
        measured = measure_exposure(
            rows.with_specs(source.specs),
            np.zeros(rows.n_rows, dtype=np.int32),
            KeptColumns(tested),
            person=person,
            limit=self.limit,
            is_enforced=self.is_enforced,
        )
        return replace(measured, told=(), told_to=0, accepted=dict(self.accepted))

    def _measure_on_disk(self, batches: Iterable[pa.Table], names: tuple[str, ...]) -> Exposure:
        """Measure columns with too many rows for memory, or of types that cannot be grouped."""
        from hushtable.release.hashed_counts import count_unique_records

        limit, most = self.limit, self.limit.rate if self.is_enforced else 1.0
        n_records, n_unique, sets, complete_to = count_unique_records(batches, names, limit.columns, most)
        return Exposure(
            n_records=n_records,
            columns=names,
            n_unique=n_unique,
            sets=sets,
            told=(),
            told_to=0,
            limit=limit,
            accepted=dict(self.accepted),
            is_enforced=self.is_enforced,
            complete=complete_to >= min(limit.columns, len(names)),
            complete_to=complete_to,
        )

    def _find_determined(self) -> tuple[Determined, ...]:
        """Find kept columns that undo what was generalized, among the first rows."""
        release = self.release
        others = [name for name in self._kept_columns if name not in release.sensitive]
        columns = KeptColumns(others, release.sensitive, generalized=release.generalized)
        return find_undoing_columns(self.origin.head(MAX_ROWS).with_specs(release.specs), columns)

    def _find_names(self, cells: PublishedCells) -> tuple[Named, ...]:
        """Count the records that name people, in one pass over the kept columns of text."""
        from hushtable.release.origin import frame_of

        head = self.origin.head(1)
        texts = [name for name in self._kept_columns if has_room_for_names(head.column(name).dtype)]
        if not texts:
            return ()
        gone = (*self.release.removed, *self.release.pseudonymized)
        identifiers = [name for name in self.origin.names if name in gone and name not in self.release.left_out]
        cells = replace(cells, columns=(*texts, *identifiers))
        # An engine that writes by itself hands out distinct rows only, no records.
        parts = (
            [self.origin.collapse(cells.columns, cells)]
            if self.origin.writes_by_itself
            else map(frame_of, self.origin.publish_batches(cells))
        )
        return sum_name_counts(look_for_names(part, texts, identifiers) for part in parts)


def measure_exposure(
    source: Frame | Table,
    classes: CodeArray,
    columns: KeptColumns,
    *,
    starred: BoolArray | None = None,
    person: str | None = None,
    limit: ExposureLimit = _DEFAULT_LIMIT,
    accepted: Mapping[str, str] | None = None,
    is_enforced: bool = False,
) -> Exposure:
    """Count the published records that are unique on columns kept as they are, alone and within the classes.

    Parameters
    ----------
    source : Frame or Table
        The input.
    classes : ndarray of int32, shape (n_rows,)
        Rows with equal published quasi-identifiers have one number, 0 or more; -1 is not published.
    columns : KeptColumns
    starred : ndarray of bool, shape (n_rows,), optional
        Rows that publish ``*`` in every sensitive column.
    person : str, optional
        The column that says whose record a row is: records are found where no second person has their cells.
        A record without one is nobody's, and hides nobody.
    limit : ExposureLimit
    accepted : mapping of column to str, optional
        Columns of ``columns.others`` that are not counted alone either, and why.
    is_enforced : bool
        See `Exposure`.

    Notes
    -----
    Cells are compared as they are written, so that "1" and "1.0" differ; a missing cell is a value of its own. Of
    cells that cannot be compared no two are taken for equal.

    Alone: the walk of the lattice over distinct rows and their counts, columns with many values first, until
    sets times rows pass 10^9. Told: the classes refined by every column, and by every pair where pairs times records
    are at most 5 * 10^6. 1,000,000 records of 10 columns take 6 CPU s, 30,000 take 0.15 s; by persons half of that.

    Examples
    --------
    >>> import polars as pl
    >>> from hushtable.io import frames
    >>> visits = pl.DataFrame({"day": [1, 1, 2, 2, 2], "ward": ["a", "a", "a", "b", "c"]})
    >>> found = measure_exposure(frames.read(visits), np.array([0, 0, 0, 1, 1], np.int32), KeptColumns(["day", "ward"]))
    >>> found.n_unique, found.sets[0]
    (3, Uniques(columns=('ward',), n_records=2))
    >>> found.told[0]
    Uniques(columns=('ward',), n_records=2)
    """
    all_codes = {name: _encode_cells(source, name) for name in (*columns.insensitive, *columns.sensitive)}
    names_in_text = look_for_names(
        source,
        tuple(all_codes),
        columns.identifiers,
        suppressed=classes < 0,
        starred={} if starred is None else dict.fromkeys(columns.sensitive, starred),
        codes=all_codes,
    )
    rows, reasons = np.flatnonzero(classes >= 0), dict(accepted or {})
    counts = freeze_array(source.records[rows])
    codes = {name: each[rows] for name, each in all_codes.items()}
    if starred is not None:
        for name in columns.sensitive:
            codes[name] = np.where(starred[rows], codes[name].max(initial=-1) + 1, codes[name])
    tested = {name: codes[name] for name in columns.insensitive if name not in reasons}
    persons = None if person is None else linking.persons_of(source, person)[rows]
    count = partial(_count_uniques, counts=counts, persons=persons, max_size=limit.columns)
    n_unique, sets, complete_to = count(tested)
    joint_uniques, told_to = _count_joint_uniques(classes[rows], codes, counts, persons)
    exposure = Exposure(
        n_records=int(counts.sum()),
        columns=tuple(tested),
        n_unique=n_unique,
        sets=sets,
        told=joint_uniques,
        told_to=told_to,
        limit=limit,
        accepted=reasons,
        is_enforced=is_enforced,
        complete=complete_to >= min(limit.columns, len(tested)),
        complete_to=complete_to,
        named=names_in_text,
        determined=find_undoing_columns(source, columns),
    )
    if not exposure.columns_with_many_uniques:
        return exposure
    from hushtable.release.proposed_steps import with_steps  # few releases have such columns: it is loaded for them

    return with_steps(exposure, source, classes, tested, lambda rounded: count(rounded)[::2])


def find_undoing_columns(source: Frame | Table, columns: KeptColumns) -> tuple[Determined, ...]:
    """Find kept columns that undo what was generalized, in at most 20,000 rows evenly from all of them.

    Of sensitive columns numbers and dates alone, which are never a model's few categories.
    """
    insensitive, sensitive, generalized = columns.insensitive, columns.sensitive, columns.generalized
    if source.n_rows < FEWEST_RECORDS or not generalized or not (insensitive or sensitive):
        return ()
    rows = enough_rows(source.n_rows)
    sample = source.select([*generalized, *insensitive, *sensitive]).take(rows)
    read = {
        name: table
        for name in (*generalized, *insensitive, *sensitive)
        if (table := _encode_column(sample, name)) is not None
    }
    kept_columns = [*insensitive, *(name for name in sensitive if name in read and read[name].columns[0].is_measured)]
    names = [name for name in (*generalized, *kept_columns) if name in read]
    encoded = Table(
        tuple(read[name].columns[0] for name in names),
        np.array([read[name].codes[0] for name in names], dtype=np.int32).reshape(len(names), sample.n_rows),
        np.ones(sample.n_rows, dtype=np.int64),
    )
    return find_determined(
        encoded, [name for name in kept_columns if name in read], [name for name in generalized if name in read]
    )


def _encode_column(some: Frame | Table, name: str) -> Table | None:
    """Encode a column by its values; None if they cannot be compared."""
    try:
        return Table.encode(some, [name])
    except ColumnError:
        return None


def _encode_cells(source: Frame | Table, name: str) -> CodeArray:
    """Encode a column by its cells; if they cannot be read, no two are equal."""
    if isinstance(source, Table):
        codes: CodeArray = source.codes[source.index(name)]
        return codes
    try:
        return series.cell_codes(source.column(name))
    except ColumnError:
        return np.arange(source.n_rows, dtype=np.int32)


def _count_uniques(
    codes: Mapping[str, CodeArray], counts: CountArray, persons: CodeArray | None, max_size: int
) -> tuple[int, tuple[Uniques, ...], int]:
    """Count the records that are unique on few columns; return also the sets, and up to which size all are known."""
    if persons is not None:
        return _count_uniques_by_person(codes, counts, persons, max_size)
    max_size = min(max_size, len(codes))
    if not max_size:
        return 0, (), 0
    names = _many_values_first(codes)
    distinct, n_records = _collapse_rows(np.array([codes[name] for name in names]), counts)
    widths, sizes = _code_widths(distinct), range(1, max_size + 1)
    most_sets = max(1, _MAX_ROWS_WALKED // max(1, len(n_records)))
    is_bounded = sum(math.comb(len(names), size) for size in sizes) > most_sets
    walked = lattice.find_smallest_sets(
        lattice.build_grid(distinct, widths, n_records, n_records, sizes),
        budget=Budget(nodes=most_sets) if is_bounded else None,
    )
    paths, n_first = _collapse_rows(walked.paths.T.astype(np.int32), np.ones(len(walked.rows), dtype=np.int64))
    most = sorted((-n, path) for n, path in zip(n_first.tolist(), paths.T.tolist(), strict=True))[:_MAX_SETS_SHOWN]
    sets = sorted([j for j in path if j >= 0] for _, path in most)
    found = [
        Uniques(tuple(names[j] for j in path), _count_lone_records(*parted, n_records))
        for path, parted in zip(sets, iterate_partitions(distinct, widths, sets), strict=True)
    ]
    return len(walked.rows), tuple(sorted(found, key=_small_first)), walked.complete_to


def _count_uniques_by_person(
    codes: Mapping[str, CodeArray], counts: CountArray, persons: CodeArray, max_size: int
) -> tuple[int, tuple[Uniques, ...], int]:
    """Count the records whose cells in few columns only one person has; returns as `_count_uniques`."""
    names, n_rows = _many_values_first(codes), len(counts)
    n_sets = np.cumsum([math.comb(len(names), size) for size in range(1, min(max_size, len(names)) + 1)])
    sizes = [size for size, n in enumerate(n_sets.tolist(), start=1) if n * n_rows <= _MAX_ROWS_WALKED]
    if not sizes:
        return 0, (), 0
    stacked = np.array([codes[name] for name in names])
    widths, hit, uniques = _code_widths(stacked), np.zeros(n_rows, dtype=bool), []
    for size in sizes:
        sets = list(combinations(range(len(names)), size))
        for path, (labels, n_classes) in zip(sets, iterate_partitions(stacked, widths, sets), strict=True):
            is_unique = _find_lone_classes(labels, n_classes, counts, persons)[labels]
            n_first = int(counts[is_unique & ~hit].sum())
            hit |= is_unique
            if n_first:
                uniques.append((-n_first, path, Uniques(tuple(names[j] for j in path), int(counts[is_unique].sum()))))
    largest = [each for _, _, each in sorted(uniques)[:_MAX_SETS_SHOWN]]
    return int(counts[hit].sum()), tuple(sorted(largest, key=_small_first)), sizes[-1]


def _count_joint_uniques(
    classes: CodeArray, codes: Mapping[str, CodeArray], counts: CountArray, persons: CodeArray | None
) -> tuple[tuple[Uniques, ...], int]:
    """Count the records that are unique in a class by one column or pair; return also the size of the largest sets."""
    names = sorted(codes)
    told_to = max_joint_columns(len(names), int(counts.sum()))
    # Sorted, so that sets with the same first columns follow one another and share a partition.
    sets = sorted(path for size in range(1, told_to + 1) for path in combinations(range(1, len(names) + 1), size))
    stacked = np.array([classes, *(codes[name] for name in names)])
    parted = iterate_partitions(stacked, _code_widths(stacked), [(0, *path) for path in sets])
    found = (
        Uniques(tuple(names[j - 1] for j in path), _count_lone_records(*each, counts, persons))
        for path, each in zip(sets, parted, strict=True)
    )
    return choose_joint_uniques(found, len(names)), told_to


def max_joint_columns(n_columns: int, n_records: int) -> int:
    """Return how many columns are joined to classes at most: 2 if there are few pairs, else 1."""
    return 2 if math.comb(n_columns, 2) * n_records <= _MAX_PAIRED_RECORDS else 1


def choose_joint_uniques(found: Iterable[Uniques], n_columns: int) -> tuple[Uniques, ...]:
    """Choose the reported sets of those unique within classes: all single columns, then a few pairs."""
    return tuple(sorted(found, key=_small_first)[: n_columns + _MAX_SETS_SHOWN])


def _collapse_rows(codes: CodeArray, counts: CountArray) -> tuple[CodeArray, CountArray]:
    """Collapse equal rows, and count the records of each."""
    ((labels, n_classes),) = iterate_partitions(codes, _code_widths(codes), [range(len(codes))])
    first = group.first_rows(labels, n_classes)
    return np.ascontiguousarray(codes[:, first]), group.class_sizes(labels, counts, n_classes)


def _count_lone_records(labels: CodeArray, n_classes: int, counts: CountArray, persons: CodeArray | None = None) -> int:
    sizes = group.class_sizes(labels, counts, n_classes)
    return int(sizes[_find_lone_classes(labels, n_classes, counts, persons)].sum())


def _find_lone_classes(labels: CodeArray, n_classes: int, counts: CountArray, persons: CodeArray | None) -> BoolArray:
    """Tell which classes are one record, or records of at most one known person."""
    if persons is None:
        return np.asarray(group.class_sizes(labels, counts, n_classes) == 1)
    known = persons >= 0
    low, high = class_ranges(labels[known], persons[known], n_classes)
    return np.asarray(low >= high)


def _many_values_first(codes: Mapping[str, CodeArray]) -> list[str]:
    n_values = {name: np.count_nonzero(np.bincount(each + 1)) for name, each in codes.items()}
    return sorted(codes, key=lambda name: (-n_values[name], name))


def _code_widths(codes: CodeArray) -> list[int]:
    widths: list[int] = (codes.max(axis=1, initial=-1) + 1).tolist()
    return widths


def _small_first(each: Uniques) -> tuple[int, int, tuple[str, ...]]:
    return len(each.columns), -each.n_records, each.columns
