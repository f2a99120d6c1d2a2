"""Found column sets against true ones."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.discover.scores import truth
from hushtable.errors import ColumnError, InputError

COLUMNS = list("abcdefgh")
chosen = st.sets(st.sampled_from(COLUMNS))


def ratio(part, whole):
    return part / whole if whole else math.nan


@given(chosen, chosen)
def test_all_measures_equal_their_definitions(found, true):
    judged = [(name in found, name in true) for name in COLUMNS]
    tp, fp = judged.count((True, True)), judged.count((True, False))
    fn, tn = judged.count((False, True)), judged.count((False, False))
    p, r = ratio(tp, tp + fp), ratio(tp, tp + fn)

    def agree(score, expected):
        assert score.value == pytest.approx(expected, nan_ok=True)

    agree(truth.precision(found, true), p)
    agree(truth.recall(found, true), r)
    for beta in (0.5, 1.0, 2.0):
        if tp:
            agree(truth.f_beta(found, true, beta=beta), (1 + beta**2) * p * r / (beta**2 * p + r))
        else:
            agree(truth.f_beta(found, true, beta=beta), 0.0 if found | true else 1.0)
    agree(truth.f1(found, true), truth.f_beta(found, true, beta=1).value)
    agree(truth.dice(found, true), truth.f1(found, true).value)
    agree(truth.dice(found, true, variant="paper"), truth.f1(found, true).value / 2)
    agree(truth.jaccard(found, true), len(found & true) / len(found | true) if found | true else 1.0)
    specificity = truth.specificity(found, true, columns=COLUMNS)
    agree(specificity, ratio(tn, tn + fp))
    agree(truth.false_positive_rate(found, true, columns=COLUMNS), 1 - specificity.value)
    agree(truth.accuracy(found, true, columns=COLUMNS), (tp + tn) / 8)
    agree(truth.accuracy(found, true, columns=COLUMNS, variant="paper"), r)
    agree(truth.balanced_accuracy(found, true, columns=COLUMNS), (r + specificity.value) / 2)
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    agree(truth.matthews_correlation(found, true, columns=COLUMNS), ratio(tp * tn - fp * fn, math.sqrt(margins)))


@given(st.permutations(COLUMNS), chosen)
def test_average_precision_is_the_mean_precision_at_the_true_columns(ranking, true):
    at = [len(set(ranking[: i + 1]) & true) / (i + 1) for i, name in enumerate(ranking) if name in true]
    expected = sum(at) / len(true) if true else math.nan
    assert truth.average_precision(ranking, true).value == pytest.approx(expected, nan_ok=True)


def test_a_true_column_that_is_not_ranked_counts_nothing():
    assert truth.average_precision(["a"], ["a", "b"]).value == 0.5


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "n", "specificity"),
    [(2, 2, 2, 7, 1 / 3), (1, 7, 1, 14, 5 / 12), (2, 4, 2, 9, 1 / 5)],
    ids=["car", "heart disease", "nursery"],
)
def test_the_specificities_of_the_sources_table_7(tp, fp, fn, n, specificity):
    columns = [f"c{i}" for i in range(n)]
    found, true = columns[: tp + fp], [*columns[:tp], *columns[tp + fp : tp + fp + fn]]
    assert truth.specificity(found, true, columns=columns).value == pytest.approx(specificity)


def test_what_cannot_be_compared_says_why():
    with pytest.raises(ColumnError, match="'z'"):
        truth.specificity(["z"], ["a"], columns=COLUMNS)
    with pytest.raises(InputError, match="one text"):
        truth.precision("age", ["age"])
    with pytest.raises(InputError, match="beta"):
        truth.f_beta(["a"], ["a"], beta=0)
    with pytest.raises(InputError, match="more than once"):
        truth.average_precision(["a", "a"], ["a"])
