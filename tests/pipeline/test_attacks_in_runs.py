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
