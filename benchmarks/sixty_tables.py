"""Mondrian's two rules on sixty fixed tables: what `gain` loses, what `median` loses, and where gain is worse.

Three sizes, ten designs of which three are uniform, three dependent and four real, with and without hierarchies.
Columns, k and seeds were chosen before anything was measured, and are not to be changed to please a rule.
"""

from __future__ import annotations

import argparse
import itertools
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import hushtable as ht
from hushtable import Hierarchy, datasets
from mondrian import show

Floats = NDArray[np.float64]

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
SIZES = (300, 2_000, 10_000)
SEED = 14
STYLES = ("readable", "tight")
MOST_LOST, MOST_WORSE = 3, 0.02  # of the sixty tables, and of a loss

JOBS = {
    "office": ["clerk", "secretary", "accountant"],
    "hands": ["carpenter", "welder", "plumber", "driver"],
    "care": ["nurse", "physician", "midwife"],
    "school": ["teacher", "librarian"],
}
CITIES = {
    region: {f"{region}{state}": [f"{region}{state}-{city}" for city in range(5)] for state in range(n_states)}
    for region, n_states in (("north", 3), ("south", 3), ("west", 2))
}
DEGREES = {"school": ["none", "primary", "secondary"], "university": ["bachelor", "master", "doctorate"]}
PALE, STRONG, DARK = ["w", "y", "p", "b"], ["e", "o", "r", "g"], ["n", "u", "k", "h"]
ODOURS = {"none": ["n"], "pleasant": ["a", "l"], "unpleasant": {"foul": ["f", "m"], "sharp": ["y", "s", "p", "c"]}}

MADE_UP: Mapping[str, Any] = {
    "age": Hierarchy.intervals([5, 10, 20, 40]),
    "income": Hierarchy.intervals([1_000, 5_000, 25_000]),
    "postcode": Hierarchy.prefix([4, 3, 2, 1]),
    "job": {"tree": JOBS},
    "born": Hierarchy.dates(),
    "city": {"tree": CITIES},
    "sex": Hierarchy.suppression(),
    "degree": {"tree": DEGREES},
}
ADULT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
ADULT_NUMBERS: Mapping[str, Any] = {
    "age": Hierarchy.intervals([5, 10, 20]),
    "education_num": Hierarchy.intervals([2, 4, 8]),
    "hr_per_week": Hierarchy.intervals([5, 10, 20, 40]),
    "capital_gain": Hierarchy.intervals([1_000, 5_000, 20_000]),
    "marital": {
        "tree": {
            "married": ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"],
            "alone": ["Never-married", "Divorced", "Separated", "Widowed"],
        }
    },
    "occupation": Hierarchy.frequency(3),
    "country": Hierarchy.dictionary("countries"),
}
DIABETES: Mapping[str, Any] = {
    "date": Hierarchy.dates(),
    "time": Hierarchy.prefix([4, 2, 1]),
    "code": Hierarchy.prefix(1),
    "value": Hierarchy.intervals([10, 50, 100]),
}
MUSHROOM: Mapping[str, Any] = {
    "cap-shape": Hierarchy.suppression(),
    "cap-color": {"tree": {"pale": PALE, "strong": STRONG, "dark": DARK}},
    "odor": {"tree": ODOURS},
    "gill-color": {"tree": {"pale": PALE, "strong": STRONG, "dark": DARK}},
    "stalk-root": Hierarchy.frequency(2),
    "ring-type": Hierarchy.frequency(2),
    "spore-print-color": {"tree": {"pale": PALE, "other": {"strong": STRONG, "dark": DARK}}},
    "habitat": Hierarchy.frequency(3),
}
PEOPLE: Mapping[str, Any] = {
    "birth_date": Hierarchy.dates(),
    "sex": Hierarchy.suppression(),
    "postcode": Hierarchy.prefix([3, 2, 1]),
    "education": Hierarchy.dictionary("education"),
    "marital_status": Hierarchy.frequency(2),
    "occupation": Hierarchy.frequency(3),
    "nationality": Hierarchy.dictionary("countries"),
}


@dataclass(frozen=True, slots=True)
class Design:
    """What tables of one kind look like, at every size.

    Attributes
    ----------
    kind : {"uniform", "dependent", "real"}
    name : str
    hierarchies : mapping of column to hierarchy
        Of every quasi-identifier, in this order.
    k : int
    """

    kind: str
    name: str
    hierarchies: Mapping[str, Any]
    k: int


@dataclass(frozen=True, slots=True)
class Task:
    """One of the sixty tables."""

    design: Design
    frame: pl.DataFrame
    with_hierarchies: bool

    @property
    def hierarchies(self) -> Mapping[str, Any]:
        """Those of all columns, or none."""
        return self.design.hierarchies if self.with_hierarchies else {}


@dataclass(frozen=True, slots=True)
class Losses:
    """What the two rules lose on one table, as published."""

    task: Task
    gain: float
    median: float

    @property
    def ratio(self) -> float:
        """Above 1 where gain loses more than median."""
        return self.gain / self.median if self.median else 1.0 + self.gain


def designs() -> list[Design]:
    """Return the ten of them."""
    shapes = (("narrow", 4, 2), ("middle", 6, 5), ("wide", 8, 20))
    made_up = [
        Design(kind, name, dict(itertools.islice(MADE_UP.items(), n_columns)), k)
        for kind in ("uniform", "dependent")
        for name, n_columns, k in shapes
    ]
    if not SHARED.is_dir():
        kept = (("all", PEOPLE), *((f"all but {name}", _without(name)) for name in ("sex", "postcode")))
        ks = (5, 10, 5)
        people = [Design("people", name, ladders, k) for (name, ladders), k in zip(kept, ks, strict=True)]
        return [*made_up, *people, Design("people", "all, k = 20", PEOPLE, 20)]
    files = {name: SHARED / "data" / "arx_adult" / f"adult_hierarchy_{name}.csv" for name in ADULT}
    return [
        *made_up,
        Design("real", "adult", files, 5),
        Design("real", "adult_numbers", ADULT_NUMBERS, 10),
        Design("real", "diabetes", DIABETES, 5),
        Design("real", "mushroom", MUSHROOM, 5),
    ]


def _without(name: str) -> dict[str, Any]:
    return {each: ladder for each, ladder in PEOPLE.items() if each != name}


def tasks(seed: int = SEED) -> Iterator[Task]:
    """Return the sixty tables, always the same; with another seed others like them."""
    for place, design in enumerate(designs()):
        for n_records in SIZES:
            rng = np.random.default_rng([seed, place, n_records])
            if design.kind in ("uniform", "dependent"):
                frame = make_up(design, n_records, rng)
            else:
                whole = read(design)
                rows = rng.permutation(whole.height)[:n_records]
                frame = whole[np.sort(rows)]
            for with_hierarchies in (False, True):
                yield Task(design, frame, with_hierarchies)


def make_up(design: Design, n_records: int, rng: np.random.Generator) -> pl.DataFrame:
    """Draw a table: columns that know nothing of one another, or skewed ones that hang together by one number."""
    is_uniform = design.kind == "uniform"
    common = rng.standard_normal(n_records)
    columns: dict[str, Any] = {}
    for place, name in enumerate(design.hierarchies):
        own = rng.standard_normal(n_records)
        # The share of records below, after a correlation of 0.8 with the common number; then bent towards 0.
        drawn = own if is_uniform else (-1) ** place * 0.8 * common + 0.6 * own
        at = np.argsort(np.argsort(drawn)) / n_records
        columns[name] = _values(name, at if is_uniform else at**2.5)
    return pl.DataFrame(columns)


def _values(name: str, at: Floats) -> Any:
    """Turn numbers in [0, 1) into values of a column."""
    if name == "age":
        return 18 + (at * 73).astype(np.int64)
    if name == "income":
        return (at * 100_000).astype(np.int64)
    if name == "postcode":
        return [f"{10 + 7 * (i // 25)}{100 + 37 * (i % 25)}" for i in (at * 200).astype(int).tolist()]
    if name == "born":
        return np.datetime64("1935-01-01") + (at * 27_000).astype(np.int64)
    listed = {
        "job": [job for jobs in JOBS.values() for job in jobs],
        "city": [city for states in CITIES.values() for cities in states.values() for city in cities],
        "sex": ["female", "male"],
        "degree": [degree for degrees in DEGREES.values() for degree in degrees],
    }[name]
    return np.array(listed)[(at * len(listed)).astype(int)]


def read(design: Design) -> pl.DataFrame:
    """Read a real table; without the data folder, made-up people."""
    names = list(design.hierarchies)
    if design.kind == "people":
        return datasets.people(max(SIZES), seed=14).select(names)
    folder = SHARED / "data"
    if design.name == "adult":
        return pl.read_csv(folder / "arx_adult" / "adult.csv", separator=";").select(names)
    if design.name == "adult_numbers":
        return pl.read_csv(folder / "adult" / "adult_ori.csv").select(names)
    frame = pl.read_csv(folder / "uci" / f"{design.name}.csv", infer_schema=False).rename(str.strip)
    if design.name == "diabetes":
        value = pl.col("value").cast(pl.Float64, strict=False)
        frame = frame.with_columns(pl.col("date").str.to_date("%m-%d-%Y"), value).drop_nulls()
    return frame.select(names)


def compare(task: Task, style: str) -> Losses:
    """Anonymize a table by both rules."""
    gain, median = (
        ht.anonymize(
            task.frame,
            quasi_identifiers=list(task.design.hierarchies),
            models=[ht.KAnonymity(task.design.k)],
            method=ht.Mondrian(cut=cut, recoding=style),  # type: ignore[arg-type]
            hierarchies=task.hierarchies,
            unknown="suppress",
            roles="trust",
        ).loss
        for cut in ("gain", "median")
    )
    return Losses(task, gain, median)


def judge(style: str, found: Sequence[Losses]) -> list[str]:
    """Return a row: on how many tables gain loses to median, by how much, and what it wins."""
    worse = [each.ratio - 1 for each in found if each.ratio > 1]
    mean = float(np.exp(np.mean(np.log([each.ratio for each in found]))))
    is_met = len(worse) <= MOST_LOST and max(worse, default=0.0) <= MOST_WORSE
    most = f"{max(worse):.1%}" if worse else ""
    return [style, f"{len(worse)} of {len(found)}", most, "met" if is_met else "MISSED", f"{mean:.3f}"]


def main() -> None:
    """Print how often gain is worse; if asked, every table's two losses before."""
    # Columns of many values without a hierarchy are in the suite on purpose.
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--styles", default=",".join(STYLES), help="recodings, with commas")
    parser.add_argument("--each", action="store_true", help="print the losses of each table")
    parser.add_argument("--only", default="", help="designs that hold this text in their kind or name")
    parser.add_argument("--seed", type=int, default=SEED, help="of other tables like them, to try a new rule on")
    options = parser.parse_args()

    if not SHARED.is_dir():
        print(f"No data folder at {SHARED} (HUSHTABLE_SHARED): made-up people instead of real tables.")
    suite = [task for task in tasks(options.seed) if options.only in f"{task.design.kind} {task.design.name}"]
    rows, verdicts = [], []
    for style in options.styles.split(","):
        found = [compare(task, style) for task in suite]
        verdicts.append(judge(style, found))
        rows += [_row(style, each) for each in found]
    if options.each:
        print("set-NCP of what is published. Ratio: gain / median; above 1, marked, gain is worse.\n")
        show(["table", "records", "columns", "k", "hierarchies", "recoding", "gain", "median", "ratio", ""], rows)
        print()
    show(["recoding", "gain is worse on", "by at most", "goal", "geometric mean, gain / median"], verdicts)


def _row(style: str, losses: Losses) -> list[str]:
    task = losses.task
    return [
        f"{task.design.kind} {task.design.name}",
        f"{task.frame.height:,}",
        str(task.frame.width),
        str(task.design.k),
        "yes" if task.with_hierarchies else "no",
        style,
        f"{losses.gain:.4f}",
        f"{losses.median:.4f}",
        f"{losses.ratio:.3f}",
        "worse" if losses.ratio > 1 else "",
    ]


if __name__ == "__main__":
    main()
