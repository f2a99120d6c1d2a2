"""Groups of values as people change them: names, and levels of their own, in a file beside the policy."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.columns import SUPPRESSED
from hushtable.errors import InputError
from hushtable.hierarchy import Hierarchy
from hushtable.io import drafts

FOLDER: Final = "hierarchies"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9]+")
_MAX_LABEL_LENGTH: Final = 200  # characters of a label


@dataclass(frozen=True, slots=True)
class LevelFigures:
    """What a level would cost if every record were published at it.

    Attributes
    ----------
    n_groups : int
    n_smallest : int
        Records of its smallest group.
    n_below : int
        Records in groups of fewer records than were asked for.
    loss : float
        The column's set-NCP, in [0, 1].
    """

    n_groups: int
    n_smallest: int
    n_below: int
    loss: float


def measure_levels(ladder: Hierarchy, codes: CodeArray, records: CountArray, k: int) -> list[LevelFigures]:
    """Measure every level, the values first and ``*`` last; a missing cell is a group of its own below ``*``.

    Parameters
    ----------
    ladder : Hierarchy
    codes : ndarray of int32, shape (n_rows,)
        The value of every row, -1 where it is missing.
    records : ndarray of int64, shape (n_rows,)
        How many records every row stands for.
    k : int
    """
    figures, n_records = [], max(1, int(records.sum()))
    for level in range(ladder.n_levels):
        sizes = np.bincount(ladder.nodes(level, codes) + 1, weights=records).astype(np.int64)
        sizes = sizes[sizes > 0]
        # As in `NCP`: a value costs nothing, nor does a missing cell below the top.
        costs = ladder.shares[level] if level else np.zeros(ladder.n_values)
        at_missing = float(level == ladder.n_levels - 1)
        loss = float(np.append(costs[ladder.level_codes[level]], at_missing)[codes] @ records) / n_records
        n_below = int(sizes[sizes < k].sum())
        figures.append(LevelFigures(len(sizes), int(sizes.min(initial=n_records)), n_below, loss))
    return figures


def with_name(ladder: Hierarchy, level: int, node: int, name: str) -> list[list[str]]:
    """Return the lines of a hierarchy with one group renamed."""
    _check_place(ladder, level, [node])
    label = _check_label(name, ladder, level, {node})
    return _with_labels(ladder, level, {node}, [label])


def with_joined(ladder: Hierarchy, level: int, nodes: Collection[int], name: str) -> list[list[str]]:
    """Return the lines of a hierarchy in which some groups of a level are one group of that level."""
    _check_place(ladder, level, nodes)
    if len(nodes) < 2 or level < 1:
        raise InputError("fewer than two groups were chosen.", hint="choose those that become one group.")
    _check_one_parent(ladder, level, nodes)
    return _with_labels(ladder, level, nodes, [_check_label(name, ladder, level, nodes)])


def with_moved(ladder: Hierarchy, level: int, nodes: Collection[int], into: int | None, name: str) -> list[list[str]]:
    """Return the lines of a hierarchy with some cells or groups moved to a group of the next level.

    Without a group, ``into`` is None, they become a new one with a name: the group that they were in is split.
    """
    _check_place(ladder, level, nodes)
    if not nodes or level + 1 >= ladder.n_levels - 1:
        raise InputError("nothing was chosen to move.", hint="tick cells or groups, then say where they belong.")
    above = list(range(level + 1, ladder.n_levels - 1))
    if into is None:
        _check_one_parent(ladder, level + 1, {int(ladder.parent(level)[node]) for node in nodes})
        label = _check_label(name, ladder, level + 1, ())
        return _with_labels(ladder, level + 1, [], [label], moved=(level, nodes))
    _check_place(ladder, level + 1, [into])
    place = int(np.flatnonzero(ladder.level_codes[level + 1] == into)[0])
    labels = [ladder.labels[each][ladder.level_codes[each, place]] for each in above]
    return _with_labels(ladder, level + 1, [], labels, moved=(level, nodes))


def without_level(ladder: Hierarchy, level: int) -> list[list[str]]:
    """Return the lines of a hierarchy without one of its levels."""
    _check_place(ladder, level, [])
    if level < 1:
        raise InputError("the cells themselves are no level to remove.", hint="choose a level above them.")
    return [[*row[:level], *row[level + 1 :]] for row in _list_rows(ladder)]


def _with_labels(
    ladder: Hierarchy,
    level: int,
    nodes: Collection[int],
    labels: list[str],
    *,
    moved: tuple[int, Collection[int]] | None = None,
) -> list[list[str]]:
    """Return the lines with new labels from a level on, for the values of some nodes of it, or of another level."""
    of_level, chosen = moved or (level, nodes)
    rows = _list_rows(ladder)
    for row, code in zip(rows, ladder.level_codes[of_level].tolist(), strict=True):
        if code in chosen:
            row[level : level + len(labels)] = labels
    return rows


def with_group(ladder: Hierarchy, level: int, nodes: Collection[int], name: str) -> list[list[str]]:
    """Return the lines of a hierarchy with a further level, which merges some groups and keeps the others."""
    _check_place(ladder, level, nodes)
    if len(nodes) < 2:
        raise InputError("fewer than two groups were chosen.", hint="choose those that become one group.")
    _check_one_parent(ladder, level, nodes)
    label, rows = _check_label(name, ladder, level, nodes), _list_rows(ladder)
    for row, code in zip(rows, ladder.level_codes[level].tolist(), strict=True):
        row.insert(level + 1, label if code in nodes else row[level])
    return rows


def rows_of_groups(texts: Sequence[str], groups: Sequence[tuple[str, Sequence[str]]]) -> list[list[str]]:
    """Return the lines of a hierarchy of one level: values that no group names stay on their own."""
    label_of = {value: label for label, values in groups for value in values}
    return [[text, label_of.get(text, text)] for text in texts]


def write_ladder(rows: list[list[str]], column: str, folder: Path) -> str:
    """Write the lines of a hierarchy to a new file, check them, and return its path from the policy's folder.

    Every change is a file of its own, so that a step back in the policy's history finds what it names.
    """
    home = folder / FOLDER
    drafts.check_inside(home, folder, "the folder of groups")
    home.mkdir(mode=0o700, exist_ok=True)
    stem = _UNSAFE.sub("-", column).strip("-")[:40] or "column"
    number = 1
    while (path := home / f"{stem}-{number}.csv").exists():
        number += 1
    with drafts.replace_files(path, internal=(path,), overwrite=False) as (draft,):
        with draft.open("w", encoding="utf-8", newline="") as file:
            # With the top level, no line can be taken for a header.
            csv.writer(file, delimiter=";", lineterminator="\n").writerows([*row, SUPPRESSED] for row in rows)
        # Read back as a policy does: without a given delimiter.
        Hierarchy.from_csv(draft, column)
    return f"{FOLDER}/{path.name}"


def _list_rows(ladder: Hierarchy) -> list[list[str]]:
    """Return one line for each value, from the value to the level below ``*``."""
    levels = range(1, ladder.n_levels - 1)
    return [
        [value, *(ladder.labels[level][ladder.level_codes[level, place]] for level in levels)]
        for place, value in enumerate(ladder.values)
    ]


def _check_label(name: str, ladder: Hierarchy, level: int, nodes: Collection[int]) -> str:
    """Return the name of a group; InputError where it is no name, or that of another group or cell."""
    name = name.strip()
    if not name or len(name) > _MAX_LABEL_LENGTH or not name.isprintable() or name == SUPPRESSED:
        raise InputError("a group needs a name.", hint=f"up to {_MAX_LABEL_LENGTH} printable characters.")
    others = {label for node, label in enumerate(ladder.labels[level]) if node not in nodes}
    if name in others or name in ladder.values:
        raise InputError(
            "another group or cell has this name already.",
            hint="take another name, or join the two groups.",
        )
    return name


def _check_one_parent(ladder: Hierarchy, level: int, nodes: Collection[int]) -> None:
    if level + 1 < ladder.n_levels - 1 and len({int(ladder.parent(level)[node]) for node in nodes}) > 1:
        raise InputError(
            "the chosen groups belong to several groups of the next level.",
            hint="choose groups of one, or begin at the highest level.",
        )


def _check_place(ladder: Hierarchy, level: int, nodes: Collection[int]) -> None:
    if not 0 <= level < ladder.n_levels - 1 or not all(0 <= node < ladder.n_nodes(level) for node in nodes):
        raise InputError("there is no such group.", hint="look at the groups again: they have changed.")
    if ladder.lowest is not None:
        raise InputError("groups beyond tails cannot be named here.", hint="change the policy's file.")
