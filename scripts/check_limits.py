"""Count what the house wants less of, file by file: the committed counts in limits.json may only fall.

Run it without arguments for a verdict, with ``--write`` after a count fell, or with the name of a limit to list its
places. A count is compared as a sum over all files, so that code may move; the files say where it rose.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
COMMITTED = Path(__file__).with_name("limits.json")

MOST_LINES_PER_FILE = 700
MOST_LINES_PER_BODY = 40
MOST_LINES_PER_KERNEL = 80
MOST_PARAMETERS = 8

# Names whose first word is a participle, an adverb or a preposition: they do not say what a function does.
UNCLEAR = re.compile(
    r"""_*(?:
    # participles: in -ed, but for verbs and nouns, and irregular ones
    (?!(?:embed|exceed|feed|need|proceed|seed|speed)(?:_|$))[a-z]+ed |
    began|begun|built|chosen|drawn|found|given|gone|held|hidden|kept|known|laid|left|lost|made|met|said|seen|sent|
    shown|taken|told|understood|withheld|worn|written |
    # adverbs and prepositions, and words that stand for a thing instead of its name
    after|again|alone|along|among|apart|at|away|before|beside|besides|between|beyond|both|by|each|else|far|for|further|
    here|in|like|near|none|of|off|on|once|one|only|other|others|out|over|plain|so|then|there|through|together|under|
    whole|within
    )(?:_.*)?""",
    re.VERBOSE,
)
ASKED_BY_NAME = {"property", "cached_property", "setter", "field_validator", "model_validator", "overload"}


class Source(NamedTuple):
    """A file: its path below the package, its number of lines, all nodes of its tree, and the functions among them."""

    path: str
    n_lines: int
    nodes: list[ast.AST]
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef]

    @property
    def is_kernel(self) -> bool:
        """Whether its loops are compiled."""
        return self.path.startswith("kernels/")


def parse(path: str, text: str) -> Source:
    """Return a file for counting; its tree is walked once."""
    nodes = list(ast.walk(ast.parse(text)))
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return Source(path, len(text.splitlines()), nodes, functions)


def find_long_files(source: Source) -> Iterator[int]:
    """Yield the first line too many of a file with too many lines."""
    if source.n_lines > MOST_LINES_PER_FILE:
        yield MOST_LINES_PER_FILE + 1


def find_long_bodies(source: Source) -> Iterator[int]:
    """Yield the lines of functions whose bodies are too long; a docstring is not counted."""
    most = MOST_LINES_PER_KERNEL if source.is_kernel else MOST_LINES_PER_BODY
    for node in source.functions:
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        if body and (node.end_lineno or 0) - body[0].lineno + 1 > most:
            yield node.lineno


def find_long_signatures(source: Source) -> Iterator[int]:
    """Yield the lines of functions with too many parameters, ``self`` and ``cls`` aside."""
    for node in source.functions:
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        if sum(parameter.arg not in ("self", "cls") for parameter in parameters) > MOST_PARAMETERS:
            yield node.lineno


def find_positional_flags(source: Source) -> Iterator[int]:
    """Yield the lines of parameters that are true or false and may be given by position."""
    for node in source.functions:
        parameters = [*node.args.posonlyargs, *node.args.args]
        defaults = [None] * (len(parameters) - len(node.args.defaults)) + node.args.defaults
        for parameter, default in zip(parameters, defaults, strict=True):
            is_annotated = parameter.annotation is not None and bool(
                re.fullmatch(r"bool( \| None)?", ast.unparse(parameter.annotation))
            )
            if is_annotated or (isinstance(default, ast.Constant) and isinstance(default.value, bool)):
                yield parameter.lineno


def find_any(source: Source) -> Iterator[int]:
    """Yield the lines that name the type ``Any``; an import of it is no use."""
    for node in source.nodes:
        if (isinstance(node, ast.Name) and node.id == "Any") or (
            isinstance(node, ast.Attribute) and node.attr == "Any"
        ):
            yield node.lineno


def find_getattr(source: Source) -> Iterator[int]:
    """Yield the lines that ask for an attribute by a name in quotes, which no type checker sees."""
    for node in source.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            name = node.args[1] if len(node.args) > 1 else None
            if isinstance(name, ast.Constant):
                yield node.lineno


def find_stack_levels(source: Source) -> Iterator[int]:
    """Yield the lines that say by a number how far up the caller is who is warned."""
    for node in source.nodes:
        if isinstance(node, ast.keyword) and node.arg == "stacklevel" and isinstance(node.value, ast.Constant):
            yield node.value.lineno


def find_unclear_names(source: Source) -> Iterator[int]:
    """Yield the lines of functions that are named by a participle, an adverb or a preposition."""
    for node in source.functions:
        marks = {getattr(mark, "attr", getattr(mark, "id", "")) for mark in node.decorator_list}
        is_special = node.name.startswith("__") and node.name.endswith("__")
        if not is_special and not marks & ASKED_BY_NAME and UNCLEAR.fullmatch(node.name):
            yield node.lineno


def find_unused_offers(sources: list[Source]) -> dict[str, list[int]]:
    """Return the lines of doors that offer a name which no other room imports or asks a module for."""
    rooms: dict[str, set[str]] = {}
    for source in sources:
        for node in source.nodes:
            names = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in [*names, *([node.attr] if isinstance(node, ast.Attribute) else [])]:
                rooms.setdefault(name, set()).add(source.path.partition("/")[0])
    return {
        door.path: sorted(
            offer.lineno
            for node in door.nodes
            if isinstance(node, ast.ImportFrom)
            for offer in node.names
            if not rooms.get(offer.asname or offer.name, set()) - {door.path.partition("/")[0]}
        )
        for door in sources
        if door.path.endswith("/__init__.pyi")
    }


LIMITS: dict[str, Callable[[Source], Iterator[int]]] = {
    "files over 700 lines": find_long_files,
    "bodies over 40 lines (kernels: 80)": find_long_bodies,
    "functions with more than 8 parameters": find_long_signatures,
    "flags by position": find_positional_flags,
    "Any": find_any,
    "getattr with a constant name": find_getattr,
    "stacklevel counted by hand": find_stack_levels,
    "names to make clear": find_unclear_names,
}
# The one limit that asks for all files at once.
OFFERS = "names of doors that no other room uses"


def find_places(sources: list[Source]) -> dict[str, dict[str, list[int]]]:
    """Return the lines that each limit counts, by file."""
    found = {limit: {source.path: sorted(find(source)) for source in sources} for limit, find in LIMITS.items()}
    found[OFFERS] = find_unused_offers(sources)
    return {limit: {path: lines for path, lines in files.items() if lines} for limit, files in found.items()}


def compare(limit: str, places: dict[str, list[int]], committed: dict[str, int]) -> list[str]:
    """Return what is wrong with a count: it rose, and where; or it fell, and the committed one did not follow."""
    count, most = sum(map(len, places.values())), sum(committed.values())
    if count < most:
        return [f"{limit}: {count}, committed {most}; lower the number: python scripts/check_limits.py --write"]
    if count == most:
        return []
    risen = {path: lines for path, lines in places.items() if len(lines) > committed.get(path, 0)}
    return [
        f"{limit}: {count}, which may only fall from {most}",
        *(
            f"  {path}: {len(lines)}, was {committed.get(path, 0)}: lines {', '.join(map(str, lines))}"
            for path, lines in risen.items()
        ),
    ]


def write(places: dict[str, dict[str, list[int]]], committed: dict[str, dict[str, int]]) -> list[str]:
    """Write all counts, unless one rose; return what rose."""
    risen = [limit for limit in places if sum(map(len, places[limit].values())) > sum(committed[limit].values())]
    if risen:
        return [line for limit in risen for line in compare(limit, places[limit], committed[limit])]
    counts = {limit: {path: len(lines) for path, lines in files.items()} for limit, files in places.items()}
    COMMITTED.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    return []


def main() -> int:
    """Compare, write or list; return the exit code."""
    house = ROOT / "src" / "hushtable"
    paths = sorted((*house.rglob("*.py"), *house.rglob("*.pyi")))
    sources = [parse(path.relative_to(house).as_posix(), path.read_text(encoding="utf-8")) for path in paths]
    places = find_places(sources)
    listed = [f"{path}:{line}" for limit in sys.argv[1:] for path, at in places.get(limit, {}).items() for line in at]
    if listed:
        print("\n".join(listed))
        return 0
    committed = json.loads(COMMITTED.read_text(encoding="utf-8")) if COMMITTED.exists() else {}
    # A limit without committed counts is new: --write takes it over as it stands.
    known = {limit: committed.get(limit, {path: len(at) for path, at in places[limit].items()}) for limit in places}
    if "--write" in sys.argv:
        wrong = write(places, known)
    else:
        wrong = [line for limit in places for line in compare(limit, places[limit], committed.get(limit, {}))]
    counts = ", ".join(f"{limit} {sum(map(len, at.values()))}" for limit, at in places.items())
    print("\n".join(wrong) or f"limits: {counts}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
