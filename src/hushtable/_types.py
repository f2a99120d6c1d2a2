"""Array aliases, and the few constants that models and kernels must agree on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeVar

CodeArray = NDArray[np.int32]
CountArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
ValueArray = NDArray[Any]

Missing = Literal["category", "wildcard", "worst"]
Progress = Callable[[float], None]
"""Called now and then with the share of the work that is done, in [0, 1]; it never falls, and is 1 in the end."""

ArrayT = TypeVar("ArrayT", bound=NDArray[Any])

FrameT = TypeVar("FrameT", default=Any, covariant=True)
"""What kind of table went in, and so comes out: of a library, a lazy frame, a `hushtable.Table`."""

MISSING: Final = -1

# How a kernel reads a privacy model's rule; see hushtable.models.base.Rule.
RULE_SIZE: Final = 0
RULE_DISTINCT: Final = 1
RULE_SHARE: Final = 2
RULE_POPULATION: Final = 3
RULE_PRESENCE: Final = 4
RULE_ENTROPY: Final = 5
RULE_RECURSIVE: Final = 6
RULE_LEVELS: Final = 7
RULE_ORDERED: Final = 8
RULE_GAIN: Final = 9
RULE_RATIO: Final = 10
RULE_OWN: Final = 11

TOLERANCE: Final = 1e-9
"""How close a computed number may come to a bound and still count as the bound itself.

Shares, entropies and distances are sums of rounded floats: without it a class
exactly on the bound would be judged by the rounding.
"""

FEWEST_RECORDS: Final = 50
"""Below so many records what is counted may be so by chance."""


def freeze_array(array: ArrayT) -> ArrayT:
    """Return the array with writing switched off."""
    array.flags.writeable = False
    return array


def reduce_to_fields(record: Any) -> tuple[type, tuple[Any, ...]]:
    """Return ``__reduce__`` of a record: unpickling builds it from its fields, checked and read-only again."""
    return type(record), tuple(getattr(record, each.name) for each in dataclasses.fields(record) if each.init)
