"""A case: prose with planted names in random columns, at every door.

Nothing planted is written unless it is accepted, counts are those of a slow twin, and no message quotes a cell.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome

_FIRST = ("Anouk", "Bertram", "Chiara", "Dolores", "Étienne", "Frieda")
_LAST = ("Quastenberg", "Zwiesel", "Okonjo", "Núñez", "Lafontaine", "Brambilla")
_TITLES = ("Frau", "Herr", "Dr.", "Mr.", "Mrs", "Mme", "Monsieur", "Sra.", "Señor", "Dott.", "Prof. Dr. med.")
_PLAIN = (
    "no pain since day {n}, seen again in two weeks",
    "klagt seit {n} Tagen über Schmerzen, kein Fieber",
    "se plaint de douleurs depuis {n} jours, RR 120/80",
    "sin fiebre desde hace {n} días, control el 12.03.2021",
    "costs 1 234 567,89 on 2021-03-12, case 2021/00{n}",
)
_DOORS = ("python", "policy", "table", "stream", "lazy", "csv")


def case(random: Random, folder: Path) -> Outcome:
    """Plant names in some cells, and try one door without and with an accepted column."""
    outcome = Outcome()
    n = random.choice((8, 30, 60, 200))
    texts = random.sample(("note", "Befund", "remarque", "text 2"), random.randint(1, 3))
    share = random.choice((0.0, 0.02, 0.2, 1.0))
    names = [f"{random.choice(_LAST)}, {random.choice(_FIRST)}" for _ in range(n)]
    cells = {name: [_cell(random, own, share) for own in names] for name in texts}
    planted = {name: [token for _, token in made if token] for name, made in cells.items()}
    table = pl.DataFrame(
        {
            "patient": names,
            "age": [random.randint(20, 24) for _ in range(n)],
            **{name: [cell for cell, _ in made] for name, made in cells.items()},
            "code": [random.choice(("A-1", "B-2")) for _ in range(n)],
        }
    )
    named = {name: len(found) for name, found in planted.items() if found}
    roles = {name: random.choice(("other", "sensitive")) for name in texts}
    door = random.choice(_DOORS)
    outcome.secrets = tuple({*_FIRST, *_LAST, *(token for found in planted.values() for token in found)})
    outcome.reproduction = f"{door} {roles} {n} rows, planted {named}"
    accepted = random.random() < 0.3
    with outcome.guarded(door, (ht.InfeasibleError,)):
        release, told = _released(door, table, roles, dict.fromkeys(texts, "agreed") if accepted else {}, folder)
        counted = {each["column"]: each["n_records"] for each in release.to_dict()["exposure"]["named"]}
        outcome.expect(counted == named, f"{door}: other counts than were planted", f"{counted} {named}")
        _check_silent(outcome, "\n".join((told, repr(release), *release.exposure.lines())))
        out = folder / ("out.csv" if door == "csv" else "out.parquet")
        try:
            release.write(out)
        except ht.ExposureError as error:
            outcome.count(f"{door}: refused")
            outcome.expect(named and not accepted, f"{door}: refused without a name", error)
            outcome.expect(not list(folder.glob("out*")), f"{door}: something was left")
            _check_silent(outcome, str(error))
        else:
            outcome.count(f"{door}: written")
            outcome.expect(accepted or not named, f"{door}: names were written")
    return outcome


def _cell(random: Random, own: str, share: float) -> tuple[str, str]:
    """Return a sentence, and the token that was planted in it."""
    said = random.choice(_PLAIN).format(n=random.randint(1, 99))
    if random.random() >= share:
        return said, ""
    last, first = own.split(", ")
    number = f"{random.randint(1000000, 9999999)}"
    token, planted = random.choice(
        (
            (last, f"{random.choice(_TITLES)} {last}: {said}"),
            (first, f"{said}, {first} asks why"),
            (number, f"{said}; Tel. 030 {number}"),
            (number, f"{said}, +49 170 {number}"),
            (f"q{number}@x.org", f"{said} (q{number}@x.org)"),
        )
    )
    return planted, token


def _released(
    door: str, table: pl.DataFrame, roles: dict[str, str], accept: dict[str, str], folder: Path
) -> tuple[Any, str]:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        return _asked(door, table, roles, accept, folder), "\n".join(str(each.message) for each in warned)


def _asked(door: str, table: pl.DataFrame, roles: dict[str, str], accept: dict[str, str], folder: Path) -> Any:
    if door == "python":
        sensitive = [name for name, role in roles.items() if role == "sensitive"]
        method = ht.Mondrian(recoding="readable")
        return ht.anonymize(
            table,
            quasi_identifiers=["age"],
            models=[ht.KAnonymity(2)],
            identifiers=["patient"],
            sensitive=sensitive,
            accept=accept,
            method=method,
        )
    rules = ht.Policy.make(
        {
            "columns": {"patient": "identifier", "age": "quasi-identifier", "code": "other", **roles},
            "models": [{"k-anonymity": 2}],
            "limits": {"exposure": {"rate": 1.0}},
            **({"accept": accept} if accept else {}),
        }
    )
    if door == "lazy":
        return rules.protect(table.lazy())
    if door in ("stream", "csv"):
        path = folder / f"in.{'csv' if door == 'csv' else 'parquet'}"
        table.write_csv(path) if door == "csv" else table.write_parquet(path)
        return rules.protect(path, engine="stream" if door == "stream" else "auto")
    return rules.protect(ht.Table.encode(table) if door == "table" else table)


def _check_silent(outcome: Outcome, said: str) -> None:
    quoted = [token for token in outcome.secrets if re.search(rf"(?<!\w){re.escape(token)}(?!\w)", said)]
    outcome.expect(not quoted, "a message quotes a cell", said[:300])
