"""What models share: their statistics, their words in a policy, and the way back."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from hushtable.errors import ModelError
from hushtable.models import (
    MODELS,
    ClassStats,
    DistinctLDiversity,
    Histogram,
    KAnonymity,
    PrivacyModel,
    describe,
    from_dict,
    model_to_dict,
)
from twins import naive

ALL = [KAnonymity(1), KAnonymity(11), DistinctLDiversity(2, "pay"), DistinctLDiversity(3, 'odd "name" 😀')]


@pytest.mark.parametrize("model", ALL, ids=str)
def test_to_dict_and_back(model):
    entry = model_to_dict(model)
    assert from_dict(entry) == model
    assert from_dict(json.loads(json.dumps(entry))) == model


@pytest.mark.parametrize("model", ALL, ids=str)
def test_models_follow_the_protocol(model):
    assert isinstance(model, PrivacyModel)
    assert MODELS[model.name] is type(model)


@pytest.mark.parametrize("model", [KAnonymity(np.int64(5)), DistinctLDiversity(np.int32(2), "s")], ids=["k", "l"])
def test_numpy_numbers_become_plain_ones(model):
    """They are written to policies (YAML) and manifests (JSON)."""
    assert from_dict(json.loads(json.dumps(model_to_dict(model)))) == model
    assert "np" not in describe(model)


@pytest.mark.parametrize(
    ("entry", "model"),
    [
        ({"k-anonymity": 5}, KAnonymity(5)),
        ({"k-anonymity": {"k": 5}}, KAnonymity(5)),
        ({"distinct-l-diversity": {"sensitive": "pay", "l": 2}}, DistinctLDiversity(2, "pay")),
    ],
)
def test_from_dict(entry, model):
    assert from_dict(entry) == model


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ({}, "entry holds 0 names"),
        ({"k-anonymity": 5, "distinct-l-diversity": 2}, "entry holds 2 names"),
        ({"K-Anonymity": 5}, "unknown privacy model 'K-Anonymity'"),
        ({5: 5}, "unknown privacy model 5"),
        ({"k-anonymity": None}, "lacks 'k'"),
        ({"k-anonymity": 0}, "k = 0"),
        ({"k-anonymity": [5]}, "k = [5]"),
        ({"k-anonymity": {}}, "lacks 'k'.\n\nHint: its options are: k."),
        ({"k-anonymity": {"k": 5, "l": 2}}, "no option 'l'.\n\nHint: known: k."),
        ({"k-anonymity": {1: 2}}, "no option 1.\n\nHint: known: k."),
        ({"distinct-l-diversity": 2}, "lacks 'sensitive'.\n\nHint: its options are: l, sensitive."),
        ({"distinct-l-diversity": {"l": 2}}, "its options are: l, sensitive."),
        ({"distinct-l-diversity": {"l": "2", "sensitive": "pay"}}, "l = '2'"),
    ],
)
def test_from_dict_explains(entry, part):
    with pytest.raises(ModelError) as error:
        from_dict(entry)
    assert part in str(error.value)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KAnonymity(5), "k-anonymity (k = 5)"),
        (DistinctLDiversity(2, "pay"), "distinct-l-diversity (l = 2, sensitive = 'pay')"),
    ],
)
def test_describe(model, words):
    assert describe(model) == words


def test_a_name_stands_for_one_model():
    with pytest.raises(TypeError, match="'k-map' is the name of another one"):
        MODELS["k-map"] = KAnonymity


@given(st.lists(st.dictionaries(st.integers(-1, 4), st.integers(1, 3), max_size=5), max_size=6))
def test_histogram_counts_distinct_known_values(classes):
    ordered = [sorted(held.items()) for held in classes]
    histogram = Histogram(
        np.cumsum([0, *map(len, ordered)]),
        np.array([code for held in ordered for code, _ in held], dtype=np.int32),
        np.array([count for held in ordered for _, count in held], dtype=np.int64),
    )
    assert histogram.n_classes == len(classes)
    assert histogram.n_distinct().tolist() == [len(naive.known_counts(held)) for held in classes]


def test_repr_of_statistics_holds_no_figures():
    stats = ClassStats(np.array([7391]), {"s": Histogram(np.array([0, 1]), np.array([3]), np.array([7391]))})
    assert "7391" not in repr(stats)
    assert "7391" not in repr(KAnonymity(2).rule({}))
