"""Full-domain generalization: one level for every column, proven best by branch and bound over the lattice."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar

import numpy as np

from hushtable._types import TOLERANCE, BoolArray, CodeArray, FloatArray
from hushtable.anonymizers.full_domain_lattice import (
    NodeObjective,
    NodeSnapshot,
    PublishedLevels,
    Roller,
    Vector,
    build_node_costs,
    levels_of,
)
from hushtable.anonymizers.method import Found, Offers, Problem, compares_releases, is_own
from hushtable.errors import BudgetExceeded, InfeasibleError, check_whole, quote_names
from hushtable.kernels import rollup
from hushtable.models import (
    AlphaKAnonymity,
    BetaLikeness,
    ClassStats,
    DeltaDisclosure,
    DistinctLDiversity,
    EntropyLDiversity,
    Histogram,
    KAnonymity,
    KMap,
    PrivacyModel,
    RecursiveCLDiversity,
    TCloseness,
    describe,
)
from hushtable.recoding import Nodes, Recoding
from hushtable.search import Clock, Effort, Trace, say_if_first_run
from hushtable.tables import Partition

_SLACK: Final = 1e-9
_CLOSED_MODELS: Final = (KAnonymity, DistinctLDiversity, KMap)


@dataclass(frozen=True, slots=True, eq=False)
class NodeJudge:
    """The verdict on the classes of a node."""

    failing: BoolArray = field(repr=False)  # (n_classes,): classes that fail a model, and are suppressed
    tagged: BoolArray = field(repr=False)  # (n_classes,): classes whose records fail at every node below too
    n_failing: int  # records
    n_tagged: int  # records
    is_hopeless: bool  # neither this node nor any below has a release within the limit
    is_feasible: bool  # this node has a release within the limit


@dataclass(frozen=True, slots=True, eq=False)
class Tags:
    """Models, and the parts of them that nodes inherit.

    A record whose class fails a *closed* model fails it in every smaller class too: passing is inherited by all larger
    classes. Of a model that is not closed, the closed part is what every class that passes has in common.
    """

    models: tuple[PrivacyModel, ...]
    closed: tuple[PrivacyModel, ...]
    excesses: tuple[Excess, ...]  # sums over classes that never fall from a node to those below it
    max_suppressed: int  # records

    @classmethod
    def from_models(cls, models: Sequence[PrivacyModel], reference: ClassStats, limit: int, *, by_person: bool) -> Tags:
        """Find the inherited parts of the models; with persons no convex excess, since convexity holds for records."""
        closed = tuple(
            dict.fromkeys(
                part for model in models for part in _find_closed_models(model, reference, by_person=by_person)
            )
        )
        convex = (
            () if by_person or limit == 0 else tuple(filter(None, (_find_convex_excess(model) for model in models)))
        )
        excesses = tuple(Excess.from_model(model, excess, reference) for model, excess in convex)
        return cls(tuple(models), closed, excesses, limit)

    def judge(self, stats: ClassStats) -> NodeJudge:
        """Judge the classes of a node."""
        tagged = _find_failing_classes(self.closed, stats)
        open_models = [model for model in self.models if model not in self.closed]
        failing = tagged | _find_failing_classes(open_models, stats) if open_models else tagged
        n_tagged, n_failing = (int(stats.sizes[classes].sum()) for classes in (tagged, failing))
        is_feasible = n_failing <= self.max_suppressed and not failing.all()
        if self.max_suppressed == 0:
            # Not `n_failing <= 0`: a failing class may hold no record (with a population).
            is_feasible = not failing.any()
            # Unions of passing classes pass. So if a class fails, one of its parts fails at every node below.
            is_inherited = all(model.monotone_coarsening for model in open_models)
            is_hopeless = bool(tagged.any() or (failing.any() and is_inherited))
        else:
            is_hopeless = n_tagged > self.max_suppressed or any(
                each.is_above(stats, self.max_suppressed) for each in self.excesses
            )
        return NodeJudge(failing, tagged, n_failing, n_tagged, is_hopeless, is_feasible)


@dataclass(frozen=True, slots=True, eq=False)
class Excess:
    """How far classes exceed a model's bound, summed over records. It is convex: merging never raises it."""

    model: PrivacyModel
    by_class: Callable[[ClassStats], FloatArray] = field(repr=False)  # in all records of a class
    highest: float  # of any record: suppressing one lowers the sum by at most this

    @classmethod
    def from_model(
        cls, model: PrivacyModel, by_class: Callable[[ClassStats], FloatArray], reference: ClassStats
    ) -> Excess:
        """Build an excess; its highest value is reached by a class of one sensitive value."""
        (name,) = model.needs.sensitive
        present = np.flatnonzero(reference.totals[name])
        ones = np.ones(len(present), dtype=np.int64)
        alone = Histogram(np.arange(len(present) + 1), (present - 1).astype(np.int32), ones)
        stats = ClassStats(ones, {name: alone}, reference.totals, grounds=reference.grounds)
        return cls(model, by_class, float(by_class(stats).max(initial=0.0)))

    def is_above(self, stats: ClassStats, n_suppressed: int) -> bool:
        """Tell whether suppressing so many records is not enough, here and at all nodes below."""
        allowed = self.highest * n_suppressed
        return bool(self.by_class(stats).sum() > allowed * (1 + _SLACK) + _SLACK * max(1.0, float(stats.sizes.sum())))


def _find_failing_classes(models: Sequence[PrivacyModel], stats: ClassStats) -> BoolArray:
    failing = np.zeros(len(stats.sizes), dtype=bool)
    for model in models:
        failing |= ~model.passes(stats)
    return failing


def _find_closed_models(model: PrivacyModel, reference: ClassStats, *, by_person: bool) -> list[PrivacyModel]:
    """Return closed models: a class that passes `model` satisfies them, and so does every larger class."""
    if isinstance(model, _CLOSED_MODELS) and not is_own(model):
        return [model]
    if isinstance(model, AlphaKAnonymity):
        return [KAnonymity(model.k)]
    if isinstance(model, EntropyLDiversity):
        return [DistinctLDiversity(max(1, model.min_size), model.sensitive)]
    if isinstance(model, RecursiveCLDiversity):
        return [DistinctLDiversity(model.l, model.sensitive)]
    if isinstance(model, DeltaDisclosure):
        n_known = int(np.count_nonzero(reference.totals[model.sensitive][1:]))
        return [DistinctLDiversity(n_known, model.sensitive)] if n_known else []
    # `min_size` counts records, but with persons k-anonymity counts persons.
    return [KAnonymity(model.min_size)] if model.min_size > 1 and not by_person else []


def _find_convex_excess(model: PrivacyModel) -> tuple[PrivacyModel, Callable[[ClassStats], FloatArray]] | None:
    """Return a model with a convex excess that every passing class satisfies, and that excess; None if unknown."""
    if isinstance(model, EntropyLDiversity):
        return model, _build_entropy_excess(model)
    if isinstance(model, TCloseness):
        return model, _build_bound_excess(model, model.t)
    if isinstance(model, BetaLikeness):
        return (basic := BetaLikeness(model.beta, model.sensitive)), _build_bound_excess(basic, model.beta)
    if isinstance(model, DeltaDisclosure):
        gain = math.expm1(min(model.delta, 700.0))
        return (basic := BetaLikeness(gain, model.sensitive)), _build_bound_excess(basic, gain)
    if isinstance(model, AlphaKAnonymity):
        return (share := AlphaKAnonymity(model.alpha, 1, model.sensitive)), _build_bound_excess(share, model.alpha)
    return None


def _build_bound_excess(model: PrivacyModel, bound: float) -> Callable[[ClassStats], FloatArray]:
    def excess(stats: ClassStats) -> FloatArray:
        return np.asarray(stats.sizes * np.maximum(0.0, model.measure(stats) - bound - TOLERANCE))

    return excess


def _build_entropy_excess(model: EntropyLDiversity) -> Callable[[ClassStats], FloatArray]:
    def excess(stats: ClassStats) -> FloatArray:
        known = stats.histograms[model.sensitive].without_missing()
        n_known = known.sum_by_class(known.counts)
        # A class without known values has no entropy, and counts 0.
        reached = np.log(np.maximum(1.0, model.measure(stats)))
        return np.asarray(n_known * np.maximum(0.0, math.log(model.l) - reached - TOLERANCE))

    return excess


_NEGLIGIBLE_LOSS: Final = 1e-12  # relative; a smaller gain is no gain
_MIN_CLASSES_FOR_SNAPSHOT: Final = 2_000  # fewer classes are rolled up faster than a snapshot is made
_MAX_CLASSES_OF_SNAPSHOTS: Final = 40_000_000  # of all snapshots that are kept together


class Leaf(NamedTuple):
    """Why the interval from `low` to `high` of the lattice holds nothing better."""

    # "loss": too dear with all published; "failing": with those failing at `witness` suppressed; "infeasible"; "node"
    reason: str
    low: Vector
    high: Vector
    witness: Vector | None = None
    n_failing: int = 0


class _Interval(NamedTuple):
    """A part of the lattice: a lower bound of its loss, and the records known to fail in all of it."""

    bound: float
    number: int  # breaks ties: among equal bounds the oldest is next
    low: Vector
    high: Vector
    source: NodeSnapshot
    tagged: BoolArray | None = None
    witness: Vector | None = None
    n_tagged: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """What a search found."""

    node: Vector | None  # None: none is feasible, or the budget ended before
    value: float
    bound: float
    n_rolled: int  # roll-ups
    is_complete: bool
    # Why all other nodes are no better; the whole lattice where the search is complete
    leaves: tuple[Leaf, ...] = field(repr=False)
    feasible: dict[Vector, float] = field(repr=False)  # all that were met, with their cost


KnownT = TypeVar("KnownT")


class NodeSearch:
    """A search for the node of least loss.

    The intervals [low, high] are disjoint, and with the leaves the whole lattice. The one of the lowest bound is next:

    1. its upper end is lowered, as long as the nodes that are cut off cost too much with all records published;
    2. it is dropped where a node from its upper end on has too many failing records: they fail at all nodes below;
    3. the upper end is rolled up to, and may be the best node so far;
    4. the records that fail there are suppressed in all of it: what that costs at the lowest levels is a bound;
    5. it is parted at the column that raises the loss most.
    """

    def __init__(self, roller: Roller, tags: Tags, objective: NodeObjective, clock: Clock) -> None:
        self.roller, self.tags, self.objective, self.clock = roller, tags, objective, clock
        # Cached: the children of an interval ask for mostly the same levels.
        self.least = functools.cache(objective.bound_from_levels)
        self.top: Vector = tuple(column.top for column in roller.columns)
        self.value = math.inf
        self.node: Vector | None = None
        self.leaves: list[Leaf] = []
        self.feasible: dict[Vector, float] = {}
        self.n_rolled = 0
        self._heap: list[_Interval] = []
        self._numbers = itertools.count()
        self._infeasible = _NodeStack[Leaf](len(self.top))
        self._kept = _NodeStack[NodeSnapshot](len(self.top))
        self._kept.add(roller.base.levels, roller.base)
        self._n_kept = roller.base.n_classes

    def run(self) -> Solved:
        """Search until nothing better is left or the budget ends."""
        bottom = self.roller.base.levels
        self._push(_Interval(self.least(bottom), 0, bottom, self.top, self.roller.base))
        first = None
        while self._heap and not self.clock.is_over(self.n_rolled):
            interval = heapq.heappop(self._heap)
            if interval.bound >= self._ceiling:
                self._close_interval(interval)
                continue
            first = interval.bound if first is None else first
            if self.value < math.inf and self.value > first:
                self.clock.report_progress(0.99 * (interval.bound - first) / (self.value - first))
            self._search_interval(interval)
        bound = min([self.value, *(each.bound for each in self._heap)])
        return Solved(self.node, self.value, bound, self.n_rolled, not self._heap, tuple(self.leaves), self.feasible)

    @property
    def _ceiling(self) -> float:
        """The cost from which on a node is no improvement."""
        return self.value - _NEGLIGIBLE_LOSS * max(1.0, self.value) if self.value < math.inf else math.inf

    def _search_interval(self, interval: _Interval) -> None:
        low, high = interval.low, self._lower_upper_end(interval.low, interval.high)
        for leaf in self._infeasible.list_above(high)[:1]:
            self.leaves.append(leaf._replace(low=low, high=high))
            return
        interval = interval._replace(high=high)
        if interval.witness != high:
            checked = self._judge_upper_end(interval)
            if checked is None:
                return
            interval = checked
        if low == high:
            self.leaves.append(Leaf("node", low, high))
            return
        self._split_interval(interval)

    def _lower_upper_end(self, low: Vector, high: Vector) -> Vector:
        """Lower the upper end while the nodes cut off cost too much."""
        ends = list(high)
        for j, lowest in enumerate(low):
            while ends[j] > lowest and self.least((*low[:j], ends[j], *low[j + 1 :])) >= self._ceiling:
                cut = (*low[:j], ends[j], *low[j + 1 :])
                self.leaves.append(Leaf("loss", cut, tuple(ends)))
                ends[j] -= 1
        return tuple(ends)

    def _judge_upper_end(self, interval: _Interval) -> _Interval | None:
        """Roll up to the upper end; return the interval with what that showed, or None if it is closed."""
        low, high = interval.low, interval.high
        # Without suppression nobody asks which records fail, so the smallest snapshot will do.
        source = interval.source if self.tags.max_suppressed else self._find_smallest_snapshot(high)
        node, labels, node_judge = self._roll_up(source, high)
        if node_judge.is_hopeless:
            leaf = Leaf("infeasible", low, high, high, node_judge.n_tagged)
            self._infeasible.add(high, leaf)
            self.leaves.append(leaf)
            return None
        self._offer_node(node, node_judge)
        if not self.tags.max_suppressed:
            interval = interval._replace(witness=high)
        else:
            tagged = node_judge.tagged[labels]
            # Some bounds need exactly the classes of the lower end.
            source = self._take_snapshot(low) if self.objective.needs_own_classes else source
            if source is not interval.source:
                tagged = self._carry_tags(interval.source, source, tagged)
            bound = max(interval.bound, self.objective.bound_from_classes(low, source, tagged))
            interval = interval._replace(
                bound=bound, source=source, tagged=tagged, witness=high, n_tagged=node_judge.n_tagged
            )
        if interval.bound >= self._ceiling:
            self._close_interval(interval)
            return None
        return interval

    def _split_interval(self, interval: _Interval) -> None:
        """Split an interval at the column whose levels raise the loss most."""
        low, high = interval.low, interval.high
        raised_bounds = [
            (self.least((*low[:j], high[j], *low[j + 1 :])) if high[j] > low[j] else -1.0) for j in range(len(low))
        ]
        j = max(range(len(low)), key=lambda i: (raised_bounds[i], high[i] - low[i]))
        source, tagged = interval.source, interval.tagged
        above = (*low[:j], high[j], *low[j + 1 :])
        below = (*high[:j], high[j] - 1, *high[j + 1 :])
        self._push(interval._replace(high=below))
        bound = max(interval.bound, raised_bounds[j])
        if tagged is not None:
            bound = max(bound, self.objective.bound_from_classes(above, source, tagged))
        if bound < self._ceiling and (
            source.n_classes >= _MIN_CLASSES_FOR_SNAPSHOT or self.objective.needs_own_classes
        ):
            nearer = self._take_snapshot(above)
            tagged = None if tagged is None else self._carry_tags(source, nearer, tagged)
            source = nearer
            if self.objective.needs_own_classes:
                failing = np.zeros(source.n_classes, dtype=bool) if tagged is None else tagged
                bound = max(bound, self.objective.bound_from_classes(above, source, failing))
        self._push(interval._replace(bound=bound, low=above, source=source, tagged=tagged))

    def _take_snapshot(self, levels: Vector) -> NodeSnapshot:
        """Return the classes of a node, and keep them; the node may be the best so far."""
        for node in self._kept.list_below(levels):
            if node.levels == levels:
                return node
        node, _, node_judge = self._roll_up(self._find_smallest_snapshot(levels), levels)
        self._offer_node(node, node_judge)
        if self._n_kept + node.n_classes <= _MAX_CLASSES_OF_SNAPSHOTS:
            self._kept.add(levels, node)
            self._n_kept += node.n_classes
        return node

    def _carry_tags(self, source: NodeSnapshot, node: NodeSnapshot, tagged: BoolArray) -> BoolArray:
        """Tag the classes of a higher node that contain tagged classes of a source."""
        labels, _ = self.roller.group_rows(source.rows, source.sizes, node.levels)
        carried = np.zeros(node.n_classes, dtype=bool)
        carried[labels[tagged]] = True
        return carried

    def _roll_up(self, source: NodeSnapshot, levels: Vector) -> tuple[NodeSnapshot, CodeArray, NodeJudge]:
        node, labels = self.roller.roll_up(source, levels)
        self.n_rolled += 1
        return node, labels, self.tags.judge(self.roller.class_stats(node))

    def _find_smallest_snapshot(self, levels: Vector) -> NodeSnapshot:
        """Return the smallest snapshot at or below a node."""
        return min(self._kept.list_below(levels), key=lambda each: each.n_classes)

    def _offer_node(self, node: NodeSnapshot, node_judge: NodeJudge) -> None:
        """Take a feasible node as the best one if it improves on it."""
        if not node_judge.is_feasible:
            return
        value = self.objective.node_cost(node, node_judge.failing)
        self.feasible[node.levels] = value
        if value < self._ceiling:
            self.value, self.node = value, node.levels
            self.clock.record_improvement(value, self._heap[0].bound if self._heap else None)

    def _push(self, interval: _Interval) -> None:
        heapq.heappush(self._heap, interval._replace(number=next(self._numbers)))

    def _close_interval(self, interval: _Interval) -> None:
        """Record why an interval holds nothing better."""
        low, high = interval.low, interval.high
        if interval.tagged is None or self.least(low) >= self._ceiling:
            self.leaves.append(Leaf("loss", low, high))
        else:
            self.leaves.append(Leaf("failing", low, high, interval.witness, interval.n_tagged))


class _NodeStack(Generic[KnownT]):
    """Nodes with a record of each, to find those above or below another node."""

    def __init__(self, width: int) -> None:
        self._rows = np.empty((64, width), dtype=np.int16)
        self._known: list[KnownT] = []

    def add(self, levels: Vector, known: KnownT) -> None:
        if len(self._known) == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[len(self._known)] = levels
        self._known.append(known)

    def list_above(self, levels: Vector) -> list[KnownT]:
        """Return the records of the nodes at or above another."""
        return self._select_known(self._rows >= np.array(levels))

    def list_below(self, levels: Vector) -> list[KnownT]:
        """Return the records of the nodes at or below another."""
        return self._select_known(self._rows <= np.array(levels))

    def _select_known(self, compares: BoolArray) -> list[KnownT]:
        return [self._known[place] for place in np.flatnonzero(compares[: len(self._known)].all(axis=1)).tolist()]


@dataclass(frozen=True, slots=True)
class FullDomain:
    """One level of its hierarchy for every column, and the records suppressed whose class fails: the best such release.

    This is what ARX searches for. A search that ends by itself has proven that no other levels lose less
    (`Trace.optimal`). If its budget ends, it says by how much at most (`Trace.gap`).

    Parameters
    ----------
    alternatives : int
        So many other releases at the most that the search met: first those of the same loss, then for every column the
        best one in which it is generalized less. That there are no better ones of their kind is not proven.

    Notes
    -----
    Branch and bound over intervals of the lattice. A node hands on to those below it the closed part of the models, and
    sums of convex excesses. Where a population is counted, nothing is suppressed.
    A column without a hierarchy has the one that `Hierarchy.auto` proposes.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"zip": ["10115", "10117", "20095", "20099"], "sex": ["f", "m", "f", "f"]})
    >>> ladders = {"zip": ht.Hierarchy.prefix([3]), "sex": ht.Hierarchy.suppression()}
    >>> release = ht.anonymize(people, quasi_identifiers=["zip", "sex"], models=[ht.KAnonymity(2)],
    ...                        method=FullDomain(), hierarchies=ladders, loss="arx_loss")
    >>> release.frame.rows()
    [('101*', '*'), ('101*', '*'), ('200*', '*'), ('200*', '*')]
    """

    alternatives: int = 0

    name: ClassVar[str] = "full_domain"

    def __post_init__(self) -> None:
        check_whole("FullDomain was given alternatives", self.alternatives, 0)

    @property
    def offers(self) -> Offers:
        """ARX's losses, and the set-NCP."""
        losses = ("ncp", "arx_loss", "non_uniform_entropy", "precision", "discernibility", "average_class_size")
        return Offers(
            losses, counts_population=True, suppresses=True, needs_ladders=True, finds_failing=True, takes_any_loss=True
        )

    def search(self, problem: Problem) -> Found:
        """Find the levels of least loss; a budget's nodes are roll-ups."""
        say_if_first_run(rollup.group_by_address, 5)
        columns = levels_of(problem.table, problem.columns, problem.ladders)
        judge = problem.judge
        limit = 0 if judge.population is not None else problem.most_suppressed
        roller = Roller(judge, problem.columns, columns)
        tags = Tags.from_models(judge.models, judge.reference_stats(), limit, by_person=judge.person is not None)
        objective: NodeObjective = (
            _OwnObjective(problem, roller)
            if compares_releases(problem.loss)
            else build_node_costs(
                problem.loss, problem.table, problem.columns, columns, roller.codes, limit, judge.min_size
            )
        )
        solved = NodeSearch(roller, tags, objective, problem.clock).run()
        if solved.node is None:
            raise _no_node_error(problem, solved, limit)
        trace = _build_trace(repr(self), problem.clock, solved, columns)
        alternatives = tuple(
            _publish_node(problem, roller, tags, levels, trace) for levels in self._choose_alternatives(solved)
        )
        result = _publish_node(problem, roller, tags, solved.node, trace)
        # The checker of certificates does not know losses of whole releases.
        is_proven = solved.is_complete and judge.population is None and not compares_releases(problem.loss)
        evidence = _build_evidence(problem, result, solved, columns, limit) if is_proven else None
        return replace(result, others=alternatives, evidence=evidence)

    def _choose_alternatives(self, solved: Solved) -> list[Vector]:
        """Choose other nodes that the search met: those of the same loss, and the best for every column."""
        best = solved.node
        assert best is not None
        ranked = sorted((value, levels) for levels, value in solved.feasible.items() if levels != best)
        chosen = [levels for value, levels in ranked if value <= solved.value * (1 + 1e-12)]
        for j, level in enumerate(best):
            finer = [levels for _, levels in ranked if levels[j] < level]
            chosen += finer[:1]
        return list(dict.fromkeys(chosen))[: self.alternatives]


@dataclass(frozen=True, slots=True, eq=False)
class _OwnObjective:
    """A loss of whole releases, measured at every node; its floor is 0, or ``loss.least``."""

    problem: Problem
    roller: Roller

    needs_own_classes = False

    def bound_from_levels(self, levels: Vector) -> float:
        """Return the loss's own floor, whatever the levels."""
        return float(getattr(self.problem.loss, "least", 0.0))

    def node_cost(self, node: NodeSnapshot, failing: BoolArray) -> float:
        """Return what a node costs whose failing classes are suppressed."""
        recoding = _recode_node(self.problem, self.roller, node.levels, node.rows[~failing])
        return float(self.problem.loss.measure(recoding, node.sizes[~failing], int(node.sizes[failing].sum())))

    def bound_from_classes(self, levels: Vector, source: NodeSnapshot, tagged: BoolArray) -> float:
        """Return the same floor."""
        return self.bound_from_levels(levels)


def _publish_node(problem: Problem, roller: Roller, tags: Tags, levels: Vector, trace: Trace) -> Found:
    """Return the result of a node: its passing classes, and what they publish."""
    node, _ = roller.roll_up(roller.base, levels)
    failing = tags.judge(roller.class_stats(node)).failing
    new_label = np.append(np.cumsum(~failing) - 1, -1).astype(np.int32)
    new_label[:-1][failing] = -1
    table = problem.table
    labels, _ = roller.group_rows(np.arange(table.n_rows, dtype=np.int32), table.counts, levels)
    partition = Partition.from_labels(new_label[labels], int((~failing).sum()), table.counts)
    return Found(partition, _recode_node(problem, roller, levels, node.rows[~failing]), trace)


def _recode_node(problem: Problem, roller: Roller, levels: Vector, class_rows: CodeArray) -> Recoding:
    """Return what classes publish at a node; ``class_rows`` has one row of each class."""
    codes = roller.codes[class_rows] - 1
    cells = tuple(
        _publish_level(column, level, codes[:, j])
        for j, (column, level) in enumerate(zip(roller.columns, levels, strict=True))
    )
    names = tuple(problem.table.column(name) for name in problem.columns)
    return Recoding(names, cells, "full_domain")


def _publish_level(column: PublishedLevels, level: int, codes: CodeArray) -> Nodes:
    """Return what classes publish at a level, by one code of each; below the top a missing value (-1) stays missing."""
    ladder = column.ladder
    is_missing = codes < 0
    if level == column.top:
        zeros = np.zeros(len(codes), dtype=np.int32)
        return Nodes(zeros + np.int32(column.top), zeros, is_missing, ladder)
    levels = np.append(column.level[level], np.int32(-1))[codes]
    none = np.full((ladder.n_levels, 1), -1, dtype=np.int32)
    return Nodes(levels, np.hstack([ladder.level_codes, none])[levels, codes], is_missing, ladder)


def _build_trace(method: str, clock: Clock, solved: Solved, columns: tuple[PublishedLevels, ...]) -> Trace:
    n_nodes = math.prod(column.top + 1 for column in columns)
    n_pruned = sum(leaf.reason != "node" for leaf in solved.leaves)
    effort = Effort(solved.n_rolled, n_pruned, 0, math.log10(n_nodes), None, tuple(clock.history))
    bound = solved.value if solved.is_complete else solved.bound
    return clock.build_trace(
        method, solved.n_rolled, value=solved.value, bound=bound, complete=solved.is_complete, effort=effort
    )


def _build_evidence(
    problem: Problem, result: Found, solved: Solved, columns: tuple[PublishedLevels, ...], limit: int
) -> Mapping[str, Any]:
    """Return the entries of a certificate that the search knows."""
    return {
        "kind": "lattice",
        "columns": list(problem.columns),
        "n_levels": [column.top + 1 for column in columns],
        "n_records": problem.table.n_records,
        "most_suppressed": limit,
        "levels": list(solved.node or ()),
        "n_suppressed": int(problem.table.counts[result.suppressed].sum()),
        "value": solved.value,
        "intervals": [list(leaf) for leaf in solved.leaves],
    }


def _no_node_error(problem: Problem, solved: Solved, limit: int) -> BudgetExceeded | InfeasibleError:
    models = quote_names(describe(model) for model in problem.judge.models)
    if not solved.is_complete:
        return BudgetExceeded(
            f"the budget ended after {solved.n_rolled} nodes, of which none satisfies {models}.", hint="give it more."
        )
    return InfeasibleError(
        f"no levels satisfy {models} with at most {limit} of {problem.table.n_records} records suppressed.",
        hint="ask for less, or allow more records to be suppressed.",
    )
