"""What an attack found: how often it succeeds on the people, by chance, and on people who were never used."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from hushtable.columns import escaped, finite
from hushtable.risk.assessment import percent
from hushtable.risk.attacks.figure import PrivacyFigure
from hushtable.risk.intervals import clipped, excess_risk, wilson

__all__ = ["Attack", "Attacks", "Rate", "Tries", "beyond", "rate_of"]

AttackKind = Literal["singling out", "linkability", "inference"]

_ALONE: Final = "no control was given, so the risk is the attack's rate: it holds what is learned of anybody too"
_NO_ATTACK: Final = "no attack could be made, which says nothing of the risk"
_BELOW: Final = "the attack succeeds no more often than chance: it is too weak to say that the risk is low"
_ALWAYS: Final = "the control always succeeds: nothing can be achieved beyond it, so the risk is unknown"


class Rate(NamedTuple):
    """A rate or risk with the ends of its 95 % interval; NaN where it is not known."""

    value: float
    low: float
    high: float


class Tries(NamedTuple):
    """Successes, and of how many attacks; an expected number of successes may be no whole number."""

    n_success: float
    n_attacks: int


def rate_of(tries: Tries) -> Rate:
    """Return a rate of successes with Wilson's interval, whose centre takes the place of the rate.

    Examples
    --------
    >>> [round(each, 6) for each in rate_of(Tries(100, 500))]
    [0.202287, 0.167285, 0.237289]
    """
    if tries.n_attacks == 0:
        return Rate(math.nan, math.nan, math.nan)
    rate, error = wilson(tries.n_success, tries.n_attacks)
    return Rate(rate, *clipped(rate - error, rate + error))


def beyond(attack: Tries, control: Tries | None) -> Rate:
    """Return what an attack achieves beyond its control: (attack - control) / (1 - control), each brought into [0, 1].

    Examples
    --------
    >>> [round(each, 6) for each in beyond(Tries(100, 500), Tries(60, 500))]
    [0.090514, 0.040843, 0.140185]
    """
    if control is None or attack.n_attacks == 0:
        return rate_of(attack)
    if control.n_attacks == 0 or control.n_success >= control.n_attacks:
        return Rate(math.nan, math.nan, math.nan)
    value, error = excess_risk(wilson(*attack), wilson(*control))
    return Rate(min(max(value, 0.0), 1.0), *clipped(value - error, value + error))


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """An attack, and the same attack on people who were never used.

    Attributes
    ----------
    kind : {"singling out", "linkability", "inference"}
        The risk of WP29's Opinion 05/2014 that it measures.
    attack, baseline : Tries
        Attacks on the people, and guesses by chance.
    control : Tries, optional
        The same attacks on the control.
    compared : Tries, optional
        What the control is compared with, where that is not `attack`: the same attacks on as many people as the control
        has records.
    settings : dict
        How it was asked for.
    witnesses : callable
        What `queries` tells, with values or without.
    most : float
        The highest risk that the comparison could show: below 1 where the control has fewer records than the table and
        sizes had to be matched.
    """

    kind: AttackKind
    attack: Tries
    baseline: Tries
    control: Tries | None
    compared: Tries | None
    settings: Mapping[str, Any]
    witnesses: Callable[[bool], list[str]] = field(repr=False)
    most: float = 1.0

    @property
    def n_attacks(self) -> int:
        """How many attacks were made, which may be fewer than were asked for."""
        return self.attack.n_attacks

    @property
    def n_success(self) -> int:
        """How many attacks on the people succeeded."""
        return int(self.attack.n_success)

    @property
    def risk(self) -> Rate:
        """What the attack achieves beyond its control; without one, its rate. NaN where nothing can be said."""
        return beyond(self.compared or self.attack, self.control)

    @property
    def rates(self) -> Mapping[str, Rate]:
        """The rates ``attack``, ``baseline`` and ``control``, and ``compared`` where the sizes had to be matched."""
        tries = {"attack": self.attack, "baseline": self.baseline, "control": self.control, "compared": self.compared}
        return MappingProxyType({name: rate_of(each) for name, each in tries.items() if each is not None})

    @property
    def notes(self) -> tuple[str, ...]:
        """What keeps the figures from being taken at their word."""
        if self.n_attacks == 0:
            return (_NO_ATTACK,)
        notes = []
        if self.control is None:
            notes.append(_ALONE)
        elif math.isnan(self.risk.value):
            notes.append(_ALWAYS)
        if self.most < 1:
            notes.append(
                f"the control is smaller than the table: even a copy of the table would show a risk of {self.most:.2g}"
            )
        if self.rates["baseline"].value >= self.rates["attack"].value:
            notes.append(_BELOW)
        asked = self.settings["n_attacks"]
        if self.n_attacks < asked:
            notes.append(f"only {self.n_attacks:,} of {asked:,} attacks could be made")
        return tuple(notes)

    def queries(self, values: bool = False) -> list[str]:
        """Return the attacks that succeeded, as text. They name witnesses: keep them as safe as the data.

        Parameters
        ----------
        values : bool
            Whether they show values of records.
        """
        return self.witnesses(values)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values; no witness and no cell."""
        return dict(
            finite(
                {
                    "kind": self.kind,
                    "risk": self.risk._asdict(),
                    "rates": {name: rate._asdict() for name, rate in self.rates.items()},
                    "most": self.most,
                    "n_attacks": self.n_attacks,
                    "n_success": self.n_success,
                    "n_baseline": self.baseline.n_success,
                    "n_control": None if self.control is None else self.control.n_success,
                    "n_control_attacks": None if self.control is None else self.control.n_attacks,
                    "settings": dict(self.settings),
                    "notes": list(self.notes),
                }
            )
        )

    def __repr__(self) -> str:
        risk = self.risk
        return (
            f"Attack({self.kind}: {self.n_success} of {self.n_attacks} succeed; risk {percent(risk.value)} "
            f"[{percent(risk.low)}, {percent(risk.high)}])"
        )

    def _repr_html_(self) -> str:
        return f"<b>Attack</b> {escaped(repr(self))}"


@dataclass(frozen=True, slots=True, eq=False)
class Attacks:
    """Several attacks on one table.

    Attributes
    ----------
    attacks : tuple of Attack
    figures : tuple of PrivacyFigure
        Figures of distance and attribution beside them.
    """

    attacks: tuple[Attack, ...]
    figures: tuple[PrivacyFigure, ...] = ()

    def of(self, kind: AttackKind) -> tuple[Attack, ...]:
        """Return the attacks of one kind."""
        return tuple(each for each in self.attacks if each.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of all as plain values."""
        told: dict[str, Any] = {"attacks": [each.to_dict() for each in self.attacks]}
        return told | ({"figures": [each.to_dict() for each in self.figures]} if self.figures else {})
