"""A folder every night: published by the cells of the first, as the same rows in memory are, and judged by itself."""

import duckdb
import polars as pl
import pytest

import hushtable as ht
from command import done, run

COLUMNS = ["birth_date", "postcode", "diagnosis", "marital_status", "name"]
ASKED = {
    "quasi_identifiers": ["birth_date", "postcode"],
    "identifiers": ["name"],
    "models": [ht.KAnonymity(5), ht.DistinctLDiversity(2, "diagnosis")],
    "method": ht.Mondrian(recoding="readable"),
    "roles": "trust",
}

POLICY = """
columns:
  birth_date: quasi-identifier
  postcode: quasi-identifier
  name: identifier
  diagnosis: sensitive
  marital_status: other
models: [k-anonymity: 5, distinct-l-diversity: {l: 2, sensitive: diagnosis}]
method: {mondrian: {recoding: readable}}
"""


def night(home, name, n, seed):
    folder = home / name
    folder.mkdir()
    rows = ht.datasets.people(n, seed=seed).select(COLUMNS)
    rows[: n // 3].write_parquet(folder / "a.parquet")
    rows[n // 3 :].write_parquet(folder / "b.parquet")
    return folder, rows


@pytest.fixture
def nights(tmp_path):
    return night(tmp_path, "first", 600, 0), night(tmp_path, "second", 400, 1)


def in_order(frame):
    return sorted(frame.rows(), key=repr)


def test_a_folder_is_published_by_the_cells_of_the_first(nights, tmp_path):
    (first, before), (second, after) = nights
    release, whole = ht.anonymize(str(first), **ASKED), ht.anonymize(before, **ASKED)
    later, same = release.apply(str(second)), whole.apply(after)
    assert in_order(later.frame.collect()) == in_order(same.frame)
    assert later.distinct.batch == same.batch
    assert later.n_suppressed == same.n_suppressed
    assert later.columns == ("birth_date", "postcode", "diagnosis", "marital_status")
    assert later.write(tmp_path / "out").passed
    assert in_order(pl.read_parquet(tmp_path / "out" / "part-*.parquet")) == in_order(same.frame)


def test_lazy_frames_are_published_by_their_engines(nights):
    (first, before), (second, after) = nights
    release, same = ht.anonymize(str(first), **ASKED), ht.anonymize(before, **ASKED).apply(after)
    lazy = release.apply(pl.scan_parquet(str(second / "*.parquet")))
    assert in_order(lazy.frame.collect()) == in_order(same.frame)
    session = duckdb.connect()
    relation = release.apply(session.read_parquet(str(second / "*.parquet")), session=session)
    assert in_order(relation.frame.pl()) == in_order(same.frame)
    assert relation.verify().passed
    assert in_order(release.apply(after).frame) == in_order(same.frame)
    whole = ht.anonymize(before, **ASKED)
    assert in_order(whole.apply(str(second)).frame.collect()) == in_order(same.frame)
    with pytest.raises(ht.InputError, match="not in memory"):
        whole.apply(str(second), together=True)


def test_the_command_does_the_same_by_a_file(nights, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (_, before), (_, after) = nights
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    done("anonymize", "first", "-p", "p.yaml", "-o", "one", "--save-recoding", "cells.json")
    told = done("apply", "cells.json", "second", "-o", "two").out
    assert "fit no cell of the earlier release" in told
    assert done("verify", "two").code == 0
    same = ht.Recoding.read("cells.json").apply(after)
    assert in_order(pl.read_parquet("two/part-*.parquet")) == in_order(same.frame)
    assert run("apply", "cells.json", "second", "-o", "two").code == 2  # it exists
    assert run("apply", "cells.json", "second", "-o", "three", "--keep-order").code == 2
    before.drop("marital_status").write_parquet("second/c.parquet")
    assert run("apply", "cells.json", "second", "-o", "three").code == 2
    assert not (tmp_path / "three").exists()


def test_other_columns_are_refused(nights, tmp_path):
    (first, _), (second, after) = nights
    release = ht.anonymize(str(first), **ASKED)
    for path in second.iterdir():
        path.unlink()
    after.drop("marital_status").write_parquet(second / "a.parquet")
    with pytest.raises(ht.ColumnError, match="lack columns 'marital_status'"):
        release.apply(str(second))
