"""Full-domain recoding by its definition: every node of the lattice is looked at, record by record."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Cell = tuple[int, int]
"""A value of a column, and the level that it is published at."""


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: what every value publishes, and its share of the domain, by level; -1 is missing."""

    texts: list[dict[int, str]]
    shares: list[dict[int, float]]

    @property
    def top(self) -> int:
        return len(self.texts) - 1

    @property
    def leaf(self) -> float:
        return min(self.shares[0].values())


@dataclass(frozen=True)
class Case:
    """Records: values of the quasi-identifiers, and of the sensitive column."""

    columns: list[Column]
    rows: list[tuple[int, ...]]
    ill: list[int]


Passes = Callable[[list[int]], bool]
"""Judges a class by the sensitive values of its records; -1 is missing."""


def nodes(case: Case) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(column.top + 1) for column in case.columns))


def classes(case: Case, levels: Sequence[int]) -> list[list[int]]:
    """Records that publish the same cells."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(case.rows):
        cells = tuple(c.texts[level][v] for c, level, v in zip(case.columns, levels, row, strict=True))
        groups.setdefault(cells, []).append(i)
    return list(groups.values())


def kept(case: Case, levels: Sequence[int], passes: Passes) -> list[list[int]]:
    return [group for group in classes(case, levels) if passes([case.ill[i] for i in group])]


def loss(case: Case, levels: Sequence[int], groups: list[list[int]], name: str) -> float:
    """What a node loses whose classes are these; all other records are suppressed."""
    published = [i for group in groups for i in group]
    n, n_gone = len(case.rows), len(case.rows) - len(published)
    if name == "discernibility":
        return float(sum(len(group) ** 2 for group in groups) + n_gone * n)
    if name == "average_class_size":
        return len(published) / len(groups)
    lost = [_of_column(case, j, levels[j], published, n_gone, name) for j in range(len(levels))]
    if name == "arx_geometric":
        return math.prod((x + 1) ** (1 / len(lost)) for x in lost) - 1
    return sum(lost) if name == "non_uniform_entropy" else sum(lost) / len(lost)


def _of_column(case: Case, j: int, level: int, published: list[int], n_gone: int, name: str) -> float:
    column, n = case.columns[j], len(case.rows)
    values = [row[j] for row in case.rows]
    if name == "precision":
        below = [values[i] for i in published]
        # A missing value is published as it is below the top.
        return (sum(0 if v < 0 and level < column.top else level for v in below) / column.top + n_gone) / n
    if name == "non_uniform_entropy":
        own, at = Counter(values), Counter(column.texts[level][v] for v in values)
        bits = sum(math.log2(at[column.texts[level][values[i]]] / own[values[i]]) for i in published)
        gone = set(range(n)) - set(published)
        return bits + sum(math.log2(n / own[values[i]]) for i in gone)
    shares = [column.shares[level][values[i]] for i in published]
    if name == "ncp":
        star = [column.texts[level][values[i]] == "*" for i in published]
        free = [level == 0 or (values[i] < 0 and not s) for i, s in zip(published, star, strict=True)]
        return (sum(0.0 if f else share for f, share in zip(free, shares, strict=True)) + n_gone) / n
    room = n * (1 - column.leaf)
    return math.floor(max(0.0, (sum(shares) + n_gone - n * column.leaf) / room) * 1e10) / 1e10 if room else 0.0


def best(case: Case, passes: Passes, limit: float, name: str) -> tuple[float, list[tuple[int, ...]]]:
    """The least loss of a node with one class or more, at most so many records suppressed, and all such nodes."""
    found: list[tuple[float, tuple[int, ...]]] = []
    for levels in nodes(case):
        groups = kept(case, levels, passes)
        n_gone = len(case.rows) - sum(map(len, groups))
        if groups and n_gone <= int(limit * len(case.rows)):
            found.append((loss(case, levels, groups, name), levels))
    least = min((value for value, _ in found), default=math.inf)
    return least, [levels for value, levels in found if value <= least + 1e-9 * max(1, least)]
