"""The claim that households hide among households, each with all of its members."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.claims.classes import Judgement
from hushtable.claims.histories import HistoryClaim, count_equal_histories, group_cells
from hushtable.io import frames
from hushtable.models import PrivacyModel


@dataclass(frozen=True, slots=True)
class HouseholdFigures:
    """Who is found by knowing a whole household; the means are over persons.

    Examples
    --------
    >>> figures = HouseholdFigures.measure(np.array([0, 0, 0, 0]), np.array([0, 0, 1, 1]), np.ones(4, dtype=np.int64))
    >>> figures.n_households, figures.smallest_class, figures.mean_risk, round(figures.mean_product, 4)
    (2, 2, 0.5, 0.4375)
    """

    n_households: int
    n_alone: int  # whose members' cells together no other household has
    smallest_class: int  # the fewest equal households
    mean_risk: float  # 1 / F, F the equal households
    mean_product: float  # 1 - product over members of (1 - 1 / f), f the equal records: members taken for independent

    @classmethod
    def measure(cls, classes: CountArray, households: CodeArray, counts: CountArray) -> HouseholdFigures:
        """Measure the records of known households, by their classes of equal cells."""
        equal = count_equal_histories(classes, households, counts)
        n_members = np.bincount(households, weights=counts, minlength=len(equal))
        alike = np.bincount(classes, weights=counts)[classes]
        with np.errstate(divide="ignore"):
            logs = np.bincount(households, weights=counts * np.log1p(-1 / alike), minlength=len(equal))
        n_persons = float(n_members.sum())
        return cls(
            n_households=len(equal),
            n_alone=int((equal == 1).sum()),
            smallest_class=int(equal.min(initial=len(equal))),
            mean_risk=float((n_members / equal).sum()) / n_persons,
            mean_product=float((n_members * -np.expm1(logs)).sum()) / n_persons,
        )

    def describe(self) -> str:
        """Describe the figures in a sentence."""
        return (
            f"Of {self.n_households:,} households, {self.n_alone:,} are alone by all their members. A reader who knows "
            f"a whole household finds it with a chance of at most {1 / self.smallest_class:.3g}, {self.mean_risk:.3g} "
            f"on average (1 / equal households). The product of the members' own risks is {self.mean_product:.3g}. It "
            "takes them for independent, and is no limit."
        )


@dataclass(frozen=True, slots=True, eq=False)
class HouseholdClaim(HistoryClaim):
    """Households hide with all their members; ``person`` is the column of the household, whose records are persons.

    Classes count households. How many members a household has is known, as its records are.
    """

    kind: ClassVar[str] = "households"
    counted_unit: ClassVar[str] = "household"

    @property
    def sentence(self) -> str:
        """All of it, and the reader it assumes."""
        columns = ", ".join(self.columns)
        return (
            f"{' and '.join(self._conditions_of_classes)} on {columns}, for a reader who knows all members of a "
            "household, and no other column of them"
        )

    @property
    def of_left_out(self) -> str:
        """What left-out records find."""
        return "Households were left out whole: who knows one of these finds nobody."

    def describe_model(self, model: PrivacyModel) -> str:
        """Return a model in words."""
        words = self._describe(model)
        return f"{words}, by households" if model.needs.persons else words

    def _judge(self, data: object, original: object) -> Judgement:
        frame = frames.read(data)
        judgement = HistoryClaim._judge(self, frame, original)
        households = self.person_codes(frame)
        known = np.flatnonzero(households >= 0)
        if not len(known):
            return judgement
        classes = group_cells(frame, self.columns)[0][known]
        measured = HouseholdFigures.measure(classes, households[known], frame.records[known])
        return replace(judgement, figures={**judgement.figures, "households": asdict(measured)})
