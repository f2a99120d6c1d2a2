"""Minimal generalization: the cell-level recoding of least loss, with a proof."""
from __future__ import annotations
