"""A table with a person and without: what an assistant is told of both, and why it may differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from hushtable.assistant.bands import LOSS_BANDS
from hushtable.assistant.menu import KS, LADDERS, METHODS_OF_MENU, MenuRefusal, apply_draft, parse_proposal
from hushtable.assistant.sheet import Sheet, make_sheet
from hushtable.assistant.source import AssistantSource, AssistantTerms, read_source
from hushtable.assistant.verdicts import AssistantVerdict, judge_policy
from hushtable.tables import Table

TERMS = AssistantTerms("")
_LEAST = 11
_BAND_COLUMNS = ("distinct", "missing", "power")


@dataclass(frozen=True)
class Told:
    """What an assistant is told of a table."""

    source: AssistantSource
    sheet: Sheet


def tell(table: pl.DataFrame, path: Path) -> Told:
    """Make the sheet of a table."""
    table.write_csv(path)
    source = read_source(path, None)
    return Told(source, make_sheet(source, TERMS))


def draw_draft(draw: Random, told: Told) -> dict[str, Any]:
    """Draw a proposal from the menu that fits the table."""
    columns = []
    for column in told.sheet.columns:
        if column.role == "ask":
            columns.append({"id": column.id, "role": "quasi-identifier"})
        if column.role != "quasi-identifier" or draw.random() < 0.4:
            continue
        fitting = [name for name, each in LADDERS.items() if not each.kinds or column.kind in each.kinds]
        columns.append(
            draw.choice([{"id": column.id, "role": "leave out"}, {"id": column.id, "ladder": draw.choice(fitting)}])
        )
    return {
        "columns": columns,
        "k": draw.choice(KS),
        "suppression": draw.choice((0.0, 0.01, 0.05)),
        "method": draw.choice(METHODS_OF_MENU),
    }


def judge(told: Told, arguments: dict[str, Any]) -> AssistantVerdict | str:
    """Return the verdict on a proposal, or the code of its refusal."""
    # Every row is another person's, as the terms say.
    policy = told.source.proposal.with_entries({("person",): None})
    try:
        draft = parse_proposal(arguments, 1, told.source, policy).draft
        return judge_policy(told.source, apply_draft(draft, policy, told.source), lambda _: None)
    except MenuRefusal as refusal:
        return refusal.code


def count_records(source: AssistantSource, name: str, text: str) -> int:
    """Count the records of a value, as its column reads it."""
    table = Table.encode(source.typed_frame, [name])
    return (
        int((table.codes[0] == table.columns[0].texts().index(text)).sum()) if text in table.columns[0].texts() else 0
    )


def explain_sheets(before: Told, after: Told) -> tuple[Counter[str], list[str]]:
    """Return which edges were crossed, and what no edge explains."""
    crossed: Counter[str] = Counter()
    wrong = []
    if before.sheet.persons != after.sheet.persons:
        crossed["persons"] += 1
    for old, new in zip(before.sheet.columns, after.sheet.columns, strict=True):
        if old == new:
            continue
        plain = [(each.kind, each.role, each.why, each.topic, each.known_by) for each in (old, new)]
        crossed["role"] += plain[0] != plain[1]
        for part in _BAND_COLUMNS:
            crossed[part] += getattr(old, part) != getattr(new, part)
        if (old.values is None) != (new.values is None):
            crossed["role"] += 1
            continue
        values = [{each.text: each.share for each in column.values or ()} for column in (old, new)]
        name = before.source.aliases[old.id]
        for text in values[0].keys() ^ values[1].keys():
            n = count_records(before.source, name, text)
            crossed["least"] += 1
            if n not in (_LEAST, _LEAST - 1):
                wrong.append(f"{old.id}: a value of {n} persons")
        for text in values[0].keys() & values[1].keys():
            crossed["share"] += values[0][text] != values[1][text]
    return +crossed, wrong


def explain_verdicts(before: AssistantVerdict | str, after: AssistantVerdict | str) -> str:
    """Say whether two verdicts are equal, or the loss crossed an edge; else what differs."""
    if before == after:
        return "equal"
    if isinstance(before, str) or isinstance(after, str) or before.loss is None or after.loss is None:
        return "feasible"
    if before.hidden != after.hidden:
        return "hidden"
    steps = abs(LOSS_BANDS.index(before.loss) - LOSS_BANDS.index(after.loss))
    return "loss" if steps == 1 else "loss by more than an edge"
