"""What local suppression blanked, and how many records share a record's cells under each reading of a blank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from hushtable.claims import match_classes
from hushtable.kernels import group
from hushtable.recoding import Nodes, Recoding
from hushtable.tables import Partition, Table, label_rows
from hushtable.wording import count_of, join_names


@dataclass(frozen=True, slots=True)
class Blanks:
    """Blanked cells, and the smallest class under three readings of a blank; suppressed records are not counted.

    Attributes
    ----------
    by_column : dict of column to int
        How many cells of it are blanked.
    smallest_class : int
        Records that publish the same cells, ``*`` being a value like others: k-anonymity, which the file alone shows.
    smallest_own : int
        Records of the input that agree with a published record on all cells that it keeps: (k,1)-anonymity. It takes
        the input to count them. Never below the smallest class.
    smallest_wildcard : int
        Published records that agree with a record wherever neither is blank: what sdcMicro counts by default. It
        protects nobody, because few blanks that match everything make it large; compare by it, never ask for it.
    """

    by_column: dict[str, int]
    smallest_class: int
    smallest_own: int
    smallest_wildcard: int

    @property
    def n_cells(self) -> int:
        """How many cells are blanked."""
        return sum(self.by_column.values())

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain values."""
        return asdict(self)

    def describe(self) -> Iterator[str]:
        """Describe the blanks in sentences."""
        counts = [f"{name} {n:,}" for name, n in self.by_column.items() if n]
        if not counts:
            yield "No cell is blanked."
            return
        yield f"Blanked are {count_of(self.n_cells, 'cell')}, by column: {join_names(counts)}."
        yield (
            f"Records that share the cells of any one: {self.smallest_class:,} or more, a blank being a value. Records "
            f"of the input that fit its kept cells: {self.smallest_own:,} or more. Other tools count "
            f"{self.smallest_wildcard:,}, where a blank fits every cell, which protects nobody."
        )


def measure_blanks(table: Table, partition: Partition, recoding: Recoding) -> Blanks:
    """Measure a release of the rows of a table, whose cells are values of the input or ``*``.

    Parameters
    ----------
    table : Table
        The quasi-identifiers of the input, in the order of the recoding.
    partition : Partition
        Of its rows.
    recoding : Recoding
    """
    cells = [each for each in recoding.cells if isinstance(each, Nodes)]
    is_blank = np.array([each.level == 1 for each in cells])
    sizes, is_shown = partition.sizes, partition.labels >= 0
    by_column = dict(zip(table.names, (is_blank @ sizes).tolist(), strict=True))
    # A missing cell of the input is a value: 0 here, where -1 is a blank.
    published = np.array([np.where(each.level < 0, 0, each.node + 1) for each in cells], dtype=np.int32)
    published[is_blank] = -1
    wildcard, _ = match_classes(published, sizes, {}, "wildcard")
    own = np.empty(partition.n_classes, dtype=np.int64)
    first = np.full(partition.n_classes, -1, dtype=np.int64)
    first[partition.labels[is_shown]] = np.flatnonzero(is_shown)
    for pattern in np.unique(is_blank, axis=1).T:
        kept = np.flatnonzero(~pattern)
        labels, n = label_rows(table.codes[kept], [table.columns[j].n_values for j in kept], table.n_rows)
        classes = np.flatnonzero((is_blank == pattern[:, None]).all(axis=0))
        own[classes] = group.class_sizes(labels, table.counts, n)[labels[first[classes]]]
    return Blanks(by_column, int(sizes.min()), int(own.min()), int(wildcard.min()))
