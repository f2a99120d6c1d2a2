"""A release as a Hive data set by a published column: all of it or nothing, and nothing beside it."""

from __future__ import annotations

import datetime as dt
import os
import stat
from collections import Counter
from pathlib import Path
from random import Random

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import hushtable as ht
from command import run
from hushtable.io import hive
from hushtable.policy import Policy

ODD = ("N", "S/1", "a b", "10%", "ü", "x=y", "..", None)
ASKED = {"quasi_identifiers": ["age", "region"], "models": [ht.KAnonymity(2)], "roles": "trust"}


def drawn(random, n=60, regions=ODD):
    return pl.DataFrame(
        {
            "age": [random.randint(20, 60) for _ in range(n)],
            "region": [random.choice(regions) for _ in range(n)],
            "ill": [random.choice("abc") for _ in range(n)],
        },
        schema_overrides={"region": pl.String},
    )


def released(table, where, folder, **asked):
    if where == "memory":
        return ht.anonymize(table, **{**ASKED, **asked})
    table.write_parquet(folder / "in.parquet")
    return ht.anonymize(str(folder / "in.parquet"), engine="stream", **{**ASKED, **asked})


def counted(table, names):
    return Counter(tuple(None if each is None else str(each) for each in row) for row in table.select(names).rows())


def twin(folder, by):
    """Read a Hive data set the slow way, one folder after the other."""
    rows = []
    for part in sorted(folder.glob("*=*")):
        name, key = part.name.split("=")
        assert name == by
        cell = None if key == "__HIVE_DEFAULT_PARTITION__" else bytes_of(key).decode()
        (path,) = part.iterdir()
        rows += [{**row, by: cell} for row in pl.read_parquet(path, hive_partitioning=False).to_dicts()]
    return pl.DataFrame(rows, infer_schema_length=None)


def bytes_of(quoted):
    pieces = quoted.encode().split(b"%")
    return pieces[0] + b"".join(bytes([int(each[:2], 16)]) + each[2:] for each in pieces[1:])


@pytest.mark.filterwarnings("ignore:tight intervals")
@pytest.mark.parametrize("where", ["memory", "stream"])
@pytest.mark.parametrize("seed", range(4))
def test_folders_hold_what_is_published(tmp_path, where, seed):
    random = Random(seed)
    table, by = drawn(random), random.choice(["age", "region", "ill"])
    release, out = released(table, where, tmp_path), tmp_path / "out"
    assert release.write(out, by=by).passed
    whole = release.frame.collect() if where == "stream" else release.frame
    assert counted(twin(out, by), table.columns) == counted(whole, table.columns)
    for read in (
        pl.from_arrow(ds.dataset(out, partitioning="hive").to_table()),
        pl.read_parquet(out / "**/*.parquet", hive_partitioning=True),
    ):
        assert counted(read, table.columns) == counted(whole, table.columns)
    assert ht.verify(str(out), quasi_identifiers=["age", "region"], models=[ht.KAnonymity(2)]).passed
    assert stat.S_IMODE((out / "_manifest.json").stat().st_mode) == 0o600
    books = {"out.codebook.md", "out.codebook.json"}
    assert {each.name for each in tmp_path.iterdir()} - {"in.parquet"} == {"out", *books}


def test_a_file_holds_nothing_of_other_folders(tmp_path):
    table = pl.DataFrame({"sex": ["f", "m"] * 8, "town": ["Canaryville", "Elsewhere"] * 8})
    table = table.with_columns(pl.col("town").cast(pl.Categorical))
    for where in ("memory", "stream"):
        asked = {"quasi_identifiers": ["sex"], "models": [ht.KAnonymity(2)]}
        release = released(table, where, tmp_path, **asked)
        release.write(tmp_path / where, by="sex")
        for part in (tmp_path / where / "sex=m").iterdir():
            assert b"Canary" not in part.read_bytes()
            assert pa.parquet.read_metadata(part).row_group(0).column(0).statistics is None or where == "memory"


def test_rows_are_in_random_order(tmp_path):
    table = pl.DataFrame({"sex": ["f", "m"] * 100, "n": range(200)})
    release = ht.anonymize(table, quasi_identifiers=["sex"], models=[ht.KAnonymity(2)], roles="trust")
    release.write(tmp_path / "out", by="sex")
    order = pl.read_parquet(tmp_path / "out" / "sex=f" / "*.parquet", hive_partitioning=False)["n"].to_list()
    assert order != sorted(order)
    assert sorted(order) == list(range(0, 200, 2))


@pytest.mark.parametrize("where", ["memory", "stream"])
def test_a_folder_is_replaced_only_where_it_is_a_release(tmp_path, where):
    release, out = released(drawn(Random(5)), where, tmp_path), tmp_path / "out"
    release.write(out, by="ill")
    with pytest.raises(ht.InputError, match="exists"):
        release.write(out, by="ill")
    release.write(out, by="region", overwrite=True)
    assert not list(out.glob("ill=*"))
    (out / "region=N" / "notes.txt").write_text("mine")
    with pytest.raises(ht.InputError, match="besides a release"):
        release.write(out, by="ill", overwrite=True)
    assert (out / "region=N" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("stranger", ["ill=a/_more.parquet", "ill=a/part-1.parquet", ".x", "ill=z/part-0.parquet"])
def test_what_is_added_fails(tmp_path, stranger):
    release, out = released(drawn(Random(6)), "memory", tmp_path), tmp_path / "out"
    release.write(out, by="ill")
    assert Policy.parse(POLICY).verify(str(out)).passed
    (out / stranger).parent.mkdir(exist_ok=True)
    (out / stranger).write_bytes(next(out.glob("ill=b/*")).read_bytes())
    with pytest.raises(ht.VerificationError, match="SHA-256"):
        Policy.parse(POLICY).verify(str(out))
    if "/_" in stranger or stranger.startswith("."):
        with pytest.raises(ht.VerificationError, match="nobody judges"):
            ht.verify(str(out), quasi_identifiers=["age", "region"], models=[ht.KAnonymity(2)])


def test_a_part_that_is_gone_or_moved_fails(tmp_path):
    release, out = released(drawn(Random(7)), "memory", tmp_path), tmp_path / "out"
    release.write(out, by="ill")
    (out / "ill=a").rename(out / "ill=q")
    with pytest.raises(ht.VerificationError, match="SHA-256"):
        Policy.parse(POLICY).verify(str(out))


POLICY = """
columns: {age: quasi-identifier, region: quasi-identifier, ill: other}
models: [k-anonymity: 2]
method: {mondrian: {recoding: readable}}
"""


@pytest.mark.parametrize("where", ["memory", "stream"])
def test_columns_that_make_no_folders_are_refused_by_name(tmp_path, where, monkeypatch):
    table = drawn(Random(8)).with_columns(
        name=pl.Series([f"p{i}" for i in range(60)]),
        _x=pl.lit("a"),
        day=pl.lit(dt.datetime(2024, 5, 1)),
        empty=pl.lit(""),
        long=pl.lit("y" * 300),
    )
    out = tmp_path / "out"
    release = released(table, where, tmp_path, identifiers=["name"])
    for by, told in (
        ("name", "'name', which is not published"),
        ("wrong", "'wrong', which is not published"),
        ("_x", "'_x' would name folders that readers pass over"),
        ("day", "'day' is of the type"),
        ("empty", "'empty' has cells that would be read as missing"),
        ("long", "'long' has cells too long"),
    ):
        with pytest.raises(ht.HushError, match=told):
            release.write(out, by=by)
    with pytest.raises(ht.InputError, match="names a file"):
        release.write(tmp_path / "out.parquet", by="ill")
    monkeypatch.setattr(hive, "_MOST_FOLDERS", 2)
    with pytest.raises(ht.InputError, match="more than 2 values"):
        release.write(out, by="ill")
    assert not out.exists()
    assert not [name for name in os.listdir(tmp_path) if name != "in.parquet"]


def test_pseudonyms_make_no_folders(tmp_path):
    text = POLICY.replace("ill: other", "ill: {role: identifier, action: fresh}")
    release = Policy.parse(text).protect(drawn(Random(1)))
    with pytest.raises(ht.ColumnError, match="would be a person's"):
        release.write(tmp_path / "out", by="ill")
    with pytest.raises(ht.PolicyError, match="write: by names column 'ill'"):
        Policy.parse(text + "write: {by: ill}").protect(drawn(Random(1)))
    with pytest.raises(ht.PolicyError, match="write: by names column 'region'"):
        Policy.parse(
            "columns: {age: quasi-identifier, region: identifier, ill: other}\nmodels: [k-anonymity: 2]\n"
            "write: {by: region}"
        ).protect(drawn(Random(1)))


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_policy_and_the_command_say_it_too(tmp_path, engine):
    drawn(Random(9), regions=("N", "S", "W/E")).write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.yaml").write_text(POLICY + "write: {by: ill}\n")
    os_run = ["anonymize", str(tmp_path / "in.csv"), "-p", str(tmp_path / "policy.yaml"), "--engine", engine]
    assert run(*os_run, "-o", str(tmp_path / "out")).code == 0
    assert {each.name for each in (tmp_path / "out").iterdir()} == {"_manifest.json", "ill=a", "ill=b", "ill=c"}
    told = run("verify", str(tmp_path / "out"), "-p", str(tmp_path / "policy.yaml"))
    assert (told.code, "holds" in told.out) == (0, True)
    assert run(*os_run, "-o", str(tmp_path / "two"), "--by", "region").code == 0
    assert (tmp_path / "two" / "_manifest.json").is_file()
    assert all(each.name.startswith(("region=", "_manifest")) for each in (tmp_path / "two").iterdir())
    refused = run(*os_run, "-o", str(tmp_path / "three.csv"), "--by", "region")
    assert (refused.code, Path(tmp_path / "three.csv").exists()) == (2, False)
