"""Whether the columns of bounds beside a published column follow from its cells, and from nothing else.

The cells are read again, with code that shares nothing with what wrote the bounds but the grammar of cells.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from hushtable._types import BoolArray, CountArray
from hushtable.claims.grouping import label_rows, list_cells_with_points
from hushtable.claims.verdict import Failure, Verdict
from hushtable.columns import SUPPRESSED, ColumnSpec, bound_names, parse_cell, with_first_days
from hushtable.errors import ColumnError, InputError, quote_names
from hushtable.hierarchy import Dates, Hierarchy, Intervals, Suppression, Tails, Times, to_exact
from hushtable.io import frames
from hushtable.wording import join_names

if TYPE_CHECKING:
    from hushtable.claims.classes import ClaimOnColumns

_READABLE_RULES: Final = (Intervals, Tails, Dates, Times, Suppression)
"""Rules whose labels follow the grammar of cells; what other labels hold, no cell says."""

_EMPTY_SPEC: Final = ColumnSpec()


def columns_with_bounds(kinds: Mapping[str, str | None], hierarchies: Mapping[str, object]) -> tuple[str, ...]:
    """Return the columns whose cells have bounds: numbers, dates and times without labels of somebody's own."""
    rules = {name: each.rule if isinstance(each, Hierarchy) else each for name, each in hierarchies.items()}
    measured = [name for name, kind in kinds.items() if kind in _COUNTED_KINDS]
    return tuple(name for name in measured if name not in rules or isinstance(rules[name], _READABLE_RULES))


def check_any_bounds(bounded: tuple[str, ...], columns: Sequence[str]) -> tuple[str, ...]:
    """Return columns with bounds; raise InputError if there are none."""
    if bounded:
        return bounded
    raise InputError(
        f"bounds were asked for, and no quasi-identifier has any: {quote_names(columns)}.",
        hint="only numbers, dates and times have bounds, and no labels of a hierarchy file: leave `bounds` out.",
    )


def check_bound_names(bounded: Sequence[str], names: Sequence[str]) -> None:
    """Raise ColumnError if a column of bounds would have the name of another column."""
    for name in bounded:
        for bound_name in bound_names(name):
            if bound_name in names:
                raise ColumnError(
                    f"the bounds of column {name!r} would be called {bound_name!r}, as another column is.",
                    hint=f"rename {bound_name!r} in the input, or leave `bounds` out.",
                )


def add_bounds_to_verdict(claim: ClaimOnColumns, frame: frames.Frame, verdict: Verdict) -> Verdict:
    """Return a verdict that also says whether the bounds that are claimed follow from the published cells."""
    condition = f"bounds follow from the cells of {join_names(claim.bounds)}"
    failures, lacks = [], []
    for name in claim.bounds:
        spec = claim.specs.get(name, _EMPTY_SPEC)
        lacking = [each for each in bound_names(name) if each not in frame.columns]
        if lacking:
            failures.append(Failure(f"{condition}: the table lacks column {lacking[0]!r}"))
        elif spec.kind not in _COUNTED_KINDS:
            lacks.append(f"the kind of column {name!r} is not known: verify with the manifest, or say it in the policy")
        elif n_odd := int(frame.records[_find_odd_rows(frame, name, spec)].sum()):
            find = partial(_find_rows, name, spec)
            failures.append(Failure(f"{condition}: {n_odd} of {name} do not", 0, n_odd, n_odd, find))
    return replace(
        verdict,
        conditions=(*verdict.conditions, condition),
        failures=(*verdict.failures, *failures),
        unchecked={**verdict.unchecked, **({condition: lacks[0]} if lacks else {})},
    )


def _find_rows(name: str, spec: ColumnSpec, data: object) -> CountArray:
    return np.flatnonzero(_find_odd_rows(frames.read(data), name, spec))


def _find_odd_rows(frame: frames.Frame, name: str, spec: ColumnSpec) -> BoolArray:
    """Tell which rows have a bound that does not follow from the cell."""
    columns = (name, *bound_names(name))
    texts, rows = zip(*(list_cells_with_points(frame, each, spec) for each in columns), strict=True)
    labels, first = label_rows(np.array(rows))
    scale, is_odd = _COUNTED_KINDS[str(spec.kind)], np.zeros(len(first), dtype=bool)
    for place, row in enumerate(first.tolist()):
        cell, low, high = (of_column[codes[row]] for of_column, codes in zip(texts, rows, strict=True))
        is_odd[place] = (_place_of(low, scale), _place_of(high, scale)) != _limits_of(cell, scale)
    return np.asarray(is_odd[labels])


_Place: TypeAlias = int | float | Fraction
"""Numbers, days and microseconds, counted."""


class _Stretch(NamedTuple):
    """The places that a text names, from one to before another; where there are no gaps, the end is a limit."""

    begin: _Place
    end: _Place


class _CountedKind(NamedTuple):
    """How the values of a kind are counted."""

    run_of: Callable[[str], _Stretch | None]
    step: int  # between neighbouring values; 0 where they have no gaps, so that an end is a limit
    lowest: _Place = -math.inf
    highest: _Place = math.inf

    def find_begin(self, run: _Stretch | None) -> _Place | None:
        """Return the first value of a run."""
        return None if run is None else self._keep_possible(self._round_up(run.begin))

    def find_end(self, run: _Stretch | None, *, is_closed: bool) -> _Place | None:
        """Return the last value of a run, or the last one below it."""
        if run is None:
            return None
        return self._keep_possible((run.end if is_closed else self._round_up(run.begin)) - self.step)

    def _round_up(self, place: _Place) -> _Place:
        return math.ceil(place) if self.step else place

    def _keep_possible(self, place: _Place) -> _Place | None:
        """Return a place; None where no value of the kind can be."""
        return place if self.lowest <= place <= self.highest else None


def _limits_of(cell: str | None, scale: _CountedKind) -> tuple[_Place | None, _Place | None]:
    """Return the outermost places of a published cell; None on an open side."""
    form, ends, members = parse_cell(SUPPRESSED if cell is None else cell)
    if form == "value":
        run = scale.run_of(str(cell))
        return scale.find_begin(run), scale.find_end(run, is_closed=True)
    if ends is not None:
        low, high = (None if text is None else scale.run_of(text) for text in (ends.low, ends.high))
        return scale.find_begin(low), scale.find_end(high, is_closed=ends.is_closed)
    limits = [_limits_of(member, scale) for member in members if member is not None]
    lows = [low for low, _ in limits if low is not None]
    highs = [high for _, high in limits if high is not None]
    # A set is as open as its most open member.
    n_members = max(1, len(limits))
    return min(lows) if len(lows) == n_members else None, max(highs) if len(highs) == n_members else None


def _place_of(bound: str | None, scale: _CountedKind) -> _Place | None:
    """Return the place of a written bound; NaN, which equals nothing, where it is none."""
    if bound is None or not bound.strip():
        return None
    run = scale.run_of(bound.strip())
    is_value = run is not None and (not scale.step or run.end - run.begin == scale.step)
    return run.begin if run is not None and is_value else math.nan


def _run_of_number(text: str) -> _Stretch | None:
    exact = _to_number(text)
    return None if exact is None else _Stretch(exact, math.floor(exact) + 1)


def _run_of_decimal(text: str) -> _Stretch | None:
    exact = _to_number(text)
    try:
        return None if exact is None else _Stretch(float(exact), float(exact))
    except OverflowError:
        return None


def _to_number(text: str) -> int | Fraction | None:
    try:
        return to_exact(text)
    except (ValueError, ArithmeticError):
        return None


def _run_of_days(text: str) -> _Stretch | None:
    unit = _read_unit(text)
    return None if unit is None else _Stretch(*(int(day.astype("datetime64[D]").astype(np.int64)) for day in unit))


def _run_of_moments(text: str) -> _Stretch | None:
    unit = _read_unit(text)
    if unit is None:
        return _run_of_moment(text)
    return _Stretch(*(int(day.astype("datetime64[us]").astype(np.int64)) for day in unit))


def _run_of_clock(text: str) -> _Stretch | None:
    return _run_of_moment(f"1970-01-01 {text}")


def _run_of_moment(text: str) -> _Stretch | None:
    try:
        moment = int(np.datetime64(text, "us").astype(np.int64)) if _MOMENT.fullmatch(text) else None
    except ValueError:
        return None
    return None if moment is None else _Stretch(moment, moment)


def _read_unit(text: str) -> tuple[np.datetime64, np.datetime64] | None:
    """Return where a calendar unit begins, and where the next one does; None if the text is none."""
    if not _CALENDAR.fullmatch(text):
        return None
    try:
        if text.endswith("s"):
            year = np.datetime64(text[:-1], "Y")
            return year, year + np.timedelta64(10, "Y")
        if "Q" in text:
            month = np.datetime64(with_first_days([text])[0], "M")
            return month, month + np.timedelta64(3, "M")
        begin = np.datetime64(text)
    except ValueError:
        return None
    return begin, begin + 1


_CALENDAR: Final = re.compile(r"(?!0000)[0-9]{4}(s|-Q[1-4]|-[0-9]{2}(-[0-9]{2})?)?", re.ASCII)
_MOMENT: Final = re.compile(
    r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?", re.ASCII
)
_FIRST_DAY, _LAST_DAY = np.datetime64("0001-01-01", "D"), np.datetime64("9999-12-31", "D")
_FIRST_MOMENT, _LAST_MOMENT = _FIRST_DAY.astype("datetime64[us]"), np.datetime64("9999-12-31T23:59:59.999999", "us")
_COUNTED_KINDS: Final[Mapping[str, _CountedKind]] = {
    "integer": _CountedKind(_run_of_number, 1, -(2**63), 2**63 - 1),
    "decimal": _CountedKind(_run_of_decimal, 0),
    "date": _CountedKind(_run_of_days, 1, *(int(day.astype(np.int64)) for day in (_FIRST_DAY, _LAST_DAY))),
    "datetime": _CountedKind(
        _run_of_moments, 0, *(int(each.astype(np.int64)) for each in (_FIRST_MOMENT, _LAST_MOMENT))
    ),
    "time": _CountedKind(_run_of_clock, 0),
}
"""Of every kind whose cells have bounds."""
