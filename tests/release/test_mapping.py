"""The mapping that was applied: as counted by hand, and no pair of too few people."""

from __future__ import annotations

import stat
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done, run


def people(seed: int, n: int = 150) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 40, n),
            "job": rng.choice(["cook", "clerk", "=1+1", 'a "b", c'], n),
            "who": [f"p{who}" for who in rng.integers(0, n // 3, n)],
        }
    )
    return frame.with_columns(job=pl.when(pl.Series(rng.random(n) < 0.1)).then(None).otherwise("job"))


@pytest.mark.parametrize("method", [ht.Mondrian(recoding="readable"), ht.Mondrian(recoding="tight"), ht.FullDomain()])
@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("suppression", [0.0, 0.1])
def test_pairs_are_those_counted_by_hand(method: Any, person: str | None, suppression: float) -> None:
    frame = people(3)
    asked: dict[str, Any] = {"quasi_identifiers": ["age", "job"], "models": [ht.KAnonymity(4)], "roles": "trust"}
    if person:
        asked |= {"person": person, "identifiers": ["who"]}
    hierarchies = {"age": {"intervals": {"width": 5}}}
    if person and suppression and isinstance(method, ht.FullDomain):
        pytest.skip("cells of such classes overlap, and nobody could check whose records they hold")
    release = ht.anonymize(frame, **asked, method=method, hierarchies=hierarchies, suppression_limit=suppression)
    kept = release.partition.labels >= 0
    published = ht.anonymize(
        frame, **asked, method=method, hierarchies=hierarchies, suppression_limit=suppression
    ).frame
    cells = iter(published.rows(named=True)) if release.drops_suppressed else None
    records: Counter[Any] = Counter()
    whose: dict[Any, set[str]] = {}
    for i, row in enumerate(frame.rows(named=True)):
        shown = (
            next(cells) if cells is not None and kept[i] else published.row(i, named=True) if cells is None else None
        )
        if not kept[i]:
            continue
        assert shown is not None
        for name in ("age", "job"):
            pair = (
                name,
                None if row[name] is None else str(row[name]),
                None if shown[name] is None else str(shown[name]),
            )
            records[pair] += 1
            whose.setdefault(pair, set()).add(row["who"])
    n_people = {pair: len(whose[pair]) if person else records[pair] for pair in records}
    found = release.mapping()
    assert found.least == 4
    assert {row[:3]: row[3] for row in found.rows} == {pair: n for pair, n in records.items() if n_people[pair] >= 4}
    for name in ("age", "job"):
        assert found.left_out[name] == sum(pair[0] == name and n_people[pair] < 4 for pair in records)


def test_the_command_writes_it_for_its_owner_alone(tmp_path: Path) -> None:
    people(1).drop("who").write_csv(tmp_path / "in.csv")
    asked = ("anonymize", tmp_path / "in.csv", "--qi", "age,job", "--k", "3", "-o", tmp_path / "out.csv")
    outcome = done(*asked, "--mapping", tmp_path / "map.csv")
    assert "keep it inside" in outcome.err
    assert stat.S_IMODE((tmp_path / "map.csv").stat().st_mode) == 0o600
    table = pl.read_csv(tmp_path / "map.csv", infer_schema=False)
    assert table.columns == ["column", "value", "cell", "records"]
    assert (table["records"].cast(pl.Int64) >= 3).all()
    assert run(*asked, "--mapping", tmp_path / "map.csv").code == 2
    done(*asked, "--mapping", tmp_path / "map.csv", "--force")
    (tmp_path / "folder").mkdir()
    people(1).write_parquet(tmp_path / "folder" / "a.parquet")
    done("anonymize", tmp_path / "folder", *asked[2:-1], tmp_path / "out", "--mapping", tmp_path / "m.csv")
    assert stat.S_IMODE((tmp_path / "m.csv").stat().st_mode) == 0o600


def test_a_release_of_one_class_and_an_empty_mapping(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 2, 3]})
    found = ht.anonymize(frame, quasi_identifiers=["age"], models=[ht.KAnonymity(3)], roles="trust").mapping()
    assert found.rows == ()
    assert found.left_out == {"age": 3}
    found.write(tmp_path / "map.csv")
    assert (tmp_path / "map.csv").read_text().split() == ["column,value,cell,records"]
    with pytest.raises(ht.InputError, match="exists"):
        found.write(tmp_path / "map.csv")


def test_models_of_matchings_ask_for_k_people_too() -> None:
    frame = people(2, 60).drop("who").drop_nulls()
    method = ht.Genetic(generations=2, individuals=4)
    asked: dict[str, Any] = {"quasi_identifiers": ["age", "job"], "roles": "trust", "method": method}
    found = ht.anonymize(frame, models=[ht.MatchKK(5)], **asked).mapping()
    assert found.least == 5
    assert all(n >= 5 for *_, n in found.rows)
