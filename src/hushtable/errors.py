"""Every error of the package, and the messages that several places build.

::

    HushError
      InputError (ValueError)     the data or an argument cannot be used
        ColumnError               a column is missing, doubled, or of a type that cannot be used
        HierarchyError            a generalization hierarchy is not nested, complete or readable
        ModelError                a privacy model was given a parameter outside its range
        PolicyError               a policy file does not say what it must
        PipelineError             a pipeline's file does not say what it must, or asks for what is not built
        ResourceError             the disk came to its end
      InfeasibleError             no release can satisfy the models
      BudgetExceeded              the budget ended before any feasible release was found
      VerificationError           a published table does not hold what it claims
      ExposureError               columns that are kept as they are single out too many people
      LimitError                  a release would be above a limit that was set for it
    ExposureWarning (UserWarning) the same, where no policy says what may be

A message says what is wrong and with which value, then what was expected, then
a hint on its own line. It names columns, positions and counts, never a cell.
"""

from __future__ import annotations

import difflib
import math
import numbers
import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final

__all__ = [
    "BudgetExceeded",
    "ColumnError",
    "ExposureError",
    "ExposureWarning",
    "HierarchyError",
    "HushError",
    "InfeasibleError",
    "InputError",
    "LimitError",
    "ModelError",
    "PipelineError",
    "PolicyError",
    "ResourceError",
    "VerificationError",
]


# A password before a URL's host (a Path may have dropped a slash), or after `password=`.
_PASSWORD = re.compile(r"([a-z][a-z0-9+.-]*:/+)[^\s'\"]*:[^\s'\"]*@|(\w*password=)[^\s'\"&]+", re.IGNORECASE)
_HINT = "\n\nHint: "
_LONGEST_NAME = 100  # characters; if a file is misread, a name may be as long as the whole table


class HushError(Exception):
    """Base of all errors of hushtable; ``exit_code`` is what the command returns for it.

    Attributes
    ----------
    message : str
        What is wrong, with which value, and what was expected.
    hint : str
        What to do next; empty where nothing can be said.
    """

    exit_code: ClassVar[int] = 2
    kind: ClassVar[str] = "error"
    """A word for programs, which stays as it is: see docs/nightly.md."""

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(with_hint(message, hint) if hint else message)

    @property
    def message(self) -> str:
        """What is wrong."""
        return str(self).partition(_HINT)[0]

    @property
    def hint(self) -> str:
        """What to do next."""
        return str(self).partition(_HINT)[2]


class InputError(HushError, ValueError):
    """The data or an argument cannot be used."""

    kind = "input"


class ExistsError(InputError):
    """An output exists already."""

    kind = "exists"


class ColumnError(InputError):
    """A column is missing, doubled, or of a type that cannot be used."""

    kind = "column"


class TooManyRowsError(InputError):
    """There are more distinct rows than are held."""

    kind = "too-many-rows"


class HierarchyError(InputError):
    """A generalization hierarchy is not nested, complete or readable."""

    kind = "hierarchy"


class ModelError(InputError):
    """A privacy model was given a parameter outside its range."""

    kind = "model"


class PolicyError(InputError):
    """A policy file does not say what it must."""

    kind = "policy"


class WeakerClaimError(PolicyError):
    """A release claims less than a policy asks: that is for a person to look at, as a claim that does not hold."""

    kind = "weaker-claim"
    exit_code: ClassVar[int] = 1


class PipelineError(InputError):
    """A pipeline's file does not say what it must, or asks for what is not built or not there."""

    kind = "pipeline"


class ResourceError(InputError):
    """The disk came to its end; what was asked for can be done where there is room."""

    kind = "disk"
    exit_code: ClassVar[int] = 70


class InfeasibleError(HushError):
    """No release can satisfy the models."""

    kind = "infeasible"
    exit_code = 3


class BudgetExceeded(HushError):  # noqa: N818 - the public name is fixed by the design
    """The budget ended before any feasible release was found."""

    kind = "budget"
    exit_code = 3


class VerificationError(HushError):
    """A published table does not hold what it claims."""

    kind = "verification"
    exit_code = 1


class ExposureError(HushError):
    """Columns that a release keeps as they are single out more people than a policy allows."""

    kind = "exposure"
    exit_code = 1


class LimitError(HushError):
    """A release would be above a limit that was set for it."""

    kind = "limit"
    exit_code = 1


class ExposureWarning(UserWarning):
    """Columns that a release keeps as they are single out many people, and no policy says whether they may."""


def with_hint(message: str, hint: str) -> str:
    """Join a message and its hint the same way everywhere; of what was typed, no password of a URL is repeated."""
    return _PASSWORD.sub(lambda found: f"{found[1] or found[2]}...", f"{message}{_HINT}{hint}")


def quote_names(names: Iterable[str], limit: int = 8) -> str:
    """Quote names for a message, long ones in part, and say how many more there are."""
    # A typed name may hold half a surrogate pair, which cannot be printed.
    names = [repr(name) for name in names]
    shown = ", ".join(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…" for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def find_nearest(word: object, known: Iterable[str]) -> str | None:
    """Return the known word nearest to another, for `did you mean`; None if none is near."""
    return next(iter(difflib.get_close_matches(str(word), list(known), n=1)), None)


def check_columns(requested: Sequence[str], available: Sequence[str], what: str) -> None:
    """Raise ColumnError if a requested column does not exist or is named twice."""
    requested = names_in(requested, what)
    unknown = [name for name in requested if name not in available]
    if unknown:
        near = [match for name in unknown if (match := find_nearest(name, available)) is not None]
        hint = f"did you mean {quote_names(near)}?" if near else f"the columns are {quote_names(available, limit=20)}."
        raise ColumnError(
            f"no column {quote_names(map(str, unknown))} among the {len(available)} columns ({what}).", hint=hint
        )
    doubled = sorted({name for name in requested if list(requested).count(name) > 1})
    if doubled:
        raise ColumnError(f"{what} names {quote_names(doubled)} more than once.", hint="name every column once.")


def names_in(given: Any, what: str) -> tuple[str, ...]:
    """Return column names as a tuple; raise InputError for a single text, or if one is no text."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InputError(f"{what} = {given!r}.", hint=f"pass a list of column names: {what}=[{given!r}].")
    names = tuple(given)
    odd = next((name for name in names if not isinstance(name, str)), None)
    if odd is not None:
        raise InputError(f"{what} holds {type(odd).__name__} beside names.", hint="column names are text.")
    return names


def check_type(given: Any, kind: type | tuple[type, ...], what: str, example: str) -> None:
    """Raise InputError if an argument is not of its type; None is always allowed."""
    if given is not None and not isinstance(given, kind):
        raise InputError(f"{what} was given as {type(given).__name__}.", hint=f"pass {example}.")


def check_choice(what: str, given: object, allowed: Sequence[str]) -> None:
    """Raise InputError if an option is none of the allowed words."""
    if given not in allowed:
        hint = f"choose {', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}."
        raise InputError(f"{what} = {given!r}.", hint=hint)


def check_whole(what: str, given: object, least: int, most: float = math.inf) -> None:
    """Raise InputError if an option is not an integer within its range; True is not one."""
    if not isinstance(given, numbers.Integral) or isinstance(given, bool) or not least <= int(given) <= most:
        expected = f"a whole number, {least} or more" if most == math.inf else f"a whole number from {least} to {most}"
        raise InputError(f"{what} = {given!r}.", hint=f"{expected}.")


_MIN_KEY_BYTES: Final = 16
_MIN_DISTINCT_BYTES: Final = 8


def check_key(key: object, what: str) -> None:
    """Raise InputError if a secret key is not made of enough random bytes; ``what`` it is for."""
    if not isinstance(key, bytes):
        raise InputError(f"the key of {what} is of type {type(key).__name__}.", hint="expected bytes.")
    hint = "make one with: python -c 'import secrets; print(secrets.token_hex(32))'."
    if len(key) < _MIN_KEY_BYTES:
        raise InputError(f"the key of {what} has {len(key)} bytes, expected {_MIN_KEY_BYTES} or more.", hint=hint)
    if (n_distinct := len(set(key))) < _MIN_DISTINCT_BYTES:
        raise InputError(
            f"the key of {what} has {n_distinct} different bytes, expected {_MIN_DISTINCT_BYTES} or more.", hint=hint
        )
