"""Independence masking: A made exactly independent of clusters of B with few stars, C untouched."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray, Missing
from hushtable.columns import SUPPRESSED, Column, ColumnSpec, check_specs
from hushtable.errors import (
    ColumnError,
    InputError,
    check_choice,
    check_columns,
    check_type,
    check_whole,
    names_in,
    quote_names,
)
from hushtable.io import Frame, drafts
from hushtable.masking import kept as measures
from hushtable.masking.amounts import convert_amounts
from hushtable.masking.dealing import STAR, Dealing, Types, find_patterns
from hushtable.masking.release import PUBLISHED, MaskedRelease, Publish, encode_evidence
from hushtable.masking.search import METHODS, Masking, MaskingMethod, mask_types, settle_ties
from hushtable.quality import check_weights
from hushtable.release import check_accepted, refuse_identifiers
from hushtable.search import Budget, Trace, check_budget, check_memory
from hushtable.tables import Table, open_table

RowDistance = Callable[[tuple[Any, ...], tuple[Any, ...]], float]
Clustering = Literal["auto", "runs", "median", "kmeans"] | RowDistance | Sequence[Any]
CLUSTERINGS: Final = ("auto", "runs", "median", "kmeans")

_MAX_ROUNDS = 50
_MAX_RECORDS_TO_ASSIGN = 2_000  # an optimal assignment of so many records takes about a second


def equal_clusters(table: Table, n_clusters: int, clustering: str | RowDistance, rng: np.random.Generator) -> CodeArray:
    """Label every row with its cluster, all equally large; for one ordered column they are runs in its order."""
    # Shuffled once, so that every stable sort below breaks ties at random.
    shuffled = rng.permutation(table.n_rows)
    if callable(clustering):
        keys = _build_distance_keys(table.take(shuffled), clustering)
        clusters = _cut_rows(np.arange(table.n_rows), n_clusters, keys)
    else:
        if clustering == "runs" and len(table.columns) > 1:
            raise InputError(
                f"clustering 'runs' was given {len(table.columns)} columns of B.", hint="choose 'median' or 'kmeans'."
            )
        points = np.array(
            [_cell_positions(column, codes[shuffled]) for column, codes in zip(table.columns, table.codes, strict=True)]
        )
        # By the widest column of the rows at hand.
        clusters = _cut_rows(np.arange(table.n_rows), n_clusters, lambda rows: max(points[:, rows], key=np.ptp))
        if clustering == "kmeans":
            clusters = _move_to_means(_cell_coordinates(table.take(shuffled), points), clusters, n_clusters)
    labels = np.empty(table.n_rows, dtype=np.int32)
    labels[shuffled] = clusters
    return labels


def number_clusters(given: Sequence[Any], n_records: int, n_clusters: int) -> CodeArray:
    """Check the user's own clusters, and number them in sorted order of their labels."""
    if not hasattr(given, "__len__"):
        raise InputError(
            f"clustering was given as {type(given).__name__}.", hint="a name, a distance, or a label by record."
        )
    if len(given) != n_records:
        raise InputError(
            f"clustering holds {len(given)} labels for {n_records} records.",
            hint="give every record the label of its cluster.",
        )
    distinct, labels = np.unique(np.asarray(given), return_inverse=True)
    sizes = np.bincount(labels.ravel())
    if len(distinct) != n_clusters or sizes.max() - sizes.min() > 1:
        raise InputError(
            f"clustering holds {len(distinct)} clusters of {sizes.min()} to {sizes.max()} records.",
            hint=f"{n_clusters} clusters are needed whose sizes differ by 1 at most.",
        )
    return labels.ravel().astype(np.int32)


def _cell_positions(column: Column, codes: CodeArray) -> FloatArray:
    """Place cells on [0, 1], by value, or by frequency for categories; missing values come after the last value."""
    if column.is_ordered:
        places = np.append(column.positions(), 1.0 + 1.0 / max(1, column.n_values))
        return np.asarray(places[codes])
    counts = np.bincount(codes + 1, minlength=column.n_values + 1)
    rank = np.empty(len(counts))
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.asarray(rank[codes + 1] / max(1, len(counts) - 1))


def _cut_rows(rows: CountArray, n_clusters: int, keys: Callable[[CountArray], FloatArray]) -> CountArray:
    """Cut rows in two in the order of their keys, again and again, until each part is one cluster."""
    labels = np.zeros(len(rows), dtype=np.int64)
    todo = [(rows, 0, n_clusters)]
    while todo:
        part, first_label, n_labels = todo.pop()
        if n_labels == 1:
            labels[part] = first_label
            continue
        n_low = n_labels // 2
        ordered = part[np.argsort(keys(part), kind="stable")]
        at = len(part) // n_labels * n_low
        todo += [(ordered[:at], first_label, n_low), (ordered[at:], first_label + n_low, n_labels - n_low)]
    return labels


def _build_distance_keys(table: Table, distance: RowDistance) -> Callable[[CountArray], FloatArray]:
    """Return a function that orders rows: by how much nearer they are to one of two far rows than to the other."""
    distinct, of_row = table.collapse()
    cells = [
        tuple(None if code < 0 else column.values[code] for column, code in zip(table.columns, row, strict=True))
        for row in distinct.codes.T.tolist()
    ]

    def distances_from(place: int, places: CodeArray) -> FloatArray:
        try:
            distances: FloatArray = np.array([float(distance(cells[place], cells[other])) for other in places.tolist()])
        except Exception as error:
            # Its message is not shown, for it may contain a cell.
            msg = f"the distance function failed with {type(error).__name__}."
            hint = "it is called with the cells of two records, a tuple each, and returns a number: lambda x, y: ..."
            raise InputError(msg, hint=hint) from error
        if not np.isfinite(distances).all() or (distances < 0).any():
            raise InputError("the distance function gave a number that is no distance.", hint="0 or more, and finite.")
        return distances

    def keys(rows: CountArray) -> FloatArray:
        places, place = np.unique(of_row[rows], return_inverse=True)
        one = int(places[np.argmax(distances_from(int(places[0]), places))])
        from_one = distances_from(one, places)
        other = int(places[np.argmax(from_one)])
        return np.asarray((from_one - distances_from(other, places))[place.ravel()])

    return keys


def _cell_coordinates(table: Table, points: FloatArray) -> FloatArray:
    """Return coordinates: positions, and categories such that different ones have a squared distance of 1."""
    width = sum(1 if column.is_ordered else column.n_values + 1 for column in table.columns)
    check_memory(
        16.0 * table.n_rows * width,
        f"clustering {table.n_rows} records by {width} values",
        "choose clustering='median', or leave columns with many categories out of b.",
    )
    parts = []
    for column, codes, places in zip(table.columns, table.codes, points, strict=True):
        if column.is_ordered:
            parts.append(places[:, None])
        else:
            parts.append(np.sqrt(0.5) * (codes[:, None] == np.arange(-1, column.n_values)))
    return np.concatenate(parts, axis=1)


def _move_to_means(points: FloatArray, labels: CountArray, n_clusters: int) -> CountArray:
    """Move records to the nearest means that have room, while that helps."""
    size = len(labels) // n_clusters
    best, least_spread = labels, np.inf
    for _ in range(_MAX_ROUNDS):
        means = np.array([points[labels == label].mean(axis=0) for label in range(n_clusters)])
        spread = float(((points - means[labels]) ** 2).sum())
        if spread >= least_spread * (1 - 1e-9):
            break
        best, least_spread = labels, spread
        squared_distances = ((points**2).sum(axis=1)[:, None] - 2 * points @ means.T) + (means**2).sum(axis=1)
        labels = _fill_clusters(squared_distances, size)
    return best


def _fill_clusters(squared_distances: FloatArray, size: int) -> CountArray:
    """Assign records to clusters of `size` each, at least total squared distance.

    With many records greedily: each goes to its nearest cluster with room, those who lose most by waiting first.
    """
    n_rows, n_clusters = squared_distances.shape
    if n_rows <= _MAX_RECORDS_TO_ASSIGN:
        from scipy.optimize import linear_sum_assignment

        return np.asarray(linear_sum_assignment(np.repeat(squared_distances, size, axis=1))[1] // size, dtype=np.int64)
    labels = np.full(n_rows, -1, dtype=np.int64)
    room = np.full(n_clusters, size)
    waiting = np.arange(n_rows)
    while len(waiting):
        open_ = np.flatnonzero(room)
        distances = np.sort(squared_distances[np.ix_(waiting, open_)], axis=1)
        regret = distances[:, min(1, len(open_) - 1)] - distances[:, 0]
        nearest = open_[np.argmin(squared_distances[np.ix_(waiting, open_)], axis=1)]
        for cluster in open_:
            asking = np.flatnonzero(nearest == cluster)
            asking = asking[np.argsort(-regret[asking], kind="stable")][: room[cluster]]
            labels[waiting[asking]] = cluster
            room[cluster] -= len(asking)
        waiting = waiting[labels[waiting] < 0]
    return labels


_MOST_COLUMNS = 12
_MAX_RECORDS_TO_GUESS = 100_000  # the guess from C uses a sample of so many records


def mask_dependence(
    data: Any,
    *,
    a: Sequence[str],
    b: Sequence[str],
    clusters: int,
    c: Sequence[str] | None = None,
    clustering: Clustering = "auto",
    method: MaskingMethod = "auto",
    weights: Mapping[str, float] | None = None,
    label: str = "cluster",
    missing: Missing = "category",
    optimise_ties: bool = False,
    publish: Publish = "tuples",
    specs: Mapping[str, ColumnSpec] | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    accept: Mapping[str, str] | None = None,
) -> MaskedRelease:
    """Hide the correlation of A with B completely, with the fewest stars.

    B is cut into clusters of equal size. A cells are masked until every vector of A is equally frequent in every
    cluster. The masked table is released with the cluster's number instead of B, and the clusters' B values apart from
    it. This hides a correlation, not people: a record is as recognisable as its other cells make it.

    Parameters
    ----------
    data : path, dataframe or Table
        A row of a Table that counts several records stands for as many rows.
    a : sequence of str
        Columns whose cells are masked.
    b : sequence of str
        Columns from which A shall be independent; they are replaced by the cluster.
    clusters : int
        How many, from 2 to the number of records. More keep more of what B says of C, and cost more stars.
    c : sequence of str, optional
        Columns that stay as they are; all others when not given. What is in none of the three is left out.
    clustering : {"auto", "runs", "median", "kmeans"}, callable, or sequence
        ``"runs"``: one column, in its order, in equal runs. ``"median"``: cut at the middle of the widest column, again
        and again. ``"kmeans"``: from there on towards the nearest means with room. A distance function of two tuples of
        B cells: cut between two far records, again and again. Or the cluster of every record, in sizes that differ by 1
        at most. ``"auto"`` is runs for one ordered column, else median.
    method : {"auto", "exact", "greedy", "pivot"}
        ``"exact"`` solves an integer programme over distinct A vectors, which does not grow with the records: the
        fewest stars, where it ends. ``"greedy"`` deals together records that agree on most: at most d times the fewest
        stars for d columns of A; with weights, the sum of the weights over the smallest times; no ratio with a weight
        of 0. ``"pivot"`` matches every cluster with one of them: at most u - 1 times the least for u clusters, whatever
        the weights. Both go on to put back one cluster after another at least cost. ``"auto"`` is exact where the
        programme is small, else its linear relaxation rounded down, or, where that is too large too, the better of
        greedy and of the relaxation of the most promising patterns.
    weights : mapping of column to float, optional
        What a star in a column of A costs, 0 or more; 1 where none is given.
    label : str
        The name of the cluster's column.
    missing : {"category", "worst"}
        A missing A cell is a value of its own, or agrees with nothing and is always masked.
    optimise_ties : bool
        Choose which of several records with the same B cells goes to which cluster so that few
        stars are needed. The clusters then depend on A, which the result says: where B has
        ties at a border, who is on which side of it tells something of A.
    publish : {"tuples", "columns", "bins"}
        What of B is published apart from the table. Whole tuples can be people; the columns one by one, with how often
        each value occurs; or those in bins of round numbers, without a cluster's exact ends.
    specs : mapping of column to ColumnSpec, optional
        Kinds and orders of columns where the data do not say.
    budget : Budget, optional
        Where it ends, the best so far is released. Nodes are those of the integer programme.
    seed : int
        Of the random choices: which records are removed, how ties are broken, which of equal records is masked.
    accept : mapping of column to str, optional
        Columns that may be published though they look like direct identifiers, and why. Any other such column is an
        error, a masked one too: some of its cells stay, and those of B are published apart.

    Returns
    -------
    MaskedRelease

    Raises
    ------
    ColumnError
        A column does not exist or is in two of A, B and C.
    InputError
        Too few or too many clusters, a constant B, a literal ``*`` in A, an argument that is none of the
        allowed, or a published column that looks like a direct identifier.

    Notes
    -----
    Tao, Pei, Li, Xiao, Yi, Xing, "Correlation hiding by independence masking", ICDE 2010, section IV. The note only
    announces its algorithms. Independence of a label that is equally frequent everywhere says that every vector of A is
    equally frequent under every label, so that masking is dealing: groups of one record per cluster, which keep the
    cells that all agree on. Records beyond a multiple of the clusters are removed at random.

    Examples
    --------
    Example 1 of the note, three clusters of four incomes. Texts such as ``"25k"`` are read as amounts where a
    whole column leaves no doubt:

    >>> import polars as pl
    >>> table = pl.DataFrame({
    ...     "age": ["30~50", "30~50", "30~50", ">50", "30~50", "<30", "<30", "<30", "<30", "30~50", "30~50", "30~50"],
    ...     "job": ["CEO", "Salesman", *["Prof"] * 4, *["Manager"] * 3, *["Prof"] * 3],
    ...     "income": ["25k", "4k", "10k", "20k", "11k", "6k", "18k", "13k", "7k", "15k", "9k", "6k"],
    ... })
    >>> masked = mask_dependence(table, a=["age", "job"], b=["income"], clusters=3)
    >>> masked.n_stars, masked.optimal, masked.verify().passed
    (6, True, True)
    >>> masked.cluster_values.group_by("cluster", maintain_order=True).agg("income")["income"].to_list()
    [['4k', '6k', '6k', '7k'], ['9k', '10k', '11k', '13k'], ['15k', '18k', '20k', '25k']]
    """
    began = time.perf_counter()
    check_budget(budget)
    check_whole("seed", seed, 0)
    check_type(label, str, "label", "the name of a column")
    check_type(optimise_ties, bool, "optimise_ties", "True or False")
    a, b = names_in(a, "a"), names_in(b, "b")
    source = open_table(data).with_row_per_record()
    names = source.names
    unnamed = () if c is not None else tuple(name for name in names if name not in (*a, *b))
    c = _check_roles(a, b, c, names, label)
    accepted = check_accepted(accept, (*a, *b, *c))
    refuse_identifiers(source, (*a, *b, *c), accepted, unnamed=unnamed, keep="c")
    _check_arguments(a, method, missing, publish, weights or {}, optimise_ties, clustering)
    _check_no_sets(specs)
    table = Table.encode(source, (*a, *b), specs)
    _check_cells(table, a, b, clusters)

    rng = np.random.default_rng(seed)
    is_named = isinstance(clustering, str)
    # Columns with a declared kind or order are not read as amounts.
    declared = [name for name, spec in (specs or {}).items() if spec.kind is not None or spec.order is not None]
    b_table, amounts = convert_amounts(table.select(b), tuple(name for name in b if is_named and name not in declared))
    kept_rows, labels = _cluster_records(b_table, clusters, clustering, rng)
    table = table.take(kept_rows)
    distinct, of_record = table.select(a).collapse()
    types = _count_types(distinct, labels, of_record, clusters, missing, weights or {})
    if optimise_ties:
        _, tie_of = table.select(b).collapse()
        labels = settle_ties(tie_of, labels, of_record, types, rng)
        types = _count_types(distinct, labels, of_record, clusters, missing, weights or {})
    masking = mask_types(types, method, budget or Budget())
    stars = _draw_stars(types, masking.dealing, labels, of_record, rng)
    trace = _build_trace(masking, method, clusters, seed, time.perf_counter() - began)
    return MaskedRelease(
        source=source,
        table=table,
        a=a,
        b=b,
        c=c,
        label=label,
        labels=labels,
        kept=kept_rows,
        stars=stars,
        cost=masking.cost,
        publish=publish,
        ties_optimised=optimise_ties,
        guesses=_guess_cells(source, table, c, kept_rows, stars, labels, specs or {}, rng),
        trace=trace,
        specs=dict(specs or {}),
        inputs=drafts.paths_among(data),
        amounts=amounts,
        clustered_as_text=tuple(each.name for each in b_table.columns if is_named and not each.is_ordered),
        accepted=accepted,
    )


def _build_trace(masking: Masking, method: str, clusters: int, seed: int, seconds: float) -> Trace:
    return Trace(
        f"mask_dependence(method={method!r}, clusters={clusters})",
        masking.n_nodes,
        seconds,
        complete=masking.complete,
        optimal=masking.optimal,
        bound=masking.bound,
        gap=(masking.cost - masking.bound) / masking.cost if masking.cost > 0 else 0.0,
        seed=seed,
    )


def _check_roles(
    a: Sequence[str], b: Sequence[str], c: Sequence[str] | None, names: Sequence[str], label: str
) -> tuple[str, ...]:
    for what, columns in (("a", a), ("b", b)):
        if not columns:
            raise ColumnError(
                f"{what} names no column.", hint="a is what is masked, b what it shall be independent of."
            )
        check_columns(columns, names, what)
    c_columns = tuple(name for name in names if name not in (*a, *b)) if c is None else tuple(c)
    check_columns(c_columns, names, "c")
    twice = [name for name in names if [name in a, name in b, name in c_columns].count(True) > 1]
    if twice:
        raise ColumnError(
            f"column {quote_names(twice)} is in more than one of a, b and c.", hint="put every column into one."
        )
    if label in (*a, *c_columns):
        raise ColumnError(
            f"the table has a column {label!r} already.", hint="pass another name for the cluster as label=."
        )
    return c_columns


def _check_no_sets(specs: Mapping[str, ColumnSpec] | None) -> None:
    check_specs(specs)
    parted = [name for name, spec in (specs or {}).items() if spec.separator is not None]
    if parted:
        raise InputError(
            f"columns {quote_names(parted)} were given a separator, and masking publishes cells as they came.",
            hint="leave the separator out: a set is then one value among others.",
        )


def _check_arguments(
    a: Sequence[str],
    method: str,
    missing: str,
    publish: str,
    weights: Mapping[str, float],
    optimise_ties: bool,
    clustering: Clustering,
) -> None:
    check_choice("method", method, METHODS)
    check_choice("missing", missing, ("category", "worst"))
    check_choice("publish", publish, PUBLISHED)
    if isinstance(clustering, str) and clustering not in CLUSTERINGS:
        raise InputError(f"clustering = {clustering!r}.", hint=f"choose one of {CLUSTERINGS}, a distance, or labels.")
    if optimise_ties and not (isinstance(clustering, str) and clustering in ("auto", "runs")):
        raise InputError("optimise_ties asks for clusters in the order of B.", hint="leave clustering as it is.")
    if len(a) > _MOST_COLUMNS:
        raise InputError(f"a names {len(a)} columns.", hint=f"{_MOST_COLUMNS} at most: work doubles with every column.")
    check_columns(list(weights), a, "weights")
    check_weights(weights)


def _check_cells(table: Table, a: Sequence[str], b: Sequence[str], clusters: int) -> None:
    if isinstance(clusters, bool) or not isinstance(clusters, (int, np.integer)) or not 2 <= clusters <= table.n_rows:
        raise InputError(
            f"clusters = {clusters!r} for {table.n_rows} records.",
            hint="a whole number from 2 to the number of records.",
        )
    for name in a:
        column = table.column(name)
        if not column.is_measured and SUPPRESSED in column.values.tolist():
            raise InputError(
                f"column {name!r} holds {SUPPRESSED!r}, which marks masked cells.", hint="replace those cells first."
            )
    if table.select(b).collapse()[0].n_rows < 2:
        raise InputError(
            f"{quote_names(b)} is the same in all {table.n_rows} records.",
            hint="there is no correlation with it to hide.",
        )


def _cluster_records(
    table: Table, clusters: int, clustering: Clustering, rng: np.random.Generator
) -> tuple[CountArray, CodeArray]:
    """Return which records stay, ascending, and their clusters."""
    n_records = table.n_rows
    n_removed = n_records % clusters
    if isinstance(clustering, str) or callable(clustering):
        kept_rows = np.sort(rng.permutation(n_records)[n_removed:])
        if clustering == "auto":
            clustering = "runs" if len(table.columns) == 1 and table.columns[0].is_ordered else "median"
        return kept_rows, equal_clusters(table.take(kept_rows), clusters, clustering, rng)
    labels = number_clusters(clustering, n_records, clusters)
    sizes = np.bincount(labels)
    removed = [int(rng.choice(np.flatnonzero(labels == one))) for one in np.flatnonzero(sizes > n_records // clusters)]
    kept_rows = np.setdiff1d(np.arange(n_records), np.array(removed, dtype=np.int64))
    return kept_rows, labels[kept_rows]


def _count_types(
    distinct: Table,
    labels: CodeArray,
    of_record: CodeArray,
    clusters: int,
    missing: Missing,
    weights: Mapping[str, float],
) -> Types:
    # -1 agrees with nothing, as a star: shifted by 1 a missing cell becomes a value of its own.
    shift = np.int32(1 if missing == "category" else 0)
    supply = np.bincount(labels.astype(np.int64) * distinct.n_rows + of_record, minlength=clusters * distinct.n_rows)
    per_column: FloatArray = np.array([float(weights.get(name, 1.0)) for name in distinct.names])
    return Types(np.ascontiguousarray(distinct.codes.T + shift), supply.reshape(clusters, distinct.n_rows), per_column)


def _draw_stars(
    types: Types, dealing: Dealing, labels: CodeArray, of_record: CodeArray, rng: np.random.Generator
) -> BoolArray:
    """Choose the masked cells, by column and record; which of equal records is masked is random."""
    is_hidden = find_patterns(types, dealing) == STAR
    shuffled = rng.permutation(len(labels))
    stars = np.empty((is_hidden.shape[1], len(labels)), dtype=bool)
    for cluster in range(types.n_clusters):
        cluster_rows = shuffled[labels[shuffled] == cluster]
        cluster_rows = cluster_rows[np.argsort(of_record[cluster_rows], kind="stable")]
        # Both sorted by type: the i-th record of the cluster gets the i-th place in its groups.
        groups = np.argsort(dealing.members[:, cluster], kind="stable")
        stars[:, cluster_rows] = is_hidden[np.repeat(groups, dealing.counts[groups])].T
    return stars


def _guess_cells(
    source: Frame | Table,
    table: Table,
    c: Sequence[str],
    kept_rows: CountArray,
    stars: BoolArray,
    labels: CodeArray,
    specs: Mapping[str, ColumnSpec],
    rng: np.random.Generator,
) -> tuple[measures.Guess, ...]:
    """Guess the masked cells of A, the first columns of the table, from C; on a sample if there are many records."""
    rows = np.sort(rng.permutation(len(kept_rows))[:_MAX_RECORDS_TO_GUESS])
    evidence = encode_evidence(source, c, specs, kept_rows[rows])
    a = table.names[: len(stars)]
    return measures.guess_stars(
        a, table.codes[: len(stars), rows], stars[:, rows], list(evidence.values()), labels[rows]
    )
