"""Keys: what the result of a step depends on."""

import importlib.metadata
from pathlib import Path

import pytest

import hushtable as ht
from hushtable.synthesizers.synthesizing import ENTRY_POINT_GROUP

OURS = """
Loader: {people: {filepath: people.csv}}
Splitter: {fifth: {}}
Preprocessor: {nothing: {}}
Synthesizer:
  default: {method: default}
  named: {method: sdv-single_table-gaussiancopula}
  independent: {method: independent}
  given: {method: custom_data, filepath: people.csv}
Constrainer: {rules: {}}
Evaluator: {likeness: {method: quality}, risk: {method: mpuccs}}
Describer: {all: {}}
"""
THEIRS = """
Loader: {people: {filepath: people.csv}}
Synthesizer:
  by-name: {method: theirs}
  by-class: {method: custom_method, class_name: theirs}
  ours: {method: copula}
Evaluator: {likeness: {method: quality}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("age,job\n31,cook\n")
    return tmp_path


def test_no_entry_point_is_looked_for_where_none_is_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ht.Pipeline.parse(OURS, folder=folder)
    monkeypatch.delattr(importlib.metadata, "entry_points")
    assert len(asked.keys()) == len(asked.steps) + 1


def test_code_of_another_package_is_part_of_what_it_makes_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of a name that is an evaluator's too.
    entries = [
        importlib.metadata.EntryPoint(name, "their_package:Theirs", ENTRY_POINT_GROUP) for name in ("theirs", "quality")
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries if group == ENTRY_POINT_GROUP else [])
    monkeypatch.syspath_prepend(folder)
    code = folder / "their_package.py"
    code.write_text("class Theirs: ...\n")
    asked = ht.Pipeline.parse(THEIRS, folder=folder)
    before = asked.keys()
    assert asked.keys() == before
    code.write_text("class Theirs:\n    fit = sample = print\n")
    changed = {path[1][1] for path, key in asked.keys().items() if key != before[path]}
    assert changed == {"by-name", "by-class"}


def test_options_of_trees_reach_them(tmp_path):
    ht.datasets.people(300).select("sex", "income").write_csv(tmp_path / "a.csv")
    text = "Loader: {a: {filepath: a.csv}}\nSynthesizer: {t: {method: METHOD, min_leaf: 30, order: [income]}}\n"
    (tmp_path / "p.yaml").write_text(text.replace("METHOD", "trees"))
    assert ht.Pipeline.read(tmp_path / "p.yaml").modules["Synthesizer"]["t"].options == {
        "min_leaf": 30,
        "order": ("income",),
    }
    assert ht.Pipeline.read(tmp_path / "p.yaml").run(tmp_path / "out").passed
    with pytest.raises(ht.PipelineError, match="min_leaf has no effect with copula"):
        ht.Pipeline.parse(text.replace("METHOD", "copula"))
