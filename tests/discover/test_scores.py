"""What all scores share: input of every library, column sets of every size, directions, and errors."""

import dataclasses
import inspect
import itertools
import json
import math
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from score_cases import (
    ALL,
    ARMS,
    BY_CLASS,
    BY_COLUMN,
    ILL,
    MEASURED,
    PAY,
    PEOPLE,
    SENSITIVE_TWINS,
    SET,
    TARGET_TWINS,
    TWINS,
    VARIANTS,
    approx,
    cases,
    counted,
    every,
)

import hushtable as ht
from hushtable.discover import scores
from hushtable.discover.scores import catalogue
from hushtable.discover.scores.utility import TargetEntry
from hushtable.errors import ColumnError, InputError
from hushtable.tables.partition import Partition
from hushtable.tables.table import Table
from loops import for_each
from strategies import draws
from twins import naive_scores as naive


@given(cases(), st.randoms(use_true_random=False))
@settings(max_examples=draws(40))
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
@settings(max_examples=draws(40))
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
    partition = Partition.from_table(table, SET)
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


@for_each("name", sorted({**BY_CLASS, **BY_COLUMN}))
def test_a_table_without_records_is_refused(name):
    with pytest.raises(InputError, match="no records"):
        ALL[name](PEOPLE[:0], SET)


@for_each("name", sorted({*BY_CLASS, *BY_COLUMN} - {"delta"}))
def test_a_partition_of_other_rows_or_by_other_columns_is_refused(name):
    # Delta-presence by its definition reads the partition of both tables.
    table = Table.encode(PEOPLE)
    twice = counted(PEOPLE, [2] * len(PEOPLE))
    finer, coarser, across = [*SET, "zip"], ["age"], ["zip", "ill"]
    for other in (
        Partition.from_table(Table.encode(PEOPLE[:5]), SET),
        Partition.from_table(twice, SET),
        *(Partition.from_table(table, columns) for columns in (finer, coarser, across, [])),
        Partition.from_labels(np.array([-1] + [0] * 11, np.int32), 1, table.counts),
    ):
        with pytest.raises(InputError, match="partition"):
            ALL[name](PEOPLE, SET, partition=other)


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


TERMS = {
    "k_anonymity": {},
    "distinction": {},
    "separation": {},
    "group_entropy": {},
    **dict.fromkeys(("l_diversity", "t_closeness", "generalization_ratio"), ILL),
    **dict.fromkeys(
        ("accuracy", "distinct_values", "gini", "information_gain", "mean_squared_error", "value_range"), PAY
    ),
}


@pytest.mark.parametrize("name", TERMS)
@given(case=cases(kinds=MEASURED))
@settings(max_examples=20)
def test_terms_know_which_way_a_further_column_makes_a_score_go(name, case):
    options = dict.fromkeys(TERMS[name], case.other)
    trend = ht.Term(name, options=options).trend
    assert trend != 0
    values = [getattr(scores, name)(case.data, case.columns[:j], **options).value for j in range(len(case.columns) + 1)]
    assert not any(trend * (b - a) < -1e-9 for a, b in itertools.pairwise(values))


PUBLIC = sorted(set(scores.__all__) - {"CausalGraph", "Score", "causal_graph", "truth"})


def test_every_public_score_has_an_entry():
    assert sorted(catalogue.TRENDS) == PUBLIC


@pytest.fixture
def trends(monkeypatch):
    """A catalogue that a test may add to."""
    copied = dict(catalogue.TRENDS)
    monkeypatch.setattr(catalogue, "TRENDS", copied)
    return copied


def test_a_score_about_a_target_is_one_entry(trends):
    @TargetEntry("half", "rate", "better", trend=1, returns="A half.", example=("ill", 0.5), paper_unit="percent")
    def half(classes):
        """Score a half."""
        return np.full(len(classes.records), 0.5)

    assert trends["half"] == 1
    score = half(PEOPLE, ["sex"], target="ill")
    assert (score.name, score.value, score.unit, score.direction) == ("half", 0.5, "rate", "better")
    assert half(PEOPLE, ["sex"], target="ill", variant="paper").unit == "percent"
    assert inspect.signature(half) == inspect.signature(scores.gini)
    assert half.__doc__ == scores.gini.__doc__.replace(scores.gini.__doc__.partition("\n")[0], "Score a half.").replace(
        "In [0, 1).\n    Never rises", "A half.\n    Never falls"
    ).replace("gini(", "half(").replace("0.25", "0.5")


def test_what_an_entry_says_of_a_parameter_goes_before_what_all_say(trends):
    @catalogue.register_score(Raises="InputError\n    Always.")
    def odd(data, columns, *, target, partition=None):
        """Score nothing.

        Parameters
        ----------
        target : int
            A number.

        Notes
        -----
        None.
        """

    titles = [line for line, below in itertools.pairwise(odd.__doc__.splitlines()) if below.startswith("---")]
    assert titles == ["Parameters", "Raises", "Notes"]
    assert "target : int\n    A number.\npartition : Partition, optional\n" in odd.__doc__
    assert trends["odd"] == 0


def test_a_parameter_that_nothing_describes_is_refused(trends):
    with pytest.raises(KeyError, match="mystery"):

        @catalogue.register_score()
        def odd(data, columns, *, mystery):
            """Score nothing."""


@for_each("name", PUBLIC)
def test_every_score_documents_its_parameters_and_runs_an_example(name):
    function = getattr(scores, name)
    parameters = inspect.signature(function).parameters
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in list(parameters.values())[2:])
    assert all(parameter in function.__doc__.partition("Parameters\n")[2] for parameter in parameters)
    assert ">>> " in function.__doc__
