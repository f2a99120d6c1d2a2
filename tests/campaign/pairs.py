"""Two tables of several writers: an exact copy is found as the original is, or the tables are said not to meet."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyreadstat

import hushtable as ht
from campaign.outcome import Outcome
from hushtable.tables import MismatchWarning

WORDS = ["Köln", "Bonn", "Ulm", "Bad Ems", "Trier", "Kiel", "Aachen"]


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table, two writers, an attack."""
    outcome = Outcome()
    table = _draw(random)
    names = random.choices(list(WRITERS), k=2)
    attack = random.choice(list(ATTACKS))
    outcome.reproduction = (
        f"table = pl.DataFrame({table.to_dict(as_series=False)!r}, schema={dict(table.schema)!r})\n"
        f"first, second: written by {names}, then {attack}"
    )
    outcome.count(attack)
    with outcome.guarded(attack, ()), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        originals = [WRITERS[name](table, folder / f"{place}") for place, name in enumerate(names)]
        found = ATTACKS[attack](originals[0], originals[1])
        wanted = ATTACKS[attack](table, table)
        is_told = any(isinstance(warning.message, MismatchWarning) for warning in caught)
        outcome.count("said not to meet" if is_told else "met")
        outcome.expect(not is_told and found == wanted, f"{attack} finds less, {' to '.join(names)}", (found, wanted))
    return outcome


def _draw(random: Random) -> pl.DataFrame:
    n = random.randint(20, 60)
    share = random.choice([0.0, 0.0, 0.1])

    def cells(values: Callable[[], Any]) -> list[Any]:
        # Who is alone by a missing cell is alone by what a writer may not tell from an empty text.
        return [None if i % 2 and random.random() < share else values() for i in range(n)]

    frame = {
        "born": pl.Series(cells(lambda: random.randint(-3_000, 12_000)), dtype=pl.Int32).cast(pl.Date),
        "cares": pl.Series(cells(lambda: random.random() < 0.5), dtype=pl.Boolean),
        "town": pl.Series(cells(lambda: random.choice(WORDS)), dtype=pl.String),
        "zip": pl.Series(cells(lambda: f"0{random.randint(1000, 1099)}"), dtype=pl.String),
        "pay": pl.Series(cells(lambda: random.randint(20, 99)), dtype=pl.Int64),
        "rate": pl.Series(cells(lambda: random.randint(0, 999) / 4), dtype=pl.Float64),
    }
    chosen = random.sample(list(frame), random.randint(2, len(frame)))
    # A workbook has no last row that is empty.
    return pl.DataFrame({name: frame[name] for name in chosen}).drop_nulls(chosen[0])


def _csv(**options: Any) -> Callable[[pl.DataFrame, Path], Path]:
    def write(table: pl.DataFrame, path: Path) -> Path:
        _nullable(table).to_csv(f"{path}.csv", index=False, **options)
        return Path(f"{path}.csv")

    return write


def _nullable(table: pl.DataFrame) -> pd.DataFrame:
    """Return a frame of pandas whose whole numbers and booleans are such beside missing cells."""
    kinds = {"pay": "Int64", "cares": "boolean"}
    return table.to_pandas().astype({name: kind for name, kind in kinds.items() if name in table.columns})


def _database_csv(table: pl.DataFrame, path: Path) -> Path:
    duckdb.from_arrow(table.to_arrow()).write_csv(f"{path}.csv")
    return Path(f"{path}.csv")


def _r_csv(table: pl.DataFrame, path: Path) -> Path:
    """Write as write.csv of R does: quoted names, TRUE and FALSE, NA."""
    frame = _nullable(table)
    if "cares" in frame:
        frame["cares"] = frame["cares"].map({True: "TRUE", False: "FALSE"})
    frame.to_csv(f"{path}.csv", index=False, na_rep="NA", quoting=2)
    return Path(f"{path}.csv")


def _excel(table: pl.DataFrame, path: Path) -> Path:
    table.write_excel(f"{path}.xlsx")
    return Path(f"{path}.xlsx")


def _statistics(ending: str, write: Callable[..., Any]) -> Callable[[pl.DataFrame, Path], Path]:
    def write_file(table: pl.DataFrame, path: Path) -> Path:
        # These programs have no booleans: 1 and 0.
        frame = table.with_columns(pl.col(pl.Boolean).cast(pl.Float64)).to_pandas()
        if "born" in frame:
            frame["born"] = [None if pd.isna(day) else day.date() for day in pd.to_datetime(frame["born"])]
        write(frame, f"{path}{ending}")
        return Path(f"{path}{ending}")

    return write_file


WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "polars": lambda table, _: table,
    "pandas": lambda table, _: table.to_pandas(),
    "nullable pandas": lambda table, _: _nullable(table),
    "text of pandas": lambda table, _: _nullable(table).astype(str),
    "pyarrow": lambda table, _: table.to_arrow(),
    "categories": lambda table, _: table.with_columns(pl.col(pl.String).cast(pl.Categorical)),
    "Excel": _excel,
    "SPSS": _statistics(".sav", pyreadstat.write_sav),
    "Stata": _statistics(".dta", pyreadstat.write_dta),
    "CSV of pandas": _csv(),
    "CSV of a database": _database_csv,
    "CSV of R": _r_csv,
    "German CSV": _csv(sep=";", decimal=",", date_format="%d.%m.%Y", na_rep="NULL"),
}
ATTACKS: dict[str, Callable[[Any, Any], Any]] = {
    "mpuccs": lambda first, second: ht.mpuccs(first, second, n_cols=[1, 2]).summary["total_identified"],
    # Where a program has no booleans, queries ask for at most 0 instead: others, and as many or fewer.
    "singling_out": lambda first, second: ht.singling_out(first, second, n_cols=2, n_attacks=20).n_success > 0,
    "linkability": lambda first, second: ht.linkability(first, second, aux_columns=_halves(first), n_attacks=20).attack,
    "dcr": lambda first, second: ht.dcr(first, second).figures,
    "nndr": lambda first, second: ht.nndr(first, second).figures,
    "link": lambda first, second: ht.link(first, second, on=_columns(first)).found.n_one_record,
    "join_risk": lambda first, second: ht.join_risk(first, second, on=_columns(first)).n_alone,
}


def _columns(table: Any) -> list[str]:
    return list(ht.Table.encode(table).names)


def _halves(table: Any) -> tuple[list[str], list[str]]:
    names = _columns(table)
    return names[::2], names[1::2]
