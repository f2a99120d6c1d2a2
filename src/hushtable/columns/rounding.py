"""Rounding of numbers that are kept: multiples of a step, significant digits, top and bottom codes.

One expression rounds the columns of every library and engine. What was published is judged in `claims/rounded.py`, by
the texts of the cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Final, TypeAlias, cast

import narwhals as nw
import numpy as np
import polars as pl

from hushtable._types import CodeArray, FloatArray
from hushtable.columns.column import Column, ColumnSpec, Kind
from hushtable.columns.spellings import to_canonical_texts
from hushtable.errors import ColumnError, InputError

RoundedNumber: TypeAlias = int | float

_MOST_DIGITS: Final = 9
_LEAST_STEP: Final = 1e-9
_LARGEST_NUMBER: Final = 1e15  # of a step or a code: floats hold all whole numbers up to there
_EXPONENTS: Final = range(-9, 15)  # of numbers whose significant digits are counted
_MOST_PLACES: Final = 40  # of a decimal that is looked at
_MOST_STEPS: Final = 2.0**48  # beyond so many steps a float is too coarse to be rounded
_SLACK: Final = 1 + 2.0**-50  # a decimal half, such as 1.005, may be a little less as a float


@dataclass(frozen=True, slots=True)
class KeptRounding:
    """How the numbers of a kept column are rounded before anything else sees them.

    Attributes
    ----------
    round : number, optional
        Cells become multiples of it; halves go away from 0.
    digits : int, optional
        Cells keep so many significant digits: 12,345 with 2 is 12,000.
    top, bottom : number, optional
        What is ``top`` or more becomes ``top``, what is ``bottom`` or less becomes ``bottom``; nothing else is rounded
        beyond them. So numbers that are rounded twice are as if they were rounded once.

    Examples
    --------
    >>> KeptRounding(round=100, top=5000).describe()
    'multiples of 100, top-coded at 5000'
    """

    round: RoundedNumber | None = None
    digits: int | None = None
    top: RoundedNumber | None = None
    bottom: RoundedNumber | None = None

    def __post_init__(self) -> None:
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        if all(entry is None for entry in given.values()):
            raise InputError("a rounding says nothing.", hint="give round, digits, top or bottom.")
        for name, entry in given.items():
            if entry is not None and not _is_number(entry):
                raise InputError(f"{name} = {entry!r}.", hint="give a number of at most 1e15.")
        if self.round is not None and self.digits is not None:
            raise InputError("round and digits were both given.", hint="leave one of the two out.")
        if self.round is not None and self.round < _LEAST_STEP:
            raise InputError(f"round = {self.round!r}.", hint="give a step above 0, for instance 100.")
        if self.digits is not None and (type(self.digits) is not int or not 1 <= self.digits <= _MOST_DIGITS):
            raise InputError(f"digits = {self.digits!r}.", hint=f"a whole number from 1 to {_MOST_DIGITS}.")
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            raise InputError(f"bottom = {self.bottom} is not below top = {self.top}.", hint="swap them.")

    @classmethod
    def from_entry(cls, entry: RoundingEntry) -> KeptRounding:
        """Read a rounding: a step alone, or a mapping such as ``{"digits": 2, "top": 9000}``."""
        if isinstance(entry, KeptRounding):
            return entry
        if not isinstance(entry, Mapping):
            return cls(round=entry)
        strangers = [name for name in entry if name not in cls.__slots__]
        if strangers:
            raise InputError(f"a rounding has no entry {strangers[0]!r}.", hint="it has round, digits, top, bottom.")
        digits = cast("int | None", entry.get("digits"))
        return cls(entry.get("round"), digits, entry.get("top"), entry.get("bottom"))

    def to_dict(self) -> dict[str, RoundedNumber]:
        """Return the entries that were given."""
        return {name: entry for name in self.__slots__ if (entry := getattr(self, name)) is not None}

    def describe(self) -> str:
        """Describe what the published numbers are."""
        what = "numbers"
        if self.round is not None:
            what = f"multiples of {format_number(self.round)}"
        elif self.digits is not None:
            what = f"numbers of {self.digits} significant digit{'s' * (self.digits > 1)}"
        if self.top is not None and self.bottom is not None:
            return f"{what}, bottom-coded at {format_number(self.bottom)} and top-coded at {format_number(self.top)}"
        if self.top is not None:
            return f"{what}, top-coded at {format_number(self.top)}"
        return what if self.bottom is None else f"{what}, bottom-coded at {format_number(self.bottom)}"

    @property
    def kind(self) -> Kind:
        """The kind of the published numbers, as far as the rounding tells."""
        given = [each for each in (self.round, self.top, self.bottom) if each is not None]
        return "integer" if self.round is not None and all(each == int(each) for each in given) else "decimal"

    def spec(self, spelled: ColumnSpec) -> ColumnSpec:
        """Return how the published numbers of a column are spelled, from how those of the input are."""
        return ColumnSpec(self.kind, decimal=spelled.decimal, missing_values=spelled.missing_values)

    def can_give(self, text: str) -> bool:
        """Tell whether a published cell may be the number that a text spells; False if it spells none."""
        try:
            number = Decimal(text.strip())
        except ArithmeticError:
            return False
        return number.is_finite() and self.allows(number)

    def allows(self, number: Decimal) -> bool:
        """Tell whether a number is a multiple of the step, or has so few digits, and lies within the codes."""
        if abs(int(number.as_tuple().exponent)) > _MOST_PLACES:
            return False
        top, bottom = (None if code is None else Decimal(str(code)) for code in (self.top, self.bottom))
        if (top is not None and number > top) or (bottom is not None and number < bottom):
            return False
        if number in (top, bottom):
            return True
        if self.digits is not None:
            return len("".join(map(str, number.as_tuple().digits)).rstrip("0")) <= self.digits
        return self.round is None or (Fraction(number) / Fraction(str(self.round))).denominator == 1


RoundingEntry: TypeAlias = KeptRounding | RoundedNumber | Mapping[str, RoundedNumber]
"""A rounding as a caller gives it: a step alone, or entries by their names."""


def _is_number(entry: object) -> bool:
    return type(entry) in (int, float) and math.isfinite(entry) and abs(entry) <= _LARGEST_NUMBER  # type: ignore[arg-type]


def format_number(number: RoundedNumber) -> str:
    """Format a number in full."""
    return np.format_float_positional(float(number), trim="-")


def round_expression(column: nw.Expr, rounding: KeptRounding) -> nw.Expr:
    """Return a column of floats, rounded. NaN becomes missing; what is too large to be rounded stays, and is refused.

    Every step is a fraction of whole numbers that floats hold, so that results are the floats of their decimals.
    """
    exact = column = nw.when(~column.is_nan()).then(column)
    size = exact.abs()
    if rounding.round is not None:
        column = _round_to(column, size, *_as_fraction(Fraction(str(rounding.round))))
    elif rounding.digits is not None:
        step = Fraction(10) ** (1 - rounding.digits)
        up, down = (nw.lit(float(each)) for each in _as_fraction(step * Fraction(10) ** _EXPONENTS[0]))
        for exponent in _EXPONENTS[1:]:
            next_up, next_down = _as_fraction(step * Fraction(10) ** exponent)
            is_larger = size >= 10.0**exponent
            up = nw.when(is_larger).then(nw.lit(next_up)).otherwise(up)
            down = nw.when(is_larger).then(nw.lit(next_down)).otherwise(down)
        column = _round_to(column, size, up, down)
    if rounding.top is not None:
        top = float(rounding.top)
        column = nw.when((exact >= top) | (column > top)).then(nw.lit(top)).otherwise(column)
    if rounding.bottom is not None:
        bottom = float(rounding.bottom)
        column = nw.when((exact <= bottom) | (column < bottom)).then(nw.lit(bottom)).otherwise(column)
    return column


def _as_fraction(step: Fraction) -> tuple[float, float]:
    return float(step.numerator), float(step.denominator)


def _round_to(column: nw.Expr, size: nw.Expr, numerator: nw.Expr | float, denominator: nw.Expr | float) -> nw.Expr:
    """Round to multiples of a fraction."""
    n_steps = size * denominator / numerator
    rounded = (n_steps * _SLACK + 0.5).floor() * numerator / denominator
    # No -0, which a reader of the file tells from 0; an optimizer would leave out that 0 is added.
    signed = nw.when((column < 0) & (rounded > 0)).then(-rounded).otherwise(rounded)
    return nw.when(n_steps < _MOST_STEPS).then(signed).otherwise(column)


def check_rounding(name: str, rounding: KeptRounding, spec: ColumnSpec) -> None:
    """Raise ColumnError where a rounded number could be one that is declared missing."""
    if any(rounding.can_give(text) for text in spec.missing_values or ()):
        raise ColumnError(
            f"column {name!r} is rounded, and a rounded number could be one that is declared missing.",
            hint="choose another step, or top and bottom between which no missing value lies (bottom: 1).",
        )


def round_series(series: pl.Series, rounding: KeptRounding, spec: ColumnSpec, name: str) -> pl.Series:
    """Return a column of numbers, or of texts that spell them, rounded; it keeps its type.

    Parameters
    ----------
    series : polars.Series
        Without cells that are declared missing.
    rounding : KeptRounding
    spec : ColumnSpec
        How texts spell numbers; rounded ones have its decimal mark, and nothing groups their digits.
    name : str
        For errors, which quote no cell.

    Raises
    ------
    ColumnError
        The column holds other cells than numbers.
    """
    if series.dtype.is_numeric():
        try:
            return _round_series(series.cast(pl.Float64), rounding).cast(series.dtype)
        except pl.exceptions.PolarsError:
            raise ColumnError(
                f"column {name!r} has a type that cannot hold its rounded numbers.", hint="cast it to 64 bits."
            ) from None
    if isinstance(series.dtype, pl.Null):
        return series
    if not isinstance(series.dtype, (pl.String, pl.Categorical, pl.Enum)):
        raise ColumnError(f"column {name!r} is rounded, and holds no numbers.", hint="round columns of numbers only.")
    cells = series.cast(pl.String)
    texts = to_canonical_texts(cells, spec).str.strip_chars()
    texts = texts.set(texts == "", None)
    numbers = texts.cast(pl.Float64, strict=False).fill_nan(None)
    n_others = numbers.null_count() - texts.null_count()
    if n_others:
        raise ColumnError(
            f"column {name!r} is rounded, and {n_others:,} of its cells are no numbers.",
            hint="say how they are written (decimal, thousands), or which mean a missing value (missing_values, "
            "odd_cells: missing).",
        )
    rounded = _round_series(numbers, rounding)
    distinct = rounded.drop_nulls().unique()
    mark = spec.decimal or "."
    written = pl.Series([format_number(each).replace(".", mark) for each in distinct.to_list()], dtype=pl.String)
    new = rounded.replace_strict(distinct, written, return_dtype=pl.String, default=None)
    return new.zip_with(rounded.is_not_null(), cells).alias(series.name)


def _round_series(numbers: pl.Series, rounding: KeptRounding) -> pl.Series:
    frame = nw.from_native(pl.DataFrame({"x": numbers}), eager_only=True)
    rounded: pl.Series = frame.select(round_expression(nw.col("x"), rounding).alias("x")).get_column("x").to_native()
    return rounded.alias("")


def round_floats(numbers: FloatArray, rounding: KeptRounding) -> FloatArray:
    """Return an array of floats, rounded."""
    return _round_series(pl.Series("", numbers), rounding).to_numpy()


def round_values(column: Column, rounding: KeptRounding) -> tuple[Column, CodeArray]:
    """Return a coded column with rounded values, and the new code of each old one; at the end -1, for missing cells."""
    if column.kind not in ("integer", "decimal"):
        raise ColumnError(
            f"column {column.name!r} is rounded, and holds no numbers.", hint="round columns of numbers only."
        )
    rounded = round_series(pl.Series("", column.values), rounding, ColumnSpec(), column.name).to_numpy()
    values, codes = np.unique(rounded, return_inverse=True)
    return Column(column.name, column.kind, values, column.by_rank), np.append(codes, -1).astype(np.int32)
