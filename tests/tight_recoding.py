"""Tight recodings of a partition, for tests of what recodings publish and lose: made by the package, so no twin."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.anonymizers.publish import from_classes
from hushtable.recoding.layout import lay_out
from hushtable.recoding.recoding import Recoding
from hushtable.tables.partition import Partition
from hushtable.tables.table import Table


def tight(table: Table, partition: Partition, quasi_identifiers: Sequence[str]) -> Recoding:
    """Publish what the records of each class span."""
    return from_classes(table, partition, lay_out(table, quasi_identifiers, {}, {}), "tight")
