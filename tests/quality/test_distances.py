"""The loss by which categories are near or far, against the definition read from published cells."""

import itertools
import json

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.search import Budget

VALUES = ["a", "b", "c", "d", "e"]
AT = dict(zip(VALUES, [0.0, 1.0, 1.5, 6.0, 10.0], strict=True))
NEAR = {one: {two: abs(AT[one] - AT[two]) for two in VALUES if two > one} for one in VALUES[:-1]}
TREE = {"tree": {"low": ["a", "b", "c"], "high": ["d", "e"]}}


def drawn(seed, *, missing=True):
    rng = np.random.default_rng(seed)
    pool = [*VALUES, None] if missing else VALUES
    some = [pool[i] for i in rng.integers(len(pool), size=24)]
    return pl.DataFrame({"job": [*VALUES, *some], "sex": rng.choice([*"fm"], 29)})


def lost(cell):
    """Return what a published cell of the column costs."""
    if cell is None or cell in VALUES:
        return 0.0
    held = {"low": ["a", "b", "c"], "high": ["d", "e"], "*": [None]}.get(cell) or json.loads(cell)
    if None in held or "" in held:
        return 1.0
    return max(abs(AT[one] - AT[two]) for one, two in itertools.combinations(held, 2)) / 10


@pytest.mark.parametrize("how", ["mondrian", "readable", "ordered", "tree", "local_recoding"])
@pytest.mark.filterwarnings("ignore:Mondrian makes the set-NCP small")
def test_a_cell_costs_what_its_farthest_values_are_apart(how):
    for seed in range(6):
        table = drawn(seed)
        if how == "ordered":
            table = table.with_columns(pl.col("job").cast(pl.Enum(VALUES)))
        release = ht.anonymize(
            table,
            quasi_identifiers=["job", "sex"],
            models=[ht.KAnonymity(3)],
            method={"local_recoding": ht.LocalRecoding(), "readable": ht.Mondrian(recoding="readable")}.get(
                how, ht.Mondrian()
            ),
            hierarchies={"job": TREE} if how in ("tree", "local_recoding") else None,
            loss=ht.Distances({"job": NEAR}),
            budget=Budget(nodes=30),
        )
        cells = release.frame.cast(pl.String).rows()
        of_job = sum(lost(job) for job, _ in cells) / len(cells)
        of_sex = sum(sex == "*" or sex.startswith("[") for _, sex in cells) / len(cells)
        if how == "readable" and any(job not in (None, "*", *VALUES) and job[0] != "[" for job, _ in cells):
            continue  # a group by frequency, whose name tells no values
        assert release.loss == pytest.approx((of_job + of_sex) / 2)
        assert release.verify().passed


def test_searches_make_it_small():
    table = drawn(3, missing=False)
    asked = {"quasi_identifiers": ["job", "sex"], "models": [ht.KAnonymity(3)], "loss": ht.Distances({"job": NEAR})}
    with pytest.warns(UserWarning, match="'full_domain', 'local_recoding', 'genetic', 'mingen'"):
        start = ht.anonymize(table, **asked).loss
    found = [ht.anonymize(table, **asked, method="local_recoding", budget=Budget(nodes=400)) for _ in range(2)]
    assert found[0].loss < start
    assert found[0].frame.equals(found[1].frame)
    assert (found[0].trace.bound, found[0].certificate) == (None, None)
    # Of all combinations of levels none loses less.
    ladders = {"job": TREE, "sex": ht.Hierarchy.suppression()}
    best = ht.anonymize(table, **asked, method="full_domain", hierarchies=ladders)
    assert best.loss == pytest.approx(min_of_levels(table))


def min_of_levels(table):
    losses = []
    up = [lambda x: x, lambda x: "low" if x in "abc" else "high", lambda x: "*"]
    for job, sex in itertools.product(up, [lambda x: x, lambda x: "*"]):
        rows = [(job(one), sex(two)) for one, two in table.rows()]
        if all(rows.count(row) >= 3 for row in rows):
            losses.append(sum(lost(one) + (two == "*") for one, two in rows) / len(rows) / 2)
    return min(losses)


@pytest.mark.parametrize(
    ("between", "says"),
    [
        ({}, "no column with distances"),
        ({"job": {"a": 1}}, "no mapping"),
        ({"job": {"a": {"b": -1}}}, "was given the distance -1"),
        ({"job": {"a": {"b": float("nan")}}}, "was given the distance nan"),
        ({"job": {"a": {"b": 1}, "b": {"a": 2}}}, "two distances for a pair of values, 1 and 2"),
        ({"job": {"a": {"b": 1, "a": 3}}}, "two distances for a pair of values, 0 and 3"),
        ({"job": {"a": {"b": 1, "c": 2}}}, "1 pairs of values without a distance"),
        ({"job": {"a": {"b": 0}}}, "no distance above 0"),
    ],
)
def test_wrong_distances_are_refused(between, says):
    with pytest.raises(ht.InputError, match=says):
        ht.Distances(between)


@pytest.mark.filterwarnings("ignore:Mondrian makes the set-NCP small")
def test_columns_and_values_that_do_not_fit_are_refused_without_naming_a_cell():
    table = pl.DataFrame({"job": ["a", "b", "secret", "secret"], "age": [1, 2, 3, 4]})
    asked = {"quasi_identifiers": ["job", "age"], "models": [ht.KAnonymity(2)]}
    with pytest.raises(ht.InputError, match="'job' has 1 values without distances, of 3") as raised:
        ht.anonymize(table, **asked, loss=ht.Distances({"job": {"a": {"b": 1}}}))
    assert "secret" not in str(raised.value)
    with pytest.raises(ht.InputError, match="'jobs'"):
        ht.anonymize(table, **asked, loss=ht.Distances({"jobs": {"a": {"b": 1}}}))


def test_a_policy_writes_it():
    text = "columns: {job: quasi-identifier}\nmodels: [k-anonymity: 2]\n"
    policy = ht.Policy.parse(f"{text}loss: {{distances: {{between: {{job: {{a: {{b: 1}}}}}}}}}}\n")
    assert policy.loss == ht.Distances({"job": {"a": {"b": 1}}})
    assert ht.Policy.parse(policy.to_yaml()).loss == policy.loss
