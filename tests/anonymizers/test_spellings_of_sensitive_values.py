"""Sensitive values that differ in blanks, case, width or Unicode form alone are one value, for every model and door."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.claims import verify
from hushtable.columns import fold_spelling

SPELLED = ["HIV", "HIV ", " hiv", "ＨＩＶ", "flu", "Flu", "gout"]
MODELS: list[Any] = [
    ht.DistinctLDiversity(2, "ill"),
    ht.EntropyLDiversity(1.6, "ill"),
    ht.RecursiveCLDiversity(3, 2, "ill"),
    ht.TCloseness(0.3, "ill"),
    ht.BetaLikeness(2, "ill"),
    ht.DeltaDisclosure(2, "ill"),
    ht.AlphaKAnonymity(0.8, 3, "ill"),
]


def patients(n: int = 120, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {"age": rng.integers(20, 80, n), "town": rng.choice(["a", "b", "c"], n), "ill": rng.choice(SPELLED, n)}
    return pl.DataFrame(columns)


def folded(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.Series("ill", [fold_spelling(ill) for ill in table["ill"]]))


def asked(model: Any, **options: Any) -> dict[str, Any]:
    return {"quasi_identifiers": ["age", "town"], "models": [ht.KAnonymity(3), model], "roles": "trust", **options}


def fewest(table: pl.DataFrame) -> int:
    """Distinct folded values in the class that has fewest."""
    return int(folded(table).group_by("age", "town").agg(pl.col("ill").n_unique())["ill"].min())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_classes_are_those_of_the_folded_table_and_cells_stay(model: Any) -> None:
    table = patients()
    release, expected = ht.anonymize(table, **asked(model)), ht.anonymize(folded(table), **asked(model))
    assert release.partition.labels.tolist() == expected.partition.labels.tolist()
    assert Counter(release.frame["ill"]) == Counter(table["ill"])
    release.verify().raise_if_failed()
    assert verify(folded(release.frame), quasi_identifiers=["age", "town"], models=[model]).passed


def test_a_class_of_spellings_alone_fails_behind_the_wall() -> None:
    table = pl.DataFrame({"age": ["1"] * 3 + ["2"] * 3, "ill": ["HIV", "HIV ", "hiv", "HIV", "flu", "gout"]})
    verdict = verify(table, quasi_identifiers=["age"], models=[ht.DistinctLDiversity(2, "ill")])
    assert [(failure.n_classes, failure.n_records) for failure in verdict.failures] == [(1, 3)]
    assert verify(table[3:], quasi_identifiers=["age"], models=[ht.DistinctLDiversity(2, "ill")]).passed
    assert ht.assess(table, quasi_identifiers=["age"], sensitive=["ill"]).distinct_sensitive == {"ill": 1}


def test_a_declared_order_keeps_its_first_spelling() -> None:
    table = patients().with_columns(
        pl.Series("ill", ["low", "Low", "mid", "high"] * 30, pl.Enum(["low", "Low", "mid", "high"]))
    )
    release = ht.anonymize(table, **asked(ht.TCloseness(0.4, "ill")))
    release.verify().raise_if_failed()
    plain = table.with_columns(pl.Series("ill", ["low", "low", "mid", "high"] * 30, pl.Enum(["low", "mid", "high"])))
    expected = ht.anonymize(plain, **asked(ht.TCloseness(0.4, "ill")))
    assert release.partition.labels.tolist() == expected.partition.labels.tolist()
    assert Counter(release.frame["ill"]) == Counter(table["ill"])


@pytest.mark.parametrize("model", [ht.DistinctLDiversity(2, "ill"), ht.AlphaKAnonymity(0.9, 3, "ill")])
def test_items_that_differ_in_spelling_are_one_item(model: Any) -> None:
    cells = [f"{ill};{other}" for ill, other in zip(patients()["ill"], patients(seed=2)["ill"], strict=True)]
    table = patients().with_columns(pl.Series("ill", cells))
    specs = {"ill": ht.ColumnSpec(separator=";")}
    release = ht.anonymize(table, **asked(model, specs=specs))
    expected = ht.anonymize(folded(table), **asked(model, specs=specs))
    assert release.partition.labels.tolist() == expected.partition.labels.tolist()
    assert release.verify().passed
    sets = pl.DataFrame({"age": ["1"] * 3, "ill": ["HIV", "hiv", "flu;hIV"]})
    verdict = verify(sets, quasi_identifiers=["age"], models=[ht.DistinctLDiversity(2, "ill")], specs=specs)
    assert not verdict.passed


@pytest.mark.parametrize("door", ["text", "folder", "lazy"])
def test_every_door_counts_them_as_one_and_publishes_them_as_they_came(tmp_path: Path, door: str) -> None:
    table = patients()
    options: dict[str, Any] = {}
    if door == "text":
        table.write_csv(tmp_path / "in.csv")
        data: Any = str(tmp_path / "in.csv")
        options = {"engine": "stream"}
    elif door == "folder":
        (tmp_path / "in").mkdir()
        table[:50].write_parquet(tmp_path / "in" / "0.parquet")
        table[50:].write_parquet(tmp_path / "in" / "1.parquet")
        data = str(tmp_path / "in")
    else:
        data = table.lazy()
    release = ht.anonymize(data, **asked(ht.DistinctLDiversity(2, "ill"), **options))
    out = tmp_path / ("out.csv" if door == "text" else "out")
    release.write(out)
    written = pl.read_csv(out, infer_schema=False) if door == "text" else pl.read_parquet(out / "*.parquet")
    assert fewest(written) >= 2
    assert Counter(written["ill"]) == Counter(table["ill"])


def test_an_attack_finds_a_class_of_spellings() -> None:
    table = pl.DataFrame({"age": [1] * 3 + [2] * 3, "ill": ["HIV", "HIV ", "hiv", "HIV", "flu", "gout"]})
    release = ht.anonymize(
        table, quasi_identifiers=["age"], sensitive=["ill"], models=[ht.KAnonymity(3)], roles="trust"
    )
    found = {attack.name: attack.n_found for attack in release.attack().attacks}
    assert found["homogeneity"] == 3
