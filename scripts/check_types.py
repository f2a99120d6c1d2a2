#!/usr/bin/env python3
"""Check the types of the examples of some pages as an editor does: with pyright, in files of their own."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/names.md", "docs/extending.md")
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Write the examples of each page into one file, check all, and return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        for page in PAGES:
            text = "\n".join(FENCE.findall((ROOT / page).read_text(encoding="utf-8")))
            (Path(folder) / f"{Path(page).stem.lower()}.py").write_text(text, encoding="utf-8")
        done = subprocess.run(
            ["basedpyright", "--level", "error", "--pythonpath", sys.executable, folder],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        print(done.stdout)
    else:
        print(f"the examples of {len(PAGES)} pages have the right types")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
