"""(k,m)-anonymity by methods that divide records: an attacker from the file alone, refusals, and every door."""

import json
import random
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from anonymizers.test_aligned_histories import KEY, fits, visits
from command import done, run
from hushtable.anonymizers import known_records
from hushtable.claims import histories
from hushtable.datasets import ratings
from hushtable.release import ExposureLimit

NAMES, KINDS = ["age", "ward", "day"], ["integer", "category", "integer"]
METHODS = ["mondrian", "full_domain", "local_recoding"]


def protected(data, *models, suppression=0.0, **more):
    asked = {"quasi_identifiers": NAMES, "person": "who", "method": "mondrian", "roles": "trust"}
    if more.get("method") == "full_domain":
        more["hierarchies"] = dict.fromkeys(NAMES, "auto")
    return ht.anonymize(data, models=models, suppression_limit=suppression, **{**asked, **more})


def crowds(data, released, names, kinds, m):
    """How many persons could hold any m true records, wherever somebody could."""
    rows = [own.select(names).rows() for _, own in released.group_by("who")]
    for _, records in data.group_by("who"):
        for known in combinations(records.select(names).rows(), min(m, records.height)):
            n = sum(fits(known, own, kinds) for own in rows)
            if n:
                yield n


def found_by(data, released, names, kinds, k, m):
    """Who is among fewer than k persons, for somebody who knows any m true records, published or left out."""
    rows = {who: own.select(names).rows() for (who,), own in released.group_by("who")}
    found = set()
    for (who,), records in data.group_by("who"):
        for known in combinations(records.select(names).rows(), min(m, records.height)):
            crowd = {other for other, own in rows.items() if fits(known, own, kinds)}
            if who in crowd and len(crowd) < k:
                found.add(who)
    return found


def test_a_stricter_search_holds_where_records_of_rare_sets_are_suppressed():
    draw = random.Random(4)
    data = pl.DataFrame({"who": [draw.randrange(20) for _ in range(60)], "age": [draw.randrange(8) for _ in range(60)]})
    data = data.with_columns(ill=pl.Series([draw.choice("aaabc") for _ in range(60)]))
    release = ht.anonymize(
        data,
        quasi_identifiers=["age"],
        sensitive=["ill"],
        models=[ht.KMAnonymity(2, 2)],
        search_models=[ht.DistinctLDiversity(3, "ill")],
        method="mondrian",
        person="who",
        suppression_limit=0.3,
        roles="trust",
    )
    assert release.n_suppressed > 0
    values = release.frame.filter(pl.col("age") != "*").group_by("age").agg(pl.col("ill").n_unique())["ill"]
    assert values.min() >= 3


@pytest.mark.parametrize("suppression", [0.0, 0.2])
@pytest.mark.parametrize("method", METHODS)
def test_who_knows_m_records_finds_k_persons(method, suppression):
    data, (k, m) = visits(40, 0, 4), (4, 2)
    release = protected(data, ht.KMAnonymity(k, m), method=method, suppression=suppression)
    verdict = release.verify()
    assert verdict.passed
    assert verdict.complete
    assert release.n_suppressed <= suppression * data.height
    if method == "full_domain":
        # Its labels are names of intervals: an attacker of whole cells.
        assert "km-anonymity (k = 4, m = 2), by persons" in verdict.held
    else:
        assert not found_by(data, release.frame, NAMES, KINDS, k, m)


def test_records_that_were_left_out_find_nobody():
    data = visits(18, 4, 4)
    for model, method in ((ht.KMAnonymity(3, 2), "mondrian"), (ht.LinkedKAnonymity(3), "histories")):
        release = protected(data, model, method=method, suppression=0.5)
        assert release.n_suppressed > 0
        assert not found_by(data, release.frame, NAMES, KINDS, 3, 2)
        # Where (k,m)-anonymity alone is claimed, somebody else may be taken for a person.
        assert min(crowds(data, release.frame, NAMES, KINDS, 2), default=3) >= (3 if method == "histories" else 1)


def test_the_attacker_finds_people_where_only_records_are_protected():
    data = visits(40, 0, 4)
    release = protected(data, ht.KAnonymity(4))
    assert found_by(data, release.frame, NAMES, KINDS, 4, 2)


@pytest.mark.parametrize("method", ["mingen", "genetic"])
def test_methods_of_small_tables_take_it(method):
    data = visits(12, 1, 2).select("who", "age", "ward")
    release = protected(
        data, ht.KMAnonymity(2, 2), quasi_identifiers=["age", "ward"], method=method, budget=ht.Budget(nodes=300)
    )
    assert release.verify().passed
    assert not release.alternatives
    assert release.certificate is None


def test_suppression_spares_what_larger_classes_would_lose():
    data = visits(60, 3, 4)
    whole = protected(data, ht.KMAnonymity(3, 2))
    less = protected(data, ht.KMAnonymity(3, 2), suppression=0.1)
    assert whole.n_suppressed == 0 < less.n_suppressed
    assert less.loss < whole.loss


def test_other_models_hold_in_what_is_left():
    data = visits(60, 2, 3)
    release = protected(data, ht.KMAnonymity(3, 2), ht.DistinctLDiversity(2, "ill"), suppression=0.3)
    verdict = release.verify()
    assert verdict.passed
    assert verdict.distinct_sensitive["ill"] >= 2


def test_records_of_nobody_are_left_out():
    data = visits(40, 0, 3).with_columns(who=pl.when(pl.col("day") > 340).then(None).otherwise(pl.col("who")))
    assert protected(data, ht.KMAnonymity(3, 2), suppression=0.3).frame["who"].null_count() == 0
    with pytest.raises(ht.InfeasibleError, match="finds no classes that hide everybody"):
        protected(data, ht.KMAnonymity(3, 2))


def test_a_floor_is_that_of_classes_of_k_persons():
    data = visits(12, 1, 2)
    release = protected(data, ht.KMAnonymity(2, 2), method="full_domain")
    assert 0 < release.trace.bound <= release.loss
    assert "in classes of" in release.trace.method
    assert protected(data, ht.KMAnonymity(2, 2), method="full_domain", suppression=0.5).trace.bound is None


def test_what_cannot_be_had_is_refused(monkeypatch):
    with pytest.raises(ht.InfeasibleError, match="reaches 30"):
        protected(visits(), ht.KMAnonymity(31, 2))
    # One person has six records, and nobody else has as many.
    data = pl.DataFrame({"who": ["P"] * 6 + ["Q", "R"], "age": range(8)})
    with pytest.raises(ht.InfeasibleError, match="all 3 persons"):
        protected(data, ht.KMAnonymity(2, 3), quasi_identifiers=["age"])
    monkeypatch.setattr(known_records, "_MOST_SETS", 10)
    with pytest.raises(ht.InputError, match="20 sets of 3 records together, and mondrian looks at no more than 10"):
        protected(data, ht.KMAnonymity(2, 3), quasi_identifiers=["age"])


def test_a_budget_of_seconds_is_shared_by_all_searches():
    release = protected(visits(40, 0, 3), ht.KMAnonymity(3, 2), budget=ht.Budget(seconds=30))
    assert release.trace.seconds < 30
    assert release.verify().passed


# The doors.

RULES = """\
columns:
  who: {role: identifier, action: pseudonym}
  age: quasi-identifier
  ward: quasi-identifier
  day: quasi-identifier
  ill: sensitive
person: who
models: [km-anonymity: {k: 3, m: 2}]
limits: {suppression: 0.1}
"""


@pytest.mark.parametrize("method", ["mondrian", "local_recoding"])
def test_the_command_writes_and_checks_it(tmp_path, monkeypatch, method):
    monkeypatch.chdir(tmp_path)
    visits(60, 0, 3).write_csv("in.csv")
    (tmp_path / "policy.yaml").write_text(RULES + f"method: {method}\n")
    (tmp_path / "key").write_bytes(KEY)
    wrote = done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--key-file", "key").out
    assert "readers who know age, ward and day of 2 records or fewer, and nothing else of a person" in wrote
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["claim"]["kind"] == "histories"
    assert "holds: km-anonymity (k = 3, m = 2), by persons" in done("verify", "out.csv").out
    lines = (tmp_path / "out.csv").read_text().splitlines()
    (tmp_path / "out.csv").write_text("\n".join([*lines[:-1], lines[-1].replace(",", "x,", 1)]) + "\n")
    assert run("verify", "out.csv").code == 1


def test_who_knows_more_than_m_records_is_told_of_and_no_reason_to_refuse():
    data = ratings(200, 30).rename({"user_id": "who"})
    names = ["item", "rating", "date"]
    release = protected(data, ht.KMAnonymity(3, 1), quasi_identifiers=names).with_exposure(ExposureLimit())
    linkage = release.exposure.linkage
    by_records = {each.n_records: each.n_found for each in linkage.known}
    assert by_records[1] == 0 < by_records[3]
    assert linkage.rate == 0
    assert not release.exposure.is_linked
    assert any("who knows 3 records of a person finds" in line for line in release.exposure.lines())


def test_the_order_of_rows_changes_nothing():
    data = visits(40, 0, 3)
    order = np.random.default_rng(0).permutation(data.height)
    one = protected(data, ht.KMAnonymity(3, 2), suppression=0.1)
    other = protected(data[order], ht.KMAnonymity(3, 2), suppression=0.1)
    assert one.loss == other.loss
    assert one.frame.sort(one.frame.columns).equals(other.frame.sort(one.frame.columns))


def test_a_search_that_leaves_out_too_much_ends_early(monkeypatch):
    """Parts of the rare sets are enough to see it; where all may go, parts change nothing."""
    data = visits(40, 0, 4)
    whole = protected(data, ht.KMAnonymity(3, 2), suppression=0.2)
    monkeypatch.setattr(histories, "_SETS_PER_PART", 20)
    by_parts = protected(data, ht.KMAnonymity(3, 2), suppression=0.2)
    assert (by_parts.loss, by_parts.n_suppressed) == (whole.loss, whole.n_suppressed)
    (rare,) = histories.find_rare_sets(np.arange(8), np.arange(8, dtype=np.int32), np.ones(8, dtype=np.int64), 2, 1)
    assert len(known_records._choose_hitting_set(rare, 8, 8)) == 8
    assert known_records._choose_hitting_set(rare, 8, 7) is None
