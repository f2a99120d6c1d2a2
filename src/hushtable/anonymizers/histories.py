"""Linked k-anonymity: group persons with similar histories, and align their records."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers import publish
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.method import Found, Offers, Problem
from hushtable.errors import InfeasibleError, InputError, check_whole, quote_names
from hushtable.models import KAnonymity, LinkedKAnonymity
from hushtable.recoding import Axis, lay_out, scale_weights
from hushtable.search import Clock
from hushtable.tables import Partition

_STEPS_PER_PERSON: Final = 30
_MOST_STEPS: Final = 15_000
_FEWEST_STEPS: Final = 600
_HEAT_SHARE: Final = 0.02  # the start temperature, as a share of the mean cost of a group
# How far apart the numbers of two groups that exchange persons may be: neighbours are similar
_MAX_GROUPS_APART: Final = 3
_MOST_PAIRS: Final = 10**7  # the most pairs of records that are compared for a lower bound
_TIME_WEIGHT: Final = 1e3  # a factor on the weight of the time column in alignments, so that time decides first


@dataclass(frozen=True, slots=True)
class Histories:
    """Make the histories of at least k persons equal, so that a pseudonym links records and finds nobody.

    Persons are grouped. Within a group, records are aligned into lines: a line has one record of each person, and
    publishes the same cells for all of them. A record without a line is suppressed.

    Parameters
    ----------
    time : str, optional
        A quasi-identifier by which records are aligned first; the other columns come second.
    whole : bool
        Publish all records of a person, or none: a group has persons with equally many. Who has a number of records
        that fewer than k persons have is left out. So households are published, see `hushtable.anonymize`.
    seed : int

    Notes
    -----
    Two first groupings are tried. One cuts persons at medians, as Mondrian cuts records: of their number of records,
    and of where these lie in each column. The other suppresses the fewest records; it takes O(k persons). The cheaper
    one that suppresses no more than is allowed is improved by simulated annealing, which exchanges and moves persons
    between similar groups. It takes 30 steps a person, from 600 to 15,000, which ``Budget(nodes=)`` counts. The
    alignment of a group begins with the person who has the fewest records. The records of every other person are
    assigned so that the published cells grow least.

    For linked k-anonymity without hierarchies, of up to 3,000 records, the trace has a lower bound (floor) of the loss
    of every release. The records of a person share their cells with those of k - 1 others. So each person costs at
    least what the (k-1)-th nearest history costs, and each record at least what the (k-1)-th nearest person's costs.

    Without a column of the person, every record is a person. Labels of hierarchies are published; the search treats
    them as intervals of the hierarchy's order. The idea to group equal records of several persons is from Gong et al.,
    "Anonymizing 1:M microdata with high utility", Knowledge-Based Systems 115, 2017.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> visits = pl.DataFrame({"who": ["P", "P", "Q", "Q"], "age": [31, 50, 52, 33]})
    >>> release = ht.anonymize(visits, quasi_identifiers=["age"], models=[ht.LinkedKAnonymity(2)], person="who",
    ...                        method=ht.Histories(), roles="trust")
    >>> release.frame.rows()
    [('P', '[31, 33]'), ('P', '[50, 52]'), ('Q', '[50, 52]'), ('Q', '[31, 33]')]
    """

    time: str | None = None
    seed: int = 0
    whole: bool = False

    name: ClassVar[str] = "histories"
    offers = Offers(
        parts_equal_records=True, suppresses=True, keeps_apart=False, merges_classes=True, finds_histories=True
    )

    def __post_init__(self) -> None:
        check_whole("Histories was given seed", self.seed, 0)

    def search(self, problem: Problem) -> Found:
        """Group persons, exchange them, and align their records; a budget's nodes are steps."""
        if self.time is not None and self.time not in problem.columns:
            raise InputError(
                f"Histories was given time={self.time!r}.",
                hint=f"choose a quasi-identifier: {quote_names(problem.columns)}.",
            )
        clock = problem.clock.with_new_start()
        crowd = _build_crowd(problem, self.time)
        crowd = _without_rare_lengths(crowd, problem) if self.whole else crowd
        best = min(_list_starts(crowd, problem), key=lambda each: each.cost)
        clock.record_improvement(crowd.share(best.cost), at=0)
        best, n_steps, is_ended = _anneal_groups(crowd, best, problem, clock, self.seed)
        clock.record_improvement(crowd.share(best.cost), at=n_steps)
        labels = _number_lines(crowd, best.groups)
        kept = np.flatnonzero(labels >= 0)
        part, n_classes = problem.table.take(kept), int(labels.max()) + 1
        recoding = publish.from_classes(
            part, Partition.from_labels(labels[kept], n_classes, part.counts), crowd.axes, "tight"
        )
        if not any(model.needs.histories for model in problem.judge.models):
            merged, recoding = publish.merge_equal_classes(recoding, labels, problem.table.counts)
            labels, n_classes = merged.labels, merged.n_classes
        trace = clock.build_trace(
            repr(self),
            n_steps,
            value=crowd.share(best.cost),
            bound=None if is_ended else _find_floor(crowd, problem),
            complete=not is_ended,
            seed=self.seed,
        )
        return Found(Partition.from_labels(labels, n_classes, problem.table.counts), recoding, trace)


@dataclass(frozen=True, slots=True, eq=False)
class _Crowd:
    """The persons, and the positions of their records in every column."""

    axes: Sequence[Axis] = field(repr=False)
    # (n_rows, n_columns): in [0, 1] for an ordered column, else the code; NaN is missing
    positions: FloatArray = field(repr=False)
    # What each further value of an unordered column costs; 0 for an ordered column
    shares: FloatArray = field(repr=False)
    weights: FloatArray = field(repr=False)
    alignment_weights: FloatArray = field(repr=False)  # how much each column decides which records are aligned
    rows: list[CountArray] = field(repr=False)  # the rows of every person
    n_without_person: int  # records that belong to nobody who is grouped
    most_left_out: int  # records of those who are
    is_whole: bool = False
    n_rare: int = 0  # records of persons who are left out because few have as many

    @property
    def n_cells(self) -> float:
        """The weighted number of cells: the cost if all are suppressed."""
        # If all weights are 0, every cost is 0; 1 avoids a division by 0.
        return float(len(self.positions) * self.weights.sum()) or 1.0

    def share(self, cost: float) -> float:
        """Return the loss: the cost of groups and of persons who are left out, as a share of that of all cells."""
        return float(cost + self.n_rare * self.weights.sum()) / self.n_cells


class _HistoryGroups(NamedTuple):
    """Groups of persons, the cost of each, and how many records all of them leave out."""

    groups: list[CountArray]
    costs: list[float]
    n_left_out: int

    @property
    def cost(self) -> float:
        return sum(self.costs)


def _build_crowd(problem: Problem, time: str | None) -> _Crowd:
    """Collect the persons of a table, and where their records lie in every column."""
    table, judge = problem.table, problem.judge
    axes = lay_out(judge.laid_out, problem.columns, problem.ladders, {})
    weights = scale_weights([problem.loss.weights.get(name, 1.0) for name in problem.columns])
    columns, shares = [], []
    for axis in axes:
        codes = table.codes[table.index(axis.column.name)]
        places = axis.place[codes + 1]
        if axis.is_cut_in_order:
            positions = axis.positions[places]
        else:
            positions = places / max(1, axis.n_places - 1) if axis.is_ordered else codes.astype(np.float64)
        positions = np.where(codes < 0, np.nan, positions)
        columns.append(positions)
        shares.append(0.0 if axis.is_ordered else 1.0 / max(1, axis.domain))
    persons = np.arange(table.n_rows) if judge.person is None else table.codes[table.index(judge.person)]
    order = np.argsort(persons, kind="stable")
    order = order[persons[order] >= 0]
    starts = np.flatnonzero(np.diff(persons[order], prepend=-1))
    rows = [each.astype(np.int64) for each in np.split(order, starts[1:])]
    alignment_weights = weights * np.array([_TIME_WEIGHT if name == time else 1.0 for name in problem.columns])
    n_without_person = int((persons < 0).sum())
    return _Crowd(
        axes,
        np.column_stack(columns),
        np.array(shares),
        weights,
        alignment_weights,
        rows,
        n_without_person,
        problem.most_suppressed - n_without_person,
    )


def _without_rare_lengths(crowd: _Crowd, problem: Problem) -> _Crowd:
    """Return the persons of whom no record need be left out: those with as many records as enough others have."""
    n_records = np.array([len(rows) for rows in crowd.rows], dtype=np.int64)
    common = [
        length
        for length in np.unique(n_records).tolist()
        if _group_passes(crowd, np.flatnonzero(n_records == length), problem.judge)
    ]
    is_common = np.isin(n_records, common)
    n_left_out = crowd.n_without_person + int(n_records[~is_common].sum())
    if n_left_out > problem.most_suppressed or not common:
        raise InfeasibleError(
            f"{n_left_out:,} of {problem.table.n_records:,} records belong to nobody, or to persons or households of a "
            f"size that fewer than {problem.judge.min_size} have, and {problem.most_suppressed:,} may be suppressed.",
            hint=f"allow a share of {np.ceil(1e3 * n_left_out / problem.table.n_records) / 1e3:g} (`limits: "
            "{suppression: ...}`), put rare sizes together before, or ask for a smaller k.",
        )
    rows = [own for own, is_kept in zip(crowd.rows, is_common.tolist(), strict=True) if is_kept]
    n_rare = n_left_out - crowd.n_without_person
    return replace(crowd, rows=rows, n_without_person=n_left_out, most_left_out=0, is_whole=True, n_rare=n_rare)


def _align_records(crowd: _Crowd, group: CountArray) -> tuple[list[CountArray], float, int]:
    """Align the records of a group; return the rows of each line, the cost, and how many records are left out.

    The person with the fewest records comes first; records of the others are assigned so that cells grow least.
    """
    from scipy.optimize import linear_sum_assignment

    order = sorted(group.tolist(), key=lambda person: len(crowd.rows[person]))
    first = crowd.rows[order[0]]
    is_set = crowd.shares > 0
    lines = first[None, :]
    low = high = crowd.positions[first]
    for person in order[1:]:
        rows = crowd.rows[person]
        candidates = crowd.positions[rows]
        # By how much each record widens each line, shape (n_lines, n_records, n_columns).
        wide, narrow = np.fmax(high[:, None], candidates[None]), np.fmin(low[:, None], candidates[None])
        growth = (wide - narrow) - (high - low)[:, None]
        aligned = crowd.positions[lines]
        has_value = ((aligned[:, :, None] == candidates) | (np.isnan(aligned[:, :, None]) & np.isnan(candidates))).any(
            axis=0
        )
        # A set grows by a value that it lacks. A missing cell among others makes the whole domain the cell: share 1.
        growth = np.where(is_set, np.where(has_value, 0.0, crowd.shares), growth)
        growth = np.where(
            np.isnan(candidates)[None] != np.isnan(aligned[0])[:, None], np.where(has_value, 0.0, 1.0), growth
        )
        growth = np.nan_to_num(growth)
        _, chosen = linear_sum_assignment((growth * crowd.alignment_weights).sum(axis=2))
        lines = np.vstack([lines, rows[chosen]])
        low, high = np.fmin(low, candidates[chosen]), np.fmax(high, candidates[chosen])
    n_left_out = sum(len(crowd.rows[person]) for person in order) - lines.size
    shares = _domain_shares(crowd, crowd.positions[lines], is_set)
    cost = float((shares * crowd.weights).sum() * len(order) + n_left_out * crowd.weights.sum())
    return list(lines.T), cost, n_left_out


def _domain_shares(crowd: _Crowd, positions: FloatArray, is_set: BoolArray) -> FloatArray:
    """Return the share of each column's domain that each line publishes.

    ``positions`` has the shape (n_members, n_lines, n_columns).
    """
    missing = np.isnan(positions)
    # Positions and codes are 0 or more, so -1 makes the missing value a value of its own.
    values = np.sort(np.where(missing, -1.0, positions), axis=0)
    n_distinct = 1 + (np.diff(values, axis=0) > 0).sum(axis=0)
    as_set = np.where(n_distinct > 1, n_distinct * crowd.shares, 0.0)
    spans = np.where(missing.all(axis=0), 0.0, np.where(missing.any(axis=0), 1.0, values[-1] - values[0]))
    return np.minimum(np.where(is_set, as_set, spans), 1.0)


def _list_starts(crowd: _Crowd, problem: Problem) -> list[_HistoryGroups]:
    """Build two first groupings, by cuts and by length; return those that suppress no more than is allowed."""
    judge, k = problem.judge, problem.judge.min_size
    if not any(map(len, crowd.rows)):
        raise InfeasibleError(
            f"none of {problem.table.n_records:,} records says whose it is, so that no person is there to group.",
            hint="name the column of the person, or leave the method out.",
        )
    n_records = np.array([len(rows) for rows in crowd.rows])
    features = _person_features(crowd, n_records)
    if crowd.is_whole:
        return [_start_by_length(crowd, features, n_records, judge)]
    by_cuts = _cut_persons(features, n_records, k)
    rank = np.argsort(np.concatenate(by_cuts))
    by_length = _group_by_length(np.lexsort((rank, n_records)), n_records, k)
    starts = []
    for groups in (_merge_failing_groups(crowd, groups, judge) for groups in (by_cuts, by_length)):
        graded = [_align_records(crowd, group)[1:] for group in groups]
        starts.append(_HistoryGroups(groups, [cost for cost, _ in graded], sum(n for _, n in graded)))
    feasible = [each for each in starts if each.n_left_out <= crowd.most_left_out]
    if not feasible:
        fewest = min(each.n_left_out for each in starts) + crowd.n_without_person
        raise InfeasibleError(
            f"equal histories of {k} persons leave out {fewest:,} of {problem.table.n_records:,} records, and "
            f"{problem.most_suppressed:,} may be suppressed.",
            hint=f"allow a share of {np.ceil(1e3 * fewest / problem.table.n_records) / 1e3:g} "
            "(`limits: {suppression: ...}`), or ask for a smaller k.",
        )
    return feasible


def _start_by_length(crowd: _Crowd, features: FloatArray, n_records: CountArray, judge: Judge) -> _HistoryGroups:
    """Group persons with equally many records, by cuts."""
    groups = []
    for length in np.unique(n_records).tolist():
        persons = np.flatnonzero(n_records == length)
        cuts = _cut_persons(features[persons], n_records[persons], judge.min_size)
        groups += _merge_failing_groups(crowd, [persons[each] for each in cuts], judge)
    return _HistoryGroups(groups, [_align_records(crowd, group)[1] for group in groups], 0)


def _person_features(crowd: _Crowd, n_records: CountArray) -> FloatArray:
    """Return the mean, lowest and highest position of every person's records in every column."""
    owner = np.repeat(np.arange(len(n_records)), n_records)
    rows, starts = np.concatenate(crowd.rows), np.cumsum(n_records) - n_records
    features = []
    for j, share in enumerate(crowd.shares):
        positions = np.nan_to_num(crowd.positions[rows, j]) * (share or 1.0)
        mean = np.bincount(owner, weights=positions) / n_records
        features += [mean, np.minimum.reduceat(positions, starts), np.maximum.reduceat(positions, starts)]
    return np.column_stack(features)


def _cut_persons(features: FloatArray, n_records: CountArray, k: int) -> list[CountArray]:
    """Halve groups until they have fewer than 2 k persons.

    A group is cut at the median of its widest feature, or of the number of records if that varies more.
    """
    groups, waiting = [], [np.arange(len(features))]
    while waiting:
        persons = waiting.pop()
        if len(persons) < 2 * k:
            groups.append(persons)
            continue
        widths = np.ptp(features[persons], axis=0)
        feature, counts = features[persons, widths.argmax()], n_records[persons]
        key = counts if np.ptp(counts) / counts.mean() >= widths.max() else feature
        order = persons[np.argsort(key, kind="stable")]
        # A multiple of k, so that few groups are larger than they need to be.
        middle = k * max(1, len(order) // (2 * k))
        waiting += [order[middle:], order[:middle]]
    return groups


def _group_by_length(order: CountArray, n_records: CountArray, k: int) -> list[CountArray]:
    """Cut persons, sorted by number of records, into groups that leave out the fewest records (dynamic programme).

    The first person of a group has the fewest records: the others lose what they have beyond that number.
    """
    counts = n_records[order]
    n = len(counts)
    n_before = np.append(0, np.cumsum(counts)).tolist()
    n_by_person = counts.tolist()
    fewest_left_out, begin_of_last = [0.0] + [np.inf] * n, [0] * (n + 1)
    for end in range(k, n + 1):
        for begin in range(max(0, end - 2 * k + 1), end - k + 1):
            n_left_out = fewest_left_out[begin] + n_before[end] - n_before[begin] - n_by_person[begin] * (end - begin)
            if n_left_out < fewest_left_out[end]:
                fewest_left_out[end], begin_of_last[end] = n_left_out, begin
    groups, end = [], n
    while end:
        groups.append(order[begin_of_last[end] : end])
        end = begin_of_last[end]
    return groups[::-1]


def _merge_failing_groups(crowd: _Crowd, groups: list[CountArray], judge: Judge) -> list[CountArray]:
    """Merge each group with the next ones until every line satisfies the models."""
    if _is_by_size(judge):
        return groups
    merged: list[CountArray] = []
    waiting = np.empty(0, dtype=np.int64)
    for group in groups:
        waiting = np.append(waiting, group)
        if _group_passes(crowd, waiting, judge):
            merged.append(waiting)
            waiting = waiting[:0]
    while len(waiting):
        if not merged:
            raise InfeasibleError(
                "no group of persons satisfies the models with aligned records.", hint="ask for less."
            )
        waiting = np.append(merged.pop(), waiting)
        if _group_passes(crowd, waiting, judge):
            merged.append(waiting)
            waiting = waiting[:0]
    return merged


def _is_by_size(judge: Judge) -> bool:
    """Tell whether the number of persons alone decides if a group passes."""
    return all(model.needs.histories or type(model) is KAnonymity for model in judge.models)


def _group_passes(crowd: _Crowd, group: CountArray, judge: Judge) -> bool:
    """Tell whether every line of a group satisfies the models."""
    if len(group) < judge.min_size:
        return False
    if _is_by_size(judge):
        return True
    lines, _, _ = _align_records(crowd, group)
    offsets = np.cumsum([0, *map(len, lines)])
    return bool(judge.passes(offsets, np.concatenate(lines).astype(np.int32)).all())


def _anneal_groups(
    crowd: _Crowd, start: _HistoryGroups, problem: Problem, clock: Clock, seed: int
) -> tuple[_HistoryGroups, int, bool]:
    """Exchange and move persons by simulated annealing.

    Return the best groups, the number of steps, and whether a budget ended the search.
    """
    n_steps = min(max(_STEPS_PER_PERSON * len(crowd.rows), _FEWEST_STEPS), _MOST_STEPS)
    groups, costs, n_left_out = list(start.groups), list(start.costs), start.n_left_out
    best, cost, rng = start, start.cost, np.random.default_rng(seed)
    left_out_by_group = [
        sum(len(crowd.rows[p]) for p in g) - len(g) * min(len(crowd.rows[p]) for p in g) for g in groups
    ]
    judge = problem.judge
    start_temperature, lowest_cost = _HEAT_SHARE * start.cost / len(groups), start.cost
    for step in range(n_steps if len(groups) > 1 and start.cost > 0 else 0):
        if clock.is_over(step + 1):
            return best, step, True
        clock.report_progress(step / n_steps)
        first = int(rng.integers(len(groups)))
        second = (first + int(rng.integers(1, 1 + min(_MAX_GROUPS_APART, len(groups) - 1)))) % len(groups)
        candidates = _exchange_persons(groups[first], groups[second], judge.min_size, rng)
        (first_group, first_cost, first_out), (second_group, second_cost, second_out) = (
            (each, *_align_records(crowd, each)[1:]) for each in candidates
        )
        n_after = n_left_out - left_out_by_group[first] - left_out_by_group[second] + first_out + second_out
        gain = costs[first] + costs[second] - first_cost - second_cost
        if n_after > crowd.most_left_out or rng.random() >= np.exp(
            min(0.0, gain / (start_temperature * (1 - step / n_steps) + 1e-12))
        ):
            continue
        if not all(_group_passes(crowd, each, judge) for each in candidates):
            continue
        groups[first], groups[second] = first_group, second_group
        costs[first], costs[second], left_out_by_group[first], left_out_by_group[second] = (
            first_cost,
            second_cost,
            first_out,
            second_out,
        )
        n_left_out, cost = n_after, cost - gain
        if cost < lowest_cost - 1e-9:
            lowest_cost, best = cost, _HistoryGroups(list(groups), list(costs), n_left_out)
    return best, n_steps if len(groups) > 1 and start.cost > 0 else 0, False


def _exchange_persons(
    first: CountArray, second: CountArray, k: int, rng: np.random.Generator
) -> tuple[CountArray, CountArray]:
    """Return two groups after one person moved (only if k stay), or two persons were exchanged."""
    i, j = int(rng.integers(len(first))), int(rng.integers(len(second)))
    if len(first) > k and rng.random() < 1 / 2:
        return np.delete(first, i), np.append(second, first[i])
    return np.append(np.delete(first, i), second[j]), np.append(np.delete(second, j), first[i])


def _number_lines(crowd: _Crowd, groups: list[CountArray]) -> CodeArray:
    """Return for every record the number of its line, counted over all groups; -1 if it has none."""
    labels, n_lines = np.full(len(crowd.positions), -1, dtype=np.int32), 0
    for group in groups:
        for line in _align_records(crowd, group)[0]:
            labels[line] = n_lines
            n_lines += 1
    return labels


def _find_floor(crowd: _Crowd, problem: Problem) -> float | None:
    """Return a lower bound of the loss of every release in which k persons have equal histories; None if not known."""
    k = max((model.k for model in problem.judge.models if isinstance(model, LinkedKAnonymity)), default=0)
    n_records = np.array([len(rows) for rows in crowd.rows])
    is_own_cost = (
        not problem.n_suppressed_before
        and not crowd.n_without_person
        and not problem.ladders.keys() & set(problem.columns)
    )
    if k < 2 or not is_own_cost or int(n_records.sum()) ** 2 > _MOST_PAIRS:
        return None
    positions, starts = crowd.positions[np.concatenate(crowd.rows)], np.cumsum(n_records) - n_records
    return (
        sum(_person_floor(crowd, person, positions, starts, n_records, k) for person in range(len(starts)))
        / crowd.n_cells
    )


def _person_floor(
    crowd: _Crowd, person: int, positions: FloatArray, starts: CountArray, n_records: CountArray, k: int
) -> float:
    """Return a lower bound of the cost of a person's records; no record costs more than a suppressed one.

    It is the higher one of two bounds: from the nearest persons of each record, and from the nearest histories.
    """
    from scipy.optimize import linear_sum_assignment

    own = crowd.positions[crowd.rows[person]]
    pairs = np.stack(np.broadcast_arrays(own[:, None], positions[None]))
    costs = (_domain_shares(crowd, pairs, crowd.shares > 0) * crowd.weights).sum(axis=2)
    nearest = np.minimum.reduceat(costs, starts, axis=1)
    nearest[:, person] = np.inf
    by_record = float(np.partition(nearest, k - 2, axis=1)[:, k - 2].sum())
    n_aligned = np.minimum(len(own), n_records)
    left_out = (len(own) - n_aligned) * crowd.weights.sum()
    floors = np.cumsum(np.sort(nearest, axis=0), axis=0)[n_aligned - 1, np.arange(len(starts))] + left_out
    # Histories by their own lower bounds: the exact cost is needed only until no bound is below the (k-1)-th.
    nearest_costs: list[float] = []
    for candidate in np.argsort(floors, kind="stable").tolist():
        if len(nearest_costs) >= k - 1 and floors[candidate] >= nearest_costs[k - 2]:
            break
        costs_of_pairs = costs[:, starts[candidate] : starts[candidate] + n_records[candidate]]
        chosen = linear_sum_assignment(costs_of_pairs)
        insort(nearest_costs, float(costs_of_pairs[chosen].sum() + left_out[candidate]))
    return max(by_record, nearest_costs[k - 2])
