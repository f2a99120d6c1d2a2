"""The page with the source's tables shows what its script prints."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "qidlearninglib_tables.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("qidlearninglib_tables")


def shown(lines):
    """Whether the page has these lines, one after another."""
    return "\n".join(lines) in PAGE


def test_the_page_has_the_eight_sets_of_the_ten_records(script):
    assert shown(script.table_4())


def test_the_page_has_the_figures_of_the_five_tables(script, shared_file):
    for name in ("car", "diabetes", "heart_disease", "nursery"):
        shared_file(f"data/uci/{name}.csv")
    shared_file("data/adult/adult_ori.csv")
    tables = script.load()
    for table in (script.table_5, script.table_6, script.fitted, script.table_7, script.counts):
        assert shown(table(tables))


def test_no_weights_can_explain_what_the_ten_records_contradict(script):
    by_name = {row.name: row.values for row in script.ten_records().rows}
    same = [by_name[f"Gender, {name}"] for name in ("Diagnosis", "Treatment", "Diagnosis, Treatment")]
    assert same[0] == same[1] == same[2]
    assert all(round(each["distinction"] * 10, 9) % 1 == 0 for each in by_name.values())
    assert by_name["Age, Treatment"]["separation"] <= by_name["Age, Gender, Treatment"]["separation"]


def test_the_objective_of_the_package_is_the_printed_one_less_a_fifth(script):
    import hushtable as ht
    from hushtable.discover import compare_sets

    sets = [*script.TABLE_4]
    printed, package = (
        [row.values["objective value"] for row in compare_sets(script.TABLE_3, sets, scores=each).rows]
        for each in (script.PRINTED, ht.Objective.paper())
    )
    assert [one - other for one, other in zip(printed, package, strict=True)] == pytest.approx([0.2] * len(sets))
