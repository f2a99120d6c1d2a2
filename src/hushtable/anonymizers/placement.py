"""Place rows that the search has not seen: by cuts in codes, by cuts in values, or in new units and prefixes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray, freeze_array, reduce_to_fields
from hushtable.anonymizers import publish
from hushtable.claims import count_values_below, coverage_matrix
from hushtable.columns import Column, cells
from hushtable.hierarchy import UNITS, Dates, Hierarchy, Prefix
from hushtable.kernels import replay, split
from hushtable.recoding import Axis, Written, cut_point, grid_point, places_for_kernels
from hushtable.search import run_in_threads
from hushtable.tables import Partition, Table


@dataclass(frozen=True, slots=True, eq=False)
class CutTree:
    """The cuts of a Mondrian partition, depth first, left child first; it pickles."""

    axes: tuple[Axis, ...] = field(repr=False)
    columns: CodeArray = field(repr=False)  # the cut column of a node; -1 is a finished class, in the order of labels
    # (n_nodes + 1,): the codes of a node's left side are `members[starts[i]:starts[i + 1]]`
    starts: CountArray = field(repr=False)
    members: CodeArray = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.columns, self.starts, self.members):
            freeze_array(array)

    __reduce__ = reduce_to_fields

    @classmethod
    def from_split_tree(cls, tree: split.SplitTree, axes: tuple[Axis, ...]) -> CutTree:
        """Convert the tree that a kernel grew."""
        n_nodes = int(tree.cursor[split.NODES])
        starts = np.concatenate(([0], np.cumsum(tree.lengths[:n_nodes], dtype=np.int64)))
        return cls(axes, tree.columns[:n_nodes], starts, tree.members[: starts[-1]] - np.int32(1))

    def place_rows(self, table: Table) -> CodeArray:
        """Return the class into whose cell every row falls; see `Walk.place_rows`."""
        return self.build_walk().place_rows(table)

    def build_walk(self) -> Walk:
        """Lay out the tree for rows to walk down; once is enough for many tables."""
        in_order = np.array([axis.is_cut_in_order for axis in self.axes], dtype=np.bool_)
        return Walk(self.axes, *replay.build_signposts(self.columns, self.starts, self.members, in_order))


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """A tree of cuts, laid out for rows that walk down it."""

    axes: tuple[Axis, ...] = field(repr=False)
    nodes: NDArray[Any] = field(repr=False)  # `kernels.replay.NODE`
    words: NDArray[Any] = field(repr=False)  # `kernels.replay.WORD`

    def __post_init__(self) -> None:
        freeze_array(self.nodes)
        freeze_array(self.words)

    __reduce__ = reduce_to_fields

    def place_rows(self, table: Table) -> CodeArray:
        """Return the class of every row of a table with the same codes, in O(depth); unknown codes go right."""
        labels, by = np.empty(table.n_rows, dtype=np.int32), places_for_kernels(table, self.axes)
        run_in_threads(
            lambda run: replay.route_rows(self.nodes, self.words, table.codes, *by, labels, run), table.n_rows
        )
        return labels


class Below(NamedTuple):
    """Values below an edge and missing values go left; without an edge only missing values."""

    edge: str | None


class Among(NamedTuple):
    """Values that one of these cells covers go left; None is the missing value."""

    cells: tuple[str | None, ...]


Side = Below | Among


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """The cuts of a search as a tree that rows walk down, depth first, left child first."""

    columns: tuple[str, ...]
    cut: CodeArray = field(repr=False)  # the index of the column that a node cuts; -1 is a finished class
    test: CodeArray = field(repr=False)  # which of the column's sides goes left
    sides: tuple[tuple[Side, ...], ...] = field(repr=False)  # by column, each once

    @classmethod
    def from_cuts(cls, tree: CutTree, table: Table, partition: Partition) -> Routes:
        """Translate the cuts of a partition from codes into values; every row of the table is in a class.

        New values go where their neighbours in order or in the hierarchy go. A cut between two numbers falls at the
        roundest point between them, or where the published cells meet. A cut in a hierarchy sends whole nodes left.
        """
        test = np.full(len(tree.columns), -1, dtype=np.int32)
        sides: list[tuple[Side, ...]] = []
        for j, axis in enumerate(tree.axes):
            index_of_side: dict[Side, int] = {}
            nodes = np.flatnonzero(tree.columns == j).tolist()
            if nodes:
                side_of = _build_side_finder(tree, axis, table, partition)
            for node in nodes:
                side = side_of(node, tree.members[tree.starts[node] : tree.starts[node + 1]])
                test[node] = index_of_side.setdefault(side, len(index_of_side))
            sides.append(tuple(index_of_side))
        return cls(tuple(axis.column.name for axis in tree.axes), tree.columns, test, tuple(sides))

    def parents(self) -> CountArray:
        """Return the node above each node; -1 for the first, which has none."""
        parents, above = np.full(len(self.cut), -1), [-1]
        for node, cut in enumerate(self.cut.tolist()):
            parents[node] = above.pop()
            if cut >= 0:
                above += [node, node]
        return parents

    def depths(self) -> CountArray:
        """Count the cuts above each node."""
        depths = np.zeros(len(self.cut), dtype=np.int64)
        for node, parent in enumerate(self.parents()[1:].tolist(), start=1):
            depths[node] = depths[parent] + 1
        return depths

    def bounds(self, column: str) -> tuple[list[str | None], list[str | None]]:
        """Return the low and high edge of each node's known values, None if no cut bounds them.

        The column has to be cut in order.
        """
        index, parents = self.columns.index(column), self.parents().tolist()
        lows: list[str | None] = [None] * len(parents)
        highs: list[str | None] = [None] * len(parents)
        for node, parent in enumerate(parents[1:], start=1):
            lows[node], highs[node] = lows[parent], highs[parent]
            side = self.sides[index][self.test[parent]] if self.cut[parent] == index else None
            if isinstance(side, Below) and side.edge is not None:
                edges = highs if node == parent + 1 else lows
                edges[node] = side.edge
        return lows, highs

    def texts_of_cuts(self, column: str) -> tuple[str | None, ...]:
        """Return the texts of all edges and cells in the cuts of a column."""
        sides = self.sides[self.columns.index(column)]
        return tuple(text for side in sides for text in ((side.edge,) if isinstance(side, Below) else side.cells))

    def place_rows(self, table: Table, meanings: Mapping[str, Any]) -> CodeArray:
        """Return the number of the leaf that every row comes to, in the order of the nodes."""
        codes_left: list[list[CodeArray]] = []
        for name, sides in zip(self.columns, self.sides, strict=True):
            column = table.column(name)
            codes_left.append(_codes_going_left(sides, column, meanings.get(name)))
        nothing = np.empty(0, dtype=np.int32)
        pairs = zip(self.cut.tolist(), self.test.tolist(), strict=True)
        members = [nothing if cut < 0 else codes_left[cut][test] for cut, test in pairs]
        starts = np.cumsum([0, *map(len, members)])
        in_order = np.array([all(isinstance(side, Below) for side in sides) for sides in self.sides], dtype=np.bool_)
        signs = replay.build_signposts(self.cut, starts, np.concatenate(members), in_order)
        columns = np.array([table.index(name) for name in self.columns])
        widths = [table.column(name).n_values + 1 for name in self.columns]
        places = np.concatenate([np.arange(width, dtype=np.int32) for width in widths])
        begins, labels = np.cumsum([0, *widths]), np.empty(table.n_rows, dtype=np.int32)
        run_in_threads(
            lambda run: replay.route_rows(*signs, table.codes, columns, places, begins, labels, run), table.n_rows
        )
        return labels


def _build_side_finder(
    tree: CutTree, axis: Axis, table: Table, partition: Partition
) -> Callable[[int, CodeArray], Side]:
    """Return a function from a node and its members (places - 1) to the left side in values."""
    code_at = axis.code_at()
    if axis.hierarchy is not None:
        return _build_node_finder(tree, axis, table, partition)
    if axis.codes is not None:
        edge = cache(axis.codes.format_edge)
        lows, highs, right = _ranges_of_nodes(tree, axis, table, partition)
        ends = np.stack((highs[1:], lows[right[:-1]])).T.tolist()
        return lambda node, members: Below(edge(*ends[node]) if members[-1] >= 0 else None)
    if axis.rounding is not None:
        point = cache(partial(grid_point, axis.rounding))
        lows, highs, right = _ranges_of_nodes(tree, axis, table, partition)
        ends = np.stack((highs[1:], lows[right[:-1]])).T.tolist()
        # Any point between the node's own values will do: these often lie far apart, so the point is very round.
        return lambda node, members: Below(point(*ends[node]) if members[-1] >= 0 else None)
    if axis.is_cut_in_order and axis.column.is_measured:
        return lambda node, members: Below(_find_edge(axis, int(members[-1])))
    texts = [cells.format_value(text) for text in axis.column.texts()]
    return lambda node, members: Among(tuple(None if i < 0 else texts[code_at[i]] for i in members.tolist()))


def _build_node_finder(
    tree: CutTree, axis: Axis, table: Table, partition: Partition
) -> Callable[[int, CodeArray], Side]:
    """Return the same function for a column with a hierarchy: the left side lists whole nodes."""
    hierarchy, code_at = axis.hierarchy, axis.code_at()
    assert hierarchy is not None
    lows, highs, _ = _ranges_of_nodes(tree, axis, table, partition)
    ends = np.append(code_at, 0)[np.stack((np.minimum(lows, len(code_at)), highs))]
    shared = hierarchy.level_codes[:, ends[0]] == hierarchy.level_codes[:, ends[1]]
    level = np.maximum(np.argmax(shared, axis=0) - 1, 0)

    def side(node: int, members: CodeArray) -> Side:
        known = hierarchy.level_codes[level[node], code_at[members[members >= 0]]]
        labels = [hierarchy.labels[level[node]][each] for each in np.unique(known).tolist()]
        return Among((*([None] if (members < 0).any() else []), *labels))

    return side


def _find_edge(axis: Axis, place: int) -> str | None:
    """Return the edge at which the two cells of a cut meet; None before the first place."""
    if place < 0:
        return None
    return axis.edges[place + 1] if axis.edges else cut_point(axis.column, place + 1)


def _ranges_of_nodes(
    tree: CutTree, axis: Axis, table: Table, partition: Partition
) -> tuple[CountArray, CountArray, CountArray]:
    """Return each node's lowest and highest known place (past all and -1 if none is known), and its right child."""
    low, high, _ = publish.place_ranges(table, partition, axis)
    lows, highs = np.full((2, len(tree.columns)), -1)
    leaves = tree.columns < 0
    lows[leaves], highs[leaves] = np.where(high < 0, axis.n_places, low), high
    right, end = np.full(len(tree.columns), -1), np.arange(1, len(tree.columns) + 1)
    for node in reversed(np.flatnonzero(~leaves).tolist()):
        right[node] = end[node + 1]
        lows[node] = min(lows[node + 1], lows[right[node]])
        highs[node], end[node] = max(highs[node + 1], highs[right[node]]), end[right[node]]
    return lows, highs, right


def _codes_going_left(sides: Sequence[Side], column: Column, meaning: Any) -> list[CodeArray]:
    """Return, for each side, the codes that go left; below an edge only the last of them. -1 is missing."""
    below = list(dict.fromkeys(side.edge for side in sides if isinstance(side, Below) and side.edge is not None))
    last_code: dict[str | None, int] = {None: -1}
    if below:
        last_code |= zip(below, (count_values_below(below, column) - 1).tolist(), strict=True)
    texts = list(dict.fromkeys(cell for side in sides if isinstance(side, Among) for cell in side.cells))
    covers = coverage_matrix(texts, [*column.texts(), None], column.spec, meaning, column.name) if texts else None
    index_of_cell = {cell: i for i, cell in enumerate(texts)}
    codes_by_side: list[CodeArray] = []
    for side in sides:
        if isinstance(side, Below):
            codes_by_side.append(np.array([last_code[side.edge]], dtype=np.int32))
            continue
        assert covers is not None
        codes = np.flatnonzero(covers[[index_of_cell[cell] for cell in side.cells]].any(axis=0))
        codes_by_side.append(np.where(codes == column.n_values, -1, codes).astype(np.int32))
    return codes_by_side


def write_bounds(
    lows: Sequence[str | None], highs: Sequence[str | None], column: Column
) -> tuple[list[str], FloatArray, FloatArray]:
    """Write the values between edges (None: no edge); return also their shares of a column, by values and by ranks."""
    is_calendar = column.kind in ("date", "datetime")
    texts = [_write_between(*ends, is_calendar=is_calendar) for ends in zip(lows, highs, strict=True)]
    first, last = np.zeros(len(texts), dtype=np.int64), np.full(len(texts), column.n_values - 1)
    for out, edges, before in ((first, lows, 0), (last, highs, 1)):
        at = [i for i, edge in enumerate(edges) if edge is not None]
        if at:
            out[at] = count_values_below([edge for edge in edges if edge is not None], column) - before
    is_any = np.array([text == cells.SUPPRESSED for text in texts], dtype=bool)
    last, first = np.maximum(last, 0), np.minimum(first, column.n_values - 1)
    by_value, by_rank = (replace(column, by_rank=is_by_rank).positions() for is_by_rank in (False, True))
    value_shares, rank_shares = (
        np.where(is_any, 1.0, np.maximum(each[last] - each[first], 0.0)) for each in (by_value, by_rank)
    )
    return texts, value_shares, rank_shares


def _write_between(low: str | None, high: str | None, *, is_calendar: bool) -> str:
    ends = [end for end in (low, high) if end is not None]
    texts = cells.without_first_days(ends) if is_calendar else ends
    if len(texts) == 2:
        return cells.format_half_open(*texts)
    if not texts:
        return cells.SUPPRESSED
    return cells.format_below(*texts) if low is None else cells.format_at_least(*texts)


_MOST_DAYS: Final = (1, 31, 92, 366, 3_653)
"""The most days of each calendar unit, in the order of `UNITS`."""

_UNIT_TEXTS: Final = ("[0-9]{4}-[0-9]{2}-[0-9]{2}", "[0-9]{4}-[0-9]{2}", "[0-9]{4}-Q[1-4]", "[0-9]{4}", "[0-9]{4}s")
"""The pattern of each calendar unit's labels, in the order of `UNITS`."""


def with_own_units(
    cell: Written, column: Column, meaning: Any, labels: CodeArray, codes: CodeArray, covered: BoolArray
) -> tuple[CodeArray, Written]:
    """Give rows outside their class's unit, dates or prefix their own unit; return labels (-1: none) and cells.

    No unit comes from the data: the class decides its length, the calendar or the code (`Dates`, `Prefix`) its begin
    and end. A missing value has no unit.
    """
    new_labels = np.where(covered, labels, np.int32(-1))
    needs_unit = ~covered & (codes >= 0)
    # A file has the rule alone; in memory it may be a hierarchy already.
    meaning = meaning.rule if isinstance(meaning, Hierarchy) else meaning
    if not isinstance(meaning, (Dates, Prefix)) or not needs_unit.any():
        return new_labels, cell
    ladder = (Dates(tuple(UNITS)) if isinstance(meaning, Dates) else meaning).ladder(column)
    level_of_text = np.full(len(cell.texts), -1)
    for label in np.unique(labels[needs_unit]).tolist():
        level_of_text[label] = _level_of_unit(cell.texts[label], meaning)
    index_of_text: dict[str | None, int] = {text: i for i, text in enumerate(cell.texts)}
    rows = np.flatnonzero(needs_unit & (level_of_text[labels] >= 0))
    for row, code, level in zip(rows.tolist(), codes[rows].tolist(), level_of_text[labels[rows]].tolist(), strict=True):
        unit = ladder.levels[level]
        new_labels[row] = index_of_text.setdefault(unit.labels[unit.codes[code]], len(index_of_text))
    return new_labels, replace(cell, texts=tuple(index_of_text))


def _level_of_unit(text: str | None, meaning: Dates | Prefix) -> int:
    """Return the level of a calendar unit, of the one as long as an interval of dates, or of a prefix; else -1."""
    if text is None:
        return -1
    if isinstance(meaning, Dates):
        of_unit = next((level for level, unit in enumerate(_UNIT_TEXTS) if re.fullmatch(unit, text)), None)
        return _level_as_long(text) if of_unit is None else of_unit
    length = len(text) - 1
    return meaning.lengths.index(length) if text.endswith("*") and length in meaning.lengths else -1


def _level_as_long(text: str) -> int:
    """Return the level of the shortest calendar unit that may be as long as an interval of dates; -1 if none is."""
    ends = cells.parse_cell(text).ends
    if ends is None or ends.low is None or ends.high is None:
        return -1
    low, high = np.array(cells.with_first_days([ends.low, ends.high]), dtype="datetime64[D]")
    n_days = int((high - low).astype(np.int64))
    return next((level for level, most in enumerate(_MOST_DAYS) if n_days <= most), -1)
