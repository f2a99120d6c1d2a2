"""One table of slips over the whole public surface: each ends in a HushError that says what was expected."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import hushtable as ht
from hushtable.discover import scores

FRAME = pl.DataFrame({"age": [20, 21, 40, 41], "sex": ["f", "m", "f", "m"], "ill": ["a", "b", "a", "b"]})
QI = ["age", "sex"]
MODELS = [ht.KAnonymity(2)]


def anonymize(**given: Any) -> Any:
    return ht.anonymize(FRAME, **{"quasi_identifiers": QI, "models": MODELS, **given})


def verify(**given: Any) -> Any:
    return ht.verify(FRAME, **{"quasi_identifiers": QI, "models": MODELS, **given})


def assess(**given: Any) -> Any:
    return ht.assess(FRAME, **{"quasi_identifiers": QI, **given})


def mpuccs(**given: Any) -> Any:
    return ht.mpuccs(FRAME, FRAME, **given)


def minimal_uniques(**given: Any) -> Any:
    return ht.minimal_uniques(FRAME, **given)


def mask_dependence(**given: Any) -> Any:
    return ht.mask_dependence(FRAME, **{"a": ["ill"], "b": ["age"], "clusters": 2, **given})


def masking_tradeoff(**given: Any) -> Any:
    return ht.masking_tradeoff(FRAME, **{"a": ["ill"], "b": ["age"], "clusters": [2], **given})


def select_columns(**given: Any) -> Any:
    objective = ht.Objective([ht.Term("separation")])
    return ht.select_columns(FRAME, **{"objective": objective, **given})


SLIPS: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    *(
        (verb, slip, expected)
        for verb in (anonymize, verify)
        for slip, expected in [
            ({"models": ht.KAnonymity(5)}, r"models=\[KAnonymity\(5\)\]"),
            ({"models": "k-anonymity"}, r"models=\[KAnonymity\(5\)\]"),
            ({"models": ["k-anonymity"]}, "lacks 'k'"),
            ({"models": ["k-anonimity"]}, "did you mean 'k-anonymity'"),
            ({"models": [{"k-anonymity": {"l": 3}}]}, "no option 'l'"),
            ({"models": [ht.KAnonymity]}, r"call it: KAnonymity\(\.\.\.\)"),
            ({"models": [5]}, "given as int"),
            ({"models": 5}, "one model"),
            ({"models": []}, "no privacy model"),
        ]
    ),
    *(
        (verb, {"quasi_identifiers": given}, expected)
        for verb in (anonymize, verify, assess)
        for given, expected in [
            ("sex", r"quasi_identifiers=\['sex'\]"),
            ([1], "column names are text"),
            (["sx"], "'sex'"),
        ]
    ),
    *(
        (verb, {"specs": {"age": "integer"}}, r"ColumnSpec\('integer'\)")
        for verb in (anonymize, verify, assess, mpuccs, minimal_uniques, mask_dependence)
    ),
    *((verb, {"specs": "integer"}, "ColumnSpec") for verb in (anonymize, verify, assess, mpuccs, minimal_uniques)),
    *(
        (verb, {"budget": 5}, r"Budget\(seconds=")
        for verb in (anonymize, mpuccs, minimal_uniques, mask_dependence, select_columns)
    ),
    (anonymize, {"method": ht.Mondrian}, r"call it: Mondrian\(\.\.\.\)"),
    (anonymize, {"method": "mondrain"}, "did you mean 'mondrian'"),
    (anonymize, {"method": {"mondrian": {"cuts": "median"}}}, "did you mean 'cut'"),
    (anonymize, {"method": 3}, "given as int"),
    (anonymize, {"loss": ht.SetNCP}, r"call it: SetNCP\(\.\.\.\)"),
    (anonymize, {"loss": "npc"}, "did you mean 'ncp'"),
    (anonymize, {"loss": ht.SetNCP({"agee": 2})}, "'age'"),
    (anonymize, {"hierarchies": {"agee": "auto"}}, "'age'"),
    (anonymize, {"hierarchies": ["auto"]}, "mapping"),
    (anonymize, {"identifiers": "ill"}, r"identifiers=\['ill'\]"),
    (anonymize, {"sensitive": "ill"}, r"sensitive=\['ill'\]"),
    (anonymize, {"suppression_limit": 2}, "from 0 to 1"),
    (anonymize, {"unknown": "eror"}, "'error' or 'suppress'"),
    (anonymize, {"missing": "wildcard"}, "missing='category'"),
    (anonymize, {"pseudonyms": ["ill"]}, r"Pseudonyms\(columns, key\)"),
    (anonymize, {"key": b"x" * 32}, "policy"),
    (anonymize, {"highest_risk": 2}, "at most 1"),
    (anonymize, {"policy": "policy.yaml"}, "put everything into the policy"),
    (verify, {"missing": "categorical"}, "'category', 'wildcard' or 'worst'"),
    (verify, {"highest_risk": 0}, "above 0"),
    (mpuccs, {"columns": "age"}, r"columns=\['age'\]"),
    (minimal_uniques, {"columns": "age"}, r"columns=\['age'\]"),
    (minimal_uniques, {"max_size": 1.5}, "whole number"),
    (mask_dependence, {"a": "ill"}, r"a=\['ill'\]"),
    (mask_dependence, {"b": "age"}, r"b=\['age'\]"),
    (mask_dependence, {"clusters": 2.5}, "whole number"),
    (masking_tradeoff, {"a": "ill"}, r"a=\['ill'\]"),
    (select_columns, {"objective": "separation"}, "Objective"),
    (select_columns, {"method": "exhaustiv"}, "'exhaustive'"),
]


@pytest.mark.parametrize(
    ("verb", "slip", "expected"), SLIPS, ids=lambda each: getattr(each, "__name__", None) or str(each)
)
def test_a_slip_says_what_was_expected(verb, slip, expected):
    with pytest.raises(ht.HushError, match=expected):
        verb(**slip)


@pytest.mark.parametrize("score", ["separation", "distinction"])
def test_a_score_of_one_text_says_what_was_expected(score):
    with pytest.raises(ht.HushError, match=r"\['age'\]"):
        getattr(scores, score)(FRAME, "age")


@pytest.mark.parametrize(
    ("name", "meant"), [("anonymise", "anonymize"), ("KAnonimity", "KAnonymity"), ("Mondrain", "Mondrian")]
)
def test_a_misspelt_public_name_is_told_what_was_meant(name, meant):
    with pytest.raises(AttributeError, match=f"did you mean {meant!r}"):
        getattr(ht, name)


def test_a_path_is_no_list_of_columns_and_no_file():
    with pytest.raises(ht.InputError, match="cannot read"):
        ht.anonymize("nowhere.csv", quasi_identifiers=QI, models=MODELS)
