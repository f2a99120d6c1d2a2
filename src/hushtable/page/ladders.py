"""Groups of values as people change them: names, and levels of their own, in a file beside the policy."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from hushtable.columns import SUPPRESSED
from hushtable.errors import InputError
from hushtable.hierarchy import Hierarchy
from hushtable.io import drafts

FOLDER: Final = "hierarchies"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9]+")
_MAX_LABEL_LENGTH: Final = 200  # characters of a label


def with_name(ladder: Hierarchy, level: int, node: int, name: str) -> list[list[str]]:
    """Return the lines of a hierarchy with one group renamed."""
    _check_place(ladder, level, [node])
    rows = _list_rows(ladder)
    for row, code in zip(rows, ladder.level_codes[level].tolist(), strict=True):
        row[level] = _check_label(name) if code == node else row[level]
    return rows


def with_group(ladder: Hierarchy, level: int, nodes: Collection[int], name: str) -> list[list[str]]:
    """Return the lines of a hierarchy with a further level, which merges some groups and keeps the others."""
    _check_place(ladder, level, nodes)
    if len(nodes) < 2:
        raise InputError("fewer than two groups were chosen.", hint="choose those that become one group.")
    if level + 1 < ladder.n_levels - 1:
        above = {int(ladder.parent(level)[node]) for node in nodes}
        if len(above) > 1:
            raise InputError(
                "the chosen groups belong to several groups of the next level.",
                hint="choose groups of one, or begin at the highest level.",
            )
    rows = _list_rows(ladder)
    for row, code in zip(rows, ladder.level_codes[level].tolist(), strict=True):
        row.insert(level + 1, _check_label(name) if code in nodes else row[level])
    return rows


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


def _check_label(name: str) -> str:
    name = name.strip()
    if not name or len(name) > _MAX_LABEL_LENGTH or not name.isprintable():
        raise InputError("a group needs a name.", hint=f"up to {_MAX_LABEL_LENGTH} printable characters.")
    return name


def _check_place(ladder: Hierarchy, level: int, nodes: Collection[int]) -> None:
    if not 0 <= level < ladder.n_levels - 1 or not all(0 <= node < ladder.n_nodes(level) for node in nodes):
        raise InputError("there is no such group.", hint="look at the groups again: they have changed.")
    if ladder.lowest is not None:
        raise InputError("groups beyond tails cannot be named here.", hint="change the policy's file.")
