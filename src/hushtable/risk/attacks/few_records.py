"""Who is found by a few of their records, known roughly: ratings, visits, purchases, places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.columns import ColumnSpec, check_specs
from hushtable.errors import InputError, check_columns, check_whole, names_in
from hushtable.io import Frame, spell_as
from hushtable.risk.assessment import format_percent
from hushtable.risk.attacks.fitting import (
    MAX_FEW,
    PlaceAxis,
    PublishedTable,
    Suspects,
    axes_of,
    count_suspects,
    number_by_value,
    open_publication,
    own_axis,
    values_of,
)
from hushtable.risk.attacks.scoring import BestMatches, check_eccentricity, find_best_matches
from hushtable.risk.intervals import HitRates
from hushtable.risk.nearness import Reaches, check_tolerance, reaches_of
from hushtable.tables import Table, persons_of
from hushtable.wording import StatesFacts, join_names

_DRAWS_PER_WRONG_RECORD: Final = 64


@dataclass(frozen=True, slots=True)
class Trials(HitRates):
    """What somebody achieves who knows so many records of a person."""

    n_known: int  # records that are known
    n_persons: int  # persons who have as many
    n_trials: int  # of them, so many were looked for
    n_found: int  # the only one whom the known records fit
    n_few: int  # among fewer than ``few`` whom they fit, those who are found among them
    n_lost: int  # the known records fit nobody
    n_right: int | None  # found, and the person who was looked for; None where nobody can tell
    few: int
    n_best: int | None = None  # with a score: nobody else has the highest one, by whatever margin

    @property
    def hits(self) -> tuple[int, int]:
        """How many persons are found, and of how many who were looked for."""
        return self.n_found, self.n_trials

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the rate among all who have so many records; the rate itself if all were tried."""
        return (self.rate, self.rate) if self.n_trials == self.n_persons else self._wilson_interval()


@dataclass(frozen=True, slots=True, eq=False)
class Unicity(StatesFacts):
    """How many persons are found by a few of their records.

    Attributes
    ----------
    person : str
    items : tuple of str
        What is known exactly of a record.
    tolerance : dict of column to amount
        What is known roughly of it, and how far that may be from the truth.
    known : tuple of Trials
        By the number of records that are known, ascending.
    n_records, n_persons : int
        Of the table that is searched.
    seed : int
    wrong : int
        So many of the known records are wrong.
    eccentricity : float, optional
        With a score, how far a match exceeds the second best; without one, all known records fit.
    """

    person: str
    items: tuple[str, ...]
    tolerance: dict[str, Any]
    known: tuple[Trials, ...]
    n_records: int = 0
    n_persons: int = 0
    seed: int = field(default=0, repr=False)
    wrong: int = 0
    eccentricity: float | None = None

    @property
    def rate(self) -> float:
        """The largest share of persons that is found, in [0, 1]."""
        return max(each.rate for each in self.known)

    @property
    def headline(self) -> str:
        """What matters most, in a sentence."""
        is_scored = self.eccentricity is not None
        # Whoever is taken for somebody else is no find.
        most = max(self.known, key=lambda each: ((each.right_rate or 0.0) if is_scored else 0.0, each.rate))
        records = "1 record" if most.n_known == 1 else f"{most.n_known} records"
        if not is_scored:
            return f"Who knows {records} of a person finds {format_percent(most.rate)} of {most.n_trials:,} persons."
        if most.right_rate is None:
            return (
                f"Who knows {records} of a person, {self.wrong} of them wrong, names somebody for "
                f"{format_percent(most.rate)} of {most.n_trials:,} persons; nobody can tell how often rightly."
            )
        return (
            f"Who knows {records} of a person, {self.wrong} of them wrong, finds {format_percent(most.right_rate)} of "
            f"{most.n_trials:,} persons, and takes another person for {format_percent(most.rate - most.right_rate)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; no person and no record is in it."""
        return {
            "person": self.person,
            "items": list(self.items),
            "tolerance": {name: str(amount) for name, amount in self.tolerance.items()},
            "n_records": self.n_records,
            "n_persons": self.n_persons,
            "seed": self.seed,
            "wrong": self.wrong,
            "eccentricity": self.eccentricity,
            "rate": self.rate,
            "known": [each.to_dict() for each in self.known],
        }

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        roughly = [f"{name} within {amount}" for name, amount in self.tolerance.items()]
        searched = (
            f"Known of a record: {join_names((*self.items, *roughly))}; {self.n_records:,} records of "
            f"{self.n_persons:,} persons are searched."
        )
        if self.eccentricity is None:
            return self.headline, searched
        scored = (
            f"A person is found if the known records that may be theirs, rare ones weighing more, score "
            f"{self.eccentricity:g} standard deviations above the second best."
        )
        return self.headline, searched, scored


def unicity(
    data: Any,
    *,
    person: str,
    item: str | Sequence[str],
    known: int | Sequence[int] = (2, 4, 8),
    tolerance: Mapping[str, Any] | None = None,
    original: Any = None,
    wrong: int = 0,
    eccentricity: float | None = None,
    n_trials: int = 1000,
    few: int = 5,
    specs: Mapping[str, ColumnSpec] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Unicity:
    """Measure how many persons are found by somebody who knows a few of their records, roughly.

    Parameters
    ----------
    data : path, dataframe, Table or Release
        A row for every record, with a column that tells whose it is. Of a release the known records are those of its
        source, and published cells fit whatever they cover.
    person : str
        The column that tells whose record a row is, as it is or as a pseudonym.
    item : str or sequence of str
        Columns that are known exactly of a known record.
    known : int or sequence of int
        How many records of a person are known.
    tolerance : mapping of column to amount, optional
        Further columns that are known of a record, and how far what is known may be from the truth: ``"14D"`` (W, D,
        h, m, s) or a timedelta for dates and times, a number for numbers, whole steps for ordered columns; 0 is exact.
        A column that is not named is not known.
    original : path or dataframe, optional
        Of a published file: the records that are known. Without it a file's own cells are known as they are.
    wrong : int
        So many of the known records are wrong: records of others that fit none of the person's own. The attacker does
        not know which, and takes the person with the highest score.
    eccentricity : float, optional
        By how many standard deviations of all scores a match must exceed the second highest: 1.5 if records are wrong.
        Where none is, all known records must fit, unless this asks for a score.
    n_trials : int
        For each number of records, so many persons are drawn; all where there are no more.
    few : int
        Who is among fewer than so many candidates is counted too.
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.
    hierarchies : mapping of column to hierarchy, optional
        Of a published file: what its labels mean. A label of a column that has None fits every value.
    seed : int
        Of the draws. Neither the tolerance nor the table's order of columns changes who and what is drawn.

    Raises
    ------
    ColumnError
        A column does not exist.
    InputError
        An amount does not fit its column, nobody has as many records as are known, as many are wrong, or the release
        has no column that links the records of a person.

    Notes
    -----
    A person is a candidate who has, for each known record, a row of their own that may be it: as many rows as records.
    The more is known of a person, the fewer are the candidates; the larger the tolerance, the more. Records of a
    person are drawn so that those of a smaller number are among those of a larger one. Missing cells fit missing ones.

    With 8 movies and their dates within 14 days, 99 % of the subscribers of Netflix were found though 2 of the 8 were
    wrong (Narayanan and Shmatikov 2008). Their score, and where ours departs: a known record that a person may have
    counts 1 / log(n), n the persons who may have its ``item``, at least 2; a row counts for one known record; what is
    known fits or not, and does not fade with the distance. Records that are wrong are drawn from all others; whoever
    shares nearly all records may be known rightly for all that.

    Rows are looked up through an inverted index: 1,000 trials in 10 million records take about 10 s, most of which is
    reading them, and twice as long with a score.

    Examples
    --------
    >>> import polars as pl
    >>> ratings = pl.DataFrame(
    ...     {
    ...         "user": [1, 1, 2, 2, 3, 3],
    ...         "movie": ["A", "B", "A", "B", "A", "C"],
    ...         "day": [3, 9, 5, 40, 4, 9],
    ...     }
    ... )
    >>> [each.n_found for each in unicity(ratings, person="user", item="movie", known=[1, 2]).known]
    [1, 1]
    >>> found = unicity(ratings, person="user", item="movie", known=[1, 2], tolerance={"day": 7})
    >>> found.known[1].n_found, found.known[1].rate
    (3, 1.0)
    >>> unicity(ratings, person="user", item=["movie", "day"], known=3, wrong=1, eccentricity=1).known[0].n_right
    3
    """
    check_specs(specs)
    check_whole("wrong", wrong, 0)
    sizes = _parse_sizes(known, wrong)
    if wrong or eccentricity is not None:
        eccentricity = check_eccentricity(eccentricity)
    check_whole("n_trials", n_trials, 1)
    check_whole("few", few, 1, MAX_FEW)
    check_whole("seed", seed, 0)
    items = (item,) if isinstance(item, str) else names_in(item, "item")
    publication = open_publication(data, specs, hierarchies)
    source = _choose_known_records(publication, original, person)
    amounts = check_tolerance(tolerance, source.columns)
    columns = (*items, *(name for name in amounts if name not in items))
    if not columns:
        raise InputError("neither item nor tolerance names a column.", hint="say what is known of a record.")
    check_columns([person, *columns], source.columns, "person, item and tolerance")
    if original is not None:
        source = spell_as(
            source, {name: values_of(publication, name) for name in columns if name in publication.frame.columns}
        )
    table = Table.encode(source, columns, publication.specs)
    axes, cells = _build_axes(publication, table, columns, amounts, is_own=source is publication.frame)
    known_persons, persons = persons_of(source, person), persons_of(publication.frame, person)
    # Wrong records are drawn from the table, each person's anew.
    check_whole("wrong", wrong, 0, len(known_persons))
    counterparts = _find_counterparts(publication, source, known_persons, persons, person)
    draws = _DrawnRecords.from_persons(known_persons, [size - wrong for size in sizes], int(seed), int(n_trials))
    wrong_rows = _draw_wrong_records(
        table, reaches_of(table, amounts), known_persons, draws.rows[:, 0], int(wrong), int(seed)
    )
    exact = [j for j, name in enumerate(columns) if name not in amounts]
    results = []
    for size in sizes:
        is_able = draws.n_records >= size - wrong
        trials = np.hstack([draws.rows[:, : size - wrong], wrong_rows])[is_able][:n_trials]
        starts = np.arange(len(trials) + 1, dtype=np.int64) * size
        looked_up = axes, cells, persons, table.codes[:, trials.reshape(-1)], starts
        candidates: Suspects | BestMatches
        if eccentricity is None:
            candidates = count_suspects(*looked_up, max(few, 2))
        else:
            candidates = find_best_matches(*looked_up, exact=exact, eccentricity=eccentricity)
        targets = None if counterparts is None else counterparts[known_persons[trials[:, 0]]]
        results.append(_count_finds(candidates, targets, size, draws.n_able[size - wrong], few))
    n_persons = len(np.unique(persons[persons >= 0]))
    return Unicity(
        person,
        items,
        amounts,
        tuple(results),
        publication.frame.n_rows,
        n_persons,
        int(seed),
        int(wrong),
        eccentricity,
    )


def _count_finds(
    candidates: Suspects | BestMatches, targets: CountArray | None, size: int, n_persons: int, few: int
) -> Trials:
    """Count who is found in trials; ``targets`` are the published persons looked for, where they are known."""
    counts = candidates.counts
    is_found = counts == 1
    return Trials(
        size,
        n_persons,
        len(counts),
        int(is_found.sum()),
        int(((counts > 0) & (counts < max(few, 2))).sum()),
        int((counts == 0).sum()),
        None if targets is None else int((targets == candidates.first)[is_found].sum()),
        few,
        int(candidates.is_alone.sum()) if isinstance(candidates, BestMatches) else None,
    )


def _parse_sizes(known: Any, wrong: int) -> list[int]:
    sizes = list(known) if isinstance(known, (Sequence, np.ndarray)) and not isinstance(known, str) else [known]
    for each in sizes:
        check_whole("known", each, 1)
    if not sizes:
        raise InputError("known is empty.", hint="say how many records of a person are known, as known=[2, 4].")
    if min(sizes) <= wrong:
        raise InputError(
            f"wrong = {wrong}, and {min(sizes)} of a person's records are known: none of them would be right.",
            hint=f"let known be {wrong + 1} or more, or wrong less.",
        )
    return sorted({int(each) for each in sizes})


def _choose_known_records(publication: PublishedTable, original: Any, person: str) -> Frame:
    """Return the frame of the records that the attacker knows."""
    if publication.source is not None:
        if original is not None:
            raise InputError("original was given with a release.", hint="it knows its source: leave it out.")
        if person not in publication.frame.columns:
            raise InputError(
                f"the release does not publish {person!r}: nothing links the records of a person.",
                hint="who knows one record has hushtable.link.",
            )
        return publication.source
    return publication.frame if original is None else open_publication(original).frame.with_specs(publication.specs)


def _build_axes(
    publication: PublishedTable, table: Table, columns: Sequence[str], amounts: Mapping[str, Any], *, is_own: bool
) -> tuple[list[PlaceAxis], CodeArray]:
    """Return axes and cells; a function of its own, because `axes_of` warns with a fixed stack level."""
    if not is_own:
        return axes_of(publication, table, [(name, name) for name in columns], amounts)
    return [own_axis(column, amounts.get(column.name, 0)) for column in table.columns], table.codes


def _find_counterparts(
    publication: PublishedTable, source: Frame, known_persons: CodeArray, persons: CodeArray, person: str
) -> CountArray | None:
    """Return the published person of each known person, -1 for none; None where the truth is not known."""
    counterparts = np.full(int(known_persons.max(initial=-1)) + 1, -1, dtype=np.int64)
    if source is publication.frame:
        return np.arange(len(counterparts))
    if publication.rows is not None:
        is_somebody = known_persons[publication.rows] >= 0
        counterparts[known_persons[publication.rows][is_somebody]] = persons[is_somebody]
        return counterparts
    known_names, published_names = number_by_value([source, publication.frame], person)
    person_at = np.full(max(known_names.max(initial=-1), published_names.max(initial=-1)) + 2, -1, dtype=np.int64)
    person_at[published_names] = persons
    # The last entry serves missing persons, which index it as -1.
    person_at[-1] = -1
    counterparts[known_persons[known_persons >= 0]] = person_at[known_names][known_persons >= 0]
    # Without a common name the published ones are pseudonyms: the truth is not known.
    return counterparts if (counterparts >= 0).any() else None


@dataclass(frozen=True, slots=True, eq=False)
class _DrawnRecords:
    """Persons in a random order, and some records of each."""

    rows: CountArray  # (n_persons, most): the records of each, then -1
    n_records: CountArray
    n_able: dict[int, int]  # by number of records: the persons who have as many, drawn or not

    @classmethod
    def from_persons(cls, persons: CodeArray, sizes: Sequence[int], seed: int, n_trials: int) -> _DrawnRecords:
        owned_rows = np.flatnonzero(persons >= 0)
        by_person = owned_rows[np.argsort(persons[owned_rows], kind="stable")]
        n_records = np.bincount(persons[owned_rows], minlength=1)
        ends = np.cumsum(n_records)
        n_able = {size: int((n_records >= size).sum()) for size in sizes}
        if not n_able[sizes[-1]]:
            raise InputError(
                f"known = {sizes[-1]}, and nobody has more than {n_records.max()} records.",
                hint="ask for fewer, or check the column of the person.",
            )
        rng = np.random.default_rng(seed)
        shuffled = rng.permutation(len(n_records))
        wanted = np.unique(np.concatenate([np.flatnonzero(n_records[shuffled] >= n)[:n_trials] for n in sizes]))
        drawn_persons = shuffled[wanted]
        rows = np.full((len(drawn_persons), sizes[-1]), -1, dtype=np.int64)
        for i, person in enumerate(drawn_persons.tolist()):
            n = min(int(n_records[person]), sizes[-1])
            picks = rng.permutation(int(n_records[person]))[:n]
            rows[i, :n] = by_person[ends[person] - n_records[person] + picks]
        return cls(rows, n_records[drawn_persons], n_able)


def _draw_wrong_records(
    table: Table, reaches: Reaches, persons: CodeArray, own_rows: CountArray, n_wrong: int, seed: int
) -> CountArray:
    """Draw records of others that fit none of a person's own, for the person of each row: (n_rows, n_wrong).

    Of many draws the first that do not fit are taken. If all of them fit, the person shares nearly every record.
    """
    if not n_wrong:
        return np.empty((len(own_rows), 0), dtype=np.int64)
    rng = np.random.default_rng([seed, n_wrong])
    order = np.argsort(persons, kind="stable")
    starts, ends = (np.searchsorted(persons[order], persons[own_rows], side=side) for side in ("left", "right"))
    wrong_rows = np.empty((len(own_rows), n_wrong), dtype=np.int64)
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        drawn = rng.integers(table.n_rows, size=_DRAWS_PER_WRONG_RECORD * n_wrong)
        fits = np.ones((len(drawn), end - start), dtype=bool)
        for j, codes in enumerate(table.codes):
            known, own = codes[drawn][:, None], codes[order[start:end]]
            low, high = (known, known + 1) if j not in reaches else (each[known] for each in reaches[j])
            fits &= (low <= own) & (own < high)
        wrong_rows[i] = drawn[np.argsort(fits.any(axis=1), kind="stable")[:n_wrong]]
    return wrong_rows
