"""Persons who are found by several of their records, because a published column links these.

Where a column says whose record a row is, as it is or as a pseudonym, someone who knows several records of a person
looks for the rows that could be each of them, and keeps the persons who have one for each. Every row may be met
once. A row could be a known record if each of its published cells could cover the value of the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.claims.classes import Classes
from hushtable.claims.grouping import group
from hushtable.claims.verdict import Claim, Failure, Verdict
from hushtable.errors import check_columns
from hushtable.io import frames

__all__ = ["Index", "Known", "Linkage", "count_fitting", "count_linked", "indexed", "linked_in"]

_MOST_KNOWN: Final = 3
_SAMPLE: Final = 1_000  # persons
_AT_ONCE: Final = 4_096  # persons who are compared


class Known(NamedTuple):
    """What someone finds who knows so many records of a person."""

    n_records: int
    n_persons: int
    n_found: int
    n_few: int


@dataclass(frozen=True, slots=True)
class Linkage:
    """How many persons are found by several records that a published column links.

    Attributes
    ----------
    column : str
        The published column that says whose record a row is.
    n_persons : int
        Persons with two records or more.
    k : int
        Among fewer persons nobody is to be.
    known : tuple of Known
        For 1, 2 and 3 known records: of so many persons with as many records, how many are found (nobody else has
        records that fit), and how many are among fewer than k. By one record everybody is looked at, and is found if
        one of the records does it. By more, records are drawn, of at most 1,000 persons.
    most_known : int
        Who knows more records than that is told of, and not counted in `rate`: 3, or the m of (k,m)-anonymity.
    """

    column: str
    n_persons: int
    k: int
    known: tuple[Known, ...]
    most_known: int = _MOST_KNOWN

    @property
    def rate(self) -> float:
        """The largest share of the persons looked at that are found, in [0, 1]."""
        counted = (each for each in self.known if each.n_persons and each.n_records <= self.most_known)
        return max((each.n_found / each.n_persons for each in counted), default=0.0)

    def lines(self) -> list[str]:
        """Say what was counted, for each number of known records."""
        return [
            f"who knows {_records(each.n_records)} of a person finds {each.n_found:,} of {each.n_persons:,} persons "
            f"(linked by {self.column}); {each.n_few:,} are among fewer than {self.k}"
            for each in self.known
        ]

    def told_in(self, verdict: Verdict) -> Verdict:
        """Return a verdict that fails where somebody is found, and has the counts among its figures."""
        most = max(self.known, key=lambda each: each.n_found / each.n_persons if each.n_persons else 0.0)
        told = f"who knows {_records(most.n_records)} of a person finds {most.n_found:,} of {most.n_persons:,} persons"
        found = (Failure(told, 0, 0, self.rate),) if self.rate else ()
        return replace(
            verdict,
            failures=(*verdict.failures, *found),
            figures={**verdict.figures, "linkage": self.to_dict()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {**asdict(self), "known": [each._asdict() for each in self.known], "rate": self.rate}


def _records(n: int) -> str:
    return "1 record" if n == 1 else f"{n} records"


class _Persons(NamedTuple):
    """Persons, ascending, and how many rows of each could be a record."""

    persons: CodeArray
    n_rows: CountArray

    def at_least(self, n: int) -> _Persons:
        """Return those with so many rows."""
        return self if n == 1 else _Persons(self.persons[self.n_rows >= n], self.n_rows[self.n_rows >= n])


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The persons of every class, and the classes that could hold every record."""

    persons: CodeArray = field(repr=False)
    n_rows: CountArray = field(repr=False)
    starts: CountArray = field(repr=False)
    holding: Mapping[int, frozenset[int]] = field(default_factory=dict, repr=False)

    def covered(
        self, classes: CountArray | CodeArray, rows: CountArray, others: tuple[CountArray, CountArray] | None
    ) -> Index:
        """Return the index with the classes that could hold each of some rows."""
        holding = {row: {own} for row, own in zip(rows.tolist(), classes[rows].tolist(), strict=True)}
        if others is not None:
            for found, row in zip(others[0].tolist(), others[1].tolist(), strict=True):
                holding[row].add(found)
        return replace(self, holding={row: frozenset(each) for row, each in holding.items()})

    def within(self, classes: frozenset[int]) -> _Persons:
        """Return the persons of some classes."""
        parts = [slice(self.starts[each], self.starts[each + 1]) for each in sorted(classes)]
        if len(parts) == 1:
            return _Persons(self.persons[parts[0]], self.n_rows[parts[0]])
        together = np.concatenate([self.persons[each] for each in parts])
        persons, inverse = np.unique(together, return_inverse=True)
        n_rows = np.bincount(inverse, weights=np.concatenate([self.n_rows[each] for each in parts]))
        return _Persons(persons, n_rows.astype(np.int64))


def count_linked(
    classes: CountArray | CodeArray,
    persons: CodeArray,
    counts: CountArray,
    k: int,
    column: str,
    *,
    others: Callable[[CountArray], tuple[CountArray, CountArray]] | None = None,
) -> Linkage:
    """Count the persons who are found by 1, 2 and 3 of their records.

    Parameters
    ----------
    classes : ndarray of int, shape (n_rows,)
        Rows with equal published cells have one number, 0 or more; -1 is not published.
    persons : ndarray of int32, shape (n_rows,)
        Whose record each row is; -1 is nobody, who is not looked for and hides nobody.
    counts : ndarray of int64, shape (n_rows,)
        Records of each row.
    k : int
    column : str
    others : callable, optional
        Returns, for some rows, the pairs of a class and such a row that its cells could cover, besides each row's own.
        Without it nothing but its own class is taken for a record: that never finds too few persons.

    Notes
    -----
    Of two and three records a sample with a fixed seed, so that a release is refused or not whatever the machine.
    """
    is_known = (classes >= 0) & (persons >= 0) & (counts > 0)
    rows = np.flatnonzero(is_known)
    n_classes = int(classes.max(initial=-1)) + 1
    index = indexed(classes, persons, counts, rows, n_classes)
    n_records = np.bincount(persons[rows], weights=counts[rows]).astype(np.int64)
    order = rows[np.lexsort((classes[rows], persons[rows]))]
    drawn = {n: _drawn(persons, counts, order, n_records, n) for n in range(2, _MOST_KNOWN + 1)}
    in_small = rows[np.diff(index.starts)[classes[rows]] < max(k, 2)]
    looked_for = np.unique(np.concatenate([in_small, *(each.reshape(-1) for each in drawn.values())]))
    index = index.covered(classes, looked_for, None if others is None else others(looked_for))
    known = [_by_one(index, persons, in_small, int((n_records > 0).sum()), k)]
    known += [_by_several(index, each, n, k) for n, each in drawn.items()]
    several = int((n_records > 1).sum())
    return Linkage(column, several, k, tuple(each for each in known if each.n_persons))


def indexed(
    classes: CountArray | CodeArray,
    persons: CodeArray,
    counts: CountArray,
    rows: CountArray,
    n_classes: int,
) -> Index:
    """Return the persons of every class, by the rows that are looked at."""
    width = int(persons.max(initial=-1)) + 1
    pairs, inverse = np.unique(classes[rows].astype(np.int64) * width + persons[rows], return_inverse=True)
    n_rows = np.bincount(inverse, weights=counts[rows], minlength=len(pairs)).astype(np.int64)
    starts = np.searchsorted(pairs, np.arange(n_classes + 1) * width)
    return Index((pairs % max(width, 1)).astype(np.int32), n_rows, starts)


def _drawn(
    persons: CodeArray, counts: CountArray, order: CountArray, n_records: CountArray, n_known: int
) -> CountArray:
    """Draw so many records of everybody who has them, or of a sample; return their rows, a line for each person."""
    rng = np.random.default_rng(n_known)
    able = np.flatnonzero(n_records >= n_known)
    if len(able) > _SAMPLE:
        able = np.sort(rng.choice(able, _SAMPLE, replace=False))
    whose = persons[order]
    starts, ends = np.searchsorted(whose, able), np.searchsorted(whose, able, side="right")
    drawn = np.empty((len(able), n_known), dtype=np.int64)
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        last = np.cumsum(counts[order[start:end]])
        records = rng.choice(int(last[-1]), n_known, replace=False)
        drawn[i] = order[start:end][np.searchsorted(last, records, side="right")]
    return drawn


def _by_one(index: Index, persons: CodeArray, in_small: CountArray, n_persons: int, k: int) -> Known:
    """Look at every record whose own class holds fewer than k persons: whom it fits."""
    fits: dict[frozenset[int], int] = {}
    found, few = set(), set()
    for row, person in zip(in_small.tolist(), persons[in_small].tolist(), strict=True):
        classes = index.holding[row]
        if classes not in fits:
            fits[classes] = len(index.within(classes).persons)
        if fits[classes] < 2:
            found.add(person)
        if fits[classes] < k:
            few.add(person)
    return Known(1, n_persons, len(found), len(found | few))


def _by_several(index: Index, drawn: CountArray, n_known: int, k: int) -> Known:
    """Look whom all of the drawn records of a person fit."""
    n_fitting = [count_fitting(index, [index.holding[row] for row in rows], max(k, 2)) for rows in drawn.tolist()]
    n_found, n_few = (sum(n < least for n in n_fitting) for least in (2, k))
    return Known(n_known, len(drawn), n_found, max(n_found, n_few))


def count_fitting(index: Index, known: Sequence[frozenset[int]], enough: int) -> int:
    """Count the persons who have a row for every known record, each in some classes, up to about ``enough``."""
    return _n_fitting(list(_needs(index, known)), enough)


def _needs(index: Index, known: Sequence[frozenset[int]]) -> Iterator[_Persons]:
    """Yield the persons with rows enough for every part of what is known: who is in all has a row for each record."""
    for size in range(1, len(known) + 1):
        for part in combinations(known, size):
            # By Hall's theorem; where the rows of records are apart, smaller parts say it all.
            if size == 1 or any(one & other for one, other in combinations(part, 2)):
                yield index.within(frozenset().union(*part)).at_least(size)


def _n_fitting(needs: list[_Persons], enough: int) -> int:
    """Count the persons who are in all of some lists, up to so many."""
    first, *others = sorted(needs, key=lambda each: len(each.persons))
    n_fitting = 0
    for begin in range(0, len(first.persons), _AT_ONCE):
        left = first.persons[begin : begin + _AT_ONCE]
        for other in others:
            at = np.minimum(np.searchsorted(other.persons, left), max(0, len(other.persons) - 1))
            left = left[other.persons[at] == left] if len(other.persons) else left[:0]
        n_fitting += len(left)
        if n_fitting >= enough:
            break
    return n_fitting


def linked_in(claim: Claim, data: Any) -> Linkage | None:
    """Count from a published table whom several records find; None where no published column links records.

    The table does not tell the values of a known record: its row is looked for among those of its own class and the
    suppressed ones. That never finds too few persons.

    Parameters
    ----------
    claim : Claim
    data : path or dataframe
    """
    frame = frames.read(data)
    if not isinstance(claim, Classes) or claim.is_fresh or claim.person not in frame.columns:
        return None
    check_columns(claim.columns, frame.columns, "quasi_identifiers")
    grouped = group(frame, claim.columns, claim.sensitive, claim.suppressed)
    persons = claim.person_codes(frame)
    classes = np.full(frame.n_rows, grouped.n_classes, dtype=np.int64)
    classes[~grouped.hidden] = grouped.labels

    def anywhere(rows: CountArray) -> tuple[CountArray, CountArray]:
        # A record of `*` could be anybody's.
        return np.full(len(rows), grouped.n_classes), rows

    others = anywhere if grouped.hidden.any() else None
    found = count_linked(classes, persons, frame.records, claim.k, str(claim.person), others=others)
    return found if found.n_persons else None
