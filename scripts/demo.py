"""The whole job on made-up people: write a table, scan it, protect it, verify the written file."""

import csv
import itertools
import subprocess
import sys
import time
from pathlib import Path

from hushtable import datasets
from hushtable.policy import Policy

FOLDER = Path(__file__).parent.parent / "demo"
N_PEOPLE = 30_000


def run(*arguments: str) -> None:
    """Show a command, run it in the demo folder, and say how long it took."""
    print(f"\n$ hushtable {' '.join(arguments)}", flush=True)
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "hushtable", *arguments], cwd=FOLDER, check=True)
    print(f"  ({time.perf_counter() - began:.1f} s)", flush=True)


def say(text: str) -> None:
    """Print a paragraph between two commands."""
    print(f"\n{text}", flush=True)


def first_rows(name: str) -> dict[str, list[str]]:
    """Return the first two cells of every column of a file."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        columns, *rows = itertools.islice(csv.reader(file), 3)
    return {column: [row[j] for row in rows] for j, column in enumerate(columns)}


def main() -> None:
    """Run the demo."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    datasets.people(N_PEOPLE, seed=0).write_csv(FOLDER / "people.csv")
    say(f"1. demo/people.csv: {N_PEOPLE:,} made-up people. What identifies them?")
    run("scan", "people.csv", "-p", "policy.yaml")

    say(
        "2. A person who knows the data checks the policy. Here: nobody outside knows the day of a visit, so\n"
        "   visit_date is kept as it is. Before the file is written, that sentence is tested."
    )
    path = FOLDER / "policy.yaml"
    policy = Policy.read(path)
    path.write_text(policy.changed({"columns.visit_date": "other"}).to_yaml(), encoding="utf-8")

    say("3. A release in which everyone hides among at least 5, and no class agrees on an income or a diagnosis:")
    run("anonymize", "people.csv", "-p", "policy.yaml", "-o", "release.csv", "--report", "report.html")

    say("4. Anyone who has the file and its manifest can check it, without trusting the code that made it:")
    run("verify", "release.csv")

    say(
        "In words: name and e-mail are gone, the columns that others may know were made coarser until every\n"
        "combination fits at least 5 people, and all other cells are as they were. This is k-anonymity and\n"
        "l-diversity on those columns, for a reader who knows no other column; it is not a promise about\n"
        "everything someone might know.\n\n"
        "Where to look next: demo/policy.yaml (what was asked), demo/release.csv.codebook.md (what each\n"
        "column and label means), demo/release.csv.manifest.json (what is claimed),\n"
        "docs/quickstart.md (the same in Python), docs/how_it_works.md (the one idea behind all of it)."
    )
    before, after = first_rows("people.csv"), first_rows("release.csv")
    say("Two made-up people before, and two of the release (shuffled, so not the same people):\n")
    for name, published in after.items():
        shown = [cell or "(missing)" for cell in (*before[name], *published)]
        print("  {:15} {:16} {:16} -> {:26} {}".format(name, *shown))
    say(f"A report for those who decide, to be opened in a browser, printed and signed:\n  {FOLDER / 'report.html'}")


if __name__ == "__main__":
    main()
