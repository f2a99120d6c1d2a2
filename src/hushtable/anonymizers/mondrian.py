"""Mondrian: cut classes in two; then exchange records, undo overlaps, suppress the records that cost others most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers import publish
from hushtable.anonymizers.method import Found, Offers, Problem, is_bounded_below
from hushtable.anonymizers.parallel import CutSearch, grow_tree, rows_for_kernels
from hushtable.anonymizers.placement import CutTree
from hushtable.anonymizers.publish import STYLES, Style
from hushtable.claims import count_coverage, count_fewest_persons, pair_rows
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError, check_choice, check_whole, quote_names
from hushtable.kernels import class_profile, exchange as exchanging, judge, replay, split
from hushtable.models import ClassStats, PrivacyModel
from hushtable.recoding import (
    Axis,
    Lists,
    Recoding,
    Sets,
    check_grid,
    lay_out,
    pack_axes,
    pack_rows,
    places_of_rows,
    scale_weights,
    sort_by_content,
)
from hushtable.search import Clock, Trade, check_memory, say_if_first_run
from hushtable.tables import Partition, Table

_CLASSES_PER_SIDE = 32  # neighbouring classes tried on either side of a class
_MAX_SWEEPS = 8
_CLASSES_BETWEEN_LOOKS = 64  # at the clock
_MIN_GAIN_SHARE = 1e-2  # stop after a sweep that gains less than this share of the first one


def exchange_rows(
    table: Table,
    partition: Partition,
    rows: CodeArray,
    points: exchanging.RowPoints,
    axes: class_profile.Axes,
    rules: judge.Rules,
    min_size: int,
    clock: Clock,
) -> Partition:
    """Move and swap distinct rows between neighbouring classes while the set-NCP falls and the rules hold.

    Greedy, up to 8 sweeps over the 32 classes before and after; a local optimum. Classes come in an order in which
    neighbours are alike; rows are tried class by class, and the first of equal gains is taken.
    """
    n_columns = len(axes.columns)
    n_codes = np.diff(axes.columns["begin"], append=len(axes.places))
    n_words = np.where(axes.columns["is_ordered"], 0, (n_codes + 63) // 64)
    words = np.append(0, np.cumsum(n_words))
    n_classes = partition.n_classes
    check_memory(
        8.0 * n_classes * (int(words[-1]) + n_columns + 1),
        f"exchange=True with {n_classes} classes and columns of up to {int(axes.columns['domain'].max())} values",
        "leave exchange off, or give columns of many values a hierarchy.",
    )
    first, next_ = _link_rows(partition, rows)
    classes = exchanging.ExchangedClasses(
        first=first,
        next_=next_,
        sizes=partition.sizes.copy(),
        low=np.empty((n_classes, n_columns), dtype=np.int32),
        high=np.empty((n_classes, n_columns), dtype=np.int32),
        bits=np.zeros((n_classes, words[-1]), dtype=np.uint64),
        words=words,
        shares=np.empty(n_classes),
        share_without=np.zeros(table.n_rows),
    )
    n_sensitive = len(points.sensitive)
    # Room for all values of the whole: models compare with them, even if no row of a part has them.
    widest = max(int(points.sensitive.max(initial=0)) + 1, int(rules.n_values.max(initial=0)))
    scratch = exchanging.ClassScratch(
        rows=np.empty(table.n_rows, dtype=np.int32),
        low=np.empty(n_columns, dtype=np.int32),
        high=np.empty(n_columns, dtype=np.int32),
        bits=np.zeros(words[-1], dtype=np.uint64),
        rest_low=np.empty(n_columns, dtype=np.int32),
        rest_high=np.empty(n_columns, dtype=np.int32),
        rest_bits=np.empty(words[-1], dtype=np.uint64),
        growths=np.empty(2 * _CLASSES_PER_SIDE + 1),
        value_counts=np.zeros((n_sensitive, widest), dtype=np.int64),
        n_distinct=np.zeros(n_sensitive, dtype=np.int64),
        nodes=rules.allocate_nodes(),
    )
    exchanging.recompute_all_classes(points, axes, classes, scratch)
    gains: list[float] = []
    while len(gains) < _MAX_SWEEPS and clock.left > 0 and (len(gains) < 2 or gains[-1] > _MIN_GAIN_SHARE * gains[0]):
        gains.append(0.0)
        for begin in range(0, n_classes, _CLASSES_BETWEEN_LOOKS):
            if clock.left <= 0:
                break
            sources = (begin, begin + _CLASSES_BETWEEN_LOOKS)
            gains[-1] += exchanging.exchange_rows(
                points, axes, rules, classes, scratch, min_size, _CLASSES_PER_SIDE, sources
            )
    return Partition.from_labels(_labels_of_rows(classes, table.n_rows), n_classes, table.counts)


def _link_rows(partition: Partition, rows: CodeArray) -> tuple[CodeArray, CodeArray]:
    """Link the rows of every class: return each class's first row, and each row's next (-1 after the last)."""
    next_ = np.full(len(rows), -1, dtype=np.int32)
    next_[rows[:-1]] = np.where(partition.labels[rows[:-1]] == partition.labels[rows[1:]], rows[1:], -1)
    return rows[partition.offsets[:-1]].copy(), next_


def _labels_of_rows(classes: exchanging.ExchangedClasses, n_rows: int) -> CodeArray:
    labels = np.empty(n_rows, dtype=np.int32)
    rows = classes.first.copy()
    alive = np.arange(len(rows), dtype=np.int32)
    while len(alive):
        labels[rows] = alive
        rows = classes.next_[rows]
        alive, rows = alive[rows >= 0], rows[rows >= 0]
    return labels


def undo_overlaps(
    partition: Partition, cuts: CutTree, recode: Callable[[Partition, CutTree], Recoding], problem: Problem
) -> tuple[Partition, CutTree]:
    """Undo the last cut of every class that fails by the people whom its cells cover, until none fails.

    A search counts the people on either side of a cut; a reader counts those whom the published cells cover. These can
    be more: a class may publish a node with children on both sides, or ``*`` because values are missing. That is safe
    for k-map, but not for delta-presence: the share of covered people who are in the table falls. If the release does
    not say whose record a row is, a reader can only infer the fewest persons that the covered records need.
    """
    failing = _build_failure_test(problem)
    while failing is not None and partition.n_classes > 1:
        covering, cell_of_class = _cover_classes(problem, recode(partition, cuts))
        # Sums of whole numbers below 2^53 are exact in bincount's floats.
        failed = failing(covering, np.bincount(cell_of_class, weights=partition.sizes).astype(np.int64))
        if not failed.any():
            break
        partition, cuts = _without_last_cut(problem.table, partition, cuts, failed[cell_of_class])
    return partition, cuts


class _Covering(NamedTuple):
    """Distinct published cells, and the people they may cover, as `hushtable.claims.coverage` takes them."""

    published: list[list[str | None]]
    classes: CodeArray
    people: list[list[str | None]]
    rows: CodeArray
    specs: list[ColumnSpec]
    meanings: list[Any]
    names: list[str]


def _build_failure_test(problem: Problem) -> Callable[[_Covering, CountArray], BoolArray] | None:
    """Return a function that tells which published classes fail, given their sizes; None if overlaps are harmless."""
    rows_judge, table = problem.judge, problem.table
    people, bounded = rows_judge.population, [model for model in rows_judge.models if is_bounded_below(model)]
    if people is not None and bounded:
        return lambda covering, sizes: _fail_by_population(covering, sizes, people, bounded)
    if problem.hides_persons and rows_judge.person is not None:
        everyone = problem.everyone or table
        persons = everyone.codes[everyone.index(rows_judge.person)]
        return lambda covering, sizes: _n_persons(covering, sizes, persons, everyone.counts) < rows_judge.min_size
    return None


def _fail_by_population(
    covering: _Covering, sizes: CountArray, people: CountArray, models: Sequence[PrivacyModel]
) -> BoolArray:
    published, classes, texts, rows, *readings = covering
    covered, _ = count_coverage(published, classes, texts, rows, people, *readings)
    stats = ClassStats(sizes, population=covered)
    return np.asarray(~np.all([model.passes(stats) for model in models], axis=0))


def _n_persons(covering: _Covering, sizes: CountArray, persons: CodeArray, counts: CountArray) -> CountArray:
    classes, rows = pair_rows(*covering)
    return count_fewest_persons(classes, persons[rows], sizes, counts[rows])


def _cover_classes(problem: Problem, recoding: Recoding) -> tuple[_Covering, CountArray]:
    """Collect the distinct published cells and the rows they may cover; return also the cells of every class."""
    table, texts_by_column, codes, rows = problem.everyone or problem.table, [], [], []
    for column in recoding.columns:
        label_of_class, labels = recoding.format_labels(column.name)
        texts = list(dict.fromkeys(labels))
        index_of_text = {text: place for place, text in enumerate(texts)}
        texts_by_column.append(texts)
        codes.append(np.array([index_of_text[label] for label in labels])[label_of_class])
        rows.append(table.codes[table.index(column.name)] + 1)
    meanings = {**problem.ladders, **recoding.meanings()}
    classes, cell_of_class = np.unique(np.stack(codes), axis=1, return_inverse=True)
    covering = _Covering(
        texts_by_column,
        classes,
        [[None, *column.texts()] for column in recoding.columns],
        np.stack(rows),
        [column.spec for column in recoding.columns],
        [meanings.get(column.name) for column in recoding.columns],
        [column.name for column in recoding.columns],
    )
    return covering, cell_of_class


def _without_last_cut(table: Table, classes: Partition, cuts: CutTree, failed: BoolArray) -> tuple[Partition, CutTree]:
    """Undo the last cut above each failing class: all its descendants become one class."""
    n_nodes = len(cuts.columns)
    leaves = np.flatnonzero(cuts.columns < 0)
    parent, end = np.full(n_nodes, -1), np.arange(1, n_nodes + 1)
    for node in reversed(np.flatnonzero(cuts.columns >= 0).tolist()):
        left, right = node + 1, int(end[node + 1])
        parent[[left, right]], end[node] = node, end[right]
    undone = np.unique(parent[leaves[failed]])
    n_undone_above = np.zeros(n_nodes + 1, dtype=np.int64)
    np.add.at(n_undone_above, undone + 1, 1)
    np.add.at(n_undone_above, end[undone], -1)
    is_kept = np.cumsum(n_undone_above)[:n_nodes] == 0
    is_cut = is_kept & (cuts.columns >= 0)
    is_cut[undone] = False
    lengths = np.diff(cuts.starts)
    columns = np.where(is_cut, cuts.columns, np.int32(-1))[is_kept]
    starts = np.concatenate(([0], np.cumsum(np.where(is_cut, lengths, 0)[is_kept])))
    # In depth-first order, undone nodes come right after the node that becomes a class.
    last_kept = np.maximum.accumulate(np.where(is_kept, np.arange(n_nodes), 0))
    label_of_node = np.cumsum(is_kept & ~is_cut) - 1
    labels = label_of_node[last_kept[leaves]].astype(np.int32)[classes.labels]
    merged = Partition.from_labels(labels, int(labels.max()) + 1, table.counts)
    return merged, CutTree(cuts.axes, columns, starts, cuts.members[np.repeat(is_cut, lengths)])


_MOST_SEARCHES: Final = 12
_SHARE_TRIED_NEXT: Final = 0.25  # after a vain try, this share of its records is tried next


def suppress_for_loss(problem: Problem, search: Callable[[Problem], Found], axes: Sequence[Axis]) -> Found:
    """Search, and search again without the records that cost the others most, as long as the loss falls.

    A suppressed record counts as having lost everything. The result is never worse than without suppression, which is
    tried first. If suppressing the best candidates gains nothing, the best quarter is tried; at most 12 more searches.
    """
    best = search(problem)
    loss_before = value = _loss_of(problem, best)
    nodes, share = best.trace.nodes, 1.0
    for _ in range(_MOST_SEARCHES):
        rows = worth_suppressing(problem, best, axes)
        n_left = problem.most_suppressed - int(problem.table.counts[best.suppressed].sum())
        rows = rows[np.cumsum(problem.table.counts[rows]) <= n_left]
        rows = rows[: int(np.ceil(share * len(rows)))]
        if len(rows) == 0 or problem.clock.is_over(nodes):
            break
        tried = _search_without(problem, best.suppressed, rows, search, nodes)
        nodes += tried.trace.nodes if tried else 0
        if tried and _is_allowed(problem, tried) and _loss_of(problem, tried) < value:
            best, value = tried, _loss_of(problem, tried)
        elif len(rows) == 1:
            break
        else:
            share *= _SHARE_TRIED_NEXT
    trade = Trade(int(problem.table.counts[best.suppressed].sum()), loss_before, value)
    trace = replace(best.trace, nodes=nodes, seconds=problem.clock.spent, trade=trade)
    return replace(best, trace=trace)


def worth_suppressing(problem: Problem, result: Found, axes: Sequence[Axis]) -> CountArray:
    """Rank the rows whose suppression lowers the total loss, by gain per suppressed record.

    A class of n records loses a share s, and s - d without c equal ones. Suppressing them gains (n - c) d - c (1 - s):
    the gain of the others minus the loss of the suppressed. Only the next search shows whether the rest stays a class.
    """
    labels, counts = result.partition.labels, problem.table.counts
    kept_rows = np.flatnonzero(labels >= 0)
    weights = scale_weights([problem.loss.weights.get(axis.column.name, 1.0) for axis in axes])
    if not weights.any():
        return np.empty(0, dtype=np.int64)
    weights = weights / weights.sum()
    rows = places_of_rows(problem.table, axes)[kept_rows]
    shares, savings = np.zeros(result.partition.n_classes), np.zeros(len(kept_rows))
    by_name = dict(zip((column.name for column in result.recoding.columns), result.recoding.shares(), strict=True))
    for weight, axis, column in zip(weights, axes, rows.T, strict=True):
        shares += weight * by_name[axis.column.name]
        class_shares = by_name[axis.column.name][labels[kept_rows]]
        savings += weight * np.clip(_savings_without_rows(axis, labels[kept_rows], column), 0.0, class_shares)
    n_others = result.partition.sizes[labels[kept_rows]] - counts[kept_rows]
    gain = n_others * savings / np.maximum(1, counts[kept_rows]) - (1 - shares[labels[kept_rows]])
    rank = np.empty(problem.table.n_rows, dtype=np.int64)
    rank[sort_by_content(problem.table)] = np.arange(problem.table.n_rows)
    worth = np.flatnonzero((gain > 0) & (counts[kept_rows] > 0))
    return np.asarray(kept_rows[worth[np.lexsort((rank[kept_rows[worth]], -gain[worth]))]])


def _savings_without_rows(axis: Axis, labels: CodeArray, places: CodeArray) -> FloatArray:
    """Return, for each row, by how much its class's share of a column falls without it."""
    order = np.lexsort((places, labels))
    label, places = labels[order], places[order]
    is_first = np.append(True, label[1:] != label[:-1])
    is_last = np.append(is_first[1:], True)
    first = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
    last = np.flatnonzero(is_last)[np.cumsum(is_first) - 1]
    savings = np.empty(len(places))
    if axis.is_ordered:
        low, high = places[np.where(is_first & ~is_last, first + 1, first)], places[np.where(is_last, last - 1, last)]
        rest_shares = np.where(is_first & is_last, 0.0, _shares_of_runs(axis, low, np.maximum(low, high)))
        savings[order] = _shares_of_runs(axis, places[first], places[last]) - rest_shares
    else:
        begins = is_first | np.append(True, places[1:] != places[:-1])
        is_alone = begins & np.append(begins[1:], True)
        n_values = np.add.reduceat(begins.astype(np.int64), np.flatnonzero(is_first))[np.cumsum(is_first) - 1]
        savings[order] = _shares_of_sets(axis, n_values) - _shares_of_sets(axis, n_values - is_alone)
    return savings


def _shares_of_runs(axis: Axis, low: CodeArray, high: CodeArray) -> FloatArray:
    """Return the published share of each run of places; a run from place 0 includes missing values."""
    has_missing: BoolArray = np.asarray(low == 0)
    return publish.publish_runs(axis, low - np.int32(1), high - np.int32(1), has_missing).shares(axis.column)


def _shares_of_sets(axis: Axis, n_values: CountArray) -> FloatArray:
    """Return the shares of sets, by their numbers of values."""
    return Sets(np.append(0, np.cumsum(n_values)), np.empty(0, dtype=np.int32), axis.domain).shares(axis.column)


def _search_without(
    problem: Problem, suppressed: BoolArray, rows: CountArray, search: Callable[[Problem], Found], nodes: int
) -> Found | None:
    """Search without some more rows; None if the remaining rows as one class fail the models."""
    is_suppressed = suppressed.copy()
    is_suppressed[rows] = True
    part = problem.take_rows(~is_suppressed)
    if part.table.n_records == 0 or not part.judge.passes_as_one_class():
        return None
    budget = problem.clock.budget
    if budget.nodes is not None:
        part = replace(part, clock=replace(problem.clock, budget=replace(budget, nodes=budget.nodes - nodes)))
    result = search(part)
    labels = np.full(len(is_suppressed), -1, dtype=np.int32)
    labels[~is_suppressed] = result.partition.labels
    partition = Partition.from_labels(labels, result.partition.n_classes, problem.table.counts)
    return replace(result, partition=partition)


def _is_allowed(problem: Problem, result: Found) -> bool:
    """Tell whether the average risk, classes per record, stays within its limit."""
    max_risk = problem.average_risk
    return max_risk is None or result.partition.n_classes <= max_risk * result.partition.n_records


def _loss_of(problem: Problem, result: Found) -> float:
    n_suppressed = problem.n_suppressed_before + int(problem.table.counts[result.suppressed].sum())
    return problem.loss.measure(result.recoding, result.partition.sizes, n_suppressed)


_N_RESCORED: Final = 4
_MAX_LISTED: Final = 4
_MAX_LENGTH: Final = 40
_MOST_RESCORED: Final = 1_000_000
_MOST_MARGIN: Final = 10**15  # records; together with any k it fits the kernels' 64 bits


@dataclass(frozen=True, slots=True)
class Mondrian:
    """Cut classes in two until no cut is allowable.

    Parameters
    ----------
    cut : {"gain", "median"}
        ``"gain"`` looks at all allowable cuts of all columns for the one that lowers the set-NCP most. ``"median"`` is
        the paper's rule: the widest column, nearest its median.
    recoding : {"tight", "readable", "nested", "cut", "label", "set", "central"}
        What a class publishes: the interval or set its own records span; what people read and use (round intervals,
        calendar units, short lists, names of groups; the default of policies and of the command); one unit of the
        column's ladder of nested units (5, 10, 20 years; months, quarters; digits of codes; groups); the cell that the
        cuts left it, whose ends belong to no one; the label of the lowest hierarchy node over its records (columns
        without a hierarchy: tight); the set of values, or of hierarchy nodes, that it reaches; one central value
        (median or mode). A column with a hierarchy publishes labels in the first three styles too.
    n_rescored : int
        With ``"gain"``: cuts are ranked by what they gain in their own column (where that publishes intervals or sets,
        times the fourth root of the smaller side's share, which keeps the tree from lopping off slivers), and this many
        of the best compared by what they gain in all columns. In a column with a hierarchy, a cut between some of a
        node's many children counts its share of what cutting all of them apart will gain, and the best are compared by
        what they gain per bit, the entropy of their two sides: few cuts pay there, and a rare child can be cut off only
        while it is enough records for a class.
    strict : bool
        False deals the records that hold the median to both sides (``"median"`` only):
        classes of nearly equal size, which overlap. Equal records may then part.
    margin : int
        Classes hold this many records more than the models ask. That makes attacks rarer that know where cutting
        stopped, and does not end them: who knows the algorithm learns of sensitive values from the cuts that models of
        them forbade, see `hushtable.Release.attack`. The release claims what the models ask.
    grid : mapping of column to float
        Cuts of these number columns fall on multiples of a width, whatever the data. With
        ``"readable"`` all do: by 1, 2 or 5 times a power of ten, at most about 200 cells.
    exchange : bool
        Afterwards move and swap records between neighbouring classes while that lowers
        the set-NCP; not with ``recoding="cut"``, whose cells it would leave.
    max_listed, max_length : int
        With ``"readable"``: codes are cut in their order, ``[20*, 45*]``. Of another category, a class lists
        the values that it holds where they are at most so many, and the list at most so many characters. Else it
        publishes the smallest group by frequency that holds them, ``nurse and 9 more``, or ``*``. Of a hierarchy made
        by a rule, it lists as few labels below the top instead of ``*``. A list tells which
        values a class does not hold; ``"cut"`` hides that, and names a set that is longer than ``max_length``.

    Notes
    -----
    LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006, section 4. We depart in that a
    column without an allowable cut at its median is cut elsewhere, that categories are ordered by their frequency in
    the class at hand, and that every model is tested inside the cut, on both sides. Ties are broken by content and by
    the columns' names: the order of rows and quasi-identifiers changes nothing. About O(n d log(n / k)) for n distinct
    rows and d columns, times ``n_rescored`` with gain.
    """

    cut: Literal["gain", "median"] = "gain"
    recoding: Style = "tight"
    n_rescored: int = _N_RESCORED
    strict: bool = True
    margin: int = 0
    grid: Mapping[str, float] = field(default_factory=dict)
    exchange: bool = False
    max_listed: int = _MAX_LISTED
    max_length: int = _MAX_LENGTH

    name: ClassVar[str] = "mondrian"

    @property
    def offers(self) -> Offers:
        """The set-NCP; a population, but not with central values, which cover nobody else. Relaxed classes overlap."""
        return Offers(
            parts_equal_records=not self.strict,
            counts_population=self.recoding != "central",
            suppresses=True,
            keeps_apart=self.strict and not self.exchange,
            takes_equal_rows=self.strict and not self.exchange,
        )

    def __post_init__(self) -> None:
        check_choice("Mondrian was given cut", self.cut, ("gain", "median"))
        check_choice("Mondrian was given recoding", self.recoding, STYLES)
        for name in ("strict", "exchange"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise InputError(f"Mondrian was given {name} = {getattr(self, name)!r}.", hint="true or false.")
        for name in ("n_rescored", "max_listed", "max_length"):
            check_whole(f"Mondrian was given {name}", getattr(self, name), 1, _MOST_RESCORED)
        check_whole("Mondrian was given margin", self.margin, 0, _MOST_MARGIN)
        for name, usual, option, able in (
            ("max_listed", _MAX_LISTED, "recoding", ("readable",)),
            ("max_length", _MAX_LENGTH, "recoding", ("readable", "nested", "cut")),
            ("n_rescored", _N_RESCORED, "cut", ("gain",)),
        ):
            if getattr(self, option) not in able and getattr(self, name) != usual:
                raise InputError(
                    f"Mondrian was given {name} = {getattr(self, name)!r}, which has no effect.",
                    hint=f"it goes with {' or '.join(f'{option}={each!r}' for each in able)}.",
                )
        check_grid(self.grid)
        if self.grid and self.recoding == "nested":
            raise InputError(
                f"Mondrian was given grid = {dict(self.grid)!r} and recoding 'nested'.",
                hint="give the column its units: hierarchy {intervals: {width: [5, 10, 20]}}.",
            )
        if not self.strict and self.cut != "median":
            raise InputError("relaxed Mondrian deals the median.", hint='pass cut="median" with strict=False.')
        if self.recoding == "cut" and (self.exchange or not self.strict):
            what = "exchange=True" if self.exchange else "strict=False"
            raise InputError(
                f'{what} makes classes that are no cells of cuts, so recoding="cut" cannot write them.',
                hint="choose another recoding.",
            )

    def search(self, problem: Problem) -> Found:
        """Cut a table whose single class passes, until no cut is allowable.

        What is not yet cut when the budget ends is published as it stands, which is safe.
        Distinct rows with counts are best (`hushtable.Table.collapse`).
        """
        say_if_first_run(split.grow_tree, 10)
        if problem.most_suppressed == 0 or problem.judge.population is not None:
            return self._cut_classes(problem)
        return suppress_for_loss(problem, self._cut_classes, axes_of(self, problem))

    def _cut_classes(self, problem: Problem) -> Found:
        """Cut the classes of a problem, without suppression."""
        table, clock = problem.table, problem.clock
        axes = axes_of(self, problem)
        is_sorted = self.exchange or not self.strict
        order = sort_by_content(table, problem.judge.population) if is_sorted else None
        search = cut_search(self, problem, axes, problem.judge.codes_for_kernels())
        grown = grow_tree(search, rows_for_kernels(pack_rows(table, axes), table.counts, order), clock)
        ends = grown.tree.leaf_starts[: grown.tree.cursor[split.LEAVES] + 1]
        partition = Partition.from_runs(grown.order, ends, table.counts, is_ascending=not is_sorted)
        cuts = CutTree.from_split_tree(grown.tree, axes)
        publish_ = partial(self._publish_classes, problem)
        if self.exchange:
            points = exchanging.RowPoints(
                places_of_rows(table, axes), table.counts, search.sensitive, search.population
            )
            min_size = search.options.min_size
            improved = exchange_rows(table, partition, grown.order, points, search.axes, search.rules, min_size, clock)
            # The kernel lowers spans and sets, but not always the loss of what is then published.
            candidates = [(each, publish_(each, cuts)) for each in (partition, improved)]
            partition, recoding = min(candidates, key=lambda each: problem.loss.measure(each[1], each[0].sizes))
            return Found(
                partition, recoding, clock.build_trace(repr(self), grown.n_settled, complete=grown.is_complete)
            )
        partition, cuts = undo_overlaps(partition, cuts, publish_, problem)
        trace = clock.build_trace(repr(self), grown.n_settled, complete=grown.is_complete)
        return Found(partition, publish_(partition, cuts), trace, cuts if self.strict else None)

    def _publish_classes(self, problem: Problem, partition: Partition, cuts: CutTree) -> Recoding:
        """Publish classes in the style of the method."""
        table, index = problem.table, {axis.column.name: j for j, axis in enumerate(cuts.axes)}
        axes = [cuts.axes[index[name]] for name in problem.columns]
        if self.recoding != "cut":
            return publish.from_classes(table, partition, axes, self.recoding)
        tree = (cuts.columns, cuts.starts, cuts.members)
        n_values = sum(axis.n_places for axis in axes if not axis.is_ordered)
        check_memory(
            4.0 * partition.n_classes * n_values,
            f"writing the cells of {partition.n_classes} classes over {n_values} categories",
            'choose recoding="tight", or give columns of many categories a hierarchy.',
        )
        cells = {
            name: replay.cell_ranges(*tree, index[name], axis.n_places - 1, partition.n_classes)
            if axis.is_cut_in_order
            else replay.cell_sets(*tree, index[name], np.unique(table.codes[table.index(name)]), partition.n_classes)
            for name, axis in zip(problem.columns, axes, strict=True)
            if axis.hierarchy is None
        }
        lists = _build_lists(self, problem)
        return publish.from_cells(table, partition, axes, cells, lists if lists.names_groups else None)


def axes_of(method: Mondrian, problem: Problem) -> tuple[Axis, ...]:
    """Lay out the quasi-identifiers of a problem for cutting."""
    # The first of equal cuts is made. So columns are sorted by name: their order must not change the result.
    lists = _build_lists(method, problem)
    readable = lists if method.recoding in ("readable", "nested") else None
    axes = lay_out(problem.judge.laid_out, sorted(problem.columns), problem.ladders, method.grid, readable)
    ranked = [axis.column.name for axis in axes if axis.column.by_rank and (axis.edges or axis.is_proposed)]
    if ranked and method.recoding == "nested":
        raise InputError(
            f"columns {quote_names(ranked)} are measured on ranks, and nested units on values.",
            hint="choose recoding 'readable', or the scale 'value'.",
        )
    if ranked:
        raise InputError(
            f"columns {quote_names(ranked)} are measured on ranks, and cut on a grid of values.",
            hint="choose recoding 'readable', no grid, or the scale 'value'.",
        )
    return axes


def cut_search(method: Mondrian, problem: Problem, axes: tuple[Axis, ...], sensitive: CodeArray) -> CutSearch:
    """Build the search for cuts; `sensitive` holds codes + 1 of the rows that are cut."""
    rows_judge = problem.judge
    people = np.empty(0, dtype=np.int64) if rows_judge.population is None else rows_judge.population
    options = split.Options(rows_judge.min_size + method.margin)
    deals_ties = None if method.cut == "gain" else not method.strict
    packed = pack_axes(axes, problem.loss.weights)
    return CutSearch(packed, rows_judge.rules_for_kernels(), sensitive, people, options, method.n_rescored, deals_ties)


def _build_lists(method: Mondrian, problem: Problem) -> Lists:
    # A reader has to see from file and manifest whom a cell covers: no names of groups then.
    is_covering = problem.judge.population is not None or problem.hides_persons
    return Lists(
        method.max_listed,
        method.max_length,
        names_groups=not is_covering,
        min_people=problem.judge.min_size,
        person=problem.judge.person,
        language=problem.language,
        in_units=method.recoding == "nested",
    )
