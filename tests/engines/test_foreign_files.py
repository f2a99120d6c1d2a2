"""Folders with more in them than was judged, and folders that are not what they seem."""

import json
import shutil

import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.errors import InputError, VerificationError
from hushtable.release import manifest

TABLE = pl.DataFrame({"sex": ["f", "m"] * 20, "ward": ["a", "a", "b", "b"] * 10})
ASKED = {"quasi_identifiers": ["sex", "ward"], "models": [ht.KAnonymity(5)]}


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "in"
    made.mkdir()
    TABLE.write_parquet(made / "0.parquet")
    return made


@pytest.fixture
def release(folder, tmp_path):
    ht.anonymize(str(folder), **ASKED).write(tmp_path / "out")
    return tmp_path / "out"


def signed(folder):
    """Let the manifest name the folder as it is now."""
    path = manifest.manifest_path(folder)
    path.write_text(json.dumps({**json.loads(path.read_text()), "sha256": manifest.sha256(folder)}))


@pytest.mark.parametrize("name", ["_x.parquet", ".h.parquet", "_README.txt"])
def test_a_folder_that_holds_what_nobody_judges_does_not_hold(release, name):
    shutil.copy(next(release.glob("part-*")), release / name)
    signed(release)
    judged = run("verify", release)
    assert judged.code == 1
    assert name in judged.err
    with pytest.raises(VerificationError, match=name):
        ht.verify(release, **ASKED)


def test_a_manifest_that_tells_another_number_of_records_does_not_hold(release):
    path = manifest.manifest_path(release)
    path.write_text(json.dumps({**json.loads(path.read_text()), "n_records": 41}))
    judged = run("verify", release)
    assert judged.code == 1
    assert "as many records as the manifest says: the file has 40" in judged.out


def test_no_two_folders_have_one_digest(tmp_path):
    (tmp_path / "a\nb").write_text("x")
    with pytest.raises(InputError, match="line break"):
        manifest.sha256(tmp_path)


@pytest.mark.parametrize(
    ("entry", "told"),
    [("README.txt", "not Parquet: 'README.txt'"), ("year=2023/0.parquet", "folders of a Hive data set: 'year=2023'")],
)
def test_what_cannot_be_read_of_a_folder_is_named(folder, entry, told):
    (folder / entry).parent.mkdir(exist_ok=True)
    (folder / entry).write_text("x")
    with pytest.raises(InputError, match=told):
        ht.anonymize(str(folder), **ASKED)


def test_keys_of_a_hive_data_set_are_not_lost_through_a_pattern(folder):
    for year in ("year=2023", "year=2024"):
        (folder / year).mkdir()
        TABLE.write_parquet(folder / year / "0.parquet")
    with pytest.raises(InputError, match="whose names are in no column: 'year=2023', 'year=2024'"):
        ht.anonymize(str(folder / "*" / "*.parquet"), **ASKED)


def test_an_empty_folder_is_said_to_be_one(tmp_path):
    with pytest.raises(InputError, match="no files are in the folder"):
        ht.anonymize(str(tmp_path), **ASKED)
