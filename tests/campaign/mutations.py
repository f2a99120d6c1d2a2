"""Good releases made worse: `hushtable.verify` and the slow judge say the same of each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

import hushtable as ht
from campaign.outcome import Outcome
from campaign.releases import keeping_suppressed, verified
from campaign.requests import Request, request
from campaign.tables import records
from judging_slow import Terms, classes_of, is_suppressed, published_failures, wildcard_sizes
from reading import json_list, text_of

Rows = list[dict[str, Any]]
N_MUTANTS = 6


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a release, and some mutants of it."""
    outcome = Outcome()
    asked = request(random, folder, tame=True)
    outcome.reproduction, outcome.secrets = asked.reproduction(), asked.secrets
    try:
        release = keeping_suppressed(ht.anonymize(asked.data, **asked.call), random)
    except Exception as error:
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
    _, published = records(mutant)
    _compare_readings(outcome, asked, mutant, published, told)
    verdict = None
    with outcome.guarded("verify"):
        verdict = verified(asked, release, mutant)
    if verdict is None:
        return
    outcome.count("accepted" if verdict.passed else "refused")
    complaints = published_failures(terms, published, asked.original, asked.people)
    detail = f"{told}\nslow judge: {complaints[:3]}\nverify: {list(map(str, verdict.failures))[:3]}\n{mutant.rows()}"
    left_out = [is_suppressed(terms, row) for row in published]
    if asked.people and any(left_out):
        # Whether suppressed rows cover anyone the definitions do not say.
        outcome.count("not compared: suppressed rows and a population")
    elif all(left_out):
        # One class in which nothing is left, or no class: what is published is the same.
        outcome.count("not compared: nothing but suppressed rows")
    else:
        says = "passes" if verdict.passed else "refuses"
        blamed = _blamed(complaints or map(str, verdict.failures))
        outcome.expect(
            verdict.passed == (not complaints), f"verify {says} what the definitions do not: {blamed}", detail
        )
        _compare_counts(outcome, asked, verdict, published, left_out, detail)


def _compare_counts(
    outcome: Outcome, asked: Request, verdict: ht.Verdict, published: Rows, left_out: list[bool], detail: str
) -> None:
    # Of classes without a record, which a population brings, a verdict may say more; and whether rows of `*` alone
    # are suppressed or a class, no one can tell where nothing is sensitive.
    if not asked.people and (asked.sensitive or not any(left_out)):
        sizes = [len(rows) for rows in classes_of(asked.terms(), published, left_out).values()]
        found = (verdict.n_records, verdict.n_suppressed, verdict.n_classes, verdict.smallest_class, verdict.n_unique)
        expected = (len(published), sum(left_out), len(sizes), min(sizes, default=0), sizes.count(1))
        outcome.expect(found == expected, "verify counts differently", f"{found}, expected {expected}\n{detail}")


def _blamed(complaints: Iterable[str]) -> str:
    return ", ".join(sorted({complaint.partition("(")[0].strip() for complaint in complaints}))


def _compare_readings(outcome: Outcome, asked: Request, mutant: pl.DataFrame, published: Rows, told: str) -> None:
    """Compare what k is under other readings of missing cells, and what the risks are."""
    qi, k = asked.call["quasi_identifiers"], 2
    alone = Terms(qi, (), (), asked.terms().kinds)
    for missing in ("wildcard", "worst"):
        with outcome.guarded(f"verify, missing={missing}"):
            verdict = ht.verify(mutant, quasi_identifiers=qi, models=[ht.KAnonymity(k)], missing=missing)
            sizes = wildcard_sizes(alone, published, missing)
            n_suppressed = len(published) - len(sizes)
            expected = all(size >= k for size in sizes) and n_suppressed != 1
            outcome.expect(
                verdict.passed == expected or not published,
                f"verify with missing={missing} differs",
                f"{told}: verify {verdict}, sizes {sizes}\n{[[row[name] for name in qi] for row in published]}",
            )
    with outcome.guarded("verify risks"):
        verdict = ht.verify(mutant, quasi_identifiers=qi, models=[ht.KAnonymity(1)], highest_risk=0.3, average_risk=0.2)
        left_out = [is_suppressed(alone, row) for row in published]
        sizes = [len(rows) for rows in classes_of(alone, published, left_out).values()]
        n_suppressed = len(published) - sum(sizes)
        expected = all(size * 3 >= 10 for size in sizes) and len(sizes) * 5 <= sum(sizes)
        expected &= n_suppressed == 0 or n_suppressed * 3 >= 10
        outcome.expect(
            verdict.passed == expected or not sizes,
            "verify judges risks differently",
            f"{told}: verify {verdict}, sizes {sizes}\n{[[row[name] for name in qi] for row in published]}",
        )


def mutate(random: Random, asked: Request, rows: Rows) -> str:
    """Change a table in place, and tell how."""
    if not rows:
        return "nothing"
    change = random.choice(
        (_copy_cell, _star, _narrow, _other_cell, _drop, _double, _swap, _swap, _set_sensitive, _blank_out)
    )
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
