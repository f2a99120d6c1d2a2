import json
import stat

import polars as pl
import pytest

import hushtable as ht
from command import done, run, tree


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    rows = range(60)
    pl.DataFrame({"age": [20 + row % 37 for row in rows], "pay": [row * row for row in rows]}).write_csv(path)
    return path


def test_microaggregation_is_verified_as_k_anonymity(table):
    out = table.with_name("out.csv")
    outcome = done("perturb", table, "--columns", "age,pay", "--set", "k=5", "-o", out)
    assert "age, pay: k-anonymity (k = 5), verified from the file." in outcome.out
    assert pl.read_csv(out).group_by("age", "pay").len()["len"].min() >= 5
    assert done("verify", out)


def test_a_direct_identifier_needs_a_reason(table):
    names = table.with_name("names.csv")
    pl.read_csv(table).with_columns(surname=pl.Series(["Lang", "Kurz", "Bauer"] * 20)).write_csv(names)
    asked = ("perturb", names, "--columns", "surname", "--method", "pram", "-o", table.with_name("out.csv"))
    refused = run(*asked)
    assert refused.code == 2
    assert "--accept 'surname=a reason'" in refused.err
    assert not table.with_name("out.csv").exists()
    assert "Accepted: surname (made up)." in done(*asked, "--accept", "surname=made up").out
    assert "--accept 'surname'" in run(*asked, "--accept", "surname", "--force").err


def test_all_else_is_stated_and_verify_says_that_a_file_cannot_show_it(table):
    out = table.with_name("out.csv")
    outcome = done("perturb", table, "--columns", "age", "--method", "shuffle", "--set", "given=pay", "-o", out)
    assert "Stated, not verified: data shuffling (given pay)." in outcome.out
    assert "no k-anonymity" in outcome.out
    verdict = run("verify", out)
    assert verdict.code == 1
    assert "not checked: data shuffling (given pay): no file shows" in verdict.out


def test_json_and_the_report_hold_loss_and_linkage(table):
    out, page = table.with_name("out.csv"), table.with_name("out.html")
    told = done("perturb", table, "--columns", "age,pay", "-o", out, "--json", "--report", page)
    entries = json.loads(told.out)
    assert entries["linkage"] < entries["linkage_before"] == 1
    assert entries["bound"] <= entries["loss"]
    assert "MDAV, k = 3" in page.read_text()


def test_a_certificate_is_written_for_its_owner_and_proves_the_bound(table):
    out, proof = table.with_name("out.csv"), table.with_name("proof.json")
    asked = ("perturb", table, "--columns", "age,pay", "--set", "prove=true", "--set", "steps=1000", "-o", out)
    outcome = done(*asked, "--certificate", proof)
    assert "keep it as safe as the data" in outcome.err
    verdict = ht.check_certificate(table, ht.Certificate.read(proof))
    assert verdict.passed
    assert stat.S_IMODE(proof.stat().st_mode) == 0o600


def test_other_methods_are_measured_beside_and_write_nothing(table):
    out = table.with_name("out.csv")
    asked = ("perturb", table, "--columns", "age,pay", "-o", out, "--beside", "noise amount=0.5", "--beside", "shuffle")
    told = done(*asked)
    assert "microaggregation()" in told.out
    assert "noise(amount=0.5)" in told.out
    assert {path.name for path in table.parent.iterdir()} == {"people.csv", "out.csv", "out.csv.manifest.json"}
    entries = json.loads(done(*asked, "--force", "--json").out)
    assert [point["method"] for point in entries["beside"]["points"]] == [
        "microaggregation()",
        "noise(amount=0.5)",
        "shuffle()",
    ]
    # What other methods would lose is not in the file beside the table.
    assert "beside" not in out.with_name("out.csv.manifest.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--method", "noise", "--set", "amount"), "write OPTION=VALUE"),
        (("--set", "kk=3"), "has no option 'kk'"),
        (("--method", "nois"), "did you mean 'noise'"),
        (("--beside", "nois"), "did you mean 'noise'"),
        (("--set", "k=61"), "60 records, fewer than 61"),
        (("--certificate", "proof.json"), "add --set prove=true"),
    ],
)
def test_a_wrong_option_writes_nothing(table, arguments, said):
    before = tree(table.parent)
    outcome = run("perturb", table, "--columns", "age", *arguments, "-o", table.with_name("out.csv"))
    assert outcome.code in (2, 3)
    assert said in outcome.err
    assert tree(table.parent) == before
