"""What changes under a job: nothing is published that was not measured, and no manifest tells of another file."""

import json
import os

import polars as pl
import pytest

import hushtable as ht
from hushtable.errors import ExposureError, InputError
from hushtable.io import files
from hushtable.release import manifest

POLICY = {
    "version": 1,
    "columns": {"sex": "quasi-identifier", "ward": "quasi-identifier", "note": "other"},
    "models": [{"k-anonymity": 5}],
}
ROWS = 200


def rules(**more):
    return ht.Policy.parse(json.dumps({**POLICY, **more}))


def table(notes, n_rows=ROWS):
    return pl.DataFrame(
        {
            "sex": ["f", "m"] * (n_rows // 2),
            "ward": [f"w{i % 4}" for i in range(n_rows)],
            "note": [f"n{i}" if notes == "different" else "same" for i in range(n_rows)],
        }
    )


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "in"
    made.mkdir()
    for part in range(2):
        table("same").write_parquet(made / f"{part}.parquet")
    return made


def protected(source):
    return rules().protect(str(source), engine="stream")


def replaced(folder):
    table("different").write_parquet(folder / "new")
    os.replace(folder / "new", folder / "0.parquet")


def grown(folder):
    table("same", 2 * ROWS).write_parquet(folder / "0.parquet")


def truncated(folder):
    table("same", ROWS // 2).write_parquet(folder / "0.parquet")


def joined(folder):
    table("same").write_parquet(folder / "2.parquet")


def gone(folder):
    (folder / "1.parquet").unlink()


def touched(folder):
    os.utime(folder / "0.parquet", ns=(1, 1))


@pytest.mark.parametrize("change", [replaced, grown, truncated, joined, gone, touched])
def test_nothing_is_written_of_files_that_changed_since_they_were_measured(folder, tmp_path, change):
    release = protected(folder)
    change(folder)
    with pytest.raises(InputError, match="changed while it was read"):
        release.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("notes", ["same", "different"])
def test_a_change_that_no_time_and_no_size_tells_is_found_in_what_was_written(folder, tmp_path, monkeypatch, notes):
    monkeypatch.setattr(files, "_file_state", lambda path: (0, 0, 0, 0))
    release = protected(folder)
    table(notes).write_parquet(folder / "0.parquet")
    if notes == "same":
        release.write(tmp_path / "out")
        return
    with pytest.raises(ExposureError, match="200 of 400 records are unique"):
        release.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_rows_that_are_fewer_are_found_where_no_time_and_no_size_tells(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_file_state", lambda path: (0, 0, 0, 0))
    release = protected(folder)
    table("same", ROWS // 2).write_parquet(folder / "0.parquet")
    with pytest.raises(InputError, match="changed while it was read"):
        release.write(tmp_path / "out")


def test_a_csv_read_in_pieces_that_changed_is_refused(tmp_path):
    table("same").write_csv(tmp_path / "in.csv")
    release = protected(tmp_path / "in.csv")
    table("same", ROWS // 2).write_csv(tmp_path / "in.csv")
    with pytest.raises(InputError, match="changed while it was read"):
        release.write(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("person", [None, "pid"])
def test_the_exposure_of_a_manifest_is_that_of_what_was_written(folder, tmp_path, person):
    for path in folder.iterdir():
        rows = pl.read_parquet(path)
        rows.with_columns(pid=pl.Series([f"{path.stem} {i // 2}" for i in range(len(rows))])).write_parquet(path)
    columns = {**POLICY["columns"], "pid": "identifier"}
    release = rules(columns=columns, **({"person": person} if person else {})).protect(str(folder))
    release.write(tmp_path / "out")
    assert manifest.read(tmp_path / "out")["exposure"] == release.exposure.to_dict()


def test_files_that_are_read_into_memory_may_not_change_before_a_release_is_made(tmp_path, monkeypatch):
    population, data = tmp_path / "population.csv", tmp_path / "data.csv"
    table("same").write_csv(data)
    table("same").select("sex", "ward").write_csv(population)
    policy = rules(models=[{"k-map": 5}], population=str(population))
    request = ht.Policy.request

    def changing(self, *given, **options):
        asked = request(self, *given, **options)
        table("same", 2 * ROWS).select("sex", "ward").write_csv(population)
        return asked

    assert policy.protect(data).n_suppressed == 0
    monkeypatch.setattr(ht.Policy, "request", changing)
    with pytest.raises(InputError, match=r"population\.csv' changed while it was read"):
        policy.protect(data)
