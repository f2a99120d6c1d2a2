"""Plain values: what JSON holds."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = Any
"""None, a text, a number, or a list or mapping of such, whose form the reader checks."""
