"""The attack by cuts that were not made: what a class that Mondrian did not cut tells of its sensitive values.

Who knows this program and everybody's quasi-identifiers sees which cuts the sizes of a class allowed. None was made, so
each would have broken a model of sensitive values. Of all ways to deal the values of the class to its records, those
under which a cut passes are excluded. A replay of the whole program excludes more, never less.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from hushtable._types import TOLERANCE, BoolArray, CodeArray, CountArray
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.method import Problem
from hushtable.anonymizers.mondrian import Mondrian, axes_of
from hushtable.anonymizers.preparation import Request, prepare
from hushtable.claims import describe_missing_hierarchies, find_coverage, group_rows, read_sensitive_columns
from hushtable.columns import SUPPRESSED
from hushtable.io import Frame
from hushtable.kernels.class_profile import COST_PER_CHARACTER, UNITS_PER_DOMAIN, Axes
from hushtable.models import ClassStats, Histogram, PrivacyModel
from hushtable.recoding import pack_axes, places_of_rows
from hushtable.risk import CELLS_OF_EARLIER, UNKNOWN_PEOPLE, OwnAttack, OwnAttacks
from hushtable.search import Budget
from hushtable.tables import Table

_ATTACK: Final = "cuts not made"
_UNJUDGED: Final = (
    "classes whose cells fit other records too, that are not of this original and policy, or of which too few drawn "
    "arrangements agree with the release"
)
_MAX_ARRANGEMENTS: Final = 60_000  # of a class: of more, as many are drawn
_MAX_CELLS_DRAWN: Final = 4_000_000  # records times draws of a class
_MAX_CELLS_LISTED: Final = 64_000_000  # the same, where all arrangements are listed
_MAX_CELLS_JUDGED: Final = 1_000_000_000  # of a release: records times arrangements times cuts
_MIN_CONSISTENT_DRAWS: Final = 100  # fewer say nothing of a rare arrangement
_MIN_DRAWS_PER_RECORD: Final = 5  # fewer deal a value that one record has to less than 99 % of the records


@dataclass(frozen=True, slots=True)
class CutsOrigin:
    """What is known of how the classes of a release came about, besides the request."""

    is_complete: bool | None = None  # whether the search came to its end; unknown where it had a budget
    is_batch: bool = False  # whether the cells are those of an earlier release
    has_other_dates: bool = False  # whether they were cut in other dates than the original's


def attack_cuts(
    attacks: OwnAttacks,
    published: Frame,
    source: Frame | Table | None,
    request: Request | None,
    meanings: Mapping[str, object],
    *,
    seed: int,
    origin: CutsOrigin,
) -> OwnAttacks:
    """Add the attack by cuts that were not made to other attacks on a release; where it cannot be tried, say why.

    Parameters
    ----------
    attacks : OwnAttacks
    published : Frame
    source : Frame or Table, optional
        What it was made from.
    request : Request, optional
        How, where that is known. A class that this request would have cut is not judged.
    meanings : mapping of quasi-identifier to meanings
        What the labels in its cells stand for.
    seed : int
        Of the arrangements that are drawn.
    origin : CutsOrigin
    """
    if request is not None and not any(model.needs.sensitive for model in request.asked_of_search):
        return attacks
    reason = _explain_untried(source, request, meanings, origin)
    if reason is not None:
        return without_cuts(attacks, reason)
    assert source is not None, "a reason says so"
    assert request is not None, "a reason says so"
    release, rng = UncutRelease.from_release(published, source, request, meanings), np.random.default_rng(seed)
    attacked: list[_AttackedClass | None] = []
    n_cells_left = _MAX_CELLS_JUDGED
    # What small classes do not need of their share is left for large ones.
    for rows in sorted(release.classes, key=len):
        outcome, n_cells = _attack_class(release, rows, n_cells_left // (len(release.classes) - len(attacked)), rng)
        attacked.append(outcome)
        n_cells_left -= n_cells
    judged = [outcome for outcome in attacked if outcome is not None]
    found = [
        _sum_up(release, name, [each for each in judged if each.is_exact is is_exact], is_exact=is_exact)
        for name in release.names
        for is_exact in (True, False)
        if is_exact or not all(each.is_exact for each in judged)
    ]
    n_unjudged = release.n_unclear + len(attacked) - len(judged)
    result = replace(attacks, attacks=(*attacks.attacks, *found))
    return without_cuts(result, _UNJUDGED, f"{_ATTACK}, in {n_unjudged:,} classes") if n_unjudged else result


def without_cuts(attacks: OwnAttacks, reason: str, what: str = _ATTACK) -> OwnAttacks:
    """Return attacks that say why cuts that were not made could not be judged."""
    return replace(attacks, untried={**attacks.untried, what: reason})


def _explain_untried(
    source: Frame | Table | None, request: Request | None, meanings: Mapping[str, object], origin: CutsOrigin
) -> str | None:
    """Say why the attack cannot be tried on any class; None if it can."""
    if source is None:
        return UNKNOWN_PEOPLE
    if origin.is_batch:
        return CELLS_OF_EARLIER
    if origin.has_other_dates:
        return "the dates of the original were changed person by person"
    if request is None:
        return "how the release was made is not known: give its policy"
    lack = describe_missing_hierarchies(request.quasi_identifiers, meanings)
    if lack is not None:
        return lack
    method, is_complete = request.method, origin.is_complete
    if not isinstance(method, Mondrian):
        return f"what {method.name} could have done instead is not judged, and may tell more"
    if method.exchange:
        return "records were exchanged between classes after the cuts"
    if not method.strict:
        return "equal records were dealt to both sides of a cut"
    if any(model.needs.population for model in request.models):
        return "a model counts a population"
    if request.household is not None or request.hides_person:
        return "the release does not say whose record a row is"
    if any(request.specs[name].separator is not None for name in request.judged if name in request.specs):
        return "a sensitive column holds sets of items"
    is_over = is_complete is False or (is_complete is None and request.clock.budget != Budget())
    return "the search had a budget, and may not have come to its end" if is_over else None


@dataclass(frozen=True, slots=True, eq=False)
class UncutRelease:
    """The classes of a release, by the records that its readers place in them, and what a search asks of a cut."""

    claimed: tuple[PrivacyModel, ...]
    judge: Judge  # of a row per record, by the models of the search
    min_size: int  # records on either side of a cut
    by_gain: bool  # whether a cut has to gain something
    names: tuple[str, ...]  # of the judged columns
    axes: Axes = field(repr=False)
    places: CodeArray = field(repr=False)  # (n_records, n_columns)
    stats: ClassStats = field(repr=False)  # totals and grounds
    classes: tuple[CountArray, ...] = field(repr=False)  # the records of every class that fit no other class
    n_unclear: int  # other classes that are large enough for a cut

    @classmethod
    def from_release(
        cls, published: Frame, source: Frame | Table, request: Request, meanings: Mapping[str, object]
    ) -> UncutRelease:
        """Place the records of the source in the classes of a release."""
        assert isinstance(request.method, Mondrian)
        # Dates of the source are changed already. Pseudonyms and columns that are left out change no cut.
        bare = replace(request, dates=None, pseudonyms=None, rounding={}, inputs=())
        prepared = prepare(source, bare).with_row_per_record()
        judge = Judge(prepared.table, request.asked_of_search, prepared.ladders, person=request.person)
        columns = tuple(sorted(request.quasi_identifiers))
        problem = Problem(columns, judge, prepared.ladders, request.loss, language=request.writing.language)
        axes = axes_of(request.method, problem)
        min_size = judge.min_size + request.method.margin
        names = tuple(name for name in judge.counted if name != request.person)
        shown = [name for name in request.judged if name in published.columns]
        groups = group_rows(published, request.quasi_identifiers, shown, SUPPRESSED)
        specs = {**prepared.specs, **request.specs}
        frame = prepared.source.frame()
        labels, rows = find_coverage(groups, frame, request.quasi_identifiers, specs, meanings)
        n_classes = groups.n_classes
        n_fitting = np.bincount(rows, minlength=frame.n_rows)
        is_clear = np.bincount(labels, minlength=n_classes) == groups.records
        is_clear[labels[n_fitting[rows] > 1]] = False
        for held in read_sensitive_columns(published, frame, shown, SUPPRESSED, specs).values():
            assert held.reference is not None, "the source was given"
            shown_codes = held.codes[~groups.is_suppressed]
            is_clear[_find_unlike(groups.labels, shown_codes, labels, held.reference[rows])] = False
        order = np.argsort(labels, kind="stable")
        runs = np.split(rows[order], np.cumsum(np.bincount(labels, minlength=n_classes))[:-1])
        is_large = groups.records >= 2 * min_size
        return cls(
            request.models,
            judge,
            min_size,
            request.method.cut == "gain",
            names,
            pack_axes(axes, {}),
            places_of_rows(prepared.table, axes),
            judge.reference_stats(),
            tuple(runs[label] for label in np.flatnonzero(is_clear & is_large).tolist()),
            int((~is_clear & is_large).sum()),
        )

    @property
    def persons(self) -> CodeArray | None:
        """Whose record each is, where persons are counted."""
        judge = self.judge
        return None if judge.person is None else judge.table.codes[judge.table.index(judge.person)]

    def count_needed_values(self, name: str) -> int:
        """Return how many values of a column the models leave for everybody: l, or 2 for models without one."""
        asked = [getattr(model, "l", 2) for model in self.claimed if name in model.needs.sensitive]
        return max([2, *(math.ceil(each) for each in asked)])

    def list_cuts(self, rows: CountArray) -> list[BoolArray]:
        """List the left sides of the cuts of a class that its sizes allow."""
        cuts = {}
        for j, axis in enumerate(self.axes.columns):
            places, entry, counts = np.unique(self.places[rows, j], return_inverse=True, return_counts=True)
            order, is_child_end = _order_for_cutting(self.axes, axis, places, counts)
            ends = np.cumsum(counts[order])[:-1]
            allowed = is_child_end & (ends >= self.min_size) & (len(rows) - ends >= self.min_size)
            rank = np.empty(len(order), dtype=np.int64)
            rank[order] = np.arange(len(order))
            for length in np.flatnonzero(allowed).tolist():
                side = rank[entry] <= length
                if not self.by_gain or axis["is_plain"] or self._gains(axis, places, counts, order[: length + 1]):
                    cuts[side.tobytes()] = side
        return [side for side in cuts.values() if self._have_enough_persons(rows, side)]

    def _gains(self, axis: np.void, places: CodeArray, counts: CountArray, left: CountArray) -> bool:
        """Tell whether a cut gains in its own column, by more than rounding: else it may not be made for that."""
        right = np.setdiff1d(np.arange(len(places)), left)
        costs = [counts[part].sum() * _share_of(self.axes, axis, places[part]) for part in (left, right)]
        return bool(counts.sum() * (_share_of(self.axes, axis, places) - TOLERANCE) > sum(costs))

    def _have_enough_persons(self, rows: CountArray, side: BoolArray) -> bool:
        """Tell whether the models that look at no sensitive value pass on both sides."""
        if self.persons is None:
            return True
        blind = [model for model in self.judge.models if not model.needs.sensitive]
        halves = [rows[side], rows[~side]]
        persons = np.array([len(np.unique(self.persons[half])) for half in halves])
        stats = ClassStats(np.array([len(half) for half in halves]), persons=persons)
        return all(bool(model.passes(stats).all()) for model in blind)

    def passes(self, rows: CountArray, values: CodeArray, counts: CountArray) -> BoolArray:
        """Judge a set of records under several arrangements of values, by how often each value is among them.

        ``values`` (n_names, n_values) are codes of the judged columns, ``counts`` (n_arrangements, n_values).
        """
        n = len(counts)
        histograms = {name: _count_codes(codes, counts) for name, codes in zip(self.names, values, strict=True)}
        persons = None if self.persons is None else np.full(n, len(np.unique(self.persons[rows])))
        stats = replace(self.stats, sizes=np.full(n, len(rows)), histograms=histograms, persons=persons)
        return np.asarray(np.all([model.passes(stats) for model in self.judge.models], axis=0))


def _find_unlike(labels: CountArray, codes: CodeArray, of_original: CountArray, original: CodeArray) -> CountArray:
    """Find the classes whose published values are not those of the records: the original is of another release."""
    width = int(max(codes.max(initial=-1), original.max(initial=-1))) + 2
    keys = np.concatenate([labels * width + codes + 1, of_original * width + original + 1])
    distinct, entry = np.unique(keys, return_inverse=True)
    n_more = np.bincount(entry, weights=np.repeat([1, -1], [len(codes), len(original)]))
    return np.asarray(distinct[n_more != 0] // width)


def _order_for_cutting(
    axes: Axes, axis: np.void, places: CodeArray, counts: CountArray
) -> tuple[CountArray, BoolArray]:
    """Return the places of a class in the order in which cuts take them, and after which of them there may be a cut."""
    order, may_end = np.arange(len(places)), np.ones(len(places) - 1, dtype=bool)
    if len(places) < 2 or (axis["is_ordered"] and axis["depth"] == 0):
        return order, may_end
    entries = axis["begin"] + places
    is_listed = not axis["is_ordered"] and len(places) <= axis["most_units"]
    is_listed = is_listed and axes.places["chars"][entries].sum() <= axis["most_chars"]
    if axis["depth"] == 0 or is_listed:
        return np.lexsort((places, -counts)), may_end
    nodes = axes.levels["node"][:, entries]
    known = nodes[:, int(places[0] == 0) :]
    # The children of the lowest node over all known places.
    level = int(np.argmax((known == known[:, :1]).all(axis=1))) - 1
    children = nodes[max(level, 0)]
    _, child = np.unique(children, return_inverse=True)
    order = np.lexsort((places, -np.bincount(child, weights=counts)[child]))
    return order, np.diff(children[order]) != 0 if axis["is_ordered"] else may_end


def _share_of(axes: Axes, axis: np.void, places: CodeArray) -> float:
    """Return the share of a column that a class of these places publishes, as `class_profile.share_of` does."""
    entries = axis["begin"] + np.sort(places)
    low, high = entries[0], entries[-1]
    units = axis["begin"] + np.unique(axes.places["unit"][entries])
    n_chars, listed = axes.places["chars"][units].sum(), axes.places["listed"][units].sum() / UNITS_PER_DOMAIN
    is_short = len(units) <= axis["most_units"] and n_chars <= axis["most_chars"]
    is_single = len(units) == 1 if not axis["is_ordered"] else low == high and (not axis["n_rounds"] or places[0] == 0)
    if is_single:
        return 0.0
    if is_short and len(units) > 1:
        share = min(1.0, listed) if axis["is_ordered"] else len(units) / axis["domain"]
        return float(share + COST_PER_CHARACTER * n_chars)
    if places.min() == 0:
        return 1.0
    if axis["depth"] > 0:
        nodes = axes.levels["node"][: axis["depth"]]
        level = int(np.argmax(nodes[1:, low] == nodes[1:, high])) + 1
        return float(axes.levels["share"][level, low])
    levels = axes.levels[: axis["n_rounds"]]
    width = axes.places["position"][high] - axes.places["position"][low]
    level = int(np.flatnonzero((width >= levels["step"][:, low]) | (np.arange(len(levels)) == 0))[-1])
    if axis["keeps_labels"]:
        is_unit = levels["start"][:, low] == levels["start"][:, high]
        level = int(np.argmax(is_unit)) if is_unit.any() else level
    return float(levels["end"][level, high] - levels["start"][level, low])


def _count_codes(codes: CodeArray, counts: CountArray) -> Histogram:
    """Build the histogram of a column whose codes several values may share."""
    distinct, of_value = np.unique(codes, return_inverse=True)
    records = np.zeros((len(counts), len(distinct)), dtype=np.int64)
    for value, position in enumerate(of_value):
        records[:, position] += counts[:, value]
    arrangement, position = np.nonzero(records)
    offsets = np.searchsorted(arrangement, np.arange(len(counts) + 1))
    return Histogram(offsets, distinct[position].astype(np.int32), records[arrangement, position])


class _AttackedClass(NamedTuple):
    """What is left of the values of a class that the models kept from being cut."""

    rows: CountArray
    is_exact: bool
    found: Mapping[str, CountArray]  # by column: the records that are left with too few values


def _attack_class(
    release: UncutRelease, rows: CountArray, max_cells: int, rng: np.random.Generator
) -> tuple[_AttackedClass | None, int]:
    """Exclude arrangements of the values of a class by the cuts that were not made; None if it cannot be judged.

    Also returned: how many cells were judged, records times arrangements for each cut, at most ``max_cells``.
    """
    cuts = release.list_cuts(rows)
    if not cuts:
        return _AttackedClass(rows[:0], True, dict.fromkeys(release.names, rows[:0])), 0
    table = release.judge.table
    codes = table.codes[[table.index(name) for name in release.names]][:, rows]
    values, of_record = np.unique(codes, axis=1, return_inverse=True)
    of_record = of_record.reshape(-1)
    counts, whole = np.bincount(of_record), of_record[None, :]

    def keep_uncut(arranged: CountArray, side: BoolArray) -> BoolArray:
        """Tell which arrangements forbid a cut."""
        entries = arranged[:, side] + len(counts) * np.arange(len(arranged))[:, None]
        left = np.bincount(entries.ravel(order="K"), minlength=len(arranged) * len(counts)).reshape(-1, len(counts))
        is_allowed = release.passes(rows[side], values, left)
        is_allowed[is_allowed] = release.passes(rows[~side], values, counts - left[is_allowed])
        return ~is_allowed

    if not all(bool(keep_uncut(whole, side).all()) for side in cuts):
        # This request would have cut the class: it is not the one that made the release.
        return None, 0
    n_most = min(_MAX_ARRANGEMENTS, max_cells // (len(rows) * len(cuts)))
    is_exact = _count_arrangements(counts) <= min(n_most, _MAX_CELLS_LISTED // len(rows))
    n_least = 1 if is_exact else max(_MIN_CONSISTENT_DRAWS, _MIN_DRAWS_PER_RECORD * len(rows))
    arranged = _list_arrangements(counts) if is_exact else _draw_arrangements(of_record, n_most, rng)
    n_cells = 0
    for side in cuts:
        if len(arranged) < n_least:
            break
        n_cells += arranged.size
        arranged = arranged[keep_uncut(arranged, side)]
    if len(arranged) < n_least:
        return None, n_cells
    return _AttackedClass(rows, is_exact, _find_few_values(release, rows, values, arranged)), n_cells


def _find_few_values(
    release: UncutRelease, rows: CountArray, values: CodeArray, arranged: CountArray
) -> dict[str, CountArray]:
    """Find by column the records that arrangements of the values leave with too few."""
    found = {}
    for name, codes_of_value in zip(release.names, values, strict=True):
        left = np.sort(codes_of_value[arranged], axis=0)
        n_left = 1 + np.count_nonzero(np.diff(left, axis=0), axis=0)
        needed = release.count_needed_values(name)
        # A class that has no more values, or a record whose value is missing, tells nothing new.
        is_few = (n_left < needed) & (len(np.unique(codes_of_value)) >= needed) & (left[-1] >= 0)
        found[name] = rows[is_few]
    return found


def _count_arrangements(counts: CountArray) -> int:
    """Return in how many ways values, each so often, can be dealt to records."""
    n_ways, n = 1, 0
    for count in counts.tolist():
        n += count
        n_ways *= math.comb(n, count)
    return n_ways


def _list_arrangements(counts: CountArray) -> CountArray:
    """List all of them, shape (n_arrangements, n_records)."""
    n, most_frequent = int(counts.sum()), int(np.argmax(counts))
    arranged = np.full((1, n), most_frequent)
    for value in np.flatnonzero(np.arange(len(counts)) != most_frequent).tolist():
        free = np.nonzero(arranged == most_frequent)[1].reshape(len(arranged), -1)
        picks = np.array([*combinations(range(free.shape[1]), int(counts[value]))])
        chosen = free[:, picks].reshape(-1, picks.shape[1])
        arranged = np.repeat(arranged, len(picks), axis=0)
        arranged[np.arange(len(arranged))[:, None], chosen] = value
    return arranged


def _draw_arrangements(values: CountArray, n_most: int, rng: np.random.Generator) -> CountArray:
    n_draws = min(n_most, _MAX_CELLS_DRAWN // len(values))
    return rng.permuted(np.broadcast_to(values, (n_draws, len(values))), axis=1)


def _sum_up(release: UncutRelease, name: str, attacked: Sequence[_AttackedClass], *, is_exact: bool) -> OwnAttack:
    """Sum up what is left of a column's values over classes."""
    persons, nobody = release.persons, np.empty(0, dtype=np.int64)
    kept_whole = [each for each in attacked if len(each.rows)]
    targets, found = (
        np.concatenate([nobody, *rows])
        for rows in ([each.rows for each in kept_whole], [each.found[name] for each in kept_whole])
    )
    if persons is not None:
        targets, found = np.unique(persons[targets]), np.unique(persons[found])
    n = release.count_needed_values(name)
    certain = f"who knows this program and everybody's quasi-identifiers is left with fewer than {n} values of {name}"
    drawn = f"arrangements that were drawn leave fewer than {n} values of {name}, and rarer ones may leave more"
    return OwnAttack(
        name="cuts not made",
        column=name,
        claim=certain if is_exact else drawn,
        unit="records" if persons is None else "persons",
        n_targets=len(targets),
        n_found=len(found),
        n_right=len(found) if is_exact else None,
        control_rate=None,
        fell=is_exact and len(found) > 0,
        n_classes=len(kept_whole),
    )
