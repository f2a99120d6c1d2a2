"""Groups of at least k persons with equal bundles: what one person publishes in all tables, each aligned by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.anonymizers import publish
from hushtable.anonymizers.alignment import Crowd, align_records
from hushtable.anonymizers.method import Found, Problem
from hushtable.errors import InfeasibleError
from hushtable.models import KAnonymity
from hushtable.search import Clock, Trace
from hushtable.tables import Partition

_STEPS_PER_PERSON: Final = 30
_MOST_STEPS: Final = 15_000
_STEPS_PER_PERSON_OF_TABLES: Final = 200  # where persons have several tables
_MOST_STEPS_OF_TABLES: Final = 400_000
# How much the number of records in a table counts beside a column, where persons have several tables: unequal numbers
# are what leaves records out.
_COUNT_WEIGHTS: Final = (5.0, 10.0, 20.0)
_MOST_PERSONS_COMPARED: Final = 20_000  # of more, the first grouping that suppresses few enough is taken
_FEWEST_STEPS: Final = 600
_HEAT_SHARE: Final = 0.02  # the start temperature, as a share of the mean cost of a group
# How far apart the numbers of two groups that exchange persons may be: neighbours are similar
_MAX_GROUPS_APART: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class BundleTable:
    """A table of a bundle: what is asked of its rows, and the rows of every person in it."""

    problem: Problem
    crowd: Crowd = field(repr=False)
    name: str = ""  # "" where there is no other table

    @property
    def max_left_out(self) -> int:
        """How many records of persons may be suppressed."""
        return 0 if self.crowd.is_whole else self.problem.most_suppressed - self.crowd.n_without_person

    def passes(self, lines: CountArray) -> bool:
        """Tell whether all lines of a group, shape (n_members, n_lines), satisfy the models."""
        n_members, n_lines = lines.shape
        offsets = np.arange(n_lines + 1) * n_members
        return bool(self.problem.judge.passes(offsets, lines.T.reshape(-1).astype(np.int32)).all())


class AlignedGroup(NamedTuple):
    """Persons who publish the same, and the rows of each line in every table, shape (n_members, n_lines)."""

    persons: CountArray
    lines: tuple[CountArray, ...]
    cost: float
    n_left_out: CountArray  # by table


class AlignedGroups(NamedTuple):
    """Groups of persons, and how many records of each table all of them leave out."""

    groups: list[AlignedGroup]
    n_left_out: CountArray

    @property
    def cost(self) -> float:
        """The cost of all groups."""
        return sum(group.cost for group in self.groups)


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """All persons and their tables."""

    tables: tuple[BundleTable, ...]
    n_records: CountArray = field(repr=False)  # of every person in every table, shape (n_tables, n_persons)
    k: int  # how many persons a group needs
    is_by_size: bool  # whether the number of persons alone decides if a group passes

    @classmethod
    def from_tables(cls, tables: Sequence[BundleTable]) -> Bundles:
        """Count the records of the persons, who are the same in all tables."""
        judges = [table.problem.judge for table in tables]
        models = [model for judge in judges for model in judge.models]
        is_by_size = all(model.needs.histories or type(model) is KAnonymity for model in models)
        n_records = np.array([table.crowd.n_records for table in tables])
        return cls(tuple(tables), n_records, max(judge.min_size for judge in judges), is_by_size)

    @property
    def n_cells(self) -> float:
        """The weighted number of cells: the cost if all are suppressed."""
        return sum(table.crowd.n_cells for table in self.tables)

    def share(self, cost: float) -> float:
        """Return the loss: the cost of groups and of persons who are left out, as a share of that of all cells."""
        left_out = sum(table.crowd.n_rare * table.crowd.weights.sum() for table in self.tables)
        return float(cost + left_out) / self.n_cells

    def align(self, persons: CountArray) -> AlignedGroup:
        """Align the records of a group, each table by itself."""
        aligned = [align_records(table.crowd, persons) for table in self.tables]
        lines, costs, n_left_out = zip(*aligned, strict=True)
        return AlignedGroup(persons, lines, sum(costs), np.array(n_left_out))

    def passes(self, group: AlignedGroup) -> bool:
        """Tell whether every line of a group satisfies the models of its table."""
        if len(group.persons) < self.k:
            return False
        by_table = zip(self.tables, group.lines, strict=True)
        return self.is_by_size or all(table.passes(lines) for table, lines in by_table if lines.shape[1])

    def find_groups(self, clock: Clock, seed: int) -> tuple[AlignedGroups, int, bool]:
        """Search for groups of little cost; return them, the number of steps, and whether a budget ended the search."""
        best = min(_list_starts(self), key=lambda each: each.cost)
        clock.record_improvement(self.share(best.cost), at=0)
        best, n_steps, is_ended = _anneal_groups(self, best, clock, seed)
        clock.record_improvement(self.share(best.cost), at=n_steps)
        return best, n_steps, is_ended

    def publish(self, found: AlignedGroups, trace: Trace) -> list[Found]:
        """Return for every table the classes of its lines, and what they publish."""
        return [_publish_lines(table, j, found, trace) for j, table in enumerate(self.tables)]


def search_bundles(tables: Sequence[BundleTable], method: str, seed: int) -> list[Found]:
    """Group the persons of several tables, and return the classes of each table; a budget's nodes are steps."""
    bundles, clock = Bundles.from_tables(tables), tables[0].problem.clock.with_new_start()
    found, n_steps, is_ended = bundles.find_groups(clock, seed)
    trace = clock.build_trace(
        method, n_steps, value=bundles.share(found.cost), bound=None, complete=not is_ended, seed=seed
    )
    return bundles.publish(found, trace)


def without_rare_lengths(problem: Problem, crowd: Crowd) -> Crowd:
    """Return the persons of whom no record need be left out: those with as many records as enough others have."""
    bundles = Bundles.from_tables([BundleTable(problem, crowd)])
    n_records = crowd.n_records
    is_common = np.zeros(len(n_records), dtype=bool)
    for length in np.unique(n_records).tolist():
        persons = np.flatnonzero(n_records == length)
        # Aligning all of them takes long, and tells nothing where their number decides.
        is_enough = len(persons) >= bundles.k
        is_common[persons] = is_enough and (bundles.is_by_size or bundles.passes(bundles.align(persons)))
    n_rare = int(n_records[~is_common].sum())
    n_left_out, n_all = crowd.n_without_person + n_rare, problem.table.n_records
    if n_left_out > problem.most_suppressed or not is_common.any():
        raise InfeasibleError(
            f"{n_left_out:,} of {n_all:,} records belong to nobody, or to persons or households of a "
            f"size that fewer than {bundles.k} have, and {problem.most_suppressed:,} may be suppressed.",
            hint=f"allow a share of {np.ceil(1e3 * n_left_out / n_all) / 1e3:g} (`limits: "
            "{suppression: ...}`), put rare sizes together before, or ask for a smaller k.",
        )
    rows = crowd.rows[np.repeat(is_common, n_records)]
    starts = np.append(0, np.cumsum(n_records[is_common]))
    return replace(crowd, rows=rows, starts=starts, n_without_person=n_left_out, is_whole=True, n_rare=n_rare)


def _publish_lines(table: BundleTable, j: int, found: AlignedGroups, trace: Trace) -> Found:
    """Make a class of every line of a table."""
    problem = table.problem
    labels, n_classes = _number_lines([group.lines[j] for group in found.groups], problem.table.n_rows)
    if not n_classes:
        raise InfeasibleError(
            f"table {table.name!r} would publish no row: in every group somebody has none.",
            hint="leave the table out, or ask for a smaller k.",
        )
    kept = np.flatnonzero(labels >= 0)
    part = problem.table.take(kept)
    recoding = publish.from_classes(
        part, Partition.from_labels(labels[kept], n_classes, part.counts), table.crowd.axes, "tight"
    )
    if not any(model.needs.histories for model in problem.judge.models):
        merged, recoding = publish.merge_equal_classes(recoding, labels, problem.table.counts)
        labels, n_classes = merged.labels, merged.n_classes
    return Found(Partition.from_labels(labels, n_classes, problem.table.counts), recoding, trace)


def _number_lines(all_lines: Sequence[CountArray], n_rows: int) -> tuple[CodeArray, int]:
    """Return for every record the number of its line, counted over all groups, -1 if it has none; and how many."""
    labels, n_numbered = np.full(n_rows, -1, dtype=np.int32), 0
    for lines in all_lines:
        labels[lines] = np.arange(n_numbered, n_numbered + lines.shape[1])
        n_numbered += lines.shape[1]
    return labels, n_numbered


def _list_starts(bundles: Bundles) -> list[AlignedGroups]:
    """Align first groupings of persons; return those that suppress no more than is allowed."""
    n_records = bundles.n_records
    if not n_records.any():
        n_all = sum(table.problem.table.n_records for table in bundles.tables)
        raise InfeasibleError(
            f"none of {n_all:,} records says whose it is, so that no person is there to group.",
            hint="name the column of the person, or leave the method out.",
        )
    if bundles.tables[0].crowd.is_whole:
        return [_start_by_length(bundles)]
    most = np.array([table.max_left_out for table in bundles.tables])
    starts, feasible = [], []
    for groups in _list_groupings(bundles):
        aligned = _merge_failing_groups(bundles, groups)
        starts.append(AlignedGroups(aligned, np.sum([group.n_left_out for group in aligned], axis=0)))
        if (starts[-1].n_left_out <= most).all():
            feasible.append(starts[-1])
            if len(bundles.tables) > 1 and n_records.shape[1] > _MOST_PERSONS_COMPARED:
                break
    if not feasible:
        _raise_infeasible(bundles, np.min([start.n_left_out for start in starts], axis=0) - most)
    return feasible


def _start_by_length(bundles: Bundles) -> AlignedGroups:
    """Group persons of one table who have equally many records, by cuts: no record is left out."""
    n_records = bundles.n_records
    features = _person_features(bundles.tables[0].crowd, n_records[0])
    groups = []
    for length in np.unique(n_records[0]).tolist():
        persons = np.flatnonzero(n_records[0] == length)
        cuts = _cut_persons(features[persons], n_records[:, persons], bundles.k)
        groups += _merge_failing_groups(bundles, [persons[each] for each in cuts])
    return AlignedGroups(groups, np.zeros(1, dtype=np.int64))


def _list_groupings(bundles: Bundles) -> Iterator[list[CountArray]]:
    """Yield groupings of persons: by cuts, and the one that leaves out the fewest records."""
    n_records, k = bundles.n_records, bundles.k
    features = [_person_features(table.crowd, counts) for table, counts in zip(bundles.tables, n_records, strict=True)]
    if len(features) == 1:
        by_cuts = _cut_persons(features[0], n_records, k)
        yield by_cuts
    else:
        # The mean says where a person is, on a scale on which every column has the width 1.
        sides = zip(bundles.tables, features, strict=True)
        means = np.column_stack([each[:, ::3] / np.maximum(1 - table.crowd.shares, 1e-9) for table, each in sides])
        for weight in _COUNT_WEIGHTS:
            by_cuts = _cut_persons(means, n_records, k, weight)
            yield by_cuts
    rank = np.argsort(np.concatenate(by_cuts))
    yield _group_by_length(np.lexsort((rank, *n_records[::-1])), n_records, k)


def _raise_infeasible(bundles: Bundles, excess: CountArray) -> None:
    """Say of the table that leaves out most beyond its limit how many records that takes."""
    table = bundles.tables[int(excess.argmax())]
    problem, k = table.problem, bundles.k
    n_records, most = problem.table.n_records, problem.most_suppressed
    fewest = int(excess.max()) + most
    hint = (
        f"allow a share of {np.ceil(1e3 * fewest / n_records) / 1e3:g} "
        "(`limits: {suppression: ...}`), or ask for a smaller k."
    )
    if len(bundles.tables) == 1:
        raise InfeasibleError(
            f"equal histories of {k} persons leave out {fewest:,} of {n_records:,} records, and {most:,} may be "
            "suppressed.",
            hint=hint,
        )
    raise InfeasibleError(
        f"equal bundles of {k} persons leave out {fewest:,} of {n_records:,} records of table {table.name!r}, and "
        f"{most:,} may be suppressed.",
        hint=hint,
    )


def _person_features(crowd: Crowd, n_records: CountArray) -> FloatArray:
    """Return the mean, lowest and highest position of every person's records in every column.

    Persons without a record are in the middle of the others: their number of records tells them apart.
    """
    is_there = n_records > 0
    n_present = n_records[is_there]
    owner = np.repeat(np.arange(len(n_present)), n_present)
    rows, starts = crowd.rows, np.cumsum(n_present) - n_present
    features = np.empty((len(n_records), 3 * len(crowd.shares)))
    for j, share in enumerate(crowd.shares):
        positions = np.nan_to_num(crowd.positions[rows, j]) * (share or 1.0)
        mean = np.bincount(owner, weights=positions, minlength=len(n_present)) / n_present
        lowest, highest = np.minimum.reduceat(positions, starts), np.maximum.reduceat(positions, starts)
        features[is_there, 3 * j : 3 * j + 3] = np.column_stack([mean, lowest, highest])
    features[~is_there] = features[is_there].mean(axis=0)
    return features


def _cut_persons(
    features: FloatArray, n_records: CountArray, k: int, count_weight: float | None = None
) -> list[CountArray]:
    """Halve groups until they have fewer than 2 k persons.

    A group is cut at the median of its widest feature, or of the number of records in a table if that varies more:
    relative to its mean, or, with a weight, to how much it varies among all persons.
    """
    scale = None if count_weight is None else np.maximum(np.ptp(n_records, axis=1), 1) / count_weight
    groups, waiting = [], [np.arange(len(features))]
    while waiting:
        persons = waiting.pop()
        if len(persons) < 2 * k:
            groups.append(persons)
            continue
        widths = np.ptp(features[persons], axis=0)
        counts = n_records[:, persons]
        spreads = np.ptp(counts, axis=1) / (np.maximum(counts.mean(axis=1), 1e-12) if scale is None else scale)
        is_by_count = spreads.max() >= widths.max()
        key = counts[spreads.argmax()] if is_by_count else features[persons, widths.argmax()]
        order = persons[np.argsort(key, kind="stable")]
        # A multiple of k, so that few groups are larger than they need to be.
        middle = k * max(1, len(order) // (2 * k))
        waiting += [order[middle:], order[:middle]]
    return groups


def _group_by_length(order: CountArray, n_records: CountArray, k: int) -> list[CountArray]:
    """Cut persons, sorted by number of records, into groups that leave out the fewest records (dynamic programme).

    In every table the person with the fewest records says how many the others keep.
    """
    n = len(order)
    counts = n_records[:, order].astype(np.float64)
    n_before = np.append(0.0, np.cumsum(counts.sum(axis=0)))
    # By length of the group: what the group that ends at each person leaves out.
    n_left_out = np.full((2 * k, n + 1), np.inf)
    fewest = counts.copy()
    for size in range(2, min(2 * k, n + 1)):
        fewest = np.minimum(fewest[:, :-1], counts[:, size - 1 :])
        if size >= k:
            n_left_out[size, size:] = n_before[size:] - n_before[: n + 1 - size] - size * fewest.sum(axis=0)
    if k == 1:
        n_left_out[1, 1:] = 0.0
    best, length = [0.0] + [np.inf] * n, [0] * (n + 1)
    by_end = n_left_out.T.tolist()
    for end in range(k, n + 1):
        for size in range(min(2 * k - 1, end), k - 1, -1):
            total = best[end - size] + by_end[end][size]
            if total < best[end]:
                best[end], length[end] = total, size
    groups, end = [], n
    while end:
        groups.append(order[end - length[end] : end])
        end -= length[end]
    return groups[::-1]


def _merge_failing_groups(bundles: Bundles, groups: Sequence[CountArray]) -> list[AlignedGroup]:
    """Align groups, and merge each with the next ones until every line satisfies the models."""
    if bundles.is_by_size:
        return [bundles.align(group) for group in groups]
    merged: list[AlignedGroup] = []
    waiting = np.empty(0, dtype=np.int64)
    for group in groups:
        waiting = np.append(waiting, group)
        if bundles.passes(aligned := bundles.align(waiting)):
            merged.append(aligned)
            waiting = waiting[:0]
    while len(waiting):
        if not merged:
            raise InfeasibleError(
                "no group of persons satisfies the models with aligned records.", hint="ask for less."
            )
        waiting = np.append(merged.pop().persons, waiting)
        if bundles.passes(aligned := bundles.align(waiting)):
            merged.append(aligned)
            waiting = waiting[:0]
    return merged


def _anneal_groups(bundles: Bundles, start: AlignedGroups, clock: Clock, seed: int) -> tuple[AlignedGroups, int, bool]:
    """Exchange and move persons by simulated annealing.

    Return the best groups, the number of steps, and whether a budget ended the search.
    """
    steps, most = (
        (_STEPS_PER_PERSON, _MOST_STEPS)
        if len(bundles.tables) == 1
        else (_STEPS_PER_PERSON_OF_TABLES, _MOST_STEPS_OF_TABLES)
    )
    n_steps = min(max(steps * bundles.n_records.shape[1], _FEWEST_STEPS), most)
    groups, n_left_out, best = list(start.groups), start.n_left_out, start
    cost, rng = start.cost, np.random.default_rng(seed)
    max_left_out = np.array([table.max_left_out for table in bundles.tables])
    start_temperature, lowest_cost = _HEAT_SHARE * cost / len(groups), cost
    if len(groups) < 2 or not cost > 0:
        return best, 0, False
    for step in range(n_steps):
        if clock.is_over(step + 1):
            return best, step, True
        clock.report_progress(step / n_steps)
        i = int(rng.integers(len(groups)))
        j = (i + int(rng.integers(1, 1 + min(_MAX_GROUPS_APART, len(groups) - 1)))) % len(groups)
        before, candidates = (groups[i], groups[j]), _exchange_persons(groups[i], groups[j], bundles.k, rng)
        first, second = (bundles.align(persons) for persons in candidates)
        n_after = n_left_out + first.n_left_out + second.n_left_out - before[0].n_left_out - before[1].n_left_out
        gain = before[0].cost + before[1].cost - first.cost - second.cost
        if (n_after > max_left_out).any() or rng.random() >= np.exp(
            min(0.0, gain / (start_temperature * (1 - step / n_steps) + 1e-12))
        ):
            continue
        if not (bundles.passes(first) and bundles.passes(second)):
            continue
        groups[i], groups[j] = first, second
        n_left_out, cost = n_after, cost - gain
        if cost < lowest_cost - 1e-9:
            lowest_cost, best = cost, AlignedGroups(list(groups), n_left_out)
    return best, n_steps, False


def _exchange_persons(
    first: AlignedGroup, second: AlignedGroup, k: int, rng: np.random.Generator
) -> tuple[CountArray, CountArray]:
    """Return the persons of two groups after one moved (only if k stay), or two were exchanged."""
    left, right = first.persons, second.persons
    i, j = int(rng.integers(len(left))), int(rng.integers(len(right)))
    if len(left) > k and rng.random() < 1 / 2:
        return np.delete(left, i), np.append(right, left[i])
    return np.append(np.delete(left, i), right[j]), np.append(np.delete(right, j), left[i])
