"""Claims of whole histories: as a slow judge has them, and at every door."""

import json
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from command import run
from hushtable.claims import HistoryClaim, claim_from_dict, histories
from hushtable.claims.histories import Known, Linkage
from hushtable.release import manifest
from twins.naive_histories import fewest_values, is_km_anonymous, is_linked_k_anonymous, rare_sets

SPECS = {"a": ht.ColumnSpec("category"), "b": ht.ColumnSpec("category")}


def verdict_of(rows, persons, models, values=None):
    frame = pl.DataFrame(
        {"who": persons, "a": [a for a, _ in rows], "b": [b for _, b in rows], "ill": values or ["flu"] * len(rows)},
        schema=dict.fromkeys(("who", "a", "b", "ill"), pl.String),
    )
    asked = {"quasi_identifiers": ["a", "b"], "models": models, "specs": SPECS, "person": "who"}
    return ht.verify(frame, **asked)


CELLS = st.tuples(st.sampled_from(["x", "y", "*"]), st.sampled_from(["1", "2", "*"]))
RECORDS = st.lists(st.tuples(CELLS, st.sampled_from("PQRSTU")), min_size=1, max_size=9)


@given(RECORDS, st.integers(1, 3), st.integers(1, 3))
def test_verdicts_are_those_of_the_definitions(records, k, m):
    rows, persons = [row for row, _ in records], [who for _, who in records]
    linked = verdict_of(rows, persons, [ht.LinkedKAnonymity(k)])
    n_hidden = len({who for row, who in records if row == ("*", "*")})
    assert linked.passed == is_linked_k_anonymous(rows, persons, k) or 0 < n_hidden < k
    known = verdict_of(rows, persons, [ht.KMAnonymity(k, m)])
    assert known.complete
    failed = [each for each in known.failures if each.condition.startswith("km-anonymity")]
    assert bool(failed) != is_km_anonymous(rows, persons, k, m)


def mutated(random):
    """Groups of persons with equal histories, and a cell, a row or a person that is changed now and then."""
    records = []
    for group in range(random.randint(1, 3)):
        history = [(random.choice("xy*"), random.choice("12*")) for _ in range(random.randint(1, 3))]
        records += [(row, f"P{group}{each}") for each in range(random.randint(2, 3)) for row in history]
    for _ in range(random.choice((0, 1, 1, 2))):
        at = random.randrange(len(records))
        (a, b), who = records[at]
        records[at] = random.choice([((random.choice("xyz*"), b), who), ((a, b), random.choice(records)[1])])
        if random.random() < 0.3 and len(records) > 1:
            del records[at]
    random.shuffle(records)
    return records


def test_mutated_files_are_judged_as_by_the_slow_judge(monkeypatch):
    random, n_held = Random(0), 0
    for _ in range(120):
        monkeypatch.setattr(histories, "_SETS_PER_PART", random.choice((1, 4, 2**20)))
        records = mutated(random)
        rows, persons = [row for row, _ in records], [who for _, who in records]
        held = {
            each.split(" ")[0]
            for each in verdict_of(rows, persons, [ht.LinkedKAnonymity(2), ht.KMAnonymity(2, 2)]).held
        }
        expected = {"linked-k-anonymity"} if is_linked_k_anonymous(rows, persons, 2) else set()
        expected |= {"km-anonymity"} if is_km_anonymous(rows, persons, 2, 2) else set()
        assert held == expected
        n_held += len(held)
    assert 50 < n_held < 200


@given(RECORDS, st.lists(st.sampled_from(["flu", "gout"]), min_size=9, max_size=9))
def test_diversity_is_that_of_persons_who_cannot_be_told_apart(records, values):
    rows, persons = [("x", b) for (_, b), _ in records], [who for _, who in records]
    verdict = verdict_of(rows, persons, [ht.LinkedKAnonymity(1), ht.DistinctLDiversity(2, "ill")], values[: len(rows)])
    assert verdict.passed == (fewest_values(rows, persons, values[: len(rows)]) >= 2)


def test_rows_that_stand_for_several_records_are_several_records():
    frame = pl.DataFrame({"who": ["P", "Q"], "a": ["x", "x"], "n": [2, 1]})
    asked = {"quasi_identifiers": ["a"], "person": "who", "counts": "n"}
    assert not ht.verify(frame, models=[ht.LinkedKAnonymity(2)], **asked).passed
    assert not ht.verify(frame, models=[ht.KMAnonymity(2, 2)], **asked).passed
    assert ht.verify(frame, models=[ht.KMAnonymity(2, 1)], **asked).passed


def test_failing_rows_can_be_found():
    rows, persons = [("x", "1")] * 4 + [("y", "1")], ["P", "Q", "P", "Q", "R"]
    for model in (ht.LinkedKAnonymity(2), ht.KMAnonymity(2, 2)):
        (failure,) = verdict_of(rows, persons, [model]).failures
        frame = pl.DataFrame({"who": persons, "a": [a for a, _ in rows], "b": [b for _, b in rows]})
        assert failure.rows(frame).tolist() == [4]


def test_rows_of_nobody_fail():
    verdict = verdict_of([("x", "1")] * 5, ["P", "P", "Q", "Q", None], [ht.LinkedKAnonymity(2)])
    assert [each.condition for each in verdict.failures] == ["every record says whose it is"]


def test_a_sample_is_not_called_complete(monkeypatch):
    random = Random(0)
    monkeypatch.setattr(histories, "_MAX_SETS_COUNTED", 100)
    # Of 60 persons nobody is like another, and whatever two records are known, many have them.
    rows, persons = [], []
    for who in range(60):
        own = [("x", str(random.randrange(3))) for _ in range(80)]
        rows += own
        persons += [f"P{who}"] * 80
    verdict = verdict_of(rows, persons, [ht.KMAnonymity(2, 2)])
    assert verdict.passed
    assert not verdict.complete
    (lack,) = verdict.unchecked.values()
    assert "a sample of" in lack
    assert histories._MAX_SETS_SEARCHED < 60 * 80 * 79 // 2
    assert verdict == verdict_of(rows, persons, [ht.KMAnonymity(2, 2)])


def test_all_sets_of_records_are_looked_at(monkeypatch):
    random = Random(0)
    for at_once in (1, 5, 2**22):
        monkeypatch.setattr(histories, "_SETS_PER_PART", at_once)
        whose = np.array([random.randrange(-1, 8) for _ in range(40)], dtype=np.int32)
        classes = np.array([random.randrange(5) for _ in whose])
        counts = np.array([random.choice((1, 1, 2)) for _ in whose])
        k, m = random.randint(2, 5), random.randint(1, 3)
        found = histories.RareSets.from_parts(list(histories.find_rare_sets(classes, whose, counts, k, m)))
        records = [(c, p) for c, p, n in zip(classes, whose, counts, strict=True) if p >= 0 for _ in range(n)]
        assert sorted(map(tuple, np.column_stack(found).tolist())) == rare_sets(records, k, m)
        assert len(found.persons) <= histories.count_sets(classes, whose, counts, m)


# The doors.

VISITS = pl.DataFrame(
    {
        "who": ["P", "P", "Q", "Q", "R", "R", "S", "S"],
        "age": ["[30, 40]", "[50, 60]"] * 4,
        "ill": ["flu", "gout", "gout", "flu", "flu", "flu", "gout", "gout"],
    }
)
ASKED = {"quasi_identifiers": ["age"], "specs": {"age": ht.ColumnSpec("integer")}, "person": "who"}


def test_a_claim_is_read_as_it_is_written():
    claim = HistoryClaim(("age",), (ht.LinkedKAnonymity(4), ht.KMAnonymity(4, 2)), person="who")
    told = json.loads(json.dumps(claim.to_dict()))
    assert told["kind"] == "histories"
    again = claim_from_dict(told)
    assert (again.conditions, again.to_dict()) == (claim.conditions, told)
    assert again.verify(VISITS).passed
    assert "all records of a person and any 2 records of a person, published or left out," in claim.sentence
    assert claim.of_left_out == "Records that were left out find nobody either."
    known = HistoryClaim(("age",), (ht.KMAnonymity(4, 2),), person="who")
    assert "somebody else alone, who is then taken for the person" in known.of_left_out


def test_what_no_claim_of_histories_can_be_is_refused():
    models = [ht.LinkedKAnonymity(2)]
    with pytest.raises(ht.InputError, match="whose record a row is"):
        ht.verify(VISITS, quasi_identifiers=["age"], models=models)
    with pytest.raises(ht.ColumnError, match="who"):
        ht.verify(VISITS.drop("who"), models=models, **ASKED)
    with pytest.raises(ht.InputError, match="new pseudonym for every record"):
        HistoryClaim(("age",), tuple(models), person="who", is_fresh=True)
    with pytest.raises(ht.InputError, match="k-map"):
        ht.verify(VISITS, models=[*models, ht.KMap(2)], population=VISITS, **ASKED)
    with pytest.raises(ht.ModelError, match="m"):
        ht.KMAnonymity(2, 0)


RULES = """\
columns: {{who: {who}, age: quasi-identifier, ill: sensitive}}
person: who
models: [{model}]
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    VISITS.write_csv("visits.csv")
    VISITS.write_parquet("visits.parquet")
    return tmp_path


@pytest.mark.parametrize("model", ["linked-k-anonymity: 4", "km-anonymity: {k: 4, m: 2}"])
def test_a_policy_and_the_command_judge_a_file(here, model):
    (here / "policy.yaml").write_text(RULES.format(who="other", model=model))
    policy = ht.Policy.read("policy.yaml")
    assert policy.verify("visits.csv").passed
    VISITS[1:].write_csv("less.csv")
    assert not policy.verify("less.csv").passed
    for name, code in (("visits.csv", 0), ("less.csv", 1)):
        path = Path(name)
        entries = manifest.build(path, manifest.sha256(path), 8 - code, policy.claim(), {}, external=True)
        manifest.manifest_path(path).write_text(json.dumps(entries))
        outcome = run("verify", name, "--json")
        assert (outcome.code, json.loads(outcome.out)["passed"]) == (code, not code)
        assert run("verify", name, "-p", "policy.yaml").code == code


@pytest.mark.parametrize("model", ["linked-k-anonymity: 4", "km-anonymity: {k: 4, m: 2}"])
def test_a_folder_is_judged_as_a_file(here, model):
    (here / "policy.yaml").write_text(RULES.format(who="other", model=model))
    policy = ht.Policy.read("policy.yaml")
    for part, rows in (("whole", VISITS), ("less", VISITS[1:])):
        (here / part).mkdir()
        rows[:3].write_parquet(here / part / "0.parquet")
        rows[3:].write_parquet(here / part / "1.parquet")
        expected = policy.verify(rows)
        assert policy.verify(part) == expected
        assert ht.verify(part, models=policy.models, sensitive=["ill"], **ASKED).passed == expected.passed
        code = run("verify", part, "-p", "policy.yaml", "--no-manifest").code
        assert (expected.passed, code) == ((True, 0) if part == "whole" else (False, 1))


def test_methods_that_divide_records_are_refused():
    asked = {"quasi_identifiers": ["age"], "person": "who", "roles": "trust"}
    for method in ("mondrian", "full_domain", "local_recoding"):
        with pytest.raises(ht.InputError, match="'linked-k-anonymity' judges all the records of a person"):
            ht.anonymize(VISITS, models=[ht.LinkedKAnonymity(2)], method=method, **asked)


@pytest.mark.parametrize("model", [ht.LinkedKAnonymity(2), ht.KMAnonymity(2, 2)])
def test_a_release_has_to_tell_whose_records_are_whose(model):
    with pytest.raises(ht.InputError, match="nobody said whose record"):
        ht.anonymize(VISITS, quasi_identifiers=["age"], models=[model])
    with pytest.raises(ht.InputError, match="does not tell whose record"):
        ht.anonymize(VISITS, quasi_identifiers=["age"], models=[model], person="who", identifiers=["who"])


@pytest.mark.parametrize("door", ["lazy", "folder", "stream"])
def test_folders_and_lazy_frames_are_refused_by_name(here, door):
    (here / "folder").mkdir()
    VISITS.write_parquet("folder/0.parquet")
    given = {"lazy": VISITS.lazy(), "folder": "folder", "stream": "visits.parquet"}[door]
    asked = {"quasi_identifiers": ["age"], "person": "who", "models": [ht.LinkedKAnonymity(2)]}
    engine = "stream" if door == "stream" else "auto"
    with pytest.raises(ht.InputError, match="'linked-k-anonymity' judges all records of a person together"):
        ht.anonymize(given, engine=engine, **asked)


@pytest.mark.parametrize("n_known", [1, 2, 3])
def test_the_rate_of_a_linkage_is_the_largest_for_any_number_of_known_records(n_known):
    known = tuple(Known(n, 5, 4 if n == n_known else 0, 4) for n in (1, 2, 3))
    assert Linkage("person", 5, 3, known).rate == 0.8
    assert Linkage("person", 5, 3, known, most_known=n_known - 1).rate == 0
