"""Arrays of records: one argument of a kernel instead of many, and what is looked at together lies side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["record"]


def record(*fields: tuple[str, type]) -> np.dtype[Any]:
    """Return a type of records, aligned; their fields are attributes, without compilation too."""
    return np.dtype((np.record, np.dtype(list(fields), align=True)))
