"""Attacks on the CTGAN pair beside Anonymeter, and how often intervals cover a known risk.

python benchmarks/attacks.py FOLDER [PYTHON]

FOLDER holds ctgan_ori.csv, ctgan_syn.csv and ctgan_control.csv. PYTHON is an interpreter with Anonymeter installed.
"""

import json
import subprocess
import sys
import time
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


def beside(folder: Path, peer: str | None) -> None:
    """Make the same attacks by both."""
    ori, syn, control = (pl.read_csv(folder / f"ctgan_{name}.csv") for name in ("ori", "syn", "control"))
    made = {
        "singling out": lambda: ht.singling_out(ori, syn, control=control),
        "singling out, control as Anonymeter": lambda: ht.singling_out(
            ori, syn, control=control, control_size="anonymeter"
        ),
        "linkability": lambda: ht.linkability(
            ori, syn, control=control, aux_columns=HALVES, n_neighbors=10, n_attacks=2000
        ),
        "inference": lambda: ht.inference(ori, syn, control=control, secret="income", n_attacks=1000),
    }
    for name, make in made.items():
        began = time.process_time()
        found = make()
        seconds = time.process_time() - began
        print(
            f"{name:36} {found.n_success}/{found.baseline.n_success}/{found.control.n_success:.1f} of "
            f"{found.n_attacks}  risk {found.risk.value:.3f} [{found.risk.low:.3f}, {found.risk.high:.3f}]  "
            f"{seconds:.2f} CPU s"
        )
    if peer is None:
        return
    command = [peer, "-c", PEER, str(folder), json.dumps(HALVES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout:
            if not isinstance(told := json.loads(line), list):
                print(f"Anonymeter: inference by chance, every guess compared: {told}")
                continue
            name, success, baseline, on_control, risk, (low, high), seconds = told
            print(
                f"Anonymeter: {name:24} {success:.0f}/{baseline:.0f}/{on_control:.1f}  "
                f"risk {risk:.3f} [{low:.3f}, {high:.3f}]  {seconds:.1f} CPU s"
            )


def covering(n_pairs: int = 5000, n_attacks: int = 500) -> float:
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


def alarms(control_size: str, n_tables: int = 200) -> int:
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
    beside(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
    print(f"intervals cover: {covering():.1%} of 5,000 pairs")
    for size in ("matched", "anonymeter"):
        print(f"control_size={size!r}: {alarms(size)} false alarms on 200 skewed tables")
