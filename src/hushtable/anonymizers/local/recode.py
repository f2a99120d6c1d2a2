"""Local recoding of large tables: the best of several starts, annealed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from hushtable._types import CodeArray
from hushtable.anonymizers.local import annealing, leftover, neighbours
from hushtable.anonymizers.local.neighbours import Neighbours
from hushtable.anonymizers.local.pricing import Pricing, priced
from hushtable.anonymizers.method import Found, Offers, Problem
from hushtable.anonymizers.mondrian import Mondrian
from hushtable.errors import check_whole
from hushtable.kernels.annealing import run
from hushtable.kernels.regroup import Check
from hushtable.quality import SetNCP
from hushtable.recoding import Recoding
from hushtable.search import Budget, Clock, Effort, say_if_first_run
from hushtable.tables import Partition

__all__ = ["LocalRecoding"]

_SECONDS: Final = 10.0
_STEPS_PER_ROW: Final = 300
_MOST_PER_ROW: Final = 5_000
_AT_ONCE: Final = 1_000_000  # steps that take about a second
_N_NEAR: Final = 32
_FEW: Final = 100  # rows to compile kernels with
_SHARE_OF_FLOOR: Final = 0.1  # of the seconds
_SHARE_OF_START: Final = 0.5  # of the others
_MOST_IN_A_PASS: Final = 20_000
_WIDEST: Final = 3  # times the least size, where that alone decides
_HEAT: Final = (0.2, 0.015)  # first and last temperature for classes of some mean size, in cells
_HEATED: Final = 7.0
_HEAT_OF_PAIRS: Final = (0.04, 0.003)
_MONDRIAN_HOTTER: Final = 1.5
_NEGLIGIBLE: Final = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """Classes that pass, and how hot annealing may begin without wasting them."""

    labels: CodeArray
    loss: float
    hot: float
    cold: float


@dataclass(frozen=True, slots=True)
class LocalRecoding:
    """Generalize cells and not columns, in tables of any size: records move between classes while that loses less.

    A class publishes in every column the lowest hierarchy node over its records, or without a
    hierarchy their interval or set. Equal records may publish different cells.

    Parameters
    ----------
    seed : int

    Notes
    -----
    The start is the best of three, by what is published: Mondrian's classes with
    ``exchange=True``; where every quasi-identifier has a hierarchy, the cheapest full-domain recoding that puts a
    hundredth of the records into classes, another one for the rows that it leaves over, and so on; for k = 2 the
    cheapest fractional matching, taken apart into pairs and triples. From there a simulated annealing: a record
    moves to the class of one of its 32 nearest rows, or changes places with a record of it, and now and then a class is
    split or dissolved. The release is never worse than its start, and no record is suppressed for a lower loss.

    Every class satisfies the models after every step, so that only moves are made after which it does.

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
    offers: ClassVar[Offers] = Offers(
        losses=("ncp", "arx_loss"), parts_equal_records=True, keeps_apart=False, merges_classes=True
    )

    def __post_init__(self) -> None:
        check_whole("LocalRecoding was given seed", self.seed, 0)

    def search(self, problem: Problem) -> Found:
        """Find a start and anneal it; a budget's nodes are steps."""
        say_if_first_run(run, 40)
        _compile(problem)
        problem = replace(problem, clock=problem.clock.anew())
        n_steps, clock = _within(problem)
        spared, clock = _spared(problem, clock)
        pricing = priced(problem)
        start, found = _start(pricing, clock.part(_SHARE_OF_START) if clock.budget.seconds else Clock())
        labels, loss, n_done = start.labels, start.loss, 0
        clock.note(loss, at=0)
        if loss > _NEGLIGIBLE:
            check = _ordered(_check(pricing), found)
            course = annealing.Course(n_steps, start.hot, start.cold)
            labels, n_done = annealing.anneal(pricing, labels, found, check, course, self.seed, clock)
            loss = pricing.loss_of(labels)
            # The loss itself may not be a sum over cells, and rows that a wave of heat has moved may not come back.
            labels, loss = (labels, loss) if loss < start.loss else (start.labels, start.loss)
        clock.note(loss, at=n_done)
        is_ended = loss > _NEGLIGIBLE and n_done < min(n_steps, _STEPS_PER_ROW * len(labels))
        is_short = problem.clock.budget.nodes is not None and n_steps < _STEPS_PER_ROW * len(labels)
        effort = Effort(n_done, 0, 0, 0.0, history=tuple(clock.history))
        trace = clock.trace(repr(self), n_done, complete=not (is_ended or is_short), seed=self.seed, effort=effort)
        return Found(*_merged(pricing, labels), trace, spared=spared)


def _compile(problem: Problem) -> None:
    """Have every kernel run once on a few of the rows, whatever comes of it.

    On a machine's first run they are compiled, which takes far longer than a short search, and cannot be interrupted.
    """
    judge, n_rows = problem.judge, problem.table.n_rows
    rows = np.linspace(0, n_rows - 1, min(n_rows, max(_FEW, 2 * judge.min_size))).astype(np.int64)
    pricing = priced(replace(problem, judge=judge.of(rows), clock=Clock()))
    _by_mondrian(pricing.problem, Clock())
    labels, check = np.zeros(len(rows), dtype=np.int32), _check(pricing)
    found = neighbours.find(pricing.space, labels, _N_NEAR, Clock())
    leftover.by_levels(pricing, Clock())
    neighbours.pairs(pricing.space, found)
    # Two steps are two stages, between which columns are weighted anew.
    annealing.anneal(pricing, labels, found, _ordered(check, found), annealing.Course(2, 1.0, 1.0), 0, Clock())
    annealing.adopted(pricing, np.where(np.arange(len(rows)) == 1, np.int32(-1), labels), check)
    _passes(pricing, labels)
    _merged(pricing, labels)
    pricing.loss_of(labels)


def _within(problem: Problem) -> tuple[int, Clock]:
    """Return how many steps there may be, and the clock that ends them."""
    clock, n_rows = problem.clock, problem.table.n_rows
    if clock.budget.nodes is not None:
        return clock.budget.nodes, clock
    if clock.budget.seconds is not None:
        return _MOST_PER_ROW * n_rows, clock
    n_steps = _STEPS_PER_ROW * n_rows
    return n_steps, clock if n_steps <= _AT_ONCE else clock.ending(_SECONDS)


def _spared(problem: Problem, clock: Clock) -> tuple[Budget | None, Clock]:
    """Return what a floor under the loss may take, and the clock of the search; None where no floor is known."""
    if problem.ladders or not isinstance(problem.loss, SetNCP) or problem.loss != SetNCP():
        return None, clock
    seconds = clock.budget.seconds
    if seconds is None:
        # A floor without a budget is reproducible, and takes long where there are many rows.
        return Budget() if problem.table.n_rows <= _MOST_IN_A_PASS else None, clock
    return Budget(_SHARE_OF_FLOOR * seconds), replace(clock, budget=Budget((1 - _SHARE_OF_FLOOR) * seconds))


def _check(pricing: Pricing) -> Check:
    """Return what every class satisfies, of the problem's rows."""
    judge = pricing.problem.judge
    return judge.check(_WIDEST * judge.min_size if judge.is_by_size else pricing.problem.table.n_rows)


def _ordered(check: Check, found: Neighbours) -> Check:
    """Return the same of rows in the order of the neighbours."""
    if check.judged is None:
        return check
    sensitive = np.ascontiguousarray(check.judged.sensitive[:, found.order])
    return check._replace(judged=check.judged._replace(sensitive=sensitive))


def _start(pricing: Pricing, clock: Clock) -> tuple[_Start, Neighbours]:
    """Return the best start, and the nearest rows."""
    by_mondrian = _by_mondrian(pricing.problem, clock)
    found = neighbours.find(pricing.space, by_mondrian, _N_NEAR, clock)
    return min(_starts(pricing, by_mondrian, found, clock), key=lambda start: start.loss), found


def _starts(pricing: Pricing, by_mondrian: CodeArray, found: Neighbours, clock: Clock) -> Iterator[_Start]:
    """Find starts."""
    judge = pricing.problem.judge
    by_size, k = judge.is_by_size, judge.min_size
    yield _started(pricing, by_mondrian, _MONDRIAN_HOTTER)
    if by_size:
        yield _started(pricing, annealing.parted(pricing, by_mondrian, k), _MONDRIAN_HOTTER)
    by_levels = leftover.by_levels(pricing, clock)
    if by_levels is not None:
        whole = annealing.adopted(pricing, by_levels, judge.check(pricing.problem.table.n_rows))
        if whole is not None and (by_size or _passes(pricing, whole)):
            yield _started(pricing, annealing.parted(pricing, whole, k) if by_size else whole, 1.0)
    if by_size and k == 2 and clock.left > 0:
        pairs = neighbours.pairs(pricing.space, found)
        if pairs is not None:
            yield _Start(pairs, pricing.loss_of(pairs), *_HEAT_OF_PAIRS)


def _started(pricing: Pricing, labels: CodeArray, hotter: float) -> _Start:
    """Return a start; the larger its classes are, the hotter annealing begins and ends."""
    size = len(labels) / (int(labels.max()) + 1) / _HEATED
    return _Start(labels, pricing.loss_of(labels), hotter * _HEAT[0] * size**0.4, hotter * _HEAT[1] * size**0.7)


def _by_mondrian(problem: Problem, clock: Clock) -> CodeArray:
    """Return the class of every row that Mondrian gives it, equal rows together."""
    distinct, inverse = problem.table.collapse()
    judge = replace(problem.judge, table=distinct, reference=problem.judge.whole, outline=problem.judge.laid_out)
    loss = problem.loss if isinstance(problem.loss, SetNCP) else SetNCP()
    asked = replace(problem, judge=judge, loss=loss, clock=clock, most_suppressed=0)
    return np.asarray(Mondrian(exchange=True).search(asked).partition.labels[inverse])


def _passes(pricing: Pricing, labels: CodeArray) -> bool:
    partition = Partition.from_labels(labels, int(labels.max()) + 1, pricing.problem.table.counts)
    return bool(pricing.problem.judge.passes(partition.offsets, partition.rows).all())


def _merged(pricing: Pricing, labels: CodeArray) -> tuple[Partition, Recoding]:
    """Make one class of those that publish the same cells, as readers see them."""
    _, recoding = pricing.publish(labels)
    _, first, class_of = np.unique(recoding.combinations()[:-1], return_index=True, return_inverse=True)
    merged = class_of.reshape(-1)[labels].astype(np.int32)
    return Partition.from_labels(merged, len(first), pricing.problem.table.counts), recoding.take(first)
