"""Score column sets by how many edges their columns have in a learned graph of direct relations.

"The paper" is that of `hushtable.discover.scores`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from hushtable._types import BoolArray, CountArray, freeze_array
from hushtable.columns import Column
from hushtable.discover.scores import base
from hushtable.discover.scores.base import Score
from hushtable.discover.scores.catalogue import register_score
from hushtable.errors import InputError, check_columns
from hushtable.tables import Partition, encode_table

DiscoveryMethod = Literal["pc", "ges"]
Test = Literal["gsq", "chisq"]


@dataclass(frozen=True, slots=True, eq=False)
class CausalGraph:
    """Which columns are directly related, by a search of the data.

    Attributes
    ----------
    names : tuple of str
    adjacency : ndarray of bool, shape (n_columns, n_columns), read-only
        Whether an edge joins two columns, whatever its direction.
    """

    names: tuple[str, ...]
    adjacency: BoolArray = field(repr=False)

    def __post_init__(self) -> None:
        freeze_array(self.adjacency)


def causal_graph(
    data: Any, *, method: DiscoveryMethod = "pc", alpha: float = 0.05, test: Test = "gsq", bins: int = 5
) -> CausalGraph:
    """Search the graph of direct relations among all columns: the PC algorithm, or greedy equivalence search.

    Parameters
    ----------
    data : path, dataframe or Table
    method : {"pc", "ges"}
        PC removes the edges that a test of independence explains away. GES adds and removes
        the edges that raise a score of the whole graph most, BDeu, and needs no level.
    alpha : float
        In (0, 1): the level of each of PC's independence tests. Of independent columns, about
        that share of the pairs is joined by chance. Not looked at by GES.
    test : {"gsq", "chisq"}
        PC's, for categories: the likelihood ratio (G squared) or Pearson's. (The
        paper's library tests the category codes as if they were numbers in a linear relation.) Not looked at by GES.
    bins : int
        At least 2. A column of more values is cut, at its quantiles where it has an
        order, else into its most frequent values and the rest.

    Raises
    ------
    InputError
        The extra ``causal`` is not installed, or a parameter is out of range.

    Notes
    -----
    PC: Spirtes, Glymour, Scheines, "Causation, prediction, and search", 2000. GES: Chickering, "Optimal
    structure identification with greedy search", JMLR 3, 2002, with the score of Heckerman, Geiger,
    Chickering, Machine Learning 20, 1995, at an equivalent sample size of 1 and with a prior that expects one
    parent a column. Both through causal-learn, and exponential in the number of neighbours of a column at worst;
    Adult's 15 columns took 66 s (PC) and 21 s (GES) of one core.
    """
    if not 0 < alpha < 1 or bins < 2:
        raise InputError(f"alpha = {alpha!r}, bins = {bins!r}.", hint="alpha lies between 0 and 1, bins is 2 or more.")
    base.choose("test", test, dict.fromkeys(get_args(Test)))  # only checks the word
    module, join_columns = base.choose(
        "method",
        method,
        {
            "pc": ("causallearn.search.ConstraintBased.PC", partial(_join_by_tests, alpha=alpha, test=test)),
            "ges": ("causallearn.search.ScoreBased.GES", _join_by_score),
        },
    )
    search = base.import_extra(module)
    table = encode_table(data).with_row_per_record()
    binned = [_bin_codes(column, codes, bins) for column, codes in zip(table.columns, table.codes, strict=True)]
    varied = [j for j, codes in enumerate(binned) if len(np.unique(codes)) > 1]
    adjacency = np.zeros((len(binned), len(binned)), dtype=bool)
    if len(varied) > 1:
        adjacency[np.ix_(varied, varied)] = join_columns(search, np.column_stack([binned[j] for j in varied]))
    return CausalGraph(table.names, adjacency)


def _join_by_tests(search: Any, binned: CountArray, *, alpha: float, test: Test) -> BoolArray:
    """Return which columns PC joins, shape (n_columns, n_columns)."""
    found = search.pc(binned, alpha=alpha, indep_test=test, show_progress=False)
    return np.asarray(found.G.graph != 0)


def _join_by_score(search: Any, binned: CountArray) -> BoolArray:
    """Return which columns GES joins, shape (n_columns, n_columns)."""
    n_columns = binned.shape[1]
    if n_columns == 2:
        # With two columns the prior makes the edge certain; a constant third column undoes that and adds nothing.
        binned = np.column_stack([binned, np.zeros(len(binned), dtype=np.int64)])
    with warnings.catch_warnings():
        # pandas 2 warns its caller, which is causal-learn, of what pandas 3 does.
        warnings.simplefilter("ignore", FutureWarning)
        found = search.ges(binned, score_func="local_score_BDeu")
    return np.asarray(found["G"].graph[:n_columns, :n_columns] != 0)


@register_score()
def causal_importance(
    data: Any,
    columns: Sequence[str],
    *,
    graph: CausalGraph | None = None,
    method: DiscoveryMethod = "pc",
    alpha: float = 0.05,
    partition: Partition | None = None,
) -> Score:
    """Score how many direct relations the columns of a set have in a learned graph.

    Parameters
    ----------
    data : path, dataframe or Table
        All its columns make the graph.
    graph : CausalGraph, optional
        Searched with `causal_graph` when not given; search it once for many column sets.
    method : {"pc", "ges"}
        Of the search.
    alpha : float
        Of the tests of PC.

    Returns
    -------
    Score
        The sum over the set of each column's edges, which are the parts; an edge
        within the set counts twice, as the paper's formula has it.

    Raises
    ------
    InputError
        The extra ``causal`` is not installed.

    Notes
    -----
    The paper's table 1, which names both searches. What is joined in the graph is a matter of the test's level
    and power, or of the score, not only of causes.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> graph = CausalGraph(("age", "sex", "job"), np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    >>> people = pl.DataFrame({"age": [30, 40], "sex": ["f", "m"], "job": ["cook", "smith"]})
    >>> causal_importance(people, ["age", "job"], graph=graph).value
    2.0
    """
    view = base.build_view(data, columns, (), partition)
    graph = graph or causal_graph(data, method=method, alpha=alpha)
    check_columns(view.columns, graph.names, "columns of the graph")
    degrees = [float(graph.adjacency[graph.names.index(name)].sum()) for name in view.columns]
    return base.score_by_column(
        "causal importance", view, degrees, value=sum(degrees), unit="relations", direction="riskier"
    )


def _bin_codes(column: Column, codes: Any, bins: int) -> CountArray:
    """Return the bin of every row; 0 is the bin of missing values."""
    if column.n_values <= bins:
        return np.asarray(codes + 1, dtype=np.int64)
    known = codes[codes >= 0]
    if column.is_ordered:
        edges = np.unique(np.quantile(known, np.arange(1, bins) / bins))
        return np.where(codes < 0, 0, 1 + np.searchsorted(edges, codes, side="right"))
    frequent = np.argsort(-np.bincount(known, minlength=column.n_values), kind="stable")[: bins - 1]
    # The last place is reached by code -1, missing; infrequent values share bin `bins`.
    bin_of_code = np.full(column.n_values + 1, bins)
    bin_of_code[frequent], bin_of_code[-1] = np.arange(1, bins), 0
    return np.asarray(bin_of_code[codes])
