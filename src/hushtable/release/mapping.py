"""Which value became which cell: the mapping that a release applied, column by column, for those who keep the input.

A pair of a value and a cell tells more than the release does, which says of a cell only what it covers. So it is
internal, and no pair is listed that fewer people have than a class holds: where cells are local, few are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.io import drafts, frames
from hushtable.release.codebook import least_of
from hushtable.tables import Table, persons_of

if TYPE_CHECKING:
    from hushtable.release.release import Release

_TITLES: Final = ("column", "value", "cell", "records")


@dataclass(frozen=True, slots=True)
class AppliedMapping:
    """Pairs of an original value and the cell that it became.

    Attributes
    ----------
    rows : tuple of (str, str or None, str or None, int)
        Column, value, published cell, and the records that have both; None is a missing one. By column and value.
    least : int
        Records, or persons where the release counts them, that every pair has.
    left_out : mapping of column to int
        Pairs that fewer have.
    """

    rows: tuple[tuple[str, str | None, str | None, int], ...] = field(repr=False)
    least: int
    left_out: Mapping[str, int]

    def to_frame(self) -> Any:
        """Return a row for every pair, as a polars frame."""
        columns = zip(*self.rows, strict=True) if self.rows else ([] for _ in _TITLES)
        return frames.assemble(dict(zip(_TITLES, map(list, columns), strict=True)))

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the pairs as a CSV that only its owner may read; a missing value or cell is empty.

        Raises
        ------
        InputError
            The file is there already, or cannot be written.
        """
        path = Path(path)
        drafts.check_outputs((path,), (), overwrite=overwrite)
        with drafts.replace_files(path, internal=(path,), overwrite=overwrite) as (draft,):
            self.to_frame().write_csv(draft)


def mapping_of(release: Release) -> AppliedMapping:
    """Return the mapping that a release applied to its quasi-identifiers.

    Parameters
    ----------
    release : Release

    Returns
    -------
    AppliedMapping
        Without suppressed records.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [31, 31, 31, 38, 38, 70, 71, 71]})
    >>> asked = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(2)]}
    >>> found = mapping_of(ht.anonymize(people, **asked, method=ht.Mondrian(recoding="tight")))
    >>> found.rows, found.left_out
    ((('age', '31', '31', 3), ('age', '38', '38', 2), ('age', '71', '[70, 71]', 2)), {'age': 1})
    """
    min_people = least_of(release.claim)
    person = release.person
    class_rows = np.flatnonzero(release.partition.labels >= 0)
    counts = release.source.records[class_rows]
    persons = None if person is None else persons_of(release.source, person)[class_rows]
    rows: list[tuple[str, str | None, str | None, int]] = []
    left_out: dict[str, int] = {}
    for name, rewritten in release.edition.rewritten.items():
        table = Table.encode(release.source, [name], release.specs)
        values: list[str | None] = [*table.columns[0].texts(), None]
        pairs, pair_of_row = np.unique(
            np.column_stack([table.codes[0][class_rows], rewritten.codes[class_rows]]),
            axis=0,
            return_inverse=True,
        )
        n_records = np.bincount(pair_of_row.ravel(), weights=counts, minlength=len(pairs)).astype(np.int64)
        n_people = n_records if persons is None else _count_distinct_persons(pair_of_row.ravel(), persons, len(pairs))
        left_out[name] = int((n_people < min_people).sum())
        for (value, cell), n in zip(
            pairs[n_people >= min_people].tolist(), n_records[n_people >= min_people].tolist(), strict=True
        ):
            rows.append((name, values[value], rewritten.texts[cell], n))
    return AppliedMapping(tuple(rows), min_people, left_out)


def _count_distinct_persons(pair_of_row: CountArray, persons: CodeArray, n_pairs: int) -> CountArray:
    """Count the distinct persons of each pair; rows without a person do not count."""
    known = persons >= 0
    pairs = np.unique(np.column_stack([pair_of_row[known], persons[known]]), axis=0)[:, 0]
    return np.bincount(pairs, minlength=n_pairs)
