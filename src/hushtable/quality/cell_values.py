"""What published cells stand for: read by their grammar, as values and intervals of the original's column.

==================================  =================================================================================
cell                                stands for
==================================  =================================================================================
a value, a missing cell             itself
``[17, 25)``, ``[17, 24]``          all of the interval evenly: of whole numbers and dates one by one
a set, a label                      the values of the original's column that it covers, each equally
``<20``, ``>=90``                   an interval that ends at the outermost value that any cell of the column names,
                                    and at least a step beyond the outermost bound; a step is as far as the two
                                    outermost bounds are apart: whoever has the release alone can tell that too
``*``                               nothing: its records are left out, and their share is reported
==================================  =================================================================================

Numbers or dates lie on a line: whole numbers and days one by one, others without a gap. Of a category, the values'
codes are its places. A cell is made of runs of places, and its records are spread evenly over each.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray, ValueArray
from hushtable.claims import (
    ClaimOnColumns,
    describe_missing_hierarchies,
    list_cells_with_missing,
    list_cells_with_points,
    pair_rows,
)
from hushtable.columns import SUPPRESSED, Column, ColumnSpec, Ends, from_texts, parse_cell, with_first_days
from hushtable.errors import InputError
from hushtable.hierarchy import Hierarchy, to_exact
from hushtable.io import Frame
from hushtable.tables import Table, count_by_value

OPEN_BELOW, OPEN_ABOVE = 1, 2  # bits of cells such as `<20` and `>=90`
_MAX_EXACT_INTEGER: Final = 2**53  # whole numbers up to here are floats
_TEMPORAL_KINDS: Final = ("date", "datetime", "time")


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """Where the values of a column lie: from its first one on, or of a category at their codes."""

    kind: str
    first: int | float = field(repr=False)  # the value at 0; of decimals scaled
    exponent: int  # decimals are scaled by this power of two, so that their differences are numbers
    length: float = field(repr=False)  # from the first value of the original to its last
    is_whole: bool  # whether places are whole; numbers too far apart to be counted in floats have no gaps

    @classmethod
    def from_column(cls, column: Column) -> ValueAxis:
        """Lay out the values of a column."""
        if not column.is_measured or not column.n_values:
            return cls(column.kind, 0, 0, max(0.0, column.n_values - 1.0), is_whole=not column.is_measured)
        if column.kind == "decimal":
            exponent = int(np.frexp(np.abs(column.values).max())[1])
            scaled = np.ldexp(column.values, -exponent)
            return cls(column.kind, float(scaled[0]), exponent, float(scaled[-1] - scaled[0]), is_whole=False)
        first, last = _to_integers(column.values[[0, -1]]).tolist()
        is_whole = column.kind not in ("datetime", "time") and last - first < _MAX_EXACT_INTEGER
        return cls(column.kind, first, 0, float(last - first), is_whole=is_whole)

    def places_of(self, values: ValueArray) -> FloatArray:
        """Return the places of values of the column's kind."""
        if self.kind == "decimal":
            return np.asarray(np.ldexp(values, -self.exponent) - self.first)
        if values.dtype == object:
            return np.arange(len(values), dtype=np.float64)
        # Exact in Python's integers, where a difference may not fit 64 bits.
        return np.array([float(value - self.first) for value in _to_integers(values).tolist()])

    def places_of_bounds(self, texts: Sequence[str]) -> list[Fraction | float]:
        """Return the places of the ends of intervals."""
        if self.kind in _TEMPORAL_KINDS:
            days, codes = from_texts("", with_first_days(texts), self.kind)  # type: ignore[arg-type]  # a kind
            return [*self.places_of(days.values)[codes].tolist()]
        if self.kind == "decimal":
            unit = Fraction(2) ** self.exponent
            return [float(Fraction(to_exact(text)) / unit) - self.first for text in texts]
        return [Fraction(to_exact(text)) - Fraction(self.first) for text in texts]

    @property
    def zero(self) -> float:
        """The place of the number 0."""
        return -float(self.first)

    def number_at(self, place: float) -> float:
        """Return the number at a place."""
        return float(np.ldexp(place + self.first, self.exponent))

    def variance_of_numbers(self, of_places: float) -> float:
        """Return the variance of numbers from that of their places."""
        # Of numbers near the largest float it is infinite.
        with np.errstate(over="ignore"):
            return float(np.ldexp(of_places, 2 * self.exponent))


def _to_integers(values: ValueArray) -> CountArray:
    """Return whole numbers as they are, and moments as numbers; months, quarters and years as their first days."""
    is_calendar = values.dtype.kind == "M" and np.datetime_data(values.dtype)[0] in ("M", "Y")
    return (values.astype("datetime64[D]") if is_calendar else values).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A column of the original, and what its published cells stand for on the same axis."""

    column: Column  # of the original
    axis: ValueAxis
    original: Spread
    released: Spread


def with_claim_spelling(original: Frame, claim: ClaimOnColumns) -> Frame:
    """Return the original with its columns read as a claim declares."""
    specs = {
        name: ColumnSpec(spec.kind, spec.order) if name in claim.columns else spec
        for name, spec in claim.specs.items()
        if name in original.columns
    }
    # What was rounded to whole numbers may have decimals in the original.
    specs |= {name: replace(specs[name], kind="decimal") for name in claim.rounded if name in specs}
    return original.with_specs(
        {name: each for name, each in claim.origins.items() if name in original.columns}
    ).with_specs(specs)


def read_column(
    original: Frame, released: Frame, claim: ClaimOnColumns, name: str, pseudonyms: Collection[str] = ()
) -> Standing:
    """Read a column of a release beside that of its original; InputError says why its cells cannot be read."""
    if name in pseudonyms:
        raise InputError("its cells are pseudonyms.", hint="they stand for no value.")
    if name not in original.columns:
        raise InputError("the original does not have it.", hint="pass the table that the release was made from.")
    if describe_missing_hierarchies((name,), claim.hierarchies):
        raise InputError(
            "its labels mean groups made from the data, or what a hierarchy file says.",
            hint="pass the policy for the file; groups are known in Python alone.",
        )
    table = Table.encode(original, [name], typed=[name] if name in claim.sensitive else [])
    column, axis = table.columns[0], ValueAxis.from_column(table.columns[0])
    if name in claim.columns:
        ladder = claim.hierarchies.get(name)
        hierarchy = (
            None
            if ladder is None
            else Hierarchy.build(ladder, column, count_by_value(table, name)[1:], unknown="suppress")
        )
        after = _read_cells(*list_cells_with_points(released, name, claim.specs.get(name)), column, axis, hierarchy)
    else:
        after = _read_kept_column(original, released, claim, name, column, axis)
    before = _read_original_values(column, axis, table.codes[0])
    return Standing(column, axis, replace(before, records=original.counts), replace(after, records=released.counts))


def read_alike(standing: Standing, frame: Frame) -> Spread:
    """Read the same column of other originals, spelled alike, on its axis."""
    name = standing.column.name
    texts, rows = list_cells_with_missing(frame.values(name), name)
    return _read_texts(texts, rows, standing.column, standing.axis, star=False)


def _read_original_values(column: Column, axis: ValueAxis, codes: CodeArray) -> Spread:
    """Return the original's own column: every value is a cell, and the missing one is the last."""
    n_values = column.n_values
    rows = np.where(codes < 0, n_values, codes).astype(np.int32)
    runs = _CellRuns(axis, n_values + 1)
    runs.add_runs(np.arange(n_values), axis.places_of(column.values))
    runs.missing[n_values] = 1
    return runs.to_spread(rows)


def _read_kept_column(
    original: Frame, released: Frame, claim: ClaimOnColumns, name: str, column: Column, axis: ValueAxis
) -> Spread:
    """Read a column that is published unchanged, except for stars where it is sensitive."""
    spelled = claim.specs.get(name, ColumnSpec()).spelling.with_defaults_from(original.spelling(name).spelling)
    texts, rows = list_cells_with_missing(released.with_specs({name: spelled}).values(name), name)
    return _read_texts(texts, rows, column, axis, star=name in claim.sensitive)


def _read_texts(texts: Sequence[str | None], rows: CodeArray, column: Column, axis: ValueAxis, *, star: bool) -> Spread:
    """Read cells that are values, whatever they look like; new values of a category come behind the known."""
    runs = _CellRuns(axis, len(texts))
    is_value = np.array([text is not None and not (star and text == SUPPRESSED) for text in texts], dtype=bool)
    cells = np.flatnonzero(is_value)
    values = [text or "" for text, is_one in zip(texts, is_value, strict=True) if is_one]
    if column.is_measured:
        parsed, codes = from_texts(column.name, values, column.kind)
        runs.add_runs(cells, axis.places_of(parsed.values)[codes])
    else:
        code_of = {text: code for code, text in enumerate(column.texts())}
        runs.add_runs(cells, np.array([code_of.setdefault(text, len(code_of)) for text in values], dtype=np.float64))
    for cell in np.flatnonzero(~is_value).tolist():
        runs.missing[cell] = texts[cell] is None
        runs.is_told[cell] = texts[cell] is None
    return runs.to_spread(rows)


def _read_cells(
    texts: Sequence[str | None], rows: CodeArray, column: Column, axis: ValueAxis, ladder: Hierarchy | None
) -> Spread:
    """Read the cells of a quasi-identifier."""
    runs, intervals, label_cells, values = _CellRuns(axis, len(texts)), {}, [], {}
    code_of = {text: code for code, text in enumerate(column.texts())}
    labels = {label for level in ladder.labels[1:] for label in level} if ladder else set()
    value_places = axis.places_of(column.values)
    for cell, text in enumerate(texts):
        if text is None:
            runs.missing[cell] = 1
            continue
        form, ends, _ = parse_cell(text)
        if form == "any":
            runs.is_told[cell] = False
        elif ends is not None and column.is_measured:
            intervals[cell] = ends
        elif text in code_of and text not in labels:
            values[cell] = code_of[text]
        else:
            label_cells.append(cell)
    runs.add_runs([*values], value_places[[*values.values()]])
    _add_sets_and_labels(runs, label_cells, [texts[cell] for cell in label_cells], column, axis, ladder)
    _add_intervals(runs, intervals, axis)
    return runs.to_spread(rows)


def _add_sets_and_labels(
    runs: _CellRuns,
    cells: Sequence[int],
    texts: Sequence[str | None],
    column: Column,
    axis: ValueAxis,
    ladder: Hierarchy | None,
) -> None:
    """Add sets and labels: the values that they cover, each equally, the missing one among them."""
    if not cells:
        return
    values = column.texts()
    spec = ColumnSpec(column.kind, tuple(values) if column.kind == "ordered" and values else None)
    which = (np.arange(n, dtype=np.int32)[None] for n in (len(cells), len(values) + 1))
    classes, people = which
    cell, value = pair_rows([texts], classes, [[*values, None]], people, [spec], [ladder], [column.name])
    n_covered = np.bincount(cell, minlength=len(cells))
    if not n_covered.all():
        raise InputError(
            f"{int((n_covered == 0).sum())} of its cells cover no value of the original.",
            hint="pass the policy that says what its labels mean, and the right original.",
        )
    share = 1 / n_covered[cell]
    known = value < len(values)
    runs.add_runs(np.array(cells)[cell[known]], axis.places_of(column.values)[value[known]], share=share[known])
    np.add.at(runs.missing, np.array(cells)[cell[~known]], share[~known])


def _add_intervals(runs: _CellRuns, intervals: Mapping[int, Ends], axis: ValueAxis) -> None:
    """Add intervals, open ones to where the column's cells end."""
    texts = [*dict.fromkeys(text for ends in intervals.values() for text in ends[:2] if text is not None)]
    if not texts:
        return
    bounds = dict(zip(texts, axis.places_of_bounds(texts), strict=True))
    edges = sorted({float(place) for place in bounds.values()})
    # Open ends reach one step past the outermost bound, or to the outermost value; a single bound tells no step.
    lower, upper = (edges[1] - edges[0], edges[-1] - edges[-2]) if len(edges) > 1 else (0.0, 0.0)
    values = [place for low in runs.lows for place in low.tolist()]
    bottom, top = (
        min([edges[0] - lower, *values]),
        max([edges[-1] + upper, *(place + axis.is_whole for place in values)]),
    )
    lows, widths = [], []
    for ends in intervals.values():
        low = bottom if ends.low is None else bounds[ends.low]
        high = top if ends.high is None else bounds[ends.high]
        if axis.is_whole:
            low, high = math.ceil(low), math.floor(high) + 1 if ends.is_closed else math.ceil(high)
            low, high = (min(low, high - 1), high) if ends.low is None else (low, max(high, low + 1))
        lows.append(float(low))
        widths.append(float(high - low))
    runs.add_runs([*intervals], np.array(lows), width=np.array(widths))
    for cell, ends in intervals.items():
        runs.open_ends[cell] = OPEN_BELOW * (ends.low is None) + OPEN_ABOVE * (ends.high is None)


class _CellRuns:
    """The runs of a column's cells, as they are found."""

    def __init__(self, axis: ValueAxis, n_cells: int) -> None:
        self.axis = axis
        self.is_told = np.ones(n_cells, dtype=bool)
        self.missing = np.zeros(n_cells)
        self.open_ends = np.zeros(n_cells, dtype=np.int64)
        self.cells: list[Any] = []
        self.lows: list[FloatArray] = []
        self.widths: list[FloatArray] = []
        self.shares: list[FloatArray] = []

    def add_runs(self, cells: Any, low: FloatArray, *, width: FloatArray | None = None, share: Any = 1.0) -> None:
        """Add runs that begin at places: single values when no width is given."""
        self.cells.append(np.asarray(cells, dtype=np.int64))
        self.lows.append(low)
        self.widths.append(np.full(len(low), float(self.axis.is_whole)) if width is None else width)
        self.shares.append(np.broadcast_to(np.asarray(share, dtype=np.float64), low.shape))

    def to_spread(self, rows: CodeArray) -> Spread:
        parts = [np.concatenate([np.empty(0), *each]) for each in (self.cells, self.lows, self.widths, self.shares)]
        cell, low, width, share = parts
        told, is_whole = self.is_told, self.axis.is_whole
        ends = self.open_ends
        return Spread(rows, told, self.missing, cell.astype(np.int64), low, width, share, is_whole, open_ends=ends)


_MIN_VARIANCE: Final = 1e-12  # a variance of ranks that is nothing but rounding


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """What the cells of a column stand for."""

    rows: CodeArray = field(repr=False)  # (n_rows,), the cell of every row, one of the distinct ones
    is_informative: BoolArray = field(repr=False)  # (n_cells,), false for ``*``, which says nothing
    # (n_cells,), the share of the missing value in each cell; the runs have the rest
    missing: FloatArray = field(repr=False)
    cell: CountArray = field(repr=False)  # (n_runs,), which cell a run is of
    # (n_runs,), where a run begins, and how far it reaches: so many places, the first included, where they are whole
    low: FloatArray = field(repr=False)
    width: FloatArray = field(repr=False)
    share: FloatArray = field(repr=False)  # (n_runs,), of its cell, in (0, 1]
    is_whole: bool  # whether places are 0, 1, 2 ...; else runs hold all numbers, and one of width 0 is a single number
    # (n_rows,), how many records each row stands for; one each when not given
    records: CountArray | None = field(default=None, repr=False)
    # (n_cells,), `OPEN_BELOW` and `OPEN_ABOVE`, added up: cells that do not say where they end. No cell when not given.
    open_ends: CountArray | None = field(default=None, repr=False)

    @property
    def n_cells(self) -> int:
        """How many distinct cells there are."""
        return len(self.is_informative)

    @property
    def counts(self) -> FloatArray:
        """Records of every cell that says something."""
        return _sum_by_place(self.rows, self.informative_records, self.n_cells)

    @property
    def informative_records(self) -> FloatArray:
        """How many records each row stands for, none where its cell says nothing."""
        is_told = self.is_informative[self.rows].astype(np.float64)
        return is_told if self.records is None else is_told * self.records

    @property
    def untold_rate(self) -> float:
        """The share of the records whose cell says nothing; 0 without records."""
        n_records = len(self.rows) if self.records is None else int(self.records.sum())
        return float(1 - self.informative_records.sum() / n_records) if n_records else 0.0

    def weights_of_runs(self, counts: FloatArray) -> FloatArray:
        """Return the share of every run in the mass of all, from the rows of every cell; zeros where there is none."""
        mass = self.share * counts[self.cell]
        return np.asarray(mass / max(float(counts @ (1 - self.missing)), np.finfo(float).tiny))

    @property
    def centres(self) -> FloatArray:
        """The mean place of every run."""
        return self.low + (self.width - self.is_whole) / 2


def total_variation(first: Spread, second: Spread) -> float | None:
    r"""Return :math:`\frac12 \sum_v |f(v) - g(v)|` of the shares of the places, a missing value one of them; in [0, 1].

    None where one of them has no row that says something.
    """
    n_places = int(max(first.low.max(initial=-1), second.low.max(initial=-1))) + 1
    shares = []
    for spread in (first, second):
        counts = spread.counts
        if not counts.any():
            return None
        mass = _sum_by_place(spread.low.astype(np.int64), spread.share * counts[spread.cell], n_places)
        shares.append(np.append(mass, counts @ spread.missing) / counts.sum())
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def wasserstein(first: Spread, second: Spread) -> float | None:
    r"""Return :math:`\int |F(x) - G(x)| dx`: how far mass must be carried on average; of whole places a sum over them.

    Missing values are left out. None where one of them has no value.
    """
    parts = [(each, each.counts) for each in (first, second)]
    if not all((counts * (1 - each.missing)).any() for each, counts in parts):
        return None
    runs = np.stack([np.concatenate([first.low, second.low]), np.concatenate([first.width, second.width])])
    # Equal runs meet first, so that equal columns differ by nothing, not by what rounding leaves.
    (low, width), run = np.unique(runs, axis=1, return_inverse=True)
    places = np.split(run.reshape(-1), [len(first.low)])
    first_mass, second_mass = (
        _sum_by_place(place, each.weights_of_runs(counts), len(low))
        for place, (each, counts) in zip(places, parts, strict=True)
    )
    mass = _Mass.from_runs(low, width, first_mass - second_mass)
    return float(_absolute_area(mass.start, mass.end, np.diff(mass.edges), is_whole=first.is_whole).sum())


def mean_and_variance(spread: Spread) -> tuple[float, float]:
    r"""Return mean and variance of the places, over the rows with a value, of which there is one at least.

    The variance is that of the means of runs and, weighed, that within them: :math:`w^2 / 12` over a width of w,
    :math:`(n^2 - 1) / 12` over n whole places (the law of total variance, with 1/n).
    """
    weights = spread.weights_of_runs(spread.counts)
    # From one of them, so that equal values have a variance of 0; rounded once, so that no order of cells shows.
    origin = float(spread.centres.min())
    mean = math.fsum(weights * (spread.centres - origin))
    between = math.fsum(weights * (spread.centres - origin - mean) ** 2)
    within = math.fsum(weights * (spread.width**2 - spread.is_whole) / 12)
    return origin + mean, between + within


def mean_of_cells(spread: Spread) -> FloatArray:
    """Return the mean place of every cell; NaN where it says nothing, or missing."""
    sums = _sum_by_place(spread.cell, spread.share * spread.centres, spread.n_cells)
    has_value = spread.is_informative & (spread.missing < 1)
    return np.where(has_value, sums / np.where(has_value, 1 - spread.missing, 1.0), np.nan)


def shares_by_bin(spread: Spread, edges: FloatArray) -> FloatArray:
    """Return the shares of cells of numbers or dates in bins, last that of the missing value; (n_cells, n_bins + 1).

    An edge belongs to the bin above, and the outer bins are open; for categories see `shares_by_value`.
    """
    reached = (np.ceil(edges) if spread.is_whole else edges) - spread.low[:, None]
    width = np.where(spread.width > 0, spread.width, 1.0)[:, None]
    inside = np.where(spread.width[:, None] > 0, np.clip(reached / width, 0, 1), reached > 0)
    below = np.column_stack([np.zeros(len(inside)), inside, np.ones(len(inside))])
    shares = np.zeros((spread.n_cells, below.shape[1]))
    np.add.at(shares[:, :-1], spread.cell, np.diff(below, axis=1) * spread.share[:, None])
    shares[:, -1] = spread.missing
    return shares


def shares_by_value(spread: Spread, values: CountArray) -> FloatArray:
    """Return the shares of each cell in values of a category, by ascending codes, and last that of the missing one."""
    shares = np.zeros((spread.n_cells, len(values) + 1))
    kept = np.isin(spread.low, values)
    np.add.at(shares, (spread.cell[kept], np.searchsorted(values, spread.low[kept])), spread.share[kept])
    shares[:, -1] = spread.missing
    return shares


def cramers_v(table: FloatArray) -> float | None:
    r"""Return Cramer's V of a table of counts, in [0, 1]; None where a side has one value.

    .. math:: \sqrt{\frac{\chi^2 / n}{\min(r, c) - 1}}

    for r rows and c columns that are not empty. Not corrected for chance.
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    n_degrees = min(int((rows > 0).sum()), int((columns > 0).sum())) - 1
    if n_degrees < 1:
        return None
    expected = np.outer(rows, columns)
    ratios = np.divide(table**2, expected, out=np.zeros_like(table), where=expected > 0)
    return math.sqrt(min(1.0, max(0.0, float(ratios.sum()) - 1) / n_degrees))


def rank_correlation(first: Spread, second: Spread) -> float | None:
    """Return Spearman's correlation of two columns of one table, in [-1, 1]; None where one is constant.

    Over the rows with a value in both. A place has the mean rank of its records; a cell has the mean rank of its
    places, and within cells the two columns are taken to be independent.
    """
    has_value = [(each.is_informative * (1 - each.missing))[each.rows] for each in (first, second)]
    rows = has_value[0] * has_value[1]
    rows = rows if first.records is None else rows * first.records
    if not rows.any():
        return None
    deviations, variances = [], []
    for spread in (first, second):
        ranks, variance = _mean_ranks(spread, _sum_by_place(spread.rows, rows, spread.n_cells))
        deviations.append((ranks - 0.5)[spread.rows])
        variances.append(variance)
    if min(variances) < _MIN_VARIANCE:
        return None
    covariance = float(rows @ (deviations[0] * deviations[1]) / rows.sum())
    return min(1.0, max(-1.0, covariance / math.sqrt(variances[0] * variances[1])))


def _mean_ranks(spread: Spread, rows: FloatArray) -> tuple[FloatArray, float]:
    """Return the mean rank of each cell's places, in [0, 1], and the variance of the ranks of all places.

    Ranks of ties are means, so that the variance is 1/12 less the cubes of what places share: for each run of places,
    or for single numbers, which are the only ties where numbers have no gap.
    """
    # Of the rows of a cell with a missing value in part, those that have one are already left out.
    present = np.where(spread.missing < 1, 1 - spread.missing, 1.0)
    share = spread.share / present[spread.cell]
    weights = share * rows[spread.cell] / rows.sum()
    mass = _Mass.from_runs(spread.low, spread.width, weights)
    lengths = np.diff(mass.edges)
    areas = np.append(0.0, np.cumsum((mass.start + mass.end) / 2 * lengths))
    is_run = mass.last > mass.first
    inside = np.where(is_run, spread.width, 1.0)
    ranks = np.where(is_run, (areas[mass.last] - areas[mass.first]) / inside, mass.before + mass.jumps[mass.first] / 2)
    alone = mass.last == mass.first + 1
    ranks[alone] = ((mass.start + mass.end) / 2)[mass.first[alone]]
    ties = float((mass.jumps**3).sum())
    if spread.is_whole:
        ties = float(((mass.end - mass.start) ** 3 / lengths**2).sum())
    return _sum_by_place(spread.cell, share * ranks, spread.n_cells), (1 - ties) / 12


@dataclass(frozen=True, slots=True, eq=False)
class _Mass:
    """Mass on a line, added up from the left."""

    edges: FloatArray  # (n_edges,), where runs begin and end, ascending
    jumps: FloatArray  # (n_edges,), the mass of single numbers
    # (n_edges - 1,), what lies left of a stretch between two edges, the number that it begins with included, and what
    # with it
    start: FloatArray
    end: FloatArray
    # (n_runs,), the edges of every run
    first: CountArray
    last: CountArray
    before: FloatArray  # (n_runs,), what lies left of the run's first edge

    @classmethod
    def from_runs(cls, low: FloatArray, width: FloatArray, weights: FloatArray) -> _Mass:
        edges, places = np.unique(np.concatenate([low, low + width]), return_inverse=True)
        first, last = places.reshape(2, -1)
        n_edges, is_run = len(edges), last > first
        jumps = _sum_by_place(first[~is_run], weights[~is_run], n_edges)
        density = weights[is_run] / (edges[last] - edges[first])[is_run]
        changes = _sum_by_place(first[is_run], density, n_edges)
        changes -= _sum_by_place(last[is_run], density, n_edges)
        n_open = np.bincount(first[is_run], minlength=n_edges) - np.bincount(last[is_run], minlength=n_edges)
        # Where no run is open there is none, whatever rounding has left.
        level = np.where(np.cumsum(n_open) > 0, np.cumsum(changes), 0.0)
        between = level[:-1] * np.diff(edges)
        start = np.cumsum(jumps)[:-1] + np.append(0.0, np.cumsum(between))[:-1]
        end = start + between
        before = np.append(0.0, end)[first]
        return cls(edges, jumps, start, end, first, last, before)


def _absolute_area(start: FloatArray, end: FloatArray, length: FloatArray, *, is_whole: bool) -> FloatArray:
    """Return what the absolute values of straight lines add up to, each over a length.

    Of whole places the values after each of them are added.
    """
    crosses = start * end < 0
    turn = np.where(crosses, start / np.where(crosses, start - end, 1.0), 0.0) * length
    turn = np.floor(turn) if is_whole else turn

    def area_until(reach: FloatArray) -> FloatArray:
        return np.asarray(reach * start + (end - start) * reach * (reach + is_whole) / (2 * length))

    return np.asarray(np.abs(area_until(turn)) + np.abs(area_until(length) - area_until(turn)))


def _sum_by_place(places: Any, weights: FloatArray, n_places: int) -> FloatArray:
    """Add up weights by place."""
    return np.bincount(places, weights, minlength=n_places).astype(np.float64)
