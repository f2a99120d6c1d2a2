"""Calendar units: what dates generalize to, and where units begin and end."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final

import numpy as np

from hushtable._types import CountArray, ValueArray
from hushtable.columns import Column
from hushtable.errors import HierarchyError, listed, with_hint
from hushtable.hierarchy.ladder import Ladder, Level, as_tuple, empty, unfit

__all__ = ["UNITS", "Dates", "first_day", "unit_label", "unit_of"]

UNITS: Final = MappingProxyType({"day": 0, "month": 1, "quarter": 3, "year": 12, "decade": 120})


@dataclass(frozen=True, slots=True)
class Dates:
    """Calendar units: ``2024-05``, ``2024-Q2``, ``2024``, ``2020s``.

    Parameters
    ----------
    levels : sequence of {"day", "month", "quarter", "year", "decade"}
        From fine to coarse.

    Notes
    -----
    Shares are days over the days from the first value to the last; a leaf is a day
    in a date column and no time in a datetime column.
    """

    levels: tuple[str, ...] = ("month", "quarter", "year", "decade")
    name: ClassVar[str] = "dates"

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", as_tuple(self.levels))
        places = [list(UNITS).index(unit) if unit in UNITS else -1 for unit in self.levels]
        if not places or -1 in places or places != sorted(set(places)):
            msg = with_hint(f"dates: levels = {list(self.levels)}.", f"choose among {listed(UNITS)}, in this order.")
            raise HierarchyError(msg)

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the calendar units of a date or datetime column."""
        del counts
        if column.kind not in ("date", "datetime"):
            raise unfit(self.name, column, "dates", "declare its kind as date if its texts are ISO dates")
        if not column.n_values:
            return Ladder([empty() for _ in self.levels])
        days = column.values.astype("datetime64[D]")
        begin, end = days[0].astype(np.int64), days[-1].astype(np.int64) + 1
        leaf_share = float(1 / (end - begin)) if column.kind == "date" else 0.0
        levels = []
        for unit in self.levels:
            units, codes = np.unique(unit_of(days, unit), return_inverse=True)
            starts, ends = (first_day(each, unit).clip(begin, end) for each in (units, units + 1))
            labels = tuple(unit_label(number, unit) for number in units.tolist())
            levels.append(Level(codes.astype(np.int32), labels, (ends - starts) / (end - begin)))
        return Ladder(levels, leaf_share)

    def titles(self, n_levels: int) -> list[str]:
        """Return the units."""
        del n_levels
        return list(self.levels)


def unit_of(days: ValueArray, unit: str) -> CountArray:
    """Number the calendar units, from year 0 on; days from 1970 on."""
    if unit == "day":
        return days.astype(np.int64)
    months = days.astype("datetime64[M]").astype(np.int64) + 1970 * 12
    return np.asarray(months // UNITS[unit])


def first_day(units: CountArray, unit: str) -> CountArray:
    """Return the first day, from 1970 on, of calendar units by number."""
    if unit == "day":
        return units
    months = (units * UNITS[unit] - 1970 * 12).astype("datetime64[M]")
    return np.asarray(months.astype("datetime64[D]").astype(np.int64))


def unit_label(number: int, unit: str) -> str:
    """Write a calendar unit by number."""
    if unit == "day":
        return str(np.datetime64(number, "D"))
    if unit == "month":
        return f"{number // 12:04d}-{number % 12 + 1:02d}"
    if unit == "quarter":
        return f"{number // 4:04d}-Q{number % 4 + 1}"
    return f"{number:04d}" if unit == "year" else f"{number * 10:04d}s"
