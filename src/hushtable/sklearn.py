"""Protecting a table as a step of scikit-learn; needs the extra ``hushtable[sklearn]``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from hushtable.columns import ColumnSpec
from hushtable.errors import InfeasibleError, InputError
from hushtable.io import frames
from hushtable.models import KAnonymity, PrivacyModel
from hushtable.policy import anonymize
from hushtable.release import Release

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ModuleNotFoundError:
    raise ImportError("hushtable.sklearn needs scikit-learn: pip install 'hushtable[sklearn]'") from None

__all__ = ["Anonymizer"]


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Generalize quasi-identifiers until every class has k records, and new rows by the same cells.

    Parameters
    ----------
    k : int
        Of k-anonymity.
    quasi_identifiers : sequence of str, optional
        Columns that someone may know of a person; all when not given.
    models : iterable of PrivacyModel
        What classes satisfy besides.
    sensitive, identifiers, method, hierarchies, suppression_limit, specs, roles
        As `hushtable.anonymize` takes them.
    new_rows : {"judge", "recode"}
        What `transform` does with rows that were not fitted. ``"judge"`` publishes them as
        `hushtable.release.release.Release.apply` does: judged by themselves, so that few rows alone are refused.
        ``"recode"`` gives them the cells of the fitted ones and judges nothing: what a fitted model predicts
        from, not to be published.

    Attributes
    ----------
    release_ : Release
        Of the fitted rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        ``x0``, ``x1`` ... for an array.

    Notes
    -----
    `fit_transform` returns the release of the fitted rows, `transform` takes every table for new rows, also an
    equal one. Rows stay as many as they are: suppressed ones publish ``*`` where they may be published so, and
    are an error where they would have to be dropped.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "pay": [1, 2, 3, 4]})
    >>> anonymizer = Anonymizer(k=2, quasi_identifiers=["age"])
    >>> anonymizer.fit_transform(people).rows()
    [('[31, 34]', 1), ('[31, 34]', 2), ('[52, 57]', 3), ('[52, 57]', 4)]
    >>> anonymizer.transform(pl.DataFrame({"age": [53, 55], "pay": [5, 6]})).rows()
    [('[52, 57]', 5), ('[52, 57]', 6)]
    >>> anonymizer.set_params(new_rows="recode").transform(pl.DataFrame({"age": [32], "pay": [7]})).rows()
    [('[31, 34]', 7)]
    """

    def __init__(
        self,
        k: int = 5,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        models: Iterable[PrivacyModel] = (),
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        method: Any = "mondrian",
        hierarchies: Mapping[str, Any] | None = None,
        suppression_limit: float = 0.0,
        specs: Mapping[str, ColumnSpec] | None = None,
        roles: Literal["check", "trust"] = "check",
        new_rows: Literal["judge", "recode"] = "judge",
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.models = models
        self.sensitive = sensitive
        self.identifiers = identifiers
        self.method = method
        self.hierarchies = hierarchies
        self.suppression_limit = suppression_limit
        self.specs = specs
        self.roles = roles
        self.new_rows = new_rows

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Protect a table.

        Parameters
        ----------
        X : dataframe, or ndarray of shape (n_rows, n_columns)
        y : ignored

        Raises
        ------
        InputError, InfeasibleError
            As `hushtable.anonymize` says.
        """
        del y
        if self.new_rows not in ("judge", "recode"):
            raise InputError(f"new_rows = {self.new_rows!r}.", hint="choose 'judge' or 'recode'.")
        table = _to_dataframe(X)
        names = frames.read(table).columns
        options = self.get_params(deep=False)
        del options["k"], options["new_rows"]
        options["models"] = [KAnonymity(self.k), *self.models]
        if self.quasi_identifiers is None:
            options["quasi_identifiers"] = names
        self.release_: Release = anonymize(table, **options)
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:  # noqa: N803
        """Protect a table, and return its release."""
        return self._as_given(_release_rows(self.fit(X, y, **fit_params).release_), X)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Return new rows with the cells of the fitted ones.

        Raises
        ------
        ColumnError
            The columns are not those of the fitted rows.
        InfeasibleError
            Rows would have to be dropped: no class is left, or what is suppressed fails as a class of its own.
        """
        check_is_fitted(self)
        table = _to_dataframe(X)
        if self.new_rows == "recode":
            return self._as_given(self.release_.learned.recode(table), X)
        return self._as_given(_release_rows(self.release_.apply(table)), X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the columns that are published."""
        del input_features
        check_is_fitted(self)
        return np.array([name for name in self.feature_names_in_ if name not in self.identifiers], dtype=object)

    def _as_given(self, published: Any, X: Any) -> Any:  # noqa: N803
        return frames.read(published).data.to_numpy() if isinstance(X, np.ndarray) else published


def _to_dataframe(X: Any) -> Any:  # noqa: N803
    """Return an array as a dataframe."""
    if not isinstance(X, np.ndarray):
        return X
    if X.ndim != 2:
        raise InputError(f"an array of {X.ndim} dimensions was given.", hint="pass rows and columns.")
    return frames.assemble({f"x{j}": X[:, j].tolist() for j in range(X.shape[1])})


def _release_rows(release: Release) -> Any:
    """Return the rows of a release, one for each input row."""
    if release.drops_suppressed:
        raise InfeasibleError(
            f"{release.n_suppressed:,} suppressed records would have to be dropped, and a step keeps all rows.",
            hint="transform more rows at a time; new_rows='recode' gives a model what it predicts from, "
            "and judges nothing.",
        )
    return release.frame
