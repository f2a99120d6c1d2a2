"""Scores about a treatment against their slow twins and known faults.

The faults are those of the library that goes with the source: Simões, Vilela, Santos, Abreu, QIDLearningLib.
"""

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from hypothesis import assume, given, strategies as st
from score_cases import VARIANTS, approx, check_same, treatments, words_of

from hushtable.discover import scores
from hushtable.errors import InputError
from hushtable.tables.table import Table
from twins import naive_scores as naive, naive_treatment

STATISTICS = ("smd", "t", "variance_ratio")
TREATMENTS = (scores.covariate_shift, scores.balance, scores.propensity_overlap)


@given(treatments(), st.sampled_from(VARIANTS))
def test_covariate_shift_is_that_of_the_slow_twin(drawn, variant):
    case, treated = drawn
    score = scores.covariate_shift(case.data, case.columns, variant=variant, **words_of(case, treated))
    twin = naive_treatment.covariate_shift(
        case.records, case.columns, case.other, treated, orders=case.orders, variant=variant
    )
    assert score.value == approx(twin.value)
    assert score.labels.tolist() == case.columns
    assert score.values.tolist() == approx([twin.values[name] for name in case.columns])


@given(treatments(), st.sampled_from(VARIANTS))
def test_propensity_overlap_is_that_of_the_slow_twin(drawn, variant):
    case, treated = drawn
    score = scores.propensity_overlap(case.data, case.columns, variant=variant, **words_of(case, treated))
    twin = naive_treatment.propensity_overlap(case.records, case.columns, case.other, treated, variant=variant)
    check_same(score, twin, case)


@given(treatments(), st.sampled_from(STATISTICS))
def test_balance_is_that_of_the_slow_twin(drawn, statistic):
    case, treated = drawn
    score = scores.balance(case.data, case.columns, statistic=statistic, **words_of(case, treated))
    twin = naive_treatment.balance(
        case.records, case.columns, case.other, treated, orders=case.orders, statistic=statistic
    )
    assert score.labels.tolist() == case.columns
    assert score.values.tolist() == approx([twin[name] for name in case.columns])
    comparable = [value for value in twin.values() if not math.isnan(value)]
    assert score.value == approx(max(comparable, default=math.nan if twin else 0.0))


@given(treatments())
def test_the_paper_s_balance_is_the_mean_of_signed_t(drawn):
    case, treated = drawn
    assume(case.columns)
    score = scores.balance(case.data, case.columns, variant="paper", **words_of(case, treated))
    twin = naive_treatment.balance(case.records, case.columns, case.other, treated, orders=case.orders, statistic="t")
    assert np.abs(score.values).tolist() == approx([twin[name] for name in case.columns])
    if np.isfinite(score.values).all():
        assert score.value == approx(float(score.values.mean()))


@given(treatments(), st.randoms(use_true_random=False))
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
        assert np.sort(one.values).tolist() == approx(np.sort(two.values).tolist())
    # The paper's covariate shift knows the order of the columns, but not that of the rows.
    one, two = (
        scores.covariate_shift(data, case.columns, variant="paper", **words_of(case, treated)).value
        for data in (table, mixed)
    )
    assert one == approx(two)


@given(treatments(), st.data())
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


@given(treatments())
def test_the_common_support_of_class_shares_is_the_classes_that_hold_both_arms(drawn):
    case, treated = drawn
    ones, others = naive_treatment.arms(case.records, case.other, treated)
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
    expected = naive_treatment.apart([naive.Fraction(x) for x in two_thirds], [naive.Fraction(0)] * 2, "smd")
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


def test_a_column_missing_in_one_arm_is_left_out_and_one_that_no_column_is_beside_is_undefined():
    people = pl.DataFrame({"age": [None, None, 50, 60], "pay": [1, 2, 3, 5], "arm": list("AABB")})
    words = {"treatment": "arm", "treated": "A"}
    for variant in VARIANTS:
        both = scores.balance(people, ["age", "pay"], variant=variant, **words)
        alone = scores.balance(people, ["pay"], variant=variant, **words)
        assert both.value == both.mean == both.weighted_mean == alone.value
        assert math.isnan(both.values[0])
        assert both.sizes.tolist() == [2, 4]
        assert both.summary()["n"] == 1
        assert math.isnan(scores.balance(people, ["age"], variant=variant, **words).value)


@pytest.mark.parametrize(
    ("pay", "scale"),
    [
        ([10**17, 10**17 + 1, 2, 4], 1),
        ([-(2**63), -(2**63) + 1, 2**63 - 1, 2**63 - 3], 1),
        ([3e300, 2e300, -1e308, 1e308], 10**300),
    ],
    ids=["apart", "the whole range", "floats"],
)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_neighbours_among_large_numbers_keep_their_distance(pay, scale, statistic):
    people = pl.DataFrame({"pay": pay, "arm": list("AABB")})
    # No statistic depends on the scale, but the slow twin's results are to be floats.
    a, b, c, d = (naive.Fraction(each) / scale for each in pay)
    expected = abs(naive_treatment.apart([a, b], [c, d], statistic))
    assert scores.balance(people, ["pay"], treatment="arm", statistic=statistic).value == approx(expected)


@pytest.mark.parametrize(
    ("arm", "treated"),
    [
        (pl.Series([1, 1, 0, 0]), 1.0),
        (pl.Series([1, 1, 0, 0]), np.int8(1)),
        (pl.Series([1, 1, 0, 0]), True),
        (pl.Series([1, 1, 0, 0]), "1"),
        (pl.Series([1.5, 1.5, 0, 0]), Decimal("1.5")),
        (pl.Series([2**60 + 1, 2**60 + 1, 2**60, 2**60]), 2**60 + 1),
        (pl.Series([True, True, False, False]), np.True_),
        (pl.Series([dt.date(2024, 1, 2)] * 2 + [dt.date(2024, 1, 1)] * 2), pd.Timestamp("2024-01-02")),
        (pl.Series([dt.date(2024, 1, 2)] * 2 + [dt.date(2024, 1, 1)] * 2), np.datetime64("2024-01-02")),
        (
            pl.Series([dt.datetime(2024, 1, 2, 3)] * 2 + [dt.datetime(2024, 1, 1)] * 2).dt.replace_time_zone("UTC"),
            dt.datetime(2024, 1, 2, 5, tzinfo=dt.timezone(dt.timedelta(hours=2))),
        ),
    ],
    ids=str,
)
def test_any_equal_value_is_the_treated_one(arm, treated):
    people = pl.DataFrame({"age": [1, 1, 2, 3], "arm": arm})
    score = scores.propensity_overlap(people, ["age"], treatment="arm", treated=treated)
    assert score.values.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "treated", [1.5, 2, float(2**60), pd.NA, math.nan, np.array([1, 0]), dt.date(1970, 1, 1)], ids=repr
)
def test_a_value_that_equals_none_of_the_column_is_refused(treated):
    people = pl.DataFrame({"age": [1, 1, 2, 3], "arm": [1, 1, 0, 2**60 + 1]})
    with pytest.raises(InputError, match="not in column 'arm'"):
        scores.propensity_overlap(people, ["age"], treatment="arm", treated=treated)


def test_a_treatment_of_many_values_is_one_of_them_against_the_others():
    people = pl.DataFrame({"q": [1, 1, 2, 2], "arm": list("ABCA"), "one": list("xyyx")})
    for score in TREATMENTS:
        many = score(people, ["q"], treatment="arm", treated="A")
        assert many.value == score(people, ["q"], treatment="one", treated="x").value
