"""A regression on a release: equal to statsmodels' on means, honest by draws, and deaf to programs in formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.quality import regression

sm = pytest.importorskip("statsmodels.api", reason="needs hushtable[regression]")
pd = pytest.importorskip("pandas")
FORMULA = "log(income) ~ education + age + sex"


def survey(n: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    education = np.clip(np.round(rng.normal(12, 3, n) - 0.02 * (age - 45)), 4, 20).astype(int)
    sex = rng.choice(["f", "m"], n)
    income = np.exp(1 + 0.09 * education + 0.01 * age + 0.2 * (sex == "m") + rng.normal(0, 0.6, n))
    told = {"age": age, "education": education, "sex": sex, "income": income, "w": rng.gamma(4, 1, n)}
    return pl.DataFrame(told)


def released(frame: pl.DataFrame, k: int = 5, recoding: Any = "readable") -> ht.Release[Any]:
    asked: dict[str, Any] = {"quasi_identifiers": ["age", "education", "sex"], "models": [ht.KAnonymity(k)]}
    return ht.anonymize(frame, **asked, method=ht.Mondrian(recoding=recoding), roles="trust")


def fitted(release: ht.Release[Any], formula: str = FORMULA, weights: str | None = None) -> regression.Regression:
    found = release.utility(model=formula, weights=weights).regression
    assert found is not None
    return found


def design(frame: pl.DataFrame) -> tuple[Any, Any]:
    is_male = (frame["sex"] == "m").to_numpy().astype(float)
    terms = [np.ones(len(frame)), is_male, frame["education"].to_numpy(), frame["age"].to_numpy()]
    return np.log(frame["income"].to_numpy()), np.column_stack(terms)


@pytest.mark.parametrize("weights", [None, "w"])
def test_the_original_is_fitted_as_statsmodels_fits_it(weights: str | None) -> None:
    frame = survey(300)
    found = {each.name: each for each in fitted(released(frame), weights=weights).coefficients}
    outcome, terms = design(frame)
    if weights:
        expected = sm.WLS(outcome, terms, weights=frame["w"].to_numpy()).fit(cov_type="HC1")
    else:
        expected = sm.OLS(outcome, terms).fit()
    for j, name in enumerate(["Intercept", "sex[T.m]", "education", "age"]):
        assert found[name].original == pytest.approx(expected.params[j], rel=1e-9)
        assert found[name].original_error == pytest.approx(expected.bse[j], rel=1e-9)


def test_means_are_those_of_cells_read_by_hand() -> None:
    frame = survey(200)
    release = released(frame, recoding="tight")
    found = {each.name: each for each in fitted(release).coefficients}
    rows = []
    for row in release.frame.iter_rows(named=True):
        ends = [_mean(row["age"]), _mean(row["education"])]
        if row["sex"] in ("f", "m") and None not in ends:
            rows.append((math.log(row["income"]), 1.0, float(row["sex"] == "m"), *ends))
    table = np.array(rows, dtype=float)
    expected = sm.OLS(table[:, 0], table[:, 1:]).fit()
    assert [found[name].means for name in ("Intercept", "sex[T.m]", "age", "education")] == pytest.approx(
        expected.params, rel=1e-9
    )


def _mean(cell: str) -> float | None:
    if cell == "*":
        return None
    if not cell.startswith("["):
        return float(cell)
    low, high = (float(end) for end in cell.strip("[]").split(","))
    return (low + high) / 2


def test_where_nothing_was_coarsened_all_agree() -> None:
    frame = survey(200)
    for each in fitted(released(frame, k=1)).coefficients:
        assert each.drawn == pytest.approx(each.original, rel=1e-9)
        assert each.means == pytest.approx(each.original, rel=1e-9)
        assert each.drawn_error == pytest.approx(each.original_error, rel=1e-9)
        assert each.overlap == pytest.approx(1, abs=0.02)


def test_draws_mend_what_means_flatten() -> None:
    frame = survey(2_000, seed=3)
    education = next(each for each in fitted(released(frame, k=25)).coefficients if each.name == "education")
    assert education.means is not None
    assert education.original - education.means > 3 * education.original_error
    assert abs(education.original - education.drawn) < 2 * education.original_error
    assert education.drawn_error > education.original_error


@pytest.mark.parametrize("formula", [FORMULA, "rich ~ education + age + sex"])
def test_intervals_of_draws_cover_the_original(formula: str) -> None:
    # Each coefficient stands for itself: their mean would hide one that is off by others that nothing touched.
    covered: dict[str, list[bool]] = {}
    for seed in range(5):
        frame = survey(300, seed)
        frame = frame.with_columns(rich=pl.when(pl.col("income") > 15).then(pl.lit("yes")).otherwise(pl.lit("no")))
        found = fitted(released(frame, k=10), formula)
        assert found.family == ("logistic" if formula.startswith("rich") else "linear")
        for each in found.coefficients:
            covered.setdefault(each.name, []).append(each.is_covered)
    assert {name: sum(each) for name, each in covered.items() if sum(each) < 4} == {}


def test_rubin_s_rules_are_those_of_a_slow_twin() -> None:
    rng = np.random.default_rng(0)
    values, errors = rng.normal(1, 0.1, 20), rng.uniform(0.1, 0.2, 20)
    fits = [regression._Fit(("x",), np.array([v]), np.array([e]), 500) for v, e in zip(values, errors, strict=True)]
    found = regression._combine_draws(0, "x", fits[0], None, fits)
    m, mean = 20, sum(values) / 20
    within = sum(error**2 for error in errors) / m
    between = sum((value - mean) ** 2 for value in values) / (m - 1)
    assert found.drawn == pytest.approx(mean)
    assert found.drawn_error == pytest.approx(math.sqrt(within + between * (1 + 1 / m)))
    r = (1 + 1 / m) * between / within
    old, lost = (m - 1) * (1 + 1 / r) ** 2, r / (1 + r)
    seen = (1 - lost) * 499 * 500 / 502
    assert found.degrees == pytest.approx(1 / (1 / old + 1 / seen))


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("income", "outcome ~ terms"),
        ("income ~ age ~ sex", "outcome ~ terms"),
        ("income ~ nobody", "nobody"),
        ("income ~ __import__('os').system('true')", "cannot hold|no column"),
        ("income ~ I(age.__class__)", "cannot hold"),
        ("income ~ (lambda: 1)()", "cannot hold"),
        ("income ~ open('x')", "no column"),
        ("income ~ [age]", "cannot hold"),
        ("income ~ age + (", "cannot be read"),
        ("income ~ age + I(2*age)", "do not distinguish"),
        ("w + ~ age", "cannot be read"),
    ],
)
def test_what_is_no_model_is_refused(formula: str, told: str) -> None:
    release = released(survey(60))
    with pytest.raises(ht.InputError, match=told):
        release.utility(model=formula)


def test_odd_columns_and_outcomes() -> None:
    frame = survey(120).rename({"income": "in come", "w": "log"})
    found = fitted(released(frame), 'log(Q("in come")) ~ age')
    assert [each.name for each in found.coefficients] == ["Intercept", "age"]
    with pytest.raises(ht.InputError, match="has 3 values"):
        released(frame.with_columns(kind=pl.Series(list("abc") * 40))).utility(model="kind ~ age")
    with pytest.raises(ht.InputError, match="without a model"):
        released(frame).utility(weights="log")
    with pytest.raises(ht.InputError, match="do not distinguish"):
        released(frame[:6], k=2).utility(model='Q("in come") ~ age + education + sex + log + I(age**2)')
