"""Full-domain generalization: one level for every column, proven best."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hushtable._types import CodeArray
from hushtable.anonymizers.fulldomain.costs import objective_of
from hushtable.anonymizers.fulldomain.intervals import NodeSearch, Solved, Tags
from hushtable.anonymizers.fulldomain.nodes import PublishedLevels, Roller, Vector, levels_of
from hushtable.anonymizers.method import Found, Offers, Problem
from hushtable.errors import BudgetExceeded, InfeasibleError, check_whole, listed, with_hint
from hushtable.kernels import rollup
from hushtable.models import describe
from hushtable.recoding import Nodes, Recoding
from hushtable.search import Clock, Effort, Trace, say_if_first_run
from hushtable.tables import Partition

__all__ = ["FullDomain"]


@dataclass(frozen=True, slots=True)
class FullDomain:
    """One level of its hierarchy for every column, and the records suppressed whose class fails: the best such release.

    This is what ARX searches for. A search that ends by itself has proven that no other levels lose
    less (`Trace.optimal`); one whose budget ends says by how much at the most (`Trace.gap`).

    Parameters
    ----------
    alternatives : int
        So many other releases at the most that the search met: first those of the same loss, then for every column the
        best one in which it is generalized less. That there are no better ones of their kind is not proven.

    Notes
    -----
    Branch and bound over intervals of the lattice, see `hushtable.anonymizers.fulldomain.intervals`. What is inherited
    from a node to those below it is the closed part of the models, and sums of convex excesses, see
    `hushtable.anonymizers.fulldomain.intervals`. Where a population is counted, nothing is suppressed.
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
    >>> release.trace.optimal
    True
    """

    alternatives: int = 0

    name: ClassVar[str] = "full_domain"

    def __post_init__(self) -> None:
        check_whole("FullDomain was given alternatives", self.alternatives, 0)

    @property
    def offers(self) -> Offers:
        """ARX's losses, and the set-NCP."""
        losses = (
            *("ncp", "arx_loss", "non_uniform_entropy", "precision"),
            *("discernibility", "average_class_size"),
        )
        return Offers(losses, counts_population=True, suppresses=True, needs_ladders=True, finds_failing=True)

    def search(self, problem: Problem) -> Found:
        """Find the levels of least loss; a budget's nodes are roll-ups."""
        say_if_first_run(rollup.group_by_address, 5)
        columns = levels_of(problem.table, problem.columns, problem.ladders)
        judge = problem.judge
        most = 0 if judge.population is not None else problem.most_suppressed
        roller = Roller(judge, problem.columns, columns)
        tags = Tags.of(judge.models, judge.reference_stats(), most, by_person=judge.person is not None)
        objective = objective_of(
            problem.loss, problem.table, problem.columns, columns, roller.codes, most, judge.min_size
        )
        solved = NodeSearch(roller, tags, objective, problem.clock).run()
        if solved.node is None:
            raise _none_found(problem, solved, most)
        trace = _trace(repr(self), problem.clock, solved, columns)
        others = tuple(_found(problem, roller, tags, levels, trace) for levels in self._others(solved))
        found = _found(problem, roller, tags, solved.node, trace)
        is_proven = solved.is_complete and judge.population is None
        evidence = _evidence(problem, found, solved, columns, most) if is_proven else None
        return replace(found, others=others, evidence=evidence)

    def _others(self, solved: Solved) -> list[Vector]:
        """Choose other nodes that the search met: those of the same loss, and the best for every column."""
        best = solved.node
        assert best is not None
        ranked = sorted((value, levels) for levels, value in solved.feasible.items() if levels != best)
        chosen = [levels for value, levels in ranked if value <= solved.value * (1 + 1e-12)]
        for j, level in enumerate(best):
            finer = [levels for _, levels in ranked if levels[j] < level]
            chosen += finer[:1]
        return list(dict.fromkeys(chosen))[: self.alternatives]


def _found(problem: Problem, roller: Roller, tags: Tags, levels: Vector, trace: Trace) -> Found:
    """Return the release of a node: its classes that pass, and what they publish."""
    node, _ = roller.up(roller.base, levels)
    failing = tags.judge(roller.stats(node)).failing
    place = np.append(np.cumsum(~failing) - 1, -1).astype(np.int32)
    place[:-1][failing] = -1
    table = problem.table
    labels, _ = roller.group(np.arange(table.n_rows, dtype=np.int32), table.counts, levels)
    partition = Partition.from_labels(place[labels], int((~failing).sum()), table.counts)
    kept = node.rows[~failing]
    codes = roller.codes[kept] - 1
    cells = tuple(
        _cells(column, level, codes[:, j]) for j, (column, level) in enumerate(zip(roller.columns, levels, strict=True))
    )
    names = tuple(table.column(name) for name in problem.columns)
    return Found(partition, Recoding(names, cells, "full_domain"), trace)


def _cells(column: PublishedLevels, level: int, codes: CodeArray) -> Nodes:
    """Say what classes publish at a level, from a code of each; below the top the missing one (-1) publishes itself."""
    ladder = column.ladder
    is_missing = codes < 0
    if level == column.top:
        zeros = np.zeros(len(codes), dtype=np.int32)
        return Nodes(zeros + np.int32(column.top), zeros, is_missing, ladder)
    levels = np.append(column.level[level], np.int32(-1))[codes]
    none = np.full((ladder.n_levels, 1), -1, dtype=np.int32)
    return Nodes(levels, np.hstack([ladder.level_codes, none])[levels, codes], is_missing, ladder)


def _trace(method: str, clock: Clock, solved: Solved, columns: tuple[PublishedLevels, ...]) -> Trace:
    n_nodes = math.prod(column.top + 1 for column in columns)
    n_pruned = sum(leaf.reason != "node" for leaf in solved.leaves)
    effort = Effort(solved.n_rolled, n_pruned, 0, math.log10(n_nodes), None, tuple(clock.history))
    bound = solved.value if solved.is_complete else solved.bound
    return clock.trace(
        method, solved.n_rolled, value=solved.value, bound=bound, complete=solved.is_complete, effort=effort
    )


def _evidence(
    problem: Problem, found: Found, solved: Solved, columns: tuple[PublishedLevels, ...], most: int
) -> Mapping[str, Any]:
    """Return the entries of a certificate that the search knows."""
    return {
        "kind": "lattice",
        "columns": list(problem.columns),
        "n_levels": [column.top + 1 for column in columns],
        "n_records": problem.table.n_records,
        "most_suppressed": most,
        "levels": list(solved.node or ()),
        "n_suppressed": int(problem.table.counts[found.suppressed].sum()),
        "value": solved.value,
        "intervals": [list(leaf) for leaf in solved.leaves],
    }


def _none_found(problem: Problem, solved: Solved, most: int) -> BudgetExceeded | InfeasibleError:
    models = listed(describe(model) for model in problem.judge.models)
    if not solved.is_complete:
        msg = with_hint(
            f"the budget ended after {solved.n_rolled} nodes, of which none satisfies {models}.", "give it more."
        )
        return BudgetExceeded(msg)
    msg = with_hint(
        f"no levels satisfy {models} with at most {most} of {problem.table.n_records} records suppressed.",
        "ask for less, or allow more records to be suppressed.",
    )
    return InfeasibleError(msg)
