"""Scores of column sets and searches over them: one triple, all subsets, the optima, every search with ten seeds.

usage: python benchmarks/scores.py [--seeds N]

The triple is distinction, separation and the mean class size of one column set. Beside
us, plain pandas and polars group the same integer codes and compute it from the sizes.
The source's library is not run here. Its figures, measured elsewhere (facts on
quasi-identifiers, sections 3 and 3b to 3c): 0.88 s a triple of Adult; an evolutionary
search of 30 generations, 86 to 114 s on car and about an hour on Adult; the best set returned in 2 of 43 runs.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

import hushtable as ht
from hushtable.discover import scores
from hushtable.discover.objective import ObjectiveEvaluator

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).parents[1] / "../shared")) / "data"
OBJECTIVE = ht.Objective.paper()
OPTIMA = {"car": 1.151, "diabetes": 1.519, "heart": 1.833, "nursery": 1.071, "adult": 1.829}
SETS = {
    "1 column": ["age"],
    "6 columns": ["age", "education", "marital", "occupation", "race", "sex"],
    "8 columns": ["age", "type_employer", "education", "marital", "occupation", "race", "sex", "country"],
    "14 columns, not fnlwgt": None,
    "15 columns": None,
}


def load() -> dict[str, ht.Table]:
    """Code the five tables of the source; nursery's header lacks the name of its ninth column."""
    nursery = SHARED / "uci/nursery.csv"
    if not nursery.is_file():
        sys.exit(f"no {nursery}; set HUSHTABLE_SHARED")
    header = [name.strip() for name in nursery.read_text().split("\n", 1)[0].split(",")]
    columns = [*header, "class"]
    return {
        "car": ht.Table.encode(SHARED / "uci/car.csv"),
        "diabetes": ht.Table.encode(SHARED / "uci/diabetes.csv"),
        "heart": ht.Table.encode(SHARED / "uci/heart_disease.csv"),
        "nursery": ht.Table.encode(
            # The file ends with an empty line, which is no record.
            pl.read_csv(nursery, skip_rows=1, has_header=False, infer_schema=False, new_columns=columns).drop_nulls()
        ),
        "adult": ht.Table.encode(SHARED / "adult/adult_ori.csv"),
    }


def median_seconds(work: Callable[[], object], turns: int = 21) -> float:
    """Time some work, the first turn (which may compile) apart."""
    work()
    seconds = []
    for _ in range(turns):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def triple(sizes: np.ndarray, n: int) -> tuple[float, float, float]:
    """Compute distinction, separation and the mean class size from class sizes."""
    return len(sizes) / n, 1 - (sizes * (sizes - 1)).sum() / (n * (n - 1)), n / len(sizes)


def triples(table: ht.Table) -> None:
    """Print one triple of Adult by every engine."""
    codes = {name: table.codes[j] for j, name in enumerate(table.names)}
    pandas, polars, n = pd.DataFrame(codes), pl.DataFrame(codes), table.n_records
    objective = ht.Objective((ht.Term("distinction"), ht.Term("separation"), ht.Term("k_anonymity", aggregate="mean")))
    print("\n| one triple of Adult | kernel of the search (ms) | three scores (ms) | polars (ms) | pandas (ms) |")
    print("|---|---:|---:|---:|---:|")
    for title, columns in SETS.items():
        names = columns or [name for name in table.names if name != "fnlwgt" or title == "15 columns"]
        evaluator = ObjectiveEvaluator(table, names, len(table.names), objective, ht.Budget())
        mask = (1 << len(names)) - 1

        def by_scores(names: list[str] = names) -> list[float]:
            partition = ht.Partition.from_table(table, names)
            functions = (scores.distinction, scores.separation, scores.k_anonymity)
            return [function(table, names, partition=partition).value for function in functions]

        row = [
            median_seconds(lambda e=evaluator, m=mask: e.compute_terms([m])),
            median_seconds(by_scores),
            median_seconds(lambda c=names: triple(polars.group_by(c).len()["len"].to_numpy().astype(np.int64), n)),
            median_seconds(lambda c=names: triple(pandas.groupby(c, sort=False).size().to_numpy(), n), 5),
        ]
        print(f"| {title} | " + " | ".join(f"{1000 * each:.3f}" for each in row) + " |")


EXACT, DRAWN = ("exhaustive", "pareto", "branch_and_bound"), ("tabu", "annealing", "evolutionary")


def searches(tables: dict[str, ht.Table], n_seeds: int) -> None:
    """Print what every search finds of the source's objective, and how often those that draw find the best."""
    names = [name.replace("_", " ") for name in (*EXACT, "greedy")]
    print(f"\n| table | best value | {' | '.join(names)} | {', '.join(DRAWN)}: best found in {n_seeds} seeds |")
    print(f"|---|---:|{'---:|' * len(names)}---|")
    for name, table in tables.items():
        cells, best = [], -np.inf
        for method in (*EXACT, "greedy"):
            found = ht.select_columns(table, objective=OBJECTIVE, method=method)
            best = max(best, found.value)
            missed = "" if found.value == best else f", {found.value:.3f}"
            cells.append(f"{found.seconds:.3f} s, {len(found.history):,} sets{missed}")
        assert f"{best:.3f}" == f"{OPTIMA[name]:.3f}", f"{name}: {best}"
        hits = []
        for method in DRAWN:
            drawn = (ht.select_columns(table, objective=OBJECTIVE, method=method, seed=seed) for seed in range(n_seeds))
            hits.append(str(sum(each.value == best for each in drawn)))
        print(f"| {name} | {best:.3f} | {' | '.join(cells)} | {', '.join(hits)} |")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="Scores of column sets and searches over them.")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    tables = load()
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    # Compiles, so that no search below has to.
    ht.select_columns(tables["car"], objective=OBJECTIVE)
    triples(tables["adult"])
    searches(tables, options.seeds)


if __name__ == "__main__":
    main()
