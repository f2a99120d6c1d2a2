"""The claim that persons hide with all their records, which a published column links, and who is found without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations, pairwise
from math import comb
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.claims.classes import Classes, Judgement
from hushtable.claims.grouping import Grouped, count_values, group_rows, label_rows
from hushtable.claims.verdict import Claim, Failure, Verdict
from hushtable.columns import SUPPRESSED, text_codes
from hushtable.errors import InputError, check_columns, quote_names
from hushtable.io import frames
from hushtable.models import KMAnonymity, LinkedKAnonymity, PrivacyModel

_MAX_KNOWN_RECORDS: Final = 3
_PERSONS_IN_SAMPLE: Final = 1_000  # persons
_PERSONS_PER_STEP: Final = 4_096  # persons who are compared


class Known(NamedTuple):
    """What someone finds who knows so many records of a person."""

    n_records: int
    n_persons: int
    n_found: int
    n_few: int


@dataclass(frozen=True, slots=True)
class Linkage:
    """How many persons are found by several records that a published column links."""

    column: str  # the published column that says whose record a row is
    n_persons: int  # with two records or more
    k: int  # among fewer persons nobody is to be
    # For 1, 2 and 3 known records. By one, everybody is looked at, and found if one of the records does it. By more,
    # records are drawn, of at most 1,000 persons.
    known: tuple[Known, ...]
    most_known: int = _MAX_KNOWN_RECORDS  # who knows more is not counted in `rate`: 3, or the m of (k,m)-anonymity
    unit: str = "person"  # what the column names: of a claim on households, "household"

    @property
    def rate(self) -> float:
        """The largest share of the persons looked at that are found, in [0, 1]."""
        counted = (each for each in self.known if each.n_persons and each.n_records <= self.most_known)
        return max((each.n_found / each.n_persons for each in counted), default=0.0)

    def lines(self) -> list[str]:
        """Describe the counts, a line for each number of known records."""
        return [self._describe(each) for each in self.known]

    def _describe(self, known: Known) -> str:
        records, n_found, n_persons, n_few = (
            _format_records(known.n_records),
            known.n_found,
            known.n_persons,
            known.n_few,
        )
        if self.unit == "household":
            return (
                f"who knows {records} of a household finds {n_found:,} of {n_persons:,} households (linked by "
                f"{self.column}); {n_few:,} are among fewer than {self.k}"
            )
        return (
            f"who knows {records} of a person finds {n_found:,} of {n_persons:,} persons (linked by {self.column}); "
            f"{n_few:,} are among fewer than {self.k}"
        )

    def add_to_verdict(self, verdict: Verdict) -> Verdict:
        """Return a verdict that fails where somebody is found, and has the counts among its figures."""
        most = max(self.known, key=lambda each: each.n_found / each.n_persons if each.n_persons else 0.0)
        records = _format_records(most.n_records)
        condition = f"who knows {records} of a person finds {most.n_found:,} of {most.n_persons:,} persons"
        failures = (Failure(condition, 0, 0, self.rate),) if self.rate else ()
        return replace(
            verdict,
            failures=(*verdict.failures, *failures),
            figures={**verdict.figures, "linkage": self.to_dict()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {**asdict(self), "known": [each._asdict() for each in self.known], "rate": self.rate}

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Linkage:
        """Read what `to_dict` wrote."""
        known = tuple(Known(**each) for each in entries["known"])
        unit = entries.get("unit", "person")
        return cls(entries["column"], entries["n_persons"], entries["k"], known, entries["most_known"], unit)


def _format_records(n: int) -> str:
    return "1 record" if n == 1 else f"{n} records"


class _Persons(NamedTuple):
    """Persons, ascending, and how many rows of each could be a record."""

    persons: CodeArray
    n_rows: CountArray

    def with_min_rows(self, n: int) -> _Persons:
        """Return those with so many rows."""
        return self if n == 1 else _Persons(self.persons[self.n_rows >= n], self.n_rows[self.n_rows >= n])


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The persons of every class, and the classes that could hold every record."""

    persons: CodeArray = field(repr=False)
    n_rows: CountArray = field(repr=False)
    starts: CountArray = field(repr=False)
    holding: Mapping[int, frozenset[int]] = field(default_factory=dict, repr=False)

    def with_covering_classes(
        self, classes: CountArray | CodeArray, rows: CountArray, more_pairs: tuple[CountArray, CountArray] | None
    ) -> Index:
        """Return the index with the classes that could hold each of some rows."""
        holding = {row: {own} for row, own in zip(rows.tolist(), classes[rows].tolist(), strict=True)}
        if more_pairs is not None:
            for class_number, row in zip(more_pairs[0].tolist(), more_pairs[1].tolist(), strict=True):
                holding[row].add(class_number)
        return replace(self, holding={row: frozenset(each) for row, each in holding.items()})

    def persons_in(self, classes: frozenset[int]) -> _Persons:
        """Return the persons of some classes."""
        parts = [slice(self.starts[each], self.starts[each + 1]) for each in sorted(classes)]
        if len(parts) == 1:
            return _Persons(self.persons[parts[0]], self.n_rows[parts[0]])
        all_persons = np.concatenate([self.persons[each] for each in parts])
        persons, inverse = np.unique(all_persons, return_inverse=True)
        n_rows = np.bincount(inverse, weights=np.concatenate([self.n_rows[each] for each in parts]))
        return _Persons(persons, n_rows.astype(np.int64))


def measure_linkage(
    classes: CountArray | CodeArray,
    persons: CodeArray,
    counts: CountArray,
    k: int,
    column: str,
    *,
    others: Callable[[CountArray], tuple[CountArray, CountArray]] | None = None,
) -> Linkage:
    """Count the persons who are found by 1, 2 and 3 of their records.

    ``classes`` number rows of equal published cells, -1 is not published; a person of -1 is nobody, who is not looked
    for and hides nobody. ``others`` returns, for some rows, the pairs of a class and a row that its cells could cover
    besides the row's own. The seed is fixed, so that a release is refused or not whatever the machine.
    """
    is_known = (classes >= 0) & (persons >= 0) & (counts > 0)
    rows = np.flatnonzero(is_known)
    n_classes = int(classes.max(initial=-1)) + 1
    index = build_index(classes, persons, counts, rows, n_classes)
    n_records = np.bincount(persons[rows], weights=counts[rows]).astype(np.int64)
    order = rows[np.lexsort((classes[rows], persons[rows]))]
    samples = {n: _draw_records(persons, counts, order, n_records, n) for n in range(2, _MAX_KNOWN_RECORDS + 1)}
    in_small = rows[np.diff(index.starts)[classes[rows]] < max(k, 2)]
    looked_for = np.unique(np.concatenate([in_small, *(each.reshape(-1) for each in samples.values())]))
    index = index.with_covering_classes(classes, looked_for, None if others is None else others(looked_for))
    known = [_count_by_one(index, persons, in_small, int((n_records > 0).sum()), k)]
    known += [_count_by_several(index, each, n, k) for n, each in samples.items()]
    n_several = int((n_records > 1).sum())
    return Linkage(column, n_several, k, tuple(each for each in known if each.n_persons))


def build_index(
    classes: CountArray | CodeArray, persons: CodeArray, counts: CountArray, rows: CountArray, n_classes: int
) -> Index:
    """Return the persons of every class, by the rows that are looked at."""
    histogram = count_values(classes[rows].astype(np.int64), persons[rows], n_classes, counts[rows])
    return Index(histogram.codes, histogram.counts, histogram.offsets)


def _draw_records(
    persons: CodeArray, counts: CountArray, order: CountArray, n_records: CountArray, n_known: int
) -> CountArray:
    """Draw so many records of everybody who has them, or of a sample; return their rows, a line for each person."""
    rng = np.random.default_rng(n_known)
    able = np.flatnonzero(n_records >= n_known)
    if len(able) > _PERSONS_IN_SAMPLE:
        able = np.sort(rng.choice(able, _PERSONS_IN_SAMPLE, replace=False))
    whose = persons[order]
    starts, ends = np.searchsorted(whose, able), np.searchsorted(whose, able, side="right")
    sample = np.empty((len(able), n_known), dtype=np.int64)
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        last = np.cumsum(counts[order[start:end]])
        records = rng.choice(int(last[-1]), n_known, replace=False)
        sample[i] = order[start:end][np.searchsorted(last, records, side="right")]
    return sample


def _count_by_one(index: Index, persons: CodeArray, in_small: CountArray, n_persons: int, k: int) -> Known:
    """Count the persons whom one record finds: only records whose own class holds fewer than k persons can."""
    fits: dict[frozenset[int], int] = {}
    found_persons, few_persons = set(), set()
    for row, person in zip(in_small.tolist(), persons[in_small].tolist(), strict=True):
        classes = index.holding[row]
        if classes not in fits:
            fits[classes] = len(index.persons_in(classes).persons)
        if fits[classes] < 2:
            found_persons.add(person)
        if fits[classes] < k:
            few_persons.add(person)
    return Known(1, n_persons, len(found_persons), len(found_persons | few_persons))


def _count_by_several(index: Index, sample: CountArray, n_known: int, k: int) -> Known:
    """Count the persons whom all of their drawn records together find."""
    n_fitting = [count_fitting(index, [index.holding[row] for row in rows], max(k, 2)) for rows in sample.tolist()]
    n_found, n_few = (sum(n < least for n in n_fitting) for least in (2, k))
    return Known(n_known, len(sample), n_found, max(n_found, n_few))


def count_fitting(index: Index, known: Sequence[frozenset[int]], enough: int) -> int:
    """Count the persons who have a row for every known record, each in some classes, up to about ``enough``."""
    first, *others = sorted(_list_candidates(index, known), key=lambda each: len(each.persons))
    n_fitting = 0
    for begin in range(0, len(first.persons), _PERSONS_PER_STEP):
        candidates = first.persons[begin : begin + _PERSONS_PER_STEP]
        for other in others:
            at = np.minimum(np.searchsorted(other.persons, candidates), max(0, len(other.persons) - 1))
            candidates = candidates[other.persons[at] == candidates] if len(other.persons) else candidates[:0]
        n_fitting += len(candidates)
        if n_fitting >= enough:
            break
    return n_fitting


def _list_candidates(index: Index, known: Sequence[frozenset[int]]) -> Iterator[_Persons]:
    """Yield the persons with rows enough for every part of what is known: who is in all has a row for each record."""
    for size in range(1, len(known) + 1):
        for part in combinations(known, size):
            # By Hall's theorem; where the rows of records are apart, smaller parts say it all.
            if size == 1 or any(one & other for one, other in combinations(part, 2)):
                yield index.persons_in(frozenset().union(*part)).with_min_rows(size)


def measure_claim_linkage(claim: Claim, data: Any) -> Linkage | None:
    """Count from a published table whom several records find; None where no published column links records.

    A known record is looked for in its own class and the suppressed rows, which never finds too few persons.
    """
    frame = frames.read(data)
    if not isinstance(claim, Classes) or claim.is_fresh or claim.person not in frame.columns:
        return None
    check_columns(claim.columns, frame.columns, "quasi_identifiers")
    grouped = group_rows(frame, claim.columns, claim.sensitive, claim.suppressed)
    persons = claim.person_codes(frame)
    classes = np.full(frame.n_rows, grouped.n_classes, dtype=np.int64)
    classes[~grouped.is_suppressed] = grouped.labels

    def anywhere(rows: CountArray) -> tuple[CountArray, CountArray]:
        # A record of `*` could be anybody's.
        return np.full(len(rows), grouped.n_classes), rows

    others = anywhere if grouped.is_suppressed.any() else None
    found = measure_linkage(classes, persons, frame.records, claim.k, str(claim.person), others=others)
    return replace(found, unit=claim.counted_unit) if found.n_persons else None


_MAX_SETS_COUNTED: Final = 10**9  # of known records that are looked at one and all
_SETS_PER_PART: Final = 2**20
_MAX_SETS_SEARCHED: Final = 50_000  # of those that are looked at one by one
_SEED: Final = 0


@dataclass(frozen=True, slots=True, eq=False)
class HistoryClaim(Classes):
    """Persons hide with their histories; the attributes are those of `Classes`.

    Where linked k-anonymity is claimed, models judge the classes of equal cells in equal histories, else those of equal
    cells; so l-diversity is that of a record among persons who cannot be told apart by all that they have. A row could
    be a known record if each of its cells equals that of the record's own row, or is ``*``; other cells that overlap
    are not taken for one another, so that never too many persons are counted. Suppressed rows say whose they are, too.
    """

    kind: ClassVar[str] = "histories"

    def __post_init__(self) -> None:
        Classes.__post_init__(self)
        names = quote_names([model.name for model in self.models if model.needs.histories])
        if self.person is None:
            raise InputError(f"{names} needs to know whose record a row is.", hint="name the column: person=.")
        if self.is_fresh:
            raise InputError(
                f"{names} was asked, and column {self.person!r} has a new pseudonym for every record.",
                hint="nothing links the records of a person then: ask for k-anonymity, which counts persons.",
            )
        counting = [model.name for model in self.models if model.needs.population]
        if counting:
            raise InputError(
                f"{names} was given with {quote_names(counting)}.", hint="a population has no histories: leave it out."
            )

    @property
    def sentence(self) -> str:
        """All of it, and the reader it assumes."""
        columns = ", ".join(self.columns)
        scope = " and ".join(
            f"any {model.m} records of a person" if isinstance(model, KMAnonymity) else "all records of a person"
            for model in self.models
            if model.needs.histories
        )
        return (
            f"{' and '.join(self._conditions_of_classes)} on {columns}, for a reader who knows {scope}, published or "
            "left out, and no other column of them"
        )

    @property
    def of_left_out(self) -> str:
        """What left-out records find: who finds a pseudonym by them matched published rows, as k persons have."""
        wrong = "" if self._is_linked else ", but they may fit somebody else alone, who is then taken for the person"
        return f"Records that were left out find nobody either{wrong}."

    def needs_original(self, columns: Any) -> bool:
        """Tell whether a table that publishes these columns is judged beside the input."""
        del columns
        return not self.is_whole

    @property
    def n_known(self) -> int | None:
        """The largest m that is claimed; None where all records may be known."""
        return None if self._is_linked else max(model.m for model in self.models if isinstance(model, KMAnonymity))

    @property
    def _is_linked(self) -> bool:
        return any(isinstance(model, LinkedKAnonymity) for model in self.models)

    def _class_models(self) -> tuple[PrivacyModel, ...]:
        return tuple(model for model in self.models if not model.needs.histories)

    def _group_rows(self, frame: frames.Frame, mark: str | None) -> Grouped:
        grouped = Classes._group_rows(self, frame, mark)
        if not self._is_linked:
            return grouped
        persons = self.person_codes(frame)
        history = np.append(number_histories(group_cells(frame, self.columns)[0], persons, frame.records), -1)[persons]
        labels, first = label_rows(np.array([grouped.labels, history[~grouped.is_suppressed]]))
        return replace(grouped, labels=labels, first=first)

    def _judge(self, data: Any, original: Any) -> Judgement:
        frame = frames.read(data)
        check_columns((str(self.person),), frame.columns, "person")
        judgement = Classes._judge(self, frame, original)
        persons = self.person_codes(frame)
        nobody = persons < 0
        failures = [*judgement.failures]
        if nobody.any():
            n_records = int(frame.records[nobody].sum())
            failure = Failure("every record says whose it is", 1, n_records, float(n_records))
            failures.append((failure, lambda: np.flatnonzero(nobody)))
        unchecked, figures = dict(judgement.unchecked), dict(judgement.figures)
        figures["n_persons"] = int(persons.max(initial=-1)) + 1
        for model in self.models:
            if isinstance(model, LinkedKAnonymity):
                self._judge_histories(model, frame, persons, failures)
            elif isinstance(model, KMAnonymity):
                self._judge_known_records(model, frame, persons, failures, unchecked, figures)
        return replace(judgement, failures=tuple(failures), unchecked=unchecked, figures=figures)

    def _judge_histories(
        self, model: LinkedKAnonymity, frame: frames.Frame, persons: CodeArray, failures: list[Any]
    ) -> None:
        """Judge what all records find; how many suppressed ones a person has is known, too."""
        history = number_histories(group_cells(frame, self.columns)[0], persons, frame.records)
        n_persons = np.bincount(history)
        is_few = np.append(n_persons[history] < model.k, np.False_)
        if is_few.any():
            n_few = int((n_persons < model.k).sum())
            n_records = int(frame.records[is_few[persons]].sum())
            failure = Failure(self.describe_model(model), n_few, n_records, float(n_persons.min()))
            failures.append((failure, lambda: np.flatnonzero(is_few[persons])))

    def _judge_known_records(
        self,
        model: KMAnonymity,
        frame: frames.Frame,
        persons: CodeArray,
        failures: list[Any],
        unchecked: dict[str, str],
        figures: dict[str, Any],
    ) -> None:
        """Judge what m known records find."""
        classes, distinct, is_star = group_cells(frame, self.columns)
        search = search_sets(classes, persons, frame.records, find_covering_classes(distinct, is_star), model)
        figures[f"{model.name} (m = {model.m})"] = search.to_dict()
        condition = self.describe_model(model)
        if search.is_few.any():
            words = f"{condition}: {int(search.is_few.sum()):,} persons are among fewer, at worst among {search.fewest}"
            n_records = int(frame.records[(persons >= 0) & search.is_few[persons]].sum())
            failure = Failure(words, 0, n_records, float(search.fewest))
            failures.append((failure, lambda: np.flatnonzero((persons >= 0) & search.is_few[persons])))
        elif search.n_left_out:
            unchecked[condition] = (
                f"a sample of {search.n_sets:,} sets of records was looked at, and none finds fewer than {model.k} "
                f"persons; {search.n_left_out:,} persons have more sets"
            )


def group_cells(frame: frames.Frame, columns: Sequence[str]) -> tuple[CountArray, CodeArray, BoolArray]:
    """Return the class of every row by its cells, the cells of each class, and which of them are ``*``."""
    codes = np.array([text_codes(frame.column(name), name) for name in columns])
    labels, first = label_rows(codes)
    stars = np.array([_is_star(frame, name)[first] for name in columns])
    return labels, codes[:, first], stars


def _is_star(frame: frames.Frame, name: str) -> BoolArray:
    text = frame.text(name)
    if text is None:
        return np.zeros(frame.n_rows, dtype=bool)
    return np.asarray((text == SUPPRESSED).fill_null(False).to_numpy())


class _HeldClasses(NamedTuple):
    """The classes of each person's records, ascending, and how many are in each."""

    starts: CountArray
    classes: CountArray
    n_records: CountArray

    def records_of(self, person: int) -> tuple[CountArray, CountArray]:
        part = slice(self.starts[person], self.starts[person + 1])
        return self.classes[part], self.n_records[part]


def _classes_by_person(classes: CountArray, persons: CodeArray, counts: CountArray) -> _HeldClasses:
    is_known = persons >= 0
    whose, n_persons = persons[is_known].astype(np.int64), int(persons.max(initial=-1)) + 1
    histogram = count_values(whose, classes[is_known], n_persons, counts[is_known])
    return _HeldClasses(histogram.offsets, histogram.codes.astype(np.int64), histogram.counts)


def number_histories(classes: CountArray, persons: CodeArray, counts: CountArray) -> CountArray:
    """Number the histories of persons by the classes of their records; equal ones have one number."""
    owned, numbers = _classes_by_person(classes, persons, counts), dict[bytes, int]()
    n_persons = len(owned.starts) - 1
    histories = (np.concatenate(owned.records_of(person)).tobytes() for person in range(n_persons))
    history_numbers = (numbers.setdefault(history, len(numbers)) for history in histories)
    return np.fromiter(history_numbers, dtype=np.int64, count=n_persons)


def count_equal_histories(classes: CountArray, persons: CodeArray, counts: CountArray) -> CountArray:
    """Count for each person how many persons, itself included, have its history; see `number_histories`."""
    history = number_histories(classes, persons, counts)
    return np.asarray(np.bincount(history)[history])


def find_covering_classes(cells: CodeArray, is_star: BoolArray) -> list[frozenset[int]]:
    """Return, for every class, the classes whose every cell is equal to its own or ``*``."""
    covering = [{each} for each in range(cells.shape[1])]
    patterns, pattern = np.unique(is_star, axis=1, return_inverse=True)
    for number, starred in enumerate(patterns.T):
        if not starred.any():
            continue
        wide = np.flatnonzero(pattern.ravel() == number)
        if starred.all():
            labels = np.zeros(cells.shape[1], dtype=np.int64)
        else:
            labels, _ = label_rows(cells[~starred])
        at = dict(zip(labels[wide].tolist(), wide.tolist(), strict=True))
        for class_number, label in enumerate(labels.tolist()):
            if label in at:
                covering[class_number].add(at[label])
    return [frozenset(each) for each in covering]


class RareSets(NamedTuple):
    """Sets of known records that fewer than k persons hold; a set that several persons hold is one of each."""

    persons: CountArray  # (n_sets,), whose records
    classes: CountArray  # (n_sets, m), of the records, ascending; -1 where somebody has fewer
    n_holding: CountArray  # (n_sets,), how many persons have records of these classes

    @classmethod
    def from_parts(cls, parts: Sequence[RareSets]) -> RareSets:
        """Concatenate the sets of several parts."""
        return cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))


class _Ordered(NamedTuple):
    """Records by person and class; of each class as many as a set may hold."""

    persons: CountArray
    classes: CountArray
    is_again: BoolArray  # whether the record before is of the same person and class
    n_after: CountArray  # records of the same person behind each

    def n_sets(self, size: int) -> FloatArray:
        """Return how many sets begin at each record, at most."""
        counts = np.ones(len(self.classes))
        for each in range(size - 1):
            counts *= np.maximum(self.n_after - each, 0) / (each + 1)
        return counts


def _order_records(classes: CountArray, persons: CodeArray, counts: CountArray, size: int) -> _Ordered:
    owned = _classes_by_person(classes, persons, counts)
    n_each = np.minimum(owned.n_records, size)
    owner = np.repeat(np.arange(len(owned.starts) - 1), np.diff(owned.starts))
    owner, own = np.repeat(owner, n_each), np.repeat(owned.classes, n_each)
    is_again = np.append(False, (owner[1:] == owner[:-1]) & (own[1:] == own[:-1]))[: len(own)]
    ends = np.searchsorted(owner, owner, side="right")
    return _Ordered(owner, own, is_again, ends - 1 - np.arange(len(own)))


def count_sets(classes: CountArray | CodeArray, persons: CodeArray, counts: CountArray, m: int) -> float:
    """Count the sets of m known records that `find_rare_sets` would look at, at most."""
    return float(_order_records(classes.astype(np.int64), persons, counts, m).n_sets(m).sum())


def find_rare_sets(
    classes: CountArray | CodeArray, persons: CodeArray, counts: CountArray, k: int, m: int
) -> Iterator[RareSets]:
    """Yield all sets of m known records that fewer than k persons hold, each record in a row of equal cells.

    Every set of every person is looked at, about 1 million at once, by the classes of its first records; so its holders
    are counted exactly. There is one part at least.
    """
    n_records = np.bincount(persons[persons >= 0], weights=counts[persons >= 0]).astype(np.int64)
    for size in range(1, m + 1):
        if size == m or (n_records == size).any():
            yield from _rare_of_size(
                _order_records(classes.astype(np.int64), persons, counts, size), n_records, k, m, size
            )


def _rare_of_size(records: _Ordered, n_records: CountArray, k: int, m: int, size: int) -> Iterator[RareSets]:
    """Yield the sets of so many records that fewer than k persons hold."""
    begins = np.flatnonzero((records.n_sets(size) > 0) & ~records.is_again)
    for part in _split_beginnings(records, begins[None], size):
        yield _rare_among(records, part, n_records, k, m, size)


def _split_beginnings(records: _Ordered, heads: CountArray, size: int) -> Iterator[CountArray]:
    """Split the beginnings of sets into parts of limited size, so that equal sets stay together."""
    heads = heads[:, np.argsort(records.classes[heads[-1]], kind="stable")]
    before = np.append(0.0, np.cumsum(records.n_sets(size - len(heads) + 1)[heads[-1]]))
    of_class = np.append(np.flatnonzero(np.diff(records.classes[heads[-1]], prepend=-1)), heads.shape[1])
    start = 0
    for begin, end in pairwise(of_class.tolist()):
        if before[end] - before[start] > _SETS_PER_PART and begin > start:
            yield heads[:, start:begin]
            start = begin
        if before[end] - before[start] > _SETS_PER_PART and len(heads) < size:
            yield from _split_beginnings(records, _extend_beginnings(records, heads[:, start:end]), size)
            start = end
    yield heads[:, start:]


def _extend_beginnings(records: _Ordered, heads: CountArray) -> CountArray:
    """Add to every beginning each record behind it."""
    n_after = records.n_after[heads[-1]]
    longer = np.repeat(heads, n_after, axis=1)
    next_ = longer[-1] + 1 + np.arange(longer.shape[1]) - np.repeat(np.cumsum(n_after) - n_after, n_after)
    # Of equal records the first ones are taken, so that nobody holds a set twice.
    is_new = ~records.is_again[next_] | (next_ == longer[-1] + 1)
    return np.vstack([longer, next_])[:, is_new]


def _rare_among(records: _Ordered, heads: CountArray, n_records: CountArray, k: int, m: int, size: int) -> RareSets:
    """Return the rare ones among all sets that begin with some records; no other set is equal to one of them."""
    for _ in range(size - len(heads)):
        heads = _extend_beginnings(records, heads)
    sets = records.classes[heads]
    labels, _ = label_rows(sets)
    n_holding = np.bincount(labels)[labels]
    whose = records.persons[heads[0]]
    # Who has more records is known by more.
    rare = np.flatnonzero((n_holding < k) & ((size == m) | (n_records[whose] == size)))
    padded = np.full((len(rare), m), -1, dtype=np.int64)
    padded[:, :size] = sets[:, rare].T
    return RareSets(whose[rare], padded, n_holding[rare])


class _Reidentified(NamedTuple):
    """Which persons are among fewer than k, and how many sets of records were looked at."""

    is_few: BoolArray
    fewest: int
    n_sets: int
    n_left_out: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counts."""
        return {
            "n_persons": len(self.is_few),
            "n_few": int(self.is_few.sum()),
            "n_sets": self.n_sets,
            "n_sampled_persons": self.n_left_out,
        }


def search_sets(
    classes: CountArray, persons: CodeArray, counts: CountArray, covering: list[frozenset[int]], model: KMAnonymity
) -> _Reidentified:
    """Search for sets of m records that fit few persons; of persons with an equal history one stands for all."""
    history = number_histories(classes, persons, counts)
    n_persons = np.bincount(history)
    is_few = np.zeros(len(n_persons), dtype=bool)
    # What one of k equal histories holds, all of them hold.
    if (n_persons >= model.k).all():
        return _Reidentified(is_few[history], model.k, 0, 0)
    n_sets = count_sets(classes, persons, counts, model.m)
    if n_sets > _MAX_SETS_COUNTED:
        return _search_sample(classes, persons, counts, covering, model)
    index = build_index(classes, persons, counts, np.flatnonzero(persons >= 0), len(covering))
    is_wide = np.array([len(each) > 1 for each in covering], dtype=bool)
    fewest, n_doubtful = model.k, 0
    for rare in find_rare_sets(classes, persons, counts, model.k, model.m):
        n_fitting = rare.n_holding.copy()
        # Rows of other classes could hold these; each distinct one is looked at once.
        rows = np.flatnonzero((is_wide[rare.classes] & (rare.classes >= 0)).any(axis=1))
        sets, of_set = np.unique(rare.classes[rows], axis=0, return_inverse=True)
        n_doubtful += len(sets)
        if n_doubtful > _MAX_SETS_SEARCHED:
            return _search_sample(classes, persons, counts, covering, model)
        known = ([covering[each] for each in one if each >= 0] for one in sets.tolist())
        fits = np.array([count_fitting(index, each, model.k) for each in known], dtype=np.int64)
        n_fitting[rows] = fits[of_set.ravel()]
        is_few[history[rare.persons[n_fitting < model.k]]] = True
        fewest = min(fewest, int(n_fitting.min(initial=model.k)))
    return _Reidentified(is_few[history], fewest, int(n_sets), 0)


def _search_sample(
    classes: CountArray, persons: CodeArray, counts: CountArray, covering: list[frozenset[int]], model: KMAnonymity
) -> _Reidentified:
    """Search a sample of the sets of those who have too many."""
    owned, history = _classes_by_person(classes, persons, counts), number_histories(classes, persons, counts)
    _, first, n_persons = np.unique(history, return_index=True, return_counts=True)
    rare = np.flatnonzero(n_persons < model.k)
    is_few, fewest, fits = np.zeros(len(n_persons), dtype=bool), model.k, dict[tuple[int, ...], int]()
    is_left_out = np.zeros(len(n_persons), dtype=bool)
    n_all = [
        comb(n, min(n, model.m)) for n in (int(owned.records_of(person)[1].sum()) for person in first[rare].tolist())
    ]
    limit = max(1, _MAX_SETS_SEARCHED // len(rare))
    rng = np.random.default_rng(_SEED)
    index = build_index(classes, persons, counts, np.flatnonzero(persons >= 0), len(covering))
    for rank, (number, n) in enumerate(zip(rare.tolist(), n_all, strict=True)):
        is_left_out[number] = n > limit or rank >= _MAX_SETS_SEARCHED
        if rank >= _MAX_SETS_SEARCHED:
            continue
        for known in _list_sets(*owned.records_of(int(first[number])), model.m, limit if n > limit else None, rng):
            if known not in fits:
                fits[known] = count_fitting(index, [covering[each] for each in known], model.k)
            if fits[known] < model.k:
                is_few[number], fewest = True, min(fewest, fits[known])
    left_out = int(n_persons[is_left_out].sum())
    return _Reidentified(is_few[history], fewest, len(fits), left_out)


def _list_sets(
    classes: CountArray, n_records: CountArray, m: int, n_drawn: int | None, rng: np.random.Generator
) -> Iterator[tuple[int, ...]]:
    """Yield the sets of m records of a history as their classes, ascending; or so many that are drawn."""
    records = np.repeat(classes, n_records)
    size = min(m, len(records))
    if n_drawn is None:
        yield from {*combinations(records.tolist(), size)}
        return
    for _ in range(n_drawn):
        yield tuple(np.sort(rng.choice(records, size, replace=False)).tolist())
