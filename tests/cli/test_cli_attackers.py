"""unicity, link, join-risk: from arguments to exit codes."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import polars as pl
import pytest

import hushtable as ht
from hushtable import cli
from twins import naive_attacks


@pytest.fixture
def run(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["hushtable", *map(str, arguments)])
        try:
            cli.main()
            code = 0
        except SystemExit as ended:
            code = ended.code
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.fixture
def ratings(tmp_path):
    path = tmp_path / "ratings.csv"
    naive_attacks.ratings(80, 30, 1, mean=8).write_csv(path)
    return path


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    ht.datasets.people(n=120, seed=1).select("name", "birth_date", "sex", "postcode", "diagnosis").write_csv(path)
    return path


def test_unicity_counts_persons(run, ratings, tmp_path):
    options = ("unicity", ratings, "--person", "person", "--item", "item", "--known", "1,4", "--tolerance", "date=14D")
    code, out, _ = run(*options, "--report", tmp_path / "told.html")
    assert code == 0
    assert "finds" in out
    assert "date within 14D" in out
    assert (tmp_path / "told.html").stat().st_mode & 0o077 == 0
    code, out, err = run(*options, "--json", "--fail-above", "rate=0.1")
    assert code == 1
    assert "above the limit of 0.1" in err
    told = json.loads(out)
    expected = ht.unicity(ratings, person="person", item="item", known=[1, 4], tolerance={"date": "14D"})
    assert told["known"] == expected.to_dict()["known"]
    assert run(*options, "--fail-above", "rate=1")[0] == 0


def test_records_that_are_wrong_and_persons_of_another_table(run, ratings):
    known = ("--person", "person", "--item", "item", "--known", "6", "--wrong", "2")
    code, out, _ = run("unicity", ratings, *known, "--eccentricity", "0.5", "--fail-above", "count=0")
    assert code == 1
    assert "highest alone" in out
    told = json.loads(run("unicity", ratings, *known, "--json")[1])
    expected = ht.unicity(ratings, person="person", item="item", known=6, wrong=2)
    assert told["known"] == expected.to_dict()["known"]
    assert (told["wrong"], told["eccentricity"]) == (2, 1.5)
    pair = ("link", ratings, ratings, "--on", "item,date", "--truth", "person", "--person", "person")
    code, out, err = run(*pair, "--fail-above", "rate=0.5")
    assert code == 1
    assert "are linked with themselves" in out
    assert "of the outside persons" in err
    assert json.loads(run(*pair, "--json")[1])["persons"]["n_persons"] == 80
    assert run(*pair[:4], "item", "--eccentricity", "1")[0] == 2


def test_a_limit_of_persons_holds_for_each_number_of_records(run, tmp_path):
    # Two records find 10 of 12 persons; one person alone has four, and is found: a larger share, a smaller number.
    rows = [(who, item) for who in range(10) for item in (f"a{who}", f"b{who}")] + [(10, "c"), (10, "d")] * 2
    data = pl.DataFrame([*rows, (11, "c"), (11, "d")], schema=["who", "item"], orient="row")
    data.write_csv(tmp_path / "few.csv")
    options = ("unicity", tmp_path / "few.csv", "--person", "who", "--item", "item", "--known", "2,4")
    assert run(*options, "--fail-above", "count=1")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--wrong", "4", "--known", "4"), "none of them would be right"),
        (("--known", "two"), "no list of whole numbers"),
        (("--tolerance", "14D"), "COLUMN=AMOUNT"),
        (("--tolerance", "date=14"), "span of time"),
        (("--known", "999"), "nobody has more"),
    ],
)
def test_unicity_says_what_is_wrong(run, ratings, arguments, says):
    code, _, err = run("unicity", ratings, "--person", "person", "--item", "item", *arguments)
    assert code == 2
    assert says in err


def test_link_reads_the_manifest_of_a_release(run, people, tmp_path):
    release = ht.anonymize(
        people, quasi_identifiers=["birth_date", "sex", "postcode"], models=[ht.KAnonymity(3)], roles="trust",
        sensitive=["diagnosis"], identifiers=["name"], method=ht.Mondrian(recoding="readable"),
    )  # fmt: skip
    replace(release, exposure=None).write(tmp_path / "release.csv")
    options = ("link", tmp_path / "release.csv", people, "--on", "birth_date,sex,postcode", "--truth", "diagnosis")
    code, out, err = run(*options, "--control", people)
    assert code == 0
    assert "and 0 none." in out
    assert "Beyond the control" in out
    whole = ht.link(release, people, on=["birth_date", "sex"], truth="diagnosis").to_dict()
    code, out, _ = run(*options[:4], "birth_date,sex", *options[5:], "--json")
    assert json.loads(out)["found"] == whole["found"]
    code, _, err = run(*options, "--fail-above", "excess=0.1")
    assert code == 2
    assert "--control" in err
    raw = run("link", people, people, "--on", "birth_date,postcode=postcode", "--fail-above", "rate=0")
    assert raw[0] == 1


def test_join_risk_joins_two_files(run, people, tmp_path):
    table = pl.read_csv(people)
    table.select("name", "postcode").write_csv(tmp_path / "a.csv")
    table.select("name", zip="postcode", ill="diagnosis").write_csv(tmp_path / "b.csv")
    code, out, _ = run("join-risk", tmp_path / "a.csv", tmp_path / "b.csv", "--on", "postcode=zip", "--truth", "name")
    assert code == 0
    assert "The join rebuilds" in out
    assert "The join is right of" in out
    code, out, _ = run("join-risk", tmp_path / "a.csv", tmp_path / "b.csv", "--on", "name", "--json",
                       "--fail-above", "count=0", "--report", tmp_path / "told.html")  # fmt: skip
    assert code == 1
    assert json.loads(out)["n_alone"] > 100


def test_uniques_and_assess_take_what_is_known_roughly(run, people):
    code, out, _ = run("uniques", people, "--columns", "birth_date,sex", "--tolerance", "birth_date=365D", "--json")
    exact = run("uniques", people, "--columns", "birth_date,sex", "--json")[1]
    assert code == 0
    assert json.loads(out)["n_records_with_sets"] < json.loads(exact)["n_records_with_sets"]
    code, out, _ = run("assess", people, "--qi", "birth_date,sex", "--known-within", "birth_date=365D", "--json")
    assert code == 0
    assert json.loads(out)["known_within"] == {"birth_date": "365D"}


def test_attack_reads_a_written_release(run, people, tmp_path):
    options = {"quasi_identifiers": ["birth_date", "sex"], "models": [ht.KAnonymity(3)], "roles": "trust"}
    options |= {"sensitive": ["diagnosis"], "identifiers": ["name"], "method": ht.Mondrian(recoding="cut")}
    table = pl.read_csv(people)
    for name, rows in (("now", table), ("before", table[:117])):
        release = ht.anonymize(rows.with_columns(pl.col("birth_date").str.to_date()), **options)
        replace(release, exposure=None).write(tmp_path / f"{name}.csv")
    arguments = ("attack-release", tmp_path / "now.csv", "--earlier", tmp_path / "before.csv", "--original", people)
    code, out, _ = run(*arguments, "--report", tmp_path / "told.html")
    assert code == 0
    assert "homogeneity" in out
    assert "Not tried: ends" in out
    code, out, _ = run(*arguments, "--json", "--external", "--fail-above", "count=0")
    told = json.loads(out)
    assert code == (1 if told["fell"] else 0)
    assert "intersection" in {each["name"] for each in told["attacks"]}
    assert "witnesses" not in out
    assert run("attack-release", people)[0] == 2
