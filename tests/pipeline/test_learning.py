"""What models learn from synthetic records, and figures of distance and attribution, as steps of a pipeline."""

import math

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

import hushtable as ht
from hushtable.errors import PipelineError


def people(n, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    return pl.DataFrame(
        {"age": age, "job": rng.choice(["cook", "nurse"], n), "pay": age * 100.0 + rng.normal(0, 200, n)}
    )


@pytest.fixture
def folder(tmp_path):
    for name, seed in (("people", 1), ("copy", 1), ("others", 2), ("noise", 3)):
        table = people(120, seed)
        table = table.with_columns(pay=pl.col("pay").shuffle(seed=0)) if name == "noise" else table
        table.write_csv(tmp_path / f"{name}.csv")
    return tmp_path


def ran(folder, evaluator, made="copy"):
    text = f"""
Loader: {{people: {{filepath: people.csv}}}}
Synthesizer: {{made: {{method: custom_data, filepath: {made}.csv}}}}
Evaluator: {{told: {{control: others.csv, {evaluator}}}}}
Reporter: {{all: {{method: save_report, granularity: global}}}}
"""
    done = ht.Pipeline.parse(text, folder=folder).run(folder / "out", overwrite=True, cache=False)
    (report,) = done.reports.values()
    (row,) = report.rows(named=True)
    return done, {name.removeprefix("told_"): cell for name, cell in row.items()}


def test_a_copy_teaches_what_the_people_teach_and_noise_less(folder):
    asked = "method: mlutility-regression, target: pay, limit: {loss: 0.1}"
    done, copied = ran(folder, asked)
    assert done.passed
    assert copied["ori_mean"] == copied["syn_mean"] > 0.9
    assert copied["diff"] == 0
    done, noise = ran(folder, asked, "noise")
    assert not done.passed
    assert noise["syn_mean"] < 0.2


def test_a_regression_is_that_of_its_models(folder):
    taught, tested = people(120, 1), people(120, 2)

    def cells(table):
        return np.column_stack([table["age"].to_numpy(), (table["job"] == "nurse").to_numpy()]).astype(float)

    scaler = StandardScaler().fit(cells(taught))
    middle, width = taught["pay"].mean(), taught["pay"].std(ddof=0)
    goal, true = ((table["pay"].to_numpy() - middle) / width for table in (taught, tested))
    models = LinearRegression(), RandomForestRegressor(random_state=42), GradientBoostingRegressor(random_state=42)
    scores = [
        each.fit(scaler.transform(cells(taught)), goal).score(scaler.transform(cells(tested)), true) for each in models
    ]
    _, found = ran(folder, "method: mlutility-regression, target: pay")
    assert found["ori_mean"] == pytest.approx(np.mean(scores), abs=0.01)
    assert found["ori_std"] == pytest.approx(np.std(scores), abs=0.01)


@pytest.mark.parametrize("asked", ["method: mlutility-classification, target: job", "method: mlutility-cluster"])
def test_classes_and_clusters_have_scores(folder, asked):
    _, found = ran(folder, asked)
    assert -1 <= found["syn_mean"] <= 1
    assert found["ori_mean"] == found["syn_mean"]


def test_figures_of_distance_and_attribution_are_steps(folder):
    done, found = ran(folder, "method: dcr, limit: {value: 0.9}")
    assert not done.passed
    assert found["value"] > 0.9
    done, found = ran(folder, "method: tcap, target: job, keys: [age], limit: {value: 0.9}", "noise")
    assert done.passed == (found["value"] <= 0.9)
    _, found = ran(folder, "method: rapid, target: job")
    assert found["value"] > 0.9
    _, found = ran(folder, "method: nndr")
    assert found["value"] == 0
    assert not math.isnan(found["low_of_control"])


def test_membership_is_a_step(folder):
    done, found = ran(folder, "method: membership, attacks: [distance, copies], limit: {auc_high: 0.55}")
    assert not done.passed
    assert found["verdict"] in ("found", "cannot say")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("method: tcap", "tcap needs target"),
        ("method: dcr, target: job", "target has no effect on dcr"),
        ("method: nndr, limit: {value: 0.1}", "nndr has no limit"),
        ("method: mlutility-regression", "needs target"),
        ("method: mlutility-cluster, n_clusters: [1]", "numbers of clusters"),
    ],
)
def test_what_has_no_effect_or_no_meaning_is_refused(folder, asked, why):
    with pytest.raises(PipelineError, match=why):
        ran(folder, asked)
