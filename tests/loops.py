"""One test for many names: asserts of a millisecond need no case of their own."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Test = Callable[..., None]


def for_each(argument: str, values: Iterable[Any] | Mapping[str, Any]) -> Callable[[Test], Test]:
    """Run a test once for each value of an argument, or of a mapping by name, as one case; a failure says for which."""
    named = dict(values) if isinstance(values, Mapping) else {repr(value): value for value in values}

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(**others: Any) -> None:
            for name, value in named.items():
                try:
                    test(**{argument: value}, **others)
                # What pytest fails with is no Exception.
                except BaseException as error:
                    error.add_note(f"{argument}: {name}")
                    raise

        signature = inspect.signature(test)
        others = [parameter for each, parameter in signature.parameters.items() if each != argument]
        run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return decorate
