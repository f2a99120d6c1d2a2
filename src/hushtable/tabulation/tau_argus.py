"""Tables of tau-Argus: a ``.tab`` without a header, what its columns are in the ``.rda`` beside it, and code lists.

Statuses are in a column of the table, or in the a priori file (``.hst``) beside it. What is unsafe or suppressed is
hidden.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

from hushtable.errors import InputError
from hushtable.io import frames, read_text
from hushtable.tabulation.reading import SAFE_STATUSES, TableReading, read_hierarchy

_KINDS: Final = {"RECODEABLE": "label", "RECODABLE": "label", "FREQUENCY": "frequency", "STATUS": "status",
                 "MAXSCORE": "contribution"}  # fmt: skip
_NUMERIC_KINDS: Final = {"SHADOW": "shadow", "COST": "cost", "COSTVAR": "cost", "LOWERPL": "level", "UPPERPL": "level"}
_DECIMAL_COMMA: Final = re.compile(r"\s*-?\d+,\d+\s*")
STATUS: Final = "status"
"""The column of statuses, where an a priori file says them."""


@dataclass(slots=True)
class _ArgusVariable:
    """A column as the ``.rda`` declares it."""

    name: str
    kind: str = "other"
    total: str | None = None
    code_list: str | None = None
    lead: str = "@"
    digits: tuple[int, ...] = ()  # of each level of a code


@dataclass(frozen=True, slots=True, eq=False)
class ArgusTable:
    """A table of tau-Argus as texts by column, and how it is read."""

    columns: Mapping[str, list[str]] = field(repr=False)
    reading: TableReading
    unused: tuple[str, ...]  # columns that say nothing here

    @property
    def frame(self) -> object:
        """The columns as a polars frame."""
        return frames.assemble(self.columns, "polars")


def read_argus_table(path: Path) -> ArgusTable:
    """Read a ``.tab`` with the files beside it.

    Raises
    ------
    InputError
        There is no ``.rda``, or a line has other columns than it declares.
    """
    metadata = next((each for each in (path.with_suffix(".rda"), path.with_suffix(".RDA")) if each.is_file()), None)
    if metadata is None:
        raise InputError(
            f"{str(path)!r} has no header, and no {path.stem}.rda lies beside it.",
            hint="tau-Argus writes both: put the .rda of the table into its folder.",
        )
    separator, variables, statuses = _read_metadata(metadata)
    labels = [each.name for each in variables if each.kind == "label"]
    values = [each.name for each in variables if each.kind == "value"]
    frequency = next((each.name for each in variables if each.kind == "frequency"), None)
    value = values[0] if values else frequency
    if not labels or value is None:
        raise InputError(
            f"{str(metadata)!r} declares no labels or no values.", hint="<RECODEABLE> and <NUMERIC> say which they are."
        )
    columns = _read_columns(path, separator, [each.name for each in variables])
    status = next((each.name for each in variables if each.kind == "status"), None)
    a_priori = path.with_suffix(".hst")
    if status is None and a_priori.is_file():
        status = STATUS
        columns[STATUS] = _read_a_priori(a_priori, columns, labels)
    if status is not None:
        columns[status] = [statuses.get(text.casefold(), text) for text in columns[status]]
    used = {*labels, value, status, frequency}
    reading = TableReading(
        tuple(labels),
        value,
        hidden=("x",),
        total={each.name: each.total for each in variables if each.kind == "label" and each.total is not None},
        hierarchies={each.name: _read_levels(each, columns[each.name], path.parent) for each in variables
                     if each.kind == "label" and (each.code_list or each.digits)},
        status=status,
        frequency=None if frequency == value else frequency,
    )  # fmt: skip
    unused = tuple(name for name in columns if name not in used)
    return ArgusTable({name: columns[name] for name in columns if name in used}, reading, unused)


def _read_metadata(path: Path) -> tuple[str, list[_ArgusVariable], dict[str, str]]:
    """Return the separator, the columns, and which statuses mean safe or unsafe."""
    separator, statuses = ";", {}
    variables: list[_ArgusVariable] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        try:
            word, *given = shlex.split(line.replace("\\", "/"), posix=True) or [""]
        except ValueError:
            raise InputError(f"line {number} of {str(path)!r} has an open quote.", hint="close it.") from None
        key = word.strip("<>").upper()
        if not word:
            continue
        if not word.startswith("<"):
            variables.append(_ArgusVariable(word))
        elif key in ("SAFE", "UNSAFE", "PROTECT") and given:
            statuses[given[0].casefold()] = "u" if key == "UNSAFE" else "s"
        elif key == "SEPARATOR" and given:
            separator = given[0]
        elif variables:
            _declare(variables[-1], key, given)
    return separator, variables, statuses


def _declare(variable: _ArgusVariable, key: str, given: Sequence[str]) -> None:
    """Add what a line of the metadata says of a column."""
    if key == "NUMERIC":
        variable.kind = _NUMERIC_KINDS.get(given[0].strip("<>").upper(), "value") if given else "value"
    elif key in _KINDS:
        variable.kind = _KINDS[key]
    elif key == "TOTCODE" and given:
        variable.total = given[0].strip()
    elif key == "HIERCODELIST" and given:
        variable.code_list = given[0]
    elif key == "HIERLEADSTRING" and given:
        variable.lead = given[0]
    elif key == "HIERLEVELS":
        variable.digits = tuple(int(each) for each in given if each.isdigit())


def _read_columns(path: Path, separator: str, names: Sequence[str]) -> dict[str, list[str]]:
    rows = []
    for number, row in enumerate(csv.reader(read_text(path).split("\n"), delimiter=separator), start=1):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(names):
            raise InputError(
                f"line {number} of {str(path)!r} has {len(row)} columns, and its .rda declares {len(names)}.",
                hint="the .rda of another table lies beside it, or <SEPARATOR> is wrong.",
            )
        rows.append([cell.strip() for cell in row])
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    if separator != ",":
        for name, cells in columns.items():
            if any(map(_DECIMAL_COMMA.fullmatch, cells)):
                columns[name] = [cell.replace(",", ".") for cell in cells]
    return columns


def _read_a_priori(path: Path, columns: Mapping[str, list[str]], labels: Sequence[str]) -> list[str]:
    """Return the status of every row; what the file does not name is safe."""
    told = {}
    text = read_text(path)
    separator = next((mark for mark in (",", ";", "\t") if mark in text), ",")
    for row in csv.reader(text.split("\n"), delimiter=separator):
        cells = [cell.strip() for cell in row]
        if len(cells) > len(labels) and cells[len(labels)].casefold() in ("s", "u", "p"):
            told[tuple(cells[: len(labels)])] = cells[len(labels)]
    rows = zip(*(columns[name] for name in labels), strict=True)
    return [told.get(row, SAFE_STATUSES[0]) for row in rows]


def _read_levels(variable: _ArgusVariable, codes: Sequence[str], folder: Path) -> dict[str, tuple[str, ...]]:
    """Return parents and children: of a code list, else of the digits of codes."""
    if variable.code_list is None:
        return dict(_nest_by_digits(variable, codes))
    path = folder / variable.code_list.split("/")[-1]
    if not path.is_file():
        raise InputError(
            f"the hierarchy of {variable.name!r} is in {path.name!r}, which is not beside the table.",
            hint=f"put it into {str(folder)!r}.",
        )
    return read_hierarchy(path, variable.name, lead=variable.lead)


def _nest_by_digits(variable: _ArgusVariable, codes: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    ends = [sum(variable.digits[: place + 1]) for place in range(len(variable.digits))]
    distinct = [code for code in dict.fromkeys(codes) if code != variable.total]
    for shorter, longer in pairwise(ends):
        for parent in (code for code in distinct if len(code) == shorter):
            parts = tuple(code for code in distinct if len(code) == longer and code.startswith(parent))
            if parts:
                yield parent, parts
