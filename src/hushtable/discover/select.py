"""Search for the column set with the highest objective."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import BoolArray, FloatArray, freeze_array
from hushtable.columns import escape_html
from hushtable.discover import optimizers
from hushtable.discover.explain import Explanation, explain
from hushtable.discover.objective import BudgetEnded, Objective, ObjectiveEvaluator, Term, encode_candidates
from hushtable.discover.optimizers import pareto_front
from hushtable.errors import BudgetExceeded, InputError, check_whole
from hushtable.io import frames
from hushtable.plots import charts
from hushtable.search import Budget, check_budget
from hushtable.tables import Partition

SelectionPicture = Literal["evolution", "terms", "pareto"]
_PICTURES: Final = ("evolution", "terms", "pareto")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A column set and what it scores."""

    columns: tuple[str, ...]  # in the order of the data
    value: float  # the objective
    terms: dict[str, float]  # the score of each term, before its weight


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Every column set that a search evaluated, in its order, each once."""

    columns: tuple[str, ...]  # the candidates
    sets: BoolArray = field(repr=False)  # (n_sets, n_columns)
    terms: FloatArray = field(repr=False)  # (n_sets, n_terms), in the order of ``Objective.all_terms``
    values: FloatArray = field(repr=False)  # (n_sets,)
    # (n_steps, 3), for each step or generation: the sets evaluated until then, the highest value that it kept, and the
    # mean of the values. Empty for a search without steps.
    steps: FloatArray = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.sets, self.terms, self.values, self.steps):
            freeze_array(array)

    def __len__(self) -> int:
        return len(self.values)

    def best_so_far(self) -> FloatArray:
        """Return the highest value after each set, shape (n_sets,); it never falls."""
        return np.asarray(np.maximum.accumulate(self.values))

    def to_frame(self, source: str = "polars") -> Any:
        """Return the sets as a dataframe: a column of booleans for each candidate, and ``objective value``."""
        sets = {name: self.sets[:, j].tolist() for j, name in enumerate(self.columns)}
        return frames.assemble({**sets, "objective value": self.values.tolist()}, source)


@dataclass(frozen=True, slots=True)
class Selection:
    """The best column set that a search found.

    Attributes
    ----------
    best : tuple of str
        Of sets of one value the smallest, and of those the first in the order of the data's columns.
    value : float
        Its objective.
    terms : dict of str to float
        The score of each term, before its weight.
    objective : Objective
    method : Optimizer
        With its options.
    history : History
    complete : bool
        False when a budget ended the search.
    optimal : bool
        Whether no column set of the candidates has a higher value: proven.
    bound : float or None
        A proven upper bound of the objective.
    front : tuple of Candidate
        What ``method="pareto"`` returns: no other set evaluated is at least as good in every term, and in the number of
        columns, and better in one. Empty for other methods.
    seconds : float
        Wall-clock time of the search, without reading and coding.
    seed : int
    warnings : tuple of str
        What to know before trusting the optimum, such as terms that say the same.
    """

    best: tuple[str, ...]
    value: float
    terms: dict[str, float]
    objective: Objective = field(repr=False)
    method: optimizers.Optimizer
    history: History = field(repr=False)
    complete: bool
    optimal: bool
    bound: float | None
    front: tuple[Candidate, ...] = field(repr=False)
    seconds: float = field(compare=False)
    seed: int
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the selection as plain values: the steps of the search, not each of its sets."""
        return {
            "best": list(self.best),
            "value": self.value,
            "terms": dict(self.terms),
            "objective": self.objective.to_dict(),
            "method": self.method.name,
            "evaluated": len(self.history),
            "steps": self.history.steps.tolist(),
            "complete": self.complete,
            "optimal": self.optimal,
            "bound": self.bound,
            "front": [asdict(candidate) | {"columns": list(candidate.columns)} for candidate in self.front],
            "seconds": self.seconds,
            "seed": self.seed,
            "warnings": list(self.warnings),
        }

    def explain(self, data: Any = None) -> Explanation:
        """Explain what each term and each column contributes to the best set.

        Parameters
        ----------
        data : path, dataframe or Table, optional
            The data of the search, to compute the sets of one column more or less that it did not evaluate. Without
            them those stay unknown; an exhaustive search evaluated them all.

        Returns
        -------
        Explanation
            Each term with its weight at the best set, and what the objective and each term change by when a column of
            the set is removed, or another candidate added.

        Raises
        ------
        InputError
            The best set does not have the same value in these data.

        Notes
        -----
        One column at a time: of two that say the same, each can go as long as the other stays. One evaluation each.

        Examples
        --------
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [31, 31, 52, 60], "sex": ["f", "m", "f", "m"], "alive": ["y"] * 4})
        >>> selection = select_columns(people, objective={"distinction": 1.0, "attribute_length_penalty": -0.1})
        >>> for line in selection.explain().lines():
        ...     print(line)
        objective 0.9444
          distinction: 1 x 1 = 1
          attribute_length_penalty: 0.5556 x -0.1 = -0.05556
        without age: -0.5 (distinction -0.5)
        without sex: -0.25 (distinction -0.25)
        with alive: -0.04444 (attribute_length_penalty +0.4444)
        """
        return explain(self, data)

    def plot(self, kind: SelectionPicture = "evolution", *, ax: Any = None) -> Any:
        """Draw how the search went, or what it had to choose from; return the matplotlib axes.

        Parameters
        ----------
        kind : {"evolution", "terms", "pareto"}
            The best value so far, with that of each step where the search has steps; the terms of the best set so far;
            or two terms of every set that was evaluated, and the sets that no other betters in both: the first term,
            and the first that differs from it.
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.

        Raises
        ------
        InputError
            Another kind, or no two terms that differ.
        """
        if kind not in _PICTURES:
            raise InputError(f"kind = {kind!r}.", hint=f"choose one of {', '.join(map(repr, _PICTURES))}.")
        if kind == "pareto":
            return self._plot_pareto(ax)
        history = self.history
        best, done = history.best_so_far(), history.steps[:, 0].astype(np.int64)
        # A stair is known by where it rises, and its end: thousands of points between say nothing more.
        rises = 1 + np.flatnonzero(np.append(True, best[1:] > best[:-1]))
        if kind == "terms":
            n_sets = np.union1d(rises, len(best))
            # The first set that reached the best value so far.
            best_terms = history.terms[rises[np.searchsorted(rises, n_sets, side="right") - 1] - 1]
            values = dict(zip(self.objective.labels, best_terms.T, strict=True))
            figures = ", ".join(f"{label} {number:.3g}" for label, number in list(self.terms.items())[:2])
            return charts.terms(n_sets, values, title=f"the best set has {figures}", ax=ax)
        n_sets = np.unique(np.concatenate([done, rises, [len(best)]]))
        title = f"the best value came with set {rises[-1]:,} of {len(best):,}"
        if not len(done):
            return charts.evolution(n_sets, best[n_sets - 1], label="objective", title=title, ax=ax)
        current, mean = np.full((2, len(n_sets)), np.nan)
        # Of steps that evaluated nothing new the last counts.
        at = np.searchsorted(n_sets, done)
        current[at], mean[at] = history.steps[:, 1], history.steps[:, 2]
        return charts.evolution(n_sets, best[n_sets - 1], current, mean, label="objective", title=title, ax=ax)

    def _plot_pareto(self, ax: Any) -> Any:
        terms, numbers = self.objective.terms, self.history.terms
        second = next((j for j in range(1, len(terms)) if not np.array_equal(numbers[:, j], numbers[:, 0])), None)
        if second is None:
            raise InputError(
                "no two terms of the objective differ, so there is no front to draw.", hint="give it a second term."
            )
        points = numbers[:, [0, second]]
        points = np.unique(points[np.isfinite(points).all(axis=1)], axis=0)
        front = pareto_front(points * np.sign([terms[0].weight, terms[second].weight]))
        labels = (terms[0].label, terms[second].label)
        aims = " and ".join(f"{'more' if terms[j].weight > 0 else 'less'} {terms[j].label}" for j in (0, second))
        title = f"{aims}: {len(front):,} of {len(points):,} {'is' if len(front) == 1 else 'are'} best"
        return charts.pareto(points, front, labels=labels, title=title, ax=ax)

    def _repr_html_(self) -> str:
        proof = "optimal" if self.optimal else "not proven"
        columns = escape_html(", ".join(self.best))
        notes = "".join(f"<br>{escape_html(text)}" for text in self.warnings)
        return f"<b>Selection</b> {columns}: {self.value:.4g} ({proof}, {len(self.history)} sets){notes}"


def select_columns(
    data: Any,
    *,
    objective: Objective | Mapping[str, float] | Callable[[Partition], float],
    columns: Sequence[str] | None = None,
    method: str | optimizers.Optimizer = "exhaustive",
    seed: int = 0,
    budget: Budget | None = None,
) -> Selection:
    """Search for the column set with the highest objective.

    Parameters
    ----------
    data : path, dataframe or Table
    objective : Objective, mapping of score to weight, or function of a Partition
        What to maximise: ``{"distinction": 1.0, "attribute_length_penalty": -0.5}``, an `Objective` of `Term` objects.
    columns : sequence of str, optional
        The candidates; all columns when not given. A set holds at least one.
    method : str or an optimizer
        "exhaustive" (up to 20 columns), "branch_and_bound" (objectives of monotone terms), "pareto" (every set, and
        the front of them), "greedy", "tabu", "annealing", "evolutionary"; or one of `hushtable.discover.optimizers`
        with its options.
    seed : int
        Of the searches that draw; the answer is the same on every run and number of cores.
    budget : Budget, optional
        Its nodes are column sets evaluated.

    Returns
    -------
    Selection
        The best of all sets evaluated, whatever the search ended on.

    Raises
    ------
    InputError
        The method does not fit the objective or the number of columns, or there are no candidates or no records.
    ColumnError
        A column does not exist.
    BudgetExceeded
        The budget ended before one set was evaluated.

    Notes
    -----
    Objectives made of class sizes (distinction, separation, k) take about a millisecond a set of 30,000 records, and an
    exhaustive search far less. An optimum is as good as its objective: what tells records apart best is often a
    measurement, not something that anyone knows of a person; see `find_quasi_identifiers` for that.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 52, 60], "sex": ["f", "m", "f", "m"], "alive": ["y"] * 4})
    >>> selection = select_columns(people, objective={"distinction": 1.0, "attribute_length_penalty": -0.1})
    >>> selection.best, selection.optimal
    (('age', 'sex'), True)
    """
    check_budget(budget)
    check_whole("seed", seed, 0)
    goal = Objective.from_weights(objective)
    search = optimizers.choose_optimizer(method)
    table, names, n_columns = encode_candidates(data, columns, goal)
    started = time.perf_counter()
    evaluator = ObjectiveEvaluator(table, names, n_columns, goal, budget or Budget())
    bound, complete = None, True
    try:
        bound = search.search(evaluator, np.random.default_rng(seed))
    except BudgetEnded:
        complete = False
    if not evaluator.n_evaluated:
        raise BudgetExceeded("the budget ended before one column set was evaluated.", hint="give it more seconds.")
    seconds = time.perf_counter() - started
    sets, terms, values = evaluator.collect_evaluations()
    best = _find_best(sets, values)
    optimal = bound is not None and bool(bound <= values[best])
    front = _find_front(goal, sets, terms, values) if isinstance(search, optimizers.Pareto) else []
    candidates = [_build_candidate(names, goal, sets[i], values[i], terms[i]) for i in (best, *front)]
    return Selection(
        best=candidates[0].columns,
        value=candidates[0].value,
        terms=candidates[0].terms,
        objective=goal,
        method=search,
        history=History(names, sets, terms, values, evaluator.steps_as_array()),
        complete=complete and (bound is None or optimal),
        optimal=optimal,
        bound=bound,
        front=tuple(candidates[1:]),
        seconds=seconds,
        seed=seed,
        warnings=goal.warnings,
    )


def _find_best(sets: BoolArray, values: FloatArray) -> int:
    """Return the position of the highest value; ties go to fewer columns, then to those that come first."""
    tied = np.flatnonzero(values == values.max())
    sizes = sets[tied].sum(axis=1)
    tied = tied[sizes == sizes.min()]
    return int(tied[np.lexsort(~sets[tied].T[::-1])[0]])


def _find_front(objective: Objective, sets: BoolArray, terms: FloatArray, values: FloatArray) -> list[int]:
    """Return the positions of the sets that no other betters in every term and in size, the best first."""
    signs = np.sign([term.weight for term in objective.terms])
    points = np.column_stack([terms[:, : len(signs)] * signs, -sets.sum(axis=1)])
    return sorted(pareto_front(points), key=lambda i: (-values[i], i))


def _build_candidate(
    names: tuple[str, ...], objective: Objective, chosen: BoolArray, value: float, terms: FloatArray
) -> Candidate:
    labels: Sequence[Term] = objective.terms
    scored = {term.label: float(number) for term, number in zip(labels, terms, strict=False)}
    return Candidate(tuple(name for name, held in zip(names, chosen, strict=True) if held), float(value), scored)
