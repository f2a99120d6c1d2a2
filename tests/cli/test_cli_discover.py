"""The commands scores and select."""

import itertools
import json
from types import SimpleNamespace

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.discover import compare_sets, objective, optimizers

PEOPLE = pl.DataFrame(
    {
        "age": [31, 31, 52, 60, 60, 44],
        "sex": ["f", "f", "m", "m", "f", "m"],
        "zip": ["01067", "01067", "53111", "8010", "53111", "53111"],
        "ill": ["flu", "gout", "flu", "mumps", "flu", "gout"],
        "arm": ["A", "B", "A", "B", "A", "B"],
    }
)
CELLS = ("01067", "53111", "8010", "flu", "gout", "mumps")


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")
    return "people.csv"


def no_cells(text):
    return not any(cell in text for cell in CELLS)


def test_sets_stand_beside_one_another(file):
    out = done("scores", file, "--columns", "age", "--columns", "age, sex").out
    assert "2 column sets, 6 records" in out
    assert "  2: age, sex" in out
    (line,) = [line for line in out.splitlines() if line.startswith("distinction")]
    assert line.split() == ["distinction", "rate", "riskier", "0.666667", "0.833333"]
    assert no_cells(out)


def test_many_sets_are_shown_six_at_a_time(file):
    out = done("scores", file, *(["--columns", "age"] * 14)).out
    titles = [line.split()[-1] for line in out.splitlines() if line.startswith("score ")]
    assert titles == ["6", "12", "14"]


def test_json_is_the_comparison(file):
    found = json.loads(done("scores", file, "--columns", "age", "--truth", "age,sex", "--json").out)
    assert (found.pop("file"), found.pop("n_records"), found.pop("form")) == (file, 6, 1)
    assert found == compare_sets(PEOPLE, [["age"]], truth=["age", "sex"]).to_dict()


def test_scores_are_named_with_the_number_wanted_of_them(file):
    chosen = "gini:mean,k_anonymity:weighted_mean"
    found = json.loads(done("scores", file, "--columns", "sex", "--scores", chosen, "--target", "ill", "--json").out)
    assert list(found["sets"][0]["values"]) == ["gini (mean, target=ill)", "k_anonymity (weighted mean)"]


def test_columns_that_are_named_bring_their_scores(file):
    given = ["--target", "ill", "--sensitive", "ill", "--treatment", "arm", "--treated", "A"]
    outcome = done("scores", file, "--columns", "sex", *given, "--json")
    labels = [score["label"] for score in json.loads(outcome.out)["scores"]]
    assert labels[:2] == ["distinction", "separation"]
    assert {"accuracy (target=ill)", "t_closeness (sensitive=ill)", "balance (treatment=arm)"} <= {*labels}


def test_a_score_that_is_not_defined_is_said_to_be(file):
    out = done("scores", file, "--columns", "", "--scores", "distinction", "--truth", "").out
    assert "1 column set, 6 records" in out
    assert "  1: no columns" in out
    assert "not defined" in out


def test_the_best_set_is_printed_with_its_reasons(file):
    out = done("select", file, "--columns", "age,sex,zip").out
    best = ht.select_columns(
        PEOPLE, columns=["age", "sex", "zip"], objective={"distinction": 1.0, "attribute_length_penalty": -0.5}
    )
    assert out.splitlines()[0] == ", ".join(best.best)
    assert "the best of 7 column sets evaluated (exhaustive); proven" in out
    for line in best.explain(PEOPLE).lines():
        assert line in out
    assert f"careful: {best.warnings[0]}" in out
    assert "hushtable scan" in out
    assert no_cells(out)


def test_json_is_the_selection_and_its_explanation(file):
    options = ["--objective", "separation=1,gini=-0.5", "--target", "ill", "--method", "greedy", "--seed", "3"]
    found = json.loads(done("select", file, *options, "--json").out)
    objective = ht.Objective((ht.Term("separation"), ht.Term("gini", -0.5, options={"target": "ill"})))
    columns = [name for name in PEOPLE.columns if name != "ill"]
    expected = ht.select_columns(PEOPLE, columns=columns, objective=objective, method="greedy", seed=3)
    for name in ("best", "value", "terms", "objective", "method", "evaluated", "optimal", "warnings"):
        assert found[name] == expected.to_dict()[name]
    assert found["explanation"] == expected.explain(PEOPLE).to_dict()
    assert found["file"] == file
    assert found["seed"] == 3


def test_the_objective_of_the_source_has_a_name(file):
    found = json.loads(done("select", file, "--objective", "paper", "--method", "branch_and_bound", "--json").out)
    assert found["objective"] == ht.Objective.paper().to_dict()
    assert found["best"] == list(ht.select_columns(PEOPLE, objective=ht.Objective.paper()).best)


def test_the_front_is_printed(file):
    out = done("select", file, "--objective", "separation=1,k_anonymity:mean=0.1", "--method", "pareto").out
    assert "sets that no other betters in every term and in size" in out


def test_a_search_that_proves_nothing_says_so(file):
    assert "; not proven" in done("select", file, "--method", "annealing").out


def test_a_search_takes_its_options(file):
    options = {
        "annealing": "temperature=2,cooling=0.9,max_steps=30",
        "tabu": "tenure=3",
        "evolutionary": "population=8",
    }
    for method, told in options.items():
        found = json.loads(done("select", file, "--method", method, "--option", told, "--json").out)
        of_method = {
            "annealing": optimizers.Annealing,
            "tabu": optimizers.Tabu,
            "evolutionary": optimizers.Evolutionary,
        }[method]
        numbers = {name: float(number) for name, number in (each.split("=") for each in told.split(","))}
        whole = {name: int(n) if n == int(n) and name != "temperature" else n for name, n in numbers.items()}
        objective = ht.Objective((ht.Term("distinction"), ht.Term("attribute_length_penalty", -0.5)))
        expected = ht.select_columns(PEOPLE, objective=objective, method=of_method(**whole))
        assert found["method"] == expected.to_dict()["method"]
        assert found["best"] == list(expected.best)
    assert "has no option 'tenure'" in run("select", file, "--method", "annealing", "--option", "tenure=3").err
    assert "it takes 'max_columns'" in run("select", file, "--option", "tenure=3").err


def test_a_budget_that_ends_a_search_is_told(file, monkeypatch):
    # A clock that goes on by a second whenever it is looked at.
    monkeypatch.setattr(objective, "time", SimpleNamespace(perf_counter=itertools.count().__next__))
    slow = ["--objective", "group_entropy=1,gini=-1", "--target", "ill"]
    assert "NOT complete: the budget ended" in done("select", file, *slow, "--seconds", "3").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["scores", "--columns", "age", "--scores", "distinktion"], "unknown score 'distinktion'"),
        (["scores", "--columns", "age", "--scores", "distinction:sum"], "aggregate = 'sum'"),
        (["scores", "--columns", "age", "--scores", "gini"], "give --target"),
        (["scores", "--columns", "age", "--scores", "truth"], "unknown score 'truth'"),
        (["scores", "--columns", "age", "--scores", "distinction", "--target", "ill"], "no score looks at '--target'"),
        (["scores", "--columns", "age", "--treated", "A"], "no score looks at '--treated'"),
        (["scores", "--columns", "shoe"], "no column 'shoe'"),
        (["scores", "--columns", "age", "--scores", "delta_presence"], "population"),
        (["select", "--objective", "distinction"], "not of the form SCORE=WEIGHT"),
        (["select", "--objective", "distinction=0"], "weight = 0"),
        (["select", "--objective", "paper", "--target", "ill"], "no score looks at '--target'"),
        (["select", "--method", "ea"], "unknown method 'ea'"),
        (["select", "--columns", "shoe"], "no column 'shoe'"),
        (["select", "--seconds", "0"], "budget seconds = 0"),
    ],
)
def test_what_is_wrong_is_said_and_exits_with_2(file, arguments, says):
    outcome = run(arguments[0], file, *arguments[1:])
    assert outcome.code == 2
    assert says in outcome.err
    assert "Traceback" not in outcome.err
    assert no_cells(outcome.err)


def test_odd_names_and_a_german_dialect(tmp_path):
    path = tmp_path / "leute.csv"
    path.write_bytes("Größe;*;^a.*$\r\n1;x;1\r\n2;;1\r\n2;y;1\r\n".encode("latin-1"))
    outcome = done("scores", path, "--columns", "Größe,*", "--columns", "^a.*$", "--encoding", "latin-1", "--json")
    sets = json.loads(outcome.out)["sets"]
    assert [each["columns"] for each in sets] == [["Größe", "*"], ["^a.*$"]]
    assert [each["values"]["distinction"] for each in sets] == [1.0, pytest.approx(1 / 3)]
    assert done("select", path, "--encoding", "latin-1").out.startswith("*\n")
