"""An ordered dictionary of Parquet files keeps its order where an engine reads it as text, as Spark does."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.engines import choosing

LEVELS = ["none", "low", "some", "mid", "high", "top"]
ASKED: dict[str, Any] = {"quasi_identifiers": ["age", "level"], "models": [ht.KAnonymity(4)], "roles": "trust"}


@pytest.fixture
def people() -> pl.DataFrame:
    rng = np.random.default_rng(2)
    levels = pl.Series(rng.choice(LEVELS, 400), dtype=pl.Enum(LEVELS))
    return pl.DataFrame({"age": rng.integers(20, 60, 400), "level": levels, "note": levels})


@pytest.fixture
def files(people: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Parquet files, and an engine that has Spark's types: an ordered dictionary is text."""
    folder = tmp_path / "in"
    folder.mkdir()
    people[:150].write_parquet(folder / "0.parquet")
    people[150:].write_parquet(folder / "1.parquet")

    def read_as_text(source: Any, session: Any) -> pl.LazyFrame:
        return pl.scan_parquet(source.inputs).with_columns(pl.col("level", "note").cast(pl.String))

    monkeypatch.setattr(
        choosing, "_load_spark", lambda: SimpleNamespace(read_files=read_as_text, start_session=lambda: None)
    )
    return folder


@pytest.mark.parametrize("spec", [None, ht.ColumnSpec(missing_values=("unknown",)), ht.ColumnSpec("category")])
def test_classes_are_those_of_memory(people: pl.DataFrame, files: Path, spec: ht.ColumnSpec | None) -> None:
    specs = {} if spec is None else {"level": spec}
    expected = ht.anonymize(people, **ASKED, specs=specs)
    release = ht.anonymize(files, **ASKED, specs=specs, engine="spark")
    assert release.partition.n_classes == expected.partition.n_classes
    assert release.loss == expected.loss


def test_sensitive_values_keep_their_order(people: pl.DataFrame, files: Path) -> None:
    asked = {**ASKED, "models": [ht.KAnonymity(4), ht.TCloseness(0.25, "note")]}
    expected = ht.anonymize(people, **asked)
    assert ht.anonymize(files, **asked, engine="spark").partition.n_classes == expected.partition.n_classes
