"""Whether both sides of a cut satisfy every rule: sensitive values move from the right side to the left.

The cuts of a column are tried in the order of its profile, so that each row moves once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import inner
from hushtable.kernels.judge import Rules, passes
from hushtable.kernels.rows import Rows

__all__ = ["Judged", "Node", "both_pass", "end_sweep"]


class Judged(NamedTuple):
    """What rules look at besides the number of records, and scratch for it.

    rules : Rules
    sensitive : int32 (n_sensitive, n_table_rows), shifted by one, in the table's order
    population : int64 (n_table_rows,), records of the population, in the table's order; empty where no rule asks
    held : int64 (2, n_sensitive, widest), records of each sensitive value, left and right
    n_held : int64 (2, n_sensitive), distinct known values, left and right
    people : int64 (2,), records of the population, left and right
    order : int32 (n_rows,), rows of a class by the profile of a column
    places : int32 (widest column,), the place of a code in that profile
    moved : int64 (1,), how many of those rows are on the left; -1 between columns
    nodes : float64 (widest table of a rule,), as `hushtable.kernels.judge.passes` takes it
    """

    rules: Rules
    sensitive: CodeArray
    population: CountArray
    held: CountArray
    n_held: CountArray
    people: CountArray
    order: CodeArray
    places: CodeArray
    moved: CountArray
    nodes: FloatArray


class Node(NamedTuple):
    """A class under the knife: a run of rows and the records in it."""

    start: int
    end: int
    size: int


@inner
def both_pass(
    rows: Rows,
    judged: Judged,
    entries: NDArray[Any],
    node: Node,
    j: int,
    length: int,
    n_whole: int,
    n_left: int,
) -> bool:
    """Tell whether both sides of a cut of column j satisfy every rule; of a column, shorter cuts come first.

    entries : the profile of the column
    length, n_whole : how many of them go left, and their records
    n_left : records that go left, the first rows of the next entry included
    """
    if judged.moved[0] < 0:
        _begin(rows, judged, entries, node, j)
    until = n_left - n_whole
    if length > 0:
        until += entries[length - 1].key
    for i in range(judged.moved[0], until):
        _move(rows, judged, judged.order[i], 1, -1)
        _move(rows, judged, judged.order[i], 0, 1)
    judged.moved[0] = until
    for side in range(2):
        size = node.size - n_left if side else n_left
        if not passes(judged.rules, size, judged.people[side], judged.held[side], judged.n_held[side], judged.nodes):
            return False
    return True


@inner
def _begin(rows: Rows, judged: Judged, entries: NDArray[Any], node: Node, j: int) -> None:
    """Put all rows on the right side, in the order in which cuts take them; a key is how many come up to its entry."""
    for place in range(entries.size):
        entries[place].key = 0
        judged.places[entries[place].code] = place
    for i in range(node.start, node.end):
        place = judged.places[rows.codes[i, j]]
        if place + 1 < entries.size:
            entries[place + 1].key += 1
        _move(rows, judged, i, 1, 1)
    for place in range(1, entries.size):
        entries[place].key += entries[place - 1].key
    for i in range(node.start, node.end):
        place = judged.places[rows.codes[i, j]]
        judged.order[entries[place].key] = i
        # In the end every start has moved to the end of its run.
        entries[place].key += 1
    judged.moved[0] = 0


@inner
def end_sweep(rows: Rows, judged: Judged, node: Node) -> None:
    """Forget the sensitive counts of a column's cuts, touching only values that the class holds."""
    if judged.moved[0] < 0:
        return
    for i in range(node.start, node.end):
        for s in range(judged.n_held.shape[1]):
            value = judged.sensitive[s, rows.order[i]]
            judged.held[0, s, value] = 0
            judged.held[1, s, value] = 0
    judged.n_held[:] = 0
    judged.people[:] = 0
    judged.moved[0] = -1


@inner
def _move(rows: Rows, judged: Judged, i: int, side: int, sign: int) -> None:
    """Add a row's sensitive values and population to one side, or take them away."""
    row = rows.order[i]
    count = rows.words[i, rows.words.shape[1] - 1] if rows.is_weighted else 1
    if judged.population.size > 0:
        judged.people[side] += sign * judged.population[row]
    for s in range(judged.n_held.shape[1]):
        value = judged.sensitive[s, row]
        before = judged.held[side, s, value]
        after = before + sign * count
        judged.held[side, s, value] = after
        if value > 0:
            judged.n_held[side, s] += int(after > 0) - int(before > 0)
