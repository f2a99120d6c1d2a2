"""What the command takes as a whole process, warm and on its first use, beside another checkout.

    python benchmarks/latency.py [--beside PATH] [--turns 7] [--rows 30000] [--million] [--cold]

CPU seconds (user and system) and peak memory of each command, medians; the checkouts run in turn, so that both see the
same load. --million adds Parquet to verified Parquet and CSV to verified CSV of a million rows; --cold adds the first
use of `anonymize`, which compiles its kernels, `warm-up`, and the first use after it. No peer starts as a command; ARX
and sdcMicro were not run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[1]
ANONYMIZE = ["anonymize", "people.csv", "-p", "policy.yaml", "-o", "release.csv", "--force"]
COMMANDS = {
    "`anonymize people.csv`": ANONYMIZE,
    "`scan`": ["scan", "people.csv"],
    "`assess`": ["assess", "people.csv", "--qi", "birth_date,sex,postcode"],
    "`verify`": ["verify", "kept.csv"],
}
MILLION = {
    "1,000,000 rows, Parquet to verified Parquet": (
        ["anonymize", "million.parquet", "-p", "policy.yaml", "-o", "release.parquet", "--force"]
    ),
    "1,000,000 rows, CSV to verified CSV": (
        ["anonymize", "million.csv", "-p", "policy.yaml", "-o", "release.csv", "--force"]
    ),
}
# CPU seconds of a command at most.
GOALS = dict(zip([*COMMANDS, *MILLION], (1.5, 1.2, 0.8, 0.5, 9, 12), strict=True))
FILES = """
import sys
import hushtable as ht
people = ht.datasets.people(n=int(sys.argv[1]), seed=1)
people.write_csv("people.csv")
if sys.argv[2] == "million":
    people = ht.datasets.people(n=1_000_000, seed=1)
    people.write_csv("million.csv")
    people.write_parquet("million.parquet")
"""


def run(checkout: Path, folder: Path, arguments: list[str]) -> tuple[float, float]:
    """Return the CPU seconds of a command of a checkout, and its peak memory in GB."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(checkout / "src")}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, *arguments], cwd=folder, env=environment, text=True, **quiet)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{checkout}: {' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}: {said}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)


def compare(checkouts: list[Path], folder: Path, commands: dict[str, list[str]], turns: int) -> None:
    """Print the medians of the checkouts, one row for each command."""
    for name, arguments in commands.items():
        taken: dict[Path, list[tuple[float, float]]] = {checkout: [] for checkout in checkouts}
        for turn in range(turns + 1):
            for checkout in checkouts:
                each = run(checkout, folder, ["-m", "hushtable", *arguments])
                if turn:  # the first one writes bytecode and compiles
                    taken[checkout].append(each)
        print_row(name, *(format_medians(taken[checkout]) for checkout in checkouts))


def format_medians(taken: list[tuple[float, float]]) -> str:
    """Return medians as two cells."""
    seconds, memory = (statistics.median(each) for each in zip(*taken, strict=True))
    return f"{seconds:.2f} | {memory:.2f}"


def print_row(name: str, *cells: str) -> None:
    """Print a row of the table."""
    print(f"| {name} | {GOALS.get(name, '')} | {' | '.join(cells)} |", flush=True)


def print_first_uses(checkouts: list[Path], folder: Path) -> None:
    """Print the first use of `anonymize`, and that after a warm-up; one run each."""
    first = (format_medians(use_first(checkout, folder, ANONYMIZE)) for checkout in checkouts)
    print_row("the first `anonymize` on a machine, which compiles", *first)
    warm_up, after = use_first(HERE, folder, ["warm-up", "--for", "anonymize"], ANONYMIZE)
    print_row("`warm-up --for anonymize`", format_medians([warm_up]))
    print_row("the first `anonymize` after it", format_medians([after]))


def use_first(checkout: Path, folder: Path, *commands: list[str]) -> list[tuple[float, float]]:
    """Run commands one after another by a package that nothing was compiled for."""
    with tempfile.TemporaryDirectory() as fresh:
        bare = copy_uncompiled(checkout, Path(fresh))
        return [run(bare, folder, ["-m", "hushtable", *each]) for each in commands]


def copy_uncompiled(checkout: Path, folder: Path) -> Path:
    """Copy a package without what numba compiled: that is read beside the source, whatever other folder is named."""
    shutil.copytree(checkout / "src", folder / "src", ignore=shutil.ignore_patterns("*.nbi", "*.nbc"))
    return folder


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, help="another checkout")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--cold", action="store_true")
    given = parser.parse_args()
    checkouts = [HERE, *([given.beside.resolve()] if given.beside else [])]
    heads = (f"CPU s{'' if each == HERE else f', {each}'} | peak GB" for each in checkouts)
    print(f"| command | goal, CPU s | {' | '.join(heads)} |\n|---|---:|{'---:|---:|' * len(checkouts)}")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        run(HERE, folder, ["-c", FILES, str(given.rows), "million" if given.million else ""])
        run(HERE, folder, ["-m", "hushtable", "scan", "people.csv", "-p", "policy.yaml"])
        policy = folder / "policy.yaml"
        policy.write_text(policy.read_text().replace(": ask", ": other"))
        run(HERE, folder, ["-m", "hushtable", *ANONYMIZE[:-2], "kept.csv"])
        compare(checkouts, folder, COMMANDS, given.turns)
        if given.million:
            compare(checkouts, folder, MILLION, min(given.turns, 3))
        if given.cold:
            print_first_uses(checkouts, folder)


if __name__ == "__main__":
    main()
