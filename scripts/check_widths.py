#!/usr/bin/env python3
"""List the lines of blocks in docs that are wider than the site shows at 1280 pixels.

Wrap commands by backslashes, and Python by ``ruff format docs``; ``scripts/test_docs --update`` folds what is printed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Measured in Chromium at 1280 pixels, with the menu and the table of contents beside the text.
WIDEST = 96
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Drawings and lists of signatures for colleagues, who read them in an editor.
FOR_COLLEAGUES = {"how_it_works.md", "reference.md"}


def pages() -> list[Path]:
    """Return the pages that are looked at."""
    return [page for page in sorted((ROOT / "docs").glob("**/*.md")) if page.name not in FOR_COLLEAGUES]


def wide(text: str) -> list[tuple[int, str]]:
    """Return the number and the text of each line of a block that is too wide."""
    found = []
    for block in FENCE.finditer(text):
        if block[2]:
            continue  # a title: a file of another program, whose lines the browser wraps
        first = text.count("\n", 0, block.start()) + 2
        found += [(first + i, line) for i, line in enumerate(block[3].splitlines()) if len(line) > WIDEST]
    return found


def main() -> int:
    """Print each line that is too wide; 1 if there is one."""
    found = [(page, *line) for page in pages() for line in wide(page.read_text(encoding="utf-8"))]
    for page, number, line in found:
        print(f"{page.relative_to(ROOT)}:{number}: {len(line)} characters in a block: {line[:60]}...")
    print(f"{len(found)} lines of blocks are wider than {WIDEST} characters")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
