"""The tables of an attack in one code, and their rows as numbers whose differences can be summed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import ColumnSpec
from hushtable.errors import ColumnError, InputError, check_columns, check_whole, names_in, with_hint
from hushtable.kernels.mixed_neighbours import nearest_rows
from hushtable.risk.mpuccs import encoded
from hushtable.tables import Joint, JointRows, code_together

__all__ = ["Coded", "coded", "generator", "named", "nearest", "sampled"]

_NUMBERS: Final = frozenset({"integer", "decimal"})
_DAYS: Final = frozenset({"date", "datetime", "time"})


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """The originals, the synthetic records, and the control where there is one, in one code.

    Attributes
    ----------
    joint : Joint
    scales : tuple of ndarray or None
        Of a column of numbers or dates, what each code is on a scale from 0 to 1 over all tables; else None.
    numbers : frozenset of str
        The columns of numbers.
    """

    joint: Joint = field(repr=False)
    scales: tuple[FloatArray | None, ...] = field(repr=False)
    numbers: frozenset[str]

    @property
    def original(self) -> JointRows:
        """The people."""
        return self.joint.tables[0]

    @property
    def synthetic(self) -> JointRows:
        """What may give them away."""
        return self.joint.tables[1]

    @property
    def control(self) -> JointRows | None:
        """People who were never used for it."""
        return self.joint.tables[2] if len(self.joint.tables) > 2 else None

    def index(self, name: str) -> int:
        """Return where a column is."""
        return self.joint.names.index(name)

    def distinct(self, rows: JointRows) -> JointRows:
        """Return every distinct row once, with how many records it stands for."""
        return rows.merged(self.joint.widths)

    def placed(self, codes: CodeArray, columns: Sequence[str]) -> tuple[FloatArray, int]:
        """Return rows of some columns as numbers, those on a scale first, and how many columns those are."""
        places = [self.index(name) for name in columns]
        ordered = sorted(places, key=lambda j: self.scales[j] is None)
        out = np.empty((codes.shape[1], len(ordered)))
        for i, j in enumerate(ordered):
            scale = self.scales[j]
            values = np.arange(self.joint.widths[j], dtype=float) if scale is None else scale
            # The code of a missing value is -1: the last.
            out[:, i] = np.append(values, np.nan)[codes[j]]
        return out, sum(self.scales[j] is not None for j in ordered)


def coded(
    original: Any,
    synthetic: Any,
    control: Any,
    columns: Sequence[str] | None,
    specs: Mapping[str, ColumnSpec] | None,
) -> Coded:
    """Code the tables of an attack together; one that is empty, or has other columns, is an error."""
    given = {"original": original, "synthetic": synthetic, "control": control}
    tables = encoded(
        {name: each for name, each in given.items() if each is not None or name != "control"}, columns, specs
    )
    if any((table.counts != 1).any() for table in tables):
        tables = [table.one_by_one() for table in tables]
    joint = code_together(tables)
    scales, numbers = [], set()
    for j, name in enumerate(joint.names):
        kinds = {column.kind for column in (table.column(name) for table in tables) if column.n_values}
        is_number = bool(kinds) and kinds <= _NUMBERS
        if is_number:
            numbers.add(name)
        scales.append(_scaled(joint.values[j]) if is_number or (kinds and kinds <= _DAYS) else None)
    return Coded(joint, tuple(scales), frozenset(numbers))


def named(given: Any, what: str, known: Coded, beside: Sequence[str] = ()) -> tuple[str, ...]:
    """Return columns that were named, or refuse: none, unknown ones, twice the same, or one that is taken already."""
    names = names_in(given, what)
    if not names:
        raise InputError(with_hint(f"{what} names no column.", "name what the attacker knows."))
    check_columns(names, known.joint.names, what)
    twice = [name for name in names if names.count(name) > 1 or name in beside]
    if twice:
        raise ColumnError(with_hint(f"{what} names {twice[0]!r}, which is named already.", "name each column once."))
    return names


def nearest(
    known: Coded, targets: CodeArray, candidates: CodeArray, columns: Sequence[str], n_near: int
) -> tuple[CountArray, FloatArray]:
    """Return the nearest candidates of every target by some columns, nearest first, and how far they are."""
    (near_to, n_numbers), (among, _) = known.placed(targets, columns), known.placed(candidates, columns)
    near = np.empty((len(near_to), min(n_near, len(among))), dtype=np.int64)
    distances = np.empty(near.shape)
    nearest_rows(near_to, among, n_numbers, near, distances)
    return near, distances


def generator(seed: int) -> np.random.Generator:
    """Return what draws, from a whole number."""
    check_whole("seed", seed, 0)
    return np.random.default_rng(int(seed))


def sampled(rng: np.random.Generator, n_rows: int, n_wanted: int) -> CountArray:
    """Return some rows, each at most once, in random order; all where there are no more."""
    return rng.permutation(n_rows)[:n_wanted]


def _scaled(values: Sequence[Any]) -> FloatArray:
    """Return ordered values on a scale from 0 to 1."""
    numbers = np.array(values)
    numbers = numbers.astype("datetime64[us]").astype(float) if numbers.dtype.kind == "M" else numbers.astype(float)
    spread = numbers[-1] - numbers[0]
    # Two ends of the widest columns are further apart than a number can say.
    if not np.isfinite(spread):
        numbers, spread = numbers / 2, numbers[-1] / 2 - numbers[0] / 2
    return np.asarray((numbers - numbers[0]) / (spread or 1.0))
