"""Scores of what classes give away against their slow twins and known faults.

The faults are those of the library that goes with the source: Simões, Vilela, Santos, Abreu, QIDLearningLib.
"""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from score_cases import PEOPLE, SENSITIVE_TWINS, SET, VARIANTS, approx, cases, check_same, counted

import hushtable as ht
from hushtable.discover import scores
from hushtable.errors import HushError, InputError
from hushtable.tables.table import Table
from twins import naive_scores as naive


@given(cases())
def test_privacy_scores_are_those_of_the_slow_twins(case):
    for function, twin in SENSITIVE_TWINS.values():
        check_same(function(case), twin(case), case)


@given(
    cases(),
    st.sampled_from(["emd", "kl", "total_variation", "jensen_shannon"]),
    st.sampled_from(["auto", "equal"]),
    st.sampled_from(VARIANTS),
)
def test_t_closeness_is_that_of_the_slow_twin(case, distance, ground, variant):
    words = {"distance": distance, "ground": ground, "variant": variant}
    score = scores.t_closeness(case.data, case.columns, sensitive=case.other, **words)
    twin = naive.t_closeness(case.records, case.columns, case.other, order=case.orders[case.other], **words)
    check_same(score, twin, case)


@given(cases(missing=False), st.data())
def test_delta_presence_is_that_of_the_slow_twin(case, data):
    table = case.data if isinstance(case.data, Table) else Table.encode(case.data)
    counts = data.draw(st.lists(st.integers(0, 3), min_size=table.n_rows, max_size=table.n_rows))
    rows = table.decode().to_dicts()
    people = [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]
    kept = [i for i, count in enumerate(counts) if count]
    if not kept:
        return
    part = table.take(np.array(kept))
    population = Table(part.columns, part.codes, np.array([counts[i] for i in kept], np.int64))
    ours = data.draw(st.lists(st.integers(0, table.n_rows - 1), min_size=1, unique=True))
    here = table.take(np.array(ours))
    records = [rows[i] for i in ours for _ in range(int(table.counts[i]))]
    score = scores.delta_presence(here, case.columns, population=population)
    twin = naive.delta_presence(records, case.columns, people)
    assert score.value == twin.value
    # Classes go by first appearance, those of the table first.
    assert score.values.tolist() == list(twin.values.values())
    assert score.sizes.tolist() == list(twin.sizes.values())


def test_kl_is_of_the_class_from_the_whole_in_nats():
    people = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["flu", "flu", "flu", "hiv"]})
    score = scores.t_closeness(people, ["sex"], sensitive="ill", distance="kl")
    both = 0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25)
    assert score.values.tolist() == approx([math.log(1 / 0.75), both])
    assert score.unit == "nats"
    paper = scores.t_closeness(people, ["sex"], sensitive="ill", variant="paper", distance="emd")
    assert paper.value == approx((math.log(1 / 0.75) + both) / 2)


def test_t_closeness_moves_ranks_and_takes_the_farthest_class():
    # The example of Li, Li, Venkatasubramanian: of salaries 3k to 11k, {3k, 4k, 5k} is 0.375 away, {6k, 8k, 11k} 0.167.
    salaries = pl.DataFrame({"zip": list("aaabcbccb"), "salary": list(range(3, 12))})
    score = scores.t_closeness(salaries, ["zip"], sensitive="salary")
    assert score.values.round(3).tolist() == [0.375, 0.167, 0.236]
    assert score.value == approx(0.375)


def test_ordered_ground_of_a_declared_order_is_not_alphabetical():
    levels = pl.Enum(["low", "mid", "high"])
    people = pl.DataFrame({"sex": ["f", "m", "m"], "risk": pl.Series(["low", "mid", "high"], dtype=levels)})
    score = scores.t_closeness(people, ["sex"], sensitive="risk")
    assert score.values.tolist() == approx([0.5, 0.25])


def test_generalization_ratio_of_the_paper_is_twice_the_total_variation():
    ours = scores.t_closeness(PEOPLE, SET, sensitive="ill", distance="total_variation")
    paper = scores.generalization_ratio(PEOPLE, SET, sensitive="ill", variant="paper")
    assert paper.values.tolist() == approx((2 * ours.values).tolist())
    assert scores.generalization_ratio(PEOPLE, SET, sensitive="ill").summary()["max"] == approx(ours.value)


def test_delta_presence_is_about_a_population():
    ill = pl.DataFrame({"age": [31, 31, 60, 99]})
    town = pl.DataFrame({"age": [31, 31, 31, 31, 60, 45]})
    score = scores.delta_presence(ill, ["age"], population=town)
    assert score.values.tolist() == [0.5, 1.0, math.inf, 0.0]
    with pytest.raises(InputError, match="population"):
        scores.delta_presence(ill, ["age"])
    with pytest.raises(InputError, match="sensitive"):
        scores.delta_presence(ill, ["age"], variant="paper")


def test_delta_presence_reads_the_counts_of_both_tables():
    ill = counted(pl.DataFrame({"age": [31, 60]}), [2, 3])
    town = counted(pl.DataFrame({"age": [60, 31]}), [3, 8])
    assert scores.delta_presence(ill, ["age"], population=town).values.tolist() == [0.25, 1.0]


@pytest.mark.parametrize("as_table", [False, True], ids=["frame", "table"])
def test_several_sensitive_columns_at_once_are_refused_and_not_pooled(as_table):
    with pytest.raises(InputError):
        scores.t_closeness(Table.encode(PEOPLE) if as_table else PEOPLE, SET, sensitive=["ill", "pay"])


@pytest.mark.parametrize("ground", ["ordered", "hierarchical"])
def test_a_ground_that_the_column_does_not_have_is_refused(ground):
    with pytest.raises(HushError, match="ill"):
        scores.t_closeness(PEOPLE, SET, sensitive="ill", ground=ground)


@pytest.mark.parametrize("l", [0, -1, 1.5])
def test_an_l_out_of_range_is_refused(l):  # noqa: E741
    with pytest.raises(InputError):
        scores.l_diversity(PEOPLE, SET, sensitive="ill", kind="recursive", l=l)


def test_t_closeness_takes_a_hierarchy_of_the_sensitive_column():
    people = pl.DataFrame({"q": [1, 2, 3], "ill": ["J10", "J11", "B20"]})
    words = {"sensitive": "ill", "ground": "hierarchical"}
    found = scores.t_closeness(people, ["q"], **words, hierarchy=ht.Hierarchy.prefix(1))
    # Two thirds of the records move: within a branch (height 1 of 2), or a half of them, to the other one (2 of 2).
    assert found.values.tolist() == approx([1 / 2, 1 / 2, 2 / 3])
    assert scores.t_closeness(people, ["q"], sensitive="ill").values.tolist() == approx([2 / 3] * 3)
    with pytest.raises(InputError, match="no hierarchy"):
        scores.t_closeness(people, ["q"], **words)


def test_a_class_without_any_known_value_is_not_diverse_at_all():
    people = pl.DataFrame({"q": [1, 1, 2, 2], "ill": ["flu", "hiv", None, None]})
    for kind, expected in (("distinct", 0.0), ("entropy", 0.0), ("recursive", math.inf)):
        assert scores.l_diversity(people, ["q"], sensitive="ill", kind=kind).values[1] == expected


def test_sizes_of_delta_presence_are_the_population_or_the_records_where_those_are_more():
    ill, town = pl.DataFrame({"age": [31, 60, 60]}), pl.DataFrame({"age": [31, 31, 60, 45]})
    assert scores.delta_presence(ill, ["age"], population=town).sizes.tolist() == [2, 2, 1]
