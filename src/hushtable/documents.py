"""YAML documents of users: read with limits, and the line of every entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from hushtable.errors import PolicyError, with_hint

__all__ = ["Document", "parse"]


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A document as plain values, and where they stand.

    Attributes
    ----------
    entries : anything that YAML has
    tree : yaml.Node or None
    """

    entries: Any
    tree: yaml.Node | None = field(repr=False)

    def line(self, location: Sequence[int | str]) -> int:
        """Return the line (from 1) of the deepest part of a location that the document has."""
        line, tree = 1, self.tree
        for step in location:
            if isinstance(tree, yaml.MappingNode):
                pair = next(((key, node) for key, node in tree.value if key.value == str(step)), None)
                if pair is None:
                    break
                line, tree = pair[0].start_mark.line + 1, pair[1]
            elif isinstance(tree, yaml.SequenceNode) and isinstance(step, int):
                tree = tree.value[step]
                line = tree.start_mark.line + 1
            else:
                break
        return line


def parse(text: str, name: str) -> Document:
    """Read a document; errors name the line."""
    try:
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        entries = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        msg = with_hint(f"{name}{line}: not YAML: {getattr(error, 'problem', 'unreadable')}.", "check the indents.")
        raise PolicyError(msg) from None
    except ValueError:
        # A scalar that looks like a date and is none; PyYAML does not say where.
        msg = with_hint(f"{name}: a date that does not exist.", "put it in quotes where it is meant as text.")
        raise PolicyError(msg) from None
    _check_keys(name, tree)
    return Document(entries, tree)


def _check_keys(name: str, tree: yaml.Node | None) -> None:
    """Raise PolicyError where a mapping has a key twice: YAML would silently keep the last."""
    if isinstance(tree, yaml.MappingNode):
        seen: set[str] = set()
        for key, node in tree.value:
            if key.value in seen:
                where = f"{name} line {key.start_mark.line + 1}"
                msg = with_hint(f"{where}: {key.value!r} stands twice.", "keep one of them.")
                raise PolicyError(msg)
            seen.add(key.value)
            _check_keys(name, node)
    elif isinstance(tree, yaml.SequenceNode):
        for node in tree.value:
            _check_keys(name, node)
