"""Benchmarks are not run here, but they must at least find what they measure."""

import importlib
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_can_be_imported(name, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    # A benchmark may be called as a module of the package or of the tests is.
    monkeypatch.delitem(sys.modules, name, raising=False)
    assert importlib.import_module(name).__doc__
    monkeypatch.delitem(sys.modules, name)


LOADER = SourceFileLoader("bench", str(FOLDER.parent / "scripts" / "bench"))
BENCH = module_from_spec(spec_from_loader("bench", LOADER))
LOADER.exec_module(BENCH)


def test_the_page_names_each_benchmark_and_each_mark_a_script():
    page = (FOLDER.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    commands = BENCH.MARK.findall(page)
    assert page.count("<!-- bench: ") == page.count("<!-- /bench -->") == len(commands)
    assert {command.split()[0] for command in commands} <= {f"{name}.py" for name in NAMES}
    assert [name for name in NAMES if f"{name}.py" not in page and name != "numpy_mondrian"] == []


def test_tables_that_a_benchmark_prints_stay_tables():
    printed = "two cores\n| a | b |\n|---|---|\n| 1 | 2 |\nslow\n\nlate\n"
    shown = "```text\ntwo cores\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```text\nslow\n```\n\n```text\nlate\n```"
    assert BENCH.to_markdown(printed) == shown
