"""A model trained on a release beside one trained on the originals, both tested on originals that neither has seen.

Every row becomes numbers, whichever table it is of, so that one model can see both:

- a column of numbers or dates is the middle of its cell; nothing where it is ``*`` or missing;
- a category is a column for each of its 50 most frequent values, holding the share of the cell that is the value: 1
  for the value itself, 1/3 in a list of three; nothing where it is ``*``.

The target is a single value, or of numbers the middle of the cell. A record that tells neither is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.errors import InputError, check_columns
from hushtable.io import Frame
from hushtable.quality.cell_values import Spread, Standing, mean_of_cells, read_alike, shares_by_value
from hushtable.search import n_threads
from hushtable.tables import split_rows

_MAX_VALUES_PER_CATEGORY: Final = 50
_ROWS_PER_THREAD: Final = 5_000  # for which another thread pays


@dataclass(frozen=True, slots=True)
class Prediction:
    """How well a target is predicted; higher is better."""

    target: str
    # Of a category: the share of rows predicted right, in [0, 1]. Of numbers and dates: 1 less the squared error over
    # the variance, 1 at best, 0 for the mean.
    measure: str
    originals: float  # of the model trained on originals, on held-out originals
    release: float  # of the model trained on the release, on the same rows
    # The same model on the same rows in the form in which they are published; None where nothing tells that form
    published_alike: float | None
    n_train: int  # released records that the model learned from
    n_held_out: int  # records that both were tested on
    seed: int

    @property
    def sentence(self) -> str:
        """All of it in words."""
        alike = "" if self.published_alike is None else f", {self.published_alike:.3f} on the same as published"
        return (
            f"{self.target} by gradient boosting, {self.measure} (higher is better) on {self.n_held_out:,} held-out "
            f"originals: {self.originals:.3f} trained on originals, {self.release:.3f} on the release{alike}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return asdict(self)


def compare_on_rows(
    read: Mapping[str, Standing], target: str, source_rows: CountArray, held_out: float, seed: int
) -> Prediction:
    """Hold out some original rows, and what is published of them; `source_rows` are the original's row numbers."""
    if not 0 < held_out < 1:
        raise InputError(f"held_out = {held_out!r}.", hint="a share between 0 and 1, such as 0.3.")
    n_rows = len(read[target].original.rows)
    test, _ = split_rows(n_rows, held_out, np.random.default_rng(seed))
    is_test = np.zeros(n_rows, dtype=bool)
    is_test[test] = True
    features = _Features.from_columns(read, target)
    original_rows = features.encode_rows({name: each.original for name, each in read.items()})
    released_rows = features.encode_rows({name: each.released for name, each in read.items()})
    answers, released = features.encode_target(read[target].original), features.encode_target(read[target].released)
    in_test = is_test[source_rows]
    models = (
        features.train_model(original_rows[~is_test], answers[~is_test], seed),
        features.train_model(released_rows[~in_test], released[~in_test], seed),
    )
    alike = features.score_model(models[1], released_rows[in_test], answers[source_rows[in_test]])
    return features.compare_models(models, original_rows[is_test], answers[is_test], alike, released[~in_test], seed)


def compare_on_originals(read: Mapping[str, Standing], target: str, held_out: Frame, seed: int) -> Prediction:
    """Test on originals that are not in the release, a frame as `cell_values.with_claim_spelling` returns it."""
    check_columns(list(read), held_out.columns, "columns of the held-out originals")
    features = _Features.from_columns(read, target)
    tests = {name: read_alike(each, held_out) for name, each in read.items()}
    before = {name: each.original for name, each in read.items()}
    after = {name: each.released for name, each in read.items()}
    released = features.encode_target(read[target].released)
    models = (
        features.train_model(features.encode_rows(before), features.encode_target(read[target].original), seed),
        features.train_model(features.encode_rows(after), released, seed),
    )
    return features.compare_models(
        models, features.encode_rows(tests), features.encode_target(tests[target]), None, released, seed
    )


@dataclass(frozen=True, slots=True)
class _Features:
    """How rows become numbers."""

    target: str
    is_number: bool  # whether the target is one, or a date
    values: Mapping[str, CountArray | None]  # the values of each category that have a column; None of a measured column

    @classmethod
    def from_columns(cls, read: Mapping[str, Standing], target: str) -> _Features:
        values: dict[str, CountArray | None] = {}
        for name, each in read.items():
            if name != target:
                values[name] = None if each.column.is_measured else _most_frequent(each)
        if not values:
            raise InputError(
                "there is no column to predict from.", hint="publish another one, or leave the target out."
            )
        return cls(target, read[target].column.is_measured, values)

    def encode_rows(self, spreads: Mapping[str, Spread]) -> FloatArray:
        """Return the rows of a table as numbers, shape (n_rows, n_features); NaN where a cell says nothing."""
        parts = []
        for name, values in self.values.items():
            spread = spreads[name]
            if values is None:
                by_cell = mean_of_cells(spread)[:, None]
            else:
                by_cell = shares_by_value(spread, values)[:, :-1]
                by_cell[~spread.is_informative] = np.nan
            parts.append(by_cell[spread.rows])
        return np.concatenate(parts, axis=1)

    def encode_target(self, spread: Spread) -> FloatArray:
        """Return the target of every row: a number, or the code of a category; NaN where the cell does not tell it."""
        if self.is_number:
            return np.asarray(mean_of_cells(spread)[spread.rows])
        by_cell = np.full(spread.n_cells, np.nan)
        # A cell with all its share in one run stands for a single category.
        is_one = spread.share == 1
        by_cell[spread.cell[is_one]] = spread.low[is_one]
        return np.asarray(by_cell[spread.rows])

    def train_model(self, rows: FloatArray, answers: FloatArray, seed: int) -> Any:
        """Train gradient boosting on the rows whose target is known."""
        try:
            from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        except ModuleNotFoundError:
            raise InputError(
                "a model of a target needs 'scikit-learn'.", hint="pip install 'hushtable[sklearn]'"
            ) from None
        is_known = ~np.isnan(answers)
        if len(np.unique(answers[is_known])) < 2:
            raise InputError(
                f"the target {self.target!r} has fewer than two values among the rows to learn from.",
                hint="predict another column, or hold out fewer rows.",
            )
        kind = HistGradientBoostingRegressor if self.is_number else HistGradientBoostingClassifier
        # Of a column without a number, scikit-learn makes no bins.
        is_empty = np.isnan(rows[is_known]).all(axis=0)
        with _limit_threads(len(rows)):
            return kind(random_state=seed).fit(np.where(is_empty, 0.0, rows[is_known]), answers[is_known])

    def score_model(self, model: Any, rows: FloatArray, answers: FloatArray) -> float | None:
        """Return accuracy or R2 on the rows whose target is known; None if there are none, or all numbers are equal."""
        is_known = ~np.isnan(answers)
        if not is_known.any() or (self.is_number and np.ptp(answers[is_known]) == 0):
            return None
        with _limit_threads(len(rows)):
            return float(model.score(rows[is_known], answers[is_known]))

    def compare_models(
        self,
        models: tuple[Any, Any],
        rows: FloatArray,
        answers: FloatArray,
        alike: float | None,
        released: FloatArray,
        seed: int,
    ) -> Prediction:
        """Test both models on held-out originals."""
        originals, release = (self.score_model(model, rows, answers) for model in models)
        if originals is None or release is None:
            raise InputError(
                f"the target {self.target!r} is not known of enough held-out rows.",
                hint="hold out more rows, or predict another column.",
            )
        is_known: BoolArray = ~np.isnan(answers)
        return Prediction(
            self.target,
            "R2" if self.is_number else "accuracy",
            originals,
            release,
            alike,
            int((~np.isnan(released)).sum()),
            int(is_known.sum()),
            seed,
        )


def _limit_threads(n_rows: int) -> AbstractContextManager[Any]:
    """Limit the threads of scikit-learn, which takes all cores, and waits for them where others work there too."""
    from threadpoolctl import threadpool_limits

    # scikit-learn starts its threads again for every step of a tree. With few rows, that takes longer than the step.
    limit: AbstractContextManager[Any] = threadpool_limits(
        1 + min(n_threads() - 1, n_rows // _ROWS_PER_THREAD), "openmp"
    )
    return limit


def _most_frequent(standing: Standing) -> CountArray:
    """Return the codes of the most frequent values of the original, ascending."""
    spread = standing.original
    # Its last cell is the missing one.
    counts = spread.counts[:-1]
    return np.sort(np.argsort(-counts, kind="stable")[:_MAX_VALUES_PER_CATEGORY])
