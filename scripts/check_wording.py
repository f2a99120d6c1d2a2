"""Compare the sentences that the program says with the catalogues of its languages.

Run it without arguments for a verdict. ``--lacking LANGUAGE`` prints the forms that a catalogue lacks, each with
where it is said, for whoever translates them. A form is a string of two words or more, with ``{}`` for what varies.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

from hushtable.wording.translating import read_entries

HOUSE = Path(__file__).parent.parent / "src" / "hushtable"

# What no person reads as a sentence: data, formats of other programs, the words of cells and of what developers call.
# What an assistant reads is English, so that its bytes are the same in every language.
SILENT = (
    "_types.py",
    *(f"assistant/{name}.py" for name in ("bands", "codes", "session", "sheet", "tools", "verdicts")),
    "columns/cells.py",
    "columns/date_patterns.py",
    "datasets.py",
    "discover/scores/catalogue.py",
    "kernels/",
    "pipeline/schema.py",
    "policy/schema.py",
    "release/archives.py",
    "sklearn.py",
    "testing.py",
    "wording/",
)
# Code in a string: SQL, markup, styles, policies and commands to type, regular expressions, attributes of elements.
CODE = re.compile(
    r"""<|\\[swdb]|^\s*(?:select|create|insert|drop|pragma|hushtable|pip|with|from|import|var)\b|;$|^[\w-]+:\s|=\{\}|
    ^[a-z_]+(?:[ ,|]+[a-z_]+)*$""",
    re.VERBOSE | re.IGNORECASE,
)
WORD = re.compile(r"[A-Za-z]{2,}")


def form_of(node: ast.expr) -> str | None:
    """Return the form of a string, ``{}`` for each part that varies; None for another expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.replace("{", "{{").replace("}", "}}")
    if isinstance(node, ast.JoinedStr):
        parts = (each.value if isinstance(each, ast.Constant) else None for each in node.values)
        return "".join("{}" if part is None else part.replace("{", "{{").replace("}", "}}") for part in parts)
    return None


def is_sentence(form: str) -> bool:
    """Tell whether a form is one that people read: two words, with a space among them."""
    plain = form.replace("{}", " ").strip()
    return " " in plain and len(WORD.findall(plain)) > 1 and not CODE.search(form.strip())


def find_forms(house: Path) -> Iterator[tuple[str, str]]:
    """Yield every form and where it is said; parts of a longer string are no forms of their own."""
    for path in sorted(house.rglob("*.py")):
        where = path.relative_to(house).as_posix()
        if where.startswith(SILENT):
            continue
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        silent = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        silent |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            form = form_of(node) if isinstance(node, ast.expr) and id(node) not in silent else None
            if form is not None:
                # Words of the page have names for what varies.
                plain = re.sub(r"\{\{\w+\}\}", "{}", form) if where.startswith("page/") else form
                yield plain.strip(" #\n"), f"{where}:{node.lineno}"


def find_help(house: Path) -> Iterator[tuple[str, str]]:
    """Yield what the help of the command takes from docstrings: paragraphs of verbs, headings of groups of options."""
    verbs = set(re.findall(r'"(\w+\.\w+)":', (house / "cli" / "__init__.py").read_text(encoding="utf-8")))
    for path in sorted((house / "cli").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                continue
            told, where = ast.get_docstring(node) or "", f"cli/{path.name}:{node.lineno}"
            if isinstance(node, ast.ClassDef) and any(isinstance(each, ast.AnnAssign) for each in node.body):
                yield told.partition("\n")[0].rstrip("."), where
            elif f"{path.stem}.{node.name}" in verbs:
                yield from ((" ".join(each.split()), where) for each in told.split("\n\n"))


def read_catalogue(path: Path) -> dict[str, str]:
    """Return the translations of a catalogue by their English forms."""
    return dict(read_entries(path.read_text(encoding="utf-8")))


def count_places(form: str) -> int:
    """Return how many parts of a form vary."""
    return sum(place is not None for _, place, _, _ in Formatter().parse(form))


def find_lacking(catalogue: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the sentences that a catalogue lacks, each with the first place where it is said."""
    said = dict(
        reversed([*((form, where) for form, where in find_forms(HOUSE) if is_sentence(form)), *find_help(HOUSE)])
    )
    yield from ((form, where) for form, where in said.items() if form not in catalogue)


def find_faults(language: str) -> Iterator[str]:
    """Yield what is wrong with a catalogue: sentences that it lacks, entries that name a place that is not there."""
    catalogue = read_catalogue(HOUSE / "wording" / "data" / f"{language}.tsv")
    for form, where in find_lacking(catalogue):
        yield f"{where}: {language}.tsv lacks {form!r}"
    for form, translated in catalogue.items():
        if not translated:
            yield f"{language}.tsv: {form!r} has no translation"
        named = {place for _, place, _, _ in Formatter().parse(translated) if place is not None}
        if not named <= {str(place) for place in range(count_places(form))}:
            yield f"{language}.tsv: {form!r} has not the places {', '.join(sorted(named))}"


def main() -> int:
    """Print what is wrong, or what a catalogue lacks; return the exit code."""
    if sys.argv[1:2] == ["--lacking"]:
        catalogue = read_catalogue(HOUSE / "wording" / "data" / f"{sys.argv[2]}.tsv")
        for form, where in sorted(find_lacking(catalogue), key=lambda each: each[1]):
            print(f"{where}\t{form!r}")
        return 0
    faults = [fault for path in sorted((HOUSE / "wording" / "data").glob("*.tsv")) for fault in find_faults(path.stem)]
    print("\n".join(faults) or "each sentence has its translation")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
