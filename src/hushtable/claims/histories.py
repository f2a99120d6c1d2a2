"""The claim that persons hide with all their records, which a published column links.

The history of a person is the multiset of the rows under one pseudonym. Rows are classed by their cells and by the
history that they are part of: whoever is in a class of k persons has a history that k persons have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.claims.classes import Classes, Judgement
from hushtable.claims.grouping import Grouped, label_rows
from hushtable.claims.linked import count_fitting, indexed
from hushtable.claims.verdict import Failure
from hushtable.columns import SUPPRESSED, text_codes
from hushtable.errors import InputError, check_columns, listed, with_hint
from hushtable.io import frames
from hushtable.models import KMAnonymity, LinkedKAnonymity, PrivacyModel

__all__ = ["HistoryClaim"]

_SETS: Final = 50_000  # of known records that are looked at
_SEED: Final = 0


@dataclass(frozen=True, slots=True, eq=False)
class HistoryClaim(Classes):
    """Persons hide with their histories; the attributes are those of `Classes`.

    Where linked k-anonymity is claimed, the classes that models judge are those of equal cells in equal histories, and
    persons are counted in them; so l-diversity is that of a record among persons who cannot be told apart by all that
    they have. Where (k,m)-anonymity alone is claimed, models judge the classes of equal cells.

    Notes
    -----
    A row could be a known record if each of its cells is equal to that of the record's own row, or ``*``. Other cells
    that overlap are not taken for one another, so that never too many persons are counted. Every row has to say whose
    it is, suppressed ones too: they are part of a history.
    """

    kind: ClassVar[str] = "histories"

    def __post_init__(self) -> None:
        Classes.__post_init__(self)
        asked = listed([model.name for model in self.models if model.needs.histories])
        if self.person is None:
            msg = with_hint(f"{asked} needs to know whose record a row is.", "name the column: person=.")
            raise InputError(msg)
        if self.is_fresh:
            msg = with_hint(
                f"{asked} was asked, and column {self.person!r} has a new pseudonym for every record.",
                "nothing links the records of a person then: ask for k-anonymity, which counts persons.",
            )
            raise InputError(msg)
        counting = [model.name for model in self.models if model.needs.population]
        if counting:
            msg = with_hint(
                f"{asked} was given with {listed(counting)}.", "a population has no histories: leave it out."
            )
            raise InputError(msg)

    @property
    def sentence(self) -> str:
        """All of it, and the reader it assumes."""
        columns = ", ".join(self.columns)
        known = " and ".join(
            f"any {model.m} records of a person" if isinstance(model, KMAnonymity) else "all records of a person"
            for model in self.models
            if model.needs.histories
        )
        return (
            f"{' and '.join(self.conditions)} on {columns}, for a reader who knows {known} and no other column of them"
        )

    def compares(self, columns: Any) -> bool:
        """Tell whether a table that publishes these columns is judged beside the input."""
        del columns
        return not self.is_whole

    @property
    def _is_linked(self) -> bool:
        return any(isinstance(model, LinkedKAnonymity) for model in self.models)

    def _class_models(self) -> tuple[PrivacyModel, ...]:
        return tuple(model for model in self.models if not model.needs.histories)

    def _grouped(self, frame: frames.Frame, mark: str | None) -> Grouped:
        grouped = Classes._grouped(self, frame, mark)
        if not self._is_linked:
            return grouped
        persons = self.person_codes(frame)
        history = np.append(_told(self._cells(frame)[0], persons, frame.records), -1)[persons]
        labels, first = label_rows(np.array([grouped.labels, history[~grouped.hidden]]))
        return replace(grouped, labels=labels, first=first)

    def _judged(self, data: Any, original: Any) -> Judgement:
        frame = frames.read(data)
        check_columns((str(self.person),), frame.columns, "person")
        judged = Classes._judged(self, frame, original)
        persons = self.person_codes(frame)
        nobody = persons < 0
        found = [*judged.failures]
        if nobody.any():
            n_records = int(frame.records[nobody].sum())
            failure = Failure("every record says whose it is", 1, n_records, float(n_records))
            found.append((failure, lambda: np.flatnonzero(nobody)))
        unchecked, figures = dict(judged.unchecked), dict(judged.figures)
        figures["n_persons"] = int(persons.max(initial=-1)) + 1
        for model in self.models:
            if isinstance(model, LinkedKAnonymity):
                self._whole(model, frame, persons, found)
            elif isinstance(model, KMAnonymity):
                self._known(model, frame, persons, found, unchecked, figures)
        return replace(judged, failures=tuple(found), unchecked=unchecked, figures=figures)

    def _whole(self, model: LinkedKAnonymity, frame: frames.Frame, persons: CodeArray, found: list[Any]) -> None:
        """Judge what all records find; of suppressed ones too it is known how many somebody has."""
        history = _told(self._cells(frame)[0], persons, frame.records)
        n_persons = np.bincount(history)
        few = np.append(n_persons[history] < model.k, np.False_)
        if few.any():
            n_few = int((n_persons < model.k).sum())
            n_records = int(frame.records[few[persons]].sum())
            failure = Failure(self.condition(model), n_few, n_records, float(n_persons.min()))
            found.append((failure, lambda: np.flatnonzero(few[persons])))

    def _known(
        self,
        model: KMAnonymity,
        frame: frames.Frame,
        persons: CodeArray,
        found: list[Any],
        unchecked: dict[str, str],
        figures: dict[str, Any],
    ) -> None:
        """Judge what m known records find."""
        classes, distinct, is_star = self._cells(frame)
        looked = _look(classes, persons, frame.records, _covering(distinct, is_star), model)
        figures[f"{model.name} (m = {model.m})"] = looked.to_dict()
        condition = self.condition(model)
        if looked.few.any():
            told = f"{condition}: {int(looked.few.sum()):,} persons are among fewer, at worst among {looked.fewest}"
            n_records = int(frame.records[(persons >= 0) & looked.few[persons]].sum())
            failure = Failure(told, 0, n_records, float(looked.fewest))
            found.append((failure, lambda: np.flatnonzero((persons >= 0) & looked.few[persons])))
        elif looked.n_left_out:
            unchecked[condition] = (
                f"a sample of {looked.n_sets:,} sets of records was looked at, and none finds fewer than {model.k} "
                f"persons; {looked.n_left_out:,} persons have more sets"
            )

    def _cells(self, frame: frames.Frame) -> tuple[CountArray, CodeArray, BoolArray]:
        """Return the class of every row by its cells, the cells of each class, and which of them are ``*``."""
        codes = np.array([text_codes(frame.column(name), name) for name in self.columns])
        labels, first = label_rows(codes)
        stars = np.array([_is_star(frame, name)[first] for name in self.columns])
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

    def of(self, person: int) -> tuple[CountArray, CountArray]:
        part = slice(self.starts[person], self.starts[person + 1])
        return self.classes[part], self.n_records[part]


def _held(classes: CountArray, persons: CodeArray, counts: CountArray) -> _HeldClasses:
    is_known = persons >= 0
    width = int(classes.max(initial=-1)) + 1
    pairs, inverse = np.unique(persons[is_known].astype(np.int64) * width + classes[is_known], return_inverse=True)
    n_records = np.bincount(inverse, weights=counts[is_known], minlength=len(pairs)).astype(np.int64)
    starts = np.searchsorted(pairs, np.arange(int(persons.max(initial=-1)) + 2) * width)
    return _HeldClasses(starts, pairs % max(width, 1), n_records)


def _told(classes: CountArray, persons: CodeArray, counts: CountArray) -> CountArray:
    """Number the histories; equal ones have one number."""
    held, numbers = _held(classes, persons, counts), dict[bytes, int]()
    n_persons = len(held.starts) - 1
    histories = (np.concatenate(held.of(person)).tobytes() for person in range(n_persons))
    told = (numbers.setdefault(history, len(numbers)) for history in histories)
    return np.fromiter(told, dtype=np.int64, count=n_persons)


def _covering(cells: CodeArray, is_star: BoolArray) -> list[frozenset[int]]:
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
        for each, label in enumerate(labels.tolist()):
            if label in at:
                covering[each].add(at[label])
    return [frozenset(each) for each in covering]


class _Reidentified(NamedTuple):
    """Which persons are among fewer than k, and how many sets of records were looked at."""

    few: BoolArray
    fewest: int
    n_sets: int
    n_left_out: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counts."""
        return {
            "n_persons": len(self.few),
            "n_few": int(self.few.sum()),
            "n_sets": self.n_sets,
            "n_sampled_persons": self.n_left_out,
        }


def _look(
    classes: CountArray, persons: CodeArray, counts: CountArray, covering: list[frozenset[int]], model: KMAnonymity
) -> _Reidentified:
    """Look whom sets of m records fit; of persons with an equal history one stands for all."""
    held, history = _held(classes, persons, counts), _told(classes, persons, counts)
    _, first, n_persons = np.unique(history, return_index=True, return_counts=True)
    # What one of k equal histories holds, all of them hold.
    rare = np.flatnonzero(n_persons < model.k)
    is_few, fewest, fits = np.zeros(len(n_persons), dtype=bool), model.k, dict[tuple[int, ...], int]()
    is_left_out = np.zeros(len(n_persons), dtype=bool)
    n_all = [comb(n, min(n, model.m)) for n in (int(held.of(person)[1].sum()) for person in first[rare].tolist())]
    most = max(n_all, default=0) if sum(n_all) <= _SETS else max(1, _SETS // len(rare))
    rng = np.random.default_rng(_SEED)
    index = indexed(classes, persons, counts, np.flatnonzero(persons >= 0), len(covering))
    for place, (number, n) in enumerate(zip(rare.tolist(), n_all, strict=True)):
        is_left_out[number] = n > most or place >= _SETS
        if place >= _SETS:
            continue
        for known in _sets(*held.of(int(first[number])), model.m, most if n > most else None, rng):
            if known not in fits:
                fits[known] = count_fitting(index, [covering[each] for each in known], model.k)
            if fits[known] < model.k:
                is_few[number], fewest = True, min(fewest, fits[known])
    left_out = int(n_persons[is_left_out].sum())
    return _Reidentified(is_few[history], fewest, len(fits), left_out)


def _sets(
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
