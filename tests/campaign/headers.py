"""Names of columns that steer terminals: no command prints what acts, and every one ends with one of its codes."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import yaml

import hushtable as ht
from campaign.outcome import Outcome
from command import run

_PIECES = (
    "age", "sex", "身長", "é", "\x1b[2J", "\x1b]0;x\x07", "\x07", "\x08\x08", "\r", "\n", "\t", "\x9b31m",
    "\nFORGED holds", "\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "\x85", "\x7f", "\U000e0041", "[red]", "{}",
    "%s", "\\x1b", "*", "<script>", "&amp;", "'", '"', ",", ";", "|", "`", "$x", "=1", "-", "#", ": ", "\u3000", " ",
)  # fmt: skip
_COMMANDS = (
    "scan {file}",
    "scan {file} --no-persons -p new.yaml",
    "assess {file} -p policy.yaml",
    "anonymize {file} -p policy.yaml -o out.csv --force --report out.html",
    "verify out.csv",
    "report out.csv",
    "utility {file} out.csv",
    "compare {file} -p policy.yaml --k 2,3",
    "mpuccs {file} {file} --details details.csv --force",
    "uniques {file} --show-values",
    "anonymize {file} --qi age --k 2 -o new.csv --force",
    "assess {file} --qi agee",
    "select {file}",
)


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table, and several commands on it."""
    outcome = Outcome()
    names = [_name(random) for _ in range(random.randint(1, 3))]
    if random.random() < 0.1:
        names.append(names[0])
    rows = [[f"v{random.randint(0, 2)}" for _ in names] for _ in range(24)]
    outcome.reproduction = f"names = {names!r}"
    file = folder / "in.csv"
    with file.open("w", encoding="utf-8", newline="") as target:
        csv.writer(target).writerows([names, *rows])
    policy = {"columns": dict.fromkeys(names, "quasi-identifier"), "models": [{"k-anonymity": 2}]}
    text = yaml.safe_dump(policy, allow_unicode=True) if random.random() < 0.5 else json.dumps(policy)
    (folder / "policy.yaml").write_text(text, encoding="utf-8")
    chosen = ["anonymize {file} -p policy.yaml -o out.csv --force", *random.sample(_COMMANDS, 5)]
    for command in chosen:
        _look_at(outcome, command, folder, as_json=random.random() < 0.3)
    _look_at_results(outcome, names, rows)
    return outcome


def _name(random: Random) -> str:
    if random.random() < 0.05:
        return random.choice(("", "n" * 20_000, "\x1b[31m" * 3000))
    return "".join(random.choice(_PIECES) for _ in range(random.randint(1, 4)))


def _look_at(outcome: Outcome, command: str, folder: Path, *, as_json: bool) -> None:
    """Run a command in the folder, and look at every sign that it prints."""
    told = [str(folder / part) if part.endswith((".yaml", ".csv", ".html")) else part for part in command.split()]
    told = [part.replace("{file}", str(folder / "in.csv")) for part in told]
    ended = run(*told, *["--json"] * as_json)
    verb = told[0]
    outcome.count(f"{verb}: exit {ended.code}")
    outcome.expect(ended.code in (0, 1, 2, 3), f"{verb}: an odd exit code", ended)
    lines = (ended.out + ended.err).split("\n")
    outcome.expect(all(map(_is_seen, "".join(lines))), f"{verb}: a sign that acts is printed", ended)
    outcome.expect(not any(line.startswith("FORGED") for line in lines), f"{verb}: a name makes a line", ended)
    if as_json and ended.code in (0, 1):
        with outcome.guarded(f"{verb} --json", ()):
            json.loads(ended.out)


def _is_seen(sign: str) -> bool:
    return unicodedata.category(sign)[0] not in "C" and unicodedata.category(sign) not in ("Zl", "Zp")


def _look_at_results(outcome: Outcome, names: list[str], rows: list[list[str]]) -> None:
    """Look at what a notebook shows of the same columns."""
    if len(set(names)) < len(names):
        return
    data = pl.DataFrame(rows, schema=names, orient="row")
    calls: list[Callable[[], Any]] = [
        lambda: ht.assess(data, quasi_identifiers=names),
        lambda: ht.find_quasi_identifiers(data),
        lambda: ht.verify(data, quasi_identifiers=names, models=[ht.KAnonymity(2)]),
        lambda: ht.minimal_uniques(data),
        lambda: ht.anonymize(data, quasi_identifiers=names, models=[ht.KAnonymity(2)], roles="trust"),
    ]
    for call in calls:
        with outcome.guarded("a result"):
            result = call()
            shown = result._repr_html_() + repr(result)
            outcome.expect(all(_is_seen(sign) or sign == "\n" for sign in shown), "a result shows what acts", shown)
