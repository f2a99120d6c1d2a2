"""Figures that were measured with PETsARD 1.6.0 itself, on a pair of real tables that others made."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import made_up
import polars as pl
import pytest

import hushtable as ht
from command import tree


def figures(path: Path) -> list[dict[str, object]]:
    return pl.read_csv(path.read_bytes(), infer_schema_length=None).rows(named=True)


def test_the_shared_pair_uncut_and_cut(shared_file: Callable[[str], Path], tmp_path: Path) -> None:
    original, made = (shared_file(f"data/adult/ctgan_{name}.csv") for name in ("ori", "syn"))
    text = f"""
Loader: {{adult: {{filepath: '{original}'}}}}
Synthesizer:
  uncut: {{method: custom_data, filepath: '{made}'}}
  cut: {{method: custom_data, filepath: '{made}', sample_num_rows: 26025}}
Evaluator:
  one: {{method: mpuccs, n_cols: [1], compat: petsard-1.6}}
  one-exact: {{method: mpuccs, n_cols: [1], deduplicate: true}}
  three: {{method: mpuccs, n_cols: [1, 2, 3], compat: petsard-1.6}}
  three-exact: {{method: mpuccs, n_cols: [1, 2, 3], deduplicate: true}}
Reporter: {{all: {{method: save_report}}}}
"""
    done = ht.Pipeline.parse(text, folder=tmp_path).run(tmp_path / "out", cache=False)
    uncut, cut = figures(done.files[0])
    for name in ("one", "one-exact"):
        assert (uncut[f"{name}_total_identified"], uncut[f"{name}_total_syn_records"]) == (1_372, 39_040)
        assert (cut[f"{name}_total_identified"], cut[f"{name}_total_syn_records"]) == (991, 26_025)
    assert uncut["three_total_identified"] == 5_902
    assert uncut["three_weighted_identification_rate"] == pytest.approx(0.07108094, abs=5e-9)
    assert uncut["three-exact_total_identified"] == 8_862


def test_a_split_of_adult(shared_file: Callable[[str], Path], tmp_path: Path) -> None:
    text = f"""
Loader: {{adult: {{filepath: '{shared_file("data/adult/adult_ori.csv")}'}}}}
Splitter: {{demo: {{num_samples: 1, train_split_ratio: 0.8}}}}
Synthesizer: {{demo: {{method: default}}}}
Evaluator: {{likeness: {{method: quality}}}}
Reporter: {{tables: {{method: save_data, source: [Splitter, Synthesizer]}}, all: {{method: save_report}}}}
"""
    done = ht.Pipeline.parse(text, folder=tmp_path).run(tmp_path / "out", cache=False)
    assert [pl.read_csv(path.read_bytes()).height for path in done.files[:3]] == [26_048, 6_513, 26_048]
    (row,) = figures(done.files[3])
    assert row["likeness_Column Shapes"] > 0.99
    assert row["likeness_Column Pair Trends"] > 0.93


@pytest.mark.slow
def test_the_source_s_file_as_it_stands_on_adult(shared_file: Callable[[str], Path], tmp_path: Path) -> None:
    page = shared_file("sources/mpuccs.md").read_text(encoding="utf-8")
    (tmp_path / "mpuccs.yaml").write_text(page.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    (tmp_path / "benchmark").mkdir()
    (tmp_path / "benchmark/adult-income.csv").write_bytes(shared_file("data/adult/adult_ori.csv").read_bytes())
    done = ht.Pipeline.read(tmp_path / "mpuccs.yaml").run(tmp_path / "out", cache=False)
    (row,) = figures(done.files[1])
    assert row["demo-mpuccs_total_syn_records"] == 26_048
    assert row["demo-mpuccs_total_combinations_checked"] == 4_943


KILLED = """
import os, signal, sys
import hushtable as ht
from hushtable.pipeline import evaluators

def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

evaluators.MpuccsEvaluator.evaluate = killed
ht.Pipeline.read(sys.argv[1]).run(sys.argv[2])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    made_up.adult(80).write_csv(tmp_path / "people.csv")
    (tmp_path / "p.yaml").write_text(
        "Loader: {people: {filepath: people.csv}}\nSynthesizer: {demo: {}}\n"
        "Evaluator: {risk: {method: mpuccs, n_cols: [1, 2]}}\n"
        "Reporter: {tables: {method: save_data, source: Synthesizer}, all: {method: save_report}}\n"
    )
    asked = ht.Pipeline.read(tmp_path / "p.yaml")
    asked.run(tmp_path / "whole", cache=False)
    command = [sys.executable, "-c", KILLED, str(tmp_path / "p.yaml"), str(tmp_path / "out")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert os.listdir(tmp_path / "out") == []
    done = asked.run(tmp_path / "out")
    assert [each.status for each in done.timings] == ["completed", "reused", "completed"]
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")
