"""What a report says of tables of cells: what readers can compute, and what was hidden so that they cannot."""

from __future__ import annotations

from typing import Final

from hushtable.reporting.document import Quantity, Section, Table, row_of
from hushtable.tabulation import RoundedTables, TableAudit, Tabulation

_MAX_CELLS_SHOWN: Final = 20


def sections_on_audit(result: TableAudit) -> tuple[Section, ...]:
    """Return the sections of the hidden cells of tables; only cells that a reader computes are named."""
    outcomes = tuple((outcome, Quantity(count, "count")) for outcome, count in result.outcomes.items())
    computed = tuple(
        row_of(result.system.describe(cell.cell), "" if found is None else found.describe(result.system))
        for cell, found in result.derivations(_MAX_CELLS_SHOWN)
    )
    more = len(result.exposed) - len(computed)
    note = f"And {more:,} more." if more > 0 else ""
    listed = (Table("Cells that a reader computes", ("cell", "from"), computed, note),) if computed else ()
    return (
        Section(
            "cells",
            "What a reader can compute",
            (Table("Hidden cells by outcome", ("outcome", "cells"), outcomes), *listed),
        ),
    )


def sections_on_tabulation(result: Tabulation) -> tuple[Section, ...]:
    """Return the sections of tables made from records: rules, costs and the bound."""
    pattern = result.pattern
    rows = (
        ("cells", Quantity(result.n_cells, "count")),
        ("hidden by the rules", Quantity(result.n_primary, "count")),
        ("hidden besides", Quantity(result.n_secondary, "count")),
        ("cost of these", Quantity(pattern.cost)),
        ("no pattern costs less than", Quantity(pattern.bound)),
    )
    return (Section("cells", "What is hidden", (Table("Cells", ("what", "number"), rows),)),)


def sections_on_rounding(result: RoundedTables) -> tuple[Section, ...]:
    """Return the sections of rounded tables: how far counts were moved."""
    rows = (
        ("cells", Quantity(result.system.n_cells, "count")),
        ("multiples of", Quantity(result.base, "count")),
        ("a count is less than this from the true one", Quantity(result.reach + 1, "count")),
        ("mean distance", Quantity(round(float(result.moved.mean()), 3))),
    )
    return (Section("cells", "How counts were rounded", (Table("Cells", ("what", "number"), rows),)),)
