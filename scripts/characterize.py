"""Write what drawn tables become, through every kind of source: what two versions of the program are compared by.

Usage: python scripts/characterize.py FOLDER [N_TABLES [SEED]], once for each version; then ``diff -r`` of both folders.

For each table and source one JSON file: the facts of the release, its verdict, its codebook, and the published cells:
in their order where it is kept, else sorted. A refusal is a fact, too. Pseudonyms of every record are random and left
out.
"""

import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.io import frames

KEY = b"0123456789abcdef0123456789abcdef"
MODELS = (
    [ht.KAnonymity(3)],
    [ht.KAnonymity(2), ht.DistinctLDiversity(2, "ill")],
    [ht.KAnonymity(4), ht.TCloseness(0.5, "ill")],
)
METHODS = (
    "mondrian",
    {"mondrian": {"recoding": "tight"}},
    {"mondrian": {"cut": "median"}},
    "full_domain",
    "local_recoding",
    "suppress",
)
_VARYING = ("seconds", "created", "sha256", "hushtable", "n_bytes", "version", "host", "user", "number", "history")


def drawn(rng: np.random.Generator) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Draw a table, and what is asked of its release."""
    n = int(rng.integers(20, 300))
    persons = rng.integers(0, n * int(rng.integers(1, 200)), n)
    gap = rng.random(n) < 0.05
    table = pl.DataFrame(
        {
            "person": [f"p{each}" for each in persons],
            "age": pl.Series(rng.integers(18, 90, n)).set(pl.Series(gap), None),
            "zip": [f"{each:05d}" for each in rng.choice([1067, 1069, 10115, 10117, 80331], n)],
            "sex": rng.choice(["f", "m", "x"], n, p=[0.48, 0.48, 0.04]),
            "born": np.datetime64("1940-01-01") + rng.integers(0, 25_000, n),
            "pay": np.round(rng.lognormal(8, 1, n), 2),
            "ill": rng.choice(["flu", "gout", "mumps", "none"], n),
            "codes": [";".join(rng.choice(["I10", "E11", "Z95"], rng.integers(1, 3), replace=False)) for _ in range(n)],
            "ward": rng.integers(1, 6, n),
        }
    )
    known = ["age", "zip", "sex", "born", "codes"]
    quasi_identifiers = sorted(rng.choice(known, rng.integers(1, 4), replace=False).tolist())
    asked: dict[str, Any] = {
        "quasi_identifiers": quasi_identifiers,
        "models": MODELS[rng.integers(len(MODELS))],
        "method": METHODS[rng.integers(len(METHODS))],
        "suppression_limit": float(rng.choice([0, 0.1])),
        "specs": {"zip": ht.ColumnSpec("category")},
    }
    if rng.random() < 0.3:
        asked["sensitive"] = ["ill", "pay"]
    if rng.random() < 0.3:
        asked["specs"]["codes"] = ht.ColumnSpec(separator=";")
    if rng.random() < 0.5:
        asked["hierarchies"] = {
            name: ht.Hierarchy.from_dict(rule, name)
            for name, rule in {"zip": {"prefix": [4, 2]}, "age": {"intervals": {"width": [5, 20]}}}.items()
            if name in quasi_identifiers
        }
    match rng.integers(4):
        case 0:
            asked |= {"identifiers": ["person"]}
        case 1:
            asked |= {"person": "person", "pseudonyms": ht.Pseudonyms(["person"], KEY)}
        case 2:
            asked |= {"pseudonyms": ht.Pseudonyms(fresh=["person"], key=KEY)}
        case _:
            asked |= {"identifiers": ["person"], "person": "person"}
    if rng.random() < 0.6:
        asked["roles"] = "trust"
    return table, asked


def sources(
    table: pl.DataFrame, asked: dict[str, Any], folder: Path
) -> dict[str, Callable[[], tuple[Any, dict[str, Any]]]]:
    """Return the table as each kind of source: what is handed over, and parameters that go with it."""
    table.write_csv(folder / "table.csv")
    table.write_parquet(folder / "table.parquet")
    parts = folder / "parts"
    parts.mkdir()
    half = table.height // 2
    table[:half].write_parquet(parts / "a.parquet")
    table[half:].write_parquet(parts / "b.parquet")
    return {
        "polars": lambda: (table, {}),
        "pandas": lambda: (table.to_pandas(), {}),
        "coded": lambda: (ht.Table.encode(frames.read(table), table.columns, asked["specs"]), {}),
        "csv": lambda: (folder / "table.csv", {"engine": "memory"}),
        "csv in pieces": lambda: (folder / "table.csv", {"engine": "stream"}),
        "parquet": lambda: (folder / "table.parquet", {"engine": "memory"}),
        "folder": lambda: (parts, {}),
        "lazy": lambda: (table.lazy(), {}),
    }


def released(source: Callable[[], tuple[Any, dict[str, Any]]], asked: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return all that can be said of a release."""
    data, more = source()
    release = ht.anonymize(data, **asked, **more)
    hidden = [*(asked["pseudonyms"].fresh if "pseudonyms" in asked else ())]
    found: dict[str, Any] = {"facts": release.to_dict(), "verdict": str(release.verify())}
    found["classes"] = str(pl.DataFrame(columns_of(release.classes()), strict=False))
    for what, made in {
        "frame": lambda: cells_of(release.frame, hidden, is_sorted=not isinstance(data, pl.DataFrame)),
        "bound": lambda: release.with_bound().trace.bound,
        "attack": lambda: release.attack(seed=1).to_dict(),
        "utility": lambda: release.utility().to_dict(),
        "mapping": lambda: str(release.mapping().to_frame()),
        "codebook": lambda: release.codebook.to_dict("out", external=False),
        "csv": lambda: written(release, folder / "out.csv", hidden),
        "parquet": lambda: written(release, folder / "out.parquet", hidden),
        "parts": lambda: written(release, folder / "out", hidden),
        "by ward": lambda: written(release, folder / "out_by", hidden, by="ward"),
        "next": lambda: release.apply(data).to_dict(),
    }.items():
        found[what] = said(made)
    return found


def columns_of(table: Any) -> Any:
    """Return a dataframe of any library as columns."""
    return {name: table[name].to_list() for name in table.columns}


def cells_of(table: Any, hidden: list[str], *, is_sorted: bool) -> list[str]:
    """Return the rows of a table as texts."""
    if isinstance(table, ht.Table):
        table = table.frame().native
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    shown = pl.DataFrame(table).drop(hidden, strict=False)
    rows = [str(row) for row in shown.iter_rows()]
    return [str(shown.schema), *(sorted(rows) if is_sorted else rows)]


def written(release: Any, path: Path, hidden: list[str], **options: Any) -> dict[str, Any]:
    """Write a release, and return what then lies there."""
    verdict = release.write(path, overwrite=True, **options)
    files = sorted(each for each in path.rglob("*.parquet")) if path.is_dir() else [path]
    read = partial(pl.read_csv, infer_schema=False) if path.suffix == ".csv" else pl.read_parquet
    table = pl.concat([read(each) for each in files]) if files else pl.DataFrame()
    manifest = path / "release.manifest.json" if path.is_dir() else Path(f"{path}.manifest.json")
    found = sorted(each.name for each in path.parent.glob("out*"))
    told = [json.loads(each.read_text()) for each in sorted((path if path.is_dir() else path.parent).glob("*.json"))]
    return {
        "verdict": str(verdict),
        "cells": cells_of(table, hidden, is_sorted=True),
        "beside": found,
        "manifest": manifest.exists(),
        "told": told,
    }


def said(made: Callable[[], Any]) -> Any:
    """Return what a call gives, or how it refuses."""
    try:
        return made()
    except Exception as error:  # what breaks is told, too
        return {type(error).__name__: str(error)}


def steady(entry: Any, folder: Path) -> Any:
    """Return an entry without what differs from run to run."""
    if isinstance(entry, dict):
        return {str(name): steady(each, folder) for name, each in entry.items() if name not in _VARYING}
    if isinstance(entry, (list, tuple)):
        return [steady(each, folder) for each in entry]
    if isinstance(entry, float):
        return float(f"{entry:.10g}")
    return entry.replace(str(folder), "FOLDER") if isinstance(entry, str) else entry


def main() -> None:
    """Write the files."""
    out, n_tables = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    out.mkdir(parents=True, exist_ok=True)
    for number in range(n_tables):
        table, asked = drawn(np.random.default_rng([seed, number]))
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            for name, source in sources(table, asked, folder).items():
                with warnings.catch_warnings(record=True) as warned:
                    warnings.simplefilter("always")
                    found = {"release": said(partial(released, source, asked, folder))}
                found["warnings"] = sorted({f"{each.category.__name__}: {each.message}" for each in warned})
                text = json.dumps(steady(found, folder), indent=1, ensure_ascii=False, default=str, sort_keys=True)
                (out / f"{number:03d} {name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
