"""Judge a published table from the table alone.

Nothing here comes from the code that made the release: no table, no partition,
no kernel. Cells are grouped by their bytes, so that two spellings of one value
("34", " 34") are two values, which can only make the verdict stricter.
"""

from __future__ import annotations

import datetime as dt
import html
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from hushtable import column as columns_
from hushtable import frames
from hushtable._types import BoolArray, CodeArray, CountArray, Missing
from hushtable.cells import SUPPRESSED
from hushtable.column import ColumnSpec
from hushtable.coverage import count_covered, pair_rows
from hushtable.errors import InputError, VerificationError, check_columns, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.models.base import ClassStats, Ground, Histogram, Matching, PrivacyModel, describe
from hushtable.readings import count_values, label_rows, match_classes
from hushtable.series import encode

__all__ = ["Failure", "Verdict", "verify"]


@dataclass(frozen=True, slots=True)
class Failure:
    """One condition that the table does not meet.

    Attributes
    ----------
    condition : str
        The model, in words.
    n_classes, n_records : int
        How many classes fail it, 0 where it is no condition of classes, and the records in them.
    worst : float
        The worst value reached of what the model bounds.
    """

    condition: str
    n_classes: int
    n_records: int
    worst: float

    def __str__(self) -> str:
        if not self.n_classes:
            return self.condition
        return f"{self.condition}: {self.n_classes} classes with {self.n_records} records fail, worst {self.worst:g}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a published table holds.

    Attributes
    ----------
    passed : bool
        Every model holds for every class.
    failures : tuple of Failure
    conditions : tuple of str
        What was judged.
    quasi_identifiers : tuple of str
    n_records : int
        Rows of the table, suppressed ones included.
    n_classes : int
    n_suppressed : int
        Rows with ``*`` in every quasi-identifier and every sensitive column.
    smallest_class : int
        Records in the smallest class, suppressed records apart; 0 in an empty table.
    n_unique : int
        Records alone in their class.
    distinct_sensitive : dict of column to int
        The fewest distinct known values of a sensitive column in any class; 1 or 0
        says that someone's value is known from the class alone, whatever k is.
    missing : {"category", "wildcard", "worst"}
    """

    passed: bool
    failures: tuple[Failure, ...]
    conditions: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    n_records: int
    n_classes: int
    n_suppressed: int
    smallest_class: int
    n_unique: int
    distinct_sensitive: dict[str, int]
    missing: Missing

    def raise_if_failed(self) -> Verdict:
        """Return the verdict, or raise VerificationError with the counts of what fails."""
        if not self.passed:
            msg = with_hint(
                f"the table does not hold what it claims: {'; '.join(map(str, self.failures))}.",
                "do not publish it.",
            )
            raise VerificationError(msg)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values."""
        return asdict(self)

    def _repr_html_(self) -> str:
        lines = [str(failure) for failure in self.failures] or [f"{each}: holds" for each in self.conditions]
        items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
        head = "passed" if self.passed else "failed"
        return f"<b>Verification {head}</b>: {self.n_records} records, {self.n_classes} classes<ul>{items}</ul>"


def verify(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    models: Iterable[PrivacyModel],
    sensitive: Sequence[str] = (),
    missing: Missing = "category",
    suppressed: str | None = SUPPRESSED,
    specs: Mapping[str, ColumnSpec] | None = None,
    hierarchies: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    population: Any = None,
    original: Any = None,
    highest_risk: float | None = None,
    average_risk: float | None = None,
) -> Verdict:
    """Judge a published table from the table alone.

    Parameters
    ----------
    data : path or dataframe
        The published table.
    quasi_identifiers : sequence of str
    models : iterable of PrivacyModel
    sensitive : sequence of str
        Sensitive columns whose diversity is reported, besides those that a model judges. A record
        whose cell in one of them is readable is not suppressed.
    missing : {"category", "wildcard", "worst"}
        What a missing quasi-identifier matches: other missing ones; anything; nothing.
        The last two are no partitions: classes are then what each distinct row matches.
    suppressed : str or None
        The cell of suppressed records. They are judged by their number alone, for
        their sensitive cells are gone: it is 0, or what the models ask of a class. None
        says that no record was suppressed. Where a model counts a population and no column
        is sensitive, nothing tells a suppressed record from one of a class that
        publishes ``*`` everywhere; it is then taken for the latter, which covers everyone.
    specs : mapping of column to ColumnSpec, optional
        The kinds that columns had before they were published (`Release.specs`). Without them a
        quasi-identifier has the kind of its column in the population or the original, and one that
        is text there the kind it looks like, as long as no cell covers more by that.
    hierarchies : mapping of column to Hierarchy, rule, path or "auto", or a path, optional
        As `hushtable.anonymize` takes them; a path alone is that of a file of domains.
        What the labels of quasi-identifiers mean, where a population is counted, and how
        far apart sensitive values are, where a model asks.
    population : path or dataframe, optional
        With the quasi-identifiers: what k-map and delta-presence count. Each class
        holds the people whom its published cells cover; those whom none covers are a
        class without records.
    original : path or dataframe, optional
        The input, with the sensitive columns: the reference of t-closeness, beta-likeness
        and delta-disclosure. Without it that is the published table, which is the same
        as long as no record was suppressed. Matching notions (`hushtable.GlobalK1` and its
        siblings) need it with the quasi-identifiers, for they ask which published
        row covers which original one; the order of the rows plays no part.
    highest_risk, average_risk : float, optional
        Further limits: 1 / size of the smallest class; classes / records (what a
        re-identification of every record succeeds at on average). Compared as
        fractions: 0.09 asks for classes of 12, because 1/11 is above it.

    Returns
    -------
    Verdict
        Failed as well where there is no record, and where a quasi-identifier writes its missing
        value in several ways (blank texts, no cell), which readers of the file can tell apart.

    Raises
    ------
    ColumnError
        A column is not in the table.
    InputError
        No model was given, or an argument is none of the allowed; a bound such as ``<50`` is
        published of categories, or the kind of a column has to be given.

    Notes
    -----
    O(n log n) for n records; ``"wildcard"`` compares every two patterns of missing cells.

    Examples
    --------
    >>> import polars as pl
    >>> from hushtable.models import KAnonymity
    >>> table = pl.DataFrame({"age": ["[30, 40)", "[30, 40)", "<30"], "job": ["*", "*", "*"]})
    >>> verdict = verify(table, quasi_identifiers=["age", "job"], models=[KAnonymity(2)])
    >>> verdict.passed, str(verdict.failures[0])
    (False, 'k-anonymity (k = 2): 1 classes with 1 records fail, worst 1')
    """
    models, quasi_identifiers = tuple(models), tuple(quasi_identifiers)
    _check_arguments(models, quasi_identifiers, missing, {"highest_risk": highest_risk, "average_risk": average_risk})
    frame = frames.read(data)
    check_columns(quasi_identifiers, frame.columns, "quasi_identifiers")
    judged = tuple(dict.fromkeys(name for model in models for name in model.needs.sensitive))
    sensitive = tuple(dict.fromkeys((*sensitive, *judged)))
    check_columns(sensitive, frame.columns, "sensitive columns")
    specs, hierarchies = specs or {}, _ladders(hierarchies, (*quasi_identifiers, *sensitive))
    counts_people = any(model.needs.population for model in models)

    mark = None if counts_people and not sensitive else suppressed
    hidden = _suppressed_rows(frame, (*quasi_identifiers, *sensitive), mark)
    codes = np.array([frames.text_codes(frame.column(name), name)[~hidden] for name in quasi_identifiers])
    labels, first = label_rows(codes)
    records = np.bincount(labels, minlength=len(first))
    held = _hold(frame, original, sensitive, suppressed, specs)
    sizes = records.astype(np.int64)
    histograms = {name: count_values(labels, each.codes[~hidden], len(first)) for name, each in held.items()}
    if missing != "category":
        sizes, histograms = match_classes(codes[:, first], sizes, histograms, missing)
    stats = ClassStats(
        sizes,
        histograms,
        {name: each.totals(~hidden) for name, each in held.items()},
        grounds={name: _ground(each.column, hierarchies.get(name)) for name, each in held.items()},
    )
    counted = stats
    if counts_people:
        rows = np.flatnonzero(~hidden)[first]
        counted = _with_population(stats, frame, population, quasi_identifiers, rows, specs, hierarchies)
    if any(model.needs.original for model in models):
        stats = replace(stats, matching=_matching(frame, original, quasi_identifiers, specs, hierarchies))

    n_suppressed = int(hidden.sum())
    failures = [
        Failure("no records", 0, 0, 0.0) if frame.n_rows == 0 else None,
        *(_spelling_failure(frame.column(name), name) for name in quasi_identifiers),
        *(
            # A class of the population alone is judged by what counts a population only.
            _failure(
                model,
                counted if model.needs.population else stats,
                records if not model.needs.original else None,
            )
            for model in models
        ),
        _suppression_failure(models, n_suppressed, highest_risk),
        *_risk_failures(sizes, records, highest_risk, average_risk),
    ]
    found = tuple(failure for failure in failures if failure is not None)
    limits = {"highest risk": highest_risk, "average risk": average_risk}
    return Verdict(
        passed=not found,
        failures=found,
        conditions=(
            *map(describe, models),
            *(f"{name} <= {limit:g}" for name, limit in limits.items() if limit is not None),
        ),
        quasi_identifiers=quasi_identifiers,
        n_records=frame.n_rows,
        n_classes=len(first),
        n_suppressed=n_suppressed,
        smallest_class=int(sizes.min()) if len(sizes) else 0,
        n_unique=int(records[sizes == 1].sum()),
        distinct_sensitive={
            name: int(each.n_distinct().min()) if each.n_classes else 0 for name, each in histograms.items()
        },
        missing=missing,
    )


def _check_arguments(
    models: Sequence[PrivacyModel],
    quasi_identifiers: Sequence[str],
    missing: Missing,
    limits: Mapping[str, float | None],
) -> None:
    if not models:
        msg = with_hint("no privacy model to verify.", "pass models=[KAnonymity(5)], for instance.")
        raise InputError(msg)
    if not quasi_identifiers:
        msg = with_hint("no quasi-identifier to group by.", "name the columns that someone may know of a person.")
        raise InputError(msg)
    if missing not in ("category", "wildcard", "worst"):
        msg = with_hint(f"missing = {missing!r}.", "choose 'category', 'wildcard' or 'worst'.")
        raise InputError(msg)
    for name, limit in limits.items():
        if limit is not None and not 0 < limit <= 1:
            msg = with_hint(f"{name} = {limit!r}.", "a risk is a number above 0 and at most 1.")
            raise InputError(msg)


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """What a sensitive column holds: its values as codes, and those of the original where there is one."""

    column: columns_.Column
    codes: CodeArray
    reference: CodeArray | None

    def totals(self, shown: BoolArray) -> CountArray:
        """Count every value, the missing one's entry first, in the original or else in the rows shown."""
        codes = self.codes[shown] if self.reference is None else self.reference
        return np.bincount(codes + 1, minlength=1)


def _hold(
    frame: frames.Frame,
    original: Any,
    sensitive: Sequence[str],
    suppressed: str | None,
    specs: Mapping[str, ColumnSpec],
) -> dict[str, _Held]:
    if original is None:
        return {
            name: _Held(*_value_codes(frame.column(name), specs.get(name, ColumnSpec()), suppressed, None, name), None)
            for name in sensitive
        }
    reference = frames.read(original)
    check_columns(sensitive, reference.columns, "sensitive columns of the original")
    held = {}
    for name in sensitive:
        spec = specs.get(name, ColumnSpec())
        column, codes = _value_codes(frame.column(name), spec, suppressed, reference.column(name), name)
        held[name] = _Held(column, codes[: frame.n_rows], codes[frame.n_rows :])
    return held


def _with_population(
    stats: ClassStats,
    frame: frames.Frame,
    population: Any,
    quasi_identifiers: Sequence[str],
    rows: CountArray,
    specs: Mapping[str, ColumnSpec],
    hierarchies: Mapping[str, Any],
) -> ClassStats:
    """Add the population of every class; those whom no class covers are one more class, without a record."""
    people, n_left = _population(frame, population, quasi_identifiers, rows, specs, hierarchies)
    if not n_left:
        return replace(stats, population=people)
    return replace(
        stats,
        sizes=np.append(stats.sizes, 0),
        histograms={name: _with_empty_class(each) for name, each in stats.histograms.items()},
        population=np.append(people, n_left),
    )


def _ladders(given: Mapping[str, Any] | str | os.PathLike[str] | None, columns: Sequence[str]) -> Mapping[str, Any]:
    """Return what generalizes which column; a file of domains may list others too."""
    if isinstance(given, (str, os.PathLike)):
        return {name: ladder for name, ladder in Hierarchy.from_domains(given).items() if name in columns}
    return given or {}


def _suppressed_rows(frame: frames.Frame, names: Sequence[str], suppressed: str | None) -> BoolArray:
    """Find the rows with nothing left; where no row has anything left, they are one class of the release."""
    hidden = np.full(frame.n_rows, suppressed is not None)
    for name in names if suppressed is not None else ():
        series = frame.column(name)
        if not isinstance(series.dtype, (pl.String, pl.Categorical, pl.Enum)):
            return np.zeros(frame.n_rows, dtype=bool)
        hidden &= (series.cast(pl.String) == suppressed).fill_null(False).to_numpy()
    return np.asarray(hidden & ~hidden.all())


def _value_codes(
    series: pl.Series, spec: ColumnSpec, suppressed: str | None, reference: pl.Series | None, name: str
) -> tuple[columns_.Column, CodeArray]:
    """Code a sensitive column by value: "1" and "1.0" are one value and do not make a class diverse.

    A suppressed cell says nothing, as a missing one does. The codes of the reference follow, which
    says how the column is typed: suppression may have made text of it.
    """
    theirs, their_codes = (None, None) if reference is None else encode(reference, spec, is_typed=True, name=name)
    kind = spec.kind if theirs is None else theirs.kind
    if isinstance(series.dtype, (pl.String, pl.Categorical, pl.Enum)):
        if suppressed is not None:
            series = series.set((series.cast(pl.String) == suppressed).fill_null(False), None)
        if kind == "datetime":
            series = frames.map_texts(series, _without_zone, name)
    if theirs is None or their_codes is None:
        return encode(series, spec, is_typed=True, name=name)
    order = spec.order or (tuple(theirs.texts()) if kind == "ordered" else None)
    ours, our_codes = encode(series, ColumnSpec(kind, order), is_typed=True, name=name)
    column, codes = columns_.from_texts(name, [*ours.texts(), *theirs.texts()], kind, order)
    codes = np.append(codes, np.int32(-1))
    shifted = np.where(their_codes < 0, -1, their_codes + ours.n_values)
    return column, np.append(codes[our_codes], codes[shifted])


def _without_zone(text: str) -> str:
    """Write a moment of a time zone, which a file keeps as text, in UTC, as a Table codes it."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    return text if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat(sep=" ")


def _ground(column: columns_.Column, hierarchy: Any) -> Ground:
    levels = None if hierarchy is None else Hierarchy.build(hierarchy, column).levels_with_missing()
    return Ground(column.is_ordered, levels)


def _population(
    frame: frames.Frame,
    population: Any,
    quasi_identifiers: Sequence[str],
    first: CountArray,
    specs: Mapping[str, ColumnSpec],
    hierarchies: Mapping[str, Any],
) -> tuple[CountArray, int]:
    """Count the population of every class, whose first rows are given, and those whom no class covers."""
    if population is None:
        msg = with_hint("a model counts a population, and none was given.", "pass population=, or drop that model.")
        raise InputError(msg)
    everyone = frames.read(population)
    check_columns(quasi_identifiers, everyone.columns, "quasi_identifiers of the population")
    published, classes = zip(*(_listed(frame.column(name), name) for name in quasi_identifiers), strict=True)
    people, rows = zip(*(_listed(everyone.column(name), name) for name in quasi_identifiers), strict=True)
    labels, distinct = label_rows(np.array(rows))
    return count_covered(
        published,
        np.array(classes)[:, first],
        people,
        np.array(rows)[:, distinct],
        np.bincount(labels, minlength=len(distinct)),
        [_spec_of(everyone.column(name), specs.get(name)) for name in quasi_identifiers],
        [hierarchies.get(name) for name in quasi_identifiers],
        quasi_identifiers,
    )


def _spec_of(series: pl.Series, given: ColumnSpec | None) -> ColumnSpec:
    """Say how a quasi-identifier is typed: as was given, else by its type in the table before it was published."""
    dtype = series.dtype
    if given is not None and (given.kind or given.order):
        return given
    if isinstance(dtype, pl.Enum):
        return ColumnSpec("ordered", tuple(dtype.categories.to_list()))
    if isinstance(dtype, (pl.Date, pl.Datetime)):
        return ColumnSpec("date" if isinstance(dtype, pl.Date) else "datetime")
    if dtype.is_numeric():
        return ColumnSpec("integer" if dtype.is_integer() else "decimal")
    return ColumnSpec()


def _matching(
    frame: frames.Frame,
    original: Any,
    quasi_identifiers: Sequence[str],
    specs: Mapping[str, ColumnSpec],
    hierarchies: Mapping[str, Any],
) -> Matching:
    """Find which published rows cover which original ones."""
    if original is None:
        msg = with_hint(
            "a model compares published rows with the original ones, which were not given.",
            "pass original=, the table before it was protected.",
        )
        raise InputError(msg)
    source = frames.read(original)
    check_columns(quasi_identifiers, source.columns, "quasi_identifiers of the original")
    cells, published = zip(*(_listed(frame.column(name), name) for name in quasi_identifiers), strict=True)
    values, rows = zip(*(_listed(source.column(name), name) for name in quasi_identifiers), strict=True)
    label_published, first_published = label_rows(np.array(published))
    label_original, first_original = label_rows(np.array(rows))
    pairs = pair_rows(
        cells,
        np.array(published)[:, first_published],
        values,
        np.array(rows)[:, first_original],
        [_spec_of(source.column(name), specs.get(name)) for name in quasi_identifiers],
        [hierarchies.get(name) for name in quasi_identifiers],
        quasi_identifiers,
    )
    others, each = _rows_of(pairs[0], label_published, pairs[1])
    each, others = _rows_of(others, label_original, each)
    return Matching(frame.n_rows, source.n_rows, each, others)


def _rows_of(labels: CountArray, label_of_row: CountArray, along: CountArray) -> tuple[CountArray, CountArray]:
    """Replace every label by each of its rows; return what goes along, repeated, and the rows."""
    order = np.argsort(label_of_row, kind="stable")
    starts = np.searchsorted(label_of_row[order], np.arange(int(label_of_row.max(initial=-1)) + 2))
    lengths = np.diff(starts)[labels]
    pick = np.arange(lengths.sum()) + np.repeat(starts[labels] - (np.cumsum(lengths) - lengths), lengths)
    return np.repeat(along, lengths), order[pick]


def _listed(series: pl.Series, name: str) -> tuple[list[str | None], CodeArray]:
    """Return a column's distinct cells, the missing one first, and the place of each row's cell among them."""
    texts = frames.value_texts(series, name)
    return [None, *texts.drop_nulls().unique().sort().to_list()], frames.text_codes(texts, name) + np.int32(1)


def _with_empty_class(histogram: Histogram) -> Histogram:
    return Histogram(np.append(histogram.offsets, histogram.offsets[-1]), histogram.codes, histogram.counts)


def _failure(model: PrivacyModel, stats: ClassStats, records: CountArray | None) -> Failure | None:
    """Say what fails a model; without ``records``, every entry that the model judged is one row."""
    failed = ~model.passes(stats)
    if not failed.any():
        return None
    records = np.ones(len(failed), dtype=np.int64) if records is None else records
    # A class of the population alone comes last and holds no record.
    records = np.append(records, np.zeros(len(failed) - len(records), dtype=np.int64))
    worst = float((np.min if model.higher_is_safer else np.max)(model.measure(stats)[failed]))
    return Failure(describe(model), int(failed.sum()), int(records[failed].sum()), worst)


def _spelling_failure(series: pl.Series, name: str) -> Failure | None:
    """Say where missing cells, which are one class here, can be told apart in the file."""
    n_ways, n_cells = frames.missing_texts(series)
    if n_ways < 2:
        return None
    ways = "two" if n_ways == 2 else str(n_ways)
    return Failure(
        f"column {name!r} writes its missing value in {ways} ways: {n_cells} cells", 0, n_cells, float(n_ways)
    )


def _suppression_failure(
    models: Sequence[PrivacyModel], n_suppressed: int, highest_risk: float | None
) -> Failure | None:
    needed = max(model.min_size for model in models)
    if highest_risk is not None:
        needed = max(needed, math.ceil(1 / Fraction(str(highest_risk))))
    if n_suppressed == 0 or n_suppressed >= needed:
        return None
    return Failure(f"suppressed records are 0 or at least {needed}", 1, n_suppressed, float(n_suppressed))


def _risk_failures(
    sizes: CountArray, records: CountArray, highest: float | None, average: float | None
) -> list[Failure]:
    failures = []
    if highest is not None:
        limit = Fraction(str(highest))
        failed = np.array([size * limit < 1 for size in sizes.tolist()], dtype=bool)
        if failed.any():
            worst = 1.0 / int(sizes.min())
            failures.append(
                Failure(f"highest risk <= {highest:g}", int(failed.sum()), int(records[failed].sum()), worst)
            )
    if average is not None and len(sizes):
        reached = sum(Fraction(int(n), int(size)) for n, size in zip(records, sizes, strict=True)) / int(records.sum())
        if reached > Fraction(str(average)):
            failures.append(Failure(f"average risk <= {average:g}", len(sizes), int(records.sum()), float(reached)))
    return failures
