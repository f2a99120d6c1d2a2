"""Whom several records of a release find: through the columns that link them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.claims import Classes, Linkage, measure_linkage, pair_rows
from hushtable.columns import text_codes
from hushtable.errors import InputError
from hushtable.io import Frame
from hushtable.tables import Table

if TYPE_CHECKING:
    from hushtable.release.release import Release


def measure_release_linkage(release: Release) -> Linkage | None:
    """Count the persons whom several records find; None if no published column links records, or nobody has several.

    What links is the person's column, and every column of keyed pseudonyms: equal cells have equal ones. Of several it
    is the one that finds most.
    """
    claim = release.claim
    if not isinstance(claim, Classes):
        return None
    found = [_measure_linkage_by_column(release, claim, name) for name in linking_columns(release)]
    return max((each for each in found if each is not None), key=lambda each: each.rate, default=None)


def linking_columns(release: Release) -> list[str]:
    """Return the published columns whose equal cells belong to one person."""
    keyed = release.pseudonyms.keyed if release.pseudonyms else ()
    named = dict.fromkeys((*([release.person] if release.person else []), *keyed))
    return [name for name in named if name not in (*release.removed, *release.fresh)]


def persons_of(source: Frame | Table, name: str) -> CodeArray:
    """Encode whose record each row is; -1 is nobody."""
    return source.codes[source.index(name)] if isinstance(source, Table) else text_codes(source.values(name), name)


def _measure_linkage_by_column(release: Release, claim: Classes, name: str) -> Linkage | None:
    persons, suppressed, records = persons_of(release.source, name), release.suppressed, release.source.records
    classes = release.recoding.number_combinations()[release.partition.labels]
    shown = np.flatnonzero(~suppressed if release.drops_suppressed else persons >= 0)
    if not (np.bincount(persons[shown] + 1, weights=records[shown])[1:] > 1).any():
        return None
    if release.drops_suppressed:
        classes = np.where(suppressed, np.int32(-1), classes)
    others = partial(_find_covering_pairs, release, classes)
    found = measure_linkage(classes, persons, records, claim.k, name, others=others)
    if name != claim.person:
        return found
    return replace(found, most_known=min(found.most_known, claim.n_known or found.most_known), unit=claim.counted_unit)


def _find_covering_pairs(release: Release, classes: CodeArray, rows: CountArray) -> tuple[CountArray, CountArray]:
    """Return pairs of a class and a row that its published cells cover."""
    table = Table.encode(release.source, release.quasi_identifiers, release.specs).take(rows)
    used, first = np.unique(classes, return_index=True)
    used, first = used[used >= 0], first[used >= 0]
    rewritten = [release.rewritten(name) for name in release.quasi_identifiers]
    try:
        class_positions, row_positions = pair_rows(
            [each.texts for each in rewritten],
            np.array([each.codes[first] for each in rewritten]),
            [[None, *column.texts()] for column in table.columns],
            table.codes + 1,
            [column.spec for column in table.columns],
            [release.hierarchies.get(name) for name in release.quasi_identifiers],
            release.quasi_identifiers,
        )
    except InputError:
        # Too many values to compare with cells: only a record's own class counts, which finds no fewer.
        return rows[:0], rows[:0]
    return used[class_positions].astype(np.int64), rows[row_positions]
