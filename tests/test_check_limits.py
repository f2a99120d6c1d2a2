"""The check of limits counts what it says, and its numbers may only fall."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

import check_limits

MANY = ", ".join("abcdefghi")
LONG = "\n".join(["    x = 1"] * 41)
MADE_UP = {
    "files over 700 lines": ("x = 1\n" * 701, [701]),
    "bodies over 40 lines (kernels: 80)": (f'def count():\n    """Count."""\n{LONG}', [1]),
    "functions with more than 8 parameters": (f"def count({MANY}): ...\nclass A:\n    def cut(self, b): ...", [1]),
    "flags by position": (
        "def count(a: bool, b=True, *, c: bool = False): ...\ndef cut(\n    a: bool | None): ...",
        [1, 1, 3],
    ),
    "Any": ("from typing import Any\nimport typing\nx: list[Any]\ny: typing.Any", [3, 4]),
    "getattr with a constant name": ("getattr(a, 'b')\ngetattr(a, b)\ngetattr(a, 'b', None)", [1, 3]),
    "stacklevel counted by hand": ("warn(a, stacklevel=3)\nwarn(a, stacklevel=stacklevel)", [1]),
}


@pytest.mark.parametrize("limit", MADE_UP)
def test_a_limit_counts_its_lines_and_no_others(limit):
    text, lines = MADE_UP[limit]
    assert check_limits.find_places([check_limits.parse("room/file.py", text)])[limit] == {"room/file.py": lines}


def test_a_limit_counts_nothing_at_the_limit():
    fine = f'def count(a, b, *, c: bool = False):\n    """Count.\n\n    At length.\n    """\n{LONG[10:]}\n' + "\n" * 650
    found = check_limits.find_places([check_limits.parse("room/file.py", fine)])
    assert not any(found.values())
    # A kernel may be twice as long, as its loops cannot be parted without a cost.
    kernel = check_limits.parse("kernels/file.py", f"def count():\n{LONG}")
    assert not list(check_limits.find_long_bodies(kernel))


@pytest.mark.parametrize("name", ["told", "_beside", "merged", "of", "settled_by", "one_of", "__after_all"])
def test_a_name_without_a_verb_or_a_noun_is_counted(name):
    source = check_limits.parse("a.py", f"def {name}(a): ...\n")
    assert list(check_limits.find_unclear_names(source)) == [1]


@pytest.mark.parametrize(
    "name", ["count_suppressed", "with_specs", "embed", "seed", "entropy", "is_told", "__add__", "n_merged"]
)
def test_a_name_that_begins_with_a_verb_or_a_noun_is_not(name):
    source = check_limits.parse("a.py", f"def {name}(a): ...\n@property\ndef hidden(self): ...\n")
    assert not list(check_limits.find_unclear_names(source))


def test_a_door_offers_what_another_room_imports_or_names():
    texts = {
        "io/__init__.pyi": "from .files import (\n    read as read,\n    write as write,\n    scan as scan,\n)",
        "io/files.py": "from hushtable.io import scan",
        "risk/a.py": "from hushtable.io import read",
        "risk/b.py": "from hushtable import io\nio.write()",
    }
    sources = [check_limits.parse(path, text) for path, text in texts.items()]
    assert check_limits.find_unused_offers(sources) == {"io/__init__.pyi": [4]}


def test_a_count_that_rose_tells_where_and_one_that_fell_asks_to_be_written():
    committed = {"a.py": 1, "b.py": 1}
    assert check_limits.compare("Any", {"b.py": [3], "c.py": [4]}, committed) == []
    assert check_limits.compare("Any", {"a.py": [2], "b.py": [3, 7]}, committed) == [
        "Any: 3, which may only fall from 2",
        "  b.py: 2, was 1: lines 3, 7",
    ]
    (fell,) = check_limits.compare("Any", {"a.py": [2]}, committed)
    assert fell == "Any: 1, committed 2; lower the number: python scripts/check_limits.py --write"


def test_what_rose_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(check_limits, "COMMITTED", tmp_path / "limits.json")
    assert check_limits.write({"Any": {"a.py": [1, 2]}}, {"Any": {"a.py": 1}})
    assert not list(tmp_path.iterdir())
    assert check_limits.write({"Any": {"a.py": [1]}}, {"Any": {"a.py": 1, "b.py": 2}}) == []
    assert json.loads((tmp_path / "limits.json").read_text()) == {"Any": {"a.py": 1}}
