"""Dates of persons: shifted by one keyed offset a person, or counted from the person's first date."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.errors import InputError, check_key, names_in

_LABEL: Final = b"hushtable: offset of dates\0"  # no pseudonym is the HMAC of a text that begins so
_DAYS_PER_UNIT: Final = {"D": 1, "W": 7}
_AMOUNT: Final = re.compile(r"([1-9][0-9]{0,5})([DW])", re.ASCII)
_MAX_SHARE_OF_WINDOW: Final = 1 / 2


@dataclass(frozen=True, slots=True)
class DateShift:
    """Which dates are shifted, each person's by one offset, and how far.

    A shift protects nobody by itself: two or three intervals between the dates of a person are often enough to find
    the person. Shifted columns stay quasi-identifiers, which the models judge.

    Parameters
    ----------
    columns : tuple of str
        Quasi-identifiers with dates. All dates of a person are shifted by the same offset, in all columns.
    within : str
        How many offsets there are: ``"182D"`` is 0 to 181 days, ``"26W"`` is 0 to 25 whole weeks, which keeps the
        weekdays.
    window : tuple of str
        The first and the last day of the data, ``("2023-01-01", "2024-12-31")``. A record is published where its
        shifted dates lie so that every offset is possible. The others are left out.
    key : bytes
        At least 16 bytes of randomness. The same key gives a person the same offset in every table and every release.
        Whoever holds the key knows the offsets: keep it apart from the release.

    Notes
    -----
    Shift and truncate, as Hripcsak et al., "Preserving temporal relations in clinical data while maintaining privacy",
    JAMIA 23(6), 2016. An offset is HMAC-SHA-256 (RFC 2104) of a label and the person's text, modulo the number of
    offsets: of 2^256 values, so that no offset is more probable than another by more than 2^-230.

    Examples
    --------
    >>> shift = DateShift(("admitted",), "26W", ("2023-01-01", "2024-12-31"), bytes(range(32)))
    >>> shift.n_offsets, shift.unit_days, shift.published_window
    (26, 7, ('2023-06-25', '2024-12-31'))
    """

    columns: tuple[str, ...]
    within: str
    window: tuple[str, str]
    key: bytes = field(repr=False)

    action: ClassVar[str] = "shift"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", names_in(self.columns, "DateShift columns"))
        object.__setattr__(self, "window", tuple(map(str, self.window)))
        check_key(self.key, "shifted dates")
        amount = _AMOUNT.fullmatch(self.within) if isinstance(self.within, str) else None
        if amount is None or amount[1] == "1":
            raise InputError(
                f"within = {self.within!r}.", hint="a number of days or whole weeks, 2 or more: '182D' or '26W'."
            )
        first, last = _read_window(self.window)
        n_days = int((last - first).astype(np.int64)) + 1
        if self.reach > _MAX_SHARE_OF_WINDOW * n_days:
            raise InputError(
                f"within = {self.within!r} is more than half of the window of {n_days:,} days.",
                hint="records at its ends are left out, so that half of them or more would go. Shift by less, or count "
                "days since the first event of a person (`action: since-first`).",
            )

    @property
    def unit_days(self) -> int:
        """The days between two offsets: 1, or 7 for whole weeks."""
        return _DAYS_PER_UNIT[self.within[-1]]

    @property
    def n_offsets(self) -> int:
        """How many offsets there are."""
        return int(self.within[:-1])

    @property
    def reach(self) -> int:
        """The largest offset, in days."""
        return (self.n_offsets - 1) * self.unit_days

    @property
    def published_window(self) -> tuple[str, str]:
        """The first and last published date for which every offset is possible."""
        first, last = _read_window(self.window)
        return str(first + self.reach), str(last)

    @property
    def share_left_out(self) -> float:
        """The share of the window's days whose records are left out, in [0, 1]: about that of the records."""
        first, last = _read_window(self.window)
        return self.reach / (int((last - first).astype(np.int64)) + 1)

    @property
    def cost(self) -> str:
        """What the shift costs, said before it runs."""
        first, last = self.published_window
        return (
            f"Dates are shifted by {self.offsets_in_words}. Records are published where all their shifted dates lie "
            f"from {first} to {last}. The others are left out: about {100 * self.share_left_out:.0f} % of the records "
            "if they are spread evenly over the window."
        )

    @property
    def offsets_in_words(self) -> str:
        """The range of the offsets."""
        largest = self.n_offsets - 1
        return f"0 to {largest} days" if self.unit_days == 1 else f"0 to {largest} whole weeks"

    def offset_of(self, person: str) -> int:
        """Return the offset of a person in days. It undoes the shift: it goes into no file, log or message."""
        digest = hmac.new(self.key, _LABEL + person.encode(), hashlib.sha256).digest()
        return int.from_bytes(digest) % self.n_offsets * self.unit_days

    def is_within_window(self, dates: NDArray[np.datetime64]) -> BoolArray:
        """Tell for each date of the input whether it lies in the window; a missing date does."""
        return _lies_between(dates, *self.window)

    def is_published(self, shifted: NDArray[np.datetime64]) -> BoolArray:
        """Tell for each shifted date whether every offset is possible; a missing date tells nothing of the offset."""
        return _lies_between(shifted, *self.published_window)


@dataclass(frozen=True, slots=True)
class SinceFirst:
    """Which dates become days since the person's first event: the earliest date of the person in these columns.

    Parameters
    ----------
    columns : tuple of str
        Quasi-identifiers with dates.

    Examples
    --------
    >>> SinceFirst(("admitted", "discharged")).columns
    ('admitted', 'discharged')
    """

    columns: tuple[str, ...]

    action: ClassVar[str] = "since-first"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", names_in(self.columns, "SinceFirst columns"))


def _read_window(window: Sequence[str]) -> tuple[np.datetime64, np.datetime64]:
    try:
        first, last = (np.datetime64(day, "D") for day in window)
        is_valid = bool(first < last)  # NaT is before nothing
    except (ValueError, TypeError):
        is_valid = False
    if not is_valid:
        raise InputError(
            f"window = {list(window)!r}.", hint="the first and the last day of the data: ['2023-01-01', '2024-12-31']."
        )
    return first, last


def _lies_between(dates: NDArray[np.datetime64], first: str, last: str) -> BoolArray:
    days = dates.astype("datetime64[D]")
    inside = (days >= np.datetime64(first)) & (days <= np.datetime64(last))
    return np.asarray(inside | np.isnat(days))


def shift_dates(
    dates: NDArray[np.datetime64], persons: CodeArray | CountArray, offsets: CountArray
) -> NDArray[np.datetime64]:
    """Add to every date the offset of its person, in whole days; the time of day stays, and a missing date does.

    Parameters
    ----------
    dates : array of datetime64, shape (n_rows,)
        Of local time, so that a day has the hours of its clock.
    persons : array of int, shape (n_rows,)
        The person of each row, as a number into ``offsets``.
    offsets : array of int, shape (n_persons,)
        Days, see `DateShift.offset_of`. The same for every table of these persons.
    """
    shifted: NDArray[np.datetime64] = dates + offsets[persons].astype("timedelta64[D]")
    return shifted


def find_first_dates(
    tables: Sequence[tuple[CodeArray | CountArray, NDArray[np.datetime64]]], n_persons: int
) -> NDArray[np.datetime64]:
    """Return the first date of every person over some columns, which may be of several tables; NaT without a date."""
    first = np.full(n_persons, np.datetime64("NaT"), dtype="datetime64[D]")
    for persons, dates in tables:
        np.fmin.at(first, persons, dates.astype("datetime64[D]"))
    return first


def days_since_first(
    dates: NDArray[np.datetime64], persons: CodeArray | CountArray, first: NDArray[np.datetime64]
) -> NDArray[np.timedelta64]:
    """Return the days from a person's first date to each of its dates, NaT where it is missing."""
    return dates.astype("datetime64[D]") - first[persons]
