"""What identifies people in a table: the roles of its columns, scores of column sets, and searches over them."""

from __future__ import annotations

from hushtable.discover.compare import compare_sets
from hushtable.discover.recognise import find_quasi_identifiers
from hushtable.discover.redundancy import find_redundancy
from hushtable.discover.select import select_columns

__all__ = ["compare_sets", "find_quasi_identifiers", "find_redundancy", "select_columns"]
