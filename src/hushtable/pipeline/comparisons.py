"""Which rows an expression holds of: cells are compared by their values, as their column is read.

A comparison with a missing cell neither holds nor fails, and what needs it does not hold; ``IS`` and ``IS NOT``
always have an answer: a missing cell is ``pd.NA`` and nothing else. (PETsARD leaves it to pandas, by which ``!=``
holds of a missing cell in most columns.)
"""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray
from hushtable.columns import ColumnSpec, Kind, canonical, strings
from hushtable.errors import ColumnError, with_hint
from hushtable.io import Frame
from hushtable.pipeline.conditions import (
    Agreement,
    Cell,
    Comparison,
    Condition,
    Day,
    Every,
    Missing,
    Number,
    Operand,
    Some,
    Sum,
    Text,
    Value,
    columns_of,
)
from hushtable.pipeline.expressions import number
from hushtable.tables import Table

__all__ = ["HOLDS", "Rows", "holding"]

HOLDS: Final[Mapping[Kind, str]] = {
    "integer": "numbers",
    "decimal": "numbers",
    "date": "dates",
    "datetime": "dates",
    "ordered": "texts",
    "category": "texts",
}
"""What may be compared with its like."""

_COMPARE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "IS": operator.eq,
    "IS NOT": operator.eq,
}
_ORDERING: Final = ("<", "<=", ">", ">=")
_PLAIN: Final = ColumnSpec()
_ULP: Final = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Coded rows, and how the texts of their columns are spelled."""

    table: Table
    specs: Mapping[str, ColumnSpec]

    @classmethod
    def of(cls, frame: Frame, names: Sequence[str]) -> Rows:
        """Code some columns of a frame."""
        return cls(Table.encode(frame, names), {name: frame.spec(name) for name in names})


def holding(condition: Condition, rows: Rows, name: str) -> BoolArray:
    """Tell of every row whether a condition holds.

    Parameters
    ----------
    condition : Condition
    rows : Rows
        With every column that it names.
    name : str
        What messages call it.

    Raises
    ------
    ColumnError
        What cannot be compared is: texts by their order, numbers with dates ...
    """
    try:
        return _judged(condition, rows).holds
    except ColumnError as error:
        msg = f"{name}: {error}"
        raise ColumnError(msg) from None


class _Truth(NamedTuple):
    """Of every row, whether a condition holds and whether it fails; neither where a missing cell leaves it open."""

    holds: BoolArray
    fails: BoolArray


def _judged(condition: Condition, rows: Rows) -> _Truth:
    match condition:
        case Every(parts):
            return reduce(_both, (_judged(part, rows) for part in parts))
        case Some(parts):
            return reduce(_either, (_judged(part, rows) for part in parts))
        case Agreement(left, right, is_same):
            same = _alike(_judged(left, rows), _judged(right, rows))
            return same if is_same else _Truth(same.fails, same.holds)
        case Comparison():
            return _compared(condition, rows)


def _both(one: _Truth, other: _Truth) -> _Truth:
    return _Truth(one.holds & other.holds, one.fails | other.fails)


def _either(one: _Truth, other: _Truth) -> _Truth:
    return _Truth(one.holds | other.holds, one.fails & other.fails)


def _alike(one: _Truth, other: _Truth) -> _Truth:
    same = one.holds & other.holds | one.fails & other.fails
    return _Truth(same, one.holds & other.fails | one.fails & other.holds)


def _compared(comparison: Comparison, rows: Rows) -> _Truth:
    """Compare the distinct values where there is one column, and the rows where there are several."""
    names = columns_of(comparison)
    codes = {name: rows.table.codes[rows.table.index(name)] for name in names}
    if len(names) > 1:
        return _truth(comparison, rows, codes)
    # The last place is that of the missing cells, which -1 takes.
    places = np.append(np.arange(rows.table.column(names[0]).n_values), -1)
    holds, fails = _truth(comparison, rows, {names[0]: places})
    return _Truth(holds[codes[names[0]]], fails[codes[names[0]]])


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One side of a comparison.

    Attributes
    ----------
    values : ndarray, shape (n,), or one value
    present : ndarray of bool, shape (n,), or one
    holds : {"numbers", "dates", "texts"} or None
        What the values are; None where there are none.
    name : str
        What messages call it.
    spec : ColumnSpec
        How its texts are spelled.
    slack : ndarray of float, shape (n,), or one, optional
        How far rounding may have moved a sum.
    """

    values: Any
    present: Any
    holds: str | None
    name: str
    spec: ColumnSpec = _PLAIN
    slack: Any = None


def _truth(comparison: Comparison, rows: Rows, codes: Mapping[str, CodeArray]) -> _Truth:
    left, sign, right = comparison.left, comparison.sign, comparison.right
    if isinstance(left, Value):
        other = _side(right, rows, codes)
        return _answer(_beside(left, other, sign), sign, other)
    one = _side(left, rows, codes)
    return _answer(one, sign, _beside(right, one, sign) if isinstance(right, Value) else _side(right, rows, codes))


def _answer(left: _Side, sign: str, right: _Side) -> _Truth:
    both = np.asarray(left.present & right.present)
    is_so = both & _outcome(left, sign, right)
    if not sign.startswith("IS"):
        return _Truth(is_so, both & ~is_so)
    same = is_so | ~(left.present | right.present)
    return _Truth(same, ~same) if sign == "IS" else _Truth(~same, same)


def _outcome(left: _Side, sign: str, right: _Side) -> Any:
    """Compare values; where one is missing, what comes out means nothing."""
    if left.holds is None or right.holds is None:
        return False
    if left.holds != right.holds:
        msg = with_hint(f"{left.name} holds {left.holds}, {right.name} {right.holds}.", "compare what is alike.")
        raise ColumnError(msg)
    if left.holds == "texts" and sign in _ORDERING:
        msg = with_hint(
            f"{left.name} holds texts, which have no order.",
            "compare it by == or !=; or say what the column is, in a schema or by na_values.",
        )
        raise ColumnError(msg)
    if left.slack is None and right.slack is None:
        return _COMPARE[sign](left.values, right.values)
    gap = np.subtract(left.values, right.values, dtype=np.float64)
    # Tenths add up to whole numbers, if floats do not.
    return _COMPARE[sign](np.where(np.abs(gap) <= _slack((left, right)), 0.0, gap), 0.0)


def _slack(sides: Sequence[_Side]) -> Any:
    return sum(side.slack for side in sides if side.slack is not None)


def _side(operand: Operand, rows: Rows, codes: Mapping[str, CodeArray]) -> _Side:
    match operand:
        case Cell(name):
            column = rows.table.column(name)
            present, called = codes[name] >= 0, f"column {name!r}"
            if not column.n_values:
                return _Side(np.zeros(len(present)), present, None, called)
            return _Side(column.values[codes[name]], present, HOLDS[column.kind], called, rows.specs[name])
        case Sum(added, taken):
            return _total([_side(each, rows, codes) for each in added], [_side(each, rows, codes) for each in taken])
        case Number(value):
            return _Side(value, np.True_, "numbers", "a number")
    msg = f"{type(operand).__name__} stands alone"
    raise AssertionError(msg)


def _total(added: Sequence[_Side], taken: Sequence[_Side]) -> _Side:
    terms = (*added, *taken)
    for term in terms:
        if term.holds not in ("numbers", None):
            msg = with_hint(f"{term.name} holds {term.holds}, which cannot be added.", "add numbers only.")
            raise ColumnError(msg)
    values = _sum(np.float64(each.values) for each in added) - _sum(np.float64(each.values) for each in taken)
    size = _sum(np.abs(np.float64(each.values)) for each in terms)
    present = reduce(operator.and_, (each.present for each in terms))
    return _Side(values, present, "numbers", "a sum", slack=_slack(terms) + len(terms) * _ULP * size)


def _sum(values: Iterable[Any]) -> Any:
    return sum(values)


def _beside(value: Value, other: _Side, sign: str) -> _Side:
    """Read a value as the cells beside it are read."""
    match value:
        case Missing():
            return _Side(0, np.False_, None, "pd.NA")
        case Number(known):
            return _like(known, "numbers", "a number", other)
        case Day(day):
            return _like(np.datetime64(day, "us"), "dates", "a date", other)
        case Text(text):
            return _Side(_read(text, other, sign), np.True_, other.holds, "a text")


def _like(known: Any, holds: str, name: str, other: _Side) -> _Side:
    if other.holds not in (holds, None):
        msg = f"{other.name} holds {other.holds}, and is compared with {name}."
        raise ColumnError(with_hint(msg, _WRITTEN[str(other.holds)]))
    return _Side(known, np.True_, holds, name)


def _read(text: str, other: _Side, sign: str) -> Any:
    """Read a text as a value of its neighbour: as the file spells it, or as values are written here."""
    if other.holds not in ("numbers", "dates"):
        return text
    written = canonical(strings("", [text]), other.spec)[0]
    reader = number if other.holds == "numbers" else _moment
    found = None if written is None else reader(written.strip().removeprefix("+"))
    if found is not None:
        return found
    if other.holds == "numbers" and sign not in _ORDERING:
        # A text that no number is equal to: elsewhere in the column there may be such texts.
        return np.nan
    msg = with_hint(
        f"{other.name} holds {other.holds}, and is compared with a text that is none.", _WRITTEN[other.holds]
    )
    raise ColumnError(msg)


_WRITTEN: Final = {
    "numbers": "compare it with a number.",
    "dates": "compare it with a day, DATE(2020-01-31).",
    "texts": "compare it with a text in quotes; or say what the column is, in a schema or by na_values.",
}


def _moment(text: str) -> Any:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo else np.datetime64(moment, "us")
