"""Several records of one person: classes count persons, in the search, in the verdict, and through every door."""

from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st

import hushtable as ht
from command import done, run
from strategies import draws

NAMES = ["age", "sex"]


def stays(n_rows: int = 40, n_persons: int = 12, seed: int = 0) -> pl.DataFrame:
    """Return stays in a hospital: the same person may be there several times, at other ages."""
    rng = np.random.default_rng(seed)
    person = rng.integers(0, n_persons, n_rows)
    return pl.DataFrame(
        {
            "patient": [f"P{i}" for i in person],
            "age": 30 + 5 * (person % 4) + rng.integers(0, 3, n_rows),
            "sex": ["fm"[i % 2] for i in person],
            "ill": rng.choice(["flu", "gout", "mumps"], n_rows),
        }
    )


def persons_by_class(published: pl.DataFrame, patients: pl.Series) -> dict[tuple, int]:
    """Count by hand how many persons every class of published cells holds; a missing one is nobody."""
    found = defaultdict(set)
    for cells, patient in zip(published.select(NAMES).rows(), patients, strict=True):
        found[cells].add(patient)
    return {cells: len(persons - {None}) for cells, persons in found.items()}


@pytest.mark.parametrize(
    "method",
    [ht.Mondrian(), ht.Mondrian(cut="median", recoding="cut"), ht.Mondrian(exchange=True), ht.MinGen()],
    ids=str,
)
@pytest.mark.parametrize("seed", range(4))
def test_every_class_holds_k_persons(method, seed):
    frame = stays(60 if method.name == "mondrian" else 14, seed=seed)
    release = ht.anonymize(
        frame,
        quasi_identifiers=NAMES,
        models=[ht.KAnonymity(3)],
        method=method,
        pseudonyms=ht.Pseudonyms(("patient",), bytes(range(32))),
        person="patient",
        roles="trust",
    )
    assert min(persons_by_class(release.frame, frame["patient"]).values()) >= 3
    assert release.verify().passed
    assert release.verify().complete


def test_where_cells_overlap_persons_have_to_be_published():
    """Without the column a reader has to think the worst of classes that cover one another's records."""
    options = {
        "quasi_identifiers": NAMES,
        "models": [ht.KAnonymity(3)],
        "identifiers": ["patient"],
        "person": "patient",
    }
    assert ht.anonymize(stays(60), **options).verify().complete
    with pytest.raises(ht.InputError, match="pseudonym"):
        ht.anonymize(stays(14), method="mingen", **options)


def test_records_alone_would_have_been_fewer_persons():
    """The fault that persons mend: five records may be one person."""
    frame = pl.DataFrame({"patient": ["A"] * 5 + ["B"] * 5, "age": [30] * 5 + [60] * 5})
    by_record = ht.anonymize(frame, quasi_identifiers=["age"], models=[ht.KAnonymity(5)])
    assert by_record.partition.n_classes == 2
    by_person = ht.anonymize(frame, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], person="patient")
    assert by_person.partition.n_classes == 1
    with pytest.raises(ht.InfeasibleError, match=r"k-anonymity .* reaches 2"):
        ht.anonymize(frame, quasi_identifiers=["age"], models=[ht.KAnonymity(5)], person="patient")


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2]), st.sampled_from(["P", "Q", "R", None])),
        min_size=1,
        max_size=12,
    ),
    k=st.integers(1, 4),
)
def test_a_published_person_column_is_counted_as_a_slow_twin_counts(rows, k):
    frame = pl.DataFrame(rows, schema={"sex": pl.String, "age": pl.Int64, "patient": pl.String}, orient="row")
    counted = persons_by_class(frame, frame["patient"])
    verdict = ht.verify(frame, quasi_identifiers=NAMES, models=[ht.KAnonymity(k)], person="patient", suppressed=None)
    assert verdict.passed == (min(counted.values()) >= k)
    assert verdict.smallest_class == min(counted.values())


@given(
    rows=st.lists(
        st.tuples(st.integers(20, 26), st.sampled_from("fm"), st.sampled_from("PQRS")), min_size=2, max_size=12
    ),
    k=st.integers(1, 3),
)
def test_without_a_published_column_the_original_tells_never_too_many(rows, k):
    """Cells that overlap leave open whose records are whose; the verdict then counts the fewest persons."""
    original = pl.DataFrame(rows, schema={"age": pl.Int64, "sex": pl.String, "patient": pl.String}, orient="row")
    published = original.select(
        pl.when(pl.col("age") < 23).then(pl.lit("<23")).otherwise(pl.lit("*")).alias("age"), pl.lit("*").alias("sex")
    )
    by_hand = min(persons_by_class(published, original["patient"]).values())
    verdict = ht.verify(
        published,
        quasi_identifiers=NAMES,
        models=[ht.KAnonymity(k)],
        person="patient",
        original=original,
        suppressed=None,
    )
    assert verdict.smallest_class <= by_hand
    if not verdict.failures:
        assert by_hand >= k


def test_cells_that_are_apart_tell_the_persons_exactly():
    original = pl.DataFrame(
        {"age": [20, 21, 22, 40, 41, 42], "sex": ["f"] * 6, "patient": ["P", "P", "Q", "R", "S", "T"]}
    )
    published = pl.DataFrame({"age": ["<30"] * 3 + [">=30"] * 3, "sex": ["f"] * 6})
    options = {"quasi_identifiers": NAMES, "person": "patient", "original": original}
    assert ht.verify(published, models=[ht.KAnonymity(2)], **options).smallest_class == 2
    assert not ht.verify(published, models=[ht.KAnonymity(3)], **options).passed


def test_where_nothing_tells_the_persons_the_verdict_says_so():
    published = pl.DataFrame({"age": ["<30"] * 3, "sex": ["f"] * 3})
    verdict = ht.verify(published, quasi_identifiers=NAMES, models=[ht.KAnonymity(2)], person="patient")
    assert verdict.passed
    assert not verdict.complete
    assert "original=" in next(iter(verdict.unchecked.values()))
    assert not verdict.complete_for_receiver
    assert verdict.held == ("k-anonymity (k = 2), by records",)


def test_alpha_k_counts_persons_and_shares_of_records():
    frame = stays(60, seed=5)
    model = ht.AlphaKAnonymity(0.8, 3, "ill")
    release = ht.anonymize(frame, quasi_identifiers=NAMES, models=[model], person="patient", identifiers=["patient"])
    assert min(persons_by_class(release.frame, frame["patient"]).values()) >= 3
    assert release.verify().passed


def test_limits_of_risk_count_persons():
    frame = stays(60, seed=6)
    release = ht.anonymize(
        frame, quasi_identifiers=NAMES, models=[ht.KAnonymity(2)], person="patient", highest_risk=0.25, roles="trust"
    )
    assert min(persons_by_class(release.frame, frame["patient"]).values()) >= 4
    assert release.verify().passed


def test_a_share_of_a_population_of_persons_is_not_defined():
    frame = stays()
    with pytest.raises(ht.InputError, match="delta-presence"):
        ht.anonymize(
            frame, quasi_identifiers=NAMES, models=[ht.DeltaPresence(0, 1)], population=frame, person="patient"
        )


def test_the_person_column_has_no_other_role():
    with pytest.raises(ht.ColumnError, match="'age' says whose record"):
        ht.anonymize(stays(), quasi_identifiers=NAMES, models=[ht.KAnonymity(2)], person="age")
    with pytest.raises(ht.ColumnError, match="person"):
        ht.anonymize(stays(), quasi_identifiers=NAMES, models=[ht.KAnonymity(2)], person="patiant")


def test_persons_go_through_policy_and_command(tmp_path):
    frame = stays(60)
    frame.write_csv(tmp_path / "in.csv")
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "columns: {patient: {role: identifier, action: pseudonym}, age: quasi-identifier, sex: quasi-identifier, "
        "ill: other}\nperson: patient\nmodels: [k-anonymity: 3]\naccept: {patient: a test}\n",
        encoding="utf-8",
    )
    (tmp_path / "key").write_bytes(bytes(range(32)))
    done("anonymize", tmp_path / "in.csv", "-p", policy, "-o", tmp_path / "out.csv", "--key-file", tmp_path / "key")
    written = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert min(persons_by_class(written, written["patient"]).values()) >= 3
    assert "holds: k-anonymity (k = 3), by persons" in done("verify", tmp_path / "out.csv").out
    options = ("--qi", "age,sex", "--k", "3", "--identifier", "patient", "--person", "patient")
    done("anonymize", tmp_path / "in.csv", *options, "-o", tmp_path / "gone.csv")
    alone = done("verify", tmp_path / "gone.csv")
    assert "only its publisher could judge: k-anonymity (k = 3), by persons" in alone.out
    assert run("verify", tmp_path / "gone.csv", "--strict").code == 1
    done("verify", tmp_path / "gone.csv", "--original", tmp_path / "in.csv")


def test_an_identifier_that_repeats_is_told():
    roles = ht.find_quasi_identifiers(stays().rename({"patient": "patient_name"}))
    told = {column.name: column.warning for column in roles.columns}
    assert "person: patient_name" in told["patient_name"]
    with pytest.warns(UserWarning, match="patient"):
        ht.anonymize(stays(), quasi_identifiers=NAMES, models=[ht.KAnonymity(2)], identifiers=["patient"])


@pytest.mark.parametrize("mail", [["a", "b", None, "c"], ["a", " ", "b", "c"], [["a"], ["a"], ["b"], ["b"]]], ids=str)
def test_an_identifier_that_tells_apart_those_whom_it_names_is_not_warned_of(mail):
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "name": ["x", "x", "y", "z"], "mail": mail})
    options = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(2)], "identifiers": ["name", "mail"]}
    assert ht.anonymize(frame, **options).frame.columns == ["age"]
    if frame.schema["mail"] == pl.String:
        assert ht.anonymize(ht.Table.encode(frame), **options).frame.names == ("age",)


def test_an_identifier_of_few_is_none():
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "mail": ["a", None, None, None]})
    for data in (frame, ht.Table.encode(frame)):
        with pytest.warns(UserWarning, match="mail"):
            ht.anonymize(data, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], identifiers=["mail"])


def test_assess_counts_persons():
    frame = pl.DataFrame({"patient": ["A", "A", "B", "C"], "age": [30, 30, 30, 60]})
    by_record = ht.assess(frame, quasi_identifiers=["age"])
    by_person = ht.assess(frame, quasi_identifiers=["age"], person="patient")
    assert (by_record.smallest_class, by_person.smallest_class) == (1, 1)
    assert (by_record.n_records, by_person.n_records) == (4, 4)
    assert by_record.average_risk == pytest.approx(2 / 4)
    assert by_person.average_risk == pytest.approx((3 / 2 + 1) / 4)


@settings(max_examples=draws(40))
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["a1", "a2", "b1", "b2", "c1", None]),
            st.integers(20, 60) | st.none(),
            st.sampled_from(["P", "Q", "R", "S", "T", None]),
        ),
        min_size=6,
        max_size=40,
    ),
    recoding=st.sampled_from(["readable", "tight", "cut", "label"]),
)
def test_hidden_persons_are_enough_by_what_the_cells_cover(rows, recoding):
    """A class has as many persons as its cells cannot do without, whichever classes overlap it."""
    frame = pl.DataFrame(rows, schema={"area": pl.String, "age": pl.Int64, "patient": pl.String}, orient="row")
    assume(frame["patient"].drop_nulls().n_unique() >= 2)
    release = ht.anonymize(
        frame,
        quasi_identifiers=["area", "age"],
        models=[ht.KAnonymity(2)],
        identifiers=["patient"],
        person="patient",
        hierarchies={"area": ht.Hierarchy.prefix(1)},
        method=ht.Mondrian(recoding=recoding),
        roles="trust",
    )
    assert release.verify().passed
    assert release.verify().complete


@pytest.mark.parametrize("recoding", ["readable", "cut"])
def test_hidden_persons_are_counted_in_the_memory_of_the_search(recoding, monkeypatch):
    rng = np.random.default_rng(0)
    n = 2_000
    ranges = {"age": 100, "zip": 900, "day": 365, "place": 40}
    frame = pl.DataFrame(
        {"patient": rng.integers(0, n, n), **{name: rng.integers(0, high, n) for name, high in ranges.items()}}
    )
    monkeypatch.setattr("hushtable.claims.coverage.check_memory", _little_memory)
    release = ht.anonymize(
        frame,
        quasi_identifiers=list(ranges),
        models=[ht.KAnonymity(3)],
        method=ht.Mondrian(recoding=recoding),
        identifiers=["patient"],
        person="patient",
        roles="trust",
    )
    by_hand = persons_by_cells(release.frame, frame["patient"], list(ranges))
    assert release.verify().smallest_class == min(by_hand.values())


def _little_memory(n_bytes, what, hint):
    assert n_bytes < 2**20, f"{what} takes {n_bytes} bytes"


def persons_by_cells(published, patients, names):
    found = defaultdict(set)
    for cells, patient in zip(published.select(names).rows(), patients, strict=True):
        found[cells].add(patient)
    return {cells: len(persons) for cells, persons in found.items()}


@pytest.mark.parametrize("number", ["patient", "svnr", "insurance_number"])
def test_persons_are_proposed_beside_a_number_of_every_record(number, tmp_path):
    frame = stays(400, 150).rename({"patient": number}).with_columns(visit_id=pl.Series([f"V{i}" for i in range(400)]))
    assert ht.find_quasi_identifiers(frame).person == number
    frame.write_csv(tmp_path / "in.csv")
    done("scan", tmp_path / "in.csv", "-p", tmp_path / "policy.yaml")
    told = (tmp_path / "policy.yaml").read_text()
    assert f"\nperson: {number}" in told
    assert f"{frame[number].n_unique():,} persons in 400 records" in told
    given = {"quasi_identifiers": NAMES, "models": [ht.KAnonymity(3)], "identifiers": [number, "visit_id"]}
    with pytest.warns(UserWarning, match=f"pass person='{number}'"):
        ht.anonymize(frame, **given)
    options = ("--qi", "age,sex", "--k", "3", "--identifier", f"{number},visit_id", "-o", tmp_path / "out.csv")
    assert f"--person {number}" in run("anonymize", tmp_path / "in.csv", *options).err


def test_an_average_risk_counts_persons_where_the_claim_does():
    visits = pl.DataFrame({"zip": ["a"] * 6 + ["b"] * 6, "who": ["p", "q", "r", "s", None, None] * 2})
    asked = {"quasi_identifiers": ["zip"], "models": [ht.KAnonymity(3)], "person": "who", "roles": "trust"}
    # Two classes of six records, four persons each: 12 records at a risk of 1/4.
    assert ht.anonymize(visits, average_risk=0.25, **asked).verify().passed
    with pytest.raises(ht.InfeasibleError, match=r"average risk above 0\.2"):
        ht.anonymize(visits, average_risk=0.2, **asked)
