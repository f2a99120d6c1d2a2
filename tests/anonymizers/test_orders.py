"""Mondrian publishes the same records, whatever the order of rows and of quasi-identifiers."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.errors import HushError
from strategies import draws, tables

METHODS = [
    *({"cut": cut, "recoding": style} for cut in ("gain", "median") for style in ("tight", "cut", "label", "set")),
    *({"exchange": True, "cut": cut, "recoding": style} for cut in ("gain", "median") for style in ("tight", "set")),
    {"exchange": True, "recoding": "central"},
    {"cut": "median", "recoding": "central"},
    {"cut": "median", "strict": False},
    {"cut": "median", "strict": False, "exchange": True},
]
MODELS = [[], [ht.DistinctLDiversity(2, "ill")], [ht.TCloseness(0.4, "ill")]]


def published(frame, names, **options):
    """What a release publishes, as a multiset of records, and its loss."""
    try:
        release = ht.anonymize(frame, quasi_identifiers=names, sensitive=["ill"], **options)
    except HushError as error:
        return type(error)
    return Counter(release.frame.select(sorted(frame.columns)).rows()), release.loss, release.quality.set_ncp


@pytest.mark.parametrize("method", METHODS, ids=lambda each: " ".join(map(str, each.values())))
@settings(max_examples=draws(40))
@given(data=st.data())
def test_the_order_of_rows_and_columns_changes_nothing(method, data):
    frame = data.draw(tables(min_rows=4, max_rows=30))
    names = frame.columns
    ill = data.draw(st.lists(st.sampled_from(["flu", "gout"]), min_size=frame.height, max_size=frame.height))
    frame = frame.with_columns(pl.Series("ill", ill))
    weights = {names[0]: data.draw(st.sampled_from([1, 2.5]))}
    models = [ht.KAnonymity(data.draw(st.integers(2, 4))), *data.draw(st.sampled_from(MODELS))]
    options = {"models": models, "method": ht.Mondrian(**method), "loss": ht.SetNCP(weights)}
    asked = published(frame, names, **options)
    shuffled = frame[data.draw(st.permutations(range(frame.height)))]
    assert published(shuffled, names, **options) == asked
    assert published(frame, data.draw(st.permutations(names)), **options) == asked


@pytest.mark.parametrize("method", [{}, {"exchange": True}, {"cut": "median", "strict": False}], ids=str)
def test_the_order_of_many_rows_changes_nothing(method):
    names = ["birth_date", "sex", "education", "occupation", "nationality"]
    people = ht.datasets.people(2_000).select(*names, ill="diagnosis")
    options = {"models": [ht.KAnonymity(4), ht.DistinctLDiversity(2, "ill")], "method": ht.Mondrian(**method)}
    shuffled = people[np.random.default_rng(0).permutation(people.height)]
    assert published(shuffled, names[::-1], **options) == published(people, names, **options)


@pytest.mark.parametrize("method", [{"exchange": True}, {"cut": "median", "strict": False, "exchange": True}], ids=str)
def test_the_order_of_people_of_a_population_changes_nothing(method):
    people = ht.datasets.people(600).select("birth_date", "sex", "education", ill="diagnosis")
    names = ["birth_date", "sex", "education"]
    options = {"models": [ht.KMap(5)], "method": ht.Mondrian(**method)}
    order = np.random.default_rng(1).permutation(people.height)
    one = published(people[:200], names, population=people, **options)
    assert published(people[:200][::-1], names[::-1], population=people[order], **options) == one
