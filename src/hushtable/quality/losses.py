"""How much a release lost: the losses that searches make small, and measures of what is published."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hushtable.quality.loss import Certainty, Loss, MinimalDistortion, SetNCP
from hushtable.quality.objectives import ArxLoss, AverageClassSize, Discernibility, NonUniformEntropy, Precision

__all__ = ["LOSSES"]

LOSSES: Final[Mapping[str, type[Loss]]] = MappingProxyType(
    {
        each.name: each
        for each in (
            *(SetNCP, MinimalDistortion, Certainty),
            *(ArxLoss, NonUniformEntropy, Precision, Discernibility, AverageClassSize),
        )
    }
)
