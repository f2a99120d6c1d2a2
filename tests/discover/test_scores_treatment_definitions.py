"""Scores about a treatment, and causal importance, against their slow twins and known faults.

The faults are those of the library that goes with the source: Simões, Vilela, Santos, Abreu, QIDLearningLib.
"""

import datetime as dt
import math
import sys

import naive_definitions as naive
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from score_cases import approx, cases, check_same, counted

from hushtable.discover import scores
from hushtable.discover.scores.causal import CausalGraph, causal_graph
from hushtable.errors import ColumnError, InputError
from hushtable.table import Table

VARIANTS = ("definition", "paper")
STATISTICS = ("smd", "t", "variance_ratio")
TREATMENTS = (scores.covariate_shift, scores.balance, scores.propensity_overlap)
# Kinds whose values every caller can write as a Table's text of them.
PLAIN = ("integer", "date", "text", "flag", "ordered")


@st.composite
def treatments(draw, kinds=None, **options):
    """Draw a case whose other column has at least two values, and one of them."""
    case = draw(cases(kinds=kinds, **options))
    values = sorted(set(naive.known(case.records, case.other)), key=str)
    assume(len(values) > 1)
    return case, draw(st.sampled_from(values))


def words_of(case, treated):
    return {"treatment": case.other, "treated": treated}


@given(treatments(kinds=PLAIN), st.sampled_from(VARIANTS))
def test_covariate_shift_is_that_of_the_slow_twin(drawn, variant):
    case, treated = drawn
    score = scores.covariate_shift(case.data, case.columns, variant=variant, **words_of(case, treated))
    twin = naive.covariate_shift(case.records, case.columns, case.other, treated, orders=case.orders, variant=variant)
    assert score.value == approx(twin.value)
    assert score.labels.tolist() == case.columns
    assert score.values.tolist() == approx([twin.values[name] for name in case.columns])


@given(treatments(kinds=PLAIN), st.sampled_from(VARIANTS))
def test_propensity_overlap_is_that_of_the_slow_twin(drawn, variant):
    case, treated = drawn
    score = scores.propensity_overlap(case.data, case.columns, variant=variant, **words_of(case, treated))
    twin = naive.propensity_overlap(case.records, case.columns, case.other, treated, variant=variant)
    check_same(score, twin, case)


@given(treatments(kinds=PLAIN), st.sampled_from(STATISTICS))
def test_balance_is_that_of_the_slow_twin(drawn, statistic):
    case, treated = drawn
    score = scores.balance(case.data, case.columns, statistic=statistic, **words_of(case, treated))
    twin = naive.balance(case.records, case.columns, case.other, treated, orders=case.orders, statistic=statistic)
    assert score.labels.tolist() == case.columns
    assert score.values.tolist() == approx([twin[name] for name in case.columns])
    if not any(math.isnan(value) for value in twin.values()):
        assert score.value == approx(max(twin.values(), default=0.0))


@given(treatments(kinds=PLAIN))
def test_the_paper_s_balance_is_the_mean_of_signed_t(drawn):
    case, treated = drawn
    assume(case.columns)
    score = scores.balance(case.data, case.columns, variant="paper", **words_of(case, treated))
    twin = naive.balance(case.records, case.columns, case.other, treated, orders=case.orders, statistic="t")
    assert np.abs(score.values).tolist() == approx([twin[name] for name in case.columns])
    if np.isfinite(score.values).all():
        assert score.value == approx(float(score.values.mean()))


@given(treatments(kinds=PLAIN), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_that_of_columns_matters(drawn, random):
    case, treated = drawn
    table = case.data if isinstance(case.data, Table) else Table.encode(case.data)
    rows, names = list(range(table.n_rows)), list(table.names)
    random.shuffle(rows)
    random.shuffle(names)
    mixed = table.take(np.array(rows)).select(names)
    columns = [name for name in names if name in case.columns]
    for score in TREATMENTS:
        one = score(table, case.columns, **words_of(case, treated))
        two = score(mixed, columns, **words_of(case, treated))
        assert one.value == approx(two.value)
        assert np.sort(one.values) == approx(np.sort(two.values))
    # The paper's covariate shift knows the order of the columns, but not that of the rows.
    one, two = (
        scores.covariate_shift(data, case.columns, variant="paper", **words_of(case, treated)).value
        for data in (table, mixed)
    )
    assert one == approx(two)


@given(treatments(kinds=PLAIN), st.data())
def test_treatment_scores_keep_within_their_bounds_and_shift_never_falls(drawn, data):
    case, treated = drawn
    words = words_of(case, treated)
    shift = scores.covariate_shift(case.data, case.columns, **words).value
    assert 0 <= shift <= 1 + 1e-12
    assert 0 <= scores.covariate_shift(case.data, case.columns, variant="paper", **words).value <= 3
    for variant in VARIANTS:
        assert 0 <= scores.propensity_overlap(case.data, case.columns, variant=variant, **words).value <= 1
    for statistic in STATISTICS:
        least = 1 if statistic == "variance_ratio" else 0
        values = scores.balance(case.data, case.columns, statistic=statistic, **words).values
        assert (np.isnan(values) | (values >= least)).all()
    more = list(dict.fromkeys([*case.columns, data.draw(st.sampled_from(list(case.orders)))]))
    assert scores.covariate_shift(case.data, more, **words).value >= shift - 1e-12
    with_it = list(dict.fromkeys([*case.columns, case.other]))
    assert scores.covariate_shift(case.data, with_it, **words).value == approx(1.0)


@given(treatments(kinds=PLAIN))
def test_the_common_support_of_class_shares_is_the_classes_that_hold_both_arms(drawn):
    case, treated = drawn
    ones, others = naive.arms(case.records, case.other, treated)
    both = naive.classes(ones, case.columns).keys() & naive.classes(others, case.columns).keys()
    held = sum(tuple(record[name] for name in case.columns) in both for record in [*ones, *others])
    score = scores.propensity_overlap(case.data, case.columns, **words_of(case, treated))
    assert score.value == approx(held / (len(ones) + len(others)))


def test_one_column_s_shift_is_the_ks_statistic_of_scipy():
    rng = np.random.default_rng(7)
    ages, is_treated = rng.integers(20, 60, 80), rng.random(80) < 0.4
    people = pl.DataFrame({"age": ages, "arm": np.where(is_treated, "A", "B")})
    score = scores.covariate_shift(people, ["age"], treatment="arm", treated="A")
    assert score.values.tolist() == approx([scipy.stats.ks_2samp(ages[is_treated], ages[~is_treated]).statistic])


def test_one_column_s_t_is_welch_s_of_scipy():
    rng = np.random.default_rng(7)
    ages, is_treated = rng.integers(20, 60, 50), rng.random(50) < 0.3
    people = pl.DataFrame({"age": ages, "arm": np.where(is_treated, "A", "B")})
    welch = scipy.stats.ttest_ind(ages[is_treated], ages[~is_treated], equal_var=False).statistic
    words = {"treatment": "arm", "treated": "A"}
    assert scores.balance(people, ["age"], statistic="t", **words).value == approx(abs(welch))
    assert scores.balance(people, ["age"], variant="paper", **words).value == approx(welch)
    assert scores.balance(people, ["age"], variant="paper", treatment="arm", treated="B").value == approx(-welch)
    ratio = np.var(ages[is_treated], ddof=1) / np.var(ages[~is_treated], ddof=1)
    assert scores.balance(people, ["age"], statistic="variance_ratio", **words).value == approx(max(ratio, 1 / ratio))


def test_shift_reads_the_records_of_the_arms_and_not_the_first_rows():
    # The first two rows are alike in both columns; what differs between the arms comes after them.
    people = pl.DataFrame({"age": [1, 1, 1, 1, 9, 9], "arm": ["A", "B", "A", "A", "B", "B"]})
    words = {"treatment": "arm", "treated": "A"}
    assert scores.covariate_shift(people, ["age"], **words).value == approx(2 / 3)
    assert scores.covariate_shift(people[::-1], ["age"], **words).value == approx(2 / 3)
    assert scores.balance(people, ["age"], **words).value == scores.balance(people[::-1], ["age"], **words).value > 0


def test_arms_that_no_class_shares_are_no_error():
    people = pl.DataFrame({"age": [30, 40, 50, 60], "arm": ["A", "A", "B", "B"]})
    words = {"treatment": "arm", "treated": "A"}
    assert scores.covariate_shift(people, ["age"], **words).value == 1.0
    assert scores.covariate_shift(people, ["age"], variant="paper", **words).value == 2.0
    assert scores.propensity_overlap(people, ["age"], **words).value == 0.0
    assert scores.propensity_overlap(people, ["age"], variant="paper", **words).value == 1.0


def test_arms_that_are_alike_score_nothing():
    people = pl.DataFrame({"age": [30, 40] * 2, "arm": ["A", "A", "B", "B"]})
    words = {"treatment": "arm", "treated": "A"}
    for variant in VARIANTS:
        assert scores.covariate_shift(people, ["age"], variant=variant, **words).value == 0.0
        assert scores.balance(people, ["age"], variant=variant, **words).value == 0.0
    assert scores.balance(people, ["age"], statistic="variance_ratio", **words).value == 1.0
    assert scores.propensity_overlap(people, ["age"], **words).value == 1.0
    assert scores.propensity_overlap(people, ["age"], variant="paper", **words).value == 0.0


def test_a_constant_column_is_balanced_and_not_undefined():
    people = pl.DataFrame({"age": [30] * 4, "sex": ["f"] * 4, "arm": ["A", "A", "B", "B"]})
    for statistic, expected in (("smd", 0.0), ("t", 0.0), ("variance_ratio", 1.0)):
        score = scores.balance(people, ["age", "sex"], treatment="arm", statistic=statistic)
        assert score.values.tolist() == [expected, expected]


def test_arms_that_are_constant_and_differ_are_infinitely_far_apart():
    people = pl.DataFrame({"age": [30, 30, 30, 40], "arm": ["A", "A", "A", "B"]})
    for statistic in ("smd", "t"):
        assert scores.balance(people, ["age"], treatment="arm", statistic=statistic).value == math.inf


# Placed on [0, 1], a value may lie where the mean of n of it is another float: (span, value, n).
ODD_PLACES = [(5, 1, 3), (5, 2, 6), (9, 4, 7)]


@pytest.mark.parametrize(("span", "value", "n"), ODD_PLACES)
def test_arms_that_are_constant_and_differ_are_so_wherever_the_values_lie(span, value, n):
    people = pl.DataFrame({"age": [0, *[value] * n, span], "arm": [None, *["A"] * n, "B"]})
    for statistic in ("smd", "t"):
        assert scores.balance(people, ["age"], treatment="arm", statistic=statistic).value == math.inf


@pytest.mark.parametrize(("span", "value", "n"), ODD_PLACES)
def test_arms_that_are_constant_and_equal_are_balanced_wherever_the_value_lies(span, value, n):
    people = pl.DataFrame({"age": [0, *[value] * n, value, span], "arm": [None, *["A"] * n, "B", None]})
    for statistic, expected in (("smd", 0.0), ("t", 0.0), ("variance_ratio", 1.0)):
        assert scores.balance(people, ["age"], treatment="arm", statistic=statistic).value == expected


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_column_missing_in_one_arm_does_not_make_the_order_of_the_columns_matter(statistic):
    people = pl.DataFrame({"age": [None, None, 50, 60], "pay": [1, 2, 3, 5], "arm": ["A", "A", "B", "B"]})
    one, two = (
        scores.balance(people, columns, treatment="arm", statistic=statistic).value
        for columns in (["age", "pay"], ["pay", "age"])
    )
    assert one == approx(two)


def test_missing_cells_of_an_ordered_column_are_left_out_and_of_a_category_are_one_more():
    people = pl.DataFrame(
        {"age": [30, 40, None, 50, 60], "sex": [None, None, "f", "f", "f"], "arm": ["A", "A", "A", "B", "B"]}
    )
    kept = people.filter(pl.col("age").is_not_null())
    words = {"treatment": "arm"}
    assert scores.balance(people, ["age"], **words).value == approx(scores.balance(kept, ["age"], **words).value)
    two_thirds = [1.0, 1.0, 0.0]
    expected = naive.apart([naive.Fraction(x) for x in two_thirds], [naive.Fraction(0)] * 2, "smd")
    assert scores.balance(people, ["sex"], **words).value == approx(abs(expected))


def test_the_paper_s_t_keeps_its_sign_and_so_cancels():
    people = pl.DataFrame({"up": [1, 2, 3, 4], "down": [4, 3, 2, 1], "arm": ["A", "A", "B", "B"]})
    words = {"treatment": "arm", "treated": "A"}
    paper = scores.balance(people, ["up", "down"], variant="paper", **words)
    assert paper.value == approx(0.0)
    assert paper.values[0] == approx(-paper.values[1])
    assert paper.values[0] < 0
    assert scores.balance(people, ["up", "down"], **words).value > 1


def test_the_paper_s_t_of_infinities_that_cancel_is_undefined_and_no_warning():
    people = pl.DataFrame({"up": [1, 1, 2, 2], "down": [2, 2, 1, 1], "arm": ["A", "A", "B", "B"]})
    words = {"treatment": "arm", "treated": "A"}
    score = scores.balance(people, ["up", "down"], variant="paper", **words)
    assert score.values.tolist() == [-math.inf, math.inf]
    assert math.isnan(score.value)
    assert scores.balance(people, ["up", "down"], **words).value == math.inf


def test_propensity_is_of_the_treated_value_and_not_of_the_second():
    # Of six treatments, A is treated; the share of B must not be read in its place.
    people = pl.DataFrame({"sex": list("ffffmmmm"), "arm": list("AAABBCDE")})
    score = scores.propensity_overlap(people, ["sex"], treatment="arm", treated="A")
    assert score.values.tolist() == [0.75, 0.0]
    assert score.value == 0.5
    paper = scores.propensity_overlap(people, ["sex"], treatment="arm", treated="A", variant="paper")
    # Controls: one at 3/4, four at 0. All treated are at 3/4.
    assert paper.value == approx(0.75 - 0.15)


def test_the_paper_s_overlap_is_about_the_controls_mean_and_not_every_pair():
    people = pl.DataFrame({"sex": list("ffffmmmm"), "arm": list("ABBBAAAB")})
    score = scores.propensity_overlap(people, ["sex"], treatment="arm", treated="A", variant="paper")
    # Treated at 1/4, 3/4, 3/4, 3/4; controls the other way, with mean 3/8. Over every pair it would be 5/16.
    assert score.value == approx((1 / 8 + 3 * 3 / 8) / 4)
    assert score.direction != scores.propensity_overlap(people, ["sex"], treatment="arm", treated="A").direction


def test_records_without_a_treatment_are_in_neither_arm():
    people = pl.DataFrame({"age": [1, 2, 1, 2, 3], "arm": ["A", "A", "B", "B", None]})
    for score in TREATMENTS:
        for variant in VARIANTS:
            words = {"treatment": "arm", "treated": "A", "variant": variant}
            assert score(people, ["age"], **words).value == approx(score(people[:4], ["age"], **words).value)
    overlap = scores.propensity_overlap(people, ["age"], treatment="arm", treated="A")
    assert overlap.sizes.tolist() == [2, 2]


@pytest.mark.parametrize("outlier", [10**6, 10**13, 10**16])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_far_out_record_without_a_treatment_does_not_matter(outlier, statistic):
    people = pl.DataFrame({"pay": [1, 2, 2, 4, outlier], "arm": ["A", "A", "B", "B", None]})
    with_it, without = (
        scores.balance(data, ["pay"], treatment="arm", statistic=statistic).value for data in (people, people[:4])
    )
    assert with_it == approx(without)


def test_sizes_count_the_records_that_a_value_is_about():
    people = pl.DataFrame({"age": [1, 2, 1, 2, 3], "arm": ["A", "A", "B", "B", None]})
    for score in (scores.covariate_shift, scores.balance):
        assert score(people, ["age"], treatment="arm", treated="A").sizes.tolist() == [4]


def test_the_later_of_two_values_is_treated_when_none_is_given():
    grades = pl.Series(["high", "low", "high", "high"], dtype=pl.Enum(["low", "high"]))
    people = pl.DataFrame({"age": [1, 2, 3, 4], "arm": list("ABBA"), "grade": grades, "flag": [0, 1, 1, 0]})
    for treatment, later in (("arm", "B"), ("grade", "high"), ("flag", 1)):
        for variant in VARIANTS:
            words = {"treatment": treatment, "variant": variant}
            assert scores.balance(people, ["age"], **words).value == approx(
                scores.balance(people, ["age"], treated=later, **words).value
            )


@pytest.mark.parametrize(
    "values",
    [
        [0, 1],
        [False, True],
        [0.0, 1.0],
        [0.5, 1.5],
        ["A", "B"],
        [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
        [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 12, 30)],
    ],
    ids=lambda values: type(values[0]).__name__ + (" whole" if values[0] == 0.0 else ""),
)
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_treated_is_a_value_of_the_column_as_its_library_has_it(values, library):
    people = pl.DataFrame({"age": [1, 1, 2, 3], "arm": [values[0], values[0], values[1], values[1]]})
    data = people if library == "polars" else people.to_pandas()
    treated = people["arm"][0] if library == "polars" else data["arm"].iloc[0]
    score = scores.propensity_overlap(data, ["age"], treatment="arm", treated=treated)
    assert score.values.tolist() == [1.0, 0.0, 0.0]


def test_treated_of_whole_numbers_beside_missing_ones_in_pandas():
    people = pd.DataFrame({"age": [1, 1, 2, 3], "arm": [0, 0, 1, None]})
    score = scores.propensity_overlap(people, ["age"], treatment="arm", treated=people["arm"].iloc[0])
    assert score.values.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("score", TREATMENTS)
@pytest.mark.parametrize(
    ("arm", "treated", "expected"),
    [
        (["A", "B", "C", "A"], None, "not clear"),
        (["A", "A", "A", "A"], None, "not clear"),
        ([None] * 4, None, "not clear"),
        (["A", "B", "C", "A"], "Zq7Xcanary", "not in column"),
        (["A", "A", "A", None], "A", "control"),
    ],
    ids=["three", "one", "none", "unknown", "no control"],
)
def test_arms_that_are_empty_or_unclear_are_refused(score, arm, treated, expected):
    people = pl.DataFrame({"age": [1, 2, 3, 4], "arm": pl.Series(arm, dtype=pl.String)})
    with pytest.raises(InputError, match=expected) as raised:
        score(people, ["age"], treatment="arm", treated=treated)
    assert "Zq7Xcanary" not in str(raised.value)


@pytest.mark.parametrize("score", TREATMENTS)
def test_a_treatment_that_no_row_of_a_table_holds_any_more_is_an_empty_arm(score):
    table = Table.encode(pl.DataFrame({"age": [1, 2, 3, 4], "arm": list("AABC")})).take(np.array([0, 1, 2]))
    assert math.isfinite(score(table, ["age"], treatment="arm", variant="paper").value)
    with pytest.raises(InputError, match="treated"):
        score(table, ["age"], treatment="arm", treated="C")


@pytest.mark.parametrize("variant", VARIANTS)
@given(drawn=treatments(kinds=("integer", "text"), max_rows=8))
@settings(max_examples=25)
def test_logistic_propensities_are_those_of_scikit_learn_with_a_row_for_every_record(variant, drawn):
    linear_model = pytest.importorskip("sklearn.linear_model")
    case, treated = drawn
    words = {"model": "logistic", "variant": variant, **words_of(case, treated)}
    score = scores.propensity_overlap(case.data, case.columns, **words)
    ones, others = naive.arms(case.records, case.other, treated)
    people = [*ones, *others]
    features = np.array([[1.0, *features_of(record, case)] for record in people])
    fitted = linear_model.LogisticRegression(max_iter=5000).fit(features, [1] * len(ones) + [0] * len(others))
    chances = fitted.predict_proba(features)[:, 1]
    keys = [tuple(record[name] for name in case.columns) for record in people]
    expected = dict(zip(keys, chances.tolist(), strict=True))
    assert sorted(score.values.tolist()) == pytest.approx(sorted(expected.values()), abs=2e-3)
    assert sorted(score.sizes.tolist()) == sorted(naive.tally(keys).values())
    if variant == "paper":
        centre = chances[len(ones) :].mean()
        assert score.value == pytest.approx(np.abs(chances[: len(ones)] - centre).mean(), abs=2e-3)


def features_of(record, case):
    """Ordered columns on [0, 1] and whether they are missing; categories one by one, missing ones too."""
    found = []
    for name in case.columns:
        cell, order = record[name], case.orders[name]
        if order:
            span = order[-1] - order[0]
            found += [0.0 if cell is None or not span else (cell - order[0]) / span, cell is None]
        else:
            found += [cell == value for value in [None, *sorted(set(naive.known(case.records, name)))]]
    return found


def test_logistic_propensities_compare_classes_of_one_arm_only():
    pytest.importorskip("sklearn")
    ages = list(range(40))
    people = pl.DataFrame({"age": ages, "arm": ["A" if age % 3 or age > 30 else "B" for age in ages]})
    words = {"treatment": "arm", "treated": "A"}
    assert scores.propensity_overlap(people, ["age"], **words).value == 0.0
    score = scores.propensity_overlap(people, ["age"], model="logistic", **words)
    assert score.value > 0.5
    assert ((score.values > 0) & (score.values < 1)).all()
    # The older, the likelier treated: a model of the wrong class would fall.
    assert score.values[-1] > score.values[0]


def test_logistic_propensities_read_columns_of_every_kind():
    pytest.importorskip("sklearn")
    for cells in (
        pl.Series([1, 2] * 10, dtype=pl.Int32),
        pl.Series([True, False] * 10),
        pl.Series(["f", "m"] * 10, dtype=pl.Categorical),
        pl.Series(["f", "m"] * 10, dtype=pl.Enum(["m", "f"])),
        pl.Series([dt.date(2024, 1, 1), dt.date(2025, 1, 1)] * 10),
    ):
        people = pl.DataFrame({"x": cells, "arm": ["A", "B"] * 8 + ["B", "A"] * 2})
        score = scores.propensity_overlap(people, ["x"], treatment="arm", treated="A", model="logistic")
        assert len(score.values) == 2
        assert score.values[0] > score.values[1]


def test_a_logistic_model_of_no_columns_is_the_share_of_treated():
    pytest.importorskip("sklearn")
    people = pl.DataFrame({"age": [1, 2, 3, 4], "arm": list("ABBB")})
    score = scores.propensity_overlap(people, [], treatment="arm", treated="A", model="logistic")
    assert score.values.tolist() == pytest.approx([0.25], abs=1e-3)


@pytest.mark.parametrize(
    ("module", "call"),
    [
        (
            "sklearn.linear_model",
            lambda people: scores.propensity_overlap(people, ["age"], treatment="arm", model="logistic"),
        ),
        ("causallearn.search.ConstraintBased.PC", lambda people: causal_graph(people)),
    ],
)
def test_what_is_not_installed_is_named_with_its_extra(module, call, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    people = pl.DataFrame({"age": [1, 2, 3, 4], "arm": list("AABB")})
    with pytest.raises(InputError, match=r"hushtable\[causal\]"):
        call(people)


@given(st.data())
@settings(max_examples=50)
def test_causal_importance_sums_the_rows_of_the_adjacency(data):
    names = tuple(f"c{j}" for j in range(data.draw(st.integers(1, 5))))
    upper = np.array(data.draw(st.lists(st.booleans(), min_size=len(names) ** 2, max_size=len(names) ** 2)))
    upper = np.triu(upper.reshape(len(names), -1), 1)
    graph = CausalGraph(names, upper | upper.T)
    columns = data.draw(st.lists(st.sampled_from(names), unique=True))
    people = pl.DataFrame({name: [1, 2] for name in names})
    score = scores.causal_importance(people, columns, graph=graph)
    assert score.value == naive.causal_importance(names, graph.adjacency.astype(int).tolist(), columns)
    assert dict(zip(score.labels, score.values.tolist(), strict=True)) == {
        name: naive.causal_importance(names, graph.adjacency.astype(int).tolist(), [name]) for name in columns
    }


def test_a_graph_of_other_columns_is_refused():
    graph = CausalGraph(("age",), np.zeros((1, 1), bool))
    people = pl.DataFrame({"age": [1], "sex": ["f"]})
    with pytest.raises(ColumnError, match="sex"):
        scores.causal_importance(people, ["sex"], graph=graph)
    with pytest.raises(ValueError, match="read-only"):
        graph.adjacency[0, 0] = True


def chained(n=400):
    """Three columns in a chain, x - y - z, one column apart, and one constant; of which x and z meet only through y."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, n)
    y = np.where(rng.random(n) < 0.8, x, rng.integers(0, 3, n))
    z = np.where(rng.random(n) < 0.8, y, rng.integers(0, 3, n))
    return pl.DataFrame(
        {
            "x": [["red", "green", "blue"][i] for i in x],
            "y": y,
            "z": [["low", "mid", "high"][i] for i in z],
            "alone": np.arange(n) % 7 // 3,
            "same": ["k"] * n,
        }
    )


@pytest.mark.parametrize("test", ["gsq", "chisq"])
def test_the_graph_of_a_chain_has_its_edges(test):
    pytest.importorskip("causallearn")
    graph = causal_graph(chained(), test=test, alpha=0.001)
    assert graph.names == ("x", "y", "z", "alone", "same")
    expected = np.zeros((5, 5), bool)
    expected[[0, 1, 1, 2], [1, 0, 2, 1]] = True
    assert graph.adjacency.tolist() == expected.tolist()
    assert scores.causal_importance(chained(), ["y"], graph=graph).value == 2.0
    assert scores.causal_importance(chained(), ["x", "y", "same"], graph=graph).value == 3.0


def test_the_graph_does_not_depend_on_what_the_values_are_called():
    # A linear test of the values' numbers would: these are symmetric about the middle value.
    pytest.importorskip("causallearn")
    rng = np.random.default_rng(5)
    x = rng.integers(0, 3, 600)
    people = pl.DataFrame({"x": x, "is_middle": np.where(rng.random(600) < 0.9, x == 1, x != 1)})
    renamed = people.with_columns(pl.col("x").replace_strict({0: "b", 1: "a", 2: "c"}))
    for data in (people, renamed):
        assert causal_graph(data).adjacency.tolist() == [[False, True], [True, False]]


def test_the_input_is_not_changed_by_the_graph():
    pytest.importorskip("causallearn")
    frame = chained(60).to_pandas()
    before = frame.copy(deep=True)
    score = scores.causal_importance(frame, ["x", "y"])
    pd.testing.assert_frame_equal(frame, before)
    assert type(score.to_frame()) is pd.DataFrame


def test_copies_of_a_column_are_no_error():
    # A linear test fails on the ten records of the source's table 3: two columns are one partition.
    pytest.importorskip("causallearn")
    ten = pl.DataFrame({"a": list("HDHDHHDHDH"), "b": list("ABABAABABA"), "c": list("MFFMMFMFFM")})
    graph = causal_graph(ten)
    assert graph.adjacency[0, 1]
    assert not graph.adjacency.diagonal().any()
    assert (graph.adjacency == graph.adjacency.T).all()


def test_a_graph_is_the_same_for_counted_rows_missing_cells_and_every_run(capsys):
    pytest.importorskip("causallearn")
    frame = chained(60).with_columns(pl.when(pl.col("y") > 0).then("y"))
    counts = [1 + i % 3 for i in range(60)]
    rows = frame[np.repeat(np.arange(60), counts)]
    graphs = [causal_graph(data).adjacency.tolist() for data in (rows, counted(frame, counts), rows[::-1])]
    assert graphs[0] == graphs[1] == graphs[2]
    assert capsys.readouterr() == ("", "")


def test_columns_of_many_values_are_binned():
    pytest.importorskip("causallearn")
    rng = np.random.default_rng(11)
    age = rng.normal(40, 12, 500)
    people = pl.DataFrame({"age": age, "pay": age * 2 + rng.normal(0, 1, 500), "key": [f"k{i}" for i in range(500)]})
    graph = causal_graph(people)
    assert graph.adjacency.tolist() == [[False, True, False], [True, False, False], [False] * 3]


@pytest.mark.parametrize("words", [{"alpha": 0}, {"alpha": 1}, {"alpha": math.nan}, {"bins": 1}, {"test": "fisherz"}])
def test_parameters_out_of_range_are_refused(words):
    with pytest.raises(InputError, match=str(next(iter(words.values())))):
        causal_graph(pl.DataFrame({"a": [1, 2], "b": [1, 2]}), **words)
