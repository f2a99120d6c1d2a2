"""Attacks on one's own release: homogeneity, an earlier release, differences, ends of intervals, linked records."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import BoolArray, CountArray
from hushtable.claims import (
    Classes,
    Linkage,
    count_equal_histories,
    describe_missing_hierarchies,
    list_cells_with_points,
    measure_claim_linkage,
)
from hushtable.columns import ColumnSpec, fold_spelling, list_distinct_cells
from hushtable.errors import InputError, check_columns, check_whole
from hushtable.io import Frame
from hushtable.risk.assessment import format_percent
from hushtable.risk.attacks.fitting import (
    FEWER_CLASSES_HINT,
    PublishedTable,
    common_axes,
    number_by_value,
    number_persons,
    open_publication,
    relate_cells,
)
from hushtable.risk.attacks.interval_ends import find_ends, find_in_sorted
from hushtable.risk.attacks.joined_histories import HistoryRows, count_alike
from hushtable.risk.attacks.publication import Publication
from hushtable.risk.attacks.untried import (
    ATTACKS_ON_TWO_RELEASES,
    NO_EARLIER,
    NO_INTERVAL,
    NOT_LINKED,
    NOT_SENSITIVE,
    UNKNOWN_ROWS,
    attack_in,
    columns_of_sets,
    explain_two_releases,
    leaves_doubt,
)
from hushtable.risk.intervals import clip_interval, excess_risk, wilson_interval
from hushtable.risk.nearness import axis_values
from hushtable.search import check_memory
from hushtable.tables import Table
from hushtable.wording import StatesFacts, careful, join_names

_DRAWS_PER_CONTROL: Final = 10  # shuffles whose mean is the control rate
_MAX_WITNESSES_PER_ATTACK: Final = 10
_PersonNumbers = list[CountArray] | None  # the person of each row of either source

_ADVICE: Final[Mapping[str, str]] = {
    "homogeneity": "Ask for l-diversity of this column, or for a larger k.",
    "intersection": "Publish nobody twice: leave out the people of the earlier release, or replace it by one of all.",
    "joined": "Publish new people as a batch of their own, or wait until at least k have joined each class.",
    "left": "Do not publish again after few people left, or drop their classes.",
    "ends": 'Publish with recoding="cut", or by a hierarchy of fixed intervals: their ends come from no record.',
    "shared persons": "Leave these persons out of the later batch (apply --distinct-persons), or publish both as one.",
    "linked releases": "Make the pseudonyms of each release with a new key, or judge all releases as one table.",
    "hidden cells": "Publish the tables or the records, or make tables of the released records: they reveal no more.",
    "narrowed classes": "Publish the tables or the records, or tables of the labels that the release shows.",
    "cuts not made": "Ask for one value more (l + 1), or leave out a column of few values. A margin does not end it.",
    "linked records": "Leave the column out that links records, or make its pseudonyms fresh for every record.",
}


@dataclass(frozen=True, slots=True)
class Witness:
    """A class on which an attack succeeds."""

    number: int  # drawn anew in every run: it names the class within one result only
    n_records: int  # of the class
    n_found: int  # what the attack finds there


@dataclass(frozen=True, slots=True)
class OwnAttack:
    """What an attack achieves.

    Attributes
    ----------
    name : str
        What is tried.
    column : str or None
        The column that is learned, or that links.
    claim : str
        What the attacker says of a target that is found.
    unit : str
        What targets are.
    n_targets, n_found : int
    n_right : int or None
        Of those found, so many for whom what is said is true; None where nobody can tell.
    control_rate : float or None
        The share of the targets for which the same attack succeeds where there is nothing to find. None where it is
        exact: then it never does.
    fell : bool
        Whether the release gives something away: an exact attack found somebody, or another one more than its control.
    witnesses : tuple of Witness
        Some of the classes. For insiders.
    """

    name: Literal[
        "homogeneity", "intersection", "joined", "left", "ends", "shared persons", "linked records", "linked releases",
        "hidden cells", "narrowed classes", "cuts not made"]  # fmt: skip
    column: str | None
    claim: str
    unit: str
    n_targets: int
    n_found: int
    n_right: int | None
    control_rate: float | None
    fell: bool
    witnesses: tuple[Witness, ...] = field(default=(), repr=False)
    n_classes: int | None = None  # those of the targets, where only some classes can be attacked

    @property
    def rate(self) -> float:
        """The share of the targets that is found, in [0, 1]; 0 without targets."""
        return self.n_found / max(1, self.n_targets)

    @property
    def excess(self) -> float:
        """What the attack achieves beyond its control: (rate - control) / (1 - control), within [0, 1]."""
        control = self.control_rate or 0.0
        return self.rate if control >= 1 else min(max((self.rate - control) / (1 - control), 0.0), 1.0)

    @property
    def advice(self) -> str:
        """What to change."""
        return _ADVICE[self.name]

    def to_dict(self, audience: Literal["internal", "external"] = "internal", k: int = 0) -> dict[str, Any]:
        """Return it as plain values: for outsiders without witnesses, and with ``"<k"`` for counts of 1 to k - 1."""
        is_inside = audience == "internal"
        counts = {name: getattr(self, name) for name in ("n_classes", "n_targets", "n_found", "n_right")}
        masked_counts = {name: f"<{k}" for name, n in counts.items() if not is_inside and n is not None and 0 < n < k}
        rate = None if masked_counts else self.rate
        return {
            "name": self.name,
            "column": self.column,
            "claim": self.claim,
            "unit": self.unit,
            **counts,
            **masked_counts,
            "rate": rate,
            "control_rate": self.control_rate,
            "excess": None if masked_counts else self.excess,
            "fell": self.fell,
            "advice": self.advice if self.fell else None,
            **({"witnesses": [asdict(each) for each in self.witnesses]} if is_inside else {}),
        }


@dataclass(frozen=True, slots=True, eq=False)
class OwnAttacks(StatesFacts):
    """Attacks on one's own release.

    Attributes
    ----------
    attacks : tuple of OwnAttack
        Those that could be tried.
    untried : dict of str to str
        The others, and why not: nothing is known of them. An attack on a part alone is named with what was left out.
    k : int
        What the release claims.
    """

    attacks: tuple[OwnAttack, ...]
    untried: dict[str, str]
    k: int

    @property
    def fell(self) -> tuple[str, ...]:
        """The names of the attacks that succeed."""
        return tuple(dict.fromkeys(each.name for each in self.attacks if each.fell))

    @property
    def unjudged(self) -> tuple[str, ...]:
        """The names in ``untried`` that leave in doubt whether the release falls: they apply, and were asked for."""
        return tuple(name for name, why in self.untried.items() if leaves_doubt(why))

    @property
    def max_fell(self) -> int:
        """To how many attacks the release falls if it falls to all that were not judged."""
        return len({*self.fell, *map(attack_in, self.unjudged)})

    @property
    def doubt(self) -> str:
        """What could not be judged, and why, without counts; empty if everything that was asked for was judged."""
        names: dict[str, dict[str, None]] = {}
        for name in self.unjudged:
            names.setdefault(self.untried[name], {})[attack_in(name)] = None
        return "; ".join(f"{join_names([*each])} could not be judged ({why})" for why, each in names.items())

    @property
    def headline(self) -> str:
        """What matters most, in a sentence."""
        n_tried = len({each.name for each in self.attacks})
        if not self.fell:
            return f"None of {n_tried} attacks succeeds; {len(self.untried)} could not be tried."
        return f"The release falls to {len(self.fell)} of {n_tried} attacks: {', '.join(self.fell)}."

    def to_dict(self, audience: Literal["internal", "external"] = "internal") -> dict[str, Any]:
        """Return it as plain values: for outsiders without witnesses, and with ``"<k"`` for counts of 1 to k - 1."""
        return {
            "k": self.k,
            "fell": list(self.fell),
            "attacks": [each.to_dict(audience, self.k) for each in self.attacks],
            "untried": self._list_untried(is_inside=audience == "internal"),
            "unjudged": list(dict.fromkeys(map(attack_in, self.unjudged))),
        }

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        return self.list_facts("internal")

    def list_facts(self, audience: Literal["internal", "external"]) -> tuple[str, ...]:
        """Say what was found, the most dangerous first: to outsiders without counts, which may be smaller than k."""
        fell = dict.fromkeys(f"Against {each.name}: {each.advice}" for each in self.attacks if each.fell)
        counted = self.attacks if audience == "internal" else ()
        cuts = (each for each in counted if each.name == "cuts not made" and each.n_found)
        found = [f"By cuts that were not made: {each.n_found:,} {each.unit}: {each.claim}." for each in cuts]
        listed = self._list_untried(is_inside=audience == "internal")
        reasons = {why: [name for name, each in listed.items() if each == why] for why in listed.values()}
        untried = (f"Not tried: {join_names(names)} ({why})." for why, names in reasons.items())
        return careful(self.headline) if fell else self.headline, *found, *fell, *untried

    def _list_untried(self, *, is_inside: bool) -> dict[str, str]:
        """Return what could not be tried, and why: for outsiders without in how many classes."""
        return {name if is_inside else attack_in(name): why for name, why in self.untried.items()}

    def _table(self) -> list[tuple[str, str, str]]:
        rows = [(each.name, each.column or "", format_percent(each.rate)) for each in self.attacks]
        return [("attack", "column", "share"), *rows] if rows else []


def attack_release(
    release: Any,
    earlier: Any = None,
    *,
    k: int,
    linkage: Linkage | None = None,
    linking: Sequence[str] = (),
    person: str | None = None,
    seed: int = 0,
) -> OwnAttacks:
    """Attack a release with what its publisher knows; see `hushtable.Release.attack`.

    ``linking`` are published columns whose equal cells are one person's, in an earlier release too; ``person`` is a
    column of both sources.
    """
    now = Publication.from_table(open_publication(release), release.claim.columns, release.claim.sensitive)
    return _run_attacks(now, earlier, k, linkage, linking, person, seed)


def attack_written(
    frame: Frame,
    claim: Classes,
    earlier: Any = None,
    *,
    original: Frame | None = None,
    earlier_original: Frame | None = None,
    seed: int = 0,
) -> OwnAttacks:
    """Attack a table that was written, by what it claims; which record became which row is not known.

    Without its people, ``original``, intersections are not tried. With those of the earlier release besides,
    ``earlier_original``, it is known who is in both.
    """
    source = None if original is None else original.with_row_per_record()
    table = PublishedTable(frame.with_row_per_record(), claim.specs, claim.hierarchies, source)
    now = Publication.from_table(table, claim.columns, claim.sensitive)
    linking = () if claim.is_fresh or claim.person not in frame.columns else (claim.person,)
    person = None
    if earlier is not None and earlier_original is not None and source is not None:
        person = claim.person
        earlier = replace(
            open_publication(earlier, table.specs, table.hierarchies), source=earlier_original.with_row_per_record()
        )
    return _run_attacks(now, earlier, claim.k, measure_claim_linkage(claim, frame), linking, person, seed)


def _run_attacks(
    now: Publication,
    earlier: Any,
    k: int,
    linkage: Linkage | None,
    linking: Sequence[str],
    person: str | None,
    seed: int,
) -> OwnAttacks:
    check_whole("seed", seed, 0)
    rng = np.random.default_rng(int(seed))
    attacks: list[OwnAttack] = []
    untried: dict[str, str] = {}
    for name in now.sensitive:
        attacks += _attack_homogeneity(now, name, rng)
    if not attacks:
        untried["homogeneity"] = NOT_SENSITIVE
    ends = list(_attack_ends(now, rng))
    attacks += ends
    if not ends:
        untried["ends"] = UNKNOWN_ROWS if now.source_rows is None else NO_INTERVAL
    if linkage is None:
        untried["linked records"] = NOT_LINKED
    else:
        attacks += _attack_linkage(linkage)
    if earlier is None:
        untried |= dict.fromkeys(ATTACKS_ON_TWO_RELEASES, NO_EARLIER)
        return OwnAttacks(tuple(attacks), untried, k)
    is_opened = isinstance(earlier, PublishedTable)
    earlier_table = earlier if is_opened else open_publication(earlier, now.table.specs, now.table.hierarchies)
    before = Publication.from_table(earlier_table, now.columns, now.sensitive)
    for name in linking:
        attacks += _attack_histories(now, before, name, k)
    missing = (describe_missing_hierarchies(each.columns, each.table.hierarchies) for each in (now, before))
    lack = next(filter(None, missing), None)
    if lack is None:
        attacks += _attack_common_persons(now, before, k, _number_persons(now, before, person), rng)
    reasons, tried = explain_two_releases(now, before, person, lack), {each.name for each in attacks}
    untried |= {name: reason for name, reason in reasons.items() if name not in tried}
    return OwnAttacks(tuple(attacks), untried, k)


def _attack_common_persons(
    now: Publication, before: Publication, k: int, ids: _PersonNumbers, rng: np.random.Generator
) -> Iterator[OwnAttack]:
    """Attack what two releases tell of persons who may be in both."""
    if ids is not None:
        yield from _count_persons_in_both(now, before, ids, k)
    shared = [name for name in now.sensitive if name in before.table.frame.columns and name not in columns_of_sets(now)]
    for name in shared if now.table.source is not None else ():
        yield from _attack_intersection(now, before, name, ids, rng)
    knows_rows = now.source_rows is not None and before.source_rows is not None
    yield from _attack_differences(now, before, k, ids if knows_rows else None)


def _build_attack(
    name: Any,
    column: str | None,
    claim: str,
    counts: tuple[int, int, int | None],
    control: float | None,
    *,
    unit: str = "records",
    by_chance: bool = False,
    witnesses: tuple[Witness, ...] = (),
) -> OwnAttack:
    """Build the result of an attack: it succeeds by any hit, or where hits come by chance, beyond the control."""
    n_targets, n_found, n_right = counts
    fell = n_found > 0
    if by_chance and control is not None:
        value, error = excess_risk(wilson_interval(n_found, n_targets), wilson_interval(control * n_targets, n_targets))
        fell = clip_interval(value - error, value + error)[0] > 0
    return OwnAttack(name, column, claim, unit, n_targets, n_found, n_right, control, fell, witnesses)


def _choose_witnesses(hits: Mapping[int, int], sizes: CountArray) -> tuple[Witness, ...]:
    """Return the classes in which an attack hit most often."""
    most = sorted(hits.items(), key=lambda each: -each[1])[:_MAX_WITNESSES_PER_ATTACK]
    # Random: the same number in every run would let a reader join several reports.
    return tuple(Witness(secrets.randbelow(9_000_000) + 1_000_000, int(sizes[label]), n) for label, n in most)


def _attack_homogeneity(side: Publication, name: str, rng: np.random.Generator) -> Iterator[OwnAttack]:
    if name not in side.table.frame.columns:
        return
    cells, cell_codes = list_distinct_cells(side.table.frame.values(name), name)
    codes, labels, sizes = cell_codes[side.rows].astype(np.int64), side.labels, side.groups.records
    separator = side.table.specs.get(name, ColumnSpec()).separator
    if separator is None:
        codes = _fold_spellings(cells.to_list())[codes]
    agreeing = _find_agreeing_classes if separator is None else _build_sharing_test(cells.to_list(), separator)
    agree = agreeing(labels, codes, side.groups.n_classes)
    hits = {label: int(sizes[label]) for label in np.flatnonzero(agree).tolist()}
    chance = [sizes[agreeing(labels, rng.permutation(codes), len(sizes))].sum() for _ in range(_DRAWS_PER_CONTROL)]
    n, n_found = len(labels), sum(hits.values())
    same = "the same value" if separator is None else "the same item"
    claim = f"everybody whom the class fits has {same} of {name}"
    control = float(np.mean(chance)) / n
    yield _build_attack(
        "homogeneity", name, claim, (n, n_found, n_found), control, witnesses=_choose_witnesses(hits, sizes)
    )


def _fold_spellings(cells: Sequence[str]) -> CountArray:
    """Return by code which cells differ in their spelling alone; the last entry is the missing cell's, -1."""
    place_of: dict[str, int] = {}
    folded = [place_of.setdefault(fold_spelling(cell), len(place_of)) for cell in cells]
    return np.array([*folded, -1], dtype=np.int64)


def _find_agreeing_classes(labels: CountArray, codes: CountArray, n_classes: int) -> BoolArray:
    """Tell in which classes all have one value; a missing one is none."""
    lowest, highest = np.full(n_classes, np.iinfo(np.int64).max), np.full(n_classes, -1)
    np.minimum.at(lowest, labels, codes)
    np.maximum.at(highest, labels, codes)
    return np.asarray((lowest == highest) & (lowest >= 0))


def _build_sharing_test(cells: Sequence[str], separator: str) -> Callable[[CountArray, CountArray, int], BoolArray]:
    """Return a function that finds the classes in which all have one item of a column of sets."""
    sets = [[*map(fold_spelling, cell.split(separator))] for cell in cells]
    items = {item: place for place, item in enumerate(dict.fromkeys(item for each in sets for item in each))}
    pairs = np.array([(code, items[item]) for code, each in enumerate(sets) for item in each], dtype=np.int64)
    starts = np.searchsorted(pairs[:, 0] if len(pairs) else [], np.arange(len(sets) + 1))

    def find_sharing_classes(labels: CountArray, codes: CountArray, n_classes: int) -> BoolArray:
        rows = np.flatnonzero(codes >= 0)
        lengths = np.diff(starts)[codes[rows]]
        shift = np.repeat(starts[codes[rows]] - (np.cumsum(lengths) - lengths), lengths)
        item = pairs[np.arange(len(shift)) + shift, 1] if len(shift) else shift
        held, n_held = np.unique(np.repeat(labels[rows], lengths) * max(1, len(items)) + item, return_counts=True)
        sizes = np.bincount(labels, minlength=n_classes)
        found = np.zeros(n_classes, dtype=bool)
        classes = held // max(1, len(items))
        found[classes[n_held == sizes[classes]]] = True
        return found

    return find_sharing_classes


def _attack_ends(side: Publication, rng: np.random.Generator) -> Iterator[OwnAttack]:
    """Claim that somebody has the value at which an interval begins, or with which it ends."""
    if side.source_rows is None or side.table.source is None:
        return
    for name in side.columns:
        spec = side.table.specs.get(name, ColumnSpec())
        table = Table.encode(side.table.source, [name], {name: ColumnSpec(spec.kind, spec.order)})
        column = table.columns[0]
        texts, cells = list_cells_with_points(side.table.frame, name, side.table.specs.get(name))
        of_class = cells[side.groups.first_rows]
        values = axis_values(column)
        ends = [find_ends(cell, column, values) if column.is_measured else None for cell in texts]
        claims = [
            (label, code, each.first, each.last)
            for label, each in enumerate(ends[cell] for cell in of_class.tolist())
            if each is not None
            for code in each.codes
        ]
        if not claims:
            continue
        width = column.n_values + 1
        has_value = table.codes[0, side.source_rows] >= 0
        present = np.unique((side.labels * width + table.codes[0, side.source_rows])[has_value])
        label, code, low, high = np.array(claims, dtype=np.int64).T
        is_right = find_in_sorted(present, label * width + code)
        is_inside = (low <= code) & (code < high)
        n_others = high - low - is_inside
        some = np.flatnonzero(n_others > 0)
        rates_by_chance = [0.0]
        for _ in range(_DRAWS_PER_CONTROL if len(some) else 0):
            other = low[some] + rng.integers(0, n_others[some])
            # Any value of the interval but its end.
            other += is_inside[some] & (other >= code[some])
            rates_by_chance.append(float(find_in_sorted(present, label[some] * width + other).mean()))
        hits = Counter(label[is_right].tolist())
        claim = f"somebody has the value of {name} at which an interval begins or ends"
        n_right = int(is_right.sum())
        counts = (len(claims), n_right, n_right)
        # By the grammar of cells somebody has both ends of a closed interval; others begin where a grid has it.
        by_chance = any(end is not None and end.is_open for end in (ends[cell] for cell in of_class.tolist()))
        control, sizes = sum(rates_by_chance) / max(1, len(rates_by_chance) - 1), side.groups.records
        yield _build_attack(
            "ends",
            name,
            claim,
            counts,
            control,
            unit="ends",
            by_chance=by_chance,
            witnesses=_choose_witnesses(hits, sizes),
        )


def _attack_linkage(linkage: Linkage) -> Iterator[OwnAttack]:
    known = [each for each in linkage.known if each.n_persons]
    if known:
        most = max(known, key=lambda each: each.n_found / each.n_persons)
        records = "1 record" if most.n_records == 1 else f"{most.n_records} records"
        claim = f"the {records} that are known of somebody fit nobody else"
        yield _build_attack(
            "linked records", linkage.column, claim, (most.n_persons, most.n_found, most.n_found), None, unit="persons"
        )


def _attack_histories(now: Publication, before: Publication, name: str, k: int) -> Iterator[OwnAttack]:
    """Join what either release publishes of a pseudonym that both hold; it falls where fewer than k share that."""
    if name not in before.table.frame.columns:
        return
    first, second = (HistoryRows(side.table.frame, side.classes) for side in (now, before))
    n_alike = count_alike(first, second, name)
    if len(n_alike):
        n_alone = int((n_alike == 1).sum())
        claim = f"what both releases publish of a pseudonym of {name} is published of no other"
        attack = _build_attack("linked releases", name, claim, (len(n_alike), n_alone, n_alone), None, unit="persons")
        yield replace(attack, fell=bool((n_alike < k).any()))


def _count_persons_in_both(
    now: Publication, before: Publication, numbers: Sequence[CountArray], k: int
) -> Iterator[OwnAttack]:
    """Count the persons in both who share the cells of all their records in both with fewer than k such persons."""
    # Which rows are published, where that is known: a person who was left out is in one release only.
    published_rows = [
        np.arange(len(persons)) if side.table.rows is None else side.table.rows
        for side, persons in zip((now, before), numbers, strict=True)
    ]
    first, second = (persons[rows] for persons, rows in zip(numbers, published_rows, strict=True))
    in_both = np.intersect1d(first[first >= 0], second)
    if len(in_both) == 0:
        return
    cells, owners, number_of_cells = list[int](), list[CountArray](), dict[tuple[bool, tuple[int, ...]], int]()
    for side, persons, rows in zip((now, before), numbers, published_rows, strict=True):
        assert side.table.source is not None, "persons are numbered in it"
        fitting, own_rows = side.find_fitting_classes(side.table.source), rows[np.isin(persons[rows], in_both)]
        fitting_classes = ((side is now, fitting.classes_of(row)) for row in own_rows.tolist())
        cells += [number_of_cells.setdefault(each, len(number_of_cells)) for each in fitting_classes]
        owners.append(np.searchsorted(in_both, persons[own_rows]))
    histories = np.array(cells), np.concatenate(owners).astype(np.int32), np.ones(len(cells), dtype=np.int64)
    n_few = int((count_equal_histories(*histories) < k).sum())
    claim = "fewer than k persons who are in both releases share the cells of all their records"
    yield _build_attack("shared persons", None, claim, (len(in_both), n_few, n_few), None, unit="persons")


def _number_persons(now: Publication, before: Publication, person: str | None) -> _PersonNumbers:
    """Return the person of each row of either source; None where nobody says which column that is."""
    if person is None:
        return None
    sources = []
    for what, side in (("", now), ("earlier ", before)):
        if side.table.source is None:
            raise InputError(
                f"person = {person!r} was given, and the {what}release does not know its source.",
                hint="pass the release itself, or leave person out.",
            )
        check_columns([person], side.table.source.columns, f"person, in the source of the {what}release")
        sources.append(side.table.source)
    return number_persons(sources, person)


def _attack_intersection(
    now: Publication, before: Publication, name: str, ids: _PersonNumbers, rng: np.random.Generator
) -> Iterator[OwnAttack]:
    """Intersect the values that two releases leave for a person, by the classes that fit the person."""
    source = now.table.source
    assert source is not None
    fitting_now, fitting_before = now.find_fitting_classes(source), before.find_fitting_classes(source)
    numbers = number_by_value([now.table.frame, before.table.frame, source], name)
    codes_now, codes_before, truth = (each.astype(np.int64) for each in numbers)
    codes_now, codes_before = codes_now[now.rows], codes_before[before.rows]
    # Who is in both releases, where both sources say it.
    is_target = np.ones(source.n_rows, dtype=bool) if ids is None else np.isin(ids[0], ids[1][ids[1] >= 0])
    cases: Counter[tuple[tuple[int, ...], tuple[int, ...], int]] = Counter()
    for row in np.flatnonzero(is_target).tolist():
        fits = fitting_now.classes_of(row), fitting_before.classes_of(row)
        if all(fits):
            cases[(*fits, int(truth[row]))] += 1
    if not cases:
        return
    values_now = _values_by_class(now.labels, codes_now)
    cases_left = [(case, n, _unite_values(values_now, case[0])) for case, n in cases.items()]
    # What one release tells alone is no intersection.
    cases_left = [(case, n, values) for case, n, values in cases_left if len(values) > 1]
    n_targets = cases.total()

    def find_hits(values_before: Mapping[int, frozenset[int]]) -> Iterator[tuple[tuple[Any, ...], int, int]]:
        for case, n, values in cases_left:
            remaining = values & _unite_values(values_before, case[1])
            if len(remaining) == 1 and -1 not in remaining:
                yield case, n, next(iter(remaining))

    hits, n_right = Counter[int](), 0
    for case, n, value in find_hits(_values_by_class(before.labels, codes_before)):
        hits[case[0][0]] += n
        n_right += n if value == case[2] else 0
    shuffled = [
        sum(n for _, n, _ in find_hits(_values_by_class(before.labels, rng.permutation(codes_before))))
        for _ in range(_DRAWS_PER_CONTROL)
    ]
    claim = f"one value of {name} is left of those that either release leaves"
    control = float(np.mean(shuffled)) / n_targets
    counts = (n_targets, sum(hits.values()), n_right)
    witnesses = _choose_witnesses(hits, now.groups.records)
    yield _build_attack("intersection", name, claim, counts, control, witnesses=witnesses)


def _values_by_class(labels: CountArray, codes: CountArray) -> dict[int, frozenset[int]]:
    """Return the values of every class."""
    pairs = np.unique(np.column_stack([labels, codes]), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(int(labels.max()) + 2))
    return {label: frozenset(pairs[starts[label] : starts[label + 1], 1].tolist()) for label in range(len(starts) - 1)}


def _unite_values(values: Mapping[int, frozenset[int]], classes: Sequence[int]) -> frozenset[int]:
    """Return the values of any of some classes."""
    return frozenset().union(*(values[label] for label in classes))


def _attack_differences(now: Publication, before: Publication, k: int, ids: _PersonNumbers) -> Iterator[OwnAttack]:
    """Subtract the classes of one release from a class of the other that covers them and nobody else."""
    axes, cells_now, cells_before = common_axes(now.table, before.table, [(name, name) for name in now.columns])
    cells = cells_now[:, now.groups.first_rows], cells_before[:, before.groups.first_rows]
    n_now, n_before = (each.shape[1] for each in cells)
    check_memory(8.0 * n_now * n_before, f"comparing {n_now} classes with {n_before} earlier ones", FEWER_CLASSES_HINT)
    meets, inside, outside = (np.ones((n_now, n_before), dtype=bool) for _ in range(3))
    for axis, each, other in zip(axes, *cells, strict=True):
        a, of_class = np.unique(each, return_inverse=True)
        b, of_other = np.unique(other, return_inverse=True)
        at = np.ix_(of_class, of_other)
        for so_far, on_axis in zip((meets, inside, outside), relate_cells(axis, a, b), strict=True):
            so_far &= on_axis[at]
    persons = (None, None) if ids is None else (_build_person_lookup(now, ids[0]), _build_person_lookup(before, ids[1]))
    yield from _subtract_classes("joined", now, before, (meets, inside), k, persons)
    yield from _subtract_classes("left", before, now, (meets.T, outside.T), k, persons[::-1])


def _build_person_lookup(side: Publication, numbers: CountArray) -> Callable[[BoolArray], set[int]]:
    """Return a function that lists the persons of some classes."""
    assert side.source_rows is not None
    whose = numbers[side.source_rows]
    return lambda classes: set(whose[classes[side.labels]].tolist())


def _subtract_classes(
    name: str,
    larger: Publication,
    smaller: Publication,
    related: tuple[BoolArray, BoolArray],
    k: int,
    persons: Sequence[Callable[[BoolArray], set[int]] | None],
) -> Iterator[OwnAttack]:
    """Count those whom the larger classes have beyond the smaller ones that lie in them, if these are fewer than k."""
    meets, inside = related
    is_covered = (~meets | inside).all(axis=1) & meets.any(axis=1)
    if not is_covered.any():
        return
    around, within = np.nonzero(meets)
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    n_inside = np.bincount(around, weights=smaller.groups.records[within], minlength=len(meets)).astype(np.int64)
    n_left = larger.groups.records - n_inside
    is_found = is_covered & (n_left > 0) & (n_left < k)
    hits = {label: int(n_left[label]) for label in np.flatnonzero(is_found).tolist()}
    n_right = None
    find_outer, find_inner = persons
    if find_outer is not None and find_inner is not None:
        n_right = 0
        for label, n in hits.items():
            outer, inner = find_outer(np.arange(len(n_left)) == label), find_inner(meets[label])
            n_right += n if len(outer - inner) == n and not inner - outer else 0
    verb = "joined since the earlier release" if name == "joined" else "left since the earlier release"
    n_targets = int(larger.groups.records[is_covered].sum())
    counts = (n_targets, sum(hits.values()), n_right)
    claim = f"fewer than k records {verb}, within a class of the other release"
    yield _build_attack(name, None, claim, counts, None, witnesses=_choose_witnesses(hits, larger.groups.records))
