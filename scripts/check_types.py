#!/usr/bin/env python3
"""Check types as an editor does: the examples of README and the docs, and files that say what a call returns."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TYPED = ROOT / "tests" / "typed"
STRICT = "names"  # the page with every public name
FENCE = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# An example may name a value to show it, ask for what is surely there, and use a library that is not installed.
SETTINGS = {
    "typeCheckingMode": "standard",
    "reportUnusedExpression": False,
    "reportOptionalMemberAccess": False,
    "reportMissingImports": False,
    "reportMissingModuleSource": False,
    "pythonVersion": "3.11",
    "extraPaths": [str(ROOT / "src")],
}


def lines_of(language: str, text: str) -> str:
    """Return the lines of Python of an example."""
    if language == "python":
        return text
    return "".join(f"{line[4:]}\n" for line in text.splitlines() if line.startswith((">>> ", "... ")))


def ended(*command: str) -> int:
    """Run a checker, show what it finds, and return its exit code."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n")
    return done.returncode


def main() -> int:
    """Write the examples of each page into one file, check all, and return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        written = []
        for page in PAGES:
            text = "\n".join(lines_of(*each) for each in FENCE.findall(page.read_text(encoding="utf-8")))
            if text:
                written.append(Path(folder) / f"{page.stem.lower().replace('-', '_')}.py")
                written[-1].write_text(text, encoding="utf-8")
        settings = Path(folder) / "pyrightconfig.json"
        settings.write_text(json.dumps({**SETTINGS, "include": [folder, str(TYPED)]}), encoding="utf-8")
        code = ended("basedpyright", "--level", "error", "--pythonpath", sys.executable, "-p", str(settings))
        code = ended("mypy", "--strict", str(Path(folder) / f"{STRICT}.py")) or code
    if not code:
        print(f"the examples of {len(written)} pages have the right types")
    return code


if __name__ == "__main__":
    sys.exit(main())
