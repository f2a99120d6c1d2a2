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
    [
        ("README.txt", "not Parquet: 'README.txt'"),
        ("year=2023/0.txt", "not Parquet: '0.txt'"),
        ("more/0.parquet", "holds folders: 'more'"),
    ],
)
def test_what_cannot_be_read_of_a_folder_is_named(folder, entry, told):
    (folder / entry).parent.mkdir(exist_ok=True)
    (folder / entry).write_text("x")
    with pytest.raises(InputError, match=told):
        ht.anonymize(str(folder), **ASKED)


HIVE = pl.DataFrame({"age": [20 + i % 30 for i in range(120)], "ill": [*"abcd"] * 30})


def hive(home, parts):
    for place, (names, rows) in enumerate(parts):
        folder = home.joinpath(*names)
        folder.mkdir(parents=True, exist_ok=True)
        rows.write_parquet(folder / f"{place}.parquet")
    return home


def test_keys_of_a_hive_data_set_are_columns(tmp_path):
    years = [2023, 2024, 2025]
    regions = ["North", "a b", None]
    names = ["region=North", "region=a%20b", "region=__HIVE_DEFAULT_PARTITION__"]
    home = hive(
        tmp_path / "in",
        [((f"year={years[i % 3]}", names[i // 3 % 3]), HIVE[10 * i : 10 * i + 10]) for i in range(12)],
    )
    (home / "_SUCCESS").write_text("")
    whole = HIVE.with_columns(
        year=pl.Series([years[i // 10 % 3] for i in range(120)]),
        region=pl.Series([regions[i // 10 // 3 % 3] for i in range(120)]),
    )
    asked = {"quasi_identifiers": ["age", "year", "region"], "models": [ht.KAnonymity(4)], "roles": "trust"}
    for path in (home, home / "*" / "*" / "*.parquet"):
        release = ht.anonymize(str(path), **asked)
        same = ht.anonymize(whole, **asked)
        assert release.loss == pytest.approx(same.loss)
        out = tmp_path / "out"
        assert release.write(out, overwrite=True).passed
        written = pl.read_parquet(out / "part-*.parquet")
        columns = ["age", "year", "region", "ill"]
        assert sorted(written.select(columns).rows(), key=repr) == sorted(same.frame.select(columns).rows(), key=repr)
    published = release.frame.collect()
    assert sorted(published.select(columns).rows(), key=repr) == sorted(same.frame.select(columns).rows(), key=repr)


def test_files_under_other_keys_are_refused(tmp_path):
    home = hive(tmp_path / "in", [(("year=2023",), HIVE), (("region=N",), HIVE)])
    with pytest.raises(InputError, match="under different keys"):
        ht.anonymize(str(home), **ASKED)
    home = hive(tmp_path / "two", [(("age=20",), HIVE)])
    with pytest.raises(InputError, match="name columns that the files have too: 'age'"):
        ht.anonymize(str(home), **ASKED)


def test_keys_that_are_kept_are_judged_by_what_they_expose(tmp_path):
    ids = [f"tour={i:03}" for i in range(120)]
    home = hive(tmp_path / "in", [((name,), HIVE[i : i + 1]) for i, name in enumerate(ids)])
    refused = run("anonymize", home, "--qi", "age", "--other", "tour", "--k", "4", "-o", tmp_path / "out")
    assert refused.code == 1
    assert "on 'tour'" in refused.err
    assert not (tmp_path / "out").exists()


def test_an_empty_folder_is_said_to_be_one(tmp_path):
    with pytest.raises(InputError, match="no files are in the folder"):
        ht.anonymize(str(tmp_path), **ASKED)
