"""Trackers: one more person with a rare value or pair, and whether an assistant can ask for it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl

from assistant_client import small_people
from assistant_neighbours import draw_draft, explain_sheets, explain_verdicts, judge, tell
from campaign.outcome import Outcome


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: people, one more of them, and a draft."""
    outcome = Outcome()
    people = small_people(random.randint(110, 300))
    row = dict(zip(people.columns, random.choice(people.rows()), strict=True))
    row["name"] = "Person 999"
    kind = random.choice(["value", "pair", "age", "nothing rare"])
    change = {
        "value": {"postcode": "47665"},
        "pair": {"education": random.choice(people["education"].to_list()), "age": random.choice([20, 69])},
        "age": {"age": random.choice([1, 17, 99, 777])},
    }
    more = pl.concat([people, pl.DataFrame([row | change.get(kind, {})], schema=people.schema)])
    without, told = tell(people, folder / "without.csv"), tell(more, folder / "with.csv")
    arguments = draw_draft(random, without)
    outcome.reproduction = f"small_people({people.height}) and one more, {kind}: {change.get(kind)}; {arguments}"
    crossed, wrong = explain_sheets(told, without)
    outcome.complain("a sheet differs, and no edge is crossed", wrong)
    for each in crossed:
        outcome.count(f"sheet: {each} crossed")
    difference = explain_verdicts(judge(told, arguments), judge(without, arguments))
    outcome.count(f"{kind}, verdict: {difference}")
    outcome.expect(difference in ("equal", "loss"), f"a verdict tells of one person: {difference}")
    return outcome
