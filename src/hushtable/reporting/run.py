"""The report of a pipeline: what was done, what failed, and the figures of the whole."""

from __future__ import annotations

from typing import Final

from hushtable.pipeline import PipelineRun
from hushtable.reporting.sections import Block, CellContent, Paragraph, Points, Quantity, Section, Table

__all__ = ["of_run"]

_MOST_ROWS: Final = 50
_WHOLE: Final = ("[global]", ".global.", ".G.")
"""What the names of reports on the whole of a table have in them."""


def of_run(run: PipelineRun) -> tuple[Section, ...]:
    """Return the sections of a pipeline: what was done, what failed, and the figures of the whole."""
    verdicts: list[Block] = []
    if run.failures:
        verdicts.append(Paragraph(f"{len(run.failures)} limits or claims do not hold.", "careful"))
    if run.missing:
        verdicts.append(Paragraph(f"{len(run.missing)} evaluators that were asked for were left out.", "careful"))
    if run.passed:
        verdicts.append(Paragraph("Every limit holds, and every release what it claims.", "good"))
    steps = tuple((each.step.name, Quantity(each.seconds), each.status) for each in run.timings)
    blocks: list[Block] = [
        *verdicts,
        *([Points((*run.failures, *run.missing))] if not run.passed else []),
        Table("Steps", ("step", "seconds", "status"), steps),
        Points(tuple(path.name for path in run.files)),
    ]
    return Section("summary", "In short", tuple(blocks)), *_figures(run)


def _figures(run: PipelineRun) -> tuple[Section, ...]:
    """Show the figures of whole tables; those of columns may hold ends of ranges, which are somebody's values."""
    found = []
    for name, columns in run.columns.items():
        if not any(mark in name for mark in _WHOLE):
            continue
        titles = tuple(columns)
        rows = tuple(zip(*(columns[title] for title in titles), strict=True))[:_MOST_ROWS]
        found.append(Table(name, titles, tuple(tuple(map(_cell, row)) for row in rows)))
    return (Section("figures", "Figures of the whole", tuple(found)),) if found else ()


def _cell(entry: object) -> CellContent:
    if isinstance(entry, (int, float)) and not isinstance(entry, bool):
        return Quantity(entry)
    return "" if entry is None else str(entry)
