"""Records that lie in parts: any number of parts and workers makes the classes and cells of one table in memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.anonymizers import Request, beyond_memory, in_parts, row_by_row
from hushtable.anonymizers.in_parts import InParts, protect_in_parts
from hushtable.errors import InputError
from record_tables import MODELS, people
from workers import Here

NAMES = ["town", "age", "weight", "code"]


def parts_of(table: pl.DataFrame, folder: Path, n_parts: int) -> list[Path]:
    folder.mkdir()
    ends = np.linspace(0, len(table), n_parts + 1).astype(int)
    paths = [folder / f"part-{part}.parquet" for part in range(n_parts)]
    for path, (begin, end) in zip(paths, itertools.pairwise(ends), strict=True):
        table[begin:end].write_parquet(path)
    return paths


@pytest.fixture
def requested(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Request]:
    """Return what makes a request of what `anonymize` is asked, and lets that be."""

    def of(table: pl.DataFrame, **asked: Any) -> Request:
        seen: list[Request] = []

        def note(_: Any, request: Request) -> Any:
            seen.append(request)
            raise InterruptedError

        monkeypatch.setattr(beyond_memory, "MOST_COUNTED", 1)
        monkeypatch.setattr(row_by_row, "protect_row_by_row", note)
        parts_of(table, folder := tmp_path / "asked", 1)
        with pytest.raises(InterruptedError):
            ht.anonymize(folder, **asked, roles="trust")
        return seen[0]

    return of


def made_in_parts(table: pl.DataFrame, folder: Path, n_parts: int, asked: Request, seed: int = 0) -> InParts:
    paths = parts_of(table, folder, n_parts)
    names = [*asked.quasi_identifiers, *(name for name in asked.judged if name not in asked.quasi_identifiers)]
    made = protect_in_parts(paths, names, asked, Here(seed))
    assert list(folder.iterdir()) == []
    return made


def labels_of(made: InParts, table: pl.DataFrame) -> list[int]:
    """Return the class of every record, by its own cells."""
    names = made.coding.cells.names
    places = [*made.coding.cells.encode_batch(table.select(names).to_arrow())]
    return made.walk.place_rows(made.coding.table_of_cells(places)).tolist()


RECODINGS = ["tight", "readable", "set", "label"]
LAYOUTS = [(1, 9), (3, 25), (16, 60), (2, 1000)]
# Every recoding and every model meets every layout of parts.
PAIRS = itertools.product(enumerate(RECODINGS), enumerate(MODELS))
CASES = [(recoding, models, (i + j) % len(LAYOUTS)) for (i, recoding), (j, models) in PAIRS]


@pytest.mark.parametrize(("recoding", "models", "seed"), CASES)
def test_labels_cells_and_loss_are_those_of_one_table_in_memory(
    requested: Any, monkeypatch: Any, tmp_path: Path, recoding: Any, models: str, seed: int
) -> None:
    n_parts, fewest = LAYOUTS[seed]
    table = people(150, seed)
    asked: dict[str, Any] = {
        "quasi_identifiers": NAMES,
        "models": MODELS[models],
        "hierarchies": {"code": {"prefix": [3, 2]}} if seed else {},
        "method": ht.Mondrian(recoding=recoding, cut="median")
        if seed == 2
        else ht.Mondrian(recoding=recoding, n_rescored=[4, 1, 4, 9][seed]),
        "loss": ht.SetNCP(scale="rank") if seed == 1 and recoding == "tight" else ht.SetNCP(weights={"age": 3.0}),
    }
    inside = ht.anonymize(table, **asked, roles="trust")
    monkeypatch.setattr(in_parts, "_MAX_RECORDS_PER_WORKER", fewest)
    monkeypatch.setattr(in_parts, "_N_CLASSES_FOR_WORKERS", 10**9)
    # Of so few classes at once that a level takes several passes.
    monkeypatch.setattr(in_parts, "_MAX_COUNTS_AT_ONCE", 2**15)
    made = made_in_parts(table, tmp_path / "in", n_parts, requested(table, **asked), seed)
    assert labels_of(made, table) == inside.partition.labels.tolist()
    assert made.release.loss == pytest.approx(inside.loss, rel=1e-12)
    assert made.release.classes().equals(inside.classes())
    assert made.release.trace.nodes == inside.trace.nodes
    made.release.verify().raise_if_failed()


def test_a_part_without_records_and_a_class_that_cannot_be_cut(
    requested: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(in_parts, "_MAX_RECORDS_PER_WORKER", 10)
    alike = pl.DataFrame({"age": [31] * 60 + [50 + i % 7 for i in range(40)], "sex": ["f", "m"] * 50})
    asked: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "models": [ht.KAnonymity(5)]}
    inside = ht.anonymize(alike, **asked, roles="trust")
    request = requested(alike, **asked)
    folder = tmp_path / "in"
    paths = [*parts_of(alike, folder, 2), folder / "none.parquet"]
    alike.clear().write_parquet(paths[-1])
    made = protect_in_parts(paths, ["age", "sex"], request, Here())
    assert labels_of(made, alike) == inside.partition.labels.tolist()
    assert made.release.classes().equals(inside.classes())


def test_more_values_than_can_be_counted_are_refused(requested: Any, monkeypatch: Any, tmp_path: Path) -> None:
    table = people(150, 1)
    asked = requested(table, quasi_identifiers=NAMES, models=MODELS["two sensitive"])
    monkeypatch.setattr(in_parts, "_MAX_COUNTS_PER_CLASS", 1000)
    with pytest.raises(InputError, match=r"values of the quasi-identifiers beside 60 combinations"):
        made_in_parts(table, tmp_path / "in", 2, asked)


def test_records_that_are_others_than_those_counted_are_an_error(
    requested: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    table = people(150, 1)
    asked = requested(table, quasi_identifiers=NAMES, models=MODELS["k"])
    paths = parts_of(table, tmp_path / "in", 2)
    swapped = people(150, 1).with_columns(age=table["age"].sort())
    real = in_parts._collect_cells

    def then_changed(*given: Any) -> Any:
        found = real(*given)
        swapped[:75].write_parquet(paths[0])
        return found

    monkeypatch.setattr(in_parts, "_collect_cells", then_changed)
    with pytest.raises(InputError, match="changed while it was read"):
        protect_in_parts(paths, NAMES, asked, Here())
