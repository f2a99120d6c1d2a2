"""The source's own file, and the shapes of its demos: read, and those that need nothing more carried out."""

from pathlib import Path

import made_up
import polars as pl
import pytest
from demos import DEMOS, WITH_A_COPULA, WITH_MORE, WITHOUT_SYNTHESIS

import hushtable as ht
from command import done, run

# Of those that run, what they ask for that is not built.
LEFT_OUT = {"custom-evaluation": ["custom_method"]}
# What each lacks, and what it says of it.
LACKS = {
    "comparing-synthesizers": "Synthesizer[ctgan]: deep-learning synthesizers are not built",
    "multi-timestamp": "scaler timeanchor is not built",
    "benchmark-datasets": "put the table at a path, such as benchmark/adult-income.csv",
    "custom-synthesis": "MySynthesizer_Shuffle is not installed",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_up.lay_out(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", DEMOS)
def test_every_demo_is_read(name: str) -> None:
    assert ht.Pipeline.parse(DEMOS[name]).modules


def test_the_docs_count_what_demos_do() -> None:
    whole = len(DEMOS) - len(LEFT_OUT) - len(LACKS)
    told = f"{whole} of them completely, leaves evaluators out in {len(LEFT_OUT)}, and refuses {len(LACKS)} with"
    page = Path(__file__).parents[2] / "docs/run.md"
    assert told in " ".join(page.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", DEMOS)
def test_lines_of_steps_fit_a_terminal(name: str) -> None:
    lines = [step.line for step in ht.Pipeline.parse(DEMOS[name]).steps]
    assert max(map(len, lines)) + len("  (kept from before)") <= 80
    assert lines[0] == lines[0].lstrip()


@pytest.mark.parametrize("demo", [*WITHOUT_SYNTHESIS, *WITH_A_COPULA])
def test_demos_that_need_nothing_more_run(demo: str, folder: Path) -> None:
    (folder / "demo.yaml").write_text(DEMOS[demo], encoding="utf-8")
    missing = [each for name, methods in LEFT_OUT.items() if name == demo for each in methods]
    outcome = run("run", folder / "demo.yaml", "--out", folder / "out")
    assert outcome.code == (1 if missing else 0), outcome.err
    for each in missing:
        assert f"]: {each} (--allow-missing accepts it)" in outcome.err
    allowed = [option for each in missing for option in ("--allow-missing", each)]
    outcome = run("run", folder / "demo.yaml", "--out", folder / "out", *allowed)
    assert outcome.code == 0, outcome.err
    # Of the one that asks for nothing but an evaluator that is not built, there is nothing to write.
    assert ("Wrote:" in outcome.out) == (demo != "custom-evaluation")


@pytest.mark.parametrize("name", WITH_MORE)
def test_demos_that_need_more_say_what(name: str, folder: Path) -> None:
    (folder / "demo.yaml").write_text(DEMOS[name], encoding="utf-8")
    outcome = run("run", folder / "demo.yaml", "--out", folder / "out")
    assert outcome.code == 2
    assert LACKS[name] in outcome.err
    assert not (folder / "out").exists()


def test_the_source_s_own_file_writes_what_it_says(folder: Path) -> None:
    (folder / "mpuccs.yaml").write_text(DEMOS["mpuccs"], encoding="utf-8")
    done = ht.Pipeline.read(folder / "mpuccs.yaml").run(folder / "out")
    stem = "Loader[data]_Splitter[demo_[1-1]]_Preprocessor[demo]_Synthesizer[demo]"
    assert [path.name for path in done.files] == [f"hushtable_{stem}.csv", "hushtable[Report]_[global].csv"]
    table = pl.read_csv(done.files[0].read_bytes())
    original = made_up.adult()
    assert table.shape == (240, 15)
    assert table.columns == original.columns
    (row,) = pl.read_csv(done.files[1].read_bytes()).rows(named=True)
    assert row["full_expt_name"] == f"{stem}_Postprocessor[demo]_Evaluator[global]"
    places = ["Loader", "Splitter", "Preprocessor", "Synthesizer", "Postprocessor", "Evaluator"]
    assert [row[name] for name in places] == ["data", "demo_[1-1]", "demo", "demo", "demo", "[global]"]
    source = [
        *("total_syn_records", "total_ori_records", "total_identified", "identification_rate"),
        *("weighted_identification_rate", "total_combinations_checked", "total_combinations_pruned"),
        *("config_n_cols", "config_min_entropy_delta", "config_field_decay_factor", "config_renyi_alpha"),
        *("config_numeric_precision", "config_datetime_precision"),
    ]
    control = ["control_rate", "excess_risk", "interval_low", "interval_high", "p_value"]
    assert list(row) == ["full_expt_name", *places, *(f"demo-mpuccs_{name}" for name in (*source, *control))]
    assert row["demo-mpuccs_total_ori_records"] == 240
    assert row["demo-mpuccs_config_n_cols"] == "[1, 2, 3, 4, 5]"


def test_a_column_that_does_not_exist_is_told(folder: Path) -> None:
    (folder / "demo.yaml").write_text(DEMOS["categorical"], encoding="utf-8")
    outcome = run("run", folder / "demo.yaml", "--out", folder / "out")
    assert "\n    there is no column 'deparment_code' (did you mean 'department_code'?)" in outcome.err
    assert "encoder has no effect" in outcome.err


def test_the_default_evaluation_runs_whole(folder: Path) -> None:
    (folder / "demo.yaml").write_text(DEMOS["external-synthesis-default-evaluation"], encoding="utf-8")
    done("run", folder / "demo.yaml", "--out", folder / "out")
    (row,) = pl.read_csv((folder / "out/hushtable[Report]_[global].csv").read_bytes()).rows(named=True)
    assert row["demo-quality_Score"] > 0
    learned = [row[f"demo-classification_{name}"] for name in ("ori_mean", "syn_mean", "diff")]
    assert 0 <= learned[0] <= 1
    assert learned[2] == pytest.approx(learned[1] - learned[0])
    for name in ("singlingout", "linkability", "inference"):
        assert 0 <= row[f"demo-{name}_risk_CI_btm"] <= row[f"demo-{name}_risk"] <= row[f"demo-{name}_risk_CI_top"] <= 1
        assert row[f"demo-{name}_control_rate"] > 0
