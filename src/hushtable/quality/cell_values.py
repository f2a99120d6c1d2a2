"""What published cells stand for: read by their grammar, as values and intervals of the original's column.

==================================  ================================================================
cell                                stands for
==================================  ================================================================
a value                             itself
``[17, 25)``, ``[17, 24]``          all of the interval evenly: of whole numbers and dates one by one
a set, a label                      the values of the original's column that it covers, each equally
``<20``, ``>=90``                   an interval that ends at the outermost value that any cell of the
                                    column names, and at least a step beyond the outermost bound; a
                                    step is as far as the two outermost bounds are apart
a missing cell                      the missing value
``*``                               nothing: its records are left out, and their share is told
==================================  ================================================================

Where open cells end, whoever has the release alone can tell as well. Columns that are kept as they are stand for
themselves.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray, FloatArray, ValueArray
from hushtable.claims import Classes, Matchings, listed_cells, pair_rows, published_cells, untold
from hushtable.columns import SUPPRESSED, Column, ColumnSpec, Ends, from_texts, read, whole_days
from hushtable.errors import InputError, with_hint
from hushtable.hierarchy import Hierarchy, to_exact
from hushtable.io import Frame
from hushtable.quality.distances import Spread
from hushtable.tables import Table, totals

__all__ = ["Standing", "ValueAxis", "read_alike", "read_column", "told"]

_EXACT: Final = 2**53  # whole numbers up to here are floats
_DAYS: Final = ("date", "datetime")


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """Where the values of a column lie: from its first one on, or of a category at their codes.

    Attributes
    ----------
    kind : Kind
    first : int or float
        The value at 0; of decimals scaled.
    exponent : int
        Decimals are scaled by this power of two, so that their differences are numbers.
    length : float
        From the first value of the original to its last.
    is_whole : bool
        Whether places are whole; numbers too far apart to be counted in floats have no gaps.
    """

    kind: str
    first: int | float = field(repr=False)
    exponent: int
    length: float = field(repr=False)
    is_whole: bool

    @classmethod
    def of(cls, column: Column) -> ValueAxis:
        """Lay out the values of a column."""
        if not column.is_measured or not column.n_values:
            return cls(column.kind, 0, 0, max(0.0, column.n_values - 1.0), is_whole=not column.is_measured)
        if column.kind == "decimal":
            exponent = int(np.frexp(np.abs(column.values).max())[1])
            scaled = np.ldexp(column.values, -exponent)
            return cls(column.kind, float(scaled[0]), exponent, float(scaled[-1] - scaled[0]), is_whole=False)
        first, last = column.values[[0, -1]].astype(np.int64).tolist()
        is_whole = column.kind != "datetime" and last - first < _EXACT
        return cls(column.kind, first, 0, float(last - first), is_whole=is_whole)

    def at(self, values: ValueArray) -> FloatArray:
        """Return the places of values of the column's kind."""
        if self.kind == "decimal":
            return np.asarray(np.ldexp(values, -self.exponent) - self.first)
        if values.dtype == object:
            return np.arange(len(values), dtype=np.float64)
        # Exact in Python's integers, where a difference may not fit 64 bits.
        return np.array([float(value - self.first) for value in values.astype(np.int64).tolist()])

    def bounds(self, texts: Sequence[str]) -> list[Fraction | float]:
        """Return the places of the ends of intervals."""
        if self.kind in _DAYS:
            days, codes = from_texts("", whole_days(texts), self.kind)  # type: ignore[arg-type]  # a kind
            return [*self.at(days.values)[codes].tolist()]
        if self.kind == "decimal":
            unit = Fraction(2) ** self.exponent
            return [float(Fraction(to_exact(text)) / unit) - self.first for text in texts]
        return [Fraction(to_exact(text)) - Fraction(self.first) for text in texts]

    def number(self, place: float) -> float:
        """Return the number at a place."""
        return float(np.ldexp(place + self.first, self.exponent))

    def variance(self, of_places: float) -> float:
        """Return the variance of numbers from that of their places."""
        # Of numbers near the largest float it is infinite.
        with np.errstate(over="ignore"):
            return float(np.ldexp(of_places, 2 * self.exponent))


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A column of the original, and what its published cells stand for on the same axis.

    Attributes
    ----------
    column : Column
        Of the original.
    axis : ValueAxis
    original, published : Spread
    """

    column: Column
    axis: ValueAxis
    original: Spread
    published: Spread


def told(original: Frame, claim: Classes | Matchings) -> Frame:
    """Return the original with what a claim says of how its columns are read."""
    specs = {
        name: ColumnSpec(spec.kind, spec.order) if name in claim.columns else spec
        for name, spec in claim.specs.items()
        if name in original.columns
    }
    return original.told({name: each for name, each in claim.origins.items() if name in original.columns}).told(specs)


def read_column(
    original: Frame, published: Frame, claim: Classes | Matchings, name: str, pseudonyms: Collection[str] = ()
) -> Standing:
    """Read a column of a release beside that of its original.

    Parameters
    ----------
    original : Frame
        As `told` returns it.
    published : Frame
    claim : Classes or Matchings
        What labels mean and how columns were typed.
    name : str
    pseudonyms : collection of str
        Columns whose cells were replaced.

    Raises
    ------
    InputError
        What its cells stand for cannot be told: why.
    """
    if name in pseudonyms:
        raise InputError(with_hint("its cells are pseudonyms.", "they stand for no value."))
    if name not in original.columns:
        raise InputError(with_hint("the original does not have it.", "pass the table that the release was made from."))
    if untold((name,), claim.hierarchies):
        msg = "its labels mean groups made from the data, or what a hierarchy file says."
        raise InputError(with_hint(msg, "pass the policy for the file; groups are known in Python alone."))
    table = Table.encode(original, [name], typed=[name] if name in claim.sensitive else [])
    column, axis = table.columns[0], ValueAxis.of(table.columns[0])
    if name in claim.columns:
        ladder = claim.hierarchies.get(name)
        given = None if ladder is None else Hierarchy.build(ladder, column, totals(table, name)[1:], unknown="suppress")
        spread = _read_cells(*published_cells(published, name, claim.specs.get(name)), column, axis, given)
    else:
        spread = _kept(original, published, claim, name, column, axis)
    return Standing(column, axis, _of_values(column, axis, table.codes[0]), spread)


def read_alike(standing: Standing, others: Frame) -> Spread:
    """Read other originals, told alike, on the axis of a column."""
    name = standing.column.name
    texts, rows = listed_cells(others.values(name), name)
    return _of_texts(texts, rows, standing.column, standing.axis, star=False)


def _of_values(column: Column, axis: ValueAxis, codes: CodeArray) -> Spread:
    """Return the original's own column: every value is a cell, and the missing one is the last."""
    n_values = column.n_values
    rows = np.where(codes < 0, n_values, codes).astype(np.int32)
    runs = _CellRuns(axis, n_values + 1)
    runs.add(np.arange(n_values), axis.at(column.values))
    runs.missing[n_values] = 1
    return runs.spread(rows)


def _kept(
    original: Frame, published: Frame, claim: Classes | Matchings, name: str, column: Column, axis: ValueAxis
) -> Spread:
    """Read a column that is published as it came, but for stars where it is sensitive."""
    spelled = claim.specs.get(name, ColumnSpec()).spelling.completed(original.spelling(name).spelling)
    texts, rows = listed_cells(published.told({name: spelled}).values(name), name)
    return _of_texts(texts, rows, column, axis, star=name in claim.sensitive)


def _of_texts(texts: Sequence[str | None], rows: CodeArray, column: Column, axis: ValueAxis, *, star: bool) -> Spread:
    """Read cells that are values, whatever they look like; new values of a category come behind the known."""
    runs = _CellRuns(axis, len(texts))
    is_value = np.array([text is not None and not (star and text == SUPPRESSED) for text in texts], dtype=bool)
    cells = np.flatnonzero(is_value)
    values = [text or "" for text, is_one in zip(texts, is_value, strict=True) if is_one]
    if column.is_measured:
        parsed, codes = from_texts(column.name, values, column.kind)
        runs.add(cells, axis.at(parsed.values)[codes])
    else:
        code_of = {text: code for code, text in enumerate(column.texts())}
        runs.add(cells, np.array([code_of.setdefault(text, len(code_of)) for text in values], dtype=np.float64))
    for cell in np.flatnonzero(~is_value).tolist():
        runs.missing[cell] = texts[cell] is None
        runs.is_told[cell] = texts[cell] is None
    return runs.spread(rows)


def _read_cells(
    texts: Sequence[str | None], rows: CodeArray, column: Column, axis: ValueAxis, ladder: Hierarchy | None
) -> Spread:
    """Read the cells of a quasi-identifier."""
    runs, intervals, others, values = _CellRuns(axis, len(texts)), {}, [], {}
    code_of = {text: code for code, text in enumerate(column.texts())}
    labels = {label for level in ladder.labels[1:] for label in level} if ladder else set()
    places = axis.at(column.values)
    for cell, text in enumerate(texts):
        if text is None:
            runs.missing[cell] = 1
            continue
        form, ends, _ = read(text)
        if form == "any":
            runs.is_told[cell] = False
        elif ends is not None and column.is_measured:
            intervals[cell] = ends
        elif text in code_of and text not in labels:
            values[cell] = code_of[text]
        else:
            others.append(cell)
    runs.add([*values], places[[*values.values()]])
    _add_covered(runs, others, [texts[cell] for cell in others], column, axis, ladder)
    _add_intervals(runs, intervals, axis)
    return runs.spread(rows)


def _add_covered(
    runs: _CellRuns,
    cells: Sequence[int],
    texts: Sequence[str | None],
    column: Column,
    axis: ValueAxis,
    ladder: Hierarchy | None,
) -> None:
    """Add sets and labels: the values that they cover, each equally, the missing one among them."""
    if not cells:
        return
    values = column.texts()
    spec = ColumnSpec(column.kind, tuple(values) if column.kind == "ordered" and values else None)
    which = (np.arange(n, dtype=np.int32)[None] for n in (len(cells), len(values) + 1))
    classes, people = which
    cell, value = pair_rows([texts], classes, [[*values, None]], people, [spec], [ladder], [column.name])
    n_covered = np.bincount(cell, minlength=len(cells))
    if not n_covered.all():
        msg = f"{int((n_covered == 0).sum())} of its cells cover no value of the original."
        raise InputError(with_hint(msg, "pass the policy that says what its labels mean, and the right original."))
    share = 1 / n_covered[cell]
    known = value < len(values)
    runs.add(np.array(cells)[cell[known]], axis.at(column.values)[value[known]], share=share[known])
    np.add.at(runs.missing, np.array(cells)[cell[~known]], share[~known])


def _add_intervals(runs: _CellRuns, intervals: Mapping[int, Ends], axis: ValueAxis) -> None:
    """Add intervals, open ones to where the column's cells end."""
    texts = [*dict.fromkeys(text for ends in intervals.values() for text in ends[:2] if text is not None)]
    if not texts:
        return
    bounds = dict(zip(texts, axis.bounds(texts), strict=True))
    named = sorted({float(place) for place in bounds.values()})
    # A single bound tells no step.
    lower, upper = (named[1] - named[0], named[-1] - named[-2]) if len(named) > 1 else (0.0, 0.0)
    values = [place for low in runs.lows for place in low.tolist()]
    bottom, top = (
        min([named[0] - lower, *values]),
        max([named[-1] + upper, *(place + axis.is_whole for place in values)]),
    )
    lows, widths = [], []
    for ends in intervals.values():
        low = bottom if ends.low is None else bounds[ends.low]
        high = top if ends.high is None else bounds[ends.high]
        if axis.is_whole:
            low, high = math.ceil(low), math.floor(high) + 1 if ends.is_closed else math.ceil(high)
            low, high = (min(low, high - 1), high) if ends.low is None else (low, max(high, low + 1))
        lows.append(float(low))
        widths.append(float(high - low))
    runs.add([*intervals], np.array(lows), width=np.array(widths))


class _CellRuns:
    """The runs of a column's cells, as they are found."""

    def __init__(self, axis: ValueAxis, n_cells: int) -> None:
        self.axis = axis
        self.is_told = np.ones(n_cells, dtype=bool)
        self.missing = np.zeros(n_cells)
        self.cells: list[Any] = []
        self.lows: list[FloatArray] = []
        self.widths: list[FloatArray] = []
        self.shares: list[FloatArray] = []

    def add(self, cells: Any, low: FloatArray, *, width: FloatArray | None = None, share: Any = 1.0) -> None:
        """Add runs that begin at places: single values when no width is given."""
        self.cells.append(np.asarray(cells, dtype=np.int64))
        self.lows.append(low)
        self.widths.append(np.full(len(low), float(self.axis.is_whole)) if width is None else width)
        self.shares.append(np.broadcast_to(np.asarray(share, dtype=np.float64), low.shape))

    def spread(self, rows: CodeArray) -> Spread:
        parts = [np.concatenate([np.empty(0), *each]) for each in (self.cells, self.lows, self.widths, self.shares)]
        cell, low, width, share = parts
        return Spread(rows, self.is_told, self.missing, cell.astype(np.int64), low, width, share, self.axis.is_whole)
