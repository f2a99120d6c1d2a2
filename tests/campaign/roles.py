"""Identifiers under every role: none is published until somebody accepts it, and what is none is published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from hushtable.policy import Policy

FIRST = ["Anna", "Maria", "Sofia", "Emma", "Laura", "Jan", "Lukas", "Paul", "Noah", "Peter", "Thomas", "Michael"]
LAST = ["Meier", "Schulz", "Weber", "Anders", "Kurz", "Lang", "Celik", "Novak", "Garcia", "Rossi", "Dubois", "Bauer"]


def digits(draw: Random, n: int) -> str:
    """Draw some digits."""
    return "".join(draw.choice("0123456789") for _ in range(n))


# The name of a column, and its cells: names that tell nothing, where cells do.
IDENTIFIERS: dict[str, tuple[str, Callable[[Random], Any]]] = {
    "surname by header": ("Nachname", lambda draw: draw.choice(LAST)),
    "first names": ("v", lambda draw: draw.choice(FIRST)),
    "full names": ("v", lambda draw: f"{draw.choice(FIRST)} {draw.choice(LAST)}"),
    "social security": ("v", lambda draw: f"{digits(draw, 3)}-{digits(draw, 2)}-{digits(draw, 4)}"),
    "e-mail": ("v", lambda draw: f"{draw.choice(LAST).lower()}{digits(draw, 2)}@example.org"),
    "IBAN": ("v", lambda draw: f"DE{digits(draw, 20)}"),
    "telephone": ("v", lambda draw: f"+49 30 {digits(draw, 7)}"),
    "address": ("v", lambda draw: f"Hauptstr. {digits(draw, 2)}, 1{digits(draw, 4)} Berlin"),
    "address by header": ("Adresse", lambda draw: f"{draw.choice(['Am Hang', 'Im Tal'])} {digits(draw, 2)}"),
    "number of a patient": ("patient_id", lambda draw: 10_000 + int(digits(draw, 4))),
}
# What a table of persons keeps, or generalizes, without anybody's leave.
INNOCENT: dict[str, tuple[str, Callable[[Random], Any]]] = {
    "diagnosis": ("Diagnose", lambda draw: f"{draw.choice('EIJK')}{draw.randint(10, 89)}.{draw.randint(0, 9)}"),
    "codes of illnesses": ("v", lambda draw: f"{draw.choice('EIJK')}{draw.randint(10, 89)}"),
    "illness": ("illness", lambda draw: draw.choice(["flu", "gout", "mumps", "cold"])),
    "birth": ("birth_date", lambda draw: f"{draw.randint(1930, 2005)}-{draw.randint(10, 12)}-{draw.randint(10, 28)}"),
    "postcode": ("zip", lambda draw: f"0{draw.randint(1000, 1099)}"),
    "age of the mother": ("mother_age", lambda draw: draw.randint(18, 45)),
    "town": ("town", lambda draw: draw.choice(["Bonn", "Ulm", "Bad Ems", "Florence", "Sofia"])),
    "ward": ("ward", lambda draw: draw.choice(["Station 1", "Station 2", "Innere 3"])),
    "job": ("job", lambda draw: draw.choice(["Koch", "Bauer", "Lehrer", "clerk"])),
    "pay": ("pay", lambda draw: draw.randint(1_000, 9_000)),
}


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a column of some kind under some role, at some door."""
    outcome = Outcome()
    kind, role = random.choice([*IDENTIFIERS, *INNOCENT]), random.choice(["sensitive", "other", "quasi-identifier"])
    name, cell = (IDENTIFIERS | INNOCENT)[kind]
    n = random.choice([4, 7, 20, 48, 60, 200])
    # Two names among few values are no evidence: a ward is called Maria, a month Jan.
    drawn = [*(random.sample(FIRST, 3) if kind == "first names" else ()), *(cell(random) for _ in range(n))][:n]
    table = pl.DataFrame({"age": [20 + i % 2 for i in range(n)], name: drawn})
    given = {"columns": {"age": "quasi-identifier", name: role}, "models": [{"k-anonymity": 2}]}
    door = random.choice(list(DOORS))
    outcome.secrets = tuple({*table[name].cast(pl.String)}) if kind in IDENTIFIERS else ()
    outcome.reproduction = f"table = pl.DataFrame({table.to_dict(as_series=False)!r})\npolicy = {given!r}, by {door}"
    outcome.count(f"{role}, {door}")
    with outcome.guarded("released", ()):
        refusal, shown = _release(door, given, table, folder / "release")
        is_refused = "look like direct identifiers" in refusal
        outcome.count("refused as an identifier" if is_refused else "refused" if refusal else "published")
        outcome.expect(not any(cell in refusal for cell in outcome.secrets), "a refusal tells a cell", refusal)
        if kind in INNOCENT:
            outcome.expect(not is_refused, f"{kind} is refused as {role} by {door}", refusal)
            return outcome
        labels = [] if shown is None else shown[name].cast(pl.String).unique().to_list()
        is_seen = any(cell in label for label in labels for cell in outcome.secrets)
        outcome.expect(not is_seen, f"{kind} passes as {role} by {door}", labels)
        if is_refused:
            leave = given | {"accept": {name: "made up"}, "limits": {"exposure": {"rate": 1.0}}}
            refusal, _ = _release(door, leave, table, folder / "accepted")
            outcome.expect(not refusal, "what was accepted is refused", refusal)
    return outcome


def _release(door: str, given: dict[str, Any], table: pl.DataFrame, path: Path) -> tuple[str, pl.DataFrame | None]:
    """Return why nothing is released, or what is."""
    try:
        return "", DOORS[door](Policy.make(given), table, path)
    except ht.ExposureError as refusal:
        return str(refusal), None


def _write(rules: Policy, table: Any, path: Path) -> pl.DataFrame:
    ending = path.with_suffix(".csv")
    rules.protect(table).write(ending)
    return pl.read_csv(ending, infer_schema=False)


def _write_folder(rules: Policy, table: pl.DataFrame, path: Path) -> pl.DataFrame:
    path.with_suffix(".in").mkdir()
    table.write_parquet(path.with_suffix(".in") / "part.parquet")
    rules.protect(path.with_suffix(".in"), engine="stream").write(path)
    return pl.read_parquet(path / "*.parquet")


DOORS: dict[str, Callable[[Policy, pl.DataFrame, Path], pl.DataFrame]] = {
    "frame": lambda rules, table, _: rules.protect(table).frame,
    "file": _write,
    "Table": lambda rules, table, path: _write(rules, ht.Table.encode(table), path),
    "pandas": lambda rules, table, _: pl.from_pandas(rules.protect(table.to_pandas()).frame),
    "lazy": lambda rules, table, _: rules.protect(table.lazy()).frame.collect(),
    "folder": _write_folder,
}
