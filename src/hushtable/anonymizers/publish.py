"""Publish the classes of a partition, in every style."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import MappingProxyType
from typing import Final, Literal

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.anonymizers.method import Problem
from hushtable.columns import cells
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import class_profile
from hushtable.recoding import (
    Axis,
    Cells,
    CodeRanges,
    Listed,
    Lists,
    Recoding,
    Rounded,
    SetNames,
    count_frequencies,
    lay_out,
    recoding as recodings,
)
from hushtable.search import n_threads
from hushtable.tables import Partition, Table

_BITS_PER_WORD: Final = 64

Style = Literal["tight", "readable", "nested", "cut", "label", "set", "central"]
STYLES: Final[tuple[Style, ...]] = ("tight", "readable", "nested", "cut", "label", "set", "central")


def publish_classes(problem: Problem, partition: Partition) -> Recoding:
    """Publish the classes that an own method found, as the narrowest intervals and sets.

    A column with a hierarchy publishes the lowest node over the records of a class.

    Parameters
    ----------
    problem : Problem
        What the method was asked.
    partition : Partition
        Of the problem's rows; label -1: suppressed.

    Returns
    -------
    Recoding
        Of the quasi-identifiers, as `Found` holds it.
    """
    axes = lay_out(problem.judge.laid_out, problem.columns, problem.ladders, {})
    return from_classes(problem.table, partition, axes, "tight")


def merge_equal_classes(recoding: Recoding, labels: CodeArray, counts: CountArray) -> tuple[Partition, Recoding]:
    """Merge classes that publish the same cells: to readers they are one; label -1 stays -1."""
    _, first, class_of = np.unique(recoding.number_combinations()[:-1], return_index=True, return_inverse=True)
    merged = np.append(class_of, -1).astype(np.int32)[labels]
    return Partition.from_labels(merged, len(first), counts), recoding.take(first)


def from_classes(table: Table, partition: Partition, axes: Sequence[Axis], style: Style) -> Recoding:
    """Publish the records of each class in a style: as a span, a set, or a central value."""
    make = partial(_MAKERS[style], table, partition)
    with ThreadPoolExecutor(n_threads()) as pool:
        return Recoding(tuple(axis.column for axis in axes), tuple(pool.map(make, axes)), style)


def from_cells(
    table: Table,
    partition: Partition,
    axes: Sequence[Axis],
    cells_by_column: Mapping[str, tuple[CodeArray | CountArray, CodeArray]],
    lists: Lists | None,
) -> Recoding:
    """Publish the cells of cuts: first and last place in ordered columns, offsets and codes of sets in others.

    A column with a hierarchy publishes the nodes over its records, as nodes reveal no ends. Sets that are too long for
    a list get a name.
    """
    published: list[Cells] = []
    for axis in axes:
        if axis.hierarchy:
            published.append(_publish_tight(table, partition, axis))
            continue
        first, second = cells_by_column[axis.column.name]
        if axis.is_ordered:
            _, highest, has_missing = place_ranges(table, partition, axis)
            low = np.where(highest < 0, -1, np.maximum(first, 0)).astype(np.int32)
            high = np.where(highest < 0, -1, second).astype(np.int32)
            published.append(publish_runs(axis, low, high, has_missing, are_cells=True))
        else:
            naming = lists and SetNames(*count_frequencies(table, axis.column, lists), lists.max_length, lists.language)
            published.append(recodings.Sets(first.astype(np.int64), second, axis.domain, naming))
    return Recoding(tuple(axis.column for axis in axes), tuple(published), "cut")


def publish_runs(
    axis: Axis, low: CodeArray, high: CodeArray, has_missing: BoolArray, *, are_cells: bool = False
) -> Cells:
    """Publish runs of known places (from 0; -1 for none) in the form that the axis has."""
    if axis.hierarchy:
        level, node = lowest_nodes(axis.hierarchy, axis, low, high)
        return recodings.Nodes(level, node, has_missing, axis.hierarchy, axis.is_proposed)
    if axis.codes:
        return CodeRanges(low, high, has_missing, axis.codes)
    if axis.rounding:
        return Rounded(low, high, has_missing, axis.rounding)
    if axis.edges:
        return recodings.GridCells(low, high, has_missing, axis.edges)
    return recodings.PublishedIntervals(low, high, has_missing, are_cells)


def _publish_tight(table: Table, partition: Partition, axis: Axis) -> Cells:
    if axis.listing:
        return _publish_short_lists(table, partition, axis)
    if not axis.is_ordered:
        return _publish_value_sets(table, partition, axis)
    return publish_runs(axis, *place_ranges(table, partition, axis))


def _publish_value_sets(table: Table, partition: Partition, axis: Axis) -> Cells:
    codes = table.codes[table.index(axis.column.name)]
    members_of_class = _class_members(table, partition, codes, axis.column.n_values)
    return recodings.Sets(*members_of_class, axis.domain)


def _publish_short_lists(table: Table, partition: Partition, axis: Axis) -> Cells:
    """Publish a list of the values of each class if it is short, else the lowest node over them."""
    assert axis.listing is not None
    listing = axis.listing
    unit = listing.unit[table.codes[table.index(axis.column.name)] + 1]
    offsets, members = _class_members(table, partition, unit, len(listing.texts))
    low, high, has_missing = place_ranges(table, partition, axis)
    level, node = lowest_nodes(listing.tree, axis, low, high)
    is_short = np.diff(offsets) <= listing.lists.max_listed
    is_short &= np.add.reduceat(listing.lengths[members], offsets[:-1]) < listing.lists.max_length
    is_one = np.diff(offsets) == 1
    # A single value is listed as itself; a single branch of a hierarchy publishes its lowest node.
    is_listed = (level < 0) | (is_short & ~is_one) | (is_one & (axis.hierarchy is None))
    level, node = np.where(has_missing, listing.tree.n_levels - 1, level), np.where(has_missing, 0, node)
    level, node = (np.where(is_listed, -1, each).astype(np.int32) for each in (level, node))
    return Listed(offsets, members, listing.texts, listing.widths, level, node, listing.tree)


def _class_members(table: Table, partition: Partition, codes: CodeArray, n_codes: int) -> tuple[CountArray, CodeArray]:
    """List the distinct codes of every class, including rows of the population, whose count is 0."""
    if n_codes < _BITS_PER_WORD:
        return class_profile.class_codes(partition.labels, codes, n_codes, partition.n_classes)
    offsets, members, _ = class_profile.class_values(
        partition.offsets, partition.rows, codes, np.ones_like(table.counts), n_codes
    )
    return offsets, members


def _publish_node_sets(table: Table, partition: Partition, axis: Axis) -> Cells:
    """Publish, below the lowest node over a class, the children that the class has records in."""
    if axis.hierarchy is None or axis.hierarchy.n_values == 0:
        return _publish_value_sets(table, partition, axis)
    ladder = axis.hierarchy
    low, high, _ = place_ranges(table, partition, axis)
    level, node = lowest_nodes(ladder, axis, low, high)
    offsets = np.cumsum([0, *(ladder.n_nodes(i) for i in range(ladder.n_levels))])
    at_level = np.stack([ladder.level_codes[i] + offsets[i] for i in range(ladder.n_levels)])
    codes = table.codes[table.index(axis.column.name)]
    # A node labelled "*", as that of unlisted values, is published itself, not its children.
    is_star = np.array([label == cells.SUPPRESSED for labels in ladder.labels for label in labels])
    is_closed = (level > 0) & (level < ladder.n_levels - 1) & is_star[offsets[level] + node]
    below = np.where(is_closed, level, np.maximum(level - 1, 0))[partition.labels]
    if ladder.lowest is not None:
        below = np.maximum(below, ladder.lowest[codes])
    members = np.where(codes < 0, offsets[-1], at_level[below, codes]).astype(np.int32)
    members_of_class = _class_members(table, partition, members, int(offsets[-1]) + 1)
    texts: list[str | None] = [*axis.column.texts(), *(text for labels in ladder.labels[1:] for text in labels), None]
    widths = np.concatenate([*ladder.shares, [ladder.leaf_share]])
    return recodings.NodeSets(*members_of_class, tuple(texts), widths, ladder.n_values)


def _publish_centres(table: Table, partition: Partition, axis: Axis) -> Cells:
    """Publish the median of an ordered column, the mode of another."""
    codes = table.codes[table.index(axis.column.name)]
    offsets, values, counts = class_profile.class_values(
        partition.offsets, partition.rows, codes, table.counts, axis.column.n_values
    )
    label = np.repeat(np.arange(partition.n_classes), np.diff(offsets))
    if axis.column.is_ordered:
        before = np.cumsum(counts) - counts
        reached = 2 * (before - before[offsets[:-1]][label] + counts) >= partition.sizes[label]
        centre = np.flatnonzero(reached)
    else:
        # Sorted by class, then by descending count: the first of a class is its mode.
        centre = np.lexsort((values, -counts, label))
    first = centre[np.unique(label[centre], return_index=True)[1]]
    spans = _publish_tight(table, partition, axis).shares(axis.column)
    return recodings.Centres(values[first], spans)


def place_ranges(table: Table, partition: Partition, axis: Axis) -> tuple[CodeArray, CodeArray, BoolArray]:
    """Return each class's first and last known place (from 0; -1 for none), and whether it holds missing values."""
    codes = table.codes[table.index(axis.column.name)]
    low, high = np.empty((2, partition.n_classes), dtype=np.int32)
    has_missing = np.empty(partition.n_classes, dtype=np.bool_)
    class_profile.find_known_ranges(partition.labels, codes, axis.place, low, high, has_missing)
    return low, high, has_missing


def lowest_nodes(tree: Hierarchy, axis: Axis, low: CodeArray, high: CodeArray) -> tuple[CodeArray, CodeArray]:
    """Return level and node of the lowest node over each run of places; -1 for an empty run."""
    level, node = np.full(len(low), -1, dtype=np.int32), np.full(len(low), -1, dtype=np.int32)
    codes = axis.code_at()
    for i in reversed(range(tree.n_levels)):
        nodes = tree.level_codes[i, codes]
        covers = (high >= 0) & (np.append(nodes, -1)[low] == np.append(nodes, -1)[high])
        level[covers], node[covers] = i, nodes[low[covers]]
    if tree.lowest is not None:
        is_value = np.flatnonzero(level == 0)
        level[is_value] = tree.lowest[node[is_value]]
        node[is_value] = tree.level_codes[level[is_value], node[is_value]]
    return level, node


_Maker = Callable[[Table, Partition, Axis], Cells]
_MAKERS: Final[Mapping[str, _Maker]] = MappingProxyType(
    {
        "tight": _publish_tight,
        "readable": _publish_tight,
        "nested": _publish_tight,
        "label": _publish_tight,
        "set": _publish_node_sets,
        "central": _publish_centres,
    }
)
