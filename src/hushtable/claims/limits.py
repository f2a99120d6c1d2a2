"""What is demanded of a release besides models: limits of risk and of suppression."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from hushtable.errors import InputError


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits, compared as fractions: a risk of 0.09 asks for classes of 12."""

    highest_risk: float | None = None  # in (0, 1]: 1 / the smallest class
    average_risk: float | None = None  # in (0, 1]: the mean over records of 1 / the size of their class
    suppression: float | None = None  # in [0, 1]: the share of the records that may be suppressed
    # Of a batch that gets the cells of an earlier release, wider ones too: the widest tell as little as suppression.
    counts_blank: bool = False  # whether all records with * in every quasi-identifier count as suppressed

    def __post_init__(self) -> None:
        if not (self.suppression is None or _is_share(self.suppression)):
            raise InputError(f"suppression_limit = {self.suppression!r}.", hint="a share of the records, from 0 to 1.")
        for name in ("highest_risk", "average_risk"):
            limit = getattr(self, name)
            if not (limit is None or (_is_share(limit) and limit > 0)):
                raise InputError(f"{name} = {limit!r}.", hint="a risk is a number above 0 and at most 1.")

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Limits:
        """Read what a claim holds; the caller sees to entries that are unknown."""
        known = {each.name: entries[each.name] for each in fields(cls) if each.name in entries}
        # Another type is read as one of the two, which is then not what was written: it cannot be judged.
        return cls(**{**known, "counts_blank": bool(known.get("counts_blank", False))})

    @property
    def any(self) -> bool:
        """Whether there is a limit of the risk."""
        return self.highest_risk is not None or self.average_risk is not None

    @property
    def smallest_class(self) -> int:
        """How large a class has to be for the highest risk."""
        return 1 if self.highest_risk is None else math.ceil(1 / Fraction(str(self.highest_risk)))

    @property
    def suppression_in_words(self) -> str:
        """The limit of suppressed records."""
        what = "records with * in every quasi-identifier" if self.counts_blank else "suppressed records"
        return "" if self.suppression is None else f"{what} <= {self.suppression:.6g} of all"

    def with_stricter_suppression(self, other: Limits) -> Limits:
        """Return the limits with the stricter limit of suppressed records of the two: the lower share, of more records.

        Where only one of them counts all blank records, so does the result: two limits would be needed to be exact.
        """
        shares = [each.suppression for each in (self, other) if each.suppression is not None]
        counts_blank = any(each.counts_blank for each in (self, other) if each.suppression is not None)
        return replace(self, suppression=min(shares, default=None), counts_blank=counts_blank)

    def allows_suppression(self, n_suppressed: int, n_records: int) -> bool:
        """Tell whether so many records may be suppressed, compared as fractions."""
        return self.suppression is None or n_suppressed <= Fraction(str(self.suppression)) * n_records

    def describe_by_name(self) -> dict[str, str]:
        """Return the limits of the risk in words."""
        limits = {"highest risk": self.highest_risk, "average risk": self.average_risk}
        return {name: f"{name} <= {limit:g}" for name, limit in limits.items() if limit is not None}


def _is_share(given: object) -> bool:
    return not isinstance(given, bool) and isinstance(given, (int, float)) and 0 <= given <= 1
