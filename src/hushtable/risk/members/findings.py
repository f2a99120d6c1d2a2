"""What attacks on membership found, in figures and sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CountArray, FloatArray
from hushtable.columns import to_json_values
from hushtable.errors import InputError
from hushtable.io import frames
from hushtable.risk.assessment import format_percent
from hushtable.risk.members.equal_cells import RelativeF1
from hushtable.risk.members.participants import MIN_CONTROL_RECORDS, Equals
from hushtable.risk.members.statistics import Area, Recognition, conformal_p_values, select_by_false_discoveries
from hushtable.wording import StatesFacts, careful, join_names

FALSE_ALARMS: Final = (0.01, 0.001, 0.0)
"""The shares of non-members that an attacker may accuse: one in 100, one in 1,000, none of those there are."""
ATTACKS_VERSION: Final = 1
"""Raised whenever an attack changes, so that figures of two versions are not compared."""
_MAX_P: Final = 0.05
_MIN_OTHERS_FOR_A_THOUSANDTH: Final = 1_000
_MAX_COLUMNS_NAMED: Final = 3
_LEAST_SHARE_TOLD: Final = 0.0005  # which is 0.1 of 100 people
_SHADOW_NOTE: Final = (
    "An attacker who can repeat the synthesis finds more: these figures are a lower bound of what the table reveals."
)

MembershipVerdict = Literal["found", "not found", "cannot say"]


@dataclass(frozen=True, slots=True)
class MembershipAttack:
    """How well one attack tells members from non-members.

    Attributes
    ----------
    name : str
    auc : Area
        The chance that a member scores higher than a non-member, with its 95 % interval; 0.5 is chance.
    recognitions : tuple of Recognition
        Members recognised if one in 100, one in 1,000 and none of the non-members is accused; NaN where there are too
        few non-members to know.
    p_value : float
        Adjusted for all attacks: the chance of as large a figure of any attack, if members were like non-members.
    """

    name: str
    auc: Area
    recognitions: tuple[Recognition, ...]
    p_value: float


@dataclass(frozen=True, slots=True)
class Drift:
    """How well people and non-members are told apart without the synthetic table."""

    auc: Area

    @property
    def is_shifted(self) -> bool:
        """Tell whether they differ: then attacks find the difference, whatever the synthetic table is."""
        return self.auc.low > 0.5


@dataclass(frozen=True, slots=True)
class MembershipReach:
    """An area under the curve, and shares of leaking people at one in 100, one in 1,000 and no false alarms."""

    auc: float
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ColumnHint:
    """A column, and how well the counts of its values alone tell members."""

    name: str
    auc: Area


@dataclass(frozen=True, slots=True)
class Subgroup:
    """The people who are as far from others, compared with non-members who are, by the attack that finds most."""

    name: str
    attack: str
    n_people: int
    n_others: int
    auc: Area
    recognition: Recognition
    p_value: float


@dataclass(frozen=True, slots=True)
class MembershipSizes:
    """How many people and non-members were attacked, of how many; records of the reference and the synthetic table."""

    n_people: int
    n_others: int
    n_all_people: int
    n_all_others: int
    n_reference: int
    n_synthetic: int


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The scores of people and non-members: keep them as safe as the data."""

    by_attack: Mapping[str, FloatArray] = field(repr=False)
    is_member: NDArray[np.bool_] = field(repr=False)  # of each unit; members come first
    units: CountArray = field(repr=False)  # of each row that was attacked
    positions: CountArray = field(repr=False)  # of each row that was attacked, in its table
    source: str  # the library of frames

    def find_recognised_rows(self, attack: str, false_share: float) -> CountArray:
        """Return the rows of people whose scores are higher than those of non-members, ascending."""
        scores = self.by_attack[attack]
        p_values = conformal_p_values(scores[self.is_member], scores[~self.is_member])
        units = np.flatnonzero(select_by_false_discoveries(p_values, false_share))
        return np.sort(self.positions[np.isin(self.units, units)])


@dataclass(frozen=True, slots=True, eq=False)
class Membership(StatesFacts):
    """How well attacks tell the people of a synthetic table from people who were never used.

    Attributes
    ----------
    attacks : tuple of MembershipAttack
    sizes : Sizes
        How many people, non-members and records there are.
    drift : Drift
        How well people and non-members are told apart without the synthetic table.
    most : MembershipReach
        What the attacks show if the synthetic table is a copy of the people.
    least : MembershipReach
        The smallest leak that these numbers tell from none, with a power of 80 %.
    columns : tuple of ColumnHint
        The columns, those first whose values tell most.
    groups : tuple of Subgroup
        People by how far they are from others, with thresholds of their own; none where there are too few.
    equals : Equals
        Records that tables have in common.
    auditors : RelativeF1
        F_rel, for auditors.
    untried : tuple of str
        Attacks that could not be made: for want of a reference, or of scikit-learn.
    settings : dict
        How it was asked for.
    scored : Scored
        The scores of people and non-members: keep them as safe as the data.
    """

    attacks: tuple[MembershipAttack, ...]
    sizes: MembershipSizes
    drift: Drift
    most: MembershipReach
    least: MembershipReach
    columns: tuple[ColumnHint, ...]
    groups: tuple[Subgroup, ...]
    equals: Equals
    auditors: RelativeF1
    untried: tuple[str, ...]
    settings: Mapping[str, object]
    scored: Scored = field(repr=False)

    @property
    def best(self) -> MembershipAttack:
        """The attack that finds most: of the least p-value, and of those of the greatest area under the curve."""
        return min(self.attacks, key=lambda each: (each.p_value, -each.auc.value))

    @property
    def strongest(self) -> tuple[MembershipAttack, Recognition]:
        """The attack that surely recognises the largest share of people, at one false alarm in 1,000 or in 100."""
        rank = self._rank_quoted
        best = max(self.attacks, key=lambda each: np.nan_to_num(each.recognitions[rank].low, nan=-1.0))
        return best, best.recognitions[rank]

    @property
    def _rank_quoted(self) -> int:
        """Which share of false alarms is quoted: one in 1,000 where non-members are enough."""
        return FALSE_ALARMS.index(0.001 if self.sizes.n_others >= _MIN_OTHERS_FOR_A_THOUSANDTH else 0.01)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why nothing can be said of membership; empty where something can."""
        doubts = []
        if self.sizes.n_others < MIN_CONTROL_RECORDS:
            doubts.append(
                f"there are {self.sizes.n_others:,} non-members, and at least {MIN_CONTROL_RECORDS} are needed"
            )
        if self.drift.is_shifted:
            doubts.append(
                f"the control differs from the people: they can be distinguished without the synthetic table (AUC "
                f"{self.drift.auc.value:.3f})"
            )
        if not (self.most.auc > self.least.auc or np.nanmax([*self.most.shares, 0.0]) > self._least_share):
            doubts.append(
                f"even a copy of the people, of at most {self.sizes.n_synthetic:,} records, would only show an AUC of "
                f"{self.most.auc:.3f} "
                f"({self.equals.others_in_people:,} records of {self.sizes.n_all_others:,} non-members are equal)"
            )
        return tuple(doubts)

    @property
    def excess_doubts(self) -> tuple[str, ...]:
        """Why nothing can be said of who is recognised at one false alarm in 1,000; empty where something can."""
        has_enough = self.sizes.n_others >= _MIN_OTHERS_FOR_A_THOUSANDTH
        return self.doubts or (() if has_enough else ("at least 1,000 non-members are needed",))

    @property
    def _least_share(self) -> float:
        known = [share for share in self.least.shares if not math.isnan(share)]
        return min(known, default=1.0)

    @property
    def p_value(self) -> float:
        """The chance of as large a figure of any attack, if members were like non-members."""
        return self.best.p_value

    @property
    def verdict(self) -> MembershipVerdict:
        """What the attacks say: members are found, are not found, or nothing can be said."""
        if self.doubts:
            return "cannot say"
        return "found" if self.p_value <= _MAX_P else "not found"

    @property
    def auc_high(self) -> float:
        """The highest upper end of an area under the curve; NaN where nothing can be said."""
        return math.nan if self.doubts else max(each.auc.high for each in self.attacks)

    @property
    def excess_high(self) -> float:
        """The highest upper end of the share that leaks at one false alarm in 1,000; NaN where it cannot be said."""
        if self.excess_doubts:
            return math.nan
        return max(each.recognitions[FALSE_ALARMS.index(0.001)].high for each in self.attacks)

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        return (*self._state_verdict(), *self._state_groups(), *self._state_numbers())

    def _state_verdict(self) -> tuple[str, ...]:
        if self.doubts:
            return tuple(careful(f"Nothing can be said of membership: {doubt}.") for doubt in self.doubts)
        best, auc = self.best, self.best.auc
        figures = f"AUC {auc.value:.3f} [{auc.low:.3f}, {auc.high:.3f}], adjusted p {best.p_value:.3f}"
        if self.verdict == "not found":
            return (
                f"Membership was not found (leaks below {self._describe_least()} could not have been seen). The attack "
                f"that finds most is {best.name}: {figures}.",
            )
        hints = [each.name for each in self.columns if each.auc.low > 0.5][:_MAX_COLUMNS_NAMED]
        return (
            self._state_recognised(),
            f"The attack that finds most is {best.name}: {figures}.",
            *([f"The values of {join_names(hints)} reveal most of who is in the table."] if hints else []),
        )

    def _state_recognised(self) -> str:
        attack, recognition = self.strongest
        n_accused = "1 in 1,000" if recognition.false_alarms == 0.001 else "1 in 100"
        if recognition.low >= _LEAST_SHARE_TOLD:
            return careful(
                "Membership was found by at least one attack. Of 100 people in the table, an attacker who accuses "
                f"{n_accused} outsiders wrongly recognises at least {100 * recognition.low:.1f} (95 %), by "
                f"{attack.name}."
            )
        return careful(
            "Membership was found by at least one attack: members score higher than others. That an attacker who "
            f"accuses {n_accused} outsiders wrongly recognises anybody is not sure."
        )

    def _describe_least(self) -> str:
        share = self.least.shares[self._rank_quoted]
        return f"AUC {self.least.auc:.3f} or {format_percent(share)} of the people"

    def _state_groups(self) -> tuple[str, ...]:
        if self.doubts:
            return ()
        return tuple(
            careful(
                f"Of {each.name}, compared with non-members who are as far from others, {each.attack} finds members: "
                f"AUC {each.auc.value:.3f} [{each.auc.low:.3f}, {each.auc.high:.3f}], adjusted p {each.p_value:.3f}."
            )
            for each in self.groups
            if each.p_value <= _MAX_P
        )

    def _state_numbers(self) -> tuple[str, ...]:
        sizes = self.sizes
        sentences = [
            f"{sizes.n_people:,} of {sizes.n_all_people:,} people and {sizes.n_others:,} of {sizes.n_all_others:,} "
            f"non-members were attacked, with a reference of {sizes.n_reference:,} records. A copy of the people would "
            f"show an AUC of {self.most.auc:.3f}.",
        ]
        if self.equals.n_repeated:
            sentences.append(
                careful(
                    f"The control repeats records more often than chance, so that non-members and reference shared "
                    f"people: {self.equals.n_repeated:,} repeated records were removed."
                )
            )
        if self.untried:
            sentences.append(
                f"Some attacks were left out, for want of a reference (a control of 400 records) or of scikit-learn: "
                f"{join_names(self.untried)}."
            )
        return *sentences, _SHADOW_NOTE

    def queries(self, false_share: float = 0.1) -> list[str]:
        """Return the people who are recognised, as text. They name witnesses: keep them as safe as the data.

        Parameters
        ----------
        false_share : float
            The expected share of those listed who were listed by chance; somewhat more, since the attack is chosen
            by the same people.

        Notes
        -----
        By the attack of `strongest`: of each person the share of non-members who score as high (a conformal
        p-value), of which the smallest are selected (Benjamini and Hochberg, 1995). Empty where membership was not
        found. No list is shorter than n_people / (false_share (n_others + 1)).
        """
        attack = self.strongest[0].name
        return [
            f"original record {row} is recognised by {attack}" for row in self._find_exposed_rows(false_share).tolist()
        ]

    def list_exposed(self, false_share: float = 0.1) -> Any:
        """Return a frame of the rows of the people whom `queries` lists. Keep it as safe as the data."""
        return frames.assemble({"row": self._find_exposed_rows(false_share).tolist()}, self.scored.source)

    def _find_exposed_rows(self, false_share: float) -> CountArray:
        if not 0 < false_share < 1:
            raise InputError(f"false_share = {false_share!r}.", hint="a share between 0 and 1, such as 0.1.")
        if self.verdict != "found":
            return np.zeros(0, dtype=np.int64)
        return self.scored.find_recognised_rows(self.strongest[0].name, false_share)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values; no record and no cell."""
        return dict(
            to_json_values(
                {
                    "verdict": self.verdict,
                    "doubts": list(self.doubts),
                    "p_value": self.p_value,
                    "auc_high": self.auc_high,
                    "excess_high": self.excess_high,
                    "sizes": asdict(self.sizes),
                    "attacks": [asdict(each) for each in self.attacks],
                    "drift": asdict(self.drift.auc),
                    "most": asdict(self.most),
                    "least": asdict(self.least),
                    "columns": [asdict(each) for each in self.columns],
                    "groups": [asdict(each) for each in self.groups],
                    "equals": asdict(self.equals),
                    "relative_f1": asdict(self.auditors),
                    "untried": list(self.untried),
                    "version": ATTACKS_VERSION,
                    "settings": dict(self.settings),
                }
            )
        )

    def __repr__(self) -> str:
        auc = self.best.auc
        return f"Membership({self.verdict}: {self.best.name}, AUC {auc.value:.3f} [{auc.low:.3f}, {auc.high:.3f}])"
