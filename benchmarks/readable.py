"""The readable default: what it loses, how long its cells are, how large its file is, and what it costs."""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import hushtable as ht
from hushtable import datasets

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
PEOPLE = ["birth_date", "sex", "postcode", "education", "marital_status", "occupation", "nationality"]
RULES = {
    "postcode": ht.Hierarchy.prefix([4, 3, 2, 1]),
    "education": ht.Hierarchy.dictionary("education"),
    "nationality": ht.Hierarchy.dictionary("countries"),
}
STYLES = {
    "readable": ht.Mondrian(recoding="readable"),
    "readable, exchange": ht.Mondrian(recoding="readable", exchange=True),
    "tight": ht.Mondrian(),
    "cut": ht.Mondrian(recoding="cut"),
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file to anonymize, k = 5."""

    title: str
    path: Path
    quasi_identifiers: list[str]
    hierarchies: Mapping[str, ht.Hierarchy | ht.Rule | Path]
    delimiter: str


@dataclass(frozen=True, slots=True)
class Row:
    """What one way to publish makes of a file."""

    loss: float
    seconds: float
    size: float
    longest: int
    median_length: float
    most_stars: float
    lists: float


def sources(folder: Path) -> list[Source]:
    """Return Adult and made-up people, each without and with hierarchies."""
    people = folder / "people.csv"
    datasets.people(30_000, seed=0).select(*PEOPLE, "income", "diagnosis").write_csv(people)
    found = [
        Source("made-up people", people, PEOPLE, {}, ","),
        Source("made-up people, rules", people, PEOPLE, RULES, ","),
    ]
    adult = SHARED / "data" / "arx_adult"
    if adult.is_dir():
        files = {name: adult / f"adult_hierarchy_{name}.csv" for name in ADULT}
        path = adult / "adult.csv"
        found += [
            Source("Adult", path, ADULT, {}, ";"),
            Source("Adult, ARX's hierarchies", path, ADULT, files, ";"),
        ]
    return found


def release_of(source: Source, method: ht.Mondrian) -> ht.Release:
    """Anonymize a file."""
    return ht.anonymize(
        source.path,
        quasi_identifiers=source.quasi_identifiers,
        models=[ht.KAnonymity(5)],
        hierarchies=source.hierarchies,
        method=method,
        roles="trust",
    )


def measure(source: Source, method: ht.Mondrian, folder: Path, seconds: float) -> Row:
    """Publish a file and look at every cell of it."""
    release, out = release_of(source, method), folder / "release.csv"
    release.write(out, overwrite=True)
    before, after = (pl.read_csv(path, separator=source.delimiter, infer_schema=False) for path in (source.path, out))
    lengths, stars, lists = [], [], []
    for name in source.quasi_identifiers:
        cells = after[name].drop_nulls()
        lists.append(float(cells.str.starts_with('["').sum() / after.height))
        stars.append(float((cells == "*").sum() / after.height))
        lengths += cells.filter(~cells.is_in(before[name].unique().implode())).str.len_chars().to_list()
    return Row(
        release.loss,
        seconds,
        out.stat().st_size / source.path.stat().st_size,
        max(lengths),
        statistics.median(lengths),
        max(stars),
        statistics.mean(lists),
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=11)
    turns = parser.parse_args().turns
    warnings.simplefilter("ignore")
    print("| file | recoding | set-NCP | CPU s | / cut | file size | longest cell | median | most `*` | lists |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for source in sources(Path(folder)):
            spent: dict[str, list[float]] = {style: [] for style in STYLES}
            for turn in range(turns + 1):
                for style, method in STYLES.items():
                    began = time.process_time()
                    release_of(source, method)
                    if turn:
                        spent[style].append(time.process_time() - began)
            for style, method in STYLES.items():
                row = measure(source, method, Path(folder), statistics.median(spent[style]))
                ratio = statistics.median(a / b for a, b in zip(spent[style], spent["cut"], strict=True))
                print(
                    f"| {source.title} | {style} | {row.loss:.4f} | {row.seconds:.3f} | {ratio:.2f} | {row.size:.2f} "
                    f"| {row.longest} | {row.median_length:g} | {row.most_stars:.1%} | {row.lists:.1%} |"
                )


if __name__ == "__main__":
    main()
