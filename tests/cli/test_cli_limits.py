"""--fail-above: figures at, below and above their limits, and those that cannot be judged."""

import json
import math
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.cli.arguments import names_of
from hushtable.cli.limits import scan_figures
from hushtable.cli.terminal import join_some
from hushtable.policy.limits import LimitedFigure, find_failures, mpuccs_figures

# 3 of 4 synthetic records are identified; all 4 originals are unique on both columns, 2 of them on age alone.
ORIGINAL = pl.DataFrame({"age": [31, 31, 52, 47], "city": ["Aa", "Bb", "Cc", "Cc"]})
SYNTHETIC = pl.DataFrame({"age": [31, 47, 52, 52], "city": ["Bb", "Bb", "Cc", "Dd"]})

MPUCCS = ("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1,2")
UNIQUES = ("uniques", "original.csv", "--columns", "age")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ORIGINAL.write_csv("original.csv")
    SYNTHETIC.write_csv("synthetic.csv")


@pytest.mark.parametrize(
    ("command", "limits", "failing"),
    [
        (MPUCCS, "rate=0.75", []),
        (MPUCCS, "rate=0.7499999", ["rate"]),
        (MPUCCS, "rate=0.76,count=3", []),
        (MPUCCS, "rate=0.76,count=2", ["count"]),
        (MPUCCS, " count = 0 , rate=0", ["count", "rate"]),
        (MPUCCS, "rate=1", []),
        ((*MPUCCS, "--compat", "petsard-1.6"), "rate=1,count=4", []),
        ((*MPUCCS, "--compat", "petsard-1.6"), "rate=0.1", ["rate"]),
        (("mpuccs", "original.csv", "--sizes", "1", "--columns", "age"), "rate=0.5", []),
        (("mpuccs", "original.csv", "--sizes", "1", "--columns", "age"), "rate=0.49", ["rate"]),
        (UNIQUES, "rate=0.5,count=2", []),
        (UNIQUES, "rate=0.49", ["rate"]),
        (UNIQUES, "count=1", ["count"]),
    ],
)
def test_a_figure_above_its_limit_is_exit_1_after_the_result(files, command, limits, failing):
    outcome = run(*command, "--fail-above", limits, "--json")
    assert outcome.code == (1 if failing else 0)
    failed = json.loads(outcome.out)["failed_above"]
    assert [each["figure"] for each in failed] == failing
    assert outcome.err.count("hushtable: failed: ") == len(failing)
    for each in failed:
        assert f"{each['figure']} is {each['value']}, above the limit of {each['limit']}: " in outcome.err
        assert each["value"] > each["limit"]
    text = run(*command, "--fail-above", limits)
    assert text.code == outcome.code
    assert text.out == run(*command).out
    assert text.err == outcome.err


def test_limits_can_be_given_one_by_one(files):
    outcome = run(*MPUCCS, "--fail-above", "rate=0.1", "--fail-above", "count=1")
    assert outcome.code == 1
    assert outcome.err.count("failed: ") == 2


def test_without_a_limit_nothing_is_judged(files):
    assert "failed_above" not in json.loads(done(*MPUCCS, "--json").out)
    assert "failed_above" not in json.loads(done(*UNIQUES, "--json").out)


def test_files_are_written_before_the_command_fails(files):
    outcome = run(*MPUCCS, "--fail-above", "rate=0", "--details", "details.csv", "--tree", "tree.csv")
    assert outcome.code == 1
    assert pl.read_csv("details.csv").height == 3
    assert pl.read_csv("tree.csv").height == 3
    assert run(*UNIQUES, "--fail-above", "rate=0", "--details", "sets.csv").code == 1
    assert pl.read_csv("sets.csv").height == 2


@pytest.fixture
def leaks(tmp_path, monkeypatch):
    """Forty originals, as many made-up records, and as many controls: few are the same in two tables, by chance."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("original", "synthetic", "control"):
        pl.DataFrame(rng.integers(0, 40, (40, 2))).write_csv(f"{name}.csv")
    return ("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1,2", "--control", "control.csv")


def test_the_excess_is_limited_by_the_upper_end_of_its_interval(leaks):
    control = json.loads(done(*leaks, "--json").out)["control"]
    high = control["interval"][1]
    assert control["excess_risk"] < high < 1
    assert run(*leaks, "--fail-above", f"excess={high!r}").code == 0
    outcome = run(*leaks, "--fail-above", f"excess={(control['excess_risk'] + high) / 2!r}", "--json")
    assert outcome.code == 1
    (failed,) = json.loads(outcome.out)["failed_above"]
    assert failed["value"] == high
    assert "upper end of the 95 % interval" in outcome.err
    # What was copied shows.
    leaked = run("mpuccs", "original.csv", "original.csv", *leaks[3:], "--fail-above", "excess=0.2")
    assert leaked.code == 1


def test_a_control_that_could_not_show_a_copy_passes_no_limit(leaks):
    pl.read_csv("control.csv")[:3].write_csv("few.csv")
    few = (*leaks[:-1], "few.csv")
    outcome = run(*few, "--fail-above", "excess=0.5", "--json")
    assert outcome.code == 1
    assert "excess cannot be said to be at most 0.5: the control is too small" in outcome.err
    assert json.loads(outcome.out)["failed_above"][0]["value"] < 0.5


def test_the_excess_takes_a_control(files):
    for more in ((), ("--compat", "petsard-1.6")):
        outcome = run(*MPUCCS, *more, "--fail-above", "excess=0.1")
        assert outcome.code == 2
        assert "--fail-above excess has no effect without --control" in outcome.err


@pytest.mark.parametrize("figure", ["rate=1", "count=9999", "excess=1"])
def test_an_unfinished_search_is_never_below_a_limit(files, figure):
    pl.DataFrame(np.random.default_rng(0).integers(0, 3, (3_000, 24))).write_csv("wide.csv")
    command = ("mpuccs", "wide.csv", "wide.csv", "--control", "wide.csv", "--sizes", "all", "--seconds", "0.01")
    outcome = run(*command, "--json", "--fail-above", figure)
    assert outcome.code == 1
    assert "the budget ended before" in outcome.err
    assert not json.loads(outcome.out)["complete"]
    if "excess" in figure:
        assert json.loads(outcome.out)["failed_above"][0]["value"] is None
    else:
        assert run("uniques", "wide.csv", "--seconds", "0.01", "--fail-above", figure).code == 1


def test_a_search_that_skipped_sets_is_never_below_a_limit(files):
    outcome = run(*MPUCCS, "--entropy-delta", "5", "--fail-above", "rate=1")
    assert outcome.code == 1
    assert "rate cannot be said to be at most 1.0: column sets were skipped" in outcome.err
    # Where nothing was skipped, nothing is in doubt.
    assert run(*MPUCCS, "--entropy-delta", "-5", "--fail-above", "rate=1").code == 0


def test_figures_of_petsard_are_said_to_be_low(files):
    outcome = done(*MPUCCS, "--compat", "petsard-1.6", "--fail-above", "rate=1")
    assert "its figures are too low" in outcome.err


@pytest.mark.parametrize(
    "limits",
    [
        "",
        " ",
        "rate",
        "rate=",
        "rate=nan",
        "rate=-0.1",
        "rate=5",
        "rate=5%",
        "rate=0,05",
        "count=1.5",
        "count=-1",
        "count=inf",
        "count=nan",
        "excess=1.01",
        "excess=-2",
        "average=0.1",
        "risk=0.1",
        "rate=0.1,rate=0.2",
        "rate=0.1,",
    ],
)
def test_a_limit_that_is_none_is_an_error(leaks, limits):
    outcome = run(*leaks, "--fail-above", limits)
    assert outcome.code == 2
    assert "Hint" in outcome.err
    assert not outcome.out


def test_an_unknown_figure_is_told_the_known_ones(files):
    assert "'rate', 'excess', 'count'" in run(*MPUCCS, "--fail-above", "risk=1").err
    assert "'rate', 'count'" in run(*UNIQUES, "--fail-above", "excess=1").err


def test_a_reader_that_has_gone_does_not_hide_a_failure(files):
    code = "import sys; from hushtable import cli; sys.argv[0] = 'hushtable'; cli.main()"
    for limit, expected in (("rate=0", 1), ("rate=1", 0)):
        command = [sys.executable, "-c", code, *MPUCCS, "--fail-above", limit]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            told = process.stderr.read()
        assert process.returncode == expected, told


# scan


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Of five people, three are unique on what others may know."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(
        {
            "age": [31, 31, 52, 47, 23],
            "sex": ["f", "f", "m", "m", "f"],
            "diagnosis": ["flu", "gout", "flu", "flu", "gout"],
        }
    ).write_csv("people.csv")
    found = json.loads(done("scan", "people.csv", "--json").out)["risk"]
    assert found["quasi_identifiers"] == ["age", "sex"]
    return found


def test_scan_fails_above_each_limit(people):
    figures = {"rate": 0.6, "highest": 1.0, "average": 0.8}
    for name, value in figures.items():
        assert run("scan", "people.csv", "--fail-above", f"{name}={value}").code == 0
        below = run("scan", "people.csv", "--fail-above", f"{name}={value - 1e-6}", "--json")
        assert below.code == 1
        (failed,) = json.loads(below.out)["failed_above"]
        assert (failed["figure"], failed["value"]) == (name, value)
        assert f"failed: {name} is {value}, above the limit of " in below.err
    assert people["n_unique"] == 3


def test_scan_writes_its_policy_before_it_fails(people):
    outcome = run("scan", "people.csv", "-p", "policy.yaml", "--fail-above", "rate=0.1")
    assert outcome.code == 1
    assert ht.Policy.read("policy.yaml")


def test_without_a_quasi_identifier_scan_passes_no_limit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"v0": [0.25, 0.25, 0.25, 0.5], "v1": [0.5, 0.5, 0.5, 0.5]}).write_csv("values.csv")
    assert json.loads(done("scan", "values.csv", "--json").out)["risk"]["quasi_identifiers"] == []
    outcome = run("scan", "values.csv", "--fail-above", "rate=1,highest=1,average=1")
    assert outcome.code == 1
    assert outcome.err.count("no column looks like a quasi-identifier") == 3


def test_scan_of_no_record_passes_no_rate(people):
    pl.read_csv("people.csv").clear().write_csv("nobody.csv")
    risk = ht.assess(pl.read_csv("nobody.csv"), quasi_identifiers=["age", "sex"]).to_dict()
    (failed,) = find_failures(scan_figures(risk), {"rate": 1.0})
    assert failed["value"] is None
    assert "could not be computed" in failed["because"]


@pytest.mark.parametrize("limits", ["count=1", "excess=0.1", "average=2", "highest=", ""])
def test_a_limit_that_scan_does_not_know_is_an_error(people, limits):
    outcome = run("scan", "people.csv", "-p", "policy.yaml", "--fail-above", limits)
    assert outcome.code == 2
    assert "Hint" in outcome.err


def test_nan_is_below_nothing():
    (failed,) = find_failures({"rate": LimitedFigure(math.nan, "a share")}, {"rate": 1.0})
    assert failed == {
        "figure": "rate",
        "value": None,
        "limit": 1.0,
        "because": "rate cannot be said to be at most 1.0: it could not be computed",
    }


@pytest.mark.parametrize(("most", "is_in_doubt"), [(0.04, True), (0.05, True), (0.06, False)])
def test_a_control_that_could_not_show_more_than_the_limit_is_doubted(most, is_in_doubt):
    control = {"most": most, "n_compared": 9, "excess_risk": 0.0, "interval": (-0.01, 0.01)}
    summary = {
        "identification_rate": 0.0,
        "total_identified": 0,
        "weighted_identification_rate": 0.0,
        "control": control,
        "total_syn_records": 100,
    }
    limits = {"excess": 0.05}
    assert bool(find_failures(mpuccs_figures(summary, limits), limits)) is is_in_doubt


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ('"Name, first",age', ["Name, first", "age"]),
        ('age, "a, b"', ["age", "a, b"]),
        ('"a ""b"", c"', ['a "b", c']),
        ('"a, b"=20,age=0', ["a, b=20", "age=0"]),
        ('5" pipe, age,', ['5" pipe', "age"]),
        ('"open,age', ['"open', "age"]),
        (" , ", []),
    ],
)
def test_names_of_columns_with_a_comma_are_quoted(option, names):
    assert names_of(option) == names


def test_many_names_of_columns_are_cut_with_a_count():
    assert join_some(["a", "b", "c"], 2) == "a, b and 1 more"
    assert join_some(["a", "b"], 2) == "a, b"
