"""A regression on a release beside the same one on its original: coefficients, errors, and how far intervals overlap.

A published cell is not a number. Two readings are fitted:

- *Means*: a cell of numbers is the mean of what it stands for. A record is left out where a category is not told. The
  errors know nothing of the cells, and slopes are too flat where cells are wide.
- *Draws*: every cell is drawn many times from the values that it covers, given all else that the release tells
  (`quality.draws`), and the fits are combined by the rules of Rubin, "Multiple imputation for nonresponse in surveys",
  1987, chapter 3, with the degrees of freedom of Barnard & Rubin, Biometrika 86, 1999. Nothing of the original is used.
"""

from __future__ import annotations

import contextlib
import io
import keyword
import math
import tokenize
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.claims import ClaimOnColumns
from hushtable.columns import escape_html
from hushtable.errors import InfeasibleError, InputError, check_columns
from hushtable.io import Frame, frames, latex_of
from hushtable.quality.cell_values import Standing, read_column, with_claim_spelling
from hushtable.quality.ends import HeldEnds, classes_of_rows, group_rows

if TYPE_CHECKING:
    from hushtable.quality.draws import ModelColumn

_CONFIDENCE_LEVEL: Final = 0.95
_MAX_OPEN_SHARE: Final = 0.5  # of the records; of more, where a column ends is a guess that its slope stands on
_TITLES: Final = ("name", "original", "original_error", "means", "means_error", "drawn", "drawn_error", "overlap")
_N_DRAWS: Final = 20
_FUNCTIONS: Final = ("log", "log10", "log2", "log1p", "exp", "sqrt", "abs")
_FORMULA_WORDS: Final = ("C", "I", "Q", "poly", "center", "scale", "bs", "cs", "cr", "contr", "treatment", "sum")


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
        The mean over draws, and Rubin's standard error; None of a category that nothing published tells of, and of a
        column of numbers whose cells do not tell its scale.
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
        Draws that the model could be fitted on.
    coefficients : tuple of Coefficient
    open_rates : mapping of column to float
        Of numbers: the share of the records whose cell is `*`, or open as `<20` is; 1 where all cells name a single
        bound, which tells no scale.
    """

    formula: str
    family: str
    weights: str | None
    n_original: int
    n_means: int
    n_drawn: int
    n_draws: int
    coefficients: tuple[Coefficient, ...] = field(repr=False)
    open_rates: Mapping[str, float] = field(default_factory=dict, repr=False)

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The columns that end where few cells tell: intervals of their coefficients stand on a guess."""
        return tuple(name for name, rate in self.open_rates.items() if rate > _MAX_OPEN_SHARE)

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for every column whose intervals may be too narrow."""
        return tuple(
            f"{name}: {self.open_rates[name]:.0%} of the records have open cells, such as <20, or *. Where the column "
            "ends is a guess. Its interval may be too narrow."
            for name in self.doubtful
        )

    @property
    def overlap(self) -> float:
        """The mean overlap of intervals, without the intercept's."""
        overlaps = [each.overlap for each in self.coefficients if each.name != "Intercept"]
        return math.fsum(overlaps) / len(overlaps) if overlaps else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {**asdict(self), "overlap": self.overlap, "warnings": list(self.warnings)}

    def to_frame(self) -> Any:
        """Return a row for every coefficient, as a polars frame."""
        return frames.assemble({name: [getattr(each, name) for each in self.coefficients] for name in _TITLES})

    def to_latex(self) -> str:
        """Return the coefficients as a LaTeX table (booktabs); internal, as those of the original are."""
        return latex_of({name: [getattr(each, name) for each in self.coefficients] for name in _TITLES})

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape_html(title)}</th>" for title in ("coefficient", "original", "release", "overlap"))
        rows = [
            f"<tr><td>{escape_html(each.name)}</td><td>{each.original:.4g} ({each.original_error:.2g})</td>"
            f"<td>{_format_estimate(each.drawn, each.drawn_error)}</td><td>{each.overlap:.2f}</td></tr>"
            for each in self.coefficients
        ]
        warned = "".join(f"<p>{escape_html(each)}</p>" for each in self.warnings)
        return f"<table><caption>{escape_html(self.formula)}</caption><tr>{head}</tr>{''.join(rows)}</table>{warned}"


def _format_estimate(value: float | None, error: float | None) -> str:
    return "" if value is None else f"{value:.4g} ({error:.2g})"


class RegressionModel(NamedTuple):
    """A regression that is asked for: its formula, and a column of survey weights."""

    formula: str
    weights: str | None = None

    @classmethod
    def from_options(cls, formula: str | None, weights: str | None) -> RegressionModel | None:
        """Return what is asked for; weights alone are a slip."""
        if formula is None and weights is not None:
            raise InputError("weights were given without a model.", hint="give both, or leave them out.")
        return None if formula is None else cls(formula, weights)


def regress(
    original: Frame,
    released: Frame,
    claim: ClaimOnColumns,
    model: RegressionModel,
    *,
    pseudonyms: Collection[str] = (),
    recoding: str | None = None,
    seed: int = 0,
) -> Regression:
    """Fit a regression on an original and on its release, after reading the model's columns and the classes.

    `recoding` is the release's style, which says whether cells end at values that their class holds. It is None if it
    is not known, or if records were given the cells of an earlier release.
    """
    original = with_claim_spelling(original, claim)
    formula, weights = model
    names = [*_columns_of(formula, released.columns), *([] if weights is None else [weights])]
    check_columns(tuple(names), released.columns, "columns of the model")
    read = {name: read_column(original, released, claim, name, pseudonyms) for name in dict.fromkeys(names)}
    return fit_both(
        read,
        formula,
        weights,
        ends=_find_held_ends(read, released, claim, recoding),
        other_columns=_read_other_columns(original, released, claim, read, pseudonyms),
        classes=group_rows(released, claim),
        seed=seed,
    )


def _read_other_columns(
    original: Frame,
    released: Frame,
    claim: ClaimOnColumns,
    read: Mapping[str, Standing],
    pseudonyms: Collection[str],
) -> list[Standing]:
    """Return the other columns that were recoded, as far as their cells can be read: classes were cut in them too."""
    readable = []
    for name in claim.columns:
        if name in read or name not in released.columns:
            continue
        with contextlib.suppress(InputError):
            readable.append(read_column(original, released, claim, name, pseudonyms))
    return readable


def _find_held_ends(
    read: Mapping[str, Standing], released: Frame, claim: ClaimOnColumns, recoding: str | None
) -> dict[str, HeldEnds]:
    """Return the ends that classes hold, of the columns that the recoding wrote anew."""
    classes = classes_of_rows(released, claim, recoding)
    if classes is None:
        return {}
    from hushtable.quality.draws import points_of

    rewritten = set(claim.columns) - set(claim.hierarchies)
    ends = {
        name: HeldEnds.find(each, points_of(each), classes, is_readable=recoding == "readable")
        for name, each in read.items()
        if name in rewritten
    }
    return {name: each for name, each in ends.items() if each is not None}


def fit_both(
    read: Mapping[str, Standing],
    formula: str,
    weights: str | None,
    *,
    ends: Mapping[str, HeldEnds],
    other_columns: Sequence[Standing],
    classes: CountArray | None,
    seed: int,
) -> Regression:
    """Fit a regression on the original and on what is published.

    `formula` is ``outcome ~ terms`` (Wilkinson & Rogers 1973): columns, `log`, `exp`, `sqrt`, ``C(column)``, ``a:b``,
    ``a*b``, ``I(a**2)``. An outcome with two values is fitted by logistic regression, else by least squares; dates
    count days. `weights` is a column of survey weights, with errors robust to unequal variances (HC1). The draws
    know the cells of `other_columns` of the release. Rows of one of the `classes` were given their cells
    together. InfeasibleError: the model cannot be fitted on what is published.
    """
    libraries = _load_libraries()
    from hushtable.quality.draws import ModelColumn, draw_cells, features_of_cells
    from hushtable.quality.open_ends import open_rate

    names = _columns_of(formula, tuple(read))
    if weights is not None:
        check_columns((weights,), tuple(read), "weights")
    used = {name: read[name] for name in dict.fromkeys((*names, *([weights] if weights else [])))}
    outcome = _find_binary_outcome(formula, used)
    variables = {
        name: ModelColumn.from_standing(each, ends.get(name), is_flag=name == outcome) for name, each in used.items()
    }
    fitter = _Fitter(libraries, formula, weights, variables)
    baseline = fitter.fit_original({name: each.original for name, each in variables.items()})
    means = fitter.fit({name: each.mean_cells() for name, each in variables.items()})
    rng = np.random.default_rng(seed)
    other_features = np.column_stack([np.empty((fitter.n_published, 0)), *map(features_of_cells, other_columns)])
    classes = np.arange(fitter.n_published) if classes is None else classes
    drawn = draw_cells(variables, fitter.compute_outcome, other_features, classes, _N_DRAWS, rng)
    fits = [fitter.fit(each) for each in drawn]
    combined = [each for each in fits if each is not None]
    unscaled = fitter.terms_of([name for name, each in variables.items() if not each.has_scale])
    if 2 * len(combined) <= _N_DRAWS or len(unscaled) == len(baseline.names):
        raise InfeasibleError(
            "the model cannot be fitted on what is published. It does not distinguish a category of a column from "
            "others, or does not say how wide the cells of its outcome are.",
            hint="leave out terms of columns that publish little but `*` or a single bound.",
        )
    return Regression(
        formula,
        fitter.family,
        weights,
        baseline.n,
        0 if means is None else means.n,
        combined[0].n,
        len(combined),
        tuple(
            _combine_draws(j, name, baseline, means, [] if j in unscaled else combined)
            for j, name in enumerate(baseline.names)
        ),
        {
            name: open_rate(used[name].released) if each.has_scale else 1.0
            for name, each in variables.items()
            if used[name].column.is_measured
        },
    )


def _load_libraries() -> tuple[ModuleType, ModuleType, ModuleType]:
    try:
        import formulaic
        import pandas as pd
        import statsmodels.api as sm
    except ModuleNotFoundError:
        raise InputError(
            "a regression needs statsmodels and formulaic.", hint="pip install 'hushtable[regression]'."
        ) from None
    return formulaic, pd, sm


def _columns_of(formula: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that a formula names; nothing but columns and a few functions may stand in one.

    A formula is a program: it is not run before every name in it is known.
    """
    if not isinstance(formula, str) or formula.count("~") != 1:
        raise InputError("a model is written as outcome ~ terms.", hint='for instance "log(income) ~ age + sex".')
    names: list[str] = []
    try:
        tokens = [*tokenize.generate_tokens(io.StringIO(formula.replace("~", "+")).readline)]
    except (tokenize.TokenError, SyntaxError):
        raise InputError("the model's formula cannot be read.", hint="close brackets and quotes.") from None
    for position, token in enumerate(tokens):
        if token.type == tokenize.STRING:
            name = token.string.strip("'\"")
            is_quoted = [each.string for each in tokens[max(0, position - 2) : position]] == ["Q", "("]
            if is_quoted:
                names.append(name)
        elif token.type == tokenize.NAME:
            is_function = position + 1 < len(tokens) and tokens[position + 1].string == "("
            if is_function and token.string in (*_FUNCTIONS, *_FORMULA_WORDS):
                continue
            if keyword.iskeyword(token.string) or token.string.startswith("__"):
                raise InputError(f"a model cannot hold {token.string!r}.", hint="name columns and functions.")
            names.append(token.string)
        elif token.type == tokenize.OP and token.string in (".", "[", "{", "@", ";", ":=", "=", "\\"):
            raise InputError(
                f"a model cannot hold {token.string!r}.", hint='write terms such as "age + sex + I(age**2)".'
            )
        elif token.type == tokenize.ERRORTOKEN and token.string.strip():
            raise InputError(f"a model cannot hold {token.string!r}.", hint="quote odd names: Q('my column').")
    check_columns(tuple(dict.fromkeys(names)), columns, "columns of the model")
    return tuple(dict.fromkeys(names))


def _find_binary_outcome(formula: str, used: Mapping[str, Standing]) -> str | None:
    """Return the outcome if it is a category as it stands, else None; InputError unless it has two values."""
    outcome = formula.partition("~")[0].strip()
    if outcome.startswith("Q("):
        outcome = outcome[2:-1].strip().strip("'\"")
    if outcome not in used or used[outcome].column.is_measured:
        return None
    if used[outcome].column.n_values != 2:
        raise InputError(
            f"the outcome {outcome!r} has {used[outcome].column.n_values} values.",
            hint="a number, or a category of two values, which a logistic regression distinguishes.",
        )
    return outcome


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
        libraries: tuple[ModuleType, ModuleType, ModuleType],
        formula: str,
        weights: str | None,
        variables: Mapping[str, ModelColumn],
    ) -> None:
        self.formulaic, self.pandas, self.models = libraries
        self.formula, self.weights, self.variables = formula, weights, variables
        self.family = "linear"
        self.spec: Any = None
        self.of_outcome = _columns_of(f"{formula.partition('~')[0]}~1", tuple(variables))
        self.n_published = len(next(iter(variables.values())).cell_of_row)
        self._outcome: tuple[list[FloatArray], FloatArray] = ([], np.empty(0))

    def build_frame(self, cells: Mapping[str, FloatArray]) -> Any:
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

    def build_design(self, cells: Mapping[str, FloatArray]) -> tuple[Any, Any, Any]:
        """Return outcome, terms and weights of the rows without a missing cell."""
        frame = self.build_frame(cells)
        functions = {name: getattr(np, name) for name in _FUNCTIONS}
        with np.errstate(all="ignore"):
            if self.spec is None:
                design = self.formulaic.model_matrix(self.formula, frame, context=functions)
                self.spec = design.model_spec
            else:
                design = self.spec.get_model_matrix(frame, context=functions)
        outcome, terms = self.pandas.DataFrame(design.lhs), self.pandas.DataFrame(design.rhs)
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
            outcome, terms, _ = self.build_design(cells)
        except Exception:
            # Whatever the library raises may quote cells.
            raise InputError(
                "the model's formula cannot be read, or not for these columns.", hint="look at its terms."
            ) from None
        if outcome.shape[1] != 1:
            raise InputError("the outcome of the model is no single number.", hint="name one column.")
        if len(terms) <= terms.shape[1] or np.linalg.matrix_rank(terms.to_numpy()) < terms.shape[1]:
            raise InputError(
                f"{len(terms)} records do not distinguish {terms.shape[1]} coefficients.",
                hint="leave out terms that others say already, or that nobody has.",
            )
        self.family = "logistic" if set(np.unique(outcome.to_numpy()).tolist()) == {0.0, 1.0} else "linear"
        fitted = self.fit(cells)
        if fitted is None:
            raise InputError("the model cannot be fitted on the original.", hint="ask for fewer terms.")
        return fitted

    def fit(self, cells: Mapping[str, FloatArray]) -> _Fit | None:
        """Fit some cells; None where that cannot be done."""
        try:
            outcome, terms, weights = self.build_design(cells)
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
        figures = np.full((2, len(names)), np.nan)
        figures[:, is_there] = values, errors
        return _Fit(names, figures[0], figures[1], len(terms))

    def terms_of(self, columns: Collection[str]) -> set[int]:
        """Return the positions of the coefficients that depend on some columns; all if the outcome does."""
        if set(columns) & set(self.of_outcome):
            return set(range(len(self.spec.rhs.column_names)))
        terms = {term for name in columns for term in self.spec.rhs.variable_terms.get(name, ())}
        return {place for term in terms for place in self.spec.rhs.term_indices[term]}

    def compute_outcome(self, cells: Mapping[str, FloatArray]) -> FloatArray:
        """Return the outcome of every row as the model has it, NaN where there is none; cached while cells stay."""
        inputs = [cells[name] for name in self.of_outcome]
        last, outcomes = self._outcome
        if len(last) == len(inputs) and all(a is b for a, b in zip(last, inputs, strict=True)):
            return outcomes
        outcome, _, _ = self.build_design(cells)
        outcomes = np.full(len(next(iter(cells.values()))), np.nan)
        outcomes[outcome.index.to_numpy()] = outcome.to_numpy()[:, 0]
        self._outcome = inputs, outcomes
        return outcomes


def _combine_draws(j: int, name: str, baseline: _Fit, means: _Fit | None, fits: Sequence[_Fit]) -> Coefficient:
    """Combine the draws of a coefficient, and compare them with the original's."""
    from scipy.stats import norm, t

    values, errors = np.array([each.values[j] for each in fits]), np.array([each.errors[j] for each in fits])
    original, error_of_original = float(baseline.values[j]), float(baseline.errors[j])
    of_means = (None, None) if means is None or np.isnan(means.values[j]) else (means.values[j], means.errors[j])
    mean, error_of_mean = (None if each is None else float(each) for each in of_means)
    figures = name, original, error_of_original, mean, error_of_mean
    if not len(values) or np.isnan(values).any():
        return Coefficient(*figures, None, None, None, 0.0, is_covered=False)
    m = len(fits)
    within, between = float((errors**2).mean()), float(values.var(ddof=1))
    total = within + (1 + 1 / m) * between
    share = (1 + 1 / m) * between / total if total > 0 else 0.0
    complete = max(1, fits[0].n - len(baseline.names))
    observed = (complete + 1) / (complete + 3) * complete * (1 - share)
    degrees = observed if share == 0 else 1 / (1 / ((m - 1) / share**2) + 1 / max(observed, 1e-9))
    estimate, error = float(values.mean()), math.sqrt(total)
    width = float(t.ppf((1 + _CONFIDENCE_LEVEL) / 2, max(1.0, degrees))) * error
    half = float(norm.ppf((1 + _CONFIDENCE_LEVEL) / 2)) * error_of_original
    common = max(0.0, min(original + half, estimate + width) - max(original - half, estimate - width))
    overlap = (common / (2 * half) + common / (2 * width)) / 2 if half and width else float(original == estimate)
    return Coefficient(*figures, estimate, error, float(degrees), overlap, is_covered=abs(original - estimate) <= width)
