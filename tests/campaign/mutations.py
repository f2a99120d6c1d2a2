"""Good releases made worse: `hushtable.verify` and the slow judge say the same of each."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

import hushtable as ht
from campaign.outcome import Outcome
from campaign.releases import verified
from campaign.requests import Request, request
from campaign.tables import records
from judging_slow import classes_of, is_suppressed, published_failures
from reading import json_list, text_of

Rows = list[dict[str, Any]]
N_MUTANTS = 6


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a release, and some mutants of it."""
    outcome = Outcome()
    asked = request(random, folder, tame=True)
    outcome.reproduction, outcome.secrets = asked.reproduction(), asked.secrets
    try:
        release = ht.anonymize(asked.data, **asked.call)
    except Exception as error:  # noqa: BLE001 - releases are another kind of case
        outcome.count(f"no release: {type(error).__name__}")
        return outcome
    frame = polars_frame(release.frame)
    for _ in range(N_MUTANTS):
        rows = frame.rows(named=True)
        told = [mutate(random, asked, rows) for _ in range(random.choice((0, 1, 1, 2, 4)))]
        compare(outcome, asked, release, frame, rows, ", ".join(told) or "nothing")
    return outcome


def polars_frame(frame: Any) -> pl.DataFrame:
    """Return a release's frame as polars."""
    if isinstance(frame, ht.Table):
        frame = frame.decode()
    if isinstance(frame, pd.DataFrame):
        return pl.from_pandas(frame)
    return pl.DataFrame(pl.from_arrow(frame)) if isinstance(frame, pa.Table) else frame


def compare(outcome: Outcome, asked: Request, release: ht.Release, frame: pl.DataFrame, rows: Rows, told: str) -> None:
    """Let both judge a mutant."""
    terms = asked.terms()
    for row in rows:
        row |= {name: text_of(row[name]) for name in terms.quasi_identifiers}
    schema = {name: pl.String if name in terms.quasi_identifiers else dtype for name, dtype in frame.schema.items()}
    mutant = pl.DataFrame(rows, schema=schema, orient="row")
    verdict = None
    with outcome.guarded("verify"):
        verdict = verified(asked, release, mutant)
    if verdict is None:
        return
    _, published = records(mutant)
    complaints = published_failures(terms, published, asked.original, asked.people)
    outcome.count("accepted" if verdict.passed else "refused")
    wrong = f"verify {'passes' if verdict.passed else 'refuses'} what the definitions do not: {_blamed(complaints, verdict)}"
    detail = f"{told}\nslow judge: {complaints[:3]}\nverify: {[str(failure) for failure in verdict.failures][:3]}\n{mutant.rows()}"
    outcome.expect(verdict.passed == (not complaints), wrong, detail)
    left_out = [is_suppressed(terms, row) for row in published]
    sizes = [len(found) for found in classes_of(terms, published, left_out).values()]
    found = (verdict.n_records, verdict.n_suppressed, verdict.n_classes, verdict.smallest_class, verdict.n_unique)
    expected = (len(rows), sum(left_out), len(sizes), min(sizes, default=0), sizes.count(1))
    if not asked.people:
        outcome.expect(found == expected, "verify counts differently", f"{told}: {found}, expected {expected}\n{mutant.rows()}")


def _blamed(complaints: list[str], verdict: ht.Verdict) -> str:
    return ", ".join(sorted({complaint.partition("(")[0] for complaint in complaints})) or ", ".join(
        sorted({str(failure).partition("(")[0].strip() for failure in verdict.failures})
    )


def mutate(random: Random, asked: Request, rows: Rows) -> str:
    """Change a table in place, and tell how."""
    if not rows:
        return "nothing"
    change = random.choice((_copy_cell, _star, _narrow, _other_cell, _drop, _double, _swap, _swap, _set_sensitive, _blank_out))
    return f"{change.__name__.strip('_')} {change(random, asked, rows)}"


def _copy_cell(random: Random, asked: Request, rows: Rows) -> str:
    name = random.choice(asked.call["quasi_identifiers"])
    i, j = random.randrange(len(rows)), random.randrange(len(rows))
    rows[i][name] = rows[j][name]
    return f"{name!r} of {j} to {i}"


def _star(random: Random, asked: Request, rows: Rows) -> str:
    name, i = random.choice(asked.call["quasi_identifiers"]), random.randrange(len(rows))
    rows[i][name] = "*"
    return f"{name!r} {i}"


def _narrow(random: Random, asked: Request, rows: Rows) -> str:
    """Take a member from a set, or an end from an interval."""
    name, i = random.choice(asked.call["quasi_identifiers"]), random.randrange(len(rows))
    cell = text_of(rows[i][name]) or ""
    members = json_list(cell)
    if members is not None and len(members) > 1:
        cell = json.dumps(members[1:], ensure_ascii=False)
    elif cell[:1] == "[" and cell.endswith("]") and members is None:
        low, _, _ = cell[1:-1].partition(", ")
        cell = f"[{low}, {low}]"
    elif cell[:1] == "[" and cell.endswith(")"):
        cell = ">=" + cell[1:-1].partition(", ")[0]
    else:
        return "nothing"
    for row in rows:
        if random.random() < 0.3 and text_of(row[name]) == text_of(rows[i][name]):
            row[name] = cell
    rows[i][name] = cell
    return f"{name!r} {i} to {cell}"


def _other_cell(random: Random, asked: Request, rows: Rows) -> str:
    name, i = random.choice(asked.call["quasi_identifiers"]), random.randrange(len(rows))
    rows[i][name] = random.choice(asked.original)[name]
    return f"{name!r} {i}, an original value"


def _drop(random: Random, asked: Request, rows: Rows) -> str:
    i = random.randrange(len(rows))
    del rows[i : i + random.choice((1, 1, 3))]
    return f"from {i}"


def _double(random: Random, asked: Request, rows: Rows) -> str:
    i = random.randrange(len(rows))
    rows.append(dict(rows[i]))
    return str(i)


def _swap(random: Random, asked: Request, rows: Rows) -> str:
    if not asked.sensitive:
        return "nothing"
    name = random.choice(asked.sensitive)
    i, j = random.randrange(len(rows)), random.randrange(len(rows))
    rows[i][name], rows[j][name] = rows[j][name], rows[i][name]
    return f"{name!r} {i}, {j}"


def _set_sensitive(random: Random, asked: Request, rows: Rows) -> str:
    if not asked.sensitive:
        return "nothing"
    name, value = random.choice(asked.sensitive), random.choice(rows)
    changed = [row for row in rows if random.random() < 0.3]
    for row in changed:
        row[name] = value[name]
    return f"{name!r} {len(changed)} cells"


def _blank_out(random: Random, asked: Request, rows: Rows) -> str:
    name, i = random.choice([*asked.call["quasi_identifiers"], *asked.sensitive]), random.randrange(len(rows))
    rows[i][name] = None
    return f"{name!r} {i}"
