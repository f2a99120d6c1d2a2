"""How models, hierarchy rules, methods and losses are written, in policies and in manifests: one grammar.

=====================================  ==============================================
entry                                  what it makes of the class named ``mondrian``
=====================================  ==============================================
``mondrian``                           the class with its defaults
``{mondrian: {cut: median}}``          with options
``{k-anonymity: 5}``                   with its first option
=====================================  ==============================================

The classes are frozen dataclasses whose fields are their options; each checks its own.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any, Final, TypeVar

from hushtable.errors import InputError, listed, nearest, with_hint
from hushtable.models import plugins

__all__ = ["Registry", "given", "read", "register", "write"]

_NOTHING: Final[Mapping[str, Any]] = {}

KindT = TypeVar("KindT")


class Registry(MutableMapping[str, KindT]):
    """Classes by their names; those that only their places are known of are imported when they are asked for."""

    def __init__(self, places: Mapping[str, Any], group: str = "", needs: Sequence[str] = ("name",)) -> None:
        self._kinds: dict[str, Any] = dict(places)
        self._group, self._needs = group, needs

    def __getitem__(self, name: str) -> KindT:
        kind = self._kinds[name]
        if isinstance(kind, str):
            module, _, own = kind.rpartition(".")
            kind = self._kinds[name] = getattr(import_module(module), own)
        return kind  # type: ignore[no-any-return]

    def __setitem__(self, name: str, kind: KindT) -> None:
        if self._kinds.get(name, kind) is not kind:
            raise TypeError(f"{name!r} is the name of another one")
        self._kinds[name] = kind

    def __delitem__(self, name: str) -> None:
        del self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def find(self, name: str) -> bool:
        """Tell whether there is something of that name; what another package has is imported, and stays."""
        if name not in self._kinds and self._group and name in plugins.installed(self._group):
            self._kinds[name] = plugins.load(self._group, name, self._needs)
        return name in self._kinds

    def find_allowed(self, name: str) -> bool:
        """Tell whether there is something of that name that may be used where a file names it."""
        return name in self._kinds or (plugins.named(name) and self.find(name))


def read(
    entry: Any,
    kinds: Mapping[str, Callable[..., Any]],
    what: str,
    *,
    error: type[InputError] = InputError,
    nested: Mapping[str, Callable[[Any], Any]] = _NOTHING,
) -> Any:
    """Make what an entry names."""
    name, options = _parts(entry, kinds, what, error)
    kind = kinds[name]
    if not isinstance(options, Mapping):
        names = _options(kind)
        if not names:
            raise error(f"{name} was given {options!r}.", hint="it has no options.")
        options = {names[0]: options}
    unknown = [option for option in options if option not in _options(kind)]
    if unknown:
        raise error(_misnamed(f"{what} {name!r} has no option {unknown[0]!r}", str(unknown[0]), _options(kind)))
    asked = {option: nested[option](value) if option in nested else value for option, value in options.items()}
    try:
        return kind(**asked)
    except TypeError:
        lacking = [option for option in _needed(kind) if option not in asked]
        problem = f"lacks {listed(lacking)}" if lacking else "was given options of the wrong type"
        raise error(
            f"{what} {name!r} {problem}.", hint=f"its options are: {', '.join(_options(kind)) or 'none'}."
        ) from None


def write(made: Any, *, sparse: bool = True) -> dict[str, Any]:
    """Return what `read` would make this of, as plain values."""
    written = {}
    for field in dataclasses.fields(made):
        value = getattr(made, field.name)
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        if value is not None and not (sparse and value == default):
            written[field.name] = _plain(value)
    return {made.name: written}


def given(
    asked: Any,
    kinds: Mapping[str, Callable[..., Any]],
    protocol: type,
    what: str,
    *,
    nested: Mapping[str, Callable[[Any], Any]] = _NOTHING,
) -> Any:
    """Return what a Python caller passes: an object as it is, a name or an entry as what it makes."""
    if isinstance(asked, (str, Mapping)):
        return read(asked, kinds, what, nested=nested)
    if inspect.isclass(asked):
        raise InputError(f"a {what} was given as the class {asked.__name__}.", hint=f"call it: {asked.__name__}(...).")
    if not isinstance(asked, protocol):
        raise InputError(
            f"a {what} was given as {type(asked).__name__}.",
            hint=f"pass a name among {listed(kinds, limit=20)}, or an object with options.",
        )
    return asked


def register(kind: Any, kinds: MutableMapping[str, Any], what: str) -> None:
    """Make a class with a ``name`` one of those that an entry may name."""
    if kinds.setdefault(kind.name, kind) is not kind:
        raise InputError(f"there is a {what} {kind.name!r} already.", hint="give this one another name.")


def _parts(entry: Any, kinds: Mapping[str, Any], what: str, error: type[InputError]) -> tuple[str, Any]:
    if isinstance(entry, str):
        name, options = entry, _NOTHING
    elif isinstance(entry, Mapping) and len(entry) == 1:
        ((name, options),) = entry.items()
    else:
        n_names = f" holds {len(entry)} names" if isinstance(entry, Mapping) else f" is a {type(entry).__name__}"
        raise error(f"a {what} entry{n_names}.", hint=f"write one, as `{_example(kinds)}`.")
    if not (kinds.find(name) if isinstance(kinds, Registry) else name in kinds):
        raise error(_misnamed(f"unknown {what} {name!r}", str(name), kinds))
    return name, _NOTHING if options is None else options


def _misnamed(problem: str, name: str, known: Any) -> str:
    near = nearest(name, known)
    hint = "" if near is None else f"did you mean {near!r}? "
    return with_hint(f"{problem}.", f"{hint}known: {', '.join(known) or 'none'}.")


def _example(kinds: Mapping[str, Any]) -> str:
    name = next(iter(kinds))
    options = _options(kinds[name])
    return f"{name}: {{{options[0]}: ...}}" if options else name


def _options(kind: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(kind) if field.init]


def _needed(kind: Any) -> list[str]:
    return [
        field.name
        for field in dataclasses.fields(kind)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, Decimal):
        return str(value)
    return write(value) if dataclasses.is_dataclass(value) else value
