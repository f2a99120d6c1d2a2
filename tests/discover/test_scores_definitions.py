"""Scores of column sets (identity, privacy, utility) against their slow twins, the source's table 3, and known faults.

The faults are those of the library that goes with the source: Simões, Vilela, Santos, Abreu, QIDLearningLib.
"""

import dataclasses
import datetime as dt
import json
import math
from fractions import Fraction
from functools import partial

import naive_definitions as naive
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from score_cases import approx, cases, check_same, counted

from hushtable.discover import scores
from hushtable.errors import ColumnError, HushError, InputError
from hushtable.partition import Partition
from hushtable.table import Table

MEASURED = ("integer", "decimal", "date")
VARIANTS = ("definition", "paper")

# The ten records of the source's table 3.
TABLE_3 = pl.DataFrame(
    {
        "Age": [34, 28, 45, 34, 29, 60, 34, 41, 54, 39],
        "Gender": list("MFFMMFMFFM"),
        "Diagnosis": ["Hypertension" if kind == "H" else "Diabetes" for kind in "HDHDHHDHDH"],
        "Treatment": list("ABABAABABA"),
        "Outcome": ["Improved" if better == "1" else "Not Improved" for better in "1011011010"],
    }
)

# For every score: how it is called on a table like PEOPLE, and how it is named in the messages.
PEOPLE = pl.DataFrame(
    {
        "age": [31, 31, None, 52, 52, 60, 31, None, 60, 60, 44, 44],
        "sex": ["f", "f", "m", "m", None, "f", "f", "m", "f", "f", "m", "m"],
        "zip": ["01067", "01067", "53111", "53111", "8010", "8010", "01067", "53111", None, "8010", "01067", "8010"],
        "born": [dt.date(1990 + i % 5, 1, 1 + i % 3) for i in range(12)],
        "pay": [10.5, 20.25, 20.25, None, 30.0, 10.5, 10.5, 1.75, 0.0, 30.0, None, 20.25],
        "ill": ["flu", "hiv", "flu", None, "flu", "cold", "flu", "hiv", "cold", None, "flu", "hiv"],
        "arm": ["A", "B", "A", "A", "B", "B", "A", None, "B", "A", "A", "B"],
    }
)
SET = ["age", "sex"]
ILL, PAY = {"sensitive": "ill"}, {"target": "pay"}
BY_CLASS = {
    "distinction": scores.distinction,
    "separation": scores.separation,
    "k": scores.k_anonymity,
    "k, paper": partial(scores.k_anonymity, variant="paper"),
    "entropy": scores.group_entropy,
    "entropy, paper": partial(scores.group_entropy, variant="paper"),
    "distinct l": partial(scores.l_diversity, **ILL),
    "entropy l": partial(scores.l_diversity, kind="entropy", **ILL),
    "recursive l": partial(scores.l_diversity, kind="recursive", **ILL),
    "l, paper": partial(scores.l_diversity, variant="paper", **ILL),
    "t": partial(scores.t_closeness, **ILL),
    "t, ordered": partial(scores.t_closeness, sensitive="pay"),
    "t, kl": partial(scores.t_closeness, distance="kl", **ILL),
    "t, tv": partial(scores.t_closeness, distance="total_variation", **ILL),
    "t, js": partial(scores.t_closeness, distance="jensen_shannon", **ILL),
    "t, paper": partial(scores.t_closeness, variant="paper", **ILL),
    "delta": lambda data, columns, **words: scores.delta_presence(data, columns, population=data, **words),
    "delta, paper": partial(scores.delta_presence, variant="paper", **ILL),
    "ratio": partial(scores.generalization_ratio, **ILL),
    "ratio, paper": partial(scores.generalization_ratio, variant="paper", **ILL),
    **{
        f"{name}{', paper' if variant == 'paper' else ''}": partial(function, variant=variant, **PAY)
        for variant in VARIANTS
        for name, function in {
            "mse": scores.mean_squared_error,
            "accuracy": scores.accuracy,
            "range": scores.value_range,
            "distinct": scores.distinct_values,
            "completeness": scores.completeness,
            "gain": scores.information_gain,
            "corrected gain": partial(scores.information_gain, corrected=True),
            "gini": scores.gini,
        }.items()
    },
}
PENALTY = {"penalty": scores.attribute_length_penalty}
ARMS = {"treatment": "arm", "treated": "A"}
BY_COLUMN = {
    "shift": partial(scores.covariate_shift, **ARMS),
    "shift, paper": partial(scores.covariate_shift, variant="paper", **ARMS),
    "balance": partial(scores.balance, **ARMS),
    "balance, t": partial(scores.balance, statistic="t", **ARMS),
    "balance, paper": partial(scores.balance, variant="paper", **ARMS),
    "overlap": partial(scores.propensity_overlap, **ARMS),
    "overlap, paper": partial(scores.propensity_overlap, variant="paper", **ARMS),
}
ALL = {**BY_CLASS, **PENALTY, **BY_COLUMN}
every = pytest.mark.parametrize("score", [pytest.param(call, id=name) for name, call in ALL.items()])

TWINS = {
    "distinction": (scores.distinction, naive.distinction),
    "separation": (scores.separation, naive.separation),
    **{f"k, {v}": (partial(scores.k_anonymity, variant=v), partial(naive.k_anonymity, variant=v)) for v in VARIANTS},
    **{
        f"entropy, {v}": (partial(scores.group_entropy, variant=v), partial(naive.group_entropy, variant=v))
        for v in VARIANTS
    },
}


def twins_of_one_column(function, twin, word, **options):
    """Both with the other column put in."""
    return (
        lambda case: function(case.data, case.columns, **{word: case.other}, **options),
        lambda case: twin(case.records, case.columns, case.other, **options),
    )


SENSITIVE_TWINS = {
    **{
        f"{kind} l={rank}, {v}": twins_of_one_column(
            scores.l_diversity, naive.l_diversity, "sensitive", kind=kind, l=rank, variant=v
        )
        for v in VARIANTS
        for kind, rank in [("distinct", 2), ("entropy", 2), ("recursive", 1), ("recursive", 2), ("recursive", 3)]
    },
    **{
        f"ratio, {v}": twins_of_one_column(
            scores.generalization_ratio, naive.generalization_ratio, "sensitive", variant=v
        )
        for v in VARIANTS
    },
    "delta, paper": (
        lambda case: scores.delta_presence(case.data, case.columns, sensitive=case.other, variant="paper"),
        lambda case: naive.paper_delta_presence(case.records, case.columns, case.other),
    ),
}
TARGET_TWINS = {
    f"{name}, {v}": twins_of_one_column(getattr(scores, name), getattr(naive, name), "target", variant=v)
    for v in VARIANTS
    for name in ("accuracy", "distinct_values", "completeness", "gini", "information_gain")
}
TARGET_TWINS |= {
    f"corrected gain, {v}": twins_of_one_column(
        scores.information_gain, naive.information_gain, "target", corrected=True, variant=v
    )
    for v in VARIANTS
}
MEASURED_TWINS = {
    f"{name}, {v}": twins_of_one_column(getattr(scores, name), getattr(naive, name), "target", variant=v)
    for v in VARIANTS
    for name in ("mean_squared_error", "value_range")
}


@given(cases())
def test_identity_scores_are_those_of_the_slow_twins(case):
    for function, twin in TWINS.values():
        check_same(function(case.data, case.columns), twin(case.records, case.columns), case)
    penalty = scores.attribute_length_penalty(case.data, case.columns).value
    assert penalty == approx(naive.attribute_length_penalty(list(case.orders), case.columns))


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


@given(cases())
def test_utility_scores_are_those_of_the_slow_twins(case):
    for function, twin in TARGET_TWINS.values():
        check_same(function(case), twin(case), case)


@given(cases(kinds=MEASURED))
def test_utility_scores_of_numbers_and_dates_are_those_of_the_slow_twins(case):
    for function, twin in MEASURED_TWINS.values():
        check_same(function(case), twin(case), case)


@given(cases())
def test_the_gain_is_the_mutual_information(case):
    if naive.known(case.records, case.other):
        gain = scores.information_gain(case.data, case.columns, target=case.other).value
        assert gain == approx(naive.mutual_information(case.records, case.columns, case.other))


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


@given(cases(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_neither_the_order_of_rows_nor_that_of_columns_matters(case, random):
    table = case.data if isinstance(case.data, Table) else Table.encode(case.data)
    rows = list(range(table.n_rows))
    random.shuffle(rows)
    names = list(table.names)
    random.shuffle(names)
    mixed = table.take(np.array(rows)).select(names)
    columns = [name for name in names if name in case.columns]
    pairs = [
        (function(case), function(case._replace(data=mixed, columns=columns)))
        for function, _ in [*SENSITIVE_TWINS.values(), *TARGET_TWINS.values()]
    ]
    pairs += [(function(table, case.columns), function(mixed, columns)) for function, _ in TWINS.values()]
    pairs += [
        (
            scores.t_closeness(table, case.columns, sensitive=case.other, distance=distance),
            scores.t_closeness(mixed, columns, sensitive=case.other, distance=distance),
        )
        for distance in ("emd", "kl", "total_variation", "jensen_shannon")
    ]
    for one, two in pairs:
        assert one.value == approx(two.value), one.name
        assert sorted(one.values.tolist()) == approx(sorted(two.values.tolist())), one.name
        assert sorted(one.sizes.tolist()) == sorted(two.sizes.tolist())


@given(cases())
@settings(max_examples=40)
def test_scores_keep_within_their_bounds(case):
    n = len(case.records)
    here = (case.data, case.columns)
    assert 0 < scores.distinction(*here).value <= 1
    assert 0 <= scores.separation(*here).value <= 1
    for variant in VARIANTS:
        assert 1 <= scores.k_anonymity(*here, variant=variant).value <= n
    assert 0 <= scores.group_entropy(*here).value <= math.log2(n) + 1e-9
    assert 0.5 <= scores.attribute_length_penalty(*here).value <= 1
    sensitive = {"sensitive": case.other}
    for distance in ("emd", "total_variation", "jensen_shannon"):
        values = scores.t_closeness(*here, distance=distance, **sensitive).values
        assert ((values >= 0) & (values <= 1 + 1e-12)).all()
    assert (scores.t_closeness(*here, distance="kl", **sensitive).values >= 0).all()
    assert 0 <= scores.generalization_ratio(*here, **sensitive).value <= 1
    assert 0 <= scores.generalization_ratio(*here, variant="paper", **sensitive).value <= 2
    assert 0 <= scores.delta_presence(*here, variant="paper", **sensitive).value <= 1
    assert 0 <= scores.completeness(*here, target=case.other).value <= 1
    targets = naive.known(case.records, case.other)
    if targets:
        assert 0 < scores.accuracy(*here, target=case.other).value <= 1
        assert 0 <= scores.gini(*here, target=case.other).value < 1
        assert scores.distinct_values(*here, target=case.other).value >= 1
        gain = scores.information_gain(*here, target=case.other).value
        assert -1e-9 <= gain <= naive.entropy(targets) + 1e-9
        if case.orders[case.other] is not None and not isinstance(targets[0], str):
            assert 0 <= scores.value_range(*here, target=case.other).value <= 1


RISE = {
    "distinction": lambda case: scores.distinction(case.data, case.columns),
    "separation": lambda case: scores.separation(case.data, case.columns),
    "entropy": lambda case: scores.group_entropy(case.data, case.columns),
    "recursive l": lambda case: scores.l_diversity(case.data, case.columns, sensitive=case.other, kind="recursive"),
    **{
        f"t, {distance}": partial(
            lambda distance, case: scores.t_closeness(case.data, case.columns, sensitive=case.other, distance=distance),
            distance,
        )
        for distance in ("emd", "kl", "total_variation", "jensen_shannon")
    },
    "ratio": lambda case: scores.generalization_ratio(case.data, case.columns, sensitive=case.other),
    "accuracy": lambda case: scores.accuracy(case.data, case.columns, target=case.other),
    "gain": lambda case: scores.information_gain(case.data, case.columns, target=case.other),
}
FALL = {
    "k": lambda case: scores.k_anonymity(case.data, case.columns),
    "k, paper": lambda case: scores.k_anonymity(case.data, case.columns, variant="paper"),
    "distinct l": lambda case: scores.l_diversity(case.data, case.columns, sensitive=case.other),
    "entropy l": lambda case: scores.l_diversity(case.data, case.columns, sensitive=case.other, kind="entropy"),
    "distinct": lambda case: scores.distinct_values(case.data, case.columns, target=case.other),
    "gini": lambda case: scores.gini(case.data, case.columns, target=case.other),
    "mse": lambda case: scores.mean_squared_error(case.data, case.columns, target=case.other),
    "range": lambda case: scores.value_range(case.data, case.columns, target=case.other),
}


@given(cases(kinds=(*MEASURED, "constant")), st.data())
def test_a_further_column_never_makes_a_score_go_the_other_way(case, data):
    names = list(case.orders)
    more = case._replace(columns=list(dict.fromkeys([*case.columns, data.draw(st.sampled_from(names))])))
    is_measured = case.orders[case.other] is not None
    for name, score in RISE.items():
        assert not score(more).value < score(case).value - 1e-9, name
    for name, score in FALL.items():
        if is_measured or name not in ("mse", "range"):
            assert not score(more).value > score(case).value + 1e-9, name


@given(cases(), st.data())
def test_separation_gains_less_the_more_columns_there_are(case, data):
    names = list(case.orders)
    few = [name for name in case.columns if data.draw(st.booleans())]
    extra = data.draw(st.sampled_from(names))
    if extra in case.columns:
        return

    def gain(columns):
        with_extra, without = (scores.separation(case.data, chosen).value for chosen in ([*columns, extra], columns))
        return with_extra - without

    assert gain(few) >= gain(case.columns) - 1e-12


@pytest.mark.parametrize(
    ("columns", "n_classes", "smallest", "apart", "accuracy", "shift"),
    [
        (["Age", "Gender"], 8, 1, 42, 1, Fraction(13, 12)),
        (["Age", "Diagnosis"], 9, 1, 44, 1, Fraction(83, 60)),
        (["Gender", "Diagnosis"], 4, 2, 37, Fraction(7, 10), Fraction(13, 10)),
        (["Age", "Treatment"], 9, 1, 44, 1, Fraction(73, 60)),
        (["Gender", "Treatment"], 4, 2, 37, Fraction(7, 10), Fraction(13, 10)),
        (["Age", "Gender", "Treatment"], 9, 1, 44, 1, Fraction(73, 60)),
        (["Age", "Diagnosis", "Treatment"], 9, 1, 44, 1, Fraction(83, 60)),
        (["Gender", "Diagnosis", "Treatment"], 4, 2, 37, Fraction(7, 10), Fraction(13, 10)),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else "",
)
def test_table_3_of_the_source_has_these_values_and_not_those_of_its_table_4(
    columns, n_classes, smallest, apart, accuracy, shift
):
    assert scores.k_anonymity(TABLE_3, columns).value == smallest
    assert scores.k_anonymity(TABLE_3, columns, variant="paper").value == approx(10 / n_classes)
    assert scores.distinction(TABLE_3, columns).value == n_classes / 10
    assert scores.separation(TABLE_3, columns).value == approx(apart / 45)
    assert scores.accuracy(TABLE_3, columns, target="Outcome").value == approx(float(accuracy))
    arms = {"treatment": "Treatment", "treated": "A"}
    assert scores.covariate_shift(TABLE_3, columns, variant="paper", **arms).value == approx(float(shift))


def test_table_3_accuracy_over_classes_is_not_that_over_records():
    paper = scores.accuracy(TABLE_3, ["Gender", "Diagnosis"], target="Outcome", variant="paper")
    assert paper.value == approx((1 / 2 + 2 / 3 + 1 + 2 / 3) / 4)


def test_the_examples_of_the_source_for_distinction_and_separation():
    twice = pl.DataFrame({"A": [1, 2, 1, 2], "B": list("XYXY")})
    each_once = pl.DataFrame({"A": [1, 2, 1, 2], "B": list("XYYX")})
    assert scores.distinction(twice, ["A", "B"]).value == 0.5
    assert scores.separation(twice, ["A", "B"]).value == approx(2 / 3)
    assert scores.separation(each_once, ["A", "B"]).value == 1.0


def test_k_is_the_smallest_class_and_the_mean_class_size_is_1_over_distinction():
    assert scores.k_anonymity(PEOPLE, ["sex"]).value == 1
    mean = scores.k_anonymity(PEOPLE, SET, variant="paper").value
    assert mean == approx(1 / scores.distinction(PEOPLE, SET).value)


def test_records_with_a_missing_cell_are_counted():
    people = pl.DataFrame({"age": [31, 31, None, None], "sex": ["f", "f", "m", None]})
    for columns, sizes in ((["age"], [2, 2]), (["age", "sex"], [2, 1, 1])):
        assert scores.k_anonymity(people, columns).sizes.tolist() == sizes
        assert scores.separation(people, columns).sizes.sum() == 4


def test_entropy_does_not_depend_on_the_order_of_the_columns_nor_is_it_0_for_one_column():
    one, two = scores.group_entropy(PEOPLE, ["sex", "zip"]), scores.group_entropy(PEOPLE, ["zip", "sex"])
    assert one.value == approx(two.value)
    assert scores.group_entropy(PEOPLE, ["sex"]).value > 0
    assert scores.group_entropy(pl.DataFrame({"a": [1, 2, 3, 4]}), ["a"]).value == 2.0


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


def test_the_gain_weighs_classes_by_their_records():
    people = pl.DataFrame({"sex": ["f"] * 6 + ["m"], "ill": ["flu"] * 3 + ["hiv"] * 4})
    whole = naive.entropy(people["ill"].to_list())
    score = scores.information_gain(people, ["sex"], target="ill")
    assert score.values.tolist() == approx([whole - 1, whole])
    assert score.value == approx(whole - 6 / 7)
    assert scores.information_gain(people, ["sex"], target="ill", variant="paper").value == approx(whole - 0.5)


def test_a_key_gains_everything_unless_corrected():
    people = pl.DataFrame({"id": range(8), "ill": ["flu", "hiv"] * 4})
    assert scores.information_gain(people, ["id"], target="ill").value == approx(1.0)
    corrected = scores.information_gain(people, ["id"], target="ill", corrected=True)
    assert corrected.value == approx(1 - (8 - 8 - 2 + 1) / (16 * math.log(2)))


def test_a_class_without_any_target_is_left_out_and_no_error():
    people = pl.DataFrame({"sex": ["f", "f", "m"], "pay": [None, None, 3.0]})
    for name in ("mean_squared_error", "accuracy", "value_range", "distinct_values", "information_gain", "gini"):
        score = getattr(scores, name)(people, ["sex"], target="pay")
        assert (score.labels.tolist(), score.sizes.tolist()) == ([1], [1])
    assert scores.completeness(people, ["sex"], target="pay").values.tolist() == [0.0, 1.0]


def test_a_target_that_is_missing_everywhere_has_no_score_but_still_describes_itself():
    people = pl.DataFrame({"sex": ["f", "f", "m"], "pay": pl.Series([None] * 3, dtype=pl.Float64)})
    for name in ("mean_squared_error", "accuracy", "value_range", "distinct_values", "information_gain", "gini"):
        for variant in VARIANTS:
            score = getattr(scores, name)(people, ["sex"], target="pay", variant=variant)
            assert math.isnan(score.value)
            assert len(score.values) == 0
            assert math.isnan(score.mean)
            assert math.isnan(score.weighted_mean)
            assert score.name.split()[0] in repr(score)
            assert score.to_frame().shape == (0, 3)
            json.dumps([score.to_dict(), score.summary()["n"]], allow_nan=False)
            assert "<b>" in score._repr_html_()
            with pytest.raises(InputError):
                score.plot()


def test_the_mean_squared_error_is_about_dates_in_days_and_keeps_small_differences_of_large_numbers():
    moments = [dt.datetime(2024, 1, 1, 0, 0), dt.datetime(2024, 1, 1, 12, 0)]
    people = pl.DataFrame({"sex": ["f", "f"], "born": [dt.date(2000, 2, 28), dt.date(2000, 3, 1)], "seen": moments})
    people = people.with_columns(pl.Series("key", [10**9, 10**9 + 1]))
    for target, expected in (("born", 1.0), ("seen", 0.0625), ("key", 0.25)):
        assert scores.mean_squared_error(people, ["sex"], target=target).value == pytest.approx(expected, rel=1e-6)
    assert scores.value_range(people, ["sex"], target="born", variant="paper").value == 2.0


@pytest.mark.parametrize("name", ["mean_squared_error", "value_range"])
@pytest.mark.parametrize(
    "cells", [pl.Series(["a", "b"]), pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), pl.Series([True, False])]
)
def test_a_target_without_differences_is_refused(name, cells):
    people = pl.DataFrame({"sex": ["f", "m"], "grade": cells})
    with pytest.raises(ColumnError, match="grade"):
        getattr(scores, name)(people, ["sex"], target="grade")


def test_the_length_penalty_is_least_for_half_of_the_columns():
    names = PEOPLE.columns[:4]
    values = [scores.attribute_length_penalty(PEOPLE.select(names), names[:size]).value for size in range(5)]
    assert values == approx([1.0, 0.625, 0.5, 0.625, 1.0])


@pytest.mark.parametrize("columns", [[], ["a"], ["a", "b"]])
def test_one_record_is_enough(columns):
    one = pl.DataFrame({"a": [1], "b": ["x"]})
    assert scores.separation(one, columns).value == 1.0
    assert scores.distinction(one, columns).value == 1.0
    assert scores.group_entropy(one, columns).value == 0.0
    assert scores.t_closeness(one, columns, sensitive="b").value == 0.0
    assert scores.information_gain(one, columns, target="b").value == 0.0
    assert scores.mean_squared_error(one, columns, target="a").value == 0.0


@every
def test_no_column_is_a_column_set(score):
    whole = score(PEOPLE, [])
    assert isinstance(whole.value, float)
    assert whole.part == "column" or len(whole.values) == 1


@every
def test_all_dataframes_a_path_and_a_table_give_the_same(score, tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    expected = score(PEOPLE, SET)
    for data in (
        PEOPLE.to_pandas(),
        PEOPLE.to_arrow(),
        tmp_path / "people.csv",
        str(tmp_path / "people.parquet"),
        Table.encode(PEOPLE),
    ):
        found = score(data, SET)
        assert found.value == expected.value
        assert found.values.tolist() == expected.values.tolist()
        assert found.sizes.tolist() == expected.sizes.tolist()
        assert found.labels.tolist() == expected.labels.tolist()
        assert (found.unit, found.direction, found.part) == (expected.unit, expected.direction, expected.part)


@every
def test_to_frame_is_of_the_library_that_came_in(score, tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    for data in (PEOPLE, PEOPLE.to_pandas(), PEOPLE.to_arrow()):
        assert type(score(data, SET).to_frame()) is type(data)
    for data in (tmp_path / "people.csv", Table.encode(PEOPLE)):
        made = score(data, SET).to_frame()
        assert isinstance(made, pl.DataFrame)
        found = score(data, SET)
        assert made.columns == [found.part, "size", "value"]
        assert made["value"].to_list() == found.values.tolist()
        assert made["size"].to_list() == found.sizes.tolist()


@every
def test_the_input_is_not_changed(score):
    frame = PEOPLE.to_pandas()
    before = frame.copy(deep=True)
    score(frame, SET)
    pd.testing.assert_frame_equal(frame, before)


@every
def test_a_shared_table_and_partition_give_the_same_values(score):
    table = Table.encode(PEOPLE)
    partition = Partition.of(table, SET)
    alone, shared = score(PEOPLE, SET), score(table, SET, partition=partition)
    assert (alone.value, alone.values.tolist()) == (shared.value, shared.values.tolist())


@every
def test_a_row_that_counts_three_is_three_rows(score):
    counts = [1 + i % 3 for i in range(len(PEOPLE))]
    rows = PEOPLE[np.repeat(np.arange(len(PEOPLE)), counts)]
    found, expected = score(counted(PEOPLE, counts), SET), score(rows, SET)
    assert found.value == approx(expected.value)
    assert found.values.tolist() == approx(expected.values.tolist())
    assert found.sizes.tolist() == expected.sizes.tolist()


@every
def test_every_score_says_what_it_is(score):
    found = score(PEOPLE, SET)
    assert found.direction in ("safer", "riskier", "better", "worse")
    assert found.unit
    assert found.part in ("class", "column", "whole")
    assert float(found) == found.value
    assert found.values.dtype == np.float64
    assert found.sizes.dtype == np.int64
    assert found.name in repr(found)
    assert found.direction in repr(found)
    assert len(repr(found)) < 200
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["name"] == found.name


@every
def test_a_score_is_frozen(score):
    found = score(PEOPLE, SET)
    for field in dataclasses.fields(found):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(found, field.name, None)
    for array in (found.labels, found.values, found.sizes):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = array


@every
def test_no_cell_is_shown(score):
    canary = "Zq7Xcanary"
    people = PEOPLE.with_columns(
        pl.col("sex").replace("f", f"{canary}<b>"), pl.col("ill").replace("flu", f"{canary}2").fill_null(canary)
    )
    found = score(people, SET)
    shown = [repr(found), json.dumps(found.to_dict()), found._repr_html_(), str(found.to_frame().to_dicts())]
    assert not [text for text in shown if canary in text]


@pytest.mark.parametrize(
    "columns", [["age", "Sex"], ["age", "age"], ["nobody"]], ids=["misspelt", "doubled", "unknown"]
)
@pytest.mark.parametrize("as_table", [False, True], ids=["frame", "table"])
@every
def test_columns_that_do_not_exist_or_come_twice_are_refused(score, columns, as_table):
    with pytest.raises(ColumnError, match=columns[-1]):
        score(Table.encode(PEOPLE) if as_table else PEOPLE, columns)


@pytest.mark.parametrize("as_table", [False, True], ids=["frame", "table"])
@every
def test_one_text_is_no_column_set(score, as_table):
    people = PEOPLE.rename({"age": "a", "sex": "s"})
    for text in ("a", "as"):
        with pytest.raises(ColumnError):
            score(Table.encode(people) if as_table else people, text)


@pytest.mark.parametrize("name", sorted({**BY_CLASS, **BY_COLUMN}))
def test_a_table_without_records_is_refused(name):
    with pytest.raises(InputError, match="no records"):
        ALL[name](PEOPLE[:0], SET)


def test_a_length_penalty_of_no_columns_at_all_is_refused():
    with pytest.raises(InputError):
        scores.attribute_length_penalty(pl.DataFrame(), [])


@pytest.mark.parametrize("name", sorted(BY_CLASS))
def test_a_partition_of_other_rows_is_refused(name):
    if name == "delta":
        pytest.skip("the definition reads the partition of both tables")
    other = Partition.of(Table.encode(PEOPLE[:5]), SET)
    with pytest.raises(InputError, match="partition"):
        BY_CLASS[name](PEOPLE, SET, partition=other)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        *[(function, {"variant": "article"}) for function in (scores.k_anonymity, scores.group_entropy)],
        *[
            (function, {**ILL, "variant": "article"})
            for function in (scores.l_diversity, scores.t_closeness, scores.delta_presence, scores.generalization_ratio)
        ],
        *[
            (getattr(scores, name), {**PAY, "variant": "article"})
            for name in (
                "mean_squared_error",
                "accuracy",
                "value_range",
                "distinct_values",
                "completeness",
                "information_gain",
                "gini",
            )
        ],
        *[
            (function, {**ARMS, "variant": "article"})
            for function in (scores.covariate_shift, scores.balance, scores.propensity_overlap)
        ],
        (scores.l_diversity, {**ILL, "kind": "enthropy"}),
        (scores.t_closeness, {**ILL, "distance": "euclid"}),
        (scores.t_closeness, {**ILL, "ground": "flat"}),
        (scores.balance, {**ARMS, "statistic": "z"}),
        (scores.propensity_overlap, {**ARMS, "model": "forest"}),
    ],
)
def test_words_that_are_not_known_are_refused(function, words):
    with pytest.raises(InputError, match=str(list(words.values())[-1])):
        function(PEOPLE, SET, **words)


@pytest.mark.parametrize("as_table", [False, True], ids=["frame", "table"])
@pytest.mark.parametrize(
    ("function", "word"),
    [
        (scores.l_diversity, "sensitive"),
        (scores.t_closeness, "sensitive"),
        (scores.generalization_ratio, "sensitive"),
        (partial(scores.delta_presence, variant="paper"), "sensitive"),
        (scores.accuracy, "target"),
        (scores.mean_squared_error, "target"),
        (scores.covariate_shift, "treatment"),
        (scores.balance, "treatment"),
    ],
)
def test_another_column_that_does_not_exist_is_refused(function, word, as_table):
    with pytest.raises(ColumnError, match="nobody"):
        function(Table.encode(PEOPLE) if as_table else PEOPLE, SET, **{word: "nobody"})


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


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_the_summary_is_that_of_scipy(sizes):
    table = counted(pl.DataFrame({"a": range(len(sizes))}), [1 + size for size in sizes])
    score = scores.k_anonymity(table, ["a"])
    values, found = 1.0 + np.array(sizes), score.summary()
    spread = float(((values - values.mean()) ** 2).mean())
    assert found["n"] == len(values)
    assert found["mean"] == score.mean == approx(float(values.mean()))
    assert found["weighted_mean"] == score.weighted_mean == approx(float((values * values).sum() / values.sum()))
    assert (found["variance"], found["sd"]) == approx((spread, math.sqrt(spread)))
    assert (found["min"], found["max"]) == (values.min(), values.max())
    for name, q in {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}.items():
        assert found[name] == approx(scipy.stats.scoreatpercentile(values, 100 * q))
    mode = scipy.stats.mode(values)
    assert (found["mode"], found["mode_count"]) == (mode.mode, mode.count)
    if len(set(sizes)) == 1:
        assert math.isnan(found["skewness"])
        assert math.isnan(found["kurtosis"])
    else:
        assert found["skewness"] == approx(float(scipy.stats.skew(values)))
        assert found["kurtosis"] == approx(float(scipy.stats.kurtosis(values)))


@pytest.mark.parametrize("n_alike", [0, 1, 2])
def test_a_summary_of_infinite_values_warns_of_nothing(n_alike):
    ill = ["flu", "flu", "hiv", "flu", "hiv", "flu"]
    people = pl.DataFrame({"sex": list("abbccc")[: 1 + 2 * n_alike], "ill": ill[: 1 + 2 * n_alike]})
    score = scores.l_diversity(people, ["sex"], sensitive="ill", kind="recursive")
    assert score.value == math.inf
    summary = score.summary()
    assert summary["max"] == math.inf
    assert json.dumps(score.to_dict(), allow_nan=False)
    two = pl.DataFrame({"sex": list("abcc"), "ill": ["flu", "flu", "flu", "hiv"]})
    assert scores.l_diversity(two, ["sex"], sensitive="ill", kind="recursive").summary()["min"] == 1.0
