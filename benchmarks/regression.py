"""A regression on releases beside the original: how often intervals of draws cover each of the original's coefficients.

    python benchmarks/regression.py [RELEASES]

Made-up surveys with weights: people with four quasi-identifiers, log(income) on education, age and sex. Coefficients
stand for themselves: education is cut into wide intervals, sex stays, and their mean would hide the one by the other.
"""

import itertools
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.quality.regression import Regression


def survey(n: int, seed: int) -> pl.DataFrame:
    """Draw people, incomes that follow from them, and weights."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    education = np.clip(np.round(rng.normal(12, 3, n) - 0.02 * (age - 45)), 4, 20).astype(int)
    sex, region = rng.choice(["f", "m"], n), rng.choice(list("abcdefgh"), n)
    income = np.exp(1 + 0.09 * education + 0.01 * age + 0.2 * (sex == "m") + rng.normal(0, 0.6, n))
    told = {"age": age, "education": education, "sex": sex, "region": region, "income": income}
    return pl.DataFrame({**told, "w": rng.gamma(4, 1, n)})


def fitted(n: int, k: int, recoding: str, weights: str | None, seed: int) -> tuple[Regression, float]:
    """Publish one survey; return its regression, and the seconds that it took."""
    asked = {"quasi_identifiers": ["age", "education", "sex", "region"], "models": [ht.KAnonymity(k)]}
    release = ht.anonymize(survey(n, seed), **asked, method=ht.Mondrian(recoding=recoding), roles="trust")
    began = time.perf_counter()
    found = release.utility(model="log(income) ~ education + age + sex", weights=weights).regression
    return found, time.perf_counter() - began


def main(n_releases: int) -> None:
    """Print how often, and by how much."""
    print(
        "| people | k | recoding | weights | coefficient | draws cover | means cover | original | means | drawn | s |"
    )
    print("|---:|---:|---|---|---|---:|---:|---:|---:|---:|---:|")
    cases = [*itertools.product((1_000,), (5, 20), ("readable", "tight"), (None, "w"))]
    cases += [(5_000, 20, recoding, None) for recoding in ("readable", "tight")]
    with ProcessPoolExecutor(2) as workers:
        for n, k, recoding, weights in cases:
            same = ([each] * n_releases for each in (n, k, recoding, weights))
            releases, seconds = zip(*workers.map(fitted, *same, range(n_releases)), strict=True)
            for each in zip(*(release.coefficients for release in releases), strict=True):
                covered = statistics.fmean(one.is_covered for one in each)
                by_means = statistics.fmean(abs(one.means - one.original) <= 1.96 * one.means_error for one in each)
                shown = [
                    statistics.fmean(getattr(one, name) for one in each) for name in ("original", "means", "drawn")
                ]
                values = " | ".join(f"{value:.4f}" for value in shown)
                head = f"| {n:,} | {k} | {recoding} | {weights or 'no'} | {each[0].name}"
                print(
                    f"{head} | {covered:.1%} | {by_means:.1%} | {values} | {statistics.median(seconds):.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
