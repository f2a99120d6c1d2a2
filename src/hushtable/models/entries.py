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

from hushtable.errors import InputError, find_nearest, quote_names, with_hint
from hushtable.models import plugins

_NO_OPTIONS: Final[Mapping[str, Any]] = {}

KindT = TypeVar("KindT")
NewT = TypeVar("NewT")


class Registry(MutableMapping[str, KindT]):
    """Classes of one kind by their names, and the objects that entries make of them.

    A class may be given as its path, ``"package.module.Class"``: it is imported when it is asked for. ``group`` names
    the entry points where other packages have more (`hushtable.models.plugins`), and ``needs`` what these must have.
    ``elsewhere`` holds names that people look for here, and where these are.
    """

    def __init__(
        self,
        kinds: Mapping[str, Any],
        what: str,
        group: str = "",
        needs: Sequence[str] = ("name",),
        error: type[InputError] = InputError,
        elsewhere: Mapping[str, str] = _NO_OPTIONS,
    ) -> None:
        self._kinds: dict[str, Any] = dict(kinds)
        self._elsewhere = elsewhere
        self._what, self._group, self._needs, self._error = what, group, needs, error

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

    def register(self, kind: NewT) -> NewT:
        """Make a class known by its ``name`` to policies, the command and calls; usable as a decorator.

        Raises
        ------
        InputError
            Another class has that name.
        """
        new: Any = kind
        if self.setdefault(new.name, new) is not new:
            raise InputError(f"there is a {self._what} {new.name!r} already.", hint="give this one another name.")
        return kind

    def find(self, name: str) -> bool:
        """Tell whether a name is known; a class of another package is imported, and kept."""
        if name not in self._kinds and self._group and name in plugins.entry_points_of(self._group):
            self._kinds[name] = plugins.load(self._group, name, self._needs)
        return name in self._kinds

    def raise_if_elsewhere(self, name: str) -> None:
        """Raise an error if a name is that of something that is asked for in another way."""
        if name in self._elsewhere:
            raise self._error(f"{self._what} {name!r} is not asked for here.", hint=self._elsewhere[name])

    def find_allowed(self, name: str) -> bool:
        """Tell whether a name is known, and may be used where a file names it."""
        return name in self._kinds or (plugins.is_named(name) and self.find(name))

    def read(self, entry: Any, *, nested: Mapping[str, Callable[[Any], Any]] = _NO_OPTIONS) -> Any:
        """Make the object that an entry describes; `nested` reads the options that are entries themselves."""
        name, options = self._split_entry(entry)
        kind: Any = self[name]
        option_names = _names_of_options(kind)
        if not isinstance(options, Mapping):
            if not option_names:
                raise self._error(f"{name} was given {options!r}.", hint="it has no options.")
            options = {option_names[0]: options}
        unknown = [option for option in options if option not in option_names]
        if unknown:
            raise self._error(
                _describe_unknown(f"{self._what} {name!r} has no option {unknown[0]!r}", str(unknown[0]), option_names)
            )
        arguments = {option: nested[option](value) if option in nested else value for option, value in options.items()}
        try:
            return kind(**arguments)
        except TypeError:
            lacking = [option for option in _options_without_default(kind) if option not in arguments]
            problem = f"lacks {quote_names(lacking)}" if lacking else "was given options of the wrong type"
            raise self._error(
                f"{self._what} {name!r} {problem}.", hint=f"its options are: {', '.join(option_names) or 'none'}."
            ) from None

    def take(self, request: Any, protocol: type, *, nested: Mapping[str, Callable[[Any], Any]] = _NO_OPTIONS) -> Any:
        """Return the object that a Python caller means: the object itself, or what a name or an entry makes."""
        if isinstance(request, (str, Mapping)):
            return self.read(request, nested=nested)
        if inspect.isclass(request):
            problem = f"a {self._what} was given as the class {request.__name__}."
            raise InputError(problem, hint=f"call it: {request.__name__}(...).")
        if not isinstance(request, protocol):
            raise InputError(
                f"a {self._what} was given as {type(request).__name__}.",
                hint=f"pass a name among {quote_names(self, limit=20)}, or an object with options.",
            )
        return request

    def _split_entry(self, entry: Any) -> tuple[str, Any]:
        """Return the name of an entry and its options."""
        if isinstance(entry, str):
            name, options = entry, _NO_OPTIONS
        elif isinstance(entry, Mapping) and len(entry) == 1:
            ((name, options),) = entry.items()
        else:
            n_names = f" holds {len(entry)} names" if isinstance(entry, Mapping) else f" is a {type(entry).__name__}"
            raise self._error(f"a {self._what} entry{n_names}.", hint=f"write one, as `{self._example_entry()}`.")
        if not self.find(name):
            self.raise_if_elsewhere(str(name))
            raise self._error(_describe_unknown(f"unknown {self._what} {name!r}", str(name), self))
        return name, _NO_OPTIONS if options is None else options

    def _example_entry(self) -> str:
        name = next(iter(self))
        options = _names_of_options(self[name])
        return f"{name}: {{{options[0]}: ...}}" if options else name


def to_entry(instance: Any, *, sparse: bool = True) -> dict[str, Any]:
    """Return the entry of an object, as plain values; if ``sparse``, without options at their defaults."""
    options = {}
    for field in dataclasses.fields(instance):
        value = getattr(instance, field.name)
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        if value is not None and not (sparse and value == default):
            options[field.name] = _to_plain_value(value)
    return {instance.name: options}


def _describe_unknown(problem: str, name: str, known: Any) -> str:
    near = find_nearest(name, known)
    hint = "" if near is None else f"did you mean {near!r}? "
    return with_hint(f"{problem}.", f"{hint}known: {', '.join(known) or 'none'}.")


def _names_of_options(kind: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(kind) if field.init]


def _options_without_default(kind: Any) -> list[str]:
    return [
        field.name
        for field in dataclasses.fields(kind)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]


def _to_plain_value(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_to_plain_value(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _to_plain_value(each) for key, each in value.items()}
    if isinstance(value, Decimal):
        return str(value)
    return to_entry(value) if dataclasses.is_dataclass(value) else value
