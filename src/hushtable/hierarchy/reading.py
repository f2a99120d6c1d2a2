"""What the label of a node reads as: no more and no less than the values under the node."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hushtable._types import CodeArray
from hushtable.columns import cells
from hushtable.errors import HierarchyError, with_hint
from hushtable.hierarchy.grid import to_exact

__all__ = ["check_labels"]


def check_labels(
    column: str, values: Sequence[str], level_codes: CodeArray, labels: Sequence[Sequence[str]], *, are_forms: bool
) -> None:
    """Raise HierarchyError where a published label would be read as something that its node does not hold.

    Parameters
    ----------
    column : str
    values : sequence of str
    level_codes, labels
        As a `hushtable.Hierarchy` has them.
    are_forms : bool
        Whether labels may be read as intervals and sets. Those that a rule wrote are right.

    Notes
    -----
    A label may be the text of a value or of a label below it, for that is in its branch: the cell
    then stands for all of the node.
    """
    code_of = {text: code for code, text in enumerate(labels[0])}
    # A value that each label holds where it stands lowest.
    lowest: dict[str, int] = {}
    reader = _Reader(values)
    for level in range(1, len(labels) - 1):
        codes = level_codes[level]
        sizes = np.bincount(codes, minlength=len(labels[level]))
        held = np.empty(len(sizes), dtype=np.int64)
        held[codes] = np.arange(len(codes))
        for node, label in enumerate(labels[level]):
            if label == cells.SUPPRESSED:
                continue
            where = f"hierarchy of {column!r}: label {node} of level {level}"
            for code, what in ((code_of.get(label), "value"), (lowest.setdefault(label, int(held[node])), "label")):
                if code is not None and codes[code] != node:
                    msg = f"{where} is also a {what} of another branch, that of value {code}."
                    raise HierarchyError(with_hint(msg, "give it another name: a published cell could mean either."))
            if are_forms and cells.read(label).form != "value":
                read = reader.codes(label)
                if len(read) != sizes[node] or (codes[read] != node).any():
                    msg = f"{where} reads as an interval or a set, but not of the {sizes[node]} values that it holds."
                    raise HierarchyError(with_hint(msg, "correct its ends or members, or give it a name."))


class _Reader:
    """Reads intervals and sets over some texts, as their numbers or dates where they are any."""

    def __init__(self, values: Sequence[str]) -> None:
        self.values = values
        self.code_of = {text: code for code, text in enumerate(values)}
        self.sorted: dict[type, tuple[list[Any], CodeArray]] | None = None

    def codes(self, label: str) -> CodeArray:
        """Return the values that a set or interval covers; nothing where it is neither."""
        cell = cells.read(label)
        if cell.form != "set":
            return self._inside(label)
        if None in cell.members:
            # A missing value is under no node but the top.
            return np.empty(0, dtype=np.int32)
        members = [self._member(str(member)) for member in cell.members]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int32), *members]))

    def _member(self, text: str) -> CodeArray:
        code = self.code_of.get(text)
        return self._inside(text) if code is None else np.array([code], dtype=np.int32)

    def _inside(self, text: str) -> CodeArray:
        bounds = cells.read(text).ends
        keys = [] if bounds is None else [_key(end) for end in (bounds.low, bounds.high) if end is not None]
        if bounds is None or len({type(key) for key in keys}) != 1 or keys[0] is None:
            return np.empty(0, dtype=np.int32)
        ranked, codes = self._ranked(type(keys[0]))
        begin = 0 if bounds.low is None else bisect_left(ranked, keys[0])
        find = bisect_right if bounds.is_closed else bisect_left
        return codes[begin : len(ranked) if bounds.high is None else find(ranked, keys[-1])]

    def _ranked(self, kind: type) -> tuple[list[Any], CodeArray]:
        """Return the keys of one type in their order, and their values."""
        if self.sorted is None:
            by_type: dict[type, list[tuple[Any, int]]] = {}
            for code, text in enumerate(self.values):
                key = _key(text)
                by_type.setdefault(type(key), []).append((key, code))
            by_type.pop(type(None), None)
            self.sorted = {
                each: ([key for key, _ in sorted(pairs)], np.array([code for _, code in sorted(pairs)], dtype=np.int32))
                for each, pairs in by_type.items()
            }
        return self.sorted.get(kind, ([], np.empty(0, dtype=np.int32)))


def _key(text: str) -> Any:
    """Return the number (exact) or the moment that a text is; None where it is neither."""
    try:
        return Fraction(to_exact(text.strip()))
    except (ValueError, ArithmeticError):
        pass
    try:
        moment = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment if moment.tzinfo is None else None
