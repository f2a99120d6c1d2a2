"""Tables that a policy asks for: what it may say, what it refuses, and that the command makes the same."""

import polars as pl
import pytest

import hushtable as ht
from command import run

HEAD = "columns: {name: identifier, firm: other, region: other, size: other, ill: sensitive, pay: sensitive}\n"
TABLES = HEAD + "person: firm\ntabulations:\n  by: [region, size]\n  value: pay\n  threshold: 3\n  p: 20\n"


@pytest.fixture
def firms():
    rows = [(f"n{i}", f"f{i // 2}", "abc"[i % 3], "xy"[i % 2], "no" if i % 5 else "yes", f"{i * i % 17},5")
            for i in range(60)]  # fmt: skip
    return pl.DataFrame(rows, schema=["name", "firm", "region", "size", "ill", "pay"], orient="row")


def test_a_policy_makes_the_tables_that_python_makes(tmp_path, firms):
    firms.write_csv(tmp_path / "firms.csv", separator=";")
    (tmp_path / "p.yaml").write_text(TABLES + "read: {decimal: ','}\n", encoding="utf-8")
    policy = ht.Policy.read(tmp_path / "p.yaml")
    made = policy.tabulate(tmp_path / "firms.csv")
    numbers = firms.with_columns(pl.col("pay").str.replace(",", ".").cast(pl.Float64))
    told = ht.tabulate(
        numbers, by=["region", "size"], value="pay", person="firm", rules=ht.CellRules(threshold=3, p=20.0)
    )
    assert made.frame.equals(told.frame)
    assert ht.Policy.parse(policy.to_yaml()).to_dict() == policy.to_dict()
    run("tables", tmp_path / "firms.csv", "-p", tmp_path / "p.yaml", "-o", tmp_path / "t.csv")
    assert pl.read_csv(tmp_path / "t.csv", infer_schema=False).equals(made.frame)
    run("verify", tmp_path / "t.csv", "-p", tmp_path / "p.yaml")
    assert policy.verify(tmp_path / "t.csv").passed
    other = policy.with_entries({"tabulations.by": [["region"]]})
    with pytest.raises(ht.PolicyError, match="claims other tables"):
        other.verify(tmp_path / "t.csv")
    with pytest.raises(ht.PolicyError, match="has no models"):
        policy.protect(tmp_path / "firms.csv")
    refused = run("tables", tmp_path / "firms.csv", "-p", tmp_path / "p.yaml", "--p", 5, "-o", tmp_path / "u.csv")
    assert "both a policy and other options" in refused.err


@pytest.mark.parametrize(
    ("entry", "told"),
    [("{by: [name]}", "names 'name', which is an identifier"),
     ("{by: [town]}", "names 'town', which columns does not declare"),
     ("{by: [region], value: name}", "tabulations.value: names 'name'"),
     ("{by: [region, ill]}", "which is sensitive"),
     ("{by: [region], sensitive: size}", "a dimension of no table"),
     ("{by: [region], hierarchies: {size: {all: [x, y]}}}", "a dimension of no table"),
     ("{by: [region], dominance: [0, 80]}", "dominance n"),
     ("{by: [region], round: 5, threshold: 3}", "tabulations.threshold: has no effect"),
     ("{by: [region], round: 1}", "tabulations.round"),
     ("{by: []}", "tabulations.by"),
     ("{by: [region], thresold: 3}", "Did you mean 'threshold'")],
)  # fmt: skip
def test_what_a_policy_may_not_tabulate(entry, told):
    with pytest.raises(ht.PolicyError, match=told):
        ht.Policy.parse(f"{HEAD}tabulations: {entry}\n")


def test_a_sensitive_dimension_is_protected_or_accepted(firms):
    protected = ht.Policy.parse(f"{HEAD}tabulations: {{by: [[region, ill]], sensitive: ill, threshold: 2}}\n")
    assert protected.tabulate(firms).rules.sensitive == "ill"
    accepted = ht.Policy.parse(
        f"{HEAD}tabulations: {{by: [region, ill], threshold: 2}}\naccept: {{ill: it is known}}\n"
    )
    assert accepted.tabulate(firms).verify().passed
    with pytest.raises(ht.PolicyError, match="asks for no tables"):
        ht.Policy.parse("columns: {region: quasi-identifier}\nmodels: [k-anonymity: 2]").tabulate(firms)
    with pytest.raises(ht.PolicyError, match="gives no role to 'more'"):
        accepted.tabulate(firms.with_columns(more=1))


def test_a_policy_rounds(tmp_path, firms):
    policy = ht.Policy.parse(f"{HEAD}tabulations: {{by: [region, size], round: 5}}\n")
    made = policy.tabulate(firms)
    assert isinstance(made, ht.RoundedTables)
    made.write(tmp_path / "t.csv")
    assert policy.verify(tmp_path / "t.csv").passed
    for other in (
        {"tabulations.round": 4},
        {"tabulations.by": [["region"]]},
        {"tabulations": {"by": ["region", "size"]}},
    ):
        with pytest.raises(ht.PolicyError, match="claims other tables"):
            policy.with_entries(other).verify(tmp_path / "t.csv")


def test_a_policy_publishes_earlier_tables_again(tmp_path, firms):
    first = ht.Policy.parse(f"{HEAD}tabulations: {{by: [region, size], threshold: 2}}\n")
    first.tabulate(firms).write(tmp_path / "first.csv")
    with pytest.raises(ht.PolicyError, match=r"no file 'none.csv' in the folder"):
        ht.Policy.parse(f"{HEAD}tabulations: {{by: [region], earlier: none.csv}}\n", folder=tmp_path)
    policy = ht.Policy.parse(
        f"{HEAD}tabulations: {{by: [region], threshold: 2, earlier: first.csv}}\n", folder=tmp_path
    )
    assert tmp_path / "first.csv" in policy.inputs
    made = policy.tabulate(firms)
    assert made.by == (("region",), ("region", "size"))
    made.write(tmp_path / "second.csv")
    assert policy.verify(tmp_path / "second.csv").passed
    with pytest.raises(ht.PolicyError, match="claims other tables"):
        first.with_entries({"tabulations.by": [["region"]]}).verify(tmp_path / "second.csv")
