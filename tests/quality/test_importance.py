"""Importance: the weights of a loss by another name, the same at every door."""

import json

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.anonymizers import METHODS
from hushtable.errors import ColumnError, InputError, PolicyError
from hushtable.policy import Policy

PEOPLE = ht.datasets.people(60, seed=3).select("sex", "postcode", "education")
COLUMNS = dict.fromkeys(PEOPLE.columns, "quasi-identifier")
RULES = Policy.make({"columns": COLUMNS, "models": [{"k-anonymity": 3}], "importance": {"postcode": 4, "sex": 2}})


def naive_mean(by_column, importance):
    counted = [lost for name, lost in by_column.items() for _ in range(importance.get(name, 1))]
    return sum(counted) / len(counted)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("histories", "mingen")])
def test_every_method_searches_by_it_as_by_weights(method):
    short = {"genetic": {"generations": 2, "individuals": 4}}
    asked = {method: short.get(method, {})}
    by_importance = RULES.with_entries({("method",): asked}).protect(PEOPLE)
    weighted = {"importance": {}, "loss": {"ncp": {"weights": {"postcode": 4, "sex": 2}}}, "method": asked}
    by_weights = RULES.with_entries({(name,): entry for name, entry in weighted.items()}).protect(PEOPLE)
    assert by_importance.frame.equals(by_weights.frame)
    expected = naive_mean(by_importance.quality.by_column, RULES.importance)
    assert by_importance.loss == pytest.approx(expected, abs=1e-12)


def test_what_is_important_loses_less():
    plain = RULES.with_entries({("importance",): {}}).protect(PEOPLE).quality.by_column
    assert RULES.protect(PEOPLE).quality.by_column["postcode"] < plain["postcode"]


def test_every_door_takes_it(tmp_path):
    PEOPLE.write_csv(tmp_path / "t.csv")
    loss = RULES.protect(tmp_path / "t.csv", engine="memory").loss
    asked = {"quasi_identifiers": PEOPLE.columns, "models": [ht.KAnonymity(3)], "method": RULES.method}
    assert ht.anonymize(tmp_path / "t.csv", **asked, importance={"postcode": 4, "sex": 2}).loss == loss
    assert Policy.parse(RULES.to_yaml()) == RULES
    (tmp_path / "p.yaml").write_text(RULES.with_entries({("importance",): {}}).to_yaml())
    options = ["anonymize", tmp_path / "t.csv", "-p", tmp_path / "p.yaml", "-o", tmp_path / "o.csv"]
    told = done(*options, "--importance", "postcode=4,sex=2", "--json")
    assert json.loads(told.out)["loss"] == loss
    verbose = done(*options, "--force", "--importance", "postcode=4,sex=2", "-v")
    assert "(importance 4)" in verbose.out
    assert f"The information loss is {loss:.4f} (set-NCP, 0 none to 1 all, weighted)." in verbose.out
    assert run(*options, "--force", "--importance", "postcode=2.5").code == 2


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ({"importance": {"sex": 6}}, "importance.sex: Input should be less than or equal to 5"),
        ({"importance": {"sex": 0}}, "importance.sex: Input should be greater than or equal to 1"),
        ({"importance": {"sex": 1.5}}, "importance.sex: Input should be a valid integer"),
        ({"importance": {"pay": 2}}, "importance.pay: names 'pay'"),
        ({"loss": {"ncp": {"weights": {"sex": 2}}}}, "importance and weights of the loss were both given"),
        ({"loss": "discernibility", "method": "full_domain"}, "the loss 'discernibility' does not weigh columns"),
    ],
)
def test_a_policy_that_contradicts_itself_is_refused(entries, told):
    with pytest.raises(PolicyError, match=told):
        RULES.with_entries({(name,): entry for name, entry in entries.items()})


def test_python_refuses_it_too():
    asked = {"quasi_identifiers": ["sex"], "models": [ht.KAnonymity(3)], "roles": "trust"}
    people = PEOPLE.with_columns(pl.col("sex"))
    with pytest.raises(InputError, match="the importance 6"):
        ht.anonymize(people, **asked, importance={"sex": 6})
    with pytest.raises(InputError, match="the importance True"):
        ht.anonymize(people, **asked, importance={"sex": True})
    with pytest.raises(ColumnError, match="'postcode'"):
        ht.anonymize(people, **asked, importance={"postcode": 2})
    with pytest.raises(InputError, match="both given"):
        ht.anonymize(people, **asked, importance={"sex": 2}, loss={"ncp": {"weights": {"sex": 2}}})
    with pytest.raises(InputError, match="importance was given as list"):
        ht.anonymize(people, **asked, importance=["sex"])
