"""What an earlier release of tables of the same people tells: its cells stay as they were published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal

import numpy as np

from hushtable._types import BoolArray
from hushtable.claims import HiddenCells
from hushtable.errors import InfeasibleError, InputError
from hushtable.io import frames
from hushtable.release import manifest
from hushtable.tabulation.cells import CellKey, CellSystem
from hushtable.wording import careful

_NO_TABLES: Final = "tables that hushtable wrote, with their manifest beside them"


@dataclass(frozen=True, slots=True)
class EarlierTables:
    """Tables that were published before.

    Attributes
    ----------
    by : tuple of tuples of str
        The dimensions of each.
    value : str
        The column of values.
    zeros : "shown" or "hidden"
        Whether a hidden cell may be 0.
    cells : mapping of cell to str
        What is written in each: a number, or the mark of hidden cells.
    """

    name: str
    by: tuple[tuple[str, ...], ...]
    value: str
    zeros: Literal["shown", "hidden"]
    hierarchies: Mapping[str, Mapping[str, Sequence[str]]] = field(repr=False)
    cells: Mapping[CellKey, str] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class KeptCells:
    """Which cells of a system an earlier release showed or hid, and how many are others by now."""

    is_shown: BoolArray  # with the value that they still have
    is_hidden: BoolArray
    n_changed: int

    @property
    def facts(self) -> tuple[str, ...]:
        """What became of the earlier cells, in whole sentences."""
        told = (
            f"{int(self.is_shown.sum()):,} cells stay as an earlier release showed them, and "
            f"{int(self.is_hidden.sum()):,} stay hidden: this file holds the earlier tables, too."
        )
        if not self.n_changed:
            return (told,)
        changed = (
            f"{self.n_changed:,} cells of the earlier release have other values now: what a reader concludes from the "
            "changes is not judged."
        )
        return careful(changed), told

    def to_dict(self) -> dict[str, int]:
        """Return how many cells there are of each kind."""
        return {
            "n_kept_shown": int(self.is_shown.sum()),
            "n_kept_hidden": int(self.is_hidden.sum()),
            "n_changed": self.n_changed,
        }


def read_earlier(path: str | Path) -> EarlierTables:
    """Read an earlier release, and verify that it holds what it claims.

    Raises
    ------
    InputError
        It is no release of tables, or does not hold what its manifest says.
    """
    path = Path(path)
    claim = manifest.claim_of(path)
    if not isinstance(claim, HiddenCells) or claim.kind != HiddenCells.kind:
        raise InputError(f"{path.name} holds no tables with hidden cells.", hint=f"--earlier takes {_NO_TABLES}.")
    frame = frames.read(path)
    if not claim.verify(frame).passed:
        raise InputError(f"{path.name} does not hold what its manifest claims.", hint=f"--earlier takes {_NO_TABLES}.")
    names = claim.columns[:-1]
    columns = [[str(cell) for cell in frame.column(name).to_list()] for name in claim.columns]
    cells = {}
    for *labels, text in zip(*columns, strict=True):
        key = sorted(pair for pair in zip(names, labels, strict=True) if pair[1] != HiddenCells.total)
        cells[tuple(key)] = text
    zeros = claim.witnesses["reader"]["zeros"]
    return EarlierTables(path.name, claim.tables, claim.columns[-1], zeros, claim.trees, cells)


def keep_cells(system: CellSystem, earlier: EarlierTables) -> KeptCells:
    """Find the cells that were published before, and those that were hidden."""
    is_shown, is_hidden = np.zeros(system.n_cells, dtype=np.bool_), np.zeros(system.n_cells, dtype=np.bool_)
    place = {key: cell for cell, key in enumerate(system.keys)}
    n_changed = 0
    for key, text in earlier.cells.items():
        cell = place.get(key)
        if cell is None:
            n_changed += 1
        elif text != HiddenCells.mark:
            is_shown[cell] = Fraction(text) * system.unit == int(system.values[cell])
            n_changed += not is_shown[cell]
        elif system.values[cell] or system.knowledge.zeros == "hidden":
            is_hidden[cell] = True
        else:
            n_changed += 1
    return KeptCells(is_shown, is_hidden, n_changed)


def refuse_published(system: CellSystem, is_primary: BoolArray, kept: KeptCells, earlier: EarlierTables) -> None:
    """Raise InfeasibleError if a cell was published before that the rules hide now."""
    n_told = int((is_primary & kept.is_shown).sum())
    if n_told:
        raise InfeasibleError(
            f"the rules hide {n_told:,} of {system.n_cells:,} cells that {earlier.name} published.",
            hint="nothing hides them again: ask for the rules of that release, or leave these cells out.",
        )
