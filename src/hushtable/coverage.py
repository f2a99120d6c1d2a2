"""Which people of a population the classes of a published table cover, told from the published cells."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from hushtable import cells
from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.column import Column, ColumnSpec, from_texts
from hushtable.errors import ColumnError
from hushtable.hierarchy import Hierarchy
from hushtable.search import check_memory

__all__ = ["count_covered", "pair_rows"]

_HINT: Final = "compare fewer rows at a time, or verify without the population or the original table."
_ENDS: Final = re.compile(r"\[(?P<low>.+), (?P<high>.+)(?P<end>[\])])|<(?P<below>.+)|>=(?P<from>.+)")


def count_covered(
    published: Sequence[Sequence[str | None]],
    classes: CodeArray,
    people: Sequence[Sequence[str | None]],
    rows: CodeArray,
    counts: CountArray,
    specs: Sequence[ColumnSpec],
    hierarchies: Sequence[Any],
) -> tuple[CountArray, int]:
    """Count the people whom each class covers.

    Parameters
    ----------
    published : by column, its distinct published cells; None is a missing one
    classes : ndarray of int, shape (n_columns, n_classes)
        What each class publishes, as indices into ``published``.
    people : by column, the distinct texts of the population
    rows : ndarray of int, shape (n_columns, n_rows)
        The distinct people, as indices into ``people``.
    counts : ndarray of int64, shape (n_rows,)
    specs : by column, how its values are typed
    hierarchies : by column, what its labels mean; None where it has none

    Returns
    -------
    covered : ndarray of int64, shape (n_classes,)
        Someone whom the cells of several classes cover counts in each.
    n_left : int
        People whom no class covers.

    Notes
    -----
    Column by column: what a person matches so far is a prefix of published cells that some
    class begins with, so that only combinations that occur are ever looked at.
    """
    row, prefix, prefix_of_class = _walk(published, classes, people, rows, specs, hierarchies)
    n_rows = rows.shape[1]
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    by_prefix = np.bincount(prefix, weights=counts[row], minlength=int(prefix_of_class.max(initial=-1)) + 1)
    left = np.ones(n_rows, dtype=bool)
    left[row] = False
    return by_prefix.astype(np.int64)[prefix_of_class], int(counts[left].sum())


def pair_rows(
    published: Sequence[Sequence[str | None]],
    classes: CodeArray,
    people: Sequence[Sequence[str | None]],
    rows: CodeArray,
    specs: Sequence[ColumnSpec],
    hierarchies: Sequence[Any],
) -> tuple[CountArray, CountArray]:
    """Return the pairs of a class and a row that it covers; arguments as for `count_covered`, classes distinct."""
    row, prefix, prefix_of_class = _walk(published, classes, people, rows, specs, hierarchies)
    class_of_prefix = np.empty(int(prefix_of_class.max(initial=-1)) + 1, dtype=np.int64)
    class_of_prefix[prefix_of_class] = np.arange(len(prefix_of_class))
    return class_of_prefix[prefix], row


def _walk(
    published: Sequence[Sequence[str | None]],
    classes: CodeArray,
    people: Sequence[Sequence[str | None]],
    rows: CodeArray,
    specs: Sequence[ColumnSpec],
    hierarchies: Sequence[Any],
) -> tuple[CountArray, CountArray, CountArray]:
    """Return the rows that any class covers with the prefix of that class, and the prefix of every class."""
    n_rows, n_classes = rows.shape[1], classes.shape[1]
    row = np.arange(n_rows)
    prefix = np.zeros(n_rows, dtype=np.int64)
    prefix_of_class = np.zeros(n_classes, dtype=np.int64)
    for j, found in enumerate(published):
        covers = _covers(found, people[j], specs[j], hierarchies[j])
        width = len(found)
        keys, prefix_of_class = np.unique(prefix_of_class * width + classes[j], return_inverse=True)
        value, cell = np.nonzero(covers.T)
        starts = np.searchsorted(value, np.arange(covers.shape[1] + 1))
        lengths = np.diff(starts)[rows[j, row]]
        check_memory(
            64.0 * int(lengths.sum()), f"comparing {rows.shape[1]} rows with {classes.shape[1]} published ones", _HINT
        )
        pick = np.arange(lengths.sum()) + np.repeat(starts[rows[j, row]] - (np.cumsum(lengths) - lengths), lengths)
        row, wanted = np.repeat(row, lengths), np.repeat(prefix, lengths) * width + cell[pick]
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        exists = keys[at] == wanted
        row, prefix = row[exists], at[exists]
    return row, prefix, prefix_of_class


def _covers(found: Sequence[str | None], texts: Sequence[str | None], spec: ColumnSpec, given: Any) -> BoolArray:
    """Tell which published cell covers which value, shape (n_cells, n_values)."""
    column, codes = from_texts("", [text or "" for text in texts], spec.kind, spec.order)
    by_label = _by_label(column, given)
    # Once more where it is turned round.
    check_memory(2.0 * len(found) * len(texts), f"comparing {len(texts)} values with {len(found)} cells", _HINT)
    covers = np.zeros((len(found), len(texts)), dtype=bool)
    for i, cell in enumerate(found):
        covers[i] = np.append(_covered(cell, column, by_label), _covers_missing(cell))[codes]
    return covers


def _by_label(column: Column, given: Any) -> Mapping[str, BoolArray]:
    """Return the codes under every label of a hierarchy."""
    if given is None:
        return {}
    ladder = Hierarchy.build(given, column, unknown="suppress")
    return {
        label: np.asarray(ladder.level_codes[level] == node)
        for level in reversed(range(1, ladder.n_levels))
        for node, label in enumerate(ladder.labels[level])
    }


def _covers_missing(cell: str | None) -> bool:
    if cell is None or cell == cells.SUPPRESSED:
        return True
    return not cells.is_value(cell) and cell.startswith("[") and cell.endswith("]") and None in _members(cell)


def _members(cell: str) -> list[str | None]:
    try:
        found = json.loads(cell)
    except ValueError:
        return []
    return found if isinstance(found, list) and all(each is None or isinstance(each, str) for each in found) else []


def _covered(cell: str | None, column: Column, by_label: Mapping[str, BoolArray]) -> BoolArray:
    """Tell which values of a column a cell covers."""
    everything = np.ones(column.n_values, dtype=bool)
    if cell is None:
        return ~everything
    if cell == cells.SUPPRESSED:
        return everything
    if cell in by_label:
        return by_label[cell]
    members = _members(cell)
    if members:
        covered = [_covered_by_member(each, column, by_label) for each in members if each is not None]
        return np.asarray(np.any([~everything, *covered], axis=0))
    if not cells.is_value(cell):
        return _between(cell, column)
    try:
        value, _ = from_texts("", [cell], column.kind)
    except ColumnError:
        return ~everything
    return np.asarray(column.values == value.values[0])


def _covered_by_member(member: str, column: Column, by_label: Mapping[str, BoolArray]) -> BoolArray:
    """Tell which values a member of a set covers; a value is itself, even where it looks like another form."""
    texts = column.texts()
    if member in texts and member not in by_label:
        return np.asarray(np.arange(column.n_values) == texts.index(member))
    return _covered(member, column, by_label)


def _between(cell: str, column: Column) -> BoolArray:
    match = _ENDS.fullmatch(cell)
    assert match is not None, "a cell that is no value, no set and not '*' is an interval"
    low, high = match["low"] or match["from"], match["high"] or match["below"]
    inside: BoolArray = np.ones(column.n_values, dtype=bool)
    if low is not None:
        inside &= column.values >= from_texts("", [low], column.kind)[0].values[0]
    if high is not None:
        bound = from_texts("", [high], column.kind)[0].values[0]
        inside &= (column.values <= bound) if match["end"] == "]" else (column.values < bound)
    return np.asarray(inside)
