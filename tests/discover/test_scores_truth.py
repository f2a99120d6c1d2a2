"""Found against true column sets, all pairs of sets over four columns, against the slow twin and known faults."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from score_cases import approx

from hushtable.discover.scores import truth
from hushtable.discover.scores.truth import Agreement
from hushtable.errors import ColumnError, InputError
from twins import naive_truth as naive

NAMES = ["age", "sex", "zip", "job"]
SETS = [set(some) for size in range(5) for some in itertools.combinations(NAMES, size)]
PAIRS = list(itertools.product(SETS, SETS))
OF_TWO = [truth.precision, truth.recall, truth.f1, truth.f_beta, truth.jaccard, truth.dice]
OF_COLUMNS = [
    truth.specificity,
    truth.false_positive_rate,
    truth.accuracy,
    truth.balanced_accuracy,
    truth.matthews_correlation,
]
ALL = [*OF_TWO, *OF_COLUMNS]


def scored(function, found, true, columns=NAMES):
    return function(found, true, columns=columns) if function in OF_COLUMNS else function(found, true)


def test_agreement_is_that_of_the_slow_twin():
    for found, true in PAIRS:
        judged = naive.judged(found, true, NAMES)
        assert Agreement.from_sets(found, true, NAMES) == Agreement(*judged)
        assert Agreement.from_sets(found, true) == Agreement(judged.tp, judged.fp, judged.fn, None)


def test_measures_are_those_of_the_slow_twin():
    for found, true in PAIRS:
        tp, fp, fn, tn = naive.judged(found, true, NAMES)
        expected = {
            truth.precision: naive.ratio(tp, tp + fp),
            truth.recall: naive.ratio(tp, tp + fn),
            truth.jaccard: len(found & true) / len(found | true) if found | true else 1.0,
            truth.dice: 2 * len(found & true) / (len(found) + len(true)) if found or true else 1.0,
            truth.specificity: naive.ratio(tn, tn + fp),
            truth.false_positive_rate: naive.ratio(fp, tn + fp),
            truth.accuracy: (tp + tn) / 4,
            truth.balanced_accuracy: (naive.ratio(tp, tp + fn) + naive.ratio(tn, tn + fp)) / 2,
            truth.matthews_correlation: naive.correlation(found, true, NAMES),
        }
        for function, value in expected.items():
            assert scored(function, found, true).value == approx(value), (function.__name__, found, true)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0, 3])
def test_f_beta_is_the_harmonic_mean_where_both_are_defined(beta):
    for found, true in PAIRS:
        score = truth.f_beta(found, true, beta=beta)
        tp, fp, fn, _ = naive.judged(found, true, NAMES)
        if not found and not true:
            assert score.value == 1.0
        elif tp == 0:
            assert score.value == 0.0
        else:
            assert score.value == approx(naive.harmonic(tp / (tp + fp), tp / (tp + fn), beta))
        if beta == 1:
            assert score.value == truth.f1(found, true).value == truth.dice(found, true).value


def test_measures_keep_within_their_bounds():
    for found, true in PAIRS:
        for function in ALL:
            value = scored(function, found, true).value
            least = -1 if function is truth.matthews_correlation else 0
            assert math.isnan(value) or least - 1e-12 <= value <= 1 + 1e-12


def test_equal_sets_score_1_and_sets_apart_0():
    for true in SETS[1:-1]:
        for function in ALL:
            assert scored(function, true, true).value == approx(0.0 if function is truth.false_positive_rate else 1.0)
        for function in (*OF_TWO, truth.accuracy, truth.specificity):
            assert scored(function, set(NAMES) - true, true).value == 0.0


@given(st.permutations(NAMES), st.integers(0, 4), st.sampled_from(SETS))
def test_average_precision_is_that_of_the_slow_twin(ranking, length, true):
    assert truth.average_precision(ranking[:length], true).value == approx(
        naive.average_precision(ranking[:length], true)
    )


def test_average_precision_of_a_perfect_ranking_is_1_and_of_one_that_misses_a_column_is_less():
    assert truth.average_precision(["age", "sex", "zip"], ["age", "sex"]).value == 1.0
    assert truth.average_precision(["age"], ["age", "sex"]).value == 0.5
    assert truth.average_precision([], ["age"]).value == 0.0
    assert math.isnan(truth.average_precision(["age"], []).value)


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "n_columns", "expected"),
    [(2, 2, 2, 7, 1 / 3), (1, 7, 1, 14, 5 / 12), (2, 4, 2, 9, 1 / 5)],
    ids=["car", "heart+disease", "nursery"],
)
def test_specificity_counts_true_negatives_and_not_false_ones(tp, fp, fn, n_columns, expected):
    # The source's table 7 has FN in the place of TN; these are its sets over the columns of the real tables.
    columns = [f"c{j}" for j in range(n_columns)]
    true, found = columns[: tp + fn], columns[fn : tp + fn + fp]
    assert Agreement.from_sets(found, true, columns) == Agreement(tp, fp, fn, n_columns - tp - fp - fn)
    assert truth.specificity(found, true, columns=columns).value == approx(expected)
    assert truth.specificity(found, true, columns=columns).value != approx(fn / (fn + fp))
    assert truth.false_positive_rate(found, true, columns=columns).value == approx(1 - expected)


def test_specificity_and_false_positive_rate_add_up_to_1_or_are_undefined_together():
    for found, true in PAIRS:
        both = [scored(function, found, true).value for function in (truth.specificity, truth.false_positive_rate)]
        assert math.isnan(sum(both)) if true == set(NAMES) else sum(both) == approx(1.0)


def test_accuracy_is_not_recall_but_the_paper_s_is():
    assert truth.accuracy(["age"], ["age", "sex"], columns=NAMES).value == 0.75
    for found, true in PAIRS:
        paper = truth.accuracy(found, true, columns=NAMES, variant="paper").value
        assert paper == approx(truth.recall(found, true).value)


def test_dice_of_equal_sets_is_1_and_the_paper_s_half_of_it():
    for found, true in PAIRS:
        dice = truth.dice(found, true).value
        assert truth.dice(found, true, variant="paper").value == approx(dice / 2)


WEIGHTS = [Fraction(1, 4), Fraction(1), Fraction(3, 2), Fraction(40)]


@pytest.mark.parametrize("alpha", WEIGHTS)
@pytest.mark.parametrize("beta", [1, 2, 10])
def test_dice_is_that_of_the_slow_twin(alpha, beta):
    variants = {"definition": (1 + alpha, beta), "paper": (alpha, 1), "library": (2 * alpha, 1)}
    for (found, true), (variant, (factor, power)) in itertools.product(PAIRS, variants.items()):
        score = truth.dice(found, true, alpha=float(alpha), beta=beta, variant=variant)
        assert score.value == approx(naive.dice(found, true, alpha, beta, factor=factor, power=power))


@pytest.mark.parametrize("alpha", WEIGHTS)
@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0, 10])
def test_dice_is_a_rate_and_1_for_equal_sets_alone(alpha, beta):
    for found, true in PAIRS:
        value = truth.dice(found, true, alpha=float(alpha), beta=beta).value
        assert 0 <= value <= 1 + 1e-12
        assert (value == approx(1.0)) is (found == true)
        assert (value == 0) is not bool(found & true or not found | true)


@pytest.mark.parametrize("alpha", WEIGHTS)
def test_dice_with_a_weight_is_f_beta_and_falls_as_beta_grows(alpha):
    for found, true in PAIRS:
        values = [truth.dice(found, true, alpha=float(alpha), beta=beta).value for beta in (0.5, 1, 2, 5)]
        assert values[1] == approx(truth.f_beta(found, true, beta=math.sqrt(1 / alpha)).value)
        assert all(low <= high + 1e-12 for high, low in itertools.pairwise(values))


def test_dice_of_the_paper_s_text_and_library_are_wrong_where_the_definition_is_not():
    equal = (["age", "sex"], ["age", "sex"])
    assert truth.dice(*equal, variant="paper").value == 0.5
    assert truth.dice(*equal, variant="library").value == 1.0
    assert truth.dice(*equal, variant="library", alpha=1.5).value == approx(1.2)
    assert truth.dice(*equal, variant="library", beta=2).value == 0.5
    assert truth.dice(*equal, alpha=1.5, beta=2).value == 1.0


@pytest.mark.parametrize("alpha", [0, -1.0, math.inf, math.nan])
@pytest.mark.parametrize("beta", [0, -1.0, 11, math.nan])
def test_weights_of_dice_out_of_range_are_refused(alpha, beta):
    for words in ({"alpha": alpha}, {"beta": beta}, {"alpha": alpha, "beta": beta}):
        with pytest.raises(InputError, match="both lie above 0"):
            truth.dice(["age"], ["age"], **words)


def test_nothing_found_of_nothing_true_is_likeness_and_an_undefined_ratio():
    for function in (truth.f1, truth.f_beta, truth.jaccard, truth.dice):
        assert function([], []).value == 1.0
    for function in (truth.precision, truth.recall):
        assert math.isnan(function([], []).value)
    assert truth.specificity([], [], columns=NAMES).value == 1.0
    assert math.isnan(truth.matthews_correlation([], ["age"], columns=NAMES).value)


def test_any_collection_of_names_will_do():
    expected = truth.f1(["age", "zip"], ["age", "sex"]).value
    for kind in (tuple, set, frozenset, pd.Index, np.array, iter, lambda names: dict.fromkeys(names), lambda n: n * 2):
        assert truth.f1(kind(["age", "zip"]), kind(["age", "sex"])).value == expected
        assert truth.specificity(kind(["age", "zip"]), kind(["age", "sex"]), columns=pd.Index(NAMES)).value == 0.5
    assert truth.average_precision(iter(["age", "zip"]), iter(["age"])).value == 1.0


@pytest.mark.parametrize("function", ALL)
def test_one_text_is_no_collection_of_names(function):
    for found, true in (("age", ["age"]), (["age"], "age")):
        with pytest.raises(InputError, match="one text"):
            scored(function, found, true)


def test_one_text_is_no_list_of_the_table_s_columns():
    for function in OF_COLUMNS:
        with pytest.raises(InputError):
            function(["a"], ["s"], columns="asz")


def test_one_text_is_no_ranking():
    with pytest.raises(InputError, match="one text"):
        truth.average_precision("age", ["age"])
    with pytest.raises(InputError, match="one text"):
        truth.average_precision(["age"], "age")


@pytest.mark.parametrize("function", OF_COLUMNS)
def test_columns_that_the_table_does_not_have_are_refused(function):
    for found, true in ((["age", "nobody"], ["age"]), (["age"], ["nobody"])):
        with pytest.raises(ColumnError, match="nobody"):
            function(found, true, columns=NAMES)


def test_parameters_out_of_range_are_refused():
    for beta in (0, -1.0, math.nan):
        with pytest.raises(InputError, match="beta"):
            truth.f_beta(["age"], ["age"], beta=beta)
    for function in (truth.dice, lambda *sets, **words: truth.accuracy(*sets, columns=NAMES, **words)):
        with pytest.raises(InputError, match="article"):
            function(["age"], ["age"], variant="article")
    with pytest.raises(InputError, match="more than once"):
        truth.average_precision(["age", "age"], ["age"])


@pytest.mark.parametrize("function", ALL)
def test_a_measure_is_a_score(function):
    for found, true in ((["age", "zip"], ["age", "sex"]), ([], [])):
        score = scored(function, found, true)
        assert (score.part, score.unit) == ("whole", "rate")
        assert score.direction == ("worse" if function is truth.false_positive_rate else "better")
        assert len(score.values) == 1
        assert json.dumps(score.to_dict(), allow_nan=False)
        assert score.name in repr(score)
        assert score.name in score._repr_html_()
        assert score.to_frame().shape == (1, 3)
