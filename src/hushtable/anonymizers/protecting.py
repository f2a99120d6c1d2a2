"""Protecting methods: a table and a request in, a release out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray
from hushtable.anonymizers.checks import warn_of_doubts
from hushtable.anonymizers.finishing import release_of
from hushtable.anonymizers.fitting import Learner
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.method import Found, Problem, check_asked
from hushtable.anonymizers.preparation import Prepared, prepare
from hushtable.anonymizers.request import Request
from hushtable.anonymizers.suppress import offending_rows
from hushtable.errors import InputError
from hushtable.models import MatchingNotion
from hushtable.recoding import by_content
from hushtable.release import Release
from hushtable.search import Budget, check_memory
from hushtable.tables import Partition, Table

__all__ = ["carry_out", "protect"]

_SAMPLE: Final = 2**14  # rows from which to guess how many are equal
_FEW_EQUAL: Final = 0.2  # share of rows that have an equal one
_COMPILER: Final = 3e8  # bytes; where it has fewer, LLVM ends the process


def protect(data: Any, asked: Request) -> Release:
    """Carry out a request.

    Parameters
    ----------
    data : path, dataframe or Table
    asked : Request

    Raises
    ------
    ColumnError, InputError, InfeasibleError
        As `hushtable.anonymize` says.
    """
    prepared = prepare(data, asked)
    warn_of_doubts(prepared.source, prepared.table, asked)
    return carry_out(prepared, asked)


def carry_out(prepared: Prepared, asked: Request) -> Release:
    """Carry out a request for a table that was prepared for one of the same columns."""
    check_memory(_COMPILER, "compiling the kernels", "end other programs, or use a machine with more memory.")
    prepared = prepared.for_request(asked)
    if asked.method.offers.parts_equal_records:
        prepared = prepared.one_by_one()
    table, people = prepared.table, prepared.people
    notion = next((model for model in asked.models if isinstance(model, MatchingNotion)), None)
    whole = Judge(table, asked.asked_of_classes, prepared.ladders, person=asked.person)
    most = int(asked.suppression_limit * table.n_records)
    suppressed = np.zeros(table.n_rows, dtype=bool)
    finds_failing = asked.method.offers.finds_failing and people is None
    if most and people is None and not finds_failing and not whole.passes_as_one_class():
        suppressed = offending_rows(table, asked.models, most, prepared.source)
    kept = table.take(np.flatnonzero(~suppressed)) if suppressed.any() else table
    n_gone = int(table.counts[suppressed].sum())
    left = most - n_gone if asked.method.offers.suppresses else 0
    if left == 0 and people is None and asked.method.offers.takes_equal_rows and _is_mostly_distinct(kept):
        judge, inverse = replace(whole, table=kept, reference=whole.whole), None
    else:
        judge, inverse = _judge(kept, people, whole, apart=asked.method.offers.parts_equal_records)
    # Columns by name and rows by content, so that ties and draws do not depend on how they were given.
    names = tuple(sorted(asked.quasi_identifiers))
    average = asked.limits.average_risk
    hides = asked.hides_person
    problem = Problem(names, judge, prepared.ladders, asked.loss, asked.clock, left, notion, n_gone, average, hides)
    check_asked(asked.method, problem)
    if notion is None and not (most and finds_failing):
        judge.check_feasible()
    found = asked.method.search(problem)
    asked.clock.tell(1.0)
    judge.check_classes(found.partition)

    def released(found: Found) -> Release:
        partition = found.partition
        if inverse is not None or n_gone:
            labels = _spread(partition.labels, inverse, suppressed)
            partition = Partition.from_labels(labels, partition.n_classes, table.counts)
        return replace(release_of(prepared, whole, asked, found, partition), learner=Learner(asked))

    release = replace(released(found), alternatives=tuple(released(other) for other in found.others))
    return release if found.spared is None else _with_floor(release, found.spared)


def _with_floor(release: Release, budget: Budget) -> Release:
    """Return a release with a floor under its loss, where one is known."""
    try:
        return release.with_bound(budget)
    except InputError:
        return release


def _judge(kept: Table, people: Table | None, whole: Judge, *, apart: bool) -> tuple[Judge, CodeArray]:
    """Return the judge of the rows that a search sees, and which of them each row that is kept became."""
    everyone = kept if people is None else kept.with_population(people)
    if apart:
        order = by_content(everyone)
        distinct, inverse = everyone.take(order), np.argsort(order).astype(np.int32)
    else:
        distinct, inverse = everyone.collapse()
    population = None
    if people is not None:
        counts = np.append(np.zeros_like(kept.counts), people.counts)
        # Sums of whole numbers below 2^53 are exact in bincount's floats.
        population = np.bincount(inverse, weights=counts, minlength=distinct.n_rows).astype(np.int64)
    judge = replace(whole, table=distinct, reference=whole.whole, population=population)
    return judge, inverse[: kept.n_rows]


def _is_mostly_distinct(table: Table) -> bool:
    """Guess from a sample of a large table that finding its equal rows takes longer than not knowing them."""
    if table.n_rows < 8 * _SAMPLE:
        return False
    sample = table.take(np.sort(np.random.default_rng(0).choice(table.n_rows, _SAMPLE, replace=False)))
    n_equal = _SAMPLE - sample.collapse()[0].n_rows
    # A row meets its like in the whole as often as in the sample, times how much larger that is.
    return n_equal / _SAMPLE * (table.n_rows / _SAMPLE) < _FEW_EQUAL


def _spread(labels: CodeArray, inverse: CodeArray | None, suppressed: BoolArray) -> CodeArray:
    """Return the class of every row of the source, -1 where it is suppressed."""
    if inverse is not None:
        labels = np.take(labels, inverse)
    if not suppressed.any():
        return labels
    spread = np.full(len(suppressed), -1, dtype=np.int32)
    spread[~suppressed] = labels
    return spread
