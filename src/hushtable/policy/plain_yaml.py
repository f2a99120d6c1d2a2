"""YAML as people write it by hand: plain values, of a limited size and depth, each with its line.

Anchors, aliases, tags and merge keys are refused: a few lines of them can stand for more than a machine holds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NoReturn

import yaml

from hushtable.errors import InputError, PolicyError, with_hint
from hushtable.io import read_text

YamlNode = yaml.Node

_MAX_CHARACTERS: Final = 1_000_000
_MAX_BYTES: Final = 4 * (_MAX_CHARACTERS + 2)  # 4 bytes a character at most: one past the limit, and a byte order mark
_MAX_DEPTH: Final = 32
_MAX_NUMBER_LENGTH: Final = 100  # characters; longer ones are slow to read and never meant
_TEXT: Final = "tag:yaml.org,2002:str"
_MERGE: Final = "tag:yaml.org,2002:merge"
_TABLES: Final = re.compile(r"^tables\s*:", re.MULTILINE)
_HINT_WRITE_OUT: Final = "write the entry out, or put it in quotes where it is meant as text."


def read_file(path: str | os.PathLike[str], what: str, hint: str, error: type[InputError]) -> str:
    """Return the text of a file; a too large one is cut just past the limit, so that `parse` refuses it."""
    try:
        return read_text(Path(path), most_bytes=_MAX_BYTES)
    except (OSError, ValueError):
        raise error(f"cannot read the {what} {str(path)!r}.", hint=hint) from None


def names_tables(path: str | os.PathLike[str]) -> bool:
    """Tell whether a policy is one of linked tables: `tables` is one of its entries."""
    text = read_file(path, "policy", "`hushtable scan` writes one.", PolicyError)
    return _TABLES.search(text) is not None


def parse(text: str, name: str, error: type[InputError] = PolicyError) -> tuple[Any, YamlNode | None]:
    """Parse a text with one document; return its plain values, and its tree of nodes, which have lines for errors."""
    if len(text) > _MAX_CHARACTERS:
        raise error(
            f"{name}: more than {_MAX_CHARACTERS:,} characters.", hint="keep long hierarchies in files of their own."
        )
    try:
        loader = _Loader(text, name, error)
    except yaml.reader.ReaderError as fault:
        line = text.count("\n", 0, fault.position) + 1
        raise error(
            _format_fault(name, line, "a character that is not printable", "save the file as plain text.")
        ) from None
    try:
        tree = loader.get_single_node()
        return (None, None) if tree is None else (loader.construct_document(tree), tree)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        line = mark.line + 1 if mark else 1
        raise error(_format_fault(name, line, fault.problem or "unreadable", "check the indents.")) from None
    except error:
        raise
    except (ValueError, OverflowError):
        what = "a number, date or character that does not exist"
        raise error(_format_fault(name, loader.line + 1, what, "put it in quotes where it is meant as text.")) from None


def line_of(tree: YamlNode | None, location: Sequence[int | str]) -> int:
    """Return the line (from 1) of the deepest part of a location that exists in the text."""
    line = 1
    for step in location:
        if isinstance(tree, yaml.MappingNode):
            pair = _entries_by_key(tree).get(str(step))
            if pair is None:
                break
            line, tree = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(tree, yaml.SequenceNode) and isinstance(step, int):
            tree = tree.value[step]
            line = tree.start_mark.line + 1
        else:
            break
    return line


@lru_cache(maxsize=4)
def _entries_by_key(mapping: yaml.MappingNode) -> dict[str, tuple[YamlNode, YamlNode]]:
    """Return the key and value nodes of a mapping by key; cached, because many faults may ask for the same."""
    return {key.value: (key, node) for key, node in mapping.value}


def part_of(tree: YamlNode | None, location: Sequence[str]) -> YamlNode | None:
    """Return the node of an entry; None if there is none."""
    for step in location:
        pairs = tree.value if isinstance(tree, yaml.MappingNode) else ()
        tree = next((node for key, node in pairs if key.value == step), None)
    return tree


def dump(entries: Mapping[str, Any]) -> str:
    """Write plain values so that `parse` takes them back."""
    text: str = yaml.dump(entries, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    return text


def _format_fault(name: str, line: int, what: str, hint: str) -> str:
    return with_hint(f"{name} line {line}: not YAML that can be read here: {what}.", hint)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


class _Loader(yaml.SafeLoader):
    def __init__(self, text: str, name: str, error: type[InputError]) -> None:
        super().__init__(text)
        self.name = name
        self.error = error
        self.depth = 0

    def refuse(self, mark: yaml.Mark, what: str, hint: str = _HINT_WRITE_OUT) -> NoReturn:
        raise self.error(_format_fault(self.name, mark.line + 1, what, hint))

    def compose_node(self, parent: YamlNode | None, index: Any) -> YamlNode | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self.refuse(event.start_mark, "an anchor or alias (& or *)")
        if event.tag is not None:
            self.refuse(event.start_mark, "a tag (!)")
        if self.depth == _MAX_DEPTH:
            self.refuse(event.start_mark, f"entries more than {_MAX_DEPTH} deep", "a few are enough.")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        if isinstance(node, yaml.MappingNode):
            self.check_keys(node)
        elif isinstance(node, yaml.ScalarNode) and node.tag != _TEXT and len(node.value) > _MAX_NUMBER_LENGTH:
            self.refuse(node.start_mark, f"a number of {len(node.value):,} characters")
        return node

    def check_keys(self, mapping: yaml.MappingNode) -> None:
        """Refuse a key that is no plain text, or stands twice (YAML would silently keep the last)."""
        keys: set[str] = set()
        for key, _ in mapping.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                self.refuse(key.start_mark, "a key that is no plain text")
            if key.value in keys:
                raise self.error(
                    f"{self.name} line {key.start_mark.line + 1}: {key.value!r} stands twice.", hint="keep one of them."
                )
            keys.add(key.value)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        # The reader's own line, used for errors while scanning, is the last one by now: errors in values need this one.
        self.line = node.start_mark.line
        return super().construct_object(node, deep=deep)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping = super().construct_mapping(node, deep=deep)
        if len(mapping) < len(node.value):
            self.refuse(node.start_mark, "keys that are one number, as 16 and 0x10 are")
        return mapping


def set_entry(values: dict[str, Any], steps: Sequence[str], entry: Any) -> None:
    """Set an entry at a location; a method or loss of another name replaces the old one."""
    *above, last = steps
    if above[:1] == ["columns"] and len(steps) > 2:
        role = values["columns"].get(steps[1])
        values["columns"][steps[1]] = {"role": role} if isinstance(role, str) else role or {}
    for step, following in zip(above, steps[1:], strict=True):
        inner = values.get(step)
        inner = {inner: {}} if isinstance(inner, str) else {} if inner is None else inner
        if not isinstance(inner, dict):
            raise PolicyError(f"{'.'.join(steps)}: {step} has no entries of its own.", hint=f"set {step} as a whole.")
        if step in ("method", "loss"):
            inner = {following: inner.get(following) or {}}
        values[step] = inner
        values = inner
    values[last] = entry
