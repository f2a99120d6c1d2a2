"""A release on the disk: whole and verified, or nothing; what is left after an exception and after a kill."""

import json
import os
import signal
import stat
import subprocess
import sys
import traceback

import numpy as np
import polars as pl
import pytest

import hushtable as ht
import hushtable.io
from hushtable.claims import claim_from_models, open_release, select_for_claim
from hushtable.engines.files import Files
from hushtable.errors import ColumnError, InputError, VerificationError
from hushtable.io import drafts
from hushtable.release import batches as lower, manifest, writing
from hushtable.release.origin import PublishedCells

SECRET = "canary-7319"


def source(tmp_path, n_rows=60):
    path = tmp_path / "in.parquet"
    pl.DataFrame({"age": [i % 6 for i in range(n_rows)], "job": [SECRET] * n_rows, "n": range(n_rows)}).write_parquet(
        path
    )
    return Files.open(path)


def cells_of(files, columns=("age", "job", "n")):
    keys = files.collapse(["age", "job"]).native
    published = keys.select(
        pl.format("[{}, {}]", pl.col("age") // 3 * 3, pl.col("age") // 3 * 3 + 2).alias("age"), job=pl.lit("*")
    )
    return PublishedCells(keys, published, np.ones(len(keys), dtype=bool), columns)


def published(files):
    """Return what is published of all records, batch by batch."""
    return files.publish_batches(cells_of(files))


def claim(k=5):
    return claim_from_models(("age", "job"), (ht.KAnonymity(k),))


def write(batches, path, claim, facts, *, delimiter=",", rows_per_part=lower.ROWS_PER_PART, **given):
    content = writing.BatchContent(batches, claim, delimiter=delimiter, rows_per_part=rows_per_part)
    return writing.write(content, writing.Destination(path, **given), facts)


def listing(folder):
    return sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*"))


@pytest.fixture(autouse=True)
def _by_way_of_the_disk(monkeypatch):
    monkeypatch.setattr(lower, "_MAX_ROWS_IN_MEMORY", 10)
    monkeypatch.setattr(lower, "_N_BUCKETS", 3)


def test_a_folder_is_written_verified_and_read_again(tmp_path, capsys):
    files = source(tmp_path)
    out = tmp_path / "out"
    verdict = write(
        published(files),
        out,
        claim(),
        {"recoding": "tight"},
        inputs=files.inputs,
        rows_per_part=25,
    )
    assert verdict.passed
    assert verdict.n_records == 60
    assert listing(tmp_path) == [
        "in.parquet",
        "out",
        "out/_manifest.json",
        *(f"out/part-0000{i}.parquet" for i in range(3)),
    ]
    entries = json.loads((out / "_manifest.json").read_text())
    assert (entries["file"], entries["n_records"], entries["recoding"]) == ("out", 60, "tight")
    assert SECRET not in (out / "_manifest.json").read_text()
    assert ht.verify(out, quasi_identifiers=["age", "job"], models=[ht.KAnonymity(30)]).passed
    assert not ht.verify(out, quasi_identifiers=["age", "job"], models=[ht.KAnonymity(31)]).passed
    assert manifest.claim_of(out).conditions == claim().conditions
    if os.name == "posix":
        mask = os.umask(0)
        os.umask(mask)
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in [out, *out.iterdir()]}
        usual = {"out": 0o777 & ~mask, "_manifest.json": 0o600}
        assert modes == {name: usual.get(name, 0o666 & ~mask) for name in modes}


def test_the_command_verifies_a_folder(tmp_path):
    files = source(tmp_path)
    write(published(files), tmp_path / "out", claim(), {})
    command = [sys.executable, "-m", "hushtable", "verify", str(tmp_path / "out")]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["n_records"] == 60
    (tmp_path / "out" / "part-00009.parquet").write_bytes((tmp_path / "in.parquet").read_bytes())
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "not the file its manifest describes" in done.stderr


def test_a_policy_judges_a_folder(tmp_path):
    files = source(tmp_path)
    write(files.publish_batches(cells_of(files, ("age", "job"))), tmp_path / "out", claim(), {})
    text = "version: 1\ncolumns: {age: quasi-identifier, job: quasi-identifier}\nmodels: [k-anonymity: 5]\n"
    (tmp_path / "p.yaml").write_text(text)
    try:
        policy = ht.Policy.read(tmp_path / "p.yaml")
    except ht.errors.PolicyError:
        pytest.fail("the policy's grammar has changed")
    assert policy.verify(tmp_path / "out").passed


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".tsv"])
def test_a_file_is_written_verified_and_read_again(tmp_path, ending):
    files = source(tmp_path)
    out = tmp_path / f"out{ending}"
    assert write(published(files), out, claim(), {}, inputs=files.inputs, delimiter=";").passed
    assert listing(tmp_path) == ["in.parquet", out.name, f"{out.name}.manifest.json"]
    assert ht.verify(out, quasi_identifiers=["age", "job"], models=[ht.KAnonymity(30)]).n_records == 60
    again = select_for_claim(claim(), open_release(out, manifest.dialect_of(out), is_large=True))
    assert (again.n_rows, again.n_records) == (2, 60)


@pytest.mark.parametrize("name", ["out", "out.csv"])
def test_what_does_not_hold_leaves_the_old_release(tmp_path, name):
    files = source(tmp_path)
    out = tmp_path / name
    write(published(files), out, claim(), {})
    before = {each: (tmp_path / each).stat().st_ino for each in listing(tmp_path)}
    with pytest.raises(InputError, match="exists"):
        write(published(files), out, claim(), {})
    with pytest.raises(VerificationError):
        write(published(files), out, claim(31), {}, overwrite=True)
    assert {each: (tmp_path / each).stat().st_ino for each in listing(tmp_path)} == before
    write(published(files), out, claim(), {}, overwrite=True)
    assert listing(tmp_path) == list(before)
    assert (tmp_path / name).stat().st_ino != before[name]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, OSError])
@pytest.mark.parametrize("place", ["_shuffle_into_buckets", "_shuffle_in_memory", "_write_parquet"])
def test_an_exception_leaves_no_spill_at_once(tmp_path, monkeypatch, error, place):
    files = source(tmp_path)
    batches = published(files)
    done = getattr(lower, place)

    def failing(*arguments):
        done(*arguments)
        assert any(each.startswith(".out") for each in listing(tmp_path))
        raise error

    monkeypatch.setattr(lower, place, failing)
    with pytest.raises((error, InputError)):
        write(batches, tmp_path / "out", claim(), {})
    assert listing(tmp_path) == ["in.parquet"]


@pytest.mark.parametrize("text", ["mine", None])
def test_a_folder_that_is_no_release_is_never_replaced(tmp_path, text):
    files = source(tmp_path)
    (tmp_path / "out").mkdir()
    if text:
        (tmp_path / "out" / "notes.txt").write_text(text)
    for overwrite in (False, True):
        with pytest.raises(InputError, match="is not a release"):
            write(published(files), tmp_path / "out", claim(), {}, overwrite=overwrite)


def test_outputs_that_must_not_be(tmp_path):
    (tmp_path / "data").mkdir()
    files = source(tmp_path / "data")
    batches = published(files)
    with pytest.raises(InputError, match="holds the input"):
        write(batches, tmp_path / "data", claim(), {}, inputs=files.inputs, overwrite=True)
    with pytest.raises(InputError, match="no folder"):
        write(batches, tmp_path / "none" / "out", claim(), {}, inputs=files.inputs)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="symbolic link"):
        write(batches, tmp_path / "link", claim(), {}, inputs=files.inputs)


def test_a_folder_without_what_is_claimed(tmp_path):
    files = source(tmp_path)
    with pytest.raises(ColumnError, match="'zip'"):
        write(
            published(files),
            tmp_path / "out",
            claim_from_models(("zip",), (ht.KAnonymity(2),)),
            {},
        )
    assert listing(tmp_path) == ["in.parquet"]


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = {paths!r}
import test_writing as here
from hushtable.io import drafts
from hushtable.release import manifest
from hushtable.release import batches, writing

batches._MAX_ROWS_IN_MEMORY, batches._N_BUCKETS = 10, 3
module, name, when = {module}, {name!r}, {when!r}
real = getattr(module, name)

def kill_once(told=[]):
    # What is asked to end twice may not have cleaned up in between.
    if not told:
        told.append(1)
        os.kill(os.getpid(), signal.{signal})

def killed(*arguments, **named):
    if when == "before":
        kill_once()
    found = real(*arguments, **named)
    kill_once()
    return found

setattr(module, name, killed)
folder = Path({folder!r})
if {signal!r} == "SIGTERM":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
files = here.Files.open(folder / "in.parquet")
here.write(here.published(files), folder / {out!r}, here.claim(), {{}}, overwrite=True, rows_per_part=25)
"""

MARKS = {
    "SIGKILL": [
        *(("batches", name, "after") for name in ("_shuffle_into_buckets", "_shuffle_in_memory", "_write_parquet")),
        ("writing", "select_for_claim", "before"),
        ("manifest", "build", "before"),
        *(("drafts", "_take_place", when) for when in ("before", "after")),
        ("drafts", "_open_to_others", "after"),
    ],
    "SIGTERM": [
        ("batches", "_shuffle_into_buckets", "after"),
        ("batches", "_write_parquet", "after"),
        ("drafts", "_take_place", "before"),
        ("drafts", "_take_place", "after"),
    ],
}


def killed_at(tmp_path, module, name, when, number, out):
    code = KILLED.format(
        paths=[os.path.dirname(__file__)],
        module=module,
        name=name,
        when=when,
        signal=number,
        folder=str(tmp_path),
        out=out,
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode in ((-signal.SIGKILL,) if number == "SIGKILL" else (143,)), done.stderr
    assert SECRET not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("number", MARKS)
def test_a_process_that_ends_leaves_the_old_folder_or_the_new_one(tmp_path, number):
    files = source(tmp_path)
    out = tmp_path / "out"
    write(published(files), out, claim(), {"recoding": "old"}, rows_per_part=25)
    kept = listing(tmp_path)
    found = set()
    for module, name, when in MARKS[number]:
        killed_at(tmp_path, module, name, when, number, "out")
        if number == "SIGTERM":
            # Nothing is left at once.
            assert listing(tmp_path) == kept
        assert [each for each in listing(tmp_path) if not each.startswith(".")] == kept
        entries = manifest.read(out)
        manifest.check_hash(out, entries)
        found.add((name, when, entries.get("recoding")))
        write(published(files), out, claim(), {"recoding": "old"}, rows_per_part=25, overwrite=True)
        assert listing(tmp_path) == kept
    assert ("_take_place", "before", "old") in found
    assert ("_take_place", "after", None) in found


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_a_kill_leaves_what_none_but_its_owner_may_read_and_the_next_write_removes_it(tmp_path):
    files = source(tmp_path)
    for out in ("out", "out.csv"):
        killed_at(tmp_path, "batches", "_shuffle_into_buckets", "after", "SIGKILL", out)
        left = [each for each in tmp_path.iterdir() if each.name.startswith(".out")]
        assert any("spill" in each for each in listing(tmp_path))
        assert {stat.S_IMODE(each.stat().st_mode) for each in left if each.is_dir()} == {0o700}
        # The spill of another name is another's.
        write(
            published(files),
            tmp_path / "other",
            claim(),
            {},
            overwrite=(tmp_path / "other").exists(),
        )
        assert any("spill" in each for each in listing(tmp_path))
        write(published(files), tmp_path / out, claim(), {})
        assert not any("spill" in each for each in listing(tmp_path))


def test_where_folders_cannot_be_exchanged_the_next_write_restores_the_old_one(tmp_path, monkeypatch):
    files = source(tmp_path)
    out = tmp_path / "out"
    write(published(files), out, claim(), {"recoding": "old"})
    monkeypatch.setattr(drafts, "_exchange_names", lambda *_: False)
    write(published(files), out, claim(), {"recoding": "new"}, overwrite=True)
    assert manifest.read(out)["recoding"] == "new"
    # As a kill between the two renames leaves it.
    left = tmp_path / ".out.0123abcd.part"
    left.mkdir()
    out.rename(left / "old")
    with drafts.temporary_folder(out):
        assert manifest.read(out)["recoding"] == "new"
    assert listing(tmp_path) == ["in.parquet", "out", "out/_manifest.json", "out/part-00000.parquet"]


def test_a_spill_that_is_held_is_left_alone(tmp_path):
    with drafts.temporary_folder(tmp_path / "out") as mine, drafts.temporary_folder(tmp_path / "out") as other:
        assert mine != other
        assert mine.is_dir()
    assert listing(tmp_path) == []


def test_no_error_quotes_a_cell(tmp_path):
    files = source(tmp_path)
    cells = cells_of(files)
    pl.DataFrame({"age": [0], "job": [f"{SECRET}2"], "n": [1]}).write_parquet(tmp_path / "in.parquet")
    with pytest.raises(InputError, match="changed") as caught:
        write(files.publish_batches(cells), tmp_path / "out", claim(), {})
    assert SECRET not in "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert writing.is_folder(tmp_path / "out")


def test_without_its_reader_a_folder_says_what_to_install(tmp_path, monkeypatch):
    for name in ("hushtable.io.batches", "hushtable.io.distinct_rows"):
        monkeypatch.delitem(sys.modules, name)
    # The door keeps what it has loaded.
    for name in ("distinct_rows", "scan"):
        monkeypatch.delitem(vars(hushtable.io), name, raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'hushtable\[stream\]'"):
        open_release(tmp_path)
