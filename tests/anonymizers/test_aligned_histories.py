"""Histories: against brute force, against an attacker who shares no code with it, and at every door."""

import json
from itertools import combinations, permutations, product
from random import Random

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.anonymizers import histories as aligned
from hushtable.datasets import ratings
from reading import holds

KEY = bytes(range(32))


def visits(n_persons: int = 30, seed: int = 0, most: int = 6) -> pl.DataFrame:
    """Visits of patients to a hospital."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_persons), rng.integers(1, most + 1, n_persons))
    rng.shuffle(who)
    n = len(who)
    return pl.DataFrame(
        {
            "who": [f"P{i}" for i in who],
            "age": rng.integers(20, 90, n_persons)[who],
            "ward": rng.choice(["eye", "ear", "heart", "skin"], n),
            "day": rng.integers(0, 365, n),
            "ill": rng.choice(["flu", "gout", "mumps"], n),
        }
    )


ASKED = {"quasi_identifiers": ["age", "ward", "day"], "person": "who", "method": "histories"}


def protected(data, *models, suppression=1.0, **more):
    return ht.anonymize(data, models=models, suppression_limit=suppression, roles="trust", **{**ASKED, **more})


# Brute force.


def least_loss(data: pl.DataFrame, names: list[str]) -> float:
    """The least loss that groups of two or three persons reach; larger ones can be parted and lose no more."""
    held = [rows.select(names).rows() for _, rows in data.group_by("who", maintain_order=True)]
    domain = [data[name] for name in names]
    cost = {group: group_cost([held[i] for i in group], domain) for n in (2, 3) for group in combinations(range(6), n)}
    everyone = set(range(6))
    pairs = (
        cost[one] + cost[two] + cost[tuple(sorted(everyone - {*one, *two}))]
        for one, two in combinations(list(combinations(range(6), 2)), 2)
        if not {*one} & {*two}
    )
    triples = (cost[one] + cost[tuple(sorted(everyone - {*one}))] for one in combinations(range(6), 3))
    return min(*pairs, *triples) / (data.height * len(names))


def group_cost(held, domain):
    first, *others = sorted(held, key=len)
    n_left_out = sum(map(len, others)) - len(first) * len(others)
    ways = [list(permutations(other, len(first))) for other in others]
    best = min(
        sum(
            share(cells, column)
            for line in zip(first, *way, strict=True)
            for cells, column in zip(zip(*line, strict=True), domain, strict=True)
        )
        for way in product(*ways)
    )
    return best * len(held) + n_left_out * len(domain)


def share(cells, column):
    if column.dtype.is_integer():
        return (max(cells) - min(cells)) / ((column.max() - column.min()) or 1)
    return len({*cells}) / column.n_unique() if len({*cells}) > 1 else 0.0


def small(random: Random) -> pl.DataFrame:
    who = [f"P{i}" for i in range(6) for _ in range(random.randint(1, 3))]
    return pl.DataFrame(
        {"who": who, "age": [random.randint(1, 20) for _ in who], "ward": [random.choice("xyz") for _ in who]}
    )


def test_the_loss_is_near_the_least_and_never_below():
    random, excess, bounds = Random(0), [], []
    for _ in range(12):
        data = small(random)
        release = protected(data, ht.LinkedKAnonymity(2), quasi_identifiers=["age", "ward"])
        least = least_loss(data, ["age", "ward"])
        assert release.loss >= least - 1e-9
        assert release.trace.bound <= least + 1e-9
        bounds.append(release.trace.bound / least if least else 1.0)
        excess.append(release.loss / least - 1 if least else release.loss)
    assert np.mean(excess) < 0.15
    assert np.mean(bounds) > 0.6


@pytest.mark.parametrize("k", [2, 5])
def test_a_floor_is_told_in_the_unit_of_the_loss(k):
    data = visits(30, 5).with_columns(age=pl.when(pl.col("day") % 9 == 0).then(None).otherwise(pl.col("age")))
    trace = (release := protected(data, ht.LinkedKAnonymity(k))).trace
    assert 0 < trace.bound <= release.loss
    assert trace.gap == pytest.approx((release.loss - trace.bound) / release.loss)


def test_no_floor_is_told_where_none_is_known(monkeypatch):
    assert protected(visits(), ht.KMAnonymity(2, 2)).trace.bound is None
    assert protected(visits(), ht.LinkedKAnonymity(2), hierarchies={"day": "auto"}).trace.bound is None
    monkeypatch.setattr(aligned, "_MOST_PAIRS", 100)
    assert protected(visits(), ht.LinkedKAnonymity(2)).trace.bound is None


# An attacker who has the file alone.


def fits(known: list[tuple], rows: list[tuple], kinds: list[str]) -> bool:
    """Whether every known record has a row of its own that may be it: augmenting paths."""
    could = [
        [j for j, row in enumerate(rows) if all(holds(*each) for each in zip(row, record, kinds, strict=True))]
        for record in known
    ]
    taken: dict[int, int] = {}

    def placed(i, seen):
        for j in could[i]:
            if j not in seen:
                seen.add(j)
                if j not in taken or placed(taken[j], seen):
                    taken[j] = i
                    return True
        return False

    return all(placed(i, set()) for i in range(len(known)))


def fewest_found(data, released, names, kinds, k, n_known, random, n_looked=8):
    """The fewest persons that anybody is among who has records in the file, of whom so many of them are known."""
    published = {who: rows.select(names).rows() for (who,), rows in released.group_by("who")}
    left: dict[str, list] = {who: [] for who in published}
    for who, row in zip(data["who"], data.select(names).rows(), strict=True):
        left[who].append(row)
    fewest = len(published)
    for records in random.sample(sorted(left.values()), min(n_looked, len(left))):
        known = random.sample(records, min(n_known, len(records)))
        fewest = min(fewest, sum(fits(known, rows, kinds) for rows in published.values()))
    return fewest


def kept_of(data, release):
    """The records that the release publishes, in their order."""
    return data.filter(pl.Series(~release.suppressed))


TABLES = {
    "visits": (visits(), ["age", "ward", "day"], ["integer", "category", "integer"]),
    "ratings": (
        ratings(30, 20).rename({"user_id": "who"}),
        ["item", "rating", "date"],
        ["category", "integer", "date"],
    ),
    "census": (visits(40, 1, 2), ["age", "ward", "day"], ["integer", "category", "integer"]),
}


@pytest.mark.parametrize("table", TABLES)
def test_an_attacker_who_knows_any_number_of_records_finds_k_persons(table):
    data, names, kinds = TABLES[table]
    release = protected(data, ht.LinkedKAnonymity(5), quasi_identifiers=names)
    assert release.verify().passed
    kept, random = kept_of(data, release), Random(0)
    assert kept.height == release.frame.height
    for n_known in (1, 2, 3, 4, 8, 100):
        assert fewest_found(kept, release.frame, names, kinds, 5, n_known, random) >= 5


def test_the_attacker_finds_people_where_only_records_are_protected():
    data, names, kinds = TABLES["visits"]
    release = protected(data, ht.KAnonymity(5), quasi_identifiers=names, method="mondrian", suppression=0.0)
    assert fewest_found(data, release.frame, names, kinds, 5, 3, Random(0), 30) < 5


# What it keeps, and what it refuses.


def test_km_anonymity_holds_too():
    release = protected(visits(), ht.KMAnonymity(4, 2))
    verdict = release.verify()
    assert verdict.passed
    assert verdict.complete
    assert release.claim.kind == "histories"


def test_diversity_is_kept_within_histories():
    release = protected(visits(60, 2, 3), ht.LinkedKAnonymity(3), ht.DistinctLDiversity(2, "ill"))
    assert release.verify().passed
    assert release.verify().distinct_sensitive["ill"] >= 2


def test_no_more_records_are_left_out_than_may_be():
    data = visits()
    with pytest.raises(ht.InfeasibleError, match=r"leave out \d+ of \d+ records, and 0 may be suppressed"):
        protected(data, ht.LinkedKAnonymity(5), suppression=0.0)
    release = protected(data, ht.LinkedKAnonymity(5), suppression=0.2)
    assert 0 < release.n_suppressed <= 0.2 * data.height
    assert release.frame.height == data.height - release.n_suppressed


def test_records_of_nobody_are_left_out():
    data = visits().with_columns(who=pl.when(pl.col("day") > 300).then(None).otherwise(pl.col("who")))
    release = protected(data, ht.LinkedKAnonymity(3))
    assert release.frame["who"].null_count() == 0
    assert release.verify().passed


def test_records_are_aligned_by_time_where_it_is_named():
    data = pl.DataFrame({"who": ["P", "P", "Q", "Q"], "age": [20, 60, 60, 20], "day": [1, 9, 2, 8], "ward": ["x"] * 4})
    by_all = protected(data, ht.LinkedKAnonymity(2)).frame
    by_day = protected(data, ht.LinkedKAnonymity(2), method=ht.Histories(time="day")).frame
    assert by_all["age"].to_list() != by_day["age"].to_list() == ["[20, 60]"] * 4
    with pytest.raises(ht.InputError, match="time='week'"):
        protected(data, ht.LinkedKAnonymity(2), method=ht.Histories(time="week"))


def test_hierarchies_and_missing_cells_are_published():
    data = visits().with_columns(ward=pl.when(pl.col("day") % 7 == 0).then(None).otherwise(pl.col("ward")))
    release = protected(data, ht.LinkedKAnonymity(3), hierarchies={"day": "auto"})
    assert release.verify().passed


def test_too_few_persons_are_refused():
    with pytest.raises(ht.InfeasibleError, match="reaches 30"):
        protected(visits(), ht.LinkedKAnonymity(31))


# The doors.

RULES = """\
columns:
  who: {role: identifier, action: pseudonym}
  age: quasi-identifier
  ward: quasi-identifier
  day: quasi-identifier
  ill: sensitive
person: who
models: [linked-k-anonymity: 4, km-anonymity: {k: 4, m: 2}]
method: {histories: {time: day}}
limits: {suppression: 0.5}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    visits().write_csv("in.csv")
    (tmp_path / "policy.yaml").write_text(RULES)
    (tmp_path / "key").write_bytes(KEY)
    return tmp_path


def test_the_command_writes_and_checks_a_release_of_histories(here):
    wrote = done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--key-file", "key").out
    assert "linked-k-anonymity (k = 4), by persons" in wrote
    assert "readers who know age, ward and day of any number of records, and nothing else of a person" in wrote
    manifest = json.loads((here / "out.csv.manifest.json").read_text())
    assert manifest["claim"]["kind"] == "histories"
    assert "holds: km-anonymity (k = 4, m = 2), by persons" in done("verify", "out.csv").out
    done("verify", "out.csv", "-p", "policy.yaml", "--linked")
    lines = (here / "out.csv").read_text().splitlines()
    (here / "out.csv").write_text("\n".join(lines[:-1]) + "\n")
    assert run("verify", "out.csv").code == 1


@pytest.mark.parametrize("audience", ["internal", "external"])
def test_reports_tell_the_claim(here, audience):
    release = ht.Policy.read("policy.yaml").protect("in.csv", key=KEY)
    told = json.dumps(ht.report(release, audience=audience).to_dict())
    assert "linked-k-anonymity" in told
    assert "all records of a person and any 2 records of a person, published or left out," in told
    assert "Records that were left out find nobody either." in told
    assert "may find the person" not in told
    assert "may be right more often" not in told


def test_compare_sets_ks_side_by_side(here):
    rows = ht.compare("in.csv", ht.Policy.read("policy.yaml"), k=[2, 4], suppression=[0.5], key=KEY).to_frame()
    assert rows.height == 2
    assert rows["loss"].is_sorted()


def test_a_release_of_histories_has_no_next_batch():
    release = protected(visits(), ht.LinkedKAnonymity(3))
    with pytest.raises(ht.InputError, match="'linked-k-anonymity' has no next batch"):
        release.apply(visits(10, 1))


def test_nothing_is_lost_where_no_column_weighs():
    people = pl.DataFrame({"who": [1, 2], "age": [31, 31]})
    release = ht.anonymize(
        people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], method="histories", person="who", roles="trust",
        pseudonyms=ht.Pseudonyms(["who"], key=b"a key of 16 bytes or more"), loss={"ncp": {"weights": {"age": 0}}},
    )  # fmt: skip
    assert release.verify().passed


def test_a_record_of_nobody_that_is_left_out_is_not_published_with_stars():
    people = pl.DataFrame({"who": [0, 0, None, 1], "sex": ["f", "f", "m", "f"], "ill": ["flu", "gout", "flu", "flu"]})
    release = ht.anonymize(
        people, quasi_identifiers=["sex"], models=[ht.TCloseness(0.9, "ill")], method="histories", person="who",
        identifiers=["who"], suppression_limit=0.9, roles="trust",
    )  # fmt: skip
    assert release.verify().passed


def test_records_that_are_all_nobodys_have_no_histories():
    table = pl.DataFrame(
        {"age": [1, 2], "who": [None, None], "ill": ["flu", "gout"]}, schema_overrides={"who": pl.Int64}
    )
    asked = {
        "quasi_identifiers": ["age"],
        "models": [ht.TCloseness(0.9, "ill")],
        "person": "who",
        "identifiers": ["who"],
    }
    with pytest.raises(ht.InfeasibleError, match="none of 2 records says whose it is"):
        ht.anonymize(table, **asked, method="histories", suppression_limit=1.0)
