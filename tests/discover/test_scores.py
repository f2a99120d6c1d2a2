"""Scores against their slow twins, on random tables and on the source's table 3."""

import inspect
import itertools
import math

import naive_scores as naive
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import hushtable as ht
from hushtable.discover import scores
from hushtable.errors import ColumnError, InputError
from hushtable.partition import Partition
from hushtable.table import Table
from strategies import counted_tables, tables

MEASURED = ("integer", "decimal", "date")


def patients() -> pl.DataFrame:
    """The source's table 3."""
    return pl.DataFrame(
        {
            "Age": [34, 28, 45, 34, 29, 60, 34, 41, 54, 39],
            "Gender": list("MFFMMFMFFM"),
            "Diagnosis": ["Hypertension" if c == "H" else "Diabetes" for c in "HDHDHHDHDH"],
            "Treatment": list("ABABAABABA"),
            "Outcome": ["Improved" if c == "+" else "Not Improved" for c in "+-++-++-+-"],
        }
    )


TABLE_4 = [
    # columns, mean class size, smallest class, separation, distinction, accuracy, the paper's covariate shift
    (["Age", "Gender"], 1.25, 1, 42 / 45, 0.8, 1.0, 1.083),
    (["Age", "Diagnosis"], 10 / 9, 1, 44 / 45, 0.9, 1.0, 1.383),
    (["Gender", "Diagnosis"], 2.5, 2, 37 / 45, 0.4, 0.7, 1.3),
    (["Age", "Treatment"], 10 / 9, 1, 44 / 45, 0.9, 1.0, 1.217),
    (["Gender", "Treatment"], 2.5, 2, 37 / 45, 0.4, 0.7, 1.3),
    (["Age", "Gender", "Treatment"], 10 / 9, 1, 44 / 45, 0.9, 1.0, 1.217),
    (["Age", "Diagnosis", "Treatment"], 10 / 9, 1, 44 / 45, 0.9, 1.0, 1.383),
    (["Gender", "Diagnosis", "Treatment"], 2.5, 2, 37 / 45, 0.4, 0.7, 1.3),
]


@pytest.mark.parametrize(("columns", "mean_k", "k", "s", "d", "acc", "shift"), TABLE_4)
def test_table_4_with_the_right_values(columns, mean_k, k, s, d, acc, shift):
    data = patients()
    assert scores.k_anonymity(data, columns, variant="paper").value == pytest.approx(mean_k)
    assert scores.k_anonymity(data, columns).value == k
    assert scores.separation(data, columns).value == pytest.approx(s)
    assert scores.distinction(data, columns).value == d
    assert scores.accuracy(data, columns, target="Outcome").value == pytest.approx(acc)
    found = scores.covariate_shift(data, columns, treatment="Treatment", treated="A", variant="paper")
    assert found.value == pytest.approx(shift, abs=5e-4)


def split(table: Table) -> tuple[list[str], str]:
    """All columns but the last, and the last."""
    return list(table.names[:-1]), table.names[-1]


def close(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@given(counted_tables(min_rows=1))
def test_scores_of_class_sizes_equal_their_twins(table):
    columns = list(table.names)
    sizes = naive.class_sizes(table, columns)
    k = scores.k_anonymity(table, columns)
    assert k.values.tolist() == sizes
    assert (k.value, k.mean) == (min(sizes), pytest.approx(np.mean(sizes)))
    assert close(scores.distinction(table, columns).value, naive.distinction(table, columns))
    assert close(scores.separation(table, columns).value, naive.separation(table, columns))
    entropy = scores.group_entropy(table, columns)
    assert close(entropy.value, naive.group_entropy(table, columns))
    for score in (scores.distinction(table, columns), scores.separation(table, columns), entropy):
        assert close(score.value, score.weighted_mean)


@pytest.mark.parametrize("name", ["accuracy", "distinct_values", "gini", "information_gain"])
@given(counted_tables(min_rows=1))
def test_scores_of_a_target_equal_their_twins(name, table):
    columns, target = split(table)
    value, per_class = naive.utility(name, table, columns, target)
    found = getattr(scores, name)(table, columns, target=target)
    assert close(found.value, value)
    assert found.values.tolist() == pytest.approx(per_class, abs=1e-9)
    paper = getattr(scores, name)(table, columns, target=target, variant="paper")
    assert close(paper.value, float(np.mean(per_class)) if per_class else math.nan)


@given(counted_tables(min_rows=1, kinds=MEASURED))
def test_scores_of_a_measured_target_equal_their_twins(table):
    columns, target = split(table)
    assert close(
        scores.mean_squared_error(table, columns, target=target).value, naive.mean_squared_error(table, columns, target)
    )
    assert close(scores.value_range(table, columns, target=target).value, naive.value_range(table, columns, target))


@given(counted_tables(min_rows=1))
def test_completeness_is_the_share_of_known_targets(table):
    columns, target = split(table)
    codes = naive.column(table, target)
    expected = [sum(codes[i] >= 0 for i in each) / len(each) for each in naive.classes(table, columns)]
    found = scores.completeness(table, columns, target=target)
    assert found.values.tolist() == pytest.approx(expected)
    assert close(found.value, sum(code >= 0 for code in codes) / len(codes))


@given(counted_tables(min_rows=1))
def test_distances_from_the_whole_equal_their_twins(table):
    columns, sensitive = split(table)
    expected = naive.distances(table, columns, sensitive)
    for distance in ("kl", "total_variation", "jensen_shannon"):
        found = scores.t_closeness(table, columns, sensitive=sensitive, distance=distance)
        assert found.values.tolist() == pytest.approx(expected[distance], abs=1e-9)
        assert close(found.value, max(expected[distance]))
    paper = scores.t_closeness(table, columns, sensitive=sensitive, variant="paper")
    assert close(paper.value, float(np.mean(expected["kl"])))
    ratio = scores.generalization_ratio(table, columns, sensitive=sensitive, variant="paper")
    assert ratio.values.tolist() == pytest.approx([2 * each for each in expected["total_variation"]], abs=1e-9)
    presence = scores.delta_presence(table, columns, sensitive=sensitive, variant="paper")
    assert presence.values.tolist() == pytest.approx(expected["largest"], abs=1e-9)


@given(counted_tables(min_rows=1))
def test_l_diversity_counts_known_values_by_kind(table):
    columns, sensitive = split(table)
    codes = naive.column(table, sensitive)
    held = [[codes[i] for i in each if codes[i] >= 0] for each in naive.classes(table, columns)]
    distinct = scores.l_diversity(table, columns, sensitive=sensitive)
    assert distinct.values.tolist() == [len(set(each)) for each in held]
    assert distinct.value == min(len(set(each)) for each in held)
    entropy = scores.l_diversity(table, columns, sensitive=sensitive, kind="entropy")
    assert entropy.values.tolist() == pytest.approx([2 ** naive.entropy(each) if each else 0.0 for each in held])
    recursive = scores.l_diversity(table, columns, sensitive=sensitive, kind="recursive", l=2)
    falling = [sorted((each.count(v) for v in set(each)), reverse=True) for each in held]
    expected = [counts[0] / sum(counts[1:]) if len(counts) > 1 else math.inf for counts in falling]
    assert recursive.values.tolist() == pytest.approx(expected)


@given(counted_tables(min_rows=2))
def test_scores_of_a_treatment_equal_their_twins(table):
    columns, treatment = split(table)
    codes = naive.column(table, treatment)
    assume(len(set(codes) - {-1}) >= 2)
    code = max(codes)
    options = {"treatment": treatment, "treated": table.column(treatment).text(code)}
    found = scores.covariate_shift(table, columns, **options)
    assert close(found.value, naive.covariate_shift(table, columns, treatment, code))
    paper = scores.covariate_shift(table, columns, **options, variant="paper")
    assert close(paper.value, naive.covariate_shift_of_the_paper(table, columns, treatment, code))
    overlap = scores.propensity_overlap(table, columns, **options)
    assert close(overlap.value, naive.common_support(table, columns, treatment, code))
    distance = scores.propensity_overlap(table, columns, **options, variant="paper")
    assert close(distance.value, naive.propensity_of_the_paper(table, columns, treatment, code))


@given(counted_tables(min_rows=2, max_columns=3, kinds=("integer", "decimal")))
def test_the_standardized_mean_difference_equals_its_twin(table):
    columns, treatment = split(table)
    codes = naive.column(table, treatment)
    assume(len(set(codes) - {-1}) >= 2)
    code = max(codes)
    found = scores.balance(table, columns, treatment=treatment, treated=table.column(treatment).text(code))
    assert found.values.tolist() == pytest.approx(
        [naive.smd(table, name, treatment, code) for name in columns], nan_ok=True
    )


BY_COLUMNS = {
    "k_anonymity": {},
    "distinction": {},
    "separation": {},
    "group_entropy": {},
    "accuracy": {"target": "t"},
    "distinct_values": {"target": "t"},
    "completeness": {"target": "t"},
    "gini": {"target": "t"},
    "information_gain": {"target": "t"},
    "mean_squared_error": {"target": "t"},
    "value_range": {"target": "t"},
    "l_diversity": {"sensitive": "t"},
    "t_closeness": {"sensitive": "t"},
    "generalization_ratio": {"sensitive": "t"},
}
RATES = {"distinction", "separation", "accuracy", "completeness", "gini", "value_range", "t_closeness"}


@st.composite
def with_target(draw):
    frame = draw(tables(min_rows=1, max_columns=3))
    target = draw(st.lists(st.integers(0, 4), min_size=len(frame), max_size=len(frame)))
    return frame.with_columns(pl.Series("t", target)), draw(st.permutations(range(len(frame))))


@pytest.mark.parametrize("name", BY_COLUMNS)
@given(with_target())
def test_neither_rows_nor_columns_in_another_order_change_a_score(name, case):
    frame, order = case
    columns = [each for each in frame.columns if each != "t"]
    score = getattr(scores, name)
    options = BY_COLUMNS[name]
    expected = score(frame, columns, **options).value
    assert close(score(frame[list(order)], columns[::-1], **options).value, expected)
    distinct, _ = Table.encode(frame).collapse()
    assert close(score(distinct, columns, **options).value, expected)
    if name in RATES:
        assert -1e-12 <= expected <= 1 + 1e-12


@pytest.mark.parametrize("name", [name for name in BY_COLUMNS if name != "completeness"])
@given(with_target())
def test_scores_are_monotone_in_the_columns_as_terms_say(name, case):
    frame, _ = case
    columns = [each for each in frame.columns if each != "t"]
    term = ht.Term(name, options=BY_COLUMNS[name])
    values = [getattr(scores, name)(frame, columns[:j], **BY_COLUMNS[name]).value for j in range(len(columns) + 1)]
    assert term.trend != 0
    assert all(term.trend * (b - a) >= -1e-9 for a, b in itertools.pairwise(values))


def test_a_shared_partition_and_table_give_the_same_score():
    table = Table.encode(patients())
    partition = Partition.of(table, ["Age", "Gender"])
    for name, options in BY_COLUMNS.items():
        options = dict.fromkeys(options, "Age" if name in ("mean_squared_error", "value_range") else "Outcome")
        score = getattr(scores, name)
        alone = score(patients(), ["Age", "Gender"], **options)
        shared = score(table, ["Age", "Gender"], **options, partition=partition)
        assert shared.value == alone.value
        assert shared.values.tolist() == alone.values.tolist()


# The faults of the source's library, each the other way round here.


def test_group_entropy_does_not_depend_on_which_column_comes_first():
    data = patients()
    one = scores.group_entropy(data, ["Gender", "Diagnosis"]).value
    assert one == pytest.approx(scores.group_entropy(data, ["Diagnosis", "Gender"]).value)
    assert scores.group_entropy(data, ["Gender"]).value == pytest.approx(1.0)


def test_k_is_the_smallest_class_and_missing_cells_are_a_category():
    data = pl.DataFrame({"zip": ["1", "1", None, None, None]})
    assert scores.k_anonymity(data, ["zip"]).value == 2
    assert scores.k_anonymity(data, ["zip"]).sizes.sum() == 5
    assert scores.k_anonymity(data, ["zip"], variant="paper").value == 2.5


def test_the_mean_class_size_is_one_over_distinction():
    for columns in (["Age"], ["Gender"], ["Age", "Gender"]):
        mean = scores.k_anonymity(patients(), columns).mean
        assert mean == pytest.approx(1 / scores.distinction(patients(), columns).value)


def test_the_unweighted_mean_gain_is_not_the_information_gain():
    data = pl.DataFrame({"q": [1, 1, 1, 1, 2], "y": ["a", "b", "a", "b", "a"]})
    assert scores.information_gain(data, ["q"], target="y").value == pytest.approx(0.971 - 0.8, abs=1e-3)
    assert scores.information_gain(data, ["q"], target="y", variant="paper").value > 0.4


def test_a_key_gains_nothing_once_chance_is_taken_off():
    rng = np.random.default_rng(0)
    data = pl.DataFrame({"q": rng.integers(0, 20, 4000), "y": rng.integers(0, 5, 4000)})
    assert scores.information_gain(data, ["q"], target="y").value > 0.01
    assert abs(scores.information_gain(data, ["q"], target="y", corrected=True).value) < 0.004


def test_singletons_do_not_make_accuracy():
    data = pl.DataFrame({"q": [0] * 98 + [1, 2], "y": ["a", "b"] * 50})
    assert scores.accuracy(data, ["q"], target="y").value == pytest.approx(0.51)
    assert scores.accuracy(data, ["q"], target="y", variant="paper").value > 0.8


def test_covariate_shift_looks_at_the_rows_of_the_arms():
    data = pl.DataFrame({"q": ["x"] * 3 + ["y"] * 3, "arm": ["A"] * 3 + ["B"] * 3})
    for order in ([0, 1, 2, 3, 4, 5], [5, 0, 4, 1, 3, 2]):
        assert scores.covariate_shift(data[order], ["q"], treatment="arm", treated="A").value == 1.0
    alike = pl.DataFrame({"q": ["x", "y"] * 2, "arm": ["A", "A", "B", "B"]})
    assert scores.covariate_shift(alike, ["q"], treatment="arm", treated="A").value == 0.0


def test_balance_has_no_sign_and_stands_constant_columns():
    data = pl.DataFrame({"age": [30, 40, 50, 60], "one": [1] * 4, "job": list("aabb"), "arm": list("AABB")})
    smd = scores.balance(data, ["age", "one", "job"], treatment="arm", treated="A")
    assert smd.values.tolist() == [pytest.approx(2.828, abs=1e-3), 0.0, math.inf]
    t = scores.balance(data, ["age"], treatment="arm", treated="A", statistic="t").value
    assert t == pytest.approx(20 / math.sqrt(50))
    assert scores.balance(data, ["age"], treatment="arm", treated="A", variant="paper").value == pytest.approx(-t)
    assert scores.balance(data, ["age", "one"], treatment="arm", statistic="variance_ratio").value == pytest.approx(1)


def test_delta_presence_counts_the_population():
    ill = pl.DataFrame({"age": [31, 60, 60]})
    town = pl.DataFrame({"age": [31, 31, 31, 31, 60, 60, 45]})
    assert scores.delta_presence(ill, ["age"], population=town).value == 1.0
    assert sorted(scores.delta_presence(ill, ["age"], population=town).values.tolist()) == [0.0, 0.25, 1.0]
    assert scores.delta_presence(ill, ["age"], population=town[:4]).value == math.inf
    with pytest.raises(InputError, match="population"):
        scores.delta_presence(ill, ["age"])
    with pytest.raises(InputError, match="sensitive"):
        scores.delta_presence(ill, ["age"], variant="paper")


def test_the_length_penalty_is_a_half_at_half_of_the_columns():
    data = patients().select("Age", "Gender", "Diagnosis", "Treatment")
    found = [scores.attribute_length_penalty(data, data.columns[:j]).value for j in range(5)]
    assert found == [1.0, 0.625, 0.5, 0.625, 1.0]


def test_one_record_is_separated_and_no_record_is_an_error():
    one = pl.DataFrame({"a": [1], "b": ["x"]})
    assert scores.separation(one, ["a"]).value == 1.0
    assert scores.distinction(one, []).value == 1.0
    for name in ("separation", "k_anonymity", "group_entropy"):
        with pytest.raises(InputError, match="no records"):
            getattr(scores, name)(one[:0], ["a"])


def test_a_target_without_a_value_scores_nan():
    data = pl.DataFrame({"q": [1, 2], "y": pl.Series([None, None], dtype=pl.Int64)})
    for name in ("accuracy", "gini", "information_gain", "mean_squared_error", "value_range"):
        found = getattr(scores, name)(data, ["q"], target="y")
        assert math.isnan(found.value)
        assert found.to_dict()["value"] is None
    assert scores.completeness(data, ["q"], target="y").value == 0.0


def test_what_cannot_be_scored_says_why():
    data = patients()
    with pytest.raises(ColumnError, match="numbers or dates"):
        scores.mean_squared_error(data, ["Age"], target="Outcome")
    with pytest.raises(ColumnError, match="'Salary'"):
        scores.accuracy(data, ["Age"], target="Salary")
    with pytest.raises(ColumnError, match="one text"):
        scores.separation(data, "Age")
    with pytest.raises(InputError, match="'papr'"):
        scores.gini(data, ["Age"], target="Outcome", variant="papr")
    with pytest.raises(InputError, match="not clear"):
        scores.covariate_shift(data, ["Gender"], treatment="Age")
    with pytest.raises(InputError, match="treated value"):
        scores.covariate_shift(data, ["Gender"], treatment="Treatment", treated="C")
    with pytest.raises(InputError, match="0 are control"):
        scores.balance(data.with_columns(x=pl.lit("a")), ["Age"], treatment="x", treated="a")
    with pytest.raises(InputError, match="table has 10"):
        scores.separation(data, ["Age"], partition=Partition.of(Table.encode(data[:3]), ["Age"]))


def test_every_score_documents_its_parameters_and_runs_an_example():
    for name in set(scores.__all__) - {"CausalGraph", "Score", "causal_graph", "truth"}:
        function = getattr(scores, name)
        assert inspect.isfunction(function)
        kinds = [each.kind for each in inspect.signature(function).parameters.values()]
        assert all(kind is inspect.Parameter.KEYWORD_ONLY for kind in kinds[2:])
        for parameter in inspect.signature(function).parameters:
            assert parameter in function.__doc__.partition("Parameters\n")[2]
        assert ">>> " in function.__doc__


# The record itself.


def test_a_summary_describes_the_classes():
    found = scores.k_anonymity(pl.DataFrame({"q": [1, 1, 1, 2, 3]}), ["q"]).summary()
    assert found["mean"] == pytest.approx(5 / 3)
    assert found["weighted_mean"] == pytest.approx(11 / 5)
    assert found["sd"] == pytest.approx(np.std([3, 1, 1]))
    assert (found["min"], found["median"], found["max"]) == (1, 1, 3)
    assert found["skewness"] == pytest.approx(0.7071, abs=1e-4)
    assert found["kurtosis"] == pytest.approx(-1.5)
    assert (found["mode"], found["mode_count"]) == (1, 2)


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=20, unique=True))
def test_a_summary_agrees_with_scipy(values):
    from scipy import stats

    array = np.array(values)
    assume(array.std() > 1e-3)
    n = np.ones(len(array), dtype=np.int64)
    score = scores.Score("x", 0.0, "rate", "safer", "class", np.arange(len(array)), array.copy(), n)
    found = score.summary()
    assert found["skewness"] == pytest.approx(stats.skew(array), abs=1e-6)
    assert found["kurtosis"] == pytest.approx(stats.kurtosis(array), abs=1e-6)
    assert found["q25"] == pytest.approx(np.quantile(array, 0.25))


def test_a_constant_has_no_skewness_and_its_dict_is_plain():
    score = scores.k_anonymity(pl.DataFrame({"q": [1, 2]}), ["q"])
    assert math.isnan(score.summary()["skewness"])
    assert score.to_dict()["summary"]["kurtosis"] is None
    assert float(score) == 1.0


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_of_the_kind_that_went_in(kind):
    data = kind({"q": [1, 1, 2], "y": ["a", "b", "a"]})
    frame = scores.k_anonymity(data, ["q"]).to_frame()
    assert isinstance(frame, type(data))
    assert pl.DataFrame(frame if kind is not pd.DataFrame else frame.to_dict("list")).to_dict(as_series=False) == {
        "class": [0, 1],
        "size": [2, 1],
        "value": [2.0, 1.0],
    }


@pytest.mark.parametrize("name", BY_COLUMNS)
def test_pandas_polars_and_pyarrow_score_the_same_and_stay_as_they_were(name):
    data = patients().with_columns(Age=pl.when(pl.col("Age") > 50).then(None).otherwise("Age"))
    options = dict.fromkeys(BY_COLUMNS[name], "Age" if name in ("mean_squared_error", "value_range") else "Outcome")
    pandas = pd.DataFrame(data.to_dict(as_series=False))
    before = pandas.copy()
    score = getattr(scores, name)
    values = [score(each, ["Age", "Gender"], **options).value for each in (data, pandas, data.to_arrow())]
    assert values[0] == values[1] == values[2]
    pd.testing.assert_frame_equal(pandas, before)


def test_a_treatment_of_many_values_is_one_of_them_against_the_others():
    data = pl.DataFrame({"q": [1, 1, 2, 2], "arm": ["A", "B", "C", "A"], "one": ["x", "y", "y", "x"]})
    for score in (scores.covariate_shift, scores.propensity_overlap, scores.balance):
        many = score(data, ["q"], treatment="arm", treated="A")
        assert many.value == score(data, ["q"], treatment="one", treated="x").value
    numbers = data.with_columns(arm=pl.Series([1, 2, 3, 1]), flag=pl.Series([True, False, False, True]))
    expected = scores.covariate_shift(data, ["q"], treatment="arm", treated="A").value
    assert scores.covariate_shift(numbers, ["q"], treatment="arm", treated=1).value == expected
    assert scores.covariate_shift(numbers, ["q"], treatment="flag", treated=True).value == expected
    assert scores.covariate_shift(numbers, ["q"], treatment="flag").value == expected


def test_frames_of_columns_and_of_files(tmp_path):
    path = tmp_path / "people.csv"
    patients().write_csv(path)
    shift = scores.covariate_shift(path, ["Age", "Gender"], treatment="Treatment", treated="A").to_frame()
    assert shift["column"].to_list() == ["Age", "Gender"]
    assert isinstance(scores.distinction(Table.encode(path), ["Age"]).to_frame(), pl.DataFrame)


def test_t_closeness_takes_a_hierarchy_of_the_sensitive_column():
    data = pl.DataFrame({"q": [1, 2, 3], "ill": ["J10", "J11", "B20"]})
    options = {"sensitive": "ill", "ground": "hierarchical"}
    found = scores.t_closeness(data, ["q"], **options, hierarchy=ht.Hierarchy.prefix(1))
    # Two thirds of the records move: within a branch (height 1 of 2), or a half of them, to the other one (2 of 2).
    assert found.values.tolist() == pytest.approx([1 / 2, 1 / 2, 2 / 3])
    assert scores.t_closeness(data, ["q"], sensitive="ill").values.tolist() == pytest.approx([2 / 3] * 3)
    with pytest.raises(InputError, match="no hierarchy"):
        scores.t_closeness(data, ["q"], **options)


@pytest.mark.parametrize("kind", ["histogram", "ecdf", "qq"])
def test_a_score_draws_itself(kind):
    score = scores.k_anonymity(patients(), ["Gender", "Diagnosis"])
    axes = score.plot(kind)
    assert "k-anonymity (records)" in (axes.get_xlabel(), axes.get_ylabel())
    assert score.plot(kind, ax=axes) is axes


def test_what_cannot_be_drawn_says_why():
    data = pl.DataFrame({"q": [1, 2], "y": ["a", "b"]})
    with pytest.raises(InputError, match="finite"):
        scores.l_diversity(data, ["q"], sensitive="y", kind="recursive").plot()
    with pytest.raises(InputError, match="'pie'"):
        scores.k_anonymity(data, ["q"]).plot("pie")


def test_a_score_shows_no_cell():
    score = scores.accuracy(patients(), ["Age", "Diagnosis"], target="Outcome")
    for text in (repr(score), score._repr_html_(), str(score.to_dict())):
        assert "Hypertension" not in text
        assert "Improved" not in text
