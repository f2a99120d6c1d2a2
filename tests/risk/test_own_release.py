"""Attacks on one's own release: one that falls to each, one that does not, and each against its definition."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.io import frames
from hushtable.risk.attacks.joined_histories import HistoryRows, count_alike
from hushtable.risk.attacks.own_release import OwnAttack

ILLS = ["flu", "gout", "mumps", "cold"]


def people(n: int, seed: int = 0) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": [draw.randint(20, 60) for _ in range(n)],
            "zip": [draw.randint(100, 130) for _ in range(n)],
            "ill": [draw.choice(ILLS) for _ in range(n)],
        }
    )


def released(data: pl.DataFrame, k: int = 3, **options) -> ht.Release:
    asked = {"quasi_identifiers": ["age", "zip"], "models": [ht.KAnonymity(k)], "sensitive": ["ill"], "roles": "trust"}
    return ht.anonymize(data, **{**asked, "identifiers": ["id"], **options})


def by_name(found) -> dict:
    return {each.name: each for each in found.attacks}


def test_homogeneity_counts_the_classes_that_agree():
    release = released(people(120))
    found = by_name(release.attack())["homogeneity"]
    rows = release.frame.group_by("age", "zip").agg(n=pl.len(), values=pl.col("ill").n_unique())
    agreeing = rows.filter(pl.col("values") == 1)
    assert found.n_found == agreeing["n"].sum() > 0
    assert found.fell
    assert found.n_targets == 120
    assert 0 < found.control_rate < 1
    assert sorted(each.n_records for each in found.witnesses) == sorted(agreeing["n"].to_list())[-10:]
    safe = released(people(120), models=[ht.KAnonymity(3), ht.DistinctLDiversity(2, "ill")])
    assert not by_name(safe.attack())["homogeneity"].fell


def test_ends_of_tight_intervals_are_somebodys_and_of_round_ones_by_chance():
    data = people(400, 1)
    tight = by_name(released(data, 5).attack())["ends"]
    assert tight.fell
    assert tight.rate == 1.0
    assert tight.control_rate < 1.0
    sparse = data.with_columns(age=pl.int_range(400).shuffle(2) * 997, zip=pl.int_range(400).shuffle(3) * 1009)
    readable = released(sparse, 5, method=ht.Mondrian(recoding="readable")).attack()
    assert any(each.name == "ends" for each in readable.attacks)
    assert "ends" not in readable.fell


def test_ends_are_counted_as_they_are_where_values_are_missing():
    data = people(200, 4).with_columns(age=pl.when(pl.int_range(200) % 7 == 0).then(None).otherwise(pl.col("age")))
    release = released(data, 4, method=ht.Mondrian(recoding="readable"))
    found = {each.column: each for each in release.attack().attacks if each.name == "ends"}["age"]
    rows = pl.concat([release.frame.select("zip", cell="age"), data.select("age")], how="horizontal")
    n = n_right = 0
    for (_, cell), part in rows.group_by("zip", "cell"):
        if cell is not None and cell.startswith("[") and cell.endswith(")"):
            n += 1
            n_right += int(cell[1:].split(",")[0]) in part["age"]
    assert (found.n_targets, found.n_found) == (n, n_right)


def earlier_and_now(n: int = 90, more: int = 4) -> tuple[ht.Release, ht.Release, pl.DataFrame]:
    data = people(n, 2)
    return released(data, 4, method=ht.Mondrian(cut="median")), released(data[: n - more], 3), data


def test_the_intersection_of_two_releases_leaves_one_value_as_brute_force_says():
    now, before, data = earlier_and_now()
    found = by_name(now.attack(before, person="id"))["intersection"]

    def fitting(release, row):
        def covers(cell, value):
            if not cell.startswith("["):
                return cell in ("*", str(value))
            low, high = cell[1:-1].split(", ")
            return int(low) <= value <= int(high)

        return {
            ill
            for age, zip_, ill in release.frame.select("age", "zip", "ill").rows()
            if covers(age, row["age"]) and covers(zip_, row["zip"])
        }

    n_found = n_right = 0
    for row in data[:86].rows(named=True):
        one, two = fitting(now, row), fitting(before, row)
        if len(one) > 1 and len(one & two) == 1:
            n_found += 1
            n_right += row["ill"] in one & two
    assert (found.n_targets, found.n_found, found.n_right) == (86, n_found, n_right)
    assert n_found == n_right > 0
    assert found.fell
    assert found.control_rate < 1


def test_a_batch_of_the_same_cells_gives_nothing_away_by_intersection():
    data = people(90, 2)
    before = released(data)
    found = by_name(before.attack(before, person="id"))
    assert not found["intersection"].fell
    assert not found["joined"].fell


def test_those_who_joined_and_left_are_told_by_subtracting():
    coarse = pl.DataFrame(
        {"id": [f"p{i}" for i in range(14)], "age": [20] * 5 + [30] * 5 + [40] * 4, "ill": [*ILLS * 3, "flu", "flu"]}
    ).with_columns(zip=pl.lit(1, dtype=pl.Int64)).select("id", "age", "zip", "ill")  # fmt: skip
    joined = pl.concat([coarse, pl.DataFrame({"id": ["new"], "age": [30], "zip": [1], "ill": ["gout"]})])
    left = coarse.filter(pl.col("id") != "p0")
    before, after, without = (released(each, 4) for each in (coarse, joined, left))
    found = by_name(after.attack(before, person="id"))
    assert (found["joined"].n_found, found["joined"].n_right, found["joined"].fell) == (1, 1, True)
    assert found["left"].n_found == 0
    gone = by_name(without.attack(before, person="id"))
    assert (gone["left"].n_found, gone["left"].n_right, gone["joined"].fell) == (1, 1, False)
    same = by_name(before.attack(before, person="id"))
    assert not same["joined"].fell
    assert not same["left"].fell
    of_file = by_name(after.attack(before.frame))
    assert (of_file["joined"].n_found, of_file["joined"].n_right) == (1, None)


@pytest.mark.parametrize("n_new", [1, 3, 4, 5])
def test_fewer_than_k_who_joined_a_class_are_told_and_k_are_not(n_new):
    data = pl.DataFrame({"id": range(8 + n_new), "age": [20] * 4 + [30] * (4 + n_new), "zip": 1})
    data = data.with_columns(ill=pl.Series((ILLS * 4)[: 8 + n_new]))
    before, after = released(data[:8], 4), released(data, 4)
    found = by_name(after.attack(before, person="id"))["joined"]
    is_told = n_new < 4
    assert (found.n_found, found.n_right, found.fell) == (n_new * is_told, n_new * is_told, is_told)


def test_a_class_of_many_earlier_ones_is_subtracted_too():
    data = pl.DataFrame(
        {"id": range(9), "age": [20, 20, 20, 30, 30, 30, 30, 20, 31], "zip": 1, "ill": ["a", "b", "c"] * 3}
    )
    fine, coarse = released(data[:8], 3), released(data, 9)
    assert by_name(coarse.attack(fine, person="id"))["joined"].n_found == 1


def test_linked_records_fall_where_a_pseudonym_is_published():
    draw = random.Random(3)
    data = pl.DataFrame({"who": [i // 5 for i in range(150)], "day": [draw.randint(0, 400) for _ in range(150)]})
    release = ht.anonymize(data, quasi_identifiers=["day"], models=[ht.KAnonymity(3)], person="who", roles="trust")
    found = by_name(release.attack())["linked records"]
    assert found.fell
    assert found.column == "who"
    untold = ht.anonymize(
        data, quasi_identifiers=["day"], models=[ht.KAnonymity(3)], roles="trust", identifiers=["who"]
    )
    assert "linked records" in untold.attack().untried


def visits(wards):
    """Two visits of each of 12 persons, in the wards that are given by person."""
    rows = [(f"P{person:02}", ward, 20 + visit) for person, ward in enumerate(wards) for visit in range(2)]
    return pl.DataFrame(rows, schema=["who", "ward", "day"], orient="row")


def linked_release(data, key, k=2):
    return ht.anonymize(
        data,
        quasi_identifiers=["ward", "day"],
        models=[ht.LinkedKAnonymity(k)],
        person="who",
        pseudonyms=ht.Pseudonyms(("who",), key=bytes(range(key, key + 32))),
        method="histories",
        roles="trust",
    )


def test_two_linked_releases_under_one_key_are_joined(tmp_path):
    # Each ward has four persons in either release, and each pair of wards one, two or three.
    first = linked_release(visits("aaaabbbbcccc"), 1)
    second = linked_release(visits("abccabbcaabc"), 1)
    joined = Counter(zip("aaaabbbbcccc", "abccabbcaabc", strict=True))
    found = by_name(second.attack(first))["linked releases"]
    assert (found.n_targets, found.n_found, found.fell) == (12, sum(n == 1 for n in joined.values()), True)
    assert "new key" in found.advice
    assert by_name(second.attack())["linked records"].n_found == 0
    first.write(tmp_path / "first.csv")
    second.write(tmp_path / "second.csv")
    asked = ("attack-release", tmp_path / "second.csv", "--earlier", tmp_path / "first.csv")
    assert "falls to 1 of 4 attacks: linked releases" in run(*asked).out
    assert run(*asked, "--fail-above", "count=0").code == 1


def test_a_new_key_and_equal_histories_give_nothing_away():
    first = linked_release(visits("aaaabbbbcccc"), 1)
    fresh = linked_release(visits("abccabbcaabc"), 2).attack(first)
    assert "pseudonym" in fresh.untried["linked releases"]
    again = by_name(linked_release(visits("ccccaaaabbbb"), 1).attack(first))["linked releases"]
    assert (again.n_targets, again.n_found, again.fell) == (12, 0, False)


def test_suppressed_records_are_part_of_a_history():
    # Both pseudonyms have one record in class 0; B has another one, which is suppressed and so in class 1.
    first = HistoryRows(frames.read(pl.DataFrame({"who": ["A", "B", "B"]})), np.array([0, 0, 1]))
    second = HistoryRows(frames.read(pl.DataFrame({"who": ["A", "B", "*"]})), np.array([0, 0, 0]))
    assert count_alike(first, second, "who").tolist() == [1, 1]
    assert count_alike(second, second, "who").tolist() == [2, 2]


@pytest.mark.parametrize("spelling", ["{}", "{}.0", "00{}"])
def test_persons_in_both_are_the_same_however_a_program_writes_their_numbers(spelling):
    def release(spelling, first):
        ids = [spelling.format(i) for i in range(first, first + 12)]
        table = pl.DataFrame({"id": [*ids, "nobody"], "age": [20 + i // 5 for i in range(13)]})
        return ht.anonymize(
            table, quasi_identifiers=["age"], models=[ht.KAnonymity(3)], identifiers=["id"], person="id"
        )

    found = by_name(release(spelling, 15).attack(release("{}", 11)))["shared persons"]
    assert found.n_targets == 9


def test_what_could_not_be_tried_is_said():
    data = people(40)
    release = ht.anonymize(data.drop("ill"), quasi_identifiers=["age", "zip"], models=[ht.KAnonymity(3)],
                           identifiers=["id"], roles="trust")  # fmt: skip
    found = release.attack()
    of_two = {"shared persons", "linked releases", "intersection", "joined", "left"}
    assert set(found.untried) == {"homogeneity", "linked records", *of_two}
    with pytest.raises(ht.ColumnError, match="person"):
        release.attack(release, person="nobody")
    with pytest.raises(ht.ColumnError, match="earlier release"):
        release.attack(data.drop("age"))


def test_an_earlier_file_that_was_changed_is_refused(tmp_path):
    path = tmp_path / "early.csv"
    released(people(60, seed=1)).write(path)
    late = released(people(60, seed=2))
    assert late.attack(path).attacks
    path.write_bytes(path.read_bytes() + b"1,2,flu\n")
    with pytest.raises(ht.VerificationError, match="is not the file its manifest describes"):
        late.attack(path)


def test_outsiders_see_no_witness_and_no_small_count():
    now, before, _ = earlier_and_now()
    found = now.attack(before, person="id")
    inside, outside = found.to_dict(), found.to_dict("external")
    assert any(each["witnesses"] for each in inside["attacks"])
    assert not any("witnesses" in each for each in outside["attacks"])
    small = [each for each in found.attacks if 0 < each.n_found < found.k]
    for each in outside["attacks"]:
        for name in ("n_targets", "n_found", "n_right"):
            assert not (isinstance(each[name], int) and 0 < each[name] < found.k)
    assert all(isinstance(each.to_dict("external", found.k)["n_found"], str) for each in small)
    numbers = {each.number for attack in found.attacks for each in attack.witnesses}
    again = {each.number for attack in now.attack(before, person="id").attacks for each in attack.witnesses}
    assert numbers.isdisjoint(again) or len(numbers) < 3


@pytest.mark.parametrize(("n", "shown"), [(0, 0), (1, "<4"), (3, "<4"), (4, 4)])
def test_outsiders_are_told_no_count_from_one_to_k_minus_one(n, shown):
    attack = OwnAttack("homogeneity", "ill", "a claim", "records", 9, n, n, None, n > 0)
    told = attack.to_dict("external", k=4)
    assert (told["n_targets"], told["n_found"], told["n_right"]) == (9, shown, shown)
    assert (told["rate"] is None) == (shown == "<4")
    assert attack.to_dict("internal", k=4)["n_found"] == n
