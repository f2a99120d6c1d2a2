"""Budget and Trace."""

import dataclasses

import pytest

from hushtable.errors import InputError
from hushtable.search import Budget, Effort, Trace


@pytest.mark.parametrize("given", [{}, {"seconds": 0.5}, {"nodes": 1}, {"seconds": 1, "nodes": 10}])
def test_budgets_above_zero_are_taken(given):
    budget = Budget(**given)
    assert (budget.seconds, budget.nodes) == (given.get("seconds"), given.get("nodes"))


@pytest.mark.parametrize("name", ["seconds", "nodes"])
@pytest.mark.parametrize("number", [0, -1, float("nan")])
def test_other_budgets_are_refused_with_their_value(name, number):
    with pytest.raises(InputError, match=rf"budget {name} = {number!r}") as caught:
        Budget(**{name: number})
    assert "Hint:" in str(caught.value)


def test_a_trace_claims_no_proof_unless_told():
    trace = Trace("mondrian", nodes=7, seconds=0.25)
    assert trace.to_dict() == {
        "method": "mondrian",
        "nodes": 7,
        "seconds": 0.25,
        "complete": True,
        "optimal": False,
        "bound": None,
        "gap": None,
        "seed": None,
    }


@pytest.mark.parametrize("result", [Budget(), Trace("mondrian", 1, 0.0)])
def test_both_are_frozen(result):
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.seconds = 1.0


def test_effort_is_told_where_it_was_recorded():
    effort = Effort(states=1_000, pruned=3, cache_hits=2, space=8.0, ties=1, history=((0.5, None, 2.0),))
    assert effort.factor == pytest.approx(5.0)
    entries = Trace("mingen", 1, 0.0, effort=effort).to_dict()
    assert entries["effort"]["states"] == 1_000
    assert entries["effort"]["history"] == ((0.5, None, 2.0),)
    assert "effort" not in Trace("mondrian", 1, 0.0).to_dict()
