"""How well a column set tells people apart, whatever the columns say: the sizes of its classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hushtable.discover.scores import base
from hushtable.discover.scores.base import Score, ScoreVariant
from hushtable.discover.scores.catalogue import register_score
from hushtable.errors import check_columns
from hushtable.io import frames
from hushtable.tables import Partition, open_table


@register_score(trend=1)
def distinction(data: Any, columns: Sequence[str], *, partition: Partition | None = None) -> Score:
    """Score how many classes there are per record.

    Returns
    -------
    Score
        In (0, 1]: 1 where every record is alone. A class's value is 1 / its records,
        the chance of a right guess; ``value`` is the mean over the records.

    Notes
    -----
    Motwani, Xu, "Efficient algorithms for masking and finding quasi-identifiers", SDM 2008. It is
    exactly 1 / the mean class size. Never falls when a column is added. O(n) per column.

    Examples
    --------
    >>> import polars as pl
    >>> distinction(pl.DataFrame({"age": [31, 31, 52, 60]}), ["age"]).value
    0.75
    """
    view = base.build_view(data, columns, (), partition)
    return base.score_by_class(
        "distinction",
        view,
        1 / view.partition.sizes,
        value=lambda values, sizes: len(values) / sizes.sum(),
        unit="rate",
        direction="riskier",
        of_sizes=True,
    )


@register_score(trend=1)
def separation(data: Any, columns: Sequence[str], *, partition: Partition | None = None) -> Score:
    """Score how many pairs of records differ in the column set.

    Returns
    -------
    Score
        In [0, 1]: 1 where no two records are equal, so also of a single record. A class's value is the share of the
        other records that are not in it; ``value`` is the mean over the records.

    Notes
    -----
    Motwani, Xu, SDM 2008. Never falls when a column is added, and gains less the more
    columns there are (submodular). O(n) per column; pairs are counted in whole numbers.

    Examples
    --------
    >>> import polars as pl
    >>> separation(pl.DataFrame({"age": [31, 31, 52, 60]}), ["age"]).value
    0.8333333333333334
    """
    view = base.build_view(data, columns, (), partition)
    sizes, n = view.partition.sizes, view.table.n_records
    values = (n - sizes) / (n - 1) if n > 1 else np.ones(len(sizes))
    return base.score_by_class(
        "separation", view, values, value=_separation_rate, unit="rate", direction="riskier", of_sizes=True
    )


@register_score(trend=-1)
def k_anonymity(
    data: Any, columns: Sequence[str], *, variant: ScoreVariant = "definition", partition: Partition | None = None
) -> Score:
    """Score how many records share a class.

    Parameters
    ----------
    variant : {"definition", "paper"}
        k is the smallest class. The paper uses the mean class size, which is 1 /
        distinction and no promise to anybody.

    Returns
    -------
    Score
        In [1, n_records]; a class's value is its size.

    Notes
    -----
    Sweeney, "k-anonymity", 2002. Never rises when a column is added, both variants. O(n) per column.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 52, 60]})
    >>> k_anonymity(people, ["age"]).value, k_anonymity(people, ["age"], variant="paper").value
    (1.0, 1.3333333333333333)
    """
    value = base.choose("variant", variant, {"definition": base.lowest, "paper": base.mean_over_classes})
    view = base.build_view(data, columns, (), partition)
    sizes = view.partition.sizes
    return base.score_by_class(
        "k-anonymity", view, sizes, value=value, unit="records", direction="safer", of_sizes=True
    )


@register_score(trend=1)
def group_entropy(
    data: Any, columns: Sequence[str], *, variant: ScoreVariant = "definition", partition: Partition | None = None
) -> Score:
    """Score how hard it is to guess a record's class: the entropy of the column set.

    Parameters
    ----------
    variant : {"definition", "paper"}
        Shannon's entropy, in bits. The paper's table prints sum p ln p: in nats, and
        without the minus. (Its text weighs the entropies *within* the classes, all 0.)

    Returns
    -------
    Score
        In [0, log2 n_records], the paper's in [-ln n_records, 0]. A class's value is the
        information, -log2 of its share, that it gives about a record; ``value`` is the mean over the records.

    Notes
    -----
    Shannon, 1948. Never falls when a column is added. Does not depend on the order of the columns. O(n) per column.

    Examples
    --------
    >>> import polars as pl
    >>> group_entropy(pl.DataFrame({"age": [31, 31, 52, 60]}), ["age"]).value
    1.5
    """
    is_paper = base.is_of_paper(variant)
    view = base.build_view(data, columns, (), partition)
    shares = view.partition.sizes / view.table.n_records
    values = np.log(shares) if is_paper else -np.log2(shares)
    return base.score_by_class(
        "group entropy",
        view,
        values + 0.0,
        value=base.mean_over_records,
        unit="nats" if is_paper else "bits",
        direction="safer" if is_paper else "riskier",
        of_sizes=True,
    )


@register_score()
def attribute_length_penalty(data: Any, columns: Sequence[str], *, partition: Partition | None = None) -> Score:
    """Score how far the number of columns is from half of them.

    Parameters
    ----------
    data : path, dataframe or Table
        All its columns count.

    Returns
    -------
    Score
        (1 - p)^2 + p^2 for a share p of the columns: in [0.5, 1].

    Raises
    ------
    InputError
        There are no records.

    Notes
    -----
    The paper's table 1. It is least where half of the columns are chosen, whatever
    they hold: a preference, not a fact about the data.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31], "sex": ["f"], "zip": ["01"], "job": ["cook"]})
    >>> attribute_length_penalty(people, ["age", "sex"]).value
    0.5
    """
    frame = open_table(data)
    names, n_records = frame.names, frame.n_records
    column_names = base.column_set(columns)
    check_columns(column_names, names, "columns")
    base.check_records(n_records)
    share = len(column_names) / len(names)
    return base.score_without_parts(
        "attribute length penalty",
        (1 - share) ** 2 + share**2,
        unit="penalty",
        direction="worse",
        size=n_records,
        source=frames.library_of(data),
    )


def _separation_rate(values: Any, sizes: Any) -> float:
    n = int(sizes.sum())
    pairs = n * (n - 1) // 2
    return 1 - int((sizes * (sizes - 1) // 2).sum()) / pairs if pairs else 1.0
