"""Searches over column sets: exact ones against every subset, the others against the optimum."""

import itertools
import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import hushtable as ht
from hushtable.discover import objective, optimizers
from hushtable.discover.objective import ObjectiveEvaluator
from hushtable.discover.optimizers import Annealing, Evolutionary, Exhaustive, Greedy, Pareto, Tabu, pareto_front
from hushtable.errors import BudgetExceeded, ColumnError, InputError
from hushtable.tables.table import Table
from strategies import counted_tables
from twins import naive_scores as naive

PAPER = ht.Objective.paper()
METHODS = [*optimizers.METHODS]
# What exhaustive search of the source's objective finds; the sets may tie.
OPTIMA = {"car": 1.151, "diabetes": 1.519, "heart": 1.833, "nursery": 1.071}


def every_subset(names):
    return [list(c) for size in range(1, len(names) + 1) for c in itertools.combinations(names, size)]


@pytest.fixture(scope="module")
def real(shared_file):
    """The four small tables of the source."""
    with shared_file("data/uci/nursery.csv").open() as file:
        # The header has eight names for nine fields; the last one is the class.
        header = [name.strip() for name in file.readline().split(",")]
    nursery = pl.read_csv(
        shared_file("data/uci/nursery.csv"),
        skip_rows=1,
        has_header=False,
        infer_schema=False,
        new_columns=[*header, "class"],
    )
    return {
        "car": Table.encode(shared_file("data/uci/car.csv")),
        "diabetes": Table.encode(shared_file("data/uci/diabetes.csv")),
        "heart": Table.encode(shared_file("data/uci/heart_disease.csv")),
        "nursery": Table.encode(nursery),
    }


@pytest.mark.parametrize("method", ["exhaustive", "branch_and_bound", "pareto"])
@given(table=counted_tables(min_rows=2))
def test_exact_searches_find_the_best_of_all_subsets(method, table):
    values = {tuple(each): naive.objective_of_the_paper(table, each) for each in every_subset(table.names)}
    found = ht.select_columns(table, objective=PAPER, method=method)
    assert found.value == pytest.approx(max(values.values()))
    assert values[found.best] == pytest.approx(found.value)
    assert found.optimal
    assert found.bound == found.value
    if method != "branch_and_bound":
        assert len(found.history) == len(values)


@pytest.mark.parametrize("method", METHODS)
@given(table=counted_tables(min_rows=2, max_rows=8))
def test_what_is_returned_has_the_value_that_is_reported(method, table):
    found = ht.select_columns(table, objective=PAPER, method=method, seed=1, budget=ht.Budget(nodes=9))
    assert found.value == pytest.approx(naive.objective_of_the_paper(table, list(found.best)))
    assert found.value == found.history.values.max() == found.history.best_so_far()[-1]
    assert len(np.unique(found.history.sets, axis=0)) == len(found.history)
    assert found.history.sets.any(axis=1).all()


SLOW_TERMS = {
    "group_entropy": {},
    "accuracy": {"target": "t"},
    "gini": {"target": "t"},
    "l_diversity": {"sensitive": "t"},
    "t_closeness": {"sensitive": "t"},
}


@pytest.mark.parametrize("name", SLOW_TERMS)
@pytest.mark.parametrize("weight", [1.0, -1.0])
def test_branch_and_bound_agrees_with_exhaustive_search_on_other_scores(name, weight):
    people = ht.datasets.people(80).select("sex", "education", "marital_status", "nationality", "diagnosis")
    people = people.rename({"diagnosis": "t"})
    terms = (ht.Term(name, weight, options=SLOW_TERMS[name]), ht.Term("separation", -0.5 * weight, bounds=(0.2, 0.9)))
    objective = ht.Objective((*terms, ht.Term("attribute_length_penalty", -0.3)))
    candidates = [each for each in people.columns if each != "t"]
    every = ht.select_columns(people, objective=objective, columns=candidates)
    bounded = ht.select_columns(people, objective=objective, columns=candidates, method="branch_and_bound")
    assert bounded.value == pytest.approx(every.value)
    assert bounded.optimal


@pytest.mark.parametrize("name", OPTIMA)
def test_exact_searches_reproduce_the_optima_of_the_source(real, name):
    found = {m: ht.select_columns(real[name], objective=PAPER, method=m) for m in METHODS[:3]}
    assert found["exhaustive"].value == pytest.approx(OPTIMA[name], abs=5e-4)
    assert {each.value for each in found.values()} == {found["exhaustive"].value}
    assert len(found["exhaustive"].history) == 2 ** len(real[name].names) - 1
    assert len(found["branch_and_bound"].history) <= len(found["exhaustive"].history)


@pytest.mark.parametrize("method", ["evolutionary", "tabu", "annealing"])
@pytest.mark.parametrize("name", OPTIMA)
def test_the_other_searches_find_them_too_with_every_seed(real, name, method):
    best = ht.select_columns(real[name], objective=PAPER, method="branch_and_bound").value
    for seed in range(10):
        assert ht.select_columns(real[name], objective=PAPER, method=method, seed=seed).value == best


@pytest.mark.slow
def test_all_subsets_of_adult_are_searched(shared_file):
    table = Table.encode(shared_file("data/adult/adult_ori.csv"))
    found = ht.select_columns(table, objective=PAPER)
    assert len(found.history) == 32_767
    assert found.value == pytest.approx(1.829, abs=5e-4)
    bounded = ht.select_columns(table, objective=PAPER, method="branch_and_bound")
    assert bounded.value == found.value
    assert bounded.optimal


def test_one_triple_of_adult(shared_file):
    table = Table.encode(shared_file("data/adult/adult_ori.csv"))
    columns = ["age", "type_employer", "education", "marital", "occupation", "race", "sex", "country"]
    objective = ht.Objective((ht.Term("distinction"), ht.Term("separation"), ht.Term("k_anonymity")))
    evaluator = ObjectiveEvaluator(table, columns, 15, objective, ht.Budget())
    assert evaluator.terms_of(255)[0] == len(naive.classes(naive.coded(table, columns), columns)) / table.n_records


@pytest.fixture(scope="module")
def people():
    return Table.encode(ht.datasets.people(120).drop("name", "email"))


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_search(people, method):
    one, two = (ht.select_columns(people, objective=PAPER, method=method, seed=3) for _ in range(2))
    assert one.best == two.best
    assert np.array_equal(one.history.sets, two.history.sets)
    assert np.array_equal(one.history.values, two.history.values)
    assert np.array_equal(one.history.steps, two.history.steps)


def test_one_method_object_may_search_twice(people):
    cooled = Annealing(max_steps=50)
    one, two = (ht.select_columns(people, objective=PAPER, method=cooled, seed=1) for _ in range(2))
    assert np.array_equal(one.history.sets, two.history.sets)


@pytest.mark.parametrize("method", METHODS)
def test_a_budget_returns_the_best_so_far(people, method):
    found = ht.select_columns(people, objective=PAPER, method=method, budget=ht.Budget(nodes=30))
    assert len(found.history) <= 30
    assert not found.complete
    assert not found.optimal
    assert found.value == found.history.values.max()
    if found.bound is not None:
        assert found.bound >= ht.select_columns(people, objective=PAPER).value


def test_a_budget_in_seconds_ends_a_search(people, monkeypatch):
    # A clock that goes on by a second whenever it is looked at.
    monkeypatch.setattr(objective, "time", SimpleNamespace(perf_counter=itertools.count().__next__))
    slow = ht.Objective((ht.Term("group_entropy"), ht.Term("accuracy", -1, options={"target": "diagnosis"})))
    found = ht.select_columns(people, objective=slow, budget=ht.Budget(seconds=5))
    assert not found.complete
    with pytest.raises(BudgetExceeded):
        ht.select_columns(people, objective=slow, budget=ht.Budget(seconds=0.5))


def test_an_evaluation_is_never_made_twice(people):
    calls = []

    def counted(partition):
        calls.append(partition.n_classes)
        return 1 / partition.n_classes

    found = ht.select_columns(people, objective=counted, method="evolutionary")
    assert len(calls) == len(found.history)


def test_a_function_of_a_partition_is_an_objective(people):
    columns = ["sex", "education", "nationality"]
    found = ht.select_columns(people, columns=columns, objective=lambda partition: partition.n_classes)
    assert found.best == tuple(columns) or found.value == ht.Partition.from_table(people, columns).n_classes
    with pytest.raises(InputError, match="no bound"):
        ht.select_columns(people, objective=lambda partition: 1.0, method="branch_and_bound")


def test_ties_go_to_the_fewest_columns_and_then_to_the_first():
    data = pl.DataFrame({"a": [1, 2], "b": [1, 2], "c": [1, 1]})
    for method in METHODS:
        assert ht.select_columns(data, objective={"distinction": 1.0}, method=method).best == ("a",)


def test_the_empty_set_is_no_answer():
    # The source's objective prefers it wherever classes are large.
    data = pl.DataFrame({"a": [1] * 30, "b": [1] * 30})
    for method in METHODS:
        assert ht.select_columns(data, objective=PAPER, method=method).best


def test_one_column_is_searched_by_every_method():
    for method in METHODS:
        assert ht.select_columns(pl.DataFrame({"a": [1, 2]}), objective=PAPER, method=method).best == ("a",)


def test_a_value_does_not_depend_on_which_sets_came_before(people):
    alone = ht.select_columns(people, objective=PAPER, columns=["sex", "education"]).history.values
    evolved = ht.select_columns(people, objective=PAPER, method="evolutionary").history
    both = {tuple(row): value for row, value in zip(evolved.sets.tolist(), evolved.values, strict=True)}
    every = ht.select_columns(people, objective=PAPER).history
    for row, value in zip(every.sets.tolist(), every.values, strict=True):
        assert both.get(tuple(row), value) == value
    assert len(alone) == 3


def test_the_front_holds_what_nothing_betters(people):
    columns = ["sex", "education", "marital_status", "nationality"]
    objective = {"distinction": 1.0, "k_anonymity": 0.01}
    found = ht.select_columns(people, columns=columns, objective=objective, method="pareto")
    every = found.history
    points = [(*terms, -row.sum()) for row, terms in zip(every.sets, every.terms, strict=True)]
    better = {
        i
        for i, p in enumerate(points)
        if not any(all(b >= a for a, b in zip(p, q, strict=True)) and q != p for q in points)
    }
    assert {tuple(candidate.terms.values()) for candidate in found.front} == {points[i][:2] for i in better}
    assert found.front[0].value == found.value


def test_undominated_keeps_the_first_of_equal_points():
    points = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [0.0, 0.0], [1.0, 1.0]])
    assert sorted(pareto_front(points)) == [0, 1]


def test_redundant_and_unbounded_terms_are_warned_of():
    assert any("1 / distinction" in text for text in PAPER.warnings)
    assert any("outweighs" in text for text in PAPER.warnings)
    bounded = ht.Objective((ht.Term("separation"), ht.Term("k_anonymity", -1, "mean", bounds=(1, 100))))
    assert bounded.warnings == ()
    data = pl.DataFrame({"a": [1, 2]})
    assert ht.select_columns(data, objective=PAPER).warnings == PAPER.warnings


def test_bounds_put_a_term_between_0_and_1():
    table = Table.encode(pl.DataFrame({"a": [1, 1, 1, 2]}))
    for bounds, expected in (((1, 3), 0.5), ((0, 1), 1.0), ((5, 9), 0.0)):
        objective = ht.Objective((ht.Term("k_anonymity", 1.0, "mean", bounds=bounds),))
        assert ht.select_columns(table, objective=objective).value == pytest.approx(expected)


def test_many_columns_are_searched_with_masks_beyond_64_bits():
    rng = np.random.default_rng(0)
    data = pl.DataFrame({f"c{j}": rng.integers(0, 3, 50) for j in range(70)})
    objective = {"separation": 1.0, "attribute_length_penalty": -0.5}
    for method in (Greedy(), Tabu(max_steps=2), Annealing(max_steps=20), Evolutionary(population=6, generations=2)):
        found = ht.select_columns(data, objective=objective, method=method)
        assert found.history.sets.shape[1] == 70
    with pytest.raises(InputError, match="2\\^70"):
        ht.select_columns(data, objective=objective)


def test_greedy_starts_where_it_is_told(people):
    best = ht.select_columns(people, objective=PAPER).value
    empty = ht.select_columns(people, objective=PAPER, method=Greedy())
    drawn = ht.select_columns(people, objective=PAPER, method=Greedy(start="random"), seed=5)
    assert empty.history.sets[0].sum() == 1
    assert drawn.history.sets[0].sum() > 1
    assert max(empty.value, drawn.value) <= best


def test_the_record_is_plain_and_draws_itself(people):
    for method in ("exhaustive", "evolutionary"):
        found = ht.select_columns(people, columns=["sex", "education", "diagnosis"], objective=PAPER, method=method)
        plain = json.loads(json.dumps(found.to_dict()))
        assert plain["best"] == list(found.best)
        axes = found.plot()
        best = axes.lines[0].get_ydata()
        assert best[-1] == found.value
        assert (np.diff(best) >= 0).all()
        frame = found.history.to_frame()
        assert len(frame) == len(found.history)


def test_what_cannot_be_searched_says_why(people):
    with pytest.raises(InputError, match="unknown method 'ea'"):
        ht.select_columns(people, objective=PAPER, method="ea")
    with pytest.raises(InputError, match="given as int"):
        ht.select_columns(people, objective=PAPER, method=3)
    with pytest.raises(InputError, match="type int"):
        ht.select_columns(people, objective=3)
    with pytest.raises(InputError, match="unknown score 'distinktion'"):
        ht.select_columns(people, objective={"distinktion": 1.0})
    with pytest.raises(ColumnError, match="'shoe'"):
        ht.select_columns(people, objective=PAPER, columns=["shoe"])
    with pytest.raises(InputError, match="no candidate"):
        ht.select_columns(people, objective=PAPER, columns=[])
    with pytest.raises(InputError, match="no records"):
        ht.select_columns(pl.DataFrame({"a": []}), objective=PAPER)
    with pytest.raises(InputError, match="max_columns is 3"):
        ht.select_columns(people, objective=PAPER, method=Exhaustive(max_columns=3))


def test_an_objective_that_is_no_number_is_an_error():
    data = pl.DataFrame({"a": [1, 2], "b": [1, 1], "y": pl.Series([None, None], dtype=pl.String)})
    gini = ht.Objective((ht.Term("gini", options={"target": "y"}), ht.Term("distinction")))
    for method in ("exhaustive", "branch_and_bound", "greedy"):
        with pytest.raises(InputError, match=r"'gini \(target=y\)'"):
            ht.select_columns(data, columns=["a", "b"], objective=gini, method=method)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ht.Term("distinction", 0),
        lambda: ht.Term("distinction", bounds=(1, 1)),
        lambda: ht.Term("distinction", aggregate="sum"),
        lambda: ht.Objective(()),
        lambda: ht.Objective((ht.Term("gini"), ht.Term("gini"))),
        lambda: Greedy(start="full"),
        lambda: Tabu(tenure=0),
        lambda: Annealing(cooling=1.5),
        lambda: Annealing(temperature=0),
        lambda: Evolutionary(elite=50),
        lambda: Evolutionary(mutation_rate=-1),
        lambda: Pareto(max_columns=0),
    ],
)
def test_options_out_of_range_are_errors(make):
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize(
    ("term", "named"),
    [
        (ht.Term("gini"), "target"),
        (ht.Term("t_closeness"), "sensitive"),
        (ht.Term("distinction", options={"x": 1}), "x"),
    ],
)
def test_an_option_that_a_score_lacks_or_does_not_have_is_named(term, named):
    people = pl.DataFrame({"a": [1, 2, 2], "y": [1, 1, 2]})
    with pytest.raises(InputError, match=rf"the score '{term.score}' (needs|was given) '{named}'"):
        ht.select_columns(people, objective=ht.Objective((term,)), columns=["a"])
