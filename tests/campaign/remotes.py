"""Releases of rows that are not in memory beside that of the same table in memory: what they say of themselves."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import duckdb
import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from hushtable.anonymizers import Request, beyond_memory, in_parts, row_by_row
from hushtable.anonymizers.in_parts import protect_in_parts, why_not_in_parts
from hushtable.anonymizers.row_by_row import RowByRow
from hushtable.io import RowCodes
from hushtable.release import exposing
from workers import Here

_CELLS: dict[str, list[Any]] = {
    "age": [None, *range(20, 60)],
    "job *": [None, "", "clerk", "cook", "it's", "😀", "NA"],
    "born": [None, *(dt.date(1950 + i, 1 + i % 12, 1) for i in range(30))],
    "ill": [None, "flu", "gout", "mumps"],
    "pay": [None, 1.5, *map(float, range(9))],
    "ward": ["a", "b", None],
    "who": [None, *(f"p{i}" for i in range(60))],
}
_NEAR = 1e-9


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a drawn table and request, in memory and at another door."""
    outcome = Outcome()
    n = random.randint(8, 160)
    table = pl.DataFrame({name: [random.choice(cells) for _ in range(n)] for name, cells in _CELLS.items()})
    policy = ht.Policy.make(_rules(random))
    door, few = random.choice([*_DOORS]), random.random() < 0.2
    one_by_one = door == "files" and random.random() < 0.6
    outcome.reproduction = f"{door}, few held: {few}, one by one: {one_by_one}\n{policy.to_yaml()}"
    outcome.count(f"door: {door}")
    key = bytes(range(32)) if policy.pseudonymized else None
    whole = release = None
    with outcome.guarded("memory"):
        whole = policy.protect(table, key=key)
    held = mock.patch.object(exposing, "_MAX_ROWS_HELD", 10 if few else exposing._MAX_ROWS_HELD)
    counted = mock.patch.object(beyond_memory, "MOST_COUNTED", 1 if one_by_one else beyond_memory.MOST_COUNTED)
    parted = mock.patch.object(row_by_row, "protect_row_by_row", _in_parts_too(random, folder, outcome))
    with outcome.guarded("remote"), held, counted, parted:
        release = policy.protect(_DOORS[door](table, folder), key=key)
    outcome.expect((whole is None) == (release is None), "one is refused, the other is not")
    if whole is None or release is None:
        return outcome
    ours, theirs = release.codebook.to_dict("x", external=False), whole.codebook.to_dict("x", external=False)
    outcome.expect(ours == theirs, "another codebook", _first(ours, theirs))
    told, expected = _exposure(release), _exposure(whole)
    if release.exposure is not None and not release.exposure.told_to:
        outcome.count("within classes: not counted")
        told, expected = ({**each, "told": (), "told_to": 0} for each in (told, expected))
    if few:
        # Of equally many records, hashes name sets and their columns in another order.
        told, expected = ({**each, "sets": ()} for each in (told, expected))
    outcome.expect(told == expected, "another exposure", _first(told, expected))
    if release.is_row_by_row:
        outcome.count("records: one by one")
    else:
        judged = (*whole.quasi_identifiers, *whole.sensitive)
        ours, theirs = (_figures(each, judged) for each in (release, whole))
        outcome.expect(ours.keys() == theirs.keys(), "other columns are judged", f"{sorted(ours)} {sorted(theirs)}")
        odd = [name for name, figure in theirs.items() if not _near(ours.get(name), figure)]
        outcome.expect(not odd, "another utility", odd)
    with outcome.guarded("report"):
        ours, theirs = ({s["name"]: s for s in ht.report(each, audience="external").to_dict()["sections"]}
                        for each in (release, whole))  # fmt: skip
        outcome.expect(ours == theirs, "another report for outsiders", _first(ours, theirs))
    return outcome


def _in_parts_too(random: Random, folder: Path, outcome: Outcome) -> Callable[[RowCodes, Request], RowByRow]:
    """Return what protects records one by one, and compares that with the same records in parts, cut by workers."""
    real = row_by_row.protect_row_by_row

    def both(rows: RowCodes, asked: Request) -> RowByRow:
        made = real(rows, asked)
        if why_not_in_parts(asked) is None:
            outcome.count("records: in parts")
            shutil.copytree(folder / "in", folder / "parts")
            few = mock.patch.multiple(
                in_parts, _MAX_RECORDS_PER_WORKER=random.choice([8, 30]), _N_CLASSES_FOR_WORKERS=10**9
            )
            with few, outcome.guarded("in parts"):
                parts, workers = sorted((folder / "parts").iterdir()), Here(random.randrange(99))
                theirs = protect_in_parts(parts, rows.cells.names, asked, workers).release
                outcome.expect(theirs.loss == made.release.loss, "another loss in parts")
                outcome.expect(theirs.classes().equals(made.release.classes()), "other classes in parts")
        return made

    return both


def _rules(random: Random) -> dict[str, Any]:
    quasi = random.sample(["age", "job *", "born"], random.randint(1, 3))
    roles: dict[str, Any] = {name: random.choice(["other", "identifier"]) for name in _CELLS} | dict.fromkeys(
        quasi, "quasi-identifier"
    )
    models: list[Any] = [{"k-anonymity": random.randint(2, 5)}]
    if random.random() < 0.6:
        roles["ill"] = "sensitive"
        models += random.choice([[], [{"distinct-l-diversity": {"l": 2, "sensitive": "ill"}}]])
    rules: dict[str, Any] = {"columns": roles, "models": models, "limits": {"exposure": {"rate": 1.0, "linked": 1.0}}}
    roles["who"] = "identifier"
    if random.random() < 0.4:
        rules["person"] = "who"
        if random.random() < 0.5:
            roles["who"] = {"role": "identifier", "action": "pseudonym"}
    if random.random() < 0.4:
        rules["limits"]["suppression"] = 0.3
    kept = [name for name, role in roles.items() if role == "other"]
    if kept and random.random() < 0.3:
        rules["accept"] = {random.choice(kept): "a test"}
    if random.random() < 0.4:
        rules["method"] = {"mondrian": {"recoding": random.choice(["tight", "label", "set", "cut"])}}
    return rules


def _files(table: pl.DataFrame, folder: Path) -> Path:
    source = folder / "in"
    source.mkdir()
    for begin in range(0, table.height, 50):
        table[begin : begin + 50].write_parquet(source / f"{begin}.parquet")
    return source


_DOORS: dict[str, Any] = {
    "files": _files,
    "polars": lambda table, folder: table.lazy(),
    "duckdb": lambda table, folder: duckdb.from_arrow(table.to_arrow()),
}


def _exposure(release: Any) -> dict[str, Any]:
    """Return what is told of exposure, without what is drawn by the numbers of classes, which another order changes."""
    told = {} if release.exposure is None else release.exposure.to_dict()
    linkage = told.get("linkage")
    if linkage is None:
        return told
    known = [each if each["n_records"] == 1 else (each["n_records"], each["n_persons"]) for each in linkage["known"]]
    return {**told, "linkage": {**linkage, "known": known, "rate": None}}


def _figures(release: Any, judged: tuple[str, ...]) -> dict[str, Any]:
    """Return the figures of utility by what they are of; pairs in the order of their names."""
    told = release.utility().to_dict()
    found = {
        f"{each['name']} {name}": each[name]
        for each in told["columns"]
        if each["name"] in judged
        for name in ("distance", "untold_rate", "mean", "released_mean", "variance", "released_variance", "reason")
    }
    for each in told["pairs"]:
        if {each["first"], each["second"]} <= {*judged}:
            name = f"{sorted((each['first'], each['second']))} {each['measure']}"
            found |= {f"{name} {side}": each[side] for side in ("original", "release")}
    return found


def _near(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return abs(ours - theirs) <= _NEAR * max(1.0, abs(theirs))
    return bool(ours == theirs)


def _first(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Name the first entry that differs, with both."""
    return next((f"{name}: {ours.get(name)} | {theirs[name]}" for name in theirs if ours.get(name) != theirs[name]), "")
