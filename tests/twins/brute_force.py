"""Minimal generalization by trying everything: slow, and obvious."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

Cell = tuple[str, frozenset[Any], float]
"""What is published, the values it covers, and what it costs."""


@dataclass(frozen=True)
class Priced:
    """A loss that charges what it is told to, whatever the level: ``costs[column][label]``."""

    costs: dict[str, dict[str, float]]
    weights: dict[str, float] = field(default_factory=dict)
    by_width: bool = True
    name: ClassVar[str] = "certainty"

    def measure(self, recoding: Any, sizes: Any, n_suppressed: int = 0) -> float:
        total = 0.0
        for column in recoding.columns:
            where, labels = recoding.format_labels(column.name)
            shares = recoding.shares()[[each.name for each in recoding.columns].index(column.name)]
            priced = self.costs.get(column.name)
            for label, share, size in zip(where.tolist(), shares.tolist(), np.asarray(sizes).tolist(), strict=True):
                text = labels[label]
                if priced is None:
                    cost = share if self.by_width else float(share > 0)
                else:
                    cost = 1.0 if text == "*" else priced.get(text, 0.0)
                total += self.weights.get(column.name, 1.0) * cost * size
        return total

    def node_costs(self, hierarchy: Any, n_values: int) -> tuple[np.ndarray, ...]:
        priced = self.costs.get(hierarchy.column, {})
        levels = [np.zeros(hierarchy.n_nodes(0))]
        levels += [np.array([priced.get(label, 0.0) for label in labels]) for labels in hierarchy.labels[1:-1]]
        return (*levels, np.ones(1))

    def factor(self, names: Sequence[str], n_records: int) -> float:
        return 1.0


def candidates_of(name: str, values: Sequence[Any], tree: dict[str, list[str]] | None, loss: Priced) -> list[Cell]:
    """List all that cells of a column may publish: of numbers intervals, of texts the nodes over them."""
    weight = loss.weights.get(name, 1.0)
    known = sorted({value for value in values if value is not None})
    found: list[Cell] = [(str(value), frozenset([value]), 0.0) for value in {*known, None} & {*values}]
    if tree is None and known and isinstance(known[0], int):
        width = known[-1] - known[0]
        for low, high in itertools.combinations(known, 2):
            if (low, high) != (known[0], known[-1]):
                inside = frozenset(value for value in known if low <= value <= high)
                found.append((f"[{low}, {high}]", inside, weight * ((high - low) / width if loss.by_width else 1.0)))
    for label, leaves in (tree or {}).items():
        found.append((label, frozenset(leaves), weight * loss.costs[name][label]))
    return [*found, ("*", frozenset([*known, None]), weight)]


def row_choices(row: Sequence[Any], columns: Sequence[list[Cell]]) -> list[tuple[tuple[Cell, ...], float]]:
    fitting = [[cell for cell in cells if value in cell[1]] for value, cells in zip(row, columns, strict=True)]
    return [(picked, sum(cell[2] for cell in picked)) for picked in itertools.product(*fitting)]


def all_tables(rows: Sequence[Sequence[Any]], columns: Sequence[list[Cell]]) -> Iterator[tuple[list[Any], float]]:
    for picked in itertools.product(*(row_choices(row, columns) for row in rows)):
        yield [cells for cells, _ in picked], sum(cost for _, cost in picked)


def covers(cells: Sequence[Cell], row: Sequence[Any]) -> bool:
    return all(value in cell[1] for value, cell in zip(row, cells, strict=True))


def link_counts(table: Sequence[Any], rows: Sequence[Any], only_matches: bool) -> tuple[list[int], list[int]]:
    """Count, for every published and every original row, the partners it may have."""
    n = len(rows)
    edges = {(i, j) for i in range(n) for j in range(n) if covers(table[i], rows[j])}
    if only_matches:
        edges = {
            pair
            for order in itertools.permutations(range(n))
            if all((i, order[i]) in edges for i in range(n))
            for pair in enumerate(order)
        }
    return [sum(i == a for a, _ in edges) for i in range(n)], [sum(j == b for _, b in edges) for j in range(n)]


def holds(notion: str, k: int, table: Sequence[Any], rows: Sequence[Any]) -> bool:
    texts = [tuple(cell[0] for cell in cells) for cells in table]
    if notion == "k":
        return all(texts.count(each) >= k for each in texts)
    published, original = link_counts(table, rows, notion.startswith("global"))
    by_notion = {
        "1k": original,
        "k1": published,
        "kk": published + original,
        "global-1k": original,
        "global-k1": published,
    }
    return min(by_notion[notion]) >= k


def cheapest(rows: Sequence[Any], columns: Sequence[list[Cell]], notion: str, k: int) -> tuple[float, set[Any]]:
    """Return the least cost of any table, and all tables of that cost as texts."""
    least, best = float("inf"), set()
    for table, cost in all_tables(rows, columns):
        if cost < least + 1e-9 and holds(notion, k, table, rows):
            if cost < least - 1e-9:
                least, best = cost, set()
            best.add(tuple(tuple(cell[0] for cell in cells) for cells in table))
    return least, best


def set_partitions(items: list[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, *rest = items
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [each for each in rest if each not in others]
            for smaller in set_partitions(left):
                yield [[first, *others], *smaller]


def cheapest_partition(rows: Sequence[Any], columns: Sequence[list[Cell]], is_class: Any) -> float:
    """Return the least cost over all partitions, every class at its cheapest common candidates."""
    least = float("inf")
    for partition in set_partitions(list(range(len(rows)))):
        if all(is_class(block) for block in partition):
            least = min(least, sum(len(block) * _common(rows, columns, block) for block in partition))
    return least


def _common(rows: Sequence[Any], columns: Sequence[list[Cell]], block: list[int]) -> float:
    return sum(
        min(cell[2] for cell in cells if all(rows[row][j] in cell[1] for row in block))
        for j, cells in enumerate(columns)
    )
