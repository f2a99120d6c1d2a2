"""check: what a reader can compute of the hidden cells of tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from hushtable.cli.arguments import ReadingOptions, Results, Seconds, budget_of, names_of, table_path
from hushtable.cli.groups import argument, field
from hushtable.cli.report import report_outputs, write_report
from hushtable.cli.terminal import (
    exit_with_code,
    fold_sentences,
    format_table,
    print_json,
    print_lines,
    print_to_stderr,
    show_step,
)
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.tabulation import ReaderKnowledge, TableAudit

_SHOWN: Final = 20

CellTables = Annotated[
    list[Path],
    argument(
        "TABLE",
        "Tables of cells with totals: CSV, Excel, Parquet or .tab of tau-Argus, a row a cell or a pivot.",
        parser=table_path,
    ),
]


@dataclass(frozen=True)
class CellOptions:
    """How the tables are laid out; detected where not given."""

    by: str = field("", "Columns of labels. Default: those that hold no numbers.", metavar="A,B")
    value: str | None = field(
        None, "Column of values. Default: the only one of numbers, or one called n or count.", metavar="COLUMN"
    )
    across: str | None = field(None, "Of a pivot: the name of what its columns are categories of.", metavar="NAME")
    hidden: str = field("", "Marks that hide a value. Default: the usual ones (x, *, :, blank).", metavar="X,Y")
    status: str | None = field(
        None, "Column of statuses of tau-Argus or sdcTable: which of the values are hidden.", metavar="COLUMN"
    )
    frequency: str | None = field(
        None, "Column that counts the contributors of each sum: who is alone knows it.", metavar="COLUMN"
    )
    total: str = field(
        "",
        "Label of totals, or one per column. Default: the usual words, or what adds up.",
        metavar="LABEL|A=LABEL",
    )
    hierarchy: list[str] | None = field(
        None, "Which labels add up to which: a table with a column for each level, or .hrc.", metavar="A=FILE"
    )

    def arguments(self) -> dict[str, Any]:
        """Return what `hushtable.check_tables` takes."""
        total: str | dict[str, str] = self.total
        if "=" in self.total:
            total = dict(parse_pair(each, "--total") for each in names_of(self.total))
        return {
            "by": names_of(self.by),
            "value": self.value,
            "across": self.across,
            "hidden": [mark.strip() for mark in self.hidden.split(",")] if self.hidden else (),
            "total": total,
            "status": self.status,
            "frequency": self.frequency,
            "hierarchies": dict(parse_pair(each, "--hierarchy") for each in self.hierarchy or []),
        }


@dataclass(frozen=True)
class ReaderOptions:
    """What a reader of the tables knows."""

    content: str | None = field(
        None,
        "Whether values are counts (whole numbers) or sums. Default: counts, if all values are whole.",
        metavar="counts|sums",
    )
    zeros: str = field("shown", "shown: a hidden count is at least 1; hidden: it may be 0.", metavar="shown|hidden")
    absent: str = field("zero", "What a combination without a row is: zero or hidden.", metavar="zero|hidden")
    alone: list[str] | None = field(
        None, "A hidden cell of one contributor, who knows its value: g=a,h=x. Once for each.", metavar="A=LABEL,..."
    )
    negative: bool = field(False, "A hidden sum may be below 0.", "--negative")
    threshold: int | None = field(None, "A count below is small: shown it fails, hidden it must look large.", min=2)
    seconds: Seconds = None

    @property
    def knowledge(self) -> ReaderKnowledge:
        """What a reader knows."""
        from hushtable.tabulation import ReaderKnowledge

        return ReaderKnowledge(
            self.content,  # type: ignore[arg-type]  # checked by the callee
            self.zeros,  # type: ignore[arg-type]
            self.absent,  # type: ignore[arg-type]
            self.negative,
            alone=tuple(tuple(parse_pair(each, "--alone") for each in names_of(cell)) for cell in self.alone or ()),
        )


@dataclass(frozen=True)
class CheckResults(Results):
    """What is written and printed."""

    certificate: Path | None = field(None, "File for the witness tables, which prove protection.", metavar="FILE.json")


def check(
    tables: CellTables, cells: CellOptions, reader: ReaderOptions, results: CheckResults, reading: ReadingOptions
) -> None:
    """Check whether tables may be published: what a reader can compute of every hidden cell, from all of them together.

    Exits with 1 if a hidden cell is exposed, known too closely or not judged.
    """
    from hushtable.io import drafts
    from hushtable.release import manifest
    from hushtable.tabulation import check_tables

    described = [table.name for table in tables if manifest.manifest_path(table).is_file()]
    if described and reading != ReadingOptions():
        raise InputError(
            f"{described[0]} has a manifest, and was given with options of how it is read.",
            hint="the manifest says it: leave them out.",
        )
    outputs = (*filter(None, [results.certificate]), *report_outputs(results.report))
    drafts.check_outputs(outputs, tables, overwrite=results.force)
    with show_step("reading and judging"):
        found = check_tables(
            [reading.table(table) for table in tables] if reading != ReadingOptions() else list(tables),
            **cells.arguments(),
            reader=reader.knowledge,
            threshold=reader.threshold,
            budget=budget_of(reader.seconds),
        )
    if results.certificate is not None:
        found.certificate.write(results.certificate, overwrite=results.force)
        print_to_stderr(f"Wrote {results.certificate}.")
    write_report(found, results)
    with exit_with_code(0 if found.passed else 1):
        if results.as_json:
            print_json({**found.to_dict(), "facts": found.facts})
        else:
            print_lines(
                *fold_sentences([*_describe_reading(found), *found.facts]),
                *_failing_cells(found),
                *_leaks_to_alone(found),
            )


def parse_pair(text: str, name: str) -> tuple[str, str]:
    """Read an option like ``COLUMN=WHAT``."""
    column, sign, value = text.partition("=")
    if not sign or not column:
        raise InputError(f"{name} {text!r}.", hint="write COLUMN=WHAT, once for each column.")
    return column, value


def _describe_reading(found: TableAudit) -> list[str]:
    lines = []
    for name, reading in zip(found.names, found.readings, strict=True):
        totals = ", ".join(f"{column}={label}" for column, label in reading.total.items() if column)
        value = reading.value or f"columns are labels of {reading.across}"
        lines.append(f"{name}: by {', '.join(reading.by)}; values: {value}; totals: {totals or 'none'}.")
    return lines


def _failing_cells(found: TableAudit) -> list[str]:
    """Return the cells that fail as a table, with what computes them."""
    failing = list(found.failing)
    if not failing:
        return []
    system = found.system
    because: Mapping[int, str] = {
        cell.cell: derivation.describe(system)
        for cell, derivation in found.derivations(_SHOWN)
        if derivation is not None
    }
    failing.sort(key=lambda cell: cell.cell not in because)
    rows = []
    for cell in failing[:_SHOWN]:
        low, high = system.format_value(cell.low), system.format_value(cell.high)
        known = low if low == high else f"{low} to {high}"
        rows.append((system.describe(cell.cell), cell.outcome, known, because.get(cell.cell, "")))
    more = [f"... and {len(failing) - _SHOWN:,} more cells, see --json"] if len(failing) > _SHOWN else []
    table = format_table(
        ("cell", "outcome", "a reader knows", "from"), rows, right=("a reader knows",), sentences=("outcome", "from")
    )
    return ["", table, *more]


def _leaks_to_alone(found: TableAudit) -> list[str]:
    """Return what those compute who are said to be alone in a cell, as a table."""
    describe = found.system.describe
    rows = [(describe(int(leak.own[0])), describe(cell)) for leak in found.leaks for cell in leak.cells]
    more = [f"... and {len(rows) - _SHOWN:,} more cells, see --json"] if len(rows) > _SHOWN else []
    return ["", format_table(("alone in", "computes"), rows[:_SHOWN]), *more] if rows else []
