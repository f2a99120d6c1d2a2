"""Every engine gives the release that one table in memory gives."""

import datetime as dt
import json
import subprocess
import sys

import duckdb
import polars as pl
import pytest
from engine_tables import ASKED, people, rows_of

import hushtable as ht
from command import done, run
from hushtable.errors import ExposureError

pytestmark = pytest.mark.filterwarnings("ignore:tight intervals")


def as_folder(frame, path):
    folder = path / "in"
    folder.mkdir()
    for place, begin in enumerate(range(0, frame.height, 37)):
        frame[begin : begin + 37].write_parquet(folder / f"{place}.parquet", row_group_size=11)
    return folder


def as_duckdb(frame, path):
    return duckdb.from_arrow(frame.to_arrow())


ENGINES = {"stream": as_folder, "polars": lambda frame, path: frame.lazy(), "duckdb": as_duckdb}


def collected(frame):
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, pl.DataFrame) else frame.pl()


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_gives_what_memory_gives(engine, asked, tmp_path):
    frame = people(200)
    whole = ht.anonymize(frame, **asked, roles="trust")
    release = ht.anonymize(ENGINES[engine](frame, tmp_path), **asked, roles="trust")
    assert release.engine == engine
    assert release.loss == pytest.approx(whole.loss, abs=1e-12)
    told, expected = release.to_dict(), whole.to_dict()
    for name in ("n_records", "n_suppressed", "n_classes", "smallest_class"):
        assert told[name] == expected[name]
    published = collected(release.frame)
    assert published.columns == whole.frame.columns
    assert rows_of(published) == rows_of(whole.frame)
    verdict = release.verify()
    assert verdict.passed
    assert verdict.to_dict() == whole.verify().to_dict()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_written_is_what_was_published(engine, tmp_path):
    frame, asked = people(300, seed=1), ASKED["suppression"]
    whole = ht.anonymize(frame, **asked, roles="trust")
    release = ht.anonymize(ENGINES[engine](frame, tmp_path), **asked, roles="trust")
    assert release.write(tmp_path / "out").passed
    parts = sorted((tmp_path / "out").glob("*.parquet"))
    assert rows_of(pl.read_parquet(parts)) == rows_of(whole.frame)
    assert done("verify", tmp_path / "out").code == 0
    with pytest.raises(ht.InputError, match="exists"):
        release.write(tmp_path / "out")
    parts[0].write_bytes(parts[0].read_bytes() + b" ")
    assert run("verify", tmp_path / "out").code == 1


def test_identifiers_and_pseudonyms_leave_or_change_in_every_batch(tmp_path):
    frame = people(100).with_columns(pl.Series("who", [f"p{i // 2}" for i in range(100)]), name=pl.lit("Ann"))
    hidden = ht.Pseudonyms(["who"], b"0123456789abcdef0123456789abcdef")
    asked = {**ASKED["k"], "identifiers": ["name"], "pseudonyms": hidden, "roles": "trust"}
    whole = ht.anonymize(frame, **asked)
    release = ht.anonymize(as_folder(frame, tmp_path), **asked)
    assert "Ann" not in str(collected(release.frame).rows())
    release.write(tmp_path / "out")
    assert rows_of(pl.read_parquet(tmp_path / "out" / "*.parquet")) == rows_of(whole.frame)


def test_what_looks_like_an_identifier_is_refused_at_this_door_too(tmp_path):
    frame = people(100).with_columns(pl.Series("email", [f"p{i}@example.org" for i in range(100)]))
    with pytest.raises(ht.ColumnError, match="email"):
        ht.anonymize(as_folder(frame, tmp_path), **ASKED["k"])


def test_a_policy_refuses_what_its_kept_columns_expose(tmp_path):
    frame = people(100).with_columns(pl.Series("visit", range(100)))
    roles = dict.fromkeys(("age", "job"), "quasi-identifier") | dict.fromkeys(("born", "ill", "pay", "note *"), "other")
    policy = ht.Policy.make({"columns": {**roles, "visit": "other"}, "models": [{"k-anonymity": 3}]})
    for data in (as_folder(frame, tmp_path), frame.lazy()):
        with pytest.raises(ht.ExposureError, match="visit"):
            policy.protect(data).write(tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_the_command_streams_a_folder_and_says_so(tmp_path):
    folder = as_folder(people(200), tmp_path)
    asked = (
        "anonymize",
        folder,
        "--qi",
        "age,job",
        "--other",
        "born,ill,pay,note *",
        "--k",
        "3",
        "--set",
        "limits.exposure.rate=1",
    )
    told = json.loads(done(*asked, "-o", tmp_path / "out", "--json").out)
    assert told["engine"] == "stream"
    assert told["verified"]["passed"]
    assert run(*asked, "-o", tmp_path / "out").code == 2
    assert "batch by batch" in done(*asked, "-o", tmp_path / "out", "--force").out
    assert done("verify", tmp_path / "out").code == 0


def test_a_folder_is_scanned_and_released_by_the_policy_of_the_scan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    as_folder(people(200), tmp_path)
    scanned = done("scan", "in", "-p", "policy.yaml")
    assert "its first 200 rows" in scanned.err
    assert "-o in_release" in scanned.err
    policy = (tmp_path / "policy.yaml").read_text(encoding="utf-8").replace("role: ask", "role: quasi-identifier")
    (tmp_path / "policy.yaml").write_text(policy, encoding="utf-8")
    asked = ("anonymize", "in", "-p", "policy.yaml", "-o", "in_release", "--ask", "quasi-identifier")
    assert "Verified from the published table" in done(*asked).out
    assert done("verify", "in_release", "-p", "policy.yaml", "--ask", "quasi-identifier").code == 0


def test_one_large_file_may_be_streamed(tmp_path):
    frame = people(120)
    frame.write_parquet(tmp_path / "in.parquet")
    release = ht.anonymize(tmp_path / "in.parquet", **ASKED["k"], roles="trust", engine="stream")
    release.write(tmp_path / "out.parquet")
    whole = ht.anonymize(frame, **ASKED["k"], roles="trust")
    assert rows_of(pl.read_parquet(tmp_path / "out.parquet")) == rows_of(whole.frame)
    assert done("verify", tmp_path / "out.parquet").code == 0


def test_a_csv_is_streamed_as_text(tmp_path):
    frame = people(120)
    (tmp_path / "in.csv").write_bytes(frame.write_csv(separator=";").replace("\n", "\r\n").encode("utf-8-sig"))
    whole = ht.anonymize(tmp_path / "in.csv", **ASKED["k"], roles="trust")
    release = ht.anonymize(tmp_path / "in.csv", **ASKED["k"], roles="trust", engine="stream")
    assert release.loss == whole.loss
    with pytest.raises(ht.InputError, match="write"):
        release.frame  # noqa: B018
    for name in ("out.csv", "out.parquet"):
        release.write(tmp_path / name)
        written = pl.read_csv(tmp_path / name, infer_schema=False, separator=";") if name == "out.csv" else None
        written = pl.read_parquet(tmp_path / name) if written is None else written
        assert rows_of(written.select("age", "job", "ill")) == rows_of(whole.frame.select("age", "job", "ill"))


def test_methods_that_part_equal_records_are_refused(tmp_path):
    with pytest.raises(ht.InputError, match="parts equal records"):
        ht.anonymize(
            people(50).lazy(), **{**ASKED["k"], "method": ht.Mondrian(cut="median", strict=False)}, roles="trust"
        )
    with pytest.raises(ht.InputError, match="engine"):
        ht.anonymize(people(50), **ASKED["k"], engine="stream")


ROLES = {"age": "quasi-identifier", "visit": "other", "who": "identifier"}


def visits(n=61):
    """A table in which the one record that is suppressed hides another's visit."""
    return pl.DataFrame(
        {
            "age": [*(30 + i % 3 for i in range(n - 1)), 90],
            "visit": [*(f"v{i // 3}" for i in range(n - 2)), "hidden", "hidden"],
            "who": [f"w{i // 2}" for i in range(n)],
        }
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("person", [None, "who"])
def test_a_record_that_is_left_out_hides_nobody(engine, person, tmp_path):
    asked = {"columns": ROLES, "models": [{"k-anonymity": 5}], "limits": {"suppression": 0.05}}
    policy = ht.Policy.make({**asked, **({"person": person} if person else {})})
    whole, release = policy.protect(visits()), policy.protect(ENGINES[engine](visits(), tmp_path))
    assert whole.exposure.n_unique == 1
    for name in ("n_records", "n_unique", "sets", "columns"):
        assert getattr(release.exposure, name) == getattr(whole.exposure, name)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cell_that_means_missing_has_no_pseudonym(engine, tmp_path):
    frame = people(100).with_columns(who=pl.Series(["NA", *(f"p{i}" for i in range(99))]))
    key = bytes(range(32))
    spec = {"who": ht.ColumnSpec(missing_values=("NA",))}
    asked = {**ASKED["k"], "pseudonyms": ht.Pseudonyms(("who",), key), "specs": spec, "roles": "trust"}
    whole = ht.anonymize(frame, **asked).frame
    data = ENGINES[engine](frame, tmp_path)
    assert whole["who"].null_count() == 1
    assert rows_of(collected(ht.anonymize(data, **asked).frame)) == rows_of(whole)
    roles = dict.fromkeys(frame.columns, "identifier") | {"age": "quasi-identifier"}
    policy = ht.Policy.make(
        {
            "columns": {**roles, "who": {"role": "identifier", "action": "pseudonym"}},
            "models": [{"k-anonymity": 3}],
            "read": {"missing_values": ["NA"]},
        }
    )
    assert collected(policy.protect(data, key=key).frame)["who"].null_count() == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_records_that_no_identifier_tells_apart_are_warned_of(engine, tmp_path):
    with pytest.warns(UserWarning, match="no identifier tells"):
        ht.anonymize(
            ENGINES[engine](visits(), tmp_path),
            quasi_identifiers=["age"],
            models=[ht.KAnonymity(1)],
            identifiers=["who"],
            roles="trust",
        )


def test_the_command_overwrites_nothing_but_a_release(tmp_path):
    folder, out = as_folder(visits(), tmp_path), tmp_path / "out"
    policy = tmp_path / "policy.yaml"
    entries = {"columns": ROLES, "models": [{"k-anonymity": 5}], "limits": {"suppression": 0.05}}
    policy.write_text(ht.Policy.make({**entries, "accept": {"visit": "a test"}}).to_yaml())
    assert done("anonymize", folder, "-p", policy, "-o", out).code == 0
    assert done("anonymize", folder, "-p", policy, "-o", out, "--force").code == 0
    within = policy.rename(out / "policy.yaml")
    told = run("anonymize", folder, "-p", within, "-o", out, "--force")
    assert (told.code, "no input is ever overwritten" in told.err) == (2, True)
    within.rename(policy)
    (out / "notes.txt").write_text("mine")
    told = run("anonymize", folder, "-p", policy, "-o", out, "--force")
    assert (told.code, "notes.txt" in told.err) == (2, True)
    for name in ("more.parquet", "more"):
        told = run("anonymize", folder, "-p", policy, "-o", folder / name)
        assert (told.code, "in the input folder" in told.err) == (2, True)
    assert sorted(each.name for each in out.iterdir()) == ["_manifest.json", "notes.txt", "part-00000.parquet"]


WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = sys.modules["duckdb"] = sys.modules["pyspark"] = None
import polars as pl
import pytest
import hushtable as ht
import hushtable.cli

frame = pl.DataFrame({"age": [1, 1, 2, 2]})
asked = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(2)]}
assert ht.anonymize(frame, **asked).verify().passed
release = ht.anonymize(frame.lazy(), **asked)
assert release.frame.collect().height == 4
for fails in (lambda: release.write(sys.argv[1] + "/out"), lambda: ht.anonymize(sys.argv[1], **asked)):
    with pytest.raises(ht.InputError, match="hushtable.stream"):
        fails()
"""


def test_without_the_libraries_of_extras_only_what_needs_them_is_refused(tmp_path):
    people(9).write_parquet(tmp_path / "in.parquet")
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_PYARROW, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("kind", ["folder", "lazy"])
def test_pseudonyms_that_repeat_and_are_no_persons_are_refused(kind, tmp_path):
    table = pl.DataFrame({"age": [31, 52] * 20, "who": [f"p{i // 2}" for i in range(40)]})
    table.write_parquet(tmp_path / "0.parquet")
    source = str(tmp_path / "*.parquet") if kind == "folder" else table.lazy()
    rules = {"age": "quasi-identifier", "who": {"role": "identifier", "action": "pseudonym"}}
    asked = {"columns": rules, "models": [{"k-anonymity": 5}]}
    with pytest.raises(ExposureError, match="pseudonyms of column 'who' repeat"):
        ht.Policy.parse(json.dumps(asked)).protect(source, key=bytes(range(32)))
    ht.Policy.parse(json.dumps({**asked, "accept": {"who": "a test"}})).protect(source, key=bytes(range(32)))


@pytest.mark.parametrize("kind", ["folder", "polars", "duckdb"])
def test_kept_columns_of_types_that_cannot_be_grouped_are_counted_and_published(kind, tmp_path):
    odd = {
        "list": [[i % 3] for i in range(40)],
        "struct": [{"x": i % 2} for i in range(40)],
        "binary": [b"x%d" % (i % 2) for i in range(40)],
        "time": [dt.time(i % 4) for i in range(40)],
        "own": [[i] for i in range(40)],
    }
    table = pl.DataFrame({"age": [31, 52] * 20, **odd})
    table.write_parquet(tmp_path / "0.parquet")
    source = {
        "folder": str(tmp_path / "*.parquet"),
        "polars": table.lazy(),
        "duckdb": duckdb.sql(f"select * from '{tmp_path / '0.parquet'}'"),
    }[kind]
    asked = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(5)]}
    release = ht.anonymize(source, **asked)
    assert release.exposure.n_unique == 40
    assert release.exposure.sets[0].columns == ("own",)
    release.write(tmp_path / "out")
    written = pl.read_parquet(tmp_path / "out" / "part-*.parquet")
    for name, cells in odd.items():
        assert sorted(map(str, written[name].to_list())) == sorted(map(str, cells))
