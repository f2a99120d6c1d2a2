"""Which rows made a verdict fail: found again from the table, and told nobody by itself."""

import json
import stat

import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from command import run
from hushtable.claims import Classes, Independence
from hushtable.claims.classes import Limits

CELLS = st.lists(st.tuples(st.sampled_from(["30", "40", "*", None]), st.sampled_from("ab")), min_size=1, max_size=12)


@given(CELLS, st.integers(2, 3), st.sampled_from([None, 0.4]))
def test_the_rows_are_those_of_the_classes_that_fail(rows, k, risk):
    frame = pl.DataFrame(rows, schema={"age": pl.String, "ill": pl.String}, orient="row")
    models = (ht.KAnonymity(k), ht.DistinctLDiversity(2, "ill"))
    verdict = Classes(("age",), models, limits=Limits(highest_risk=risk), suppressed=None).verify(frame)
    members = {age: [i for i, row in enumerate(rows) if row[0] == age] for age, _ in rows}
    small = sorted(i for of_class in members.values() if len(of_class) < k for i in of_class)
    alike = sorted(i for of_class in members.values() if len({rows[i][1] for i in of_class}) < 2 for i in of_class)
    risky = sorted(i for of_class in members.values() if risk and len(of_class) < 3 for i in of_class)
    expected = [each for each in (small, alike, risky) if each]
    assert [failure.rows(frame).tolist() for failure in verdict.failures] == expected
    for failure, found in zip(verdict.failures, expected, strict=True):
        assert failure.n_records == len(found)


def test_suppressed_records_that_are_too_few_have_rows():
    frame = pl.DataFrame({"age": ["30", "30", "*", "40", "40"]})
    (failure,) = Classes(("age",), (ht.KAnonymity(2),)).verify(frame).failures
    assert failure.condition.startswith("suppressed records")
    assert failure.rows(frame).tolist() == [2]


def test_rows_are_asked_of_the_table_that_was_judged():
    frame = pl.DataFrame({"age": ["30", "30", "40"]})
    verdict = Classes(("age",), (ht.KAnonymity(2),)).verify(frame)
    with pytest.raises(ht.InputError, match="no row of this table fails"):
        verdict.failures[0].rows(frame.head(2))
    verdict = Independence(("age",), "b").verify(frame.with_columns(b=pl.Series([1, 2, 2])))
    with pytest.raises(ht.InputError, match="no single rows"):
        verdict.failures[0].rows(frame)
    # No row is told unless it is asked for.
    assert set(verdict.to_dict()["failures"][0]) == {"condition", "n_classes", "n_records", "worst"}


def test_the_command_writes_the_rows_for_their_owner(tmp_path):
    ht.anonymize(
        pl.DataFrame({"age": [30, 30, 40, 40, 50, 50]}), quasi_identifiers=["age"], models=[ht.KAnonymity(2)]
    ).write(tmp_path / "out.csv", keep_order=True)
    lines = (tmp_path / "out.csv").read_text().splitlines()
    (tmp_path / "out.csv").write_text("\n".join([*lines[:-1], "77"]) + "\n")
    (tmp_path / "policy.yaml").write_text("columns: {age: quasi-identifier}\nmodels: [k-anonymity: 2]\n")
    asked = ("verify", tmp_path / "out.csv", "-p", tmp_path / "policy.yaml", "--no-manifest")
    told = run(*asked, "--rows", tmp_path / "rows.csv", "--json")
    assert told.code == 1
    assert not json.loads(told.out)["passed"]
    assert stat.S_IMODE((tmp_path / "rows.csv").stat().st_mode) == 0o600
    fails = pl.read_csv(tmp_path / "rows.csv")
    assert fails["row"].to_list() == [5, 6]
    assert set(fails["fails"]) == {"k-anonymity (k = 2)"}
    assert "exists" in run(*asked, "--rows", tmp_path / "rows.csv").err
    assert run(*asked, "--rows", tmp_path / "rows.csv", "--force").code == 1
    assert "no effect without --rows" in run(*asked, "--force").err
    assert "is the input" in run(*asked, "--rows", tmp_path / "out.csv", "--force").err
