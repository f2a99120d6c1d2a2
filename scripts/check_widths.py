#!/usr/bin/env python3
"""List the lines of blocks in docs that are wider than the site shows at 1280 pixels; --write wraps them.

Commands are wrapped by backslashes, Python by ruff, and printed sentences at a space: the test of the pages folds
spaces. What is laid out in columns is wrapped by hand, or by the browser.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import textwrap
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


def wrapped(block: re.Match[str]) -> str:
    """Return a block with its lines wrapped, as far as a program can."""
    language, text = block[1], block[3]
    if block[2] or max(map(len, text.splitlines()), default=0) <= WIDEST:
        return block[0]
    if language == "python":
        return _fenced("python", _with_comments_above(text))
    if language not in ("console", "bash"):
        return block[0]
    # A table that a line of Python makes is made in a block of its own, if the line is long.
    lines, made = text.splitlines(), []
    while lines and len(lines[0]) > WIDEST and (line := _MAKES_A_TABLE.fullmatch(lines[0])):
        made.append(f"ht.{line[1]}")
        lines.pop(0)
    python = _fenced("python", "\n".join(["import hushtable as ht\n", *made, ""])) + "\n\n" if made else ""
    return python + (
        _fenced(language, "".join(f"{_wrapped(line, language)}\n" for line in lines)) if lines else ""
    ).rstrip("\n")


_MAKES_A_TABLE = re.compile(r"\$ python -c \"import hushtable; hushtable\.([^\"]*)\"")


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}```"


def _with_comments_above(text: str) -> str:
    """Put a comment behind a line of Python that is too long above it."""
    lines = []
    for line in text.splitlines():
        code, mark, comment = line.rpartition("  # ")
        is_behind = mark and len(line) > WIDEST and code.count('"') % 2 == 0
        lines += [f"{' ' * (len(code) - len(code.lstrip()))}# {comment}", code] if is_behind else [line]
    return "".join(f"{line}\n" for line in lines)


def _wrapped(line: str, language: str) -> str:
    if len(line) <= WIDEST:
        return line
    if language == "console" and not line.startswith("$ "):
        return (
            line
            if "  " in line
            else "\n".join(textwrap.wrap(line, WIDEST, break_on_hyphens=False, break_long_words=False))
        )
    command, mark, comment = line.partition("  #")
    lines = [""]
    for part in _PARTS.findall(command):
        if lines[-1] and len(lines[-1]) + len(part) > WIDEST - 3:
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}" if lines[-1] else part
    wrapped = " \\\n".join(lines)
    assert shlex.split(wrapped.replace("\\\n", " ")) == shlex.split(command), line
    return wrapped + (f"{mark}{comment}" if mark else "")


# What stays on one line: an option and its value, and what is quoted.
_WORD = r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'])+"
_PARTS = re.compile(rf"--?[a-z]{_WORD} (?!-){_WORD}|{_WORD}")


def main() -> int:
    """Print each line that is too wide, after wrapping if asked; 1 if there is one."""
    n_wide = 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if "--write" in sys.argv and wide(text):
            page.write_text(FENCE.sub(wrapped, text), encoding="utf-8")
            # By docs/ruff.toml.
            subprocess.run(["ruff", "format", "--quiet", page], check=True)
            text = page.read_text(encoding="utf-8")
        for number, line in wide(text):
            n_wide += 1
            print(f"{page.relative_to(ROOT)}:{number}: {len(line)} characters in a block: {line[:60]}...")
    print(f"{n_wide} lines of blocks are wider than {WIDEST} characters")
    return 1 if n_wide else 0


if __name__ == "__main__":
    sys.exit(main())
