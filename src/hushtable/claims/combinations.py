"""The claim that records share their published cells on some sets of columns, though perhaps not on all columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from hushtable.claims.classes import ClaimOnColumns, Classes
from hushtable.claims.verdict import Claim, Verdict
from hushtable.errors import InputError, check_columns
from hushtable.io import frames
from hushtable.models import describe


@dataclass(frozen=True, slots=True, eq=False)
class Combinations(ClaimOnColumns):
    """On each set of columns every class of equal published cells satisfies models that count records."""

    combinations: tuple[tuple[str, ...], ...] = ()

    kind: ClassVar[str] = "combinations"

    suppressed = None

    def __post_init__(self) -> None:
        if not self.combinations or not all(self.combinations):
            raise InputError("no set of columns to judge.", hint="name sets of one column or more.")
        for columns in self.combinations:
            check_columns(columns, self.columns, "a set of columns")

    @property
    def conditions(self) -> tuple[str, ...]:
        """The models on every set, and rounded columns, in words."""
        return (*self._columns_by_condition(), *self._rounding_conditions)

    def _columns_by_condition(self) -> dict[str, tuple[str, ...]]:
        models = " and ".join(map(describe, self.models))
        return {f"{models} on {', '.join(columns)}": columns for columns in self.combinations}

    @property
    def sentence(self) -> str:
        """What is claimed, and that it is not k-anonymity on all columns."""
        conditions = " and ".join(self._columns_by_condition())
        return (
            f"{conditions}, for a reader who knows the columns of one set of a person, and no other column. This is "
            "not k-anonymity on all of these columns: a reader who knows more than one set may find the record"
        )

    def with_knowledge_of(self, asked: Claim) -> Combinations:
        """Return the claim with what another of its kind knows besides: orders and hierarchies."""
        return replace(self, **self._merge_knowledge(asked)) if isinstance(asked, Combinations) else self

    def needs_original(self, columns: Sequence[str]) -> bool:
        """Tell whether a table that publishes these columns is judged beside the input: never."""
        del columns
        return False

    def verify(self, data: object, *, original: object = None) -> Verdict:
        """Judge a published table from the table alone, set by set."""
        del original
        frame = frames.read(data)
        verdicts = {
            words: Classes(columns, self.models, specs=self.specs, suppressed=None).verify(frame)
            for words, columns in self._columns_by_condition().items()
        }
        failures = [
            replace(failure, condition=f"{words}: {failure.condition}", find_rows=failure.find_rows)
            for words, verdict in verdicts.items()
            for failure in verdict.failures
        ]
        failures += [failure for failure, _ in self._find_rounding_failures(frame)]
        worst = min(verdicts.values(), key=lambda verdict: verdict.figures["smallest_class"])
        figures = {**worst.figures, "n_unique": max(each.figures["n_unique"] for each in verdicts.values())}
        verdict = Verdict(self.conditions, tuple(failures), self.columns, frame.n_records, {}, figures)
        return self._judge_bounds(frame, verdict)

    def to_dict(self) -> dict[str, object]:
        """Return the models, columns, sets and kinds, and the hierarchies as far as they may be told."""
        sets = [list(columns) for columns in self.combinations]
        return {"kind": self.kind, "sentence": self.sentence, **self._to_entries(), "combinations": sets}

    @classmethod
    def from_dict(cls, entries: Mapping[str, object]) -> Combinations:
        """Read what `to_dict` wrote."""
        sets = entries["combinations"]
        if not isinstance(sets, list):
            raise TypeError("combinations")
        return cls(**cls._from_entries(entries), combinations=tuple(map(tuple, sets)))
