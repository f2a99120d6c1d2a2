"""Tables as they are published: one file with a row a cell, how readers find each table, and the way to the disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hushtable.claims import HiddenCells, Verdict
from hushtable.errors import names_in
from hushtable.io import Frame, frames
from hushtable.release import Destination, Edition, TableContent, write
from hushtable.tabulation.cells import CellSystem, ReaderKnowledge, build_system
from hushtable.tabulation.checking import TableAudit, audit_system
from hushtable.tabulation.reading import TableReading, read_cell_table
from hushtable.tabulation.tabulating import TOTAL, check_dimensions
from hushtable.wording import StatesFacts

_COUNT_NAME: Final = "n"


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTables(StatesFacts):
    """Tables of one file."""

    by: tuple[tuple[str, ...], ...]
    value: str
    system: CellSystem = field(repr=False)
    hierarchies: Mapping[str, Mapping[str, Sequence[str]]] = field(repr=False)
    inputs: tuple[Path, ...] = field(default=(), repr=False, kw_only=True)

    @property
    def claim(self) -> HiddenCells:
        """What the file promises."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, object]:
        """Return what is known of the tables as plain values, no cell among them."""
        raise NotImplementedError

    def _format_cell(self, cell: int) -> str:
        """Return what is published of a cell."""
        raise NotImplementedError

    @property
    def frame(self) -> Any:
        """The tables as published, a row a cell: a dimension that a table does not have is at its total."""
        names = check_dimensions(self.by)
        columns: dict[str, list[str]] = {name: [] for name in (*names, self.value)}
        for cell in dict.fromkeys(int(cell) for _, cells in self.system.grids for cell in cells.ravel()):
            labels = dict(self.system.keys[cell] or ())
            for name in names:
                columns[name].append(labels.get(name, TOTAL))
            columns[self.value].append(self._format_cell(cell))
        return frames.assemble(columns, "polars")

    @property
    def readings(self) -> tuple[TableReading, ...]:
        """How a reader finds each table in the file."""
        names = check_dimensions(self.by)
        return tuple(
            TableReading(
                own,
                self.value,
                hidden=(HiddenCells.mark,),
                total=dict.fromkeys(own, TOTAL),
                hierarchies={name: tree for name, tree in self.hierarchies.items() if name in own},
                fixed={name: TOTAL for name in names if name not in own},
            )
            for own in self.by
        )

    def _audit_published(self, frame: Frame, knowledge: ReaderKnowledge, threshold: int | None) -> TableAudit:
        """Judge what a reader knows of the published cells, from them alone."""
        read = [read_cell_table(frame, reading, "the release")[0] for reading in self.readings]
        system = build_system(read, knowledge)
        return audit_system(system, names=("",), readings=self.readings, threshold=threshold, budget=None)

    def verify(self) -> Verdict:
        """Judge the published cells anew, from them alone."""
        return self.claim.verify(self.frame)

    def write(self, path: str | Path, *, external: bool = False, overwrite: bool = False) -> Verdict:
        """Write the tables with their manifest, whole and verified, or not at all.

        Parameters
        ----------
        path : path
            ``.csv``, ``.tsv`` or ``.parquet``; the manifest goes beside it.
        external : bool
            Write the manifest that goes with a published file: without rules and costs.
        overwrite : bool
            Replace files of these names.

        Raises
        ------
        VerificationError
            The written tables do not hold what they claim; nothing is left behind.
        InputError
            A file cannot be written, or must not be.
        """
        published = frames.read(self.frame)
        to = Destination(Path(path), keep_order=True, external=external, overwrite=overwrite, inputs=self.inputs)
        return write(TableContent(Edition(published, columns=published.columns), self.claim), to, self.to_dict())


def list_tables(by: Sequence[str] | Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the dimensions of each table."""
    if isinstance(by, str):
        return ((by,),)
    if isinstance(by, (list, tuple)) and by and not any(isinstance(each, str) for each in by):
        return tuple(names_in(names, "by") for names in by)
    return (names_in(by, "by"),)


def name_count(names: Sequence[str]) -> str:
    """Return the name of the column of counts, which no dimension has."""
    return _COUNT_NAME if _COUNT_NAME not in names else "count"
