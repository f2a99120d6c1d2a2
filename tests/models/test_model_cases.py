"""Hand-made classes, and what each model's definition says of them."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from by_hand import stats_of

import hushtable as ht
from hushtable.errors import InfeasibleError, ModelError
from hushtable.models import (
    MODELS,
    AlphaKAnonymity,
    BetaLikeness,
    ClassStats,
    DeltaDisclosure,
    DeltaPresence,
    DistinctLDiversity,
    EntropyLDiversity,
    Global1K,
    GlobalK1,
    Ground,
    KAnonymity,
    KMAnonymity,
    KMap,
    LinkedKAnonymity,
    Match1K,
    MatchK1,
    MatchKK,
    PrivacyModel,
    RecursiveCLDiversity,
    TCloseness,
    describe,
    from_dict,
    model_to_dict,
)
from hushtable.models.base import Matching
from hushtable.tables.partition import Partition
from searching import search

ORDERED = Ground(is_ordered=True)
HALVES = {0: 50, 1: 50}
# Stomach and lung diseases below "any", the missing value a leaf of its own.
DISEASES = Ground(levels=np.array([[0, 1, 2, 3, 4], [0, 1, 1, 2, 2], [0, 0, 0, 0, 0]], dtype=np.int32))
QUARTERS = {0: 25, 1: 25, 2: 25, 3: 25}


@pytest.mark.parametrize(
    ("model", "held", "whole", "ground", "measure", "passes"),
    [
        # The value at the bound is allowed; missing values dilute, but are none too frequent themselves.
        (AlphaKAnonymity(0.5, 4, "s"), {0: 2, 1: 2}, None, None, 0.5, True),
        (AlphaKAnonymity(0.5, 4, "s"), {0: 3, 1: 2}, None, None, 0.6, False),
        (AlphaKAnonymity(0.5, 4, "s"), {0: 1, 1: 1}, None, None, math.inf, False),
        (AlphaKAnonymity(0.5, 4, "s"), {-1: 3, 0: 1}, None, None, 0.25, True),
        (AlphaKAnonymity(0.5, 4, "s"), {-1: 4}, None, None, 0.0, True),
        (AlphaKAnonymity(0.1, 10, "s"), dict.fromkeys(range(10), 1), None, None, 0.1, True),
        (AlphaKAnonymity(1, 1, "s"), {0: 1}, None, None, 1.0, True),
        # Uniform over l values is exactly l, also where logarithms round.
        *((EntropyLDiversity(n, "s"), dict.fromkeys(range(n), 7), None, None, n, True) for n in range(1, 20)),
        (EntropyLDiversity(2.1, "s"), {0: 1, 1: 1}, None, None, 2.0, False),
        (EntropyLDiversity(1.8, "s"), {0: 3, 1: 1}, None, None, 4 / 27**0.25, False),
        (EntropyLDiversity(1.7, "s"), {0: 3, 1: 1}, None, None, 4 / 27**0.25, True),
        (EntropyLDiversity(2, "s"), {-1: 1, 0: 1, 1: 1}, None, None, 2.0, True),
        (EntropyLDiversity(2, "s"), {-1: 5, 0: 5}, None, None, 1.0, False),
        (EntropyLDiversity(1, "s"), {-1: 5}, None, None, 0.0, False),
        # Equality fails; ties take their places one after the other; fewer than l values fail.
        (RecursiveCLDiversity(18, 3, "s"), {0: 90, 1: 5, 2: 5}, None, None, 18.0, False),
        (RecursiveCLDiversity(18.1, 3, "s"), {0: 90, 1: 5, 2: 5}, None, None, 18.0, True),
        (RecursiveCLDiversity(9.1, 2, "s"), {0: 90, 1: 5, 2: 5}, None, None, 9.0, True),
        (RecursiveCLDiversity(1.1, 2, "s"), {0: 11, 1: 10}, None, None, 1.1, False),
        (RecursiveCLDiversity(1, 2, "s"), {0: 3, 1: 3, 2: 3}, None, None, 0.5, True),
        (RecursiveCLDiversity(1000, 3, "s"), {-1: 9, 0: 1, 1: 1}, None, None, math.inf, False),
        (RecursiveCLDiversity(2, 1, "s"), {0: 5}, None, None, 1.0, True),
        # Li, Li, Venkatasubramanian, section 4.2: D[{3k,4k,5k}, Q] = 0.375 and D[{6k,8k,11k}, Q] = 0.167.
        (TCloseness(0.375, "s"), {0: 1, 1: 1, 2: 1}, dict.fromkeys(range(9), 1), ORDERED, 0.375, True),
        (TCloseness(0.16, "s"), {3: 1, 5: 1, 8: 1}, dict.fromkeys(range(9), 1), ORDERED, 1 / 6, False),
        (TCloseness(0.5, "s"), {0: 1}, HALVES, None, 0.5, True),
        (TCloseness(0.49, "s"), {0: 1}, HALVES, ORDERED, 0.5, False),
        (TCloseness(0.0, "s"), {0: 2, 1: 2}, HALVES, ORDERED, 0.0, True),
        (TCloseness(0.0, "s"), {0: 4}, {0: 9}, ORDERED, 0.0, True),
        (TCloseness(0.0, "s"), {-1: 4}, {-1: 9}, ORDERED, 0.0, True),
        # A code that the whole does not hold is no step; the missing value is the first one.
        (TCloseness(1, "s"), {0: 1}, {0: 1, 1: 0, 2: 0, 3: 1}, ORDERED, 0.5, True),
        (TCloseness(1, "s"), {2: 1}, {-1: 1, 2: 1}, ORDERED, 0.5, True),
        (TCloseness(1, "s"), {2: 1}, {-1: 1, 1: 1, 2: 2}, ORDERED, 0.375, True),
        (TCloseness(1, "s", "equal"), {2: 1}, {-1: 1, 1: 1, 2: 2}, ORDERED, 0.5, True),
        # Within one branch of the hierarchy is nearer than across.
        (TCloseness(1, "s", "hierarchical"), {0: 1, 1: 1}, QUARTERS, DISEASES, 0.5, True),
        (TCloseness(1, "s", "hierarchical"), {0: 1, 2: 1}, QUARTERS, DISEASES, 0.25, True),
        (TCloseness(0.2, "s", "hierarchical"), {0: 1, 2: 1}, QUARTERS, DISEASES, 0.25, False),
        (TCloseness(1, "s", "auto"), {0: 1, 2: 1}, QUARTERS, DISEASES, 0.5, True),
        # 1/10 to 3/10 is a gain of 2. What a class lacks is no gain.
        (BetaLikeness(2, "s"), {0: 3, 1: 7}, {0: 10, 1: 90}, None, 2.0, True),
        (BetaLikeness(1.9, "s"), {0: 3, 1: 7}, {0: 10, 1: 90}, None, 2.0, False),
        (BetaLikeness(1, "s"), {1: 1}, {0: 10, 1: 90}, None, 1 / 9, True),
        (BetaLikeness(1, "s", enhanced=True), {1: 1}, {0: 10, 1: 90}, None, math.inf, False),
        (BetaLikeness(3, "s", enhanced=True), {0: 3, 1: 7}, {0: 10, 1: 90}, None, 2.0, True),
        (BetaLikeness(1, "s", enhanced=True), {0: 3}, {0: 3}, None, 0.0, True),
        (BetaLikeness(1, "s"), {-1: 3, 0: 1}, {-1: 1, 0: 3}, None, 2.0, False),
        # Equality fails, and so does an absent value, whatever delta is.
        (DeltaDisclosure(0.7, "s"), {0: 1, 1: 3}, HALVES, None, math.log(2), True),
        (DeltaDisclosure(math.log(2), "s"), {0: 1, 1: 3}, HALVES, None, math.log(2), False),
        (DeltaDisclosure(100, "s"), {0: 4}, HALVES, None, math.inf, False),
        (DeltaDisclosure(100, "s"), {0: 4, 1: 4}, {**HALVES, -1: 1}, None, math.inf, False),
        (DeltaDisclosure(0.1, "s"), {0: 4, 3: 4}, {0: 50, 1: 0, 3: 50}, None, 0.0, True),
        (DeltaDisclosure(0.1, "s"), {0: 4}, {0: 9}, None, 0.0, True),
    ],
    ids=str,
)
def test_one_class(model, held, whole, ground, measure, passes):
    stats = stats_of([held], whole, ground=ground)
    assert model.measure(stats) == pytest.approx([measure])
    assert model.passes(stats).tolist() == [passes]


@pytest.mark.parametrize(
    ("model", "size", "population", "measure", "passes"),
    [
        (KMap(3), 1, 3, 3, True),
        (KMap(3), 3, 2, 2, False),
        (KMap(3), 0, 1, math.inf, True),
        (KMap(3), 0, 0, math.inf, True),
        (DeltaPresence(0.25, 0.5), 1, 4, 0.25, True),
        (DeltaPresence(0.25, 0.5), 2, 4, 0.5, True),
        (DeltaPresence(0.1, 0.3), 3, 10, 0.3, True),
        (DeltaPresence(0.25, 0.5), 3, 4, 0.75, False),
        (DeltaPresence(0.25, 0.5), 1, 5, 0.2, False),
        (DeltaPresence(0.25, 0.5), 0, 5, 0.0, False),
        (DeltaPresence(0, 0.5), 0, 5, 0.0, True),
        (DeltaPresence(0.25, 0.5), 0, 0, 0.0, True),
        (DeltaPresence(0, 1), 5, 0, math.inf, False),
    ],
    ids=str,
)
def test_one_class_in_a_population(model, size, population, measure, passes):
    stats = stats_of(sizes=[size], population=[population])
    assert model.measure(stats).tolist() == [measure]
    assert model.passes(stats).tolist() == [passes]


@pytest.mark.parametrize("name", MODELS)
def test_no_class_is_no_failure(name):
    model = EXAMPLES[name]
    nothing = stats_of([], {0: 1, 1: 1}, population=[], ground=DISEASES)
    nothing = replace(nothing, matching=Matching(0, 0, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)))
    assert model.passes(nothing).tolist() == []


def test_each_of_two_sensitive_columns_is_judged_by_its_own_model():
    stats = stats_of([{0: 1, 1: 1}, {0: 2}], more={"u": [{0: 2}, {0: 1, 1: 1}]})
    assert EntropyLDiversity(2, "s").passes(stats).tolist() == [True, False]
    assert EntropyLDiversity(2, "u").passes(stats).tolist() == [False, True]
    assert TCloseness(0.3, "s").passes(stats).tolist() == [True, True]
    assert TCloseness(0.2, "u").passes(stats).tolist() == [False, False]


EXAMPLES = {
    model.name: model
    for model in (
        KAnonymity(2),
        AlphaKAnonymity(0.5, 2, "s"),
        KMap(2),
        DeltaPresence(0, 0.5),
        DistinctLDiversity(2, "s"),
        EntropyLDiversity(1.5, "s"),
        RecursiveCLDiversity(2, 2, "s"),
        TCloseness(0.2, "s", "equal"),
        BetaLikeness(1, "s"),
        DeltaDisclosure(1, "s"),
        Match1K(2),
        MatchK1(2),
        MatchKK(2),
        Global1K(2),
        GlobalK1(2),
        LinkedKAnonymity(2),
        KMAnonymity(2, 3),
    )
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_goes_to_a_policy_and_back(name):
    model = EXAMPLES[name]
    assert isinstance(model, PrivacyModel)
    assert from_dict(json.loads(json.dumps(model_to_dict(model)))) == model
    if not model.needs.population:
        columns = {"a": "quasi-identifier", "s": "sensitive"}
        method = "mingen" if model.needs.original else "mondrian"
        policy = ht.Policy.make({"columns": columns, "models": [model_to_dict(model)], "method": method})
        assert ht.Policy.parse(policy.to_yaml()).models == (model,)


def test_numpy_numbers_are_written_as_plain_ones():
    assert describe(TCloseness(np.float64(0.2), "s")) == "t-closeness (t = 0.2, sensitive = 's', ground = 'auto')"


@pytest.mark.parametrize("number", [True, "0.2", None, math.nan, math.inf, -math.inf, -0.1, [0.2]], ids=repr)
@pytest.mark.parametrize(
    "make",
    [
        lambda x: AlphaKAnonymity(x, 2, "s"),
        lambda x: DeltaPresence(x, 1),
        lambda x: DeltaPresence(0, x),
        lambda x: EntropyLDiversity(x, "s"),
        lambda x: RecursiveCLDiversity(x, 2, "s"),
        lambda x: TCloseness(x, "s"),
        lambda x: BetaLikeness(x, "s"),
        lambda x: DeltaDisclosure(x, "s"),
    ],
)
def test_parameters_are_finite_numbers(make, number):
    with pytest.raises(ModelError, match="a finite number"):
        make(number)


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: AlphaKAnonymity(0, 2, "s"), "alpha = 0"),
        (lambda: AlphaKAnonymity(1.5, 2, "s"), "at most 1"),
        (lambda: AlphaKAnonymity(0.5, 2.5, "s"), "k = 2.5"),
        (lambda: KMap(0), "k = 0"),
        (lambda: DeltaPresence(0.5, 0.2), "low is at most high"),
        (lambda: EntropyLDiversity(0.9, "s"), "at least 1"),
        (lambda: RecursiveCLDiversity(0, 2, "s"), "c = 0"),
        (lambda: RecursiveCLDiversity(1, 0, "s"), "l = 0"),
        (lambda: TCloseness(1.1, "s"), "at most 1"),
        (lambda: TCloseness(0.1, "s", "rank"), "equal, ordered, hierarchical"),
        (lambda: BetaLikeness(0, "s"), "above 0"),
        (lambda: BetaLikeness(1, "s", enhanced=1), "enhanced = 1"),
        (lambda: DeltaDisclosure(0, "s"), "above 0"),
        (lambda: TCloseness(0.1, ["s"]), "sensitive"),
        (lambda: Ground(levels=np.array([[0, 1]], dtype=np.int32)), "one node"),
    ],
)
def test_other_bounds(make, part):
    with pytest.raises(ModelError) as error:
        make()
    assert part in str(error.value)


@pytest.mark.parametrize("ground", ["ordered", "hierarchical"])
def test_a_ground_that_a_column_does_not_have(ground):
    with pytest.raises(ModelError, match=f"ground = '{ground}', but column 's' has no"):
        TCloseness(0.2, "s", ground).passes(stats_of([{0: 1}], HALVES))


@pytest.mark.parametrize("model", [KMap(2), DeltaPresence(0, 1)])
def test_no_population(model):
    with pytest.raises(ModelError, match="population"):
        model.passes(ClassStats(np.array([1])))


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    n = 600
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "zip": rng.choice(list("abcdefgh"), n),
            "pay": pl.Series(rng.choice([0, 10, 20, 30, 40], n)).replace(0, None),
            "ill": rng.choice(["flu", "cold", "none", "none"], n),
        }
    )


@pytest.mark.parametrize("cut", ["gain", "median"])
@pytest.mark.parametrize(
    "models",
    [
        [AlphaKAnonymity(0.6, 3, "ill"), TCloseness(0.3, "pay")],
        [EntropyLDiversity(2.2, "pay"), DeltaDisclosure(1.5, "ill")],
        [KAnonymity(4), RecursiveCLDiversity(2, 2, "ill"), BetaLikeness(1.2, "pay")],
        [BetaLikeness(1.5, "pay", enhanced=True), TCloseness(0.25, "ill"), DistinctLDiversity(3, "ill")],
    ],
    ids=str,
)
def test_two_models_inside_a_search(people, models, cut):
    release = ht.anonymize(people, quasi_identifiers=["age", "zip"], models=models, method=ht.Mondrian(cut=cut))
    assert release.partition.n_classes > 3
    assert release.verify().passed
    finer = ht.anonymize(people, quasi_identifiers=["age", "zip"], models=models[:1], method=ht.Mondrian(cut=cut))
    assert not finer.partition.n_classes < release.partition.n_classes


def test_hierarchical_closeness_inside_a_search(people):
    table, _ = ht.Table.encode(people).collapse()
    ladder = ht.Hierarchy.build({"tree": {"sick": ["flu", "cold"], "well": ["none"]}}, table.column("ill"))
    levels = ladder.levels_with_missing()
    model = TCloseness(0.15, "ill", "hierarchical")
    found = search(ht.Mondrian(), table, ["age", "zip"], [model], hierarchies={"ill": ladder}).partition
    stats = found.stats(table, [model], hierarchies={"ill": levels})
    assert found.n_classes > 3
    assert model.passes(stats).all()


def test_a_population_inside_a_search(people):
    table = ht.Table.encode(people.select("age", "zip"))
    counts = np.array(table.counts)
    counts[::3] = 0
    union = ht.Table(table.columns, table.codes, counts)
    everyone = np.ones(len(people), dtype=np.int64)
    for model in (KMap(8), DeltaPresence(0.3, 0.75)):
        found = search(ht.Mondrian(), union, ["age", "zip"], [model], population=everyone).partition
        stats = found.stats(union, [model], population=everyone)
        assert stats.population.sum() == len(people)
        assert stats.sizes.sum() == counts.sum()
        assert (stats.sizes > 0).all()
        assert found.n_classes > 5
        assert model.passes(stats).all()


def test_a_population_is_split_as_its_records_are(people):
    """The intervals of two classes never overlap, also where only the population has a code."""
    table = ht.Table.encode(people.select("age"))
    counts = np.array(table.counts)
    counts[table.codes[0] % 2 == 0] = 0
    union = ht.Table(table.columns, table.codes, counts)
    everyone = np.ones(len(people), dtype=np.int64)
    found = search(ht.Mondrian(), union, ["age"], [KMap(5)], population=everyone).partition
    ends = sorted((table.codes[0][rows].min(), table.codes[0][rows].max()) for rows in _members(found))
    assert len(ends) > 5
    assert all(high < low for (_, high), (low, _) in pairwise(ends))


@pytest.mark.parametrize("recoding", ["tight", "cut"])
@pytest.mark.parametrize("model", [KMap(6), DeltaPresence(0.1, 0.5)])
def test_anonymize_with_a_population(people, model, recoding):
    """Counted again from the published cells: which people each class's intervals and sets cover."""
    quasi_identifiers = ["age", "zip"]
    data = people.filter(pl.col("age") % 3 == 0).sort("age", descending=True)
    method = ht.Mondrian(recoding=recoding)
    release = ht.anonymize(data, quasi_identifiers=quasi_identifiers, models=[model], population=people, method=method)
    assert release.partition.n_classes > 5
    assert release.frame.height == data.height
    table = ht.Table.encode(people, quasi_identifiers)
    union = data.select(quasi_identifiers).vstack(people.select(quasi_identifiers))
    assert sorted(set(union["zip"])) == release.recoding.columns[1].values.tolist()
    counts = []
    for label in range(release.partition.n_classes):
        ages, zips = release.recoding.cells
        low, high = ages.low[label], ages.high[label]
        held = zips.codes[zips.offsets[label] : zips.offsets[label + 1]]
        counts.append(int(((table.codes[0] >= low) & (table.codes[0] <= high) & np.isin(table.codes[1], held)).sum()))
    stats = stats_of(sizes=release.partition.sizes, population=counts)
    assert sum(counts) <= len(people)
    assert model.passes(stats).all()


@pytest.mark.parametrize(("models", "population"), [([KMap(2)], False), ([KAnonymity(2)], True)])
def test_a_population_goes_with_a_model_that_counts_it(people, models, population):
    given = {"population": people} if population else {}
    with pytest.raises(ht.InputError, match="population"):
        ht.anonymize(people, quasi_identifiers=["age"], models=models, **given)


def test_a_population_of_another_kind(people):
    texts = people.with_columns(pl.col("age").cast(pl.String) + "y")
    with pytest.raises(ht.ColumnError, match="'age' is integer in the data and category in the population"):
        ht.anonymize(people, quasi_identifiers=["age"], models=[KMap(2)], population=texts)


def _members(partition: Partition):
    return [partition.rows[a:b] for a, b in pairwise(partition.offsets)]


def test_the_infeasible_says_what_is_reached(people):
    with pytest.raises(InfeasibleError, match=r"entropy-l-diversity .* reaches 2\.7761 \(higher is safer\)"):
        ht.anonymize(people, quasi_identifiers=["age"], models=[EntropyLDiversity(3, "ill")])


def test_the_verifier_names_the_worst_value():
    table = pl.DataFrame({"a": [1] * 4 + [2] * 4, "s": ["x", "x", "x", "x", "x", "x", "y", "z"]})
    verdict = ht.verify(
        table, quasi_identifiers=["a"], models=[AlphaKAnonymity(0.4, 2, "s"), EntropyLDiversity(3, "s")]
    )
    assert [failure.worst for failure in verdict.failures] == pytest.approx([1.0, 1.0])


def test_the_verifier_orders_numbers():
    table = pl.DataFrame({"a": [1, 1, 2, 2], "s": ["9", "9", "10", "11"]})
    verdict = ht.verify(table, quasi_identifiers=["a"], models=[TCloseness(0.3, "s")])
    assert verdict.failures[0].worst == pytest.approx(0.375)
