"""hushtable: find what identifies people in a table, hide it with the least loss, prove it."""

from difflib import get_close_matches
from importlib import import_module
from time import perf_counter
from typing import Any, Final

import lazy_loader

# Rooms are loaded when they are needed, and what measures the seconds of a job comes at its end.
_LOADED_AT: Final = perf_counter()
_found, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("hushtable")
    if name not in __all__:
        near = get_close_matches(name, __all__, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'hushtable' has no attribute {name!r}{hint}")
    return _found(name)
