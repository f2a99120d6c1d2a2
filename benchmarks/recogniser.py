"""The recogniser of roles against the truth, beside what takes no thought and beside a search over scores.

usage: python benchmarks/recogniser.py [--seeds N]

F1 of the proposed quasi-identifiers, per table and mean; where nothing is to be found, 1 for an empty
answer and else 0. "asked" is the share of columns that the recogniser asks about, which count as not
found. The truths, written before the recogniser, are in roles_truth.py (eight made-up tables) and
roles_real.py (six tables of others, by two readings). "renamed" has the headers v0, v1, ...

- random: each column with a chance of one half, mean of 200 draws;
- all, all but last: of the columns;
- name list: a list of English words as anyone would write it; where none is hit, every column but the last
  that has 2 to 100 values;
- evolutionary: the source's objective and search (docs/scores.md), mean of the seeds.
"""

import argparse
import os
import random
import re
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import polars as pl

import hushtable as ht
from roles_real import TRUTH_E, TRUTH_P, read_real
from roles_tables import TABLES
from roles_truth import TRUTHS, Truth, f1, renamed

DATA = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).parents[1] / "../shared")) / "data"
_PERSON = "age sex gender race ethnicity birth dob nationality marital education school occupation job profession"
_PLACE = "zip postcode postal city town county state region country religion household"
WORDS = frozenset(f"{_PERSON} {_PLACE}".split())
N_DRAWS = 200

Case = tuple[pl.DataFrame, Truth]


def mean_f1(answers: Iterable[Iterable[str]], truth: Truth) -> float:
    """Average F1 over several answers."""
    return statistics.mean(f1(answer, truth) for answer in answers)


def random_subsets(frame: pl.DataFrame) -> list[list[str]]:
    """Draw subsets, each column with a chance of one half."""
    draw = random.Random(0)
    return [[name for name in frame.columns if draw.random() < 0.5] for _ in range(N_DRAWS)]


def by_names(frame: pl.DataFrame) -> list[str]:
    """Take the columns of known names, else those of 2 to 100 values but the last."""
    hits = [name for name in frame.columns if WORDS & set(re.findall(r"[a-z]+", name.lower()))]
    return hits or [name for name in frame.columns[:-1] if 2 <= frame[name].n_unique() <= 100]


def by_evolution(frame: pl.DataFrame, n_seeds: int) -> list[tuple[str, ...]]:
    """Search the best sets by the source's objective."""
    table = ht.Table.encode(frame, typed=frame.columns)
    objective = ht.Objective.paper()
    return [
        ht.select_columns(table, objective=objective, method="evolutionary", seed=seed).best for seed in range(n_seeds)
    ]


def print_scores(cases: Mapping[str, Case], title: str, n_seeds: int) -> None:
    """Print every table and the means."""
    peers: dict[str, Callable[[pl.DataFrame], Iterable[Iterable[str]]]] = {
        "random": random_subsets,
        "all": lambda frame: [frame.columns],
        "all but last": lambda frame: [frame.columns[:-1]],
        "name list": lambda frame: [by_names(frame)],
        "evolutionary": lambda frame: by_evolution(frame, n_seeds),
    }
    print(f"\n| {title} | ours | asked | seconds | {' | '.join(peers)} |")
    print("|---|---:|---:|---:|" + "---:|" * len(peers))
    lines = []
    for name, (frame, truth) in cases.items():
        began = time.process_time()
        roles = ht.find_quasi_identifiers(frame)
        seconds = time.process_time() - began
        ours = [f1(roles.quasi_identifiers, truth), len(roles.ask) / frame.width, seconds]
        lines.append([*ours, *(mean_f1(answer(frame), truth) for answer in peers.values())])
        print(f"| {name} | " + " | ".join(f"{each:.3f}" for each in lines[-1]) + " |", flush=True)
    print("| **mean** | " + " | ".join(f"{each:.3f}" for each in np.mean(lines, axis=0)) + " |")


def without_headers(cases: Mapping[str, Case]) -> dict[str, Case]:
    """Rename all columns v0, v1, ..."""
    return {name: (renamed(frame), truth.renamed()) for name, (frame, truth) in cases.items()}


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="The recogniser of roles against the truth.")
    parser.add_argument("--seeds", type=int, default=3)
    n_seeds = parser.parse_args().seeds
    made_up = {name: (make(), TRUTHS[name]) for name, make in TABLES.items()}
    real = {name: read_real(name, data=DATA) for name in TRUTH_E}
    by_e = {name: (real[name], truth) for name, truth in TRUTH_E.items()}
    by_p = {name: (real[name], truth) for name, truth in TRUTH_P.items()}
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    # Compiles, so that nothing below has to.
    ht.find_quasi_identifiers(made_up["school"][0])
    print_scores(by_e, "truth E", n_seeds)
    print_scores(by_p, "truth P", n_seeds)
    print_scores(made_up, "made up", n_seeds)
    print_scores(without_headers(by_e), "truth E, renamed", n_seeds)
    print_scores(without_headers(made_up), "made up, renamed", n_seeds)


if __name__ == "__main__":
    main()
