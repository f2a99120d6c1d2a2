"""Build the certificate of an audit: its witness tables, for a checker that knows no solver."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hushtable._types import CountArray
from hushtable.claims import Certificate
from hushtable.tabulation.auditing import PROTECTED, CellAudit
from hushtable.tabulation.cells import CellSystem
from hushtable.tabulation.reading import TableReading
from hushtable.tabulation.witnesses import ProtectionLevels, WitnessTable


def build_certificate(
    system: CellSystem,
    audit: CellAudit,
    levels: ProtectionLevels,
    readings: Sequence[TableReading],
    *,
    asks_all: bool,
) -> Certificate:
    """Return the certificate that the protected cells of an audit are so.

    Parameters
    ----------
    system : CellSystem
    audit : CellAudit
    levels : ProtectionLevels
        What was asked of each cell.
    readings : sequence of TableReading
        How the published tables are read, in their order.
    asks_all : bool
        Whether something must be asked of every hidden cell.
    """
    hidden = system.hidden
    place = {cell: position for position, cell in enumerate(hidden.tolist())}
    witnesses = audit.witnesses or (_table_of_determined(audit),)
    tables = [_values_of(witness, system, audit, hidden) for witness in witnesses]
    base = tables[0]
    changes = []
    for values, witness in zip(tables[1:], witnesses[1:], strict=True):
        differs = np.flatnonzero(values * witnesses[0].denominator != base * witness.denominator)
        changes.append(
            {"denominator": witness.denominator, "cells": differs.tolist(), "values": values[differs].tolist()}
        )
    asked = [judged.cell for judged in audit.cells if judged.outcome == PROTECTED]
    return Certificate.from_entries(
        {
            "kind": "witnesses",
            "tables": [reading.to_dict() for reading in readings],
            "reader": system.knowledge.to_dict(),
            "decimals": system.decimals,
            "cells": [[list(part) for part in system.keys[cell] or ()] for cell in hidden.tolist()],
            "asks_all": asks_all,
            "asked": [_describe_level(place[cell], levels, cell) for cell in asked],
            "base": {"denominator": witnesses[0].denominator, "values": base.tolist()},
            "changes": changes,
        }
    )


def _table_of_determined(audit: CellAudit) -> WitnessTable:
    low = audit.deduction.low[audit.open_cells]
    return WitnessTable(np.where(np.isfinite(low), low, 0).astype(np.int64))


def _values_of(witness: WitnessTable, system: CellSystem, audit: CellAudit, hidden: CountArray) -> CountArray:
    """Return the values of all hidden cells in a witness; those that are determined have theirs."""
    values = np.where(np.isfinite(audit.deduction.low), audit.deduction.low, 0) * witness.denominator
    values[audit.open_cells] = witness.values
    table: CountArray = values[hidden].astype(np.int64)
    return table


def _describe_level(position: int, levels: ProtectionLevels, cell: int) -> dict[str, int | None]:
    down, up = float(levels.reach_down[cell]), float(levels.reach_up[cell])
    return {
        "cell": position,
        "reach_down": None if math.isinf(down) else round(down),
        "reach_up": None if math.isinf(up) else round(up),
        "spread": round(float(levels.spread[cell])),
    }
