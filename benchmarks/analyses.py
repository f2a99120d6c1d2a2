"""What four analyses keep: readable cells, dates in units, nested units, and one unit a column, on six tables.

    python benchmarks/analyses.py                 # six tables; --rows 5000 for smaller ones
    python benchmarks/analyses.py --only stays

Every release has k = 5 and suppresses nobody; one unit a column may suppress 2 % of the records. A researcher spreads
each record evenly over the values that its cell holds. Distinct cells are those of the column that has most.

means by group   how far they are from the original's, weighted by records, relative to the mean of all
regression       least squares of the outcome on middles of cells: differences of the coefficients over their sum
cross table      of two groupings: the share of the records that would have to move to make the original's counts
months           the same for the months of a date
sure             the records whose cell lies within one group or month, which takes no guess

Adult and diabetes are found through HUSHTABLE_SHARED.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.claims.coverage import coverage_matrix

DATA = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"
CODES = ht.ColumnSpec("category")


@dataclass(frozen=True)
class Source:
    """A table, and what a researcher asks of it."""

    title: str
    frame: pl.DataFrame
    quasi_identifiers: list[str]
    outcome: str  # numbers, kept as they are
    groups: dict[str, Callable[[pl.Series], pl.Series]]  # by column, the group of every value; two make a cross table
    regressors: list[str]  # numbers and dates
    month: str | None = None  # the column of the time series
    specs: Mapping[str, ht.ColumnSpec] = field(default_factory=dict)


def decades(column: pl.Series) -> pl.Series:
    """Put dates into decades, and numbers into tens."""
    return (column.dt.year() if column.dtype == pl.Date else column.cast(pl.Int64)) // 10 * 10


def months(column: pl.Series) -> pl.Series:
    """Put dates into months."""
    return column.dt.strftime("%Y-%m")


def beginnings(n: int) -> Callable[[pl.Series], pl.Series]:
    """Put codes into groups by their first characters."""
    return lambda column: column.cast(pl.String).str.slice(0, n)


def values(column: pl.Series) -> pl.Series:
    """Take each value as a group."""
    return column.cast(pl.String)


def days(rng: np.random.Generator, first: str, last: str, n: int) -> Any:
    """Draw days."""
    begin, end = (np.datetime64(day).astype(np.int64) for day in (first, last))
    return rng.integers(begin, end + 1, n).astype("datetime64[D]")


def make_stays(n: int) -> pl.DataFrame:
    """Make stays in a hospital over four years, more of them in winter."""
    rng = np.random.default_rng(61)
    age = np.clip(rng.normal(58, 21, n), 0, 99)
    admitted = days(rng, "2016-01-01", "2019-12-31", 3 * n)
    month = admitted.astype("datetime64[M]").astype(int) % 12
    admitted = admitted[rng.random(3 * n) < 0.45 + 0.3 * np.cos(2 * np.pi * month / 12)][:n]
    age, n = age[: len(admitted)], len(admitted)
    weights = 1 / np.arange(1, 401) ** 0.8
    code = rng.choice(400, n, p=weights / weights.sum())
    nights = rng.poisson(2 + age / 15 + (code % 7) / 3) + 1
    return pl.DataFrame(
        {
            "birth_date": admitted - (age * 365.25).astype("timedelta64[D]"),
            "sex": rng.choice(["f", "m"], n),
            "postcode": (10_115 + code * 137 % 80_000).astype(str),
            "admission": admitted,
            "nationality": rng.choice(["German", "Turkish", "Polish", "Syrian"], n, p=[0.8, 0.1, 0.06, 0.04]),
            "nights": nights,
        }
    )


def make_survey(n: int) -> pl.DataFrame:
    """Make a survey of households over a year."""
    rng = np.random.default_rng(62)
    age, region = rng.integers(18, 91, n), rng.integers(1, 17, n)
    income = np.round(rng.lognormal(10.3 + 0.004 * (age - 50) - 0.01 * region, 0.5, n), -2).astype(int)
    education = rng.choice(
        ["none", "lower", "middle", "upper", "bachelor", "master"], n, p=[0.05, 0.2, 0.3, 0.2, 0.15, 0.1]
    )
    score = 50 + 0.2 * age + 8 * np.log(income / 30_000) + rng.normal(0, 10, n)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m", "d"], n, p=[0.5, 0.49, 0.01]),
            "district": [f"{each:02}{rng.integers(1, 30):02}" for each in region],
            "education": education,
            "income": income,
            "interview": days(rng, "2023-01-01", "2023-12-31", n),
            "score": np.round(score, 1),
        }
    )


def make_ratings(n: int) -> pl.DataFrame:
    """Make ratings of films with the people who gave them."""
    rng = np.random.default_rng(63)
    age = np.clip(rng.gamma(6, 5, n).astype(int) + 12, 12, 80)
    item = np.minimum(rng.zipf(1.4, n), 300)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["F", "M"], n, p=[0.3, 0.7]),
            "zip": [f"{each:05}" for each in rng.choice(np.arange(10_000, 99_999, 271), n)],
            "item": item,
            "rated": days(rng, "2000-05-01", "2002-04-30", n),
            "stars": np.clip(np.round(3 + age / 60 + rng.normal(0, 1, n)), 1, 5).astype(int),
        }
    )


def make_flights(n: int) -> pl.DataFrame:
    """Make bookings of an airline: when booked, when flown, where from, how far."""
    rng = np.random.default_rng(64)
    flown = days(rng, "2018-01-01", "2019-12-31", n)
    ahead = np.minimum(rng.geometric(1 / 40, n), 360)
    distance = rng.choice(np.arange(200, 9_000, 37), n)
    return pl.DataFrame(
        {
            "booked": flown - ahead.astype("timedelta64[D]"),
            "flown": flown,
            "origin": rng.choice(
                ["FRA", "MUC", "BER", "HAM", "DUS", "STR", "CGN"], n, p=[0.35, 0.25, 0.15, 0.1, 0.06, 0.05, 0.04]
            ),
            "distance": distance,
            "birth_year": rng.integers(1935, 2010, n),
            "fare": np.round(40 + 0.08 * distance - 0.15 * ahead + rng.normal(80, 20, n), 2),
        }
    )


def list_sources(n: int) -> Iterator[Source]:
    """List the tables, of at most so many rows."""
    adult = pl.read_csv(DATA / "arx_adult" / "adult.csv", separator=";").head(n)
    adult = adult.with_columns(rich=(pl.col("salary-class") == ">50K").cast(pl.Int64)).drop("salary-class")
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
    yield Source("Adult", adult, names, "rich", {"age": decades, "education": values}, ["age"])
    diabetes = pl.read_csv(DATA / "uci" / "diabetes.csv", infer_schema=False).head(n)
    diabetes = diabetes.with_columns(
        pl.col("date").str.to_date("%m-%d-%Y", strict=False), pl.col("value").cast(pl.Float64, strict=False)
    ).drop_nulls()
    yield Source(
        "diabetes", diabetes, ["date", "time", "code"], "value", {"code": values, "date": months}, ["date"], "date",
        {"time": ht.ColumnSpec("time"), "code": CODES},
    )  # fmt: skip
    yield Source(
        "stays", make_stays(n), ["birth_date", "sex", "postcode", "admission", "nationality"], "nights",
        {"birth_date": decades, "postcode": beginnings(2)}, ["birth_date", "admission"], "admission",
        {"postcode": CODES},
    )  # fmt: skip
    yield Source(
        "survey", make_survey(n), ["age", "sex", "district", "education", "income", "interview"], "score",
        {"age": decades, "district": beginnings(2)}, ["age", "income"], "interview", {"district": CODES},
    )  # fmt: skip
    yield Source(
        "ratings", make_ratings(n), ["age", "sex", "zip", "item", "rated"], "stars",
        {"age": decades, "zip": beginnings(1)}, ["age", "rated"], "rated", {"zip": CODES},
    )  # fmt: skip
    yield Source(
        "flights", make_flights(n), ["booked", "flown", "origin", "distance", "birth_year"], "fare",
        {"birth_year": decades, "origin": values}, ["distance", "booked", "flown"], "flown",
    )  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """A column of a release or of the original: which of the original's values each record may have."""

    values: pl.Series
    weights: Any  # (n_cells, n_values): what share of a record with this cell each value has
    cells: Any  # (n_records,)

    def groups(self, group: Callable[[pl.Series], pl.Series], known: list[Any]) -> Any:
        """Return the share of each record in each group."""
        of_value = np.array([known.index(each) for each in group(self.values).to_list()])
        shares = np.zeros((len(self.weights), len(known)))
        np.add.at(shares.T, of_value, self.weights.T)
        return shares[self.cells]

    def middles(self) -> Any:
        """Return the middle of each record's cell."""
        numbers = self.values.cast(pl.Int64 if self.values.dtype == pl.Date else pl.Float64).to_numpy().astype(float)
        return (self.weights @ numbers)[self.cells]


def read(source: Source, release: Any, name: str) -> Reading:
    """Read a column of a release; of the original where there is none."""
    known = source.frame[name].unique().sort()
    if release is None:
        place = {value: code for code, value in enumerate(known.to_list())}
        return Reading(known, np.eye(len(known)), np.array([place[value] for value in source.frame[name].to_list()]))
    column = release.frame[name].cast(pl.String)
    texts = column.unique().to_list()
    hierarchy = release.claim.hierarchies.get(name)
    spec = release.claim.specs[name]
    covers = coverage_matrix(texts, known.cast(pl.String).to_list(), spec, hierarchy, name).astype(float)
    place = {text: code for code, text in enumerate(texts)}
    return Reading(
        known, covers / covers.sum(axis=1, keepdims=True), np.array([place[text] for text in column.to_list()])
    )


def distance(ours: Any, theirs: Any) -> float:
    """Return the share of the records that would have to move."""
    return float(np.abs(ours / ours.sum() - theirs / theirs.sum()).sum() / 2)


def means(shares: Any, outcome: Any) -> Any:
    """Return the mean of the outcome in each group."""
    return shares.T @ outcome / np.maximum(shares.sum(axis=0), 1e-9)


def coefficients(columns: list[Any], scale: list[tuple[float, float]], outcome: Any) -> Any:
    """Return the coefficients of least squares, of columns on one scale."""
    scaled = [(each - mean) / sd for each, (mean, sd) in zip(columns, scale, strict=True)]
    return np.linalg.lstsq(np.column_stack([np.ones(len(outcome)), *scaled]), outcome, rcond=None)[0][1:]


def measure(source: Source, release: Any) -> dict[str, float]:
    """Measure the four analyses, each 0 where it says what the original does."""
    outcome = source.frame[source.outcome].to_numpy().astype(float)
    released = release.frame[source.outcome].to_numpy().astype(float)
    every = {**source.groups, **({} if source.month is None else {source.month: months})}
    known = {name: group(source.frame[name]).unique().sort().to_list() for name, group in every.items()}
    theirs = {name: read(source, None, name).groups(group, known[name]) for name, group in every.items()}
    ours = {name: read(source, release, name).groups(group, known[name]) for name, group in every.items()}
    off = []
    for name in source.groups:
        exact, size = means(theirs[name], outcome), theirs[name].sum(axis=0)
        off.append(
            float((np.abs(means(ours[name], released) - exact) * size).sum() / size.sum() / np.abs(outcome.mean()))
        )
    middles = [
        (read(source, None, name).middles(), read(source, release, name).middles()) for name in source.regressors
    ]
    scale = [(float(exact.mean()), float(exact.std())) for exact, _ in middles]
    exact = coefficients([each for each, _ in middles], scale, outcome)
    found = coefficients([each for _, each in middles], scale, released)
    (one, two), month = source.groups, source.month
    return {
        "means": statistics.mean(off),
        "regression": float(np.abs(found - exact).sum() / np.abs(exact).sum()),
        "cross table": distance(ours[one].T @ ours[two], theirs[one].T @ theirs[two]),
        "months": float("nan") if month is None else distance(ours[month].sum(0), theirs[month].sum(0)),
        "sure": statistics.mean(float((each.max(axis=1) > 1 - 1e-9).mean()) for each in ours.values()),
    }  # fmt: skip


def protect(source: Source, how: str) -> Any:
    """Protect a table in one of four ways."""
    options: dict[str, Any] = {"method": ht.Mondrian(recoding="nested" if how == "nested" else "readable")}
    if how == "one unit":
        units = dict.fromkeys(source.quasi_identifiers, "units")
        options = {"method": "full_domain", "suppression_limit": 0.02, "hierarchies": units}
    elif how == "dates in units":
        dates = [name for name in source.quasi_identifiers if source.frame[name].dtype == pl.Date]
        options["hierarchies"] = dict.fromkeys(dates, "units")
    return ht.anonymize(
        source.frame, quasi_identifiers=source.quasi_identifiers, models=[ht.KAnonymity(5)], specs=source.specs,
        roles="trust", **options,
    )  # fmt: skip


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--only")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| table | cells | loss | distinct cells | nest | means | regression | cross table | months | sure | seconds |"
    )
    print("|---|---|---:|---:|---|---:|---:|---:|---:|---:|---:|")
    for source in list_sources(asked.rows):
        if asked.only not in (None, source.title):
            continue
        for how in ("readable", "dates in units", "nested", "one unit"):
            if how == "dates in units" and source.month is None:
                continue
            began = time.perf_counter()
            release = protect(source, how)
            seconds = time.perf_counter() - began
            cells = release.quality.cells
            figures = measure(source, release)
            shown = " | ".join("" if each != each else f"{each:.1%}" for each in figures.values())
            n_cells = max(each.n_cells for each in cells.values())
            nest = f"{sum(bool(each.nest) for each in cells.values())} of {len(cells)}"
            run = f"| {source.title} | {how} | {release.loss:.1%} | {n_cells:,} | {nest} | {shown} | {seconds:.1f} |"
            print(run, flush=True)


if __name__ == "__main__":
    main()
