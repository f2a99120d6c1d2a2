"""Local recoding of large tables: the best of several starts, annealed.

One start goes along the hierarchies. It takes the cheapest levels that put a hundredth of all records into classes,
removes these records, and repeats. Levels that kept too few records keep no more of fewer rows, so every node of the
lattice is tried once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers import local_pricing
from hushtable.anonymizers.judging import split_large_classes
from hushtable.anonymizers.local_pricing import Neighbours, Pricing, node_costs, price_rows
from hushtable.anonymizers.method import Found, Offers, Problem
from hushtable.anonymizers.mondrian import Mondrian
from hushtable.errors import check_whole
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import annealing, class_costs, rollup
from hushtable.kernels.annealing import anneal_steps
from hushtable.kernels.class_costs import CostedClasses
from hushtable.kernels.regroup import Check
from hushtable.quality import SetNCP
from hushtable.search import Budget, Clock, Effort, check_memory, say_if_first_run
from hushtable.tables import Table

MOST_NODES: Final = 100_000  # of a lattice whose levels are tried one by one
_SHARE_KEPT: Final = 0.01


def n_nodes(pricing: Pricing) -> int:
    """Return how many combinations of levels there are; 0 where a column has no hierarchy."""
    ladders = [axis.hierarchy for axis in pricing.axes]
    if any(ladder is None for ladder in ladders):
        return 0
    return int(np.prod([float(ladder.n_levels) for ladder in ladders if ladder is not None]))


@dataclass(frozen=True, slots=True, eq=False)
class _Rest:
    """The distinct rows that are in no class yet."""

    rows: CountArray
    counts: CountArray
    nodes: CodeArray = field(repr=False)  # (levels of the first column, then of the next, ...; n_rows)
    costs: FloatArray = field(repr=False)  # as `nodes`: of a record that publishes them

    def take_rows(self, kept: BoolArray) -> _Rest:
        nodes, costs = np.ascontiguousarray(self.nodes[:, kept]), np.ascontiguousarray(self.costs[:, kept])
        return _Rest(self.rows[kept], self.counts[kept], nodes, costs)


@dataclass(frozen=True, slots=True, eq=False)
class _Requirement:
    """The check of classes, and the records of every distinct row: ``records[offsets[i]:offsets[i + 1]]``."""

    check: Check
    offsets: CountArray
    records: CodeArray


def classes_by_levels(pricing: Pricing, clock: Clock) -> CodeArray | None:
    """Form classes along the hierarchies, -1 for rows left over; None without a small lattice, or without time."""
    if not 0 < n_nodes(pricing) <= MOST_NODES:
        return None
    problem = pricing.problem
    ladders = [axis.hierarchy for axis in pricing.axes if axis.hierarchy is not None]
    distinct, inverse = problem.table.select(problem.columns).collapse()
    shape = tuple(ladder.n_levels for ladder in ladders)
    starts = np.append(0, np.cumsum(shape))[:-1]
    pool = _lay_out_rows(pricing, ladders, distinct)
    offsets = np.append(0, np.cumsum(np.bincount(inverse, minlength=distinct.n_rows)))
    requirement = _Requirement(
        problem.judge.check_for_kernels(len(inverse)), offsets, np.argsort(inverse, kind="stable").astype(np.int32)
    )
    labels, n_classes = np.full(distinct.n_rows, -1, dtype=np.int32), 0
    fails, before = np.zeros(shape, dtype=bool), distinct.n_records
    while clock.left > 0:
        min_kept = max(problem.judge.min_size, min(int(_SHARE_KEPT * distinct.n_records), int(pool.counts.sum()) // 2))
        if min_kept < before:
            # Fewer records are needed now, so nodes that failed may succeed.
            fails[...] = False
        before = min_kept
        group = _group_by_cheapest_levels(pool, starts, fails, min_kept, requirement, clock)
        if group is None:
            break
        kept = group >= 0
        labels[pool.rows[kept]] = n_classes + np.unique(group[kept], return_inverse=True)[1]
        n_classes = int(labels.max()) + 1
        pool = pool.take_rows(~kept)
    return labels[inverse] if n_classes and clock.left > 0 else None


def _lay_out_rows(pricing: Pricing, ladders: Sequence[Hierarchy], distinct: Table) -> _Rest:
    """Lay out the nodes and costs of all distinct rows at every level."""
    nodes, costs = [], []
    loss, columns = pricing.problem.loss, pricing.space.columns
    for j, ladder in enumerate(ladders):
        # Below the top, the missing value is a leaf of its own and costs nothing.
        levels, codes = ladder.levels_with_missing(), distinct.codes[j] + 1
        for level, of_level in enumerate(node_costs(loss, ladder, pricing.axes[j].domain)):
            is_top = level == ladder.n_levels - 1
            of_missing = 1.0 if is_top else 0.0
            of_code = np.append(of_missing, of_level[ladder.level_codes[level]])
            nodes.append(levels[level, codes])
            costs.append(columns["star"][j] * of_code[codes])
    return _Rest(np.arange(distinct.n_rows), distinct.counts, np.array(nodes, dtype=np.int32), np.array(costs))


def _group_by_cheapest_levels(
    pool: _Rest, starts: CountArray, fails: BoolArray, min_kept: int, requirement: _Requirement, clock: Clock
) -> CodeArray | None:
    """Group rows by the cheapest levels that keep enough records, -1 for rows in no group; mark nodes that fail."""
    n_records = int(pool.counts.sum())
    if n_records < min_kept:
        return None
    by_level = pool.costs @ pool.counts
    costs = np.zeros(fails.shape)
    for j, start in enumerate(starts.tolist()):
        width = fails.shape[j]
        costs += by_level[start : start + width].reshape([-1 if i == j else 1 for i in range(fails.ndim)])
    n_slots = 1 << int(2 * len(pool.rows)).bit_length()
    keys, group_sizes = np.empty(n_slots, dtype=np.uint64), np.empty(n_slots, dtype=np.int64)
    first, slots, after = (np.empty(n, dtype=np.int32) for n in (n_slots, len(pool.rows), len(pool.rows)))
    groups = rollup.Groups(pool.rows, slots, group_sizes, requirement.offsets, requirement.records, first, after)
    min_size = requirement.check.min_size
    for number in np.argsort(costs, axis=None, kind="stable").tolist():
        levels = np.unravel_index(number, fails.shape)
        if fails[levels]:
            continue
        if clock.left <= 0:
            return None
        of_columns = starts + np.array(levels)
        n_kept = rollup.roll_up(pool.nodes, of_columns, pool.counts, min_size, keys, group_sizes, slots)
        if n_kept >= min_kept and requirement.check.checker.is_judged:
            n_kept = rollup.empty_failing_groups(groups, requirement.check.checker, min_size)
        if n_kept >= min_kept:
            return np.where(group_sizes[slots] >= min_size, slots, -1).astype(np.int32)
        # Wrong for models that wider classes may fail: some nodes are skipped then, but what is found passes.
        fails[tuple(slice(level + 1) for level in levels)] = True
    return None


_SHARE_BIG: Final = 0.01  # of the steps that split or dissolve
_STEPS_BETWEEN_LOOKS: Final = 100_000  # at the clock
_N_STAGES: Final = 20  # columns are weighted anew after each
_STEPS_TO_HEAL: Final = 90  # steps a row; with fewer, the damage of the first heat would remain
_STEPS_TO_BE_HOTTER: Final = 200  # from so many steps a row on, the first heat grows with them
_SHARE_COLD: Final = 0.05  # of the steps: the last ones accept no rise
_N_SPARE_CLASSES: Final = 64  # free slots, as a split may come before another class is dissolved


@dataclass(frozen=True, slots=True)
class Course:
    """How long an annealing goes on, and how hot."""

    n_steps: int  # at most
    hot: float  # the first temperature, in cells; a short annealing begins colder
    cold: float  # the last one
    growth: float = 1.0  # how many times as hot a long annealing may begin


def anneal_classes(
    pricing: Pricing, labels: CodeArray, mates: Neighbours, check: Check, course: Course, seed: int, clock: Clock
) -> tuple[CodeArray, int]:
    """Anneal passing classes, ever colder; return every row's class, and the number of steps."""
    order = mates.order
    space = pricing.space._replace(codes=np.ascontiguousarray(pricing.space.codes[order]))
    classes = _build_classes(pricing, labels[order], check.min_size)
    state = np.array([1 + (seed * 48_271 + 11) % 2_147_483_646], dtype=np.int64)
    spent_before, seconds = clock.spent, clock.left
    class_costs.recompute_all_classes(space, classes)
    n_done, stage, done = 0, 0, 0.0 if seconds > 0 else 1.0
    # The expected number of steps; if time ends the search, the first steps give an estimate.
    n_all = course.n_steps if math.isinf(seconds) else 0.0
    while done < 1 and n_done < course.n_steps:
        if int(done * _N_STAGES) > stage:
            stage = int(done * _N_STAGES)
            space = pricing.with_local_weights(_restore_row_order(classes, order)).space._replace(codes=space.codes)
            class_costs.recompute_all_classes(space, classes)
        n_steps = min(_STEPS_BETWEEN_LOOKS, -(-course.n_steps // _N_STAGES), course.n_steps - n_done)
        share = min(1.0, done / (1 - _SHARE_COLD))
        per_row = n_all / len(order)
        hotter = max(1.0, min(course.growth, per_row / _STEPS_TO_BE_HOTTER))
        hot = max(course.cold / 100, course.hot * min(hotter, per_row / _STEPS_TO_HEAL))
        heat = hot * (min(hot, course.cold) / hot) ** share if share < 1 else course.cold / 100
        annealing.anneal(space, classes, mates.near, check, annealing.Schedule(state, n_steps, heat, heat, _SHARE_BIG))
        n_done += n_steps
        done = max(n_done / course.n_steps, (clock.spent - spent_before) / seconds)
        n_all = n_done / done
        clock.report_progress(min(0.99, done))
    return _restore_row_order(classes, order), n_done


def _restore_row_order(classes: CostedClasses, order: CountArray) -> CodeArray:
    """Return the class of every row, numbered from 0, in the original order of rows."""
    labels = np.empty(len(order), dtype=np.int32)
    labels[order] = np.unique(classes.rows["label"], return_inverse=True)[1]
    return labels


def _build_classes(pricing: Pricing, labels: CodeArray, min_size: int) -> CostedClasses:
    """Build linked rings of the rows of each class; rows labelled -1 are in none."""
    n_rows, n_columns = pricing.space.codes.shape
    n_slots = max(n_rows // min_size, int(labels.max()) + 1) + _N_SPARE_CLASSES
    check_memory(
        n_slots * (16.0 * n_columns + 16.0 * pricing.n_words + 24) + 20.0 * n_rows,
        f"annealing classes of {n_rows} records",
        'take method="mondrian", or give columns of many values a hierarchy.',
    )
    of, rows = np.zeros(n_slots, dtype=class_costs.CLASS), np.empty(n_rows, dtype=class_costs.ROW)
    members = np.argsort(labels, kind="stable")[int((labels < 0).sum()) :]
    sizes = np.bincount(labels[members], minlength=n_slots)
    begins = np.cumsum(sizes) - sizes
    of["n_rows"] = sizes
    used = sizes > 0
    of["first"][used] = members[begins[used]]
    place = np.arange(len(members)) - begins[labels[members]]
    following = begins[labels[members]] + (place + 1) % sizes[labels[members]]
    rows["label"] = labels
    rows["after"][members] = members[following]
    rows["before"][members[following]] = members
    spare = np.flatnonzero(~used)[::-1]
    free = np.zeros(n_slots + 1, dtype=np.int64)
    free[0], free[1 : len(spare) + 1] = len(spare), spare
    return CostedClasses(
        of,
        rows,
        np.zeros((n_slots, n_columns, 4), dtype=np.int32),
        np.zeros((n_slots, pricing.n_words, 2), dtype=np.uint64),
        free,
        np.empty((1, n_rows), dtype=np.int32),
    )


def adopt_rows(pricing: Pricing, labels: CodeArray, check: Check) -> CodeArray | None:
    """Add every row labelled -1 to the class that grows least; None if some row fits no class."""
    rows = np.flatnonzero(labels < 0)
    if not len(rows):
        return labels
    classes = _build_classes(pricing, labels, check.min_size)
    class_costs.recompute_all_classes(pricing.space, classes)
    if annealing.adopt_rows(pricing.space, classes, check, rows) < len(rows):
        return None
    return np.ascontiguousarray(classes.rows["label"])


_MAX_SECONDS: Final = 10.0
_STEPS_PER_ROW: Final = 300
_MAX_STEPS_PER_ROW: Final = 5_000
_STEPS_PER_SECOND: Final = 1_000_000  # about
_N_NEAR: Final = 32
_ROWS_TO_COMPILE_WITH: Final = 100
# Of the seconds: prices of pairs are the best that there are after a few, others rise as long as they are given time.
_SHARE_OF_FLOOR, _SHARE_OF_FLOOR_OF_PAIRS = 0.4, 0.1
_SHARE_OF_START: Final = 0.5  # of the remaining seconds
_MAX_ROWS_OF_FLOOR: Final = 20_000
_MAX_SIZE_FACTOR: Final = 3  # times the least size, if size alone decides
_HEAT: Final = (0.2, 0.015)  # first and last temperature, in cells, for this mean size of classes:
_CLASS_SIZE_OF_HEAT: Final = 7.0
_MAX_HEAT_GROWTH: Final = 3.5
_HEAT_OF_PAIRS: Final = (0.04, 0.003)
_HEAT_FACTOR_OF_MONDRIAN: Final = 1.5
_NEGLIGIBLE_LOSS: Final = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """Passing classes, and how hot annealing may begin without destroying them."""

    labels: CodeArray
    loss: float
    hot: float
    cold: float
    growth: float = 1.0  # see `Course`


@dataclass(frozen=True, slots=True)
class LocalRecoding:
    """Generalize cells and not columns, in tables of any size: records move between classes while that loses less.

    A class publishes in every column the lowest hierarchy node over its records, or without a hierarchy their interval
    or set. Equal records may publish different cells.

    Parameters
    ----------
    seed : int

    Notes
    -----
    The start is the best of three, by what is published: Mondrian's classes with ``exchange=True``; where every
    quasi-identifier has a hierarchy, the cheapest full-domain recoding that puts a hundredth of the records into
    classes, another one for the rows that it leaves over, and so on; for k = 2 the cheapest fractional matching, taken
    apart into pairs and triples. From there a simulated annealing: a record moves to the class of one of its 32 nearest
    rows, or changes places with a record of it, and now and then a class is split or dissolved; after every step every
    class satisfies the models. The release is never worse than its start, and no record is suppressed for a lower loss.

    At most 300 steps a record are taken, and on a table where that may be long, at most 10 seconds, which are not
    reproducible; ``Budget(nodes=)`` counts steps, which are; ``Budget(seconds=)`` may take 5,000 a record. Seconds are
    those of the search: kernels, which a machine compiles once, are compiled before they begin.
    ``release.trace.effort.history`` holds the losses of the start and of the end, with the steps between them.

    The passes over rows left over are the idea of ARX's local transformation: Prasser, Kohlmayer, Kuhn, "A benchmark of
    globally-optimal anonymization methods for biomedical data", CBMS 2014, has the tool. We depart in that a class
    publishes the lowest node over its records, and in all that follows.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [21, 25, 30, 21], "sex": ["f", "m", "m", "f"]})
    >>> release = ht.anonymize(people, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)],
    ...                        method=ht.LocalRecoding(seed=3))
    >>> release.frame.rows()
    [('21', 'f'), ('[25, 30]', 'm'), ('[25, 30]', 'm'), ('21', 'f')]
    """

    seed: int = 0

    name: ClassVar[str] = "local_recoding"
    offers = Offers(losses=("ncp", "arx_loss"), parts_equal_records=True, keeps_apart=False, merges_classes=True)

    def __post_init__(self) -> None:
        check_whole("LocalRecoding was given seed", self.seed, 0)

    def search(self, problem: Problem) -> Found:
        """Find a start and anneal it; a budget's nodes are steps."""
        say_if_first_run(anneal_steps, 40)
        _compile_kernels(problem)
        problem = replace(problem, clock=problem.clock.with_new_start())
        n_steps, clock = _limit_steps(problem)
        floor_budget, clock = _split_budget(problem, clock)
        pricing = price_rows(problem)
        first_part = clock.start_part(_SHARE_OF_START) if clock.budget.seconds else Clock()
        by_mondrian = _classes_by_mondrian(problem, first_part)
        mates = local_pricing.find_neighbours(pricing.space, by_mondrian, _N_NEAR, first_part)
        start = min(_list_starts(pricing, by_mondrian, mates, first_part), key=lambda start: start.loss)
        labels, loss, n_done = start.labels, start.loss, 0
        clock.record_improvement(loss, at=0)
        if loss > _NEGLIGIBLE_LOSS:
            check = _reorder_check(_build_check(pricing), mates)
            course = Course(n_steps, start.hot, start.cold, start.growth)
            labels, n_done = anneal_classes(pricing, labels, mates, check, course, self.seed, clock)
            loss = pricing.loss_of(labels)
            # Annealing may end worse: its costs only approximate some losses, and not all rows moved by heat come back.
            labels, loss = (labels, loss) if loss < start.loss else (start.labels, start.loss)
        clock.record_improvement(loss, at=n_done)
        is_ended = loss > _NEGLIGIBLE_LOSS and n_done < min(n_steps, _STEPS_PER_ROW * len(labels))
        is_short = problem.clock.budget.nodes is not None and n_steps < _STEPS_PER_ROW * len(labels)
        effort = Effort(n_done, 0, 0, 0.0, history=tuple(clock.history))
        trace = clock.build_trace(
            repr(self), n_done, complete=not (is_ended or is_short), seed=self.seed, effort=effort
        )
        return Found(*pricing.publish_and_merge(labels), trace, floor_budget=floor_budget)


def _compile_kernels(problem: Problem) -> None:
    """Run every kernel once on a few rows: the first compilation is long, and no clock can interrupt it."""
    judge, n_rows = problem.judge, problem.table.n_rows
    rows = np.linspace(0, n_rows - 1, min(n_rows, max(_ROWS_TO_COMPILE_WITH, 2 * judge.min_size))).astype(np.int64)
    pricing = price_rows(replace(problem, judge=judge.take_rows(rows), clock=Clock()))
    _classes_by_mondrian(pricing.problem, Clock())
    labels, check = np.zeros(len(rows), dtype=np.int32), _build_check(pricing)
    mates = local_pricing.find_neighbours(pricing.space, labels, _N_NEAR, Clock())
    classes_by_levels(pricing, Clock())
    local_pricing.match_pairs(pricing.space, mates)
    # Two steps make two stages, so that the weighting between stages is compiled too.
    anneal_classes(pricing, labels, mates, _reorder_check(check, mates), Course(2, 1.0, 1.0), 0, Clock())
    adopt_rows(pricing, np.where(np.arange(len(rows)) == 1, np.int32(-1), labels), check)
    pricing.problem.judge.passes_labels(labels)
    pricing.publish_and_merge(labels)
    pricing.loss_of(labels)


def _limit_steps(problem: Problem) -> tuple[int, Clock]:
    """Return the most steps, and the clock that may end them earlier."""
    clock, n_rows = problem.clock, problem.table.n_rows
    if clock.budget.nodes is not None:
        return clock.budget.nodes, clock
    if clock.budget.seconds is not None:
        return _MAX_STEPS_PER_ROW * n_rows, clock
    n_steps = _STEPS_PER_ROW * n_rows
    return n_steps, clock if n_steps <= _STEPS_PER_SECOND else clock.with_default_end(_MAX_SECONDS)


def _split_budget(problem: Problem, clock: Clock) -> tuple[Budget | None, Clock]:
    """Split the budget between a floor under the loss (None if none is known) and the search."""
    if problem.ladders or not isinstance(problem.loss, SetNCP) or problem.loss != SetNCP():
        return None, clock
    seconds = clock.budget.seconds
    if seconds is None:
        # Without a budget the floor is reproducible, but takes long with many rows.
        return Budget() if problem.table.n_rows <= _MAX_ROWS_OF_FLOOR else None, clock
    share = _SHARE_OF_FLOOR_OF_PAIRS if problem.judge.min_size <= 2 else _SHARE_OF_FLOOR
    return Budget(share * seconds), replace(clock, budget=Budget((1 - share) * seconds))


def _build_check(pricing: Pricing) -> Check:
    """Build the check that every class has to pass."""
    judge = pricing.problem.judge
    return judge.check_for_kernels(
        _MAX_SIZE_FACTOR * judge.min_size if judge.is_by_size else pricing.problem.table.n_rows
    )


def _reorder_check(check: Check, mates: Neighbours) -> Check:
    """Return the check with sensitive values in the neighbours' order of rows."""
    if not check.checker.is_judged:
        return check
    sensitive = np.ascontiguousarray(check.checker.sensitive[:, mates.order])
    return check._replace(checker=check.checker._replace(sensitive=sensitive))


def _list_starts(pricing: Pricing, by_mondrian: CodeArray, mates: Neighbours, clock: Clock) -> Iterator[_Start]:
    """Yield the starts that are possible."""
    judge, codes = pricing.problem.judge, pricing.space.codes
    by_size, k = judge.is_by_size, judge.min_size
    yield _build_start(pricing, by_mondrian, _HEAT_FACTOR_OF_MONDRIAN)
    if by_size:
        yield _build_start(pricing, split_large_classes(codes, by_mondrian, k), _HEAT_FACTOR_OF_MONDRIAN)
    along_levels = classes_by_levels(pricing, clock)
    if along_levels is not None:
        adopted = adopt_rows(pricing, along_levels, judge.check_for_kernels(pricing.problem.table.n_rows))
        if adopted is not None and (by_size or judge.passes_labels(adopted)):
            yield _build_start(pricing, split_large_classes(codes, adopted, k) if by_size else adopted, 1.0)
    if by_size and k == 2 and clock.left > 0:
        pairs = local_pricing.match_pairs(pricing.space, mates)
        if pairs is not None:
            yield _Start(pairs, pricing.loss_of(pairs), *_HEAT_OF_PAIRS)


def _build_start(pricing: Pricing, labels: CodeArray, hotter: float) -> _Start:
    """Build a start; the larger its classes, the hotter annealing begins and ends."""
    size = len(labels) / (int(labels.max()) + 1) / _CLASS_SIZE_OF_HEAT
    heat = hotter * _HEAT[0] * size**0.4, hotter * _HEAT[1] * size**0.7
    return _Start(labels, pricing.loss_of(labels), *heat, _MAX_HEAT_GROWTH)


def _classes_by_mondrian(problem: Problem, clock: Clock) -> CodeArray:
    """Return the class of every row by Mondrian, with equal rows in one class."""
    distinct, inverse = problem.table.collapse()
    judge = replace(
        problem.judge, table=distinct, reference=problem.judge.reference_table, outline=problem.judge.laid_out
    )
    loss = problem.loss if isinstance(problem.loss, SetNCP) else SetNCP()
    mondrian_problem = replace(problem, judge=judge, loss=loss, clock=clock, most_suppressed=0)
    return np.asarray(Mondrian(exchange=True).search(mondrian_problem).partition.labels[inverse])
