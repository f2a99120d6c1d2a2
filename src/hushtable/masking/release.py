"""What independence masking returns: a masked table, its claim, and how it came about."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, freeze_array
from hushtable.claims import Independence, Verdict
from hushtable.columns import SUPPRESSED, Column, ColumnSpec, from_texts, integer_series, text_series
from hushtable.errors import ColumnError
from hushtable.io import Frame, Writing, frames
from hushtable.masking import kept as measures
from hushtable.masking.amounts import convert_amounts
from hushtable.release import Destination, Edition, Rewritten, TableContent, write
from hushtable.search import Trace
from hushtable.tables import Table
from hushtable.wording import StatesFacts, careful, join_names

if TYPE_CHECKING:
    import polars as pl

Publish = Literal["tuples", "columns", "bins"]
PUBLISHED: Final = ("tuples", "columns", "bins")

_ROUND_DIGITS: Final = (1.0, 2.0, 5.0, 10.0)
_N_BINS: Final = 10


@dataclass(frozen=True, slots=True, eq=False)
class MaskedRelease(StatesFacts):
    """A table in which A is independent of the cluster, and how it came about.

    Attributes
    ----------
    source : Frame or Table
        The input, untouched.
    table : Table
        A and B of the records that stay.
    a, b, c : tuple of str
    label : str
        The name of the cluster's column.
    labels : ndarray of int32, shape (n_records,)
        The cluster of every record that stays, from 0; published from 1.
    kept : ndarray of int64, shape (n_records,)
        Positions in the source of the records that stay, ascending.
    stars : ndarray of bool, shape (n_columns of A, n_records)
        Cells that publish ``*``.
    cost : float
        Stars, each times the weight of its column.
    publish : {"tuples", "columns", "bins"}
        What `cluster_values` says of B.
    ties_optimised : bool
        Whether ties in B were settled so that few stars are needed: the clusters depend on A.
    guesses : tuple of Guess
        What C gives back of every column of A.
    trace : Trace
        With the bound and the gap of the cost.
    specs : mapping of column to ColumnSpec
    inputs : tuple of path
        The files it was made from, none of which `write` touches.
    amounts, clustered_as_text : tuple of str
        Columns of B: those whose texts were read as amounts, and those that were clustered as text.
    accepted : mapping of column to str
        Published columns that look like direct identifiers, or may, and why.
    """

    source: Frame | Table = field(repr=False)
    table: Table = field(repr=False)
    a: tuple[str, ...]
    b: tuple[str, ...]
    c: tuple[str, ...]
    label: str
    labels: CodeArray = field(repr=False)
    kept: CountArray = field(repr=False)
    stars: BoolArray = field(repr=False)
    cost: float
    publish: Publish
    ties_optimised: bool
    guesses: tuple[measures.Guess, ...] = field(repr=False)
    trace: Trace
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict, repr=False)
    inputs: tuple[Path, ...] = field(default=(), repr=False)
    amounts: tuple[str, ...] = ()
    clustered_as_text: tuple[str, ...] = ()
    accepted: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for array in (self.labels, self.kept, self.stars):
            freeze_array(array)

    @property
    def n_records(self) -> int:
        """How many records are published."""
        return len(self.labels)

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return int(self.labels.max()) + 1

    @property
    def n_stars(self) -> int:
        """How many cells are masked."""
        return int(self.stars.sum())

    @property
    def stars_by_column(self) -> dict[str, int]:
        """How many cells of every column of A are masked."""
        return dict(zip(self.a, self.stars.sum(axis=1).tolist(), strict=True))

    @property
    def share_kept(self) -> float:
        """Share of A cells that are published, in [0, 1]."""
        return 1 - self.n_stars / self.stars.size

    @property
    def lower_bound(self) -> float:
        """A cost that no masking of these clusters goes below."""
        return self.trace.bound or 0.0

    @property
    def gap(self) -> float:
        """(cost - lower bound) / cost, in [0, 1]."""
        return self.trace.gap or 0.0

    @property
    def optimal(self) -> bool:
        """Whether the cost is proven to be the least for these clusters."""
        return self.trace.optimal

    @property
    def removed(self) -> tuple[int, ...]:
        """Positions in the source of the records left out to make the clusters equal, ascending."""
        n_rows = self.source.n_rows
        return tuple(np.setdiff1d(np.arange(n_rows), self.kept).tolist())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What undoes the hiding, as far as it was measured, or weakens it."""
        warned = measures.warnings_of(self.guesses)
        if not self.ties_optimised:
            return warned
        return (
            *warned,
            "ties in B were settled by A: who is on which side of a cluster's border reveals something of A",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """How text in B was clustered."""
        return (
            *(f"{name!r} is text, read as amounts: clustered by amount" for name in self.amounts),
            *(
                f"{name!r} is text: clustered by frequency, then by alphabet; if it has an order, say so with specs="
                for name in self.clustered_as_text
            ),
        )

    @property
    def claim(self) -> Independence:
        """What the masked table promises."""
        return Independence(self.a, self.label, self.n_clusters)

    @property
    def edition(self) -> Edition:
        """What is published: B gone, the cluster as last column."""
        names = self.source.names
        return Edition(
            self.source,
            columns=tuple(name for name in names if name in (*self.a, *self.c)),
            rewritten={name: self._rewrite_column(name, stars) for name, stars in zip(self.a, self.stars, strict=True)},
            rows=self.kept,
            added={self.label: self.labels.astype(np.int64) + 1},
        )

    @property
    def frame(self) -> Any:
        """The masked table, of the kind that went in: rows in order, B gone, the cluster as last column."""
        return self.edition.native

    @property
    def cluster_values(self) -> Any:
        """What is published of B, apart from the table: sorted, so that the order says nothing of the records.

        ``"tuples"``: the cluster and the B cells of its records. ``"columns"`` and ``"bins"``: the
        cluster, the column, the value or bin as text, and how many records have it.
        """
        if isinstance(self.source, Table):
            return Table.encode(self._build_values(frames.read(self.source.decode())).native)
        return self._build_values(self.source).native

    def verify(self) -> Verdict:
        """Judge the masked table anew, from its published cells alone."""
        return self.claim.verify(self.edition.frame())

    def write(
        self,
        path: str | Path,
        values_path: str | Path,
        *,
        keep_order: bool = False,
        external: bool = False,
        encoding: str = "utf-8",
        decimal: str = ".",
        overwrite: bool = False,
    ) -> Verdict:
        """Write the masked table with its manifest, and the clusters' B values, whole and verified, all or none.

        Parameters
        ----------
        path, values_path : path
            ``.csv``, ``.tsv`` or ``.parquet``; the manifest goes beside the first.
        keep_order : bool
            Keep the order of the rows. Else they are shuffled with the operating system's
            randomness, because an order can give B back.
        external : bool
            Write the manifest that goes with a published file.
        encoding : str
            Of both, where they are CSVs.
        decimal : {".", ","}
            Of a CSV: the mark of numbers in A, and of what a dataframe holds as floats; not of the clusters' values.
        overwrite : bool
            Replace files of these names. An input is never replaced, nor a link.

        Raises
        ------
        VerificationError
            The written table is not independent; nothing is left behind.
        InputError
            A file cannot be written, or must not be, or both have one name.
        """
        values = frames.read(self.cluster_values.decode() if isinstance(self.source, Table) else self.cluster_values)
        to = Destination(
            Path(path),
            sidecars={Path(values_path): values},
            writing=Writing(encoding, decimal),
            keep_order=keep_order,
            external=external,
            overwrite=overwrite,
            inputs=self.inputs,
        )
        return write(TableContent(self.edition, self.claim), to, self.to_dict())

    def dependence(self) -> tuple[measures.Dependence, measures.Dependence]:
        """Measure how far the vectors of A are from independent of the cluster, before and after."""
        _, before = self.table.select(self.a).collapse()
        _, after = self._encode_a().collapse()
        return measures.measure_dependence(before, self.labels), measures.measure_dependence(after, self.labels)

    def pairs(self) -> tuple[measures.Pair, ...]:
        """Compare what pairs of columns say of one another before and after; long orders are binned."""
        of_b = self._table_of_b()
        b = {name: measures.bin_codes(of_b, name) for name in self.b}
        c = encode_evidence(self.source, self.c, self.specs, self.kept)
        return measures.compare_pairs(self._a_codes(), b, c, self.labels)

    def rules(self, *, support: float = 0.01, confidence: float = 0.5) -> measures.AssociationRules:
        """Find the association rules between A and C, and within A, before and after masking.

        The result counts them, and lists each in ``rules`` with its support, confidence and lift. They hold cells of
        the table: they are internal.

        Parameters
        ----------
        support, confidence : float
            What a rule needs, in [0, 1].
        """
        tables = _encode_columns(self.source, self.c, self.specs, self.kept)
        codes = {name: measures.bin_codes(table, name) for name, table in tables.items()}
        texts = {name: measures.name_bins(table, name) for name, table in tables.items()}
        texts |= {name: self.table.column(name).texts() for name in self.a}
        return measures.association_rules(self._a_codes(), codes, texts, support, confidence)

    def to_dict(self) -> dict[str, object]:
        """Return what is known of the release as plain values, none of them a person's."""
        before, after = self.dependence()
        return {
            "n_records": self.n_records,
            "n_clusters": self.n_clusters,
            "a": list(self.a),
            "b": list(self.b),
            "c": list(self.c),
            "label": self.label,
            "n_stars": self.n_stars,
            "cost": self.cost,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "optimal": self.optimal,
            "stars_by_column": self.stars_by_column,
            "share_kept": self.share_kept,
            "removed": list(self.removed),
            "publish": self.publish,
            "ties_optimised": self.ties_optimised,
            "dependence": {"before": asdict(before), "after": asdict(after)},
            "guesses": [guess.to_dict() for guess in self.guesses],
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "accepted": list(self.accepted),  # what goes with a published file; the reasons do not
            "acceptances": dict(self.accepted),
            "trace": self.trace.to_dict(),
        }

    @property
    def facts(self) -> tuple[str, ...]:
        """What was masked and what that cost, in whole sentences, the most dangerous first."""
        proof = "the fewest possible" if self.optimal else f"at most {self.gap:.1%} above the fewest possible"
        return (
            careful("this hides a correlation, not people: anyone who knows a record's other cells can find it."),
            *(careful(f"{warning}.") for warning in self.warnings),
            f"Independence from {self.n_clusters} clusters of {join_names(self.b)} holds for {join_names(self.a)}, in "
            f"{self.n_records:,} records. Left out to make clusters equal: {len(self.removed):,}.",
            f"{self.n_stars:,} cells were masked ({proof}); {self.share_kept:.1%} of the cells were kept.",
            *(f"{note}." for note in self.notes),
            *(f"Accepted: {name} ({reason})." for name, reason in self.accepted.items()),
        )

    def _rewrite_column(self, name: str, stars: BoolArray) -> Rewritten:
        """Return the published cells of a column of A, for every row of the source; removed rows get any cell."""
        codes, texts = self.table.codes[self.table.index(name)], self.table.column(name).texts()
        all_codes = np.zeros(self.source.n_rows, dtype=np.int32)
        known = np.where(codes < 0, np.int32(len(texts)), codes)
        all_codes[self.kept] = np.where(stars, np.int32(len(texts) + 1), known)
        return Rewritten(all_codes, (*texts, None, SUPPRESSED), self.table.column(name).kind)

    def _encode_a(self) -> Table:
        """Encode the published cells of A; every column is a category."""
        columns, codes = [], []
        for name, stars in zip(self.a, self.stars, strict=True):
            raw = self.table.codes[self.table.index(name)]
            column, code_of_text = from_texts(name, [*self.table.column(name).texts(), SUPPRESSED], "category")
            columns.append(column)
            codes.append(np.where(stars, code_of_text[-1], np.where(raw < 0, np.int32(-1), code_of_text[raw])))
        return Table(tuple(columns), np.array(codes, dtype=np.int32), self.table.counts)

    def _a_codes(self) -> dict[str, tuple[CodeArray, CodeArray]]:
        codes = {name: self.table.codes[self.table.index(name)] for name in self.a}
        return {
            name: (codes[name], np.where(stars, np.int32(-2), codes[name]))
            for name, stars in zip(self.a, self.stars, strict=True)
        }

    def _build_values(self, like: Frame) -> Frame:
        b = self.table.select(self.b)
        if self.publish == "tuples":
            order = np.lexsort((*b.codes[::-1], *self._table_of_b().codes[::-1], self.labels))
            cells = frames.read(b.take(order).decode())
            numbers = integer_series(self.label, self.labels[order].astype(np.int64) + 1)
            return like.build_alike([numbers, *(cells.column(name).alias(name) for name in self.b)])
        if self.publish == "bins":
            b = self._table_of_b()
        return like.build_alike(_count_values(b, self.labels, self.label, in_bins=self.publish == "bins"))

    def _table_of_b(self) -> Table:
        """Return B as it was clustered: texts that were read as amounts are numbers."""
        return convert_amounts(self.table.select(self.b), self.amounts)[0]


def encode_evidence(
    source: Frame | Table, c: Sequence[str], specs: Mapping[str, ColumnSpec], rows: CountArray
) -> dict[str, CodeArray]:
    """Encode the columns of C in some rows, without those whose cells cannot be grouped, such as lists."""
    tables = _encode_columns(source, c, specs, rows)
    return {name: measures.bin_codes(table, name) for name, table in tables.items()}


def _encode_columns(
    source: Frame | Table, c: Sequence[str], specs: Mapping[str, ColumnSpec], rows: CountArray
) -> dict[str, Table]:
    tables = {}
    for name in c:
        with contextlib.suppress(ColumnError):
            tables[name] = Table.encode(source.select([name]).take(rows), [name], specs)
    return tables


def _count_values(b: Table, labels: CodeArray, label: str, *, in_bins: bool) -> list[pl.Series]:
    """Count every value of every column by cluster, as the columns of a frame."""
    rows: list[tuple[int, str, str | None, int]] = []
    for column, codes in zip(b.columns, b.codes, strict=True):
        texts, place_of = _round_bins(column) if in_bins else (column.texts(), np.arange(column.n_values))
        all_texts, text_numbers = [*texts, None], np.append(place_of, len(texts))[codes]
        pairs, n_records = np.unique(np.stack((labels, text_numbers)), axis=1, return_counts=True)
        for cluster, place, n in zip(*pairs.tolist(), n_records.tolist(), strict=True):
            rows.append((cluster + 1, column.name, all_texts[place], n))
    clusters, columns, values, counts = zip(*rows, strict=True)
    return [
        integer_series(label, np.array(clusters, dtype=np.int64)),
        text_series("column", columns),
        text_series("value", values),
        integer_series("n", np.array(counts, dtype=np.int64)),
    ]


def _round_bins(column: Column) -> tuple[list[str], CountArray]:
    """Return labels of bins of a round width, and the bin of every value; other kinds keep their values."""
    from hushtable.columns import format_half_open

    if column.kind not in ("integer", "decimal") or column.n_values < 2:
        return column.texts(), np.arange(column.n_values)
    values = column.values.astype(np.float64)
    min_width = float(values[-1] - values[0]) / _N_BINS
    power = 10.0 ** np.floor(np.log10(min_width))
    width = next(step * power for step in _ROUND_DIGITS if step * power >= min_width * (1 - 1e-9))
    numbers = np.floor(values / width).astype(np.int64)
    distinct, place = np.unique(numbers, return_inverse=True)
    return [
        format_half_open(f"{at * width:.12g}", f"{(at + 1) * width:.12g}") for at in distinct.tolist()
    ], place.ravel()
