"""The command `hushtable assess`, and the headline in `hushtable scan`."""

import json

import polars as pl
import pytest

from command import done, run
from population_stub import estimators  # noqa: F401 - a fixture

PEOPLE = pl.DataFrame(
    {
        "who": ["x", "x", "y", "z", "v"],
        "age": [30, 30, 30, 40, 41],
        "town": ["canary", "canary", "canary", "b", "c"],
        "pay": ["low", "low", "high", "low", "low"],
        "home": ["h", "h", "h", "i", "i"],
        "weight": [10, 10, 10, 10, 10],
    }
)


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")


@pytest.mark.usefixtures("people")
def test_figures_come_line_by_line_and_as_json():
    shown = done("assess", "people.csv", "--qi", "age,town", "--sensitive", "pay").out
    assert shown.startswith("2 of 5 records are unique in the table. How many people outside the table share")
    assert "5 records are in 3 classes; the smallest holds 1 record." in shown
    assert "A class holds at least 1 values of pay" in shown
    told = json.loads(done("assess", "people.csv", "--qi", "age,town", "--json").out)
    assert (told["n_unique"], told["class_sizes"], told["records_below"]["5"]) == (2, {"1": 2, "3": 1}, 5)
    assert "failed_above" not in told
    assert "canary" not in shown + json.dumps(told)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(("tolerance", "size"), [("3", 3), ("ema-0070", 11), ("0.09", 12)])
def test_a_table_above_the_tolerance_is_a_no(tolerance, size):
    outcome = run("assess", "people.csv", "--qi", "age,town", "--tolerance", tolerance)
    assert outcome.code == 1
    assert f"records are in classes smaller than {size}." in outcome.err
    told = json.loads(run("assess", "people.csv", "--qi", "age,town", "--tolerance", tolerance, "--json").out)
    assert (told["tolerance"], told["failed_above"][0]["limit"]) == (size, size)


@pytest.mark.usefixtures("people")
def test_a_table_within_the_tolerance_is_done():
    told = json.loads(done("assess", "people.csv", "--qi", "pay", "--tolerance", "1", "--json").out)
    assert (told["within_tolerance"], told["failed_above"]) == (True, [])
    assert "Every class holds 1 or more." in done("assess", "people.csv", "--qi", "pay", "--tolerance", "1").out


@pytest.mark.usefixtures("people")
def test_the_safe_harbor_names_columns_and_rules():
    outcome = run("assess", "people.csv", "--qi", "age", "--tolerance", "hipaa-safe-harbor")
    assert outcome.code == 1
    assert "town looks to break the Safe Harbor, B: places smaller than a state" in outcome.out
    assert "no legal opinion" in outcome.out
    assert "canary" not in outcome.out + outcome.err


@pytest.mark.usefixtures("people", "estimators")
def test_the_population_is_known_in_three_ways():
    counted = done("assess", "people.csv", "--qi", "age,town", "--population", "people.csv").out
    assert "right in 100 % of cases, counted in the population, where 2 of them are unique too" in counted
    assert "journalist" in counted
    sized = done("assess", "people.csv", "--qi", "age,town", "--population-size", "50").out
    assert "unique in the sample (f = 10 % of the population)" in sized
    assert "not reliable: a stub" in sized
    weighed = done("assess", "people.csv", "--qi", "age,town", "--weights", "weight", "--household", "home").out
    assert "Of 2 households, 2 are unique by all their members" in weighed
    assert "members of a household come together" in weighed
    assert "canary" not in counted + sized + weighed


@pytest.mark.usefixtures("people", "estimators")
def test_figures_have_limits():
    asked = ("assess", "people.csv", "--qi", "age,town")
    assert run(*asked, "--fail-above", "rate=0.3").code == 1
    assert done(*asked, "--fail-above", "rate=0.4,highest=1,average=1,marketer=1,global=0.6")
    unknown = run(*asked, "--fail-above", "theta=1")
    assert unknown.code == 1
    assert "nothing is known of the population" in unknown.err
    assert run(*asked, "--population-size", "50", "--fail-above", "theta=1").code == 0
    assert run(*asked, "--population-size", "50", "--fail-above", "global=0.03").code == 1
    assert run(*asked, "--population", "people.csv", "--fail-above", "theta=0.5").code == 1
    assert run(*asked, "--fail-above", "count=1").code == 2


@pytest.mark.usefixtures("people")
def test_a_policy_says_what_is_asked():
    roles = {"who": "identifier", "age": "quasi-identifier", "town": "quasi-identifier", "pay": "sensitive"}
    columns = "\n".join(f"  {name}: {roles.get(name, 'other')}" for name in PEOPLE.columns)
    with open("policy.yaml", "w") as file:
        file.write(f"columns:\n{columns}\nmodels: [k-anonymity: 2]\nperson: who\n")
    told = json.loads(done("assess", "people.csv", "-p", "policy.yaml", "--json").out)
    assert (told["quasi_identifiers"], told["person"], told["class_sizes"]) == (
        ["age", "town"],
        "who",
        {"1": 2, "2": 1},
    )
    assert told["distinct_sensitive"] == {"pay": 1}
    outcome = run("assess", "people.csv", "-p", "policy.yaml", "--qi", "age")
    assert (outcome.code, "put them into the policy" in outcome.err) == (2, True)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--qi", "agee"),
        ("--qi", "age", "--tolerance", "ema"),
        ("--qi", "age", "--thresholds", "two"),
        ("--qi", "age", "--missing", "none"),
        ("--qi", "age", "--population-size", "3"),
        ("--qi", "age", "--population-size", "9", "--weights", "weight"),
        ("--qi", "age", "--weights", "town"),
    ],
)
@pytest.mark.usefixtures("estimators")
def test_what_is_asked_wrongly_is_an_error(options):
    outcome = run("assess", "people.csv", *options)
    assert outcome.code == 2
    assert "Hint" in outcome.err
    assert "canary" not in outcome.out + outcome.err


@pytest.mark.usefixtures("people")
def test_scan_says_what_is_not_known_of_the_population():
    shown = done("scan", "people.csv", "--persons").out
    assert "How many people outside the table share their values is not known" in shown


@pytest.mark.usefixtures("people", "estimators")
def test_theta_without_uniques_is_nothing_and_without_records_is_not_known():
    assert run("assess", "people.csv", "--qi", "home", "--population-size", "50", "--fail-above", "theta=0").code == 0
    PEOPLE.clear().write_csv("nobody.csv")
    outcome = run("assess", "nobody.csv", "--qi", "home", "--population-size", "50", "--fail-above", "theta=1,rate=1")
    assert outcome.code == 1
    assert outcome.err.count("cannot be said to be at most 1.0") == 2
