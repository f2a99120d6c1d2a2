"""Verdict: which of its claims a published table meets; and what a claim is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, runtime_checkable

from hushtable._types import CountArray
from hushtable.columns import ColumnSpec, to_json_values
from hushtable.errors import InputError, VerificationError, check_columns
from hushtable.io import frames
from hushtable.models import PrivacyModel
from hushtable.wording import StatesFacts, careful


@dataclass(frozen=True, slots=True)
class Failure:
    """One condition that the table does not meet."""

    condition: str
    n_classes: int = 0  # how many classes fail it; 0 where it is no condition of classes
    n_records: int = 0  # the records in them
    worst: float = float("nan")  # the worst value reached of what the condition bounds
    find_rows: Callable[[Any], CountArray] | None = field(default=None, repr=False, compare=False)

    def rows(self, data: Any) -> CountArray:
        """Return the positions of the rows that fail the condition, for those who hold the table that was judged.

        Raises
        ------
        InputError
            The condition is one of the whole table, or nothing in this table fails it.

        Examples
        --------
        >>> import polars as pl
        >>> import hushtable as ht
        >>> people = pl.DataFrame({"age": ["30", "30", "40", "50", "50"]})
        >>> verdict = ht.verify(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
        >>> verdict.failures[0].rows(people).tolist()
        [2]
        """
        if self.find_rows is None:
            raise InputError(f"no single rows fail {self.condition!r}.", hint="look at the table as a whole.")
        return self.find_rows(data)

    def to_dict(self) -> dict[str, Any]:
        """Return the failure as plain values, without rows."""
        return {name: getattr(self, name) for name in ("condition", "n_classes", "n_records", "worst")}

    def __str__(self) -> str:
        if not self.n_classes:
            return self.condition
        return f"{self.condition}: {self.n_classes} classes with {self.n_records} records fail, worst {self.worst:g}"


@dataclass(frozen=True, slots=True)
class Verdict(StatesFacts):
    """Which of its claims a published table meets.

    Attributes
    ----------
    conditions : tuple of str
        What was claimed, in words.
    failures : tuple of Failure
    unchecked : mapping of str to str
        Conditions that could not be judged from what was given, and what it would take.
    needs_publisher : tuple of str
        Those of them that take the original, and the hierarchies that no manifest holds: its publisher has them.
    vouched : mapping of str to str
        Those of ``needs_publisher`` that the manifest vouches for, and what it says: judged beside the original.
    columns : tuple of str
        The columns that the conditions speak of.
    n_records : int
        Rows of the table, suppressed ones included.
    figures : dict
        What else was counted; which figures there are depends on the claim.
    """

    conditions: tuple[str, ...]
    failures: tuple[Failure, ...]
    columns: tuple[str, ...]
    n_records: int
    unchecked: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    needs_publisher: tuple[str, ...] = ()
    vouched: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Nothing that was judged fails."""
        return not self.failures

    @property
    def complete(self) -> bool:
        """Everything that is claimed was judged."""
        return not self.unchecked

    @property
    def complete_for_receiver(self) -> bool:
        """Everything that the table can show was judged: for what is left the manifest of its publisher vouches."""
        return self.unchecked.keys() <= self.vouched.keys()

    @property
    def held(self) -> tuple[str, ...]:
        """The conditions that were judged and hold."""
        failed = [failure.condition for failure in self.failures]
        return tuple(
            condition
            for condition in self.conditions
            # A failure may say after a colon how.
            if condition not in self.unchecked
            and not any(each == condition or each.startswith(f"{condition}: ") for each in failed)
        )

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns, where classes or rows were judged."""
        return self.columns

    @property
    def n_classes(self) -> int:
        """Classes of equal published cells, suppressed records apart."""
        return int(self.figures["n_classes"])

    @property
    def n_suppressed(self) -> int:
        """Rows with ``*`` in every quasi-identifier and every sensitive column."""
        return int(self.figures["n_suppressed"])

    @property
    def smallest_class(self) -> int:
        """How many the smallest class holds, suppressed records apart; 0 in an empty table."""
        return int(self.figures["smallest_class"])

    @property
    def average_risk(self) -> float:
        """The mean over records of 1 / the size of their class, in persons where they are counted; 1 where none is."""
        return float(self.figures["average_risk"])

    @property
    def n_unique(self) -> int:
        """Records alone in their class."""
        return int(self.figures["n_unique"])

    @property
    def distinct_sensitive(self) -> dict[str, int]:
        """The fewest distinct known values of a sensitive column in any class; 1 or 0: a class tells a value."""
        return dict(self.figures["distinct_sensitive"])

    @property
    def cautions(self) -> tuple[str, ...]:
        """Which sensitive columns a class tells of all that it holds, in sentences."""
        agreed = [name for name, fewest in self.figures.get("distinct_sensitive", {}).items() if fewest < 2]
        return tuple(
            careful(f"a class agrees on {name}, so anyone who finds a person's class knows it.") for name in agreed
        )

    def raise_if_failed(self) -> Verdict:
        """Return the verdict, or raise VerificationError with the counts of what fails."""
        if not self.passed:
            raise VerificationError(
                f"the table does not hold what it claims: {'; '.join(map(str, self.failures))}.",
                hint="do not publish it.",
            )
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values."""
        entries = {
            "passed": self.passed,
            "complete": self.complete,
            "complete_for_receiver": self.complete_for_receiver,
            "conditions": list(self.conditions),
            "held": list(self.held),
            "failures": [failure.to_dict() for failure in self.failures],
            "unchecked": [{"condition": condition, "needs": needs} for condition, needs in self.unchecked.items()],
            "vouched": [{"condition": condition, "manifest": says} for condition, says in self.vouched.items()],
            "columns": list(self.columns),
            "n_records": self.n_records,
            **self.figures,
        }
        return dict(to_json_values(entries))

    @property
    def facts(self) -> tuple[str, ...]:
        """Whether the table holds what it claims; and of each condition whether it fails, was not checked, or holds."""
        left = {name: needs for name, needs in self.unchecked.items() if name not in self.vouched}
        return (
            self._head if self.passed else careful("the table does NOT hold what it claims."),
            *(f"failed: {failure}" for failure in self.failures),
            *(f"not checked: {condition}: {needs}" for condition, needs in left.items()),
            *(
                f"only its publisher could judge: {condition}: {says}; {self.unchecked[condition]}"
                for condition, says in self.vouched.items()
            ),
            *(f"holds: {condition}" for condition in self.held),
            *self.household_facts,
        )

    @property
    def household_facts(self) -> tuple[str, ...]:
        """What knowing a whole household finds, in a sentence, where households are claimed."""
        if "households" not in self.figures:
            return ()
        from hushtable.claims.households import HouseholdFigures

        return (HouseholdFigures(**self.figures["households"]).describe(),)

    @property
    def _head(self) -> str:
        if self.complete:
            return "The table holds what it claims."
        if self.complete_for_receiver:
            return "All that the table can show holds; the rest only its publisher could judge."
        return careful("the table was judged in part.")


@runtime_checkable
class Claim(Protocol):
    """What a release promises: a frozen dataclass that judges a file by code that shares nothing with what made it."""

    kind: ClassVar[str]
    """As written in a manifest: ``"classes"``."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it speaks of."""

    @property
    def models(self) -> Sequence[PrivacyModel]:
        """What its classes or matches satisfy."""

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Columns that it judges besides."""

    @property
    def specs(self) -> Mapping[str, ColumnSpec]:
        """The kinds that columns had before they were published."""

    @property
    def origins(self) -> Mapping[str, ColumnSpec]:
        """How columns are spelled in the input."""

    @property
    def hierarchies(self) -> Mapping[str, object]:
        """What labels mean."""

    @property
    def person(self) -> str | None:
        """The column that says whose record a row is, where it counts persons."""

    @property
    def is_fresh(self) -> bool:
        """Whether that column publishes a new pseudonym for every record."""

    @property
    def suppressed(self) -> str | None:
        """What suppressed records publish; None where there are none, or they are left out."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """What it says, in words."""

    @property
    def sentence(self) -> str:
        """All of it in one sentence, with the reader it assumes."""

    def with_knowledge_of(self, asked: Claim) -> Claim:
        """Return the claim with what another, which asks the same, knows besides: orders, the population."""

    def verify(self, data: Any, *, original: Any = None) -> Verdict:
        """Judge a published table; ``original`` is the input, where a condition compares with it."""

    def to_dict(self) -> dict[str, Any]:
        """Return what a manifest holds of it: no path, no value of a person, no count of the input."""


class SpeaksOfNobody:
    """What a claim says of persons, of models and of how cells are read where it says nothing of them."""

    __slots__ = ()

    models: Sequence[PrivacyModel] = ()
    sensitive: tuple[str, ...] = ()
    specs: Mapping[str, ColumnSpec] = MappingProxyType({})
    origins: Mapping[str, ColumnSpec] = MappingProxyType({})
    hierarchies: Mapping[str, object] = MappingProxyType({})
    person: str | None = None
    counted_unit: ClassVar[str] = "person"  # what is counted where `person` says whose a record is
    is_fresh: bool = False
    suppressed: str | None = None


def with_reading_of(claim: Any, **given: Any) -> Any:
    """Return a claim with other settings: a reading of missing cells, a population."""
    field_names = {each.name for each in fields(claim)}
    useless = [name for name in given if name not in field_names]
    if useless:
        raise InputError(
            f"{useless[0]} was given for a claim of kind {claim.kind!r}.", hint="it has no effect: leave it out."
        )
    return replace(claim, **given)


@dataclass(frozen=True, slots=True)
class Stated(SpeaksOfNobody):
    """A property of the mechanism that made a table, such as differential privacy: no file can show it."""

    columns: tuple[str, ...]  # what it was applied to
    statement: str  # ``"differential privacy (epsilon = 1.0)"``, for instance

    kind: ClassVar[str] = "stated"

    @property
    def conditions(self) -> tuple[str, ...]:
        """The statement."""
        return (self.statement,)

    @property
    def sentence(self) -> str:
        """Who says it."""
        return f"{self.statement} on {', '.join(self.columns)}, as the maker of the table states"

    def with_knowledge_of(self, asked: Claim) -> Stated:
        """Return the claim: another knows nothing besides."""
        del asked
        return self

    def verify(self, data: Any, *, original: Any = None) -> Verdict:
        """Look for the columns; the rest cannot be seen, and the verdict says so."""
        frame = frames.read(data)
        check_columns(self.columns, frame.columns, "columns of the statement")
        unseen = {self.statement: "no file shows what its mechanism did: trust the person who states it, or not"}
        return Verdict(self.conditions, (), self.columns, frame.n_records, unchecked=unseen)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns and the statement."""
        return {"kind": self.kind, "columns": list(self.columns), "statement": self.statement}

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Stated:
        """Read what `to_dict` wrote."""
        return cls(tuple(entries["columns"]), str(entries["statement"]))
