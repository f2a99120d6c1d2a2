"""Local suppression of Adult: blanked cells and seconds by k, beside sdcMicro's and the best that was seen.

    python benchmarks/suppression.py [--k 2 3 5] [--nodes 2656]

sdcMicro's figures are those of the project's facts, which ran 5.8.1 on these rows (its default, which counts a blank
as matching everything, and took 280 CPU seconds for k = 2 and 551 for k = 5); so are the class optimum for k = 2 and
the bounds. Seconds are CPU seconds of the whole call.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass

import polars as pl

import hushtable as ht
from mondrian import SHARED

COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the facts tell: sdcMicro's cells, its unique records and those that fit fewer than k, and the best seen."""

    cells: int
    unique: int
    unfit: int
    own: int
    best: str


SEEN = {
    2: Seen(14_466, 4_195, 3_164, 16_199, "17,049"),
    3: Seen(20_052, 3_502, 4_080, 22_245, "bound 23,936"),
    5: Seen(26_751, 2_570, 4_473, 28_546, "bound 31,195"),
}


def main() -> None:
    """Print a row for every k and way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--k", type=int, nargs="+", default=[2, 3, 5])
    parser.add_argument("--nodes", type=int, default=2_656, help="of a longer search; 0: without it")
    asked = parser.parse_args()
    path = SHARED / "data" / "arx_adult" / "adult.csv"
    adult = pl.read_csv(path, separator=";", infer_schema=False).select(COLUMNS)
    ways = {"own": None, "class": None}
    if asked.nodes:
        ways["class, longer"] = ht.Budget(nodes=asked.nodes)
    # Compiled before anything is measured.
    _suppress(adult.head(200), ht.KAnonymity(2), None)
    print(f"load {os.getloadavg()[0]:.1f}")
    print("| k | what | cells | floor | gap | seconds | smallest class / own / wildcard |")
    for k in asked.k:
        seen = SEEN[k]
        print(f"| {k} | sdcMicro | {seen.cells:,} | | | | {seen.unique:,} unique, {seen.unfit:,} fit fewer than k |")
        print(f"| {k} | best seen | {seen.best} | {seen.own:,} | | | |")
        for way, budget in ways.items():
            model = ht.MatchK1(k) if way == "own" else ht.KAnonymity(k)
            began = time.process_time()
            release = _suppress(adult, model, budget)
            seconds, trace, blanks = time.process_time() - began, release.trace, release.blanks
            assert release.verify().passed
            sizes = f"{blanks.smallest_class} / {blanks.smallest_own} / {blanks.smallest_wildcard}"
            figures = f"{release.loss:,.0f} | {trace.bound:,.0f} | {trace.gap:.1%} | {seconds:.1f} | {sizes}"
            print(f"| {k} | {way} | {figures} |", flush=True)


def _suppress(frame: pl.DataFrame, model: object, budget: ht.Budget | None) -> ht.Release:
    options = {"method": "suppress", "loss": "minimal_distortion", "roles": "trust", "budget": budget}
    return ht.anonymize(frame, quasi_identifiers=COLUMNS, models=[model], **options)


if __name__ == "__main__":
    main()
