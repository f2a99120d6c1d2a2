"""A regression on releases beside the original: how often intervals of draws cover the original's coefficients.

    python benchmarks/regression.py [RELEASES]

Made-up surveys with weights: 1,000 people, four quasi-identifiers, log(income) on education, age and sex.
"""

import statistics
import sys
import time

import numpy as np
import polars as pl

import hushtable as ht

N = 1_000


def survey(seed: int) -> pl.DataFrame:
    """Draw people, incomes that follow from them, and weights."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, N)
    education = np.clip(np.round(rng.normal(12, 3, N) - 0.02 * (age - 45)), 4, 20).astype(int)
    sex, region = rng.choice(["f", "m"], N), rng.choice(list("abcdefgh"), N)
    income = np.exp(1 + 0.09 * education + 0.01 * age + 0.2 * (sex == "m") + rng.normal(0, 0.6, N))
    told = {"age": age, "education": education, "sex": sex, "region": region, "income": income}
    return pl.DataFrame({**told, "w": rng.gamma(4, 1, N)})


def main(n_releases: int) -> None:
    """Print how often, and by how much."""
    print("| k | weights | covered | by means | overlap | education: original, means, drawn | s a release |")
    print("|---:|---|---:|---:|---:|---|---:|")
    for k in (5, 20):
        for weights in (None, "w"):
            covered, by_means, overlaps, slopes, seconds = [], [], [], [], []
            for seed in range(n_releases):
                asked = {"quasi_identifiers": ["age", "education", "sex", "region"], "models": [ht.KAnonymity(k)]}
                method = ht.Mondrian(recoding="readable")
                release = ht.anonymize(survey(seed), **asked, method=method, roles="trust")
                began = time.perf_counter()
                found = release.utility(model="log(income) ~ education + age + sex", weights=weights).regression
                seconds.append(time.perf_counter() - began)
                overlaps.append(found.overlap)
                for each in found.coefficients:
                    covered.append(each.is_covered)
                    by_means.append(abs(each.means - each.original) <= 1.96 * each.means_error)
                    if each.name == "education":
                        slopes.append((each.original, each.means, each.drawn))
            shown = ", ".join(f"{statistics.fmean(each):.4f}" for each in zip(*slopes, strict=True))
            shares = f"{np.mean(covered):.1%} | {np.mean(by_means):.1%} | {np.mean(overlaps):.2f}"
            print(f"| {k} | {weights or 'no'} | {shares} | {shown} | {statistics.median(seconds):.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
