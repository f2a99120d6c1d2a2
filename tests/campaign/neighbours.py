"""Neighbours: a table with one person less, and how often an assistant is told something else."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl

from assistant_neighbours import draw_draft, explain_sheets, explain_verdicts, judge, tell
from campaign.outcome import Outcome
from hushtable import datasets


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table of some kind, one person removed, and a draft."""
    outcome = Outcome()
    n, seed = random.randint(110, 600), random.randint(0, 9)
    name = random.choice(["people", "visits"])
    table = getattr(datasets, name)(n, seed=seed)
    place = random.randrange(table.height)
    told = tell(table, folder / "all.csv")
    other = tell(pl.concat([table[:place], table[place + 1 :]]), folder / "fewer.csv")
    arguments = draw_draft(random, told)
    outcome.reproduction = f"{name}({n}, seed={seed}) without row {place}; {arguments}"
    crossed, wrong = explain_sheets(told, other)
    outcome.complain("a sheet differs, and no edge is crossed", wrong)
    outcome.count("sheet equal" if told.sheet == other.sheet else "sheet differs")
    for each in crossed:
        outcome.count(f"crossed {each}")
    outcome.count(f"verdict {explain_verdicts(judge(told, arguments), judge(other, arguments))}")
    return outcome
