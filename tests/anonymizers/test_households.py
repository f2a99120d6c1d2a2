"""Households published whole: a slow judge of equal ones, what is left out, what is claimed, and what is refused."""

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.claims.households import HouseholdClaim, HouseholdFigures
from hushtable.errors import ColumnError, HushError, InfeasibleError, InputError
from hushtable.policy import Policy

QI = ["region", "age", "sex"]
KEY = bytes(range(32))


def survey(n=60, seed=0, **columns):
    """One row a person, of households of 1 to 4 with one of 7 among them."""
    rng = np.random.default_rng(seed)
    sizes = np.append(rng.choice([1, 2, 3, 4], n - 1, p=[0.4, 0.3, 0.2, 0.1]), 7)
    home = np.repeat(np.arange(n), sizes)
    frame = pl.DataFrame(
        {
            "home": [f"H{i:03}" for i in home],
            "pid": [f"P{i}" for i in range(len(home))],
            "region": rng.choice(["n", "s", "w"], n)[home],
            "age": rng.integers(0, 90, len(home)),
            "sex": rng.choice(["f", "m"], len(home)),
        }
    )
    return frame.with_columns(**{name: pl.Series(make(home, sizes)) for name, make in columns.items()})


def protect(frame, **options):
    options = {
        "budget": ht.Budget(nodes=10),
        "household": "home",
        "person": "pid",
        "identifiers": ["pid"],
        "method": "histories",
        **options,
    }
    options = {"pseudonyms": ht.Pseudonyms(("home",), KEY), "suppression_limit": 0.2, **options}
    return ht.anonymize(frame, **{"quasi_identifiers": QI, "models": [ht.LinkedKAnonymity(3)], **options})


def members(frame, columns=QI):
    """The sorted rows of every household."""
    homes = {}
    for home, *cells in frame.select("home", *columns).iter_rows():
        homes.setdefault(home, []).append(tuple(map(str, cells)))
    return {home: tuple(sorted(rows)) for home, rows in homes.items()}


@pytest.mark.parametrize("seed", [0, 1])
def test_households_are_whole_and_hide_among_k_equal_ones(seed):
    frame = survey(seed=seed)
    release = protect(frame)
    published, before = members(release.frame), members(frame)
    equal = Counter(published.values())
    assert min(equal.values()) >= 3
    # No member was left out one by one: households of a size with fewer than 3 are left out, and all others are there.
    sizes = Counter(map(len, before.values()))
    expected = {size: n for size, n in sizes.items() if n >= 3}
    assert Counter(map(len, published.values())) == expected
    assert release.n_suppressed == sum(size * n for size, n in sizes.items() if n < 3) >= 7
    assert isinstance(release.claim, HouseholdClaim)
    verdict = release.verify()
    assert verdict.passed
    assert verdict.conditions == ("linked-k-anonymity (k = 3), by households", "suppressed records <= 0.2 of all")
    figures = verdict.figures["households"]
    assert (figures["n_households"], figures["n_alone"]) == (len(published), 0)
    rows = [(home, row) for home, own in published.items() for row in own]
    assert figures["mean_risk"] == pytest.approx(sum(1 / equal[published[home]] for home, _ in rows) / len(rows))
    alike = Counter(row for _, row in rows)
    product = {home: 1 - math.prod(1 - 1 / alike[row] for row in own) for home, own in published.items()}
    assert figures["mean_product"] == pytest.approx(sum(product[home] for home, _ in rows) / len(rows))
    assert any("is no limit" in fact for fact in release.facts)
    assert any("1 record of a household finds 0 of" in fact for fact in release.facts)
    assert not any("of a person finds" in fact for fact in release.facts)
    # What is the same for all members is published alike in all of their rows.
    assert release.frame.group_by("home").agg(pl.col("region").n_unique())["region"].to_list() == [1] * len(published)


def test_a_file_of_households_is_judged_by_itself_and_fails_if_changed(tmp_path):
    path = tmp_path / "out.csv"
    protect(survey()).write(path)
    told = run("verify", path)
    assert told.code == 0, told
    assert "holds: linked-k-anonymity (k = 3), by households" in told.out
    rows = pl.read_csv(path).sort(pl.exclude("home"))  # as written, the order is drawn
    claim = HouseholdClaim.from_dict(protect(survey()).claim.to_dict())
    # One member of several: who lives alone and is gone may leave enough others.
    has_others = rows.select(pl.col("home").is_not_null() & (pl.len().over("home") > 1)).to_series()
    is_changed = pl.int_range(pl.len()) == has_others.arg_max()
    changed = [
        rows.with_columns(region=pl.when(is_changed).then(pl.lit("x")).otherwise(pl.col("region"))),
        rows.with_columns(home=pl.when(is_changed).then(pl.lit("H")).otherwise(pl.col("home"))),
        rows.filter(~is_changed),
    ]
    assert claim.verify(rows).passed
    for each in changed:
        verdict = claim.verify(each)
        assert not verdict.passed


def test_by_persons_households_stay_alone_and_the_product_says_too_little():
    # Two persons a home, each of whose cells five persons share, in pairs that no other home has.
    pairs = [(i, (i * (1 + i // 5) + i // 5) % 5) for i in range(25)]
    rows = [(f"H{n}", str(cell)) for n, pair in enumerate({(a % 5, 5 + b) for a, b in pairs}) for cell in pair]
    frame = pl.DataFrame(rows, schema=["home", "cell"], orient="row")
    risk = ht.assess(frame, quasi_identifiers=["cell"], household="home").household
    n = len(rows) // 2
    assert (risk.n_households, risk.n_unique, risk.average_known) == (n, n, 1.0)
    assert risk.average < 0.75
    facts = ht.assess(frame, quasi_identifiers=["cell"], household="home").facts
    assert any("with a chance of 1 on average (1 / equal households)" in fact for fact in facts)
    assert any("takes them for independent, and is no limit" in fact for fact in facts)


def test_figures_of_one_household():
    figures = HouseholdFigures.measure(np.array([0, 1]), np.array([0, 0], dtype=np.int32), np.ones(2, dtype=np.int64))
    assert (figures.n_alone, figures.mean_risk, figures.mean_product) == (1, 1.0, 1.0)


def test_diversity_is_asked_of_the_members_of_equal_households():
    frame = survey(90, ill=lambda home, sizes: [f"{i % 4}" for i in range(len(home))])
    models = [ht.LinkedKAnonymity(3), ht.DistinctLDiversity(2, sensitive="ill")]
    release = protect(frame, models=models, suppression_limit=0.4)
    lines = {}
    homes = members(release.frame)
    for home, *row, ill in release.frame.select("home", *QI, "ill").iter_rows():
        lines.setdefault((homes[home], tuple(map(str, row))), set()).add(ill)
    assert min(map(len, lines.values())) >= 2


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"models": [ht.KAnonymity(3)]}, InputError, "takes linked-k-anonymity"),
        ({"models": [ht.LinkedKAnonymity(3), ht.KMAnonymity(3, 2)]}, InputError, "no other model of linked records"),
        ({"method": "mondrian"}, InputError, "with method 'mondrian'"),
        ({"household": "haus"}, ColumnError, r"no column 'haus' .*\(household\)"),
        ({"suppression_limit": 0.0}, InfeasibleError, "of a size that fewer than 3 have"),
        ({"dates": ht.SinceFirst(("age",))}, InputError, "changed person by person"),
        ({"identifiers": ["pid", "home"], "pseudonyms": None}, InputError, "does not tell"),
        ({"person": "region", "quasi_identifiers": ["age"]}, InputError, "3 persons of 'region' have several records"),
    ],
)
def test_what_households_refuse(options, error, words):
    with pytest.raises(error, match=words):
        protect(survey(), **options)


@pytest.mark.parametrize("name", ["hh_size", "n_children", "v17"])
def test_a_kept_column_that_tells_the_size_is_refused(name):
    frame = survey(**{name: lambda home, sizes: sizes[home]})
    with pytest.raises(ColumnError, match="reveal the size of a household"):
        protect(frame)
    released = protect(frame, quasi_identifiers=[*QI, name]).frame
    counted = released.group_by("home").agg(n=pl.len(), told=pl.col(name).unique())
    assert all(str(n) == str(told[0]) for _, n, told in counted.iter_rows())


def test_scan_proposes_size_and_counts_of_members_as_quasi_identifiers(tmp_path):
    size = {"household_size": lambda home, sizes: sizes[home], "n_children": lambda home, sizes: sizes[home] // 2}
    roles = ht.find_quasi_identifiers(survey(**size))
    found = {each.name: each.role for each in roles.columns}
    assert (found["household_size"], found["n_children"]) == ("quasi-identifier", "quasi-identifier")


POLICY = """
columns: {home: {role: identifier, action: pseudonym}, pid: identifier, region: quasi-identifier,
          age: quasi-identifier, sex: quasi-identifier}
household: home
person: pid
models: [linked-k-anonymity: 3]
method: histories
budget: {nodes: 10}
limits: {suppression: 0.2}
"""


def test_a_policy_carries_households_through_the_command(tmp_path):
    survey().write_csv(tmp_path / "survey.csv")
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "key.bin").write_bytes(KEY)
    out = tmp_path / "out.csv"
    asked = ["-p", tmp_path / "policy.yaml", "--key-file", tmp_path / "key.bin"]
    wrote = run("anonymize", tmp_path / "survey.csv", "-o", out, *asked, "--json")
    assert wrote.code == 0, wrote
    assert '"mean_risk"' in wrote.out
    assert run("verify", out, "-p", tmp_path / "policy.yaml").code == 0
    policy = Policy.parse(POLICY)
    assert Policy.parse(policy.to_yaml()) == policy
    assert policy.claim().conditions == (
        "linked-k-anonymity (k = 3), by households",
        "suppressed records <= 0.2 of all",
    )
    with pytest.raises(HushError, match="must be a column with the role identifier or other"):
        policy.with_entries({"household": "region"})
    streamed = run("anonymize", tmp_path / "survey.csv", "-o", tmp_path / "parts", *asked, "--engine", "stream")
    assert (streamed.code, "takes the rows in memory" in streamed.err) == (2, True)


def test_histories_is_the_method_where_nobody_gave_one():
    text = """
    columns: {home: {role: identifier, action: fresh}, pid: identifier, region: quasi-identifier}
    models: [linked-k-anonymity: 3]
    """
    rules = Policy.parse(text).with_entries({"household": "home"})
    assert rules.method == ht.Histories() == Policy.parse(f"{text}\n    household: home").method
    assert Policy.make(rules.to_dict()) == rules
    with pytest.raises(InputError, match="with method 'mondrian'"):
        rules.with_entries({"method": "mondrian"}).protect(survey().select("home", "pid", "region"))
    frame = survey().select("home", "region")
    release = ht.anonymize(
        frame,
        quasi_identifiers=["region"],
        models=[ht.LinkedKAnonymity(3)],
        household="home",
        pseudonyms=ht.Pseudonyms(("home",), KEY),
        suppression_limit=0.2,
        budget=ht.Budget(nodes=10),
    )
    assert isinstance(release.claim, HouseholdClaim)
