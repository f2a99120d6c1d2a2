"""Attacks as evaluators: limits on their figures."""

import polars as pl
import pytest

import hushtable as ht


@pytest.mark.parametrize(("limit", "passes"), [("risk_CI_top: 1.0", False), ("risk_CI_top: 0.5", False),
                                               ("attack_rate: 1.0", True)])  # fmt: skip
def test_a_copy_is_above_its_limits(tmp_path, limit, passes):
    people = pl.DataFrame({"age": list(range(60)), "job": [f"j{each}" for each in range(60)]})
    people[:40].write_csv(tmp_path / "ori.csv")
    people[40:].write_csv(tmp_path / "control.csv")
    text = (
        "Splitter: {a: {method: custom_data, filepath: {ori: ori.csv, control: control.csv}}}\n"
        "Synthesizer: {a: {method: custom_data, filepath: ori.csv}}\n"
        f"Evaluator: {{a: {{method: anonymeter-singlingout, n_cols: 1, limit: {{{limit}}}}}}}\n"
    )
    (tmp_path / "pipeline.yaml").write_text(text)
    done = ht.Pipeline.read(tmp_path / "pipeline.yaml").run(tmp_path / "out")
    assert done.passed == passes, done.failures


def run_evaluator(folder, evaluator):
    """Run an evaluator on a copy of 60 people, beside a control that is a copy, too."""
    pl.DataFrame({"age": list(range(60)), "job": [f"j{i}" for i in range(60)]}).write_csv(folder / "ori.csv")
    (folder / "pipeline.yaml").write_text(
        "Splitter: {a: {method: custom_data, filepath: {ori: ori.csv, control: ori.csv}}}\n"
        "Synthesizer: {a: {method: custom_data, filepath: ori.csv}}\n"
        f"Evaluator: {{a: {{{evaluator}}}}}\nReporter: {{a: {{method: save_report, granularity: global}}}}\n"
    )
    return ht.Pipeline.read(folder / "pipeline.yaml").run(folder / "out")


@pytest.mark.parametrize(
    "evaluator",
    [
        "method: anonymeter-inference, secret: job, n_attacks: 20, limit: {risk: 1.0}",
        "method: mpuccs, n_cols: [1], limit: {excess_risk: 1.0}",
    ],
)
def test_where_the_control_always_succeeds_no_limit_holds(tmp_path, evaluator):
    # What a copy shows is not known then, nor is the risk: both are kept, and read again.
    for _ in range(2):
        assert not run_evaluator(tmp_path, evaluator).passed


def test_people_who_are_copied_can_be_limited(tmp_path):
    done = run_evaluator(tmp_path, "method: copies, limit: {n_copied: 59}")
    assert "60" in done.failures[0]
    assert run_evaluator(tmp_path, "method: copies, limit: {n_copied: 60, share: 1.0}").passed
