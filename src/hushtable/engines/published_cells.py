"""What is published of every distinct row of a table that is not in memory.

Where the rows of a release are when they are not in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from hushtable._types import BoolArray, CountArray, frozen
from hushtable.columns import ColumnSpec
from hushtable.io import Frame, frames
from hushtable.release import Pseudonyms

if TYPE_CHECKING:
    from hushtable.engines.files import Files
    from hushtable.engines.lazy import Lazy

__all__ = ["Origin", "PublishedCells", "frame_of", "name_odd_cells"]


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
        frozen(self.is_published)
        if self.counts is not None:
            frozen(self.counts)

    @classmethod
    def of(cls, keys: Mapping[str, pl.Series], published: Mapping[str, pl.Series], **others: Any) -> PublishedCells:
        """Make a record of columns of equally many rows."""
        return cls(_frame(keys), _frame(published), **others)

    @property
    def kept(self) -> tuple[str, ...]:
        """The published columns whose cells are those of the input, or pseudonyms of them."""
        return tuple(name for name in self.columns if name not in self.published.columns)

    def frame(self, names: Sequence[str]) -> Frame:
        """Return what the distinct rows publish in some of the judged columns, with counts; they may be equal."""
        shown = np.flatnonzero(self.is_published)
        cells = {name: self.published if name in self.published.columns else self.keys for name in names}
        rows = _frame({name: _text(each[:, each.columns.index(name)].gather(shown)) for name, each in cells.items()})
        counts = np.ones(len(shown), dtype=np.int64) if self.counts is None else self.counts[shown]
        return replace(frames.read(rows), counts=counts)


def frame_of(batch: Any) -> Frame:
    """Return a table of pyarrow as a frame, whose columns are read fast."""
    return frames.read(pl.DataFrame(pl.from_arrow(batch)))


def name_odd_cells(origin: Files | Lazy, specs: Mapping[str, ColumnSpec]) -> dict[str, ColumnSpec]:
    """Return specs by which odd cells that were declared missing are, whichever batch they stand in.

    Batches and engines know texts that mean missing; which cells are odd, all cells of a column tell: one pass for each
    column whose odd cells were not declared missing before.
    """
    known = {name for name, spec in origin.specs.items() if spec.odd_cells == "missing"}
    named = dict(specs)
    for name, spec in specs.items():
        if spec.odd_cells == "missing" and name in origin.columns and name not in known:
            odd = origin.collapse([name]).told({name: spec}).odd_cells(name)
            texts = () if odd is None else sorted(odd.texts)
            named[name] = replace(spec, missing_values=(*(spec.missing_values or ()), *texts) or None)
    return named


def _frame(columns: Mapping[str, pl.Series]) -> pl.DataFrame:
    return pl.DataFrame([each.alias(name) for name, each in columns.items()])


def _text(cells: pl.Series) -> pl.Series:
    return cells.cast(pl.String) if isinstance(cells.dtype, pl.Enum) else cells


class Origin:
    """Rows that are not in memory: files that are read batch by batch, or a lazy frame.

    Each kind gives some rows (``head``), the distinct rows of columns with counts (``collapse``), and what is published
    of all records, as a lazy frame (``published``) and batch by batch (``batches``). Every pass raises InputError where
    it meets other records than the first one did.
    """

    __slots__ = ()

    def check_unchanged(self) -> None:
        """Raise InputError where what was read is no longer what it was, as far as the origin can tell."""
