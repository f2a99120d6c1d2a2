"""The step of scikit-learn: releases where rows are published, cells alone where a model predicts."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import hushtable as ht
from hushtable.sklearn import Anonymizer

PEOPLE = ht.datasets.people(900, seed=2)
X = PEOPLE.select("sex", "marital_status", "education").to_pandas()
Y = (PEOPLE["income"].fill_null(0) > 30_000).to_numpy()


def test_fit_transform_is_the_release():
    step = Anonymizer(k=7)
    found = step.fit_transform(X)
    expected = ht.anonymize(X, quasi_identifiers=list(X.columns), models=[ht.KAnonymity(7)])
    pd.testing.assert_frame_equal(found, expected.frame)
    assert step.release_.verify().passed
    assert step.feature_names_in_.tolist() == list(X.columns)
    assert step.get_feature_names_out().tolist() == list(X.columns)


def test_transform_judges_new_rows_by_themselves():
    step = Anonymizer(k=5).fit(X[:600])
    expected = step.release_.apply(X[600:])
    if not expected.drops_suppressed:
        pd.testing.assert_frame_equal(step.transform(X[600:]), expected.frame)
    with pytest.raises(ht.InfeasibleError, match="none is left"):
        step.transform(X[600:602])


def test_what_would_be_dropped_is_an_error():
    people = pl.DataFrame({"age": [31, 34, 52, 57]})
    step = Anonymizer(k=2).fit(people)
    with pytest.raises(ht.InfeasibleError, match="1 suppressed records would have to be dropped"):
        step.transform(pl.DataFrame({"age": [32, 33, 99]}))


def test_cells_alone_for_a_model_that_predicts():
    step = Anonymizer(k=5, new_rows="recode").fit(X[:600])
    found = step.transform(X[600:])
    assert len(found) == 300
    pd.testing.assert_frame_equal(found, step.release_.learned.recode(X[600:]))
    pd.testing.assert_frame_equal(step.transform(X[:600]), step.release_.frame)
    assert len(step.transform(X[600:601])) == 1


def test_a_pipeline_searches_for_k():
    step = Anonymizer(new_rows="recode", method=ht.Mondrian(recoding="readable"))
    pipe = make_pipeline(step, OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    search = GridSearchCV(pipe, {"anonymizer__k": [3, 30]}, cv=2).fit(X, Y)
    assert search.best_params_["anonymizer__k"] in (3, 30)
    assert search.predict(X[:1]).shape == (1,)


def test_clone_and_parameters():
    step = Anonymizer(k=3, quasi_identifiers=["sex"], models=[ht.DistinctLDiversity(2, "education")])
    copied = clone(step)
    assert copied.get_params() == step.get_params()
    assert copied.set_params(k=9).k == 9
    assert "k=3" in repr(step)
    assert not hasattr(copied, "release_")


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
@pytest.mark.parametrize("given", [X, pl.from_pandas(X)], ids=["pandas", "polars"])
def test_set_output(library, kind, given):
    step = Anonymizer(k=5, new_rows="recode").set_output(transform=library)
    for found in (step.fit_transform(given), step.transform(given)):
        assert isinstance(found, kind)
        assert list(found.columns) == list(X.columns)
        assert [str(cell) for cell in found["sex"]] == [str(cell) for cell in step.release_.frame["sex"]]


def test_arrays():
    draws = np.random.default_rng(0).integers(0, 9, (200, 2))
    step = Anonymizer(k=5, new_rows="recode")
    found = step.fit_transform(draws)
    assert isinstance(found, np.ndarray)
    assert found.shape == (200, 2)
    assert step.feature_names_in_.tolist() == ["x0", "x1"]
    assert (step.transform(draws) == found).all()
    with pytest.raises(ht.InputError, match="3 dimensions"):
        step.fit(np.zeros((2, 2, 2)))


def test_identifiers_are_left_out():
    step = Anonymizer(k=5, quasi_identifiers=["sex"], identifiers=["name"])
    found = step.fit_transform(PEOPLE.select("name", "sex"))
    assert found.columns == ["sex"] == step.get_feature_names_out().tolist()


def test_errors():
    with pytest.raises(NotFittedError):
        Anonymizer().transform(X)
    with pytest.raises(ht.InputError, match="new_rows = 'publish'"):
        Anonymizer(new_rows="publish").fit(X)
    with pytest.raises(ht.ColumnError, match="lack columns 'sex'"):
        Anonymizer(k=5).fit(X).transform(X.drop(columns="sex"))
