"""Reports put together: against a slow twin that joins row by row; and the names of files."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from hushtable.pipeline.evaluators import LeftOut
from hushtable.pipeline.modules import Describing, SaveReport
from hushtable.pipeline.reports import ReportNaming, build_report, report_name
from hushtable.pipeline.results import Evaluation, Tables
from hushtable.pipeline.steps import Step, expand_steps, key_of, seed_of

LOADER, MADE = ("Loader", "data"), ("Synthesizer", "demo")
INDEX = {"global": (), "columnwise": ("column",), "pairwise": ("column1", "column2"), "details": ("index",)}


def slow_report(granularity: str, found: list[tuple[Step, Evaluation]]) -> list[dict[str, Any]]:
    """Join what was found on the path and the index, one row after the other."""
    rows: list[dict[str, Any]] = []
    for step, evaluation in found:
        columns = evaluation.tables.get(granularity, {})
        for i in range(len(next(iter(columns.values()), []))):
            where = {module: name for module, name in step.path if module != step.module}
            where[step.module] = f"[{granularity}]"
            for name in INDEX[granularity]:
                where[name] = columns[name][i] if name in columns else i
            if granularity == "details":
                where["owner"] = step.experiment
            row = next((row for row in rows if row.items() >= where.items()), None)
            if row is None:
                row = dict(where)
                rows.append(row)
            for name, cells in columns.items():
                if name not in INDEX[granularity]:
                    row[f"{step.experiment}_{name}"] = cells[i]
    return [{name: cell for name, cell in row.items() if name != "owner"} for row in rows]


@given(st.data(), st.sampled_from(sorted(INDEX)))
def test_figures_of_one_line_share_rows(data, granularity):
    found = []
    for maker in ("one", "two"):
        for name in ("a", "b", "c"):
            n = 1 if granularity == "global" else data.draw(st.integers(0, 3))
            columns: dict[str, list[Any]] = {
                each: [data.draw(st.sampled_from("xyz")) + str(i) for i in range(n)] for each in INDEX[granularity]
            }
            columns.pop("index", None)
            columns["figure"] = [data.draw(st.integers(0, 9)) for _ in range(n)]
            step = Step((LOADER, ("Synthesizer", maker), ("Evaluator", name)), Describing())
            found.append((step, Evaluation.from_tables({granularity: columns})))
    tables = {step.parent: Tables(None) for step, _ in found}  # type: ignore[arg-type]
    got = build_report(SaveReport(method="save_report", granularity=(granularity,)), granularity, found, tables)
    expected = slow_report(granularity, found)
    if got is None:
        assert not expected
        return
    names = [name for name in got if name != "full_expt_name"]
    rows = [dict(zip(names, cells, strict=True)) for cells in zip(*(got[name] for name in names), strict=True)]
    assert [{name: cell for name, cell in row.items() if cell is not None} for row in rows] == expected


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({}, "hushtable[Report]_[global].csv"),
        ({"eval": "demo-mpuccs", "output": "petsard"}, "petsard[Report]_demo-mpuccs_[global].csv"),
        ({"eval": ["a", "b"]}, "hushtable[Report]_a-b_[global].csv"),
        ({"naming_strategy": "compact", "output": "petsard"}, "petsard.report.Rp.[global].G.csv"),
        ({"naming_strategy": "plain"}, "hushtable.report.global.csv"),
        ({"naming_strategy": "plain", "eval": "a"}, "hushtable.report.a.global.csv"),
    ],
)
def test_the_names_of_reports(asked, name):
    reporter = SaveReport.model_validate({"method": "save_report", **asked})
    assert report_name(reporter, "global", ReportNaming("traditional", frozenset())) == name


def test_the_product_is_depth_first_and_looks_change_no_seed():
    modules = {"Loader": {"a": Describing(), "b": Describing()}, "Describer": {"d": Describing()}}
    modules["Evaluator"] = {"e": LeftOut(method="stats"), "f": LeftOut(method="stats")}
    steps = expand_steps(modules)
    assert [step.name for step in steps[:4]] == [
        "Loader[a]",
        "Loader[a]_Describer[d]",
        "Loader[a]_Evaluator[e]",
        "Loader[a]_Evaluator[f]",
    ]
    assert len(steps) == 8
    assert steps[2].parent == (("Loader", "a"),)
    assert len({seed_of(seed, step) for seed in (0, 1) for step in steps}) == 16
    found = [key_of(step, 0, [], ["global"], "") for step in steps]
    assert len(set(found)) == 8
    assert found == [key_of(step, 0, [], ["global"], "") for step in steps]
    assert key_of(steps[0], 0, [], ["global"], "other") not in found


def test_what_was_found_is_the_same_when_it_is_read_again():
    found = Evaluation.from_tables({"global": {"a": [float("nan")], "b": [("x", "y")], "c": [1.5], "d": [{"age": 2}]}})
    assert found.figures == {"a": None, "b": "('x', 'y')", "c": 1.5, "d": '{"age": 2}'}
    assert Evaluation.from_json(found.to_json()).tables == found.tables
