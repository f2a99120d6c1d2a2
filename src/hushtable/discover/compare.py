"""Compare column sets by the same scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from hushtable._types import FloatArray
from hushtable.columns import to_json_values
from hushtable.discover.objective import Objective, ObjectiveEvaluator, Term, encode_candidates
from hushtable.discover.scores import truth as truths
from hushtable.discover.scores.base import Direction, Score
from hushtable.errors import InputError, check_columns, names_in
from hushtable.io import frames, latex_of
from hushtable.search import Budget
from hushtable.tables import Partition, Table, open_table
from hushtable.wording import table_html

__all__ = ["DEFAULT_SCORES", "ComparedScore", "ComparedSet", "SetComparison", "compare_sets"]

DEFAULT_SCORES: Final = (
    Term("distinction"),
    Term("separation"),
    Term("group_entropy"),
    Term("k_anonymity"),
    Term("k_anonymity", aggregate="mean"),
)

_TRUTH_SCORES_OF_SETS: Final = ("precision", "recall", "f1", "f_beta", "jaccard")
_TRUTH_SCORES_OF_COLUMNS: Final = ("specificity", "false_positive_rate", "accuracy", "matthews_correlation")


@dataclass(frozen=True, slots=True)
class ComparedScore:
    """A score of a comparison: its label, unit and direction."""

    label: str
    unit: str  # empty where it is not known: for a function of a partition, and an objective
    direction: Direction | None  # what a higher number means, as in `hushtable.discover.scores.Score`


@dataclass(frozen=True, slots=True)
class ComparedSet:
    """One column set and its numbers."""

    name: str  # as it was given, or the columns, joined
    columns: tuple[str, ...]  # in the order of the data
    values: dict[str, float]  # A number for each score's label; NaN where it is not defined


@dataclass(frozen=True, slots=True)
class SetComparison:
    """Column sets with the same scores of each.

    Attributes
    ----------
    scores : tuple of ComparedScore
    rows : tuple of ComparedSet
        In the order given.
    truth : tuple of str or None
        What the sets were compared with.
    source : str
        The dataframe library that ``to_frame`` answers in.
    """

    scores: tuple[ComparedScore, ...]
    rows: tuple[ComparedSet, ...]
    truth: tuple[str, ...] | None
    source: str = "polars"

    def to_frame(self) -> Any:
        """Return a row for every set as a dataframe of the kind that went in (polars for a path or a Table)."""
        return frames.assemble(self._frame_columns(), self.source)

    def to_latex(self) -> str:
        """Return the rows of `to_frame` as a LaTeX table (booktabs)."""
        return latex_of(self._frame_columns())

    def _frame_columns(self) -> dict[str, list[Any]]:
        return {
            "column set": [row.name for row in self.rows],
            "its columns": [list(row.columns) for row in self.rows],
            **{score.label: [row.values[score.label] for row in self.rows] for score in self.scores},
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values; what is not a finite number is None."""
        return {
            "scores": [asdict(score) for score in self.scores],
            "sets": [
                {
                    "name": row.name,
                    "columns": list(row.columns),
                    "values": to_json_values(row.values, tells_infinity=False),
                }
                for row in self.rows
            ],
            "truth": None if self.truth is None else list(self.truth),
        }

    def _repr_html_(self) -> str:
        rows = ((row.name, *(f"{row.values[score.label]:.4g}" for score in self.scores)) for row in self.rows)
        return table_html([("column set", *(score.label for score in self.scores)), *rows])


def compare_sets(
    data: Any,
    sets: Mapping[str, Sequence[str]] | Sequence[Sequence[str]],
    *,
    scores: Objective | Sequence[str | Term] = DEFAULT_SCORES,
    truth: Iterable[str] | None = None,
) -> SetComparison:
    """Score candidate column sets, and compare them.

    Parameters
    ----------
    data : path, dataframe or Table
    sets : sequence of column sets, or mapping of a name to each
    scores : sequence of str or Term, or Objective
        Names of `hushtable.discover.scores`, or `Term` objects, whose weights do not matter. Of an
        `Objective` its terms, its divisor, and its value as ``"objective value"``. By default
        distinction, separation, entropy, the smallest class and the mean class size.
    truth : iterable of str, optional
        The column set that should have been found: each set is also scored against it by
        `hushtable.discover.scores.truth`, labels ``"truth.precision"`` and so on.

    Raises
    ------
    InputError
        There are no sets, scores or records, or a score lacks an option such as ``target``.
    ColumnError
        A column does not exist, or is named twice in one set.

    Notes
    -----
    The data are coded once, and the rows are grouped once for each set. ``causal_importance`` searches a
    graph for every set unless its term has one: ``Term("causal_importance", options={"graph": graph})``.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 52, 60], "sex": ["f", "m", "f", "m"], "job": list("abab")})
    >>> found = compare_sets(people, [["age"], ["age", "sex"]], scores=["distinction"], truth=["age", "job"])
    >>> for row in found.rows:
    ...     print(row.name, row.values["distinction"], row.values["truth.precision"])
    age 0.75 1.0
    age, sex 1.0 0.5
    """
    objective = scores if isinstance(scores, Objective) else Objective(_to_terms(scores))
    frame = open_table(data)
    available = tuple(frame.names)
    named_sets = _name_sets(sets, available)
    sought = None if truth is None else names_in(truth, "truth")
    compared_scores, numbers = _score_sets(frame, objective, available, [columns for _, columns in named_sets])
    if isinstance(scores, Objective):
        compared_scores.append(ComparedScore("objective value", "", "better"))
        numbers = np.column_stack([numbers, objective.combine_terms(numbers)])
    if sought is not None:
        judged = [_compare_with_truth(columns, sought, available) for _, columns in named_sets]
        compared_scores += [ComparedScore(label, score.unit, score.direction) for label, score in judged[0].items()]
        numbers = np.column_stack([numbers, [[score.value for score in each.values()] for each in judged]])
    rows = tuple(
        ComparedSet(name, columns, {score.label: value for score, value in zip(compared_scores, row, strict=True)})
        for (name, columns), row in zip(named_sets, numbers.tolist(), strict=True)
    )
    return SetComparison(tuple(compared_scores), rows, sought, frames.library_of(data))


def _to_terms(scores: Sequence[str | Term]) -> tuple[Term, ...]:
    if isinstance(scores, str):
        raise InputError("scores is one text.", hint=f"pass a list of scores: [{scores!r}].")
    return tuple(Term(score) if isinstance(score, str) else score for score in scores)


def _name_sets(
    sets: Mapping[str, Sequence[str]] | Sequence[Sequence[str]], available: Sequence[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """Return each set's name, and its columns in the order of the data."""
    if isinstance(sets, str):
        raise InputError("sets is one text.", hint=f"pass a list of column sets: [[{sets!r}]].")
    pairs: list[tuple[Any, Sequence[str]]] = (
        list(sets.items()) if isinstance(sets, Mapping) else [(None, each) for each in sets]
    )
    if not pairs:
        raise InputError("there are no column sets to compare.", hint="pass one at least.")
    named_sets = []
    for number, (name, columns_given) in enumerate(pairs, start=1):
        wanted = names_in(columns_given, f"set {number}" if name is None else f"set {name!r}")
        check_columns(wanted, available, f"set {number}")
        columns = tuple(each for each in available if each in wanted)
        named_sets.append(((", ".join(columns) or "no columns") if name is None else str(name), columns))
    return named_sets


def _score_sets(
    frame: frames.Frame | Table, objective: Objective, available: Sequence[str], sets: Sequence[Sequence[str]]
) -> tuple[list[ComparedScore], FloatArray]:
    """Return the compared scores, and their numbers, shape (n_sets, n_terms)."""
    union = {name for columns in sets for name in columns}
    # Even where the only set is the empty one, records are counted on some column.
    names = [name for name in available if name in union] or available[:1]
    table, candidates, n_columns = encode_candidates(frame, names, objective)
    masks = [sum(1 << candidates.index(name) for name in columns) for columns in sets]
    numbers = ObjectiveEvaluator(table, candidates, n_columns, objective, Budget()).compute_terms(masks)
    partition = Partition.from_table(table, sets[0])
    compared_scores = [
        _describe_score(label, term, table, sets[0], partition)
        for label, term in zip(objective.labels, objective.all_terms, strict=True)
    ]
    return compared_scores, numbers


def _describe_score(
    label: str, term: Term, table: Table, columns: Sequence[str], partition: Partition
) -> ComparedScore:
    if not isinstance(term.score, str):
        return ComparedScore(label, "", None)
    score = term.compute_score(table, columns, partition)
    return ComparedScore(label, score.unit if term.bounds is None else "scaled to [0, 1]", score.direction)


def _compare_with_truth(columns: Sequence[str], sought: Sequence[str], available: Sequence[str]) -> dict[str, Score]:
    of_two = {f"truth.{name}": getattr(truths, name)(columns, sought) for name in _TRUTH_SCORES_OF_SETS}
    return of_two | {
        f"truth.{name}": getattr(truths, name)(columns, sought, columns=available) for name in _TRUTH_SCORES_OF_COLUMNS
    }
