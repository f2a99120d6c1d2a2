"""Benchmarks are not run here, but they must at least find what they measure."""

import importlib
import sys
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
