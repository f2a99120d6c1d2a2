"""Which library may be imported where, and which room's inside: a new place is a decision, not an accident."""

import ast
import sys
from pathlib import Path

ALLOWED = {
    "numba": {"kernels/_cache.py", "kernels/_jit.py"},
    "narwhals": {
        "claims/grouping.py",
        "columns/rounding.py",
        "columns/series.py",
        "datasets.py",
        "discover/prose.py",
        "engines/lazy.py",
        "io/frames.py",
        "io/stale_values.py",
        "tables/table.py",
    },
    "polars": {
        "claims/bundles.py",
        "claims/grouping.py",
        "claims/rounded.py",
        "columns/date_formats.py",
        "columns/date_patterns.py",
        "columns/meeting.py",
        "columns/series.py",
        "columns/missing_codes.py",
        "columns/moments.py",
        "columns/odd_cells.py",
        "columns/rounding.py",
        "columns/spellings.py",
        "datasets.py",
        "discover/prose.py",
        "engines/backends.py",
        "release/hashed_counts.py",
        "engines/files.py",
        "io/hive.py",
        "engines/lazy.py",
        "release/origin.py",
        "engines/spark.py",
        "anonymizers/walked_cells.py",
        "linked/tables.py",
        "release/batches.py",
        "io/batches.py",
        "io/csv.py",
        "io/databases.py",
        "io/distinct_rows.py",
        "io/files.py",
        "io/frames.py",
        "io/object_stores.py",
        "io/row_codes.py",
        "io/stale_values.py",
        "io/statistics_files.py",
        "synthesizers/writing.py",
        "tables/table.py",
        "testing.py",
    },
    "charset_normalizer": {"io/encoding.py"},
    "fastexcel": {"io/files.py"},
    "pyreadstat": {"io/statistics_files.py"},
    "xlsxwriter": {"io/files.py"},
    "duckdb": {"engines/backends.py", "io/databases.py"},
    "sqlite3": {"io/databases.py"},
    "adbc_driver_postgresql": {"io/databases.py"},
    "pyspark": {"engines/spark.py"},
    "pandas": {"quality/regression.py"},
    "statsmodels": {"quality/regression.py"},
    "formulaic": {"quality/regression.py"},
    "pyarrow": {
        "release/hashed_counts.py",
        "engines/files.py",
        "io/hive.py",
        "engines/spark.py",
        "anonymizers/walked_cells.py",
        "release/batches.py",
        "io/batches.py",
        "io/distinct_rows.py",
        "io/row_codes.py",
    },
    "pydantic": {
        "linked/policy.py",
        "pipeline/attackers.py",
        "pipeline/cleaning.py",
        "pipeline/evaluators.py",
        "pipeline/modules.py",
        "pipeline/reading.py",
        "pipeline/results.py",
        "policy/policy.py",
        "policy/sections.py",
    },
    "mcp": {"assistant/server.py"},
    "mcp_types": {"assistant/server.py"},
    "anyio": {"assistant/server.py"},
    "yaml": {"policy/plain_yaml.py"},
    "typer": {
        "cli/__init__.py",
        "cli/arguments.py",
        "cli/demo.py",
        "cli/groups.py",
        "cli/terminal.py",
    },
    "rich": {"cli/terminal.py"},
    "matplotlib": {"cli/demo.py", "plots/style.py", "plots/variants.py"},
    "sklearn": {
        "quality/prediction.py",
        "risk/attacks/guesses.py",
        "risk/members/scoring.py",
        "sklearn.py",
        "synthesizers/trees.py",
    },
}


# Rooms are imported from through their doors; `kernels` has none, its files are named. These are of no door either:
# functions that have the name of their file, which would hide them, and a room inside a room.
INSIDES = {
    *("io.csv", "quality.similarity"),
    *("risk.assess", "risk.mpuccs"),
}


def inside(path: Path, source: Path, tree: ast.AST) -> list[str]:
    """Return the files of other rooms that a file names."""
    doors = {door.parent.name for door in source.glob("*/__init__.pyi")} - {path.relative_to(source).parts[0]}
    named = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    parts = [name.removeprefix("hushtable.") for name in named if name.startswith("hushtable.")]
    return [name for name in parts if "." in name and name.partition(".")[0] in doors]


def imported(tree: ast.AST) -> set[str]:
    """Return the top-level names of all modules that a file imports when it runs, inside functions too."""
    found: set[str] = set()
    guards = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    unseen = {id(node) for guard in guards for node in ast.walk(guard)}
    for node in (each for each in ast.walk(tree) if id(each) not in unseen):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def leaning_twins(tests: Path) -> list[str]:
    """Return what slow twins import of the package that they judge: who shares code shares its faults."""
    paths = sorted((tests / "twins").glob("*.py"))
    own = {path.parent.name for path in paths} | {path.stem for path in paths}
    near = {path.stem for path in tests.glob("*.py")} - own
    return [
        f"{path.relative_to(tests)}: imports {name}; a twin is written from the definition alone"
        for path in paths
        for name in sorted(imported(ast.parse(path.read_text(encoding="utf-8"))) & {"hushtable", *near})
    ]


def main() -> int:
    """Print every import in a place that is not allowed; return the exit code."""
    root = Path(__file__).parent.parent
    source = root / "src" / "hushtable"
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(source.rglob("*.py"))}
    wrong = [
        f"{path.relative_to(source)}: imports {name}, allowed in {sorted(ALLOWED[name])}"
        for path, tree in trees.items()
        for name in sorted(imported(tree) & ALLOWED.keys())
        if path.relative_to(source).as_posix() not in ALLOWED[name]
    ]
    insides = [(path, name) for path, tree in trees.items() for name in inside(path, source, tree)]
    wrong += [
        f"{path.relative_to(source)}: imports from hushtable.{name}; the door is hushtable.{name.partition('.')[0]}"
        for path, name in insides
        if name not in INSIDES
    ]
    wrong += leaning_twins(root / "tests")
    print("\n".join(wrong) or f"libraries: each where it may be; rooms: {len(insides)} imports name a file inside")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
