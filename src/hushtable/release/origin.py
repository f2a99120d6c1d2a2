"""What is published of every distinct row of a table that is not in memory.

Where the rows of a release are when they are not in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from hushtable._types import BoolArray, CodeArray, CountArray, freeze_array
from hushtable.columns import Column, ColumnSpec
from hushtable.io import Dialect, Frame, frames
from hushtable.release.pseudonyms import Pseudonyms

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class PublishedCells:
    """What is published of every distinct row of the judged columns.

    Attributes
    ----------
    keys : polars.DataFrame, n_rows
        Raw cells of the judged columns, as `hushtable.io.distinct_rows.collapse` returns them, in any order.
    published : polars.DataFrame, n_rows
        Their published cells, of the same names but those that are left out, typed as in the written file; texts may
        be an enumeration.
    is_published : ndarray of bool, shape (n_rows,)
        False: its records are left out.
    columns : tuple of str
        All published columns, in order, those that are kept as they are among them.
    pseudonyms : Pseudonyms, optional
        Columns that are kept, but for their cells, which become keyed pseudonyms.
    counts : ndarray of int64, shape (n_rows,), optional
        How many records each row stands for; a pass over files that meets another number is an error.
    """

    keys: pl.DataFrame = field(repr=False)
    published: pl.DataFrame = field(repr=False)
    is_published: BoolArray = field(repr=False)
    columns: tuple[str, ...]
    pseudonyms: Pseudonyms | None = None
    counts: CountArray | None = None

    def __post_init__(self) -> None:
        freeze_array(self.is_published)
        if self.counts is not None:
            freeze_array(self.counts)

    @classmethod
    def from_series(
        cls, keys: Mapping[str, pl.Series], published: Mapping[str, pl.Series], **others: Any
    ) -> PublishedCells:
        """Build from series of equal length."""
        return cls(_build_frame(keys), _build_frame(published), **others)

    @property
    def kept(self) -> tuple[str, ...]:
        """The published columns whose cells are those of the input, or pseudonyms of them."""
        return tuple(name for name in self.columns if name not in self.published.columns)

    def frame(self, names: Sequence[str]) -> Frame:
        """Return what the distinct rows publish in some judged columns, with counts; rows may be equal."""
        positions = np.flatnonzero(self.is_published)
        cells = {name: self.published if name in self.published.columns else self.keys for name in names}
        rows = _build_frame(
            {name: _enum_to_text(each[:, each.columns.index(name)].gather(positions)) for name, each in cells.items()}
        )
        counts = np.ones(len(positions), dtype=np.int64) if self.counts is None else self.counts[positions]
        return replace(frames.read(rows), counts=counts)


def frame_of(batch: Any) -> Frame:
    """Convert a table of pyarrow to a frame whose columns are fast to read."""
    return frames.read(pl.DataFrame(pl.from_arrow(batch)))


def _build_frame(columns: Mapping[str, pl.Series]) -> pl.DataFrame:
    return pl.DataFrame([each.alias(name) for name, each in columns.items()])


def _enum_to_text(cells: pl.Series) -> pl.Series:
    return cells.cast(pl.String) if isinstance(cells.dtype, pl.Enum) else cells


class Origin(Protocol):
    """Rows that are not in memory: files that are read batch by batch, or a lazy frame.

    Every pass raises InputError where it meets other records than the first one did.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        ...

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The input files, which no output may replace."""
        ...

    @property
    def specs(self) -> Mapping[str, ColumnSpec]:
        """The declared specs of columns."""
        ...

    @property
    def engine_name(self) -> str:
        """What reads the rows: "stream" for files, else the engine's name."""
        ...

    @property
    def groups_by_itself(self) -> bool:
        """Whether it groups rows without handing them out."""
        ...

    @property
    def writes_by_itself(self) -> bool:
        """Whether it writes what is published, so that no record passes through this process."""
        ...

    @property
    def draws_pseudonyms(self) -> bool:
        """Whether it can give every record a pseudonym of its own."""
        ...

    @property
    def is_row_by_row(self) -> bool:
        """Whether each record is published by itself, because the distinct rows were too many to be counted."""
        ...

    @property
    def margins(self) -> Frame | None:
        """How frequent the cells of the judged columns are, where records are published one by one."""
        ...

    def head(self, n_rows: int) -> Frame:
        """Return the first rows, or some rows if there is no order."""
        ...

    def collapse(
        self,
        names: Sequence[str],
        cells: PublishedCells | None = None,
        *,
        most_rows: int = ...,
        as_written: Collection[str] = (),
    ) -> Frame:
        """Return the distinct rows of some columns with counts; with cells, of what is published."""
        ...

    def raw_batches(self, names: Sequence[str]) -> Iterable[pa.Table]:
        """Return some columns of all records, batch by batch."""
        ...

    def publish_batches(self, cells: PublishedCells) -> Iterable[pa.Table]:
        """Return what is published of all records, batch by batch."""
        ...

    def publish_lazily(self, cells: PublishedCells) -> object:
        """Return what is published as a lazy frame."""
        ...

    def write(self, cells: PublishedCells, folder: Path) -> int:
        """Write what is published, where it writes by itself; return how many records that is."""
        ...

    def open_draft(self, path: Path, dialect: Dialect | None) -> Origin:
        """Open a written draft as an origin."""
        ...

    def check_unchanged(self) -> None:
        """Raise InputError if the input has changed since it was read, as far as that can be detected."""
        ...

    def count_by_record(
        self, column: Column, group_of_row: CodeArray, n_groups: int, *, specs: Mapping[str, ColumnSpec]
    ) -> CountArray:
        """Count the records of each value of a column, by groups of the rows that they were collapsed to."""
        ...


def declare_odd_cells_missing(origin: Origin, specs: Mapping[str, ColumnSpec]) -> dict[str, ColumnSpec]:
    """Return specs that name the odd cells that were declared missing, so that every batch knows them.

    Batches and engines know texts that mean missing; which cells are odd, all cells of a column tell: one pass for each
    column whose odd cells were not declared missing before.
    """
    known = {name for name, spec in origin.specs.items() if spec.odd_cells == "missing"}
    new_specs = dict(specs)
    for name, spec in specs.items():
        if spec.odd_cells == "missing" and name in origin.names and name not in known:
            odd = origin.collapse([name]).with_specs({name: spec}).odd_cells(name)
            texts = () if odd is None else sorted(odd.texts)
            new_specs[name] = replace(spec, missing_values=(*(spec.missing_values or ()), *texts) or None)
    return new_specs
