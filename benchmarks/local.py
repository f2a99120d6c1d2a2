"""Local recoding of Adult: loss and CPU seconds by k and budget, beside what is demanded and the best that was seen.

    python benchmarks/local.py [--only arx_loss] [--share 0.1]

The figures that stand beside ours are those of the project's facts: ARX's Loss by the idea of ARX rebuilt, with
annealing of the same moves, and the set-NCP by annealing from Mondrian, or from a matching for k = 2. Seconds are of
one core and of the whole call, from the table in memory to the release. Budgets are steps, so that the losses are the
same on every machine.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import polars as pl

import hushtable as ht
from mondrian import ADULT, ADULT_ROWS, SHARED

LADDERS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
CODED = SHARED / "data" / "arx_adult"


@dataclass(frozen=True, slots=True)
class Case:
    """What is asked, with how many million steps, the most loss in how many seconds, and the best seen elsewhere."""

    loss: str
    k: int
    steps: float
    seconds: float
    demanded: float
    seen: float


CASES = (
    Case("arx_loss", 5, 3, 8, 0.0560, 0.0490),
    Case("arx_loss", 5, 8, 15, 0.0541, 0.0490),
    Case("arx_loss", 5, 35, 60, 0.0500, 0.0490),
    Case("arx_loss", 2, 60, 90, 0.0195, 0.0192),
    Case("arx_loss", 10, 50, 90, 0.075, 0.0741),
    Case("arx_loss", 50, 60, 90, 0.146, 0.1448),
    Case("ncp", 2, 8, 15, 0.0061, 0.00597),
    Case("ncp", 5, 7, 15, 0.0232, 0.02075),
    Case("ncp", 10, 7, 15, 0.0420, 0.0377),
    Case("ncp", 50, 7, 15, 0.115, 0.1047),
    Case("ncp", 2, 100, 180, 0.0061, 0.00597),
    Case("ncp", 5, 100, 180, 0.0210, 0.02075),
    Case("ncp", 10, 100, 180, 0.0380, 0.0377),
    Case("ncp", 50, 100, 180, 0.106, 0.1047),
)
MODELS = {
    "k = 5, l = 2": (ht.KAnonymity(5), ht.DistinctLDiversity(2, "salary-class")),
    "k = 5, t = 0.2": (ht.KAnonymity(5), ht.TCloseness(0.2, "salary-class")),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of it."""

    release: ht.Release
    seconds: float


def run(loss: str, models: tuple[ht.PrivacyModel, ...], steps: float) -> Measured:
    """Anonymize Adult, along ARX's hierarchies where the loss is ARX's."""
    if loss == "ncp":
        frame = pl.read_csv(SHARED / "data" / "adult" / "adult_ori.csv")
        data = frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?")).select(ADULT)
        assert data.height == ADULT_ROWS
        names, ladders = ADULT, {}
    else:
        data = pl.read_csv(CODED / "adult.csv", separator=";")
        names, ladders = list(LADDERS), {name: CODED / f"adult_hierarchy_{name}.csv" for name in LADDERS}
    before = time.process_time()
    release = ht.anonymize(
        data,
        quasi_identifiers=names,
        models=models,
        method="local_recoding",
        hierarchies=ladders,
        loss=loss,
        roles="trust",
        budget=ht.Budget(nodes=max(1, int(steps * 1e6))),
    )
    return Measured(release, time.process_time() - before)


def line(title: str, measured: Measured, demanded: str, seen: str) -> str:
    """Tell one run."""
    effort = measured.release.trace.effort
    start = effort.history[0][2] if effort else float("nan")
    release = measured.release
    figures = f"{release.trace.nodes / 1e6:g} | {start:.5f} | {release.loss:.5f}"
    return f"| {title} | {figures} | {demanded} | {seen} | {measured.seconds:.1f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name holds this: 'arx_loss k=5', 'ncp', 'models'")
    parser.add_argument("--share", type=float, default=1.0, help="of each row's steps")
    asked = parser.parse_args()
    print("| | million steps | start | loss | demanded | best seen | CPU s |")
    print("|---|---|---|---|---|---|---|")
    warmed: set[str] = set()
    for case in CASES:
        title = f"{case.loss} k={case.k}"
        if asked.only not in title:
            continue
        models = (ht.KAnonymity(case.k),)
        if case.loss not in warmed:
            run(case.loss, models, 0.1)
            warmed.add(case.loss)
        demanded = f"{case.demanded:g} in {case.seconds:g} s"
        print(line(title, run(case.loss, models, asked.share * case.steps), demanded, f"{case.seen:g}"), flush=True)
    for title, of_classes in MODELS.items():
        if asked.only in f"models {title}":
            run("arx_loss", of_classes, 0.1)
            print(line(title, run("arx_loss", of_classes, asked.share * 10), "-", "-"), flush=True)


if __name__ == "__main__":
    main()
