"""Read hierarchies from files, ARX's tables and MG-GA's trees, with errors that name the line."""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from hushtable import io
from hushtable.columns import SUPPRESSED, format_value
from hushtable.errors import HierarchyError
from hushtable.hierarchy.ladder import Level, level_of_labels

_LEVEL_HEADER: Final = re.compile(
    r"(level|ebene|stufe|niveau|nivel|livello|value|values|wert|code|group|gruppe|top|all)([ _-]?\d+)?", re.IGNORECASE
)
"""Words that headers use for the values and the levels above them."""
_DELIMITERS: Final = "\t;|,"  # those that labels contain least often come first


class LadderLines(NamedTuple):
    """The lines of a hierarchy: each value with its labels, and its place in the file."""

    rows: list[list[str]]
    locations: list[str]

    def build_levels(self) -> tuple[tuple[str, ...], list[Level]]:
        """Return the values and the levels between them and ``*``; raise HierarchyError if they do not nest."""
        self._check_values()
        columns = list(zip(*self.rows, strict=True))
        # Every hierarchy gets its own top level, whether the file has one or not.
        if len(columns) > 1 and set(columns[-1]) == {SUPPRESSED}:
            columns.pop()
        levels = [level_of_labels(column) for column in columns[1:]]
        self._check_nested(levels)
        return columns[0], levels

    def _check_values(self) -> None:
        seen: dict[str, str] = {}
        if not self.rows:
            raise HierarchyError("the hierarchy is empty.", hint="give one line for every value.")
        for row, where in zip(self.rows, self.locations, strict=True):
            if not all(text.strip() for text in row):
                raise HierarchyError(
                    f"{where}: an empty value or label.",
                    hint="leave out the line of the missing value (it is a leaf of its own under `*`), "
                    "fill in the others.",
                )
            if row[0] == SUPPRESSED:
                raise HierarchyError(f"{where}: the value is `*`, which means any value.", hint="leave out the line.")
            if row[0] in seen:
                raise HierarchyError(f"{where}: the value of {seen[row[0]]} again.", hint="list every value once.")
            if SUPPRESSED in row and set(row[row.index(SUPPRESSED) :]) != {SUPPRESSED}:
                raise HierarchyError(f"{where}: a label above `*`.", hint="`*` is any value; only `*` can follow it.")
            seen[row[0]] = where

    def _check_nested(self, levels: Sequence[Level]) -> None:
        for number, (fine, coarse) in enumerate(itertools.pairwise(levels), start=1):
            first: dict[int, int] = {}
            for index, (node, parent) in enumerate(zip(fine.codes.tolist(), coarse.codes.tolist(), strict=True)):
                other = first.setdefault(node, index)
                if coarse.codes[other] != parent:
                    raise HierarchyError(
                        f"{self.locations[index]}: shares its label at level {number} with {self.locations[other]}, "
                        f"but not the one at level {number + 1}.",
                        hint="values with one label must have one label at every level above (level 0 are the values).",
                    )


@contextlib.contextmanager
def name_source(source: str) -> Iterator[None]:
    """Prefix the messages of errors with the name of the source."""
    try:
        yield
    except HierarchyError as error:
        raise HierarchyError(f"{source}: {error}") from None


def read_text(path: str | Path, encoding: str | None = None) -> str:
    """Read a hierarchy file; its encoding is detected as that of a table."""
    try:
        return io.read_text(Path(path), encoding)
    except OSError as error:
        raise HierarchyError(
            f"cannot read the hierarchy {str(path)!r}: {error.strerror}.", hint="check the name."
        ) from None
    except ValueError:
        what = encoding or "a text whose encoding can be found"
        raise HierarchyError(
            f"cannot read the hierarchy {str(path)!r}: not {what}.", hint="save it in UTF-8."
        ) from None


def parse_csv(text: str, delimiter: str | None = None, column: str = "") -> LadderLines:
    """Read ARX's form: a line for every value, from the value to the top; lines of the empty value are left out."""
    delimiter = delimiter or _find_delimiter(text)
    rows, locations = [], []
    for number, row in _split_lines(text, delimiter):
        rows.append(row)
        locations.append(f"line {number}")
        if len(row) != len(rows[0]):
            raise HierarchyError(
                f"line {number}: {len(row)} levels, but {locations[0]} has {len(rows[0])} (delimiter {delimiter!r}).",
                hint="give every value a label at every level; repeat a label to skip a level.",
            )
    begin = 1 if _has_header(rows, column) else 0
    # Leave out a line of the empty value: a missing cell is always a leaf of its own under `*`.
    listed = [at for at in range(begin, len(rows)) if rows[at][0].strip()]
    return LadderLines([rows[at] for at in listed], [locations[at] for at in listed])


def _has_header(rows: Sequence[Sequence[str]], column: str) -> bool:
    """Tell whether the first line is a header: it alone lacks the final `*`, or its words name levels or the column."""
    if len(rows) < 2 or SUPPRESSED in rows[0]:
        return False
    first, *others = rows
    if len(first) > 2 and all(row[-1] == SUPPRESSED for row in others):
        return True
    is_label = any(name in cells for name, cells in zip(first, zip(*others, strict=True), strict=True))
    if is_label or len({*first}) < len(first):
        return False
    names_levels = len(first) > 1 and all(_LEVEL_HEADER.fullmatch(cell.strip()) for cell in first)
    return names_levels or first[0].strip().casefold() == column.strip().casefold()


def _find_delimiter(text: str) -> str:
    """Return the delimiter that splits most lines into equally many levels; labels may contain the others."""
    n_alike = dict.fromkeys(_DELIMITERS, 0)
    for delimiter in filter(text.__contains__, _DELIMITERS):
        widths = Counter(len(row) for _, row in _split_lines(text, delimiter))
        n_alike[delimiter] = max((n_lines for width, n_lines in widths.items() if width > 1), default=0)
    return max(_DELIMITERS, key=n_alike.__getitem__)


def _split_lines(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of every line that is not blank."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from ((reader.line_num, row) for row in reader if row)
    except csv.Error:
        raise HierarchyError(f"line {reader.line_num}: cannot be read as CSV.", hint="check its quotes.") from None


def parse_domains(text: str) -> dict[str, LadderLines]:
    """Read MG-GA's form: ``Column/node/node: value, value``, a line for every innermost node."""
    paths: dict[str, list[tuple[list[str], str]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        head, colon, tail = line.partition(":")
        column, *nodes = (part.strip() for part in head.split("/"))
        leaves = [leaf.strip() for leaf in tail.split(",")]
        if not colon or not column or not all(leaves) or not all(nodes):
            raise HierarchyError(
                f"line {number}: not of the form `Column/node: value, value`.", hint="fill in what is missing."
            )
        paths.setdefault(column, []).extend(([*nodes, leaf], f"line {number}") for leaf in leaves)
    return {column: _pad_paths(each) for column, each in paths.items()}


def parse_tree(tree: Any) -> LadderLines:
    """Read nested mappings of labels that end in lists of values, as a policy writes them."""
    paths: list[tuple[list[str], str]] = []

    def walk(node: Any, path: list[str]) -> None:
        if isinstance(node, Mapping):
            for label, child in node.items():
                walk(child, [*path, _text_of_node(label)])
        elif isinstance(node, (list, tuple)):
            first = len(paths) + 1
            paths.extend(([*path, _text_of_node(leaf)], f"value {place}") for place, leaf in enumerate(node, first))
        else:
            raise HierarchyError("tree: a label without a list of values.", hint="write `label: [value, value]`.")

    walk(tree, [])
    return _pad_paths(paths)


def _text_of_node(node: Any) -> str:
    if node is None or isinstance(node, (bool, list, tuple, Mapping)):
        raise HierarchyError(
            "tree: a label or value that is no text.", hint="quote it: YAML reads a bare no, yes or ~ otherwise."
        )
    return str(node)


def _pad_paths(paths: Sequence[tuple[list[str], str]]) -> LadderLines:
    """Turn paths from the top into rows of equal length; a shallow value repeats itself up to its branch."""
    depth = max((len(path) for path, _ in paths), default=0)
    rows = []
    for path, _ in paths:
        *nodes, leaf = path
        rows.append([leaf, *[format_value(leaf)] * (depth - len(path)), *reversed(nodes)])
    return LadderLines(rows, [place for _, place in paths])
