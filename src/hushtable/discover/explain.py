"""What each term and each column contributes to the best set of a search."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hushtable._types import BoolArray, FloatArray
from hushtable.columns import escape_html, to_json_values
from hushtable.discover.objective import ObjectiveEvaluator, encode_candidates, mask_of
from hushtable.errors import InputError
from hushtable.io import frames
from hushtable.search import Budget

if TYPE_CHECKING:
    from hushtable.discover.select import Selection

__all__ = ["ColumnShare", "Explanation", "TermShare", "explain"]

_RELATIVE_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class TermShare:
    """What one term contributes to the objective of the best set."""

    label: str
    score: float
    weight: float
    # Whether it is the divisor: the objective is the sum of the other terms' ``weighted``, over this one's
    divides: bool = False

    @property
    def weighted(self) -> float:
        """The score times its weight."""
        return self.score * self.weight


@dataclass(frozen=True, slots=True)
class ColumnShare:
    """What one candidate column contributes, or would."""

    name: str
    chosen: bool  # whether it is in the best set
    # Of the objective, when the column is removed from the best set, or added to it. None where that set was not
    # evaluated, and where it would be empty.
    change: float | None
    # The change of each term's score, before its weight; empty where ``change`` is None
    terms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What each term and each column contributes to the best set of a search.

    Attributes
    ----------
    best : tuple of str
    value : float
        Its objective.
    terms : tuple of TermShare
        In the order of the objective, the divisor last.
    columns : tuple of ColumnShare
        The candidates, in their order.
    """

    best: tuple[str, ...]
    value: float
    terms: tuple[TermShare, ...]
    columns: tuple[ColumnShare, ...]

    def lines(self) -> list[str]:
        """Return lines to read: the terms, the columns of the set, then the others, the weightiest first.

        Behind each column stand the objective's change and, in brackets, the terms that change.
        """
        ordered = sorted(self.columns, key=lambda each: (not each.chosen, _sort_key(each)))
        return [
            f"objective {self.value:.4g}",
            *(f"  {term.label}: {term.score:.4g} x {term.weight:g} = {term.weighted:.4g}" for term in self.terms),
            *(_format_column(column) for column in ordered),
        ]

    def to_frame(self, source: str = "polars") -> Any:
        """Return the columns as a dataframe: what the objective and each term change by; null where it is not known."""
        labels = [term.label for term in self.terms]
        return frames.assemble(
            {
                "column name": [column.name for column in self.columns],
                "in best set": [column.chosen for column in self.columns],
                "objective change": [column.change for column in self.columns],
                **{label: [column.terms.get(label) for column in self.columns] for label in labels},
            },
            source,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values; what is not a finite number is None."""
        terms = [{**asdict(term), "weighted": term.weighted} for term in self.terms]
        found: dict[str, Any] = to_json_values({**asdict(self), "terms": terms}, tells_infinity=False)
        return found

    def _repr_html_(self) -> str:
        return "<br>".join(escape_html(line) for line in self.lines())


def explain(selection: Selection, data: Any = None) -> Explanation:
    """Explain the best set of a search from its history and the data, where they are given; see `Selection.explain`."""
    objective, history = selection.objective, selection.history
    is_chosen = np.array([name in selection.best for name in history.columns])
    differs = history.sets != is_chosen
    n_differing = differs.sum(axis=1)
    best_terms = history.terms[int(np.flatnonzero(n_differing == 0)[0])]
    near = np.flatnonzero(n_differing == 1)
    terms = np.full((len(is_chosen), len(best_terms)), np.nan)
    terms[differs[near].argmax(axis=1)] = history.terms[near]
    if data is not None:
        _complete_terms(selection, data, is_chosen, terms)
    # A score may be infinite with and without a column: then its change is not a number.
    with np.errstate(invalid="ignore"):
        changes, moved = objective.combine_terms(terms) - selection.value, terms - best_terms
    columns = tuple(
        ColumnShare(name, bool(held), float(change), dict(zip(objective.labels, row.tolist(), strict=True)))
        if is_known
        else ColumnShare(name, bool(held), None)
        for name, held, is_known, change, row in zip(
            history.columns, is_chosen, ~np.isnan(terms).all(axis=1), changes, moved, strict=True
        )
    )
    shares = tuple(
        TermShare(label, float(score), term.weight, divides=term is objective.divisor)
        for label, score, term in zip(objective.labels, best_terms, objective.all_terms, strict=True)
    )
    return Explanation(selection.best, selection.value, shares, columns)


def _complete_terms(selection: Selection, data: Any, is_chosen: BoolArray, terms: FloatArray) -> None:
    """Compute the terms of the sets of one column more or less that are not known yet, but not of the empty set."""
    names, objective = selection.history.columns, selection.objective
    table, _, n_columns = encode_candidates(data, names, objective)
    evaluator = ObjectiveEvaluator(table, names, n_columns, objective, Budget())
    mask = mask_of(is_chosen)
    value = float(objective.combine_terms(evaluator.compute_terms([mask]))[0])
    if not math.isclose(value, selection.value, rel_tol=_RELATIVE_ROUNDING, abs_tol=_RELATIVE_ROUNDING):
        raise InputError(
            f"the best set has an objective of {value:.6g} in these data, and had {selection.value:.6g} in the search.",
            hint="pass the data that select_columns was given.",
        )
    unknown = [j for j in range(len(names)) if np.isnan(terms[j]).all() and mask ^ 1 << j]
    if unknown:
        terms[unknown] = evaluator.compute_terms([mask ^ 1 << j for j in unknown])


def _sort_key(column: ColumnShare) -> float:
    """Return a sort key: the largest losses or gains come first, unknown changes last."""
    if column.change is None or math.isnan(column.change):
        return math.inf
    return column.change if column.chosen else -column.change


def _format_column(column: ColumnShare) -> str:
    start = f"{'without' if column.chosen else 'with'} {column.name}: "
    if column.change is None:
        return f"{start}not known"
    changed = {label: change for label, change in column.terms.items() if _round_change(change)}
    terms = ", ".join(f"{label} {_round_change(change):+.4g}" for label, change in changed.items())
    total = f"{_round_change(column.change):+.4g}" if _round_change(column.change) else "0"
    return f"{start}{total} ({terms})" if terms else f"{start}{total}"


def _round_change(change: float) -> float:
    """Round away what a different order of summing leaves of 0."""
    return round(change, 12)
