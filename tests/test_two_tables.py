"""Doors that take a second table: an exact copy is found as the original is, whichever program wrote it."""

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.quality.similarity import diagnosis, similarity
from hushtable.tables import MismatchWarning

N = 60
SECOND = {"synthetic", "control", "outside", "second", "population", "earlier", "original", "held_out", "rows"}
"""Names of arguments that take a second table."""
ARE_NO_TABLES = {
    *("Partition", "Table", "Comparison", "Keys", "MinimalUniques", "Release.utility", "minimal_keys"),
    *("Bootstrap", "Copula", "Independent", "Trees"),
}
"""What has such a name for something else: rows by their positions, counts, a share of the records, a table encoded."""


def people() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "born": pl.Series(rng.integers(0, 4_000, N).astype("datetime64[D]")),
            "cares": rng.integers(0, 2, N).astype(bool),
            "town": [f"Town {i}" for i in rng.integers(0, 9, N)],
            "pay": [None if i % 7 == 0 else int(x) for i, x in enumerate(rng.integers(20, 60, N))],
            "who": [f"P{i}" for i in range(N)],
        }
    )


def as_csv(folder: Path, **options: Any) -> Callable[[pl.DataFrame], Path]:
    def write(frame: pl.DataFrame) -> Path:
        frame.to_pandas().astype({"pay": "Int64"}).to_csv(folder / "copy.csv", index=False, **options)
        return folder / "copy.csv"

    return write


def spelled(folder: Path) -> dict[str, Callable[[pl.DataFrame], Any]]:
    """Return the writers of a copy."""
    return {
        "polars": lambda frame: frame,
        "pandas": lambda frame: frame.to_pandas(),
        "pandas, all text": lambda frame: frame.to_pandas().astype({"pay": "Int64"}).astype(str),
        "pyarrow": lambda frame: frame.to_arrow(),
        "csv": as_csv(folder),
        "csv of R": as_csv(folder, na_rep="NA", date_format="%Y-%m-%d"),
        "csv of a database": lambda frame: as_csv(folder, na_rep="NULL")(
            frame.with_columns(pl.col("cares").cast(pl.Int8), pl.col("town") + " ")
        ),
        "German, capitals": lambda frame: as_csv(folder, sep=";", na_rep="NaN")(
            frame.with_columns(pl.col("born").dt.strftime("%d.%m.%Y"), pl.col("town").str.to_uppercase())
        ),
    }


WRITERS = (
    "polars",
    "pandas",
    "pandas, all text",
    "pyarrow",
    "csv",
    "csv of R",
    "csv of a database",
    "German, capitals",
)


def release_of(frame: pl.DataFrame) -> ht.Release[Any]:
    return ht.anonymize(
        frame, quasi_identifiers=["cares", "town"], identifiers=["who", "born", "pay"], models=[ht.KAnonymity(3)]
    )


NAMES = ["born", "cares", "town", "pay"]
DOORS: dict[str, Callable[[pl.DataFrame, Any], Any]] = {
    "mpuccs": lambda table, copy: {
        name: str(figure)  # beside a control that is a copy, too, the excess is NaN
        for name, figure in ht.mpuccs(table, copy, columns=NAMES, control=copy).summary.items()
        if not name.startswith("config_")
    },
    "petsard_mpuccs": lambda table, copy: ht.petsard_mpuccs(table, copy).summary["total_identified"],
    "singling_out": lambda table, copy: ht.singling_out(table, copy, control=copy, n_attacks=50).to_dict(),
    "linkability": lambda table, copy: ht.linkability(
        table, copy, aux_columns=(["born", "cares"], ["town", "pay"]), control=copy, n_attacks=20
    ).to_dict(),
    "inference": lambda table, copy: ht.inference(table, copy, secret="town", control=copy, n_attacks=20).to_dict(),
    "count_copies": lambda table, copy: ht.count_copies(table, copy, control=copy),
    "membership": lambda table, copy: ht.membership(
        table, copy, control=copy, attacks=["distance", "copies"]
    ).to_dict(),
    "dcr": lambda table, copy: ht.dcr(table, copy, control=copy).to_dict(),
    "nndr": lambda table, copy: ht.nndr(table, copy, control=copy).to_dict(),
    "tcap": lambda table, copy: ht.tcap(table, copy, target="town", keys=["born", "cares"], control=copy).to_dict(),
    "rapid": lambda table, copy: ht.rapid(table, copy, target="town", control=copy).to_dict(),
    "link": lambda table, copy: ht.link(table, copy, on=NAMES, truth="who", control=copy).to_dict(),
    "join_risk": lambda table, copy: ht.join_risk(table, copy, on=NAMES, truth="who").to_dict(),
    "unicity": lambda table, copy: ht.unicity(table, person="who", item="town", known=1, original=copy).to_dict(),
    "assess": lambda table, copy: ht.assess(table, quasi_identifiers=NAMES, population=copy).to_dict(),
    "anonymize": lambda table, copy: (
        ht.anonymize(
            table,
            quasi_identifiers=["cares", "town"],
            identifiers=["born", "pay", "who"],
            models=[ht.KMap(2)],
            population=copy,
        ).loss
    ),
    "Release.apply": lambda table, copy: release_of(table).apply(copy).claim.conditions,
    "Recoding.apply": lambda table, copy: release_of(table).apply(copy).partition.sizes.tolist(),
    "Release.attack": lambda table, copy: release_of(table).attack(release_of(table)).to_dict(),
    "similarity": lambda table, copy: similarity(ht.Table.encode(table), ht.Table.encode(copy)).to_dict(),
    "diagnosis": lambda table, copy: diagnosis(ht.Table.encode(table), ht.Table.encode(copy)).to_dict(),
}
OTHERWISE = {
    # What is not judged alike fails here, and never passes.
    "verify",
    "Policy.verify",
    # The table that the result was made from.
    "report",
    # Cells alone, judged by nobody.
    "Recoding.recode",
    # Earlier tables are read by their manifest, cell by cell.
    "tabulate",
}


def signatures() -> Iterator[tuple[str, set[str]]]:
    for name in dir(ht):
        door = getattr(ht, name)
        # A second name for a class has no doors of its own.
        if not callable(door) or name.startswith("_") or door.__name__ != name:
            continue
        members = [(name, door)]
        if inspect.isclass(door):
            members = [(f"{name}.{what}", f) for what, f in inspect.getmembers(door, callable) if what[0] != "_"]
        for what, function in members:
            try:
                yield what, set(inspect.signature(function).parameters)
            except ValueError:
                continue


def test_no_door_takes_a_second_table_past_the_meeting():
    found = {name for name, parameters in signatures() if parameters & SECOND}
    found = {name for name in found if name not in ARE_NO_TABLES and name.split(".")[0] not in ARE_NO_TABLES}
    assert found - {*DOORS, *OTHERWISE} == set()


@functools.cache
def answer_to_the_table_itself(door: str) -> Any:
    return DOORS[door](people(), people())


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("door", DOORS)
def test_a_copy_is_found_whichever_program_wrote_it(door, writer, tmp_path):
    table = people()
    with warnings.catch_warnings():
        warnings.simplefilter("error", MismatchWarning)
        assert DOORS[door](table, spelled(tmp_path)[writer](table)) == answer_to_the_table_itself(door)


GATES = {
    "mpuccs": lambda copy: ["mpuccs", "a.csv", copy, "--fail-above", "rate=1"],
    "attack": lambda copy: ["attack", "a.csv", copy, "--fail-above", "singling-out=1"],
    "link": lambda copy: ["link", "a.csv", copy, "--on", "town", "--fail-above", "rate=1"],
    "join-risk": lambda copy: ["join-risk", "a.csv", copy, "--on", "town", "--fail-above", "rate=1"],
}


@pytest.mark.parametrize("command", GATES)
def test_a_gate_refuses_tables_that_do_not_meet_and_shows_no_cell(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = people().drop("pay", "who")
    table.write_csv("a.csv")
    hashed = {f"Town {i}": f"x{i}{i}-y" for i in range(9)}
    table.with_columns(pl.col("town").replace_strict(hashed)).write_csv("b.csv")
    gate = GATES[command]("b.csv")
    ended = run(*gate)
    assert ended.code == 2
    assert "'town'" in ended.err
    assert "'Aa 9'" in ended.err
    assert "Town" not in ended.err
    assert "-y'" not in ended.err.replace("'a9-a'", "")
    assert run(*gate[:-2]).code == 0
    assert "careful: tables do not meet" in run(*gate[:-2]).err


def test_values_that_the_reference_keeps_apart_stay_apart():
    table = pl.DataFrame({"x": ["a", "A", "b "]})
    copy = pl.DataFrame({"x": ["A", "B", "c"]})
    assert ht.mpuccs(table, copy).summary["total_identified"] == 2


def test_a_column_that_was_declared_a_category_is_read_as_text():
    numbers, codes = pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": ["01", "2.0"]})
    as_text = {"x": ht.ColumnSpec("category")}
    assert ht.mpuccs(numbers, codes).summary["total_identified"] == 2
    assert ht.mpuccs(numbers, codes, specs=as_text).summary["total_identified"] == 0


def test_made_up_numbers_need_not_equal_those_of_people():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"pay": rng.normal(100, 10, 200), "job": rng.choice(["cook", "clerk"], 200)})
    drawn = pl.DataFrame({"pay": rng.normal(100, 10, 200), "job": rng.choice(["cook", "clerk"], 200)})
    with warnings.catch_warnings():
        warnings.simplefilter("error", MismatchWarning)
        ht.mpuccs(table, drawn)
        ht.dcr(table, drawn)
