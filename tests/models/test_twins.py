"""Every model against its slow twin, its rule against its judgement, and what it says of itself against the facts."""

import math

import numpy as np
import pytest
from by_hand import added, stats_of, totals_of
from hypothesis import given, strategies as st

from hushtable.anonymizers.judging import _stack_tables
from hushtable.kernels import judge
from hushtable.models import (
    MODELS,
    AlphaKAnonymity,
    BetaLikeness,
    ClassStats,
    DeltaDisclosure,
    DeltaPresence,
    DistinctLDiversity,
    EntropyLDiversity,
    Ground,
    HistoryModel,
    KAnonymity,
    KMap,
    RecursiveCLDiversity,
    TCloseness,
)
from hushtable.models.matching import MatchingNotion
from twins import naive

# Eighths are exact in binary: where a bound is met exactly, the slow twin sees it too.
EIGHTHS = st.integers(1, 40).map(lambda n: n / 8)
SHARES = st.integers(1, 8).map(lambda n: n / 8)
WHOLE = st.integers(1, 4)
HELD = st.dictionaries(st.integers(-1, 5), st.integers(1, 4), min_size=1, max_size=6)
# Small numbers of few values, too, so that classes which hold all values are not rare.
FULL = st.fixed_dictionaries({-1: st.integers(1, 4), 0: st.integers(1, 4), 1: st.integers(1, 4)})
CLASSES = st.lists(HELD, min_size=1, max_size=5) | st.lists(FULL, min_size=2, max_size=4)

ABOUT_VALUES = {
    "alpha-k-anonymity": st.builds(AlphaKAnonymity, SHARES, WHOLE, st.just("s")),
    "distinct-l-diversity": st.builds(DistinctLDiversity, WHOLE, st.just("s")),
    "entropy-l-diversity": st.builds(EntropyLDiversity, EIGHTHS.filter(lambda number: number >= 1), st.just("s")),
    "recursive-c-l-diversity": st.builds(RecursiveCLDiversity, EIGHTHS, WHOLE, st.just("s")),
    "t-closeness": st.builds(TCloseness, SHARES, st.just("s"), st.sampled_from(["equal", "ordered", "hierarchical"])),
    "beta-likeness": st.builds(BetaLikeness, EIGHTHS, st.just("s"), st.booleans()),
    "delta-disclosure": st.builds(DeltaDisclosure, EIGHTHS, st.just("s")),
}
ABOUT_SIZES = {
    "k-anonymity": st.builds(KAnonymity, WHOLE),
    "k-map": st.builds(KMap, WHOLE),
    "delta-presence": st.tuples(st.integers(0, 8), st.integers(0, 8)).map(
        lambda n: DeltaPresence(min(n) / 8, max(n) / 8)
    ),
}
EVERY = {**ABOUT_VALUES, **ABOUT_SIZES}


def test_every_model_is_tested_here():
    # Matching notions have their twins in test_matching, models of histories theirs in claims/test_histories.
    others = (MatchingNotion, HistoryModel)
    assert set(EVERY) == {name for name, model in MODELS.items() if not issubclass(model, others)}


@st.composite
def ladders(draw, n_codes=7):
    """A hierarchy of all codes from -1 on: leaves in any order, some merging levels, one node."""
    levels = [draw(st.permutations(range(n_codes)))]
    for _ in range(draw(st.integers(0, 2))):
        n_nodes = max(levels[-1]) + 1
        parents = draw(st.lists(st.integers(0, n_nodes - 1), min_size=n_nodes, max_size=n_nodes))
        dense = {parent: place for place, parent in enumerate(sorted(set(parents)))}
        levels.append([dense[parents[node]] for node in levels[-1]])
    return [*levels, [0] * n_codes]


def twin(model, held, whole, size, population, levels):
    match model:
        case KAnonymity():
            return naive.k_anonymous(size, model.k)
        case AlphaKAnonymity():
            return naive.alpha_k(held, size, model.alpha, model.k)
        case KMap():
            return naive.k_map(size, population, model.k)
        case DeltaPresence():
            return naive.delta_presence(size, population, model.low, model.high)
        case DistinctLDiversity():
            return naive.distinct_l(held, model.l)
        case EntropyLDiversity():
            return naive.entropy_l(held, model.l)
        case RecursiveCLDiversity():
            return naive.recursive_cl(held, model.c, model.l)
        case TCloseness(ground="hierarchical"):
            ladder = [{code: nodes[code + 1] for code in range(-1, 6)} for nodes in levels]
            return naive.distance_hierarchical(held, whole, ladder) <= model.t
        case TCloseness():
            return naive.t_closeness(held, whole, model.t, model.ground)
        case BetaLikeness():
            return naive.beta_likeness(held, whole, model.beta, model.enhanced)
        case DeltaDisclosure():
            return naive.delta_disclosure(held, whole, model.delta)


def statistics(classes, rest, levels, population=None):
    """Make statistics of classes, where some records of the whole (``rest``) are in none of them."""
    whole = added([*classes, rest])
    padded = np.zeros(7, dtype=np.int64)
    padded[: len(totals_of(whole))] = totals_of(whole)
    made = stats_of(classes, population=population)
    grounds = {"s": Ground(True, np.array(levels, dtype=np.int32))}
    return ClassStats(made.sizes, made.histograms, {"s": padded}, made.population, grounds), whole


@pytest.mark.parametrize("name", EVERY)
@given(data=st.data(), classes=CLASSES, rest=st.just({}) | HELD, levels=ladders())
def test_passes_is_the_slow_twin(name, data, classes, rest, levels):
    model = data.draw(EVERY[name])
    population = data.draw(st.lists(st.integers(0, 20), min_size=len(classes), max_size=len(classes)))
    stats, whole = statistics(classes, rest, levels, population)
    expected = [
        twin(model, held, whole, sum(held.values()), people, levels)
        for held, people in zip(classes, population, strict=True)
    ]
    assert model.passes(stats).tolist() == expected


@pytest.mark.parametrize("name", EVERY)
@given(data=st.data(), classes=CLASSES, rest=st.just({}) | HELD, levels=ladders())
def test_the_rule_judges_as_passes(name, data, classes, rest, levels):
    model = data.draw(EVERY[name])
    population = data.draw(st.lists(st.integers(0, 20), min_size=len(classes), max_size=len(classes)))
    stats, whole = statistics(classes, rest, levels, population)
    rule = model.rule(stats.totals, stats.grounds)
    rules = judge.Rules(
        np.array([rule.kind]),
        np.array([0]),
        np.array([rule.threshold]),
        np.array([rule.second]),
        np.array([max(whole) + 2]),
        _stack_tables([rule.table]),
    )
    found, nodes = [], rules.allocate_nodes()
    for held, people in zip(classes, population, strict=True):
        counts = np.array([[held.get(code, 0) for code in range(-1, 6)]])
        n_held = np.array([sum(code >= 0 for code in held)])
        found.append(bool(judge.passes(rules, sum(held.values()), people, counts, n_held, nodes)))
    assert found == model.passes(stats).tolist()


@pytest.mark.parametrize("name", EVERY)
@given(data=st.data(), classes=CLASSES, rest=st.just({}) | HELD, levels=ladders())
def test_merging_classes_that_pass_keeps_a_monotone_model(name, data, classes, rest, levels):
    model = data.draw(EVERY[name])
    assert model.monotone_coarsening
    population = data.draw(st.lists(st.integers(0, 20), min_size=len(classes), max_size=len(classes)))
    stats, _ = statistics(classes, rest, levels, population)
    passed = model.passes(stats)
    merged = added([held for held, good in zip(classes, passed, strict=True) if good])
    if not merged:
        return
    people = int(stats.population[passed].sum())
    one = stats_of([merged], population=[people])
    assert model.passes(ClassStats(one.sizes, one.histograms, stats.totals, one.population, stats.grounds)).all()


@pytest.mark.parametrize("name", EVERY)
@given(data=st.data(), classes=CLASSES, levels=ladders(), gone=st.integers(0, 4))
def test_suppressing_a_class_keeps_a_monotone_model(name, data, classes, levels, gone):
    """A suppressed class holds no record any more; its people stay in the population."""
    model = data.draw(EVERY[name])
    gone = min(gone, len(classes) - 1)
    population = data.draw(st.lists(st.integers(0, 20), min_size=len(classes), max_size=len(classes)))
    stats, _ = statistics(classes, {}, levels, population)
    passed = model.passes(stats)
    left = [held for place, held in enumerate(classes) if place != gone]
    after = stats_of(left, population=[n for place, n in enumerate(population) if place != gone])
    kept = model.passes(ClassStats(after.sizes, after.histograms, stats.totals, after.population, stats.grounds))
    assert kept.tolist() == np.delete(passed, gone).tolist()
    if model.needs.population and model.monotone_suppression:
        emptied = stats_of([{}], population=[population[gone]])
        assert model.passes(emptied).all()


def test_delta_presence_does_not_survive_suppression():
    assert not DeltaPresence.monotone_suppression
    assert DeltaPresence(0.1, 0.5).passes(stats_of(sizes=[1], population=[4])).all()
    assert not DeltaPresence(0.1, 0.5).passes(stats_of(sizes=[0], population=[4])).any()


@pytest.mark.parametrize("name", EVERY)
@given(data=st.data(), classes=CLASSES, levels=ladders())
def test_the_measure_is_what_is_bounded(name, data, classes, levels):
    model = data.draw(EVERY[name])
    population = data.draw(st.lists(st.integers(1, 20), min_size=len(classes), max_size=len(classes)))
    stats, _ = statistics(classes, {}, levels, population)
    measured, passed = model.measure(stats), model.passes(stats)
    assert measured.dtype == np.float64
    assert not np.isnan(measured).any()
    if name != "delta-presence" and passed.any() and not passed.all():
        worse, better = measured[~passed], measured[passed]
        if model.higher_is_safer:
            assert worse.max() < better.min()
        else:
            assert worse.min() > better.max()


@pytest.mark.parametrize("name", EVERY)
@given(data=st.data(), classes=CLASSES, levels=ladders())
def test_classes_that_pass_reach_the_smallest_size(name, data, classes, levels):
    model = data.draw(EVERY[name])
    stats, _ = statistics(classes, {}, levels, [9] * len(classes))
    assert (stats.sizes[model.passes(stats)] >= model.min_size).all()


@given(CLASSES, ladders())
def test_the_hierarchical_distance_is_the_papers(classes, levels):
    stats, whole = statistics(classes, {}, levels)
    ladder = [{code: nodes[code + 1] for code in range(-1, 6)} for nodes in levels]
    found = TCloseness(0.5, "s", "hierarchical").measure(stats)
    assert found == pytest.approx([naive.distance_hierarchical(held, whole, ladder) for held in classes], abs=1e-12)


@given(CLASSES, HELD)
def test_the_distances_are_the_slow_twins(classes, rest):
    stats, whole = statistics(classes, rest, [[0] * 7])
    for ground, distance in (("equal", naive.distance_equal), ("ordered", naive.distance_ordered)):
        found = TCloseness(0.5, "s", ground).measure(stats)
        assert found == pytest.approx([distance(held, whole) for held in classes], abs=1e-12)


@given(CLASSES)
def test_entropy_is_shannons(classes):
    stats = stats_of(classes)
    for measured, held in zip(EntropyLDiversity(2, "s").measure(stats), classes, strict=True):
        known = naive.known_counts(held)
        shares = [count / sum(known) for count in known]
        assert measured == pytest.approx(math.exp(-sum(p * math.log(p) for p in shares)) if known else 0.0)
