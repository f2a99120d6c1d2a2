"""How a file spells its cells reaches everyone who judges it: the search, the verifier, other tables, the gate."""

import itertools
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from command import done, run
from hushtable.columns.column import ColumnSpec
from hushtable.io import frames
from hushtable.policy import Policy
from hushtable.release.exposing import KeptColumns, measure_exposure
from hushtable.release.exposure import ExposureLimit


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


POLICY = """\
read: {delimiter: ";", decimal: ",", missing_values: [NA]}
columns:
  born: {role: quasi-identifier, format: "%d.%m.%Y"}
  height: quasi-identifier
  ill: {role: sensitive, missing_values: [k.A.]}
  pay: sensitive
  patient: identifier
person: patient
models: [k-anonymity: 2, distinct-l-diversity: {l: 2, sensitive: ill}, distinct-l-diversity: {l: 2, sensitive: pay}]
"""


def write_extract(ills: list[str], pays: list[str]) -> None:
    rows = [
        f"0{i + 1}.0{i % 3 + 1}.1990;1,{i}5;{ill};{pay};p{i}"
        for i, (ill, pay) in enumerate(zip(ills, pays, strict=True))
    ]
    Path("in.csv").write_text("\n".join(["born;height;ill;pay;patient", *rows]) + "\n")
    Path("policy.yaml").write_text(POLICY)


ILLS, PAYS = ["flu", "gout", "NA", "flu", "gout", "k.A."], ["1,5", "2,50", "1,50", "2,5", "1,5", "3,0"]


def test_what_was_searched_by_is_what_is_verified_by(here: Path) -> None:
    write_extract(ILLS, PAYS)
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    for options in ([], ["-p", "policy.yaml"]):
        done("verify", "out.csv", "--original", "in.csv", *options)
    claim = json.loads(Path("out.csv.manifest.json").read_text())["claim"]
    assert claim["spellings"]["ill"]["missing_values"] == ["k.A.", "NA"]
    assert claim["spellings"]["pay"]["decimal"] == ","
    assert "born" not in claim["spellings"]
    policy = Policy.read("policy.yaml")
    assert policy.verify("out.csv", original="in.csv").passed
    assert policy.protect("in.csv").verify().passed


@pytest.mark.parametrize(
    ("ills", "pays"),
    [(["NA", "flu", "k.A.", "NA", "flu", "NA"], PAYS), (ILLS, ["1,50", "1,5", "1,500", "01,5", "1,5", "1,5"])],
    ids=["codes are no values", "spellings are no values"],
)
def test_codes_and_spellings_make_nothing_diverse(here: Path, ills: list[str], pays: list[str]) -> None:
    write_extract(ills, [pay.replace("01,5", "1,5") for pay in pays])
    assert run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv").code == 3
    published = pl.read_csv("in.csv", separator=";", infer_schema=False)
    published = published.drop("patient").with_columns(born=pl.lit("*"), height=pl.lit("*"))
    published.write_csv("forged.csv", separator=";")
    Path("policy.yaml").write_text(POLICY.replace("person: patient\n", ""))
    assert run("verify", "forged.csv", "-p", "policy.yaml", "--no-manifest").code == 1
    assert not Policy.read("policy.yaml").verify("forged.csv").passed


def test_what_is_yet_to_be_decided_verifies_nothing(here: Path) -> None:
    write_extract(ILLS, PAYS)
    asking = POLICY.replace("height: quasi-identifier", "height: ask")
    Path("asking.yaml").write_text(asking)
    done("anonymize", "in.csv", "-p", "asking.yaml", "-o", "out.csv", "--ask", "quasi-identifier")
    refused = run("verify", "out.csv", "-p", "asking.yaml", "--original", "in.csv")
    assert refused.code == 2
    assert "'height'" in refused.err
    done("verify", "out.csv", "-p", "asking.yaml", "--ask", "quasi-identifier", "--original", "in.csv")
    with pytest.raises(ht.PolicyError, match="'height'"):
        Policy.parse(asking).verify("out.csv")


def test_sensitive_cells_of_two_readings_are_refused(here: Path) -> None:
    Path("in.csv").write_text("age,seen\n" + "".join(f"{i},01.0{i % 9 + 1}.2020\n" for i in range(20)))
    options = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(2), ht.DistinctLDiversity(2, "seen")]}
    with pytest.raises(ht.ColumnError, match="several formats"):
        ht.anonymize("in.csv", **options)
    assert ht.anonymize("in.csv", **options, specs={"seen": ColumnSpec("category")}).verify().passed


def test_tables_beside_one_another_are_read_alike() -> None:
    days = [f"0{i % 9 + 1}.0{i % 7 + 1}.19{i + 10}" for i in range(40)]
    tables = [
        frames.read(pl.DataFrame({"day": [*days, *more], "n": ["1"] * (40 + len(more))}))
        for more in ([], ["31.01.2020"])
    ]
    as_text = [frames.Frame(each.data, is_text=True) for each in tables]
    for original, synthetic in itertools.permutations(as_text):
        found = ht.mpuccs(original, synthetic, n_cols=[1])
        assert found.summary["total_identified"] == 40


def test_a_population_is_read_as_the_data_are(here: Path) -> None:
    rows = "".join(f"{i % 9 + 10}.0{i % 6 + 1}.1990\n" for i in range(60))
    Path("in.csv").write_text(f"born\n{rows}")
    Path("all.csv").write_text("born\n" + rows.replace("10.", "01.").replace("11.", "02.").replace("12.", "03."))
    release = ht.anonymize("in.csv", quasi_identifiers=["born"], models=[ht.KMap(2)], population="in.csv")
    assert release.claim.specs["born"].kind == "date"
    policy = "columns: {born: {role: quasi-identifier, format: '%d.%m.%Y'}}\nmodels: [k-map: 2]\npopulation: in.csv\n"
    Path("policy.yaml").write_text(policy)
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    done("verify", "out.csv", "-p", "policy.yaml")


def alone_by_definition(rows: list[tuple], persons: list[int | None], columns: int) -> int:
    """The slow twin: records for which some few columns hold cells that no second person has; None is nobody."""
    found = set()
    for size in range(1, columns + 1):
        for columns_of_set in itertools.combinations(range(len(rows[0])), size):
            classes = defaultdict(set)
            for place, row in enumerate(rows):
                classes[tuple(row[j] for j in columns_of_set)].add(place)
            for places in classes.values():
                if len({persons[place] for place in places} - {None}) <= 1:
                    found |= places
    return len(found)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.none() | st.integers(0, 4)), min_size=1, max_size=12
    )
)
def test_the_gate_counts_persons(rows: list[tuple]) -> None:
    data = pl.DataFrame(rows, schema={"x": pl.Int64, "y": pl.String, "who": pl.Int64}, orient="row")
    frame, classes = frames.read(data), np.zeros(len(rows), dtype=np.int32)
    found = measure_exposure(frame, classes, KeptColumns(["x", "y"]), person="who")
    expected = alone_by_definition([row[:2] for row in rows], [row[2] for row in rows], 2)
    assert found.n_unique == expected
    apart = data.with_columns(who=pl.int_range(len(rows)))
    by_record = measure_exposure(frame, classes, KeptColumns(["x", "y"]))
    by_person = measure_exposure(frames.read(apart), classes, KeptColumns(["x", "y"]), person="who")
    assert (by_person.n_unique, by_person.sets) == (by_record.n_unique, by_record.sets)


def test_a_person_of_several_rows_is_found_all_the_same(here: Path) -> None:
    rows = [f"{i % 5},home{i},p{i}" for i in range(100) for _ in range(2)]
    Path("in.csv").write_text("\n".join(["age,home,patient", *rows]) + "\n")
    policy = "columns: {age: quasi-identifier, home: other, patient: identifier}\nmodels: [k-anonymity: 3]\n"
    Path("policy.yaml").write_text(policy + "person: patient\n")
    refused = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert refused.code == 1
    assert "200 of 200 records" in refused.err


@pytest.mark.parametrize("limit", [{"rate": float("nan")}, {"rate": 5}, {"columns": 0}, {"columns": -3}])
def test_limits_that_would_never_refuse_are_none(limit: dict) -> None:
    with pytest.raises(ht.InputError, match="exposure limit"):
        ExposureLimit(**limit)


def test_scan_counts_persons_where_every_identifier_repeats(here: Path) -> None:
    rows = [f"{i % 40},{'mf'[i % 2]},p{i % 30}" for i in range(90)]
    Path("in.csv").write_text("\n".join(["age,sex,patient_id", *rows]) + "\n")
    done("scan", "in.csv", "-p", "policy.yaml")
    assert Policy.read("policy.yaml").person == "patient_id"


def test_a_first_line_that_is_a_record_is_refused_without_showing_it(here: Path) -> None:
    rows = [f"{i % 7 + 40},{'MF'[i % 2]},4844,Koch" for i in range(20)]
    Path("in.csv").write_text("\n".join(rows) + "\n")
    refused = run("scan", "in.csv")
    assert refused.code == 2
    assert "looks like a record" in refused.err
    assert "Koch" not in refused.err


def test_a_table_read_in_the_wrong_encoding_is_not_shown_as_a_name(here: Path) -> None:
    Path("in.csv").write_text("age,name\n" + "41,canary-7319\n" * 50)
    refused = run("anonymize", "in.csv", "--qi", "age", "--k", "2", "--encoding", "utf-16", "-o", "out.csv")
    assert refused.code == 2
    assert len(refused.err) < 1_000


def test_points_may_group_digits_where_semicolons_part_cells(here: Path) -> None:
    Path("in.csv").write_text("pay;sex\n" + "".join(f"{i % 9 + 1}.{i:03};{'mf'[i % 2]}\n850;m\n" for i in range(60)))
    refused = run("anonymize", "in.csv", "--qi", "pay,sex", "--k", "3", "-o", "out.csv")
    assert refused.code == 2
    assert "2 ways" in refused.err
    done("anonymize", "in.csv", "--qi", "pay,sex", "--k", "3", "-o", "out.csv", "--set", 'columns.pay.decimal=","')
    assert not pl.read_csv("out.csv", separator=";", infer_schema=False)["pay"].str.contains(".", literal=True).any()


def test_masking_writes_no_identifier_that_nobody_named(here: Path) -> None:
    rows = [f"n{i} x{i},{i % 5},{'ab'[i % 2]}" for i in range(60)]
    Path("in.csv").write_text("\n".join(["name,age,job", *rows]) + "\n")
    options = ["mask-dependence", "in.csv", "--a", "job", "--b", "age", "--clusters", "2", "-o", "out.csv"]
    assert run(*options).code == 2
    done(*options, "--c", "")


def test_whoever_is_missing_hides_nobody_from_the_gate(here: Path) -> None:
    rows = [f"{i % 5},home{i},{who}" for i in range(100) for who in (f"p{i}", "NA")]
    Path("in.csv").write_text("\n".join(["age,home,patient", *rows]) + "\n")
    policy = "columns: {age: quasi-identifier, home: other, patient: identifier}\nmodels: [k-anonymity: 3]\n"
    Path("policy.yaml").write_text(policy + "person: patient\nread: {missing_values: [NA]}\n")
    refused = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert refused.code == 1
    assert "200 of 200 records" in refused.err
