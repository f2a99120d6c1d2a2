"""Local suppression: blank as few cells as possible, and leave all others as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.anonymizers.cell_candidates import infeasible_error
from hushtable.anonymizers.closing_classes import close_classes
from hushtable.anonymizers.column_combinations import (
    Whole,
    check_combinations,
    check_request,
    list_combinations,
    search_combinations,
)
from hushtable.anonymizers.kept_sets import KeptSets, OwnOptimum, find_own_optimum, publish_kept, rank_columns
from hushtable.anonymizers.method import Found, Offers, Problem
from hushtable.anonymizers.suppression_programme import KeptChoice, PricedRows, improve
from hushtable.errors import InputError, check_columns, quote_names
from hushtable.models import MatchingNotion, MatchK1
from hushtable.quality import CellLoss, check_weights


@dataclass(frozen=True, slots=True)
class LocalSuppression:
    """Blank single cells so that every record shares what it publishes, at the least loss that is found.

    A cell stays as it is, or becomes ``*``, which is a value like others. At least k records publish the same cells, as
    for every release, and the file alone shows it. ``release.trace.bound`` is the lower bound: what the same blanks
    cost at least.

    Parameters
    ----------
    weights : mapping of column to float
        What a blank of a column costs the search, 0 or more, 1 where none is given; those of the loss when not given.
    importance : sequence of str
        Columns, the one to keep longest first: decides among sets of blanks of the same cost. Columns that are not
        named come last, of these the ones with fewer values first.
    per_combination : int or sequence of sequences of str, optional
        Column sets on each of which the records shall be k-anonymous, instead of on all columns together; a number:
        all sets of so many. Fewer cells are blanked, and the release claims less: who knows the columns of more than
        one set of a person may find the record.

    Notes
    -----
    The floor: each record blanks the cheapest columns so that at least k records of the input agree with it on the
    others. All column sets are walked, one group by each, the cheapest first. That is (k,1)-anonymity by suppression
    alone (Gionis, Mazza, Tassa, "k-anonymization revisited", ICDE 2008), and a release of its own:
    ``models=[ht.MatchK1(k)]``. The records of a class agree on what they keep, so no release goes below it.

    The classes: the same walk, in which whatever is a class that passes the models is closed. Minimal k-anonymity by
    suppression is NP-hard from k = 3 on (Meyerson, Williams, "On the complexity of optimal k-anonymity", PODS 2004),
    but real tables are tame. Where k-anonymity is all that is asked, prices of records raise the floor, and integer
    programmes choose anew for a few hundred or thousand kinds of records at a time, often with a proof that nothing is
    better: `hushtable.check_certificate`. A budget's nodes are column sets of the walk and, after these, programmes;
    without a budget there are at most 1,200. Importance decides in the walk, not in the programmes.

    Missing cells are a value of their own, and hierarchies are not used.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [21, 25, 30, 21], "sex": ["f", "m", "m", "f"]})
    >>> release = ht.anonymize(people, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)],
    ...                        method="suppress", loss="minimal_distortion")
    >>> release.frame.rows()
    [('21', 'f'), ('*', 'm'), ('*', 'm'), ('21', 'f')]
    >>> release.loss, release.trace.bound
    (2.0, 2.0)
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    importance: Sequence[str] = ()
    per_combination: int | Sequence[Sequence[str]] | None = None

    name: ClassVar[str] = "suppress"
    offers = Offers(
        losses=("ncp", "minimal_distortion", "certainty"),
        parts_equal_records=True,
        finds_matchings=True,
        keeps_apart=False,
    )

    def __post_init__(self) -> None:
        check_weights(self.weights)
        names = (self.importance,) if isinstance(self.importance, str) else tuple(self.importance)
        if len(set(names)) < len(names):
            raise InputError(f"importance names a column twice: {quote_names(names)}.", hint="name each once.")
        object.__setattr__(self, "importance", names)
        object.__setattr__(self, "per_combination", check_combinations(self.per_combination))

    def list_combinations(self, columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return the sets of some columns that are judged one by one; none where all are judged together."""
        return list_combinations(self.per_combination, columns)

    def search(self, problem: Problem) -> Found:
        """Find what each record keeps."""
        _check_options(self, problem)
        table = problem.table.select(problem.columns)
        assert isinstance(problem.loss, CellLoss)
        loss_weights = np.array([problem.loss.weights.get(name, 1.0) for name in problem.columns])
        weights = np.array([self.weights.get(name, 1.0) for name in problem.columns]) if self.weights else loss_weights
        sets = KeptSets(table, weights, rank_columns(table, self.importance))
        k = problem.notion.k if problem.notion is not None else problem.judge.min_size
        distinct, inverse = table.collapse()
        types = KeptSets(distinct, weights, sets.ranks)
        own = find_own_optimum(types, k, problem.clock.is_over)
        priced = None
        if problem.notion is not None:
            _check_notion(problem.notion, table.n_records)
            kept, n_walked, complete = own.kept[inverse], own.n_sets, own.complete
        else:
            (kept, n_walked, complete), priced = _search_classes(problem, sets, types, inverse, own)
        if combinations := self.list_combinations(problem.columns):
            whole = Whole(kept, n_walked, complete)
            return search_combinations(repr(self), problem, sets, loss_weights, combinations, whole)
        if not np.array_equal(weights, loss_weights):
            # The floor is one of the loss, whatever the search makes small.
            own = find_own_optimum(types.with_weights(loss_weights), k, problem.clock.is_over)
        partition, recoding = publish_kept(table, kept)
        scale = problem.loss.factor(problem.columns, table.n_records)
        value = scale * float(sets.with_weights(loss_weights).costs(kept).sum())
        if problem.n_suppressed_before:
            # What the best release suppresses is not known.
            return Found(partition, recoding, problem.clock.build_trace(repr(self), n_walked, complete=complete))
        floor, evidence = scale * float(own.costs @ distinct.counts), None
        if np.array_equal(weights, loss_weights) and own.complete and problem.judge.is_by_size and not problem.notion:
            start, cost = KeptChoice.from_rows(inverse, kept), value / scale if scale else 0.0
            proven = priced or PricedRows(own.costs, start, cost, is_best=False)
            floor = scale * proven.bound(types)
            evidence = _build_evidence(types, inverse, kept, proven, scale)
        trace = problem.clock.build_trace(repr(self), n_walked, value=value, bound=floor, complete=complete)
        return Found(partition, recoding, trace, evidence=evidence)


def _check_options(method: LocalSuppression, problem: Problem) -> None:
    """Raise InputError if the options, or the hierarchies, do not fit the problem."""
    check_columns(tuple(method.weights), problem.columns, "weights of LocalSuppression")
    check_columns(tuple(method.importance), problem.columns, "importance of LocalSuppression")
    _refuse_unlisted_values(problem)
    if method.list_combinations(problem.columns):
        check_request(problem)


def _search_classes(
    problem: Problem, sets: KeptSets, types: KeptSets, row_of: CodeArray, own: OwnOptimum
) -> tuple[Whole, PricedRows | None]:
    """Close classes, and improve on them where their size is all that counts."""
    found = Whole(*close_classes(sets, problem.judge, problem.clock))
    if not (problem.judge.is_by_size and found.complete and own.complete):
        return found, None
    start = KeptChoice.from_rows(row_of, found.kept)
    priced = improve(types, problem.judge.min_size, own.costs, start, problem.clock, found.n_nodes)
    if priced is None:
        return found, None
    return Whole(priced.choice.expand(row_of), found.n_nodes + priced.n_parts, priced.complete), priced


def _build_evidence(
    types: KeptSets, row_of: CountArray | CodeArray, kept: BoolArray, proven: PricedRows, scale: float
) -> Mapping[str, object]:
    """Return the evidence for a certificate; distinct rows come in the order of their codes, as in the checker."""
    order = np.lexsort(tuple(types.table.codes[::-1]))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    choice = KeptChoice.from_rows(rank[row_of], kept)
    numbers = choice.kept @ (1 << np.arange(kept.shape[1]))
    return {
        "kind": "suppression",
        "columns": list(types.table.names),
        "n_records": len(row_of),
        "value": scale * float(types.costs(kept).sum()),
        "bound": scale * proven.bound(types),
        "prices": proven.prices[order].tolist(),
        # Of every distinct row, by what its records keep: the row, the columns as bits, and how many records.
        "kept": np.column_stack((choice.rows, numbers, choice.n_records)).tolist(),
    }


def _check_notion(notion: MatchingNotion, n_records: int) -> None:
    """Raise an error if a notion is another than (k,1), or more is asked than there are records."""
    if not isinstance(notion, MatchK1):
        raise InputError(
            f"LocalSuppression was given {notion.name}.",
            hint=f"it finds {MatchK1.name}, each record by itself; other notions take method='mingen'.",
        )
    if n_records < notion.k:
        raise infeasible_error([notion], n_records)


def _refuse_unlisted_values(problem: Problem) -> None:
    """Raise InputError if a hierarchy says of a value that it must not be published."""
    odd = [name for name in problem.columns if (ladder := problem.ladders.get(name)) and ladder.lowest is not None]
    if odd:
        raise InputError(
            f"the hierarchy of {quote_names(odd)} does not list all values, and LocalSuppression uses no hierarchy.",
            hint="leave the hierarchy out, or list all values.",
        )
