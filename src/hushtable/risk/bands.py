"""Classes by bands of their size: 1, 2, 3 to 4, 5 to 9, 10 to 19, 20 to 49, 50 to 99 and so on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate, chain, count, pairwise

__all__ = ["cumulative_shares", "record_bands", "size_bands"]


def size_bands(*sizes: Mapping[int, int]) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return bands of class sizes, the same for all tables, and the records that each table has in them.

    Parameters
    ----------
    *sizes : mapping of size to int
        How many classes there are of every size, as ``RiskAssessment.class_sizes`` has it.

    Returns
    -------
    tuple of str, tuple of tuple of int
        The names of the bands, from 1 up to the largest class of any table, and for each table the records in each.
        Classes of size 0 hold no record and have no band.

    Examples
    --------
    >>> size_bands({1: 3, 4: 2}, {12: 1})
    (('1', '2', '3 to 4', '5 to 9', '10 to 19'), ((3, 0, 8, 0, 0), (0, 0, 0, 0, 12)))
    """
    return record_bands(*({size: size * n for size, n in each.items() if size > 0} for each in sizes))


def record_bands(*records: Mapping[int, int]) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return the bands of `size_bands` for records that are counted by class size, which may be a number of persons.

    Parameters
    ----------
    *records : mapping of size to int
        How many records lie in classes of every size, from 0 on: a class may hold nobody that is counted.

    Examples
    --------
    >>> record_bands({0: 2, 1: 3, 2: 5})
    (('0', '1', '2'), ((2, 3, 5),))
    """
    sizes = [size for each in records for size, n in each.items() if n]
    if not sizes:
        return (), ((),) * len(records)
    starts = list(_band_starts(max(sizes)))
    if min(sizes) > 0:
        del starts[0]
    # The last start only closes the band before it.
    names = tuple(_band_name(low, high - 1) for low, high in pairwise(starts))
    filled = [[0] * len(names) for _ in records]
    for counts, by_size in zip(filled, records, strict=True):
        for size, n in by_size.items():
            if n:
                counts[bisect_right(starts, size) - 1] += n
    return names, tuple(map(tuple, filled))


def cumulative_shares(*records: Mapping[int, int]) -> tuple[tuple[int, ...], tuple[tuple[float, ...], ...]]:
    """Return the share of the records in classes smaller than k, for each of several tables: exact for every k.

    Parameters
    ----------
    *records : mapping of size to int
        How many records lie in classes of every size, from 0 on.

    Returns
    -------
    tuple of int, tuple of tuple of float
        Every k at which a share rises, from 1 on, and for each table the share in [0, 1] from that k up to the next.

    Examples
    --------
    >>> cumulative_shares({1: 3, 4: 9})
    ((1, 2, 5), ((0.0, 0.25, 1.0),))
    """
    sizes = sorted({size for each in records for size, n in each.items() if n})
    # Just above each size the records of that size are in classes smaller than k.
    steps = sorted({1, *(size + 1 for size in sizes)})
    shares = []
    for by_size in records:
        below = accumulate(by_size.get(k - 1, 0) for k in steps)
        total = max(1, sum(by_size.values()))
        shares.append(tuple(n / total for n in below))
    return tuple(steps), tuple(shares)


def _band_starts(largest: int) -> Iterator[int]:
    """Yield where bands start, from 0, up to the first start past a size."""
    for start in chain((0, 1, 2, 3), (step * 10**power for power in count() for step in (5, 10, 20))):
        yield start
        if start > largest:
            return


def _band_name(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
