"""Exposure: who can be found by the columns that a release keeps as they are.

A column with the role *other* is said to be known to nobody. Two counts test that sentence:

- among these columns alone, how many records are unique on a few of them? That can be refused: whoever
  does know those columns finds the records, whatever is done to the quasi-identifiers;
- among the published classes crossed with one such column, or two, how many records are unique? That is told
  only: with what nobody is said to know, every class of k records can be taken apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from hushtable._types import FEWEST_RECORDS
from hushtable.claims import Linkage
from hushtable.discover import Determined, Named
from hushtable.errors import ExposureError, InputError, check_whole, quote_names
from hushtable.release.direct_identifiers import ShownIdentifier
from hushtable.wording import careful

if TYPE_CHECKING:
    from hushtable.columns import ProposedStep


class Uniques(NamedTuple):
    """Columns, and how many records are unique on them."""

    columns: tuple[str, ...]
    n_records: int


class Refusal(NamedTuple):
    """Why nothing is written, and what to do; ``message`` is for a fault that does not say of what it is."""

    fault: str
    hint: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class ExposureLimit:
    """How much of a table the columns that are kept as they are may expose.

    Attributes
    ----------
    columns : int
        The most of them that someone is taken to know.
    rate : float
        In [0, 1]: the share of the published records that may be unique on so many.
    named : int
        The most records that may name people in a kept column; see `hushtable.discover.prose`.
    linked : float
        In [0, 1]: the share of the persons looked at who may be found by several of their records, where a published
        column links these; see `hushtable.claims.histories`.
    """

    columns: int = 2
    rate: float = 0.05
    named: int = 0
    linked: float = 0.0

    def __post_init__(self) -> None:
        check_whole("an exposure limit was given columns", self.columns, 1)
        check_whole("an exposure limit was given named", self.named, 0)
        for name in ("rate", "linked"):
            if not 0 <= (given := getattr(self, name)) <= 1:
                raise InputError(f"an exposure limit was given {name} = {given!r}.", hint="a share, from 0 to 1.")


@dataclass(frozen=True, slots=True)
class Exposure:
    """How many published records are unique on columns that are kept as they are.

    Attributes
    ----------
    n_records : int
        Published records. What is dropped is in none of the counts.
    columns : tuple of str
        The columns with the role other, but those that were accepted.
    n_unique : int
        Records that are unique on at most ``limit.columns`` of these columns, whatever all others publish.
    sets : tuple of Uniques
        On which columns: a handful of the smallest sets of most of these records, small ones first, each with all
        records that are unique on it.
    told : tuple of Uniques
        Who knows one column besides the quasi-identifiers, also an accepted or a sensitive one: records that are
        unique in it among those of equal published quasi-identifiers. Most records first; then a handful of pairs.
    told_to : int
        Up to so many columns ``told`` was counted: 2; 1 where there are too many pairs for so many records; 0 where it
        was not counted.
    limit : ExposureLimit
    accepted : mapping of column to str
        Columns that somebody vouches for, and why.
    is_enforced : bool
        Whether a release above the limit is not written, as by a policy.
    complete : bool
        False where there were too many sets to look at: ``n_unique`` is a least number then.
    complete_to : int
        Of the sets of up to so many columns none is missing.
    named : tuple of Named
        How many records name people in the cells of a kept column, a sensitive or an accepted one among them.
    determined : tuple of Determined
        Kept columns that follow from generalized quasi-identifiers, or tell one.
    linkage : Linkage, optional
        Whom several records find, where a published column says whose record a row is and somebody has several. Above
        ``limit.linked``, and where the column was not accepted, nothing is written, enforced or not.
    identifiers : tuple of ShownIdentifier
        Published columns that look like direct identifiers, whatever their role. Unless all of them were accepted,
        nothing is written, and no frame is handed out, enforced or not.
    steps : tuple of ProposedStep
        Of kept columns of numbers that leave more records alone than the limit's rate: to which step they may be
        rounded so that fewer are.
    steps_suffice : bool
        Whether a release above the limit is below it with all of those steps.
    """

    n_records: int
    columns: tuple[str, ...]
    n_unique: int
    sets: tuple[Uniques, ...]
    told: tuple[Uniques, ...]
    told_to: int
    limit: ExposureLimit
    accepted: Mapping[str, str]
    is_enforced: bool
    complete: bool
    complete_to: int
    named: tuple[Named, ...] = ()
    determined: tuple[Determined, ...] = ()
    linkage: Linkage | None = None
    identifiers: tuple[ShownIdentifier, ...] = ()
    steps: tuple[ProposedStep, ...] = ()
    steps_suffice: bool = False

    @property
    def rate(self) -> float:
        """The share of the published records that are unique, in [0, 1]."""
        return self.n_unique / self.n_records if self.n_records else 0.0

    @property
    def is_above(self) -> bool:
        """Whether the rate is above the limit, and of records enough to say so."""
        return self.n_records >= FEWEST_RECORDS and self.rate > self.limit.rate

    @property
    def is_linked(self) -> bool:
        """Whether more persons than the limit allows are found by several of their records, and nobody accepted it."""
        return (
            self.linkage is not None
            and self.linkage.column not in self.accepted
            and self.linkage.rate > self.limit.linked
        )

    @property
    def sentence(self) -> str:
        """A sentence on how many records the kept columns alone make unique."""
        n_columns, left = len(self.columns), " and not accepted" if self.accepted else ""
        on = (
            f"on the column kept as it is{left}"
            if n_columns == 1
            else f"on at most {min(self.limit.columns, n_columns)} of the {n_columns} columns kept as they are{left}"
        )
        least = "" if self.complete else "at least "
        return f"{on}, {least}{self.n_unique:,} of {self.n_records:,} records are unique"

    @property
    def n_found(self) -> int:
        """How many records an attacker finds who also knows the one kept column that finds most."""
        return self.told[0].n_records if self.told else 0

    @property
    def columns_with_many_uniques(self) -> tuple[str, ...]:
        """The kept columns each of which finds a larger share of the records than the limit, alone or in a class."""
        if self.n_records < FEWEST_RECORDS:
            return ()
        single = [each for each in (*self.sets, *self.told) if len(each.columns) == 1]
        many = [each.columns[0] for each in single if each.n_records > self.limit.rate * self.n_records]
        return tuple(name for name in dict.fromkeys(many) if name not in self.accepted)

    @property
    def refused_identifiers(self) -> tuple[ShownIdentifier, ...]:
        """The published columns that look like direct identifiers, without those that were accepted."""
        return tuple(each for each in self.identifiers if each.column not in self.accepted)

    @property
    def refused_names(self) -> tuple[Named, ...]:
        """The columns that name people in more records than the limit allows, without those that were accepted."""
        return tuple(
            each for each in self.named if each.n_records > self.limit.named and each.column not in self.accepted
        )

    @property
    def refused_dependences(self) -> tuple[Determined, ...]:
        """The columns of role other that undo what was generalized, without those that were accepted.

        Of a sensitive column it is told only: models judge what its cells say of a class.
        """
        return tuple(each for each in self.determined if each.column in self.columns)

    @property
    def refusals(self) -> dict[str, Refusal]:
        """What was found that may not be published: identifiers, names, dependences, uniques, links."""
        found = {
            "identifiers": self._refuse_identifiers(),
            "names": self._refuse_names(),
            "dependences": self._refuse_dependences(),
            "uniques": self._refuse_uniques(),
            "links": self._refuse_links(),
        }
        return {what: each for what, each in found.items() if each is not None}

    def _refuse_identifiers(self) -> Refusal | None:
        if not self.refused_identifiers:
            return None
        names = [each.column for each in self.refused_identifiers]
        found = "; ".join(f"{each.column!r} ({each.reason})" for each in self.refused_identifiers)
        return Refusal(
            f"published columns look like direct identifiers: {found}.",
            f"leave {quote_names(names)} out (role identifier); or say why the cells may be published, as "
            f'accept: {{{names[0]!r}: "a reason"}} in the policy, accept={{...}} in Python.',
        )

    def _refuse_names(self) -> Refusal | None:
        if not self.refused_names:
            return None
        names = [each.column for each in self.refused_names]
        named = "; ".join(
            f"{each.column!r} in {each.n_records:,} of {self.n_records:,} ({each.what})" for each in self.refused_names
        )
        return Refusal(
            f"kept columns name people, in more records than the limit of {self.limit.named:,}: {named}.",
            f"leave {quote_names(names)} out (role identifier); or say why the names may "
            f'be published, as accept: {{{names[0]!r}: "a reason"}} in the policy, accept={{...}} in Python.',
        )

    def _refuse_dependences(self) -> Refusal | None:
        if not self.refused_dependences:
            return None
        names = [each.column for each in self.refused_dependences]
        said = "; ".join(each.sentence for each in self.refused_dependences)
        return Refusal(
            f"kept columns undo what was generalized: {said}. Their exact cells take classes apart.",
            f"give {quote_names(names)} the role quasi-identifier, or leave it out (role identifier); or say in the "
            f'policy why it may stay, as accept: {{{names[0]!r}: "a reason"}}.',
        )

    def _refuse_uniques(self) -> Refusal | None:
        if not self.is_above:
            return None
        held = sum((Counter(dict.fromkeys(each.columns, each.n_records)) for each in self.sets), Counter[str]())
        ((suspect, _),), rounding = held.most_common(1), ""
        if self.steps_suffice:
            from hushtable.release.proposed_steps import describe_rounding

            rounding = describe_rounding(self)
        named = "; ".join(f"{each.n_records:,} on {quote_names(each.columns)}" for each in self.sets)
        return Refusal(
            f"{self.sentence}: {self.rate:.2%}, above the limit of {self.limit.rate:.2%} ({named}).",
            "a reader who knows those columns finds these people. Give them the role quasi-identifier, sensitive "
            f"or identifier{rounding}. Or say in the policy why nobody knows them, as "
            f'accept: {{{suspect!r}: "a reason"}}.',
        )

    def _refuse_links(self) -> Refusal | None:
        if not self.is_linked or self.linkage is None:
            return None
        name, fault = self.linkage.column, f"{'; '.join(self.linkage.lines()[1:] or self.linkage.lines())}."
        return Refusal(
            fault,
            f"leave {name!r} out, or give every record a new pseudonym (`action: fresh`, "
            "Pseudonyms(fresh=[...])). Or say in the policy why nobody knows several records, as "
            f'accept: {{{name!r}: "a reason"}}.',
            f"nothing is written: column {name!r} links the records of a person: {fault}",
        )

    def raise_if_found(self, *what: str) -> None:
        """Raise ExposureError where something of this was found, by the keys of `refusals`."""
        refusals = self.refusals
        for refusal in (refusals[each] for each in what if each in refusals):
            raise ExposureError(refusal.message or f"nothing is written: {refusal.fault}", hint=refusal.hint)

    def raise_if_unpublishable(self) -> None:
        """Raise ExposureError where the release must not be written; some is refused only where that is enforced."""
        enforced = ("dependences", "uniques") if self.is_enforced else ()
        self.raise_if_found("identifiers", "links", "names", *enforced)

    def lines(self) -> list[str]:
        """Describe what was measured, the most dangerous first: names, counts and given reasons, no cell."""
        return [
            *self.describe_dangers(),
            *self.describe_joint_uniques(),
            *(each.describe() for each in self.steps),
            *self.describe_tests(),
            *self.describe_acceptances(),
        ]

    def describe_dangers(self) -> list[str]:
        """Describe what speaks against publishing: links, names, uniques on kept columns, undone generalization."""
        unique_lines = [self.sentence] if self.n_unique else []
        if not self.complete:
            unique_lines.append(
                f"too many sets of columns to look at them all: complete up to {self.complete_to} columns"
            )
        name_lines = [
            f"{each.column} names people in {each.n_records:,} of {self.n_records:,} records ({each.what})"
            for each in self.named
        ]
        undone = [f"{each.sentence}: its exact cells take classes apart" for each in self.determined]
        identifier_lines = [
            f"{each.column} looks like a direct identifier ({each.reason})" for each in self.identifiers
        ]
        return [*identifier_lines, *(self.linkage.lines() if self.linkage else []), *name_lines, *undone, *unique_lines]

    def describe_tests(self) -> list[str]:
        """Describe the tests that found nobody."""
        return [self.sentence] if self.columns and not self.n_unique else []

    def describe_joint_uniques(self) -> list[str]:
        """Describe whom attackers find who also know kept columns."""
        if not self.told_to:
            lacking = (
                "whom a reader finds who also knows a kept column was not counted: there are too many distinct rows"
            )
            return [careful(lacking)]
        by_size = [[each for each in self.told if len(each.columns) == size and each.n_records] for size in (1, 2)]
        return [
            careful(
                f"a reader who also knows {' and '.join(each.columns)} "
                f"finds {each.n_records:,} of {self.n_records:,} records"
            )
            for each in (*by_size[0][:3], *by_size[1][:1])
        ]

    def describe_acceptances(self) -> list[str]:
        """Describe which columns were accepted, and why."""
        return [f"accepted: {name} ({reason})" for name, reason in self.accepted.items()]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        sets, joint_uniques = (
            [{"columns": list(each.columns), "n_records": each.n_records} for each in found]
            for found in (self.sets, self.told)
        )
        named = [asdict(each) for each in self.named]
        undone = [{**asdict(each), "by": list(each.by)} for each in self.determined]
        linkage = None if self.linkage is None else self.linkage.to_dict()
        entries = {"columns": list(self.columns), "sets": sets, "told": joint_uniques}
        entries |= {"named": named, "determined": undone, "linkage": linkage}
        entries |= {"identifiers": [each._asdict() for each in self.identifiers]}
        entries |= {"steps": [each._asdict() for each in self.steps]}
        return {**asdict(self), **entries, "rate": self.rate, "is_above": self.is_above}

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Exposure:
        """Read the entries of `to_dict`, also of earlier versions, which had fewer."""
        sets, joint_uniques = (
            tuple(Uniques(tuple(each["columns"]), each["n_records"]) for each in entries.get(name, ()))
            for name in ("sets", "told")
        )
        linkage = entries.get("linkage")
        return cls(
            entries["n_records"],
            tuple(entries["columns"]),
            entries["n_unique"],
            sets,
            joint_uniques,
            entries.get("told_to", 1),
            ExposureLimit(**entries["limit"]),
            entries["accepted"],
            bool(entries.get("is_enforced")),
            entries["complete"],
            entries.get("complete_to", 0),
            tuple(Named(**each) for each in entries.get("named", ())),
            tuple(
                Determined(each["column"], tuple(each["by"]), each["tells"]) for each in entries.get("determined", ())
            ),
            None if linkage is None else Linkage.from_dict(linkage),
            tuple(ShownIdentifier(**each) for each in entries.get("identifiers", ())),
            tuple(_step_kind()(**each) for each in entries.get("steps", ())),
            bool(entries.get("steps_suffice")),
        )


def _step_kind() -> type[ProposedStep]:
    from hushtable.columns import ProposedStep

    return ProposedStep
