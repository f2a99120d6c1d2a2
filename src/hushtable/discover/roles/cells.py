"""One column's distinct cells with their counts, as texts and as numbers, typed or not."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.columns import Column, fold, from_texts

__all__ = ["ColumnCells", "cells_of"]

_MOST_TEXTS: Final = 1000
_PLAIN: Final = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)
_COMMA: Final = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?", re.ASCII)
_CODE: Final = re.compile(r"0\d", re.ASCII)
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnCells:
    """What the looks of a column are judged on.

    Attributes
    ----------
    column : Column
    n_records, n_missing : int
        With a value, and without.
    counts : ndarray of int64, shape (n_values,)
        Records of each value.
    texts : tuple of str
        Up to 1,000 distinct values as they are written, evenly from all of them in order.
    folded : tuple of str
        The same without case, accents and marks.
    weights : ndarray of int64, shape (n_texts,)
        Records of each text.
    moments : ndarray of datetime64[us]
        All values as moments, where they are dates or datetimes or texts of them in ISO's order; else empty.
    numbers, number_weights : ndarray
        All values as numbers with their records, where they are numbers (of texts those shown); else empty.
    """

    column: Column
    n_records: int
    n_missing: int
    counts: CountArray = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    folded: tuple[str, ...] = field(repr=False)
    weights: CountArray = field(repr=False)
    moments: NDArray[np.datetime64] = field(repr=False)
    numbers: FloatArray = field(repr=False)
    number_weights: CountArray = field(repr=False)

    @property
    def n_values(self) -> int:
        """How many distinct values there are."""
        return self.column.n_values

    @property
    def is_whole(self) -> bool:
        """Whether the cells are whole numbers."""
        return len(self.numbers) > 0 and bool((self.numbers % 1 == 0).all())

    def share(self, fits: BoolArray) -> float:
        """Return the share of records whose numbers fit."""
        return float(self.number_weights[fits].sum() / max(1, self.number_weights.sum()))

    def middle(self, rate: float = 0.5) -> float:
        """Return a quantile of the numbers over records; 0 without numbers."""
        if not len(self.numbers):
            return 0.0
        order = np.argsort(self.numbers, kind="stable")
        reached = np.searchsorted(np.cumsum(self.number_weights[order]), rate * self.number_weights.sum())
        return float(self.numbers[order][min(int(reached), len(order) - 1)])


def cells_of(column: Column, counts: CountArray, n_missing: int) -> ColumnCells:
    """Lay out a column's values, each with the number of its records."""
    shown = np.unique(np.linspace(0, max(0, column.n_values - 1), _MOST_TEXTS).astype(np.int64))[: column.n_values]
    texts = tuple(column.text(code).strip() for code in shown)
    weights = counts[shown]
    moments = _moments(column, texts)
    if column.kind in ("integer", "decimal"):
        numbers, number_weights = column.values.astype(np.float64), counts
    else:
        numbers = np.empty(0) if len(moments) else _numbers(texts)
        number_weights = weights[: len(numbers)]
    folded = tuple(map(fold, texts))
    return ColumnCells(
        column, int(counts.sum()), n_missing, counts, texts, folded, weights, moments, numbers, number_weights
    )


def _moments(column: Column, texts: tuple[str, ...]) -> NDArray[np.datetime64]:
    typed = column
    if column.kind == "category" and from_texts(column.name, texts)[0].kind in ("date", "datetime"):
        typed, _ = from_texts(column.name, column.values.tolist())
    is_moment = typed.kind in ("date", "datetime")
    return typed.values.astype("datetime64[us]") if is_moment else np.empty(0, dtype="datetime64[us]")


def _numbers(texts: tuple[str, ...]) -> FloatArray:
    """Read texts as numbers, with a decimal point or a decimal comma; nothing where they are not all numbers.

    Digits with a zero before them are codes.
    """
    if any(_CODE.match(text) for text in texts):
        return np.empty(0)
    if all(_PLAIN.fullmatch(text) or _GROUPED.fullmatch(text) for text in texts):
        plain = [text.replace(",", "") for text in texts]
    elif all(_COMMA.fullmatch(text) for text in texts):
        plain = [text.replace(".", "").replace(",", ".") for text in texts]
    else:
        return np.empty(0)
    numbers = np.array([float(text) for text in plain], dtype=np.float64)
    return numbers if np.isfinite(numbers).all() else np.empty(0)
