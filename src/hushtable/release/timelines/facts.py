"""What a release says of the dates that it shifted, or counted from the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from hushtable.release.timelines.curves import DateCurve
from hushtable.release.timelines.intervals import KnownIntervals
from hushtable.wording import careful, join_names

_PUBLIC: Final = ("action", "columns", "within", "offsets", "window")
"""What recipients have to know, and no count of the input."""


@dataclass(frozen=True, slots=True)
class Timelines:
    """How the dates of persons were changed, what that left out, and what they still tell. It holds no offset."""

    action: str  # "shift" or "since-first"
    columns: tuple[str, ...]
    within: str | None = None
    offsets: str = ""  # their range in words
    window: tuple[str, str] | None = None  # of the published dates
    intervals: Mapping[str, tuple[KnownIntervals, ...]] = field(default_factory=dict)  # by column
    n_records: int | None = None  # of the input; outsiders hear no count of it
    n_persons: int = 0
    n_left_out: int = 0  # records at the ends
    n_persons_left_out: int = 0  # with all their records
    curve: DateCurve | None = None

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values."""
        return asdict(self)

    @staticmethod
    def public_part(entries: Mapping[str, object]) -> dict[str, object]:
        """Return what may go with a published file, of what `to_dict` wrote."""
        return {name: entries[name] for name in _PUBLIC}

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Timelines:
        """Read what `to_dict` wrote, or the public part of it."""
        known = {
            name: tuple(KnownIntervals(**each) for each in column)
            for name, column in entries.get("intervals", {}).items()
        }
        window, curve = entries.get("window"), entries.get("curve")
        read = {
            "columns": tuple(entries["columns"]),
            "window": None if window is None else tuple(window),
            "intervals": known,
            "curve": None if curve is None else DateCurve(**curve),
        }
        return cls(**{**entries, **read})

    @property
    def of_cells(self) -> str:
        """What a date of the release is, for its readers."""
        if self.within is None:
            return "days since the first event of the person"
        return f"dates are shifted by {self.offsets}, all of a person by the same"

    def describe(self) -> Iterator[str]:
        """Describe it in sentences."""
        names = join_names(self.columns)
        if self.within is None or self.window is None:
            yield f"Dates became days since the first event of each person: {names}."
        else:
            yield (
                f"Dates were shifted by {self.offsets}, all of a person by the same: {names}. Published dates lie from "
                f"{self.window[0]} to {self.window[1]}."
            )
            if self.n_records is not None:
                yield (
                    f"Left out at the ends are {self.n_left_out:,} of {self.n_records:,} records, and "
                    f"{self.n_persons_left_out:,} of {self.n_persons:,} persons with all of theirs."
                )
            yield careful(
                "a shift alone protects nobody. It hides calendar dates until one date of a person is known, and then "
                "reveals all of them. What is promised here counts shifted dates as known."
            )
        for name, known in self.intervals.items():
            chances = [f"{100 * each.found:.1f} %" for each in known if each.n_intervals]
            if chances:
                numbers = join_names([n + 1 for n in range(len(chances))])
                yield (
                    f"Intervals in {name}, were they published to the day: who knows {numbers} between records of a "
                    f"person finds {join_names(chances)} of those who have so many."
                )
        if self.curve is not None:
            yield from _describe_curve(self.curve)


def _describe_curve(curve: DateCurve) -> Iterator[str]:
    if curve.shows_shift:
        yield (
            f"Weekdays give away that dates were shifted: they are uneven in the input (chi-squared "
            f"{curve.input_weekday_chi2:,.0f}) and even in the release ({curve.weekday_chi2:,.0f})."
        )
    yield (
        f"Of {curve.n_offsets:,} offsets, weekday and season leave {curve.mean_offsets:,.1f} on average, and "
        f"{curve.fewest_offsets:,.1f} for the person of whom they reveal most ({curve.n_persons:,} persons looked at). "
        f"The busiest month has {curve.month_peak:.2f} times the mean, {curve.input_month_peak:.2f} in the input."
    )
