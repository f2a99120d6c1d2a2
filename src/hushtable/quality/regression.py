"""A regression on a release beside the same one on its original: coefficients, errors, and how far intervals overlap.

A published cell is not a number. Two readings are fitted:

- *Means*: a cell of numbers is the mean of what it stands for. A record is left out where a category is not told. The
  errors know nothing of the cells, and slopes are too flat where cells are wide.
- *Draws*: every cell is drawn many times from the values that it covers, given the record's other columns and the
  outcome (data augmentation: Tanner & Wong, "The calculation of posterior distributions by data augmentation", JASA
  82, 1987), and the fits are combined by the rules of Rubin, "Multiple imputation for nonresponse in surveys", 1987,
  chapter 3, with the degrees of freedom of Barnard & Rubin, Biometrika 86, 1999. Nothing of the original is used.

Draws of a number given the others follow a normal regression, those of a category a normal discriminant; both are
restricted to what the cell covers, and weighted by how frequent values are in the release as a whole. Where cells end
at values that their class holds, its records are drawn together so that they hold them (`quality.ends`): drawn one by
one they would vary too little, and slopes be too steep.
"""

from __future__ import annotations

import io
import keyword
import math
import tokenize
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.claims import Classes, Matchings
from hushtable.columns import escaped
from hushtable.errors import InfeasibleError, InputError, check_columns, check_whole, with_hint
from hushtable.io import Frame, frames, latex_of
from hushtable.quality.cell_values import Spread, Standing, middles, read_column, told
from hushtable.quality.ends import HIGH, LOW, HeldEnds, classes_of_rows

__all__ = ["Coefficient", "Regression", "RegressionModel", "fit_beside", "regress"]

_MOST_POINTS: Final = 64  # of a cell
_MOST_CATEGORIES: Final = 60
_SWEEPS_BEFORE: Final = 30  # over all columns, until draws forget where they began
_SWEEPS_BETWEEN: Final = 10  # from one draw to the next
_LEVEL: Final = 0.95
_TITLES: Final = ("name", "original", "original_error", "means", "means_error", "drawn", "drawn_error", "overlap")
_FUNCTIONS: Final = ("log", "log10", "log2", "log1p", "exp", "sqrt", "abs")
_OF_FORMULAS: Final = ("C", "I", "Q", "poly", "center", "scale", "bs", "cs", "cr", "contr", "treatment", "sum")


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of a regression, on the original and on what is published.

    Attributes
    ----------
    name : str
    original, original_error : float
        On the original, and its standard error.
    means, means_error : float or None
        With cells as their means; None where too few records tell their values.
    drawn, drawn_error : float or None
        The mean over draws, and Rubin's standard error; None of a category that nothing published tells of.
    degrees : float or None
        Degrees of freedom of the draws.
    overlap : float
        Of the 95 % intervals of original and draws: the mean of the shares that they have in common, 1 where they are
        the same, 0 where they do not meet (Karr et al., "A framework for evaluating the utility of data altered to
        protect confidentiality", The American Statistician 60, 2006).
    is_covered : bool
        Whether the interval of the draws covers the original coefficient.
    """

    name: str
    original: float
    original_error: float
    means: float | None
    means_error: float | None
    drawn: float | None
    drawn_error: float | None
    degrees: float | None
    overlap: float
    is_covered: bool


@dataclass(frozen=True, slots=True)
class Regression:
    """A regression on the original, and on what is published. It tells the original's coefficients: internal.

    Attributes
    ----------
    formula : str
    family : {"linear", "logistic"}
    weights : str or None
    n_original, n_means, n_drawn : int
        Records in each fit.
    n_draws : int
        That the model could be fitted on.
    coefficients : tuple of Coefficient
    """

    formula: str
    family: str
    weights: str | None
    n_original: int
    n_means: int
    n_drawn: int
    n_draws: int
    coefficients: tuple[Coefficient, ...] = field(repr=False)

    @property
    def overlap(self) -> float:
        """The mean overlap of intervals, without the intercept's."""
        told = [each.overlap for each in self.coefficients if each.name != "Intercept"]
        return math.fsum(told) / len(told) if told else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {**asdict(self), "overlap": self.overlap}

    def to_frame(self) -> Any:
        """Return a row for every coefficient, as a polars frame."""
        return frames.assemble({name: [getattr(each, name) for each in self.coefficients] for name in _TITLES})

    def to_latex(self) -> str:
        """Return the coefficients as a LaTeX table (booktabs); internal, as those of the original are."""
        return latex_of({name: [getattr(each, name) for each in self.coefficients] for name in _TITLES})

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escaped(title)}</th>" for title in ("coefficient", "original", "release", "overlap"))
        rows = [
            f"<tr><td>{escaped(each.name)}</td><td>{each.original:.4g} ({each.original_error:.2g})</td>"
            f"<td>{_told(each.drawn, each.drawn_error)}</td><td>{each.overlap:.2f}</td></tr>"
            for each in self.coefficients
        ]
        return f"<table><caption>{escaped(self.formula)}</caption><tr>{head}</tr>{''.join(rows)}</table>"


def _told(value: float | None, error: float | None) -> str:
    return "" if value is None else f"{value:.4g} ({error:.2g})"


class RegressionModel(NamedTuple):
    """A regression that is asked for: its formula, and a column of survey weights."""

    formula: str
    weights: str | None = None

    @classmethod
    def of(cls, formula: str | None, weights: str | None) -> RegressionModel | None:
        """Return what is asked for; weights alone are a slip."""
        if formula is None and weights is not None:
            raise InputError(with_hint("weights were given without a model.", "give both, or leave them out."))
        return None if formula is None else cls(formula, weights)


def regress(
    original: Frame,
    published: Frame,
    claim: Classes | Matchings,
    model: RegressionModel,
    *,
    pseudonyms: Collection[str] = (),
    recoding: str | None = None,
    seed: int = 0,
) -> Regression:
    """Fit a regression on an original and on its release, of which the model's columns and the classes are read.

    `recoding` is the release's style, which says whether cells end at values that their class holds; None where it is
    not known, or where records were given the cells of an earlier release.

    Raises
    ------
    ColumnError, InputError
        As `fit_beside`; or what the cells of a column stand for cannot be told.
    """
    original = told(original, claim)
    formula, weights = model
    names = [*_columns_of(formula, published.columns), *([] if weights is None else [weights])]
    check_columns(tuple(names), published.columns, "columns of the model")
    read = {name: read_column(original, published, claim, name, pseudonyms) for name in dict.fromkeys(names)}
    return fit_beside(read, formula, weights, ends=_held_ends(read, published, claim, recoding), seed=seed)


def _held_ends(
    read: Mapping[str, Standing], published: Frame, claim: Classes | Matchings, recoding: str | None
) -> dict[str, HeldEnds]:
    """Return the ends that classes hold, of the columns that the recoding wrote anew."""
    classes = classes_of_rows(published, claim, recoding)
    if classes is None:
        return {}
    rewritten = set(claim.columns) - set(claim.hierarchies)
    found = {
        name: HeldEnds.of(each, points_of(each.published), classes, is_readable=recoding == "readable")
        for name, each in read.items()
        if name in rewritten
    }
    return {name: each for name, each in found.items() if each is not None}


def fit_beside(
    read: Mapping[str, Standing],
    formula: str,
    weights: str | None = None,
    *,
    ends: Mapping[str, HeldEnds] = MappingProxyType({}),
    draws: int = 20,
    seed: int = 0,
) -> Regression:
    """Fit a regression on the original and on what is published.

    Parameters
    ----------
    read : mapping of column to Standing
        The columns, original and published.
    formula : str
        ``outcome ~ terms`` in the language of formulas (Wilkinson & Rogers 1973): columns, `log`, `exp`, `sqrt`,
        ``C(column)``, ``a:b``, ``a*b``, ``I(a**2)``. An outcome with two values is fitted by logistic regression,
        else by least squares. Dates count days.
    weights : str, optional
        A column of survey weights: weighted fits, with errors that are robust to unequal variances (HC1).
    ends : mapping of column to HeldEnds
        Of columns whose cells end at values that their class holds.
    draws : int
        Of every cell, 2 or more.
    seed : int

    Raises
    ------
    ColumnError
        A column is not in the table.
    InputError
        The formula cannot be read, the model cannot be fitted on the original, or statsmodels is not installed.
    InfeasibleError
        The model cannot be fitted on what is published.
    """
    check_whole("a regression was given draws", draws, 2)
    try:
        import formulaic
        import pandas as pd
        import statsmodels.api as sm
    except ModuleNotFoundError:
        msg = with_hint("a regression needs statsmodels and formulaic.", "pip install 'hushtable[regression]'.")
        raise InputError(msg) from None
    names = _columns_of(formula, tuple(read))
    if weights is not None:
        check_columns((weights,), tuple(read), "weights")
    used = {name: read[name] for name in dict.fromkeys((*names, *([weights] if weights else [])))}
    outcome = _plain_outcome(formula, used)
    variables = {name: _ModelColumn.of(each, ends.get(name), is_flag=name == outcome) for name, each in used.items()}
    fitter = _Fitter(formulaic, pd, sm, formula, weights, variables)
    ours = fitter.fit_original({name: each.original_cells() for name, each in variables.items()})
    means = fitter.fit({name: each.mean_cells() for name, each in variables.items()})
    rng = np.random.default_rng(seed)
    fits = [fitter.fit(each) for each in _drawn(variables, fitter, draws, rng)]
    combined = [each for each in fits if each is not None]
    if 2 * len(combined) <= draws:
        msg = with_hint(
            "the model cannot be fitted on what is published: it does not tell a category of a column from others.",
            "leave out terms of columns that publish little but `*`.",
        )
        raise InfeasibleError(msg)
    return Regression(
        formula,
        fitter.family,
        weights,
        ours.n,
        0 if means is None else means.n,
        combined[0].n,
        len(combined),
        tuple(_coefficient(j, name, ours, means, combined) for j, name in enumerate(ours.names)),
    )


def _columns_of(formula: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that a formula names; nothing but columns and a few functions may stand in one.

    A formula is a program: it is not run before every name in it is known.
    """
    if not isinstance(formula, str) or formula.count("~") != 1:
        raise InputError(with_hint("a model is written as outcome ~ terms.", 'for instance "log(income) ~ age + sex".'))
    found: list[str] = []
    try:
        tokens = [*tokenize.generate_tokens(io.StringIO(formula.replace("~", "+")).readline)]
    except (tokenize.TokenError, SyntaxError):
        raise InputError(with_hint("the model's formula cannot be read.", "close brackets and quotes.")) from None
    for place, token in enumerate(tokens):
        if token.type == tokenize.STRING:
            name = token.string.strip("'\"")
            is_quoted = [each.string for each in tokens[max(0, place - 2) : place]] == ["Q", "("]
            if is_quoted:
                found.append(name)
        elif token.type == tokenize.NAME:
            is_function = place + 1 < len(tokens) and tokens[place + 1].string == "("
            if is_function and token.string in (*_FUNCTIONS, *_OF_FORMULAS):
                continue
            if keyword.iskeyword(token.string) or token.string.startswith("__"):
                raise InputError(with_hint(f"a model cannot hold {token.string!r}.", "name columns and functions."))
            found.append(token.string)
        elif token.type == tokenize.OP and token.string in (".", "[", "{", "@", ";", ":=", "=", "\\"):
            msg = with_hint(f"a model cannot hold {token.string!r}.", 'write terms such as "age + sex + I(age**2)".')
            raise InputError(msg)
        elif token.type == tokenize.ERRORTOKEN and token.string.strip():
            raise InputError(with_hint(f"a model cannot hold {token.string!r}.", "quote odd names: Q('my column')."))
    check_columns(tuple(dict.fromkeys(found)), known, "columns of the model")
    return tuple(dict.fromkeys(found))


def _plain_outcome(formula: str, used: Mapping[str, Standing]) -> str | None:
    """Return the outcome where it is a category as it stands: it must have two values."""
    left = formula.partition("~")[0].strip()
    if left.startswith("Q("):
        left = left[2:-1].strip().strip("'\"")
    if left not in used or used[left].column.is_measured:
        return None
    if used[left].column.n_values != 2:
        msg = with_hint(
            f"the outcome {left!r} has {used[left].column.n_values} values.",
            "a number, or a category of two values, which a logistic regression tells apart.",
        )
        raise InputError(msg)
    return left


@dataclass(frozen=True, slots=True, eq=False)
class _ModelColumn:
    """A column of a model: what its cells stand for, as points with weights.

    Attributes
    ----------
    is_number : bool
    texts : tuple of str
        Of a category.
    cell_of_row : ndarray of int64, shape (n_rows,)
    points, base : tuple by cell of ndarray of float64
        What a cell may be; how much of all records is there. Nothing of a missing cell.
    original : ndarray of float64, shape (n_original,)
        NaN is missing.
    means : ndarray of float64, shape (n_cells,)
        NaN where a cell tells no mean.
    rows_of_cell : tuple by cell of ndarray of int64
    ends : HeldEnds or None
    """

    is_number: bool
    texts: tuple[str, ...]
    cell_of_row: CountArray = field(repr=False)
    points: tuple[FloatArray, ...] = field(repr=False)
    base: tuple[FloatArray, ...] = field(repr=False)
    original: FloatArray = field(repr=False)
    means: FloatArray = field(repr=False)
    rows_of_cell: tuple[CountArray, ...] = field(repr=False)
    ends: HeldEnds | None = field(repr=False)

    @classmethod
    def of(cls, standing: Standing, ends: HeldEnds | None, *, is_flag: bool) -> _ModelColumn:
        """Lay out a column; a category that is a flag is the number 0 or 1."""
        column, published = standing.column, standing.published
        is_number = column.is_measured or is_flag
        if not is_number and column.n_values > _MOST_CATEGORIES:
            msg = with_hint(
                f"column {column.name!r} has {column.n_values} categories.",
                f"a model takes columns of at most {_MOST_CATEGORIES} categories.",
            )
            raise InputError(msg)
        places = points_of(published)
        weights = _weights(places, published, ends)

        def numbers(of_places: FloatArray) -> FloatArray:
            if not column.is_measured or column.kind in ("date", "datetime", "time"):
                return of_places
            return np.array([standing.axis.number(place) for place in of_places.tolist()])

        original = middles(standing.original)[standing.original.rows]
        means = middles(published) if column.is_measured else np.full(published.n_cells, np.nan)
        if not column.is_measured:
            is_told = np.array([len(each) == 1 for each in places])
            means[is_told] = [float(each[0]) for each in places if len(each) == 1]
        order = np.argsort(published.rows, kind="stable").astype(np.int64)
        starts = np.cumsum(np.bincount(published.rows, minlength=published.n_cells))[:-1]
        return cls(
            is_number,
            tuple(column.texts()) if not is_number else (),
            np.asarray(published.rows, dtype=np.int64),
            tuple(map(numbers, places)),
            weights,
            numbers(original) if column.is_measured else original,
            numbers(means) if column.is_measured else means,
            tuple(np.split(order, starts)),
            ends,
        )

    @property
    def is_certain(self) -> bool:
        """Whether no cell leaves a choice."""
        return all(len(each) <= 1 for each in self.points)

    def original_cells(self) -> FloatArray:
        """Return the original's own cells."""
        return self.original

    def mean_cells(self) -> FloatArray:
        """Return the mean of every row's cell."""
        return self.means[self.cell_of_row]


def points_of(published: Spread) -> list[FloatArray]:
    """Return the places that each cell may be; every cell's together for one that tells nothing."""
    of_cells: list[list[FloatArray]] = [[] for _ in range(published.n_cells)]
    for cell, low, width in zip(published.cell.tolist(), published.low.tolist(), published.width.tolist(), strict=True):
        of_cells[cell].append(_grid(low, width, is_whole=published.is_whole))
    places = [np.unique(np.concatenate(each)) if each else np.empty(0) for each in of_cells]
    told = [each for each in places if len(each)]
    everything = np.unique(np.concatenate(told)) if told else np.empty(0)
    if len(everything) > _MOST_POINTS:
        everything = everything[np.linspace(0, len(everything) - 1, _MOST_POINTS).astype(int)]
    return [everything if not told_ else each for each, told_ in zip(places, published.is_told.tolist(), strict=True)]


def _grid(low: float, width: float, *, is_whole: bool) -> FloatArray:
    if is_whole:
        n = max(1, round(width))
        return np.asarray(low + (np.arange(n) if n <= _MOST_POINTS else np.linspace(0, n - 1, _MOST_POINTS).round()))
    if width <= 0:
        return np.array([low])
    return low + width * (np.arange(_MOST_POINTS) + 0.5) / _MOST_POINTS


def _weights(places: Sequence[FloatArray], published: Spread, ends: HeldEnds | None) -> tuple[FloatArray, ...]:
    """Return how frequent the points of each cell are in the release as a whole.

    The likeliest frequencies given the cells (Turnbull, JRSS B 38, 1976): of whole numbers and categories, whose points
    are the same in every cell. Points of others are equally frequent. Ends that a class holds are counted as held.
    """
    if not published.is_whole:
        return tuple(np.full(len(each), 1 / max(1, len(each))) for each in places)
    domain = np.unique(np.concatenate(places)) if len(places) else np.empty(0)
    at = [np.searchsorted(domain, each) for each in places]
    counts = np.bincount(published.rows, minlength=len(places)).astype(np.float64)
    share = np.full(len(domain), 1 / max(1, len(domain)))
    if ends is not None:
        counts -= ends.n_rows_of_cells(len(places))
    for _ in range(50):
        added = np.zeros(len(domain))
        if ends is not None:
            within = [share[each] / share[each].sum() if len(each) else share[each] for each in at]
            for each, expected in zip(at, ends.expected(places, within), strict=True):
                added[each] += expected
        for cell, each in enumerate(at):
            if len(each) and counts[cell]:
                added[each] += counts[cell] * share[each] / share[each].sum()
        # Nothing that a cell covers becomes impossible: half a record more has each value.
        share = (added + 0.5) / (added + 0.5).sum()
    return tuple(share[each] for each in at)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Coefficients and their standard errors; NaN of terms that are 0 everywhere."""

    names: tuple[str, ...]
    values: FloatArray
    errors: FloatArray
    n: int


class _Fitter:
    """Fits one model to columns of cells: the design is that of the original."""

    def __init__(
        self,
        formulaic: Any,
        pandas: Any,
        models: Any,
        formula: str,
        weights: str | None,
        variables: Mapping[str, _ModelColumn],
    ) -> None:
        self.formulaic, self.pandas, self.models = formulaic, pandas, models
        self.formula, self.weights, self.variables = formula, weights, variables
        self.family = "linear"
        self.spec: Any = None
        self.of_outcome = _columns_of(f"{formula.partition('~')[0]}~1", tuple(variables))
        self._outcome: tuple[list[FloatArray], FloatArray] = ([], np.empty(0))

    def frame(self, cells: Mapping[str, FloatArray]) -> Any:
        """Return cells as a dataframe: numbers, and categories with all their values."""
        columns = {}
        for name, variable in self.variables.items():
            numbers = cells[name]
            if variable.is_number:
                columns[name] = numbers
                continue
            codes = np.where(np.isnan(numbers), -1, numbers).astype(np.int64)
            codes = np.where(codes < len(variable.texts), codes, -1)
            columns[name] = self.pandas.Categorical.from_codes(codes, categories=list(variable.texts))
        return self.pandas.DataFrame(columns)

    def design(self, cells: Mapping[str, FloatArray]) -> tuple[Any, Any, Any]:
        """Return outcome, terms and weights of the rows without a missing cell."""
        frame = self.frame(cells)
        functions = {name: getattr(np, name) for name in _FUNCTIONS}
        with np.errstate(all="ignore"):
            if self.spec is None:
                made = self.formulaic.model_matrix(self.formula, frame, context=functions)
                self.spec = made.model_spec
            else:
                made = self.spec.get_model_matrix(frame, context=functions)
        outcome, terms = self.pandas.DataFrame(made.lhs), self.pandas.DataFrame(made.rhs)
        is_finite = np.isfinite(outcome.to_numpy()).all(axis=1) & np.isfinite(terms.to_numpy()).all(axis=1)
        weights = None
        if self.weights is not None:
            weights = frame[self.weights].loc[outcome.index].to_numpy(dtype=np.float64)
            is_finite &= np.isfinite(weights) & (weights > 0)
            weights = weights[is_finite]
        return outcome[is_finite], terms[is_finite], weights

    def fit_original(self, cells: Mapping[str, FloatArray]) -> _Fit:
        """Fit the original, and learn the design and the family."""
        try:
            outcome, terms, _ = self.design(cells)
        except Exception:
            # Whatever the library raises may quote cells.
            msg = with_hint("the model's formula cannot be read, or not for these columns.", "look at its terms.")
            raise InputError(msg) from None
        if outcome.shape[1] != 1:
            raise InputError(with_hint("the outcome of the model is no single number.", "name one column."))
        if len(terms) <= terms.shape[1] or np.linalg.matrix_rank(terms.to_numpy()) < terms.shape[1]:
            msg = with_hint(
                f"{len(terms)} records do not tell {terms.shape[1]} coefficients apart.",
                "leave out terms that others say already, or that nobody has.",
            )
            raise InputError(msg)
        self.family = "logistic" if set(np.unique(outcome.to_numpy()).tolist()) == {0.0, 1.0} else "linear"
        fitted = self.fit(cells)
        if fitted is None:
            msg = with_hint("the model cannot be fitted on the original.", "ask for fewer terms.")
            raise InputError(msg)
        return fitted

    def fit(self, cells: Mapping[str, FloatArray]) -> _Fit | None:
        """Fit some cells; None where that cannot be done."""
        try:
            outcome, terms, weights = self.design(cells)
            is_there = (terms.to_numpy() != 0).any(axis=0)
            names, terms = tuple(map(str, terms.columns)), terms.loc[:, is_there]
            if len(terms) <= terms.shape[1] or np.linalg.matrix_rank(terms.to_numpy()) < terms.shape[1]:
                return None
            robust = {} if weights is None else {"cov_type": "HC1"}
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                if self.family == "logistic":
                    family = self.models.families.Binomial()
                    model = self.models.GLM(outcome, terms, family=family, var_weights=weights)
                elif weights is None:
                    model = self.models.OLS(outcome, terms)
                else:
                    model = self.models.WLS(outcome, terms, weights=weights)
                fitted = model.fit(**robust)
        except Exception:
            # Separated outcomes and singular designs raise errors of many kinds.
            return None
        values, errors = np.asarray(fitted.params), np.asarray(fitted.bse)
        if not (np.isfinite(values).all() and np.isfinite(errors).all()):
            return None
        whole = np.full((2, len(names)), np.nan)
        whole[:, is_there] = values, errors
        return _Fit(names, whole[0], whole[1], len(terms))

    def outcome(self, cells: Mapping[str, FloatArray]) -> FloatArray:
        """Return the outcome of every row as the model has it, NaN where there is none; once, where it stays."""
        asked = [cells[name] for name in self.of_outcome]
        known, found = self._outcome
        if len(known) == len(asked) and all(ours is theirs for ours, theirs in zip(known, asked, strict=True)):
            return found
        outcome, _, _ = self.design(cells)
        found = np.full(len(next(iter(cells.values()))), np.nan)
        found[outcome.index.to_numpy()] = outcome.to_numpy()[:, 0]
        self._outcome = asked, found
        return found


def _drawn(
    variables: Mapping[str, _ModelColumn], fitter: _Fitter, n_draws: int, rng: np.random.Generator
) -> list[dict[str, FloatArray]]:
    """Draw all cells some times, one chain: each column in turn, given the others as drawn last."""
    open_ones = [name for name, variable in variables.items() if not variable.is_certain]
    drawn: list[dict[str, FloatArray]] = []
    cells = {name: _first(variable, rng) for name, variable in variables.items()}
    while len(drawn) < n_draws:
        for _ in range(_SWEEPS_BETWEEN if drawn else _SWEEPS_BEFORE):
            for name in open_ones:
                features = _features(variables, cells, name, fitter)
                cells[name] = _redrawn(variables[name], cells[name], features, rng)
        drawn.append(dict(cells))
    return drawn


def _first(variable: _ModelColumn, rng: np.random.Generator) -> FloatArray:
    """Draw every row's cell by how frequent values are."""
    found = np.full(len(variable.cell_of_row), np.nan)
    for points, base, rows in zip(variable.points, variable.base, variable.rows_of_cell, strict=True):
        if len(points) and len(rows):
            found[rows] = rng.choice(points, len(rows), p=base / base.sum())
    return found


def _features(
    variables: Mapping[str, _ModelColumn], cells: Mapping[str, FloatArray], name: str, fitter: _Fitter
) -> FloatArray:
    """Return what is known of each row besides a column: the outcome, numbers, and a flag for each category."""
    columns = [fitter.outcome(cells)]
    for other, variable in variables.items():
        if other == name:
            continue
        if variable.is_number:
            columns.append(cells[other])
        else:
            columns += [(cells[other] == code).astype(np.float64) for code in range(1, len(variable.texts))]
    found = np.column_stack(columns)
    spread = np.nanstd(found, axis=0)
    found = (found - np.nanmean(found, axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.nan_to_num(found[:, spread > 0]))


def _redrawn(variable: _ModelColumn, cells: FloatArray, features: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw a column anew, each row from what its cell covers, given its features."""
    known = ~np.isnan(cells)
    with_one = np.column_stack([np.ones(len(cells)), features])
    if variable.is_number:
        told = _normal(with_one, cells, known, rng)
    else:
        told = _discriminant(variable, features, cells, known, rng)
    found = cells.copy()
    first, last = np.zeros(len(cells)), np.zeros(len(cells))
    ends = np.full((len(cells), 2), np.nan)
    cells_ = zip(variable.points, variable.base, variable.rows_of_cell, strict=True)
    for cell, (points, base, rows) in enumerate(cells_):
        if len(points) < 2 or not len(rows):
            continue
        scores = np.log(base)[None, :] + told(rows, points)
        if variable.ends is not None:
            chances = np.exp(scores - scores.max(axis=1, keepdims=True))
            chances /= chances.sum(axis=1, keepdims=True)
            n_first, n_last = variable.ends.parts[cell]
            first[rows], last[rows] = chances[:, :n_first].sum(axis=1), chances[:, -n_last:].sum(axis=1)
            ends[rows, 0] = _picked(points[:n_first], scores[:, :n_first], rng)
            ends[rows, 1] = _picked(points[-n_last:], scores[:, -n_last:], rng)
            if len(points) > n_first + n_last:
                scores, points = scores[:, n_first:-n_last], points[n_first:-n_last]
        found[rows] = _picked(points, scores, rng)
    if variable.ends is None:
        return found
    held = variable.ends.drawn(first, last, rng)
    return np.where(held == LOW, ends[:, 0], np.where(held == HIGH, ends[:, 1], found))


def _picked(points: FloatArray, scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw a point for each row by the exponentials of its scores."""
    # The largest of scores with noise of Gumbel's is such a draw.
    return np.asarray(points[(scores + rng.gumbel(size=scores.shape)).argmax(axis=1)])


def _normal(features: FloatArray, cells: FloatArray, known: Any, rng: np.random.Generator) -> Any:
    """Return how much likelier points are for a row than for all, by a normal regression with drawn coefficients."""
    x, y = features[known], cells[known]
    gram = x.T @ x + 1e-6 * np.eye(x.shape[1])
    inverse = np.linalg.inv(gram)
    slopes = inverse @ (x.T @ y)
    left = y - x @ slopes
    degrees = max(1, len(y) - x.shape[1])
    variance = max(float(left @ left), 1e-12) / rng.chisquare(degrees)
    spread = np.linalg.cholesky(inverse * variance + 1e-15 * np.eye(len(slopes)))
    slopes = slopes + spread @ rng.normal(size=len(slopes))
    centre, whole = float(y.mean()), max(float(y.var()), variance)
    expected = features @ slopes

    def told(rows: CountArray, points: FloatArray) -> FloatArray:
        beside = (points[None, :] - expected[rows][:, None]) ** 2 / variance
        return np.asarray((points - centre)[None, :] ** 2 / whole - beside) / 2

    return told


def _discriminant(
    variable: _ModelColumn, features: FloatArray, cells: FloatArray, known: Any, rng: np.random.Generator
) -> Any:
    """Return how much likelier categories are for a row than for all, by normal features with drawn means."""
    codes = cells[known].astype(np.int64)
    n_codes = max(len(variable.texts), int(codes.max(initial=0)) + 1)
    x = features[known]
    counts = np.bincount(codes, minlength=n_codes)
    means = np.zeros((n_codes, x.shape[1]))
    for j in range(x.shape[1]):
        means[:, j] = np.bincount(codes, weights=x[:, j], minlength=n_codes) / np.maximum(1, counts)
    within = x - means[codes]
    covariance = within.T @ within / max(1, len(x) - n_codes) + 1e-3 * np.eye(x.shape[1])
    noise = rng.normal(size=means.shape) @ np.linalg.cholesky(covariance).T
    means = means + noise / np.sqrt(np.maximum(1, counts))[:, None]
    slopes = np.linalg.solve(covariance, means.T)
    offsets = -0.5 * (means * slopes.T).sum(axis=1)

    def told(rows: CountArray, points: FloatArray) -> FloatArray:
        at = points.astype(np.int64)
        return np.asarray(features[rows] @ slopes[:, at] + offsets[at])

    return told


def _coefficient(j: int, name: str, ours: _Fit, means: _Fit | None, fits: Sequence[_Fit]) -> Coefficient:
    """Combine the draws of a coefficient, and compare them with the original's."""
    from scipy.stats import norm, t

    values, errors = np.array([each.values[j] for each in fits]), np.array([each.errors[j] for each in fits])
    original, error_of_original = float(ours.values[j]), float(ours.errors[j])
    of_means = (None, None) if means is None or np.isnan(means.values[j]) else (means.values[j], means.errors[j])
    mean, error_of_mean = (None if each is None else float(each) for each in of_means)
    if np.isnan(values).any():
        return Coefficient(
            name, original, error_of_original, mean, error_of_mean, None, None, None, 0.0, is_covered=False
        )
    m = len(fits)
    within, between = float((errors**2).mean()), float(values.var(ddof=1))
    total = within + (1 + 1 / m) * between
    share = (1 + 1 / m) * between / total if total > 0 else 0.0
    complete = max(1, fits[0].n - len(ours.names))
    observed = (complete + 1) / (complete + 3) * complete * (1 - share)
    degrees = observed if share == 0 else 1 / (1 / ((m - 1) / share**2) + 1 / max(observed, 1e-9))
    drawn, error = float(values.mean()), math.sqrt(total)
    width = float(t.ppf((1 + _LEVEL) / 2, max(1.0, degrees))) * error
    half = float(norm.ppf((1 + _LEVEL) / 2)) * error_of_original
    common = max(0.0, min(original + half, drawn + width) - max(original - half, drawn - width))
    overlap = (common / (2 * half) + common / (2 * width)) / 2 if half and width else float(original == drawn)
    return Coefficient(
        name,
        original,
        error_of_original,
        mean,
        error_of_mean,
        drawn,
        error,
        float(degrees),
        overlap,
        abs(original - drawn) <= width,
    )
