"""What a search over column sets maximises: weighted scores, and their values of column sets, each set once."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.discover import scores
from hushtable.discover.scores.catalogue import TRENDS
from hushtable.errors import InputError, check_columns, quote_names
from hushtable.kernels import subsets
from hushtable.search import Budget, check_memory, n_threads
from hushtable.tables import Partition, Table, encode_table, open_table

__all__ = ["BudgetEnded", "ClassFigures", "Objective", "ObjectiveEvaluator", "Term", "encode_candidates", "mask_of"]


Aggregate = Literal["value", "mean", "weighted_mean"]


@dataclass(frozen=True, slots=True, eq=False)
class ClassFigures:
    """Three whole numbers about each of many column sets, which the commonest scores are made of."""

    n_classes: CountArray = field(repr=False)  # (n_sets,), like the others
    n_pairs: CountArray = field(repr=False)  # pairs of records that share a class
    smallest: CountArray = field(repr=False)  # records of the smallest class
    n_chosen: CountArray = field(repr=False)  # columns of each set
    n_records: int  # of the table
    n_columns: int


def _separation(f: ClassFigures) -> FloatArray:
    return 1 - f.n_pairs / max(f.n_records * (f.n_records - 1) // 2, 1)


def _length_penalty(f: ClassFigures) -> FloatArray:
    share = f.n_chosen / f.n_columns
    return np.asarray((1 - share) ** 2 + share**2)


_FORMULA_BY_SCORE: Final[Mapping[tuple[str, str], Callable[[ClassFigures], FloatArray]]] = {
    ("distinction", "value"): lambda f: f.n_classes / f.n_records,
    ("distinction", "weighted_mean"): lambda f: f.n_classes / f.n_records,
    ("separation", "value"): _separation,
    ("separation", "weighted_mean"): _separation,
    ("k_anonymity", "value"): lambda f: f.smallest.astype(np.float64),
    ("k_anonymity", "mean"): lambda f: f.n_records / f.n_classes,
    ("k_anonymity", "weighted_mean"): lambda f: (2 * f.n_pairs + f.n_records) / f.n_records,
    ("attribute_length_penalty", "value"): lambda f: (
        (1 - f.n_chosen / f.n_columns) ** 2 + (f.n_chosen / f.n_columns) ** 2
    ),
}


@dataclass(frozen=True, slots=True)
class Term:
    """One score of an objective.

    Parameters
    ----------
    score : str or callable
        The name of a function of `hushtable.discover.scores`, or any function of a `Partition` that returns a number.
    weight : float
        Above 0 for more, below 0 for less.
    aggregate : {"value", "mean", "weighted_mean"}
        Which number of the score: ``Term("k_anonymity", aggregate="mean")`` is the mean class size.
    bounds : tuple of two floats, optional
        Maps the score from [low, high] to [0, 1], and what lies outside to the nearer end, so that terms are on one
        scale. The score as it is when not given.
    options : mapping
        More arguments of the score: ``{"target": "income"}``.

    Raises
    ------
    InputError
        The score is unknown, the weight is 0 or not finite, or the bounds are not in order.

    Examples
    --------
    >>> Term("k_anonymity", -0.4, aggregate="mean").label
    'k_anonymity (mean)'
    >>> Term("accuracy", 1.0, options={"target": "income"}).label
    'accuracy (target=income)'
    """

    score: str | Callable[[Partition], float]
    weight: float = 1.0
    aggregate: Aggregate = "value"
    bounds: tuple[float, float] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.score, str) and self.score not in TRENDS:
            raise InputError(
                f"unknown score {self.score!r}.", hint=f"the scores are {quote_names(sorted(TRENDS), limit=30)}."
            )
        if not (np.isfinite(self.weight) and self.weight != 0):
            raise InputError(f"weight = {self.weight!r}.", hint="a weight is a number other than 0.")
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise InputError(f"bounds = {self.bounds!r}.", hint="give the lowest and the highest value, in this order.")
        if self.aggregate not in ("value", "mean", "weighted_mean"):
            raise InputError(f"aggregate = {self.aggregate!r}.", hint="choose one of 'value', 'mean', 'weighted_mean'.")

    @property
    def label(self) -> str:
        """The score's name, with what sets it apart from other terms of the same score."""
        name = self.score if isinstance(self.score, str) else getattr(self.score, "__name__", "callable")
        details = [] if self.aggregate == "value" else [self.aggregate.replace("_", " ")]
        # The treated value is a cell of somebody's.
        details += [
            f"{key}={each}" for key, each in self.options.items() if key != "treated" and isinstance(each, (str, int))
        ]
        return f"{name} ({', '.join(details)})" if details else name

    @property
    def is_by_figures(self) -> bool:
        """Whether the sizes of the classes, or the number of columns, say it all."""
        return (self.score, self.aggregate) in _FORMULA_BY_SCORE and not self.options

    @property
    def is_by_length(self) -> bool:
        """Whether only the number of columns matters."""
        return self.score == "attribute_length_penalty"

    @property
    def trend(self) -> int:
        """What adding a column does: 1 never lowers the score, -1 never raises it, 0 is not known."""
        if not isinstance(self.score, str) or self.options.get("variant", "definition") != "definition":
            return 0
        if self.options.get("corrected") or (self.aggregate != "value" and not self.is_by_figures):
            return 0
        if self.options.get("kind") == "recursive":
            return 1
        return TRENDS[self.score]

    def from_figures(self, figures: ClassFigures) -> FloatArray:
        """Compute a term that needs no more than figures."""
        return self._scale_to_bounds(_FORMULA_BY_SCORE[str(self.score), self.aggregate](figures))

    def from_partition(self, table: Table, columns: Sequence[str], partition: Partition) -> float:
        """Compute any term of one column set."""
        if not isinstance(self.score, str):
            return float(self._scale_to_bounds(np.array(float(self.score(partition)))))
        score = self.compute_score(table, columns, partition)
        return float(self._scale_to_bounds(np.array(getattr(score, self.aggregate))))

    def compute_score(self, table: Table, columns: Sequence[str], partition: Partition) -> scores.Score:
        """Compute the whole score of one column set that the term is a number of; only of a score with a name."""
        measure = getattr(scores, str(self.score))
        self._check_options(inspect.signature(measure).parameters)
        found: scores.Score = measure(table, columns, partition=partition, **self.options)
        return found

    def _check_options(self, takes: Mapping[str, inspect.Parameter]) -> None:
        """Raise InputError where an option is missing, or unknown to the score."""
        own = {name: each for name, each in takes.items() if each.kind is each.KEYWORD_ONLY and name != "partition"}
        lacking = [name for name, each in own.items() if each.default is each.empty and name not in self.options]
        if lacking:
            raise InputError(
                f"the score {self.score!r} needs {quote_names(lacking)}.",
                hint=f'Term({self.score!r}, options={{"{lacking[0]}": ...}}).',
            )
        strangers = [name for name in self.options if name not in own]
        if strangers:
            raise InputError(
                f"the score {self.score!r} was given {quote_names(strangers)}.",
                hint=f"its options are {quote_names(list(own))}." if own else "it has no options.",
            )

    def _scale_to_bounds(self, values: FloatArray) -> FloatArray:
        if self.bounds is None:
            return values
        low, high = self.bounds
        return np.clip((values - low) / (high - low), 0.0, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the term as plain values."""
        return {"score": self.label, "weight": self.weight, "bounds": None if self.bounds is None else [*self.bounds]}


@dataclass(frozen=True, slots=True)
class Objective:
    """A weighted sum of scores, over a divisor if there is one; higher is better.

    Parameters
    ----------
    terms : tuple of Term
    divisor : Term, optional
        Its weight multiplies it. It has to stay above 0.

    Raises
    ------
    InputError
        There is no term, or a term occurs twice.

    Examples
    --------
    >>> objective = Objective((Term("distinction"), Term("gini", -0.5, options={"target": "income"})))
    >>> objective.warnings
    ()
    >>> len(Objective.paper().warnings)
    4
    """

    terms: tuple[Term, ...]
    divisor: Term | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))
        labels = [(term.label, term.bounds) for term in self.terms if isinstance(term.score, str)]
        if not self.terms or len(set(labels)) < len(labels):
            raise InputError(
                f"an objective of {len(self.terms)} terms, of which {len(labels) - len(set(labels))} occur again.",
                hint="give at least one term, each once.",
            )

    @classmethod
    def from_weights(cls, given: Objective | Mapping[str, float] | Callable[[Partition], float]) -> Objective:
        """Make an objective from weights by name, or from one function of a partition."""
        if isinstance(given, Objective):
            return given
        if isinstance(given, Mapping):
            return cls(tuple(Term(name, weight) for name, weight in given.items()))
        if callable(given):
            return cls((Term(given),))
        raise InputError(
            f"an objective of type {type(given).__name__}.",
            hint="pass an Objective, a mapping of score to weight, or a function of a Partition.",
        )

    @classmethod
    def paper(cls) -> Objective:
        """Return (5 D + 0.5 S - 0.4 K - A) / (5 A), as the source's program has it.

        Distinction D and separation S as rates, the mean class size K, the attribute length penalty A. Simões et al.,
        section 5.2, print it without the "- A" and with the gains of D and S over the previous best set. These gains
        depend on how a search got there and are not a property of a column set.
        """
        length = Term("attribute_length_penalty", -1.0)
        terms = (Term("distinction", 5.0), Term("separation", 0.5), Term("k_anonymity", -0.4, "mean"), length)
        return cls(terms, Term("attribute_length_penalty", 5.0))

    @property
    def all_terms(self) -> tuple[Term, ...]:
        """The terms, and the divisor last."""
        return self.terms if self.divisor is None else (*self.terms, self.divisor)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of `all_terms`, each another: the divisor may be a term as well, and is ``"divisor"``."""
        return tuple(term.label for term in self.terms) + (() if self.divisor is None else ("divisor",))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before trusting the optimum: terms that say the same, or outweigh the others."""
        terms = {(term.score, term.aggregate): term for term in self.terms}
        overlapping = [text for pair, text in _REDUNDANT_TERMS if all(term in terms for term in pair)]
        if any(term.score == "k_anonymity" and term.bounds is None for term in self.terms) and len(self.terms) > 1:
            overlapping.append(
                "k_anonymity counts records and outweighs terms in [0, 1] where classes are large: give bounds="
            )
        if any(term.is_by_length for term in self.all_terms):
            overlapping.append("attribute_length_penalty prefers half of the columns, whatever they hold")
        if self.divisor is not None:
            overlapping.append("where the sum of the terms is below 0, a larger divisor improves the objective")
        return tuple(overlapping)

    def combine_terms(self, numbers: FloatArray) -> FloatArray:
        """Return the objective of column sets from the numbers of `all_terms`, shape (n_sets, n_terms)."""
        weights = np.array([term.weight for term in self.terms])
        # Summed term by term, so that a set's value does not depend on which others are computed with it.
        sums = np.zeros(len(numbers))
        for j, weight in enumerate(weights):
            sums += weight * numbers[:, j]
        return sums if self.divisor is None else sums / (self.divisor.weight * numbers[:, -1])

    def to_dict(self) -> dict[str, Any]:
        """Return the objective as plain values."""
        return {
            "terms": [term.to_dict() for term in self.terms],
            "divisor": None if self.divisor is None else self.divisor.to_dict(),
        }


_REDUNDANT_TERMS: Final = (
    (
        (("distinction", "value"), ("k_anonymity", "mean")),
        "the mean class size is exactly 1 / distinction: the two terms say the same",
    ),
    (
        (("separation", "value"), ("k_anonymity", "weighted_mean")),
        "the mean class size over the records is a linear function of separation: the two terms say the same",
    ),
)


_MIN_BINS: Final = 4096
_PREFIX_COLUMNS: Final = 5


class BudgetEnded(Exception):  # noqa: N818 - it stops a search, and is no error
    """The budget is used up; what was evaluated before stays."""


def encode_candidates(
    data: Any, columns: Sequence[str] | None, objective: Objective
) -> tuple[Table, tuple[str, ...], int]:
    """Return the table of the candidates and of what the terms read, the candidates, and how many columns there are."""
    frame = open_table(data)
    available = frame.names
    names = tuple(available if columns is None else columns)
    check_columns(names, available, "columns")
    if not names:
        raise InputError("there are no candidate columns.", hint="name at least one.")
    read = available if any(not term.is_by_figures for term in objective.all_terms) else names
    table = encode_table(frame, read)
    if table.n_records == 0:
        raise InputError("there are no records to score column sets by.", hint="pass a table with rows.")
    return table, names, len(available)


class ObjectiveEvaluator:
    """Evaluates an objective on column sets: each set once, all in the order asked; a node of the budget is one set."""

    def __init__(
        self, table: Table, columns: Sequence[str], n_columns: int, objective: Objective, budget: Budget
    ) -> None:
        self.table, self.columns, self.objective = table, tuple(columns), objective
        self.n_candidates = len(self.columns)
        self.is_by_figures = all(term.is_by_figures for term in objective.all_terms)
        self.best_value = -np.inf
        self._n_columns = n_columns
        self._ends_at = None if budget.seconds is None else time.perf_counter() + budget.seconds
        self._limit = budget.nodes
        self._cache: dict[int, float] = {}
        self._terms: dict[int, FloatArray] = {}
        self._masks: list[Sequence[int] | CountArray] = []
        self._numbers: list[FloatArray] = []
        self._values: list[FloatArray] = []
        self._steps: list[tuple[int, float, float]] = []
        self.n_evaluated = 0
        self._sizes = _Sizes(table, self.columns)

    def value_of(self, mask: int) -> float:
        """Return the objective of one column set."""
        return self.values_of([mask])[0]

    def values_of(self, masks: Sequence[int]) -> list[float]:
        """Return the objective of column sets, in the order given; raise BudgetEnded where not all may be evaluated."""
        new = [mask for mask in dict.fromkeys(masks) if mask not in self._cache]
        allowed = new[: self._remaining_sets()]
        if allowed:
            numbers = self.compute_terms(allowed)
            self._cache.update(zip(allowed, self._record_values(allowed, numbers).tolist(), strict=True))
            self._terms.update(zip(allowed, numbers, strict=True))
        if len(allowed) < len(new):
            raise BudgetEnded
        return [self._cache[mask] for mask in masks]

    def terms_of(self, mask: int) -> FloatArray:
        """Return all terms of a column set, shape (n_terms,); mask 0, no column, is computed but not recorded."""
        if mask:
            self.value_of(mask)
        elif mask not in self._terms:
            self._terms[mask] = self.compute_terms([mask])[0]
        return self._terms[mask]

    def compute_terms(self, masks: Sequence[int]) -> FloatArray:
        """Compute all terms of column sets, shape (n_sets, n_terms), without looking them up or recording them."""
        if self.is_by_figures:
            return self._from_figures(self._sizes.measure_sets(masks), masks)
        return np.array(
            [self._terms_of_partition(mask, Partition.from_table(self.table, self._names_of(mask))) for mask in masks]
        )

    def length_term(self, term: Term, n_chosen: int) -> float:
        """Compute a term that depends on the number of columns alone."""
        none = np.zeros(1, dtype=np.int64)
        figures = ClassFigures(none, none, none, np.array([n_chosen]), self.table.n_records, self._n_columns)
        return float(term.from_figures(figures)[0])

    def evaluate_all(self) -> None:
        """Evaluate every column set but the empty one; raise BudgetEnded where not all may be evaluated."""
        n_sets = (1 << self.n_candidates) - 1
        if self._ends_at is None:
            check_memory(
                float(min(n_sets, self._remaining_sets()))
                * (64 + self.n_candidates + 16 * len(self.objective.all_terms)),
                f"the figures of the sets of {self.n_candidates} columns",
                "name fewer in columns=, choose another method, or give a budget.",
            )
        if self.is_by_figures and self._remaining_sets() >= n_sets and self._ends_at is None:
            masks = np.arange(1, n_sets + 1)
            self._record_values(masks, self._from_figures(self._sizes.measure_all_sets()[1:], masks))
        elif self.is_by_figures:
            for first in range(1, n_sets + 1, 256):
                self.values_of(range(first, min(first + 256, n_sets + 1)))
        else:
            self._walk_supersets(0, Partition.from_table(self.table, []), 0)

    def note_step(self, values: Sequence[float]) -> None:
        """Note that one step of a search is over, and the values of the sets it kept."""
        self._steps.append((self.n_evaluated, max(values), float(np.mean(values))))

    def collect_evaluations(self) -> tuple[BoolArray, FloatArray, FloatArray]:
        """Return the sets evaluated so far (n_sets, n_candidates), their terms (n_sets, n_terms) and values."""
        bits = [_unpack_masks(masks, self.n_candidates) for masks in self._masks]
        return np.concatenate(bits), np.concatenate(self._numbers), np.concatenate(self._values)

    def steps_as_array(self) -> FloatArray:
        """Return, per step of the search, the sets evaluated so far, the highest and the mean value; shape (n, 3)."""
        return np.array(self._steps, dtype=np.float64).reshape(-1, 3)

    def _walk_supersets(self, mask: int, partition: Partition, first: int) -> None:
        """Evaluate the supersets of a mask by later columns, refining its partition."""
        for j in range(first, self.n_candidates):
            if self._remaining_sets() < 1:
                raise BudgetEnded
            more = mask | 1 << j
            refined = partition.refine(self.table, self.columns[j])
            self._record_values([more], np.array([self._terms_of_partition(more, refined)]))
            self._walk_supersets(more, refined, j + 1)

    def _record_values(self, masks: Sequence[int] | CountArray, numbers: FloatArray) -> FloatArray:
        values = self.objective.combine_terms(numbers)
        if np.isnan(values).any():
            terms = zip(self.objective.all_terms, numbers.T, strict=True)
            names = [term.label for term, found in terms if not np.isfinite(found).all()]
            raise InputError(
                f"the objective is not a number for {np.isnan(values).sum()} column sets, because of "
                f"{quote_names(names)}.",
                hint="leave that term out, or give it bounds= where it may be infinite.",
            )
        self._masks.append(masks)
        self._numbers.append(numbers)
        self._values.append(values)
        self.n_evaluated += len(values)
        self.best_value = max(self.best_value, float(values.max()))
        return values

    def _remaining_sets(self) -> int:
        if self._ends_at is not None and time.perf_counter() > self._ends_at:
            return 0
        return 1 << 62 if self._limit is None else max(self._limit - self.n_evaluated, 0)

    def _names_of(self, mask: int) -> list[str]:
        return [name for j, name in enumerate(self.columns) if mask >> j & 1]

    def _from_figures(self, sizes: CountArray, masks: Iterable[int]) -> FloatArray:
        n_chosen = np.array([int(mask).bit_count() for mask in masks])
        figures = ClassFigures(sizes[:, 0], sizes[:, 1], sizes[:, 2], n_chosen, self.table.n_records, self._n_columns)
        return np.column_stack([term.from_figures(figures) for term in self.objective.all_terms])

    def _terms_of_partition(self, mask: int, partition: Partition) -> list[float]:
        sizes, names = partition.sizes, self._names_of(mask)
        figures = ClassFigures(
            np.array([len(sizes)]),
            np.array([(sizes * (sizes - 1) // 2).sum()]),
            np.array([sizes.min()]),
            np.array([len(names)]),
            self.table.n_records,
            self._n_columns,
        )
        return [
            float(term.from_figures(figures)[0])
            if term.is_by_figures
            else term.from_partition(self.table, names, partition)
            for term in self.objective.all_terms
        ]


class _Sizes:
    """Class sizes of column sets by kernel, on distinct rows, the widest column first."""

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        distinct, _ = table.select(columns).collapse()
        widths = np.array([column.n_values for column in distinct.columns], dtype=np.int64)
        self._order = np.argsort(-widths, kind="stable")
        self._widths = widths[self._order]
        self._codes = np.ascontiguousarray(distinct.codes[self._order])
        self._counts = distinct.counts
        self._own = self._allocate_levels()

    def measure_sets(self, masks: Sequence[int]) -> CountArray:
        """Return classes, equal pairs and the smallest class of column sets, shape (n_sets, 3)."""
        n_parts = n_threads()
        if len(masks) < 2 * n_parts:
            return self._measure_part(masks, self._own)
        parts = [masks[i::n_parts] for i in range(n_parts)]
        figures = np.empty((len(masks), subsets.N_FIGURES), dtype=np.int64)
        with ThreadPoolExecutor(n_parts) as pool:
            # Results are taken in the order of the parts, whichever is ready first.
            scratch = [self._allocate_levels() for _ in parts]
            for i, part in enumerate(pool.map(self._measure_part, parts, scratch)):
                figures[i::n_parts] = part
        return figures

    def measure_all_sets(self) -> CountArray:
        """Return the figures of every column set, entry mask; shape (2^n_columns, 3)."""
        n_columns = len(self._order)
        bits = np.int64(1) << self._order
        figures = np.empty((1 << n_columns, subsets.N_FIGURES), dtype=np.int64)
        n_fixed = min(_PREFIX_COLUMNS, n_columns)
        prefixes = [
            np.array([*(j for j in range(n_fixed) if pattern >> j & 1), n_fixed]) for pattern in range(1 << n_fixed)
        ]

        def walk_prefix(prefix: CountArray) -> None:
            subsets.walk_subsets(self._codes, self._counts, bits, prefix, self._allocate_levels(), figures)

        with ThreadPoolExecutor(n_threads()) as pool:
            list(pool.map(walk_prefix, prefixes))
        return figures

    def _measure_part(self, masks: Sequence[int], levels: subsets.Levels) -> CountArray:
        figures = np.empty((len(masks), subsets.N_FIGURES), dtype=np.int64)
        for i, mask in enumerate(masks):
            columns = np.array([place for place, j in enumerate(self._order.tolist()) if mask >> j & 1], dtype=np.int64)
            level = subsets.measure_columns(self._codes, self._widths, self._counts, columns, levels)
            figures[i] = levels.tally[level, -subsets.N_FIGURES :]
        return figures

    def _allocate_levels(self) -> subsets.Levels:
        n_levels, n_rows = len(self._order) + 1, len(self._counts)
        n_bins = max(int(self._widths.max(initial=0)) + 1, _MIN_BINS)
        return subsets.Levels(
            np.empty((n_levels, n_rows), np.int32),
            np.empty((n_levels, n_rows // 2 + 1), np.int32),
            np.zeros((n_levels, 7), np.int64),
            np.zeros((2, n_bins), np.int64),
            np.empty(n_bins, np.int32),
            np.empty(n_rows, np.int32),
        )


def mask_of(chosen: BoolArray) -> int:
    """Return a column set as a number: bit j says whether column j is chosen."""
    return sum(1 << j for j in np.flatnonzero(chosen).tolist())


def _unpack_masks(masks: Sequence[int] | CountArray, n_columns: int) -> BoolArray:
    if n_columns < 63:
        return np.asarray(np.array(masks, dtype=np.int64)[:, None] >> np.arange(n_columns) & 1, dtype=bool)
    return np.array([[mask >> j & 1 for j in range(n_columns)] for mask in masks], dtype=bool).reshape(-1, n_columns)
