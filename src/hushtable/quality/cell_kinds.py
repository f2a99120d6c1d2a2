"""What the cells of a column are: how many distinct ones, of how many units, and whether they nest.

A loss is small where cells are narrow. A reader who counts by group needs cells of one kind: ``1970s``,
``[1968, 1990)`` and ``>=1985`` beside one another are narrow, and overlap in every group.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from hushtable._types import CountArray
from hushtable.columns import Column, parse_cell, with_first_days
from hushtable.hierarchy import Hierarchy, to_exact
from hushtable.recoding import Cells, Centres, CodeRanges, Listed, Nodes, Recoding, Rounded, Sets, Spans

_CellUnit = int | str | Fraction | np.timedelta64  # a level, a form, or a width


@dataclass(frozen=True, slots=True)
class CellKinds:
    """The distinct cells of a column, besides ``*`` and missing ones.

    Attributes
    ----------
    n_cells : int
        Distinct texts.
    n_units : int
        Distinct units: levels of a hierarchy; else values, days, months, years, decades, each width of intervals, open
        intervals, lists, names of groups, each length of a prefix, ranges of codes.
    nest : bool or None
        Whether of any two cells one holds all of the other, or none of it. None if the recoding does not tell.
    """

    n_cells: int
    n_units: int
    nest: bool | None


def measure_cell_kinds(recoding: Recoding) -> dict[str, CellKinds]:
    """Measure the published cells of every column."""
    return {
        column.name: _measure_column(recoding, column, cells)
        for column, cells in zip(recoding.columns, recoding.cells, strict=True)
    }


def _measure_column(recoding: Recoding, column: Column, cells: Cells) -> CellKinds:
    label_of_class, labels = recoding.format_labels(column.name)
    first = np.unique(label_of_class, return_index=True)[1]
    numbers = label_of_class[first]
    is_known = np.array([labels[number] not in (None, "*") for number in numbers.tolist()], dtype=bool)
    first, texts = first[is_known], [str(labels[number]) for number in numbers[is_known].tolist()]
    cells_once = cells.take(first)
    return CellKinds(len(set(texts)), len(_units_of(column, cells_once, texts)), _do_nest(column, cells_once))


def _units_of(column: Column, cells: Cells, texts: Sequence[str]) -> set[_CellUnit]:
    """Return the units of cells, each distinct one once."""
    if isinstance(cells, Nodes):
        return {*cells.level.tolist()}
    if isinstance(cells, Rounded):
        # A release may have tens of thousands of such texts.
        return {*np.unique(cells.rounding.widths(cells.low, cells.high)).tolist()}
    own = set(column.texts())
    return {_unit_of(text, column, own) for text in texts}


def _unit_of(text: str, column: Column, own: set[str]) -> _CellUnit:
    cell = parse_cell(text)
    if cell.form == "interval" and cell.ends is not None:
        if cell.ends.low is None or cell.ends.high is None:
            return "open interval"
        return _width_of(cell.ends.low, cell.ends.high, column.kind) if column.is_measured else "range"
    if cell.form != "value":
        return cell.form if len(cell.members) != 1 else "value"
    if column.kind in ("date", "datetime"):
        # The shape tells the unit: 9999-99 is a month, 9999-Q9 a quarter, 9999s a decade.
        return re.sub("[0-9]", "9", text)
    if text in own:
        return "value"
    return f"{len(text) - 1}*" if text.endswith("*") else "group"


def _width_of(low: str, high: str, kind: str) -> _CellUnit:
    """Return the width of an interval: of dates in months if both ends are first days of months."""
    if kind in ("integer", "decimal"):
        return to_exact(high) - to_exact(low)
    if kind == "time":
        return np.datetime64(f"1970-01-01T{high}", "us") - np.datetime64(f"1970-01-01T{low}", "us")
    begin, end = with_first_days([low, high])
    if begin.endswith("-01") and end.endswith("-01"):
        return np.datetime64(end[:-3], "M") - np.datetime64(begin[:-3], "M")
    return np.datetime64(end, "us") - np.datetime64(begin, "us")


def _do_nest(column: Column, cells: Cells) -> bool | None:
    """Tell whether cells nest; None if they do not tell which values they hold."""
    if isinstance(cells, (Nodes, Centres)):
        return True
    if isinstance(cells, Spans):
        return _do_runs_nest(*_runs_of(cells))
    if isinstance(cells, (Sets, Listed)):
        return _do_sets_nest(_sets_of(column, cells))
    return None


def _runs_of(cells: Spans) -> tuple[CountArray, CountArray]:
    """Return where each cell begins, and where it ends, which is not part of it."""
    if isinstance(cells, Rounded):
        return cells.rounding.round_outwards(cells.low, cells.high)
    if isinstance(cells, CodeRanges):
        return cells.codes.round_outwards(cells.low, cells.high)
    return np.maximum(cells.low, 0).astype(np.int64), cells.high.astype(np.int64) + 1


def _do_runs_nest(begins: CountArray, ends: CountArray) -> bool:
    """Tell whether of any two runs one holds all of the other, or none of it."""
    order = np.lexsort((-ends, begins))
    around: list[int] = []
    for begin, end in zip(begins[order].tolist(), ends[order].tolist(), strict=True):
        while around and around[-1] <= begin:
            around.pop()
        if around and end > around[-1]:
            return False
        around.append(end)
    return True


def _sets_of(column: Column, cells: Sets | Listed) -> list[frozenset[int]]:
    """Return the values of every cell; -1 is the missing one."""
    starts = pairwise(cells.offsets.tolist())
    if isinstance(cells, Sets):
        return [frozenset(cells.codes[slice(*run)].tolist()) for run in starts]
    under = _values_under_entries(column, cells)
    return [
        _values_under(cells.tree, level, node)
        if level >= 0
        else frozenset().union(*(under[member] for member in cells.members[slice(*run)].tolist()))
        for run, level, node in zip(starts, cells.level.tolist(), cells.node.tolist(), strict=True)
    ]


def _values_under_entries(column: Column, cells: Listed) -> list[frozenset[int]]:
    """Return the values under each entry of lists: of a value itself, of a label all that it covers."""
    if list(cells.texts[1:]) == column.texts():
        return [frozenset([code]) for code in range(-1, column.n_values)]
    level = cells.tree.n_levels - 2
    labels = range(len(cells.tree.labels[level]))
    return [frozenset([-1]), *(_values_under(cells.tree, level, node) for node in labels)]


def _values_under(tree: Hierarchy, level: int, node: int) -> frozenset[int]:
    return frozenset(np.flatnonzero(tree.level_codes[level] == node).tolist())


def _do_sets_nest(sets: Iterable[frozenset[int]]) -> bool:
    """Tell whether of any two sets one holds all of the other, or none of it."""
    # From small to large: each value knows the largest set so far that holds it, which must be within the next one.
    largest: dict[int, frozenset[int]] = {}
    for members in sorted(set(sets), key=len):
        if any(not within <= members for within in {largest[each] for each in members if each in largest}):
            return False
        largest |= dict.fromkeys(members, members)
    return True
