"""A regression on releases beside the original: how often intervals of draws cover each of the original's coefficients.

    python benchmarks/regression.py [RELEASES] [CASE ...]     # survey, weighted, large, adult, few

Made-up surveys with weights: people with four quasi-identifiers, log(income) on education, age and sex. Samples of
3,000 records of Adult (found through HUSHTABLE_SHARED), salary class on age and sex, with eight quasi-identifiers or
four. Coefficients stand for themselves: education is cut into wide intervals, sex stays, and their mean would hide the
one by the other. Widths are medians, of the intervals of draws as against those of the original.
"""

import itertools
import os
import statistics
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import norm, t

import hushtable as ht
from hushtable.quality.regression import Coefficient, Regression

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ADULT = SHARED / "data" / "arx_adult" / "adult.csv"
OF_SURVEY = ["age", "education", "sex", "region"]
OF_ADULT = ["age", "sex", "race", "native-country", "marital-status", "education", "workclass", "occupation"]
CASES = {
    "survey": [("survey", 1_000, 4, k, recoding, None) for k in (5, 20) for recoding in ("readable", "tight")],
    "weighted": [("survey", 1_000, 4, k, recoding, "w") for k in (5, 20) for recoding in ("readable", "tight")],
    "large": [("survey", 5_000, 4, 20, recoding, None) for recoding in ("readable", "tight")],
    "adult": [("adult", 3_000, 8, k, recoding, None) for k in (5, 20) for recoding in ("readable", "tight")],
    "few": [("adult", 3_000, 4, k, "readable", None) for k in (5, 20)],
}
TITLES = ("people", "columns", "k", "recoding", "weights", "coefficient", "draws cover", "width", "means cover")


def survey(n: int, seed: int) -> pl.DataFrame:
    """Draw people, incomes that follow from them, and weights."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    education = np.clip(np.round(rng.normal(12, 3, n) - 0.02 * (age - 45)), 4, 20).astype(int)
    sex, region = rng.choice(["f", "m"], n), rng.choice(list("abcdefgh"), n)
    income = np.exp(1 + 0.09 * education + 0.01 * age + 0.2 * (sex == "m") + rng.normal(0, 0.6, n))
    told = {"age": age, "education": education, "sex": sex, "region": region, "income": income}
    return pl.DataFrame({**told, "w": rng.gamma(4, 1, n)})


def fitted(table: str, n: int, n_columns: int, k: int, recoding: str, weights: str | None, seed: int) -> Regression:
    """Publish one table; return its regression."""
    if table == "survey":
        frame, columns, model = survey(n, seed), OF_SURVEY, "log(income) ~ education + age + sex"
    else:
        frame, columns = pl.read_csv(ADULT, separator=";").sample(n, seed=seed), OF_ADULT
        model = 'Q("salary-class") ~ age + sex'
    asked = {"quasi_identifiers": columns[:n_columns], "models": [ht.KAnonymity(k)]}
    release = ht.anonymize(frame, **asked, method=ht.Mondrian(recoding=recoding), roles="trust")
    return release.utility(model=model, weights=weights).regression


def timed(case: tuple[str, int, int, int, str, str | None], seed: int) -> tuple[Regression, float]:
    """Return the regression of a case, and the seconds of publishing, fitting and all."""
    warnings.simplefilter("ignore")
    began = time.process_time()
    return fitted(*case, seed), time.process_time() - began


def width(each: Coefficient) -> float:
    """Return how wide the interval of draws is as against that of the original."""
    return t.ppf(0.975, max(1.0, each.degrees)) * each.drawn_error / (norm.ppf(0.975) * each.original_error)


def main(n_releases: int, names: list[str]) -> None:
    """Print how often, and by how much."""
    shown = ("original", "means", "drawn")
    print(f"| {' | '.join((*TITLES, *shown, 's'))} |")
    print(f"|---:|---:|---:|---|---|---|{'---:|' * 7}")
    with ProcessPoolExecutor(2) as workers:
        for case in itertools.chain.from_iterable(CASES[name] for name in names):
            table, n, n_columns, k, recoding, weights = case
            found = workers.map(timed, [case] * n_releases, range(n_releases))
            releases, seconds = zip(*found, strict=True)
            for each in zip(*(release.coefficients for release in releases), strict=True):
                covered = statistics.fmean(one.is_covered for one in each)
                wide = statistics.median(width(one) for one in each if one.drawn is not None)
                by_means = statistics.fmean(abs(one.means - one.original) <= 1.96 * one.means_error for one in each)
                values = [statistics.fmean(getattr(one, name) for one in each) for name in shown]
                head = f"| {table} {n:,} | {n_columns} | {k} | {recoding} | {weights or 'no'} | {each[0].name}"
                figures = f"{covered:.1%} | {wide:.2f} | {by_means:.1%} | {' | '.join(f'{v:.4f}' for v in values)}"
                print(f"{head} | {figures} | {statistics.median(seconds):.2f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, sys.argv[2:] or [*CASES])
