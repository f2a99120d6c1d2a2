"""Two releases under one key: what both publish of a pseudonym is one history, which may single out its person."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.claims import count_equal_histories
from hushtable.columns import SUPPRESSED, list_distinct_cells
from hushtable.io import Frame


class HistoryRows(NamedTuple):
    """The rows of a release, and the class of each; suppressed rows have one, too."""

    frame: Frame
    classes: CountArray


def count_alike(first: HistoryRows, second: HistoryRows, name: str) -> CountArray:
    """Count for each pseudonym in both releases how many of them, itself included, have its joined history.

    A history is the classes of its records, with how many are in each, as linked k-anonymity counts it: how many
    records of a person are suppressed is known, too. The classes of two releases are different ones. O(n log n).
    """
    numbers: dict[str, int] = {}
    first_numbers, second_numbers = (_number_pseudonyms(side, name, numbers) for side in (first, second))
    in_both = np.intersect1d(first_numbers, second_numbers)
    in_both = in_both[in_both >= 0]
    if not len(in_both):
        return np.empty(0, dtype=np.int64)
    pseudonyms = np.concatenate([first_numbers, second_numbers])
    classes = np.concatenate([first.classes, second.classes + int(first.classes.max(initial=-1)) + 1])
    counts = np.concatenate([side.frame.records for side in (first, second)])
    is_shared = np.isin(pseudonyms, in_both)
    persons = np.searchsorted(in_both, pseudonyms[is_shared]).astype(np.int32)
    return count_equal_histories(classes[is_shared], persons, counts[is_shared])


def _number_pseudonyms(side: HistoryRows, name: str, numbers: dict[str, int]) -> CodeArray:
    """Number the pseudonyms of rows, each new one by the next number; -1 is nobody's."""
    cells, codes = list_distinct_cells(side.frame.values(name), name)
    of_cell = [-1 if cell == SUPPRESSED else numbers.setdefault(cell, len(numbers)) for cell in cells.to_list()]
    return np.array([*of_cell, -1], dtype=np.int32)[codes]
