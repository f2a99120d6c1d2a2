"""Kept columns that say what quasi-identifiers say: found, refused at every door, and not seen where there is none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.discover import determined
from hushtable.discover.determined import Determined, find_determined
from hushtable.policy import Policy
from hushtable.tables.table import Table


def people(n: int = 400, seed: int = 0) -> pl.DataFrame:
    """Persons with numbers and places that follow from one another, and some that do not."""
    draw = np.random.default_rng(seed)
    height, weight, zips = draw.integers(150, 200, n), draw.integers(45, 120, n), draw.integers(0, 40, n)
    born = np.datetime64("1940-01-01") + draw.integers(0, 22_000, n).astype("timedelta64[D]")
    age = ((np.datetime64("2024-01-01") - born) / np.timedelta64(1, "D") / 365.25).astype(int)
    told = {"height": height, "weight": weight, "bmi": (weight / (height / 100) ** 2).round(1), "zip": zips}
    free = {"ill": draw.integers(0, 6, n), "rare": draw.random(n) < 0.02, "pay": draw.random(n)}
    return pl.DataFrame({**told, "district": zips // 4, "born": born, "age": age, **free})


@pytest.mark.parametrize(
    ("kept", "by", "found"),
    [
        ("bmi", ["height", "weight"], ("height", "weight")),
        ("district", ["zip", "height"], ("zip",)),
        ("age", ["height", "born"], ("born",)),
        ("born", ["age"], ("age",)),
        ("zip", ["district"], ("district",)),
    ],
)
def test_what_follows_from_quasi_identifiers_is_found(kept: str, by: list[str], found: tuple[str, ...]) -> None:
    (each,) = find_determined(Table.encode(people()), ["ill", "rare", "pay", kept], by)
    assert (each.column, each.by) == (kept, found)


def test_what_tells_a_quasi_identifier_is_told_from_what_follows() -> None:
    table = Table.encode(people().with_columns(area=pl.col("district").cast(pl.String)))
    (zip_,), (district,) = find_determined(table, ["zip"], ["area"]), find_determined(table, ["area"], ["zip"])
    assert zip_ == Determined("zip", ("area",), tells=True)
    assert district == Determined("area", ("zip",), tells=False)


@pytest.mark.parametrize("seed", range(4))
def test_independent_and_unique_columns_determine_nothing(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n = 500
    columns = {f"c{width}": draw.integers(0, width, n) for width in (2, 5, 40, 400, 10**6)}
    table = Table.encode(pl.DataFrame({**columns, "id": np.arange(n) * 7 % n, "rare": draw.random(n) < 0.01}))
    for name in table.names:
        assert find_determined(table, [name], [other for other in table.names if other != name]) == ()


def test_a_slow_twin_counts_the_same_pairs() -> None:
    draw = np.random.default_rng(1)
    by, other = draw.integers(0, 5, 60).astype(np.int32), draw.integers(0, 3, 60).astype(np.int32)
    _, both = np.unique(by * 3 + other, return_inverse=True)
    agree, n_pairs = determined._agreement_rate(by, (both.astype(np.int32), int(both.max()) + 1))
    weighed = n = 0.0
    for group in range(5):
        members = other[by == group]
        pairs = list(combinations(members.tolist(), 2))
        if pairs:
            weighed += len(members) * sum(a == b for a, b in pairs) / len(pairs)
            n += len(members)
    assert agree == pytest.approx(weighed / n)
    assert n_pairs == sum(max(0, int((by == group).sum()) - 1) for group in range(5))


RULES = """\
columns: {{height: quasi-identifier, weight: quasi-identifier, bmi: {bmi}, ill: sensitive}}
models: [k-anonymity: 5]
limits: {{exposure: {{rate: 1}}}}
"""


@pytest.mark.parametrize("door", ["memory", "stream", "lazy"])
def test_a_policy_refuses_what_undoes_a_generalization(door: str, tmp_path: Path) -> None:
    table = people().select("height", "weight", "bmi", "ill")
    table.write_parquet(tmp_path / "in.parquet")
    data: Any = {"memory": table, "stream": tmp_path / "in.parquet", "lazy": table.lazy()}[door]
    engine: Any = "stream" if door == "stream" else "auto"
    release = Policy.parse(RULES.format(bmi="other")).protect(data, engine=engine)
    with pytest.raises(ht.ExposureError, match="'bmi' follows from 'height' and 'weight'"):
        release.write(tmp_path / "out.parquet")
    assert not list(tmp_path.glob("out*"))
    accepted = Policy.parse(RULES.format(bmi="other") + "accept: {bmi: agreed}\n").protect(data, engine=engine)
    assert accepted.write(tmp_path / "out.parquet").passed
    assert accepted.to_dict()["exposure"]["determined"] == [
        {"column": "bmi", "by": ["height", "weight"], "tells": False}
    ]


def test_python_warns_and_what_is_published_whole_is_not_undone() -> None:
    table = people().select("zip", "district", "ill")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        ht.anonymize(table, quasi_identifiers=["zip"], models=[ht.KAnonymity(30)], sensitive=["ill"])
    assert any("'district' follows from 'zip'" in str(each.message) for each in warned)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = ht.anonymize(table, quasi_identifiers=["zip"], models=[ht.KAnonymity(2)], sensitive=["ill"])
    assert release.exposure.determined == ()


def test_real_people_are_not_undone(shared_file: Callable[[str], Path]) -> None:
    table = Table.encode(shared_file("data/adult/adult_ori.csv")).take(np.arange(5000))
    known = ("age", "education", "marital", "occupation", "race", "sex", "country")
    found = find_determined(table, [name for name in table.names if name not in known], known)
    assert [(each.column, each.by) for each in found] == [("education_num", ("education",))]


def test_of_a_sensitive_column_it_is_told_only() -> None:
    release = Policy.parse(RULES.format(bmi="sensitive")).protect(people().select("height", "weight", "bmi", "ill"))
    assert release.exposure.refused_dependences == ()
    assert "'bmi' follows from 'height' and 'weight': its exact cells take classes apart" in release.exposure.lines()


def test_the_scan_asks_about_them():
    table = people().select("zip", "district", "born", "age", "ill").rename({"district": "q7"})
    columns = {column.name: column for column in ht.find_quasi_identifiers(table, of_persons=True).columns}
    assert (columns["q7"].role, columns["zip"].role) == ("ask", "quasi-identifier")
    assert "'q7' follows from 'zip', and undoes what is hidden there" in columns["q7"].reason
    assert "follows from" not in columns["ill"].reason


@pytest.mark.filterwarnings("ignore:columns that say")
def test_insiders_are_told_in_the_report():
    asked = {"quasi_identifiers": ["height", "weight"], "models": [ht.KAnonymity(3)], "sensitive": ["bmi"]}
    release = ht.anonymize(people().select("height", "weight", "bmi", "ill"), **asked)
    said = "its exact cells take classes apart"
    assert said in str(ht.report(release, audience="internal").to_dict())
    assert said not in str(ht.report(release, audience="external").to_dict())
