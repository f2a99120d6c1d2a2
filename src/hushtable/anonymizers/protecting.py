"""Carry out a request: prepare the table, suppress records that no class can hold, search, build the release."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.anonymizers.finishing import Searched, release_of
from hushtable.anonymizers.fitting import Learner
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.known_records import hide_known, is_hiding_known
from hushtable.anonymizers.method import Found, Problem, check_offers, choose_loss, moves_rows
from hushtable.anonymizers.own_losses import move_rows
from hushtable.anonymizers.preparation import Prepared, Request, prepare, warn_of_doubts
from hushtable.engines import is_origin
from hushtable.errors import ColumnError, InputError, quote_names
from hushtable.io import Frame
from hushtable.models import ClassStats, Ground, Histogram, MatchingNotion, PrivacyModel
from hushtable.recoding import sort_by_content
from hushtable.release import Release
from hushtable.search import Budget, check_memory
from hushtable.tables import Partition, Table, build_ground_distances, count_by_value

_SEED = 0  # of the order in which records that models cannot tell apart are suppressed


def offending_rows(
    table: Table, models: Sequence[PrivacyModel], max_suppressed: int, source: Frame | Table | None = None
) -> BoolArray:
    """Choose rows to suppress, up to a limit, so that the rest of the table as one class satisfies the models.

    If too many records share a value, every release fails (alpha,k)-anonymity, entropy or recursive diversity. So
    records with the most frequent value are suppressed, first those that hold it in several sensitive columns. Ties
    are broken in an order that looks random, but follows from the cells alone, also from other columns of `source`.
    """
    reference = {name: count_by_value(table, name) for model in models for name in model.needs.sensitive}
    ground_of = build_ground_distances(table, reference)
    rank = _rank_by_content(table if source is None else source, table)
    offending = np.zeros(table.n_rows, dtype=bool)
    budget = max_suppressed
    judged_columns = [(model, name) for model in models for name in model.needs.sensitive]
    n_before = -1
    # Suppression for one column may make another fail: repeat until nothing more is suppressed.
    while budget > 0 and n_before < int(offending.sum()):
        n_before = int(offending.sum())
        for model, name in judged_columns:
            codes = table.codes[table.index(name)]
            counts = np.bincount(
                codes[~offending] + 1, weights=table.counts[~offending], minlength=len(reference[name])
            )
            excess = _count_excess(model, name, counts.astype(np.int64), reference, ground_of, budget)
            for entry in np.flatnonzero(excess):
                rows = np.flatnonzero((codes == entry - 1) & ~offending)
                rows = rows[np.lexsort((rank[rows], -_n_frequent(table, judged_columns, ~offending)[rows]))]
                chosen = rows[np.cumsum(table.counts[rows]) <= excess[entry]]
                offending[chosen] = True
                budget -= int(table.counts[chosen].sum())
    return offending


def _rank_by_content(source: Frame | Table, table: Table) -> CountArray:
    """Rank rows by their cells in a shuffled order; equal rows share a rank. Lists and the like are ignored."""
    codes = dict(zip(table.names, table.codes, strict=True))
    for name in source.names:
        if name not in codes:
            with contextlib.suppress(ColumnError):
                codes[name] = Table.encode(source.select([name])).codes[0]
    _, row = np.unique(np.array([codes[name] for name in sorted(codes)]), axis=1, return_inverse=True)
    # Unshuffled, ranks would suppress only records at one end of the first column.
    return np.random.default_rng(_SEED).permutation(int(row.max()) + 1)[row.ravel()]


def _n_frequent(table: Table, judged_columns: Sequence[tuple[PrivacyModel, str]], is_kept: BoolArray) -> CountArray:
    """Count, for every row, the sensitive columns in which it holds the most frequent value of the rows kept."""
    n_frequent = np.zeros(table.n_rows, dtype=np.int64)
    for name in {name for _, name in judged_columns}:
        codes = table.codes[table.index(name)]
        known = is_kept & (codes >= 0)
        records = np.bincount(codes[known], weights=table.counts[known], minlength=1)
        n_frequent += codes == np.argmax(records)
    return n_frequent


def _count_excess(
    model: PrivacyModel,
    name: str,
    counts: CountArray,
    reference: dict[str, CountArray],
    grounds: dict[str, Ground],
    max_excess: int,
) -> CountArray:
    """Count, by code + 1 (0: missing), the records to suppress until the rest as one class passes."""
    remaining = counts.copy()
    while counts.sum() - remaining.sum() < max_excess and remaining.sum() > 0:
        present = np.flatnonzero(remaining)
        histogram = Histogram(np.array([0, len(present)]), (present - 1).astype(np.int32), remaining[present])
        stats = ClassStats(np.array([remaining.sum()]), {name: histogram}, reference, grounds=grounds)
        if model.passes(stats).all():
            break
        known = remaining[1:]
        if not known.any():
            # Only missing values are left: they are no value that too many share.
            break
        remaining[1 + int(np.argmax(known))] -= 1
    return counts - remaining


_ROWS_IN_SAMPLE: Final = 2**14  # rows from which to guess how many are equal
_MAX_SHARE_EQUAL: Final = 0.2  # share of rows that have an equal one
_COMPILER_BYTES: Final = 3e8  # with less memory, LLVM aborts the process


def protect(data: Any, request: Request) -> Release:
    """Carry out a request for rows: a path, a dataframe, a Table, Files or Lazy."""
    if is_origin(data):
        _check_in_memory(request)
        from hushtable.anonymizers.beyond_memory import protect_distinct

        return protect_distinct(data, request, protect)
    prepared = prepare(data, request)
    warn_of_doubts(prepared.source, prepared.table, request)
    return carry_out(prepared, request)


def _check_in_memory(request: Request) -> None:
    """Raise InputError if a request changes dates, which takes all records of a person."""
    if request.dates is not None:
        raise InputError(
            f"dates of {quote_names(request.dates.columns)} are changed person by person, which takes the rows in "
            "memory.",
            hint="take engine='memory' and one file or a frame.",
        )


def carry_out(prepared: Prepared, request: Request) -> Release:
    """Carry out a request for a prepared table. Several requests of the same columns may share the table."""
    check_memory(_COMPILER_BYTES, "compiling the kernels", "end other programs, or use a machine with more memory.")
    if is_hiding_known(request):
        release = hide_known(prepared, request, _search_classes)
        request.clock.report_progress(1.0)
        return replace(release, learner=Learner(request))
    searched = _search_classes(prepared, request)
    request.clock.report_progress(1.0)

    def build_release(found: Found, partition: Partition) -> Release:
        release = release_of(searched.prepared, searched.judge, request, found, partition)
        return replace(release, learner=Learner(request))

    others = tuple(build_release(other, searched.expand(other.partition)) for other in searched.found.others)
    release = replace(build_release(searched.found, searched.partition), alternatives=others)
    return release if searched.found.floor_budget is None else _with_floor(release, searched.found.floor_budget)


class Posed(NamedTuple):
    """What a method is asked, and how its answer holds for all rows."""

    prepared: Prepared
    problem: Problem
    judge: Judge  # of all rows
    expand: Callable[[Partition], Partition]  # see `Searched.expand`
    has_item_columns: bool


def pose_problem(prepared: Prepared, request: Request) -> Posed:
    """Suppress what no class can hold, and return the problem of the other rows."""
    prepared = prepared.with_hierarchies_of(request)
    if request.method.offers.parts_equal_records:
        prepared = prepared.with_row_per_record()
    people = prepared.population_table
    table, models = prepared.table, request.asked_of_search
    if any(table.column(name).separator is not None for name in request.judged):
        from hushtable.anonymizers.item_columns import with_item_columns

        table, models = with_item_columns(table, models)
    of_sets = table is not prepared.table
    notion = next((model for model in request.models if isinstance(model, MatchingNotion)), None)
    whole_judge = Judge(table, models, prepared.ladders, person=request.person)
    max_suppressed = int(request.suppression_limit * table.n_records)
    suppressed = np.zeros(table.n_rows, dtype=bool)
    finds_failing = request.method.offers.finds_failing and people is None
    if max_suppressed and people is None and not finds_failing and not whole_judge.passes_as_one_class():
        suppressed = offending_rows(table, models, max_suppressed, prepared.source)
    part = table.take(np.flatnonzero(~suppressed)) if suppressed.any() else table
    n_suppressed = int(table.counts[suppressed].sum())
    n_left = max_suppressed - n_suppressed if request.method.offers.suppresses else 0
    if n_left == 0 and people is None and request.method.offers.takes_equal_rows and _is_mostly_distinct(part):
        judge, inverse = replace(whole_judge, table=part, reference=whole_judge.reference_table), None
    else:
        keeps_equal = request.method.offers.parts_equal_records
        judge, inverse = _build_judge(part, people, whole_judge, request.quasi_identifiers, keeps_equal=keeps_equal)
    # Columns sorted by name, rows by content: their order in the input must not change ties and random draws.
    names = tuple(sorted(request.quasi_identifiers))
    average = request.limits.average_risk
    hides = request.hides_person
    problem = Problem(
        names,
        judge,
        prepared.ladders,
        choose_loss(request.method, request.loss),
        request.clock,
        n_left,
        notion,
        n_suppressed,
        average,
        hides,
        request.writing.language,
        table.collapse()[0] if hides and max_suppressed else None,
    )
    check_offers(request.method, problem)
    if notion is None and not (max_suppressed and finds_failing):
        judge.check_feasible()

    def expand_partition(partition: Partition) -> Partition:
        if inverse is None and not n_suppressed:
            return partition
        return Partition.from_labels(
            _expand_labels(partition.labels, inverse, suppressed), partition.n_classes, table.counts
        )

    return Posed(prepared, problem, whole_judge, expand_partition, of_sets)


def _search_classes(prepared: Prepared, request: Request) -> Searched:
    """Suppress what no class can hold, and search for classes of a prepared table."""
    posed = pose_problem(prepared, request)
    problem, judge = posed.problem, posed.problem.judge
    result = request.method.search(problem)
    if not result.combinations:  # else the claim judges the classes of every set when the file is written
        judge.check_classes(result.partition, request.method)
    if problem.loss is not request.loss:
        # The method minimised another loss, so its proofs do not hold for the requested one.
        trace = replace(result.trace, optimal=False, bound=None, gap=None)
        result = replace(result, trace=trace, evidence=None, floor_budget=None)
        if moves_rows(request.method):
            result = move_rows(problem, result, request.loss)
            judge.check_classes(result.partition, request.method)
    if posed.has_item_columns:
        # A checker of the evidence knows the columns of the input, not the columns of items.
        result = replace(result, evidence=None)
    if judge.without_rule:
        asked_models = tuple(model.name for model in judge.without_rule)
        result = replace(result, trace=replace(result.trace, asked_models=asked_models))
    return Searched(posed.prepared, posed.judge, result, posed.expand)


def _with_floor(release: Release, budget: Budget) -> Release:
    """Add a lower bound of the loss to a release, if one can be computed."""
    try:
        return release.with_bound(budget)
    except InputError:
        return release


def _build_judge(
    part: Table, people: Table | None, whole_judge: Judge, quasi_identifiers: Sequence[str], *, keeps_equal: bool
) -> tuple[Judge, CodeArray]:
    """Return the judge of the rows that a search sees, equal ones merged unless `keeps_equal`, and each row's index."""
    everyone = part if people is None else part.with_population(people)
    if keeps_equal:
        # By quasi-identifiers first: sensitive values must not decide between equally good releases.
        order = sort_by_content(everyone, first=quasi_identifiers)
        distinct, inverse = everyone.take(order), np.argsort(order).astype(np.int32)
    else:
        distinct, inverse = everyone.collapse()
    population = None
    if people is not None:
        counts = np.append(np.zeros_like(part.counts), people.counts)
        # Sums of whole numbers below 2^53 are exact in bincount's floats.
        population = np.bincount(inverse, weights=counts, minlength=distinct.n_rows).astype(np.int64)
    judge = replace(whole_judge, table=distinct, reference=whole_judge.reference_table, population=population)
    return judge, inverse[: part.n_rows]


def _is_mostly_distinct(table: Table) -> bool:
    """Guess from a sample whether a large table has so few equal rows that merging them does not pay."""
    if table.n_rows < 8 * _ROWS_IN_SAMPLE:
        return False
    sample = table.take(np.sort(np.random.default_rng(0).choice(table.n_rows, _ROWS_IN_SAMPLE, replace=False)))
    n_equal = _ROWS_IN_SAMPLE - sample.collapse()[0].n_rows
    # The chance of an equal row grows with the number of rows: scale it from the sample to the table.
    return n_equal / _ROWS_IN_SAMPLE * (table.n_rows / _ROWS_IN_SAMPLE) < _MAX_SHARE_EQUAL


def _expand_labels(labels: CodeArray, inverse: CodeArray | None, suppressed: BoolArray) -> CodeArray:
    """Return the class of every row of the source, -1 where it is suppressed."""
    if inverse is not None:
        labels = np.take(labels, inverse)
    if not suppressed.any():
        return labels
    all_labels = np.full(len(suppressed), -1, dtype=np.int32)
    all_labels[~suppressed] = labels
    return all_labels
