"""Counts that name nobody: no cell of a table tells of 1 to 10 records, nor can be worked out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["LEAST", "merged"]

LEAST: Final = 11
"""Records of the smallest cell that may be shown: the rule of the US Centers for Medicare and Medicaid Services."""


def merged(labels: Sequence[str], records: Sequence[int], least: int = LEAST) -> tuple[tuple[str, int], ...]:
    """Join neighbouring bands until each holds enough records, or none.

    Parameters
    ----------
    labels : sequence of str
        Of the bands, in order: ``"2"``, ``"3 to 4"``.
    records : sequence of int
        Of each band.
    least : int

    Returns
    -------
    tuple of (label, records)
        Bands that hold something, in order; none where all records together are too few. Nothing is left out, so
        that no total tells what is not shown.

    Examples
    --------
    >>> merged(["5 to 9", "10 to 19", "20 to 49"], [7, 30, 25])
    (('5 to 19', 37), ('20 to 49', 25))
    """
    bands: list[tuple[str, int]] = []
    for label, n in zip(labels, records, strict=True):
        if n:
            bands.append(_joined(bands.pop(), (label, n)) if bands and bands[-1][1] < least else (label, n))
    if len(bands) > 1 and bands[-1][1] < least:
        last = bands.pop()
        bands.append(_joined(bands.pop(), last))
    return tuple(bands) if bands and bands[0][1] >= least else ()


def _joined(first: tuple[str, int], second: tuple[str, int]) -> tuple[str, int]:
    begin, end = first[0].partition(" to ")[0], second[0].rpartition(" to ")[2]
    return f"{begin} to {end}", first[1] + second[1]
