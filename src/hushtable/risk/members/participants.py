"""Who takes part: members, non-members and a reference, of whom some are drawn; and the records that they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from hushtable._types import CodeArray, CountArray
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError, check_columns
from hushtable.io import Frame
from hushtable.risk.attacks.attack import Coded, encode_tables
from hushtable.risk.mpuccs import encode_same_columns
from hushtable.tables import JointRows, Table, encode_jointly, number_units, open_table

MIN_CONTROL_RECORDS: Final = 100
"""Records of a control below which nothing can be measured."""
_MIN_RECORDS_TO_SPLIT: Final = 400
_MAX_P_OF_BROKEN_SPLIT: Final = 1e-4

_OpenTables = Mapping[str, Table | Frame | None]


@dataclass(frozen=True, slots=True)
class Equals:
    """How many records of one table equal a record of another.

    Attributes
    ----------
    people_in_reference, others_in_reference, others_in_people : int
        People and non-members who equal a record of the reference, and non-members who equal one of the people.
    n_repeated : int
        Records of the control that were removed, because the control repeats records more often than chance.
    """

    people_in_reference: int
    others_in_reference: int
    others_in_people: int
    n_repeated: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Participants:
    """Members and non-members, one unit a person or record, and what attackers have."""

    tables: Coded = field(repr=False)
    targets: CodeArray = field(repr=False)  # (n_columns, n_rows), rows of members first
    units: CountArray = field(repr=False)  # of each row; members have the first numbers
    positions: CountArray = field(repr=False)  # of each row, in its table
    is_member: NDArray[np.bool_] = field(repr=False)  # of each unit
    reference: CodeArray | None = field(repr=False)
    n_persons: tuple[int, int]  # people and non-members there are, of whom some were drawn
    equals: Equals


def gather(
    data: Mapping[str, object],
    person: str | None,
    specs: Mapping[str, ColumnSpec] | None,
    n_units: int,
    rng: np.random.Generator,
) -> Participants:
    """Encode the tables, split the control into non-members and a reference, and draw who is attacked."""
    opened: _OpenTables = {name: None if table is None else open_table(table) for name, table in data.items()}
    original = opened["original"]
    assert original is not None
    columns = None if person is None else _columns_without(person, opened)
    if not (original.names if columns is None else columns):
        raise InputError("the tables have no column to attack by.", hint="give at least one column.")
    tables = encode_tables(original, opened["synthetic"], opened["control"], columns, specs, opened["reference"])
    assert tables.control is not None
    people, control = _number_persons(opened, person, tables)
    if tables.reference is not None:
        reference: CodeArray | None = tables.reference.codes
        others, n_repeated = _part_from_reference(tables, tables.reference.codes)
    else:
        others, in_reference, n_repeated = _split_control(tables, control, rng)
        reference = tables.control.codes[:, in_reference] if len(in_reference) else None
    equals = _count_equals(tables, tables.control.codes[:, others], reference, n_repeated)
    drawn_people = _draw_units(people, np.arange(len(people)), n_units, rng)
    drawn_others = _draw_units(control, others, n_units, rng)
    units = [np.unique(each, return_inverse=True)[1] for each in (people[drawn_people], control[drawn_others])]
    n_members = int(units[0].max()) + 1
    n_others = int(units[1].max()) + 1
    return Participants(
        tables,
        np.hstack([tables.original.codes[:, drawn_people], tables.control.codes[:, drawn_others]]),
        np.concatenate([units[0], units[1] + n_members]),
        np.concatenate([drawn_people, drawn_others]),
        np.arange(n_members + n_others) < n_members,
        reference,
        (len(np.unique(people)), len(np.unique(control[others]))),
        equals,
    )


def _columns_without(person: str, data: _OpenTables) -> list[str]:
    """Return the original's other columns; all tables of people have persons."""
    for what in ("original", "control", "reference"):
        table = data[what]
        if table is not None:
            check_columns([person], table.names, f"person, in the {what} table")
    original = data["original"]
    assert original is not None
    return [name for name in original.names if name != person]


def _number_persons(data: _OpenTables, person: str | None, tables: Coded) -> tuple[CountArray, CountArray]:
    """Return whose record each row of the people and of the control is; nobody may be in both."""
    assert tables.control is not None
    sizes = [rows.codes.shape[1] for rows in (tables.original, tables.control)]
    if person is None:
        return np.arange(sizes[0]), np.arange(sizes[1])
    names = [name for name in ("original", "control", "reference") if data[name] is not None]
    joint = encode_jointly(
        encode_same_columns({name: data[name] for name in names}, [person], {person: ColumnSpec("category")})
    )
    persons = [np.repeat(rows.codes[0], rows.counts).astype(np.int64) for rows in joint.tables]
    for i, of_table in enumerate(persons):
        for j in range(i):
            if shared := len(np.intersect1d(of_table[of_table >= 0], persons[j])):
                raise InputError(
                    f"{shared:,} persons are in the {names[j]} table and in the {names[i]} table.",
                    hint="all records of a person belong into one of them: ht.split(data, person=...).",
                )
    return number_units(persons[0]), number_units(persons[1])


def _split_control(tables: Coded, persons: CountArray, rng: np.random.Generator) -> tuple[CountArray, CountArray, int]:
    """Split the control's rows by persons; where it repeats records more often than chance, make it distinct first."""
    assert tables.control is not None
    codes = tables.control.codes
    rows = np.arange(len(persons))
    others, reference = _halve(rows, persons, rng)
    if not len(reference) or not _repeats_records(tables, codes[:, others], codes[:, reference]):
        return others, reference, 0
    distinct = np.unique(tables.control.first_equal_rows(tables.joint.widths))
    return *_halve(distinct, persons, rng), len(rows) - len(distinct)


def _part_from_reference(tables: Coded, reference: CodeArray) -> tuple[CountArray, int]:
    """Return the control's rows; where it shares records with a reference more often than chance, without those."""
    assert tables.control is not None
    others = tables.control.codes
    if not _repeats_records(tables, others, reference):
        return np.arange(others.shape[1]), 0
    kept = np.flatnonzero(~is_among(others, reference, tables.joint.widths))
    if not len(kept):
        raise InputError(
            "every record of the control is in the reference, too.",
            hint="give other people as reference; or none, and the control is split.",
        )
    return kept, others.shape[1] - len(kept)


def _halve(rows: CountArray, persons: CountArray, rng: np.random.Generator) -> tuple[CountArray, CountArray]:
    """Return the rows of a random half of the persons, and the other rows; all and none where there are few."""
    units = np.unique(persons[rows])
    if len(units) < _MIN_RECORDS_TO_SPLIT:
        return rows, rows[:0]
    chosen = np.isin(persons[rows], rng.permutation(units)[: len(units) // 2])
    return rows[~chosen], rows[chosen]


def _repeats_records(tables: Coded, others: CodeArray, reference: CodeArray) -> bool:
    """Tell whether non-members equal a record of the reference more often than the people do: then they share people.

    Fisher's exact test: if both were drawn without replacement, people and non-members would be alike in that.
    """
    people = tables.original.codes
    in_reference = [int(is_among(each, reference, tables.joint.widths).sum()) for each in (others, people)]
    sizes = [each.shape[1] for each in (others, people)]
    counts = [[found, n - found] for found, n in zip(in_reference, sizes, strict=True)]
    return bool(fisher_exact(counts, alternative="greater")[1] < _MAX_P_OF_BROKEN_SPLIT)


def is_among(rows: CodeArray, table: CodeArray, widths: tuple[int, ...]) -> NDArray[np.bool_]:
    """Tell which rows equal a row of a table."""
    return count_equal_rows([rows, table], widths)[0] > 0


def count_equal_rows(tables: list[CodeArray], widths: tuple[int, ...]) -> list[CountArray]:
    """Count for each row of the first table the equal rows of the others."""
    codes = np.hstack(tables)
    n_rows = codes.shape[1]
    first = JointRows(codes, np.ones(n_rows, dtype=np.int64), np.arange(n_rows)).first_equal_rows(widths)
    labels = np.split(first, np.cumsum([table.shape[1] for table in tables])[:-1])
    return [np.bincount(label, minlength=n_rows)[labels[0]] for label in labels[1:]]


def _count_equals(tables: Coded, others: CodeArray, reference: CodeArray | None, n_repeated: int) -> Equals:
    people, widths = tables.original.codes, tables.joint.widths
    in_reference = [0, 0] if reference is None else [
        int(is_among(rows, reference, widths).sum()) for rows in (people, others)
    ]  # fmt: skip
    return Equals(in_reference[0], in_reference[1], int(is_among(others, people, widths).sum()), n_repeated)


def _draw_units(persons: CountArray, rows: CountArray, n_units: int, rng: np.random.Generator) -> CountArray:
    """Return the rows, of some, of persons drawn at random; all where there are no more."""
    units = np.unique(persons[rows])
    if len(units) <= n_units:
        return rows
    return rows[np.isin(persons[rows], rng.permutation(units)[:n_units])]
