"""Rooms have doors: lazy, complete, and the wall holds when a file is verified."""

import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import hushtable as ht

HOUSE = Path(ht.__file__).parent
ROOMS = sorted(path.parent.relative_to(HOUSE).as_posix().replace("/", ".") for path in HOUSE.rglob("__init__.pyi"))


@pytest.mark.parametrize("room", ROOMS)
def test_everything_that_a_door_offers_is_there(room):
    door = importlib.import_module(f"hushtable.{room}".rstrip("."))
    assert [name for name in door.__all__ if not hasattr(door, name)] == []
    assert door.__doc__


# Public for longer than the rule, or verbs of the command, each in a file of its own.
AS_THEIR_FILE = {"discover.explain", "quality.similarity", "risk.assess", "risk.members.membership", "risk.mpuccs"}


def test_no_file_is_called_as_a_function_that_it_holds():
    found = set()
    for path in HOUSE.rglob("*.py"):
        defined = {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if hasattr(node, "name")}
        if path.stem in defined and path.parent.name != "cli":
            found.add(".".join(path.relative_to(HOUSE).with_suffix("").parts))
    assert found == AS_THEIR_FILE


# Public under both names, or the same thing on two sides of the wall.
TWO_THINGS = {"Method", "Recoding", "Rule", "Table", "Vector"}


def test_a_class_or_an_alias_has_its_name_for_itself():
    homes: dict[str, list[str]] = {}
    for path in HOUSE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            names += [node.name] if isinstance(node, ast.ClassDef) else []
            for name in (each.lstrip("_") for each in names):
                if name[:1].isupper() and not name.isupper():
                    homes.setdefault(name, []).append(path.name)
    assert {name for name, paths in homes.items() if len(paths) > 1} == TWO_THINGS


def test_doors_open_on_first_use():
    script = f"""
import sys
import hushtable
for room in {ROOMS!r}:
    __import__(f"hushtable.{{room}}".rstrip("."))
print(sorted({{"numba", "numpy", "polars", "scipy", "pydantic", "matplotlib"}} & sys.modules.keys()))
"""
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_who_verifies_a_file_meets_nothing_that_makes_one(tmp_path):
    people = pl.DataFrame({"age": [31, 34, 52, 57, 31], "job": ["clerk", "cook", "clerk", "clerk", "clerk"]})
    # A column is kept as it is: its limit is judged, too.
    people = pl.concat([people.with_columns(day=pl.lit("Monday"), way=pl.lit("bus"))] * 12)
    columns = {"age": "quasi-identifier", "job": "quasi-identifier", "day": "other", "way": "other"}
    policy = ht.Policy.model_validate({"columns": columns, "models": [{"k-anonymity": 2}]})
    policy.protect(people).write(tmp_path / "out.csv")
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["exposure_limit"]
    script = """
import sys
from hushtable import cli
sys.argv = ["hushtable", "verify", "out.csv"]
try:
    cli.main()
except SystemExit as ended:
    print(ended.code)
made = ("hushtable.tables.", "hushtable.recoding.", "hushtable.kernels", "numba", "scipy")
print(sorted(name for name in sys.modules if name.startswith(made)))
"""
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path, env=os.environ
    )
    assert shown.stdout.splitlines()[-2:] == ["0", "[]"]


# What a command needs when it starts is most of what it takes: an own file costs about a thousandth of a second.
FILES_LOADED = {
    "--help": 43,
    "verify out.csv": 74,
    "assess people.csv --qi age": 89,
    "anonymize people.csv -p policy.yaml -o out.csv --force": 167,
    "scan people.csv": 158,
}


@pytest.mark.parametrize("arguments", FILES_LOADED)
def test_a_command_loads_what_it_runs(arguments, tmp_path):
    people = pl.DataFrame({"age": [31, 34, 52, 57, 31], "job": ["clerk", "cook", "clerk", "clerk", "clerk"]})
    people.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.yaml").write_text("columns: {age: quasi-identifier, job: other}\nmodels: [k-anonymity: 2]\n")
    ht.anonymize(people, quasi_identifiers=["age", "job"], models=[ht.KAnonymity(2)]).write(tmp_path / "out.csv")
    script = f"""
import sys
from hushtable import cli
sys.argv = ["hushtable", *{arguments.split()!r}]
try:
    cli.main()
except SystemExit as ended:
    assert not ended.code, ended.code
print()
print(sum(name.startswith("hushtable") for name in sys.modules))
for other in ("scipy.stats", "matplotlib", "pandas", "pyarrow", "sklearn", "hushtable.anonymizers.mingen"):
    assert other not in sys.modules, other
"""
    shown = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert int(shown.stdout.splitlines()[-1]) <= FILES_LOADED[arguments]
