"""How important columns are, from 1 to 5, as the weights of a loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Final

from hushtable.errors import InputError
from hushtable.quality.loss import Loss

HIGHEST_IMPORTANCE: Final = 5


def with_importance(loss: Loss, importance: Mapping[str, int]) -> Loss:
    """Return the loss in which the cells of a column count as many times as the column is important.

    Parameters
    ----------
    loss : Loss
    importance : mapping of column to int
        From 1, which is the importance of a column that is not named, to 5.

    Raises
    ------
    InputError
        An importance is not a whole number from 1 to 5, the loss has weights of its own, or it weighs no columns.

    Examples
    --------
    >>> from hushtable.quality import SetNCP
    >>> with_importance(SetNCP(), {"postcode": 3}).weights
    {'postcode': 3}
    """
    for name, number in importance.items():
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= HIGHEST_IMPORTANCE:
            raise InputError(
                f"column {name!r} was given the importance {number!r}.",
                hint=f"a whole number from 1, as of a column that is not named, to {HIGHEST_IMPORTANCE}.",
            )
    if not importance:
        return loss
    if not weighs_columns(loss):
        raise InputError(
            f"importance has no effect: the loss {loss.name!r} does not weigh columns.",
            hint="choose another loss, such as 'ncp', or leave the importance out.",
        )
    if loss.weights:
        raise InputError(
            "importance and weights of the loss were both given.",
            hint="keep one of them: importance is the weights, from 1 to 5.",
        )
    weighted: Loss = replace(loss, weights=dict(importance))  # type: ignore[type-var]  # every such loss is a dataclass
    return weighted


def weighs_columns(loss: Loss) -> bool:
    """Tell whether a loss has weights of columns to set."""
    return is_dataclass(loss) and any(each.name == "weights" and each.init for each in fields(loss))
