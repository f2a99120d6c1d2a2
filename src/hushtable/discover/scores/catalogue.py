"""The catalogue of scores: every score has one entry, and what several say of their parameters is said once.

A new score is a function below ``@entry(trend=...)``; one value a class, from the values of a target, is a statistic
below ``@TargetEntry(...)`` (`hushtable.discover.scores.utility`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Trend = Literal[-1, 0, 1]

# What adding a column does to the value of a score: never lowers it (1), never raises it (-1), is not known (0).
TRENDS: Final[dict[str, Trend]] = {}

_PARAMETERS: Final = {
    "data": "path, dataframe or Table",
    "columns": "sequence of str\n    The column set.",
    "target": "str",
    "sensitive": "str\n    One sensitive column; score each apart.",
    "treatment": "str\n    The column that says who was treated.",
    "treated": (
        "value of that column, optional\n"
        "    Needed unless the column has two values: then the later one in its order. Found by\n"
        "    value (1.0 is the integer 1) or by its text."
    ),
    "variant": '{"definition", "paper"}\n    The mean over the records, or the paper\'s over the classes.',
    "partition": "Partition, optional\n    Of the same rows by the same columns, where there is one; all take it.",
}
_SECTIONS: Final = ("Parameters", "Returns", "Raises", "Notes", "Examples")


def register_score(trend: Trend = 0, **sections: str) -> Callable[[Function], Function]:
    """Register a function as the score of its name, and complete its docstring.

    Parameters that the docstring does not describe get the text above; ``sections`` are added as they are.
    """

    def register(function: Function) -> Function:
        TRENDS[function.__name__] = trend
        if function.__doc__ is not None:  # python -OO
            function.__doc__ = _complete_docstring(function, function.__doc__, sections)
        return function

    return register


def _complete_docstring(function: Callable[..., Any], text: str, sections: dict[str, str]) -> str:
    summary, *own = re.split(r"\n\n(?=\w+\n---)", inspect.cleandoc(text))
    bodies = {section.partition("\n")[0]: section.split("\n", 2)[2] for section in own}
    described = re.split(r"\n(?=\S)", f"{sections.get('Parameters', '')}\n{bodies.get('Parameters', '')}".strip())
    texts = _PARAMETERS | dict(parameter.split(" : ", 1) for parameter in described if parameter)
    bodies = sections | bodies
    bodies["Parameters"] = "\n".join(f"{name} : {texts[name]}" for name in inspect.signature(function).parameters)
    shown = (f"{title}\n{'-' * len(title)}\n{bodies[title]}" for title in _SECTIONS if title in bodies)
    return "\n\n".join([summary, *shown])
