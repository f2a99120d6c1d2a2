"""Options of the command in groups: records whose fields are options, under their heading in the help."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, cast, get_args, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.models import ArgumentInfo, OptionInfo

from hushtable.wording import translate

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ValueT = TypeVar("ValueT")
DescribedT = TypeVar("DescribedT", bound="OptionInfo | ArgumentInfo")

_OPTION: Final = "option"
_BY_NAME: Final = inspect.Parameter.KEYWORD_ONLY
# What the help shows for a value unless an option says more; a flag has none.
_METAVARS: Final = {bool: "", int: "N", float: "NUMBER", Path: "FILE"}


class GroupedCommand(TyperCommand):
    """A command whose help says what to pass, not its type, and has no heading above ``--help`` alone."""

    def get_params(self, ctx: typer.Context) -> list[object]:  # type: ignore[override]  # as Typer calls it
        """Return the options and arguments."""
        parameters: list[object] = [*super().get_params(ctx)]
        for each in parameters:
            if isinstance(each, TyperArgument):
                # It would show the type in Python beside the name.
                each.display_type_rich = _show_no_type  # type: ignore[method-assign,assignment]
        return parameters

    def get_help_option(self, ctx: typer.Context) -> TyperOption | None:  # type: ignore[override]  # as Typer calls it
        """Return ``--help``."""
        return _fit_help(super().get_help_option(ctx), self.params)


class GroupedCommands(TyperGroup):
    """A command of commands, whose ``--help`` is as that of the others."""

    def get_help_option(self, ctx: typer.Context) -> TyperOption | None:  # type: ignore[override]  # as Typer calls it
        """Return ``--help``."""
        return _fit_help(super().get_help_option(ctx), self.params)


def _show_no_type(*, ctx: object) -> None:
    return None


def _fit_help(found: TyperOption | None, others: Sequence[object]) -> TyperOption | None:
    """Return ``--help`` in the current language, hidden if a heading would stand above it alone."""
    if found is not None:
        found.metavar, found.help = "", translate("Show this message and exit.")
        found.hidden = all(each.rich_help_panel for each in others if isinstance(each, TyperOption))
    return found


def option(text: str, *names: str, **settings: Any) -> OptionInfo:
    """Return an option with its help, for an annotation; its default name is that of the parameter."""
    return cast("OptionInfo", typer.Option(*names, help=text, **settings))


def argument(metavar: str, text: str, **settings: Any) -> ArgumentInfo:
    """Return a positional argument with its help, for an annotation."""
    return cast("ArgumentInfo", typer.Argument(metavar=metavar, help=text, show_default=False, **settings))


def field(default: ValueT | EllipsisType, text: str, *names: str, **settings: Any) -> ValueT:
    """Return a field of a group: an option with its help and its default (... if it is required)."""
    metadata = {_OPTION: option(text, *names, **settings)}
    if isinstance(default, EllipsisType):
        return cast("ValueT", dataclasses.field(metadata=metadata))
    return dataclasses.field(default=default, metadata=metadata)


def flatten_groups(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb that takes the fields of its groups one by one, because Typer knows no groups.

    The first line of a group's docstring is the heading of its options.
    """
    hints = get_type_hints(verb, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and dataclasses.is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(verb).parameters.items():
        plain = parameter.replace(annotation=_translate_help(hints[name]), kind=_BY_NAME)
        parameters += _options_of(groups[name]) if name in groups else [plain]

    @functools.wraps(verb)
    def call(**given: object) -> None:
        records = {
            name: group(**{each.name: given.pop(each.name) for each in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        verb(**given, **records)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what `inspect` looks for
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


def _translate_help(kind: Any) -> Any:
    """Return an annotation whose option or argument has its help in the current language."""
    told = [each for each in get_args(kind) if isinstance(each, (OptionInfo, ArgumentInfo))]
    return Annotated[get_args(kind)[0], _describe(told[0], get_args(kind)[0])] if told else kind


def _options_of(group: type[DataclassInstance]) -> list[inspect.Parameter]:
    heading, hints = (group.__doc__ or "").partition("\n")[0].rstrip("."), get_type_hints(group, include_extras=True)
    options = []
    for option_field in dataclasses.fields(group):
        # An option of several groups is annotated once; its field holds it in the metadata.
        kind, shared = hints[option_field.name], option_field.metadata.get(_OPTION)
        kind, shared = (kind, shared) if shared else get_args(kind)
        under_heading = _describe(shared, kind)
        under_heading.rich_help_panel = translate(heading)
        default = inspect.Parameter.empty if option_field.default is dataclasses.MISSING else option_field.default
        options.append(
            inspect.Parameter(option_field.name, _BY_NAME, default=default, annotation=Annotated[kind, under_heading])
        )
    return options


def _describe(told: DescribedT, kind: type) -> DescribedT:
    """Return an option or argument with its help in the current language, and a word for its value."""
    described = copy.copy(told)
    described.help = translate(told.help or "")
    if told.metavar is None:
        # Of an option that may be left out, the other type is None; one that may be repeated has a list.
        inner = next((each for each in get_args(kind) if each is not type(None)), kind)
        described.metavar = _METAVARS.get(next(iter(get_args(inner)), inner))
    return described


def find_given(*groups: DataclassInstance) -> dict[str, bool]:
    """Return for every option of some groups whether its value differs from the default."""
    return {
        f"--{each.name.replace('_', '-')}": getattr(group, each.name) != each.default
        for group in groups
        for each in dataclasses.fields(group)
    }
