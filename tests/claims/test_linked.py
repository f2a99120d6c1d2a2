"""Persons who are found by several of their records: as a slow twin counts, and through every door."""

import json
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from command import done, run
from hushtable.claims import Known, measure_claim_linkage, measure_linkage
from hushtable.errors import ExposureError
from hushtable.release.exposure import ExposureLimit
from twins.naive_linked import fitting

KEY = bytes(range(32))
RULES = """\
columns: {{patient: {patient}, age: quasi-identifier, sex: quasi-identifier, ill: other}}
person: patient
models: [k-anonymity: 3]
{more}
"""


def stays(n_rows: int = 60, n_persons: int = 20, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    person = rng.integers(0, n_persons, n_rows)
    return pl.DataFrame(
        {
            "patient": [f"P{i}" for i in person],
            "age": rng.integers(20, 60, n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
            "ill": rng.choice(["flu", "gout"], n_rows),
        }
    )


def sets_of(persons, n):
    """Every set of so many records of one person, by person."""
    return {
        whose: list(combinations([row for row, each in enumerate(persons) if each == whose], n))
        for whose in sorted({*persons} - {None})
    }


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["P", "Q", "R", "S", None])), min_size=1, max_size=10),
    wide=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=6),
    k=st.integers(1, 4),
)
def test_counts_are_those_of_the_definition(rows, wide, k):
    classes = [each for each, _ in rows]
    persons = [each for _, each in rows]
    pairs = {(cell, row) for cell, row in wide if row < len(rows) and cell in classes}
    codes = np.array([-1 if each is None else "PQRS".index(each) for each in persons], dtype=np.int32)

    def others(asked):
        found = [(cell, row) for cell, row in pairs if row in set(asked.tolist())]
        return tuple(np.array(each, dtype=np.int64) for each in zip(*found, strict=True)) or (asked[:0], asked[:0])

    def could_be(record, row):
        return classes[row] == classes[record] or (classes[row], record) in pairs

    found = measure_linkage(np.array(classes), codes, np.ones(len(rows), np.int64), k, "p", others=others)
    assert found.n_persons == sum(persons.count(each) > 1 for each in {*persons} - {None})
    by_size = {each.n_records: each for each in found.known}
    for n in (1, 2, 3):
        sizes = {
            whose: [len(fitting(known, persons, could_be)) for known in sets]
            for whose, sets in sets_of(persons, n).items()
            if sets
        }
        if not sizes:
            assert n not in by_size
            continue
        counted = by_size[n]
        assert counted.n_persons == len(sizes)
        # By one record everybody is found whom any of them finds; by more, whom a drawn set finds.
        some = [sum(any(size < least for size in each) for each in sizes.values()) for least in (2, k)]
        every = [sum(all(size < least for size in each) for each in sizes.values()) for least in (2, k)]
        if n == 1:
            assert [counted.n_found, counted.n_few] == [some[0], max(some)]
        else:
            assert every[0] <= counted.n_found <= some[0]
            assert max(every) <= counted.n_few <= max(some)


def test_a_row_that_stands_for_several_records_is_several_records():
    classes, persons = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1], np.int32)
    apart = measure_linkage(classes, persons, np.array([2, 1, 1, 1]), 2, "p")
    assert apart.known[-1] == Known(3, 1, 1, 1)
    one_by_one = measure_linkage(classes[[0, 0, 1, 2, 3]], persons[[0, 0, 1, 2, 3]], np.ones(5, np.int64), 2, "p")
    assert one_by_one == apart


def test_what_publishes_the_same_for_all_links_nobody():
    found = measure_linkage(np.zeros(12, int), np.arange(12, dtype=np.int32) % 4, np.ones(12, np.int64), 3, "p")
    assert [each.n_few for each in found.known] == [0, 0, 0]
    assert found.rate == 0


# The doors.


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stays().write_csv("in.csv")
    stays().write_parquet("in.parquet")
    (tmp_path / "key").write_bytes(KEY)
    return tmp_path


def policy(here, action="pseudonym", more=""):
    patient = "other" if action == "keep" else f"{{role: identifier, action: {action}}}"
    (here / "policy.yaml").write_text(RULES.format(patient=patient, more=more))
    return ht.Policy.read("policy.yaml")


DOORS = ["in.csv", "in.parquet", "stream", "lazy"]


def through(rules, door, key=KEY):
    if door == "lazy":
        return rules.protect(pl.scan_parquet("in.parquet"), key=key)
    if door == "stream":
        return rules.protect("in.parquet", key=key, engine="stream")
    return rules.protect(door, key=key)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("action", ["pseudonym", "keep"])
def test_linked_records_are_not_written(here, door, action):
    release = through(policy(here, action), door, KEY if action == "pseudonym" else None)
    linkage = release.exposure.linkage
    assert linkage.rate > 0
    assert release.exposure.is_linked
    told = r"column 'patient' links .* finds [1-9]\d* of \d+ persons"
    with pytest.raises(ht.ExposureError, match=told if action == "pseudonym" else "'patient' .its name says"):
        release.write("out.parquet")
    assert not (here / "out.parquet").exists()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("more", ["accept: {patient: nobody knows two}", "limits: {exposure: {linked: 1}}"])
def test_linked_records_are_written_where_that_is_accepted(here, door, more):
    release = through(policy(here, more=more), door)
    assert release.write("out.parquet").passed
    told = json.loads((here / "out.parquet.manifest.json").read_text())["exposure"]["linkage"]
    assert told == json.loads(json.dumps(release.exposure.linkage.to_dict()))


@pytest.mark.parametrize("door", DOORS)
def test_a_new_pseudonym_for_every_record_links_nothing(here, door):
    rules = policy(here, "fresh")
    if door == "lazy":
        with pytest.raises(ht.InputError, match=r"'patient' get a new pseudonym for every record"):
            through(rules, door, None)
        return
    release = through(rules, door, None)
    assert release.exposure.linkage is None
    assert release.write("out.parquet").complete
    written = pl.read_parquet("out.parquet")
    assert written["patient"].n_unique() == written.height == 60
    assert not {*written["patient"]} & {*stays()["patient"]}
    by_hand = release.classes() if door == "stream" else None
    assert by_hand is None or by_hand.height > 1
    alone = done("verify", "out.parquet").out
    assert "only its publisher could judge" in alone
    assert "has a new pseudonym for every record" in alone
    assert run("verify", "out.parquet", "--strict").code == 1
    done("verify", "out.parquet", "--original", "in.parquet")


def test_classes_count_persons_behind_fresh_pseudonyms():
    """One person with many records is no crowd, whatever stands in the column."""
    frame = pl.DataFrame({"patient": ["A"] * 5 + ["B"] * 5, "age": [30] * 5 + [60] * 5})
    given = {"quasi_identifiers": ["age"], "pseudonyms": ht.Pseudonyms(fresh=("patient",)), "person": "patient"}
    release = ht.anonymize(frame, models=[ht.KAnonymity(2)], **given)
    assert release.partition.n_classes == 1
    assert not release.claim.verify(
        frame.with_columns(patient=pl.Series(range(10)).cast(pl.String)), original=frame
    ).passed
    table = ht.Table.encode(frame).collapse()[0]
    of_table = ht.anonymize(table, models=[ht.KAnonymity(2)], **given).frame
    assert of_table.n_rows == of_table.column("patient").n_values == 10


def test_python_warns_of_linked_records_and_does_not_write_them(here):
    given = {
        "quasi_identifiers": ["age", "sex"],
        "models": [ht.KAnonymity(3)],
        "pseudonyms": ht.Pseudonyms(("patient",), KEY),
        "person": "patient",
    }
    with pytest.warns(ht.ExposureWarning, match="records are linked"):
        release = ht.anonymize(stays(), **given)
    with pytest.raises(ht.ExposureError, match="links the records"):
        release.write("out.csv")
    ht.anonymize(stays(), roles="trust", **given).write("out.csv")


def test_the_command_says_whom_several_records_find(here):
    policy(here)
    refused = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--key-file", "key")
    assert refused.code in (1, 2)
    assert "links the records" in refused.err
    policy(here, more="accept: {patient: nobody knows two}")
    wrote = done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--key-file", "key").out
    assert "who knows 2 records of a person finds" in wrote


def test_the_file_alone_tells_whom_several_records_find(here):
    release = through(policy(here, more="accept: {patient: nobody knows two}"), "in.csv")
    found = measure_claim_linkage(release.claim, release.frame)
    inside = release.exposure.linkage
    assert [each.n_persons for each in found.known] == [each.n_persons for each in inside.known]
    assert (found.known[0], found.k, found.rate > 0) == (inside.known[0], inside.k, True)


def test_verify_counts_them_again(here):
    through(policy(here, more="accept: {patient: nobody knows two}"), "in.csv").write("out.csv")
    outcome = run("verify", "out.csv", "--linked")
    assert outcome.code == 1
    assert "who knows 3 records of a person finds" in outcome.out
    done("verify", "out.csv")
    through(policy(here, "fresh"), "in.csv", None).write("fresh.csv")
    assert "no published column links" in done("verify", "fresh.csv", "--linked", "--original", "in.csv").out
    assert "holds: k-anonymity (k = 3), by records" in done("verify", "fresh.csv").out


def test_python_counts_them_from_the_table_alone(here):
    release = through(policy(here, more="accept: {patient: nobody knows two}"), "in.csv")
    asked = {"quasi_identifiers": release.quasi_identifiers, "models": release.models, "specs": release.specs}
    plain = ht.verify(release.frame, person="patient", **asked)
    assert plain.passed
    verdict = ht.verify(release.frame, person="patient", linked=True, **asked)
    assert not verdict.passed
    assert verdict.figures["linkage"] == measure_claim_linkage(release.claim, release.frame).to_dict()
    assert "finds" in str(verdict.failures[-1])
    with pytest.raises(ht.InputError, match="whose record a row is"):
        ht.verify(release.frame, linked=True, **asked)
    without = release.frame.drop("patient")
    assert "linkage" not in ht.verify(without, person="patient", original=stays(), linked=True, **asked).figures


@pytest.mark.parametrize("action", ["pseudonym", "keep", "fresh", "remove"])
@pytest.mark.parametrize("audience", ["internal", "external"])
def test_reports_promise_nothing_that_linked_records_break(here, action, audience):
    more = "accept: {patient: nobody knows two}" if action in ("pseudonym", "keep") else ""
    release = through(policy(here, action, more), "in.csv", KEY if action == "pseudonym" else None)
    told = json.dumps(ht.report(release, audience=audience).to_dict())
    links = action in ("pseudonym", "keep")
    assert ("links the records of a person" in told) == links
    assert ("No published column says which records are one person's" in told) == (not links)
    if links and audience == "internal":
        assert "who knows 3 records of a person finds" in told


def test_a_pseudonym_that_repeats_links_records_although_nobody_said_that_it_is_a_person(tmp_path):
    visits = pl.DataFrame({"id": ["a", "a", "b", "b", "c", "c"] * 4, "age": [31, 52, 31, 31, 52, 52] * 4})
    release = ht.anonymize(
        visits,
        quasi_identifiers=["age"],
        models=[ht.KAnonymity(2)],
        pseudonyms=ht.Pseudonyms(("id",), KEY),
        roles="trust",
    )
    with pytest.raises(ExposureError, match="column 'id' links the records of a person"):
        release.with_exposure(ExposureLimit()).write(tmp_path / "out.csv")
    release.with_exposure(ExposureLimit(), accepted={"id": "a test"}).write(tmp_path / "out.csv")
