"""Records of an outside table looked up in a released one, and two released tables joined: against brute force."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.claims import rules_of
from hushtable.columns import parse_cell
from twins import naive_attacks

DAY = dt.date(2024, 1, 1)
JOBS = ["cook", "clerk", "nurse", "smith", "[sic]"]


def people(n: int, seed: int, *, missing: float = 0.1) -> pl.DataFrame:
    """Draw people with an age, a job and a day, of which some are missing."""
    draw = random.Random(seed)

    def some(value):
        return None if draw.random() < missing else value

    return pl.DataFrame(
        {
            "id": range(n),
            "age": [some(draw.randint(20, 45)) for _ in range(n)],
            "job": [some(draw.choice(JOBS)) for _ in range(n)],
            "day": [some(DAY + dt.timedelta(draw.randint(0, 60))) for _ in range(n)],
            "ill": [draw.choice(["flu", "gout", "mumps"]) for _ in range(n)],
        },
        schema={"id": pl.Int64, "age": pl.Int64, "job": pl.String, "day": pl.Date, "ill": pl.String},
    )


QI = ["age", "job", "day"]
WAYS = [
    {"method": "mondrian"},
    {"method": ht.Mondrian(strict=False, cut="median")},
    {"method": ht.Mondrian(recoding="readable")},
    {"method": ht.Mondrian(recoding="set")},
    {"method": ht.Mondrian(recoding="cut", cut="median")},
    {"method": "local_recoding", "budget": ht.Budget(nodes=50)},
    {"method": "mondrian", "hierarchies": {"job": "auto", "age": {"intervals": [5]}}},
    {"method": "full_domain", "hierarchies": dict.fromkeys(QI, "auto"), "suppression_limit": 0.1},
]


def labels_of(release: ht.Release, data: pl.DataFrame) -> dict[str, dict[str, list]]:
    """Say what labels mean: what the hierarchy, or its rule, puts under them; intervals hold what they read as."""
    told = {}
    for name in QI:
        given = release.hierarchies.get(name)
        if given is None:
            continue
        column = ht.Table.encode(data, [name]).columns[0]
        ladder = ht.Hierarchy.build(rules_of({name: given})[name] or given, column, unknown="suppress")
        values = column.texts()
        told[name] = {}
        for level in range(1, ladder.n_levels):
            for node, label in enumerate(ladder.labels[level]):
                if parse_cell(label).ends is not None:
                    continue
                under = told[name].setdefault(label, [])
                under += [values[i] for i in np.flatnonzero(ladder.level_codes[level] == node)]
    return told


@pytest.mark.parametrize("way", range(len(WAYS)))
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_brute_force(way, seed):
    data = people(40, seed)
    release = ht.anonymize(data, quasi_identifiers=QI, models=[ht.KAnonymity(2)], roles="trust", **WAYS[way])
    release = replace(release, drops_suppressed=bool(seed))
    outside = pl.concat([data, people(20, seed + 100)])
    tolerance = [{}, {"age": 2, "day": "7D"}][seed]
    amounts = (tolerance.get("age", 0), "", dt.timedelta(7 if tolerance else 0))
    labels = labels_of(release, outside) if tolerance == {} else {}
    if tolerance and release.hierarchies:
        return  # what lies between the values of a label, a twin that knows its values alone cannot say
    k = 4
    found = ht.link(release, outside, on=QI, tolerance=tolerance, truth="id", few=k).found
    rows = release.frame.select(QI).rows()
    own = release.frame["id"].to_list()
    counts = {"n_lost": 0, "n_one_record": 0, "n_one_class": 0, "n_few": 0, "n_right": 0, "n_right_class": 0}
    for whose, *record in outside.select("id", *QI).rows():
        fits = [
            i
            for i, row in enumerate(rows)
            if all(
                naive_attacks.covers(cell, value, amount, labels=labels.get(name))
                for name, cell, value, amount in zip(QI, row, record, amounts, strict=True)
            )
        ]
        classes = {rows[i] for i in fits}
        counts["n_lost"] += not fits
        counts["n_one_record"] += len(fits) == 1
        counts["n_one_class"] += len(classes) == 1
        counts["n_few"] += 0 < len(fits) < k
        counts["n_right"] += len(fits) == 1 and own[fits[0]] == whose
        counts["n_right_class"] += len(classes) == 1 and whose in [own[i] for i in fits]
    assert {name: getattr(found, name) for name in counts} == counts


def test_raw_cells_of_a_file_and_other_names(tmp_path):
    data = people(60, 3, missing=0)
    path = tmp_path / "released.csv"
    data.select("id", "age", "job", "day").write_csv(path)
    outside = data[:30].rename({"age": "alter", "job": "beruf", "day": "tag"})
    names = {"age": "alter", "job": "beruf", "day": "tag"}
    found = ht.link(path, outside, on=names, truth="id").found
    alone = data.select(QI).is_unique()[:30].sum()
    assert (found.n_one_record, found.n_right, found.n_lost) == (alone, alone, 0)


def test_a_file_of_decimal_commas_and_german_dates(tmp_path):
    path = tmp_path / "released.csv"
    path.write_text("size;born\n1,5;31.12.1999\n2,5;01.02.2000\n4,5;02.03.2001\n", encoding="utf-8")
    outside = pl.DataFrame({"size": [1.5, 3.0], "born": [dt.date(1999, 12, 31), dt.date(2000, 2, 3)]})
    found = ht.link(path, outside, on=["size", "born"], tolerance={"size": 0.5, "born": "2D"}).found
    assert (found.n_one_record, found.n_lost) == (2, 0)


def test_a_control_is_linked_by_chance_and_a_release_of_large_classes_links_nobody():
    data, strangers = people(200, 5, missing=0), people(200, 6, missing=0)
    raw = ht.link(data, data, on=["age", "job"], control=strangers, truth="id")
    assert raw.found.n_right == raw.found.n_one_record > 0
    assert raw.control.n_records == 200
    assert raw.excess_interval[0] <= raw.excess <= raw.excess_interval[1]
    release = ht.anonymize(data, quasi_identifiers=["age", "job"], models=[ht.KAnonymity(5)], roles="trust")
    safe = ht.link(release, data, on=["age", "job"], truth="id", control=strangers)
    assert (safe.found.n_one_record, safe.found.n_few, safe.rate, safe.excess) == (0, 0, 0.0, 0.0)
    assert safe.found.n_right_class == safe.found.n_one_class > 0


def test_a_wider_tolerance_links_no_more():
    data = people(150, 7)
    few = [ht.link(data, data, on=QI, tolerance={"day": f"{days}D"}).found.n_few for days in (0, 3, 20, 100)]
    assert few == sorted(few, reverse=True)


def test_two_tables_of_one_source_are_the_source_where_nobody_shares_a_value():
    data = pl.DataFrame({"a": list("xyxyz"), "b": [1, 2, 1, 2, 2], "c": [10, 20, 30, 40, 50], "id": range(5)})
    first, second = data.select("a", "c", "id"), data.select("c", "b", "id")
    found = ht.join_risk(first, second.drop("id"), on=["c"])
    assert (found.n_rebuilt, found.n_alone, found.rate) == (5, 5, 1.0)
    assert ht.join_risk(first, second.drop("id").rename({"c": "code"}), on={"c": "code"}).n_alone == 5
    right = ht.join_risk(first, second, on=["c"], truth="id")
    assert (right.n_rebuilt_right, right.n_alone_right, right.n_persons_alone) == (5, 5, 5)
    coarse = data.with_columns(c=pl.lit(1))
    shared = ht.join_risk(coarse.select("a", "c"), coarse.select("b", "c"), on=["c"])
    assert (shared.n_rebuilt, shared.n_alone) == (0, 0)
    alike = ht.join_risk(coarse.select("a", "c"), coarse.select("c").with_columns(b=pl.lit("same")), on=["c"])
    assert (alike.n_rebuilt, alike.n_alone) == (5, 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_mosaic_of_two_releases_equals_brute_force(seed):
    data = people(40, seed)
    kinds = {"quasi_identifiers": ["age", "job", "day"], "models": [ht.KAnonymity(2)], "roles": "trust"}
    one = ht.anonymize(data[:34], **kinds)
    two = ht.anonymize(data[6:], method=ht.Mondrian(recoding=["cut", "tight", "readable"][seed]), **kinds)
    found = ht.join_risk(one, two, on=[*QI, "ill"], truth="id")
    values = {
        "age": [*range(15, 60), None],
        "job": [*JOBS, None],
        "day": [*(DAY + dt.timedelta(day) for day in range(-60, 150)), None],
        "ill": ["flu", "gout", "mumps"],
    }
    labels = labels_of(two, data[6:])
    sets = [
        {
            (name, cell): frozenset(v for v in values[name] if naive_attacks.covers(cell, v, labels=meaning.get(name)))
            for name in values
            for cell in release.frame[name].unique().to_list()
        }
        for release, meaning in ((one, {}), (two, labels))
    ]
    left, right = (release.frame.select([*QI, "ill"]).rows(named=True) for release in (one, two))
    fits = [
        [
            j
            for j, other in enumerate(right)
            if all(sets[0][name, row[name]] & sets[1][name, other[name]] for name in values)
        ]
        for row in left
    ]
    n_back = [sum(j in each for each in fits) for j in range(len(right))]
    alone = [i for i, each in enumerate(fits) if len(each) == 1 and n_back[each[0]] == 1]
    ids = two.frame["id"].to_list()
    assert found.n_lost == sum(not each for each in fits)
    assert found.n_alone == len(alone)
    assert found.n_alone_right == sum(one.frame["id"][i] == ids[fits[i][0]] for i in alone)
    assert found.n_persons_alone == found.n_alone_right


def test_bounds_of_any_size_are_read():
    released = pl.DataFrame({"x": [f"[5, {10**30})", "<5", f">={10**400}", f"[{2**63}, {2**64}]", "2.5"]})
    outside = pl.DataFrame({"x": [7, 2, 3]})
    found = ht.link(released, outside, on=["x"], tolerance={"x": 0}).found
    assert (found.n_one_record, found.n_lost) == (3, 0)
    assert ht.link(released, outside, on=["x"], tolerance={"x": 0.5}).found.n_one_record == 1


def test_a_label_that_nobody_explains_fits_every_value():
    released = pl.DataFrame({"job": ["other (3)", "cook", '["cook", "other (2)"]'], "age": ["young", "31", "[20, 30)"]})
    outside = pl.DataFrame({"job": ["cook", "smith"], "age": [31, 25]})
    with pytest.warns(UserWarning, match="labels of column 'job'"):
        found = ht.link(released, outside, on=["job"], hierarchies={"job": None}).found
    assert (found.n_lost, found.n_one_record, found.n_few) == (0, 0, 2)
    with pytest.warns(UserWarning, match="labels of column 'age'"):
        found = ht.link(released, outside, on=["age"], hierarchies={"age": None}).found
    assert (found.n_lost, found.n_one_record, found.n_few) == (0, 0, 2)
    with pytest.raises(ht.InputError, match="nobody says"):
        ht.join_risk(released, outside, on=["job"], hierarchies={"job": None})


def test_errors_say_which_table():
    data = people(5, 0)
    with pytest.raises(ht.InputError, match="outside table is empty"):
        ht.link(data, data[:0], on=["age"])
    with pytest.raises(ht.ColumnError, match="outside table"):
        ht.link(data, data.drop("age"), on=["age"])
    with pytest.raises(ht.InputError, match="names no column"):
        ht.link(data, data, on=[])
    with pytest.raises(ht.ColumnError, match="truth"):
        ht.link(data.drop("id"), data, on=["age"], truth="id")
    with pytest.raises(ht.InputError, match="second table is empty"):
        ht.join_risk(data, data[:0], on=["age"])
    odd = data.with_columns(age=pl.lit("young"))
    with pytest.raises(ht.InputError, match="hierarchies"):
        ht.link(odd, data, on=["age"])
