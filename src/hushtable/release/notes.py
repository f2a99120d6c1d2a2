"""What to look at in a release besides its claim: how cells are spelled, and what they list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hushtable.columns import ColumnSpec, cells, count_missing_codes, count_near_duplicates, gather_labels
from hushtable.hierarchy import MIN_TAIL_RECORDS, Tails, propose_tails
from hushtable.io import Frame, csv
from hushtable.models import entries
from hushtable.recoding import Nodes, NodeSets
from hushtable.release.release import Release
from hushtable.tables import Table

_MIN_RECORDS_PER_VALUE: Final = 5  # to a value
_OUTLIER_SHARE: Final = 0.01  # of the records
_MIN_RANGE_SHARE: Final = 0.5  # of the range


def missing_codes(release: Release) -> dict[str, dict[str, int]]:
    """Count the cells of published columns that look like missing values, if no missing values were declared.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [1, 1], "job": ["NA", "cook"]})
    >>> missing_codes(ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)]))
    {'job': {'NA': 1}}
    """
    source = release.source
    if not isinstance(source, Frame):
        return {}
    codes_by_column = {}
    for name in release.edition.columns:
        if source.specs.get(name, ColumnSpec()).missing_values is not None:
            continue
        declared = source.dialect.missing_values
        codes = {code: n for code, n in count_missing_codes(source.column(name)).items() if code not in declared}
        if codes:
            codes_by_column[name] = codes
    return codes_by_column


def count_lookalike_values(release: Release) -> dict[str, int]:
    """Count the values of quasi-identifiers that differ from another only in case, spaces or width."""
    counted = {column.name: count_near_duplicates(column) for column in release.recoding.columns}
    return {name: n for name, n in counted.items() if n}


def formula_cells(release: Release) -> dict[str, int]:
    """Count by column the published cells and names that a spreadsheet would run.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [1, 1], "note": ["=1+1", "-5"]})
    >>> release = ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], accept={"note": "made up"})
    >>> formula_cells(release)
    {'note': 1}
    """
    source, edition = release.source, release.edition
    if not isinstance(source, Frame):
        return {}
    hidden = release.pseudonyms.columns if release.pseudonyms else ()
    kept = {name: source.column(name) for name in edition.columns if name not in (*edition.rewritten, *hidden)}
    rewritten = {name: gather_labels(each.texts, each.codes) for name, each in edition.rewritten.items()}
    return csv.count_formulas({**kept, **rewritten}, source.counts)


def count_values_in_lists(release: Release) -> dict[str, int]:
    """Count by column the values that published sets list, where the column has fewer than 5 records to a value.

    A set of nearly unique values names the people in a class: anyone who knows one of them finds it.
    """
    n_values = {column.name: column.n_values for column in release.recoding.columns}
    n_records = release.partition.n_records
    return {name: n for name, n in _n_listed(release).items() if n_values[name] * _MIN_RECORDS_PER_VALUE > n_records}


def lacking_values(release: Release) -> tuple[str, ...]:
    """Return the columns of which classes list what they hold, which shows what they lack.

    The lists of cuts hold what lies between cuts, whether anybody has it or not.
    """
    return () if release.recoding.style == "cut" else tuple(_n_listed(release))


def _n_listed(release: Release) -> dict[str, int]:
    """Count by column the values and labels in lists of several."""
    n_by_column: dict[str, int] = {}
    if release.recoding.style == "candidates":
        # Candidates are for small tables, where somebody looks at every published value.
        return n_by_column
    for column in release.recoding.columns:
        _, labels = release.recoding.format_labels(column.name)
        lists = [cells.parse_cell(text).members for text in labels if text is not None]
        if n := len({member for members in lists for member in members if len(members) > 1}):
            n_by_column[column.name] = n
    return n_by_column


@dataclass(frozen=True, slots=True)
class FarOut:
    """A column where few records hold most of the range.

    Attributes
    ----------
    share : float
        Of the range, what the rest of the column leaves to 1 % of the records.
    rule : Tails or None
        A hierarchy that codes the side on which they lie, or both, at round ends; None where too few records
        would be left between the ends.
    """

    share: float
    rule: Tails | None

    def to_dict(self) -> dict[str, Any]:
        """Return the outliers as plain values, the rule as in a policy."""
        return {"share": self.share, **({"hierarchy": entries.to_entry(self.rule)} if self.rule else {})}


def find_outlier_columns(release: Release, source: Frame | None = None) -> dict[str, FarOut]:
    """Find the columns where 1 % of the records hold most of the range, with a rule that codes their ends.

    By value such a column hardly loses anything, whatever most of its records lose. A source is given where the
    release's own does not hold each column's values as often as all records do.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"income": [*range(199), 1_990]})
    >>> release = ht.anonymize(people, quasi_identifiers=["income"], models=[ht.KAnonymity(2)])
    >>> found = find_outlier_columns(release)["income"]
    >>> round(found.share, 2), found.rule
    (0.9, Tails(low=None, high=195, least=5))
    """
    pairs = zip(release.recoding.columns, release.recoding.cells, strict=True)
    names = [
        column.name
        for column, cell in pairs
        if column.is_measured and column.kind != "time" and not isinstance(cell, (Nodes, NodeSets))
    ]
    if not names:
        return {}
    table = Table.encode(release.source if source is None else source, names, release.specs)
    least = max([MIN_TAIL_RECORDS, *(model.min_size for model in release.claim.models)])
    found = {name: _measure_outliers(table, name, least) for name in names}
    return {name: each for name, each in found.items() if each is not None}


def _measure_outliers(table: Table, name: str, min_records: int) -> FarOut | None:
    """Measure the range of the 1 % outermost records of a column; None if they do not hold most of it."""
    column, codes = table.column(name), table.codes[table.index(name)]
    is_known = codes >= 0
    counts = np.bincount(codes[is_known], weights=table.counts[is_known], minlength=column.n_values).astype(np.int64)
    positions, until = column.positions(), np.cumsum(counts)
    n_few = int(_OUTLIER_SHARE * int(counts.sum()))
    if n_few == 0 or np.count_nonzero(counts) < 2:
        return None
    # All splits of the 1 %: this many at the low end, the others at the high end.
    low = np.arange(n_few + 1)
    begin, end = (positions[np.searchsorted(until, at, side="right")] for at in (low, until[-1] - 1 - n_few + low))
    narrowest = int(np.argmin(end - begin))
    sides = begin[narrowest], 1 - end[narrowest]
    share = float(sum(sides))
    if share <= _MIN_RANGE_SHARE:
        return None
    # The share is above a half, so at least one side holds more than a quarter.
    n_low, n_high = (max(n_few, min_records) if side > _MIN_RANGE_SHARE / 2 else 0 for side in sides)
    return FarOut(share, propose_tails(column, counts, n_low, n_high, min_records))


def find_unconverted_columns(release: Release, *, decimal: str) -> tuple[str, ...]:
    """Return the columns that keep decimal commas or dates of a format beside quasi-identifiers that do not.

    Parameters
    ----------
    release : Release
    decimal : {".", ","}
        The mark that quasi-identifiers are written with.
    """
    source = release.source
    if not isinstance(source, Frame) or not source.is_text:
        return ()
    kinds = {column.kind for column in release.recoding.columns}
    hidden = (*release.quasi_identifiers, *(release.pseudonyms.columns if release.pseudonyms else ()))
    odd = []
    for name in [name for name in release.edition.columns if name not in hidden]:
        spec = source.spelling(name)
        is_date = spec.format is not None
        is_other = not kinds.isdisjoint(("date", "datetime")) if is_date else spec.decimal not in (None, decimal)
        # A decimal mark of the whole file need not occur in every column.
        if is_other and (is_date or "decimal" in kinds) and bool((source.values(name) != source.column(name)).any()):
            odd.append(name)
    return tuple(odd)
