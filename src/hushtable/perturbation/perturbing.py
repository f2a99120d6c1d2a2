"""Perturbing a table: columns and a method in, a `PerturbedRelease` out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict

import numpy as np

from hushtable._types import CodeArray, FloatArray
from hushtable.claims import Certificate, build_triple_certificate
from hushtable.columns import SUPPRESSED, Column, ColumnSpec, Kind, check_specs, value_text
from hushtable.discover import find_repeating_person
from hushtable.errors import (
    ColumnError,
    InputError,
    check_choice,
    check_columns,
    check_whole,
    names_in,
    quote_names,
)
from hushtable.io import Frame, drafts
from hushtable.kernels import microaggregation as kernel
from hushtable.perturbation import measures
from hushtable.perturbation.method import (
    METHODS,
    NUMERIC,
    OriginalCells,
    PerturbationMethod,
    Perturbed,
    describe_method,
    numbers_of,
    standardise,
)
from hushtable.perturbation.microaggregation import Microaggregation, sum_of_squares
from hushtable.perturbation.release import PerturbedRelease
from hushtable.release import KeptColumns, Rewritten, check_accepted, find_undoing_columns, refuse_identifiers
from hushtable.search import Trace
from hushtable.tables import Table, open_table

PRECISIONS: Final = ("column", "full")
_MAX_RECORDS_OF_MDAV: Final = 5_000
_K_OF_MDAV: Final = 3


def perturb(
    data: Any,
    *,
    columns: Sequence[str],
    method: str | Mapping[str, object] | PerturbationMethod = "microaggregation",
    by: Sequence[str] = (),
    keep: Sequence[str] | None = None,
    accept: Mapping[str, str] | None = None,
    precision: str = "column",
    specs: Mapping[str, ColumnSpec] | None = None,
    seed: int = 0,
) -> PerturbedRelease:
    """Publish numbers and categories that are near the true ones, and not them.

    Microaggregation makes the columns (with ``by``) k-anonymous together, which anybody can verify. All other methods
    hide people only as far as the linkage risk of the result says: no file can show what they did.

    Parameters
    ----------
    data : path, dataframe or Table
        A row of a Table that counts several records stands for as many rows.
    columns : sequence of str
        What is perturbed.
    method : str, mapping or PerturbationMethod
        ``"microaggregation"``, ``"pram"``, ``"rank_swap"``, ``"noise"``, ``"shuffle"``, ``"record_swap"``, with options
        as ``{"noise": {"amount": 0.3}}`` or ``ht.Noise(amount=0.3)``.
    by : sequence of str
        Records that differ in these columns have nothing to do with one another: what the perturbed columns say of
        these stays. They are published as they are.
    keep : sequence of str, optional
        The other columns that are published, as they are. All, when not given.
    accept : mapping of column to str, optional
        Columns that may be published though they look like direct identifiers, and why. Any other such column is an
        error, a perturbed one too.
    precision : {"column", "full"}
        Round new numbers as finely as the column is written, so that whole numbers stay whole; or not.
    specs : mapping of column to ColumnSpec, optional
        Kinds and orders of columns where the data do not say.
    seed : int
        Of all random choices. Keep it: whoever has it and the method may undo the perturbation.

    Returns
    -------
    PerturbedRelease

    Raises
    ------
    ColumnError
        A column does not exist, is named twice, or is of a kind that the method does not take.
    InfeasibleError
        A stratum has too few records, or categories cannot be changed as often as was asked.
    InputError
        An argument is none of the allowed, or a published column looks like a direct identifier.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 33, 52, 57, 55], "income": [20, 22, 21, 40, 44, 42]})
    >>> release = perturb(people, columns=["age", "income"], method="microaggregation")
    >>> release.frame["age"].to_list(), release.verify().passed
    ([33, 33, 33, 55, 55, 55], True)
    """
    began = time.perf_counter()
    check_whole("seed", seed, 0)
    check_choice("precision", precision, PRECISIONS)
    check_specs(specs)
    made: PerturbationMethod = METHODS.take(method, PerturbationMethod)
    columns, by = names_in(columns, "columns"), names_in(by, "by")
    source = open_table(data).with_row_per_record()
    kept = _check_roles(source, columns, by, keep, made)
    accepted = check_accepted(accept, (*columns, *by, *kept))
    refuse_identifiers(source, (*columns, *by, *kept), accepted, unnamed=kept if keep is None else (), keep="keep")
    table = Table.encode(source, (*columns, *by, *made.beside), specs)
    _check_cells(table, columns)
    cells = OriginalCells(table.select(columns), _label_strata(table, by), table.select(made.beside))
    rng = np.random.default_rng(seed)
    perturbed = made.perturb(cells, rng)
    rewritten = _rewrite(cells.table, perturbed, precision)
    return PerturbedRelease(
        source=source,
        columns=columns,
        by=by,
        kept=kept,
        method=made,
        rewritten=rewritten,
        **_measure(cells.table, rewritten, seed),
        loss=perturbed.loss,
        trace=_build_trace(made, perturbed, seed, time.perf_counter() - began),
        figures=perturbed.figures,
        notes=perturbed.notes,
        warnings=(*_describe_undoing(source, columns, (*by, *kept)), *_describe_persons(source, columns, by)),
        accepted=accepted,
        certificate=_build_certificate(made, perturbed, table, columns, by),
        inputs=drafts.paths_among(data),
    )


def _check_roles(
    source: Frame | Table,
    columns: tuple[str, ...],
    by: tuple[str, ...],
    keep: Sequence[str] | None,
    method: PerturbationMethod,
) -> tuple[str, ...]:
    if not columns:
        raise ColumnError("columns names no column.", hint="name what shall be perturbed.")
    if not source.n_records:
        raise InputError("the table has no records.", hint="there is nothing to perturb.")
    names = source.names
    check_columns(columns, names, "columns")
    check_columns(by, names, "by")
    check_columns(method.beside, names, f"columns of {method.name}")
    others = tuple(name for name in names if name not in (*columns, *by))
    kept = others if keep is None else names_in(keep, "keep")
    check_columns(kept, names, "keep")
    twice = [name for name in names if [name in columns, name in by, name in kept].count(True) > 1]
    twice += [name for name in method.beside if name in (*columns, *by)]
    if twice:
        raise ColumnError(
            f"column {quote_names(twice)} has more than one role among columns, by, keep and the method's.",
            hint="give every column one.",
        )
    return kept


def _describe_undoing(source: Frame | Table, columns: tuple[str, ...], kept: tuple[str, ...]) -> list[str]:
    """Describe which columns that are published as they are give back what was perturbed."""
    undoing = find_undoing_columns(source, KeptColumns(insensitive=kept, generalized=columns))
    return [f"published as it is, and gives back what was perturbed: {each.sentence}" for each in undoing]


def _describe_persons(source: Frame | Table, columns: tuple[str, ...], by: tuple[str, ...]) -> list[str]:
    """Describe which column numbers persons who have several records."""
    person = find_repeating_person(source, [name for name in source.names if name not in (*columns, *by)])
    if person is None:
        return []
    return [
        f"column {person!r} numbers persons, and some have several records, which are perturbed and counted one by one"
    ]


def _check_cells(table: Table, columns: tuple[str, ...]) -> None:
    for name in columns:
        column = table.column(name)
        if not column.is_measured and SUPPRESSED in column.values.tolist():
            raise InputError(
                f"column {name!r} holds {SUPPRESSED!r}, which marks masked cells.", hint="replace those cells first."
            )


def _build_certificate(
    method: PerturbationMethod, perturbed: Perturbed, table: Table, columns: tuple[str, ...], by: tuple[str, ...]
) -> Certificate | None:
    if perturbed.prices is None or not isinstance(method, Microaggregation):
        return None
    numbers, strata = table.select(columns).columns, table.select(by).columns
    return build_triple_certificate(numbers, strata, method.weights, method.k, perturbed.prices)


def _label_strata(table: Table, by: tuple[str, ...]) -> CodeArray:
    return table.select(by).collapse()[1].astype(np.int32) if by else np.zeros(table.n_rows, dtype=np.int32)


def _rewrite(table: Table, perturbed: Perturbed, precision: str) -> dict[str, Rewritten]:
    rewritten = {}
    for j, column in enumerate(table.columns):
        if perturbed.codes is not None:
            codes = perturbed.codes[j]
            texts: tuple[str | None, ...] = (*column.texts(), None)
            rewritten[column.name] = Rewritten(
                np.where(codes < 0, np.int32(column.n_values), codes).astype(np.int32), texts, column.kind, True
            )
        else:
            assert perturbed.numbers is not None
            rewritten[column.name] = _write_numbers(column, perturbed.numbers[:, j], precision)
    return rewritten


def _write_numbers(column: Column, numbers: FloatArray, precision: str) -> Rewritten:
    """Return new numbers as texts, rounded as the column is."""
    kind: Kind = column.kind
    missing = np.isnan(numbers)
    values, places = np.unique(np.where(missing, 0.0, numbers), return_inverse=True)
    if precision == "column":
        n_digits = max((_count_decimals(text) for text in column.texts()), default=0)
        values, again = np.unique(_round(values, n_digits), return_inverse=True)
        places = again.ravel()[places.ravel()]
    else:
        kind = "decimal"
    # A float beyond 2^63 is no whole number that a column holds.
    kind = "decimal" if kind == "integer" and np.abs(values).max(initial=0.0) >= 2.0**63 else kind
    texts = [value_text(kind, value) for value in values]
    codes = np.where(missing, len(texts), places.ravel()).astype(np.int32)
    return Rewritten(codes, (*texts, None), kind, True)


def _round(values: FloatArray, n_digits: int) -> FloatArray:
    """Round where a float has so few digits; larger ones are whole anyway, or have no finer ones."""
    fits = np.abs(values) < 2.0**52 / 10.0 ** min(n_digits, 15)
    return np.where(
        fits, np.round(np.where(fits, values, 0.0), min(n_digits, 15)), np.rint(values) if not n_digits else values
    )


def _count_decimals(text: str) -> int:
    return len(text.partition(".")[2])


class _Measured(TypedDict):
    losses: tuple[measures.ColumnLoss, ...]
    pairs: tuple[measures.PairLoss, ...]
    linkage: float | None
    linkage_before: float | None
    mdav: dict[str, float]


def _measure(table: Table, rewritten: Mapping[str, Rewritten], seed: int) -> _Measured:
    """Measure loss and linkage of what is published, beside MDAV's."""
    released = _encode(table, rewritten)
    before, after = measures.read_numbers(table), measures.read_numbers(released)
    losses = {each.column: each for each in measures.measure_columns(before, after)}
    for column, other in zip(table.columns, released.columns, strict=True):
        if not column.is_ordered:
            j = table.index(column.name)
            rate = measures.count_changes(table.codes[j], released.codes[j], column.texts(), other.texts())
            losses[column.name] = measures.ColumnLoss(column.name, rate, None, None)
    original_points, released_points = measures.build_coordinates(table, released)
    return {
        "losses": tuple(losses[name] for name in table.names),
        "pairs": measures.measure_pairs(before, after),
        "linkage": measures.measure_linkage(original_points, released_points, seed),
        "linkage_before": measures.measure_linkage(original_points, original_points, seed),
        "mdav": _measure_mdav(table, seed),
    }


def _encode(table: Table, rewritten: Mapping[str, Rewritten]) -> Table:
    """Return the published columns, with the kinds of the original ones where cells are their values."""
    columns, codes = [], []
    for column in table.columns:
        each = rewritten[column.name]
        missing = len(each.texts) - 1
        if each.kind in NUMERIC:
            dtype = np.int64 if each.kind == "integer" else np.float64
            values = np.array([dtype(text) for text in each.texts[:-1] if text is not None], dtype=dtype)
            columns.append(Column(column.name, each.kind, values))
        else:
            columns.append(column)
        codes.append(np.where(each.codes == missing, np.int32(-1), each.codes))
    return Table(tuple(columns), np.array(codes, dtype=np.int32), table.counts)


def _measure_mdav(table: Table, seed: int) -> dict[str, float]:
    """Return the loss and the linkage of MDAV on the columns of numbers, of the complete records or 5,000 of them."""
    names = [column.name for column in table.columns if column.kind in NUMERIC]
    if not names:
        return {}
    numbers = numbers_of(table.select(names))
    complete = np.random.default_rng(seed).permutation(np.flatnonzero(~np.isnan(numbers).any(axis=1)))[
        :_MAX_RECORDS_OF_MDAV
    ]
    points = standardise(numbers[complete])
    total = float((points**2).sum())
    if len(points) < _K_OF_MDAV or total == 0.0:
        return {}
    labels = np.empty(len(points), dtype=np.int32)
    kernel.label_by_mdav(points, _K_OF_MDAV, labels)
    sums = np.zeros((labels.max() + 1, points.shape[1]))
    np.add.at(sums, labels, points)
    means = (sums / np.bincount(labels)[:, None])[labels]
    linkage = measures.measure_linkage(points, means, seed)
    assert linkage is not None
    return {"sse_share": sum_of_squares(points, labels) / total, "linkage": linkage, "n_records": float(len(points))}


def _build_trace(method: PerturbationMethod, perturbed: Perturbed, seed: int, seconds: float) -> Trace:
    loss, bound = perturbed.loss, perturbed.bound
    is_optimal = loss is not None and bound is not None and loss - bound <= 1e-12 * max(loss, 1e-12)
    gap = None if loss is None or bound is None else (loss - bound) / loss if loss > 0 else 0.0
    return Trace(describe_method(method), 0, seconds, optimal=is_optimal, bound=bound, gap=gap, seed=seed)
