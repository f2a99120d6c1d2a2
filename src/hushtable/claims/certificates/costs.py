"""What nodes of a lattice cost, from the definitions of the losses, for the checker of certificates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.errors import InputError, with_hint
from hushtable.hierarchy import Hierarchy

__all__ = ["CellCosts", "ClassCosts", "Ladder", "costs_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """What the rows of a table publish of one column, at every level.

    Attributes
    ----------
    texts : ndarray of int64, shape (n_levels, n_rows)
        A number for every text.
    levels : ndarray of int64, shape (n_levels, n_rows)
        The level of the hierarchy that is published; a missing value is itself, level 0, below the top.
    shares : ndarray of float64, shape (n_levels, n_rows)
        Of the domain; a leaf's at least.
    leaf : float
    """

    texts: CountArray = field(repr=False)
    levels: CountArray = field(repr=False)
    shares: FloatArray = field(repr=False)
    leaf: float

    @property
    def top(self) -> int:
        """The highest level."""
        return len(self.texts) - 1

    @classmethod
    def of(cls, hierarchy: Hierarchy, codes: CodeArray) -> Ladder:
        """Look up what every row publishes."""
        top, known = hierarchy.n_levels - 1, codes >= 0
        shape = (top + 1, len(codes))
        texts, levels, shares = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64), np.zeros(shape)
        numbers: dict[tuple[bool, str | None], int] = {}
        for level in range(top + 1):
            at = np.full(len(codes), level)
            if hierarchy.lowest is not None:
                at[known] = np.maximum(level, hierarchy.lowest[codes[known]])
            for each in np.unique(at[known]).tolist():
                rows = np.flatnonzero(known & (at == each))
                nodes = hierarchy.level_codes[each][codes[rows]]
                labels = [(each == 0, text) for text in hierarchy.labels[each]]
                number = np.array([numbers.setdefault(label, len(numbers)) for label in labels])
                texts[level, rows], shares[level, rows] = number[nodes], hierarchy.shares[each][nodes]
            star = level == top
            texts[level, ~known] = numbers.setdefault((False, hierarchy.labels[top][0] if star else None), len(numbers))
            shares[level, ~known] = 1.0 if star else hierarchy.leaf_share
            levels[level] = np.where(known | star, at, 0)
        return cls(texts, levels, np.maximum(shares, hierarchy.leaf_share), hierarchy.leaf_share)


@dataclass(frozen=True, slots=True, eq=False)
class CellCosts:
    """A loss that is a sum over cells.

    Attributes
    ----------
    costs : tuple by column of ndarray of float64, shape (n_levels, n_rows)
    stars : tuple by column of ndarray of float64, shape (n_rows,)
        What a suppressed cell costs.
    counts : ndarray of int64, shape (n_rows,)
    name : str
    options : mapping
        Of the loss.
    weights : tuple of float
    leaves : tuple of float
    """

    costs: tuple[FloatArray, ...] = field(repr=False)
    stars: tuple[FloatArray, ...] = field(repr=False)
    counts: CountArray = field(repr=False)
    name: str
    options: Mapping[str, Any]
    weights: tuple[float, ...]
    leaves: tuple[float, ...]

    def value(self, levels: Sequence[int], labels: CountArray, gone: BoolArray) -> float:
        """Return the loss of a node with some rows suppressed."""
        del labels
        pairs = zip(self.costs, self.stars, levels, strict=True)
        return self._finish([np.where(gone, star, cost[level]) for cost, star, level in pairs])

    def bound(self, levels: Sequence[int], labels: CountArray, gone: BoolArray) -> float:
        """Return what all nodes from one up lose at least at which these rows are suppressed."""
        del labels
        pairs = zip(self.costs, self.stars, levels, strict=True)
        return self._finish([np.where(gone, star, cost[level:].min(axis=0)) for cost, star, level in pairs])

    def _finish(self, cells: Sequence[FloatArray]) -> float:
        sums = [float((cell * self.counts).sum()) for cell in cells]
        n = int(self.counts.sum())
        if self.name == "non_uniform_entropy":
            return sum(weight * each for weight, each in zip(self.weights, sums, strict=True))
        if self.name != "arx_loss":
            total = sum(self.weights)
            return sum(w * each / n for w, each in zip(self.weights, sums, strict=True)) / total if total else 0.0
        factor, losses = _for_generalization(self.options), []
        for each, leaf in zip(sums, self.leaves, strict=True):
            room = n - factor * n * leaf
            losses.append(math.floor(1e10 * max(0.0, (each - factor * n * leaf) / room) + 1e-4) / 1e10 if room else 0.0)
        most = max(self.weights) or 1.0
        losses = [loss * weight / most for loss, weight in zip(losses, self.weights, strict=True)]
        if self.options.get("mean", "geometric") == "arithmetic":
            return sum(losses) / len(losses)
        return math.exp(sum(math.log1p(loss) for loss in losses) / len(losses)) - 1


@dataclass(frozen=True, slots=True, eq=False)
class ClassCosts:
    """A loss of the sizes of classes.

    Attributes
    ----------
    counts : ndarray of int64, shape (n_rows,)
    is_squared : bool
        The sum of squares, or else the mean.
    most : int
        Records that may be suppressed.
    least : int
        Records that every class holds.
    """

    counts: CountArray = field(repr=False)
    is_squared: bool
    most: int
    least: int

    def value(self, levels: Sequence[int], labels: CountArray, gone: BoolArray) -> float:
        """Return the loss of a node with some rows suppressed."""
        del levels
        sizes, n = self._sizes(labels, gone)
        if self.is_squared:
            return float(sum(size * size for size in sizes) + (n - sum(sizes)) * n)
        return sum(sizes) / len(sizes) if sizes else math.inf

    def bound(self, levels: Sequence[int], labels: CountArray, gone: BoolArray) -> float:
        """Return what all nodes from one up lose at least at which these rows are suppressed."""
        del levels
        sizes, n = self._sizes(labels, gone)
        if self.is_squared:
            return float(sum(size * max(size, self.least) for size in sizes) + (n - sum(sizes)) * n)
        left = first = max(1, min(sum(sizes), n - self.most))
        shared = 0.0
        for size in sorted(sizes):
            taken = min(size, left)
            shared, left = shared + taken / max(size, self.least), left - taken
        return first / shared if shared else math.inf

    def _sizes(self, labels: CountArray, gone: BoolArray) -> tuple[list[int], int]:
        sizes = np.bincount(labels[~gone], weights=self.counts[~gone]).astype(np.int64)
        return sizes[sizes > 0].tolist(), int(self.counts.sum())


def costs_of(
    entry: Mapping[str, Any],
    columns: Sequence[str],
    ladders: Sequence[Ladder],
    codes: CodeArray,
    counts: CountArray,
    most: int,
    least: int,
) -> CellCosts | ClassCosts:
    """Return what nodes cost by a loss as policies write it: ``{name: {option: value}}``."""
    ((name, options),) = entry.items()
    if name in ("discernibility", "average_class_size"):
        return ClassCosts(counts, name == "discernibility", most, least)
    ones = np.ones(len(counts))
    n = int(counts.sum())
    costs: list[FloatArray] = []
    stars = [ones] * len(columns)
    for j, ladder in enumerate(ladders):
        if name == "arx_loss":
            costs.append(ladder.shares * _for_generalization(options))
        elif name == "ncp":
            is_missing = (codes[j] < 0) & (np.arange(ladder.top + 1) < ladder.top)[:, None]
            costs.append(np.where((ladder.levels == 0) | is_missing, 0.0, ladder.shares))
        elif name == "precision":
            costs.append(ladder.levels / ladder.top)
        elif name == "non_uniform_entropy":
            frequency = _frequencies(codes[j] + 1, counts)
            costs.append(np.log2([_frequencies(texts, counts) for texts in ladder.texts]) - np.log2(frequency))
            stars[j] = math.log2(n) - np.log2(frequency)
        else:
            raise InputError(with_hint(f"a certificate by the loss {name!r}.", "no checker knows it."))
    weights = tuple(float(options.get("weights", {}).get(column, 1.0)) for column in columns)
    if not all(0 <= weight < math.inf for weight in weights):
        raise InputError(with_hint("a certificate by a loss with a weight below 0.", "no loss has one."))
    leaves = tuple(ladder.leaf for ladder in ladders)
    return CellCosts(tuple(costs), tuple(stars), counts, name, options, weights, leaves)


def _for_generalization(options: Mapping[str, Any]) -> float:
    return min(1.0, 2 - 2 * float(options.get("gs_factor", 0.5)))


def _frequencies(codes: CodeArray | CountArray, counts: CountArray) -> FloatArray:
    """Return the records with the code of every row."""
    return np.asarray(np.bincount(codes, weights=counts)[codes])
