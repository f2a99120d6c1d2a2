"""Models, methods, losses and more of other packages: installed entry points, imported when somebody names them.

A package announces what it has in its own `pyproject.toml`::

    [project.entry-points."hushtable.models"]
    few-flu = "their_package:FewFlu"

What a policy, a command or a call names is imported. What only a manifest names is not: a file that somebody sent may
not decide which code runs. `allow_only` says what may be imported within it.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from hushtable.errors import InputError

__all__ = ["GROUPS", "allow_only", "entry_points_of", "is_named", "list_plugins", "load", "may_load"]

GROUPS: Final = ("models", "methods", "losses", "hierarchies", "evaluators", "synthesizers")
"""What packages may bring, each a group of entry points: ``hushtable.models`` and so on."""

_ALLOWED: ContextVar[Collection[str] | None] = ContextVar("hushtable_plugins", default=None)


def entry_points_of(group: str) -> dict[str, importlib.metadata.EntryPoint]:
    """Return the entry points of a group by their names; nothing is imported."""
    return {entry.name: entry for entry in importlib.metadata.entry_points(group=f"hushtable.{group}")}


def list_plugins() -> dict[str, dict[str, str]]:
    """Return what is installed: by group and name, the package with its version."""
    return {
        group: {name: _package_of(entry) for name, entry in sorted(entry_points_of(group).items())}
        for group in GROUPS
        if entry_points_of(group)
    }


@contextmanager
def allow_only(names: Collection[str] | None) -> Iterator[None]:
    """Let plug-ins of these names be imported within it, and no others; None allows all."""
    before = _ALLOWED.set(names)
    try:
        yield
    finally:
        _ALLOWED.reset(before)


def may_load(name: str) -> bool:
    """Tell whether a plug-in of this name may be imported here."""
    allowed = _ALLOWED.get()
    return allowed is None or name in allowed


def is_named(name: str) -> bool:
    """Tell whether somebody has named a plug-in, so that a file may ask for it: see `allow_only`."""
    allowed = _ALLOWED.get()
    return allowed is not None and name in allowed


def load(group: str, name: str, needs: Collection[str]) -> Any:
    """Import what a package brings; InputError names the package where it may not, cannot, or lacks what it needs."""
    entry = entry_points_of(group)[name]
    who = f"the plug-in {name!r} of {_package_of(entry)}"
    if not may_load(name):
        raise InputError(f"{who} is installed, and is not allowed here.", hint=_HINT_TO_ALLOW)
    try:
        plugin = entry.load()
    except Exception as error:
        raise InputError(
            f"{who} cannot be imported: {type(error).__name__}.", hint="mend it, or ask its authors."
        ) from error
    lacking = [attribute for attribute in needs if not hasattr(plugin, attribute)]
    if not isinstance(plugin, type) or lacking:
        raise InputError(
            f"{who} is not of the kind {group!r}.",
            hint=f"it is a class with: {', '.join(needs)}. See docs/extending.md.",
        )
    return plugin


_HINT_TO_ALLOW: Final = "name it: `--plugins NAME` where a file is verified, `plugins: [NAME]` in a policy."


def _package_of(entry: importlib.metadata.EntryPoint) -> str:
    return entry.value if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
