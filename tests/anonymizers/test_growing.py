"""Mondrian's tree grown in parts is the tree of one search, number by number, on any number of threads."""

from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_mondrian import METHODS, model_lists, searched, tables

import hushtable as ht
from hushtable.anonymizers import growing
from hushtable.search import THREADS


def parted(n_parts: int) -> Any:
    return mock.patch.multiple(growing, _N_PARTS=n_parts, _SMALLEST_PART=1)


@METHODS
@settings(max_examples=60)
@given(tables(max_rows=30), model_lists(), st.integers(2, 6))
def test_parts_are_the_whole(method, table, models, n_parts):
    whole = searched(method, table, models)
    with parted(n_parts):
        same = searched(method, table, models)
    assert same.partition.labels.tolist() == whole.partition.labels.tolist()
    for name in ("columns", "starts", "members"):
        assert getattr(same.placing, name).tolist() == getattr(whole.placing, name).tolist()
    assert (same.trace.nodes, same.trace.complete) == (whole.trace.nodes, True)


PEOPLE = ht.datasets.people(300, seed=4)
NAMES = ["sex", "birth_date", "education", "marital_status", "postcode"]
K = ht.KAnonymity(3)


@pytest.mark.parametrize("n_threads", ["1", "3"])
@pytest.mark.parametrize(
    "asked",
    [
        {"models": [K, ht.TCloseness(0.4, "diagnosis"), ht.BetaLikeness(3, "diagnosis")]},
        {"models": [K, ht.EntropyLDiversity(2, "diagnosis"), ht.RecursiveCLDiversity(3, 2, "diagnosis")]},
        {"models": [ht.KMap(4)], "population": ht.datasets.people(900, seed=5)},
        {"models": [K], "method": ht.Mondrian(cut="median", strict=False)},
        {"models": [K], "method": ht.Mondrian(exchange=True)},
        {"models": [K], "method": ht.Mondrian(recoding="readable"), "hierarchies": {"education": "auto"}},
        {"models": [K], "suppression_limit": 0.05},
    ],
    ids=["closeness", "diversity", "population", "relaxed", "exchange", "readable", "suppression"],
)
def test_releases_are_the_same(asked: dict[str, Any], n_threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"quasi_identifiers": NAMES, "roles": "trust", **asked}
    whole = ht.anonymize(PEOPLE, **given)
    monkeypatch.setenv(THREADS, n_threads)
    told: list[float] = []
    with parted(8):
        same = ht.anonymize(PEOPLE, **given, progress=told.append)
    assert same.partition.labels.tolist() == whole.partition.labels.tolist()
    assert same.loss == whole.loss
    assert same.frame.equals(whole.frame)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_a_budget_is_for_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(growing, "_joined", never)
    with parted(4):
        early = ht.anonymize(PEOPLE, quasi_identifiers=NAMES, models=[K], roles="trust", budget=ht.Budget(nodes=5))
    assert not early.trace.complete


def test_an_interrupted_search_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(growing.Scratch, "piece", interrupted)
    with parted(4), pytest.raises(KeyboardInterrupt):
        ht.anonymize(PEOPLE, quasi_identifiers=NAMES, models=[K], roles="trust")
