"""Coarser categories where hiding protects too little, or hides too much: which to merge, and what would be hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushtable.tabulation.tabulating import MISSING_LABEL, TabulatedRecords
from hushtable.wording import join_names

_MAX_MERGES: Final = 3  # of one dimension
_MAX_PROPOSALS: Final = 3

HidingCost = tuple[int, int]
"""How many cells tables have, and how many of them must be hidden."""


@dataclass(frozen=True, slots=True)
class CoarserTable:
    """Tables with fewer categories of one dimension, which hiding can protect.

    Attributes
    ----------
    dimension : str
    merged : tuple of str
        The labels that become one or more; none: the lowest level of its hierarchy is left out.
    n_cells, n_hidden : int
        Of the tables then.
    """

    dimension: str
    merged: tuple[str, ...]
    n_cells: int
    n_hidden: int

    def describe(self) -> str:
        """Say what to merge, and what is hidden then."""
        then = f"{self.n_hidden:,} of {self.n_cells:,} cells are hidden then"
        if not self.merged:
            return f"leave the lowest level of {self.dimension} out: {then}"
        return f"merge {join_names(self.merged)} of {self.dimension}: {then}"


def propose_coarser(
    records: TabulatedRecords, cost_of: Callable[[TabulatedRecords], HidingCost | None]
) -> tuple[CoarserTable, ...]:
    """Return, of each dimension, the first merge after which hiding protects and hides at most half, cheapest first.

    Parameters
    ----------
    records : TabulatedRecords
    cost_of : function
        What must be hidden in tables of some records; None if hiding cannot protect them.
    """
    found = []
    for dimension in records.labels:
        for merged, coarser in _coarsen(records, dimension):
            cost = cost_of(coarser)
            if cost is not None and 2 * cost[1] <= cost[0]:
                found.append(CoarserTable(dimension, merged, *cost))
                break
    found.sort(key=lambda each: each.n_hidden / each.n_cells)
    return tuple(found[:_MAX_PROPOSALS])


def _coarsen(records: TabulatedRecords, dimension: str) -> Iterator[tuple[tuple[str, ...], TabulatedRecords]]:
    """Yield records with ever coarser categories of a dimension: a level less, or the rarest neighbours merged."""
    if records.parents.get(dimension):
        for _ in range(_MAX_MERGES):
            if not records.parents.get(dimension):
                return
            records = _without_lowest_level(records, dimension)
            yield (), records
        return
    texts, codes = records.labels[dimension]
    groups = [[place] for place, text in enumerate(texts) if text != MISSING_LABEL]
    others = [[place] for place, text in enumerate(texts) if text == MISSING_LABEL]
    sizes = np.bincount(codes, minlength=len(texts))
    for _ in range(_MAX_MERGES):
        if len(groups) < 3:
            return
        totals = [int(sizes[group].sum()) for group in groups]
        first = min(range(len(groups) - 1), key=lambda place: totals[place] + totals[place + 1])
        groups[first : first + 2] = [groups[first] + groups[first + 1]]
        merged = tuple(texts[place] for group in groups if len(group) > 1 for place in group)
        yield merged, _regroup(records, dimension, groups + others)


def _regroup(records: TabulatedRecords, dimension: str, groups: Sequence[Sequence[int]]) -> TabulatedRecords:
    texts, codes = records.labels[dimension]
    group_of = np.zeros(len(texts), dtype=np.int64)
    for number, group in enumerate(groups):
        group_of[list(group)] = number
    labels = tuple(" + ".join(texts[place] for place in group) for group in groups)
    return replace(records, labels={**records.labels, dimension: (labels, group_of[codes])})


def _without_lowest_level(records: TabulatedRecords, dimension: str) -> TabulatedRecords:
    """Return records whose labels are the parents of what they were, where they have one."""
    texts, codes = records.labels[dimension]
    tree = records.parents[dimension]
    parent_of = {part: parent for parent, parts in tree.items() for part in parts}
    own = [parent_of.get(text, text) for text in texts]
    labels = tuple(dict.fromkeys(own))
    place = np.array([labels.index(text) for text in own], dtype=np.int64)
    left = {parent: parts for parent, parts in tree.items() if parent not in labels}
    return replace(
        records,
        labels={**records.labels, dimension: (labels, place[codes])},
        parents={**records.parents, dimension: left},
    )
