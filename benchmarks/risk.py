"""Population risk from a sample: every estimator beside the truth, on populations that are known."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import hushtable as ht
from hushtable import datasets
from hushtable.risk import population as risk
from hushtable.risk.population.tree import log_shares
from hushtable.tables.partition import Partition

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
PEOPLE = ["birth_year", "sex", "postcode", "education", "marital_status", "occupation", "nationality"]
USA = 317_238_626
FRACTIONS = {
    "Adult": (0.02, 0.05, 0.1, 0.3, 0.5),
    "people": (0.01, 0.1, 0.3, 0.5),
    "lumpy": (0.01, 0.05, 0.1, 0.3, 0.5),
}
UNIQUENESS = ("zayatz", "pitman", "snb", "dankar", "npmle", "independence", "tree", "independence, all", "tree, all")
MATCHES = ("npmle", "independence", "tree", "benedetti-franconi")


@dataclass(frozen=True, slots=True)
class Population:
    """Classes of people: their codes and how many there are in each."""

    title: str
    codes: np.ndarray
    people: np.ndarray


@dataclass(frozen=True, slots=True)
class Answer:
    """What one sample says, and what is true; uniqueness, mean 1 / F over sample uniques, theta."""

    uniqueness: dict[str, float]
    mean_match: dict[str, float]
    theta: dict[str, float]
    bounds: tuple[float, float]
    mean_bounds: tuple[float, float]
    theta_error: float
    """How far data intrusion simulation is off, in its own standard errors."""


def populations() -> Iterator[Population]:
    """Yield Adult and Adult with redrawn cells (where the data folder is), and made-up people."""
    if (SHARED / "data" / "arx_adult").is_dir():
        yield coded("Adult", adult(), ADULT)
    frame = datasets.people(500_000, seed=0).with_columns(birth_year=pl.col("birth_date").dt.year())
    yield coded("people", frame, PEOPLE)
    if (SHARED / "tools" / "make_adult_scale.py").is_file():
        sys.path.insert(0, str(SHARED / "tools"))
        import make_adult_scale

        header, rows = make_adult_scale.rows(1_000_000)
        yield coded("lumpy", pl.DataFrame({name: rows[:, header.index(name)].tolist() for name in ADULT}), ADULT)


def adult() -> pl.DataFrame:
    """Return ARX's Adult as texts."""
    return pl.read_csv(SHARED / "data" / "arx_adult" / "adult.csv", separator=";", infer_schema=False)


def coded(title: str, frame: pl.DataFrame, columns: list[str]) -> Population:
    """Return the classes of a table as a population's."""
    table = ht.Table.encode(frame, columns)
    partition = Partition.from_table(table, columns)
    first = partition.rows[partition.offsets[:-1]]
    return Population(title, table.codes[:, first], partition.sizes)


def answer(population: Population, f: float, rng: np.random.Generator) -> Answer:
    """Draw a sample without replacement, ask every estimator, and look at the truth."""
    n_people = int(population.people.sum())
    drawn = rng.multivariate_hypergeometric(population.people, round(f * n_people), method="marginals")
    here = drawn > 0
    codes, records = population.codes[:, here], drawn[here]
    classes = risk.SampleClasses.from_sizes(records, n_people)
    n_values = (codes.max(axis=1) + 1).tolist()
    unique = records == 1
    others = population.people[here][unique]
    tied, apart = risk.chow_liu(codes, n_values, records).log_shares, log_shares(codes, n_values, records, [])
    tree, independent = risk.estimate_tree_risk(tied, unique, classes), risk.estimate_tree_risk(apart, unique, classes)
    found, mixture, limits = risk.population_uniqueness(classes, tree=tree), risk.npmle(classes), risk.bounds(classes)
    theta, truth = risk.data_intrusion(classes, confidence=0.6827), float(unique.sum() / others.sum())
    side = theta.high - theta.value if truth > theta.value else theta.value - theta.low
    n_unique = classes.n_unique
    return Answer(
        uniqueness={
            "truth": float((population.people == 1).sum() / n_people),
            "independence": independent.uniqueness,
            "independence, all": float(records @ np.exp(-n_people * np.exp(apart)) / records.sum()),
            "tree, all": float(records @ np.exp(-n_people * np.exp(tied)) / records.sum()),
            **{name: np.nan if each.value is None else each.value for name, each in found.items()},
        },
        mean_match={
            "truth": float((1 / others).mean()),
            "npmle": mixture.tau2 / n_unique,
            "independence": independent.tau2 / n_unique,
            "tree": tree.tau2 / n_unique,
            "benedetti-franconi": float(risk.benedetti_franconi([1], [1 / classes.f])[0]),
        },
        theta={"truth": truth, "intrusion": theta.value, "npmle": mixture.theta},
        bounds=(limits.low, limits.high),
        mean_bounds=(limits.tau2[0] / n_unique, limits.tau2[1] / n_unique),
        theta_error=(truth - theta.value) / side,
    )


def mean(answers: list[Answer], figure: Callable[[Answer], float]) -> float:
    """Return the mean of a figure over the samples that have it."""
    return statistics.fmean(value for each in answers if not np.isnan(value := figure(each)))


def span(answers: list[Answer], ends: Callable[[Answer], tuple[float, float]]) -> str:
    """Return the mean of both ends of an interval over samples."""
    return " - ".join(f"{mean(answers, lambda each, end=end: ends(each)[end]):.2f}" for end in (0, 1))


def simulate(turns: int) -> None:
    """Print two tables: population uniqueness, and the risk of sample uniques."""
    asked = {
        (population.title, f): [answer(population, f, np.random.default_rng(seed)) for seed in range(turns)]
        for population in populations()
        for f in FRACTIONS[population.title]
    }
    head(["population", "f", "truth", *UNIQUENESS, "sd of npmle", "bounds", "truth within"])
    for (title, f), answers in asked.items():
        figures = [mean(answers, lambda each, name=name: each.uniqueness[name]) for name in ("truth", *UNIQUENESS)]
        spread = statistics.stdev(each.uniqueness["npmle"] for each in answers)
        held = sum(each.bounds[0] <= each.uniqueness["truth"] <= each.bounds[1] for each in answers)
        line([title, f"{f:g}", *figures, spread, span(answers, lambda each: each.bounds), f"{held} of {turns}"])
    print()
    head(["population", "f", "mean 1/F", *MATCHES, "bounds", "theta", "DIS", "worst, in its errors", "theta of npmle"])
    for (title, f), answers in asked.items():
        figures = [mean(answers, lambda each, name=name: each.mean_match[name]) for name in ("truth", *MATCHES)]
        thetas = [mean(answers, lambda each, name=name: each.theta[name]) for name in ("truth", "intrusion", "npmle")]
        worst = max((each.theta_error for each in answers), key=abs)
        line([title, f"{f:g}", *figures, span(answers, lambda each: each.mean_bounds), *thetas[:2], worst, thetas[2]])


def tiny_sample() -> None:
    """Print what raw Adult says as a sample of the USA, and what every estimator takes."""
    classes = risk.SampleClasses.from_sizes(coded("Adult", adult(), ADULT).people, USA)
    head(["estimator", "value", "ms"])
    for name in ("zayatz", "pitman", "snb", "npmle", "bounds", "data_intrusion"):
        estimator = getattr(risk, name)
        estimator(classes)
        spent = []
        for _ in range(5):
            began = time.perf_counter()
            found = estimator(classes)
            spent.append(1_000 * (time.perf_counter() - began))
        line([name, format_figure(found), statistics.median(spent)])


def format_figure(found: Any) -> str:
    """Return the figure of an answer."""
    if isinstance(found, risk.Bounds):
        return f"{found.low:.3f} - {found.high:.3f}"
    return f"{found.uniqueness if isinstance(found, risk.Mixture) else found.value:.8f}"


def head(titles: list[str]) -> None:
    """Print the head of a table."""
    print("| " + " | ".join(titles) + " |")
    print("|---" + "|---:" * (len(titles) - 1) + "|", flush=True)


def line(cells: list[Any]) -> None:
    """Print a row of a table."""
    print("| " + " | ".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5, help="samples of each population and fraction")
    simulate(parser.parse_args().turns)
    if (SHARED / "data" / "arx_adult").is_dir():
        print()
        tiny_sample()


if __name__ == "__main__":
    main()
