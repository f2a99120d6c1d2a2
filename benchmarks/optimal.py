"""Full-domain recoding: proofs on Adult with ARX's hierarchies, ARX 3.9.2's own figures beside them.

Then what is beyond it: local recoding (`local.py`) and what no release can lose less than (`bounds.py`).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import hushtable as ht
from hushtable.anonymizers import Found, Problem
from hushtable.search.budget import Clock

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ADULT = SHARED / "data" / "arx_adult"
COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
LADDERS = {name: ADULT / f"adult_hierarchy_{name}.csv" for name in COLUMNS}
PAY = "salary-class"
K5 = ht.KAnonymity(5)
BEYOND = {"local.py": "Local recoding", "bounds.py": "Floors"}


@dataclass(frozen=True)
class Scenario:
    """What is asked, and what ARX needs for it: nodes checked and CPU milliseconds, warm."""

    name: str
    models: tuple[Any, ...]
    limit: float
    arx_score: float
    arx_checks: int
    arx_ms: int


SCENARIOS = (
    Scenario("k 5, limit 0", (K5,), 0.0, 0.5915849773198221, 142, 105),
    Scenario("k 5, limit 0.02", (K5,), 0.02, 0.30334014291297273, 722, 665),
    Scenario("k 5, limit 1", (K5,), 1.0, 0.22004987619069327, 2_529, 2_710),
    Scenario("k 5, distinct l 2, 0.02", (K5, ht.DistinctLDiversity(2, PAY)), 0.02, 0.37892877217642296, 473, 632),
    Scenario("k 5, t 0.2, 0.02", (K5, ht.TCloseness(0.2, PAY, ground="equal")), 0.02, 0.5099701989669747, 2_073, 1_741),
)


def released(path: Path, models: tuple[Any, ...], limit: float) -> tuple[ht.Release, Problem]:
    """Return a release, and the problem that its search was given."""
    asked: list[Problem] = []
    search = ht.FullDomain.search

    def watched(method: ht.FullDomain, problem: Problem) -> Found:
        asked.append(problem)
        return search(method, problem)

    with mock.patch.object(ht.FullDomain, "search", watched):
        release = ht.anonymize(
            path,
            quasi_identifiers=COLUMNS,
            models=models,
            method="full_domain",
            hierarchies=LADDERS,
            loss="arx_loss",
            suppression_limit=limit,
            roles="trust",
        )
    return release, asked[0]


def milliseconds(problem: Problem, n_runs: int) -> float:
    """Return the CPU time of a search, the median of several."""
    spent = []
    for _ in range(n_runs):
        began = time.process_time()
        ht.FullDomain().search(replace(problem, clock=Clock()))
        spent.append(time.process_time() - began)
    return 1e3 * statistics.median(spent)


def main() -> None:
    """Print a table for Adult, a line for each further file, and the tables of the other benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alone", action="store_true", help="full domain only")
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="files of make_adult_scale.py")
    given = parser.parse_args()
    print("| full domain | levels | loss | ARX's | suppressed | proven | roll-ups | CPU ms | ARX checks | ARX CPU ms |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for each in SCENARIOS:
        release, problem = released(ADULT / "adult.csv", each.models, each.limit)
        levels = " ".join(str(int(cells.level.max())) for cells in release.recoding.cells)
        spent = milliseconds(problem, given.runs)
        print(
            f"| {each.name} | {levels} | {release.loss:.12f} | {each.arx_score:.12f} | {release.n_suppressed} "
            f"| {release.trace.optimal} | {release.trace.nodes} | {spent:.0f} | {each.arx_checks} | {each.arx_ms} |",
            flush=True,
        )
    for path in given.more:
        for limit in (0.02, 0.0, 1.0):
            release, problem = released(path, (K5,), limit)
            spent = milliseconds(problem, min(3, given.runs))
            print(
                f"{path.name}, limit {limit}: loss {release.loss:.10f}, {release.n_suppressed} suppressed, "
                f"{problem.table.n_rows} distinct rows, {release.trace.nodes} roll-ups, {spent:.0f} ms",
                flush=True,
            )
    for name, title in () if given.alone else BEYOND.items():
        print(f"\n{title}\n", flush=True)
        subprocess.run([sys.executable, Path(__file__).with_name(name)], check=True)


if __name__ == "__main__":
    main()
