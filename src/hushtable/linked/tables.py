"""Tables of the same persons come in: by name from a folder, and with one key that says whose record a row is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from hushtable._types import CountArray
from hushtable.columns import ColumnSpec, list_distinct_cells, to_canonical_texts
from hushtable.errors import ColumnError, InputError, quote_names
from hushtable.io import FILE_KINDS, MANIFEST, Dialect, Frame, drafts, frames, list_duckdb_tables, list_sheets
from hushtable.linked.policy import LinkedPolicy
from hushtable.wording import careful, count_of

WORKBOOK: Final = ".xlsx"
DATABASE: Final = ".duckdb"


@dataclass(frozen=True, slots=True, eq=False)
class LinkedRows:
    """Tables whose rows say by the same column whose records they are."""

    tables: Mapping[str, Frame] = field(repr=False)
    n_persons: int
    n_dropped: Mapping[str, int]  # orphans that were left out, by table

    @property
    def facts(self) -> tuple[str, ...]:
        """Which records were left out because nobody knows whose they are."""
        return tuple(
            careful(f"{name}: {count_of(n, 'record')} of nobody in the table of persons left out.")
            for name, n in self.n_dropped.items()
            if n
        )


def list_files(folder: Path, names: Iterable[str]) -> tuple[dict[str, Path], list[str]]:
    """Return the files of some tables in a folder, by name, and the tables that are there besides."""
    found = _find_files(folder)
    return {name: found[name] for name in names if name in found}, [name for name in found if name not in names]


def _find_files(folder: Path) -> dict[str, Path]:
    """Return the files of all tables in a folder: a file's name without its ending is the name of its table."""
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        stem = path.name.removesuffix(".gz")
        if path.name == MANIFEST or path.name.startswith(".") or Path(stem).suffix.lower() not in FILE_KINDS:
            continue
        name = Path(stem).stem
        if name in found:
            both = quote_names([found[name].name, path.name])
            raise InputError(f"{str(folder)!r} has two files of table {name!r}: {both}.", hint="keep one of them.")
        found[name] = path
    return found


def list_inputs(tables: Any) -> tuple[Path, ...]:
    """Return the files of tables, and their folder where they are all of it: none of them may be written to."""
    if not isinstance(tables, (str, os.PathLike)) or not os.path.isdir(tables):
        return drafts.paths_among(tables)
    folder = Path(os.path.realpath(tables))
    return (folder, *_find_files(folder).values())


def open_tables(
    source: Any, names: Iterable[str], dialect: Dialect | None = None
) -> tuple[dict[str, Frame], list[str]]:
    """Open tables by name, those that are there, and list what is there besides.

    ``source`` is a folder, a workbook with a sheet for each table, a file of DuckDB, or a mapping of names to paths or
    dataframes.
    """
    names, dialect = tuple(names), dialect or Dialect()
    if isinstance(source, Mapping):
        opened = {name: frames.read(source[name], dialect=dialect) for name in names if name in source}
        return opened, [str(name) for name in source if name not in names]
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(
            f"linked tables were given as an object of type {type(source).__name__}.",
            hint='pass a folder, a workbook, a file of DuckDB, or a dict: {"patients": ..., "stays": ...}.',
        )
    path = Path(source)
    if path.is_dir():
        files, others = list_files(path, names)
        return {name: frames.read(file, dialect=dialect) for name, file in files.items()}, others
    if not path.is_file():
        raise InputError(f"there is no folder or file {str(path)!r}.", hint="check the name.")
    if path.suffix.lower() == WORKBOOK:
        sheets = list_sheets(path)
        return {name: frames.read_sheet(path, name) for name in names if name in sheets}, [
            name for name in sheets if name not in names
        ]
    if path.suffix.lower() == DATABASE:
        return _open_database(path, names)
    raise InputError(
        f"{str(path)!r} holds one table, and the policy names {quote_names(names)}.",
        hint="name their folder, a workbook with a sheet for each, or a file of DuckDB.",
    )


def _open_database(path: Path, names: tuple[str, ...]) -> tuple[dict[str, Frame], list[str]]:
    tables = list_duckdb_tables(path)
    return {name: frames.read(tables[name]) for name in names if name in tables}, [
        name for name in tables if name not in names
    ]


def link_rows(tables: Mapping[str, Frame], policy: LinkedPolicy) -> LinkedRows:
    """Give every table the column of the persons, as text, and leave out or refuse records of nobody."""
    lacking = [name for name in policy.tables if name not in tables]
    if lacking:
        raise InputError(
            f"there is no table {quote_names(lacking)}.",
            hint="a file is named as its table: patients.csv; or take the table out of the policy.",
        )
    keyed = {name: _check_columns(tables[name], policy, name) for name in policy.tables}
    roots = [name for name, table in policy.tables.items() if not table.of]
    persons = {name: _key_texts(keyed[name], policy.key_of(name)) for name in roots}
    persons |= {name: _persons_of_parent(keyed, persons, policy, name) for name in policy.tables if name not in roots}
    unit = policy.unit.table
    if unit is not None:
        _check_unit(unit, persons[unit])
    known = persons[unit] if unit is not None else pl.concat([*persons.values()])
    known = known.drop_nulls().unique()
    rows, n_dropped = {}, {}
    for name, own in persons.items():
        is_known = own.is_in(known.implode()).fill_null(False).to_numpy()
        n_dropped[name] = int(keyed[name].records[~is_known].sum())
        rows[name] = _with_person(keyed[name], own, np.flatnonzero(is_known), policy, name)
    _check_orphans(n_dropped, policy)
    return LinkedRows({name: rows[name] for name in policy.tables}, len(known), n_dropped)


def _check_columns(frame: Frame, policy: LinkedPolicy, name: str) -> Frame:
    """Raise PolicyError where a column of a table has no role."""
    rules, key, own = policy.policy_of(name), policy.unit.key, policy.key_of(name)
    if own not in frame.columns:
        raise ColumnError(
            f"table {name!r} has no column {own!r}, which is to say whose record a row is.",
            hint=f"it has {quote_names(frame.columns)}: name the key of the table (`key:`).",
        )
    if own != key and key in frame.columns:
        raise ColumnError(
            f"table {name!r} has a column {key!r} besides its key {own!r}.",
            hint=f"{key!r} says whose record a row is: make it the key of the table, and leave {own!r} out.",
        )
    rules.check_covers([key if column == own else column for column in frame.columns])
    return frame.with_row_per_record()


def _key_texts(frame: Frame, name: str) -> pl.Series:
    """Return a key's cells as texts, whatever its type: equal keys of two tables are equal texts."""
    text = frame.text(name)
    cells = frame.column(name)
    if text is not None:
        cells = to_canonical_texts(text, ColumnSpec(missing_values=frame.spec(name).missing_values))
    distinct, codes = list_distinct_cells(cells, name)
    return distinct.cast(pl.String).gather(pl.Series(codes).replace(-1, None))


def _persons_of_parent(
    tables: Mapping[str, Frame], persons: Mapping[str, pl.Series], policy: LinkedPolicy, name: str
) -> pl.Series:
    """Return whose record each row is by the row of the parent that its key names."""
    parent, key = str(policy.tables[name].of), policy.key_of(name)
    keys = _key_texts(tables[parent], key)
    owners = pl.DataFrame({"key": keys, "person": persons[parent]}).drop_nulls("key")
    n_repeated = owners.height - owners["key"].n_unique()
    if n_repeated:
        raise InputError(
            f"column {key!r} of table {parent!r} is to name one row each, and {n_repeated:,} rows repeat a name.",
            hint=f"take the column by which {name!r} hangs on {parent!r}, or leave `of` out.",
        )
    rows = pl.DataFrame({"key": _key_texts(tables[name], key)})
    return rows.join(owners, on="key", how="left", maintain_order="left")["person"]


def _check_unit(unit: str, persons: pl.Series) -> None:
    """Raise InputError where the table of persons has two rows of one, or a row of nobody."""
    n_missing, n_known = persons.null_count(), persons.drop_nulls().n_unique()
    n_repeated = len(persons) - n_missing - n_known
    if n_missing or n_repeated:
        raise InputError(
            f"table {unit!r} has one row for every person: {n_missing:,} rows lack the key, and {n_repeated:,} repeat "
            "one.",
            hint="leave these rows out, or name another table (`unit: {table: ...}`).",
        )


def _check_orphans(n_dropped: Mapping[str, int], policy: LinkedPolicy) -> None:
    orphans = {name: n for name, n in n_dropped.items() if n}
    if orphans and policy.orphans == "refuse":
        told = ", ".join(f"{n:,} of {name!r}" for name, n in orphans.items())
        raise InputError(
            f"records are of nobody in the table of persons: {told}.",
            hint="add their persons, or leave the records out (`orphans: drop`), which is reported.",
        )


def _with_person(frame: Frame, persons: pl.Series, rows: CountArray, policy: LinkedPolicy, name: str) -> Frame:
    """Return the rows of known persons, with the person in place of the table's own key."""
    key, own = policy.unit.key, policy.key_of(name)
    frame = frame.with_columns({key: persons})
    if own != key:
        frame = frame.select([key if column == own else column for column in frame.columns if column != key])
    return frame if len(rows) == frame.n_rows else frame.take(rows)
