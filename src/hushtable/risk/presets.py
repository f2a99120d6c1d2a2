"""How large classes have to be: thresholds by name, each with its source."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from hushtable.errors import InputError, check_whole, find_nearest

__all__ = ["PRESETS", "SAFE_HARBOR", "Preset", "smallest_class_of", "thresholds_in"]

SAFE_HARBOR: Final = "hipaa-safe-harbor"
"""The one preset that is no class size, but rules column by column; see `hushtable.risk.hipaa`."""


class Preset(NamedTuple):
    """A smallest class, and who asks for it."""

    size: int
    source: str


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "survey-internal": Preset(3, "custom of survey offices for files that stay inside; no rule asks for it"),
        "internal": Preset(5, "the most common cell size in the practice of health data; no rule asks for it"),
        "cms": Preset(11, "CMS cell size suppression policy: no cell of 1 to 10 is shown (ResDAC, 2024)"),
        "ema-0070": Preset(
            11, "EMA Policy 0070 and Health Canada PRCI: 9 % in most circumstances, in practice taken for 1 in 11"
        ),
        "public-use": Preset(
            20, "Canadian Discharge Abstract Database, public use file: 0.05 (El Emam et al., BMC MIDM 11:53, 2011)"
        ),
    }
)


def smallest_class_of(tolerance: Any) -> int | None:
    """Return the class size that a tolerance asks for; None for the rules of the Safe Harbor.

    Parameters
    ----------
    tolerance : int, float or str
        A class size of 1 or more, a risk in (0, 1), or the name of a preset. A risk is compared as a fraction.

    Raises
    ------
    InputError
        It is none of these.

    Examples
    --------
    >>> smallest_class_of("ema-0070"), smallest_class_of(0.09), smallest_class_of(11)
    (11, 12, 11)
    """
    if isinstance(tolerance, str):
        if tolerance == SAFE_HARBOR:
            return None
        if tolerance in PRESETS:
            return PRESETS[tolerance].size
        near = find_nearest(tolerance, (*PRESETS, SAFE_HARBOR))
        known = f"did you mean {near!r}?" if near else f"a class size, or one of {', '.join((*PRESETS, SAFE_HARBOR))}."
        raise InputError(f"tolerance = {tolerance!r}.", hint=known)
    if isinstance(tolerance, float) and 0 < tolerance < 1:
        return math.ceil(1 / Fraction(str(tolerance)))
    check_whole("tolerance", tolerance, 1)
    return int(tolerance)


def thresholds_in(thresholds: Any) -> tuple[int, ...]:
    """Return class sizes in ascending order, each once; InputError for what is no class size."""
    if isinstance(thresholds, (str, bytes)) or not isinstance(thresholds, Iterable):
        raise InputError(f"thresholds = {thresholds!r}.", hint="pass class sizes: thresholds=(2, 5, 11, 20).")
    sizes = tuple(thresholds)
    for size in sizes:
        check_whole("a threshold", size, 1)
    return tuple(sorted({int(size) for size in sizes}))
