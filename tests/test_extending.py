"""The package of `docs/extending.md`: installed by its entry points, used by every door, and judged by `verify`."""

import dataclasses
import json
import re
import sys
from collections import Counter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from campaign.requests import without_rule
from command import done, run
from hushtable.anonymizers import METHODS, Found, Offers, Problem, publish_classes
from hushtable.hierarchy.rules import RULES
from hushtable.models import MODELS
from hushtable.pipeline.evaluators import EVALUATORS
from hushtable.quality import LOSSES
from hushtable.recoding import sort_by_content
from hushtable.search import Budget
from hushtable.tables import Partition
from hushtable.testing import check_method

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SOURCE = next(text for language, text in BLOCKS if language == "python")
POLICY = next(text for language, text in BLOCKS if text.startswith("# policy.yaml"))
NAMES = ["sex", "education", "diagnosis"]


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """Install the page's package into a folder of its own, and forget it afterwards."""
    monkeypatch.chdir(tmp_path)
    announced = next(text for language, text in BLOCKS if language == "toml")
    place = tmp_path / "site"
    (place / "theirs-1.0.dist-info").mkdir(parents=True)
    (place / "theirs.py").write_text(SOURCE, encoding="utf-8")
    (place / "theirs-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    groups = re.sub(r'\[project\.entry-points\."(.*?)"\]', r"[\1]", announced).replace('"', "")
    (place / "theirs-1.0.dist-info" / "entry_points.txt").write_text(groups)
    monkeypatch.syspath_prepend(place)
    ht.datasets.people(400).select(NAMES).write_csv("people.csv")
    Path("policy.yaml").write_text(POLICY)
    yield place
    forget()


def forget():
    sys.modules.pop("theirs", None)
    for registry in (MODELS, METHODS, LOSSES, RULES, EVALUATORS):
        for name in ("no-majority", "halves", "stars", "first-letter", "row-count"):
            registry.pop(name, None)


def test_each_part_is_short():
    parts = re.split(r"^@dataclass|^class ", SOURCE, flags=re.MULTILINE)[1:]
    assert all(len([line for line in part.splitlines() if line.strip()]) <= 20 for part in parts)


def test_the_command_uses_and_judges_them(theirs):
    assert json.loads(done("--version", "--json").out)["plugins"]["models"] == {"no-majority": "theirs 1.0"}
    assert "theirs" not in sys.modules
    done("anonymize", "people.csv", "-p", "policy.yaml", "-o", "release.csv")
    forget()
    told = run("verify", "release.csv")
    assert told.code == 1
    assert "could not be judged: it names the model 'no-majority'" in told.err
    assert "pass --plugins no-majority" in told.err
    assert "theirs" not in sys.modules
    assert "no-majority" in done("verify", "release.csv", "--plugins", "no-majority").out
    forget()
    done("verify", "release.csv", "-p", "policy.yaml")


def test_a_release_that_fails_their_model_does_not_hold(theirs):
    done("anonymize", "people.csv", "-p", "policy.yaml", "-o", "release.csv")
    asked = {"no-majority": {"share": 0.1, "sensitive": "diagnosis"}}
    assert not ht.verify("release.csv", quasi_identifiers=["sex", "education"], models=[asked]).passed


@pytest.mark.parametrize("allowed", ["none", "[halves, first-letter]"])
def test_a_policy_can_forbid_them(theirs, allowed):
    forbidding = re.sub(r"plugins: .*", f"plugins: {allowed}", POLICY)
    with pytest.raises(ht.PolicyError, match=r"'no-majority' of theirs 1\.0 is installed, and is not allowed here"):
        ht.Policy.parse(forbidding)
    assert "no-majority" not in MODELS


def test_a_pipeline_uses_their_evaluator(theirs):
    steps = "Loader: {people: {filepath: people.csv}}\nEvaluator: {rows: {method: row-count}}\n"
    Path("steps.yaml").write_text(f"{steps}Reporter: {{all: {{method: save_report, granularity: global}}}}\n")
    (report,) = ht.Pipeline.read("steps.yaml").run("out").reports.values()
    assert report["rows_n_records"].to_list() == [400]


@pytest.mark.parametrize(
    ("source", "says"),
    [("def NoMajority(): ...", "is not of the kind 'models'"), ("1 / 0", "cannot be imported: ZeroDivisionError")],
)
def test_what_is_wrong_with_a_plug_in_is_told_as_theirs(theirs, source, says):
    (theirs / "theirs.py").write_text(source)
    with pytest.raises(ht.InputError, match=f"the plug-in 'no-majority' of theirs 1.0 {says}"):
        ht.anonymize(
            "people.csv", quasi_identifiers=["sex"], models=[{"no-majority": {"share": 0.5, "sensitive": "x"}}]
        )


MODELS_OF_CLASSES = [
    ht.KAnonymity(3),
    ht.DistinctLDiversity(2, "ill"),
    ht.EntropyLDiversity(1.5, "ill"),
    ht.RecursiveCLDiversity(3, 2, "ill"),
    ht.TCloseness(0.5, "ill"),
    ht.TCloseness(0.4, "ill", "hierarchical"),
    ht.BetaLikeness(3, "ill"),
    ht.DeltaDisclosure(2, "ill"),
    ht.AlphaKAnonymity(0.8, 2, "ill"),
    ht.KMap(3),
    ht.DeltaPresence(0.0, 0.7),
]
WAYS = ("mondrian", "full_domain", "local_recoding", "mondrian")


def drawn(rng: np.random.Generator, n: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": rng.integers(20, 32, n),
            "job": rng.choice([*"abcd"], n),
            "ill": rng.choice(["flu", "gout", "mumps"], n),
            "who": rng.integers(0, n, n),
        }
    )


def released(table: pl.DataFrame, model: Any, method: Any, **more: Any) -> Any:
    ladder = ht.Hierarchy.from_dict({"tree": {"x": ["flu", "gout"], "y": ["mumps"]}}, "ill")
    try:
        made = ht.anonymize(
            table.drop("who") if "person" not in more else table,
            quasi_identifiers=["age", "job"],
            models=[ht.KAnonymity(2), model],
            method=method,
            hierarchies={"ill": ladder} if model.needs.sensitive else None,
            roles="trust",
            **more,
        )
    except ht.InfeasibleError:
        return "infeasible"
    return made.loss, made.frame.rows(), made.verify().passed


def agree(model: Any, n_tables: int) -> None:
    """Release random tables under a model with its rule and without; count persons in every third."""
    rng = np.random.default_rng(7)
    n_released = 0
    for i in range(n_tables):
        table, method, more = drawn(rng, int(rng.integers(4, 30))), WAYS[i % 4], {}
        if model.needs.population:
            method = "mondrian" if method == "local_recoding" else method
            more = {"population": pl.concat([table, drawn(rng, 40)]).drop("who")}
        elif i % 3 == 0 and method != "local_recoding":  # whose cells may overlap
            more = {"person": "who", "identifiers": ["who"]}
        asked, ruled = released(table, without_rule(model), method, **more), released(table, model, method, **more)
        # Local recoding has one start more where it knows that sizes alone decide.
        is_by_size = method == "local_recoding" and isinstance(model, ht.KAnonymity)
        assert asked[-1] == ruled[-1] if is_by_size else asked == ruled
        n_released += asked != "infeasible"
    assert n_released > n_tables / 3


@pytest.mark.parametrize("n_tables", [12, pytest.param(1_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("model", MODELS_OF_CLASSES, ids=lambda model: model.name)
def test_a_rule_and_what_the_model_says_itself_give_the_same_releases(model, n_tables):
    agree(model, n_tables)


def test_what_a_model_raises_while_a_search_asks_it_is_named_as_its_fault():
    class Failing(ht.KAnonymity):
        rule = None

        def passes(self, stats):
            if len(stats.sizes) == 1 and stats.sizes[0] < 12:
                raise ZeroDivisionError
            return super().passes(stats)

    with pytest.raises(ht.ModelError, match=r"the model 'k-anonymity' \(test_extending\) raised ZeroDivisionError"):
        released(ht.datasets.people(60).select(age="income", job="sex").with_columns(who=1), Failing(3), "mondrian")


def halved(problem: Problem, labels: Any, n_classes: int) -> Found:
    partition = Partition.from_labels(labels, n_classes, problem.table.counts)
    return Found(partition, publish_classes(problem, partition), problem.clock.build_trace("own", n_classes))


class Whole:
    """One class; the faults below are planted into it."""

    name, offers = "whole", Offers()

    def search(self, problem):
        problem.clock.is_over()
        return halved(problem, np.zeros(problem.table.n_rows, np.int32), 1)


class ByOrder(Whole):
    def search(self, problem):
        problem.clock.is_over()
        labels = (np.arange(problem.table.n_rows) >= problem.table.n_rows // 2).astype(np.int32)
        if problem.judge.failed(Partition.from_labels(labels, 2, problem.table.counts)):
            labels[:] = 0
        return halved(problem, labels, int(labels.max()) + 1)


class TooSmall(Whole):
    def search(self, problem):
        problem.clock.is_over()
        labels = np.zeros(problem.table.n_rows, np.int32)
        labels[sort_by_content(problem.table)[:1]] = 1
        return halved(problem, labels, 2)


class Endless(Whole):
    def search(self, problem):
        return halved(problem, np.zeros(problem.table.n_rows, np.int32), 1)


class Boasting(Whole):
    def search(self, problem):
        found = super().search(problem)
        return dataclasses.replace(found, trace=problem.clock.build_trace("own", 1, value=2.0, bound=2.0))


@pytest.mark.parametrize(
    ("method", "broken"),
    [
        (Whole, []),
        (ByOrder, ["the order of rows does not matter"]),
        (TooSmall, ["every class passes the models"]),
        (Endless, ["a budget ends the search"]),
        (Boasting, ["what the trace says of the loss is true"]),
    ],
)
def test_planted_faults_of_a_method_are_found(method, broken):
    found = [told.partition(":")[0] for told in check_method(method())]
    assert set(broken) <= set(found)
    assert bool(found) == bool(broken)


def test_a_loss_of_somebody_else_is_made_small_by_full_domain_and_reported_by_others(theirs):
    table = ht.datasets.people(60).select(NAMES)
    ladders = {"sex": ht.Hierarchy.suppression(), "education": {"first-letter": {}}}
    asked = {"quasi_identifiers": [*ladders], "models": [ht.KAnonymity(4)], "hierarchies": ladders, "roles": "trust"}
    best = ht.anonymize(table, **asked, method="full_domain", loss="stars")
    assert best.trace.optimal
    assert best.certificate is None
    with pytest.warns(UserWarning, match="makes the set-NCP small; the loss 'stars' is reported only"):
        other = ht.anonymize(table, **asked, loss="stars", budget=Budget(seconds=60))
    assert (other.trace.bound, other.trace.gap, other.trace.optimal) == (None, None, False)
    shares = np.array([shares >= 1 for shares in other.recoding.shares()])
    assert other.loss == pytest.approx(float((shares * other.partition.sizes).sum() / 120))


@dataclasses.dataclass(frozen=True)
class Squares:
    """A loss of class sizes, which is wrong where two classes publish the same cells."""

    name, weights = "squares", MappingProxyType(dict[str, float]())

    def measure(self, recoding, sizes, n_suppressed=0):
        return float((sizes**2).sum())


@pytest.mark.parametrize("method", ["local_recoding", "genetic", "mingen"])
def test_the_loss_is_that_of_the_classes_that_readers_count(method):
    rng = np.random.default_rng(2)
    table = pl.DataFrame({"sex": rng.choice([*"fm"], 40), "job": rng.choice([*"abcd"], 40)})
    asked = {"quasi_identifiers": ["sex", "job"], "models": [ht.KAnonymity(3)], "roles": "trust"}
    release = ht.anonymize(table, **asked, method=method, loss=Squares(), budget=Budget(nodes=30))
    held = Counter(release.frame.rows())
    assert release.partition.n_classes == len(held)
    assert release.loss == sum(n**2 for n in held.values())


@pytest.mark.slow
def test_a_model_that_merging_breaks_is_feasible_where_small_classes_pass():
    class Few(ht.KAnonymity):
        rule, monotone_coarsening, min_size, needs = None, False, 1, ht.models.Needs()

        def passes(self, stats):
            return stats.sizes <= self.k

    table = pl.DataFrame({"age": [1, 1, 2, 2], "job": [*"aabb"]})
    asked = {"quasi_identifiers": ["age", "job"], "models": [Few(2)], "roles": "trust"}
    ladders = dict.fromkeys(("age", "job"), ht.Hierarchy.suppression())
    assert ht.anonymize(table, **asked, method="full_domain", hierarchies=ladders).loss == 0
    with pytest.raises(ht.InfeasibleError, match=r"satisfy k-anonymity \(k = 1\), which merging classes can break"):
        ht.anonymize(table, **asked | {"models": [Few(1)]})


@dataclasses.dataclass(frozen=True)
class OneColumn:
    """A loss that looks at incomes alone."""

    name, weights = "one-column", MappingProxyType(dict[str, float]())

    def measure(self, recoding, sizes, n_suppressed=0):
        lost = recoding.shares()[[column.name for column in recoding.columns].index("income")]
        return float((lost * sizes).sum() + n_suppressed) / (int(np.sum(sizes)) + n_suppressed)


@pytest.mark.parametrize("method", ["local_recoding", "genetic", "mingen"])
def test_methods_that_part_equal_records_make_a_loss_of_somebody_else_smaller(method):
    table = ht.datasets.people(40).select("income", "sex", "birth_date")
    asked = {"quasi_identifiers": table.columns, "models": [ht.KAnonymity(4)], "method": method}
    before = ht.anonymize(table, **asked, budget=Budget(nodes=500), roles="trust")
    after = ht.anonymize(table, **asked, budget=Budget(nodes=500), roles="trust", loss=OneColumn())
    assert after.loss < OneColumn().measure(before.recoding, before.partition.sizes)
    assert after.loss == pytest.approx(OneColumn().measure(after.recoding, after.partition.sizes))
    assert after.verify().passed
    assert after.trace.bound is None
