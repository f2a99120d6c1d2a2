"""Mondrian's tree grown in parts is the tree of one search, number by number, on any number of threads."""

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from test_mondrian import METHODS, model_lists, quasi_identifiers, searched, tables

import hushtable as ht
from hushtable.anonymizers import mondrian, parallel
from hushtable.models import MODELS
from hushtable.models.matching import MatchingNotion
from hushtable.search.budget import THREADS
from searching import problem_of
from strategies import draws


def parted(n_parts: int) -> Any:
    return mock.patch.multiple(parallel, _N_PARTS=n_parts, _MIN_ROWS_PER_PART=1)


@METHODS
@settings(max_examples=draws(60))
@given(tables(max_rows=30), model_lists(), st.integers(2, 6))
def test_parts_are_the_whole(method, table, models, n_parts):
    whole = searched(method, table, models)
    with parted(n_parts):
        same = searched(method, table, models)
    assert same.partition.labels.tolist() == whole.partition.labels.tolist()
    for name in ("columns", "starts", "members"):
        assert getattr(same.placing, name).tolist() == getattr(whole.placing, name).tolist()
    assert (same.trace.nodes, same.trace.complete) == (whole.trace.nodes, True)


EVERY_MODEL = {
    "alpha-k-anonymity": [ht.AlphaKAnonymity(0.75, 2, "sickness")],
    "distinct-l-diversity": [ht.DistinctLDiversity(2, "sickness"), ht.KAnonymity(2)],
    "entropy-l-diversity": [ht.EntropyLDiversity(1.5, "sickness")],
    "recursive-c-l-diversity": [ht.RecursiveCLDiversity(3, 2, "sickness")],
    "t-closeness": [ht.TCloseness(0.5, "sickness"), ht.TCloseness(0.5, "pay")],
    "beta-likeness": [ht.BetaLikeness(2, "sickness")],
    "delta-disclosure": [ht.DeltaDisclosure(2, "sickness")],
    "k-anonymity": [ht.KAnonymity(2)],
    "k-map": [ht.KMap(3)],
    "delta-presence": [ht.DeltaPresence(0.1, 0.9)],
}


def test_every_model_is_cut_in_parts_here():
    # What is asked of whole histories no side of a cut can hold.
    others = (MatchingNotion, ht.KMAnonymity, ht.LinkedKAnonymity)
    cut = {name for name, model in MODELS.items() if not issubclass(model, others)}
    assert set(EVERY_MODEL) == cut


@pytest.mark.parametrize("name", EVERY_MODEL)
@pytest.mark.parametrize("recoding", ["tight", "readable"])
@METHODS
@settings(max_examples=draws(25))
@given(table=tables(max_rows=24), data=st.data())
def test_a_side_of_a_cut_is_cut_as_it_is_in_the_whole(method, recoding, name, table, data):
    """As another machine cuts it, that has its rows alone and knows the whole: there may be no missing value in it."""
    method, population = replace(method, recoding=recoding), None
    if any(model.needs.population for model in EVERY_MODEL[name]):
        people = data.draw(st.lists(st.integers(0, 4), min_size=table.n_rows, max_size=table.n_rows))
        population = table.counts + np.array(people)
    problem = problem_of(table, quasi_identifiers(table), EVERY_MODEL[name], population=population)
    if not problem.judge.passes_as_one_class():
        return
    # Cells that overlap are undone afterwards, where the whole is known.
    with mock.patch.object(mondrian, "undo_overlaps", lambda found, cuts, *_: (found, cuts)):
        whole = method.search(problem)
        tree, labels = whole.placing, whole.partition.labels
        if tree.columns[0] < 0:
            return
        n_left = 1 + int(np.flatnonzero(np.cumsum(np.where(tree.columns[1:] < 0, -1, 1)) == -1)[0])
        n_left_classes = int((tree.columns[1 : 1 + n_left] < 0).sum())
        for side, first in ((labels < n_left_classes, 0), (labels >= n_left_classes, n_left_classes)):
            part = method.search(replace(problem, judge=problem.judge.take_rows(side)))
            assert (first + part.partition.labels).tolist() == labels[side].tolist()


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

    monkeypatch.setattr(parallel, "concatenate_trees", never)
    with parted(4):
        early = ht.anonymize(PEOPLE, quasi_identifiers=NAMES, models=[K], roles="trust", budget=ht.Budget(nodes=5))
    assert not early.trace.complete


def test_an_interrupted_search_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(parallel.ThreadScratch, "grow_piece", interrupted)
    with parted(4), pytest.raises(KeyboardInterrupt):
        ht.anonymize(PEOPLE, quasi_identifiers=NAMES, models=[K], roles="trust")
