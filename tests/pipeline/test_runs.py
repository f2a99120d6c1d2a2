"""Runs: what travels from step to step, what is kept, resumed and written, and what fails."""

import datetime as dt
import itertools
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import made_up
import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import run, tree
from hushtable.io import drafts
from hushtable.pipeline import evaluators, pipeline as runs, steps
from hushtable.pipeline.reports import RECORD_FILE

REPORTS = """
Reporter:
  data: {method: save_data, source: Synthesizer}
  report: {method: save_report, granularity: [global, columnwise, pairwise, details, tree]}
"""
WHOLE = f"""
Loader:
  people: {{filepath: people.csv}}
Splitter:
  fifth: {{train_split_ratio: 0.8}}
Synthesizer:
  copula: {{method: default}}
  independent: {{method: independent}}
Evaluator:
  risk: {{method: mpuccs, n_cols: [1, 2], n_permutations: 20}}
  likeness: {{method: default}}
{REPORTS}"""

STEPS = [
    "Loader[people]",
    "  Splitter[fifth_[1-1]]",
    "    Synthesizer[copula]",
    "      Evaluator[risk]",
    "      Evaluator[likeness]",
    "    Synthesizer[independent]",
    "      Evaluator[risk]",
    "      Evaluator[likeness]",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_up.adult(150).write_csv(tmp_path / "people.csv")
    return tmp_path


def pipeline(folder: Path, text: str, name: str = "pipeline.yaml") -> ht.Pipeline:
    (folder / name).write_text(text, encoding="utf-8")
    return ht.Pipeline.read(folder / name)


def rows_of(path: Path) -> list[str]:
    """Return the lines of a file, sorted: a table as a multiset of its rows."""
    return sorted(path.read_text(encoding="utf-8").splitlines())


def read(path: Path) -> pl.DataFrame:
    # Polars takes brackets in a name for a pattern.
    return pl.read_csv(path.read_bytes(), infer_schema_length=None)


def test_all_granularities_are_written_in_the_product_s_order(folder: Path) -> None:
    done = pipeline(folder, WHOLE).run(folder / "out")
    granularities = ["global", "columnwise", "pairwise", "details", "tree"]
    assert [path.name for path in done.files[2:]] == [f"hushtable[Report]_[{each}].csv" for each in granularities]
    whole, columns, pairs, details, walked = (read(path) for path in done.files[2:])
    assert whole["Synthesizer"].to_list() == ["copula", "independent"]
    assert whole["full_expt_name"][1] == (
        "Loader[people]_Splitter[fifth_[1-1]]_Synthesizer[independent]_Evaluator[global]"
    )
    # Figures of both evaluators stand in one row.
    assert {"risk_identification_rate", "likeness_Score"} <= set(whole.columns)
    assert columns.columns[-4:] == ["column", "likeness_Property", "likeness_Metric", "likeness_Score"]
    assert columns.height == 2 * 15
    assert pairs.columns[5:7] == ["column1", "column2"]
    assert pairs.height == 2 * 105
    assert "index" in details.columns
    assert not any("value_combo" in name for name in details.columns)
    assert walked.height == 2 * (15 + 105)
    assert set(done.reports) == {path.name for path in done.files[2:]}


def test_a_rerun_uses_what_was_kept_and_writes_the_same(folder: Path) -> None:
    asked = pipeline(folder, WHOLE)
    assert asked.plan() == [(step, False) for step in asked.steps]
    first = asked.run(folder / "one")
    assert [each.status for each in first.timings] == ["completed"] * 8
    assert [is_kept for _, is_kept in asked.plan()] == [False, False, True, True, True, True, True, True]
    second = asked.run(folder / "two")
    assert [each.status for each in second.timings].count("reused") == 6
    assert tree(folder / "one") == tree(folder / "two")
    fresh = asked.run(folder / "three", fresh=True)
    assert {each.status for each in fresh.timings} == {"completed"}
    assert tree(folder / "one") == tree(folder / "three")


def test_one_experiment_more_changes_no_other(folder: Path) -> None:
    pipeline(folder, WHOLE).run(folder / "one", cache=False)
    more = WHOLE.replace("Synthesizer:\n", "Synthesizer:\n  bootstrap: {method: bootstrap}\n")
    pipeline(folder, more).run(folder / "two", cache=False)
    few, many = tree(folder / "one"), tree(folder / "two")
    tables = [name for name in few if "Report" not in name and name != RECORD_FILE]
    assert len(tables) == 2
    assert all(few[name] == many[name] for name in tables)
    whole = {name: read(folder / name / "hushtable[Report]_[global].csv") for name in ("one", "two")}
    assert whole["two"].filter(pl.col("Synthesizer") != "bootstrap").equals(whole["one"])


def test_another_seed_makes_another_table(folder: Path) -> None:
    pipeline(folder, WHOLE).run(folder / "one", cache=False)
    pipeline(folder, f"seed: 1\n{WHOLE}").run(folder / "two", cache=False)
    assert tree(folder / "one").keys() == tree(folder / "two").keys()
    assert tree(folder / "one") != tree(folder / "two")


def test_a_failed_step_is_named_and_a_rerun_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = pipeline(folder, WHOLE)
    evaluate = evaluators.SimilarityEvaluator.evaluate

    def fails(*_: object) -> None:
        msg = "no room left"
        raise ht.InputError(msg)

    monkeypatch.setattr(evaluators.SimilarityEvaluator, "evaluate", fails)
    with pytest.raises(
        ht.InputError, match=r"step 5 of 8, .*Synthesizer\[copula\]_Evaluator\[likeness\], failed: no room"
    ):
        asked.run(folder / "out")
    # Nothing is written before the end.
    assert tree(folder / "out") == {}
    monkeypatch.setattr(evaluators.SimilarityEvaluator, "evaluate", evaluate)
    statuses = [each.status for each in asked.run(folder / "out").timings]
    assert statuses == [
        "completed",
        "completed",
        "reused",
        "reused",
        "completed",
        "completed",
        "completed",
        "completed",
    ]


def test_a_kill_leaves_what_was_done(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = pipeline(folder, WHOLE)
    whole = asked.run(folder / "whole", cache=False)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluators.MpuccsEvaluator, "evaluate", killed)
    with pytest.raises(KeyboardInterrupt):
        asked.run(folder / "out")
    monkeypatch.undo()
    done = asked.run(folder / "out")
    assert done.timings[2].status == "reused"
    assert [path.name for path in done.files] == [path.name for path in whole.files]
    assert tree(folder / "out") == tree(folder / "whole")


def test_what_is_kept_is_for_its_owner_alone_and_clean_removes_it(folder: Path) -> None:
    asked, lines = pipeline(folder, WHOLE), []
    asked.run(folder / "out", tell=lines.append)
    kept = folder / ".hushtable"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert (kept / ".gitignore").read_text() == "*\n"
    assert sum("people's data" in line for line in lines) == 1
    asked.run(folder / "out", tell=lines.append)
    assert sum("people's data" in line for line in lines) == 1
    # No key leaves the folder.
    keys = [name for name in os.listdir(kept) if len(name) == 64]
    written = b"".join(tree(folder / "out").values()) + "\n".join(lines).encode()
    assert keys
    assert not any(key.encode() in written for key in keys)
    (kept / "mine.txt").write_text("mine")
    with pytest.raises(ht.InputError, match="none of hushtable's"):
        asked.clean()
    assert os.listdir(kept) == ["mine.txt"]
    (kept / "mine.txt").unlink()


def test_no_folder_that_is_not_ours_is_used_or_removed(folder: Path) -> None:
    (folder / ".hushtable").mkdir()
    (folder / ".hushtable/mine.txt").write_text("mine")
    asked = pipeline(folder, WHOLE)
    with pytest.raises(ht.InputError, match="no folder of results that hushtable made"):
        asked.run(folder / "out")
    with pytest.raises(ht.InputError, match="no folder of results that hushtable made"):
        asked.clean()
    assert (folder / ".hushtable/mine.txt").read_text() == "mine"


def test_without_a_cache_nothing_is_kept(folder: Path) -> None:
    pipeline(folder, WHOLE).run(folder / "out", cache=False)
    assert sorted(os.listdir(folder)) == ["out", "people.csv", "pipeline.yaml"]


def test_changed_data_are_not_taken_for_the_old(folder: Path) -> None:
    asked = pipeline(folder, WHOLE)
    asked.run(folder / "out")
    made_up.adult(150, seed=5).write_csv(folder / "people.csv")
    assert {each.status for each in asked.run(folder / "out").timings} == {"completed"}


def test_a_limit_decides_the_exit_code_and_is_no_part_of_what_is_kept(folder: Path) -> None:
    text = WHOLE.replace("n_permutations: 20}", "n_permutations: 20, limit: {LIMIT}}")
    for limit, code in (("identification_rate: 1.0", 0), ("identification_rate: 0.0", 1), ("excess_risk: -1", 1)):
        (folder / "p.yaml").write_text(text.replace("LIMIT", limit))
        outcome = run("run", folder / "p.yaml", "--out", folder / "out")
        assert outcome.code == code, outcome.err
        assert ("hushtable: failed:" in outcome.err) == bool(code)
    assert "kept from before" in outcome.err
    assert "the upper end of the 95 % interval of the excess risk" in outcome.err


def test_a_figure_that_is_not_known_holds_no_limit(folder: Path) -> None:
    text = WHOLE.replace("n_permutations: 20}", "limit: {excess_risk: 1}}")
    text = text.replace("Splitter:\n  fifth: {train_split_ratio: 0.8}\n", "")
    done = pipeline(folder, text).run(folder / "out")
    assert len(done.failures) == 2
    assert not done.passed
    assert "cannot be said to be at most 1.0: no control was compared" in done.failures[0]


def test_the_dry_run_writes_nothing(folder: Path) -> None:
    (folder / "p.yaml").write_text(WHOLE)
    before = tree(folder)
    outcome = run("run", folder / "p.yaml", "--dry-run")
    assert outcome.code == 0
    assert outcome.out.splitlines() == STEPS
    assert tree(folder) == before
    run("run", folder / "p.yaml", "--out", folder / "out")
    kept = [*STEPS[:2], *(f"{line}  (kept from before)" for line in STEPS[2:])]
    assert run("run", folder / "p.yaml", "--dry-run").out.splitlines() == kept
    assert run("run", folder / "p.yaml", "--clean").out == "Removed what was kept.\n"
    assert not (folder / ".hushtable").exists()
    assert run("run", folder / "p.yaml", "--clean").out == "Nothing was kept.\n"


def test_a_run_tells_its_steps_as_a_tree(folder: Path) -> None:
    asked, lines = pipeline(folder, WHOLE), []
    asked.run(folder / "out", cache=False, tell=lines.append)
    assert [line.rpartition(": ")[0] for line in lines] == STEPS


def test_a_missing_file_is_told_before_anything_is_done(folder: Path) -> None:
    (folder / "p.yaml").write_text(WHOLE.replace("people.csv", "persons.csv"))
    for more in ((), ("--dry-run",)):
        outcome = run("run", folder / "p.yaml", *more)
        assert outcome.code == 2
        assert "Loader[people]: there is no file 'persons.csv'" in outcome.err


def test_files_are_looked_for_beside_the_file_and_then_where_one_stands(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "p.yaml").write_text("Loader: {a: {filepath: people.csv}}\nDescriber: {all: {}}\n")
    asked = ht.Pipeline.read(elsewhere / "p.yaml")
    with pytest.raises(ht.PipelineError, match="put it into"):
        asked.run(elsewhere)
    monkeypatch.chdir(folder)
    assert asked.run(elsewhere, cache=False).passed


def test_no_input_is_written_over(folder: Path) -> None:
    made_up.adult(20).write_csv(folder / "hushtable_Loader[people].csv")
    text = (
        "Loader: {people: {filepath: 'hushtable_Loader[people].csv'}}\n"
        "Reporter: {a: {method: save_data, source: Loader}}\n"
    )
    before = (folder / "hushtable_Loader[people].csv").read_bytes()
    with pytest.raises(ht.InputError, match="the output is the input"):
        pipeline(folder, text).run(folder)
    assert (folder / "hushtable_Loader[people].csv").read_bytes() == before


def test_given_tables_are_not_cut_unless_asked(folder: Path) -> None:
    made_up.adult(400, seed=4).write_csv(folder / "made.csv")
    text = """
Loader: {people: {filepath: people.csv}}
Synthesizer:
  whole: {method: custom_data, filepath: made.csv}
  cut: {method: custom_data, filepath: made.csv, sample_num_rows: 150}
Evaluator: {risk: {method: mpuccs, n_cols: 1}}
Reporter: {all: {method: save_report, granularity: global}, data: {method: save_data, source: Synthesizer}}
"""
    done = pipeline(folder, text).run(folder / "out")
    assert read(done.files[0])["risk_total_syn_records"].to_list() == [400, 150]
    # As it came, text for text.
    assert done.files[1].read_bytes() == (folder / "made.csv").read_bytes()


def test_tables_with_other_columns_are_told_by_name(folder: Path) -> None:
    made_up.adult(50).drop("race").write_csv(folder / "made.csv")
    text = """
Loader: {people: {filepath: people.csv}}
Synthesizer: {given: {method: custom_data, filepath: made.csv}}
Evaluator: {risk: {method: mpuccs}}
"""
    with pytest.raises(ht.ColumnError, match=r"step 3 of 3, .*'race' in one only"):
        pipeline(folder, text).run(folder / "out")


def test_zip_codes_are_equal_in_both_tables(folder: Path) -> None:
    pl.DataFrame({"zip": ["01234", "20001", "30001"], "age": [31, 42, 53]}).write_csv(folder / "people.csv")
    pl.DataFrame({"zip": ["01234", "20002", "30002"], "age": [30, 41, 52]}).write_csv(folder / "made.csv")
    text = """
Loader: {people: {filepath: people.csv}}
Synthesizer: {given: {method: custom_data, filepath: made.csv}}
Evaluator: {risk: {method: mpuccs, n_cols: 1, values: true}}
Reporter: {all: {method: save_report, granularity: details}}
"""
    done = pipeline(folder, text).run(folder / "out")
    (row,) = read(done.files[0]).rows(named=True)
    assert (row["risk_field_combo"], row["risk_value_combo"]) == ("('zip',)", "('01234',)")


def test_the_control_is_used_and_can_be_given(folder: Path) -> None:
    made_up.adult(60, seed=8).write_csv(folder / "held_out.csv")
    text = """
Loader: {people: {filepath: people.csv}}
Synthesizer: {copula: {method: copula}}
Evaluator:
  alone: {method: mpuccs, n_cols: 1}
  beside: {method: mpuccs, n_cols: 1, control: held_out.csv, n_permutations: 20}
Reporter: {all: {method: save_report}}
"""
    (row,) = read(pipeline(folder, text).run(folder / "out").files[0]).rows(named=True)
    assert "alone_excess_risk" not in row
    assert row["beside_interval_low"] <= row["beside_excess_risk"] <= row["beside_interval_high"]


def test_min_entropy_delta_of_0_prunes_as_it_does_there(folder: Path) -> None:
    text = """
Loader: {people: {filepath: people.csv}}
Synthesizer: {same: {method: custom_data, filepath: people.csv}}
Evaluator:
  exact: {method: mpuccs, n_cols: [1, 2, 3]}
  zero: {method: mpuccs, n_cols: [1, 2, 3], min_entropy_delta: 0.0}
  source: {method: mpuccs, n_cols: [1, 2, 3], compat: petsard-1.6}
Reporter: {all: {method: save_report}}
"""
    (row,) = read(pipeline(folder, text).run(folder / "out").files[0]).rows(named=True)
    assert row["exact_total_combinations_pruned"] == 0 < row["zero_total_combinations_pruned"]
    assert row["source_config_min_entropy_delta"] == 0.0
    compat = ht.petsard_mpuccs(folder / "people.csv", folder / "people.csv", n_cols=[1, 2, 3])
    assert row["source_total_identified"] == compat.summary["total_identified"]


def test_samples_of_a_splitter(folder: Path) -> None:
    text = """
Loader: {people: {filepath: people.csv}}
Splitter: {demo: {num_samples: 3, train_split_ratio: 0.5, max_overlap_ratio: 0.6}}
Reporter: {data: {method: save_data, source: demo}}
"""
    done = pipeline(folder, text).run(folder / "out")
    names = [path.name for path in done.files]
    assert names[:2] == [
        "hushtable_Loader[people]_Splitter[demo_[3-1]].csv",
        "hushtable_Loader[people]_Splitter[demo_[3-1]]_[control].csv",
    ]
    everyone = rows_of(folder / "people.csv")
    trains = []
    for train, control in zip(done.files[::2], done.files[1::2], strict=True):
        header, *rows = train.read_text().splitlines()
        assert sorted([header, *rows, *control.read_text().splitlines()[1:]]) == everyone
        assert len(rows) == 75
        trains.append(set(rows))
    assert all(len(one & other) <= 45 for i, one in enumerate(trains) for other in trains[:i])
    impossible = text.replace("0.6", "0.1")
    with pytest.raises(ht.InputError, match="raise max_overlap_ratio"):
        pipeline(folder, impossible).run(folder / "out")


def test_one_person_falls_on_one_side(folder: Path) -> None:
    visits = pl.DataFrame({"who": [f"p{i // 4}" for i in range(80)], "ward": np.arange(80) % 7})
    visits.write_csv(folder / "people.csv")
    text = """
Loader: {visits: {filepath: people.csv}}
Splitter: {demo: {person: who, random_state: 7}}
Reporter: {data: {method: save_data, source: Splitter}}
"""
    done = pipeline(folder, text).run(folder / "out")
    train, control = (set(read(path)["who"]) for path in done.files)
    assert train
    assert control
    assert not train & control


def test_rows_are_left_out_where_that_is_asked_by_name(folder: Path) -> None:
    # One income far beyond all others.
    people = made_up.adult(150).with_columns(**{"capital-gain": pl.Series([99_999, *[0, 1, 2] * 49, 0, 1])})
    people.write_csv(folder / "people.csv")
    text = """
Loader: {people: {filepath: people.csv, na_values: '?'}}
Preprocessor:
  nothing: {method: default}
  complete: {missing: drop}
  inside: {config: {outlier: {capital-gain: outlier_iqr}, missing: {workclass: missing_drop}}}
Synthesizer: {copula: {method: default}}
Evaluator: {likeness: {method: quality}}
Reporter: {data: {method: save_data, source: Preprocessor}, all: {method: save_report}}
"""
    lines: list[str] = []
    done = pipeline(folder, text).run(folder / "out", tell=lines.append)
    whole, complete, inside = (read(path) for path in done.files[:3])
    assert whole.height == 150
    worded = people.select(pl.col(pl.String))
    is_whole = ~worded.select(pl.any_horizontal(pl.all() == "?")).to_series()
    assert complete.height == is_whole.sum()
    report = read(done.files[3])
    assert report["Preprocessor_complete_rows_left_out_missing"].to_list() == [None, 150 - complete.height, None]
    assert (inside["workclass"] != "?").all()
    assert report["Preprocessor_inside_rows_left_out_outlier"][2] == 1
    below = lines[next(i for i, line in enumerate(lines) if line.startswith("  Preprocessor[inside]: ")) + 1 :]
    assert below[0].startswith("    rows_left_out_missing: ")
    assert below[1] == "    rows_left_out_outlier: 1"


def test_header_names_name_the_columns_of_a_file_without_a_header(folder: Path) -> None:
    (folder / "people.csv").write_text("31;clerk\n44;cook\n31;clerk\n", encoding="utf-8")
    text = """
Loader: {people: {filepath: people.csv, header_names: [age, job]}}
Describer: {all: {method: default}}
Reporter: {all: {method: save_report, granularity: columnwise}}
"""
    done = pipeline(folder, text).run(folder / "out")
    report = read(done.files[0])
    assert report["column"].to_list() == ["age", "job"]
    assert report["all_nunique"].to_list() == [2, 2]
    with pytest.raises(ht.InputError, match="does not split into as many"):
        pipeline(folder, text.replace("[age, job]", "[age, job, ward]")).run(folder / "out")


def test_a_schema_says_what_columns_are(folder: Path) -> None:
    (folder / "people.csv").write_text("ward,day\n1,03.04.2020\n2,05.04.2020\n-1,06.04.2020\n")
    text = """
Loader:
  people:
    filepath: people.csv
    schema: {fields: {ward: {type: str, na_values: -1}, day: {type: datetime, datetime_format: '%d.%m.%Y'}}}
Describer: {all: {method: default}}
Reporter: {all: {method: save_report, granularity: columnwise}}
"""
    report = read(pipeline(folder, text).run(folder / "out").files[0])
    assert report["all_mean"].to_list() == [None, None]
    assert report["all_na_count"].to_list() == [1, 0]
    with pytest.raises(ht.ColumnError, match="did you mean 'ward'"):
        pipeline(folder, text.replace("{ward:", "{wrd:")).run(folder / "out")


ANONYMIZED = """
Loader: {people: {filepath: people.csv}}
Anonymizer:
  five:
    columns:
      age: quasi-identifier
      gender: quasi-identifier
      race: quasi-identifier
      workclass: sensitive
      fnlwgt: identifier
      education: {role: quasi-identifier}
      educational-num: identifier
      marital-status: other
      occupation: other
      relationship: other
      capital-gain: other
      capital-loss: other
      hours-per-week: other
      native-country: other
      income: other
    models: [k-anonymity: 5]
    limits: {exposure: {rate: 1}}
Evaluator:
  holds: {method: verify}
  risk: {method: mpuccs, n_cols: [1, 2]}
  scores: {method: scores, columns: [[age, gender]], scores: [distinction]}
Reporter:
  release: {method: save_data, source: Anonymizer}
  all: {method: save_report, granularity: [global, details]}
"""


def test_an_anonymizer_writes_a_verified_release(folder: Path) -> None:
    done = pipeline(folder, ANONYMIZED).run(folder / "out")
    assert done.passed
    stem = "hushtable_Loader[people]_Anonymizer[five].csv"
    assert [path.name for path in done.files[:4]] == [
        stem,
        f"{stem}.manifest.json",
        f"{stem}.codebook.md",
        f"{stem}.codebook.json",
    ]
    assert json.loads(done.files[1].read_text())["file"] == stem
    assert stem in done.files[2].read_text()
    assert run("verify", done.files[0]).code == 0
    table = read(done.files[0])
    assert "fnlwgt" not in table.columns
    assert table.group_by("age", "gender", "race", "education").len()["len"].min() >= 5
    (row,) = read(done.files[4]).rows(named=True)
    assert row["holds_passed"]
    assert row["holds_smallest_class"] >= 5
    assert 0 < row["scores_distinction"] < 1
    details = read(done.files[5])
    assert "5-anonymity" in str(details["holds_condition"][0]) or "k-anonymity" in str(details["holds_condition"][0])


def test_a_kept_release_is_written_again_as_it_was_verified(folder: Path) -> None:
    asked = pipeline(folder, ANONYMIZED)
    asked.run(folder / "one")
    asked.run(folder / "two")
    assert tree(folder / "one") == tree(folder / "two")
    # What was tampered with is made anew; then a release has its rows in another order.
    (release,) = (folder / ".hushtable").glob("*/release.csv")
    release.write_text(release.read_text().replace("Private", "Public"))
    assert asked.run(folder / "three").passed
    asked.run(folder / "four", fresh=True)
    for name in tree(folder / "one"):
        if name.endswith("[five].csv"):
            assert rows_of(folder / "one" / name) == rows_of(folder / "three" / name) == rows_of(folder / "four" / name)


def test_of_what_is_made_of_a_release_nothing_was_claimed(folder: Path) -> None:
    same = ANONYMIZED.replace("Evaluator:", "Postprocessor: {nothing: {method: default}}\nEvaluator:")
    assert pipeline(folder, same).run(folder / "out").passed
    for after in ("Synthesizer: {copula: {method: copula}}", "Postprocessor: {some: {missing: drop}}"):
        text = ANONYMIZED.replace("Evaluator:", f"{after}\nEvaluator:").replace("fnlwgt: identifier", "fnlwgt: other")
        if "missing" in after:
            made_up.adult(150).with_columns(fnlwgt=pl.Series([None, *range(149)])).write_csv(folder / "people.csv")
        with pytest.raises(ht.InputError, match="nothing was claimed of this table"):
            pipeline(folder, text).run(folder / "out", cache=False)


def test_a_release_is_compared_without_the_columns_it_leaves_out(folder: Path) -> None:
    text = ANONYMIZED.replace("  holds: {method: verify}\n", "  like: {method: quality}\n")
    text = text.replace("Anonymizer:", "Splitter: {fifth: {}}\nAnonymizer:")
    text = text.replace(
        "  risk: {method: mpuccs, n_cols: [1, 2]}", "  risk: {method: mpuccs, n_cols: 1, n_permutations: 20}"
    )
    (row,) = read(pipeline(folder, text).run(folder / "out").files[4]).rows(named=True)
    assert 0 < row["like_Score"] < 1
    assert row["risk_control_rate"] is not None


def test_an_anonymizer_takes_a_policy_of_its_own_file(folder: Path) -> None:
    entries = ANONYMIZED.split("  five:\n")[1].split("Evaluator:")[0]
    (folder / "policy.yaml").write_text("".join(f"{line[4:]}\n" for line in entries.splitlines()))
    text = ANONYMIZED.replace(entries, "    policy: policy.yaml\n    external: true\n")
    done = pipeline(folder, text).run(folder / "out")
    manifest = json.loads(done.files[1].read_text())
    assert "policy" not in manifest
    assert "trace" not in manifest


def test_what_verify_cannot_judge_fails(folder: Path) -> None:
    text = """
Loader: {people: {filepath: people.csv}}
Evaluator: {holds: {method: verify}}
"""
    with pytest.raises(ht.InputError, match="nothing was claimed of this table"):
        pipeline(folder, text).run(folder / "out")


def test_plain_names_have_no_brackets(folder: Path) -> None:
    text = f"version: 1\n{WHOLE}  times: {{method: save_timing, time_unit: minutes}}\n"
    names = [path.name for path in pipeline(folder, text).run(folder / "out").files]
    assert names == [
        "hushtable.data.Synthesizer.copula.csv",
        "hushtable.data.Synthesizer.independent.csv",
        *(f"hushtable.report.{each}.csv" for each in ("global", "columnwise", "pairwise", "details", "tree")),
        "hushtable.timing.csv",
    ]


def test_compact_names_and_reports_of_some_experiments(folder: Path) -> None:
    text = """
Loader: {people: {filepath: people.csv}}
Describer: {one: {}, two: {}}
Reporter:
  a: {method: save_report, granularity: global, naming_strategy: compact, output: petsard}
  b: {method: save_report, granularity: global, eval: two, output: petsard}
"""
    done = pipeline(folder, text).run(folder / "out")
    assert [path.name for path in done.files] == [
        "petsard.report.Rp.[global].G.csv",
        "petsard[Report]_two_[global].csv",
    ]
    (row,) = read(done.files[1]).rows(named=True)
    assert row == {
        "full_expt_name": "Loader[people]_Describertwo_[global]",
        "Loader": "people",
        "Describer": "two_[global]",
        "two_row_count": 150,
        "two_col_count": 15,
        "two_na_count": 0,
    }


def test_timings_name_every_step(folder: Path) -> None:
    text = """
Loader: {people: {filepath: people.csv}}
Synthesizer: {copula: {}}
Reporter: {times: {method: save_timing, module: Synthesizer}}
"""
    done = pipeline(folder, text).run(folder / "out")
    assert done.files[0].name == "hushtable[Timing].csv"
    (row,) = read(done.files[0]).rows(named=True)
    assert list(row) == [
        *("record_id", "module_name", "experiment_name", "step_name", "start_time", "end_time"),
        *("duration_seconds", "source", "status"),
    ]
    assert (row["module_name"], row["experiment_name"], row["status"]) == ("Synthesizer", "copula", "completed")


def test_a_log_is_written_only_where_asked(folder: Path) -> None:
    text = "Loader: {people: {filepath: people.csv}}\nDescriber: {all: {}}\n"
    assert pipeline(folder, f"Executor: {{log_output_type: stdout}}\n{text}").run(folder / "out").files == ()
    asked = f"Executor: {{log_output_type: both, log_dir: logs, log_filename: run.log}}\n{text}"
    (log,) = pipeline(folder, asked).run(folder / "out").files
    assert log == folder / "out/logs/run.log"
    assert "Loader[people]: " in log.read_text()


def test_the_log_that_is_checked_is_the_one_that_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(dt.datetime):
        ticks = itertools.count()

        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:
            return dt.datetime(2026, 1, 1, 12, tzinfo=tz) + dt.timedelta(seconds=next(cls.ticks))

    checked: list[list[Path]] = []
    check = drafts.check_outputs

    def noted(paths: Sequence[Path], *rest: object, **options: bool) -> None:
        checked.append([path for path in paths if path.name != RECORD_FILE])
        check(paths, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(runs, "dt", SimpleNamespace(datetime=Clock, timedelta=dt.timedelta))
    monkeypatch.setattr(drafts, "check_outputs", noted)
    text = "Executor: {log_filename: '{timestamp}.log'}\nLoader: {people: {filepath: people.csv}}\n"
    (log,) = pipeline(folder, text).run(folder / "out").files
    assert checked == [[log], [log]]
    assert log.name == "20260101-120000.log"


def test_a_log_where_no_folder_can_be_is_told_before_anything_is_done(folder: Path) -> None:
    text = "Executor: {log_dir: ../people.csv}\nLoader: {people: {filepath: people.csv}}\n"
    (folder / "out").mkdir()
    (folder / "people.csv").rename(folder / "out/people.csv")
    text = text.replace("filepath: people.csv", "filepath: out/people.csv")
    with pytest.raises(ht.InputError, match=r"cannot make the folder .*people\.csv'(?s:.*)name another as log_dir"):
        pipeline(folder, text.replace("../people", "people")).run(folder / "out")
    with pytest.raises(ht.InputError, match="is outside the output folder"):
        pipeline(folder, text).run(folder / "out")


LOGGED = "Executor: {{log_dir: {place}, log_filename: mine.txt}}\nLoader: {{people: {{filepath: people.csv}}}}\n"


@pytest.mark.parametrize(
    "place", ["..", "../elsewhere", "a/../../elsewhere", "{folder}/elsewhere", "link", "link/deep"]
)
def test_nothing_is_written_outside_the_output_folder(folder: Path, place: str) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/mine.txt").write_text("mine")
    (folder / "mine.txt").write_text("mine")
    (folder / "out").mkdir()
    (folder / "out/link").symlink_to(folder / "elsewhere")
    (folder / "pipeline.yaml").write_text(LOGGED.format(place=place.format(folder=folder)))
    before = [*folder.rglob("*")], tree(folder)
    outcome = run("run", folder / "pipeline.yaml", "--out", folder / "out", "--force", "--no-cache")
    assert outcome.code == 2
    assert "is outside the output folder" in outcome.err
    assert ([*folder.rglob("*")], tree(folder)) == before


def test_a_log_folder_that_becomes_a_link_meanwhile_is_not_followed(folder: Path) -> None:
    (folder / "elsewhere").mkdir()

    def turn(_: str) -> None:
        if not (folder / "out/logs").is_symlink():
            (folder / "out/logs").rmdir()
            (folder / "out/logs").symlink_to(folder / "elsewhere")

    with pytest.raises(ht.InputError, match="is outside the output folder"):
        pipeline(folder, LOGGED.format(place="logs")).run(folder / "out", tell=turn)
    assert not list((folder / "elsewhere").iterdir())


DESCRIBED = """
Loader: {people: {filepath: people.csv}}
Describer: {all: {}}
Reporter: {report: {method: save_report, granularity: global}}
"""


def test_only_what_a_run_wrote_is_replaced_unless_forced(folder: Path) -> None:
    path = _written(folder, DESCRIBED)
    report = folder / "out/hushtable[Report]_[global].csv"
    again = ("run", path, "--out", folder / "out")
    report.parent.mkdir()
    report.write_text("mine")
    refused = run(*again)
    assert refused.code == 2
    assert "is not what an earlier run wrote" in refused.err
    assert report.read_text() == "mine"
    assert [path.name for path in report.parent.iterdir()] == [report.name]
    assert run(*again, "--force").code == 0
    assert run(*again).code == 0
    with report.open("a") as file:
        file.write("mine")
    assert run(*again).code == 2
    with pytest.raises(ht.InputError, match="overwrite=True"):
        ht.Pipeline.read(path).run(folder / "out")
    ht.Pipeline.read(path).run(folder / "out", overwrite=True)


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX modes")
def test_what_is_internal_is_its_owners_alone(folder: Path) -> None:
    text = WHOLE.replace("source: Synthesizer", "source: [Loader, Splitter, Synthesizer]")
    done = pipeline(folder, text.replace("  independent: {method: independent}\n", "")).run(folder / "out")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in done.files}
    mask = os.umask(0)
    os.umask(mask)
    is_open = {name for name, mode in modes.items() if mode == 0o666 & ~mask}
    assert is_open == {name for name in modes if "Synthesizer" in name or "[global]" in name}
    assert {mode for name, mode in modes.items() if name not in is_open} == {0o600}
    assert stat.S_IMODE((folder / "out" / RECORD_FILE).stat().st_mode) == 0o600


def test_what_is_left_out_is_no_success_unless_it_is_allowed_by_name(folder: Path) -> None:
    text = "Loader: {people: {filepath: people.csv}}\nEvaluator: {attack: {method: stats, stats_method: [mean]}}\n"
    made = pipeline(folder, text)
    done = made.run(folder / "out")
    assert done.missing == ("Evaluator[attack]: stats",)
    assert not done.passed
    assert done.to_dict()["missing"] == ["Evaluator[attack]: stats"]
    for name in ("attack", "stats"):
        assert made.run(folder / "out", allow_missing=[name]).passed
    again = ("run", folder / "pipeline.yaml", "--out", folder / "out")
    assert run(*again).code == 1
    assert run(*again, "--allow-missing", "attack").code == 0
    refused = run(*again, "--allow-missing", "atack")
    assert refused.code == 2
    assert "'attack', 'stats'" in refused.err


def test_a_pipeline_of_plain_values(folder: Path) -> None:
    made = ht.Pipeline.make({"Loader": {"people": {"filepath": "people.csv"}}, "Describer": {"all": {}}}, folder)
    assert made.run(folder / "out").passed
    with pytest.raises(ht.PipelineError, match=r"pipeline: Loader\.people\.filepth: no such entry"):
        ht.Pipeline.make({"Loader": {"people": {"filepth": "people.csv"}}})


def test_no_cell_is_told(folder: Path) -> None:
    secret = "Zebedee-4711"
    people = made_up.adult(60).with_columns(name=pl.lit(secret))
    people.write_csv(folder / "people.csv")
    outcome = run("run", _written(folder, WHOLE), "--out", folder / "out")
    assert outcome.code == 0
    assert secret not in outcome.out + outcome.err
    reports = [text for name, text in tree(folder / "out").items() if "Report" in name]
    assert reports
    assert not any(secret.encode() in text for text in reports)


def _written(folder: Path, text: str) -> Path:
    (folder / "p.yaml").write_text(text)
    return folder / "p.yaml"


def test_each_step_is_carried_out_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    synthesize = steps.synthesize_frame

    def counted(*arguments: object) -> object:
        seen.append("synthesis")
        return synthesize(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(steps, "synthesize_frame", counted)
    pipeline(folder, WHOLE).run(folder / "out", cache=False)
    assert len(seen) == 2


def test_a_limit_is_judged_as_the_command_does(folder: Path) -> None:
    people = made_up.adult(150)
    people.write_csv(folder / "made.csv")
    made_up.adult(3, seed=6).write_csv(folder / "held_out.csv")
    text = """
Loader: {people: {filepath: people.csv}}
Synthesizer: {copied: {method: custom_data, filepath: made.csv}}
Evaluator:
  small: {method: mpuccs, n_cols: 1, control: held_out.csv, n_permutations: 20, limit: {excess_risk: 0.05}}
  pruned: {method: mpuccs, n_cols: [1, 2], min_entropy_delta: 5.0, limit: {total_identified: 150}}
"""
    small, pruned = pipeline(folder, text).run(folder / "out").failures
    assert "excess cannot be said to be at most 0.05: the control is too small" in small
    assert "count cannot be said to be at most 150.0: column sets were skipped" in pruned
    command = [
        "mpuccs",
        folder / "people.csv",
        folder / "made.csv",
        "--control",
        folder / "held_out.csv",
        "--sizes",
        "1",
    ]
    outcome = run(*command, "--permutations", "20", "--fail-above", "excess=0.05")
    assert "the control is too small" in outcome.err


def test_files_of_a_policy_count_too(folder: Path) -> None:
    policy = (
        "columns: {age: quasi-identifier, gender: quasi-identifier}\nmodels: [k-map: 2]\npopulation: everyone.csv\n"
    )
    (folder / "policy.yaml").write_text(policy)
    people = made_up.adult(60).select("age", "gender").with_columns(age=pl.lit(30))
    people.write_csv(folder / "people.csv")
    people.write_csv(folder / "everyone.csv")
    text = """
Loader: {people: {filepath: people.csv}}
Evaluator: {holds: {method: verify, policy: policy.yaml}}
Reporter: {times: {method: save_timing, output: everyone}}
"""
    asked = pipeline(folder, text)
    assert asked.run(folder / "out").passed
    people.head(1).write_csv(folder / "everyone.csv")
    assert not asked.run(folder / "out").passed
    # An input is never an output: neither a file of a policy, nor the pipeline's own.
    (folder / "everyone.csv").rename(folder / "everyone[Timing].csv")
    (folder / "policy.yaml").write_text(policy.replace("everyone.csv", "'everyone[Timing].csv'"))
    with pytest.raises(ht.InputError, match="the output is the input"):
        asked.run(folder)
    own = pipeline(folder, "Executor: {log_filename: p.yaml}\nLoader: {people: {filepath: people.csv}}\n", "p.yaml")
    with pytest.raises(ht.InputError, match="the output is the input"):
        own.run(folder)


@pytest.mark.parametrize(("rate", "code"), [("", 1), ("\nlimits: {exposure: {rate: 1}}", 0)])
def test_the_limit_of_exposure_is_judged_as_the_command_does(folder: Path, rate: str, code: int) -> None:
    roles = "columns: {age: quasi-identifier, gender: quasi-identifier, fnlwgt: other}"
    (folder / "policy.yaml").write_text(f"{roles}\nmodels: [k-anonymity: 2]{rate}\n")
    people = made_up.adult(60).select("age", "gender", "fnlwgt").with_columns(age=pl.lit(30), gender=pl.lit("*"))
    people.with_columns(fnlwgt=pl.int_range(60)).write_csv(folder / "people.csv")
    text = """
Loader: {people: {filepath: people.csv}}
Evaluator: {holds: {method: verify, policy: policy.yaml}}
"""
    assert pipeline(folder, text).run(folder / "out").passed == (code == 0)
    assert run("verify", folder / "people.csv", "-p", folder / "policy.yaml", "--no-manifest").code == code


def test_a_limit_of_exposure_whose_persons_are_left_out_was_judged_before_writing(folder: Path) -> None:
    text = ANONYMIZED.replace(
        "    limits: {exposure: {rate: 1}}", "    person: fnlwgt\n    limits: {exposure: {rate: 0.99}}"
    )
    done = pipeline(folder, text).run(folder / "out")
    assert done.passed, done.failures
    outcome = run("verify", done.files[0])
    assert outcome.code == 0
    assert "records unique on" in outcome.out


def test_a_release_is_judged_beside_what_it_was_made_from(folder: Path) -> None:
    text = ANONYMIZED.replace("models: [k-anonymity: 5]", "models: ['(1,k)-matching': 2]\n    method: mingen")
    text = text.replace("Anonymizer:", "Preprocessor: {some: {missing: drop}}\nAnonymizer:")
    people = made_up.adult(16).with_columns(race=pl.Series([None, *["White"] * 15]))
    people.write_csv(folder / "people.csv")
    text = text.replace("education: {role: quasi-identifier}", "education: other")
    done = pipeline(folder, text).run(folder / "out")
    assert done.passed, done.failures


def test_no_rows_are_drawn_into_a_release(folder: Path) -> None:
    text = ANONYMIZED.replace("Anonymizer:", "Synthesizer: {some: {sample_num_rows: 50}}\nAnonymizer:")
    text = text.replace("Evaluator:", "Constrainer: {more: {target_rows: 100}}\nEvaluator:")
    with pytest.raises(ht.InputError, match="50 of 100 rows keep to the rules"):
        pipeline(folder, text).run(folder / "out")


@pytest.mark.parametrize(
    ("order", "late"),
    [
        (
            "Synthesizer: {a: {method: custom_data, filepath: people.csv}}\nLoader: {b: {filepath: people.csv}}\n",
            "Loader",
        ),
        ("Loader: {b: {filepath: people.csv}}\nSynthesizer: {a: {}}\nSplitter: {c: {}}\n", "Splitter"),
    ],
)
def test_orders_that_would_report_what_is_not_so_are_refused(order: str, late: str) -> None:
    with pytest.raises(ht.PipelineError, match=f"{late}: stands too late"):
        ht.Pipeline.parse(order)


@pytest.mark.parametrize("method", ["quality", "diagnosis", "mpuccs, compat: petsard-1.6"])
def test_originals_are_not_compared_with_themselves(method: str, folder: Path) -> None:
    text = f"Loader: {{people: {{filepath: people.csv}}}}\nEvaluator: {{a: {{method: {method}}}}}\n"
    with pytest.raises(ht.InputError, match="no synthetic or protected table"):
        pipeline(folder, text).run(folder / "out")


def test_samples_are_drawn_from_one_seed(folder: Path) -> None:
    text = """
Loader: {people: {filepath: people.csv}}
Splitter: {s: {num_samples: 3, train_split_ratio: 0.2, max_overlap_ratio: 0.1, max_attempts: 500}}
Reporter: {data: {method: save_data, source: Splitter}}
"""
    done = pipeline(folder, text).run(folder / "out")
    trains = [set(path.read_text().splitlines()[1:]) for path in done.files[::2]]
    assert all(len(one & other) <= 3 for i, one in enumerate(trains) for other in trains[:i])


def test_the_order_of_rules_is_part_of_what_is_kept(folder: Path) -> None:
    rules = ["workclass: {erase: [race]}", "race: {erase: [gender]}"]
    people = made_up.adult(60).with_columns(workclass=pl.Series([None, *["x"] * 59]))
    people.write_csv(folder / "people.csv")
    found = []
    for order in (rules, rules[::-1]):
        text = f"""
Loader: {{people: {{filepath: people.csv}}}}
Constrainer: {{rules: {{nan_groups: {{{", ".join(order)}}}}}}}
Describer: {{d: {{}}}}
Reporter: {{all: {{method: save_report, granularity: columnwise}}}}
"""
        report = read(pipeline(folder, text).run(folder / "out").files[0])
        found.append(report.filter(pl.col("column") == "gender")["d_na_count"].item())
    assert found == [1, 0]


def test_a_file_that_changes_meanwhile_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = steps.read_table

    def slowly(*arguments: object) -> object:
        frame = load(*arguments)  # type: ignore[arg-type]
        made_up.adult(20, seed=7).write_csv(folder / "people.csv")
        return frame

    monkeypatch.setattr(steps, "read_table", slowly)
    with pytest.raises(ht.InputError, match="a file that it reads was changed meanwhile"):
        pipeline(folder, WHOLE).run(folder / "out")


@pytest.mark.parametrize(
    "reporters",
    [
        "{a: {method: save_timing}, b: {method: save_timing, time_unit: days}}",
        "{a: {method: save_report, eval: [one, two]}, b: {method: save_report, eval: one-two}}",
    ],
)
def test_no_two_reporters_write_one_file(reporters: str, folder: Path) -> None:
    text = f"""
Loader: {{people: {{filepath: people.csv}}}}
Describer: {{one: {{}}, two: {{}}, one-two: {{}}}}
Reporter: {reporters}
"""
    with pytest.raises(ht.InputError, match="two outputs go to"):
        pipeline(folder, text).run(folder / "out")


def test_counts_of_modules_of_one_name_are_both_told(folder: Path) -> None:
    people = made_up.adult(60).with_columns(race=pl.Series([None] * 5 + ["x"] * 55))
    people.write_csv(folder / "people.csv")
    text = """
Loader: {people: {filepath: people.csv}}
Preprocessor: {demo: {missing: drop}}
Describer: {d: {}}
Postprocessor: {demo: {outlier: iqr}}
Evaluator: {s: {method: scores}}
Reporter: {all: {method: save_report}}
"""
    described, scored = read(pipeline(folder, text).run(folder / "out").files[0]).rows(named=True)
    assert described["Preprocessor_demo_rows_left_out_missing"] == 5
    assert scored["Preprocessor_demo_rows_left_out_missing"] == 5
    assert scored["Postprocessor_demo_rows_left_out_outlier"] is not None


@pytest.mark.parametrize("name", ["table.parquet", "evaluation.json"])
def test_what_is_damaged_is_made_anew(name: str, folder: Path) -> None:
    asked = pipeline(folder, WHOLE)
    asked.run(folder / "one")
    for path in (folder / ".hushtable").glob(f"*/{name}"):
        path.write_bytes(b"")
    asked.run(folder / "two")
    assert tree(folder / "one") == tree(folder / "two")


def test_two_runs_do_not_share_a_folder(folder: Path) -> None:
    asked = pipeline(folder, WHOLE)

    def again(_: str) -> None:
        for other in (lambda: asked.run(folder / "other"), asked.clean):
            with pytest.raises(ht.InputError, match="another run uses the results"):
                other()

    asked.run(folder / "out", tell=again)
    assert asked.clean()


def test_a_kill_leaves_no_part_for_long(folder: Path) -> None:
    asked = pipeline(folder, WHOLE)
    asked.run(folder / "out")
    part = folder / ".hushtable/part-0123456789abcdef"
    part.mkdir()
    (part / "table.parquet").write_text("half")
    asked.run(folder / "out")
    assert not part.exists()


def test_a_mark_of_somebody_else_is_none(folder: Path) -> None:
    (folder / ".hushtable").mkdir()
    (folder / ".hushtable/README.txt").write_text("mine")
    with pytest.raises(ht.InputError, match="no folder of results that hushtable made"):
        pipeline(folder, WHOLE).run(folder / "out")
    assert (folder / ".hushtable/README.txt").read_text() == "mine"


def test_names_that_are_too_long_are_told_before_anything_is_done(folder: Path) -> None:
    text = f"""
Loader: {{{"p" * 230}: {{filepath: people.csv}}}}
Reporter: {{data: {{method: save_data, source: Loader}}}}
"""
    with pytest.raises(ht.InputError, match="the name of a file would have"):
        pipeline(folder, text).run(folder / "out")


@pytest.mark.parametrize("path", ["a\\0b.csv", "x" * 400])
def test_names_that_no_file_has(path: str, folder: Path) -> None:
    text = f'Loader: {{people: {{filepath: "{path}"}}}}\n'
    with pytest.raises(ht.PipelineError, match="there is no file"):
        pipeline(folder, text).run(folder / "out")


def test_a_disk_that_is_full_for_what_is_kept_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        told = "parquet: File out of specification: underlying IO error: No space left on device (os error 28)"
        raise pl.exceptions.ComputeError(told)

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", fail)
    outcome = run("run", _written(folder, WHOLE), "--out", folder / "out")
    assert outcome.code == 70
    assert "cannot keep a result" in outcome.err
    assert "no space is left" in outcome.err
    assert "Traceback" not in outcome.err
    assert not list((folder / "out").iterdir())


@pytest.mark.parametrize("asked", ["sampling_ratio: 1.0e+308, target_rows: 500", f"target_rows: {10**400}"])
def test_no_more_rows_are_drawn_than_there_could_be(folder: Path, asked: str) -> None:
    rule = "field_constraints: ['age > 200']"
    text = f"{WHOLE.partition('Evaluator')[0]}Constrainer: {{more: {{{rule}, {asked}}}}}\n"
    outcome = run("run", _written(folder, text), "--out", folder / "out")
    assert outcome.code == 2
    assert "less than or equal to" in outcome.err or "not YAML" in outcome.err


@pytest.mark.parametrize("unit", ["T", "ns", "min", "D"])
def test_units_of_time_as_petsard_writes_them_are_carried_out(folder: Path, unit: str) -> None:
    text = f"""
Loader: {{people: {{filepath: people.csv}}}}
Evaluator: {{risk: {{method: mpuccs, n_cols: 1, datetime_precision: {unit}}}}}
Reporter: {{all: {{method: save_report, granularity: global}}}}
"""
    assert pipeline(folder, text).run(folder / "out").files


def test_what_is_no_unit_of_time_is_refused_when_the_file_is_read(folder: Path) -> None:
    text = "Loader: {people: {filepath: people.csv}}\nEvaluator: {risk: {method: mpuccs, datetime_precision: eon}}\n"
    with pytest.raises(ht.PipelineError, match="'eon' is no unit of time"):
        pipeline(folder, text)
