"""Tight recodings of a partition, for tests of what recodings publish and lose."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.anonymizers.publish import from_classes
from hushtable.layout import lay_out
from hushtable.partition import Partition
from hushtable.recoding import Recoding
from hushtable.table import Table


def tight(table: Table, partition: Partition, quasi_identifiers: Sequence[str]) -> Recoding:
    """Publish what the records of each class span."""
    return from_classes(table, partition, lay_out(table, quasi_identifiers, {}, {}), "tight")
