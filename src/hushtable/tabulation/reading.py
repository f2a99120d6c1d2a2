"""Read tables of cells from files and frames: long, a row a cell, or across, a column a category."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CountArray
from hushtable.errors import InputError, check_columns, check_type, quote_names
from hushtable.io import Frame, frames
from hushtable.tabulation.cells import ABSENT, HIDDEN, MAX_CELLS, SHOWN, CellKey, CellTable, Dimension, find_sums

TOTAL_WORDS: Final = frozenset(
    {
        *(
            "total",
            "totals",
            "all",
            "sum",
            "overall",
            "margin",
            "margins",
            "grand total",
            "grand_total",
            "_t",
            "t",
            "*",
            "",
        ),
        *("gesamt", "insgesamt", "summe", "zusammen", "alle", "alles", "ensemble", "totale", "tous", "totaal", "todos"),
    }
)
"""Labels of totals, in small letters; a blank label is one, too."""
HIDDEN_MARKS: Final = frozenset(
    {
        *(
            "",
            "x",
            "*",
            "**",
            "***",
            ":",
            ".",
            "..",
            "...",
            "-",
            "–",
            "/",
            "c",
            "s",
            "d",
            "z",
            "u",
        ),
        *("(d)", "(x)", "(s)", "n.d.", "nd", "na", "n/a", "nan", "none", "null", "[c]", "[x]", "[low]", "[redacted]"),
        *("suppressed", "hidden", "redacted", "confidential", "secret"),
    }
)
"""Cells that hide a value, in small letters."""
SAFE_STATUSES: Final = ("v", "s", "z", "p", "e", "")
"""Statuses of cells that are shown, in small letters: of tau-Argus V, S, P and E, of sdcTable s and z."""
HIDING_STATUSES: Final = ("a", "b", "c", "d", "f", "m", "u", "x", "w")
"""Those of hidden ones: of tau-Argus A to D, F, M and U, of sdcTable u, x and w."""
_VALUE_NAMES: Final = (
    "n",
    "count",
    "counts",
    "freq",
    "frequency",
    "value",
    "obs_value",
    "obs",
    "n_obs",
    "persons",
    "number",
)
_ACROSS: Final = "column"
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_GROUPED: Final = {
    ".": re.compile(r"-?\d{1,3}(?:[,'’\u00a0\u202f ]\d{3})+(?:\.\d+)?"),
    ",": re.compile(r"-?\d{1,3}(?:[.'’\u00a0\u202f ]\d{3})+(?:,\d+)?|-?\d+,\d+"),
}
_WITH_SHARE: Final = re.compile(r"(.*\d)\s*\(\s*<?\s*[\d.,]+\s*%\s*\)")
_BELOW: Final = re.compile(r"(<|≤|<=|under\s|below\s|unter\s)\s*(\d+)", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"(\d+)\s*(?:-|–|to|bis)\s*(\d+)", re.IGNORECASE)
_MAX_DECIMALS: Final = 6

CellNumber = tuple[int, int]  # an integer, and the decimals that it has
ValueBounds = tuple[float, float]
CellParser = Callable[[str, int], CellNumber | ValueBounds | None]


@dataclass(frozen=True, slots=True)
class TableReading:
    """How tables of cells are read. What is not said is found from the tables, and told.

    Attributes
    ----------
    by : tuple of str
        Columns that hold labels.
    value : str or None
        The column of values; None for a table across, a column a category.
    across : str or None
        The name of the dimension whose labels are column names.
    hidden : tuple of str
        Texts that hide a value; none: those of `HIDDEN_MARKS`.
    total : mapping of dimension to label
        The label that sums all others.
    hierarchies : mapping of dimension to {parent: children}
        Which label is the sum of which others.
    fixed : mapping of column to label
        Only rows with these labels are the table's: those of other tables of one file have others.
    status : str or None
        A column that says which values are hidden, although they stand there: in what tau-Argus and sdcTable write.
    frequency : str or None
        A column that counts the contributors of a sum: who is alone knows it.
    """

    by: tuple[str, ...] = ()
    value: str | None = None
    across: str | None = None
    hidden: tuple[str, ...] = ()
    total: Mapping[str, str] = field(default_factory=dict)
    hierarchies: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    status: str | None = None
    frequency: str | None = None

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> TableReading:
        """Read what `to_dict` returned."""
        given = {
            name: entries[name]
            for name in ("value", "across", "total", "hierarchies", "fixed", "status")
            if name in entries
        }
        return cls(tuple(entries["by"]), hidden=tuple(entries["hidden"]), **given)

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values."""
        return {
            "by": list(self.by),
            "value": self.value,
            "across": self.across,
            "hidden": list(self.hidden),
            "total": dict(self.total),
            "fixed": dict(self.fixed),
            **({"status": self.status} if self.status is not None else {}),
            "hierarchies": {
                name: {each: list(parts) for each, parts in tree.items()} for name, tree in self.hierarchies.items()
            },
        }


def read_cell_table(data: object, reading: TableReading, name: str) -> tuple[CellTable, TableReading]:
    """Read a table; return it with how it was read.

    Raises
    ------
    InputError
        A cell is neither a number nor a known mark, or has two values.
    """
    frame = frames.read(_with_index(data))
    if reading.fixed:
        check_columns(list(reading.fixed), frame.columns, f"columns of {name}")
        are_fixed = [np.array(_texts_of(frame, column)) == label for column, label in reading.fixed.items()]
        is_own = np.all(are_fixed, axis=0)
        frame = frame.take(np.flatnonzero(is_own)).drop(list(reading.fixed))
    texts = {column: _texts_of(frame, column) for column in frame.columns}
    besides = [column for column in (reading.status, reading.frequency) if column is not None]
    check_columns(besides, frame.columns, f"columns of {name}")
    frame = frame.drop(besides)
    parse = _build_parser("," if frame.has_decimal_commas else ".", reading.hidden, name)
    by, value, across = _choose_columns(frame, texts, reading, parse, name)
    labels = {column: texts[column] for column in by}
    cells = texts[value] if value is not None else []
    if reading.status is not None:
        cells = _hide_by_status(cells, texts[reading.status], reading, name)
    if value is None:
        columns = [column for column in frame.columns if column not in by]
        cells = [texts[column][row] for row in range(frame.n_rows) for column in columns]
        labels = {column: [label for label in texts_of for _ in columns] for column, texts_of in labels.items()}
        labels[across or _ACROSS] = [column for _ in range(frame.n_rows) for column in columns]
    parsed = [parse(cell, row) for row, cell in enumerate(cells)]
    told = replace(reading, by=tuple(by), value=value, across=across)
    table, totals = _fill(name, labels, parsed, told)
    return table, replace(told, total={**reading.total, **totals})


def _hide_by_status(cells: Sequence[str], statuses: Sequence[str], reading: TableReading, name: str) -> list[str]:
    """Return cells with a mark in place of values that their status hides."""
    unknown = [row for row, status in enumerate(statuses) if status.casefold() not in SAFE_STATUSES + HIDING_STATUSES]
    if unknown or not cells:
        raise InputError(
            f"{name}: the status of row {unknown[0] + 1} is none of tau-Argus or sdcTable."
            if unknown
            else f"{name} is a pivot, and a status is one of a row.",
            hint=f"{', '.join(SAFE_STATUSES[:-1])} mean shown, {', '.join(HIDING_STATUSES)} hidden.",
        )
    mark = next((each for each in reading.hidden), "x")
    return [cell if status.casefold() in SAFE_STATUSES else mark for cell, status in zip(cells, statuses, strict=True)]


def find_alone(data: object, reading: TableReading) -> tuple[CellKey, ...]:
    """Return the cells of one contributor, as a column of frequencies tells them."""
    if reading.frequency is None:
        return ()
    frame = frames.read(_with_index(data))
    labels = {column: _texts_of(frame, column) for column in reading.by}
    keys = []
    for row, text in enumerate(_texts_of(frame, reading.frequency)):
        if text in ("1", "1.0"):
            told = [(column, cells[row]) for column, cells in labels.items()]
            keys.append(tuple(sorted(pair for pair in told if pair[1] != reading.total.get(pair[0]))))
    return tuple(keys)


def _with_index(data: Any) -> Any:
    """Return a pandas frame with its named index as columns and mixed cells as text, as `crosstab` makes it."""
    if not hasattr(data, "reset_index"):
        return data
    try:
        data = data.copy() if data.index.names[0] is None else data.reset_index()
    except ValueError:
        raise InputError("the index and a column have one name.", hint="rename the index.") from None
    data.columns = [" ".join(map(str, name)).strip() if isinstance(name, tuple) else str(name) for name in data.columns]
    # Numbers beside marks are objects of several types. Columns of one name are refused where they are read.
    for name in data.columns if data.columns.is_unique else ():
        if data[name].dtype == object:
            data[name] = ["" if cell is None else _format_cell(cell) for cell in data[name]]
    return data


def _texts_of(frame: Frame, column: str) -> list[str]:
    return ["" if cell is None else _format_cell(cell) for cell in frame.column(column).to_list()]


def _format_cell(cell: object) -> str:
    if isinstance(cell, float):
        return "" if cell != cell else repr(int(cell)) if cell.is_integer() else repr(cell)
    return str(cell).strip()


def _build_parser(decimal: str, hidden: Sequence[str], name: str) -> CellParser:
    """Return what parses a cell: a number, the bounds that a mark says, or None for no value known."""
    marks = frozenset(mark.casefold() for mark in hidden) or HIDDEN_MARKS

    def parse(text: str, row: int) -> CellNumber | ValueBounds | None:
        if text.casefold() in marks:
            return None
        if text.casefold() in HIDDEN_MARKS and hidden:
            raise InputError(f"{name}: the cell of row {row + 1} is no number.", hint="name its mark in --hidden, too.")
        number = _parse_number(text, decimal)
        if number is not None:
            return number
        share = _WITH_SHARE.fullmatch(text)
        if share:
            return parse(share[1].strip(), row)
        below, between = _BELOW.fullmatch(text), _BETWEEN.fullmatch(text)
        if below:
            return -np.inf, float(below[2]) - (below[1] not in ("≤", "<="))
        if between:
            return float(between[1]), float(between[2])
        raise InputError(
            f"{name}: the cell of row {row + 1} is neither a number nor a mark that is known.",
            hint="name the marks that hide values: --hidden x; and the column of values: --value n.",
        )

    return parse


def _parse_number(text: str, decimal: str) -> CellNumber | None:
    if _GROUPED[decimal].fullmatch(text):
        text = re.sub(r"['’\u00a0\u202f ]", "", text)
        text = text.replace(",", "") if decimal == "." else text.replace(".", "").replace(",", ".")
    if not _NUMBER.fullmatch(text):
        return None
    try:
        exact = Decimal(text).normalize()
    except InvalidOperation:
        return None
    decimals = max(0, -int(exact.as_tuple().exponent))
    if decimals > _MAX_DECIMALS:
        exact, decimals = round(exact, _MAX_DECIMALS), _MAX_DECIMALS
    return int(exact.scaleb(decimals)), decimals


def _choose_columns(
    frame: Frame, texts: Mapping[str, list[str]], reading: TableReading, parse: CellParser, name: str
) -> tuple[list[str], str | None, str | None]:
    """Return the columns of labels, that of values, and the dimension across where there is none."""
    if reading.value is not None:
        check_columns([reading.value, *reading.by], frame.columns, f"columns of {name}")
        if reading.by:
            return [column for column in frame.columns if column in reading.by], reading.value, None
    else:
        named = [column for column in reading.by if column != reading.across]
        check_columns(named, frame.columns, f"columns of {name}")
    numbers = [
        column
        for column in frame.columns
        if column not in reading.by and column != reading.value and _are_values(texts[column], parse)
    ]
    by = list(reading.by) or [column for column in frame.columns if column not in numbers and column != reading.value]
    if reading.value is not None:
        return by, reading.value, None
    usual = [column for column in numbers if column.casefold() in _VALUE_NAMES]
    if reading.across is None and (len(numbers) == 1 or len(usual) == 1):
        value = usual[0] if len(usual) == 1 else numbers[0]
        if len(by) or len(numbers) == 1:
            return by, value, None
    by = [column for column in by if column != reading.across]
    if not by or len(numbers) < 2:
        raise InputError(
            f"{name}: which column holds the values? Those of numbers and marks are {quote_names(numbers) or 'none'}.",
            hint="say --value n, and --by g,h for the columns of labels.",
        )
    return by, None, reading.across or _ACROSS


def _are_values(cells: Sequence[str], parse: CellParser) -> bool:
    """Whether a column holds numbers and marks only, and some number."""
    try:
        parsed = [parse(cell, row) for row, cell in enumerate(cells)]
    except InputError:
        return False
    return any(each is not None and isinstance(each[0], int) for each in parsed)


def _fill(
    name: str, labels: Mapping[str, list[str]], parsed: Sequence[CellNumber | ValueBounds | None], reading: TableReading
) -> tuple[CellTable, dict[str, str]]:
    """Put cells into the grid of their labels; return the table and the labels of its totals."""
    names = {dimension: list(dict.fromkeys(cells)) for dimension, cells in labels.items()}
    shape = tuple(len(each) for each in names.values())
    if not parsed or np.prod(shape, dtype=float) > MAX_CELLS:
        raise InputError(
            f"{name} has {np.prod(shape, dtype=float):,.0f} combinations of labels.",
            hint=f"at most {MAX_CELLS:,} are looked at: take fewer dimensions or coarser labels.",
        )
    places = _locate_cells(name, labels, names)
    decimals = max((int(each[1]) for each in parsed if each is not None and isinstance(each[0], int)), default=0)
    n_cells = int(np.prod(shape))
    values, status = np.zeros(n_cells, dtype=np.int64), np.full(n_cells, ABSENT)
    at_least, at_most = np.full(n_cells, -np.inf), np.full(n_cells, np.inf)
    for place, each in zip(places.tolist(), parsed, strict=True):
        if each is not None and isinstance(each[0], int):
            values[place], status[place] = each[0] * 10 ** (decimals - int(each[1])), SHOWN
        else:
            status[place] = HIDDEN
            if each is not None:
                at_least[place], at_most[place] = each[0] * 10**decimals, each[1] * 10**decimals
    grid = values.reshape(shape), (status == SHOWN).reshape(shape)
    totals = {
        dimension: label
        for position, (dimension, each) in enumerate(names.items())
        if (label := _find_total(dimension, each, position, grid, reading)) is not None
    }
    axes = tuple(
        Dimension(
            dimension,
            tuple(each),
            tuple(find_sums(each, totals.get(dimension), reading.hierarchies.get(dimension, {}))),
            each.index(totals[dimension]) if dimension in totals else None,
        )
        for dimension, each in names.items()
    )
    return CellTable(name, axes, values, status, at_least, at_most, decimals), totals


def _locate_cells(name: str, labels: Mapping[str, list[str]], names: Mapping[str, list[str]]) -> CountArray:
    """Return the place of every cell in the grid; raise InputError if two have the same."""
    codes = []
    for dimension, cells in labels.items():
        number = {label: code for code, label in enumerate(names[dimension])}
        codes.append(np.array([number[cell] for cell in cells], dtype=np.int64))
    places = np.ravel_multi_index(tuple(codes), tuple(len(each) for each in names.values()))
    doubled = [place for place, count in Counter(places.tolist()).items() if count > 1]
    if doubled:
        raise InputError(
            f"{name} has {len(doubled):,} combinations of labels in more than one row, the first in row "
            f"{int(np.flatnonzero(places == doubled[0])[1]) + 1}.",
            hint="a cell has one row: name all columns of labels with --by.",
        )
    return places


def _find_total(
    dimension: str, labels: Sequence[str], position: int, grid: tuple[CountArray, BoolArray], reading: TableReading
) -> str | None:
    """Return the label of the total: as told, by its word, or because it is the sum of all others wherever they are."""
    told = reading.total.get(dimension, reading.total.get(""))
    if told is not None:
        if told not in labels and dimension in reading.total:
            raise InputError(f"{dimension!r} has no label {told!r}.", hint="say --total COLUMN=LABEL.")
        return told if told in labels else None
    words = [label for label in labels if label.casefold() in TOTAL_WORDS]
    if words:
        return max(words, key=lambda label: (label.casefold() == "total", label != "", labels.index(label)))
    if dimension in reading.hierarchies or len(labels) < 3:
        return None
    lines = [np.moveaxis(part, position, 0).reshape(len(labels), -1) for part in grid]
    is_whole = lines[1].all(axis=0)
    sums = lines[0].sum(axis=0)
    if is_whole.sum() < 2 or not sums[is_whole].any():
        return None
    found = [label for code, label in enumerate(labels) if (2 * lines[0][code] == sums)[is_whole].all()]
    return found[0] if len(found) == 1 else None


def read_hierarchies(given: Mapping[str, object] | None) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return parents and children of each dimension that has a hierarchy."""
    check_type(given, Mapping, "hierarchies", "a mapping of columns to hierarchies: {'region': 'regions.csv'}")
    trees = {name: read_hierarchy(each, name) for name, each in (given or {}).items()}
    for name, tree in trees.items():
        try:
            TopologicalSorter(tree).prepare()
        except CycleError:
            raise InputError(
                f"the hierarchy of {name!r} puts a label below itself.", hint="every label has one parent."
            ) from None
    return trees


def read_hierarchy(source: object, dimension: str, *, lead: str = "@") -> dict[str, tuple[str, ...]]:
    """Return parents and children: from a mapping, a ``.hrc`` file, or a table with a column a level, a row a path."""
    if isinstance(source, Mapping):
        return {str(parent): tuple(map(str, parts)) for parent, parts in source.items()}
    if isinstance(source, (str, Path)) and Path(source).suffix.lower() == ".hrc":
        return _read_indented(Path(source), dimension, lead)
    frame = frames.read(source if not isinstance(source, str) else Path(source))
    levels = [_texts_of(frame, column) for column in frame.columns]
    # From coarse to fine, however the columns lie.
    levels.sort(key=lambda cells: len(set(cells)))
    children: dict[str, dict[str, None]] = {}
    parents: dict[str, str] = {}
    for coarse, fine in pairwise(levels):
        for parent, part in zip(coarse, fine, strict=True):
            if not parent or not part or parent == part:
                continue
            if parents.setdefault(part, parent) != parent:
                raise InputError(
                    f"the hierarchy of {dimension!r} puts a label below two others (column {frame.columns[0]!r}).",
                    hint="every label has one parent.",
                )
            children.setdefault(parent, {})[part] = None
    return {parent: tuple(parts) for parent, parts in children.items()}


def _read_indented(path: Path, dimension: str, lead: str) -> dict[str, tuple[str, ...]]:
    """Read a hierarchy of tau-Argus: a label a line, behind a sign (@) for each level below the first."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"cannot read the hierarchy {str(path)!r}.", hint="it is a text file in UTF-8.") from None
    children: dict[str, list[str]] = {}
    above: list[str] = []
    for line in filter(str.strip, lines):
        signed = line.strip()
        depth = (len(signed) - len(signed.lstrip(lead))) // len(lead)
        label = signed.lstrip(lead).strip()
        if depth > len(above):
            raise InputError(
                f"the hierarchy of {dimension!r} skips a level in {str(path)!r}.",
                hint=f"add one {lead} for each level.",
            )
        if depth:
            children.setdefault(above[depth - 1], []).append(label)
        above[depth:] = [label]
    return {parent: tuple(parts) for parent, parts in children.items()}
