"""To how many decimals, and to which unit of time, tables are compared: found in them, or given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hushtable.columns import Column
from hushtable.errors import ColumnError, InputError, listed, with_hint
from hushtable.tables import Table, to_decimals

__all__ = ["UNITS", "datetime_precisions", "numeric_precisions"]

UNITS: Final = ("D", "h", "m", "s", "ms", "us")
"""Units of time as numpy writes them, the coarsest first."""

# The digits that a float of a usual size holds reliably.
_MOST_DECIMALS: Final = 15
# Powers of ten that are floats.
_MOST_GIVEN: Final = 300


def numeric_precisions(tables: Sequence[Table], given: str | int | Mapping[str, int] | None) -> dict[str, int]:
    """Say with how many decimals the columns of numbers are compared; columns that are not in it, exactly.

    ``"auto"`` takes, for every column of decimal numbers, the fewest that write all values of one of the tables.

    Raises
    ------
    InputError
        A precision is no whole number.
    ColumnError
        A mapping names a column that does not exist or holds no numbers.
    """
    able = _columns_of(tables, ("integer", "decimal"))
    if given == "auto":
        return {name: min(map(_n_decimals, columns)) for name, columns in able.items() if _has("decimal", columns)}
    return _per_column(
        given,
        able,
        lambda value: type(value) is int and abs(value) <= _MOST_GIVEN,
        (
            "numeric_precision",
            "numbers",
            f'a whole number of decimals from -{_MOST_GIVEN} to {_MOST_GIVEN}, "auto" or None',
        ),
    )


def datetime_precisions(tables: Sequence[Table], given: str | Mapping[str, str] | None) -> dict[str, str]:
    """Say to which unit the columns of moments are cut before they are compared.

    ``"auto"`` takes, for every column, the coarsest unit in which all moments of one of the tables are whole.

    Raises
    ------
    InputError
        A precision is no unit.
    ColumnError
        A mapping names a column that does not exist or holds no dates.
    """
    able = _columns_of(tables, ("date", "datetime"))
    if given == "auto":
        finer = {name: columns for name, columns in able.items() if _has("datetime", columns)}
        return {name: min(map(_unit, columns), key=UNITS.index) for name, columns in finer.items()}
    return _per_column(
        given,
        able,
        lambda value: value in UNITS,
        ("datetime_precision", "dates", f'one of {listed(UNITS)}, "auto" or None'),
    )


def _columns_of(tables: Sequence[Table], kinds: tuple[str, str]) -> dict[str, list[Column]]:
    """Return the columns that hold values of two kinds only, or none, as they are in tables that have values there."""
    columns = {}
    for name in tables[0].names:
        valued = [column for column in (table.column(name) for table in tables) if column.n_values]
        if all(column.kind in kinds for column in valued):
            columns[name] = valued
    return columns


def _has(kind: str, columns: Sequence[Column]) -> bool:
    return any(column.kind == kind for column in columns)


def _per_column(
    given: Any, able: Mapping[str, Any], fits: Callable[[Any], bool], words: tuple[str, str, str]
) -> dict[str, Any]:
    """Return a precision for every column it is for; ``words`` are the option, what it is for, and what it may be."""
    option, kind, expected = words
    if given is None:
        return {}
    chosen = dict(given) if isinstance(given, Mapping) else dict.fromkeys(able, given)
    for value in chosen.values() if isinstance(given, Mapping) else [given]:
        if not fits(value):
            raise InputError(with_hint(f"{option} = {value!r}.", f"give {expected}."))
    unable = [name for name in chosen if name not in able]
    if unable:
        hint = f"it may name {listed(able)}." if able else f"no column looked at holds {kind}; leave it out."
        raise ColumnError(with_hint(f"{option} names {listed(unable)}, which hold no {kind}.", hint))
    return chosen


def _n_decimals(column: Column) -> int:
    if column.kind == "integer":
        return 0
    for n_decimals in range(_MOST_DECIMALS):
        if (to_decimals(column.values, n_decimals) == column.values).all():
            return n_decimals
    return _MOST_DECIMALS


def _unit(column: Column) -> str:
    for unit in UNITS[:-1]:
        if (column.values.astype(f"datetime64[{unit}]") == column.values).all():
            return unit
    return UNITS[-1]
