"""Who can be found in a release by the columns that are kept as they are: measured before it is written, and after.

Where all rows are in memory they are counted there. Else distinct rows are asked of where the rows are, and where these
are too many, hashes on the disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hushtable.claims import group_rows
from hushtable.discover import MAX_ROWS, Determined, Named, has_room_for_names, look_for_names, sum_name_counts
from hushtable.errors import ColumnError, ExposureError, TooManyRowsError
from hushtable.io import Dialect
from hushtable.release import linking
from hushtable.release.direct_identifiers import find_shown_identifiers
from hushtable.release.exposure import (
    Exposure,
    ExposureLimit,
    KeptColumns,
    Uniques,
    find_undoing_columns,
    measure_exposure,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from hushtable.release.origin import Origin, PublishedCells
    from hushtable.release.release import Release

_MAX_ROWS_HELD: Final = 2**20  # distinct rows of kept columns; above this, they are counted on the disk


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
