"""Kept columns that repeat quasi-identifiers: a district beside its postcode, a BMI beside height and weight.

An attacker who knows one knows the other and splits classes by it; where the kept column tells the quasi-identifier,
its generalization hides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.tables import Table, iterate_partitions

MAX_ROWS: Final = 20_000
"""So many rows are enough to find which column determines which."""

_MIN_DIFFERING_PAIRS: Final = 30.0  # pairs of records that would differ by chance
_MIN_AGREEMENT_SHARE: Final = 0.98  # of these pairs, the share that agrees all the same
_MIN_VARIANCE_SHARE: Final = 0.999  # of the variance that a formula explains
_MIN_FORMULA_VALUES: Final = 10  # distinct values of a number: any formula fits fewer
_MAX_FORMULA_ROWS: Final = 2_000
_MAX_PAIRED_COLUMNS: Final = 12  # quasi-identifiers whose pairs are looked at


@dataclass(frozen=True, slots=True)
class Determined:
    """A kept column, and the quasi-identifiers that determine it, or that it determines."""

    column: str
    by: tuple[str, ...]  # one quasi-identifier, or two
    tells: bool  # whether the column tells the quasi-identifier; else it follows from the quasi-identifiers

    @property
    def sentence(self) -> str:
        """What was found."""
        return f"{self.column!r} {'tells' if self.tells else 'follows from'} {' and '.join(map(repr, self.by))}"


def enough_rows(n_rows: int) -> CountArray:
    """Return at most `MAX_ROWS` row numbers, evenly spread over all rows."""
    return np.linspace(0, n_rows - 1, min(n_rows, MAX_ROWS)).astype(np.int64)


def find_determined(table: Table, columns: Sequence[str], quasi_identifiers: Sequence[str]) -> tuple[Determined, ...]:
    """Find the kept columns that quasi-identifiers determine, or that determine one, all but for a few records.

    Of two records that agree on one side: how often do they differ on the other, and how often would they by chance?
    Nearly unique columns have too few such pairs. Numbers are also tried as a weighted sum of one or two
    quasi-identifiers, or a product of their powers (R^2 of 0.999 or more). O(n) per column and path; some rows suffice.
    """
    paths: list[tuple[str, ...]] = [(name,) for name in quasi_identifiers]
    if len(quasi_identifiers) <= _MAX_PAIRED_COLUMNS:
        paths += combinations(quasi_identifiers, 2)
    narrow = table.select([*quasi_identifiers, *columns])
    widths = (narrow.codes.max(axis=1, initial=-1) + 1).tolist()
    position_of = {name: number for number, name in enumerate(narrow.names)}
    alone = {name: _number_combinations(narrow, widths, [(position_of[name],)])[0] for name in columns}
    # By chance two records differ in a column as often as two of the whole table do.
    chance = {name: 1 - _agreement_rate(np.zeros_like(each[0]), each)[0] for name, each in alone.items()}
    numbers = {name: known for name in narrow.names if (known := _column_as_numbers(narrow, name)) is not None}
    determined: dict[str, Determined] = {}
    for path in paths:
        undecided = [name for name in columns if name not in determined]
        at = tuple(position_of[each] for each in path)
        (by, *joints) = _number_combinations(narrow, widths, [at, *((*at, position_of[name]) for name in undecided)])
        by_chance = 1 - _agreement_rate(np.zeros_like(by[0]), by)[0]
        for name, joint in zip(undecided, joints, strict=True):
            if _is_determined(joint, by[0], chance[name]) or _is_formula(numbers, name, path):
                determined[name] = Determined(name, path, tells=False)
            elif len(path) == 1 and _is_determined(joint, alone[name][0], by_chance):
                determined[name] = Determined(name, path, tells=True)
    return tuple(determined[name] for name in columns if name in determined)


_Numbered = tuple[CodeArray, int]


def _number_combinations(table: Table, widths: list[int], paths: Sequence[tuple[int, ...]]) -> list[_Numbered]:
    """Number the combinations of columns that occur."""
    return list(iterate_partitions(table.codes, widths, paths))


def _is_determined(both: _Numbered, by: CodeArray, by_chance: float) -> bool:
    """Tell whether records that agree in one column agree in the other, where they would not by chance."""
    agree, n_pairs = _agreement_rate(by, both)
    return by_chance * n_pairs >= _MIN_DIFFERING_PAIRS and 1 - agree <= (1 - _MIN_AGREEMENT_SHARE) * by_chance


def _agreement_rate(by: CodeArray, both: _Numbered) -> tuple[float, int]:
    """Return how often two records of one group agree, groups by their size, and how many pairs that rests on."""
    labels, n_classes = both
    sizes = np.bincount(by)
    counts = np.bincount(labels, minlength=n_classes)
    group_of = np.empty(n_classes, dtype=np.int64)
    group_of[labels] = by
    equal = np.bincount(group_of, weights=counts * (counts - 1.0), minlength=len(sizes))
    several = sizes > 1
    n_records = int(sizes[several].sum())
    if not n_records:
        return 1.0, 0
    # Of a group of m records with e ordered equal pairs, e / (m (m - 1)) agree; weighted by m.
    return float((equal[several] / (sizes[several] - 1)).sum() / n_records), n_records - int(several.sum())


def _column_as_numbers(table: Table, name: str) -> FloatArray | None:
    """Return a column of numbers or moments, missing cells as NaN; None where it is none, or has few values."""
    column, codes = table.column(name), table.codes[table.index(name)]
    if not column.is_measured or column.n_values < _MIN_FORMULA_VALUES:
        return None
    values = np.append(column.values.astype(np.float64), np.nan)
    # So few are enough for a formula, and sums over more of them wake all threads of a machine.
    return np.asarray(values[codes[:: max(1, len(codes) // _MAX_FORMULA_ROWS)]])


def _is_formula(numbers: dict[str, FloatArray], name: str, path: Sequence[str]) -> bool:
    """Tell whether a number is a weighted sum, or a product of powers, of others."""
    if not all(each in numbers for each in (name, *path)):
        return False
    target, *by = (numbers[each] for each in (name, *path))
    is_known = np.isfinite(target) & np.logical_and.reduce([np.isfinite(each) for each in by])
    target, by = target[is_known], [each[is_known] for each in by]
    if len(target) < _MIN_DIFFERING_PAIRS:
        return False
    if _is_linear(target, by):
        return True
    is_positive = all(bool((each > 0).all()) for each in (target, *by))
    return is_positive and _is_linear(np.log(target), [np.log(each) for each in by])


def _is_linear(target: FloatArray, by: Sequence[FloatArray]) -> bool:
    columns = [np.ones_like(target), *((each - each.mean()) / (each.std() or 1.0) for each in by)]
    centered = target - target.mean()
    if not centered.any():
        return False
    gram = np.array([[one @ other for other in columns] for one in columns])
    weights = np.linalg.lstsq(gram, np.array([each @ centered for each in columns]), rcond=None)[0]
    residual = centered - sum(weight * each for weight, each in zip(weights, columns, strict=True))
    return bool(residual @ residual <= (1 - _MIN_VARIANCE_SHARE) * (centered @ centered))
