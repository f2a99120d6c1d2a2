"""Dates of persons in a table, shifted or counted from the first, before anything is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray, ValueArray
from hushtable.columns import holds_dates, list_distinct_cells, map_texts, moments_as_series, read_moments
from hushtable.discover import is_prose, topic_of_name
from hushtable.errors import ColumnError, InfeasibleError, InputError, quote_names
from hushtable.io import Frame
from hushtable.release import (
    DateShift,
    KnownIntervals,
    Timelines,
    days_since_first,
    find_first_dates,
    measure_curve,
    measure_intervals,
    shift_dates,
)
from hushtable.tables import Table

if TYPE_CHECKING:
    from hushtable.anonymizers.preparation import Request

_SAMPLE_OF_PROSE: Final = 1_000  # distinct cells that are looked at

PersonMoments = NDArray[np.datetime64]


class _RetimedPersons(NamedTuple):
    """The persons of a table: their texts, and which one each row is of."""

    texts: Sequence[str]
    codes: CodeArray


def check_dates(request: Request) -> None:
    """Raise InputError if dates are to be changed in a request that has no use for it."""
    rule = request.dates
    if rule is None:
        return
    names = quote_names(rule.columns)
    if not names:
        raise InputError("dates are to be changed, and no column of them was named.", hint="name one, or leave it out.")
    strangers = [name for name in rule.columns if name not in request.quasi_identifiers]
    if strangers:
        raise InputError(
            f"dates of {names} are to be changed, and {quote_names(strangers)} is no quasi-identifier.",
            hint="a shifted date is the date give or take the shift, which somebody may know: make it a "
            "quasi-identifier.",
        )
    if request.person is None:
        raise InputError(
            f"dates of {names} are to be changed, and nobody said whose they are.",
            hint="name the column of the person: person=.",
        )
    comparing = [model.name for model in request.models if model.needs.population or model.needs.original]
    if comparing:
        raise InputError(
            f"dates of {names} are to be changed, and {quote_names(comparing)} compares them with dates that are not.",
            hint="leave the model or the shift out.",
        )
    if all(model.min_size <= 1 for model in request.asked_of_classes):
        raise InputError(
            f"dates of {names} are to be changed, and no model asks for more than one person in a class.",
            hint="intervals between dates stay as they are and single people out: ask for k-anonymity or "
            "linked-k-anonymity, k = 5 for instance.",
        )


def change_dates(source: Frame | Table, request: Request) -> tuple[Frame, Timelines]:
    """Return a table with the dates of persons shifted, or as days since the first; and what that tells.

    Raises
    ------
    ColumnError, InputError
        Dates lie outside the window, a record says not whose it is, or another column would give the shift away.
    InfeasibleError
        No record lies within the published window.
    """
    rule = request.dates
    assert rule is not None, "asked by the caller"
    if isinstance(source, Table):
        raise InputError(
            "the dates of a Table were coded before they could be shifted.", hint="pass the file or the dataframe."
        )
    persons = _list_persons(source, str(request.person))
    moments = {
        name: read_moments(source.column(name), source.spec(name), is_typed=source.is_text, name=name)
        for name in rule.columns
    }
    if isinstance(rule, DateShift):
        _check_other_columns(source, rule, request)
        return _shift(source, rule, persons, moments, request)
    first = find_first_dates([(persons.codes, dates) for dates in moments.values()], len(persons.texts))
    changed = {name: days_since_first(dates, persons.codes, first) for name, dates in moments.items()}
    k = max(model.min_size for model in request.asked_of_classes)
    timelines = Timelines(
        rule.action,
        rule.columns,
        intervals=_measure_intervals(moments, persons.codes, k),
        n_records=source.n_records,
        n_persons=len(persons.texts),
    )
    return _with_dates(source, changed), timelines


def _list_persons(source: Frame, name: str) -> _RetimedPersons:
    """List the persons of a table; raise InputError if a record does not say whose it is."""
    # As pseudonyms read them: an integer and the same whole float are one person.
    cells, codes = list_distinct_cells(map_texts(source.column(name), str, name), name)
    if n_nobody := int(source.records[codes < 0].sum()):
        raise InputError(
            f"{n_nobody:,} records do not say in {name!r} whose they are, so that their dates cannot be changed.",
            hint="leave these records out, or say whose they are.",
        )
    return _RetimedPersons(cells.to_list(), codes)


def _shift(
    source: Frame, rule: DateShift, persons: _RetimedPersons, moments: Mapping[str, PersonMoments], request: Request
) -> tuple[Frame, Timelines]:
    """Shift dates, and leave out the records at the ends of the window."""
    for name, dates in moments.items():
        if n_outside := int(source.records[~rule.is_within_window(dates)].sum()):
            raise InputError(
                f"{n_outside:,} records have a date in {name!r} outside the window {rule.window[0]} to "
                f"{rule.window[1]}.",
                hint="say the window of all data (`dates: {window: [first day, last day]}`), or leave the column out.",
            )
    offsets = np.array([rule.offset_of(person) for person in persons.texts], dtype=np.int64)
    shifted = {name: shift_dates(dates, persons.codes, offsets) for name, dates in moments.items()}
    is_kept = np.all([rule.is_published(dates) for dates in shifted.values()], axis=0)
    kept = np.flatnonzero(is_kept)
    if not len(kept):
        raise InfeasibleError(
            f"no record has a shifted date from {rule.published_window[0]} to {rule.published_window[1]}.",
            hint="shift by less, or look whether the window is right.",
        )
    frame, whose = _with_dates(source, shifted).take(kept), persons.codes[kept]
    k = max(model.min_size for model in request.asked_of_classes)
    timelines = Timelines(
        rule.action,
        rule.columns,
        within=rule.within,
        offsets=rule.offsets_in_words,
        window=rule.published_window,
        intervals=_measure_intervals({name: dates[kept] for name, dates in shifted.items()}, whose, k),
        n_records=source.n_records,
        n_persons=len(persons.texts),
        n_left_out=int(source.records[~is_kept].sum()),
        n_persons_left_out=len(persons.texts) - len(np.unique(whose)),
        curve=measure_curve(
            np.concatenate(list(moments.values())),
            np.concatenate([dates[kept] for dates in shifted.values()]),
            np.tile(whose, len(shifted)),
            rule,
        ),
    )
    return frame, timelines


def _with_dates(source: Frame, changed: Mapping[str, ValueArray]) -> Frame:
    """Return a frame with changed columns; how the old cells were spelled and labelled says nothing of the new ones."""
    frame = source.with_columns({name: moments_as_series(values) for name, values in changed.items()})
    specs = {name: spec for name, spec in frame.specs.items() if name not in changed}
    variables = {name: each for name, each in frame.variables.items() if name not in changed}
    return replace(frame, specs=specs, variables=variables)


def _measure_intervals(
    moments: Mapping[str, PersonMoments], persons: CodeArray, k: int
) -> dict[str, tuple[KnownIntervals, ...]]:
    """Measure, for each column, whom the intervals between its dates would find."""
    measured = {}
    for name, dates in moments.items():
        is_date = ~np.isnat(dates)
        days: CountArray = dates[is_date].astype("datetime64[D]").astype(np.int64)
        measured[name] = measure_intervals(persons[is_date], days, k)
    return measured


def _check_other_columns(source: Frame, rule: DateShift, request: Request) -> None:
    """Raise ColumnError if another published column would give the offsets of persons away."""
    names = _list_others(source, rule, request)
    dated = [name for name in names if holds_dates(source.column(name), source.spec(name), name)]
    if dated:
        raise ColumnError(
            f"columns {quote_names(dated)} hold dates that are not shifted: one such date, known beside a shifted one, "
            "can reveal the offset of a person.",
            hint="shift them too (`action: shift`), leave them out, or publish a year as a number.",
        )
    prose = [name for name in names if _is_prose(source, name)]
    if prose:
        raise ColumnError(
            f"columns {quote_names(prose)} hold free text, which may reveal dates: a seen date undoes the shift.",
            hint="leave them out (role: leave out).",
        )
    of_birth, of_age = ([name for name in names if topic_of_name(name) == topic] for topic in ("birth", "age"))
    if of_birth and of_age:
        raise ColumnError(
            f"columns {quote_names(of_birth)} and {quote_names(of_age)} hold a birth and an age, and so the year of "
            "the shifted dates.",
            hint="publish one of the two.",
        )


def doubts_of_shift(source: Frame | Table, request: Request) -> Iterator[str]:
    """Yield a warning of columns that may be made from the shifted dates: a true year narrows the offset down."""
    if isinstance(request.dates, DateShift):
        made = [name for name in _list_others(source, request.dates, request) if topic_of_name(name) == "date"]
        if made:
            yield (
                f"columns {quote_names(made)} may be made from the dates that are shifted, as their names say. A true "
                "year, month or weekday reveals something of a person's offset. If they are, leave them out."
            )


def _list_others(source: Frame | Table, rule: DateShift, request: Request) -> list[str]:
    """List the published columns besides the shifted ones."""
    return [name for name in source.names if name not in (*request.unpublished, *rule.columns, request.person)]


def _is_prose(source: Frame, name: str) -> bool:
    """Tell whether a column holds free text."""
    text = source.text(name)
    if text is None:
        return False
    cells, codes = list_distinct_cells(text, name)
    counts = np.bincount(codes[codes >= 0], weights=source.records[codes >= 0], minlength=len(cells)).astype(np.int64)
    return is_prose(cells.head(_SAMPLE_OF_PROSE).to_list(), counts)
