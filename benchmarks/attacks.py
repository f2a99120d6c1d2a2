"""Attacks on the CTGAN pair beside Anonymeter, and how often intervals cover a known risk.

python benchmarks/attacks.py FOLDER [PYTHON]

FOLDER holds ctgan_ori.csv, ctgan_syn.csv and ctgan_control.csv. PYTHON is an interpreter with Anonymeter installed.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.risk import Tries, excess_over_control

HALVES = (["age", "type_employer", "education", "marital", "race"], ["occupation", "sex", "country", "hr_per_week",
          "income"])  # fmt: skip
PEER = """
import json, sys, time
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
folder, halves = sys.argv[1], json.loads(sys.argv[2])
ori, syn, control = (pd.read_csv(f"{folder}/ctgan_{name}.csv") for name in ("ori", "syn", "control"))
others = [name for name in ori.columns if name != "income"]
made = {
    "singling out": lambda: SinglingOutEvaluator(
        ori=ori, syn=syn, control=control, n_attacks=500, n_cols=3).evaluate(),
    "linkability": lambda: LinkabilityEvaluator(
        ori=ori, syn=syn, control=control, aux_cols=halves, n_neighbors=10, n_attacks=2000).evaluate(n_jobs=1),
    "inference": lambda: InferenceEvaluator(
        ori=ori, syn=syn, control=control, aux_cols=others, secret="income", n_attacks=1000).evaluate(n_jobs=1),
}
for name, make in made.items():
    began = time.process_time()
    each = make()
    seconds = time.process_time() - began
    found, risk = each.results(), each.risk()
    print(json.dumps([name, float(found.n_success), float(found.n_baseline), float(found.n_control),
                      float(risk.value), [float(end) for end in risk.ci], seconds]), flush=True)
# Guesses by chance as its release 1.0.0 compared them: by position. Since 1.1.0 they are aligned by row label.
people, guesses = ori["income"].sample(1000), syn["income"].sample(1000)
print(json.dumps(int((people.to_numpy() == guesses.to_numpy()).sum())))
"""


WORK = {
    "singling out": "500 queries of 3 columns",
    "scaled": 'the same, `control_size="anonymeter"`',
    "linkability": "linkability, 2,000 people, 10 neighbours",
    "inference": "inference of income, 1,000 people",
}


def format_cell(successes: Iterable[float], risk: float, low: float, high: float, seconds: float) -> str:
    """Return a cell: successes on the people, by chance and on the control, the risk, and CPU seconds."""
    counts = " / ".join(f"{each:.1f}".removesuffix(".0") for each in successes)
    return f"{counts}, {risk:.3f} [{low:.3f}, {high:.3f}], {seconds:.1f} s"


def run_anonymeter(folder: Path, peer: str) -> tuple[dict[str, str], int]:
    """Return Anonymeter's cells, and how many of its 1,000 guesses by chance are right if all are compared."""
    command = [peer, "-c", PEER, str(folder), json.dumps(HALVES)]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    *attacks, by_chance = map(json.loads, lines)
    cells = {
        name: format_cell(successes, risk, low, high, seconds)
        for name, *successes, risk, (low, high), seconds in attacks
    }
    return cells, by_chance


def print_attacks(folder: Path, peer: str | None) -> int | None:
    """Print the same attacks by both, and return how many guesses of the peer by chance are right."""
    ori, syn, control = (pl.read_csv(folder / f"ctgan_{name}.csv") for name in ("ori", "syn", "control"))
    made = {
        "singling out": lambda: ht.singling_out(ori, syn, control=control),
        "scaled": lambda: ht.singling_out(ori, syn, control=control, control_size="anonymeter"),
        "linkability": lambda: ht.linkability(
            ori, syn, control=control, aux_columns=HALVES, n_neighbors=10, n_attacks=2000
        ),
        "inference": lambda: ht.inference(ori, syn, control=control, secret="income", n_attacks=1000),
    }
    theirs, by_chance = ({}, None) if peer is None else run_anonymeter(folder, peer)
    print("| attack | hushtable | Anonymeter |\n|---|---|---|")
    for name, make in made.items():
        began = time.process_time()
        found = make()
        seconds = time.process_time() - began
        successes = (found.n_success, found.baseline.n_success, found.control.n_success)
        ours = format_cell(successes, found.risk.value, found.risk.low, found.risk.high, seconds)
        print(f"| {WORK[name]} | {ours} | {theirs.get(name, '')} |", flush=True)
    return by_chance


def measure_coverage(n_pairs: int = 5000, n_attacks: int = 500) -> float:
    """Return how often intervals hold the risk of simulated attacks and controls whose rates are known."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(n_pairs):
        control = rng.uniform(0.05, 0.5)
        attack = rng.uniform(control + 0.1, 0.9)
        tries = (Tries(rng.binomial(n_attacks, rate), n_attacks) for rate in (attack, control))
        risk = excess_over_control(*tries)
        covered += risk.low <= (attack - control) / (1 - control) <= risk.high
    return covered / n_pairs


def count_false_alarms(control_size: str, n_tables: int = 200) -> int:
    """Count the attacks that report a risk where tables, controls and synthetic tables are drawn alike."""
    raised = 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        original, control, made = (
            pl.DataFrame({name: [f"v{each}" for each in rng.zipf(1.5, n)] for name in "ab"}) for n in (1000, 400, 1000)
        )
        raised += ht.singling_out(original, made, control=control, n_cols=2, control_size=control_size).risk.low > 0
    return raised


if __name__ == "__main__":
    by_chance = print_attacks(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
    print("\n| check | figure |\n|---|---:|")
    print(f"| 95 % intervals that hold the true risk, of 5,000 simulated | {measure_coverage():.1%} |")
    for size in ("matched", "anonymeter"):
        print(f'| false alarms on 200 skewed tables, `control_size="{size}"` | {count_false_alarms(size)} |')
    if by_chance is not None:
        print(f"| right guesses by chance of Anonymeter, of 1,000, compared by position | {by_chance} |")
