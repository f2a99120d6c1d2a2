"""Plain values with one entry removed, renamed, of another type, or with a neighbour: as other versions write them."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

OTHERS: tuple[Any, ...] = (None, True, 0, 7, 0.5, "other", [], ["other"], {}, {"other": 1})


def places(entries: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every entry of mappings, at any depth; of a list, within its first two members."""
    if isinstance(entries, Mapping):
        for name, entry in entries.items():
            yield (*path, name)
            yield from places(entry, (*path, name))
    elif isinstance(entries, list):
        for place, entry in enumerate(entries[:2]):
            yield from places(entry, (*path, place))


def mutate(entries: Any, path: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Yield what entries become where one of them is removed, renamed, of another type, or has a neighbour."""
    for number, what in enumerate(("removed", "renamed", "joined", *OTHERS)):
        changed = copy.deepcopy(entries)
        inside = changed
        for step in path[:-1]:
            inside = inside[step]
        before = inside[path[-1]]
        if number in (0, 1):
            del inside[path[-1]]
        if number in (1, 2):
            inside["a newer entry"] = before
        if number > 2:
            is_number = type(what) in (int, float) and (before is None or type(before) in (int, float))
            if type(before) is type(what) or is_number:
                continue
            inside[path[-1]] = what
        yield str(what), changed
