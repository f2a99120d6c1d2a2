"""What published tables tell together with a published release of the same records.

A class of the release is spread over the cells that its published values cover, nobody knows how; a cell of a table
is the sum of what the classes have there. Both are sums of one system, in which a reader deduces more than in either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CountArray
from hushtable.claims import Claim, Classes, coverage_matrix, open_release, select_for_claim
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError
from hushtable.io import Frame
from hushtable.release import Release, manifest
from hushtable.risk import OwnAttack
from hushtable.search import check_memory
from hushtable.tabulation.cells import CellKey, CellSystem, append_equations
from hushtable.tabulation.checking import TableAudit
from hushtable.tabulation.deducing import Deduction, deduce
from hushtable.tabulation.tabulating import MISSING_LABEL

_MAX_PARTS: Final = 200_000  # of classes in cells


@dataclass(frozen=True, slots=True, eq=False)
class _ClassSpread:
    """How the classes of a release can be spread over cells.

    Classes that cover the same cells are one here: a group.
    """

    covers: BoolArray  # (n_groups, n_cells): which cells a group may be in
    n_records: CountArray  # of each group
    cells: CountArray  # of the system


def attack_with_tables(frame: Frame, claim: Classes, tables: TableAudit) -> tuple[OwnAttack, ...]:
    """Attack a release with tables of the same records, and the tables with the release.

    Parameters
    ----------
    frame : Frame
        What was released.
    claim : Classes
        What its cells mean.
    tables : TableAudit
        As `hushtable.check_tables` read them.

    Raises
    ------
    InputError
        The tables count other records than the release, or name none of its columns.
    """
    if not tables.system.is_integer:
        raise InputError("the tables hold sums.", hint="a release gives counts: pass tables of counts.")
    spreads = [
        spread
        for names in dict.fromkeys(_dimensions_of(reading.by, reading.across) for reading in tables.readings)
        if (spread := _spread_classes(frame, claim, tables.system, names)) is not None
    ]
    if not spreads:
        raise InputError(
            "no table has a dimension that the release publishes.", hint="they are compared by the names of columns."
        )
    system, parts = _join(tables.system, spreads)
    found = deduce(system)
    return _attack_cells(tables, found), _attack_groups(spreads, parts, found, claim.k)


def open_released(release: object) -> tuple[Frame, Classes]:
    """Return what a release publishes, and what its cells mean: of one in memory, or a path with its manifest."""
    claim: Claim | None = release.claim if isinstance(release, Release) else manifest.claim_of(release)
    if not isinstance(claim, Classes):
        raise InputError("this is no release of classes.", hint="pass what anonymize returned, or the path it wrote.")
    if isinstance(release, Release):
        return release.edition.frame(), claim
    # Of a folder the distinct rows are enough.
    return select_for_claim(claim, open_release(release, manifest.dialect_of(release))), claim


def _dimensions_of(by: Sequence[str], across: str | None) -> tuple[str, ...]:
    return (*by, *([] if across is None or across in by else [across]))


def _spread_classes(frame: Frame, claim: Classes, system: CellSystem, names: Sequence[str]) -> _ClassSpread | None:
    """Return how the released records can be spread over the finest cells of some dimensions of a table."""
    shared = [name for name in names if name in frame.columns]
    if not shared:
        return None
    leaves = _find_leaves(system, shared)
    rows = np.zeros((frame.n_rows, len(leaves)), dtype=np.bool_)
    check_memory(2.0 * rows.size, f"{len(leaves):,} cells for {frame.n_rows:,} rows", "compare coarser tables.")
    rows[:] = True
    for name in shared:
        texts = [None if cell is None else str(cell) for cell in frame.values(name).to_list()]
        distinct = list(dict.fromkeys(texts))
        labels = [dict(key).get(name) for key in (system.keys[cell] or () for cell in leaves.tolist())]
        own = list(dict.fromkeys(labels))
        spec = claim.specs.get(name, ColumnSpec("category"))
        values = [None if label == MISSING_LABEL else label for label in own]
        covers = coverage_matrix(distinct, values, spec, claim.hierarchies.get(name), name)
        number, column = {text: row for row, text in enumerate(distinct)}, {label: at for at, label in enumerate(own)}
        rows &= covers[[number[text] for text in texts]][:, [column[label] for label in labels]]
    if not rows.any(axis=1).all():
        raise InputError(
            f"{int((~rows.any(axis=1)).sum()):,} released rows fit no cell of {' x '.join(shared)}.",
            hint="the tables are of other records, or their labels are of other values.",
        )
    covers, group_of = np.unique(rows, axis=0, return_inverse=True)
    n_records = np.bincount(group_of.ravel(), weights=frame.records, minlength=len(covers)).astype(np.int64)
    return _ClassSpread(covers, n_records, leaves)


def _find_leaves(system: CellSystem, names: Sequence[str]) -> CountArray:
    """Return the cells of exactly these dimensions that are the sum of no others over one of them."""
    totals = {int(system.equations.cells[start]): set[str]() for start in system.equations.starts[:-1].tolist()}
    for start, over in zip(system.equations.starts[:-1].tolist(), system.equations.over, strict=True):
        totals[int(system.equations.cells[start])].add(over)
    wanted = set(names)

    def is_leaf(cell: int, key: CellKey | None) -> bool:
        own = {name for name, _ in key or ()}
        return key is not None and own == wanted and not totals.get(cell, set()) & wanted

    return np.array([cell for cell, key in enumerate(system.keys) if is_leaf(cell, key)], dtype=np.int64)


def _join(system: CellSystem, spreads: Sequence[_ClassSpread]) -> tuple[CellSystem, list[CountArray]]:
    """Add to a system how many records of each group are in each cell; return it with the numbers of these parts."""
    all_parts = []
    for spread in spreads:
        n_parts = int(spread.covers.sum())
        if n_parts > _MAX_PARTS:
            raise InputError(
                f"the released classes may be in {n_parts:,} cells.", hint="compare tables of fewer or coarser cells."
            )
        n_left = _count_left_out(system, spread)
        n_groups, n_cells = spread.covers.shape
        # Known sizes of groups, their parts by cell, and of each cell the records that were not released.
        sizes = system.n_cells + np.arange(n_groups + 1)
        parts = np.full(spread.covers.shape, -1)
        parts[spread.covers] = sizes[-1] + 1 + np.arange(n_parts)
        left = sizes[-1] + 1 + n_parts + np.arange(n_cells)
        lines = [[sizes[group], *parts[group][spread.covers[group]]] for group in range(n_groups)]
        lines += [
            [cell, *parts[:, at][spread.covers[:, at]], left[at]] for at, cell in enumerate(spread.cells.tolist())
        ]
        lines.append([sizes[-1], *left])
        n_new = n_groups + 1 + n_parts + n_cells
        is_known = np.arange(n_new) <= n_groups
        values = np.zeros(n_new, dtype=np.int64)
        values[: n_groups + 1] = [*spread.n_records.tolist(), n_left]
        system = append_equations(system, lines, values, is_known)
        all_parts.append(parts)
    return system, all_parts


def _count_left_out(system: CellSystem, spread: _ClassSpread) -> int:
    """Return how many records the tables count, and the release does not have."""
    whole = [cell for cell, key in enumerate(system.keys) if key == ()]
    if not whole or not system.is_known[whole[0]]:
        raise InputError(
            "the tables do not show how many records they count.",
            hint="pass tables that show their total; rounded ones do not show the true one.",
        )
    n_left = int(system.values[whole[0]] - spread.n_records.sum())
    if n_left < 0:
        raise InputError(
            f"the release has {-n_left:,} records more than the tables count.",
            hint="compare tables and a release of the same records.",
        )
    return n_left


def _attack_cells(tables: TableAudit, found: Deduction) -> OwnAttack:
    """Count the hidden cells that are computed with the release only, or known to be small only then."""
    system, alone = tables.system, tables.audit.deduction
    marked = system.marked
    is_new = found.is_determined[marked] & ~alone.is_determined[marked]
    if tables.threshold is not None:
        is_new |= (found.high[marked] < tables.threshold) & (alone.high[marked] >= tables.threshold)
    told = "how many people a hidden cell of the tables counts"
    n_found = int(is_new.sum())
    return OwnAttack("hidden cells", None, told, "cells", max(1, len(marked)), n_found, n_found, None, n_found > 0)


def _attack_groups(spreads: Sequence[_ClassSpread], parts: Sequence[CountArray], found: Deduction, k: int) -> OwnAttack:
    """Count the records of classes of which the tables tell that fewer than k are in a cell."""
    n_targets = n_found = 0
    for spread, places in zip(spreads, parts, strict=True):
        is_open = spread.covers.sum(axis=1) > 1
        low, high = found.low[places], found.high[places]
        is_told = spread.covers & (low == high) & (low > 0) & (low < k)
        n_targets += int(spread.n_records[is_open].sum())
        n_found += int(np.where(is_told & is_open[:, None], low, 0).sum())
    told = "fewer than k records of a class are of a value that the class does not tell"
    return OwnAttack("narrowed classes", None, told, "records", max(1, n_targets), n_found, n_found, None, n_found > 0)
