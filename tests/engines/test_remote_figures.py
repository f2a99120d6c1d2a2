"""What a release of rows out of memory says of itself is what the same table says in memory, to the record."""

import json
import math
import random
from pathlib import Path

import duckdb
import polars as pl
import pytest
from engine_tables import ASKED, people

import hushtable as ht
from command import done, run
from hushtable.engines import lazy
from hushtable.release import exposing, release as remote

pytestmark = [
    pytest.mark.filterwarnings("ignore:tight intervals"),
    pytest.mark.filterwarnings("ignore::hushtable.errors.ExposureWarning"),
]

ROLES = dict.fromkeys(("age", "job"), "quasi-identifier") | dict.fromkeys(("born", "pay", "note *"), "other")
POLICY = {
    "columns": {**ROLES, "ill": "sensitive"},
    "models": [{"k-anonymity": 3}],
    "limits": {"suppression": 0.1, "exposure": {"rate": 1.0}},
}


def as_folder(frame, path):
    folder = path / "in"
    folder.mkdir()
    for place, begin in enumerate(range(0, frame.height, 37)):
        frame[begin : begin + 37].write_parquet(folder / f"{place}.parquet")
    return folder


ENGINES = {
    "stream": as_folder,
    "polars": lambda frame, path: frame.lazy(),
    "duckdb": lambda frame, path: duckdb.from_arrow(frame.to_arrow()),
}


def with_persons(n=150, seed=0):
    """People of whom some have several records."""
    rng = random.Random(seed)
    return people(n, seed=seed).with_columns(who=pl.Series([f"p{rng.randrange(n * 2 // 3)}" for _ in range(n)]))


def alike(ours, theirs):
    """Assert that figures are equal: whole numbers and texts exactly, others but for rounding."""
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        ours, theirs = [*ours.values()], [*theirs.values()]
    if isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            alike(one, other)
    elif isinstance(ours, float) and theirs is not None:
        assert ours == pytest.approx(theirs, abs=1e-12)
    else:
        assert ours == theirs


def utility_of(release, names):
    """Return the figures of some columns, and of pairs of them in any order."""
    told = release.utility().to_dict()
    columns = [each for each in told["columns"] if each["name"] in names]
    pairs = {
        (*sorted((each["first"], each["second"])), each["measure"]): (each["original"], each["release"])
        for each in told["pairs"]
        if {each["first"], each["second"]} <= {*names}
    }
    return {"n": (told["n_original"], told["n_release"]), "columns": columns, "pairs": dict(sorted(pairs.items()))}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("engine", ENGINES)
def test_figures_are_those_of_memory(engine, asked, tmp_path):
    frame = people(160, seed=len(asked))
    whole, release = (ht.anonymize(data, **asked) for data in (frame, ENGINES[engine](frame, tmp_path)))
    judged = (*whole.quasi_identifiers, *whole.sensitive)
    alike(utility_of(release, judged), utility_of(whole, judged))
    assert [each.name for each in release.utility().columns] == frame.columns
    books = [each.codebook.to_dict("x", external=False) for each in (release, whole)]
    alike(*books)
    assert release.exposure.to_dict() == whole.exposure.to_dict()
    assert release.hierarchies.keys() == whole.hierarchies.keys()


@pytest.mark.parametrize("seed", range(6))
def test_exposure_and_reports_are_those_of_memory_in_drawn_tables(seed, tmp_path):
    rng = random.Random(seed)
    frame = with_persons(rng.choice([40, 90, 200]), seed)
    changes = [
        {},
        {"accept": {"pay": "a test"}},
        {"person": "who"},
        {"person": "who", "accept": {"who": "a test", "pay": "a test"}},
    ]
    change = changes[seed % 4]
    who = "other" if "accept" in change and "person" in change else "identifier"
    policy = ht.Policy.make({**POLICY, **change, "columns": {**POLICY["columns"], "who": who}})
    engine = rng.choice([*ENGINES])
    whole, release = policy.protect(frame), policy.protect(ENGINES[engine](frame, tmp_path))
    assert release.exposure.to_dict() == whole.exposure.to_dict()
    assert [*release.exposure.lines()] == [*whole.exposure.lines()]
    for audience in ("internal", "external"):
        ours, theirs = (sections_of(ht.report(each, audience=audience, policy=policy)) for each in (release, whole))
        alike(ours, theirs)


def sections_of(told):
    """Return a report without what is drawn anew in each, what kept columns tell, and the hash of files."""
    sections = {each["name"]: each for each in told.to_dict()["sections"]}
    for name in ("attacks", "utility", "reproduce"):
        sections.pop(name, None)
    return sections


@pytest.mark.parametrize("engine", ENGINES)
def test_more_rows_than_are_held_are_counted_by_hashes(engine, tmp_path, monkeypatch):
    frame = people(200, seed=5)
    policy = ht.Policy.make(POLICY)
    whole = policy.protect(frame).exposure
    monkeypatch.setattr(exposing, "_MAX_ROWS_HELD", 20)
    found = policy.protect(ENGINES[engine](frame, tmp_path)).exposure
    assert (found.told, found.told_to, found.n_unique) == (whole.told, whole.told_to, whole.n_unique)


def test_a_lazy_frame_of_too_many_rows_hands_out_its_kept_columns_to_be_counted(monkeypatch):
    frame = people(200, seed=5)
    # Nothing is suppressed, so that all records are published with the cells that they have.
    policy = ht.Policy.make({**POLICY, "limits": {"exposure": {"rate": 1.0}}})
    release, whole = policy.protect(frame.lazy()), policy.protect(frame).exposure
    monkeypatch.setattr(exposing, "_MAX_ROWS_HELD", 20)
    monkeypatch.setattr(lazy, "_MOST_ROWS", 20)
    handed_out = []
    raw_batches = lazy.Lazy.raw_batches
    monkeypatch.setattr(lazy.Lazy, "raw_batches", lambda *given: handed_out.append(given[1]) or raw_batches(*given))
    found = release.with_exposure(whole.limit, accepted=whole.accepted).exposure
    assert handed_out == [whole.columns]
    assert (found.n_records, found.n_unique, found.sets) == (whole.n_records, whole.n_unique, whole.sets)


@pytest.mark.parametrize("engine", ENGINES)
def test_cells_that_a_reader_of_the_file_tells_apart_are_counted_apart(engine, tmp_path, monkeypatch):
    n = 40
    zeros, gaps, nans = ([1.5] * n for _ in range(3))
    zeros[2], zeros[4] = 0.0, -0.0  # of one class
    gaps[6], gaps[8] = None, math.nan
    nans[10], nans[12] = math.nan, math.nan
    judged = {"age": [30 + i % 2 for i in range(n)], "ill": [0.0 if i % 3 else -0.0 for i in range(n)]}
    kept = {"zeros": zeros, "gaps": gaps, "nans": nans}
    frame = pl.DataFrame({**judged, **kept}, strict=False)
    roles = {"age": "quasi-identifier", "ill": "sensitive", **dict.fromkeys(kept, "other")}
    asked = {"columns": roles, "models": [{"k-anonymity": 5}], "limits": {"exposure": {"rate": 1.0}}}
    policy = ht.Policy.make({"version": 1, **asked})
    # A file that is written from memory has a missing cell for NaN, so memory counts as the others do of text.
    text = frame.with_columns(pl.col(*kept).cast(pl.String))
    whole = policy.protect(text).exposure
    assert {each.columns: each.n_records for each in whole.sets} == {("zeros",): 2, ("gaps",): 2}
    assert [tuple(each) for each in policy.protect(frame).exposure.sets] == [(("zeros",), 2)]
    data = ENGINES[engine](frame, tmp_path)
    for most in (2**20, 3):
        monkeypatch.setattr(exposing, "_MAX_ROWS_HELD", most)
        found = policy.protect(data).exposure
        assert (found.n_unique, found.sets, found.told, found.told_to) == (
            4,
            whole.sets,
            whole.told,
            whole.told_to,
        )


def test_persons_are_not_told_apart_by_hashes_and_that_is_said(tmp_path, monkeypatch):
    frame = with_persons()
    policy = ht.Policy.make({**POLICY, "person": "who", "columns": {**POLICY["columns"], "who": "identifier"}})
    monkeypatch.setattr(exposing, "_MAX_ROWS_HELD", 20)
    release = policy.protect(as_folder(frame, tmp_path))
    assert (release.exposure.told, release.exposure.told_to) == ((), 0)
    assert "was not counted" in " ".join(release.exposure.lines())
    told = json.dumps(ht.report(release).to_dict())
    assert "was not counted" in told


def test_attacks_are_those_of_memory(tmp_path):
    frame = with_persons()
    asked = {**ASKED["l"], "sensitive": ["ill"], "person": "who", "identifiers": ["who"], "roles": "trust"}
    whole, release = ht.anonymize(frame, **asked), ht.anonymize(as_folder(frame, tmp_path), **asked)
    found = [
        [(each.name, each.column, each.n_targets, each.n_found) for each in one.attack().attacks]
        for one in (release, whole)
    ]
    assert found[0] == found[1] != []
    assert release.attack(release).untried == whole.attack(whole).untried


@pytest.mark.parametrize("engine", ENGINES)
def test_a_floor_is_proven_by_the_distinct_rows(engine, tmp_path):
    frame = people(60, seed=2).drop("pay")
    asked = {"quasi_identifiers": ["job", "age"], "models": [ht.KAnonymity(3)], "sensitive": ["ill"]}
    data = ENGINES[engine](frame, tmp_path)
    whole, release = ht.anonymize(frame, **asked), ht.anonymize(data, **asked)
    ours, theirs = (each.with_bound(ht.Budget(nodes=3)) for each in (release, whole))
    assert ours.trace.bound == pytest.approx(theirs.trace.bound)
    assert ours.certificate is not None
    source = data if engine == "stream" else ours.distinct.source
    assert ht.check_certificate(source, ours.certificate).passed
    assert not ht.check_certificate(source, {**ours.certificate.to_dict(), "sum": 30.0}).passed


@pytest.mark.parametrize("engine", ENGINES)
def test_the_best_node_of_a_lattice_is_certified_by_the_distinct_rows(engine, tmp_path):
    frame = people(90, seed=3)
    asked = {**ASKED["full domain"], "roles": "trust"}
    data = ENGINES[engine](frame, tmp_path)
    whole, release = ht.anonymize(frame, **asked), ht.anonymize(data, **asked)
    assert release.certificate is not None
    alike(release.certificate.to_dict()["value"], whole.certificate.to_dict()["value"])
    assert ht.check_certificate(frame, release.certificate).passed
    if engine == "stream":
        assert ht.check_certificate(data, release.certificate).passed


def test_pseudonyms_of_persons_stand_in_no_report_and_no_codebook(tmp_path):
    frame = with_persons()
    columns = {**POLICY["columns"], "who": {"role": "identifier", "action": "pseudonym"}}
    policy = ht.Policy.make({**POLICY, "columns": columns, "person": "who", "accept": {"who": "a test"}})
    key = bytes(range(32))
    whole, release = policy.protect(frame, key=key), policy.protect(as_folder(frame, tmp_path), key=key)
    assert release.exposure.to_dict() == whole.exposure.to_dict()
    ours, theirs = (each.codebook.to_dict("x", external=False) for each in (release, whole))
    alike(ours, theirs)
    assert release.utility().column("who").reason == whole.utility().column("who").reason
    alike(sections_of(ht.report(release)), sections_of(ht.report(whole)))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_next_batch_and_its_codebook_are_those_of_memory(engine, tmp_path):
    first, later = people(150, seed=1), people(90, seed=2)
    asked = {**ASKED["readable"], "sensitive": ["ill"]}
    whole, release = (ht.anonymize(each, **asked).apply(rows) for each, rows in (
        (first, later), (first.lazy(), ENGINES[engine](later, tmp_path)),
    ))  # fmt: skip
    assert release.batch == whole.batch
    alike(*(each.codebook.to_dict("x", external=False) for each in (release, whole)))
    assert release.exposure.to_dict() == whole.exposure.to_dict()
    judged = (*whole.quasi_identifiers, "ill")
    alike(utility_of(release, judged), utility_of(whole, judged))


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_the_mapping_is_that_of_memory(asked):
    frame = people(160, seed=4)
    whole, release = (ht.anonymize(each, **asked, roles="trust").mapping() for each in (frame, frame.lazy()))
    assert (release.rows, release.least, release.left_out) == (whole.rows, whole.least, whole.left_out)


def test_charts_are_those_of_memory():
    frame = people(120)
    axes = [ht.anonymize(each, **ASKED["k"], roles="trust").plot() for each in (frame, frame.lazy())]
    titles, heights = zip(
        *((each.get_title(loc="left"), [bar.get_height() for bar in each.patches]) for each in axes), strict=True
    )
    assert titles[0] == titles[1]
    assert heights[0] == heights[1] != []


REFUSED = {
    "a target": (lambda release, path: release.utility("ill"), "target = 'ill'", "hushtable utility"),
    "a model": (lambda release, path: release.utility(model="age ~ job"), "model = ", "hushtable utility"),
    "a report's own original": (
        lambda release, path: ht.report(release, original="x.csv"),
        "original was given",
        "leave it out",
    ),
    "earlier rows again": (
        lambda release, path: release.apply(people(3), together=True),
        "in memory",
        "leave together",
    ),
    "a CSV of Parquet": (lambda release, path: release.write(path / "x.csv"), "published as Parquet", "name a folder"),
}
"""What is refused of a release whose rows are not in memory: how it is asked, what is named, and what to do."""


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("engine", ENGINES)
def test_what_an_engine_cannot_do_is_refused_by_name(engine, case, tmp_path):
    release = ht.anonymize(ENGINES[engine](people(60), tmp_path), **ASKED["k"], roles="trust")
    ask, named, hint = REFUSED[case]
    with pytest.raises(ht.InputError, match=named) as refused:
        ask(release, tmp_path)
    assert hint in str(refused.value)


def test_too_many_records_are_not_attacked_one_by_one(tmp_path, monkeypatch):
    release = ht.anonymize(people(60).lazy(), **ASKED["k"], roles="trust")
    monkeypatch.setattr(remote, "MOST_ATTACKED", 59)
    with pytest.raises(ht.InputError, match="at most 59, and there are 60"):
        release.attack()
    assert "could not be tried" in json.dumps(ht.report(release).to_dict())


def protected(tmp_path, *options):
    folder = as_folder(people(120), tmp_path)
    (tmp_path / "policy.yaml").write_text(ht.Policy.make(POLICY).to_yaml(), encoding="utf-8")
    return folder, ("anonymize", folder, "-p", tmp_path / "policy.yaml", "-o", tmp_path / "out", *options)


def test_the_command_writes_codebook_report_and_certificate_of_a_folder(tmp_path):
    folder, asked = protected(tmp_path, "--report", tmp_path / "r.html", "--certificate", tmp_path / "c.json")
    asked = (*asked, "--mapping", tmp_path / "m.csv")
    told = done(*asked, "--set", "limits.suppression=0").out
    assert "its codebook" in told
    out = tmp_path / "out"
    book = json.loads((tmp_path / "out.codebook.json").read_text(encoding="utf-8"))
    assert book["file"] == "out"
    assert book["n_records"] == 120
    assert [each["name"] for each in book["columns"]] == people(1).columns
    assert sum(book["columns"][0]["cells"].values()) == 120
    page = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert "120 records with 6 columns" in json.dumps(page)
    assert (tmp_path / "c.json").is_file()
    assert (tmp_path / "m.csv").read_text(encoding="utf-8").startswith("column,value,cell,records\n")
    assert sorted(each.name for each in out.iterdir()) == ["_manifest.json", "part-00000.parquet"]
    assert done("verify", out).code == 0
    done("codebook", out)
    assert "<caseQnty>120</caseQnty>" in (tmp_path / "out.ddi.xml").read_text(encoding="utf-8")
    written = done("report", out, "--original", folder, "--json").out
    ours, theirs = ({each["name"]: each for each in one["sections"]} for one in (json.loads(written), page))
    for name in ("risk_before", "risk_after", "utility", "tests", "unprotected"):
        alike(ours[name], theirs[name])


def test_the_command_compares_a_folder_with_its_original_folder(tmp_path):
    folder, asked = protected(tmp_path)
    done(*asked)
    policy = ht.Policy.make(POLICY)
    whole = policy.protect(people(120)).utility().to_dict()
    told = json.loads(done("utility", folder, tmp_path / "out", "--json").out)
    assert [each["name"] for each in told["columns"]] == people(1).columns
    for ours, theirs in zip(told["columns"], whole["columns"], strict=True):
        if ours["name"] in ("age", "job", "ill"):
            alike(ours, theirs)
        else:
            assert "not in memory" in ours["reason"]
    refused = run("utility", folder, tmp_path / "out", "--model", "age ~ job")
    assert (refused.code, "--model learns from records one by one" in refused.err) == (2, True)


def test_a_hive_data_set_has_the_codebook_of_all_its_columns(tmp_path):
    frame = people(120).with_columns(region=pl.Series([["north", "south"][i % 2] for i in range(120)]))
    frame = frame.select("region", *people(1).columns)
    roles = {**ROLES, "ill": "sensitive", "region": "other"}
    release = ht.Policy.make({**POLICY, "columns": roles}).protect(as_folder(frame, tmp_path))
    release.write(tmp_path / "out", by="region")
    book = json.loads((tmp_path / "out.codebook.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in book["columns"]] == frame.columns
    told = sections_of(ht.report(tmp_path / "out"))
    assert "records with 7 columns" in json.dumps(told["summary"])
    told = json.loads(done("utility", tmp_path / "in", tmp_path / "out", "--json").out)
    assert {each["name"] for each in told["columns"]} == {*frame.columns}


def test_outputs_that_exist_stop_the_command_before_the_search(tmp_path):
    _, asked = protected(tmp_path)
    (tmp_path / "out.codebook.json").write_text("{}", encoding="utf-8")
    refused = run(*asked)
    assert (refused.code, "out.codebook.json" in refused.err) == (2, True)
    assert not (tmp_path / "out").exists()
    assert done(*asked, "--no-codebook").code == 0
    assert run(*asked, "--force", "--report", tmp_path / "in" / "r.html").code == 2
    assert done(*asked, "--force").code == 0
    assert json.loads((tmp_path / "out.codebook.json").read_text(encoding="utf-8"))["file"] == "out"


def test_an_external_codebook_names_no_column_that_was_left_out(tmp_path):
    columns = {**POLICY["columns"], "pay": "identifier"}
    policy = ht.Policy.make({**POLICY, "columns": columns})
    release = policy.protect(as_folder(people(120), tmp_path))
    release.write(tmp_path / "out", external=True)
    told = Path(tmp_path / "out.codebook.json").read_text(encoding="utf-8")
    assert "pay" not in told
    assert "pay" not in json.dumps(ht.report(tmp_path / "out", audience="external").to_dict())
