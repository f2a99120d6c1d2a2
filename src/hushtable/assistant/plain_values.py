"""Plain values: what JSON holds, and their hash."""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""None, a text, a number, or a list or mapping of such, whose form the reader checks."""


def digest_of(entries: object) -> str:
    """Return the SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
