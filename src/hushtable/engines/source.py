"""Where the rows of a release are when they are not in memory."""

from __future__ import annotations

__all__ = ["Origin"]


class Origin:
    """Rows that are not in memory: files that are read batch by batch, or a lazy frame.

    Each kind gives some rows (``head``), the distinct rows of columns with counts (``collapse``), and what is published
    of all records, as a lazy frame (``published``) and batch by batch (``batches``). Every pass raises InputError where
    it meets other records than the first one did.
    """

    __slots__ = ()

    def check_unchanged(self) -> None:
        """Raise InputError where what was read is no longer what it was, as far as the origin can tell."""
